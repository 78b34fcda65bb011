package guard

import (
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Attributes are what CREATE and ALTER ROLE say; nil where they say nothing.
type Attributes struct {
	Super, Inherit, CreateRole, CreateDB, Login, BypassRLS *bool
	Limit                                                  *int
	// Verifier and Native, of which "" removes the password.
	Verifier, Native *string
	Until            *time.Time
	NoUntil          bool // VALID UNTIL 'infinity'
}

func (a *Attributes) onlyPassword() bool {
	return a.Super == nil && a.Inherit == nil && a.CreateRole == nil && a.CreateDB == nil && a.Login == nil && a.BypassRLS == nil &&
		a.Limit == nil && a.Until == nil && !a.NoUntil
}

func (a *Attributes) set(r *Role) {
	for _, x := range []struct {
		from *bool
		to   *bool
	}{{a.Super, &r.Super}, {a.CreateRole, &r.CreateRole}, {a.CreateDB, &r.CreateDB}, {a.Login, &r.Login}, {a.BypassRLS, &r.BypassRLS}} {
		if x.from != nil {
			*x.to = *x.from
		}
	}
	if a.Inherit != nil {
		r.NoInherit = !*a.Inherit
	}
	if a.Limit != nil {
		r.Limit = *a.Limit + 1
	}
	if a.Verifier != nil {
		r.Verifier, r.Native = *a.Verifier, ""
		if a.Native != nil {
			r.Native = *a.Native
		}
	}
	if a.Until != nil || a.NoUntil {
		r.Until = a.Until
	}
}

// reserved refuses names that are not for roles.
func reserved(name string) error {
	if strings.HasPrefix(name, "pg_") {
		return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", name).WithDetail("Role names starting with \"pg_\" are reserved.")
	}
	if name == "public" || name == "none" {
		return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", name)
	}
	if name == "" {
		return sqlerr.New(sqlerr.InvalidName, "a role's name cannot be empty")
	}
	return nil
}

func on(b *bool) bool { return b != nil && *b }

// CreateRole makes a role.
func (e *Edit) CreateRole(name string, a Attributes) (*Role, error) {
	actor := e.roles[e.Actor]
	if actor == nil || !actor.Super {
		switch {
		case on(a.Super):
			return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to create superusers")
		case on(a.BypassRLS):
			return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to create bypassrls users")
		case actor == nil || !actor.CreateRole:
			return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create role")
		}
	}
	if err := reserved(name); err != nil {
		return nil, err
	}
	if _, there := e.Role(name); there {
		return nil, sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", name)
	}
	r := &Role{OID: e.oidFor(name), Name: name}
	a.set(r)
	e.setRole(r)
	return r, nil
}

// mayAlter tells whether the actor may change a role that is there.
func (e *Edit) mayAlter(r *Role) error {
	if isPredefined(r.OID) {
		return sqlerr.New(sqlerr.ReservedName, "role name \"%s\" is reserved", r.Name).WithDetail("Cannot alter reserved roles.")
	}
	if r.Super && !e.super() {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to alter superuser roles or change superuser attribute")
	}
	return nil
}

// AlterRole changes a role's attributes.
func (e *Edit) AlterRole(name string, a Attributes) error {
	r, err := e.Named(name)
	if err != nil {
		return err
	}
	if err := e.mayAlter(r); err != nil {
		return err
	}
	actor := e.roles[e.Actor]
	switch {
	case actor == nil:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied")
	case actor.Super:
	case a.Super != nil:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to alter superuser roles or change superuser attribute")
	case a.BypassRLS != nil:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to change bypassrls attribute")
	case !actor.CreateRole && !(r.OID == e.Actor && a.onlyPassword()):
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied")
	}
	if r.Configured {
		inherit := a.Inherit
		if a.Inherit = nil; !a.onlyPassword() || a.Verifier != nil {
			return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "role \"%s\" is of the server's configuration", name).
				WithHint("Its password and what it may do as a role are changed there.")
		}
		a.Inherit = inherit
	}
	x := *r
	a.set(&x)
	e.setRole(&x)
	e.rights.Clear()
	return nil
}

// RenameRole gives a role another name. Passwords hashed with the name are gone.
func (e *Edit) RenameRole(from, to string) error {
	r, err := e.Named(from)
	if err != nil {
		return err
	}
	if r.OID == e.Session {
		return sqlerr.New(sqlerr.FeatureNotSupported, "session user cannot be renamed")
	}
	if r.OID == e.Actor {
		return sqlerr.New(sqlerr.FeatureNotSupported, "current user cannot be renamed")
	}
	if err := e.mayAlter(r); err != nil {
		return err
	}
	if err := reserved(to); err != nil {
		return err
	}
	if _, there := e.Role(to); there {
		return sqlerr.New(sqlerr.DuplicateObject, "role \"%s\" already exists", to)
	}
	if actor := e.roles[e.Actor]; actor == nil || !actor.Super && !actor.CreateRole {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to rename role")
	}
	if r.Configured {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "role \"%s\" is of the server's configuration", from)
	}
	x := *r
	x.Name = to
	if strings.HasPrefix(x.Verifier, "md5") {
		x.Verifier = ""
		e.Notice("00000", "MD5 password cleared because of role rename")
	}
	e.setRole(&x)
	return nil
}

