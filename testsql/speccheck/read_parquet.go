package speccheck

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
)

// contents is what a Parquet file really holds, as another reader than ours sees it.
type contents struct {
	size    int64
	rows    int64
	offsets []int64 // where the row groups begin
	leaves  map[int]*leaf
	whole   bool // every row group was read
}

// leaf is a column of a file: what of it the manifest may claim.
type leaf struct {
	field    *lake.Field
	order    order
	repeated bool
	found
	bytes  int64   // of its chunks, compressed
	keep   bool    // rows is wanted
	values []value // one a row
}

// found sums up a stretch of values.
type found struct {
	entries, nulls, nans int64
	lo, hi               value
	some                 bool // lo and hi are there
}

func (s *found) add(o order, v value) {
	s.entries++
	switch {
	case v.null:
		s.nulls++
	case o.nan(v):
		s.nans++
	case o == none:
	case !s.some:
		s.lo, s.hi, s.some = v, v, true
	case o.compare(v, s.lo) < 0:
		s.lo = v
	case o.compare(v, s.hi) > 0:
		s.hi = v
	}
}

func (s *found) merge(o order, x found) {
	s.entries, s.nulls, s.nans = s.entries+x.entries, s.nulls+x.nulls, s.nans+x.nans
	if !x.some {
		return
	}
	if !s.some || o.compare(x.lo, s.lo) < 0 {
		s.lo = x.lo
	}
	if !s.some || o.compare(x.hi, s.hi) > 0 {
		s.hi = x.hi
	}
	s.some = true
}

// holds tells whether a claimed bound is one; NaN proves nothing and is none.
func (s *found) holds(o order, bound value, upper bool) bool {
	switch {
	case !s.some:
		return true
	case o.nan(bound):
		return false
	case upper:
		return o.compare(bound, s.hi) >= 0
	}
	return o.compare(bound, s.lo) <= 0
}

// maxRows is how many rows of a file are read: of larger ones, the first and last row groups and
// some between.
const maxRows = 1 << 20

// stored is a file of a table as an io.ReaderAt.
type stored struct {
	ctx  context.Context
	file store.File
}

func (s stored) ReadAt(p []byte, off int64) (int, error) {
	n := min(int64(len(p)), s.file.Size()-off)
	if off < 0 || n < 0 {
		return 0, io.EOF
	}
	if err := s.file.ReadAt(s.ctx, p[:n], off); err != nil {
		return 0, err
	}
	if int(n) < len(p) {
		return int(n), io.EOF
	}
	return len(p), nil
}

// read reads a Parquet file; keep names the fields whose values are wanted row by row.
func read(ctx context.Context, t *lake.Table, path string, fields map[int]*lake.Field, keep map[int]bool) (*contents, error) {
	in, err := t.FS().Open(ctx, t.Resolve(path), -1)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	c := &contents{size: in.Size(), leaves: map[int]*leaf{}}
	r, err := file.NewParquetReader(io.NewSectionReader(stored{ctx, in}, 0, c.size))
	if err != nil {
		return nil, err
	}
	c.rows = r.NumRows()
	step := int(c.rows/maxRows) + 1
	c.whole = step == 1
	leaves := make([]*leaf, r.MetaData().Schema.NumColumns())
	parts := map[int]int{} // leaf of a variant's value → the variant's field
	for k := range leaves {
		d := r.MetaData().Schema.Column(k)
		f := fields[int(d.SchemaNode().FieldID())]
		if v := fields[int(d.SchemaNode().Parent().FieldID())]; f == nil && v != nil && v.Iceberg == "variant" {
			// The metadata are there where the variant is; the value's bytes are the variant's too.
			f = v
			if d.Name() != "metadata" {
				f, parts[k] = &lake.Field{}, v.ID
			}
		}
		if f == nil {
			return nil, fmt.Errorf("column %q has no field of the table's", d.Path())
		}
		if f.ID != 0 {
			c.leaves[f.ID] = &leaf{}
		}
		l := &leaf{field: f, order: orderOf(f.Iceberg), repeated: d.MaxRepetitionLevel() > 0, keep: keep[f.ID]}
		if l.repeated && l.keep {
			return nil, fmt.Errorf("column %q is repeated, and rows are partitioned or sorted by it", f.Name)
		}
		leaves[k] = l
		if f.ID != 0 {
			c.leaves[f.ID] = l
		}
	}
	rows := int64(0)
	for g := range r.NumRowGroups() {
		group := r.RowGroup(g)
		rows += group.NumRows()
		read := g%step == 0 || g == r.NumRowGroups()-1
		for k, l := range leaves {
			m, err := group.MetaData().ColumnChunk(k)
			if err != nil {
				return nil, err
			}
			l.bytes += m.TotalCompressedSize()
			if v := c.leaves[parts[k]]; v != nil {
				v.bytes += m.TotalCompressedSize()
			}
			if k == 0 {
				c.offsets = append(c.offsets, begin(m))
			}
			if !read {
				continue
			}
			if err := l.read(r, group, g, k, m); err != nil {
				return nil, fmt.Errorf("row group %d, column %q: %w", g, r.MetaData().Schema.Column(k).Path(), err)
			}
		}
	}
	if rows != c.rows {
		return nil, fmt.Errorf("the footer counts %d rows, its row groups %d", c.rows, rows)
	}
	return c, nil
}

