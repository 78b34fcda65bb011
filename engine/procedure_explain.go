package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// EXPLAIN of a procedure: what it would do, and nothing is changed.

// maxExplainedGroups is how many groups EXPLAIN shows one by one.
const maxExplainedGroups = 20

// explainLine is one statement of EXPLAIN about a procedure.
type explainLine struct {
	depth int
	key   string
	value any
}

// calledIn is the procedure call of a statement that EXPLAIN stands before, and its table where ALTER
// TABLE … EXECUTE names one.
func calledIn(b *bind.Bound) (*bind.ProcedureCall, *bind.Relation) {
	switch {
	case b.Call != nil:
		return b.Call, nil
	case len(b.Alter) == 1 && b.Alter[0].Call != nil:
		return b.Alter[0].Call, b.Target
	}
	return nil, nil
}

// explainProcedure says what a procedure would do.
func (s *Session) explainProcedure(ctx context.Context, n *ast.Explain, c *bind.ProcedureCall, rel *bind.Relation, r *Result) error {
	if n.Analyze {
		return sqlerr.New(sqlerr.FeatureNotSupported, "EXPLAIN ANALYZE of a procedure is not supported").
			WithHint("EXPLAIN without ANALYZE shows what it would do; system.jobs shows one at work.").At(n.Pos)
	}
	p := procedureOf(c)
	a, err := p.arguments(strings.ToLower(c.Name[len(c.Name)-1]), c, rel)
	if err != nil {
		return err
	}
	a.result = r
	lines, err := p.explain(s, ctx, a)
	if err != nil {
		return err
	}
	cell := func(text string) []types.Datum {
		row := make([]types.Datum, len(r.columns))
		row[len(row)-1] = types.NewStr(text)
		return row
	}
	var rows [][]types.Datum
	switch n.Format {
	case "", "text", "tree", "traditional":
		for _, l := range lines {
			text := fmt.Sprintf("%s%s: %v", strings.Repeat("  ", l.depth), l.key, l.value)
			if l.depth == 0 {
				text = fmt.Sprintf("%s on %v", l.key, l.value)
			}
			rows = append(rows, cell(text))
		}
	default:
		text, err := explainLinesJSON(lines)
		if err == nil && n.Format != "json" {
			text, err = explainAs(n.Format, text)
		}
		if err != nil {
			return err
		}
		rows = append(rows, cell(text))
	}
	r.src = rowsSource(r.columns, rows)
	return nil
}

func explainLinesJSON(lines []explainLine) (string, error) {
	plan := map[string]any{}
	for _, l := range lines {
		if l.depth < 2 {
			plan[l.key] = l.value
			continue
		}
		list, _ := plan[l.key+" List"].([]any)
		plan[l.key+" List"] = append(list, l.value)
	}
	b, err := json.MarshalIndent([]any{map[string]any{"Plan": plan}}, "", "  ")
	return string(b), err
}

// explanation gathers what EXPLAIN says of a procedure.
type explanation struct{ lines []explainLine }

// explaining begins what is said of a procedure, and gives the table that it would act on.
func (s *Session) explaining(ctx context.Context, a *procedureArgs, what string) (*explanation, maintain.Target, error) {
	rel, err := a.relation(ctx, s)
	if err != nil {
		return nil, maintain.Target{}, err
	}
	t := rel.Table
	x := &explanation{}
	x.lines = append(x.lines, explainLine{0, what, t.Name.Namespace + "." + t.Name.Table})
	return x, maintain.Target{Catalog: s.catalogOf(t.Name.Catalog), Table: t, User: s.opts.User}, nil
}

func (x *explanation) add(key string, value any) {
	x.lines = append(x.lines, explainLine{1, key, value})
}

// bytes says how many bytes, of how many.
func (x *explanation) bytes(n, of int64) {
	x.add("Bytes", fmt.Sprintf("%s of %s", planner.BytesText(n), planner.BytesText(of)))
}

// groups lists the first of n groups.
func (x *explanation) groups(n int, text func(i int) string) {
	x.add("Groups", n)
	for i := range min(n, maxExplainedGroups) {
		x.lines = append(x.lines, explainLine{2, "Group", text(i)})
	}
	if n > maxExplainedGroups {
		x.add("Further Groups", n-maxExplainedGroups)
	}
}

