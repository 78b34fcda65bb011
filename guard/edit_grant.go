package guard

import (
	"maps"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Grant is GRANT or REVOKE of privileges on objects.
type Grant struct {
	Revoke bool
	// Privs are those on all of each object, Columns those on columns alone. AllPrivs: ALL, of which
	// one that cannot be given is no warning.
	Privs    Privilege
	AllPrivs bool
	Columns  []ColumnPrivs
	Branch   string // the privileges are on this branch alone
	// Below: privileges of tables on a schema or database are meant, which hold for every table in it
	// (MySQL's GRANT … ON db.*).
	Below   bool
	To      []OID // 0: everybody
	Option  bool  // WITH GRANT OPTION; of REVOKE: GRANT OPTION FOR
	Cascade bool
}

// ColumnPrivs are privileges on columns.
type ColumnPrivs struct {
	Privs   Privilege
	All     bool
	Columns []string
}

// Target is an object that a statement names and that is there.
type Target struct {
	Name Name
	UUID string // of tables and views
	View bool
	// Columns are a table's, to tell which there are.
	Columns []string
}

// Denied is the error of who lacks a privilege on an object.
func Denied(n Name, view bool) *sqlerr.Error {
	what := string(n.Kind)
	if view {
		what = "view"
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for %s %s", what, n.Shown())
}

// NotOwner is the error of who does not own an object.
func NotOwner(n Name, view bool) *sqlerr.Error {
	what := string(n.Kind)
	if view {
		what = "view"
	}
	return sqlerr.New(sqlerr.InsufficientPrivilege, "must be owner of %s %s", what, n.Shown())
}

// entry is what is known of a target, as a copy to change.
func (e *Edit) entry(t Target) *Object {
	o := *e.Find(t.Name, t.UUID)
	o.UUID = t.UUID
	o.Columns, o.Refs = maps.Clone(o.Columns), maps.Clone(o.Refs)
	return &o
}

// keep keeps a target's entry, under its name of now.
func (e *Edit) keep(t Target, o *Object) {
	if was, ok := e.byUUID[t.UUID]; ok && t.UUID != "" && was != t.Name {
		e.setObject(was, nil)
	}
	e.setObject(t.Name, o)
}

// Grant gives or takes privileges on one object.
func (e *Edit) Grant(t Target, g Grant) error {
	kind := t.Name.Kind
	o := e.entry(t)
	if g.Branch != "" {
		if err := valid(g.Privs, g.AllPrivs, Ref); err != nil {
			return err
		}
		a, err := e.change(t, o, o.Refs[g.Branch], g.Privs, Ref.All(), g, "branch "+g.Branch)
		if err != nil {
			return err
		}
		o.Refs = put(o.Refs, g.Branch, a)
		e.keep(t, o)
		return nil
	}
	whole := kind.All()
	if g.Below {
		whole |= Table.All() | Schema.All()
	} else if err := valid(g.Privs, g.AllPrivs, kind); err != nil {
		return err
	}
	if g.Privs != 0 {
		// What is taken from a whole table is taken from its columns as well.
		if c := g.Privs & Column.All(); g.Revoke && kind == Table && c != 0 {
			for _, name := range slices.Sorted(maps.Keys(o.Columns)) {
				a, err := e.change(t, o, o.Columns[name], c, Column.All(), g, "")
				if err != nil {
					return err
				}
				o.Columns = put(o.Columns, name, a)
			}
		}
		a, err := e.change(t, o, o.acl(kind), g.Privs, whole, g, t.Name.Shown())
		if err != nil {
			return err
		}
		o.ACL = a
	}
	for _, c := range g.Columns {
		if kind != Table {
			return sqlerr.New(sqlerr.InvalidGrantOperation, "column privileges are only valid for relations")
		}
		if err := valid(c.Privs, c.All, Column); err != nil {
			return err
		}
		for _, name := range c.Columns {
			if !slices.Contains(t.Columns, name) {
				return sqlerr.New(sqlerr.UndefinedColumn, "column \"%s\" of relation \"%s\" does not exist", name, t.Name.Table)
			}
			a, err := e.change(t, o, o.Columns[name], c.Privs, Column.All(), Grant{Revoke: g.Revoke, AllPrivs: c.All, To: g.To, Option: g.Option, Cascade: g.Cascade}, "column "+name)
			if err != nil {
				return err
			}
			o.Columns = put(o.Columns, name, a)
		}
	}
	if o.ACL == nil && len(o.Columns) == 0 && len(o.Refs) == 0 && e.objects[t.Name] == nil {
		return nil
	}
	e.keep(t, o)
	return nil
}

func put(m map[string]ACL, name string, a ACL) map[string]ACL {
	if len(a) == 0 {
		delete(m, name)
		return m
	}
	if m == nil {
		m = map[string]ACL{}
	}
	m[name] = a
	return m
}

// valid refuses privileges that a kind of object does not have.
func valid(p Privilege, all bool, k Kind) error {
	if bad := p &^ k.All(); bad != 0 && !all {
		first := strings.Split(bad.String(), ", ")[0]
		return sqlerr.New(sqlerr.InvalidGrantOperation, "invalid privilege type %s for %s", first, string(k))
	}
	return nil
}

// grantor is in whose name the actor gives privileges: the owner's where he may act as him, else that
// of the role that may give most; options are those that it may give.
func (e *Edit) grantor(o *Object, a ACL, catalog string, p Privilege) (as OID, options Privilege) {
	who := e.who(e.Actor, catalog)
	if e.super() || who(o.Owner) {
		return o.Owner, p
	}
	lists := a
	if o.ACL != nil {
		lists = append(append(ACL{}, a...), o.ACL...) // the table's options are the columns', too
	}
	as = e.Actor
	for _, it := range lists {
		if it.Grantee == 0 || !who(it.Grantee) {
			continue
		}
		_, opts := lists.held(func(r OID) bool { return r == it.Grantee })
		opts &= p
		if count(opts) > count(options) || opts == options && opts != 0 && it.Grantee == e.Actor {
			as, options = it.Grantee, opts
		}
	}
	return as, options
}

func count(p Privilege) (n int) {
	for ; p != 0; p &= p - 1 {
		n++
	}
	return n
}

// change gives or takes privileges in one list. shown names its object in warnings, "" for none.
func (e *Edit) change(t Target, o *Object, a ACL, p, whole Privilege, g Grant, shown string) (ACL, error) {
	p &= whole
	as, can := e.grantor(o, a, t.Name.Catalog, p)
	if can == 0 {
		held, opts := a.held(e.who(e.Actor, t.Name.Catalog))
		if (held|opts|e.Held(e.Actor, t.Name, t.UUID))&whole == 0 {
			if column, ok := strings.CutPrefix(shown, "column "); ok {
				return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for column \"%s\" of relation \"%s\"", column, t.Name.Table)
			}
			return nil, Denied(t.Name, t.View)
		}
	}
	if g.Option && !g.Revoke && slices.Contains(g.To, 0) {
		return nil, errPublicOption
	}
	if done := p & can; shown != "" && done != p {
		switch {
		case !g.Revoke && done == 0:
			e.Notice(sqlerr.PrivilegeNotGranted, "no privileges were granted for \"%s\"", shown)
		case !g.Revoke && !g.AllPrivs:
			e.Notice(sqlerr.PrivilegeNotGranted, "not all privileges were granted for \"%s\"", shown)
		case g.Revoke && done == 0:
			e.Notice(sqlerr.PrivilegeNotRevoked, "no privileges could be revoked for \"%s\"", shown)
		case g.Revoke && !g.AllPrivs:
			e.Notice(sqlerr.PrivilegeNotRevoked, "not all privileges could be revoked for \"%s\"", shown)
		}
	}
	if p &= can; p == 0 {
		return a, nil
	}
	var err error
	for _, to := range g.To {
		if g.Revoke {
			a, err = a.revoke(o.Owner, as, to, p, g.Option, g.Cascade)
		} else {
			a, err = a.grant(o.Owner, as, to, p, g.Option)
		}
		if err != nil {
			return nil, err
		}
	}
	if a == nil {
		a = ACL{}
	}
	return a, nil
}

// ---- default privileges ----

// GrantDefault is ALTER DEFAULT PRIVILEGES.
func (e *Edit) GrantDefault(k Default, g Grant) error {
	if !e.IsMember(e.Actor, k.Role) {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be member of role \"%s\"", e.roleName(k.Role))
	}
	if k.Namespace != "" && k.Kind == Schema {
		return sqlerr.New(sqlerr.InvalidGrantOperation, "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS")
	}
	if err := valid(g.Privs, g.AllPrivs, k.Kind); err != nil {
		return err
	}
	if g.Option && !g.Revoke && slices.Contains(g.To, 0) {
		return errPublicOption
	}
	// What holds in a schema is added to what holds everywhere, so that a list of a schema begins empty.
	basis := ACL{}
	if k.Namespace == "" {
		basis = defaultACL(k.Kind, k.Role)
	}
	a := basis
	if now := e.defaults[k]; now != nil {
		a = now
	}
	var err error
	for _, to := range g.To {
		if g.Revoke {
			a, err = a.revoke(k.Role, k.Role, to, g.Privs&k.Kind.All(), g.Option, g.Cascade)
		} else {
			a, err = a.grant(k.Role, k.Role, to, g.Privs&k.Kind.All(), g.Option)
		}
		if err != nil {
			return err
		}
	}
	if same(a, basis) {
		a = nil
	}
	e.setDefault(k, a)
	return nil
}

