package mysql

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
	"time"
)

// A session: results, errors, several statements, databases, variables.
func TestSession(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})), "u", "")
	c.want("select 1 + 1, 'x', null", "2|x|NULL")
	c.want("select 1; select 2; set @a = 3; select @a", "1 / 2 / OK 0 / 3")
	c.want("select 1; selct; select 2", "1 / 1064 42000")
	c.want("", "1065 42000")
	c.want("-- only a comment", "1065 42000")
	c.want("select * from t", "1046 3D000")
	c.want("use nowhere", "1049 42000")
	c.want("use ns", "OK 0")
	c.want("select * from t", "1146 42S02")
	c.want("select database(), @@version, version()", "ns|"+serverVersion+"|"+serverVersion)
	c.want("create table t (a int not null, b text)", "OK 0")
	c.want("insert into t values (1, 'x'), (2, null)", "OK 2")
	c.want("select * from ns.t order by a", "1|x;2|NULL")
	c.want("show tables", "t")
	// The same namespace of another catalog is another database.
	c.want("show databases like '%ns'", "ns;other.ns")
	c.want("use `other.ns`", "OK 0")
	c.want("select * from t", "1146 42S02")
	c.want("create table t (z int)", "OK 0")
	c.want("select count(*) from other.ns.t", "0")
	c.want("select count(*) from `other.ns`.t", "0")
	c.want("select count(*) from ns.t", "2")
	c.want("show columns from t", "z|int|YES||NULL|")
	c.want("set @@session.nope = 1", "1193 HY000")
	c.want("set global version = 'x'", "1238 HY000")
	c.want("set sql_select_limit = 1; select a from ns.t order by a; select a from ns.t order by a limit 5", "OK 0 / 1 / 1;2")
	c.want("set sql_select_limit = 1; show databases like '%ns'", "OK 0 / ns")
	c.want("set sql_select_limit = default, @b = 2 + 3; select @b, @@sql_select_limit", "OK 0 / 5|18446744073709551615")
	c.want("select a from ns.t; select found_rows()", "1;2 / 2")
	c.want("select sql_calc_found_rows a from ns.t order by a limit 1; select found_rows()", "1 / 2")
	c.want("insert into ns.t values (7, 'z'); select row_count(); delete from ns.t where a = 7; select row_count()", "OK 1 / 1 / OK 1 / 1")
	c.want("select a, b into @p, @q from ns.t where a = 1; select @p + 1, @q", "OK 0 / 2|x")
	c.want("select a into @p from ns.t", "1172 42000")
	c.want("select a, b into @p from ns.t where a = 1", "1222 21000")
	c.want("select a into @p from ns.t where a = 9; show warnings; select @p", "OK 0 / Warning|1329|No data - zero rows fetched, selected, or processed / 1")
	c.want("select nope; select 1", "1054 42S22")
	c.want("show warnings", "Error|1054|Unknown column 'nope' in 'field list'")
	if got := c.do(comInitDB, "ns"); got != "OK 0" {
		t.Error(got)
	}
	if got := c.do(comPing, ""); got != "OK 0" {
		t.Error(got)
	}
	c.want("set @keep = 1", "OK 0")
	if got := c.do(comResetConn, ""); got != "OK 0" {
		t.Error(got)
	}
	c.want("select @keep, database()", "NULL|ns")
	if got := c.do(0x42, ""); got != "1047 08S01" {
		t.Error(got)
	}
}

// MySQL's transactions: DDL commits, an error leaves the transaction open, autocommit = 0 begins
// one with the first statement that touches data.
func TestTransactions(t *testing.T) {
	addr := listen(t, testServer(t, Config{}))
	c, other := dial(t, addr, "u", "ns"), dial(t, addr, "v", "ns")
	c.want("create table t (a int)", "OK 0")
	c.want("begin; insert into t values (1); select nope", "OK 0 / OK 1 / 1054 42S22")
	c.want("select count(*) from t", "1")
	other.want("select count(*) from t", "0")
	c.want("commit", "OK 0")
	other.want("select count(*) from t", "1")
	c.want("set autocommit = 0; insert into t values (2)", "OK 0 / OK 1")
	other.want("select count(*) from t", "1")
	c.want("rollback; select count(*) from t", "OK 0 / 1")
	c.want("insert into t values (3); set autocommit = 1", "OK 1 / OK 0") // commits
	other.want("select count(*) from t", "2")
	c.want("begin; insert into t values (4); create table u (a int); rollback", "OK 0 / OK 1 / OK 0 / OK 0") // DDL commits
	other.want("select count(*) from t", "3")
	c.want("set transaction read only; begin; insert into t values (5)", "OK 0 / OK 0 / 1792 25006")
	c.want("rollback; begin; insert into t values (5); rollback", "OK 0 / OK 0 / OK 1 / OK 0") // for one transaction only
	c.want("begin; insert into t values (6); savepoint s; insert into t values (7); rollback to savepoint s; commit", "OK 0 / OK 1 / OK 0 / OK 1 / OK 0 / OK 0")
	other.want("select max(a) from t", "6")
	// Two transactions that write the same rows: the second loses, and is told to try again.
	c.want("begin; update t set a = 10 where a = 6", "OK 0 / OK 1")
	other.want("update t set a = 11 where a = 6", "OK 1")
	c.want("commit", "1213 40001")
	c.want("select max(a) from t", "11")
}