// begin is where a chunk's first page lies.
func begin(m *metadata.ColumnChunkMetaData) int64 {
	if m.HasDictionaryPage() {
		return min(m.DictionaryPageOffset(), m.DataPageOffset())
	}
	return m.DataPageOffset()
}

// read takes a chunk into account and holds its statistics and page index against it.
func (l *leaf) read(r *file.Reader, group *file.RowGroupReader, g, k int, m *metadata.ColumnChunkMetaData) error {
	p, err := newPages(r, g, k)
	if err != nil {
		return err
	}
	col, err := group.Column(k)
	if err != nil {
		return err
	}
	defer col.Close()
	row := int64(-1)
	err = l.each(col, func(v value, rep int16) {
		if rep == 0 {
			row++
		}
		p.at(row).add(l.order, v)
		if l.keep {
			l.values = append(l.values, v)
		}
	})
	if err != nil {
		return err
	}
	if row+1 != group.NumRows() {
		return fmt.Errorf("%d rows in a row group of %d", row+1, group.NumRows())
	}
	var all found
	for i := range p.found {
		all.merge(l.order, p.found[i])
	}
	l.merge(l.order, all)
	if all.entries != m.NumValues() {
		return fmt.Errorf("%d values, the footer says %d", all.entries, m.NumValues())
	}
	if err := l.checkStatistics(col.Descriptor(), m, &all); err != nil {
		return err
	}
	return p.check(l, col.Descriptor())
}

// checkStatistics: a chunk's bounds and counts in the footer, by which readers skip row groups.
func (l *leaf) checkStatistics(d *schema.Column, m *metadata.ColumnChunkMetaData, all *found) error {
	if set, err := m.StatsSet(); !set || err != nil {
		return err
	}
	s, err := m.Statistics()
	if err != nil || s == nil {
		return err
	}
	if s.HasNullCount() && s.NullCount() != all.nulls {
		return fmt.Errorf("%d NULLs, the statistics say %d", all.nulls, s.NullCount())
	}
	if !s.HasMinMax() || l.order == none {
		return nil
	}
	return l.checkBounds(d, "statistics", s.EncodeMin(), s.EncodeMax(), all)
}

// checkBounds holds bounds in Parquet's plain form against the values.
func (l *leaf) checkBounds(d *schema.Column, what string, low, high []byte, s *found) error {
	lo, err := l.plain(d, low)
	if err != nil {
		return err
	}
	hi, err := l.plain(d, high)
	if err != nil {
		return err
	}
	if !s.holds(l.order, lo, false) || !s.holds(l.order, hi, true) {
		return fmt.Errorf("values from %s to %s, the %s say %s to %s", l.order.String(s.lo), l.order.String(s.hi), what, l.order.String(lo), l.order.String(hi))
	}
	return nil
}

