package lake

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
)

// Transaction is a catalog as a transaction block has made it so far: what the block has changed
// and defined, over what others see. Nothing of it is in the catalog until Publish.
//
//	names that the block has touched ─▶ relations: a table or view, or that there is none
//	names that it has only read      ─▶ pins: the table as it was read first
//	all others                       ─▶ the catalog
//
// Its state is a value, so that a savepoint can keep one. It belongs to one session.
type Transaction struct {
	base definer
	// Stepwise lets Publish make what the catalog cannot make in one step one after the other.
	Stepwise bool

	pins  map[Name]*Table
	state TransactionState
	files []wroteFile
}

// definer is a Catalog whose definitions can be held back.
type definer interface {
	Catalog
	commits() *commitEngine
	// stageNew makes the metadata of a table that is not there, in a schema with the properties.
	stageNew(ctx context.Context, n Name, spec TableSpec, schema map[string]string) (*Table, error)
	// viewFolder is where a new view lies, in a schema with the properties.
	viewFolder(n Name, schema map[string]string) (string, error)
	// needViews refuses where the catalog cannot hold views.
	needViews() error
}

var (
	_ definer   = (*sqlCatalog)(nil)
	_ definer   = (*restCatalog)(nil)
	_ Catalog   = (*Transaction)(nil)
	_ Versioned = (*Transaction)(nil)
)

// TransactionState is what a transaction has done at one time. It is not changed, only replaced.
type TransactionState struct {
	relations map[Name]*relation // by the name in the transaction; nil: there is none
	dropped   map[Name]*relation // by the name in the catalog
	schemas   map[string]schemaState
	purge     []*Table // those of dropped that lose their files, as they were found
	files     int      // how many files have been written
}

// relation is a table or view that a transaction has touched.
type relation struct {
	row     Name   // its name in the catalog; none: it is made here
	pointer string // its metadata in the catalog

	found  *Table  // the table as it was found; nil: it is made here, or cannot be read
	table  *Table  // as the transaction sees it
	staged *Staged // nil: nothing but its name may have changed

	view  *View
	fresh bool // the view has a version that the catalog has not
}

func (r *relation) made() bool { return r.row == Name{} }

// wroteFile is a file that only the transaction knows.
type wroteFile struct {
	fs   store.FS
	path string
}

// Begin starts a transaction over a catalog.
func Begin(c Catalog) *Transaction {
	return &Transaction{base: c.(definer), pins: map[Name]*Table{}}
}

// State and Restore let the transaction go back to a savepoint; the zero state is its beginning.
func (t *Transaction) State() TransactionState { return t.state }

// Restore also removes the files that were written since: nobody else has heard of them.
func (t *Transaction) Restore(ctx context.Context, to TransactionState) {
	t.sweep(ctx, to.files, nil)
	t.state = to
}

// sweep removes the files from a number on that are not to be kept.
func (t *Transaction) sweep(ctx context.Context, from int, keep map[string]bool) {
	ctx = context.WithoutCancel(ctx)
	gone := map[string]bool{} // deletion vectors share a file
	for _, f := range t.files[from:] {
		if !keep[f.path] && !gone[f.path] {
			gone[f.path] = true
			_ = f.fs.Remove(ctx, f.path) // an orphan that stays does no harm
		}
	}
	t.files = t.files[:from]
}

// change replaces the state by f's copy of it.
func (t *Transaction) change(f func(*TransactionState)) error {
	next := t.state
	next.relations, next.dropped, next.schemas = maps.Clone(next.relations), maps.Clone(next.dropped), maps.Clone(next.schemas)
	next.purge = slices.Clip(next.purge)
	if next.relations == nil {
		next.relations = map[Name]*relation{}
	}
	if next.dropped == nil {
		next.dropped = map[Name]*relation{}
	}
	if next.schemas == nil {
		next.schemas = map[string]schemaState{}
	}
	f(&next)
	if t.base.commits().rows == nil && !t.Stepwise {
		if changes, definitions := next.count(); definitions > 0 && changes+definitions > 1 {
			return sqlerr.New(sqlerr.FeatureNotSupported, "catalog %s cannot make this definition and what else the transaction does in one step", t.base.Name()).
				WithHint("COMMIT between them, or SET lhsql.stepwise_commit = on: COMMIT then does one after the other, and what it has done stays done if the next one fails.")
		}
	}
	next.files = len(t.files)
	t.state = next
	return nil
}

// count counts changes of tables, making them included, and definitions.
func (s *TransactionState) count() (changes, definitions int) {
	definitions = len(s.dropped)
	for n, r := range s.relations {
		switch {
		case r == nil:
			continue
		case r.staged != nil:
			changes++
		case r.fresh:
			definitions++
		}
		if !r.made() && r.row != n {
			definitions++
		}
	}
	for _, x := range s.schemas {
		if x.changed() {
			definitions++
		}
	}
	return changes, definitions
}

func (t *Transaction) Name() string                  { return t.base.Name() }
func (t *Transaction) Properties() map[string]string { return t.base.Properties() }
func (t *Transaction) Close() error                  { return nil }

