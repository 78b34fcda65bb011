package eval

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// category is pg_type.typcategory: types of one category can stand in for each other when an
// overload is chosen.
func category(t types.Type) byte {
	switch t.Kind {
	case types.Array, types.Int2Vector, types.OidVector:
		return 'A'
	case types.Bool:
		return 'B'
	case types.Date, types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ,
		types.TimestampNS, types.TimestampTZNS:
		return 'D'
	case types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Oid,
		types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator:
		return 'N'
	case types.Text, types.Varchar, types.Bpchar, types.Name:
		return 'S'
	case types.Char:
		return 'Z'
	case types.Interval:
		return 'T'
	case types.Unknown:
		return 'X'
	case types.Struct, types.Void, types.Any, types.AnyElement, types.AnyArray, types.AnyNonArray:
		return 'P'
	}
	return 'U'
}

// preferred is pg_type.typispreferred: which type of a category wins.
func preferred(t types.Type) bool {
	switch t.Kind {
	case types.Bool, types.Float8, types.Oid, types.Text, types.TimestampTZ, types.Interval:
		return true
	}
	return false
}

// implicitTo lists pg_cast's implicit casts by source. The nanosecond timestamps are Iceberg's:
// they may stand for the microsecond types, so that every function of those serves them.
var implicitTo = map[types.Kind][]types.Kind{
	types.Int2: {types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Oid,
		types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator},
	types.Int4: {types.Int8, types.Float4, types.Float8, types.Numeric, types.Oid,
		types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator},
	types.Int8: {types.Float4, types.Float8, types.Numeric, types.Oid,
		types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regoper, types.Regrole, types.Regprocedure, types.Regoperator},
	types.Float4:  {types.Float8},
	types.Numeric: {types.Float4, types.Float8},
	types.Oid: {types.Regclass, types.Regtype, types.Regproc, types.Regnamespace, types.Regoper,
		types.Regrole, types.Regprocedure, types.Regoperator},
	types.Regclass:      {types.Oid},
	types.Regtype:       {types.Oid},
	types.Regproc:       {types.Oid, types.Regprocedure},
	types.Regnamespace:  {types.Oid},
	types.Regoper:       {types.Oid, types.Regoperator},
	types.Regrole:       {types.Oid},
	types.Regprocedure:  {types.Oid, types.Regproc},
	types.Regoperator:   {types.Oid, types.Regoper},
	types.Text:          {types.Varchar, types.Bpchar, types.Name, types.Regclass},
	types.Varchar:       {types.Text, types.Bpchar, types.Name, types.Regclass},
	types.Bpchar:        {types.Text, types.Varchar, types.Name},
	types.Name:          {types.Text},
	types.Char:          {types.Text},
	types.Date:          {types.Timestamp, types.TimestampTZ},
	types.Time:          {types.TimeTZ, types.Interval},
	types.Timestamp:     {types.TimestampTZ},
	types.TimestampNS:   {types.Timestamp, types.TimestampTZ, types.TimestampTZNS},
	types.TimestampTZNS: {types.TimestampTZ},
	types.JSONB:         {types.Variant},
	types.Variant:       {types.JSONB},
}

// implicitly tells whether an expression of type from may stand where to is wanted without
// anyone asking for a cast. Polymorphic targets take part only in shape; polymorph checks them.
func implicitly(from, to types.Type) bool {
	switch {
	case from.Kind == types.Unknown || from.Kind == types.Invalid || to.Kind == types.Any:
		return true
	case to.Kind == types.AnyElement:
		return true
	case to.Kind == types.AnyArray:
		return from.Kind == types.Array || from.Kind == types.Int2Vector || from.Kind == types.OidVector
	case to.Kind == types.AnyNonArray:
		return from.Kind != types.Array && from.Kind != types.Int2Vector && from.Kind != types.OidVector
	case sameForCall(from, to):
		return true
	case from.Kind == types.Array && to.Kind == types.Array:
		return implicitly(from.Elem(), to.Elem())
	}
	for _, k := range implicitTo[from.Kind] {
		if k == to.Kind {
			return true
		}
	}
	return false
}

// sameForCall tells whether an argument of type from is already of the declared type to: a
// declared record, unlike a column's struct, has no fields to compare.
func sameForCall(from, to types.Type) bool {
	if to.Kind == types.Struct && len(to.Fields()) == 0 {
		return from.Kind == types.Struct
	}
	if to.Kind == types.Map && to.Key().Kind == types.Invalid {
		return from.Kind == types.Map
	}
	return from.Same(to)
}

// asNumeric is the exact numeric type that holds every value of an integer type.
func asNumeric(t types.Type) types.Type {
	switch t.Kind {
	case types.Int2:
		return types.FixedNumeric(5, 0)
	case types.Int4:
		return types.FixedNumeric(10, 0)
	case types.Int8:
		return types.FixedNumeric(19, 0)
	}
	return t
}

// CommonType is PostgreSQL's select_common_type: the type that CASE arms, UNION columns, array
// elements and the like all become.
func CommonType(ts []types.Type) (types.Type, error) { return CommonTypeIn("", ts) }

