package pgfunc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerTocharNumber() {
	eval.Register(
		eval.Immutable("to_char", eval.Sig(types.Int4, types.Text), eval.TText, eval.Try2(func(v int64, f string) (types.Datum, error) {
			if strings.HasSuffix(strings.ToUpper(f), "EEEE") { // an integer's exponent is that of a double
				return numberToChar(f, types.Decimal{}, &floatValue{float64(v), 15})
			}
			return numberToChar(f, types.DecimalFromInt64(v), nil)
		})),
		eval.Immutable("to_char", eval.Sig(types.Int8, types.Text), eval.TText, eval.Try2(func(v int64, f string) (types.Datum, error) {
			return numberToChar(f, types.DecimalFromInt64(v), nil)
		})),
		eval.Immutable("to_char", eval.Sig(types.Numeric, types.Text), eval.TText, eval.Try2(func(v types.Decimal, f string) (types.Datum, error) {
			return numberToChar(f, v, nil)
		})),
		eval.Immutable("to_char", eval.Sig(types.Float8, types.Text), eval.TText, eval.Try2(func(v float64, f string) (types.Datum, error) {
			return numberToChar(f, types.Decimal{}, &floatValue{v, 15})
		})),
		eval.Immutable("to_char", eval.Sig(types.Float4, types.Text), eval.TText, eval.Try2(func(v float64, f string) (types.Datum, error) {
			return numberToChar(f, types.Decimal{}, &floatValue{v, 6})
		})),
		eval.Immutable("to_number", eval.Sig(types.Text, types.Text), eval.TNumeric, eval.Row(toNumber)),
	)
}

type floatValue struct {
	f      float64
	digits int
}

// numberFormat is what a template says before it is filled in (NUMDesc of formatting.c).
type numberFormat struct {
	nodes                 []formatNode
	pre, post, multi      int
	zeroStart, zeroEnd    int
	zero, decimal, fill   bool
	lsign                 int // 'S': 1 before, 2 behind the number
	preLsign              int
	bracket, minus, plus  bool
	v, roman, eeee, blank bool
}

func errTemplate(format string, args ...any) error {
	return sqlerr.New(sqlerr.SyntaxError, format, args...)
}

