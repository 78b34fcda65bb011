package pg

import (
	"math"
	"strconv"
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/lakehouse"
)

func itoa(i int64) string { return strconv.FormatInt(i, 10) }

// utility translates what is neither a query nor DML: transactions, settings, cursors, DDL.
func (c *conv) utility(n any) ast.Stmt {
	if s := c.roles(n); s != nil {
		return s
	}
	switch n := n.(type) {
	case *pgquery.Node_TransactionStmt:
		return c.transaction(n.TransactionStmt)
	case *pgquery.Node_VariableSetStmt:
		return c.set(n.VariableSetStmt)
	case *pgquery.Node_VariableShowStmt:
		return &ast.Show{Name: strings.ToLower(n.VariableShowStmt.Name), Pos: c.from}
	case *pgquery.Node_ExecuteStmt:
		return &ast.Execute{Name: n.ExecuteStmt.Name, Args: c.exprs(n.ExecuteStmt.Params), Pos: c.from}
	case *pgquery.Node_DeallocateStmt:
		return &ast.Deallocate{Name: n.DeallocateStmt.Name, Pos: c.from}
	case *pgquery.Node_DeclareCursorStmt:
		return c.declare(n.DeclareCursorStmt)
	case *pgquery.Node_FetchStmt:
		return c.fetch(n.FetchStmt)
	case *pgquery.Node_ClosePortalStmt:
		return &ast.ClosePortal{Name: n.ClosePortalStmt.Portalname, Pos: c.from}
	case *pgquery.Node_DiscardStmt:
		what := map[pgquery.DiscardMode]string{pgquery.DiscardMode_DISCARD_ALL: "all", pgquery.DiscardMode_DISCARD_PLANS: "plans",
			pgquery.DiscardMode_DISCARD_SEQUENCES: "sequences", pgquery.DiscardMode_DISCARD_TEMP: "temp"}
		return &ast.Discard{What: what[n.DiscardStmt.Target], Pos: c.from}
	case *pgquery.Node_ListenStmt:
		return &ast.Listen{Op: "listen", Channel: n.ListenStmt.Conditionname, Pos: c.from}
	case *pgquery.Node_UnlistenStmt:
		return &ast.Listen{Op: "unlisten", Channel: n.UnlistenStmt.Conditionname, Pos: c.from}
	case *pgquery.Node_NotifyStmt:
		return &ast.Listen{Op: "notify", Channel: n.NotifyStmt.Conditionname, Pos: c.from}
	case *pgquery.Node_LockStmt:
		l := &ast.Lock{Pos: c.from}
		for _, r := range n.LockStmt.Relations {
			l.Tables = append(l.Tables, c.relation(r.GetRangeVar()))
		}
		return l
	case *pgquery.Node_CommentStmt:
		return c.comment(n.CommentStmt)
	case *pgquery.Node_ViewStmt:
		return c.view(n.ViewStmt)
	case *pgquery.Node_CreateSchemaStmt:
		s := n.CreateSchemaStmt
		name := s.Schemaname
		if name == "" {
			name = s.Authrole.GetRolename()
		}
		if len(s.SchemaElts) > 0 {
			c.refuse(c.from, "CREATE SCHEMA with elements inside is not supported")
		}
		out := &ast.CreateSchema{Name: ast.Name{Parts: []string{name}, Pos: c.from}, IfNotExists: s.IfNotExists, Pos: c.from}
		if s.Authrole != nil {
			owner := c.roleName(s.Authrole)
			out.Owner = &owner
		}
		return out
	case *pgquery.Node_DropStmt:
		return c.drop(n.DropStmt)
	case *pgquery.Node_CreateExtensionStmt:
		return &ast.Noop{Tag: "CREATE EXTENSION", Pos: c.from}
	case *pgquery.Node_ConstraintsSetStmt:
		if len(n.ConstraintsSetStmt.Constraints) > 0 {
			c.refuse(c.from, "SET CONSTRAINTS is supported for ALL")
		}
		// No check waits for the end of a transaction block by its declaration.
		return &ast.Noop{Tag: "SET CONSTRAINTS", Pos: c.from}
	case *pgquery.Node_CheckPointStmt:
		return &ast.Noop{Tag: "CHECKPOINT", Pos: c.from}
	case *pgquery.Node_CreateTableAsStmt:
		what := "CREATE TABLE AS"
		if n.CreateTableAsStmt.Objtype == pgquery.ObjectType_OBJECT_MATVIEW {
			what = "CREATE MATERIALIZED VIEW"
		}
		c.refuse(c.from, "%s is not supported here", what)
	case *pgquery.Node_RenameStmt, *pgquery.Node_AlterObjectSchemaStmt, *pgquery.Node_AlterTableStmt:
		c.refuse(c.from, "this ALTER is not supported; ALTER TABLE and ALTER VIEW are")
	case *pgquery.Node_IndexStmt:
		if n.IndexStmt.Unique {
			return c.uniqueIndex(n.IndexStmt)
		}
		return &ast.CreateIndex{Table: c.relation(n.IndexStmt.Relation).Name, Pos: c.from}
	case *pgquery.Node_DoStmt:
		c.refuse(c.from, "DO blocks are not supported")
	case *pgquery.Node_CreateFunctionStmt:
		c.refuse(c.from, "CREATE FUNCTION is not supported")
	default:
		c.refuse(c.from, "this statement is not supported (%s)", strings.TrimSuffix(strings.TrimPrefix(typeLabel(n), "Node_"), "Stmt"))
	}
	return &ast.Empty{}
}

