package eval

import (
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

type vecVector = vec.Vector

// The functions here prepare a kernel's out vector: they set its form and give the value slice,
// reusing the memory of earlier batches. Values of rows outside sel stay undefined.

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, max(n, min(2*cap(s), vec.MaxBatchRows)))
	}
	return s[:n]
}

// OutBools makes out a vector of n bools.
func OutBools(out *vec.Vector, n int) []bool {
	out.Form = types.FormBool
	out.Bools = resize(out.Bools, n)
	return out.Bools
}

// OutI64 makes out a vector of n int64s.
func OutI64(out *vec.Vector, n int) []int64 {
	out.Form = types.FormI64
	out.I64 = resize(out.I64, n)
	return out.I64
}

// OutCodes makes out a vector of n codes of dict, which never changes and has a DictID. Rows outside
// the kernel's selection have codes of it, too, if they had so in out before.
func OutCodes(out *vec.Vector, n int, dict *vec.Vector) []uint32 {
	out.Form, out.Enc, out.Dictionary = dict.Form, vec.Dict, dict
	out.Codes = resize(out.Codes, n)
	return out.Codes
}

// OutF64 makes out a vector of n float64s.
func OutF64(out *vec.Vector, n int) []float64 {
	out.Form = types.FormF64
	out.F64 = resize(out.F64, n)
	return out.F64
}

// OutW128 makes out a vector of n Int128s.
func OutW128(out *vec.Vector, n int) []types.Int128 {
	out.Form = types.FormW128
	out.W128 = resize(out.W128, n)
	return out.W128
}

// OutStr makes out a vector of n strings, all empty; write them with PutStr or PutBytes.
func OutStr(out *vec.Vector, n int) {
	out.Form = types.FormStr
	out.Views = resize(out.Views, n)
	clear(out.Views)
	out.Data = out.Data[:0]
}

// PutStr makes s row i's string.
func PutStr(out *vec.Vector, i int, s string) {
	vec.MustFit(len(out.Data) + len(s))
	out.Views[i] = vec.View{Off: uint32(len(out.Data)), Len: uint32(len(s))}
	out.Data = room.Text(out.Data, s)
}

// PutBytes makes b row i's string.
func PutBytes(out *vec.Vector, i int, b []byte) {
	vec.MustFit(len(out.Data) + len(b))
	out.Views[i] = vec.View{Off: uint32(len(out.Data)), Len: uint32(len(b))}
	out.Data = room.Text(out.Data, b)
}

// NullOut makes row i of out NULL; n is the physical number of rows.
func NullOut(out *vec.Vector, i, n int) {
	if out.Valid == nil {
		out.Valid = vec.NewBitmap(n, true)
	}
	out.Valid.Clear(i)
}

// EachRow calls f for the rows of sel (nil: rows 0 … n-1) until it fails.
func EachRow(sel []uint16, n int, f func(i int) error) error {
	if sel == nil {
		for i := 0; i < n; i++ {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	for _, i := range sel {
		if err := f(int(i)); err != nil {
			return err
		}
	}
	return nil
}

// PutDatums fills out, whose Type is set, with value(i) for each row i of sel, in whatever form
// the values have. The slow way that works for every type, lists and structs included.
func PutDatums(out *vec.Vector, sel []uint16, n int, value func(i int) (types.Datum, error)) error {
	form := out.Type.Form()
	switch {
	case out.Type.Kind == types.Numeric || form == types.FormList || form == types.FormStruct || form == types.FormNone:
		return appendDatums(out, sel, n, value)
	case form == types.FormBool:
		OutBools(out, n)
	case form == types.FormI64:
		OutI64(out, n)
	case form == types.FormF64:
		OutF64(out, n)
	case form == types.FormW128:
		OutW128(out, n)
	case form == types.FormStr:
		OutStr(out, n)
	}
	return EachRow(sel, n, func(i int) error {
		d, err := value(i)
		if err != nil {
			return err
		}
		if d.IsNull() {
			NullOut(out, i, n)
			return nil
		}
		putDatum(out, i, d)
		return nil
	})
}

// putDatum stores d, which is not NULL and has out's form, as row i.
func putDatum(out *vec.Vector, i int, d types.Datum) {
	switch out.Form {
	case types.FormBool:
		out.Bools[i] = d.Bool()
	case types.FormI64:
		out.I64[i] = d.Int()
	case types.FormF64:
		out.F64[i] = d.Float()
	case types.FormW128:
		out.W128[i] = d.W128()
	case types.FormStr:
		PutStr(out, i, d.Str())
	}
}

// appendDatums builds out through an Appender, with NULLs in the rows outside sel.
func appendDatums(out *vec.Vector, sel []uint16, n int, value func(i int) (types.Datum, error)) error {
	if out.Type.Form() == types.FormNone { // void, and the type of a bare NULL
		OutStr(out, n)
		return EachRow(sel, n, func(i int) error {
			if _, err := value(i); err != nil {
				return err
			}
			if out.Type.Kind != types.Void {
				NullOut(out, i, n)
			}
			return nil
		})
	}
	a := vec.NewAppender(out.Type)
	a.Reserve(n)
	err := EachRow(sel, n, func(i int) error {
		for a.Len() < i {
			a.AppendNull()
		}
		d, err := value(i)
		if err != nil {
			return err
		}
		a.AppendDatum(d)
		return vec.CheckBytes(int(a.Bytes()))
	})
	if err != nil {
		return err
	}
	for a.Len() < n {
		a.AppendNull()
	}
	v := a.Vector()
	valid := out.Valid
	t := out.Type
	*out = *v
	out.Type = t
	// Rows outside sel were appended as NULLs. Inside a strict call the caller's NULLs are among
	// them; they agree.
	if v.Valid == nil {
		out.Valid = valid
	}
	return nil
}

// RowKernel runs a Row for each row.
func RowKernel(f Row) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		row := make([]types.Datum, len(args))
		for j, a := range args {
			if a.Enc == vec.Const {
				row[j] = a.Datum(0)
			}
		}
		return PutDatums(out, sel, n, func(i int) (types.Datum, error) {
			if i&15 == 0 { // a row may take long
				if err := c.Alive(); err != nil {
					return types.Null, err
				}
			}
			for j, a := range args {
				if a.Enc != vec.Const {
					row[j] = a.Datum(i)
				}
			}
			return f(c, row)
		})
	}
}
