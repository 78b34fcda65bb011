package engine

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Who calls a procedure hears how far it is, while it is at work and if it wants to.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	e, err := Open(t.Context(), Config{TempDir: t.TempDir(), MemoryLimit: 1 << 30, Catalogs: []CatalogConfig{{Name: "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	e.jobs.TellEvery = 1
	var heard []string
	running := false
	s, err := e.NewSession(t.Context(), SessionOptions{User: "u", Tell: func(n *sqlerr.Error) {
		if !running || n.Warning() {
			t.Errorf("%s, at the wrong time or as a warning", n.Message)
		}
		heard = append(heard, n.Message)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	do := func(sql string) {
		t.Helper()
		running = strings.HasPrefix(sql, "CALL")
		if err := s.Query(t.Context(), sql, nil, nil); err != nil {
			t.Fatal(sql, err)
		}
		running = false
	}
	do("CREATE SCHEMA n")
	do("CREATE TABLE n.t (a int)")
	for range 6 {
		do("INSERT INTO n.t VALUES (1)")
	}
	do("CALL system.rewrite_data_files(table => 'n.t', options => map('min-input-files', '2'))")
	all := strings.Join(heard, "\n")
	for _, want := range []string{"rewrite_data_files of lake.n.t: rewrite", "6 of 6 files"} {
		if !strings.Contains(all, want) {
			t.Errorf("no word of %q in\n%s", want, all)
		}
	}
	heard = nil
	do("SET client_min_messages = warning")
	do("CALL system.rewrite_manifests('n.t')")
	if len(heard) > 0 {
		t.Errorf("heard against its will: %q", heard)
	}
}
