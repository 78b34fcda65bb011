package types

import (
	"bytes"
	"strings"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// appendRecord appends a row as record_out has it: (1,"a b",).
func appendRecord(dst []byte, list []Datum, fields []Field, o *TextOptions) []byte {
	dst = append(room.Grow(dst, 16), '(')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		if list[i].IsNull() {
			continue
		}
		at := len(dst)
		dst = AppendText(dst, list[i], f.Type, o)
		if text := dst[at:]; len(text) > 0 && !bytes.ContainsAny(text, "\"\\(), \t\n\r\f\v") {
			continue
		}
		text := string(dst[at:])
		dst = append(room.Grow(dst[:at], 2*len(text)+8), '"')
		for k := 0; k < len(text); k++ {
			if text[k] == '"' || text[k] == '\\' {
				dst = append(dst, text[k])
			}
			dst = append(dst, text[k])
		}
		dst = append(dst, '"')
	}
	return append(room.Grow(dst, 16), ')')
}

// parseRecord reads what appendRecord writes, text being whole from its parenthesis on.
func parseRecord(text, whole string, t Type, o *TextOptions) (Datum, error) {
	bad := func(detail string) (Datum, error) {
		return Null, sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed record literal: \"%s\"", whole).WithDetail("%s", detail)
	}
	fields := t.Fields()
	room.Must(len(fields) * 64)
	list := make([]Datum, len(fields))
	i := 1
	for n := range fields {
		if n > 0 {
			if i >= len(text) || text[i] != ',' {
				return bad("Too few columns.")
			}
			i++
		}
		value, next, null, ok := recordMember(text, i)
		if !ok {
			return bad("Unexpected end of input.")
		}
		i = next
		if null {
			list[n] = Null
			continue
		}
		var err error
		if list[n], err = Parse(value, fields[n].Type, o); err != nil {
			return Null, err
		}
	}
	if len(fields) == 0 {
		i = 1
	}
	switch {
	case i < len(text) && text[i] == ',':
		return bad("Too many columns.")
	case i >= len(text) || text[i] != ')':
		return bad("Unexpected end of input.")
	case strings.Trim(text[i+1:], " \t\n\r\f\v") != "":
		return bad("Junk after right parenthesis.")
	}
	return NewList(list), nil
}

// recordMember reads the member that begins at i, up to a comma or a parenthesis; null: nothing
// stands there.
func recordMember(s string, i int) (value string, next int, null, ok bool) {
	start, quoted := i, false
	var out []byte
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			if i++; i >= len(s) {
				return "", i, false, false
			}
			out = append(out, s[i])
		case c == '"' && quoted && i+1 < len(s) && s[i+1] == '"':
			out = append(out, c)
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == ')'):
			return string(out), i, i == start, true
		default:
			out = append(out, c)
		}
	}
	return "", i, false, false
}
