package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// MySQL's GRANT and REVOKE are over the same store as PostgreSQL's. What is granted on a database (db.*)
// holds for every table in it, now and later. A database or table that one may do something with, one may
// get at: USAGE of the schema, which MySQL does not know, comes with every grant.

// mysqlGranted are MySQL's names that are privileges here: on a table, or on a whole database.
var mysqlGranted = map[string]guard.Privilege{"SELECT": guard.Select, "INSERT": guard.Insert, "UPDATE": guard.Update, "DELETE": guard.Delete,
	"REFERENCES": guard.References, "TRIGGER": guard.Trigger, "DROP": guard.Truncate, "MAINTAIN": guard.Maintain, "HISTORY": guard.History, "PUBLISH": guard.Publish}

// mysqlIdle are those that there is nothing to do with here: everybody may.
var mysqlIdle = []string{"USAGE", "EXECUTE", "SHOW VIEW", "SHOW DATABASES", "LOCK TABLES", "EVENT", "CREATE ROUTINE", "ALTER ROUTINE", "CREATE TEMPORARY TABLES"}

// mysqlPrivileges reads what a GRANT gives at a level: "table", or a whole database.
func mysqlPrivileges(n *ast.Grant, r *Result) (guard.Grant, error) {
	g := guard.Grant{Revoke: n.Revoke, Branch: n.Branch, Option: n.Option, Cascade: n.Cascade, Below: n.Kind != "table"}
	for _, p := range n.Privs {
		var privs guard.Privilege
		switch {
		case p.Name == "":
			privs, g.AllPrivs = guard.Table.All(), true
			if g.Below {
				privs |= guard.Create
			}
		case mysqlGranted[p.Name] != 0:
			privs = mysqlGranted[p.Name]
		case g.Below && (p.Name == "CREATE" || p.Name == "CREATE VIEW"):
			privs = guard.Create
		case slices.Contains(mysqlIdle, p.Name):
			if p.Name != "USAGE" {
				r.warn("01000", "the privilege %s has no effect", p.Name)
			}
			continue
		case p.Name == "ALTER" || p.Name == "INDEX" || p.Name == "CREATE" || p.Name == "CREATE VIEW":
			return g, mysqlError(1221, "HY000", "Incorrect usage of GRANT and %s", p.Name).
				WithHint("A table is altered by its owner; tables are made with CREATE on the whole database.")
		default:
			return g, mysqlError(1221, "HY000", "Incorrect usage of GRANT and %s", p.Name).
				WithHint("What a whole server is to be asked comes with roles: GRANT pg_read_all_stats TO user, and others as in PostgreSQL.")
		}
		if len(p.Columns) > 0 {
			g.Columns = append(g.Columns, guard.ColumnPrivs{Privs: privs, All: p.Name == "", Columns: p.Columns})
			continue
		}
		g.Privs |= privs
	}
	return g, nil
}

