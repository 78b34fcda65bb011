package pg

import (
	"strconv"
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// conv translates a part's protobuf tree to ast, moving locations into the statement's text.
type conv struct {
	p        *stmtParser
	shift    int // location + shift = position
	from, to int // the part
}

func (c *conv) pos(location int32) int {
	if location < 0 {
		return -1
	}
	return max(c.from, min(int(location)+c.shift, c.to))
}

func (c *conv) refuse(pos int, format string, args ...any) {
	c.p.FailAt(pos, sqlerr.FeatureNotSupported, format, args...)
}

func (c *conv) exprs(in []*pgquery.Node) []ast.Expr {
	if len(in) == 0 {
		return nil
	}
	out := make([]ast.Expr, len(in))
	for i, n := range in {
		out[i] = c.expr(n)
	}
	return out
}

// expr translates an expression; nil gives nil.
func (c *conv) expr(n *pgquery.Node) ast.Expr {
	if n == nil || n.Node == nil {
		return nil
	}
	switch n := n.Node.(type) {
	case *pgquery.Node_AConst:
		return c.constant(n.AConst)
	case *pgquery.Node_ColumnRef:
		return c.columnRef(n.ColumnRef)
	case *pgquery.Node_ParamRef:
		return &ast.Param{Index: int(n.ParamRef.Number), Pos: c.pos(n.ParamRef.Location)}
	case *pgquery.Node_AExpr:
		return c.operator(n.AExpr)
	case *pgquery.Node_BoolExpr:
		return c.boolean(n.BoolExpr)
	case *pgquery.Node_TypeCast:
		return c.cast(n.TypeCast)
	case *pgquery.Node_FuncCall:
		return c.call(n.FuncCall)
	case *pgquery.Node_SubLink:
		return c.subLink(n.SubLink)
	case *pgquery.Node_CaseExpr:
		return c.caseExpr(n.CaseExpr)
	case *pgquery.Node_CoalesceExpr:
		return &ast.Coalesce{Args: c.exprs(n.CoalesceExpr.Args), Pos: c.pos(n.CoalesceExpr.Location)}
	case *pgquery.Node_MinMaxExpr:
		return &ast.MinMax{Greatest: n.MinMaxExpr.Op == pgquery.MinMaxOp_IS_GREATEST,
			Args: c.exprs(n.MinMaxExpr.Args), Pos: c.pos(n.MinMaxExpr.Location)}
	case *pgquery.Node_NullTest:
		return &ast.IsNull{X: c.expr(n.NullTest.Arg), Pos: c.pos(n.NullTest.Location),
			Negate: n.NullTest.Nulltesttype == pgquery.NullTestType_IS_NOT_NULL}
	case *pgquery.Node_BooleanTest:
		return c.booleanTest(n.BooleanTest)
	case *pgquery.Node_RowExpr:
		return &ast.Row{Elems: c.exprs(n.RowExpr.Args), Pos: c.pos(n.RowExpr.Location),
			Explicit: n.RowExpr.RowFormat == pgquery.CoercionForm_COERCE_EXPLICIT_CALL}
	case *pgquery.Node_AArrayExpr:
		return &ast.Array{Elems: c.exprs(n.AArrayExpr.Elements), Pos: c.pos(n.AArrayExpr.Location)}
	case *pgquery.Node_AIndirection:
		return c.indirection(c.expr(n.AIndirection.Arg), n.AIndirection.Indirection)
	case *pgquery.Node_CollateClause:
		return &ast.Collate{X: c.expr(n.CollateClause.Arg), Pos: c.pos(n.CollateClause.Location),
			Name: ast.Name{Parts: stringList(n.CollateClause.Collname), Pos: c.pos(n.CollateClause.Location)}}
	case *pgquery.Node_SqlvalueFunction:
		return c.valueFunction(n.SqlvalueFunction)
	case *pgquery.Node_GroupingFunc:
		return &ast.Grouping{Args: c.exprs(n.GroupingFunc.Args), Pos: c.pos(n.GroupingFunc.Location)}
	case *pgquery.Node_SetToDefault:
		return &ast.Default{Pos: c.pos(n.SetToDefault.Location)}
	case *pgquery.Node_MergeSupportFunc:
		return &ast.MergeAction{Pos: c.pos(n.MergeSupportFunc.Location)}
	case *pgquery.Node_NamedArgExpr:
		// Only reached where no argument name may stand.
		return c.expr(n.NamedArgExpr.Arg)
	case *pgquery.Node_CurrentOfExpr:
		c.refuse(-1, "WHERE CURRENT OF is not supported")
	case *pgquery.Node_XmlExpr:
		c.refuse(c.pos(n.XmlExpr.Location), "XML functions are not supported")
	case *pgquery.Node_XmlSerialize:
		c.refuse(c.pos(n.XmlSerialize.Location), "XML functions are not supported")
	case *pgquery.Node_List:
		return &ast.Row{Elems: c.exprs(n.List.Items), Pos: c.from}
	default:
		if e, ok := c.json(n); ok {
			return e
		}
		c.refuse(-1, "this expression is not supported (%s)", strings.TrimPrefix(typeLabel(n), "Node_"))
	}
	return &ast.Lit{Kind: '0', Pos: -1}
}

func stringList(in []*pgquery.Node) []string {
	if len(in) == 0 {
		return nil
	}
	out := make([]string, len(in))
	for i, n := range in {
		out[i] = n.GetString_().GetSval()
	}
	return out
}

func (c *conv) constant(n *pgquery.A_Const) ast.Expr {
	lit := &ast.Lit{Pos: c.pos(n.Location)}
	switch v := n.Val.(type) {
	case *pgquery.A_Const_Ival:
		lit.Kind, lit.Text = 'i', strconv.Itoa(int(v.Ival.GetIval()))
	case *pgquery.A_Const_Fval:
		lit.Kind, lit.Text = numericLiteral(v.Fval.GetFval())
	case *pgquery.A_Const_Boolval:
		lit.Kind, lit.Text = 'b', strconv.FormatBool(v.Boolval.GetBoolval())
	case *pgquery.A_Const_Sval:
		lit.Kind, lit.Text = 's', v.Sval.GetSval()
	case *pgquery.A_Const_Bsval:
		lit.Kind, lit.Text = 'x', v.Bsval.GetBsval()
	default:
		lit.Kind = '0'
	}
	return lit
}

// numericLiteral classifies what the scanner calls a Float: an integer too large for int4, in
// any base and with underscores, or a decimal.
func numericLiteral(s string) (byte, string) {
	digits := strings.ReplaceAll(s, "_", "")
	if !strings.ContainsAny(digits, ".eE") || strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0X") {
		body := strings.TrimPrefix(digits, "-")
		if len(body) > 1 && body[0] == '0' && strings.ContainsAny(body[1:2], "xXoObB") {
			if v, err := strconv.ParseInt(digits, 0, 64); err == nil {
				return 'i', strconv.FormatInt(v, 10)
			}
		}
		return 'i', digits
	}
	return 'n', digits
}

