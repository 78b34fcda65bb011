package load

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is an `lhsql serve` or `lhsql demo` process with a folder of spill files of its own.
type Server struct {
	Memory int64 // the limit it was told
	Spill  string

	addrs  map[string]string // by wire
	cmd    *exec.Cmd
	exited chan struct{}
	err    error
	mu     sync.Mutex
	log    bytes.Buffer
}

var serves = regexp.MustCompile(`serves .* on (postgres|mysql)://([^/]+)/`)

// Addr is where the server listens for a wire.
func (s *Server) Addr(w *Wire) string { return s.addrs[w.Name] }

// Start runs the command, which gets --pg, --mysql, --temp_dir and --memory_limit beside its own
// arguments, and waits until it accepts. folder is where its spill folder is made.
func Start(cmd *exec.Cmd, folder string, memory int64, args ...string) (*Server, error) {
	s := &Server{Memory: memory, Spill: filepath.Join(folder, "spill"), exited: make(chan struct{}), cmd: cmd, addrs: map[string]string{}}
	if err := os.MkdirAll(s.Spill, 0o755); err != nil {
		return nil, err
	}
	cmd.Args = append(cmd.Args, args...)
	cmd.Args = append(cmd.Args, "--pg", "127.0.0.1:0", "--mysql", "127.0.0.1:0", "--temp_dir", s.Spill, "--memory_limit", fmt.Sprintf("%dMB", memory>>20))
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = writer{s}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	go func() {
		sc := bufio.NewScanner(out)
		for sc.Scan() {
			fmt.Fprintln(writer{s}, sc.Text())
			if m := serves.FindStringSubmatch(sc.Text()); m != nil {
				if s.addrs[m[1]] = m[2]; len(s.addrs) == 2 {
					close(ready)
				}
			}
		}
		s.err = cmd.Wait()
		close(s.exited)
	}()
	select {
	case <-ready:
		return s, nil
	case <-s.exited:
		return nil, fmt.Errorf("the server ended: %v\n%s", s.err, s.Log())
	case <-time.After(2 * time.Minute):
		cmd.Process.Kill()
		return nil, errors.New("the server does not start")
	}
}

type writer struct{ s *Server }

func (w writer) Write(b []byte) (int, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	return w.s.log.Write(b)
}

var _ io.Writer = writer{}

// Log is what the server has said so far.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Signal sends one; Wait waits for the end and says how long it took, or gives up.
func (s *Server) Signal(sig syscall.Signal) { s.cmd.Process.Signal(sig) }

func (s *Server) Wait(patience time.Duration) (time.Duration, error) {
	start := time.Now()
	select {
	case <-s.exited:
		return time.Since(start), s.err
	case <-time.After(patience):
		return patience, errors.New("the server does not end")
	}
}

// Stop ends the server for good.
func (s *Server) Stop() {
	s.Signal(syscall.SIGINT)
	if _, err := s.Wait(10 * time.Second); err != nil {
		s.cmd.Process.Kill()
		<-s.exited
	}
}

// RSS is the process's resident memory in bytes; 0 where that cannot be read.
func (s *Server) RSS() int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "VmRSS:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// SpillFiles lists what lies in the spill folder, and what the process has open of it.
func (s *Server) SpillFiles() (out []string) {
	list, _ := os.ReadDir(s.Spill)
	for _, f := range list {
		out = append(out, f.Name())
	}
	fds := fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid)
	open, _ := os.ReadDir(fds)
	for _, fd := range open {
		if to, err := os.Readlink(filepath.Join(fds, fd.Name())); err == nil && strings.HasPrefix(to, s.Spill) {
			out = append(out, to)
		}
	}
	return out
}
