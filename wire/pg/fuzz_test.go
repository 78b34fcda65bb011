package pg

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/lhsql/lhsql/types"
)

// Whatever the first bytes are, the connection ends, and nothing is logged (testServer).
func FuzzStartup(f *testing.F) {
	ssl, gss := []byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f}, []byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x30}
	ok := startupPacket("user", "u", "database", "lake")
	for _, s := range [][]byte{nil, ok, append(ssl, ok...), append(gss, append(ssl, ok...)...), startupPacket("user", "u", "options", "-c a=b\\ c --x=y"),
		startupPacket("user", "", "replication", "true"), {0, 0, 0, 16, 4, 0xd2, 0x16, 0x2e, 0, 0, 0, 1, 0, 0, 0, 1}, {0x16, 3, 1, 0, 5},
		append(ok, "p\x00\x00\x00\x04"...)} {
		f.Add(s)
	}
	s := testServer(f, Config{AuthTimeout: time.Second})
	pass := testServer(f, Config{Auth: Auth{Lookup: func(string) (string, bool) { return "SCRAM-SHA-256$4096:YWJj$YWJj:YWJj", true }}})
	f.Fuzz(func(t *testing.T, b []byte) {
		serveScript(t, s, b)
		serveScript(t, pass, b)
	})
}

// Whatever follows the log-in, the connection ends, and nothing is logged. The input is messages:
// a type, a length byte, a body.
func FuzzMessages(f *testing.F) {
	add := func(msgs ...string) {
		var b []byte
		for _, m := range msgs {
			b = append(append(b, m[0], byte(len(m)-1)), m[1:]...)
		}
		f.Add(b)
	}
	add("Qselect 1\x00", "X")
	add("Ps\x00select $1::int\x00\x00\x01\x00\x00\x00\x17", "B\x00s\x00\x00\x01\x00\x01\x00\x01\x00\x00\x00\x04\x00\x00\x00\x2a\x00\x01\x00\x01", "DP\x00", "E\x00\x00\x00\x00\x00", "S")
	add("Qcopy (select 1) to stdout\x00", "d123", "c", "fbad\x00", "H", "CSs\x00", "CP\x00", "F\x00\x00\x00\x00")
	add("Qbegin\x00", "Qdeclare c cursor for select 1\x00", "Qfetch all c\x00", "Qset a.b = 1\x00", "pxyz\x00")
	s := testServer(f, Config{})
	login := startupPacket("user", "u", "database", "lake", "statement_timeout", "500")
	f.Fuzz(func(t *testing.T, b []byte) {
		if bytes.Contains(bytes.ToLower(b), []byte("create")) || bytes.Contains(bytes.ToLower(b), []byte("drop")) {
			return // DDL is slow and would fill the warehouse
		}
		script := append([]byte(nil), login...)
		for len(b) >= 2 {
			n := min(int(b[1]), len(b)-2)
			script = append(binary.BigEndian.AppendUint32(append(script, b[0]), uint32(n+4)), b[2:2+n]...)
			b = b[2+n:]
		}
		serveScript(t, s, append(script, b...))
	})
}

// fuzzTypes are the types whose binary forms differ.
var fuzzTypes = []types.Type{types.T(types.Bool), types.T(types.Int2), types.T(types.Int4), types.T(types.Int8), types.T(types.Oid), types.T(types.Float4),
	types.T(types.Float8), types.T(types.Numeric), types.T(types.Text), types.T(types.Bytea), types.T(types.Date), types.T(types.Time), types.T(types.TimeTZ),
	types.T(types.Timestamp), types.T(types.TimestampTZ), types.T(types.Interval), types.T(types.UUID), types.T(types.JSON), types.T(types.JSONB),
	types.ArrayOf(types.T(types.Int4)), types.ArrayOf(types.T(types.Text)), types.ArrayOf(types.T(types.Numeric)), types.ArrayOf(types.ArrayOf(types.T(types.Date))),
	types.T(types.Int2Vector)}

// What decodes as a binary parameter encodes again, and that decodes to the same; text forms of
// whatever is decoded do not panic.
func FuzzBinaryParam(f *testing.F) {
	o := &types.TextOptions{Zone: time.UTC, DateStyle: "ISO, MDY", IntervalStyle: "postgres", ExtraFloatDigits: 1, ByteaOutput: "hex"}
	f.Add(uint8(7), []byte{0, 2, 0, 1, 0, 0, 0, 2, 0, 1, 0, 2})
	f.Add(uint8(19), []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 23, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 9})
	f.Add(uint8(22), []byte{0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 4, 0x3a, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 9})
	f.Fuzz(func(t *testing.T, k uint8, b []byte) {
		typ := fuzzTypes[int(k)%len(fuzzTypes)]
		d, err := decodeBinary(b, typ, o, 0)
		if err != nil || d.IsNull() {
			return
		}
		types.AppendText(nil, d, typ, o)
		enc := appendBinary(nil, d, typ, o)
		e, err := decodeBinary(enc, typ, o, 0)
		if err != nil {
			t.Fatalf("%s: %x decodes, its encoding %x does not: %v", typ, b, enc, err)
		}
		if again := appendBinary(nil, e, typ, o); !bytes.Equal(enc, again) {
			t.Fatalf("%s: %x encodes as %x, which decodes and encodes as %x", typ, b, enc, again)
		}
	})
}
