package planner

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
)

// foldConstants evaluates what reads no column and does not change within the statement.
//
// An expression that fails stays as it is: whether the failure shows must depend on whether a
// row reaches it. SELECT 1/0 FROM t WHERE false is no error; neither is CASE WHEN x THEN 1/0.
func foldConstants(env *Env, n plan.Node) (plan.Node, error) {
	return plan.Rewrite(n, nil, env.fold), nil
}

// fold folds one expression whose children are folded already.
func (env *Env) fold(e plan.Expr) plan.Expr {
	switch e := e.(type) {
	case *plan.Const, *plan.Col, *plan.Param, *plan.Subquery:
		return e
	case *plan.Call:
		if e.Func.Kind != plan.ScalarFunc || e.Func.Volatility == plan.Volatile {
			return e
		}
	case *plan.And, *plan.Or, *plan.Not, *plan.Case, *plan.Coalesce:
		if s := simplify(e); s != e {
			return s
		}
	}
	for _, c := range plan.Children(e) {
		if _, ok := c.(*plan.Const); !ok {
			return e
		}
	}
	if env.Eval == nil {
		return e
	}
	v, err := eval.EvalConst(env.Eval, e)
	if err != nil {
		return e
	}
	return &plan.Const{Value: v, Typ: e.Type()}
}

// foldDeep folds e bottom-up, after a substitution made new constants.
func (env *Env) foldDeep(e plan.Expr) plan.Expr { return plan.MapExpr(e, env.fold) }
