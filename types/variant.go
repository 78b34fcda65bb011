package types

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// A Variant datum is the two parts of a binary variant one after the other: its metadata, which
// says itself how long it is, and its value (Parquet's VariantEncoding.md). So a value passes
// through a statement as it was stored, with types that JSON does not have. What wants JSON, a
// client included, gets the text that jsonb would have.

// SplitVariant gives the two parts of a Variant datum.
func SplitVariant(s string) (meta, value string, err error) {
	var m variantMeta
	if err := m.open(s); err != nil {
		return "", "", err
	}
	return s[:m.size], s[m.size:], nil
}

// CheckVariant tells whether all of s can be read. Text from outside must pass it before it
// becomes a Datum.
func CheckVariant(s string) error {
	v, value, err := openVariant(s)
	if err != nil {
		return err
	}
	return v.check(value, 0)
}

// AppendVariantJSON appends a variant as jsonb shows it: keys sorted by length, then bytes. Dates,
// times and uuids become strings in ISO form, binary base64, and numbers that JSON lacks strings.
func AppendVariantJSON(dst []byte, s string) []byte {
	v, value, err := openVariant(s)
	if err == nil {
		dst, err = v.append(dst, value)
	}
	invariant.Check(err == nil, "a variant that was checked cannot be read: %v", err)
	return dst
}

// VariantJSON is AppendVariantJSON by itself.
func VariantJSON(s string) string {
	return room.String(AppendVariantJSON(room.Grow([]byte(nil), len(s)), s))
}

var primitiveNames = [...]string{"null", "boolean", "boolean", "int8", "int16", "int32", "int64", "double", "decimal", "decimal", "decimal",
	"date", "timestamptz", "timestamp", "float", "binary", "string", "time", "timestamptz_ns", "timestamp_ns", "uuid"}

// VariantType spells what types a variant's values have: object<a int8, b array<date>>. An array's
// are those of its elements, each once, in their order.
func VariantType(s string) string {
	v, value, err := openVariant(s)
	var dst []byte
	if err == nil {
		dst, err = v.appendType(nil, value)
	}
	invariant.Check(err == nil, "a variant that was checked cannot be read: %v", err)
	return room.String(dst)
}

func (v *variantReader) appendType(dst []byte, b string) ([]byte, error) {
	dst = room.Grow(dst, 32)
	switch kind := b[0] & 3; kind {
	case variantShort:
		return append(dst, "string"...), nil
	case variantPrimitive:
		if _, err := primitiveSize(b); err != nil {
			return dst, err
		}
		dst = append(dst, primitiveNames[b[0]>>2]...)
		if id := b[0] >> 2; id >= variantDecimal4 && id <= variantDecimal16 {
			digits := map[byte]int64{variantDecimal4: 9, variantDecimal8: 18, variantDecimal16: 38}[id]
			dst = strconv.AppendInt(append(dst, '('), digits, 10)
			dst = append(strconv.AppendInt(append(dst, ','), int64(b[1]), 10), ')')
		}
		return dst, nil
	default:
		m, err := v.members(b, kind == variantObject)
		if err != nil {
			return dst, err
		}
		if kind == variantObject {
			dst = append(dst, "object<"...)
		} else {
			dst = append(dst, "array<"...)
		}
		seen := map[string]bool{}
		for i, at := range m.at {
			from := len(dst)
			if len(seen) > 0 {
				dst = append(dst, ", "...)
			}
			mark := len(dst)
			if m.keys != nil {
				dst = append(room.Text(dst, m.keys[i]), ' ')
			}
			if dst, err = v.appendType(dst, m.data[at:]); err != nil {
				return dst, err
			}
			if part := string(dst[mark:]); seen[part] {
				dst = dst[:from]
			} else {
				seen[part] = true
			}
		}
		return append(dst, '>'), nil
	}
}

func errVariant() error {
	return sqlerr.New(sqlerr.DataCorrupted, "a variant cannot be read")
}

const (
	// A small variant may point at one part of itself again and again.
	maxVariantBytes = 256 << 20
	maxVariantSteps = 16 << 20
)

// variantMeta is the dictionary of an object's keys.
type variantMeta struct {
	offsets, keys string
	width, count  int
	size          int // bytes of the metadata
}

