package eval

import (
	"bytes"
	"math"
	"math/big"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// cmpOp is a comparison operator as the set of outcomes for which it is true: bit 0 less, bit 1
// equal, bit 2 greater.
type cmpOp uint8

const (
	cmpLT cmpOp = 1
	cmpEQ cmpOp = 2
	cmpLE cmpOp = 3
	cmpGT cmpOp = 4
	cmpNE cmpOp = 5
	cmpGE cmpOp = 6
)

// holds tells whether the operator is true for a three-way outcome, of which the sign counts.
func (o cmpOp) holds(cmp int) bool { return o>>(1+b2i(cmp > 0)-b2i(cmp < 0))&1 != 0 }

// swapped is the operator with its operands exchanged.
func (o cmpOp) swapped() cmpOp { return o&cmpEQ | o>>2 | o&cmpLT<<2 }

// cmpClass is how the operands of a comparison lie in memory.
type cmpClass uint8

const (
	cmpInts    cmpClass = iota + 1 // int64 of one unit
	cmpFloats                      // PostgreSQL's order: NaN above all, -0 = 0
	cmpNumeric                     // any two forms
	cmpBytes                       // byte order, which is collation "C"
	cmpPadded                      // bpchar: without trailing spaces
	cmpBools
	cmpUUIDs
	cmpInstants // date, timestamp and the like of different units or zones
	cmpDatums   // types.Compare
)

// fastKernels tell Compile what an operator is, so that it can choose a kernel by its operands.
type fastKernels struct {
	cmp    cmpOp
	class  cmpClass
	kernel func(e *plan.Call) Kernel // a kernel with scratch memory of its own
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return b2i(a != a) - b2i(b != b)
}

// comparer is a kernel of a comparison, with scratch for operands that come as codes.
type comparer struct {
	op       cmpOp
	class    cmpClass
	ai, bi   []int64
	af, bf   []float64
	instants func(c *Ctx, a, b int64) int
}

// operand gives v's values by row: a slice as long as the batch, or of one value for a constant.
func operand[T any](v *vec.Vector, vals []T, buf *[]T, sel []uint16, rows int) (s []T, isConst bool) {
	switch v.Enc {
	case vec.Const:
		return vals[:1], true
	case vec.Dict:
		*buf = resize(*buf, rows)
		s = *buf
		if len(vals) == 0 {
			return s, false
		}
		if sel == nil {
			for i, x := range v.Codes[:rows] {
				s[i] = vals[x]
			}
			return s, false
		}
		for _, i := range sel {
			s[i] = vals[v.Codes[i]]
		}
		return s, false
	}
	return vals[:rows], false
}

// kernel fills out with the outcome of the comparison.
func (k *comparer) kernel(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	o := OutBools(out, n)
	a, b := args[0], args[1]
	fa, fb := a.Values(), b.Values()
	switch k.class {
	case cmpInts:
		x, xc := operand(a, fa.I64, &k.ai, sel, n)
		y, yc := operand(b, fb.I64, &k.bi, sel, n)
		compareInts(k.op, x, xc, y, yc, sel, o)
	case cmpFloats:
		x, xc := operand(a, fa.F64, &k.af, sel, n)
		y, yc := operand(b, fb.F64, &k.bf, sel, n)
		at := func(s []float64, isConst bool, i int) float64 {
			if isConst {
				return s[0]
			}
			return s[i]
		}
		eachRow(sel, n, func(i int) { o[i] = k.op.holds(compareFloats(at(x, xc, i), at(y, yc, i))) })
	case cmpNumeric:
		k.numerics(a, b, sel, n, o)
	case cmpBytes:
		if k.op == cmpEQ || k.op == cmpNE {
			eachRow(sel, n, func(i int) { o[i] = bytes.Equal(a.Bytes(i), b.Bytes(i)) == (k.op == cmpEQ) })
			break
		}
		eachRow(sel, n, func(i int) { o[i] = k.op.holds(bytes.Compare(a.Bytes(i), b.Bytes(i))) })
	case cmpPadded:
		eachRow(sel, n, func(i int) { o[i] = k.op.holds(bytes.Compare(trimPad(a.Bytes(i)), trimPad(b.Bytes(i)))) })
	case cmpBools:
		eachRow(sel, n, func(i int) { o[i] = k.op.holds(b2i(fa.Bools[a.Row(i)]) - b2i(fb.Bools[b.Row(i)])) })
	case cmpUUIDs:
		eachRow(sel, n, func(i int) { o[i] = k.op.holds(compareUUIDs(fa.W128[a.Row(i)], fb.W128[b.Row(i)])) })
	case cmpInstants:
		eachRow(sel, n, func(i int) { o[i] = k.op.holds(k.instants(c, fa.I64[a.Row(i)], fb.I64[b.Row(i)])) })
	default:
		eachRow(sel, n, func(i int) { o[i] = k.op.holds(compareTyped(a.Datum(i), a.Type, b.Datum(i), b.Type)) })
	}
	return nil
}

func eachRow(sel []uint16, n int, f func(i int)) {
	if sel == nil {
		for i := 0; i < n; i++ {
			f(i)
		}
		return
	}
	for _, i := range sel {
		f(int(i))
	}
}

func compareUUIDs(a, b types.Int128) int {
	switch x, y := uint64(a.Hi), uint64(b.Hi); {
	case x < y:
		return -1
	case x > y:
		return 1
	case a.Lo < b.Lo:
		return -1
	case a.Lo > b.Lo:
		return 1
	}
	return 0
}

// compareInts compares all rows when most exist, as that has no branches.
func compareInts(op cmpOp, x []int64, xc bool, y []int64, yc bool, sel []uint16, o []bool) {
	if xc && !yc {
		compareInts(op.swapped(), y, yc, x, xc, sel, o)
		return
	}
	if sel != nil && len(sel)*4 < len(o) {
		for _, i := range sel {
			a, b := x[0], y[0]
			if !xc {
				a = x[i]
			}
			if !yc {
				b = y[i]
			}
			o[i] = op.holds(b2i(a > b) - b2i(a < b))
		}
		return
	}
	if yc {
		compareIntsConst(op, x, y[0], o)
		return
	}
	y = y[:len(x)]
	switch op {
	case cmpLT:
		for i, a := range x {
			o[i] = a < y[i]
		}
	case cmpLE:
		for i, a := range x {
			o[i] = a <= y[i]
		}
	case cmpGT:
		for i, a := range x {
			o[i] = a > y[i]
		}
	case cmpGE:
		for i, a := range x {
			o[i] = a >= y[i]
		}
	case cmpEQ:
		for i, a := range x {
			o[i] = a == y[i]
		}
	default:
		for i, a := range x {
			o[i] = a != y[i]
		}
	}
}

func compareIntsConst(op cmpOp, x []int64, k int64, o []bool) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	switch op {
	case cmpLT, cmpLE:
		hi = k
	case cmpGT, cmpGE:
		lo = k
	default:
		lo, hi = k, k
	}
	width := uint64(hi) - uint64(lo)
	strict := op == cmpLT || op == cmpGT || op == cmpNE
	switch {
	case op == cmpNE:
		for i, a := range x {
			o[i] = a != k
		}
	case strict && op == cmpLT:
		for i, a := range x {
			o[i] = a < k
		}
	case strict:
		for i, a := range x {
			o[i] = a > k
		}
	default:
		for i, a := range x {
			o[i] = uint64(a)-uint64(lo) <= width
		}
	}
}

