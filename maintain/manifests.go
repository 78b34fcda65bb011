package maintain

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// planAgain is how often a rewrite that lost its race is planned anew.
const planAgain = 5

// RewriteManifests writes the manifests of a branch anew, clustered by partition. It gives how many
// were replaced and how many took their place: none where they are well as they are.
func RewriteManifests(ctx context.Context, g Target, how lake.ManifestRewrite) (replaced, added int, err error) {
	for try := 1; ; try++ {
		t, err := g.reload(ctx)
		if err != nil {
			return 0, 0, err
		}
		snap, err := t.Head(how.Branch)
		if err != nil || snap == nil {
			return 0, 0, err
		}
		g.Job.Phase("rewrite")
		n, err := lake.RewriteManifests(ctx, t, snap, how)
		if err != nil || len(n.Remove) == 0 || how.DryRun {
			return len(n.Remove), n.Count, err
		}
		g.Job.Phase("commit")
		_, err = g.commit(ctx, lake.Change{Base: t, Snapshot: snap, Branch: how.Branch, Manifests: n, Statement: "CALL rewrite_manifests"})
		if err == nil {
			return len(n.Remove), len(n.Add), nil
		}
		if lake.Outcome(err) != lake.Unknown {
			n.Discard(ctx, t)
		}
		if sqlerr.CodeOf(err) != sqlerr.SerializationFailure || try == planAgain {
			return 0, 0, err
		}
	}
}
