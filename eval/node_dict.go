package eval

import (
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// dictNode computes an immutable expression of one column. Where that column arrives as
// dictionary codes it computes each value that occurs once, on the dictionary:
//
//	upper(c) = 'A'  over codes [2 0 0 2]  →  [t f · ] indexed by code
//
// Only values of rows that exist are computed, so that no other can fail. A boolean's table of
// answers is kept for as long as batches bring the same dictionary (Vector.DictID).
type dictNode struct {
	plain node // over rows
	inner node // the same over the dictionary: its vectors live longer
	col   int
	typ   types.Type
	total bool // cannot fail on any value

	batch  vec.Batch
	values vec.Vector // the part of the dictionary that batch shows
	onNull node       // the same, for a row that is NULL
	null   vec.Batch

	// The table of answers for the dictionary id: answer[code] is 0 false, 1 true, 2 NULL, or
	// unasked. nullAnswer likewise for NULL rows.
	id         uint64
	answer     []uint8
	nullAnswer uint8
	full       bool // every code is answered
	asked      scratchRows
	out        vec.Vector
	codes      []uint32
	valid      vec.Bitmap
}

const unasked = 3

// wholeDict is the largest dictionary that is computed at once, rows or not.
const wholeDict = 4 * vec.BatchRows

// dictWindow is how many values of a dictionary are computed at a time.
const dictWindow = 1 << 15

// wrapDict wraps e when it is an immutable expression of exactly one column that is worth it.
func (k *compiler) wrapDict(e plan.Expr) (node, error) {
	if k.inDict {
		return nil, nil
	}
	switch e.(type) {
	case *plan.Call, *plan.And, *plan.Or, *plan.Not, *plan.Case, *plan.Coalesce, *plan.InList, *plan.Cast:
	default:
		return nil, nil
	}
	col, ok := onlyColumn(e)
	if !ok || VolatilityOf(e) != plan.Immutable {
		return nil, nil
	}
	i, ok := k.at[col.ID]
	if !ok || !dictable(col.Typ) || !dictable(e.Type()) {
		return nil, nil
	}
	k.inDict = true
	defer func() { k.inDict = false }()
	n := &dictNode{col: i, typ: e.Type(), total: cannotFail(e)}
	for _, to := range []*node{&n.plain, &n.inner, &n.onNull} {
		made, err := k.compile(e)
		if err != nil {
			return nil, err
		}
		*to = made
	}
	n.batch.Cols = make([]*vec.Vector, len(k.in))
	n.null.Cols = make([]*vec.Vector, len(k.in))
	n.null.Cols[i] = nullVector(col.Typ)
	n.null.Rows = 1
	return n, nil
}

// onlyColumn finds the one column that e reads, if it is one.
func onlyColumn(e plan.Expr) (*plan.Col, bool) {
	var col *plan.Col
	one := true
	plan.WalkExpr(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Col:
			if col != nil && col.ID != x.ID {
				one = false
			}
			col = x
		case *plan.Subquery, *plan.Param:
			one = false
		}
		return one
	})
	return col, one && col != nil
}

// dictable tells whether vectors of type t are simple enough to be cut into windows.
func dictable(t types.Type) bool {
	switch t.Form() {
	case types.FormBool, types.FormI64, types.FormF64, types.FormW128, types.FormStr:
		return true
	}
	return false
}

// cannotFail tells whether no value can make e fail.
func cannotFail(e plan.Expr) bool {
	ok := true
	plan.WalkExpr(e, func(x plan.Expr) bool {
		switch x := x.(type) {
		case *plan.Call:
			ok = ok && funcOf(x.Func).Total
		case *plan.Cast:
			ok = ok && relabels(x.X.Type(), x.Typ)
		case *plan.Subscript, *plan.Slice:
			ok = false
		}
		return ok
	})
	return ok
}

// dictOf gives the column's dictionary if computing on it pays: it is known from before, or it
// has fewer values than there are rows.
func (n *dictNode) dictOf(b *vec.Batch, sel []uint16) *vec.Vector {
	v := b.Cols[n.col]
	if v.Enc != vec.Dict {
		return nil
	}
	live := b.Rows
	if sel != nil {
		live = len(sel)
	}
	d := v.Dictionary
	if len(v.Codes) == 0 || rowsOf(d) == 0 {
		return nil
	}
	if d.DictID != 0 && n.typ.Kind == types.Bool {
		return d
	}
	if rowsOf(d) <= live && rowsOf(d) <= dictWindow {
		return d
	}
	return nil
}

// rowsOf is the number of values of a Flat vector.
func rowsOf(v *vec.Vector) int {
	switch v.Form {
	case types.FormBool:
		return len(v.Bools)
	case types.FormI64:
		return len(v.I64)
	case types.FormF64:
		return len(v.F64)
	case types.FormW128:
		return len(v.W128)
	case types.FormStr:
		return len(v.Views)
	}
	return 0
}

