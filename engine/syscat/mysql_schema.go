package syscat

import (
	"context"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/types"
)

func mySchemata(ctx context.Context, q *query) error {
	return q.eachDatabase(ctx, func(db MySQLDatabase, system bool) error {
		charset, collation := textCharset, textCollation
		if system && db.Name == "information_schema" {
			charset, collation = "utf8mb3", "utf8mb3_general_ci"
		}
		return q.row("CATALOG_NAME", "def", "SCHEMA_NAME", db.Name, "DEFAULT_CHARACTER_SET_NAME", charset,
			"DEFAULT_COLLATION_NAME", collation, "DEFAULT_ENCRYPTION", "NO")
	})
}

// The character set and collation that text has.
const (
	textCharset   = "utf8mb4"
	textCollation = "utf8mb4_0900_ai_ci"
)

func myTables(ctx context.Context, q *query) error {
	deep := q.needs("TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "UPDATE_TIME", "CREATE_OPTIONS", "TABLE_COMMENT")
	return q.eachRelation(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem) error {
		kind := it.kind()
		if !q.may("TABLE_TYPE", kind) {
			return nil
		}
		row := []any{"TABLE_CATALOG", "def", "TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "TABLE_TYPE", kind}
		if kind == "VIEW" {
			return q.row(append(row, "TABLE_COMMENT", "VIEW")...)
		}
		row = append(row, "VERSION", 10, "ROW_FORMAT", "Dynamic", "TABLE_COLLATION", textCollation, "INDEX_LENGTH", 0, "DATA_FREE", 0, "MAX_DATA_LENGTH", 0)
		if it.def != nil {
			return q.row(append(row, "ENGINE", "MEMORY", "TABLE_ROWS", 0, "AVG_ROW_LENGTH", 0, "DATA_LENGTH", 0, "CREATE_OPTIONS", "", "TABLE_COMMENT", "")...)
		}
		row = append(row, "ENGINE", "Iceberg")
		if !deep {
			return q.row(row...)
		}
		r, err := q.relation(ctx, it)
		if err != nil {
			return err
		}
		if r == nil {
			return q.row(append(row, "TABLE_COMMENT", "the table's metadata cannot be read")...)
		}
		if r.Rows >= 0 {
			row = append(row, "TABLE_ROWS", r.Rows, "DATA_LENGTH", r.Bytes, "AVG_ROW_LENGTH", r.Bytes/max(r.Rows, 1))
		}
		options := ""
		if r.Partition != "" {
			options = "partitioned"
		}
		return q.row(append(row, "CREATE_OPTIONS", options, "TABLE_COMMENT", r.Comment, "UPDATE_TIME", r.Updated)...)
	})
}

func myViews(ctx context.Context, q *query) error {
	return q.eachRelation(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem) error {
		if it.def != nil || !it.entry.View {
			return nil
		}
		text := ""
		if q.needs("VIEW_DEFINITION") {
			r, err := q.relation(ctx, it)
			if err != nil {
				return err
			}
			if r != nil {
				text = r.SQL
			}
		}
		return q.row("TABLE_CATALOG", "def", "TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "VIEW_DEFINITION", text,
			"CHECK_OPTION", "NONE", "IS_UPDATABLE", "NO", "DEFINER", q.mysql.User()+"@%", "SECURITY_TYPE", "INVOKER",
			"CHARACTER_SET_CLIENT", textCharset, "COLLATION_CONNECTION", textCollation)
	})
}

