package syscat

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

func init() {
	makers["pg_catalog.pg_proc"] = pgProc
	makers["pg_catalog.pg_operator"] = pgOperator
	makers["pg_catalog.pg_aggregate"] = pgAggregate
}

// pgProc lists the engine's functions, then the types' I/O functions, which some clients look
// for by name (array_recv).
func pgProc(ctx context.Context, q *query) error {
	name, byName := q.wantStr("proname")
	oid, byOID := q.wantOID("oid")
	seen := map[uint32]bool{}
	for _, f := range eval.Functions() {
		if f.Operator || byName && f.Name != name || byOID && f.OID != oid || seen[f.OID] {
			continue
		}
		seen[f.OID] = true
		if err := q.proc(f.OID, f.Name, f); err != nil {
			return err
		}
	}
	for _, t := range typeRows() {
		for _, f := range []funcRef{t.input, t.output, t.receive, t.send} {
			if f.oid == 0 || seen[f.oid] || byName && f.name != name || byOID && f.oid != oid {
				continue
			}
			seen[f.oid] = true
			if err := q.proc(f.oid, f.name, nil); err != nil {
				return err
			}
		}
	}
	return q.procedures(ctx, func(o uint32, n string) bool { return (!byName || n == name) && (!byOID || o == oid) })
}

func (q *query) proc(oid uint32, name string, f *plan.Function) error {
	kind, strict, volatile, ret, variadic, set := "f", true, "i", uint32(2281), 0, false
	var args []int
	if f != nil {
		kind = map[plan.FuncKind]string{plan.AggregateFunc: "a", plan.WindowFunc: "w"}[f.Kind]
		if kind == "" {
			kind = "f"
		}
		strict = f.Strict
		volatile = map[plan.Volatility]string{plan.Immutable: "i", plan.Stable: "s", plan.Volatile: "v"}[f.Volatility]
		set = f.Kind == plan.SetFunc
		ret = signatureOID(f.Ret)
		for _, a := range f.Args {
			args = append(args, int(signatureOID(a)))
		}
		if f.Variadic && len(f.Args) > 0 {
			variadic = int(f.Args[len(f.Args)-1].OID())
		}
	}
	var all, modes, argNames any // NULL where all arguments are inputs without names
	if f != nil && f.Ret.Kind == types.Struct && len(f.Ret.Fields()) > 0 {
		types, kinds, names := append([]int{}, args...), []string{}, []string{}
		for range args {
			kinds, names = append(kinds, "i"), append(names, "")
		}
		for _, o := range f.Ret.Fields() {
			types, kinds, names = append(types, int(o.Type.OID())), append(kinds, "o"), append(names, o.Name)
		}
		all, modes, argNames = types, kinds, names
	}
	return q.row("proallargtypes", all, "proargmodes", modes, "proargnames", argNames,
		"oid", oid, "proname", name, "pronamespace", pgCatalogOID, "proowner", ownerOID, "prolang", 12, "procost", 1.0,
		"prorows", 0.0, "provariadic", variadic, "prosupport", 0, "prokind", kind, "prosecdef", false, "proleakproof", false,
		"proisstrict", strict, "proretset", set, "provolatile", volatile, "proparallel", "s", "pronargs", len(args),
		"pronargdefaults", 0, "prorettype", ret, "proargtypes", args, "prosrc", name)
}

// signatureOID is a type's OID in a signature: any row is a record there.
func signatureOID(t types.Type) uint32 {
	if t.Kind == types.Struct {
		return 2249
	}
	return t.OID()
}

func signatureName(t types.Type) string {
	if t.Kind == types.Struct {
		return "record"
	}
	return t.String()
}

// Function finds a function by OID.
func Function(oid uint32) *plan.Function {
	for _, f := range eval.Functions() {
		if f.OID == oid && !f.Operator {
			return f
		}
	}
	return nil
}

// FunctionName is the name of the function with the OID, I/O functions included.
func FunctionName(oid uint32) (string, bool) {
	if f := Function(oid); f != nil {
		return f.Name, true
	}
	for _, t := range typeRows() {
		for _, f := range []funcRef{t.input, t.output, t.receive, t.send} {
			if f.oid == oid && oid != 0 {
				return f.name, true
			}
		}
	}
	return "", false
}

// FunctionOID finds a function by name, without or with its argument types in parentheses.
func FunctionOID(name string) (uint32, bool) {
	name, _, _ = strings.Cut(name, "(")
	for _, f := range eval.Functions() {
		if f.Name == name && !f.Operator {
			return f.OID, true
		}
	}
	for _, t := range typeRows() {
		for _, f := range []funcRef{t.input, t.output, t.receive, t.send} {
			if f.name == name && name != "-" {
				return f.oid, true
			}
		}
	}
	return 0, false
}

// Arguments is pg_get_function_arguments; Result pg_get_function_result.
func Arguments(f *plan.Function) string {
	out := inputs(f)
	if f.Ret.Kind == types.Struct {
		for _, o := range f.Ret.Fields() {
			out = append(out, "OUT "+Quote(o.Name)+" "+o.Type.String())
		}
	}
	return strings.Join(out, ", ")
}

