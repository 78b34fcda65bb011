package engine

import (
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// writeName is how a message calls a statement that writes (PostgreSQL's command tag).
func writeName(st ast.Stmt) string {
	switch n := st.(type) {
	case *ast.Insert:
		return "INSERT"
	case *ast.Update:
		return "UPDATE"
	case *ast.Delete:
		return "DELETE"
	case *ast.Merge:
		return "MERGE"
	case *ast.Truncate:
		return "TRUNCATE TABLE"
	case *ast.CreateSchema:
		return "CREATE SCHEMA"
	case *ast.CreateTable:
		if n.As != nil {
			return "CREATE TABLE AS"
		}
		return "CREATE TABLE"
	case *ast.CreateView:
		return "CREATE VIEW"
	case *ast.Drop:
		return "DROP " + strings.ToUpper(n.Kind)
	case *ast.AlterTable:
		if n.View {
			return "ALTER VIEW"
		}
		return "ALTER TABLE"
	case *ast.Comment:
		return "COMMENT"
	}
	return "a statement that writes"
}
