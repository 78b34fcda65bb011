package mysql

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// session parses the statements that are about the session and the server; nil: the next one is none.
func (p *parser) session() ast.Stmt {
	t := p.Peek(0)
	next := p.Peek(1)
	if s := p.accounts(); s != nil {
		return s
	}
	switch t.Text {
	case "show":
		return p.show()
	case "set":
		return p.set()
	case "use":
		return p.use()
	case "desc", "describe", "explain":
		return p.describeTable()
	case "kill":
		p.At++
		k := &ast.Kill{Pos: t.Pos, Query: p.Accept("query")}
		p.Accept("connection")
		from := p.Pos()
		k.ID = p.expr()
		k.Text = p.Text[from:p.LastEnd()]
		return k
	case "do":
		p.At++
		d := &ast.Do{Pos: t.Pos}
		p.List(func() { d.Exprs = append(d.Exprs, p.expr()) })
		return d
	case "help":
		p.rest()
		return &ast.Idle{Columns: []string{"name", "is_it_category"}, Pos: t.Pos}
	case "lock", "unlock":
		if !next.Is("tables", "table") {
			p.unsupported("LOCK INSTANCE")
		}
		// Commits are checked for conflicts instead. LOCK TABLES ends a transaction in MySQL.
		p.rest()
		return &ast.Idle{Commits: t.Text == "lock", Pos: t.Pos}
	case "flush":
		if !next.Is("status", "privileges", "tables", "logs", "hosts", "local") {
			p.unsupported("FLUSH " + strings.ToUpper(next.Text))
		}
		p.rest()
		return &ast.Idle{Pos: t.Pos}
	case "analyze", "check", "optimize", "repair", "checksum":
		return p.tableAdmin()
	case "prepare":
		return p.prepareText()
	case "execute":
		return p.execute()
	case "deallocate":
		p.At++
		p.Expect("prepare")
		return &ast.Deallocate{Name: strings.ToLower(p.Ident()), Pos: t.Pos}
	case "drop":
		if next.Is("prepare") {
			p.At += 2
			return &ast.Deallocate{Name: strings.ToLower(p.Ident()), Pos: t.Pos}
		}
	}
	p.refuseOthers()
	return nil
}

// rest passes over what follows of a statement that has nothing to do.
func (p *parser) rest() { p.At = len(p.Toks) }

// unsupported refuses a statement in MySQL's words.
func (p *parser) unsupported(what string) {
	p.Refuse(p.Pos(), "This version doesn't yet support '%s'", what)
}

// noFiles refuses what would reach the server's files.
func (p *parser) noFiles(pos int, what string) {
	p.Fail(sqlerr.New(sqlerr.InsufficientPrivilege, "%s is not allowed: the server reads and writes no files for its clients", what).
		WithNumber(1290).At(pos))
}

// refuseOthers refuses statements that are MySQL's and not served.
func (p *parser) refuseOthers() {
	t, next := p.Peek(0), p.Peek(1)
	of := strings.ToUpper(t.Text + " " + next.Text)
	switch t.Text {
	case "load":
		p.noFiles(t.Pos, of)
	case "drop":
		if next.Is("function", "procedure", "trigger", "event", "server") {
			p.unsupported(of)
		}
	case "create", "alter":
		if next.Is("server", "trigger", "event", "function", "procedure", "definer", "tablespace", "spatial", "fulltext", "instance") {
			p.unsupported(of)
		}
	case "reset", "handler", "install", "uninstall", "xa", "clone", "restart", "shutdown", "cache", "binlog", "change", "purge", "stop", "import",
		"signal", "resignal", "get":
		p.unsupported(strings.ToUpper(t.Text))
	}
}

func (p *parser) use() ast.Stmt {
	u := &ast.Use{Pos: p.Pos()}
	p.Expect("use")
	// Any word names a database here.
	parts := []string{p.Ident()}
	for p.Accept(".") {
		parts = append(parts, p.Ident())
	}
	u.Database = strings.Join(parts, ".")
	if t := p.Peek(0); t.Kind == token.Var && t.Text == "@" { // USE db@ref
		p.At++
		u.Ref = t.Value
	}
	return u
}

