package pgfunc

import (
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// SQL/JSON paths (PostgreSQL's chapter 9.16.2). A path is a tree of pathNodes.

type pathNode struct {
	op string // see the parser
	// text is a key, a string, a variable's name or a method's; num a number.
	text string
	num  types.Decimal
	args []*pathNode
	// lo and hi bound .**{lo to hi}; -1 is last.
	lo, hi int
}

type jsonPathExpr struct {
	lax  bool
	root *pathNode
}

const maxPathDepth = 500

type pathParser struct {
	s     string
	i     int
	depth int
	err   error
}

var jsonPaths = cache.Shared[string, *jsonPathExpr]("jsonpath", 4<<20)

func compileJSONPath(s string) (*jsonPathExpr, error) {
	if e, ok := jsonPaths.Find(s); ok {
		return e, nil
	}
	s = strings.Clone(s)
	p := &pathParser{s: s}
	e := &jsonPathExpr{lax: true}
	if p.word("strict") {
		e.lax = false
	} else {
		p.word("lax")
	}
	e.root = p.or()
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

func isPathWord(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (p *pathParser) space() {
	for p.i < len(p.s) {
		switch {
		case isSpaceByte(p.s[p.i]):
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

func pathOp(op string, args ...*pathNode) *pathNode { return &pathNode{op: op, args: args} }

func (p *pathParser) or() *pathNode {
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

func (p *pathParser) and() *pathNode {
	l := p.not()
	for p.take("&&") {
		l = pathOp("&&", l, p.not())
	}
	return l
}

func (p *pathParser) not() *pathNode {
	p.space()
	if p.i < len(p.s) && p.s[p.i] == '!' && !strings.HasPrefix(p.s[p.i:], "!=") {
		p.i++
		defer func() { p.depth-- }()
		if !p.deeper() {
			return nil
		}
		return pathOp("!", p.not())
	}
	return p.predicate()
}

func (p *pathParser) predicate() *pathNode {
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
		return pathOp("starts with", l, p.primary())
	case p.word("like_regex"):
		p.space()
		n := pathOp("like_regex", l, &pathNode{op: "string", text: p.str()})
		if p.word("flag") {
			p.space()
			n.text = p.str()
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

func (p *pathParser) sum() *pathNode {
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

func (p *pathParser) product() *pathNode {
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

func (p *pathParser) unary() *pathNode {
	defer func() { p.depth-- }()
	if !p.deeper() {
		return nil
	}
	switch {
	case p.take("+"):
		return pathOp("u+", p.unary())
	case p.take("-"):
		return pathOp("u-", p.unary())
	}
	return p.accessors(p.primary())
}

func (p *pathParser) primary() *pathNode {
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
			return &pathNode{op: "var", text: p.str()}
		}
		if name := p.ident(); name != "" {
			return &pathNode{op: "var", text: name}
		}
		return pathOp("$")
	case c == '@':
		p.i++
		return pathOp("@")
	case c == '"':
		return &pathNode{op: "string", text: p.str()}
	case c >= '0' && c <= '9' || c == '.':
		start := p.i
		for p.i < len(p.s) && (p.s[p.i] >= '0' && p.s[p.i] <= '9' || p.s[p.i] == '.' ||
			p.s[p.i] == 'e' || p.s[p.i] == 'E' || (p.s[p.i] == '+' || p.s[p.i] == '-') && (p.s[p.i-1] == 'e' || p.s[p.i-1] == 'E')) {
			p.i++
		}
		d, err := types.ParseDecimal(p.s[start:p.i])
		if err != nil {
			p.i = start
			p.fail()
		}
		return &pathNode{op: "number", num: d}
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
		return pathOp("last")
	}
	p.fail()
	return nil
}

func (p *pathParser) ident() string {
	start := p.i
	for p.i < len(p.s) && (isPathWord(p.s[p.i]) || p.s[p.i] == '$') {
		p.i++
	}
	return p.s[start:p.i]
}

// str reads a double-quoted string with JavaScript's escapes, of which JSON's are the usual ones.
func (p *pathParser) str() string {
	if p.i >= len(p.s) || p.s[p.i] != '"' {
		p.fail()
		return ""
	}
	end := jsonEnd(p.s, p.i)
	raw := p.s[p.i:end]
	v, err := types.ParseJSON(raw)
	if err != nil || v.Kind != types.JSONString {
		p.fail()
		return ""
	}
	p.i = end
	return v.Text
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
func (p *pathParser) accessors(x *pathNode) *pathNode {
	for p.err == nil {
		switch {
		case p.take(".**"):
			n := &pathNode{op: ".**", args: []*pathNode{x}, hi: -1}
			if p.take("{") {
				n.lo = p.integer()
				n.hi = n.lo
				if p.word("to") {
					n.hi = p.integer()
				}
				p.expect("}")
			}
			x = n
		case p.take(".*"):
			x = pathOp(".*", x)
		case p.take("."):
			p.space()
			if p.i < len(p.s) && p.s[p.i] == '"' {
				x = &pathNode{op: ".key", text: p.str(), args: []*pathNode{x}}
				continue
			}
			name := p.ident()
			if name == "" {
				p.fail()
				return nil
			}
			if at := p.i; p.take("(") {
				p.expect(")")
				switch name {
				case "type", "size", "double", "ceiling", "floor", "abs":
				case "datetime", "keyvalue":
					// keyvalue's ids are byte offsets in PostgreSQL's own storage of jsonb.
					p.err = sqlerr.New(sqlerr.FeatureNotSupported, "jsonpath item method .%s() is not supported", name)
				default:
					p.i = at
					p.fail()
				}
				x = &pathNode{op: "method", text: name, args: []*pathNode{x}}
				continue
			}
			x = &pathNode{op: ".key", text: name, args: []*pathNode{x}}
		case p.take("?"):
			p.expect("(")
			f := p.or()
			p.expect(")")
			x = pathOp("?", x, f)
		case p.take("["):
			if p.take("*") {
				p.expect("]")
				x = pathOp("[*]", x)
				continue
			}
			n := pathOp("[]", x)
			for p.err == nil {
				lo := p.sum()
				var hi *pathNode
				if p.word("to") {
					hi = p.sum()
				}
				n.args = append(n.args, lo, hi)
				if !p.take(",") {
					break
				}
			}
			p.expect("]")
			x = n
		default:
			return x
		}
	}
	return x
}
