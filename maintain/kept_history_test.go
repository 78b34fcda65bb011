package maintain_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/testsql/speccheck"
	"github.com/lhsql/lhsql/types"
)

var (
	keptHistories = flag.Int("kept.histories", 10, "random histories of procedures beside a writer, deaths and a failing store")
	keptOnly      = flag.Int("kept.only", -1, "run this history of them alone")
)

// TestKeptHistories runs procedures of maintenance and erasures in random histories of a table, while another
// process writes it at some step, the process that runs the procedure dies between two of its accesses to the
// store or the catalog, or the store fails, before it did what it was asked for or after. Whatever happens: the rows of
// every branch, tag and kept snapshot are what a model says, rows keep their ids, no file that is held is
// gone, and after orphans were removed none is there that nothing holds. An erasure that did not come to its end
// is resumed by another process; at its end the value is in no snapshot, and every other row is where it was.
func TestKeptHistories(t *testing.T) {
	seed := testseed.Of(t)
	total := map[string]int{}
	for n := range *keptHistories {
		if *keptOnly >= 0 && n != *keptOnly {
			continue
		}
		ok := t.Run(strconv.Itoa(n), func(t *testing.T) { // what it holds goes when it ends
			h := &keptHistory{house: newHouse(t), n: n, r: rand.New(rand.NewPCG(seed, uint64(n))), met: total,
				model: map[string]map[int]keptRow{}, past: map[int64]map[int]keptRow{}, touched: map[string]map[int]bool{}}
			h.run()
			h.beside.Close()
			h.besideEng.Close()
			if t.Failed() {
				t.Errorf("LHSQL_SEED=%d, -kept.only %d:\n%s", seed, n, strings.Join(h.log, ";\n"))
			}
		})
		if !ok {
			break
		}
	}
	t.Log(total)
	for _, k := range []string{"calls", "writes meanwhile", "deaths", "failures", "erasures"} {
		if total[k] == 0 && *keptOnly < 0 {
			t.Errorf("no %s", k)
		}
	}
}

// keptRow is a row but for its id.
type keptRow struct{ grp, v string }

// erasedRow is what an erasure is to forget: a row by its id, or every row that has a text in v.
type erasedRow struct {
	id int
	v  string
}

func (e erasedRow) is(id int, x keptRow) bool { return id == e.id || e.v != "" && x.v == e.v }

type keptHistory struct {
	*house
	n         int
	r         *rand.Rand
	besideEng *engine.Engine // as another process has it: it shares no cache with who maintains
	beside    *engine.Session
	own       *house                     // of beside
	model     map[string]map[int]keptRow // by ref
	past      map[int64]map[int]keptRow  // by snapshot
	touched   map[string]map[int]bool    // rows that were changed since lineage was looked at; true: made anew
	version   int
	next      int
	nextRowID int64
	tags      int
	erasing   erasedRow
	log       []string
	met       map[string]int
}

func (h *keptHistory) pick(list ...string) string { return list[h.r.IntN(len(list))] }

func (h *keptHistory) run() {
	h.besideEng, h.beside = h.process()
	h.own = &house{t: h.t, dir: h.dir, ctx: h.ctx, eng: h.besideEng, s: h.beside}
	h.version = 2 + h.r.IntN(2)
	mode := func() string { return h.pick("copy-on-write", "merge-on-read", "merge-on-read") }
	create := fmt.Sprintf("CREATE TABLE s.t (id int, grp int, v text) PARTITIONED BY (%s) TBLPROPERTIES ('format-version' = '%d', 'write.delete.mode' = '%s', 'write.update.mode' = '%s', 'write.merge.mode' = '%s', 'commit.manifest.min-count-to-merge' = '%d', 'write.metadata.previous-versions-max' = '%d', 'write.metadata.delete-after-commit.enabled' = '%v')",
		h.pick("grp", "bucket(3, id)", "truncate(10, id)", "grp, bucket(2, id)"), h.version, mode(), mode(), mode(), 2+h.r.IntN(20), 2+h.r.IntN(50), h.r.IntN(3) == 0)
	if h.r.IntN(5) == 0 {
		create = strings.Replace(create, "PARTITIONED BY (grp)", "", 1)
	}
	h.do(create)
	h.model["main"] = map[int]keptRow{}
	for range 16 {
		switch k := h.r.IntN(20); {
		case k < 9 || h.next == 0:
			w := h.write(h.beside)
			if err := w(); err != nil {
				h.t.Fatalf("%v\n%s", err, strings.Join(h.log, ";\n"))
			}
		case k < 11:
			h.layout()
		default:
			h.procedure()
		}
		if h.t.Failed() {
			return
		}
		h.check()
	}
	h.end()
}

