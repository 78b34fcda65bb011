package maintain

import (
	"context"
	"fmt"

	"github.com/lhsql/lhsql/lake"
)

// Vacuum does what a table needs to be read fast, as Health measures it, and says what it did. It
// expires snapshots only if the table says how long they are to be kept.
func Vacuum(ctx context.Context, g Target, env RewriteEnv, spec RewriteSpec) (did []string, err error) {
	note := func(n int, format string, args ...any) {
		if n > 0 {
			did = append(did, fmt.Sprintf(format, args...))
		}
	}
	p, err := PlanRewrite(ctx, g, env, spec)
	if err != nil {
		return did, err
	}
	r, err := p.Run(ctx, env)
	note(r.Rewritten, "%d data files rewritten as %d", r.Rewritten, r.Added)
	note(r.RemovedDeletes, "%d delete files dropped", r.RemovedDeletes)
	note(r.Failed, "%d data files are to be rewritten still, other transactions changed them", r.Failed)
	if err != nil {
		return did, err
	}
	if g.Table, err = g.reload(ctx); err != nil {
		return did, err
	}
	d, err := RewritePositionDeletes(ctx, g, env, RewriteSpec{Statement: spec.Statement}, false)
	note(d.Rewritten, "%d delete files rewritten as %d", d.Rewritten, d.Added)
	if err != nil {
		return did, err
	}
	if g.Table, err = g.reload(ctx); err != nil {
		return did, err
	}
	replaced, count, _, err := g.manifestsNow(ctx)
	if err == nil && replaced-count >= manifestSlack {
		var m ManifestsResult
		m, err = RewriteManifests(ctx, g, lake.ManifestRewrite{})
		note(m.Replaced, "%d manifests rewritten as %d", m.Replaced, m.Added)
	}
	if err != nil || !expiresByItself(g.Table) {
		return did, err
	}
	x, err := ExpireSnapshots(ctx, g, Expire{})
	note(len(x.Snapshots), "%d snapshots expired", len(x.Snapshots))
	return did, err
}

// expiresByItself tells whether the table's owner has said how much of its history is to be kept.
func expiresByItself(t *lake.Table) bool {
	for _, k := range []string{"history.expire.max-snapshot-age-ms", "history.expire.min-snapshots-to-keep"} {
		if _, ok := t.Properties()[k]; ok {
			return t.MayRemove() == nil
		}
	}
	return false
}
