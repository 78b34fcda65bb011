package plan

import "github.com/lhsql/lhsql/types"

// Volatility is PostgreSQL's classification; the zero value is the safe one.
type Volatility uint8

const (
	Volatile  Volatility = iota // evaluated once per row, never folded or moved
	Stable                      // constant within a statement (now(), current_schema())
	Immutable                   // folded at planning
)

// FuncKind says where a function may stand.
type FuncKind uint8

const (
	ScalarFunc    FuncKind = iota // a value for each row
	AggregateFunc                 // a value for each group
	WindowFunc                    // window-only, such as row_number; aggregates may be windowed too
	SetFunc                       // returns a set of rows: generate_series, unnest
)

// Function describes one overload. Package eval owns the table of them and what Impl holds;
// everyone else sees a name, types, and how it may be treated.
type Function struct {
	OID        uint32 // stable; PostgreSQL's own where it has the function
	Name       string // "=" and "+" for operators
	Operator   bool
	Kind       FuncKind
	Args       []types.Type
	Variadic   bool // the last of Args repeats one or more times (each of that type)
	Ret        types.Type
	Strict     bool // NULL in, NULL out, not called
	Volatility Volatility
	Impl       any
}
