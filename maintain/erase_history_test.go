package maintain_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// past is what every snapshot of a table shows, without the rows that have the token: by id, the rows as
// its own schema has them, the row ids, the parent, the time and the operation.
func (h *house) past(table string) []string {
	h.t.Helper()
	var out []string
	for _, s := range h.must("SELECT snapshot_id, parent_id, committed_at, operation FROM " + table + ".snapshots ORDER BY committed_at, snapshot_id") {
		id, _, _ := strings.Cut(s, "|")
		rows := h.must("SELECT * FROM " + table + " FOR VERSION AS OF " + id)
		all := rows
		if h.load(table).FormatVersion() >= 3 {
			all = append(all, h.must("SELECT _row_id, * FROM "+table+" FOR VERSION AS OF "+id)...)
		}
		slices.Sort(all)
		all = slices.DeleteFunc(all, func(r string) bool { return strings.Contains(r, mark) })
		out = append(out, s+": "+strings.Join(all, ", "))
	}
	return append(out, h.must("SELECT name, type FROM "+table+".refs ORDER BY 1")...)
}

// storied makes a table whose token has been through what a row can go through: updates, deletes of all kinds,
// a renamed, a widened and a dropped column, another partition spec, an upgrade, branches and tags.
func (h *house) storied(v string) {
	mor := ", 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read'"
	if v == "1" {
		mor = ""
	}
	h.must("CREATE TABLE s.t (id int, tok text, note text, old text) PARTITIONED BY (truncate(1, note)) TBLPROPERTIES ('format-version' = '" + v + "'" + mor + ")")
	h.must("INSERT INTO s.t VALUES (1, 'a', 'x1', 'o1'), (2, '" + token + "', 'x2', 'o2'), (3, 'z', 'y3', 'o3')")
	h.must("INSERT INTO s.t VALUES (4, '" + token + "', 'y4', 'o4'), (5, 'c', 'x5', 'o5'), (6, 'd', 'y6', 'o6')")
	h.must("ALTER TABLE s.t CREATE TAG early")
	h.must("DELETE FROM s.t WHERE id = 1")
	h.must("ALTER TABLE s.t RENAME COLUMN tok TO token")
	h.must("ALTER TABLE s.t ALTER COLUMN id TYPE bigint")
	h.must("ALTER TABLE s.t CREATE BRANCH b")
	h.must("UPDATE s.t SET note = 'x9' WHERE id = 2")
	h.must("ALTER TABLE s.t ADD PARTITION FIELD bucket(2, id)")
	h.must("INSERT INTO s.t VALUES (7, 'g', 'x7', 'o7'), (8, '" + token + "', 'x8', 'o8')")
	h.must("INSERT INTO s.t.branch_b VALUES (10, '" + token + "', 'b1', NULL), (11, 'k', 'b2', NULL)")
	h.must("DELETE FROM s.t.branch_b WHERE id IN (3, 4)")
	h.must("ALTER TABLE s.t DROP COLUMN old")
	h.must("DELETE FROM s.t WHERE token = '" + token + "'")
	h.must("ALTER TABLE s.t CREATE TAG late")
	h.must("INSERT INTO s.t VALUES (12, 'm', 'x12')")
	if v == "2" {
		f := *h.load("s.t").Schema().ByName("token")
		f.Required = false
		h.must("ALTER TABLE s.t DROP PARTITION FIELD truncate(1, note)")
		h.must("ALTER TABLE s.t DROP PARTITION FIELD bucket(2, id)")
		h.commitRows("s.t", []lake.Field{f}, [][]types.Datum{{types.NewStr("z")}, {types.NewStr(token)}}, func(d *lake.DataFile) {
			d.Content, d.EqualityIDs = lake.EqualityDeletes, []int{f.ID}
		}, map[string]string{"about": "the one of " + token})
		h.must("ALTER TABLE s.t SET TBLPROPERTIES ('format-version' = '3')")
	}
	h.must("DELETE FROM s.t WHERE id = 6")
	h.must("INSERT INTO s.t VALUES (13, 'n', 'x13')")
}

