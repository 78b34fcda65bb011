package exec

import (
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// column is an output vector that an operator fills batch by batch, reusing memory.
type column struct {
	v     *vec.Vector
	valid vec.Bitmap
	app   *vec.Appender // for nested values and mixed forms
	null  *vec.Vector   // the column that nobody reads
	taken *vec.Vector   // what pick or take gave last
}

func newColumn(t types.Type) *column {
	return &column{v: &vec.Vector{Type: t, Form: t.Form()}}
}

// nothing is the vector of a column that nobody reads: NULL in every row.
func (c *column) nothing() *vec.Vector {
	if c.null == nil {
		c.null = vec.ConstOf(c.v.Type, types.Null)
	}
	return c.null
}

func newColumns(t []types.Type) []*column {
	c := make([]*column, len(t))
	for i := range t {
		c[i] = newColumn(t[i])
	}
	return c
}

func grown[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// allValid gives the column's own bitmap of n bits, all set.
func (c *column) allValid(n int) vec.Bitmap {
	w := (n + 63) / 64
	if cap(c.valid) < w {
		c.valid = make(vec.Bitmap, w)
	}
	c.valid = c.valid[:w]
	for i := range c.valid {
		c.valid[i] = ^uint64(0)
	}
	return c.valid
}

// pick makes a vector of rows physical rows whose row pos[i] (nil: i) is store row ids[i]; the
// other rows are undefined. noRow gives NULL. The result is valid until the next pick.
func (c *column) pick(s *rowStore, col int, ids []uint32, pos []uint16, rows int) *vec.Vector {
	if s.skipped(col) {
		return c.nothing()
	}
	sc := &s.cols[col]
	invariant.Check(sc.vecs != nil || len(s.chunks) == 0, "pick before index")
	if pos == nil {
		pos = identity[:len(ids)]
	}
	out := c.v
	out.Enc, out.Valid = vec.Flat, nil
	if len(s.chunks) == 0 || sc.form == types.FormNone {
		return c.pickSlow(sc, ids, pos, rows)
	}
	out.Form = sc.form
	absent := false
	for _, id := range ids {
		if id == noRow {
			absent = true
			break
		}
	}
	if absent || sc.nulls {
		ids = c.pickNulls(sc, ids, pos, rows)
	}
	switch sc.form {
	case types.FormBool:
		out.Bools = grown(out.Bools, rows)
		pickValues(out.Bools, sc.bools, ids, pos)
	case types.FormI64:
		out.I64 = grown(out.I64, rows)
		pickValues(out.I64, sc.i64, ids, pos)
	case types.FormF64:
		out.F64 = grown(out.F64, rows)
		pickValues(out.F64, sc.f64, ids, pos)
	case types.FormW128:
		out.W128 = grown(out.W128, rows)
		pickValues(out.W128, sc.w128, ids, pos)
	case types.FormStr:
		c.pickStrings(sc, ids, pos, rows)
	}
	return out
}

// pickNulls fills Valid and gives ids in which noRow is replaced by row 0, which exists.
func (c *column) pickNulls(sc *storeColumn, ids []uint32, pos []uint16, rows int) []uint32 {
	valid := c.allValid(rows)
	var fixed []uint32
	for i, id := range ids {
		if id == noRow {
			if fixed == nil {
				fixed = append([]uint32(nil), ids...)
			}
			fixed[i] = 0
			valid.Clear(int(pos[i]))
		} else if v := sc.vecs[id>>chunkBits].Valid; v != nil && !v.Get(int(id&chunkMask)) {
			valid.Clear(int(pos[i]))
		}
	}
	c.v.Valid = valid
	if fixed != nil {
		return fixed
	}
	return ids
}

func pickValues[T any](out []T, chunks [][]T, ids []uint32, pos []uint16) {
	pos = pos[:len(ids)]
	if len(chunks) == 1 {
		vals := chunks[0]
		for i, id := range ids {
			out[pos[i]] = vals[id]
		}
		return
	}
	for i, id := range ids {
		out[pos[i]] = chunks[id>>chunkBits][id&chunkMask]
	}
}

// pickStrings points into the store's memory where one chunk holds all rows, else copies.
func (c *column) pickStrings(sc *storeColumn, ids []uint32, pos []uint16, rows int) {
	out := c.v
	out.Views = grown(out.Views, rows)
	if len(sc.vecs) == 1 {
		v := sc.vecs[0]
		out.Data = v.Data
		for i, id := range ids {
			out.Views[pos[i]] = v.Views[id]
		}
		// Rows outside pos must stay within Data too, should anyone look at their views.
		return
	}
	if c.app == nil {
		c.app = vec.NewAppender(types.T(types.Bytea)) // only to own a buffer apart from Data above
	}
	buf := c.app.Vector().Data[:0]
	for i, id := range ids {
		v := sc.vecs[id>>chunkBits]
		w := v.Views[id&chunkMask]
		out.Views[pos[i]] = vec.View{Off: uint32(len(buf)), Len: w.Len}
		buf = append(buf, v.Data[w.Off:w.Off+w.Len]...)
	}
	c.app.Vector().Data = buf
	out.Data = buf
}

func (c *column) pickSlow(sc *storeColumn, ids []uint32, pos []uint16, rows int) *vec.Vector {
	a := vec.NewAppender(c.v.Type)
	at := 0
	for i, id := range ids {
		for ; at < int(pos[i]); at++ {
			a.AppendNull()
		}
		if id == noRow {
			a.AppendNull()
		} else {
			a.Append(sc.vecs[id>>chunkBits], int(id&chunkMask))
		}
		at++
	}
	for ; at < rows; at++ {
		a.AppendNull()
	}
	return a.Vector()
}