// partitionName is a partition as EXPLAIN names it.
func partitionName(text string) string {
	if text == "" {
		return "all"
	}
	return text
}

// explainRewrite says which files a rewrite would make of which.
func (s *Session) explainRewrite(ctx context.Context, a *procedureArgs) ([]explainLine, error) {
	spec, err := s.rewriteSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	x, g, err := s.explaining(ctx, a, "Rewrite")
	if err != nil {
		return nil, err
	}
	p, err := maintain.PlanRewrite(ctx, g, s.rewriteEnv(ctx, a), spec)
	if err != nil {
		return nil, err
	}
	r := p.Expected()
	if spec.Branch != "" {
		x.add("Branch", spec.Branch)
	}
	x.add("Order", p.OrderText())
	x.add("Files", fmt.Sprintf("%d/%d", r.Rewritten, p.Files))
	x.bytes(r.Bytes, p.Bytes)
	if p.Left > 0 {
		x.add("Files Left for Another Call", p.Left)
	}
	x.add("New Files", r.Added)
	x.add("Delete Files Removed", r.RemovedDeletes)
	x.groups(len(p.Groups), func(i int) string {
		w := p.Groups[i]
		deletes := map[string]bool{}
		for _, t := range w.Tasks {
			for _, d := range t.Deletes {
				deletes[d.Path] = true
			}
		}
		return fmt.Sprintf("%s: %d files → %d, %d delete files, %s", partitionName(w.Partition), len(w.Tasks), w.Outputs, len(deletes), planner.BytesText(w.Bytes))
	})
	return x.lines, nil
}

// explainDeletes says which delete files would become one, or deletion vectors.
func (s *Session) explainDeletes(ctx context.Context, a *procedureArgs) ([]explainLine, error) {
	spec, err := s.rewriteSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	x, g, err := s.explaining(ctx, a, "Rewrite Deletes")
	if err != nil {
		return nil, err
	}
	p, err := maintain.PlanDeletes(ctx, g.Table, s.rewriteEnv(ctx, a), spec)
	if err != nil {
		return nil, err
	}
	r := p.Expected()
	if spec.Branch != "" {
		x.add("Branch", spec.Branch)
	}
	x.add("Files", fmt.Sprintf("%d/%d", r.Rewritten, p.Files))
	x.bytes(r.RewrittenBytes, p.Bytes)
	x.add("New Files", r.Added)
	x.add("Files Without Data", p.Dangling())
	x.groups(len(p.Groups()), func(i int) string {
		w := p.Groups()[i]
		return fmt.Sprintf("%s: %s → %d, %s", partitionName(w.Partition), plural(w.Files, "file"), w.Outputs, planner.BytesText(w.Bytes))
	})
	return x.lines, nil
}

// explainExpire says what an expiry would forget and remove.
func (s *Session) explainExpire(ctx context.Context, a *procedureArgs) ([]explainLine, error) {
	how, err := s.expireSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	x, g, err := s.explaining(ctx, a, "Expire Snapshots")
	if err != nil {
		return nil, err
	}
	how.DryRun = true
	r, err := maintain.ExpireSnapshots(ctx, g, how)
	if err != nil {
		return nil, definitionError(err)
	}
	x.add("Snapshots", fmt.Sprintf("%d/%d", len(r.Snapshots), len(g.Table.Snapshots())))
	if len(r.Refs) > 0 {
		x.add("Branches and Tags", strings.Join(r.Refs, ", "))
	}
	x.add("Files", r.Count())
	x.add("Bytes", planner.BytesText(r.Bytes))
	var kinds []lake.HeldKind
	for k, n := range r.Files {
		if n > 0 {
			kinds = append(kinds, lake.HeldKind(k))
		}
	}
	x.groups(len(kinds), func(i int) string { return plural(int(r.Files[kinds[i]]), kinds[i].String()) })
	return x.lines, nil
}

