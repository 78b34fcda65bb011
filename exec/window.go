package exec

import (
	"bytes"
	"context"
	"reflect"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// window adds columns computed over partitions of its input. The input is sorted by partition
// and order (on disk if need be); then complete partitions are collected until there are some
// thousand rows, and every call is computed for all of them. One partition must fit in memory,
// unless all calls run over its pieces (window_running.go).
type window struct {
	env   *Env
	node  *plan.Window
	parts []vec.Source
	c     *eval.Ctx
	mem   *memory
	file  *spillFile

	// Stored rows: the input's columns, then what the calls and keys compute.
	width   int
	types   []types.Type
	extra   []*eval.Program // columns from width on
	keyCols []int           // stored columns of partition and order keys
	calls   []windowCall
	sorters []*sorter
	sorted  *sorted
	input   func(context.Context) (*vec.Batch, error)

	pieces   bool // all calls run: a partition may be cut
	cutPeers bool // but not within a peer group
	spools   bool // some call wants the whole partition first
	short    bool // there is no memory for more
	large    bool // windowBytes are held
	goesOn   bool // the buffer begins within a partition
	more     bool // the buffer ends within one

	replay   *rowBuffer // the rows of a partition that were read for its totals
	replayAt int        // the next chunk to read again; -1: they are being put by
	after    *vec.Batch // what was read beyond them

	enc     *keyEncoder
	lastKey []byte // of the last row added
	lastCut int    // the end of its partition part
	any     bool

	buf     windowRows
	carry   *vec.Batch // rows of the next buffer, already read
	carryAt int
	ended   bool
	at      int // next row to hand out
	ready   int // rows whose calls are computed
	out     vec.Batch
}

// windowRows are the rows of some whole partitions, column by column.
type windowRows struct {
	cols  []*vec.Appender
	n     int
	parts []int // the start of each partition, then n
	peers []int // the start of each peer group, then n
	out   []*vec.Appender
}

// windowCall is one call with where its arguments are stored.
type windowCall struct {
	plan   *plan.WindowCall
	args   []int
	filter int // -1: none
	impl   *eval.WindowImpl
	agg    *eval.AggImpl
	call   eval.AggCall
	start  boundOffset
	end    boundOffset

	running running
	back    int // rowsBefore: how many
	kept    windowKept
}

// windowBatches is how many batches of rows are collected, at least, before calls are computed,
// unless they take windowBytes.
const (
	windowBatches = 4
	windowBytes   = 16 << 20
)

func newWindow(env *Env, n *plan.Window, parts []vec.Source) (*window, error) {
	in := n.Input.Columns()
	w := &window{env: env, node: n, parts: parts, c: env.evalCtx(), mem: newMemory(env), file: newSpillFile(env),
		width: len(in), types: columnTypes(in)}
	var exprs []plan.Expr
	store := func(e plan.Expr) (int, error) {
		if c, ok := e.(*plan.Col); ok {
			for i := range in {
				if in[i].ID == c.ID {
					return i, nil
				}
			}
		}
		for i, x := range exprs {
			if reflect.DeepEqual(x, e) && eval.VolatilityOf(e) != plan.Volatile {
				return w.width + i, nil
			}
		}
		p, err := eval.Compile(e, in)
		if err != nil {
			return 0, err
		}
		exprs = append(exprs, e)
		w.extra = append(w.extra, p)
		w.types = append(w.types, e.Type())
		return len(w.types) - 1, nil
	}
	keys := make([]keyColumn, 0, len(n.Partition)+len(n.Order))
	for _, e := range n.Partition {
		k, err := store(e)
		if err != nil {
			return nil, err
		}
		w.keyCols = append(w.keyCols, k)
		keys = append(keys, equalKey(e.Type()))
	}
	for _, o := range n.Order {
		k, err := store(o.Expr)
		if err != nil {
			return nil, err
		}
		w.keyCols = append(w.keyCols, k)
	}
	keys = append(keys, sortColumns(n.Order)...)
	w.enc = newKeyEncoder(keys)
	w.enc.splitAt = len(n.Partition)
	w.pieces = true
	for i := range n.Calls {
		c, err := w.newCall(&n.Calls[i], store)
		if err != nil {
			return nil, err
		}
		var peers bool
		c.running, c.back, peers = runningOf(c.plan, c.impl == nil, len(n.Order) > 0)
		w.pieces = w.pieces && c.running != notRunning
		w.spools = w.spools || c.running == overall
		w.cutPeers = w.cutPeers || peers
		w.calls = append(w.calls, c)
	}
	if w.pieces && w.spools {
		// Columns double as they grow, and what the calls give comes on top.
		w.mem.share(1, 4)
	}
	w.buf = newWindowRows(w.types, n.Calls)
	return w, nil
}

func newWindowRows(cols []types.Type, calls []plan.WindowCall) windowRows {
	b := windowRows{}
	for _, t := range cols {
		b.cols = append(b.cols, vec.NewAppender(t))
	}
	for i := range calls {
		b.out = append(b.out, vec.NewAppender(calls[i].Out.Type))
	}
	return b
}

func (w *window) newCall(n *plan.WindowCall, store func(plan.Expr) (int, error)) (windowCall, error) {
	c := windowCall{plan: n, filter: -1}
	d := eval.Declaration(n.Func)
	c.impl, c.agg = d.Window, d.Agg
	c.call.Ret = n.Out.Type
	for _, a := range n.Args {
		k, err := store(a)
		if err != nil {
			return c, err
		}
		c.args = append(c.args, k)
		c.call.Args = append(c.call.Args, a.Type())
	}
	eval.CheckCall(n.Func, c.call.Args, n.Out.Type)
	var err error
	if n.Filter != nil {
		if c.filter, err = store(n.Filter); err != nil {
			return c, err
		}
	}
	if c.start, err = w.newOffset(n.Frame.Mode, n.Frame.Start); err != nil {
		return c, err
	}
	c.end, err = w.newOffset(n.Frame.Mode, n.Frame.End)
	return c, err
}

// start reads and sorts the input.
func (w *window) start(ctx context.Context) error {
	if len(w.keyCols) == 0 {
		src := newGather(w.parts)
		w.parts = []vec.Source{src}
		cols := make([]*vec.Vector, len(w.extra))
		w.input = func(ctx context.Context) (*vec.Batch, error) {
			b, err := src.Next(ctx)
			if b == nil || err != nil || b.Len() == 0 {
				return b, err
			}
			if err := evalAll(w.c, w.extra, b, cols); err != nil {
				return nil, err
			}
			return &vec.Batch{Cols: append(append([]*vec.Vector(nil), b.Cols...), cols...), Sel: b.Sel, Rows: b.Rows}, nil
		}
		return nil
	}
	w.sorters = make([]*sorter, len(w.parts))
	for i := range w.sorters {
		w.sorters[i] = newSorter(w.env, w.types, nil, w.enc.cols, w.file, 0)
	}
	err := parallel(ctx, len(w.parts), func(ctx context.Context, i int) error {
		c, progs := w.env.evalCtx(), clonePrograms(w.extra)
		extra := make([]*vec.Vector, len(progs))
		for {
			b, err := w.parts[i].Next(ctx)
			if b == nil || err != nil {
				return err
			}
			if err := canceled(ctx); err != nil {
				return err
			}
			if b.Len() == 0 {
				continue
			}
			if err := evalAll(c, progs, b, extra); err != nil {
				return err
			}
			cols := append(append([]*vec.Vector(nil), b.Cols...), extra...)
			if err := w.sorters[i].add(cols, columnsAt(cols, w.keyCols), selection(b), b.Rows); err != nil {
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	if w.sorted, err = mergeSorters(w.sorters, w.env.batchRows()); err != nil {
		return err
	}
	w.input = func(context.Context) (*vec.Batch, error) { return w.sorted.next() }
	return nil
}

func (w *window) Next(ctx context.Context) (*vec.Batch, error) {
	if w.input == nil {
		if err := w.start(ctx); err != nil {
			return nil, err
		}
	}
	if w.at == w.ready {
		if err := w.refill(ctx); err != nil {
			return nil, err
		}
		if w.ready == 0 {
			return nil, nil
		}
	}
	from := w.at
	to := min(from+w.env.batchRows(), w.ready)
	w.at = to
	w.out.Cols = w.out.Cols[:0]
	for _, a := range w.buf.cols[:w.width] {
		w.out.Cols = append(w.out.Cols, denseRows(a.Vector(), from, to))
	}
	for _, a := range w.buf.out {
		w.out.Cols = append(w.out.Cols, denseRows(a.Vector(), from, to))
	}
	w.out.Rows = to - from
	return &w.out, nil
}

// refill collects rows and computes the calls over them.
func (w *window) refill(ctx context.Context) error {
	w.at, w.ready = 0, 0
	if err := w.fill(ctx); err != nil {
		return err
	}
	if w.buf.n == 0 {
		return nil
	}
	if w.more && w.spools && w.replay == nil {
		if err := w.spool(ctx); err != nil {
			return err
		}
	}
	for i := range w.calls {
		if err := w.compute(ctx, &w.calls[i], w.buf.out[i]); err != nil {
			return err
		}
	}
	w.ready = w.buf.n
	return w.account()
}

// fill collects whole partitions, or a piece of one.
func (w *window) fill(ctx context.Context) error {
	b := &w.buf
	for _, a := range b.cols {
		a.Reset()
	}
	for _, a := range b.out {
		a.Reset()
	}
	b.n, b.parts, b.peers = 0, b.parts[:0], b.peers[:0]
	w.any, w.short, w.large = false, false, false
	if w.goesOn, w.more = w.more, false; w.goesOn {
		b.parts, b.peers, w.any = append(b.parts, 0), append(b.peers, 0), true
	}
	alone := w.replay != nil
	for full := false; !full; {
		if w.carry == nil {
			if w.ended {
				break
			}
			next, err := w.next(ctx)
			if err != nil {
				return err
			}
			if next == nil {
				w.ended = true
				break
			}
			if err := canceled(ctx); err != nil {
				return err
			}
			if next.Len() == 0 {
				continue
			}
			w.carry, w.carryAt = next, 0
		}
		full = w.collect(alone)
		if err := w.account(); err != nil {
			return err
		}
	}
	b.parts = append(b.parts, b.n)
	b.peers = append(b.peers, b.n)
	return nil
}

func (w *window) account() error {
	held := int64(cap(w.buf.parts)+cap(w.buf.peers)) * 8
	for _, a := range w.buf.cols {
		held += a.Bytes()
	}
	for _, a := range w.buf.out {
		held += a.Bytes()
	}
	for i := range w.calls {
		held += w.calls[i].kept.bytes()
	}
	w.large = held > windowBytes
	if w.mem.grow(held) {
		return nil
	}
	w.short = true
	return w.mem.must(held)
}

// collect adds rows of carry, up to where a partition, or a piece of one, ends and the buffer has
// enough. alone: the partition's next rows come from elsewhere than those of the one after it.
func (w *window) collect(alone bool) (full bool) {
	b := &w.buf
	sel := selection(w.carry)
	from := w.carryAt
	w.enc.encode(columnsAt(w.carry.Cols, w.keyCols), sel)
	end := len(sel)
	for i := from; i < len(sel); i++ {
		key := w.enc.key(i)
		cut := 0
		if len(w.enc.split) > 0 {
			cut = int(w.enc.split[i] - w.enc.off[i])
		}
		at := b.n + i - from
		enough := at >= windowBatches*w.env.batchRows() || at > 0 && w.large
		piece := enough && w.pieces && (!w.spools || w.short || alone)
		switch {
		case !w.any || !bytes.Equal(key[:cut], w.lastKey[:w.lastCut]):
			if full = enough || alone && at > 0; full {
				break
			}
			b.parts = append(b.parts, at)
			b.peers = append(b.peers, at)
		case !bytes.Equal(key, w.lastKey):
			if full = piece; full {
				w.more = true
				break
			}
			if at > 0 { // else the piece begins with it
				b.peers = append(b.peers, at)
			}
		default:
			if full = piece && !w.cutPeers; full {
				w.more = true
				break
			}
			continue
		}
		if full {
			end = i
			break
		}
		w.any = true
		w.lastKey, w.lastCut = append(w.lastKey[:0], key...), cut
	}
	if end > from {
		for c, a := range b.cols {
			a.AppendSel(w.carry.Cols[c], sel[from:end], w.carry.Rows)
		}
		b.n += end - from
	}
	if full {
		w.carryAt = end
	} else {
		w.carry = nil
	}
	return full
}

func (w *window) Close() error {
	err := closeAll(w.parts)
	if e := w.replay.close(); err == nil {
		err = e
	}
	for _, s := range w.sorters {
		s.free()
	}
	w.mem.free()
	if e := w.file.close(); err == nil {
		err = e
	}
	return err
}

// compute fills out with call's value for every row of the buffer.
func (w *window) compute(ctx context.Context, call *windowCall, out *vec.Appender) error {
	if call.impl == nil {
		return w.computeAggregate(ctx, call, out)
	}
	peer := 0
	for p := 0; p+1 < len(w.buf.parts); p++ {
		if err := canceled(ctx); err != nil {
			return err
		}
		part := w.partition(p, &peer)
		f, err := w.frames(call, part)
		if err != nil {
			return err
		}
		args := make([]*vec.Vector, len(call.args))
		for i, a := range call.args {
			args[i] = denseRows(w.buf.cols[a].Vector(), part.from, part.to)
		}
		v := &vec.Vector{Type: call.call.Ret, Form: call.call.Ret.Form()}
		if err := call.impl.Eval(w.c, f, args, v); err != nil {
			return err
		}
		goesOn, more := w.piece(p)
		call.kept.append(call, out, v, args, part, goesOn, more)
	}
	return nil
}

// piece tells whether the buffer's partition p goes on from an earlier buffer, and goes on in
// the next.
func (w *window) piece(p int) (goesOn, more bool) {
	return p == 0 && w.goesOn, p+2 == len(w.buf.parts) && w.more
}

// appendAll appends the first n rows of v, however many.
func appendAll(out *vec.Appender, v *vec.Vector, n int) {
	if v.Enc != vec.Flat {
		for i := range n {
			out.Append(v, i)
		}
		return
	}
	const step = 1 << 15
	for from := 0; from < n; from += step {
		to := min(from+step, n)
		out.AppendSel(rowsOf(v, from, to), nil, to-from)
	}
}
