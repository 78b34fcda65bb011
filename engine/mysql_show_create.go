package engine

import (
	"context"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// quoteText spells a string in the MySQL dialect.
func quoteText(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`).Replace(s) + "'"
}

func items(names ...string) []ast.Item {
	out := make([]ast.Item, len(names))
	for i, n := range names {
		out[i] = ast.Item{Expr: column(n)}
	}
	return out
}

// texts runs a query of the session's own and gives its rows as text; NULL is "".
func (m *MySQL) texts(ctx context.Context, q *ast.Query) ([][]string, error) {
	cols, rows, err := m.s.rowsOf(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = make([]string, len(r))
		for j, d := range r {
			if !d.IsNull() {
				out[i][j] = m.textOf(userVariable{d, cols[j].Type})
			}
		}
	}
	return out, nil
}

// knownDatabase is the database that a statement names, or the session's; it must exist.
func (m *MySQL) knownDatabase(ctx context.Context, parts []string) (string, error) {
	db := strings.Join(parts, ".")
	if db == "" {
		if db = m.s.current; db == "" {
			return "", errNoDatabase
		}
	}
	rows, err := m.texts(ctx, selectFrom("SCHEMATA", equal("SCHEMA_NAME", db), items("SCHEMA_NAME")...))
	if err != nil {
		return "", err
	}
	if len(rows) == 0 {
		return "", mysqlError(1049, "42000", "Unknown database '%s'", db)
	}
	return rows[0][0], nil
}

// knownTable is the table that a statement names; 1146 where there is none.
func (m *MySQL) knownTable(ctx context.Context, parts []string) (db, table string, err error) {
	if len(parts) == 0 {
		return "", "", mysqlError(1064, "42000", "You have an error in your SQL syntax; FROM and a table are missing")
	}
	db, table = strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
	if db == "" {
		if db = m.s.current; db == "" {
			return "", "", errNoDatabase
		}
	}
	ok, err := m.exists(ctx, db, table)
	if err == nil && !ok {
		err = mysqlError(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
	}
	return db, table, err
}

func (m *MySQL) exists(ctx context.Context, db, table string) (bool, error) {
	rows, err := m.texts(ctx, selectFrom("TABLES", equal("TABLE_SCHEMA", db, "TABLE_NAME", table), items("TABLE_NAME")...))
	return len(rows) > 0, err
}

// showCreate is SHOW CREATE TABLE, VIEW and DATABASE.
func (m *MySQL) showCreate(ctx context.Context, n *ast.ShowInfo) (*shown, error) {
	if n.What == "create database" {
		name, err := m.knownDatabase(ctx, n.Object.Parts)
		if err != nil {
			return nil, err
		}
		return &shown{names: []string{"Database", "Create Database"}, rows: texts([]string{name,
			"CREATE DATABASE " + quote(name) + " /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */"})}, nil
	}
	db, table, err := m.knownTable(ctx, n.Object.Parts)
	if err != nil {
		return nil, err
	}
	return m.createOf(ctx, db, table, n.What == "create view")
}

func quote(name string) string { return mysqlNames{}.quote(name) }

func (m *MySQL) createOf(ctx context.Context, db, table string, mustView bool) (*shown, error) {
	where := equal("TABLE_SCHEMA", db, "TABLE_NAME", table)
	info, err := m.texts(ctx, selectFrom("TABLES", where, items("TABLE_TYPE", "TABLE_COMMENT", "ENGINE")...))
	if err != nil {
		return nil, err
	}
	if len(info) == 0 {
		return nil, mysqlError(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
	}
	if info[0][0] == "VIEW" {
		v, err := m.texts(ctx, selectFrom("VIEWS", where, items("VIEW_DEFINITION")...))
		if err != nil {
			return nil, err
		}
		if len(v) == 0 {
			return nil, mysqlError(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
		}
		return &shown{names: []string{"View", "Create View", "character_set_client", "collation_connection"},
			rows: texts([]string{table, "CREATE VIEW " + quote(table) + " AS " + v[0][0], "utf8mb4", "utf8mb4_0900_ai_ci"})}, nil
	}
	if mustView {
		return nil, mysqlError(1347, "HY000", "'%s.%s' is not VIEW", db, table)
	}
	q := selectFrom("COLUMNS", where, append(items("COLUMN_NAME", "COLUMN_TYPE", "IS_NULLABLE", "COLUMN_KEY", "COLUMN_DEFAULT", "COLUMN_COMMENT"),
		ast.Item{Expr: &ast.IsNull{X: column("COLUMN_DEFAULT")}}, ast.Item{Expr: column("DATA_TYPE")}, ast.Item{Expr: column("COLLATION_NAME")}, ast.Item{Expr: column("EXTRA")}, ast.Item{Expr: column("GENERATION_EXPRESSION")})...)
	q.OrderBy = []ast.Order{{Expr: column("ORDINAL_POSITION")}}
	cols, err := m.texts(ctx, q)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString("CREATE TABLE " + quote(table) + " (\n")
	for i, col := range cols {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  " + quote(col[0]) + " " + col[1])
		if c := col[8]; c != "" && c != "utf8mb4_0900_ai_ci" {
			b.WriteString(" CHARACTER SET utf8mb4 COLLATE " + c)
		}
		if col[10] != "" {
			b.WriteString(" GENERATED ALWAYS AS " + col[10] + " " + strings.TrimSuffix(col[9], " GENERATED"))
		}
		if col[7] == "timestamp" && col[2] == "YES" {
			b.WriteString(" NULL")
		}
		if col[2] == "NO" {
			b.WriteString(" NOT NULL")
		}
		if col[6] == "0" {
			b.WriteString(" DEFAULT " + shownDefault(col[4], col[7], strings.Contains(col[9], "DEFAULT_GENERATED")))
		} else if col[2] == "YES" && col[10] == "" {
			b.WriteString(" DEFAULT NULL")
		}
		if _, on, ok := strings.Cut(col[9], "on update "); ok {
			b.WriteString(" ON UPDATE " + on)
		}
		if col[9] == "auto_increment" {
			b.WriteString(" AUTO_INCREMENT")
		}
		if col[5] != "" {
			b.WriteString(" COMMENT " + quoteText(col[5]))
		}
	}
	if rel, err := (relations{m.s}).Relation(ctx, bind.TableRef{Parts: []string{db, table}}); err == nil && rel.Table != nil {
		for _, k := range describeKeys(rel.Table) {
			names := make([]string, len(k.Columns))
			for i, c := range k.Columns {
				if names[i] = quote(rel.Table.Schema().Fields[c].Name); k.Prefix(i) > 0 {
					names[i] += "(" + strconv.Itoa(k.Prefix(i)) + ")"
				}
			}
			if k.Primary {
				b.WriteString(",\n  PRIMARY KEY (" + strings.Join(names, ",") + ")")
			} else {
				b.WriteString(",\n  UNIQUE KEY " + quote(k.Name) + " (" + strings.Join(names, ",") + ")")
			}
			switch {
			case k.Identifier:
				b.WriteString(" /* identifier fields, not enforced */")
			case k.NotEnforced:
				b.WriteString(" NOT ENFORCED")
			}
		}
		d := m.s.describe(ctx, rel.Table)
		for _, k := range d.Foreign {
			if k.Schema == rel.Schema {
				k.Schema = ""
			}
			b.WriteString(",\n  " + k.MySQLDefinition(d, quote))
		}
		for _, c := range describeChecks(rel.Table) {
			b.WriteString(",\n  CONSTRAINT " + quote(c.Name) + " CHECK (" + c.SQL + ")")
			if c.NotEnforced {
				b.WriteString(" NOT ENFORCED")
			}
		}
	}
	b.WriteString("\n) ENGINE=" + info[0][2] + " DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci")
	if info[0][1] != "" {
		b.WriteString(" COMMENT=" + quoteText(info[0][1]))
	}
	part, err := m.texts(ctx, selectFrom("PARTITIONS", where, items("PARTITION_COMMENT")...))
	if err != nil {
		return nil, err
	}
	if len(part) > 0 && part[0][0] != "" {
		b.WriteString("\n/* PARTITIONED BY (" + strings.ReplaceAll(part[0][0], "*/", "* /") + ") */")
	}
	return &shown{names: []string{"Table", "Create Table"}, rows: texts([]string{table, b.String()})}, nil
}

// shownDefault spells a default as SHOW CREATE TABLE does: the present time as it is, other
// expressions in brackets.
func shownDefault(def, dataType string, expression bool) string {
	switch {
	case expression && (strings.HasPrefix(strings.ToUpper(def), "CURRENT_TIMESTAMP") || strings.HasPrefix(def, "(")):
		return def
	case expression:
		return "(" + def + ")"
	case dataType == "bit":
		if n, err := strconv.ParseUint(def, 10, 64); err == nil {
			return "b'" + strconv.FormatUint(n, 2) + "'"
		}
		return def
	case numeric(dataType):
		return def
	}
	return quoteText(def)
}

func numeric(dataType string) bool {
	switch dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "year", "bit", "decimal", "float", "double":
		return true
	}
	return false
}

// FieldList prepares a query of a table's columns, and tells which of them a pattern names (LIKE);
// nil: all. It is for the command COM_FIELD_LIST.
func (m *MySQL) FieldList(ctx context.Context, table, pattern string) (*Stmt, map[string]bool, error) {
	find := &ast.ShowInfo{What: "columns", Object: ast.Name{Parts: []string{table}}, Count: -1}
	if pattern != "" {
		find.Like = &pattern
	}
	st, err := m.s.Prepare(ctx, Parsed{Stmt: find}, nil) // that there is the table
	if err != nil {
		return nil, nil, err
	}
	var keep map[string]bool
	if pattern != "" {
		keep = map[string]bool{}
		r, err := st.Execute(ctx, nil)
		if err != nil {
			return nil, nil, err
		}
		if err := r.Each(ctx, func(row []types.Datum) error { keep[row[0].Str()] = true; return nil }); err != nil {
			return nil, nil, err
		}
	}
	q := &ast.Query{Body: &ast.Select{Items: []ast.Item{{Expr: &ast.Star{}}}, From: []ast.TableExpr{&ast.TableName{Name: ast.Name{Parts: []string{table}}}}}}
	st, err = m.s.Prepare(ctx, Parsed{Stmt: &ast.QueryStmt{Query: q}}, nil)
	return st, keep, err
}