func parseNumberFormat(template string) (*numberFormat, error) {
	f := &numberFormat{nodes: numberTemplates.nodes(template)}
	for i := range f.nodes {
		if err := f.prepare(strings.ToUpper(f.nodes[i].key)); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *numberFormat) prepare(key string) error {
	if key == "" {
		return nil
	}
	if f.eeee && key != "EEEE" {
		return errTemplate(`"EEEE" must be the last pattern used`)
	}
	switch key {
	case "9", "0":
		if f.bracket {
			return errTemplate(`"%s" must be ahead of "PR"`, key)
		}
		if key == "9" && f.v {
			f.multi++
			return nil
		}
		if key == "0" && !f.zero && !f.decimal {
			f.zero, f.zeroStart = true, f.pre+1
		}
		if f.decimal {
			f.post++
		} else {
			f.pre++
		}
		if key == "0" {
			f.zeroEnd = f.pre + f.post
		}
	case "B":
		f.blank = f.pre == 0 && f.post == 0 && !f.zero
	case "D", ".":
		if f.decimal {
			return errTemplate("multiple decimal points")
		}
		if f.v {
			return errTemplate(`cannot use "V" and decimal point together`)
		}
		f.decimal = true
	case "FM":
		f.fill = true
	case "S":
		if f.lsign != 0 {
			return errTemplate(`cannot use "S" twice`)
		}
		if f.plus || f.minus || f.bracket {
			return errTemplate(`cannot use "S" and "PL"/"MI"/"SG"/"PR" together`)
		}
		f.lsign, f.preLsign = 1, f.pre
		if f.decimal {
			f.lsign = 2
		}
	case "MI", "PL", "SG":
		if f.lsign != 0 {
			return errTemplate(`cannot use "S" and "%s" together`, key)
		}
		f.minus = f.minus || key != "PL"
		f.plus = f.plus || key != "MI"
	case "PR":
		if f.lsign != 0 || f.plus || f.minus {
			return errTemplate(`cannot use "PR" and "S"/"PL"/"MI"/"SG" together`)
		}
		f.bracket = true
	case "RN":
		f.roman = true
	case "V":
		if f.decimal {
			return errTemplate(`cannot use "V" and decimal point together`)
		}
		f.v = true
	case "EEEE":
		if f.eeee {
			return errTemplate(`cannot use "EEEE" twice`)
		}
		if f.zero || f.fill || f.lsign != 0 || f.bracket || f.minus || f.plus || f.roman || f.v {
			return sqlerr.New(sqlerr.SyntaxError, `"EEEE" is incompatible with other formats`).
				WithDetail(`"EEEE" may only be used together with digit and decimal point patterns.`)
		}
		f.eeee = true
	}
	return nil
}

func numberToChar(template string, d types.Decimal, fl *floatValue) (types.Datum, error) {
	if template == "" {
		return types.NewStr(""), nil
	}
	f, err := parseNumberFormat(template)
	if err != nil {
		return types.Null, err
	}
	if f.eeee {
		return types.NewStr(f.scientific(d, fl)), nil
	}
	if f.roman && fl == nil {
		if _, err := d.ToInt(types.Int4); err != nil {
			return types.Null, err
		}
	}
	number, err := f.number(d, fl)
	if err != nil {
		return types.Null, err
	}
	sign := byte('+')
	if strings.HasPrefix(number, "-") {
		sign, number = '-', number[1:]
	}
	spaces := 0
	if f.roman {
		return types.NewStr((&numberWriter{f: f, number: roman(number, sign)}).write(sign)), nil
	}
	whole := strings.IndexByte(number, '.')
	if whole < 0 {
		whole = len(number)
	}
	if whole < f.pre {
		spaces = f.pre - whole
	} else if whole > f.pre {
		number = strings.Repeat("#", f.pre) + "." + strings.Repeat("#", f.post)
	}
	w := &numberWriter{f: f, number: number, spaces: spaces}
	s := w.write(sign)
	return types.NewStr(s), w.err
}

// number spells the value with as many digits behind the point as the template has.
func (f *numberFormat) number(d types.Decimal, fl *floatValue) (string, error) {
	if fl == nil {
		if f.v {
			d = d.Mul(types.DecimalFromInt64(10).WithScale(0))
			for i := 1; i < f.multi; i++ {
				d = d.Mul(types.DecimalFromInt64(10))
			}
			if f.multi == 0 {
				d = types.DecimalFromInt64(0)
			}
			f.pre += f.multi
		}
		return d.Round(f.post).String(), nil
	}
	v := fl.f
	if f.v {
		v *= math.Pow(10, float64(f.multi))
		f.pre += f.multi
	}
	// No more digits than the type has.
	whole := len(strings.TrimPrefix(strconv.FormatFloat(math.Abs(v), 'f', 0, 64), "-"))
	if math.IsNaN(v) || math.IsInf(v, 0) {
		s := strconv.FormatFloat(v, 'f', 0, 64)
		return strings.Replace(strings.TrimPrefix(s, "+"), "Inf", "Infinity", 1), nil
	}
	if whole >= fl.digits {
		f.post = 0
	} else if whole+f.post > fl.digits {
		f.post = fl.digits - whole
	}
	return strconv.FormatFloat(v, 'f', f.post, 64), nil
}

func (f *numberFormat) scientific(d types.Decimal, fl *floatValue) string {
	v := 0.0
	s := ""
	switch {
	case fl != nil:
		v = fl.f
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			s = strconv.FormatFloat(v, 'e', f.post, 64)
		}
	case d.IsFinite():
		s = decimalScientific(d, f.post)
	}
	if s == "" {
		return " " + strings.Repeat("#", f.pre) + "." + strings.Repeat("#", f.post+4)
	}
	if s[0] != '-' {
		s = " " + s
	}
	return s
}

