package maintain_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/dml/parquet"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// house is a lake with two sessions: one that compacts, and another writer.
type house struct {
	t     *testing.T
	dir   string
	ctx   context.Context
	eng   *engine.Engine
	s     *engine.Session
	other *engine.Session
}

func newHouse(t *testing.T) *house {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "lhsql-*") // most of the time of small commits goes to fsync
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	h := &house{t: t, dir: dir, ctx: context.Background()}
	h.open()
	h.must("CREATE SCHEMA s")
	return h
}

func (h *house) session() *engine.Session {
	s, err := h.eng.NewSession(h.ctx, engine.SessionOptions{User: "tester", Database: "lake"})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(s.Close)
	return s
}

// ask runs statements and gives the rows of the last, columns separated by |.
func ask(ctx context.Context, s *engine.Session, sql string) ([]string, error) {
	list, err := s.Parse(sql)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range list {
		if out, err = one(ctx, s, p); err != nil {
			break
		}
	}
	if e := s.EndImplicit(ctx); err == nil {
		err = e
	}
	return out, err
}

func one(ctx context.Context, s *engine.Session, p engine.Parsed) (out []string, err error) {
	st, err := s.Prepare(ctx, p, nil)
	if err != nil {
		s.Fail()
		return nil, err
	}
	r, err := st.Execute(ctx, nil)
	if err != nil {
		return nil, err
	}
	err = r.Each(ctx, func(row []types.Datum) error {
		cells := make([]string, len(row))
		for i, d := range row {
			cells[i] = "NULL"
			if !d.IsNull() {
				cells[i] = types.Format(d, r.Columns()[i].Type, nil)
			}
		}
		out = append(out, strings.Join(cells, "|"))
		return nil
	})
	return out, err
}

func (h *house) must(sql string) []string {
	h.t.Helper()
	return h.as(h.s, sql)
}

func (h *house) as(s *engine.Session, sql string) []string {
	h.t.Helper()
	out, err := ask(h.ctx, s, sql)
	if err != nil {
		h.t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// want compares a query's rows, in any order.
func (h *house) want(sql string, rows ...string) {
	h.t.Helper()
	got := h.must(sql)
	sort.Strings(got)
	sort.Strings(rows)
	if !slices.Equal(got, rows) {
		h.t.Errorf("%s\n got %v\nwant %v", sql, got, rows)
	}
}

// during runs sql in the first session, and f in between, the first time that its commit comes to
// the step.
func (h *house) during(sql, step string, f func()) ([]string, error) {
	done := false
	ctx := lake.WithYield(h.ctx, func(at string) error {
		if at == step && !done {
			done = true
			f()
		}
		return nil
	})
	out, err := ask(ctx, h.s, sql)
	if !done {
		h.t.Errorf("%s never came to %q", sql, step)
	}
	return out, err
}

// files are all files of the lake's tables.
func (h *house) files() []string {
	h.t.Helper()
	var out []string
	err := filepath.WalkDir(filepath.Join(h.dir, "warehouse"), func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, p)
		}
		return err
	})
	if err != nil {
		h.t.Fatal(err)
	}
	sort.Strings(out)
	return out
}

// unheld are files of a table that its metadata does not hold.
func (h *house) unheld(table string) []string {
	held := map[string]bool{}
	for _, q := range []string{"SELECT file_path FROM %s.all_files", "SELECT path FROM %s.all_manifests", "SELECT manifest_list FROM %s.snapshots", "SELECT file FROM %s.metadata_log_entries"} {
		for _, p := range h.must(fmt.Sprintf(q, table)) {
			held[strings.TrimPrefix(p, "file://")] = true
		}
	}
	for _, f := range h.load(table).PartitionStatistics() {
		held[strings.TrimPrefix(f.Path, "file://")] = true
	}
	var out []string
	for _, p := range h.files() {
		if strings.Contains(p, "/"+strings.ReplaceAll(table, ".", "/")+"/") && !held[p] {
			out = append(out, p)
		}
	}
	return out
}

