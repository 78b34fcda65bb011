package exec

import (
	"strings"

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
	none  bool // no row is wanted: a join has no keys
}

// columnTest is what is known of one column.
type columnTest struct {
	col   plan.Column
	lists [][]types.Datum // of each the value must be one
	terms []plan.Expr     // other terms over col alone
	progs []*eval.Program
	keys  []scan.KeySet
	value *vec.Appender // the one that is tested
	out   [1]uint16

	// Rows of one kind come one after another: the answer for the last value is kept.
	last   types.Datum
	answer bool
	asked  bool
}

func newAsker(env *Env, n *plan.Virtual) *asker {
	a := &asker{env: env, equal: map[int][]types.Datum{}, tests: map[int]*columnTest{}}
	at := make(map[plan.ColID]int, len(n.Cols))
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
			for id := range cols {
				i, ok := at[id]
				if !ok {
					continue
				}
				c, list := constants(e)
				if c == nil {
					c, list = fixedPattern(e)
				}
				if c == nil || !onlyItself(c.Typ) {
					test(i).terms = append(test(i).terms, e)
				} else {
					test(i).lists = append(test(i).lists, list)
				}
				if c == nil {
					continue
				}
				if old := a.equal[n.Index[i]]; old == nil || len(list) < len(old) {
					a.equal[n.Index[i]] = list
				}
			}
		}
	}
	for _, f := range n.RuntimeFilters {
		keys, ok := f.Values.(scan.KeySet)
		if !ok || keys == nil {
			continue
		}
		a.none = a.none || keys.Empty()
		c, bare := f.Expr.(*plan.Col)
		if !bare {
			continue
		}
		i, ok := at[c.ID]
		if !ok {
			continue
		}
		test(i).keys = append(test(i).keys, keys)
		// A join with few keys asks as constants do.
		if few, ok := keys.(interface{ Few() ([]int64, bool) }); ok && c.Typ.Form() == types.FormI64 {
			list, ok := few.Few()
			if ok && (a.equal[n.Index[i]] == nil || len(list) < len(a.equal[n.Index[i]])) {
				some := make([]types.Datum, len(list))
				for k, x := range list {
					some[k] = types.NewInt(x)
				}
				a.equal[n.Index[i]] = some
			}
		}
	}
	return a
}

// onlyItself tells whether a value of the type equals no value but the same.
func onlyItself(t types.Type) bool {
	switch t.Kind {
	case types.Oid, types.Int2, types.Int4, types.Int8, types.Bool, types.Text, types.Name, types.Char, types.Varchar:
		return true
	}
	return false
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

// fixedPattern reads patterns that one text alone matches, as clients make them of names:
// LIKE 'orders', ~ '^(orders)$'.
func fixedPattern(e plan.Expr) (*plan.Col, []types.Datum) {
	call, ok := e.(*plan.Call)
	if !ok || !call.Func.Operator || len(call.Args) != 2 {
		return nil, nil
	}
	x := call.Args[0]
	if k, ok := x.(*plan.Cast); ok && k.Typ.Kind == types.Text {
		x = k.X
	}
	c, ok1 := x.(*plan.Col)
	k, ok2 := call.Args[1].(*plan.Const)
	if !ok1 || !ok2 || k.Value.Form() != types.FormStr || c.Typ.Kind != types.Text && c.Typ.Kind != types.Name && c.Typ.Kind != types.Varchar {
		return nil, nil
	}
	text := k.Value.Str()
	switch call.Func.Name {
	case "~~":
	case "~":
		inner, ok := strings.CutPrefix(text, "^")
		if inner, ok = cutSuffixIf(ok, inner, "$"); !ok {
			return nil, nil
		}
		if in, ok := strings.CutPrefix(inner, "("); ok {
			if inner, ok = strings.CutSuffix(in, ")"); !ok {
				return nil, nil
			}
		}
		text = inner
	default:
		return nil, nil
	}
	for i := range len(text) {
		// An underscore stands for itself in a regular expression only.
		if b := text[i]; !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' && call.Func.Name == "~" || b == ' ') {
			return nil, nil
		}
	}
	return c, []types.Datum{types.NewStr(text)}
}

func cutSuffixIf(ok bool, s, suffix string) (string, bool) {
	if !ok {
		return s, false
	}
	return strings.CutSuffix(s, suffix)
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
	if t.asked && plan.EqualDatum(t.last, d) {
		return t.answer
	}
	t.asked, t.last = true, d
	t.answer = t.listed(d) && a.tested(t, d)
	return t.answer
}

// listed tells whether d is in all lists.
func (t *columnTest) listed(d types.Datum) bool {
	for _, l := range t.lists {
		found := false
		for _, x := range l {
			found = found || plan.EqualDatum(x, d)
		}
		if !found {
			return false
		}
	}
	return true
}

// among implements plan.Ask.Among.
func (a *asker) among(column int, d []types.Datum) []bool {
	out := make([]bool, len(d))
	t := a.tests[column]
	for from := 0; from < len(d); from += vec.BatchRows {
		part, ok := d[from:min(from+vec.BatchRows, len(d))], out[from:]
		var sel []uint16
		for i := range part {
			if t == nil || t.listed(part[i]) {
				sel = append(sel, uint16(i))
			}
		}
		if t != nil && len(sel) > 0 {
			sel = a.testedAll(t, part, sel)
		}
		for _, i := range sel {
			ok[i] = true
		}
	}
	return out
}

// testedAll is tested for the values sel of part.
func (a *asker) testedAll(t *columnTest, part []types.Datum, sel []uint16) []uint16 {
	a.compile(t)
	if t.progs == nil && t.keys == nil {
		return sel
	}
	values := vec.NewAppender(t.col.Type)
	for _, i := range sel {
		values.AppendDatum(part[i])
	}
	b := &vec.Batch{Cols: []*vec.Vector{values.Vector()}, Rows: len(sel)}
	at := identity[:len(sel)]
	for _, p := range t.progs {
		b.Sel = at
		if s, err := p.Select(a.env.Ctx, b, make([]uint16, len(at))); err == nil {
			at = s
		}
	}
	for _, k := range t.keys {
		at = k.Filter(b.Cols[0], at, b.Rows, make([]uint16, len(at)))
	}
	out := make([]uint16, len(at))
	for i, r := range at {
		out[i] = sel[r]
	}
	return out
}

func (a *asker) compile(t *columnTest) {
	for _, e := range t.terms {
		if p, err := eval.Compile(e, []plan.Column{t.col}); err == nil {
			t.progs = append(t.progs, p)
		}
	}
	t.terms = nil
}

// tested tells whether the other terms and the joins' keys admit d.
func (a *asker) tested(t *columnTest, d types.Datum) bool {
	a.compile(t)
	if t.progs == nil && t.keys == nil {
		return true
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
