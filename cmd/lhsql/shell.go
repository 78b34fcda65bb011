package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/chzyer/readline"
	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// shell is one `lhsql sql`: a session in this process and how its results are shown.
type shell struct {
	eng    *engine.Engine
	sess   *engine.Session
	out    io.Writer
	errw   io.Writer
	form   string // aligned, csv, json, markdown
	expand bool
	timing bool
	user   string
	db     string
	mysql  bool // it speaks MySQL's dialect
}

func runSQL(c *config) error {
	e, err := openEngine(c)
	if err != nil {
		return err
	}
	defer e.Close()
	e.Govern()
	sh := &shell{eng: e, out: os.Stdout, errw: os.Stderr, user: c.get("user"), db: c.get("database")}
	switch c.get("dialect") {
	case "pg":
	case "mysql":
		sh.mysql = true
	default:
		return fmt.Errorf("dialect is pg or mysql, not %q", c.get("dialect"))
	}
	if sh.user == "" {
		sh.user = "lhsql"
		if u, err := user.Current(); err == nil {
			sh.user = u.Username
		}
	}
	if err := sh.setFormat(c.get("format")); err != nil {
		return err
	}
	if err := sh.connect(sh.db); err != nil {
		return err
	}
	defer func() { sh.sess.Close() }()
	ok := true
	switch {
	case c.get("c") != "":
		ok = sh.line(c.get("c"))
	case c.get("f") != "":
		text, err := os.ReadFile(c.get("f"))
		if err != nil {
			return err
		}
		ok = sh.script(string(text))
	case !readline.IsTerminal(int(os.Stdin.Fd())):
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return err
		}
		ok = sh.script(string(text))
	default:
		return sh.interact()
	}
	if !ok {
		return errReported
	}
	return nil
}

// connect opens a session on a database.
func (sh *shell) connect(db string) error {
	o := engine.SessionOptions{User: sh.user, Database: db, Tell: sh.tell, Settings: map[string]string{"application_name": "lhsql sql"}}
	if sh.mysql {
		o.Dialect, o.Database = "mysql", ""
	}
	s, err := sh.eng.NewSession(context.Background(), o)
	if err != nil {
		return err
	}
	if sh.mysql && db != "" {
		if err := s.Use(context.Background(), db); err != nil {
			s.Close()
			return err
		}
	}
	if sh.sess != nil {
		sh.sess.Close()
	}
	sh.sess = s
	return nil
}

