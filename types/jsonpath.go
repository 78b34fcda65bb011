package types

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// PathNode is a node of a SQL/JSON path (PostgreSQL's chapter 9.16.2): a tree in which an accessor's
// first argument is what it applies to.
type PathNode struct {
	Op string // see the parser
	// Text is a key, a string, a variable's name or a method's; Num a number.
	Text string
	Num  Decimal
	Args []*PathNode
	// Lo and Hi bound .**{Lo to Hi}; -1 is last.
	Lo, Hi int
}

// JSONPathExpr is a path that has been read.
type JSONPathExpr struct {
	Lax  bool
	Root *PathNode
}

const maxPathDepth = 500

type pathParser struct {
	s     string
	i     int
	depth int
	// filters and subscripts count what is being read: @ stands within the one, last within the other.
	filters, subscripts int
	err                 error
}

var jsonPaths = cache.Shared[string, *JSONPathExpr]("jsonpath", 4<<20)

// CompileJSONPath reads a path. What it gives is shared, and not to be changed.
func CompileJSONPath(s string) (*JSONPathExpr, error) {
	if e, ok := jsonPaths.Find(s); ok {
		return e, nil
	}
	s = strings.Clone(s)
	p := &pathParser{s: s}
	if p.space(); p.err == nil && p.i == len(s) {
		return nil, errSyntax("jsonpath", s)
	}
	e := &JSONPathExpr{Lax: true}
	if p.word("strict") {
		e.Lax = false
	} else {
		p.word("lax")
	}
	e.Root = p.or()
	p.space()
	if p.err == nil && p.i < len(p.s) {
		p.fail()
	}
	if p.err != nil {
		return nil, p.err
	}
	jsonPaths.Put(s, e, 512+64*int64(len(s))) // a node takes two bytes of text or more
	return e, nil
}

func (p *pathParser) fail() {
	if p.err != nil {
		return
	}
	if p.i >= len(p.s) {
		p.err = sqlerr.New(sqlerr.SyntaxError, "syntax error at end of jsonpath input")
		return
	}
	_, w := utf8.DecodeRuneInString(p.s[p.i:])
	end := p.i + w
	for end < len(p.s) && isPathWord(p.s[end]) && isPathWord(p.s[p.i]) {
		end++
	}
	p.err = sqlerr.New(sqlerr.SyntaxError, "syntax error at or near \"%s\" of jsonpath input", p.s[p.i:end])
}

// isPathWord tells what a name without quotes may be made of: all but signs and white space.
func isPathWord(c byte) bool {
	return strings.IndexByte("?%$.[]{}()|&!=<>@#,*:-+/\\\" \t\n\r\f", c) < 0
}

func (p *pathParser) space() {
	for p.i < len(p.s) {
		switch {
		case strings.IndexByte(" \t\n\r\f", p.s[p.i]) >= 0:
			p.i++
		case strings.HasPrefix(p.s[p.i:], "/*"):
			n := strings.Index(p.s[p.i+2:], "*/")
			if n < 0 {
				p.fail()
				p.i = len(p.s)
				return
			}
			p.i += n + 4
		default:
			return
		}
	}
}

func (p *pathParser) take(sym string) bool {
	p.space()
	if p.err == nil && strings.HasPrefix(p.s[p.i:], sym) {
		p.i += len(sym)
		return true
	}
	return false
}

func (p *pathParser) expect(sym string) {
	if !p.take(sym) {
		p.fail()
	}
}

// word takes a keyword, which must not go on.
func (p *pathParser) word(w string) bool {
	p.space()
	end := p.i + len(w)
	if p.err != nil || end > len(p.s) || !strings.EqualFold(p.s[p.i:end], w) || end < len(p.s) && isPathWord(p.s[end]) {
		return false
	}
	p.i = end
	return true
}

func (p *pathParser) deeper() bool {
	if p.depth++; p.depth > maxPathDepth && p.err == nil {
		p.err = sqlerr.New(sqlerr.StatementTooComplex, "jsonpath nests too deeply")
	}
	return p.err == nil
}

func pathOp(op string, args ...*PathNode) *PathNode { return &PathNode{Op: op, Args: args} }

