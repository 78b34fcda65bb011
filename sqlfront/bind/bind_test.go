package bind

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

var update = flag.Bool("update", false, "rewrite testdata/plans.golden")

// TestPlans compares the bound plans of testdata/plans.sql with testdata/plans.golden.
func TestPlans(t *testing.T) {
	text, err := os.ReadFile("testdata/plans.sql")
	if err != nil {
		t.Fatal(err)
	}
	env := newEnv(t)
	var out strings.Builder
	for _, sql := range strings.Split(string(text), "\n") {
		if sql == "" || strings.HasPrefix(sql, "--") {
			continue
		}
		b, err := bindSQL(env, sql)
		got := ""
		if err != nil {
			got = "error: " + err.Error() + "\n"
		} else {
			got = dump(b.Plan)
		}
		fmt.Fprintf(&out, "%s\n%s\n", sql, got)
	}
	if *update {
		if err := os.WriteFile("testdata/plans.golden", []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	golden, err := os.ReadFile("testdata/plans.golden")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(string(golden), "\n\n")
	for i, got := range strings.Split(out.String(), "\n\n") {
		if i >= len(want) || got != want[i] {
			w := "nothing"
			if i < len(want) {
				w = want[i]
			}
			t.Errorf("got\n%s\nwant\n%s", got, w)
		}
	}
}

// TestOwnErrors: what PostgreSQL has and lhsql refuses, or has otherwise.
func TestOwnErrors(t *testing.T) {
	env := newEnv(t)
	for _, c := range []struct{ sql, want string }{
		{"select * from (select a into x from t) y", "42601: SELECT ... INTO is not allowed here"},
		{"with x as (delete from t returning *) select * from x", "0A000: data-modifying statements in WITH are not supported"},
		{"select * from loop", "42P19: infinite recursion detected in view \"loop\""},
		{"select * from bad", "42703: column \"nosuch\" does not exist"},
		{"delete from v", "42809: \"v\" is a view and cannot be written"},
		{"delete from sys", "42809: \"sys\" is a system table and cannot be written"},
		{"insert into t for system_time as of now() values (1)", ""},
		{"merge into t using u on t.a = u.a when matched then update set *", "42703: column \"b\" does not exist in the source of MERGE"},
		{"select * from t for system_time as of a", "42703: column \"a\" does not exist"},
		{"select * from t for system_time as of (1 = 1)", "42804: a time-travel clause needs a timestamp, not type boolean"},
		{"select * from t for system_time as of null", "22004: a time-travel clause must not be NULL"},
		{"select * from t for system_version as of 1.5", "42804: a version is a snapshot id or the name of a branch or tag, not of type numeric"},
		{"select * from t for system_time as of 'nonsense'", "22007: invalid input syntax for type timestamp with time zone: \"nonsense\""},
		{"create table z (a int, a int)", "42701: column \"a\" specified more than once"},
		{"create table z (a nosuch)", "42704: type \"nosuch\" does not exist"},
		{"create table z (a int default 'x')", "22P02: invalid input syntax for type integer: \"x\""},
		{"create view z as select $1::int", "0A000: views must not contain parameters"},
		{"alter table nosuch add column x int", "42P01: relation \"nosuch\" does not exist"},
		{"alter table t alter column nosuch type int8", "42703: column \"nosuch\" of relation \"t\" does not exist"},
		{"comment on column t.nosuch is 'x'", "42703: column \"nosuch\" of relation \"t\" does not exist"},
		{"copy t (nosuch) from stdin", "42703: column \"nosuch\" of relation \"t\" does not exist"},
		{"select " + strings.Repeat("abs(", 2500) + "1" + strings.Repeat(")", 2500), "54001: "},
		{"select 1" + strings.Repeat("+1", 20000), "54001: "},
	} {
		_, err := bindSQL(env, c.sql)
		if err == nil {
			t.Errorf("%.100s: no error, want %s", c.sql, c.want)
			continue
		}
		got := string(sqlerr.CodeOf(err)) + ": " + err.Error()
		if e, ok := sqlerr.As(err); ok {
			got = string(e.Code) + ": " + e.Message
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%.100s\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// TestTimeTravel: the clause's value reaches the catalog, whatever spelling and type it has. The
// session's zone is Berlin's and now is 2026-08-01 12:00 UTC.
func TestTimeTravel(t *testing.T) {
	env := newEnv(t)
	at := func(s string) timetravel.Spec {
		x, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return timetravel.Spec{Time: x}
	}
	for _, c := range []struct {
		sql  string
		want timetravel.Spec
	}{
		{"select a from t for system_time as of '2026-07-01 10:00'", at("2026-07-01T08:00:00Z")},
		{"select a from t for timestamp as of timestamp '2026-01-01 10:00'", at("2026-01-01T09:00:00Z")},
		{"select a from t timestamp as of date '2026-07-01'", at("2026-06-30T22:00:00Z")},
		{"select a from t timestamp as of 1700000000", at("2023-11-14T22:13:20Z")},
		{"select a from t for system_time as of now() - interval '1 day'", at("2026-07-31T12:00:00Z")},
		{"select a from t for system_time as of '2026-07-01 10:00Z'::timestamptz as x", at("2026-07-01T10:00:00Z")},
		{"select a from t for system_version as of 42", timetravel.Spec{Snapshot: 42, Version: true}},
		{"select a from t version as of 'rel-1'", timetravel.Spec{Ref: "rel-1"}},
		{"select a from t at (timestamp => '2026-07-01 10:00Z')", at("2026-07-01T10:00:00Z")},
		{"select a from t before (timestamp => '2026-07-01 10:00Z')", timetravel.Spec{Time: at("2026-07-01T10:00:00Z").Time, Before: true}},
		{"select a from t at (offset => -3600)", at("2026-08-01T11:00:00Z")},
	} {
		cat := env.Catalog.(*fakeCatalog)
		cat.asked = nil
		if _, err := bindSQL(env, c.sql); err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		got := cat.asked[0].When.Spec
		same := got.Time.Equal(c.want.Time) && got.Upper.Equal(c.want.Upper)
		got.Time, got.Upper, c.want.Time, c.want.Upper = time.Time{}, time.Time{}, time.Time{}, time.Time{}
		if !same || got != c.want {
			t.Errorf("%s\n got %+v\nwant %+v", c.sql, cat.asked[0].When.Spec, c.want)
		}
	}

	// A clause behind a view or a subquery pins the tables inside.
	for _, sql := range []string{"select a from v for system_version as of 42", "select * from (select a from t) for system_version as of 42 as q"} {
		cat := env.Catalog.(*fakeCatalog)
		cat.asked = nil
		if _, err := bindSQL(env, sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		} else if last := cat.asked[len(cat.asked)-1]; last.Parts[0] != "t" || last.When.Spec.Snapshot != 42 {
			t.Errorf("%s: asked for %+v", sql, last)
		}
	}

	// The history of rows is another relation, with other columns.
	b, err := bindSQL(env, "select * from t for system_time all where valid_from > '2026-01-01'")
	if err != nil || len(b.Columns) != 2 {
		t.Errorf("history: %v", err)
	}

	// A parameter: unknown at Prepare, known at Execute.
	const sql = "select a from t for system_time as of $1 where a = $2"
	b, err = bindSQL(env, sql)
	if err != nil {
		t.Fatal(err)
	}
	if !b.ParamDependent || b.Params[0].Kind != types.TimestampTZ || b.Params[1].Kind != types.Int4 {
		t.Errorf("prepare: dependent %v, params %v", b.ParamDependent, b.Params)
	}
	env.Args = []types.Datum{types.NewInt(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC).UnixMicro()), types.NewInt(5)}
	cat := env.Catalog.(*fakeCatalog)
	cat.asked = nil
	if _, err = bindSQL(env, sql, b.Params...); err != nil {
		t.Fatal(err)
	}
	if w := cat.asked[0].When; w.Pending || !w.Spec.Time.Equal(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("execute: %+v", w)
	}
}

// TestOrigins: RowDescription's table and attribute numbers go through subqueries, joins and
// CTEs, and stop at expressions and set operations.
func TestOrigins(t *testing.T) {
	env := newEnv(t)
	for _, c := range []struct {
		sql  string
		want []int16
	}{
		{"select b, a, a+1 from t", []int16{2, 1, 0}},
		{"select q.b from (select a, b from t) q", []int16{2}},
		{"with r as (select a, b from t) select r.b, r2.a from r, r r2", []int16{2, 1}},
		{"select a, b from t join u using (a) order by a", []int16{1, 2}},
		{"select b, count(*) from t group by b", []int16{2, 0}},
		{"select b from t union select x from u", []int16{0}},
		{"select b from v", []int16{2}},
	} {
		b, err := bindSQL(env, c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		for i, col := range b.Columns {
			if col.Attnum != c.want[i] || (col.TableOID != 0) != (c.want[i] != 0) {
				t.Errorf("%s: column %s comes from %d.%d, want attribute %d", c.sql, col.Name, col.TableOID, col.Attnum, c.want[i])
			}
		}
	}
}

// TestNumericTypes: literals and arithmetic of decimals keep an exact scale while there is one.
func TestNumericTypes(t *testing.T) {
	env := newEnv(t)
	for _, c := range []struct{ expr, want string }{
		{"1.50", "3,2"}, {"0.001", "4,3"}, {"123456789012345678901234567890", "30,0"}, {"1e2", "3,0"}, {"1.5e1", "2,0"},
		{"123456789012345678901234567890123456789012", "-"}, {"1.5/2", "-"}, {"c", "10,2"}, {"-1.5", "2,1"},
	} {
		b, err := bindSQL(env, "select "+c.expr+" from t")
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		typ := b.Columns[0].Type
		got := "-"
		if typ.Fixed {
			got = fmt.Sprintf("%d,%d", typ.Prec, typ.Scale)
		}
		if typ.Kind != types.Numeric || got != c.want {
			t.Errorf("%s has type %s %s, want %s", c.expr, typ, got, c.want)
		}
	}
}

// TestStatements: DDL and utility statements come back with their parts evaluated.
func TestStatements(t *testing.T) {
	env := newEnv(t)
	bindOK := func(sql string) *Bound {
		t.Helper()
		b, err := bindSQL(env, sql)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return b
	}
	b := bindOK("create table z (a int not null default 1+1, b decimal(10,2), s struct<x: int, y: array<text>>, m map<text, int>, primary key (a))")
	if c := b.Create; len(c.Columns) != 4 || c.Columns[0].Default.Int() != 2 || c.Columns[1].Type.String() != "numeric(10,2)" ||
		c.Columns[2].Type.String() != "struct<x integer, y text[]>" || c.Identifier[0] != "a" {
		t.Errorf("create table: %+v", b.Create)
	}
	b = bindOK("create table z as select a, 'x' as b, c*2 as c from t")
	if c := b.Create; !c.As || len(c.Columns) != 3 || c.Columns[1].Type.Kind != types.Text || b.Plan == nil {
		t.Errorf("create table as: %+v", b.Create)
	}
	b = bindOK("alter table t add column z int default 5")
	if a := b.Alter[0]; b.Target.Name != "t" || a.Column.Default.Int() != 5 {
		t.Errorf("alter: %+v", b.Alter[0])
	}
	if b = bindOK("alter table if exists nosuch add column z int"); b.Target != nil {
		t.Errorf("alter if exists: %+v", b.Target)
	}
	b = bindOK("copy w (k, v) from stdin where k > 1")
	if len(b.Copy.Columns) != 2 {
		t.Errorf("copy: %+v", b.Copy.Columns)
	}
	n := b.Copy.Plan(&plan.Values{Cols: b.Copy.Columns})
	if got := dump(n); !strings.Contains(got, "Project k, n := 7, v") || !strings.Contains(got, "Filter (k > 1)") {
		t.Errorf("copy plan:\n%s", got)
	}
	b = bindOK("copy (select a from t) to stdout")
	if len(b.Copy.Columns) != 1 || b.Plan == nil {
		t.Errorf("copy to: %+v", b.Copy)
	}
	b = bindOK("explain select a from t")
	if b.Inner == nil || len(b.Inner.Columns) != 1 || b.Columns[0].Name != "QUERY PLAN" {
		t.Errorf("explain: %+v", b)
	}
	b = bindOK("insert into t select * from t where a = $1")
	if len(b.Tables) != 2 || !b.Tables[0].Write || b.Tables[1].Write {
		t.Errorf("tables: %+v", b.Tables)
	}
	b = bindOK("create view z(p) as select a, b from t")
	if b.ViewColumns[0].Name != "p" || b.ViewColumns[1].Name != "b" {
		t.Errorf("view: %+v", b.ViewColumns)
	}
}
