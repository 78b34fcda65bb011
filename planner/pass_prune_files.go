package planner

import (
	"context"
	"sync"

	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/prune"
)

// pruneFiles finds the files that each scan must read: manifest list, then manifests, then
// files, asking the one verdict at each level; and for each file the deletes that apply and
// what of the predicate is left to test.
func pruneFiles(env *Env, n plan.Node) (plan.Node, error) {
	return env.mapUp(n, func(n plan.Node) (plan.Node, error) {
		s, ok := n.(*plan.Scan)
		if !ok || s.Pruned {
			return n, nil
		}
		return env.pruneScan(s)
	})
}

// tableMetadata is what pruning asks of a table; *lake.Table has it.
type tableMetadata interface {
	Manifests(context.Context, *lake.Snapshot) ([]*lake.Manifest, error)
	Entries(context.Context, *lake.Manifest) ([]lake.Entry, error)
	Spec(id int) *lake.PartitionSpec
	FormatVersion() int
}

// filePruner works on one scan.
type filePruner struct {
	table  tableMetadata
	env    *Env
	scan   *plan.Scan
	layout *prune.Layout
	specs  map[int]*prune.SpecLayout
	pred   *prune.Predicate
	report *plan.PruneReport
	byName bool // the table has a name mapping: files may lack field ids
}

