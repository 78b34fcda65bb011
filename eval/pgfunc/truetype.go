package pgfunc

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// The functions by which information_schema.columns finds a column's precision. They are
// PostgreSQL's own (information_schema.sql), and Excel's driver calls them with whole rows of
// pg_attribute and pg_type.
func registerTruetype() {
	i4 := eval.Sig(types.Oid, types.Int4)
	eval.Register(
		eval.Immutable("_pg_truetypid", eval.Sig(types.Struct, types.Struct), types.T(types.Oid), typed(trueType("atttypid", "typbasetype"))),
		eval.Immutable("_pg_truetypmod", eval.Sig(types.Struct, types.Struct), eval.TInt4, typed(trueType("atttypmod", "typtypmod"))),
		eval.Immutable("_pg_char_max_length", i4, eval.TInt4, ofType(func(oid uint32, mod int64) (int64, bool) {
			return mod - 4, mod != -1 && (oid == 1042 || oid == 1043)
		})),
		eval.Immutable("_pg_char_octet_length", i4, eval.TInt4, ofType(func(oid uint32, mod int64) (int64, bool) {
			switch {
			case oid != 25 && oid != 1042 && oid != 1043:
				return 0, false
			case mod == -1:
				return 1 << 30, true
			}
			return 4 * (mod - 4), true // UTF-8 has up to four bytes a character
		})),
		eval.Immutable("_pg_numeric_precision", i4, eval.TInt4, ofType(func(oid uint32, mod int64) (int64, bool) {
			switch oid {
			case 21:
				return 16, true
			case 23:
				return 32, true
			case 20:
				return 64, true
			case 700:
				return 24, true
			case 701:
				return 53, true
			}
			return (mod - 4) >> 16 & 65535, oid == 1700 && mod != -1
		})),
		eval.Immutable("_pg_numeric_precision_radix", i4, eval.TInt4, ofType(func(oid uint32, _ int64) (int64, bool) {
			switch oid {
			case 21, 23, 20, 700, 701:
				return 2, true
			}
			return 10, oid == 1700
		})),
		eval.Immutable("_pg_numeric_scale", i4, eval.TInt4, ofType(func(oid uint32, mod int64) (int64, bool) {
			switch oid {
			case 21, 23, 20:
				return 0, true
			}
			return (mod - 4) & 65535, oid == 1700 && mod != -1
		})),
		eval.Immutable("_pg_datetime_precision", i4, eval.TInt4, ofType(func(oid uint32, mod int64) (int64, bool) {
			switch oid {
			case 1082:
				return 0, true
			case 1083, 1114, 1184, 1266:
				if mod < 0 {
					return 6, true
				}
				return mod, true
			case 1186:
				if mod < 0 || mod&0xFFFF == 0xFFFF {
					return 6, true
				}
				return mod & 0xFFFF, true
			}
			return 0, false
		})),
	)
}

// ofType wraps a function of a type's OID and modifier.
func ofType(f func(oid uint32, mod int64) (int64, bool)) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		if v, ok := f(uint32(a[0].Int()), a[1].Int()); ok {
			return types.NewInt(v), nil
		}
		return types.Null, nil
	}
}

// trueType gives a column's own value of pg_attribute's row, or its domain's of pg_type's row.
func trueType(own, base string) func(*eval.Ctx, []types.Datum, []types.Type, types.Type) (types.Datum, error) {
	return func(_ *eval.Ctx, a []types.Datum, t []types.Type, _ types.Type) (types.Datum, error) {
		member := func(i int, name string) (types.Datum, error) {
			for j, f := range t[i].Fields() {
				if f.Name == name {
					return a[i].List()[j], nil
				}
			}
			return types.Null, sqlerr.New(sqlerr.UndefinedFunction, "the row has no member %s", name)
		}
		kind, err := member(1, "typtype")
		if err != nil {
			return types.Null, err
		}
		if !kind.IsNull() && kind.Str() == "d" {
			return member(1, base)
		}
		return member(0, own)
	}
}
