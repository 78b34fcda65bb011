package planner

import (
	"fmt"
	"sort"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// This file runs plans the slowest way there is: row by row, by the definitions. It runs the
// bound plan, subqueries and all, and the planned one alike, so that their answers can be
// compared.

type tuple map[plan.ColID]types.Datum

type oracle struct {
	ctx  *eval.Ctx
	rows map[string][][]types.Datum // a scan's rows, by alias, in the order of field ids
	work int                        // evaluations so far
}

// tooLong ends a run that the definitions make too long to wait for.
const tooLong = 400_000

type oracleError struct{ err error }

// run gives n's rows in its columns' order, as text.
func (o *oracle) run(n plan.Node) (out []string, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(oracleError)
			if !ok {
				panic(r)
			}
			err = e.err
		}
	}()
	for _, t := range o.node(n, tuple{}) {
		var s []string
		for _, c := range n.Columns() {
			s = append(s, plan.FormatConst(t[c.ID], c.Type))
		}
		out = append(out, strings.Join(s, ","))
	}
	return out, nil
}

func fail(format string, args ...any) { panic(oracleError{fmt.Errorf(format, args...)}) }

func merge(a, b tuple) tuple {
	c := make(tuple, len(a)+len(b))
	for k, v := range a {
		c[k] = v
	}
	for k, v := range b {
		c[k] = v
	}
	return c
}

// expr evaluates e with t's columns, subqueries by running them.
func (o *oracle) expr(e plan.Expr, t tuple) types.Datum {
	if o.work++; o.work > tooLong {
		fail("too long")
	}
	e = plan.MapExpr(e, func(x plan.Expr) plan.Expr {
		switch x := x.(type) {
		case *plan.Col:
			v, ok := t[x.ID]
			if !ok {
				panic(fmt.Sprintf("column %s (%d) is not there", x.Name, x.ID))
			}
			return &plan.Const{Value: v, Typ: x.Typ}
		case *plan.Subquery:
			return &plan.Const{Value: o.subquery(x, t), Typ: x.Typ}
		}
		return x
	})
	v, err := eval.EvalConst(o.ctx, e)
	if err != nil {
		panic(oracleError{err})
	}
	return v
}

func (o *oracle) truth(e plan.Expr, t tuple) (is, null bool) {
	if e == nil {
		return true, false
	}
	v := o.expr(e, t)
	return !v.IsNull() && v.Bool(), v.IsNull()
}

func (o *oracle) subquery(s *plan.Subquery, t tuple) types.Datum {
	rows := o.node(s.Plan, t)
	cols := s.Plan.Columns()
	switch s.Kind {
	case plan.ScalarSubquery:
		if len(rows) > 1 {
			fail("more than one row")
		}
		if len(rows) == 0 {
			return types.Null
		}
		return rows[0][cols[0].ID]
	case plan.ExistsSubquery:
		return types.NewBool(len(rows) > 0)
	case plan.AnySubquery, plan.AllSubquery:
		any := s.Kind == plan.AnySubquery
		out := types.NewBool(!any)
		for _, r := range rows {
			e := &plan.Call{Func: s.Ops[0], Typ: types.T(types.Bool), Args: []plan.Expr{s.Test[0], plan.ColOf(cols[0])}}
			v := o.expr(e, merge(t, r))
			if v.IsNull() {
				out = types.Null
			} else if v.Bool() == any {
				return v
			}
		}
		return out
	}
	panic("no such subquery")
}

