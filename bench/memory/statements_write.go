package main

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// writes are statements that write, each into a table of its own, which goes afterwards.
var writes = []statement{
	{what: "insert into 10,000 partitions", run: fanOut("")},
	{what: "the same, with a sort order", run: fanOut("WRITE ORDERED BY c DESC, a")},
	{what: "the same, distributed", run: fanOut("SET TBLPROPERTIES ('write.distribution-mode' = 'hash')")},
}

// fanOut inserts rows that come in no order of 10,000 partitions, and holds what then lies in the
// table against the rows' formula.
func fanOut(alter string) func(context.Context, *server, *pgx.Conn) outcome {
	const partitions = 10_000
	const sums = "select count(*), count(distinct k), sum(a * k), sum(b), min(c), max(c), sum(length(c) * k), max(d) from "
	return func(ctx context.Context, s *server, c *pgx.Conn) outcome {
		source := fmt.Sprintf("select g::bigint a, (g::bigint * 7919 %% %d)::int k, g * 0.25 b, md5(g::text) c, timestamp '2026-01-01' + g * interval '1 second' d from generate_series(1, %d) g", partitions, *fanOutRows)
		var o outcome
		fail := func(err error) outcome {
			if o.err == nil {
				o.err, o.code = err, "lost"
			}
			return o
		}
		setup := []string{"create schema if not exists memory", "drop table if exists memory.parts",
			"create table memory.parts (a bigint, k int, b numeric(12,2), c text, d timestamp) partitioned by (k)"}
		if alter != "" {
			setup = append(setup, "alter table memory.parts "+alter)
		}
		for _, q := range setup {
			if _, err := c.Exec(ctx, q); err != nil {
				return fail(err)
			}
		}
		if err := s.resetPeak(); err != nil {
			return fail(errNoProc)
		}
		if o = ask(ctx, c, "insert into memory.parts "+source); o.err != nil {
			return o
		}
		peak := s.peak()
		want, got := ask(ctx, c, sums+"("+source+") x"), ask(ctx, c, sums+"memory.parts")
		if want.err != nil || got.err != nil || want.sum != got.sum {
			return fail(fmt.Errorf("the table does not hold what was inserted: %v, %v", want.err, got.err))
		}
		files := ask(ctx, c, fmt.Sprintf("select 1 from memory.parts.files having count(*) between %d and %d", partitions, 3*partitions))
		if files.err != nil || files.rows != 1 {
			return fail(fmt.Errorf("the table has fewer or more files than one to three a partition: %v", files.err))
		}
		if _, err := c.Exec(ctx, "drop table memory.parts purge"); err != nil {
			return fail(err)
		}
		o.peak = max(peak, s.peak()) // reading 10,000 files keeps to the limit too
		return o
	}
}
