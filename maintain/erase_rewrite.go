package maintain

import (
	"context"
	"errors"
	"slices"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// The heads of branches are rewritten as by RewriteDataFiles, but for the rows that match:
//
//	files of the head that hold the value, and those whose deletes lie in files that do
//	→ scan with all deletes applied → rows that do not match → data files      rewrite_run.go
//	→ commit: new files for old ones, delete files that nothing is left for go
//	→ manifests that still say what was removed are written anew
//
// Rows of files that hold it only as deleted, or in a column that was dropped, are copied without.

// rewriteHead does it for a branch. done is false where another writer was faster: then it is to be
// looked at again.
func (f *findings) rewriteHead(ctx context.Context, env RewriteEnv, branch string, ev *TableEvidence, before func() error) (done bool, err error) {
	t := f.t
	s, err := list(ctx, env, t, branch, nil)
	if err != nil || s.snapshot == nil {
		return err == nil, err
	}
	s.chosen = f.held(s.tasks, t.Schema())
	p := &RewritePlan{g: f.g, spec: RewriteSpec{Branch: branch, Statement: "ERASE"}, order: tableOrder(t), snapshot: s.snapshot}
	if p.opt, err = dataFileOptions(t, rewriteAll); err != nil {
		return false, err
	}
	if err := writable(t, p.opt.specID); err != nil {
		return false, err
	}
	if err := p.use(ctx, s); err != nil {
		return false, err
	}
	p.group(s)
	cond, err := f.m.condition(t.Schema())
	if err != nil {
		return false, err
	}
	r := cond.rewriting(p, env)
	var all []*written
	var gone, read int64
	known := true
	for _, g := range p.Groups {
		w := &written{group: g}
		if cond.pred != nil {
			n, err := f.liveRows(ctx, env, s.snapshot, g.Tasks, cond)
			if err != nil {
				r.discard(ctx, all)
				return false, err
			}
			gone += n
		}
		f.g.Job.Plan(int64(len(g.Tasks)), g.Bytes)
		if w.change, err = r.writeGroup(ctx, g, max(1, env.Exec.Workers), 1); err != nil {
			r.discard(ctx, all)
			return false, err
		}
		for i := range g.Tasks {
			known = known && len(g.Tasks[i].Deletes) == 0 && g.Tasks[i].File.RecordCount >= 0
			read += g.Tasks[i].File.RecordCount
		}
		all = append(all, w)
	}
	ch, _ := r.join(all, nil)
	// Delete files that hold it go even if they are not seen to dangle: no file is left that they apply to.
	for k, d := range p.held.files {
		if f.holds(d.Path) && !slices.ContainsFunc(ch.Remove, func(x *lake.DataFile) bool { return deleteKey(x) == k }) {
			ch.Remove = append(ch.Remove, d)
		}
	}
	if len(ch.Add)+len(ch.Remove) == 0 {
		return true, nil
	}
	var added int64
	for _, a := range ch.Add {
		added += a.RecordCount
	}
	if known { // what was read is known by the manifests, what matched by a count of its own
		ch.Balance = &lake.Balance{Read: read, Deleted: gone}
	} else {
		ch.Balance = &lake.Balance{Read: added + gone, Deleted: gone}
	}
	if gone > 0 {
		ch.Operation = "overwrite"
	}
	if err := before(); err != nil {
		r.discard(ctx, all)
		return false, err
	}
	ch.Edit = f.stillFree()
	f.g.Job.Phase("commit")
	if _, err := f.g.commit(ctx, ch); err != nil {
		switch {
		case lake.Outcome(err) == lake.Unknown:
		case sqlerr.CodeOf(err) == sqlerr.SerializationFailure && ctx.Err() == nil:
			r.discard(ctx, all)
			return false, nil
		default:
			r.discard(ctx, all)
		}
		return false, err
	}
	ev.RowsGone += gone
	for _, x := range ch.Remove {
		ev.Rewritten = append(ev.Rewritten, FileEvidence{Path: f.m.redact(t.Resolve(x.Path)), Kind: heldName(x), Size: bytesOf(x)})
	}
	for _, x := range ch.Add {
		ev.Added = append(ev.Added, FileEvidence{Path: f.m.redact(t.Resolve(x.Path)), Kind: heldName(x), Size: x.FileSize})
	}
	return true, nil
}

// held are the data files that hold the value, or whose rows a schema shows with it, or that have deletes in
// a file that holds it; by path.
func (f *findings) held(tasks []plan.FileTask, s *lake.Schema) map[string]bool {
	out := map[string]bool{}
	for i := range tasks {
		task := &tasks[i]
		hit := f.files[f.t.Resolve(task.File.Path)].under(s)
		for _, d := range task.Deletes {
			hit = hit || f.holds(d.Path)
		}
		if hit {
			out[task.File.Path] = true
		}
	}
	return out
}

// rewriting writes rows that the condition is not true of, as its schema shows them.
func (c condition) rewriting(p *RewritePlan, env RewriteEnv) *rewriting {
	r := &rewriting{p: p, env: env, table: p.g.Table, schema: c.schema}
	if c.pred != nil {
		r.keep = &plan.Not{X: c.pred}
	}
	return r
}

func heldName(f *lake.DataFile) string {
	switch f.Content {
	case lake.PositionDeletes:
		return lake.HeldPositionDeletes.String()
	case lake.EqualityDeletes:
		return lake.HeldEqualityDeletes.String()
	case lake.DeletionVector:
		return lake.HeldDeletionVectors.String()
	}
	return lake.HeldData.String()
}

// headFiles tells whether a branch's head holds content files that hold the value, and which of its
// manifests do.
func (f *findings) headFiles(ctx context.Context, branch string) (files bool, manifests map[string]bool, err error) {
	snap, err := f.t.Head(branch)
	if err != nil || snap == nil {
		return false, nil, err
	}
	ms, err := f.t.Manifests(ctx, snap)
	if err != nil {
		return false, nil, err
	}
	manifests = map[string]bool{}
	in := map[string]bool{}
	for _, m := range ms {
		in[m.Path] = true
		if f.manifests[m.Path] != "" {
			manifests[m.Path] = true
		}
	}
	for _, x := range f.files {
		for m := range x.live {
			files = files || in[m] && x.under(f.t.Schema())
		}
	}
	// A list or a summary that holds it is written anew with any manifest.
	if why := f.snapshots[snap.ID]; why != "" && !files && len(manifests) == 0 && len(ms) > 0 {
		manifests[ms[0].Path] = true
	}
	return files, manifests, nil
}

// rewriteHeadManifests writes manifests of a branch's head anew, without what they say of files that
// are gone.
func (f *findings) rewriteHeadManifests(ctx context.Context, branch string, only map[string]bool) (done bool, err error) {
	snap, err := f.t.Head(branch)
	if err != nil {
		return false, err
	}
	n, err := lake.RewriteManifests(ctx, f.t, snap, lake.ManifestRewrite{Branch: branch, Only: only})
	if err != nil || len(n.Remove) == 0 {
		return err == nil, err
	}
	_, err = f.g.commit(ctx, lake.Change{Base: f.t, Snapshot: snap, Branch: branch, Manifests: n, Statement: "ERASE", Edit: f.stillFree()})
	if err == nil {
		return true, nil
	}
	if lake.Outcome(err) != lake.Unknown {
		n.Discard(ctx, f.t)
	}
	if sqlerr.CodeOf(err) == sqlerr.SerializationFailure && ctx.Err() == nil {
		return false, nil
	}
	return false, err
}

// errHeld ends a commit that has met a hold which was put meanwhile.
var errHeld = errors.New("a branch or tag was put under a hold")

// stillFree makes a commit fail if somebody has put a hold meanwhile.
func (f *findings) stillFree() func(*lake.Edit) error {
	known := f.t.Properties()
	return func(e *lake.Edit) error {
		for k, v := range e.Table().Properties() {
			if len(k) > len(holdProperty) && k[:len(holdProperty)] == holdProperty && known[k] != v {
				return sqlerr.New(sqlerr.SerializationFailure, "%v", errHeld)
			}
		}
		return nil
	}
}
