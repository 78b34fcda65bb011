package scan

import (
	"context"
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// source is one reader of a scan: it takes morsels and reads them batch by batch.
type source struct {
	s        *Scanner
	ctx      *eval.Ctx
	reader   *parquet.Reader
	compiled map[plan.Expr]*filter
	closed   bool

	m       morsel
	working bool      // m is being read
	file    *openFile // whose columns cols are
	cols    []column  // by slot
	filters []*filter // of m
	late    bool      // the columns that no filter reads were fetched
	rangeNo int
	row     int64 // within the row group
	step    int   // rows of a batch here

	sels  [2][]uint16 // selections; a filter writes to the one it does not read
	which int
	key   []byte
	eval  vec.Batch // for filters: all slots
	out   vec.Batch
	outs  []vec.Vector
}

// column is one slot's state within the current morsel.
type column struct {
	col    parquet.Column // nil: nothing to read
	fixed  *vec.Vector    // known: the constant
	at     int64          // the next row that col would read
	opened bool
	early  bool // read by a filter, an equality delete or a run-time filter

	loaded bool // vec holds the current batch
	v      *vec.Vector
	raw    *vec.Vector   // v as the file has it, where that is decoded; else nil
	made   *vec.Appender // of the decoded values
	ints   []int64       // made columns: _pos, _row_id, …
	valid  vec.Bitmap
}

func newSource(s *Scanner) *source {
	return &source{s: s, compiled: map[plan.Expr]*filter{}, cols: make([]column, len(s.slots))}
}

// Close implements vec.Source.
func (r *source) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.finish()
	if r.reader != nil {
		r.reader.Close()
	}
	r.s.closed()
	return nil
}

// Next implements vec.Source.
func (r *source) Next(ctx context.Context) (*vec.Batch, error) {
	if r.ctx == nil {
		r.ctx = r.s.env.NewCtx(ctx)
		r.reader = parquet.NewReader(r.s.env.Mem, &r.s.io)
		r.reader.Share(r.s.env.Windows, len(r.s.slots))
	}
	for !r.closed {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !r.working {
			if ok, err := r.begin(ctx); !ok || err != nil {
				return nil, err
			}
		}
		b, err := r.batch(ctx)
		if err != nil {
			err = atFile(err, r.m.file.task.File.Path)
			r.s.queue.fail(err)
			return nil, err
		}
		if b != nil {
			r.s.count.rowsOut.Add(int64(b.Len()))
			return b, nil
		}
	}
	return nil, nil
}

// begin takes the next morsel, opening files on the way; false: there is none.
func (r *source) begin(ctx context.Context) (bool, error) {
	for {
		m, task, err := r.s.queue.take(ctx)
		if err != nil {
			return false, err
		}
		if task >= 0 {
			ms, err := r.s.open(ctx, &r.s.node.Tasks[task])
			r.s.queue.opened(ms, err)
			if err != nil {
				return false, err
			}
			continue
		}
		if m.file == nil {
			return false, nil
		}
		r.m, r.working = m, true
		if err := r.start(ctx); err != nil {
			err = atFile(err, m.file.task.File.Path)
			r.s.queue.fail(err)
			return false, err
		}
		return true, nil
	}
}

// finish ends the current morsel.
func (r *source) finish() {
	if r.working {
		r.working = false
		r.m.file.done()
	}
}

// start prepares the readers for the morsel.
func (r *source) start(ctx context.Context) (err error) {
	defer guard(r.m.file.task.File.Path, &err)
	r.reader.Pages, r.reader.File = r.s.env.Pages, r.m.file.identity
	if r.file != r.m.file {
		if err := r.makeColumns(); err != nil {
			return err
		}
	}
	r.filters = r.filters[:0]
	for i := range r.cols {
		c := &r.cols[i]
		c.at, c.opened, c.early, c.loaded = 0, false, false, false
	}
	for _, e := range r.m.plan.residual {
		f, err := r.filterFor(e)
		if err != nil {
			return err
		}
		r.filters = append(r.filters, f)
		for _, i := range f.slots {
			r.cols[i].early = true
		}
	}
	for _, slots := range r.m.file.eqSlots {
		for _, i := range slots {
			r.cols[i].early = true
		}
	}
	for _, f := range r.m.plan.filters {
		r.cols[f.slot].early = true
	}
	r.rangeNo, r.row, r.late = 0, r.m.rows[0].From, false
	r.step = r.batchRows()
	r.reader.Reclaim()
	return r.openColumns(ctx, true)
}

