package testsql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/wire/pg"
)

// TestScriptsOverTheWire runs the scripts of PostgreSQL's dialect again as a client does: as text, which must be
// what the scripts expect, and every query in binary, too. Another program's decoders must find the same values
// in both forms.
func TestScriptsOverTheWire(t *testing.T) {
	files, err := scripts()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		s, err := readScript(f)
		if err != nil {
			t.Fatal(err)
		}
		if s.overWire() {
			t.Run(strings.TrimSuffix(f, ".sqlt"), func(t *testing.T) { runOverWire(t, f, s) })
		}
	}
}

// overWire tells whether a client could send a script: the clock and the session's database are set behind the
// wire's back.
func (s *script) overWire() bool {
	for i := range s.steps {
		switch s.steps[i].verb {
		case "at", "use", "dialect", "shapes":
			return false
		case "require":
			if goldenDir() == "" {
				return false
			}
		}
	}
	return true
}

func runOverWire(t *testing.T, path string, s *script) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir := t.TempDir()
	eng, err := engine.Open(ctx, engine.Config{TempDir: t.TempDir(), PathTables: []string{dir}, Catalogs: []engine.CatalogConfig{{
		Name:  "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	defer eng.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := pg.NewServer(eng, pg.Config{})
	go func() { _ = server.Serve(l) }()
	defer func() { _ = server.Shutdown(context.Background()) }()
	conns := map[string]*pgconn.PgConn{}
	connect := func(name string) *pgconn.PgConn {
		if c := conns[name]; c != nil {
			return c
		}
		c, err := pgconn.Connect(ctx, fmt.Sprintf("postgres://tester@%s/lake?sslmode=disable", l.Addr()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close(context.Background()) })
		conns[name] = c
		return c
	}
	parser, err := eng.NewSession(ctx, engine.SessionOptions{User: "tester", Database: "lake"})
	if err != nil {
		t.Fatal(err)
	}
	defer parser.Close()
	current := connect("main")
	vars := strings.NewReplacer("{golden}", goldenDir(), "{dir}", dir, "{shape}", "")
	lets := map[string]string{} // value → {name}
	for i := range s.steps {
		st := &s.steps[i]
		switch st.verb {
		case "session":
			current = connect(st.args[0])
			continue
		case "require":
			continue
		}
		sql := vars.Replace(st.sql)
		for v, name := range lets {
			sql = strings.ReplaceAll(sql, name, v)
		}
		if st.verb == "plan" {
			sql = "EXPLAIN " + sql
		}
		texts := []string{sql}
		if list, err := parser.Parse(sql); err == nil { // several in one message are one transaction
			texts = texts[:0]
			for _, p := range list {
				texts = append(texts, p.Text)
			}
		}
		var a answer
		var text *pgconn.Result
		for _, sql := range texts {
			if a, text = overWire(ctx, current, sql); a.err != nil {
				break
			}
		}
		if st.verb == "let" {
			if a.err != nil || len(a.rows) != 1 {
				t.Fatalf("%s:%d: %d rows, %v", path, st.line, len(a.rows), a.err)
			}
			lets[a.rows[0]] = "{" + st.args[0] + "}"
			continue
		}
		got := st.seen(a, lets, dir)
		if st.verb == "setup" && a.err == nil {
			continue
		}
		if got != st.want || st.verb != "error" && a.err != nil {
			t.Errorf("%s:%d: %s\n%s\n-- got:\n%s\n-- want:\n%s", path, st.line, st.verb, st.sql, got, st.want)
		}
		if st.verb == "query" && a.err == nil {
			sameInBinary(ctx, t, current, fmt.Sprintf("%s:%d", path, st.line), texts[len(texts)-1], text, st.unordered())
		}
	}
}

// overWire asks as the simple protocol does. The error is one of the engine's again.
func overWire(ctx context.Context, c *pgconn.PgConn, sql string) (a answer, last *pgconn.Result) {
	results, err := c.Exec(ctx, sql).ReadAll()
	if len(results) > 0 {
		last = results[len(results)-1]
		a.tag = last.CommandTag.String()
		for _, row := range last.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				switch {
				case v == nil:
					cells[i] = "NULL"
				case strings.HasSuffix(last.FieldDescriptions[i].Name, "_bytes_count") && string(v) != "0":
					cells[i] = "bytes"
				default:
					cells[i] = cell(string(v))
				}
			}
			a.rows = append(a.rows, strings.Join(cells, "|"))
		}
	}
	if err != nil {
		a = answer{err: engineError(err)}
	}
	return a, last
}

func engineError(err error) error {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return err
	}
	return sqlerr.New(sqlerr.Code(e.Code), "%s", e.Message).WithHint("%s", e.Hint)
}

// sameInBinary asks again for the results in binary and compares value by value what pgx makes of both forms.
func sameInBinary(ctx context.Context, t *testing.T, c *pgconn.PgConn, where, sql string, text *pgconn.Result, unordered bool) {
	t.Helper()
	r := c.ExecParams(ctx, sql, nil, nil, nil, []int16{pgtype.BinaryFormatCode}).Read()
	if e := (*pgconn.PgError)(nil); errors.As(r.Err, &e) && e.Code == string(sqlerr.ArraySubscript) {
		return // lists of lists that are no array
	}
	if r.Err != nil {
		t.Errorf("%s: in binary: %v", where, r.Err)
		return
	}
	m := pgtype.NewMap()
	lines := func(r *pgconn.Result, format int16) []string {
		var out []string
		for _, row := range r.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				cells[i] = decoded(m, r.FieldDescriptions[i].DataTypeOID, format, v)
			}
			out = append(out, strings.Join(cells, "|"))
		}
		if unordered {
			slices.Sort(out)
		}
		return out
	}
	got, want := lines(r, pgtype.BinaryFormatCode), lines(text, pgtype.TextFormatCode)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %s\n-- in binary:\n%s\n-- as text:\n%s", where, sql, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// decoded is a value as pgx reads it, as text; of a type that pgx does not read in both forms only that it is
// there.
func decoded(m *pgtype.Map, oid uint32, format int16, raw []byte) string {
	if raw == nil {
		return "NULL"
	}
	typ, ok := m.TypeForOID(oid)
	switch oid {
	case pgtype.QCharOID, pgtype.ACLItemOID, pgtype.JSONPathOID:
		ok = false
	}
	if !ok {
		return "a value"
	}
	v, err := typ.Codec.DecodeValue(m, oid, format, raw)
	if err != nil {
		return fmt.Sprintf("%s: %v", raw, err)
	}
	switch v := v.(type) {
	case time.Time:
		return v.UTC().String()
	case pgtype.Numeric: // of 0 in binary pgx drops the scale
		if v.Int != nil && v.Int.Sign() == 0 {
			return "0"
		}
	}
	if oid == pgtype.RecordOID || oid == pgtype.RecordArrayOID {
		return fieldsOnly.Replace(fmt.Sprint(v))
	}
	return fmt.Sprint(v)
}

// fieldsOnly leaves the fields of a record, which pgx reads in binary and leaves as it is in text. A date in it
// becomes an instant.
var fieldsOnly = strings.NewReplacer("(", "", ")", "", "[", "", "]", "", "{", "", "}", "", `"`, "", `\`, "", ",", "", " 00:00:00 +0000 UTC", "", " ", "", "<nil>", "", "NULL", "")
