package lake

import (
	"context"
	"encoding/json"
	"fmt"
	"sort"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Staged is what a transaction has done to one table so far, seen by nobody else: a chain of
// changes on the state that the first of them read, or that CREATE TABLE made. Immutable; a
// savepoint keeps an earlier one.
//
//	Base ── change 1 ──▶ snapshot in memory ── change 2 ──▶ Table
//	  └───────────────────── Net ─────────────────────────────┘
//
// The snapshots in between have manifests in the table's folder, but no metadata file names them.
// Net is the one change that COMMIT publishes.
type Staged struct {
	Base    *Table
	Table   *Table // Base with the changes
	changes []Change
	branch  string
	// movedRefs: a change was of branches or tags.
	movedRefs bool
}

// stagedStates numbers the states that transactions have seen, so that two of them never look like
// one: a prepared statement asks by its table's MetadataLocation whether it has moved on.
var stagedStates atomic.Int64

// beginStaged is a table that nothing has been done to yet: one that is there, or one that the
// transaction makes or replaces.
func beginStaged(base *Table) *Staged {
	t := *base
	if base.staged != nil {
		t.staged = nil // who writes to it finds a table like others
		t.pointer = ""
		t.MetadataLocation = stagedLocation(base)
	}
	return &Staged{Base: base, Table: &t}
}

func stagedLocation(base *Table) string {
	loc := base.MetadataLocation
	if loc == "" {
		loc = Canonical(base.location) + "/metadata/"
	}
	return fmt.Sprintf("%s#%d", loc, stagedStates.Add(1))
}

// named is the same for a table with another name.
func (s *Staged) named(n Name) *Staged {
	next, base, table := *s, *s.Base, *s.Table
	base.Name, table.Name = n, n
	next.Base, next.Table = &base, &table
	if table.over != nil {
		table.over = &base
	}
	return &next
}

// Stage adds a change to what is staged. wrote are the files that nothing but the transaction
// knows: data and delete files that the change adds, and the staged snapshot's own.
func (s *Staged) Stage(ctx context.Context, c Change) (next *Staged, wrote []string, err error) {
	rows := len(c.Add)+len(c.Remove) > 0
	if rows && s.wroteRows() && branchName(c.Branch) != s.branch {
		return nil, nil, errSeveralBranches(s.Base)
	}
	if s.movedRefs && rows || c.MovesRefs && s.wroteRows() {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "one transaction cannot write rows of table %s and move its branches or tags", s.Base.Name.Table).
			WithHint("COMMIT between them.")
	}
	if c.StageOnly {
		return nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "a transaction cannot stage a snapshot of table %s to be published later", s.Base.Name.Table).
			WithHint("Write outside of a transaction block, or to a branch.")
	}
	next = &Staged{movedRefs: s.movedRefs || c.MovesRefs, Base: s.Base, branch: s.branch, changes: append(append([]Change(nil), s.changes...), c)}
	if rows {
		next.branch = branchName(c.Branch)
	}
	e, err := newEdit(&s.Table.state, nextInstant(ctx, s.Table))
	if err != nil {
		return nil, nil, err
	}
	if c.Edit != nil {
		if err := c.Edit(e); err != nil {
			return nil, nil, err
		}
	}
	if err := e.flush(); err != nil {
		return nil, nil, err
	}
	if err := s.Table.mayMove(e.s.location); err != nil {
		return nil, nil, err
	}
	if rows {
		p := &producer{c: &c, head: s.Table, edit: e, commit: uuid.NewString(), spell: metadataFolder(e.s)}
		err := p.locate()
		if err == nil {
			err = p.run(ctx)
		}
		if err != nil {
			for _, f := range p.written {
				_ = s.Base.FS().Remove(context.WithoutCancel(ctx), f)
			}
			return nil, nil, err
		}
		wrote = p.written
		for _, f := range c.Add {
			wrote = append(wrote, s.Base.Resolve(f.Path))
		}
	}
	raw, err := json.Marshal(e.doc)
	if err != nil {
		return nil, wrote, err
	}
	st, err := parseMetadata(raw)
	if err != nil {
		return nil, wrote, err
	}
	t := *s.Base
	t.state, t.pointer, t.over, t.staged = *st, "", s.Base, nil
	t.MetadataLocation = stagedLocation(s.Base)
	next.Table = &t
	return next, wrote, nil
}

func branchName(b string) string {
	if b == "" {
		return "main"
	}
	return b
}

func (s *Staged) wroteRows() bool { return s.branch != "" }

