package bind

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// What PostgreSQL says of each statement of testdata/postgres.sql stands in postgres.golden:
// parameter types, output columns with their types, or the error with code, hint and position.
// The test binds the same statements over tables of the same shape and compares.
//
//	go test ./sqlfront/bind -run TestPostgres -postgres 'postgres://postgres@127.0.0.1:5432/postgres'
//
// asks a server again and rewrites the golden file.
var postgresURL = flag.String("postgres", "", "ask this server and rewrite testdata/postgres.golden")

const postgresSetup = `
drop schema if exists public cascade; create schema public;
create type srow as (f int, g text);
create table t(a int, b text, c numeric(10,2), ts timestamptz, arr int[], s srow, m jsonb);
create table u(a int, x text, d date);
create table w(k bigint, n int default 7, v text);
create view v as select a, b from t where a > 1;
create table sys(oid oid primary key, relname name, indkey int2vector);
`

func TestPostgres(t *testing.T) {
	text, err := os.ReadFile("testdata/postgres.sql")
	if err != nil {
		t.Fatal(err)
	}
	var stmts []string
	for _, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "--") {
			stmts = append(stmts, strings.TrimSuffix(line, ";"))
		}
	}
	if *postgresURL != "" {
		askPostgres(t, stmts)
	}
	golden, err := os.ReadFile("testdata/postgres.golden")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, block := range strings.Split(string(golden), "\n\n") {
		if sql, answer, ok := strings.Cut(strings.TrimSpace(block), "\n"); ok {
			want[sql] = answer
		}
	}
	env := newEnv(t)
	for _, sql := range stmts {
		exp, ok := want[sql]
		if !ok {
			t.Errorf("%s\nis not in the golden file", sql)
			continue
		}
		got := answer(env, sql)
		if strings.Contains(exp, " @0") {
			// Where PostgreSQL gives no position, one is no harm.
			head, rest, _ := strings.Cut(got, "\n")
			if i := strings.LastIndex(head, " @"); i > 0 {
				got = strings.TrimSuffix(head[:i]+" @0\n"+rest, "\n")
			}
		}
		if !strings.Contains(exp, "hint:") {
			got, _, _ = strings.Cut(got, "\nhint:")
		}
		if got != exp {
			t.Errorf("%s\n  postgres: %s\n  lhsql:    %s", sql, strings.ReplaceAll(exp, "\n", "\n            "), strings.ReplaceAll(got, "\n", "\n            "))
		}
	}
}

// answer describes what bind makes of a statement, in the golden file's words.
func answer(env *Env, sql string) string {
	b, err := bindSQL(env, sql)
	if err != nil {
		e, ok := sqlerr.As(err)
		if !ok {
			return "error without a code: " + err.Error()
		}
		pos := 0
		if e.Pos >= 0 && e.Pos <= len(sql) {
			pos = utf8.RuneCountInString(sql[:e.Pos]) + 1
		}
		return errorText(string(e.Code), e.Message, e.Detail, e.Hint, pos)
	}
	var params []uint32
	for _, p := range b.Params {
		params = append(params, p.OID())
	}
	cols := make([]string, len(b.Columns))
	for i, c := range b.Columns {
		cols[i] = columnText(c)
	}
	return describeText(params, cols)
}

func columnText(c plan.Column) string { return fmt.Sprintf("%s:%d", c.Name, c.Type.OID()) }

func describeText(params []uint32, cols []string) string {
	s := "columns " + strings.Join(cols, " ")
	if len(params) > 0 {
		s = fmt.Sprintf("params %v ", params) + s
	}
	return strings.TrimSpace(s)
}

func errorText(code, msg, detail, hint string, pos int) string {
	s := fmt.Sprintf("%s: %s @%d", code, msg, pos)
	if detail != "" {
		s += "\ndetail: " + detail
	}
	if hint != "" {
		s += "\nhint: " + hint
	}
	return s
}

func askPostgres(t *testing.T, stmts []string) {
	ctx := context.Background()
	conn, err := pgconn.Connect(ctx, *postgresURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, postgresSetup).ReadAll(); err != nil {
		t.Fatal(err)
	}
	// Composite types have OIDs of their own there; here they are jsonb outside.
	oid := func(o uint32) uint32 {
		if o >= 16384 || o == 2249 {
			return types.T(types.JSONB).OID()
		}
		return o
	}
	var out strings.Builder
	for _, sql := range stmts {
		var s string
		d, err := conn.Prepare(ctx, "", sql, nil)
		if err != nil {
			var e *pgconn.PgError
			if !errors.As(err, &e) {
				t.Fatal(err)
			}
			s = errorText(e.Code, e.Message, e.Detail, e.Hint, int(e.Position))
		} else {
			var cols []string
			for _, f := range d.Fields {
				cols = append(cols, fmt.Sprintf("%s:%d", f.Name, oid(f.DataTypeOID)))
			}
			var params []uint32
			for _, p := range d.ParamOIDs {
				params = append(params, oid(p))
			}
			s = describeText(params, cols)
		}
		fmt.Fprintf(&out, "%s\n%s\n\n", sql, s)
	}
	if err := os.WriteFile("testdata/postgres.golden", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
