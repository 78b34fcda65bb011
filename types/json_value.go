package types

import (
	"sort"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// JSONKind is the kind of a JSONValue. The order is not jsonb's sort order; see jsonRank.
type JSONKind uint8

// The kinds of JSON.
const (
	JSONNull JSONKind = iota
	JSONBool
	JSONNumber
	JSONString
	JSONArray
	JSONObject
)

// JSONValue is a parsed JSON document. A jsonb Datum is its canonical text (AppendText of a
// Canonical value), a json Datum the text as it was given.
type JSONValue struct {
	Kind  JSONKind
	Bool  bool
	Text  string      // a number as written; a string without quotes and escapes
	Items []JSONValue // the elements of an array, the values of an object
	Keys  []string    // of an object, parallel to Items
}

const maxJSONDepth = 5000

type jsonParser struct {
	s     string
	pos   int
	seen  int // values, so far
	stop  []func()
	build bool // false: only check
	jsonb bool // \u0000 has no place in jsonb
}

// ParseJSON reads a document; keys keep their order and may repeat. It calls stop now and then, which
// may panic.
func ParseJSON(s string, stop ...func()) (JSONValue, error) {
	p := jsonParser{s: s, build: true, stop: stop}
	return p.document()
}

// ValidateJSON checks that s is a document, as the input of type json does.
func ValidateJSON(s string, stop ...func()) error {
	p := jsonParser{s: s, stop: stop}
	_, err := p.document()
	return err
}

// CanonicalJSON is the text of s as jsonb shows it. It goes from text to text: the tree of a large
// document would take many times its size. It calls stop now and then, which may panic.
func CanonicalJSON(s string, stop ...func()) (string, error) {
	p := jsonParser{s: s, build: true, jsonb: true, stop: stop}
	dst, err := p.canonical(room.Grow([]byte(nil), len(s)+len(s)/4), 0)
	if err != nil {
		return "", err
	}
	p.space()
	if p.pos < len(p.s) {
		return "", p.unexpected("end of input")
	}
	return room.String(dst), nil
}

// canonical appends the value at pos in jsonb's form: AppendText of its Canonical.
func (p *jsonParser) canonical(dst []byte, depth int) ([]byte, error) {
	if depth > maxJSONDepth {
		return dst, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	switch p.peek() {
	case '{':
		return p.canonicalObject(dst, depth)
	case '[':
		return p.canonicalArray(dst, depth)
	}
	v, err := p.value(depth)
	if err != nil {
		return dst, err
	}
	if v, err = v.Canonical(); err != nil {
		return dst, err
	}
	return v.AppendText(room.Grow(dst, 16)), nil
}

func (p *jsonParser) canonicalArray(dst []byte, depth int) ([]byte, error) {
	p.pos++
	dst = append(room.Grow(dst, 16), '[')
	if p.peek() == ']' {
		p.pos++
		return append(dst, ']'), nil
	}
	for {
		var err error
		if dst, err = p.canonical(dst, depth+1); err != nil {
			return dst, err
		}
		switch p.peek() {
		case ',':
			p.pos++
			dst = append(room.Grow(dst, 16), ", "...)
		case ']':
			p.pos++
			return append(room.Grow(dst, 16), ']'), nil
		default:
			return dst, p.unexpected("\",\" or \"]\"")
		}
	}
}

// member is one of an object in the text that canonical makes: its key, and where it lies.
type member struct {
	key      string
	from, to int
}

func (p *jsonParser) canonicalObject(dst []byte, depth int) ([]byte, error) {
	p.pos++
	dst = append(room.Grow(dst, 16), '{')
	if p.peek() == '}' {
		p.pos++
		return append(dst, '}'), nil
	}
	start := len(dst)
	var list []member
	sorted := true
	for first := true; ; first = false {
		if p.peek() != '"' {
			if first {
				return dst, p.unexpected("string or \"}\"")
			}
			return dst, p.unexpected("string")
		}
		key, err := p.str()
		if err != nil {
			return dst, err
		}
		if p.peek() != ':' {
			return dst, p.unexpected("\":\"")
		}
		p.pos++
		if !first {
			dst = append(room.Grow(dst, 16), ", "...)
			sorted = sorted && jsonKeyLess(list[len(list)-1].key, key)
		}
		m := member{key: key, from: len(dst)}
		dst = append(AppendJSONString(dst, key), ": "...)
		if dst, err = p.canonical(dst, depth+1); err != nil {
			return dst, err
		}
		m.to = len(dst)
		list = room.Append(list, m)
		switch p.peek() {
		case ',':
			p.pos++
			continue
		case '}':
			p.pos++
		default:
			return dst, p.unexpected("\",\" or \"}\"")
		}
		if !sorted {
			dst = sortMembers(dst, start, list)
		}
		return append(room.Grow(dst, 16), '}'), nil
	}
}

// sortMembers puts the members that dst holds from start on into jsonb's order, keeping the last of
// equal keys.
func sortMembers(dst []byte, start int, list []member) []byte {
	sort.SliceStable(list, func(a, b int) bool { return jsonKeyLess(list[a].key, list[b].key) })
	text := room.Text([]byte(nil), dst[start:])
	dst = dst[:start]
	for i, m := range list {
		if i+1 < len(list) && list[i+1].key == m.key {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ", "...)
		}
		dst = append(dst, text[m.from-start:m.to-start]...)
	}
	return dst
}

func (p *jsonParser) document() (JSONValue, error) {
	v, err := p.value(0)
	if err != nil {
		return v, err
	}
	p.space()
	if p.pos < len(p.s) {
		return v, p.unexpected("end of input")
	}
	return v, nil
}

func (p *jsonParser) space() {
	for p.pos < len(p.s) {
		switch p.s[p.pos] {
		case ' ', '\t', '\n', '\r':
			p.pos++
		default:
			return
		}
	}
}

func (p *jsonParser) peek() byte {
	p.space()
	if p.pos < len(p.s) {
		return p.s[p.pos]
	}
	return 0
}

func (p *jsonParser) fail(detail string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type json").WithDetail(detail, args...)
}

// tokenEnd finds where the token at pos ends, for messages.
func (p *jsonParser) tokenEnd() int {
	i := p.pos
	wordy := func(c byte) bool { return isAlnum(c) || c == '_' || c >= 0x80 || c == '-' || c == '.' || c == '+' }
	for i < len(p.s) && wordy(p.s[i]) {
		i++
	}
	if i == p.pos && i < len(p.s) {
		i++
	}
	return i
}

func (p *jsonParser) unexpected(wanted string) error {
	p.space()
	if p.pos >= len(p.s) {
		return p.fail("The input string ended unexpectedly.")
	}
	start := p.pos
	c := p.s[start]
	switch {
	case c == '"':
		if _, err := p.str(); err != nil {
			return err
		}
		return p.fail("Expected %s, but found \"%s\".", wanted, p.s[start:p.pos])
	case c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':':
		return p.fail("Expected %s, but found \"%c\".", wanted, c)
	}
	end := p.tokenEnd()
	tok := p.s[start:end]
	q := jsonParser{s: tok}
	if tok == "true" || tok == "false" || tok == "null" || q.number() == nil && q.pos == len(tok) {
		return p.fail("Expected %s, but found \"%s\".", wanted, tok)
	}
	return p.fail("Token \"%s\" is invalid.", tok)
}

func (p *jsonParser) value(depth int) (v JSONValue, err error) {
	if p.seen++; p.seen&1023 == 0 {
		for _, f := range p.stop {
			if f != nil {
				f()
			}
		}
		if err := room.Check(); err != nil { // many small lists
			return v, err
		}
	}
	if depth > maxJSONDepth {
		return v, sqlerr.New(sqlerr.StatementTooComplex, "stack depth limit exceeded")
	}
	switch c := p.peek(); {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		v.Kind = JSONString
		v.Text, err = p.str()
		return v, err
	case c == '-' || isDigit(c):
		start := p.pos
		v.Kind = JSONNumber
		if err := p.number(); err != nil {
			return v, err
		}
		v.Text = p.s[start:p.pos]
		return v, nil
	}
	switch p.s[p.pos:p.tokenEnd()] {
	case "true":
		v.Kind, v.Bool = JSONBool, true
	case "false":
		v.Kind = JSONBool
	case "null":
	default:
		return v, p.unexpected("JSON value")
	}
	p.pos = p.tokenEnd()
	return v, nil
}

func (p *jsonParser) object(depth int) (v JSONValue, err error) {
	v.Kind = JSONObject
	p.pos++
	if p.peek() == '}' {
		p.pos++
		return v, nil
	}
	for first := true; ; first = false {
		if p.peek() != '"' {
			if first {
				return v, p.unexpected("string or \"}\"")
			}
			return v, p.unexpected("string")
		}
		key, err := p.str()
		if err != nil {
			return v, err
		}
		if p.peek() != ':' {
			return v, p.unexpected("\":\"")
		}
		p.pos++
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		if p.build {
			v.Keys = room.Append(v.Keys, key)
			v.Items = room.Append(v.Items, item)
		}
		switch p.peek() {
		case ',':
			p.pos++
		case '}':
			p.pos++
			return v, nil
		default:
			return v, p.unexpected("\",\" or \"}\"")
		}
	}
}

func (p *jsonParser) array(depth int) (v JSONValue, err error) {
	v.Kind = JSONArray
	p.pos++
	if p.peek() == ']' {
		p.pos++
		return v, nil
	}
	for {
		item, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		if p.build {
			v.Items = room.Append(v.Items, item)
		}
		switch p.peek() {
		case ',':
			p.pos++
		case ']':
			p.pos++
			return v, nil
		default:
			return v, p.unexpected("\",\" or \"]\"")
		}
	}
}

// number moves over -?(0|[1-9]d*)(.d+)?([eE][+-]?d+)?
func (p *jsonParser) number() error {
	start, i := p.pos, p.pos
	if i < len(p.s) && p.s[i] == '-' {
		i++
	}
	n := digitsLen(p.s[i:])
	ok := n == 1 || n > 1 && p.s[i] != '0'
	i += n
	if ok && i < len(p.s) && p.s[i] == '.' {
		n = digitsLen(p.s[i+1:])
		ok = n > 0
		i += 1 + n
	}
	if ok && i < len(p.s) && (p.s[i] == 'e' || p.s[i] == 'E') {
		i++
		if i < len(p.s) && (p.s[i] == '+' || p.s[i] == '-') {
			i++
		}
		n = digitsLen(p.s[i:])
		ok = n > 0
		i += n
	}
	if !ok || i < len(p.s) && (isAlnum(p.s[i]) || p.s[i] == '_' || p.s[i] >= 0x80) {
		return p.fail("Token \"%s\" is invalid.", p.s[start:p.tokenEnd()])
	}
	p.pos = i
	return nil
}

// str reads a quoted string.
func (p *jsonParser) str() (string, error) {
	start := p.pos
	i := start + 1
	for i < len(p.s) && p.s[i] != '"' && p.s[i] != '\\' && p.s[i] >= ' ' {
		i++
	}
	if i < len(p.s) && p.s[i] == '"' {
		p.pos = i + 1
		return p.s[start+1 : i], nil
	}
	out := room.Text([]byte(nil), p.s[start+1:i])
	for i < len(p.s) {
		if cap(out)-len(out) < 8 {
			out = room.Grow(out, 8)
		}
		c := p.s[i]
		switch {
		case c == '"':
			p.pos = i + 1
			return room.String(out), nil
		case c < ' ':
			return "", p.fail("Character with value 0x%02x must be escaped.", c)
		case c != '\\':
			out = append(out, c)
			i++
			continue
		}
		i++
		if i >= len(p.s) {
			break
		}
		switch c := p.s[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, n, err := p.unicode(i + 1)
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
			i += n
		default:
			_, n := utf8.DecodeRuneInString(p.s[i:])
			return "", p.fail("Escape sequence \"\\%s\" is invalid.", p.s[i:i+n])
		}
		i++
	}
	return "", p.fail("Token \"%s\" is invalid.", p.s[start:])
}

// unicode reads the digits after \u at i, with a second surrogate where one belongs; n is how
// many bytes it read.
func (p *jsonParser) unicode(i int) (r rune, n int, err error) {
	hex := func(i int) (rune, bool) {
		if i+4 > len(p.s) {
			return 0, false
		}
		v, err := strconv.ParseUint(p.s[i:i+4], 16, 16)
		return rune(v), err == nil
	}
	r, ok := hex(i)
	if !ok {
		return 0, 0, p.fail("\"\\u\" must be followed by four hexadecimal digits.")
	}
	if r == 0 && p.jsonb {
		return 0, 0, sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").
			WithDetail("\\u0000 cannot be converted to text.")
	}
	if !utf16.IsSurrogate(r) || !p.build { // json, unlike jsonb, keeps escapes unread
		return r, 4, nil
	}
	if r >= 0xdc00 {
		return 0, 0, p.fail("Unicode low surrogate must follow a high surrogate.")
	}
	if i+6 <= len(p.s) && p.s[i+4] == '\\' && p.s[i+5] == 'u' {
		lo, ok := hex(i + 6)
		if full := utf16.DecodeRune(r, lo); ok && full != utf8.RuneError {
			return full, 10, nil
		}
	}
	return 0, 0, p.fail("Unicode low surrogate must follow a high surrogate.")
}

// Canonical sorts keys the way jsonb does (by length, then bytes), keeps the last of equal
// ones, and turns numbers into numeric's form.
func (v JSONValue) Canonical() (JSONValue, error) {
	switch v.Kind {
	case JSONNumber:
		d, err := ParseDecimal(v.Text)
		if err != nil {
			return v, err
		}
		v.Text = d.String()
	case JSONArray:
		items := room.Grow([]JSONValue(nil), len(v.Items))[:len(v.Items)]
		for i := range items {
			var err error
			if items[i], err = v.Items[i].Canonical(); err != nil {
				return v, err
			}
		}
		v.Items = items
	case JSONObject:
		order := make([]int, len(v.Keys))
		for i := range order {
			order[i] = i
		}
		sort.SliceStable(order, func(a, b int) bool { return jsonKeyLess(v.Keys[order[a]], v.Keys[order[b]]) })
		keys, items := make([]string, 0, len(order)), make([]JSONValue, 0, len(order))
		for i, at := range order {
			if i+1 < len(order) && v.Keys[order[i+1]] == v.Keys[at] {
				continue
			}
			item, err := v.Items[at].Canonical()
			if err != nil {
				return v, err
			}
			keys, items = append(keys, v.Keys[at]), append(items, item)
		}
		v.Keys, v.Items = keys, items
	}
	return v, nil
}

func jsonKeyLess(a, b string) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}

