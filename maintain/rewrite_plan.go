package maintain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/types"
)

// RewritePlan is what a rewrite of data files will do, decided on one snapshot.
type RewritePlan struct {
	g        Target
	spec     RewriteSpec
	opt      rewriteOptions
	order    rewriteOrder
	snapshot *lake.Snapshot // nil: the branch has no data
	Groups   []*RewriteGroup
	Files    int // live data files, and their bytes
	Bytes    int64
	Rows     int64 // in them, deleted ones too
	Left     int   // candidates of partitions that are left for another run, since a plan of all takes too much memory
	held     *deleteUse
}

// RewriteGroup is some data files of one partition that are rewritten together: all of them, or none.
type RewriteGroup struct {
	Tasks     []plan.FileTask
	Bytes     int64
	Partition string // as a person reads it; "" for none, or for several
	Outputs   int    // files that are expected to come of it
	mixed     bool   // some are of another partition spec than the new files
}

// state is a branch's head, with its data files and what may delete rows of them.
type state struct {
	table    *lake.Table
	snapshot *lake.Snapshot
	tasks    []plan.FileTask // those that were to be kept
	chosen   map[string]bool // by path: files that the condition may match; nil: all
	uses     map[string]int  // by delete file: how many data files, kept or not, it may delete rows of; nil: those of tasks
	// All data files, kept or not: how many, and their bytes and rows.
	files       int
	bytes, rows int64

	budget, held int64         // bytes that may be held, and are; budget 0: any number
	account      *exec.Account // that is charged
	bound        string        // partitions from this one on are left out, where bounded is set
	bounded      bool
	left         int // files that were to be kept and were left out
}

// list reads all data files of a branch's head. where, with the scan that it reads, chooses.
func list(ctx context.Context, env RewriteEnv, t *lake.Table, branch string, where *RewriteWhere) (*state, error) {
	return listSome(ctx, env, t, branch, where, 0, func(*state, *plan.FileTask) bool { return true })
}

// listSome is list that keeps some of the files: of a table of very many nobody has to hold all. What it
// keeps is charged to the statement. Where that would be more than budget, whole partitions are left out.
func listSome(ctx context.Context, env RewriteEnv, t *lake.Table, branch string, where *RewriteWhere, budget int64, keep func(*state, *plan.FileTask) bool) (*state, error) {
	snap, err := t.Head(branch)
	if err != nil {
		return nil, err
	}
	s := &state{table: t, snapshot: snap, uses: map[string]int{}, budget: budget, account: env.Exec.Account}
	if snap == nil {
		return s, nil
	}
	if where != nil {
		if err := s.choose(ctx, env, where); err != nil {
			return nil, err
		}
	}
	err = planner.EachFile(env.Planner(ctx), t, snap, func(task plan.FileTask) error {
		f := task.File
		s.files++
		s.bytes += f.FileSize
		s.rows += f.RecordCount
		s.use(&task)
		if !keep(s, &task) {
			return nil
		}
		return s.keep(task)
	})
	return s, err
}

func (s *state) keep(task plan.FileTask) error {
	if s.bounded && planner.PartitionKey(task.File) >= s.bound {
		s.left++
		return nil
	}
	n := taskMemory(&task)
	if err := s.account.Grow(n); err != nil {
		return err
	}
	s.held += n
	own := *task.File // the manifest's others may go
	task.File = &own
	s.tasks = append(s.tasks, task)
	if s.budget > 0 && s.held > s.budget {
		s.leaveOut()
	}
	return nil
}

// taskMemory is about what a listed file takes.
func taskMemory(t *plan.FileTask) int64 {
	return 500 + int64(len(t.File.Path)) + 8*int64(len(t.Deletes))
}

