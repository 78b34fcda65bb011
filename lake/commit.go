package lake

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Result is how a commit ended.
type Result uint8

const (
	Committed Result = iota // the catalog's pointer has moved: everybody sees it
	// Aborted: certainly nothing happened; files that were written for it may be removed.
	Aborted
	// Unknown: it may have happened. Nothing may be removed.
	Unknown
)

// Outcome tells how the commit that returned err ended.
func Outcome(err error) Result {
	var e *sqlerr.Error
	switch {
	case err == nil:
		return Committed
	case errors.Is(err, errUnknown), errors.As(err, &e) && e.Code == sqlerr.TransactionUnknown:
		return Unknown
	}
	return Aborted
}

// commitEngine commits changes for catalogs that keep only a pointer to a metadata file.
//
//	load head ─▶ edit metadata ─▶ validate ─▶ manifests, list ─▶ metadata file ─▶ move pointer
//	    ▲                                                                            │
//	    └──────────────── lost race: back off, again from the new head ──────────────┘
type commitEngine struct {
	pointers pointers
	load     func(ctx context.Context, n Name, loc string) (*Table, error)
	// send, if set, is how the catalog takes updates instead of metadata files (REST). Its
	// errors are told apart like those of pointers.move.
	send func(ctx context.Context, attempts []*attempt) error
	// rows, if set, is the catalog's way to make definitions and to move pointers in one step.
	rows rowCatalog
	// turns lets this process's writers at each table one after the other.
	turns turns
}

// attempt is one try of one change.
type attempt struct {
	name    Name
	now     Name   // the name that the table has after the commit
	head    *Table // nil: the table is made
	edit    *Edit
	to      string
	written []string
	// snapshot is the id of the one that the attempt adds; 0: none.
	snapshot int64
	// parsed is the metadata file that was written, as it reads; nil: none was.
	parsed *state
	// looked: the table is only looked at, and must not move.
	looked bool
}

// retryPolicy is from the table's properties (commit.retry.…). Where the table says nothing, more
// races may be lost than by Iceberg's default of 4, and the pauses between stay shorter than its
// minute: a race is lost cheaply, and against a writer who commits without a pause it is each try
// that may win, and no wait.
type retryPolicy struct {
	tries    int
	min, max time.Duration
}

func policyOf(props map[string]string) retryPolicy {
	ms := func(key string, or int) time.Duration {
		return time.Duration(intProperty(props, key, or)) * time.Millisecond
	}
	return retryPolicy{tries: intProperty(props, "commit.retry.num-retries", 20),
		min: ms("commit.retry.min-wait-ms", 100), max: ms("commit.retry.max-wait-ms", 500)}
}

// wait is the pause before try n (from 1). Writers of this process take turns, so that a race is
// lost to another process alone. The first two tries again follow at once: most often who was first
// is done, and whoever pauses whenever he is late is late again. Then the pause doubles from try to
// try, jittered and bounded.
func (p retryPolicy) wait(n int) time.Duration {
	if n < 3 {
		return 0
	}
	d := min(p.min<<min(n-3, 20), p.max)
	if d <= 0 {
		return 0
	}
	return d/2 + rand.N(d/2+1)
}

// commit applies the changes, all or none.
func (g *commitEngine) commit(ctx context.Context, changes []TableChange) ([]*Table, error) {
	return g.publish(ctx, changes, nil)
}

// publish applies changes and definitions, all or none. d nil: there are no definitions.
func (g *commitEngine) publish(ctx context.Context, changes []TableChange, d *definitions) ([]*Table, error) {
	changes = withLooks(changes)
	commit := uuid.NewString()
	done, err := g.turns.take(ctx, changes)
	if err != nil {
		return nil, err
	}
	defer done()
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		attempts, policy, err := g.prepare(ctx, changes, commit, try)
		var moves []pointerMove
		if err == nil {
			moves, err = g.moves(ctx, attempts, d, try)
		}
		if err == nil {
			if err = g.swap(ctx, attempts, moves, d); err != nil {
				err = g.settle(ctx, attempts, moves, commit, err)
			}
			if err == nil {
				g.expire(ctx, attempts)
				return g.results(ctx, attempts)
			}
		}
		if Outcome(err) == Unknown {
			return nil, err
		}
		cleanUp(ctx, attempts)
		switch {
		case !errors.Is(err, errLostRace):
			return nil, err
		case made(changes) && (len(changes) == 1 && d == nil || g.send != nil):
			return nil, conflict("another transaction changed table %s", changes[0].Name.Table)
		case try >= policy.tries:
			return nil, conflict("other writers committed first %d times", try+1)
		}
		if err := clock.Sleep(ctx, policy.wait(try+1)); err != nil {
			return nil, err
		}
		if err := yield(ctx, "retry"); err != nil {
			return nil, err
		}
	}
}