// open reads the metadata that s begins with.
func (m *variantMeta) open(s string) error {
	if len(s) < 1 || s[0]&15 != 1 {
		return errVariant()
	}
	w := int(s[0]>>6) + 1
	n, ok := little(s[1:], w)
	if !ok || n > len(s) {
		return errVariant()
	}
	rest := s[1+w:]
	if len(rest) < (n+1)*w {
		return errVariant()
	}
	m.offsets, m.width, m.count, m.keys = rest[:(n+1)*w], w, n, rest[(n+1)*w:]
	end, _ := little(m.offsets[n*w:], w)
	if end > len(m.keys) {
		return errVariant()
	}
	m.keys = m.keys[:end]
	m.size = 1 + w + (n+1)*w + end
	return nil
}

func (m *variantMeta) key(id int) (string, bool) {
	if id >= m.count {
		return "", false
	}
	lo, _ := little(m.offsets[id*m.width:], m.width)
	hi, _ := little(m.offsets[(id+1)*m.width:], m.width)
	if lo > hi || hi > len(m.keys) {
		return "", false
	}
	return m.keys[lo:hi], true
}

// little reads w bytes as an unsigned number.
func little(b string, w int) (int, bool) {
	if len(b) < w {
		return 0, false
	}
	x := 0
	for i := range w {
		x |= int(b[i]) << (8 * i)
	}
	return x, true
}

func appendLittle(dst []byte, x, w int) []byte {
	for range w {
		dst = append(dst, byte(x))
		x >>= 8
	}
	return dst
}

// variantReader walks one variant.
type variantReader struct {
	variantMeta
	steps, bytes int
}

func openVariant(s string) (v variantReader, value string, err error) {
	err = v.open(s)
	return v, s[v.size:], err
}

// members are the keys (of an object) and places of the members of an object or array.
type variantMembers struct {
	keys []string
	at   []int
	data string
}

// members reads the head of an object or array b.
func (v *variantMeta) members(b string, object bool) (m variantMembers, err error) {
	head := b[0] >> 2
	ow, iw, cw := int(head&3)+1, 0, 1
	large := head >> 2 & 1
	if object {
		iw, large = int(head>>2&3)+1, head>>4&1
	}
	if large != 0 {
		cw = 4
	}
	n, ok := little(b[1:], cw)
	if !ok || n > len(b) {
		return m, errVariant()
	}
	ids := b[1+cw:]
	if len(ids) < n*iw+(n+1)*ow {
		return m, errVariant()
	}
	offs := ids[n*iw:]
	m.data = offs[(n+1)*ow:]
	m.at = room.Grow([]int(nil), n)
	if object {
		m.keys = room.Grow([]string(nil), n)
	}
	for i := range n {
		off, _ := little(offs[i*ow:], ow)
		if off >= len(m.data) {
			return m, errVariant()
		}
		m.at = append(m.at, off)
		if object {
			id, _ := little(ids[i*iw:], iw)
			key, ok := v.key(id)
			if !ok {
				return m, errVariant()
			}
			m.keys = append(m.keys, key)
		}
	}
	return m, nil
}

// The basic types of a value.
const (
	variantPrimitive = iota
	variantShort
	variantObject
	variantArray
)

func (v *variantReader) check(b string, depth int) error {
	if depth > maxJSONDepth {
		return sqlerr.New(sqlerr.StatementTooComplex, "a variant is nested deeper than %d", maxJSONDepth)
	}
	if v.steps++; v.steps > maxVariantSteps || v.bytes > maxVariantBytes {
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "a variant has more than %d values or %d MB", maxVariantSteps, maxVariantBytes>>20)
	}
	if len(b) == 0 {
		return errVariant()
	}
	switch kind := b[0] & 3; kind {
	case variantPrimitive, variantShort:
		n, err := primitiveSize(b)
		v.bytes += n
		return err
	default:
		m, err := v.members(b, kind == variantObject)
		if err != nil {
			return err
		}
		for i, at := range m.at {
			if m.keys != nil {
				v.bytes += len(m.keys[i])
			}
			if err := v.check(m.data[at:], depth+1); err != nil {
				return err
			}
		}
		return nil
	}
}

func (v *variantReader) append(dst []byte, b string) ([]byte, error) {
	if len(b) == 0 {
		return dst, errVariant()
	}
	dst = room.Grow(dst, 16)
	kind := b[0] & 3
	if kind < variantObject {
		return appendVariantScalar(dst, b)
	}
	m, err := v.members(b, kind == variantObject)
	if err != nil {
		return dst, err
	}
	open, end := byte('['), byte(']')
	if kind == variantObject {
		open, end = '{', '}'
		sort.Stable(&m)
	}
	dst = append(dst, open)
	for i, at := range m.at {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		if kind == variantObject {
			dst = append(appendVariantString(dst, m.keys[i]), ": "...)
		}
		if dst, err = v.append(dst, m.data[at:]); err != nil {
			return dst, err
		}
	}
	return append(dst, end), nil
}