// KILL reaches other sessions, and what is killed says so.
func TestKill(t *testing.T) {
	s := testServer(t, Config{})
	addr := listen(t, s)
	c, other := dial(t, addr, "u", "ns"), dial(t, addr, "v", "ns")
	id := other.query("select connection_id()")
	c.want("kill 4000000", "1094 HY000")
	c.want("kill query "+id, "OK 0") // idle: nothing to stop
	other.want("select 1", "1")
	slow := "select count(*) from information_schema.columns a, information_schema.columns b, information_schema.columns c where a.ordinal_position + b.ordinal_position + c.ordinal_position = -1"
	done := make(chan string, 1)
	go func() { done <- other.query(slow) }()
	time.Sleep(200 * time.Millisecond)
	c.want("kill query "+id, "OK 0")
	if got := <-done; got != "1317 70100" {
		t.Error(got)
	}
	other.want("set max_execution_time = 100", "OK 0")
	other.want(slow, "3024 HY000")
	other.want("set max_execution_time = 0; select 1", "OK 0 / 1")
	c.want("kill "+id, "OK 0")
	if got := other.query("select 1"); got != "closed" && got != "1053 08S01" {
		t.Error(got)
	}
	// A client that leaves stops its query.
	gone := dial(t, addr, "w", "ns")
	gone.write(0, append([]byte{comQuery}, slow...))
	time.Sleep(200 * time.Millisecond)
	gone.nc.Close()
	for end := time.Now().Add(10 * time.Second); connected(s) > 1; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the session of a client that left goes on")
		}
	}
}

// Both methods, and what a client that begins with neither is asked for.
func TestAuthentication(t *testing.T) {
	accounts := map[string]Account{"both": {Verifier: "v:secret", Native: NativeHash("secret")}, "sha": {Verifier: "v:secret"}, "old": {Native: NativeHash("secret")}}
	addr := listen(t, testServer(t, Config{Auth: Auth{
		Lookup: func(u string) (Account, bool) { a, ok := accounts[u]; return a, ok },
		Check:  func(v, _, p string) bool { return v == "v:"+p },
	}}))
	native := func(salt []byte, password string) []byte {
		a := sha1.Sum([]byte(password))
		b := sha1.Sum(a[:])
		m := sha1.Sum(append(append([]byte(nil), salt...), b[:]...))
		for i := range m {
			m[i] ^= a[i]
		}
		return m[:]
	}
	fast := func(salt []byte, password string) []byte {
		a := sha256.Sum256([]byte(password))
		b := sha256.Sum256(a[:])
		m := sha256.Sum256(append(append([]byte(nil), b[:]...), salt...))
		for i := range m {
			m[i] ^= a[i]
		}
		return m[:]
	}
	login := func(user, plugin string, reply func([]byte) []byte) (*client, []byte) {
		c, e := open(t, addr)
		if e != "" {
			t.Fatal(e)
		}
		c.write(1, loginPacket(testCaps, user, reply(c.salt), "ns", plugin))
		return c, c.read()
	}
	with := func(f func([]byte, string) []byte, p string) func([]byte) []byte {
		return func(s []byte) []byte { return f(s, p) }
	}
	for _, u := range []string{"both", "old"} {
		if _, got := login(u, pluginNative, with(native, "secret")); text(got) != "OK" {
			t.Error(u, text(got))
		}
		if _, got := login(u, pluginNative, with(native, "wrong")); !strings.HasPrefix(text(got), "1045 28000") {
			t.Error(u, text(got))
		}
	}
	// Unknown to the cache: the server asks for the password, which without TLS goes under its key.
	c, got := login("sha", pluginSHA2, with(fast, "secret"))
	if len(got) != 2 || got[0] != 1 || got[1] != 4 {
		t.Fatalf("%q", got)
	}
	c.write(c.in.seq, []byte{2})
	if got := c.read(); !strings.Contains(string(got), "BEGIN PUBLIC KEY") {
		t.Errorf("%q", got)
	}
	// A password in the clear without TLS is no password.
	c, _ = login("sha", pluginSHA2, with(fast, "secret"))
	c.write(c.in.seq, append([]byte("secret"), 0))
	if got := text(c.read()); !strings.HasPrefix(got, "1045 28000") {
		t.Error(got)
	}
	// One who is not there is asked like one who is.
	_, got = login("nobody", pluginSHA2, with(fast, "secret"))
	if len(got) != 2 || got[1] != 4 {
		t.Errorf("%q", got)
	}
	// Another method: the server switches to the account's.
	for u, want := range map[string]string{"old": pluginNative, "sha": pluginSHA2, "nobody": pluginSHA2} {
		if _, got := login(u, "mysql_clear_password", func([]byte) []byte { return []byte("secret\x00") }); !strings.HasPrefix(string(got[1:]), want) {
			t.Errorf("%s: %q", u, got)
		}
	}
	if _, got := login("sha", pluginSHA2, func([]byte) []byte { return nil }); !strings.HasPrefix(text(got), "1045 28000") {
		t.Error(text(got))
	}
}

