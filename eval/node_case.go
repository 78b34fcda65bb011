package eval

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// caseNode evaluates each arm for the rows that its condition took, and a condition for the
// rows that no earlier one took.
type caseNode struct {
	conds, thens []node
	other        node
	merge        merger
	takes        []scratchRows
	rest         scratchRows
}

func (k *compiler) compileCase(e *plan.Case) (node, error) {
	n := &caseNode{takes: make([]scratchRows, len(e.Whens)), merge: merger{out: vec.Vector{Type: e.Typ}}}
	for _, w := range e.Whens {
		cond, err := k.compile(w.Cond)
		if err != nil {
			return nil, err
		}
		then, err := k.compile(w.Then)
		if err != nil {
			return nil, err
		}
		n.conds, n.thens = append(n.conds, cond), append(n.thens, then)
	}
	var other plan.Expr = &plan.Const{Typ: e.Typ}
	if e.Else != nil {
		other = e.Else
	}
	var err error
	n.other, err = k.compile(other)
	return n, err
}

func (n *caseNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	rows := b.Rows
	rest := sel
	n.merge.start()
	for i, cond := range n.conds {
		if rest != nil && len(rest) == 0 {
			break
		}
		take, err := selectRows(c, cond, b, rest, n.takes[i].get(rows))
		if err != nil {
			return nil, err
		}
		if len(take) == 0 {
			continue
		}
		v, err := n.thens[i].eval(c, b, take)
		if err != nil {
			return nil, err
		}
		n.merge.add(v, take)
		rest = minus(rest, rows, take, n.rest.get(rows))
	}
	if rest == nil || len(rest) > 0 {
		v, err := n.other.eval(c, b, rest)
		if err != nil {
			return nil, err
		}
		if rest == nil {
			return n.merge.whole(v, rows), nil
		}
		n.merge.add(v, rest)
	}
	return n.merge.finish(rows), nil
}

// coalesceNode gives the first argument that is not NULL.
type coalesceNode struct {
	args  []node
	merge merger
	takes []scratchRows
	rest  scratchRows
}

func (n *coalesceNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	rows := b.Rows
	if n.takes == nil {
		n.takes = make([]scratchRows, len(n.args))
	}
	n.merge.start()
	rest := sel
	for i, a := range n.args {
		if rest != nil && len(rest) == 0 {
			break
		}
		v, err := a.eval(c, b, rest)
		if err != nil {
			return nil, err
		}
		// The last argument gives all that is left, NULLs too.
		if i == len(n.args)-1 {
			if rest == nil {
				return n.merge.whole(v, rows), nil
			}
			n.merge.add(v, rest)
			break
		}
		if v.Enc == vec.Const {
			if v.Null(0) {
				continue
			}
			if rest == nil {
				return n.merge.whole(v, rows), nil
			}
			n.merge.add(v, rest)
			break
		}
		if v.Valid == nil && rest == nil {
			return n.merge.whole(v, rows), nil
		}
		take := validRows(v.Valid, copyRows(rest, rows, n.takes[i].get(rows)))
		n.merge.add(v, take)
		rest = minus(rest, rows, take, n.rest.get(rows))
	}
	return n.merge.finish(rows), nil
}

// merger puts vectors that each hold some of the rows together.
type merger struct {
	out   vec.Vector
	valid vec.Bitmap
	parts []casePart
}

type casePart struct {
	v   *vec.Vector
	sel []uint16
}

func (m *merger) start() { m.parts = m.parts[:0] }

// add says that the rows sel are v's. sel stays as it is until finish.
func (m *merger) add(v *vec.Vector, sel []uint16) {
	if len(sel) > 0 {
		m.parts = append(m.parts, casePart{v, sel})
	}
}

// whole passes on a vector that has every row, unless it is a numeric of another scale.
func (m *merger) whole(v *vec.Vector, rows int) *vec.Vector {
	t := m.out.Type
	if t.Kind != types.Numeric || v.Form == types.FormStr || t.Fixed && v.Type.Fixed && t.Scale == v.Type.Scale {
		return v
	}
	m.parts = append(m.parts[:0], casePart{v, copyRows(nil, rows, make([]uint16, rows))})
	return m.finish(rows)
}

