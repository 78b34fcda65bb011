package mysql

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/sqlfront/token"
)

// reserved lists the words of MySQL 8.0 that may not stand for a name unquoted.
var reserved = token.Set(`accessible add all alter analyze and as asc asensitive before between bigint binary
	blob both by call cascade case change char character check collate column condition constraint
	continue convert create cross cube cume_dist current_date current_time current_timestamp current_user
	cursor database databases day_hour day_microsecond day_minute day_second dec decimal declare default
	delayed delete dense_rank desc describe deterministic distinct distinctrow div double drop dual each
	else elseif empty enclosed escaped except exists exit explain false fetch first_value float float4
	float8 for force foreign from fulltext function generated get grant group grouping groups having
	high_priority hour_microsecond hour_minute hour_second if ignore in index infile inner inout
	insensitive insert int int1 int2 int3 int4 int8 integer intersect interval into is iterate join
	json_table key keys kill lag last_value lateral lead leading leave left like limit linear lines load
	localtime localtimestamp lock long longblob longtext loop low_priority match maxvalue mediumblob
	mediumint mediumtext middleint minute_microsecond minute_second mod modifies natural not
	no_write_to_binlog nth_value ntile null numeric of on optimize option optionally or order out outer
	outfile over partition percent_rank precision primary procedure purge range rank read reads real
	recursive references regexp release rename repeat replace require resignal restrict return revoke
	right rlike row rows row_number schema schemas second_microsecond select sensitive separator set show
	signal smallint spatial specific sql sqlexception sqlstate sqlwarning sql_big_result
	sql_calc_found_rows sql_small_result ssl starting stored straight_join system table terminated then
	tinyblob tinyint tinytext to trailing trigger true undo union unique unlock unsigned update usage use
	using utc_date utc_time utc_timestamp values varbinary varchar varcharacter varying virtual when
	where while window with write xor year_month zerofill`)

func isIdentStart(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
func isDigit(c byte) bool     { return c >= '0' && c <= '9' }
func isIdentPart(c byte) bool { return isIdentStart(c) || isDigit(c) }
func isSpace(c byte) bool     { return c == ' ' || c >= '\t' && c <= '\r' }

// lexer walks a text token by token. Text inside /*! … */ is part of the statement; every
// other comment is space.
type lexer struct {
	s    string
	i    int
	mode Mode
	code bool // inside /*! … */
}

func (l *lexer) skipSpace() {
	for l.i < len(l.s) {
		rest := l.s[l.i:]
		switch {
		case isSpace(l.s[l.i]):
			l.i++
		case rest[0] == 0 && strings.Trim(rest, "\x00") == "":
			l.i = len(l.s) // some clients end a statement as C ends a string
		case rest[0] == '#', strings.HasPrefix(rest, "--") && (len(rest) == 2 || rest[2] <= ' '):
			if n := strings.IndexByte(rest, '\n'); n >= 0 {
				l.i += n + 1
			} else {
				l.i = len(l.s)
			}
		case l.code && strings.HasPrefix(rest, "*/"):
			l.code = false
			l.i += 2
		case strings.HasPrefix(rest, "/*!") && !l.code:
			n := 3
			for n < 9 && n < len(rest) && isDigit(rest[n]) {
				n++
			}
			if end := strings.Index(rest, "*/"); end >= 0 && laterVersion(rest[3:n]) {
				l.i += end + 2
				continue
			}
			l.code = true
			l.i += n
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return // unterminated: next() makes it an invalid token
			}
			l.i += n + 4
		default:
			return
		}
	}
}

// laterVersion tells whether the number of /*!number … */ is a version of MySQL behind the one that
// is spoken here, for which the text is a comment.
func laterVersion(digits string) bool {
	n, err := strconv.Atoi(digits)
	return err == nil && len(digits) >= 5 && n > 80036
}

// operators from the longest to the shortest.
var operators = []string{"->>", "<=>", ":=", "||", "&&", "<<", ">>", "<=", ">=", "<>", "!=", "->", "=>",
	"+", "-", "*", "/", "%", "<", ">", "=", "!", "~", "|", "&", "^", ":"}

