package lake

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sort"
	"strings"

	"github.com/lhsql/lhsql/internal/clock"
)

// Commit keeps a change until Publish.
func (t *Transaction) Commit(ctx context.Context, n Name, ch Change) (*Table, error) {
	n = t.named(n)
	r, err := t.lookFor(ctx, n, "table")
	if err != nil {
		return nil, err
	}
	s := r.staged
	if s == nil {
		s = beginStaged(r.table)
	}
	return t.stage(ctx, n, r, s, ch)
}

func (t *Transaction) CommitAll(ctx context.Context, changes []TableChange) ([]*Table, error) {
	var out []*Table
	was := t.State()
	for _, c := range changes {
		table, err := t.Commit(ctx, c.Name, c.Change)
		if err != nil {
			t.Restore(ctx, was) // all or none, here too
			return nil, err
		}
		out = append(out, table)
	}
	return out, nil
}

// stage makes s with ch what the name stands for.
func (t *Transaction) stage(ctx context.Context, n Name, r *relation, s *Staged, ch Change) (*Table, error) {
	s, wrote, err := s.Stage(ctx, ch)
	for _, p := range wrote {
		t.files = append(t.files, wroteFile{r.table.FS(), p})
	}
	if err != nil {
		return nil, err
	}
	next := *r
	next.table, next.staged = s.Table, s
	return s.Table, t.change(func(st *TransactionState) { st.relations[n] = &next })
}

// toDefine is the name that something is to be made under, its schema's properties, and what has
// the name now.
func (t *Transaction) toDefine(ctx context.Context, n Name) (Name, map[string]string, *relation, error) {
	n = t.named(n)
	if err := checkName(n); err != nil {
		return n, nil, nil, err
	}
	props, err := t.NamespaceProperties(ctx, n.Namespace)
	if err != nil {
		return n, nil, nil, err
	}
	r, err := t.look(ctx, n)
	return n, props, r, err
}

// Stage makes the metadata of a table that is to be made or replaced. What is replaced is the
// table as it was found: the transaction's own changes to it come to nothing.
func (t *Transaction) Stage(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	n, props, r, err := t.toDefine(ctx, n)
	if err != nil {
		return nil, err
	}
	if r == nil || !spec.Replace || r.view != nil {
		if err := t.free(ctx, n); err != nil {
			return nil, err
		}
	}
	if r != nil && r.found != nil {
		old := *r.found
		old.Name = n
		return replacing(ctx, &old, spec)
	}
	return t.base.stageNew(ctx, n, spec, props)
}

func (t *Transaction) Create(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	table, err := t.Stage(ctx, n, spec)
	if err != nil {
		return nil, err
	}
	return t.CommitStaged(ctx, table, Change{})
}

func (t *Transaction) CommitStaged(ctx context.Context, table *Table, ch Change) (*Table, error) {
	n := t.named(table.Name)
	r, err := t.look(ctx, n)
	if err != nil {
		return nil, err
	}
	s := beginStaged(table)
	next := relation{table: s.Table, staged: s}
	if r != nil {
		next.row, next.pointer, next.found = r.row, r.pointer, r.found
	}
	if len(ch.Add)+len(ch.Remove) > 0 || ch.Edit != nil {
		return t.stage(ctx, n, &next, s, ch)
	}
	return s.Table, t.change(func(st *TransactionState) { st.relations[n] = &next })
}

func (t *Transaction) Drop(ctx context.Context, n Name, purge bool) error {
	n = t.named(n)
	r, err := t.lookFor(ctx, n, "table")
	var missing *NotFound
	if err != nil && !errors.As(err, &missing) && !purge {
		r, err = t.unreadable(ctx, n, err)
	}
	if err != nil {
		return err
	}
	if purge && r.found != nil {
		gone := map[Name]bool{r.row: true} // as the catalog has them
		for n := range t.state.dropped {
			gone[n] = true
		}
		if err := purgeable(ctx, t.base, r.found, gone); err != nil {
			return err
		}
	}
	return t.change(func(st *TransactionState) {
		st.drop(n, r)
		if purge && r.found != nil {
			st.purge = append(st.purge, r.found)
		}
	})
}