func same(a, b ACL) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if at := b.find(x.Grantee, x.Grantor); at == len(b) || b[at] != x {
			return false
		}
	}
	return true
}

// Made tells of an object that the actor has made: he owns it, and it has what his default privileges
// say.
func (e *Edit) Made(t Target) {
	kind := t.Name.Kind
	o := &Object{Owner: e.Actor, UUID: t.UUID}
	everywhere, here := e.defaults[Default{e.Actor, t.Name.Catalog, "", kind}], ACL(nil)
	if kind == Table {
		here = e.defaults[Default{e.Actor, t.Name.Catalog, t.Name.Namespace, kind}]
	}
	if everywhere != nil || here != nil {
		a := defaultACL(kind, e.Actor)
		if everywhere != nil {
			a = everywhere
		}
		for _, it := range here {
			if at := a.find(it.Grantee, it.Grantor); at < len(a) {
				it.Privs |= a[at].Privs
				it.Options |= a[at].Options
			}
			a = a.with(a.find(it.Grantee, it.Grantor), it)
		}
		if !same(a, defaultACL(kind, e.Actor)) {
			o.ACL = a
		}
	}
	e.keep(t, o)
}

// Renamed tells that an object has another name.
func (e *Edit) Renamed(from, to Name) {
	if o := e.objects[from]; o != nil {
		e.setObject(from, nil)
		e.setObject(to, o)
	}
}

