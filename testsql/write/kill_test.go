package write

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake"
)

var (
	killCycles = flag.Int("kill.cycles", 200, "how many writer processes are killed")
	killSeed   = flag.Uint64("kill.seed", 0, "of the writers' statements and of the moments; 0: LHSQL_SEED")
)

// killsPerTable is how many writers are killed before the tables are looked at and made anew: the
// metadata of a table grows with its snapshots.
const killsPerTable = 25

// A killed writer's statement may leave what it had written so far: data, deletes, manifests, a
// list, metadata, each possibly half-written.
const leftPerKill = 32

// TestKilledProcesses kills lhsql processes that write and maintain the same tables, with signal 9 at random
// moments. Every statement that was acknowledged is there once, of the one in flight all or
// nothing, every branch and tag can be read, and what is left over can be found, is not much and goes
// as orphans.
func TestKilledProcesses(t *testing.T) {
	h := newHarness(t)
	const writers = 3
	spares := make(chan *process, 2)
	stop := make(chan struct{})
	cycles := *killCycles
	if testing.Short() {
		cycles = killsPerTable
	}
	// Processes start while others run: what is killed are writers, not programs that start.
	go func() {
		defer close(spares)
		for {
			p := h.start("sql")
			select {
			case spares <- p:
			case <-stop:
				p.kill()
				return
			}
		}
	}()
	for done := 0; done < cycles; done += killsPerTable {
		h.makeTables()
		results := make(chan *writer)
		slots := make(chan int64, killsPerTable)
		for range killsPerTable {
			slots <- h.r.Int64N(120_000)
		}
		close(slots)
		for range writers {
			go func() {
				for us := range slots {
					results <- h.runKilled(<-spares, time.Duration(us)*time.Microsecond)
				}
			}()
		}
		var list []*writer
		for range killsPerTable {
			list = append(list, <-results)
		}
		h.verify(list)
		if t.Failed() {
			break
		}
	}
	close(stop)
	for p := range spares {
		p.kill()
	}
	h.report()
}

// TestKilledServer does the same to a server, whose clients' statements are in flight together.
func TestKilledServer(t *testing.T) {
	h := newHarness(t)
	cycles := max(*killCycles/10, 3)
	if testing.Short() {
		cycles = 2
	}
	var list []*writer
	h.makeTables()
	for range cycles {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		addr := l.Addr().String()
		l.Close()
		p := h.start("serve", "--pg", addr)
		const clients = 4
		results := make(chan *writer)
		ready := make(chan bool, clients)
		for range clients {
			w := h.newWriter()
			go func() { w.connect(addr, ready); results <- w }()
		}
		for range clients {
			<-ready
		}
		time.Sleep(time.Duration(h.r.IntN(250)) * time.Millisecond)
		p.kill()
		for range clients {
			w := <-results
			if w.err != "" {
				t.Errorf("writer %d: %s", w.id, w.err)
			}
			list = append(list, w)
		}
	}
	h.verify(list)
	h.report()
}

// harness is one lakehouse and the program that writes it.
type harness struct {
	t      *testing.T
	dir    string
	binary string
	eng    *engine.Engine
	s      *engine.Session
	mu     sync.Mutex // guards r and ids
	r      *rand.Rand
	seed   uint64
	round  int
	ids    int

	kills, acked, inFlight, left, commits int
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	h := &harness{t: t, dir: fastDir(t), seed: *killSeed}
	if h.seed == 0 {
		h.seed = testseed.Of(t)
	}
	h.r = rand.New(rand.NewPCG(h.seed, 1))
	h.binary = filepath.Join(h.dir, "lhsql")
	if out, err := exec.Command("go", "build", "-o", h.binary, "../../cmd/lhsql").CombinedOutput(); err != nil {
		t.Fatalf("build lhsql: %v\n%s", err, out)
	}
	h.eng = openLake(t, h.dir)
	h.s = openSession(t, h.eng)
	t.Cleanup(func() { h.s.Close(); h.eng.Close() })
	h.must("CREATE SCHEMA s")
	h.must("SET search_path = s")
	return h
}

func (h *harness) must(q string) []string {
	h.t.Helper()
	out, err := rows(context.Background(), h.s, q)
	if err != nil {
		h.t.Fatalf("seed %d: %s: %s", h.seed, q, errText(err))
	}
	return out
}

