package pg

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/lhsql/lhsql/wire/door"
)

// What each message of the extended protocol gets for an answer, as letters: see client.until.
func TestProtocol(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})))
	check := func(name, want string, msgs ...pgproto3.FrontendMessage) {
		t.Helper()
		if got := c.do(msgs...); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	sync, flush := &pgproto3.Sync{}, &pgproto3.Flush{}
	describe := func(kind byte, name string) *pgproto3.Describe {
		return &pgproto3.Describe{ObjectType: kind, Name: name}
	}
	rows := "select g from generate_series(1, 10) g"
	check("a portal in pieces", "1 2 D D D D s D D D D s D D C(SELECT 2) Z(I)",
		parse("", rows), bind("", ""), execute("", 4), execute("", 4), execute("", 4), sync)
	check("a limit equal to the rows left", "1 2 D D D D D D D D D D s C(SELECT 0) Z(I)",
		parse("", rows), bind("", ""), execute("", 10), execute("", 10), sync)
	check("an ended portal executed again", "1 2 D C(SELECT 1) C(SELECT 0) Z(I)",
		parse("", "select 1"), bind("", ""), execute("", 0), execute("", 0), sync)
	check("two portals, interleaved", "1 2 2 D D s D s D s D s Z(I)",
		parse("a", rows), bind("x", "a"), bind("y", "a"), execute("x", 2), execute("y", 1), execute("x", 1), execute("y", 1), sync)
	check("a limit on a statement without rows", "1 2 C(SET) Z(I)", parse("", "set timezone to utc"), bind("", ""), execute("", 1), sync)
	check("describing what has no rows", "1 t n Z(I)", parse("", "set timezone to utc"), describe('S', ""), sync)
	check("describing SHOW", "1 t T 2 T Z(I)", parse("", " show timezone"), describe('S', ""), bind("", ""), describe('P', ""), sync)
	check("describing EXPLAIN", "1 t T Z(I)", parse("", "explain select 1"), describe('S', ""), sync)
	check("a name taken", "1 E(42P05) Z(I)", parse("n", "select 1"), parse("n", "select 2"), sync)
	check("closing it, and what is not there", "3 3 1 Z(I)",
		&pgproto3.Close{ObjectType: 'S', Name: "n"}, &pgproto3.Close{ObjectType: 'S', Name: "nosuch"}, parse("n", "select 2"), sync)
	check("too few parameters", "1 E(08P01) Z(I)", parse("", "select $1::int"), bind("", ""), sync)
	check("a bad parameter", "1 E(22P02) Z(I)", parse("", "select $1::int"), bind("", "", "x"), sync)
	check("an invalid byte in a parameter", "1 E(22021) Z(I)", parse("", "select $1::text"), bind("", "", "\xff"), sync)
	check("skipping to Sync", "1 2 E(22012) Z(I)", parse("", "select 1/0"), bind("", ""), execute("", 0), parse("", "select 1"), flush, sync)
	check("a query by simple protocol after", "T D C(SELECT 1) Z(I)", query("select 1"))

	check("a portal lives in its transaction", "C(BEGIN) Z(T)", query("begin"))
	check("across Sync", "1 2 D D D s Z(T)", parse("p", rows), bind("c", "p"), execute("c", 3), sync)
	check("and other statements", "T D C(SELECT 1) Z(T)", query("select 1"))
	check("to its end", "D D D D D D D C(SELECT 7) Z(T)", execute("c", 0), sync)
	check("not longer", "C(COMMIT) Z(I)", query("commit"))
	check("which shows", "E(34000) Z(I)", execute("c", 0), sync)

	check("left-over COPY messages", "T D C(SELECT 1) Z(I)", &pgproto3.CopyData{Data: []byte("x")}, &pgproto3.CopyDone{}, query("select 1"))
	check("COPY of a query", "H d c C(COPY 1) Z(I)", query("copy (select 1, 'a') to stdout"))
	check("COPY in binary: signature with the row, trailer", "H d d c C(COPY 1) Z(I)", query("copy (select 1, 'a') to stdout (format binary)"))
	check("COPY of nothing in binary: signature with the trailer", "H d c C(COPY 0) Z(I)", query("copy (select 1 where false) to stdout (format binary)"))
	check("FunctionCall", "E(0A000) Z(I)", &pgproto3.FunctionCall{})
	check("SQL PREPARE", "C(PREPARE) Z(I)", query("prepare q as select $1::int + 1"))
	check("shares its names", "2 D C(SELECT 1) Z(I)", bind("", "q", "41"), execute("", 0), sync)
}

