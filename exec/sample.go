package exec

import (
	"context"
	"hash/fnv"
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/vec"
)

// sampleBlock is how many rows of a file SYSTEM keeps or leaves together.
const sampleBlock = 1024

// sample keeps the rows whose address, hashed with a seed, is below a threshold. No row asks about another one:
// neither workers nor the sizes of batches change which rows it keeps.
type sample struct {
	in        vec.Source
	node      *plan.Sample
	c         *eval.Ctx
	seed      uint64
	file, pos int
	began     bool
	all       bool
	below     uint64
	path      string // the last file, and what it and the seed make
	state     uint64
	out       vec.Batch
}

func newSample(env *Env, n *plan.Sample, in vec.Source, seed uint64) *sample {
	s := &sample{in: in, node: n, c: env.evalCtx(), seed: seed}
	for i, c := range n.Input.Columns() {
		switch c.ID {
		case n.File.ID:
			s.file = i
		case n.Pos.ID:
			s.pos = i
		}
	}
	return s
}

func (s *sample) start() error {
	s.began = true
	d, err := eval.EvalConst(s.c, s.node.Percent)
	if err != nil {
		return err
	}
	if d.IsNull() {
		return sqlerr.New(sqlerr.InvalidTablesampleArgument, "TABLESAMPLE parameter cannot be null")
	}
	p := d.Float()
	if !(p >= 0 && p <= 100) {
		return sqlerr.New(sqlerr.InvalidTablesampleArgument, "sample percentage must be between 0 and 100")
	}
	if below := math.Ldexp(p/100, 64); below < math.MaxUint64 {
		s.below = uint64(below)
	} else {
		s.all = true
	}
	if s.node.Seed != nil {
		d, err := eval.EvalConst(s.c, s.node.Seed)
		if err != nil {
			return err
		}
		if d.IsNull() {
			return sqlerr.New(sqlerr.InvalidTablesampleRepeat, "TABLESAMPLE REPEATABLE parameter cannot be null")
		}
		s.seed = math.Float64bits(d.Float())
	}
	return nil
}

func (s *sample) Next(ctx context.Context) (*vec.Batch, error) {
	if !s.began {
		if err := s.start(); err != nil {
			return nil, err
		}
	}
	for {
		b, err := s.in.Next(ctx)
		if b == nil || err != nil || s.all {
			return b, err
		}
		s.out = *b
		s.out.Sel = make([]uint16, 0, b.Len())
		_ = eval.EachRow(b.Sel, b.Rows, func(i int) error {
			if s.keeps(b.Cols[s.file].Bytes(i), b.Cols[s.pos].Datum(i).Int()) {
				s.out.Sel = append(s.out.Sel, uint16(i))
			}
			return nil
		})
		if len(s.out.Sel) > 0 {
			return &s.out, nil
		}
	}
}

func (s *sample) keeps(file []byte, pos int64) bool {
	if s.path != string(file) || s.state == 0 {
		s.path = string(file)
		h := fnv.New64a()
		h.Write(file)
		s.state = scatter(h.Sum64()^scatter(s.seed)) | 1
	}
	if s.node.Blocks {
		pos /= sampleBlock
	}
	return scatter(s.state+uint64(pos)*0x9e3779b97f4a7c15) < s.below
}

// scatter spreads the bits of x over all of them (splitmix64's last step).
func scatter(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (s *sample) Close() error { return s.in.Close() }