// makeTables makes t, which is updated and has a branch b, and u, which transactions write too.
func (h *harness) makeTables() {
	if h.round > 0 {
		h.must("DROP TABLE t PURGE")
		h.must("DROP TABLE u PURGE")
	}
	format, mode := 2+h.round%2, []string{"copy-on-write", "merge-on-read"}[h.round/2%2]
	h.round++
	for _, name := range []string{"t", "u"} {
		h.must(fmt.Sprintf("CREATE TABLE %s (w int, id int, n int) PARTITIONED BY (w) TBLPROPERTIES ('format-version' = '%d', 'write.delete.mode' = '%s', 'write.update.mode' = '%[3]s', 'write.merge.mode' = '%[3]s', 'commit.retry.min-wait-ms' = '2', 'commit.retry.max-wait-ms' = '20', 'commit.retry.num-retries' = '30')", name, format, mode))
	}
	h.must("INSERT INTO t VALUES (0, 0, 0)")
	h.must("ALTER TABLE t CREATE BRANCH b")
	h.must("ALTER TABLE t CREATE TAG g")
}

// process is a running lhsql.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	err *bytes.Buffer
}

func (h *harness) start(command string, args ...string) *process {
	args = append([]string{command, "--catalogs.lake.uri", "sqlite:///" + filepath.Join(h.dir, "catalog.db"), "--catalogs.lake.warehouse", filepath.Join(h.dir, "warehouse"),
		"--workers", "1", "--settings.search_path", "s", "--temp_dir", h.dir}, args...)
	p := &process{cmd: exec.Command(h.binary, args...), err: &bytes.Buffer{}}
	p.cmd.Stderr = p.err
	in, err := p.cmd.StdinPipe()
	if err == nil {
		var out io.ReadCloser
		if out, err = p.cmd.StdoutPipe(); err == nil {
			p.in, p.out = in, bufio.NewScanner(out)
			err = p.cmd.Start()
		}
	}
	if err != nil {
		panic(err)
	}
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // SIGKILL
	_ = p.cmd.Wait()
}

// writer is one that runs statements on rows of its own, so that what it leaves is known.
type writer struct {
	id    int
	steps []killStep
	acked int    // statements that were acknowledged
	ended bool   // it ended by an error, and nothing is in flight
	err   string // what should not have happened
}

// killStep is a statement, or a block, and how many lines it is acknowledged with; after is what
// the writer's rows are once it took place.
type killStep struct {
	sql   string
	lines int
	after string
}

// newWriter makes up a writer's statements.
func (h *harness) newWriter() *writer {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids++
	w := &writer{id: h.ids}
	t, u, b := map[int]int{}, map[int]int{}, map[int]int{}
	next := 0
	fresh := func() int { next++; return next }
	one := func() int { // a row that is there
		var ids []int
		for id := range t {
			ids = append(ids, id)
		}
		sort.Ints(ids)
		return ids[h.r.IntN(len(ids))]
	}
	for range 60 {
		var sql string
		lines := 1
		kind := h.r.IntN(10)
		if len(t) < 2 {
			kind = 0
		}
		switch kind {
		case 0, 1:
			id, k := fresh(), fresh()
			t[id], t[k] = 0, 0
			sql = fmt.Sprintf("INSERT INTO t VALUES (%d, %d, 0), (%[1]d, %[3]d, 0)", w.id, id, k)
		case 2:
			for id := range t {
				t[id]++
			}
			sql = fmt.Sprintf("UPDATE t SET n = n + 1 WHERE w = %d", w.id)
		case 3:
			id := one()
			delete(t, id)
			sql = fmt.Sprintf("DELETE FROM t WHERE w = %d AND id = %d", w.id, id)
		case 4:
			id, k := one(), fresh()
			t[id] += 10
			t[k] = 1
			sql = fmt.Sprintf("MERGE INTO t USING (VALUES (%d, %d), (%[1]d, %[3]d)) AS x (w, id) ON t.w = %[1]d AND t.id = x.id WHEN MATCHED THEN UPDATE SET n = n + 10 WHEN NOT MATCHED THEN INSERT (w, id, n) VALUES (x.w, x.id, 1)", w.id, id, k)
		case 5:
			id, gone := fresh(), one()
			u[id] = 5
			delete(t, gone)
			t[id] = 5
			sql = fmt.Sprintf("BEGIN; INSERT INTO t VALUES (%d, %d, 5); DELETE FROM t WHERE w = %[1]d AND id = %[3]d; INSERT INTO u VALUES (%[1]d, %[2]d, 5); COMMIT", w.id, id, gone)
			lines = 5
		case 6:
			id := fresh()
			b[id] = 7
			sql = fmt.Sprintf("INSERT INTO t.branch_b VALUES (%d, %d, 7)", w.id, id)
		case 7:
			sql = "ALTER TABLE t REPLACE TAG g"
		default: // changes no rows; its result is five lines
			lines = 5
			sql = "CALL system." + []string{
				fmt.Sprintf("rewrite_data_files('s.t', where => 'w = %d', options => map('rewrite-all', 'true'))", w.id),
				fmt.Sprintf("rewrite_data_files('s.t', where => 'w = %d', options => map('rewrite-all', 'true'), strategy => 'sort', sort_order => 'n')", w.id),
				"rewrite_position_delete_files('s.t')", "rewrite_manifests('s.t')", "compute_partition_stats('s.t')", "compute_table_stats('s.t')",
				"expire_snapshots('s.t', older_than => now() + interval '1 day', retain_last => 40)",
				"expire_snapshots('s.t', older_than => now() + interval '1 day', retain_last => 40, clean_expired_metadata => true)",
			}[h.r.IntN(8)]
		}
		w.steps = append(w.steps, killStep{sql, lines, killState(t) + " / " + killState(u) + " / " + killState(b)})
	}
	return w
}

