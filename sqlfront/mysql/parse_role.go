package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// This file parses statements about accounts and privileges. An account is a role: one of any host, as
// 'user'@'%' is.

// accounts parses such a statement; nil: it is none.
func (p *parser) accounts() ast.Stmt {
	t, next := p.Peek(0), p.Peek(1)
	switch {
	case t.Is("create") && next.Is("user", "role"):
		return p.createAccounts()
	case t.Is("alter") && next.Is("user"):
		return p.alterUser()
	case t.Is("drop") && next.Is("user", "role"):
		return p.dropAccounts()
	case t.Is("rename") && next.Is("user"):
		return p.renameUser()
	case t.Is("grant"):
		return p.grant()
	case t.Is("revoke"):
		return p.revoke()
	}
	return nil
}

// account takes user, 'user'@'%', CURRENT_USER().
func (p *parser) account() ast.RoleName {
	t := p.Peek(0)
	r := ast.RoleName{Pos: t.Pos}
	if t.Is("current_user", "user") {
		p.At++
		if p.Accept("(") {
			p.Expect(")")
		}
		r.Special = "current_user"
		return r
	}
	r.Name = p.stringOrName()
	if v := p.Peek(0); v.Kind == token.Var && v.Text == "@" {
		p.At++
		host := v.Value
		if host == "" {
			host = p.stringOrName()
		}
		if host != "%" {
			p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "accounts are not told apart by the host '%s'", host).
				WithHint("Write '%s'@'%%', or the name alone.", r.Name).At(v.Pos))
		}
	}
	return r
}

func (p *parser) accountList() (out []ast.RoleName) {
	p.List(func() { out = append(out, p.account()) })
	return out
}

// identified parses IDENTIFIED [WITH method] [BY 'password' | AS 'hash'].
func (p *parser) identified(o *ast.RoleOptions) {
	if !p.Accept("identified") {
		return
	}
	method := ""
	if p.Accept("with") {
		method = strings.ToLower(p.stringOrName())
	}
	switch method {
	case "", "caching_sha2_password", "sha256_password":
	case "mysql_native_password":
		o.Native = true
	default:
		p.Refuse(p.Pos(), "the authentication method %s is not supported", method)
	}
	switch {
	case p.Accept("by"):
		if p.Accept("random", "password") {
			p.Refuse(p.Pos(), "RANDOM PASSWORD is not supported")
		}
		text := p.Str()
		o.Password, o.NoPassword = &text, text == ""
		if p.Accept("replace") {
			p.Str()
		}
		p.Accept("retain", "current", "password")
	case p.Accept("as"):
		text := p.Str()
		o.Password, o.Hash = &text, true
	}
}

// accountOptions parses what follows the accounts. What has no meaning here is refused where it would
// let somebody in or keep him out.
func (p *parser) accountOptions(each func(f func(*ast.RoleOptions))) {
	login := func(on bool) { each(func(o *ast.RoleOptions) { o.Login = &on }) }
	for !p.AtEnd() {
		switch {
		case p.Accept("account", "lock"):
			login(false)
		case p.Accept("account", "unlock"):
			login(true)
		case p.Accept("require", "none"), p.Accept("password", "expire", "never"), p.Accept("password", "expire", "default"):
		case p.Accept("comment"), p.Accept("attribute"):
			p.Str()
		case p.Accept("with", "max_user_connections"):
			n := p.count()
			if n == 0 {
				n = -1
			}
			each(func(o *ast.RoleOptions) { o.Limit = &n })
		default:
			p.unsupported("this option of an account")
		}
	}
}

func (p *parser) createAccounts() ast.Stmt {
	pos := p.Take().Pos
	kind := strings.ToUpper(p.Take().Text)
	exists := p.Accept("if", "not", "exists")
	var first, last *ast.CreateRole
	login := kind == "USER"
	p.List(func() {
		n := &ast.CreateRole{Kind: kind, Name: p.account(), IfNotExists: exists, Pos: pos}
		if login {
			n.Options.Login = &login
		}
		p.identified(&n.Options)
		if first == nil {
			first = n
		} else {
			last.Next = n
		}
		last = n
	})
	if p.Accept("default", "role") {
		p.Refuse(pos, "DEFAULT ROLE is not needed: a user has the privileges of all roles that it was granted")
	}
	p.accountOptions(func(f func(*ast.RoleOptions)) {
		for n := first; n != nil; n = n.Next {
			f(&n.Options)
		}
	})
	return first
}

func (p *parser) alterUser() ast.Stmt {
	n := &ast.AlterRole{Kind: "USER", Pos: p.Pos()}
	p.At += 2
	n.IfExists = p.Accept("if", "exists")
	n.Role = p.account()
	p.identified(&n.Options)
	if p.Ahead(",") {
		p.Refuse(p.Pos(), "ALTER USER takes one account at a time")
	}
	p.accountOptions(func(f func(*ast.RoleOptions)) { f(&n.Options) })
	return n
}

