package bind

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// MySQL is the dialect of the MySQL wire: MySQL 8.0's meaning of operators, functions, implicit
// conversions and collations. What differs from PostgreSQL at its root: a string is text, not a
// literal of unknown type; a comparison or sum of a string and a number is of doubles; text
// compares by collation; a conversion that cannot be made gives NULL or what could be read.
var MySQL = &Dialect{
	Name:            "MySQL",
	SameName:        strings.EqualFold,
	FunctionName:    mysqlFunctionName,
	ResolveFunction: mysqlResolveFunction,
	ResolveOperator: eval.ResolveOperator,
	CanCast:         mysqlCanCast,
	CommonType:      mysqlCommonType,
	GroupStrict:     true,
	NullsFirst:      func(desc bool) bool { return !desc },
	BoolFrom:        func(types.Type) bool { return true },
	Literal:         mysqlLiteral,
	Unary:           mysqlUnary,
	Operator:        mysqlOperator,
	Comparands:      (*binder).mysqlComparands,
	Bounded:         mysqlBounded,
	Call:            mysqlCall,
	Cast:            mysqlCast,
	Convert:         mysqlConvert,
	Truth:           mysqlTruth,
	Collate:         mysqlCollate,
	Key:             mysqlKey,
	Output:          mysqlOutput,
	AliasesInExpr:   true,
	ConstantOrder:   true,
	HavingFilters:   true,
	UsingInOrder:    true,
	ValuesColumn:    func(i int) string { return "column_" + itoa(i) },
	TextParams:      true,
	RecursiveType:   mysqlRecursiveType,
	LooseGroups:     func(b *binder) bool { return b.my().looseGroups },
	HoldMode: func(b *binder) eval.HoldMode {
		if b.my().lenient {
			return eval.HoldLenient
		}
		return eval.HoldStrict
	},
}

// mysqlState is what binding in this dialect knows of the session and of its expressions.
type mysqlState struct {
	collation   string // of texts without another
	looseGroups bool   // sql_mode without ONLY_FULL_GROUP_BY
	signedMinus bool   // sql_mode with NO_UNSIGNED_SUBTRACTION
	lenient     bool   // sql_mode without STRICT_TRANS_TABLES and STRICT_ALL_TABLES
	// sql_mode with STRICT_… and ERROR_FOR_DIVISION_BY_ZERO
	divisionError bool
	divScale      int   // div_precision_increment
	concatMax     int64 // group_concat_max_len
	weekMode      int64 // default_week_format
	ofColumn      map[plan.ColID]string
	scales        map[plan.ColID]int // digits after the point of numerics without a fixed scale
}

func (b *binder) my() *mysqlState {
	if b.mysql != nil {
		return b.mysql
	}
	m := &mysqlState{collation: "utf8mb4_0900_ai_ci", divScale: 4, concatMax: 1 << 20,
		ofColumn: map[plan.ColID]string{}, scales: map[plan.ColID]int{}}
	b.mysql = m
	if s, ok := b.sessionText("collation_connection"); ok && s != "" {
		m.collation = strings.ToLower(s)
	}
	if s, ok := b.sessionText("sql_mode"); ok {
		m.signedMinus = strings.Contains(strings.ToUpper(s), "NO_UNSIGNED_SUBTRACTION")
		m.lenient = !strings.Contains(strings.ToUpper(s), "STRICT_")
		m.looseGroups = !strings.Contains(strings.ToUpper(s), "ONLY_FULL_GROUP_BY")
		m.divisionError = strings.Contains(strings.ToUpper(s), "STRICT_") && strings.Contains(strings.ToUpper(s), "ERROR_FOR_DIVISION_BY_ZERO")
	}
	number := func(name string, to *int64) {
		if s, ok := b.sessionText(name); ok {
			if n, err := strconv.ParseInt(s, 10, 64); err == nil {
				*to = n
			}
		}
	}
	div := int64(m.divScale)
	number("div_precision_increment", &div)
	m.divScale = int(min(max(div, 0), 30))
	number("group_concat_max_len", &m.concatMax)
	number("default_week_format", &m.weekMode)
	return m
}

// sessionText reads a session variable as text.
func (b *binder) sessionText(name string) (string, bool) {
	if b.env.Variable == nil {
		return "", false
	}
	d, t, ok, err := b.env.Variable("session", name)
	if err != nil || !ok || d.IsNull() {
		return "", false
	}
	return types.Format(d, t, b.env.textOptions()), true
}