// held are all files that a table's metadata holds.
func (h *house) held(table string) map[string]bool {
	h.t.Helper()
	out := map[string]bool{}
	err := h.load(table).ReachAll(h.ctx, lake.Reach{}, func(x *lake.Held) error {
		if x.Live() {
			out[x.Path] = true
		}
		return nil
	})
	if err != nil {
		h.t.Error(err)
	}
	return out
}

// whole: no file that a table holds is gone.
func (h *house) whole(table string) {
	h.t.Helper()
	for p := range h.held(table) {
		if _, err := os.Stat(p); err != nil {
			h.t.Errorf("%s is held and gone", p)
		}
	}
}

// age makes all files so old that they may be orphans.
func (h *house) age() {
	h.t.Helper()
	old := time.Now().Add(-10 * 24 * time.Hour)
	for _, p := range h.files() {
		if err := os.Chtimes(p, old, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.t.Fatal(err)
		}
	}
}

// swept: after orphans were removed what is there is what the lake's only table holds.
func (h *house) swept(table string) {
	h.t.Helper()
	h.age()
	h.must("CALL system.remove_orphan_files('" + table + "')")
	h.whole(table)
	held := h.held(table)
	for _, p := range h.files() {
		if !held[p] {
			h.t.Errorf("nothing holds %s", p)
		}
	}
}

func (h *house) catalog() lake.Catalog {
	c, ok := h.eng.Catalog("lake")
	if !ok {
		h.t.Fatal("no catalog")
	}
	return c
}