// process opens the lake as another process would.
func (h *keptHistory) process() (*engine.Engine, *engine.Session) {
	h.t.Helper()
	eng, err := engine.Open(h.ctx, engine.Config{TempDir: filepath.Join(h.dir, "tmp2"), MemoryLimit: 1 << 30, Workers: 1, Catalogs: []engine.CatalogConfig{{
		Name:  "lake",
		Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(h.dir, "catalog.db"), "warehouse": filepath.Join(h.dir, "warehouse")},
	}}})
	if err != nil {
		h.t.Fatal(err)
	}
	s, err := eng.NewSession(h.ctx, engine.SessionOptions{User: "writer", Database: "lake"})
	if err != nil {
		h.t.Fatal(err)
	}
	return eng, s
}

// do runs a statement that has to succeed.
func (h *keptHistory) do(sql string) []string {
	h.t.Helper()
	h.log = append(h.log, sql)
	out, err := ask(h.ctx, h.beside, sql)
	if err != nil {
		h.t.Fatalf("history %d: %s: %v\n%s", h.n, sql, err, strings.Join(h.log, ";\n"))
	}
	return out
}

// write makes up a statement that changes rows of a branch. Running it changes the model if it succeeded.
func (h *keptHistory) write(s *engine.Session) func() error {
	ref, target := "main", "s.t"
	if h.model["b"] != nil && h.r.IntN(4) == 0 {
		ref, target = "b", "s.t.branch_b"
	}
	rows := h.model[ref]
	after := maps.Clone(rows)
	touched := map[int]bool{}
	var sql string
	kind := h.r.IntN(12)
	if h.next == 0 {
		kind = 0
	}
	switch {
	case kind < 4:
		n, m := 1+h.r.IntN(15), 1+h.r.IntN(4)
		for id := h.next + 1; id <= h.next+n; id++ {
			x := keptRow{strconv.Itoa(id % m), "v" + strconv.Itoa(id)}
			if id%7 == 0 {
				x = keptRow{"NULL", "NULL"}
			}
			after[id] = x
		}
		sql = fmt.Sprintf("INSERT INTO %s SELECT g, CASE WHEN g %% 7 <> 0 THEN g %% %d END, CASE WHEN g %% 7 <> 0 THEN 'v' || g END FROM generate_series(%d, %d) g", target, m, h.next+1, h.next+n)
		h.next += n
	case kind < 7:
		m := 2 + h.r.IntN(9)
		k := h.r.IntN(m)
		for id := range rows {
			if id%m == k {
				delete(after, id)
			}
		}
		sql = fmt.Sprintf("DELETE FROM %s WHERE id %% %d = %d", target, m, k)
	case kind < 9:
		m := 2 + h.r.IntN(6)
		k := h.r.IntN(m)
		for id, x := range rows {
			if id%m != k {
				continue
			}
			if x.grp != "NULL" {
				g, _ := strconv.Atoi(x.grp)
				x.grp = strconv.Itoa(g + 1)
			}
			x.v = "u" + strconv.Itoa(id)
			after[id], touched[id] = x, true
		}
		sql = fmt.Sprintf("UPDATE %s SET v = 'u' || id, grp = grp + 1 WHERE id %% %d = %d", target, m, k)
	case kind < 10:
		id := 1 + h.r.IntN(h.next)
		if id == h.erasing.id {
			id = h.next + 2 // who writes what is being erased decides how that ends
		}
		h.next++
		for _, k := range []int{id, h.next} {
			if x, ok := rows[k]; ok {
				after[k], touched[k] = keptRow{x.grp, "m"}, true
			} else {
				after[k], touched[k] = keptRow{"9", "n"}, true
			}
		}
		sql = fmt.Sprintf("MERGE INTO %s t USING (VALUES (%d), (%d)) u (id) ON t.id = u.id WHEN MATCHED THEN UPDATE SET v = 'm' WHEN NOT MATCHED THEN INSERT (id, grp, v) VALUES (u.id, 9, 'n')", target, id, h.next)
	default:
		// An equality delete, as Flink commits it: of one partition, or of all where there are none.
		id := 1 + h.r.IntN(h.next)
		return func() error { return h.equality(id) }
	}
	return func() error {
		h.log = append(h.log, sql)
		if _, err := ask(h.ctx, s, sql); err != nil {
			h.log = append(h.log, "-- "+err.Error())
			return err
		}
		h.model[ref] = after
		for id := range touched {
			if h.touched[ref] == nil {
				h.touched[ref] = map[int]bool{}
			}
			_, was := rows[id]
			h.touched[ref][id] = h.touched[ref][id] || !was
		}
		return nil
	}
}

