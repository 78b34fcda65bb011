package engine

import (
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// MySQLValue is a parameter's value as a MySQL client or the Go driver sends it. Kind says which
// member counts: 'n' NULL, 'i' Int, 'u' Text of an integer beyond int64, 'f' Float, 'd' Text of a
// decimal, 's' Text, 'b' Text of bytes, 't' Text of a date or instant, 'T' Text of a time.
type MySQLValue struct {
	Kind  byte
	Int   int64
	Float float64
	Text  string
	Zoned string // an instant with its zone, for what is compared with instants; may be empty
}

// MySQLArguments gives values as the parameters of st, which was prepared without them. In MySQL a
// parameter has its value's type: n + ? is a sum of integers for an integer, of decimals for a
// decimal. Where a value is not of the type that the parameter's place suggests and would not mean
// the same as one, the statement is bound anew with the value's own. given is what the statement
// was bound with; it is written where that changes.
func (s *Session) MySQLArguments(ctx context.Context, p Parsed, st *Stmt, given *[]types.Type, values []MySQLValue) (*Stmt, []types.Datum, error) {
	o := s.TextOptions()
	args := make([]types.Datum, len(values))
	with := make([]types.Type, len(values))
	again := false
	for i := range values {
		v := &values[i]
		with[i] = types.T(types.Unknown)
		own := i < len(*given) && (*given)[i].Kind != types.Unknown
		d, ok := v.As(st.Params()[i], o)
		if own && v.Kind != 'n' {
			// The type is that of an earlier execution's value.
			ok = ok && v.Natural().Equal((*given)[i])
		}
		if args[i] = d; !ok {
			with[i], again = v.Natural(), true
		} else if own {
			with[i] = (*given)[i]
		}
	}
	if !again {
		return st, args, nil
	}
	// One parameter's type may give another one its own, which that one's value does not fit.
	for {
		bound, err := s.Prepare(ctx, p, with)
		if err != nil {
			return nil, nil, err
		}
		again = false
		for i, t := range bound.Params() {
			var ok bool
			if args[i], ok = values[i].As(t, o); ok {
				continue
			}
			if own := values[i].Natural(); !own.Equal(with[i]) {
				with[i], again = own, true
				continue
			}
			if args[i], err = types.Parse(values[i].Literal(), t, o); err != nil {
				return nil, nil, err
			}
		}
		if !again {
			*given = with
			return bound, args, nil
		}
		with = slices.Clone(with)
	}
}

// Natural is the type that a value has by itself.
func (v *MySQLValue) Natural() types.Type {
	switch v.Kind {
	case 'i':
		return types.T(types.Int8)
	case 'u':
		return types.FixedNumeric(20, 0)
	case 'd':
		return types.T(types.Numeric)
	case 'f':
		return types.T(types.Float8)
	case 'b':
		return types.T(types.Bytea)
	case 't':
		if len(v.Text) == 10 {
			return types.T(types.Date)
		}
		return types.T(types.Timestamp)
	case 'T':
		// One beyond a day, or below zero, is a length of time.
		if h, _, _ := strings.Cut(v.Text, ":"); h > "23" || len(h) != 2 {
			return types.T(types.Interval)
		}
		return types.T(types.Time)
	}
	return types.T(types.Text)
}

// As gives the value as t if nothing of it is lost by that; else ok is false.
func (v *MySQLValue) As(t types.Type, o *types.TextOptions) (d types.Datum, ok bool) {
	parse := func(s string) (types.Datum, bool) {
		d, err := types.Parse(s, t, o)
		return d, err == nil
	}
	isText := t.Kind == types.Text || t.Kind == types.Varchar || t.Kind == types.Unknown
	switch v.Kind {
	case 'n':
		return types.Null, true
	case 'i':
		switch t.Kind {
		case types.Bool:
			return types.NewBool(v.Int != 0), v.Int == 0 || v.Int == 1
		case types.Int2, types.Int4, types.Int8, types.Numeric:
			return parse(strconv.FormatInt(v.Int, 10))
		}
		// Not as a double: an integer would lose digits in what it is a part of.
	case 'u', 'd':
		if t.Kind == types.Numeric && !t.Fixed || t.Kind == types.Numeric && v.Kind == 'u' {
			return parse(v.Text)
		}
	case 'f':
		switch t.Kind {
		case types.Float8, types.Float4:
			return types.NewFloat(v.Float), t.Kind == types.Float8 || float64(float32(v.Float)) == v.Float
		case types.Int2, types.Int4, types.Int8:
			// JavaScript has no other numbers.
			if v.Float == math.Trunc(v.Float) && math.Abs(v.Float) <= 1<<53 {
				return parse(strconv.FormatFloat(v.Float, 'f', 0, 64))
			}
		case types.Bool:
			return types.NewBool(v.Float != 0), v.Float == 0 || v.Float == 1
		case types.Numeric:
			// Any other makes a double of what it is a part of.
			if !t.Fixed && v.Float == math.Trunc(v.Float) && math.Abs(v.Float) <= 1<<53 {
				return parse(strconv.FormatFloat(v.Float, 'f', -1, 64))
			}
		}
	case 't', 'T':
		switch t.Kind {
		case types.TimestampTZ, types.TimestampTZNS:
			if v.Zoned != "" {
				return parse(v.Zoned)
			}
			return first(parse(v.Text))(v.Kind == 't')
		case types.Date:
			return first(parse(v.Text))(len(v.Text) == 10)
		case types.Time, types.Interval:
			return first(parse(v.Text))(v.Kind == 'T')
		case types.Timestamp, types.TimestampNS:
			return first(parse(v.Text))(v.Kind == 't')
		}
	case 's':
		if isText {
			return parse(v.Text)
		}
		switch t.Kind {
		case types.Bytea:
			return types.NewStr(v.Text), true
		case types.Bool:
			if v.Text == "1" || v.Text == "0" {
				return types.NewBool(v.Text == "1"), true
			}
			return types.Null, false
		case types.Numeric:
			// A literal's scale may exceed the column's: comparing must not round it.
			if t.Fixed || !plainNumber(v.Text) {
				return types.Null, false
			}
		case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8:
			if !plainNumber(v.Text) {
				return types.Null, false
			}
		case types.Date, types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS:
			if !isoDate.MatchString(v.Text) {
				return types.Null, false
			}
		case types.Time, types.TimeTZ, types.Interval:
			return types.Null, false
		}
		return parse(v.Text)
	case 'b':
		if isText || t.Kind == types.Bytea || t.Kind == types.JSON || t.Kind == types.JSONB || t.Kind == types.Variant {
			if t.Kind == types.Bytea {
				return types.NewStr(v.Text), true
			}
			return parse(v.Text) // refuses what is not UTF-8
		}
	}
	return types.Null, false
}

func first(d types.Datum, ok bool) func(bool) (types.Datum, bool) {
	return func(and bool) (types.Datum, bool) { return d, ok && and }
}

// Literal is the value as a constant's text.
func (v *MySQLValue) Literal() string {
	switch v.Kind {
	case 'i':
		return strconv.FormatInt(v.Int, 10)
	case 'f':
		return strconv.FormatFloat(v.Float, 'g', -1, 64)
	}
	return v.Text
}

// isoDate finds the dates and instants that MySQL and PostgreSQL read alike.
var isoDate = regexp.MustCompile(`^\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?$`)

// plainNumber tells whether both systems read s as the same number.
func plainNumber(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == "" || numeral.MatchString(s)
}

var numeral = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?$`)
