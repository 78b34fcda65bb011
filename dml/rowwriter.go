package dml

import (
	"context"
	"fmt"
	"sort"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/dml/parquet"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/vec"
)

// RowWriter writes whole rows of the target into data files, fanned out by partition. For one
// goroutine; the files that it finished are in Files after Close.
type RowWriter struct {
	sink  *Sink
	ctx   context.Context
	part  *partitioner
	open  map[string]*openFile
	tools parquet.Tools // of all files, which are written in turns
	held  int64         // memory of the open files
	whole *partition    // of a table without partitions
	order []*partition  // partitions of the batch under way
	tick  int64
	Files []*lake.DataFile
	rows  int64
	// unsorted is a writer of rows that keep their place, not the table's order.
	unsorted bool
	// limit is how many files may be open; late takes the rows for which none is.
	limit int
	late  func(key string, cols []*vec.Vector, sel []uint16, rows int) error
}

// Late has f take the rows of a partition without a file when as many are open as may be. They
// come again, partition by partition, to a writer without Late. f copies what it keeps.
func (w *RowWriter) Late(f func(key string, cols []*vec.Vector, sel []uint16, rows int) error) {
	w.late = f
}

// Aside has all rows go to Late.
func (w *RowWriter) Aside() { w.limit = 0 }

// Clustered tells that rows come partition after partition: one file need be open.
func (w *RowWriter) Clustered() { w.limit = 1 }

// Unsorted tells that this writer's rows come in no order.
func (w *RowWriter) Unsorted() { w.unsorted = true }

// openFile is a data file under way.
type openFile struct {
	part *partition
	path string
	out  store.Writer
	w    *parquet.Writer
	held int64
	used int64 // tick of the last write
}

// MaxOpen bounds the files that one writer keeps open; writing into 10,000 partitions closes the
// least recently used and later begins another file for its partition.
const MaxOpen = 128

// Writer makes a RowWriter; many may work at once.
func (s *Sink) Writer(ctx context.Context) (*RowWriter, error) {
	p, err := newPartitioner(s.spec, s.schema.Stored())
	if err != nil {
		return nil, err
	}
	w := &RowWriter{sink: s, ctx: ctx, part: p, limit: MaxOpen, open: map[string]*openFile{}}
	p.known = func(key string) *partition {
		if f := w.open[key]; f != nil {
			return f.part
		}
		return nil
	}
	return w, nil
}

// Write adds the rows of b, whose columns are the schema's fields in order (then the row id and
// its sequence number where the sink has lineage).
func (w *RowWriter) Write(b *vec.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	w.tick++
	w.rows += int64(b.Len())
	if len(w.part.fields) == 0 {
		if w.whole == nil {
			w.whole = &partition{}
		}
		if err := w.to(w.whole, b); err != nil {
			return err
		}
		return w.relieve()
	}
	w.order = w.order[:0]
	w.part.each(b, func(p *partition, i uint16) {
		if len(p.sel) == 0 {
			w.order = append(w.order, p)
		}
		p.sel = append(p.sel, i)
	})
	if w.part.err != nil {
		return w.part.err
	}
	for _, p := range w.order {
		sel := p.sel
		p.sel = sel[:0]
		if w.late != nil && w.fileOf(p) == nil && len(w.open) >= w.limit {
			if err := w.late(p.key, b.Cols, sel, b.Rows); err != nil {
				return err
			}
			continue
		}
		if err := w.to(p, &vec.Batch{Cols: b.Cols, Sel: sel, Rows: b.Rows}); err != nil {
			return err
		}
	}
	return w.relieve()
}

// fileOf is the open file of a partition, or nil.
func (w *RowWriter) fileOf(p *partition) *openFile {
	if p.file != nil {
		return p.file
	}
	return w.open[p.key]
}

// to writes rows of one partition.
func (w *RowWriter) to(p *partition, b *vec.Batch) error {
	f := w.fileOf(p)
	if f == nil {
		if len(w.open) >= w.limit {
			if err := w.closeOldest(); err != nil {
				return err
			}
		}
		var err error
		if f, err = w.begin(p); err != nil {
			return err
		}
		w.open[p.key], p.file = f, f
	}
	f.used = w.tick
	if err := f.w.Write(b); err != nil {
		return writeError(err, f.path)
	}
	w.held += f.w.Buffered() - f.held
	f.held = f.w.Buffered()
	if f.w.Size() >= w.sink.opt.target {
		w.forget(f)
		return w.finish(f)
	}
	return nil
}

// forget takes f from the open files.
func (w *RowWriter) forget(f *openFile) {
	delete(w.open, f.part.key)
	f.part.file = nil
	w.held -= f.held
}

func (w *RowWriter) begin(p *partition) (*openFile, error) {
	path := w.sink.table.FilePath(p.dir, fmt.Sprintf("%05d-%s.parquet", w.sink.next.Add(1)-1, uuid.NewString()))
	out, err := w.sink.fs.CreateStream(w.ctx, w.sink.table.Resolve(path))
	if err != nil {
		return nil, sqlerr.Wrap(err, sqlerr.IOError, "creating data file %s", path)
	}
	opt := w.sink.opt.Options
	opt.Tools = &w.tools
	pw, err := parquet.NewWriter(out, w.sink.fields, opt)
	if err != nil {
		out.Abort()
		return nil, writeError(err, path)
	}
	return &openFile{part: p, path: path, out: out, w: pw}, nil
}

// finish ends a file and lists it.
func (w *RowWriter) finish(f *openFile) error {
	d, err := f.w.Close()
	if err != nil {
		f.out.Abort()
		return writeError(err, f.path)
	}
	if err := f.out.Commit(w.ctx); err != nil {
		f.out.Abort()
		return writeError(err, f.path)
	}
	d.Path, d.Content, d.Partition = f.path, lake.Data, f.part.values
	if w.sink.spec != nil {
		d.SpecID = w.sink.spec.ID
	}
	if !w.unsorted {
		d.SortOrderID = w.sink.sorted
	}
	w.Files = append(w.Files, d)
	w.sink.wrote(d)
	return nil
}

func writeError(err error, path string) error {
	return sqlerr.Wrap(err, sqlerr.IOError, "writing %s", path)
}

// relieve flushes the fullest files while more is buffered than the writer may hold.
func (w *RowWriter) relieve() error {
	for w.held > w.sink.buffer {
		var fullest *openFile
		for _, f := range w.open {
			if fullest == nil || f.held > fullest.held {
				fullest = f
			}
		}
		if fullest == nil || fullest.held == 0 {
			return nil
		}
		if err := fullest.w.Release(); err != nil {
			return writeError(err, fullest.path)
		}
		w.held -= fullest.held
		fullest.held = 0
	}
	return nil
}

func (w *RowWriter) closeOldest() error {
	var oldest *openFile
	for _, f := range w.open {
		if oldest == nil || f.used < oldest.used {
			oldest = f
		}
	}
	w.forget(oldest)
	return w.finish(oldest)
}

// Close finishes the open files, in order of their partitions so that runs are alike.
func (w *RowWriter) Close() error {
	keys := make([]string, 0, len(w.open))
	for k := range w.open {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		f := w.open[k]
		w.forget(f)
		if err := w.finish(f); err != nil {
			return err
		}
	}
	return nil
}

// Abort drops the open files; finished ones are the sink's to remove.
func (w *RowWriter) Abort() {
	for _, f := range w.open {
		f.out.Abort()
		w.forget(f)
	}
}
