package scan

// This file makes values of a declared type of those that a file has for it (eval/stored.go).

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/vec"
)

// decode is a stored value of the slot as one of its type.
func (s *slot) decodeVector(a *vec.Appender, v *vec.Vector, n int) (*vec.Vector, error) {
	a.Reset()
	for i := range n {
		d, err := eval.Decode(v.Datum(i), s.Type, s.field.Type)
		if err != nil {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "column %q is declared %s and holds what is none: %v", s.Name, s.Type, err)
		}
		a.AppendDatum(d)
	}
	return a.Vector(), nil
}

// storedField is f as a file has it, where its values are decoded after reading; else f itself.
func storedField(f *lake.Field) *lake.Field {
	if !eval.Decodes(f.Type) {
		return f
	}
	return &lake.StoredFields([]lake.Field{*f})[0]
}
