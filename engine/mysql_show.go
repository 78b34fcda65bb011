package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// SHOW is a query over information_schema, as in MySQL itself: its WHERE and LIKE are the engine's,
// and its answer is what the same question in SQL gets.

// shown is what SHOW stands for: a query, or rows that are known.
type shown struct {
	query *ast.Query
	names []string
	rows  [][]types.Datum
}

// columns are those of rows that are known.
func (v *shown) columns() []ResultColumn {
	out := make([]ResultColumn, len(v.names))
	for i, n := range v.names {
		out[i] = ResultColumn{Name: n, Type: types.T(types.Varchar)}
		if n == "Code" || strings.HasSuffix(n, "_count") {
			out[i].Type = types.T(types.Int8)
		}
	}
	return out
}

// texts are rows of texts.
func texts(rows ...[]string) [][]types.Datum {
	var out [][]types.Datum
	for _, r := range rows {
		row := make([]types.Datum, len(r))
		for i, s := range r {
			row[i] = types.NewStr(s)
		}
		out = append(out, row)
	}
	return out
}

// view is a SHOW as a query: pairs of columns of a table and what SHOW calls them, in an order; like
// is the column that LIKE looks at.
type view struct {
	table string // of information_schema, unless it says where
	where ast.Expr
	pairs []string
	order []string
	like  string
	extra string // a column to order by that is not shown
}

func column(name string) ast.Expr { return &ast.Ident{Name: ast.Name{Parts: []string{name}}} }
func text(s string) ast.Expr      { return &ast.Lit{Kind: 's', Text: s} }

func function(name string, args ...ast.Expr) *ast.Call {
	c := &ast.Call{Name: ast.Name{Parts: []string{name}}}
	for _, a := range args {
		c.Args = append(c.Args, ast.Arg{Expr: a})
	}
	return c
}

// equal is column = 'value' AND ….
func equal(pairs ...string) ast.Expr {
	and := &ast.And{}
	for i := 0; i < len(pairs); i += 2 {
		and.Args = append(and.Args, &ast.Binary{Op: "=", L: column(pairs[i]), R: text(pairs[i+1])})
	}
	if len(and.Args) == 1 {
		return and.Args[0]
	}
	return and
}

// selectFrom is SELECT items FROM a table of the server's own WHERE ….
func selectFrom(table string, where ast.Expr, items ...ast.Item) *ast.Query {
	schema, name, ok := strings.Cut(table, ".")
	if !ok {
		schema, name = "information_schema", table
	}
	return &ast.Query{Body: &ast.Select{Items: items, Where: where, From: []ast.TableExpr{&ast.TableName{Name: ast.Name{Parts: []string{schema, name}}}}}}
}

// query is the view with the statement's conditions:
//
//	SELECT shown… FROM (SELECT column AS shown… FROM table WHERE where) AS shown WHERE … ORDER BY …
func (v *view) query(n *ast.ShowInfo) *shown {
	var inner, outer []ast.Item
	for i := 0; i < len(v.pairs); i += 2 {
		x := column(v.pairs[i])
		if name, ok := strings.CutPrefix(v.pairs[i], "LEFT "); ok {
			x = function("left", column(name), &ast.Lit{Kind: 'i', Text: "100"})
		}
		inner = append(inner, ast.Item{Expr: x, Alias: v.pairs[i+1]})
		outer = append(outer, ast.Item{Expr: column(v.pairs[i+1])})
	}
	order := v.order
	if v.extra != "" {
		order = []string{"ordinal_shown"}
		inner = append(inner, ast.Item{Expr: column(v.extra), Alias: order[0]})
	}
	s := &ast.Select{Items: outer, From: []ast.TableExpr{&ast.SubqueryTable{Query: selectFrom(v.table, v.where, inner...), Alias: ast.Alias{Name: "shown"}}}}
	if s.Where = n.Where; n.Like != nil {
		s.Where = function("like", column(v.like), text(*n.Like))
	}
	q := &ast.Query{Body: s}
	for _, o := range order {
		q.OrderBy = append(q.OrderBy, ast.Order{Expr: column(o)})
	}
	return &shown{query: q}
}

