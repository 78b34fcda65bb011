package engine

import (
	"context"
	"strings"
	"time"

	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// roleStatement runs statements about roles and privileges; known false: it is none of them.
func (s *Session) roleStatement(ctx context.Context, n ast.Stmt, r *Result) (known bool, err error) {
	switch n := n.(type) {
	case *ast.CreateRole:
		r.verb = "CREATE ROLE"
		err = s.lockedOr(func() error { return s.createRoles(ctx, n, r) })
	case *ast.AlterRole:
		r.verb = "ALTER ROLE"
		err = s.lockedOr(func() error { return s.alterRole(ctx, n, r) })
	case *ast.RenameRole:
		r.verb = "ALTER ROLE"
		err = s.lockedOr(func() error {
			return s.changePrivileges(ctx, r, func(e *guard.Edit) error { return e.RenameRole(n.From.Name, n.To.Name) })
		})
	case *ast.DropRole:
		r.verb = "DROP ROLE"
		err = s.lockedOr(func() error { return s.dropRoles(ctx, n, r) })
	case *ast.GrantRole:
		r.verb = grantVerb(n.Revoke, "ROLE")
		err = s.lockedOr(func() error { return s.grantRole(ctx, n, r) })
	case *ast.Grant:
		r.verb = grantVerb(n.Revoke, "")
		err = s.grantOr(n.Revoke, r, func() error {
			if s.my != nil {
				return s.my.grant(ctx, n, r)
			}
			return s.grant(ctx, n, r)
		})
	case *ast.DefaultPrivileges:
		r.verb = "ALTER DEFAULT PRIVILEGES"
		err = s.grantOr(n.Grant.Revoke, r, func() error { return s.defaultPrivileges(ctx, n, r) })
	case *ast.SetOwner:
		r.verb = "ALTER " + strings.ToUpper(n.Kind)
		if s.engine.guard == nil {
			r.warn("00000", "OWNER TO has no effect: every user that may connect has all privileges of an owner")
			break
		}
		err = s.lockedOr(func() error { return s.setOwner(ctx, n, r) })
	case *ast.ReassignOwned:
		r.verb = "REASSIGN OWNED"
		err = s.lockedOr(func() error { return s.reassignOwned(ctx, n, r) })
	case *ast.DropOwned:
		r.verb = "DROP OWNED"
		err = s.lockedOr(func() error { return s.dropOwned(ctx, n, r) })
	default:
		return false, nil
	}
	return true, err
}

func grantVerb(revoke bool, of string) string {
	verb := "GRANT"
	if revoke {
		verb = "REVOKE"
	}
	return strings.TrimSpace(verb + " " + of)
}

// unlocked is what statements about roles are told while the lock is off.
func unlocked(what string) *sqlerr.Error {
	return sqlerr.New(sqlerr.FeatureNotSupported, "%s: every user that may connect has all privileges", what).
		WithHint("Roles and privileges are kept once the server's configuration names administrators (guard.admins).")
}

func (s *Session) lockedOr(f func() error) error {
	if s.engine.guard == nil {
		return unlocked("roles are not kept")
	}
	if s.readOnly() {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot change roles and privileges in a read-only transaction")
	}
	return f()
}

// grantOr is lockedOr of what a GRANT gives: without the lock everyone has it. What REVOKE takes would
// stay.
func (s *Session) grantOr(revoke bool, r *Result, f func() error) error {
	switch {
	case s.engine.guard != nil:
		return s.lockedOr(f)
	case revoke:
		return unlocked("REVOKE is not supported")
	}
	r.warn("01000", "GRANT has no effect: every user that may connect has all privileges")
	return nil
}

// roleNamed is the role that a statement names.
func (s *Session) roleNamed(n ast.RoleName) (string, error) {
	switch n.Special {
	case "current_user":
		return s.currentUser(), nil
	case "session_user":
		return s.sessionUser(), nil
	case "public":
		return "", sqlerr.New(sqlerr.UndefinedObject, "role \"public\" does not exist")
	}
	return n.Name, nil
}

func (s *Session) rolesNamed(list []ast.RoleName) ([]string, error) {
	out := make([]string, len(list))
	for i, n := range list {
		var err error
		if out[i], err = s.roleNamed(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// attributes reads the options of CREATE and ALTER ROLE. A password becomes a verifier here and is
// nowhere kept.
func (s *Session) attributes(o *ast.RoleOptions, user string) (guard.Attributes, error) {
	a := guard.Attributes{Super: o.Super, Inherit: o.Inherit, CreateRole: o.CreateRole, CreateDB: o.CreateDB, Login: o.Login, BypassRLS: o.BypassRLS, Limit: o.Limit}
	if o.Password != nil {
		verifier, native := "", ""
		switch {
		case o.NoPassword || *o.Password == "":
		case o.Hash:
			return a, sqlerr.New(sqlerr.FeatureNotSupported, "a password's hash of MySQL's cannot be taken over: it is of no use to other methods").
				WithHint("Give the password itself: IDENTIFIED BY '…'.")
		default:
			if s.engine.passwords == nil {
				return a, sqlerr.New(sqlerr.FeatureNotSupported, "this program keeps no passwords")
			}
			var err error
			if verifier, native, err = s.engine.passwords(user, *o.Password, o.Native); err != nil {
				return a, err
			}
		}
		a.Verifier, a.Native = &verifier, &native
	}
	if o.Until != nil {
		d, err := types.Parse(*o.Until, types.T(types.TimestampTZ), s.TextOptions())
		if err != nil {
			return a, err
		}
		switch text := types.Format(d, types.T(types.TimestampTZ), s.TextOptions()); text {
		case "infinity":
			a.NoUntil = true
		case "-infinity":
			past := time.Unix(0, 0).UTC()
			a.Until = &past
		default:
			t := time.UnixMicro(d.Int()).UTC()
			a.Until = &t
		}
	}
	return a, nil
}

// SetPasswords gives what makes verifiers of passwords, which the wires know: of a user's password in
// clear, or of a verifier the verifier itself; native also MySQL's older hash.
func (e *Engine) SetPasswords(make func(user, password string, native bool) (verifier, hash string, err error)) {
	e.passwords = make
}

func (s *Session) createRoles(ctx context.Context, first *ast.CreateRole, r *Result) error {
	type made struct {
		n                   *ast.CreateRole
		name                string
		a                   guard.Attributes
		in, members, admins []string
	}
	var list []made
	for n := first; n != nil; n = n.Next {
		m := made{n: n}
		var err error
		if m.name, err = s.roleNamed(n.Name); err == nil {
			m.a, err = s.attributes(&n.Options, m.name)
		}
		for _, x := range []struct {
			from []ast.RoleName
			to   *[]string
		}{{n.In, &m.in}, {n.Members, &m.members}, {n.Admins, &m.admins}} {
			if err == nil {
				*x.to, err = s.rolesNamed(x.from)
			}
		}
		if err != nil {
			return err
		}
		list = append(list, m)
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
		for _, m := range list {
			if _, there := e.Role(m.name); there && m.n.IfNotExists {
				e.Notice("00000", "role \"%s\" already exists, skipping", m.name)
				continue
			}
			if _, err := e.CreateRole(m.name, m.a); err != nil {
				return err
			}
			yes := true
			for _, to := range m.in {
				if err := e.GrantRole(to, m.name, guard.MemberOptions{}, ""); err != nil {
					return err
				}
			}
			for _, x := range m.admins {
				if err := e.GrantRole(m.name, x, guard.MemberOptions{Admin: &yes}, ""); err != nil {
					return err
				}
			}
			for _, x := range m.members {
				if err := e.GrantRole(m.name, x, guard.MemberOptions{}, ""); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (s *Session) alterRole(ctx context.Context, n *ast.AlterRole, r *Result) error {
	name, err := s.roleNamed(n.Role)
	if err != nil {
		return err
	}
	if len(n.Members) > 0 { // ALTER GROUP
		members, err := s.rolesNamed(n.Members)
		if err != nil {
			return err
		}
		return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
			for _, m := range members {
				var err error
				if n.Drop {
					err = e.RevokeRole(name, m, guard.MemberOptions{})
				} else {
					err = e.GrantRole(name, m, guard.MemberOptions{}, "")
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	a, err := s.attributes(&n.Options, name)
	if err != nil {
		return err
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
		if _, there := e.Role(name); !there && n.IfExists {
			e.Notice("00000", "role \"%s\" does not exist, skipping", name)
			return nil
		}
		return e.AlterRole(name, a)
	})
}

func (s *Session) dropRoles(ctx context.Context, n *ast.DropRole, r *Result) error {
	names, err := s.rolesNamed(n.Roles)
	if err != nil {
		return err
	}
	for _, x := range n.Roles {
		if x.Special != "" {
			return sqlerr.New(sqlerr.InvalidParameterValue, "cannot use special role specifier in DROP ROLE")
		}
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
		for _, name := range names {
			if _, there := e.Role(name); there && s.my != nil { // whose DROP USER takes what was granted with it
				for _, c := range s.engine.order {
					if err := e.DropGrants(c, name); err != nil {
						return err
					}
				}
			}
			if err := e.DropRole(name, n.IfExists); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Session) grantRole(ctx context.Context, n *ast.GrantRole, r *Result) error {
	roles, err := s.rolesNamed(n.Roles)
	if err != nil {
		return err
	}
	to, err := s.rolesNamed(n.To)
	if err != nil {
		return err
	}
	by := ""
	if n.By != nil {
		if by, err = s.roleNamed(*n.By); err != nil {
			return err
		}
	}
	o := guard.MemberOptions{Admin: n.Admin, Inherit: n.Inherit, Set: n.Set}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
		for _, role := range roles {
			for _, m := range to {
				var err error
				if n.Revoke {
					err = e.RevokeRole(role, m, o)
				} else {
					err = e.GrantRole(role, m, o, by)
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// ---- privileges ----

// grantTargets finds the objects that a GRANT names.
func (s *Session) grantTargets(ctx context.Context, n *ast.Grant) ([]guard.Target, error) {
	var out []guard.Target
	for _, o := range n.Objects {
		switch n.Kind {
		case "database":
			name := strings.Join(o.Parts, ".")
			if s.engine.catalogs[name] == nil {
				return nil, sqlerr.New(sqlerr.InvalidCatalogName, "database \"%s\" does not exist", name)
			}
			out = append(out, guard.Target{Name: databaseName(name)})
		case "schema", "tables in schema":
			catalog, ns := s.names().schema(ctx, o.Parts)
			if ns != "public" && !s.namespaceExists(ctx, catalog, ns) {
				return nil, sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", ns)
			}
			if n.Kind == "schema" {
				out = append(out, guard.Target{Name: schemaName(catalog, ns)})
				continue
			}
			list, err := s.inSchema(ctx, catalog, ns)
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
		case "table":
			t, err := s.targetNamed(ctx, o)
			if err != nil {
				return nil, err
			}
			out = append(out, t)
		}
	}
	return out, nil
}

// targetNamed finds a table or view.
func (s *Session) targetNamed(ctx context.Context, o ast.Name) (guard.Target, error) {
	rel, err := relations{s}.Relation(ctx, bind.TableRef{Parts: o.Parts})
	if isNotFound(err) {
		return guard.Target{}, sqlerr.New(sqlerr.UndefinedTable, "relation \"%s\" does not exist", strings.Join(o.Parts, ".")).At(o.Pos)
	}
	if err != nil {
		return guard.Target{}, err
	}
	if err := s.allowed(ctx, func(p *permission) error { return p.schema(rel.Catalog, rel.Schema) }); err != nil {
		return guard.Target{}, err
	}
	if rel.Of != nil || rel.Past || rel.Branch != "" {
		return guard.Target{}, sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is a state of a table, and not a table", strings.Join(o.Parts, ".")).
			WithHint("GRANT … ON table BRANCH branch gives privileges on a branch.").At(o.Pos)
	}
	if rel.Catalog == temporaryCatalog || rel.Virtual != nil {
		return guard.Target{}, sqlerr.New(sqlerr.FeatureNotSupported, "privileges on \"%s\" cannot be changed", rel.Name).At(o.Pos)
	}
	name, uuid := object(rel)
	t := guard.Target{Name: name, UUID: uuid, View: rel.View != nil}
	if rel.TableSchema != nil {
		for i := range rel.TableSchema.Fields {
			t.Columns = append(t.Columns, rel.TableSchema.Fields[i].Name)
		}
	} else if d, err := s.sysHost(ctx, rel.Catalog).Relation(ctx, rel.Schema, rel.Name); err == nil {
		for _, c := range d.Columns {
			t.Columns = append(t.Columns, c.Name)
		}
	}
	return t, nil
}

// inSchema lists the tables and views of a schema.
func (s *Session) inSchema(ctx context.Context, catalog, ns string) ([]guard.Target, error) {
	cat := s.catalogOf(catalog)
	tables, err := cat.List(ctx, ns)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	views, err := cat.Views(ctx, ns)
	if err != nil && !isNotFound(err) {
		return nil, err
	}
	var out []guard.Target
	for i, n := range append(tables, views...) {
		n.Catalog = catalog
		t := guard.Target{Name: tableName(n), View: i >= len(tables)}
		if t.View {
			v, err := cat.LoadView(ctx, n)
			if isNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			t.UUID = v.UUID
		} else {
			x, err := s.loadTable(ctx, n)
			if isNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			t.UUID = x.UUID()
		}
		out = append(out, t)
	}
	return out, nil
}

// grantees are the roles that a GRANT names, as the state knows them.
func (s *Session) grantees(list []ast.RoleName, e *guard.Edit) ([]guard.OID, error) {
	var out []guard.OID
	for _, n := range list {
		if n.Special == "public" {
			out = append(out, 0)
			continue
		}
		name, err := s.roleNamed(n)
		if err != nil {
			return nil, err
		}
		r, err := e.Named(name)
		if err != nil {
			return nil, err
		}
		out = append(out, r.OID)
	}
	return out, nil
}

// grantOf reads what a GRANT gives.
func grantOf(n *ast.Grant) (guard.Grant, error) {
	g := guard.Grant{Revoke: n.Revoke, Branch: n.Branch, Option: n.Option, Cascade: n.Cascade}
	for _, p := range n.Privs {
		privs, all := ^guard.Privilege(0), p.Name == ""
		if !all {
			var err error
			if privs, err = guard.PrivilegeOf(p.Name); err != nil {
				return g, err
			}
		}
		if len(p.Columns) > 0 {
			g.Columns = append(g.Columns, guard.ColumnPrivs{Privs: privs, All: all, Columns: p.Columns})
			continue
		}
		g.Privs |= privs
		g.AllPrivs = g.AllPrivs || all
	}
	return g, nil
}

func (s *Session) grant(ctx context.Context, n *ast.Grant, r *Result) error {
	switch n.Kind {
	case "database", "schema", "table", "tables in schema":
	default:
		r.warn("01000", "%s has no effect: there are no privileges on a %s", grantVerb(n.Revoke, ""), n.Kind)
		return nil
	}
	g, err := grantOf(n)
	if err != nil {
		return err
	}
	if n.By != nil {
		by, err := s.roleNamed(*n.By)
		if err != nil {
			return err
		}
		if by != s.currentUser() {
			return sqlerr.New(sqlerr.FeatureNotSupported, "grantor must be current user")
		}
	}
	targets, err := s.grantTargets(ctx, n)
	if err != nil {
		return err
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
		if g.To, err = s.grantees(n.To, e); err != nil {
			return err
		}
		for _, t := range targets {
			if err := e.Grant(t, g); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Session) defaultPrivileges(ctx context.Context, n *ast.DefaultPrivileges, r *Result) error {
	kind := map[string]guard.Kind{"table": guard.Table, "schema": guard.Schema}[n.Grant.Kind]
	if kind == "" {
		r.warn("01000", "ALTER DEFAULT PRIVILEGES has no effect: there are no privileges on a %s", n.Grant.Kind)
		return nil
	}
	g, err := grantOf(&n.Grant)
	if err != nil {
		return err
	}
	roles := []string{s.currentUser()}
	if len(n.Roles) > 0 {
		if roles, err = s.rolesNamed(n.Roles); err != nil {
			return err
		}
	}
	schemas := []string{""}
	if len(n.Schemas) > 0 {
		schemas = n.Schemas
		for _, ns := range schemas {
			if ns != "public" && !s.namespaceExists(ctx, s.catalog, ns) {
				return sqlerr.New(sqlerr.InvalidSchemaName, "schema \"%s\" does not exist", ns)
			}
		}
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
		if g.To, err = s.grantees(n.Grant.To, e); err != nil {
			return err
		}
		for _, name := range roles {
			role, err := e.Named(name)
			if err != nil {
				return err
			}
			for _, ns := range schemas {
				if err := e.GrantDefault(guard.Default{Role: role.OID, Catalog: s.catalog, Namespace: ns, Kind: kind}, g); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// ---- owners ----

func (s *Session) setOwner(ctx context.Context, n *ast.SetOwner, r *Result) error {
	to, err := s.roleNamed(n.To)
	if err != nil {
		return err
	}
	kind := n.Kind
	if kind == "view" {
		kind = "table"
	}
	switch kind {
	case "table", "schema", "database":
	default:
		r.warn("01000", "OWNER TO has no effect: there is no %s", n.Kind)
		return nil
	}
	targets, err := s.grantTargets(ctx, &ast.Grant{Kind: kind, Objects: []ast.Name{n.Name}})
	if err != nil {
		if e, ok := sqlerr.As(err); ok && n.IfExists && e.Code == sqlerr.UndefinedTable {
			r.warn("00000", "%s, skipping", e.Message)
			return nil
		}
		return err
	}
	if n.Kind == "view" && !targets[0].View {
		return sqlerr.New(sqlerr.WrongObjectType, "\"%s\" is not a view", targets[0].Name.Table)
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error { return e.SetOwner(targets[0], to) })
}

func (s *Session) reassignOwned(ctx context.Context, n *ast.ReassignOwned, r *Result) error {
	from, err := s.rolesNamed(n.Roles)
	if err != nil {
		return err
	}
	to, err := s.roleNamed(n.To)
	if err != nil {
		return err
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error { return e.Reassign(s.catalog, from, to) })
}

// dropOwned drops what roles own in this database, all or nothing, and then what they hold.
func (s *Session) dropOwned(ctx context.Context, n *ast.DropOwned, r *Result) error {
	roles, err := s.rolesNamed(n.Roles)
	if err != nil {
		return err
	}
	st, err := s.privileges(ctx)
	if err != nil {
		return err
	}
	me, _ := st.Role(s.currentUser())
	var owned []guard.Target
	for _, name := range roles {
		list, err := st.Edit(me.OID, me.OID).Owned(s.catalog, name)
		if err != nil {
			return err
		}
		owned = append(owned, list...)
	}
	return s.atomically(ctx, r, func() error {
		cat := s.catalogOf(s.catalog)
		for _, kind := range []guard.Kind{guard.Table, guard.Schema} {
			for _, t := range owned {
				if t.Name.Kind != kind {
					continue
				}
				if err := s.dropOwnedObject(ctx, cat, t, n.Cascade); err != nil {
					return definitionError(err)
				}
			}
		}
		return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
			for _, name := range roles {
				if err := e.DropGrants(s.catalog, name); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// dropOwnedObject drops a table, view or schema that is still the one that is owned.
func (s *Session) dropOwnedObject(ctx context.Context, cat lake.Catalog, t guard.Target, cascade bool) error {
	n := t.Name.Name
	if t.Name.Kind == guard.Schema {
		if !s.namespaceExists(ctx, n.Catalog, n.Namespace) {
			return s.forgetPrivileges(ctx, t.Name)
		}
		if cascade {
			if err := s.dropContents(ctx, n.Catalog, n.Namespace, false); err != nil {
				return err
			}
		}
		s.host = nil
		if err := cat.DropNamespace(ctx, n.Namespace); err != nil {
			return err
		}
		return s.forgetPrivileges(ctx, t.Name)
	}
	if x, err := s.loadTable(ctx, n); err == nil && x.UUID() == t.UUID {
		if err := cat.Drop(ctx, n, false); err != nil {
			return err
		}
	} else if v, err := cat.LoadView(ctx, n); err == nil && v.UUID == t.UUID {
		if err := cat.DropView(ctx, n); err != nil {
			return err
		}
	}
	s.moved(n, nil)
	return s.forgetPrivileges(ctx, t.Name)
}
