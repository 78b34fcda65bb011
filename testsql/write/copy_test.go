package write

import (
	"context"
	"encoding/binary"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lhsql/lhsql/wire/pg"
)

// COPY FROM STDIN over the wire, in its three formats: all rows or, after an error in whatever
// line, none and no file; the error says in which line, and the connection goes on.
func TestCopyFrom(t *testing.T) {
	dir := fastDir(t)
	eng := openLake(t, dir)
	defer eng.Close()
	s := openSession(t, eng)
	defer s.Close()
	ctx := context.Background()
	must := mustRows(t, s)
	must("CREATE SCHEMA s")
	must("CREATE TABLE s.t (id int NOT NULL, v text, d date)")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := pg.NewServer(eng, pg.Config{})
	go func() { _ = srv.Serve(l) }()
	defer l.Close()
	c, err := pgconn.Connect(ctx, "postgres://tester@"+l.Addr().String()+"/lake?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)

	binaryRows := func(rows ...[]any) string {
		b := []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00")
		for _, r := range rows {
			b = binary.BigEndian.AppendUint16(b, uint16(len(r)))
			for _, v := range r {
				switch v := v.(type) {
				case nil:
					b = binary.BigEndian.AppendUint32(b, 0xffffffff)
				case int:
					b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, 4), uint32(v))
				case string:
					b = append(binary.BigEndian.AppendUint32(b, uint32(len(v))), v...)
				}
			}
		}
		return string(binary.BigEndian.AppendUint16(b, 0xffff))
	}
	many := func(n int, last string) string { return strings.Repeat("7\tmany\t\\N\n", n) + last }
	for _, k := range []struct {
		sql, data string
		tag       string // of success
		code      string
		where     string // in the detail
	}{
		{sql: "COPY s.t FROM STDIN", data: "1\tone\t2026-01-01\n2\t\\N\t\\N\n3\ttab\\there\\\\\t2026-01-03\n\\.\n", tag: "COPY 3"},
		{sql: "COPY s.t (v, id) FROM STDIN", data: "x\t4\n", tag: "COPY 1"},
		{sql: "COPY s.t FROM STDIN (FORMAT csv, HEADER)", data: "id,v,d\n5,\"a, \"\"b\"\"\nc\",2026-01-05\n6,,\n7,\"\",\n", tag: "COPY 3"},
		{sql: "COPY s.t FROM STDIN (FORMAT csv, DELIMITER ';', NULL 'nil')", data: "8;nil;nil\n", tag: "COPY 1"},
		{sql: "COPY s.t FROM STDIN (FORMAT binary)", data: binaryRows([]any{9, "nine", 0}, []any{10, nil, nil}), tag: "COPY 2"},
		{sql: "COPY s.t FROM STDIN", data: many(20_000, ""), tag: "COPY 20000"},
		{sql: "COPY s.t FROM STDIN", data: "", tag: "COPY 0"},
		// Lines end as the first one does.
		{sql: "COPY s.t FROM STDIN", data: "11\tcr\t\\N\r12\tx\\\ny\t\\N\r\\.\r", tag: "COPY 2"},
		{sql: "COPY s.t FROM STDIN", data: "13\tcrlf\t\\N\r\n14\tx\t\\N\r\n", tag: "COPY 2"},
		{sql: "COPY s.t FROM STDIN (FORMAT csv, HEADER)", data: "id,v,d\r15,\"a\nb\rc\r\nd\",\r16,x,", tag: "COPY 2"},
		{sql: "COPY s.t FROM STDIN (FORMAT csv)", data: "17,\\.,\n18,x,\n\\.\n19,not read,\n", tag: "COPY 2"},

		{sql: "COPY s.t FROM STDIN", data: "1\ta\t\\N\n2\tb\t\\N\r", code: "22P04", where: "line 2"},
		{sql: "COPY s.t FROM STDIN", data: "1\ta\t\\N\r2\tb\t\\N\n", code: "22P04", where: "line 2"},
		{sql: "COPY s.t FROM STDIN", data: "1\ta\t\\N\r\n2\tb\t\\N\n", code: "22P04", where: "line 2"},
		{sql: "COPY s.t FROM STDIN (FORMAT csv)", data: "1,a,\r\n2,b\rc,\r\n", code: "22P04", where: "line 2"},
		{sql: "COPY s.t FROM STDIN", data: "1\ta\t\\N\n\\.\r\n", code: "22P04"},
		{sql: "COPY s.t FROM STDIN", data: "1\ta\t\\N\n\\.x\n", code: "22P04"},
		{sql: "COPY s.t FROM STDIN", data: many(30_000, "x\tbad\t\\N\n"), code: "22P02", where: "line 30001, column id"},
		{sql: "COPY s.t FROM STDIN", data: many(5000, "1\ttoo few\n"), code: "22P04", where: "line 5001"},
		{sql: "COPY s.t FROM STDIN", data: "1\ta\t\\N\textra\n", code: "22P04", where: "line 1"},
		{sql: "COPY s.t FROM STDIN", data: "1\ta\t2026-02-30\n", code: "22008", where: "line 1, column d"},
		{sql: "COPY s.t FROM STDIN", data: many(3, "\\N\tnull\t\\N\n"), code: "23502"},
		{sql: "COPY s.t FROM STDIN (FORMAT csv)", data: "1,a,\n2,\"open\n", code: "22P04"},
		{sql: "COPY s.t FROM STDIN (FORMAT binary)", data: "PGCOPY\nrubbish", code: "22P04"},
		{sql: "COPY s.t FROM STDIN (FORMAT binary)", data: binaryRows([]any{1, "a", 0}, []any{"12345", "a", 0}), code: "22P03", where: "line 2, column id"},
		{sql: "COPY s.t (nothere) FROM STDIN", code: "42703"},
		{sql: "COPY s.nothere FROM STDIN", code: "42P01"},
	} {
		before := must("SELECT count(*), coalesce(sum(id), 0) FROM s.t")[0]
		disk := files(t, dir)
		tag, err := c.CopyFrom(ctx, strings.NewReader(k.data), k.sql)
		after := must("SELECT count(*), coalesce(sum(id), 0) FROM s.t")[0]
		if k.tag != "" {
			if err != nil || tag.String() != k.tag {
				t.Errorf("%s, %.40q: %q, %v", k.sql, k.data, tag, err)
			}
			continue
		}
		e, ok := err.(*pgconn.PgError)
		if !ok || e.Code != k.code || !strings.Contains(e.Detail+e.Where, k.where) {
			t.Errorf("%s, %.40q: %v, want %s in %s", k.sql, k.data, err, k.code, k.where)
			if ok {
				t.Logf("detail %q, where %q", e.Detail, e.Where)
			}
		}
		if before != after || files(t, dir) != disk {
			t.Errorf("%s, %.40q left %s instead of %s:\n%s", k.sql, k.data, after, before, news(disk, files(t, dir)))
		}
		if _, err := c.Exec(ctx, "SELECT 1").ReadAll(); err != nil {
			t.Fatalf("%s: the connection is gone: %v", k.sql, err)
		}
	}
	for _, k := range []struct{ q, want string }{
		{"SELECT id, v, d FROM s.t WHERE id <> 7 ORDER BY id", "1|one|2026-01-01;2|NULL|NULL;3|tab\there\\|2026-01-03;4|x|NULL;5|a, \"b\"\nc|2026-01-05;6|NULL|NULL;8|NULL|NULL;9|nine|2000-01-01;10|NULL|NULL;11|cr|NULL;12|x\ny|NULL;13|crlf|NULL;14|x|NULL;15|a\nb\rc\r\nd|NULL;16|x|NULL;17|\\.|NULL;18|x|NULL"},
		{"SELECT count(*), count(v) FROM s.t WHERE id = 7", "20001|20001"},
	} {
		if got := strings.Join(must(k.q), ";"); got != k.want {
			t.Errorf("%s:\n%q\n-- want:\n%q", k.q, got, k.want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "warehouse/s/t/data/.lhsql-tmp-*")); len(left) > 0 {
		t.Errorf("%d half-written files", len(left))
	}
}