// leaveOut takes the last partitions, by their keys, out until three quarters of the budget are left, or
// one partition, which then gets no more files.
func (s *state) leaveOut() {
	by := map[string]int64{}
	keys := make([]string, len(s.tasks))
	for i := range s.tasks {
		keys[i] = planner.PartitionKey(s.tasks[i].File)
		by[keys[i]] += taskMemory(&s.tasks[i])
	}
	order := sortedKeys(by)
	held, n := by[order[0]], 1
	for n < len(order) && held+by[order[n]] <= s.budget/4*3 {
		held, n = held+by[order[n]], n+1
	}
	if s.bounded = true; n < len(order) {
		s.bound = order[n]
	} else {
		s.bound = "" // one partition is all that fits
		return
	}
	var rest []plan.FileTask
	for i := range s.tasks {
		if keys[i] < s.bound {
			rest = append(rest, s.tasks[i])
		} else {
			s.left++
		}
	}
	s.account.Shrink(s.held - held)
	s.tasks, s.held = rest, held
}

// choose notes which files the condition may match.
func (s *state) choose(ctx context.Context, env RewriteEnv, where *RewriteWhere) error {
	some := *where.Scan
	some.Table, some.Snapshot, some.Schema = s.table, s.snapshot, s.table.Schema()
	for _, c := range slices.Concat(some.Cols, some.PredCols) {
		if f, _ := some.Schema.ByID(c.FieldID); f == nil && c.FieldID < lake.FirstReservedID {
			return sqlerr.New(sqlerr.SerializationFailure, "another transaction dropped column %q of table %s", c.Name, s.table.Name.Table)
		}
	}
	chosen, err := tasksOf(ctx, env, &plan.Filter{Input: &some, Pred: where.Pred})
	if err != nil {
		return err
	}
	s.chosen = map[string]bool{}
	for i := range chosen {
		s.chosen[chosen[i].File.Path] = true
	}
	return nil
}

// filesOf is a scan of all data files of a snapshot, with the columns of a schema.
func filesOf(t *lake.Table, snap *lake.Snapshot, s *lake.Schema) *plan.Scan {
	return &plan.Scan{Table: t, Snapshot: snap, Schema: s, Alias: t.Name.Table,
		Cols: []plan.ScanColumn{{Column: plan.Column{ID: 1, Name: "_file", Type: types.T(types.Text)}, FieldID: plan.HiddenFile}}}
}

// tasksOf plans n and gives the files that its scan would read.
func tasksOf(ctx context.Context, env RewriteEnv, n plan.Node) ([]plan.FileTask, error) {
	n, err := planner.Plan(env.Planner(ctx), n)
	if err != nil {
		return nil, err
	}
	var out []plan.FileTask
	plan.Walk(n, func(n plan.Node) {
		if s, ok := n.(*plan.Scan); ok {
			out = append(out, s.Tasks...)
		}
	})
	return out, nil
}

// PlanRewrite decides what is to be rewritten.
func PlanRewrite(ctx context.Context, g Target, env RewriteEnv, spec RewriteSpec) (*RewritePlan, error) {
	p := &RewritePlan{g: g, spec: spec}
	t := g.Table
	var err error
	if p.opt, err = dataFileOptions(t, spec.Options); err != nil {
		return nil, err
	}
	switch strategy := strings.ToLower(spec.Strategy); strategy {
	case "", "binpack":
		if spec.SortOrder != "" {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "sort_order goes with the strategy sort, not with binpack")
		}
		p.order = tableOrder(t)
	case "sort":
		if p.order, err = sortOf(t, spec.SortOrder); err != nil {
			return nil, err
		}
	default:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "unknown strategy %q: it is binpack or sort", spec.Strategy).
			WithHint("zorder is a sort order: strategy => 'sort', sort_order => 'zorder(a, b)'.")
	}
	if err := writable(t, p.opt.specID); err != nil {
		return nil, err
	}
	s, err := listSome(ctx, env, t, spec.Branch, spec.Where, env.PlanMemory, func(s *state, task *plan.FileTask) bool {
		return (s.chosen == nil || s.chosen[task.File.Path]) && p.candidate(task)
	})
	if err != nil {
		return nil, err
	}
	p.snapshot, p.Files, p.Bytes, p.Rows, p.Left = s.snapshot, s.files, s.bytes, s.rows, s.left
	if err := p.use(ctx, s); err != nil {
		return nil, err
	}
	p.group(s)
	return p, nil
}