// equality deletes two values of id from main by an equality delete of the partition of one of the files; what
// it deletes is told by the file that each row lies in.
func (h *keptHistory) equality(id int) error {
	t := h.own.load("s.t")
	spec := t.DefaultSpec()
	list, err := ask(h.ctx, h.beside, fmt.Sprintf("SELECT count(*) FROM s.t.files WHERE content = 0 AND spec_id = %d", spec.ID))
	if err != nil || list[0] == "0" {
		return err
	}
	var partition []types.Datum
	if len(spec.Fields) > 0 {
		partition = anyPartition(h.own, t, h.r)
	}
	h.log = append(h.log, fmt.Sprintf("-- equality delete of %d, %d in spec %d, %v", id, id+1, spec.ID, partition))
	h.own.deleteEqual("s.t", "id", spec, partition, id, id+1)
	// Who applies it is the scan's business, tested beside other engines: here it is only not to change any more.
	now, err := h.rows("s.t")
	if err != nil {
		return err
	}
	for k := range h.model["main"] {
		if _, ok := now[k]; !ok && k != id && k != id+1 && k != h.erasing.id { // or it is erased already
			h.t.Errorf("an equality delete of %d, %d took row %d", id, id+1, k)
		}
	}
	h.model["main"] = now
	return nil
}

// layout changes what a table is like and no row.
func (h *keptHistory) layout() {
	switch k := h.r.IntN(8); {
	case k == 0 && h.model["b"] == nil && len(h.own.load("s.t").Refs()) > 0:
		h.do("ALTER TABLE s.t CREATE BRANCH b")
		h.model["b"] = maps.Clone(h.model["main"])
	case k == 1 && h.model["b"] != nil:
		h.do("ALTER TABLE s.t DROP BRANCH b")
		delete(h.model, "b")
	case k < 4 && len(h.own.load("s.t").Refs()) > 0:
		h.tags++
		name := "g" + strconv.Itoa(h.tags)
		h.do("ALTER TABLE s.t CREATE TAG " + name)
		h.model[name] = maps.Clone(h.model["main"])
	case k == 4 && !slices.ContainsFunc(h.log, func(s string) bool { return strings.Contains(s, "ADD PARTITION") }):
		h.do("ALTER TABLE s.t ADD PARTITION FIELD bucket(2, v)")
	case k == 5:
		h.do(h.pick("ALTER TABLE s.t WRITE ORDERED BY v DESC, id", "ALTER TABLE s.t WRITE UNORDERED"))
	case k == 6 && h.version == 2:
		h.version = 3
		h.do("ALTER TABLE s.t SET TBLPROPERTIES ('format-version' = '3')")
		for ref, target := range map[string]string{"main": "s.t", "b": "s.t.branch_b"} {
			if h.model[ref] == nil {
				continue
			}
			h.next++ // row ids begin with the next snapshot
			h.do(fmt.Sprintf("INSERT INTO %s VALUES (%d, 1, 'x')", target, h.next))
			h.model[ref][h.next] = keptRow{"1", "x"}
		}
	default:
		h.do(fmt.Sprintf("ALTER TABLE s.t SET TBLPROPERTIES ('commit.manifest.target-size-bytes' = '%d')", []int{4000, 12000, 8 << 20}[h.r.IntN(3)]))
	}
}

