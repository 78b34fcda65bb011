package eval

import (
	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Resolved is the outcome of overload resolution: Args[i] is what argument i must be cast to
// (often the type it has), Ret the type of the call. Args is as long as the call; a function
// with defaults gets NULLs for the missing ones by Compile.
type Resolved struct {
	Func *plan.Function
	Args []types.Type
	Ret  types.Type
}

// candidate is one overload with its argument types spread to the call's length.
type candidate struct {
	f    *plan.Function
	args []types.Type
	// expanded: a variadic parameter stands for the call's trailing arguments.
	expanded bool
}

// ResolveFunction chooses the overload of name for arguments of these types (Unknown for
// untyped literals and parameters). variadic: the call says VARIADIC before its last argument.
func ResolveFunction(name string, args []types.Type, variadic bool) (Resolved, error) {
	if (name == "greatest" || name == "least") && len(args) > 0 {
		return resolveExtreme(name, args)
	}
	overloads := table.funcs[name]
	var cands []candidate
	for _, f := range overloads {
		if c, ok := spread(f, len(args), variadic); ok {
			cands = append(cands, c)
		}
	}
	c, ambiguous := choose(cands, args)
	if c == nil {
		return Resolved{}, noFunction(name, args, ambiguous)
	}
	r, err := c.resolve(args)
	if err == nil && variadic {
		r.Func = variadicArray(r.Func, r.Args)
	}
	return r, err
}

func noFunction(name string, args []types.Type, ambiguous bool) error {
	if ambiguous {
		return sqlerr.New(sqlerr.AmbiguousFunction, "function %s(%s) is not unique", name, SpellAll(args)).
			WithHint("Could not choose a best candidate function. You might need to add explicit type casts.")
	}
	return sqlerr.New(sqlerr.UndefinedFunction, "function %s(%s) does not exist", name, SpellAll(args)).
		WithHint("No function matches the given name and argument types. You might need to add explicit type casts.")
}

// asJSONB is the jsonb as which a variant takes part in operators: it has none of its own.
func asJSONB(t types.Type) types.Type {
	if t.Kind == types.Variant {
		return TJSONB
	}
	return t
}

// ResolveOperator chooses the operator for one (prefix) or two arguments. IS [NOT] DISTINCT FROM
// counts as an operator of that name.
func ResolveOperator(name string, args []types.Type) (Resolved, error) {
	if name == "!=" {
		name = "<>"
	}
	if name == "IS DISTINCT FROM" || name == "IS NOT DISTINCT FROM" {
		r, err := ResolveOperator("=", args)
		if err != nil {
			return r, err
		}
		r.Func = distinctFrom(r.Func, name == "IS NOT DISTINCT FROM")
		return r, nil
	}
	if len(args) == 2 && args[0].Kind != types.Array && args[1].Kind != types.Array {
		args = []types.Type{asJSONB(args[0]), asJSONB(args[1])}
	}
	var cands []candidate
	for _, f := range table.ops[name] {
		if len(f.Args) == len(args) {
			cands = append(cands, candidate{f: f, args: f.Args})
		}
	}
	// An unknown operand is first taken to be of the other's type (binary_oper_exact).
	if len(args) == 2 && (args[0].Kind == types.Unknown) != (args[1].Kind == types.Unknown) {
		both := []types.Type{args[0], args[0]}
		if args[0].Kind == types.Unknown {
			both[0], both[1] = args[1], args[1]
		}
		if c := exactly(cands, both); c != nil {
			return c.resolve(args)
		}
	}
	c, ambiguous := choose(cands, args)
	if c != nil {
		return c.resolve(args)
	}
	what := spell(args[0])
	if len(args) == 2 {
		what += " " + name + " " + spell(args[1])
	} else {
		what = name + " " + what
	}
	if ambiguous {
		return Resolved{}, sqlerr.New(sqlerr.AmbiguousFunction, "operator is not unique: %s", what).
			WithHint("Could not choose a best candidate operator. You might need to add explicit type casts.")
	}
	err := sqlerr.New(sqlerr.UndefinedFunction, "operator does not exist: %s", what)
	if len(args) == 1 {
		return Resolved{}, err.WithHint("No operator matches the given name and argument type. You might need to add an explicit type cast.")
	}
	return Resolved{}, err.WithHint("No operator matches the given name and argument types. You might need to add explicit type casts.")
}

// spread fits f to n arguments: variadic parameters repeat, defaulted ones fall away.
func spread(f *plan.Function, n int, variadic bool) (candidate, bool) {
	if variadic {
		if !f.Variadic || n != len(f.Args) {
			return candidate{}, false
		}
		args := append([]types.Type(nil), f.Args...)
		last := &args[n-1]
		switch last.Kind {
		case types.Any, types.AnyElement:
			*last = TAnyArray
		default:
			*last = types.ArrayOf(*last)
		}
		return candidate{f: f, args: args}, true
	}
	fixed := len(f.Args)
	if f.Variadic {
		fixed--
		// VARIADIC "any" and PostgreSQL's array parameters both want at least one argument.
		if n <= fixed {
			return candidate{}, false
		}
		args := append(make([]types.Type, 0, n), f.Args[:fixed]...)
		for len(args) < n {
			args = append(args, f.Args[fixed])
		}
		return candidate{f: f, args: args, expanded: true}, true
	}
	if n > fixed || n < fixed-funcOf(f).Defaults {
		return candidate{}, false
	}
	return candidate{f: f, args: f.Args[:n]}, true
}

func exactly(cands []candidate, args []types.Type) *candidate {
	for i := range cands {
		ok := true
		for j, a := range args {
			ok = ok && sameForCall(a, cands[i].args[j])
		}
		if ok {
			return &cands[i]
		}
	}
	return nil
}

// choose is func_get_detail's choice: the exact match, the only possible one, or PostgreSQL's
// func_select_candidate among those possible.
func choose(cands []candidate, args []types.Type) (best *candidate, ambiguous bool) {
	if c := exactly(cands, args); c != nil {
		return c, false
	}
	var can []candidate
	for _, c := range cands {
		if c.accepts(args) {
			can = append(can, c)
		}
	}
	// A function that takes the arguments as they stand beats the same one expanded.
	if len(can) > 1 {
		can = dropShadowed(can)
	}
	switch len(can) {
	case 0:
		return nil, false
	case 1:
		return &can[0], false
	}
	if c := selectCandidate(can, args); c != nil {
		return c, false
	}
	return nil, true
}

func dropShadowed(can []candidate) []candidate {
	var keep []candidate
	for i, c := range can {
		shadowed := false
		for j, d := range can {
			if i != j && c.expanded && !d.expanded && sameTypes(c.args, d.args) {
				shadowed = true
			}
		}
		if !shadowed {
			keep = append(keep, c)
		}
	}
	return keep
}

func sameTypes(a, b []types.Type) bool {
	for i := range a {
		if !a[i].Same(b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

// accepts tells whether every argument can be implicitly what c wants.
func (c candidate) accepts(args []types.Type) bool {
	poly := false
	for i, a := range args {
		if !implicitly(a, c.args[i]) {
			return false
		}
		poly = poly || isPolymorphic(c.args[i])
	}
	if poly {
		_, err := c.polymorph(args)
		return err == nil || sqlerr.CodeOf(err) == sqlerr.IndeterminateDatatype
	}
	return true
}

func isPolymorphic(t types.Type) bool {
	return t.Kind == types.AnyElement || t.Kind == types.AnyArray || t.Kind == types.AnyNonArray
}

// arrayOperator tells whether c is one of the operators of two arrays that want both of one
// element type, as all polymorphic operators but || do. Containment does not look at dimensions.
func (c candidate) arrayOperator() (strict, flat bool) {
	if !c.f.Operator || len(c.args) != 2 || c.args[0].Kind != types.AnyArray || c.args[1].Kind != types.AnyArray {
		return false, false
	}
	switch c.f.Name {
	case "@>", "<@", "&&":
		return true, true
	}
	return c.f.Name != "||", false
}

// polymorph finds the one element type behind a call's polymorphic arguments.
func (c candidate) polymorph(args []types.Type) (types.Type, error) {
	if strict, flat := c.arrayOperator(); strict && args[0].Kind == types.Array && args[1].Kind == types.Array {
		a, b := args[0].WithDepth(1), args[1].WithDepth(1)
		if !a.Same(b) {
			return types.Type{}, cannotMatch("", args[0], args[1])
		}
		if flat {
			return CommonType([]types.Type{a.Elem(), b.Elem()})
		}
	}
	var known []types.Type
	unknownArray := false
	for i, a := range args {
		switch c.args[i].Kind {
		case types.AnyElement, types.AnyNonArray:
			if a.Kind != types.Unknown {
				known = append(known, a)
			}
		case types.AnyArray:
			switch a.Kind {
			case types.Unknown:
				unknownArray = true
			default:
				known = append(known, vec.ListChild(a))
			}
		}
	}
	if len(known) == 0 {
		if unknownArray {
			return types.Type{}, sqlerr.New(sqlerr.IndeterminateDatatype,
				"could not determine polymorphic type because input has type unknown")
		}
		return TText, nil
	}
	elem, err := CommonType(known)
	for _, a := range args {
		if _, fraction := elem.SecondDigits(); a.Kind == types.Unknown && (fraction || elem.Kind == types.Varchar || elem.Kind == types.Bpchar) {
			elem = elem.Bare() // a literal is not cut to another's length
		}
	}
	return elem, err
}

// selectCandidate is func_select_candidate, its steps in its order.
func selectCandidate(cands []candidate, args []types.Type) *candidate {
	unknowns := 0
	for _, a := range args {
		if a.Kind == types.Unknown {
			unknowns++
		}
	}
	// Keep those with the most exact matches, then those with the most exact or preferred ones.
	cands = keepBest(cands, func(c candidate) int {
		n := 0
		for i, a := range args {
			if a.Kind != types.Unknown && sameForCall(a, c.args[i]) {
				n++
			}
		}
		return n
	})
	if len(cands) == 1 {
		return &cands[0]
	}
	cands = keepBest(cands, func(c candidate) int {
		n := 0
		for i, a := range args {
			if a.Kind != types.Unknown && (sameForCall(a, c.args[i]) ||
				category(c.args[i]) == category(a) && preferred(c.args[i])) {
				n++
			}
		}
		return n
	})
	if len(cands) == 1 {
		return &cands[0]
	}
	if unknowns == 0 {
		return nil
	}
	if kept := byUnknownCategory(cands, args); kept != nil {
		if cands = kept; len(cands) == 1 {
			return &cands[0]
		}
	}
	return byKnownType(cands, args)
}

func keepBest(cands []candidate, score func(candidate) int) []candidate {
	best := -1
	var keep []candidate
	for _, c := range cands {
		n := score(c)
		if n > best {
			best, keep = n, keep[:0:0]
		}
		if n == best {
			keep = append(keep, c)
		}
	}
	return keep
}

// byUnknownCategory guesses each unknown argument's category from the candidates: string if any
// takes a string there, else the one they agree on. nil: no guess possible, or none fits it.
func byUnknownCategory(cands []candidate, args []types.Type) []candidate {
	cat := make([]byte, len(args))
	pref := make([]bool, len(args))
	for i, a := range args {
		if a.Kind != types.Unknown {
			continue
		}
		conflict := false
		for _, c := range cands {
			t := c.args[i]
			switch k := category(t); {
			case cat[i] == 0:
				cat[i], pref[i] = k, preferred(t)
			case k == cat[i]:
				pref[i] = pref[i] || preferred(t)
			case k == 'S':
				cat[i], pref[i] = k, preferred(t)
			default:
				conflict = true
			}
		}
		if conflict && cat[i] != 'S' {
			return nil
		}
	}
	var keep []candidate
	for _, c := range cands {
		ok := true
		for i, a := range args {
			if a.Kind == types.Unknown && (category(c.args[i]) != cat[i] || pref[i] && !preferred(c.args[i])) {
				ok = false
			}
		}
		if ok {
			keep = append(keep, c)
		}
	}
	return keep
}

// byKnownType assumes that unknown arguments are of the one type that all known ones have.
func byKnownType(cands []candidate, args []types.Type) *candidate {
	known := TUnknown
	for _, a := range args {
		switch {
		case a.Kind == types.Unknown:
		case known.Kind == types.Unknown:
			known = a
		case !known.Same(a):
			return nil
		}
	}
	if known.Kind == types.Unknown {
		return nil
	}
	all := make([]types.Type, len(args))
	for i := range all {
		all[i] = known
	}
	var found *candidate
	for i := range cands {
		if cands[i].accepts(all) {
			if found != nil {
				return nil
			}
			found = &cands[i]
		}
	}
	return found
}

// resolve works out what the arguments become and what the call returns.
func (c *candidate) resolve(args []types.Type) (Resolved, error) {
	r := Resolved{Func: c.f, Args: make([]types.Type, len(args)), Ret: c.f.Ret}
	var elem types.Type
	poly := isPolymorphic(c.f.Ret)
	for _, t := range c.args {
		poly = poly || isPolymorphic(t)
	}
	if poly {
		var err error
		if elem, err = c.polymorph(args); err != nil {
			return r, err
		}
	}
	for i, a := range args {
		r.Args[i] = becomes(a, c.args[i], elem)
		if _, flat := c.arrayOperator(); flat && a.Kind == types.Array {
			r.Args[i] = keepAlike(a, types.ArrayOf(elem).WithDepth(a.Depth()))
		}
		if c.f.Kind == plan.SetFunc && c.args[i].Kind == types.Numeric {
			r.Args[i] = TNumeric // a SetKernel sees values without their types: one form only
		}
	}
	if len(args) == 2 && c.f.Operator && c.args[0].Kind == types.Struct && c.args[1].Kind == types.Struct {
		r.Args[0], r.Args[1] = alikeRecords(r.Args[0], r.Args[1])
	}
	switch r.Ret.Kind {
	case types.AnyElement, types.AnyNonArray:
		r.Ret = elem
	case types.AnyArray:
		r.Ret = types.ArrayOf(elem)
	}
	d := funcOf(c.f)
	if d.RetFn != nil {
		t, err := d.RetFn(r.Args)
		if err != nil {
			return r, err
		}
		r.Ret = t
	}
	return r, nil
}

// becomes is the type that an argument of type from has when to is declared.
func becomes(from, to, elem types.Type) types.Type {
	switch to.Kind {
	case types.Any:
		if from.Kind == types.Unknown {
			return TText
		}
		return from
	case types.AnyElement, types.AnyNonArray:
		return keepAlike(from, elem)
	case types.AnyArray:
		if from.Kind == types.Int2Vector || from.Kind == types.OidVector {
			return from
		}
		return keepAlike(from, types.ArrayOf(elem))
	case types.Numeric:
		if t := asNumeric(from); t.Kind == types.Numeric {
			return t
		}
	}
	return keep(from, to)
}

// keep keeps from, parameters and all, where it is already the type wanted.
func keep(from, to types.Type) types.Type {
	if sameForCall(from, to) {
		return from
	}
	return to
}

// keepAlike keeps from only where its values also lie in memory as those of to do: the operands
// of one polymorphic type meet in the kernel.
func keepAlike(from, to types.Type) types.Type {
	if sameForCall(from, to) && from.Equal(to) {
		return from // an upper bound on digits also says how wide they lie
	}
	return to
}

// alikeRecords gives the members of two rows that are compared the same form, place by place.
// Rows of unlike types stay as they are.
func alikeRecords(a, b types.Type) (types.Type, types.Type) {
	f, g := a.Fields(), b.Fields()
	if len(f) != len(g) || types.Alike(a, b) {
		return a, b
	}
	x, y := append([]types.Field(nil), f...), append([]types.Field(nil), g...)
	for i := range f {
		if !f[i].Type.Same(g[i].Type) {
			return a, b
		}
		x[i].Type = commonParameters(f[i].Type, []types.Type{f[i].Type, g[i].Type})
		y[i].Type = x[i].Type
	}
	return a.WithFields(x...), b.WithFields(y...)
}

// resolveExtreme types greatest and least: all arguments become their common type.
func resolveExtreme(name string, args []types.Type) (Resolved, error) {
	t, err := CommonTypeIn(map[string]string{"greatest": "GREATEST", "least": "LEAST"}[name], args)
	if err != nil {
		return Resolved{}, err
	}
	if t.Kind != types.Varchar && Operator("<", t, t) == nil && t.Kind != types.Struct && t.Kind != types.Invalid {
		return Resolved{}, sqlerr.New(sqlerr.UndefinedFunction,
			"could not identify a comparison function for type %s", spell(t))
	}
	r := Resolved{Func: table.funcs[name][0], Args: make([]types.Type, len(args)), Ret: t}
	for i := range args {
		r.Args[i] = t
	}
	return r, nil
}

// made holds functions that are made on demand from others.
var made = cache.Shared[madeKey, *plan.Function]("functions of functions", 1<<20)

// madeSize is about what one takes beside its arguments.
const madeSize = 512

type madeKey struct {
	from *plan.Function
	what string
}

// variadicArray makes of a variadic function the one whose last argument is the array that
// VARIADIC names. Its elements are passed as arguments row by row.
func variadicArray(f *plan.Function, args []types.Type) *plan.Function {
	key := madeKey{f, "VARIADIC " + oidKey("", false, args)}
	if g, ok := made.Find(key); ok {
		return g
	}
	g := *f
	g.Variadic = false
	g.Args = append([]types.Type(nil), args...)
	d := *funcOf(f)
	fixed := len(args) - 1
	elem := TText
	if args[fixed].Kind != types.Unknown {
		elem = vec.ListChild(args[fixed])
	}
	ret := d
	d.Variadic, d.Args = false, g.Args
	d.NonStrict, g.Strict = true, false
	if d.Kernel != nil {
		d.Kernel = RowKernelTyped(func(c *Ctx, row []types.Datum, out types.Type) (types.Datum, error) {
			if row[fixed].IsNull() {
				return types.Null, nil
			}
			ts := append([]types.Type(nil), args[:fixed]...)
			vals := append([]types.Datum(nil), row[:fixed]...)
			for _, x := range row[fixed].List() {
				ts = append(ts, elem)
				vals = append(vals, x)
			}
			return callOnce(c, &ret, ts, vals, out)
		})
	}
	g.Impl = &d
	made.Put(key, &g, int64(madeSize+len(key.what)))
	return &g
}