func TestTransactionEnds(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})))
	for _, x := range [][2]string{
		{"begin; select 1/0; select 2", "C(BEGIN) E(22012) Z(E)"},
		{"select 1", "E(25P02) Z(E)"},
		{"commit", "C(ROLLBACK) Z(I)"},
		{"commit", "C(COMMIT) Z(I)"},
		{"begin; savepoint s; select 1/0", "C(BEGIN) C(SAVEPOINT) E(22012) Z(E)"},
		{"rollback to s", "C(ROLLBACK) Z(T)"},
		{"select 1; commit", "T D C(SELECT 1) C(COMMIT) Z(I)"},
		{"", "I Z(I)"},
		{"-- nothing", "I Z(I)"},
	} {
		if got := c.do(query(x[0])); got != x[1] {
			t.Errorf("%s: got %s, want %s", x[0], got, x[1])
		}
	}
}

// All statements of one Query message are one transaction, as are those of a pipeline up to Sync; a
// BEGIN among them makes a block of what was done before too, a COMMIT or ROLLBACK ends it.
func TestImplicitTransactions(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})))
	sync, flush := &pgproto3.Sync{}, &pgproto3.Flush{}
	say := func(want string, msgs ...pgproto3.FrontendMessage) {
		t.Helper()
		if got := c.do(msgs...); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	// holds asks in a message of its own, and empties the table.
	holds := func(want string) {
		t.Helper()
		c.Send(query("select coalesce(string_agg(a::text, ',' order by a), '') from main.t"))
		c.Frontend.Flush()
		got := ""
		for {
			m, err := c.Receive()
			if err != nil {
				t.Fatal(err)
			}
			if r, ok := m.(*pgproto3.DataRow); ok {
				got = string(r.Values[0])
			}
			if _, ok := m.(*pgproto3.ReadyForQuery); ok {
				break
			}
		}
		if got != want {
			t.Errorf("the table holds %s, want %s", got, want)
		}
		c.do(query("truncate main.t"))
	}
	say("C(CREATE SCHEMA) C(CREATE TABLE) Z(I)", query("create schema if not exists main; create table main.t (a int)"))

	say("C(INSERT 0 1) E(22012) Z(I)", query("insert into main.t values (1); insert into main.t values (1/0)"))
	holds("")
	say("C(INSERT 0 1) C(INSERT 0 1) Z(I)", query("insert into main.t values (1); insert into main.t values (2)"))
	holds("1,2")
	say("C(CREATE TABLE) C(DROP TABLE) E(22012) Z(I)", query("create table main.x (a int); drop table main.t; select 1/0"))
	say("E(42P01) Z(I)", query("select * from main.x"))
	holds("")
	say("C(INSERT 0 1) C(COMMIT) C(INSERT 0 1) E(22012) Z(I)", query("insert into main.t values (1); commit; insert into main.t values (2); select 1/0"))
	holds("1")
	say("C(INSERT 0 1) C(ROLLBACK) C(INSERT 0 1) Z(I)", query("insert into main.t values (1); rollback; insert into main.t values (2)"))
	holds("2")
	say("C(INSERT 0 1) C(BEGIN) C(INSERT 0 1) Z(T)", query("insert into main.t values (1); begin; insert into main.t values (2)"))
	say("C(ROLLBACK) Z(I)", query("rollback"))
	holds("")
	say("C(INSERT 0 1) C(BEGIN) E(22012) Z(E)", query("insert into main.t values (1); begin; select 1/0"))
	say("C(ROLLBACK) Z(I)", query("commit"))
	holds("")
	say("C(INSERT 0 1) E(25P01) Z(I)", query("insert into main.t values (1); savepoint s"))
	holds("")
	say("C(INSERT 0 1) E(25P01) Z(I)", query("insert into main.t values (1); commit and chain"))
	holds("")
	say("C(SET) E(22012) Z(I)", query("set search_path = main; select 1/0"))
	say("E(42P01) Z(I)", query("select * from t"))
	say("C(INSERT 0 1) E(25001) Z(I)", query("insert into main.t values (1); discard all"))
	holds("")

	insert := func(v string) []pgproto3.FrontendMessage {
		return []pgproto3.FrontendMessage{parse("", "insert into main.t values ("+v+")"), bind("", ""), execute("", 0)}
	}
	all := func(parts ...any) (out []pgproto3.FrontendMessage) {
		for _, p := range parts {
			switch p := p.(type) {
			case []pgproto3.FrontendMessage:
				out = append(out, p...)
			case pgproto3.FrontendMessage:
				out = append(out, p)
			}
		}
		return out
	}
	say("1 2 C(INSERT 0 1) 1 2 C(INSERT 0 1) Z(I)", all(insert("1"), insert("2"), sync)...)
	holds("1,2")
	say("1 2 C(INSERT 0 1) 1 2 E(22012) Z(I)", all(insert("1"), insert("1/0"), insert("3"), sync)...)
	holds("")
	say("1 2 C(INSERT 0 1) 1 2 E(22012) Z(I)", all(insert("1"), flush, insert("1/0"), sync)...)
	holds("")
	say("1 2 C(INSERT 0 1) 1 2 C(COMMIT) 1 2 C(INSERT 0 1) 1 2 E(22012) Z(I)",
		all(insert("1"), parse("", "commit"), bind("", ""), execute("", 0), insert("2"), insert("1/0"), sync)...)
	holds("1")
	say("1 2 C(INSERT 0 1) 1 2 C(BEGIN) Z(T)", all(insert("1"), parse("", "begin"), bind("", ""), execute("", 0), sync)...)
	say("C(ROLLBACK) Z(I)", query("rollback"))
	holds("")
	// What takes effect at once stands alone in its pipeline.
	say("1 2 C(DISCARD ALL) Z(I)", parse("", "discard all"), bind("", ""), execute("", 0), flush, sync)
	say("1 2 C(INSERT 0 1) 1 2 E(25001) Z(I)", all(insert("1"), parse("", "discard all"), bind("", ""), execute("", 0), flush, sync)...)
	holds("")
}

