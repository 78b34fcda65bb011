package parquet

import (
	"math"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// leaf buffers one column chunk: values that are there, and levels.
type leaf struct {
	field          *lake.Field
	path           []string
	maxDef, maxRep uint8
	phys           physical
	length         int // physFixed

	// levels has one entry per value or NULL; def nil: all at maxDef. rep nil: all 0.
	def, rep []uint8
	entries  int

	bools []bool
	ints  []int64
	f64   []float64
	wide  []types.Int128 // physFixed of uuid and decimal
	views []vec.View     // strings and bytes, in data
	data  []byte
}

func (l *leaf) repeated() bool { return l.maxRep > 0 }

func (l *leaf) bytes() int64 {
	return int64(len(l.def) + len(l.rep) + len(l.bools) + 8*len(l.ints) + 8*len(l.f64) + 16*len(l.wide) + 8*len(l.views) + len(l.data))
}

func (l *leaf) reset() {
	l.def, l.rep, l.entries = nil, nil, 0
	l.bools, l.ints, l.f64, l.wide, l.views, l.data = l.bools[:0], l.ints[:0], l.f64[:0], l.wide[:0], l.views[:0], l.data[:0]
}

// values is the number of values that are not NULL.
func (l *leaf) values() int {
	switch l.phys {
	case physBool:
		return len(l.bools)
	case physInt32, physInt64:
		return len(l.ints)
	case physFloat, physDouble:
		return len(l.f64)
	}
	if l.isWide() {
		return len(l.wide)
	}
	return len(l.views)
}

// isWide tells whether values are Int128: uuid and long decimals.
func (l *leaf) isWide() bool {
	return l.phys == physFixed && (l.field.Type.Kind == types.Numeric || l.field.Type.Kind == types.UUID)
}

// level records one entry's levels.
func (l *leaf) level(def, rep uint8) {
	if def != l.maxDef && l.def == nil {
		l.def = make([]uint8, l.entries, l.entries+vec.BatchRows)
		for i := range l.def {
			l.def[i] = l.maxDef
		}
	}
	if l.def != nil {
		l.def = append(l.def, def)
	}
	if l.maxRep > 0 {
		l.rep = append(l.rep, rep)
	}
	l.entries++
}

// value appends physical row r of f, which is Flat's storage.
func (l *leaf) value(f *vec.Vector, r int) error {
	switch l.phys {
	case physBool:
		l.bools = append(l.bools, f.Bools[r])
	case physInt32, physInt64:
		i, err := l.integer(f, r)
		if err != nil {
			return err
		}
		l.ints = append(l.ints, i)
	case physFloat, physDouble:
		l.f64 = append(l.f64, f.F64[r])
	default:
		return l.bytesValue(f, r)
	}
	return nil
}

func (l *leaf) integer(f *vec.Vector, r int) (int64, error) {
	if f.Form == types.FormI64 {
		i := f.I64[r]
		if l.phys == physInt32 && (i < math.MinInt32 || i > math.MaxInt32) {
			return 0, sqlerr.New(sqlerr.NumericOutOfRange, "value out of range for column %q of type %s", l.field.Name, l.field.Type)
		}
		return i, nil
	}
	w, err := l.decimal(f, r)
	if err != nil {
		return 0, err
	}
	return int64(w.Lo), nil
}

// decimal is a numeric of any form, scaled as the column's type.
func (l *leaf) decimal(f *vec.Vector, r int) (types.Int128, error) {
	t := l.field.Type
	switch f.Form {
	case types.FormI64:
		return types.Int128{Lo: uint64(f.I64[r]), Hi: f.I64[r] >> 63}, nil
	case types.FormW128:
		return f.W128[r], nil
	}
	v := f.Views[r]
	d, err := types.DecodeDecimal(f.Data[v.Off : v.Off+v.Len]).Datum(t)
	if err != nil {
		return types.Int128{}, err
	}
	if d.Form() == types.FormI64 {
		return types.Int128{Lo: uint64(d.Int()), Hi: d.Int() >> 63}, nil
	}
	return d.W128(), nil
}

func (l *leaf) bytesValue(f *vec.Vector, r int) error {
	if l.isWide() {
		if l.field.Type.Kind == types.UUID {
			l.wide = append(l.wide, f.W128[r])
			return nil
		}
		w, err := l.decimal(f, r)
		l.wide = append(l.wide, w)
		return err
	}
	v := f.Views[r]
	b := f.Data[v.Off : v.Off+v.Len]
	if l.phys == physFixed && len(b) != l.length {
		return sqlerr.New(sqlerr.StringTooLong, "column %q takes %d bytes, not %d", l.field.Name, l.length, len(b))
	}
	if len(l.data)+len(b) > math.MaxUint32 {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "the values of column %q in one row group exceed 4 GiB", l.field.Name)
	}
	l.views = append(l.views, vec.View{Off: uint32(len(l.data)), Len: uint32(len(b))})
	l.data = append(l.data, b...)
	return nil
}

// get is value i as a byte string.
func (l *leaf) get(i int) []byte {
	v := l.views[i]
	return l.data[v.Off : v.Off+v.Len]
}
