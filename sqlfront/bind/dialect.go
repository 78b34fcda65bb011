package bind

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// Dialect is what differs between the SQL languages in meaning. Their grammars end in ast; the
// rest of the engine sees neither.
type Dialect struct {
	Name string
	// SameName compares an identifier with a name of the catalog or the query.
	SameName func(a, b string) bool
	// The rules of overloads and coercion. ResolveFunction gets the name as FunctionName
	// spells it.
	FunctionName    func(parts []string) (name string, ok bool)
	ResolveFunction func(name string, args []types.Type, variadic bool) (eval.Resolved, error)
	ResolveOperator func(op string, args []types.Type) (eval.Resolved, error)
	CanCast         func(from, to types.Type, ctx plan.CastContext) bool
	CommonType      func(construct string, ts []types.Type) (types.Type, error)
	// GroupStrict: a column that is neither grouped nor aggregated is an error (42803).
	GroupStrict bool
	// NullsFirst tells where NULLs sort by default.
	NullsFirst func(desc bool) bool
	// BoolFrom: types that stand for a condition without a cast, compared with zero.
	BoolFrom func(t types.Type) bool

	// What follows is nil in a dialect whose types alone say what an expression means.

	// Literal types a literal that the binder does not know or types otherwise; nil: its own way.
	Literal func(b *binder, l *ast.Lit) plan.Expr
	// Unary and Operator make an operator of bound operands; nil: ResolveOperator says which.
	Unary    func(b *binder, op string, x plan.Expr, pos int) plan.Expr
	Operator func(b *binder, op string, l, r plan.Expr, pos int) plan.Expr
	// Comparands turns two values into what a comparison of them compares.
	Comparands func(b *binder, l, r plan.Expr) (plan.Expr, plan.Expr)
	// Bounded says as what x BETWEEN lo AND hi compares all three; nil: each pair by itself.
	Bounded func(b *binder, x, lo, hi plan.Expr) func(plan.Expr) plan.Expr
	// Call binds a call that the dialect makes something of; nil: ResolveFunction says which.
	Call func(b *binder, lv *level, name string, c *ast.Call) plan.Expr
	// Cast binds a cast as written; Convert makes the conversion from x's type to t. nil: a
	// plan.Cast.
	Cast    func(b *binder, lv *level, c *ast.Cast) plan.Expr
	Convert func(b *binder, x plan.Expr, t types.Type, ctx plan.CastContext, pos int) plan.Expr
	// Truth makes a condition of a value that is none.
	Truth func(b *binder, x plan.Expr) plan.Expr
	// Collate binds COLLATE.
	Collate func(b *binder, x plan.Expr, e *ast.Collate) plan.Expr
	// Key is what values are told apart and sorted by: x itself, or a key made of it.
	Key func(b *binder, x plan.Expr) plan.Expr
	// Output finishes an expression that becomes a column.
	Output func(b *binder, x plan.Expr) plan.Expr
	// AliasesInExpr: GROUP BY, HAVING and ORDER BY find the select list's names inside of
	// expressions too; ConstantOrder: a constant there that is no position sorts nothing.
	AliasesInExpr, ConstantOrder bool
	// TextParams: a parameter whose place says nothing of its type is text.
	TextParams bool
	// HavingFilters: HAVING without groups and aggregates filters rows.
	HavingFilters bool
	// RecursiveType is what a recursive query's column is when its first term gives t, and other
	// terms convert to; nil: their types must agree.
	RecursiveType func(t types.Type) types.Type
	// ValuesColumn names the columns of VALUES, from 0; nil: column1, column2, ….
	ValuesColumn func(i int) string
	// UsingInOrder: the columns of JOIN … USING come in the order of the table that keeps its rows.
	UsingInOrder bool
	// ViewsKeepColumns: CREATE OR REPLACE VIEW may only add columns, and a column that a view reads
	// is not dropped without it.
	ViewsKeepColumns bool
	// HoldMode says what becomes of a value that a column cannot hold; nil: PostgreSQL's errors.
	HoldMode func(b *binder) eval.HoldMode
	// LooseGroups tells whether a column that is neither grouped nor aggregated stands for any of
	// its group's values.
	LooseGroups func(b *binder) bool
}

// valuesColumn names the i-th column of VALUES.
func (d *Dialect) valuesColumn(i int) string {
	if d.ValuesColumn != nil {
		return d.ValuesColumn(i)
	}
	return "column" + itoa(i+1)
}

// PostgreSQL is the dialect of the Postgres wire and of the shell.
var PostgreSQL = &Dialect{
	Name:            "PostgreSQL",
	SameName:        func(a, b string) bool { return a == b },
	FunctionName:    pgFunctionName,
	ResolveFunction: eval.ResolveFunction,
	ResolveOperator: eval.ResolveOperator,
	CanCast:         eval.CanCast,
	CommonType:      eval.CommonTypeIn,
	GroupStrict:     true,
	NullsFirst:      func(desc bool) bool { return desc },

	ViewsKeepColumns: true,
	BoolFrom:         func(types.Type) bool { return false },
}

// pgFunctionName strips the schemas that built-in functions live in.
func pgFunctionName(parts []string) (string, bool) {
	switch {
	case len(parts) == 1:
		return parts[0], true
	case len(parts) == 2 && (parts[0] == "pg_catalog" || parts[0] == "information_schema"):
		return parts[1], true
	}
	return strings.Join(parts, "."), false
}