// window makes n.batch show the values [from, to) of d.
func (n *dictNode) window(d *vec.Vector, from, to int) {
	n.values = *d
	n.values.Valid, n.values.DictID = nil, 0 // a part is not the whole
	switch d.Form {
	case types.FormBool:
		n.values.Bools = d.Bools[from:to]
	case types.FormI64:
		n.values.I64 = d.I64[from:to]
	case types.FormF64:
		n.values.F64 = d.F64[from:to]
	case types.FormW128:
		n.values.W128 = d.W128[from:to]
	case types.FormStr:
		n.values.Views = d.Views[from:to]
	}
	n.batch.Cols[n.col] = &n.values
	n.batch.Rows = to - from
}

// answers fills the table for the codes of the rows sel.
func (n *dictNode) answers(c *Ctx, v *vec.Vector, sel []uint16, rows int) error {
	d := v.Dictionary
	size := rowsOf(d)
	if d.DictID == 0 || d.DictID != n.id || len(n.answer) != size {
		n.id, n.full, n.nullAnswer = d.DictID, false, unasked
		n.answer = resize(n.answer, size)
		for i := range n.answer {
			n.answer[i] = unasked
		}
	}
	if v.Valid != nil && n.nullAnswer == unasked {
		if err := n.askNull(c, v, sel, rows); err != nil {
			return err
		}
	}
	if n.full {
		return nil
	}
	if n.total && (size <= wholeDict || d.Form == types.FormI64 || d.Form == types.FormF64) {
		// Of numbers, computing all answers costs less than finding out which are wanted.
		n.full = true
		return n.askWindows(c, d, 0, size, false)
	}
	// Mark what is wanted, then compute the marked. Codes are mostly given in the order in which
	// values come, so that new ones lie together: the rest of the table is not looked at.
	from, to := size, 0
	mark := func(i int) {
		if code := v.Codes[i]; n.answer[code] == unasked && !v.Null(i) {
			n.answer[code] = unasked + 1
			from, to = min(from, int(code)), max(to, int(code)+1)
		}
	}
	if sel == nil {
		for i := 0; i < rows; i++ {
			mark(i)
		}
	} else {
		for _, i := range sel {
			mark(int(i))
		}
	}
	if to == 0 {
		return nil
	}
	err := n.askWindows(c, d, from, to, true)
	if err != nil {
		n.id, n.answer = 0, n.answer[:0]
	}
	return err
}

func (n *dictNode) askNull(c *Ctx, v *vec.Vector, sel []uint16, rows int) error {
	if !someNull(v.Valid, sel, rows) {
		return nil
	}
	r, err := n.onNull.eval(c, &n.null, nil)
	if err != nil {
		return err
	}
	n.nullAnswer = answerOf(r, 0)
	return nil
}

// someNull tells whether some row of sel is NULL.
func someNull(valid vec.Bitmap, sel []uint16, rows int) bool {
	if sel == nil {
		return !allValid(valid, rows)
	}
	for _, i := range sel {
		if !valid.Get(int(i)) {
			return true
		}
	}
	return false
}

func answerOf(r *vec.Vector, i int) uint8 {
	if r.Null(i) {
		return 2
	}
	return uint8(b2i(r.Values().Bools[r.Row(i)]))
}

// askWindows computes the answers of the values [first, end), or of those of them that are marked.
func (n *dictNode) askWindows(c *Ctx, d *vec.Vector, first, end int, marked bool) error {
	for from := first; from < end; from += dictWindow {
		to := min(from+dictWindow, end)
		var sel []uint16
		if marked {
			sel = n.asked.get(to - from)[:0]
			for i, a := range n.answer[from:to] {
				if a == unasked+1 {
					sel = append(sel, uint16(i))
				}
			}
			if len(sel) == 0 {
				continue
			}
		}
		n.window(d, from, to)
		r, err := n.inner.eval(c, &n.batch, sel)
		if err != nil {
			return err
		}
		if sel == nil {
			for i := range n.answer[from:to] {
				n.answer[from+i] = answerOf(r, i)
			}
			continue
		}
		for _, i := range sel {
			n.answer[from+int(i)] = answerOf(r, int(i))
		}
	}
	return nil
}

func (n *dictNode) selectRows(c *Ctx, b *vec.Batch, sel, out []uint16) ([]uint16, error) {
	if n.typ.Kind != types.Bool || n.dictOf(b, sel) == nil {
		return selectRows(c, n.plain, b, sel, out)
	}
	v := b.Cols[n.col]
	if err := n.answers(c, v, sel, b.Rows); err != nil {
		return nil, err
	}
	if v.Valid != nil && n.nullAnswer == 1 {
		return n.selectWithNulls(v, sel, b.Rows, out), nil
	}
	return validRows(v.Valid, selectAnswers(n.answer, v.Codes, sel, b.Rows, out)), nil
}