// show finds what SHOW stands for.
func (m *MySQL) show(ctx context.Context, n *ast.ShowInfo) (*shown, error) {
	simple := func(v view) (*shown, error) { return v.query(n), nil }
	switch n.What {
	case "databases":
		name := liked("Database", n)
		return simple(view{table: "SCHEMATA", pairs: []string{"SCHEMA_NAME", name}, order: []string{name}, like: name})
	case "tables":
		return m.showTables(ctx, n)
	case "columns":
		return m.showColumns(ctx, n)
	case "index":
		return m.showIndex(ctx, n)
	case "create database", "create table", "create view":
		return m.showCreate(ctx, n)
	case "table status":
		return m.inDatabase(ctx, n, view{table: "TABLES", like: "Name", pairs: []string{
			"TABLE_NAME", "Name", "ENGINE", "Engine", "VERSION", "Version", "ROW_FORMAT", "Row_format", "TABLE_ROWS", "Rows", "AVG_ROW_LENGTH", "Avg_row_length",
			"DATA_LENGTH", "Data_length", "MAX_DATA_LENGTH", "Max_data_length", "INDEX_LENGTH", "Index_length", "DATA_FREE", "Data_free",
			"AUTO_INCREMENT", "Auto_increment", "CREATE_TIME", "Create_time", "UPDATE_TIME", "Update_time", "CHECK_TIME", "Check_time",
			"TABLE_COLLATION", "Collation", "CHECKSUM", "Checksum", "CREATE_OPTIONS", "Create_options", "TABLE_COMMENT", "Comment"}}, "TABLE_SCHEMA")
	case "variables", "status":
		scope := "session_"
		if n.Global {
			scope = "global_"
		}
		return simple(view{table: "performance_schema." + scope + n.What, order: []string{"Variable_name"}, like: "Variable_name",
			pairs: []string{"VARIABLE_NAME", "Variable_name", "VARIABLE_VALUE", "Value"}})
	case "processlist":
		info := "LEFT INFO"
		if n.Full {
			info = "INFO"
		}
		return simple(view{table: "PROCESSLIST", order: []string{"Id"}, like: "User", pairs: []string{"ID", "Id", "USER", "User", "HOST", "Host", "DB", "db",
			"COMMAND", "Command", "TIME", "Time", "STATE", "State", info, "Info"}})
	case "engines":
		return simple(view{table: "ENGINES", order: []string{"Engine"}, like: "Engine", pairs: []string{"ENGINE", "Engine", "SUPPORT", "Support", "COMMENT", "Comment",
			"TRANSACTIONS", "Transactions", "XA", "XA", "SAVEPOINTS", "Savepoints"}})
	case "collation":
		return simple(view{table: "COLLATIONS", order: []string{"Collation"}, like: "Collation", pairs: []string{"COLLATION_NAME", "Collation", "CHARACTER_SET_NAME", "Charset",
			"ID", "Id", "IS_DEFAULT", "Default", "IS_COMPILED", "Compiled", "SORTLEN", "Sortlen", "PAD_ATTRIBUTE", "Pad_attribute"}})
	case "charset":
		return simple(view{table: "CHARACTER_SETS", order: []string{"Charset"}, like: "Charset", pairs: []string{"CHARACTER_SET_NAME", "Charset", "DESCRIPTION", "Description",
			"DEFAULT_COLLATE_NAME", "Default collation", "MAXLEN", "Maxlen"}})
	case "plugins":
		return simple(view{table: "PLUGINS", order: []string{"Name"}, like: "Name", pairs: []string{"PLUGIN_NAME", "Name", "PLUGIN_STATUS", "Status", "PLUGIN_TYPE", "Type",
			"PLUGIN_LIBRARY", "Library", "PLUGIN_LICENSE", "License"}})
	case "triggers":
		return m.inDatabase(ctx, n, view{table: "TRIGGERS", like: "Trigger", pairs: []string{"TRIGGER_NAME", "Trigger", "EVENT_MANIPULATION", "Event",
			"EVENT_OBJECT_TABLE", "Table", "ACTION_STATEMENT", "Statement", "ACTION_TIMING", "Timing", "CREATED", "Created", "SQL_MODE", "sql_mode",
			"DEFINER", "Definer", "CHARACTER_SET_CLIENT", "character_set_client", "COLLATION_CONNECTION", "collation_connection",
			"DATABASE_COLLATION", "Database Collation"}}, "TRIGGER_SCHEMA")
	case "events":
		return m.inDatabase(ctx, n, view{table: "EVENTS", like: "Name", pairs: []string{"EVENT_SCHEMA", "Db", "EVENT_NAME", "Name", "DEFINER", "Definer",
			"TIME_ZONE", "Time zone", "EVENT_TYPE", "Type", "EXECUTE_AT", "Execute at", "INTERVAL_VALUE", "Interval value", "INTERVAL_FIELD", "Interval field",
			"STARTS", "Starts", "ENDS", "Ends", "STATUS", "Status", "ORIGINATOR", "Originator", "CHARACTER_SET_CLIENT", "character_set_client",
			"COLLATION_CONNECTION", "collation_connection", "DATABASE_COLLATION", "Database Collation"}}, "EVENT_SCHEMA")
	case "function status", "procedure status":
		kind, _, _ := strings.Cut(n.What, " ")
		return simple(view{table: "ROUTINES", where: equal("ROUTINE_TYPE", strings.ToUpper(kind)), order: []string{"Db", "Name"}, like: "Name", pairs: []string{
			"ROUTINE_SCHEMA", "Db", "ROUTINE_NAME", "Name", "ROUTINE_TYPE", "Type", "DEFINER", "Definer", "LAST_ALTERED", "Modified", "CREATED", "Created",
			"SECURITY_TYPE", "Security_type", "ROUTINE_COMMENT", "Comment", "CHARACTER_SET_CLIENT", "character_set_client",
			"COLLATION_CONNECTION", "collation_connection", "DATABASE_COLLATION", "Database Collation"}})
	case "warnings", "errors":
		return m.showWarnings(n), nil
	case "count warnings":
		return &shown{names: []string{"@@session.warning_count"}, rows: [][]types.Datum{{types.NewInt(int64(len(m.Warnings)))}}}, nil
	case "count errors":
		return &shown{names: []string{"@@session.error_count"}, rows: [][]types.Datum{{types.NewInt(int64(m.errors()))}}}, nil
	case "grants":
		return m.showGrants(ctx, n)
	}
	return showPrivileges(), nil
}

