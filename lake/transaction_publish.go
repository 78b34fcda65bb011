package lake

import (
	"context"
	"maps"
	"slices"
	"sort"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// publication is what a transaction has done, as one step.
type publication struct {
	changes []TableChange // by the tables' names in the catalog
	d       definitions
	views   []viewWrite
}

// viewWrite is a view that is made, changed or renamed.
type viewWrite struct {
	name Name // in the transaction
	r    *relation
}

// Empty tells whether there is nothing to publish.
func (t *Transaction) Empty() bool {
	changes, definitions := t.state.count()
	return changes+definitions == 0
}

// Publish makes all that the transaction has done what others see, at once or not at all, and ends
// it. On error ask Outcome, as after Commit. leftover is not nil if it was done, but files of
// tables that were dropped with PURGE could not be removed.
func (t *Transaction) Publish(ctx context.Context) (leftover, err error) {
	keep := map[string]bool{}
	purge := t.state.purge
	defer func() {
		if Outcome(err) != Unknown {
			t.sweep(ctx, 0, keep)
		}
		t.files, t.state = nil, TransactionState{}
	}()
	n, err := t.net(ctx)
	if err != nil {
		return nil, err
	}
	if n.empty() {
		return nil, nil
	}
	g := t.base.commits()
	if g.rows == nil && !n.d.empty() {
		err = t.oneByOne(ctx, n, keep)
	} else {
		err = t.together(ctx, g, n)
		if err == nil {
			n.kept(n.changes, keep)
		} else if t.Stepwise && g.rows == nil && len(n.changes) > 1 && sqlerr.CodeOf(err) == sqlerr.FeatureNotSupported {
			err = t.oneByOne(ctx, n, keep) // a server without transactions
		}
	}
	if err != nil {
		return nil, err
	}
	for _, table := range purge {
		if e := purgeFiles(context.WithoutCancel(ctx), t.base, table); e != nil {
			leftover = e
		}
	}
	return leftover, nil
}

func (n *publication) empty() bool { return len(n.changes)+len(n.views) == 0 && n.d.empty() }

// kept marks the files that committed changes need.
func (n *publication) kept(changes []TableChange, keep map[string]bool) {
	for i := range changes {
		c := &changes[i].Change
		for _, f := range c.Add {
			keep[c.Base.Resolve(f.Path)] = true
		}
	}
}

// net finds what is left of all that was done.
func (t *Transaction) net(ctx context.Context) (*publication, error) {
	n := &publication{d: definitions{renamed: map[Name]renaming{}}}
	needs := map[string]bool{}
	for _, name := range sortedNames(t.state.relations) {
		r := t.state.relations[name]
		if r == nil {
			continue
		}
		row := r.row
		if r.made() {
			row = name
		}
		if r.made() || row != name {
			needs[name.Namespace] = true
		}
		if r.staged != nil {
			ch, err := r.staged.Net(ctx)
			if err != nil {
				return nil, err
			}
			n.changes = append(n.changes, TableChange{row, ch})
		}
		switch {
		case r.table != nil && row != name:
			n.d.renamed[row] = renaming{name, r.found.uuid}
		case r.view != nil && (r.fresh || row != name):
			n.views = append(n.views, viewWrite{name, r})
		}
	}
	for _, row := range sortedNames(t.state.dropped) {
		r := t.state.dropped[row]
		n.d.rows = append(n.d.rows, pointerMove{name: row, from: r.pointer, view: r.view != nil})
	}
	for _, ns := range slices.Sorted(maps.Keys(t.state.schemas)) {
		x := t.state.schemas[ns]
		if !x.changed() {
			continue
		}
		delete(needs, ns)
		n.d.schemas = append(n.d.schemas, schemaChange{name: ns, dropped: x.was && (!x.exists || x.fresh), made: x.fresh, set: x.set, remove: x.remove})
	}
	n.d.needs = keysOf(needs)
	sort.Strings(n.d.needs)
	return n, nil
}

// together publishes in one step.
func (t *Transaction) together(ctx context.Context, g *commitEngine, n *publication) (err error) {
	var views []string
	defer func() {
		if err != nil && Outcome(err) != Unknown {
			for _, loc := range views {
				_ = g.rows.removeView(context.WithoutCancel(ctx), loc)
			}
		}
	}()
	for _, v := range n.views {
		m := pointerMove{name: v.r.row, from: v.r.pointer, to: v.r.pointer, view: true}
		if v.r.made() {
			m.name = v.name
		} else if v.r.row != v.name {
			m.now = v.name
		}
		if v.r.fresh {
			if m.to, err = g.rows.writeView(ctx, v.r.view.Location, m.from, v.r.view.raw); err != nil {
				return err
			}
			views = append(views, m.to)
		}
		n.d.rows = append(n.d.rows, m)
	}
	d := &n.d
	if d.empty() && (g.rows == nil || len(d.needs) == 0) {
		d = nil
	}
	_, err = g.publish(ctx, n.changes, d)
	return lost(err)
}

// oneByOne makes definitions that the catalog has requests for, one after the other: one alone, or
// several if the session wants that. Who reads meanwhile sees some of them.
func (t *Transaction) oneByOne(ctx context.Context, n *publication, keep map[string]bool) error {
	steps, err := t.steps(ctx, n, keep)
	if err != nil {
		return err
	}
	for i, step := range steps {
		if err := step(); err != nil {
			err = lost(err)
			if i == 0 {
				return err
			}
			if Outcome(err) == Unknown {
				return err
			}
			e := sqlerr.New(sqlerr.SystemError, "the transaction was committed in part: step %d of %d failed: %v", i+1, len(steps), err).
				WithHint("What the steps before it did stays done; it and those after it did nothing.")
			e.Cause = err
			return e
		}
	}
	return nil
}

// steps orders what is to be done so that each name is free when it is given: drops, schemas,
// renames, tables, views.
func (t *Transaction) steps(ctx context.Context, n *publication, keep map[string]bool) ([]func() error, error) {
	var out []func() error
	step := func(f func() error) { out = append(out, f) }
	for _, m := range n.d.rows {
		step(func() error {
			if m.view {
				return t.base.DropView(ctx, m.name)
			}
			return t.dropStep(ctx, m)
		})
	}
	for _, s := range n.d.schemas {
		if s.dropped && s.made {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "schema %q cannot be dropped and made anew in one transaction", s.name)
		}
		if s.made {
			step(func() error { return t.base.CreateNamespace(ctx, s.name, s.set) })
		}
	}
	renames := map[Name]func(to Name) error{}
	targets := map[Name]Name{}
	for from, r := range n.d.renamed {
		targets[from] = r.to
		renames[from] = func(to Name) error { return t.renameStep(ctx, from, to, r.uuid) }
	}
	for _, v := range n.views {
		if !v.r.made() && v.r.row != v.name {
			targets[v.r.row] = v.name
			renames[v.r.row] = func(to Name) error { return t.base.RenameView(ctx, v.r.row, to) }
		}
	}
	for len(targets) > 0 {
		before := len(targets)
		for _, from := range sortedNames(targets) {
			to := targets[from]
			if _, taken := targets[to]; taken {
				continue
			}
			delete(targets, from)
			step(func() error { return renames[from](to) })
		}
		if len(targets) == before {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "tables cannot trade names in one transaction of catalog %s", t.base.Name())
		}
	}
	for _, c := range n.changes {
		if r, ok := n.d.renamed[c.Name]; ok && !c.Change.created() {
			c.Name = r.to
		}
		step(func() error {
			one := []TableChange{c}
			_, err := t.base.commits().publish(ctx, one, nil)
			if err == nil {
				n.kept(one, keep)
			}
			return err
		})
	}
	for _, v := range n.views {
		if v.r.fresh {
			step(func() error {
				_, err := t.base.CreateView(ctx, v.name, v.r.view.spec(), !v.r.made())
				return err
			})
		}
	}
	for _, s := range n.d.schemas {
		if s.dropped {
			step(func() error { return t.base.DropNamespace(ctx, s.name) })
		} else if !s.made {
			step(func() error { return t.base.SetNamespaceProperties(ctx, s.name, s.set, s.remove) })
		}
	}
	return out, nil
}

// dropStep drops a table if it stands where the transaction found it.
func (t *Transaction) dropStep(ctx context.Context, m pointerMove) error {
	if m.from != "" {
		now, err := t.base.Load(ctx, m.name)
		if err != nil {
			return err
		}
		if now.pointer != m.from {
			return conflict("another transaction changed table %s", m.name.Table)
		}
	}
	return t.base.Drop(ctx, m.name, false)
}

func (t *Transaction) renameStep(ctx context.Context, from, to Name, uuid string) error {
	now, err := t.base.Load(ctx, from)
	if err != nil {
		return err
	}
	if now.uuid != uuid {
		return conflict("table %s was dropped and made anew", from.Table)
	}
	return t.base.Rename(ctx, from, to)
}