// CommonTypeIn is CommonType with the construct ("CASE", "UNION", "ARRAY") for the message.
func CommonTypeIn(construct string, ts []types.Type) (types.Type, error) {
	p := TUnknown
	for _, t := range ts {
		if t.Kind == types.Invalid {
			return t, nil // already reported
		}
		switch {
		case t.Kind == types.Unknown || p.Kind != types.Unknown && p.Same(t):
		case p.Kind == types.Unknown:
			p = t
		case category(p) != category(t):
			return types.Type{}, cannotMatch(construct, p, t)
		case t.Kind == types.Variant && p.Kind == types.JSONB:
			p = t // a variant holds any jsonb, and not the other way
		case isNanos(t) || isNanos(p):
			// Not PostgreSQL's: the finer of two timestamps holds both.
			p = finerTimestamp(p, t)
		case !preferred(p) && implicitly(p, t) && !implicitly(t, p):
			p = t
		}
	}
	if p.Kind == types.Unknown {
		return TText, nil
	}
	for _, t := range ts {
		if t.Kind != types.Unknown && !implicitly(t, p) && !nanosFrom(t, p) {
			return types.Type{}, cannotMatch(construct, t, p)
		}
	}
	return commonParameters(p, ts), nil
}

func cannotMatch(construct string, a, b types.Type) error {
	if construct != "" {
		construct += " "
	}
	return sqlerr.New(sqlerr.DatatypeMismatch, "%stypes %s and %s cannot be matched", construct, spell(a), spell(b))
}

func isNanos(t types.Type) bool {
	return t.Kind == types.TimestampNS || t.Kind == types.TimestampTZNS
}

func nanosFrom(t, p types.Type) bool { return isNanos(p) && category(t) == 'D' }

func finerTimestamp(a, b types.Type) types.Type {
	for _, t := range []types.Type{a, b} {
		if t.Kind == types.TimestampTZ || t.Kind == types.TimestampTZNS {
			return TTSTZNS
		}
	}
	return TTimestampNS
}

// commonParameters keeps the precision, scale or length that all of ts agree on, at every level.
func commonParameters(p types.Type, ts []types.Type) types.Type {
	switch p.Kind {
	case types.Numeric:
		return commonNumeric(ts)
	case types.Array:
		return types.ArrayOf(commonParameters(p.Elem(), members(ts, types.Type.Elem)))
	case types.Map:
		return types.MapOf(commonParameters(p.Key(), members(ts, types.Type.Key)), commonParameters(p.Elem(), members(ts, types.Type.Elem)))
	case types.Struct:
		fields := append([]types.Field(nil), p.Fields()...)
		for i := range fields {
			fields[i].Type = commonParameters(fields[i].Type, members(ts, func(t types.Type) types.Type { return t.Fields()[i].Type }))
		}
		return types.StructOf(fields...)
	}
	var first types.Type
	for _, t := range ts {
		if t.Kind == types.Unknown {
			return types.T(p.Kind) // a literal is not cut to another's length
		}
		if first.Kind == types.Invalid {
			first = t
		}
		if t.Kind != p.Kind || !t.Equal(first) || t.MySQL != first.MySQL {
			return types.T(p.Kind)
		}
	}
	return first
}

// members are the parts of those of ts that have a type, taken by part.
func members(ts []types.Type, part func(types.Type) types.Type) []types.Type {
	out := make([]types.Type, 0, len(ts))
	for _, t := range ts {
		if t.Kind == types.Array || t.Kind == types.Map || t.Kind == types.Struct {
			out = append(out, part(t))
		} else if t.Kind == types.Int2Vector || t.Kind == types.OidVector {
			out = append(out, vec.ListChild(t))
		}
	}
	return out
}

// commonNumeric: values of one scale stay Fixed; others must keep each its own scale, because
// CASE … THEN 1.50 ELSE 0 END shows 0 and not 0.00.
func commonNumeric(ts []types.Type) types.Type {
	var c types.Type
	for _, t := range ts {
		if t.Kind == types.Unknown {
			return TNumeric
		}
		t = asNumeric(t)
		switch {
		case !t.Fixed:
			return TNumeric
		case c.Kind == types.Invalid:
			c = t
		case c.Scale != t.Scale:
			return TNumeric
		default:
			c.Declared = c.Declared && t.Declared && c.Prec == t.Prec
			c.Prec = max(c.Prec, t.Prec)
		}
	}
	return c
}

// spell is how messages name a type: without parameters.
func spell(t types.Type) string {
	switch t.Kind {
	case types.Array:
		return spell(t.Elem()) + "[]"
	case types.Struct:
		return "record"
	case types.Map:
		return t.String()
	}
	return types.T(t.Kind).String()
}

// SpellAll spells argument types as PostgreSQL's messages do: "integer, text".
func SpellAll(ts []types.Type) string {
	s := make([]string, len(ts))
	for i, t := range ts {
		s[i] = spell(t)
	}
	return strings.Join(s, ", ")
}
