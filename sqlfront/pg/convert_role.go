package pg

import (
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// roles translates statements about roles and privileges; nil for others.
func (c *conv) roles(n any) ast.Stmt {
	switch n := n.(type) {
	case *pgquery.Node_CreateRoleStmt:
		return c.createRole(n.CreateRoleStmt)
	case *pgquery.Node_AlterRoleStmt:
		return c.alterRole(n.AlterRoleStmt)
	case *pgquery.Node_DropRoleStmt:
		return &ast.DropRole{Kind: strings.ToUpper(c.p.Peek(1).Text), Roles: c.roleNames(n.DropRoleStmt.Roles), IfExists: n.DropRoleStmt.MissingOk, Pos: c.from}
	case *pgquery.Node_GrantRoleStmt:
		return c.grantRole(n.GrantRoleStmt)
	case *pgquery.Node_GrantStmt:
		g := c.grant(n.GrantStmt)
		return &g
	case *pgquery.Node_AlterDefaultPrivilegesStmt:
		return c.defaultPrivileges(n.AlterDefaultPrivilegesStmt)
	case *pgquery.Node_AlterOwnerStmt:
		s := n.AlterOwnerStmt
		return &ast.SetOwner{Kind: objectKind(s.ObjectType), Name: ast.Name{Parts: objectName(s.Object), Pos: c.from}, To: c.roleName(s.Newowner), Pos: c.from}
	case *pgquery.Node_ReassignOwnedStmt:
		return &ast.ReassignOwned{Roles: c.roleNames(n.ReassignOwnedStmt.Roles), To: c.roleName(n.ReassignOwnedStmt.Newrole), Pos: c.from}
	case *pgquery.Node_DropOwnedStmt:
		return &ast.DropOwned{Roles: c.roleNames(n.DropOwnedStmt.Roles), Cascade: n.DropOwnedStmt.Behavior == pgquery.DropBehavior_DROP_CASCADE, Pos: c.from}
	case *pgquery.Node_RenameStmt:
		if s := n.RenameStmt; s.RenameType == pgquery.ObjectType_OBJECT_ROLE {
			return &ast.RenameRole{From: ast.RoleName{Name: s.Subname, Pos: c.from}, To: ast.RoleName{Name: s.Newname, Pos: c.from}, Pos: c.from}
		}
	case *pgquery.Node_AlterRoleSetStmt:
		c.refuse(c.from, "ALTER ROLE … SET is not supported: settings of all sessions are in the server's configuration")
	}
	return nil
}

// objectKind is a kind of object in lower case.
func objectKind(t pgquery.ObjectType) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(t.String(), "OBJECT_"), "_", " "))
}

func (c *conv) roleName(r *pgquery.RoleSpec) ast.RoleName {
	out := ast.RoleName{Name: r.GetRolename(), Pos: c.pos(r.GetLocation())}
	switch r.GetRoletype() {
	case pgquery.RoleSpecType_ROLESPEC_CURRENT_ROLE, pgquery.RoleSpecType_ROLESPEC_CURRENT_USER:
		out.Special = "current_user"
	case pgquery.RoleSpecType_ROLESPEC_SESSION_USER:
		out.Special = "session_user"
	case pgquery.RoleSpecType_ROLESPEC_PUBLIC:
		out.Special = "public"
	}
	return out
}

func (c *conv) roleNames(list []*pgquery.Node) (out []ast.RoleName) {
	for _, n := range list {
		out = append(out, c.roleName(n.GetRoleSpec()))
	}
	return out
}

// yes is the value of an option that is on or off.
func yes(n *pgquery.Node) *bool {
	b := n.GetBoolean().GetBoolval()
	return &b
}

func (c *conv) createRole(n *pgquery.CreateRoleStmt) ast.Stmt {
	s := &ast.CreateRole{Kind: strings.TrimPrefix(n.StmtType.String(), "ROLESTMT_"), Name: ast.RoleName{Name: n.Role, Pos: c.from}, Pos: c.from}
	if s.Kind == "USER" {
		login := true
		s.Options.Login = &login
	}
	c.roleOptions(n.Options, &s.Options, func(name string, members []ast.RoleName) {
		switch name {
		case "addroleto":
			s.In = members
		case "adminmembers":
			s.Admins = members
		default:
			s.Members = members
		}
	})
	return s
}

func (c *conv) alterRole(n *pgquery.AlterRoleStmt) ast.Stmt {
	s := &ast.AlterRole{Kind: strings.ToUpper(c.p.Peek(1).Text), Role: c.roleName(n.Role), Drop: n.Action < 0, Pos: c.from}
	c.roleOptions(n.Options, &s.Options, func(_ string, members []ast.RoleName) { s.Members = members })
	return s
}