// call makes up a procedure's call.
func (h *keptHistory) call() string {
	target := "s.t"
	if h.model["b"] != nil && h.r.IntN(4) == 0 {
		target = "s.t.branch_b"
	}
	yes := func() bool { return h.r.IntN(3) > 0 }
	switch h.r.IntN(14) {
	case 0, 1, 2, 3:
		order := h.pick("", "", ", strategy => 'sort', sort_order => 'zorder(id, grp), v'")
		return fmt.Sprintf("CALL system.rewrite_data_files('%s', options => map('rewrite-all', '%v', 'min-input-files', '2', 'delete-file-threshold', '1', 'partial-progress.enabled', '%v', 'remove-dangling-deletes', '%v', 'use-starting-sequence-number', '%v')%s)",
			target, yes(), !yes(), yes(), yes(), order)
	case 4:
		return "CALL system.rewrite_position_delete_files('" + target + "', options => map('rewrite-all', 'true'))"
	case 5:
		return "CALL system.rewrite_manifests('s.t')"
	case 6, 7:
		return fmt.Sprintf("CALL system.expire_snapshots('s.t', older_than => now() + interval '1 day', retain_last => %d, clean_expired_metadata => %v)", 1+h.r.IntN(4), yes())
	case 8:
		h.age()
		return "CALL system.remove_orphan_files('s.t')"
	case 9:
		return "CALL system.compute_table_stats('" + target + "')"
	case 10:
		if len(h.own.load("s.t").PartitionType()) > 0 {
			return "CALL system.compute_partition_stats('" + target + "')"
		}
		return "OPTIMIZE s.t"
	case 11, 12:
		if h.next > 0 && len(h.own.load("s.t").Refs()) > 0 {
			return h.erasure()
		}
	}
	return h.pick("VACUUM s.t", "VACUUM FULL s.t")
}

// erasure makes up an ERASE of a row by its id, or of all that have a text.
func (h *keptHistory) erasure() string {
	h.age() // who erases waits for a day for what others write
	id := 1 + h.r.IntN(h.next)
	tags := h.pick("DROP", "REWRITE", "REWRITE")
	if h.r.IntN(2) == 0 {
		h.erasing = erasedRow{v: h.pick("m", "n", "v", "u")}
		if h.erasing.v > "u" || h.r.IntN(2) == 0 {
			h.erasing.v += strconv.Itoa(id)
		}
		return fmt.Sprintf("ERASE FROM s.t WHERE v = '%s' REASON 'DSR' TAGS %s", h.erasing.v, tags)
	}
	h.erasing = erasedRow{id: id}
	return fmt.Sprintf("ERASE FROM s.t WHERE id = %d REASON 'DSR' TAGS %s", id, tags)
}

// erased brings an erasure to its end, and takes from the model what is forgotten.
func (h *keptHistory) erased(sql string, out []string, err error) {
	h.met["erasures"]++
	for n := 0; err != nil || status(out) != "DONE"; n++ {
		if n == 3 {
			h.t.Errorf("the erasure does not end: %v, %v", out, err)
			return
		}
		h.age()
		if running := h.must("SELECT id FROM system.erasures WHERE id NOT IN (SELECT id FROM system.erasures WHERE status = 'DONE') ORDER BY seq DESC LIMIT 1"); len(running) > 0 {
			sql = "CALL system.resume_erasure('" + running[0] + "')"
		}
		h.log = append(h.log, sql)
		out, err = ask(h.ctx, h.s, sql)
	}
	h.log = append(h.log, "-- "+strings.Join(out, "; "))
	t := h.own.load("s.t")
	forget := func(rows map[int]keptRow) {
		maps.DeleteFunc(rows, h.erasing.is)
	}
	for ref, rows := range h.model {
		if _, ok := t.Ref(ref); !ok && ref != "main" && ref != "b" {
			delete(h.model, ref)
			continue
		}
		forget(rows)
	}
	for _, rows := range h.past {
		forget(rows)
	}
	column := fmt.Sprintf("id = %d", h.erasing.id)
	if h.erasing.v != "" {
		column = "v = '" + h.erasing.v + "'"
	}
	if left := h.must("SHOW HOLDERS FROM s.t WHERE " + column); len(left) > 0 {
		h.t.Errorf("erased, and held by %v", left)
	}
	h.erasing = erasedRow{}
}

