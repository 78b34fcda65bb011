package lake

import (
	"context"
	"errors"
)

// Catalog finds tables and moves their metadata pointer. Implementations: the SQL catalog
// (SQLite and Postgres, PyIceberg's layout) and REST. One conformance suite.
// Safe for concurrent use. A missing table, view or namespace is a *NotFound; one that is
// there already an *Exists.
type Catalog interface {
	Name() string
	// Properties are the catalog's configuration; they may hold secrets.
	Properties() map[string]string

	Namespaces(ctx context.Context) ([]string, error)
	CreateNamespace(ctx context.Context, namespace string, props map[string]string) error
	// DropNamespace refuses (*NotEmpty) while tables, views or namespaces are in it.
	DropNamespace(ctx context.Context, namespace string) error
	NamespaceProperties(ctx context.Context, namespace string) (map[string]string, error)
	SetNamespaceProperties(ctx context.Context, namespace string, set map[string]string, remove []string) error

	List(ctx context.Context, namespace string) ([]Name, error)
	// Load returns the table as of the catalog's current pointer. Metadata is cached by its
	// location, which is immutable; the pointer is read each time.
	Load(ctx context.Context, n Name) (*Table, error)
	Create(ctx context.Context, n Name, spec TableSpec) (*Table, error)
	// Stage makes the table's metadata without creating it, so that files can be written for
	// its first snapshot (CREATE TABLE AS); CommitStaged creates or replaces it with c.
	Stage(ctx context.Context, n Name, spec TableSpec) (*Table, error)
	CommitStaged(ctx context.Context, staged *Table, c Change) (*Table, error)
	// Commit applies c to the table: see Change for what is validated and when it is retried,
	// and CommitError for the outcomes.
	Commit(ctx context.Context, n Name, c Change) (*Table, error)
	// CommitAll commits to several tables atomically, or refuses where the catalog cannot.
	CommitAll(ctx context.Context, changes []TableChange) ([]*Table, error)
	// Drop removes the table from the catalog; purge also removes its files.
	Drop(ctx context.Context, n Name, purge bool) error
	Rename(ctx context.Context, from, to Name) error
	// Register adds a table that exists by its metadata file.
	Register(ctx context.Context, n Name, metadataLocation string) (*Table, error)

	Views(ctx context.Context, namespace string) ([]Name, error)
	LoadView(ctx context.Context, n Name) (*View, error)
	// CreateView makes a view; replace adds a version to one that exists.
	CreateView(ctx context.Context, n Name, spec ViewSpec, replace bool) (*View, error)
	DropView(ctx context.Context, n Name) error
	RenameView(ctx context.Context, from, to Name) error

	Close() error
}

// NotFound says that a namespace, table or view does not exist.
type NotFound struct{ What, Name string }

func (e *NotFound) Error() string { return e.What + " " + e.Name + " does not exist" }

// Exists says that a namespace, table or view is there already.
type Exists struct{ What, Name string }

func (e *Exists) Error() string { return e.What + " " + e.Name + " already exists" }

// NotEmpty says that a namespace cannot be dropped.
type NotEmpty struct{ Namespace string }

func (e *NotEmpty) Error() string { return "namespace " + e.Namespace + " is not empty" }

// errLostRace says that another writer moved the pointer first. Nothing of ours happened.
var errLostRace = errors.New("another writer committed first")

// errUnknown says that the pointer may or may not have moved.
var errUnknown = errors.New("the catalog's answer was lost")

// pointers is what a catalog that keeps only metadata locations must do for the commit engine.
type pointers interface {
	// pointer reads the current metadata location.
	pointer(ctx context.Context, n Name) (string, error)
	// move moves all pointers or none: errLostRace if one was not where it should be,
	// errUnknown (wrapped) if it cannot be known, any other error: certainly not moved.
	move(ctx context.Context, moves []pointerMove) error
}

// pointerMove moves a table's pointer; from "" makes the table, to "" drops it. now is its new name,
// if it gets one.
type pointerMove struct {
	name     Name
	from, to string
	now      Name
	view     bool
}

// target is the name after the move.
func (m *pointerMove) target() Name {
	if m.now != (Name{}) {
		return m.now
	}
	return m.name
}

func (m *pointerMove) kind() string {
	if m.view {
		return "VIEW"
	}
	return "TABLE"
}