// Version implements Versioned: other names than the catalog's have no version.
func (t *Transaction) Version(ctx context.Context) string {
	v, ok := t.base.(Versioned)
	if !ok || len(t.state.schemas)+len(t.state.dropped) > 0 {
		return ""
	}
	for n, r := range t.state.relations {
		if r == nil || r.row != n {
			return ""
		}
	}
	return v.Version(ctx)
}

func (t *Transaction) named(n Name) Name {
	n.Catalog = t.base.Name()
	return n
}

// read loads a table that the transaction has not touched, once.
func (t *Transaction) read(ctx context.Context, n Name) (*Table, error) {
	if p := t.pins[n]; p != nil {
		return p, nil
	}
	p, err := t.base.Load(ctx, n)
	if err == nil {
		t.pins[n] = p
	}
	return p, err
}

// look finds what a name stands for; nil: nothing.
func (t *Transaction) look(ctx context.Context, n Name) (*relation, error) {
	if r, known := t.state.relations[n]; known {
		return r, nil
	}
	var missing *NotFound
	table, err := t.read(ctx, n)
	if err == nil {
		return &relation{row: n, pointer: table.pointer, found: table, table: table}, nil
	}
	if !errors.As(err, &missing) {
		return nil, err
	}
	view, err := t.base.LoadView(ctx, n)
	if err == nil {
		return &relation{row: n, pointer: view.MetadataLocation, view: view}, nil
	}
	if errors.As(err, &missing) {
		err = nil
	}
	return nil, err
}

// lookFor finds a table or a view.
func (t *Transaction) lookFor(ctx context.Context, n Name, what string) (*relation, error) {
	r, err := t.look(ctx, n)
	if err == nil && (r == nil || (r.table != nil) != (what == "table")) {
		err = &NotFound{What: what, Name: n.String()}
	}
	return r, err
}

// free makes sure that a name can be given.
func (t *Transaction) free(ctx context.Context, n Name) error {
	r, err := t.look(ctx, n)
	switch {
	case err != nil:
		return err
	case r == nil:
		return nil
	case r.view != nil:
		return &Exists{What: "view", Name: n.String()}
	}
	return &Exists{What: "table", Name: n.String()}
}

func (t *Transaction) Load(ctx context.Context, n Name) (*Table, error) {
	n = t.named(n)
	r, known := t.state.relations[n]
	if !known {
		return t.read(ctx, n)
	}
	if r == nil || r.table == nil {
		return nil, &NotFound{What: "table", Name: n.String()}
	}
	return r.table, nil
}

func (t *Transaction) LoadView(ctx context.Context, n Name) (*View, error) {
	n = t.named(n)
	r, known := t.state.relations[n]
	if !known {
		return t.base.LoadView(ctx, n)
	}
	if r == nil || r.view == nil {
		return nil, &NotFound{What: "view", Name: n.String()}
	}
	v := *r.view
	v.Name = n
	return &v, nil
}

func (t *Transaction) List(ctx context.Context, ns string) ([]Name, error) {
	return t.list(ctx, ns, t.base.List, func(r *relation) bool { return r.table != nil })
}

func (t *Transaction) Views(ctx context.Context, ns string) ([]Name, error) {
	return t.list(ctx, ns, t.base.Views, func(r *relation) bool { return r.view != nil })
}

// list is the catalog's list with the transaction's names in place of those that it has touched.
func (t *Transaction) list(ctx context.Context, ns string, base func(context.Context, string) ([]Name, error), is func(*relation) bool) ([]Name, error) {
	var list []Name
	if x, known := t.state.schemas[ns]; !known || x.exists && !x.fresh {
		var err error
		if list, err = base(ctx, ns); err != nil {
			var missing *NotFound
			if _, e := t.NamespaceProperties(ctx, ns); !errors.As(err, &missing) || e != nil {
				return nil, err
			}
		}
	} else if !x.exists {
		return nil, &NotFound{What: "schema", Name: ns}
	}
	out := slices.DeleteFunc(slices.Clone(list), func(n Name) bool { _, known := t.state.relations[n]; return known })
	for n, r := range t.state.relations {
		if n.Namespace == ns && r != nil && is(r) {
			out = append(out, n)
		}
	}
	slices.SortFunc(out, func(a, b Name) int { return strings.Compare(a.Table, b.Table) })
	return out, nil
}

func (t *Transaction) Register(context.Context, Name, string) (*Table, error) {
	return nil, sqlerr.New(sqlerr.ActiveTransaction, "a table cannot be registered inside a transaction block")
}

// lost turns what a definition found otherwise than in the transaction into a conflict.
func lost(err error) error {
	var nf *NotFound
	var ex *Exists
	var ne *NotEmpty
	switch {
	case Outcome(err) == Unknown: // whatever is beneath
		return err
	case errors.As(err, &nf):
		return conflict("another transaction dropped or renamed %s %s", nf.What, nf.Name)
	case errors.As(err, &ex):
		return conflict("another transaction made %s %s", ex.What, ex.Name)
	case errors.As(err, &ne):
		return conflict("another transaction put something into schema %s", ne.Namespace)
	}
	return err
}
