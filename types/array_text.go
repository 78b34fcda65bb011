package types

import (
	"strings"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// elemOf is the element type of an array or vector type.
func elemOf(t Type) Type {
	switch t.Kind {
	case Int2Vector:
		return T(Int2)
	case OidVector:
		return T(Oid)
	}
	return t.Elem()
}

// appendArray appends {a,b,…} (array_out).
func appendArray(dst []byte, list []Datum, elem Type, o *TextOptions) []byte {
	dst = append(dst, '{')
	for i, e := range list {
		if i&1023 == 1023 && o.stop() != nil {
			o.Stop()
		}
		dst = room.Grow(dst, 64)
		if i > 0 {
			dst = append(dst, ',')
		}
		switch {
		case e.IsNull():
			dst = append(dst, "NULL"...)
		case elem.Kind == Array:
			dst = appendArray(dst, e.List(), elem.Elem(), o)
		default:
			at := len(dst)
			dst = AppendText(dst, e, elem, o)
			if needsQuotes(dst[at:]) {
				text := string(dst[at:])
				dst = append(room.Grow(dst[:at], 2*len(text)+8), '"')
				for k := 0; k < len(text); k++ {
					if text[k] == '"' || text[k] == '\\' {
						dst = append(dst, '\\')
					}
					dst = append(dst, text[k])
				}
				dst = append(dst, '"')
			}
		}
	}
	return append(room.Grow(dst, 16), '}')
}

func needsQuotes(b []byte) bool {
	if len(b) == 0 || len(b) == 4 && strings.EqualFold(string(b), "null") {
		return true
	}
	for _, c := range b {
		switch c {
		case '{', '}', '"', '\\', ',':
			return true
		}
		if isSpace(c) {
			return true
		}
	}
	return false
}

// ArrayDepth is the number of dimensions that the text of an array says it has; 0 if it has none.
func ArrayDepth(s string) int {
	if i := strings.IndexByte(s, '='); i >= 0 && strings.HasPrefix(strings.TrimLeft(s, " \t\n\r\v\f"), "[") {
		s = s[i+1:]
	}
	n := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '{':
			n++
		case !isSpace(s[i]):
			return n
		}
	}
	return n
}

// WithDepth is the array type of depth dimensions over t's innermost elements.
func (t Type) WithDepth(depth int) Type {
	for t.Kind == Array {
		t = t.Elem()
	}
	for range depth {
		t = ArrayOf(t)
	}
	return t
}

// Depth is the number of dimensions of an array type.
func (t Type) Depth() int {
	n := 0
	for ; t.Kind == Array; t = t.Elem() {
		n++
	}
	return n
}

// parseArray reads {a,b,…} with quotes, nesting and bounds (array_in).
func parseArray(s string, t Type, o *TextOptions) (Datum, error) {
	p := arrayParser{s: s, o: o}
	p.space()
	// Bounds such as [1:3] may lead; they must agree with what follows. Arrays here start at 1.
	var dims []int64
	for p.at() == '[' {
		end := strings.IndexByte(p.s[p.pos:], ']')
		if end < 0 || len(dims) == 6 {
			return Null, p.malformed("Missing \"]\" after array dimensions.")
		}
		lo, hi, ranged := strings.Cut(p.s[p.pos+1:p.pos+end], ":")
		if !ranged {
			lo, hi = "1", lo
		}
		l, err1 := parseInt(trimSpace(lo), Int4)
		h, err2 := parseInt(trimSpace(hi), Int4)
		if err1 != nil || err2 != nil {
			return Null, p.malformed("\"[\" must introduce explicitly-specified array dimensions.")
		}
		if h < l {
			return Null, sqlerr.New(sqlerr.ArraySubscript, "upper bound cannot be less than lower bound")
		}
		if l != 1 {
			return Null, sqlerr.New(sqlerr.FeatureNotSupported, "arrays whose subscripts start at %d are not supported: they start at 1", l)
		}
		dims = append(dims, h-l+1)
		p.pos += end + 1
		p.space()
	}
	if dims != nil {
		if p.at() != '=' {
			return Null, p.malformed("Missing \"=\" after array dimensions.")
		}
		p.pos++
		p.space()
	}
	if p.at() != '{' {
		if dims != nil {
			return Null, p.malformed("Array contents must start with \"{\".")
		}
		return Null, p.malformed("Array value must start with \"{\" or dimension information.")
	}
	d, err := p.list(t.Elem())
	if err != nil {
		return Null, err
	}
	p.space()
	if p.pos != len(p.s) {
		return Null, p.malformed("Junk after closing right brace.")
	}
	if d, err = p.values(d, t); err != nil {
		return Null, err
	}
	for level := d; dims != nil; dims = dims[1:] {
		if int64(len(level.List())) != dims[0] {
			return Null, p.malformed("Specified array dimensions do not match array contents.")
		}
		if len(dims) == 1 {
			break
		}
		level = level.List()[0]
	}
	return d, nil
}

