package mysql

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/hammer"
)

// TestHammer sends random and mutated bytes to real listeners, in place of a log-in, within it and
// after it, over TLS and in the clear, cut off at any place. Every connection must end in time,
// nothing may be logged (testServer), good clients are served in between, and neither goroutines
// nor memory may grow.
func TestHammer(t *testing.T) {
	open := listen(t, testServer(t, Config{AuthTimeout: 10 * time.Second}))
	secured := listen(t, testServer(t, Config{AuthTimeout: 10 * time.Second, TLS: hammer.Certificate(t), Auth: Auth{
		Lookup: func(u string) (Account, bool) {
			return Account{Verifier: "v:pw", Native: NativeHash("pw")}, u == "u"
		},
		Check: func(v, _, p string) bool { return v == "v:"+p },
	}}))
	setUp := dial(t, open, "u", "ns")
	setUp.want("create table t (a int, b text, c double, d decimal(10,2), e datetime)", "OK 0")
	setUp.want("insert into t values (1, 'x', 0.5, 1.25, '2024-02-29 12:34:56'), (2, null, null, null, null), (3, 'z', 1e300, -7, '1970-01-01')", "OK 3")
	setUp.nc.Close()
	hammer.Run(t, func(r *rand.Rand) error { return hammerOnce(r, open, secured) }, func() {
		c := dial(t, open, "u", "ns")
		c.want("select count(*), max(b) from t", "3|z")
		c.nc.Close()
	})
}

// hammerOnce makes one connection, sends one input and reads to the end.
func hammerOnce(r *rand.Rand, open, secured string) error {
	kind := r.IntN(10)
	addr := open
	if kind < 4 {
		addr = secured
	}
	nc, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return err
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(hammer.Deadline))
	if r.IntN(20) > 0 { // else it talks before it is greeted
		if err := greeted(nc); err != nil {
			return hammer.Hangs(nc, err)
		}
	}
	switch {
	case kind == 0:
		return overTLS(r, nc)
	case kind < 4:
		return hammer.Send(r, nc, passwords(r))
	case kind == 4:
		return hammer.Send(r, nc, insteadOfLogin(r))
	}
	in := append(packet(1, loginPacket(hammerCaps[r.IntN(len(hammerCaps))], "u", nil, "ns", pluginSHA2)),
		packet(0, []byte("\x03set max_execution_time = 300"))...)
	for range 1 + r.IntN(7) {
		in = append(in, anyCommand(r)...)
	}
	return hammer.Send(r, nc, in)
}

// greeted reads the server's greeting.
func greeted(nc net.Conn) error {
	var head [4]byte
	if _, err := io.ReadFull(nc, head[:]); err != nil {
		return err
	}
	b := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err := io.ReadFull(nc, b)
	return err
}

func overTLS(r *rand.Rand, nc net.Conn) error {
	hello := binary.LittleEndian.AppendUint32(nil, testCaps|capSSL)
	hello = append(binary.LittleEndian.AppendUint32(hello, 1<<24), 255)
	nc.Write(packet(1, append(hello, make([]byte, 23)...)))
	if r.IntN(3) == 0 {
		return hammer.Send(r, nc, hammer.Mutate(r, []byte("\x16\x03\x01\x00\xf8\x01\x00\x00\xf4\x03\x03 and no hello")))
	}
	c := tls.Client(nc, &tls.Config{InsecureSkipVerify: true})
	if err := c.Handshake(); err != nil {
		return hammer.Hangs(nc, err) // one that has not been greeted reads the greeting
	}
	in := packet(2, loginPacket(testCaps|capSSL, "u", make([]byte, 32), "ns", pluginSHA2))
	in = append(in, packet(4, []byte("pw\x00"))...)
	if r.IntN(2) == 0 {
		in = hammer.Mutate(r, in)
	}
	for range r.IntN(4) {
		in = append(in, anyCommand(r)...)
	}
	return hammer.Send(r, c, in)
}

// hammerCaps are what clients may say they can do: also what the server has not offered.
var hammerCaps = []uint32{testCaps, testCaps, testCaps, testCaps &^ capDeprecateEOF, testCaps | capFoundRows | capIgnoreSpace, testCaps | capCompress,
	testCaps | capConnectAttrs, testCaps &^ capProtocol41, 0, 1<<32 - 1}

// capCompress is CLIENT_COMPRESS, which is not offered.
const capCompress = 1 << 5

// passwords is a log-in that goes on after the first packet, often spoilt.
func passwords(r *rand.Rand) []byte {
	plugin := []string{pluginSHA2, pluginNative, "mysql_clear_password", ""}[r.IntN(4)]
	reply := hammer.Noise(r, []int{0, 20, 32, 255}[r.IntN(4)])
	in := packet(1, loginPacket(hammerCaps[r.IntN(len(hammerCaps))]|capPluginAuth|capSecure, "u", reply, "ns", plugin))
	for seq := byte(3); r.IntN(3) > 0; seq += 2 {
		next := [][]byte{{2}, []byte("pw\x00"), hammer.Noise(r, 256), hammer.Noise(r, 20), nil}[r.IntN(5)]
		in = append(in, packet(seq, next)...)
	}
	if r.IntN(2) == 0 {
		in = hammer.Mutate(r, in)
	}
	return in
}

