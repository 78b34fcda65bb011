package eval

import (
	"bytes"
	"math"

	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// rangeNode tests one expression against constants: x op k, and x op k AND x op' k' in one go
// (BETWEEN). All six operators over int64 become one test of lo ≤ x ≤ hi, or its negation.
type rangeNode struct {
	x      node
	typ    types.Type
	class  cmpClass
	bounds []bound

	// For int64, and for numerics as integers of the column's scale. lo > hi: nothing fits.
	lo, hi types.Int128
	negate bool // outside, for <>

	// For floats: not below flo, and up to fhi unless unbounded.
	flo, fhi   float64
	upperBound bool

	strs     [][]byte
	out      vec.Vector
	gathered []int64 // values of an operand that came as codes
}

// bound is one term x op k; for cmpInstants k is in the unit of x's type as far as lo and hi go.
type bound struct {
	op   cmpOp
	k    types.Datum
	kTyp types.Type
}

// compileFast finds special nodes for comparisons.
func (k *compiler) compileFast(d *Func, e *plan.Call) (node, error) {
	if d.fast.cmp == 0 {
		return nil, nil
	}
	args, err := k.compileAll(e.Args)
	if err != nil {
		return nil, err
	}
	if n := newRange(d, e, args); n != nil {
		return n, nil
	}
	cmp := &comparer{op: d.fast.cmp, class: d.fast.class}
	if cmp.class == cmpInstants {
		cmp.instants = instantsOf(e.Func.Args[0].Kind, e.Func.Args[1].Kind)
	}
	return &compareNode{k: cmp, callNode: callNode{
		name: e.Func.Name, kernel: cmp.kernel, args: args, typ: TBool, strict: true, vals: make([]*vec.Vector, 2),
	}}, nil
}

// newRange makes a rangeNode of a comparison with a constant that is not NULL; nil: not one.
func newRange(d *Func, e *plan.Call, args []node) *rangeNode {
	x, op, at := args[0], d.fast.cmp, 1
	kv, ok := isConst(args[1])
	if !ok {
		if kv, ok = isConst(args[0]); !ok {
			return nil
		}
		x, op, at = args[1], op.swapped(), 0
	}
	if kv.Null(0) {
		return nil
	}
	if _, both := isConst(x); both {
		return nil
	}
	n := &rangeNode{x: x, typ: e.Args[1-at].Type(), class: d.fast.class,
		bounds: []bound{{op, kv.Datum(0), kv.Type}}}
	if !n.prepare() {
		return nil
	}
	return n
}

// prepare works out lo, hi and so on from the bounds; false: this class has no range form.
func (n *rangeNode) prepare() bool {
	n.lo, n.hi, n.negate = types.MinInt128, types.MaxInt128, false
	n.flo, n.fhi, n.upperBound = math.Inf(-1), math.Inf(1), false
	n.strs = nil
	for _, b := range n.bounds {
		// A <> cannot be one range together with another bound.
		if b.op == cmpNE && len(n.bounds) > 1 && n.class != cmpBytes {
			return false
		}
		switch n.class {
		case cmpInts:
			n.narrow(b.op, types.FromInt64(b.k.Int()), true)
		case cmpNumeric:
			at := 0
			if n.typ.Fixed {
				at = int(n.typ.Scale)
			}
			k, exact := scaledFloor(types.DecimalOf(b.k, b.kTyp), at)
			n.narrow(b.op, k, exact)
		case cmpInstants:
			k, exact, ok := instantIn(b.k.Int(), b.kTyp.Kind, n.typ.Kind)
			if !ok {
				return false
			}
			n.narrow(b.op, k, exact)
		case cmpFloats:
			if b.k.Float() != b.k.Float() {
				return false
			}
			n.narrowFloat(b.op, b.k.Float()+0)
		case cmpBytes:
			n.strs = append(n.strs, []byte(b.k.Str()))
		default:
			return false
		}
	}
	return true
}

// narrow adds x op k, where k is the floor of the constant and exact says that it is it.
func (n *rangeNode) narrow(op cmpOp, k types.Int128, exact bool) {
	atLeast := func(w types.Int128) {
		if w.Cmp(n.lo) > 0 {
			n.lo = w
		}
	}
	atMost := func(w types.Int128) {
		if w.Cmp(n.hi) < 0 {
			n.hi = w
		}
	}
	one := types.FromInt64(1)
	nothing := func() { n.lo, n.hi = types.MaxInt128, types.MinInt128 }
	switch op {
	case cmpEQ, cmpNE:
		n.negate = op == cmpNE
		if !exact {
			nothing()
			return
		}
		atLeast(k)
		atMost(k)
	case cmpLE:
		atMost(k)
	case cmpLT:
		switch {
		case !exact:
			atMost(k)
		case k == types.MinInt128:
			nothing()
		default:
			atMost(k.Sub(one))
		}
	case cmpGT, cmpGE:
		switch {
		case op == cmpGE && exact:
			atLeast(k)
		case k == types.MaxInt128:
			nothing()
		case !exact && k == types.MinInt128: // below everything: no bound
		default:
			atLeast(k.Add(one))
		}
	}
}

func (n *rangeNode) narrowFloat(op cmpOp, k float64) {
	switch op {
	case cmpEQ, cmpNE:
		n.negate = op == cmpNE
		n.flo, n.fhi, n.upperBound = max(n.flo, k), min(n.fhi, k), true
	case cmpLE:
		n.fhi, n.upperBound = min(n.fhi, k), true
	case cmpLT:
		if k == math.Inf(-1) {
			n.flo, n.fhi, n.upperBound = 1, -1, true
			return
		}
		n.fhi, n.upperBound = min(n.fhi, math.Nextafter(k, math.Inf(-1))), true
	case cmpGE:
		n.flo = max(n.flo, k)
	case cmpGT:
		if k == math.Inf(1) { // only NaN is above
			n.flo = math.NaN()
			return
		}
		n.flo = max(n.flo, math.Nextafter(k, math.Inf(1)))
	}
}

// int64s gives lo and hi as int64s; ok is false when no int64 fits.
func (n *rangeNode) int64s() (lo, hi int64, ok bool) {
	if n.lo.Cmp(n.hi) > 0 || n.lo.Cmp(types.FromInt64(math.MaxInt64)) > 0 || n.hi.Cmp(types.FromInt64(math.MinInt64)) < 0 {
		return 0, 0, false
	}
	lo, hi = math.MinInt64, math.MaxInt64
	if n.lo.IsInt64() {
		lo = n.lo.Int64()
	}
	if n.hi.IsInt64() {
		hi = n.hi.Int64()
	}
	return lo, hi, true
}

func (n *rangeNode) selectRows(c *Ctx, b *vec.Batch, sel, out []uint16) ([]uint16, error) {
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	if v.Enc == vec.Const {
		if !v.Null(0) && n.test(v, 0) {
			return copyRows(sel, b.Rows, out), nil
		}
		return out[:0], nil
	}
	f := v.Values()
	if v.Enc == vec.Flat && !n.otherScale(f) {
		switch {
		case f.Form == types.FormI64:
			lo, hi, ok := n.int64s()
			if !ok {
				if n.negate {
					return validRows(v.Valid, copyRows(sel, b.Rows, out)), nil
				}
				return out[:0], nil
			}
			return validRows(v.Valid, selectRangeI64(f.I64[:b.Rows], lo, hi, n.negate, sel, out)), nil
		case f.Form == types.FormF64 && n.flo == n.flo:
			return validRows(v.Valid, n.selectFloats(f.F64[:b.Rows], sel, out)), nil
		case f.Form == types.FormStr && n.class == cmpBytes && len(n.bounds) == 1 && n.bounds[0].op == cmpEQ && v.Valid == nil:
			return selectEqualBytes(f.Views[:b.Rows], f.Data, n.strs[0], sel, out), nil
		}
	}
	if v.Enc == vec.Dict && f.Form == types.FormI64 && !n.otherScale(f) {
		if lo, hi, ok := n.int64s(); ok {
			x, _ := operand(v, f.I64, &n.gathered, sel, b.Rows)
			return validRows(v.Valid, selectRangeI64(x, lo, hi, n.negate, sel, out)), nil
		}
	}
	j := 0
	eachRow(sel, b.Rows, func(i int) {
		if !v.Null(i) && n.test(v, i) {
			out[j] = uint16(i)
			j++
		}
	})
	return out[:j], nil
}

// test is the range test of row i, which is not NULL.
func (n *rangeNode) test(v *vec.Vector, i int) bool {
	f, r := v.Values(), v.Row(i)
	if n.otherScale(f) {
		return n.testDecimal(DecimalAt(v, i))
	}
	switch f.Form {
	case types.FormI64:
		x := types.FromInt64(f.I64[r])
		return (n.lo.Cmp(x) <= 0 && x.Cmp(n.hi) <= 0) != n.negate
	case types.FormW128:
		x := f.W128[r]
		return (n.lo.Cmp(x) <= 0 && x.Cmp(n.hi) <= 0) != n.negate
	case types.FormF64:
		x := f.F64[r]
		if n.flo != n.flo {
			return x != x && !n.upperBound
		}
		return (!(x < n.flo) && (!n.upperBound || x <= n.fhi)) != n.negate
	}
	if n.class == cmpNumeric {
		return n.testDecimal(DecimalAt(v, i))
	}
	x := v.Bytes(i)
	for j, b := range n.bounds {
		if !b.op.holds(bytes.Compare(x, n.strs[j])) {
			return false
		}
	}
	return true
}

// otherScale tells whether lo and hi do not apply to the integers of a numeric vector.
func (n *rangeNode) otherScale(f *vec.Vector) bool {
	return n.class == cmpNumeric && f.Form != types.FormStr && (!n.typ.Fixed || f.Type.Scale != n.typ.Scale)
}

func (n *rangeNode) testDecimal(x types.Decimal) bool {
	for _, b := range n.bounds {
		if !b.op.holds(x.Cmp(types.DecimalOf(b.k, b.kTyp))) {
			return false
		}
	}
	return true
}

func (n *rangeNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	rows := b.Rows
	n.out.Type, n.out.Enc, n.out.Valid = TBool, vec.Flat, v.Valid
	if v.Enc == vec.Const {
		if v.Null(0) {
			return nullVector(TBool), nil
		}
		n.out.Enc, rows, sel = vec.Const, 1, nil
	}
	o := OutBools(&n.out, rows)
	if v.Enc == vec.Flat && v.Form == types.FormI64 && !n.otherScale(v) {
		lo, hi, ok := n.int64s()
		if ok {
			width := uint64(hi) - uint64(lo)
			for i, x := range v.I64[:rows] {
				o[i] = (uint64(x)-uint64(lo) <= width) != n.negate
			}
			return &n.out, nil
		}
	}
	eachRow(sel, rows, func(i int) {
		if v.Valid == nil || !v.Null(i) {
			o[i] = n.test(v, i)
		}
	})
	return &n.out, nil
}

// selectRangeI64 is the filter lo ≤ x ≤ hi (or, negated, the others) over int64: one unsigned
// comparison and no branch per row.
func selectRangeI64(x []int64, lo, hi int64, negate bool, sel, out []uint16) []uint16 {
	width := uint64(hi) - uint64(lo)
	base := uint64(lo)
	j := 0
	switch {
	case sel == nil && !negate:
		// Four rows at a time: one bounds check for four stores. k is at most 3 at each store.
		i := 0
		for ; i+4 <= len(x); i += 4 {
			v, o := (*[4]int64)(x[i:]), (*[4]uint16)(out[j:])
			o[0] = uint16(i)
			k := b2i(uint64(v[0])-base <= width)
			o[k&3] = uint16(i + 1)
			k += b2i(uint64(v[1])-base <= width)
			o[k&3] = uint16(i + 2)
			k += b2i(uint64(v[2])-base <= width)
			o[k&3] = uint16(i + 3)
			j += k + b2i(uint64(v[3])-base <= width)
		}
		for ; i < len(x); i++ {
			out[j] = uint16(i)
			j += b2i(uint64(x[i])-base <= width)
		}
	case sel == nil:
		for i, a := range x {
			out[j] = uint16(i)
			j += b2i(uint64(a)-base > width)
		}
	case !negate:
		for _, i := range sel {
			out[j] = i
			j += b2i(uint64(x[i])-base <= width)
		}
	default:
		for _, i := range sel {
			out[j] = i
			j += b2i(uint64(x[i])-base > width)
		}
	}
	return out[:j]
}

// selectFloats is the range filter over floats. !(x < lo) lets NaN pass, x <= hi does not.
func (n *rangeNode) selectFloats(x []float64, sel, out []uint16) []uint16 {
	lo, hi := n.flo, n.fhi
	j := 0
	switch {
	case n.negate:
		eachRow(sel, len(x), func(i int) {
			out[j] = uint16(i)
			j += b2i(!(x[i] == lo))
		})
	case !n.upperBound && sel == nil:
		for i, a := range x {
			out[j] = uint16(i)
			j += 1 - b2i(a < lo)
		}
	case !n.upperBound:
		for _, i := range sel {
			out[j] = i
			j += 1 - b2i(x[i] < lo)
		}
	case sel == nil:
		for i, a := range x {
			out[j] = uint16(i)
			j += b2i(a >= lo) & b2i(a <= hi)
		}
	default:
		for _, i := range sel {
			out[j] = i
			j += b2i(x[i] >= lo) & b2i(x[i] <= hi)
		}
	}
	return out[:j]
}

func selectEqualBytes(views []vec.View, data, k []byte, sel, out []uint16) []uint16 {
	j := 0
	want := uint32(len(k))
	if sel == nil {
		for i, w := range views {
			if w.Len == want && bytes.Equal(data[w.Off:w.Off+w.Len], k) {
				out[j] = uint16(i)
				j++
			}
		}
		return out[:j]
	}
	for _, i := range sel {
		if w := views[i]; w.Len == want && bytes.Equal(data[w.Off:w.Off+w.Len], k) {
			out[j] = i
			j++
		}
	}
	return out[:j]
}

// compileAnd compiles a conjunction. The comparisons of one column with constants become one
// conjunction of their own first, so that they fuse and see a dictionary together. They cannot
// fail, so that a later one may move to the earlier.
func (k *compiler) compileAnd(e *plan.And) (node, error) {
	groups := map[plan.ColID][]plan.Expr{}
	var order []plan.Expr
	var at []plan.ColID
	for _, a := range e.Args {
		id := comparedColumn(a)
		if id == 0 || groups[id] == nil {
			order, at = append(order, a), append(at, id)
		}
		if id != 0 {
			groups[id] = append(groups[id], a)
		}
	}
	if len(groups) == 1 && len(order) == 1 {
		args, err := k.compileAll(e.Args)
		if err != nil {
			return nil, err
		}
		if args = fuseRanges(args); len(args) == 1 {
			return args[0], nil
		}
		return &andNode{args: args}, nil
	}
	for i, id := range at {
		if len(groups[id]) > 1 {
			order[i] = &plan.And{Args: groups[id]}
		}
	}
	args, err := k.compileAll(order)
	return &andNode{args: args}, err
}

// comparedColumn is the column of a comparison of a column with a constant; 0: not one.
func comparedColumn(e plan.Expr) plan.ColID {
	call, ok := e.(*plan.Call)
	if !ok || len(call.Args) != 2 || funcOf(call.Func).fast.cmp == 0 {
		return 0
	}
	for i, a := range call.Args {
		col, ok := a.(*plan.Col)
		if _, isConst := call.Args[1-i].(*plan.Const); ok && isConst {
			return col.ID
		}
	}
	return 0
}

// fuseRanges joins the range tests of the same column into one node where that is possible.
func fuseRanges(args []node) []node {
	var keep []node
	byCol := map[int]*rangeNode{}
	for _, a := range args {
		r, ok := a.(*rangeNode)
		if !ok {
			keep = append(keep, a)
			continue
		}
		col, ok := r.x.(*colNode)
		if !ok {
			keep = append(keep, a)
			continue
		}
		if first := byCol[col.i]; first != nil && first.class == r.class && first.typ.Equal(r.typ) {
			old := first.bounds
			first.bounds = append(append([]bound(nil), old...), r.bounds...)
			if first.prepare() {
				continue
			}
			first.bounds = old
			first.prepare()
			keep = append(keep, a)
			continue
		}
		byCol[col.i] = r
		keep = append(keep, a)
	}
	return keep
}