type arrayParser struct {
	s   string
	pos int
	o   *TextOptions
}

func (p *arrayParser) at() byte {
	if p.pos < len(p.s) {
		return p.s[p.pos]
	}
	return 0
}

func (p *arrayParser) space() {
	for p.pos < len(p.s) && isSpace(p.s[p.pos]) {
		p.pos++
	}
}

func (p *arrayParser) malformed(detail string) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "malformed array literal: \"%s\"", p.s).WithDetail("%s", detail)
}

// list reads from { to } with elements of type elem.
func (p *arrayParser) list(elem Type) (Datum, error) {
	p.pos++
	list := []Datum{}
	p.space()
	if p.at() == '}' {
		p.pos++
		return NewList(list), nil
	}
	for {
		p.space()
		e, err := p.element(elem)
		if err != nil {
			return Null, err
		}
		if len(list)&1023 == 1023 { // each element is a text of its own
			if stop := p.o.stop(); stop != nil {
				stop()
			}
			if err := room.Check(); err != nil {
				return Null, err
			}
		}
		list = room.Append(list, e)
		p.space()
		switch p.at() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return NewList(list), nil
		case 0:
			return Null, p.malformed("Unexpected end of input.")
		default:
			return Null, p.malformed("Unexpected array element.")
		}
	}
}

func (p *arrayParser) element(elem Type) (Datum, error) {
	c := p.at()
	if c == '{' {
		if elem.Kind != Array {
			return Null, sqlerr.New(sqlerr.FeatureNotSupported, "a nested array needs the type %s[][]", elem)
		}
		return p.list(elem.Elem())
	}
	if c == ',' || c == '}' {
		return Null, p.malformed("Unexpected \"" + string(c) + "\" character.")
	}
	if c == '"' {
		var b []byte
		for p.pos++; ; p.pos++ {
			switch {
			case p.pos >= len(p.s):
				return Null, p.malformed("Unexpected end of input.")
			case p.s[p.pos] == '"':
				p.pos++
				return p.value(room.String(b), elem)
			case p.s[p.pos] == '\\':
				p.pos++
				if p.pos >= len(p.s) {
					return Null, p.malformed("Unexpected end of input.")
				}
			}
			b = room.Append(b, p.s[p.pos])
		}
	}
	var b []byte
	escaped := false
	keep := 0 // up to here trailing space is the element's own
	for ; p.pos < len(p.s); p.pos++ {
		c := p.s[p.pos]
		if c == ',' || c == '}' {
			break
		}
		if c == '{' {
			return Null, p.malformed("Unexpected \"{\" character.")
		}
		if c == '"' {
			return Null, p.malformed("Unexpected array element.")
		}
		if c == '\\' {
			p.pos++
			if p.pos >= len(p.s) {
				return Null, p.malformed("Unexpected end of input.")
			}
			escaped = true
			b = room.Append(b, p.s[p.pos])
			keep = len(b)
			continue
		}
		b = room.Append(b, c)
		if !isSpace(c) {
			keep = len(b)
		}
	}
	if p.pos >= len(p.s) {
		return Null, p.malformed("Unexpected end of input.")
	}
	text := room.String(b[:keep])
	if !escaped && strings.EqualFold(text, "null") {
		return Null, nil
	}
	return p.value(text, elem)
}

// value keeps an element's text: what is malformed is found before any element is read.
func (p *arrayParser) value(text string, elem Type) (Datum, error) {
	if elem.Kind == Array {
		return Null, p.malformed("Unexpected array element.")
	}
	return NewStr(text), nil
}

// values reads the elements' texts, in place.
func (p *arrayParser) values(d Datum, t Type) (Datum, error) {
	list, elem := d.List(), t.Elem()
	for i, e := range list {
		var err error
		switch {
		case e.IsNull():
		case elem.Kind == Array:
			list[i], err = p.values(e, elem)
		default:
			list[i], err = Parse(e.Str(), elem, p.o)
		}
		if err != nil {
			return Null, err
		}
	}
	return NewList(list), nil
}
