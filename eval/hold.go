package eval

// This file makes a value one that a column's declared MySQL type has: the range of TINYINT and
// UNSIGNED, the members of ENUM, the length in bytes of TINYTEXT. A value that does not fit is an
// error, and in MySQL without strict mode it is made to fit, with a warning.

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// HoldMode says what becomes of a value that a column cannot hold.
type HoldMode uint8

// HoldStandard gives PostgreSQL's errors, HoldStrict MySQL's; HoldLenient clips and warns.
const (
	HoldStandard HoldMode = iota
	HoldStrict
	HoldLenient
)

// Held is the type that a value has before Holder's function makes it one of type to: wide enough
// that nothing is lost on the way.
func Held(from, to types.Type) types.Type {
	m := to.MySQL
	switch {
	case m != nil && m.Members != nil:
		if from.IsNumber() || from.Kind == types.Bool {
			return types.T(types.Int8)
		}
		return types.T(types.Text)
	case m != nil && (m.Name == "year" || m.Name == "json" || m.Name == "bit") && from.IsString() && from.Kind != types.Unknown:
		return types.T(types.Text)
	case to.IsInteger() || to.Kind == types.Numeric && to.Scale == 0 && m != nil && m.Name != "decimal":
		switch {
		case from.IsString() && to.Kind != types.Numeric && from.Kind != types.Unknown:
			return types.T(to.Kind) // read as the column's type reads it
		case from.Kind == types.Float4 || from.Kind == types.Float8:
			return types.T(types.Float8)
		case from.Kind == types.Numeric, to.Kind == types.Numeric && from.Kind != types.Bytea:
			return types.T(types.Numeric)
		}
		return types.T(types.Int8)
	case to.Kind == types.Numeric:
		return types.T(types.Numeric)
	case to.Kind == types.Float4, to.Kind == types.Float8:
		return types.T(types.Float8)
	case to.Kind == types.Varchar, to.Kind == types.Text:
		return types.T(types.Text)
	case to.Kind == types.Bytea:
		return types.T(types.Bytea)
	}
	to.MySQL = nil
	return to
}

// Holder is the function that makes a value of type Held(from, to) one of type to for a column.
func Holder(column string, held, to types.Type, mode HoldMode) *plan.Function {
	h := &holder{column: column, from: held, to: to, mode: mode}
	f := NewRowFunction("mysql:hold", []types.Type{held}, to, func(c *Ctx, args []types.Datum) (types.Datum, error) {
		return h.hold(c, args[0])
	})
	if mode == HoldLenient {
		f.Volatility = plan.Volatile // folded, a constant would warn nobody
	}
	return f
}

// HoldValue is d, of type from, as a value of type to for a column, in strict mode.
func HoldValue(c *Ctx, column string, d types.Datum, from, to types.Type) (types.Datum, error) {
	held := Held(from, to)
	d, err := CastDatum(c, d, from, held, plan.Explicit)
	if err != nil || d.IsNull() {
		return types.Null, err
	}
	return (&holder{column: column, from: held, to: to, mode: HoldStrict}).hold(c, d)
}

type holder struct {
	column   string
	from, to types.Type
	mode     HoldMode
}

func (h *holder) hold(c *Ctx, d types.Datum) (types.Datum, error) {
	m := h.to.MySQL
	switch {
	case m != nil && m.Name == "enum":
		return h.enum(c, d)
	case m != nil && m.Name == "set":
		return h.set(c, d)
	case h.to.IsInteger() || h.to.Kind == types.Numeric && h.to.Scale == 0 && m != nil && m.Name != "decimal":
		return h.integer(c, d)
	case h.to.Kind == types.Numeric:
		return h.decimal(c, d)
	case h.to.Kind == types.Float4, h.to.Kind == types.Float8:
		return h.float(c, d)
	case m != nil && m.Name == "json" && h.from.Kind == types.Text:
		return h.json(d)
	case h.from.Kind == types.Text:
		return h.text(c, d)
	case h.to.Kind == types.Bytea:
		return h.bytes(c, d)
	}
	return d, nil
}

