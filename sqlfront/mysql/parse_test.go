package mysql

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// TestPositions: an error points at the byte where the text goes wrong, in the whole of it.
func TestPositions(t *testing.T) {
	for text, at := range map[string]string{
		"select 1; select 2 frm t where": "t where", // frm is an alias
		"select a from t where a >":      "",
		"select `a from t":               "`a from t",
		"select (1":                      "",
		"select 1 from t limit 1.5":      "1.5",
		"replace into t (a) values (1) on duplicate key update a = 1": "on duplicate",
	} {
		_, err := Parse(text)
		e, ok := sqlerr.As(err)
		if !ok {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if e.Pos < 0 || e.Pos > len(text) || !strings.HasPrefix(text[e.Pos:], at) || at == "" && e.Pos != len(text) {
			t.Errorf("%s: position %d, want at %q: %v", text, e.Pos, at, e)
		}
	}
}

// TestModes: sql_mode changes how text is read.
func TestModes(t *testing.T) {
	item := func(sql string, m Mode) ast.Expr {
		list, err := ParseMode(sql, m)
		if err != nil {
			t.Fatal(sql, err)
		}
		return list[0].Stmt.(*ast.QueryStmt).Query.Body.(*ast.Select).Items[0].Expr
	}
	if _, ok := item(`select "a"`, Mode{}).(*ast.Lit); !ok {
		t.Error(`"a" is no string`)
	}
	if _, ok := item(`select "a"`, Mode{ANSIQuotes: true}).(*ast.Ident); !ok {
		t.Error(`"a" is no identifier under ANSI_QUOTES`)
	}
	if _, ok := item(`select 'a' || 'b'`, Mode{}).(*ast.Or); !ok {
		t.Error("|| is no OR")
	}
	if _, ok := item(`select 'a' || 'b'`, Mode{PipesAsConcat: true}).(*ast.Call); !ok {
		t.Error("|| is no concat under PIPES_AS_CONCAT")
	}
	if l, ok := item(`select 'a\n'`, Mode{NoBackslashEscapes: true}).(*ast.Lit); !ok || l.Text != `a\n` {
		t.Error("a backslash escapes under NO_BACKSLASH_ESCAPES")
	}
}

// A statement may end with NULs, and holds none elsewhere. A comment with a later version is one.
func TestEnds(t *testing.T) {
	for sql, n := range map[string]int{"select 1\x00": 1, "select 1;\x00\x00": 1, "select 1; select 2\x00": 2, "/*!99999 nonsense */ select 1": 1} {
		if list, err := Parse(sql); err != nil || len(list) != n {
			t.Errorf("%q: %d statements, %v", sql, len(list), err)
		}
	}
	for _, sql := range []string{"select \x00 1", "select 1\x00 2", "/*!50000 nonsense */ select 1"} {
		if _, err := Parse(sql); err == nil {
			t.Errorf("%q is taken", sql)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"select a, 'b' from `t` where c = ? order by 1", "with recursive c as (select 1) select * from c",
		"merge into t using s on t.a = s.a when matched then delete", "create table t (a int unsigned not null) partitioned by (month(d))",
		"alter table t add column a int after b, drop column c", "select t.* from t for system_time as of '2020-01-01' as x", "/*! select */ 0x4g"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, m := range []Mode{{}, {ANSIQuotes: true, PipesAsConcat: true}} {
			if _, err := ParseMode(s, m); err != nil {
				if _, ok := sqlerr.As(err); !ok {
					t.Errorf("%q: %v", s, err)
				}
			}
		}
	})
}
