package exec

import (
	"context"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Commit publishes what a Write did; the engine gives it. On a certain failure the files
// written are removed, under lake.Unknown they stay.
type Commit func(ctx context.Context, w *plan.Write, ch lake.Change) error

// write runs a write statement: its input to the end, then the rewriting of touched files or
// the writing of deletes, then the commit. RETURNING's rows leave after the commit, so that
// nobody sees rows that were not written.
//
//	input partitions → action, address → Sink.Touch
//	                 → new rows        → Sink's data files
//	touched files    → rewritten without the touched rows (copy-on-write), or
//	                 → position deletes (v2), deletion vectors (v3)
type write struct {
	env  *Env
	node *plan.Write
	in   []vec.Source

	sink    *dml.Sink
	tasks   map[string]*plan.FileTask // of the target's scan, by data file path
	bufs    []*rowBuffer
	buf, at int
	ran     bool
	late    *clustered // nil: rows come in order already
}

// writeShare is the part of a query's memory limit that buffers of open files may hold.
const writeShare = 4

func buildWrite(env, outer *Env, n *plan.Write) ([]vec.Source, error) {
	in, err := build(n.Input, outer, exprColumns(n))
	if err != nil {
		return nil, err
	}
	return one(&write{env: env, node: n, in: in}), nil
}

func (w *write) Next(ctx context.Context) (*vec.Batch, error) {
	if !w.ran {
		w.ran = true
		if err := w.run(ctx); err != nil {
			return nil, err
		}
	}
	for w.buf < len(w.bufs) {
		if b := w.bufs[w.buf]; w.at < len(b.chunks) {
			w.at++
			return b.chunk(w.at - 1)
		}
		w.buf, w.at = w.buf+1, 0
	}
	return nil, nil
}

func (w *write) Close() error {
	err := closeAll(w.in)
	for _, b := range w.bufs { // some may be missing after an error
		if e := b.close(); err == nil {
			err = e
		}
	}
	return err
}

func (w *write) run(ctx context.Context) (err error) {
	buffer := int64(256 << 20)
	if w.env.Account != nil && w.env.Account.hard > 0 {
		buffer = min(buffer, w.env.Account.hard/writeShare)
	}
	if w.sink, err = dml.NewSink(w.node, buffer/int64(len(w.in))); err != nil {
		return err
	}
	defer func() {
		if err != nil && lake.Outcome(err) != lake.Unknown {
			w.sink.Discard(context.WithoutCancel(ctx))
		}
	}()
	w.findTasks()
	// A sort below is the table's, or one that the statement asked for.
	_, sorted := w.node.Input.(*plan.Sort)
	late := &clustered{env: w.env, types: w.sink.Types(), limit: min(maxBuckets, buffer/int64(2*len(w.in)))}
	late.cols, late.order, late.all = dml.Clustering(w.node)
	if len(late.order) > 0 || sorted && dml.Sorts(w.node) {
		w.sink.Sorted()
	}
	if late.all || !sorted {
		w.late = late
		defer func() {
			if e := late.close(); err == nil {
				err = e
			}
		}()
	}
	if w.node.Returning != nil {
		w.bufs = make([]*rowBuffer, len(w.in))
	}
	err = parallel(ctx, len(w.in), func(ctx context.Context, i int) error {
		s, err := newWriteStream(ctx, w, i)
		if err != nil {
			return err
		}
		return s.run(ctx)
	})
	if err == nil && w.late != nil {
		err = w.late.write(ctx, w.sink)
	}
	if err != nil {
		return err
	}
	ch, err := w.change(ctx)
	if err != nil {
		return err
	}
	w.env.Written = w.sink.Affected()
	if ch == nil && !w.node.Target.Table.Staged() {
		return nil // nothing was done, so there is nothing to commit
	}
	if ch == nil {
		ch = &lake.Change{} // CREATE TABLE AS without rows makes the table
	}
	return w.env.Commit(ctx, w.node, *ch)
}

// findTasks finds the target's scan below, which knows the data files and their deletes.
func (w *write) findTasks() {
	w.tasks = map[string]*plan.FileTask{}
	plan.Walk(w.node.Input, func(n plan.Node) {
		s, ok := n.(*plan.Scan)
		if !ok || s.Table.UUID() != w.node.Target.Table.UUID() || !readsAddress(s) {
			return
		}
		for i := range s.Tasks {
			w.tasks[s.Tasks[i].File.Path] = &s.Tasks[i]
		}
	})
}

func readsAddress(s *plan.Scan) bool {
	for _, c := range s.Cols {
		if c.FieldID == plan.HiddenFile {
			return true
		}
	}
	return false
}

// writeStream is one goroutine's part of a write.
type writeStream struct {
	w                 *write
	src               vec.Source
	ctx               *eval.Ctx
	action, file, pos *eval.Program
	rowID             *eval.Program
	row, ret          []*eval.Program
	out               *dml.RowWriter
	buf               *rowBuffer
	keep              []uint16 // rows of the batch that act
	rows              []uint16 // of them, those with a new row
	cols, retCols     []*vec.Vector
}

func newWriteStream(ctx context.Context, w *write, i int) (*writeStream, error) {
	n, in := w.node, w.node.Input.Columns()
	s := &writeStream{w: w, src: w.in[i], ctx: w.env.evalCtx()}
	var err error
	for _, c := range []struct {
		e plan.Expr
		p **eval.Program
	}{{n.Action, &s.action}, {n.File, &s.file}, {n.Pos, &s.pos}, {n.RowID, &s.rowID}} {
		if c.e == nil {
			continue
		}
		if *c.p, err = eval.Compile(c.e, in); err != nil {
			return nil, err
		}
	}
	if s.row, err = compileAll(n.Row, in); err != nil {
		return nil, err
	}
	s.cols = make([]*vec.Vector, len(s.row), len(s.row)+2)
	if n.Returning != nil {
		exprs := make([]plan.Expr, len(n.Returning))
		for j := range exprs {
			exprs[j] = n.Returning[j].Expr
		}
		if s.ret, err = compileAll(exprs, in); err != nil {
			return nil, err
		}
		s.retCols = make([]*vec.Vector, len(s.ret))
		s.buf = newRowBuffer(w.env, columnTypes(n.Columns()))
		w.bufs[i] = s.buf
	}
	if len(n.Row) > 0 {
		if s.out, err = w.sink.Writer(ctx); err != nil {
			return nil, err
		}
		if w.late != nil {
			w.late.catch(s.out)
		}
	}
	return s, nil
}

func (s *writeStream) run(ctx context.Context) error {
	if s.out != nil {
		defer s.out.Abort()
	}
	for {
		b, err := s.src.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if err := canceled(ctx); err != nil {
			return err
		}
		if b.Len() == 0 {
			continue
		}
		if err := s.batch(b); err != nil {
			return err
		}
	}
	if s.buf != nil {
		if err := s.buf.flush(false); err != nil {
			return err
		}
	}
	if s.out != nil {
		return s.out.Close()
	}
	return nil
}

// batch acts on the rows of one batch.
func (s *writeStream) batch(b *vec.Batch) error {
	if err := s.choose(b); err != nil {
		return err
	}
	own := vec.Batch{Cols: b.Cols, Rows: b.Rows, Sel: s.rows}
	if s.out != nil && len(s.rows) > 0 {
		s.cols = s.cols[:len(s.row)]
		if err := evalAll(s.ctx, s.row, &own, s.cols); err != nil {
			return err
		}
		if dml.Lineage(s.w.node) {
			if err := s.lineage(&own); err != nil {
				return err
			}
		}
		if err := s.out.Write(&vec.Batch{Cols: s.cols, Rows: b.Rows, Sel: s.rows}); err != nil {
			return err
		}
	}
	if s.buf == nil || len(s.keep) == 0 {
		return nil
	}
	own.Sel = s.keep
	if err := evalAll(s.ctx, s.ret, &own, s.retCols); err != nil {
		return err
	}
	return s.buf.append(&vec.Batch{Cols: s.retCols, Rows: b.Rows, Sel: s.keep})
}

// lineage adds the row's id (kept by an update, none for an insert) and no sequence number: a
// changed row's is that of the commit.
func (s *writeStream) lineage(b *vec.Batch) error {
	null := vec.ConstOf(types.T(types.Int8), types.Null)
	id := null
	if s.rowID != nil {
		v, err := s.rowID.Eval(s.ctx, b)
		if err != nil {
			return err
		}
		id = provisional(v, b, s.w.node.Target.Table, lake.LineageRowID)
	}
	s.cols = append(s.cols, id, null)
	return nil
}

// choose fills keep and rows: which rows act, and which of them have a new row.
func (s *writeStream) choose(b *vec.Batch) error {
	n := s.w.node
	s.keep, s.rows = s.keep[:0], s.rows[:0]
	var action, file, pos *vec.Vector
	for _, c := range []struct {
		p *eval.Program
		v **vec.Vector
	}{{s.action, &action}, {s.file, &file}, {s.pos, &pos}} {
		if c.p == nil {
			continue
		}
		v, err := c.p.Eval(s.ctx, b)
		if err != nil {
			return err
		}
		*c.v = v
	}
	var count [4]int64
	for _, i := range selection(b) {
		act := n.Fixed
		if action != nil {
			if action.Null(int(i)) {
				continue
			}
			act = plan.RowAction(action.Values().I64[action.Row(int(i))])
		}
		if act == plan.ActNothing {
			continue
		}
		if act != plan.ActInsert {
			invariant.Check(!file.Null(int(i)), "a row without an address is to be changed")
			first, err := s.w.sink.Touch(string(file.Bytes(int(i))), pos.Values().I64[pos.Row(int(i))])
			if err != nil {
				return err
			}
			if !first {
				continue
			}
		}
		count[act]++
		s.keep = append(s.keep, i)
		if act != plan.ActDelete {
			s.rows = append(s.rows, i)
		}
	}
	for a, k := range count {
		if k > 0 {
			s.w.sink.Count(plan.RowAction(a), k)
		}
	}
	return nil
}

// change describes what was done, writing what follows from the touched rows; nil: nothing.
func (w *write) change(ctx context.Context) (*lake.Change, error) {
	n, s := w.node, w.sink
	ch := &lake.Change{Base: n.Target.Table, Snapshot: n.Target.Base, Branch: n.Target.Branch, Statement: n.Statement, Conflicts: n.Conflicts}
	for _, t := range n.Drop {
		ch.Remove = append(ch.Remove, t.File)
		for _, d := range t.Deletes {
			if d.Content == lake.DeletionVector || d.ReferencedFile == t.File.Path {
				ch.Remove = append(ch.Remove, d)
			}
		}
	}
	var dropped int64
	if len(n.Drop) > 0 {
		var err error
		if dropped, err = w.liveRows(ctx, n.Drop); err != nil {
			return nil, err
		}
		s.Count(plan.ActDelete, dropped)
	}
	switch {
	case n.Overwrite:
		ch.Add = s.Written()
		return ch, w.overwrite(ctx, ch)
	case n.File == nil:
		ch.Kind = lake.Append
		ch.Balance = &lake.Balance{Inserted: s.Counted(plan.ActInsert)}
	case n.CopyOnWrite:
		ch.Kind = lake.CopyOnWrite
		if err := w.rewrite(ctx, ch, dropped); err != nil {
			return nil, err
		}
	default:
		if err := w.mergeOnRead(ctx, ch); err != nil {
			return nil, err
		}
	}
	ch.Add = s.Written()
	if len(ch.Add) == 0 && len(ch.Remove) == 0 {
		return nil, nil
	}
	return ch, nil
}

// touchedFiles are the data files with touched rows, by path.
func (w *write) touchedFiles() (map[string]*lake.DataFile, []plan.FileTask, error) {
	files := map[string]*lake.DataFile{}
	var tasks []plan.FileTask
	for p := range w.sink.Touched() {
		t := w.tasks[p]
		if t == nil {
			return nil, nil, sqlerr.New(sqlerr.InternalError, "the statement changed rows of %s, which its scan did not read", p)
		}
		files[p] = t.File
		tasks = append(tasks, plan.FileTask{File: t.File, Deletes: t.Deletes})
	}
	return files, tasks, nil
}

// scanOf reads whole rows of some data files of the target, with their addresses.
func (w *write) scanOf(tasks []plan.FileTask, fields bool, hidden ...int) *plan.Scan {
	t := w.node.Target
	sc := &plan.Scan{Table: t.Table, Snapshot: t.Base, Schema: t.Schema, Pruned: true, Tasks: tasks}
	id := plan.ColID(0)
	add := func(name string, ty types.Type, field int) {
		id++
		sc.Cols = append(sc.Cols, plan.ScanColumn{Column: plan.Column{ID: id, Name: name, Type: ty}, FieldID: field})
	}
	if fields {
		for i := range t.Schema.Fields {
			f := &t.Schema.Fields[i]
			add(f.Name, f.Type, f.ID)
		}
	}
	for _, h := range hidden {
		ty := types.T(types.Int8)
		if h == plan.HiddenFile {
			ty = types.T(types.Text)
		}
		add("hidden", ty, h)
	}
	return sc
}

// rewrite replaces every touched file by its untouched rows.
func (w *write) rewrite(ctx context.Context, ch *lake.Change, dropped int64) error {
	_, tasks, err := w.touchedFiles()
	if err != nil {
		return err
	}
	s := w.sink
	changed := s.Counted(plan.ActUpdate) + s.Counted(plan.ActDelete) - dropped
	read := int64(0)
	if len(tasks) > 0 {
		if read, err = w.copyUntouched(ctx, tasks); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		ch.Remove = append(ch.Remove, t.File)
		for _, d := range t.Deletes {
			if d.Content == lake.DeletionVector || d.ReferencedFile == t.File.Path {
				ch.Remove = append(ch.Remove, d)
			}
		}
	}
	ch.Balance = &lake.Balance{Read: read + dropped, Deleted: changed + dropped, Inserted: s.Counted(plan.ActInsert) + s.Counted(plan.ActUpdate)}
	return nil
}

// copyUntouched writes the live rows of tasks that were not acted on and gives the number of
// live rows that it saw.
func (w *write) copyUntouched(ctx context.Context, tasks []plan.FileTask) (int64, error) {
	hidden := []int{plan.HiddenFile, plan.HiddenPos}
	lineage := dml.Lineage(w.node)
	if lineage {
		hidden = append([]int{plan.HiddenRowID, plan.HiddenRowSeq}, hidden...)
	}
	parts := buildScan(w.env, w.scanOf(tasks, true, hidden...))
	defer closeAll(parts)
	counts := make([]int64, len(parts))
	err := parallel(ctx, len(parts), func(ctx context.Context, i int) error {
		out, err := w.sink.Writer(ctx)
		if err != nil {
			return err
		}
		defer out.Abort()
		out.Unsorted()
		var sel []uint16
		for {
			b, err := parts[i].Next(ctx)
			if err != nil {
				return err
			}
			if b == nil {
				return out.Close()
			}
			k := len(b.Cols) - 2
			file, pos := b.Cols[k], b.Cols[k+1]
			sel = sel[:0]
			var last string
			var touched *roaring64.Bitmap
			for _, r := range selection(b) {
				if f := file.Bytes(int(r)); touched == nil || string(f) != last {
					last = string(f)
					touched = w.sink.Touched()[last]
				}
				counts[i]++
				if !touched.Contains(uint64(pos.Values().I64[pos.Row(int(r))])) {
					sel = append(sel, r)
				}
			}
			if len(sel) == 0 {
				continue // an empty selection may be nil, which means all rows
			}
			cols := b.Cols[:k]
			if lineage {
				cols = append([]*vec.Vector(nil), cols...)
				cols[k-2] = provisional(cols[k-2], b, w.node.Target.Table, lake.LineageRowID)
				cols[k-1] = provisional(cols[k-1], b, w.node.Target.Table, lake.LineageSequence)
			}
			if err := out.Write(&vec.Batch{Cols: cols, Rows: b.Rows, Sel: sel}); err != nil {
				return err
			}
		}
	})
	var n int64
	for _, c := range counts {
		n += c
	}
	return n, err
}

// mergeOnRead writes deletes for the touched rows.
func (w *write) mergeOnRead(ctx context.Context, ch *lake.Change) error {
	files, _, err := w.touchedFiles()
	if err != nil {
		return err
	}
	s := w.sink
	ch.Kind = lake.MergeOnReadDelete
	if s.Counted(plan.ActUpdate)+s.Counted(plan.ActInsert) > 0 {
		ch.Kind = lake.MergeOnReadUpdate
	}
	if len(files) == 0 {
		return nil
	}
	for p := range files {
		ch.References = append(ch.References, p)
	}
	if w.node.Target.Table.FormatVersion() < 3 {
		_, err = s.PositionDeletes(ctx, files)
		w.balanceDeletes(ch)
		return err
	}
	if _, err = s.DeletionVectors(ctx, files, w.deletedBefore); err != nil {
		return err
	}
	// What the new vectors hold in full goes.
	for p := range files {
		for _, d := range w.tasks[p].Deletes {
			if d.Content == lake.DeletionVector || d.Content == lake.PositionDeletes && d.ReferencedFile == p {
				ch.Remove = append(ch.Remove, d)
			}
		}
	}
	w.balanceDeletes(ch)
	return nil
}

// balanceDeletes has the commit check that the delete files hold what was touched. Positions
// that two old delete files both had, and files that went whole, do not add up that simply.
func (w *write) balanceDeletes(ch *lake.Change) {
	for _, d := range ch.Remove {
		if d.Content != lake.DeletionVector {
			return
		}
	}
	s := w.sink
	ch.Balance = &lake.Balance{Deletes: true, Deleted: s.Counted(plan.ActUpdate) + s.Counted(plan.ActDelete), Inserted: s.Counted(plan.ActInsert) + s.Counted(plan.ActUpdate)}
}

// deletedBefore gives the rows of f that position deletes and deletion vectors took out: those
// that a scan of positions alone does not give.
func (w *write) deletedBefore(ctx context.Context, f *lake.DataFile) (*roaring64.Bitmap, error) {
	out := roaring64.New()
	t := plan.FileTask{File: f}
	for _, d := range w.tasks[f.Path].Deletes {
		if d.Content != lake.EqualityDeletes {
			t.Deletes = append(t.Deletes, d)
		}
	}
	if len(t.Deletes) == 0 {
		return out, nil
	}
	live := roaring64.New()
	err := w.each(ctx, w.scanOf([]plan.FileTask{t}, false, plan.HiddenPos), func(b *vec.Batch) {
		for _, i := range selection(b) {
			live.Add(uint64(b.Cols[0].Values().I64[b.Cols[0].Row(int(i))]))
		}
	})
	if err != nil {
		return nil, err
	}
	out.AddRange(0, uint64(f.RecordCount))
	out.AndNot(live)
	return out, nil
}

// liveRows counts the rows of tasks that no delete has taken.
func (w *write) liveRows(ctx context.Context, tasks []plan.FileTask) (int64, error) {
	var n int64
	var read []plan.FileTask
	for _, t := range tasks {
		if len(t.Deletes) == 0 {
			n += t.File.RecordCount
		} else {
			read = append(read, plan.FileTask{File: t.File, Deletes: t.Deletes})
		}
	}
	if len(read) == 0 {
		return n, nil
	}
	err := w.each(ctx, w.scanOf(read, false, plan.HiddenPos), func(b *vec.Batch) { n += int64(b.Len()) })
	return n, err
}

// each runs a scan in this goroutine.
func (w *write) each(ctx context.Context, sc *plan.Scan, f func(*vec.Batch)) error {
	one := *w.env
	one.Workers = 1
	parts := buildScan(&one, sc)
	defer closeAll(parts)
	for _, p := range parts {
		for {
			b, err := p.Next(ctx)
			if err != nil {
				return err
			}
			if b == nil {
				break
			}
			f(b)
		}
	}
	return nil
}

// overwrite replaces partitions: with Static those that all its terms name, else those that the
// new files are in; the whole table where it is not partitioned.
func (w *write) overwrite(ctx context.Context, ch *lake.Change) error {
	n := w.node
	t := n.Target.Table
	ch.Kind = lake.OverwritePartitions
	if len(n.Static) == 0 {
		ch.Summary = map[string]string{"replace-partitions": "true"}
	}
	in, err := w.replaced(ch.Add)
	if err != nil {
		return err
	}
	ch.Conflicts = in
	manifests, err := t.Manifests(ctx, n.Target.Base)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		entries, err := t.Entries(ctx, m)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Status != lake.Deleted && in(e.File) {
				ch.Remove = append(ch.Remove, e.File)
			}
		}
	}
	return nil
}