func (c *conv) columnRef(n *pgquery.ColumnRef) ast.Expr {
	pos := c.pos(n.Location)
	parts := make([]string, 0, len(n.Fields))
	for _, f := range n.Fields {
		if f.GetAStar() != nil {
			return &ast.Star{Qualifier: parts, Pos: pos}
		}
		parts = append(parts, f.GetString_().GetSval())
	}
	return &ast.Ident{Name: ast.Name{Parts: parts, Pos: pos}}
}

// operatorName splits OPERATOR(schema.op).
func operatorName(in []*pgquery.Node) (schema, op string) {
	names := stringList(in)
	if len(names) == 0 {
		return "", ""
	}
	op = names[len(names)-1]
	if len(names) > 1 {
		schema = names[len(names)-2]
	}
	return schema, op
}

func (c *conv) operator(n *pgquery.A_Expr) ast.Expr {
	pos := c.pos(n.Location)
	schema, op := operatorName(n.Name)
	list := n.Rexpr.GetList().GetItems()
	switch n.Kind {
	case pgquery.A_Expr_Kind_AEXPR_OP_ANY, pgquery.A_Expr_Kind_AEXPR_OP_ALL:
		return &ast.Quantified{Op: op, Schema: schema, L: c.expr(n.Lexpr), Array: c.expr(n.Rexpr),
			All: n.Kind == pgquery.A_Expr_Kind_AEXPR_OP_ALL, Pos: pos}
	case pgquery.A_Expr_Kind_AEXPR_DISTINCT, pgquery.A_Expr_Kind_AEXPR_NOT_DISTINCT:
		return &ast.IsDistinct{L: c.expr(n.Lexpr), R: c.expr(n.Rexpr), Pos: pos,
			Negate: n.Kind == pgquery.A_Expr_Kind_AEXPR_NOT_DISTINCT}
	case pgquery.A_Expr_Kind_AEXPR_NULLIF:
		return &ast.NullIf{L: c.expr(n.Lexpr), R: c.expr(n.Rexpr), Pos: pos}
	case pgquery.A_Expr_Kind_AEXPR_IN:
		return &ast.In{X: c.expr(n.Lexpr), List: c.exprs(list), Negate: op == "<>", Pos: pos}
	case pgquery.A_Expr_Kind_AEXPR_BETWEEN, pgquery.A_Expr_Kind_AEXPR_NOT_BETWEEN,
		pgquery.A_Expr_Kind_AEXPR_BETWEEN_SYM, pgquery.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		if len(list) != 2 {
			c.p.FailAt(pos, sqlerr.SyntaxError, "BETWEEN needs two bounds")
			return &ast.Lit{Kind: '0', Pos: pos}
		}
		return &ast.Between{X: c.expr(n.Lexpr), Lo: c.expr(list[0]), Hi: c.expr(list[1]), Pos: pos,
			Negate:    n.Kind == pgquery.A_Expr_Kind_AEXPR_NOT_BETWEEN || n.Kind == pgquery.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM,
			Symmetric: n.Kind == pgquery.A_Expr_Kind_AEXPR_BETWEEN_SYM || n.Kind == pgquery.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM}
	}
	// AEXPR_OP, LIKE, ILIKE, SIMILAR: a plain operator.
	if n.Lexpr == nil {
		return &ast.Unary{Op: op, Schema: schema, X: c.expr(n.Rexpr), Pos: pos}
	}
	return &ast.Binary{Op: op, Schema: schema, L: c.expr(n.Lexpr), R: c.expr(n.Rexpr), Pos: pos}
}

