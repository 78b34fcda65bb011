package eval

import (
	"regexp"
	"unsafe"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// The true-or-false operators: any match will do.
func init() {
	for _, k := range []types.Kind{types.Text, types.Name, types.Bpchar} {
		Register(
			op("~", sig(k, types.Text), tBool, regexOnce("", false)).PerCall(func(*plan.Call) Kernel { return regexKernel("", false) }),
			op("!~", sig(k, types.Text), tBool, regexOnce("", true)).PerCall(func(*plan.Call) Kernel { return regexKernel("", true) }),
			op("~*", sig(k, types.Text), tBool, regexOnce("i", false)).PerCall(func(*plan.Call) Kernel { return regexKernel("i", false) }),
			op("!~*", sig(k, types.Text), tBool, regexOnce("i", true)).PerCall(func(*plan.Call) Kernel { return regexKernel("i", true) }),
		)
	}
}

func regexOnce(flags string, negate bool) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		return regexKernel(flags, negate)(c, args, sel, n, out)
	}
}

func regexKernel(flags string, negate bool) Kernel {
	var re *regexp.Regexp
	var pattern string
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		o := OutBools(out, n)
		s, p := args[0], args[1]
		return EachRow(sel, n, func(i int) error {
			if b := p.Bytes(i); re == nil || pattern != string(b) {
				pattern = string(b)
				var err error
				if re, err = compileRegexp(pattern, flags); err != nil {
					re = nil
					return err
				}
			}
			b := s.Bytes(i)
			if len(b) < longText {
				o[i] = re.Match(b) != negate
			} else {
				o[i] = matchIn(c, re, unsafe.String(unsafe.SliceData(b), len(b))) != negate
			}
			return nil
		})
	}
}
