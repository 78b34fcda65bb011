package load

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"math/rand"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// client is one client of a kind, with dice of its own.
type client struct {
	*run
	kind, name string
	rnd        *rand.Rand
}

func (s *Server) connect(ctx context.Context, name string, settings ...string) (*pgconn.PgConn, error) {
	dsn := fmt.Sprintf("postgres://load@%s/lake?sslmode=disable&application_name=%s", s.Addr, name)
	for _, kv := range settings {
		dsn += "&" + kv
	}
	return pgconn.Connect(ctx, dsn)
}

// connect opens a connection; nil when the run is over, or with a problem noted.
func (c *client) connect(ctx context.Context, settings ...string) *pgconn.PgConn {
	pc, err := c.Server.connect(ctx, c.name, settings...)
	if err != nil && ctx.Err() == nil {
		c.problem("%s cannot connect: %v", c.name, err)
	}
	if err != nil {
		return nil
	}
	return pc
}

// hangUp closes politely. The run's context may be over by now.
func hangUp(pc *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	pc.Close(ctx)
}

// took notes how long a statement of the client took.
func (c *client) took(since time.Time) {
	d := time.Since(since)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lat[c.kind] = append(c.lat[c.kind], d)
	t := c.clients[c.name]
	t.done++
	t.worst = max(t.worst, d)
}

// stateOf is an error's SQLSTATE, "" where it has none.
func stateOf(err error) string {
	var pe *pgconn.PgError
	if errors.As(err, &pe) {
		return pe.Code
	}
	return ""
}

// answer runs a text by the simple protocol and condenses its rows, which come in an order.
func answer(ctx context.Context, pc *pgconn.PgConn, sql string) (string, error) {
	h := md5.New()
	n := 0
	m := pc.Exec(ctx, sql)
	for m.NextResult() {
		r := m.ResultReader()
		for r.NextRow() {
			n++
			for _, v := range r.Values() {
				fmt.Fprintf(h, "%d %s|", len(v), v)
			}
		}
	}
	return fmt.Sprintf("%d rows %x", n, h.Sum(nil)), m.Close()
}

// questions are heavy in different ways: scans, sorts, hashes and windows that do not fit into a
// query's memory under a small limit.
var questions = []string{
	"select g % 1000 as k, count(*), sum(g), min(g::text) from generate_series(1, 60000) g group by k order by k",
	"select g, md5(g::text) as h from generate_series(1, 30000) g order by h",
	"select count(*), sum(a.g) from generate_series(1, 40000) a(g) join generate_series(1, 40000) b(g) on a.g = b.g * 2",
	"select k, g, sum(g) over (partition by k order by g) from (select g % 100 as k, g from generate_series(1, 20000) g) x order by k, g",
	"select count(distinct md5((g % 9000)::text)) from generate_series(1, 40000) g",
	"select c.relname, a.attname, format_type(a.atttypid, a.atttypmod) from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_namespace n on n.oid = c.relnamespace where n.nspname not in ('pg_catalog', 'information_schema', 'load') order by 1, 2",
}

// learn asks everything once while the server has nothing else to do.
func (r *run) learn(ctx context.Context) error {
	pc, err := r.Server.connect(ctx, "learn")
	if err != nil {
		return err
	}
	defer hangUp(pc)
	if _, err := answer(ctx, pc, "create schema if not exists load"); err != nil {
		return err
	}
	r.Queries = append(append([]string(nil), questions...), r.Queries...)
	for _, q := range r.Queries {
		if r.answers[q], err = answer(ctx, pc, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// fill connects up to the limit: the one over it hears so, and there a cancel still works.
func (r *run) fill(ctx context.Context) error {
	var open []*pgconn.PgConn
	defer func() {
		for _, pc := range open {
			hangUp(pc)
		}
	}()
	for {
		pc, err := r.Server.connect(ctx, "fill")
		if err != nil {
			if stateOf(err) != "53300" {
				return fmt.Errorf("the connection over the limit: %w", err)
			}
			r.provoked("53300")
			break
		}
		if open = append(open, pc); len(open) > 10000 {
			return errors.New("there is no connection limit")
		}
	}
	if len(open) == 0 {
		return errors.New("the server is full")
	}
	pc := open[0]
	stop := cancelSoon(ctx, pc, 200*time.Millisecond)
	_, err := answer(ctx, pc, "select pg_sleep(60)")
	if stop(); stateOf(err) != "57014" {
		r.problem("a cancel while the server is full: %v", err)
	}
	return nil
}

// cancelSoon sends a cancel request after a while, and again until stop: the first may come
// before the statement that it is for. stop gives the time of the first.
func cancelSoon(ctx context.Context, pc *pgconn.PgConn, wait time.Duration) (stop func() time.Time) {
	over, done := make(chan struct{}), make(chan struct{})
	var first time.Time
	go func() {
		defer close(done)
		for {
			select {
			case <-over:
				return
			case <-time.After(wait):
			}
			if first.IsZero() {
				first = time.Now()
			}
			pc.CancelRequest(ctx)
		}
	}()
	return func() time.Time {
		close(over)
		<-done
		return first
	}
}

// idle asks once in a while, and is to be answered soon each time.
func idle(ctx context.Context, c *client) {
	pc := c.connect(ctx)
	if pc == nil {
		return
	}
	defer hangUp(pc)
	for {
		start := time.Now()
		got, err := answer(ctx, pc, "select 1")
		if ctx.Err() != nil {
			return
		}
		if err != nil || !strings.HasPrefix(got, "1 rows") {
			c.problem("%s: select 1 gave %s, %v", c.name, got, err)
			return
		}
		c.took(start)
		if !c.pause(ctx, c.Duration/8) {
			return
		}
	}
}

// pause waits for up to d; false when the run is over.
func (c *client) pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d/2 + time.Duration(c.rnd.Int63n(int64(d)/2+1))):
		return true
	case <-ctx.Done():
		return false
	}
}

