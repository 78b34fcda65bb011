package main

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// hostileMetadata are tables whose metadata makes much of little: files of a few hundred kilobytes that
// are a gigabyte decompressed, entries of a few bytes that are a hundred times as large in memory. They
// are made in folder.
func hostileMetadata(folder string) ([]statement, error) {
	snapshots := func(n int, more string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,{"snapshot-id":%d,"timestamp-ms":1%s}`, i+10, more)
		}
		return b.String()
	}
	const many = 8_000_000
	manifest := avroFile([]avroField{{"status", "int", 0}, {"snapshot_id", nullable("long"), 1}, {"sequence_number", nullable("long"), 3}, {"file_sequence_number", nullable("long"), 4},
		{"data_file", record("r2", []avroField{{"content", "int", 134}, {"file_path", "string", 100}, {"file_format", "string", 101}, {"partition", record("r102", nil), 102}, {"record_count", "long", 103}, {"file_size_in_bytes", "long", 104}}), 2}},
		append(zigzag(1, 0, 0, 0, 0), append(append(text("f"), text("PARQUET")...), zigzag(1, 1)...)...), many)
	var all []statement
	for _, t := range []struct {
		name, metadata string
		gzip           bool
		files          map[string][]byte
	}{
		{name: "3 million snapshots in 7 MB", metadata: metadata(snapshots(3_000_000, ""), ""), gzip: true},
		{name: "a property of 900 MB in 875 KB", metadata: metadata("", `"a":"`+strings.Repeat("x", 900_000_000)+`"`), gzip: true},
		{name: "metadata of 200 MB", metadata: metadata(snapshots(2_700_000, `,"summary":{"operation":"append"}`), "")},
		{name: "a manifest list of 8 million", metadata: metadata("", ""), files: map[string][]byte{"l.avro": manifestList("m.avro", 1, many)}},
		{name: "a manifest of 8 million files", metadata: metadata("", ""), files: map[string][]byte{"m.avro": manifest}},
	} {
		dir := filepath.Join(folder, fmt.Sprint(len(all)))
		meta := filepath.Join(dir, "metadata")
		if err := os.MkdirAll(meta, 0o755); err != nil {
			return nil, err
		}
		if t.files["m.avro"] != nil {
			t.files["l.avro"] = manifestList(filepath.Join(meta, "m.avro"), many, 1)
		}
		b := []byte(strings.ReplaceAll(t.metadata, "LOCATION", dir))
		if t.gzip {
			var z bytes.Buffer
			w := gzip.NewWriter(&z)
			if _, err := w.Write(b); err != nil {
				return nil, err
			}
			if err := w.Close(); err != nil {
				return nil, err
			}
			b = z.Bytes()
		}
		if err := os.WriteFile(filepath.Join(meta, "v1.metadata.json"), b, 0o644); err != nil {
			return nil, err
		}
		for name, b := range t.files {
			if err := os.WriteFile(filepath.Join(meta, name), b, 0o644); err != nil {
				return nil, err
			}
		}
		st := small("table with "+t.name, "select count(*) from iceberg('"+dir+"')")
		st.codes = append(st.codes, "58030", "42501") // with memory enough it comes to files that are not there
		all = append(all, st)
	}
	return all, nil
}

// metadata is a table's metadata file whose current snapshot has the manifest list l.avro.
func metadata(snapshots, properties string) string {
	return `{"format-version":2,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"LOCATION","last-sequence-number":1,"last-updated-ms":1,"last-column-id":1,` +
		`"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"a","required":false,"type":"int"}]}],"current-schema-id":0,` +
		`"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,"sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0,` +
		`"current-snapshot-id":7,"snapshots":[{"snapshot-id":7,"timestamp-ms":1,"sequence-number":1,"manifest-list":"LOCATION/metadata/l.avro","summary":{"operation":"append"}}` + snapshots + `],` +
		`"properties":{` + properties + `},"refs":{"main":{"snapshot-id":7,"type":"branch"}}}`
}

// manifestList lists one manifest with so many added files, several times.
func manifestList(path string, files int64, times int) []byte {
	fields := []avroField{{"manifest_path", "string", 500}, {"manifest_length", "long", 501}, {"partition_spec_id", "int", 502}, {"content", "int", 517}, {"sequence_number", "long", 515},
		{"min_sequence_number", "long", 516}, {"added_snapshot_id", "long", 503}, {"added_files_count", "int", 504}, {"existing_files_count", "int", 505}, {"deleted_files_count", "int", 506},
		{"added_rows_count", "long", 512}, {"existing_rows_count", "long", 513}, {"deleted_rows_count", "long", 514}}
	return avroFile(fields, append(text(path), zigzag(1, 0, 0, 1, 1, 7, files, 0, 0, files, 0, 0)...), times)
}

// avroField is a field of an Avro record with its Iceberg field id.
type avroField struct {
	Name string `json:"name"`
	Type any    `json:"type"`
	ID   int    `json:"field-id"`
}

func nullable(t string) any { return []string{"null", t} }

func record(name string, fields []avroField) any {
	if fields == nil {
		fields = []avroField{}
	}
	return map[string]any{"type": "record", "name": name, "fields": fields}
}

// avroFile is an object container file with one block, deflated, of one row many times.
func avroFile(fields []avroField, row []byte, times int) []byte {
	schema, err := json.Marshal(record("row", fields))
	if err != nil {
		panic(err)
	}
	b := append([]byte("Obj\x01"), zigzag(3)...)
	for _, kv := range [][2]string{{"avro.schema", string(schema)}, {"avro.codec", "deflate"}, {"format-version", "2"}} {
		b = append(append(b, text(kv[0])...), text(kv[1])...)
	}
	const marker = "0123456789abcdef"
	b = append(append(b, zigzag(0)...), marker...)
	var z bytes.Buffer
	w, err := flate.NewWriter(&z, flate.BestCompression)
	if err != nil {
		panic(err)
	}
	for n := times; n > 0; n -= 10_000 {
		if _, err := w.Write(bytes.Repeat(row, min(n, 10_000))); err != nil {
			panic(err) // into memory
		}
	}
	w.Close()
	b = append(b, zigzag(int64(times), int64(z.Len()))...)
	return append(append(b, z.Bytes()...), marker...)
}

func zigzag(v ...int64) (b []byte) {
	for _, n := range v {
		b = binary.AppendVarint(b, n)
	}
	return b
}

func text(s string) []byte { return append(zigzag(int64(len(s))), s...) }
