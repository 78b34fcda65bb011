package lake

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Temporary is the catalog of one session's temporary tables and views: a namespace whose
// pointers are kept in memory, and whose files lie in a folder that nobody else knows and that
// need not survive the process. Its state is a value, so that a transaction can go back to one.
type Temporary struct {
	name, namespace, folder string

	store    *Store
	prefixes []string
	engine   commitEngine

	mu    sync.Mutex
	state TemporaryState
}

// TemporaryState is what the catalog holds at one time. It is not changed, only replaced.
type TemporaryState struct {
	tables map[string]string // metadata location by table
	views  map[string]*View
}

var _ Catalog = (*Temporary)(nil)

// OpenTemporary makes an empty catalog over folder, which exists and is the catalog's alone.
func OpenTemporary(known *MetadataCache, name, namespace, folder string) *Temporary {
	c := &Temporary{name: name, namespace: namespace, folder: folder,
		store: &Store{known: known, local: LocalFS{volatile: true}}, prefixes: []string{Canonical(folder)}}
	c.engine = commitEngine{pointers: c, load: c.loadAt}
	return c
}

// State is what Restore goes back to when a transaction is rolled back. The files of both are there until Sweep.
func (c *Temporary) State() TemporaryState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Restore goes back to a state that State has given.
func (c *Temporary) Restore(s TemporaryState) {
	c.mu.Lock()
	c.state = s
	c.mu.Unlock()
}

// Equal tells whether nothing has been changed between two states.
func (s TemporaryState) Equal(o TemporaryState) bool {
	return maps.Equal(s.tables, o.tables) && maps.Equal(s.views, o.views)
}

// Empty tells whether the state holds nothing.
func (s TemporaryState) Empty() bool { return len(s.tables)+len(s.views) == 0 }

// Sweep removes the files of tables that are no more: each table has a folder of its own.
func (c *Temporary) Sweep() error {
	live := map[string]bool{}
	for _, loc := range c.State().tables {
		rest := strings.TrimPrefix(Canonical(loc), Canonical(c.folder)+"/")
		first, _, _ := strings.Cut(rest, "/")
		live[first] = true
	}
	list, err := os.ReadDir(c.folder)
	if err != nil {
		return err
	}
	for _, d := range list {
		if !live[d.Name()] {
			err = errors.Join(err, os.RemoveAll(filepath.Join(c.folder, d.Name())))
		}
	}
	return err
}

func (c *Temporary) Name() string                  { return c.name }
func (c *Temporary) Properties() map[string]string { return nil }
func (c *Temporary) Close() error                  { return nil }

func (c *Temporary) Namespaces(context.Context) ([]string, error) {
	return []string{c.namespace}, nil
}

func (c *Temporary) fixed() error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, "the schema of temporary tables cannot be changed")
}

func (c *Temporary) CreateNamespace(context.Context, string, map[string]string) error {
	return c.fixed()
}
func (c *Temporary) DropNamespace(context.Context, string) error { return c.fixed() }
func (c *Temporary) NamespaceProperties(context.Context, string) (map[string]string, error) {
	return nil, nil
}
func (c *Temporary) SetNamespaceProperties(context.Context, string, map[string]string, []string) error {
	return c.fixed()
}

func (c *Temporary) names(list []string) []Name {
	sort.Strings(list)
	out := make([]Name, len(list))
	for i, t := range list {
		out[i] = Name{Catalog: c.name, Namespace: c.namespace, Table: t}
	}
	return out
}