// uniqueIndex is CREATE UNIQUE INDEX: a constraint of the index's name.
func (c *conv) uniqueIndex(n *pgquery.IndexStmt) ast.Stmt {
	k := ast.Key{Name: n.Idxname, Index: true, NullsNotDistinct: n.NullsNotDistinct, Pos: c.from}
	if n.WhereClause != nil {
		c.refuse(c.from, "a unique index of some rows (WHERE) is not supported")
	}
	for _, x := range n.IndexParams {
		e := x.GetIndexElem()
		if e.GetName() == "" {
			c.refuse(c.from, "a unique index of expressions is not supported")
		}
		k.Columns = append(k.Columns, ast.Name{Parts: []string{e.GetName()}, Pos: c.from})
	}
	t := &ast.AlterTable{Name: c.relation(n.Relation), Verb: "CREATE INDEX", Pos: c.from}
	lakehouse.AddKey(k, func(a ast.AlterAction) {
		a.IfNotExists, a.Pos = n.IfNotExists, c.from
		t.Actions = append(t.Actions, a)
	})
	return t
}

func (c *conv) transaction(n *pgquery.TransactionStmt) ast.Stmt {
	t := &ast.Transaction{Name: n.SavepointName, Chain: n.Chain, Pos: c.from}
	switch n.Kind {
	case pgquery.TransactionStmtKind_TRANS_STMT_BEGIN, pgquery.TransactionStmtKind_TRANS_STMT_START:
		t.Op, t.Start = "begin", n.Kind == pgquery.TransactionStmtKind_TRANS_STMT_START
	case pgquery.TransactionStmtKind_TRANS_STMT_COMMIT:
		t.Op = "commit"
	case pgquery.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		t.Op = "rollback"
	case pgquery.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		t.Op = "savepoint"
	case pgquery.TransactionStmtKind_TRANS_STMT_RELEASE:
		t.Op = "release"
	case pgquery.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		t.Op = "rollback to"
	default:
		c.refuse(c.from, "two-phase commit is not supported")
	}
	for _, o := range n.Options {
		def := o.GetDefElem()
		switch def.GetDefname() {
		case "transaction_isolation":
			t.Isolation = strings.ToLower(def.GetArg().GetAConst().GetSval().GetSval())
		case "transaction_read_only":
			ro := def.GetArg().GetAConst().GetIval().GetIval() != 0
			t.ReadOnly = &ro
		case "transaction_deferrable":
			def := def.GetArg().GetAConst().GetIval().GetIval() != 0
			t.Deferrable = &def
		}
	}
	return t
}

func (c *conv) set(n *pgquery.VariableSetStmt) ast.Stmt {
	s := &ast.Set{Name: strings.ToLower(n.Name), Local: n.IsLocal, Pos: c.from}
	switch n.Kind {
	case pgquery.VariableSetKind_VAR_SET_DEFAULT, pgquery.VariableSetKind_VAR_RESET:
		s.Default, s.Reset = true, n.Kind == pgquery.VariableSetKind_VAR_RESET
	case pgquery.VariableSetKind_VAR_RESET_ALL:
		s.Default, s.All = true, true
	case pgquery.VariableSetKind_VAR_SET_MULTI:
		// SET [SESSION CHARACTERISTICS AS] TRANSACTION modes: name, value, name, value.
		for _, a := range n.Args {
			def := a.GetDefElem()
			if def == nil {
				continue // SET TRANSACTION SNAPSHOT
			}
			s.Values = append(s.Values, &ast.Lit{Kind: 's', Text: def.Defname, Pos: c.pos(def.Location)}, c.expr(def.Arg))
		}
		if s.Name == "transaction snapshot" {
			c.refuse(c.from, "SET TRANSACTION SNAPSHOT is not supported")
		}
	case pgquery.VariableSetKind_VAR_SET_CURRENT:
		c.refuse(c.from, "SET … FROM CURRENT is not supported")
	default:
		s.Values = c.exprs(n.Args)
	}
	return s
}

// The bits of DeclareCursorStmt.options (parsenodes.h).
const (
	cursorBinary   = 0x0001
	cursorScroll   = 0x0002
	cursorNoScroll = 0x0004
	cursorHold     = 0x0020
)

func (c *conv) declare(n *pgquery.DeclareCursorStmt) ast.Stmt {
	return &ast.Declare{Name: n.Portalname, Query: c.queryNode(n.Query), Pos: c.from,
		Binary: n.Options&cursorBinary != 0, Scroll: n.Options&cursorScroll != 0,
		NoScroll: n.Options&cursorNoScroll != 0, Hold: n.Options&cursorHold != 0}
}

