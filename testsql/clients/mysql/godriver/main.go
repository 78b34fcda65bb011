// Command godriver runs go-sql-driver/mysql: godriver DSN. It fails on the first surprise.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/go-sql-driver/mysql"
)

func must(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%+v\n", err)
		os.Exit(1)
	}
}

func equal(what string, got, want any) {
	if fmt.Sprint(got) != fmt.Sprint(want) {
		must(fmt.Errorf("%s: got %v, want %v", what, got, want))
	}
}

func main() {
	db, err := sql.Open("mysql", os.Args[1])
	must(err)
	ctx := context.Background()
	var n int64
	must(db.QueryRow("select count(*) from orders where order_id between ? and ? and region <> ?", 1, 9, "x").Scan(&n))
	equal("prepared", n, 9)
	var (
		b            sql.NullBool
		i            sql.NullInt64
		f            sql.NullFloat64
		dec, s, uuid sql.NullString
		ts, tz, d    sql.NullTime
		bin          []byte
	)
	read := "select c_bool, c_long, c_double, c_dec38, c_str, c_uuid, c_ts, c_tstz, c_date, c_bin from all_types where id = "
	for _, q := range []struct {
		sql  string
		args []any
	}{{read + "1", nil}, {read + "?", []any{1}}} {
		must(db.QueryRow(q.sql, q.args...).Scan(&b, &i, &f, &dec, &s, &uuid, &ts, &tz, &d, &bin))
		equal("values", fmt.Sprintf("%v %v %v %v %v %v %v %v %v %v", b.Bool, i.Int64, f.Float64, dec.String, s.String, uuid.String, ts.Time, tz.Time, d.Time, bin),
			"true 9007199254740993 2.718281828459045 1234567890123456789.0123456789 text 00112233-4455-6677-8899-aabbccddeeff "+
				"2024-02-29 12:34:56.789012 +0000 UTC 2024-02-29 12:34:56.789012 +0000 UTC 2024-02-29 00:00:00 +0000 UTC [222 173 190 239]")
	}
	must(db.QueryRow(read+"?", 4).Scan(&b, &i, &f, &dec, &s, &uuid, &ts, &tz, &d, &bin))
	equal("NULLs", fmt.Sprint(b.Valid, i.Valid, f.Valid, dec.Valid, s.Valid, ts.Valid, bin == nil), "false false false false false false true")
	rows, err := db.Query("select * from all_types")
	must(err)
	cols, err := rows.ColumnTypes()
	must(err)
	for _, c := range cols {
		fmt.Print(c.DatabaseTypeName(), " ")
	}
	fmt.Println()
	rows.Close()
	for _, want := range []struct {
		sql    string
		number uint16
	}{{"select nope from orders", 1054}, {"select * from nope", 1146}, {"selct", 1064}, {"use nope", 1049},
		{"select * from orders into outfile '/tmp/x'", 1290}, {"load data infile '/etc/passwd' into table orders", 1290}, {"select load_file('/etc/passwd')", 1290}} {
		_, err := db.Exec(want.sql)
		var e *mysql.MySQLError
		if !errors.As(err, &e) || e.Number != want.number {
			must(fmt.Errorf("%s: %v, want %d", want.sql, err, want.number))
		}
	}
	// A context that ends closes the connection: the server stops the query.
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	start := time.Now()
	_, err = db.QueryContext(short, "select count(*) from orders a, orders b, orders c where a.order_id + b.order_id + c.order_id = 7")
	cancel()
	if err == nil || time.Since(start) > 3*time.Second {
		must(fmt.Errorf("cancelled: %v after %v", err, time.Since(start)))
	}
	// max_execution_time and KILL QUERY.
	c1, err := db.Conn(ctx)
	must(err)
	_, err = c1.ExecContext(ctx, "set max_execution_time = 200")
	must(err)
	_, err = c1.QueryContext(ctx, "select count(*) from orders a, orders b, orders c where a.order_id + b.order_id + c.order_id = 7")
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != 3024 {
		must(fmt.Errorf("max_execution_time: %v", err))
	}
	_, err = c1.ExecContext(ctx, "set max_execution_time = 0")
	must(err)
	var id int64
	must(c1.QueryRowContext(ctx, "select connection_id()").Scan(&id))
	go func() {
		time.Sleep(300 * time.Millisecond)
		_, err := db.Exec(fmt.Sprintf("kill query %d", id))
		must(err)
	}()
	_, err = c1.QueryContext(ctx, "select count(*) from orders a, orders b, orders c where a.order_id + b.order_id + c.order_id = 7")
	if !errors.As(err, &e) || e.Number != 1317 || string(e.SQLState[:]) != "70100" {
		must(fmt.Errorf("KILL QUERY: %v", err))
	}
	must(c1.QueryRowContext(ctx, "select 5").Scan(&n))
	equal("alive", n, 5)
	must(c1.Close())
	// Transactions and many connections at once.
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	must(err)
	must(tx.QueryRow("select count(*) from orders").Scan(&n))
	must(tx.Commit())
	var wg sync.WaitGroup
	for k := range 20 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var n int64
			must(db.QueryRow("select sum(n) from public.numbers where n <= ?", k).Scan(new(sql.NullInt64)))
			must(db.QueryRow("select count(*) from public.numbers").Scan(&n))
			equal("count", n, 1000)
		}()
	}
	wg.Wait()
	fmt.Println("ok")
}
