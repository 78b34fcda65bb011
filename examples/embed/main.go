// Command embed opens a lakehouse inside the program, without a server: once through
// database/sql, and once through the engine itself, batch by batch.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/lhsql/lhsql/driver"
	"github.com/lhsql/lhsql/engine"
)

func main() {
	dir := "lakehouse"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := run(context.Background(), dir, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run makes a small table in a warehouse folder and asks it questions.
func run(ctx context.Context, dir string, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	// The engine of a program: one for all its sessions. Its catalog is a SQLite file that
	// PyIceberg opens too.
	eng, err := engine.Open(ctx, engine.Config{
		MemoryLimit: 1 << 30,
		Catalogs: []engine.CatalogConfig{{Name: "lake", Props: map[string]string{
			"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}},
	})
	if err != nil {
		return err
	}
	defer eng.Close()

	// database/sql over it: connections of the pool are sessions.
	db := sql.OpenDB(driver.Connector(eng, engine.SessionOptions{User: "embed"}))
	defer db.Close()
	for _, stmt := range []string{
		`CREATE SCHEMA IF NOT EXISTS shop`,
		`DROP TABLE IF EXISTS shop.sale`,
		`CREATE TABLE shop.sale (day date, item text, price numeric(10,2))`,
	} {
		if _, err := db.ExecContext(ctx, stmt); err != nil {
			return err
		}
	}
	res, err := db.ExecContext(ctx, `INSERT INTO shop.sale VALUES ('2026-01-01', 'tea', 3.50), ('2026-01-01', 'cup', 9.99), ('2026-01-02', 'tea', 3.60)`)
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%d rows written\n", n)

	rows, err := db.QueryContext(ctx, `SELECT item, count(*), sum(price) FROM shop.sale WHERE day >= $1 GROUP BY item ORDER BY item`, "2026-01-01")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var item, total string // numerics keep all their digits as text
		var count int
		if err := rows.Scan(&item, &count, &total); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d for %s\n", item, count, total)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return batches(ctx, eng, out)
}

// batches uses the engine's own interface: vectors instead of rows.
func batches(ctx context.Context, eng *engine.Engine, out io.Writer) error {
	s, err := eng.NewSession(ctx, engine.SessionOptions{User: "embed", Settings: map[string]string{"search_path": "shop"}})
	if err != nil {
		return err
	}
	defer s.Close()
	defer s.EndImplicit(ctx)
	list, err := s.Parse(`SELECT day, item FROM sale ORDER BY day, item`)
	if err != nil {
		return err
	}
	st, err := s.Prepare(ctx, list[0], nil)
	if err != nil {
		return err
	}
	r, err := st.Execute(ctx, nil)
	if err != nil {
		return err
	}
	defer r.Close()
	for {
		b, err := r.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			fmt.Fprintln(out, r.Tag())
			return nil
		}
		fmt.Fprintf(out, "a batch of %d columns, %d rows\n", len(b.Cols), b.Len())
	}
}
