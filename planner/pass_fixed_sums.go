package planner

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// fixedSums sums numerics whose rows have different scales in one fixed scale, and rounds the
// sum to the greatest scale that a row had, which is the one that PostgreSQL shows:
//
//	γ(g; sum(CASE WHEN c THEN a ELSE 0 END))
//	  →  π(g, round(s, m))(γ(g; s: sum(CASE WHEN c THEN a ELSE 0.00 END),
//	                            m: max(CASE WHEN c AND a IS NOT NULL THEN 2 WHEN c THEN NULL ELSE 0 END)))
//
// Values of one scale are integers in a vector; a vector of many scales holds a text for each.
// The value is the same, and so is what is shown: where no row took a, the sum is 0, not 0.00.
func fixedSums(env *Env, n plan.Node) (plan.Node, error) {
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		if a, ok := n.(*plan.Aggregate); ok {
			return env.fixedSums(a), nil
		}
		return n, nil
	})
}

func (env *Env) fixedSums(a *plan.Aggregate) plan.Node {
	m := *a
	m.Aggs = nil
	last := map[plan.ColID]plan.Expr{}
	for _, g := range a.Aggs {
		if s, scale, ok := env.fixedSum(g); ok {
			last[g.Out.ID] = &plan.Cast{X: plan.ColOf(s.Out), Typ: g.Out.Type, Context: plan.Implicit, Pos: -1}
			m.Aggs = append(m.Aggs, s)
			if scale == nil {
				continue
			}
			round, err := eval.ResolveFunction("round", []types.Type{g.Out.Type, scale.Out.Type}, false)
			if err != nil {
				return a
			}
			last[g.Out.ID] = &plan.Call{Func: round.Func, Typ: round.Ret, Pos: -1, Args: []plan.Expr{last[g.Out.ID], plan.ColOf(scale.Out)}}
			m.Aggs = append(m.Aggs, *scale)
			continue
		}
		m.Aggs = append(m.Aggs, g)
	}
	if len(last) == 0 {
		return a
	}
	p := &plan.Project{Input: &m}
	for _, c := range a.Columns() {
		e := last[c.ID]
		if e == nil {
			e = plan.ColOf(c)
		}
		p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: e})
	}
	return p
}

// fixedSum gives the sum over one scale, and the greatest scale of the rows; nil if all have one.
func (env *Env) fixedSum(g plan.Agg) (sum plan.Agg, scale *plan.Agg, ok bool) {
	if g.Func.Name != "sum" || g.Distinct || len(g.OrderBy) > 0 || len(g.Args) != 1 || plan.IsVolatile(g.Args[0]) {
		return sum, nil, false
	}
	if t := g.Args[0].Type(); t.Kind != types.Numeric || t.Fixed {
		return sum, nil, false
	}
	f, ok := fixedForm(g.Args[0])
	if !ok {
		return sum, nil, false
	}
	r, err := eval.ResolveFunction("sum", []types.Type{f.expr.Type()}, false)
	if err != nil {
		return sum, nil, false
	}
	sum = plan.Agg{Func: r.Func, Args: []plan.Expr{f.expr}, Filter: g.Filter, Out: env.column(g.Out.Name, r.Ret)}
	if f.scale == nil {
		return sum, nil, true
	}
	r, err = eval.ResolveFunction("max", []types.Type{types.T(types.Int4)}, false)
	if err != nil {
		return sum, nil, false
	}
	return sum, &plan.Agg{Func: r.Func, Args: []plan.Expr{f.scale}, Filter: g.Filter, Out: env.column("scale", r.Ret)}, true
}

// fixed is a numeric expression in one scale.
type fixed struct {
	expr plan.Expr // of a Fixed type
	// scale is the scale that the original has, row by row, and NULL where that is NULL; nil:
	// expr's in every row that is not NULL.
	scale plan.Expr
}

// maxFixedDigits is what a vector of one scale holds.
const maxFixedDigits = 38

