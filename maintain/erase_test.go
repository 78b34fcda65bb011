package maintain_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

const token = "tok-5f4dcc3b5aa765d61d83"

// eraseToken erases the token from a table and gives the outcome's rows.
func (h *house) eraseToken(tables, more string) []string {
	h.t.Helper()
	return h.must(fmt.Sprintf("ERASE FROM %s WHERE token = '%s' REASON 'DSR-1' %s", tables, token, more))
}

func status(rows []string) string {
	if len(rows) == 0 {
		return ""
	}
	return strings.Split(rows[0], "|")[1]
}

// clean fails if anything of the token is left, beside its state while an erasure runs.
func (h *house) clean() {
	h.t.Helper()
	if left := judges(h.t, h.dir); len(left) > 0 {
		h.t.Errorf("left of it:\n%s", strings.Join(left, "\n"))
	}
}

// restart closes the lake's server and starts another.
func (h *house) restart() {
	h.t.Helper()
	h.s.Close()
	h.other.Close()
	h.eng.Close()
	h.open()
}

// A table with rows that were updated and deleted, a branch and a tag, an equality delete, and an
// orphan.
func (h *house) someRows(v string) {
	h.must("CREATE TABLE s.t (id int, token text) TBLPROPERTIES ('format-version' = '" + v + "', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read')")
	h.must("INSERT INTO s.t VALUES (1, 'a'), (2, '" + token + "'), (3, 'z')")
	h.must("INSERT INTO s.t VALUES (4, '" + token + "'), (5, 'c')")
	h.must("INSERT INTO s.t VALUES (6, 'd')")
	h.must("ALTER TABLE s.t CREATE TAG before")
	h.must("ALTER TABLE s.t CREATE BRANCH b")
	h.must("DELETE FROM s.t WHERE id = 4")
	h.must("INSERT INTO s.t.branch_b VALUES (7, '" + token + "'), (8, 'b')")
	data := h.must("SELECT _file FROM s.t WHERE id = 2")[0]
	b, err := os.ReadFile(data)
	if err != nil {
		h.t.Fatal(err)
	}
	h.plant(filepath.Join(filepath.Dir(data), "dead-writer.parquet"), b, 9)
}

func (h *house) someRowsAre() {
	h.t.Helper()
	h.want("SELECT * FROM s.t", "1|a", "3|z", "5|c", "6|d")
	h.want("SELECT * FROM s.t.branch_b", "1|a", "3|z", "5|c", "6|d", "8|b")
}

var errCrash = errors.New("the server died here")

