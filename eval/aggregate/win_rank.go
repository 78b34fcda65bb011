package aggregate

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerWinRank() {
	eval.Register(
		eval.Immutable("row_number", nil, eval.TInt8, &eval.WindowImpl{Eval: winRowNumber}),
		eval.Immutable("rank", nil, eval.TInt8, &eval.WindowImpl{Eval: winRank}),
		eval.Immutable("dense_rank", nil, eval.TInt8, &eval.WindowImpl{Eval: winDenseRank}),
		eval.Immutable("percent_rank", nil, eval.TFloat8, &eval.WindowImpl{Eval: winPercentRank}),
		eval.Immutable("cume_dist", nil, eval.TFloat8, &eval.WindowImpl{Eval: winCumeDist}),
		eval.Immutable("ntile", eval.Sig(types.Int4), eval.TInt4, &eval.WindowImpl{Eval: winNtile}),
	)
}

func winRowNumber(_ *eval.Ctx, p eval.WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	r := eval.OutI64(out, p.Rows())
	for i := range r {
		r[i] = int64(i + 1)
	}
	return nil
}

// eachPeerGroup calls f for the peer groups of a partition in order.
func eachPeerGroup(p eval.WindowPartition, f func(from, to int)) {
	for i := 0; i < p.Rows(); {
		from, to := p.Peers(i)
		f(from, to)
		i = to
	}
}

func winRank(_ *eval.Ctx, p eval.WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	r := eval.OutI64(out, p.Rows())
	eachPeerGroup(p, func(from, to int) {
		for i := from; i < to; i++ {
			r[i] = int64(from + 1)
		}
	})
	return nil
}

func winDenseRank(_ *eval.Ctx, p eval.WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	r, k := eval.OutI64(out, p.Rows()), int64(0)
	eachPeerGroup(p, func(from, to int) {
		k++
		for i := from; i < to; i++ {
			r[i] = k
		}
	})
	return nil
}

func winPercentRank(_ *eval.Ctx, p eval.WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	n := p.Rows()
	r := eval.OutF64(out, n)
	eachPeerGroup(p, func(from, to int) {
		v := 0.0
		if n > 1 {
			v = float64(from) / float64(n-1)
		}
		for i := from; i < to; i++ {
			r[i] = v
		}
	})
	return nil
}

func winCumeDist(_ *eval.Ctx, p eval.WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	n := p.Rows()
	r := eval.OutF64(out, n)
	eachPeerGroup(p, func(from, to int) {
		for i := from; i < to; i++ {
			r[i] = float64(to) / float64(n)
		}
	})
	return nil
}

// winNtile takes the number of buckets from the partition's first row, as PostgreSQL does; the
// first rows mod buckets buckets get one row more.
func winNtile(_ *eval.Ctx, p eval.WindowPartition, args []*vec.Vector, out *vec.Vector) error {
	n := p.Rows()
	r := eval.OutI64(out, n)
	if n == 0 {
		return nil
	}
	if args[0].Null(0) {
		for i := range r {
			eval.NullOut(out, i, n)
		}
		return nil
	}
	buckets := args[0].Values().I64[args[0].Row(0)]
	if buckets <= 0 {
		return sqlerr.New("22014", "argument of ntile must be greater than zero")
	}
	size, more := int64(n)/buckets, int64(n)%buckets
	for i := range r {
		k := int64(i)
		if k < more*(size+1) {
			r[i] = k/(size+1) + 1
		} else {
			r[i] = more + (k-more*(size+1))/size + 1
		}
	}
	return nil
}