// With TAGS REWRITE every snapshot, branch and tag shows what it showed, but for the rows: under the schema of
// its time, with the row ids, in its place in history. Nothing of the value is in any byte.
func TestEraseThroughHistory(t *testing.T) {
	for _, v := range []string{"1", "2", "3"} {
		h := newHouse(t)
		h.storied(v)
		was := h.past("s.t")
		before := h.load("s.t")
		out := h.eraseToken("s.t", "TAGS REWRITE DRY RUN")
		if text := strings.Join(out, "\n"); !strings.Contains(text, "|rewrite history|") || strings.Contains(text, "|expire|") || strings.Contains(text, "|drop tag|") {
			t.Errorf("format %s: %s", v, text)
		}
		if got := h.past("s.t"); !slices.Equal(got, was) {
			t.Errorf("format %s: a dry run has changed something", v)
		}
		out = h.eraseToken("s.t", "TAGS REWRITE")
		if status(out) != "DONE" {
			t.Errorf("format %s: %v", v, out)
		}
		h.clean()
		got := h.past("s.t")
		for i, w := range was {
			// Heads of branches have new snapshots behind them; all of before are there.
			if !slices.Contains(got, w) {
				t.Errorf("format %s, item %d: %s\nis not among\n%s", v, i, w, strings.Join(got, "\n"))
			}
		}
		if left := h.unheld("s.t"); len(left) > 0 {
			t.Errorf("format %s: nothing holds %v", v, left)
		}
		after := h.load("s.t")
		if after.UUID() != before.UUID() || len(after.SnapshotLog()) < len(before.SnapshotLog()) {
			t.Errorf("format %s: the log has %d items, had %d", v, len(after.SnapshotLog()), len(before.SnapshotLog()))
		}
		h.totals(after)
		if again := h.eraseToken("s.t", "TAGS REWRITE"); status(again) != "DONE" || strings.Contains(strings.Join(again, "\n"), "rewrite history") {
			t.Errorf("format %s: once more: %v", v, again)
		}
		if got := h.must("SELECT snapshots_rewritten > 0, snapshots_expired, hits FROM system.erasures ORDER BY seq LIMIT 1"); !slices.Equal(got, []string{"t|0|0"}) {
			t.Errorf("format %s: evidence says %v", v, got)
		}
		// What comes after goes on from there.
		h.must("INSERT INTO s.t VALUES (99, 'late', 'w')")
		h.must("CALL system.rewrite_data_files('s.t', options => map('rewrite-all', 'true'))")
		h.want("SELECT id FROM s.t WHERE id > 90", "99")
	}
}

// totals fails where a snapshot's summary counts other live files than its manifests list.
func (h *house) totals(t *lake.Table) {
	h.t.Helper()
	for _, s := range t.Snapshots() {
		counts := map[string]int64{}
		ms, err := t.Manifests(h.ctx, s)
		if err != nil {
			h.t.Fatal(err)
		}
		for _, m := range ms {
			es, err := t.Entries(h.ctx, m)
			if err != nil {
				h.t.Fatal(err)
			}
			for _, e := range es {
				switch {
				case e.Status == lake.Deleted:
				case e.File.Content == lake.Data:
					counts["total-data-files"]++
					counts["total-records"] += e.File.RecordCount
				default:
					counts["total-delete-files"]++
				}
			}
		}
		for _, k := range []string{"total-data-files", "total-records", "total-delete-files"} {
			if got := s.Summary[k]; got != fmt.Sprint(counts[k]) {
				h.t.Errorf("snapshot %d (%s): %s is %s, its manifests list %d", s.ID, s.Operation, k, got, counts[k])
			}
		}
	}
}

