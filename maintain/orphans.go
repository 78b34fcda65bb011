package maintain

import (
	"context"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// OrphanAge is the age below which a file is never taken for an orphan: it may be of a write that
// has not committed yet. DefaultOrphanAge is what holds where the caller says none.
const (
	OrphanAge        = 24 * time.Hour
	DefaultOrphanAge = 3 * 24 * time.Hour
)

// Orphans says which files nobody holds are to be removed.
type Orphans struct {
	OlderThan  *time.Time
	Folder     string // "": all of the table's
	Mismatch   lake.MismatchMode
	Concurrent int
	DryRun     bool
}

// RemoveOrphanFiles removes files in the table's folders that nothing of the table holds: what
// writers that died left, what an expiry could not remove, metadata files that have left the log. It
// gives their paths, and how it went.
func RemoveOrphanFiles(ctx context.Context, g Target, o Orphans) ([]string, Removed, error) {
	if err := g.Table.MayRemove(); err != nil {
		return nil, Removed{}, err
	}
	now := clock.Now(ctx)
	before := now.Add(-DefaultOrphanAge)
	if o.OlderThan != nil {
		if before = *o.OlderThan; now.Sub(before) < OrphanAge {
			return nil, Removed{}, sqlerr.New(sqlerr.InvalidParameterValue, "files of the last 24 hours cannot be removed as orphans").
				WithHint("They may be of writes that have not committed yet. Give an instant that is longer ago.")
		}
	}
	g.Job.Phase("list")
	list, err := lake.Orphans(ctx, g.Catalog, g.Table, lake.OrphanSearch{Folder: o.Folder, Before: before, Mismatch: o.Mismatch})
	if err != nil {
		return nil, Removed{}, err
	}
	g.Job.Phase("remove")
	r := newRemover(ctx, g, o.Concurrent, o.DryRun)
	paths := make([]string, len(list))
	for i, f := range list {
		paths[i] = f.Path
		if err == nil {
			err = r.add(&lake.Held{Path: f.Path, Size: f.Size})
		}
	}
	removed := r.wait()
	if err == nil {
		err = ctx.Err()
	}
	return paths, removed, err
}