var errDead = errors.New("the process is dead")

// procedure runs a procedure of maintenance, with what comes between.
func (h *keptHistory) procedure() {
	h.touched = map[string]map[int]bool{}
	before := h.lineage()
	sql := h.call()
	h.log = append(h.log, sql)
	h.met["calls"]++
	erases := h.erasing != erasedRow{}
	at := func() int { return 1 + h.r.IntN([]int{12, 40, 150}[h.r.IntN(3)]) }
	never := 1 << 30
	write, die, fail := never, never, never
	switch h.r.IntN(7) {
	case 1:
		write = at()
	case 2:
		die = at()
	case 3:
		fail = at()
	case 4, 5:
		write = at()
		die = write + at()
	case 6:
		write = at()
		fail = write + at()
	}
	if h.erasing.v != "" {
		write = never // another writer's row may have the text before or after it is erased
	}
	times := 1 + h.r.IntN(3)
	var mu sync.Mutex
	steps, dead, failed, wrote := 0, false, 0, false
	step := func(what string) error {
		mu.Lock()
		defer mu.Unlock()
		if dead {
			return errDead
		}
		steps++
		switch {
		case steps >= die:
			dead = true
			h.log = append(h.log, "-- dies at step "+strconv.Itoa(steps)+", "+what)
			h.met["deaths"]++
			return errDead
		case steps >= write && !wrote:
			wrote = true
			h.log = append(h.log, "-- meanwhile, at step "+strconv.Itoa(steps)+", "+what)
			for range times {
				h.met["writes meanwhile"]++
				if err := h.write(h.beside)(); err != nil && sqlerr.CodeOf(err) != sqlerr.SerializationFailure {
					h.t.Errorf("the other writer: %v", err)
				}
			}
		case steps >= fail && failed < times:
			failed++
			h.log = append(h.log, "-- the store fails at step "+strconv.Itoa(steps)+", "+what)
			h.met["failures"]++
			return errors.New("the store is not well")
		}
		return nil
	}
	ctx := lake.WithYield(h.ctx, func(s string) error {
		if fail < never { // the store fails, and not the catalog
			return nil
		}
		return step(s)
	})
	ctx = lake.WithStoreSteps(ctx, func(op, path string) error { return step(op + " " + filepath.Base(path)) })
	out, err := ask(ctx, h.s, sql)
	if err != nil {
		h.log = append(h.log, "-- "+err.Error())
	}
	if err != nil && !dead && failed == 0 && !(wrote && sqlerr.CodeOf(err) == sqlerr.SerializationFailure) {
		h.t.Errorf("%s: %v", sql, err)
	}
	if dead {
		h.s.Close()
		h.other.Close()
		h.eng.Close()
		h.open()
	}
	if erases {
		h.erased(sql, out, err)
	}
	h.sameIdentity(before)
}

func (h *keptHistory) table(ref string) string {
	switch {
	case ref == "main":
		return "s.t"
	case ref == "b":
		return "s.t.branch_b"
	}
	return "s.t.tag_" + ref
}

// rows reads a ref, or a snapshot, as the process that does not maintain sees it.
func (h *keptHistory) rows(from string) (map[int]keptRow, error) {
	got, err := ask(h.ctx, h.beside, "SELECT id, grp, v FROM "+from)
	if err != nil {
		return nil, err
	}
	out := map[int]keptRow{}
	for _, l := range got {
		c := strings.Split(l, "|")
		id, err := strconv.Atoi(c[0])
		if err != nil {
			return nil, err
		}
		if _, twice := out[id]; twice {
			h.t.Errorf("row %d is in %s twice", id, from)
		}
		out[id] = keptRow{c[1], c[2]}
	}
	return out, nil
}