func (m *variantMembers) Len() int           { return len(m.keys) }
func (m *variantMembers) Less(i, j int) bool { return jsonKeyLess(m.keys[i], m.keys[j]) }
func (m *variantMembers) Swap(i, j int) {
	m.keys[i], m.keys[j] = m.keys[j], m.keys[i]
	m.at[i], m.at[j] = m.at[j], m.at[i]
}

// The ids of primitive types.
const (
	variantNull = iota
	variantTrue
	variantFalse
	variantInt8
	variantInt16
	variantInt32
	variantInt64
	variantDouble
	variantDecimal4
	variantDecimal8
	variantDecimal16
	variantDate
	variantTimestampTZ
	variantTimestamp
	variantFloat
	variantBinary
	variantString
	variantTime
	variantTimestampTZNS
	variantTimestampNS
	variantUUID
)

// primitiveWidths are the bytes of fixed-width primitives by type id; -1: variable.
var primitiveWidths = [...]int{0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, -1, -1, 8, 8, 8, 16}

// primitiveSize is the size of the primitive or short string that b begins with.
func primitiveSize(b string) (int, error) {
	id := int(b[0] >> 2)
	n := 1 + id
	if b[0]&3 == variantPrimitive {
		if id >= len(primitiveWidths) {
			return 0, sqlerr.New(sqlerr.FeatureNotSupported, "a variant has a value of type %d, which is not known", id)
		}
		if n = 1 + primitiveWidths[id]; n == 0 {
			long, ok := little(b[1:], 4)
			if !ok {
				return 0, errVariant()
			}
			n = 5 + long
		}
		if id >= variantDecimal4 && id <= variantDecimal16 && len(b) > 1 && b[1] > 38 {
			return 0, errVariant()
		}
	}
	if n > len(b) {
		return 0, errVariant()
	}
	return n, nil
}

func appendVariantScalar(dst []byte, b string) ([]byte, error) {
	n, err := primitiveSize(b)
	if err != nil {
		return dst, err
	}
	if b[0]&3 == variantShort {
		return appendVariantString(dst, b[1:n]), nil
	}
	id := int(b[0] >> 2)
	b = b[1:n]
	var buf [16]byte
	copy(buf[:], b)
	le := binary.LittleEndian
	x := le.Uint64(buf[:])
	switch id {
	case variantNull:
		return append(dst, "null"...), nil
	case variantTrue:
		return append(dst, "true"...), nil
	case variantFalse:
		return append(dst, "false"...), nil
	case variantInt8:
		return strconv.AppendInt(dst, int64(int8(x)), 10), nil
	case variantInt16:
		return strconv.AppendInt(dst, int64(int16(x)), 10), nil
	case variantInt32:
		return strconv.AppendInt(dst, int64(int32(x)), 10), nil
	case variantInt64:
		return strconv.AppendInt(dst, int64(x), 10), nil
	case variantDouble:
		return appendVariantFloat(dst, math.Float64frombits(x), 64), nil
	case variantFloat:
		return appendVariantFloat(dst, float64(math.Float32frombits(uint32(x))), 32), nil
	case variantDecimal4, variantDecimal8, variantDecimal16:
		return AppendDecimal128(dst, littleInt128(b[1:]), int(b[0])), nil
	case variantString:
		return appendVariantString(dst, b[4:]), nil
	case variantBinary:
		return appendVariantString(dst, base64.StdEncoding.EncodeToString([]byte(b[4:]))), nil
	case variantUUID:
		return append(AppendUUID(append(dst, '"'), Int128{Hi: int64(binary.BigEndian.Uint64(buf[:])), Lo: binary.BigEndian.Uint64(buf[8:])}), '"'), nil
	}
	return appendVariantTime(dst, id, int64(x)), nil
}

// littleInt128 reads a signed number of 4, 8 or 16 bytes.
func littleInt128(b string) Int128 {
	var buf [16]byte
	if b[len(b)-1] >= 0x80 {
		for i := range buf {
			buf[i] = 0xff
		}
	}
	copy(buf[:], b)
	return Int128{Lo: binary.LittleEndian.Uint64(buf[:]), Hi: int64(binary.LittleEndian.Uint64(buf[8:]))}
}

