package bind

import (
	"slices"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

func mysqlFunctionName(parts []string) (string, bool) {
	if len(parts) == 1 {
		return strings.ToLower(parts[0]), true
	}
	return strings.Join(parts, "."), false
}

// mysqlPlain are functions whose PostgreSQL meaning is MySQL's too: window functions, and those
// of the lakehouse.
var mysqlPlain = map[string]bool{"row_number": true, "rank": true, "dense_rank": true, "percent_rank": true,
	"cume_dist": true, "ntile": true, "lag": true, "lead": true, "first_value": true, "last_value": true,
	"nth_value": true, "iceberg": true, "generate_series": true}

func mysqlResolveFunction(name string, args []types.Type, variadic bool) (eval.Resolved, error) {
	if mysqlPlain[name] {
		return eval.ResolveFunction(name, args, variadic)
	}
	return eval.Resolved{}, sqlerr.New(sqlerr.UndefinedFunction, "FUNCTION %s does not exist", name)
}

// mysqlNames are functions that go by several names.
var mysqlNames = map[string]string{
	"lcase": "lower", "ucase": "upper", "character_length": "char_length", "octet_length": "length",
	"power": "pow", "ceil": "ceiling", "sha": "sha1", "std": "stddev_pop", "stddev": "stddev_pop",
	"variance": "var_pop", "substr": "substring", "mid": "substring", "schema": "database",
	"session_user": "user", "system_user": "user", "current_date": "curdate",
	"current_timestamp": "now", "localtime": "now", "localtimestamp": "now", "current_time": "curtime",
	"json_merge": "json_merge_preserve", "json_arrayagg": "json_arrayagg", "bit_count": "bit_count",
	"avg": "avg", "rlike": "regexp_like", "to_char": "to_char", "mod": "mod", "instr": "instr",
}

// mysqlForms are the functions that types alone do not choose. They bind their arguments.
var mysqlForms map[string]func(f *mysqlForm) plan.Expr

// mysqlForm is a call that is being bound.
type mysqlForm struct {
	b    *binder
	lv   *level
	name string
	call *ast.Call
	args []plan.Expr
	pos  int
}

func init() {
	mysqlForms = map[string]func(f *mysqlForm) plan.Expr{
		"count": (*mysqlForm).count, "sum": (*mysqlForm).sum, "avg": (*mysqlForm).avg,
		"min": (*mysqlForm).extreme, "max": (*mysqlForm).extreme, "any_value": (*mysqlForm).anyValue,
		"stddev_pop": (*mysqlForm).statistic, "stddev_samp": (*mysqlForm).statistic,
		"var_pop": (*mysqlForm).statistic, "var_samp": (*mysqlForm).statistic,
		"bit_and": (*mysqlForm).bits, "bit_or": (*mysqlForm).bits, "bit_xor": (*mysqlForm).bits,
		"group_concat": (*mysqlForm).groupConcat, "json_arrayagg": (*mysqlForm).jsonAgg, "json_objectagg": (*mysqlForm).jsonAgg,

		"if": (*mysqlForm).ifThen, "ifnull": (*mysqlForm).ifNull, "isnull": (*mysqlForm).isNull,
		"greatest": (*mysqlForm).greatest, "least": (*mysqlForm).greatest,
		"interval": (*mysqlForm).interval, "field": (*mysqlForm).field, "strcmp": (*mysqlForm).strcmp,
		"like": (*mysqlForm).like, "regexp_like": (*mysqlForm).regexp, "regexp_replace": (*mysqlForm).regexp,
		"regexp_substr": (*mysqlForm).regexp, "regexp_instr": (*mysqlForm).regexp,
		"locate": (*mysqlForm).locate, "instr": (*mysqlForm).locate,
		"abs": (*mysqlForm).number, "ceiling": (*mysqlForm).number, "floor": (*mysqlForm).number, "truncate": (*mysqlForm).number,
		"extract": (*mysqlForm).extract, "round": (*mysqlForm).round, "mod": (*mysqlForm).mod, "rand": (*mysqlForm).rand,
		"hex": (*mysqlForm).hex, "char using": (*mysqlForm).charUsing, "convert using": (*mysqlForm).convertUsing,
		"lpad": (*mysqlForm).pad, "rpad": (*mysqlForm).pad, "conv": (*mysqlForm).conv, "week": (*mysqlForm).week,
		"date": (*mysqlForm).dateOf, "str_to_date": (*mysqlForm).strToDate, "timediff": (*mysqlForm).timeDiff,
		"date_add": (*mysqlForm).dateAdd, "date_sub": (*mysqlForm).dateAdd,
		"literal date": (*mysqlForm).literal, "literal datetime": (*mysqlForm).literal, "literal time": (*mysqlForm).literal,
		"now": (*mysqlForm).now, "curtime": (*mysqlForm).now, "utc_timestamp": (*mysqlForm).now,
		"utc_time": (*mysqlForm).now, "sysdate": (*mysqlForm).now,
		"json_object": (*mysqlForm).jsonBuild, "json_array": (*mysqlForm).jsonBuild, "json_set": (*mysqlForm).jsonChange,
		"json_insert": (*mysqlForm).jsonChange, "json_replace": (*mysqlForm).jsonChange, "member of": (*mysqlForm).memberOf,
		"json_contains": (*mysqlForm).jsonContains, "json_unquote": (*mysqlForm).jsonUnquote, "json_type": (*mysqlForm).jsonDoc,
		"json_valid": (*mysqlForm).jsonValid, "json_array_append": (*mysqlForm).jsonChange, "json_array_insert": (*mysqlForm).jsonChange,
		"json_search": (*mysqlForm).jsonSearch,
		"aes_encrypt": (*mysqlForm).cipher, "aes_decrypt": (*mysqlForm).cipher, "name_const": (*mysqlForm).nameConst,

		"database": (*mysqlForm).session, "version": (*mysqlForm).session, "user": (*mysqlForm).session,
		"current_user": (*mysqlForm).session, "connection_id": (*mysqlForm).session, "found_rows": (*mysqlForm).session,
		"row_count": (*mysqlForm).session, "last_insert_id": (*mysqlForm).session, "current_role": (*mysqlForm).session,
		"charset": (*mysqlForm).charset, "collation": (*mysqlForm).charset, "coercibility": (*mysqlForm).charset,
		"values": (*mysqlForm).values, "load_file": (*mysqlForm).refused,
		"get_lock": (*mysqlForm).refused, "benchmark": (*mysqlForm).refused,
	}
}

// mysqlCall binds a call of a MySQL function; nil where it is none of them.
func mysqlCall(b *binder, lv *level, name string, c *ast.Call) plan.Expr {
	if n, ok := mysqlNames[name]; ok {
		name = n
	}
	for _, a := range c.Args {
		if a.Name != "" && name != "group_concat" {
			return nil
		}
	}
	form := mysqlForms[name]
	known := form != nil || len(eval.FunctionsNamed("mysql:"+name)) > 0
	if !known || mysqlPlain[name] {
		return nil
	}
	f := &mysqlForm{b: b, lv: lv, name: name, call: c, pos: c.Pos}
	for _, a := range c.Args {
		f.args = append(f.args, b.argument(lv, a.Expr))
	}
	if form != nil {
		return b.mark(form(f), c.Pos)
	}
	b.refuseModifiers(c, name, false)
	if c.Star {
		b.fail(sqlerr.SyntaxError, c.Pos, "%s(*) is not a call of an aggregate function", name)
	}
	return b.mark(f.eval(name, f.args...), c.Pos)
}

// eval calls mysql:name with these arguments, or says that their number is wrong.
func (f *mysqlForm) eval(name string, args ...plan.Expr) plan.Expr {
	fn := f.b.overload("mysql:"+name, args)
	if fn == nil {
		f.wrongCount()
	}
	if mysqlBinary[name] && slices.ContainsFunc(args, func(x plan.Expr) bool { return classOf(x.Type()) == isBytes }) {
		return f.binary(fn, name, args)
	}
	return f.b.applyFunction(fn, args, f.pos)
}

// mysqlBinary are the functions on strings that are binary where one of their arguments is: a byte is
// then a character, and there are no letters.
var mysqlBinary = map[string]bool{
	"concat": true, "concat_ws": true, "upper": true, "lower": true, "left": true, "right": true, "substring": true, "substring_index": true,
	"trim": true, "ltrim": true, "rtrim": true, "lpad": true, "rpad": true, "repeat": true, "reverse": true, "replace": true, "insert": true,
	"elt": true, "make_set": true, "export_set": true, "quote": true, "locate": true, "locate_ci": true, "char_length": true,
}

// binary calls a function on texts with binary strings: each byte as the character of its number.
func (f *mysqlForm) binary(fn *plan.Function, name string, args []plan.Expr) plan.Expr {
	if name == "upper" || name == "lower" {
		return args[0]
	}
	if name == "locate_ci" {
		fn = f.b.overload("mysql:locate", args)
	}
	wide := make([]plan.Expr, len(args))
	for i, x := range args {
		if wide[i] = x; fn.Args[min(i, len(fn.Args)-1)].Kind == types.Text {
			wide[i] = f.widened(x)
		}
	}
	y := f.b.applyFunction(fn, wide, f.pos)
	if fn.Ret.Kind == types.Text {
		y = f.b.evalCall("mysql:narrow", f.pos, y)
	}
	return y
}

func (f *mysqlForm) widened(x plan.Expr) plan.Expr {
	if isNullLit(x) {
		return f.b.asText(x)
	}
	return f.b.evalCall("mysql:widen", f.pos, f.b.asBytes(x))
}

func (f *mysqlForm) wrongCount() {
	f.b.fail(sqlerr.InvalidParameterValue, f.pos, "Incorrect parameter count in the call to native function '%s'", f.name)
}

// need makes sure that there are between least and most arguments.
func (f *mysqlForm) need(least, most int) {
	f.b.refuseModifiers(f.call, f.name, false)
	if f.call.Star || len(f.args) < least || len(f.args) > most {
		f.wrongCount()
	}
}

func (f *mysqlForm) refused() plan.Expr {
	if f.name == "load_file" {
		e := sqlerr.New(sqlerr.InsufficientPrivilege, "LOAD_FILE() is not allowed: the server reads and writes no files for its clients")
		f.b.failWith(e.WithNumber(1290).At(f.pos))
		return nil
	}
	f.b.fail(sqlerr.FeatureNotSupported, f.pos, "%s() is not supported: it has no use here", strings.ToUpper(f.name))
	return nil
}

// values is VALUES(c) outside of ON DUPLICATE KEY UPDATE, where there is no row that it reads.
func (f *mysqlForm) values() plan.Expr {
	f.need(1, 1)
	return plan.NullOf(f.b.known(f.args[0]).Type())
}

// ---- aggregates ----

// aggregate binds an aggregate of eval's table over these arguments, with the call's DISTINCT
// and OVER.
func (f *mysqlForm) aggregate(name string, distinct bool, keys []plan.SortKey, args ...plan.Expr) plan.Expr {
	b := f.b
	var r eval.Resolved
	if strings.HasPrefix(name, "mysql:") {
		fn := b.overload(name, args)
		r = eval.Resolved{Func: fn, Args: fn.Args, Ret: fn.Ret}
	} else {
		var err error
		r, err = eval.ResolveFunction(name, exprTypes(args), false)
		b.check(err, f.pos)
	}
	c := *f.call
	c.Distinct, c.OrderBy = distinct, nil
	if !c.Star && len(c.Args) == 0 {
		f.wrongCount()
	}
	return b.aggregateCall(f.lv, &c, r, args, len(args), keys)
}

func (f *mysqlForm) one() plan.Expr {
	if len(f.args) != 1 || f.call.Star {
		f.wrongCount()
	}
	return f.args[0]
}

func (f *mysqlForm) count() plan.Expr {
	b := f.b
	if f.call.Star {
		return f.aggregate("count", false, nil)
	}
	if !f.call.Distinct {
		return f.aggregate("count", false, nil, b.known(f.one()))
	}
	var keys, some []plan.Expr
	for _, a := range f.args {
		a = b.known(a)
		keys = append(keys, b.key(a))
		some = append(some, &plan.IsNull{X: a, Negate: true})
	}
	if len(keys) == 0 {
		f.wrongCount()
	}
	if len(keys) == 1 {
		return f.aggregate("count", true, nil, keys[0])
	}
	// Rows in which one of them is NULL do not count.
	row := b.rowOfExprs(keys)
	return f.aggregate("count", true, nil, &plan.Case{Typ: row.Type(), Whens: []plan.When{{Cond: plan.AndOf(some...), Then: row}}})
}

// exact makes a sum's argument: bigint or numeric, else double.
func (f *mysqlForm) exact() plan.Expr {
	x := f.b.asNumber(f.one())
	if classOf(x.Type()) == isInt {
		return f.b.to(x, types.Int8)
	}
	if classOf(x.Type()) == isDouble {
		return f.b.to(x, types.Float8)
	}
	return x
}

func (f *mysqlForm) sumOf(x plan.Expr) plan.Expr {
	s := f.aggregate("sum", f.call.Distinct, nil, x)
	if c, ok := s.(*plan.Col); ok && classOf(c.Typ) == isDecimal && !c.Typ.Fixed {
		if n := f.b.scaleOf(x); n >= 0 {
			f.b.my().scales[c.ID] = n
		}
	}
	return s
}

func (f *mysqlForm) sum() plan.Expr { return f.sumOf(f.exact()) }

func (f *mysqlForm) avg() plan.Expr {
	x := f.exact()
	if classOf(x.Type()) == isDouble {
		return f.aggregate("avg", f.call.Distinct, nil, x)
	}
	sum := f.sumOf(x)
	n := f.aggregate("count", f.call.Distinct, nil, x)
	return f.b.evalCall("mysql:div", f.pos, f.b.to(sum, types.Numeric), f.b.to(n, types.Numeric), int4Const(int64(f.b.my().divScale)))
}

// extreme is MIN and MAX. A text's is that of its keys, with the text behind.
func (f *mysqlForm) extreme() plan.Expr {
	b := f.b
	x := b.known(f.one())
	switch classOf(x.Type()) {
	case isBool:
		x = b.to(x, types.Int8)
	case isBytes:
		return f.aggregate("mysql:"+f.name, false, nil, x)
	case isJSON, isOther:
		x = b.asText(x)
	case isTime:
		x = b.to(x, types.Interval)
	}
	if memberNumber(x) != nil { // the least of an ENUM is that of its texts
		x = &plan.Cast{X: x, Typ: types.T(types.Text), Context: plan.Implicit, Pos: -1}
	}
	if k := b.key(x); k != x {
		y := f.aggregate("mysql:"+f.name, false, nil, b.evalCall("mysql:keyed", f.pos, k, x))
		return b.evalCall("mysql:unkeyed", f.pos, y)
	}
	y := f.aggregate(f.name, false, nil, x)
	if c, ok := y.(*plan.Col); ok && classOf(c.Typ) == isDecimal && !c.Typ.Fixed {
		if n := b.scaleOf(x); n >= 0 {
			b.my().scales[c.ID] = n
		}
	}
	return y
}

func (f *mysqlForm) anyValue() plan.Expr {
	return f.aggregate("any_value", false, nil, f.b.known(f.one()))
}

func (f *mysqlForm) statistic() plan.Expr {
	return f.aggregate(f.name, f.call.Distinct, nil, f.b.to(f.b.asNumber(f.one()), types.Float8))
}

// bits is BIT_AND and its kin, over 64 bits without a sign; of no rows it is all ones or zero.
func (f *mysqlForm) bits() plan.Expr {
	b := f.b
	x := f.aggregate(f.name, false, nil, b.evalCall("mysql:to_bits", f.pos, b.asBits(f.one())))
	none := int64(0)
	if f.name == "bit_and" {
		none = -1
	}
	x = &plan.Coalesce{Typ: types.T(types.Int8), Args: []plan.Expr{x, &plan.Const{Value: types.NewInt(none), Typ: types.T(types.Int8)}}}
	return b.evalCall("mysql:from_bits", f.pos, x)
}

// groupConcat joins texts, of DISTINCT one for each key.
func (f *mysqlForm) groupConcat() plan.Expr {
	b := f.b
	sep := ","
	var parts []plan.Expr
	for i, a := range f.call.Args {
		if a.Name == "separator" {
			sep = a.Expr.(*ast.Lit).Text
			continue
		}
		parts = append(parts, f.args[i])
	}
	binary := slices.ContainsFunc(parts, func(x plan.Expr) bool { return classOf(x.Type()) == isBytes })
	for i, x := range parts {
		if parts[i] = b.asText(x); binary {
			parts[i] = f.widened(x)
		}
	}
	if binary {
		wide := []rune{}
		for _, c := range []byte(sep) {
			wide = append(wide, rune(c))
		}
		sep = string(wide)
	}
	x := parts[0]
	if len(parts) > 1 {
		x = b.evalCall("mysql:concat", f.pos, parts...)
	}
	limit := b.my().concatMax
	cut := func(y plan.Expr) plan.Expr {
		if binary {
			return b.evalCall("mysql:narrow", f.pos, b.evalCall("mysql:left", f.pos, y, &plan.Const{Value: types.NewInt(limit), Typ: types.T(types.Int8)}))
		}
		return b.evalCall("mysql:cut", f.pos, y, &plan.Const{Value: types.NewInt(limit), Typ: types.T(types.Int8)})
	}
	if f.call.Distinct {
		k := b.key(x)
		if k == x {
			k = b.asBytes(x)
		}
		order := int64(0)
		for _, o := range f.call.OrderBy {
			y := f.orderArg(o.Expr, parts)
			if len(f.call.OrderBy) > 1 || !plan.EqualExpr(b.asText(y), x) {
				b.fail(sqlerr.FeatureNotSupported, o.Pos, "GROUP_CONCAT(DISTINCT …) can be ordered by what it joins only")
			}
			if order = 1; o.Desc {
				order = -1
			}
		}
		all := f.aggregate("array_agg", true, nil, b.evalCall("mysql:keyed", f.pos, k, x))
		return cut(b.evalCall("mysql:concat_distinct", f.pos, all, textConst(sep), int4Const(order)))
	}
	var keys []plan.SortKey
	for _, o := range f.call.OrderBy {
		keys = append(keys, b.sortKey(f.orderArg(o.Expr, parts), o))
	}
	return cut(f.aggregate("string_agg", false, keys, x, textConst(sep)))
}

// orderArg binds an ORDER BY entry in GROUP_CONCAT; a number is an argument's position.
func (f *mysqlForm) orderArg(e ast.Expr, parts []plan.Expr) plan.Expr {
	if i, ok := f.b.ordinal(e, "ORDER BY", len(parts)); ok {
		return parts[i]
	}
	return f.b.expr(f.lv, e)
}

func (f *mysqlForm) jsonAgg() plan.Expr {
	b := f.b
	if f.name == "json_arrayagg" {
		return f.aggregate("jsonb_agg", false, nil, b.jsonValue(f.one()))
	}
	if len(f.args) != 2 {
		f.wrongCount()
	}
	return f.aggregate("jsonb_object_agg", false, nil, b.asText(f.args[0]), b.jsonValue(f.args[1]))
}

// ---- conditionals ----

func (b *binder) choose(what string, values []plan.Expr) (types.Type, []plan.Expr) {
	t := b.commonType(what, values, true)
	out := make([]plan.Expr, len(values))
	for i, v := range values {
		out[i] = b.coerce(v, t, plan.Implicit)
	}
	return t, out
}

func (f *mysqlForm) ifThen() plan.Expr {
	f.need(3, 3)
	t, v := f.b.choose("IF", f.args[1:])
	return &plan.Case{Typ: t, Whens: []plan.When{{Cond: mysqlTruth(f.b, f.args[0]), Then: v[0]}}, Else: v[1]}
}

func (f *mysqlForm) ifNull() plan.Expr {
	f.need(2, 2)
	t, v := f.b.choose("IFNULL", f.args)
	return &plan.Coalesce{Typ: t, Args: v}
}

func (f *mysqlForm) isNull() plan.Expr {
	f.need(1, 1)
	return &plan.IsNull{X: f.b.known(f.args[0])}
}

// greatest is NULL when one argument is. Numbers and texts together compare as numbers.
func (f *mysqlForm) greatest() plan.Expr {
	b := f.b
	f.need(2, 1<<20)
	t := b.commonType(f.name, f.args, true)
	args := make([]plan.Expr, len(f.args))
	numbers := false
	for _, a := range f.args {
		numbers = numbers || classOf(a.Type()).number()
	}
	var null []plan.Expr
	for i, a := range f.args {
		if numbers && classOf(t) == isText {
			a = b.to(b.asNumber(a), types.Float8)
			t = types.T(types.Float8)
		} else if numbers && t.Kind == types.Float8 {
			a = b.to(b.asNumber(a), types.Float8)
		}
		args[i] = b.coerce(a, t, plan.Implicit)
		if classOf(t) == isBool {
			args[i] = b.to(args[i], types.Int8)
		}
		if !isNullLit(f.args[i]) {
			null = append(null, &plan.IsNull{X: args[i]})
		} else {
			return plan.NullOf(t)
		}
	}
	if k := b.key(args[0]); k != args[0] {
		// The key with the text behind it, compared as bytes: a list of which the last is taken.
		c := b.collationIn(args...)
		x := args[0]
		for _, y := range args[1:] {
			op := ">="
			if f.name == "least" {
				op = "<="
			}
			x = &plan.Case{Typ: x.Type(), Whens: []plan.When{{Cond: b.plainOperator(op, b.keyIn(x, c), b.keyIn(y, c), f.pos), Then: x}}, Else: y}
		}
		return &plan.Case{Typ: x.Type(), Whens: []plan.When{{Cond: plan.OrOf(null...), Then: plan.NullOf(x.Type())}}, Else: x}
	}
	r, err := eval.ResolveFunction(f.name, exprTypes(args), false)
	b.check(err, f.pos)
	x := &plan.Call{Func: r.Func, Args: b.coerceArgs(args, r.Args), Typ: r.Ret, Pos: b.at(f.pos)}
	return &plan.Case{Typ: x.Typ, Whens: []plan.When{{Cond: plan.OrOf(null...), Then: plan.NullOf(x.Typ)}}, Else: x}
}

// interval is INTERVAL(n, a, b, …): how many of the ascending a, b, … are not above n; and the
// offset of a window frame, INTERVAL n unit.
func (f *mysqlForm) interval() plan.Expr {
	b := f.b
	if k := f.lv.kind; (k == inFrameRange || k == inFrameRows) && len(f.args) == 2 {
		return b.evalCall("mysql:interval", f.pos, f.amount(f.args[0]), f.args[1])
	}
	f.need(2, 1<<16)
	c := &plan.Case{Typ: types.T(types.Int4)}
	x := f.args[0]
	c.Whens = append(c.Whens, plan.When{Cond: &plan.IsNull{X: b.known(x)}, Then: int4Const(-1)})
	for i, y := range f.args[1:] {
		c.Whens = append(c.Whens, plan.When{Cond: b.plainOperator("<", b.to(b.asNumber(x), types.Float8), b.to(b.asNumber(y), types.Float8), f.pos), Then: int4Const(int64(i))})
	}
	c.Else = int4Const(int64(len(f.args) - 1))
	return c
}

// field is the position of the first argument among the others, 0 where it is none of them.
func (f *mysqlForm) field() plan.Expr {
	b := f.b
	f.need(2, 1<<16)
	text, number := true, true
	for _, a := range f.args {
		k := classOf(a.Type())
		text = text && (k == isText || k == isNull)
		number = number && (k.number() || k == isNull)
	}
	c := &plan.Case{Typ: types.T(types.Int4), Else: int4Const(0)}
	for i, y := range f.args[1:] {
		x := f.args[0]
		if !text && !number {
			x, y = b.to(b.asNumber(x), types.Float8), b.to(b.asNumber(y), types.Float8)
		}
		c.Whens = append(c.Whens, plan.When{Cond: b.operator("=", x, y, f.pos), Then: int4Const(int64(i + 1))})
	}
	return c
}

func (f *mysqlForm) strcmp() plan.Expr {
	b := f.b
	f.need(2, 2)
	x, y := b.asText(f.args[0]), b.asText(f.args[1])
	return &plan.Case{Typ: types.T(types.Int4), Whens: []plan.When{
		{Cond: b.operator("<", x, y, f.pos), Then: int4Const(-1)},
		{Cond: b.operator(">", x, y, f.pos), Then: int4Const(1)},
		{Cond: b.operator("=", x, y, f.pos), Then: int4Const(0)}}}
}

// ---- patterns ----

func (b *binder) binaryText(args ...plan.Expr) bool {
	for _, a := range args {
		if classOf(a.Type()) == isBytes {
			return true
		}
	}
	f := keyFunction(b.collationIn(args...))
	return f == "" || f == "mysql:key_bin_pad"
}

func (f *mysqlForm) like() plan.Expr {
	b := f.b
	name := "mysql:like_ci"
	if b.binaryText(f.args[:2]...) {
		name = "mysql:like_bin"
	}
	esc := textConst(`\`)
	if len(f.args) > 2 {
		esc = b.asText(f.args[2])
	}
	x, p := b.asText(f.args[0]), b.asText(f.args[1])
	if c, ok := p.(*plan.Const); ok && name == "mysql:like_bin" && len(f.args) == 2 {
		// The engine's own LIKE prunes files.
		return b.plainOperator("~~", x, c, f.pos)
	}
	return b.evalCall(name, f.pos, x, p, esc)
}

// regexp adds the missing arguments of the REGEXP_ functions and the collation's flag.
func (f *mysqlForm) regexp() plan.Expr {
	b := f.b
	flag := "i"
	if len(f.args) >= 2 && b.binaryText(f.args[:2]...) {
		flag = "c"
	}
	one := func() plan.Expr { return b.to(int4Const(1), types.Int8) }
	zero := func() plan.Expr { return b.to(int4Const(0), types.Int8) }
	defaults := map[string][]plan.Expr{
		"regexp_like":    {nil, nil, textConst(flag)},
		"regexp_replace": {nil, nil, nil, one(), zero(), textConst(flag)},
		"regexp_substr":  {nil, nil, one(), one(), textConst(flag)},
		"regexp_instr":   {nil, nil, one(), one(), zero(), textConst(flag)},
	}[f.name]
	least := 2
	if f.name == "regexp_replace" {
		least = 3
	}
	f.need(least, len(defaults))
	n := len(f.args)
	args := append(append([]plan.Expr(nil), f.args...), defaults[n:]...)
	if n == len(defaults) {
		// A match_type is read behind the collation's, whose last letter counts.
		args[n-1] = b.evalCall("mysql:concat", f.pos, textConst(flag), b.asText(args[n-1]))
	}
	return f.eval(f.name, args...)
}

func (f *mysqlForm) locate() plan.Expr {
	b := f.b
	args := append([]plan.Expr(nil), f.args...)
	if f.name == "instr" {
		f.need(2, 2)
		args[0], args[1] = args[1], args[0]
	} else {
		f.need(2, 3)
	}
	if b.binaryText(args[:2]...) {
		return f.eval("locate", args...)
	}
	return f.eval("locate_ci", args...)
}

// ---- numbers ----

func (f *mysqlForm) round() plan.Expr {
	f.need(1, 2)
	x := f.b.asNumber(f.args[0])
	if len(f.args) == 1 {
		if classOf(x.Type()) == isInt {
			return x
		}
		return f.eval("round_to", x, f.b.to(int4Const(0), types.Int8))
	}
	if classOf(x.Type()) == isInt {
		y := f.eval("round_to", f.b.to(x, types.Numeric), f.args[1])
		return f.b.to(y, types.Int8)
	}
	return f.eval("round_to", x, f.args[1])
}

// number binds functions of a number of any kind.
func (f *mysqlForm) number() plan.Expr {
	if len(f.args) == 0 {
		f.wrongCount()
	}
	f.b.refuseModifiers(f.call, f.name, false)
	x := f.b.asNumber(f.args[0])
	if f.name == "truncate" && classOf(x.Type()) == isInt {
		return f.b.to(f.eval("truncate", append([]plan.Expr{f.b.to(x, types.Numeric)}, f.args[1:]...)...), types.Int8)
	}
	if classOf(x.Type()) == isInt {
		x = f.b.to(x, types.Int8)
	}
	y := f.eval(f.name, append([]plan.Expr{x}, f.args[1:]...)...)
	if classOf(x.Type()) == isDecimal && (f.name == "ceiling" || f.name == "floor") {
		y = f.b.evalCall("mysql:scale", f.pos, y, int4Const(0))
	}
	return y
}

func (f *mysqlForm) mod() plan.Expr {
	f.need(2, 2)
	return f.b.operator("mod", f.args[0], f.args[1], f.pos)
}

func (f *mysqlForm) rand() plan.Expr {
	if len(f.args) > 0 {
		f.b.fail(sqlerr.FeatureNotSupported, f.pos, "RAND(seed) is not supported: rows are computed in no fixed order")
	}
	return f.eval("rand")
}

func (f *mysqlForm) hex() plan.Expr {
	f.need(1, 1)
	if classOf(f.args[0].Type()).number() {
		return f.eval("hex_number", f.b.asBits(f.args[0]))
	}
	return f.eval("hex", f.b.asBytes(f.args[0]))
}

func (f *mysqlForm) charUsing() plan.Expr { return f.eval("char_text", f.eval("char", f.args...)) }

func (f *mysqlForm) convertUsing() plan.Expr {
	b := f.b
	x := f.args[0]
	switch cs := f.args[1].(*plan.Const).Value.Str(); cs {
	case "utf8mb4", "utf8", "utf8mb3":
		if classOf(x.Type()) == isBytes {
			return f.eval("char_text", x)
		}
		return b.asText(x)
	case "binary":
		return b.asBytes(x)
	case "latin1", "ascii":
		return b.asText(x)
	default:
		b.fail(sqlerr.InvalidParameterValue, f.pos, "Unknown character set: '%s'", cs)
	}
	return nil
}

func (f *mysqlForm) pad() plan.Expr {
	f.need(2, 3)
	if len(f.args) == 2 {
		f.args = append(f.args, textConst(" "))
	}
	return f.eval(f.name, f.args...)
}

func (f *mysqlForm) conv() plan.Expr {
	f.need(3, 3)
	return f.eval("conv", f.b.asText(f.args[0]), f.args[1], f.args[2])
}

// ---- JSON ----

// jsonValue is a value inside of a document: a text is a string, JSON is itself.
func (b *binder) jsonValue(x plan.Expr) plan.Expr {
	switch classOf(x.Type()) {
	case isNull:
		return plan.NullOf(types.T(types.JSONB))
	case isJSON:
		if k := x.Type().Kind; k == types.JSONB {
			return x
		}
		return &plan.Cast{X: x, Typ: types.T(types.JSONB), Context: plan.Explicit}
	case isDatetime, isDate, isTime, isBytes, isOther:
		x = b.asText(x)
	case isDecimal:
		x = mysqlOutput(b, x)
	}
	return b.evalCall("mysql:json_of", b.posOf(x), x)
}

func (f *mysqlForm) jsonBuild() plan.Expr {
	f.b.refuseModifiers(f.call, f.name, false)
	args := make([]plan.Expr, len(f.args))
	for i, a := range f.args {
		if f.name == "json_object" && i%2 == 0 {
			a = f.b.asText(a)
		}
		args[i] = f.b.jsonValue(a)
	}
	if f.name == "json_object" && len(args)%2 == 1 {
		f.wrongCount()
	}
	return f.eval(f.name, args...)
}

func (f *mysqlForm) jsonChange() plan.Expr {
	f.need(3, 1<<16)
	if len(f.args)%2 == 0 {
		f.wrongCount()
	}
	args := []plan.Expr{f.b.to(f.args[0], types.JSONB)}
	for i, a := range f.args[1:] {
		if i%2 == 0 {
			a = f.b.asText(a)
			if i == 0 {
				args = append(args, a)
				continue
			}
		}
		args = append(args, f.b.jsonValue(a))
	}
	return f.eval(f.name, args...)
}

// jsonSearch is JSON_SEARCH(document, one or all, pattern [, escape [, path …]]).
func (f *mysqlForm) jsonSearch() plan.Expr {
	f.need(3, 1<<16)
	args := []plan.Expr{f.b.to(f.args[0], types.JSONB)}
	for _, a := range f.args[1:] {
		args = append(args, f.b.asText(a))
	}
	if len(args) == 3 {
		args = append(args, plan.NullOf(types.T(types.Text)))
	}
	return f.eval(f.name, args...)
}

// cipher is AES_ENCRYPT and AES_DECRYPT (text, key [, initialization vector]) in the session's
// block_encryption_mode.
func (f *mysqlForm) cipher() plan.Expr {
	f.need(2, 3)
	mode, ok := f.b.sessionText("block_encryption_mode")
	if !ok {
		mode = "aes-128-ecb"
	}
	args := []plan.Expr{textConst(mode), f.b.asBytes(f.args[0]), f.b.asBytes(f.args[1]), &plan.Const{Value: types.NewStr(""), Typ: types.T(types.Bytea)}}
	switch {
	case len(f.args) == 3:
		args[3] = f.b.asBytes(f.args[2])
	case strings.HasSuffix(mode, "cbc"):
		f.wrongCount()
	}
	return f.eval(f.name, args...)
}

// nameConst is NAME_CONST(name, value), which is its value.
func (f *mysqlForm) nameConst() plan.Expr {
	f.need(2, 2)
	if _, ok := f.args[0].(*plan.Const); !ok {
		f.b.fail(sqlerr.InvalidParameterValue, f.pos, "Incorrect arguments to NAME_CONST")
	}
	return f.args[1]
}

func (f *mysqlForm) memberOf() plan.Expr {
	return f.eval("member of", f.b.jsonValue(f.args[0]), f.b.to(f.args[1], types.JSONB))
}

func (f *mysqlForm) jsonContains() plan.Expr {
	f.need(2, 3)
	args := append([]plan.Expr(nil), f.args...)
	for i := range args[:2] {
		args[i] = f.b.to(args[i], types.JSONB)
	}
	return f.eval(f.name, args...)
}

func (f *mysqlForm) jsonUnquote() plan.Expr {
	f.need(1, 1)
	x := f.args[0]
	if classOf(x.Type()) == isJSON {
		return f.eval("json_unquote", f.b.to(x, types.JSONB))
	}
	return f.eval("json_unquote", f.b.asText(x))
}

func (f *mysqlForm) jsonDoc() plan.Expr {
	f.need(1, 1)
	return f.eval(f.name, f.b.to(f.args[0], types.JSONB))
}

func (f *mysqlForm) jsonValid() plan.Expr {
	f.need(1, 1)
	if k := classOf(f.args[0].Type()); k.number() || k.temporal() {
		return &plan.Const{Value: types.NewBool(false), Typ: types.T(types.Bool)}
	}
	return f.eval(f.name, f.b.asText(f.args[0]))
}

// ---- session ----

// session asks the session: its answer is a constant of this execution.
func (f *mysqlForm) session() plan.Expr {
	b := f.b
	if len(f.args) > 0 {
		f.wrongCount()
	}
	if b.env.Variable != nil {
		if d, t, ok, err := b.env.Variable("function", f.name); ok && err == nil {
			b.paramPlan = true
			return &plan.Const{Value: d, Typ: t}
		}
	}
	b.fail(sqlerr.FeatureNotSupported, f.pos, "%s() is not supported", strings.ToUpper(f.name))
	return nil
}

func (f *mysqlForm) charset() plan.Expr {
	f.need(1, 1)
	x := f.args[0]
	text := classOf(x.Type()) == isText
	switch {
	case f.name == "coercibility":
		return int4Const(4)
	case !text:
		return textConst("binary")
	case f.name == "charset":
		return textConst("utf8mb4")
	}
	return textConst(f.b.collationIn(x))
}
