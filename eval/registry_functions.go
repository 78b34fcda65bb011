package eval

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// A declaration looks like this, in a function that the room's Register calls:
//
//	eval.Register(
//		eval.Immutable("upper", eval.Sig(types.Text), eval.TText, eval.Fn1(strings.ToUpper)),
//		eval.Immutable("chr", eval.Sig(types.Int4), eval.TText, eval.Try1(chr)),     // chr(int64) (string, error)
//		eval.Stable("current_schema", nil, eval.TName, eval.Ask0(currentSchema)),    // func(*Ctx) (string, error)
//		eval.Volatile("random", nil, eval.TFloat8, eval.Ask0(random)),
//		eval.Immutable("concat", eval.Sig(types.Any), eval.TText, eval.Row(concat)).AsVariadic().CalledOnNull(),
//		eval.Immutable("array_length", []types.Type{eval.TAnyArray, eval.TInt4}, eval.TInt4, eval.Row(arrayLength)),
//	)
//
// See kernel_adapt.go for Fn1 … Ask3.

// The types without parameters, for signatures.
var (
	TAny         = types.T(types.Any)
	TAnyElement  = types.T(types.AnyElement)
	TAnyArray    = types.T(types.AnyArray)
	TBool        = types.T(types.Bool)
	TInt2        = types.T(types.Int2)
	TInt4        = types.T(types.Int4)
	TInt8        = types.T(types.Int8)
	TFloat4      = types.T(types.Float4)
	TFloat8      = types.T(types.Float8)
	TNumeric     = types.T(types.Numeric)
	TText        = types.T(types.Text)
	TVarchar     = types.T(types.Varchar)
	TBpchar      = types.T(types.Bpchar)
	TName        = types.T(types.Name)
	TChar        = types.T(types.Char)
	TBytea       = types.T(types.Bytea)
	TDate        = types.T(types.Date)
	TTime        = types.T(types.Time)
	TTimeTZ      = types.T(types.TimeTZ)
	TTimestamp   = types.T(types.Timestamp)
	TTimestampTZ = types.T(types.TimestampTZ)
	TTimestampNS = types.T(types.TimestampNS)
	TTSTZNS      = types.T(types.TimestampTZNS)
	TInterval    = types.T(types.Interval)
	TUUID        = types.T(types.UUID)
	TJSON        = types.T(types.JSON)
	TJSONB       = types.T(types.JSONB)
	TJSONPath    = types.T(types.JSONPath)
	TOid         = types.T(types.Oid)
	TVoid        = types.T(types.Void)
	TUnknown     = types.T(types.Unknown)
	TRecord      = types.T(types.Struct)
	TTextArray   = types.ArrayOf(types.T(types.Text))
)

// Sig lists types without parameters.
func Sig(kinds ...types.Kind) []types.Type {
	t := make([]types.Type, len(kinds))
	for i, k := range kinds {
		t[i] = types.T(k)
	}
	return t
}

// Immutable declares an immutable, strict function. impl is a Kernel (or what Fn1 … make), a Row, a
// SetKernel, an *AggImpl or a *WindowImpl.
func Immutable(name string, args []types.Type, ret types.Type, impl any) Func {
	return declare(name, args, ret, impl, plan.Immutable)
}

// Stable declares a stable, strict function; see imm.
func Stable(name string, args []types.Type, ret types.Type, impl any) Func {
	return declare(name, args, ret, impl, plan.Stable)
}

// Volatile declares a volatile, strict function; see imm.
func Volatile(name string, args []types.Type, ret types.Type, impl any) Func {
	return declare(name, args, ret, impl, plan.Volatile)
}

// Op declares an immutable, strict operator; see imm.
func Op(name string, args []types.Type, ret types.Type, impl any) Func {
	f := declare(name, args, ret, impl, plan.Immutable)
	f.Operator = true
	return f
}

func declare(name string, args []types.Type, ret types.Type, impl any, v plan.Volatility) Func {
	f := Func{Name: name, Args: args, Ret: ret, Volatility: v}
	switch impl := impl.(type) {
	case Kernel:
		f.Kernel = impl
	case func(c *Ctx, args []*vecVector, sel []uint16, n int, out *vecVector) error:
		f.Kernel = impl
	case Row:
		f.Row = impl
	case func(c *Ctx, args []types.Datum) (types.Datum, error):
		f.Row = impl
	case SetKernel:
		f.Set = impl
	case func(c *Ctx, args []types.Datum, yield func(types.Datum) error) error:
		f.Set = impl
	case *AggImpl:
		f.Agg = impl
	case *WindowImpl:
		f.Window = impl
	default:
		invariant.Fail("function %s is declared with a %T", name, impl)
	}
	return f
}

