// Package library fills eval's table of functions: who imports it can call what SQL can call. The binder does;
// what lies below it works on functions that were found already, and imports it only in tests.
package library

import (
	"github.com/lhsql/lhsql/eval/aggregate"
	"github.com/lhsql/lhsql/eval/mysqlfunc"
	"github.com/lhsql/lhsql/eval/pgfunc"
)

func init() {
	aggregate.Register()
	pgfunc.Register()
	mysqlfunc.Register()
}