func (p *pathParser) or() *PathNode {
	defer func() { p.depth-- }()
	if !p.deeper() {
		return nil
	}
	l := p.and()
	for p.take("||") {
		l = pathOp("||", l, p.and())
	}
	return l
}

func (p *pathParser) and() *PathNode {
	l := p.not()
	for p.take("&&") {
		l = pathOp("&&", l, p.not())
	}
	return l
}

func (p *pathParser) not() *PathNode {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == '!' && !strings.HasPrefix(p.s[p.i:], "!=") {
		p.i++
		defer func() { p.depth-- }()
		if !p.deeper() {
			return nil
		}
		at := p.i
		x := p.not()
		if p.err == nil && (x.Op != "exists" && !isPathPredicate(x.Op) || p.s[at:][0] != '(' && x.Op != "exists") {
			p.i = at
			p.fail()
		}
		return pathOp("!", x)
	}
	return p.predicate()
}

func (p *pathParser) predicate() *PathNode {
	if p.word("exists") {
		p.expect("(")
		e := p.or()
		p.expect(")")
		return pathOp("exists", e)
	}
	l := p.sum()
	for _, op := range []string{"==", "!=", "<>", "<=", ">=", "<", ">"} {
		if p.take(op) {
			if op == "<>" {
				op = "!="
			}
			return pathOp(op, l, p.sum())
		}
	}
	switch {
	case p.word("starts"):
		if !p.word("with") {
			p.fail()
		}
		x := p.primary()
		if p.err == nil && x.Op != "string" && x.Op != "var" {
			p.fail()
		}
		return pathOp("starts with", l, x)
	case p.word("like_regex"):
		p.space()
		n := pathOp("like_regex", l, &PathNode{Op: "string", Text: p.quoted()})
		if p.word("flag") {
			p.space()
			n.Text = p.regexFlags(p.quoted())
		}
		return n
	case p.word("is"):
		if !p.word("unknown") {
			p.fail()
		}
		return pathOp("is unknown", l)
	}
	return l
}

func (p *pathParser) sum() *PathNode {
	l := p.product()
	for p.err == nil {
		switch {
		case p.take("+"):
			l = pathOp("+", l, p.product())
		case p.take("-"):
			l = pathOp("-", l, p.product())
		default:
			return l
		}
	}
	return l
}

func (p *pathParser) product() *PathNode {
	l := p.unary()
	for p.err == nil {
		switch {
		case p.take("*"):
			l = pathOp("*", l, p.unary())
		case p.take("/"):
			l = pathOp("/", l, p.unary())
		case p.take("%"):
			l = pathOp("%", l, p.unary())
		default:
			return l
		}
	}
	return l
}

func (p *pathParser) unary() *PathNode {
	defer func() { p.depth-- }()
	if !p.deeper() {
		return nil
	}
	switch {
	case p.take("+"):
		return p.signed("u+", p.unary())
	case p.take("-"):
		return p.signed("u-", p.unary())
	}
	return p.accessors(p.primary())
}

// signed applies a sign; a number takes it at once.
func (p *pathParser) signed(op string, x *PathNode) *PathNode {
	if p.err != nil || x.Op != "number" {
		return pathOp(op, x)
	}
	if op == "u-" {
		return &PathNode{Op: "number", Num: x.Num.Neg()}
	}
	return x
}

func (p *pathParser) primary() *PathNode {
	p.space()
	if p.err != nil || p.i >= len(p.s) {
		p.fail()
		return nil
	}
	c := p.s[p.i]
	switch {
	case c == '$':
		p.i++
		if p.i < len(p.s) && p.s[p.i] == '"' {
			return &PathNode{Op: "var", Text: p.quoted()}
		}
		if name := p.ident(); name != "" {
			return &PathNode{Op: "var", Text: name}
		}
		return pathOp("$")
	case c == '@':
		p.i++
		if p.filters == 0 {
			p.reject("@ is not allowed in root expressions")
		}
		return pathOp("@")
	case c == '"':
		return &PathNode{Op: "string", Text: p.quoted()}
	case c >= '0' && c <= '9' || c == '.':
		return p.number()
	case c == '(':
		p.i++
		e := p.or()
		p.expect(")")
		return e
	case p.word("true"):
		return pathOp("true")
	case p.word("false"):
		return pathOp("false")
	case p.word("null"):
		return pathOp("null")
	case p.word("last"):
		if p.subscripts == 0 {
			p.reject("LAST is allowed only in array subscripts")
		}
		return pathOp("last")
	}
	p.fail()
	return nil
}