func sortOf(t *lake.Table, text string) (rewriteOrder, error) {
	if strings.TrimSpace(text) != "" {
		return parseOrder(t, text)
	}
	o := tableOrder(t)
	if len(o.keys) == 0 {
		return o, sqlerr.New(sqlerr.InvalidParameterValue, "the strategy sort needs sort_order: table %s has no order of its own", t.Name.Table).
			WithHint("ALTER TABLE … WRITE ORDERED BY … gives it one.")
	}
	return o, nil
}

// writable refuses, before anything is read, tables that cannot be written as they are: a type that
// would be lost, or a partition transform that is not known.
func writable(t *lake.Table, specID int) error {
	if t.Moved() {
		return sqlerr.New(sqlerr.FeatureNotSupported, "table %s was moved: its metadata names %s, so it can only be read", t.Name.Table, t.Location())
	}
	for i := range t.Schema().Fields {
		f := &t.Schema().Fields[i]
		if bad := f.Unreadable(); bad != "" {
			return sqlerr.New(sqlerr.FeatureNotSupported, "column %q has the Iceberg type %s, which is not supported: its files cannot be rewritten", f.Name, bad)
		}
	}
	for _, f := range t.Spec(specID).Fields {
		if f.Transform.Kind == lake.UnknownTransform {
			return sqlerr.New(sqlerr.FeatureNotSupported, "the partition transform %s is not known, so the table's files cannot be rewritten", f.Transform.Text)
		}
	}
	return nil
}

// group chooses candidates and packs those of one partition together.
func (p *RewritePlan) group(s *state) {
	byPartition := map[string][]plan.FileTask{}
	var order []string
	for i := range s.tasks {
		t := &s.tasks[i]
		if s.chosen != nil && !s.chosen[t.File.Path] || !p.candidate(t) {
			continue
		}
		// Rows of a file of another partition spec may belong in several partitions of the new one:
		// all such files go together, so that as few new files as can be come of them.
		key := ""
		if t.File.SpecID == p.opt.specID {
			key = planner.PartitionKey(t.File)
		}
		if byPartition[key] == nil {
			order = append(order, key)
		}
		byPartition[key] = append(byPartition[key], *t)
	}
	slices.Sort(order) // so that runs are alike
	for _, k := range order {
		p.pack(byPartition[k])
	}
	p.sortGroups()
	if n := p.opt.maxFiles; n > 0 {
		p.limit(n)
	}
}

// pack cuts the candidates of a partition into groups of at most maxGroup bytes.
func (p *RewritePlan) pack(tasks []plan.FileTask) {
	// Files that were written one after the other stay neighbours.
	slices.SortStableFunc(tasks, func(a, b plan.FileTask) int {
		return cmp.Or(cmp.Compare(a.File.DataSeq, b.File.DataSeq), cmp.Compare(a.File.FileSeq, b.File.FileSeq))
	})
	var group []plan.FileTask
	var bytes int64
	flush := func() {
		if len(group) > 0 && p.worthwhile(group, bytes) {
			p.Groups = append(p.Groups, p.newGroup(group, bytes))
		}
		group, bytes = nil, 0
	}
	for _, t := range tasks {
		if bytes+t.File.FileSize > p.opt.maxGroup {
			flush()
		}
		group, bytes = append(group, t), bytes+t.File.FileSize
	}
	flush()
}

func (p *RewritePlan) newGroup(tasks []plan.FileTask, bytes int64) *RewriteGroup {
	g := &RewriteGroup{Tasks: tasks, Bytes: bytes, Outputs: p.opt.outputFiles(bytes)}
	for i := range tasks {
		g.mixed = g.mixed || tasks[i].File.SpecID != p.opt.specID
	}
	if !g.mixed {
		g.Partition = partitionText(p.g.Table.Spec(p.opt.specID), tasks[0].File.Partition)
	}
	return g
}