// A message longer than the limit ends the connection with a word, before its bytes are read.
func TestMessageLimit(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{MaxMessage: 1 << 16})))
	c.nc.Write(binary.BigEndian.AppendUint32([]byte{'Q'}, 1<<30))
	if got := c.until('Z'); got != "E(08P01) closed" {
		t.Error(got)
	}
	for _, head := range [][]byte{{0, 0, 0, 3}, {0, 0, 0, 7}, {0, 1, 0, 0}, {0xff, 0xff, 0xff, 0xff}} {
		nc, err := net.Dial("tcp", listen(t, testServer(t, Config{})))
		if err != nil {
			t.Fatal(err)
		}
		nc.SetDeadline(time.Now().Add(10 * time.Second))
		nc.Write(head)
		if got, _ := io.ReadAll(nc); !strings.Contains(string(got), "08P01") {
			t.Errorf("start-up of length %x: %q", head, got)
		}
		nc.Close()
	}
}

// A client that says nothing before it has logged in is dropped at the deadline.
func TestLoginDeadline(t *testing.T) {
	addr := listen(t, testServer(t, Config{AuthTimeout: 300 * time.Millisecond}))
	for _, say := range [][]byte{nil, {0, 0, 0}, startupPacket("user", "u")[:9]} {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		nc.SetDeadline(time.Now().Add(10 * time.Second))
		nc.Write(say)
		start := time.Now()
		io.ReadAll(nc)
		if d := time.Since(start); d > 3*time.Second {
			t.Errorf("after %q the connection stayed for %v", say, d)
		}
		nc.Close()
	}
}

// Who finds no place to log in waits for one, and is told when none comes free.
func TestLoginsWait(t *testing.T) {
	s := testServer(t, Config{MaxUnauthenticated: 2, MaxConnections: 3, AuthTimeout: time.Second})
	addr := listen(t, s)
	silent := func() net.Conn {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { nc.Close() })
		nc.SetDeadline(time.Now().Add(10 * time.Second))
		return nc
	}
	one := silent()
	silent()
	for end := time.Now().Add(5 * time.Second); s.door.LoggingIn() < 2 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	time.AfterFunc(100*time.Millisecond, func() { one.Close() })
	if got := dial(t, addr).do(query("select 1")); got != "T D C(SELECT 1) Z(I)" {
		t.Errorf("who waited: %s", got)
	}
	// Four places are taken by the silent: two to log in, and the rest of those that may wait.
	for range 5 {
		silent()
	}
	said, _ := io.ReadAll(silent())
	if !bytes.Contains(said, []byte("C53300\x00")) {
		t.Errorf("one too many: %q", said)
	}
}

// A client that asks for much and reads nothing is dropped when the write deadline passes, and
// its session ends.
func TestSlowReader(t *testing.T) {
	s := testServer(t, Config{WriteTimeout: 300 * time.Millisecond})
	addr := listen(t, s)
	c, w := dial(t, addr), dial(t, addr)
	c.Send(query("select g, repeat('x', 1000) from generate_series(1, 100000) g"))
	c.Frontend.Flush()
	for end := time.Now().Add(10 * time.Second); s.door.Connections() > 1; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the slow reader is still connected")
		}
	}
	if got := w.do(query("select 1")); got != "T D C(SELECT 1) Z(I)" {
		t.Error(got)
	}
}