// tooWide reports a number beyond the column's range; nil: it is clipped.
func (h *holder) tooWide(c *Ctx) error {
	switch h.mode {
	case HoldStandard:
		name := h.to.String()
		if h.to.MySQL != nil {
			name = h.to.MySQLString()
		}
		return sqlerr.New(sqlerr.NumericOutOfRange, "value out of range for column \"%s\" of type %s", h.column, name)
	case HoldStrict:
		e := sqlerr.New(sqlerr.NumericOutOfRange, "Out of range value for column '%s'", h.column)
		e.Number = 1264
		return e
	}
	if c.Warn != nil {
		c.Warn(sqlerr.ValueClipped, "Out of range value for column '%s'", h.column)
	}
	return nil
}

// cut reports a text that is too long or no member; nil: it is cut.
func (h *holder) cut(c *Ctx, number uint16) error {
	switch {
	case h.mode == HoldStandard && number == 1265:
		return sqlerr.New(sqlerr.InvalidTextRepresentation, "invalid input value for column \"%s\" of type %s", h.column, h.to.MySQLString())
	case h.mode == HoldStandard:
		name := h.to.String()
		if h.to.MySQL != nil {
			name = h.to.MySQLString()
		}
		return sqlerr.New(sqlerr.StringTooLong, "value too long for type %s", name)
	case h.mode == HoldStrict && number == 1265:
		e := sqlerr.New("01000", "Data truncated for column '%s'", h.column)
		e.Number = 1265
		return e
	case h.mode == HoldStrict:
		return sqlerr.New(sqlerr.StringTooLong, "Data too long for column '%s'", h.column)
	}
	if c.Warn != nil {
		c.Warn(sqlerr.ValueCut, "Data truncated for column '%s'", h.column)
	}
	return nil
}

// bounds are those of the column's integers.
func (h *holder) bounds() (lo int64, hi uint64) {
	if h.to.MySQL != nil {
		if lo, hi, ok := h.to.MySQL.Bounds(); ok {
			return lo, hi
		}
	}
	switch h.to.Kind {
	case types.Int2:
		return math.MinInt16, math.MaxInt16
	case types.Int4:
		return math.MinInt32, math.MaxInt32
	}
	return math.MinInt64, math.MaxInt64
}

func (h *holder) integer(c *Ctx, d types.Datum) (types.Datum, error) {
	m := h.to.MySQL
	year := m != nil && m.Name == "year"
	lo, hi := h.bounds()
	var v types.Decimal
	switch h.from.Kind {
	case types.Int2, types.Int4, types.Int8:
		if i := d.Int(); h.to.Kind != types.Numeric && !year && i >= lo && (i < 0 || uint64(i) <= hi) {
			return d, nil
		}
		v = types.DecimalFromInt64(d.Int())
	case types.Float8:
		f := math.RoundToEven(d.Float())
		if math.IsNaN(f) || math.IsInf(f, 0) {
			f = math.Copysign(1e30, f)
		}
		var err error
		if v, err = types.ParseDecimal(strconv.FormatFloat(f, 'f', 0, 64)); err != nil {
			return types.Null, err
		}
	case types.Text:
		if year {
			return h.yearText(c, d.Str())
		}
		s := strings.TrimLeft(d.Str(), "\x00") // BIT: a text is its bytes
		if len(s) > 8 {
			s = "\xff\xff\xff\xff\xff\xff\xff\xff"
		}
		var bits uint64
		for i := range len(s) {
			bits = bits<<8 | uint64(s[i])
		}
		v = UnsignedDecimal(bits)
	default:
		x := types.DecimalOf(d, h.from)
		if x.IsNaN() || x.IsInf() {
			return types.Null, h.tooWide(c)
		}
		v = x.Round(0)
	}
	if year {
		return h.year(c, v)
	}
	clip := v
	if least := types.DecimalFromInt64(lo); v.Cmp(least) < 0 {
		clip = least
	} else if most := UnsignedDecimal(hi); v.Cmp(most) > 0 {
		clip = most
	}
	if v.Cmp(clip) != 0 {
		err := h.tooWide(c)
		if m != nil && m.Name == "bit" && h.mode != HoldLenient {
			err = h.cut(c, 1406)
		}
		if err != nil {
			return types.Null, err
		}
	}
	return clip.Datum(h.to)
}