// asks puts one question after another; load may change no answer.
func asks(ctx context.Context, c *client) {
	pc := c.connect(ctx)
	if pc == nil {
		return
	}
	defer hangUp(pc)
	for ctx.Err() == nil {
		q := c.Queries[c.rnd.Intn(len(c.Queries))]
		start := time.Now()
		got, err := answer(ctx, pc, q)
		if ctx.Err() != nil {
			return
		}
		if err != nil || got != c.answers[q] {
			c.problem("%s: %s: %s instead of %s, %v", c.name, q, got, c.answers[q], err)
			return
		}
		c.took(start)
	}
}

// prepared asks small things by the extended protocol.
func prepared(ctx context.Context, c *client) {
	pc := c.connect(ctx)
	if pc == nil {
		return
	}
	defer hangUp(pc)
	if _, err := pc.Prepare(ctx, "p", "select $1::int * 2, $2::text", nil); err != nil {
		c.problem("%s: %v", c.name, err)
		return
	}
	for ctx.Err() == nil {
		start := time.Now()
		n := c.rnd.Intn(1000)
		r := pc.ExecPrepared(ctx, "p", [][]byte{fmt.Append(nil, n), []byte("x")}, nil, nil).Read()
		if ctx.Err() != nil {
			return
		}
		if r.Err != nil || len(r.Rows) != 1 || string(r.Rows[0][0]) != fmt.Sprint(2*n) {
			c.problem("%s: %v %v", c.name, r.Rows, r.Err)
			return
		}
		c.took(start)
		if !c.pause(ctx, 20*time.Millisecond) {
			return
		}
	}
}

// slowRows is a result far larger than all buffers between the server and a client.
const slowRows = 60000

// slow stops in the middle of a large result. Then it takes the rest, and must find all of it,
// or cancels, or is dropped by statement_timeout, or leaves.
func slow(ctx context.Context, c *client) {
	for ctx.Err() == nil {
		how := c.rnd.Intn(4)
		settings := []string{}
		if how == 2 {
			settings = append(settings, "statement_timeout=1500")
		}
		pc := c.connect(ctx, settings...)
		if pc == nil {
			return
		}
		start := time.Now()
		m := pc.Exec(ctx, fmt.Sprintf("select g, repeat('x', 1000) from generate_series(1, %d) g order by g desc", slowRows))
		n := 0
		for m.NextResult() {
			r := m.ResultReader()
			for r.NextRow() {
				if n++; n != 1000 {
					continue
				}
				if !c.pause(ctx, min(2*time.Second, c.Duration/4)) {
					break
				}
				if how == 1 {
					pc.CancelRequest(ctx)
				}
				if how == 3 {
					break
				}
			}
			if how == 3 || ctx.Err() != nil {
				break
			}
		}
		if how == 3 || ctx.Err() != nil {
			pc.Conn().Close()
		}
		err := m.Close()
		if ctx.Err() != nil {
			return
		}
		switch code := stateOf(err); {
		case how == 0 && (err != nil || n != slowRows):
			c.problem("%s: %d rows of %d, %v", c.name, n, slowRows, err)
		case how == 1 && err != nil && code != "57014", how == 2 && code != "57014" && (err != nil || n != slowRows):
			c.problem("%s: %v", c.name, err)
		case how == 1 && err != nil:
			c.provoked("57014 cancel")
		case how == 2 && err != nil:
			c.provoked("57014 timeout")
		}
		c.took(start)
		hangUp(pc)
	}
}

// endless are statements that end only when they are made to.
var endless = []string{
	"select count(*) from generate_series(1, 1000000000) a where a % 7 = 3",
	"select a.g, b.g from generate_series(1, 3000000) a(g) join generate_series(1, 3000000) b(g) on a.g = b.g * b.g order by 1 offset 100000",
	"select pg_sleep(600)",
	"select count(*) from pg_class a, pg_class b, pg_class c, pg_class d",
}