// numerics compares two numerics: as integers where their forms and scales allow, exactly always.
func (k *comparer) numerics(a, b *vec.Vector, sel []uint16, n int, o []bool) {
	fa, fb := a.Values(), b.Values()
	if fa.Form == types.FormI64 && fb.Form == types.FormI64 {
		x, xc := operand(a, fa.I64, &k.ai, sel, n)
		y, yc := operand(b, fb.I64, &k.bi, sel, n)
		sa, sb := int(fa.Type.Scale), int(fb.Type.Scale)
		ok := true
		if sa < sb {
			x, ok = rescaled(x, xc, sb-sa, &k.ai, sel)
		} else if sb < sa {
			y, ok = rescaled(y, yc, sa-sb, &k.bi, sel)
		}
		if ok {
			compareInts(k.op, x, xc, y, yc, sel, o)
			return
		}
	}
	if fa.Form == types.FormW128 && fb.Form == types.FormW128 && fa.Type.Scale == fb.Type.Scale {
		eachRow(sel, n, func(i int) { o[i] = k.op.holds(fa.W128[a.Row(i)].Cmp(fb.W128[b.Row(i)])) })
		return
	}
	eachRow(sel, n, func(i int) { o[i] = k.op.holds(DecimalAt(a, i).Cmp(DecimalAt(b, i))) })
}

// rescaled multiplies by 10^by into buf; ok is false when some row of sel would overflow.
func rescaled(x []int64, isConst bool, by int, buf *[]int64, sel []uint16) (y []int64, ok bool) {
	if by > 18 {
		return nil, false
	}
	if isConst {
		sel = nil
	}
	f := types.Pow10Int64(by)
	if bitsOf(x, sel)+bitLen(f) > 63 {
		return nil, false
	}
	if cap(*buf) >= len(x) && len(*buf) > 0 && len(x) > 0 && &(*buf)[0] == &x[0] {
		y = x
	} else {
		*buf = resize(*buf, len(x))
		y = *buf
	}
	for i, v := range x {
		y[i] = v * f
	}
	return y, true
}

// compareNode is a comparison that can also select.
type compareNode struct {
	callNode
	k *comparer
}

