package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

// EraseEnv is what an erasure needs beside its tables.
type EraseEnv struct {
	RewriteEnv
	Ledger *Ledger
	// Forget empties the server's caches.
	Forget func()
	// Copies names the tables whose lineage leads back to one, with the snapshots that say so.
	Copies func(context.Context, lake.Name) ([]Holder, error)
}

// Holders tells who holds a value in tables. paranoid: looks into every byte of every object.
func Holders(ctx context.Context, list []Target, env EraseEnv, column, values []string, paranoid bool) ([]Holder, error) {
	var out []Holder
	for _, g := range list {
		m, err := newMatcher(g.Table, column, values)
		if err != nil {
			return nil, err
		}
		f, err := find(ctx, g, m, newSearching(m, g.Table.FS(), env.Exec.Scan.Mem), paranoid)
		if err != nil {
			return nil, err
		}
		if err := f.splitRows(ctx, env.RewriteEnv); err != nil {
			return nil, err
		}
		sort.SliceStable(f.holders, func(i, j int) bool { return f.holders[i].Kind < f.holders[j].Kind })
		out = append(out, f.holders...)
		more, err := env.Copies(ctx, g.Table.Name)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// erasing is an erasure at work.
type erasing struct {
	env     EraseEnv
	list    []Target
	spec    EraseSpec
	state   *EraseState
	byTable []*tableErasure
	pending []string
	holds   []string
}

// tableErasure is its part in one table.
type tableErasure struct {
	e     *erasing
	g     Target
	m     *matcher
	s     *searching
	ev    *TableEvidence
	noted map[string]bool // files that are to be removed
	left  int             // versions of removed objects that the store keeps
	why   error           // and why
	// verified is the metadata file of the state that was last proven to be clean.
	verified string
	// restated are the snapshots that were stated anew.
	restated map[int64]bool
}

// Erase erases a value from tables, or goes on where a try of before has ended: one of the same value
// and the same tables. An error says that nothing of the value's is promised, and that the same
// statement goes on.
func Erase(ctx context.Context, list []Target, env EraseEnv, spec EraseSpec) (EraseResult, error) {
	e := &erasing{env: env, list: list, spec: spec}
	for _, g := range list {
		if err := g.Table.MayRemove(); err != nil {
			return EraseResult{}, err
		}
		if err := lake.Alone(ctx, g.Catalog, g.Table); err != nil {
			return EraseResult{}, err
		}
		if spec.Tags == "rewrite" && !writesMetadata(g.Catalog) {
			return EraseResult{}, sqlerr.New(sqlerr.FeatureNotSupported, "TAGS REWRITE is not supported for table %s: no update that its catalog's server takes rewrites a snapshot", g.Table.Name.Table).
				WithHint("TAGS DROP drops the tags that hold the value.")
		}
		m, err := newMatcher(g.Table, spec.Column, spec.Values)
		if err != nil {
			return EraseResult{}, err
		}
		e.byTable = append(e.byTable, &tableErasure{e: e, g: g, m: m, s: newSearching(m, g.Table.FS(), env.Exec.Scan.Mem),
			ev: &TableEvidence{Table: g.Table.Name.String(), Name: [2]string{g.Table.Name.Namespace, g.Table.Name.Table}, UUID: g.Table.UUID(), Before: headsOf(g.Table), Searched: m.searched()}})
	}
	// Nothing is changed before all tables may be.
	found := make([]*findings, len(list))
	for i, x := range e.byTable {
		var err error
		if found[i], err = x.find(ctx, false); err != nil {
			return EraseResult{}, err
		}
		if err := x.mayErase(found[i]); err != nil {
			return EraseResult{}, err
		}
	}
	if spec.DryRun {
		return e.dry(ctx, found)
	}
	if err := e.begin(ctx); err != nil {
		return EraseResult{}, err
	}
	status, err := e.run(ctx)
	if err != nil {
		// What holds it up is told; the state stays.
		return EraseResult{ID: e.state.ID}, err
	}
	return e.end(ctx, status)
}

// find looks at the table's state now.
func (x *tableErasure) find(ctx context.Context, paranoid bool) (*findings, error) {
	t, err := x.g.reload(ctx)
	if err != nil {
		return nil, err
	}
	if t.UUID() != x.ev.UUID {
		return nil, sqlerr.New(sqlerr.SerializationFailure, "table %s was dropped and made anew", t.Name.Table)
	}
	x.g.Table = t
	if x.m, err = newMatcher(t, x.e.spec.Column, x.e.spec.Values); err != nil {
		return nil, err
	}
	x.s.m = x.m
	return find(ctx, x.g, x.m, x.s, paranoid)
}

// mayErase refuses where a hold or a tag is in the way, by name.
func (x *tableErasure) mayErase(f *findings) error {
	t := f.t
	for _, r := range t.Refs() {
		if !f.in(r) {
			continue
		}
		kind := "branch"
		if !r.Branch {
			kind = "tag"
		}
		if hold := t.Properties()[holdProperty+r.Name]; hold != "" {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "%s %q of table %s is under a hold: %s", kind, r.Name, t.Name.Table, hold).
				WithHint("It holds the value. When the hold ends: ALTER TABLE … UNSET TBLPROPERTIES ('%s%s').", holdProperty, r.Name)
		}
		if !r.Branch && x.e.spec.Tags == "" {
			return sqlerr.New(sqlerr.DependentObjectsExist, "tag %q of table %s holds the value", r.Name, t.Name.Table).
				WithHint("ERASE … TAGS DROP drops the tags that hold it; TAGS REWRITE rewrites history without the rows.")
		}
	}
	return nil
}

// dry tells what would be done.
func (e *erasing) dry(ctx context.Context, found []*findings) (EraseResult, error) {
	r := EraseResult{Status: "DRY RUN"}
	for i, x := range e.byTable {
		f := found[i]
		add := func(step string, n int64, detail string) {
			r.Steps = append(r.Steps, EraseStep{Table: f.t.Name.String(), Step: step, Count: n, Detail: detail})
		}
		rows, files := int64(0), int64(0)
		for _, h := range f.files {
			if h.kind == lake.HeldData {
				files++
				rows += h.values
			}
		}
		add("find", files, fmt.Sprintf("%d values in %d data files; %d holders in all", rows, files, len(f.holders)))
		for _, ref := range f.t.Refs() {
			if !f.in(ref) {
				continue
			}
			if ref.Branch {
				n := int64(0)
				for _, h := range f.files {
					if h.kind == lake.HeldData && slices.ContainsFunc(f.holders, func(x Holder) bool { return x.Path == h.path && slices.Contains(x.Refs, ref.Name) }) {
						n++
					}
				}
				add("rewrite", n, "data files of branch "+ref.Name)
			} else if e.spec.Tags == "drop" {
				add("drop tag", 1, ref.Name)
			}
		}
		if e.spec.Tags == "rewrite" {
			add("rewrite history", int64(len(f.snapshots)), "snapshots")
		} else {
			add("expire", int64(len(f.snapshots)), "snapshots")
		}
		add("remove", int64(len(f.orphans)), "orphans")
		more, err := e.env.Copies(ctx, f.t.Name)
		if err != nil {
			return r, err
		}
		for _, h := range more {
			add("may hold copies", 1, h.Table+": "+h.Where)
		}
		_ = x
	}
	return r, nil
}

// begin finds the erasure that this one goes on with, or notes a new one.
func (e *erasing) begin(ctx context.Context) error {
	key, err := e.env.Ledger.key()
	if err != nil {
		return err
	}
	hash := valueHash(key, e.spec.Column, e.spec.Values)
	var names [][2]string
	for _, g := range e.list {
		names = append(names, [2]string{g.Table.Name.Namespace, g.Table.Name.Table})
	}
	states, err := e.env.Ledger.States(ctx)
	if err != nil {
		return err
	}
	for _, s := range states {
		if s.Hash == hash && slices.Equal(s.Tables, names) {
			e.state = s
			e.spec.Reason = s.Reason
			if s.secret, err = unseal(key, s.Sealed); err != nil {
				return err
			}
			for i, x := range e.byTable {
				if i < len(s.Done) && s.Done[i].UUID == x.ev.UUID {
					searched := x.ev.Searched
					x.ev = s.Done[i]
					x.ev.Searched = searched
				}
			}
		}
	}
	if e.state == nil {
		e.state = &EraseState{ID: uuid.NewString(), User: e.spec.User, Reason: e.byTable[0].m.redact(e.spec.Reason), Tags: e.spec.Tags, Started: clock.Now(ctx).UTC(),
			Tables: names, Column: e.spec.Column, Hash: hash}
		e.state.secret.Values = e.spec.Values
	}
	e.state.Status, e.state.Pending, e.state.Tags = EraseRunning, nil, e.spec.Tags
	e.state.Done = nil
	for _, x := range e.byTable {
		e.state.Done = append(e.state.Done, x.ev)
	}
	if e.state.secret.Remove == nil {
		e.state.secret.Remove = map[string][]string{}
	}
	if e.state.secret.Versions == nil {
		e.state.secret.Versions = map[string][]string{}
	}
	return e.step(ctx, "plan")
}

// step notes what comes next.
func (e *erasing) step(ctx context.Context, name string) error {
	e.state.Step = name
	for _, g := range e.list {
		g.Job.Phase(name)
	}
	if err := e.env.Ledger.save(ctx, e.state); err != nil {
		return err
	}
	return lake.Step(ctx, "erase "+name)
}

func (e *erasing) run(ctx context.Context) (string, error) {
	for range eraseRounds {
		for _, x := range e.byTable {
			if err := x.run(ctx); err != nil {
				return "", err
			}
		}
		if err := e.step(ctx, "caches"); err != nil {
			return "", err
		}
		e.env.Forget()
		if err := e.step(ctx, "verify"); err != nil {
			return "", err
		}
		e.pending = nil
		clean := true
		for _, x := range e.byTable {
			ok, err := x.verify(ctx)
			if err != nil {
				return "", err
			}
			clean = clean && ok
		}
		if err := lake.Step(ctx, "erase verified"); err != nil {
			return "", err
		}
		if clean {
			// What others committed meanwhile is looked at, too.
			same := true
			for _, x := range e.byTable {
				t, err := x.g.reload(ctx)
				if err != nil {
					return "", err
				}
				same = same && t.MetadataLocation == x.verified
			}
			if same {
				break
			}
			e.pending = []string{"other transactions changed the tables each time while they were verified"}
			continue
		}
	}
	if len(e.pending) > 0 {
		return ErasePending, nil
	}
	return EraseDone, nil
}

// run does to a table what is to be done, until nothing is.
func (x *tableErasure) run(ctx context.Context) error {
	if err := x.versions(ctx); err != nil {
		return err
	}
	for range 12 {
		if err := x.sweep(ctx); err != nil {
			return err
		}
		f, err := x.find(ctx, false)
		if err != nil {
			return err
		}
		if err := x.mayErase(f); err != nil {
			return err
		}
		did, err := x.next(ctx, f)
		if err != nil || !did {
			return err
		}
	}
	return nil // verification will tell
}

// next does the first thing that is to be done, and tells whether there was one.
func (x *tableErasure) next(ctx context.Context, f *findings) (did bool, err error) {
	e := x.e
	for _, r := range f.t.Refs() {
		if !r.Branch || !f.in(r) {
			continue
		}
		files, manifests, err := f.headFiles(ctx, r.Name)
		if err != nil {
			return false, err
		}
		branch := r.Name
		if branch == "main" {
			branch = ""
		}
		if files {
			if err := e.step(ctx, "rewrite"); err != nil {
				return false, err
			}
			did = true
			if _, err := f.rewriteHead(ctx, e.env.RewriteEnv, branch, x.ev, func() error { return lake.Step(ctx, "erase rewritten") }); err != nil {
				return did, err
			}
			return true, e.step(ctx, "rewrite done")
		}
		if len(manifests) > 0 {
			if err := e.step(ctx, "manifests"); err != nil {
				return false, err
			}
			_, err := f.rewriteHeadManifests(ctx, branch, manifests)
			return true, err
		}
	}
	if e.spec.Tags == "rewrite" {
		if did, err := x.restate(ctx, f); err != nil || did {
			return did, err
		}
	}
	if len(f.snapshots) > 0 || len(f.stats) > 0 {
		if err := e.step(ctx, "expire"); err != nil {
			return false, err
		}
		if did, err = x.expire(ctx, f); err != nil || did {
			return did, err
		}
	}
	if len(f.log) > 0 {
		if err := e.step(ctx, "metadata"); err != nil {
			return false, err
		}
		if did, err = x.forgetLog(ctx, f); err != nil || did {
			return did, err
		}
	}
	if err := e.step(ctx, "orphans"); err != nil {
		return false, err
	}
	limit := clock.Now(ctx).Add(-orphanGrace)
	for _, o := range f.orphans {
		if !o.Modified.Before(limit) {
			continue // verification tells
		}
		x.later(o.Path)
		did = true
	}
	if !did {
		return false, nil
	}
	return true, e.env.Ledger.save(ctx, e.state)
}

// later notes a file that is to be removed once nothing holds it.
func (x *tableErasure) later(path string) {
	key := x.ev.Table
	if x.noted == nil {
		x.noted = map[string]bool{}
		for _, p := range x.e.state.secret.Remove[key] {
			x.noted[p] = true
		}
	}
	if !x.noted[path] {
		x.noted[path] = true
		x.e.state.secret.Remove[key] = append(x.e.state.secret.Remove[key], path)
	}
}

// expire forgets the snapshots that hold the value, with the tags on them, and notes the files that
// go with them before the commit.
func (x *tableErasure) expire(ctx context.Context, f *findings) (bool, error) {
	t := f.t
	var ids []int64
	var tags []string
	heads := map[int64]bool{}
	for _, r := range t.Refs() {
		switch {
		case f.snapshots[r.SnapshotID] == "":
			heads[r.SnapshotID] = true
		case r.Branch: // a head that could not be rewritten stays, and is told of
			heads[r.SnapshotID] = true
		default:
			tags = append(tags, r.Name)
		}
	}
	if x.e.spec.Tags == "rewrite" {
		tags = nil
	}
	var gone []*lake.Snapshot
	for _, s := range t.Snapshots() {
		if x.e.spec.Tags != "rewrite" && f.snapshots[s.ID] != "" && !heads[s.ID] {
			ids, gone = append(ids, s.ID), append(gone, s)
		}
	}
	var stats []int64
	for id := range f.stats {
		if !slices.Contains(ids, id) {
			stats = append(stats, id)
		}
	}
	if len(ids)+len(tags)+len(stats) == 0 {
		return false, nil
	}
	free := f.stillFree()
	edit := func(e *lake.Edit) error {
		if err := free(e); err != nil {
			return err
		}
		for _, name := range tags {
			if err := e.DropRef(name, false, false); err != nil {
				return err
			}
		}
		for _, r := range e.Table().Refs() {
			if !slices.Contains(tags, r.Name) {
				if err := e.RequireRef(r.Name, &r.SnapshotID); err != nil {
					return err
				}
			}
		}
		for _, id := range stats {
			if err := e.RemoveStatistics(id, true); err != nil {
				return err
			}
		}
		now := map[int64]bool{}
		for _, s := range e.Table().Snapshots() {
			now[s.ID] = true
		}
		return e.RemoveSnapshots(slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return !now[id] }))
	}
	after, err := t.Try(ctx, edit)
	if err != nil {
		return false, err
	}
	if err := lake.Released(ctx, t, gone, after, func(h *lake.Held) error { x.later(strings.Clone(h.Path)); return nil }); err != nil {
		return false, err
	}
	for _, id := range stats {
		for _, p := range f.stats[id] {
			x.later(p)
		}
	}
	if err := x.e.env.Ledger.save(ctx, x.e.state); err != nil {
		return false, err
	}
	_, err = x.g.commit(ctx, lake.Change{Base: t, MovesRefs: true, Statement: "ERASE", Edit: edit})
	if sqlerr.CodeOf(err) == sqlerr.SerializationFailure && lake.Outcome(err) != lake.Unknown && ctx.Err() == nil {
		return true, nil // it is looked at again
	}
	if err != nil {
		return false, err
	}
	if err := lake.Step(ctx, "erase expired"); err != nil {
		return false, err
	}
	x.ev.Expired = append(x.ev.Expired, ids...)
	x.ev.Tags = append(x.ev.Tags, tags...)
	return true, x.e.step(ctx, "expire done")
}

