package pg

import (
	"reflect"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// FuzzParse: whatever the text, there is an answer, and every position in it lies in the text.
func FuzzParse(f *testing.F) {
	for _, sql := range accepted {
		f.Add(sql)
	}
	for _, e := range refused {
		f.Add(e.sql)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		got, err := Parse(sql)
		if err != nil {
			e, ok := sqlerr.As(err)
			if !ok {
				t.Fatalf("%q: %T is no sqlerr", sql, err)
			}
			if e.Pos > len(sql) {
				t.Fatalf("%q: %v at %d", sql, e, e.Pos)
			}
			return
		}
		for _, p := range got {
			if sql[p.Offset:p.Offset+len(p.Text)] != p.Text {
				t.Fatalf("%q: offset %d of %q", sql, p.Offset, p.Text)
			}
			checkPositions(t, sql, reflect.ValueOf(p.Stmt), len(p.Text))
		}
	})
}

func checkPositions(t *testing.T, sql string, v reflect.Value, limit int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			checkPositions(t, sql, v.Elem(), limit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			checkPositions(t, sql, v.Index(i), limit)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			checkPositions(t, sql, v.MapIndex(k), limit)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name == "Pos" {
				if pos := v.Field(i).Int(); pos < -1 || pos > int64(limit) {
					t.Fatalf("%q: position %d in %s", sql, pos, v.Type())
				}
			}
			checkPositions(t, sql, v.Field(i), limit)
		}
	}
}