func killState(m map[int]int) string {
	var list []string
	for id, n := range m {
		list = append(list, fmt.Sprintf("%d:%d", id, n))
	}
	sort.Strings(list)
	return strings.Join(list, " ")
}

// runKilled gives p a writer's statements and kills it at a moment after the first lines.
func (h *harness) runKilled(p *process, after time.Duration) *writer {
	w := h.newWriter()
	var script strings.Builder
	for _, s := range w.steps {
		script.WriteString(s.sql + ";\n")
	}
	if _, err := io.WriteString(p.in, script.String()); err != nil {
		w.err = err.Error()
	}
	p.in.Close()
	// The clock starts with the first line, however slow the machine is; for some it starts at
	// once, so that the first statement is cut off as well.
	var timer *time.Timer
	arm := func() {
		if timer == nil {
			timer = time.AfterFunc(after, func() { _ = p.cmd.Process.Kill() })
		}
	}
	if after.Microseconds()%4 == 0 {
		arm()
	}
	lines := 0
	for p.out.Scan() {
		arm()
		lines++
	}
	_ = p.cmd.Wait()
	if timer != nil {
		timer.Stop()
	}
	for w.acked < len(w.steps) && lines >= w.steps[w.acked].lines {
		lines -= w.steps[w.acked].lines
		w.acked++
	}
	text := p.err.String()
	switch {
	case p.cmd.ProcessState.Exited() && w.acked == len(w.steps):
		w.ended = true
	case p.cmd.ProcessState.Exited():
		w.ended = !strings.Contains(text, "08007")
		if !mayEnd(text) {
			w.err = "ended with " + text
		}
	case timer == nil:
		w.err = "was killed by others: " + text
	}
	return w
}

// mayEnd: a statement may lose to others, may not know what became of it, and may find that its snapshot was
// expired meanwhile.
func mayEnd(text string) bool {
	return strings.Contains(text, "40001") || strings.Contains(text, "08007") || strings.Contains(text, "58P01")
}

// connect runs the statements over the wire until the server is gone.
func (w *writer) connect(addr string, ready chan<- bool) {
	ctx := context.Background()
	var c *pgconn.PgConn
	var err error
	for range 400 {
		if c, err = pgconn.Connect(ctx, "postgres://tester@"+addr+"/lake?sslmode=disable"); err == nil {
			break
		}
		time.Sleep(25 * time.Millisecond)
	}
	ready <- true
	if err != nil {
		w.err = err.Error()
		return
	}
	defer c.Close(ctx)
	for _, s := range w.steps {
		_, err := c.Exec(ctx, s.sql).ReadAll()
		var e *pgconn.PgError
		switch {
		case err == nil:
			w.acked++
			continue
		case errors.As(err, &e):
			w.ended = e.Code != "08007" && e.Code != "57P01"
			if !mayEnd(e.Code) {
				w.err = err.Error()
			}
		}
		return
	}
	w.ended = true
}

