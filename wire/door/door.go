// Package door answers: who comes in, how many at once, and how does everyone leave?
//
// In: the listeners of one wire, and what makes a Client of an accepted connection. Out: Clients
// that are served, each in a goroutine of its own, within limits; at the end all are asked to
// leave, then made to. It refuses to know protocols, sessions and SQL.
package door

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// Client is one connection of a wire. All methods but Serve may be called from any goroutine.
type Client interface {
	Serve()     // to the connection's end
	Drain()     // asks it to end once it is idle
	Terminate() // ends its session, whatever it does
	Close()     // closes its socket
}

// Config says how many come in. All fields are needed.
type Config struct {
	MaxSessions  int           // clients that have logged in
	MaxLogins    int           // clients that log in at a time, of one address a quarter; others wait
	LoginTimeout time.Duration // how long they wait
	TooMany      error         // what a client hears for whom there is no room
	Closing      error         // and one that comes while the server goes down
	Log          func(format string, args ...any)
}

// Door lets a wire's clients in and out.
type Door struct {
	// Context ends when Shutdown cuts off what still runs.
	Context context.Context
	cancel  context.CancelFunc
	cfg     Config

	mu        sync.Mutex
	listeners map[net.Listener]bool
	clients   map[Client]bool
	sessions  int  // clients that have logged in
	most      int  // sessions there have been at once
	closing   bool // Shutdown has begun: nobody is let in
	closed    bool // and has ended: nobody is answered

	served   sync.WaitGroup // clients
	loggedIn sync.WaitGroup // sessions

	// Places of those that log in. Who finds none free waits for one, so that many clients that
	// come at once are all served.
	logins   int
	loginsOf map[string]int
	waiters  []*waiter

	// Failures are the wrong passwords and cancel requests of late.
	Failures *Failures
}

// New makes a Door.
func New(cfg Config) *Door {
	ctx, cancel := context.WithCancel(context.Background())
	return &Door{Context: ctx, cancel: cancel, cfg: cfg,
		listeners: map[net.Listener]bool{}, clients: map[Client]bool{}, loginsOf: map[string]int{},
		Failures: newFailures()}
}

// Serve accepts until the listener closes, at the latest when Shutdown has ended; then it
// returns nil.
func (d *Door) Serve(l net.Listener, client func(net.Conn) Client) error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return l.Close()
	}
	d.listeners[l] = true
	d.mu.Unlock()
	for {
		nc, err := l.Accept()
		if err != nil {
			d.mu.Lock()
			closed := d.closed
			d.mu.Unlock()
			if closed || errors.Is(err, net.ErrClosed) {
				return nil
			}
			// Out of file descriptors and the like: wait, do not spin, do not die.
			d.cfg.Log("accept: %v", err)
			time.Sleep(50 * time.Millisecond)
			continue
		}
		d.start(client(nc))
	}
}

func (d *Door) start(c Client) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		c.Close()
		return
	}
	d.clients[c] = true
	d.served.Add(1)
	go func() {
		defer d.served.Done()
		defer func() {
			d.mu.Lock()
			delete(d.clients, c)
			d.mu.Unlock()
		}()
		c.Serve()
	}()
}

// Admit lets an authenticated client in; leave ends its stay.
func (d *Door) Admit() (leave func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closing {
		return nil, d.cfg.Closing
	}
	if d.sessions >= d.cfg.MaxSessions {
		return nil, d.cfg.TooMany
	}
	d.sessions++
	d.most = max(d.most, d.sessions)
	d.loggedIn.Add(1)
	return func() {
		d.mu.Lock()
		d.sessions--
		d.mu.Unlock()
		d.loggedIn.Done()
	}, nil
}

// Closing tells whether Shutdown has begun.
func (d *Door) Closing() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closing
}

// Connections is the number of clients, logged in or not.
func (d *Door) Connections() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.clients)
}

// Sessions is the number of clients that are logged in, and the most there have been.
func (d *Door) Sessions() (now, most int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sessions, d.most
}

// LastWords is how long a statement that is cut off may take to stop and its client to hear why.
const LastWords = 2 * time.Second

// Shutdown ends idle sessions, lets statements in flight end until ctx is done, and cuts off the
// rest; then it gives ctx's error. While it waits, connections are still accepted, so that new
// clients hear that the server goes down.
func (d *Door) Shutdown(ctx context.Context) error {
	d.mu.Lock()
	d.closing = true
	d.mu.Unlock()
	d.each(Client.Drain)
	var err error
	gone := finished(&d.loggedIn)
	select {
	case <-gone:
	case <-ctx.Done():
		err = ctx.Err()
		d.each(Client.Terminate)
		select {
		case <-gone:
		case <-time.After(LastWords):
		}
	}
	d.cancel()
	d.mu.Lock()
	d.closed = true
	for l := range d.listeners {
		l.Close()
	}
	d.mu.Unlock()
	d.each(Client.Close)
	select {
	case <-finished(&d.served):
	case <-time.After(LastWords):
		// Something does not hear that its time is over. The process ends all the same.
		err = errors.Join(err, errors.New("a statement does not stop"))
	}
	return err
}

func (d *Door) each(f func(Client)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.clients {
		f(c)
	}
}

func finished(w *sync.WaitGroup) <-chan struct{} {
	done := make(chan struct{})
	go func() { w.Wait(); close(done) }()
	return done
}
