package vec

import (
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/types"
)

// Appender builds a Flat vector value by value or slice by slice. It owns its memory: what is
// appended is copied. A Numeric starts in the narrowest form seen and widens when a wider
// value arrives: scaled int64, scaled Int128, Decimal encoding.
type Appender struct {
	v     *Vector
	n     int
	nulls bool
}

// NewAppender makes an empty Appender for values of t.
func NewAppender(t types.Type) *Appender {
	a := &Appender{}
	a.start(t, t.Form())
	return a
}

func (a *Appender) start(t types.Type, form types.Form) {
	if t.Kind == types.Numeric && t.Fixed {
		form = types.FormI64
	}
	a.v = Alloc(t, form, 0)
	if form == types.FormList {
		a.v.Offsets = a.v.Offsets[:1]
	}
	a.n, a.nulls = 0, false
}

// Len is the number of values so far.
func (a *Appender) Len() int { return a.n }

// Reset empties a and keeps its memory. Vectors handed out before are overwritten.
func (a *Appender) Reset() {
	reset(a.v)
	a.n, a.nulls = 0, false
}

func reset(v *Vector) {
	v.Valid = nil
	v.Bools, v.I64, v.F64, v.W128 = v.Bools[:0], v.I64[:0], v.F64[:0], v.W128[:0]
	v.Views, v.Data = v.Views[:0], v.Data[:0]
	if v.Form == types.FormList {
		v.Offsets = append(v.Offsets[:0], 0)
		reset(v.Child)
	}
	for _, c := range v.Children {
		reset(c)
	}
}

// Vector is what was appended; it stays a's until the next append or Reset.
func (a *Appender) Vector() *Vector { return a.v }

// Bytes is the memory in use, roughly.
func (a *Appender) Bytes() int64 { return a.v.Size() }

// Size is the memory that v's slices hold, children and dictionary included.
func (v *Vector) Size() int64 { return v.bytes() }

func (v *Vector) bytes() int64 {
	n := int64(cap(v.Valid))*8 + int64(cap(v.Bools)) + int64(cap(v.I64))*8 + int64(cap(v.F64))*8 +
		int64(cap(v.W128))*16 + int64(cap(v.Views))*8 + int64(cap(v.Data)) + int64(cap(v.Offsets))*4 +
		int64(cap(v.Codes))*4
	if v.Child != nil {
		n += v.Child.bytes()
	}
	for _, c := range v.Children {
		n += c.bytes()
	}
	return n
}

// setValid records row i's validity, making the bitmap at the first NULL.
func (a *Appender) setValid(i int, valid bool) {
	if valid && !a.nulls {
		return
	}
	if !a.nulls {
		a.nulls = true
		a.v.Valid = NewBitmap(i+1, true)
	}
	for len(a.v.Valid)*64 <= i {
		a.v.Valid = append(a.v.Valid, ^uint64(0))
	}
	if valid {
		a.v.Valid.Set(i)
	} else {
		a.v.Valid.Clear(i)
	}
}

// AppendNull appends NULL.
func (a *Appender) AppendNull() {
	appendZero(a.v, a.n)
	a.setValid(a.n, false)
	a.n++
}

// appendZero adds a zero value as row n of v.
func appendZero(v *Vector, n int) {
	switch v.Form {
	case types.FormBool:
		v.Bools = append(v.Bools, false)
	case types.FormI64:
		v.I64 = append(v.I64, 0)
	case types.FormF64:
		v.F64 = append(v.F64, 0)
	case types.FormW128:
		v.W128 = append(v.W128, types.Int128{})
	case types.FormStr:
		v.Views = append(v.Views, View{})
	case types.FormList:
		v.Offsets = append(v.Offsets, v.Offsets[len(v.Offsets)-1])
	case types.FormStruct:
		for _, c := range v.Children {
			sub := appenderOf(c, n)
			sub.AppendNull()
		}
	}
}

// appenderOf continues a nested vector that has n rows.
func appenderOf(v *Vector, n int) *Appender {
	return &Appender{v: v, n: n, nulls: v.Valid != nil}
}

