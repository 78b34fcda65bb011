package eval

import (
	"context"
	"time"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// maxDepth bounds how deep expressions nest. Every level has its own vectors (16 KiB of
// int64), so the bound is on memory as much as on the stack.
const maxDepth = 4000

// Program is a compiled expression with the scratch vectors that it computes in. One goroutine
// at a time; Clone makes another for another goroutine.
type Program struct {
	expr plan.Expr
	in   []plan.Column
	root node
	one  vec.Batch // for EvalConst
}

// node computes one sub-expression. The vector belongs to the node until its next eval; rows
// outside sel (nil: all rows of b) are undefined. A node's vectors may share memory with b.
type node interface {
	eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error)
}

// selector is a boolean node that finds its true rows faster than by making a vector of bools:
// it writes to out, which is long enough and may be sel itself, the rows of sel that are true.
type selector interface {
	selectRows(c *Ctx, b *vec.Batch, sel, out []uint16) ([]uint16, error)
}

// Compile makes a Program for e over batches whose columns are in, by position. Constant
// parts are computed now, but for those that fail: they fail when a row reaches them.
func Compile(e plan.Expr, in []plan.Column) (*Program, error) {
	if err := checkDepth(e); err != nil {
		return nil, err
	}
	return compileAsIs(simplify(e), in)
}

// compileAsIs is Compile without a computation: what e takes is taken when it is evaluated, by
// whoever's context it then is.
func compileAsIs(e plan.Expr, in []plan.Column) (*Program, error) {
	k := &compiler{in: in, at: make(map[plan.ColID]int, len(in))}
	for i, c := range in {
		k.at[c.ID] = i
	}
	root, err := k.compile(e)
	if err != nil {
		return nil, err
	}
	return &Program{expr: e, in: in, root: root}, nil
}

// Clone makes a Program that computes the same, for another goroutine.
func (p *Program) Clone() *Program {
	q, err := compileAsIs(p.expr, p.in)
	invariant.Check(err == nil, "a compiled expression does not compile again: %v", err)
	return q
}

// Expr is the expression that p computes, constants folded.
func (p *Program) Expr() plan.Expr { return p.expr }

// Eval computes the expression for the rows of b that exist. The vector is aligned with b's
// physical rows; it may share memory with b and is valid until p's next use.
func (p *Program) Eval(c *Ctx, b *vec.Batch) (*vec.Vector, error) {
	if b.Len() == 0 {
		return nullVector(p.expr.Type()), nil
	}
	return p.root.eval(c, b, b.Sel)
}

// Select gives the rows of b for which the expression, a boolean, is true. It writes them to
// out's memory (from index 0), making more when there is too little; out must not be b.Sel.
func (p *Program) Select(c *Ctx, b *vec.Batch, out []uint16) ([]uint16, error) {
	if b.Len() == 0 {
		return out[:0], nil
	}
	if cap(out) < b.Rows {
		out = make([]uint16, b.Rows, max(b.Rows, vec.BatchRows))
	}
	return selectRows(c, p.root, b, b.Sel, out[:cap(out)])
}

// selectRows finds the rows of sel for which n is true; see selector.
func selectRows(c *Ctx, n node, b *vec.Batch, sel, out []uint16) ([]uint16, error) {
	if sel != nil && len(sel) == 0 {
		return out[:0], nil
	}
	if s, ok := n.(selector); ok {
		return s.selectRows(c, b, sel, out)
	}
	v, err := n.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	return trueRows(v, sel, b.Rows, out), nil
}

// EvalConst computes an expression that reads no columns.
func EvalConst(c *Ctx, e plan.Expr) (types.Datum, error) {
	if k, ok := e.(*plan.Const); ok {
		return k.Value, nil
	}
	if err := checkDepth(e); err != nil {
		return types.Null, err
	}
	p, err := compileAsIs(e, nil)
	if err != nil {
		return types.Null, err
	}
	p.one.Rows = 1
	v, err := p.Eval(c, &p.one)
	if err != nil {
		return types.Null, err
	}
	return constDatum(v, e.Type())
}

// constDatum is v's first value as a Datum that means the same for type t: a Numeric vector
// may carry another scale in its own type.
func constDatum(v *vec.Vector, t types.Type) (types.Datum, error) {
	d := v.Datum(0)
	if t.Kind == types.Numeric && v.Type.Kind == types.Numeric && !d.IsNull() && d.Form() != types.FormStr &&
		(!t.Fixed || t.Scale != v.Type.Scale) {
		return types.DecimalOf(d, v.Type).Datum(t)
	}
	return d, nil
}

// foldCtx is the surroundings in which constants are folded: what is folded does not look. Nobody
// who waits can stop it, so it is short: what takes longer is computed when the expression is
// evaluated.
func foldCtx() *Ctx {
	return &Ctx{Context: &briefly{Context: context.Background()}, Now: time.Unix(0, 0), StmtStart: time.Unix(0, 0), Zone: time.UTC}
}

// briefly is a context that ends a moment after it was first asked, without a timer.
type briefly struct {
	context.Context
	asked time.Time
}

// foldTime is how long folding at compile time may take.
const foldTime = 50 * time.Millisecond