// next gives the next token; its kind is tokEnd at the end.
func (l *lexer) next() token.Token {
	l.skipSpace()
	start := l.i
	if l.i >= len(l.s) {
		return token.Token{Pos: start, End: start}
	}
	c := l.s[start]
	quoteAt := func(i int) bool { return i < len(l.s) && (l.s[i] == '\'' || l.s[i] == '"' && !l.mode.ANSIQuotes) }
	done := func(k token.Kind, end int, text, value string) token.Token {
		l.i = end
		return token.Token{Kind: k, Text: text, Value: value, Pos: start, End: end}
	}
	switch {
	case (c == 'x' || c == 'X' || c == 'b' || c == 'B') && start+1 < len(l.s) && l.s[start+1] == '\'':
		return l.bits(start)
	case (c == 'n' || c == 'N') && quoteAt(start+1):
		return l.str(start, start+1)
	case c == '0' && start+1 < len(l.s) && (l.s[start+1] == 'x' || l.s[start+1] == 'b'):
		end := start + 2
		for end < len(l.s) && isIdentPart(l.s[end]) {
			end++
		}
		if v, ok := decodeBits(l.s[start+1], l.s[start+2:end]); ok && end > start+2 {
			return done(token.Hex, end, l.s[start:end], v)
		}
		return l.word(start, end)
	case isIdentStart(c):
		end := start + 1
		for end < len(l.s) && isIdentPart(l.s[end]) {
			end++
		}
		return l.word(start, end)
	case c == '`', c == '"' && l.mode.ANSIQuotes:
		return l.quoted(start, c)
	case c == '\'' || c == '"':
		return l.str(start, start)
	case c == '@':
		return l.variable(start)
	case c == '?':
		return done(token.Param, start+1, "?", "")
	case isDigit(c) || c == '.' && start+1 < len(l.s) && isDigit(l.s[start+1]) && !l.afterName(start):
		end := numberEnd(l.s, start)
		if n := wordOfDigits(l.s, start); n > end {
			return l.word(start, n)
		}
		return done(token.Number, end, l.s[start:end], "")
	case strings.IndexByte("(),;.[]{}", c) >= 0:
		return done(token.Punct, start+1, l.s[start:start+1], "")
	case strings.HasPrefix(l.s[start:], "/*"):
		return done(token.Invalid, len(l.s), l.s[start:], "")
	}
	for _, o := range operators {
		if strings.HasPrefix(l.s[start:], o) {
			return done(token.Op, start+len(o), o, "")
		}
	}
	_, n := utf8.DecodeRuneInString(l.s[start:])
	return done(token.Invalid, start+n, l.s[start:start+n], "")
}

func (l *lexer) word(start, end int) token.Token {
	l.i = end
	text := strings.ToLower(l.s[start:end])
	return token.Token{Kind: token.Word, Text: text, Value: l.s[start:end], Reserved: reserved[text], Pos: start, End: end}
}

// afterName tells whether the byte before a dot belongs to a name: t.1a, not .5.
func (l *lexer) afterName(i int) bool {
	return i > 0 && (isIdentPart(l.s[i-1]) || l.s[i-1] == '`')
}

// bits reads x'…' and b'…'.
func (l *lexer) bits(start int) token.Token {
	n := strings.IndexByte(l.s[start+2:], '\'')
	if n >= 0 {
		if v, ok := decodeBits(l.s[start], l.s[start+2:start+2+n]); ok {
			l.i = start + 3 + n
			return token.Token{Kind: token.Hex, Text: l.s[start:l.i], Value: v, Pos: start, End: l.i}
		}
	}
	l.i = len(l.s)
	if n >= 0 {
		l.i = start + 3 + n
	}
	return token.Token{Kind: token.Invalid, Text: l.s[start:l.i], Pos: start, End: l.i}
}

// decodeBits turns hexadecimal (base x) or binary digits into bytes.
func decodeBits(base byte, digits string) (string, bool) {
	per := 4
	if base == 'b' || base == 'B' {
		per = 1
	}
	if base|0x20 == 'x' && len(digits)%2 == 1 {
		digits = "0" + digits
	}
	out := make([]byte, (len(digits)*per+7)/8)
	bit := len(out)*8 - len(digits)*per
	for i := 0; i < len(digits); i++ {
		var v byte
		switch c := digits[i]; {
		case c >= '0' && c <= '9':
			v = c - '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			v = c | 0x20 - 'a' + 10
		default:
			return "", false
		}
		if per == 1 && v > 1 {
			return "", false
		}
		out[bit/8] |= v << (8 - per - bit%8)
		bit += per
	}
	return string(out), true
}