func keysOf[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

func (c *Temporary) List(context.Context, string) ([]Name, error) {
	return c.names(keysOf(c.State().tables)), nil
}

func (c *Temporary) Views(context.Context, string) ([]Name, error) {
	return c.names(keysOf(c.State().views)), nil
}

// pointer implements pointers.
func (c *Temporary) pointer(_ context.Context, n Name) (string, error) {
	loc, ok := c.State().tables[n.Table]
	if !ok || n.Namespace != c.namespace {
		return "", &NotFound{What: "table", Name: n.String()}
	}
	return loc, nil
}

// change replaces the state by f's copy of it.
func (c *Temporary) change(f func(*TemporaryState) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := TemporaryState{tables: maps.Clone(c.state.tables), views: maps.Clone(c.state.views)}
	if next.tables == nil {
		next.tables = map[string]string{}
	}
	if next.views == nil {
		next.views = map[string]*View{}
	}
	if err := f(&next); err != nil {
		return err
	}
	c.state = next
	return nil
}

// taken is the error for a name that is there already; nil if it is free.
func (s *TemporaryState) taken(n Name) error {
	if _, ok := s.tables[n.Table]; ok {
		return &Exists{What: "table", Name: n.String()}
	}
	if s.views[n.Table] != nil {
		return &Exists{What: "view", Name: n.String()}
	}
	return nil
}

// move implements pointers.
func (c *Temporary) move(_ context.Context, moves []pointerMove) error {
	return c.change(func(s *TemporaryState) error {
		for _, m := range moves {
			if m.from == "" {
				if err := s.taken(m.name); err != nil {
					return err
				}
			} else if s.tables[m.name.Table] != m.from {
				return errLostRace
			}
			s.tables[m.name.Table] = m.to
		}
		return nil
	})
}

func (c *Temporary) loadAt(ctx context.Context, n Name, loc string) (*Table, error) {
	n.Catalog = c.name
	t, err := loadTable(ctx, c.store, n, loc, c.prefixes)
	if err == nil {
		t.pointer = loc
	}
	return t, err
}

func (c *Temporary) Load(ctx context.Context, n Name) (*Table, error) {
	loc, err := c.pointer(ctx, n)
	if err != nil {
		return nil, err
	}
	return c.loadAt(ctx, n, loc)
}

func (c *Temporary) Stage(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	if err := checkName(n); err != nil {
		return nil, err
	}
	n.Catalog, n.Namespace = c.name, c.namespace
	state := c.State()
	if loc, ok := state.tables[n.Table]; ok && spec.Replace {
		old, err := c.loadAt(ctx, n, loc)
		if err != nil {
			return nil, err
		}
		return replacing(ctx, old, spec)
	}
	if err := state.taken(n); err != nil {
		return nil, err
	}
	if spec.Location != "" {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "a temporary table has no location of its own")
	}
	return stage(ctx, c.store, n, spec, c.folder+"/"+uuid.NewString(), c.prefixes)
}

func (c *Temporary) Create(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	t, err := c.Stage(ctx, n, spec)
	if err != nil {
		return nil, err
	}
	return c.CommitStaged(ctx, t, Change{})
}

func (c *Temporary) CommitStaged(ctx context.Context, t *Table, ch Change) (*Table, error) {
	return c.engine.commitStaged(ctx, t, ch)
}

func (c *Temporary) Commit(ctx context.Context, n Name, ch Change) (*Table, error) {
	out, err := c.CommitAll(ctx, []TableChange{{n, ch}})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

func (c *Temporary) CommitAll(ctx context.Context, changes []TableChange) ([]*Table, error) {
	for i := range changes {
		changes[i].Name.Catalog = c.name
	}
	return c.engine.commit(ctx, changes)
}

// Drop forgets the table; its files go with the next Sweep.
func (c *Temporary) Drop(ctx context.Context, n Name, _ bool) error {
	if _, err := c.pointer(ctx, n); err != nil {
		return err
	}
	return c.change(func(s *TemporaryState) error { delete(s.tables, n.Table); return nil })
}

func (c *Temporary) Rename(ctx context.Context, from, to Name) error {
	if err := checkName(to); err != nil {
		return err
	}
	loc, err := c.pointer(ctx, from)
	if err != nil {
		return err
	}
	return c.change(func(s *TemporaryState) error {
		if err := s.taken(to); err != nil {
			return err
		}
		delete(s.tables, from.Table)
		s.tables[to.Table] = loc
		return nil
	})
}

func (c *Temporary) Register(context.Context, Name, string) (*Table, error) { return nil, c.fixed() }

func (c *Temporary) LoadView(_ context.Context, n Name) (*View, error) {
	v := c.State().views[n.Table]
	if v == nil || n.Namespace != c.namespace {
		return nil, &NotFound{What: "view", Name: n.String()}
	}
	out := *v
	out.Name = n
	return &out, nil
}

func (c *Temporary) CreateView(ctx context.Context, n Name, spec ViewSpec, replace bool) (*View, error) {
	if err := checkName(n); err != nil {
		return nil, err
	}
	n.Catalog, n.Namespace = c.name, c.namespace
	err := c.change(func(s *TemporaryState) error {
		old := s.views[n.Table]
		if err := s.taken(n); err != nil && (old == nil || !replace) {
			return err
		}
		b, err := nextView(spec, old, c.folder, clock.Now(ctx))
		if err != nil {
			return err
		}
		v, err := parseView(n, "", b)
		s.views[n.Table] = v
		return err
	})
	if err != nil {
		return nil, err
	}
	return c.LoadView(ctx, n)
}

func (c *Temporary) DropView(ctx context.Context, n Name) error {
	if _, err := c.LoadView(ctx, n); err != nil {
		return err
	}
	return c.change(func(s *TemporaryState) error { delete(s.views, n.Table); return nil })
}

func (c *Temporary) RenameView(ctx context.Context, from, to Name) error {
	if err := checkName(to); err != nil {
		return err
	}
	v, err := c.LoadView(ctx, from)
	if err != nil {
		return err
	}
	return c.change(func(s *TemporaryState) error {
		if err := s.taken(to); err != nil {
			return err
		}
		delete(s.views, from.Table)
		s.views[to.Table] = v
		return nil
	})
}
