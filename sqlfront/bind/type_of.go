package bind

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// TypeOf resolves a type name that stands outside an expression: PREPARE's parameter list.
func TypeOf(env *Env, n *ast.TypeName) (t types.Type, err error) {
	b := newBinder(env, ast.Parsed{}, nil)
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.err
		}
	}()
	return b.typeOf(n), nil
}
