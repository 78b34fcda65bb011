package mysql

import (
	"bytes"
	"testing"
	"time"

	"github.com/lhsql/lhsql/types"
)

// Whatever the first bytes are, the connection ends, and nothing is logged (testServer).
func FuzzLogin(f *testing.F) {
	ok := packet(1, loginPacket(testCaps, "u", nil, "ns", pluginSHA2))
	for _, b := range [][]byte{nil, ok, packet(1, loginPacket(testCaps, "u", make([]byte, 32), "", pluginSHA2)),
		append(packet(1, loginPacket(testCaps, "u", make([]byte, 32), "", pluginSHA2)), packet(3, []byte{2})...),
		packet(1, loginPacket(testCaps|capLenencAuth|capConnectAttrs, "u", make([]byte, 20), "ns", pluginNative)),
		packet(1, append([]byte{0, 8, 0, 0}, make([]byte, 28)...)), {0xff, 0xff, 0xff, 1}, {1, 0, 0, 9, 1}} {
		f.Add(b)
	}
	s := testServer(f, Config{AuthTimeout: time.Second})
	pass := testServer(f, Config{Auth: Auth{Lookup: func(u string) (Account, bool) {
		return Account{Verifier: "v", Native: NativeHash("x")}, u != "nobody"
	}, Check: func(string, string, string) bool { return false }}})
	f.Fuzz(func(t *testing.T, b []byte) {
		serveScript(t, s, b)
		serveScript(t, pass, b)
	})
}

// Whatever follows the log-in, the connection ends, and nothing is logged. The input is commands:
// a length byte and a body.
func FuzzCommands(f *testing.F) {
	add := func(bodies ...string) {
		var b []byte
		for _, m := range bodies {
			b = append(append(b, byte(len(m))), m...)
		}
		f.Add(b)
	}
	add("\x03select 1; select 2", "\x01")
	add("\x16select ? + ?", "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x08\x00\xfd\x00\x05\x00\x00\x00\x00\x00\x00\x00\x011", "\x1a\x01\x00\x00\x00", "\x19\x01\x00\x00\x00")
	add("\x16select table_name from information_schema.tables", "\x17\x01\x00\x00\x00\x01\x01\x00\x00\x00", "\x1c\x01\x00\x00\x00\x05\x00\x00\x00", "\x1c\x01\x00\x00\x00\xff\xff\xff\x7f")
	add("\x16select ?", "\x18\x01\x00\x00\x00\x00\x00text", "\x17\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\xfc\x00")
	add("\x02ns", "\x04t\x00%", "\x09", "\x0c\x01\x00\x00\x00", "\x0e", "\x1b\x01\x00", "\x1f", "\x11u\x00\x00ns\x00\xff\x00mysql_native_password\x00")
	add("\x03set @a = 1, names utf8mb4, @@session.sql_mode = 'ANSI'", "\x03show full columns from t like 'x' where", "\x03prepare p from 'select ?'", "\x03execute p using @a")
	add("\x03select @v := 1, if(@v, @v := 2, @v := 3)", "\x03kill query connection_id()", "\x03/*!40101 set names x */", "\x03describe `a`.`b`", "\x03use `x`@'y'", "\x03begin", "\x03set transaction read only")
	s := testServer(f, Config{})
	login := packet(1, loginPacket(testCaps, "u", nil, "ns", pluginSHA2))
	f.Fuzz(func(t *testing.T, b []byte) {
		if low := bytes.ToLower(b); bytes.Contains(low, []byte("create")) || bytes.Contains(low, []byte("drop")) || bytes.Contains(low, []byte("global")) ||
			bytes.Contains(low, []byte("sleep")) || bytes.Contains(low, []byte("benchmark")) {
			return // DDL is slow and would fill the warehouse; what is global would outlive the input
		}
		script := append([]byte(nil), login...)
		for len(b) >= 1 {
			n := min(int(b[0]), len(b)-1)
			script = append(script, packet(0, b[1:1+n])...)
			b = b[1+n:]
		}
		serveScript(t, s, script)
	})
}

// A binary parameter that reads is given as some type, and as text.
func FuzzParam(f *testing.F) {
	f.Add(byte(typeDatetime), false, []byte{11, 0xe8, 7, 2, 29, 12, 34, 56, 1, 2, 3, 0})
	f.Add(byte(typeTime), false, []byte{12, 1, 1, 0, 0, 0, 2, 3, 4, 5, 6, 7, 0})
	f.Add(byte(typeNewDecimal), false, []byte("\x051.500"))
	f.Add(byte(typeLongLong), true, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	o := &types.TextOptions{Zone: time.UTC}
	all := []types.Type{types.T(types.Bool), types.T(types.Int2), types.T(types.Int8), types.T(types.Float4), types.T(types.Float8), types.T(types.Numeric),
		types.DecimalType(10, 2), types.T(types.Text), types.T(types.Bytea), types.T(types.Date), types.T(types.Time), types.T(types.Timestamp),
		types.T(types.TimestampTZ), types.T(types.UUID), types.T(types.JSONB)}
	f.Fuzz(func(t *testing.T, typ byte, unsigned bool, b []byte) {
		v, ok := readValue(&fields{b: b}, paramType{typ, unsigned})
		if !ok {
			return
		}
		for _, x := range all {
			v.As(x, o)
		}
		if _, err := types.Parse(v.Literal(), v.Natural(), o); err == nil {
			if _, ok := v.As(v.Natural(), o); !ok && v.Kind != 'f' {
				t.Fatalf("%q (%c) reads as %s, but not as its own type", v.Literal(), v.Kind, v.Natural())
			}
		}
	})
}