// AsVariadic says that the last argument may stand several times.
func (f Func) AsVariadic() Func { f.Variadic = true; return f }

// CalledOnNull says that the function sees NULL arguments instead of being NULL for them.
func (f Func) CalledOnNull() Func { f.NonStrict = true; return f }

// NeverFails says that the function cannot fail, whatever its arguments.
func (f Func) NeverFails() Func { f.Total = true; return f }

// PerCall gives a function a kernel that each call of it keeps, made once: for what it remembers from batch to
// batch.
func (f Func) PerCall(kernel func(*plan.Call) Kernel) Func { f.fast.kernel = kernel; return f }

// stable says that an operator depends on the session (its time zone).
func (f Func) stable() Func { f.Volatility = plan.Stable; return f }

// Returning derives the result type from those of the arguments.
func (f Func) Returning(fn func(args []types.Type) (types.Type, error)) Func { f.RetFn = fn; return f }

// Documented is what \df+ shows of it.
func (f Func) Documented(s string) Func { f.Doc = s; return f }

// table is the one table of functions and operators. Filled while programs start, then read only.
var table = struct {
	all   []*plan.Function
	funcs map[string][]*plan.Function
	ops   map[string][]*plan.Function
	exact map[string]*plan.Function // by oidKey
	oids  map[string]uint32         // PostgreSQL's, by oidKey
	taken map[uint32]string         // which key has an OID: functions and operators apart
}{
	funcs: map[string][]*plan.Function{},
	ops:   map[string][]*plan.Function{},
	exact: map[string]*plan.Function{},
	oids:  parseOIDs(pgOIDs),
	taken: map[uint32]string{},
}

// pgOIDs has a line "name type,type oid" for each function and "|op type,type oid" for each operator, as oids.sh
// read them from a PostgreSQL 15 catalog; types as format_type spells them, anycompatible… written as any…
//
//go:embed oids.txt
var pgOIDs string

func parseOIDs(s string) map[string]uint32 {
	m := make(map[string]uint32, 2400)
	for _, line := range strings.Split(strings.TrimSpace(s), "\n") {
		i := strings.LastIndexByte(line, ' ')
		oid, err := strconv.ParseUint(line[i+1:], 10, 32)
		invariant.Check(err == nil, "bad line in pgOIDs: %s", line)
		m[line[:i]] = uint32(oid)
	}
	return m
}

// oidKey is how pgOIDs spells a signature.
func oidKey(name string, operator bool, args []types.Type) string {
	var b strings.Builder
	if operator {
		b.WriteByte('|')
	}
	b.WriteString(name)
	b.WriteByte(' ')
	for i, a := range args {
		if i > 0 {
			b.WriteByte(',')
		}
		writeTypeKey(&b, a)
	}
	return b.String()
}

func writeTypeKey(b *strings.Builder, t types.Type) {
	switch t.Kind {
	case types.Array:
		writeTypeKey(b, t.Elem())
		b.WriteString("[]")
	case types.Struct:
		b.WriteString("record")
	case types.Map:
		b.WriteString("map")
	default:
		b.WriteString(types.T(t.Kind).String())
	}
}

// Register adds declarations to the table. It is called while programs start, by init and eval/library alone.
func Register(fs ...Func) {
	for i := range fs {
		registerOne(fs[i])
	}
}