// appendVariantFloat writes a number, or a string where JSON has no number for it.
func appendVariantFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return AppendJSONString(dst, strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, bits), "+"))
	}
	return strconv.AppendFloat(room.Grow(dst, 400), f, 'f', -1, bits)
}

// appendVariantTime writes dates and times as strings in ISO form.
func appendVariantTime(dst []byte, id int, x int64) []byte {
	var s string
	switch id {
	case variantDate:
		s = time.Unix(int64(int32(x))*86400, 0).UTC().Format("2006-01-02")
	case variantTimestampTZ:
		s = time.UnixMicro(x).UTC().Format("2006-01-02T15:04:05.999999Z07:00")
	case variantTimestamp:
		s = time.UnixMicro(x).UTC().Format("2006-01-02T15:04:05.999999")
	case variantTime:
		s = time.UnixMicro(x).UTC().Format("15:04:05.999999")
	case variantTimestampTZNS:
		s = time.Unix(x/1e9, x%1e9).UTC().Format("2006-01-02T15:04:05.999999999Z07:00")
	case variantTimestampNS:
		s = time.Unix(x/1e9, x%1e9).UTC().Format("2006-01-02T15:04:05.999999999")
	}
	return AppendJSONString(dst, s)
}

// appendVariantString writes a JSON string. Strings of a variant should be UTF-8; what is not
// shows as U+FFFD, and so does the character 0, which jsonb does not have.
func appendVariantString(dst []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	return AppendJSONString(dst, s)
}

// VariantOfJSON makes a variant of a JSON document. A number becomes an integer or decimal, or a
// double that has exactly its digits; one that is none of these is an error 22003.
func VariantOfJSON(text string, stop ...func()) (string, error) {
	doc, err := ParseJSON(text, stop...)
	if err != nil {
		return "", err
	}
	if doc, err = doc.Canonical(); err != nil {
		return "", err
	}
	w := variantWriter{ids: map[string]int{}}
	w.collect(&doc)
	sort.Strings(w.keys)
	for i, k := range w.keys {
		w.ids[k] = i
	}
	size, err := w.measure(&doc)
	if err != nil {
		return "", err
	}
	dst := appendVariantMeta(nil, w.keys, true)
	dst = room.Grow(dst, size)
	return room.String(w.write(dst, &doc)), nil
}

// variantWriter writes a JSON document in two walks: the first finds how long every array and
// object becomes, on which the width of the offsets before it depends.
type variantWriter struct {
	keys  []string
	ids   map[string]int
	sizes []int // of arrays and objects, outer before inner
	next  int
}

// collect finds all keys and puts each object's in order.
func (w *variantWriter) collect(v *JSONValue) {
	for _, k := range v.Keys {
		if _, ok := w.ids[k]; !ok {
			room.Must(len(k) + 64)
			w.ids[k] = 0
			w.keys = append(w.keys, k)
		}
	}
	if v.Kind == JSONObject {
		sort.Sort(byKey{v})
	}
	for i := range v.Items {
		w.collect(&v.Items[i])
	}
}

type byKey struct{ *JSONValue }

func (o byKey) Len() int           { return len(o.Keys) }
func (o byKey) Less(i, j int) bool { return o.Keys[i] < o.Keys[j] }
func (o byKey) Swap(i, j int) {
	o.Keys[i], o.Keys[j] = o.Keys[j], o.Keys[i]
	o.Items[i], o.Items[j] = o.Items[j], o.Items[i]
}

func (w *variantWriter) measure(v *JSONValue) (int, error) {
	switch v.Kind {
	case JSONNumber:
		b, err := appendVariantNumber(nil, v.Text)
		return len(b), err
	case JSONString:
		return len(appendVariantText(nil, v.Text)), nil
	case JSONArray, JSONObject:
		at := len(w.sizes)
		w.sizes = room.Append(w.sizes, 0)
		total := 0
		for i := range v.Items {
			n, err := w.measure(&v.Items[i])
			if err != nil {
				return 0, err
			}
			total += n
		}
		if total > math.MaxInt32 {
			return 0, sqlerr.New(sqlerr.ProgramLimitExceeded, "a variant is larger than 2 GiB")
		}
		w.sizes[at] = total
		return len(w.head(nil, v, total)) + len(v.Items)*widthOf(total) + total, nil
	}
	return 1, nil
}

