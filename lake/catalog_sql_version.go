package lake

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
)

// Versioned is a Catalog that can tell cheaply that nothing in it has changed.
type Versioned interface {
	// Version differs from an earlier one if anything in the catalog has changed since, by any
	// program; "" is unknown, which equals nothing.
	Version(ctx context.Context) string
}

// versionWatch is a connection of its own for SQLite's data_version, which tells one connection
// of what all others have committed. Numbers of two connections cannot be compared.
type versionWatch struct {
	mu         sync.Mutex
	conn       *sql.Conn
	stmt       *sql.Stmt // prepared on it
	generation int
	closed     bool
	unknown    atomic.Bool // the server does not know what is asked
}

// Version implements Versioned.
func (c *sqlCatalog) Version(ctx context.Context) string {
	switch {
	case c.postgres:
		return c.postgresVersion(ctx)
	case c.inMemory():
		return c.memoryVersion(ctx)
	}
	return c.fileVersion(ctx)
}

// postgresVersion is the server's snapshot by which transactions it sees: two that read alike see
// the same rows, whatever was written in between and is not committed.
func (c *sqlCatalog) postgresVersion(ctx context.Context) (v string) {
	if c.watch.unknown.Load() {
		return ""
	}
	err := c.db.QueryRowContext(ctx, "SELECT CAST(txid_current_snapshot() AS text)").Scan(&v)
	var state interface{ SQLState() string }
	if errors.As(err, &state) && state.SQLState() == "42883" { // one that only speaks PostgreSQL's protocol
		c.watch.unknown.Store(true)
	}
	if err != nil {
		return ""
	}
	return v
}

// memoryVersion counts the rows that this catalog's one connection ever changed, and what others
// have committed: a database in memory is shared by those who open it by its name.
func (c *sqlCatalog) memoryVersion(ctx context.Context) (v string) {
	if err := c.db.QueryRowContext(ctx, "SELECT total_changes() || '.' || data_version FROM pragma_data_version").Scan(&v); err != nil {
		return ""
	}
	return v
}

func (c *sqlCatalog) fileVersion(ctx context.Context) string {
	w := &c.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ""
	}
	if w.conn == nil {
		conn, err := c.db.Conn(ctx)
		if err != nil {
			return ""
		}
		if w.stmt, err = conn.PrepareContext(ctx, "PRAGMA data_version"); err != nil {
			conn.Close()
			return ""
		}
		w.conn = conn
		w.generation++
	}
	defer c.reading()()
	var n int64
	if err := w.stmt.QueryRowContext(ctx).Scan(&n); err != nil {
		w.drop()
		return ""
	}
	return strconv.Itoa(w.generation) + "." + strconv.FormatInt(n, 10)
}

func (w *versionWatch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.drop()
}

func (w *versionWatch) drop() {
	if w.conn != nil {
		w.stmt.Close()
		w.conn.Close()
		w.conn, w.stmt = nil, nil
	}
}
