package prune

import (
	"strings"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// prefix compiles x LIKE 'abc%', and starts_with(x, 'abc') when the pattern is literal.
//
// Strings with prefix p are those in [p, next(p)), in byte order. Bounds may be truncated, but
// are bounds all the same: lo ≥ p and hi < next(p) puts every value inside.
func (c *compiler) prefix(e *plan.Call, literal bool) maskFn {
	t := e.Args[0].Type()
	v, ok := c.constant(e.Args[1])
	if !ok || !plainText(t) && t.Kind != types.Name {
		return unknownMask
	}
	x := c.value(e.Args[0])
	if v.IsNull() {
		return constMask(types.Null)
	}
	p, rest := v.Str(), "%"
	if !literal {
		if p, rest, ok = likePrefix(v.Str()); !ok {
			return unknownMask
		}
	}
	next := successor(p)
	return func(s Stats) outcomes {
		a := x(s)
		if a.nulls == always {
			return canNull
		}
		var o outcomes
		outside := !a.hi.IsNull() && a.hi.Str() < p || next != "" && !a.lo.IsNull() && a.lo.Str() >= next
		inside := !a.lo.IsNull() && a.lo.Str() >= p && (next == "" || !a.hi.IsNull() && a.hi.Str() < next)
		switch {
		case outside:
			o = canFalse
		case rest == "": // no wildcard: equality with p
			o = canTrue | canFalse
			if !a.lo.IsNull() && !a.hi.IsNull() && a.lo.Str() == p && a.hi.Str() == p {
				o = canTrue
			}
		case inside && rest == "%":
			o = canTrue
		default:
			o = canTrue | canFalse
		}
		if a.nulls != never {
			o |= canNull
		}
		return o
	}
}

// likePrefix splits a LIKE pattern into its literal prefix, escapes resolved, and the rest from
// the first wildcard on. ok is false for a pattern that ends in its escape: an error at run time.
func likePrefix(pattern string) (prefix, rest string, ok bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '%', '_':
			return b.String(), pattern[i:], true
		case '\\':
			i++
			if i == len(pattern) {
				return "", "", false
			}
		}
		b.WriteByte(pattern[i])
	}
	return b.String(), "", true
}

// successor is the least string above every string with prefix p; "" if there is none.
func successor(p string) string {
	b := []byte(p)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}