func myColumns(ctx context.Context, q *query) error {
	return q.eachRelation(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem) error {
		r, err := q.relation(ctx, it)
		if err != nil || r == nil {
			return err
		}
		// PRI for a column of the primary key, UNI for one that is unique alone, MUL for the first
		// one of a key of several.
		key, primary := map[int]string{}, map[int]bool{}
		for _, k := range r.Keys {
			for n, c := range k.Columns {
				switch {
				case k.Primary:
					key[c], primary[c] = "PRI", true
				case key[c] == "PRI" || n > 0 || key[c] == "UNI":
				case len(k.Columns) == 1:
					key[c] = "UNI"
				default:
					key[c] = "MUL"
				}
			}
		}
		for _, k := range r.Foreign { // which has an index there
			if c := k.Columns[0]; key[c] == "" {
				key[c] = "MUL"
			}
		}
		for i, c := range r.Columns {
			if !q.may("COLUMN_NAME", c.Name) {
				continue
			}
			t := MySQLTypeOf(c.Type)
			k := key[i]
			var def any
			if c.Default != "" {
				def = mysqlDefault(c.Default)
			}
			extra := ""
			if c.Expression {
				def, extra = c.Default, "DEFAULT_GENERATED"
			}
			if c.OnUpdate != "" {
				extra = strings.TrimSpace(extra + " on update " + c.OnUpdate)
			}
			if c.Identity != "" {
				extra = "auto_increment"
			}
			if c.Generated != "" {
				extra = map[bool]string{true: "VIRTUAL GENERATED", false: "STORED GENERATED"}[c.Virtual]
			}
			err := q.row("TABLE_CATALOG", "def", "TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "COLUMN_NAME", c.Name,
				"ORDINAL_POSITION", i+1, "COLUMN_DEFAULT", def, "IS_NULLABLE", yesNo(!c.NotNull && !primary[i]), "DATA_TYPE", t.Name,
				"CHARACTER_MAXIMUM_LENGTH", t.Length, "CHARACTER_OCTET_LENGTH", t.Octets, "NUMERIC_PRECISION", t.Precision,
				"NUMERIC_SCALE", t.Scale, "DATETIME_PRECISION", t.Fraction, "CHARACTER_SET_NAME", t.charset(), "COLLATION_NAME", t.collation(),
				"COLUMN_TYPE", t.Column, "COLUMN_KEY", k, "EXTRA", extra, "PRIVILEGES", "select,insert,update,references",
				"COLUMN_COMMENT", c.Comment, "GENERATION_EXPRESSION", c.Generated)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// mysqlDefault turns a default's SQL into the text that MySQL keeps: without quotes and casts.
func mysqlDefault(sql string) string {
	if strings.HasPrefix(sql, "'") {
		var b strings.Builder
		for i := 1; i < len(sql); i++ {
			if sql[i] == '\'' {
				if i+1 >= len(sql) || sql[i+1] != '\'' {
					break
				}
				i++
			}
			b.WriteByte(sql[i])
		}
		return b.String()
	}
	switch sql {
	case "true":
		return "1"
	case "false":
		return "0"
	}
	return sql
}

// MySQLType is a type as MySQL's information_schema describes it; a member is nil where that is
// NULL.
type MySQLType struct {
	Name, Column                               string // DATA_TYPE, COLUMN_TYPE
	Length, Octets, Precision, Scale, Fraction any
	Text                                       bool   // it has a character set
	Collation                                  string // "": the default
}

func (t MySQLType) charset() any {
	if t.Text {
		return textCharset
	}
	return nil
}

func (t MySQLType) collation() any {
	if t.Collation != "" {
		return t.Collation
	}
	if t.Text {
		return textCollation
	}
	return nil
}

// longLength is the length of LONGTEXT and LONGBLOB.
const longLength = int64(1<<32 - 1)

// MySQLTypeOf is the nearest MySQL type.
func MySQLTypeOf(t types.Type) MySQLType {
	if t.MySQL != nil {
		return declaredMySQL(t)
	}
	number := func(name string, precision int) MySQLType {
		return MySQLType{Name: name, Column: name, Precision: precision, Scale: 0}
	}
	instant := func(name string) MySQLType {
		p, ok := t.SecondDigits()
		if !ok {
			p = 6
		}
		c := MySQLType{Name: name, Column: name, Fraction: p}
		if p > 0 {
			c.Column += "(" + strconv.Itoa(p) + ")"
		}
		return c
	}
	switch t.Kind {
	case types.Bool:
		return MySQLType{Name: "tinyint", Column: "tinyint(1)", Precision: 3, Scale: 0}
	case types.Int2:
		return number("smallint", 5)
	case types.Int4:
		return number("int", 10)
	case types.Int8:
		return number("bigint", 19)
	case types.Oid, types.Xid:
		return MySQLType{Name: "int", Column: "int unsigned", Precision: 10, Scale: 0}
	case types.Float4:
		return MySQLType{Name: "float", Column: "float", Precision: 12}
	case types.Float8:
		return MySQLType{Name: "double", Column: "double", Precision: 22}
	case types.Numeric:
		p, s := 65, 30
		if t.Fixed {
			p, s = int(t.Prec), int(t.Scale)
		}
		return MySQLType{Name: "decimal", Column: "decimal(" + strconv.Itoa(p) + "," + strconv.Itoa(s) + ")", Precision: p, Scale: s}
	case types.Date:
		return MySQLType{Name: "date", Column: "date"}
	case types.Time, types.TimeTZ:
		return instant("time")
	case types.Timestamp, types.TimestampNS:
		return instant("datetime")
	case types.TimestampTZ, types.TimestampTZNS:
		return instant("timestamp")
	case types.UUID:
		return MySQLType{Name: "char", Column: "char(36)", Length: 36, Octets: 144, Text: true}
	case types.Bytea:
		if t.Prec > 0 {
			return MySQLType{Name: "binary", Column: "binary(" + strconv.Itoa(int(t.Prec)) + ")", Length: int(t.Prec), Octets: int(t.Prec)}
		}
		return MySQLType{Name: "longblob", Column: "longblob", Length: longLength, Octets: longLength}
	case types.JSON, types.JSONB, types.Variant, types.Array, types.Struct, types.Map:
		return MySQLType{Name: "json", Column: "json"}
	case types.Varchar, types.Bpchar:
		if t.Prec > 0 {
			return MySQLType{Name: "varchar", Column: "varchar(" + strconv.Itoa(int(t.Prec)) + ")", Length: int(t.Prec), Octets: int(t.Prec) * 4, Text: true}
		}
	}
	return MySQLType{Name: "longtext", Column: "longtext", Length: longLength, Octets: longLength, Text: true}
}

// declaredMySQL describes a type that was declared in MySQL's terms.
func declaredMySQL(t types.Type) MySQLType {
	m := t.MySQL
	out := MySQLType{Name: m.Name, Column: t.MySQLString(), Collation: m.Collation}
	digits := map[string]int{"tinyint": 3, "smallint": 5, "mediumint": 7, "int": 10, "bigint": 19}[m.Name]
	texts := map[string]int64{"tinytext": 255, "text": 65535, "mediumtext": 1<<24 - 1, "longtext": longLength}
	blobs := map[string]int64{"tinyblob": 255, "blob": 65535, "mediumblob": 1<<24 - 1, "longblob": longLength}
	switch {
	case digits > 0:
		if m.Name == "bigint" && m.Unsigned {
			digits = 20
		}
		out.Precision, out.Scale = digits, 0
	case m.Name == "decimal":
		out.Precision, out.Scale = int(t.Prec), int(t.Scale)
	case m.Name == "float":
		out.Precision = 12
	case m.Name == "double":
		out.Precision = 22
	case m.Name == "bit":
		out.Precision = m.Width
	case m.Name == "char", m.Name == "varchar":
		out.Text, out.Length, out.Octets = true, int(t.Prec), int(t.Prec)*4
	case texts[m.Name] > 0:
		out.Text, out.Length, out.Octets = true, texts[m.Name], texts[m.Name]
	case blobs[m.Name] > 0:
		out.Length, out.Octets = blobs[m.Name], blobs[m.Name]
	case m.Name == "binary", m.Name == "varbinary":
		out.Length, out.Octets = m.Width, m.Width
	case m.Members != nil:
		n := m.Longest()
		out.Text, out.Length, out.Octets = true, n, n*4
	}
	return out
}

func myStatistics(ctx context.Context, q *query) error {
	return q.eachKey(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem, r *Relation, k Key) error {
		comment := ""
		if k.Identifier {
			comment = "identifier fields"
		}
		for i, c := range k.Columns {
			var rows any
			if r.Rows >= 0 {
				rows = r.Rows
			}
			var part any
			if n := k.Prefix(i); n > 0 {
				part = n
			}
			null := ""
			if !r.Columns[c].NotNull && !k.Primary {
				null = "YES"
			}
			if err := q.row("TABLE_CATALOG", "def", "TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "NON_UNIQUE", 0,
				"INDEX_SCHEMA", it.db.Name, "INDEX_NAME", k.mysqlName(), "SEQ_IN_INDEX", i+1, "COLUMN_NAME", r.Columns[c].Name,
				"COLLATION", "A", "CARDINALITY", rows, "SUB_PART", part, "NULLABLE", null, "INDEX_TYPE", "BTREE", "COMMENT", "",
				"INDEX_COMMENT", comment, "IS_VISIBLE", "YES"); err != nil {
				return err
			}
		}
		return nil
	})
}

func myTableConstraints(ctx context.Context, q *query) error {
	err := q.eachRelation(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem) error {
		if it.def != nil || it.entry.View {
			return nil
		}
		r, err := q.relation(ctx, it)
		if err != nil || r == nil {
			return err
		}
		for _, c := range r.Checks {
			if err := q.row("CONSTRAINT_CATALOG", "def", "CONSTRAINT_SCHEMA", it.db.Name, "CONSTRAINT_NAME", c.Name,
				"TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "CONSTRAINT_TYPE", "CHECK", "ENFORCED", yesNo(!c.NotEnforced)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := q.myForeignConstraints(ctx); err != nil {
		return err
	}
	return q.eachKey(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem, r *Relation, k Key) error {
		return q.row("CONSTRAINT_CATALOG", "def", "CONSTRAINT_SCHEMA", it.db.Name, "CONSTRAINT_NAME", k.mysqlName(),
			"TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "CONSTRAINT_TYPE", k.what(), "ENFORCED", yesNo(!k.NotEnforced))
	})
}

func myKeyColumns(ctx context.Context, q *query) error {
	if err := q.myForeignColumns(ctx); err != nil {
		return err
	}
	return q.eachKey(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem, r *Relation, k Key) error {
		for i, c := range k.Columns {
			if err := q.row("CONSTRAINT_CATALOG", "def", "CONSTRAINT_SCHEMA", it.db.Name, "CONSTRAINT_NAME", k.mysqlName(),
				"TABLE_CATALOG", "def", "TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "COLUMN_NAME", r.Columns[c].Name,
				"ORDINAL_POSITION", i+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// myPartitions has a row for each table, as MySQL has for tables that are not partitioned:
// Iceberg's partitions are no tables of their own, and its layout shows in the comment.
func myPartitions(ctx context.Context, q *query) error {
	return q.eachRelation(ctx, "TABLE_SCHEMA", "TABLE_NAME", func(it myItem) error {
		if it.def != nil || it.entry.View {
			return nil
		}
		r, err := q.relation(ctx, it)
		if err != nil || r == nil {
			return err
		}
		return q.row("TABLE_CATALOG", "def", "TABLE_SCHEMA", it.db.Name, "TABLE_NAME", it.entry.Name, "TABLE_ROWS", max(r.Rows, 0),
			"AVG_ROW_LENGTH", r.Bytes/max(r.Rows, 1), "DATA_LENGTH", r.Bytes, "INDEX_LENGTH", 0, "DATA_FREE", 0, "UPDATE_TIME", r.Updated,
			"PARTITION_COMMENT", r.Partition)
	})
}