// makeColumns makes the columns of another file, with the buffers of the last one.
func (r *source) makeColumns() error {
	var old []parquet.Column
	for i := range r.cols {
		if c := r.cols[i].col; c != nil {
			old = append(old, c)
		}
	}
	r.reader.Release(old)
	r.file = nil
	for i := range r.cols {
		c, fc := &r.cols[i], &r.m.file.columns[i]
		*c = column{ints: c.ints, valid: c.valid}
		if fc.known {
			c.fixed = vec.ConstOf(r.slotType(i), fc.konst)
			if sl := &r.s.slots[i]; sl.decode {
				d, err := eval.Decode(fc.konst, sl.Type, sl.field.Type)
				if err != nil {
					return err
				}
				c.raw, c.fixed = vec.ConstOf(sl.field.Type, fc.konst), vec.ConstOf(sl.Type, d)
			}
		}
		if fc.spec != nil {
			col, err := parquet.NewColumn(r.reader, fc.spec)
			if err != nil {
				return err
			}
			c.col = col
		}
	}
	r.file = r.m.file
	return nil
}

// slotType is the type of a slot's vectors: of an equality delete's inner field, the structs
// around it come along, pruned to the way down.
func (r *source) slotType(i int) types.Type {
	sl := &r.s.slots[i]
	if len(sl.inner) > 0 {
		return pruneTo(sl.field, sl.inner).Type
	}
	return sl.Type
}

// A batch of wide rows is cut so that it takes about wideBatch bytes.
const wideBatch = 16 << 20

func (r *source) batchRows() int {
	g := &r.m.file.footer.Groups[r.m.group]
	var bytes int64
	for i := range r.cols {
		if r.cols[i].col == nil {
			continue
		}
		for _, l := range r.cols[i].col.Leaves() {
			bytes += max(g.Columns[l].Uncompressed, 0)
		}
	}
	perRow := bytes / g.Rows
	if perRow <= wideBatch/int64(r.s.env.BatchRows) {
		return r.s.env.BatchRows
	}
	return int(max(1, min(wideBatch/perRow, int64(r.s.env.BatchRows))))
}

// openColumns opens the early columns, or all others, and fetches their first bytes together.
func (r *source) openColumns(ctx context.Context, early bool) error {
	f := r.m.file
	var cols []parquet.Column
	for i := range r.cols {
		c := &r.cols[i]
		if c.col == nil || c.early != early || c.opened {
			continue
		}
		if err := c.col.Open(f.file, &f.footer.Groups[r.m.group], r.m.plan.indexes); err != nil {
			return err
		}
		c.opened = true
		cols = append(cols, c.col)
	}
	if len(cols) == 0 {
		return nil
	}
	return r.reader.Fetch(ctx, f.file, cols, r.m.rows)
}

// batch reads the next rows of the morsel; nil: none of them is left, go on.
func (r *source) batch(ctx context.Context) (b *vec.Batch, err error) {
	defer guard(r.m.file.task.File.Path, &err)
	for r.row >= r.m.rows[r.rangeNo].To {
		if r.rangeNo++; r.rangeNo >= len(r.m.rows) {
			r.finish()
			return nil, nil
		}
		r.row = r.m.rows[r.rangeNo].From
	}
	n := int(min(int64(r.step), r.m.rows[r.rangeNo].To-r.row))
	row := r.row
	r.row += int64(n)
	for i := range r.cols {
		r.cols[i].loaded = false
	}
	sel, err := r.narrow(ctx, row, n)
	if err != nil || sel != nil && len(sel) == 0 {
		return nil, err
	}
	return r.output(ctx, row, n, sel)
}

