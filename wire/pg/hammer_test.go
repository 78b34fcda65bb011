package pg

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/hammer"
)

// TestHammer sends random and mutated bytes to real listeners, before log-in, within it and after
// it, over TLS and in the clear, cut off at any place. Every connection must end in time, nothing
// may be logged (testServer), good clients are served in between, and neither goroutines nor
// memory may grow.
func TestHammer(t *testing.T) {
	v, err := Verifier("pw")
	if err != nil {
		t.Fatal(err)
	}
	open := listen(t, testServer(t, Config{AuthTimeout: 10 * time.Second}))
	secured := listen(t, testServer(t, Config{AuthTimeout: 10 * time.Second, TLS: hammer.Certificate(t),
		Auth: Auth{Lookup: func(u string) (string, bool) { return v, u == "u" }, AllowMD5: true}}))
	setUp := dial(t, open)
	setUp.exec("create schema if not exists public")
	setUp.exec("create table public.t (a int, b text, c double precision)")
	setUp.exec("insert into public.t select g, 'row ' || g, g / 7.0 from generate_series(1, 5000) g")
	setUp.nc.Close()
	hammer.Run(t, func(r *rand.Rand) error { return hammerOnce(r, open, secured) }, func() {
		c := dial(t, open)
		c.exec("select count(*) from public.t")
		c.nc.Close()
	})
}

// exec runs a simple query that must work.
func (c *client) exec(sql string) {
	c.t.Helper()
	c.nc.SetDeadline(time.Now().Add(60 * time.Second))
	c.nc.Write(message('Q', append([]byte(sql), 0)))
	buf := make([]byte, 5)
	for {
		if _, err := io.ReadFull(c.nc, buf); err != nil {
			c.t.Fatalf("%s: %v", sql, err)
		}
		body := make([]byte, binary.BigEndian.Uint32(buf[1:])-4)
		if _, err := io.ReadFull(c.nc, body); err != nil {
			c.t.Fatalf("%s: %v", sql, err)
		}
		switch buf[0] {
		case 'E':
			c.t.Fatalf("%s: %q", sql, body)
		case 'Z':
			return
		}
	}
}

// hammerOnce makes one connection, sends one input and reads to the end.
func hammerOnce(r *rand.Rand, open, secured string) error {
	addr := open
	kind := r.IntN(10)
	if kind < 3 {
		addr = secured
	}
	nc, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return err
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(hammer.Deadline))
	var in []byte
	switch {
	case kind == 0: // within TLS
		if _, err := nc.Write([]byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f}); err != nil {
			return nil
		}
		var one [1]byte
		if _, err := io.ReadFull(nc, one[:]); err != nil {
			return hammer.Hangs(nc, err)
		}
		if one[0] != 'S' {
			return fmt.Errorf("SSLRequest: %q %v", one, err)
		}
		if r.IntN(3) == 0 {
			in = hammer.Mutate(r, []byte("\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03 and no hello"))
			break
		}
		c := tls.Client(nc, &tls.Config{InsecureSkipVerify: true})
		if err := c.Handshake(); err != nil {
			return hammer.Hangs(nc, err) // a busy machine may let the time for a log-in pass
		}
		c.Write(beforeLogin(r))
		c.CloseWrite()
		return hammer.Drained(c)
	case kind < 3: // log-in by password
		in = append(startupPacket("user", "u", "database", "lake"), sasl(r)...)
		if r.IntN(2) == 0 {
			in = hammer.Mutate(r, in)
		}
	case kind < 5:
		in = beforeLogin(r)
	default:
		in = startupPacket("user", "u", "database", "lake", "statement_timeout", "300")
		for range 1 + r.IntN(6) {
			in = append(in, anyMessage(r)...)
		}
	}
	return hammer.Send(r, nc, in)
}

func beforeLogin(r *rand.Rand) []byte {
	seeds := [][]byte{startupPacket("user", "u", "database", "lake"), startupPacket("user", "u", "options", "-c a=b\\ c --x=y -c"),
		startupPacket("user", "u", "database", "lake", "client_encoding", "'utf-8'", "DateStyle", "ISO", "TimeZone", "UTC", "_pq_.x", "1"),
		{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f}, {0, 0, 0, 8, 4, 0xd2, 0x16, 0x30}, {0, 0, 0, 16, 4, 0xd2, 0x16, 0x2e, 0, 0, 0, 1, 0, 0, 0, 1},
		{0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3}, {0, 0, 0, 8, 0, 3, 0, 2}, {0xff, 0xff, 0xff, 0xff}, {0, 0, 0, 0}}
	var in []byte
	for range 1 + r.IntN(3) {
		if r.IntN(5) == 0 {
			in = append(in, hammer.Noise(r, r.IntN(200))...)
		} else {
			in = append(in, seeds[r.IntN(len(seeds))]...)
		}
	}
	return hammer.Mutate(r, in)
}

