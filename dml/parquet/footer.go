package parquet

import (
	"encoding/binary"
	"sort"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// createdBy names the writer; readers choose work-arounds by it.
const createdBy = "lhsql version 1.0 (build 0)"

// writeIndexes writes Bloom filters, column indexes and offset indexes (PageIndex.md).
func (w *Writer) writeIndexes() error {
	for g := range w.groups {
		for i := range w.groups[g].columns {
			c := &w.groups[g].columns[i]
			if c.bloom == nil {
				continue
			}
			c.bloomOffset, c.bloomLength = w.off, int64(len(c.bloom))
			if err := w.write(c.bloom); err != nil {
				return err
			}
		}
	}
	for g := range w.groups {
		for i := range w.groups[g].columns {
			c := &w.groups[g].columns[i]
			if b := c.columnIndex; b != nil {
				c.columnIndexOffset, c.columnIndexLength = w.off, int64(len(b))
				if err := w.write(b); err != nil {
					return err
				}
			}
		}
	}
	for g := range w.groups {
		for i := range w.groups[g].columns {
			c := &w.groups[g].columns[i]
			b := c.offsetIndex()
			c.offsetIndexOffset, c.offsetIndexLength = w.off, int64(len(b))
			if err := w.write(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// encodeStats keeps a chunk's statistics and column index as bytes, for the values they come
// from are gone when the file ends. A page without an upper bound leaves the chunk without a
// column index, for the format has no word for it.
func (c *chunk) encodeStats() {
	l := c.leaf
	if l.part {
		return // a variant has no order
	}
	c.min, c.max, c.minExact, c.maxExact = l.encoded(c.stats)
	if c.stats.nans > 0 && (l.phys == physFloat || l.phys == physDouble) {
		// Readers differ in what they think of NaN: without bounds nobody can err.
		c.min, c.max = nil, nil
		return
	}
	var lows, highs [][]byte
	var last bounds
	ascending := true
	for _, p := range c.pages {
		lo, hi, _, _ := l.encoded(p.stats)
		if p.stats.ok && hi == nil {
			return
		}
		if p.stats.ok {
			if last.ok && (l.less(&p.stats.lo, &last.lo) || l.less(&p.stats.hi, &last.hi)) {
				ascending = false
			}
			last = p.stats
		}
		lows, highs = append(lows, lo), append(highs, hi)
	}
	var t thrift
	t.list(1, tTrue, len(c.pages))
	for _, p := range c.pages {
		if p.stats.ok {
			t.buf = append(t.buf, tFalse)
		} else {
			t.buf = append(t.buf, tTrue)
		}
	}
	t.list(2, tBinary, len(lows))
	for _, b := range lows {
		t.bytes(b)
	}
	t.list(3, tBinary, len(highs))
	for _, b := range highs {
		t.bytes(b)
	}
	order := int64(0)
	if ascending {
		order = 1
	}
	t.i32(4, order)
	t.list(5, tI64, len(c.pages))
	for _, p := range c.pages {
		t.varint(p.nulls)
	}
	t.stop()
	c.columnIndex = t.buf
}

func (c *chunk) offsetIndex() []byte {
	var t thrift
	t.list(1, tStruct, len(c.pages))
	for _, p := range c.pages {
		t.element()
		t.i64(1, p.offset)
		t.i32(2, int64(p.size))
		t.i64(3, p.firstRow)
		t.end()
	}
	t.stop()
	return t.buf
}

// writeFooter writes FileMetaData (parquet.thrift) and the file's end.
func (w *Writer) writeFooter() error {
	var t thrift
	t.i32(1, 2)
	w.schema(&t)
	t.i64(3, w.rows)
	t.list(4, tStruct, len(w.groups))
	for i := range w.groups {
		w.rowGroup(&t, i)
	}
	if len(w.opt.Metadata) > 0 {
		keys := make([]string, 0, len(w.opt.Metadata))
		for k := range w.opt.Metadata {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		t.list(5, tStruct, len(keys))
		for _, k := range keys {
			t.element()
			t.string(1, k)
			t.string(2, w.opt.Metadata[k])
			t.end()
		}
	}
	t.string(6, createdBy)
	// Every leaf's bounds are in its type's order: without this list readers must ignore them.
	t.list(7, tStruct, len(w.leaves))
	for range w.leaves {
		t.element()
		t.begin(1)
		t.end()
		t.end()
	}
	t.stop()
	if err := w.write(t.buf); err != nil {
		return err
	}
	return w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(t.buf))), "PAR1"...))
}

func (w *Writer) rowGroup(t *thrift, i int) {
	g := &w.groups[i]
	t.element()
	t.list(1, tStruct, len(g.columns))
	for j := range g.columns {
		w.column(t, &g.columns[j])
	}
	t.i64(2, g.bytes)
	t.i64(3, g.rows)
	t.i64(5, g.offset)
	t.i64(6, g.size)
	t.end()
}

func (w *Writer) column(t *thrift, c *chunk) {
	l := c.leaf
	t.element()
	t.i64(2, 0)
	t.begin(3)
	t.i32(1, int64(l.phys))
	encodings := []int64{plainEncoding, rleEncoding} // the dictionary page is plain, levels are runs
	if c.dict {
		encodings = append(encodings, rleDictEncoding)
	}
	t.list(2, tI32, len(encodings))
	for _, e := range encodings {
		t.varint(e)
	}
	t.list(3, tBinary, len(l.path))
	for _, p := range l.path {
		t.bytes([]byte(p))
	}
	t.i32(4, w.opt.Codec.wire())
	t.i64(5, c.entries)
	t.i64(6, c.uncompressed)
	t.i64(7, c.compressed)
	t.i64(9, c.dataOffset)
	if c.dict {
		t.i64(11, c.dictOffset)
	}
	t.begin(12)
	t.i64(3, c.nulls)
	if c.max != nil {
		t.binary(5, c.max)
	}
	if c.min != nil {
		t.binary(6, c.min)
	}
	if c.max != nil {
		t.bool(7, c.maxExact)
	}
	if c.min != nil {
		t.bool(8, c.minExact)
	}
	t.end()
	if c.bloomLength > 0 {
		t.i64(14, c.bloomOffset)
		t.i32(15, c.bloomLength)
	}
	t.end()
	t.i64(4, c.offsetIndexOffset)
	t.i32(5, c.offsetIndexLength)
	if c.columnIndexLength > 0 {
		t.i64(6, c.columnIndexOffset)
		t.i32(7, c.columnIndexLength)
	}
	t.end()
}

// Repetition types.
const (
	required = 0
	optional = 1
	repeated = 2
)

// element is one SchemaElement.
type element struct {
	name       string
	repetition int64 // -1: the root
	children   int
	id         int // 0: none
	leaf       *leaf
	kind       string
}

func (w *Writer) schema(t *thrift) {
	list := []element{{name: "table", repetition: -1, children: len(w.root)}}
	for _, n := range w.root {
		list = n.elements(list)
	}
	t.list(2, tStruct, len(list))
	for _, e := range list {
		e.write(t)
	}
}

func (n *node) elements(list []element) []element {
	rep := int64(required)
	if n.optional {
		rep = optional
	}
	e := element{name: n.name, repetition: rep, children: len(n.children), id: n.field.ID, leaf: n.leaf, kind: n.kind}
	if n.leaf != nil && n.leaf.part {
		e.id = 0
	}
	switch n.kind {
	case "list":
		e.children = 1
		list = append(list, e, element{name: "list", repetition: repeated, children: 1})
	case "map":
		e.children = 1
		list = append(list, e, element{name: "key_value", repetition: repeated, children: 2})
	default:
		list = append(list, e)
	}
	for _, c := range n.children {
		list = c.elements(list)
	}
	return list
}

// Converted types of parquet.thrift that older readers need.
const (
	convUTF8            = 0
	convMap             = 1
	convList            = 3
	convDecimal         = 5
	convDate            = 6
	convTimeMicros      = 8
	convTimestampMicros = 10
)

func (e element) write(t *thrift) {
	t.element()
	if e.leaf != nil {
		t.i32(1, int64(e.leaf.phys))
		if e.leaf.phys == physFixed {
			t.i32(2, int64(e.leaf.length))
		}
	}
	if e.repetition >= 0 {
		t.i32(3, e.repetition)
	}
	t.string(4, e.name)
	if e.leaf == nil {
		t.i32(5, int64(e.children))
	}
	conv, logical := e.annotation()
	if conv >= 0 {
		t.i32(6, conv)
	}
	if e.leaf != nil && conv == convDecimal {
		t.i32(7, int64(e.leaf.field.Type.Scale))
		t.i32(8, int64(e.leaf.field.Type.Prec))
	}
	if e.id != 0 {
		t.i32(9, int64(e.id))
	}
	if logical != nil {
		t.begin(10)
		logical(t)
		t.end()
	}
	t.end()
}

// annotation gives converted type (-1 none) and logical type.
func (e element) annotation() (int64, func(*thrift)) {
	empty := func(id int16) func(*thrift) {
		return func(t *thrift) { t.begin(id); t.end() }
	}
	switch e.kind {
	case "list":
		return convList, empty(3)
	case "map":
		return convMap, empty(2)
	case "variant":
		return -1, func(t *thrift) { t.begin(16); t.byte(1, 1); t.end() } // of the encoding's version 1
	}
	if e.leaf == nil {
		return -1, nil
	}
	ice := e.leaf.field.Iceberg
	utc := strings.HasPrefix(ice, "timestamptz")
	instant := func(id, unit int16) func(*thrift) {
		return func(t *thrift) {
			t.begin(id)
			t.bool(1, utc)
			t.begin(2)
			t.begin(unit)
			t.end()
			t.end()
			t.end()
		}
	}
	switch {
	case ice == "string":
		return convUTF8, empty(1)
	case ice == "uuid":
		return -1, empty(14)
	case ice == "date":
		return convDate, empty(6)
	case ice == "time":
		return -1, instant(7, 2) // local time has no converted type: TIME_MICROS means UTC
	case strings.HasSuffix(ice, "_ns"):
		return -1, instant(8, 3)
	case ice == "timestamptz":
		return convTimestampMicros, instant(8, 2)
	case ice == "timestamp":
		return -1, instant(8, 2)
	case e.leaf.field.Type.Kind == types.Numeric:
		return convDecimal, func(t *thrift) {
			t.begin(5)
			t.i32(1, int64(e.leaf.field.Type.Scale))
			t.i32(2, int64(e.leaf.field.Type.Prec))
			t.end()
		}
	}
	return -1, nil
}