// forgetLog removes metadata files of before that hold the value. Where the catalog has no log of its
// own, they leave the log.
func (x *tableErasure) forgetLog(ctx context.Context, f *findings) (bool, error) {
	if len(f.log) == 0 {
		return false, nil
	}
	for _, p := range f.log {
		x.later(f.t.Resolve(p))
	}
	if err := x.e.env.Ledger.save(ctx, x.e.state); err != nil {
		return false, err
	}
	if !writesMetadata(x.g.Catalog) {
		// A REST catalog's server keeps the log: the files go, and it names some that are not there.
		for _, p := range f.log {
			if err := x.remove(ctx, f.t.Resolve(p), "metadata file"); err != nil {
				return false, err
			}
		}
		x.s.forget(f.t, f.log)
		return true, nil
	}
	_, err := x.g.commit(ctx, lake.Change{Base: f.t, Statement: "ERASE", Edit: func(e *lake.Edit) error {
		e.ForgetMetadata(func(p string) bool { return slices.Contains(f.log, p) })
		return nil
	}})
	if sqlerr.CodeOf(err) == sqlerr.SerializationFailure && lake.Outcome(err) != lake.Unknown && ctx.Err() == nil {
		return true, nil
	}
	return true, err
}

// forget drops what is known of files that are gone.
func (s *searching) forget(t *lake.Table, files []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range files {
		delete(s.known, t.Resolve(p))
	}
}