func sasl(r *rand.Rand) []byte {
	first := "n,,n=u,r=rOprNGfwEbeRWgbNEkqO"
	body := append([]byte("SCRAM-SHA-256\x00"), binary.BigEndian.AppendUint32(nil, uint32(len(first)))...)
	in := message('p', hammer.Mutate(r, append(body, first...)))
	return append(in, message('p', hammer.Mutate(r, []byte("c=biws,r=rOprNGfwEbeRWgbNEkqOxyz,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=")))...)
}

var hammerSQL = []string{"select 1", "select * from t where a < 5", "select a, b, c from t order by b desc limit 3", "begin", "commit", "rollback", "savepoint s", "rollback to s",
	"declare c scroll cursor with hold for select * from t", "fetch 3 in c", "move 2 c", "fetch all c", "close c", "copy t to stdout", "copy (select * from t) to stdout (format binary)",
	"copy t from stdin", "copy t (a) from stdin (format csv, header)", "copy t from stdin binary", "set timezone = 'UTC'", "show all", "discard all", "listen x", "prepare p as select $1::int",
	"execute p(1)", "deallocate p", "explain analyze select count(*) from t", "select '\\x00'::bytea, '{1,2}'::int[], '{\"a\":1}'::jsonb", "select 1/0", "select pg_sleep(0.01)",
	"select * from pg_class, pg_attribute limit 10", "values (1), (2)", ";;", "-- x", "select $1, $2::text", "select array_agg(a) from t group by a % 7", "select x from generate_series(1, 1000) x"}

// anyMessage is a message of the protocol, often spoilt.
func anyMessage(r *rand.Rand) []byte {
	text := []byte(hammerSQL[r.IntN(len(hammerSQL))])
	if r.IntN(3) == 0 {
		text = hammer.Mutate(r, text)
	}
	name := []string{"", "s", "p", "c"}[r.IntN(4)]
	i16 := func(n int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(n)) }
	i32 := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	join := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	z := func(s []byte) []byte { return append(append([]byte{}, s...), 0) }
	var m []byte
	switch r.IntN(12) {
	case 0, 1, 2:
		m = message('Q', z(text))
	case 3, 4:
		oids := []int{0, 16, 17, 20, 21, 23, 25, 1007, 1114, 1184, 1700, 2950, 3802, 99999}
		n := r.IntN(4)
		b := join(z([]byte(name)), z(text), i16(n))
		for range n {
			b = append(b, i32(oids[r.IntN(len(oids))])...)
		}
		m = message('P', b)
	case 5, 6:
		n := r.IntN(3)
		b := join(z([]byte(name)), z([]byte(name)), i16(1), i16(r.IntN(2)), i16(n))
		for range n {
			v := hammer.Noise(r, r.IntN(12))
			b = join(b, i32(len(v)), v)
		}
		m = message('B', join(b, i16(1), i16(r.IntN(3))))
	case 7:
		m = message('D', join([]byte{"SPX"[r.IntN(3)]}, z([]byte(name))))
	case 8:
		m = message('E', join(z([]byte(name)), i32([]int{0, 1, 100, -1}[r.IntN(4)])))
	case 9:
		m = message("SHCcfX"[r.IntN(6)], nil)
		if m[0] == 'C' {
			m = message('C', join([]byte{"SP"[r.IntN(2)]}, z([]byte(name))))
		}
	case 10:
		data := [][]byte{[]byte("1\tx\t2.5\n2\t\\N\t\\N\n"), []byte("a,b,c\n1,x,2\n"), []byte("PGCOPY\n\xff\r\n\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x04\x00\x00\x00\x07\xff\xff"), []byte("\\.\n")}
		m = message('d', hammer.Mutate(r, data[r.IntN(len(data))]))
	default:
		m = message(byte(r.IntN(256)), hammer.Noise(r, r.IntN(50)))
	}
	if r.IntN(4) == 0 {
		m = hammer.Mutate(r, m)
	}
	return m
}

func message(typ byte, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{typ}, uint32(len(body)+4)), body...)
}