// An erasure that dies at any of its steps is gone on with by the same statement, or by its id, in
// another server, and ends as one that did not die.
func TestEraseCrash(t *testing.T) {
	h := newHouse(t)
	h.someRows("2")
	var steps []string
	seen := map[string]bool{}
	_, err := ask(lake.WithYield(h.ctx, func(step string) error {
		if !seen[step] && (strings.HasPrefix(step, "erase ") || step == "publish" || step == "validate") {
			seen[step] = true
			steps = append(steps, step)
		}
		return nil
	}), h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS DROP")
	if err != nil {
		t.Fatal(err)
	}
	h.someRowsAre()
	h.clean()
	want := strings.Join(h.shape(), "\n")
	for _, need := range []string{"erase plan", "erase rewrite", "erase rewritten", "erase manifests", "erase expire", "erase expired", "erase expire done", "erase remove", "erase file", "erase orphans", "erase caches", "erase verify", "erase evidence", "erase recorded"} {
		if !seen[need] {
			t.Errorf("no step %q: %v", need, steps)
		}
	}
	for i, step := range steps {
		for n := range 2 { // the first time, and once more
			h := newHouse(t)
			h.someRows("2")
			times := 0
			_, err := ask(lake.WithYield(h.ctx, func(at string) error {
				if at == step {
					if times++; times == n+1 {
						return errCrash
					}
				}
				return nil
			}), h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS DROP")
			if times <= n {
				continue // it comes there once
			}
			if !errors.Is(err, errCrash) {
				t.Errorf("%s: %v", step, err)
			}
			h.restart()
			if raw, err := os.ReadFile(filepath.Join(h.dir, "catalog.db")); err != nil || strings.Contains(string(raw), mark) {
				t.Errorf("%s: the value lies in the catalog's database (%v)", step, err)
			}
			running := h.must("SELECT id FROM system.erasures WHERE status = 'RUNNING'")
			sql := "ERASE FROM s.t WHERE token = '" + token + "' REASON 'DSR-1' TAGS DROP"
			if i%2 == 1 && len(running) == 1 {
				sql = "CALL system.resume_erasure('" + running[0] + "')"
			}
			if out := h.must(sql); status(out) != "DONE" {
				t.Errorf("%s: %v", step, out)
			}
			h.someRowsAre()
			h.clean()
			if got := strings.Join(h.shape(), "\n"); got != want {
				t.Errorf("died at %q, got\n%s\nwant\n%s", step, got, want)
			}
			if left := h.must("SELECT id FROM system.erasures WHERE status <> 'DONE'"); len(left) > 0 {
				t.Error(step, left)
			}
		}
	}
}

// shape is what a table has, without names that differ from run to run.
func (h *house) shape() []string {
	out := h.must("SELECT name, type FROM s.t.refs ORDER BY 1")
	out = append(out, h.must("SELECT content, record_count, count(*) FROM s.t.all_files GROUP BY 1, 2 ORDER BY 1, 2")...)
	return append(out, h.must("SELECT count(*) FROM s.t.snapshots")...)
}

// A hold stops an erasure by name, with its reason, before anything is changed; so does a hold that is
// put while it runs. TAGS DROP is no way around it.
func TestEraseHold(t *testing.T) {
	h := newHouse(t)
	h.someRows("3")
	h.must("ALTER TABLE s.t SET TBLPROPERTIES ('lhsql.hold.before' = 'case 4711')")
	at := h.load("s.t").MetadataLocation
	for _, more := range []string{"", "TAGS DROP", "DRY RUN"} {
		_, err := ask(h.ctx, h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' "+more)
		if err == nil || !strings.Contains(err.Error(), `tag "before" of table t is under a hold: case 4711`) {
			t.Errorf("%s: %v", more, err)
		}
	}
	if h.load("s.t").MetadataLocation != at || len(h.must("SELECT * FROM system.erasures")) > 0 {
		t.Error("a refused erasure has changed something")
	}
	h.must("ALTER TABLE s.t UNSET TBLPROPERTIES ('lhsql.hold.before')")
	h.must("ALTER TABLE s.t SET TBLPROPERTIES ('lhsql.hold.main' = 'all of it')")
	if _, err := ask(h.ctx, h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS DROP"); err == nil || !strings.Contains(err.Error(), `branch "main" of table t is under a hold: all of it`) {
		t.Error(err)
	}
	h.must("ALTER TABLE s.t UNSET TBLPROPERTIES ('lhsql.hold.main')")
	_, err := h.during("ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS DROP", "erase expire", func() {
		h.as(h.other, "ALTER TABLE s.t SET TBLPROPERTIES ('lhsql.hold.before' = 'case 4712')")
	})
	if err == nil || !strings.Contains(err.Error(), "case 4712") {
		t.Error(err)
	}
	h.want("SELECT count(*) FROM s.t FOR VERSION AS OF 'before'", "6")
	h.must("ALTER TABLE s.t UNSET TBLPROPERTIES ('lhsql.hold.before')")
	if out := h.eraseToken("s.t", "TAGS DROP"); status(out) != "DONE" {
		t.Error(out)
	}
	h.someRowsAre()
	h.clean()
}

// What another writer brings while an erasure runs is erased, too, whichever step it meets; one that
// goes on bringing it leaves the erasure pending, never done.
func TestEraseBesideWriter(t *testing.T) {
	for _, step := range []string{"erase rewritten", "erase rewrite done", "erase manifests", "erase expire", "erase expired", "erase expire done", "erase remove done", "erase orphans", "erase verify", "erase verified", "validate"} {
		h := newHouse(t)
		h.someRows("2")
		out, err := h.during("ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS DROP", step, func() {
			h.as(h.other, "INSERT INTO s.t VALUES (20, '"+token+"'), (21, 'new')")
			h.as(h.other, "DELETE FROM s.t WHERE id = 6")
			h.as(h.other, "ALTER TABLE s.t CREATE BRANCH late")
		})
		if err != nil || status(out) != "DONE" {
			t.Errorf("%s: %v %v", step, out, err)
		}
		h.want("SELECT * FROM s.t", "1|a", "3|z", "5|c", "21|new")
		h.want("SELECT * FROM s.t.branch_late", "1|a", "3|z", "5|c", "21|new")
		h.clean()
	}
	h := newHouse(t)
	h.someRows("2")
	n := 100
	out, err := ask(lake.WithYield(h.ctx, func(step string) error {
		if step == "erase verify" {
			n++
			h.as(h.other, fmt.Sprintf("INSERT INTO s.t VALUES (%d, '%s')", n, token))
		}
		return nil
	}), h.s, "ERASE FROM s.t WHERE token = '"+token+"' REASON 'DSR-1' TAGS DROP")
	if err != nil || status(out) != "PENDING" {
		t.Error(out, err)
	}
	h.want("SELECT status, hits > 0 FROM system.erasures", "PENDING|t")
	if out := h.eraseToken("s.t", ""); status(out) != "DONE" {
		t.Error(out)
	}
	h.want("SELECT status FROM system.erasures", "PENDING", "DONE")
	h.want("SELECT count(DISTINCT id) FROM system.erasures", "1")
	h.someRowsAre()
	h.clean()
}

// A delete file that holds the value deletes rows of others, too: these stay deleted, although no file
// of theirs holds it.
func TestEraseKeepsDeletesOfOthers(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, token text) TBLPROPERTIES ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')")
	h.must("INSERT INTO s.t VALUES (1, 'a'), (2, 'gone')")
	h.must("INSERT INTO s.t VALUES (3, 'b'), (4, 'gone too')")
	h.must("INSERT INTO s.t VALUES (5, '" + token + "')")
	f := *h.load("s.t").Schema().ByName("token")
	f.Required = false
	h.commitRows("s.t", []lake.Field{f}, [][]types.Datum{{types.NewStr("gone")}, {types.NewStr(token)}}, func(d *lake.DataFile) {
		d.Content, d.EqualityIDs = lake.EqualityDeletes, []int{f.ID}
	}, nil)
	data := h.must("SELECT _file FROM s.t WHERE id = 4")[0]
	text, long := types.T(types.Text), types.T(types.Int8)
	h.commitRows("s.t", []lake.Field{
		{ID: 2147483546, Name: "file_path", Type: text, Iceberg: "string", Required: true},
		{ID: 2147483545, Name: "pos", Type: long, Iceberg: "long", Required: true},
		{ID: 2147483544, Name: "row", Iceberg: "struct", Type: types.StructOf(types.Field{Name: "token", Type: text}),
			Children: []lake.Field{{ID: f.ID, Name: "token", Type: text, Iceberg: "string"}}},
	}, [][]types.Datum{{types.NewStr(data), types.NewInt(1), types.NewStruct([]types.Datum{types.NewStr(token)})}}, func(d *lake.DataFile) {
		d.Content = lake.PositionDeletes
	}, nil)
	h.want("SELECT id FROM s.t", "1", "3")
	if out := h.eraseToken("s.t", ""); status(out) != "DONE" {
		t.Error(out)
	}
	h.want("SELECT id FROM s.t", "1", "3")
	h.clean()
}

// Statistics of a snapshot that stays go without it.
func TestEraseStatistics(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, token text)")
	h.must("INSERT INTO s.t VALUES (1, 'a')")
	tab := h.load("s.t")
	stats := filepath.Join(filepath.Dir(tab.MetadataLocation), "stats.puffin")
	h.plant(stats, puffinWith(token), 0)
	h.reregister("s.t", func(doc map[string]any) {
		doc["statistics"] = []any{map[string]any{"snapshot-id": tab.CurrentSnapshot().ID, "statistics-path": stats, "file-size-in-bytes": 10, "file-footer-size-in-bytes": 10, "blob-metadata": []any{}}}
	})
	if out := h.eraseToken("s.t", ""); status(out) != "DONE" {
		t.Error(out)
	}
	if now := h.load("s.t"); len(now.Statistics()) > 0 || now.CurrentSnapshot().ID != tab.CurrentSnapshot().ID {
		t.Error("statistics are left, or the snapshot went")
	}
	h.clean()
}

// Of many files only those are read and rewritten that hold the value.
func TestEraseFewOfMany(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, token text)")
	var union []string
	for i := range 60 {
		union = append(union, fmt.Sprintf("(%d, 'k%04d')", 2*i, 2*i), fmt.Sprintf("(%d, 'k%04d')", 2*i+1, 2*i+1))
		if i%3 == 2 {
			h.must("INSERT INTO s.t VALUES " + strings.Join(union, ", "))
			union = nil
		}
	}
	before := map[string]bool{}
	for _, p := range h.must("SELECT file_path FROM s.t.files") {
		before[p] = true
	}
	if out := h.must("ERASE FROM s.t WHERE token = 'k0033' REASON 'DSR-2'"); status(out) != "DONE" || !strings.Contains(out[0], "|rewrite|1|files rewritten as 1, 1 rows erased") {
		t.Error(out)
	}
	kept := 0
	for _, p := range h.must("SELECT file_path FROM s.t.files") {
		if before[p] {
			kept++
		}
	}
	if kept != len(before)-1 {
		t.Errorf("%d of %d files stayed", kept, len(before))
	}
	h.want("SELECT count(*), count(DISTINCT token), sum(id) FROM s.t", fmt.Sprintf("119|119|%d", 119*60-33))
}

