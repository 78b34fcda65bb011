package maintain

import (
	"context"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lhsql/lhsql/dml"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/scan"
)

// DeletesResult is what rewriting position delete files did, or would do.
type DeletesResult struct {
	Rewritten, Added           int // delete files; each deletion vector is one
	RewrittenBytes, AddedBytes int64
}

// DeletesPlan is what a rewrite of position delete files will do.
//
//	format 2   small files of a partition → one; positions of data files that are gone go
//	format 3   position delete files      → one deletion vector for each data file
type DeletesPlan struct {
	table    *lake.Table
	snapshot *lake.Snapshot
	groups   []deletesGroup
	gone     []*lake.DataFile            // files that no data file is left for
	users    map[string][]*lake.DataFile // by delete file: the data files that it may delete rows of
	Files    int                         // live delete files by position, vectors too, and their bytes
	Bytes    int64
}

// deletesGroup is delete files of one partition.
type deletesGroup struct {
	files []*lake.DataFile
	// stay are those that are read and not removed: some of their data files were not chosen.
	stay  map[*lake.DataFile]bool
	bytes int64
}

// DeletesGroup is delete files of one partition that are rewritten together.
type DeletesGroup struct {
	Partition      string // as a person reads it; "" for none
	Files, Outputs int
	Bytes          int64
}

// Groups are the delete files that are rewritten together.
func (p *DeletesPlan) Groups() []DeletesGroup {
	out := make([]DeletesGroup, len(p.groups))
	for i := range p.groups {
		g := &p.groups[i]
		out[i] = DeletesGroup{partitionText(p.table.Spec(g.files[0].SpecID), g.files[0].Partition), len(g.files), p.outputs(g), g.bytes}
	}
	return out
}

// outputs is how many delete files come of a group.
func (p *DeletesPlan) outputs(g *deletesGroup) int {
	if p.table.FormatVersion() < 3 {
		return 1
	}
	vectors := map[string]bool{}
	for _, d := range g.files {
		for _, f := range p.users[deleteKey(d)] {
			vectors[f.Path] = true
		}
	}
	return len(vectors)
}

// Dangling is how many delete files go because no data file is left for them.
func (p *DeletesPlan) Dangling() int { return len(p.gone) }

// RewritePositionDeletes makes few position delete files of many, or deletion vectors where the
// table's format has them. With dry nothing is changed, and what was added is a guess.
func RewritePositionDeletes(ctx context.Context, g Target, env RewriteEnv, spec RewriteSpec, dry bool) (DeletesResult, error) {
	var r DeletesResult
	t := g.Table
	for try := 0; ; try++ {
		p, err := PlanDeletes(ctx, t, env, spec)
		if err != nil {
			return r, err
		}
		if dry {
			return p.Expected(), nil
		}
		r, err = p.run(ctx, g, env, spec)
		if err == nil || try >= maxRounds || sqlerr.CodeOf(err) != sqlerr.SerializationFailure || lake.Outcome(err) != lake.Aborted || ctx.Err() != nil {
			return r, err
		}
		if t, err = g.reload(ctx); err != nil {
			return r, err
		}
	}
}

