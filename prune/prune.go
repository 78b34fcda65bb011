// Package prune answers: what need not be read, provably?
//
// In: a bound predicate and what is known of a set of rows (Stats: of a manifest, a file, a row
// group, a page). Out: a Verdict. The truth of `x < 5` over bounds is written once, here, and
// serves all four levels. It refuses to read anything itself, and to guess: whatever is
// unknown, missing, inverted or NaN keeps the rows.
//
// How it works: a boolean expression over a set of rows has a set of outcomes that are
// possible: some of true, false, NULL. A value has a span: bounds, and whether it may be NULL.
// AND, OR and NOT are Kleene's tables lifted to sets. If true is not possible, no row
// qualifies; if nothing but true is possible, all do. A set that is too large is safe.
package prune

import (
	"sync"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// Verdict is what a predicate is known to be over a set of rows. The zero Verdict is the safe
// one: if we forget to prove, we read.
type Verdict uint8

const (
	Some Verdict = iota // not proven either way: read, and test the rows
	None                // no row can satisfy: skip
	All                 // every row satisfies: no test needed
)

func (v Verdict) String() string { return [...]string{"some", "none", "all"}[v] }

// Stats is what is known of a set of rows. ok false means unknown. Implementations must be
// cheap and are asked from several goroutines at once if they are shared.
type Stats interface {
	// Rows is the number of rows, NULLs and deleted rows included.
	Rows() (n int64, ok bool)
	// Nulls is the number of rows where c is NULL. A missing count is not zero.
	Nulls(c plan.ColID) (n int64, ok bool)
	// NaNs is the number of rows where c is NaN; only asked for float columns.
	NaNs(c plan.ColID) (n int64, ok bool)
	// Bounds are such that lo ≤ v ≤ hi for every v of c that is neither NULL nor NaN. They
	// need not be attained (strings may be truncated). A NULL lo or hi: unknown on that side.
	Bounds(c plan.ColID) (lo, hi types.Datum, ok bool)
}

// Membership is what Stats may also know: whether the value v can be in c at all. Bucket
// partitions, Bloom filters and dictionaries do. false is a proof of absence.
type Membership interface {
	MayContain(c plan.ColID, v types.Datum) bool
}

// Predicate is a compiled predicate. Safe for concurrent use.
type Predicate struct {
	conj []conjunct
}

type conjunct struct {
	expr plan.Expr
	mask maskFn
}

// compiler carries what compilation needs; mu guards ctx, which evaluates bounds of function
// values later and is not safe for concurrent use, and the memos.
type compiler struct {
	cols map[plan.ColID]types.Type
	ctx  *eval.Ctx
	mu   sync.Mutex
}

// Compile prepares pred (nil: TRUE) over the columns of a scan.
func Compile(pred plan.Expr, cols []plan.ScanColumn, ctx *eval.Ctx) *Predicate {
	c := &compiler{cols: map[plan.ColID]types.Type{}, ctx: ctx}
	for _, col := range cols {
		c.cols[col.ID] = col.Type
	}
	p := &Predicate{}
	for _, e := range plan.Conjuncts(pred) {
		p.conj = append(p.conj, conjunct{e, c.bool(e)})
	}
	return p
}

// Test gives the verdict over the rows that s describes.
func (p *Predicate) Test(s Stats) Verdict {
	v, _ := p.test(s, false)
	return v
}

// Residual gives the verdict, and for Some the part of the predicate that is not proven and
// must be tested on the rows.
func (p *Predicate) Residual(s Stats) (Verdict, plan.Expr) { return p.test(s, true) }

func (p *Predicate) test(s Stats, residual bool) (Verdict, plan.Expr) {
	if n, ok := s.Rows(); ok && n == 0 {
		return None, nil
	}
	all := true
	var rest []plan.Expr
	for _, c := range p.conj {
		switch c.mask(s).verdict() {
		case None:
			return None, nil
		case Some:
			all = false
			if residual {
				rest = append(rest, c.expr)
			}
		}
	}
	if all {
		return All, nil
	}
	return Some, plan.AndOf(rest...)
}