// replaced tells which files an INSERT OVERWRITE replaces.
func (w *write) replaced(added []*lake.DataFile) (func(*lake.DataFile) bool, error) {
	n := w.node
	spec := n.Target.Table.DefaultSpec()
	if len(n.Static) == 0 && (spec == nil || len(spec.Fields) == 0) {
		return func(*lake.DataFile) bool { return true }, nil
	}
	key := func(f *lake.DataFile) string {
		var k []byte
		for i, d := range f.Partition {
			if i < len(spec.Fields) && !d.IsNull() {
				k = types.AppendKey(append(k, 1), d, spec.Fields[i].Type)
			} else {
				k = append(k, 0)
			}
		}
		return string(k)
	}
	if len(n.Static) == 0 {
		keys := map[string]bool{}
		for _, f := range added {
			keys[key(f)] = true
		}
		return func(f *lake.DataFile) bool { return f.SpecID == spec.ID && keys[key(f)] }, nil
	}
	want := map[int]types.Datum{} // index in the spec → value
	for _, st := range n.Static {
		d, err := eval.EvalConst(w.env.evalCtx(), st.Value)
		if err != nil {
			return nil, err
		}
		found := false
		for i, f := range spec.Fields {
			if f.Transform.Kind == lake.Identity && len(f.SourceIDs) == 1 && f.SourceIDs[0] == st.FieldID {
				want[i], found = d, true
			}
		}
		if !found {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "PARTITION names a column that is not an identity partition of the table")
		}
	}
	return func(f *lake.DataFile) bool {
		if f.SpecID != spec.ID {
			return false
		}
		for i, d := range want {
			if i >= len(f.Partition) || f.Partition[i].IsNull() != d.IsNull() ||
				!d.IsNull() && types.Compare(f.Partition[i], d, spec.Fields[i].Type) != 0 {
				return false
			}
		}
		return true
	}, nil
}

// provisional forgets what only a transaction's own snapshots have given rows: their ids or
// sequence numbers. The commit gives others, and a NULL takes them.
func provisional(v *vec.Vector, b *vec.Batch, t *lake.Table, limit func(*lake.Table) int64) *vec.Vector {
	if t.Over() == nil {
		return v
	}
	first := limit(t.Over())
	a := vec.NewAppender(v.Type)
	at := 0
	for _, i := range selection(b) {
		for ; at < int(i); at++ {
			a.AppendNull() // not a row
		}
		at++
		if v.Null(int(i)) || v.Values().I64[v.Row(int(i))] >= first {
			a.AppendNull()
		} else {
			a.AppendDatum(v.Datum(int(i)))
		}
	}
	for ; at < b.Rows; at++ {
		a.AppendNull()
	}
	return a.Vector()
}
