package load

import (
	"context"
	"time"
)

// Wire is one of the server's protocols, and what its clients say by it.
type Wire struct {
	Name string // the scheme of its addresses
	open func(ctx context.Context, addr, name string) (peer, error)

	// questions are heavy in different ways: scans, sorts, hashes and windows that do not fit
	// into a query's memory under a small limit. endless end only when they are made to.
	questions, endless []string
	// large is a result far larger than all buffers between the server and a client.
	large     string
	largeRows int
	sleep     string // takes a while, and ends
	limited   string // sets a statement's time to %d ms
	schema    string
	changes   func(table string) []step
	sessions  string // counts those of the client with the name %s
	others    string // lists the sessions but for the asking one

	// made makes what written fills, of a statement that is under way at the server's end.
	made     []string
	written  string
	inserted int

	// What a client hears: of a cancel, of its statement's time, of too many connections, of the
	// server's end, and of a server that is about to end.
	cancelled, timedOut, full, ended, refused string
}

// step is a statement of a client that writes; want is its one row, "" whatever.
type step struct{ sql, want string }

// peer is a client's connection. Errors carry what stateOf reads.
type peer interface {
	// query runs a text and gives each row; where row says false the rest stays unread, and the
	// connection is good for kill alone.
	query(ctx context.Context, sql string, row func(values [][]byte) bool) error
	// double asks a prepared statement for 2n, and prepares it first.
	double(ctx context.Context, n int) (string, error)
	// cancel stops the statement that runs, from outside.
	cancel(ctx context.Context)
	// unasked waits for what the server says by itself.
	unasked(ctx context.Context) error
	// ask sends a query and reads nothing.
	ask(ctx context.Context, sql string) error
	// kill resets the connection; close takes leave.
	kill()
	close()
}

// patience is how long a polite end may take: the run's context may be over by then.
const patience = 5 * time.Second
