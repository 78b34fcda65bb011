package load

import (
	"bytes"
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"time"
)

// client is one client of a kind, with dice of its own.
type client struct {
	*run
	kind, name string
	rnd        *rand.Rand
}

func (w *Wire) connect(ctx context.Context, s *Server, name string) (peer, error) {
	return w.open(ctx, s.Addr(w), name)
}

// connect opens a connection; nil when the run is over, or with a problem noted.
func (c *client) connect(ctx context.Context) peer {
	pc, err := c.Wire().connect(ctx, c.Server, c.name)
	if end, ok := ctx.Deadline(); err != nil && ok && time.Until(end) < 10*time.Millisecond {
		<-ctx.Done() // a dialler knows the deadline by itself
	}
	if err != nil && ctx.Err() == nil {
		c.problem("%s cannot connect: %v", c.name, err)
	}
	if err != nil {
		return nil
	}
	return pc
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

// answer runs a text and condenses its rows, which come in an order.
func answer(ctx context.Context, pc peer, sql string) (string, error) {
	h := md5.New()
	n := 0
	err := pc.query(ctx, sql, func(values [][]byte) bool {
		n++
		for _, v := range values {
			fmt.Fprintf(h, "%d %s|", len(v), v)
		}
		return true
	})
	return fmt.Sprintf("%d rows %x", n, h.Sum(nil)), err
}

// row runs a text and gives its last row, its values by spaces.
func row(ctx context.Context, pc peer, sql string) (string, error) {
	var last [][]byte
	err := pc.query(ctx, sql, func(values [][]byte) bool {
		last = nil
		for _, v := range values {
			last = append(last, append([]byte(nil), v...))
		}
		return true
	})
	return string(bytes.Join(last, []byte(" "))), err
}

// learn asks everything once while the server has nothing else to do.
func (r *run) learn(ctx context.Context) error {
	pc, err := r.Wire().connect(ctx, r.Server, "learn")
	if err != nil {
		return err
	}
	defer pc.close()
	if _, err := answer(ctx, pc, r.Wire().schema); err != nil {
		return err
	}
	r.Queries = append(append([]string(nil), r.Wire().questions...), r.Queries...)
	for _, q := range r.Queries {
		if r.answers[q], err = answer(ctx, pc, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return nil
}

// fill connects up to the limit: the one over it hears so, and there a cancel still works.
func (r *run) fill(ctx context.Context) error {
	var open []peer
	defer func() {
		for _, pc := range open {
			pc.close()
		}
	}()
	for {
		pc, err := r.Wire().connect(ctx, r.Server, "fill")
		if err != nil {
			if stateOf(err) != r.Wire().full {
				return fmt.Errorf("the connection over the limit: %w", err)
			}
			r.provoked("the connection limit")
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
	if r.MySQL {
		open[len(open)-1].close() // KILL comes by a connection of its own
		open = open[:len(open)-1]
	}
	stop := cancelSoon(ctx, pc, 200*time.Millisecond)
	_, err := answer(ctx, pc, r.Wire().endless[0])
	if stop(); stateOf(err) != r.Wire().cancelled {
		r.problem("a cancel while the server is full: %v", err)
	}
	return nil
}

// emptied waits until the server has noticed that the connections which filled it are gone: a busy
// machine takes its time.
func (r *run) emptied(ctx context.Context) error {
	var err error
	for range 600 {
		var pc peer
		if pc, err = r.Wire().connect(ctx, r.Server, "emptied"); err == nil {
			var left string
			left, err = row(ctx, pc, r.Wire().others)
			pc.close()
			if err == nil && left == "" {
				return nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("the server does not become empty: %v", err)
}

// cancelSoon sends a cancel request after a while, and again until stop: the first may come
// before the statement that it is for. stop gives the time of the first.
func cancelSoon(ctx context.Context, pc peer, wait time.Duration) (stop func() time.Time) {
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
			pc.cancel(ctx)
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
	defer pc.close()
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
	defer pc.close()
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
	defer pc.close()
	for ctx.Err() == nil {
		start := time.Now()
		n := c.rnd.Intn(1000)
		got, err := pc.double(ctx, n)
		if ctx.Err() != nil {
			return
		}
		if err != nil || got != fmt.Sprint(2*n) {
			c.problem("%s: twice %d is %s, %v", c.name, n, got, err)
			return
		}
		c.took(start)
		if !c.pause(ctx, 20*time.Millisecond) {
			return
		}
	}
}

// slow stops in the middle of a large result. Then it takes the rest, and must find all of it,
// or cancels, or is dropped by the limit of its statement's time, or leaves.
func slow(ctx context.Context, c *client) {
	w := c.Wire()
	for ctx.Err() == nil {
		how := c.rnd.Intn(4)
		pc := c.connect(ctx)
		if pc == nil {
			return
		}
		if how == 2 {
			if _, err := answer(ctx, pc, fmt.Sprintf(w.limited, 1500)); err != nil && ctx.Err() == nil {
				c.problem("%s: %v", c.name, err)
			}
		}
		start := time.Now()
		n := 0
		err := pc.query(ctx, w.large, func([][]byte) bool {
			if n++; n == 1000 {
				if !c.pause(ctx, min(2*time.Second, c.Duration/4)) {
					return false
				}
				if how == 1 {
					pc.cancel(ctx)
				}
			}
			return (how != 3 || n < 1000) && ctx.Err() == nil
		})
		if how == 3 || ctx.Err() != nil {
			pc.kill()
		} else {
			pc.close()
		}
		if ctx.Err() != nil {
			return
		}
		switch code := stateOf(err); {
		case how == 0 && (err != nil || n != w.largeRows):
			c.problem("%s: %d rows of %d, %v", c.name, n, w.largeRows, err)
		case how == 1 && err != nil && code != w.cancelled, how == 2 && code != w.timedOut && (err != nil || n != w.largeRows):
			c.problem("%s: %v", c.name, err)
		case how == 1 && err != nil:
			c.provoked("a cancel")
		case how == 2 && err != nil:
			c.provoked("a statement's time")
		}
		c.took(start)
	}
}

// endless picks a statement that ends only when it is made to.
func (c *client) endless() string { return c.Wire().endless[c.rnd.Intn(len(c.Wire().endless))] }

// cancels starts what would not end and cancels it.
func cancels(ctx context.Context, c *client) {
	pc := c.connect(ctx)
	if pc == nil {
		return
	}
	defer pc.close()
	for ctx.Err() == nil {
		stop := cancelSoon(ctx, pc, 50*time.Millisecond+time.Duration(c.rnd.Intn(300))*time.Millisecond)
		_, err := answer(ctx, pc, c.endless())
		asked := stop()
		if ctx.Err() != nil {
			return
		}
		if stateOf(err) != c.Wire().cancelled {
			c.problem("%s: %v", c.name, err)
			return
		}
		c.provoked("a cancel")
		c.took(asked)
	}
}

// timesOut has the server end its statements.
func timesOut(ctx context.Context, c *client) {
	pc := c.connect(ctx)
	if pc == nil {
		return
	}
	defer pc.close()
	if _, err := answer(ctx, pc, fmt.Sprintf(c.Wire().limited, 200)); err != nil && ctx.Err() == nil {
		c.problem("%s: %v", c.name, err)
		return
	}
	for ctx.Err() == nil {
		start := time.Now()
		_, err := answer(ctx, pc, c.endless())
		if ctx.Err() != nil {
			return
		}
		if stateOf(err) != c.Wire().timedOut || !c.MySQL && !strings.Contains(err.Error(), "statement timeout") {
			c.problem("%s: %v", c.name, err)
			return
		}
		c.provoked("a statement's time")
		c.took(start.Add(200 * time.Millisecond))
	}
}

// writes makes a table, fills and changes it, and drops it: each client its own.
func writes(ctx context.Context, c *client) {
	pc := c.connect(ctx)
	if pc == nil {
		return
	}
	defer pc.close()
	table := fmt.Sprintf("`load`.t_%s", strings.ReplaceAll(c.name, "-", "_"))
	if !c.MySQL {
		table = strings.ReplaceAll(table, "`", "")
	}
	for ctx.Err() == nil {
		for _, s := range c.Wire().changes(table) {
			start := time.Now()
			got, err := row(ctx, pc, s.sql)
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				c.problem("%s: %s: %v", c.name, s.sql, err)
				return
			}
			if s.want != "" && got != s.want {
				c.problem("%s: %s gave %s instead of %s", c.name, s.sql, got, s.want)
			}
			c.took(start)
		}
	}
}

// vanishes leaves in the middle of a statement, by a reset; the statement must not outlive it.
func vanishes(ctx context.Context, c *client) {
	watch, err := c.Wire().connect(ctx, c.Server, c.name+"-watch")
	if err != nil {
		if ctx.Err() == nil {
			c.problem("%s: %v", c.name, err)
		}
		return
	}
	defer watch.close()
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
			pc.kill()
		}()
		answer(ctx, pc, c.endless())
		<-gone
		start := time.Now()
		for ctx.Err() == nil {
			left, err := row(ctx, watch, fmt.Sprintf(c.Wire().sessions, c.name))
			if ctx.Err() != nil {
				return
			}
			if err != nil {
				c.problem("%s: %v", c.name, err)
				return
			}
			if left == "0" {
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
	pc, err := r.Wire().connect(ctx, r.Server, "afterwards")
	if err != nil {
		r.problem("after the run: %v", err)
		return
	}
	defer pc.close()
	for _, q := range r.Queries {
		if got, err := answer(ctx, pc, q); err != nil || got != r.answers[q] {
			r.problem("after the run: %s: %s instead of %s, %v", q, got, r.answers[q], err)
		}
	}
	var left string
	for range 100 {
		rows, err := row(ctx, pc, r.Wire().others)
		if err != nil {
			r.problem("after the run: %v", err)
			return
		}
		files := r.Server.SpillFiles()
		if left = fmt.Sprintf("%s %v", rows, files); rows == "" && len(files) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.problem("left after the run: %s", left)
}
