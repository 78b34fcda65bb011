package scan

import (
	"context"
	"sort"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/prune"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
)

// groupPlan is what is known of a row group before its rows are read; its morsels share it.
type groupPlan struct {
	residual []plan.Expr // conjuncts that are not proven by statistics
	filters  []runtimeFilter
	indexes  parquet.Indexes
}

// Row groups of more rows than splitRows are cut into morsels of about morselRows where
// offset indexes let a reader begin in the middle.
const (
	splitRows  = 1 << 18
	morselRows = 1 << 17
)

// planGroup decides what of row group g must be read: level by level, cheapest first.
func (s *Scanner) planGroup(ctx context.Context, f *openFile, g int, filters []runtimeFilter) ([]morsel, error) {
	group := &f.footer.Groups[g]
	s.count.rowGroups.Add(1)
	if group.Rows == 0 {
		return nil, nil
	}
	p := &groupPlan{residual: f.residual, filters: filters}
	if !s.env.NoPruning {
		st := &groupStats{s: s, f: f, group: group}
		if p.residual = s.residual(f.residual, st); p.residual == nil && st.none {
			s.count.byStats.Add(1)
			return nil, nil
		}
		if s.filtersExclude(filters, st) {
			s.count.byFilter.Add(1)
			return nil, nil
		}
		none, err := s.bloomExcludes(ctx, f, group, p.residual, st)
		if err != nil {
			return nil, err
		}
		if none {
			s.count.byBloom.Add(1)
			return nil, nil
		}
	}
	rows := []parquet.RowRange{{From: 0, To: group.Rows}}
	var err error
	if p.indexes, rows, err = s.pruneRows(ctx, f, group, p, rows); err != nil {
		return nil, err
	}
	s.count.rows.Add(group.Rows)
	for _, r := range rows {
		s.count.rowsByIndex.Add(r.From - r.To)
	}
	s.count.rowsByIndex.Add(group.Rows)
	var ms []morsel
	for _, piece := range splitMorsels(rows, p.indexes != nil && group.Rows > splitRows) {
		ms = append(ms, morsel{file: f, group: g, plan: p, rows: piece})
	}
	return ms, nil
}

// residual tests conjuncts on statistics: those proven fall away, one refuted sets st.none.
func (s *Scanner) residual(conj []plan.Expr, st *groupStats) (rest []plan.Expr) {
	for _, e := range conj {
		switch s.predicate(e).Test(st) {
		case prune.None:
			st.none = true
			return nil
		case prune.Some:
			rest = append(rest, e)
		}
	}
	return rest
}

func (s *Scanner) filtersExclude(filters []runtimeFilter, st *groupStats) bool {
	for i := range filters {
		c := s.cols[filters[i].slot]
		lo, hi, ok := st.Bounds(c.ID)
		nulls, nok := st.Nulls(c.ID)
		nans, aok := st.NaNs(c.ID)
		if filters[i].excludes(lo, hi, ok, nulls, nok, aok && nans == 0) {
			return true
		}
	}
	return false
}

// splitMorsels cuts row ranges into pieces of about morselRows.
func splitMorsels(rows []parquet.RowRange, split bool) [][]parquet.RowRange {
	if len(rows) == 0 {
		return nil
	}
	if !split {
		return [][]parquet.RowRange{rows}
	}
	var out [][]parquet.RowRange
	var cur []parquet.RowRange
	var n int64
	for _, r := range rows {
		for r.From < r.To {
			take := min(r.To-r.From, morselRows-n)
			cur = append(cur, parquet.RowRange{From: r.From, To: r.From + take})
			r.From += take
			if n += take; n == morselRows {
				out, cur, n = append(out, cur), nil, 0
			}
		}
	}
	if cur != nil {
		out = append(out, cur)
	}
	return out
}

