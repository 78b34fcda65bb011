package timetravel

import (
	"context"
	"sort"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

var snapshotFields = []types.Field{
	field("committed_at", tTime), field("snapshot_id", tBig), field("parent_id", tBig),
	field("operation", tText), field("manifest_list", tText), field("summary", types.MapOf(tText, tText)),
}

func snapshotRows(_ context.Context, t *lake.Table, _ *lake.Snapshot, yield emit) error {
	for _, s := range t.Snapshots() {
		summary := make(map[string]string, len(s.Summary))
		for k, v := range s.Summary {
			if k != "operation" {
				summary[k] = v
			}
		}
		if err := yield([]types.Datum{types.NewInt(s.Time.UnixMicro()), types.NewInt(s.ID), optional(s.ParentID),
			text(s.Operation), text(s.ManifestList), textMap(summary)}); err != nil {
			return err
		}
	}
	return nil
}

func textMap(m map[string]string) types.Datum {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	list := make([]types.Datum, len(keys))
	for i, k := range keys {
		list[i] = types.NewStruct([]types.Datum{types.NewStr(k), types.NewStr(m[k])})
	}
	return types.NewList(list)
}

var historyFields = []types.Field{
	field("made_current_at", tTime), field("snapshot_id", tBig), field("parent_id", tBig), field("is_current_ancestor", tBool),
}

func historyRows(_ context.Context, t *lake.Table, _ *lake.Snapshot, yield emit) error {
	ancestors := map[int64]bool{}
	for s := t.CurrentSnapshot(); s != nil && !ancestors[s.ID]; {
		ancestors[s.ID] = true
		if s.ParentID == nil {
			break
		}
		s = t.SnapshotByID(*s.ParentID)
	}
	for _, l := range t.SnapshotLog() {
		parent := types.Null
		if s := t.SnapshotByID(l.SnapshotID); s != nil {
			parent = optional(s.ParentID)
		}
		if err := yield([]types.Datum{types.NewInt(l.Time.UnixMicro()), types.NewInt(l.SnapshotID), parent,
			types.NewBool(ancestors[l.SnapshotID])}); err != nil {
			return err
		}
	}
	return nil
}

var refFields = []types.Field{
	field("name", tText), field("type", tText), field("snapshot_id", tBig),
	field("max_reference_age_in_ms", tBig), field("min_snapshots_to_keep", tInt), field("max_snapshot_age_in_ms", tBig),
}

func refRows(_ context.Context, t *lake.Table, _ *lake.Snapshot, yield emit) error {
	for _, r := range t.Refs() {
		kind, keep := "TAG", types.Null
		if r.Branch {
			kind = "BRANCH"
		}
		if r.MinSnapshotsToKeep != nil {
			keep = types.NewInt(int64(*r.MinSnapshotsToKeep))
		}
		if err := yield([]types.Datum{types.NewStr(r.Name), types.NewStr(kind), types.NewInt(r.SnapshotID),
			optional(r.MaxRefAgeMs), keep, optional(r.MaxSnapshotAgeMs)}); err != nil {
			return err
		}
	}
	return nil
}

var metadataLogFields = []types.Field{
	field("timestamp", tTime), field("file", tText), field("latest_snapshot_id", tBig),
	field("latest_schema_id", tInt), field("latest_sequence_number", tBig),
}

func metadataLogRows(_ context.Context, t *lake.Table, _ *lake.Snapshot, yield emit) error {
	log := append(append([]lake.MetadataLogEntry(nil), t.MetadataLog()...),
		lake.MetadataLogEntry{Time: t.LastUpdated(), File: t.MetadataLocation})
	for _, l := range log {
		var hit *lake.LogEntry
		for i, e := range t.SnapshotLog() {
			if !e.Time.After(l.Time) {
				hit = &t.SnapshotLog()[i]
			}
		}
		id, schema, seq := types.Null, types.Null, types.Null
		if hit != nil {
			id = types.NewInt(hit.SnapshotID)
			if s := t.SnapshotByID(hit.SnapshotID); s != nil {
				seq = types.NewInt(s.Seq)
				if s.SchemaID != nil {
					schema = types.NewInt(int64(*s.SchemaID))
				}
			}
		}
		if err := yield([]types.Datum{types.NewInt(l.Time.UnixMicro()), types.NewStr(l.File), id, schema, seq}); err != nil {
			return err
		}
	}
	return nil
}

var propertyFields = []types.Field{field("key", tText), field("value", tText)}

func propertyRows(_ context.Context, t *lake.Table, _ *lake.Snapshot, yield emit) error {
	props := t.Properties()
	keys := make([]string, 0, len(props))
	for k := range props {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		if err := yield([]types.Datum{types.NewStr(k), types.NewStr(props[k])}); err != nil {
			return err
		}
	}
	return nil
}