// DropRole removes a role that nothing depends on.
func (e *Edit) DropRole(name string, ifExists bool) error {
	actor := e.roles[e.Actor]
	if actor == nil || !actor.Super && !actor.CreateRole {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to drop role")
	}
	if _, there := e.Role(name); !there && ifExists {
		e.Notice("00000", "role \"%s\" does not exist, skipping", name)
		return nil
	}
	r, err := e.Named(name)
	switch {
	case err != nil:
		return err
	case r.OID == e.Actor:
		return sqlerr.New(sqlerr.ObjectInUse, "current user cannot be dropped")
	case r.OID == e.Session:
		return sqlerr.New(sqlerr.ObjectInUse, "session user cannot be dropped")
	case r.Super && !actor.Super:
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to drop superusers")
	case isPredefined(r.OID) || r.Configured:
		return sqlerr.New(sqlerr.DependentObjectsExist, "cannot drop role %s because it is required by the server", r.Name)
	}
	if what := e.dependents(r.OID); len(what) > 0 {
		return sqlerr.New(sqlerr.DependentObjectsExist, "role \"%s\" cannot be dropped because some objects depend on it", name).
			WithDetail("%s", strings.Join(what, "\n"))
	}
	for _, m := range e.Memberships() {
		if m.Role == r.OID || m.Member == r.OID {
			e.setMember(m, true)
		}
	}
	e.dropRole(r.OID)
	e.touchRow(r.OID)
	return nil
}

// dependents says what objects depend on a role.
func (e *Edit) dependents(role OID) (out []string) {
	const most = 100
	e.Each(func(n Name, o *Object) {
		what := string(n.Kind) + " " + n.Shown()
		if o.Owner == role {
			out = append(out, "owner of "+what)
		}
		for _, a := range o.lists() {
			if a.names(role) && (o.Owner != role) {
				out = append(out, "privileges for "+what)
				break
			}
		}
	})
	_ = e.Defaults(func(d Default, _ []string) error {
		if d.Role == role {
			out = append(out, "owner of default privileges on new "+string(d.Kind)+"s belonging to role "+e.roleName(role))
		} else if e.defaults[d].names(role) {
			out = append(out, "privileges for default privileges on new "+string(d.Kind)+"s belonging to role "+e.roleName(d.Role))
		}
		return nil
	})
	if len(out) > most {
		out = append(out[:most], "and more")
	}
	return out
}

// MemberOptions are the options of GRANT role; nil where they say nothing.
type MemberOptions struct{ Admin, Inherit, Set *bool }

// mayGrantRole tells whether the actor may say who is a member of a role.
func (e *Edit) mayGrantRole(r *Role) error {
	actor := e.roles[e.Actor]
	if r.Super {
		if !e.super() {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to alter superusers")
		}
		return nil
	}
	if actor == nil || !actor.CreateRole && !e.IsAdmin(e.Actor, r.OID) || isPredefined(r.OID) && !e.IsAdmin(e.Actor, r.OID) {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must have admin option on role \"%s\"", r.Name)
	}
	return nil
}

// GrantRole makes member a member of a role.
func (e *Edit) GrantRole(role, member string, o MemberOptions, grantedBy string) error {
	r, err := e.Named(role)
	if err != nil {
		return err
	}
	m, err := e.Named(member)
	if err != nil {
		return err
	}
	grantor := e.Actor
	if grantedBy != "" {
		g, err := e.Named(grantedBy)
		if err != nil {
			return err
		}
		if grantor = g.OID; grantor != e.Actor && !e.super() {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to set grantor")
		}
	}
	if err := e.mayGrantRole(r); err != nil {
		return err
	}
	if r.OID == DatabaseOwner {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "role \"%s\" cannot have explicit members", r.Name)
	}
	if m.OID == DatabaseOwner {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "role \"%s\" cannot be a member of any role", m.Name)
	}
	if r.OID == m.OID || e.memberOf(r.OID, m.OID) {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "role \"%s\" is a member of role \"%s\"", r.Name, m.Name)
	}
	x, there := Membership{Role: r.OID, Member: m.OID, Grantor: grantor}, false
	for _, old := range e.members { // PostgreSQL 15 knows one membership of each two roles
		if old.Role == r.OID && old.Member == m.OID {
			x, there = old, true
		}
	}
	was := x
	if o.Admin != nil {
		x.Admin = *o.Admin
	}
	if o.Inherit != nil {
		x.Inherit = o.Inherit
	}
	if o.Set != nil {
		x.NoSet = !*o.Set
	}
	if there && x == was {
		e.Notice("00000", "role \"%s\" is already a member of role \"%s\"", m.Name, r.Name)
		return nil
	}
	e.setMember(x, false)
	return nil
}

// RevokeRole ends a membership, or takes one of its options.
func (e *Edit) RevokeRole(role, member string, o MemberOptions) error {
	r, err := e.Named(role)
	if err != nil {
		return err
	}
	m, err := e.Named(member)
	if err != nil {
		return err
	}
	if err := e.mayGrantRole(r); err != nil {
		return err
	}
	for _, x := range e.members {
		if x.Role != r.OID || x.Member != m.OID {
			continue
		}
		gone := true
		if o.Admin != nil {
			x.Admin, gone = false, false
		}
		if o.Inherit != nil {
			no := false
			x.Inherit, gone = &no, false
		}
		if o.Set != nil {
			x.NoSet, gone = true, false
		}
		e.setMember(x, gone)
		return nil
	}
	e.Notice(sqlerr.PrivilegeNotRevoked, "role \"%s\" is not a member of role \"%s\"", m.Name, r.Name)
	return nil
}
