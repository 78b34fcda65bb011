package exec

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// The form of a spilled batch: the row count, then column by column the vector's form, whether
// it has NULLs, the bitmap, and the values as they lie in memory. Only this process reads it.

var errSpillBlock = errors.New("a temporary file's block is damaged")

// encodeBatch appends the rows sel of cols.
func encodeBatch(dst []byte, cols []*vec.Vector, sel []uint16, rows int) []byte {
	n := rows
	if sel != nil {
		n = len(sel)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	for _, v := range cols {
		if v.Enc != vec.Flat || sel != nil {
			v = vec.Flatten(v, sel, rows)
		}
		dst = encodeVector(dst, v, n)
	}
	return dst
}

func encodeVector(dst []byte, v *vec.Vector, n int) []byte {
	nulls := byte(0)
	if v.Valid != nil {
		nulls = 1
	}
	dst = append(dst, byte(v.Form), nulls)
	if v.Valid != nil {
		dst = append(dst, rawBytes(v.Valid[:(n+63)/64])...)
	}
	switch v.Form {
	case types.FormBool:
		dst = append(dst, rawBytes(v.Bools[:n])...)
	case types.FormI64:
		dst = append(dst, rawBytes(v.I64[:n])...)
	case types.FormF64:
		dst = append(dst, rawBytes(v.F64[:n])...)
	case types.FormW128:
		dst = append(dst, rawBytes(v.W128[:n])...)
	case types.FormStr:
		for _, w := range v.Views[:n] {
			dst = binary.LittleEndian.AppendUint32(dst, w.Len)
		}
		for _, w := range v.Views[:n] {
			dst = append(dst, v.Data[w.Off:w.Off+w.Len]...)
		}
	case types.FormList:
		base, end := v.Offsets[0], v.Offsets[n]
		for _, o := range v.Offsets[:n+1] {
			dst = binary.LittleEndian.AppendUint32(dst, o-base)
		}
		dst = encodeVector(dst, denseRows(v.Child, int(base), int(end)), int(end-base))
	case types.FormStruct:
		for _, c := range v.Children {
			dst = encodeVector(dst, denseRows(c, 0, n), n)
		}
	}
	return dst
}

// denseRows is rows [from, to) of v as a Flat vector of its own.
func denseRows(v *vec.Vector, from, to int) *vec.Vector {
	if v.Enc == vec.Flat && from%64 == 0 {
		return rowsOf(v, from, to)
	}
	a := vec.NewAppender(v.Type)
	for i := from; i < to; i++ {
		a.Append(v, i)
	}
	return a.Vector()
}

func rawBytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(s)*int(unsafe.Sizeof(s[0])))
}

// blockReader takes values off a block, remembering that it ran short.
type blockReader struct {
	b     []byte
	short bool
}

func (r *blockReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func takeSlice[T any](r *blockReader, n int) []T {
	var x T
	b := r.take(n * int(unsafe.Sizeof(x)))
	if r.short {
		return make([]T, 0)
	}
	s := make([]T, n)
	copy(rawBytes(s), b)
	return s
}

func decodeBatch(raw []byte, t []types.Type) (*vec.Batch, error) {
	r := &blockReader{b: raw}
	head := r.take(4)
	if r.short {
		return nil, spillError(errSpillBlock)
	}
	n := int(binary.LittleEndian.Uint32(head))
	b := &vec.Batch{Rows: n, Cols: make([]*vec.Vector, len(t))}
	for i := range t {
		b.Cols[i] = decodeVector(r, t[i], n)
		if r.short {
			return nil, spillError(errSpillBlock)
		}
	}
	return b, nil
}

func decodeVector(r *blockReader, t types.Type, n int) *vec.Vector {
	head := r.take(2)
	if r.short {
		return nil
	}
	v := &vec.Vector{Type: t, Form: types.Form(head[0])}
	if head[1] != 0 {
		v.Valid = takeSlice[uint64](r, (n+63)/64)
	}
	switch v.Form {
	case types.FormBool:
		v.Bools = takeSlice[bool](r, n)
	case types.FormI64:
		v.I64 = takeSlice[int64](r, n)
	case types.FormF64:
		v.F64 = takeSlice[float64](r, n)
	case types.FormW128:
		v.W128 = takeSlice[types.Int128](r, n)
	case types.FormStr:
		lens := takeSlice[uint32](r, n)
		v.Views = make([]vec.View, len(lens))
		off := uint32(0)
		for i, l := range lens {
			v.Views[i] = vec.View{Off: off, Len: l}
			off += l
		}
		v.Data = append([]byte(nil), r.take(int(off))...)
	case types.FormList:
		v.Offsets = takeSlice[uint32](r, n+1)
		if r.short {
			return nil
		}
		v.Child = decodeVector(r, vec.ListChild(t), int(v.Offsets[n]))
	case types.FormStruct:
		for _, f := range t.Fields() {
			v.Children = append(v.Children, decodeVector(r, f.Type, n))
		}
	}
	return v
}