// dotted takes a name of parts that may be any words, as behind SHOW … FROM.
func (p *parser) dotted() ast.Name {
	n := ast.Name{Pos: p.Pos(), Parts: []string{p.Ident()}}
	for p.Accept(".") {
		n.Parts = append(n.Parts, p.Ident())
	}
	return n
}

// tableAdmin parses ANALYZE TABLE t, … and its kin; nil: OPTIMIZE of another kind.
func (p *parser) tableAdmin() ast.Stmt {
	a := &ast.TableAdmin{Op: p.Peek(0).Text, Pos: p.Pos()}
	from := p.At
	k := 1
	for p.Peek(k).Is("no_write_to_binlog", "local") {
		k++
	}
	if !p.Peek(k).Is("table", "tables") {
		return nil
	}
	p.At += k + 1
	p.List(func() { a.Tables = append(a.Tables, p.dotted()) })
	if a.Op == "optimize" && p.Peek(0).Is("rewrite", "where", "zorder") {
		p.At = from
		return nil // the lakehouse's own statement
	}
	p.rest() // FAST, QUICK, EXTENDED, UPDATE HISTOGRAM …
	return a
}

func (p *parser) prepareText() ast.Stmt {
	s := &ast.PrepareText{Pos: p.Pos()}
	p.Expect("prepare")
	s.Name = strings.ToLower(p.Ident())
	p.Expect("from")
	if t := p.Peek(0); t.Kind == token.Var && t.Text == "@" {
		p.At++
		s.Variable = strings.ToLower(t.Value)
	} else {
		s.Text = p.Str()
	}
	return s
}

// execute parses EXECUTE name [USING @a, @b].
func (p *parser) execute() ast.Stmt {
	e := &ast.Execute{Pos: p.Pos()}
	p.Expect("execute")
	e.Name = strings.ToLower(p.Ident())
	if p.Accept("using") {
		p.List(func() {
			t := p.Peek(0)
			if t.Kind != token.Var || t.Text != "@" {
				p.SyntaxError()
			}
			p.At++
			e.Args = append(e.Args, &ast.Variable{Scope: "user", Name: strings.ToLower(t.Value), Pos: t.Pos})
		})
	}
	return e
}

// ---- SET ----

func (p *parser) set() ast.Stmt {
	pos := p.Pos()
	p.Expect("set")
	switch {
	case p.Ahead("role"), p.Ahead("default", "role"):
		if p.Accept("role", "none") || p.Accept("role", "default") || p.Accept("role", "all") || p.Accept("default", "role", "none") {
			p.rest()
			return &ast.Idle{Pos: pos}
		}
		p.Refuse(pos, "This version doesn't yet support 'roles'")
	case p.Ahead("password", "for"), p.Ahead("password", "="), p.Ahead("password", ":="):
		return p.setPassword(pos)
	case p.Ahead("resource"):
		p.Refuse(pos, "This version doesn't yet support 'SET RESOURCE'")
	}
	scope := ""
	if t := p.Peek(0); t.Is("session", "global", "local") && p.Peek(1).Is("transaction") {
		if scope = t.Text; scope == "local" {
			scope = "session"
		}
		p.At++
	}
	if p.Accept("transaction") {
		return p.setTransaction(pos, scope)
	}
	s := &ast.SetVariables{Pos: pos}
	p.List(func() { s.Items = append(s.Items, p.setVariable()) })
	return s
}

func (p *parser) setTransaction(pos int, scope string) ast.Stmt {
	s := &ast.SetTransaction{Scope: scope, Pos: pos}
	p.List(func() {
		var mode [2]string
		switch {
		case p.Accept("isolation", "level"):
			t := p.Take()
			mode = [2]string{"transaction_isolation", t.Text}
			switch {
			case t.Is("serializable"):
			case t.Is("read") && p.Peek(0).Is("uncommitted", "committed"), t.Is("repeatable") && p.Ahead("read"):
				mode[1] += "-" + p.Take().Text
			default:
				p.At--
				p.SyntaxError()
			}
		case p.Accept("read", "only"):
			mode = [2]string{"transaction_read_only", "ON"}
		case p.Accept("read", "write"):
			mode = [2]string{"transaction_read_only", "OFF"}
		default:
			p.SyntaxError()
		}
		s.Modes = append(s.Modes, mode)
	})
	return s
}

