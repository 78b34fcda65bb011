package parquet

import (
	"encoding/binary"
	"math"
)

// chunk is a column chunk as footer and indexes describe it.
type chunk struct {
	leaf                                 *leaf
	dict                                 bool
	dictOffset, dataOffset               int64
	uncompressed, compressed             int64
	entries, nulls                       int64
	stats                                bounds
	pages                                []page
	bloom                                []byte
	min, max                             []byte
	minExact, maxExact                   bool
	columnIndex                          []byte
	bloomOffset, bloomLength             int64
	columnIndexOffset, columnIndexLength int64
	offsetIndexOffset, offsetIndexLength int64
}

// page is a data page as the indexes describe it.
type page struct {
	offset   int64
	size     int32 // header included
	firstRow int64
	nulls    int64
	stats    bounds
}

// Page types and encodings of parquet.thrift.
const (
	dataPage        = 0
	dictionaryPage  = 2
	plainEncoding   = 0
	rleEncoding     = 3
	rleDictEncoding = 8
)

// writeChunk writes a leaf's buffered values as one column chunk and adds to the file's metrics.
func (w *Writer) writeChunk(l *leaf, m *metrics) (chunk, error) {
	c := chunk{leaf: l, entries: int64(l.entries), nulls: int64(l.entries - l.values())}
	d := buildDictionary(l, w.opt.DictBytes)
	start := w.off
	if d != nil {
		c.dict, c.dictOffset = true, w.off
		raw := d.plain(l)
		if _, err := w.writePage(dictionaryPage, raw, len(d.first), plainEncoding, &c); err != nil {
			return c, err
		}
	}
	c.dataOffset = w.off
	var raw []byte
	value, row := 0, int64(0)
	for from := 0; from < l.entries; {
		to, rows := l.pageEnd(from, value, w.opt, d != nil)
		n := l.present(from, to)
		raw = raw[:0]
		if l.maxRep > 0 {
			raw = appendLevels(raw, l.rep[from:to], l.maxRep)
		}
		if l.maxDef > 0 {
			raw = l.appendDefs(raw, from, to)
		}
		enc := int64(plainEncoding)
		if d != nil {
			enc = rleDictEncoding
			width := bitWidth(uint32(max(0, len(d.first)-1)))
			raw = append(raw, byte(width))
			raw = appendHybrid(raw, d.codes[value:value+n], width)
		} else {
			raw = l.appendPlain(raw, value, value+n)
		}
		p := page{offset: w.off, firstRow: row, nulls: int64(to - from - n)}
		p.stats = l.bounds(value, value+n)
		size, err := w.writePage(dataPage, raw, to-from, enc, &c)
		if err != nil {
			return c, err
		}
		p.size = int32(size)
		c.pages = append(c.pages, p)
		c.stats.merge(l, p.stats)
		value, from, row = value+n, to, row+rows
	}
	c.compressed = w.off - start
	if rate, ok := w.opt.Bloom[l.field.ID]; ok {
		c.bloom = l.bloom(rate, d)
	}
	m.add(l, c)
	c.encodeStats()
	return c, nil
}

// pageEnd chooses where a page that begins at entry from (value number value) ends, and how
// many rows it holds. A page begins with a row.
func (l *leaf) pageEnd(from, value int, o Options, dict bool) (to int, rows int64) {
	size := 0
	for to = from; to < l.entries; to++ {
		newRow := l.maxRep == 0 || l.rep[to] == 0
		if newRow {
			if rows > 0 && (int(rows) >= o.PageRows || size >= o.PageBytes) {
				return to, rows
			}
			rows++
		}
		if l.def != nil && l.def[to] != l.maxDef {
			continue
		}
		size += l.valueSize(value, dict)
		value++
	}
	return to, rows
}

