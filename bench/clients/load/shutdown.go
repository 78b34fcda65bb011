package load

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// leaving is how long a server that does not drain may take to be gone, on a machine that has other
// work; while one drains, its statements may take longer.
const leaving = time.Minute

// goodbye is what one client heard of the end.
type goodbye struct {
	who   string
	state string // SQLSTATE, "" where its statement ended well
	err   error
}

// farewell keeps statements of many kinds running, and says what each client heard.
type farewell struct {
	s    *Server
	w    *Wire
	said chan goodbye
	n    int
}

func (f *farewell) client(ctx context.Context, who, before, sql string) (peer, error) {
	pc, err := f.w.connect(ctx, f.s, who)
	if err != nil {
		return nil, err
	}
	if before != "" {
		for _, b := range strings.Split(before, ";") {
			if _, err := answer(ctx, pc, b); err != nil {
				return nil, fmt.Errorf("%s: %w", b, err)
			}
		}
	}
	f.n++
	go func() {
		var err error
		if sql == "" { // an idle one: the server speaks first
			err = pc.unasked(ctx)
		} else {
			_, err = answer(ctx, pc, sql)
		}
		f.said <- goodbye{who, stateOf(err), err}
	}()
	return pc, nil
}

// Drain checks SIGTERM: idle clients hear of it, new ones are refused, running statements end
// well, a cancel is still heard; and a second SIGTERM ends what is left at once.
func Drain(ctx context.Context, s *Server, w *Wire) []string {
	return s.farewell(ctx, w, syscall.SIGTERM, map[string]string{
		"idle": w.ended, "in-transaction": w.ended, "sleeps": "", "writes": "", "copies": "",
		"cancelled": w.cancelled, "computes": w.ended,
	})
}

// Interrupt checks SIGINT: everything ends at once, and hears why.
func Interrupt(ctx context.Context, s *Server, w *Wire) []string {
	return s.farewell(ctx, w, syscall.SIGINT, map[string]string{
		"idle": w.ended, "in-transaction": w.ended, "sleeps": w.ended, "writes": "any", "copies": w.ended,
		"cancelled": w.ended, "computes": w.ended,
	})
}

func (s *Server) farewell(ctx context.Context, w *Wire, sig syscall.Signal, want map[string]string) (problems []string) {
	problem := func(format string, a ...any) {
		problems = append(problems, fmt.Sprintf("%v, %s: ", sig, w.Name)+fmt.Sprintf(format, a...))
	}
	ctx, cancel := context.WithTimeout(ctx, 8*time.Minute)
	defer cancel()
	f := &farewell{s: s, w: w, said: make(chan goodbye, 20)}
	var cancelled peer
	switch {
	case w == MySQL && sig == syscall.SIGTERM:
		delete(want, "cancelled") // a cancel would need a new connection
	case w == MySQL:
		want["sleeps"] = "any" // without SLEEP() how long it takes is the machine's affair
	}
	for _, c := range []struct{ who, before, sql string }{
		{"idle", "", ""},
		{"in-transaction", "begin; select 1", ""},
		{"sleeps", "", w.sleep},
		{"writes", strings.Join(w.made, ";"), w.written},
		{"cancelled", "", w.endless[0]},
		{"computes", "", w.endless[0]},
	} {
		if _, ok := want[c.who]; !ok {
			continue
		}
		pc, err := f.client(ctx, c.who, c.before, c.sql)
		if err != nil {
			return []string{err.Error()}
		}
		if c.who == "cancelled" {
			cancelled = pc
		}
	}
	feed := make(chan struct{})
	if w == Postgres { // no other client can feed a statement with rows
		if err := f.copies(ctx, feed); err != nil {
			return []string{err.Error()}
		}
	} else {
		delete(want, "copies")
	}
	stalled, err := w.connect(ctx, s, "stalled")
	if err == nil {
		err = stalled.ask(ctx, w.large) // it takes none of it
	}
	if err != nil {
		return []string{err.Error()}
	}
	defer stalled.kill()
	if err := f.allAtIt(ctx, len(want)-2); err != nil {
		return []string{err.Error()}
	}
	s.Signal(sig)
	if sig == syscall.SIGTERM {
		if err := f.refuses(ctx); err != nil {
			problem("a new client hears %v", err)
		}
		if cancelled != nil {
			cancelled.cancel(ctx)
		}
		close(feed)
	} else {
		defer close(feed) // or the COPY might end well before the server has heard of the signal
	}
	heard := map[string]goodbye{}
	all := f.n
	if sig == syscall.SIGTERM {
		all-- // what computes ends only at the second signal
		if w == MySQL {
			all-- // and so does a transaction, which may still COMMIT
		}
	}
	for len(heard) < all {
		select {
		case g := <-f.said:
			heard[g.who] = g
		case <-ctx.Done():
			problem("only these clients hear of the end: %v", heard)
			return problems
		}
	}
	if sig == syscall.SIGTERM {
		if g, ok := heard["computes"]; ok {
			problem("a statement was cut off while the server drains: %v", g.err)
		}
		s.Signal(sig)
		for len(heard) < f.n {
			select {
			case g := <-f.said:
				heard[g.who] = g
			case <-ctx.Done():
				problem("only these clients hear of the second signal: %v", heard)
				return problems
			}
		}
	}
	took, err := s.Wait(leaving)
	if err != nil {
		problem("the server's end: %v\n%s", err, s.Log())
	}
	if took >= leaving {
		problem("the server took %v to end", took)
	}
	for who, state := range want {
		if g := heard[who]; state != "any" && g.state != state {
			problem("%s: heard %q (%v) instead of %q", who, g.state, g.err, state)
		}
	}
	if files := s.SpillFiles(); len(files) > 0 {
		problem("spill files are left: %v", files)
	}
	if strings.Contains(s.Log(), "panic") {
		problem("the server says: %s", s.Log())
	}
	return problems
}