// setVariable parses one of the entries of SET.
func (p *parser) setVariable() ast.SetVariable {
	v := ast.SetVariable{Scope: "session", Pos: p.Pos()}
	switch {
	case p.Accept("names"), p.Accept("charset"), p.Accept("character", "set"), p.Accept("char", "set"):
		v.Scope = "names"
		if p.Ahead("=") || p.AtEnd() {
			p.SyntaxError()
		}
		t := p.Take()
		if v.Word = t.Value; t.Is("default") {
			v.Word, v.Default = "utf8mb4", true
		}
		if p.Accept("collate") {
			v.Name = p.stringOrName()
		}
		return v
	case p.AcceptAny("global", "persist"):
		v.Scope = "global"
	case p.AcceptAny("session", "local"):
	case p.Ahead("persist_only"):
		p.Refuse(v.Pos, "This version doesn't yet support 'SET PERSIST_ONLY'")
	}
	switch t := p.Peek(0); {
	case t.Kind == token.Var && t.Text == "@@":
		p.At++
		v.Name = t.Value
		if scope, name, ok := strings.Cut(t.Value, "."); ok {
			switch strings.ToLower(scope) {
			case "global", "persist":
				v.Scope, v.Name = "global", name
			case "session", "local":
				v.Name = name
			}
		}
	case t.Kind == token.Var:
		p.At++
		v.Scope, v.Name = "user", strings.ToLower(t.Value)
	default:
		v.Name = strings.Join(p.dotted().Parts, ".")
	}
	if !p.Accept("=") && !p.Accept(":=") {
		p.SyntaxError()
	}
	t, last := p.Peek(0), p.Peek(1).Punct(",") || p.Peek(1).Kind == token.End
	switch {
	case v.Scope == "user" || !last || t.Kind != token.Word && t.Kind != token.Quoted || t.Is("null", "true", "false"):
		v.Value = p.expr()
	default:
		p.At++
		v.Word, v.Default = t.Value, t.Is("default")
	}
	return v
}

// ---- SHOW ----

// shown are SHOW's subjects that are one or two words and have a tail of conditions.
var shown = [][]string{{"databases"}, {"schemas"}, {"tables"}, {"columns"}, {"fields"}, {"index"}, {"indexes"}, {"keys"}, {"table", "status"},
	{"variables"}, {"status"}, {"processlist"}, {"engines"}, {"storage", "engines"}, {"collation"}, {"charset"}, {"character", "set"}, {"char", "set"},
	{"plugins"}, {"triggers"}, {"events"}, {"function", "status"}, {"procedure", "status"}}

// oneOf gives the subjects one name each.
var oneOf = map[string]string{"schemas": "databases", "fields": "columns", "indexes": "index", "keys": "index", "storage engines": "engines",
	"character set": "charset", "char set": "charset"}

// alone are subjects of which nothing that follows is looked at: those that say little here, and the
// columns of those that have no rows.
var alone = []struct {
	words   []string
	columns []string
}{
	{[]string{"privileges"}, nil},
	{[]string{"open", "tables"}, []string{"Database", "Table", "In_use", "Name_locked"}},
	{[]string{"engine"}, []string{"Type", "Name", "Status"}},
	{[]string{"profiles"}, []string{"Query_ID", "Duration", "Query"}},
	{[]string{"profile"}, []string{"Status", "Duration"}},
	{[]string{"master", "status"}, []string{"File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set"}},
	{[]string{"binary", "log", "status"}, []string{"File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set"}},
	{[]string{"master"}, []string{"Log_name", "File_size", "Encrypted"}},
	{[]string{"binary"}, []string{"Log_name", "File_size", "Encrypted"}},
	{[]string{"replica"}, []string{"Replica_IO_State", "Source_Host"}},
	{[]string{"slave"}, []string{"Replica_IO_State", "Source_Host"}},
	{[]string{"replicas"}, []string{"Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"}},
	{[]string{"binlog"}, []string{"Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info"}},
	{[]string{"relaylog"}, []string{"Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info"}},
}

func (p *parser) show() ast.Stmt {
	s := &ast.ShowInfo{Pos: p.Pos(), Count: -1}
	p.Expect("show")
	for {
		switch {
		case p.Accept("full"):
			s.Full = true
		case p.Accept("global"):
			s.Global = true
		case p.AcceptAny("extended", "session", "local"):
		default:
			return p.subject(s)
		}
	}
}

