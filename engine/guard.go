package engine

import (
	"context"
	"strings"
	"sync"

	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// GuardConfig turns the lock on: from then on a role may do what it was granted.
type GuardConfig struct {
	// Admins may do everything, whatever is stored; at least one. The first owns what nobody else does.
	Admins []string
	// Store is where roles and privileges are kept: the name of a catalog whose database keeps them, or
	// the uri of a database (sqlite:///…, postgresql://…). "" is the default catalog.
	Store string
	// Users lists the users of the configuration, who are roles that may log in; nil: there are none.
	Users func() []string
}

// openGuard makes the engine's guard.
func (e *Engine) openGuard(ctx context.Context, cfg *GuardConfig) error {
	if cfg == nil {
		return nil
	}
	if len(cfg.Admins) == 0 {
		return sqlerr.New(sqlerr.ConfigFileError, "guard.admins: at least one administrator is needed, who can let others in")
	}
	for _, a := range cfg.Admins {
		if a == "" || strings.HasPrefix(a, "pg_") || a == "public" || a == "none" {
			return sqlerr.New(sqlerr.ConfigFileError, "guard.admins: %q is no name for a role", a)
		}
	}
	if cfg.Users != nil {
		e.ListUsers(cfg.Users)
	}
	g := guard.Config{Admins: cfg.Admins, Users: func() []string {
		if f := e.listUsers.Load(); f != nil {
			return (*f)()
		}
		return nil
	}}
	if strings.Contains(cfg.Store, ":") {
		own := &ownStore{uri: cfg.Store}
		g.Store, e.closeGuard = own.open, own.close
		if _, err := own.open(); err != nil && !away(err, map[string]string{"uri": cfg.Store}) {
			return sqlerr.Wrap(err, sqlerr.ConfigFileError, "guard.store")
		}
	} else {
		name := cfg.Store
		if name == "" {
			name = e.cfg.Default
		}
		c := e.catalogs[name]
		if c == nil {
			return sqlerr.New(sqlerr.ConfigFileError, "guard.store: there is no catalog %q", name)
		}
		if cat := c.get(); cat != nil {
			_, keeps := cat.(lake.PrivilegeStore)
			if _, away := cat.(unreached); !keeps && !away {
				return sqlerr.New(sqlerr.ConfigFileError, "guard.store: catalog %q cannot keep roles and privileges", name).
					WithHint("Name a database for them: guard.store: sqlite:////path/guard.db, or postgresql://….")
			}
		}
		g.Store = func() (lake.PrivilegeStore, error) {
			if s, ok := c.get().(lake.PrivilegeStore); ok {
				return s, nil
			}
			return nil, sqlerr.New(sqlerr.ConnectionFailure, "catalog %s, which keeps privileges, cannot be reached", name)
		}
	}
	e.guard = guard.New(g)
	return nil
}

// ownStore is a store of the server's own, opened when it is there.
type ownStore struct {
	uri   string
	mu    sync.Mutex
	store lake.PrivilegeStore
	end   func() error
}

func (o *ownStore) open() (lake.PrivilegeStore, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store != nil {
		return o.store, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), openTime)
	defer cancel()
	var err error
	o.store, o.end, err = lake.OpenPrivilegeStore(ctx, o.uri)
	return o.store, err
}

func (o *ownStore) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.end != nil {
		_ = o.end() // it is being given up
	}
}

// ListUsers gives what lists the users of the configuration from now on; see GuardConfig.Users.
func (e *Engine) ListUsers(list func() []string) { e.listUsers.Store(&list) }

// Guarded tells whether the lock is on.
func (e *Engine) Guarded() bool { return e.guard != nil }

// Credentials finds what the store has of a role's password; ok false: nothing that is valid now.
func (e *Engine) Credentials(ctx context.Context, user string) (verifier, native string, ok bool) {
	if e.guard == nil {
		return "", "", false
	}
	c, ok := e.guard.Credentials(ctx, user)
	return c.Verifier, c.Native, ok
}

// admit tells why a session may not begin.
func (e *Engine) admit(ctx context.Context, o *SessionOptions, catalog string) error {
	if e.guard == nil || o.keeper {
		return nil
	}
	st, err := e.guard.NowFor(ctx, o.User)
	if err != nil {
		return err
	}
	sessions := 0
	for _, s := range e.activeSessions() {
		if s.opts.User == o.User && !s.opts.keeper {
			sessions++
		}
	}
	return st.MayConnect(o.User, catalog, sessions)
}

// privilegeOp is a change of roles or privileges that a session makes, in whose name.
type privilegeOp struct {
	actor string
	f     func(*guard.Edit) error
}

