// Package guard answers: may this role do this to this object?
//
// In: a store of rows that all servers over it share, and the administrators and users that the
// configuration names. Out: a State, which answers without asking anybody, and Edits of it, the
// statements that change roles and privileges. Semantics are PostgreSQL's, with privileges of the
// lakehouse beside them: HISTORY, PUBLISH, and those on branches. It refuses to know statements,
// sessions and how a password is checked.
package guard

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Config says whose guard it is.
type Config struct {
	// Store finds the store; it may be away for a while, and come back.
	Store func() (lake.PrivilegeStore, error)
	// Admins are superusers whatever the store says; the first owns what nobody else does.
	Admins []string
	// Users lists the users of the configuration; nil: none. It may be called at any time.
	Users func() []string
}

// Guard keeps a State that is never much older than the store's.
type Guard struct {
	cfg Config

	mu    sync.Mutex // of those that read the store
	base  *State     // what the store says alone
	users []string
	state atomic.Pointer[checked]
	lost  atomic.Pointer[failure]
	// alone is what is known where the store never was: the configuration's roles.
	alone *State
}

// checked is a State and when it was the store's.
type checked struct {
	*State
	at time.Time
}

// failure is why the store could not be read last.
type failure struct {
	err error
	at  time.Time
}

const (
	// pause is how long a store that did not answer is not asked again: those who wait for it would
	// only wait one after the other.
	pause = 2 * time.Second
	// fresh is how old a State may be without a look at the store: servers agree within it.
	fresh = 500 * time.Millisecond
	// patience is how long a look at the store may take.
	patience = 5 * time.Second
)

// New makes a Guard. The store is read when it is first asked.
func New(cfg Config) *Guard {
	if cfg.Users == nil {
		cfg.Users = func() []string { return nil }
	}
	g := &Guard{cfg: cfg}
	g.alone = newState(cfg.Admins, nil)
	g.alone.configure()
	return g
}

// Admins are the administrators of the configuration.
func (g *Guard) Admins() []string { return g.cfg.Admins }

// IsAdmin tells whether the configuration names an administrator so: what he may do depends on nothing
// that is stored.
func (g *Guard) IsAdmin(name string) bool { return slices.Contains(g.cfg.Admins, name) }

// Now gives what is known of roles and privileges. It fails with 08006 where that cannot be known: who
// cannot be told what he may do may do nothing.
func (g *Guard) Now(ctx context.Context) (*State, error) {
	if c := g.state.Load(); c != nil && time.Since(c.at) < fresh {
		return c.State, nil
	}
	if f := g.lost.Load(); f != nil && time.Since(f.at) < pause {
		return nil, f.err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.state.Load(); c != nil && time.Since(c.at) < fresh { // somebody else has looked
		return c.State, nil
	}
	if f := g.lost.Load(); f != nil && time.Since(f.at) < pause {
		return nil, f.err
	}
	st, err := g.refresh(ctx)
	if err != nil {
		g.lost.Store(&failure{err, time.Now()})
		return nil, err
	}
	g.lost.Store(nil)
	return st, nil
}

// NowFor is Now for a role of the name: an administrator of the configuration is one without the store.
func (g *Guard) NowFor(ctx context.Context, role string) (*State, error) {
	st, err := g.Now(ctx)
	if err != nil && g.IsAdmin(role) {
		return g.alone, nil
	}
	return st, err
}

// refresh reads what has changed. g.mu is held.
func (g *Guard) refresh(ctx context.Context) (*State, error) {
	at := time.Now() // before the look: what it finds is at least as new
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	store, err := g.cfg.Store()
	if err != nil {
		return nil, away(err)
	}
	base := g.base
	if base == nil {
		base = newState(g.cfg.Admins, nil)
	}
	version, rows, err := store.PrivilegeRows(ctx, base.version)
	if err == nil && version < base.version {
		// It is another store, or an older copy of this one: nothing of what was known counts.
		base = newState(g.cfg.Admins, nil)
		version, rows, err = store.PrivilegeRows(ctx, 0)
	}
	if err != nil {
		return nil, away(err)
	}
	users := g.cfg.Users()
	slices.Sort(users)
	now := g.state.Load()
	if now != nil && version == base.version && g.base == base && slices.Equal(users, g.users) {
		g.state.Store(&checked{now.State, at})
		return now.State, nil
	}
	next := base.clone()
	if err := next.apply(rows); err != nil {
		return nil, err
	}
	next.version = version
	g.base, g.users = next, users
	st := next.clone()
	st.users = users
	st.configure()
	g.state.Store(&checked{st, at})
	return st, nil
}

func away(err error) error {
	e := sqlerr.New(sqlerr.ConnectionFailure, "what roles may do cannot be read: the store of privileges does not answer").
		WithHint("Until it does, only administrators of the configuration are let in.")
	e.Cause = err
	return e
}

// Change makes what f does to an Edit the store's next state, for all servers. f may be called several
// times, if others change the store meanwhile: it must say the same of the same state. Its notices are
// those of the last time.
func (g *Guard) Change(ctx context.Context, f func(*State) (*Edit, error)) (*Edit, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	const most = 100 // servers that change privileges at once
	for range most {
		st, err := g.refresh(ctx)
		if err != nil {
			return nil, err
		}
		e, err := f(st)
		if err != nil {
			return nil, err
		}
		rows := e.rows()
		if len(rows) == 0 {
			return e, nil
		}
		store, err := g.cfg.Store()
		if err != nil {
			return nil, away(err)
		}
		ok, err := store.SetPrivileges(ctx, g.base.version, rows)
		if err != nil {
			g.state.Store(nil) // it may or may not have happened
			return nil, err
		}
		if ok {
			_, err := g.refresh(ctx)
			return e, err
		}
	}
	return nil, sqlerr.New(sqlerr.SerializationFailure, "other servers change privileges all the time").WithHint("The statement may be run again.")
}

// Credentials are what a role's password is checked with.
type Credentials struct{ Verifier, Native string }

// Credentials finds those of a role that the store has; ok false: it has none, or they are no longer
// valid.
func (g *Guard) Credentials(ctx context.Context, name string) (c Credentials, ok bool) {
	st, err := g.Now(ctx)
	if err != nil {
		return c, false
	}
	r, ok := st.Role(name)
	if !ok || r.Configured || r.Verifier == "" || r.Until != nil && time.Now().After(*r.Until) {
		return c, false
	}
	return Credentials{r.Verifier, r.Native}, true
}

// MayConnect tells why a role may not begin a session in a database; sessions is how many it has.
func (st *State) MayConnect(name, catalog string, sessions int) error {
	r, ok := st.Role(name)
	switch {
	case !ok:
		return sqlerr.New(sqlerr.InvalidAuthorization, "role \"%s\" does not exist", name)
	case !r.Login:
		return sqlerr.New(sqlerr.InvalidAuthorization, "role \"%s\" is not permitted to log in", name)
	case r.Super:
		return nil
	case r.Limit > 0 && sessions >= r.ConnectionLimit():
		return sqlerr.New(sqlerr.TooManyConnections, "too many connections for role \"%s\"", name)
	}
	n := Name{Database, lake.Name{Catalog: catalog}}
	if st.Held(r.OID, n, "")&Connect == 0 {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for database \"%s\"", catalog).
			WithDetail("User does not have CONNECT privilege.")
	}
	return nil
}
