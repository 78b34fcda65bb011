package aggregate

import (
	"math"
	"math/bits"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerApprox() {
	eval.Register(eval.Immutable("approx_count_distinct", eval.Sig(types.Any), eval.TInt8, &eval.AggImpl{
		New: func(_ *eval.Ctx, call eval.AggCall) (eval.AggState, error) {
			return &hyperLogLog{typ: call.Args[0]}, nil
		},
		IgnoresDuplicates: true,
	}).Documented("The number of distinct values, within about 1.6%; exact up to 128."))
}

const (
	hllBits   = 12
	hllSize   = 1 << hllBits
	hllSparse = 128 // so many hashes are kept as they are before registers take over
)

// hyperLogLog estimates distinct values per group (Flajolet et al. 2007, 64-bit hashes).
type hyperLogLog struct {
	typ    types.Type
	groups []hllGroup
	key    []byte
	held   int64
}

type hllGroup struct {
	few       []uint64 // distinct hashes
	registers []uint8
}

func (s *hyperLogLog) Grow(n int)   { s.groups = grow(s.groups, n) }
func (s *hyperLogLog) Bytes() int64 { return int64(cap(s.groups))*48 + s.held }

func (s *hyperLogLog) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v := args[0]
	f := v.Values()
	fast := f.Form == types.FormI64 && s.typ.Kind != types.Numeric
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		if fast {
			s.add(g, mix64(uint64(f.I64[v.Row(i)])))
			return nil
		}
		s.key = types.AppendKey(s.key[:0], v.Datum(i), s.typ)
		s.add(g, hashBytes(s.key))
		return nil
	})
}

// mix64 is the finalizer of splitmix64.
func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashBytes is FNV-1a, mixed: the same in every process, so that estimates repeat.
func hashBytes(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return mix64(h)
}

func (s *hyperLogLog) add(g uint32, h uint64) {
	p := &s.groups[g]
	if p.registers == nil {
		for _, x := range p.few {
			if x == h {
				return
			}
		}
		if len(p.few) < hllSparse {
			p.few = append(p.few, h)
			s.held += 8
			return
		}
		p.registers = make([]uint8, hllSize)
		s.held += hllSize
		for _, x := range p.few {
			p.put(x)
		}
		p.few = nil
	}
	p.put(h)
}

func (p *hllGroup) put(h uint64) {
	at := h >> (64 - hllBits)
	rank := uint8(bits.LeadingZeros64(h<<hllBits|1<<(hllBits-1)) + 1)
	p.registers[at] = max(p.registers[at], rank)
}

func (s *hyperLogLog) Merge(other eval.AggState, into []uint32) error {
	for i, g := range into {
		o := &other.(*hyperLogLog).groups[i]
		for _, h := range o.few {
			s.add(g, h)
		}
		if o.registers == nil {
			continue
		}
		p := &s.groups[g]
		if p.registers == nil {
			p.registers = make([]uint8, hllSize)
			s.held += hllSize
			for _, h := range p.few {
				p.put(h)
			}
			p.few = nil
		}
		for k, r := range o.registers {
			p.registers[k] = max(p.registers[k], r)
		}
	}
	return nil
}

func (p *hllGroup) estimate() int64 {
	if p.registers == nil {
		return int64(len(p.few))
	}
	sum, zeros := 0.0, 0
	for _, r := range p.registers {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			zeros++
		}
	}
	const m = float64(hllSize)
	e := 0.7213 / (1 + 1.079/m) * m * m / sum
	if e <= 2.5*m && zeros > 0 {
		e = m * math.Log(m/float64(zeros)) // few values: count the empty registers
	}
	return int64(math.Round(e))
}

func (s *hyperLogLog) Result(from, to int, out *vec.Vector) error {
	r := eval.OutI64(out, to-from)
	for i := range r {
		r[i] = s.groups[from+i].estimate()
	}
	return nil
}