// decimalScientific writes d with one digit before the point and n behind it.
func decimalScientific(d types.Decimal, n int) string {
	if d.IsZero() {
		return types.NewDecimal(0, n).String() + "e+00"
	}
	digits := len(d.Abs().WithScale(d.Scale()).Coef().String())
	exp := digits - d.Scale() - 1
	shiftBy := func(exp int) types.Decimal {
		c := types.DecimalFromBig(d.Coef(), max(d.Scale()+exp, 0))
		if d.Scale()+exp < 0 {
			for i := d.Scale() + exp; i < 0; i++ {
				c = c.Mul(types.DecimalFromInt64(10))
			}
		}
		return c.Round(n)
	}
	m := shiftBy(exp)
	if m.Abs().Cmp(types.DecimalFromInt64(10)) >= 0 { // 9.99 rounded up
		exp++
		m = shiftBy(exp)
	}
	return fmt.Sprintf("%se%+03d", m.String(), exp)
}

func roman(number string, sign byte) string {
	n, err := strconv.Atoi(strings.SplitN(number, ".", 2)[0])
	if err != nil || n < 1 || n > 3999 || sign == '-' {
		return strings.Repeat("#", 15)
	}
	var b room.Builder
	for _, r := range []struct {
		v int
		s string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= r.v; n -= r.v {
			b.WriteString(r.s)
		}
	}
	return b.String()
}

// numberWriter fills a template in (NUM_processor of formatting.c, whose names it keeps close
// to): number is what is to be shown, at the digit next, spaces how many places stay empty
// before it.
type numberWriter struct {
	f         *numberFormat
	number    string
	spaces    int
	next      int // number_p
	curr      int // num_curr
	count     int // num_count
	last      int // last_relevant, -1: none
	sign      byte
	signDone  bool
	in        bool // num_in
	zeroStart int
	out       room.Builder
	cut       bool // the number ended before the template: so does the text
	err       error
}

func (w *numberWriter) write(sign byte) string {
	f := w.f
	w.sign, w.last = sign, -1
	w.zeroStart = f.zeroStart - 1
	bracket := f.bracket
	switch {
	case f.plus || f.minus:
		w.signDone = !(f.plus && !f.minus)
	default:
		if sign != '-' && bracket && f.fill {
			f.bracket = false
		}
		w.signDone = sign == '+' && f.fill && f.lsign == 0
		if f.lsign == 1 && f.pre == f.preLsign {
			f.lsign = 2
		}
	}
	w.count = f.post + f.pre - 1
	if f.fill && f.decimal {
		w.last = lastRelevant(w.number)
		if w.last >= 0 && f.zeroEnd > w.spaces {
			w.last = max(w.last, min(len(w.number)-1, f.zeroEnd-w.spaces))
		}
	}
	if !w.signDone && w.spaces == 0 {
		w.count++
	}
	for _, n := range f.nodes {
		if w.cut {
			break
		}
		if n.key == "" {
			w.out.WriteString(n.text)
			continue
		}
		w.node(strings.ToUpper(n.key), n.key)
	}
	return w.out.String()
}

// lastRelevant is the last digit behind the point that is not 0, or the point; -1 without one.
func lastRelevant(s string) int {
	p := strings.IndexByte(s, '.')
	if p < 0 {
		return -1
	}
	last := p
	for i := p + 1; i < len(s); i++ {
		if s[i] != '0' {
			last = i
		}
	}
	return last
}

