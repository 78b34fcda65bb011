// Package maintain answers: what must be rewritten, forgotten or removed, so that a table stays
// fast, small and lawful, while others read and write it?
//
// In: a table and the catalog that keeps it. Out: commits and removed files, and a Result that says
// what was done. What is removed is always what one table state holds and another does not, by
// lake's walk of what is held (lake.Reach); nothing here guesses from a manifest entry's status, from ancestry or
// from a file's name. It refuses to know SQL text, sessions and wires: engine turns a CALL into one
// of the functions here.
package maintain

import (
	"context"

	"github.com/lhsql/lhsql/lake"
)

// Target is a table with the catalog that keeps it.
type Target struct {
	Catalog lake.Catalog
	Table   *lake.Table
	User    string // of the snapshots that are made
	Job     *Job   // may be nil
}

// reload is the table's state now.
func (g Target) reload(ctx context.Context) (*lake.Table, error) {
	return g.Catalog.Load(ctx, g.Table.Name)
}

// commit publishes a change and gives the new state.
func (g Target) commit(ctx context.Context, c lake.Change) (*lake.Table, error) {
	c.User = g.User
	return g.Catalog.Commit(ctx, g.Table.Name, c)
}
