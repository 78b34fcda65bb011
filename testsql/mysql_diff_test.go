package testsql

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/eval/mysqlfunc"
	"github.com/lhsql/lhsql/types"
)

// The MySQL dialect beside MariaDB. The folder mysql holds cases with the answers that MariaDB 10.11 gave
// under the collation utf8mb4_uca1400_nopad_ai_ci, which is the one nearest to MySQL's
// utf8mb4_0900_ai_ci:
//
//	mysql/*.cases   statements, one a line
//	mysql/*.answers the same lines with a tab and the rows, columns by | and rows by ;
//
// With LHSQL_MARIADB, a mariadb command line, the answers are made anew. A case whose line ends in
// " -- mysql: answer" has MySQL 8's answer where the manual says that the two differ.

// mysqlFixture is what the cases read; it is made in both.
const mysqlFixture = `
create database shop
create table nums (id int, i int, b bigint, d decimal(10,2), f double, t varchar(40), s varchar(40))
insert into nums values (1, 1, 10000000000, 1.50, 1.5, 'a', '1'), (2, 2, -5, -2.25, -0.25, 'A', '2abc'), (3, -3, 0, 0.00, 1e20, 'b', ' 3 '), (4, NULL, NULL, NULL, NULL, NULL, NULL), (5, 2147483647, 9223372036854775807, 99999999.99, 0, 'é', ''), (6, 0, 7, 10.10, 3.14159, 'E', 'abc'), (7, 1, 3, 7.00, 2.5, 'ab ', '1.5e1'), (8, 5, 12, 0.05, -7.5, 'ab', '-4')
create table times (id int, d date, ts datetime(6))
insert into times values (1, '2024-02-29', '2024-02-29 12:34:56.789000'), (2, '1999-12-31', '1999-12-31 23:59:59'), (3, NULL, NULL), (4, '2020-01-01', '2020-01-01 00:00:00'), (5, '2023-07-04', '2023-07-05 06:07:08.000009')
create table words (id int, g varchar(20), w varchar(20), n int)
insert into words values (1, 'x', 'Apple', 3), (2, 'X', 'apple', 4), (3, 'y', 'Banana', 5), (4, 'Y', 'ÉCLAIR', 6), (5, 'y', 'eclair', 7), (6, NULL, 'zebra', 8), (7, 'z', NULL, 9), (8, 'z', 'banana', NULL)
`

// recordedAt is the time of the answers: a TIME that becomes a DATETIME is of the current date.
var recordedAt = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// secondsFraction finds the zeros at the end of a second's fraction: how many there are hangs on a
// declared precision, which types here do not carry.
var secondsFraction = regexp.MustCompile(`(\d\d:\d\d:\d\d(?:\.\d*[1-9])?)\.?0+\b`)

func mysqlCaseFiles(t *testing.T) []string {
	files, err := filepath.Glob("mysql/*.cases")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no cases:", err)
	}
	return files
}

