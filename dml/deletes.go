package dml

import (
	"context"
	"fmt"
	"sort"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lhsql/lhsql/dml/parquet"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Reserved field ids of position delete files (Iceberg spec, "Reserved Field IDs").
const (
	deletePathID = 2147483546
	deletePosID  = 2147483545
)

var positionFields = []lake.Field{
	{ID: deletePathID, Name: "file_path", Iceberg: "string", Type: types.T(types.Text), Required: true},
	{ID: deletePosID, Name: "pos", Iceberg: "long", Type: types.T(types.Int8), Required: true},
}

// PositionDeletes writes the touched rows as position delete files (v2), one for the data files
// of each partition, rows in the order of path and position as the spec wants.
func (s *Sink) PositionDeletes(ctx context.Context, files map[string]*lake.DataFile) ([]*lake.DataFile, error) {
	groups := map[string][]string{}
	for path := range s.touched {
		f := files[path]
		key := fmt.Sprint(f.SpecID)
		if spec := s.table.Spec(f.SpecID); spec != nil {
			for i, d := range f.Partition {
				if d.IsNull() {
					key += "\x00"
				} else {
					key = string(types.AppendKey([]byte(key+"\x01"), d, spec.Fields[i].Type))
				}
			}
		}
		groups[key] = append(groups[key], path)
	}
	keys := make([]string, 0, len(groups))
	for k := range groups {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	var out []*lake.DataFile
	for _, k := range keys {
		sort.Strings(groups[k])
		d, err := s.positionFile(ctx, groups[k], files)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func (s *Sink) positionFile(ctx context.Context, paths []string, files map[string]*lake.DataFile) (*lake.DataFile, error) {
	path := s.table.FilePath("", fmt.Sprintf("%05d-%s-deletes.parquet", s.next.Add(1)-1, s.id))
	out, err := s.fs.CreateStream(ctx, s.table.Resolve(path))
	if err != nil {
		return nil, writeError(err, path)
	}
	// Bounds of the path whole: readers match delete files to data files by them.
	w, err := parquet.NewWriter(out, positionFields, parquet.Options{Codec: s.opt.Codec,
		Metrics: func(int) parquet.Metrics { return parquet.Metrics{Bounds: true} }})
	if err != nil {
		out.Abort()
		return nil, writeError(err, path)
	}
	for _, p := range paths {
		name := vec.ConstOf(types.T(types.Text), types.NewStr(p))
		it := s.touched[p].Iterator()
		for it.HasNext() {
			pos := vec.Alloc(types.T(types.Int8), types.FormI64, vec.BatchRows)
			n := 0
			for ; n < vec.BatchRows && it.HasNext(); n++ {
				pos.I64[n] = int64(it.Next())
			}
			if err := w.Write(&vec.Batch{Rows: n, Cols: []*vec.Vector{name, pos}}); err != nil {
				out.Abort()
				return nil, writeError(err, path)
			}
		}
	}
	d, err := w.Close()
	if err != nil {
		out.Abort()
		return nil, writeError(err, path)
	}
	if err := out.Commit(ctx); err != nil {
		out.Abort()
		return nil, writeError(err, path)
	}
	first := files[paths[0]]
	d.Path, d.Content, d.SpecID, d.Partition = path, lake.PositionDeletes, first.SpecID, first.Partition
	if len(paths) == 1 {
		d.ReferencedFile = paths[0]
	}
	s.wrote(d)
	return d, nil
}

// DeletionVectors writes one deletion vector for each touched data file (v3): the positions
// deleted before, which old gives, and the touched ones. All share one Puffin file.
func (s *Sink) DeletionVectors(ctx context.Context, files map[string]*lake.DataFile, old func(ctx context.Context, f *lake.DataFile) (*roaring64.Bitmap, error)) ([]*lake.DataFile, error) {
	paths := make([]string, 0, len(s.touched))
	for p := range s.touched {
		paths = append(paths, p)
	}
	sort.Strings(paths)
	path := s.table.FilePath("", fmt.Sprintf("%05d-%s-deletes.puffin", s.next.Add(1)-1, s.id))
	var pf Puffin
	var out []*lake.DataFile
	for _, p := range paths {
		f := files[p]
		all, err := old(ctx, f)
		if err != nil {
			return nil, err
		}
		all.Or(s.touched[p])
		if max := all.Maximum(); f.RecordCount > 0 && int64(max) >= f.RecordCount {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "a deleted position of %s lies beyond its %d rows", p, f.RecordCount)
		}
		off, size, err := pf.vector(all, p)
		if err != nil {
			return nil, err
		}
		out = append(out, &lake.DataFile{Path: path, Content: lake.DeletionVector, Format: "puffin", SpecID: f.SpecID,
			Partition: f.Partition, RecordCount: int64(all.GetCardinality()), ReferencedFile: p, ContentOffset: off, ContentSize: size})
	}
	data, _ := pf.Close()
	if err := s.fs.Create(ctx, s.table.Resolve(path), data); err != nil {
		return nil, writeError(err, path)
	}
	for _, d := range out {
		d.FileSize = int64(len(data))
		s.wrote(d)
	}
	return out, nil
}
