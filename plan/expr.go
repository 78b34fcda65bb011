// Package plan is the algebra: the nodes and expressions that a bound statement consists of.
//
// Data only: no name look-up (sqlfront/bind), no rewriting (planner), no evaluation (eval,
// exec). Columns have an identity, ColID, and never a position; positions come into being in
// exec.Build. Expressions and nodes are immutable once shared: a rewrite makes new ones.
package plan

import (
	"github.com/lhsql/lhsql/types"
)

// ColID identifies a column within one statement. 0 is no column.
type ColID int32

// Column is an output column of a node.
type Column struct {
	ID      ColID
	Name    string
	Type    types.Type
	NotNull bool
	// TableOID and Attnum tell the base table's column for RowDescription; 0 when computed.
	TableOID uint32
	Attnum   int16
}

// Expr computes one value per row. The set is sealed.
type Expr interface {
	Type() types.Type
	expr()
}

// Col reads the column ID of the input, or, inside a Subquery or an Apply's right side, of an
// enclosing query (a correlated reference: recognised by the input not having the ID).
type Col struct {
	ID   ColID
	Name string // for messages and EXPLAIN
	Typ  types.Type
}

// Const is a literal or folded value.
type Const struct {
	Value types.Datum
	Typ   types.Type
}

// Param is $Index (from 1), replaced by a Const before planning at Execute.
type Param struct {
	Index int
	Typ   types.Type
}

// Call applies a scalar function or operator. Args already have the function's types, casts
// inserted. Typ is the result type (Func.Ret may be polymorphic).
type Call struct {
	Func *Function
	Args []Expr
	Typ  types.Type
	Pos  int // byte position for run-time errors; -1 unknown
}

// And is three-valued conjunction of one or more boolean expressions. A later argument is not
// evaluated for rows where an earlier one is false.
type And struct{ Args []Expr }

// Or is three-valued disjunction, evaluated likewise.
type Or struct{ Args []Expr }

// Not is three-valued negation.
type Not struct{ X Expr }

// IsNull is X IS [NOT] NULL. For a struct type use the SQL row rules in the binder; this one
// tests the value itself.
type IsNull struct {
	X      Expr
	Negate bool
}

// When is one arm of a Case: a boolean condition and its value.
type When struct{ Cond, Then Expr }

// Case is the searched CASE; Else nil means NULL. Arms are evaluated only for rows that reach
// them, so 1/0 in an arm not taken is no error. Coalesce, nullif, greatest lower to it or to Call.
type Case struct {
	Whens []When
	Else  Expr
	Typ   types.Type
}

// Coalesce gives the first argument that is not NULL, evaluating no further.
type Coalesce struct {
	Args []Expr
	Typ  types.Type
}

// InList is X [NOT] IN (constants of X's type), with SQL's NULL rules. Lists with
// non-constant members lower to Or.
type InList struct {
	X      Expr
	List   []types.Datum
	Negate bool
}

// CastContext tells who asked for a cast (PostgreSQL's castcontext).
type CastContext uint8

const (
	Implicit   CastContext = iota // wherever types differ
	Assignment                    // where a value is stored in a column
	Explicit                      // where the user wrote it
)

// Cast converts X to Typ, with run-time errors for values that do not fit.
type Cast struct {
	X       Expr
	Typ     types.Type
	Context CastContext
	Pos     int
}

// WithoutLength is e without the casts that take off a length and change no value: a varchar(n) as
// text. What is known of a column is known of it by either name.
func WithoutLength(e Expr) Expr {
	for {
		c, ok := e.(*Cast)
		if !ok || c.Typ.Prec != 0 || !plainText(c.Typ) || !plainText(c.X.Type()) {
			return e
		}
		e = c.X
	}
}

func plainText(t types.Type) bool { return t.Kind == types.Text || t.Kind == types.Varchar }

// FieldOf reads member Index of a struct.
type FieldOf struct {
	X     Expr
	Index int
	Typ   types.Type
}

// Subscript is X[Index] on an array (1-based), or on a map by key; NULL when absent.
type Subscript struct {
	X, Index Expr
	Typ      types.Type
}

// Slice is X[Lower:Upper] on an array; nil bounds are open. In an array of arrays it cuts the
// arrays that lie Depth levels in, each of them.
type Slice struct {
	X, Lower, Upper Expr
	Depth           int
}

// ArrayExpr is ARRAY[…].
type ArrayExpr struct {
	Elems []Expr
	Typ   types.Type
}

// RowExpr is ROW(…), of a Struct type with fields f1, f2, … unless named.
type RowExpr struct {
	Elems []Expr
	Typ   types.Type
}

// SubqueryKind says how a Subquery becomes a value.
type SubqueryKind uint8

const (
	ScalarSubquery SubqueryKind = iota // one column, at most one row (else 21000); no row: NULL
	ExistsSubquery                     // is there a row
	AnySubquery                        // Test Op ANY (Plan): IN is = ANY; NOT IN is Not of it
	AllSubquery                        // Test Op ALL (Plan)
	ArraySubquery                      // ARRAY(Plan): all rows in order
)

// Subquery embeds a query. It exists between bind and the decorrelate pass only.
type Subquery struct {
	Kind SubqueryKind
	Plan Node
	Test []Expr      // left-hand side of Any/All, one per output column of Plan
	Ops  []*Function // the comparison per column of Test; several columns: row comparison with = or <>
	Typ  types.Type
	Pos  int
}

func (e *Col) Type() types.Type       { return e.Typ }
func (e *Const) Type() types.Type     { return e.Typ }
func (e *Param) Type() types.Type     { return e.Typ }
func (e *Call) Type() types.Type      { return e.Typ }
func (e *And) Type() types.Type       { return types.T(types.Bool) }
func (e *Or) Type() types.Type        { return types.T(types.Bool) }
func (e *Not) Type() types.Type       { return types.T(types.Bool) }
func (e *IsNull) Type() types.Type    { return types.T(types.Bool) }
func (e *Case) Type() types.Type      { return e.Typ }
func (e *Coalesce) Type() types.Type  { return e.Typ }
func (e *InList) Type() types.Type    { return types.T(types.Bool) }
func (e *Cast) Type() types.Type      { return e.Typ }
func (e *FieldOf) Type() types.Type   { return e.Typ }
func (e *Subscript) Type() types.Type { return e.Typ }
func (e *Slice) Type() types.Type     { return e.X.Type() }
func (e *ArrayExpr) Type() types.Type { return e.Typ }
func (e *RowExpr) Type() types.Type   { return e.Typ }
func (e *Subquery) Type() types.Type  { return e.Typ }

func (*Col) expr()       {}
func (*Const) expr()     {}
func (*Param) expr()     {}
func (*Call) expr()      {}
func (*And) expr()       {}
func (*Or) expr()        {}
func (*Not) expr()       {}
func (*IsNull) expr()    {}
func (*Case) expr()      {}
func (*Coalesce) expr()  {}
func (*InList) expr()    {}
func (*Cast) expr()      {}
func (*FieldOf) expr()   {}
func (*Subscript) expr() {}
func (*Slice) expr()     {}
func (*ArrayExpr) expr() {}
func (*RowExpr) expr()   {}
func (*Subquery) expr()  {}
