package exec

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// A key is what rows are compared, grouped and joined by, as bytes: equal values have equal
// bytes, whatever vectors they come in (codes, wide or narrow decimals), and the bytes sort as
// the values do (PostgreSQL's total order), so that one encoding serves hash tables and sorts.
// Each column's code is prefix-free:
//
//	NULL       00 or 02 (first or last), nothing more
//	value      01, then by kind:
//	  integers, dates …   8 bytes big-endian, sign flipped
//	  floats              8 bytes, NaN above all, -0 as 0
//	  wide                16 bytes; intervals as their total of microseconds
//	  strings             the bytes, 00 as 00 FF, then 00 01
//	  numerics            fixed: 02 and 16 bytes at the common scale; else key_numeric.go
//	  arrays, structs     per element 01 and its code, 02 for NULL; then 00
//
// Descending columns have all bytes after the first inverted.
type keyColumn struct {
	typ   types.Type
	desc  bool
	nulls byte // 0: NULLs first, 2: last
	// fixed numerics of both sides of a join are compared at this scale.
	fixed bool
	scale int
}

// equalKey encodes columns of t for equality.
func equalKey(t types.Type) keyColumn {
	return keyColumn{typ: t, fixed: t.Fixed, scale: int(t.Scale)}
}

// joinKey encodes columns of l and r alike. ok is false where equal values of the two types
// cannot be given equal bytes.
func joinKey(l, r types.Type) (k keyColumn, ok bool) {
	k = equalKey(l)
	switch {
	case l.Kind == types.Numeric && r.Kind == types.Numeric:
		k.fixed = l.Fixed && r.Fixed
		k.scale = max(int(l.Scale), int(r.Scale))
		return k, true
	case integral(l.Kind) && integral(r.Kind):
		return k, true
	case (l.Kind == types.Float4 || l.Kind == types.Float8) && (r.Kind == types.Float4 || r.Kind == types.Float8):
		return k, true
	case l.Form() == types.FormStr && r.Form() == types.FormStr && l.IsString() && r.IsString():
		return k, (l.Kind == types.Bpchar) == (r.Kind == types.Bpchar)
	}
	return k, l.Same(r)
}

// integral kinds compare as integers among each other.
func integral(k types.Kind) bool {
	switch k {
	case types.Int2, types.Int4, types.Int8, types.Oid, types.Regclass, types.Regtype, types.Regproc,
		types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator:
		return true
	}
	return false
}

// sameI64 tells whether values of t always lie as int64 and are equal where those are.
func sameI64(t types.Type) bool { return t.Form() == types.FormI64 && t.Kind != types.Numeric }

// keyEncoder makes the keys of batches; for one goroutine.
type keyEncoder struct {
	cols []keyColumn
	// Of the last batch: key i is buf[off[i]:off[i+1]].
	buf []byte
	off []uint32
	// split[i] is the end of row i's first splitAt columns, when splitAt > 0.
	splitAt int
	split   []uint32

	cursor []uint32
	rows   []uint32
	cells  []byte
	ends   []uint32
}

func newKeyEncoder(cols []keyColumn) *keyEncoder { return &keyEncoder{cols: cols} }

// key is key i of the last batch.
func (k *keyEncoder) key(i int) []byte { return k.buf[k.off[i]:k.off[i+1]:k.off[i+1]] }

var hashSeed = maphash.MakeSeed()

func hashKey(b []byte) uint64 { return maphash.Bytes(hashSeed, b) }

// encode makes the keys of the rows sel; vs are the key columns.
func (k *keyEncoder) encode(vs []*vec.Vector, sel []uint16) {
	n := len(sel)
	k.off = grown(k.off, n+1)
	k.cursor = grown(k.cursor, n)
	k.rows = grown(k.rows, n)
	size := k.cursor
	clear(size)
	// Two passes, each column by column: lengths, then bytes. Cells of difficult kinds are
	// encoded once, into cells, in between.
	k.cells, k.ends = k.cells[:0], k.ends[:0]
	split := k.split[:0]
	for c, v := range vs {
		if c == k.splitAt && c > 0 {
			split = append(split, size...)
		}
		k.measure(&k.cols[c], v, sel, size)
	}
	if k.splitAt > 0 && k.splitAt == len(vs) {
		split = append(split, size...)
	}
	k.split = split
	total := uint32(0)
	for i := range size {
		k.off[i] = total
		if len(split) > 0 {
			split[i] += total
		}
		s := size[i]
		size[i] = total
		total += s
	}
	k.off[n] = total
	k.buf = grown(k.buf, int(total))
	cell := 0
	for c, v := range vs {
		cell += k.write(&k.cols[c], v, sel, cell)
	}
}

