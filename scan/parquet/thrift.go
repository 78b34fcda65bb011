package parquet

import (
	"encoding/binary"
	"strings"
)

// Types of the Thrift compact protocol.
const (
	tStop   = 0
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
)

// maxThriftDepth bounds nesting: Go cannot recover from a stack overflow.
const maxThriftDepth = 32

// thrift reads the Thrift compact protocol from b. Past the end or at nonsense it turns bad
// and stays so; every read then gives zero values and every struct ends, so that callers need
// to look at bad only once.
type thrift struct {
	b     []byte
	p     int
	depth int
	bad   bool
	short bool   // bad because b ended: more bytes may help
	why   string // bad, more exactly; "": nothing more is known
}

// structure is what parquet.thrift says of a struct: its fields in the order of their ids, which
// begin at 1. A name that ends in "?" is an optional field's, "" is of one that is not there.
type structure struct {
	name     string
	fields   []string
	required uint64 // by id
}

func describe(name string, fields ...string) *structure {
	s := &structure{name: name, fields: fields}
	for i, f := range fields {
		if f != "" && !strings.HasSuffix(f, "?") {
			s.required |= 1 << (i + 1)
		}
	}
	return s
}

// fields reads the struct s that a field of type typ holds: read is called for each of its fields
// and takes its value. The reader turns bad where a field that the format requires is missing, so
// that none is taken for zero, and where one comes twice.
func (t *thrift) fields(typ byte, s *structure, read func(id int16, typ byte)) {
	if !t.enter(typ) {
		return
	}
	var seen uint64
	for id := int16(0); ; {
		f := t.next(&id)
		if f == tStop {
			break
		}
		if id > 0 && id < 64 {
			if seen&(1<<id) != 0 {
				t.because("its " + s.name + " has field " + s.field(int(id)) + " twice")
			}
			seen |= 1 << id
		}
		read(id, f)
	}
	t.leave()
	if lost := s.required &^ seen; lost != 0 && !t.bad {
		for id := 1; ; id++ {
			if lost&(1<<id) != 0 {
				t.because("its " + s.name + " lacks " + s.field(id))
				return
			}
		}
	}
}

func (s *structure) field(id int) string {
	if id > 0 && id <= len(s.fields) && s.fields[id-1] != "" {
		return strings.TrimSuffix(s.fields[id-1], "?")
	}
	return "of an unknown id"
}

// because turns the reader bad and says why.
func (t *thrift) because(why string) {
	if !t.bad {
		t.why = why
	}
	t.bad = true
}

// failure is the error of a reader that has turned bad, while it read what.
func (t *thrift) failure(what string) error {
	if t.why != "" {
		return corrupt("%s", t.why)
	}
	return corrupt("%s cannot be read", what)
}

func (t *thrift) fail() { t.bad = true }

func (t *thrift) end() {
	t.bad = true
	t.short = true
}

func (t *thrift) byte() byte {
	if t.bad || t.p >= len(t.b) {
		t.end()
		return 0
	}
	c := t.b[t.p]
	t.p++
	return c
}

func (t *thrift) uvarint() uint64 {
	if t.bad || t.p >= len(t.b) {
		t.end()
		return 0
	}
	v, n := binary.Uvarint(t.b[t.p:])
	if n == 0 {
		t.end()
		return 0
	}
	if n < 0 {
		t.fail()
		return 0
	}
	t.p += n
	return v
}

func (t *thrift) varint() int64 {
	u := t.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// next reads a field header of a struct, keeping the last id in *id; tStop at its end.
func (t *thrift) next(id *int16) byte {
	h := t.byte()
	if t.bad || h == tStop {
		return tStop
	}
	if d := h >> 4; d != 0 {
		*id += int16(d)
	} else {
		*id = int16(t.varint())
	}
	return h & 15
}

// integer reads a field of an integer type.
func (t *thrift) integer(typ byte) int64 {
	switch typ {
	case tByte:
		return int64(int8(t.byte()))
	case tI16, tI32, tI64:
		return t.varint()
	}
	t.fail()
	return 0
}

func (t *thrift) i32(typ byte) int32 {
	v := t.integer(typ)
	if int64(int32(v)) != v {
		t.fail()
		return 0
	}
	return int32(v)
}

func (t *thrift) boolean(typ byte) bool {
	if typ != tTrue && typ != tFalse {
		t.fail()
	}
	return typ == tTrue
}

// binary gives bytes that lie in t.b.
func (t *thrift) binary(typ byte) []byte {
	if typ != tBinary {
		t.fail()
		return nil
	}
	n := t.uvarint()
	if t.bad || n > uint64(len(t.b)-t.p) {
		t.end()
		return nil
	}
	v := t.b[t.p : t.p+int(n) : t.p+int(n)]
	t.p += int(n)
	return v
}

// list reads a list's header. Each element takes a byte or more, so that a count beyond the
// bytes left is nonsense.
func (t *thrift) list(typ byte) (elem byte, n int) {
	if typ != tList && typ != tSet {
		t.fail()
		return 0, 0
	}
	h := t.byte()
	size := uint64(h >> 4)
	if size == 15 {
		size = t.uvarint()
	}
	if t.bad || size > uint64(len(t.b)-t.p) {
		t.end()
		return 0, 0
	}
	return h & 15, int(size)
}

// enter begins a struct and tells whether typ is one; leave ends it.
func (t *thrift) enter(typ byte) bool {
	t.depth++
	if typ != tStruct || t.depth > maxThriftDepth {
		t.fail()
	}
	return !t.bad
}

func (t *thrift) leave() { t.depth-- }

// anyStruct is one of which nothing is asked.
var anyStruct = describe("struct")

// skip passes over a field's value.
func (t *thrift) skip(typ byte) {
	switch typ {
	case tTrue, tFalse:
	case tByte:
		t.byte()
	case tI16, tI32, tI64:
		t.uvarint()
	case tDouble:
		if t.p += 8; t.p > len(t.b) {
			t.end()
		}
	case tBinary:
		t.binary(typ)
	case tList, tSet:
		elem, n := t.list(typ)
		t.skipElems(elem, n)
	case tMap:
		n := t.uvarint()
		if n == 0 || t.bad {
			return
		}
		kv := t.byte()
		if n > uint64(len(t.b)-t.p) {
			t.end()
			return
		}
		for i := 0; i < int(n) && !t.bad; i++ {
			t.skipElems(kv>>4, 1)
			t.skipElems(kv&15, 1)
		}
	case tStruct:
		t.fields(typ, anyStruct, func(_ int16, f byte) { t.skip(f) })
	default:
		t.fail()
	}
}

// skipElems passes over n elements of a list or map, where a boolean takes a byte.
func (t *thrift) skipElems(elem byte, n int) {
	t.depth++
	if t.depth > maxThriftDepth {
		t.fail()
	}
	for i := 0; i < n && !t.bad; i++ {
		if elem == tTrue || elem == tFalse {
			t.byte()
		} else {
			t.skip(elem)
		}
	}
	t.depth--
}
