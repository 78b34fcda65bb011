package mysql

import (
	"strings"
)

// texts runs a query of the wire's own and gives its rows as text; NULL is "".
func (c *conn) texts(sql string) ([][]string, error) {
	st, err := c.prepareText(sql)
	if err != nil {
		return nil, err
	}
	cols := st.Columns()
	o := c.sess.TextOptions()
	res, err := st.Execute(c.ctx, nil)
	if err != nil {
		return nil, err
	}
	defer res.Close()
	var out [][]string
	for {
		b, err := res.Next(c.ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			return out, res.Close()
		}
		for k := range b.Len() {
			i := k
			if b.Sel != nil {
				i = int(b.Sel[k])
			}
			row := make([]string, len(cols))
			for j, v := range b.Cols {
				if d := v.Datum(i); !d.IsNull() {
					row[j] = string(textOf(d, cols[j].Type, o))
				}
			}
			out = append(out, row)
		}
	}
}

// showCreate serves SHOW CREATE TABLE, VIEW and DATABASE.
func (c *conn) showCreate(p *piece, k int) (*local, error) {
	what := p.word(k)
	switch what {
	case "database", "schema":
		if p.words(k+1, "if", "not", "exists") {
			k += 3
		}
		db, name, next, err := c.tableName(p, k+1)
		if err != nil {
			return nil, err
		}
		if next != len(p.toks) {
			return nil, nearError(p.text, p.toks[next].pos)
		}
		if name, err = c.knownDatabase(joined(db, name)); err != nil {
			return nil, err
		}
		return &local{names: []string{"Database", "Create Database"}, rows: [][]any{{name,
			"CREATE DATABASE " + quoteName(name) + " /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci */ /*!80016 DEFAULT ENCRYPTION='N' */"}}}, nil
	case "table", "view":
		named, table, next, err := c.tableName(p, k+1)
		if err != nil {
			return nil, err
		}
		if next != len(p.toks) {
			return nil, nearError(p.text, p.toks[next].pos)
		}
		db, err := c.knownTable(named, table)
		if err != nil {
			return nil, err
		}
		return c.createOf(db, table, what == "view")
	}
	return nil, wireError(1305, "42000", "SHOW CREATE %s: there is none of the name", strings.ToUpper(what))
}

func (c *conn) createOf(db, table string, mustView bool) (*local, error) {
	where := " WHERE TABLE_SCHEMA = " + quoteText(db) + " AND TABLE_NAME = " + quoteText(table)
	info, err := c.texts("SELECT TABLE_TYPE, TABLE_COMMENT, ENGINE FROM information_schema.TABLES" + where)
	if err != nil {
		return nil, err
	}
	if len(info) == 0 {
		return nil, wireError(1146, "42S02", "Table '%s.%s' doesn't exist", db, table)
	}
	if info[0][0] == "VIEW" {
		v, err := c.texts("SELECT VIEW_DEFINITION FROM information_schema.VIEWS" + where)
		if err != nil || len(v) == 0 {
			return nil, err
		}
		return &local{names: []string{"View", "Create View", "character_set_client", "collation_connection"},
			rows: [][]any{{table, "CREATE VIEW " + quoteName(table) + " AS " + v[0][0], "utf8mb4", "utf8mb4_0900_ai_ci"}}}, nil
	}
	if mustView {
		return nil, wireError(1347, "HY000", "'%s.%s' is not VIEW", db, table)
	}
	cols, err := c.texts("SELECT COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_KEY, COLUMN_DEFAULT, COLUMN_COMMENT, COLUMN_DEFAULT IS NULL, DATA_TYPE FROM information_schema.COLUMNS" + where + " ORDER BY ORDINAL_POSITION")
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	var key []string
	b.WriteString("CREATE TABLE " + quoteName(table) + " (\n")
	for i, col := range cols {
		if i > 0 {
			b.WriteString(",\n")
		}
		b.WriteString("  " + quoteName(col[0]) + " " + col[1])
		if col[2] == "NO" {
			b.WriteString(" NOT NULL")
		}
		if col[6] == "0" {
			def := col[4]
			if !numeric(col[7]) {
				def = quoteText(def)
			}
			b.WriteString(" DEFAULT " + def)
		} else if col[2] == "YES" {
			b.WriteString(" DEFAULT NULL")
		}
		if col[5] != "" {
			b.WriteString(" COMMENT " + quoteText(col[5]))
		}
		if col[3] == "PRI" {
			key = append(key, quoteName(col[0]))
		}
	}
	if len(key) > 0 {
		b.WriteString(",\n  PRIMARY KEY (" + strings.Join(key, ",") + ") /* identifier fields, not enforced */")
	}
	b.WriteString("\n) ENGINE=" + info[0][2] + " DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci")
	if info[0][1] != "" {
		b.WriteString(" COMMENT=" + quoteText(info[0][1]))
	}
	part, err := c.texts("SELECT PARTITION_COMMENT FROM information_schema.PARTITIONS" + where)
	if err != nil {
		return nil, err
	}
	if len(part) > 0 && part[0][0] != "" {
		b.WriteString("\n/* PARTITIONED BY (" + strings.ReplaceAll(part[0][0], "*/", "* /") + ") */")
	}
	return &local{names: []string{"Table", "Create Table"}, rows: [][]any{{table, b.String()}}}, nil
}

func numeric(dataType string) bool {
	switch dataType {
	case "tinyint", "smallint", "int", "bigint", "decimal", "float", "double":
		return true
	}
	return false
}

// fieldList serves COM_FIELD_LIST: the columns of a table by a pattern.
func (c *conn) fieldList(body []byte) error {
	f := &fields{b: body}
	table, pattern := f.cstring(), string(f.b)
	if f.bad {
		return wireError(1835, "HY000", "Malformed communication packet.")
	}
	db, err := c.knownTable("", table)
	if err != nil {
		return err
	}
	sql := "SELECT * FROM " + quoteName(db) + "." + quoteName(table) + " LIMIT 0"
	st, err := c.prepareText(sql)
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	if pattern != "" {
		rows, err := c.texts("SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = " + quoteText(db) + " AND TABLE_NAME = " + quoteText(table) +
			" AND COLUMN_NAME LIKE " + quotePattern(pattern))
		if err != nil {
			return err
		}
		for _, r := range rows {
			keep[r[0]] = true
		}
	}
	for _, col := range describeAll(st.Columns(), st.Origins()) {
		if pattern != "" && !keep[col.name] {
			continue
		}
		c.w.begin()
		c.definition(&col)
		c.w.byte(0xfb) // no default value
		c.w.end()
	}
	c.endRows(0)
	return nil
}
