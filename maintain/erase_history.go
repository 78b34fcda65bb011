package maintain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// TAGS REWRITE: history stays for everybody else. Each snapshot that holds the value is stated anew
// (lake.Restating), so that whoever reads as of then, by snapshot, instant or tag, sees the table as it was
// but for the rows:
//
//	files that hold the value as the snapshot shows them: with its deletes applied, under its schema
//	→ scan → rows that do not match → data files, once for all snapshots that show them alike
//	→ manifests and a list that name these files instead
//	→ one commit for all snapshots, which changes nothing but where their lists are
//
// Heads of branches are rewritten by a commit of their own before (rewriteHead): what was the head is
// history by then.

// writesMetadata tells whether a catalog's metadata files are written here, so that a commit may change what
// no update of the REST protocol says.
func writesMetadata(c lake.Catalog) bool {
	_, ok := c.(lake.Evidence)
	return ok
}

// history is the work on a table's snapshots.
type history struct {
	f     *findings
	env   RewriteEnv
	ev    *TableEvidence
	made  map[string][]*lake.DataFile // what stands for a data file with its deletes under a schema
	added []*lake.DataFile
	// instead is what stands for the files of a snapshot, by their keys.
	instead map[int64]map[string][]*lake.DataFile
	gone    int64 // rows that were left out, in all states
}