// RenamedColumn tells that a column has another name; to "": that it is no more.
func (e *Edit) RenamedColumn(n Name, uuid, from, to string) {
	o := e.objects[n]
	if o == nil || o.UUID != uuid || o.Columns[from] == nil {
		return
	}
	x := *o
	x.Columns = maps.Clone(o.Columns)
	a := x.Columns[from]
	delete(x.Columns, from)
	if to != "" {
		x.Columns[to] = a
	}
	e.setObject(n, &x)
}

// Dropped tells that an object is no more, and of a schema what was in it.
func (e *Edit) Dropped(n Name) {
	if e.objects[n] != nil {
		e.setObject(n, nil)
	}
	if n.Kind == Schema {
		for k := range e.defaults {
			if k.Catalog == n.Catalog && k.Namespace == n.Namespace {
				e.setDefault(k, nil)
			}
		}
		for o := range maps.Clone(e.objects) {
			if o.Kind == Table && o.Catalog == n.Catalog && o.Namespace == n.Namespace {
				e.setObject(o, nil)
			}
		}
	}
}

// SetInvoker makes a view read its tables with the rights of who reads it, or with its owner's.
func (e *Edit) SetInvoker(t Target, on bool) {
	o := e.entry(t)
	o.Invoker = on
	e.keep(t, o)
}

// ---- owners ----