// privilegeView is a state with the first ops of a block done to it.
type privilegeView struct {
	base, state *guard.State
	ops         int
}

// editPrivileges does the ops to a state.
func (s *Session) editPrivileges(st *guard.State, ops []privilegeOp) (*guard.Edit, error) {
	me, _ := st.Role(s.sessionUser())
	e := st.Edit(0, 0)
	if me != nil {
		e.Session = me.OID
	}
	for _, op := range ops {
		r, ok := e.Role(op.actor)
		if !ok {
			return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "role \"%s\" does not exist any more", op.actor)
		}
		e.As(r.OID)
		if err := op.f(e); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// privileges is what holds for the session's statement now, with what its transaction block has
// changed; nil where the lock is off.
func (s *Session) privileges(ctx context.Context) (*guard.State, error) {
	if s.engine.guard == nil {
		return nil, nil
	}
	st, err := s.engine.guard.NowFor(ctx, s.currentUser())
	if err != nil || len(s.tx.privileges) == 0 {
		return st, err
	}
	if v := s.tx.privileged; v.base == st && v.ops == len(s.tx.privileges) {
		return v.state, nil
	}
	e, err := s.editPrivileges(st, s.tx.privileges)
	if err != nil {
		return nil, err
	}
	s.tx.privileged = privilegeView{st, e.State, len(s.tx.privileges)}
	return e.State, nil
}

// changePrivileges changes roles or privileges, now or with the block's COMMIT.
func (s *Session) changePrivileges(ctx context.Context, r *Result, f func(*guard.Edit) error) error {
	if s.engine.guard == nil {
		return nil
	}
	actor := s.currentUser()
	if s.opts.keeper {
		actor = s.engine.guard.Admins()[0]
	}
	ops := append(s.tx.privileges[:len(s.tx.privileges):len(s.tx.privileges)], privilegeOp{actor, f})
	var e *guard.Edit
	var err error
	if s.tx.block {
		var base *guard.State
		if base, err = s.engine.guard.NowFor(ctx, s.currentUser()); err == nil {
			if v := s.tx.privileged; v.base == base && v.ops == len(ops)-1 {
				e, err = s.editPrivileges(v.state, ops[len(ops)-1:]) // the others are done
			} else {
				e, err = s.editPrivileges(base, ops)
			}
		}
		if err == nil {
			s.tx.privileges, s.tx.privileged = ops, privilegeView{base, e.State, len(ops)}
		}
	} else {
		e, err = s.engine.guard.Change(ctx, func(st *guard.State) (*guard.Edit, error) { return s.editPrivileges(st, ops) })
	}
	if err != nil {
		return err
	}
	s.host = nil
	if r != nil {
		r.notices = append(r.notices, e.Notices()...)
	}
	return nil
}

// commitPrivileges makes the block's changes of roles and privileges everybody's. Those of the catalog
// are made by then: a failure says so.
func (s *Session) commitPrivileges(ctx context.Context, also bool) error {
	ops := s.tx.privileges
	if len(ops) == 0 {
		return nil
	}
	s.tx.privileges = nil
	_, err := s.engine.guard.Change(ctx, func(st *guard.State) (*guard.Edit, error) { return s.editPrivileges(st, ops) })
	if e, ok := sqlerr.As(err); ok && also {
		x := *e
		return x.WithDetail("The transaction's changes of tables, views and schemas are committed; those of roles, owners and privileges are not.")
	}
	return err
}

// sessionUser is whom SET SESSION AUTHORIZATION chose, else who logged in.
func (s *Session) sessionUser() string {
	user, _ := s.settings.get("session_authorization")
	return user
}

// mayBecome tells why role or session_authorization may not be set so.
func (s *Session) mayBecome(setting, name string) error {
	unknown := sqlerr.New(sqlerr.InvalidParameterValue, "role %q does not exist", name)
	if s.engine.guard == nil {
		if name == s.opts.User || s.engine.knowsUser(name) {
			return nil
		}
		return unknown
	}
	if name == s.opts.User && setting == "session_authorization" {
		return nil
	}
	st, err := s.engine.guard.NowFor(context.Background(), s.opts.User)
	if err != nil {
		return err
	}
	to, ok := st.Role(name)
	if !ok {
		return unknown
	}
	if setting == "session_authorization" {
		if me, ok := st.Role(s.opts.User); !ok || !me.Super {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set session authorization")
		}
		return nil
	}
	if me, ok := st.Role(s.sessionUser()); !ok || !st.MaySet(me.OID, to.OID) {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to set role \"%s\"", name)
	}
	return nil
}
