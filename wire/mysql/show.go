package mysql

import (
	"fmt"
	"strings"
)

// SHOW is a query over information_schema, as in MySQL itself: its WHERE and LIKE are the
// engine's, and its answer is what the same question in SQL gets.

// view is a SHOW as a query: inner gives the columns, order the rows' order, like names the
// column that LIKE looks at.
type view struct {
	inner string
	cols  []string
	order string
	like  string
}

// tail is what may follow SHOW's subject.
type tail struct {
	from, in string // FROM a FROM b; a.b gives both
	like     *string
	where    string
}

// tail reads [FROM|IN name [FROM|IN db]] [LIKE 'x' | WHERE …] at token k.
func (c *conn) tail(p *piece, k int) (t tail, err error) {
	bad := func() (tail, error) {
		pos := len(p.text)
		if k < len(p.toks) {
			pos = p.toks[k].pos
		}
		return tail{}, nearError(p.text, pos)
	}
	is := func(words ...string) bool {
		for _, w := range words {
			if p.word(k) == w {
				return true
			}
		}
		return false
	}
	if is("from", "in") {
		db, table, next, err := c.tableName(p, k+1)
		if err != nil {
			return tail{}, err
		}
		t.from, t.in, k = table, db, next
		if is("from", "in") {
			db, name, next, err := c.tableName(p, k+1)
			if err != nil {
				return tail{}, err
			}
			if t.in = name; db != "" {
				t.in = db + "." + name
			}
			k = next
		}
	}
	switch {
	case is("like"):
		if k+2 != len(p.toks) || p.toks[k+1].kind != tokString {
			k++
			return bad()
		}
		t.like = &p.toks[k+1].value
	case is("where"):
		if k++; k >= len(p.toks) {
			return bad()
		}
		t.where = p.from(k)
	case k != len(p.toks):
		return bad()
	}
	return t, nil
}

// database is the database that FROM names, or the session's.
func (c *conn) database(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	if db := c.sess.CurrentDatabase(); db != "" {
		return db, nil
	}
	return "", wireError(1046, "3D000", "No database selected")
}

// sql is the view with the tail's conditions as one statement.
func (v *view) sql(t tail) *local {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, col := range v.cols {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quoteName(col))
	}
	b.WriteString(" FROM (" + v.inner + ") AS shown")
	switch {
	case t.like != nil:
		b.WriteString(" WHERE " + quoteName(v.like) + " LIKE " + quotePattern(*t.like))
	case t.where != "":
		b.WriteString(" WHERE " + t.where)
	}
	if v.order != "" {
		b.WriteString(" ORDER BY " + v.order)
	}
	return &local{sql: b.String()}
}

// quotePattern spells a LIKE pattern, whose backslashes are the pattern's own.
func quotePattern(s string) string { return quoteText(s) }

// from builds a view's inner query: pairs of an expression and its name.
func fromTable(table, where string, pairs ...string) (string, []string) {
	var b strings.Builder
	var cols []string
	b.WriteString("SELECT ")
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteString(", ")
		}
		expr := pairs[i]
		if !strings.Contains(expr, "(") {
			expr = quoteName(expr) // COLLATION and its like are key words
		}
		b.WriteString(expr + " AS " + quoteName(pairs[i+1]))
		cols = append(cols, pairs[i+1])
	}
	b.WriteString(" FROM " + table)
	if where != "" {
		b.WriteString(" WHERE " + where)
	}
	return b.String(), cols
}

// show serves SHOW.
func (c *conn) show(p *piece) (*local, error) {
	k, full := 1, false
	scope := ""
	for {
		switch p.word(k) {
		case "full":
			full = true
		case "extended":
		case "global", "session", "local":
			scope = p.word(k)
		default:
			return c.showSubject(p, k, full, scope == "global")
		}
		k++
	}
}

