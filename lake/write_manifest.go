package lake

import (
	"encoding/json"
	"math"
	"sort"
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// manifestEntry is an entry to be written. seq nil: inherited.
type manifestEntry struct {
	status       EntryStatus
	snapshot     int64
	seq, fileSeq *int64
	file         *DataFile
}

// existing keeps an entry that is live, with what it inherited made explicit.
func existing(e Entry) manifestEntry {
	seq, fileSeq := e.File.DataSeq, e.File.FileSeq
	return manifestEntry{Existing, e.SnapshotID, &seq, &fileSeq, e.File}
}

// avroTypeOf spells a partition value's type (spec, appendix A).
func avroTypeOf(iceberg string, fieldID int) any {
	switch iceberg {
	case "boolean", "int", "long", "float", "double", "string":
		return iceberg
	case "binary":
		return "bytes"
	case "date":
		return obj{"type": "int", "logicalType": "date"}
	case "time":
		return obj{"type": "long", "logicalType": "time-micros"}
	case "timestamp":
		return obj{"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": false}
	case "timestamptz":
		return obj{"type": "long", "logicalType": "timestamp-micros", "adjust-to-utc": true}
	case "timestamp_ns":
		return obj{"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": false}
	case "timestamptz_ns":
		return obj{"type": "long", "logicalType": "timestamp-nanos", "adjust-to-utc": true}
	case "uuid":
		return obj{"type": "fixed", "name": "uuid_fixed_" + strconv.Itoa(fieldID), "size": 16, "logicalType": "uuid"}
	}
	if p, s, ok := decimalParams(iceberg); ok {
		return obj{"type": "fixed", "name": "decimal_fixed_" + strconv.Itoa(fieldID), "size": decimalSize(p),
			"logicalType": "decimal", "precision": p, "scale": s}
	}
	if n, ok := fixedLength(iceberg); ok {
		return obj{"type": "fixed", "name": "fixed_" + strconv.Itoa(fieldID), "size": n}
	}
	return nil
}

// decimalSize is the least number of bytes that hold every unscaled value of p digits.
func decimalSize(p int) int {
	return int(math.Ceil((float64(p)*math.Log2(10) + 1) / 8))
}

// encodePartitionValue writes an optional value of a partition field.
func encodePartitionValue(o *avroOut, d types.Datum, iceberg string) {
	if d.IsNull() {
		o.null()
		return
	}
	o.some()
	switch iceberg {
	case "boolean":
		o.boolean(d.Bool())
	case "int", "long", "date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns":
		o.long(d.Int())
	case "float":
		o.float(float32(d.Float()))
	case "double":
		o.double(d.Float())
	case "string", "binary":
		o.str(d.Str())
	case "uuid":
		o.b = append(o.b, uuidBytes(d)...)
	default:
		if p, _, ok := decimalParams(iceberg); ok {
			b := uuidBytes(types.NewW128(unscaled(d)))
			o.b = append(o.b, b[16-decimalSize(p):]...)
			return
		}
		o.b = append(o.b, d.Str()...) // fixed
	}
}

func keyedArray(id, key, value int, name, typ string) obj {
	item := obj{"type": "record", "name": "k" + strconv.Itoa(key) + "_v" + strconv.Itoa(value), "fields": []any{
		avroFieldJSON(key, "key", "int"), avroFieldJSON(value, "value", typ)}}
	return avroOptional(id, name, obj{"type": "array", "items": item, "logicalType": "map"})
}

// avroName makes a partition field's name fit for Avro (letters, digits, underscores), as Java does.
func avroName(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		switch digit := c >= '0' && c <= '9'; {
		case letter || digit && i > 0:
			b = append(b, c)
		case digit:
			b = append(b, '_', c)
		default:
			b = append(b, "_x"...)
			b = append(b, []byte(strconv.FormatInt(int64(c), 16))...)
		}
	}
	return string(b)
}

