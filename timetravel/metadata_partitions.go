package timetravel

import (
	"context"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

func partitionFields(t *lake.Table) []types.Field {
	var out []types.Field
	if members, _ := partitionType(t); len(members) > 0 {
		out = append(out, field("partition", types.StructOf(members...)), field("spec_id", tInt))
	}
	return append(out, field("record_count", tBig), field("file_count", tInt), field("total_data_file_size_in_bytes", tBig),
		field("position_delete_record_count", tBig), field("position_delete_file_count", tInt),
		field("equality_delete_record_count", tBig), field("equality_delete_file_count", tInt),
		field("last_updated_at", tTime), field("last_updated_snapshot_id", tBig))
}

func partitionRows(ctx context.Context, t *lake.Table, s *lake.Snapshot, yield emit) error {
	tally := lake.NewPartitionTally(t)
	err := eachManifest(ctx, t, s, false, func(m *lake.Manifest) error {
		es, err := t.EntriesWith(ctx, m, nil)
		if err != nil {
			return err
		}
		for _, e := range es {
			if e.Status == lake.Deleted {
				continue
			}
			p, _ := tally.Of(e.File.SpecID, tally.Value(e.File.SpecID, e.File.Partition))
			p.Add(e.File, 1)
			p.ChangedBy(t.SnapshotByID(e.SnapshotID))
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range tally.List() {
		if err := yield(partitionRow(p)); err != nil {
			return err
		}
	}
	return nil
}

func partitionRow(p *lake.PartitionCounts) []types.Datum {
	var out []types.Datum
	if len(p.Partition) > 0 {
		out = append(out, types.NewStruct(p.Partition), types.NewInt(int64(p.SpecID)))
	}
	at, id := types.Null, types.Null
	if p.UpdatedBy != 0 {
		at, id = types.NewInt(p.UpdatedAt*1000), types.NewInt(p.UpdatedBy)
	}
	return append(out, types.NewInt(p.Records), types.NewInt(p.Files), types.NewInt(p.Bytes), types.NewInt(p.PositionDeletes),
		types.NewInt(p.PositionDeleteFiles+p.Vectors), types.NewInt(p.EqualityDeletes), types.NewInt(p.EqualityDeleteFiles), at, id)
}

func positionDeleteFields(t *lake.Table) []types.Field {
	out := []types.Field{field("file_path", tText), field("pos", tBig)}
	if members, _ := partitionType(t); len(members) > 0 {
		out = append(out, field("partition", types.StructOf(members...)))
	}
	return append(out, field("spec_id", tInt), field("delete_file_path", tText))
}

func positionDeleteRows(ctx context.Context, files DataFiles, t *lake.Table, s *lake.Snapshot, yield emit) error {
	members, index := partitionType(t)
	return eachManifest(ctx, t, s, false, func(m *lake.Manifest) error {
		if !m.Deletes {
			return nil
		}
		es, err := t.EntriesWith(ctx, m, nil)
		if err != nil {
			return err
		}
		for _, e := range es {
			if e.Status == lake.Deleted || e.File.Content == lake.EqualityDeletes {
				continue
			}
			err := files.ReadPositions(ctx, t, e.File, func(file string, pos int64) error {
				row := []types.Datum{types.NewStr(file), types.NewInt(pos)}
				if len(members) > 0 {
					row = append(row, partitionDatum(t, e.File.SpecID, e.File.Partition, len(members), index))
				}
				return yield(append(row, types.NewInt(int64(e.File.SpecID)), types.NewStr(e.File.Path)))
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}
