package syscat

import (
	"context"
	"slices"

	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/lake"
)

// Lock is what is known of roles and privileges, and for whom the catalogs are read.
type Lock struct {
	State    *guard.State
	Role     guard.OID
	Name     string
	Super    bool
	Database string
}

func init() {
	for name, f := range map[string]rowsFunc{
		"pg_auth_members": pgAuthMembers,
		"pg_default_acl":  pgDefaultACL,
		"pg_group":        pgGroup,
		"pg_shadow":       pgShadow,
	} {
		makers["pg_catalog."+name] = f
	}
	makers["information_schema.column_privileges"] = infoColumnPrivileges
	makers["information_schema.applicable_roles"] = infoApplicableRoles
}

// lock is the host's; nil where the lock is off.
func (q *query) lock(ctx context.Context) (*Lock, error) { return q.host.Lock(ctx) }

func (l *Lock) table(schema, name string) guard.Name {
	return guard.Name{Kind: guard.Table, Name: lake.Name{Catalog: l.Database, Namespace: schema, Table: name}}
}

func (l *Lock) schema(name string) guard.Name {
	return guard.Name{Kind: guard.Schema, Name: lake.Name{Catalog: l.Database, Namespace: name}}
}

func (l *Lock) database(name string) guard.Name {
	return guard.Name{Kind: guard.Database, Name: lake.Name{Catalog: name}}
}

// own is what is the session's alone: its temporary tables.
func (l *Lock) own(it item) bool { return isTemporary(it.schema) }

// owner is a relation's; of the system's tables the bootstrap superuser.
func (l *Lock) owner(it item) uint32 {
	switch {
	case l == nil || it.def != nil:
		return ownerOID
	case l.own(it):
		return l.Role
	}
	return l.State.Find(l.table(it.schema, it.entry.Name), "").Owner
}

// acl is an array of aclitem; NULL for the default.
func (l *Lock) acl(it item) any {
	if l == nil || it.def != nil || l.own(it) {
		return nil
	}
	return aclOrNull(l.State.ACLText(l.table(it.schema, it.entry.Name), ""))
}

func aclOrNull(items []string) any {
	if items == nil {
		return nil
	}
	return items
}

// columnACLs are those of an item's columns by name; nil: none.
func (l *Lock) columnACL(it item, column string) any {
	if l == nil || it.def != nil || l.own(it) {
		return nil
	}
	return aclOrNull(l.State.ColumnACLText(l.table(it.schema, it.entry.Name), "", column))
}

// roleName is the name of an owner.
func (q *query) roleName(l *Lock, oid uint32) string {
	if l == nil {
		return q.host.User()
	}
	if r, ok := l.State.RoleByOID(oid); ok {
		return r.Name
	}
	return itoa(int(oid))
}

// sees tells whether information_schema shows a relation: the role may do something with it.
func (l *Lock) sees(it item) bool {
	if l == nil || l.Super || it.def != nil || l.own(it) {
		return true
	}
	n := l.table(it.schema, it.entry.Name)
	return l.State.Owns(l.Role, n, "") || l.State.Held(l.Role, n, "")|l.State.HeldOnAnyColumn(l.Role, n, "") != 0
}

// seesColumn is sees for a column of a relation.
func (l *Lock) seesColumn(it item, column string) bool {
	if l == nil || l.Super || it.def != nil || l.own(it) {
		return true
	}
	n := l.table(it.schema, it.entry.Name)
	return l.State.Owns(l.Role, n, "") || l.State.Held(l.Role, n, "")&guard.Column.All() != 0 || l.State.HeldOnColumn(l.Role, n, "", column) != 0
}

// seesSchema tells whether a schema is shown.
func (l *Lock) seesSchema(name string) bool {
	if l == nil || l.Super || isTemporary(name) || name == "pg_catalog" || name == "information_schema" {
		return true
	}
	n := l.schema(name)
	return l.State.Owns(l.Role, n, "") || l.State.Held(l.Role, n, "") != 0
}