// liked is a column's name, which tells of LIKE.
func liked(name string, n *ast.ShowInfo) string {
	if n.Like != nil {
		name += " (" + *n.Like + ")"
	}
	return name
}

func (m *MySQL) showTables(ctx context.Context, n *ast.ShowInfo) (*shown, error) {
	db, err := m.knownDatabase(ctx, n.Object.Parts)
	if err != nil {
		return nil, err
	}
	name := liked("Tables_in_"+db, n)
	v := view{table: "TABLES", where: equal("TABLE_SCHEMA", db), pairs: []string{"TABLE_NAME", name}, order: []string{name}, like: name}
	if n.Full {
		v.pairs = append(v.pairs, "TABLE_TYPE", "Table_type")
	}
	return v.query(n), nil
}

// inDatabase is a view of what one database holds.
func (m *MySQL) inDatabase(ctx context.Context, n *ast.ShowInfo, v view, in string) (*shown, error) {
	db, err := m.knownDatabase(ctx, n.Object.Parts)
	if err != nil {
		return nil, err
	}
	v.where, v.order = equal(in, db), []string{v.like}
	return v.query(n), nil
}

func (m *MySQL) showColumns(ctx context.Context, n *ast.ShowInfo) (*shown, error) {
	db, table, err := m.knownTable(ctx, n.Object.Parts)
	if err != nil {
		return nil, err
	}
	pairs := []string{"COLUMN_NAME", "Field", "COLUMN_TYPE", "Type"}
	if n.Full {
		pairs = append(pairs, "COLLATION_NAME", "Collation")
	}
	pairs = append(pairs, "IS_NULLABLE", "Null", "COLUMN_KEY", "Key", "COLUMN_DEFAULT", "Default", "EXTRA", "Extra")
	if n.Full {
		pairs = append(pairs, "PRIVILEGES", "Privileges", "COLUMN_COMMENT", "Comment")
	}
	v := view{table: "COLUMNS", where: equal("TABLE_SCHEMA", db, "TABLE_NAME", table), pairs: pairs, like: "Field", extra: "ORDINAL_POSITION"}
	return v.query(n), nil
}

func (m *MySQL) showIndex(ctx context.Context, n *ast.ShowInfo) (*shown, error) {
	db, table, err := m.knownTable(ctx, n.Object.Parts)
	if err != nil {
		return nil, err
	}
	v := view{table: "STATISTICS", where: equal("TABLE_SCHEMA", db, "TABLE_NAME", table), order: []string{"Key_name", "Seq_in_index"}, like: "Key_name", pairs: []string{
		"TABLE_NAME", "Table", "NON_UNIQUE", "Non_unique", "INDEX_NAME", "Key_name", "SEQ_IN_INDEX", "Seq_in_index", "COLUMN_NAME", "Column_name",
		"COLLATION", "Collation", "CARDINALITY", "Cardinality", "SUB_PART", "Sub_part", "PACKED", "Packed", "NULLABLE", "Null", "INDEX_TYPE", "Index_type",
		"COMMENT", "Comment", "INDEX_COMMENT", "Index_comment", "IS_VISIBLE", "Visible", "EXPRESSION", "Expression"}}
	return v.query(n), nil
}

func (m *MySQL) showWarnings(n *ast.ShowInfo) *shown {
	v := &shown{names: []string{"Level", "Code", "Message"}}
	skip := n.Offset
	for _, w := range m.Warnings {
		switch {
		case n.What == "errors" && w.Level != "Error":
		case skip > 0:
			skip--
		case n.Count < 0 || len(v.rows) < n.Count:
			v.rows = append(v.rows, []types.Datum{types.NewStr(w.Level), types.NewInt(int64(w.Number)), types.NewStr(w.Text)})
		}
	}
	return v
}

func showPrivileges() *shown {
	v := &shown{names: []string{"Privilege", "Context", "Comment"}}
	for _, r := range [][3]string{
		{"Alter", "Tables", "To alter the table"}, {"Create", "Databases,Tables,Indexes", "To create new databases and tables"},
		{"Create view", "Tables", "To create new views"}, {"Delete", "Tables", "To delete existing rows"},
		{"Drop", "Databases,Tables", "To drop databases, tables, and views"}, {"Execute", "Functions,Procedures", "To execute stored routines"},
		{"Insert", "Tables", "To insert data into tables"}, {"Process", "Server Admin", "To view the plain text of currently executing queries"},
		{"Select", "Tables", "To retrieve rows from table"}, {"Show databases", "Server Admin", "To see all databases with SHOW DATABASES"},
		{"Show view", "Tables", "To see views with SHOW CREATE VIEW"}, {"Update", "Tables", "To update existing rows"},
	} {
		v.rows = append(v.rows, texts(r[:])...)
	}
	return v
}
