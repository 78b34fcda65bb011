package exec

import (
	"fmt"
	"math/rand"
	"sort"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// naiveFrame lists the rows of a frame by SQL's definition (SQL:2011 7.15), over one sorted
// partition; keys is the column of the single ORDER BY key.
func naiveFrame(part [][]types.Datum, i int, f plan.Frame, key int, desc bool) []int {
	null := func(j int) bool { return part[j][key].IsNull() }
	val := func(j int) int64 { return part[j][key].Int() }
	peers := func(a, b int) bool {
		return null(a) && null(b) || !null(a) && !null(b) && val(a) == val(b)
	}
	group := make([]int, len(part))
	for j := 1; j < len(part); j++ {
		group[j] = group[j-1]
		if !peers(j, j-1) {
			group[j]++
		}
	}
	// inside tells whether row j is not beyond the bound.
	inside := func(j int, b plan.FrameBound, start bool) bool {
		sign := int64(1) // for start: j ≥ bound
		if !start {
			sign = -1
		}
		off := int64(0)
		switch b.Kind {
		case plan.UnboundedPreceding:
			return start
		case plan.UnboundedFollowing:
			return !start
		case plan.OffsetPreceding:
			off = -b.Offset.(*plan.Const).Value.Int()
		case plan.OffsetFollowing:
			off = b.Offset.(*plan.Const).Value.Int()
		}
		switch f.Mode {
		case plan.RowsFrame:
			return sign*(int64(j)-int64(i)-off) >= 0
		case plan.GroupsFrame:
			return sign*(int64(group[j])-int64(group[i])-off) >= 0
		}
		if b.Kind == plan.CurrentRow {
			return sign*(int64(group[j])-int64(group[i])) >= 0
		}
		if null(i) || null(j) {
			if null(i) && null(j) {
				return true
			}
			// NULLs stand at one end: the other rows lie wholly on one side of them.
			return sign*(int64(j)-int64(i)) > 0
		}
		a, c := val(j), val(i)
		if desc {
			a, c = -a, -c
		}
		return sign*(a-c-off) >= 0
	}
	var rows []int
	for j := range part {
		if !inside(j, f.Start, true) || !inside(j, f.End, false) {
			continue
		}
		switch f.Exclude {
		case plan.ExcludeCurrentRow:
			if j == i {
				continue
			}
		case plan.ExcludeGroup:
			if peers(i, j) {
				continue
			}
		case plan.ExcludeTies:
			if peers(i, j) && i != j {
				continue
			}
		}
		rows = append(rows, j)
	}
	return rows
}

// TestWindowFrames computes aggregates over random frames of every mode against the definition.
func TestWindowFrames(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	for round := range 150 {
		rel := randomRelation(rnd, "c", rnd.Intn(300), 1+rnd.Intn(60), int4, int4, int4, int8)
		for i, r := range rel.rows {
			r[3] = types.NewInt(int64(i)) // tells rows apart
			if round%2 == 0 {
				r[0] = types.NewInt(0)
			}
		}
		bound := func(kinds ...plan.BoundKind) plan.FrameBound {
			b := plan.FrameBound{Kind: kinds[rnd.Intn(len(kinds))]}
			if b.Kind == plan.OffsetPreceding || b.Kind == plan.OffsetFollowing {
				b.Offset = constant(int64(rnd.Intn(40)))
			}
			return b
		}
		f := plan.Frame{Mode: plan.FrameMode(rnd.Intn(3)), Exclude: plan.FrameExclusion(rnd.Intn(4)),
			Start: bound(plan.UnboundedPreceding, plan.OffsetPreceding, plan.CurrentRow, plan.OffsetFollowing),
			End:   bound(plan.OffsetPreceding, plan.CurrentRow, plan.OffsetFollowing, plan.UnboundedFollowing)}
		desc, first := rnd.Intn(2) == 0, rnd.Intn(2) == 0
		// ROWS frames depend on the order of peers: the row number breaks ties there.
		order := []plan.SortKey{{Expr: col(rel.cols[1]), Desc: desc, NullsFirst: first}}
		at := []int{1}
		if f.Mode == plan.RowsFrame {
			order = append(order, plan.SortKey{Expr: col(rel.cols[3])})
			at = append(at, 3)
			f.Exclude = plan.ExcludeNoOthers
		}
		sum, lo, cnt := agg(t, "sum", col(rel.cols[2])), agg(t, "min", col(rel.cols[2])), agg(t, "count")
		filter := op(t, ">", col(rel.cols[2]), &plan.Const{Value: types.NewInt(0), Typ: int4})
		calls := []plan.WindowCall{
			{Func: sum.Func, Args: sum.Args, Frame: f, Out: sum.Out},
			{Func: lo.Func, Args: lo.Args, Frame: f, Out: lo.Out, Filter: filter},
			{Func: cnt.Func, Frame: f, Out: cnt.Out},
		}
		var want [][]types.Datum
		for _, part := range naiveGroups(rel.rows, rel.cols, []int{0}) {
			sort.SliceStable(part, func(i, j int) bool { return keyLess(part[i], part[j], order, at) < 0 })
			for i, r := range part {
				total, least, n := types.Null, types.Null, int64(0)
				for _, j := range naiveFrame(part, i, f, 1, desc) {
					n++
					x := part[j][2]
					if x.IsNull() {
						continue
					}
					if total.IsNull() {
						total = types.NewInt(0)
					}
					total = types.NewInt(total.Int() + x.Int())
					if x.Int() > 0 && (least.IsNull() || x.Int() < least.Int()) {
						least = x
					}
				}
				want = append(want, append(append([]types.Datum(nil), r...), total, least, types.NewInt(n)))
			}
		}
		for _, m := range someModes(rnd, 3) {
			env := testEnv(m)
			n := &plan.Window{Input: rel.node(env, rnd, env.workers()), Partition: []plan.Expr{col(rel.cols[0])}, Order: order, Calls: calls}
			got, err := tryCollect(n, env)
			what := fmt.Sprintf("seed %d round %d: %+v desc %v nulls first %v, %v", seed, round, f, desc, first, m)
			if err != nil {
				t.Fatalf("%s: %v%s", what, err, unwrapAll(err))
			}
			compareRows(t, what, got, want, n.Columns(), false)
		}
	}
}

// TestWindowLongFrames compares frames long enough for blocks with prefix sums.
func TestWindowLongFrames(t *testing.T) {
	rnd := rand.New(rand.NewSource(5))
	rel := randomRelation(rnd, "c", 20000, 1000, int4, int8)
	sums := make([]int64, len(rel.rows)+1)
	for i, r := range rel.rows {
		r[1] = types.NewInt(int64(i))
		sums[i+1] = sums[i]
		if !r[0].IsNull() {
			sums[i+1] += r[0].Int()
		}
	}
	env := testEnv(mode{0, 2, false})
	call := agg(t, "sum", col(rel.cols[0]))
	f := plan.Frame{Mode: plan.RowsFrame, Start: plan.FrameBound{Kind: plan.OffsetPreceding, Offset: constant(5000)},
		End: plan.FrameBound{Kind: plan.OffsetFollowing, Offset: constant(1000)}}
	n := &plan.Window{Input: rel.node(env, rnd, 2), Order: []plan.SortKey{{Expr: col(rel.cols[1])}},
		Calls: []plan.WindowCall{{Func: call.Func, Args: call.Args, Frame: f, Out: call.Out}}}
	for i, r := range collect(t, n, env) {
		want := sums[min(len(rel.rows), i+1001)] - sums[max(0, i-5000)]
		if r[2].Int() != want {
			t.Fatalf("row %d: %d, want %d", i, r[2].Int(), want)
		}
	}
}

// TestWindowPieces computes calls that run over pieces of a partition (batches of a few rows make
// pieces short) against their definitions, with one partition and with several; in half of the
// rounds beside calls that want the whole partition, whose rows are put by in the tiny modes.
func TestWindowPieces(t *testing.T) {
	seed := int64(testseed.Of(t))
	rnd := rand.New(rand.NewSource(seed))
	for round := range 60 {
		rel := randomRelation(rnd, "c", rnd.Intn(400), 1+rnd.Intn(80), int4, int4, text, int8)
		for i, r := range rel.rows {
			r[3] = types.NewInt(int64(i)) // tells rows apart
			if round%2 == 0 {
				r[0] = types.NewInt(0)
			}
		}
		back := int64(rnd.Intn(20))
		sum, list := agg(t, "sum", col(rel.cols[1])), agg(t, "string_agg", col(rel.cols[2]), &plan.Const{Value: types.NewStr(","), Typ: text})
		lag := agg(t, "lag", col(rel.cols[2]), &plan.Const{Value: types.NewInt(back), Typ: int4}, &plan.Const{Value: types.NewStr("none"), Typ: text})
		first, last := agg(t, "first_value", col(rel.cols[3])), agg(t, "last_value", col(rel.cols[3]))
		number, rank, dense := agg(t, "row_number"), agg(t, "rank"), agg(t, "dense_rank")
		toRow := func(m plan.FrameMode) plan.Frame {
			return plan.Frame{Mode: m, Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.CurrentRow}}
		}
		call := func(a plan.Agg, f plan.Frame) plan.WindowCall {
			return plan.WindowCall{Func: a.Func, Args: a.Args, Frame: f, Out: a.Out}
		}
		// With the row number in the order each row is a peer group; without it, groups are.
		ties := rnd.Intn(2) == 0
		order, at := []plan.SortKey{{Expr: col(rel.cols[1])}, {Expr: col(rel.cols[3])}}, []int{1, 3}
		calls := []plan.WindowCall{call(rank, toRow(plan.RangeFrame)), call(dense, toRow(plan.RangeFrame)), call(sum, toRow(plan.RangeFrame))}
		if ties {
			order, at = order[:1], at[:1]
		} else {
			calls = []plan.WindowCall{call(number, toRow(plan.RowsFrame)), call(lag, toRow(plan.RowsFrame)), call(first, toRow(plan.RowsFrame)),
				call(last, toRow(plan.RowsFrame)), call(list, toRow(plan.RowsFrame))}
		}
		whole := rnd.Intn(2) == 0
		if whole {
			all := plan.Frame{Mode: plan.RowsFrame, Start: plan.FrameBound{Kind: plan.UnboundedPreceding}, End: plan.FrameBound{Kind: plan.UnboundedFollowing}}
			least := agg(t, "min", col(rel.cols[2]))
			calls = append(calls, call(agg(t, "count"), all), plan.WindowCall{Func: least.Func, Args: least.Args, Frame: all, Out: least.Out,
				Filter: op(t, ">", col(rel.cols[1]), &plan.Const{Value: types.NewInt(1), Typ: int4})})
		}
		var want [][]types.Datum
		for _, part := range naiveGroups(rel.rows, rel.cols, []int{0}) {
			sort.SliceStable(part, func(i, j int) bool { return keyLess(part[i], part[j], order, at) < 0 })
			var totals []types.Datum
			if whole {
				least := types.Null
				for _, r := range part {
					if x := r[1]; !x.IsNull() && x.Int() > 1 && !r[2].IsNull() && (least.IsNull() || r[2].Str() < least.Str()) {
						least = r[2]
					}
				}
				totals = []types.Datum{types.NewInt(int64(len(part))), least}
			}
			groups, start := 0, 0
			for i, r := range part {
				if i == 0 || keyLess(part[i-1], r, order, at) != 0 {
					groups, start = groups+1, i
				}
				row := append([]types.Datum(nil), r...)
				if ties {
					total := types.Null
					for j := 0; j < len(part) && keyLess(part[j], r, order, at) <= 0; j++ {
						if x := part[j][1]; !x.IsNull() {
							if total.IsNull() {
								total = types.NewInt(0)
							}
							total = types.NewInt(total.Int() + x.Int())
						}
					}
					row = append(row, types.NewInt(int64(start+1)), types.NewInt(int64(groups)), total)
					want = append(want, append(row, totals...))
					continue
				}
				was := types.NewStr("none")
				if i >= int(back) {
					was = part[i-int(back)][2]
				}
				texts := types.Null
				for _, p := range part[:i+1] {
					switch {
					case p[2].IsNull():
					case texts.IsNull():
						texts = p[2]
					default:
						texts = types.NewStr(texts.Str() + "," + p[2].Str())
					}
				}
				row = append(row, types.NewInt(int64(i+1)), was, part[0][3], r[3], texts)
				want = append(want, append(row, totals...))
			}
		}
		for _, m := range someModes(rnd, 4) {
			env := testEnv(m)
			n := &plan.Window{Input: rel.node(env, rnd, env.workers()), Partition: []plan.Expr{col(rel.cols[0])}, Order: order, Calls: calls}
			got, err := tryCollect(n, env)
			what := fmt.Sprintf("seed %d round %d: ties %v, back %d, %v", seed, round, ties, back, m)
			if err != nil {
				t.Fatalf("%s: %v%s", what, err, unwrapAll(err))
			}
			compareRows(t, what, got, want, n.Columns(), false)
		}
	}
}
