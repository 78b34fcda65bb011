package eval

import (
	"unsafe"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// callNode applies a kernel. For a strict function it takes the arguments' NULLs out of the
// rows that the kernel sees; when all arguments are constant it computes one row.
type callNode struct {
	name     string
	kernel   Kernel
	args     []node
	typ      types.Type
	strict   bool
	volatile bool

	vals  []*vec.Vector
	out   vec.Vector
	valid vec.Bitmap
	live  scratchRows
	held  int // bytes of out that Grow knows of
}

func (k *compiler) compileCall(e *plan.Call) (node, error) {
	d := funcOf(e.Func)
	if d.Kernel == nil {
		return nil, sqlerr.New(sqlerr.WrongObjectType, "%s %s is not allowed here", kindWord(e.Func.Kind), e.Func.Name)
	}
	if invariant.Enabled {
		ts := make([]types.Type, len(e.Args))
		for i, a := range e.Args {
			ts[i] = a.Type()
		}
		CheckCall(e.Func, ts, e.Typ)
	}
	if n, err := k.compileFast(d, e); n != nil || err != nil {
		return n, err
	}
	args, err := k.compileAll(e.Args)
	if err != nil {
		return nil, err
	}
	if !d.Variadic {
		for i := len(args); i < len(d.Args); i++ {
			args = append(args, constOf(d.Args[i], types.Null))
		}
	}
	kernel := d.Kernel
	if d.fast.kernel != nil {
		kernel = d.fast.kernel(e)
	}
	return &callNode{
		name: e.Func.Name, kernel: kernel, args: args, typ: e.Typ, strict: e.Func.Strict,
		volatile: e.Func.Volatility == plan.Volatile, vals: make([]*vec.Vector, len(args)),
	}, nil
}

// growGrain is the size up to which the values of a batch are not counted.
const growGrain = 1 << 20

func kindWord(k plan.FuncKind) string {
	switch k {
	case plan.AggregateFunc:
		return "aggregate function"
	case plan.WindowFunc:
		return "window function"
	case plan.SetFunc:
		return "set-returning function"
	}
	return "function"
}

func (n *callNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	rows := b.Rows
	if sel != nil && len(sel) == 0 || rows == 0 {
		return nullVector(n.typ), nil
	}
	allConst := true
	for i, a := range n.args {
		v, err := a.eval(c, b, sel)
		if err != nil {
			return nil, err
		}
		n.vals[i] = v
		allConst = allConst && v.Enc == vec.Const
	}
	enc := vec.Flat
	if allConst && !n.volatile {
		// A function of constants has one value, whatever the row.
		enc, rows, sel = vec.Const, 1, nil
	}
	n.out.Type, n.out.Enc, n.out.Valid = n.typ, vec.Flat, nil
	if n.strict {
		var null bool
		if sel, null = n.withoutNulls(sel, rows); null {
			return nullVector(n.typ), nil
		}
	}
	if err := takeForArgs(n.vals, sel, rows); err != nil {
		return nil, err
	}
	if err := n.kernel(c, n.vals, sel, rows, &n.out); err != nil {
		return nil, err
	}
	if size := cap(n.out.Data); size > n.held+growGrain && c.Grow != nil {
		if err := c.Grow(int64(size - n.held)); err != nil {
			return nil, err
		}
		n.held = size
	}
	if invariant.Enabled {
		checkOut(n.name, &n.out, rows)
	}
	if enc == vec.Const {
		n.out.Enc = vec.Const
	}
	return &n.out, nil
}

// takeForArgs asks for what a function makes of its largest row on the way, which is about as much as
// its arguments: texts of texts, lists read as values. What makes more of less asks by itself.
func takeForArgs(args []*vec.Vector, sel []uint16, rows int) error {
	all := 0
	for _, v := range args {
		all += argBytes(v.Values())
	}
	if all < room.Grain {
		return nil
	}
	most := 0
	err := EachRow(sel, rows, func(i int) error {
		n := 0
		for _, v := range args {
			f, r := v.Values(), v.Row(i)
			switch {
			case v.Null(i):
			case f.Form == types.FormStr:
				n += int(f.Views[r].Len)
			case f.Form == types.FormList && f.Offsets[r+1] > f.Offsets[r]:
				elems := int(f.Offsets[r+1] - f.Offsets[r])
				n += elems*int(unsafe.Sizeof(types.Datum{})) + argBytes(f.Child)/len(f.Offsets)
			}
		}
		most = max(most, n)
		return nil
	})
	if err != nil {
		return err
	}
	return room.Take(2 * most)
}

// argBytes is about what the values of v take: strings, and elements of lists.
func argBytes(v *vec.Vector) int {
	switch v.Form {
	case types.FormStr:
		return len(v.Data)
	case types.FormList:
		return int(v.Offsets[len(v.Offsets)-1])*int(unsafe.Sizeof(types.Datum{})) + argBytes(v.Child)
	}
	return 0
}

// withoutNulls sets out.Valid to where no argument is NULL and takes those rows out of sel.
// null: there is none left.
func (n *callNode) withoutNulls(sel []uint16, rows int) (live []uint16, null bool) {
	found := false
	for _, v := range n.vals {
		if v.Valid == nil {
			continue
		}
		if v.Enc == vec.Const {
			if v.Null(0) {
				return nil, true
			}
			continue
		}
		if allValid(v.Valid, rows) {
			continue
		}
		words := (rows + 63) / 64
		if !found {
			found = true
			n.valid = resize(n.valid, words)
			copy(n.valid, v.Valid[:words])
			continue
		}
		for w := range n.valid {
			n.valid[w] &= v.Valid[w]
		}
	}
	if !found {
		return sel, false
	}
	n.out.Valid = n.valid
	live = validRows(n.valid, copyRows(sel, rows, n.live.get(rows)))
	return live, len(live) == 0
}

// checkOut checks that a kernel made what its caller expects.
func checkOut(name string, out *vec.Vector, rows int) {
	n := -1
	form := out.Form
	if out.Enc == vec.Dict {
		n, form = len(out.Codes), types.FormNone
	}
	switch form {
	case types.FormBool:
		n = len(out.Bools)
	case types.FormI64:
		n = len(out.I64)
	case types.FormF64:
		n = len(out.F64)
	case types.FormW128:
		n = len(out.W128)
	case types.FormStr:
		n = len(out.Views)
	case types.FormList:
		n = len(out.Offsets) - 1
	case types.FormStruct:
		n = rows
	}
	if n < rows {
		invariant.Fail("%s made %d values of form %d for %d rows", name, n, out.Form, rows)
	}
	if out.Form != out.Type.Form() && out.Type.Kind != types.Numeric && out.Type.Form() != types.FormNone {
		invariant.Fail("%s made form %d for type %s", name, out.Form, out.Type)
	}
}

// callOnce applies d to one row of values.
func callOnce(c *Ctx, d *Func, ts []types.Type, vals []types.Datum, ret types.Type) (types.Datum, error) {
	args := make([]*vec.Vector, len(vals))
	for i, v := range vals {
		if v.IsNull() && !d.NonStrict {
			return types.Null, nil
		}
		args[i] = constOf(ts[i], v).v
	}
	out := vec.Vector{Type: ret}
	if err := d.Kernel(c, args, nil, 1, &out); err != nil {
		return types.Null, err
	}
	return constDatum(&out, ret)
}

// RowKernelTyped is rowKernel for a function that asks for the result type.
func RowKernelTyped(f func(c *Ctx, row []types.Datum, ret types.Type) (types.Datum, error)) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		row := make([]types.Datum, len(args))
		return PutDatums(out, sel, n, live(c, func(i int) (types.Datum, error) {
			for j, a := range args {
				row[j] = a.Datum(i)
			}
			return f(c, row, out.Type)
		}))
	}
}

