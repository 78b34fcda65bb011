package planner

import (
	"math"
	"math/bits"

	"github.com/lhsql/lhsql/plan"
)

// orderJoins reorders each region of adjacent inner joins for the least sum of intermediate
// rows. Other joins, and everything else, are the region's leaves: L ⟕ R does not commute with
// every inner join around it.
func orderJoins(env *Env, n plan.Node) (plan.Node, error) {
	o := &orderer{env: env, est: newEstimator(n)}
	return o.tree(n), nil
}

type orderer struct {
	env *Env
	est *estimator
}

// dpLimit is the number of relations up to which every order is tried (3^10 pairs of subsets);
// above it the cheapest pair joins first.
const dpLimit = 10

func (o *orderer) tree(n plan.Node) plan.Node {
	if j, ok := n.(*plan.Join); ok && j.Kind == plan.InnerJoin {
		return o.region(n)
	}
	if f, ok := n.(*plan.Filter); ok {
		if j, ok := f.Input.(*plan.Join); ok && j.Kind == plan.InnerJoin && !plan.IsVolatile(f.Pred) {
			return o.region(n)
		}
	}
	m, _ := o.env.mapInputs(n, func(x plan.Node) (plan.Node, error) { return o.tree(x), nil })
	return m
}

// region collects leaves and terms and joins them anew.
func (o *orderer) region(n plan.Node) plan.Node {
	r := &region{est: o.est}
	o.collect(n, r)
	for i := range r.leaves {
		r.leaves[i] = o.tree(r.leaves[i])
	}
	r.prepare()
	if len(r.leaves) <= dpLimit {
		return r.exhaustive()
	}
	return r.greedy()
}

func (o *orderer) collect(n plan.Node, r *region) {
	switch m := n.(type) {
	case *plan.Filter:
		if j, ok := m.Input.(*plan.Join); ok && j.Kind == plan.InnerJoin && !plan.IsVolatile(m.Pred) {
			o.collect(m.Input, r)
			r.terms = append(r.terms, plan.Conjuncts(m.Pred)...)
			return
		}
	case *plan.Join:
		if m.Kind == plan.InnerJoin && !plan.IsVolatile(m.On) {
			o.collect(m.Left, r)
			o.collect(m.Right, r)
			r.terms = append(r.terms, plan.Conjuncts(m.On)...)
			return
		}
	}
	r.leaves = append(r.leaves, n)
}

type region struct {
	est    *estimator
	leaves []plan.Node
	terms  []plan.Expr
	// uses[i] is the set of leaves that terms[i] reads, as bits.
	uses []uint64
	sels []float64 // guessed selectivity of each term
	keys []bool    // whether a hash join can use the term
}

// sub is the best known way to join a set of leaves.
type sub struct {
	set        uint64
	left       *sub
	right      *sub
	leaf       int
	rows, cost float64
	one        bool // surely at most one row
}

func (r *region) prepare() {
	n := len(r.terms)
	r.uses, r.sels, r.keys = make([]uint64, n), make([]float64, n), make([]bool, n)
	for i, t := range r.terms {
		r.sels[i] = r.est.joinSelectivity(t)
		_, _, r.keys[i] = keyPair(t)
		cols := plan.ExprCols(t)
		for j, l := range r.leaves {
			if cols.Intersects(plan.SetOf(l.Columns())) {
				r.uses[i] |= 1 << (j % 64)
			}
		}
	}
	r.composeKeys()
}

// composeKeys corrects the selectivity of keys of several columns, which is not the product of
// the columns': a table has no more different keys than rows.
//
//	l_partkey = ps_partkey AND l_suppkey = ps_suppkey:
//	1 / (200k · 10k) each by itself, 1 / 800k by the 800k rows of partsupp
func (r *region) composeKeys() {
	byPair := map[uint64][]int{}
	for i, u := range r.uses {
		if r.keys[i] && bits.OnesCount64(u) == 2 {
			byPair[u] = append(byPair[u], i)
		}
	}
	for u, terms := range byPair {
		if len(terms) < 2 {
			continue
		}
		left := plan.SetOf(r.leaves[bits.TrailingZeros64(u)].Columns())
		product, dl, dr := 1.0, 1.0, 1.0
		rl, rr := math.Inf(1), math.Inf(1)
		for _, i := range terms {
			a, b, _ := keyPair(r.terms[i])
			if !plan.ExprCols(a).Intersects(left) {
				a, b = b, a
			}
			product *= r.sels[i]
			dl, dr = dl*math.Max(1, r.est.baseDistinct(a)), dr*math.Max(1, r.est.baseDistinct(b))
			rl, rr = math.Min(rl, r.est.baseRows(a)), math.Min(rr, r.est.baseRows(b))
		}
		sel := 1 / math.Max(1, math.Min(math.Min(dl, rl), math.Min(dr, rr)))
		if sel > product && product > 0 {
			r.sels[terms[0]] *= sel / product
		}
	}
}

