package door

import (
	"net"
	"sync"
	"time"
)

// Places of those that log in. A client that says nothing keeps its place until its time is over,
// so no address gets more than a part of them, and the last ones are for addresses that have none.

// perAddress is how many clients of one address may log in at a time.
func (c *Config) perAddress() int { return max(c.MaxLogins/4, min(c.MaxLogins, 8)) }

// reserve is how many places only an address gets that has none yet.
func (c *Config) reserve() int { return c.MaxLogins / 5 }

// waiter is a client that waits for a place.
type waiter struct {
	host  string
	ready chan struct{} // closed once it has one
}

// Host is what of a client's address counts as who it is: the machine's, of IPv6 the network's 64
// bits, since one machine has all addresses behind them.
func Host(a net.Addr) string {
	if a == nil {
		return ""
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		host = a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.To4() == nil && !ip.IsLoopback() {
		return ip.Mask(net.CIDRMask(64, 128)).String()
	}
	return host
}

// free tells whether a client of host may take a place now. d.mu is held.
func (d *Door) free(host string) bool {
	mine := d.loginsOf[host]
	switch {
	case d.logins >= d.cfg.MaxLogins, mine >= d.cfg.perAddress():
		return false
	case mine > 0 && d.logins >= d.cfg.MaxLogins-d.cfg.reserve():
		return false
	}
	return true
}

func (d *Door) take(host string) {
	d.logins++
	d.loginsOf[host]++
}

// leave gives a place back and hands places on to those that have waited longest.
func (d *Door) leave(host string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.logins--
	if d.loginsOf[host]--; d.loginsOf[host] == 0 {
		delete(d.loginsOf, host)
	}
	for i := 0; i < len(d.waiters) && d.logins < d.cfg.MaxLogins; {
		w := d.waiters[i]
		if !d.free(w.host) {
			i++
			continue
		}
		d.take(w.host)
		close(w.ready)
		d.waiters = append(d.waiters[:i], d.waiters[i+1:]...)
	}
}

// WaitForLogin takes a place among those that log in; leave gives it back. Those that wait hold a
// connection and a goroutine each, so of one address there are no more than may be connected, since a
// pool may open all of its connections at once, and together twice as many, so that no address takes
// the others' room.
func (d *Door) WaitForLogin(from net.Addr) (leave func(), err error) {
	host := Host(from)
	leave = sync.OnceFunc(func() { d.leave(host) })
	d.mu.Lock()
	if d.free(host) {
		d.take(host)
		d.mu.Unlock()
		return leave, nil
	}
	same := 0
	for _, w := range d.waiters {
		if w.host == host {
			same++
		}
	}
	if len(d.waiters) >= 2*d.cfg.MaxSessions || same >= d.cfg.MaxSessions {
		d.mu.Unlock()
		return nil, d.cfg.TooMany
	}
	w := &waiter{host: host, ready: make(chan struct{})}
	d.waiters = append(d.waiters, w)
	d.mu.Unlock()
	t := time.NewTimer(d.cfg.LoginTimeout)
	defer t.Stop()
	err = d.cfg.TooMany
	select {
	case <-w.ready:
		return leave, nil
	case <-t.C:
	case <-d.Context.Done():
		err = d.cfg.Closing
	}
	d.mu.Lock()
	for i := range d.waiters {
		if d.waiters[i] == w {
			d.waiters = append(d.waiters[:i], d.waiters[i+1:]...)
			d.mu.Unlock()
			return nil, err
		}
	}
	d.mu.Unlock()
	return leave, nil // it got one just now
}

// LoggingIn is the number of clients that log in and have a place to.
func (d *Door) LoggingIn() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.logins
}
