package timetravel

import (
	"context"
	"strconv"

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

type partitionSums struct {
	partition            types.Datum
	spec                 int
	records, files, size int64
	posRecords, posFiles int64
	eqRecords, eqFiles   int64
	updated              *lake.Snapshot
}

func partitionRows(ctx context.Context, t *lake.Table, s *lake.Snapshot, yield emit) error {
	members, index := partitionType(t)
	typ := types.StructOf(members...)
	sums := map[string]*partitionSums{}
	var order []*partitionSums
	err := eachManifest(ctx, t, s, false, func(m *lake.Manifest) error {
		es, err := t.EntriesWith(ctx, m, nil)
		if err != nil {
			return err
		}
		for _, e := range es {
			if e.Status == lake.Deleted {
				continue
			}
			part := partitionDatum(t, e.File.SpecID, e.File.Partition, len(members), index)
			// Files of two specs may share a partition's value, but not its meaning.
			key := strconv.Itoa(e.File.SpecID) + ":" + string(types.AppendKey(nil, part, typ))
			p := sums[key]
			if p == nil {
				p = &partitionSums{partition: part, spec: e.File.SpecID}
				sums[key] = p
				order = append(order, p)
			}
			p.add(t, &e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range order {
		if err := yield(p.row(len(members) > 0)); err != nil {
			return err
		}
	}
	return nil
}

func (p *partitionSums) add(t *lake.Table, e *lake.Entry) {
	f := e.File
	switch f.Content {
	case lake.Data:
		p.records += f.RecordCount
		p.files++
		p.size += f.FileSize
	case lake.EqualityDeletes:
		p.eqRecords += f.RecordCount
		p.eqFiles++
	default:
		p.posRecords += f.RecordCount
		p.posFiles++
	}
	if s := t.SnapshotByID(e.SnapshotID); s != nil && (p.updated == nil || s.Time.After(p.updated.Time)) {
		p.updated = s
	}
}

func (p *partitionSums) row(partitioned bool) []types.Datum {
	var out []types.Datum
	if partitioned {
		out = append(out, p.partition, types.NewInt(int64(p.spec)))
	}
	at, id := types.Null, types.Null
	if p.updated != nil {
		at, id = types.NewInt(p.updated.Time.UnixMicro()), types.NewInt(p.updated.ID)
	}
	return append(out, types.NewInt(p.records), types.NewInt(p.files), types.NewInt(p.size), types.NewInt(p.posRecords),
		types.NewInt(p.posFiles), types.NewInt(p.eqRecords), types.NewInt(p.eqFiles), at, id)
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
