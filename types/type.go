// Package types answers: what kinds of values exist in SQL, and how do single values behave?
//
// It holds the SQL types (Type), single values (Datum) with their total order, text input and
// output as PostgreSQL has them, and exact decimals, dates, intervals. It refuses to know of
// columns in bulk (vec), of functions (eval) and of Iceberg (lake).
package types

import (
	"fmt"
	"strings"
)

// Kind is the family of a Type.
type Kind uint8

// The kinds. The zero Kind is Invalid: the type of an expression that already failed to bind.
const (
	Invalid Kind = iota
	Unknown      // an untyped literal, NULL or parameter whose type is not inferred yet
	Void
	Bool
	Int2
	Int4
	Int8
	Float4
	Float8
	Numeric
	Text
	Varchar
	Bpchar
	Name
	Char // PostgreSQL's "char": one byte
	Bytea
	Date
	Time   // µs since midnight
	TimeTZ // W128: Lo = µs since midnight, Hi = seconds west of UTC
	Timestamp
	TimestampTZ
	TimestampNS   // Iceberg timestamp_ns: ns since the epoch, µs on the wire
	TimestampTZNS // Iceberg timestamptz_ns
	Interval
	UUID
	JSON
	JSONB
	JSONPath // a SQL/JSON path, as the text that its output function gives
	Variant  // Iceberg variant: metadata and value in binary; jsonb on the wire
	Array
	Struct // Iceberg struct, PostgreSQL record; jsonb on the wire
	Map    // Iceberg map; jsonb on the wire
	Oid
	Xid
	Regclass
	Regtype
	Regproc
	Regnamespace
	Regoper
	Regrole
	Regprocedure
	Regoperator
	Int2Vector
	OidVector
	Any // pseudo-types: only in function signatures
	AnyElement
	AnyArray
	AnyNonArray
	numKinds
)

// Field is a member of a Struct type, or a column of a table or result.
type Field struct {
	Name string
	Type Type
}

// Type is a SQL type. It is a small value: copy it. Compare with Equal, not ==.
type Type struct {
	Kind Kind
	// Prec and Scale mean, for Numeric with Fixed set, decimal(Prec, Scale): every value has
	// exactly Scale digits after the point. Prec may exceed 38 for computed columns and is an
	// upper bound. Without Fixed, a Numeric's scale is each value's own.
	// For Varchar, Bpchar: Prec is the length limit in characters (0: none).
	// For Bytea: Prec is the length of an Iceberg fixed (0: binary).
	// For Text: Prec names the type that a catalog's column has outside (TextAs; 0: text).
	// For Time, TimeTZ, Timestamp, TimestampTZ, Interval: one more than the declared digits after
	// the second, 1 to 7; 0: none were declared, so that they are µs. Unused for the NS kinds.
	Prec, Scale int32
	Fixed       bool
	// Declared is true where the precision came from a column or a cast, so that it shows as
	// a typmod on the wire. numeric + numeric has Fixed and no Declared.
	Declared bool
	// MySQL says what MySQL's type is beyond its kind here (TINYINT, UNSIGNED, ENUM …); nil for all
	// others. It is a column's: Equal and Same do not ask, and values of expressions have none.
	MySQL  *MySQLType
	nested *nested
}

type nested struct {
	elem   Type    // Array's element; Map's value
	key    Type    // Map's key
	fields []Field // Struct
	record bool    // Struct: RecordOf's
}

// T makes a type that has no parameters.
func T(k Kind) Type { return Type{Kind: k} }

// DecimalType is the declared type decimal(p,s).
func DecimalType(p, s int) Type {
	return Type{Kind: Numeric, Prec: int32(p), Scale: int32(s), Fixed: true, Declared: true}
}

// FixedNumeric is a computed numeric whose values all have s digits after the point and at
// most p digits in all.
func FixedNumeric(p, s int) Type {
	return Type{Kind: Numeric, Prec: int32(p), Scale: int32(s), Fixed: true}
}

// ArrayOf is the array type of elem.
func ArrayOf(elem Type) Type { return Type{Kind: Array, nested: &nested{elem: elem}} }

// StructOf is the struct type with fields.
func StructOf(fields ...Field) Type { return Type{Kind: Struct, nested: &nested{fields: fields}} }

// RecordOf is the type of a row of a query, ROW(…) or a function's: a struct that outside is
// PostgreSQL's record, "(1,a)", and not jsonb as a table's column is.
func RecordOf(fields ...Field) Type {
	return Type{Kind: Struct, nested: &nested{fields: fields, record: true}}
}