func (c *conv) boolean(n *pgquery.BoolExpr) ast.Expr {
	pos := c.pos(n.Location)
	switch n.Boolop {
	case pgquery.BoolExprType_AND_EXPR:
		return &ast.And{Args: c.exprs(n.Args), Pos: pos}
	case pgquery.BoolExprType_OR_EXPR:
		return &ast.Or{Args: c.exprs(n.Args), Pos: pos}
	}
	return &ast.Not{X: c.expr(n.Args[0]), Pos: pos}
}

func (c *conv) booleanTest(n *pgquery.BooleanTest) ast.Expr {
	e := &ast.IsBool{X: c.expr(n.Arg), Pos: c.pos(n.Location)}
	switch n.Booltesttype {
	case pgquery.BoolTestType_IS_TRUE, pgquery.BoolTestType_IS_NOT_TRUE:
		e.Value = 't'
	case pgquery.BoolTestType_IS_FALSE, pgquery.BoolTestType_IS_NOT_FALSE:
		e.Value = 'f'
	default:
		e.Value = 'u'
	}
	switch n.Booltesttype {
	case pgquery.BoolTestType_IS_NOT_TRUE, pgquery.BoolTestType_IS_NOT_FALSE, pgquery.BoolTestType_IS_NOT_UNKNOWN:
		e.Negate = true
	}
	return e
}

func (c *conv) cast(n *pgquery.TypeCast) ast.Expr {
	pos := c.pos(n.Location)
	if pos < 0 {
		pos = c.pos(n.TypeName.GetLocation())
	}
	return &ast.Cast{X: c.expr(n.Arg), Type: c.typeName(n.TypeName), Pos: pos}
}

func (c *conv) caseExpr(n *pgquery.CaseExpr) ast.Expr {
	e := &ast.Case{Operand: c.expr(n.Arg), Else: c.expr(n.Defresult), Pos: c.pos(n.Location)}
	for _, a := range n.Args {
		w := a.GetCaseWhen()
		e.Whens = append(e.Whens, ast.When{Cond: c.expr(w.GetExpr()), Then: c.expr(w.GetResult())})
	}
	return e
}