// between lists the terms that can first be tested where a and b meet.
func (r *region) between(a, b uint64) []plan.Expr {
	var out []plan.Expr
	for i, u := range r.uses {
		if u&^(a|b) == 0 && u&^a != 0 && u&^b != 0 {
			out = append(out, r.terms[i])
		}
	}
	return out
}

// crossPenalty makes a join without a hash key a last resort. A guess that a side has one row
// is no excuse, as guesses are wrong by factors: only a side that cannot have two rows is.
const (
	crossPenalty = 1e3
	minLoop      = 1e6
)

// price gives the rows and the cost of joining a and b. It runs for every pair of subsets, so
// it allocates nothing.
func (r *region) price(a, b *sub) (rows, cost float64) {
	rows = a.rows * b.rows
	hashed := false
	both := a.set | b.set
	for i, u := range r.uses {
		if u&^both == 0 && u&^a.set != 0 && u&^b.set != 0 {
			rows *= r.sels[i]
			hashed = hashed || r.keys[i]
		}
	}
	rows = math.Max(rows, 1)
	// Each row that leaves costs once, each row hashed costs as well.
	cost = a.cost + b.cost + rows + math.Min(a.rows, b.rows)
	if !hashed && !a.one && !b.one {
		cost += (a.rows*b.rows + minLoop) * crossPenalty
	}
	return rows, cost
}

func (r *region) join(a, b *sub) *sub {
	rows, cost := r.price(a, b)
	return &sub{set: a.set | b.set, left: a, right: b, rows: rows, cost: cost, one: a.one && b.one}
}

func (r *region) single(i int) *sub {
	return &sub{set: 1 << (i % 64), leaf: i, rows: math.Max(1, r.est.of(r.leaves[i])), one: atMostOneRow(r.leaves[i])}
}

// exhaustive is dynamic programming over subsets.
func (r *region) exhaustive() plan.Node {
	n := len(r.leaves)
	best := make([]*sub, 1<<n)
	for i := range r.leaves {
		best[1<<i] = r.single(i)
	}
	for set := uint64(1); set < 1<<n; set++ {
		if bits.OnesCount64(set) < 2 {
			continue
		}
		low := set & -set
		// Each split once: a keeps the lowest leaf.
		for a := (set - 1) & set; a > 0; a = (a - 1) & set {
			if a&low == 0 {
				continue
			}
			if _, cost := r.price(best[a], best[set&^a]); best[set] == nil || cost < best[set].cost {
				best[set] = r.join(best[a], best[set&^a])
			}
		}
	}
	return r.build(best[1<<n-1])
}

// greedy joins the pair with the fewest resulting rows until one is left. More leaves than
// bits keep the order of the query.
func (r *region) greedy() plan.Node {
	if len(r.leaves) > 64 {
		return r.asWritten()
	}
	var subs []*sub
	for i := range r.leaves {
		subs = append(subs, r.single(i))
	}
	for len(subs) > 1 {
		var bi, bj int
		var best *sub
		for i := range subs {
			for j := i + 1; j < len(subs); j++ {
				s := r.join(subs[i], subs[j])
				if best == nil || s.cost-s.left.cost-s.right.cost < best.cost-best.left.cost-best.right.cost {
					best, bi, bj = s, i, j
				}
			}
		}
		subs[bi] = best
		subs = append(subs[:bj], subs[bj+1:]...)
	}
	return r.build(subs[0])
}

// build makes the joins. The larger input stands left, where a hash join probes.
func (r *region) build(s *sub) plan.Node {
	if s.left == nil {
		return filter(r.leaves[s.leaf], r.alone(s.set))
	}
	a, b := s.left, s.right
	if a.rows < b.rows {
		a, b = b, a
	}
	j := &plan.Join{Kind: plan.InnerJoin, Left: r.build(a), Right: r.build(b), On: plan.AndOf(r.between(a.set, b.set)...)}
	r.est.rows[j] = s.rows
	if s.set == r.all() {
		return filter(j, r.alone(0))
	}
	return j
}

func (r *region) all() uint64 {
	if len(r.leaves) == 64 {
		return math.MaxUint64
	}
	return 1<<len(r.leaves) - 1
}

// alone is the conjunction of the terms that read exactly the one leaf (none: no leaf).
func (r *region) alone(set uint64) plan.Expr {
	var out []plan.Expr
	for i, u := range r.uses {
		if u == set {
			out = append(out, r.terms[i])
		}
	}
	return plan.AndOf(out...)
}

func (r *region) asWritten() plan.Node {
	n := r.leaves[0]
	for _, l := range r.leaves[1:] {
		n = &plan.Join{Kind: plan.InnerJoin, Left: n, Right: l}
	}
	return filter(n, plan.AndOf(r.terms...))
}
