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
	bind  *bind.Dialect
}

// dialectFor finds a dialect by SessionOptions.Dialect.
func (e *Engine) dialectFor(name string) (*dialect, error) {
	switch name {
	case "", "pg":
		return &dialect{parse: pg.Parse, bind: bind.PostgreSQL}, nil
	case "mysql":
		return &dialect{parse: mysql.Parse, bind: bind.MySQL}, nil
	}
	return nil, sqlerr.New(sqlerr.InvalidParameterValue, "there is no SQL dialect %q", name)
}
