package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// outcome is what became of a statement.
type outcome struct {
	rows    int64
	sum     uint64 // of all values; rows in any order count the same
	ordered uint64 // of all values in their order
	code    string // SQLSTATE of the error; "lost": the connection broke
	err     error
	took    time.Duration
	peak    int64
	spilled int64
}

func (o outcome) answer() string {
	switch {
	case o.err != nil:
		return o.code
	default:
		return fmt.Sprintf("%d rows", o.rows)
	}
}

// codeOf is an error's SQLSTATE; "lost": the connection broke.
func codeOf(err error) string {
	var e *pgconn.PgError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Code
	}
	return "lost"
}

// ask runs one statement and takes all of its rows.
func ask(ctx context.Context, c *pgx.Conn, sql string) (o outcome) {
	begin := time.Now()
	defer func() {
		o.took = time.Since(begin)
		o.code = codeOf(o.err)
	}()
	rows, err := c.Query(ctx, sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		o.err = err
		return o
	}
	defer rows.Close()
	h := fnv.New64a()
	for rows.Next() {
		h.Reset()
		for _, v := range rows.RawValues() {
			if v == nil {
				h.Write([]byte{0})
				continue
			}
			h.Write([]byte{1})
			h.Write(v)
			h.Write([]byte{2})
		}
		o.rows++
		o.sum += h.Sum64()
		o.ordered = o.ordered*1099511628211 + h.Sum64()
	}
	o.err = rows.Err()
	return o
}

// measure runs a statement in a connection of its own and watches the server.
func (s *server) measure(ctx context.Context, st statement) outcome {
	var o outcome
	fail := func(err error) outcome {
		o.err, o.code = err, "lost"
		return o
	}
	watch, err := s.connect(ctx)
	if err != nil {
		return fail(err)
	}
	defer watch.Close(ctx)
	c, err := s.connect(ctx)
	if err != nil {
		return fail(err)
	}
	defer c.Close(ctx)
	for _, set := range st.set {
		if _, err := c.Exec(ctx, set); err != nil {
			return fail(err)
		}
	}
	before := s.spilled(ctx, watch)
	if err := s.resetPeak(); err != nil {
		return fail(errNoProc)
	}
	if st.run != nil {
		o = st.run(ctx, s, c)
	} else {
		o = ask(ctx, c, st.sql)
	}
	o.peak = s.peak()
	o.spilled = s.spilled(ctx, watch) - before
	return o
}