// plain reads one value in Parquet's plain encoding, strings without their length.
func (l *leaf) plain(d *schema.Column, b []byte) (value, error) {
	want := map[parquet.Type]int{parquet.Types.Boolean: 1, parquet.Types.Int32: 4, parquet.Types.Float: 4, parquet.Types.Int64: 8, parquet.Types.Double: 8}
	if n := want[d.PhysicalType()]; n > 0 && len(b) != n {
		return value{}, fmt.Errorf("a statistic of %d bytes", len(b))
	}
	switch d.PhysicalType() {
	case parquet.Types.Boolean:
		return value{i: int64(b[0])}, nil
	case parquet.Types.Int32:
		return l.integer(int64(int32(binary.LittleEndian.Uint32(b))), true)
	case parquet.Types.Int64:
		return l.integer(int64(binary.LittleEndian.Uint64(b)), false)
	case parquet.Types.Float:
		return value{f: float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))}, nil
	case parquet.Types.Double:
		return value{f: math.Float64frombits(binary.LittleEndian.Uint64(b))}, nil
	}
	return l.octets(b)
}

func (l *leaf) integer(i int64, narrow bool) (value, error) {
	switch {
	case l.order == wides:
		return value{b: sortableInt(i)}, nil
	case narrow:
		return value{i: i * perDay(l.field.Iceberg)}, nil
	}
	return value{i: i}, nil
}

func (l *leaf) octets(b []byte) (value, error) {
	if l.order == wides {
		s, err := sortable(b)
		return value{b: s}, err
	}
	return value{b: bytes.Clone(b)}, nil
}

// each calls f with every entry of a chunk and its repetition level.
func (l *leaf) each(col file.ColumnChunkReader, f func(v value, rep int16)) error {
	switch r := col.(type) {
	case *file.BooleanColumnChunkReader:
		return entries(col, r, func(b bool) (value, error) {
			if b {
				return value{i: 1}, nil
			}
			return value{}, nil
		}, f)
	case *file.Int32ColumnChunkReader:
		return entries(col, r, func(i int32) (value, error) { return l.integer(int64(i), true) }, f)
	case *file.Int64ColumnChunkReader:
		return entries(col, r, func(i int64) (value, error) { return l.integer(i, false) }, f)
	case *file.Float32ColumnChunkReader:
		return entries(col, r, func(x float32) (value, error) { return value{f: float64(x)}, nil }, f)
	case *file.Float64ColumnChunkReader:
		return entries(col, r, func(x float64) (value, error) { return value{f: x}, nil }, f)
	case *file.ByteArrayColumnChunkReader:
		return entries(col, r, func(b parquet.ByteArray) (value, error) { return l.octets(b) }, f)
	case *file.FixedLenByteArrayColumnChunkReader:
		return entries(col, r, func(b parquet.FixedLenByteArray) (value, error) { return l.octets(b) }, f)
	}
	return fmt.Errorf("the physical type %s, which Iceberg does not have", col.Type())
}

type batches[T any] interface {
	ReadBatch(n int64, values []T, def, rep []int16) (total int64, read int, err error)
}

func entries[T any](col file.ColumnChunkReader, r batches[T], of func(T) (value, error), f func(v value, rep int16)) error {
	const batch = 1024
	values, def, rep := make([]T, batch), make([]int16, batch), make([]int16, batch)
	top := col.Descriptor().MaxDefinitionLevel()
	for col.HasNext() {
		n, read, err := r.ReadBatch(batch, values, def, rep)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		at := 0
		for i := range int(n) {
			v := value{null: top > 0 && def[i] < top}
			if !v.null {
				if at >= read {
					return fmt.Errorf("fewer values than levels")
				}
				if v, err = of(values[at]); err != nil {
					return err
				}
				at++
			}
			level := int16(0)
			if col.Descriptor().MaxRepetitionLevel() > 0 {
				level = rep[i]
			}
			f(v, level)
		}
	}
	return col.Err()
}