// A client that leaves while its statement runs takes the statement with it.
func TestDisconnectCancels(t *testing.T) {
	s := testServer(t, Config{})
	addr := listen(t, s)
	for _, text := range []string{"select pg_sleep(100)", "select count(*) from generate_series(1, 100000000000) g where g % 7 = 3",
		"select g from generate_series(1, 100000000000) g order by g"} {
		c := dial(t, addr)
		c.Send(query(text))
		c.Frontend.Flush()
		time.Sleep(200 * time.Millisecond)
		c.nc.Close()
		start := time.Now()
		for {
			if s.door.Connections() == 0 {
				break
			}
			if time.Since(start) > time.Second {
				t.Fatalf("%s still runs a second after its client left", text)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// Shutdown lets a statement end, tells idle clients why, and takes no new ones.
func TestShutdown(t *testing.T) {
	s := testServer(t, Config{})
	addr := listen(t, s)
	idle, busy := dial(t, addr), dial(t, addr)
	busy.Send(query("select pg_sleep(0.5)"))
	busy.Frontend.Flush()
	time.Sleep(100 * time.Millisecond)
	done := make(chan error, 1)
	go func() { done <- s.Shutdown(t.Context()) }()
	if got := idle.until('Z'); got != "E(57P01) closed" {
		t.Errorf("idle: %s", got)
	}
	if got := greet(t, addr); got != "E(57P03) closed" {
		t.Errorf("new: %s", got)
	}
	if got := busy.until('Z'); !strings.HasPrefix(got, "T D C(SELECT 1) Z(I)") {
		t.Errorf("busy: %s", got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", addr); err == nil {
		t.Error("a closed server accepts")
	}
}

// greet says what a new client hears.
func greet(t testing.TB, addr string) string {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	nc.Write(startupPacket("user", "u", "database", "lake"))
	return (&client{pgproto3.NewFrontend(nc, nc), nc, t}).until('Z')
}

// The connection over the limit hears so; when another leaves there is room again.
func TestConnectionLimit(t *testing.T) {
	addr := listen(t, testServer(t, Config{MaxConnections: 2}))
	dial(t, addr)
	two := dial(t, addr)
	if got := greet(t, addr); got != "E(53300) closed" {
		t.Errorf("the third: %s", got)
	}
	two.nc.Close()
	var got string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = greet(t, addr); got != "E(53300) closed" {
			break
		}
	}
	if !strings.HasSuffix(got, "Z(I)") {
		t.Errorf("after one left: %s", got)
	}
}

// What does not end within the time that Shutdown has is cut off and told so: statements that
// compute, that wait for their client's data, and that wait for their client to take rows.
func TestShutdownCutsOff(t *testing.T) {
	s := testServer(t, Config{})
	addr := listen(t, s)
	dial(t, addr).do(query("create schema x; create table x.t (a int)"))
	var clients []*client
	for _, text := range []string{"select pg_sleep(100)", "select count(*) from generate_series(1, 100000000000)",
		"begin; select pg_sleep(100)", "copy x.t from stdin", "select g, repeat('x', 1000) from generate_series(1, 100000) g"} {
		c := dial(t, addr)
		c.Send(query(text))
		c.Frontend.Flush()
		clients = append(clients, c)
	}
	time.Sleep(300 * time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	start := time.Now()
	if err := s.Shutdown(ctx); err != context.Canceled {
		t.Error(err)
	}
	if d := time.Since(start); d > 2*door.LastWords {
		t.Errorf("Shutdown took %v", d)
	}
	for i, c := range clients[:4] {
		if got := c.until('Z'); !strings.HasSuffix(got, "E(57P01) closed") {
			t.Errorf("%d: %s", i, got)
		}
	}
}

// A statement whose client does not take its rows ends when it is cancelled, and gives back its
// memory then, not when the client moves. The client finds the rows it had been sent, and why
// there are no more.
func TestCancelOfStalledReader(t *testing.T) {
	s := testServer(t, Config{})
	addr := listen(t, s)
	for _, cycle := range [][]pgproto3.FrontendMessage{
		{query("select g, repeat('x', 1000) from generate_series(1, 50000) g order by g desc")},
		{query("copy (select g, repeat('x', 1000) from generate_series(1, 50000) g order by g desc) to stdout")},
		{parse("", "select g, repeat('x', 1000) from generate_series(1, 50000) g order by g desc"), bind("", ""), execute("", 0), &pgproto3.Sync{}},
	} {
		c := dial(t, addr)
		c.do(query("set statement_timeout = '1500ms'"))
		for _, m := range cycle {
			c.Send(m)
		}
		c.Frontend.Flush()
		held := func() bool { return s.engine.MemoryUsed() > 0 }
		waitFor(t, "the statement holds memory", held)
		waitFor(t, "the statement is over", func() bool { return !held() })
		got := c.until('Z')
		if !strings.HasSuffix(got, "E(57014) Z(I)") || len(got) > 2*50000 {
			t.Errorf("the client hears … %s", got[max(0, len(got)-100):])
		}
		if got := c.do(query("select 1")); got != "T D C(SELECT 1) Z(I)" {
			t.Error(got)
		}
		c.nc.Close()
	}
}

func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it does not come true that %s", what)
		}
	}
}
