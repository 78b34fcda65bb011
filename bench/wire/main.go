// Command wire measures how fast a server sends a table's rows: it runs a query as a Postgres
// client, takes every row and drops it. run.py compares two servers with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

func main() {
	dsn := flag.String("dsn", "", "connection string")
	query := flag.String("query", "", "the query")
	mode := flag.String("mode", "text", "text (simple protocol) or binary (extended)")
	flag.Parse()
	if err := run(*dsn, *query, *mode); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dsn, query, mode string) error {
	ctx := context.Background()
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	exec := pgx.QueryExecModeSimpleProtocol
	if mode == "binary" {
		exec = pgx.QueryExecModeDescribeExec
	}
	start := time.Now()
	rows, err := c.Query(ctx, query, exec)
	if err != nil {
		return err
	}
	var n, bytes int64
	for rows.Next() {
		n++
		for _, v := range rows.RawValues() {
			bytes += int64(len(v))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	fmt.Printf("%.3f %d %d\n", time.Since(start).Seconds(), n, bytes)
	return nil
}