// made tells whether one of the changes makes or replaces its table.
func made(changes []TableChange) bool {
	return slices.ContainsFunc(changes, func(c TableChange) bool { return c.Change.makes() })
}

func (c *Change) makes() bool   { return c.Base != nil && c.Base.staged != nil }
func (c *Change) created() bool { return c.makes() && c.Base.staged.created }

// prepare writes all files of a try.
func (g *commitEngine) prepare(ctx context.Context, changes []TableChange, commit string, try int) ([]*attempt, retryPolicy, error) {
	policy := policyOf(nil)
	var out []*attempt
	looks := looks(changes)
	for i := range changes {
		tc := &changes[i]
		a, err := g.begin(ctx, tc, try)
		if err != nil {
			return out, policy, err
		}
		if p := policyOf(a.head.properties); p.tries > policy.tries || i == 0 {
			policy = p
		}
		out = append(out, a)
		a.looked = len(tc.Change.looks) > 0
		for _, l := range looks[tc.Name] {
			if err := l.still(ctx, a.head); err != nil {
				return out, policy, err
			}
		}
		// Each try has its own file names: an earlier one may not have been cleaned up.
		unique := commit
		if try > 0 {
			unique = fmt.Sprintf("%s-%d", commit, try)
		}
		if err := g.build(ctx, a, &tc.Change, commit, unique); err != nil {
			return out, policy, err
		}
	}
	return out, policy, nil
}

// begin finds the state that a change goes onto: the table's head, or what makes the table. A
// table that replaces one that has moved on has met a conflict.
func (g *commitEngine) begin(ctx context.Context, tc *TableChange, try int) (*attempt, error) {
	if tc.Change.makes() {
		t := tc.Change.Base
		if try > 0 && g.rows != nil && !tc.Change.created() {
			loc, err := g.rows.located(ctx, tc.Name)
			if err != nil {
				return nil, err
			}
			if loc != t.pointer {
				return nil, conflict("another transaction changed table %s", tc.Name.Table)
			}
		}
		return &attempt{name: tc.Name, head: t, edit: t.staged.again(nextInstant(ctx, t))}, nil
	}
	if err := yield(ctx, "load"); err != nil {
		return nil, err
	}
	loc, err := g.pointers.pointer(ctx, tc.Name)
	if err != nil {
		return nil, err
	}
	head, err := g.load(ctx, tc.Name, loc)
	if err != nil {
		return nil, err
	}
	edit, err := newEdit(&head.state, nextInstant(ctx, head))
	if err != nil {
		return nil, metadataError(err, loc)
	}
	return &attempt{name: tc.Name, head: head, edit: edit}, nil
}

// nextInstant is the commit's time: after the head's, so that time travel can tell them apart
// even where a clock runs behind.
func nextInstant(ctx context.Context, head *Table) time.Time {
	now := millisecond(clock.Now(ctx))
	last := head.lastUpdated
	if n := len(head.log); n > 0 && head.log[n-1].Time.After(last) {
		last = head.log[n-1].Time
	}
	if !now.After(last) {
		now = last.Add(time.Millisecond)
	}
	return now
}

// build edits the head's metadata, makes the snapshot if there is one to make, and writes the
// metadata file.
func (g *commitEngine) build(ctx context.Context, a *attempt, c *Change, commit, unique string) error {
	if a.head.Moved() {
		return sqlerr.New(sqlerr.FeatureNotSupported, "table %s was moved: its metadata names %s, so it can only be read", a.head.Name.Table, a.head.location)
	}
	if err := c.sameTable(a.head); err != nil {
		return err
	}
	if err := c.rowsFit(a.head); err != nil {
		return err
	}
	if c.Still {
		if err := c.branchesStill(a.head, a.edit); err != nil {
			return err
		}
	}
	if c.Edit != nil {
		if err := c.schemaUnchanged(a.head); err != nil {
			return err
		}
		if err := c.Edit(a.edit); err != nil {
			return err
		}
	}
	if err := a.edit.flush(); err != nil {
		return err
	}
	if err := a.head.mayMove(a.edit.s.location); err != nil {
		return err
	}
	if a.head.uuid != "" {
		a.edit.require("assert-table-uuid", obj{"uuid": a.head.uuid})
	}
	if len(c.Add)+len(c.Remove) > 0 || c.Manifests != nil {
		p := &producer{c: c, head: a.head, edit: a.edit, commit: unique, spell: metadataFolder(a.edit.s)}
		err := p.locate()
		if err == nil {
			p.commit = unique
			err = p.run(ctx)
		}
		a.written = append(a.written, p.written...)
		if err != nil {
			return err
		}
		a.snapshot = p.id
	}
	if !a.edit.changed() && !c.makes() {
		return nil
	}
	return g.finish(ctx, a)
}