// explainOrphans says which files nothing holds.
func (s *Session) explainOrphans(ctx context.Context, a *procedureArgs) ([]explainLine, error) {
	o, err := s.orphansSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	x, g, err := s.explaining(ctx, a, "Remove Orphan Files")
	if err != nil {
		return nil, err
	}
	if err := s.elsewhere(ctx, g.Table); err != nil {
		return nil, err
	}
	o.DryRun = true
	paths, r, err := maintain.RemoveOrphanFiles(ctx, g, o)
	if err != nil {
		return nil, definitionError(err)
	}
	x.add("Files", r.Count())
	x.add("Bytes", planner.BytesText(r.Bytes))
	by := map[string]int{}
	for _, p := range paths {
		by[path.Dir(p)]++
	}
	folders := sortedKeys(by)
	x.groups(len(folders), func(i int) string { return fmt.Sprintf("%s: %s", folders[i], plural(by[folders[i]], "file")) })
	return x.lines, nil
}

// explainManifests says which manifests would be written anew.
func (s *Session) explainManifests(ctx context.Context, a *procedureArgs) ([]explainLine, error) {
	how, err := s.manifestsSpec(a)
	if err != nil {
		return nil, err
	}
	x, g, err := s.explaining(ctx, a, "Rewrite Manifests")
	if err != nil {
		return nil, err
	}
	how.DryRun = true
	r, err := maintain.RewriteManifests(ctx, g, how)
	if err != nil {
		return nil, definitionError(err)
	}
	x.add("Manifests", fmt.Sprintf("%d/%d", r.Replaced, r.Manifests))
	x.bytes(r.Bytes, r.ManifestBytes)
	x.add("New Manifests", r.Added)
	return x.lines, nil
}

// explainAdd says which files would become the table's.
func (s *Session) explainAdd(ctx context.Context, a *procedureArgs) ([]explainLine, error) {
	f, err := s.addSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	x, g, err := s.explaining(ctx, a, "Add Files")
	if err != nil {
		return nil, err
	}
	f.DryRun = true
	r, err := maintain.AddParquetFiles(ctx, g, f)
	if err != nil {
		return nil, definitionError(err)
	}
	x.add("Files", r.Files)
	x.add("Rows", r.Rows)
	x.add("Bytes", planner.BytesText(r.Bytes))
	x.groups(len(r.Groups), func(i int) string {
		w := r.Groups[i]
		return fmt.Sprintf("%s: %s, %s", partitionName(w.Partition), plural(w.Files, "file"), planner.BytesText(w.Bytes))
	})
	return x.lines, nil
}

// explainStats says what would be read to count a table's values.
func (s *Session) explainStats(ctx context.Context, a *procedureArgs) ([]explainLine, error) {
	columns, err := a.list("columns")
	if err != nil {
		return nil, err
	}
	snap, err := s.statsSnapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	x, g, err := s.explaining(ctx, a, "Count Values")
	if err != nil || snap == nil {
		return x.lines, err
	}
	p, err := maintain.PlanStatistics(ctx, g, s.rewriteEnv(ctx, a), snap, columns)
	if err != nil {
		return nil, err
	}
	x.add("Snapshot", snap.ID)
	x.add("Columns", strings.Join(p.Columns(), ", "))
	x.add("Files", p.Files)
	x.add("Bytes", planner.BytesText(p.Bytes))
	return x.lines, nil
}

// explainPartitionStats says what would be read to count the files of partitions.
func (s *Session) explainPartitionStats(ctx context.Context, a *procedureArgs) ([]explainLine, error) {
	snap, err := s.statsSnapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	x, g, err := s.explaining(ctx, a, "Count Partitions")
	if err != nil || snap == nil {
		return x.lines, err
	}
	p, err := maintain.PlanPartitionStatistics(ctx, g, s.rewriteEnv(ctx, a), snap)
	if err != nil {
		return nil, err
	}
	x.add("Snapshot", snap.ID)
	from := "nothing"
	if p.Base != nil {
		from = fmt.Sprintf("statistics of snapshot %d", p.Base.SnapshotID)
	}
	x.add("From", from)
	x.add("Manifests", p.Manifests)
	x.add("Bytes", planner.BytesText(p.ManifestBytes))
	return x.lines, nil
}