// variable is @x or @@x: a constant of this execution.
func (b *binder) variable(v *ast.Variable) plan.Expr {
	if b.env.Variable != nil {
		d, t, ok, err := b.env.Variable(v.Scope, v.Name)
		if e, is := sqlerr.As(err); is {
			b.failWith(e.At(v.Pos))
			return nil
		}
		if ok {
			b.paramPlan = true
			if d.IsNull() && t.Kind == types.Invalid {
				t = types.T(types.Unknown)
			}
			return &plan.Const{Value: d, Typ: t}
		}
	}
	if v.Scope == "user" {
		return &plan.Const{Typ: types.T(types.Unknown)} // one that was never set is NULL
	}
	b.fail(sqlerr.UndefinedObject, v.Pos, "Unknown system variable '%s'", v.Name)
	return nil
}

func mysqlLiteral(b *binder, l *ast.Lit) plan.Expr {
	switch l.Kind {
	case 's':
		return &plan.Const{Value: types.NewStr(l.Text), Typ: types.T(types.Text)}
	case 'h':
		return &plan.Const{Value: types.NewStr(l.Text), Typ: types.T(types.Bytea)}
	case 'f':
		f, err := strconv.ParseFloat(l.Text, 64)
		if err != nil && (f > 1 || f < -1) {
			b.fail(sqlerr.NumericOutOfRange, l.Pos, "Illegal double '%s' value found during parsing", l.Text)
		}
		return &plan.Const{Value: types.NewFloat(f), Typ: types.T(types.Float8)}
	}
	return nil
}

// ---- types ----

// class is what a type counts as in MySQL's rules.
type class uint8

const (
	isNull class = iota // a literal NULL, or a parameter of unknown type
	isBool
	isInt
	isDecimal
	isDouble
	isText
	isBytes
	isDate
	isDatetime
	isTime
	isJSON
	isOther
)

func classOf(t types.Type) class {
	switch t.Kind {
	case types.Unknown:
		return isNull
	case types.Bool:
		return isBool
	case types.Int2, types.Int4, types.Int8, types.Oid, types.Xid:
		return isInt
	case types.Numeric:
		return isDecimal
	case types.Float4, types.Float8:
		return isDouble
	case types.Bytea:
		return isBytes
	case types.Date:
		return isDate
	case types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS:
		return isDatetime
	case types.Time, types.TimeTZ, types.Interval:
		return isTime
	case types.JSON, types.JSONB, types.Variant, types.Struct, types.Map, types.Array:
		return isJSON
	}
	if t.IsString() {
		return isText
	}
	return isOther
}

func (c class) number() bool   { return c == isBool || c == isInt || c == isDecimal || c == isDouble }
func (c class) temporal() bool { return c == isDate || c == isDatetime || c == isTime }

func mysqlCanCast(from, to types.Type, ctx plan.CastContext) bool {
	if eval.CanCast(from, to, ctx) {
		return true
	}
	a, c := classOf(from), classOf(to)
	if a == isOther || c == isOther {
		return a == isText || c == isText
	}
	switch to.Kind {
	case types.Struct, types.Map, types.Array:
		return false
	}
	return true
}

// mysqlCommonType is the type of CASE, COALESCE, UNION and the like.
func mysqlCommonType(_ string, ts []types.Type) (types.Type, error) {
	out := types.T(types.Unknown)
	for _, t := range ts {
		out = commonOfTwo(out, t)
	}
	if out.Kind == types.Unknown && len(ts) > 0 {
		for _, t := range ts {
			if t.Kind != types.Unknown {
				return t, nil
			}
		}
		return types.T(types.Text), nil
	}
	return out, nil
}

func commonOfTwo(a, c types.Type) types.Type {
	if a.MySQL != c.MySQL && a.Kind != types.Unknown && c.Kind != types.Unknown {
		a.MySQL, c.MySQL = nil, nil // values of both are of neither column's type
	}
	x, y := classOf(a), classOf(c)
	switch {
	case x == isNull:
		return c
	case y == isNull:
		return a
	case a.Equal(c):
		return a
	case x == isBool && y == isInt:
		return c
	case y == isBool && x == isInt:
		return a
	case x.number() && y.number():
		switch {
		case x == isDouble || y == isDouble:
			return types.T(types.Float8)
		case x == isDecimal || y == isDecimal:
			return commonDecimal(asDecimal(a), asDecimal(c))
		}
		if a.Kind > c.Kind {
			return a
		}
		return c
	case x == y && x == isDatetime, x == isDate && y == isDatetime, y == isDate && x == isDatetime:
		return types.T(types.Timestamp)
	case x == y && x == isTime:
		return types.T(types.Interval)
	case x == isBytes || y == isBytes:
		return types.T(types.Bytea)
	case x == isJSON && y == isJSON && (a.Kind == types.Variant || c.Kind == types.Variant):
		return types.T(types.Variant)
	case x == isJSON && y == isJSON:
		return types.T(types.JSONB)
	}
	return types.T(types.Text)
}