func registerOne(f Func) {
	if f.Defaults > 0 {
		f.NonStrict = true
	}
	p := &plan.Function{
		OID: f.OID, Name: f.Name, Operator: f.Operator, Args: f.Args, Variadic: f.Variadic,
		Ret: f.Ret, Strict: !f.NonStrict, Volatility: f.Volatility,
	}
	switch {
	case f.Agg != nil:
		p.Kind, p.Strict = plan.AggregateFunc, false
	case f.Window != nil:
		p.Kind, p.Strict = plan.WindowFunc, false
	case f.Set != nil || f.SetOf != nil:
		p.Kind = plan.SetFunc
	case f.Kernel == nil && f.Row != nil:
		f.Kernel = RowKernel(f.Row)
	}
	invariant.Check(f.Kernel != nil || p.Kind != plan.ScalarFunc, "function %s has no implementation", f.Name)
	p.Impl = &f
	key := oidKey(f.Name, f.Operator, f.Args)
	if _, twice := table.exact[key]; twice {
		panic(invariant.Violation{Message: "function declared twice: " + key})
	}
	if p.OID == 0 {
		p.OID = table.oids[key]
	}
	if p.OID == 0 {
		p.OID = deriveOID(key)
	}
	space := "f"
	if f.Operator {
		space = "o"
	}
	// Functions live in pg_proc and operators in pg_operator: the same number may be in both.
	if had, clash := table.taken[p.OID]; clash && strings.HasPrefix(had, space) {
		panic(invariant.Violation{Message: fmt.Sprintf("%s and %s have the OID %d", key, had, p.OID)})
	}
	f.OID = p.OID
	table.taken[p.OID] = space + key
	table.exact[key] = p
	if !strings.HasPrefix(f.Name, mysqlPrefix) {
		table.all = append(table.all, p)
	}
	if f.Operator {
		table.ops[f.Name] = append(table.ops[f.Name], p)
	} else {
		table.funcs[f.Name] = append(table.funcs[f.Name], p)
	}
}

// deriveOID gives a function that PostgreSQL does not have a stable OID from its signature:
// between 2^28 and 2^29, where neither PostgreSQL's objects nor the engine's tables live.
func deriveOID(key string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(key))
	oid := 1<<28 | h.Sum32()&(1<<28-1)
	for table.taken[oid] != "" {
		oid = 1<<28 | (oid+1)&(1<<28-1)
	}
	return oid
}

// mysqlPrefix begins the names of what only the MySQL dialect calls.
const mysqlPrefix = "mysql:"

// Functions lists every function, operator, aggregate and window function of PostgreSQL's
// dialect.
func Functions() []*plan.Function { return table.all }

// FunctionsNamed lists the overloads of one function name, for name look-up and for messages.
func FunctionsNamed(name string) []*plan.Function { return table.funcs[name] }

// funcOf is the declaration behind f.
func funcOf(f *plan.Function) *Func {
	d, ok := f.Impl.(*Func)
	invariant.Check(ok, "function %s has an implementation of type %T", f.Name, f.Impl)
	return d
}

// Declaration is the declaration behind f: its AggImpl, WindowImpl, SetKernel and so on.
func Declaration(f *plan.Function) *Func { return funcOf(f) }

// Operator finds the operator with exactly these argument types (parameters aside); nil when
// there is none. A unary operator has l Invalid.
func Operator(name string, l, r types.Type) *plan.Function {
	args := []types.Type{l, r}
	if l.Kind == types.Invalid {
		args = args[1:]
	}
	if f := table.exact[oidKey(name, true, args)]; f != nil {
		return f
	}
	if len(args) == 2 && l.Kind == types.Array && r.Kind == types.Array {
		return table.exact[oidKey(name, true, []types.Type{TAnyArray, TAnyArray})]
	}
	return nil
}

// negators and commutators hold each pair once in each direction.
var negators = map[string]string{
	"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
	"~~": "!~~", "!~~": "~~", "~~*": "!~~*", "!~~*": "~~*",
	"~": "!~", "!~": "~", "~*": "!~*", "!~*": "~*",
	"IS DISTINCT FROM": "IS NOT DISTINCT FROM", "IS NOT DISTINCT FROM": "IS DISTINCT FROM",
}

var commutators = map[string]string{
	"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<=",
	"+": "+", "*": "*", "&": "&", "|": "|", "#": "#",
	"@>": "<@", "<@": "@>", "&&": "&&",
	"IS DISTINCT FROM": "IS DISTINCT FROM", "IS NOT DISTINCT FROM": "IS NOT DISTINCT FROM",
}

// Negate finds the operator that is true exactly where f is false (both NULL alike), or nil.
func Negate(f *plan.Function) *plan.Function { return related(f, negators, false) }

// Commute finds the operator g with g(b, a) = f(a, b), or nil.
func Commute(f *plan.Function) *plan.Function { return related(f, commutators, true) }

func related(f *plan.Function, names map[string]string, swap bool) *plan.Function {
	name, ok := names[f.Name]
	if !f.Operator || !ok || len(f.Args) != 2 {
		return nil
	}
	if d := funcOf(f).distinct; d != nil {
		if swap {
			if d = Commute(d); d == nil {
				return nil
			}
		}
		return distinctFrom(d, name == "IS NOT DISTINCT FROM")
	}
	args := f.Args
	if swap {
		args = []types.Type{args[1], args[0]}
	}
	return table.exact[oidKey(name, true, args)]
}
