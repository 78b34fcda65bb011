package engine

import (
	"path/filepath"
	"testing"
)

// Two engines of one process have caches of their own: neither resizes the other's, nor reads from it.
func TestTwoEngines(t *testing.T) {
	open := func(dir string, limit int64) *Engine {
		e, err := Open(t.Context(), Config{TempDir: t.TempDir(), MemoryLimit: limit, Catalogs: []CatalogConfig{{Name: "lake",
			Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		return e
	}
	dir := t.TempDir()
	large := open(dir, 4<<30)
	s, err := large.NewSession(t.Context(), SessionOptions{User: "u"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, q := range []string{"CREATE SCHEMA IF NOT EXISTS n", "CREATE TABLE n.t AS SELECT 1 AS a", "SELECT * FROM n.t"} {
		if err := s.Query(t.Context(), q, nil, nil); err != nil {
			t.Fatal(q, err)
		}
	}
	known, footers := large.known.Stats(), large.footers.Stats()
	if known.Entries == 0 || footers.Entries == 0 {
		t.Errorf("nothing is kept: %+v, %+v", known, footers)
	}
	small := open(dir, 256<<20)
	if now := large.known.Stats(); now != known {
		t.Errorf("another engine has changed what this one keeps: %+v, %+v before", now, known)
	}
	if now := large.footers.Stats(); now != footers {
		t.Errorf("another engine has changed what this one keeps: %+v, %+v before", now, footers)
	}
	if s := small.known.Stats(); s.Entries != 0 || s.Max >= known.Max {
		t.Errorf("a small engine begins with %+v", s)
	}
}
