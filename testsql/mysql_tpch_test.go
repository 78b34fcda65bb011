package testsql

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
)

// TestMySQLTPCH runs the 22 TPC-H queries in both dialects over the tables that
// bench/tpch/check.sh makes and compares every value; it is skipped where they are not made.
func TestMySQLTPCH(t *testing.T) {
	dir, err := filepath.Abs("../.cache/tpch/warehouse")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "catalog.db")); err != nil {
		t.Skip("bench/tpch/check.sh has not run here")
	}
	ctx := context.Background()
	eng, err := engine.Open(ctx, engine.Config{TempDir: t.TempDir(), Catalogs: []engine.CatalogConfig{{Name: "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	pg, err := eng.NewSession(ctx, engine.SessionOptions{User: "tester", Settings: map[string]string{"search_path": "tpch"}})
	if err != nil {
		t.Fatal(err)
	}
	defer pg.Close()
	for _, collation := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_bin"} {
		my, err := eng.NewSession(ctx, engine.SessionOptions{User: "root", Dialect: "mysql"})
		if err != nil {
			t.Fatal(err)
		}
		defer my.Close()
		if err := my.Query(ctx, "SET collation_connection = "+collation, nil, nil); err != nil {
			t.Fatal(err)
		}
		if err := my.Use(ctx, "tpch"); err != nil {
			t.Fatal(err)
		}
		files, _ := filepath.Glob("../bench/tpch/queries/*.sql")
		if len(files) != 22 {
			t.Fatalf("%d queries", len(files))
		}
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			want, got := numbersOf(t, ctx, pg, string(text)), numbersOf(t, ctx, my, string(text))
			if len(got) != len(want) {
				t.Errorf("%s under %s: %d rows, want %d", filepath.Base(f), collation, len(got), len(want))
				continue
			}
			for i := range got {
				if got[i] != want[i] {
					t.Errorf("%s under %s, row %d:\n  got  %s\n  want %s", filepath.Base(f), collation, i, got[i], want[i])
					break
				}
			}
		}
	}
}

// numbersOf runs a query; numbers come rounded to the four digits that MySQL's averages have.
func numbersOf(t *testing.T, ctx context.Context, s *engine.Session, sql string) []string {
	t.Helper()
	list, err := s.Parse(sql)
	if err != nil {
		t.Fatal(sql, err)
	}
	st, err := s.Prepare(ctx, list[0], nil)
	if err != nil {
		t.Fatal(sql, err)
	}
	r, err := st.Execute(ctx, nil)
	if err != nil {
		t.Fatal(sql, err)
	}
	defer r.Close()
	var rows []string
	for {
		b, err := r.Next(ctx)
		if err != nil {
			t.Fatal(sql, err)
		}
		if b == nil {
			return rows
		}
		for k := 0; k < b.Len(); k++ {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			var cells []string
			for j, v := range b.Cols {
				d, typ := v.Datum(i), r.Columns()[j].Type
				if d.IsNull() {
					cells = append(cells, "NULL")
					continue
				}
				if typ.Kind == types.Numeric {
					cells = append(cells, types.DecimalOf(d, typ).WithScale(4).TrimScale().String())
					continue
				}
				cells = append(cells, types.Format(d, typ, s.TextOptions()))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
	}
}
