package engine

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
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
}

// dialectFor finds a dialect by SessionOptions.Dialect.
func (e *Engine) dialectFor(name string) (*dialect, error) {
	switch name {
	case "", "pg":
		return &dialect{parse: pg.Parse, check: pg.CheckDepth, bind: bind.PostgreSQL}, nil
	case "mysql":
		return &dialect{parse: mysql.Parse, bind: bind.MySQL}, nil
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