func (o *oracle) node(n plan.Node, outer tuple) []tuple {
	switch n := n.(type) {
	case *plan.Scan:
		var out []tuple
		for _, r := range o.rows[n.Alias] {
			t := tuple{}
			for _, c := range append(append([]plan.ScanColumn(nil), n.Cols...), n.PredCols...) {
				t[c.ID] = r[c.FieldID-1]
			}
			if ok, _ := o.truth(n.Pred, merge(outer, t)); ok {
				out = append(out, t)
			}
		}
		return out
	case *plan.Values:
		var out []tuple
		for _, r := range n.Rows {
			t := tuple{}
			for i, e := range r {
				t[n.Cols[i].ID] = o.expr(e, outer)
			}
			out = append(out, t)
		}
		return out
	case *plan.Filter:
		var out []tuple
		for _, t := range o.node(n.Input, outer) {
			if ok, _ := o.truth(n.Pred, merge(outer, t)); ok {
				out = append(out, t)
			}
		}
		return out
	case *plan.Project:
		var out []tuple
		for _, t := range o.node(n.Input, outer) {
			u := tuple{}
			for _, e := range n.Exprs {
				u[e.Col.ID] = o.expr(e.Expr, merge(outer, t))
			}
			out = append(out, u)
		}
		return out
	case *plan.Join:
		return o.join(n.Kind, n.Left, n.Mark, n.Right.Columns(), joinCond(n), outer, func(tuple) []tuple { return o.node(n.Right, outer) })
	case *plan.Apply:
		return o.join(n.Kind, n.Left, n.Mark, n.Right.Columns(), n.On, outer, func(l tuple) []tuple { return o.node(n.Right, merge(outer, l)) })
	case *plan.Aggregate:
		return o.aggregate(n, outer)
	case *plan.Window:
		return o.rowNumber(n, outer)
	case *plan.Sort:
		rows := o.node(n.Input, outer)
		o.sort(rows, n.Keys, outer)
		if n.HasLimit && int64(len(rows)) > n.Limit {
			rows = rows[:n.Limit]
		}
		return rows
	case *plan.Limit:
		rows := o.node(n.Input, outer)
		if c, _ := constCount(n.Offset); c > 0 {
			rows = rows[min(int(c), len(rows)):]
		}
		if c, _ := constCount(n.Count); c >= 0 {
			rows = rows[:min(int(c), len(rows))]
		}
		return rows
	case *plan.Distinct:
		keys := n.On
		if keys == nil {
			for _, c := range n.Columns() {
				keys = append(keys, plan.ColOf(c))
			}
		}
		seen := map[string]bool{}
		var out []tuple
		for _, t := range o.node(n.Input, outer) {
			if k := o.key(keys, merge(outer, t)); !seen[k] {
				seen[k] = true
				out = append(out, t)
			}
		}
		return out
	case *plan.SetOp:
		return o.setOp(n, outer)
	}
	panic(fmt.Sprintf("the oracle does not know %T", n))
}

// joinCond checks the planner's split of the condition by using it instead of On.
func joinCond(n *plan.Join) plan.Expr {
	if n.Method == plan.AutoJoin {
		return n.On
	}
	terms := []plan.Expr{}
	for i := range n.LeftKeys {
		if n.NullSafe[i] {
			terms = append(terms, notDistinct(n.LeftKeys[i], n.RightKeys[i]))
		} else {
			terms = append(terms, equal(n.LeftKeys[i], n.RightKeys[i]))
		}
	}
	return plan.AndOf(append(terms, n.Rest)...)
}

func (o *oracle) join(kind plan.JoinKind, left plan.Node, mark plan.Column, rightCols []plan.Column, on plan.Expr, outer tuple, right func(tuple) []tuple) []tuple {
	var out []tuple
	nulls := func(cols []plan.Column) tuple {
		t := tuple{}
		for _, c := range cols {
			t[c.ID] = types.Null
		}
		return t
	}
	matched := map[int]bool{}
	var last []tuple
	for _, l := range o.node(left, outer) {
		found, unknown := 0, false
		last = right(l)
		for i, r := range last {
			t := merge(l, r)
			ok, null := o.truth(on, merge(outer, t))
			unknown = unknown || null
			if !ok {
				continue
			}
			found++
			matched[i] = true
			switch kind {
			case plan.InnerJoin, plan.LeftJoin, plan.RightJoin, plan.FullJoin, plan.SingleJoin:
				out = append(out, t)
			}
		}
		switch {
		case kind == plan.SingleJoin && found > 1:
			fail("more than one row")
		case found == 0 && (kind == plan.LeftJoin || kind == plan.FullJoin || kind == plan.SingleJoin):
			out = append(out, merge(l, nulls(rightCols)))
		case kind == plan.SemiJoin && found > 0, kind == plan.AntiJoin && found == 0:
			out = append(out, l)
		case kind == plan.MarkJoin:
			v := types.NewBool(found > 0)
			if found == 0 && unknown {
				v = types.Null
			}
			out = append(out, merge(l, tuple{mark.ID: v}))
		}
	}
	if kind == plan.RightJoin || kind == plan.FullJoin {
		if last == nil {
			last = right(nil)
		}
		for i, r := range last {
			if !matched[i] {
				out = append(out, merge(nulls(left.Columns()), r))
			}
		}
	}
	return out
}