func (c *conn) showSubject(p *piece, k int, full, global bool) (*local, error) {
	simple := func(k int, order, like, table, where string, pairs ...string) (*local, error) {
		t, err := c.tail(p, k)
		if err != nil {
			return nil, err
		}
		v := view{order: order, like: like}
		v.inner, v.cols = fromTable(table, where, pairs...)
		return v.sql(t), nil
	}
	empty := func(names ...string) (*local, error) { return &local{names: names, rows: [][]any{}}, nil }
	switch p.word(k) {
	case "databases", "schemas":
		return c.showDatabases(p, k+1)
	case "tables":
		return c.showTables(p, k+1, full)
	case "columns", "fields":
		t, err := c.tail(p, k+1)
		if err != nil {
			return nil, err
		}
		return c.showColumns(t, full)
	case "index", "indexes", "keys":
		return c.showIndex(p, k+1)
	case "create":
		return c.showCreate(p, k+1)
	case "table":
		if p.word(k+1) == "status" {
			return c.showTableStatus(p, k+2)
		}
	case "open":
		if p.word(k+1) == "tables" {
			return empty("Database", "Table", "In_use", "Name_locked")
		}
	case "variables", "status":
		table := "performance_schema.session_" + p.word(k)
		if global {
			table = "performance_schema.global_" + p.word(k)
		}
		return simple(k+1, "Variable_name", "Variable_name", table, "", "VARIABLE_NAME", "Variable_name", "VARIABLE_VALUE", "Value")
	case "warnings", "errors":
		return c.showWarnings(p, k+1, p.word(k) == "errors")
	case "count":
		if k+4 < len(p.toks) && (p.word(k+4) == "warnings" || p.word(k+4) == "errors") {
			return &local{keepWarnings: true, sql: "SELECT @@session." + strings.TrimSuffix(p.word(k+4), "s") + "_count AS `@@session." + strings.TrimSuffix(p.word(k+4), "s") + "_count`"}, nil
		}
	case "processlist":
		info := "LEFT(INFO, 100)"
		if full {
			info = "INFO"
		}
		return simple(k+1, "Id", "User", "information_schema.PROCESSLIST", "", "ID", "Id", "USER", "User", "HOST", "Host", "DB", "db",
			"COMMAND", "Command", "TIME", "Time", "STATE", "State", info, "Info")
	case "grants":
		return c.showGrants(), nil
	case "engines":
		return c.showEngines(p, k+1)
	case "storage":
		if p.word(k+1) == "engines" {
			return c.showEngines(p, k+2)
		}
	case "collation":
		return simple(k+1, "Collation", "Collation", "information_schema.COLLATIONS", "", "COLLATION_NAME", "Collation", "CHARACTER_SET_NAME", "Charset",
			"ID", "Id", "IS_DEFAULT", "Default", "IS_COMPILED", "Compiled", "SORTLEN", "Sortlen", "PAD_ATTRIBUTE", "Pad_attribute")
	case "charset", "character", "char":
		n := k + 1
		if p.word(k) != "charset" {
			if p.word(n) != "set" {
				break
			}
			n++
		}
		return simple(n, "Charset", "Charset", "information_schema.CHARACTER_SETS", "", "CHARACTER_SET_NAME", "Charset", "DESCRIPTION", "Description",
			"DEFAULT_COLLATE_NAME", "Default collation", "MAXLEN", "Maxlen")
	case "plugins":
		return simple(k+1, "Name", "Name", "information_schema.PLUGINS", "", "PLUGIN_NAME", "Name", "PLUGIN_STATUS", "Status", "PLUGIN_TYPE", "Type",
			"PLUGIN_LIBRARY", "Library", "PLUGIN_LICENSE", "License")
	case "privileges":
		return c.showPrivileges(), nil
	case "triggers":
		return c.showInDatabase(p, k+1, "information_schema.TRIGGERS", "TRIGGER_SCHEMA", "Trigger", "TRIGGER_NAME", "Trigger", "EVENT_MANIPULATION", "Event",
			"EVENT_OBJECT_TABLE", "Table", "ACTION_STATEMENT", "Statement", "ACTION_TIMING", "Timing", "CREATED", "Created", "SQL_MODE", "sql_mode",
			"DEFINER", "Definer", "CHARACTER_SET_CLIENT", "character_set_client", "COLLATION_CONNECTION", "collation_connection",
			"DATABASE_COLLATION", "Database Collation")
	case "events":
		return c.showInDatabase(p, k+1, "information_schema.EVENTS", "EVENT_SCHEMA", "Name", "EVENT_SCHEMA", "Db", "EVENT_NAME", "Name", "DEFINER", "Definer",
			"TIME_ZONE", "Time zone", "EVENT_TYPE", "Type", "EXECUTE_AT", "Execute at", "INTERVAL_VALUE", "Interval value", "INTERVAL_FIELD", "Interval field",
			"STARTS", "Starts", "ENDS", "Ends", "STATUS", "Status", "ORIGINATOR", "Originator", "CHARACTER_SET_CLIENT", "character_set_client",
			"COLLATION_CONNECTION", "collation_connection", "DATABASE_COLLATION", "Database Collation")
	case "function", "procedure":
		if p.word(k+1) == "status" {
			return simple(k+2, "Db, Name", "Name", "information_schema.ROUTINES", "ROUTINE_TYPE = '"+strings.ToUpper(p.word(k))+"'",
				"ROUTINE_SCHEMA", "Db", "ROUTINE_NAME", "Name", "ROUTINE_TYPE", "Type", "DEFINER", "Definer", "LAST_ALTERED", "Modified", "CREATED", "Created",
				"SECURITY_TYPE", "Security_type", "ROUTINE_COMMENT", "Comment", "CHARACTER_SET_CLIENT", "character_set_client",
				"COLLATION_CONNECTION", "collation_connection", "DATABASE_COLLATION", "Database Collation")
		}
		return nil, wireError(1305, "42000", "%s does not exist", strings.ToUpper(p.word(k)))
	case "engine":
		return empty("Type", "Name", "Status")
	case "profiles":
		return empty("Query_ID", "Duration", "Query")
	case "profile":
		return empty("Status", "Duration")
	case "master", "binary":
		if p.word(k+1) == "status" || p.words(k+1, "log", "status") {
			return empty("File", "Position", "Binlog_Do_DB", "Binlog_Ignore_DB", "Executed_Gtid_Set")
		}
		return empty("Log_name", "File_size", "Encrypted")
	case "replica", "slave":
		return empty("Replica_IO_State", "Source_Host")
	case "replicas":
		return empty("Server_Id", "Host", "Port", "Source_Id", "Replica_UUID")
	case "binlog", "relaylog":
		return empty("Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info")
	}
	pos := len(p.text)
	if k < len(p.toks) {
		pos = p.toks[k].pos
	}
	return nil, nearError(p.text, pos)
}