func (c *conv) roleOptions(list []*pgquery.Node, o *ast.RoleOptions, members func(string, []ast.RoleName)) {
	seen := map[string]bool{}
	for _, n := range list {
		def := n.GetDefElem()
		name, arg := def.GetDefname(), def.GetArg()
		if seen[name] {
			c.p.FailAt(c.pos(def.GetLocation()), sqlerr.SyntaxError, "conflicting or redundant options")
		}
		seen[name] = true
		switch name {
		case "superuser":
			o.Super = yes(arg)
		case "inherit":
			o.Inherit = yes(arg)
		case "createrole":
			o.CreateRole = yes(arg)
		case "createdb":
			o.CreateDB = yes(arg)
		case "canlogin":
			o.Login = yes(arg)
		case "bypassrls":
			o.BypassRLS = yes(arg)
		case "isreplication":
			if *yes(arg) {
				c.refuse(c.pos(def.GetLocation()), "REPLICATION is not supported: there is nothing to replicate from")
			}
		case "connectionlimit":
			limit := int(arg.GetInteger().GetIval())
			if limit < -1 {
				c.p.FailAt(c.pos(def.GetLocation()), sqlerr.InvalidParameterValue, "invalid connection limit: %d", limit)
			}
			o.Limit = &limit
		case "password":
			text := arg.GetString_().GetSval()
			o.Password, o.NoPassword = &text, arg == nil
		case "validUntil":
			text := arg.GetString_().GetSval()
			o.Until = &text
		case "addroleto", "adminmembers", "rolemembers":
			var names []ast.RoleName
			if l := arg.GetList(); l != nil {
				names = c.roleNames(l.Items)
			}
			members(name, names)
		}
	}
}

func (c *conv) grantor(r *pgquery.RoleSpec) *ast.RoleName {
	if r == nil {
		return nil
	}
	n := c.roleName(r)
	return &n
}

func (c *conv) grantRole(n *pgquery.GrantRoleStmt) ast.Stmt {
	s := &ast.GrantRole{Revoke: !n.IsGrant, To: c.roleNames(n.GranteeRoles), By: c.grantor(n.Grantor),
		Cascade: n.Behavior == pgquery.DropBehavior_DROP_CASCADE, Pos: c.from}
	for _, r := range n.GrantedRoles {
		if len(r.GetAccessPriv().GetCols()) > 0 {
			c.p.FailAt(c.from, sqlerr.SyntaxError, "column names cannot be included in GRANT/REVOKE ROLE")
		}
		s.Roles = append(s.Roles, ast.RoleName{Name: r.GetAccessPriv().GetPrivName(), Pos: c.from})
	}
	for _, o := range n.Opt {
		def := o.GetDefElem()
		switch def.GetDefname() {
		case "admin":
			s.Admin = yes(def.GetArg())
		case "inherit":
			s.Inherit = yes(def.GetArg())
		case "set":
			s.Set = yes(def.GetArg())
		default:
			c.p.FailAt(c.pos(def.GetLocation()), sqlerr.SyntaxError, "unrecognized role option \"%s\"", def.GetDefname())
		}
	}
	return s
}

func (c *conv) grant(n *pgquery.GrantStmt) ast.Grant {
	g := ast.Grant{Revoke: !n.IsGrant, Kind: objectKind(n.Objtype), To: c.roleNames(n.Grantees), Option: n.GrantOption,
		By: c.grantor(n.Grantor), Cascade: n.Behavior == pgquery.DropBehavior_DROP_CASCADE, Branch: c.p.branch, Pos: c.from}
	if n.Targtype == pgquery.GrantTargetType_ACL_TARGET_ALL_IN_SCHEMA {
		g.Kind += "s in schema" // tables in schema
		if g.Kind != "tables in schema" {
			g.Kind = "sequence" // of which there are none in any schema
		}
	}
	for _, o := range n.Objects {
		if r := o.GetRangeVar(); r != nil {
			g.Objects = append(g.Objects, c.relation(r).Name)
			continue
		}
		g.Objects = append(g.Objects, ast.Name{Parts: objectName(o), Pos: c.from})
	}
	for _, p := range n.Privileges {
		a := p.GetAccessPriv()
		g.Privs = append(g.Privs, ast.GrantPriv{Name: a.GetPrivName(), Columns: stringList(a.GetCols())})
	}
	if len(n.Privileges) == 0 {
		g.Privs = []ast.GrantPriv{{}}
	}
	if g.Branch != "" && g.Kind != "table" {
		c.p.FailAt(c.from, sqlerr.SyntaxError, "BRANCH is for tables")
	}
	return g
}

func (c *conv) defaultPrivileges(n *pgquery.AlterDefaultPrivilegesStmt) ast.Stmt {
	s := &ast.DefaultPrivileges{Grant: c.grant(n.Action), Pos: c.from}
	for _, o := range n.Options {
		def := o.GetDefElem()
		switch def.GetDefname() {
		case "roles":
			s.Roles = c.roleNames(def.GetArg().GetList().GetItems())
		case "schemas":
			s.Schemas = stringList(def.GetArg().GetList().GetItems())
		}
	}
	return s
}

// roleWord takes a role's name, as OWNER TO has it.
func (p *stmtParser) roleWord() ast.RoleName {
	t := p.Peek(0)
	if t.Is("current_user", "current_role", "session_user") {
		p.At++
		special := t.Text
		if special == "current_role" {
			special = "current_user"
		}
		return ast.RoleName{Special: special, Pos: t.Pos}
	}
	return ast.RoleName{Name: p.Name(), Pos: t.Pos}
}

// cutBranch takes BRANCH name out of GRANT … ON t BRANCH b TO r, which PostgreSQL's grammar lacks.
func (p *stmtParser) cutBranch() {
	if !p.Peek(0).Is("grant", "revoke") {
		return
	}
	on := p.upTo(p.stopAt("on"))
	for k := on + 2; k+2 < len(p.Toks); k++ {
		t, name := p.Toks[k], p.Toks[k+1]
		if !t.Is("branch") || !p.Toks[k+2].Is("to", "from") || !(name.Kind == token.Word || name.Kind == token.Quoted) || p.Toks[k-1].Punct(",") || p.Toks[k-1].Punct(".") {
			continue
		}
		p.branch = name.Value
		p.blank(k, k+2)
		return
	}
}