func inputs(f *plan.Function) []string {
	out := make([]string, len(f.Args))
	for i, a := range f.Args {
		out[i] = signatureName(a)
		if f.Variadic && i == len(f.Args)-1 {
			out[i] = "VARIADIC " + out[i] + "[]"
		}
	}
	return out
}

func Result(f *plan.Function) string {
	if f.Kind == plan.SetFunc {
		return "SETOF " + signatureName(f.Ret)
	}
	return signatureName(f.Ret)
}

// Definition is pg_get_functiondef: every function is built in.
func Definition(f *plan.Function) string {
	how := map[plan.Volatility]string{plan.Immutable: " IMMUTABLE", plan.Stable: " STABLE"}[f.Volatility] + " PARALLEL SAFE"
	if f.Strict {
		how += " STRICT"
	}
	return "CREATE OR REPLACE FUNCTION pg_catalog." + Quote(f.Name) + "(" + Arguments(f) + ")\n RETURNS " + Result(f) +
		"\n LANGUAGE internal\n" + how + "\nAS $function$" + f.Name + "$function$\n"
}

// IdentityArguments is pg_get_function_identity_arguments.
func IdentityArguments(f *plan.Function) string { return strings.Join(inputs(f), ", ") }

func pgOperator(ctx context.Context, q *query) error {
	for _, f := range eval.Functions() {
		if !f.Operator || len(f.Args) == 0 || len(f.Args) > 2 {
			continue
		}
		left, right, kind := types.Type{}, f.Args[len(f.Args)-1], "l"
		if len(f.Args) == 2 {
			left, kind = f.Args[0], "b"
		}
		if err := q.row("oid", f.OID, "oprname", f.Name, "oprnamespace", pgCatalogOID, "oprowner", ownerOID, "oprkind", kind,
			"oprcanmerge", false, "oprcanhash", false, "oprleft", left.OID(), "oprright", right.OID(), "oprresult", f.Ret.OID(),
			"oprcom", 0, "oprnegate", 0, "oprcode", 0, "oprrest", 0, "oprjoin", 0); err != nil {
			return err
		}
	}
	return nil
}

func pgAggregate(ctx context.Context, q *query) error {
	for _, f := range eval.Functions() {
		if f.Kind != plan.AggregateFunc {
			continue
		}
		if err := q.row("aggfnoid", f.OID, "aggkind", "n", "aggnumdirectargs", 0, "aggtransfn", 0, "aggfinalfn", 0,
			"aggcombinefn", 0, "aggserialfn", 0, "aggdeserialfn", 0, "aggmtransfn", 0, "aggminvtransfn", 0, "aggmfinalfn", 0,
			"aggfinalextra", false, "aggmfinalextra", false, "aggfinalmodify", "r", "aggmfinalmodify", "r", "aggsortop", 0,
			"aggtranstype", f.Ret.OID(), "aggtransspace", 0, "aggmtranstype", 0, "aggmtransspace", 0); err != nil {
			return err
		}
	}
	return nil
}

// Signature is how regprocedure shows a function: abs(integer).
func Signature(f *plan.Function) string {
	out := make([]string, len(f.Args))
	for i, a := range f.Args {
		out[i] = signatureName(a)
		if f.Variadic && i == len(f.Args)-1 && a.Kind != types.Any {
			out[i] += "[]"
		}
	}
	return Quote(f.Name) + "(" + strings.Join(out, ",") + ")"
}

// Operator finds an operator by OID.
func Operator(oid uint32) *plan.Function {
	for _, f := range eval.Functions() {
		if f.OID == oid && f.Operator {
			return f
		}
	}
	return nil
}

// OperatorSignature is how regoperator shows an operator: +(integer,integer), -(NONE,integer).
func OperatorSignature(f *plan.Function) string {
	out := make([]string, 0, 2)
	if len(f.Args) == 1 {
		out = append(out, "NONE")
	}
	for _, a := range f.Args {
		out = append(out, signatureName(a))
	}
	return f.Name + "(" + strings.Join(out, ",") + ")"
}

// OperatorOID finds the operator of a name; args are the types of its operands, 0 for none, nil
// if they are not known: then there must be one operator of the name only.
func OperatorOID(name string, args []uint32) (oid uint32, ok bool) {
	for _, f := range eval.Functions() {
		if !f.Operator || f.Name != name {
			continue
		}
		if args == nil {
			if ok {
				return 0, false
			}
			oid, ok = f.OID, true
			continue
		}
		want := args
		if len(want) == 2 && want[0] == 0 {
			want = want[1:]
		}
		if len(args) == 2 && takes(f, want) {
			return f.OID, true
		}
	}
	return oid, ok
}

// ProcedureOID finds a function by its name and the types of its arguments.
func ProcedureOID(name string, args []uint32) (uint32, bool) {
	for _, f := range eval.Functions() {
		if !f.Operator && f.Name == name && takes(f, args) {
			return f.OID, true
		}
	}
	return 0, false
}

func takes(f *plan.Function, args []uint32) bool {
	if len(f.Args) != len(args) {
		return false
	}
	for i, a := range f.Args {
		if signatureOID(a) != args[i] {
			return false
		}
	}
	return true
}