// valueSize is about what a value adds to a page.
func (l *leaf) valueSize(i int, dict bool) int {
	switch {
	case dict:
		return 2
	case l.phys == physBool:
		return 1
	case l.phys == physInt32 || l.phys == physFloat:
		return 4
	case l.phys == physBytes:
		return 4 + int(l.views[i].Len)
	case l.phys == physFixed:
		return l.length
	}
	return 8
}

// present counts the entries of [from, to) that have a value.
func (l *leaf) present(from, to int) int {
	if l.def == nil {
		return to - from
	}
	n := 0
	for _, d := range l.def[from:to] {
		if d == l.maxDef {
			n++
		}
	}
	return n
}

func (l *leaf) appendDefs(dst []byte, from, to int) []byte {
	if l.def != nil {
		return appendLevels(dst, l.def[from:to], l.maxDef)
	}
	// All there: one run.
	run := binary.AppendUvarint(nil, uint64(to-from)<<1)
	run = append(run, l.maxDef)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(run)))
	return append(dst, run...)
}

// appendPlain encodes values [from, to) (Encodings.md, PLAIN).
func (l *leaf) appendPlain(dst []byte, from, to int) []byte {
	le := binary.LittleEndian
	switch l.phys {
	case physBool:
		var b byte
		for i, x := range l.bools[from:to] {
			if x {
				b |= 1 << (i & 7)
			}
			if i&7 == 7 {
				dst, b = append(dst, b), 0
			}
		}
		if (to-from)&7 != 0 {
			dst = append(dst, b)
		}
	case physInt32:
		for _, x := range l.ints[from:to] {
			dst = le.AppendUint32(dst, uint32(x))
		}
	case physInt64:
		for _, x := range l.ints[from:to] {
			dst = le.AppendUint64(dst, uint64(x))
		}
	case physFloat:
		for _, x := range l.f64[from:to] {
			dst = le.AppendUint32(dst, math.Float32bits(float32(x)))
		}
	case physDouble:
		for _, x := range l.f64[from:to] {
			dst = le.AppendUint64(dst, math.Float64bits(x))
		}
	case physBytes:
		for i := from; i < to; i++ {
			b := l.get(i)
			dst = append(le.AppendUint32(dst, uint32(len(b))), b...)
		}
	case physFixed:
		for i := from; i < to; i++ {
			dst = l.appendFixed(dst, i)
		}
	}
	return dst
}

// appendFixed appends value i of a fixed-length column, big-endian for decimals and uuids.
func (l *leaf) appendFixed(dst []byte, i int) []byte {
	if !l.isWide() {
		return append(dst, l.get(i)...)
	}
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], uint64(l.wide[i].Hi))
	binary.BigEndian.PutUint64(b[8:], l.wide[i].Lo)
	if l.length <= 16 {
		return append(dst, b[16-l.length:]...)
	}
	sign := byte(0)
	if l.wide[i].Hi < 0 {
		sign = 0xff
	}
	for range l.length - 16 {
		dst = append(dst, sign)
	}
	return append(dst, b[:]...)
}

// writePage compresses and writes a page and gives its size with header.
func (w *Writer) writePage(kind int64, raw []byte, entries int, enc int64, c *chunk) (int, error) {
	body, err := w.comp.compress(raw)
	if err != nil {
		return 0, err
	}
	var t thrift
	t.i32(1, kind)
	t.i32(2, int64(len(raw)))
	t.i32(3, int64(len(body)))
	if kind == dictionaryPage {
		t.begin(7)
		t.i32(1, int64(entries))
		t.i32(2, enc)
		t.end()
	} else {
		t.begin(5)
		t.i32(1, int64(entries))
		t.i32(2, enc)
		t.i32(3, rleEncoding)
		t.i32(4, rleEncoding)
		t.end()
	}
	t.stop()
	if err := w.write(t.buf); err != nil {
		return 0, err
	}
	c.uncompressed += int64(len(t.buf) + len(raw))
	return len(t.buf) + len(body), w.write(body)
}
