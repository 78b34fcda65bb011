package planner

import (
	"math"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// estimator guesses row counts from what Iceberg's metadata says. Guesses choose between
// equivalent plans; they never change an answer.
type estimator struct {
	cols map[plan.ColID]colGuess
	rows map[plan.Node]float64
}

// colGuess is what is guessed of a column's values where it comes into being.
type colGuess struct {
	distinct float64 // 0: unknown
	counted  bool    // distinct comes from the table's statistics
	lo, hi   float64 // as numbers; lo > hi: unknown
	nulls    float64 // fraction
	base     float64 // rows of the table that it comes from
}

// Guesses where nothing is known, of the size that System R made customary.
const (
	defaultRows     = 1000
	defaultEqual    = 0.01
	defaultRange    = 0.3
	defaultLike     = 0.05
	defaultBoolean  = 0.33
	defaultDistinct = 200
	setFuncRows     = 100
	unnestRows      = 10 // elements of a stored list
)

func newEstimator(n plan.Node) *estimator {
	e := &estimator{cols: map[plan.ColID]colGuess{}, rows: map[plan.Node]float64{}}
	e.learn(n)
	return e
}

// learn collects column guesses bottom-up.
func (e *estimator) learn(n plan.Node) {
	for _, in := range n.Inputs() {
		e.learn(in)
	}
	switch n := n.(type) {
	case *plan.Scan:
		e.learnScan(n)
	case *plan.Project:
		e.learnNamed(n.Exprs)
	case *plan.ProjectSet:
		e.learnNamed(n.Exprs)
	case *plan.Aggregate:
		e.learnNamed(n.Groups)
	case *plan.SetOp:
		for i, c := range n.Left.Columns() {
			e.cols[n.Cols[i].ID] = e.cols[c.ID]
		}
	case *plan.With:
		for _, c := range n.CTEs {
			for i, col := range c.Plan.Columns() {
				if i < len(c.Cols) {
					e.cols[c.Cols[i].ID] = e.cols[col.ID]
				}
			}
		}
	}
}

func (e *estimator) learnNamed(list []plan.Named) {
	for _, x := range list {
		c := x.Expr
		for {
			k, ok := c.(*plan.Cast)
			if !ok {
				break
			}
			c = k.X
		}
		if c, ok := c.(*plan.Col); ok && !plan.Passes(x) {
			e.cols[x.Col.ID] = e.cols[c.ID]
		}
	}
}

// learnFiles bounds how many files' bounds are looked at: more would not change the guess.
const learnFiles = 512

func (e *estimator) learnScan(n *plan.Scan) {
	total := float64(scanRows(n))
	counts := n.Table.Distincts(n.Snapshot)
	for _, c := range append(append([]plan.ScanColumn(nil), n.Cols...), n.PredCols...) {
		g := colGuess{lo: 1, hi: 0, base: total}
		if f, path := n.Schema.ByID(c.FieldID); f != nil && len(path) == 1 {
			g = guessColumn(n, f, total)
			if d, ok := counts[f.ID]; ok {
				// A column that told rows apart still does, however many have come since.
				if d.Rows > 0 && d.Values > d.Rows*0.9 {
					d.Values *= math.Max(1, total/d.Rows)
				}
				g.distinct, g.counted = math.Max(1, math.Min(d.Values, total)), true
			}
		}
		e.cols[c.ID] = g
	}
}

func guessColumn(n *plan.Scan, f *lake.Field, total float64) colGuess {
	g := colGuess{lo: math.Inf(1), hi: math.Inf(-1), base: total}
	step := max(1, len(n.Tasks)/learnFiles)
	var rows, nulls float64
	var first, last byte // of bounds that are one letter each
	single := true
	for i := 0; i < len(n.Tasks); i += step {
		t := n.Tasks[i].File
		if k, ok := t.NullCounts[f.ID]; ok {
			nulls += float64(k)
			rows += float64(t.RecordCount)
		}
		lo, ok1 := lake.DecodeBound(f.Type, f.Iceberg, t.Lower[f.ID])
		hi, ok2 := lake.DecodeBound(f.Type, f.Iceberg, t.Upper[f.ID])
		if !ok1 || !ok2 {
			continue
		}
		if f.Type.IsString() && single {
			if single = len(lo.Str()) == 1 && len(hi.Str()) == 1; single {
				if first == 0 || lo.Str()[0] < first {
					first = lo.Str()[0]
				}
				last = max(last, hi.Str()[0])
			}
		}
		if a, ok := number(lo, f.Type); ok {
			b, _ := number(hi, f.Type)
			g.lo, g.hi = math.Min(g.lo, a), math.Max(g.hi, b)
		}
	}
	if rows > 0 {
		g.nulls = math.Min(1, nulls/rows)
	}
	letters := 0.0 // how many values lie between bounds of one letter, if all have one
	if single && first > 0 {
		letters = float64(last-first) + 1
	}
	switch {
	case f.Type.Kind == types.Bool:
		g.distinct = 2
	case g.lo <= g.hi && discrete(f.Type):
		g.distinct = math.Max(1, math.Min(total, g.hi-g.lo+1))
	case f.Type.IsString() && letters > 0:
		g.distinct = letters
	case f.Type.IsString():
		g.distinct = math.Max(1, math.Min(total, math.Sqrt(total)*4))
	default:
		g.distinct = math.Max(1, total/2)
	}
	return g
}

func discrete(t types.Type) bool { return t.IsInteger() || t.Kind == types.Date }

// number places a value on a line, for interpolation.
func number(d types.Datum, t types.Type) (float64, bool) {
	switch d.Form() {
	case types.FormI64:
		v := float64(d.Int())
		if t.Kind == types.Numeric {
			v /= math.Pow10(int(t.Scale))
		}
		return v, true
	case types.FormF64:
		return d.Float(), !math.IsNaN(d.Float())
	case types.FormW128:
		if t.Kind == types.Numeric {
			w := d.W128()
			return (float64(w.Hi)*math.Pow(2, 64) + float64(w.Lo)) / math.Pow10(int(t.Scale)), true
		}
	case types.FormStr:
		if t.Kind == types.Numeric {
			return decimalNumber(types.DecimalOf(d, t).String())
		}
		if t.IsString() { // the first eight bytes as a fraction
			var v, f float64 = 0, 1
			for i := 0; i < 8 && i < len(d.Str()); i++ {
				f /= 256
				v += float64(d.Str()[i]) * f
			}
			return v, true
		}
	}
	return 0, false
}

func scanRows(n *plan.Scan) int64 {
	if n.Pruned {
		var rows int64
		for _, t := range n.Tasks {
			rows += t.File.RecordCount
		}
		return rows
	}
	return defaultRows
}

// of guesses n's row count.
func (e *estimator) of(n plan.Node) float64 {
	if r, ok := e.rows[n]; ok {
		return r
	}
	r := e.guess(n)
	if r < 0 || math.IsNaN(r) {
		r = 0
	}
	e.rows[n] = r
	return r
}

func (e *estimator) guess(n plan.Node) float64 {
	switch n := n.(type) {
	case *plan.Scan:
		return float64(scanRows(n)) * e.scanSelectivity(n)
	case *plan.Virtual:
		if t, ok := n.Table.(plan.SizedTable); ok {
			return t.Size().Rows
		}
	case *plan.Values:
		return float64(len(n.Rows))
	case *plan.Filter:
		return e.of(n.Input) * e.selectivity(n.Pred)
	case *plan.Sample:
		if c, ok := n.Percent.(*plan.Const); ok && !c.Value.IsNull() {
			return e.of(n.Input) * c.Value.Float() / 100
		}
	case *plan.Project, *plan.Window, *plan.Sort:
		r := e.of(n.Inputs()[0])
		if s, ok := n.(*plan.Sort); ok && s.HasLimit {
			r = math.Min(r, float64(s.Limit))
		}
		return r
	case *plan.ProjectSet:
		rows := 1.0
		for _, x := range n.Exprs {
			if c, ok := x.Expr.(*plan.Call); ok {
				rows = math.Max(rows, callRows(c))
			}
		}
		return e.of(n.Input) * rows
	case *plan.FuncScan:
		rows := 1.0
		for _, c := range n.Calls {
			rows = math.Max(rows, callRows(c))
		}
		return rows
	case *plan.Join:
		return e.join(n.Kind, e.of(n.Left), e.of(n.Right), plan.Conjuncts(n.On))
	case *plan.Apply:
		return e.join(n.Kind, e.of(n.Left), e.of(n.Right), plan.Conjuncts(n.On))
	case *plan.Aggregate:
		if len(n.Groups) == 0 {
			return math.Max(1, float64(len(n.Sets)))
		}
		var keys []plan.Expr
		for _, g := range n.Groups {
			keys = append(keys, g.Expr)
		}
		return e.groups(keys, e.of(n.Input)) * math.Max(1, float64(len(n.Sets)))
	case *plan.Distinct:
		keys := n.On
		if keys == nil {
			for _, c := range n.Columns() {
				keys = append(keys, plan.ColOf(c))
			}
		}
		return e.groups(keys, e.of(n.Input))
	case *plan.Limit:
		r := e.of(n.Input)
		if c, ok := constCount(n.Count); ok && c >= 0 {
			r = math.Min(r, float64(c))
		}
		return r
	case *plan.SetOp:
		l, r := e.of(n.Left), e.of(n.Right)
		switch n.Kind {
		case plan.Intersect:
			return math.Min(l, r)
		case plan.Except:
			return l
		}
		return l + r
	case *plan.With:
		return e.of(n.Body)
	case *plan.CTERef:
		if n.Work {
			return defaultRows
		}
		return e.of(n.CTE.Plan)
	}
	return defaultRows
}

// work guesses what a join's input costs, in rows. A computed table makes its rows before a
// filter sees them: only what is known of its keys spares it the work.
func (e *estimator) work(n plan.Node) float64 {
	v, pred := n, []plan.Expr(nil)
	for {
		switch m := v.(type) {
		case *plan.Filter:
			pred = append(pred, plan.Conjuncts(m.Pred)...)
			v = m.Input
			continue
		case *plan.Project:
			v = m.Input
			continue
		case *plan.Virtual:
			if t, ok := m.Table.(plan.SizedTable); ok {
				return math.Max(e.of(n), e.making(m, t.Size(), pred))
			}
		}
		return e.of(n)
	}
}

func (e *estimator) making(v *plan.Virtual, s plan.Size, pred []plan.Expr) float64 {
	keys := plan.ColSet{}
	for i, at := range v.Index {
		for _, k := range s.Keys {
			if k == at {
				keys.Add(v.Cols[i].ID)
			}
		}
	}
	w := s.Work
	for _, t := range pred {
		if cols := plan.ExprCols(t); len(cols) == 1 && keys.Contains(cols) {
			w *= e.selectivity(t)
		}
	}
	return w
}

// scanSelectivity takes the predicate's, softened where files were pruned already: the rows
// left are those near the predicate.
func (e *estimator) scanSelectivity(n *plan.Scan) float64 {
	if !n.Pruned || len(n.Tasks) == 0 {
		return e.selectivity(n.Pred)
	}
	var all, tested float64
	for _, t := range n.Tasks {
		all += float64(t.File.RecordCount)
		if t.Residual != nil {
			tested += float64(t.File.RecordCount)
		}
	}
	if all == 0 {
		return 1
	}
	return (all - tested + tested*e.selectivity(n.Pred)) / all
}

func (e *estimator) groups(keys []plan.Expr, rows float64) float64 {
	d := 1.0
	for _, k := range keys {
		d *= e.distinct(k, rows)
		if d > rows {
			return math.Max(1, rows*0.9)
		}
	}
	return math.Max(1, math.Min(d, rows))
}

func (e *estimator) distinct(k plan.Expr, rows float64) float64 {
	for id := range plan.ExprCols(k) {
		if g := e.cols[id]; g.distinct > 0 {
			return math.Min(g.distinct, math.Max(rows, 1))
		}
	}
	if _, ok := k.(*plan.Const); ok {
		return 1
	}
	return math.Min(defaultDistinct, math.Max(rows, 1))
}

// join guesses |L ⋈ R|. For keys the usual containment assumption: each value of the side with
// fewer distinct ones is found on the other. Counts that were not counted are upper bounds from value
// ranges, so the smaller of the two is the better guess (a foreign key's range is as wide as
// the key's, while its rows are many more).
func (e *estimator) join(kind plan.JoinKind, l, r float64, terms []plan.Expr) float64 {
	sel := 1.0
	for _, t := range terms {
		sel *= e.joinSelectivity(t)
	}
	inner := l * r * sel
	switch kind {
	case plan.InnerJoin:
		return inner
	case plan.LeftJoin:
		return math.Max(l, inner)
	case plan.RightJoin:
		return math.Max(r, inner)
	case plan.FullJoin:
		return math.Max(l+r-inner, math.Max(l, r))
	case plan.SemiJoin:
		return math.Min(l*0.9, math.Max(inner, l*0.05))
	case plan.AntiJoin:
		return math.Max(l*0.1, l-inner)
	}
	return l
}

func (e *estimator) joinSelectivity(t plan.Expr) float64 {
	a, b, ok := keyPair(t)
	if !ok {
		return e.selectivity(t)
	}
	da, db := e.baseDistinct(a), e.baseDistinct(b)
	switch {
	case e.counted(a) && e.counted(b):
		return 1 / math.Max(1, math.Max(da, db))
	case da == 0 && db == 0:
		return defaultEqual
	case da == 0:
		return 1 / db
	case db == 0:
		return 1 / da
	}
	return 1 / math.Max(1, math.Min(da, db))
}

// keyPair takes apart x = y and x IS NOT DISTINCT FROM y where both read columns.
func keyPair(t plan.Expr) (a, b plan.Expr, ok bool) {
	if c, isCall := t.(*plan.Call); isCall && plan.IsOp(t, "=") {
		a, b = c.Args[0], c.Args[1]
	} else if x, y, isND := plan.AsNotDistinct(t); isND {
		a, b = x, y
	} else {
		return nil, nil, false
	}
	return a, b, len(plan.ExprCols(a)) > 0 && len(plan.ExprCols(b)) > 0
}

func (e *estimator) baseDistinct(k plan.Expr) float64 {
	for id := range plan.ExprCols(k) {
		return e.cols[id].distinct
	}
	return 0
}

// counted tells whether how many values k's column has is known from the table's statistics.
func (e *estimator) counted(k plan.Expr) bool {
	for id := range plan.ExprCols(k) {
		return e.cols[id].counted
	}
	return false
}

// baseRows is the rows of the table that k's column comes from; +Inf: unknown.
func (e *estimator) baseRows(k plan.Expr) float64 {
	for id := range plan.ExprCols(k) {
		if b := e.cols[id].base; b > 0 {
			return b
		}
	}
	return math.Inf(1)
}

// categories is how many values a column is guessed to have that is compared with constants.
// Strings that are compared are kinds of things more often than names of one: taking them for
// names makes a third of a table look like a handful of rows.
func (e *estimator) categories(k plan.Expr) float64 {
	d := e.baseDistinct(k)
	if k.Type().IsString() && !e.counted(k) {
		d = math.Min(d, math.Max(25, math.Cbrt(e.baseRows(k))))
	}
	return d
}

// selectivity guesses the fraction of rows for which p is true.
func (e *estimator) selectivity(p plan.Expr) float64 {
	switch p := p.(type) {
	case nil:
		return 1
	case *plan.Const:
		if plan.IsTrue(p) {
			return 1
		}
		return 0
	case *plan.And:
		return e.conjunction(p.Args)
	case *plan.Or:
		s := 0.0
		for _, a := range p.Args {
			t := e.selectivity(a)
			s = s + t - s*t
		}
		return s
	case *plan.Not:
		return 1 - e.selectivity(p.X)
	case *plan.IsNull:
		f := 0.05
		if c, ok := p.X.(*plan.Col); ok {
			f = e.cols[c.ID].nulls
		}
		if p.Negate {
			return 1 - f
		}
		return f
	case *plan.InList:
		d := e.categories(p.X)
		s := defaultEqual * float64(len(p.List))
		if d > 0 {
			s = float64(len(p.List)) / d
		}
		s = math.Min(s, 1)
		if p.Negate {
			return 1 - s
		}
		return s
	case *plan.Call:
		return e.callSelectivity(p)
	}
	return defaultBoolean
}

// conjunction multiplies, but reads the two ends of a range on one column as a range.
func (e *estimator) conjunction(args []plan.Expr) float64 {
	type ends struct{ lo, hi float64 }
	ranges := map[plan.ColID]*ends{}
	s := 1.0
	for _, a := range args {
		if col, from, to, ok := e.rangeOf(a); ok {
			r := ranges[col]
			if r == nil {
				r = &ends{0, 1}
				ranges[col] = r
			}
			r.lo, r.hi = math.Max(r.lo, from), math.Min(r.hi, to)
			continue
		}
		s *= e.selectivity(a)
	}
	for _, r := range ranges {
		s *= math.Max(r.hi-r.lo, 1e-6)
	}
	return s
}

// rangeOf gives the part of a column's range [0,1] that `column op constant` selects.
func (e *estimator) rangeOf(p plan.Expr) (col plan.ColID, from, to float64, ok bool) {
	c, isCall := p.(*plan.Call)
	if !isCall || len(c.Args) != 2 || !c.Func.Operator {
		return 0, 0, 0, false
	}
	x := c.Args[0]
	if k, ok := x.(*plan.Cast); ok {
		x = k.X
	}
	x1, ok1 := x.(*plan.Col)
	k, ok2 := c.Args[1].(*plan.Const)
	if !ok1 || !ok2 || k.Value.IsNull() {
		return 0, 0, 0, false
	}
	g := e.cols[x1.ID]
	v, ok := number(k.Value, k.Typ)
	if x1.Typ.Kind == types.Date && k.Typ.Kind == types.Timestamp {
		v /= 86_400_000_000
	}
	if !ok || g.lo >= g.hi || g.distinct == 0 {
		return 0, 0, 0, false
	}
	at := math.Max(0, math.Min(1, (v-g.lo)/(g.hi-g.lo)))
	switch c.Func.Name {
	case "<", "<=":
		return x1.ID, 0, at, true
	case ">", ">=":
		return x1.ID, at, 1, true
	}
	return 0, 0, 0, false
}

func (e *estimator) callSelectivity(p *plan.Call) float64 {
	if _, from, to, ok := e.rangeOf(p); ok {
		return math.Max(to-from, 1e-6)
	}
	switch p.Func.Name {
	case "=":
		if a, b, ok := keyPair(p); ok {
			return math.Min(1, 1/math.Max(1, math.Max(e.baseDistinct(a), e.baseDistinct(b))))
		}
		if d := e.categories(p.Args[0]); d > 0 {
			return 1 / d
		}
		return defaultEqual
	case "<>":
		return 1 - defaultEqual
	case "<", "<=", ">", ">=":
		return defaultRange
	}
	if strings.HasPrefix(p.Func.Name, "~") {
		return defaultLike
	}
	if strings.HasPrefix(p.Func.Name, "!~") {
		return 1 - defaultLike
	}
	return defaultBoolean
}

func decimalNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsNaN(f)
}

// callRows guesses how many rows a call in FROM makes.
func callRows(c *plan.Call) float64 {
	switch {
	case c.Func.Kind != plan.SetFunc:
		return 1
	case c.Func.Name != "unnest":
		return setFuncRows
	}
	if a, ok := c.Args[0].(*plan.ArrayExpr); ok {
		return float64(len(a.Elems))
	}
	return unnestRows
}
