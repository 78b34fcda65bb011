package timetravel

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// The table: main is 1 → 2, rolled back to 1, then → 4; branch b is 1 → 3; tag t is at 2. The
// schema had one column at 1 and 2 and has two since.
//
//	12:00   13:00   14:00 (rollback)   15:00
//	 1 ────── 2
//	 └────────┬── 3 (branch b, 13:30)
//	          1 ────────────────────── 4
const metadata = `{"format-version":2,"table-uuid":"u","location":"%s","last-sequence-number":4,"last-updated-ms":%d,"last-column-id":2,
"schemas":[{"type":"struct","schema-id":0,"fields":[{"id":1,"name":"x","required":false,"type":"long"}]},
{"type":"struct","schema-id":1,"fields":[{"id":1,"name":"x","required":false,"type":"long"},{"id":2,"name":"y","required":false,"type":"string"}]}],
"current-schema-id":1,"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,"sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0,
"properties":{"k":"v"},"current-snapshot-id":4,
"snapshots":[%s],
"snapshot-log":[{"snapshot-id":1,"timestamp-ms":%d},{"snapshot-id":2,"timestamp-ms":%d},{"snapshot-id":1,"timestamp-ms":%d},{"snapshot-id":4,"timestamp-ms":%d}],
"refs":{"main":{"snapshot-id":4,"type":"branch"},"b":{"snapshot-id":3,"type":"branch"},"t":{"snapshot-id":2,"type":"tag"},"7":{"snapshot-id":2,"type":"tag"}}}`

