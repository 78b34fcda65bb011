package bind

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// MySQL's writes over joined tables: the target is one of the tables of an ordinary FROM, on
// either side of any join.
//
//	DELETE a FROM a LEFT JOIN b ON a.id = b.id WHERE b.id IS NULL
//	δ(σ b.id IS NULL ∧ there (π a.*, true → there (a) ⟕ b))
//
// The rows that an outer join makes without a row of the target write nothing; the mark tells.

// joinedWrite is a write's target among joined tables.
type joinedWrite struct {
	table *ast.TableName
	rel   *Relation

	scan    *plan.Scan
	item    *item
	address plan.RowAddress
	there   plan.Column
}

// among finds the table that is called name; nil: none is.
func (b *binder) among(tables []ast.TableExpr, name string) *ast.TableName {
	for _, t := range tableNames(tables) {
		if b.d.SameName(callName(t), name) {
			return t
		}
	}
	return nil
}

func tableNames(tables []ast.TableExpr) []*ast.TableName {
	var out []*ast.TableName
	for _, t := range tables {
		switch t := t.(type) {
		case *ast.TableName:
			out = append(out, t)
		case *ast.JoinTable:
			out = append(out, tableNames([]ast.TableExpr{t.Left, t.Right})...)
		}
	}
	return out
}

func callName(t *ast.TableName) string {
	if t.Alias.Name != "" {
		return t.Alias.Name
	}
	return t.Parts[len(t.Parts)-1]
}

// joinedFrom binds the tables with the target among them, and filters.
func (b *binder) joinedFrom(lv *level, table *ast.TableName, rel *Relation, tables []ast.TableExpr, where ast.Expr) (*joinedWrite, plan.Node) {
	w := &joinedWrite{table: table, rel: rel}
	b.joined = w
	n := b.from(tables, lv)
	b.joined = nil
	var pred plan.Expr
	if where != nil {
		lv.kind = inWhere
		pred = b.condition(lv, where, "WHERE")
	}
	if w.item.nullable {
		pred = plan.AndOf(pred, plan.ColOf(w.there))
	}
	if pred != nil {
		n = &plan.Filter{Input: n, Pred: pred}
	}
	return w, n
}

// targetAmong is the target's node among joined tables.
func (b *binder) targetAmong(w *joinedWrite, lv *level) (plan.Node, *item) {
	w.scan, w.item, w.address = b.targetScan(w.table, w.rel, lv)
	w.there = b.newColumn("there", types.T(types.Bool))
	b.own(w.there, w.item.name, lv, fromInput)
	return &plan.Project{Input: w.scan, Exprs: append(passing(w.scan.Columns()),
		plan.Named{Col: w.there, Expr: &plan.Const{Value: types.NewBool(true), Typ: types.T(types.Bool)}})}, w.item
}

// assignedTable is the one table whose columns a joined UPDATE sets, and gives the assignments without
// its name.
func (b *binder) assignedTable(tables []ast.TableExpr, set []ast.SetItem) (target *ast.TableName, out []ast.SetItem) {
	for _, s := range set {
		target, s.Column.Parts = b.tableOf(tables, s.Column)
		out = append(out, s)
	}
	return target, out
}

// tableOf is the table that a column belongs to, and the column's name without the table's.
func (b *binder) tableOf(tables []ast.TableExpr, c ast.Name) (found *ast.TableName, column []string) {
	for k := len(c.Parts) - 2; k >= 0; k-- {
		if t := b.among(tables, c.Parts[k]); t != nil {
			return t, c.Parts[k+1:]
		}
	}
	for _, t := range tableNames(tables) {
		rel, err := b.env.Catalog.Relation(b.ctx, TableRef{Parts: t.Parts, NewCol: b.newColID, SearchPath: b.searchPath()})
		if err != nil || rel.Table == nil || !hasField(b.d, rel.TableSchema.Fields, c.Parts[0]) {
			continue
		}
		if found != nil {
			b.fail(sqlerr.AmbiguousColumn, c.Pos, "column reference \"%s\" is ambiguous", c.Parts[0])
		}
		found = t
	}
	if found == nil {
		b.fail(sqlerr.UndefinedColumn, c.Pos, "column \"%s\" does not exist", c.Parts[0])
	}
	return found, c.Parts
}
