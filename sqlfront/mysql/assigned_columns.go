package mysql

import (
	"reflect"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// refuseReadOfAssigned refuses SET a = a + 1, b = (SELECT … a …): MySQL's a is the new one there, in the
// type of its column, which a subquery is not told of.
func (p *parser) refuseReadOfAssigned(set []ast.SetItem) {
	assigned := map[string]bool{}
	for _, it := range set {
		if id := readOf(reflect.ValueOf(it.Value), assigned, false); id != nil {
			p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "an assignment reads column '%s', which an earlier one of the same UPDATE sets", id.Parts[len(id.Parts)-1]).
				At(id.Pos).WithHint("Write what the column becomes instead of its name, or make two statements."))
		}
		assigned[strings.ToLower(it.Column.Parts[len(it.Column.Parts)-1])] = true
	}
}

// readOf finds a column of the set in a query in a part of a syntax tree, which is walked by reflection: the
// tree has some sixty types, and only one matters here.
func readOf(v reflect.Value, set map[string]bool, inside bool) *ast.Ident {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if id, ok := v.Interface().(*ast.Ident); ok {
			if inside && set[strings.ToLower(id.Parts[len(id.Parts)-1])] {
				return id
			}
			return nil
		}
		_, query := v.Interface().(*ast.Query)
		return readOf(v.Elem(), set, inside || query)
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			if id := readOf(v.Field(i), set, inside); id != nil {
				return id
			}
		}
	case reflect.Slice:
		for i := 0; i < v.Len(); i++ {
			if id := readOf(v.Index(i), set, inside); id != nil {
				return id
			}
		}
	}
	return nil
}
