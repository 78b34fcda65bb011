package syscat

import (
	_ "embed"
	"strconv"
	"strings"
	"testing"
)

//go:embed testdata/postgresql15_columns.txt
var recorded string

// What differs from PostgreSQL 15 in the types of its catalogs' columns, and why.
var differences = map[string]struct{ ours, reason string }{
	"information_schema.sql_identifier":  {"name", "there are no domains; this is the domain's base type, which drivers see on the wire"},
	"information_schema.character_data":  {"character varying", "the domain's base type"},
	"information_schema.cardinal_number": {"integer", "the domain's base type"},
	"information_schema.yes_or_no":       {"character varying", "the domain's base type, without its length"},
	"information_schema.time_stamp":      {"timestamp with time zone", "the domain's base type"},
}

// The file was read from a PostgreSQL 15 by:
//
//	SELECT n.nspname || '.' || c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod), coalesce(nullif(t.typbasetype, 0), t.oid)
//	FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid JOIN pg_type t ON t.oid = a.atttypid
//	WHERE n.nspname IN ('pg_catalog', 'information_schema') AND c.relkind IN ('r', 'v') AND a.attnum > 0 AND NOT a.attisdropped
//	ORDER BY n.nspname COLLATE "C", c.relname COLLATE "C", a.attnum
//
// with a tab between columns: the last is the type that drivers are told of.
//
// Every table and view of pg_catalog and information_schema is here as what it is there, with the
// same columns in the same order; their types differ only where differences says so.
func TestColumnsArePostgreSQLs(t *testing.T) {
	type column struct{ name, typ, oid string }
	want, kind := map[string][]column{}, map[string]string{}
	lines := strings.Split(strings.TrimSpace(recorded), "\n")
	for _, line := range lines {
		w := strings.Split(line, "\t")
		if len(w) != 5 {
			t.Fatalf("line %q", line)
		}
		want[w[0]] = append(want[w[0]], column{w[2], w[3], w[4]})
		kind[w[0]] = w[1]
	}
	if len(lines) < 2000 || len(want) < 190 {
		t.Fatalf("only %d columns of %d relations are recorded", len(lines), len(want))
	}
	used := map[string]bool{}
	for name, cols := range want {
		d := defs()[name]
		if d == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if d.view != (kind[name] == "v") {
			t.Errorf("%s: a view here is %v, there %s", name, d.view, kind[name])
		}
		if len(d.fields) != len(cols) {
			t.Errorf("%s has %d columns, want %d", name, len(d.fields), len(cols))
			continue
		}
		for i, c := range cols {
			f := d.fields[i]
			if f.Name != c.name {
				t.Errorf("%s: column %d is %s, want %s", name, i+1, f.Name, c.name)
			}
			if oid := strconv.Itoa(int(f.Type.OID())); oid != c.oid {
				t.Errorf("%s.%s has the type %s on the wire, want %s", name, c.name, oid, c.oid)
			}
			if ours := f.Type.String(); ours != c.typ {
				if x, ok := differences[c.typ]; ok && x.ours == ours {
					used[c.typ] = true
					continue
				}
				t.Errorf("%s.%s is %s, want %s", name, c.name, ours, c.typ)
			}
		}
	}
	for name, d := range defs() {
		if d.schema != "pg_catalog" && d.schema != "information_schema" {
			continue
		}
		if want[name] == nil {
			t.Errorf("PostgreSQL has no %s", name)
		}
	}
	for typ := range differences {
		if !used[typ] {
			t.Errorf("nothing differs in the type %s any more", typ)
		}
	}
}
