package planner

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// simplifyPredicates applies the laws of three-valued logic, and removes filters that are TRUE
// and inputs that are empty.
func simplifyPredicates(env *Env, n plan.Node) (plan.Node, error) {
	return plan.Rewrite(n, simplifyNode, func(e plan.Expr) plan.Expr { return simplify(e) }), nil
}

// simplify rewrites one expression whose children are simple already. It does not move
// evaluation: an argument that may fail stays behind those that guard it.
func simplify(e plan.Expr) plan.Expr {
	switch e := e.(type) {
	case *plan.And:
		return simplifyAnd(e)
	case *plan.Or:
		return simplifyOr(e)
	case *plan.Not:
		return simplifyNot(e)
	case *plan.Case:
		return simplifyCase(e)
	case *plan.Coalesce:
		return simplifyCoalesce(e)
	case *plan.IsNull:
		if c, ok := e.X.(*plan.Const); ok {
			return &plan.Const{Value: types.NewBool(c.Value.IsNull() != e.Negate), Typ: types.T(types.Bool)}
		}
	case *plan.Call:
		return simplifyCall(e)
	case *plan.InList:
		if len(e.List) == 0 {
			return &plan.Const{Value: types.NewBool(e.Negate), Typ: types.T(types.Bool)}
		}
	}
	return e
}

// simplifyAnd: x AND TRUE = x; anything AND FALSE = FALSE, from FALSE on (what stands before
// it is still evaluated if it may fail, as PostgreSQL's own folding does not: it drops all).
func simplifyAnd(e *plan.And) plan.Expr {
	var args []plan.Expr
	for _, a := range e.Args {
		if b, ok := a.(*plan.And); ok {
			args = append(args, b.Args...)
			continue
		}
		args = append(args, a)
	}
	var out []plan.Expr
	for _, a := range args {
		if c, ok := a.(*plan.Const); ok && !c.Value.IsNull() {
			if !c.Value.Bool() {
				return plan.False()
			}
			continue
		}
		if !hasEqual(out, a) {
			out = append(out, a)
		}
	}
	return unchanged(e, e.Args, out, plan.True(), func() plan.Expr { return &plan.And{Args: out} })
}

func simplifyOr(e *plan.Or) plan.Expr {
	var args []plan.Expr
	for _, a := range e.Args {
		if b, ok := a.(*plan.Or); ok {
			args = append(args, b.Args...)
			continue
		}
		args = append(args, a)
	}
	var out []plan.Expr
	for _, a := range args {
		if c, ok := a.(*plan.Const); ok && !c.Value.IsNull() {
			if c.Value.Bool() {
				return plan.True()
			}
			continue
		}
		if !hasEqual(out, a) {
			out = append(out, a)
		}
	}
	return unchanged(e, e.Args, out, plan.False(), func() plan.Expr { return &plan.Or{Args: out} })
}

func unchanged(e plan.Expr, before, after []plan.Expr, none plan.Expr, build func() plan.Expr) plan.Expr {
	switch len(after) {
	case 0:
		return none
	case 1:
		return after[0]
	}
	if len(before) == len(after) {
		return e
	}
	return build()
}

// hasEqual may overlook an equal term: dropping one spares work and changes nothing. Long lists
// are not searched to their ends, since chains of 100,000 terms would take minutes.
func hasEqual(list []plan.Expr, e plan.Expr) bool {
	if plan.IsVolatile(e) {
		return false
	}
	list = list[:min(len(list), maxCompared)]
	for _, x := range list {
		if plan.EqualExpr(x, e) {
			return true
		}
	}
	return false
}

// maxCompared is how many terms of a list are searched for an equal one.
const maxCompared = 50

// negated gives the operator that is false where op is true and NULL where op is NULL.
var negated = map[string]string{
	"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
	"IS DISTINCT FROM": plan.NotDistinctOp, plan.NotDistinctOp: "IS DISTINCT FROM",
	"~~": "!~~", "!~~": "~~", "~~*": "!~~*", "!~~*": "~~*", "~": "!~", "!~": "~", "~*": "!~*", "!~*": "~*",
}