// head is what stands before the offsets, the first of which, 0, it includes.
func (w *variantWriter) head(dst []byte, v *JSONValue, total int) []byte {
	var ids []int
	if v.Kind == JSONObject {
		ids = make([]int, len(v.Keys))
		for i, k := range v.Keys {
			ids[i] = w.ids[k]
		}
	}
	return appendVariantHead(dst, v.Kind == JSONObject, len(v.Items), ids, total)
}

// widthOf is how many bytes x takes.
func widthOf(x int) int {
	w := 1
	for x > 0xff {
		x >>= 8
		w++
	}
	return w
}

// appendVariantHead appends the head of an object or array of n members whose data take total
// bytes, up to the first offset.
func appendVariantHead(dst []byte, object bool, n int, ids []int, total int) []byte {
	ow, cw := widthOf(total), 1
	head := byte(ow - 1)
	large := byte(0)
	if n > 0xff {
		cw, large = 4, 1
	}
	kind := byte(variantArray)
	iw := 1
	if object {
		for _, id := range ids {
			iw = max(iw, widthOf(id))
		}
		head |= byte(iw-1)<<2 | large<<4
		kind = variantObject
	} else {
		head |= large << 2
	}
	dst = append(dst, head<<2|kind)
	dst = appendLittle(dst, n, cw)
	for _, id := range ids {
		dst = appendLittle(dst, id, iw)
	}
	return appendLittle(dst, 0, ow)
}

func (w *variantWriter) write(dst []byte, v *JSONValue) []byte {
	switch v.Kind {
	case JSONBool:
		if v.Bool {
			return append(dst, variantTrue<<2)
		}
		return append(dst, variantFalse<<2)
	case JSONNumber:
		dst, _ = appendVariantNumber(dst, v.Text)
		return dst
	case JSONString:
		return appendVariantText(dst, v.Text)
	case JSONArray, JSONObject:
		total := w.sizes[w.next]
		w.next++
		dst = w.head(dst, v, total)
		ow := widthOf(total)
		at := len(dst)
		for range v.Items {
			dst = appendLittle(dst, 0, ow)
		}
		start := len(dst)
		for i := range v.Items {
			dst = w.write(dst, &v.Items[i])
			appendLittle(dst[:at+i*ow], len(dst)-start, ow)
		}
		return dst
	}
	return append(dst, variantNull<<2)
}