// str reads a string whose quote is at open; a doubled quote and a backslash escape.
func (l *lexer) str(start, open int) token.Token {
	quote := l.s[open]
	var b strings.Builder
	for i := open + 1; i < len(l.s); i++ {
		c := l.s[i]
		switch {
		case c == '\\' && !l.mode.NoBackslashEscapes && i+1 < len(l.s):
			i++
			switch l.s[i] {
			case '0':
				b.WriteByte(0)
			case 'b':
				b.WriteByte('\b')
			case 'n':
				b.WriteByte('\n')
			case 'r':
				b.WriteByte('\r')
			case 't':
				b.WriteByte('\t')
			case 'Z':
				b.WriteByte(26)
			case '%', '_':
				// They stay escaped, for LIKE.
				b.WriteByte('\\')
				b.WriteByte(l.s[i])
			default:
				b.WriteByte(l.s[i])
			}
		case c == quote && i+1 < len(l.s) && l.s[i+1] == quote:
			i++
			b.WriteByte(quote)
		case c == quote:
			l.i = i + 1
			return token.Token{Kind: token.String, Text: l.s[start:l.i], Value: b.String(), Pos: start, End: l.i}
		default:
			b.WriteByte(c)
		}
	}
	l.i = len(l.s)
	return token.Token{Kind: token.Invalid, Text: l.s[start:], Pos: start, End: l.i}
}

func (l *lexer) quoted(start int, quote byte) token.Token {
	for i := start + 1; i < len(l.s); i++ {
		if l.s[i] != quote {
			continue
		}
		if i+1 < len(l.s) && l.s[i+1] == quote {
			i++
			continue
		}
		l.i = i + 1
		q := string(quote)
		return token.Token{Kind: token.Quoted, Value: strings.ReplaceAll(l.s[start+1:i], q+q, q), Pos: start, End: l.i}
	}
	l.i = len(l.s)
	return token.Token{Kind: token.Invalid, Text: l.s[start:], Pos: start, End: l.i}
}

// variable reads @name, @'name', @`name`, @@name and @@scope.name.
func (l *lexer) variable(start int) token.Token {
	i := start + 1
	if i < len(l.s) && l.s[i] == '@' {
		i++
	}
	signs := l.s[start:i]
	if i < len(l.s) && (l.s[i] == '\'' || l.s[i] == '"' || l.s[i] == '`') {
		var t token.Token
		if l.s[i] == '`' {
			t = l.quoted(i, '`')
		} else {
			t = l.str(i, i)
		}
		if t.Kind != token.Invalid {
			t.Kind = token.Var
		}
		t.Text, t.Pos = signs, start
		return t
	}
	end := i
	for end < len(l.s) && (isIdentPart(l.s[end]) || l.s[end] == '.' && end+1 < len(l.s) && isIdentPart(l.s[end+1])) {
		end++
	}
	l.i = end
	k := token.Var
	if end == i {
		k = token.Invalid
	}
	return token.Token{Kind: k, Text: signs, Value: strings.ReplaceAll(l.s[i:end], "`", ""), Pos: start, End: end}
}

// wordOfDigits is where a name ends that begins with digits, as 1a and 2e do; start where there is
// none: 1e5 and 1.5 are numbers.
func wordOfDigits(s string, start int) int {
	i := start
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	if i == start || i == len(s) || !isIdentStart(s[i]) {
		return start
	}
	for i < len(s) && isIdentPart(s[i]) {
		i++
	}
	return i
}

func numberEnd(s string, i int) int {
	digits := func(j int) int {
		for j < len(s) && isDigit(s[j]) {
			j++
		}
		return j
	}
	j := digits(i)
	if j < len(s) && s[j] == '.' {
		j = digits(j + 1)
	}
	if j < len(s) && (s[j] == 'e' || s[j] == 'E') {
		k := j + 1
		if k < len(s) && (s[k] == '+' || s[k] == '-') {
			k++
		}
		if k < len(s) && isDigit(s[k]) {
			j = digits(k)
		}
	}
	return j
}