// commuted gives the operator for the arguments in the other order.
var commuted = map[string]string{"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}

// simplifyNot moves NOT inwards (De Morgan holds in three-valued logic too) down to
// comparisons, so that joins and pruning see plain terms.
func simplifyNot(e *plan.Not) plan.Expr {
	switch x := e.X.(type) {
	case *plan.Const:
		if x.Value.IsNull() {
			return x
		}
		return &plan.Const{Value: types.NewBool(!x.Value.Bool()), Typ: x.Typ}
	case *plan.Not:
		return x.X
	case *plan.IsNull:
		return &plan.IsNull{X: x.X, Negate: !x.Negate}
	case *plan.InList:
		return &plan.InList{X: x.X, List: x.List, Negate: !x.Negate}
	case *plan.And:
		return simplifyOr(&plan.Or{Args: notAll(x.Args)})
	case *plan.Or:
		return simplifyAnd(&plan.And{Args: notAll(x.Args)})
	case *plan.Call:
		op := negated[x.Func.Name]
		if !x.Func.Operator || op == "" || len(x.Args) != 2 {
			return e
		}
		if f := eval.Operator(op, x.Func.Args[0], x.Func.Args[1]); f != nil {
			return &plan.Call{Func: f, Args: x.Args, Typ: x.Typ, Pos: x.Pos}
		}
	}
	return e
}

func notAll(args []plan.Expr) []plan.Expr {
	out := make([]plan.Expr, len(args))
	for i, a := range args {
		out[i] = simplifyNot(&plan.Not{X: a})
	}
	return out
}

// simplifyCase drops arms that are never taken and ends at one that always is.
func simplifyCase(e *plan.Case) plan.Expr {
	var whens []plan.When
	changed := false
	els := e.Else
	for _, w := range e.Whens {
		if plan.IsFalseOrNull(w.Cond) {
			changed = true
			continue
		}
		if plan.IsTrue(w.Cond) {
			els, changed = w.Then, true
			break
		}
		whens = append(whens, w)
	}
	if len(whens) == 0 {
		if els == nil {
			return plan.NullOf(e.Typ)
		}
		return els
	}
	if !changed {
		return e
	}
	return &plan.Case{Whens: whens, Else: els, Typ: e.Typ}
}

// simplifyCoalesce drops NULL constants and what follows a constant.
func simplifyCoalesce(e *plan.Coalesce) plan.Expr {
	var out []plan.Expr
	for _, a := range e.Args {
		c, ok := a.(*plan.Const)
		if ok && c.Value.IsNull() {
			continue
		}
		out = append(out, a)
		if ok {
			break
		}
	}
	switch {
	case len(out) == 0:
		return plan.NullOf(e.Typ)
	case len(out) == 1:
		return out[0]
	case len(out) == len(e.Args):
		return e
	}
	return &plan.Coalesce{Args: out, Typ: e.Typ}
}

// simplifyCall turns constant = column around, so that every later rule finds the column on
// the left; and boolean = TRUE into the boolean.
func simplifyCall(e *plan.Call) plan.Expr {
	if !e.Func.Operator || len(e.Args) != 2 {
		return e
	}
	_, lc := e.Args[0].(*plan.Const)
	_, rc := e.Args[1].(*plan.Const)
	op := commuted[e.Func.Name]
	if lc && !rc && op != "" {
		if f := eval.Operator(op, e.Func.Args[1], e.Func.Args[0]); f != nil {
			e = &plan.Call{Func: f, Args: []plan.Expr{e.Args[1], e.Args[0]}, Typ: e.Typ, Pos: e.Pos}
		}
	}
	if c, ok := e.Args[1].(*plan.Const); ok && c.Typ.Kind == types.Bool && e.Func.Name == "=" && !c.Value.IsNull() {
		if c.Value.Bool() {
			return e.Args[0]
		}
		return simplifyNot(&plan.Not{X: e.Args[0]})
	}
	// A strict operator on NULL is NULL.
	for _, a := range e.Args {
		if c, ok := a.(*plan.Const); ok && c.Value.IsNull() && e.Func.Strict && e.Func.Volatility != plan.Volatile {
			return plan.NullOf(e.Typ)
		}
	}
	return e
}

// simplifyNode removes operators that do nothing.
func simplifyNode(n plan.Node) plan.Node {
	switch n := n.(type) {
	case *plan.Filter:
		switch {
		case plan.IsTrue(n.Pred):
			return n.Input
		case plan.IsFalseOrNull(n.Pred), isEmpty(n.Input):
			return empty(n)
		}
	case *plan.Scan:
		if n.Pred != nil && plan.IsFalseOrNull(n.Pred) {
			return empty(n)
		}
	case *plan.Project:
		if isEmpty(n.Input) {
			return empty(n)
		}
	case *plan.Sort:
		if isEmpty(n.Input) {
			return n.Input
		}
	case *plan.Distinct:
		if isEmpty(n.Input) {
			return n.Input
		}
	case *plan.Join:
		return simplifyJoin(n)
	case *plan.SetOp:
		return simplifySetOp(n)
	}
	return n
}

func simplifyJoin(n *plan.Join) plan.Node {
	l, r := isEmpty(n.Left), isEmpty(n.Right)
	never := n.On != nil && plan.IsFalseOrNull(n.On)
	switch n.Kind {
	case plan.InnerJoin, plan.SemiJoin:
		if l || r || never {
			return empty(n)
		}
	case plan.LeftJoin, plan.SingleJoin, plan.MarkJoin:
		if l {
			return empty(n)
		}
	case plan.AntiJoin:
		if l || r || never {
			return n.Left
		}
	case plan.RightJoin:
		if r {
			return empty(n)
		}
	}
	return n
}

func simplifySetOp(n *plan.SetOp) plan.Node {
	rename := func(in plan.Node) plan.Node {
		exprs := make([]plan.Named, len(n.Cols))
		for i, c := range in.Columns() {
			exprs[i] = plan.Named{Col: n.Cols[i], Expr: plan.ColOf(c)}
		}
		return &plan.Project{Input: in, Exprs: exprs}
	}
	l, r := isEmpty(n.Left), isEmpty(n.Right)
	switch {
	case l && r, n.Kind == plan.Intersect && (l || r), n.Kind == plan.Except && l:
		return empty(n)
	case n.All && n.Kind == plan.Union && l:
		return rename(n.Right)
	case n.All && n.Kind != plan.Intersect && r:
		return rename(n.Left)
	}
	return n
}