func fixedForm(e plan.Expr) (fixed, bool) {
	if e.Type().Kind != types.Numeric {
		return fixed{}, false
	}
	if t := e.Type(); t.Fixed {
		return fixed{expr: e}, t.Prec <= maxFixedDigits
	}
	switch e := e.(type) {
	case *plan.Const:
		return fixedConst(e)
	case *plan.Cast:
		return fixedCast(e)
	case *plan.Call:
		return fixedCall(e)
	case *plan.Case:
		arms := make([]plan.Expr, 0, len(e.Whens)+1)
		for _, w := range e.Whens {
			arms = append(arms, w.Then)
		}
		arms = append(arms, e.Else)
		return fixedArms(arms, func(arms []plan.Expr, t types.Type) plan.Expr {
			c := &plan.Case{Typ: t, Else: arms[len(e.Whens)]}
			for i, w := range e.Whens {
				c.Whens = append(c.Whens, plan.When{Cond: w.Cond, Then: arms[i]})
			}
			return c
		})
	case *plan.Coalesce:
		if f, ok := fixedArms(e.Args, func(arms []plan.Expr, t types.Type) plan.Expr {
			if t.Kind == types.Numeric {
				return &plan.Coalesce{Args: arms, Typ: t}
			}
			c := &plan.Case{Typ: t}
			for i, a := range arms {
				c.Whens = append(c.Whens, plan.When{Cond: present(e.Args[i]), Then: a})
			}
			return c
		}); ok {
			return f, true
		}
	}
	return fixed{}, false
}

// fixedArms brings the values of CASE or COALESCE to one scale; build makes the expression of
// arms, once of the values and once of their scales.
func fixedArms(arms []plan.Expr, build func([]plan.Expr, types.Type) plan.Expr) (fixed, bool) {
	forms := make([]fixed, len(arms))
	whole, scale, mixed := 0, 0, false
	for i, a := range arms {
		if isNull(a) {
			continue
		}
		var ok bool
		if forms[i], ok = fixedForm(a); !ok {
			return fixed{}, false
		}
		t := forms[i].expr.Type()
		mixed = mixed || forms[i].scale != nil
		whole, scale = max(whole, int(t.Prec-t.Scale)), max(scale, int(t.Scale))
	}
	if whole+scale > maxFixedDigits || whole+scale == 0 {
		return fixed{}, false
	}
	t := types.FixedNumeric(whole+scale, scale)
	values, scales := make([]plan.Expr, len(arms)), make([]plan.Expr, len(arms))
	for i, f := range forms {
		if f.expr == nil {
			values[i], scales[i] = &plan.Const{Typ: t}, &plan.Const{Typ: types.T(types.Int4)}
			continue
		}
		values[i], scales[i] = toFixed(f.expr, t), f.scaleIn()
		mixed = mixed || int(f.expr.Type().Scale) != scale
	}
	f := fixed{expr: build(values, t)}
	if mixed {
		f.scale = build(scales, types.T(types.Int4))
	}
	return f, true
}

// isNull tells whether an arm is a missing ELSE or the constant NULL.
func isNull(e plan.Expr) bool {
	c, ok := e.(*plan.Const)
	return e == nil || ok && c.Value.IsNull()
}

// scaleIn is f's scale as an expression: NULL where f is NULL.
func (f fixed) scaleIn() plan.Expr {
	if f.scale != nil {
		return f.scale
	}
	k := &plan.Const{Value: types.NewInt(int64(f.expr.Type().Scale)), Typ: types.T(types.Int4)}
	if _, ok := f.expr.(*plan.Const); ok {
		return k
	}
	return &plan.Case{Whens: []plan.When{{Cond: present(f.expr), Then: k}}, Typ: k.Typ}
}

