package bind

import (
	"context"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// Env is what binding needs of its session. One per statement; not kept.
type Env struct {
	Context context.Context
	Catalog Catalog
	// Dialect is nil for PostgreSQL's.
	Dialect *Dialect
	// Eval carries the statement's time, the session's time zone and output settings; constant
	// expressions (AS OF, IN lists) are evaluated with it, and literals read by it.
	Eval *eval.Ctx
	// Args are the values of $1 … when binding happens at Execute; nil at Prepare.
	Args []types.Datum
	// Variable reads a variable of the MySQL dialect: scope is "user" for @x, "global", "session" or ""
	// for @@x, and "function" for DATABASE() and its like. nil: there are none.
	Variable func(scope, name string) (d types.Datum, t types.Type, ok bool, err error)
	// OnlyChanges: an UPDATE touches and counts the rows that it gives other values.
	OnlyChanges bool
	// Round, from 1 on, asks for one round of an upsert whose rows are to be taken one after the other;
	// Bound.Rounds tells how many there are. 0: all at once.
	Round int
	// Parse reads a view's text. nil: views cannot be read.
	Parse func(sql string) ([]ast.Parsed, error)
	// ViewDialect gives the parser and dialect of a view's text by View.Dialect; nil: the session's.
	ViewDialect func(name string) (func(sql string) ([]ast.Parsed, error), *Dialect)
	// Uses: Bound.Uses is wanted.
	Uses bool
	// MaxViewDepth bounds views over views; 0 means 64.
	MaxViewDepth int
}

// Catalog finds relations by name. Errors: *lake.NotFound where there is none (bind makes it
// 42P01 with the position), otherwise as they shall reach the client.
type Catalog interface {
	// Relation resolves ref, at the instant that ref.When says. Besides plain names it knows
	// refs in names (t.branch_b, t.tag_x, "t@ref") and metadata tables (t$snapshots,
	// t.snapshots, "t$snapshots").
	Relation(ctx context.Context, ref TableRef) (*Relation, error)
	// FromPath is iceberg('path') in FROM: a table by its metadata file or folder. depth is how many
	// views the call stands in.
	FromPath(ctx context.Context, path string, when When, depth int) (*Relation, error)
}

// TableRef is a table's name in a statement.
type TableRef struct {
	Parts []string // [catalog] [schema] table …, case-folded as written
	When  When
	// SearchPath is the path to look along, of the view that the name stands in; nil: the
	// session's.
	SearchPath []string
	// Depth is how many views the name stands in, one inside the other.
	Depth int
	// Write: the target of a write statement. Table must then be set, at its branch's head.
	Write bool
	// NewCol makes column IDs for a Relation's Plan.
	NewCol func() plan.ColID
}

// Relation is what a name stands for: exactly one of Table, Virtual, View and Plan is set.
type Relation struct {
	Catalog, Schema, Name string
	OID                   uint32 // pg_class.oid, for RowDescription and tableoid; 0 unknown
	Kind                  string // "table", "view", "system table" for messages; "" is table

	Table       *lake.Table
	Snapshot    *lake.Snapshot // nil: no rows
	TableSchema *lake.Schema   // of the snapshot, or the table's own where reads want that
	Branch      string         // "" is main

	Virtual plan.VirtualTable
	View    *View
	// Of is the table that a metadata table, of the name Meta, or a row history tells of.
	Of   *lake.Table
	Meta string
	// Past: another state is read than a branch's present one.
	Past bool
	// Plan is a relation made of other nodes (row history); its columns are the relation's.
	Plan plan.Node

	// Attnums are the attribute numbers of the columns; nil: 1, 2, ….
	Attnums []int16
	// Key are indexes of columns that are unique and not NULL in every row, so that grouping by
	// them lets a query name the others: of an Iceberg table the primary key that lhsql enforces.
	Key []int
}

// View is a stored query.
type View struct {
	SQL        string
	UUID       string
	Columns    []string // names, nil: the query's
	SearchPath []string // at its creation
	Dialect    string   // "mysql", else PostgreSQL's
}

// When is a time-travel clause with its operands evaluated. The zero When is the session's
// current state, or what the name itself says.
type When struct {
	Set  bool
	Spec timetravel.Spec
	// Pending: an operand is a parameter whose value is not known yet. Resolve the current
	// state; the statement is bound again when it is known.
	Pending bool
	Pos     int
}

func (e *Env) context() context.Context {
	if e.Context == nil {
		return context.Background()
	}
	return e.Context
}

func (e *Env) dialect() *Dialect {
	if e.Dialect == nil {
		return PostgreSQL
	}
	return e.Dialect
}

func (e *Env) textOptions() *types.TextOptions {
	c := e.Eval
	if c == nil {
		return &types.TextOptions{Zone: time.UTC, DateStyle: "ISO, MDY", IntervalStyle: "postgres", ExtraFloatDigits: 1, ByteaOutput: "hex"}
	}
	o := &types.TextOptions{Zone: c.Zone, DateStyle: c.DateStyle, IntervalStyle: c.IntervalStyle,
		ExtraFloatDigits: c.ExtraFloatDigits, ByteaOutput: c.ByteaOutput, Now: c.Now}
	if c.Session != nil {
		o.ObjectOID = func(k types.Kind, name string) (uint32, bool) {
			return c.Session.ObjectOID(objectCatalogs[k], name)
		}
	}
	return o
}

// objectCatalogs are the catalogs that the reg… types name objects of.
var objectCatalogs = map[types.Kind]string{
	types.Regclass: "pg_class", types.Regtype: "pg_type", types.Regproc: "pg_proc",
	types.Regnamespace: "pg_namespace", types.Regoper: "pg_operator", types.Regrole: "pg_authid",
	types.Regprocedure: "regprocedure", types.Regoperator: "regoperator",
}