func at(s string) time.Time {
	t, err := time.Parse("15:04:05", s)
	if err != nil {
		panic(err)
	}
	return time.Date(2024, 5, 1, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

func testTable(t *testing.T) *lake.Table {
	t.Helper()
	dir := t.TempDir()
	snap := func(id, parent, schema int, when string) string {
		p := ""
		if parent > 0 {
			p = fmt.Sprintf(`"parent-snapshot-id":%d,`, parent)
		}
		return fmt.Sprintf(`{"snapshot-id":%d,%s"sequence-number":%d,"timestamp-ms":%d,"manifest-list":"none-%d.avro","schema-id":%d,"summary":{"operation":"append","n":"%d"}}`,
			id, p, id, at(when).UnixMilli(), id, schema, id)
	}
	text := fmt.Sprintf(metadata, dir, at("15:00:00").UnixMilli(),
		strings.Join([]string{snap(1, 0, 0, "12:00:00"), snap(2, 1, 0, "13:00:00"), snap(3, 1, 1, "13:30:00"), snap(4, 1, 1, "15:00:00")}, ","),
		at("12:00:00").UnixMilli(), at("13:00:00").UnixMilli(), at("14:00:00").UnixMilli(), at("15:00:00").UnixMilli())
	path := filepath.Join(dir, "metadata", "v1.metadata.json")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	tab, err := lake.OpenPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func TestResolve(t *testing.T) {
	tab := testTable(t)
	for name, c := range map[string]struct {
		spec   Spec
		id     int64
		schema int
		hint   string // of the error
	}{
		"now":                       {Spec{}, 4, 1, ""},
		"main":                      {Spec{Branch: "main"}, 4, 1, ""},
		"branch":                    {Spec{Branch: "b"}, 3, 1, ""},
		"tag":                       {Spec{Tag: "t"}, 2, 0, ""},
		"tag as branch":             {Spec{Branch: "t"}, 2, 0, ""},
		"branch as tag":             {Spec{Tag: "b"}, 0, 0, `It has "7", "t".`},
		"unknown branch":            {Spec{Branch: "zz"}, 0, 0, `It has "b", "main".`},
		"ref tag":                   {Spec{Ref: "t"}, 2, 0, ""},
		"ref branch":                {Spec{Ref: "b"}, 3, 1, ""},
		"ref before id":             {Spec{Ref: "7"}, 2, 0, ""},
		"ref as id":                 {Spec{Ref: "3"}, 3, 1, ""},
		"unknown ref":               {Spec{Ref: "zz"}, 0, 0, `It has "7", "b", "main", "t".`},
		"id":                        {Spec{Snapshot: 2}, 2, 0, ""},
		"id of no snapshot":         {Spec{Snapshot: 99}, 0, 0, "4, 3, 2, 1"},
		"id 0":                      {Spec{Version: true}, 0, 0, "4, 3, 2, 1"},
		"at first":                  {Spec{Time: at("12:00:00")}, 1, 0, ""},
		"between":                   {Spec{Time: at("12:59:59")}, 1, 0, ""},
		"after second":              {Spec{Time: at("13:30:00")}, 2, 0, ""},
		"after the rollback":        {Spec{Time: at("14:30:00")}, 1, 0, ""},
		"future":                    {Spec{Time: at("23:00:00")}, 4, 1, ""},
		"too early":                 {Spec{Time: at("11:00:00")}, 0, 0, "2024-05-01T12:00:00.000Z"},
		"before an instant":         {Spec{Time: at("13:00:00"), Before: true}, 1, 0, ""},
		"before the first":          {Spec{Time: at("12:00:00"), Before: true}, 0, 0, "2024-05-01T12:00:00.000Z"},
		"before a snapshot":         {Spec{Snapshot: 4, Before: true}, 1, 0, ""},
		"before the only":           {Spec{Snapshot: 1, Before: true}, 0, 0, ""},
		"branch at time":            {Spec{Branch: "b", Time: at("14:00:00")}, 3, 1, ""},
		"branch before it":          {Spec{Branch: "b", Time: at("13:29:00")}, 1, 0, ""},
		"branch too early":          {Spec{Branch: "b", Time: at("11:29:00")}, 0, 0, "2024-05-01T12:00:00.000Z"},
		"commits of b are not main": {Spec{Time: at("13:45:00")}, 2, 0, ""},
		"tag at time":               {Spec{Tag: "t", Time: at("14:00:00")}, 0, 0, ""},
	} {
		s, schema, err := Resolve(tab, c.spec)
		if c.id == 0 {
			var e *sqlerr.Error
			if !errors.As(err, &e) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("%s: %v, hint %q, want %q", name, err, e.Hint, c.hint)
			}
			continue
		}
		if err != nil || s.ID != c.id || schema.ID != c.schema {
			t.Errorf("%s: %v, %v, want %d", name, s, err, c.id)
		}
	}
}

func TestParsePin(t *testing.T) {
	berlin := time.FixedZone("", 2*3600)
	for in, want := range map[string]Spec{
		"2026-08-01T00:00Z":         {Time: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)},
		"2026-08-01":                {Time: time.Date(2026, 7, 31, 22, 0, 0, 0, time.UTC)},
		"2026-08-01 10:00:00.5+02":  {Time: time.Date(2026, 8, 1, 8, 0, 0, 5e8, time.UTC)},
		"2026-08-01T10:00:00-01:30": {Time: time.Date(2026, 8, 1, 11, 30, 0, 0, time.UTC)},
		"main":                      {Branch: "main"},
		"123":                       {Ref: "123"},
	} {
		got, err := ParsePin(in, berlin)
		if err != nil || !got.Time.Equal(want.Time) || got.Branch != want.Branch || got.Ref != want.Ref {
			t.Errorf("%s: %+v %v", in, got, err)
		}
	}
	if _, err := ParsePin(" ", nil); err == nil {
		t.Error("an empty pin was taken")
	}
}

func read(t *testing.T, v VirtualTable) [][]types.Datum {
	t.Helper()
	var out [][]types.Datum
	err := v.Rows(context.Background(), nil, func(r []types.Datum) error {
		if len(r) != len(v.Fields()) {
			t.Fatalf("%s: %d values, %d columns", v.Name(), len(r), len(v.Fields()))
		}
		out = append(out, append([]types.Datum(nil), r...))
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v", v.Name(), err)
	}
	return out
}

func TestMetadataTables(t *testing.T) {
	tab := testTable(t)
	for name, want := range map[string]int{"snapshots": 4, "history": 4, "refs": 4, "properties": 1, "metadata_log_entries": 1} {
		v, err := OpenMetadataTable(tab, strings.ToUpper(name), tab.CurrentSnapshot(), false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if rows := read(t, v); len(rows) != want {
			t.Errorf("%s: %d rows, want %d", name, len(rows), want)
		}
		if _, err := OpenMetadataTable(tab, name, tab.CurrentSnapshot(), true, nil); err == nil {
			t.Errorf("%s AS OF was taken", name)
		}
	}
	v, _ := OpenMetadataTable(tab, "history", nil, false, nil)
	var ancestors []bool
	for _, r := range read(t, v) {
		ancestors = append(ancestors, r[3].Bool())
	}
	if fmt.Sprint(ancestors) != "[true false true true]" {
		t.Errorf("ancestors %v", ancestors)
	}
}

// The metadata tables of golden tables agree with each other.
func TestGoldenMetadataTables(t *testing.T) {
	dir := os.Getenv("LHSQL_GOLDEN")
	if dir == "" {
		dir = "../../shared/golden"
	}
	for folder, want := range map[string]struct{ files, deletes, partitions int }{
		"iceberg/lineitem_iceberg":                            {1, 0, 1},
		"hive_partitioned_table":                              {0, 0, 0},
		"equality_deletes/warehouse/mydb/mytable":             {0, 0, 1},
		"equality_deletes/warehouse/mydb/mytable_partitioned": {0, 0, 0},
		"partition_decimal_bigint":                            {10, 0, 10},
	} {
		path := filepath.Join(dir, folder)
		if _, err := os.Stat(path); err != nil {
			t.Skip("no golden tables")
		}
		tab, err := lake.OpenPath(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for name := range metadataTables {
			if name == "position_deletes" {
				continue
			}
			if name == "all_files" || strings.HasPrefix(name, "all_") && strings.Contains(folder, "equality_deletes/warehouse/mydb/mytable") {
				continue // one old manifest list is missing there
			}
			v, err := OpenMetadataTable(tab, name, tab.CurrentSnapshot(), false, nil)
			if err != nil {
				t.Fatal(err)
			}
			n[name] = len(read(t, v))
		}
		if n["files"] != n["data_files"]+n["delete_files"] || n["files"] > n["entries"] || n["partitions"] > n["files"] {
			t.Errorf("%s: %v", folder, n)
		}
		if want.files > 0 && n["files"] != want.files || want.partitions > 0 && n["partitions"] != want.partitions {
			t.Errorf("%s: %v, want %v", folder, n, want)
		}
	}
}

// standIn reads no files: rows by snapshot.
type standIn map[int64][]string

func (f standIn) ReadRows(_ context.Context, _ *lake.Table, s *lake.Snapshot, _ *lake.Schema, yield func([]types.Datum) error) error {
	for _, r := range f[s.ID] {
		if err := yield([]types.Datum{types.NewInt(1), types.NewStr(r)}); err != nil {
			return err
		}
	}
	return nil
}

func (standIn) ReadPositions(context.Context, *lake.Table, *lake.DataFile, func(string, int64) error) error {
	return nil
}
func (standIn) HoldRows(context.Context, int64) error { return nil }

// Row history follows rows by value through snapshots that are read by a stand-in reader.
func TestRowHistory(t *testing.T) {
	tab := testTable(t)
	rows := map[int64][]string{1: {"a", "b", "b"}, 2: {"a", "c"}, 4: {"b", "d"}}
	history := func(spec Spec) string {
		v, err := RowHistory(tab, spec, standIn(rows))
		if err != nil {
			t.Fatal(err)
		}
		n := map[string]int{}
		for _, r := range read(t, v) {
			to := "now"
			if !r[3].IsNull() {
				to = time.UnixMicro(r[3].Int()).UTC().Format("15")
			}
			n[r[1].Str()+" "+time.UnixMicro(r[2].Int()).UTC().Format("15")+"-"+to]++
		}
		return fmt.Sprint(n)
	}
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"all":       {Spec{Range: AllTime}, "map[a 12-15:1 b 12-13:2 b 14-15:1 b 14-now:1 c 13-14:1 d 15-now:1]"},
		"between":   {Spec{Range: Between, Time: at("13:00:00"), Upper: at("14:00:00")}, "map[a 12-15:1 b 14-15:1 b 14-now:1 c 13-14:1]"},
		"from to":   {Spec{Range: FromTo, Time: at("13:00:00"), Upper: at("14:00:00")}, "map[a 12-15:1 c 13-14:1]"},
		"contained": {Spec{Range: ContainedIn, Time: at("13:00:00"), Upper: at("14:00:00")}, "map[c 13-14:1]"},
	} {
		if got := history(c.spec); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