// sweep removes the files that were noted and that nothing holds any more.
func (x *tableErasure) sweep(ctx context.Context) error {
	list := x.e.state.secret.Remove[x.ev.Table]
	x.noted = nil
	if len(list) == 0 {
		return nil
	}
	if err := x.e.step(ctx, "remove"); err != nil {
		return err
	}
	t, err := x.g.reload(ctx)
	if err != nil {
		return err
	}
	held, err := t.Holds(ctx, list)
	if err != nil {
		return err
	}
	var free, rest []string
	for _, p := range list {
		if held[p] {
			rest = append(rest, p)
		} else {
			free = append(free, p)
		}
	}
	for i := 0; i < len(free); i += eraseBatch {
		some := free[i:min(i+eraseBatch, len(free))]
		var mu sync.Mutex
		var first error
		err := eachAtOnce(ctx, some, func(p string) {
			if err := x.removeLocked(ctx, &mu, p, ""); err != nil {
				mu.Lock()
				if first == nil {
					first = err
				}
				mu.Unlock()
			}
		})
		if err == nil {
			err = first
		}
		if err != nil {
			return err
		}
		x.e.state.secret.Remove[x.ev.Table] = append(slices.Clone(rest), free[i+len(some):]...)
		if err := x.e.env.Ledger.save(ctx, x.e.state); err != nil {
			return err
		}
	}
	if len(free) > 0 {
		return x.e.step(ctx, "remove done")
	}
	x.e.state.secret.Remove[x.ev.Table] = nil // what is held by now is found again if it holds the value
	return nil
}