// SetOwner is ALTER … OWNER TO.
func (e *Edit) SetOwner(t Target, to string) error {
	r, err := e.Named(to)
	if err != nil {
		return err
	}
	o := e.entry(t)
	if o.Owner == r.OID && t.Name.Kind != Table {
		return nil
	}
	if !e.Owns(e.Actor, t.Name, t.UUID) {
		return NotOwner(t.Name, t.View)
	}
	if o.Owner == r.OID {
		return nil
	}
	if !e.super() {
		if !e.IsMember(e.Actor, r.OID) {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be member of role \"%s\"", r.Name)
		}
		// Whom it is given to could have made it there.
		above := Name{Schema, lake.Name{Catalog: t.Name.Catalog, Namespace: t.Name.Namespace}}
		if t.Name.Kind == Schema {
			above = Name{Database, lake.Name{Catalog: t.Name.Catalog}}
		}
		if t.Name.Kind == Database {
			if a := e.roles[e.Actor]; !a.CreateDB {
				return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to change owner of database")
			}
		} else if e.Held(r.OID, above, "")&Create == 0 {
			return Denied(above, false)
		}
	}
	e.give(t, o, r.OID)
	return nil
}

func (e *Edit) give(t Target, o *Object, to OID) {
	old := o.Owner
	o.Owner = to
	o.ACL = o.ACL.owned(old, to)
	for _, m := range []map[string]ACL{o.Columns, o.Refs} {
		for k, a := range m {
			m[k] = a.owned(old, to)
		}
	}
	e.keep(t, o)
}

// Reassign is REASSIGN OWNED: what the roles own in a database becomes another's.
func (e *Edit) Reassign(catalog string, from []string, to string) error {
	r, err := e.Named(to)
	if err != nil {
		return err
	}
	for _, name := range append([]string{to}, from...) {
		old, err := e.Named(name)
		if err != nil {
			return err
		}
		if !e.HasRightsOf(e.Actor, old.OID) {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to reassign objects")
		}
		if old.OID == Bootstrap && name != to {
			return sqlerr.New(sqlerr.DependentObjectsExist, "cannot reassign ownership of objects owned by role %s because they are required by the database system", name)
		}
		if name == to {
			continue
		}
		for _, t := range e.owned(catalog, old.OID) {
			if above := (Name{Database, lake.Name{Catalog: catalog}}); t.Name.Kind == Schema && !e.super() && e.Held(r.OID, above, "")&Create == 0 {
				return Denied(above, false)
			}
			e.give(t, e.entry(t), r.OID)
		}
	}
	return nil
}

func (e *Edit) owned(catalog string, role OID) (out []Target) {
	e.Each(func(n Name, o *Object) {
		if o.Owner == role && n.Catalog == catalog {
			out = append(out, Target{Name: n, UUID: o.UUID})
		}
	})
	return out
}

// Owned are the objects of a database that a role owns and that DROP OWNED drops; the actor must have
// the role's rights.
func (e *Edit) Owned(catalog, name string) ([]Target, error) {
	r, err := e.Named(name)
	if err != nil {
		return nil, err
	}
	if !e.HasRightsOf(e.Actor, r.OID) {
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to drop objects")
	}
	if r.OID == Bootstrap || isPredefined(r.OID) {
		return nil, sqlerr.New(sqlerr.DependentObjectsExist, "cannot drop objects owned by role %s because they are required by the database system", name)
	}
	return e.owned(catalog, r.OID), nil
}

// DropGrants takes from all objects of a database what a role holds or gave, and its default
// privileges.
func (e *Edit) DropGrants(catalog, name string) error {
	r, err := e.Named(name)
	if err != nil {
		return err
	}
	for n, o := range maps.Clone(e.objects) {
		if n.Catalog != catalog {
			continue
		}
		x, any := *o, false
		x.Columns, x.Refs = maps.Clone(o.Columns), maps.Clone(o.Refs)
		if o.ACL != nil && o.Owner != r.OID {
			x.ACL, any = o.ACL.without(r.OID)
		}
		for _, m := range []map[string]ACL{x.Columns, x.Refs} {
			for k, a := range m {
				if b, changed := a.without(r.OID); changed {
					any = true
					put(m, k, b)
				}
			}
		}
		if any {
			e.setObject(n, &x)
		}
	}
	for k, a := range maps.Clone(e.defaults) {
		if k.Catalog != catalog {
			continue
		}
		if k.Role == r.OID {
			e.setDefault(k, nil)
		} else if b, changed := a.without(r.OID); changed {
			e.setDefault(k, b)
		}
	}
	return nil
}
