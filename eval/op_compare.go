package eval

import (
	"math"
	"math/big"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// comparisons in the order of their names in PostgreSQL's catalogs.
var comparisons = []struct {
	name string
	op   cmpOp
}{{"=", cmpEQ}, {"<>", cmpNE}, {"<", cmpLT}, {"<=", cmpLE}, {">", cmpGT}, {">=", cmpGE}}

// instantKinds are the kinds that compare as points in time with each other.
var instantKinds = []types.Kind{types.Date, types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS}

func registerOpCompare() {
	ints := []types.Kind{types.Int2, types.Int4, types.Int8}
	for _, l := range ints {
		for _, r := range ints {
			compare(cmpInts, types.T(l), types.T(r))
		}
	}
	floats := []types.Kind{types.Float4, types.Float8}
	for _, l := range floats {
		for _, r := range floats {
			compare(cmpFloats, types.T(l), types.T(r))
		}
	}
	for _, l := range instantKinds {
		for _, r := range instantKinds {
			class := cmpInstants
			if l == r {
				class = cmpInts
			}
			compare(class, types.T(l), types.T(r))
		}
	}
	for _, k := range []types.Kind{types.Time, types.Oid} {
		compare(cmpInts, types.T(k), types.T(k))
	}
	compare(cmpNumeric, TNumeric, TNumeric)
	compare(cmpBools, TBool, TBool)
	compare(cmpBytes, TText, TText)
	compare(cmpBytes, TName, TName)
	compare(cmpBytes, TName, TText)
	compare(cmpBytes, TText, TName)
	compare(cmpBytes, TChar, TChar)
	compare(cmpBytes, TBytea, TBytea)
	compare(cmpPadded, TBpchar, TBpchar)
	compare(cmpUUIDs, TUUID, TUUID)
	for _, t := range []types.Type{TInterval, TTimeTZ, TJSONB, TAnyArray, TRecord,
		types.T(types.OidVector)} {
		compare(cmpDatums, t, t)
	}
	for _, c := range comparisons[:2] { // transaction ids have no order
		Register(comparison(c.name, c.op, cmpInts, types.T(types.Xid), types.T(types.Xid)))
		Register(comparison(c.name, c.op, cmpInts, types.T(types.Xid), TInt4))
	}
	Register(
		Immutable("greatest", []types.Type{TAnyElement}, TAnyElement, extreme(1)).AsVariadic().CalledOnNull().NeverFails(),
		Immutable("least", []types.Type{TAnyElement}, TAnyElement, extreme(-1)).AsVariadic().CalledOnNull().NeverFails(),
	)
}

func compare(class cmpClass, l, r types.Type) {
	for _, c := range comparisons {
		Register(comparison(c.name, c.op, class, l, r))
	}
}

func comparison(name string, o cmpOp, class cmpClass, l, r types.Type) Func {
	kernel := func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		k := comparer{op: o, class: class}
		if class == cmpInstants {
			k.instants = instantsOf(l.Kind, r.Kind)
		}
		return k.kernel(c, args, sel, n, out)
	}
	f := Op(name, []types.Type{l, r}, TBool, kernel).NeverFails()
	f.fast = fastKernels{cmp: o, class: class}
	if class == cmpInstants && zoned(l) != zoned(r) {
		f.Volatility = plan.Stable
	}
	return f
}

// extreme is greatest (1) or least (-1): NULLs do not count.
func extreme(want int) Kernel {
	return RowKernelTyped(func(_ *Ctx, row []types.Datum, t types.Type) (types.Datum, error) {
		best := types.Null
		for _, d := range row {
			if !d.IsNull() && (best.IsNull() || types.Compare(d, best, t)*want > 0) {
				best = d
			}
		}
		return best, nil
	})
}

// instant is a date or timestamp as a day and the nanoseconds in it; comparable across units.
type instant struct{ day, nano int64 }

const nanosPerDay = 86400 * 1_000_000_000

func isInfinite(k types.Kind, x int64) bool {
	if k == types.Date {
		return x == types.DateInfinity || x == types.DateNegInfinity
	}
	return x == types.TimestampInfinity || x == types.TimestampNegInfinity
}

