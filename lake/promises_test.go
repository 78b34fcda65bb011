package lake

import (
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// Rows that were held to a constraint's absence, or to a wider type, are not added once the table has
// the constraint or the narrower type.
func TestRowsMeetPromisesOfHead(t *testing.T) {
	table := func(t types.Type, props map[string]string) *Table {
		return &Table{state: state{properties: props, schemas: []*Schema{{Fields: []Field{{ID: 3, Name: "c", Iceberg: "string", Type: t}}}}}}
	}
	wide, narrow := types.Type{Kind: types.Varchar, Prec: 5}, types.Type{Kind: types.Varchar, Prec: 3}
	base := table(wide, map[string]string{"lhsql.check.old": "{3} <> ''"})
	for _, c := range []struct {
		what string
		head *Table
		kind Kind
		ok   bool
	}{
		{"a new constraint", table(wide, map[string]string{"lhsql.check.new": "{3} > ''"}), Append, false},
		{"another constraint of the name", table(wide, map[string]string{"lhsql.check.old": "{3} > ''"}), Append, false},
		{"one that is not enforced", table(wide, map[string]string{"lhsql.check.new": "not enforced:{3} > ''"}), Append, true},
		{"a constraint less", table(wide, nil), Append, true},
		{"another type", table(narrow, nil), Append, false},
		{"another type", table(narrow, nil), CopyOnWrite, false},
		{"another type, no new rows", table(narrow, nil), Compaction, true},
		{"another default", table(wide, map[string]string{"lhsql.column.3.default": "now()"}), Append, true},
	} {
		err := (&Change{Base: base, Kind: c.kind, Add: []*DataFile{{}}}).promisesStill(c.head)
		if (err == nil) != c.ok || err != nil && sqlerr.CodeOf(err) != sqlerr.SerializationFailure {
			t.Errorf("%s, kind %d: %v", c.what, c.kind, err)
		}
	}
}

// A CHECK constraint's text is kept with columns by id, whatever braces stand in it.
func TestCheckText(t *testing.T) {
	c := Check{Name: "n", SQL: "{#0} <> '{{#0}' and {#1} > 0"}
	placed, err := c.Placed(func(i int) (int, bool) { return 10 + i, true })
	if err != nil || placed.SQL != "{10} <> '{{#0}' and {11} > 0" {
		t.Fatalf("%q, %v", placed.SQL, err)
	}
	text, ok := placed.Expand(func(id int) (string, bool) { return map[int]string{10: "a", 11: "b"}[id], true })
	if !ok || text != "a <> '{#0}' and b > 0" {
		t.Errorf("%q", text)
	}
	if _, ok := placed.Expand(func(id int) (string, bool) { return "", id == 10 }); ok {
		t.Error("a column that is gone was passed over")
	}
	if back, ok := placed.ByPlace(func(id int) (int, bool) { return id - 10, true }); !ok || back.SQL != c.SQL {
		t.Errorf("%q", back.SQL)
	}
}
