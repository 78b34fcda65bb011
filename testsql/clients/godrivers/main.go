// Command godrivers runs Go's drivers for PostgreSQL against a server and prints what they saw, so
// that two servers can be compared. usage: godrivers DSN
//
// It is a module of its own: the drivers are no dependency of lhsql.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/lib/pq"
)

func main() {
	dsn := os.Args[1]
	for _, m := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe,
		pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		check(m.String(), mode(dsn, m))
	}
	check("pool", pool(dsn))
	check("lib/pq", libpq(dsn))
	check("stdlib", stdlib(dsn))
}

func check(what string, err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, what+":", err)
		os.Exit(1)
	}
}

func say(a ...any) { fmt.Println(a...) }

// code is what an error says, whichever driver gave it.
func code(err error) string {
	var a *pgconn.PgError
	var b *pq.Error
	switch {
	case errors.As(err, &a):
		return a.Code + " " + a.Message
	case errors.As(err, &b):
		return string(b.Code) + " " + b.Message
	}
	return fmt.Sprint(err)
}

// all gives a query's rows as text.
func all(rows pgx.Rows, err error) string {
	if err != nil {
		return code(err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		v, err := rows.Values()
		if err != nil {
			return err.Error()
		}
		out = append(out, fmt.Sprintf("%v", v))
	}
	if err := rows.Err(); err != nil {
		out = append(out, code(err))
	}
	return strings.Join(out, "\n")
}

func mode(dsn string, m pgx.QueryExecMode) error {
	ctx := context.Background()
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	cfg.DefaultQueryExecMode = m
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return err
	}
	defer c.Close(ctx)
	say("==", m)
	if m != pgx.QueryExecModeSimpleProtocol && m != pgx.QueryExecModeExec { // those give every type as text
		say(all(c.Query(ctx, "select id, c_bool, c_int, c_long, c_float, c_double, c_dec, c_dec38, c_date, c_time, c_ts, c_tstz, c_str, c_uuid, c_bin, c_ints, c_strs, c_map from ns1.all_types order by id")))
	}
	day := time.Date(2024, 2, 29, 12, 30, 0, 0, time.UTC)
	for i := range 3 {
		say(all(c.Query(ctx, "select $1::int4 + 1, $2::text, $3::timestamptz, $4::int4[], $5::bool, $6::float8, $7::numeric", i, "it's", day, []int32{1, 2}, true, 1.5, "1.25")))
	}
	say(all(c.Query(ctx, "select n from numbers where n < $1 order by n", 4)))
	say(all(c.Query(ctx, "select 1/0")))
	say(all(c.Query(ctx, "select nosuch")))

	tx, err := c.Begin(ctx)
	if err != nil {
		return err
	}
	sp, err := tx.Begin(ctx)
	if err != nil {
		return err
	}
	_, err = sp.Exec(ctx, "select 1/0")
	say(code(err))
	if err := sp.Rollback(ctx); err != nil {
		return err
	}
	say(all(tx.Query(ctx, "select 'after the savepoint'")))
	if err := tx.Commit(ctx); err != nil {
		return err
	}

	b := &pgx.Batch{}
	for i := range 5 {
		b.Queue("select label from numbers where n = $1", i+1)
	}
	b.Queue("select count(*) from ns1.orders where region = $1", "eu")
	r := c.SendBatch(ctx, b)
	for range 6 {
		say(all(r.Query()))
	}
	if err := r.Close(); err != nil {
		return err
	}
	b = &pgx.Batch{}
	b.Queue("select 1")
	b.Queue("select 1/0")
	b.Queue("select 2")
	r = c.SendBatch(ctx, b)
	say(all(r.Query()), all(r.Query()), all(r.Query()))
	say(code(r.Close()))

	if _, err := c.Exec(ctx, "create table ns1.gox (a int, b text, c numeric(10,2), d timestamptz, e double precision)"); err != nil {
		return err
	}
	n, err := c.CopyFrom(ctx, pgx.Identifier{"ns1", "gox"}, []string{"a", "b", "d", "e"}, pgx.CopyFromSlice(250, func(i int) ([]any, error) {
		return []any{i, fmt.Sprint("row ", i), day.Add(time.Duration(i) * time.Hour), float64(i) / 4}, nil
	}))
	say("copied", n, err)
	say(all(c.Query(ctx, "select count(*)::int4, sum(a)::int4, min(b), max(e) from ns1.gox")))
	tag, err := c.Exec(ctx, "insert into ns1.gox (a, b) values ($1, $2)", 1000, "one more")
	say(tag, err)
	tag, err = c.Exec(ctx, "delete from ns1.gox where a > $1", 10)
	say(tag, err)
	n, err = c.CopyFrom(ctx, pgx.Identifier{"ns1", "gox"}, []string{"a"}, pgx.CopyFromSlice(3, func(i int) ([]any, error) {
		if i == 2 {
			return nil, errors.New("the source ends badly")
		}
		return []any{i}, nil
	}))
	say("copied", n, err != nil)
	say(all(c.Query(ctx, "select count(*)::int4 from ns1.gox")))
	_, err = c.Exec(ctx, "drop table ns1.gox")
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = c.Exec(short, "select pg_sleep(20)")
	say("cancelled", err != nil, time.Since(start) < 5*time.Second)
	return nil
}