func (h *house) load(table string) *lake.Table {
	h.t.Helper()
	ns, name, _ := strings.Cut(table, ".")
	t, err := h.catalog().Load(h.ctx, lake.Name{Catalog: "lake", Namespace: ns, Table: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return t
}

// deleteEqual commits an equality delete of values of one int column, as Flink does; for the given
// partition spec and its values.
func (h *house) deleteEqual(table, column string, spec *lake.PartitionSpec, partition []types.Datum, values ...any) {
	h.t.Helper()
	t := h.load(table)
	f := *t.Schema().ByName(column)
	f.Required = false
	path := t.FilePath("", fmt.Sprintf("eq-%d.parquet", time.Now().UnixNano()))
	out, err := t.FS().CreateStream(h.ctx, t.Resolve(path))
	if err != nil {
		h.t.Fatal(err)
	}
	w, err := parquet.NewWriter(out, []lake.Field{f}, parquet.Options{})
	if err != nil {
		h.t.Fatal(err)
	}
	a := vec.NewAppender(f.Type)
	for _, v := range values {
		if v == nil {
			a.AppendNull()
		} else {
			a.AppendDatum(types.NewInt(int64(v.(int))))
		}
	}
	if err := w.Write(&vec.Batch{Cols: []*vec.Vector{a.Vector()}, Rows: len(values)}); err != nil {
		h.t.Fatal(err)
	}
	d, err := w.Close()
	if err == nil {
		err = out.Commit(h.ctx)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	d.Path, d.Content, d.EqualityIDs = path, lake.EqualityDeletes, []int{f.ID}
	d.SpecID, d.Partition = spec.ID, partition
	if _, err := h.catalog().Commit(h.ctx, t.Name, lake.Change{Add: []*lake.DataFile{d}}); err != nil {
		h.t.Fatal(err)
	}
}

const all = ", options => map('rewrite-all', 'true')"

// Rows that equality deletes have taken stay away, in every partition and for NULL, and deletes that
// nothing is left for go in the same commit, although the new files keep the sequence number of the
// state that was read (apache/iceberg#4127, iceberg-go#2042).
func TestRewriteAppliesEqualityDeletes(t *testing.T) {
	for _, version := range []string{"2", "3"} {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp) TBLPROPERTIES ('format-version' = '" + version + "')")
		h.must("INSERT INTO s.t VALUES (1, 'a'), (2, 'a'), (NULL, 'a'), (1, 'b'), (2, 'b')")
		h.must("INSERT INTO s.t VALUES (3, 'a'), (1, 'a')")
		tb := h.load("s.t")
		spec := tb.DefaultSpec()
		h.deleteEqual("s.t", "id", spec, []types.Datum{types.NewStr("a")}, 1, nil)
		h.must("INSERT INTO s.t VALUES (1, 'a')") // after the delete: it stays
		h.want("SELECT * FROM s.t", "2|a", "1|b", "2|b", "3|a", "1|a")
		seq := h.load("s.t").CurrentSnapshot().Seq
		h.want("CALL system.rewrite_data_files('s.t', where => 'grp = ''b'''"+all+")", "1|1|"+h.size("b")+"|0|0")
		h.want("SELECT count(*) FROM s.t.delete_files", "1")
		out := h.must("CALL system.rewrite_data_files('s.t'" + all + ")")
		if p := strings.Split(out[0], "|"); p[0] != "4" || p[1] != "2" || p[4] != "1" {
			t.Errorf("format %s: %v", version, out)
		}
		h.want("SELECT * FROM s.t", "2|a", "1|b", "2|b", "3|a", "1|a")
		h.want("SELECT count(*) FROM s.t.delete_files", "0")
		h.want("SELECT min(sequence_number) > "+fmt.Sprint(seq)+" FROM s.t.entries WHERE status < 2", "t") // the second rewrite's own base
	}
}

// size is the bytes of a partition's files, as rewritten_bytes_count says it.
func (h *house) size(grp string) string {
	return h.must("SELECT sum(file_size_in_bytes) FROM s.t.files WHERE content = 0 AND partition ->> 'grp' = '" + grp + "'")[0]
}

// Equality deletes that are committed while files are rewritten apply to the new files: these keep
// the sequence number of the state that was read. Without that the group is written again.
func TestEqualityDeleteMeanwhile(t *testing.T) {
	for _, options := range []string{"'rewrite-all', 'true'", "'rewrite-all', 'true', 'use-starting-sequence-number', 'false'"} {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id int, v text)")
		h.must("INSERT INTO s.t VALUES (1, 'one'), (2, 'two')")
		h.must("INSERT INTO s.t VALUES (3, 'three')")
		tries := 0
		ctx := lake.WithYield(h.ctx, func(step string) error {
			if step == "load" {
				if tries++; tries == 1 {
					h.deleteEqual("s.t", "id", h.load("s.t").DefaultSpec(), nil, 2, 3)
				}
			}
			return nil
		})
		out, err := ask(ctx, h.s, "CALL system.rewrite_data_files('s.t', options => map("+options+"))")
		if err != nil {
			t.Fatal(err)
		}
		h.want("SELECT id FROM s.t", "1")
		if kept := !strings.Contains(options, "false"); kept != (tries == 1) {
			t.Errorf("%s: %d tries, %v", options, tries, out)
		}
		if left := h.unheld("s.t"); len(left) > 0 {
			t.Errorf("%s left %v", options, left)
		}
		// The next rewrite applies the delete and drops it.
		h.must("CALL system.rewrite_data_files('s.t'" + all + ")")
		h.want("SELECT id FROM s.t", "1")
		h.want("SELECT count(*) FROM s.t.delete_files", "0")
	}
}

// An equality delete of an older partition spec does not apply to files of the new one: where rows
// move to another spec meanwhile, the group is written again, and the deleted row does not return.
func TestEqualityDeleteOfOldSpecMeanwhile(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp)")
	h.must("INSERT INTO s.t VALUES (1, 'a'), (2, 'a'), (3, 'b')")
	old := h.load("s.t").DefaultSpec()
	h.must("ALTER TABLE s.t ADD PARTITION FIELD bucket(2, id)")
	out, err := h.during("CALL system.rewrite_data_files('s.t'"+all+")", "load", func() {
		h.deleteEqual("s.t", "id", old, []types.Datum{types.NewStr("a")}, 2)
	})
	if err != nil {
		t.Fatal(err)
	}
	h.want("SELECT id FROM s.t", "1", "3")
	if p := strings.Split(out[0], "|"); p[0] != "2" || p[3] != "0" || p[4] != "1" {
		t.Errorf("%v", out)
	}
	h.want("SELECT count(*) FROM s.t.files", "2")
}

