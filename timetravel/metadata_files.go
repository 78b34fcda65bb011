package timetravel

import (
	"context"
	"sort"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

func anyFile(*lake.DataFile) bool      { return true }
func dataFile(f *lake.DataFile) bool   { return f.Content == lake.Data }
func deleteFile(f *lake.DataFile) bool { return f.Content != lake.Data }

// partitionType is the union of the partition fields of all specs: files of a spec that lacks
// one have NULL there. An unpartitioned table has none.
func partitionType(t *lake.Table) (members []types.Field, index map[int]int) {
	index = map[int]int{}
	for i, f := range t.PartitionType() {
		index[f.FieldID] = i
		members = append(members, field(f.Name, f.Type))
	}
	return members, index
}

func partitionDatum(t *lake.Table, specID int, values []types.Datum, n int, index map[int]int) types.Datum {
	row := make([]types.Datum, n)
	if spec := t.Spec(specID); spec != nil {
		for i, f := range spec.Fields {
			if k, ok := index[f.FieldID]; ok && i < len(values) {
				row[k] = values[i]
			}
		}
	}
	return types.NewStruct(row)
}

// fileFields are Spark's, in its order. An unpartitioned table has no column partition.
func fileFields(t *lake.Table) []types.Field {
	return append(fileMembers(t), field("readable_metrics", metricsType(t)))
}

func fileMembers(t *lake.Table) []types.Field {
	out := []types.Field{field("content", tInt), field("file_path", tText), field("file_format", tText), field("spec_id", tInt)}
	if members, _ := partitionType(t); len(members) > 0 {
		out = append(out, field("partition", types.StructOf(members...)))
	}
	return append(out,
		field("record_count", tBig), field("file_size_in_bytes", tBig),
		field("column_sizes", tCounts), field("value_counts", tCounts), field("null_value_counts", tCounts),
		field("nan_value_counts", tCounts), field("lower_bounds", tBounds), field("upper_bounds", tBounds),
		field("split_offsets", types.ArrayOf(tBig)), field("equality_ids", types.ArrayOf(tInt)),
		field("sort_order_id", tInt), field("first_row_id", tBig), field("referenced_data_file", tText),
		field("content_offset", tBig), field("content_size_in_bytes", tBig))
}

// fileWriter makes the rows of a table's files.
type fileWriter struct {
	t       *lake.Table
	members int
	index   map[int]int
	leaves  []leaf
}

func newFileWriter(t *lake.Table) *fileWriter {
	members, index := partitionType(t)
	return &fileWriter{t: t, members: len(members), index: index, leaves: leavesOf(t)}
}

func (w *fileWriter) row(f *lake.DataFile) []types.Datum {
	content := int64(f.Content)
	if f.Content == lake.DeletionVector {
		content = int64(lake.PositionDeletes)
	}
	out := []types.Datum{types.NewInt(content), types.NewStr(f.Path), types.NewStr(upper(f.Format)), types.NewInt(int64(f.SpecID))}
	if w.members > 0 {
		out = append(out, partitionDatum(w.t, f.SpecID, f.Partition, w.members, w.index))
	}
	offset, size := types.Null, types.Null
	if f.Content == lake.DeletionVector {
		offset, size = types.NewInt(f.ContentOffset), types.NewInt(f.ContentSize)
	}
	return append(out,
		types.NewInt(f.RecordCount), types.NewInt(f.FileSize),
		counts(f.ColumnSizes), counts(f.ValueCounts), counts(f.NullCounts), counts(f.NaNCounts),
		bounds(f.Lower), bounds(f.Upper), bigs(f.SplitOffsets), ints(f.EqualityIDs),
		types.NewInt(int64(f.SortOrderID)), optional(f.FirstRowID), text(f.ReferencedFile), offset, size)
}

func upper(format string) string {
	b := []byte(format)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 32
		}
	}
	return string(b)
}

func counts(m map[int]int64) types.Datum {
	if m == nil {
		return types.Null
	}
	return keyed(len(m), func(add func(int, types.Datum)) {
		for k, v := range m {
			add(k, types.NewInt(v))
		}
	})
}

func bounds(m map[int][]byte) types.Datum {
	if m == nil {
		return types.Null
	}
	return keyed(len(m), func(add func(int, types.Datum)) {
		for k, v := range m {
			add(k, types.NewStr(string(v)))
		}
	})
}

