package types

import (
	"bytes"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// AppendJSON appends a value as PostgreSQL's to_json has it; spaced as to_jsonb prints it.
// Structs become objects in their members' order, maps objects keyed by their keys' text.
func AppendJSON(dst []byte, d Datum, t Type, o *TextOptions, spaced bool) []byte {
	if dst = room.Grow(dst, 16); d.IsNull() {
		return append(dst, "null"...)
	}
	comma, colon := ",", ":"
	if spaced {
		comma, colon = ", ", ": "
	}
	switch t.Kind {
	case Bool:
		if d.Bool() {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case Int2, Int4, Int8:
		return AppendText(dst, d, t, o)
	case Float4, Float8, Numeric:
		at := len(dst)
		dst = AppendText(dst, d, t, o)
		if c := dst[len(dst)-1]; c == 'N' || c == 'y' { // NaN, Infinity
			text := string(dst[at:])
			return AppendJSONString(dst[:at], text)
		}
		if spaced && (dst[at] == '-' || bytes.IndexByte(dst[at:], 'e') >= 0) { // jsonb's numbers are numerics
			if n, err := ParseDecimal(string(dst[at:])); err == nil {
				return n.AppendText(dst[:at])
			}
		}
		return dst
	case Variant:
		return AppendVariantJSON(dst, d.Str())
	case JSON, JSONB:
		if spaced && t.Kind == JSON {
			if s, err := CanonicalJSON(d.Str()); err == nil {
				return room.Text(dst, s)
			}
		}
		return room.Text(dst, d.Str())
	case Date:
		dst = append(dst, '"')
		dst = AppendDate(dst, d.Int(), nil)
		return append(dst, '"')
	case Timestamp, TimestampTZ, TimestampNS, TimestampTZNS:
		dst = append(dst, '"')
		dst = AppendJSONTimestamp(dst, microsOf(d.Int(), t.Kind), o.orDefault().Zone, t.Kind == TimestampTZ || t.Kind == TimestampTZNS)
		return append(dst, '"')
	case Array, Int2Vector, OidVector:
		elem := elemOf(t)
		dst = append(dst, '[')
		for i, e := range d.List() {
			if i&1023 == 1023 && o.stop() != nil {
				o.Stop()
			}
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = AppendJSON(dst, e, elem, o, spaced)
		}
		return append(room.Grow(dst, 16), ']')
	case Struct:
		dst = append(dst, '{')
		for i, f := range t.Fields() {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = AppendJSONString(dst, f.Name)
			dst = append(dst, colon...)
			dst = AppendJSON(dst, d.List()[i], f.Type, o, spaced)
		}
		return append(dst, '}')
	case Map:
		dst = append(dst, '{')
		for i, e := range d.List() {
			if i > 0 {
				dst = append(dst, comma...)
			}
			dst = AppendJSONString(dst, Format(e.List()[0], t.Key(), o))
			dst = append(dst, colon...)
			dst = AppendJSON(dst, e.List()[1], t.Elem(), o, spaced)
		}
		return append(dst, '}')
	}
	return AppendJSONString(dst, Format(d, t, o))
}

// FromJSON makes a value of type t of a JSON value, as json_to_record does: strings and
// scalars through t's text input, arrays and objects member by member.
func FromJSON(v *JSONValue, t Type, o *TextOptions) (Datum, error) {
	switch t.Kind {
	case JSON, JSONB, Variant:
		c, err := v.Canonical()
		if err != nil {
			return Null, err
		}
		if t.Kind == Variant {
			s, err := VariantOfJSON(room.String(c.AppendText(nil)), o.stop())
			return NewStr(s), err
		}
		return NewStr(room.String(c.AppendText(nil))), nil
	}
	switch v.Kind {
	case JSONNull:
		return Null, nil
	case JSONBool:
		if v.Bool {
			return Parse("true", t, o)
		}
		return Parse("false", t, o)
	case JSONNumber, JSONString:
		return Parse(v.Text, t, o)
	case JSONArray:
		if t.Kind != Array {
			break
		}
		list := room.Grow([]Datum(nil), len(v.Items))[:len(v.Items)]
		for i := range list {
			var err error
			if list[i], err = FromJSON(&v.Items[i], t.Elem(), o); err != nil {
				return Null, err
			}
		}
		return NewList(list), nil
	case JSONObject:
		if t.Kind == Struct {
			members := make([]Datum, len(t.Fields()))
			for i, f := range t.Fields() {
				m, ok := v.Get(f.Name)
				if !ok {
					continue
				}
				var err error
				if members[i], err = FromJSON(m, f.Type, o); err != nil {
					return Null, err
				}
			}
			return NewStruct(members), nil
		}
		if t.Kind == Map {
			list := make([]Datum, len(v.Keys))
			for i := range list {
				key, err := Parse(v.Keys[i], t.Key(), o)
				if err != nil {
					return Null, err
				}
				value, err := FromJSON(&v.Items[i], t.Elem(), o)
				if err != nil {
					return Null, err
				}
				list[i] = NewStruct([]Datum{key, value})
			}
			return NewList(list), nil
		}
	}
	if t.IsString() {
		return Parse(string(v.AppendText(nil)), t, o)
	}
	return Null, sqlerr.New(sqlerr.InvalidTextRepresentation, "cannot convert JSON to type %s", t)
}
