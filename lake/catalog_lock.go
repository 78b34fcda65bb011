package lake

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lhsql/lhsql/internal/redact"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"modernc.org/sqlite"
)

// A SQL catalog's database is shared with other programs, and one of them may keep it locked: a
// shell in a transaction, another engine that was stopped in the middle. That is no lost race:
// nobody committed anything. A statement waits for the lock (lhsql.lock-timeout-ms, else
// defaultLockWait), then says that the catalog is locked (55P03).
const defaultLockWait = 10 * time.Second

// sqliteBusy is SQLite's own part of the wait, in ms: short, so that a cancelled statement ends.
const sqliteBusy = "100"

// errLocked says that another program holds the database's lock. Nothing of ours happened.
var errLocked = errors.New("the database is locked")

// locked recognises either database's word for a lock that another program holds.
func locked(err error) bool {
	if err == nil {
		return false
	}
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()&0xff == 5 || e.Code()&0xff == 6 // SQLITE_BUSY, SQLITE_LOCKED and their kinds
	}
	return errors.Is(err, errLocked) || strings.Contains(err.Error(), "SQLSTATE 55P03")
}

// full recognises either database's word for a disk that is full.
func full(err error) bool {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()&0xff == 13 // SQLITE_FULL
	}
	return strings.Contains(err.Error(), "SQLSTATE 53100")
}

// rolledBack recognises that PostgreSQL undid a transaction for the sake of another one
// (class 40): it may be tried again.
func rolledBack(err error) bool { return strings.Contains(err.Error(), "SQLSTATE 40") }

// waiting runs f again while SQLite is locked. f must leave nothing behind when it is.
// PostgreSQL waits by itself (lock_timeout).
func (c *sqlCatalog) waiting(ctx context.Context, f func() error) error {
	deadline := time.Now().Add(c.lockWait)
	for {
		err := f()
		if c.postgres || !locked(err) || time.Now().After(deadline) {
			return err
		}
		// Writers that wait in step would collide again.
		pause := time.NewTimer(time.Duration(5+rand.IntN(30)) * time.Millisecond)
		select {
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		case <-pause.C:
		}
	}
}

// fail names what an error of the database broke, unless that is known already.
func (c *sqlCatalog) fail(err error, what string) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errLostRace):
		return err
	case locked(err):
		e := sqlerr.New(sqlerr.LockNotAvailable, "catalog %s is locked by another program: it could not be %s within %v", c.name, what, c.lockWait).
			WithHint("Nothing was written. Another program keeps a transaction open on the catalog's database; when it has ended, run the statement again.")
		e.Cause = errLocked
		return e
	case full(err):
		return sqlerr.Wrap(err, sqlerr.DiskFull, "write catalog %s", c.name)
	case !c.postgres:
	case rolledBack(err):
		return errLostRace
	}
	verb := "read"
	if what != "read" {
		verb = "write"
	}
	return sqlerr.Wrap(redact.Error(err, c.props), connectionCode(err), "%s catalog %s", verb, c.name)
}

// broken tells whether err says that a catalog's server went away or was never there, rather than that
// it refused what it was asked.
func broken(err error) bool {
	var network net.Error
	var state interface{ SQLState() string }
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return false
	case errors.As(err, &state):
		// 57P01 to 57P03: shut down, crashed, not up yet; 53300: no place.
		s := state.SQLState()
		return strings.HasPrefix(s, "08") || s == "57P01" || s == "57P02" || s == "57P03" || s == "53300"
	}
	var connecting *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connecting) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || strings.Contains(err.Error(), "conn closed")
}

// connectionCode is 08006 where the server is away, else 08000.
func connectionCode(err error) sqlerr.Code {
	if broken(err) {
		return sqlerr.ConnectionFailure
	}
	return sqlerr.ConnectionException
}

// reconnections is how often what did nothing is tried again on a new connection, and the pauses
// between.
var reconnections = []time.Duration{0, 50 * time.Millisecond, 250 * time.Millisecond}

// reconnecting runs f again where the connection to PostgreSQL broke. f must have done nothing then:
// reading, or the beginning of a transaction. A transaction that had begun is nobody's to repeat.
func (c *sqlCatalog) reconnecting(ctx context.Context, f func() error) error {
	err := f()
	for _, pause := range reconnections {
		if !c.postgres || !broken(err) || ctx.Err() != nil {
			break
		}
		// Who has restarted has ended all connections: none that lies idle is worth a try.
		c.db.SetMaxIdleConns(0)
		c.db.SetMaxIdleConns(idleConnections)
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
		err = f()
	}
	return err
}

// idleConnections is how many connections to PostgreSQL wait for the next statement.
const idleConnections = 2
