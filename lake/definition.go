package lake

import (
	"context"
	"slices"
	"strings"
)

// definitions are what a transaction does to names: the part of it that is no change of a table.
type definitions struct {
	// renamed gives the tables that get another name, by the one that they have.
	renamed map[Name]renaming
	// rows are views that are made, changed, renamed or dropped, and tables that are dropped: each
	// must stand where the transaction found it.
	rows    []pointerMove
	schemas []schemaChange
	// needs are the schemas that must be there for what is put into them.
	needs []string
}

// renaming is a table's new name. uuid is of the table that the transaction means: another one
// may have taken its place.
type renaming struct {
	to   Name
	uuid string
}

// schemaChange is a schema that is made, changed or dropped, or dropped and made anew.
type schemaChange struct {
	name          string
	dropped, made bool
	set           map[string]string
	remove        []string
}

func (d *definitions) empty() bool {
	return d == nil || len(d.renamed)+len(d.rows)+len(d.schemas) == 0
}

// rowCatalog is a catalog whose names are rows of a database.
type rowCatalog interface {
	// define makes the moves and the rest of the definitions in one step: *Exists, *NotFound and
	// *NotEmpty if names are not as they should be, else as pointers.move.
	define(ctx context.Context, moves []pointerMove, d *definitions) error
	// writeView writes a view's metadata below a folder, after what is at previous ("": nothing),
	// and gives its place; removeView removes it.
	writeView(ctx context.Context, folder, previous string, b []byte) (string, error)
	removeView(ctx context.Context, loc string) error
	// pointed tells which of some metadata files are a table's or view's, in any catalog that the
	// database holds.
	pointed(ctx context.Context, files []string) (map[string]bool, error)
	// located reads a table's or view's pointer, "" if there is none.
	located(ctx context.Context, n Name) (string, error)
}

// moves are the pointers that a try is to move.
func (g *commitEngine) moves(ctx context.Context, attempts []*attempt, d *definitions, try int) ([]pointerMove, error) {
	var out []pointerMove
	changed := map[Name]bool{}
	for _, a := range attempts {
		m := pointerMove{name: a.name, from: a.head.pointer, to: a.to}
		if d != nil && m.from != "" { // one that is made may have the old name of another
			a.now = d.renamed[a.name].to
			m.now = a.now
			changed[a.name] = true
		}
		if a.to == "" && m.now == (Name{}) {
			if a.looked && g.send == nil && m.from != "" {
				m.to = m.from
				out = append(out, m)
			}
			continue
		}
		if a.to == "" {
			m.to = m.from
		}
		out = append(out, m)
	}
	if d == nil {
		return out, nil
	}
	for _, n := range sortedNames(d.renamed) {
		if changed[n] {
			continue
		}
		if err := yield(ctx, "load"); err != nil {
			return nil, err
		}
		loc, err := g.pointers.pointer(ctx, n)
		if err != nil {
			return nil, err
		}
		t, err := g.load(ctx, n, loc)
		if err != nil {
			return nil, err
		}
		if r := d.renamed[n]; t.uuid != r.uuid {
			return nil, conflict("table %s was dropped and made anew", n.Table)
		}
		out = append(out, pointerMove{name: n, now: d.renamed[n].to, from: loc, to: loc})
	}
	for _, m := range d.rows {
		if try > 0 && m.from != "" { // who was first is no matter of trying again
			loc, err := g.rows.located(ctx, m.name)
			if err != nil {
				return nil, err
			}
			if loc != m.from {
				return nil, conflict("another transaction changed %s", m.name.Table)
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// sortedNames gives a map's names in order: two transactions that change the same rows in one
// order do not wait for each other.
func sortedNames[V any](m map[Name]V) []Name {
	out := make([]Name, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b Name) int { return strings.Compare(a.String(), b.String()) })
	return out
}