// easy tells the width of a column's cells: 0 for strings, -1 for the difficult.
func easy(kc *keyColumn, v *vec.Vector) int {
	switch v.Values().Form {
	case types.FormBool:
		return 1
	case types.FormI64:
		if kc.typ.Kind == types.Numeric {
			break
		}
		return 8
	case types.FormF64:
		return 8
	case types.FormW128:
		if kc.typ.Kind == types.Numeric || kc.typ.Kind == types.TimeTZ {
			break
		}
		return 16
	case types.FormStr:
		if kc.typ.Kind == types.Numeric || kc.typ.Kind == types.JSONB || kc.typ.Kind == types.Variant {
			break
		}
		return 0
	}
	// The common scale may be beyond the vector's, then the product may not fit.
	if kc.typ.Kind == types.Numeric && kc.fixed && v.Type.Fixed && v.Form == types.FormI64 && kc.scale-int(v.Type.Scale) <= 18 {
		return 17
	}
	return -1
}

func (k *keyEncoder) measure(kc *keyColumn, v *vec.Vector, sel []uint16, size []uint32) {
	w := easy(kc, v)
	switch {
	case w > 0 && v.Valid == nil:
		for i := range size {
			size[i] += uint32(w) + 1
		}
	case w > 0:
		for i, s := range sel {
			if v.Null(int(s)) {
				size[i]++
			} else {
				size[i] += uint32(w) + 1
			}
		}
	case w == 0:
		f := v.Values()
		for i, s := range sel {
			if v.Null(int(s)) {
				size[i]++
				continue
			}
			b := stringKey(kc, f, v.Row(int(s)))
			size[i] += uint32(len(b)+bytes.Count(b, zero)) + 3
		}
	default:
		for i, s := range sel {
			if v.Null(int(s)) {
				size[i]++
				k.ends = append(k.ends, uint32(len(k.cells)))
				continue
			}
			from := len(k.cells)
			k.cells = kc.appendDatum(k.cells, v.Datum(int(s)), v.Type)
			size[i] += uint32(len(k.cells)-from) + 1
			k.ends = append(k.ends, uint32(len(k.cells)))
		}
	}
}

var zero = []byte{0}

func stringKey(kc *keyColumn, f *vec.Vector, r int) []byte {
	w := f.Views[r]
	b := f.Data[w.Off : w.Off+w.Len]
	if kc.typ.Kind == types.Bpchar {
		b = bytes.TrimRight(b, " ")
	}
	return b
}

// write puts the column's cells at the cursors and advances them. It gives the number of
// difficult cells that it consumed, from number cell on.
func (k *keyEncoder) write(kc *keyColumn, v *vec.Vector, sel []uint16, cell int) int {
	f, buf, cur := v.Values(), k.buf, k.cursor
	w := easy(kc, v)
	if w >= 0 {
		for i, s := range sel {
			k.rows[i] = uint32(v.Row(int(s)))
		}
	}
	flip := byte(0)
	if kc.desc {
		flip = 0xFF
	}
	flip64 := uint64(0)
	if kc.desc {
		flip64 = ^flip64
	}
	for i, s := range sel {
		if v.Valid != nil && v.Null(int(s)) {
			buf[cur[i]] = kc.nulls
			k.rows[i] = noRow
		} else {
			buf[cur[i]] = 1
		}
		cur[i]++
	}
	switch {
	case w == 1:
		for i, r := range k.rows {
			if r == noRow {
				continue
			}
			x := byte(0)
			if f.Bools[r] {
				x = 1
			}
			buf[cur[i]] = x ^ flip
			cur[i]++
		}
	case w == 8 && f.Form == types.FormI64:
		for i, r := range k.rows {
			if r == noRow {
				continue
			}
			binary.BigEndian.PutUint64(buf[cur[i]:], uint64(f.I64[r])^1<<63^flip64)
			cur[i] += 8
		}
	case w == 8:
		for i, r := range k.rows {
			if r == noRow {
				continue
			}
			binary.BigEndian.PutUint64(buf[cur[i]:], floatKey(f.F64[r])^flip64)
			cur[i] += 8
		}
	case w == 16:
		for i, r := range k.rows {
			if r == noRow {
				continue
			}
			x := wideKey(kc.typ, f.W128[r])
			binary.BigEndian.PutUint64(buf[cur[i]:], uint64(x.Hi)^flip64)
			binary.BigEndian.PutUint64(buf[cur[i]+8:], x.Lo^flip64)
			cur[i] += 16
		}
	case w == 17:
		scale := types.Pow10Int64(kc.scale - int(v.Type.Scale))
		for i, r := range k.rows {
			if r == noRow {
				continue
			}
			x := types.MulInt64(f.I64[r], scale)
			buf[cur[i]] = numericInside ^ flip
			binary.BigEndian.PutUint64(buf[cur[i]+1:], uint64(x.Hi)^1<<63^flip64)
			binary.BigEndian.PutUint64(buf[cur[i]+9:], x.Lo^flip64)
			cur[i] += 17
		}
	case w == 0:
		for i, r := range k.rows {
			if r == noRow {
				continue
			}
			from := cur[i]
			b := stringKey(kc, f, int(r))
			if bytes.IndexByte(b, 0) < 0 {
				cur[i] += uint32(copy(buf[from:], b))
			} else {
				for _, c := range b {
					buf[cur[i]] = c
					cur[i]++
					if c == 0 {
						buf[cur[i]] = 0xFF
						cur[i]++
					}
				}
			}
			buf[cur[i]], buf[cur[i]+1] = 0, 1
			cur[i] += 2
			invert(buf[from:cur[i]], kc.desc)
		}
	default:
		at := uint32(0)
		if cell > 0 {
			at = k.ends[cell-1]
		}
		for i := range sel {
			end := k.ends[cell+i]
			from := cur[i]
			cur[i] += uint32(copy(buf[from:], k.cells[at:end]))
			invert(buf[from:cur[i]], kc.desc)
			at = end
		}
		return len(sel)
	}
	return 0
}