// Over is the committed state below a table that a transaction has changed; nil for others.
// Row ids and sequence numbers that the changes gave are provisional: from the numbers that
// Over says on, they mean nothing to a file, which others may commit before.
func (t *Table) Over() *Table { return t.over }

// LineageRowID is the first row id that is not given.
func LineageRowID(t *Table) int64 { return t.nextRowID }

// LineageSequence is the first sequence number that is not given.
func LineageSequence(t *Table) int64 { return t.lastSeq + 1 }

// Net is the one change that does what the staged ones did together. One change is itself, but
// for a DELETE.
func (s *Staged) Net(ctx context.Context) (Change, error) {
	switch len(s.changes) {
	case 0:
		return Change{Base: s.Base}, nil
	case 1:
		c := s.changes[0]
		c.Base = s.Base // what the statement saw of a table that is made is no table yet
		if c.Kind == MergeOnReadDelete {
			c.Kind = Several
		}
		return c, nil
	}
	n := Change{Base: s.Base, Branch: s.branch, Kind: Append, Edit: s.edits(), User: s.changes[0].User}
	for i := range s.changes {
		n.Still = n.Still || s.changes[i].Still
		n.Looks = append(n.Looks, s.changes[i].Looks...)
	}
	if !s.wroteRows() {
		n.Statement = s.statements()
		return n, nil
	}
	from, to := s.Base.head(s.branch), s.Table.head(s.branch)
	d, err := diff(ctx, s.Base, from, s.Table, to)
	if err != nil {
		return n, err
	}
	n.Snapshot = from
	for _, f := range append(d.added, d.deletes...) {
		g := *f
		g.DataSeq, g.FileSeq, g.SnapshotID, g.FirstRowID = 0, 0, 0, nil
		n.Add = append(n.Add, &g)
	}
	for _, f := range d.removed {
		n.Remove = append(n.Remove, f)
	}
	byPath := func(list []*DataFile) {
		sort.Slice(list, func(i, k int) bool { return fileKey(list[i]) < fileKey(list[k]) })
	}
	byPath(n.Add)
	byPath(n.Remove)
	s.guard(&n)
	n.Statement = s.statements()
	return n, nil
}

// guard gathers what the changes are to be validated for.
func (s *Staged) guard(n *Change) {
	var filters []func(*DataFile) bool
	all := false
	inputs := map[Input]bool{}
	names := map[Name]bool{s.Base.Name: true} // the table may have been renamed in between
	n.Isolation = SnapshotIsolation           // unless one of them wants more
	for i := range s.changes {
		if b := s.changes[i].Base; b != nil {
			names[b.Name] = true
		}
	}
	for i := range s.changes {
		c := &s.changes[i]
		if c.Recheck != nil {
			n.Recheck = c.Recheck
		}
		n.References = append(n.References, c.References...)
		for _, in := range c.Inputs {
			if names[in.Table] && s.Base.SnapshotByID(in.Snapshot) == nil {
				continue // a staged snapshot, which nobody will know
			}
			if !inputs[in] {
				inputs[in] = true
				n.Inputs = append(n.Inputs, in)
			}
		}
		if len(c.Add)+len(c.Remove) == 0 || c.Kind == Append {
			continue
		}
		n.Kind = Several
		n.Isolation = min(n.Isolation, c.Isolation)
		if c.Conflicts == nil {
			all = true
		} else {
			filters = append(filters, c.Conflicts)
		}
	}
	if all {
		return
	}
	n.Conflicts = func(f *DataFile) bool {
		for _, c := range filters {
			if c(f) {
				return true
			}
		}
		return false
	}
}

// edits runs the changes' edits one after the other.
func (s *Staged) edits() func(*Edit) error {
	var list []func(*Edit) error
	for i := range s.changes {
		if f := s.changes[i].Edit; f != nil {
			list = append(list, f)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return func(e *Edit) error {
		for _, f := range list {
			if err := f(e); err != nil {
				return err
			}
			// Each ran on flushed metadata before, and must find the same now.
			if err := e.flush(); err != nil {
				return err
			}
		}
		return nil
	}
}

func (s *Staged) statements() string {
	var list []string
	seen := map[string]bool{}
	for i := range s.changes {
		if w := s.changes[i].Statement; w != "" && !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	return strings.Join(list, ", ")
}

// head is a branch's snapshot, nil if it has none.
func (t *Table) head(branch string) *Snapshot {
	if r, ok := t.Ref(branch); ok {
		return t.SnapshotByID(r.SnapshotID)
	}
	return nil
}

func errSeveralBranches(t *Table) error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "one transaction cannot write two branches of table %s", t.Name.Table).
		WithHint("COMMIT between them.")
}