// year is a number as YEAR: one of two digits means 1970 to 2069, zero is no year.
func (h *holder) year(c *Ctx, v types.Decimal) (types.Datum, error) {
	n, err := v.ToInt(types.Int8)
	switch {
	case err != nil:
	case n == 0, n >= 1901 && n <= 2155:
		return types.NewInt(n), nil
	case n >= 1 && n < 70:
		return types.NewInt(2000 + n), nil
	case n >= 70 && n < 100:
		return types.NewInt(1900 + n), nil
	}
	return types.NewInt(0), h.tooWide(c)
}

// yearText is a text as YEAR: '0' to '69' are 2000 to 2069, but '0000' is zero.
func (h *holder) yearText(c *Ctx, s string) (types.Datum, error) {
	t := strings.TrimSpace(s)
	n, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		if h.mode != HoldLenient {
			return types.Null, sqlerr.New(sqlerr.InvalidTextRepresentation, "Incorrect integer value: '%s' for column '%s'", s, h.column)
		}
		return types.NewInt(0), h.cut(c, 1265)
	}
	if n == 0 && len(t) <= 2 {
		return types.NewInt(2000), nil
	}
	return h.year(c, types.DecimalFromInt64(n))
}

func (h *holder) enum(c *Ctx, d types.Datum) (types.Datum, error) {
	m := h.to.MySQL
	n := 0
	if h.from.Kind == types.Int8 {
		n = int(min(max(d.Int(), 0), math.MaxInt32))
	} else if n = m.Member(d.Str()); n == 0 {
		n, _ = strconv.Atoi(strings.TrimSpace(d.Str()))
	}
	if n < 1 || n > len(m.Members) {
		return types.NewStr(""), h.cut(c, 1265)
	}
	return types.NewStr(m.Members[n-1]), nil
}

func (h *holder) set(c *Ctx, d types.Datum) (types.Datum, error) {
	m := h.to.MySQL
	var bits uint64
	all := uint64(1)<<len(m.Members) - 1
	lost := false
	if h.from.Kind == types.Int8 {
		bits = uint64(d.Int())
	} else if s := d.Str(); s != "" {
		for _, part := range strings.Split(s, ",") {
			if n := m.Member(part); n > 0 {
				bits |= 1 << (n - 1)
			} else {
				lost = true
			}
		}
	}
	if lost || bits&^all != 0 {
		if err := h.cut(c, 1265); err != nil {
			return types.Null, err
		}
	}
	var out []string
	for i, s := range m.Members {
		if bits>>i&1 == 1 {
			out = append(out, s)
		}
	}
	return types.NewStr(strings.Join(out, ",")), nil
}

// MemberNumber is the number that an ENUM's or SET's value stands for: the place of the member, or
// the sum of the bits of the members; 0 for none.
func MemberNumber(m *types.MySQLType, s string) int64 {
	if m.Name == "enum" {
		return int64(m.Member(s))
	}
	var bits uint64
	for _, part := range strings.Split(s, ",") {
		if n := m.Member(part); n > 0 && s != "" {
			bits |= 1 << (n - 1)
		}
	}
	return int64(bits)
}

// MemberFunction gives the number of a member of m.
func MemberFunction(m *types.MySQLType) *plan.Function {
	return NewRowFunction("mysql:member", []types.Type{types.T(types.Text)}, types.T(types.Int8), func(_ *Ctx, a []types.Datum) (types.Datum, error) {
		return types.NewInt(MemberNumber(m, a[0].Str())), nil
	})
}