// selectAnswers is the filter over dictionary codes.
func selectAnswers(answer []uint8, codes []uint32, sel []uint16, rows int, out []uint16) []uint16 {
	j := 0
	if sel == nil {
		i := 0
		for ; i+4 <= rows; i += 4 { // as in selectRangeI64
			v, o := (*[4]uint32)(codes[i:]), (*[4]uint16)(out[j:])
			o[0] = uint16(i)
			k := b2i(answer[v[0]] == 1)
			o[k&3] = uint16(i + 1)
			k += b2i(answer[v[1]] == 1)
			o[k&3] = uint16(i + 2)
			k += b2i(answer[v[2]] == 1)
			o[k&3] = uint16(i + 3)
			j += k + b2i(answer[v[3]] == 1)
		}
		for ; i < rows; i++ {
			out[j] = uint16(i)
			j += b2i(answer[codes[i]] == 1)
		}
		return out[:j]
	}
	for _, i := range sel {
		out[j] = i
		j += b2i(answer[codes[i]] == 1)
	}
	return out[:j]
}

func (n *dictNode) selectWithNulls(v *vec.Vector, sel []uint16, rows int, out []uint16) []uint16 {
	j := 0
	EachRow(sel, rows, func(i int) error {
		if v.Null(i) || n.answer[v.Codes[i]] == 1 {
			out[j] = uint16(i)
			j++
		}
		return nil
	})
	return out[:j]
}

func (n *dictNode) eval(c *Ctx, b *vec.Batch, sel []uint16) (*vec.Vector, error) {
	d := n.dictOf(b, sel)
	if d == nil {
		return n.plain.eval(c, b, sel)
	}
	v := b.Cols[n.col]
	if n.typ.Kind == types.Bool {
		if err := n.answers(c, v, sel, b.Rows); err != nil {
			return nil, err
		}
		return n.boolsOf(v, sel, b.Rows), nil
	}
	return n.valuesOf(c, b, v, d, sel)
}

// boolsOf looks the answers of the rows up.
func (n *dictNode) boolsOf(v *vec.Vector, sel []uint16, rows int) *vec.Vector {
	n.out.Type, n.out.Enc, n.out.Valid = TBool, vec.Flat, nil
	vals := OutBools(&n.out, rows)
	EachRow(sel, rows, func(i int) error {
		a := n.nullAnswer
		if !v.Null(i) {
			a = n.answer[v.Codes[i]]
		}
		vals[i] = a == 1
		if a == 2 {
			n.makeNull(i, rows)
		}
		return nil
	})
	return &n.out
}

func (n *dictNode) makeNull(i, rows int) {
	if n.out.Valid == nil {
		n.valid = resize(n.valid, (rows+63)/64)
		for w := range n.valid {
			n.valid[w] = ^uint64(0)
		}
		n.out.Valid = n.valid
	}
	n.out.Valid.Clear(i)
}

// recoded gives the rows of v, whose dictionary's values became codes of another dictionary in r.
func (n *dictNode) recoded(v, r *vec.Vector, sel []uint16, rows int) *vec.Vector {
	n.codes = resize(n.codes, rows)
	EachRow(sel, rows, func(i int) error {
		n.codes[i] = r.Codes[v.Codes[i]]
		return nil
	})
	n.out = vec.Vector{Type: n.typ, Form: r.Form, Enc: vec.Dict, Codes: n.codes, Dictionary: r.Dictionary}
	return &n.out
}

// valuesOf computes the values that occur and gives them as a dictionary under the same codes.
func (n *dictNode) valuesOf(c *Ctx, b *vec.Batch, v, d *vec.Vector, sel []uint16) (*vec.Vector, error) {
	rows, size := b.Rows, rowsOf(d)
	n.answer = resize(n.answer, size)
	clear(n.answer)
	nulls := false
	EachRow(sel, rows, func(i int) error {
		if v.Null(i) {
			nulls = true
		} else {
			n.answer[v.Codes[i]] = 1
		}
		return nil
	})
	n.id = 0
	used := n.asked.get(size)[:0]
	for code, u := range n.answer {
		if u == 1 {
			used = append(used, uint16(code))
		}
	}
	if nulls {
		r, err := n.onNull.eval(c, &n.null, nil)
		if err != nil {
			return nil, err
		}
		if !r.Null(0) || len(used) == 0 { // coalesce(c, 'x'): not worth a dictionary of its own
			return n.plain.eval(c, b, sel)
		}
	}
	n.window(d, 0, size)
	r, err := n.inner.eval(c, &n.batch, used)
	if err != nil {
		return nil, err
	}
	if r.Enc != vec.Flat || r.Form == types.FormList || r.Form == types.FormStruct {
		if r.Enc == vec.Dict && r.Valid == nil && !nulls {
			return n.recoded(v, r, sel, rows), nil
		}
		return n.plain.eval(c, b, sel)
	}
	n.out = vec.Vector{Type: n.typ, Form: r.Form, Enc: vec.Dict, Codes: v.Codes, Dictionary: r, Valid: v.Valid}
	if r.Valid == nil {
		return &n.out, nil
	}
	// Values that became NULL: say so by row, the dictionary has none.
	n.valid = resize(n.valid, (rows+63)/64)
	for w := range n.valid {
		n.valid[w] = ^uint64(0)
	}
	EachRow(sel, rows, func(i int) error {
		if v.Null(i) || !r.Valid.Get(int(v.Codes[i])) {
			n.valid.Clear(i)
		}
		return nil
	})
	n.values = *r
	n.values.Valid = nil
	n.out.Dictionary, n.out.Valid = &n.values, n.valid
	return &n.out, nil
}
