package lake

import (
	"context"
	"errors"
)

// Catalog is where tables and views are found by name, in three faces. A kind of catalog is written
// from their contracts and held to them by one suite (catalog_conformance_test.go). Implementations:
// the SQL catalog (SQLite and PostgreSQL, in PyIceberg's layout), REST, a session's temporary one, and
// a transaction over another.
//
// All methods may be called at once. Whose context ends, ends with its error, or, for what changes
// something, with one that says whether that is known (Outcome). What is missing is a *NotFound, what is
// there already an *Exists; a catalog that cannot be reached says 08006, one that lets nobody in 42501.
// Errors never show the configuration's secrets.
type Catalog interface {
	Name() string
	// Properties are the catalog's configuration; they may hold secrets.
	Properties() map[string]string
	Namespaces
	Tables
	Views
	// Close gives up connections. Nothing may be called after it.
	Close() error
}

// Namespaces are what tables and views stand in. Levels of one are joined by dots.
type Namespaces interface {
	// Namespaces lists all, also those within others, in order.
	Namespaces(ctx context.Context) ([]string, error)
	// CreateNamespace refuses (*Exists) one that is there.
	CreateNamespace(ctx context.Context, namespace string, props map[string]string) error
	// DropNamespace refuses (*NotEmpty) while tables, views or namespaces are in it.
	DropNamespace(ctx context.Context, namespace string) error
	NamespaceProperties(ctx context.Context, namespace string) (map[string]string, error)
	// SetNamespaceProperties sets some and removes others; the rest stay. One that is not there is
	// removed without a word.
	SetNamespaceProperties(ctx context.Context, namespace string, set map[string]string, remove []string) error
}

// Tables moves the pointers of tables' metadata. A name is of one table or view at a time.
type Tables interface {
	// List gives the tables of a namespace that is there, without those of namespaces within it.
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
	// Rename gives a table another name, perhaps in another namespace, and nothing else: its UUID and
	// its files stay.
	Rename(ctx context.Context, from, to Name) error
	// Register adds a table that exists by its metadata file.
	Register(ctx context.Context, n Name, metadataLocation string) (*Table, error)
}

// Views keeps views. A catalog that cannot has none: it lists none, finds none, and refuses to make one
// (0A000).
type Views interface {
	Views(ctx context.Context, namespace string) ([]Name, error)
	LoadView(ctx context.Context, n Name) (*View, error)
	// CreateView makes a view; replace adds a version to one that exists, whose UUID stays.
	CreateView(ctx context.Context, n Name, spec ViewSpec, replace bool) (*View, error)
	DropView(ctx context.Context, n Name) error
	RenameView(ctx context.Context, from, to Name) error
}

// NotFound says that a namespace, table or view does not exist.
type NotFound struct{ What, Name string }

// Error names the object that was asked for.
func (e *NotFound) Error() string { return e.What + " " + e.Name + " does not exist" }

// Exists says that a namespace, table or view is there already.
type Exists struct{ What, Name string }

// Error names the object that is in the way.
func (e *Exists) Error() string { return e.What + " " + e.Name + " already exists" }

// NotEmpty says that a namespace cannot be dropped.
type NotEmpty struct{ Namespace string }

// Error names the namespace.
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