// indirection applies .name, .*, [i] and [lo:hi] in order.
func (c *conv) indirection(x ast.Expr, ind []*pgquery.Node) ast.Expr {
	pos := c.from
	if x != nil {
		pos = x.Position()
	}
	for _, n := range ind {
		switch {
		case n.GetAStar() != nil:
			x = &ast.Field{X: x, Star: true, Pos: pos}
		case n.GetAIndices() != nil:
			i := n.GetAIndices()
			x = &ast.Index{X: x, Lower: c.expr(i.Lidx), Upper: c.expr(i.Uidx), Slice: i.IsSlice, Pos: pos}
			if e := x.(*ast.Index); !e.Slice {
				e.Lower, e.Upper = e.Upper, nil
			}
		default:
			x = &ast.Field{X: x, Name: n.GetString_().GetSval(), Pos: pos}
		}
	}
	return x
}

func (c *conv) subLink(n *pgquery.SubLink) ast.Expr {
	e := &ast.Subquery{Pos: c.pos(n.Location), Test: c.expr(n.Testexpr)}
	if _, op := operatorName(n.OperName); op != "" {
		e.Op = op
	}
	switch n.SubLinkType {
	case pgquery.SubLinkType_EXISTS_SUBLINK:
		e.Kind = 'e'
	case pgquery.SubLinkType_ALL_SUBLINK:
		e.Kind = 'l'
	case pgquery.SubLinkType_ANY_SUBLINK:
		e.Kind = 'a'
		if e.Op == "" {
			e.Op = "="
		}
	case pgquery.SubLinkType_EXPR_SUBLINK:
		e.Kind = 's'
	case pgquery.SubLinkType_ARRAY_SUBLINK:
		e.Kind = 'r'
	default:
		c.refuse(e.Pos, "this kind of subquery is not supported")
	}
	e.Query = c.queryNode(n.Subselect)
	return e
}

// valueFunctions are the functions that SQL spells without parentheses.
var valueFunctions = map[pgquery.SQLValueFunctionOp]string{
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_DATE:        "current_date",
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_TIME:        "current_time",
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N:      "current_time",
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP:   "current_timestamp",
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N: "current_timestamp",
	pgquery.SQLValueFunctionOp_SVFOP_LOCALTIME:           "localtime",
	pgquery.SQLValueFunctionOp_SVFOP_LOCALTIME_N:         "localtime",
	pgquery.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP:      "localtimestamp",
	pgquery.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:    "localtimestamp",
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_ROLE:        "current_role",
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_USER:        "current_user",
	pgquery.SQLValueFunctionOp_SVFOP_USER:                "user",
	pgquery.SQLValueFunctionOp_SVFOP_SESSION_USER:        "session_user",
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:     "current_catalog",
	pgquery.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:      "current_schema",
}

func (c *conv) valueFunction(n *pgquery.SQLValueFunction) ast.Expr {
	pos := c.pos(n.Location)
	call := &ast.Call{Name: ast.Name{Parts: []string{valueFunctions[n.Op]}, Pos: pos}, Pos: pos}
	switch n.Op {
	case pgquery.SQLValueFunctionOp_SVFOP_CURRENT_TIME_N, pgquery.SQLValueFunctionOp_SVFOP_CURRENT_TIMESTAMP_N,
		pgquery.SQLValueFunctionOp_SVFOP_LOCALTIME_N, pgquery.SQLValueFunctionOp_SVFOP_LOCALTIMESTAMP_N:
		call.Args = []ast.Arg{{Expr: &ast.Lit{Kind: 'i', Text: strconv.Itoa(int(n.Typmod)), Pos: pos}}}
	}
	return call
}

func (c *conv) args(in []*pgquery.Node) []ast.Arg {
	if len(in) == 0 {
		return nil
	}
	out := make([]ast.Arg, len(in))
	for i, n := range in {
		if named := n.GetNamedArgExpr(); named != nil {
			out[i] = ast.Arg{Name: named.Name, Expr: c.expr(named.Arg)}
		} else {
			out[i] = ast.Arg{Expr: c.expr(n)}
		}
	}
	return out
}

