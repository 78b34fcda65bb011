package interop

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
)

// openEngine opens an engine on a warehouse folder, with tables by path allowed below paths.
func openEngine(t testing.TB, warehouse string, paths ...string) *engine.Engine {
	t.Helper()
	eng, err := engine.Open(context.Background(), engine.Config{TempDir: t.TempDir(), PathTables: paths,
		Catalogs: []engine.CatalogConfig{{Name: "lake", Props: map[string]string{"type": "sql",
			"uri": "sqlite:///" + filepath.Join(warehouse, "catalog.db"), "warehouse": warehouse}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	return eng
}

func openSession(t testing.TB, eng *engine.Engine, database string) *engine.Session {
	t.Helper()
	s, err := eng.NewSession(context.Background(), engine.SessionOptions{User: "tester", Database: database,
		Settings: map[string]string{"TimeZone": "UTC"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func set(t testing.TB, s *engine.Session, name, value string) {
	t.Helper()
	if err := s.SetSetting(name, value); err != nil {
		t.Fatal(err)
	}
}

// result is what a query gave: rows of cells, \N for NULL.
type result struct {
	cols []engine.ResultColumn
	rows [][]string
}

// lines are the rows in the form of the expected files.
func (r *result) lines() []string {
	out := make([]string, len(r.rows))
	for i, row := range r.rows {
		out[i] = strings.Join(row, "\t")
	}
	return out
}

// query runs one SQL text in a session.
func query(s *engine.Session, sql string) (*result, error) {
	ctx := context.Background()
	list, err := s.Parse(sql)
	if err != nil {
		return nil, err
	}
	var out *result
	for _, p := range list {
		if out, err = queryOne(ctx, s, p); err != nil {
			break
		}
	}
	if e := s.EndImplicit(ctx); err == nil {
		err = e
	}
	return out, err
}

func queryOne(ctx context.Context, s *engine.Session, p engine.Parsed) (*result, error) {
	st, err := s.Prepare(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	r, err := st.Execute(ctx, nil)
	if err != nil {
		return nil, err
	}
	out := &result{cols: r.Columns()}
	o := s.TextOptions()
	err = r.Each(ctx, func(datums []types.Datum) error {
		row := make([]string, len(datums))
		for j, d := range datums {
			if d.IsNull() {
				row[j] = null
			} else {
				row[j] = field(types.Format(d, out.cols[j].Type, o))
			}
		}
		out.rows = append(out.rows, row)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// null is a NULL field.
const null = `\N`

var (
	fieldEscapes   = strings.NewReplacer(`\`, `\\`, "\t", `\t`, "\n", `\n`, "\r", `\r`)
	fieldUnescapes = strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n", `\r`, "\r")
)

// field makes a text a field of a line.
func field(s string) string { return fieldEscapes.Replace(s) }

// unfield undoes field.
func unfield(s string) string { return fieldUnescapes.Replace(s) }

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func ident(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