func (h *holder) json(d types.Datum) (types.Datum, error) {
	s, err := types.CanonicalJSON(d.Str())
	if err != nil && h.mode != HoldStandard {
		e := sqlerr.New(sqlerr.InvalidTextRepresentation, "Invalid JSON text: \"%s\" in value for column '%s'", err, h.column)
		e.Number = 3140
		return types.Null, e
	}
	return types.NewStr(s), err
}

func (h *holder) decimal(c *Ctx, d types.Datum) (types.Datum, error) {
	v := types.DecimalOf(d, h.from)
	if v.IsNaN() || v.IsInf() {
		return types.Null, h.tooWide(c)
	}
	v = v.Round(int(h.to.Scale))
	clip := v
	if m := h.to.MySQL; m != nil && m.Unsigned && v.Sign() < 0 {
		clip = types.DecimalFromInt64(0)
	}
	most, _ := types.ParseDecimal(strings.Repeat("9", int(h.to.Prec-h.to.Scale)) + "." + strings.Repeat("9", int(h.to.Scale)) + "0")
	if h.to.Prec == h.to.Scale {
		most, _ = types.ParseDecimal("0." + strings.Repeat("9", int(h.to.Scale)))
	}
	most = most.Round(int(h.to.Scale))
	if v.Cmp(most) > 0 {
		clip = most
	} else if least := most.Neg(); clip.Cmp(least) < 0 {
		clip = least
	}
	if clip.Cmp(v) != 0 {
		if err := h.tooWide(c); err != nil {
			return types.Null, err
		}
	}
	return clip.Datum(h.to)
}

func (h *holder) float(c *Ctx, d types.Datum) (types.Datum, error) {
	f := d.Float()
	if m := h.to.MySQL; m != nil && m.Unsigned && f < 0 {
		if err := h.tooWide(c); err != nil {
			return types.Null, err
		}
		f = 0
	}
	if h.to.Kind == types.Float4 {
		if math.Abs(f) > math.MaxFloat32 && !math.IsInf(f, 0) {
			if err := h.tooWide(c); err != nil {
				return types.Null, err
			}
			f = math.Copysign(math.MaxFloat32, f)
		}
		f = float64(float32(f))
	}
	return types.NewFloat(f), nil
}

// textBytes are the lengths in bytes of MySQL's texts and blobs; others have none.
var textBytes = map[string]int{"tinytext": 255, "text": 65535, "mediumtext": 1<<24 - 1, "tinyblob": 255, "blob": 65535, "mediumblob": 1<<24 - 1}

func (h *holder) text(c *Ctx, d types.Datum) (types.Datum, error) {
	s := d.Str()
	m := h.to.MySQL
	if m != nil && m.Name == "char" {
		s = strings.TrimRight(s, " ")
	}
	if h.to.Kind == types.Varchar && h.to.Prec > 0 && utf8.RuneCountInString(s) > int(h.to.Prec) {
		cut, err := types.FitLength(s, h.to, true)
		if err != nil {
			return types.Null, err
		}
		if strings.TrimRight(s[len(cut):], " ") != "" {
			if err := h.cut(c, 1406); err != nil {
				return types.Null, err
			}
		}
		s = cut
	}
	if m != nil {
		if most := textBytes[m.Name]; most > 0 && len(s) > most {
			if err := h.cut(c, 1406); err != nil {
				return types.Null, err
			}
			for most > 0 && !utf8.RuneStart(s[most]) {
				most--
			}
			s = s[:most]
		}
	}
	return types.NewStr(s), nil
}

func (h *holder) bytes(c *Ctx, d types.Datum) (types.Datum, error) {
	m := h.to.MySQL
	if m == nil {
		return d, nil
	}
	s, most := d.Str(), textBytes[m.Name]
	if m.Width > 0 {
		most = m.Width
	}
	if most > 0 && len(s) > most {
		if err := h.cut(c, 1406); err != nil {
			return types.Null, err
		}
		s = s[:most]
	}
	if m.Name == "binary" && len(s) < m.Width {
		s += strings.Repeat("\x00", m.Width-len(s))
	}
	return types.NewStr(s), nil
}
