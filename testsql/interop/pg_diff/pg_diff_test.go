// Package pgdiff asks: does lhsql answer what PostgreSQL answers?
//
// The tests beside it generate queries of the kinds in which the two are most easily apart and ask
// both. They need PostgreSQL's server, which they start on a socket of their own.
package pgdiff

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/wire/pg"
)

var (
	queries = flag.Int("queries", 600, "how many generated statements to ask")
	seed    = flag.Int64("seed", 1, "of the first; each takes its own")
	only    = flag.String("kind", "", "only kinds whose name contains this")
)

// TestGeneratedQueries asks PostgreSQL and lhsql the same generated queries: the same columns'
// types, the same rows in any order, or the same SQLSTATE.
func TestGeneratedQueries(t *testing.T) {
	ctx := context.Background()
	judge := startPostgres(t)
	house := startHouse(t)
	for _, q := range fixture {
		for _, c := range []*pgconn.PgConn{judge, house} {
			if a := ask(ctx, c, q); a.code != "" {
				t.Fatalf("%s: %s", q, a)
			}
		}
	}
	shares := 0
	for _, k := range kinds {
		shares += k.share
	}
	count := map[string]int{}
	asked, failed, bad := 0, 0, 0
	for s := *seed; asked < *queries; s++ {
		g := &gen{r: rand.New(rand.NewSource(s))}
		n, kind := g.r.Intn(shares), 0
		for n >= kinds[kind].share {
			n -= kinds[kind].share
			kind++
		}
		if !strings.Contains(kinds[kind].name, *only) {
			continue
		}
		for _, q := range kinds[kind].make(g) {
			want, got := ask(ctx, judge, q), ask(ctx, house, q)
			asked++
			if want.code != "" {
				failed++
			}
			verdict := compare(want, got)
			if verdict == equal && !merging.MatchString(q) {
				verdict = differs
			}
			count[kinds[kind].name+": "+verdict]++
			if verdict == differs {
				if bad++; bad <= 20 {
					t.Errorf("seed %d, %s\n%s\n-- PostgreSQL: %s\n-- lhsql:      %s", s, kinds[kind].name, q, want, got)
				}
			}
		}
	}
	t.Logf("%d statements, %d errors in PostgreSQL, %d differences", asked, failed, bad)
	var names []string
	for n := range count {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		t.Logf("%7d %s", count[n], n)
	}
}

// The verdicts of a comparison.
const (
	same = "the same"
	// PostgreSQL computes constants, and parts of a query that turn out not to be needed, before it
	// knows; what is not computed here cannot fail.
	needless  = "PostgreSQL fails at what is not needed"
	otherFail = "both fail, at another of several values"
	// The one row that UNION makes of 2 and 2.0 is either.
	equal   = "of equal numbers, another one stands for them"
	missing = "lhsql says that it lacks something"
	differs = "different"
)

// rowErrors are errors that a value causes: which value is met first is open.
var rowErrors = map[string]bool{"22003": true, "22012": true, "22008": true, "22P02": true, "2201F": true, "2201E": true, "22023": true, "22007": true, "22009": true}

func compare(want, got answer) string {
	switch {
	case want.code == "0A000" && got.code == "" || got.code == "0A000":
		return missing
	case want.code == got.code && want.code != "":
		return same
	case rowErrors[want.code] && rowErrors[got.code], want.code == "42P16" && got.code == "42701":
		return otherFail // a view that is wrong in two ways, too
	case rowErrors[want.code] && got.code == "":
		return needless
	case want.code != got.code || want.types != got.types || len(want.rows) != len(got.rows):
		return differs
	}
	scale := false
	for i := range want.rows {
		if want.rows[i] == got.rows[i] {
			continue
		}
		if scale = equalNumbers(want.rows[i], got.rows[i]); !scale {
			return differs
		}
	}
	if scale {
		return equal
	}
	return same
}

// What a number's scale adds to its value.
var (
	zeroFraction  = regexp.MustCompile(`\.0+\b`)
	trailingZeros = regexp.MustCompile(`(\.\d*?[1-9])0+\b`)
)

// equalNumbers tells whether two rows differ in the scale of equal numbers only.
func equalNumbers(a, b string) bool {
	norm := func(s string) string {
		return trailingZeros.ReplaceAllString(zeroFraction.ReplaceAllString(s, ""), "$1")
	}
	return norm(a) == norm(b)
}

// merging finds what lets one of several equal values stand for all.
var merging = regexp.MustCompile(`\b(union|intersect|except|distinct|group by)\b`)