// cancels starts what would not end and cancels it.
func cancels(ctx context.Context, c *client) {
	pc := c.connect(ctx)
	if pc == nil {
		return
	}
	defer hangUp(pc)
	for ctx.Err() == nil {
		stop := cancelSoon(ctx, pc, 50*time.Millisecond+time.Duration(c.rnd.Intn(300))*time.Millisecond)
		_, err := answer(ctx, pc, endless[c.rnd.Intn(len(endless))])
		asked := stop()
		if ctx.Err() != nil {
			return
		}
		if stateOf(err) != "57014" {
			c.problem("%s: %v", c.name, err)
			return
		}
		c.provoked("57014 cancel")
		c.took(asked)
	}
}

// timesOut has the server end its statements.
func timesOut(ctx context.Context, c *client) {
	pc := c.connect(ctx, "statement_timeout=200")
	if pc == nil {
		return
	}
	defer hangUp(pc)
	for ctx.Err() == nil {
		start := time.Now()
		_, err := answer(ctx, pc, endless[c.rnd.Intn(len(endless))])
		if ctx.Err() != nil {
			return
		}
		if stateOf(err) != "57014" || !strings.Contains(err.Error(), "statement timeout") {
			c.problem("%s: %v", c.name, err)
			return
		}
		c.provoked("57014 timeout")
		c.took(start.Add(200 * time.Millisecond))
	}
}

// writes makes a table, fills and changes it, and drops it: each client its own.
func writes(ctx context.Context, c *client) {
	pc := c.connect(ctx)
	if pc == nil {
		return
	}
	defer hangUp(pc)
	table := fmt.Sprintf("load.t_%s", strings.ReplaceAll(c.name, "-", "_"))
	for ctx.Err() == nil {
		for _, s := range []struct{ sql, want string }{
			{"drop table if exists " + table, ""},
			{"create table " + table + " as select g as id, md5(g::text) as v from generate_series(1, 2000) g", ""},
			{"delete from " + table + " where id % 2 = 0", ""},
			{"update " + table + " set v = 'x' where id < 100", ""},
			{"select count(*), count(*) filter (where v = 'x') from " + table, "1000 50"},
		} {
			start := time.Now()
			rows, err := pc.Exec(ctx, s.sql).ReadAll()
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				c.problem("%s: %s: %v", c.name, s.sql, err)
				return
			}
			if last := rows[len(rows)-1]; s.want != "" && (len(last.Rows) != 1 || fmt.Sprintf("%s %s", last.Rows[0][0], last.Rows[0][1]) != s.want) {
				c.problem("%s: %s gave %s instead of %s", c.name, s.sql, last.Rows, s.want)
			}
			c.took(start)
		}
	}
}

// vanishes leaves in the middle of a statement, by a reset; the statement must not outlive it.
func vanishes(ctx context.Context, c *client) {
	watch, err := c.Server.connect(ctx, c.name+"-watch")
	if err != nil {
		if ctx.Err() == nil {
			c.problem("%s: %v", c.name, err)
		}
		return
	}
	defer hangUp(watch)
	for ctx.Err() == nil {
		pc := c.connect(ctx)
		if pc == nil {
			return
		}
		gone := make(chan struct{})
		wait := 100*time.Millisecond + time.Duration(c.rnd.Intn(200))*time.Millisecond
		go func() {
			defer close(gone)
			time.Sleep(wait)
			if tcp, ok := pc.Conn().(*net.TCPConn); ok {
				tcp.SetLinger(0)
			}
			pc.Conn().Close()
		}()
		answer(ctx, pc, endless[c.rnd.Intn(len(endless))])
		<-gone
		start := time.Now()
		for ctx.Err() == nil {
			r, err := watch.Exec(ctx, "select count(*) from pg_stat_activity where application_name = '"+c.name+"'").ReadAll()
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				c.problem("%s: %v", c.name, err)
				return
			}
			if string(r[0].Rows[0][0]) == "0" {
				break
			}
			if time.Since(start) > starved {
				c.problem("%s: its statement lives on", c.name)
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		c.took(start)
	}
}

// afterwards looks at what is left when everybody has gone.
func (r *run) afterwards(ctx context.Context) {
	pc, err := r.Server.connect(ctx, "afterwards")
	if err != nil {
		r.problem("after the run: %v", err)
		return
	}
	defer hangUp(pc)
	for _, q := range r.Queries {
		if got, err := answer(ctx, pc, q); err != nil || got != r.answers[q] {
			r.problem("after the run: %s: %s instead of %s, %v", q, got, r.answers[q], err)
		}
	}
	var left string
	for range 100 {
		rows, err := pc.Exec(ctx, "select application_name, state, query from pg_stat_activity where pid <> pg_backend_pid()").ReadAll()
		if err != nil {
			r.problem("after the run: %v", err)
			return
		}
		files := r.Server.SpillFiles()
		if left = fmt.Sprintf("%s %v", rows[0].Rows, files); len(rows[0].Rows) == 0 && len(files) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.problem("left after the run: %s", left)
}
