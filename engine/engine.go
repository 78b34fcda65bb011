// Package engine answers: how does one statement get from text to rows?
//
// It is the corridor: parse, bind, plan, build, run. It owns sessions (settings, transactions,
// prepared statements, cursors), catalogs by name, the memory limit, cancellation, and the one
// place where a broken invariant is caught. It refuses to know a wire's bytes (wire/*) and how
// anything is computed (exec and below).
package engine

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Config is what an Engine runs with. Zero values are the documented defaults.
type Config struct {
	Catalogs    []CatalogConfig
	Default     string // database of sessions that name none; "" the first catalog
	MemoryLimit int64  // bytes; 0: 70 % of the machine's
	Workers     int    // 0: GOMAXPROCS
	TempDir     string // spill files; "" the system's
	Settings    map[string]string // defaults of session settings
	Version     string
}

// CatalogConfig names a catalog and its properties as PyIceberg spells them: type, uri,
// warehouse, ….
type CatalogConfig struct {
	Name  string
	Props map[string]string
}

// SessionOptions come from the client's start-up.
type SessionOptions struct {
	User       string
	Database   string // may carry "@instant" or "@ref"
	RemoteAddr string
	Settings   map[string]string
	Dialect    string // "pg" (default) or "mysql"
}

// ResultColumn describes one output column.
type ResultColumn = plan.Column

// Stmt is one prepared statement: parsed and bound, planned anew at each Execute with the
// arguments in place. Belongs to its Session.
type Stmt struct {
	session *Session
	parsed  ast.Parsed
	params  []types.Type
	columns []ResultColumn // nil: the statement returns no rows
	bound   bound
}

// Params are the parameters' types, inferred or given; none Unknown.
func (s *Stmt) Params() []types.Type { return s.params }

// Columns are nil for a statement that returns no rows.
func (s *Stmt) Columns() []ResultColumn { return s.columns }

// Empty tells whether the text held no statement.
func (s *Stmt) Empty() bool { _, ok := s.parsed.Stmt.(*ast.Empty); return ok }

// Result is a running statement. Next yields batches until nil; then Tag is the command tag
// ("SELECT 5", "DELETE 3", "SET"). Close always; it stops the work and frees everything.
type Result struct {
	columns []ResultColumn
	src     vec.Source
	tag     func() string
	finish  func(error) error // runs once at end or Close
	notices []*sqlerr.Error
	done    bool
}

// Columns is nil for a statement without rows.
func (r *Result) Columns() []ResultColumn { return r.columns }

// TxState is the state letter of the Postgres wire: 'I' idle, 'T' in a transaction, 'E' failed.
type TxState byte

// Copy directions: a COPY statement's Result asks the wire for data or gives it; see copy.go.

var _ context.Context
