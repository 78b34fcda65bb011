package pgfunc

import (
	"regexp"
	"unsafe"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/eval/regex"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// The true-or-false operators: any match will do.
func registerRegexpOperator() {
	for _, k := range []types.Kind{types.Text, types.Name, types.Bpchar} {
		eval.Register(
			eval.Op("~", eval.Sig(k, types.Text), eval.TBool, regexOnce("", false)).PerCall(func(*plan.Call) eval.Kernel { return regexKernel("", false) }),
			eval.Op("!~", eval.Sig(k, types.Text), eval.TBool, regexOnce("", true)).PerCall(func(*plan.Call) eval.Kernel { return regexKernel("", true) }),
			eval.Op("~*", eval.Sig(k, types.Text), eval.TBool, regexOnce("i", false)).PerCall(func(*plan.Call) eval.Kernel { return regexKernel("i", false) }),
			eval.Op("!~*", eval.Sig(k, types.Text), eval.TBool, regexOnce("i", true)).PerCall(func(*plan.Call) eval.Kernel { return regexKernel("i", true) }),
		)
	}
}

func regexOnce(flags string, negate bool) eval.Kernel {
	return func(c *eval.Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		return regexKernel(flags, negate)(c, args, sel, n, out)
	}
}

func regexKernel(flags string, negate bool) eval.Kernel {
	var re *regexp.Regexp
	var pattern string
	return func(c *eval.Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		o := eval.OutBools(out, n)
		s, p := args[0], args[1]
		return eval.EachRow(sel, n, func(i int) error {
			if b := p.Bytes(i); re == nil || pattern != string(b) {
				pattern = string(b)
				var err error
				if re, err = regex.Compile(pattern, flags); err != nil {
					re = nil
					return err
				}
			}
			b := s.Bytes(i)
			if len(b) < regex.LongText {
				o[i] = re.Match(b) != negate
			} else {
				o[i] = regex.Match(c, re, unsafe.String(unsafe.SliceData(b), len(b))) != negate
			}
			return nil
		})
	}
}