func (p *pathParser) reject(format string, args ...any) {
	if p.err == nil {
		p.err = sqlerr.New(sqlerr.SyntaxError, format, args...)
	}
}

// number reads an integer, a decimal or one with an exponent, behind which no letter may stand.
func (p *pathParser) number() *PathNode {
	start, digits := p.i, func() (n int) {
		for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
			p.i++
			n++
		}
		return n
	}
	whole := digits()
	bad := whole > 1 && p.s[start] == '0'
	if bad {
		p.i = start + 1 // no number goes on behind a zero
	}
	if !bad && p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		bad = digits()+whole == 0
	}
	if !bad && p.i < len(p.s) && p.s[p.i]|0x20 == 'e' {
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		bad = digits() == 0
	}
	if bad || p.i < len(p.s) && isPathWord(p.s[p.i]) {
		p.reject("trailing junk after numeric literal at or near \"%s\" of jsonpath input", p.s[start:min(p.i+1, len(p.s))])
		return nil
	}
	d, err := ParseDecimal(p.s[start:p.i])
	if err != nil {
		p.err = err
	}
	return &PathNode{Op: "number", Num: d}
}

// regexFlags gives the flags of like_regex in the order in which they are shown.
func (p *pathParser) regexFlags(s string) string {
	out := ""
	for _, f := range s {
		if !strings.ContainsRune("ismxq", f) && p.err == nil {
			p.err = sqlerr.New(sqlerr.SyntaxError, "invalid input syntax for type jsonpath").
				WithDetail("Unrecognized flag character \"%c\" in LIKE_REGEX predicate.", f)
		}
	}
	for _, f := range "ismxq" {
		if strings.ContainsRune(s, f) {
			out += string(f)
		}
	}
	if strings.Contains(out, "x") && !strings.Contains(out, "q") && p.err == nil {
		p.err = sqlerr.New(sqlerr.FeatureNotSupported, "XQuery \"x\" flag (expanded regular expressions) is not implemented")
	}
	return out
}

// ident reads a name without quotes, in which escapes may stand; "" for none.
func (p *pathParser) ident() string {
	return p.chars(func(c byte) bool { return !isPathWord(c) && c != '\\' })
}

// quoted reads a string in double quotes with JavaScript's escapes.
func (p *pathParser) quoted() string {
	if p.err != nil || p.i >= len(p.s) || p.s[p.i] != '"' {
		p.fail()
		return ""
	}
	p.i++
	out := p.chars(func(c byte) bool { return c == '"' })
	if p.i >= len(p.s) {
		p.reject("unexpected end of quoted string at end of jsonpath input")
		return ""
	}
	p.i++
	return out
}

// chars reads characters and escapes up to one that ends them.
func (p *pathParser) chars(ends func(c byte) bool) string {
	start := p.i
	var out []byte
	for p.err == nil && p.i < len(p.s) && !ends(p.s[p.i]) {
		if p.s[p.i] != '\\' {
			p.i++
			continue
		}
		out = append(out, p.s[start:p.i]...)
		out = p.escape(out)
		start = p.i
	}
	if out == nil {
		return p.s[start:p.i]
	}
	return string(append(out, p.s[start:p.i]...))
}

// escape reads one escape, or the two of a surrogate pair.
func (p *pathParser) escape(out []byte) []byte {
	p.i++
	if p.i >= len(p.s) {
		p.reject("unexpected end after backslash at end of jsonpath input")
		return out
	}
	c := p.s[p.i]
	switch c {
	case 'u', 'x':
		p.i--
		r := p.codePoint()
		if utf16.IsSurrogate(r) && p.err == nil {
			second := rune(-1)
			if r < 0xdc00 && strings.HasPrefix(p.s[p.i:], `\u`) {
				second = p.codePoint()
			}
			if r = utf16.DecodeRune(r, second); r == utf8.RuneError && p.err == nil {
				p.err = sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type jsonpath").
					WithDetail("Unicode low surrogate must follow a high surrogate.")
			}
		}
		if r == 0 && p.err == nil {
			p.err = sqlerr.New(sqlerr.UntranslatableCharacter, "unsupported Unicode escape sequence").WithDetail("\\u0000 cannot be converted to text.")
		}
		return utf8.AppendRune(out, r)
	case 'b', 'f', 'n', 'r', 't', 'v':
		p.i++
		return append(out, "\b\f\n\r\t\v"[strings.IndexByte("bfnrtv", c)])
	}
	_, w := utf8.DecodeRuneInString(p.s[p.i:])
	p.i += w
	return append(out, p.s[p.i-w:p.i]...)
}

