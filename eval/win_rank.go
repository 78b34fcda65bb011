package eval

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func init() {
	Register(
		imm("row_number", nil, tInt8, &WindowImpl{Eval: winRowNumber}),
		imm("rank", nil, tInt8, &WindowImpl{Eval: winRank}),
		imm("dense_rank", nil, tInt8, &WindowImpl{Eval: winDenseRank}),
		imm("percent_rank", nil, tFloat8, &WindowImpl{Eval: winPercentRank}),
		imm("cume_dist", nil, tFloat8, &WindowImpl{Eval: winCumeDist}),
		imm("ntile", sig(types.Int4), tInt4, &WindowImpl{Eval: winNtile}),
	)
}

func winRowNumber(_ *Ctx, p WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	r := OutI64(out, p.Rows())
	for i := range r {
		r[i] = int64(i + 1)
	}
	return nil
}

// eachPeerGroup calls f for the peer groups of a partition in order.
func eachPeerGroup(p WindowPartition, f func(from, to int)) {
	for i := 0; i < p.Rows(); {
		from, to := p.Peers(i)
		f(from, to)
		i = to
	}
}

func winRank(_ *Ctx, p WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	r := OutI64(out, p.Rows())
	eachPeerGroup(p, func(from, to int) {
		for i := from; i < to; i++ {
			r[i] = int64(from + 1)
		}
	})
	return nil
}

func winDenseRank(_ *Ctx, p WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	r, k := OutI64(out, p.Rows()), int64(0)
	eachPeerGroup(p, func(from, to int) {
		k++
		for i := from; i < to; i++ {
			r[i] = k
		}
	})
	return nil
}

func winPercentRank(_ *Ctx, p WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	n := p.Rows()
	r := OutF64(out, n)
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

func winCumeDist(_ *Ctx, p WindowPartition, _ []*vec.Vector, out *vec.Vector) error {
	n := p.Rows()
	r := OutF64(out, n)
	eachPeerGroup(p, func(from, to int) {
		for i := from; i < to; i++ {
			r[i] = float64(to) / float64(n)
		}
	})
	return nil
}

// winNtile takes the number of buckets from the partition's first row, as PostgreSQL does; the
// first rows mod buckets buckets get one row more.
func winNtile(_ *Ctx, p WindowPartition, args []*vec.Vector, out *vec.Vector) error {
	n := p.Rows()
	r := OutI64(out, n)
	if n == 0 {
		return nil
	}
	if args[0].Null(0) {
		for i := range r {
			NullOut(out, i, n)
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
