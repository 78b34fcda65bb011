package maintain_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

var rewriteHistories = flag.Int("rewrite.histories", 12, "random histories with all kinds of deletes that are compacted in between")

// TestRewriteHistories compacts tables in the middle of random histories: inserts, updates, deletes by
// position, by vector and by equality, columns and partitions that come and go, an upgrade, a branch
// and a tag. After each rewrite every ref has the rows that it had, and in format 3 their ids.
func TestRewriteHistories(t *testing.T) {
	seed := testseed.Of(t)
	counted := 0
	for n := range *rewriteHistories {
		h := newHouse(t)
		r := rand.New(rand.NewPCG(seed, uint64(n)))
		var log []string
		do := func(format string, args ...any) {
			sql := fmt.Sprintf(format, args...)
			log = append(log, sql)
			if _, err := ask(h.ctx, h.s, sql); err != nil {
				t.Fatalf("history %d: %v\n%s", n, err, strings.Join(log, ";\n"))
			}
		}
		version := 2 + r.IntN(2)
		mode := []string{"copy-on-write", "merge-on-read", "merge-on-read"}[r.IntN(3)]
		do("CREATE TABLE s.t (id int, grp int, v text) PARTITIONED BY (%s) TBLPROPERTIES ('format-version' = '%d', 'write.delete.mode' = '%s', 'write.update.mode' = '%s')",
			[]string{"grp", "bucket(3, id)", "truncate(10, id)"}[r.IntN(3)], version, mode, mode)
		next, tagged, branch, columns := 1, false, false, 0
		for range 14 {
			target := "s.t"
			if branch && r.IntN(4) == 0 {
				target = "s.t.branch_b"
			}
			switch k := r.IntN(14); {
			case k < 4 || next == 1:
				count := 1 + r.IntN(20)
				do("INSERT INTO %s (id, grp, v) SELECT g, g %% %d, 'v' || g FROM generate_series(%d, %d) g", target, 1+r.IntN(4), next, next+count-1)
				next += count
			case k < 6:
				do("DELETE FROM %s WHERE id %% %d = %d", target, 2+r.IntN(9), r.IntN(2))
			case k < 7:
				do("UPDATE %s SET v = 'u' || id, grp = grp + 1 WHERE id %% 5 = %d", target, r.IntN(5))
			case k < 9 && target == "s.t":
				// By the present spec, in one of its partitions or, under none, everywhere.
				tb := h.load("s.t")
				spec := tb.DefaultSpec()
				partitions := h.must("SELECT count(*) FROM s.t.files WHERE content = 0 AND spec_id = " + fmt.Sprint(spec.ID))
				if len(spec.Fields) > 0 && partitions[0] == "0" {
					continue
				}
				var partition []types.Datum
				if len(spec.Fields) > 0 {
					partition = anyPartition(h, tb, r)
				}
				v := 1 + r.IntN(next)
				log = append(log, fmt.Sprintf("-- equality delete of %d, %d in spec %d", v, v+1, spec.ID))
				h.deleteEqual("s.t", "id", spec, partition, v, v+1, nil)
			case k == 9:
				if columns++; columns%2 == 1 {
					do("ALTER TABLE s.t ADD COLUMN c%d int", columns)
				} else {
					do("ALTER TABLE s.t DROP COLUMN c%d", columns-1)
				}
			case k == 10 && !branch:
				branch = true
				do("ALTER TABLE s.t CREATE BRANCH b")
			case k == 11 && !tagged:
				tagged = true
				do("ALTER TABLE s.t CREATE TAG g")
			case k == 12:
				do("%s", []string{"ALTER TABLE s.t ADD PARTITION FIELD bucket(2, v)", "ALTER TABLE s.t WRITE ORDERED BY v DESC, id", "ALTER TABLE s.t WRITE UNORDERED"}[h.once(r, log)])
			case k == 13 && version == 2:
				version = 3
				do("ALTER TABLE s.t SET TBLPROPERTIES ('format-version' = '3')")
				do("INSERT INTO s.t (id) VALUES (%d)", next) // row ids begin
				if branch {                                  // and in the branch as well
					do("INSERT INTO s.t.branch_b (id) VALUES (%d)", next)
				}
				next++
			}
			if r.IntN(3) == 0 {
				counted += h.partitionStatistics("s.t", log)
			}
			if r.IntN(2) > 0 {
				continue
			}
			before := h.refs(branch, tagged, version)
			call := "rewrite_data_files('%s', options => map('rewrite-all', '%v', 'min-input-files', '2', 'delete-file-threshold', '1', 'partial-progress.enabled', '%v', 'remove-dangling-deletes', '%v', 'use-starting-sequence-number', '%v')%s)"
			yes := func() bool { return r.IntN(3) > 0 }
			order := ""
			if r.IntN(3) == 0 {
				order = ", strategy => 'sort', sort_order => 'zorder(id, grp), v'"
			}
			call = fmt.Sprintf(call, target, yes(), !yes(), yes(), yes(), order)
			if r.IntN(4) == 0 {
				call = "rewrite_position_delete_files('" + target + "', options => map('rewrite-all', 'true'))"
			}
			do("CALL system.%s", call)
			if after := h.refs(branch, tagged, version); !slices.Equal(before, after) {
				t.Fatalf("seed %d, history %d: rows changed from\n%s\nto\n%s\nby\n%s", seed, n, strings.Join(before, " "), strings.Join(after, " "), strings.Join(log, ";\n"))
			}
		}
		if left := h.unheld("s.t"); len(left) > 0 {
			t.Errorf("history %d: %v stayed", n, left)
		}
	}
	if counted == 0 {
		t.Error("partition statistics never went on from earlier ones")
	}
}

// once picks a change of layout; the partition field can be added once.
func (h *house) once(r *rand.Rand, log []string) int {
	k := r.IntN(3)
	if k == 0 && slices.ContainsFunc(log, func(s string) bool { return strings.Contains(s, "ADD PARTITION") }) {
		return 2
	}
	return k
}

// refs are the rows of every ref, with their ids where there are any.
func (h *house) refs(branch, tagged bool, version int) []string {
	h.t.Helper()
	lineage := ""
	if version >= 3 {
		lineage = ", _row_id, _last_updated_sequence_number"
	}
	names := []string{"s.t"}
	if branch {
		names = append(names, "s.t.branch_b")
	}
	if tagged {
		names = append(names, "s.t.tag_g")
	}
	var out []string
	for _, n := range names {
		out = append(out, n+":")
		rows := h.must("SELECT *" + lineage + " FROM " + n)
		slices.Sort(rows)
		out = append(out, rows...)
	}
	return out
}

// anyPartition is the partition of one of the table's present files under its present spec.
func anyPartition(h *house, t *lake.Table, r *rand.Rand) []types.Datum {
	manifests, err := t.Manifests(h.ctx, t.CurrentSnapshot())
	if err != nil {
		h.t.Fatal(err)
	}
	var all [][]types.Datum
	for _, m := range manifests {
		if m.Deletes || m.SpecID != t.DefaultSpec().ID {
			continue
		}
		entries, err := t.Entries(h.ctx, m)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, e := range entries {
			if e.Status != lake.Deleted {
				all = append(all, e.File.Partition)
			}
		}
	}
	return all[r.IntN(len(all))]
}
