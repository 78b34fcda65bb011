package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// server is a child `lhsql serve` whose memory is watched.
type server struct {
	cmd   *exec.Cmd
	dsn   string
	mysql string // host and port of its other wire
	spill string // its folder of spill files
	ended chan error
	log   *tail
}

var (
	listening      = regexp.MustCompile(`postgres://[0-9.:]+/\S+`)
	listeningMySQL = regexp.MustCompile(`mysql://([0-9.:]+)/`)
)

// start runs binary over a warehouse; limit "" leaves memory_limit to its default.
func start(binary, warehouse, limit string, options ...string) (*server, error) {
	spill, err := os.MkdirTemp("", "lhsql-memory-*")
	if err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--pg", "127.0.0.1:0", "--mysql", "127.0.0.1:0", "--warehouse", warehouse, "--temp_dir", spill,
		"--settings.search_path", "tpch, public"}, options...)
	if limit != "" {
		args = append(args, "--memory_limit", limit)
	}
	s := &server{cmd: exec.Command(binary, args...), spill: spill, ended: make(chan error, 1), log: &tail{}}
	s.cmd.Stderr = s.log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	for s.dsn == "" || s.mysql == "" {
		line, err := lines.ReadString('\n')
		if err != nil {
			s.cmd.Wait()
			return nil, fmt.Errorf("the server did not start: %s", s.log)
		}
		if at := listening.FindString(line); at != "" {
			s.dsn = at
		}
		if at := listeningMySQL.FindStringSubmatch(line); at != nil {
			s.mysql = at[1]
		}
	}
	go io.Copy(io.Discard, lines)
	go func() { s.ended <- s.cmd.Wait() }()
	return s, nil
}

// alive tells why the process ended, if it did.
func (s *server) alive() error {
	select {
	case err := <-s.ended:
		s.ended <- err
		return fmt.Errorf("the server ended: %v\n%s", err, s.log)
	default:
		return nil
	}
}

func (s *server) stop() {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(30 * time.Second):
		s.cmd.Process.Kill()
	}
	os.RemoveAll(s.spill)
}

func (s *server) connect(ctx context.Context) (*pgx.Conn, error) {
	return pgx.Connect(ctx, s.dsn+"?user=lake")
}

// status is a number of /proc/PID/status, in bytes.
func (s *server) status(name string) int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for _, l := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(l, name+":"); ok {
			n, _ := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
			return n << 10
		}
	}
	return 0
}

// resetPeak makes the kernel count the peak of resident memory anew.
func (s *server) resetPeak() error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.cmd.Process.Pid), []byte("5"), 0)
}

// peak is the most memory that was resident since resetPeak: the kernel's own count misses nothing
// between samples.
func (s *server) peak() int64 { return s.status("VmHWM") }

// left lists what statements left behind on disk: files with names, and files still open.
func (s *server) left() []string {
	var out []string
	list, _ := os.ReadDir(s.spill)
	for _, f := range list {
		out = append(out, f.Name())
	}
	dir := fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid)
	fds, _ := os.ReadDir(dir)
	for _, fd := range fds {
		if to, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && strings.HasPrefix(to, s.spill) {
			out = append(out, to)
		}
	}
	return out
}

// spilled is how many bytes all statements so far have written to disk.
func (s *server) spilled(ctx context.Context, c *pgx.Conn) int64 {
	var n *int64
	if c.QueryRow(ctx, "select sum(temp_bytes)::bigint from pg_stat_database").Scan(&n) != nil || n == nil {
		return 0
	}
	return *n
}

// tail keeps the end of what a process writes.
type tail struct{ b []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if n := len(t.b) - 8<<10; n > 0 {
		t.b = append([]byte(nil), t.b[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.b) }

var errNoProc = errors.New("/proc/PID/clear_refs cannot be written here: peaks of memory are not known")