// candidate tells whether a file is to be rewritten if enough others are.
func (p *RewritePlan) candidate(t *plan.FileTask) bool {
	return p.opt.rewriteAll || t.File.FileSize < p.opt.min || t.File.FileSize > p.opt.max || p.manyDeletes(t) || p.misplaced(t)
}

// manyDeletes tells whether so many deletes apply to a file that it is worth to be rewritten alone.
func (p *RewritePlan) manyDeletes(t *plan.FileTask) bool {
	if len(t.Deletes) >= p.opt.deleteFiles {
		return true
	}
	known := int64(0)
	for _, d := range t.Deletes {
		if d.Content == lake.DeletionVector || d.Content == lake.PositionDeletes && planner.OnlyFile(d) != "" {
			known += d.RecordCount
		}
	}
	rows := t.File.RecordCount
	return known > 0 && rows > 0 && float64(min(known, rows))/float64(rows) >= p.opt.deleteRatio
}

// misplaced tells whether a file is not what was asked for by name: of the partition spec that
// output-spec-id gives, or in the table's order that the strategy sort makes.
func (p *RewritePlan) misplaced(t *plan.FileTask) bool {
	return p.opt.specGiven && t.File.SpecID != p.opt.specID ||
		strings.EqualFold(p.spec.Strategy, "sort") && p.order.claim != 0 && t.File.SortOrderID != p.order.claim
}

// worthwhile tells whether rewriting the group leaves the table better than it was.
func (p *RewritePlan) worthwhile(tasks []plan.FileTask, bytes int64) bool {
	n := len(tasks)
	if p.opt.rewriteAll || n > 1 && (n >= p.opt.minInputFiles || bytes > p.opt.target) || bytes > p.opt.max {
		return true
	}
	for i := range tasks {
		if p.manyDeletes(&tasks[i]) || p.misplaced(&tasks[i]) {
			return true
		}
	}
	return false
}

func (p *RewritePlan) sortGroups() {
	by := func(f func(*RewriteGroup) int64, desc bool) {
		slices.SortStableFunc(p.Groups, func(a, b *RewriteGroup) int {
			if desc {
				a, b = b, a
			}
			return cmp.Compare(f(a), f(b))
		})
	}
	bytes := func(g *RewriteGroup) int64 { return g.Bytes }
	files := func(g *RewriteGroup) int64 { return int64(len(g.Tasks)) }
	switch p.opt.order {
	case "bytes-asc", "bytes-desc":
		by(bytes, p.opt.order == "bytes-desc")
	case "files-asc", "files-desc":
		by(files, p.opt.order == "files-desc")
	}
}

// limit keeps the first n files of the groups.
func (p *RewritePlan) limit(n int) {
	for i, g := range p.Groups {
		if n <= 0 {
			p.Groups = p.Groups[:i]
			return
		}
		if len(g.Tasks) > n {
			bytes := int64(0)
			for _, t := range g.Tasks[:n] {
				bytes += t.File.FileSize
			}
			p.Groups[i] = p.newGroup(g.Tasks[:n], bytes)
		}
		n -= len(g.Tasks)
	}
}

// partitionText spells a partition as a person reads it.
func partitionText(spec *lake.PartitionSpec, values []types.Datum) string {
	var parts []string
	for i, f := range spec.Fields {
		if f.Transform.Kind == lake.Void || i >= len(values) {
			continue
		}
		v := "NULL"
		if !values[i].IsNull() {
			v = f.Transform.HumanValue(values[i], f.Iceberg)
		}
		parts = append(parts, fmt.Sprintf("%s=%s", f.Name, v))
	}
	return strings.Join(parts, ", ")
}

// Dangling is how many delete files will go because no data file is left for them.
func (p *RewritePlan) Dangling() int {
	if !p.opt.dangling {
		return 0
	}
	return len(p.held.dangling(p.Groups))
}