// AppendDatum appends one value of the appender's type.
func (a *Appender) AppendDatum(d types.Datum) {
	if d.IsNull() {
		a.AppendNull()
		return
	}
	v := a.v
	if v.Type.Kind == types.Numeric {
		a.widenFor(d.Form())
	}
	switch v.Form {
	case types.FormBool:
		v.Bools = append(v.Bools, d.Bool())
	case types.FormI64:
		v.I64 = append(v.I64, d.Int())
	case types.FormF64:
		v.F64 = append(v.F64, d.Float())
	case types.FormW128:
		if d.Form() == types.FormI64 {
			v.W128 = append(v.W128, int128(d.Int()))
		} else {
			v.W128 = append(v.W128, d.W128())
		}
	case types.FormStr:
		if v.Type.Kind == types.Numeric && d.Form() != types.FormStr {
			a.appendBytes([]byte(types.DecimalOf(d, v.Type).Encode()))
		} else {
			a.appendString(d.Str())
		}
	case types.FormList:
		c := appenderOf(v.Child, int(v.Offsets[len(v.Offsets)-1]))
		c.Reserve(len(d.List()))
		for _, x := range d.List() {
			c.AppendDatum(x)
		}
		mustIndex(c.n)
		v.Offsets = append(v.Offsets, uint32(c.n))
	case types.FormStruct:
		l := d.List()
		for i, c := range v.Children {
			appenderOf(c, a.n).AppendDatum(l[i])
		}
	}
	a.setValid(a.n, true)
	a.n++
}

func int128(i int64) types.Int128 { return types.Int128{Lo: uint64(i), Hi: i >> 63} }

func (a *Appender) appendBytes(b []byte) {
	v := a.v
	mustIndex(len(v.Data) + len(b))
	v.Views = append(v.Views, View{uint32(len(v.Data)), uint32(len(b))})
	v.Data = room.Text(v.Data, b)
}

func (a *Appender) appendString(s string) {
	v := a.v
	mustIndex(len(v.Data) + len(s))
	v.Views = append(v.Views, View{uint32(len(v.Data)), uint32(len(s))})
	v.Data = room.Text(v.Data, s)
}

// Reserve makes room for n more values, their strings and lists aside. It panics with 53200 where
// there is none.
func (a *Appender) Reserve(n int) {
	if n < reserveFrom {
		return
	}
	v := a.v
	switch v.Form {
	case types.FormBool:
		v.Bools = room.Grow(v.Bools, n)
	case types.FormI64:
		v.I64 = room.Grow(v.I64, n)
	case types.FormF64:
		v.F64 = room.Grow(v.F64, n)
	case types.FormW128:
		v.W128 = room.Grow(v.W128, n)
	case types.FormStr:
		v.Views = room.Grow(v.Views, n)
	case types.FormList:
		v.Offsets = room.Grow(v.Offsets, n)
	case types.FormStruct:
		for _, c := range v.Children {
			appenderOf(c, a.n).Reserve(n)
		}
	}
}

// reserveFrom is how many values are appended without asking first: a few kilobytes.
const reserveFrom = 1024

// widenFor makes a Numeric vector able to hold a value of form f.
func (a *Appender) widenFor(f types.Form) {
	v := a.v
	if v.Form == f || v.Form == types.FormStr || (v.Form == types.FormW128 && f == types.FormI64) {
		return
	}
	if f == types.FormW128 {
		v.W128 = make([]types.Int128, len(v.I64), max(cap(v.I64), 16))
		for i, x := range v.I64 {
			v.W128[i] = int128(x)
		}
		v.I64, v.Form = nil, types.FormW128
		return
	}
	old := *v
	v.I64, v.W128, v.Form = nil, nil, types.FormStr
	for i := 0; i < a.n; i++ {
		if old.Null(i) {
			v.Views = append(v.Views, View{})
			continue
		}
		a.appendBytes([]byte(types.DecimalOf(old.value(i), v.Type).Encode()))
	}
}