func (o *oracle) key(keys []plan.Expr, t tuple) string {
	var s []string
	for _, k := range keys {
		s = append(s, plan.FormatConst(o.expr(k, t), k.Type()))
	}
	return strings.Join(s, ",")
}

func (o *oracle) aggregate(n *plan.Aggregate, outer tuple) []tuple {
	var keys []plan.Expr
	for _, g := range n.Groups {
		keys = append(keys, g.Expr)
	}
	groups := map[string][]tuple{}
	var order []string
	for _, t := range o.node(n.Input, outer) {
		u := merge(outer, t)
		k := o.key(keys, u)
		if _, ok := groups[k]; !ok {
			order = append(order, k)
		}
		groups[k] = append(groups[k], u)
	}
	if len(keys) == 0 && len(order) == 0 {
		order = append(order, "")
	}
	var out []tuple
	for _, k := range order {
		t := tuple{}
		for _, g := range n.Groups {
			t[g.Col.ID] = o.expr(g.Expr, groups[k][0])
		}
		for _, a := range n.Aggs {
			t[a.Out.ID] = o.agg(a, groups[k])
		}
		out = append(out, t)
	}
	return out
}

func (o *oracle) agg(a plan.Agg, rows []tuple) types.Datum {
	count, out := int64(0), types.Null
	for _, r := range rows {
		if len(a.Args) == 0 {
			count++
			continue
		}
		v := o.expr(a.Args[0], r)
		if v.IsNull() {
			continue
		}
		count++
		switch {
		case a.Func.Name == "sum" && !out.IsNull():
			out = types.NewInt(out.Int() + v.Int())
		case out.IsNull(), a.Func.Name == "min" && v.Int() < out.Int(), a.Func.Name == "max" && v.Int() > out.Int():
			out = v
		}
	}
	if a.Func.Name == "count" {
		return types.NewInt(count)
	}
	return out
}

func (o *oracle) sort(rows []tuple, keys []plan.SortKey, outer tuple) {
	sort.SliceStable(rows, func(i, j int) bool {
		for _, k := range keys {
			a, b := o.expr(k.Expr, merge(outer, rows[i])), o.expr(k.Expr, merge(outer, rows[j]))
			if a.IsNull() || b.IsNull() {
				if a.IsNull() != b.IsNull() {
					return a.IsNull() == k.NullsFirst
				}
				continue
			}
			if a.Int() != b.Int() {
				return (a.Int() < b.Int()) != k.Desc
			}
		}
		return false
	})
}

// rowNumber is the one window function that plans here use.
func (o *oracle) rowNumber(n *plan.Window, outer tuple) []tuple {
	rows := o.node(n.Input, outer)
	o.sort(rows, n.Order, outer)
	next := map[string]int64{}
	for i, t := range rows {
		k := o.key(n.Partition, merge(outer, t))
		next[k]++
		rows[i] = merge(t, tuple{n.Calls[0].Out.ID: types.NewInt(next[k])})
	}
	return rows
}

func (o *oracle) setOp(n *plan.SetOp, outer tuple) []tuple {
	side := func(in plan.Node) (out []tuple, keys []string) {
		for _, t := range o.node(in, outer) {
			u := tuple{}
			var k []string
			for i, c := range in.Columns() {
				u[n.Cols[i].ID] = t[c.ID]
				k = append(k, plan.FormatConst(t[c.ID], c.Type))
			}
			out, keys = append(out, u), append(keys, strings.Join(k, ","))
		}
		return out, keys
	}
	l, lk := side(n.Left)
	r, rk := side(n.Right)
	if n.Kind == plan.Union {
		l, lk = append(l, r...), append(lk, rk...)
		if n.All {
			return l
		}
	}
	right := map[string]bool{}
	for _, k := range rk {
		right[k] = true
	}
	seen := map[string]bool{}
	var out []tuple
	for i, t := range l {
		keep := n.Kind == plan.Union || right[lk[i]] == (n.Kind == plan.Intersect)
		if keep && !seen[lk[i]] {
			seen[lk[i]] = true
			out = append(out, t)
		}
	}
	return out
}
