// Package bind answers: what does this statement mean?
//
// In: one statement of the common syntax tree (ast) and an Env that knows tables, settings and
// the dialect. Out: a Bound: the algebra (plan.Node) with every name, type, overload and cast
// resolved, or, for DDL and utility statements, the statement with its parts resolved. It
// refuses to know how text was parsed (sqlfront/pg), where tables come from (Env's Catalog),
// how a plan is improved (planner) and how a write becomes files (dml).
//
// The shape of a bound query, from the bottom:
//
//	FROM (Join, Apply for LATERAL) → Filter (WHERE) → Aggregate → Filter (HAVING) → Window …
//	→ ProjectSet (functions that return sets) → Project (select list, sort columns)
//	→ Distinct → Sort → Limit → Project (without the sort columns)
//
// Aggregates, window calls and set functions leave a column reference where they stood, so
// that the expression around them is the same before and after (bind_call.go, build_select.go).
//
// Errors stop at the first: inside the package a failure unwinds to Bind by panic with a
// *sqlerr.Error, because almost every function here can fail and none could go on.
package bind

import (
	"context"
	"errors"

	"github.com/lhsql/lhsql/eval"
	_ "github.com/lhsql/lhsql/eval/library" // what SQL can call
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// Bound is a statement whose meaning is known.
type Bound struct {
	Stmt ast.Stmt
	// Plan is the query or write statement; for CREATE TABLE AS, COPY (query) TO, EXPLAIN and
	// DECLARE the inner one. nil for other statements.
	Plan plan.Node
	// Steps are the statements that one of several tables is made of, each over the state before it;
	// Plan is the first one's.
	Steps []ast.Stmt
	// Columns are the output columns; nil: the statement returns no rows.
	Columns []plan.Column
	// Params are the types of $1 …, none Unknown.
	Params []types.Type
	// Tables are the stored tables that the statement reads or writes, each use once.
	Tables []TableUse
	// Numbers are what it takes for identity columns of the table that it writes.
	Numbers []*eval.Numbers
	// Uses are all relations that it names, itself or through views, with what it does with each;
	// only where Env.Uses asks for them.
	Uses []*Use
	// Rounds has one row with how many rounds there are, where Env.Round asks for one.
	Rounds plan.Node
	// Views are the views that it reads, each use once.
	Views []*Relation
	// ParamDependent: what the plan is depends on the values of parameters (AS OF $1) or on
	// views and computed tables. The engine binds again at Execute with Env.Args set; columns and types may then differ.
	ParamDependent bool

	// For EXPLAIN, DECLARE, PREPARE and COPY (query): the inner statement.
	Inner *Bound
	// For statements that name one existing relation (ALTER TABLE, COPY, COMMENT): that one.
	// Nil with IF EXISTS when there is none.
	Target *Relation
	// Targets are the tables of TRUNCATE.
	Targets []*Relation
	// Create is for CREATE TABLE, Alter for ALTER TABLE (one per action), Copy for COPY, Args for
	// CALL and EXECUTE.
	Create *CreateTable
	Alter  []AlterAction
	Copy   *Copy
	Call   *ProcedureCall
	Args   []Constant
	// CommentColumn is the path of the column that COMMENT ON COLUMN names.
	CommentColumn []string
	// ViewColumns are the columns of CREATE VIEW's query under the view's names.
	ViewColumns []plan.Column
	// ViewSQL is the text of CREATE VIEW's query with every * spelled out.
	ViewSQL string
}

// TableUse is one stored table in a statement.
type TableUse struct {
	Relation *Relation
	Write    bool
}

// Bind resolves p. paramTypes are the types that the client gave for $1 …; a missing,
// Invalid or Unknown entry is inferred. The error is a *sqlerr.Error with a position in p.Text
// where one is known, or an error of the Catalog.
func Bind(env *Env, p ast.Parsed, paramTypes []types.Type) (bound *Bound, err error) {
	b := newBinder(env, p, paramTypes)
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			bound, err = nil, f.err
		}
	}()
	bound = b.statement(p.Stmt)
	bound.Stmt = p.Stmt
	b.finish(bound)
	return bound, nil
}

// failure carries an error up to Bind.
type failure struct{ err error }

// binder is the state of binding one statement.
type binder struct {
	reach int // of the WITH items that the query being bound reads
	env   *Env
	d     *Dialect
	ctx   context.Context
	text  string

	nextCol plan.ColID
	cols    map[plan.ColID]colInfo
	// isDefault are the columns of an INSERT's VALUES that tell where a field's is DEFAULT.
	isDefault map[int]plan.Column
	// rowDefaults are the columns being defined whose defaults name others.
	rowDefaults map[*ast.ColumnDef]bool
	pos         map[plan.Expr]int // where an expression starts in the text
	refs        []plan.ColID      // every column reference made, in order: tells laterals from joins

	params     []types.Type
	paramPos   []int
	writes     bool // INSERT, UPDATE, DELETE and MERGE
	loose      bool // a Param was left with Unknown type somewhere
	paramPlan  bool
	pin        When // of the view or subquery around, for tables without a clause
	asOfParams int  // parameters met in time-travel clauses
	depth      int
	entered    int // expressions and queries so far
	viewStack  []string
	viewPaths  [][]string
	fromCall   *ast.Call // the call that stands at the top of a FROM function
	inView     int
	viewText   bool // CREATE VIEW: stars collects what * stands for
	stars      []starUse
	tables     []TableUse
	views      []*Relation
	uses       []*Use
	useOf      map[*Relation]*Use
	columnsOf  map[plan.ColID]columnOf
	viewUses   []*Use // of the views around
	merge      *mergeScope
	joined     *joinedWrite // the target, while the FROM that it stands in is bound
	mysql      *mysqlState  // of the MySQL dialect
	holders    map[holdKey]*plan.Function
	numbers    []*eval.Numbers
	rounds     plan.Node // see Bound
}