// IsRecord tells whether t is RecordOf's.
func (t Type) IsRecord() bool { return t.Kind == Struct && t.nested != nil && t.nested.record }

// WithFields is t, a Struct, with other members.
func (t Type) WithFields(fields ...Field) Type {
	if t.IsRecord() {
		return RecordOf(fields...)
	}
	return StructOf(fields...)
}

// MapOf is the map type from key to value.
func MapOf(key, value Type) Type {
	return Type{Kind: Map, nested: &nested{key: key, elem: value}}
}

// Elem is an Array's element type or a Map's value type; the zero Type otherwise.
func (t Type) Elem() Type {
	if t.nested == nil {
		return Type{}
	}
	return t.nested.elem
}

// Key is a Map's key type.
func (t Type) Key() Type {
	if t.nested == nil {
		return Type{}
	}
	return t.nested.key
}

// Fields are a Struct's members; do not modify.
func (t Type) Fields() []Field {
	if t.nested == nil {
		return nil
	}
	return t.nested.fields
}

// Equal tells whether both are the same type, parameters included, Declared aside.
func (t Type) Equal(u Type) bool {
	if t.Kind != u.Kind || t.Prec != u.Prec || t.Scale != u.Scale || t.Fixed != u.Fixed {
		return false
	}
	return t.sameNested(u, Type.Equal)
}

// Same tells whether both are the same type, whatever their parameters (precision, length).
func (t Type) Same(u Type) bool { return t.Kind == u.Kind && t.sameNested(u, Type.Same) }

func (t Type) sameNested(u Type, eq func(Type, Type) bool) bool {
	switch t.Kind {
	case Array:
		return eq(t.Elem(), u.Elem())
	case Map:
		return eq(t.Key(), u.Key()) && eq(t.Elem(), u.Elem())
	case Struct:
		a, b := t.Fields(), u.Fields()
		if len(a) != len(b) {
			return false
		}
		for i := range a {
			if a[i].Name != b[i].Name || !eq(a[i].Type, b[i].Type) {
				return false
			}
		}
	}
	return true
}

// Alike tells whether values of a and of b lie in memory alike, so that one may stand among
// values of the other: both are the same type, and numbers have one scale at every level.
func Alike(a, b Type) bool {
	if a.Kind != b.Kind {
		return false
	}
	switch a.Kind {
	case Numeric:
		return a.Fixed == b.Fixed && (!a.Fixed || a.Scale == b.Scale)
	case Array:
		return Alike(a.Elem(), b.Elem())
	case Map:
		return Alike(a.Key(), b.Key()) && Alike(a.Elem(), b.Elem())
	case Struct:
		f, g := a.Fields(), b.Fields()
		if len(f) != len(g) {
			return false
		}
		for i := range f {
			if !Alike(f[i].Type, g[i].Type) {
				return false
			}
		}
	}
	return true
}

// Form is how a Type's values lie in memory, in a Datum and in a vec.Vector alike.
type Form uint8

// The forms. Numeric is the one kind with several: see Vector.
const (
	FormNone   Form = iota
	FormBool        // bool
	FormI64         // int64: all integers, date (days), time, timestamps, oids, scaled decimals
	FormF64         // float64: Float4 (always a float32 value) and Float8
	FormW128        // Int128: wide decimals, interval, uuid, timetz
	FormStr         // bytes: text, bytea, json; numeric in Decimal's encoding
	FormList        // array; a map is a list of {key, value} structs
	FormStruct      // struct
)

// Form is the form that t's values usually have. A Numeric vector may come as FormI64 (scaled
// by Type.Scale, only when Fixed), FormW128 (likewise) or FormStr (Decimal.Encode); its readers
// ask the vector.
func (t Type) Form() Form {
	switch t.Kind {
	case Bool:
		return FormBool
	case Int2, Int4, Int8, Date, Time, Timestamp, TimestampTZ, TimestampNS, TimestampTZNS,
		Oid, Xid, Regclass, Regtype, Regproc, Regnamespace, Regoper, Regrole, Regprocedure, Regoperator:
		return FormI64
	case Float4, Float8:
		return FormF64
	case Numeric:
		if !t.Fixed {
			return FormStr
		}
		if t.Prec <= 18 {
			return FormI64
		}
		return FormW128
	case Interval, UUID, TimeTZ:
		return FormW128
	case Text, Varchar, Bpchar, Name, Char, Bytea, JSON, JSONB, JSONPath, Variant, Unknown:
		return FormStr
	case Array, Map, Int2Vector, OidVector:
		return FormList
	case Struct:
		return FormStruct
	}
	return FormNone
}

