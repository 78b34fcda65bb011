package lake

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/lake/store"
)

// TestMain turns the test program into a writer process where TestKilledWriters asks for one.
func TestMain(m *testing.M) {
	if dir := os.Getenv("LHSQL_TEST_WRITER"); dir != "" {
		writeForever(dir)
		return
	}
	os.Exit(m.Run())
}

// writeForever appends one file a commit and says so after each.
func writeForever(dir string) {
	ctx := context.Background()
	c, err := OpenCatalog(ctx, "lake", map[string]string{"uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "wh")})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	for i := 0; ; i++ {
		name := fmt.Sprintf("%d-%d.parquet", os.Getpid(), i)
		_, err := c.Commit(ctx, Name{Namespace: "a", Table: "t"}, Change{Add: []*DataFile{{Path: dir + "/wh/a/t/data/" + name, Format: "parquet", RecordCount: 1}}})
		if err != nil && !isConflict(err) {
			fmt.Println("error", err)
			return
		}
		if err == nil {
			fmt.Println("ack", name)
		}
	}
}

// Writers that are killed at random moments, two at a time: every acknowledged file is in the
// table once, nothing else but at most one file a kill, and the table stays readable.
func TestKilledWriters(t *testing.T) {
	f := newFixture(t, "2")
	const cycles = 8
	acked := map[string]bool{}
	for cycle := range cycles {
		var procs []*exec.Cmd
		var outs []*bufio.Scanner
		for range 2 {
			p := exec.Command(os.Args[0])
			p.Env = append(os.Environ(), "LHSQL_TEST_WRITER="+f.dir)
			out, err := p.StdoutPipe()
			f.must(err)
			f.must(p.Start())
			procs, outs = append(procs, p), append(outs, bufio.NewScanner(out))
		}
		// The clock starts when the first commit is there, however slow the machine is and whoever's it is.
		lines := make(chan string, 1<<16)
		var reading sync.WaitGroup
		for _, out := range outs {
			reading.Go(func() {
				for out.Scan() {
					lines <- out.Text()
				}
			})
		}
		go func() { reading.Wait(); close(lines) }()
		line, first := <-lines
		if first {
			note(t, acked, line)
		}
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		for _, p := range procs {
			f.must(p.Process.Kill())
		}
		for line := range lines {
			note(t, acked, line)
		}
		for _, p := range procs {
			_ = p.Wait()
		}
		if !first {
			t.Fatalf("cycle %d: no commit", cycle)
		}
	}
	live := f.live("main")
	for name := range acked {
		if live[name] == nil {
			t.Errorf("%s was acknowledged and is not there", name)
		}
	}
	if extra := len(live) - len(acked); extra < 0 || extra > 2*cycles {
		t.Errorf("%d files more than acknowledged", extra)
	}
	if s := f.load().CurrentSnapshot(); s.Summary["total-data-files"] != fmt.Sprint(len(live)) {
		t.Errorf("summary says %s files, there are %d", s.Summary["total-data-files"], len(live))
	}
	f.verify()
	t.Logf("%d acknowledged, %d live", len(acked), len(live))
	left, _ := filepath.Glob(f.dir + "/wh/a/t/metadata/" + store.TempMark + "*")
	if len(left) > 2*cycles {
		t.Errorf("%d half-written files are left", len(left))
	}
}

func note(t *testing.T, acked map[string]bool, line string) {
	t.Helper()
	name, ok := strings.CutPrefix(line, "ack ")
	if !ok {
		t.Errorf("a writer says %q", line)
		return
	}
	acked[name] = true
}