// unreadable is a table or view of which nothing is known but its row.
func (t *Transaction) unreadable(ctx context.Context, n Name, cause error) (*relation, error) {
	r := &relation{row: n}
	if rows := t.base.commits().rows; rows != nil {
		var err error
		if r.pointer, err = rows.located(ctx, n); err != nil || r.pointer == "" {
			return nil, cause
		}
	}
	return r, nil
}

func (s *TransactionState) drop(n Name, r *relation) {
	s.relations[n] = nil
	if !r.made() {
		s.dropped[r.row] = r
	}
}

func (t *Transaction) DropView(ctx context.Context, n Name) error {
	n = t.named(n)
	r, err := t.lookFor(ctx, n, "view")
	var missing *NotFound
	if err != nil && !errors.As(err, &missing) {
		if r, err = t.unreadable(ctx, n, err); err == nil {
			r.view = &View{Name: n}
		}
	}
	if err != nil {
		return err
	}
	return t.change(func(st *TransactionState) { st.drop(n, r) })
}

func (t *Transaction) Rename(ctx context.Context, from, to Name) error {
	return t.rename(ctx, from, to, "table")
}

func (t *Transaction) RenameView(ctx context.Context, from, to Name) error {
	return t.rename(ctx, from, to, "view")
}

func (t *Transaction) rename(ctx context.Context, from, to Name, what string) error {
	from, to = t.named(from), t.named(to)
	if err := checkName(to); err != nil {
		return err
	}
	if _, err := t.NamespaceProperties(ctx, to.Namespace); err != nil {
		return err
	}
	r, err := t.lookFor(ctx, from, what)
	if err != nil {
		return err
	}
	if err := t.free(ctx, to); err != nil {
		if e := t.still(ctx, r); e != nil {
			return e
		}
		return err
	}
	next := *r
	switch {
	case r.staged != nil:
		next.staged = r.staged.named(to)
		next.table = next.staged.Table
	case r.table != nil:
		table := *r.table
		table.Name = to
		next.table = &table
	}
	return t.change(func(st *TransactionState) {
		st.relations[from] = nil
		st.relations[to] = &next
	})
}

// still finds a conflict where the catalog no longer has the table that the transaction means: who
// took its new name may have given it that name.
func (t *Transaction) still(ctx context.Context, r *relation) error {
	if r.found == nil {
		return nil
	}
	now, err := t.base.Load(ctx, r.row)
	if err != nil {
		return lost(err)
	}
	if now.uuid != r.found.uuid {
		return conflict("table %s was dropped and made anew", r.row.Table)
	}
	return nil
}

func (t *Transaction) CreateView(ctx context.Context, n Name, spec ViewSpec, replace bool) (*View, error) {
	if err := t.base.needViews(); err != nil {
		return nil, err
	}
	n, props, r, err := t.toDefine(ctx, n)
	if err != nil {
		return nil, err
	}
	if r == nil {
		r = &relation{}
	} else if r.view == nil || !replace {
		return nil, t.free(ctx, n)
	}
	next := *r
	var location string
	if r.view != nil {
		location = r.view.Location
	} else if location, err = t.base.viewFolder(n, props); err != nil {
		return nil, err
	}
	b, err := nextView(spec, r.view, location, clock.Now(ctx))
	if err != nil {
		return nil, err
	}
	if next.view, err = parseView(n, r.pointer, b); err != nil {
		return nil, err
	}
	next.fresh = true
	if err := t.change(func(st *TransactionState) { st.relations[n] = &next }); err != nil {
		return nil, err
	}
	return t.LoadView(ctx, n)
}

// schemaState is a schema that a transaction has touched.
type schemaState struct {
	was    bool // the catalog has it
	exists bool
	fresh  bool // it is made here: set are all its properties
	set    map[string]string
	remove []string
}

func (x *schemaState) changed() bool {
	return x.was != x.exists || x.fresh || len(x.set)+len(x.remove) > 0
}

