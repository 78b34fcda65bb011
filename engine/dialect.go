package engine

import (
	"context"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/sqlfront/mysql"
	"github.com/lhsql/lhsql/sqlfront/pg"
)

// dialect is how a session's text is read.
type dialect struct {
	parse func(string) ([]ast.Parsed, error)
	// check finds, in little memory, what makes parse refuse a text of whatever size; nil: none.
	check func(string) error
	bind  *bind.Dialect
	// names gives the session its way with names.
	names func(*Session) names
	// blocksFail: a failed statement fails the transaction block that it stands in. Otherwise
	// only the statement fails: nothing of it was staged, and the block goes on.
	blocksFail bool
}

// names is how a dialect's names lead to the lakehouse's catalogs, namespaces and tables, and back.
type names interface {
	// relation finds what parts name; x is what the name says beyond it.
	relation(ctx context.Context, ref bind.TableRef, parts []string, x suffix) (*bind.Relation, error)
	// made splits the name of a table or view that is to be made.
	made(ctx context.Context, parts []string) (lake.Name, error)
	// schema splits the name of a schema.
	schema(ctx context.Context, parts []string) (catalog, namespace string)
	// database is the session's database.
	database() string
	quote(name string) string
	// split takes a dotted name apart that is a text, quoted as in a statement.
	split(text string) (parts []string, ok bool)
	// systemTable finds a table of the dialect's own catalogs.
	systemTable(ctx context.Context, catalog, schema, table string) (*syscat.Virtual, bool)
	// view keeps a view's text as the dialect's, with what its unqualified names lead to.
	view(ctx context.Context, spec *lake.ViewSpec, sql string)
}

// dialectFor finds a dialect by SessionOptions.Dialect.
func (e *Engine) dialectFor(name string) (*dialect, error) {
	switch name {
	case "", "pg":
		return &dialect{parse: pg.Parse, check: pg.CheckDepth, bind: bind.PostgreSQL,
			names: func(s *Session) names { return pgNames{s} }, blocksFail: true}, nil
	case "mysql":
		check := func(text string) error { return mysql.CheckDepth(text, mysql.Mode{}) }
		return &dialect{parse: mysql.Parse, check: check, bind: bind.MySQL, names: func(s *Session) names { return mysqlNames{s} }}, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, "there is no SQL dialect %q", name)
}

// viewDialect gives what reads the text of a view that was made in the named dialect.
func viewDialect(name string) (func(string) ([]ast.Parsed, error), *bind.Dialect) {
	if name == "mysql" {
		return mysql.Parse, bind.MySQL
	}
	return pg.Parse, bind.PostgreSQL
}

// dialectOfView tells MySQL's views, which have a text of that dialect only.
func dialectOfView(texts map[string]string) string {
	for _, d := range []string{"lhsql", "postgres", "postgresql", "duckdb", "trino", "spark"} {
		if _, ok := texts[d]; ok {
			return ""
		}
	}
	if _, ok := texts["mysql"]; ok {
		return "mysql"
	}
	return ""
}
