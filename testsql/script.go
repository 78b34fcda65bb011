// Package testsql runs SQL scripts against the engine, each in every mode that must not change
// its answers.
//
// A script (testsql/<topic>/<behaviour>.sqlt) opens with a comment that says what is true of the
// world, then holds steps separated by blank lines:
//
//	exec                 a statement; expected: its command tag
//	query [unordered]    a query; expected: its rows, columns separated by |
//	returning [unordered] a statement that writes and gives rows; expected: its rows. Of a column
//	                     whose name ends in _bytes_count only that it is greater than 0
//	error                a statement that fails; expected: SQLSTATE and message, then hint: …
//	error SQLSTATE       the same where the message tells of file names: the code alone
//	plan                 a query; expected: EXPLAIN's text
//	setup                statements without an expected part
//	let NAME             a query of one value; {NAME} stands for it in the steps below, also where
//	                     it is seen: what differs from run to run, like a snapshot's id
//	at INSTANT           commits of the steps below happen at the instant (RFC 3339)
//	session NAME         the steps below run in the session of that name
//	dialect mysql        the steps below, and the sessions that they open, speak MySQL's dialect
//	use DATABASE         the session's database
//	require WORD         skip the script where WORD is missing: golden
//	shapes               run the whole script once for each table shape: format version 2 and 3,
//	                     copy-on-write and merge-on-read; {shape} stands for the table
//	                     properties that make it
//
// A step is its verb on a line, the SQL, a line of ----, and what is expected. Run with -rewrite
// to write down what is seen. {golden} stands for the folder of golden tables, {dir} for a fresh
// folder of the script's.
package testsql

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// step is one step of a script.
type step struct {
	verb string
	args []string
	sql  string
	want string
	has  bool     // an expected part is there
	line int      // of the verb
	head []string // comment and blank lines before it
}

// script is a parsed file.
type script struct {
	path  string
	steps []step
	tail  []string
}

// readScript parses a file.
func readScript(path string) (*script, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &script{path: path}
	var head []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	n := 0
	next := func() (string, bool) {
		if !sc.Scan() {
			return "", false
		}
		n++
		return sc.Text(), true
	}
	for {
		l, ok := next()
		if !ok {
			break
		}
		if strings.TrimSpace(l) == "" || strings.HasPrefix(l, "#") {
			head = append(head, l)
			continue
		}
		w := strings.Fields(l)
		st := step{verb: w[0], args: w[1:], line: n, head: head}
		head = nil
		switch st.verb {
		case "session", "require", "shapes", "at", "dialect", "use":
		case "exec", "returning", "query", "error", "plan", "setup", "let":
			if err := st.read(next); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", path, st.line, err)
			}
		default:
			return nil, fmt.Errorf("%s:%d: unknown verb %q", path, n, st.verb)
		}
		s.steps = append(s.steps, st)
	}
	s.tail = head
	return s, sc.Err()
}

// read takes the SQL and the expected part, up to a blank line.
func (st *step) read(next func() (string, bool)) error {
	var sql, want []string
	for {
		l, ok := next()
		if !ok || strings.TrimSpace(l) == "" {
			break
		}
		if l == "----" && !st.has {
			st.has = true
			continue
		}
		if st.has {
			want = append(want, l)
		} else {
			sql = append(sql, l)
		}
	}
	st.sql, st.want = strings.Join(sql, "\n"), strings.Join(want, "\n")
	if st.sql == "" {
		return fmt.Errorf("%s without SQL", st.verb)
	}
	return nil
}

// write rewrites the file with what the steps now expect.
func (s *script) write() error {
	var b strings.Builder
	for _, st := range s.steps {
		for _, l := range st.head {
			b.WriteString(l + "\n")
		}
		b.WriteString(strings.Join(append([]string{st.verb}, st.args...), " ") + "\n")
		if st.sql == "" {
			continue
		}
		b.WriteString(st.sql + "\n")
		if st.verb != "setup" && st.verb != "let" {
			b.WriteString("----\n")
			if st.want != "" {
				b.WriteString(st.want + "\n")
			}
		}
		b.WriteString("\n")
	}
	out := strings.TrimRight(b.String(), "\n") + "\n"
	return os.WriteFile(s.path, []byte(out), 0o644)
}
