package parquet

import "encoding/binary"

// thrift writes Thrift's compact protocol, as far as Parquet's structures need it.
type thrift struct {
	buf   []byte
	last  []int16 // field ids of the enclosing structs
	field int16
}

// Compact protocol type codes.
const (
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI32    = 5
	tI64    = 6
	tBinary = 8
	tList   = 9
	tStruct = 12
)

func (t *thrift) head(id int16, typ byte) {
	if d := id - t.field; d > 0 && d <= 15 {
		t.buf = append(t.buf, byte(d)<<4|typ)
	} else {
		t.buf = append(t.buf, typ)
		t.varint(int64(id))
	}
	t.field = id
}

func (t *thrift) varint(v int64) { t.buf = binary.AppendUvarint(t.buf, uint64(v<<1)^uint64(v>>63)) }

func (t *thrift) i32(id int16, v int64) { t.head(id, tI32); t.varint(v) }
func (t *thrift) i64(id int16, v int64) { t.head(id, tI64); t.varint(v) }
func (t *thrift) bool(id int16, v bool) {
	if v {
		t.head(id, tTrue)
	} else {
		t.head(id, tFalse)
	}
}
func (t *thrift) byte(id int16, v byte) { t.head(id, tByte); t.buf = append(t.buf, v) }
func (t *thrift) binary(id int16, b []byte) {
	t.head(id, tBinary)
	t.bytes(b)
}
func (t *thrift) string(id int16, s string) { t.binary(id, []byte(s)) }

func (t *thrift) bytes(b []byte) {
	t.buf = binary.AppendUvarint(t.buf, uint64(len(b)))
	t.buf = append(t.buf, b...)
}

// begin opens a struct field, end closes it. An element of a list of structs is opened with
// element.
func (t *thrift) begin(id int16) {
	t.head(id, tStruct)
	t.element()
}
func (t *thrift) element() { t.last, t.field = append(t.last, t.field), 0 }
func (t *thrift) end() {
	t.buf = append(t.buf, 0)
	t.field, t.last = t.last[len(t.last)-1], t.last[:len(t.last)-1]
}

// stop ends the outermost struct.
func (t *thrift) stop() { t.buf = append(t.buf, 0) }

// list opens a list of n elements of a type.
func (t *thrift) list(id int16, typ byte, n int) {
	t.head(id, tList)
	if n < 15 {
		t.buf = append(t.buf, byte(n)<<4|typ)
		return
	}
	t.buf = append(t.buf, 0xf0|typ)
	t.buf = binary.AppendUvarint(t.buf, uint64(n))
}
