package bind

// This file binds MySQL's defaults that name other columns: DEFAULT (a + 1). A row that is given no
// value is computed of what it has by then; so the default may name generated columns and others of
// its kind only if they stand before it.

import (
	"fmt"
	"reflect"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// namesColumn tells whether a default names one of the columns. Only MySQL's may.
func (b *binder) namesColumn(e ast.Expr, has func(name string) bool) bool {
	found := false
	if e != nil && b.d.HoldMode != nil {
		walkIdents(reflect.ValueOf(e), func(id *ast.Ident) { found = found || has(id.Parts[len(id.Parts)-1]) })
	}
	return found
}

// rowDefault binds the default of the column fields[at] as it is declared, over the columns of its
// table, and gives it with them by their places.
func (b *binder) rowDefault(table string, fields []lake.Field, at int, e ast.Expr, sql string, from int) *lake.Generated {
	lv, _ := b.rowLevel(table, fields)
	lv.kind = inConstant
	x := b.expr(lv, e)
	if plan.HasSubquery(x) {
		b.fail(sqlerr.FeatureNotSupported, b.posOf(x), "cannot use subquery in DEFAULT expression")
	}
	text, named := b.placedText(fields, e, sql, from, func(i int) string { return fmt.Sprintf("#%d", i) })
	for _, i := range named {
		f := &fields[i]
		switch {
		case f.Numbering != nil:
			b.failWith(sqlerr.New(sqlerr.InvalidObjectDefinition, "Default value expression of column '%s' cannot refer to an auto-increment column.", fields[at].Name).WithNumber(3774).At(leftmost(e)))
		case i == at || i > at && (f.Generated != nil || f.RowDefault != nil):
			b.failWith(sqlerr.New(sqlerr.InvalidObjectDefinition, "Default value expression of column '%s' cannot refer to a column defined after it if that column is a generated column or has an expression as default value.", fields[at].Name).WithNumber(3771).At(leftmost(e)))
		}
	}
	b.assign(x, &fields[at])
	return &lake.Generated{SQL: text}
}

// tableRowDefaults binds the defaults of CREATE TABLE that name columns, which stand from first on.
func (b *binder) tableRowDefaults(s *ast.CreateTable, c *CreateTable, fields []lake.Field, first int) {
	for i := range s.Columns {
		if b.rowDefaults[&s.Columns[i]] {
			fields[first+i].RowDefault = &lake.Generated{}
		}
	}
	for i := range s.Columns {
		if d := &s.Columns[i]; b.rowDefaults[d] {
			c.Columns[i].RowDefault = b.rowDefault(s.Name.Parts[len(s.Name.Parts)-1], fields, first+i, d.Default, d.DefaultSQL, d.DefaultFrom)
		}
	}
}

// keptRowDefault is the default of field i over columns, one for each of the table's fields.
func (b *binder) keptRowDefault(rel *Relation, i int) plan.Generated {
	fields := rel.TableSchema.Fields
	f := &fields[i]
	e, d := b.keptColumns(f.RowDefault.SQL, fields, f.RowDefault.Expand)
	if e == nil {
		b.fail(sqlerr.DataCorrupted, -1, "the default of column \"%s\" cannot be read: %s", f.Name, f.RowDefault.SQL)
	}
	outer := b.d
	b.d = d
	b.inView++
	lv, cols := b.rowLevel(rel.Name, fields)
	lv.kind = inConstant
	x := b.assign(b.expr(lv, e), f)
	b.inView--
	b.d = outer
	return plan.Generated{Field: i, Expr: x, Cols: cols}
}

// withRowDefaults puts defaults that name other columns on rows: where the statement gives the column
// nothing, or where isDefault, a column of n behind the row's own, says so.
func (b *binder) withRowDefaults(rel *Relation, n plan.Node, given []bool, isDefault map[int]plan.Column) plan.Node {
	fields := rel.TableSchema.Fields
	for i := range fields {
		flag, some := isDefault[i]
		if fields[i].RowDefault == nil || given[i] && !some {
			continue
		}
		rows := n.Columns()
		x := b.keptRowDefault(rel, i).Over(rows)
		if given[i] {
			x = &plan.Case{Typ: fields[i].Type, Whens: []plan.When{{Cond: plan.ColOf(flag), Then: x}}, Else: plan.ColOf(rows[i])}
		}
		c := b.newColumn(rows[i].Name, rows[i].Type)
		c.TableOID, c.Attnum = rows[i].TableOID, rows[i].Attnum
		p := &plan.Project{Input: n, Exprs: passing(rows)}
		p.Exprs[i] = plan.Named{Col: c, Expr: x}
		n = p
	}
	if len(isDefault) > 0 {
		n = &plan.Project{Input: n, Exprs: passing(n.Columns()[:len(fields)])}
	}
	return n
}

// inlineRowDefaults gives the values of a row, where they are nil, their defaults that name other
// columns.
func (b *binder) inlineRowDefaults(rel *Relation, values []plan.Expr, missing []bool) {
	for i := range values {
		if missing[i] {
			values[i] = b.rowDefaultOf(rel, i, values)
		}
	}
}

// rowDefaultOf is the default of field i in a row of values.
func (b *binder) rowDefaultOf(rel *Relation, i int, values []plan.Expr) plan.Expr {
	d := b.keptRowDefault(rel, i)
	return plan.MapExpr(d.Expr, func(y plan.Expr) plan.Expr {
		c, ok := y.(*plan.Col)
		if !ok {
			return y
		}
		for k := range d.Cols {
			if d.Cols[k].ID != c.ID {
				continue
			}
			if plan.IsVolatile(values[k]) {
				b.fail(sqlerr.FeatureNotSupported, -1, "the default of column \"%s\" reads column \"%s\", whose value is another one for each read", rel.TableSchema.Fields[i].Name, rel.TableSchema.Fields[k].Name)
			}
			return values[k]
		}
		return y
	})
}

// names tells whether a default names one of the table's columns.
func (a *altered) names(e ast.Expr) bool {
	return a.b.namesColumn(e, func(name string) bool { return hasField(a.b.d, a.fields, name) })
}

// alterRowDefault binds a default of ALTER TABLE that names columns, and the names of the columns that it
// knows by their places.
func (b *binder) alterRowDefault(schema *altered, at int, e ast.Expr, sql string, from int) (*lake.Generated, []string) {
	var names []string
	for i := range schema.fields {
		names = append(names, schema.fields[i].Name)
	}
	d := b.rowDefault(schema.rel.Name, schema.fields, at, e, sql, from)
	schema.fields[at].RowDefault = d
	return d, names
}