func (c *conn) showDatabases(p *piece, k int) (*local, error) {
	t, err := c.tail(p, k)
	if err != nil {
		return nil, err
	}
	name := "Database"
	if t.like != nil {
		name += " (" + *t.like + ")"
	}
	v := view{order: quoteName(name), like: name}
	v.inner, v.cols = fromTable("information_schema.SCHEMATA", "", "SCHEMA_NAME", name)
	return v.sql(t), nil
}

func (c *conn) showTables(p *piece, k int, full bool) (*local, error) {
	t, err := c.tail(p, k)
	if err != nil {
		return nil, err
	}
	db, err := c.knownDatabase(joined(t.in, t.from))
	if err != nil {
		return nil, err
	}
	name := "Tables_in_" + db
	if t.like != nil {
		name += " (" + *t.like + ")"
	}
	v := view{order: quoteName(name), like: name}
	pairs := []string{"TABLE_NAME", name}
	if full {
		pairs = append(pairs, "TABLE_TYPE", "Table_type")
	}
	v.inner, v.cols = fromTable("information_schema.TABLES", "TABLE_SCHEMA = "+quoteText(db), pairs...)
	return v.sql(t), nil
}

func joined(a, b string) string {
	if a != "" {
		return a + "." + b
	}
	return b
}

// knownDatabase is database, which must exist.
func (c *conn) knownDatabase(named string) (string, error) {
	db, err := c.database(named)
	if err != nil {
		return "", err
	}
	rows, err := c.texts("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = " + quoteText(db))
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", wireError(1049, "42000", "Unknown database '%s'", db)
	}
	return rows[0][0], nil
}