// A crash at any step, and a resume, ends as without; a hold stops it; a REST catalog has no such update.
func TestEraseThroughHistoryCrash(t *testing.T) {
	h := newHouse(t)
	h.storied("3")
	var steps []string
	_, err := ask(lake.WithYield(h.ctx, func(step string) error {
		if (strings.HasPrefix(step, "erase ") || step == "publish") && !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
		return nil
	}), h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS REWRITE")
	if err != nil || !slices.Contains(steps, "erase restated") || !slices.Contains(steps, "erase history done") {
		t.Fatal(err, steps)
	}
	for _, step := range []string{"erase history", "erase restated", "publish", "erase history done", "erase remove", "erase file"} {
		for n := range 3 {
			h := newHouse(t)
			h.storied("3")
			was := h.past("s.t")
			times := 0
			_, err := ask(lake.WithYield(h.ctx, func(at string) error {
				if at == step {
					if times++; times == n+1 {
						return errCrash
					}
				}
				return nil
			}), h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS REWRITE")
			if times <= n {
				break
			}
			if !errors.Is(err, errCrash) {
				t.Errorf("%s: %v", step, err)
			}
			h.restart()
			running := h.must("SELECT id FROM system.erasures WHERE status = 'RUNNING'")
			if len(running) != 1 {
				t.Fatal(step, running)
			}
			if out := h.must("CALL system.resume_erasure('" + running[0] + "')"); status(out) != "DONE" {
				t.Errorf("%s: %v", step, out)
			}
			h.clean()
			got := h.past("s.t")
			for _, w := range was {
				if !slices.Contains(got, w) {
					t.Errorf("%s, time %d: %s\nis not among\n%s", step, n, w, strings.Join(got, "\n"))
				}
			}
		}
	}
	h = newHouse(t)
	h.storied("2")
	h.must("ALTER TABLE s.t SET TBLPROPERTIES ('lhsql.hold.early' = 'case 4711')")
	if _, err := ask(h.ctx, h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS REWRITE"); err == nil || !strings.Contains(err.Error(), "under a hold: case 4711") {
		t.Error(err)
	}
}

// Another writer's commit in the middle is neither lost nor left with the value.
func TestEraseThroughHistoryBesideWriter(t *testing.T) {
	for _, step := range []string{"erase history", "erase restated", "erase history done", "erase verify"} {
		h := newHouse(t)
		h.storied("3")
		was := h.past("s.t")
		out, err := h.during("ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS REWRITE", step, func() {
			h.as(h.other, "INSERT INTO s.t VALUES (20, '"+token+"', 'w'), (21, 'new', 'w')")
			h.as(h.other, "ALTER TABLE s.t CREATE TAG meanwhile")
		})
		if err != nil || status(out) != "DONE" {
			t.Errorf("%s: %v %v", step, out, err)
		}
		h.want("SELECT id FROM s.t FOR VERSION AS OF 'meanwhile' WHERE id > 19", "21")
		h.want("SELECT id FROM s.t WHERE id > 19", "21")
		h.clean()
		got := h.past("s.t")
		for _, w := range was {
			if !slices.Contains(got, w) {
				t.Errorf("%s: %s is not among\n%s", step, w, strings.Join(got, "\n"))
			}
		}
	}
}

// While an erasure runs, no other server erases from the table; once it has ended, any may.
func TestEraseLease(t *testing.T) {
	h := newHouse(t)
	h.someRows("2")
	leaser := h.catalog().(lake.Leaser)
	name := "erase " + h.load("s.t").UUID()
	takes := func() bool {
		took, err := leaser.Lease(h.ctx, name, "another server", time.Minute)
		if err != nil {
			t.Error(err)
		}
		return took
	}
	out, err := h.during("ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS DROP", "erase verify", func() {
		if takes() {
			t.Error("another server was given the lease of a table that is erased from")
		}
	})
	if err != nil || status(out) != "DONE" {
		t.Error(out, err)
	}
	if !takes() {
		t.Error("the lease was not given back")
	}
	// It is waited for, and given up if it lasts; a cancel ends the wait.
	ctx, cancel := context.WithCancel(h.ctx)
	cancel()
	if _, err := ask(ctx, h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1'"); err == nil {
		t.Error("an erasure began while another server had the lease")
	}
	if err := leaser.Release(h.ctx, name, "another server"); err != nil {
		t.Error(err)
	}
	if out := h.eraseToken("s.t", ""); status(out) != "DONE" {
		t.Error(out)
	}
}
