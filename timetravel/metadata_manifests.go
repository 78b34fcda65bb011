package timetravel

import (
	"context"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

var manifestFields = []types.Field{
	field("content", tInt), field("path", tText), field("length", tBig), field("partition_spec_id", tInt),
	field("added_snapshot_id", tBig),
	field("added_data_files_count", tInt), field("existing_data_files_count", tInt), field("deleted_data_files_count", tInt),
	field("added_delete_files_count", tInt), field("existing_delete_files_count", tInt), field("deleted_delete_files_count", tInt),
	field("partition_summaries", types.ArrayOf(types.StructOf(field("contains_null", tBool), field("contains_nan", tBool),
		field("lower_bound", tText), field("upper_bound", tText)))),
}

func manifestRow(t *lake.Table, m *lake.Manifest) []types.Datum {
	// A manifest holds files of one content: the other's counts are zero.
	count := func(n int64, deletes bool) types.Datum {
		if m.Deletes != deletes {
			return types.NewInt(0)
		}
		return known(n)
	}
	content := int64(0)
	if m.Deletes {
		content = 1
	}
	return []types.Datum{types.NewInt(content), types.NewStr(m.Path), types.NewInt(m.Length), types.NewInt(int64(m.SpecID)),
		types.NewInt(m.AddedSnapshotID),
		count(m.AddedFiles, false), count(m.ExistingFiles, false), count(m.DeletedFiles, false),
		count(m.AddedFiles, true), count(m.ExistingFiles, true), count(m.DeletedFiles, true), summaries(t, m)}
}

func known(n int64) types.Datum {
	if n < 0 {
		return types.Null
	}
	return types.NewInt(n)
}

func summaries(t *lake.Table, m *lake.Manifest) types.Datum {
	spec := t.Spec(m.SpecID)
	if m.Partitions == nil || spec == nil {
		return types.Null
	}
	list := []types.Datum{}
	for i, p := range m.Partitions {
		if i >= len(spec.Fields) {
			break
		}
		f := &spec.Fields[i]
		bound := func(b []byte) types.Datum {
			d, ok := lake.DecodeBound(f.Type, f.Iceberg, b)
			if !ok {
				return types.Null
			}
			return types.NewStr(f.Transform.HumanValue(d, f.Iceberg))
		}
		nan := types.Null
		if p.ContainsNaN != nil {
			nan = types.NewBool(*p.ContainsNaN)
		}
		list = append(list, types.NewStruct([]types.Datum{types.NewBool(p.ContainsNull), nan, bound(p.Lower), bound(p.Upper)}))
	}
	return types.NewList(list)
}

func manifestRows(ctx context.Context, t *lake.Table, s *lake.Snapshot, yield emit) error {
	ms, err := t.Manifests(ctx, s)
	if err != nil {
		return err
	}
	for _, m := range ms {
		if err := yield(manifestRow(t, m)); err != nil {
			return err
		}
	}
	return nil
}

var allManifestFields = append(append([]types.Field(nil), manifestFields...), field("reference_snapshot_id", tBig))

func allManifestRows(ctx context.Context, t *lake.Table, _ *lake.Snapshot, yield emit) error {
	for _, s := range t.Snapshots() {
		ms, err := t.Manifests(ctx, s)
		if err != nil {
			return err
		}
		for _, m := range ms {
			if err := yield(append(manifestRow(t, m), types.NewInt(s.ID))); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachManifest calls f for the manifests of s, or once for each manifest of any snapshot.
func eachManifest(ctx context.Context, t *lake.Table, s *lake.Snapshot, all bool, f func(*lake.Manifest) error) error {
	list := []*lake.Snapshot{s}
	if all {
		list = t.Snapshots()
	}
	seen := map[string]bool{}
	for _, s := range list {
		ms, err := t.Manifests(ctx, s)
		if err != nil {
			return err
		}
		for _, m := range ms {
			if seen[m.Path] {
				continue
			}
			seen[m.Path] = true
			if err := f(m); err != nil {
				return err
			}
		}
	}
	return nil
}