func (b *briefly) Err() error {
	switch now := time.Now(); {
	case b.asked.IsZero():
		b.asked = now
	case now.Sub(b.asked) > foldTime:
		return context.DeadlineExceeded
	}
	return nil
}

func checkDepth(e plan.Expr) error {
	if depthWithin(e, maxDepth) {
		return nil
	}
	return sqlerr.New(sqlerr.StatementTooComplex, "expression is too complex: it nests deeper than %d levels", maxDepth).
		WithHint("Split the expression, or use IN (…) instead of a long chain of OR.")
}

func depthWithin(e plan.Expr, left int) bool {
	if e == nil {
		return true
	}
	if left == 0 {
		return false
	}
	for _, x := range plan.Children(e) {
		if !depthWithin(x, left-1) {
			return false
		}
	}
	return true
}

type compiler struct {
	in []plan.Column
	at map[plan.ColID]int
	// inDict is set below a dictNode, where wrapping again gains nothing.
	inDict bool
}

// compile makes e's node.
func (k *compiler) compile(e plan.Expr) (node, error) {
	if n, err := k.wrapDict(e); n != nil || err != nil {
		return n, err
	}
	switch e := e.(type) {
	case *plan.Col:
		i, ok := k.at[e.ID]
		if !ok {
			return nil, sqlerr.New(sqlerr.InternalError, "column %q (#%d) is not among the input's columns", e.Name, e.ID)
		}
		return &colNode{i: i}, nil
	case *plan.Const:
		return constOf(e.Typ, e.Value), nil
	case *plan.Param:
		return nil, sqlerr.New(sqlerr.UndefinedParameter, "there is no value for parameter $%d", e.Index)
	case *plan.Call:
		return k.compileCall(e)
	case *plan.And:
		return k.compileAnd(e)
	case *plan.Or:
		args, err := k.compileAll(e.Args)
		return &orNode{args: args}, err
	case *plan.Not:
		x, err := k.compile(e.X)
		return &notNode{x: x}, err
	case *plan.IsNull:
		x, err := k.compile(e.X)
		return &isNullNode{x: x, negate: e.Negate}, err
	case *plan.Case:
		for _, w := range e.Whens {
			checkArms("CASE", e.Typ, w.Then)
		}
		checkArms("CASE", e.Typ, e.Else)
		return k.compileCase(e)
	case *plan.Coalesce:
		checkArms("COALESCE", e.Typ, e.Args...)
		args, err := k.compileAll(e.Args)
		return &coalesceNode{args: args, merge: merger{out: vec.Vector{Type: e.Typ}}}, err
	case *plan.InList:
		x, err := k.compile(e.X)
		if err != nil {
			return nil, err
		}
		return newInNode(x, e), nil
	case *plan.Cast:
		return k.compileCast(e)
	case *plan.FieldOf:
		x, err := k.compile(e.X)
		return &fieldNode{x: x, index: e.Index, typ: e.Typ}, err
	case *plan.Subscript:
		return k.compileRow(e.Typ, subscript(e), e.X, e.Index)
	case *plan.Slice:
		return k.compileSlice(e)
	case *plan.ArrayExpr:
		checkArms("ARRAY", e.Typ.Elem(), e.Elems...)
		args, err := k.compileAll(e.Elems)
		return &arrayNode{elems: args, out: vec.Vector{Type: e.Typ}}, err
	case *plan.RowExpr:
		args, err := k.compileAll(e.Elems)
		return &rowNode{elems: args, out: vec.Vector{Type: e.Typ}}, err
	case *plan.Subquery:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a subquery is not supported here")
	}
	invariant.Fail("eval.Compile of %T", e)
	return nil, nil
}

func (k *compiler) compileAll(es []plan.Expr) ([]node, error) {
	ns := make([]node, len(es))
	for i, e := range es {
		n, err := k.compile(e)
		if err != nil {
			return nil, err
		}
		ns[i] = n
	}
	return ns, nil
}

// colNode reads an input column.
type colNode struct{ i int }

func (n *colNode) eval(_ *Ctx, b *vec.Batch, _ []uint16) (*vec.Vector, error) {
	return b.Cols[n.i], nil
}

// constNode is a constant.
type constNode struct{ v *vec.Vector }

func (n *constNode) eval(*Ctx, *vec.Batch, []uint16) (*vec.Vector, error) { return n.v, nil }

func constOf(t types.Type, d types.Datum) *constNode {
	if d.IsNull() {
		return &constNode{nullVector(t)}
	}
	v := vec.ConstOf(t, d)
	v.Type = t
	return &constNode{v}
}

// nullVector is a Const NULL of type t.
func nullVector(t types.Type) *vec.Vector {
	form := t.Form()
	if form == types.FormNone {
		form = types.FormStr
	}
	v := vec.Alloc(t, form, 1)
	v.Enc, v.Valid = vec.Const, vec.NewBitmap(1, false)
	return v
}

// isConst tells whether n is a constant, and which.
func isConst(n node) (*vec.Vector, bool) {
	k, ok := n.(*constNode)
	if !ok {
		return nil, false
	}
	return k.v, true
}
