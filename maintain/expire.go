package maintain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Expire says which snapshots a table is to forget. What is not given, the table's properties say
// (history.expire.max-snapshot-age-ms, 5 days; history.expire.min-snapshots-to-keep, 1;
// history.expire.max-ref-age-ms, for ever).
type Expire struct {
	OlderThan  *time.Time
	RetainLast *int
	// SnapshotIDs go whatever their age, but the heads of branches and tags.
	SnapshotIDs []int64
	// CleanMetadata also forgets schemas and partition specs that nothing kept was written with.
	CleanMetadata bool
	// Concurrent is how many files are removed at a time; 0: as the server thinks best.
	Concurrent int
	DryRun     bool
}

// Expired is what an expiry did.
type Expired struct {
	Snapshots []int64
	Refs      []string // branches and tags that had outlived their own max-ref-age-ms
	Removed
}

// ExpireSnapshots forgets snapshots and removes the files that nothing else of the table holds.
//
// Which are kept is decided on the very state that the commit goes onto, as the format says
// (spec, "Snapshot Retention Policy"): the head of every branch and tag; of each branch as many of
// the snapshots that lead to its head as its own properties or the table's want, by count and by
// age; and snapshots that no ref leads to, such as staged ones, while they are younger than
// OlderThan. A ref goes only by its own age, main never.
//
// A crash after the commit leaves files that nothing holds, for RemoveOrphanFiles.
func ExpireSnapshots(ctx context.Context, g Target, x Expire) (Expired, error) {
	if err := g.Table.MayRemove(); err != nil {
		return Expired{}, err
	}
	if err := lake.Alone(ctx, g.Catalog, g.Table); err != nil {
		return Expired{}, err
	}
	var out Expired
	var before *lake.Table
	edit := func(e *lake.Edit) error {
		before = g.Table.Edited(e)
		var err error
		out, err = x.choose(ctx, before, e)
		return err
	}
	after, err := g.expired(ctx, x, edit)
	if err != nil {
		return Expired{}, err
	}
	if len(out.Snapshots) == 0 {
		return out, nil
	}
	g.Job.Phase("remove")
	gone := make([]*lake.Snapshot, 0, len(out.Snapshots))
	for _, id := range out.Snapshots {
		gone = append(gone, before.SnapshotByID(id))
	}
	r := newRemover(ctx, g, x.Concurrent, x.DryRun)
	err = lake.Released(ctx, before, gone, after, r.add)
	out.Removed = r.wait()
	if err != nil {
		return out, err
	}
	return out, ctx.Err()
}

// expired commits the edit, or tries it, and gives the state of the table as it is by then.
func (g Target) expired(ctx context.Context, x Expire, edit func(*lake.Edit) error) (*lake.Table, error) {
	if x.DryRun {
		t, err := g.reload(ctx)
		if err != nil {
			return nil, err
		}
		return t.Try(ctx, edit)
	}
	if _, err := g.commit(ctx, lake.Change{Base: g.Table, MovesRefs: true, Statement: "CALL expire_snapshots", Edit: edit}); err != nil {
		return nil, err
	}
	// Others may have committed since: what they hold stays.
	return g.reload(ctx)
}

// choose takes the snapshots and refs that go out of the metadata.
func (x *Expire) choose(ctx context.Context, t *lake.Table, e *lake.Edit) (Expired, error) {
	var out Expired
	p, err := x.policy(ctx, t)
	if err != nil {
		return out, err
	}
	byID := map[int64]*lake.Snapshot{}
	for _, s := range t.Snapshots() {
		byID[s.ID] = s
	}
	keep := map[int64]bool{}
	led := map[int64]bool{} // a kept ref leads to it
	heads := map[int64][]string{}
	for _, r := range t.Refs() {
		head := byID[r.SnapshotID]
		if r.Name != "main" && (head == nil || p.now.Sub(head.Time) > orAge(r.MaxRefAgeMs, p.refAge)) {
			out.Refs = append(out.Refs, r.Name)
			if err := e.DropRef(r.Name, r.Branch, false); err != nil {
				return out, err
			}
			continue
		}
		if head == nil {
			continue
		}
		keep[head.ID], led[head.ID] = true, true
		heads[head.ID] = append(heads[head.ID], r.Name)
		if r.Branch {
			p.branch(r, head, byID, keep, led)
		}
	}
	ids := map[int64]bool{}
	for _, id := range x.SnapshotIDs {
		switch {
		case byID[id] == nil:
			return out, sqlerr.New(sqlerr.UndefinedObject, "snapshot %d does not exist", id)
		case heads[id] != nil:
			return out, sqlerr.New(sqlerr.DependentObjectsExist, "snapshot %d cannot be expired: it is the head of %s", id, strings.Join(heads[id], ", "))
		}
		ids[id] = true
	}
	for _, s := range t.Snapshots() {
		young := !led[s.ID] && !s.Time.Before(p.olderThan)
		if ids[s.ID] || !keep[s.ID] && !young {
			out.Snapshots = append(out.Snapshots, s.ID)
		}
	}
	for _, r := range t.Refs() {
		// A branch that moves meanwhile is a reason to look again, on catalogs that edit by themselves.
		if !slices.Contains(out.Refs, r.Name) && len(out.Snapshots) > 0 {
			if err := e.RequireRef(r.Name, &r.SnapshotID); err != nil {
				return out, err
			}
		}
	}
	if err := e.RemoveSnapshots(out.Snapshots); err != nil {
		return out, err
	}
	if x.CleanMetadata {
		return out, cleanMetadata(ctx, t, e)
	}
	return out, nil
}

