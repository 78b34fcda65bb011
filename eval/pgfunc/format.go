package pgfunc

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerFormat() {
	eval.Register(
		eval.Stable("format", []types.Type{eval.TText, eval.TAny}, eval.TText, typed(format)).AsVariadic().CalledOnNull(),
		eval.Stable("format", eval.Sig(types.Text), eval.TText, typed(format)).CalledOnNull(),
		eval.Immutable("quote_ident", eval.Sig(types.Text), eval.TText, eval.Fn1(quoteIdent)).NeverFails(),
		eval.Immutable("quote_literal", eval.Sig(types.Text), eval.TText, eval.Ask1(quoteLiteral)).NeverFails(),
		eval.Stable("quote_literal", eval.Sig(types.AnyElement), eval.TText, typed(func(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
			return quotedLiteral(c, a[0], t[0])
		})),
		eval.Immutable("quote_nullable", eval.Sig(types.Text), eval.TText, typed(quoteNullable)).CalledOnNull(),
		eval.Stable("quote_nullable", eval.Sig(types.AnyElement), eval.TText, typed(quoteNullable)).CalledOnNull(),
	)
}

func quoteNullable(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	if a[0].IsNull() {
		return types.NewStr("NULL"), nil
	}
	return quotedLiteral(c, a[0], t[0])
}

// castText is d::text, which differs from d's output for booleans.
func castText(c *eval.Ctx, d types.Datum, t types.Type) string {
	if t.Kind == types.Bool {
		return map[bool]string{true: "true", false: "false"}[d.Bool()]
	}
	return types.Format(d, t, eval.SessionText(c))
}