// eraseBatch is how many files are removed before that is noted.
const eraseBatch = 200

func (x *tableErasure) remove(ctx context.Context, path, kind string) error {
	var mu sync.Mutex
	return x.removeLocked(ctx, &mu, path, kind)
}

// removeLocked removes a file, with the versions that the store has kept of it, and notes what it was.
func (x *tableErasure) removeLocked(ctx context.Context, mu *sync.Mutex, path, kind string) error {
	store := x.g.Table.FS()
	size, sum, there, err := digest(ctx, store, path)
	if err != nil {
		return err
	}
	if there {
		if err := lake.Step(ctx, "erase file"); err != nil {
			return err
		}
		if err := store.Remove(ctx, path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	_, left, err := lake.RemoveVersions(ctx, store, path)
	mu.Lock()
	defer mu.Unlock()
	if there {
		x.ev.Removed = append(x.ev.Removed, FileEvidence{Path: x.m.redact(path), Kind: kind, Size: size, SHA256: sum})
		x.g.Job.Done(1, size)
	}
	if left != 0 {
		x.kept(path, left, err)
	}
	return ctx.Err()
}

// kept notes versions of a removed object that stay in the store.
func (x *tableErasure) kept(path string, left int, err error) {
	list := x.e.state.secret.Versions[x.ev.Table]
	if !slices.Contains(list, path) {
		x.e.state.secret.Versions[x.ev.Table] = append(list, path)
	}
	x.left += max(left, 1)
	if x.why == nil {
		x.why = err
	}
}

// versions tries once more to remove versions of objects that were removed before.
func (x *tableErasure) versions(ctx context.Context) error {
	list := x.e.state.secret.Versions[x.ev.Table]
	x.e.state.secret.Versions[x.ev.Table] = nil
	x.left, x.why = 0, nil
	for _, p := range list {
		if _, left, err := lake.RemoveVersions(ctx, x.g.Table.FS(), p); left != 0 {
			x.kept(p, left, err)
		}
	}
	return ctx.Err()
}

// verify decodes every object in the table's folders. clean: there was none to be erased still; what
// cannot be erased is among the reasons that the erasure is pending for.
func (x *tableErasure) verify(ctx context.Context) (clean bool, err error) {
	e := x.e
	t, err := x.g.reload(ctx)
	if err != nil {
		return false, err
	}
	x.g.Table, x.verified = t, t.MetadataLocation
	v, err := verifyTable(ctx, x.g, x.m, x.e.env.Exec.Scan.Mem)
	if err != nil {
		return false, err
	}
	x.ev.Decoded, x.ev.Hits, x.ev.After = v.decoded, v.hits, headsOf(t)
	name := t.Name.Namespace + "." + t.Name.Table
	wait := func(format string, args ...any) {
		e.pending = append(e.pending, name+": "+fmt.Sprintf(format, args...))
	}
	if v.young > 0 {
		wait("%d files that nothing holds are younger than 24 hours and hold it, or are half written: they may be of a write that has not committed yet; CALL system.resume_erasure after %s", v.young, v.youngUntil.UTC().Format("2006-01-02 15:04:05Z"))
	}
	if v.other > 0 {
		wait("%d data files hold it in other columns or within other values (%s): erase these for themselves", v.other, strings.Join(v.columns, ", "))
	}
	for _, u := range v.unread {
		wait("%s cannot be looked into", x.m.redact(u))
	}
	for _, p := range v.fixed {
		wait("%s holds it: alter the table", p)
	}
	old, err := lake.OldVersions(ctx, t)
	switch {
	case x.left > 0:
		wait("the store keeps %d versions of %d removed objects: %s", x.left, len(e.state.secret.Versions[x.ev.Table]), x.m.redact(fmt.Sprint(x.why)))
	case err != nil:
		wait("the store does not say whether it keeps versions of objects: %s", x.m.redact(err.Error()))
	case old > 0:
		wait("the store keeps %d old versions of objects in the table's folders, which were not looked into: let them end, and CALL system.resume_erasure", old)
	}
	if v.hits > 0 {
		wait("%d objects still hold it: another transaction may have written it", v.hits)
	}
	copies, err := e.env.Copies(ctx, t.Name)
	if err != nil {
		return false, err
	}
	x.ev.Copies = nil
	for _, h := range copies {
		x.ev.Copies = append(x.ev.Copies, h.Table)
	}
	return v.hits == 0, nil
}

// end writes the evidence.
func (e *erasing) end(ctx context.Context, status string) (EraseResult, error) {
	if err := e.step(ctx, "evidence"); err != nil {
		return EraseResult{}, err
	}
	for _, x := range e.byTable {
		for k, v := range x.g.Table.Properties() {
			if strings.HasPrefix(k, holdProperty) {
				e.holds = append(e.holds, x.g.Table.Name.Table+"."+strings.TrimPrefix(k, holdProperty)+": "+x.m.redact(v))
			}
		}
	}
	sort.Strings(e.holds)
	r := &EraseRecord{ID: e.state.ID, Status: status, Pending: e.pending, User: e.state.User, Reason: e.state.Reason, Started: e.state.Started,
		Ended: clock.Now(ctx).UTC(), Column: e.spec.Column, Value: e.state.Hash, Holds: e.holds, Tables: e.state.Done}
	out := EraseResult{ID: r.ID, Status: status, Pending: e.pending}
	var err error
	if out.Seq, out.Hash, err = e.env.Ledger.add(ctx, r); err != nil {
		return out, err
	}
	if err := lake.Step(ctx, "erase recorded"); err != nil {
		return out, err
	}
	for _, ev := range e.state.Done {
		add := func(step string, n int, format string, args ...any) {
			if n > 0 || step == "verify" {
				out.Steps = append(out.Steps, EraseStep{Table: ev.Table, Step: step, Count: int64(n), Detail: fmt.Sprintf(format, args...)})
			}
		}
		add("rewrite", len(ev.Rewritten), "files rewritten as %d, %d rows erased", len(ev.Added), ev.RowsGone)
		add("drop tag", len(ev.Tags), "%s", strings.Join(ev.Tags, ", "))
		add("rewrite history", len(ev.Restated), "snapshots, in %d files, %d rows erased", len(ev.HistoryAdded), ev.HistoryGone)
		add("expire", len(ev.Expired), "snapshots")
		var bytes int64
		for _, f := range ev.Removed {
			bytes += f.Size
		}
		add("remove", len(ev.Removed), "files of %d bytes", bytes)
		add("verify", int(ev.Decoded), "objects decoded, %d hits (%s)", ev.Hits, ev.Searched)
		add("may hold copies", len(ev.Copies), "%s", strings.Join(ev.Copies, ", "))
	}
	if status == EraseDone {
		return out, e.env.Ledger.rows.DropEvidence(ctx, stateRow, e.state.ID)
	}
	e.state.Status, e.state.Pending = status, e.pending
	return out, e.env.Ledger.save(ctx, e.state)
}