// keyed makes a map's datum in order of the keys.
func keyed(n int, fill func(add func(int, types.Datum))) types.Datum {
	list := make([]types.Datum, 0, n)
	fill(func(k int, v types.Datum) {
		list = append(list, types.NewStruct([]types.Datum{types.NewInt(int64(k)), v}))
	})
	sort.Slice(list, func(i, j int) bool { return list[i].List()[0].Int() < list[j].List()[0].Int() })
	return types.NewList(list)
}

func bigs(l []int64) types.Datum {
	if l == nil {
		return types.Null
	}
	out := make([]types.Datum, len(l))
	for i, v := range l {
		out[i] = types.NewInt(v)
	}
	return types.NewList(out)
}

func ints(l []int) types.Datum {
	if l == nil {
		return types.Null
	}
	out := make([]types.Datum, len(l))
	for i, v := range l {
		out[i] = types.NewInt(int64(v))
	}
	return types.NewList(out)
}

// leaf is a primitive column at any depth of structs, with its dotted name.
type leaf struct {
	name string
	f    *lake.Field
}

func leavesOf(t *lake.Table) []leaf {
	var out []leaf
	var walk func(prefix string, fields []lake.Field)
	walk = func(prefix string, fields []lake.Field) {
		for i := range fields {
			f := &fields[i]
			switch {
			case f.Iceberg == "struct":
				walk(prefix+f.Name+".", f.Children)
			case len(f.Children) == 0 && f.Type.Kind != types.Invalid:
				out = append(out, leaf{prefix + f.Name, f})
			}
		}
	}
	walk("", t.Schema().Fields)
	return out
}

func metricsType(t *lake.Table) types.Type {
	var out []types.Field
	for _, l := range leavesOf(t) {
		out = append(out, field(l.name, types.StructOf(field("column_size", tBig), field("value_count", tBig),
			field("null_value_count", tBig), field("nan_value_count", tBig), field("lower_bound", l.f.Stored()), field("upper_bound", l.f.Stored()))))
	}
	return types.StructOf(out...)
}

func (w *fileWriter) metrics(f *lake.DataFile) types.Datum {
	out := make([]types.Datum, len(w.leaves))
	for i, l := range w.leaves {
		id := l.f.ID
		bound := func(m map[int][]byte) types.Datum {
			d, ok := lake.DecodeBound(l.f.Stored(), l.f.Iceberg, m[id])
			if !ok {
				return types.Null
			}
			return d
		}
		out[i] = types.NewStruct([]types.Datum{has(f.ColumnSizes, id), has(f.ValueCounts, id), has(f.NullCounts, id),
			has(f.NaNCounts, id), bound(f.Lower), bound(f.Upper)})
	}
	return types.NewStruct(out)
}

func has(m map[int]int64, id int) types.Datum {
	v, ok := m[id]
	if !ok {
		return types.Null
	}
	return types.NewInt(v)
}

func fileRows(want func(*lake.DataFile) bool, all bool) func(context.Context, *lake.Table, *lake.Snapshot, emit) error {
	return func(ctx context.Context, t *lake.Table, s *lake.Snapshot, yield emit) error {
		w := newFileWriter(t)
		return eachManifest(ctx, t, s, all, func(m *lake.Manifest) error {
			es, err := t.Entries(ctx, m)
			if err != nil {
				return err
			}
			for _, e := range es {
				if e.Status == lake.Deleted || !want(e.File) {
					continue
				}
				if err := yield(append(w.row(e.File), w.metrics(e.File))); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

func entryFields(t *lake.Table) []types.Field {
	return []types.Field{field("status", tInt), field("snapshot_id", tBig), field("sequence_number", tBig),
		field("file_sequence_number", tBig), field("data_file", types.StructOf(fileMembers(t)...)), field("readable_metrics", metricsType(t))}
}

func entryRows(all bool) func(context.Context, *lake.Table, *lake.Snapshot, emit) error {
	return func(ctx context.Context, t *lake.Table, s *lake.Snapshot, yield emit) error {
		w := newFileWriter(t)
		return eachManifest(ctx, t, s, all, func(m *lake.Manifest) error {
			es, err := t.Entries(ctx, m)
			if err != nil {
				return err
			}
			for _, e := range es {
				if err := yield([]types.Datum{types.NewInt(int64(e.Status)), types.NewInt(e.SnapshotID), types.NewInt(e.File.DataSeq),
					types.NewInt(e.File.FileSeq), types.NewStruct(w.row(e.File)), w.metrics(e.File)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
}