func (w *numberWriter) node(key, written string) {
	f := w.f
	blank := func() {
		if !f.fill {
			w.out.WriteByte(' ')
		}
	}
	switch key {
	case "9", "0", ".", "D":
		w.digit(key)
	case ",", "G":
		if w.in {
			w.out.WriteByte(',')
		} else {
			blank()
		}
	case "L":
		w.out.WriteByte(' ')
	case "RN":
		s := w.number
		if written == "rn" {
			s = strings.ToLower(s)
		}
		if !f.fill {
			s = fmt.Sprintf("%15s", s)
		}
		w.out.WriteString(s)
	case "TH":
		if f.roman || strings.HasPrefix(w.number, "#") || w.sign == '-' || f.decimal {
			return
		}
		if c := w.at(len(w.number) - 1); c < '0' || c > '9' {
			w.err = sqlerr.New(sqlerr.InvalidTextRepresentation, "\"%s\" is not a number", w.number)
			return
		}
		w.out.WriteString(strings.TrimPrefix(ordinal(w.number, written), w.number))
	case "MI":
		if w.sign == '-' {
			w.out.WriteByte('-')
		} else {
			blank()
		}
	case "PL":
		if w.sign == '+' {
			w.out.WriteByte('+')
		} else {
			blank()
		}
	case "SG":
		w.out.WriteByte(w.sign)
	}
}

func (w *numberWriter) at(i int) byte {
	if i >= 0 && i < len(w.number) {
		return w.number[i]
	}
	return 0
}

// predecSpace: the 0 before the point is not shown unless asked for: 0.1 as 9.9 is " .1".
func (w *numberWriter) predecSpace() bool {
	return !w.f.zero && w.next == 0 && w.at(0) == '0' && w.f.post != 0
}

func (w *numberWriter) digit(key string) {
	f := w.f
	if f.roman {
		return
	}
	w.in = false
	lastIsPoint := w.last >= 0 && w.at(w.last) == '.'
	if !w.signDone && (w.curr >= w.spaces || f.zero && w.zeroStart == w.curr) && (!w.predecSpace() || lastIsPoint) {
		switch {
		case f.lsign != 0:
			if f.lsign == 1 {
				w.out.WriteByte(w.sign)
				w.signDone = true
			}
		case f.bracket:
			w.out.WriteByte(map[byte]byte{'+': ' ', '-': '<'}[w.sign])
			w.signDone = true
		case w.sign == '+':
			if !f.fill {
				w.out.WriteByte(' ')
			}
			w.signDone = true
		default:
			w.out.WriteByte('-')
			w.signDone = true
		}
	}
	switch {
	case w.curr < w.spaces && (w.zeroStart > w.curr || !f.zero):
		if !f.fill {
			w.out.WriteByte(' ')
		}
	case f.zero && w.curr < w.spaces && w.zeroStart <= w.curr:
		w.out.WriteByte('0')
		w.in = true
	default:
		switch {
		case w.at(w.next) == '.':
			if !lastIsPoint || f.fill {
				w.out.WriteByte('.')
			}
		case w.last >= 0 && w.next > w.last && key != "0":
		case w.predecSpace():
			if !f.fill {
				w.out.WriteByte(' ')
			} else if lastIsPoint {
				w.out.WriteByte('0')
			}
		case w.next < len(w.number):
			w.out.WriteByte(w.number[w.next])
			w.in = true
		default:
			w.cut = true
			return
		}
		if w.next < len(w.number) {
			w.next++
		}
	}
	end := w.count
	if w.spaces > 0 {
		end++
	}
	if f.decimal {
		end++
	}
	if w.last >= 0 && w.last == w.next {
		end = w.curr
	}
	if w.curr+1 == end {
		switch {
		case w.signDone && f.bracket:
			w.out.WriteByte(map[byte]byte{'+': ' ', '-': '>'}[w.sign])
		case f.lsign == 2:
			w.out.WriteByte(w.sign)
		}
	}
	w.curr++
}

// toNumber reads a number by a template: separators, currency and literals of the template are
// passed over, signs are found wherever they stand.
func toNumber(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	s, template := a[0].Str(), a[1].Str()
	if template == "" {
		return types.Null, nil
	}
	f, err := parseNumberFormat(template)
	if err != nil {
		return types.Null, err
	}
	if f.eeee {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, `"EEEE" not supported for input`)
	}
	if f.roman {
		return types.Null, sqlerr.New(sqlerr.FeatureNotSupported, `"RN" not supported for input`)
	}
	r := numberReader{s: s, f: f}
	return r.read()
}

