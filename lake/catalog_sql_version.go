package lake

import (
	"context"
	"database/sql"
	"strconv"
	"sync"
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
	generation int
	closed     bool
}

// Version implements Versioned for SQLite in a file. PostgreSQL has no such number, and a database
// in memory has one connection.
func (c *sqlCatalog) Version(ctx context.Context) string {
	if c.postgres || c.db.Stats().MaxOpenConnections == 1 {
		return ""
	}
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
		w.conn = conn
		w.generation++
	}
	var n int64
	if err := w.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&n); err != nil {
		w.conn.Close()
		w.conn = nil
		return ""
	}
	return strconv.Itoa(w.generation) + "." + strconv.FormatInt(n, 10)
}

func (w *versionWatch) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.conn != nil {
		w.conn.Close()
		w.conn = nil
	}
}