// finish makes the vector of all parts.
func (m *merger) finish(rows int) *vec.Vector {
	out := &m.out
	out.Enc, out.Valid = vec.Flat, nil
	form := out.Type.Form()
	if out.Type.Kind == types.Numeric {
		form = m.numericForm()
	}
	m.validity(rows)
	switch form {
	case types.FormBool:
		scatter(OutBools(out, rows), m.parts, func(v *vec.Vector) []bool { return v.Bools })
	case types.FormI64:
		scatter(OutI64(out, rows), m.parts, func(v *vec.Vector) []int64 { return v.I64 })
	case types.FormF64:
		scatter(OutF64(out, rows), m.parts, func(v *vec.Vector) []float64 { return v.F64 })
	case types.FormW128:
		m.wide(OutW128(out, rows))
	case types.FormStr:
		m.strings(rows)
	default:
		m.nested(rows)
	}
	return out
}

// numericForm is the narrowest form that all parts fit, when all have out's scale.
func (m *merger) numericForm() types.Form {
	t := m.out.Type
	form := types.FormI64
	for _, p := range m.parts {
		f := p.v.Values()
		if !t.Fixed || f.Form == types.FormStr || !f.Type.Fixed || f.Type.Scale != t.Scale {
			return types.FormStr
		}
		if f.Form == types.FormW128 {
			form = types.FormW128
		}
	}
	return form
}

func (m *merger) validity(rows int) {
	for _, p := range m.parts {
		if p.v.Valid == nil {
			continue
		}
		for _, i := range p.sel {
			if !p.v.Null(int(i)) {
				continue
			}
			if m.out.Valid == nil {
				m.valid = resize(m.valid, (rows+63)/64)
				for w := range m.valid {
					m.valid[w] = ^uint64(0)
				}
				m.out.Valid = m.valid
			}
			m.out.Valid.Clear(int(i))
		}
	}
}

// scatter copies the values of each part to its rows; what NULL rows hold does not matter.
func scatter[T any](dst []T, parts []casePart, values func(*vec.Vector) []T) {
	for _, p := range parts {
		src := values(p.v.Values())
		switch p.v.Enc {
		case vec.Const:
			x := src[0]
			for _, i := range p.sel {
				dst[i] = x
			}
		case vec.Dict:
			if len(src) == 0 {
				continue
			}
			for _, i := range p.sel {
				dst[i] = src[p.v.Codes[i]]
			}
		default:
			for _, i := range p.sel {
				dst[i] = src[i]
			}
		}
	}
}

func (m *merger) wide(dst []types.Int128) {
	for _, p := range m.parts {
		f := p.v.Values()
		if f.Form == types.FormW128 {
			scatter(dst, []casePart{p}, func(v *vec.Vector) []types.Int128 { return v.W128 })
			continue
		}
		for _, i := range p.sel {
			if !p.v.Null(int(i)) {
				dst[i] = types.FromInt64(f.I64[p.v.Row(int(i))])
			}
		}
	}
}

func (m *merger) strings(rows int) {
	out := &m.out
	OutStr(out, rows)
	for _, p := range m.parts {
		f := p.v.Values()
		if f.Form != types.FormStr { // a numeric whose scale is its own from here on
			m.encode(p)
			continue
		}
		if p.v.Enc == vec.Const {
			if p.v.Null(0) {
				continue
			}
			b := p.v.Bytes(0)
			w := vec.View{Off: uint32(len(out.Data)), Len: uint32(len(b))}
			out.Data = append(out.Data, b...)
			for _, i := range p.sel {
				out.Views[i] = w
			}
			continue
		}
		for _, i := range p.sel {
			if !p.v.Null(int(i)) {
				PutBytes(out, int(i), p.v.Bytes(int(i)))
			}
		}
	}
}

func (m *merger) encode(p casePart) {
	out := &m.out
	for k, i := range p.sel {
		if p.v.Null(int(i)) {
			continue
		}
		if p.v.Enc == vec.Const && k > 0 {
			out.Views[i] = out.Views[p.sel[0]]
			continue
		}
		PutDecimal(out, int(i), DecimalAt(p.v, int(i)))
	}
}

// nested rebuilds lists and structs row by row.
func (m *merger) nested(rows int) {
	owner := make([]*vec.Vector, rows)
	for _, p := range m.parts {
		for _, i := range p.sel {
			owner[i] = p.v
		}
	}
	t := m.out.Type
	a := vec.NewAppender(t)
	for i, v := range owner {
		if v == nil {
			a.AppendNull()
		} else {
			a.Append(v, i)
		}
	}
	m.out = *a.Vector()
	m.out.Type = t
}

// PutDecimal stores d's encoding as row i of a FormStr vector.
func PutDecimal(out *vec.Vector, i int, d types.Decimal) {
	at := len(out.Data)
	out.Data = d.AppendEncoded(out.Data)
	out.Views[i] = vec.View{Off: uint32(at), Len: uint32(len(out.Data) - at)}
}
