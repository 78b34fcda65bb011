package lake

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// locking opens a catalog that waits for locks no longer than wait, with a table of one file.
func locking(t *testing.T, uri string, wait time.Duration) *fixture {
	t.Helper()
	dir := t.TempDir()
	if uri == "" {
		uri = "sqlite:///" + filepath.Join(dir, "catalog.db")
	}
	ctx := context.Background()
	c, err := OpenCatalog(ctx, "lake", map[string]string{"uri": uri, "warehouse": dir + "/wh", "lhsql.lock-timeout-ms": fmt.Sprint(wait.Milliseconds())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	f := &fixture{t: t, ctx: ctx, c: c, dir: dir, name: Name{Namespace: "a", Table: "t"}}
	f.must(c.CreateNamespace(ctx, "a", nil))
	_, err = c.Create(ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	_, err = c.Commit(ctx, f.name, Change{Add: []*DataFile{f.file(1)}})
	f.must(err)
	return f
}

// writesOf are all the ways in which a catalog is written.
func (f *fixture) writesOf() map[string]func() error {
	file := f.file(2) // reads the table: before the lock
	spec := TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}}
	return map[string]func() error{
		"commit":    func() error { _, err := f.c.Commit(f.ctx, f.name, Change{Add: []*DataFile{file}}); return err },
		"create":    func() error { _, err := f.c.Create(f.ctx, Name{Namespace: "a", Table: "u"}, spec); return err },
		"drop":      func() error { return f.c.Drop(f.ctx, f.name, false) },
		"rename":    func() error { return f.c.Rename(f.ctx, f.name, Name{Namespace: "a", Table: "v"}) },
		"schema":    func() error { return f.c.CreateNamespace(f.ctx, "b", nil) },
		"property":  func() error { return f.c.SetNamespaceProperties(f.ctx, "a", map[string]string{"k": "v"}, nil) },
		"drop view": func() error { return f.c.DropView(f.ctx, Name{Namespace: "a", Table: "w"}) },
	}
}

// A catalog whose database another program keeps locked is no lost race: every write waits, and
// says so; a lock that goes in time is not noticed.
func TestLockedByAnotherProgram(t *testing.T) {
	f := locking(t, "", 300*time.Millisecond)
	other, err := sql.Open("sqlite", filepath.Join(f.dir, "catalog.db"))
	f.must(err)
	defer other.Close()
	for _, lock := range []string{"BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"} {
		writes := f.writesOf()
		conn, err := other.Conn(f.ctx)
		f.must(err)
		_, err = conn.ExecContext(f.ctx, lock)
		f.must(err)
		for what, write := range writes {
			begin := time.Now()
			err := write()
			if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.LockNotAvailable || !strings.Contains(e.Message, "locked by another program") {
				t.Errorf("%s, %s: %v", lock, what, err)
			}
			if Outcome(err) != Aborted {
				t.Errorf("%s, %s: outcome %v", lock, what, Outcome(err))
			}
			if d := time.Since(begin); d < 250*time.Millisecond || d > 5*time.Second {
				t.Errorf("%s, %s: waited %v", lock, what, d)
			}
		}
		_, err = f.c.Load(f.ctx, f.name)
		if lock == "BEGIN EXCLUSIVE" {
			if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.LockNotAvailable {
				t.Errorf("a read: %v", err)
			}
		} else if err != nil {
			t.Errorf("a read beside a writer: %v", err)
		}
		_, err = conn.ExecContext(f.ctx, "ROLLBACK")
		f.must(err)
		conn.Close()
	}
	f.has("f1")

	// Whoever reads for long holds up no more than the commit itself.
	rows, err := other.QueryContext(f.ctx, "SELECT metadata_location FROM iceberg_tables")
	f.must(err)
	rows.Next()
	if err := f.writesOf()["commit"](); sqlerr.CodeOf(err) != sqlerr.LockNotAvailable {
		t.Errorf("a reader that does not end: %v", err)
	}
	rows.Close()
	f.must(f.writesOf()["commit"]())
}

// The lock goes while a commit waits, and a statement that is cancelled meanwhile ends at once.
func TestLockIsWaitedFor(t *testing.T) {
	f := locking(t, "", 20*time.Second)
	other, err := sql.Open("sqlite", filepath.Join(f.dir, "catalog.db"))
	f.must(err)
	defer other.Close()
	conn, err := other.Conn(f.ctx)
	f.must(err)
	defer conn.Close()
	_, err = conn.ExecContext(f.ctx, "BEGIN IMMEDIATE")
	f.must(err)
	ctx, cancel := context.WithTimeout(f.ctx, 200*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if _, err := f.c.Commit(ctx, f.name, Change{Add: []*DataFile{f.file(3)}}); err == nil || Outcome(err) != Aborted {
		t.Errorf("cancelled: %v", err)
	}
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("the cancelled commit ended after %v", d)
	}
	go func() {
		time.Sleep(300 * time.Millisecond)
		_, _ = conn.ExecContext(context.Background(), "ROLLBACK")
	}()
	f.must(f.writesOf()["commit"]())
	f.has("f1", "f3")
}

// postgres starts a PostgreSQL of the test's own, or skips the test where none is installed.
func postgres(t *testing.T) string {
	t.Helper()
	bin := ""
	for _, dir := range []string{"/usr/lib/postgresql/17/bin", "/usr/lib/postgresql/16/bin", "/usr/lib/postgresql/15/bin"} {
		if _, err := os.Stat(dir + "/initdb"); err == nil {
			bin = dir
			break
		}
	}
	if bin == "" {
		t.Skip("no PostgreSQL server is installed")
	}
	dir, err := os.MkdirTemp("", "pgcatalog")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	as := func(args ...string) *exec.Cmd { return exec.Command(args[0], args[1:]...) }
	if os.Getuid() == 0 { // the server refuses to run as root
		as = func(args ...string) *exec.Cmd {
			return exec.Command("setpriv", append([]string{"--reuid=postgres", "--regid=postgres", "--clear-groups"}, args...)...)
		}
		if out, err := exec.Command("chown", "postgres", dir).CombinedOutput(); err != nil {
			t.Skipf("no user postgres: %s", out)
		}
	}
	if out, err := as(bin+"/initdb", "-D", dir+"/data", "-U", "postgres", "-A", "trust", "-N").CombinedOutput(); err != nil {
		t.Skipf("initdb: %v\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	server := as(bin+"/postgres", "-D", dir+"/data", "-F", "-h", "127.0.0.1", "-k", dir, "-p", fmt.Sprint(port))
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt) // fast shutdown
		_ = server.Wait()
	})
	uri := fmt.Sprintf("postgresql://postgres@127.0.0.1:%d/postgres", port)
	for range 100 {
		db, err := sql.Open("pgx", uri)
		if err == nil {
			err = db.Ping()
			db.Close()
		}
		if err == nil {
			return uri
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("PostgreSQL did not start")
	return ""
}

// The same on PostgreSQL, where another session holds the row or the table.
func TestLockedInPostgres(t *testing.T) {
	uri := postgres(t)
	f := locking(t, uri, 300*time.Millisecond)
	other, err := sql.Open("pgx", uri)
	f.must(err)
	defer other.Close()
	for _, lock := range []string{"SELECT 1 FROM iceberg_tables FOR UPDATE", "LOCK TABLE iceberg_tables IN SHARE MODE", "LOCK TABLE iceberg_tables"} {
		write := f.writesOf()["commit"]
		tx, err := other.Begin()
		f.must(err)
		_, err = tx.Exec(lock)
		f.must(err)
		err = write()
		if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.LockNotAvailable || !strings.Contains(e.Message, "locked by another program") {
			t.Errorf("%s: %v", lock, err)
		}
		if _, err := f.c.Load(f.ctx, f.name); (err != nil) != (lock == "LOCK TABLE iceberg_tables") {
			t.Errorf("%s: a read: %v", lock, err)
		}
		f.must(tx.Rollback())
	}
	f.has("f1")

	// A session that changes the pointer and commits is a race, which is tried again.
	tx, err := other.Begin()
	f.must(err)
	_, err = tx.Exec("UPDATE iceberg_tables SET previous_metadata_location = metadata_location")
	f.must(err)
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = tx.Commit()
	}()
	f.must(f.writesOf()["commit"]())
	// One that is cancelled while it waits ends at once, and nothing happened.
	file := f.file(1)
	tx, err = other.Begin()
	f.must(err)
	_, err = tx.Exec("LOCK TABLE iceberg_tables IN SHARE MODE")
	f.must(err)
	ctx, cancel := context.WithTimeout(f.ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := f.c.Commit(ctx, f.name, Change{Add: []*DataFile{file}}); err == nil || Outcome(err) != Aborted {
		t.Errorf("cancelled: %v", err)
	}
	f.must(tx.Rollback())
	f.has("f1", "f5")
	testPostgresCatalog(t, uri)
}

// PyIceberg in a transaction of the catalog's database is another program like any.
func TestLockedByPyIceberg(t *testing.T) {
	f := locking(t, "", 300*time.Millisecond)
	started, done := filepath.Join(f.dir, "started"), filepath.Join(f.dir, "done")
	pyiceberg(t, "import pyiceberg, sqlalchemy") // or the test is skipped here, not in the goroutine
	end := make(chan struct{})
	go func() {
		defer close(end) // however it ends
		pyiceberg(t, `
import sys, os, time
from pyiceberg.catalog import load_catalog
from sqlalchemy import text
d = sys.argv[1]
c = load_catalog("lake", type="sql", uri="sqlite:///"+d+"/catalog.db", warehouse=d+"/wh")
with c.engine.begin() as con:
    con.execute(text("update iceberg_namespace_properties set property_value = property_value"))
    open(sys.argv[2], "w").close()
    while not os.path.exists(sys.argv[3]): time.sleep(0.02)
`, f.dir, started, done)
	}()
	for there := false; !there; {
		select {
		case <-end:
			t.Fatal("PyIceberg ended before it held its lock")
		case <-time.After(20 * time.Millisecond):
			_, err := os.Stat(started)
			there = err == nil
		}
	}
	err := f.writesOf()["commit"]()
	f.must(os.WriteFile(done, nil, 0o644))
	<-end
	if sqlerr.CodeOf(err) != sqlerr.LockNotAvailable {
		t.Errorf("beside PyIceberg in a transaction: %v", err)
	}
	f.must(f.writesOf()["commit"]())
}

// Writers of one process, and its readers beside them, do not wait for one another's lock by
// luck: however little patience a catalog has with other programs, all get their turn.
func TestWritersTakeTurns(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	c, err := OpenCatalog(ctx, "lake", map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"),
		"warehouse": dir, "lhsql.lock-timeout-ms": "1000"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 20 {
				if err := c.CreateNamespace(ctx, fmt.Sprintf("n%d_%d", w, i), nil); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
}
