// Package limits tests that nothing a client says harms the server: statements end when they are
// cancelled, stay within their memory, fail with the user's errors and never with ours, and leave
// nothing behind (promises.md, V1 to V6).
package limits

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// server is an engine on a fresh warehouse, with a folder of spill files of its own.
type server struct {
	*engine.Engine
	spill string
}

func open(t testing.TB, memory int64) server {
	t.Helper()
	dir, spill := t.TempDir(), t.TempDir()
	e, err := engine.Open(context.Background(), engine.Config{TempDir: spill, MemoryLimit: memory, Workers: 2,
		Log: func(f string, a ...any) { t.Logf(f, a...) },
		Catalogs: []engine.CatalogConfig{{Name: "lake", Props: map[string]string{
			"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return server{e, spill}
}

func (s server) session(t testing.TB, settings ...string) *engine.Session {
	t.Helper()
	x, err := s.NewSession(context.Background(), engine.SessionOptions{User: "tester"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	for i := 0; i < len(settings); i += 2 {
		if err := x.SetSetting(settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

// ask runs a text and gives the last statement's rows, columns separated by |.
func ask(ctx context.Context, s *engine.Session, sql string) (rows []string, err error) {
	defer func() {
		if e := s.EndImplicit(ctx); err == nil {
			err = e
		}
	}()
	list, err := s.Parse(sql)
	if err != nil {
		return nil, err
	}
	for _, p := range list {
		if rows, err = askOne(ctx, s, p); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func askOne(ctx context.Context, s *engine.Session, p engine.Parsed) ([]string, error) {
	st, err := s.Prepare(ctx, p, nil)
	if err != nil {
		return nil, err
	}
	args := make([]types.Datum, len(st.Params()))
	r, err := st.Execute(ctx, args)
	if err != nil {
		return nil, err
	}
	var rows []string
	o := s.TextOptions()
	err = r.Each(ctx, func(row []types.Datum) error {
		cells := make([]string, len(row))
		for j, d := range row {
			cells[j] = "NULL"
			if !d.IsNull() {
				cells[j] = types.Format(d, r.Columns()[j].Type, o)
			}
		}
		if len(rows) < 100000 {
			rows = append(rows, strings.Join(cells, "|"))
		}
		return nil
	})
	return rows, err
}

func code(err error) sqlerr.Code {
	if e, ok := sqlerr.As(err); ok {
		return e.Code
	}
	return ""
}

// nothingLeft checks that statements gave back what they held: goroutines, memory, spill files.
func (s server) nothingLeft(t *testing.T, goroutines int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > goroutines && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > goroutines {
		buf := make([]byte, 1<<20)
		t.Errorf("%d goroutines, %d before:\n%s", n, goroutines, buf[:runtime.Stack(buf, true)])
	}
	if n := s.MemoryUsed(); n != 0 {
		t.Errorf("%d bytes are still reserved", n)
	}
	if files := spillFiles(s.spill); len(files) > 0 {
		t.Errorf("spill files are left: %v", files)
	}
}

// spillFiles lists the files below dir that this process has open, or that still have names.
func spillFiles(dir string) []string {
	var out []string
	if list, err := os.ReadDir(dir); err == nil {
		for _, f := range list {
			out = append(out, f.Name())
		}
	}
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return out
	}
	for _, fd := range fds {
		if to, err := os.Readlink("/proc/self/fd/" + fd.Name()); err == nil && strings.HasPrefix(to, dir) {
			out = append(out, to)
		}
	}
	return out
}