// restate states anew what snapshots hold the value, but for heads of branches.
func (x *tableErasure) restate(ctx context.Context, f *findings) (did bool, err error) {
	t := f.t
	heads := map[int64]bool{}
	for _, r := range t.Refs() {
		heads[r.SnapshotID] = heads[r.SnapshotID] || r.Branch
	}
	var list []*lake.Snapshot
	for _, s := range t.Snapshots() {
		if f.snapshots[s.ID] != "" && !heads[s.ID] && !x.restated[s.ID] {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	slices.SortStableFunc(list, func(a, b *lake.Snapshot) int { return cmp.Or(cmp.Compare(a.Seq, b.Seq), a.Time.Compare(b.Time)) })
	if err := x.e.step(ctx, "history"); err != nil {
		return false, err
	}
	h := &history{f: f, env: x.e.env.RewriteEnv, ev: x.ev, made: map[string][]*lake.DataFile{}, instead: map[int64]map[string][]*lake.DataFile{}}
	r := lake.NewRestating(t)
	discard := func() {
		r.Discard(ctx)
		for _, d := range h.added {
			_ = t.FS().Remove(context.WithoutCancel(ctx), t.Resolve(d.Path)) // what stays is an orphan
		}
	}
	var ids []int64
	for _, s := range list {
		if err := h.snapshot(ctx, r, s); err != nil {
			discard()
			return false, err
		}
		ids = append(ids, s.ID)
	}
	free := f.stillFree()
	edit := func(e *lake.Edit) error {
		if err := free(e); err != nil {
			return err
		}
		for _, r := range e.Table().Refs() {
			if err := e.RequireRef(r.Name, &r.SnapshotID); err != nil {
				return err
			}
		}
		return e.RestateSnapshots(r)
	}
	after, err := t.Try(ctx, edit)
	if err == nil {
		err = lake.Released(ctx, t, list, after, func(h *lake.Held) error { x.later(strings.Clone(h.Path)); return nil })
	}
	if err == nil {
		err = x.e.env.Ledger.save(ctx, x.e.state)
	}
	if err == nil {
		err = lake.Step(ctx, "erase restated")
	}
	if err != nil {
		discard()
		return false, err
	}
	_, err = x.g.commit(ctx, lake.Change{Base: t, MovesRefs: true, Statement: "ERASE", Edit: edit})
	switch {
	case err == nil:
	case lake.Outcome(err) == lake.Unknown:
		return false, err // nothing that was written may go
	case sqlerr.CodeOf(err) == sqlerr.SerializationFailure && ctx.Err() == nil:
		discard()
		return true, nil // it is looked at again
	default:
		discard()
		return false, err
	}
	if x.restated == nil {
		x.restated = map[int64]bool{}
	}
	for _, id := range ids {
		x.restated[id] = true // once: what is left in it after that, no second time takes out
	}
	x.ev.Restated = append(x.ev.Restated, ids...)
	for _, d := range h.added {
		x.ev.HistoryAdded = append(x.ev.HistoryAdded, FileEvidence{Path: f.m.redact(t.Resolve(d.Path)), Kind: heldName(d), Size: d.FileSize})
	}
	x.ev.HistoryGone += h.gone
	return true, x.e.step(ctx, "history done")
}

// snapshot writes what one of them lists instead.
func (h *history) snapshot(ctx context.Context, r *lake.Restating, s *lake.Snapshot) error {
	f, t := h.f, h.f.t
	schema := t.SnapshotSchema(s)
	tasks, err := tasksOf(ctx, h.env, filesOf(t, s, schema))
	if err != nil {
		return err
	}
	cond, err := f.m.condition(schema)
	if err != nil {
		return err
	}
	instead := map[string][]*lake.DataFile{}
	h.instead[s.ID] = instead
	held := f.held(tasks, schema)
	p := &RewritePlan{g: f.g, spec: RewriteSpec{Statement: "ERASE"}, snapshot: s}
	if p.opt, err = dataFileOptions(t, rewriteAll); err != nil {
		return err
	}
	if err := p.use(ctx, &state{table: t, snapshot: s, tasks: tasks}); err != nil {
		return err
	}
	var groups []*RewriteGroup
	for i := range tasks {
		task := tasks[i]
		if !held[task.File.Path] {
			continue
		}
		p.opt.specID = task.File.SpecID
		g := p.newGroup([]plan.FileTask{task}, task.File.FileSize)
		groups = append(groups, g)
		if instead[deleteKey(task.File)], err = h.file(ctx, p, g, cond); err != nil {
			return err
		}
	}
	// Deletes of rewritten files alone are applied; those that hold the value, of all that they apply to.
	for _, d := range p.held.dangling(groups) {
		instead[deleteKey(d)] = nil
	}
	for k, d := range p.held.files {
		if f.holds(d.Path) {
			instead[k] = nil
		}
	}
	before := map[string][]*lake.DataFile{}
	if s.ParentID != nil {
		before = h.instead[*s.ParentID]
	}
	in := func(m map[string][]*lake.DataFile) func(*lake.DataFile) ([]*lake.DataFile, bool) {
		return func(d *lake.DataFile) ([]*lake.DataFile, bool) {
			files, goes := m[deleteKey(d)]
			return files, goes || f.holds(d.Path)
		}
	}
	how := lake.Restatement{Manifests: map[string]bool{}, Instead: in(instead), Before: in(before),
		Keep: func(k, v string) bool { return !f.m.inText(k) && !f.m.inText(v) }}
	manifests, err := t.Manifests(ctx, s)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		es, err := t.EntriesWith(ctx, m, nil)
		if err != nil {
			return err
		}
		hit := f.manifests[m.Path] != ""
		for i := 0; i < len(es) && !hit; i++ {
			if es[i].Status == lake.Deleted {
				_, hit = how.Before(es[i].File)
			} else {
				_, hit = how.Instead(es[i].File)
			}
		}
		if hit {
			how.Manifests[m.Path] = true
		}
	}
	return r.Snapshot(ctx, s, how)
}

// file gives what stands for a data file as a snapshot shows it, written at the first need.
func (h *history) file(ctx context.Context, p *RewritePlan, g *RewriteGroup, cond condition) ([]*lake.DataFile, error) {
	task := &g.Tasks[0]
	keys := []string{task.File.Path}
	for _, d := range task.Deletes {
		keys = append(keys, deleteKey(d))
	}
	slices.Sort(keys[1:])
	if id := task.File.FirstRowID; id != nil { // before an upgrade its rows had no ids
		keys[0] = fmt.Sprintf("%s@%d", keys[0], *id)
	}
	key := fmt.Sprintf("%d %q", cond.schema.ID, keys)
	if files, ok := h.made[key]; ok {
		return files, nil
	}
	t := h.f.t
	if err := writable(t, p.opt.specID); err != nil {
		return nil, err
	}
	for i := range cond.schema.Fields {
		if bad := cond.schema.Fields[i].Unreadable(); bad != "" {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "column %q of snapshot %d of table %s has the Iceberg type %s, which is not supported: its history cannot be rewritten",
				cond.schema.Fields[i].Name, p.snapshot.ID, t.Name.Table, bad)
		}
	}
	gone := int64(0)
	if cond.pred != nil {
		var err error
		if gone, err = h.f.liveRows(ctx, h.env, p.snapshot, g.Tasks, cond); err != nil {
			return nil, err
		}
	}
	h.f.g.Job.Plan(1, g.Bytes)
	ch, err := cond.rewriting(p, h.env).writeGroup(ctx, g, max(1, h.env.Exec.Workers), 1)
	h.added = append(h.added, ch.Add...)
	if err != nil {
		return nil, err
	}
	rows := int64(0)
	for _, d := range ch.Add {
		rows += d.RecordCount
	}
	if len(task.Deletes) == 0 && task.File.RecordCount >= 0 && rows+gone != task.File.RecordCount {
		return nil, fmt.Errorf("%d rows of %s and %d that match are not its %d", rows, task.File.Path, gone, task.File.RecordCount)
	}
	h.gone += gone
	h.made[key] = ch.Add
	return ch.Add, nil
}