func (c *conv) fetch(n *pgquery.FetchStmt) ast.Stmt {
	f := &ast.Fetch{Cursor: n.Portalname, Count: n.HowMany, Move: n.Ismove, Pos: c.from, Direction: "forward"}
	switch n.Direction {
	case pgquery.FetchDirection_FETCH_BACKWARD:
		f.Direction = "backward"
	case pgquery.FetchDirection_FETCH_ABSOLUTE:
		f.Direction = "absolute"
	case pgquery.FetchDirection_FETCH_RELATIVE:
		f.Direction = "relative"
	}
	// FETCH_ALL is LONG_MAX, 32 bits wide on some builds of the grammar.
	if f.Count >= math.MaxInt32 && n.HowMany == math.MaxInt32 || f.Count == math.MaxInt64 {
		f.Count = math.MaxInt64
	}
	return f
}

func (c *conv) comment(n *pgquery.CommentStmt) ast.Stmt {
	s := &ast.Comment{Pos: c.from}
	switch n.Objtype {
	case pgquery.ObjectType_OBJECT_TABLE:
		s.Kind = "table"
	case pgquery.ObjectType_OBJECT_COLUMN:
		s.Kind = "column"
	case pgquery.ObjectType_OBJECT_SCHEMA:
		s.Kind = "schema"
	case pgquery.ObjectType_OBJECT_VIEW:
		s.Kind = "view"
	default:
		c.refuse(c.from, "COMMENT is supported on tables, columns, schemas and views")
		return s
	}
	s.Name = ast.Name{Parts: objectName(n.Object), Pos: c.from}
	// The tree does not tell IS NULL from IS ''; the last token does.
	if last := c.p.Toks[len(c.p.Toks)-1]; !last.Is("null") {
		text := n.Comment
		s.Text = &text
	}
	return s
}

func objectName(n *pgquery.Node) []string {
	if l := n.GetList(); l != nil {
		return stringList(l.Items)
	}
	if s := n.GetString_(); s != nil {
		return []string{s.Sval}
	}
	return nil
}

func (c *conv) view(n *pgquery.ViewStmt) ast.Stmt {
	v := &ast.CreateView{Name: c.relation(n.View), Columns: stringList(n.Aliases), Replace: n.Replace,
		Temp: n.View.GetRelpersistence() == "t", Pos: c.from}
	if n.WithCheckOption > pgquery.ViewCheckOption_NO_CHECK_OPTION {
		c.refuse(c.from, "WITH CHECK OPTION is not supported: views are read-only")
	}
	for _, o := range n.Options {
		switch def := o.GetDefElem(); def.GetDefname() {
		case "security_invoker":
			v.Invoker = !strings.EqualFold(c.optionValue(def.GetArg()), "false") && c.optionValue(def.GetArg()) != "off" && c.optionValue(def.GetArg()) != "0"
		case "security_barrier":
			if v := c.optionValue(def.GetArg()); v != "false" && v != "off" && v != "0" {
				c.refuse(c.pos(def.GetLocation()), "security_barrier is not supported: a condition of the query may run before the view's own")
			}
		default:
			c.p.FailAt(c.pos(def.GetLocation()), sqlerr.InvalidParameterValue, "unrecognized parameter \"%s\"", def.GetDefname())
		}
	}
	v.Query = c.queryNode(n.Query)
	p := c.p
	if as := p.upTo(p.stopAt("as")); as+1 < len(p.Toks) {
		v.SQLPos = p.tokenPos(as + 1)
		v.SQL = p.Text[v.SQLPos:]
		// CREATE RECURSIVE VIEW v (a) AS q is CREATE VIEW v AS WITH RECURSIVE v (a) AS (q) SELECT a FROM v,
		// and the grammar has made the tree so.
		for _, t := range p.Toks[:min(as, 6)] {
			if t.Is("view") {
				break
			}
			if t.Is("recursive") {
				name, cols := quoted(v.Name.Parts[len(v.Name.Parts)-1]), make([]string, len(v.Columns))
				for i, c := range v.Columns {
					cols[i] = quoted(c)
				}
				list := strings.Join(cols, ", ")
				before := "WITH RECURSIVE " + name + " (" + list + ") AS ("
				v.SQLPos -= len(before)
				v.SQL = before + v.SQL + "\n) SELECT " + list + " FROM " + name
			}
		}
	}
	return v
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func (c *conv) drop(n *pgquery.DropStmt) ast.Stmt {
	d := &ast.Drop{IfExists: n.MissingOk, Cascade: n.Behavior == pgquery.DropBehavior_DROP_CASCADE, Pos: c.from}
	switch n.RemoveType {
	case pgquery.ObjectType_OBJECT_TABLE:
		d.Kind = "table"
	case pgquery.ObjectType_OBJECT_VIEW:
		d.Kind = "view"
	case pgquery.ObjectType_OBJECT_SCHEMA:
		d.Kind = "schema"
	default:
		c.p.Fail(sqlerr.New(sqlerr.FeatureNotSupported, "DROP is supported for tables, views, schemas, branches and tags").At(c.from))
		return d
	}
	for _, o := range n.Objects {
		d.Names = append(d.Names, ast.Name{Parts: objectName(o), Pos: c.from})
	}
	return d
}
