package planner

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
)

// substituteParams puts the arguments of this execution in place of $1, $2, …
func substituteParams(env *Env, n plan.Node) (plan.Node, error) {
	var err error
	n = plan.Rewrite(n, nil, func(e plan.Expr) plan.Expr {
		p, ok := e.(*plan.Param)
		if !ok {
			return e
		}
		if p.Index < 1 || p.Index > len(env.Params) {
			if err == nil {
				err = sqlerr.New(sqlerr.UndefinedParameter, "there is no parameter $%d", p.Index)
			}
			return e
		}
		return &plan.Const{Value: env.Params[p.Index-1], Typ: p.Typ}
	})
	return n, err
}