var kindNames = [numKinds]string{
	Invalid: "invalid", Unknown: "unknown", Void: "void", Bool: "boolean", Int2: "smallint",
	Int4: "integer", Int8: "bigint", Float4: "real", Float8: "double precision",
	Numeric: "numeric", Text: "text", Varchar: "character varying", Bpchar: "character",
	Name: "name", Char: `"char"`, Bytea: "bytea", Date: "date", Time: "time without time zone",
	TimeTZ: "time with time zone", Timestamp: "timestamp without time zone",
	TimestampTZ: "timestamp with time zone", TimestampNS: "timestamp_ns",
	TimestampTZNS: "timestamptz_ns", Interval: "interval", UUID: "uuid", JSON: "json",
	JSONB: "jsonb", JSONPath: "jsonpath", Variant: "variant", Array: "array", Struct: "record", Map: "map", Oid: "oid", Xid: "xid",
	Regclass: "regclass", Regtype: "regtype", Regproc: "regproc",
	Regnamespace: "regnamespace", Regoper: "regoper", Regrole: "regrole", Regprocedure: "regprocedure", Regoperator: "regoperator",
	Int2Vector: "int2vector", OidVector: "oidvector", Any: `"any"`, AnyElement: "anyelement",
	AnyArray: "anyarray", AnyNonArray: "anynonarray",
}

// String spells t as PostgreSQL's format_type does, with parameters where declared.
func (t Type) String() string {
	switch t.Kind {
	case Text:
		return t.asText().name
	case Array:
		return t.Elem().String() + "[]"
	case Map:
		return "map<" + t.Key().String() + ", " + t.Elem().String() + ">"
	case Struct:
		if t.IsRecord() || len(t.Fields()) == 0 {
			break
		}
		var b strings.Builder
		b.WriteString("struct<")
		for i, f := range t.Fields() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(f.Name + " " + f.Type.String())
		}
		b.WriteString(">")
		return b.String()
	case Numeric:
		if t.Fixed && t.Declared {
			return fmt.Sprintf("numeric(%d,%d)", t.Prec, t.Scale)
		}
	case Varchar, Bpchar:
		if t.Prec > 0 {
			return fmt.Sprintf("%s(%d)", kindNames[t.Kind], t.Prec)
		}
	case Time, TimeTZ, Timestamp, TimestampTZ, Interval:
		if p, ok := t.SecondDigits(); ok {
			name, zone, _ := strings.Cut(kindNames[t.Kind], " ")
			return strings.TrimSuffix(fmt.Sprintf("%s(%d) %s", name, p, zone), " ")
		}
	}
	return kindNames[t.Kind]
}

// SecondDigits is the declared number of digits after the second, of a time(p) and its kin; ok is
// false where none was declared.
func (t Type) SecondDigits() (p int, ok bool) {
	switch t.Kind {
	case Time, TimeTZ, Timestamp, TimestampTZ, Interval:
		return int(t.Prec) - 1, t.Prec > 0
	}
	return 0, false
}

// WithSecondDigits is t with p digits after the second, at most 6.
func (t Type) WithSecondDigits(p int) Type {
	t.Prec, t.Declared = int32(min(p, 6)+1), true
	return t
}

// Bare is t without length, precision and scale, at every level of an array.
func (t Type) Bare() Type {
	if t.Kind == Array {
		return ArrayOf(t.Elem().Bare())
	}
	if t.Kind == Struct || t.Kind == Map {
		return t
	}
	return T(t.Kind)
}

// IsString tells whether t is of PostgreSQL's string category.
func (t Type) IsString() bool {
	switch t.Kind {
	case Text, Varchar, Bpchar, Name, Char, Unknown:
		return true
	}
	return false
}

// IsInteger tells whether t is smallint, integer or bigint.
func (t Type) IsInteger() bool { return t.Kind == Int2 || t.Kind == Int4 || t.Kind == Int8 }

// IsNumber tells whether t is of PostgreSQL's numeric category (oids aside).
func (t Type) IsNumber() bool {
	return t.IsInteger() || t.Kind == Float4 || t.Kind == Float8 || t.Kind == Numeric
}
