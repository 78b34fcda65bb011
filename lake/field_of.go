package lake

import (
	"fmt"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// FieldOf makes a field of a SQL type, without ids: the inverse of Field.Type. Types that
// Iceberg lacks are stored as the nearest that holds all their values (smallint → int, varchar →
// string, json → string), and kept beside it as declared; others are refused (0A000).
func FieldOf(name string, t types.Type, required bool) (Field, error) {
	f := Field{Name: name, Type: t, Required: required}
	switch t.Kind {
	case types.Array:
		e, err := FieldOf("element", t.Elem(), false)
		if err != nil {
			return f, err
		}
		f.Iceberg, f.Children, f.Type = "list", []Field{e}, types.ArrayOf(e.Type)
		return f, nil
	case types.Map:
		k, err := FieldOf("key", t.Key(), true)
		if err != nil {
			return f, err
		}
		v, err := FieldOf("value", t.Elem(), false)
		if err != nil {
			return f, err
		}
		f.Iceberg, f.Children, f.Type = "map", []Field{k, v}, types.MapOf(k.Type, v.Type)
		return f, nil
	case types.Struct:
		f.Iceberg = "struct"
		var members []types.Field
		for _, m := range t.Fields() {
			c, err := FieldOf(m.Name, m.Type, false)
			if err != nil {
				return f, err
			}
			f.Children = append(f.Children, c)
			members = append(members, types.Field{Name: c.Name, Type: c.Type})
		}
		f.Type = types.StructOf(members...)
		return f, nil
	}
	ice, hint := icebergOf(t)
	if hint != "" {
		return f, sqlerr.New(sqlerr.FeatureNotSupported, "column %q: type %s cannot be stored", name, t).WithHint("%s", hint)
	}
	f.Iceberg, f.Type = ice, TypeOf(ice)
	if _, ok := declaredOf(t, ice); ok {
		f.Type = t
	}
	return f, nil
}

// DefaultDecimal is what a numeric without precision is stored as, where nothing says what its
// values need.
const DefaultDecimal = "decimal(38,20)"

// storedAs tells whether values of t are stored as the Iceberg type.
func storedAs(t types.Type, iceberg string) bool {
	if t.Kind == types.Numeric && !t.Fixed {
		_, _, ok := decimalParams(iceberg)
		return ok
	}
	ice, hint := icebergOf(t)
	return hint == "" && ice == iceberg
}

// icebergOf spells a scalar type; where it cannot, hint says what to do.
func icebergOf(t types.Type) (spelled, hint string) {
	switch t.Kind {
	case types.Bool:
		return "boolean", ""
	case types.Int2, types.Int4:
		return "int", ""
	case types.Int8:
		return "long", ""
	case types.Float4:
		return "float", ""
	case types.Float8:
		return "double", ""
	case types.Numeric:
		switch {
		case !t.Fixed:
			return DefaultDecimal, ""
		case t.Prec > 38 && !t.Declared && t.Scale <= 38:
			return fmt.Sprintf("decimal(38,%d)", t.Scale), "" // a computed column's bound is an upper one
		case t.Prec > 38 || t.Scale > t.Prec:
			return "", "A decimal has at most 38 digits."
		}
		return fmt.Sprintf("decimal(%d,%d)", t.Prec, t.Scale), ""
	case types.Text, types.Varchar, types.Bpchar, types.Name, types.Char, types.Unknown, types.JSON, types.JSONB,
		types.Interval, types.TimeTZ:
		return "string", ""
	case types.Bytea:
		if t.Prec > 0 {
			return fmt.Sprintf("fixed[%d]", t.Prec), ""
		}
		return "binary", ""
	case types.Date:
		return "date", ""
	case types.Time:
		return "time", ""
	case types.Timestamp:
		return "timestamp", ""
	case types.TimestampTZ:
		return "timestamptz", ""
	case types.TimestampNS:
		return "timestamp_ns", ""
	case types.TimestampTZNS:
		return "timestamptz_ns", ""
	case types.Variant:
		return "variant", ""
	case types.UUID:
		return "uuid", ""
	case types.Oid:
		return "long", ""
	}
	return "", "Cast it to text."
}