func insteadOfLogin(r *rand.Rand) []byte {
	old := append([]byte{0x05, 0x00, 0xff, 0xff, 0xff}, "u\x00pw\x00ns\x00"...)
	attrs := append(loginPacket(testCaps|capConnectAttrs|capLenencAuth, "u", nil, "ns", pluginSHA2), "\x1c\x03_os\x05Linux\x04_pid\x031234\x01a\xfc\xff\xff"...)
	seeds := [][]byte{packet(1, loginPacket(testCaps, "u", nil, "ns", pluginSHA2)), packet(1, attrs), packet(1, old), packet(0, []byte{comQuery, 's'}),
		{0xff, 0xff, 0xff, 1}, {0, 0, 0, 1}, {0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3}, []byte("GET / HTTP/1.1\r\n\r\n")}
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

var hammerSQL = []string{"select 1", "select * from t where a < 5", "select a, b, c from t order by b desc limit 3", "begin", "commit", "rollback", "savepoint s",
	"rollback to savepoint s", "select ?, ? + 1, concat(?, 'x')", "select * from t where a = ? or b like ?", "insert into t select * from t where a = ? and false",
	"set @a = 1, names utf8mb4, @@session.sql_mode = 'ANSI'", "show full columns from t like 'x'", "show tables", "show variables like 'ver%'", "show create table t",
	"prepare p from 'select ?'", "execute p using @a", "deallocate prepare p", "explain select count(*) from t", "select @v := 1, if(@v, @v := 2, @v := 3)",
	"/*!40101 set names x */", "describe `ns`.`t`", "use `ns`", "start transaction read only", "select table_name from information_schema.tables",
	"select a, count(*) from t group by a with rollup", "select 1; select 2; selct", "select 1/0, 1 div 0, x'6162', 0b11, 1e400, date '2024-02-30'", "-- x", ";;", "",
	"kill query 999999", "select json_extract('{\"a\":[1,2]}', '$.a[1]'), cast('x' as char(3)), convert('é' using utf8mb4)", "do 1", "show warnings", "help 'x'",
	"select * from t for system_time as of now()", "load data local infile 'x' into table t", "select e, d from t where e > '2000-01-01' union all select null, null"}

// anyCommand is a command in a packet, often spoilt.
func anyCommand(r *rand.Rand) []byte {
	text := []byte(hammerSQL[r.IntN(len(hammerSQL))])
	if r.IntN(3) == 0 {
		text = hammer.Mutate(r, text)
	}
	id := binary.LittleEndian.AppendUint32(nil, []uint32{1, 1, 1, 2, 3, 0, 1<<32 - 1}[r.IntN(7)])
	var b []byte
	switch r.IntN(14) {
	case 0, 1, 2:
		b = append([]byte{comQuery}, text...)
	case 3, 4:
		b = append([]byte{comPrepare}, text...)
	case 5, 6:
		b = anyExecute(r, id)
	case 7:
		b = append(append([]byte{comLongData}, id...), byte(r.IntN(3)), 0)
		b = append(b, hammer.Noise(r, r.IntN(300))...)
	case 8:
		b = append(append([]byte{comFetch}, id...), hammer.Noise(r, 4)...)
	case 9:
		b = append([]byte{[]byte{comClose, comReset}[r.IntN(2)]}, id...)
	case 10:
		b = []byte{[]byte{comPing, comStatistics, comDebug, comResetConn, comQuit}[r.IntN(5)]}
	case 11:
		b = [][]byte{append([]byte{comInitDB}, "ns"...), append([]byte{comFieldList}, "t\x00%"...), append([]byte{comProcessKill}, id...), append([]byte{comSetOption}, byte(r.IntN(3)), 0)}[r.IntN(4)]
	case 12:
		b = append([]byte{comChangeUser}, "u\x00\x00ns\x00\xff\x00mysql_native_password\x00"...)
	default:
		b = append([]byte{byte(r.IntN(256))}, hammer.Noise(r, r.IntN(50))...)
	}
	m := packet(0, b)
	switch r.IntN(30) {
	case 0: // one that goes on, and does not
		m = append([]byte{0xff, 0xff, 0xff, 0}, b...)
	case 1:
		m[3] = byte(r.IntN(4))
	}
	if r.IntN(4) == 0 {
		m = hammer.Mutate(r, m)
	}
	return m
}

// anyExecute is COM_STMT_EXECUTE with parameters of all types, as long as they ought to be or not.
func anyExecute(r *rand.Rand, id []byte) []byte {
	b := append(append([]byte{comExecute}, id...), byte(r.IntN(3)), 1, 0, 0, 0)
	n := r.IntN(4)
	b = append(b, hammer.Noise(r, (n+7)/8)...)
	if b = append(b, 1); r.IntN(8) == 0 {
		b[len(b)-1] = 0
	}
	kinds := []byte{typeTiny, typeShort, typeLong, typeLongLong, typeFloat, typeDouble, typeNull, typeTimestamp, typeDate, typeTime, typeDatetime, typeYear,
		typeVarString, typeBlob, typeNewDecimal, typeJSON, typeBit, typeString, 0x42}
	size := map[byte]int{typeTiny: 1, typeShort: 2, typeLong: 4, typeLongLong: 8, typeFloat: 4, typeDouble: 8, typeYear: 2}
	var values []byte
	for range n {
		k := kinds[r.IntN(len(kinds))]
		b = append(b, k, byte(r.IntN(2))<<7)
		if s, ok := size[k]; ok {
			values = append(values, hammer.Noise(r, s)...)
			continue
		}
		v := hammer.Noise(r, []int{0, 4, 7, 8, 11, 12, 40}[r.IntN(7)])
		values = append(append(values, byte(len(v))), v...)
	}
	return append(b, values...)
}
