package library

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/evaltest"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// What takes long on one value looks whether anybody waits for it, also what functions call.
func TestLongValuesStop(t *testing.T) {
	evaltest.Stops(t, "ln", func(c *eval.Ctx) error {
		d, err := types.ParseDecimal("0." + strings.Repeat("3", 5000))
		if err != nil {
			return err
		}
		_, err = d.LnUntil(c.MustLive)
		return err
	})
	evaltest.Stops(t, "jsonb", func(c *eval.Ctx) error {
		_, err := types.CanonicalJSON("["+strings.Repeat("1,", 5000)+"1]", c.MustLive)
		return err
	})
	evaltest.Stops(t, "array text", func(c *eval.Ctx) error {
		_, err := types.Parse("{"+strings.Repeat("1,", 5000)+"1}", types.ArrayOf(eval.TInt4), eval.SessionText(c))
		return err
	})
	// Also when it is a constant, which is computed while the statement is planned.
	evaltest.Stops(t, "a constant", func(c *eval.Ctx) error {
		text := &plan.Const{Value: types.NewStr(strings.Repeat("a", 1<<20)), Typ: eval.TText}
		r, err := eval.ResolveFunction("reverse", []types.Type{eval.TText}, false)
		if err != nil {
			return err
		}
		_, err = eval.EvalConst(c, callResolved(r, []plan.Expr{text}))
		return err
	})
}