// finish makes the attempt ready to be published.
func (g *commitEngine) finish(ctx context.Context, a *attempt) error {
	if g.send == nil {
		return g.writeMetadata(ctx, a)
	}
	if err := a.edit.flush(); err != nil {
		return err
	}
	a.to = sentUpdates
	return yield(ctx, "metadata")
}

// sentUpdates stands for the new metadata location of a table whose catalog writes it.
const sentUpdates = "(updates)"

// metadataFolder is where metadata files go, in the location's own spelling.
func metadataFolder(s *state) string {
	if m := s.properties["write.metadata.path"]; m != "" {
		return strings.TrimRight(m, "/")
	}
	return strings.TrimRight(s.location, "/") + "/metadata"
}

func (g *commitEngine) writeMetadata(ctx context.Context, a *attempt) error {
	previous, was := "", time.Time{}
	if a.head.pointer != "" {
		previous, was = a.head.pointer, a.head.lastUpdated
	}
	b, err := a.edit.document(previous, was)
	if err != nil {
		return err
	}
	// What we write we must be able to read.
	if a.parsed, err = parseAfter(b, &a.head.state); err != nil {
		return fmt.Errorf("metadata of table %s came out malformed: %w", a.name, err)
	}
	if invariant.Enabled && len(a.parsed.snapshots) < 32 {
		whole, err := parseMetadata(b)
		invariant.Check(err == nil && reflect.DeepEqual(whole, a.parsed), "metadata of table %s reads otherwise as a whole than after the one before: %v", a.name, err)
	}
	gz := strings.EqualFold(a.edit.s.properties["write.metadata.compression-codec"], "gzip")
	if gz {
		if b, err = gzipped(b); err != nil {
			return err
		}
	}
	a.to = metadataFolder(a.edit.s) + "/" + nextMetadataName(previous, gz)
	if err := yield(ctx, "metadata"); err != nil {
		return err
	}
	a.written = append(a.written, a.to)
	if err := a.head.FS().Create(ctx, a.to, b); err != nil {
		return fileError(err, "write table metadata", a.to)
	}
	return nil
}

func (g *commitEngine) swap(ctx context.Context, attempts []*attempt, moves []pointerMove, d *definitions) error {
	if len(moves) == 0 && d.empty() {
		return nil
	}
	if err := yield(ctx, "swap"); err != nil {
		return err
	}
	var err error
	switch {
	case g.send != nil:
		err = g.send(ctx, attempts)
	case d != nil:
		err = g.rows.define(ctx, moves, d)
	default:
		err = g.pointers.move(ctx, moves)
	}
	if err != nil {
		return err
	}
	if err := yield(ctx, "swapped"); err != nil {
		return errors.Join(errUnknown, err)
	}
	return nil
}

// results loads what was committed. The commit is done: that a file cannot be read now must
// not look like a failure, so the state is made from memory where it must be.
func (g *commitEngine) results(ctx context.Context, attempts []*attempt) ([]*Table, error) {
	ctx = context.WithoutCancel(ctx)
	out := make([]*Table, len(attempts))
	for i, a := range attempts {
		if a.to == "" {
			out[i] = a.head
			continue
		}
		name := a.name
		if a.now != (Name{}) {
			name = a.now
		}
		a.remember(ctx)
		t, err := g.load(ctx, name, a.to)
		if err != nil {
			t = &Table{Name: name, MetadataLocation: Canonical(a.to), state: *a.edit.s, place: a.head.place, pointer: a.to}
		}
		out[i] = t
	}
	return out, nil
}

// remember spares the reading of what was just written, as it was read to see whether it can be.
func (a *attempt) remember(ctx context.Context) {
	if a.parsed == nil || a.head.place == nil {
		return
	}
	p, loc := a.head.place, Canonical(a.to)
	p.cache.Put(metadataKey(ctx, p.store, loc), a.parsed, metadataCost(a.parsed.raw))
}

// settle finds out what became of a try that the catalog did not confirm (C3): nil if it took
// place, an error of the outcome Unknown if that cannot be known, else err.
//
// A lost answer proves nothing, and where what was written is not seen, that proves nothing either.
// Nor does a refusal of a server's prove that nothing happened: a gateway that sends a request twice
// is told of the conflict with itself, and one that gave up waiting answers what it likes. So before
// anything is removed or tried again, the head is loaded and our commit looked for. After a refusal
// it is not coming any more; that it is not seen is an answer then.
func (g *commitEngine) settle(ctx context.Context, attempts []*attempt, moves []pointerMove, commit string, err error) error {
	refused := Outcome(err) != Unknown
	if refused && (g.send == nil || errors.Is(err, errNotSent)) {
		return err // a database's word is certain
	}
	ctx = context.WithoutCancel(ctx)
	for try := 1; try <= 4; try++ {
		happened, e := g.happened(ctx, attempts, moves, commit)
		switch {
		case happened:
			return nil
		case refused && e == nil:
			return err
		}
		if clock.Sleep(ctx, jittered(100*time.Millisecond, try)) != nil {
			break
		}
	}
	var u *sqlerr.Error
	if len(attempts) > 0 {
		u = sqlerr.New(sqlerr.TransactionUnknown, "it is not known whether the commit to table %s took place", attempts[0].name).
			WithHint("Look for the snapshot whose summary has lhsql.commit-uuid = %s before you run the statement again.", commit)
	} else {
		u = sqlerr.New(sqlerr.TransactionUnknown, "it is not known whether the commit took place").
			WithHint("See what tables and views there are before you run the statement again.")
	}
	u.Cause = err
	return u
}

