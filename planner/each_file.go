package planner

import (
	"context"

	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// listAhead is how many manifests EachFile reads ahead: what they hold is in memory together.
const listAhead = 3

// EachFile calls visit for all live data files of a snapshot, each with the deletes that apply to it, in the order
// of the manifests. Unlike a scan's plan it keeps none of them, and reads no counts and bounds of data files: so a
// table of any number of files can be gone through. What visit keeps of a file it copies.
func EachFile(env *Env, t *lake.Table, snap *lake.Snapshot, visit func(plan.FileTask) error) error {
	if snap == nil {
		return nil
	}
	scan := &plan.Scan{Table: t, Snapshot: snap, Schema: t.Schema()}
	p := &filePruner{env: env, scan: scan, table: t, report: &plan.PruneReport{}}
	wrap := func(err error) error {
		return sqlerr.Wrap(err, sqlerr.IOError, "reading the manifests of %s", t.Name)
	}
	manifests, err := t.Manifests(env.Context, snap)
	if err != nil {
		return sqlerr.Wrap(err, sqlerr.IOError, "reading the manifest list of %s", t.Name)
	}
	var data, deletes []*lake.Manifest
	for _, m := range manifests {
		if m.Deletes {
			deletes = append(deletes, m)
		} else {
			data = append(data, m)
		}
	}
	x, err := p.indexDeletes(deletes)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(env.Context)
	defer cancel()
	type result struct {
		entries []lake.Entry
		err     error
	}
	read := func(m *lake.Manifest) chan result {
		out := make(chan result, 1)
		go func() {
			var r result
			r.err = guard.Run(func() (err error) { r.entries, err = t.EntriesWith(ctx, m, nil); return err })
			out <- r
		}()
		return out
	}
	var coming []chan result
	defer func() { // nobody reads on after it returns
		cancel()
		for _, c := range coming {
			<-c
		}
	}()
	for i := range data {
		for len(coming) < listAhead && i+len(coming) < len(data) {
			coming = append(coming, read(data[i+len(coming)]))
		}
		r := <-coming[0]
		coming = coming[1:]
		if r.err != nil {
			return wrap(r.err)
		}
		for k := range r.entries {
			e := &r.entries[k]
			if e.Status == lake.Deleted || e.File.Content != lake.Data {
				continue
			}
			if err := p.readable(e.File, "parquet"); err != nil {
				return err
			}
			task := plan.FileTask{File: e.File, Deletes: x.of(e.File)}
			if err := p.readableDeletes(task.Deletes); err != nil {
				return err
			}
			if err := visit(task); err != nil {
				return err
			}
		}
		if err := env.Context.Err(); err != nil {
			return err
		}
	}
	return nil
}
