package maintain_test

import (
	"flag"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
)

var deathsEvery = flag.Int("kept.every", 16, "a process dies at each so many steps of a procedure; 1: at every one")

// TestDeathAtEachStep has the process of each procedure die between any two of its accesses to the store and the
// catalog, so that nothing of its own can clean up. What it leaves has all rows with their ids, on every ref, and
// no file too few; the procedure does its work when it is called again, and orphan removal takes what is left.
func TestDeathAtEachStep(t *testing.T) {
	for name, call := range map[string]string{
		"rewrite_data_files":            "CALL system.rewrite_data_files('s.t', options => map('rewrite-all', 'true', 'partial-progress.enabled', 'true'))",
		"rewrite_data_files sort":       "CALL system.rewrite_data_files('s.t', strategy => 'sort', sort_order => 'zorder(id, grp)', options => map('rewrite-all', 'true'))",
		"rewrite_position_delete_files": "CALL system.rewrite_position_delete_files('s.t', options => map('rewrite-all', 'true'))",
		"rewrite_manifests":             "CALL system.rewrite_manifests('s.t')",
		"expire_snapshots":              "CALL system.expire_snapshots('s.t', older_than => now() + interval '1 day', retain_last => 2, clean_expired_metadata => true)",
		"remove_orphan_files":           "CALL system.remove_orphan_files('s.t')",
		"compute_table_stats":           "CALL system.compute_table_stats('s.t')",
		"compute_partition_stats":       "CALL system.compute_partition_stats('s.t')",
		"vacuum":                        "VACUUM FULL s.t",
	} {
		for _, version := range []string{"2", "3"} {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				steps := 0
				for last := 1 + len(name+version)%*deathsEvery; ; last += *deathsEvery {
					if !diesAt(t, version, call, last, &steps) || t.Failed() {
						break
					}
				}
				if steps < 8 {
					t.Errorf("only %d steps", steps)
				}
			})
		}
	}
}

// diesAt runs the call in a process that dies at a step, and tells whether it came to it.
func diesAt(t *testing.T, version, call string, last int, steps *int) bool {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp) TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'commit.manifest-merge.enabled' = 'false', 'write.metadata.previous-versions-max' = '3')")
	h.must("INSERT INTO s.t SELECT g, 'g' || g % 2 FROM generate_series(1, 20) g")
	h.must("INSERT INTO s.t SELECT g, 'g' || g % 2 FROM generate_series(21, 40) g")
	h.must("ALTER TABLE s.t CREATE TAG g")
	h.must("DELETE FROM s.t WHERE id % 10 = 0")
	h.must("CALL system.compute_partition_stats('s.t')")
	// In format 3 there are position deletes of before the upgrade, and vectors.
	h.must("ALTER TABLE s.t SET TBLPROPERTIES ('format-version' = '" + version + "')")
	h.must("DELETE FROM s.t WHERE grp = 'g1' AND id % 10 = 1")
	h.must("ALTER TABLE s.t CREATE BRANCH b")
	h.must("INSERT INTO s.t.branch_b VALUES (99, 'b')")
	h.must("UPDATE s.t SET grp = 'g3' WHERE id % 10 = 3")
	h.age()
	v := 2
	if version == "3" {
		v = 3
	}
	rows := h.refs(true, true, v)
	var mu sync.Mutex
	n, died := 0, ""
	step := func(what string) error {
		mu.Lock()
		defer mu.Unlock()
		if n++; n < last {
			return nil
		}
		if died == "" {
			died = what
		}
		return errDead
	}
	ctx := store.WithSteps(lake.WithYield(h.ctx, step), func(op, path string) error { return step(op + " " + filepath.Base(path)) })
	_, err := ask(ctx, h.s, call)
	*steps = max(*steps, n)
	if died == "" && err != nil {
		t.Fatal(err)
	}
	h.s.Close()
	h.other.Close()
	h.eng.Close()
	h.open()
	same := func(when string) {
		t.Helper()
		if now := h.refs(true, true, v); !slices.Equal(now, rows) {
			t.Errorf("died at %d, %s; %s rows are\n%v\nnot\n%v", last, died, when, now, rows)
		}
		h.whole("s.t")
	}
	same("afterwards")
	h.must(call)
	same("after another call")
	h.swept("s.t")
	same("after a sweep")
	h.s.Close()
	h.other.Close()
	h.eng.Close()
	return died != ""
}