// pruneRows reads the page indexes, if they can help, and finds the row ranges that are left.
func (s *Scanner) pruneRows(ctx context.Context, f *openFile, group *parquet.RowGroup, p *groupPlan, rows []parquet.RowRange) (parquet.Indexes, []parquet.RowRange, error) {
	leaves, whole := s.leavesOf(f)
	pages := map[int]bool{}
	if !s.env.NoPruning {
		for i := range s.cols {
			c := &f.columns[i]
			if c.conv != nil && mentions(p.residual, s.cols[i].ID) && group.Columns[c.spec.Node.Leaf].ColumnIndex.N > 0 {
				pages[c.spec.Node.Leaf] = true
			}
		}
	}
	have := 0
	for _, l := range leaves {
		if group.Columns[l].OffsetIndex.N > 0 {
			have++
		}
	}
	splits := group.Rows > splitRows && whole && have == len(leaves)
	if have == 0 || len(pages) == 0 && !splits {
		return nil, rows, nil
	}
	b := parquet.NewBudget(s.env.Mem)
	defer b.Close()
	offsets, columns, err := parquet.ReadIndexes(ctx, f.file, group, leaves, pages, b)
	if err != nil {
		return nil, nil, err
	}
	if len(columns) > 0 {
		rows = s.liveRanges(f, group, p.residual, offsets, columns)
	}
	if !splits && len(columns) == 0 {
		return nil, rows, nil
	}
	return offsets, rows, nil
}

// leavesOf lists the leaf columns that the scan reads of f; whole tells whether it reads any.
func (s *Scanner) leavesOf(f *openFile) (leaves []int, whole bool) {
	seen := map[int]bool{}
	for i := range f.columns {
		if sp := f.columns[i].spec; sp != nil {
			addLeaves(sp, seen)
		}
	}
	for l := range seen {
		leaves = append(leaves, l)
	}
	sort.Ints(leaves)
	return leaves, len(leaves) > 0
}

func addLeaves(sp *parquet.Spec, seen map[int]bool) {
	switch {
	case sp.Kind == parquet.Constant:
	case len(sp.Children) == 0 && sp.Node.IsLeaf():
		seen[sp.Node.Leaf] = true
	default:
		for _, c := range sp.Children {
			addLeaves(c, seen)
		}
		if sp.Node != nil { // a witness for levels, where no wanted member is in the file
			seen[sp.Node.FirstLeaf().Leaf] = true
		}
	}
}

func mentions(conj []plan.Expr, id plan.ColID) bool {
	found := false
	for _, e := range conj {
		plan.WalkExpr(e, func(x plan.Expr) bool {
			if c, ok := x.(*plan.Col); ok && c.ID == id {
				found = true
			}
			return !found
		})
	}
	return found
}

// liveRanges tests the conjuncts on stretches of rows that no page boundary cuts, and keeps
// those where none is refuted.
func (s *Scanner) liveRanges(f *openFile, group *parquet.RowGroup, conj []plan.Expr, offsets parquet.Indexes, columns map[int]*parquet.ColumnIndex) []parquet.RowRange {
	cuts := []int64{0, group.Rows}
	for l := range columns {
		for _, p := range offsets[l].Pages {
			cuts = append(cuts, p.FirstRow)
		}
	}
	sort.Slice(cuts, func(i, j int) bool { return cuts[i] < cuts[j] })
	st := &groupStats{s: s, f: f, group: group, offsets: offsets, columns: columns}
	var live []parquet.RowRange
	for i := 0; i+1 < len(cuts); i++ {
		from, to := cuts[i], cuts[i+1]
		if from == to {
			continue
		}
		st.from, st.to, st.none = from, to, false
		if s.residual(conj, st); st.none {
			continue
		}
		if n := len(live); n > 0 && live[n-1].To == from {
			live[n-1].To = to
		} else {
			live = append(live, parquet.RowRange{From: from, To: to})
		}
	}
	return live
}

// groupStats is what a row group, or with page indexes a stretch of it, tells: prune.Stats.
type groupStats struct {
	s       *Scanner
	f       *openFile
	group   *parquet.RowGroup
	offsets parquet.Indexes
	columns map[int]*parquet.ColumnIndex
	from    int64 // the stretch, with columns
	to      int64
	none    bool
	blooms  map[int]*parquet.Bloom
}

func (g *groupStats) Rows() (int64, bool) {
	if g.columns != nil {
		return g.to - g.from, true
	}
	return g.group.Rows, true
}

func (g *groupStats) column(id plan.ColID) (i int, c *fileColumn) {
	for i := range g.s.cols {
		if g.s.cols[i].ID == id {
			return i, &g.f.columns[i]
		}
	}
	return -1, nil
}

// page finds the page of the stretch, where leaf l has a column index.
func (g *groupStats) page(l int) (x *parquet.ColumnIndex, page int, ok bool) {
	if x = g.columns[l]; x == nil {
		return nil, 0, false
	}
	return x, g.offsets[l].Find(g.from), true
}

