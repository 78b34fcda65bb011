package engine

import "github.com/lhsql/lhsql/sqlfront/ast"

// Kind says what a statement does, as far as a wire must know to keep its protocol's rules.
type Kind uint8

const (
	OtherKind       Kind = iota
	QueryKind            // SELECT and its kin
	WriteKind            // rows are written
	DefineKind           // DDL
	TransactionKind      // BEGIN, COMMIT, SAVEPOINT …
	ExplainKind
)

// KindOf tells p's Kind.
func KindOf(p Parsed) Kind {
	switch p.Stmt.(type) {
	case *ast.QueryStmt:
		return QueryKind
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		return WriteKind
	case *ast.CreateTable, *ast.CreateView, *ast.CreateSchema, *ast.Drop, *ast.AlterTable, *ast.Comment, *ast.Truncate,
		*ast.CreateRole, *ast.AlterRole, *ast.RenameRole, *ast.DropRole, *ast.GrantRole, *ast.Grant:
		return DefineKind
	case *ast.Transaction:
		return TransactionKind
	case *ast.Explain:
		return ExplainKind
	}
	return OtherKind
}