// roles calls f for each role.
func (q *query) roles(ctx context.Context, f func(r *guard.Role) error) error {
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	if l != nil {
		for _, r := range l.State.Roles() {
			if err := f(r); err != nil {
				return err
			}
		}
		return nil
	}
	if err := f(&guard.Role{OID: databaseOwnerOID, Name: databaseOwner}); err != nil {
		return err
	}
	return q.users(func(oid uint32, name string) error {
		return f(&guard.Role{OID: oid, Name: name, Super: true, Login: true, BypassRLS: true})
	})
}

func until(r *guard.Role) any {
	if r.Until == nil {
		return nil
	}
	return *r.Until
}

func pgRoles(ctx context.Context, q *query) error {
	return q.roles(ctx, func(r *guard.Role) error {
		return q.row("oid", r.OID, "rolname", r.Name, "rolsuper", r.Super, "rolinherit", !r.NoInherit, "rolcreaterole", r.CreateRole, "rolcreatedb", r.CreateDB,
			"rolcanlogin", r.Login, "rolreplication", false, "rolconnlimit", r.ConnectionLimit(), "rolpassword", "********", "rolvaliduntil", until(r), "rolbypassrls", r.BypassRLS)
	})
}

func pgAuthid(ctx context.Context, q *query) error {
	return q.roles(ctx, func(r *guard.Role) error {
		password := any(nil) // of the configuration's users it is not known here
		if r.Verifier != "" {
			password = r.Verifier
		}
		return q.row("oid", r.OID, "rolname", r.Name, "rolsuper", r.Super, "rolinherit", !r.NoInherit, "rolcreaterole", r.CreateRole, "rolcreatedb", r.CreateDB,
			"rolcanlogin", r.Login, "rolreplication", false, "rolbypassrls", r.BypassRLS, "rolconnlimit", r.ConnectionLimit(), "rolpassword", password, "rolvaliduntil", until(r))
	})
}

func pgUser(ctx context.Context, q *query) error {
	return q.roles(ctx, func(r *guard.Role) error {
		if !r.Login {
			return nil
		}
		return q.row("usename", r.Name, "usesysid", r.OID, "usecreatedb", r.CreateDB, "usesuper", r.Super, "userepl", false,
			"usebypassrls", r.BypassRLS, "passwd", "********", "valuntil", until(r))
	})
}

func pgShadow(ctx context.Context, q *query) error {
	return q.roles(ctx, func(r *guard.Role) error {
		if !r.Login {
			return nil
		}
		password := any(nil)
		if r.Verifier != "" {
			password = r.Verifier
		}
		return q.row("usename", r.Name, "usesysid", r.OID, "usecreatedb", r.CreateDB, "usesuper", r.Super, "userepl", false,
			"usebypassrls", r.BypassRLS, "passwd", password, "valuntil", until(r))
	})
}

func pgGroup(ctx context.Context, q *query) error {
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	return q.roles(ctx, func(r *guard.Role) error {
		if r.Login {
			return nil
		}
		members := []int{}
		if l != nil {
			for _, m := range l.State.Memberships() {
				if m.Role == r.OID {
					members = append(members, int(m.Member))
				}
			}
		}
		return q.row("groname", r.Name, "grosysid", r.OID, "grolist", members)
	})
}

func pgAuthMembers(ctx context.Context, q *query) error {
	l, err := q.lock(ctx)
	if err != nil || l == nil {
		return err
	}
	for _, m := range l.State.Memberships() {
		if err := q.row("roleid", m.Role, "member", m.Member, "grantor", m.Grantor, "admin_option", m.Admin); err != nil {
			return err
		}
	}
	return nil
}

func pgDefaultACL(ctx context.Context, q *query) error {
	l, err := q.lock(ctx)
	if err != nil || l == nil {
		return err
	}
	return l.State.Defaults(func(d guard.Default, acl []string) error {
		if d.Catalog != l.Database {
			return nil
		}
		space := uint32(0)
		if d.Namespace != "" {
			space = SchemaOID(d.Catalog, d.Namespace)
		}
		kind := map[guard.Kind]string{guard.Table: "r", guard.Schema: "n"}[d.Kind]
		return q.row("oid", hashOID("default acl", d.Catalog, d.Namespace, kind, itoa(int(d.Role))), "defaclrole", d.Role, "defaclnamespace", space,
			"defaclobjtype", kind, "defaclacl", acl)
	})
}

