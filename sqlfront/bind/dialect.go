package bind

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Dialect is what differs between the SQL languages in meaning. Their grammars end in ast; the
// rest of the engine sees neither.
type Dialect struct {
	Name string
	// SameName compares an identifier with a name of the catalog or the query.
	SameName func(a, b string) bool
	// The rules of overloads and coercion. ResolveFunction gets the name as FunctionName
	// spells it.
	FunctionName    func(parts []string) (name string, ok bool)
	ResolveFunction func(name string, args []types.Type, variadic bool) (eval.Resolved, error)
	ResolveOperator func(op string, args []types.Type) (eval.Resolved, error)
	CanCast         func(from, to types.Type, ctx plan.CastContext) bool
	CommonType      func(construct string, ts []types.Type) (types.Type, error)
	// GroupStrict: a column that is neither grouped nor aggregated is an error (42803).
	GroupStrict bool
	// NullsFirst tells where NULLs sort by default.
	NullsFirst func(desc bool) bool
	// BoolFrom: types that stand for a condition without a cast, compared with zero.
	BoolFrom func(t types.Type) bool
}

// PostgreSQL is the dialect of the Postgres wire and of the shell.
var PostgreSQL = &Dialect{
	Name:            "PostgreSQL",
	SameName:        func(a, b string) bool { return a == b },
	FunctionName:    pgFunctionName,
	ResolveFunction: eval.ResolveFunction,
	ResolveOperator: eval.ResolveOperator,
	CanCast:         eval.CanCast,
	CommonType:      eval.CommonTypeIn,
	GroupStrict:     true,
	NullsFirst:      func(desc bool) bool { return desc },
	BoolFrom:        func(types.Type) bool { return false },
}

// pgFunctionName strips the schemas that built-in functions live in.
func pgFunctionName(parts []string) (string, bool) {
	switch {
	case len(parts) == 1:
		return parts[0], true
	case len(parts) == 2 && (parts[0] == "pg_catalog" || parts[0] == "information_schema"):
		return parts[1], true
	}
	return strings.Join(parts, "."), false
}