// Limits: connections, log-ins, packets before and after log-in, and packets out of order.
func TestLimits(t *testing.T) {
	s := testServer(t, Config{MaxConnections: 2, MaxUnauthenticated: 2, AuthTimeout: time.Second, MaxPacket: 1 << 20})
	addr := listen(t, s)
	a, b := dial(t, addr, "a", ""), dial(t, addr, "b", "")
	c, e := open(t, addr)
	if e == "" {
		c.write(1, loginPacket(testCaps, "c", nil, "", pluginSHA2))
		e = text(c.read())
	}
	if !strings.HasPrefix(e, "1040 08004") {
		t.Error(e)
	}
	b.nc.Close()
	for end := time.Now().Add(5 * time.Second); connected(s) > 1 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	c, _ = open(t, addr)
	c.write(1, make([]byte, maxLoginPacket+1))
	if got := text(c.read()); !strings.HasPrefix(got, "1043 08S01") {
		t.Error(got)
	}
	c, _ = open(t, addr)
	c.write(7, loginPacket(testCaps, "c", nil, "", pluginSHA2))
	if got := text(c.unasked()); !strings.HasPrefix(got, "1043 08S01") {
		t.Error(got)
	}
	c = dial(t, addr, "c", "")
	c.write(0, append([]byte{comQuery}, make([]byte, 1<<20)...))
	if got := text(c.read()); !strings.HasPrefix(got, "1153 08S01") {
		t.Error(got)
	}
	a.want("select 1", "1")
	a.write(3, []byte{comPing})
	if got := text(a.unasked()); !strings.HasPrefix(got, "1156 08S01") {
		t.Error(got)
	}
}

// A text of more than one packet, and a row of more than one.
func TestLongPackets(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})), "u", "")
	long := strings.Repeat("x", maxPayload+1000)
	if got := c.query("select length('" + long + "')"); got != "16778215" {
		t.Errorf("%.100s", got)
	}
	if got := c.query("select '" + long + "'"); got != long {
		t.Errorf("%.100s (%d bytes)", got, len(got))
	}
	c.want("select 1", "1")
	// One that finds no room in the server's memory is passed over; the connection goes on.
	if got := c.query("select length('" + strings.Repeat("x", 63<<20) + "')"); got != "1038 HY001" {
		t.Errorf("%.100s", got)
	}
	c.want("select 1", "1")
}