// The history of everyone else stays: snapshots from before the value came and from after it has gone,
// in every format version.
func TestEraseKeepsHistory(t *testing.T) {
	for _, v := range []string{"1", "2", "3"} {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id int, token text) TBLPROPERTIES ('format-version' = '" + v + "')")
		h.must("INSERT INTO s.t VALUES (1, 'a')")
		h.must("INSERT INTO s.t VALUES (2, 'b')")
		h.must("ALTER TABLE s.t CREATE TAG early")
		h.must("INSERT INTO s.t VALUES (3, '" + token + "'), (4, 'd')")
		h.must("DELETE FROM s.t WHERE id = 1")
		early := h.must("SELECT snapshot_id FROM s.t.snapshots ORDER BY committed_at LIMIT 2")
		if out := h.eraseToken("s.t", ""); status(out) != "DONE" {
			t.Error(out)
		}
		h.want("SELECT id FROM s.t", "2", "4")
		h.want("SELECT id FROM s.t FOR VERSION AS OF 'early'", "1", "2")
		h.want("SELECT id FROM s.t FOR VERSION AS OF "+early[0], "1")
		h.want("SELECT count(*) FROM s.t.snapshots", "3")
		h.clean()
		if left := h.unheld("s.t"); len(left) > 0 {
			t.Errorf("format %s: nothing holds %v", v, left)
		}
	}
}

