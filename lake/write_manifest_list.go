package lake

import "strconv"

// obj and its like spell Avro schemas as JSON documents.
type obj = map[string]any

func avroFieldJSON(id int, name string, typ any) obj {
	return obj{"name": name, "type": typ, "field-id": id}
}

func avroOptional(id int, name string, typ any) obj {
	return obj{"name": name, "type": []any{"null", typ}, "default": nil, "field-id": id}
}

func manifestListSchema(version int) obj {
	fields := []any{
		avroFieldJSON(500, "manifest_path", "string"), avroFieldJSON(501, "manifest_length", "long"),
		avroFieldJSON(502, "partition_spec_id", "int"),
	}
	summary := obj{"type": "record", "name": "r508", "fields": []any{
		avroFieldJSON(509, "contains_null", "boolean"), avroOptional(518, "contains_nan", "boolean"),
		avroOptional(510, "lower_bound", "bytes"), avroOptional(511, "upper_bound", "bytes")}}
	partitions := avroOptional(507, "partitions", obj{"type": "array", "items": summary, "element-id": 508})
	key := avroOptional(519, "key_metadata", "bytes")
	if version == 1 {
		fields = append(fields, avroFieldJSON(503, "added_snapshot_id", "long"))
		for i, n := range []string{"added_files_count", "existing_files_count", "deleted_files_count"} {
			fields = append(fields, avroOptional(504+i, n, "int"))
		}
		fields = append(fields, partitions)
		for i, n := range []string{"added_rows_count", "existing_rows_count", "deleted_rows_count"} {
			fields = append(fields, avroOptional(512+i, n, "long"))
		}
		fields = append(fields, key)
		return obj{"type": "record", "name": "manifest_file", "fields": fields}
	}
	fields = append(fields, avroFieldJSON(517, "content", "int"), avroFieldJSON(515, "sequence_number", "long"),
		avroFieldJSON(516, "min_sequence_number", "long"), avroFieldJSON(503, "added_snapshot_id", "long"))
	for i, n := range []string{"added_files_count", "existing_files_count", "deleted_files_count"} {
		fields = append(fields, avroFieldJSON(504+i, n, "int"))
	}
	for i, n := range []string{"added_rows_count", "existing_rows_count", "deleted_rows_count"} {
		fields = append(fields, avroFieldJSON(512+i, n, "long"))
	}
	fields = append(fields, partitions, key)
	if version >= 3 {
		fields = append(fields, avroOptional(520, "first_row_id", "long"))
	}
	return obj{"type": "record", "name": "manifest_file", "fields": fields}
}

// encodeManifestList writes a snapshot's manifest list.
func encodeManifestList(version int, s *snapshotJSON, ms []*Manifest) ([]byte, error) {
	meta := map[string]string{"format-version": strconv.Itoa(version), "snapshot-id": strconv.FormatInt(*s.ID, 10),
		"parent-snapshot-id": "null", "iceberg.schema": ""}
	delete(meta, "iceberg.schema")
	if s.ParentID != nil {
		meta["parent-snapshot-id"] = strconv.FormatInt(*s.ParentID, 10)
	}
	if version >= 2 {
		meta["sequence-number"] = strconv.FormatInt(s.Seq, 10)
	}
	if version >= 3 && s.FirstRowID != nil {
		meta["first-row-id"] = strconv.FormatInt(*s.FirstRowID, 10)
	}
	w, err := newAvroWriter(manifestListSchema(version), meta)
	if err != nil {
		return nil, err
	}
	for _, m := range ms {
		m.encode(&w.block, version)
		if err := w.endRow(); err != nil {
			return nil, err
		}
	}
	return w.finish()
}

func (m *Manifest) encode(o *avroOut, version int) {
	o.str(m.Path)
	o.long(m.Length)
	o.long(int64(m.SpecID))
	files := []int64{m.AddedFiles, m.ExistingFiles, m.DeletedFiles}
	rows := []int64{m.AddedRows, m.ExistingRows, m.DeletedRows}
	if version == 1 {
		o.long(m.AddedSnapshotID)
		optCounts(o, files)
		m.encodeSummaries(o)
		optCounts(o, rows)
		o.null()
		return
	}
	content := int64(0)
	if m.Deletes {
		content = 1
	}
	o.long(content)
	o.long(m.Seq)
	o.long(m.MinSeq)
	o.long(m.AddedSnapshotID)
	for _, n := range append(files, rows...) {
		o.long(max(n, 0))
	}
	m.encodeSummaries(o)
	o.null()
	if version >= 3 {
		o.optLong(m.FirstRowID)
	}
}

func optCounts(o *avroOut, list []int64) {
	for _, n := range list {
		if n < 0 {
			o.null()
			continue
		}
		o.some()
		o.long(n)
	}
}

func (m *Manifest) encodeSummaries(o *avroOut) {
	if m.Partitions == nil {
		o.null()
		return
	}
	o.some()
	if len(m.Partitions) > 0 {
		o.long(int64(len(m.Partitions)))
		for i := range m.Partitions {
			p := &m.Partitions[i]
			o.boolean(p.ContainsNull)
			if p.ContainsNaN == nil {
				o.null()
			} else {
				o.some()
				o.boolean(*p.ContainsNaN)
			}
			o.optBytes(p.Lower)
			o.optBytes(p.Upper)
		}
	}
	o.long(0)
}