func manifestSchema(version int, spec *PartitionSpec) (obj, error) {
	part := []any{}
	for _, f := range spec.Fields {
		typ := avroTypeOf(f.Iceberg, f.FieldID)
		if typ == nil && f.Transform.Kind == Void {
			typ = "string" // always NULL: the source column is gone, its type with it
		}
		if typ == nil || f.Transform.Kind == UnknownTransform {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "files of partition spec %d cannot be written: %s has the transform %s of type %s",
				spec.ID, f.Name, f.Transform, f.Iceberg)
		}
		pf := avroOptional(f.FieldID, avroName(f.Name), typ)
		if n := avroName(f.Name); n != f.Name {
			pf["iceberg-field-name"] = f.Name
		}
		part = append(part, pf)
	}
	var file []any
	if version >= 2 {
		file = append(file, avroFieldJSON(134, "content", "int"))
	}
	file = append(file, avroFieldJSON(100, "file_path", "string"), avroFieldJSON(101, "file_format", "string"),
		avroFieldJSON(102, "partition", obj{"type": "record", "name": "r102", "fields": part}),
		avroFieldJSON(103, "record_count", "long"), avroFieldJSON(104, "file_size_in_bytes", "long"))
	if version == 1 {
		file = append(file, avroFieldJSON(105, "block_size_in_bytes", "long"))
	}
	file = append(file, keyedArray(108, 117, 118, "column_sizes", "long"), keyedArray(109, 119, 120, "value_counts", "long"),
		keyedArray(110, 121, 122, "null_value_counts", "long"), keyedArray(137, 138, 139, "nan_value_counts", "long"),
		keyedArray(125, 126, 127, "lower_bounds", "bytes"), keyedArray(128, 129, 130, "upper_bounds", "bytes"),
		avroOptional(131, "key_metadata", "bytes"),
		avroOptional(132, "split_offsets", obj{"type": "array", "items": "long", "element-id": 133}))
	if version >= 2 {
		file = append(file, avroOptional(135, "equality_ids", obj{"type": "array", "items": "int", "element-id": 136}))
	}
	file = append(file, avroOptional(140, "sort_order_id", "int"))
	if version >= 3 {
		file = append(file, avroOptional(142, "first_row_id", "long"))
	}
	if version >= 2 {
		file = append(file, avroOptional(143, "referenced_data_file", "string"))
	}
	if version >= 3 {
		file = append(file, avroOptional(144, "content_offset", "long"), avroOptional(145, "content_size_in_bytes", "long"))
	}
	data := obj{"type": "record", "name": "r2", "fields": file}
	if version == 1 {
		return obj{"type": "record", "name": "manifest_entry", "fields": []any{
			avroFieldJSON(0, "status", "int"), avroFieldJSON(1, "snapshot_id", "long"), avroFieldJSON(2, "data_file", data)}}, nil
	}
	return obj{"type": "record", "name": "manifest_entry", "fields": []any{
		avroFieldJSON(0, "status", "int"), avroOptional(1, "snapshot_id", "long"), avroOptional(3, "sequence_number", "long"),
		avroOptional(4, "file_sequence_number", "long"), avroFieldJSON(2, "data_file", data)}}, nil
}

// encodeManifest writes a manifest and describes it for the list. Path, Length and the rest of
// what the list says are the caller's to fill.
func encodeManifest(version int, schema *Schema, spec *PartitionSpec, deletes bool, entries []manifestEntry) ([]byte, *Manifest, error) {
	avro, err := manifestSchema(version, spec)
	if err != nil {
		return nil, nil, err
	}
	schemaText, err := json.Marshal(schema.json())
	if err != nil {
		return nil, nil, err
	}
	specText, err := json.Marshal(specFieldsJSON(spec))
	if err != nil {
		return nil, nil, err
	}
	meta := map[string]string{"schema": string(schemaText), "schema-id": strconv.Itoa(schema.ID),
		"partition-spec": string(specText), "partition-spec-id": strconv.Itoa(spec.ID), "format-version": strconv.Itoa(version)}
	if version >= 2 {
		meta["content"] = "data"
		if deletes {
			meta["content"] = "deletes"
		}
	}
	w, err := newAvroWriter(avro, meta)
	if err != nil {
		return nil, nil, err
	}
	m := &Manifest{SpecID: spec.ID, Deletes: deletes, MinSeq: math.MaxInt64}
	sum := newPartitionSummary(spec)
	for _, e := range entries {
		if e.file.Encrypted {
			return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "file %s is encrypted and cannot be kept in a manifest that is rewritten", e.file.Path)
		}
		e.encode(&w.block, version, spec)
		if err := w.endRow(); err != nil {
			return nil, nil, err
		}
		m.count(&e)
		sum.add(e.file.Partition)
	}
	m.Partitions = sum.summaries()
	b, err := w.finish()
	return b, m, err
}

func (m *Manifest) count(e *manifestEntry) {
	switch e.status {
	case Added:
		m.AddedFiles++
		m.AddedRows += e.file.RecordCount
	case Existing:
		m.ExistingFiles++
		m.ExistingRows += e.file.RecordCount
	case Deleted:
		m.DeletedFiles++
		m.DeletedRows += e.file.RecordCount
		return // the least sequence number is that of live files
	}
	if e.seq != nil {
		m.MinSeq = min(m.MinSeq, *e.seq)
	}
}

func specFieldsJSON(spec *PartitionSpec) []specFieldJSON {
	out := []specFieldJSON{}
	for _, f := range spec.Fields {
		id := f.FieldID
		j := specFieldJSON{FieldID: &id, Name: f.Name, Transform: f.Transform.String()}
		if len(f.SourceIDs) == 1 {
			j.SourceID = &f.SourceIDs[0]
		} else {
			j.SourceIDs = f.SourceIDs
		}
		out = append(out, j)
	}
	return out
}