// An equality delete of the new partition spec does not apply to files of an older one: rows that move to its
// partition meanwhile, and keep a sequence number before it, are not deleted by it.
func TestEqualityDeleteOfNewSpecMeanwhile(t *testing.T) {
	for _, step := range []string{"load", "validate", "swap"} {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp)")
		h.must("INSERT INTO s.t VALUES (1, 'a'), (2, 'a'), (3, 'b')")
		h.must("ALTER TABLE s.t ADD PARTITION FIELD bucket(1, id)")
		h.must("INSERT INTO s.t VALUES (2, 'a')")
		if _, err := h.during("CALL system.rewrite_data_files('s.t'"+all+")", step, func() {
			h.deleteEqual("s.t", "id", h.load("s.t").DefaultSpec(), []types.Datum{types.NewStr("a"), types.NewInt(0)}, 2)
		}); err != nil {
			t.Fatal(err)
		}
		h.want("SELECT id, grp FROM s.t", "1|a", "2|a", "3|b")
		h.must("CALL system.rewrite_data_files('s.t'" + all + ")")
		h.want("SELECT id, grp FROM s.t", "1|a", "2|a", "3|b")
	}
}

// A compaction is validated from the state that it read, not from the one that it is committed to:
// rows that were deleted or updated between its reading and its commit do not return and are not
// doubled (StarRocks#77709). The group is written again on what is there now.
func TestDeletesMeanwhile(t *testing.T) {
	for _, format := range []string{"2", "3"} {
		for _, mode := range []string{"copy-on-write", "merge-on-read"} {
			for _, step := range []string{"load", "validate", "manifests", "metadata", "swap"} {
				h := newHouse(t)
				h.must("CREATE TABLE s.t (id int, v int) TBLPROPERTIES ('format-version' = '" + format + "', 'write.delete.mode' = '" + mode + "', 'write.update.mode' = '" + mode + "')")
				h.must("INSERT INTO s.t SELECT g, g FROM generate_series(1, 5) g")
				h.must("INSERT INTO s.t SELECT g, g FROM generate_series(6, 9) g")
				out, err := h.during("CALL system.rewrite_data_files('s.t'"+all+")", step, func() {
					h.as(h.other, "DELETE FROM s.t WHERE id = 2; UPDATE s.t SET v = -v WHERE id IN (3, 7); INSERT INTO s.t VALUES (10, 10)")
				})
				what := format + " " + mode + " " + step
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				h.want("SELECT * FROM s.t", "1|1", "3|-3", "4|4", "5|5", "6|6", "7|-7", "8|8", "9|9", "10|10")
				// Of copied files nothing is left to rewrite; those with deletes are rewritten.
				if p := strings.Split(out[0], "|"); p[3] != "0" || (p[0] == "2") != (mode == "merge-on-read") {
					t.Errorf("%s: %v", what, out)
				}
				if left := h.unheld("s.t"); len(left) > 0 {
					t.Errorf("%s left %v", what, left)
				}
			}
		}
	}
}

// Appends that come meanwhile are no conflict, and one lost group does not take the others along.
func TestAppendsAndOtherPartitionsMeanwhile(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
	for i := range 4 {
		h.must(fmt.Sprintf("INSERT INTO s.t VALUES (%d, 'a'), (%d, 'b'), (%d, 'b'), (%d, 'c')", i, 10+i, 30+i, 20+i))
	}
	commits := 0
	ctx := lake.WithYield(h.ctx, func(step string) error {
		if step == "load" {
			if commits++; commits == 1 {
				h.as(h.other, "INSERT INTO s.t VALUES (99, 'a'); DELETE FROM s.t WHERE id = 11")
			}
		}
		return nil
	})
	before := len(h.must("SELECT 1 FROM s.t.snapshots"))
	out, err := ask(ctx, h.s, "CALL system.rewrite_data_files('s.t'"+all+")")
	if err != nil {
		t.Fatal(err)
	}
	if p := strings.Split(out[0], "|"); p[0] != "12" || p[1] != "3" || p[3] != "0" || p[4] != "1" {
		t.Errorf("%v", out)
	}
	h.want("SELECT grp, count(*), count(DISTINCT _file), sum(id) FROM s.t GROUP BY 1", "a|5|2|105", "b|7|1|161", "c|4|1|86")
	// Two of the other's, one of the groups that had not lost, one of that which had.
	if n := len(h.must("SELECT 1 FROM s.t.snapshots")) - before; n != 4 {
		t.Errorf("%d snapshots", n)
	}
	if left := h.unheld("s.t"); len(left) > 0 {
		t.Errorf("%v stayed", left)
	}
}

