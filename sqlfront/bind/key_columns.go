package bind

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// In a dialect with collations a text is told apart and sorted by a key made of it, which is no
// value that the query shows:
//
//	GROUP BY s        groups by key(s), and shows the least s of each group
//	SELECT DISTINCT   keeps one row for each combination of keys
//	UNION             likewise; INTERSECT and EXCEPT compare keys
//	ORDER BY s        sorts by key(s)

// key is what x is told apart and sorted by.
func (b *binder) key(x plan.Expr) plan.Expr {
	if b.d.Key == nil {
		return x
	}
	return b.d.Key(b, x)
}

// keys makes the keys of columns; keyed tells whether one differs from its column.
func (b *binder) keys(cols []plan.Column) (list []plan.Expr, keyed bool) {
	for _, c := range cols {
		x := plan.Expr(plan.ColOf(c))
		k := b.key(x)
		keyed = keyed || k != x
		list = append(list, k)
	}
	return list, keyed
}

// distinctRows keeps one of each kind of row.
func (b *binder) distinctRows(n plan.Node, cols []plan.Column) plan.Node {
	list, keyed := b.keys(cols)
	if !keyed {
		return &plan.Distinct{Input: n}
	}
	return &plan.Distinct{Input: n, On: list}
}

// setOp is the operation by keys, where its columns have keys.
func (b *binder) setOp(op *plan.SetOp) plan.Node {
	_, keyed := b.keys(op.Cols)
	if !keyed || op.All && op.Kind == plan.Union {
		return op
	}
	if op.Kind == plan.Union {
		all := *op
		all.All = true
		return b.distinctRows(&all, op.Cols)
	}
	if op.All {
		b.fail(sqlerr.FeatureNotSupported, -1, "INTERSECT ALL and EXCEPT ALL are not supported for texts of a collation that is not binary")
	}
	// One of each kind of left row that has (INTERSECT) or has not (EXCEPT) its like at the right.
	left := &plan.Project{Input: op.Left}
	for i, c := range op.Left.Columns() {
		left.Exprs = append(left.Exprs, plan.Named{Col: op.Cols[i], Expr: plan.ColOf(c)})
	}
	var on []plan.Expr
	right := op.Right.Columns()
	for i, c := range op.Cols {
		on = append(on, b.operator("IS NOT DISTINCT FROM", plan.ColOf(c), plan.ColOf(right[i]), -1))
	}
	kind := plan.SemiJoin
	if op.Kind == plan.Except {
		kind = plan.AntiJoin
	}
	return b.distinctRows(&plan.Join{Kind: kind, Left: left, Right: op.Right, On: plan.AndOf(on...)}, op.Cols)
}

// representative is a group expression that is grouped by a key.
type representative struct{ key plan.Expr }

// groupKeys tells which of s.groups are grouped by a key of theirs.
func (s *selectState) groupKeys() []*representative {
	list := make([]*representative, len(s.groups))
	for i, g := range s.groups {
		if k := s.b.key(g); k != g {
			list[i] = &representative{k}
		}
	}
	return list
}

// make adds the key to the Aggregate's groups, and the least value with that key to its
// aggregates: it stands for the group. In rows where a grouping set leaves the group out it is
// NULL, as the key is.
func (p *representative) make(s *selectState, r *regroup, agg *plan.Aggregate, g plan.Expr, name string) {
	b := s.b
	k := b.newColumn(name, p.key.Type())
	b.own(k, "", s.lv, byAggregate)
	agg.Groups = append(agg.Groups, plan.Named{Col: k, Expr: p.key})
	v := b.least(s, agg, g, name)
	var out plan.Expr = plan.ColOf(v)
	if s.sets != nil {
		out = &plan.Case{Typ: v.Type, Else: out, Whens: []plan.When{{
			Cond: &plan.IsNull{X: plan.ColOf(k)}, Then: plan.NullOf(v.Type)}}}
	}
	r.out = append(r.out, out)
}

// least adds min(x), by bytes, to an Aggregate under construction.
func (b *binder) least(s *selectState, agg *plan.Aggregate, x plan.Expr, name string) plan.Column {
	res, err := PostgreSQL.ResolveFunction("min", []types.Type{x.Type()}, false)
	if err != nil || !res.Args[0].Equal(x.Type()) {
		res, err = PostgreSQL.ResolveFunction("any_value", []types.Type{x.Type()}, false)
		b.check(err, -1)
	}
	v := b.newColumn(name, res.Ret)
	b.own(v, "", s.lv, byAggregate)
	b.carry(v, x)
	agg.Aggs = append(agg.Aggs, plan.Agg{Func: res.Func, Args: []plan.Expr{x}, Out: v})
	return v
}

