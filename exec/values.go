package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// values makes the rows of a literal relation.
type values struct {
	env  *Env
	node *plan.Values
	c    *eval.Ctx
	at   int
	apps []*vec.Appender
	out  vec.Batch
}

func newValues(env *Env, n *plan.Values) *values {
	v := &values{env: env, node: n}
	for _, c := range n.Cols {
		v.apps = append(v.apps, vec.NewAppender(c.Type))
	}
	return v
}

func (v *values) Next(ctx context.Context) (*vec.Batch, error) {
	if v.c == nil {
		v.c = v.env.evalCtx()
	}
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	n := min(len(v.node.Rows)-v.at, v.env.batchRows())
	if n == 0 {
		return nil, nil
	}
	v.out.Cols = v.out.Cols[:0]
	for _, a := range v.apps {
		a.Reset()
	}
	for _, row := range v.node.Rows[v.at : v.at+n] {
		for i, a := range v.apps {
			d, err := eval.EvalConst(v.c, row[i])
			if err != nil {
				return nil, err
			}
			a.AppendDatum(d)
		}
	}
	for _, a := range v.apps {
		v.out.Cols = append(v.out.Cols, a.Vector())
	}
	v.at += n
	v.out.Rows = n
	return &v.out, nil
}

func (v *values) Close() error { return nil }