func asDecimal(t types.Type) types.Type {
	switch t.Kind {
	case types.Numeric:
		return t
	case types.Bool:
		return types.FixedNumeric(1, 0)
	case types.Int2:
		return types.FixedNumeric(5, 0)
	case types.Int4:
		return types.FixedNumeric(10, 0)
	}
	return types.FixedNumeric(19, 0)
}

func commonDecimal(a, c types.Type) types.Type {
	if !a.Fixed || !c.Fixed {
		return types.T(types.Numeric)
	}
	s := max(a.Scale, c.Scale)
	p := max(a.Prec-a.Scale, c.Prec-c.Scale) + s
	if p > 38 {
		return types.T(types.Numeric)
	}
	return types.FixedNumeric(int(p), int(s))
}

// ---- collations ----

// collationOf is the collation that e carries: COLLATE's, found through the expressions that
// hand a text on; "" the session's.
func (b *binder) collationOf(e plan.Expr) string {
	switch x := e.(type) {
	case *plan.Col:
		return b.my().ofColumn[x.ID]
	case *plan.Call, *plan.Case, *plan.Coalesce, *plan.Cast:
		if _, name := collated(e); name != "" {
			return name
		}
		for _, k := range plan.Children(x) {
			if classOf(k.Type()) == isText {
				if c := b.collationOf(k); c != "" {
					return c
				}
			}
		}
	}
	return ""
}

// carry lets a new column have the collation and the scale of the expression that it is made of.
func (b *binder) carry(c plan.Column, e plan.Expr) {
	if b.d != MySQL || e == nil {
		return
	}
	m := b.my()
	switch classOf(c.Type) {
	case isText:
		if x := b.collationOf(e); x != "" {
			m.ofColumn[c.ID] = x
		}
	case isDecimal:
		if !c.Type.Fixed {
			if s := b.scaleOf(e); s >= 0 {
				m.scales[c.ID] = s
			}
		}
	}
}

// keyFunctions make the keys of the collations that are not binary.
func keyFunction(collation string) string {
	pad := ""
	if !strings.Contains(collation, "0900") && !strings.Contains(collation, "nopad") {
		pad = "_pad"
	}
	switch {
	case collation == "binary", collation == "utf8mb4_0900_as_cs":
		return ""
	case strings.HasSuffix(collation, "_bin"):
		if pad != "" {
			return "mysql:key_bin_pad"
		}
		return ""
	case strings.HasSuffix(collation, "_as_ci"):
		return "mysql:key_as_ci" + pad
	case strings.HasSuffix(collation, "_cs"):
		return ""
	}
	return "mysql:key_ai_ci" + pad
}

// mysqlKey is the key of a text in its collation.
func mysqlKey(b *binder, x plan.Expr) plan.Expr {
	if classOf(x.Type()) != isText {
		return x
	}
	if n := memberNumber(x); n != nil {
		return n // in the order of their declaration
	}
	return b.keyIn(x, b.collationIn(x))
}

func (b *binder) collationIn(list ...plan.Expr) string {
	for _, x := range list {
		if c := b.collationOf(x); c != "" {
			return c
		}
	}
	return b.my().collation
}

// collated opens what COLLATE made.
func collated(e plan.Expr) (plan.Expr, string) {
	if c, ok := e.(*plan.Call); ok && c.Func.Name == "mysql:collate" {
		return c.Args[0], c.Args[1].(*plan.Const).Value.Str()
	}
	return e, ""
}

func (b *binder) keyIn(x plan.Expr, collation string) plan.Expr {
	x, _ = collated(x)
	f := keyFunction(collation)
	if f == "" {
		return x
	}
	return b.mark(b.evalCall(f, b.posOf(x), x), b.posOf(x))
}

// knownCollations are what COLLATE may name, by prefix.
var knownCollations = []string{"utf8mb4_", "utf8mb3_", "utf8_", "latin1_", "ascii_", "uca1400_"}

// defaultCollation is that of columns and sessions which name none.
const defaultCollation = "utf8mb4_0900_ai_ci"

// knownCollation is a collation's name as it is kept; "" for one that is not known.
func knownCollation(name string) string {
	name = strings.ToLower(name)
	if name == "binary" {
		return name
	}
	for _, p := range knownCollations {
		if strings.HasPrefix(name, p) && (strings.HasSuffix(name, "_ci") || strings.HasSuffix(name, "_bin") || strings.HasSuffix(name, "_cs")) {
			return name
		}
	}
	return ""
}

