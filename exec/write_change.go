package exec

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

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
	case n.Rewrite != nil:
		return w.compaction(ch), nil
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