func (g *groupStats) Nulls(id plan.ColID) (int64, bool) {
	rows, _ := g.Rows()
	i, c := g.column(id)
	switch {
	case c == nil:
		return 0, false
	case c.known && c.konst.IsNull():
		return rows, true
	case c.known || g.s.cols[i].FieldID == plan.HiddenPos:
		return 0, true
	case c.conv == nil || hidden(g.s.cols[i].FieldID):
		return 0, false
	case c.spec.Node.MaxDef == 0:
		return 0, true
	}
	l := c.spec.Node.Leaf
	if x, p, ok := g.page(l); ok {
		switch {
		case x.NullPage[p]:
			return rows, true
		case x.Nulls != nil && x.Nulls[p] == 0:
			return 0, true
		}
		return 0, false
	}
	n := g.group.Columns[l].Nulls
	if n < 0 || n > g.group.Rows || g.columns != nil && n != 0 {
		return 0, false
	}
	return n, true
}

// NaNs are not counted in Parquet; the manifest may say that the file has none.
func (g *groupStats) NaNs(id plan.ColID) (int64, bool) {
	i, c := g.column(id)
	if c == nil {
		return 0, false
	}
	t := g.s.cols[i].Type
	if t.Kind != types.Float4 && t.Kind != types.Float8 {
		return 0, true
	}
	if c.known {
		if !c.konst.IsNull() && c.konst.Float() != c.konst.Float() {
			return g.Rows()
		}
		return 0, true
	}
	if n, ok := g.f.task.File.NaNCounts[g.s.cols[i].FieldID]; ok && n == 0 {
		return 0, true
	}
	return 0, false
}

func (g *groupStats) Bounds(id plan.ColID) (lo, hi types.Datum, ok bool) {
	i, c := g.column(id)
	switch {
	case c == nil:
		return types.Null, types.Null, false
	case c.known:
		return c.konst, c.konst, !c.konst.IsNull()
	case g.s.cols[i].FieldID == plan.HiddenPos:
		from, to := int64(0), g.group.Rows
		if g.columns != nil {
			from, to = g.from, g.to
		}
		return types.NewInt(g.group.FirstRow + from), types.NewInt(g.group.FirstRow + to - 1), true
	case c.conv == nil || hidden(g.s.cols[i].FieldID):
		return types.Null, types.Null, false
	}
	n := c.spec.Node
	if x, p, ok := g.page(n.Leaf); ok {
		return c.conv.PageBounds(n, x, p)
	}
	return c.conv.Bounds(n, &g.group.Columns[n.Leaf])
}

// MayContain asks the Bloom filters that were read.
func (g *groupStats) MayContain(id plan.ColID, v types.Datum) bool {
	_, c := g.column(id)
	if c == nil || c.conv == nil || g.blooms == nil {
		return true
	}
	b := g.blooms[c.spec.Node.Leaf]
	return b == nil || b.MayContain(c.conv, c.spec.Node, v)
}

// bloomExcludes reads the Bloom filters of columns that the conjuncts compare for equality,
// and tests again.
func (s *Scanner) bloomExcludes(ctx context.Context, f *openFile, group *parquet.RowGroup, conj []plan.Expr, st *groupStats) (bool, error) {
	b := parquet.NewBudget(s.env.Mem)
	defer b.Close()
	for _, id := range equalityColumns(conj) {
		_, c := st.column(id)
		if c == nil || c.conv == nil {
			continue
		}
		l := c.spec.Node.Leaf
		bloom, err := parquet.ReadBloom(ctx, f.file, group, l, b)
		if err != nil {
			return false, err
		}
		if bloom != nil {
			if st.blooms == nil {
				st.blooms = map[int]*parquet.Bloom{}
			}
			st.blooms[l] = bloom
		}
	}
	if st.blooms == nil {
		return false, nil
	}
	s.residual(conj, st)
	return st.none, nil
}

// equalityColumns lists the columns that conjuncts compare with = or IN.
func equalityColumns(conj []plan.Expr) (ids []plan.ColID) {
	add := func(e plan.Expr) {
		if c, ok := plan.WithoutLength(e).(*plan.Col); ok {
			ids = append(ids, c.ID)
		}
	}
	for _, e := range conj {
		plan.WalkExpr(e, func(x plan.Expr) bool {
			switch x := x.(type) {
			case *plan.Call:
				if x.Func.Operator && x.Func.Name == "=" {
					for _, a := range x.Args {
						add(a)
					}
				}
			case *plan.InList:
				if !x.Negate {
					add(x.X)
				}
			}
			return true
		})
	}
	return ids
}