func invert(b []byte, desc bool) {
	if desc {
		for i := range b {
			b[i] = ^b[i]
		}
	}
}

// floatKey maps floats to integers in the same order: NaN largest, -0 equal to 0.
func floatKey(f float64) uint64 {
	if f != f {
		return math.MaxUint64
	}
	if f == 0 {
		return 1 << 63
	}
	u := math.Float64bits(f)
	if u>>63 != 0 {
		return ^u
	}
	return u | 1<<63
}

// wideKey maps wide values to unsigned 128-bit integers in the same order.
func wideKey(t types.Type, w types.Int128) types.Int128 {
	switch t.Kind {
	case types.UUID:
		return types.Int128{Hi: w.Hi, Lo: w.Lo}
	case types.Interval:
		v := types.IntervalOf(w)
		days := int64(v.Months)*30 + int64(v.Days)
		w = types.MulInt64(days, 86_400_000_000).Add64(v.Micros)
	}
	w.Hi ^= math.MinInt64
	return w
}

// appendDatum appends the code of one value, which is not NULL, without its leading 01.
func (kc *keyColumn) appendDatum(dst []byte, d types.Datum, t types.Type) []byte {
	switch kc.typ.Kind {
	case types.Numeric:
		return kc.appendNumeric(dst, types.DecimalOf(d, t))
	case types.TimeTZ:
		// Lo: microseconds since midnight there; Hi: seconds west. Ordered by the instant, then
		// by the zone.
		w := d.W128()
		dst = binary.BigEndian.AppendUint64(dst, uint64(int64(w.Lo)+w.Hi*1_000_000)^1<<63)
		return binary.BigEndian.AppendUint64(dst, uint64(w.Hi)^1<<63)
	}
	switch d.Form() {
	case types.FormBool:
		if d.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case types.FormI64:
		return binary.BigEndian.AppendUint64(dst, uint64(d.Int())^1<<63)
	case types.FormF64:
		return binary.BigEndian.AppendUint64(dst, floatKey(d.Float()))
	case types.FormW128:
		w := wideKey(kc.typ, d.W128())
		dst = binary.BigEndian.AppendUint64(dst, uint64(w.Hi))
		return binary.BigEndian.AppendUint64(dst, w.Lo)
	case types.FormStr:
		if kc.typ.Kind == types.Variant {
			return appendJSONKey(dst, types.VariantJSON(d.Str()))
		}
		if kc.typ.Kind == types.JSONB {
			return appendJSONKey(dst, d.Str())
		}
		s := d.Str()
		for i := 0; i < len(s); i++ {
			dst = append(dst, s[i])
			if s[i] == 0 {
				dst = append(dst, 0xFF)
			}
		}
		return append(dst, 0, 1)
	case types.FormList:
		elem := equalKey(vec.ListChild(kc.typ))
		for _, x := range d.List() {
			dst = elem.appendMember(dst, x)
		}
		return append(dst, 0)
	case types.FormStruct:
		fields := kc.typ.Fields()
		for i, x := range d.List() {
			m := equalKey(fields[i].Type)
			dst = m.appendMember(dst, x)
		}
		return append(dst, 0)
	}
	return dst
}

// appendMember appends an element of an array or struct: NULLs are the largest.
func (kc *keyColumn) appendMember(dst []byte, d types.Datum) []byte {
	if d.IsNull() {
		return append(dst, 2)
	}
	return kc.appendDatum(append(dst, 1), d, kc.typ)
}