// castNode converts; NULLs stay NULL.
type castNode struct {
	callNode
	pos int
}

func (k *compiler) compileCast(e *plan.Cast) (node, error) {
	x, err := k.compile(e.X)
	if err != nil {
		return nil, err
	}
	from := e.X.Type()
	if relabels(from, e.Typ) {
		if v, ok := isConst(x); ok {
			d, err := constDatum(v, from)
			if err != nil {
				return nil, err
			}
			return constOf(e.Typ, d), nil
		}
		return &relabelNode{x: x, typ: e.Typ}, nil
	}
	cast, ok := LookupCast(from, e.Typ, e.Context)
	if !ok {
		return nil, errCannotCast(from, e.Typ).At(e.Pos)
	}
	pos := -1
	if _, ok := e.X.(*plan.Const); ok {
		pos = e.Pos
	}
	n := &castNode{pos: pos, callNode: callNode{
		name: "cast", args: []node{x}, typ: e.Typ, strict: true, vals: make([]*vec.Vector, 1),
	}}
	n.kernel = func(c *Ctx, args []*vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		err := cast(c, args[0], sel, rows, out)
		if err != nil && n.pos >= 0 {
			if se, ok := sqlerr.As(err); ok {
				se.At(n.pos)
			}
		}
		return err
	}
	return n, nil
}

func errCannotCast(from, to types.Type) *sqlerr.Error {
	return sqlerr.New(sqlerr.CannotCoerce, "cannot cast type %s to %s", spell(from), spell(to))
}

// relabels tells whether values of type from are values of type to as they lie in memory.
func relabels(from, to types.Type) bool {
	switch to.Kind {
	case types.Int4, types.Int8:
		return from.IsInteger() && from.Kind <= to.Kind
	case types.Numeric:
		// An integer is a decimal of scale 0; a decimal is one of more digits.
		if !to.Fixed {
			return from.Kind == types.Numeric && !from.Fixed
		}
		t := asNumeric(from)
		return t.Kind == types.Numeric && t.Fixed && t.Scale == to.Scale && t.Prec <= to.Prec
	case types.Float8: // a real is kept as the float64 of the same value
		return from.Kind == types.Float4 || from.Kind == types.Float8
	case types.Text:
		return from.Kind == types.Varchar || from.Kind == types.Text || from.Kind == types.Name
	case types.Varchar:
		return (from.Kind == types.Text || from.Kind == types.Varchar || from.Kind == types.Name) && to.Prec == 0
	case types.Bytea:
		return from.Kind == types.Bytea && to.Prec == 0
	case types.Unknown:
		return false
	case types.Bpchar:
		return from.Kind == types.Bpchar && (to.Prec == 0 || to.Prec == from.Prec)
	case types.Array, types.Struct, types.Map:
		return from.Equal(to)
	case types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.Interval:
		return from.Kind == to.Kind && (to.Prec == 0 || from.Prec > 0 && from.Prec <= to.Prec)
	}
	return from.Kind == to.Kind
}

// SameValues tells whether values of type from are values of type to as they are.
func SameValues(from, to types.Type) bool { return relabels(from, to) }

// relabelNode passes a vector on under another type.
type relabelNode struct {
	x    node
	typ  types.Type
	view vec.Vector
	dict vec.Vector
}

func (n *relabelNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	v, err := n.x.eval(c, b, sel)
	if err != nil {
		return nil, err
	}
	n.view = *v
	n.view.Type = n.typ
	if v.Enc == vec.Dict {
		n.dict = *v.Dictionary
		n.dict.Type = n.typ
		n.view.Dictionary = &n.dict
	}
	return &n.view, nil
}
