package planner

import (
	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/prune"
)

// lowerWrites turns a write statement into a query with a sink: all later passes see ordinary
// nodes below one Write.
func lowerWrites(env *Env, n plan.Node) (plan.Node, error) { return dml.Lower(n, env.fresh) }

// writeFiles settles what a write knows of files before it runs: which can be dropped unread,
// and which files of others would be in its way at commit.
func writeFiles(env *Env, n plan.Node) (plan.Node, error) {
	w, ok := n.(*plan.Write)
	if !ok || w.File == nil {
		return n, nil
	}
	m := *w
	if s := targetScan(&m); s != nil {
		m.Conflicts = env.conflicts(s)
	}
	if m.Action == nil && m.Fixed == plan.ActDelete && m.Returning == nil {
		dropWholeFiles(&m)
	}
	return &m, nil
}

// targetScan finds the scan below w that gives the addresses.
func targetScan(w *plan.Write) (found *plan.Scan) {
	plan.Walk(w.Input, func(n plan.Node) {
		s, ok := n.(*plan.Scan)
		if !ok || s.Table.UUID() != w.Target.Table.UUID() {
			return
		}
		for _, c := range s.Cols {
			if c.FieldID == plan.HiddenFile {
				found = s
			}
		}
	})
	return found
}

// conflicts asks of a file that another writer added whether the scan might have read rows of it.
func (env *Env) conflicts(s *plan.Scan) func(*lake.DataFile) bool {
	if s.Pred == nil {
		return nil
	}
	all := append(append([]plan.ScanColumn(nil), s.Cols...), s.PredCols...)
	p := &filePruner{env: env, scan: s, table: s.Table, specs: map[int]*prune.SpecLayout{}, layout: prune.NewLayout(all, s.Schema)}
	p.pred = prune.Compile(s.Pred, all, env.Eval)
	return func(f *lake.DataFile) bool {
		if p.table.Spec(f.SpecID) == nil {
			return true // a spec that came later: nothing is known of its tuples
		}
		stats := &prune.FileStats{File: f, Layout: p.layout, NoBounds: s.Table.NameMapping() != nil}
		if spec := p.spec(f.SpecID); spec.Partitions() {
			stats.Partition = &prune.PartitionStats{Spec: spec, Tuple: f.Partition}
		}
		return p.pred.Test(stats) != prune.None
	}
}

// dropWholeFiles takes from a DELETE the files of which statistics prove that every row goes:
//
//	δ(σp(F)) → drop F, where p holds for all rows of F
//
// A file with equality deletes stays: what they match is not known without reading.
func dropWholeFiles(w *plan.Write) {
	s, ok := w.Input.(*plan.Scan)
	if !ok {
		p, isProject := w.Input.(*plan.Project)
		if !isProject {
			return
		}
		if s, ok = p.Input.(*plan.Scan); !ok {
			return
		}
	}
	m := *s
	m.Tasks = nil
	for _, t := range s.Tasks {
		if t.Residual == nil && !equalityDeleted(t) {
			w.Drop = append(w.Drop, t)
		} else {
			m.Tasks = append(m.Tasks, t)
		}
	}
	if len(w.Drop) == 0 {
		return
	}
	if p, ok := w.Input.(*plan.Project); ok {
		w.Input = p.WithInputs(&m)
	} else {
		w.Input = &m
	}
}

func equalityDeleted(t plan.FileTask) bool {
	for _, d := range t.Deletes {
		if d.Content == lake.EqualityDeletes {
			return true
		}
	}
	return false
}
