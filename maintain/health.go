package maintain

import (
	"context"
	"fmt"

	"github.com/lhsql/lhsql/lake"
)

// Measure is one thing that tells how a table fares.
type Measure struct {
	Name      string
	Value     int64
	Threshold *int64 // beyond it (or below it, of a mean) something should be done; nil: nothing follows from the value
	// Advice is the statement that would mend what is beyond its threshold; "" where all is well. It
	// names the table as the caller spells it.
	Advice string
}

// Health measures a table, by the head of main. What it advises is decided by the very plans of the
// procedures that it advises: the statement would do something. name is the table in statements;
// orphans are the bytes that were found when orphans were last looked for, nil if nobody has looked.
func Health(ctx context.Context, g Target, env RewriteEnv, name string, orphans *int64) ([]Measure, error) {
	t := g.Table
	p, err := PlanRewrite(ctx, g, env, RewriteSpec{})
	if err != nil {
		return nil, err
	}
	quoted := "'" + quoteText(name) + "'"
	var out []Measure
	add := func(m string, value int64, threshold int64, bad bool, advice string) {
		x := Measure{Name: m, Value: value}
		if threshold >= 0 {
			x.Threshold = &threshold
		}
		if bad {
			x.Advice = advice
		}
		out = append(out, x)
	}
	rewrite := p.Expected()
	add("data_files", int64(p.Files), -1, false, "")
	add("data_bytes", p.Bytes, -1, false, "")
	mean := int64(0)
	if p.Files > 0 {
		mean = p.Bytes / int64(p.Files)
	}
	add("mean_file_bytes", mean, p.opt.target, false, "")
	add("files_to_rewrite", int64(rewrite.Rewritten), 0, rewrite.Rewritten > 0, "CALL system.rewrite_data_files("+quoted+")")
	deletes, err := p.deletes(ctx, g, env, quoted)
	if err != nil {
		return nil, err
	}
	out = append(out, deletes...)
	replaced, count, manifests, err := g.manifestsNow(ctx)
	if err != nil {
		return nil, err
	}
	// A rewrite of some few would win nothing that a query could feel.
	add("manifests", int64(manifests), int64(count+manifestSlack), replaced-count >= manifestSlack, "CALL system.rewrite_manifests("+quoted+")")
	kept, err := g.kept(ctx)
	if err != nil {
		return nil, err
	}
	snapshots := int64(len(t.Snapshots()))
	expire := "CALL system.expire_snapshots(" + quoted + ")"
	if t.MayRemove() != nil {
		expire = ""
	}
	add("snapshots", snapshots, kept, snapshots > kept, expire)
	size := t.MetadataBytes()
	add("metadata_bytes", size, maxMetadataBytes, size > maxMetadataBytes && snapshots > kept, expire)
	if orphans != nil {
		add("orphan_bytes", *orphans, 0, *orphans > 0, "CALL system.remove_orphan_files("+quoted+")")
	}
	return out, nil
}

const (
	// manifestSlack is how many manifests more than needed a table may have.
	manifestSlack = 10
	// maxMetadataBytes is the size of a metadata file from which on each commit, which writes it anew,
	// takes noticeably longer.
	maxMetadataBytes = 8 << 20
)

// deletes measures delete files.
func (p *RewritePlan) deletes(ctx context.Context, g Target, env RewriteEnv, quoted string) ([]Measure, error) {
	var files, positions, equality, rows int64
	for _, d := range p.held.files {
		files++
		if d.Content == lake.EqualityDeletes {
			equality++
		} else {
			positions += d.RecordCount
		}
	}
	rows = p.Rows
	percent := int64(0)
	if rows > 0 {
		percent = positions * 100 / rows
	}
	zero, limit := int64(0), int64(p.opt.deleteRatio*100)
	d, err := RewritePositionDeletes(ctx, g, env, RewriteSpec{}, true)
	if err != nil {
		return nil, err
	}
	m := []Measure{{Name: "delete_files", Value: files}, {Name: "equality_delete_files", Value: equality, Threshold: &zero},
		{Name: "deleted_rows_percent", Value: percent, Threshold: &limit}, {Name: "delete_files_to_rewrite", Value: int64(d.Rewritten), Threshold: &zero}}
	if equality > 0 {
		m[1].Advice = fmt.Sprintf("CALL system.rewrite_data_files(%s, options => map('delete-file-threshold', '1'))", quoted)
	}
	if d.Rewritten > 0 {
		m[3].Advice = "CALL system.rewrite_position_delete_files(" + quoted + ")"
	}
	return m, nil
}

// manifestsNow counts the manifests of main, and what a rewrite would make of them.
func (g Target) manifestsNow(ctx context.Context) (replaced, count, all int, err error) {
	snap := g.Table.CurrentSnapshot()
	if snap == nil {
		return 0, 0, 0, nil
	}
	ms, err := g.Table.Manifests(ctx, snap)
	if err != nil {
		return 0, 0, 0, err
	}
	n, err := lake.RewriteManifests(ctx, g.Table, snap, lake.ManifestRewrite{DryRun: true})
	if err != nil {
		return 0, 0, 0, err
	}
	if len(n.Remove) == 0 {
		return 0, len(ms), len(ms), nil
	}
	return len(n.Remove), n.Count, len(ms), nil
}

// kept is how many snapshots an expiry would leave.
func (g Target) kept(ctx context.Context) (int64, error) {
	var x Expire
	t, err := g.Table.Try(ctx, func(e *lake.Edit) error {
		_, err := x.choose(ctx, g.Table, e)
		return err
	})
	if err != nil {
		return 0, err
	}
	return int64(len(t.Snapshots())), nil
}

func quoteText(s string) string {
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] == '\'' {
			out = append(out, '\'')
		}
		out = append(out, s[i])
	}
	return string(out)
}