func (p *parser) subject(s *ast.ShowInfo) ast.Stmt {
	for _, words := range shown {
		if p.Accept(words...) {
			s.What = strings.Join(words, " ")
			if one, ok := oneOf[s.What]; ok {
				s.What = one
			}
			p.conditions(s)
			return s
		}
	}
	if p.Accept("grants") {
		s.What = "grants"
		if p.Accept("for") {
			who := p.account()
			s.For = &who
		}
		if p.Accept("using") {
			p.accountList() // a user has the privileges of its roles in any case
		}
		return s
	}
	for _, a := range alone {
		if p.Accept(a.words...) {
			p.rest()
			if a.columns != nil {
				return &ast.Idle{Columns: a.columns, Pos: s.Pos}
			}
			s.What = a.words[0]
			return s
		}
	}
	t := p.Peek(0)
	switch {
	case p.Accept("create"):
		return p.showCreate(s)
	case p.AcceptAny("warnings", "errors"):
		s.What = t.Text
		if p.Accept("limit") {
			s.Count = p.count()
			if p.Accept(",") {
				s.Offset, s.Count = s.Count, p.count()
			}
		}
		return s
	case p.Accept("count"):
		p.Expect("(")
		if !p.Peek(0).Op("*") {
			p.SyntaxError()
		}
		p.At++
		p.Expect(")")
		what := p.Take()
		if !what.Is("warnings", "errors") {
			p.At--
			p.SyntaxError()
		}
		s.What = "count " + what.Text
		return s
	case t.Is("function", "procedure"):
		p.Fail(sqlerr.New(sqlerr.UndefinedFunction, "%s does not exist", strings.ToUpper(t.Text)).At(t.Pos))
	}
	p.SyntaxError()
	return nil
}

func (p *parser) count() int {
	t := p.Take()
	n, err := strconv.Atoi(t.Text)
	if t.Kind != token.Number || err != nil {
		p.At--
		p.SyntaxError()
	}
	return n
}

func (p *parser) showCreate(s *ast.ShowInfo) ast.Stmt {
	t := p.Take()
	switch {
	case t.Is("database", "schema"):
		s.What = "create database"
		p.Accept("if", "not", "exists")
	case t.Is("table", "view"):
		s.What = "create " + t.Text
	default:
		p.Fail(sqlerr.New(sqlerr.UndefinedFunction, "SHOW CREATE %s: there is none of the name", strings.ToUpper(t.Text)).At(t.Pos))
	}
	s.Object = p.dotted()
	return s
}

// conditions parses [FROM|IN name [FROM|IN db]] [LIKE 'x' | WHERE …].
func (p *parser) conditions(s *ast.ShowInfo) {
	if p.AcceptAny("from", "in") {
		s.Object = p.dotted()
		if p.AcceptAny("from", "in") {
			in := p.dotted()
			s.Object.Parts = append(in.Parts, s.Object.Parts[len(s.Object.Parts)-1])
		}
	}
	switch {
	case p.Accept("like"):
		like := p.Str()
		s.Like = &like
	case p.Accept("where"):
		s.Where = p.expr()
	}
	if s.What == "columns" && len(s.Object.Parts) == 0 {
		p.SyntaxError()
	}
}

// describeTable parses DESCRIBE t [column], DESC t and EXPLAIN t; nil: it explains a statement.
func (p *parser) describeTable() ast.Stmt {
	next := p.Peek(1)
	if next.Is("select", "insert", "update", "delete", "replace", "with", "analyze", "format", "extended", "partitions", "verbose", "table", "values",
		"merge", "for", "create") && p.Peek(2).Kind != token.End || next.Kind != token.Word && next.Kind != token.Quoted {
		return nil
	}
	from := p.At
	s := &ast.ShowInfo{What: "columns", Pos: p.Pos(), Count: -1}
	p.At++
	s.Object = p.dotted()
	if t := p.Peek(0); t.Kind == token.Word || t.Kind == token.Quoted || t.Kind == token.String {
		p.At++
		s.Like = &t.Value
	}
	if !p.AtEnd() {
		p.At = from
		return nil
	}
	return s
}