// Prepared statements in binary, long data, and cursors that are read in pieces.
func TestPrepared(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})), "u", "ns")
	prepare := func(sql string) (id uint32, cols, params int) {
		t.Helper()
		c.write(0, append([]byte{comPrepare}, sql...))
		f := &fields{b: c.read()}
		if f.byte() != 0 {
			t.Fatal(text(append([]byte{0xff}, f.b...)))
		}
		id, cols, params = f.int32(), int(f.int16()), int(f.int16())
		for range cols + params {
			c.read()
		}
		return
	}
	execute := func(id uint32, flags byte, rest ...byte) [][]byte {
		t.Helper()
		b := append(binary.LittleEndian.AppendUint32([]byte{comExecute}, id), flags, 1, 0, 0, 0)
		c.write(0, append(b, rest...))
		n := c.read()
		if n == nil || n[0] == 0xff {
			t.Fatal(text(n))
		}
		for range n[0] {
			c.read()
		}
		var rows [][]byte
		for {
			b := c.read()
			if b == nil || b[0] == 0xfe || b[0] == 0xff {
				return append(rows, b)
			}
			rows = append(rows, b)
		}
	}
	id, cols, params := prepare("select ?, ? is null")
	if cols != 2 || params != 2 {
		t.Fatal(cols, params)
	}
	c.write(0, append(binary.LittleEndian.AppendUint32([]byte{comLongData}, id), "\x00\x00long "...))
	c.write(0, append(binary.LittleEndian.AppendUint32([]byte{comLongData}, id), "\x00\x00data"...))
	rows := execute(id, 0, 2, 1, typeVarString, 0, typeNull, 0)
	if len(rows) != 2 || !strings.Contains(string(rows[0]), "long data") {
		t.Errorf("%q", rows)
	}
	id, _, _ = prepare("select word from information_schema.keywords order by 1")
	rows = execute(id, 1) // a cursor
	if len(rows) != 1 || binary.LittleEndian.Uint16(rows[0][3:])&statusCursor == 0 {
		t.Fatalf("%q", rows)
	}
	seen, last := 0, false
	for !last {
		c.write(0, binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32([]byte{comFetch}, id), 50))
		for n := 0; ; n++ {
			b := c.read()
			if b == nil || b[0] == 0xff {
				t.Fatal(text(b))
			}
			if b[0] == 0xfe {
				last = binary.LittleEndian.Uint16(b[3:])&statusLastRow != 0
				if !last && n != 50 {
					t.Fatalf("%d rows", n)
				}
				break
			}
			seen++
		}
	}
	if got := c.query("select count(*) from information_schema.keywords"); got != itoa(int64(seen)) {
		t.Errorf("%d rows by cursor, %s in all", seen, got)
	}
	c.write(0, binary.LittleEndian.AppendUint32([]byte{comReset}, id))
	if got := text(c.read()); got != "OK" {
		t.Error(got)
	}
	c.write(0, binary.LittleEndian.AppendUint32([]byte{comClose}, id)) // no answer
	c.write(0, append(binary.LittleEndian.AppendUint32([]byte{comExecute}, id), 0, 1, 0, 0, 0))
	if got := text(c.read()); !strings.HasPrefix(got, "1243 HY000") {
		t.Error(got)
	}
	// A parameter that does not fit the type inferred for it has MySQL's own meaning.
	c.want("create table t (a int); insert into t values (1), (2); prepare p from 'select count(*) from t where a = ?'", "OK 0 / OK 2 / OK 0")
	c.want("set @x = '2', @y = 1.0, @z = 1.5; execute p using @x; execute p using @y; execute p using @z", "OK 0 / 1 / 1 / 0")
	c.want("execute p", "1210 HY000")
	c.want("deallocate prepare p; execute p using @x", "OK 0 / 1243 HY000")
}

// Shutdown lets a transaction end, tells idle clients and new ones, and stops what does not end.
func TestShutdown(t *testing.T) {
	s := testServer(t, Config{})
	addr := listen(t, s)
	idle, busy := dial(t, addr, "u", "ns"), dial(t, addr, "v", "ns")
	busy.want("begin", "OK 0")
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		done <- s.Shutdown(ctx)
	}()
	if got := text(idle.unasked()); !strings.HasPrefix(got, "1053 08S01") {
		t.Error(got)
	}
	c, e := open(t, addr)
	if e == "" {
		c.write(1, loginPacket(testCaps, "c", nil, "", pluginSHA2))
		e = text(c.read())
	}
	if !strings.HasPrefix(e, "1053 08S01") {
		t.Error(e)
	}
	busy.want("select 1", "1")
	busy.want("commit", "OK 0")
	if got := text(busy.unasked()); !strings.HasPrefix(got, "1053 08S01") {
		t.Error(got)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func connected(s *Server) int {
	now, _ := s.door.Sessions()
	return now
}