func (n *compareNode) selectRows(c *Ctx, b *vec.Batch, sel, out []uint16) ([]uint16, error) {
	if n.k.class != cmpInts {
		v, err := n.eval(c, b, sel)
		if err != nil {
			return nil, err
		}
		return trueRows(v, sel, b.Rows, out), nil
	}
	x, err := n.args[0].eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	y, err := n.args[1].eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	if x.Enc == vec.Const && x.Null(0) || y.Enc == vec.Const && y.Null(0) {
		return out[:0], nil
	}
	if x.Enc == vec.Const && y.Enc == vec.Const {
		if n.k.op.holds(b2i(x.I64[0] > y.I64[0]) - b2i(x.I64[0] < y.I64[0])) {
			return copyRows(sel, b.Rows, out), nil
		}
		return out[:0], nil
	}
	xs, xc := operand(x, x.Values().I64, &n.k.ai, sel, b.Rows)
	ys, yc := operand(y, y.Values().I64, &n.k.bi, sel, b.Rows)
	op := n.k.op
	if xc {
		xs, ys, yc, op = ys, xs, true, op.swapped()
	}
	var r []uint16
	if yc {
		lo, hi, negate := int64(math.MinInt64), int64(math.MaxInt64), op == cmpNE
		k := ys[0]
		switch {
		case op == cmpLT && k == math.MinInt64 || op == cmpGT && k == math.MaxInt64:
			return out[:0], nil
		case op == cmpLT:
			hi = k - 1
		case op == cmpLE:
			hi = k
		case op == cmpGT:
			lo = k + 1
		case op == cmpGE:
			lo = k
		default:
			lo, hi = k, k
		}
		r = selectRangeI64(xs, lo, hi, negate, sel, out)
	} else {
		r = selectPairsI64(op, xs, ys, sel, out)
	}
	if x.Enc != vec.Const {
		r = validRows(x.Valid, r)
	}
	if y.Enc != vec.Const {
		r = validRows(y.Valid, r)
	}
	return r, nil
}

// selectPairsI64 is the filter x op y over two columns.
func selectPairsI64(op cmpOp, x, y []int64, sel []uint16, out []uint16) []uint16 {
	switch op { // the operators with > and >= are those with < and <= the other way round
	case cmpGT:
		return selectPairsI64(cmpLT, y, x, sel, out)
	case cmpGE:
		return selectPairsI64(cmpLE, y, x, sel, out)
	}
	j := 0
	if sel == nil {
		y = y[:len(x)]
		switch op {
		case cmpLT:
			for i, a := range x {
				out[j] = uint16(i)
				j += b2i(a < y[i])
			}
		case cmpLE:
			for i, a := range x {
				out[j] = uint16(i)
				j += b2i(a <= y[i])
			}
		case cmpEQ:
			for i, a := range x {
				out[j] = uint16(i)
				j += b2i(a == y[i])
			}
		default:
			for i, a := range x {
				out[j] = uint16(i)
				j += b2i(a != y[i])
			}
		}
		return out[:j]
	}
	switch op {
	case cmpLT:
		for _, i := range sel {
			out[j] = i
			j += b2i(x[i] < y[i])
		}
	case cmpLE:
		for _, i := range sel {
			out[j] = i
			j += b2i(x[i] <= y[i])
		}
	case cmpEQ:
		for _, i := range sel {
			out[j] = i
			j += b2i(x[i] == y[i])
		}
	default:
		for _, i := range sel {
			out[j] = i
			j += b2i(x[i] != y[i])
		}
	}
	return out[:j]
}

// compareTyped orders two values whose types may differ in the scale of a numeric within.
func compareTyped(a types.Datum, at types.Type, b types.Datum, bt types.Type) int {
	if at.Equal(bt) {
		return types.Compare(a, b, at)
	}
	switch at.Kind {
	case types.Numeric:
		return types.DecimalOf(a, at).Cmp(types.DecimalOf(b, bt))
	case types.Array, types.Struct:
	default:
		return types.Compare(a, b, at)
	}
	x, y := a.List(), b.List()
	for i := range min(len(x), len(y)) {
		xt, yt := memberType(at, i), memberType(bt, i)
		switch {
		case x[i].IsNull() && y[i].IsNull():
			continue
		case x[i].IsNull():
			return 1
		case y[i].IsNull():
			return -1
		}
		if c := compareTyped(x[i], xt, y[i], yt); c != 0 {
			return c
		}
	}
	return b2i(len(x) > len(y)) - b2i(len(x) < len(y))
}

func memberType(t types.Type, i int) types.Type {
	if t.Kind == types.Struct {
		return t.Fields()[i].Type
	}
	return t.Elem()
}

// scaledFloor is floor(d·10^scale), saturated, and whether that is exact. NaN counts as above
// everything, as in PostgreSQL's order.
func scaledFloor(d types.Decimal, scale int) (k types.Int128, exact bool) {
	if !d.IsFinite() {
		if d.IsInf() && d.Sign() < 0 {
			return types.MinInt128, false
		}
		return types.MaxInt128, false
	}
	z := d.Coef()
	exact = true
	if up := scale - d.Scale(); up >= 0 {
		z = new(big.Int).Mul(z, pow10(up))
	} else {
		var m big.Int
		z, _ = new(big.Int).DivMod(z, pow10(-up), &m) // Euclidean: the floor, as the divisor is positive
		exact = m.Sign() == 0
	}
	if k, ok := types.Int128FromBig(z); ok {
		return k, exact
	}
	if z.Sign() < 0 {
		return types.MinInt128, false
	}
	return types.MaxInt128, false
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