// codePoint reads \uXXXX, \u{X…} or \xXX.
func (p *pathParser) codePoint() rune {
	start, n := p.i, 4
	braces := strings.HasPrefix(p.s[p.i:], `\u{`)
	switch {
	case braces:
		p.i++
		n = strings.IndexByte(p.s[p.i:], '}') - 2
	case p.s[p.i+1] == 'x':
		n = 2
	}
	p.i += 2
	if n >= 1 && n <= 6 && p.i+n <= len(p.s) {
		if v, err := strconv.ParseUint(p.s[p.i:p.i+n], 16, 32); err == nil && v <= utf8.MaxRune {
			if p.i += n; braces {
				p.i++
			}
			return rune(v)
		}
	}
	p.reject("invalid unicode sequence at or near \"%s\" of jsonpath input", p.s[start:min(start+2, len(p.s))])
	return 0
}

func (p *pathParser) integer() int {
	if p.word("last") {
		return -1
	}
	p.space()
	n, start := 0, p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' && n < 1<<20 {
		n = n*10 + int(p.s[p.i]-'0')
		p.i++
	}
	if p.i == start {
		p.fail()
	}
	return n
}

// accessors applies .key, [i], ?(…) and .method() to x: each node's first argument is what it
// applies to.
func (p *pathParser) accessors(x *PathNode) *PathNode {
	for p.err == nil {
		switch {
		case p.take(".**"):
			n := &PathNode{Op: ".**", Args: []*PathNode{x}, Hi: -1}
			if p.take("{") {
				n.Lo = p.integer()
				n.Hi = n.Lo
				if p.word("to") {
					n.Hi = p.integer()
				}
				p.expect("}")
			}
			x = n
		case p.take(".*"):
			x = pathOp(".*", x)
		case p.take("."):
			p.space()
			if p.i < len(p.s) && p.s[p.i] == '"' {
				x = &PathNode{Op: ".key", Text: p.quoted(), Args: []*PathNode{x}}
				continue
			}
			name := p.ident()
			if name == "" {
				p.fail()
				return nil
			}
			if at := p.i; p.take("(") {
				x = &PathNode{Op: "method", Text: name, Args: []*PathNode{x}}
				switch name {
				case "type", "size", "double", "ceiling", "floor", "abs":
				case "datetime":
					if p.space(); p.i < len(p.s) && p.s[p.i] == '"' {
						x.Args = append(x.Args, &PathNode{Op: "string", Text: p.quoted()})
					}
				case "keyvalue":
					// Its ids are byte offsets in PostgreSQL's own storage of jsonb.
					p.err = sqlerr.New(sqlerr.FeatureNotSupported, "jsonpath item method .%s() is not supported", name)
				default:
					p.i = at
					p.fail()
				}
				p.expect(")")
				continue
			}
			x = &PathNode{Op: ".key", Text: name, Args: []*PathNode{x}}
		case p.take("?"):
			p.expect("(")
			p.filters++
			f := p.or()
			p.filters--
			p.expect(")")
			if p.err == nil && !isPathPredicate(f.Op) {
				p.fail()
			}
			x = pathOp("?", x, f)
		case p.take("["):
			if p.take("*") {
				p.expect("]")
				x = pathOp("[*]", x)
				continue
			}
			n := pathOp("[]", x)
			p.subscripts++
			for p.err == nil {
				lo := p.sum()
				var hi *PathNode
				if p.word("to") {
					hi = p.sum()
				}
				n.Args = append(n.Args, lo, hi)
				if !p.take(",") {
					break
				}
			}
			p.subscripts--
			p.expect("]")
			x = n
		default:
			return x
		}
	}
	return x
}
