package eval

// This file turns values of declared types into those that are stored for them, and back, where the
// two are not the same in memory: jsonb is text that only our own writers bring into its canonical
// form; a numeric without precision is a decimal of a fixed scale; interval and timetz are text.

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Decodes tells whether values of t are made of stored ones, at any depth.
func Decodes(t types.Type) bool {
	return anyScalar(t, func(t types.Type) bool { return t.Kind == types.JSONB || encodes(t) })
}

// Encodes tells whether values of t become others to be stored, at any depth.
func Encodes(t types.Type) bool { return anyScalar(t, encodes) }

func encodes(t types.Type) bool {
	return t.Kind == types.Interval || t.Kind == types.TimeTZ || t.Kind == types.Numeric && !t.Fixed
}

func anyScalar(t types.Type, is func(types.Type) bool) bool {
	switch t.Kind {
	case types.Array:
		return anyScalar(t.Elem(), is)
	case types.Map:
		return anyScalar(t.Key(), is) || anyScalar(t.Elem(), is)
	case types.Struct:
		for _, f := range t.Fields() {
			if anyScalar(f.Type, is) {
				return true
			}
		}
		return false
	}
	return is(t)
}

// within applies f to the scalars of a value whose type is t and, on the other side, u.
func within(d types.Datum, t, u types.Type, f func(d types.Datum, t, u types.Type) (types.Datum, error)) (types.Datum, error) {
	if d.IsNull() {
		return d, nil
	}
	each := func(list []types.Datum, t, u func(i int) types.Type) ([]types.Datum, error) {
		out := make([]types.Datum, len(list))
		for i := range list {
			var err error
			if out[i], err = within(list[i], t(i), u(i), f); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	same := func(t types.Type) func(int) types.Type { return func(int) types.Type { return t } }
	switch t.Kind {
	case types.Array:
		list, err := each(d.List(), same(t.Elem()), same(u.Elem()))
		return types.NewList(list), err
	case types.Map:
		pair := func(t types.Type) types.Type {
			return types.StructOf(types.Field{Name: "key", Type: t.Key()}, types.Field{Name: "value", Type: t.Elem()})
		}
		list, err := each(d.List(), same(pair(t)), same(pair(u)))
		return types.NewList(list), err
	case types.Struct:
		list, err := each(d.List(), func(i int) types.Type { return t.Fields()[i].Type }, func(i int) types.Type { return u.Fields()[i].Type })
		return types.NewStruct(list), err
	}
	return f(d, t, u)
}

var storedOptions = &types.TextOptions{DateStyle: "ISO, MDY", IntervalStyle: "postgres"}

// Decode is a value of the type stored as one of t. What another engine wrote into a jsonb and is
// none stays as it is.
func Decode(d types.Datum, t, stored types.Type) (types.Datum, error) {
	return within(d, t, stored, func(d types.Datum, t, stored types.Type) (types.Datum, error) {
		switch {
		case t.Kind == types.JSONB && stored.Kind == types.Text:
			if s, err := types.CanonicalJSON(d.Str()); err == nil && s != d.Str() {
				return types.NewStr(s), nil
			}
		case t.Kind == types.Numeric && !t.Fixed && stored.Fixed:
			return types.DecimalOf(d, stored).TrimScale().Datum(t)
		case encodes(t) && stored.Kind == types.Text:
			return types.Parse(d.Str(), t, storedOptions)
		}
		return d, nil
	})
}

// Encode is a value of type t as it is stored; column names it in errors.
func Encode(d types.Datum, t, stored types.Type, column string) (types.Datum, error) {
	return within(d, t, stored, func(d types.Datum, t, stored types.Type) (types.Datum, error) {
		switch {
		case t.Kind == types.Numeric && !t.Fixed && stored.Fixed:
			return storeDecimal(types.DecimalOf(d, t), stored, column)
		case encodes(t) && stored.Kind == types.Text:
			return types.NewStr(types.Format(d, t, storedOptions)), nil
		}
		return d, nil
	})
}

// storeDecimal is v as a decimal of a fixed scale, which it must fit without being rounded.
func storeDecimal(v types.Decimal, stored types.Type, column string) (types.Datum, error) {
	if !v.IsFinite() {
		return types.Null, sqlerr.New(sqlerr.NumericOutOfRange, "column \"%s\" cannot hold %s: a table has no such decimal", column, v)
	}
	if v.TrimScale().Scale() > int(stored.Scale) {
		return types.Null, sqlerr.New(sqlerr.NumericOutOfRange, "column \"%s\" cannot hold %s: of a numeric without precision it keeps %d digits after the point", column, v, stored.Scale).
			WithHint("Round the value, or declare the column numeric(precision, scale).")
	}
	d, err := v.Datum(stored)
	if err != nil {
		return types.Null, sqlerr.New(sqlerr.NumericOutOfRange, "column \"%s\" cannot hold %s: of a numeric without precision it keeps %d digits before the point", column, v, stored.Prec-stored.Scale)
	}
	return d, nil
}

// EncodeExpr is x, a value of type t, as it is stored.
func EncodeExpr(x plan.Expr, t, stored types.Type, column string) plan.Expr {
	if !Encodes(t) {
		return x
	}
	f := NewRowFunction("stored", []types.Type{t}, stored, func(_ *Ctx, args []types.Datum) (types.Datum, error) {
		return Encode(args[0], t, stored, column)
	})
	return &plan.Call{Func: f, Args: []plan.Expr{x}, Typ: stored, Pos: -1}
}
