package types

import "math"

// Compare orders two values of type t that are not NULL, as PostgreSQL's btree of the type
// does: -1, 0 or 1. NaN is above all numbers and equals itself, -0 equals 0, text compares by
// bytes, intervals by their length, records and arrays element by element with NULL last.
func Compare(a, b Datum, t Type) int {
	switch t.Kind {
	case Bool:
		return cmpBool(a.Bool(), b.Bool())
	case Float4, Float8:
		return CompareFloats(a.Float(), b.Float())
	case Numeric:
		if a.form == b.form {
			switch a.form {
			case FormI64:
				return cmpInt64(a.Int(), b.Int())
			case FormW128:
				return a.W128().Cmp(b.W128())
			}
		}
		return sign(DecimalOf(a, t).Cmp(DecimalOf(b, t)))
	case Interval:
		return IntervalOf(a.W128()).Cmp(IntervalOf(b.W128()))
	case UUID:
		return CompareUUIDs(a.W128(), b.W128())
	case TimeTZ:
		return CompareTimeTZs(a.W128(), b.W128())
	case Bpchar:
		return cmpString(trimRightSpaces(a.str), trimRightSpaces(b.str))
	case Variant:
		if a.str == b.str {
			return 0
		}
		return Compare(NewStr(VariantJSON(a.str)), NewStr(VariantJSON(b.str)), T(JSONB))
	case JSONB:
		if a.str == b.str {
			return 0
		}
		x, err1 := ParseJSON(a.str)
		y, err2 := ParseJSON(b.str)
		if err1 != nil || err2 != nil {
			return cmpString(a.str, b.str)
		}
		return CompareJSON(&x, &y)
	case Array, Int2Vector, OidVector:
		return compareLists(a.list, b.list, func(int) Type { return elemOf(t) })
	case Map:
		entry := StructOf(Field{"key", t.Key()}, Field{"value", t.Elem()})
		return compareLists(a.list, b.list, func(int) Type { return entry })
	case Struct:
		f := t.Fields()
		return compareLists(a.list, b.list, func(i int) Type { return f[i].Type })
	}
	if a.form == FormStr {
		return cmpString(a.str, b.str)
	}
	return cmpInt64(a.Int(), b.Int())
}

func compareLists(a, b []Datum, elem func(int) Type) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		an, bn := a[i].IsNull(), b[i].IsNull()
		if an || bn {
			if an != bn {
				return cmpBool(an, bn)
			}
			continue
		}
		if c := Compare(a[i], b[i], elem(i)); c != 0 {
			return c
		}
	}
	return cmpInt64(int64(len(a)), int64(len(b)))
}

func sign(c int) int { return cmpInt64(int64(c), 0) }

// CompareFloats is the order of floats: NaN largest and equal to itself, -0 = 0.
func CompareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return cmpBool(math.IsNaN(a), math.IsNaN(b))
}

// CompareUUIDs orders by bytes.
func CompareUUIDs(a, b Int128) int {
	if a.Hi != b.Hi {
		return cmpBool(uint64(a.Hi) > uint64(b.Hi), uint64(b.Hi) > uint64(a.Hi))
	}
	return cmpBool(a.Lo > b.Lo, b.Lo > a.Lo)
}

// CompareTimeTZs orders by the instant, then by the zone.
func CompareTimeTZs(a, b Int128) int {
	x := int64(a.Lo) + a.Hi*MicrosPerSecond
	y := int64(b.Lo) + b.Hi*MicrosPerSecond
	if x != y {
		return cmpInt64(x, y)
	}
	return cmpInt64(a.Hi, b.Hi)
}

// trimRightSpaces drops what does not count in a char(n).
func trimRightSpaces(s string) string {
	for s != "" && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// LooksDiffer tells whether values of t may be equal and yet look different: 2 and 2.0, 1 day and
// 24:00:00, 0 and -0.
func LooksDiffer(t Type) bool {
	switch t.Kind {
	case Numeric:
		return !t.Fixed
	case Float4, Float8, Interval, Bpchar, JSONB, Variant:
		return true
	case Array:
		return LooksDiffer(t.Elem())
	case Map:
		return LooksDiffer(t.Key()) || LooksDiffer(t.Elem())
	case Struct:
		for _, f := range t.Fields() {
			if LooksDiffer(f.Type) {
				return true
			}
		}
	}
	return false
}
