package testsql

import (
	"context"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/types"
)

// TestMySQLParameters: placeholders take the type that their place gives them, or the one that the
// client says.
func TestMySQLParameters(t *testing.T) {
	s := mysqlSession(t)
	ctx := context.Background()
	for _, l := range strings.Split(strings.TrimSpace(mysqlFixture), "\n") {
		if a := ask(ctx, s, l); a.err != nil {
			t.Fatal(l, a.err)
		}
		if strings.HasPrefix(l, "create database") {
			if err := s.Use(ctx, "shop"); err != nil {
				t.Fatal(err)
			}
		}
	}
	i, str, null := types.NewInt, types.NewStr, types.Null
	text, int8 := types.T(types.Text), types.T(types.Int8)
	for _, c := range []struct {
		sql    string
		given  []types.Type
		args   []types.Datum
		params string
		want   string
	}{
		{"select id from nums where id = ?", nil, []types.Datum{i(3)}, "bigint", "3"},
		{"select id from nums where id = ?", []types.Type{text}, []types.Datum{str("3x")}, "text", "3"},
		{"select id from nums where t = ? order by id", nil, []types.Datum{str("A")}, "text", "1;2"},
		{"select id from nums where id in (?, ?) order by id", nil, []types.Datum{i(2), i(4)}, "bigint, bigint", "2;4"},
		{"select id from nums where id between ? and ? order by id", []types.Type{int8, text}, []types.Datum{i(2), str("3")}, "bigint, text", "2;3"},
		{"select id from times where d >= ? order by id", nil, []types.Datum{i(19000)}, "date", "1;5"},
		{"select id from times where d >= ? order by id", []types.Type{text}, []types.Datum{str("2023-01-01")}, "text", "1;5"},
		{"select ? + 1, concat(?, 'x'), if(?, 'y', 'n')", []types.Type{int8, text, int8}, []types.Datum{i(1), str("a"), i(0)}, "bigint, text, bigint", "2|ax|n"},
		{"select ?, ? is null", []types.Type{text}, []types.Datum{str("v"), null}, "text, text", "v|1"},
		{"select id from nums order by id limit ?, ?", nil, []types.Datum{i(1), i(2)}, "bigint, bigint", "2;3"},
		{"select date_add(?, interval ? day)", []types.Type{text, int8}, []types.Datum{str("2024-02-28"), i(2)}, "text, bigint", "2024-03-01"},
		{"select case ? when 1 then 'one' else 'other' end, ? like 'A%'", []types.Type{int8, text}, []types.Datum{i(1), str("abc")}, "bigint, text", "one|1"},
		{"select count(*) from nums where i > ? and d < ? and f <> ?", nil, []types.Datum{i(0), null, null}, "bigint, numeric, double precision", "0"},
	} {
		list, err := s.Parse(c.sql)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		st, err := s.Prepare(ctx, list[0], c.given)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		var names []string
		for _, p := range st.Params() {
			names = append(names, types.T(p.Kind).String())
		}
		if got := strings.Join(names, ", "); got != c.params {
			t.Errorf("%s: parameters %s, want %s", c.sql, got, c.params)
			continue
		}
		r, err := st.Execute(ctx, c.args)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		rows, err := mysqlRows(ctx, s, r)
		if got := strings.Join(rows, ";"); err != nil || got != c.want {
			t.Errorf("%s: %s %v, want %s", c.sql, got, err, c.want)
		}
		r.Close()
	}
}