// infoRoles are the roles whose privileges the session has.
func infoRoles(ctx context.Context, q *query) error {
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	if l == nil {
		return q.row("role_name", q.host.User())
	}
	for _, r := range l.State.Roles() {
		if l.State.HasRightsOf(l.Role, r.OID) {
			if err := q.row("role_name", r.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func infoApplicableRoles(ctx context.Context, q *query) error {
	l, err := q.lock(ctx)
	if err != nil || l == nil {
		return err
	}
	for _, m := range l.State.Memberships() {
		if !l.State.HasRightsOf(l.Role, m.Member) {
			continue
		}
		if err := q.row("grantee", q.roleName(l, m.Member), "role_name", q.roleName(l, m.Role), "is_grantable", yesNo(m.Admin)); err != nil {
			return err
		}
	}
	return nil
}

// standard are the privileges that SQL's own views know.
var standard = []guard.Privilege{guard.Insert, guard.Select, guard.Update, guard.Delete, guard.Truncate, guard.References, guard.Trigger}

// granted calls f for each privilege of a list that the role has given or got.
func (q *query) granted(l *Lock, a guard.ACL, f func(grantor, grantee, privilege string, grantable bool) error) error {
	for _, it := range a {
		grantee := "PUBLIC"
		if it.Grantee != 0 {
			grantee = q.roleName(l, it.Grantee)
		}
		mine := it.Grantee == 0 || l.State.HasRightsOf(l.Role, it.Grantee) || l.State.HasRightsOf(l.Role, it.Grantor)
		for _, p := range standard {
			if it.Privs&p == 0 || !mine {
				continue
			}
			if err := f(q.roleName(l, it.Grantor), grantee, p.String(), it.Options&p != 0 || it.Grantee == it.Grantor); err != nil {
				return err
			}
		}
	}
	return nil
}

func infoTablePrivileges(ctx context.Context, q *query) error {
	db, me := q.host.Database(), q.host.User()
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	return q.eachNamed(ctx, func(it item) error {
		row := func(grantor, grantee, privilege string, grantable bool) error {
			return q.row("grantor", grantor, "grantee", grantee, "table_catalog", db, "table_schema", it.schema, "table_name", it.entry.Name,
				"privilege_type", privilege, "is_grantable", yesNo(grantable), "with_hierarchy", yesNo(privilege == "SELECT"))
		}
		if l != nil && it.def == nil && !l.own(it) {
			return q.granted(l, l.State.ACL(l.table(it.schema, it.entry.Name), ""), row)
		}
		for _, p := range []string{"INSERT", "SELECT", "UPDATE", "DELETE", "TRUNCATE"} {
			if (it.def != nil || it.entry.View) && p != "SELECT" {
				continue
			}
			if err := row(me, me, p, true); err != nil {
				return err
			}
		}
		return nil
	})
}

func infoColumnPrivileges(ctx context.Context, q *query) error {
	db := q.host.Database()
	l, err := q.lock(ctx)
	if err != nil || l == nil {
		return err
	}
	return q.eachNamed(ctx, func(it item) error {
		if it.def != nil || l.own(it) {
			return nil
		}
		r, err := q.load(ctx, it)
		if err != nil || r == nil {
			return err
		}
		n := l.table(it.schema, it.entry.Name)
		whole := l.State.ACL(n, "")
		for _, c := range r.Columns {
			for _, a := range []guard.ACL{whole, l.State.ColumnACL(n, "", c.Name)} {
				err := q.granted(l, a, func(grantor, grantee, privilege string, grantable bool) error {
					if !slices.Contains([]string{"SELECT", "INSERT", "UPDATE", "REFERENCES"}, privilege) {
						return nil
					}
					return q.row("grantor", grantor, "grantee", grantee, "table_catalog", db, "table_schema", it.schema, "table_name", it.entry.Name,
						"column_name", c.Name, "privilege_type", privilege, "is_grantable", yesNo(grantable))
				})
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}
