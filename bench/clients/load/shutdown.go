package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// leaving is how long a server that does not drain may take to be gone.
const leaving = 15 * time.Second

// inserted is how many rows the INSERT writes that is under way at the end.
const inserted = 400000

// goodbye is what one client heard of the end.
type goodbye struct {
	who   string
	state string // SQLSTATE, "" where its statement ended well
	err   error
}

// farewell keeps statements of many kinds running, and says what each client heard.
type farewell struct {
	s    *Server
	said chan goodbye
	n    int
}

func (f *farewell) client(ctx context.Context, who, before, sql string) (*pgconn.PgConn, error) {
	pc, err := f.s.connect(ctx, who)
	if err != nil {
		return nil, err
	}
	if before != "" {
		if _, err := answer(ctx, pc, before); err != nil {
			return nil, fmt.Errorf("%s: %w", before, err)
		}
	}
	f.n++
	go func() {
		var err error
		if sql == "" { // an idle one: the server speaks first
			_, err = pc.ReceiveMessage(ctx)
		} else {
			_, err = answer(ctx, pc, sql)
		}
		f.said <- goodbye{who, stateOf(err), err}
	}()
	return pc, nil
}

// Drain checks SIGTERM: idle clients hear 57P01, new ones 57P03, running statements end well, a
// cancel is still heard; and a second SIGTERM ends what is left at once.
func Drain(ctx context.Context, s *Server) []string {
	return s.farewell(ctx, syscall.SIGTERM, map[string]string{
		"idle": "57P01", "in-transaction": "57P01", "sleeps": "", "writes": "", "copies": "",
		"cancelled": "57014", "computes": "57P01", "reads-nothing": "lost",
	})
}

// Interrupt checks SIGINT: everything ends at once, and hears why.
func Interrupt(ctx context.Context, s *Server) []string {
	return s.farewell(ctx, syscall.SIGINT, map[string]string{
		"idle": "57P01", "in-transaction": "57P01", "sleeps": "57P01", "writes": "any", "copies": "57P01",
		"cancelled": "57P01", "computes": "57P01", "reads-nothing": "lost",
	})
}

func (s *Server) farewell(ctx context.Context, sig syscall.Signal, want map[string]string) (problems []string) {
	problem := func(format string, a ...any) {
		problems = append(problems, fmt.Sprintf("%v: ", sig)+fmt.Sprintf(format, a...))
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	f := &farewell{s: s, said: make(chan goodbye, 20)}
	const rows = "select g, repeat('x', 1000) as v from generate_series(1, 60000) g order by g desc"
	var cancelled *pgconn.PgConn
	for _, c := range []struct{ who, before, sql string }{
		{"idle", "", ""},
		{"in-transaction", "begin; select 1", ""},
		{"sleeps", "", "select pg_sleep(3)"},
		{"writes", "create schema if not exists bye; create table if not exists bye.t (g bigint, v text)",
			fmt.Sprintf("insert into bye.t select g, md5(g::text) from generate_series(1, %d) g", inserted)},
		{"cancelled", "", "select pg_sleep(600)"},
		{"computes", "", endless[0]},
	} {
		pc, err := f.client(ctx, c.who, c.before, c.sql)
		if err != nil {
			return []string{err.Error()}
		}
		if c.who == "cancelled" {
			cancelled = pc
		}
	}
	feed, err := f.copies(ctx)
	if err != nil {
		return []string{err.Error()}
	}
	stalled, err := s.stalled(ctx, rows)
	if err != nil {
		return []string{err.Error()}
	}
	defer stalled.Close()
	time.Sleep(500 * time.Millisecond) // all are at it
	s.Signal(sig)
	if sig == syscall.SIGTERM {
		time.Sleep(300 * time.Millisecond)
		if _, err := s.connect(ctx, "new"); stateOf(err) != "57P03" {
			problem("a new client hears %v", err)
		}
		cancelled.CancelRequest(ctx)
		close(feed)
	} else {
		defer close(feed) // or the COPY might end well before the server has heard of the signal
	}
	heard := map[string]goodbye{}
	all := f.n
	if sig == syscall.SIGTERM {
		all-- // what computes ends only at the second signal
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
		if _, ok := heard["computes"]; ok {
			problem("a statement was cut off while the server drains: %v", heard["computes"].err)
		} else {
			s.Signal(sig)
			g := <-f.said
			heard[g.who] = g
		}
	}
	took, err := s.Wait(leaving)
	if err != nil {
		problem("the server's end: %v\n%s", err, s.Log())
	}
	if took > leaving/2 {
		problem("the server took %v to end", took)
	}
	for who, state := range want {
		if g := heard[who]; state != "lost" && state != "any" && g.state != state {
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

// copies loads a table from a client that takes its time until feed is closed.
func (f *farewell) copies(ctx context.Context) (feed chan struct{}, err error) {
	pc, err := f.s.connect(ctx, "copies")
	if err != nil {
		return nil, err
	}
	if _, err := answer(ctx, pc, "create schema if not exists bye; create table if not exists bye.c (a int)"); err != nil {
		return nil, err
	}
	feed = make(chan struct{})
	f.n++
	go func() {
		_, err := pc.CopyFrom(ctx, &slowly{until: feed}, "copy bye.c from stdin")
		f.said <- goodbye{"copies", stateOf(err), err}
	}()
	return feed, nil
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

// stalled is a client that asks for rows and takes none.
func (s *Server) stalled(ctx context.Context, sql string) (net.Conn, error) {
	pc, err := s.connect(ctx, "stalled")
	if err != nil {
		return nil, err
	}
	h, err := pc.Hijack()
	if err != nil {
		return nil, err
	}
	msg := binary.BigEndian.AppendUint32([]byte{'Q'}, uint32(4+len(sql)+1))
	_, err = h.Conn.Write(append(append(msg, sql...), 0))
	return h.Conn, err
}

// Shutdowns ends servers that start gives, over one warehouse, in each way, and looks at what
// their writes have left there.
func Shutdowns(ctx context.Context, start func() (*Server, error)) (problems []string, err error) {
	var rows, copied int
	for _, end := range []func(context.Context, *Server) []string{Drain, Interrupt} {
		s, err := start()
		if err != nil {
			return problems, err
		}
		problems = append(problems, end(ctx, s)...)
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
		if rows-was != inserted && (drained || rows != was) {
			problems = append(problems, fmt.Sprintf("the INSERT under way has left %d rows", rows-was))
		}
		if drained == (copied == had) {
			problems = append(problems, fmt.Sprintf("the COPY under way has left %d rows", copied-had))
		}
	}
	return problems, nil
}

// written counts the rows that the clients of the end have written, and that no file lies about
// that no snapshot knows.
func written(ctx context.Context, s *Server) (rows, copied int, err error) {
	pc, err := s.connect(ctx, "written")
	if err != nil {
		return 0, 0, err
	}
	defer hangUp(pc)
	r, err := pc.Exec(ctx, `select (select count(*) from bye.t), (select count(*) from bye.c),
		(select string_agg(file_path, ',') from (select file_path from bye.t.all_data_files union select file_path from bye.c.all_data_files) f)`).ReadAll()
	if err != nil {
		return 0, 0, err
	}
	row := r[0].Rows[0]
	if rows, err = strconv.Atoi(string(row[0])); err != nil {
		return 0, 0, err
	}
	if copied, err = strconv.Atoi(string(row[1])); err != nil {
		return 0, 0, err
	}
	known := map[string]bool{}
	dirs := map[string]bool{}
	for _, f := range strings.Split(string(row[2]), ",") {
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