// answer is a statement's outcome: a SQLSTATE, or the oids of its columns and its rows, sorted.
type answer struct {
	code, message string
	types         string
	rows          []string
}

func (a answer) String() string {
	if a.code != "" {
		return a.code + " " + a.message
	}
	shown := a.rows
	if len(shown) > 12 {
		shown = shown[:12]
	}
	return fmt.Sprintf("%s %d rows: %s", a.types, len(a.rows), strings.Join(shown, "; "))
}

func ask(ctx context.Context, c *pgconn.PgConn, sql string) answer {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	list, err := c.Exec(ctx, sql).ReadAll()
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return answer{code: e.Code, message: e.Message}
	}
	if err != nil {
		return answer{code: "lost", message: err.Error()}
	}
	a := answer{}
	for _, r := range list {
		for _, f := range r.FieldDescriptions {
			a.types += strconv.Itoa(int(f.DataTypeOID)) + " "
		}
		for _, row := range r.Rows {
			cells := make([]string, len(row))
			for i, v := range row {
				if cells[i] = "NULL"; v != nil {
					cells[i] = string(v)
					if cells[i] == "-0" {
						cells[i] = "0" // which of two equal zeros stands for a group is open
					}
				}
			}
			a.rows = append(a.rows, strings.Join(cells, "|"))
		}
	}
	sort.Strings(a.rows)
	return a
}

// startHouse serves an empty warehouse and connects to it.
func startHouse(t *testing.T) *pgconn.PgConn {
	ctx := context.Background()
	dir := t.TempDir()
	eng, err := engine.Open(ctx, engine.Config{TempDir: filepath.Join(dir, "tmp"), MemoryLimit: 1 << 30, PageCache: 4 << 20, Catalogs: []engine.CatalogConfig{{
		Name:  "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := pg.NewServer(eng, pg.Config{})
	go func() { _ = srv.Serve(l) }()
	c, err := pgconn.Connect(ctx, "postgres://tester@"+l.Addr().String()+"/lake?sslmode=disable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(ctx); l.Close(); eng.Close() })
	return c
}

// startPostgres starts a server of its own and connects to it. Where there is none the test is
// skipped; LHSQL_POSTGRES names the folder of another's programs.
func startPostgres(t *testing.T) *pgconn.PgConn {
	bin := postgresPrograms()
	if bin == "" {
		t.Skip("PostgreSQL's server is not installed: no comparison with it (LHSQL_POSTGRES names the folder of its programs)")
	}
	dir, err := os.MkdirTemp("", "lhsql-pg")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	who := unprivileged(t, dir)
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(filepath.Join(bin, name), args...)
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
		return c
	}
	data := filepath.Join(dir, "data")
	if out, err := command("initdb", "-D", data, "-E", "UTF8", "--locale=C.UTF-8", "-A", "trust", "-U", "postgres", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	srv := command("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "timezone=UTC", "-c", "max_connections=20")
	srv.Stdout, srv.Stderr = log, log
	if err := srv.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = srv.Process.Signal(os.Interrupt) // a fast shutdown
		_ = srv.Wait()
	})
	ctx := context.Background()
	for i := 0; ; i++ {
		c, err := pgconn.Connect(ctx, "host="+dir+" user=postgres dbname=postgres")
		if err == nil {
			t.Cleanup(func() { c.Close(ctx) })
			if a := ask(ctx, c, "show server_version"); a.code == "" {
				t.Logf("PostgreSQL %s", a.rows[0])
				if !strings.HasPrefix(a.rows[0], "15.") {
					t.Skipf("the comparison is with PostgreSQL 15, and here is %s", a.rows[0])
				}
			}
			return c
		}
		if i == 300 {
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("PostgreSQL does not start: %v\n%s", err, text)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func postgresPrograms() string {
	if runtime.GOOS == "windows" {
		return ""
	}
	list, _ := filepath.Glob("/usr/lib/postgresql/15/bin")
	for _, dir := range append([]string{os.Getenv("LHSQL_POSTGRES")}, list...) {
		if dir == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			return dir
		}
	}
	return ""
}

// unprivileged gives the folder to a user whom PostgreSQL lets start it; nil: this one.
func unprivileged(t *testing.T, dir string) *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		if err := os.Chown(dir, uid, gid); err != nil {
			t.Fatal(err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	t.Skip("PostgreSQL does not start as root, and there is no other user")
	return nil
}
