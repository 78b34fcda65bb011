package exec

import (
	"bytes"
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// limit passes count rows after the first offset ones, and with ties also the rows whose keys
// equal the last one's.
type limit struct {
	in    vec.Source
	node  *plan.Limit
	c     *eval.Ctx
	keys  []*eval.Program
	enc   *keyEncoder
	began bool
	skip  int64
	left  int64 // -1: all
	last  []byte
	tying bool
	done  bool
	out   vec.Batch
	vecs  []*vec.Vector
}

func newLimit(env *Env, n *plan.Limit, in vec.Source) (*limit, error) {
	l := &limit{in: in, node: n, c: env.evalCtx()}
	if n.WithTies {
		for _, k := range n.Keys {
			p, err := eval.Compile(k.Expr, n.Input.Columns())
			if err != nil {
				return nil, err
			}
			l.keys = append(l.keys, p)
		}
		l.enc = newKeyEncoder(sortColumns(n.Keys))
		l.vecs = make([]*vec.Vector, len(l.keys))
	}
	return l, nil
}

func (l *limit) start() error {
	l.began = true
	l.left = -1
	if l.node.Count != nil {
		d, err := eval.EvalConst(l.c, l.node.Count)
		if err != nil {
			return err
		}
		if !d.IsNull() {
			if l.left = d.Int(); l.left < 0 {
				return sqlerr.New(sqlerr.InvalidLimit, "LIMIT must not be negative")
			}
		} else if l.node.WithTies {
			return sqlerr.New(sqlerr.InvalidLimit, "row count cannot be null in FETCH FIRST ... WITH TIES clause")
		}
	}
	if l.node.Offset != nil {
		d, err := eval.EvalConst(l.c, l.node.Offset)
		if err != nil {
			return err
		}
		if !d.IsNull() {
			if l.skip = d.Int(); l.skip < 0 {
				return sqlerr.New(sqlerr.InvalidOffset, "OFFSET must not be negative")
			}
		}
	}
	return nil
}

func (l *limit) Next(ctx context.Context) (*vec.Batch, error) {
	if !l.began {
		if err := l.start(); err != nil {
			return nil, err
		}
	}
	for {
		if l.done || l.left == 0 && !l.tying {
			return nil, nil
		}
		b, err := l.in.Next(ctx)
		if b == nil || err != nil {
			return nil, err
		}
		sel := selection(b)
		if l.skip > 0 {
			k := min(l.skip, int64(len(sel)))
			l.skip -= k
			sel = sel[k:]
		}
		if len(sel) == 0 {
			continue
		}
		take := sel
		if l.left >= 0 && l.left < int64(len(sel)) {
			take = sel[:l.left]
		}
		if l.left > 0 {
			l.left -= int64(len(take))
		}
		if l.enc != nil && l.left == 0 {
			if take, err = l.ties(b, sel, len(take)); err != nil {
				return nil, err
			}
		}
		if len(take) == 0 {
			continue
		}
		l.out = vec.Batch{Cols: b.Cols, Sel: take, Rows: b.Rows}
		if len(take) == b.Rows {
			l.out.Sel = nil
		}
		return &l.out, nil
	}
}

// ties adds to the first k rows of sel those that follow with the same keys as the last row.
func (l *limit) ties(b *vec.Batch, sel []uint16, k int) ([]uint16, error) {
	if err := evalAll(l.c, l.keys, b, l.vecs); err != nil {
		return nil, err
	}
	l.enc.encode(l.vecs, sel)
	if !l.tying {
		l.tying = true
		l.last = append(l.last[:0], l.enc.key(k-1)...)
	}
	for k < len(sel) && bytes.Equal(l.enc.key(k), l.last) {
		k++
	}
	l.done = k < len(sel)
	return sel[:k], nil
}

func (l *limit) Close() error { return l.in.Close() }