func (t *Transaction) Namespaces(ctx context.Context) ([]string, error) {
	list, err := t.base.Namespaces(ctx)
	if err != nil || len(t.state.schemas) == 0 {
		return list, err
	}
	seen := map[string]bool{}
	for _, ns := range list {
		seen[ns] = true
	}
	for ns, x := range t.state.schemas {
		if !x.exists {
			delete(seen, ns)
		}
	}
	for ns, x := range t.state.schemas {
		for x.exists && ns != "" { // a.b makes a exist too
			seen[ns] = true
			ns = ns[:max(strings.LastIndexByte(ns, '.'), 0)]
		}
	}
	out := keysOf(seen)
	sort.Strings(out)
	return out, nil
}

func (t *Transaction) NamespaceProperties(ctx context.Context, ns string) (map[string]string, error) {
	x, known := t.state.schemas[ns]
	switch {
	case known && !x.exists:
		return nil, &NotFound{What: "schema", Name: ns}
	case known && x.fresh:
		return maps.Clone(x.set), nil
	}
	props, err := t.base.NamespaceProperties(ctx, ns)
	if err != nil {
		for made, x := range t.state.schemas {
			if x.exists && strings.HasPrefix(made, ns+".") {
				return nil, nil
			}
		}
		return nil, err
	}
	props = maps.Clone(props)
	for _, k := range x.remove {
		delete(props, k)
	}
	if props == nil {
		props = map[string]string{}
	}
	maps.Copy(props, x.set)
	return props, nil
}

// schemaExists asks for a schema by its properties: a list may be long.
func (t *Transaction) schemaExists(ctx context.Context, ns string) (bool, error) {
	_, err := t.NamespaceProperties(ctx, ns)
	var missing *NotFound
	if errors.As(err, &missing) {
		return false, nil
	}
	return err == nil, err
}

func (t *Transaction) CreateNamespace(ctx context.Context, ns string, props map[string]string) error {
	if err := checkNamespace(ns); err != nil {
		return err
	}
	exists, err := t.schemaExists(ctx, ns)
	if err != nil {
		return err
	}
	if exists {
		return &Exists{What: "schema", Name: ns}
	}
	return t.change(func(st *TransactionState) {
		st.schemas[ns] = schemaState{was: st.schemas[ns].was, exists: true, fresh: true, set: maps.Clone(props)}
	})
}

func (t *Transaction) DropNamespace(ctx context.Context, ns string) error {
	exists, err := t.schemaExists(ctx, ns)
	if err != nil {
		return err
	}
	if !exists {
		return &NotFound{What: "schema", Name: ns}
	}
	for _, list := range []func(context.Context, string) ([]Name, error){t.List, t.Views} {
		names, err := list(ctx, ns)
		if err != nil {
			return err
		}
		if len(names) > 0 {
			return &NotEmpty{Namespace: ns}
		}
	}
	all, err := t.Namespaces(ctx)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, ns+".") }) {
		return &NotEmpty{Namespace: ns}
	}
	return t.change(func(st *TransactionState) {
		x, known := st.schemas[ns]
		if x = (schemaState{was: !known || x.was}); x.was {
			st.schemas[ns] = x
		} else {
			delete(st.schemas, ns)
		}
	})
}

func (t *Transaction) SetNamespaceProperties(ctx context.Context, ns string, set map[string]string, remove []string) error {
	exists, err := t.schemaExists(ctx, ns)
	if err != nil {
		return err
	}
	if !exists {
		return &NotFound{What: "schema", Name: ns}
	}
	return t.change(func(st *TransactionState) {
		x, known := st.schemas[ns]
		if !known {
			x.was, x.exists = true, true
		}
		x.set = maps.Clone(x.set)
		if x.set == nil {
			x.set = map[string]string{}
		}
		for _, k := range remove {
			delete(x.set, k)
		}
		if !x.fresh {
			x.remove = append(slices.DeleteFunc(slices.Clone(x.remove), func(k string) bool { _, again := set[k]; return again }), remove...)
		}
		maps.Copy(x.set, set)
		st.schemas[ns] = x
	})
}