func (c *conv) call(n *pgquery.FuncCall) *ast.Call {
	pos := c.pos(n.Location)
	return &ast.Call{
		Name:     ast.Name{Parts: stringList(n.Funcname), Pos: pos},
		Args:     c.args(n.Args),
		Star:     n.AggStar,
		Distinct: n.AggDistinct,
		OrderBy:  c.orderBy(n.AggOrder),
		Within:   n.AggWithinGroup,
		Filter:   c.expr(n.AggFilter),
		Over:     c.windowDef(n.Over, true),
		Variadic: n.FuncVariadic,
		Pos:      pos,
	}
}

// The bits of WindowDef.frameOptions (parsenodes.h).
const (
	frameNonDefault        = 0x00001
	frameRows              = 0x00004
	frameGroups            = 0x00008
	frameStartUnboundedPre = 0x00020
	frameEndUnboundedPost  = 0x00100
	frameStartCurrent      = 0x00200
	frameEndCurrent        = 0x00400
	frameStartOffsetPre    = 0x00800
	frameEndOffsetPre      = 0x01000
	frameStartOffsetPost   = 0x02000
	frameEndOffsetPost     = 0x04000
	frameExcludeCurrent    = 0x08000
	frameExcludeGroup      = 0x10000
	frameExcludeTies       = 0x20000
)

// windowDef translates OVER name, OVER (…) and a WINDOW clause's definition.
func (c *conv) windowDef(n *pgquery.WindowDef, over bool) *ast.WindowDef {
	if n == nil {
		return nil
	}
	w := &ast.WindowDef{Name: n.Refname, Inline: true, Pos: c.pos(n.Location)}
	if over && n.Name != "" {
		w.Name, w.Inline = n.Name, false
	}
	w.Partition = c.exprs(n.PartitionClause)
	w.Order = c.orderBy(n.OrderClause)
	o := n.FrameOptions
	if o&frameNonDefault == 0 {
		return w
	}
	f := &ast.Frame{Mode: 'a'}
	switch {
	case o&frameRows != 0:
		f.Mode = 'r'
	case o&frameGroups != 0:
		f.Mode = 'g'
	}
	switch {
	case o&frameStartUnboundedPre != 0:
		f.Start.Kind = 'P'
	case o&frameStartOffsetPre != 0:
		f.Start = ast.Bound{Kind: 'p', Offset: c.expr(n.StartOffset)}
	case o&frameStartOffsetPost != 0:
		f.Start = ast.Bound{Kind: 'f', Offset: c.expr(n.StartOffset)}
	case o&frameStartCurrent != 0:
		f.Start.Kind = 'c'
	}
	switch {
	case o&frameEndUnboundedPost != 0:
		f.End.Kind = 'F'
	case o&frameEndOffsetPre != 0:
		f.End = ast.Bound{Kind: 'p', Offset: c.expr(n.EndOffset)}
	case o&frameEndOffsetPost != 0:
		f.End = ast.Bound{Kind: 'f', Offset: c.expr(n.EndOffset)}
	case o&frameEndCurrent != 0:
		f.End.Kind = 'c'
	}
	switch {
	case o&frameExcludeCurrent != 0:
		f.Exclude = 'c'
	case o&frameExcludeGroup != 0:
		f.Exclude = 'g'
	case o&frameExcludeTies != 0:
		f.Exclude = 't'
	}
	w.Frame = f
	return w
}

func (c *conv) orderBy(in []*pgquery.Node) []ast.Order {
	if len(in) == 0 {
		return nil
	}
	out := make([]ast.Order, len(in))
	for i, n := range in {
		s := n.GetSortBy()
		if s == nil {
			// WITHIN GROUP and aggregates hand over SortBy too; anything else is an expression.
			out[i] = ast.Order{Expr: c.expr(n)}
			continue
		}
		o := ast.Order{Expr: c.expr(s.Node), Desc: s.SortbyDir == pgquery.SortByDir_SORTBY_DESC, Pos: c.pos(s.Location)}
		if o.Pos < 0 && o.Expr != nil {
			o.Pos = o.Expr.Position()
		}
		if s.SortbyNulls > pgquery.SortByNulls_SORTBY_NULLS_DEFAULT {
			first := s.SortbyNulls == pgquery.SortByNulls_SORTBY_NULLS_FIRST
			o.NullsFirst = &first
		}
		if len(s.UseOp) > 0 {
			_, o.Using = operatorName(s.UseOp)
		}
		out[i] = o
	}
	return out
}