func (env *Env) pruneScan(s *plan.Scan) (*plan.Scan, error) {
	m := *s
	m.Pruned = true
	m.Tasks = nil
	m.Report = &plan.PruneReport{Off: env.PruningOff}
	if s.Snapshot == nil && s.Files == nil {
		return &m, nil
	}
	all := append(append([]plan.ScanColumn(nil), s.Cols...), s.PredCols...)
	p := &filePruner{env: env, scan: s, table: s.Table, specs: map[int]*prune.SpecLayout{}, report: m.Report,
		layout: prune.NewLayout(all, s.Schema), byName: s.Table.NameMapping() != nil}
	p.pred = prune.Compile(s.Pred, all, env.Eval)
	if env.metadata != nil {
		p.table = env.metadata(s.Table)
	}
	for _, f := range s.Files {
		task, keep, err := p.file(f)
		if err != nil {
			return nil, err
		}
		if keep {
			m.Tasks = append(m.Tasks, task)
		}
	}
	if s.Files != nil {
		return &m, nil
	}
	manifests, err := p.table.Manifests(env.Context, s.Snapshot)
	if err != nil {
		return nil, sqlerr.Wrap(err, sqlerr.IOError, "reading the manifest list of %s", s.Table.Name)
	}
	var data, deletes []*lake.Manifest
	for _, mf := range manifests {
		if mf.Deletes {
			deletes = append(deletes, mf)
		} else {
			data = append(data, mf)
		}
	}
	if m.Tasks, err = p.dataFiles(data); err != nil {
		return nil, err
	}
	if len(m.Tasks) > 0 && len(deletes) > 0 {
		if err := p.attachDeletes(m.Tasks, deletes); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// spec gives the layout of a partition spec, made once.
func (p *filePruner) spec(id int) *prune.SpecLayout {
	l, ok := p.specs[id]
	if !ok {
		l = prune.NewSpecLayout(p.table.Spec(id), p.layout)
		p.specs[id] = l
	}
	return l
}

// skips tells whether no row under the manifest can satisfy the predicate.
func (p *filePruner) skips(m *lake.Manifest) bool {
	if p.env.PruningOff || len(m.Partitions) == 0 {
		return false
	}
	spec := p.spec(m.SpecID)
	return spec.Partitions() && p.pred.Test(&prune.ManifestStats{Manifest: m, Spec: spec}) == prune.None
}

func (p *filePruner) dataFiles(manifests []*lake.Manifest) ([]plan.FileTask, error) {
	r := p.report
	r.Manifests = len(manifests)
	var read []*lake.Manifest
	for _, m := range manifests {
		if !p.skips(m) {
			read = append(read, m)
			continue
		}
		r.ManifestsSkipped++
		if m.AddedFiles >= 0 && m.ExistingFiles >= 0 {
			n := int(m.AddedFiles + m.ExistingFiles)
			r.Files, r.FilesSkipped, r.SkippedByPartition = r.Files+n, r.FilesSkipped+n, r.SkippedByPartition+n
		}
	}
	entries, err := p.entries(read)
	if err != nil {
		return nil, err
	}
	var tasks []plan.FileTask
	for _, list := range entries {
		for i := range list {
			e := &list[i]
			if e.Status == lake.Deleted || e.File.Content != lake.Data || p.scan.Only != nil && !p.scan.Only[e.File.Path] {
				continue
			}
			task, keep, err := p.file(e.File)
			if err != nil {
				return nil, err
			}
			if keep {
				tasks = append(tasks, task)
			}
		}
	}
	return tasks, nil
}

// file decides about one data file.
func (p *filePruner) file(f *lake.DataFile) (plan.FileTask, bool, error) {
	r := p.report
	r.Files++
	r.Bytes += f.FileSize
	task := plan.FileTask{File: f, Residual: p.scan.Pred}
	if !p.env.PruningOff {
		stats := &prune.FileStats{File: f, Layout: p.layout, NoBounds: true}
		if spec := p.spec(f.SpecID); spec.Partitions() {
			stats.Partition = &prune.PartitionStats{Spec: spec, Tuple: f.Partition}
			if p.pred.Test(stats) == prune.None {
				r.SkippedByPartition++
				return p.skipped(f)
			}
		}
		// Counts and bounds go by field id. A file without ids, of a table with a name mapping, is
		// read by names, and what its columns are only the file itself tells.
		stats.NoBounds = p.byName
		v, rest := p.pred.Residual(stats)
		if v == prune.None {
			r.SkippedByBounds++
			return p.skipped(f)
		}
		task.Residual = rest
	}
	if err := p.readable(f, "parquet"); err != nil {
		return task, false, err
	}
	r.Rows += f.RecordCount
	return task, true, nil
}

func (p *filePruner) skipped(f *lake.DataFile) (plan.FileTask, bool, error) {
	p.report.FilesSkipped++
	p.report.BytesSkipped += f.FileSize
	return plan.FileTask{}, false, nil
}

// readable refuses, by name, what we cannot read.
func (p *filePruner) readable(f *lake.DataFile, format string) error {
	if f.Encrypted {
		return sqlerr.New(sqlerr.FeatureNotSupported, "table %s: file %s is encrypted", p.scan.Table.Name, f.Path)
	}
	if f.Format != format {
		return sqlerr.New(sqlerr.FeatureNotSupported, "table %s: file %s has format %s; only Parquet can be read",
			p.scan.Table.Name, f.Path, f.Format)
	}
	return nil
}

// manifestReaders bounds how many manifests are read at once: latency of object stores, not
// processors, is what it hides.
const manifestReaders = 16

// entries reads manifests side by side; results are in the manifests' order.
func (p *filePruner) entries(manifests []*lake.Manifest) ([][]lake.Entry, error) {
	out := make([][]lake.Entry, len(manifests))
	ctx, cancel := context.WithCancel(p.env.Context)
	defer cancel()
	var (
		wg    sync.WaitGroup
		once  sync.Once
		first error
		slots = make(chan struct{}, manifestReaders)
	)
	for i, m := range manifests {
		slots <- struct{}{}
		wg.Add(1)
		go func() {
			defer func() { <-slots; wg.Done() }()
			if ctx.Err() != nil {
				return
			}
			err := guard.Run(func() (err error) { out[i], err = p.table.Entries(ctx, m); return err })
			if err != nil {
				once.Do(func() { first = err; cancel() })
			}
		}()
	}
	wg.Wait()
	if first == nil {
		first = p.env.Context.Err()
	}
	if first != nil {
		return nil, sqlerr.Wrap(first, sqlerr.IOError, "reading the manifests of %s", p.scan.Table.Name)
	}
	return out, nil
}