// colInfo is what the binder knows of a column beyond the plan.
type colInfo struct {
	plan.Column
	rel  string // the name that its relation has in the query
	lv   *level // the query level whose FROM offers it, or that owns the aggregate
	made made
}

type made uint8

const (
	fromInput made = iota
	byAggregate
	byWindow
	bySet
	byGrouping
)

func newBinder(env *Env, p ast.Parsed, given []types.Type) *binder {
	n := p.NumParams
	if len(given) > n {
		n = len(given)
	}
	b := &binder{env: env, d: env.dialect(), ctx: env.context(), text: p.Text,
		cols: map[plan.ColID]colInfo{}, rowDefaults: map[*ast.ColumnDef]bool{}, pos: map[plan.Expr]int{},
		params: make([]types.Type, n), paramPos: make([]int, n)}
	for i := range b.params {
		b.params[i] = types.T(types.Unknown)
		b.paramPos[i] = -1
		if i < len(given) && given[i].Kind != types.Invalid {
			b.params[i] = given[i]
		}
	}
	return b
}

// fail stops binding with a user's error at pos.
func (b *binder) fail(code sqlerr.Code, pos int, format string, args ...any) {
	b.failWith(sqlerr.New(code, format, args...).At(pos))
}

// failWith stops binding with err. Positions inside a view's text mean nothing to the user.
func (b *binder) failWith(err error) {
	if e, ok := sqlerr.As(err); ok && b.inView > 0 && e.Pos >= 0 {
		f := *e
		f.Pos = -1
		err = &f
	}
	panic(failure{err})
}

// check stops binding if err is not nil, giving it the position where it has none.
func (b *binder) check(err error, pos int) {
	if err == nil {
		return
	}
	if e, ok := sqlerr.As(err); ok && e.Pos < 0 {
		f := *e
		f.Pos = pos
		err = &f
	}
	b.failWith(err)
}

// checkRelation is check for what Catalog.Relation returned.
func (b *binder) checkRelation(err error, spelled string, pos int) {
	var missing *lake.NotFound
	if errors.As(err, &missing) {
		b.fail(sqlerr.UndefinedTable, pos, "relation \"%s\" does not exist", spelled)
	}
	b.check(err, pos)
}

// at is pos as run-time errors may show it.
func (b *binder) at(pos int) int {
	if b.inView > 0 {
		return -1
	}
	return pos
}

// maxDepth bounds the nesting of expressions and queries (54001). Go cannot recover from a
// stack overflow, and everything after bind recurses over what it makes.
const maxDepth = 2000

func (b *binder) enter(pos int) {
	b.depth++
	if b.depth > maxDepth {
		b.failWith(sqlerr.New(sqlerr.StatementTooComplex, "statement is nested too deeply").
			WithHint("The limit is %d levels of nesting.", maxDepth).At(pos))
	}
	if b.entered++; b.entered%64 == 0 {
		b.alive()
	}
}

// alive ends the binding of a statement that nobody waits for any more.
func (b *binder) alive() {
	if b.ctx.Err() != nil {
		b.failWith(sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request"))
	}
}

func (b *binder) leave() { b.depth-- }

// newColumn makes a column with an ID of its own.
func (b *binder) newColumn(name string, t types.Type) plan.Column {
	b.nextCol++
	return plan.Column{ID: b.nextCol, Name: name, Type: t}
}

func (b *binder) newColID() plan.ColID {
	b.nextCol++
	return b.nextCol
}

// own records that c is offered to expressions of level lv.
func (b *binder) own(c plan.Column, rel string, lv *level, m made) {
	b.cols[c.ID] = colInfo{Column: c, rel: rel, lv: lv, made: m}
}

// col makes a reference to a column.
func (b *binder) col(c plan.Column, pos int) *plan.Col {
	e := plan.ColOf(c)
	b.pos[e] = pos
	b.refs = append(b.refs, c.ID)
	return e
}

// finish gives the parameters their types, expands CTEs that are read once, and fills Bound.
func (b *binder) finish(r *Bound) {
	for i, t := range b.params {
		if t.Kind == types.Unknown {
			b.fail(sqlerr.IndeterminateDatatype, b.paramPos[i], "could not determine data type of parameter $%d", i+1)
		}
	}
	r.Params = b.params
	r.Tables, r.Views, r.Numbers, r.Rounds, r.Uses = b.tables, b.views, b.numbers, b.rounds, b.finishUses()
	r.ParamDependent = b.paramPlan
	for x := r; x != nil; x = x.Inner {
		if x.Plan != nil {
			x.Plan = b.finishPlan(x.Plan)
		}
		if x != r {
			x.Params = b.params
		}
	}
	if r.Inner != nil && r.Plan != nil {
		r.Plan = r.Inner.Plan
	}
}