// verify holds the tables against what the writers were told.
func (h *harness) verify(list []*writer) {
	got := map[int][3]map[int]int{}
	for i, from := range []string{"t", "u", "t.branch_b"} {
		for _, l := range h.must("SELECT w, id, n FROM " + from) {
			var w, id, n int
			if _, err := fmt.Sscanf(strings.ReplaceAll(l, "|", " "), "%d %d %d", &w, &id, &n); err != nil {
				h.t.Fatalf("%q: %v", l, err)
			}
			s := got[w]
			if s[i] == nil {
				s[i] = map[int]int{}
			}
			if _, twice := s[i][id]; twice {
				h.t.Errorf("seed %d: row %d of writer %d is in %s twice", h.seed, id, w, from)
			}
			s[i][id] = n
			got[w] = s
		}
	}
	for _, w := range list {
		h.kills++
		h.acked += w.acked
		if w.err != "" {
			h.t.Errorf("seed %d, writer %d: %s", h.seed, w.id, w.err)
		}
		s := got[w.id]
		is := killState(s[0]) + " / " + killState(s[1]) + " / " + killState(s[2])
		was := " /  / "
		if w.acked > 0 {
			was = w.steps[w.acked-1].after
		}
		if is == was {
			continue
		}
		if !w.ended && w.acked < len(w.steps) && is == w.steps[w.acked].after {
			h.inFlight++
			continue
		}
		next := ""
		if w.acked < len(w.steps) {
			next = w.steps[w.acked].sql
		}
		h.t.Errorf("seed %d, writer %d, %d statements acknowledged, then %s:\n%s\n-- was:\n%s", h.seed, w.id, w.acked, next, is, was)
	}
	if err := checkSpec(context.Background(), h.dir); err != nil {
		h.t.Errorf("seed %d: %v", h.seed, err)
	}
	for _, name := range []string{"t", "u"} {
		h.commits += len(h.must("SELECT 1 FROM " + name + ".snapshots"))
		for _, ref := range h.must("SELECT name FROM " + name + ".refs") {
			h.must(fmt.Sprintf("SELECT count(*), sum(n) FROM %s FOR VERSION AS OF '%s'", name, ref))
		}
		if left := h.leftovers(name); len(left) > len(list)*leftPerKill {
			h.t.Errorf("seed %d: %s: %d files are left over from %d kills", h.seed, name, len(left), len(list))
		} else {
			h.left += len(left)
			old := time.Now().Add(-10 * 24 * time.Hour)
			for _, p := range left {
				if err := os.Chtimes(p, old, old); err != nil {
					h.t.Error(err)
				}
			}
		}
		h.must("CALL system.remove_orphan_files('s." + name + "')")
		if left := h.leftovers(name); len(left) > 0 {
			h.t.Errorf("seed %d: %s: no orphan removal takes %v", h.seed, name, left)
		}
	}
}

// leftovers finds the files in a table's folder that its metadata does not name. Where killed
// writers' files were left in the folder of the round before, the table lies beside it.
func (h *harness) leftovers(name string) (left []string) {
	known := map[string]bool{}
	for _, q := range []string{"SELECT file_path FROM %s.all_files", "SELECT path FROM %s.all_manifests", "SELECT manifest_list FROM %s.snapshots", "SELECT file FROM %s.metadata_log_entries"} {
		for _, p := range h.must(fmt.Sprintf(q, name)) {
			known[strings.TrimPrefix(p, "file://")] = true
		}
	}
	for _, f := range h.statistics(name) {
		known[f] = true
	}
	seen := 0
	metadata := strings.TrimPrefix(h.must("SELECT file FROM " + name + ".metadata_log_entries LIMIT 1")[0], "file://")
	err := filepath.WalkDir(filepath.Dir(filepath.Dir(metadata)), func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if known[p] {
			seen++
		} else {
			left = append(left, p)
		}
		return nil
	})
	if err != nil {
		h.t.Error(err)
	}
	if seen != len(known) {
		h.t.Errorf("seed %d: %s: metadata names %d files, %d of them are there", h.seed, name, len(known), seen)
	}
	return left
}

// statistics are the files of statistics of a table, which no view lists.
func (h *harness) statistics(name string) []string {
	c, ok := h.eng.Catalog("lake")
	if !ok {
		h.t.Fatal("no catalog")
	}
	t, err := c.Load(context.Background(), lake.Name{Catalog: "lake", Namespace: "s", Table: name})
	if err != nil {
		h.t.Fatal(err)
	}
	var out []string
	for _, f := range slices.Concat(t.Statistics(), t.PartitionStatistics()) {
		out = append(out, strings.TrimPrefix(f.Path, "file://"))
	}
	return out
}

func (h *harness) report() {
	h.t.Logf("seed %d: %d killed, %d statements acknowledged, %d more took place in flight, %d snapshots, %d files left over", h.seed, h.kills, h.acked, h.inFlight, h.commits, h.left)
	if h.acked == 0 {
		h.t.Error("no statement was acknowledged")
	}
	if left, _ := os.ReadDir(filepath.Join(h.dir, "tmp")); len(left) > 0 {
		h.t.Logf("%d temporary files", len(left))
	}
}
