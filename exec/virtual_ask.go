package exec

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// asker tells a computed table what a query wants of it: constants that a column must equal, and
// for any one value whether the predicate's terms on that column and the joins' keys admit it.
type asker struct {
	env   *Env
	equal map[int][]types.Datum
	tests map[int]*columnTest
}

// columnTest is what is known of one column.
type columnTest struct {
	col   plan.Column
	terms []plan.Expr // over col alone
	progs []*eval.Program
	keys  []scan.KeySet
	value *vec.Appender // the one that is tested
	out   [1]uint16
}

func newAsker(env *Env, n *plan.Virtual) *asker {
	a := &asker{env: env, equal: map[int][]types.Datum{}, tests: map[int]*columnTest{}}
	at := map[plan.ColID]int{}
	for i, c := range n.Cols {
		at[c.ID] = i
	}
	test := func(i int) *columnTest {
		t := a.tests[n.Index[i]]
		if t == nil {
			t = &columnTest{col: n.Cols[i]}
			a.tests[n.Index[i]] = t
		}
		return t
	}
	if n.Pred != nil {
		for _, e := range plan.Conjuncts(n.Pred) {
			cols := plan.ExprCols(e)
			if len(cols) != 1 || plan.IsVolatile(e) || plan.HasSubquery(e) {
				continue
			}
			for i, c := range n.Cols {
				if cols.Has(c.ID) {
					test(i).terms = append(test(i).terms, e)
				}
			}
			if c, list := constants(e); c != nil {
				if i, ok := at[c.ID]; ok {
					a.equal[n.Index[i]] = list
				}
			}
		}
	}
	for _, f := range n.RuntimeFilters {
		keys, ok := f.Values.(scan.KeySet)
		c, bare := f.Expr.(*plan.Col)
		if !ok || keys == nil || !bare {
			continue
		}
		if i, ok := at[c.ID]; ok {
			test(i).keys = append(test(i).keys, keys)
			// A join with one row, or with rows of one key, asks as a constant does.
			lo, hi, known := keys.MinMax()
			if known && a.equal[n.Index[i]] == nil && !keys.MatchesNull() && c.Typ.Form() == types.FormI64 && !lo.IsNull() && plan.EqualDatum(lo, hi) {
				a.equal[n.Index[i]] = []types.Datum{lo}
			}
		}
	}
	return a
}

// constants reads column = constant and column IN (constants).
func constants(e plan.Expr) (*plan.Col, []types.Datum) {
	switch e := e.(type) {
	case *plan.InList:
		if c, ok := e.X.(*plan.Col); ok && !e.Negate {
			return c, e.List
		}
	case *plan.Call:
		if !e.Func.Operator || e.Func.Name != "=" || len(e.Args) != 2 {
			return nil, nil
		}
		col, k := e.Args[0], e.Args[1]
		if _, ok := k.(*plan.Col); ok {
			col, k = k, col
		}
		c, ok1 := col.(*plan.Col)
		d, ok2 := k.(*plan.Const)
		if ok1 && ok2 && !d.Value.IsNull() && c.Typ.Same(d.Typ) {
			return c, []types.Datum{d.Value}
		}
	}
	return nil, nil
}

// single gives the columns that must equal one constant.
func (a *asker) single() map[int]types.Datum {
	m := map[int]types.Datum{}
	for i, l := range a.equal {
		if len(l) == 1 {
			m[i] = l[0]
		}
	}
	return m
}

// may implements plan.Ask.May. In doubt a value may be wanted: the filter and the join above
// still test, and report what goes wrong.
func (a *asker) may(column int, d types.Datum) bool {
	t := a.tests[column]
	if t == nil {
		return true
	}
	if t.terms != nil && t.progs == nil {
		for _, e := range t.terms {
			if p, err := eval.Compile(e, []plan.Column{t.col}); err == nil {
				t.progs = append(t.progs, p)
			}
		}
		t.terms = nil
	}
	if t.value == nil {
		t.value = vec.NewAppender(t.col.Type)
	}
	t.value.Reset()
	t.value.AppendDatum(d)
	b := &vec.Batch{Cols: []*vec.Vector{t.value.Vector()}, Rows: 1}
	out := t.out[:]
	for _, p := range t.progs {
		if sel, err := p.Select(a.env.Ctx, b, out); err == nil && len(sel) == 0 {
			return false
		}
	}
	for _, k := range t.keys {
		if len(k.Filter(b.Cols[0], nil, 1, out)) == 0 {
			return false
		}
	}
	return true
}