// A writer that deletes from the files each time: the group is given up and reported.
func TestGroupThatAlwaysLoses(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
	h.must("INSERT INTO s.t SELECT g FROM generate_series(1, 100) g")
	h.must("INSERT INTO s.t SELECT g FROM generate_series(101, 200) g")
	next := 0
	ctx := lake.WithYield(h.ctx, func(step string) error {
		if step == "load" {
			next++
			h.as(h.other, fmt.Sprintf("DELETE FROM s.t WHERE id = %d", next))
		}
		return nil
	})
	out, err := ask(ctx, h.s, "CALL system.rewrite_data_files('s.t'"+all+")")
	if err != nil {
		t.Fatal(err)
	}
	if p := strings.Split(out[0], "|"); p[0] != "0" || p[1] != "0" || p[3] != "2" {
		t.Errorf("%v", out)
	}
	h.want("SELECT count(*), min(id) FROM s.t", fmt.Sprintf("%d|%d", 200-next, next+1))
	if left := h.unheld("s.t"); len(left) > 0 {
		t.Errorf("%v stayed", left)
	}
}

// Two compactions of the same files: one of them has nothing left to do.
func TestTwoCompactions(t *testing.T) {
	for _, format := range []string{"2", "3"} {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id int) TBLPROPERTIES ('format-version' = '" + format + "', 'write.delete.mode' = 'merge-on-read')")
		h.must("INSERT INTO s.t VALUES (1), (2)")
		h.must("INSERT INTO s.t VALUES (3), (4)")
		h.must("DELETE FROM s.t WHERE id = 3")
		out, err := h.during("CALL system.rewrite_data_files('s.t', options => map('min-input-files', '2'))", "validate", func() {
			h.as(h.other, "CALL system.rewrite_data_files('s.t'"+all+")")
		})
		if err != nil || out[0] != "0|0|0|0|0" {
			t.Errorf("%v %v", out, err)
		}
		h.want("SELECT id FROM s.t", "1", "2", "4")
		h.want("SELECT count(*) FROM s.t.files", "1")
		if left := h.unheld("s.t"); len(left) > 0 {
			t.Errorf("%v stayed", left)
		}
	}
}

// A rewrite that ends at any step of its commit has changed nothing or all, on every ref, and leaves
// no file behind unless nobody can know what became of it.
func TestEndsAtEachStep(t *testing.T) {
	const call = "CALL system.rewrite_data_files('s.t', options => map('rewrite-all', 'true', 'partial-progress.enabled', 'true'))"
	for n := 1; ; n++ {
		h := newHouse(t)
		h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
		h.must("INSERT INTO s.t SELECT g, 'g' || g % 2 FROM generate_series(1, 20) g")
		h.must("INSERT INTO s.t SELECT g, 'g' || g % 2 FROM generate_series(21, 40) g")
		h.must("ALTER TABLE s.t CREATE TAG g")
		h.must("DELETE FROM s.t WHERE id % 10 = 0")
		rows := h.must("SELECT * FROM s.t ORDER BY 1")
		at, name := 0, ""
		ctx := lake.WithYield(h.ctx, func(step string) error {
			if at++; at == n {
				name = step
				return errors.New("the power went")
			}
			return nil
		})
		_, err := ask(ctx, h.s, call)
		if name == "" {
			if err != nil {
				t.Fatal(err)
			}
			if n < 12 {
				t.Errorf("only %d steps", n)
			}
			break
		}
		h.want("SELECT * FROM s.t ORDER BY 1", slices.Clone(rows)...)
		h.want("SELECT count(*), sum(id) FROM s.t.tag_g", "40|820")
		if left := h.unheld("s.t"); len(left) > 0 && name != "swapped" {
			t.Errorf("ended at step %d, %s: %v stayed", n, name, left)
		}
		h.must(call)
		h.want("SELECT * FROM s.t ORDER BY 1", slices.Clone(rows)...)
		h.want("SELECT count(*) FROM s.t.files", "2")
	}
}