// narrow finds the rows of [row, row+n) that the scan lets out. nil: all.
func (r *source) narrow(ctx context.Context, row int64, n int) ([]uint16, error) {
	f := r.m.file
	sel := r.undeleted(f.footer.Groups[r.m.group].FirstRow+row, n)
	if sel != nil && len(sel) == 0 {
		return sel, nil
	}
	for _, flt := range r.filters {
		for _, i := range flt.slots {
			if err := r.load(ctx, i, row, n); err != nil {
				return nil, err
			}
		}
		r.eval.Rows, r.eval.Sel = n, sel
		var err error
		if sel, err = r.swap(flt.prog.Select(r.ctx, &r.eval, r.other())); err != nil || len(sel) == 0 {
			return sel, err
		}
	}
	for _, rf := range r.m.plan.filters {
		if err := r.load(ctx, rf.slot, row, n); err != nil {
			return nil, err
		}
		sel, _ = r.swap(rf.keys.Filter(r.cols[rf.slot].v, sel, n, r.room(n)), nil)
		if len(sel) == 0 {
			return sel, nil
		}
	}
	return r.unequal(ctx, row, n, sel)
}

// other is the selection buffer that is free to write.
func (r *source) other() []uint16 { return r.sels[1-r.which] }

// room is other with space for n.
func (r *source) room(n int) []uint16 {
	b := r.sels[1-r.which]
	if cap(b) < n {
		b = make([]uint16, 0, max(n, vec.BatchRows))
	}
	return b[:n]
}

// swap keeps a selection that was written to other, and returns it; never nil, unless err.
func (r *source) swap(sel []uint16, err error) ([]uint16, error) {
	if err != nil {
		return nil, err
	}
	r.which = 1 - r.which
	if sel == nil {
		sel = r.sels[r.which][:0:0]
		if sel == nil {
			sel = []uint16{}
		}
	}
	r.sels[r.which] = sel[:cap(sel)]
	return sel, nil
}

// undeleted is the selection of rows at positions from pos on that no position delete names;
// nil: all.
func (r *source) undeleted(pos int64, n int) []uint16 {
	d := r.m.file.deleted
	if d == nil || !d.any(pos, pos+int64(n)) {
		return nil
	}
	sel, _ := r.swap(d.live(r.room(n)[:0], pos, n), nil)
	r.s.count.positionDeleted.Add(int64(n - len(sel)))
	return sel
}

// unequal takes out the rows that equality deletes name.
func (r *source) unequal(ctx context.Context, row int64, n int, sel []uint16) ([]uint16, error) {
	f := r.m.file
	var cols []*vec.Vector
	var depths []int
	for k, e := range f.equal {
		cols, depths = cols[:0], depths[:0]
		for _, i := range f.eqSlots[k] {
			if err := r.load(ctx, i, row, n); err != nil {
				return nil, err
			}
			v := r.cols[i].v
			if r.s.slots[i].decode {
				v = r.cols[i].raw // a delete compares what is stored
			}
			cols = append(cols, v)
			depths = append(depths, len(r.s.slots[i].inner))
		}
		before := n
		if sel != nil {
			before = len(sel)
		}
		var out []uint16
		out, r.key = e.live(cols, depths, sel, n, r.key, r.room(n))
		r.s.count.equalityDeleted.Add(int64(before - len(out)))
		if sel, _ = r.swap(out, nil); len(sel) == 0 {
			return sel, nil
		}
	}
	return sel, nil
}

// load reads slot i for the rows [row, row+n), as codes where the file has them, for filters.
func (r *source) load(ctx context.Context, i int, row int64, n int) error {
	c := &r.cols[i]
	if c.loaded {
		return nil
	}
	if err := r.read(ctx, i, row, n, true); err != nil {
		return err
	}
	c.loaded = true
	if r.eval.Cols == nil {
		r.eval.Cols = make([]*vec.Vector, len(r.s.in))
	}
	if i < len(r.eval.Cols) {
		r.eval.Cols[i] = c.v
	}
	return nil
}

// read makes c.v the rows [row, row+n) of slot i.
func (r *source) read(ctx context.Context, i int, row int64, n int, codes bool) (err error) {
	c := &r.cols[i]
	if c.fixed != nil {
		c.v = c.fixed
		return nil
	}
	if c.col != nil {
		if !c.opened {
			if err := r.openColumns(ctx, c.early); err != nil {
				return err
			}
		}
		if row > c.at {
			skip(c.col, row-c.at)
		}
		if err := c.col.Read(ctx, n); err != nil {
			return err
		}
		c.at = row + int64(n)
		decode := r.s.slots[i].decode
		if c.v, err = c.col.Vector(codes && !decode); err != nil {
			return err
		}
		if decode {
			if c.made == nil {
				c.made = vec.NewAppender(r.s.slots[i].Type)
			}
			c.raw = c.v
			if c.v, err = r.s.slots[i].decodeVector(c.made, c.raw, n); err != nil {
				return err
			}
		}
	}
	if r.s.slots[i].field == nil {
		return r.makeHidden(i, row, n)
	}
	return nil
}

