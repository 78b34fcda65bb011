package eval

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Simplify folds the constant parts of e and moves NOT inward. With a Ctx, stable functions
// (now(), current_setting) of constants are folded too: do that at execution only, with the
// statement's own Ctx. What fails to compute stays, to fail when a row reaches it.
//
//	1 + 1 = x          →  2 = x
//	x AND true         →  x               x AND false  →  false
//	NOT (a < b OR c)   →  a >= b AND NOT c
//	NOT (a < b)        →  a >= b          both are NULL for the same rows
func Simplify(c *Ctx, e plan.Expr) plan.Expr {
	f := folder{ctx: c, upTo: plan.Stable}
	if c == nil {
		f = folder{ctx: foldCtx(), upTo: plan.Immutable}
	}
	return plan.MapExpr(e, f.step)
}

func simplify(e plan.Expr) plan.Expr { return Simplify(nil, e) }

type folder struct {
	ctx  *Ctx
	upTo plan.Volatility // fold what is at least this constant
}

// step simplifies e, whose children are simplified.
func (f folder) step(e plan.Expr) plan.Expr {
	switch e := e.(type) {
	case *plan.And:
		return flatten(e.Args, true)
	case *plan.Or:
		return flatten(e.Args, false)
	case *plan.Not:
		return f.negate(e.X)
	case *plan.Case:
		return f.foldCase(e)
	case *plan.Coalesce:
		return foldCoalesce(e)
	case *plan.Call:
		if k := foldStrict(e); k != nil {
			return k
		}
	case *plan.Col, *plan.Const, *plan.Param, *plan.Subquery:
		return e
	}
	for _, x := range plan.Children(e) {
		if _, ok := x.(*plan.Const); !ok {
			return e
		}
	}
	if ownVolatility(e) < f.upTo {
		return e
	}
	if _, untyped := e.(*plan.Cast); untyped && e.Type().Form() == types.FormNone {
		return e
	}
	d, ok := f.compute(e)
	if !ok {
		return e
	}
	return &plan.Const{Value: d, Typ: e.Type()}
}

// compute evaluates an expression of constants. ok false: it fails, or takes too long or too much; then who
// evaluates it meets that, if anybody does.
func (f folder) compute(e plan.Expr) (d types.Datum, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, users := p.(*sqlerr.Error); !users {
				panic(p)
			}
			d, ok = types.Null, false
		}
	}()
	if call, ok := e.(*plan.Call); ok && call.Func.Kind != plan.ScalarFunc {
		return types.Null, false
	}
	k := &compiler{}
	n, err := k.compile(e)
	if err != nil {
		return types.Null, false
	}
	v, err := n.eval(f.ctx, &vec.Batch{Rows: 1}, nil)
	if err != nil {
		return types.Null, false
	}
	d, err = constDatum(v, e.Type())
	return d, err == nil
}

// foldStrict folds a strict call with a NULL among its arguments.
func foldStrict(e *plan.Call) plan.Expr {
	if !e.Func.Strict || e.Func.Kind != plan.ScalarFunc || e.Func.Volatility == plan.Volatile {
		return nil
	}
	for _, a := range e.Args {
		if k, ok := a.(*plan.Const); ok && k.Value.IsNull() {
			return &plan.Const{Typ: e.Typ}
		}
	}
	return nil
}

func constBool(e plan.Expr) (val, isNull, ok bool) {
	k, ok := e.(*plan.Const)
	if !ok {
		return false, false, false
	}
	if k.Value.IsNull() {
		return false, true, true
	}
	return k.Value.Bool(), false, true
}

func boolConst(b bool) plan.Expr { return &plan.Const{Value: types.NewBool(b), Typ: TBool} }

// flatten simplifies a conjunction (and) or a disjunction.
func flatten(args []plan.Expr, and bool) plan.Expr {
	var keep []plan.Expr
	for _, a := range args {
		if val, isNull, ok := constBool(a); ok && !isNull {
			if val == and {
				continue
			}
			return boolConst(!and)
		}
		if and {
			if x, ok := a.(*plan.And); ok {
				keep = append(keep, x.Args...)
				continue
			}
		} else if x, ok := a.(*plan.Or); ok {
			keep = append(keep, x.Args...)
			continue
		}
		keep = append(keep, a)
	}
	switch {
	case len(keep) == 0:
		return boolConst(and)
	case len(keep) == 1:
		return keep[0]
	case and:
		return &plan.And{Args: keep}
	}
	return &plan.Or{Args: keep}
}

// negate gives NOT x.
func (f folder) negate(x plan.Expr) plan.Expr {
	switch x := x.(type) {
	case *plan.Const:
		if x.Value.IsNull() {
			return x
		}
		return boolConst(!x.Value.Bool())
	case *plan.Not:
		return x.X
	case *plan.And:
		return flatten(f.negateAll(x.Args), false)
	case *plan.Or:
		return flatten(f.negateAll(x.Args), true)
	case *plan.IsNull:
		return &plan.IsNull{X: x.X, Negate: !x.Negate}
	case *plan.InList:
		return &plan.InList{X: x.X, List: x.List, Negate: !x.Negate}
	case *plan.Call:
		if g := Negate(x.Func); g != nil {
			m := *x
			m.Func = g
			return &m
		}
	}
	return &plan.Not{X: x}
}

func (f folder) negateAll(args []plan.Expr) []plan.Expr {
	out := make([]plan.Expr, len(args))
	for i, a := range args {
		out[i] = f.negate(a)
	}
	return out
}

// foldCase drops arms whose condition is never true and ends at one that always is.
func (f folder) foldCase(e *plan.Case) plan.Expr {
	m := &plan.Case{Else: e.Else, Typ: e.Typ}
	for _, w := range e.Whens {
		val, _, ok := constBool(w.Cond)
		if ok && !val {
			continue
		}
		if ok {
			m.Else = w.Then
			break
		}
		m.Whens = append(m.Whens, w)
	}
	if len(m.Whens) > 0 {
		if len(m.Whens) == len(e.Whens) && m.Else == e.Else {
			return e
		}
		return m
	}
	if m.Else == nil {
		return &plan.Const{Typ: e.Typ}
	}
	if !m.Else.Type().Equal(e.Typ) {
		return m
	}
	return m.Else
}

func foldCoalesce(e *plan.Coalesce) plan.Expr {
	var keep []plan.Expr
	for _, a := range e.Args {
		k, ok := a.(*plan.Const)
		if ok && k.Value.IsNull() {
			continue
		}
		keep = append(keep, a)
		if ok {
			break
		}
	}
	switch {
	case len(keep) == 0:
		return &plan.Const{Typ: e.Typ}
	case len(keep) == 1 && keep[0].Type().Equal(e.Typ):
		return keep[0]
	case len(keep) == len(e.Args):
		return e
	}
	return &plan.Coalesce{Args: keep, Typ: e.Typ}
}