func pool(dsn string) error {
	ctx := context.Background()
	p, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return err
	}
	defer p.Close()
	out := make(chan string, 20)
	for i := range 20 {
		go func() { out <- all(p.Query(ctx, "select count(*) from numbers where n <= $1", i)) }()
	}
	sum := map[string]int{}
	for range 20 {
		sum[<-out]++
	}
	say("== pool", len(sum), sum["[0]"], sum["[19]"])
	return nil
}

func libpq(dsn string) error {
	say("== lib/pq")
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := db.Ping(); err != nil {
		return err
	}
	if err := database(db); err != nil {
		return err
	}
	var a []int64
	var s []string
	if err := db.QueryRow("select array[1,2,3], array['a','b \"c\"']").Scan(pq.Array(&a), pq.Array(&s)); err != nil {
		return err
	}
	say(a, s)
	say(db.QueryRow("select $1::int[]", pq.Array([]int64{4, 5})).Scan(pq.Array(&a)), a)
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	if _, err := tx.Exec("create table ns1.pqx (a int, b text)"); err != nil {
		return err
	}
	st, err := tx.Prepare(pq.CopyInSchema("ns1", "pqx", "a", "b"))
	if err != nil {
		return err
	}
	for i := range 100 {
		if _, err := st.Exec(i, fmt.Sprint("tab\there ", i)); err != nil {
			return err
		}
	}
	if _, err := st.Exec(); err != nil {
		return err
	}
	if err := st.Close(); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	var n, sum int
	if err := db.QueryRow("select count(*), sum(a) from ns1.pqx where b like E'tab\\there%'").Scan(&n, &sum); err != nil {
		return err
	}
	say(n, sum)
	_, err = db.Exec("drop table ns1.pqx")
	if err != nil {
		return err
	}
	l := pq.NewListener(dsn, time.Second, time.Minute, nil)
	defer l.Close()
	say("listen", l.Listen("ch"), l.Ping(), l.Unlisten("ch"))
	return nil
}

func stdlib(dsn string) error {
	say("== pgx by database/sql")
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	return database(db)
}

// database is what programs do by database/sql.
func database(db *sql.DB) error {
	rows, err := db.Query("select id, c_bool, c_int, c_long, c_double, c_dec, c_date, c_ts, c_str, c_uuid, c_bin from ns1.all_types where id in (1, 4, 5) order by id")
	if err != nil {
		return err
	}
	defer rows.Close()
	cols, err := rows.ColumnTypes()
	if err != nil {
		return err
	}
	for _, c := range cols {
		say(c.Name(), c.DatabaseTypeName())
	}
	for rows.Next() {
		v := make([]any, len(cols))
		for i := range v {
			v[i] = new(any)
		}
		if err := rows.Scan(v...); err != nil {
			return err
		}
		for _, x := range v {
			say(*x.(*any))
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	st, err := db.Prepare("select label from numbers where n = $1")
	if err != nil {
		return err
	}
	defer st.Close()
	for i := range 3 {
		var s string
		if err := st.QueryRow(i + 1).Scan(&s); err != nil {
			return err
		}
		say(s)
	}
	var s string
	say(st.QueryRow(-1).Scan(&s))
	_, err = db.Exec("select 1/0")
	say(code(err))
	tx, err := db.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead})
	if err != nil {
		return err
	}
	_, err = tx.Exec("create table ns1.never (a int)")
	say(code(err)[:5]) // the message names the kind of statement in PostgreSQL alone
	say(tx.Rollback())
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	_, err = db.ExecContext(ctx, "select pg_sleep(20)")
	say("cancelled", err != nil)
	return db.Ping()
}