// numberReader is NUM_processor and NUM_numpart_from_char of formatting.c for input: the text is
// walked through byte by byte as the template is, and what stands where a digit is wanted and is
// none is passed over.
type numberReader struct {
	s      string
	i      int
	f      *numberFormat
	sign   byte // ' ' until one is read
	digits room.Builder
	point  bool
	pre    int // digits read before the point
	post   int
}

func (r *numberReader) ended() bool { return r.i >= len(r.s) }

func (r *numberReader) read() (types.Datum, error) {
	r.sign = ' '
	for _, n := range r.f.nodes {
		if r.ended() {
			break
		}
		switch key := strings.ToUpper(n.key); key {
		case "9", "0", ".", "D":
			r.number(key == "9" || key == "0")
			r.i++
		case ",", "G":
			if r.s[r.i] == ',' {
				r.i++
			}
		case "L":
			r.passOver(1)
		case "MI", "PL", "SG":
			if c := r.s[r.i]; c == '-' && key != "PL" || c == '+' && key != "MI" {
				r.sign = c
				r.i++
			} else {
				r.passOver(1)
			}
		case "TH":
			r.passOver(2)
		case "":
			_, size := utf8.DecodeRuneInString(r.s[r.i:])
			r.i += size
		}
	}
	text := strings.TrimSuffix(r.digits.String(), ".")
	if text == "" {
		return types.Null, sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input syntax for type numeric: \"%c\"", r.sign)
	}
	if r.sign == '-' {
		text = "-" + text
	}
	d, err := types.ParseDecimal(text)
	if err != nil {
		return types.Null, err
	}
	if r.f.v && r.f.multi > 0 {
		ten := types.DecimalFromInt64(1)
		for i := 0; i < r.f.multi; i++ {
			ten = ten.Mul(types.DecimalFromInt64(10))
		}
		if d, err = d.Div(ten); err != nil {
			return types.Null, err
		}
	}
	return d.Datum(eval.TNumeric)
}

// passOver leaves out up to n characters that are no part of a number.
func (r *numberReader) passOver(n int) {
	for ; n > 0 && !r.ended() && strings.IndexByte("0123456789.,+-", r.s[r.i]) < 0; n-- {
		_, size := utf8.DecodeRuneInString(r.s[r.i:])
		r.i += size
	}
}

// number reads what stands at one digit or point of the template; the caller steps on.
func (r *numberReader) number(digit bool) {
	if r.s[r.i] == ' ' {
		r.i++
	}
	if r.ended() {
		return
	}
	// A sign before the number: as long as no digit has been read, also behind a point.
	if r.sign == ' ' && digit && r.pre+r.post == 0 {
		c := r.s[r.i]
		if c == '-' || c == '+' || c == '<' && r.f.bracket && r.f.lsign != 1 {
			if c == '<' {
				c = '-'
			}
			r.sign = c
			r.i++
		}
	}
	if r.ended() {
		return
	}
	read := false
	switch c := r.s[r.i]; {
	case c >= '0' && c <= '9':
		if r.point && r.post == r.f.post {
			return
		}
		r.digits.WriteByte(c)
		if r.point {
			r.post++
		} else {
			r.pre++
		}
		read = true
	case c == '.' && r.f.decimal && !r.point:
		r.digits.WriteByte('.')
		r.point, read = true, true
	}
	if r.sign != ' ' || r.pre+r.post == 0 {
		return
	}
	// A sign behind the number: S's right behind its last digit, MI's and its kin's where a digit was wanted.
	switch {
	case r.f.lsign != 0:
		if next := r.i + 1; read && next < len(r.s) && (r.s[next] == '-' || r.s[next] == '+') {
			r.sign = r.s[next]
			r.i = next
		}
	case !read && (r.f.plus || r.f.minus) && (r.s[r.i] == '-' || r.s[r.i] == '+'):
		r.sign = r.s[r.i]
	}
}