// lineage is the row id and sequence number of every row of every ref.
func (h *keptHistory) lineage() map[string]map[int][2]string {
	out := map[string]map[int][2]string{}
	if h.version < 3 {
		return out
	}
	for ref := range h.model {
		if len(h.own.load("s.t").Refs()) == 0 {
			continue
		}
		out[ref] = map[int][2]string{}
		got, err := ask(h.ctx, h.beside, "SELECT id, _row_id, _last_updated_sequence_number FROM "+h.table(ref))
		if err != nil {
			h.t.Fatalf("history %d: %v\n%s", h.n, err, strings.Join(h.log, ";\n"))
		}
		for _, l := range got {
			c := strings.Split(l, "|")
			id, _ := strconv.Atoi(c[0])
			out[ref][id] = [2]string{c[1], c[2]}
		}
	}
	return out
}

// sameIdentity: who was there before has its row id still, and its sequence number unless it was changed.
func (h *keptHistory) sameIdentity(before map[string]map[int][2]string) {
	after := h.lineage()
	for ref, rows := range before {
		owner := map[string]int{}
		for id, is := range after[ref] {
			if o, ok := owner[is[0]]; ok && is[0] != "NULL" {
				h.t.Errorf("%s: rows %d and %d have _row_id %s", ref, o, id, is[0])
			}
			owner[is[0]] = id
			was, ok := rows[id]
			anew, touched := h.touched[ref][id]
			switch {
			case !ok || anew:
			case was[0] != "NULL" && was[0] != is[0]:
				h.t.Errorf("%s: row %d had _row_id %s, now %s", ref, id, was[0], is[0])
			case was[1] != "NULL" && was[1] != is[1] && !touched:
				h.t.Errorf("%s: row %d had sequence number %s, now %s", ref, id, was[1], is[1])
			}
		}
	}
}

// check compares all that is kept with the model.
func (h *keptHistory) check() {
	h.t.Helper()
	t := h.own.load("s.t")
	var doc struct {
		Next int64 `json:"next-row-id"`
	}
	b, err := os.ReadFile(t.MetadataLocation)
	if err == nil {
		err = json.Unmarshal(b, &doc)
	}
	if err != nil || doc.Next < h.nextRowID {
		h.t.Errorf("next-row-id was %d and is %d, %v", h.nextRowID, doc.Next, err)
	}
	h.nextRowID = doc.Next
	if len(t.Refs()) == 0 {
		return
	}
	for ref, want := range h.model {
		got, err := h.rows(h.table(ref))
		if err != nil || !maps.Equal(got, want) {
			h.t.Errorf("%s: %v, rows are\n%v\nnot\n%v", ref, err, got, want)
		}
		r, _ := t.Ref(ref)
		if h.past[r.SnapshotID] == nil {
			h.past[r.SnapshotID] = maps.Clone(want)
		}
	}
	kept := t.Snapshots()
	for range 2 {
		s := kept[h.r.IntN(len(kept))]
		want := h.past[s.ID]
		if want == nil {
			continue // one of two commits between two looks
		}
		got, err := h.rows(fmt.Sprintf("s.t FOR VERSION AS OF %d", s.ID))
		if err != nil || !maps.Equal(got, want) {
			h.t.Errorf("snapshot %d: %v, rows are\n%v\nnot\n%v", s.ID, err, got, want)
		}
	}
	h.own.whole("s.t")
}

// end removes what is left over, and looks whether the rest is all that is held.
func (h *keptHistory) end() {
	before := len(h.files())
	h.swept("s.t")
	h.check()
	h.met["orphans"] += before - len(h.files())
	c, err := lake.OpenCatalog(context.Background(), "lake", map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(h.dir, "catalog.db"), "warehouse": filepath.Join(h.dir, "warehouse")})
	if err != nil {
		h.t.Fatal(err)
	}
	defer c.Close()
	if err := speccheck.Catalog(h.ctx, c); err != nil {
		h.t.Errorf("%v", err)
	}
}
