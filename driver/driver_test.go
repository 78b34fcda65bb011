package driver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

func testDB(t *testing.T) *sql.DB {
	t.Helper()
	dir := t.TempDir()
	eng, err := engine.Open(context.Background(), engine.Config{TempDir: t.TempDir(), Catalogs: []engine.CatalogConfig{{
		Name: "lake", Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": dir}}}})
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(Connector(eng, engine.SessionOptions{User: "tester", Settings: map[string]string{"search_path": "s"}}))
	t.Cleanup(func() { db.Close(); eng.Close() })
	if _, err := db.Exec("create schema s"); err != nil {
		t.Fatal(err)
	}
	return db
}

func code(err error) sqlerr.Code {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Values go out as parameters and come back as they went.
func TestValues(t *testing.T) {
	db := testDB(t)
	at := time.Date(1969, 7, 20, 20, 17, 40, 123456000, time.UTC)
	for _, c := range []struct {
		typ       string
		arg, want any
	}{
		{"boolean", true, true},
		{"int", 42, int64(42)},
		{"bigint", int64(-1 << 63), int64(-1 << 63)},
		{"double precision", 0.1, 0.1},
		{"real", float32(0.1), float64(float32(0.1))},
		{"text", "naïve 'q'", "naïve 'q'"},
		{"text", "", ""},
		{"bytea", []byte{0, 0xff, '\\'}, []byte{0, 0xff, '\\'}},
		{"numeric(20,3)", "12345678901234567.890", "12345678901234567.890"},
		{"date", at, time.Date(1969, 7, 20, 0, 0, 0, 0, time.UTC)},
		{"timestamp", at, at},
		{"timestamptz", at, at},
		{"timestamptz", at.In(time.FixedZone("", 3600)), at},
		{"uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"},
		{"int[]", "{1,NULL,3}", "{1,NULL,3}"},
		{"jsonb", `{"a": 1}`, `{"a": 1}`},
		{"int", nil, nil},
		{"text", nil, nil},
		{"timestamptz", nil, nil},
	} {
		var got any
		if err := db.QueryRow(fmt.Sprintf("select $1::%s", c.typ), c.arg).Scan(&got); err != nil {
			t.Errorf("%s %v: %v", c.typ, c.arg, err)
			continue
		}
		same := got == nil && c.want == nil
		switch w := c.want.(type) {
		case time.Time:
			g, ok := got.(time.Time)
			same = ok && g.Equal(w)
		case []byte:
			g, ok := got.([]byte)
			same = ok && string(g) == string(w)
		default:
			if c.want != nil {
				same = got == c.want
			}
		}
		if !same {
			t.Errorf("%s: %T %v, want %T %v", c.typ, got, got, c.want, c.want)
		}
	}
	var n sql.NullInt64
	var s sql.NullString
	var f float64
	if err := db.QueryRow("select null::int, 'x', 1.5::numeric").Scan(&n, &s, &f); err != nil || n.Valid || s.String != "x" || f != 1.5 {
		t.Errorf("%v %v %v: %v", n, s, f, err)
	}
	if err := db.QueryRow("select 1 where false").Scan(&f); err != sql.ErrNoRows {
		t.Errorf("no row: %v", err)
	}
}

func TestColumnTypes(t *testing.T) {
	db := testDB(t)
	rows, err := db.Query("select 1 as a, 'x'::text as b, now() as c, 1.5::numeric(4,2) as d")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, c := range types {
		got += fmt.Sprint(c.Name(), " ", c.DatabaseTypeName(), " ", c.ScanType(), "\n")
	}
	const want = "a INT4 int64\nb TEXT string\nc TIMESTAMPTZ time.Time\nd NUMERIC string\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// A transaction is seen when it commits, and leaves nothing when it is rolled back.
func TestTransactions(t *testing.T) {
	db := testDB(t)
	ctx := context.Background()
	if _, err := db.Exec("create table t (id int)"); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		t.Helper()
		if err := db.QueryRow("select count(*) from t").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("insert into t values ($1), ($2)", 1, 2); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 0 {
		t.Errorf("%d rows after ROLLBACK", n)
	}
	if tx, err = db.Begin(); err != nil {
		t.Fatal(err)
	}
	res, err := tx.Exec("insert into t values ($1), ($2)", 1, 2)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := res.RowsAffected(); n != 2 {
		t.Errorf("%d rows affected", n)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if n := count(); n != 2 {
		t.Errorf("%d rows after COMMIT", n)
	}
	// A failed statement fails its transaction; COMMIT then says that nothing was committed.
	if tx, err = db.Begin(); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("insert into t values (1/0)"); code(err) != sqlerr.DivisionByZero {
		t.Errorf("1/0: %v", err)
	}
	if _, err := tx.Exec("select 1"); code(err) != "25P02" {
		t.Errorf("in a failed transaction: %v", err)
	}
	if err := tx.Commit(); err == nil {
		t.Error("COMMIT of a failed transaction succeeded")
	}
	// A read-only transaction refuses to write.
	if tx, err = db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("insert into t values (3)"); code(err) != "25006" {
		t.Errorf("write in a read-only transaction: %v", err)
	}
	tx.Rollback()
	// The pool's connections are usable afterwards.
	if n := count(); n != 2 {
		t.Errorf("%d rows in the end", n)
	}
	if _, err := db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelLinearizable}); err == nil {
		t.Error("an isolation level that there is not was granted")
	}
}

func TestErrors(t *testing.T) {
	db := testDB(t)
	for sql, want := range map[string]sqlerr.Code{
		"select * from missing": sqlerr.UndefinedTable, "selec 1": sqlerr.SyntaxError,
		"select 1; select 2": sqlerr.SyntaxError, "select x": sqlerr.UndefinedColumn,
	} {
		if _, err := db.Exec(sql); code(err) != want {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
	// An error may come with the rows, after some of them.
	rows, err := db.Query("select 1/(5000-g) from generate_series(1,10000) g")
	if err == nil {
		for rows.Next() {
		}
		err = rows.Err()
		rows.Close()
	}
	if code(err) != sqlerr.DivisionByZero {
		t.Errorf("late error: %v", err)
	}
	if _, err := db.Exec("select $1::int", "x"); code(err) != sqlerr.InvalidTextRepresentation {
		t.Errorf("a bad argument: %v", err)
	}
	if _, err := db.Exec("select $1::int"); err == nil {
		t.Error("a missing argument passed")
	}
}

// A context's end stops the statement, and the connection serves the next one.
func TestCancel(t *testing.T) {
	db := testDB(t)
	db.SetMaxOpenConns(1)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	var n int
	err := db.QueryRowContext(ctx, "select count(*) from generate_series(1,1000000) a, generate_series(1,1000000) b where a < b + 1").Scan(&n)
	if err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
	if !errors.Is(err, context.DeadlineExceeded) && code(err) != sqlerr.QueryCanceled {
		t.Errorf("error %v", err)
	}
	if err := db.QueryRow("select 1").Scan(&n); err != nil || n != 1 {
		t.Errorf("after the cancel: %v", err)
	}
	// Rows that are not read to their end hold nothing up.
	rows, err := db.Query("select g from generate_series(1,100000) g")
	if err != nil {
		t.Fatal(err)
	}
	rows.Next()
	if err := rows.Close(); err != nil {
		t.Errorf("closing early: %v", err)
	}
	if err := db.QueryRow("select 2").Scan(&n); err != nil || n != 2 {
		t.Errorf("after an early close: %v", err)
	}
}

// Many goroutines share a pool; prepared statements follow their connections. A
// transaction that one user of a connection left open is rolled back before the next.
func TestPool(t *testing.T) {
	db := testDB(t)
	st, err := db.Prepare("select $1::int + 1")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range 20 {
				var n int
				if err := st.QueryRow(i*100 + k).Scan(&n); err != nil || n != i*100+k+1 {
					t.Errorf("%d: %v", n, err)
				}
			}
		}()
	}
	wg.Wait()
	db.SetMaxOpenConns(1)
	for _, sql := range []string{"begin", "select 1/0"} {
		db.Exec(sql)
	}
	var n int
	if err := db.QueryRow("select 1").Scan(&n); err != nil {
		t.Errorf("after a transaction that was left open: %v", err)
	}
}

// The driver's own name opens a warehouse by path, with settings.
func TestOpen(t *testing.T) {
	db, err := sql.Open("lhsql", t.TempDir()+"?search_path=a,b&TimeZone=Europe/Madrid")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var path, zone string
	if err := db.QueryRow("select current_setting('search_path'), current_setting('TimeZone')").Scan(&path, &zone); err != nil {
		t.Fatal(err)
	}
	if path != "a, b" && path != "a,b" || zone != "Europe/Madrid" {
		t.Errorf("%s, %s", path, zone)
	}
}
