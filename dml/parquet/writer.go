// Package parquet answers: how do batches become a Parquet file with the statistics that
// readers prune by?
//
// In: a table's fields, batches in their order, an output. Out: the bytes of one file, and the
// counts and bounds that its manifest entry carries. Files have field ids, data pages of the
// first version (which every reader knows), dictionary or plain encoding by column chunk, page
// indexes, and Bloom filters where asked. It refuses to know tables, partitions and commits.
package parquet

import (
	"io"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/vec"
)

// Options say how a file is written. Zero values are the defaults.
type Options struct {
	Codec         Codec // Zstd
	Level         int   // of the codec; 0: its default
	RowGroupBytes int64 // uncompressed; 0: 128 MiB
	RowGroupRows  int   // 0: 1,048,576
	PageBytes     int   // 0: 128 KiB: pages that fit the second-level cache decode faster
	PageRows      int   // 0: 20,000
	DictBytes     int   // largest dictionary; 0: 1 MiB
	// Bloom names the field ids of leaves that get a Bloom filter, with the false positive rate.
	Bloom map[int]float64
	Tools *Tools // nil: the writer's own
	// Metrics gives the metrics mode of a leaf by field id; nil: DefaultMetrics for all.
	Metrics  func(fieldID int) Metrics
	Metadata map[string]string // key-value metadata of the footer
}

func (o *Options) defaults() {
	if o.RowGroupBytes <= 0 {
		o.RowGroupBytes = 128 << 20
	}
	if o.RowGroupRows <= 0 {
		o.RowGroupRows = 1 << 20
	}
	if o.PageBytes <= 0 {
		o.PageBytes = 128 << 10
	}
	if o.PageRows <= 0 {
		o.PageRows = 20_000
	}
	if o.DictBytes <= 0 {
		o.DictBytes = 1 << 20
	}
	if o.Metrics == nil {
		o.Metrics = func(int) Metrics { return DefaultMetrics }
	}
}

// Writer writes one file. For one goroutine. After an error only Abandon of the output helps.
type Writer struct {
	out    io.Writer
	opt    Options
	root   []*node
	leaves []*leaf
	tools  *Tools

	off    int64 // bytes written
	rows   int64 // in all
	held   int64 // memory of the open row group
	group  int   // rows in the open row group
	groups []rowGroup
	file   []*metrics // by leaf
}

// rowGroup is what the footer says of one.
type rowGroup struct {
	rows    int64
	offset  int64
	bytes   int64 // uncompressed
	size    int64 // compressed
	columns []chunk
}

// NewWriter begins a file of the fields. A type that Parquet writing lacks (geometry) is
// an error 0A000 that names the column.
func NewWriter(out io.Writer, fields []lake.Field, opt Options) (*Writer, error) {
	opt.defaults()
	w := &Writer{out: out, opt: opt}
	for i := range fields {
		n, err := w.build(&fields[i], nil, 0, 0, !fields[i].Required)
		if err != nil {
			return nil, err
		}
		w.root = append(w.root, n)
	}
	if w.tools = opt.Tools; w.tools == nil {
		w.tools = &Tools{}
	}
	if err := w.tools.use(opt.Codec, opt.Level); err != nil {
		return nil, err
	}
	for _, l := range w.leaves {
		m := opt.Metrics(l.field.ID)
		if l.part { // the metadata's leaf counts for the variant
			m = Metrics{None: m.None || l.field.Name != "metadata"}
		}
		w.file = append(w.file, newMetrics(l.field, m))
	}
	return w, w.write([]byte("PAR1"))
}

func (w *Writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.off += int64(n)
	return err
}

// Write adds the rows of b, whose columns are the fields in order.
func (w *Writer) Write(b *vec.Batch) error {
	invariant.Check(len(b.Cols) == len(w.root), "a batch of %d columns for a file of %d", len(b.Cols), len(w.root))
	for i, n := range w.root {
		if err := w.shredTop(n, b.Cols[i], b.Sel, b.Rows); err != nil {
			return err
		}
	}
	w.group += b.Len()
	w.rows += int64(b.Len())
	w.held = 0
	var size int64
	for _, l := range w.leaves {
		w.held += l.bytes()
		size += l.uncompressed()
	}
	if w.group >= w.opt.RowGroupRows || size >= w.opt.RowGroupBytes {
		return w.Flush()
	}
	return nil
}

// Buffered is the memory that the open row group holds.
func (w *Writer) Buffered() int64 { return w.held }

// Size estimates the file's final size: what is written, the pages that are compressed, and half
// of what is not yet.
func (w *Writer) Size() int64 {
	n := w.off
	for _, l := range w.leaves {
		n += l.packed + int64(l.size+l.dict.size)/2
	}
	return n
}

// Rows is the number of rows so far.
func (w *Writer) Rows() int64 { return w.rows }

// Flush ends the open row group.
func (w *Writer) Flush() error {
	if w.group == 0 {
		return nil
	}
	g := rowGroup{rows: int64(w.group), offset: w.off}
	for i, l := range w.leaves {
		c, err := w.writeChunk(l, w.file[i])
		if err != nil {
			return err
		}
		g.columns = append(g.columns, c)
		g.bytes += c.uncompressed
		g.size += c.compressed
		l.startChunk()
	}
	w.groups = append(w.groups, g)
	w.group = 0
	w.held = 0
	for _, l := range w.leaves {
		w.held += l.bytes()
	}
	return nil
}

// Release ends the open row group and gives its buffers back.
func (w *Writer) Release() error {
	err := w.Flush()
	for _, l := range w.leaves {
		l.release()
	}
	w.held = 0
	return err
}

// Close writes the indexes and the footer, and describes the file: counts, bounds, split
// offsets. Path, partition and sequence numbers are the caller's. The output stays open.
func (w *Writer) Close() (*lake.DataFile, error) {
	if err := w.Flush(); err != nil {
		return nil, err
	}
	if err := w.writeIndexes(); err != nil {
		return nil, err
	}
	if err := w.writeFooter(); err != nil {
		return nil, err
	}
	f := &lake.DataFile{Format: "parquet", RecordCount: w.rows, FileSize: w.off,
		ColumnSizes: map[int]int64{}, ValueCounts: map[int]int64{}, NullCounts: map[int]int64{}, NaNCounts: map[int]int64{},
		Lower: map[int][]byte{}, Upper: map[int][]byte{}}
	for _, g := range w.groups {
		if len(g.columns) > 0 { // without columns a row group lies nowhere
			f.SplitOffsets = append(f.SplitOffsets, g.offset)
		}
		for k := range g.columns {
			f.ColumnSizes[g.columns[k].leaf.field.ID] += g.columns[k].compressed
		}
	}
	for i, m := range w.file {
		m.into(f, w.leaves[i].repeated())
	}
	return f, nil
}

// unsupported refuses a type.
func unsupported(f *lake.Field) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "column %q has type %s, which cannot be written", f.Name, f.Iceberg)
}