func readLines(t *testing.T, path string) []string {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if l := sc.Text(); strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

// TestMySQLDialect runs every case and compares with the recorded answer.
func TestMySQLDialect(t *testing.T) {
	s := mysqlSession(t)
	for _, l := range strings.Split(strings.TrimSpace(mysqlFixture), "\n") {
		if a := ask(context.Background(), s, l); a.err != nil {
			t.Fatal(l, a.err)
		}
		if strings.HasPrefix(l, "create database") {
			if err := s.Use(context.Background(), "shop"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, file := range mysqlCaseFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			answers := strings.TrimSuffix(file, ".cases") + ".answers"
			if os.Getenv("LHSQL_MARIADB") != "" {
				recordMySQL(t, file, answers)
			}
			n, bad := 0, 0
			for _, l := range readLines(t, answers) {
				sql, want, _ := strings.Cut(l, "\t")
				sql, own, differs := strings.Cut(sql, " -- mysql: ")
				if differs {
					want = own
				}
				n++
				got := secondsFraction.ReplaceAllString(mysqlAnswer(s, sql), "$1")
				if got != want {
					bad++
					t.Errorf("%s\n  got  %s\n  want %s", sql, got, want)
				}
			}
			t.Logf("%d cases, %d differ", n, bad)
		})
	}
}

// mysqlAnswer is a statement's answer on one line, as the MySQL protocol would show it. The
// messages of errors are each system's own.
func mysqlAnswer(s *engine.Session, sql string) string {
	ctx := context.Background()
	defer s.EndImplicit(ctx)
	list, err := s.Parse(sql)
	if err != nil {
		return "ERROR"
	}
	st, err := s.Prepare(ctx, list[0], nil)
	if err != nil {
		return "ERROR"
	}
	r, err := st.Execute(ctx, nil)
	if err != nil {
		return "ERROR"
	}
	defer r.Close()
	rows, err := mysqlRows(ctx, s, r)
	if err != nil {
		return "ERROR"
	}
	if !strings.Contains(strings.ToLower(sql), "order by") {
		sort.Strings(rows)
	}
	return strings.Join(rows, ";")
}

// mysqlRows are a result's rows, columns by |.
func mysqlRows(ctx context.Context, s *engine.Session, r *engine.Result) ([]string, error) {
	var rows []string
	for {
		b, err := r.Next(ctx)
		if err != nil || b == nil {
			return rows, err
		}
		for k := 0; k < b.Len(); k++ {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			var cells []string
			for j, v := range b.Cols {
				cells = append(cells, mysqlCell(v.Datum(i), r.Columns()[j].Type, s.TextOptions()))
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
	}
}

func mysqlCell(d types.Datum, t types.Type, o *types.TextOptions) string {
	if d.IsNull() {
		return "NULL"
	}
	switch t.Kind {
	case types.Bool:
		if d.Bool() {
			return "1"
		}
		return "0"
	case types.Float8:
		return mysqlfunc.MySQLDouble(d.Float())
	case types.Timestamp:
		return mysqlfunc.MySQLDatetime(d.Int())
	case types.Interval:
		return mysqlfunc.MySQLTime(types.IntervalOf(d.W128()).Micros)
	case types.Bytea:
		return mysqlEscape(d.Str())
	}
	return mysqlEscape(types.Format(d, t, o))
}

func mysqlEscape(s string) string {
	return strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, "\x00", `\0`).Replace(s)
}

// recordMySQL asks MariaDB. Fractions of a second that are all zero are no difference: here a
// value shows them where it has any.
func recordMySQL(t *testing.T, cases, answers string) {
	lines := readLines(t, cases)
	var in strings.Builder
	in.WriteString("set names utf8mb4 collate utf8mb4_uca1400_nopad_ai_ci;\nset time_zone='+00:00';\nset timestamp=" + strconv.FormatInt(recordedAt.Unix(), 10) + ";\nset sql_mode='STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,ONLY_FULL_GROUP_BY,NO_ZERO_DATE,NO_ZERO_IN_DATE';\ndrop database if exists shop;\n")
	for _, l := range strings.Split(strings.TrimSpace(mysqlFixture), "\n") {
		in.WriteString(l + ";\n")
		if strings.HasPrefix(l, "create database") {
			in.WriteString("use shop;\n")
		}
	}
	for i, l := range lines {
		sql, _, _ := strings.Cut(l, " -- mysql: ")
		fmt.Fprintf(&in, "select 'case %d';\n%s;\n", i, sql)
	}
	cmd := exec.Command("sh", "-c", os.Getenv("LHSQL_MARIADB")+" --no-auto-rehash -f -N -B")
	cmd.Stdin = strings.NewReader(in.String())
	out, _ := cmd.Output()
	rows := map[int][]string{}
	at := -1
	for _, l := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
		if n, err := fmt.Sscanf(l, "case %d", new(int)); n == 1 && err == nil {
			fmt.Sscanf(l, "case %d", &at)
			rows[at] = []string{}
			continue
		}
		rows[at] = append(rows[at], strings.ReplaceAll(l, "\t", "|"))
	}
	if len(rows) < len(lines) {
		t.Fatalf("MariaDB answered %d of %d cases", len(rows), len(lines))
	}
	failed := mariadbErrors(t, in.String())
	var b strings.Builder
	for i, l := range lines {
		r := rows[i]
		sql, _, _ := strings.Cut(l, " -- mysql: ")
		if !strings.Contains(strings.ToLower(sql), "order by") {
			sort.Strings(r)
		}
		text := strings.Join(r, ";")
		if failed[i] {
			text = "ERROR"
		}
		b.WriteString(l + "\t" + secondsFraction.ReplaceAllString(text, "$1") + "\n")
	}
	if err := os.WriteFile(answers, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// mariadbErrors tells which cases fail: each line of input is one statement, and errors name it.
func mariadbErrors(t *testing.T, in string) map[int]bool {
	cmd := exec.Command("sh", "-c", os.Getenv("LHSQL_MARIADB")+" --no-auto-rehash -f -N -B 2>&1 >/dev/null")
	cmd.Stdin = strings.NewReader(in)
	out, _ := cmd.Output()
	failed := map[int]bool{}
	lines := strings.Split(in, "\n")
	for _, l := range strings.Split(string(out), "\n") {
		_, rest, ok := strings.Cut(l, " at line ")
		if !ok {
			continue
		}
		var n int
		fmt.Sscanf(rest, "%d", &n)
		for k := n - 1; k > 0 && k < len(lines); k-- {
			var c int
			if m, _ := fmt.Sscanf(lines[k], "select 'case %d'", &c); m == 1 {
				failed[c] = true
				break
			}
		}
	}
	return failed
}

// mysqlSession opens an engine of its own with a session of the dialect.
func mysqlSession(t *testing.T) *engine.Session {
	ctx := context.Background()
	begin := time.Now()
	dir := t.TempDir()
	eng, err := engine.Open(ctx, engine.Config{TempDir: t.TempDir(), Clock: func() time.Time { return recordedAt.Add(time.Since(begin)) }, Catalogs: []engine.CatalogConfig{{Name: "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { eng.Close() })
	s, err := eng.NewSession(ctx, engine.SessionOptions{User: "root", Dialect: "mysql", Settings: map[string]string{"TimeZone": "UTC"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := s.Query(ctx, "SET sql_mode = 'ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES'", nil, nil); err != nil {
		t.Fatal(err)
	}
	return s
}
