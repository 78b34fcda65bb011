package parquet

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// leaf is a column under way: the values and levels of its open page, the dictionary of its
// chunk, and the chunk's finished pages, which are held compressed until the row group ends.
type leaf struct {
	field          *lake.Field
	path           []string
	maxDef, maxRep uint8
	phys           physical
	length         int   // physFixed
	wide           bool  // values are Int128: uuids and long decimals
	unsigned       bool  // wide values without a sign: uuids
	text           bool  // values are UTF-8
	part           bool  // of a variant: without a field id and bounds of its own
	lo, hi         int64 // the integers that the field's type has
	opt            *Options

	// The open page. def nil: all at maxDef; rep only where maxRep > 0.
	def, rep []uint8
	entries  int
	rows     int
	size     int // about what the page takes, encoded
	values   values
	codes    []uint32 // instead of values while coding says so

	// The chunk.
	coding coding
	dict   dictionary
	pages  []page
	raw    int64    // bytes of the pages before compression
	packed int64    // and after
	stored int      // pages to come that need not be compressed
	hashes []uint64 // of the values outside the dictionary, for a Bloom filter

	idx   []uint16 // scratch: rows that are not NULL
	spare []uint8  // memory for def
}

// coding is how a chunk's values are written.
type coding uint8

const (
	trying coding = iota // in codes; its first page tells whether that pays
	coded
	plain
)

func (l *leaf) repeated() bool { return l.maxRep > 0 }

// bytes is the memory that the leaf holds.
func (l *leaf) bytes() int64 {
	return l.packed + l.values.bytes() + l.dict.bytes() + int64(cap(l.def)+cap(l.spare)+cap(l.rep)+4*cap(l.codes)+8*cap(l.hashes)+2*cap(l.idx))
}

// uncompressed is about the size of the chunk so far, as readers will decompress it.
func (l *leaf) uncompressed() int64 { return l.raw + int64(l.size) + int64(l.dict.size) }

// startChunk forgets the last one.
func (l *leaf) startChunk() {
	l.startPage()
	l.coding, l.stored = trying, 0
	if l.phys == physBool {
		l.coding = plain
	}
	l.dict.reset()
	l.pages, l.raw, l.packed, l.hashes = nil, 0, 0, l.hashes[:0]
}

func (l *leaf) startPage() {
	if l.def != nil {
		l.spare = l.def[:0]
	}
	l.def, l.rep, l.codes = nil, l.rep[:0], l.codes[:0]
	l.entries, l.rows, l.size = 0, 0, 0
	l.values.reset()
}

// release gives the leaf's memory back; only between chunks.
func (l *leaf) release() {
	l.def, l.rep, l.codes, l.hashes, l.idx, l.spare = nil, nil, nil, nil, nil, nil
	l.values, l.dict = values{}, dictionary{}
}

// full tells whether the open page is to end before the next row.
func (l *leaf) full() bool {
	return l.rows >= l.opt.PageRows || l.size >= l.opt.PageBytes || l.coding != plain && l.dict.size > l.opt.DictBytes
}

// level records one entry's levels.
func (l *leaf) level(def, rep uint8) {
	if def != l.maxDef && l.def == nil {
		l.allThere()
	}
	if l.def != nil {
		l.def = append(l.def, def)
	}
	if l.maxRep > 0 {
		l.rep = append(l.rep, rep)
	}
	if rep == 0 {
		l.rows++
	}
	l.entries++
}

// allThere spells out the definition levels of the entries so far.
func (l *leaf) allThere() {
	if l.spare == nil {
		l.spare = make([]uint8, 0, l.entries+vec.BatchRows)
	}
	l.def, l.spare = l.spare[:0], nil
	for range l.entries {
		l.def = append(l.def, l.maxDef)
	}
}

// width is about what one value adds to a page.
func (l *leaf) width() int {
	switch {
	case l.coding != plain:
		return 2
	case l.phys == physBool:
		return 1
	case l.phys == physInt32 || l.phys == physFloat:
		return 4
	case l.phys == physFixed:
		return l.length
	case l.phys == physBytes:
		return 4
	}
	return 8
}

// add appends the rows idx of v, none of them NULL.
func (l *leaf) add(v *vec.Vector, idx []uint16) error {
	if len(idx) == 0 {
		return nil
	}
	l.size += len(idx) * l.width()
	f := v.Values()
	switch {
	case l.phys == physBool:
		for _, i := range idx {
			l.values.bools = append(l.values.bools, f.Bools[v.Row(int(i))])
		}
		return nil
	case v.Enc == vec.Const && l.coding != plain:
		if err := l.one(f, 0); err != nil {
			return err
		}
		c := l.codes[len(l.codes)-1]
		for range len(idx) - 1 {
			l.codes = append(l.codes, c)
		}
		return nil
	case v.Enc == vec.Dict && l.coding != plain && (f.DictID != 0 || dictRows(f) <= 4*len(idx)):
		return l.translate(v, idx)
	case v.Enc == vec.Flat && f.Form == types.FormI64 && (l.phys == physInt32 || l.phys == physInt64):
		return l.addInts(f.I64, idx)
	case v.Enc == vec.Flat && f.Form == types.FormF64:
		l.addFloats(f.F64, idx)
		return nil
	}
	for _, i := range idx {
		if err := l.one(f, v.Row(int(i))); err != nil {
			return err
		}
	}
	return nil
}

