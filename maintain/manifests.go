package maintain

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// planAgain is how often a rewrite that lost its race is planned anew.
const planAgain = 5

// ManifestsResult is what rewriting manifests did, or would do.
type ManifestsResult struct {
	Replaced, Added int
	Bytes           int64 // of those that were replaced
	// Manifests are those of the branch before, and their bytes.
	Manifests     int
	ManifestBytes int64
}

// RewriteManifests writes the manifests of a branch anew, clustered by partition: none where they are well
// as they are.
func RewriteManifests(ctx context.Context, g Target, how lake.ManifestRewrite) (ManifestsResult, error) {
	for try := 1; ; try++ {
		var r ManifestsResult
		t, err := g.reload(ctx)
		if err != nil {
			return r, err
		}
		snap, err := t.Head(how.Branch)
		if err != nil || snap == nil {
			return r, err
		}
		were, err := t.Manifests(ctx, snap)
		if err != nil {
			return r, err
		}
		g.Job.Phase("rewrite")
		n, err := lake.RewriteManifests(ctx, t, snap, how)
		if err != nil {
			return r, err
		}
		r.Replaced, r.Bytes = len(n.Remove), lengths(n.Remove)
		r.Manifests, r.ManifestBytes = len(were), lengths(were)
		if r.Added = n.Count; r.Replaced == 0 || how.DryRun {
			return r, nil
		}
		g.Job.Phase("commit")
		_, err = g.commit(ctx, lake.Change{Base: t, Snapshot: snap, Branch: how.Branch, Manifests: n, Statement: "CALL rewrite_manifests"})
		if err == nil {
			r.Added = len(n.Add)
			return r, nil
		}
		if lake.Outcome(err) != lake.Unknown {
			n.Discard(ctx, t)
		}
		if sqlerr.CodeOf(err) != sqlerr.SerializationFailure || try == planAgain {
			return ManifestsResult{}, err
		}
	}
}

// lengths is the size of manifests, in bytes.
func lengths(ms []*lake.Manifest) int64 {
	n := int64(0)
	for _, m := range ms {
		n += m.Length
	}
	return n
}