// Values may be parameters, as drivers send them.
func TestEraseParameter(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, token text)")
	h.must("INSERT INTO s.t VALUES (1, 'a'), (2, '" + token + "')")
	list, err := h.s.Parse("ERASE FROM s.t WHERE token = $1 REASON 'r'")
	if err != nil {
		t.Fatal(err)
	}
	st, err := h.s.Prepare(h.ctx, list[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := st.Execute(h.ctx, []types.Datum{types.NewStr(token)})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := r.Each(h.ctx, func([]types.Datum) error { n++; return nil }); err != nil || n == 0 || len(r.Columns()) != 6 {
		t.Errorf("%d rows, %v", n, err)
	}
	h.want("SELECT id FROM s.t", "1")
	h.clean()
}

// Rows of files from before a column was added have its default, which no file of theirs holds. Snapshots that
// do not show the column hold nothing.
func TestEraseDefault(t *testing.T) {
	for _, tags := range []string{"", "TAGS REWRITE"} {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id int) TBLPROPERTIES ('format-version' = '3')")
		h.must("INSERT INTO s.t VALUES (1), (2)")
		h.must("ALTER TABLE s.t CREATE TAG early")
		h.must("ALTER TABLE s.t ADD COLUMN n int DEFAULT 7")
		h.must("ALTER TABLE s.t CREATE BRANCH b")
		found := h.must("SHOW HOLDERS FROM s.t WHERE n = 7")
		if len(found) != 1 || !strings.Contains(found[0], "|data file|") || !strings.Contains(found[0], "|the column's default|2|") {
			t.Error(found)
		}
		h.must("INSERT INTO s.t VALUES (3, 7), (4, 8)")
		if out := h.must("ERASE FROM s.t WHERE n = 7 REASON 'r' " + tags); status(out) != "DONE" {
			t.Error(out)
		}
		h.want("SELECT * FROM s.t", "4|8")
		h.want("SELECT * FROM s.t.branch_b")
		h.want("SELECT * FROM s.t FOR VERSION AS OF 'early'", "1", "2")
		if found := h.must("SHOW HOLDERS FROM s.t WHERE n = 7 WITH (paranoid)"); len(found) > 0 {
			t.Error(found)
		}
		if left := h.unheld("s.t"); len(left) > 0 {
			t.Errorf("nothing holds %v", left)
		}
	}
}