// PlanDeletes decides which delete files are rewritten.
func PlanDeletes(ctx context.Context, t *lake.Table, env RewriteEnv, spec RewriteSpec) (*DeletesPlan, error) {
	opt, err := readRewriteOptions(t, spec.Options, "write.delete.target-file-size-bytes", 64<<20, rewriteShared)
	if err != nil {
		return nil, err
	}
	if t.Moved() {
		return nil, writable(t, t.DefaultSpec().ID)
	}
	s, err := listSome(ctx, env, t, spec.Branch, spec.Where, 0, func(_ *state, task *plan.FileTask) bool { return len(task.Deletes) > 0 })
	if err != nil {
		return nil, err
	}
	all := &RewritePlan{}
	if err := all.use(ctx, s); err != nil {
		return nil, err
	}
	p := &DeletesPlan{table: t, snapshot: s.snapshot, users: map[string][]*lake.DataFile{}}
	chosen := map[string]int{} // by delete file: how many of its data files are chosen
	for _, task := range s.tasks {
		for _, d := range task.Deletes {
			if d.Content != lake.PositionDeletes {
				continue
			}
			k := deleteKey(d)
			if s.chosen == nil || s.chosen[task.File.Path] {
				p.users[k] = append(p.users[k], task.File)
				chosen[k]++
			} else if t.FormatVersion() < 3 {
				p.users[k] = append(p.users[k], task.File)
			}
		}
	}
	byPartition := map[string]*deletesGroup{}
	var order []string
	for _, k := range sortedKeys(all.held.files) {
		d := all.held.files[k]
		if d.Content == lake.EqualityDeletes {
			continue
		}
		p.Files, p.Bytes = p.Files+1, p.Bytes+bytesOf(d)
		switch {
		case all.held.uses[k] == 0 && s.chosen == nil:
			p.gone = append(p.gone, d)
			continue
		case d.Content == lake.DeletionVector || chosen[k] == 0:
			continue
		case t.FormatVersion() < 3 && !opt.rewriteAll && d.FileSize >= opt.min && d.FileSize <= opt.max:
			continue
		}
		key := planner.PartitionKey(d)
		if byPartition[key] == nil {
			byPartition[key] = &deletesGroup{stay: map[*lake.DataFile]bool{}}
			order = append(order, key)
		}
		x := byPartition[key]
		x.files, x.bytes = append(x.files, d), x.bytes+d.FileSize
		x.stay[d] = t.FormatVersion() >= 3 && chosen[k] < all.held.uses[k]
	}
	slices.Sort(order)
	for _, k := range order {
		x := *byPartition[k]
		n := len(x.files)
		if t.FormatVersion() >= 3 || opt.rewriteAll || n > 1 && (n >= opt.minInputFiles || x.bytes > opt.target) || x.bytes > opt.max {
			p.groups = append(p.groups, x)
		}
	}
	return p, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// Expected is about what will be done.
func (p *DeletesPlan) Expected() DeletesResult {
	var r DeletesResult
	for _, d := range p.gone {
		r.Rewritten, r.RewrittenBytes = r.Rewritten+1, r.RewrittenBytes+bytesOf(d)
	}
	for i := range p.groups {
		g := &p.groups[i]
		for _, d := range g.files {
			if !g.stay[d] {
				r.Rewritten, r.RewrittenBytes = r.Rewritten+1, r.RewrittenBytes+bytesOf(d)
			}
		}
		r.AddedBytes += g.bytes
		r.Added += p.outputs(g)
	}
	return r
}

func bytesOf(d *lake.DataFile) int64 {
	if d.Content == lake.DeletionVector {
		return d.ContentSize
	}
	return d.FileSize
}

// run writes the new delete files and commits them in the old ones' place.
func (p *DeletesPlan) run(ctx context.Context, g Target, env RewriteEnv, spec RewriteSpec) (r DeletesResult, err error) {
	if len(p.groups)+len(p.gone) == 0 {
		return r, nil
	}
	ch := lake.Change{Base: p.table, Snapshot: p.snapshot, Branch: spec.Branch, Kind: lake.Compaction, Operation: "replace", Statement: spec.Statement}
	defer func() {
		if err != nil && lake.Outcome(err) != lake.Unknown {
			for _, f := range ch.Add {
				_ = p.table.FS().Remove(context.WithoutCancel(ctx), p.table.Resolve(f.Path)) // what stays is an orphan
			}
		}
	}()
	for _, x := range p.groups {
		g.Job.Plan(int64(len(x.files)), x.bytes)
	}
	g.Job.Phase("rewrite")
	ch.Remove = append(ch.Remove, p.gone...)
	for _, x := range p.groups {
		added, covered, err := p.write(ctx, env, spec, &x)
		ch.Add = append(ch.Add, added...)
		if err != nil {
			return r, err
		}
		ch.References = append(ch.References, covered...)
		for _, d := range x.files {
			if !x.stay[d] {
				ch.Remove = append(ch.Remove, d)
			}
		}
		g.Job.Done(int64(len(x.files)), x.bytes)
	}
	g.Job.Phase("commit")
	if _, err := g.commit(ctx, ch); err != nil {
		return r, err
	}
	for _, d := range ch.Remove {
		r.Rewritten, r.RewrittenBytes = r.Rewritten+1, r.RewrittenBytes+bytesOf(d)
	}
	for _, d := range ch.Add {
		r.Added, r.AddedBytes = r.Added+1, r.AddedBytes+bytesOf(d)
	}
	return r, nil
}

// write gathers the positions of a group and writes them anew. A position counts where its delete
// file applies to its data file: a later file of the same path is another one.
func (p *DeletesPlan) write(ctx context.Context, env RewriteEnv, spec RewriteSpec, x *deletesGroup) (added []*lake.DataFile, covered []string, err error) {
	t := p.table
	w := &plan.Write{Target: plan.WriteTarget{Table: t, Branch: spec.Branch, Base: p.snapshot, Schema: t.Schema()}}
	sink, err := dml.NewSink(w, 0)
	if err != nil {
		return nil, nil, err
	}
	defer func() { added = sink.Written() }()
	files := map[string]*lake.DataFile{}
	held := positionMemory{env: env}
	defer held.free()
	for _, d := range x.files {
		known := map[string]*lake.DataFile{} // by where they lie: a moved table's deletes spell paths as they were
		for _, f := range p.users[deleteKey(d)] {
			known[t.Resolve(f.Path)] = f
		}
		last, file := "", (*lake.DataFile)(nil)
		err := scan.ReadPositions(ctx, t, d, env.Exec.Scan, func(path string, pos int64) error {
			if path != last || file == nil {
				last, file = strings.Clone(path), known[t.Resolve(path)]
			}
			if file == nil {
				return nil
			}
			if pos < 0 || pos >= file.RecordCount {
				return sqlerr.New(sqlerr.DataCorrupted, "a position delete has position %d of %d rows", pos, file.RecordCount)
			}
			files[file.Path] = file
			first, err := sink.Touch(file.Path, pos)
			if err == nil && first {
				err = held.one(ctx)
			}
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	if len(files) == 0 {
		return nil, nil, nil
	}
	covered = sortedKeys(files)
	if t.FormatVersion() < 3 {
		_, err = sink.PositionDeletes(ctx, files)
	} else {
		_, err = sink.DeletionVectors(ctx, files, func(context.Context, *lake.DataFile) (*roaring64.Bitmap, error) { return roaring64.New(), nil })
	}
	return nil, covered, err
}

// positionMemory charges the positions that are held to the statement.
type positionMemory struct {
	env     RewriteEnv
	n       int64
	charged int64
}

// positionBlock is how many positions are charged at a time, at two bytes: so much a bitmap takes
// for each that lies alone, and less for those that lie near each other.
const positionBlock = 32 << 10

func (m *positionMemory) one(ctx context.Context) error {
	if m.n++; m.n%positionBlock != 1 {
		return nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := m.env.Exec.Account.Grow(2 * positionBlock); err != nil {
		return err
	}
	m.charged += 2 * positionBlock
	return nil
}

func (m *positionMemory) free() {
	if m.charged > 0 {
		m.env.Exec.Account.Shrink(m.charged)
	}
}