func mysqlCollate(b *binder, x plan.Expr, e *ast.Collate) plan.Expr {
	name := e.Name.Parts[0]
	if name == "binary" {
		return b.asBytes(x)
	}
	known := false
	for _, p := range knownCollations {
		known = known || strings.HasPrefix(name, p)
	}
	if !known || !strings.HasSuffix(name, "_ci") && !strings.HasSuffix(name, "_bin") && !strings.HasSuffix(name, "_cs") {
		b.fail(sqlerr.UndefinedObject, e.Name.Pos, "Unknown collation: '%s'", name)
	}
	x, _ = collated(b.asText(x))
	return b.evalCall("mysql:collate", b.posOf(x), x, textConst(name))
}

// mysqlRecursiveType leaves room for what a recursive query counts.
func mysqlRecursiveType(t types.Type) types.Type {
	if c := classOf(t); c == isInt || c == isBool {
		return types.T(types.Int8)
	}
	return t
}

// ---- numerics without a fixed scale ----

// scaleOf is how many digits after the point e shows: MySQL computes with more in a division
// and rounds where a value leaves the expression. -1: whatever each value has.
func (b *binder) scaleOf(e plan.Expr) int {
	switch classOf(e.Type()) {
	case isInt, isBool:
		return 0
	case isDecimal:
	default:
		return -1
	}
	if t := e.Type(); t.Fixed {
		return int(t.Scale)
	}
	switch x := e.(type) {
	case *plan.Const:
		if x.Value.IsNull() {
			return 0
		}
		return types.DecimalOf(x.Value, x.Typ).Scale()
	case *plan.Col:
		if s, ok := b.my().scales[x.ID]; ok {
			return s
		}
	case *plan.Cast:
		return b.scaleOf(x.X)
	case *plan.Case:
		s := 0
		for _, w := range x.Whens {
			s = wider(s, b.scaleOf(w.Then))
		}
		if x.Else != nil {
			s = wider(s, b.scaleOf(x.Else))
		}
		return s
	case *plan.Coalesce:
		s := 0
		for _, a := range x.Args {
			s = wider(s, b.scaleOf(a))
		}
		return s
	case *plan.Call:
		return b.scaleOfCall(x)
	}
	return -1
}

func wider(a, c int) int {
	if a < 0 || c < 0 {
		return -1
	}
	return max(a, c)
}

func (b *binder) scaleOfCall(x *plan.Call) int {
	arg := func(i int) int { return b.scaleOf(x.Args[i]) }
	switch x.Func.Name {
	case "+", "mysql:mod":
		return wider(arg(0), arg(1))
	case "-":
		if len(x.Args) == 1 {
			return arg(0)
		}
		return wider(arg(0), arg(1))
	case "*":
		if a, c := arg(0), arg(1); a >= 0 && c >= 0 {
			return min(a+c, 30)
		}
	case "mysql:div":
		if a := arg(0); a >= 0 {
			return min(a+b.my().divScale, 30)
		}
	case "abs", "greatest", "least", "mysql:abs":
		s := 0
		for i := range x.Args {
			s = wider(s, arg(i))
		}
		return s
	case "mysql:round_to", "mysql:truncate":
		if c, ok := x.Args[1].(*plan.Const); ok && !c.Value.IsNull() {
			return int(min(max(c.Value.Int(), 0), 30))
		}
		return arg(0)
	case "mysql:decimal":
		if classOf(x.Args[0].Type()) == isDate {
			return 0
		}
	case "mysql:scale":
		if c, ok := x.Args[1].(*plan.Const); ok {
			return int(c.Value.Int())
		}
	}
	return -1
}

// mysqlOutput rounds a numeric to the digits that it shows.
func mysqlOutput(b *binder, x plan.Expr) plan.Expr {
	t := x.Type()
	if t.Kind != types.Numeric || t.Fixed {
		return x
	}
	if c, ok := x.(*plan.Col); ok && b.cols[c.ID].made != byAggregate && b.cols[c.ID].made != byWindow {
		return x
	}
	s := b.scaleOf(x)
	if s < 0 {
		return x
	}
	return b.mark(b.evalCall("mysql:scale", b.posOf(x), x, int4Const(int64(s))), b.posOf(x))
}

func int4Const(i int64) plan.Expr {
	return &plan.Const{Value: types.NewInt(i), Typ: types.T(types.Int4)}
}

func textConst(s string) plan.Expr {
	return &plan.Const{Value: types.NewStr(s), Typ: types.T(types.Text)}
}