// appendVariantNumber encodes a JSON number in the canonical form of jsonb.
func appendVariantNumber(dst []byte, text string) ([]byte, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return AppendVariantInt(dst, i), nil
	}
	if d, err := ParseDecimal(text); err == nil && d.IsFinite() && d.Scale() <= 38 && d.digits() <= 38 {
		if w, ok := d.Int128(); ok {
			return AppendVariantDecimal(dst, w, d.Scale(), 0), nil
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || strconv.FormatFloat(f, 'f', -1, 64) != text {
		return dst, sqlerr.New(sqlerr.NumericOutOfRange, "number %s has no place in a variant", clipNumber(text)).
			WithHint("A variant's decimals have at most 38 digits.")
	}
	return binary.LittleEndian.AppendUint64(append(dst, variantDouble<<2), math.Float64bits(f)), nil
}

func clipNumber(s string) string {
	if len(s) > 48 {
		return s[:48] + "…"
	}
	return s
}

// AppendVariantInt appends an integer in as few bytes as it needs.
func AppendVariantInt(dst []byte, i int64) []byte {
	switch {
	case i == int64(int8(i)):
		return AppendVariantSized(dst, i, 1)
	case i == int64(int16(i)):
		return AppendVariantSized(dst, i, 2)
	case i == int64(int32(i)):
		return AppendVariantSized(dst, i, 4)
	}
	return AppendVariantSized(dst, i, 8)
}

// AppendVariantSized appends an integer of w bytes.
func AppendVariantSized(dst []byte, i int64, w int) []byte {
	id := map[int]byte{1: variantInt8, 2: variantInt16, 4: variantInt32, 8: variantInt64}[w]
	return appendLittle(append(dst, id<<2), int(i), w)
}

// AppendVariantDecimal appends a decimal in 4, 8 or 16 bytes; w 0: as few as it needs.
func AppendVariantDecimal(dst []byte, x Int128, scale, w int) []byte {
	if w == 0 {
		switch digits := DecimalFromInt128(x, 0).digits(); {
		case digits <= 9:
			w = 4
		case digits <= 18:
			w = 8
		default:
			w = 16
		}
	}
	id := map[int]byte{4: variantDecimal4, 8: variantDecimal8, 16: variantDecimal16}[w]
	dst = append(dst, id<<2, byte(scale))
	dst = appendLittle(dst, int(x.Lo), min(w, 8))
	if w == 16 {
		dst = appendLittle(dst, int(x.Hi), 8)
	}
	return dst
}

// appendVariantText appends a string.
func appendVariantText(dst []byte, s string) []byte {
	if len(s) < 64 {
		return append(append(dst, byte(len(s))<<2|variantShort), s...)
	}
	return append(appendLittle(append(dst, variantString<<2), len(s), 4), s...)
}

// AppendVariantDatum appends a value that is not NULL as the variant's primitive of its type; ok is
// false where the variant has none. A json or jsonb is no scalar: see VariantOfJSON.
func AppendVariantDatum(dst []byte, d Datum, t Type) (_ []byte, ok bool) {
	fixed := func(id byte, x int64, w int) []byte { return appendLittle(append(dst, id<<2), int(x), w) }
	switch t.Kind {
	case Bool:
		if d.Bool() {
			return append(dst, variantTrue<<2), true
		}
		return append(dst, variantFalse<<2), true
	case Int2:
		return AppendVariantSized(dst, d.Int(), 2), true
	case Int4:
		return AppendVariantSized(dst, d.Int(), 4), true
	case Int8:
		return AppendVariantSized(dst, d.Int(), 8), true
	case Float4:
		return fixed(variantFloat, int64(math.Float32bits(float32(d.Float()))), 4), true
	case Float8:
		return fixed(variantDouble, int64(math.Float64bits(d.Float())), 8), true
	case Numeric:
		n := DecimalOf(d, t)
		w, fits := n.Int128()
		if !n.IsFinite() || !fits || n.digits() > 38 || n.Scale() > 38 {
			return dst, false
		}
		return AppendVariantDecimal(dst, w, n.Scale(), 0), true
	case Date:
		return fixed(variantDate, d.Int(), 4), d.Int() == int64(int32(d.Int()))
	case Time:
		return fixed(variantTime, d.Int(), 8), true
	case Timestamp:
		return fixed(variantTimestamp, d.Int(), 8), true
	case TimestampTZ:
		return fixed(variantTimestampTZ, d.Int(), 8), true
	case TimestampNS:
		return fixed(variantTimestampNS, d.Int(), 8), true
	case TimestampTZNS:
		return fixed(variantTimestampTZNS, d.Int(), 8), true
	case Bytea:
		return append(fixed(variantBinary, int64(len(d.Str())), 4), d.Str()...), true
	case Text, Varchar, Bpchar, Name:
		return appendVariantText(dst, d.Str()), true
	case UUID:
		w := d.W128()
		dst = binary.BigEndian.AppendUint64(append(dst, variantUUID<<2), uint64(w.Hi))
		return binary.BigEndian.AppendUint64(dst, w.Lo), true
	}
	return dst, false
}

// VariantOf is AppendVariantDatum with the metadata before it, which has no keys.
func VariantOf(d Datum, t Type) (string, error) {
	dst, ok := AppendVariantDatum(appendVariantMeta(nil, nil, true), d, t)
	if !ok {
		return "", sqlerr.New(sqlerr.NumericOutOfRange, "the %s %s has no place in a variant", t, Format(d, t, nil))
	}
	return room.String(dst), nil
}

// appendVariantMeta appends metadata with the keys.
func appendVariantMeta(dst []byte, keys []string, sorted bool) []byte {
	total := 0
	for _, k := range keys {
		total += len(k)
	}
	w := widthOf(max(total, len(keys)))
	head := byte(1) | byte(w-1)<<6
	if sorted {
		head |= 1 << 4
	}
	dst = room.Grow(dst, 1+(len(keys)+2)*w+total)
	dst = append(dst, head)
	dst = appendLittle(dst, len(keys), w)
	at := 0
	dst = appendLittle(dst, 0, w)
	for _, k := range keys {
		at += len(k)
		dst = appendLittle(dst, at, w)
	}
	for _, k := range keys {
		dst = append(dst, k...)
	}
	return dst
}

// VariantKeys is the metadata of variants that are put together of parts: the keys that it had, and
// such as are added. Values that were made under the metadata stay what they are, for a key keeps
// its number.
type VariantKeys struct {
	meta  string
	names []string
	ids   map[string]int
	added int
}

// Use begins a variant with the metadata. The same as the last one costs little.
func (k *VariantKeys) Use(meta string) error {
	if k.ids != nil && k.added == 0 && k.meta == meta {
		return nil
	}
	var m variantMeta
	if err := m.open(meta); err != nil {
		return err
	}
	if m.size != len(meta) {
		return errVariant()
	}
	k.meta, k.names, k.ids, k.added = strings.Clone(meta), nil, map[string]int{}, 0
	for i := range m.count {
		name, ok := m.key(i)
		if !ok {
			return errVariant()
		}
		room.Must(len(name) + 64)
		name = strings.Clone(name)
		k.names = append(k.names, name)
		if _, twice := k.ids[name]; !twice {
			k.ids[name] = i
		}
	}
	return nil
}

// ID is the number of a key, which is added if it is new.
func (k *VariantKeys) ID(name string) int {
	id, ok := k.ids[name]
	if !ok {
		room.Must(len(name) + 64)
		id = len(k.names)
		k.names = append(k.names, name)
		k.ids[name] = id
		k.added++
	}
	return id
}

// Metadata is the metadata with all that was added.
func (k *VariantKeys) Metadata() []byte {
	if k.added == 0 {
		return []byte(k.meta)
	}
	return appendVariantMeta(nil, k.names, false)
}

// Members lists the members of the object value under the metadata in use; ok is false where value
// is no object.
func (k *VariantKeys) Members(value string) (names, values []string, ok bool, err error) {
	if len(value) == 0 || value[0]&3 != variantObject {
		return nil, nil, false, nil
	}
	var m variantMeta
	if err := m.open(k.meta); err != nil {
		return nil, nil, false, err
	}
	list, err := m.members(value, true)
	if err != nil {
		return nil, nil, false, err
	}
	for _, at := range list.at {
		n, err := variantSize(&m, list.data[at:], 0)
		if err != nil {
			return nil, nil, false, err
		}
		values = append(values, list.data[at:at+n])
	}
	return list.keys, values, true, nil
}

// variantSize is the length of the value that b begins with.
func variantSize(m *variantMeta, b string, depth int) (int, error) {
	if len(b) == 0 || depth > maxJSONDepth {
		return 0, errVariant()
	}
	kind := b[0] & 3
	if kind < variantObject {
		return primitiveSize(b)
	}
	list, err := m.members(b, kind == variantObject)
	if err != nil {
		return 0, err
	}
	// The offset after the last member's is where the data end.
	ow := int(b[0]>>2&3) + 1
	head := len(b) - len(list.data)
	end, _ := little(b[head-ow:], ow)
	if end > len(list.data) {
		return 0, errVariant()
	}
	return head + end, nil
}

// AppendVariantArray appends an array of encoded values.
func AppendVariantArray(dst []byte, values [][]byte) []byte {
	return appendVariantMembers(dst, false, nil, values)
}

// AppendVariantObject appends an object of encoded values. It puts the members in order.
func (k *VariantKeys) AppendVariantObject(dst []byte, names []string, values [][]byte) []byte {
	sort.Sort(&encodedMembers{names, values})
	ids := make([]int, len(names))
	for i, n := range names {
		ids[i] = k.ID(n)
	}
	return appendVariantMembers(dst, true, ids, values)
}

type encodedMembers struct {
	names  []string
	values [][]byte
}

func (m *encodedMembers) Len() int           { return len(m.names) }
func (m *encodedMembers) Less(i, j int) bool { return m.names[i] < m.names[j] }
func (m *encodedMembers) Swap(i, j int) {
	m.names[i], m.names[j] = m.names[j], m.names[i]
	m.values[i], m.values[j] = m.values[j], m.values[i]
}

func appendVariantMembers(dst []byte, object bool, ids []int, values [][]byte) []byte {
	total := 0
	for _, v := range values {
		total += len(v)
	}
	dst = room.Grow(dst, 16+total+len(values)*8)
	dst = appendVariantHead(dst, object, len(values), ids, total)
	ow, at := widthOf(total), 0
	for _, v := range values {
		at += len(v)
		dst = appendLittle(dst, at, ow)
	}
	for _, v := range values {
		dst = append(dst, v...)
	}
	return dst
}
