package lake

import "context"

// Catalog finds tables and moves their metadata pointer. Implementations: the SQL catalog
// (SQLite and Postgres, PyIceberg's layout), REST, and path tables. One conformance suite.
// Safe for concurrent use. A missing table or namespace is a *NotFound.
type Catalog interface {
	Name() string
	Namespaces(ctx context.Context) ([]string, error)
	List(ctx context.Context, namespace string) ([]Name, error)
	// Load returns the table as of the catalog's current pointer. Metadata is cached by its
	// location, which is immutable; the pointer is read each time.
	Load(ctx context.Context, n Name) (*Table, error)
}

// NotFound says that a namespace, table or view does not exist.
type NotFound struct{ What, Name string }

func (e *NotFound) Error() string { return e.What + " " + e.Name + " does not exist" }