// Get finds an object's member; the last one when keys repeat.
func (v *JSONValue) Get(key string) (*JSONValue, bool) {
	if v.Kind != JSONObject {
		return nil, false
	}
	for i := len(v.Keys) - 1; i >= 0; i-- {
		if v.Keys[i] == key {
			return &v.Items[i], true
		}
	}
	return nil, false
}

// AppendText appends v spaced as jsonb shows it.
func (v JSONValue) AppendText(dst []byte) []byte {
	dst = room.Grow(dst, 16)
	switch v.Kind {
	case JSONNull:
		return append(dst, "null"...)
	case JSONBool:
		return strconv.AppendBool(dst, v.Bool)
	case JSONNumber:
		return room.Text(dst, v.Text)
	case JSONString:
		return AppendJSONString(dst, v.Text)
	case JSONArray:
		dst = append(dst, '[')
		for i, item := range v.Items {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = item.AppendText(dst)
		}
		return append(room.Grow(dst, 16), ']')
	}
	dst = append(dst, '{')
	for i, item := range v.Items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = AppendJSONString(dst, v.Keys[i])
		dst = append(dst, ": "...)
		dst = item.AppendText(dst)
	}
	return append(room.Grow(dst, 16), '}')
}

// AppendJSONString appends s quoted, escaping what PostgreSQL's escape_json escapes. There is room
// for two bytes more behind it.
func AppendJSONString(dst []byte, s string) []byte {
	dst = room.Grow(dst, len(s)+escapes(s)+4)
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, `\b`...)
		case '\f':
			dst = append(dst, `\f`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// escapes is how many bytes AppendJSONString adds to a large s at most. For a small one it is 0: its
// growth is small.
func escapes(s string) (n int) {
	if len(s) < room.Grain/8 {
		return 0
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c < ' ':
			n += 5
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}

// jsonRank is jsonb's order of kinds: Object > Array > Boolean > Number > String > Null.
var jsonRank = [...]int{JSONNull: 0, JSONString: 1, JSONNumber: 2, JSONBool: 3, JSONArray: 4, JSONObject: 5}

// CompareJSON orders canonical values as jsonb does (compareJsonbContainers).
func CompareJSON(a, b *JSONValue) int { return compareJSON(a, b, true) }

func compareJSON(a, b *JSONValue, top bool) int {
	if a.Kind != b.Kind {
		// A historical quirk: an empty top-level array sorts below all scalars and arrays, since
		// a top-level scalar is stored as an array of one element.
		if top {
			if a.Kind == JSONArray && len(a.Items) == 0 && b.Kind != JSONObject {
				return -1
			}
			if b.Kind == JSONArray && len(b.Items) == 0 && a.Kind != JSONObject {
				return 1
			}
		}
		return cmpInt64(int64(jsonRank[a.Kind]), int64(jsonRank[b.Kind]))
	}
	switch a.Kind {
	case JSONBool:
		return cmpBool(a.Bool, b.Bool)
	case JSONString:
		return cmpString(a.Text, b.Text)
	case JSONNumber:
		x, _ := parseDecimal(a.Text)
		y, _ := parseDecimal(b.Text)
		return x.Cmp(y)
	case JSONArray, JSONObject:
		if len(a.Items) != len(b.Items) {
			return cmpInt64(int64(len(a.Items)), int64(len(b.Items)))
		}
		for i := range a.Items {
			if a.Kind == JSONObject {
				if c := cmpString(a.Keys[i], b.Keys[i]); c != 0 {
					return c
				}
			}
			if c := compareJSON(&a.Items[i], &b.Items[i], false); c != 0 {
				return c
			}
		}
	}
	return 0
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