func (l *leaf) addInts(x []int64, idx []uint16) error {
	if l.lo > math.MinInt64 {
		for _, i := range idx {
			if x[i] < l.lo || x[i] > l.hi {
				return lake.ErrOutOfRange(l.field, types.NewInt(x[i]))
			}
		}
	}
	if l.coding != plain {
		last, code := int64(0), uint32(0)
		for k, i := range idx {
			if k == 0 || x[i] != last {
				last, code = x[i], l.dict.int(x[i])
			}
			l.codes = append(l.codes, code)
		}
		return nil
	}
	if from, to := int(idx[0]), int(idx[len(idx)-1])+1; to-from == len(idx) {
		l.values.ints = append(l.values.ints, x[from:to]...)
		return nil
	}
	for _, i := range idx {
		l.values.ints = append(l.values.ints, x[i])
	}
	return nil
}

func (l *leaf) addFloats(x []float64, idx []uint16) {
	if l.coding != plain {
		for _, i := range idx {
			l.codes = append(l.codes, l.dict.float(x[i]))
		}
		return
	}
	for _, i := range idx {
		l.values.f64 = append(l.values.f64, x[i])
	}
}

// translate appends a dictionary's rows by their codes there.
func (l *leaf) translate(v *vec.Vector, idx []uint16) error {
	f := v.Dictionary
	to := l.dict.translation(f, dictRows(f))
	for _, i := range idx {
		from := v.Codes[i]
		c := to[from]
		if c == 0 {
			if err := l.one(f, int(from)); err != nil {
				return err
			}
			to[from] = l.codes[len(l.codes)-1] + 1
			continue
		}
		l.codes = append(l.codes, c-1)
	}
	return nil
}

// dictRows is the number of values of a dictionary.
func dictRows(f *vec.Vector) int {
	return max(len(f.I64), len(f.F64), len(f.W128), len(f.Views), len(f.Bools))
}

// one appends physical row r of f, which is Flat's storage.
func (l *leaf) one(f *vec.Vector, r int) error {
	dict := l.coding != plain
	switch l.phys {
	case physBool:
		l.values.bools = append(l.values.bools, f.Bools[r])
	case physInt32, physInt64:
		i, err := l.integer(f, r)
		if err != nil {
			return err
		}
		if dict {
			l.codes = append(l.codes, l.dict.int(i))
		} else {
			l.values.ints = append(l.values.ints, i)
		}
	case physFloat, physDouble:
		if dict {
			l.codes = append(l.codes, l.dict.float(f.F64[r]))
		} else {
			l.values.f64 = append(l.values.f64, f.F64[r])
		}
	default:
		if l.wide {
			return l.oneWide(f, r)
		}
		return l.oneString(f, r)
	}
	return nil
}

func (l *leaf) oneWide(f *vec.Vector, r int) error {
	var w types.Int128
	var err error
	if l.unsigned {
		w = f.W128[r]
	} else if w, err = l.decimal(f, r); err != nil {
		return err
	}
	if l.coding != plain {
		l.codes = append(l.codes, l.dict.int128(w))
	} else {
		l.values.wide = append(l.values.wide, w)
	}
	return nil
}

func (l *leaf) oneString(f *vec.Vector, r int) error {
	v := f.Views[r]
	return l.oneBytes(f.Data[v.Off : v.Off+v.Len])
}

func (l *leaf) oneBytes(b []byte) error {
	if l.phys == physFixed && len(b) != l.length {
		return sqlerr.New(sqlerr.StringTooLong, "column %q takes %d bytes, not %d", l.field.Name, l.length, len(b))
	}
	if l.text && !utf8.Valid(b) {
		return sqlerr.New(sqlerr.CharacterNotInRepertoire, "column %q cannot hold %s: it is not valid UTF-8", l.field.Name, excerpt(b))
	}
	if max(len(l.values.data), len(l.dict.vals.data))+len(b) > math.MaxInt32 {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "the values of column %q in one page exceed 2 GiB", l.field.Name)
	}
	if l.coding != plain {
		l.codes = append(l.codes, l.dict.byteString(b))
		return nil
	}
	l.values.addBytes(b)
	l.size += len(b)
	return nil
}

func (l *leaf) integer(f *vec.Vector, r int) (i int64, err error) {
	if f.Form == types.FormI64 {
		i = f.I64[r]
	} else {
		w, err := l.decimal(f, r)
		if err != nil {
			return 0, err
		}
		if i = int64(w.Lo); w.Hi != i>>63 {
			return 0, lake.ErrOutOfRange(l.field, types.NewW128(w))
		}
	}
	if i < l.lo || i > l.hi {
		return 0, lake.ErrOutOfRange(l.field, types.NewInt(i))
	}
	return i, nil
}

// excerpt shows bytes that cannot be shown as they are.
func excerpt(b []byte) string {
	if len(b) > 16 {
		return fmt.Sprintf("0x%x… (%d bytes)", b[:16], len(b))
	}
	return fmt.Sprintf("0x%x", b)
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
	switch d.Form() {
	case types.FormI64:
		return types.Int128{Lo: uint64(d.Int()), Hi: d.Int() >> 63}, nil
	case types.FormW128:
		return d.W128(), nil
	}
	return types.Int128{}, lake.ErrOutOfRange(l.field, d) // NaN, which numeric(p, s) has and no decimal
}