// happened looks for the new state of one of the tables: all are changed or none. A table that is
// made is known by its UUID, one that got a snapshot by the commit's UUID in its summary, others by
// what they are to be like. An error says that nobody could be asked.
func (g *commitEngine) happened(ctx context.Context, attempts []*attempt, moves []pointerMove, commit string) (bool, error) {
	if a := telling(attempts); a != nil {
		name := a.name
		if a.now != (Name{}) {
			name = a.now
		}
		var missing *NotFound
		loc, err := g.pointers.pointer(ctx, name)
		if errors.As(err, &missing) {
			return false, nil
		}
		if err != nil || loc == a.to {
			return err == nil, err
		}
		t, err := g.load(ctx, name, loc)
		if errors.As(err, &missing) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return a.seenIn(t, commit, g.send != nil), nil
	}
	for _, m := range moves {
		if m.to != "" && g.rows != nil {
			loc, err := g.rows.located(ctx, m.target())
			return err == nil && loc == m.to, err
		}
	}
	return false, nil // that something is gone does not tell by whom
}

// telling is the attempt whose traces are the plainest; nil: none leaves any.
func telling(attempts []*attempt) *attempt {
	var some *attempt
	for _, a := range attempts {
		if a.to == "" {
			continue
		}
		if a.head.staged != nil && a.head.staged.created || a.snapshot != 0 {
			return a
		}
		if some == nil {
			some = a
		}
	}
	return some
}

// seenIn tells whether a table's state knows of the attempt. With sent, it was sent as updates: no
// metadata file is ours.
func (a *attempt) seenIn(t *Table, commit string, sent bool) bool {
	for _, l := range t.metadataLog {
		if l.File == a.to {
			return true
		}
	}
	for _, s := range t.snapshots {
		if strings.HasPrefix(s.Summary["lhsql.commit-uuid"], commit) {
			return true
		}
	}
	switch {
	case a.snapshot != 0 || !sent:
		return false
	case a.head.staged != nil && a.head.staged.created:
		return t.uuid == a.head.uuid
	}
	return a.edit.visibleIn(t)
}

// cleanUp removes the files of tries that certainly did not commit.
func cleanUp(ctx context.Context, attempts []*attempt) {
	ctx = context.WithoutCancel(ctx)
	for _, a := range attempts {
		for _, p := range a.written {
			_ = a.head.FS().Remove(ctx, p) // an orphan that stays does no harm
		}
	}
}

// expire removes the metadata files that a commit has put out of the tables' logs, where the table
// wants that (write.metadata.delete-after-commit.enabled; how many are kept says
// write.metadata.previous-versions-max). A catalog that is sent updates does so itself. A file that
// another name in the catalog stands for is that one's.
func (g *commitEngine) expire(ctx context.Context, attempts []*attempt) {
	if g.send != nil || g.rows == nil {
		return
	}
	ctx = context.WithoutCancel(ctx)
	for _, a := range attempts {
		if len(a.edit.expired) == 0 || !strings.EqualFold(a.edit.s.properties["write.metadata.delete-after-commit.enabled"], "true") {
			continue
		}
		held, err := g.rows.pointed(ctx, a.edit.expired)
		for _, p := range a.edit.expired {
			if err == nil && !held[p] {
				_ = a.head.FS().Remove(ctx, p) // one that stays does no harm
			}
		}
	}
}

var metadataNumber = regexp.MustCompile(`(?:^|/)v?(\d+)[-.][^/]*$`)

// nextMetadataName is the file name after the metadata file at loc: NNNNN-uuid.metadata.json.
func nextMetadataName(loc string, gz bool) string {
	n := 0
	if m := metadataNumber.FindStringSubmatch(loc); m != nil {
		if v, err := strconv.Atoi(m[1]); err == nil {
			n = v + 1
		}
	}
	ext := ".metadata.json"
	if gz {
		ext = ".gz.metadata.json"
	}
	return fmt.Sprintf("%05d-%s%s", n, uuid.NewString(), ext)
}
