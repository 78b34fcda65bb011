package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// variant makes the JSON text of an unshredded variant: a group of metadata and value
// (VariantEncoding.md). Its Spec has two children, both bytes.
func (c *nested) variant(b *builder, R, D, n int) (*vec.Vector, error) {
	valid, _, err := c.validity(b, R, D, b.spec.Node.MaxDef, n)
	if err != nil {
		return nil, err
	}
	meta, err := c.vector(b.children[0], R, D, n)
	if err != nil {
		return nil, err
	}
	value, err := c.vector(b.children[1], R, D, n)
	if err != nil {
		return nil, err
	}
	b.text = b.text[:0]
	if b.views, err = grow(c.r.budget, b.views, n, 0); err != nil {
		return nil, err
	}
	budgeted := 0
	for i := range b.views {
		b.views[i] = vec.View{}
		if valid != nil && !valid.Get(i) {
			continue
		}
		if meta.Null(i) || value.Null(i) {
			return nil, corrupt("a variant lacks its metadata or value")
		}
		at := len(b.text)
		v := variantReader{value: value.Bytes(i)}
		if err := v.open(meta.Bytes(i)); err != nil {
			return nil, err
		}
		if b.text, err = v.append(b.text, v.value, 0); err != nil {
			return nil, err
		}
		if len(b.text) > math.MaxInt32 {
			return nil, unsupported("more than 2 GiB of variants in one batch")
		}
		if grown := cap(b.text) - budgeted; grown > 0 {
			if err := c.r.budget.Reserve(int64(grown)); err != nil {
				return nil, err
			}
			budgeted += grown
		}
		b.views[i] = vec.View{Off: uint32(at), Len: uint32(len(b.text) - at)}
	}
	c.r.budget.Give(int64(budgeted))
	b.out = vec.Vector{Type: b.spec.Type, Form: types.FormStr, Valid: valid, Views: b.views, Data: b.text}
	return &b.out, nil
}

// variantReader turns one binary variant to JSON as PostgreSQL writes jsonb: keys sorted by
// length, then bytes; ", " and ": " between.
type variantReader struct {
	value   []byte
	keys    []byte
	offsets []byte
	width   int
	count   int
	steps   int
}

var errVariant = corrupt("a variant cannot be read")

const (
	maxVariantDepth = 100
	// A small variant may point at one part of itself again and again.
	maxVariantText  = 64 << 20
	maxVariantSteps = 16 << 20
)

func (v *variantReader) open(meta []byte) error {
	if len(meta) < 1 || meta[0]&15 != 1 {
		return errVariant
	}
	w := int(meta[0]>>6) + 1
	n, ok := little(meta[1:], w)
	if !ok || n > len(meta) {
		return errVariant
	}
	rest := meta[1+w:]
	if len(rest) < (n+1)*w {
		return errVariant
	}
	v.offsets, v.width, v.count, v.keys = rest[:(n+1)*w], w, n, rest[(n+1)*w:]
	return nil
}

// little reads w bytes as an unsigned number.
func little(b []byte, w int) (int, bool) {
	if len(b) < w {
		return 0, false
	}
	x := 0
	for i := 0; i < w; i++ {
		x |= int(b[i]) << (8 * i)
	}
	return x, true
}

func (v *variantReader) key(id int) (string, bool) {
	if id >= v.count {
		return "", false
	}
	lo, _ := little(v.offsets[id*v.width:], v.width)
	hi, _ := little(v.offsets[(id+1)*v.width:], v.width)
	if lo > hi || hi > len(v.keys) {
		return "", false
	}
	return string(v.keys[lo:hi]), true
}

func (v *variantReader) append(dst, b []byte, depth int) ([]byte, error) {
	if v.steps++; depth > maxVariantDepth || v.steps > maxVariantSteps || len(dst) > maxVariantText {
		return dst, unsupported("a variant nested deeper than %d or larger than %d MB", maxVariantDepth, maxVariantText>>20)
	}
	if len(b) == 0 {
		return dst, errVariant
	}
	head := b[0] >> 2
	switch b[0] & 3 {
	case 0:
		return appendPrimitive(dst, int(head), b[1:])
	case 1:
		if int(head) > len(b)-1 {
			return dst, errVariant
		}
		return appendJSON(dst, string(b[1:1+head])), nil
	case 2:
		return v.object(dst, b, depth)
	}
	return v.array(dst, b, depth)
}