// setPassword parses SET PASSWORD [FOR user] = 'password'.
func (p *parser) setPassword(pos int) ast.Stmt {
	n := &ast.AlterRole{Kind: "USER", Role: ast.RoleName{Special: "current_user", Pos: pos}, Pos: pos}
	p.Expect("password")
	if p.Accept("for") {
		n.Role = p.account()
	}
	if !p.Accept("=") && !p.Accept(":=") {
		p.SyntaxError()
	}
	text := ""
	if p.Accept("password", "(") { // as MySQL 5 and MariaDB write it
		text = p.Str()
		p.Expect(")")
	} else {
		text = p.Str()
	}
	n.Options.Password, n.Options.NoPassword = &text, text == ""
	return n
}

func (p *parser) dropAccounts() ast.Stmt {
	n := &ast.DropRole{Pos: p.Take().Pos}
	n.Kind = strings.ToUpper(p.Take().Text)
	n.IfExists = p.Accept("if", "exists")
	n.Roles = p.accountList()
	return n
}

func (p *parser) renameUser() ast.Stmt {
	n := &ast.RenameRole{Pos: p.Pos()}
	p.At += 2
	n.From = p.account()
	p.Expect("to")
	n.To = p.account()
	return n
}

// privileges parses SELECT (a, b), INSERT, ALL PRIVILEGES; of GRANT OPTION option tells.
func (p *parser) privilegeList() (privs []ast.GrantPriv, option bool) {
	p.List(func() {
		g := ast.GrantPriv{}
		var words []string
		for !p.Ahead(",") && !p.Ahead("(") && !p.Ahead("on") && !p.Ahead("to") && !p.Ahead("from") && !p.AtEnd() {
			words = append(words, p.Take().Text)
		}
		if len(words) == 0 {
			p.SyntaxError()
		}
		g.Name = strings.ToUpper(strings.Join(words, " "))
		switch g.Name {
		case "ALL", "ALL PRIVILEGES":
			g.Name = ""
		case "GRANT OPTION":
			option = true
			return
		}
		if p.Ahead("(") {
			g.Columns = p.Names()
		}
		privs = append(privs, g)
	})
	return privs, option
}

// grantLevel parses ON [TABLE] db.t | db.* | * | *.*.
func (p *parser) grantLevel(g *ast.Grant) {
	p.Expect("on")
	if p.Peek(0).Is("function", "procedure") && !p.Peek(1).Punct(".") {
		g.Kind = p.Take().Text
		g.Objects = []ast.Name{p.dotted()}
		return
	}
	if p.Ahead("table") && !p.Peek(1).Punct(".") {
		p.At++
	}
	star := func() bool {
		if t := p.Peek(0); t.Op("*") || t.Punct("*") {
			p.At++
			return true
		}
		return false
	}
	pos := p.Pos()
	if star() {
		if g.Kind = "in this database"; p.Accept(".") {
			if !star() {
				p.SyntaxError()
			}
			g.Kind = "everything"
		}
		return
	}
	name := ast.Name{Pos: pos, Parts: []string{p.Ident()}}
	for p.Accept(".") {
		if star() {
			g.Kind, g.Objects = "in database", []ast.Name{name}
			return
		}
		name.Parts = append(name.Parts, p.Ident())
	}
	g.Kind, g.Objects = "table", []ast.Name{name}
	if p.Accept("branch") {
		g.Branch = p.Ident()
	}
}

func (p *parser) grant() ast.Stmt {
	pos := p.Take().Pos
	from := p.At
	privs, _ := p.privilegeList()
	if p.Ahead("to") { // roles
		p.At = from
		n := &ast.GrantRole{Roles: p.accountList(), Pos: pos}
		p.Expect("to")
		n.To = p.accountList()
		if p.Accept("with", "admin", "option") {
			yes := true
			n.Admin = &yes
		}
		return n
	}
	g := &ast.Grant{Privs: privs, Pos: pos}
	p.grantLevel(g)
	p.Expect("to")
	g.To = p.accountList()
	if p.Ahead("identified") {
		p.Refuse(p.Pos(), "GRANT makes no users: CREATE USER does")
	}
	g.Option = p.Accept("with", "grant", "option")
	return g
}

func (p *parser) revoke() ast.Stmt {
	pos := p.Take().Pos
	p.Accept("if", "exists")
	from := p.At
	privs, option := p.privilegeList()
	if p.Ahead("from") {
		if option { // REVOKE ALL PRIVILEGES, GRANT OPTION FROM user
			p.At++
			return &ast.Grant{Revoke: true, Privs: privs, Kind: "whatever", To: p.accountList(), Pos: pos}
		}
		p.At = from
		n := &ast.GrantRole{Revoke: true, Roles: p.accountList(), Pos: pos}
		p.Expect("from")
		n.To = p.accountList()
		return n
	}
	g := &ast.Grant{Revoke: true, Privs: privs, Cascade: true, Pos: pos}
	if option && len(privs) == 0 {
		g.Option, g.Privs = true, []ast.GrantPriv{{}}
	}
	p.grantLevel(g)
	p.Expect("from")
	g.To = p.accountList()
	return g
}