func instantAt(k types.Kind, x int64) instant {
	if isInfinite(k, x) {
		if x > 0 {
			return instant{day: math.MaxInt64}
		}
		return instant{day: math.MinInt64}
	}
	switch k {
	case types.Date:
		return instant{day: x}
	case types.TimestampNS, types.TimestampTZNS:
		day := types.FloorDiv(x, nanosPerDay)
		return instant{day, x - day*nanosPerDay}
	}
	day, micro := types.SplitTimestamp(x)
	return instant{day, micro * 1000}
}

func (a instant) cmp(b instant) int {
	switch {
	case a.day < b.day:
		return -1
	case a.day > b.day:
		return 1
	case a.nano < b.nano:
		return -1
	case a.nano > b.nano:
		return 1
	}
	return 0
}

// instantsOf compares values of two kinds; one without zone is in the session's.
func instantsOf(l, r types.Kind) func(c *Ctx, a, b int64) int {
	lz, rz := zoned(types.T(l)), zoned(types.T(r))
	at := func(c *Ctx, k types.Kind, x int64, toUTC bool) instant {
		p := instantAt(k, x)
		if !toUTC || isInfinite(k, x) || p.day > 1<<27 || p.day < -1<<27 {
			return p // dates that far out have no time zone that could matter
		}
		local := p.day*types.MicrosPerDay + p.nano/1000
		q := instantAt(types.TimestampTZ, types.ToUTC(c.Zone, local))
		q.nano += p.nano % 1000
		return q
	}
	return func(c *Ctx, a, b int64) int {
		return at(c, l, a, rz && !lz).cmp(at(c, r, b, lz && !rz))
	}
}

// instantIn converts the constant k to the unit of kind to: its floor, and whether that is
// exact. ok is false where the session's zone would matter.
func instantIn(k int64, from, to types.Kind) (floor types.Int128, exact, ok bool) {
	if zoned(types.T(from)) != zoned(types.T(to)) {
		return floor, false, false
	}
	if isInfinite(from, k) {
		w := int64(types.TimestampInfinity)
		if to == types.Date {
			w = types.DateInfinity
		}
		if k < 0 {
			w = -w - 1
		}
		return types.FromInt64(w), true, true
	}
	unit := int64(1000)
	switch to {
	case types.Date:
		unit = nanosPerDay
	case types.TimestampNS, types.TimestampTZNS:
		unit = 1
	}
	p := instantAt(from, k)
	total := types.MulInt64(p.day, nanosPerDay).Add64(p.nano).Big()
	q, m := new(big.Int).DivMod(total, big.NewInt(unit), new(big.Int))
	floor, fits := types.Int128FromBig(q)
	invariant.Check(fits, "the instant %d of kind %d is too far", k, from)
	exact = m.Sign() == 0
	// What is finite but beyond the target's range lies just inside its infinities.
	if last := types.FromInt64(math.MaxInt64 - 1); floor.Cmp(last) > 0 {
		return last, false, true
	}
	if first := types.FromInt64(math.MinInt64); floor.Cmp(first) <= 0 {
		return first, false, true
	}
	return floor, exact, true
}

// distinctFrom is IS [NOT] DISTINCT FROM made of the operator =.
func distinctFrom(eq *plan.Function, not bool) *plan.Function {
	name := "IS DISTINCT FROM"
	if not {
		name = "IS NOT DISTINCT FROM"
	}
	key := madeKey{eq, name}
	if f, ok := made.Find(key); ok {
		return f
	}
	d := funcOf(eq)
	g := *eq
	g.Name, g.Strict, g.OID = name, false, 0
	impl := &Func{Name: name, Operator: true, Args: eq.Args, Ret: TBool, NonStrict: true,
		Volatility: eq.Volatility, Total: d.Total, distinct: eq}
	impl.Kernel = func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		a, b := args[0], args[1]
		both := make([]uint16, 0, n)
		eachRow(sel, n, func(i int) {
			if !a.Null(i) && !b.Null(i) {
				both = append(both, uint16(i))
			}
		})
		if err := d.Kernel(c, args, both, n, out); err != nil {
			return err
		}
		o := OutBools(out, n)
		out.Valid = nil
		eachRow(sel, n, func(i int) {
			an, bn := a.Null(i), b.Null(i)
			same := an && bn
			if !an && !bn {
				same = o[i]
			}
			o[i] = same == not
		})
		return nil
	}
	g.Impl = impl
	made.Put(key, &g, madeSize)
	return &g
}
