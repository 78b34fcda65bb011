package eval

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
	"regexp"
	"unsafe"
)

// regex gives a regular expression operator the kernel that keeps its compiled pattern.
func (f Func) regex(flags string, negate bool) Func {
	f.fast.kernel = func(*plan.Call) Kernel { return regexKernel(flags, negate) }
	return f
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