// Row ids and the sequence numbers of rows' last updates stay.
func TestEraseLineage(t *testing.T) {
	h := newHouse(t)
	h.someRows("3")
	q := "SELECT id, _row_id, _last_updated_sequence_number FROM s.t WHERE token <> '" + token + "'"
	was := h.must(q)
	h.eraseToken("s.t", "TAGS DROP")
	h.want(q, was...)
	h.clean()
}

// Numbers, texts in structs, several values; what a value is in other columns is told, and keeps an
// erasure from being done.
func TestEraseValues(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id bigint, customer int, amount decimal(12,2), who struct<mail text, name text>, note text, day date)")
	h.must("INSERT INTO s.t VALUES (1, 100, 1.50, row('anna@example.com', 'Anna'), NULL, '2026-01-01'), (2, 200, 2.50, row('ben@example.com', 'Ben'), NULL, '2026-01-02'), " +
		"(3, 300, 3.50, row('carl@example.com', 'Carl'), 'ask anna@example.com', '2026-01-03'), (4, 400, 4.50, NULL, NULL, NULL)")
	h.must("ALTER TABLE s.t ALTER COLUMN customer TYPE bigint")
	h.must("INSERT INTO s.t VALUES (5, 200, 9.99, row('ben@example.com', 'Ben'), NULL, '2026-01-02')")
	if out := h.must("ERASE FROM s.t WHERE customer IN (200, 400) REASON 'r'"); status(out) != "DONE" || !strings.Contains(strings.Join(out, "\n"), "0 hits (values)") {
		t.Error(out)
	}
	h.want("SELECT id FROM s.t", "1", "3")
	h.want("SELECT count(*) FROM s.t.snapshots", "1")
	// No bound in any manifest is one of the values, neither of files that are there nor of those that went.
	now := h.load("s.t")
	id := now.Schema().ByName("customer").ID
	err := now.Reach(h.ctx, lake.Reach{Fields: []int{id}}, now.Snapshots(), func(x *lake.Held) error {
		if x.Entry == nil {
			return nil
		}
		for _, b := range [][]byte{x.Entry.File.Lower[id], x.Entry.File.Upper[id]} {
			if len(b) > 0 && (b[0] == 200 || b[0] == 144) {
				t.Errorf("a bound of %s is %v", x.Path, b)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	out := h.must("ERASE FROM s.t WHERE who.mail = 'anna@example.com' REASON 'r'")
	if text := strings.Join(out, "\n"); status(out) != "PENDING" || !strings.Contains(text, "1 data files hold it in other columns or within other values (note)") {
		t.Error(text)
	}
	h.want("SELECT id, (who).mail FROM s.t", "3|carl@example.com")
	if found := h.must("SHOW HOLDERS FROM s.t WHERE who.mail = 'anna@example.com' WITH (paranoid = true)"); len(found) != 1 || !strings.Contains(found[0], "|other column of data file|") {
		t.Error(found)
	}
	h.must("UPDATE s.t SET note = NULL WHERE id = 3")
	if out := h.must("ERASE FROM s.t WHERE note = 'ask anna@example.com' REASON 'r'"); status(out) != "DONE" {
		t.Error(out)
	}
	waits := h.must("SELECT id FROM system.erasures WHERE status = 'PENDING'")[0]
	if out := h.must("CALL system.resume_erasure('" + waits + "')"); status(out) != "DONE" {
		t.Error(out)
	}
	h.want("SELECT id FROM s.t", "3")
	for _, sql := range []string{"day = '2026-01-03'", "amount = 3.5"} {
		if out := h.must("ERASE FROM s.t WHERE " + sql + " REASON 'r'"); !strings.Contains(strings.Join(out, "\n"), "0 hits") {
			t.Error(out)
		}
	}
	h.want("SELECT id FROM s.t")
}

// Values that have the erased one within them, or begin alike, are others: they stay, their files are
// not written again and again, and what lies of the value in them is told.
func TestEraseAlike(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, token text) PARTITIONED BY (token)")
	h.must("INSERT INTO s.t VALUES (1, '" + token + "'), (2, 'x-" + token + "'), (3, '" + token + "-x'), (4, '" + token[:16] + "'), (5, 'other')")
	out := h.eraseToken("s.t", "")
	if text := strings.Join(out, "\n"); status(out) != "PENDING" || !strings.Contains(text, "2 data files hold it in other columns or within other values (token)") ||
		!strings.Contains(text, "|rewrite|1|files rewritten as 0, 1 rows erased") {
		t.Error(text)
	}
	h.want("SELECT id FROM s.t", "2", "3", "4", "5")
	h.must("ERASE FROM s.t WHERE token IN ('x-" + token + "', '" + token + "-x') REASON 'r'")
	if out := h.eraseToken("s.t", ""); status(out) != "DONE" {
		t.Error(out)
	}
	h.want("SELECT id FROM s.t", "4", "5")
}

// An orphan that is young may be of a write under way: the erasure is pending, and says until when.
func TestEraseYoungOrphan(t *testing.T) {
	h := newHouse(t)
	h.someRows("2")
	dead := filepath.Join(h.dir, "warehouse/s/t/data/dead-writer.parquet")
	now := time.Now()
	if err := os.Chtimes(dead, now, now); err != nil {
		t.Fatal(err)
	}
	out := h.eraseToken("s.t", "TAGS DROP")
	if text := strings.Join(out, "\n"); status(out) != "PENDING" || !strings.Contains(text, "1 files that nothing holds are younger than 24 hours") {
		t.Error(text)
	}
	old := now.Add(-25 * time.Hour)
	if err := os.Chtimes(dead, old, old); err != nil {
		t.Fatal(err)
	}
	if out := h.must("CALL system.resume_erasure('" + strings.Split(out[0], "|")[0] + "')"); status(out) != "DONE" {
		t.Error(out)
	}
	h.clean()
}

// What cannot be looked into keeps an erasure from being done, and is named.
func TestEraseClosedFiles(t *testing.T) {
	h := newHouse(t)
	h.someRows("2")
	data := filepath.Join(h.dir, "warehouse/s/t/data")
	for name, b := range map[string]string{"a.orc": "ORC and so on", "b.parquet": "PARE and so on PARE", "c.parquet": "PAR1 cut sho", "d.avro": "Obj\x01 cut short", "e.puffin": "PFA1 cut short"} {
		h.plant(filepath.Join(data, name), []byte(b), 9)
	}
	out := h.eraseToken("s.t", "TAGS DROP")
	if text := strings.Join(out, "\n"); status(out) != "PENDING" || strings.Count(text, "cannot be looked into") != 5 {
		t.Error(text)
	}
	for _, name := range []string{"a.orc", "b.parquet", "c.parquet", "d.avro", "e.puffin"} {
		if err := os.Remove(filepath.Join(data, name)); err != nil {
			t.Error("what cannot be looked into was removed")
		}
	}
	if out := h.eraseToken("s.t", ""); status(out) != "DONE" {
		t.Error(out)
	}
	h.clean()
}

// A file that a write has left half written is removed once nobody can be writing it any more: what it
// holds cannot be told, and nobody will ever read it.
func TestEraseHalfWritten(t *testing.T) {
	h := newHouse(t)
	h.someRows("2")
	data := filepath.Join(h.dir, "warehouse/s/t/data")
	h.plant(filepath.Join(data, ".lhsql-tmp-old"), []byte("PAR1 cut sho"), 9)
	h.plant(filepath.Join(data, ".lhsql-tmp-new"), []byte("PAR1 cut sho"), 0)
	out := h.eraseToken("s.t", "TAGS DROP")
	if text := strings.Join(out, "\n"); status(out) != "PENDING" || !strings.Contains(text, "1 files that nothing holds are younger than 24 hours") {
		t.Error(text)
	}
	h.age()
	if out := h.eraseToken("s.t", ""); status(out) != "DONE" {
		t.Error(out)
	}
	if left, _ := filepath.Glob(filepath.Join(data, ".lhsql-tmp-*")); len(left) > 0 {
		t.Error(left)
	}
}

// Partition statistics have field ids of their own, which are the table's columns' too: they hold a value where
// a partition has it, and nowhere else.
func TestErasePartitionStatistics(t *testing.T) {
	for _, v := range []string{"2", "3"} {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id int, grp int, v text) PARTITIONED BY (grp) TBLPROPERTIES ('format-version' = '" + v + "')")
		h.must("INSERT INTO s.t VALUES (1, 7, 'a'), (2, 0, 'b'), (3, 0, 'c')")
		path := h.must("CALL system.compute_partition_stats('s.t')")[0]
		holders := func(cond string) string { return strings.Join(h.must("SHOW HOLDERS FROM s.t WHERE "+cond), "\n") }
		for cond, held := range map[string]bool{"grp = 7": true, "grp = 1": false, "id = 1": false, "v = 'c'": false} {
			if got := strings.Contains(holders(cond), path); got != held {
				t.Errorf("format %s: partition statistics hold %s: %v", v, cond, got)
			}
		}
		// Spec 0, one record, one file: statistics of grp 0 alone have all of these numbers.
		for _, cond := range []string{"v = 'c'", "id = 1", "grp = 0"} {
			if out := h.must("ERASE FROM s.t WHERE " + cond + " REASON 'DSR'"); status(out) != "DONE" {
				t.Errorf("format %s, %s: %v", v, cond, out)
			}
		}
		if left := holders("grp = 0"); left != "" {
			t.Errorf("format %s: %s", v, left)
		}
	}
}

// Whoever changes evidence, or takes a record away, is found out, and which record it was.
func TestEvidence(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, token text)")
	for i := range 3 {
		h.must(fmt.Sprintf("INSERT INTO s.t VALUES (%d, 'value-%d')", i, i))
		h.must(fmt.Sprintf("ERASE FROM s.t WHERE token = 'value-%d' REASON 'DSR-%d'", i, i))
	}
	ids := h.must("SELECT id FROM system.erasures ORDER BY seq")
	verify := func() string {
		return strings.Join(h.must("CALL system.verify_erasure('"+ids[2]+"', 'value-2')"), "\n")
	}
	if got := verify(); !regexp.MustCompile(`^lake\.s\.t\|\d+\|0\|NULL$`).MatchString(got) {
		t.Error(got)
	}
	if _, err := ask(h.ctx, h.s, "CALL system.verify_erasure('"+ids[2]+"', 'value-1')"); err == nil || !strings.Contains(err.Error(), "the value is not the one") {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(h.dir, "catalog.db.erasure-key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "catalog.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	change := func(sql string) {
		t.Helper()
		if _, err := db.Exec(sql); err != nil {
			t.Fatal(err)
		}
	}
	change("UPDATE lhsql_erasures SET body = replace(body, 'DSR-1', 'DSR-9') WHERE kind = 'record' AND seq = 2")
	if got := verify(); !strings.Contains(got, "evidence|0|0|record 2 (erasure "+ids[1]+") was changed") {
		t.Error(got)
	}
	change("UPDATE lhsql_erasures SET body = replace(body, 'DSR-9', 'DSR-1') WHERE kind = 'record' AND seq = 2")
	if got := verify(); strings.Contains(got, "evidence") {
		t.Error(got)
	}
	change("DELETE FROM lhsql_erasures WHERE kind = 'record' AND seq = 2")
	if got := verify(); !strings.Contains(got, "record 2 is missing") {
		t.Error(got)
	}
}

// Tables that were written from the erased one may hold copies: they are named, and not touched.
func TestEraseCopies(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, token text)")
	h.must("INSERT INTO s.t VALUES (1, '" + token + "')")
	h.must("CREATE TABLE s.copy AS SELECT * FROM s.t")
	if out := h.must("SHOW HOLDERS FROM s.t WHERE token = '" + token + "'"); !strings.Contains(strings.Join(out, "\n"), "lake.s.copy|may hold a copy|") {
		t.Error(out)
	}
	if out := h.eraseToken("s.t", ""); status(out) != "DONE" || !strings.Contains(strings.Join(out, "\n"), "|may hold copies|1|lake.s.copy") {
		t.Error(out)
	}
	h.want("SELECT count(*) FROM s.copy", "1")
}

func (h *house) open() {
	h.t.Helper()
	h.serve(map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(h.dir, "catalog.db"), "warehouse": filepath.Join(h.dir, "warehouse")})
}