// interact reads statements from the terminal until its end or \q.
func (sh *shell) interact() error {
	home, _ := os.UserHomeDir()
	rl, err := readline.NewEx(&readline.Config{
		HistoryFile:       filepath.Join(home, ".lhsql_history"),
		HistorySearchFold: true,

		DisableAutoSaveHistory: true, // a password is kept nowhere
		AutoComplete:           completer{sh},
		InterruptPrompt:        "^C",
	})
	if err != nil {
		return err
	}
	defer rl.Close()
	fmt.Fprintf(sh.out, "lhsql %s. \\? lists the commands; statements end with a semicolon.\n", versionText())
	var buf strings.Builder
	for {
		prompt := sh.database() + "=> "
		if buf.Len() > 0 {
			prompt = sh.database() + "-> "
		} else if sh.sess.Status() != 'I' {
			prompt = sh.database() + "*=> "
		}
		rl.SetPrompt(prompt)
		l, err := rl.Readline()
		if errors.Is(err, readline.ErrInterrupt) {
			buf.Reset()
			continue
		}
		if err != nil {
			return nil
		}
		if !engine.HoldsPassword(l) && !engine.HoldsPassword(buf.String()) {
			_ = rl.SaveHistory(l) // without it the shell works, too
		}
		if buf.Len() == 0 && strings.HasPrefix(strings.TrimSpace(l), `\`) {
			if quit := sh.meta(strings.TrimSpace(l)); quit {
				return nil
			}
			continue
		}
		if buf.Len() > 0 {
			buf.WriteByte('\n')
		}
		buf.WriteString(l)
		if sh.complete(buf.String()) {
			sh.run(buf.String())
			buf.Reset()
		}
	}
}

// script runs a text of statements and backslash commands; it stops at the first error.
func (sh *shell) script(text string) bool {
	var buf strings.Builder
	for _, l := range strings.Split(text, "\n") {
		if strings.TrimSpace(buf.String()) == "" && strings.HasPrefix(strings.TrimSpace(l), `\`) {
			if sh.meta(strings.TrimSpace(l)) {
				return true
			}
			continue
		}
		buf.WriteString(l)
		buf.WriteByte('\n')
		if sh.complete(buf.String()) {
			if !sh.run(buf.String()) {
				return false
			}
			buf.Reset()
		}
	}
	return strings.TrimSpace(buf.String()) == "" || sh.run(buf.String())
}

// line runs what -c gives: a backslash command or statements.
func (sh *shell) line(text string) bool {
	if t := strings.TrimSpace(text); strings.HasPrefix(t, `\`) {
		sh.meta(t)
		return true
	}
	return sh.run(text)
}

// database is what the prompt shows.
func (sh *shell) database() string {
	if sh.mysql {
		return sh.sess.CurrentDatabase()
	}
	return sh.sess.Database()
}

// complete tells whether text ends with a semicolon outside quotes and comments, as the dialect has
// them.
func (sh *shell) complete(text string) bool {
	if !sh.mysql {
		return complete(text)
	}
	list := sh.sess.MySQLCut(text + "\nx")
	return len(list) > 1 && list[len(list)-1].Text == "x"
}

// complete is that of PostgreSQL's dialect.
func complete(text string) bool {
	done := false
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\'' || b == '"':
			j := strings.IndexByte(text[i+1:], b)
			if j < 0 {
				return false
			}
			i += j + 1
			done = false
		case b == '-' && strings.HasPrefix(text[i:], "--"):
			j := strings.IndexByte(text[i:], '\n')
			if j < 0 {
				return done
			}
			i += j
		case b == '/' && strings.HasPrefix(text[i:], "/*"):
			j := strings.Index(text[i+2:], "*/")
			if j < 0 {
				return false
			}
			i += j + 3
		case b == '$':
			if tag, ok := dollarTag(text[i:]); ok {
				j := strings.Index(text[i+len(tag):], tag)
				if j < 0 {
					return false
				}
				i += j + 2*len(tag) - 1
				done = false
			}
		case b == ';':
			done = true
		case b != ' ' && b != '\t' && b != '\n' && b != '\r':
			done = false
		}
	}
	return done
}

// dollarTag is the opening $tag$ of a dollar-quoted string.
func dollarTag(s string) (string, bool) {
	for i := 1; i < len(s); i++ {
		switch b := s[i]; {
		case b == '$':
			return s[:i+1], true
		case b == '_' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || i > 1 && b >= '0' && b <= '9':
		default:
			return "", false
		}
	}
	return "", false
}

// run executes all statements of a text and shows their results. Ctrl-C cancels the one that runs.
func (sh *shell) run(text string) bool {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				sh.sess.Cancel()
			case <-done:
				return
			}
		}
	}()
	defer func() { signal.Stop(stop); close(done) }()
	ctx := context.Background()
	defer sh.sess.EndImplicit(ctx)
	list, err := sh.sess.Parse(text)
	if err != nil {
		sh.fail(err, text, 0)
		return false
	}
	for _, p := range list {
		start := time.Now()
		if err := sh.statement(ctx, p); err != nil {
			sh.sess.Fail()
			sh.fail(err, text, p.Offset)
			return false
		}
		if sh.timing {
			fmt.Fprintf(sh.out, "Time: %.3f ms\n", float64(time.Since(start).Microseconds())/1000)
		}
	}
	return true
}

func (sh *shell) statement(ctx context.Context, p engine.Parsed) error {
	st, err := sh.sess.Prepare(ctx, p, nil)
	if err != nil {
		return err
	}
	if st.Empty() {
		return nil
	}
	if c := st.Copy(); c != nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY needs a client that speaks the Postgres wire").
			WithHint("Use \\format csv and a query, or psql.")
	}
	r, err := st.Execute(ctx, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	t := newTable(r.Columns())
	o := sh.sess.TextOptions()
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		for k := 0; k < b.Len(); k++ {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			row := make([]value, len(b.Cols))
			for j, v := range b.Cols {
				if v.Null(i) {
					row[j].null = true
				} else {
					row[j].text = types.Format(v.Datum(i), r.Columns()[j].Type, o)
				}
			}
			t.rows = append(t.rows, row)
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	for _, n := range r.Notices() {
		sh.tell(n)
	}
	if r.Columns() == nil {
		if sh.form == "aligned" && r.Tag() != "" {
			fmt.Fprintln(sh.out, r.Tag())
		}
		return nil
	}
	return t.print(sh.out, sh.form, sh.expand)
}

// tell shows a notice or warning, also while a statement is at work.
func (sh *shell) tell(n *sqlerr.Error) {
	level := "NOTICE"
	if n.Warning() {
		level = "WARNING"
	}
	fmt.Fprintf(sh.errw, "%s:  %s\n", level, n.Message)
}

// fail shows an error, with the line and a caret where the position is known.
func (sh *shell) fail(err error, text string, offset int) {
	e, ok := sqlerr.As(err)
	if !ok {
		fmt.Fprintf(sh.errw, "ERROR:  %v\n", err)
		return
	}
	fmt.Fprintf(sh.errw, "ERROR:  %s (%s)\n", e.Message, e.Code)
	if pos := e.Pos + offset; e.Pos >= 0 && pos <= len(text) {
		from := strings.LastIndexByte(text[:pos], '\n') + 1
		to := len(text)
		if i := strings.IndexByte(text[pos:], '\n'); i >= 0 {
			to = pos + i
		}
		head := fmt.Sprintf("LINE %d: ", strings.Count(text[:pos], "\n")+1)
		fmt.Fprintf(sh.errw, "%s%s\n%s^\n", head, text[from:to], strings.Repeat(" ", len([]rune(head+text[from:pos]))))
	}
	if e.Detail != "" {
		fmt.Fprintf(sh.errw, "DETAIL:  %s\n", e.Detail)
	}
	if e.Hint != "" {
		fmt.Fprintf(sh.errw, "HINT:  %s\n", e.Hint)
	}
}
