package exec

import (
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// take makes a dense vector whose row i is v's row pos[i]. Strings and dictionaries are shared
// with v. The result is valid as long as v and until the next take.
func (c *column) take(v *vec.Vector, pos []uint16) *vec.Vector {
	if v.Enc == vec.Const {
		return v
	}
	n := len(pos)
	out := c.v
	out.Type, out.Form, out.Enc, out.Valid = v.Type, v.Form, v.Enc, nil
	if v.Valid != nil {
		valid := c.allValid(n)
		for i, p := range pos {
			if !v.Valid.Get(int(p)) {
				valid.Clear(i)
			}
		}
		out.Valid = valid
	}
	if v.Enc == vec.Dict {
		out.Dictionary = v.Dictionary
		out.Codes = takeValues(out.Codes, v.Codes, pos)
		return out
	}
	switch v.Form {
	case types.FormBool:
		out.Bools = takeValues(out.Bools, v.Bools, pos)
	case types.FormI64:
		out.I64 = takeValues(out.I64, v.I64, pos)
	case types.FormF64:
		out.F64 = takeValues(out.F64, v.F64, pos)
	case types.FormW128:
		out.W128 = takeValues(out.W128, v.W128, pos)
	case types.FormStr:
		out.Views = takeValues(out.Views, v.Views, pos)
		out.Data = v.Data
	default:
		a := vec.NewAppender(v.Type)
		for _, p := range pos {
			a.Append(v, int(p))
		}
		return a.Vector()
	}
	return out
}

func takeValues[T any](out, in []T, pos []uint16) []T {
	out = grown(out, len(pos))
	for i, p := range pos {
		out[i] = in[p]
	}
	return out
}

// conform makes v a vector of exactly type t: a computed numeric may come at another scale.
func conform(v *vec.Vector, t types.Type) (*vec.Vector, error) {
	if t.Kind != types.Numeric || v.Type.Kind != types.Numeric {
		return v, nil
	}
	f := v.Values()
	if f.Form == types.FormStr || t.Fixed && f.Type.Scale == t.Scale {
		return v, nil
	}
	n := 1
	if v.Enc != vec.Const {
		n = len32(f)
		if v.Enc == vec.Dict {
			n = len(v.Codes)
		}
	}
	a := vec.NewAppender(t)
	for i := range n {
		d := types.Null
		if !v.Null(i) && (v.Enc != vec.Dict || int(v.Codes[i]) < len32(f)) {
			var err error
			if d, err = types.DecimalOf(v.Datum(i), f.Type).Datum(t); err != nil {
				return nil, err
			}
		}
		a.AppendDatum(d)
	}
	out := a.Vector()
	if v.Enc == vec.Const {
		out.Enc = vec.Const
	}
	return out, nil
}