// Append copies row i of src, which has the appender's type.
func (a *Appender) Append(src *Vector, i int) {
	if src.Null(i) {
		a.AppendNull()
		return
	}
	f, r := src.Values(), src.Row(i)
	v := a.v
	if v.Type.Kind == types.Numeric {
		a.AppendDatum(f.value(r))
		return
	}
	switch v.Form {
	case types.FormStr:
		w := f.Views[r]
		a.appendBytes(f.Data[w.Off : w.Off+w.Len])
	case types.FormList:
		c := appenderOf(v.Child, int(v.Offsets[len(v.Offsets)-1]))
		c.Reserve(int(f.Offsets[r+1] - f.Offsets[r]))
		for j := int(f.Offsets[r]); j < int(f.Offsets[r+1]); j++ {
			c.Append(f.Child, j)
		}
		mustIndex(c.n)
		v.Offsets = append(v.Offsets, uint32(c.n))
	case types.FormStruct:
		for j, c := range v.Children {
			appenderOf(c, a.n).Append(f.Children[j], r)
		}
	default:
		a.AppendDatum(f.value(r))
		return
	}
	a.setValid(a.n, true)
	a.n++
}

// AppendSel copies the rows sel (nil: rows 0 … rows-1) of src.
func (a *Appender) AppendSel(src *Vector, sel []uint16, rows int) {
	n := rows
	if sel != nil {
		n = len(sel)
	}
	if n == 0 {
		return
	}
	f := src.Values()
	if a.v.Type.Kind == types.Numeric {
		a.widenFor(f.Form)
	}
	if f.Form != a.v.Form || f.Form == types.FormList || f.Form == types.FormStruct {
		eachRow(sel, rows, func(i int) { a.Append(src, i) })
		return
	}
	v, from := a.v, a.n
	switch v.Form {
	case types.FormBool:
		v.Bools = gather(v.Bools, f.Bools, src, sel, n)
	case types.FormI64:
		v.I64 = gather(v.I64, f.I64, src, sel, n)
	case types.FormF64:
		v.F64 = gather(v.F64, f.F64, src, sel, n)
	case types.FormW128:
		v.W128 = gather(v.W128, f.W128, src, sel, n)
	case types.FormStr:
		a.gatherStrings(f, src, sel, n)
	}
	a.n += n
	if src.Valid == nil {
		if a.nulls {
			a.setValid(a.n-1, true)
		}
		return
	}
	if src.Enc == Const && !src.Null(0) {
		if a.nulls {
			a.setValid(a.n-1, true)
		}
		return
	}
	k := from
	eachRow(sel, rows, func(i int) {
		if src.Null(i) {
			a.setValid(k, false)
		}
		k++
	})
	if a.nulls {
		for len(a.v.Valid)*64 < a.n {
			a.v.Valid = append(a.v.Valid, ^uint64(0))
		}
	}
}

func eachRow(sel []uint16, rows int, f func(int)) {
	if sel != nil {
		for _, i := range sel {
			f(int(i))
		}
		return
	}
	for i := 0; i < rows; i++ {
		f(i)
	}
}

// gather appends n values of src, whose Flat values are vals, to dst. Values of NULL rows are
// copied too (a Dict's NULL rows have code 0, which may not exist in an empty dictionary).
func gather[T any](dst, vals []T, src *Vector, sel []uint16, n int) []T {
	switch {
	case src.Enc == Const:
		x := vals[0]
		for range n {
			dst = append(dst, x)
		}
	case src.Enc == Dict && len(vals) == 0:
		dst = append(dst, make([]T, n)...)
	case src.Enc == Dict && sel == nil:
		for _, c := range src.Codes[:n] {
			dst = append(dst, vals[c])
		}
	case src.Enc == Dict:
		for _, i := range sel {
			dst = append(dst, vals[src.Codes[i]])
		}
	case sel == nil:
		dst = append(dst, vals[:n]...)
	default:
		for _, i := range sel {
			dst = append(dst, vals[i])
		}
	}
	return dst
}

func (a *Appender) gatherStrings(f, src *Vector, sel []uint16, n int) {
	one := func(i int) {
		if src.Null(i) {
			a.v.Views = append(a.v.Views, View{})
			return
		}
		w := f.Views[src.Row(i)]
		a.appendBytes(f.Data[w.Off : w.Off+w.Len])
	}
	eachRow(sel, n, one)
}