func (e *manifestEntry) encode(o *avroOut, version int, spec *PartitionSpec) {
	f := e.file
	o.long(int64(e.status))
	if version == 1 {
		o.long(e.snapshot)
	} else {
		o.optLong(&e.snapshot)
		o.optLong(e.seq)
		o.optLong(e.fileSeq)
		content := f.Content
		if content == DeletionVector {
			content = PositionDeletes
		}
		o.long(int64(content))
	}
	o.str(f.Path)
	o.str(upperASCII(f.Format))
	for i := range spec.Fields {
		d := types.Null
		if i < len(f.Partition) {
			d = f.Partition[i]
		}
		encodePartitionValue(o, d, spec.Fields[i].Iceberg)
	}
	o.long(f.RecordCount)
	o.long(f.FileSize)
	if version == 1 {
		o.long(64 << 20)
	}
	encodeCounts(o, f.ColumnSizes)
	encodeCounts(o, f.ValueCounts)
	encodeCounts(o, f.NullCounts)
	encodeCounts(o, f.NaNCounts)
	encodeBounds(o, f.Lower)
	encodeBounds(o, f.Upper)
	o.null() // key_metadata
	encodeLongs(o, f.SplitOffsets)
	if version >= 2 {
		var ids []int64
		for _, id := range f.EqualityIDs {
			ids = append(ids, int64(id))
		}
		encodeLongs(o, ids)
	}
	sortID := int64(f.SortOrderID)
	if f.Content == PositionDeletes || f.Content == DeletionVector {
		o.null() // position deletes are sorted by file and position, whatever the table's order
	} else {
		o.optLong(&sortID)
	}
	if version >= 3 {
		o.optLong(f.FirstRowID)
	}
	if version >= 2 {
		if f.ReferencedFile == "" {
			o.null()
		} else {
			o.some()
			o.str(f.ReferencedFile)
		}
	}
	if version >= 3 {
		if f.Content == DeletionVector {
			o.optLong(&f.ContentOffset)
			o.optLong(&f.ContentSize)
		} else {
			o.null()
			o.null()
		}
	}
}

func upperASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			b[i] = c - 32
		}
	}
	return string(b)
}

func encodeCounts(o *avroOut, m map[int]int64) {
	if m == nil {
		o.null()
		return
	}
	o.some()
	keys := sortedKeys(m)
	if len(keys) > 0 {
		o.long(int64(len(keys)))
		for _, k := range keys {
			o.long(int64(k))
			o.long(m[k])
		}
	}
	o.long(0)
}

func encodeBounds(o *avroOut, m map[int][]byte) {
	if m == nil {
		o.null()
		return
	}
	o.some()
	keys := sortedKeys(m)
	if len(keys) > 0 {
		o.long(int64(len(keys)))
		for _, k := range keys {
			o.long(int64(k))
			o.bytes(m[k])
		}
	}
	o.long(0)
}

func sortedKeys[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Ints(keys)
	return keys
}

func encodeLongs(o *avroOut, list []int64) {
	if len(list) == 0 {
		o.null()
		return
	}
	o.some()
	o.long(int64(len(list)))
	for _, v := range list {
		o.long(v)
	}
	o.long(0)
}

// partitionSummary bounds the partition values of a manifest. The empty string is a bound like
// any other: it must not be written as "no bound" (readers would prune by it).
type partitionSummary struct {
	spec   *PartitionSpec
	null   []bool
	nan    []bool
	lo, hi []types.Datum
}

func newPartitionSummary(spec *PartitionSpec) *partitionSummary {
	n := len(spec.Fields)
	return &partitionSummary{spec, make([]bool, n), make([]bool, n), make([]types.Datum, n), make([]types.Datum, n)}
}

func (p *partitionSummary) add(values []types.Datum) {
	for i := range p.spec.Fields {
		if i >= len(values) || values[i].IsNull() {
			p.null[i] = true
			continue
		}
		d, t := values[i], p.spec.Fields[i].Type
		if d.Form() == types.FormF64 && isNaN(d.Float()) {
			p.nan[i] = true
			continue
		}
		if p.lo[i].IsNull() || types.Compare(d, p.lo[i], t) < 0 {
			p.lo[i] = d
		}
		if p.hi[i].IsNull() || types.Compare(d, p.hi[i], t) > 0 {
			p.hi[i] = d
		}
	}
}

func (p *partitionSummary) summaries() []FieldSummary {
	out := make([]FieldSummary, len(p.spec.Fields))
	for i, f := range p.spec.Fields {
		out[i] = FieldSummary{ContainsNull: p.null[i], Lower: zeroDown(EncodeBound(p.lo[i], f.Iceberg), p.lo[i], f.Iceberg, true),
			Upper: zeroDown(EncodeBound(p.hi[i], f.Iceberg), p.hi[i], f.Iceberg, false)}
		if f.Iceberg == "float" || f.Iceberg == "double" {
			nan := p.nan[i]
			out[i].ContainsNaN = &nan
		}
	}
	return out
}

// zeroDown writes a zero lower bound of floats as -0.0 and an upper one as +0.0: readers that
// order the two zeros must find both within.
func zeroDown(b []byte, d types.Datum, iceberg string, lower bool) []byte {
	if iceberg != "float" && iceberg != "double" || d.IsNull() || d.Float() != 0 {
		return b
	}
	z := 0.0
	if lower {
		z = math.Copysign(0, -1)
	}
	return EncodeBound(types.NewFloat(z), iceberg)
}
