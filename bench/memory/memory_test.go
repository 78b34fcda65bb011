package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// quick are statements that take a second or so each, and each another way to use much memory.
var quick = map[string]bool{
	"a literal of 50 MB":          true,
	"arrays doubled in recursion": true,
	"text doubled in recursion":   true,
	"recursion of distinct rows":  true,
	"unnest of long values":       true,
	"jsonb_agg of numbers":        true,
	"concat of one long text":     true,
	"jsonb_pretty":                true,
	"an array's text, parsed":     true,
	"cursors":                     true,
	"MySQL: an IN list of 10 MB":  true,
	"ten clients: long texts":     true,
}

// A child server keeps to its memory limit whatever it is asked, stays alive and leaves no files.
// The long version, over TPC-H's tables and with answers compared, is `go run ./bench/memory`.
func TestMemoryLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the server and runs heavy statements")
	}
	if _, err := os.Stat("/proc/self/clear_refs"); err != nil {
		t.Skip("peaks of resident memory are not known here")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "lhsql")
	if out, err := exec.Command("go", "build", "-o", binary, "github.com/lhsql/lhsql/cmd/lhsql").CombinedOutput(); err != nil {
		t.Fatalf("building: %v\n%s", err, out)
	}
	// Beside other tests the governor gets its turn late: the long version holds it to the limit.
	const limit = 288 << 20
	ctx := context.Background()
	s, err := start(binary, filepath.Join(dir, "warehouse"), "256MB")
	if err != nil {
		t.Fatal(err)
	}
	defer s.stop()
	asked := 0
	for _, st := range append(append([]statement(nil), tableless...), hostile...) {
		if !quick[st.what] {
			continue
		}
		asked++
		within, cancel := context.WithTimeout(ctx, patience)
		o := s.measure(within, st)
		cancel()
		if err := s.alive(); err != nil {
			t.Fatalf("%s: %v", st.what, err)
		}
		t.Logf("%s: %s, %v, peak %d MB, spilled %d MB", st.what, o.answer(), o.took, o.peak>>20, o.spilled>>20)
		for _, w := range st.judge(o, answers{}, limit) {
			t.Errorf("%s: %s (peak %d MB)", st.what, w, o.peak>>20)
		}
		if left := s.left(); len(left) > 0 {
			t.Errorf("%s left files: %v", st.what, left)
		}
	}
	if asked != len(quick) {
		t.Errorf("%d statements were asked, %d are named", asked, len(quick))
	}
}
