package types

import (
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/room"
)

// Format is d's text, as the output function of PostgreSQL's type gives it. NULL is "".
func Format(d Datum, t Type, o *TextOptions) string {
	if d.form == FormStr {
		switch t.Kind {
		case Text, Varchar, Bpchar, Name, JSON, JSONB, JSONPath, Unknown:
			return d.str
		}
	}
	switch t.Kind {
	case Array, Struct, Map, Bytea, Int2Vector, OidVector, Variant:
		return room.String(AppendText(nil, d, t, o)) // what may be large is not copied
	}
	var buf [64]byte
	return string(AppendText(buf[:0], d, t, o))
}

// AppendText appends d's text. NULL appends nothing.
func AppendText(dst []byte, d Datum, t Type, o *TextOptions) []byte {
	if d.IsNull() {
		return dst
	}
	switch t.Kind {
	case Bool:
		if d.Bool() {
			return append(dst, 't')
		}
		return append(dst, 'f')
	case Int2, Int4, Int8, Oid, Xid:
		return strconv.AppendInt(dst, d.Int(), 10)
	case Regclass, Regtype, Regproc, Regnamespace, Regoper, Regrole, Regprocedure, Regoperator:
		return appendReg(dst, d.Int(), t.Kind, o)
	case Float4:
		return AppendFloat(dst, d.Float(), 32, o.orDefault().ExtraFloatDigits)
	case Float8:
		return AppendFloat(dst, d.Float(), 64, o.orDefault().ExtraFloatDigits)
	case Numeric:
		switch d.form {
		case FormI64:
			return AppendDecimal64(dst, d.Int(), int(t.Scale))
		case FormW128:
			return AppendDecimal128(dst, d.W128(), int(t.Scale))
		}
		return decodeDecimal(d.str).AppendText(dst)
	case Char:
		if d.str != "" && d.str[0] >= 0x80 { // no character by itself: octal, as charout has it
			c := d.str[0]
			return append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		}
		return append(dst, d.str...)
	case Bytea:
		return AppendBytea(dst, d.str, o)
	case Date:
		return AppendDate(dst, d.Int(), o)
	case Time:
		return AppendTime(dst, d.Int())
	case TimeTZ:
		return AppendTimeTZ(dst, d.W128())
	case Timestamp, TimestampNS:
		return AppendTimestamp(dst, microsOf(d.Int(), t.Kind), o)
	case TimestampTZ, TimestampTZNS:
		return AppendTimestampTZ(dst, microsOf(d.Int(), t.Kind), o)
	case Interval:
		return AppendInterval(dst, IntervalOf(d.W128()), o)
	case UUID:
		return AppendUUID(dst, d.W128())
	case Variant:
		return AppendVariantJSON(dst, d.str)
	case Array:
		return appendArray(dst, d.list, t.Elem(), o)
	case Int2Vector, OidVector:
		for i, e := range d.list {
			dst = room.Grow(dst, 32)
			if i > 0 {
				dst = append(dst, ' ')
			}
			dst = strconv.AppendInt(dst, e.Int(), 10)
		}
		return dst
	case Struct, Map:
		if t.IsRecord() {
			return appendRecord(dst, d.list, t.Fields(), o)
		}
		return AppendJSON(dst, d, t, o, true)
	}
	return room.Text(dst, d.str)
}

func appendReg(dst []byte, oid int64, k Kind, o *TextOptions) []byte {
	switch {
	case oid == 0 && (k == Regoper || k == Regoperator): // '-' is an operator
		return append(dst, '0')
	case oid == 0:
		return append(dst, '-')
	}
	if o != nil && o.ObjectName != nil {
		if name, ok := o.ObjectName(k, uint32(oid)); ok {
			return append(dst, name...)
		}
	}
	return strconv.AppendInt(dst, oid, 10)
}

const hexDigits = "0123456789abcdef"

// AppendUUID appends the 8-4-4-4-12 form.
func AppendUUID(dst []byte, w Int128) []byte {
	for i := 0; i < 32; i++ {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			dst = append(dst, '-')
		}
		half := uint64(w.Hi)
		if i >= 16 {
			half = w.Lo
		}
		dst = append(dst, hexDigits[half>>(60-4*(i&15))&15])
	}
	return dst
}

// AppendBytea appends bytes in the session's bytea_output.
func AppendBytea(dst []byte, s string, o *TextOptions) []byte {
	if o != nil && o.ByteaOutput == "escape" {
		for i := 0; i < len(s); i++ {
			dst = room.Grow(dst, 4)
			switch c := s[i]; {
			case c == '\\':
				dst = append(dst, `\\`...)
			case c < 0x20 || c > 0x7e:
				dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
			default:
				dst = append(dst, c)
			}
		}
		return dst
	}
	dst = append(room.Grow(dst, 2+2*len(s)), `\x`...)
	for i := 0; i < len(s); i++ {
		dst = append(dst, hexDigits[s[i]>>4], hexDigits[s[i]&15])
	}
	return dst
}

// SQLLiteral spells a value that is not NULL as SQL that PostgreSQL's dialect reads as one of type t.
func SQLLiteral(d Datum, t Type) string {
	text := Format(d, t, &TextOptions{Zone: time.UTC, DateStyle: "ISO, MDY", IntervalStyle: "postgres", ExtraFloatDigits: 1, ByteaOutput: "hex"})
	if t.IsNumber() && !strings.ContainsAny(text, "NI") {
		return text
	}
	if t.Kind == Bool {
		return map[string]string{"t": "true", "f": "false"}[text]
	}
	name := t.Bare().String()
	if t.Kind == Bpchar {
		name = "bpchar" // character alone is of length 1
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'::" + name
}

// IsSQLLiteral tells whether text is what SQLLiteral gives, and no expression.
func IsSQLLiteral(text string) bool {
	if text == "true" || text == "false" {
		return true
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return true
	}
	if !strings.HasPrefix(text, "'") {
		return false
	}
	rest := strings.ReplaceAll(text[1:], "''", "")
	_, name, ok := strings.Cut(rest, "'::")
	if !ok || strings.Count(rest, "'") != 1 {
		return false
	}
	_, ok = ReadSpelled(strings.TrimRight(name, "[]"))
	return ok || name == "bpchar"
}
