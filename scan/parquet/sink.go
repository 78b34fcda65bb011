package parquet

import (
	"math"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// sink is where converted values go: the value slices of a Flat vector, reused.
type sink struct {
	form  types.Form
	i64   []int64
	f64   []float64
	w128  []types.Int128
	bools []bool
	views []vec.View
	data  []byte // bytes of strings that were copied; its length says how many
}

// grow makes the value slices n rows long and keeps the first keep.
func (s *sink) grow(b *Budget, n, keep int) (err error) {
	switch s.form {
	case types.FormI64:
		s.i64, err = grow(b, s.i64, n, keep)
	case types.FormF64:
		s.f64, err = grow(b, s.f64, n, keep)
	case types.FormW128:
		s.w128, err = grow(b, s.w128, n, keep)
	case types.FormBool:
		s.bools, err = grow(b, s.bools, n, keep)
	case types.FormStr:
		s.views, err = grow(b, s.views, n, keep)
	}
	return err
}

// copyViews appends the bytes of views v of data to s.data and points v there.
func (s *sink) copyViews(b *Budget, v []vec.View, data []byte) error {
	total := int64(len(s.data))
	for _, x := range v {
		total += int64(x.Len)
	}
	if total > math.MaxUint32 {
		return unsupported("more than 4 GiB of strings in one batch")
	}
	at := len(s.data)
	var err error
	if s.data, err = grow(b, s.data, int(total), at); err != nil {
		return err
	}
	for i, x := range v {
		copy(s.data[at:], data[x.Off:x.Off+x.Len])
		v[i].Off = uint32(at)
		at += int(x.Len)
	}
	return nil
}

// gather puts the dictionary's values of codes at rows from at on. The string forms copy
// their bytes, because later rows may come from elsewhere than this dictionary.
func (s *sink) gather(b *Budget, at int, codes []uint32, dict *vec.Vector) error {
	switch s.form {
	case types.FormI64:
		gatherCodes(s.i64[at:], dict.I64, codes)
	case types.FormF64:
		gatherCodes(s.f64[at:], dict.F64, codes)
	case types.FormW128:
		gatherCodes(s.w128[at:], dict.W128, codes)
	case types.FormBool:
		gatherCodes(s.bools[at:], dict.Bools, codes)
	case types.FormStr:
		v := s.views[at : at+len(codes)]
		gatherCodes(v, dict.Views, codes)
		return s.copyViews(b, v, dict.Data)
	}
	return nil
}

func gatherCodes[T any](dst, dict []T, codes []uint32) {
	dst = dst[:len(codes)]
	for i, c := range codes {
		dst[i] = dict[c]
	}
}

// spread moves k dense values at rows [at, at+k) to the valid rows of [at, at+m).
func (s *sink) spread(at, k, m int, valid vec.Bitmap) {
	switch s.form {
	case types.FormI64:
		spread(s.i64[at:at+m], k, valid, at)
	case types.FormF64:
		spread(s.f64[at:at+m], k, valid, at)
	case types.FormW128:
		spread(s.w128[at:at+m], k, valid, at)
	case types.FormBool:
		spread(s.bools[at:at+m], k, valid, at)
	case types.FormStr:
		spread(s.views[at:at+m], k, valid, at)
	}
}

// spread works backwards, so that no value is overwritten before it has moved. NULL rows get
// zero values: consumers may compute on them.
func spread[T any](dst []T, k int, valid vec.Bitmap, at int) {
	var zero T
	for i := len(dst) - 1; i >= 0; i-- {
		if valid.Get(at + i) {
			k--
			dst[i] = dst[k]
		} else {
			dst[i] = zero
		}
	}
}

// fillVector points v at rows [0, n) of s.
func (s *sink) fillVector(v *vec.Vector, n int, data []byte) {
	switch s.form {
	case types.FormI64:
		v.I64 = s.i64[:n]
	case types.FormF64:
		v.F64 = s.f64[:n]
	case types.FormW128:
		v.W128 = s.w128[:n]
	case types.FormBool:
		v.Bools = s.bools[:n]
	case types.FormStr:
		v.Views, v.Data = s.views[:n], data
	}
}
