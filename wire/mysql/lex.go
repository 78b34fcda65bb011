package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/internal/room"
)

// The wire reads just enough of a text to cut it into statements and to understand those that
// are about the session (SHOW, SET, USE …); all others go to the engine as they are.

type tokenKind uint8

const (
	tokWord     tokenKind = iota // text is lower case
	tokQuoted                    // `name`; value without the quotes
	tokString                    // 'text' or "text"; value decoded
	tokNumber                    //
	tokVariable                  // @x or @@x; text is lower case with the signs
	tokSign                      // one character, or :=
)

type token struct {
	kind     tokenKind
	text     string // as written; lower case for words and variables
	value    string // what it names
	pos, end int
}

func (t token) sign(s string) bool { return t.kind == tokSign && t.text == s }

// isName tells whether the token can name something.
func (t token) isName() bool { return t.kind == tokWord || t.kind == tokQuoted }

// piece is one statement of a text. Positions of its tokens count from its own start.
type piece struct {
	text   string
	offset int
	toks   []token
}

// word is the text of token k where it is a word, else "".
func (p *piece) word(k int) string {
	if k < len(p.toks) && p.toks[k].kind == tokWord {
		return p.toks[k].text
	}
	return ""
}

// words tells whether the statement begins so at token k.
func (p *piece) words(k int, list ...string) bool {
	for i, w := range list {
		if p.word(k+i) != w {
			return false
		}
	}
	return true
}

// from is the text from token k to the end.
func (p *piece) from(k int) string {
	if k >= len(p.toks) {
		return ""
	}
	return p.text[p.toks[k].pos:p.toks[len(p.toks)-1].end]
}

// cut splits a text at semicolons. Statements without a token are left out.
func cut(text string, ansiQuotes, noBackslash bool) []piece {
	l := lexer{s: text, ansi: ansiQuotes, plain: noBackslash}
	var out []piece
	var toks []token
	flush := func() {
		if len(toks) == 0 {
			return
		}
		from, to := toks[0].pos, toks[len(toks)-1].end
		for i := range toks {
			toks[i].pos -= from
			toks[i].end -= from
		}
		out = append(out, piece{text: text[from:to], offset: from, toks: toks})
		toks = nil
	}
	for {
		t, ok := l.next()
		if !ok {
			flush()
			return out
		}
		if t.sign(";") {
			flush()
			continue
		}
		toks = room.Append(toks, t)
	}
}

type lexer struct {
	s     string
	i     int
	ansi  bool // "x" is a name
	plain bool // backslash is a character like any other
	deep  int  // within /*! … */
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c >= 0x80
}

// skip passes white space and comments. The text of /*! … */ counts, as MySQL has it.
func (l *lexer) skip() {
	for l.i < len(l.s) {
		rest := l.s[l.i:]
		switch {
		case isSpace(rest[0]):
			l.i++
		case rest[0] == '#' || strings.HasPrefix(rest, "--") && (len(rest) == 2 || isSpace(rest[2])):
			n := strings.IndexByte(rest, '\n')
			if n < 0 {
				n = len(rest) - 1
			}
			l.i += n + 1
		case strings.HasPrefix(rest, "/*!"):
			l.i += 3
			for l.i < len(l.s) && isDigit(l.s[l.i]) {
				l.i++
			}
			l.deep++
		case l.deep > 0 && strings.HasPrefix(rest, "*/"):
			l.i += 2
			l.deep--
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				l.i = len(l.s)
				return
			}
			l.i += n + 4
		default:
			return
		}
	}
}

func (l *lexer) next() (token, bool) {
	l.skip()
	if l.i >= len(l.s) {
		return token{}, false
	}
	t := token{pos: l.i}
	switch c := l.s[l.i]; {
	case c == '\'' || c == '"' && !l.ansi:
		t.kind, t.value = tokString, l.quoted(c, !l.plain)
	case c == '`' || c == '"':
		t.kind, t.value = tokQuoted, l.quoted(c, false)
	case c == '@':
		l.variable(&t)
	case isDigit(c):
		t.kind = tokNumber
		for l.i < len(l.s) && (isWord(l.s[l.i]) || l.s[l.i] == '.') {
			l.i++
		}
	case isWord(c):
		for l.i < len(l.s) && isWord(l.s[l.i]) {
			l.i++
		}
		t.value = l.s[t.pos:l.i]
	default:
		t.kind = tokSign
		l.i++
		if c == ':' && l.i < len(l.s) && l.s[l.i] == '=' {
			l.i++
		}
	}
	t.end = l.i
	t.text = l.s[t.pos:t.end]
	if t.kind == tokWord || t.kind == tokVariable {
		t.text = strings.ToLower(t.text)
	}
	return t, true
}

// quoted reads to the closing quote; a doubled quote stands for itself.
func (l *lexer) quoted(q byte, escapes bool) string {
	var b strings.Builder
	l.i++
	for l.i < len(l.s) {
		c := l.s[l.i]
		l.i++
		switch {
		case c == q && l.i < len(l.s) && l.s[l.i] == q:
			l.i++
			b.WriteByte(q)
		case c == q:
			return b.String()
		case c == '\\' && escapes && l.i < len(l.s):
			b.WriteString(unescape(l.s[l.i]))
			l.i++
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// unescape is what a backslash and c stand for; \% and \_ keep their backslash, for LIKE.
func unescape(c byte) string {
	switch c {
	case '0':
		return "\x00"
	case 'b':
		return "\b"
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case 'Z':
		return "\x1a"
	case '%', '_':
		return "\\" + string(rune(c))
	}
	return string([]byte{c})
}

// variable reads @name, @`name`, @@name and @@scope.name.
func (l *lexer) variable(t *token) {
	t.kind = tokVariable
	l.i++
	if l.i < len(l.s) && l.s[l.i] == '@' {
		l.i++
	}
	from := l.i
	if l.i < len(l.s) && (l.s[l.i] == '`' || l.s[l.i] == '\'' || l.s[l.i] == '"') {
		t.value = l.quoted(l.s[l.i], false)
		return
	}
	for l.i < len(l.s) && (isWord(l.s[l.i]) || l.s[l.i] == '.') {
		l.i++
	}
	t.value = l.s[from:l.i]
}

// quoteName and quoteText spell a name and a string for the engine.
func quoteName(s string) string { return "`" + strings.ReplaceAll(s, "`", "``") + "`" }

func quoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`).Replace(s) + "'"
}