// A rewrite that is cancelled while it reads stops at once and leaves nothing.
func TestCancelledRewrite(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, v text) TBLPROPERTIES ('write.target-file-size-bytes' = '100000')")
	h.must("INSERT INTO s.t SELECT g, md5(g::text) FROM generate_series(1, 400000) g")
	before := h.files()
	ctx, cancel := context.WithCancel(h.ctx)
	done := make(chan error)
	go func() {
		_, err := ask(ctx, h.s, "CALL system.rewrite_data_files('s.t', 'sort', 'v'"+all+")")
		done <- err
	}()
	// As soon as it writes; or, where it is too fast for that, when it is done.
	for len(h.files()) == len(before) {
		select {
		case err := <-done:
			t.Fatalf("it ended before it wrote anything: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	start := time.Now()
	err := <-done
	if err == nil { // it was faster
		h.want("SELECT count(*), sum(id) FROM s.t", "400000|80000200000")
		return
	}
	if sqlerr.CodeOf(err) != sqlerr.QueryCanceled {
		t.Error(err)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v to stop", took)
	}
	if after := h.files(); !slices.Equal(before, after) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
	if left, _ := os.ReadDir(filepath.Join(h.dir, "tmp")); len(left) > 0 {
		t.Errorf("%d temporary files stayed", len(left))
	}
	h.want("SELECT count(*), sum(id) FROM s.t", "400000|80000200000")
}

// A file that cannot be read, or a place that cannot be written: without partial progress nothing
// happens, with it the groups that can be rewritten are, and the others are counted.
func TestFailingStore(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp)")
	h.must("INSERT INTO s.t SELECT g, 'g' || g % 3 FROM generate_series(1, 30) g")
	h.must("INSERT INTO s.t SELECT g, 'g' || g % 3 FROM generate_series(31, 60) g")
	lost := strings.TrimPrefix(h.must("SELECT max(file_path) FROM s.t.files WHERE partition ->> 'grp' = 'g1'")[0], "file://")
	if err := os.Rename(lost, lost+".away"); err != nil {
		t.Fatal(err)
	}
	before := h.files()
	if _, err := ask(h.ctx, h.s, "CALL system.rewrite_data_files('s.t'"+all+")"); sqlerr.CodeOf(err) != sqlerr.IOError && err == nil {
		t.Errorf("no error")
	}
	if after := h.files(); !slices.Equal(before, after) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
	out := h.must("CALL system.rewrite_data_files('s.t', options => map('rewrite-all', 'true', 'partial-progress.enabled', 'true'))")
	if p := strings.Split(out[0], "|"); p[0] != "4" || p[1] != "2" || p[3] != "2" {
		t.Errorf("%v", out)
	}
	if err := os.Rename(lost+".away", lost); err != nil {
		t.Fatal(err)
	}
	h.want("SELECT count(*), sum(id), count(DISTINCT _file) FROM s.t", "60|1830|4")
	if left := h.unheld("s.t"); len(left) > 0 {
		t.Errorf("%v stayed", left)
	}
	// A file stands where the folder of new files should be.
	if err := os.WriteFile(filepath.Join(h.dir, "warehouse", "s", "t", "wall"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	h.must("ALTER TABLE s.t SET TBLPROPERTIES ('write.data.path' = '" + h.load("s.t").Location() + "/wall/data')")
	before = h.files()
	if _, err := ask(h.ctx, h.s, "CALL system.rewrite_data_files('s.t'"+all+")"); err == nil {
		t.Errorf("no error")
	}
	if after := h.files(); !slices.Equal(before, after) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
	h.want("SELECT count(*), sum(id) FROM s.t", "60|1830")
}

// rewritten is the result row of a rewrite of the table.
func rewritten(h *house, table, options string) []string {
	h.t.Helper()
	return strings.Split(h.must("CALL system.rewrite_data_files('" + table + "', options => map(" + options + "))")[0], "|")
}

// Groups and commits are as the options say.
func TestRewriteOptions(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp)")
	for i := range 4 {
		h.must(fmt.Sprintf("INSERT INTO s.t SELECT %d * 10 + g, 'g' || g %% 4 FROM generate_series(1, 8) g", i))
	}
	snapshots := func() int { return len(h.must("SELECT 1 FROM s.t.snapshots")) }
	result := func(options string) []string { return rewritten(h, "s.t", options) }
	before := snapshots()
	if p := result("'rewrite-all', 'true', 'max-files-to-rewrite', '6'"); p[0] != "6" || p[1] != "2" || snapshots() != before+1 {
		t.Errorf("%v, %d snapshots", p, snapshots()-before)
	}
	before = snapshots()
	if p := result("'rewrite-all', 'true', 'partial-progress.enabled', 'true', 'partial-progress.max-commits', '2', 'rewrite-job-order', 'files-desc'"); p[0] != "12" || p[1] != "4" || snapshots() != before+2 {
		t.Errorf("%v, %d snapshots", p, snapshots()-before)
	}
	// Groups of one file each: nothing is too small for a file of its own.
	before = snapshots()
	if p := result("'rewrite-all', 'true', 'max-file-group-size-bytes', '10'"); p[0] != "4" || p[1] != "4" || snapshots() != before+1 {
		t.Errorf("%v, %d snapshots", p, snapshots()-before)
	}
	h.want("SELECT count(*), sum(id) FROM s.t", "32|624")
	// Files are cut at the size that is asked for.
	h.must("CREATE TABLE s.big (id int, v text)")
	h.must("INSERT INTO s.big SELECT g, md5(g::text) FROM generate_series(1, 100000) g")
	p := strings.Split(h.must("CALL system.rewrite_data_files('s.big', options => map('target-file-size-bytes', '600000', 'rewrite-all', 'true'))")[0], "|")
	if p[0] != "1" || len(p[1]) != 1 || p[1] < "3" {
		t.Errorf("%v", p)
	}
	h.want("SELECT count(*), sum(id) FROM s.big", "100000|5000050000")
	// And small ones of them are put together again, in the order in which they lay.
	p = rewritten(h, "s.big", "'min-input-files', '2'")
	if p[1] != "1" {
		t.Errorf("%v", p)
	}
	h.want("SELECT count(*) FROM s.big WHERE _pos <> id - 1", "0")
}

// Format 1 knows no sequence numbers.
func TestRewriteFormat1(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp) TBLPROPERTIES ('format-version' = '1')")
	h.must("INSERT INTO s.t VALUES (1, 'a'), (2, 'b')")
	h.must("INSERT INTO s.t VALUES (3, 'a'), (4, 'b')")
	h.must("ALTER TABLE s.t DROP PARTITION FIELD grp")
	h.must("DELETE FROM s.t WHERE id = 4")
	out, err := h.during("CALL system.rewrite_data_files('s.t'"+all+")", "load", func() {
		h.as(h.other, "INSERT INTO s.t VALUES (5, 'c')")
	})
	if err != nil || !strings.HasPrefix(out[0], "3|1|") {
		t.Errorf("%v %v", out, err)
	}
	h.want("SELECT * FROM s.t", "1|a", "2|b", "3|a", "5|c")
	h.want("SELECT count(*) FROM s.t.files", "2")
}

// Nested columns, wide decimals, nanoseconds and all kinds of NULLs come through as they were.
func TestRewriteTypes(t *testing.T) {
	h := newHouse(t)
	h.must(`CREATE TABLE s.t (id int, b boolean, l bigint, f real, d double precision, n numeric(9,2), w numeric(38,3), dt date, tm time, ts timestamp, tz timestamptz,
		ns timestamp_ns, s text, u uuid, bi bytea, li int[], st struct<a int, b struct<c text>>, m map<text, int>) TBLPROPERTIES ('format-version' = '3')`)
	h.must(`INSERT INTO s.t (id, b, l, f, d, n, w, dt, tm, ts, tz, ns, s, u, bi, li) VALUES
		(1, true, -9000000000, -0.5, 'NaN', -10.65, -0.042, '1969-12-31', '01:00:00', '1969-12-31 23:59:59.999999', '1970-01-02 00:00:00+00', '2020-01-01 00:00:00.123456789', 'añb', 'f79c3e09-677c-4bbd-a479-3f349cb785e7', '\x00010203', ARRAY[1, NULL, 3]),
		(2, false, 9223372036854775807, 3.4e38, '-Infinity', 9999999.99, 12345678901234567890123456789012345.678, '2999-12-31', '23:59:59.999999', '2999-12-31 00:00:00', '2026-07-01 12:00:00+02', NULL, '', '00000000-0000-0000-0000-000000000000', '', '{}')`)
	h.must("INSERT INTO s.t (id) VALUES (3)")
	before := h.must("SELECT *, _row_id FROM s.t ORDER BY id")
	h.must("CALL system.rewrite_data_files('s.t', 'sort', 'zorder(b, d, w, dt, tm, ns, s, u, bi), id', map('rewrite-all', 'true'))")
	h.want("SELECT *, _row_id FROM s.t ORDER BY id", before...)
	h.want("SELECT count(*) FROM s.t.files", "1")
}

// The job knows how many files and bytes there are to rewrite, and how far it is.
func TestRewriteProgress(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read')")
	for i := range 3 {
		h.must(fmt.Sprintf("INSERT INTO s.t SELECT g FROM generate_series(%d, %d) g", i*10, i*10+9))
	}
	h.must("DELETE FROM s.t WHERE id BETWEEN 5 AND 14")
	for _, how := range []string{"", ", strategy => 'sort', sort_order => 'id'"} {
		var seen []string
		ctx := lake.WithYield(h.ctx, func(step string) error {
			if step == "load" {
				seen = h.as(h.other, "SELECT phase, files_done, files_total, bytes_done = bytes_total AND bytes_total > 0 FROM system.jobs WHERE state = 'running'")
			}
			return nil
		})
		files := h.must("SELECT count(*) FROM s.t.files WHERE content = 0")[0]
		if _, err := ask(ctx, h.s, "CALL system.rewrite_data_files('s.t'"+how+all+")"); err != nil {
			t.Fatal(err)
		}
		if want := "commit|" + files + "|" + files + "|t"; len(seen) != 1 || seen[0] != want {
			t.Errorf("%v, want %s", seen, want)
		}
	}
}

// Arguments, options and conditions may be parameters of a prepared statement.
func TestRewriteParameters(t *testing.T) {
	h := newHouse(t)
	h.must("CREATE TABLE s.t (id int, grp text) PARTITIONED BY (grp)")
	for i := range 2 {
		h.must(fmt.Sprintf("INSERT INTO s.t VALUES (%d, 'a'), (%d, 'b')", i, i))
	}
	for _, c := range []struct {
		sql  string
		args []types.Datum
		want string
	}{
		{"CALL system.rewrite_data_files($1, where => $2, options => map('min-input-files', $3))", []types.Datum{types.NewStr("s.t"), types.NewStr("grp = 'a'"), types.NewStr("2")}, "2|1"},
		{"OPTIMIZE s.t WHERE grp = $1", []types.Datum{types.NewStr("a")}, "0|0"},
		{"ALTER TABLE s.t EXECUTE optimize(file_size_threshold => $1) WHERE grp = $2", []types.Datum{types.NewStr("10MB"), types.NewStr("b")}, "2|1"},
		{"CALL system.rollback_to_snapshot($1, $2)", []types.Datum{types.NewStr("s.t"), types.NewStr(h.must("SELECT snapshot_id FROM s.t.snapshots ORDER BY committed_at LIMIT 1")[0])}, ""},
	} {
		list, err := h.s.Parse(c.sql)
		if err != nil {
			t.Fatal(err)
		}
		st, err := h.s.Prepare(h.ctx, list[0], nil)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		r, err := st.Execute(h.ctx, c.args)
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
		err = r.Each(h.ctx, func(row []types.Datum) error {
			if got := fmt.Sprintf("%d|%d", row[0].Int(), row[1].Int()); c.want != "" && got != c.want {
				t.Errorf("%s: %s, want %s", c.sql, got, c.want)
			}
			return nil
		})
		if e := h.s.EndImplicit(h.ctx); err == nil {
			err = e
		}
		if err != nil {
			t.Fatalf("%s: %v", c.sql, err)
		}
	}
	h.want("SELECT * FROM s.t", "0|a", "0|b")
}