// knownTable finds the table that a statement names; 1146 where there is none.
func (c *conn) knownTable(named, table string) (string, error) {
	db, err := c.database(named)
	if err != nil {
		return "", err
	}
	ok, err := c.exists(db, table)
	if err == nil && !ok {
		err = wireError(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
	}
	return db, err
}

func (c *conn) exists(db, table string) (bool, error) {
	rows, err := c.texts("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = " + quoteText(db) + " AND TABLE_NAME = " + quoteText(table))
	return len(rows) > 0, err
}

func (c *conn) showColumns(t tail, full bool) (*local, error) {
	if t.from == "" {
		return nil, wireError(1064, "42000", "You have an error in your SQL syntax; SHOW COLUMNS needs FROM and a table")
	}
	db, err := c.knownTable(t.in, t.from)
	if err != nil {
		return nil, err
	}
	pairs := []string{"COLUMN_NAME", "Field", "COLUMN_TYPE", "Type"}
	if full {
		pairs = append(pairs, "COLLATION_NAME", "Collation")
	}
	pairs = append(pairs, "IS_NULLABLE", "Null", "COLUMN_KEY", "Key", "COLUMN_DEFAULT", "Default", "EXTRA", "Extra")
	if full {
		pairs = append(pairs, "PRIVILEGES", "Privileges", "COLUMN_COMMENT", "Comment")
	}
	v := view{order: "ordinal_shown", like: "Field"}
	where := "TABLE_SCHEMA = " + quoteText(db) + " AND TABLE_NAME = " + quoteText(t.from)
	v.inner, v.cols = fromTable("information_schema.COLUMNS", where, append(pairs, "ORDINAL_POSITION", "ordinal_shown")...)
	v.cols = v.cols[:len(v.cols)-1]
	return v.sql(t), nil
}

func (c *conn) showIndex(p *piece, k int) (*local, error) {
	t, err := c.tail(p, k)
	if err != nil {
		return nil, err
	}
	db, err := c.knownTable(t.in, t.from)
	if err != nil {
		return nil, err
	}
	v := view{order: "Key_name, Seq_in_index", like: "Key_name"}
	v.inner, v.cols = fromTable("information_schema.STATISTICS", "TABLE_SCHEMA = "+quoteText(db)+" AND TABLE_NAME = "+quoteText(t.from),
		"TABLE_NAME", "Table", "NON_UNIQUE", "Non_unique", "INDEX_NAME", "Key_name", "SEQ_IN_INDEX", "Seq_in_index", "COLUMN_NAME", "Column_name",
		"COLLATION", "Collation", "CARDINALITY", "Cardinality", "SUB_PART", "Sub_part", "PACKED", "Packed", "NULLABLE", "Null", "INDEX_TYPE", "Index_type",
		"COMMENT", "Comment", "INDEX_COMMENT", "Index_comment", "IS_VISIBLE", "Visible", "EXPRESSION", "Expression")
	return v.sql(t), nil
}

func (c *conn) showTableStatus(p *piece, k int) (*local, error) {
	return c.showInDatabase(p, k, "information_schema.TABLES", "TABLE_SCHEMA", "Name",
		"TABLE_NAME", "Name", "ENGINE", "Engine", "VERSION", "Version", "ROW_FORMAT", "Row_format", "TABLE_ROWS", "Rows", "AVG_ROW_LENGTH", "Avg_row_length",
		"DATA_LENGTH", "Data_length", "MAX_DATA_LENGTH", "Max_data_length", "INDEX_LENGTH", "Index_length", "DATA_FREE", "Data_free",
		"AUTO_INCREMENT", "Auto_increment", "CREATE_TIME", "Create_time", "UPDATE_TIME", "Update_time", "CHECK_TIME", "Check_time",
		"TABLE_COLLATION", "Collation", "CHECKSUM", "Checksum", "CREATE_OPTIONS", "Create_options", "TABLE_COMMENT", "Comment")
}

// showInDatabase is a view of what one database holds.
func (c *conn) showInDatabase(p *piece, k int, table, dbColumn, like string, pairs ...string) (*local, error) {
	t, err := c.tail(p, k)
	if err != nil {
		return nil, err
	}
	db, err := c.knownDatabase(joined(t.in, t.from))
	if err != nil {
		return nil, err
	}
	v := view{order: quoteName(like), like: like}
	v.inner, v.cols = fromTable(table, dbColumn+" = "+quoteText(db), pairs...)
	return v.sql(t), nil
}

func (c *conn) showEngines(p *piece, k int) (*local, error) {
	t, err := c.tail(p, k)
	if err != nil {
		return nil, err
	}
	v := view{order: "Engine", like: "Engine"}
	v.inner, v.cols = fromTable("information_schema.ENGINES", "", "ENGINE", "Engine", "SUPPORT", "Support", "COMMENT", "Comment",
		"TRANSACTIONS", "Transactions", "XA", "XA", "SAVEPOINTS", "Savepoints")
	return v.sql(t), nil
}

func (c *conn) showWarnings(p *piece, k int, errors bool) (*local, error) {
	offset, count := 0, len(c.warnings)
	if p.word(k) == "limit" {
		var a, b int
		switch rest := strings.ReplaceAll(p.from(k+1), " ", ""); {
		case strings.Contains(rest, ","):
			if _, err := fmt.Sscanf(rest, "%d,%d", &a, &b); err != nil {
				return nil, nearError(p.text, p.toks[k].pos)
			}
		default:
			if _, err := fmt.Sscanf(rest, "%d", &b); err != nil {
				return nil, nearError(p.text, p.toks[k].pos)
			}
		}
		offset, count = max(a, 0), max(b, 0)
	} else if k != len(p.toks) {
		return nil, nearError(p.text, p.toks[k].pos)
	}
	l := &local{names: []string{"Level", "Code", "Message"}, rows: [][]any{}, keepWarnings: true}
	for _, w := range c.warnings {
		if errors && w.level != "Error" {
			continue
		}
		if offset > 0 {
			offset--
			continue
		}
		if len(l.rows) < count {
			l.rows = append(l.rows, []any{w.level, int64(w.number), w.text})
		}
	}
	return l, nil
}

func (c *conn) showGrants() *local {
	who := fmt.Sprintf("`%s`@`%%`", strings.ReplaceAll(c.user, "`", "``"))
	return &local{names: []string{"Grants for " + c.user + "@%"}, rows: [][]any{
		{"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, PROCESS, SHOW DATABASES, CREATE VIEW, SHOW VIEW, EXECUTE ON *.* TO " + who}}}
}

func (c *conn) showPrivileges() *local {
	l := &local{names: []string{"Privilege", "Context", "Comment"}}
	for _, r := range [][3]string{
		{"Alter", "Tables", "To alter the table"}, {"Create", "Databases,Tables,Indexes", "To create new databases and tables"},
		{"Create view", "Tables", "To create new views"}, {"Delete", "Tables", "To delete existing rows"},
		{"Drop", "Databases,Tables", "To drop databases, tables, and views"}, {"Execute", "Functions,Procedures", "To execute stored routines"},
		{"Insert", "Tables", "To insert data into tables"}, {"Process", "Server Admin", "To view the plain text of currently executing queries"},
		{"Select", "Tables", "To retrieve rows from table"}, {"Show databases", "Server Admin", "To see all databases with SHOW DATABASES"},
		{"Show view", "Tables", "To see views with SHOW CREATE VIEW"}, {"Update", "Tables", "To update existing rows"},
	} {
		l.rows = append(l.rows, []any{r[0], r[1], r[2]})
	}
	return l
}

// describeTable serves DESCRIBE t, DESC t and EXPLAIN t; nil: it explains a statement.
func (c *conn) describeTable(p *piece) (*local, error) {
	switch p.word(1) {
	case "select", "insert", "update", "delete", "replace", "with", "analyze", "format", "extended", "partitions", "verbose", "table", "values",
		"merge", "for", "create":
		if len(p.toks) > 2 {
			return nil, nil
		}
	}
	if len(p.toks) < 2 || !p.toks[1].isName() {
		return nil, nil
	}
	db, table, k, err := c.tableName(p, 1)
	if err != nil {
		return nil, err
	}
	t := tail{from: table, in: db}
	if k < len(p.toks) {
		if k+1 != len(p.toks) || !p.toks[k].isName() && p.toks[k].kind != tokString {
			return nil, nil
		}
		t.like = &p.toks[k].value
	}
	return c.showColumns(t, false)
}
