// Package eval answers: what is the value of this expression over a batch?
//
// It owns the table of functions, operators, casts, aggregates and window functions, overload
// resolution over it, and the kernels that compute. In: bound expressions (plan.Expr) and
// batches. Out: vectors and selections. Below the planner, because constant folding, pruning,
// filters and MERGE all evaluate. It refuses to know of tables, files and sessions: what a
// function needs of its session comes through Ctx.
package eval

import (
	"context"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Ctx is what an evaluation may know of its surroundings. One per statement execution and
// goroutine; not safe for concurrent use.
type Ctx struct {
	Context          context.Context
	Now              time.Time      // statement time: now() and friends
	StmtStart        time.Time      // statement_timestamp()
	Zone             *time.Location // session time zone
	DateStyle        string         // "ISO, MDY" …
	IntervalStyle    string
	ExtraFloatDigits int
	ByteaOutput      string  // "hex" or "escape"
	Session          Session // never nil in a server; functions of the session ask it
	// Grow is told of the memory that large values take while the statement runs, and fails with
	// 53200 when there is no more; nil: nobody counts.
	Grow func(bytes int64) error
	// Warn tells the client of what is no failure; nil: nobody listens. Several goroutines may
	// call it.
	Warn func(code sqlerr.Code, format string, args ...any)
}

// Alive fails when nobody waits for the statement any more: it was cancelled, timed out, or its
// client is gone. Loops whose length data decides call it now and then.
func (c *Ctx) Alive() error {
	if c == nil || c.Context == nil || c.Context.Err() == nil {
		return nil
	}
	return context.Cause(c.Context)
}

// MustLive is Alive that panics, with an error of the user's, where no error can be returned.
func (c *Ctx) MustLive() {
	if err := c.Alive(); err != nil {
		if e, ok := sqlerr.As(err); ok {
			panic(e)
		}
		panic(sqlerr.New(sqlerr.QueryCanceled, "computing: %v", err))
	}
}

// Session is what system functions ask of the session that runs them (current_setting,
// pg_table_is_visible, ::regclass). Implemented by the engine. Methods are cheap unless said.
type Session interface {
	User() string
	Database() string
	SearchPath() []string // schemas in order, implicit ones (pg_catalog) included
	Setting(name string) (string, bool)
	SetSetting(name, value string, local bool) error
	BackendPID() int32
	// LastNumber is the last number that the session gave a row of an identity column; ok is false
	// where it gave none.
	LastNumber() (n int64, ok bool)
	// ObjectName spells the object with the OID in the given system catalog ("pg_class",
	// "pg_type", "pg_proc", "pg_namespace", "pg_authid", …), qualified when it is not visible
	// on the search path; ok is false when there is none.
	ObjectName(catalog string, oid uint32) (name string, ok bool)
	// ObjectOID finds an object by a possibly qualified and quoted name.
	ObjectOID(catalog, name string) (oid uint32, ok bool)
	// Call answers the system functions whose value depends on catalogs or on other sessions
	// (pg_get_viewdef, obj_description, pg_cancel_backend …). ok false: not one of them.
	Call(ctx context.Context, fn string, args []types.Datum) (v types.Datum, ok bool, err error)
}

// Kernel computes one function over the rows sel of a batch of n physical rows (sel nil: all
// n). args are as long as the batch and may be Flat, Const or Dict; out has Type set, and the
// kernel gives it values for the rows of sel. For a strict function the caller has merged the
// arguments' NULLs and hands a sel without those rows; the kernel leaves out.Valid alone
// unless it makes NULLs of its own (then: mark them by NullOut). A non-strict kernel sees all.
type Kernel func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error

// Row computes one function for one row; the registry wraps it into a Kernel. For strict
// functions no argument is NULL. The easy way: use it for what is never hot.
type Row func(c *Ctx, args []types.Datum) (types.Datum, error)

// Func declares one overload for the table. Exactly one of Kernel, Row, Set, Agg, Window is set.
type Func struct {
	OID        uint32 // PostgreSQL's; 0: derived from name and arguments, above 16384
	Name       string
	Operator   bool
	Args       []types.Type
	Defaults   int // this many trailing arguments may be missing: passed as NULL (the Func is then NonStrict)
	Variadic   bool
	quantified *quantifiedImpl // of a comparison that Quantify made
	Ret        types.Type
	// RetFn derives the result type of a polymorphic function, or the exact numeric type, from
	// the argument types after coercion; nil: Ret.
	RetFn      func(args []types.Type) (types.Type, error)
	NonStrict  bool
	Volatility plan.Volatility // Note: the zero value is Volatile; Immutable() is the usual
	Kernel     Kernel
	Row        Row
	Set        SetKernel
	// SetOf makes Set for rows of a type that only the call knows.
	SetOf  func(ret types.Type) SetKernel
	Agg    *AggImpl
	Window *WindowImpl
	// Total: the function cannot fail, whatever its arguments. It is then evaluated on whole
	// dictionaries, values that no row has included.
	Total bool
	Doc   string
	// compare and the like let Compile choose a faster kernel.
	fast fastKernels
	// distinct is, for IS [NOT] DISTINCT FROM, the = that it is made of.
	distinct *plan.Function
}

// SetKernel makes the rows that a set-returning function returns for one call. For a function
// whose Ret is a Struct each row is a NewStruct Datum.
type SetKernel func(c *Ctx, args []types.Datum, yield func(types.Datum) error) error

// SetFor is the kernel of a set-returning function for a call whose rows have type ret.
func (f *Func) SetFor(ret types.Type) SetKernel {
	if f.SetOf != nil {
		return f.SetOf(ret)
	}
	return f.Set
}