// anyValue stands for a column that is not grouped, where the dialect lets one be named.
func (r *regroup) anyValue(c *plan.Col) plan.Expr {
	for _, a := range r.agg.Aggs {
		if len(a.Args) == 1 && a.Filter == nil && a.Func.Name == "any_value" && plan.EqualExpr(a.Args[0], c) {
			return plan.ColOf(a.Out)
		}
	}
	b := r.s.b
	res, err := PostgreSQL.ResolveFunction("any_value", []types.Type{c.Typ}, false)
	b.check(err, b.posOf(c))
	v := b.newColumn(c.Name, c.Typ)
	b.own(v, "", r.s.lv, byAggregate)
	b.carry(v, c)
	r.agg.Aggs = append(r.agg.Aggs, plan.Agg{Func: res.Func, Args: []plan.Expr{c}, Out: v})
	return plan.ColOf(v)
}

// alias finds an output of the select list that an expression of GROUP BY, HAVING or ORDER BY
// names; nil where there is none.
func (b *binder) alias(lv *level, name string) plan.Expr {
	if !b.d.AliasesInExpr {
		return nil
	}
	if lv.sel == nil || lv.kind != inGroupBy && lv.kind != inHaving && lv.kind != inOrderBy {
		return b.outerAlias(lv.parent, name)
	}
	for _, t := range lv.sel.targets {
		if !t.junk && b.d.SameName(t.name, name) {
			return t.expr
		}
	}
	return b.outerAlias(lv.parent, name)
}

// outerAlias finds an entry of an outer query's select list that a subquery names which stands behind
// it in that list, or in its HAVING or ORDER BY:
//
//	SELECT a + 1 AS x, (SELECT max(b) FROM u WHERE b < x) FROM t
//
// What is only known after grouping (aggregates, windows) or differs each time is not found.
func (b *binder) outerAlias(lv *level, name string) plan.Expr {
	for l := lv; l != nil; l = l.parent {
		if l.sel == nil || l.kind != inSelect && l.kind != inHaving && l.kind != inOrderBy {
			continue
		}
		for _, t := range l.sel.targets {
			if !t.junk && b.d.SameName(t.name, name) && b.ofInput(t.expr) {
				return t.expr
			}
		}
	}
	return nil
}

// ofInput tells whether x is computed of columns of FROM alone, and notes that they are read.
func (b *binder) ofInput(x plan.Expr) bool {
	if plan.IsVolatile(x) {
		return false
	}
	switch e := x.(type) {
	case *plan.Col:
		if info, ok := b.cols[e.ID]; !ok || info.made != fromInput {
			return false
		}
		b.refs = append(b.refs, e.ID)
	case *plan.Const, *plan.Param:
	case *plan.Call, *plan.Cast, *plan.Case, *plan.Coalesce, *plan.And, *plan.Or, *plan.Not, *plan.IsNull, *plan.InList:
	default:
		return false
	}
	for _, c := range plan.Children(x) {
		if !b.ofInput(c) {
			return false
		}
	}
	return true
}

// keyedInList is X IN (constants) as a list of what X and each member compare by; nil where
// they do not agree on X's side.
func (b *binder) keyedInList(x plan.Expr, list []plan.Expr, negate bool) plan.Expr {
	var l plan.Expr
	var values []types.Datum
	var lost *plan.InList // of a member that X's type cannot hold, in the member's type
	for _, m := range list {
		if isNullLit(m) {
			values = append(values, types.Null)
			continue
		}
		xl, ml := b.d.Comparands(b, x, m)
		if !xl.Type().Equal(ml.Type()) {
			if !xl.Type().IsNumber() || !ml.Type().IsNumber() {
				return nil
			}
			// The NULL keeps a list in which no value is left.
			v := b.evaluate(ml, b.posOf(m))
			d, ok := exactly(xl.Type(), []types.Datum{v, types.Null}, ml.Type())
			if !ok {
				return nil
			}
			if len(d) == 1 && lost == nil {
				lost = &plan.InList{X: b.coerce(xl, ml.Type(), plan.Implicit), List: []types.Datum{v}, Negate: negate}
			}
			values = append(values, d[:len(d)-1]...)
		} else {
			values = append(values, b.evaluate(ml, b.posOf(m)))
		}
		if l != nil && !plan.EqualExpr(l, xl) {
			return nil
		}
		l = xl
	}
	if l == nil || !b.foldable(list) {
		return nil
	}
	if len(values) == 0 && lost != nil {
		return lost // nothing equals it, but x IN (…) of a NULL x is still NULL
	}
	return &plan.InList{X: l, List: values, Negate: negate}
}

func (b *binder) foldable(list []plan.Expr) bool {
	for _, m := range list {
		if !b.isConst(m) {
			return false
		}
	}
	return true
}
