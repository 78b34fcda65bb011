package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/internal/redact"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// A catalog is another server. When it cannot be reached at the start, this one runs all the same:
// statements that need the catalog fail with 08006 and say so, and it is opened as soon as it is
// back.

// configured is a catalog of the configuration, open or not yet.
type configured struct {
	cfg   CatalogConfig
	log   func(format string, args ...any)
	known *lake.MetadataCache

	mu     sync.Mutex
	cat    lake.Catalog  // nil: not open
	err    error         // why not
	again  time.Time     // when to try again
	trying chan struct{} // closed when the attempt under way has ended; nil: there is none
}

const (
	openTime    = 10 * time.Second       // an attempt to open a catalog ends then
	openPause   = time.Second            // between attempts
	openPatient = 900 * time.Millisecond // how long a statement waits for an attempt
)

// openAtStart opens the catalog, and fails where the configuration is what is wrong.
func (c *configured) openAtStart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	cat, err := lake.OpenCatalogWith(ctx, c.known, c.cfg.Name, c.cfg.Props)
	if err != nil && !away(err, c.cfg.Props) {
		return sqlerr.New(sqlerr.ConfigFileError, "opening catalog %q: %s", c.cfg.Name, redact.Text(err.Error(), c.cfg.Props))
	}
	if err != nil {
		c.err, c.again = err, time.Now().Add(openPause)
		c.log("catalog %s cannot be reached: %s; its statements fail until it can be", c.cfg.Name, redact.Text(err.Error(), c.cfg.Props))
		return nil
	}
	c.cat = cat
	return nil
}

// away tells whether err says that the catalog's server does not answer, rather than that it was
// asked for something wrong.
func away(err error, props map[string]string) bool {
	uri := props["uri"]
	if !strings.Contains(uri, "://") || strings.HasPrefix(uri, "sqlite") {
		return false
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	if sqlerr.CodeOf(err) != sqlerr.ConnectionException {
		return false
	}
	text := err.Error()
	if strings.Contains(text, "dial tcp") {
		return true // nobody was there to say anything; the port may hold a 404
	}
	for _, wrong := range []string{
		"SQLSTATE 28", "SQLSTATE 3D", "SQLSTATE 42", // a password, a database, a right
		"nauthorized", "orbidden", "401", "403", "404",
		"cannot parse", "failed to parse", "unsupported protocol scheme",
	} {
		if strings.Contains(text, wrong) {
			return false
		}
	}
	return true
}

// get is the catalog, or one that fails where it cannot be opened.
func (c *configured) get() lake.Catalog {
	c.mu.Lock()
	if c.cat == nil && c.trying == nil && time.Now().After(c.again) {
		c.trying = make(chan struct{})
		done := c.trying
		go func() {
			if err := guard.Run(func() error { c.try(done); return nil }); err != nil {
				c.log("opening catalog %s: %v", c.cfg.Name, err)
			}
		}()
	}
	cat, wait := c.cat, c.trying
	c.mu.Unlock()
	if cat == nil && wait != nil {
		t := time.NewTimer(openPatient)
		defer t.Stop()
		select {
		case <-wait:
		case <-t.C:
		}
		c.mu.Lock()
		cat = c.cat
		c.mu.Unlock()
	}
	if cat == nil {
		return unreached{c}
	}
	return cat
}

func (c *configured) try(done chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), openTime)
	defer cancel()
	var cat lake.Catalog
	err := errors.New("it was not opened") // if opening panics
	defer func() { c.tried(cat, err, done) }()
	cat, err = lake.OpenCatalogWith(ctx, c.known, c.cfg.Name, c.cfg.Props)
}

// tried ends a try.
func (c *configured) tried(cat lake.Catalog, err error, done chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(done)
	c.trying = nil
	if err != nil {
		c.err, c.again = err, time.Now().Add(openPause)
		return
	}
	c.cat, c.err = cat, nil
	c.log("catalog %s can be reached again", c.cfg.Name)
}

func (c *configured) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cat == nil {
		return nil
	}
	return c.cat.Close()
}

// unreached stands for a catalog that cannot be reached.
type unreached struct{ c *configured }

func (u unreached) fail() error {
	u.c.mu.Lock()
	defer u.c.mu.Unlock()
	e := sqlerr.New(sqlerr.ConnectionFailure, "catalog %s cannot be reached", u.c.cfg.Name).
		WithHint("The server tries again with the statements that need the catalog.")
	if u.c.err != nil {
		e.WithDetail("%s", redact.Text(u.c.err.Error(), u.c.cfg.Props))
	}
	return e
}

func (u unreached) Name() string                  { return u.c.cfg.Name }
func (u unreached) Properties() map[string]string { return u.c.cfg.Props }
func (u unreached) Close() error                  { return nil }

func (u unreached) Namespaces(context.Context) ([]string, error) {
	return nil, u.fail()
}
func (u unreached) CreateNamespace(context.Context, string, map[string]string) error {
	return u.fail()
}
func (u unreached) DropNamespace(context.Context, string) error {
	return u.fail()
}
func (u unreached) NamespaceProperties(context.Context, string) (map[string]string, error) {
	return nil, u.fail()
}
func (u unreached) SetNamespaceProperties(context.Context, string, map[string]string, []string) error {
	return u.fail()
}
func (u unreached) List(context.Context, string) ([]lake.Name, error) {
	return nil, u.fail()
}
func (u unreached) Load(context.Context, lake.Name) (*lake.Table, error) {
	return nil, u.fail()
}
func (u unreached) Create(context.Context, lake.Name, lake.TableSpec) (*lake.Table, error) {
	return nil, u.fail()
}
func (u unreached) Stage(context.Context, lake.Name, lake.TableSpec) (*lake.Table, error) {
	return nil, u.fail()
}
func (u unreached) CommitStaged(context.Context, *lake.Table, lake.Change) (*lake.Table, error) {
	return nil, u.fail()
}
func (u unreached) Commit(context.Context, lake.Name, lake.Change) (*lake.Table, error) {
	return nil, u.fail()
}
func (u unreached) CommitAll(context.Context, []lake.TableChange) ([]*lake.Table, error) {
	return nil, u.fail()
}
func (u unreached) Drop(context.Context, lake.Name, bool) error {
	return u.fail()
}
func (u unreached) Rename(context.Context, lake.Name, lake.Name) error {
	return u.fail()
}
func (u unreached) Register(context.Context, lake.Name, string) (*lake.Table, error) {
	return nil, u.fail()
}
func (u unreached) Views(context.Context, string) ([]lake.Name, error) {
	return nil, u.fail()
}
func (u unreached) LoadView(context.Context, lake.Name) (*lake.View, error) {
	return nil, u.fail()
}
func (u unreached) CreateView(context.Context, lake.Name, lake.ViewSpec, bool) (*lake.View, error) {
	return nil, u.fail()
}
func (u unreached) DropView(context.Context, lake.Name) error {
	return u.fail()
}
func (u unreached) RenameView(context.Context, lake.Name, lake.Name) error {
	return u.fail()
}