// quoteIdent quotes what would not read back as the same name: anything but lower-case letters,
// digits and underscores, and keywords that are not free.
func quoteIdent(s string) string {
	safe := s != "" && (s[0] >= 'a' && s[0] <= 'z' || s[0] == '_')
	for i := 0; safe && i < len(s); i++ {
		c := s[i]
		safe = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_'
	}
	if safe && !quotedKeywords[s] {
		return s
	}
	room.Must(3 * len(s))
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// QuoteIdent is quote_ident: the name as SQL text has it.
func QuoteIdent(s string) string { return quoteIdent(s) }

func quoteLiteral(c *eval.Ctx, s string) (string, error) {
	quoted, err := replace(c, s, "'", "''")
	if err == nil {
		err = room.Take(len(quoted) + len("E''"))
	}
	if err != nil {
		return "", err
	}
	if !strings.Contains(s, `\`) {
		return "'" + quoted + "'", nil
	}
	quoted, err = replace(c, quoted, `\`, `\\`)
	return "E'" + quoted + "'", err
}

// quotedLiteral is quote_literal(d::text).
func quotedLiteral(c *eval.Ctx, d types.Datum, t types.Type) (types.Datum, error) {
	s, err := quoteLiteral(c, castText(c, d, t))
	return types.NewStr(s), err
}

// quotedKeywords are the keywords that are not unreserved.
var quotedKeywords = func() map[string]bool {
	m := map[string]bool{}
	for _, k := range keywords {
		if k.code == "U" {
			continue
		}
		for _, w := range strings.Fields(k.words) {
			m[w] = true
		}
	}
	return m
}()

// format is sprintf with %s, %I, %L and %%, positions and widths: %[n$][-][width|*|*n$]type.
func format(c *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
	if a[0].IsNull() {
		return types.Null, nil
	}
	f := formatter{ctx: c, args: a, types: t, o: eval.SessionText(c), s: a[0].Str()}
	if err := f.run(); err != nil {
		return types.Null, err
	}
	return types.NewStr(f.b.String()), nil
}

type formatter struct {
	ctx   *eval.Ctx
	args  []types.Datum
	types []types.Type
	o     *types.TextOptions
	s     string
	i     int
	next  int // number of the last argument taken
	b     room.Builder
}

func (f *formatter) run() error {
	for f.i < len(f.s) {
		if f.s[f.i] != '%' {
			f.b.WriteByte(f.s[f.i])
			f.i++
			continue
		}
		f.i++
		if f.i < len(f.s) && f.s[f.i] == '%' {
			f.b.WriteByte('%')
			f.i++
			continue
		}
		if err := f.spec(); err != nil {
			return err
		}
	}
	return nil
}

func errUnterminatedFormat() error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "unterminated format() type specifier").
		WithHint(`For a single "%%" use "%%%%".`)
}

// number reads digits, ok false when there are none.
func (f *formatter) number() (n int, ok bool, err error) {
	start := f.i
	for f.i < len(f.s) && f.s[f.i] >= '0' && f.s[f.i] <= '9' {
		f.i++
	}
	if f.i == start {
		return 0, false, nil
	}
	v, e := strconv.ParseInt(f.s[start:f.i], 10, 32)
	if e != nil {
		return 0, false, sqlerr.New(sqlerr.NumericOutOfRange, "number is out of range")
	}
	return int(v), true, nil
}

func (f *formatter) spec() error {
	argPos, widthPos := -1, -1
	width, left := 0, false
	n, ok, err := f.number()
	if err != nil {
		return err
	}
	hasWidth := false
	if ok {
		if f.i < len(f.s) && f.s[f.i] == '$' {
			f.i++
			if argPos = n; n == 0 {
				return sqlerr.New(sqlerr.InvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1")
			}
		} else {
			width, hasWidth = n, true
		}
	}
	if !hasWidth {
		for f.i < len(f.s) && f.s[f.i] == '-' {
			left = true
			f.i++
		}
		if f.i < len(f.s) && f.s[f.i] == '*' {
			f.i++
			widthPos = 0
			if n, ok, err = f.number(); err != nil {
				return err
			}
			if ok {
				if f.i >= len(f.s) || f.s[f.i] != '$' {
					return sqlerr.New(sqlerr.InvalidParameterValue, "width argument position must be ended by \"$\"")
				}
				f.i++
				if widthPos = n; n == 0 {
					return sqlerr.New(sqlerr.InvalidParameterValue, "format specifies argument 0, but arguments are numbered from 1")
				}
			}
		} else if n, ok, err = f.number(); err != nil {
			return err
		} else if ok {
			width = n
		}
	}
	if f.i >= len(f.s) {
		return errUnterminatedFormat()
	}
	verb, size := utf8.DecodeRuneInString(f.s[f.i:])
	f.i += size
	if verb != 's' && verb != 'I' && verb != 'L' {
		return sqlerr.New(sqlerr.InvalidParameterValue, "unrecognized format() type specifier \"%c\"", verb).
			WithHint(`For a single "%%" use "%%%%".`)
	}
	if widthPos >= 0 {
		if widthPos > 0 {
			f.next = widthPos - 1
		}
		d, t, err := f.take()
		if err != nil {
			return err
		}
		if !d.IsNull() {
			w, err := types.ParseInt(strings.TrimSpace(types.Format(d, t, f.o)), types.Int4)
			if err != nil {
				return err
			}
			width = int(w)
			if width < 0 {
				left, width = true, -width
			}
		}
	}
	if argPos > 0 {
		f.next = argPos - 1
	}
	d, t, err := f.take()
	if err != nil {
		return err
	}
	return f.write(verb, d, t, width, left)
}

// take gives the next argument.
func (f *formatter) take() (types.Datum, types.Type, error) {
	f.next++
	if f.next >= len(f.args) {
		return types.Null, types.Type{}, sqlerr.New(sqlerr.InvalidParameterValue, "too few arguments for format()")
	}
	return f.args[f.next], f.types[f.next], nil
}

func (f *formatter) write(verb rune, d types.Datum, t types.Type, width int, left bool) error {
	text := ""
	switch {
	case !d.IsNull():
		text = types.Format(d, t, f.o)
		switch verb {
		case 'I':
			text = quoteIdent(text)
		case 'L':
			var err error
			if text, err = quoteLiteral(f.ctx, text); err != nil {
				return err
			}
		}
	case verb == 'I':
		return sqlerr.New(sqlerr.NullNotAllowed, "null values cannot be formatted as an SQL identifier")
	case verb == 'L':
		text = "NULL"
	}
	if width > eval.MaxString() {
		return eval.ErrTooLong()
	}
	padded, err := pad(text, max(width, utf8.RuneCountInString(text)), " ", !left)
	f.b.WriteString(padded)
	return err
}