// retention is what a table keeps where its branches and tags do not say otherwise.
type retention struct {
	now, olderThan time.Time
	last           int // snapshots of a branch
	refAge         time.Duration
}

func (x *Expire) policy(ctx context.Context, t *lake.Table) (retention, error) {
	props := t.Properties()
	p := retention{now: clock.Now(ctx)}
	age, err := durationOf(props, "history.expire.max-snapshot-age-ms", 5*24*time.Hour)
	if err != nil {
		return p, err
	}
	if p.refAge, err = durationOf(props, "history.expire.max-ref-age-ms", forever); err != nil {
		return p, err
	}
	last, err := numberOf(props, "history.expire.min-snapshots-to-keep", 1)
	if err != nil {
		return p, err
	}
	p.olderThan, p.last = p.now.Add(-age), int(last)
	if x.OlderThan != nil {
		p.olderThan = *x.OlderThan
	}
	if x.RetainLast != nil {
		p.last = *x.RetainLast
	}
	if p.last < 1 {
		return p, sqlerr.New(sqlerr.InvalidParameterValue, "the number of snapshots to retain must be at least 1, not %d", p.last)
	}
	return p, nil
}

// branch keeps what a branch wants of the snapshots that lead to its head.
func (p *retention) branch(r lake.Ref, head *lake.Snapshot, byID map[int64]*lake.Snapshot, keep, led map[int64]bool) {
	last, since := p.last, p.olderThan
	if r.MinSnapshotsToKeep != nil {
		last = *r.MinSnapshotsToKeep
	}
	if r.MaxSnapshotAgeMs != nil {
		since = p.now.Add(-orAge(r.MaxSnapshotAgeMs, 0))
	}
	kept, ended := 0, false
	seen := map[int64]bool{}
	for s := head; s != nil && !seen[s.ID]; {
		seen[s.ID], led[s.ID] = true, true
		if !ended && (kept < last || !s.Time.Before(since)) {
			keep[s.ID] = true
			kept++
		} else {
			ended = true // history has no holes: who is older than one that goes, goes
		}
		if s.ParentID == nil {
			break
		}
		s = byID[*s.ParentID]
	}
}

// forever is an age that nothing reaches.
const forever = time.Duration(1<<63 - 1)

// orAge is an age in milliseconds, or another where it is not given.
func orAge(ms *int64, or time.Duration) time.Duration {
	if ms == nil {
		return or
	}
	return milliseconds(*ms)
}

func milliseconds(ms int64) time.Duration {
	if ms > int64(forever/time.Millisecond) {
		return forever
	}
	return time.Duration(ms) * time.Millisecond
}

func durationOf(props map[string]string, key string, or time.Duration) (time.Duration, error) {
	ms, err := numberOf(props, key, -1)
	if err != nil || ms < 0 {
		return or, err
	}
	return milliseconds(ms), nil
}

// numberOf reads a property that says what may be removed: one that cannot be read never means its
// default.
func numberOf(props map[string]string, key string, or int64) (int64, error) {
	v, ok := props[key]
	if !ok {
		return or, nil
	}
	n, err := strconv.ParseInt(v, 10, 64)
	if err != nil || n < 0 {
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "the table property %s is %q, which is no number", key, v)
	}
	return n, nil
}

// cleanMetadata forgets what nothing kept was written with.
func cleanMetadata(ctx context.Context, t *lake.Table, e *lake.Edit) error {
	now := e.Table()
	schemas, specs := map[int]bool{now.Schema().ID: true}, map[int]bool{now.DefaultSpec().ID: true}
	for _, s := range now.Snapshots() {
		schemas[t.SnapshotSchema(s).ID] = true
		ms, err := t.Manifests(ctx, s)
		if err != nil {
			return fmt.Errorf("find the partition specs in use: %w", err)
		}
		for _, m := range ms {
			specs[m.SpecID] = true
		}
	}
	// A partition field's type is its source column's, and the column may have been dropped.
	for _, sp := range now.Specs() {
		if specs[sp.ID] {
			keepSources(now, sp, schemas)
		}
	}
	var oldSchemas, oldSpecs []int
	for _, s := range now.Schemas() {
		if !schemas[s.ID] {
			oldSchemas = append(oldSchemas, s.ID)
		}
	}
	for _, s := range now.Specs() {
		if !specs[s.ID] {
			oldSpecs = append(oldSpecs, s.ID)
		}
	}
	if err := e.RemoveSchemas(oldSchemas); err != nil {
		return err
	}
	return e.RemoveSpecs(oldSpecs)
}

// keepSources adds the newest schemas that still have the columns which a spec's fields are made of.
func keepSources(t *lake.Table, sp *lake.PartitionSpec, schemas map[int]bool) {
	for _, f := range sp.Fields {
		for _, id := range f.SourceIDs {
			has := func(s *lake.Schema) bool { f, _ := s.ByID(id); return f != nil }
			list := t.Schemas()
			if slices.ContainsFunc(list, func(s *lake.Schema) bool { return schemas[s.ID] && has(s) }) {
				continue
			}
			for _, s := range slices.Backward(list) {
				if has(s) {
					schemas[s.ID] = true
					break
				}
			}
		}
	}
}
