package eval

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// A declaration looks like this, in an init function of the file that owns the function:
//
//	Register(
//		imm("upper", sig(types.Text), tText, Fn1(strings.ToUpper)),
//		imm("chr", sig(types.Int4), tText, Try1(chr)),             // chr(int64) (string, error)
//		stable("current_schema", nil, tName, Ask0(currentSchema)), // func(*Ctx) (string, error)
//		vol("random", nil, tFloat8, Ask0(random)),
//		imm("concat", sig(types.Any), tText, Row(concat)).variadic().nonStrict(),
//		imm("array_length", []types.Type{types.T(types.AnyArray), tInt4}, tInt4, Row(arrayLength)),
//	)
//
// See kernel_adapt.go for Fn1 … Ask3.

// The types without parameters, for signatures.
var (
	tAny         = types.T(types.Any)
	tAnyElement  = types.T(types.AnyElement)
	tAnyArray    = types.T(types.AnyArray)
	tBool        = types.T(types.Bool)
	tInt2        = types.T(types.Int2)
	tInt4        = types.T(types.Int4)
	tInt8        = types.T(types.Int8)
	tFloat4      = types.T(types.Float4)
	tFloat8      = types.T(types.Float8)
	tNumeric     = types.T(types.Numeric)
	tText        = types.T(types.Text)
	tVarchar     = types.T(types.Varchar)
	tBpchar      = types.T(types.Bpchar)
	tName        = types.T(types.Name)
	tChar        = types.T(types.Char)
	tBytea       = types.T(types.Bytea)
	tDate        = types.T(types.Date)
	tTime        = types.T(types.Time)
	tTimeTZ      = types.T(types.TimeTZ)
	tTimestamp   = types.T(types.Timestamp)
	tTimestampTZ = types.T(types.TimestampTZ)
	tTimestampNS = types.T(types.TimestampNS)
	tTSTZNS      = types.T(types.TimestampTZNS)
	tInterval    = types.T(types.Interval)
	tUUID        = types.T(types.UUID)
	tJSON        = types.T(types.JSON)
	tJSONB       = types.T(types.JSONB)
	tOid         = types.T(types.Oid)
	tVoid        = types.T(types.Void)
	tUnknown     = types.T(types.Unknown)
	tRecord      = types.T(types.Struct)
	tTextArray   = types.ArrayOf(types.T(types.Text))
)

// sig lists types without parameters.
func sig(kinds ...types.Kind) []types.Type {
	t := make([]types.Type, len(kinds))
	for i, k := range kinds {
		t[i] = types.T(k)
	}
	return t
}

// imm declares an immutable, strict function. impl is a Kernel (or what Fn1 … make), a Row, a
// SetKernel, an *AggImpl or a *WindowImpl.
func imm(name string, args []types.Type, ret types.Type, impl any) Func {
	return declare(name, args, ret, impl, plan.Immutable)
}

// stable declares a stable, strict function; see imm.
func stable(name string, args []types.Type, ret types.Type, impl any) Func {
	return declare(name, args, ret, impl, plan.Stable)
}

// vol declares a volatile, strict function; see imm.
func vol(name string, args []types.Type, ret types.Type, impl any) Func {
	return declare(name, args, ret, impl, plan.Volatile)
}

// op declares an immutable, strict operator; see imm.
func op(name string, args []types.Type, ret types.Type, impl any) Func {
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

// The modifiers of a declaration.
func (f Func) variadic() Func  { f.Variadic = true; return f }
func (f Func) nonStrict() Func { f.NonStrict = true; return f }

// total says that the function cannot fail, whatever its arguments.
func (f Func) total() Func { f.Total = true; return f }

// PerCall gives a function a kernel that each call of it keeps, made once: for what it remembers from batch to
// batch.
func (f Func) PerCall(kernel func(*plan.Call) Kernel) Func { f.fast.kernel = kernel; return f }

// stable says that an operator depends on the session (its time zone).
func (f Func) stable() Func { f.Volatility = plan.Stable; return f }

func (f Func) returns(fn func(args []types.Type) (types.Type, error)) Func { f.RetFn = fn; return f }
func (f Func) doc(s string) Func                                           { f.Doc = s; return f }

// table is the one table of functions and operators. Filled by init functions, then read only.
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

// Register adds declarations to the table. Call it from init functions only.
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
		f.Kernel = rowKernel(f.Row)
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
		return table.exact[oidKey(name, true, []types.Type{tAnyArray, tAnyArray})]
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