// present is the condition that e is not NULL, without computing e where its columns tell.
func present(e plan.Expr) plan.Expr {
	var cols []plan.Expr
	seen := plan.ColSet{}
	strict := true
	plan.WalkExpr(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Col:
			if !seen.Has(x.ID) {
				seen.Add(x.ID)
				cols = append(cols, &plan.IsNull{X: x, Negate: true})
			}
		case *plan.Const:
			strict = strict && !x.Value.IsNull()
		case *plan.Call:
			strict = strict && isArithmetic(x)
		case *plan.Cast:
			strict = strict && (x.X.Type().IsInteger() || x.X.Type().Kind == types.Numeric)
		default:
			strict = false
		}
		return strict
	})
	if !strict || len(cols) == 0 {
		return &plan.IsNull{X: e, Negate: true}
	}
	return plan.AndOf(cols...)
}

// toFixed gives a Fixed e the type t, which holds its every value.
func toFixed(e plan.Expr, t types.Type) plan.Expr {
	if u := e.Type(); u.Scale == t.Scale && u.Prec == t.Prec {
		return e
	}
	if c, ok := e.(*plan.Const); ok {
		if d, err := types.DecimalOf(c.Value, c.Typ).Datum(t); err == nil {
			return &plan.Const{Value: d, Typ: t}
		}
	}
	return &plan.Cast{X: e, Typ: t, Context: plan.Implicit, Pos: -1}
}

func fixedConst(e *plan.Const) (fixed, bool) {
	d := types.DecimalOf(e.Value, e.Typ)
	if !d.IsFinite() || d.Scale() > maxFixedDigits {
		return fixed{}, false
	}
	digits := max(1, d.Scale(), len(d.Abs().Coef().String()))
	if digits > maxFixedDigits {
		return fixed{}, false
	}
	t := types.FixedNumeric(digits, d.Scale())
	v, err := d.Datum(t)
	return fixed{expr: &plan.Const{Value: v, Typ: t}}, err == nil
}

func fixedCast(e *plan.Cast) (fixed, bool) {
	digits := map[types.Kind]int{types.Int2: 5, types.Int4: 10, types.Int8: 19}
	switch t := e.X.Type(); {
	case digits[t.Kind] > 0:
		return fixed{expr: &plan.Cast{X: e.X, Typ: types.FixedNumeric(digits[t.Kind], 0), Context: e.Context, Pos: e.Pos}}, true
	case t.Kind == types.Numeric: // to numeric without a scale: the value as it is
		return fixedForm(e.X)
	}
	return fixed{}, false
}

// fixedCall: a sum has the greater scale of its operands, a product both scales together.
func fixedCall(e *plan.Call) (fixed, bool) {
	if !isArithmetic(e) {
		return fixed{}, false
	}
	l, ok1 := fixedForm(e.Args[0])
	r, ok2 := fixedForm(e.Args[1])
	if !ok1 || !ok2 {
		return fixed{}, false
	}
	x, ok := combined(e.Func.Name, l.expr, r.expr)
	if t := x.Type(); !ok || !t.Fixed || t.Prec > maxFixedDigits {
		return fixed{}, false
	}
	f := fixed{expr: x}
	if l.scale == nil && r.scale == nil {
		return f, true
	}
	a, b := l.scaleIn(), r.scaleIn()
	if e.Func.Name == "*" {
		f.scale, ok = combined("+", a, b)
		return f, ok
	}
	less, ok1 := combined("<", a, b)
	geq, ok2 := combined(">=", a, b)
	f.scale = &plan.Case{Whens: []plan.When{{Cond: less, Then: b}, {Cond: geq, Then: a}}, Typ: a.Type()}
	return f, ok1 && ok2
}

// combined is a op b of operands that need no cast.
func combined(op string, a, b plan.Expr) (plan.Expr, bool) {
	r, err := eval.ResolveOperator(op, []types.Type{a.Type(), b.Type()})
	if err != nil || r.Args[0].Kind != a.Type().Kind || r.Args[1].Kind != b.Type().Kind {
		return a, false
	}
	return &plan.Call{Func: r.Func, Args: []plan.Expr{a, b}, Typ: r.Ret, Pos: -1}, true
}

func isArithmetic(e plan.Expr) bool {
	return plan.IsOp(e, "+") || plan.IsOp(e, "-") || plan.IsOp(e, "*")
}