func (m *MySQL) grant(ctx context.Context, n *ast.Grant, r *Result) error {
	s := m.s
	if n.Kind == "whatever" {
		return m.revokeAll(ctx, n, r)
	}
	var targets, schemas []guard.Target
	var err error
	switch n.Kind {
	case "table":
		if targets, err = s.grantTargets(ctx, n); err != nil {
			return err
		}
		for _, t := range targets {
			schemas = append(schemas, guard.Target{Name: schemaName(t.Name.Catalog, t.Name.Namespace)})
		}
	case "in database", "in this database":
		db := m.s.current
		if n.Kind == "in database" {
			db = strings.Join(n.Objects[0].Parts, ".")
		}
		if db == "" {
			return errNoDatabase
		}
		catalog, ns := s.databaseOf(ctx, db)
		if !s.namespaceExists(ctx, catalog, ns) {
			return mysqlError(1049, "42000", "Unknown database '%s'", db)
		}
		targets = []guard.Target{{Name: schemaName(catalog, ns)}}
		schemas = targets
	case "everything":
		for _, c := range s.engine.order {
			targets = append(targets, guard.Target{Name: databaseName(c)})
		}
	default:
		r.warn("01000", "%s has no effect: there are no privileges on a %s", grantVerb(n.Revoke, ""), n.Kind)
		return nil
	}
	g, err := mysqlPrivileges(n, r)
	if err != nil {
		return err
	}
	if n.Kind == "everything" && g.Privs != 0 {
		g.Privs |= guard.Usage
	}
	if len(g.Columns) > 0 && n.Kind != "table" {
		return mysqlError(1144, "42000", "Illegal GRANT/REVOKE command; please consult the manual to see which privileges can be used")
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error {
		if g.To, err = s.grantees(n.To, e); err != nil {
			return err
		}
		for _, t := range targets {
			if g.Privs == 0 && len(g.Columns) == 0 {
				continue
			}
			if err := e.Grant(t, g); err != nil {
				return err
			}
		}
		if g.Revoke || g.Privs == 0 && len(g.Columns) == 0 {
			return nil
		}
		for _, t := range schemas {
			for _, to := range g.To {
				if e.Held(to, t.Name, "")&guard.Usage != 0 {
					continue
				}
				if e.Grantable(e.Actor, t.Name, "", "")&guard.Usage == 0 {
					return guard.Denied(t.Name, false).WithHint("Who is to use a table needs USAGE of its database, which its owner gives.")
				}
				if err := e.Grant(t, guard.Grant{Privs: guard.Usage, To: []guard.OID{to}}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// revokeAll is REVOKE ALL PRIVILEGES, GRANT OPTION FROM.
func (m *MySQL) revokeAll(ctx context.Context, n *ast.Grant, r *Result) error {
	names, err := m.s.rolesNamed(n.To)
	if err != nil {
		return err
	}
	if err := m.s.allowed(ctx, func(*permission) error {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to revoke what others have granted")
	}); err != nil {
		return err
	}
	return m.s.changePrivileges(ctx, r, func(e *guard.Edit) error {
		for _, name := range names {
			for _, c := range m.s.engine.order {
				if err := e.DropGrants(c, name); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// showGrants is SHOW GRANTS [FOR user].
func (m *MySQL) showGrants(ctx context.Context, n *ast.ShowInfo) (*shown, error) {
	s := m.s
	name := s.currentUser()
	if n.For != nil {
		var err error
		if name, err = s.roleNamed(*n.For); err != nil {
			return nil, err
		}
	}
	who := mysqlNames{}.quote(name) + "@`%`"
	out := &shown{names: []string{"Grants for " + name + "@%"}}
	add := func(text string) { out.rows = append(out.rows, []types.Datum{types.NewStr(text)}) }
	p, err := s.permission(ctx)
	if err != nil {
		return nil, err
	}
	if p == nil {
		add("GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, PROCESS, SHOW DATABASES, CREATE VIEW, SHOW VIEW, EXECUTE ON *.* TO " + who)
		return out, nil
	}
	role, ok := p.st.Role(name)
	if !ok {
		return nil, mysqlError(1141, "42000", "There is no such grant defined for user '%s' on host '%%'", name)
	}
	if !p.super && !p.st.HasRightsOf(p.role, role.OID) {
		return nil, mysqlError(1044, "42000", "Access denied for user '%s'@'%%' to database 'mysql'", p.name)
	}
	if role.Super {
		add("GRANT ALL PRIVILEGES ON *.* TO " + who + " WITH GRANT OPTION")
		return out, nil
	}
	quote := mysqlNames{}.quote
	var lines []string
	everything := "USAGE"
	p.st.Each(func(g guard.Name, o *guard.Object) {
		add := func(a guard.ACL, on, columns string) {
			privs, options := guard.Privilege(0), guard.Privilege(0)
			for _, it := range a {
				if it.Grantee == role.OID {
					privs |= it.Privs
					options |= it.Options
				}
			}
			if o.Owner == role.OID && g.Kind == guard.Table && columns == "" {
				privs, options = guard.Table.All(), guard.Table.All()
			}
			list := mysqlPrivilegeText(privs, g.Kind)
			if g.Kind == guard.Database {
				if list != "" {
					everything = list
				}
				return
			}
			if list == "" {
				return
			}
			line := "GRANT " + list + columns + " ON " + on + " TO " + who
			if privs&guard.Table.All() != 0 && options&privs&guard.Table.All() == privs&guard.Table.All() {
				line += " WITH GRANT OPTION"
			}
			lines = append(lines, line)
		}
		db := quote(s.engine.databaseName(g.Catalog, g.Namespace))
		switch g.Kind {
		case guard.Database:
			add(o.ACL, "*.*", "")
		case guard.Schema:
			add(o.ACL, db+".*", "")
		case guard.Table:
			add(o.ACL, db+"."+quote(g.Table), "")
			for _, c := range sortedKeys(o.Columns) {
				add(o.Columns[c], db+"."+quote(g.Table), " ("+quote(c)+")")
			}
			for _, b := range sortedKeys(o.Refs) {
				add(o.Refs[b], db+"."+quote(g.Table)+" BRANCH "+quote(b), "")
			}
		}
	})
	add("GRANT " + everything + " ON *.* TO " + who)
	for _, l := range lines {
		add(l)
	}
	var roles []string
	for _, x := range p.st.Memberships() {
		if r, ok := p.st.RoleByOID(x.Role); ok && x.Member == role.OID {
			roles = append(roles, quote(r.Name)+"@`%`")
		}
	}
	slices.Sort(roles)
	if len(roles) > 0 {
		add("GRANT " + strings.Join(roles, ",") + " TO " + who)
	}
	return out, nil
}

// mysqlPrivilegeText lists privileges in MySQL's words; "" for those that it does not know.
func mysqlPrivilegeText(p guard.Privilege, k guard.Kind) string {
	if p&guard.Table.All() == guard.Table.All() && (k == guard.Table || p&guard.Create != 0) {
		return "ALL PRIVILEGES"
	}
	var out []string
	for _, n := range []string{"SELECT", "INSERT", "UPDATE", "DELETE", "REFERENCES", "TRIGGER", "DROP", "MAINTAIN", "HISTORY", "PUBLISH"} {
		if p&mysqlGranted[n] != 0 {
			out = append(out, n)
		}
	}
	if p&guard.Create != 0 && k != guard.Database || p&guard.Create != 0 && p&guard.Usage != 0 {
		out = append(out, "CREATE")
	}
	return strings.Join(out, ", ")
}
