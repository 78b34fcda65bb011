package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/bench/clients/load"
	"github.com/lhsql/lhsql/internal/testseed"
)

// asProgram makes the test binary be lhsql itself, so that tests can signal a server.
const asProgram = "TEST_RUNS_AS_PROGRAM"

// What a server drains must end, however busy the machine is, so that it ends early only by a second
// signal.
const testDrainTime = 10 * time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Unsetenv(asProgram)
		drainTime = testDrainTime
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// starter gives servers over one warehouse, which begins empty.
func starter(t *testing.T, args ...string) func() (*load.Server, error) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return func() (*load.Server, error) {
		cmd := exec.Command(self, "serve")
		cmd.Env = []string{asProgram + "=1", "HOME=" + dir}
		cmd.Dir = dir
		s, err := load.Start(cmd, dir, 512<<20, append([]string{"--warehouse", filepath.Join(dir, "lakehouse")}, args...)...)
		if err == nil {
			t.Cleanup(s.Stop)
		}
		return s, err
	}
}

// A few seconds of what `go run ./bench/clients` does for a minute, by both wires: idle and busy
// clients, slow readers, cancels, timeouts, clients that vanish, the connection limit.
func TestManyClients(t *testing.T) {
	for _, mysql := range []bool{false, true} {
		s, err := starter(t, "--max_connections", "60")()
		if err != nil {
			t.Fatal(err)
		}
		seed := int64(testseed.Of(t))
		var out strings.Builder
		problems, err := load.Run(t.Context(), load.Config{Server: s, MySQL: mysql, Idle: 30, Busy: 8, Duration: 4 * time.Second, Seed: seed, Out: &out})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range problems {
			t.Error(p)
		}
		t.Log(out.String(), fmt.Sprintf("seed %d", seed))
	}
}

// SIGTERM drains, a second one and SIGINT end at once; every client hears the right thing, and
// what was being written is there whole or not at all.
func TestSignals(t *testing.T) {
	for _, w := range []*load.Wire{load.Postgres, load.MySQL} {
		problems, err := load.Shutdowns(t.Context(), w, starter(t))
		if err != nil {
			t.Error(err)
		}
		for _, p := range problems {
			t.Error(p)
		}
	}
}