func skip(c parquet.Column, rows int64) {
	for ; rows > math.MaxInt32; rows -= math.MaxInt32 {
		c.Skip(math.MaxInt32)
	}
	c.Skip(int(rows))
}

// makeHidden makes the columns that follow from a row's position: _pos; and row lineage, where
// the file's own value, if it has one that is not NULL, wins over the inherited one.
func (r *source) makeHidden(i int, row int64, n int) error {
	c, f := &r.cols[i], r.m.file
	pos := f.footer.Groups[r.m.group].FirstRow + row
	if cap(c.ints) < n {
		c.ints = make([]int64, max(n, r.s.env.BatchRows))
	}
	v := c.ints[:n]
	id := r.s.slots[i].FieldID
	file := f.task.File
	switch {
	case id == plan.HiddenPos:
		for k := range v {
			v[k] = pos + int64(k)
		}
	case file.FirstRowID == nil: // only what the file itself has
		return nil
	case id == plan.HiddenRowID:
		for k := range v {
			v[k] = *file.FirstRowID + pos + int64(k)
		}
	default:
		for k := range v {
			v[k] = file.DataSeq
		}
	}
	if own := c.v; c.col != nil {
		for k := range v {
			if !own.Null(k) {
				v[k] = own.Values().I64[own.Row(k)]
			}
		}
	}
	c.v = &vec.Vector{Type: r.s.slots[i].Type, Form: types.FormI64, I64: v}
	return nil
}

// output makes the batch that leaves: the rows sel of [row, row+n), cut to the stretch from
// the first of them to the last, so that pages before and behind stay unread.
func (r *source) output(ctx context.Context, row int64, n int, sel []uint16) (*vec.Batch, error) {
	from, to := 0, n
	if sel != nil {
		from, to = int(sel[0])&^63, int(sel[len(sel)-1])+1
		if len(sel) == to-from {
			sel = nil
		} else if from > 0 {
			for k := range sel {
				sel[k] -= uint16(from)
			}
		}
	}
	if r.outs == nil {
		r.outs = make([]vec.Vector, len(r.s.node.Cols))
		r.out.Cols = make([]*vec.Vector, len(r.s.node.Cols))
	}
	for i := range r.out.Cols {
		c := &r.cols[i]
		if !c.loaded {
			if err := r.read(ctx, i, row+int64(from), to-from, false); err != nil {
				return nil, err
			}
			r.out.Cols[i] = c.v
			continue
		}
		v := c.v
		if c.col != nil && v.Enc == vec.Dict && v.Form != types.FormStr { // numbers leave as values
			var err error
			if v, err = c.col.Vector(false); err != nil {
				return nil, err
			}
		}
		if from > 0 || to < n {
			v = cut(&r.outs[i], v, from, to)
		}
		r.out.Cols[i] = v
	}
	r.out.Rows, r.out.Sel = to-from, sel
	return &r.out, nil
}

// cut makes out the rows [from, to) of v; from is a multiple of 64, so that bitmaps can be cut.
func cut(out, v *vec.Vector, from, to int) *vec.Vector {
	if v.Enc == vec.Const {
		return v
	}
	*out = *v
	if v.Valid != nil {
		out.Valid = v.Valid[from/64 : (to+63)/64]
	}
	if v.Enc == vec.Dict {
		out.Codes = v.Codes[from:to]
		return out
	}
	switch v.Form {
	case types.FormBool:
		out.Bools = v.Bools[from:to]
	case types.FormI64:
		out.I64 = v.I64[from:to]
	case types.FormF64:
		out.F64 = v.F64[from:to]
	case types.FormW128:
		out.W128 = v.W128[from:to]
	case types.FormStr:
		out.Views = v.Views[from:to]
	case types.FormList:
		out.Offsets = v.Offsets[from : to+1]
	case types.FormStruct:
		out.Children = make([]*vec.Vector, len(v.Children))
		for i, c := range v.Children {
			out.Children[i] = cut(&vec.Vector{}, c, from, to)
		}
	}
	return out
}