// allAtIt waits until so many statements run, or have ended already.
func (f *farewell) allAtIt(ctx context.Context, statements int) error {
	pc, err := Postgres.connect(ctx, f.s, "looks")
	if err != nil {
		return err
	}
	defer pc.close()
	for {
		n, err := row(ctx, pc, "select count(*) from pg_stat_activity where state = 'active' and usename not in ('looks', 'stalled')")
		if err != nil {
			return err
		}
		if active, err := strconv.Atoi(n); err != nil || active+len(f.said) >= statements {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// refuses waits until a new client hears that the server is ending.
func (f *farewell) refuses(ctx context.Context) error {
	for {
		pc, err := f.w.connect(ctx, f.s, "new")
		switch {
		case err != nil && stateOf(err) == f.w.refused:
			return nil
		case err != nil:
			return err
		}
		pc.kill() // the signal has not arrived yet
		time.Sleep(20 * time.Millisecond)
	}
}

// copies loads a table from a client that takes its time until feed is closed.
func (f *farewell) copies(ctx context.Context, feed <-chan struct{}) error {
	pc, err := f.w.connect(ctx, f.s, "copies")
	if err != nil {
		return err
	}
	if _, err := answer(ctx, pc, "create schema if not exists bye; create table if not exists bye.c (a int)"); err != nil {
		return err
	}
	f.n++
	go func() {
		_, err := pc.(*pgPeer).CopyFrom(ctx, &slowly{until: feed}, "copy bye.c from stdin")
		f.said <- goodbye{"copies", stateOf(err), err}
	}()
	return nil
}

// slowly is a file of which more comes as long as until is open.
type slowly struct {
	until <-chan struct{}
	n     int
}

func (s *slowly) Read(b []byte) (int, error) {
	select {
	case <-s.until:
		if s.n++; s.n > 3 {
			return 0, io.EOF
		}
	case <-time.After(20 * time.Millisecond):
	}
	return copy(b, "1\n2\n3\n"), nil
}

// Shutdowns ends servers that start gives, over one warehouse, in each way, and looks at what
// their writes have left there.
func Shutdowns(ctx context.Context, w *Wire, start func() (*Server, error)) (problems []string, err error) {
	var rows, copied int
	for _, end := range []func(context.Context, *Server, *Wire) []string{Drain, Interrupt} {
		s, err := start()
		if err != nil {
			return problems, err
		}
		problems = append(problems, end(ctx, s, w)...)
		s.Stop()
		if s, err = start(); err != nil {
			return problems, err
		}
		was, had := rows, copied
		rows, copied, err = written(ctx, s)
		s.Stop()
		if err != nil {
			return problems, err
		}
		drained := was == 0
		if rows-was != w.inserted && (drained || rows != was) {
			problems = append(problems, fmt.Sprintf("the INSERT under way has left %d rows", rows-was))
		}
		if w == Postgres && drained == (copied == had) {
			problems = append(problems, fmt.Sprintf("the COPY under way has left %d rows", copied-had))
		}
	}
	return problems, nil
}

// written counts the rows that the clients of the end have written, and that no file lies about
// that no snapshot knows.
func written(ctx context.Context, s *Server) (rows, copied int, err error) {
	pc, err := Postgres.connect(ctx, s, "written")
	if err != nil {
		return 0, 0, err
	}
	defer pc.close()
	// The table of a COPY is made by the wire that has one.
	if _, err := answer(ctx, pc, "create table if not exists bye.c (a int)"); err != nil {
		return 0, 0, err
	}
	last, err := row(ctx, pc, `select (select count(*) from bye.t), (select count(*) from bye.c),
		(select string_agg(file_path, ',') from (select file_path from bye.t.all_data_files union select file_path from bye.c.all_data_files) f)`)
	if err != nil {
		return 0, 0, err
	}
	row := strings.SplitN(last, " ", 3)
	if rows, err = strconv.Atoi(row[0]); err != nil {
		return 0, 0, err
	}
	if copied, err = strconv.Atoi(row[1]); err != nil {
		return 0, 0, err
	}
	known := map[string]bool{}
	dirs := map[string]bool{}
	for _, f := range strings.Split(row[2], ",") {
		f = strings.TrimPrefix(f, "file://")
		known[f] = true
		dirs[filepath.Dir(f)] = true
	}
	for d := range dirs {
		list, err := os.ReadDir(d)
		if err != nil {
			return 0, 0, err
		}
		for _, f := range list {
			if path := filepath.Join(d, f.Name()); !known[path] {
				return 0, 0, fmt.Errorf("%s belongs to no snapshot", path)
			}
		}
	}
	return rows, copied, nil
}
