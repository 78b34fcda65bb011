package types

import "math"

// Int128 is a two's complement 128-bit integer. The same two words hold a uuid (big-endian
// halves: Hi the first eight bytes), an interval (see IntervalOf) and a timetz.
type Int128 struct {
	Lo uint64
	Hi int64
}

// Datum is one SQL value, for literals, parameters, statistics and rows handled one by one.
// The zero Datum is NULL. It does not carry its Type: whoever holds a Datum knows the type.
type Datum struct {
	form Form
	lo   uint64
	hi   int64
	str  string
	list []Datum
}

// Null is the NULL value.
var Null = Datum{}

// The constructors of the forms.
func NewBool(b bool) Datum {
	d := Datum{form: FormBool}
	if b {
		d.lo = 1
	}
	return d
}
func NewInt(i int64) Datum      { return Datum{form: FormI64, lo: uint64(i)} }
func NewFloat(f float64) Datum  { return Datum{form: FormF64, lo: math.Float64bits(f)} }
func NewW128(w Int128) Datum    { return Datum{form: FormW128, lo: w.Lo, hi: w.Hi} }
func NewStr(s string) Datum     { return Datum{form: FormStr, str: s} }
func NewList(l []Datum) Datum   { return Datum{form: FormList, list: l} }   // a Map: a list of {key, value} structs
func NewStruct(l []Datum) Datum { return Datum{form: FormStruct, list: l} } // members in the type's order

// IsNull tells whether d is NULL.
func (d Datum) IsNull() bool { return d.form == FormNone }

// Form tells which accessor applies. FormNone: NULL.
func (d Datum) Form() Form { return d.form }

// The accessors; each is meaningful for its own form only.
func (d Datum) Bool() bool     { return d.lo != 0 }
func (d Datum) Int() int64     { return int64(d.lo) }
func (d Datum) Float() float64 { return math.Float64frombits(d.lo) }
func (d Datum) W128() Int128   { return Int128{Lo: d.lo, Hi: d.hi} }
func (d Datum) Str() string    { return d.str }
func (d Datum) List() []Datum  { return d.list } // FormList and FormStruct