func (v *variantReader) object(dst, b []byte, depth int) ([]byte, error) {
	head := b[0] >> 2
	ow, iw, cw := int(head&3)+1, int(head>>2&3)+1, 1
	if head>>4&1 != 0 {
		cw = 4
	}
	n, ok := little(b[1:], cw)
	if !ok || n > len(b) {
		return dst, errVariant
	}
	ids := b[1+cw:]
	if len(ids) < n*iw+(n+1)*ow {
		return dst, errVariant
	}
	offs := ids[n*iw:]
	data := offs[(n+1)*ow:]
	type member struct {
		key string
		off int
	}
	members := make([]member, n)
	for i := range members {
		id, _ := little(ids[i*iw:], iw)
		off, _ := little(offs[i*ow:], ow)
		key, ok := v.key(id)
		if !ok || off > len(data) {
			return dst, errVariant
		}
		members[i] = member{key, off}
	}
	sort.SliceStable(members, func(i, j int) bool {
		a, b := members[i].key, members[j].key
		return len(a) < len(b) || len(a) == len(b) && a < b
	})
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendJSON(dst, m.key), ": "...)
		var err error
		if dst, err = v.append(dst, data[m.off:], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (v *variantReader) array(dst, b []byte, depth int) ([]byte, error) {
	head := b[0] >> 2
	ow, cw := int(head&3)+1, 1
	if head>>2&1 != 0 {
		cw = 4
	}
	n, ok := little(b[1:], cw)
	if !ok || n > len(b) {
		return dst, errVariant
	}
	offs := b[1+cw:]
	if len(offs) < (n+1)*ow {
		return dst, errVariant
	}
	data := offs[(n+1)*ow:]
	dst = append(dst, '[')
	for i := 0; i < n; i++ {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		off, _ := little(offs[i*ow:], ow)
		if off > len(data) {
			return dst, errVariant
		}
		var err error
		if dst, err = v.append(dst, data[off:], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// primitiveWidths are the bytes of fixed-width primitives by type id; -1: variable.
var primitiveWidths = [...]int{0, 0, 0, 1, 2, 4, 8, 8, 5, 9, 17, 4, 8, 8, 4, -1, -1, 8, 8, 8, 16}

func appendPrimitive(dst []byte, typ int, b []byte) ([]byte, error) {
	if typ >= len(primitiveWidths) {
		return dst, unsupported("variant type %d", typ)
	}
	w := primitiveWidths[typ]
	if w > len(b) || w < 0 && len(b) < 4 {
		return dst, errVariant
	}
	le := binary.LittleEndian
	switch typ {
	case 0:
		return append(dst, "null"...), nil
	case 1:
		return append(dst, "true"...), nil
	case 2:
		return append(dst, "false"...), nil
	case 3:
		return strconv.AppendInt(dst, int64(int8(b[0])), 10), nil
	case 4:
		return strconv.AppendInt(dst, int64(int16(le.Uint16(b))), 10), nil
	case 5:
		return strconv.AppendInt(dst, int64(int32(le.Uint32(b))), 10), nil
	case 6:
		return strconv.AppendInt(dst, int64(le.Uint64(b)), 10), nil
	case 7:
		return appendFloat(dst, math.Float64frombits(le.Uint64(b)), 64), nil
	case 14:
		return appendFloat(dst, float64(math.Float32frombits(le.Uint32(b))), 32), nil
	case 8, 9, 10:
		return appendDecimal(dst, int(b[0]), b[1:w])
	case 15, 16:
		n := le.Uint32(b)
		if uint64(n) > uint64(len(b)-4) {
			return dst, errVariant
		}
		if s := b[4 : 4+n]; typ == 16 {
			return appendJSON(dst, string(s)), nil
		} else {
			return appendJSON(dst, base64.StdEncoding.EncodeToString(s)), nil
		}
	case 20:
		return appendJSON(dst, types.Format(types.NewW128(uuidOf(b)), types.T(types.UUID), nil)), nil
	}
	return appendTimes(dst, typ, b), nil
}

// appendFloat writes a number, or a string where JSON has no number for it.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return appendJSON(dst, strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, bits), "+"))
	}
	return strconv.AppendFloat(dst, f, 'f', -1, bits)
}

func appendDecimal(dst []byte, scale int, b []byte) ([]byte, error) {
	if scale > 38 {
		return dst, errVariant
	}
	big := make([]byte, len(b))
	for i, c := range b {
		big[len(b)-1-i] = c
	}
	v, _ := bigEndian128(big)
	t := types.FixedNumeric(38, scale)
	return types.AppendText(dst, types.NewW128(v), t, nil), nil
}

// appendTimes writes dates and times as strings in ISO form.
func appendTimes(dst []byte, typ int, b []byte) []byte {
	le := binary.LittleEndian
	var s string
	switch typ {
	case 11:
		s = time.Unix(int64(int32(le.Uint32(b)))*86400, 0).UTC().Format("2006-01-02")
	case 12:
		s = time.UnixMicro(int64(le.Uint64(b))).UTC().Format("2006-01-02T15:04:05.999999Z07:00")
	case 13:
		s = time.UnixMicro(int64(le.Uint64(b))).UTC().Format("2006-01-02T15:04:05.999999")
	case 17:
		s = time.UnixMicro(int64(le.Uint64(b))).UTC().Format("15:04:05.999999")
	case 18, 19:
		n := int64(le.Uint64(b))
		layout := "2006-01-02T15:04:05.999999999"
		if typ == 18 {
			layout += "Z07:00"
		}
		s = time.Unix(n/1e9, n%1e9).UTC().Format(layout)
	}
	return appendJSON(dst, s)
}

// appendJSON writes a JSON string. Strings of a variant should be UTF-8; what is not becomes U+FFFD.
func appendJSON(dst []byte, s string) []byte {
	return types.AppendJSONString(dst, strings.ToValidUTF8(s, "\uFFFD"))
}
