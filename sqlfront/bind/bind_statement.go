package bind

import (
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// statement binds any statement. Those that are not listed have nothing to resolve.
func (b *binder) statement(s ast.Stmt) *Bound {
	switch s.(type) {
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge:
		b.writes = true
	}
	switch s := s.(type) {
	case *ast.QueryStmt:
		return b.queryStmt(s.Query)
	case *ast.Explain:
		in := b.statement(s.Stmt)
		in.Stmt = s.Stmt
		return &Bound{Inner: in, Plan: in.Plan, Columns: []plan.Column{{Name: "QUERY PLAN", Type: types.T(types.Text)}}}
	case *ast.Insert:
		return b.insert(s)
	case *ast.Update:
		return b.update(s)
	case *ast.Delete:
		return b.delete(s)
	case *ast.Merge:
		return b.mergeStmt(s)
	case *ast.Truncate:
		r := &Bound{}
		for i := range s.Tables {
			r.Targets = append(r.Targets, b.target(&s.Tables[i]))
		}
		return r
	case *ast.Copy:
		return b.copy(s)
	case *ast.CreateTable:
		return b.createTable(s)
	case *ast.CreateView:
		return b.createView(s)
	case *ast.AlterTable:
		return b.alterTable(s)
	case *ast.Comment:
		return b.comment(s)
	case *ast.Procedure:
		return b.procedure(s)
	case *ast.Execute:
		r := &Bound{}
		for _, a := range s.Args {
			r.Args = append(r.Args, b.constant(nil, a, types.Type{}, inConstant))
		}
		return r
	case *ast.Declare:
		in := b.queryStmt(s.Query)
		in.Stmt = &ast.QueryStmt{Query: s.Query}
		return &Bound{Inner: in, Plan: in.Plan}
	}
	return &Bound{}
}

func (b *binder) queryStmt(q *ast.Query) *Bound {
	n, outs := b.subplan(q, nil)
	return &Bound{Plan: n, Columns: outputColumns(n, outs)}
}

// outputColumns are the node's columns under the query's names.
func outputColumns(n plan.Node, outs []output) []plan.Column {
	cols := append([]plan.Column{}, n.Columns()...)
	for i := range outs {
		cols[i].Name = outs[i].name
		if cols[i].TableOID == 0 {
			cols[i].TableOID, cols[i].Attnum = outs[i].tableOID, outs[i].attnum
		}
	}
	return cols
}

// copy binds COPY. A table's COPY TO is a query of its columns.
func (b *binder) copy(s *ast.Copy) *Bound {
	if s.Query != nil {
		in := b.queryStmt(s.Query)
		in.Stmt = &ast.QueryStmt{Query: s.Query}
		return &Bound{Inner: in, Plan: in.Plan, Copy: &Copy{Columns: in.Columns}}
	}
	if s.From {
		return b.copyFrom(s)
	}
	lv := newLevel(nil)
	n, it := b.tableName(s.Table, lv)
	if it.rel != nil && it.rel.View != nil {
		b.failWith(sqlerr.New(sqlerr.WrongObjectType, "cannot copy from view \"%s\"", it.rel.Name).
			WithHint("Try the COPY (SELECT ...) TO variant.").At(s.Table.Pos))
	}
	p := &plan.Project{Input: n}
	for _, c := range b.copyColumns(s.Columns, it, s.Table.Pos) {
		p.Exprs = append(p.Exprs, plan.Named{Col: c.col, Expr: b.col(c.col, s.Table.Pos)})
	}
	return &Bound{Plan: p, Copy: &Copy{Columns: p.Columns()}, Target: it.rel}
}

func (b *binder) copyColumns(names []string, it *item, pos int) []itemCol {
	var out []itemCol
	field := func(c itemCol) (f lake.Field) {
		if it.rel != nil && it.rel.TableSchema != nil {
			if g := it.rel.TableSchema.ByName(c.name); g != nil {
				f = *g
			}
		}
		return f
	}
	if len(names) == 0 {
		for _, c := range it.cols {
			if field(c).Generated == nil {
				out = append(out, c)
			}
		}
		return out
	}
	for _, n := range names {
		c, k := it.column(b.d, n)
		if k == 0 {
			b.fail(sqlerr.UndefinedColumn, -1, "column \"%s\" of relation \"%s\" does not exist", n, it.name)
		}
		for _, o := range out {
			if o.col.ID == c.col.ID {
				b.fail(sqlerr.DuplicateColumn, -1, "column \"%s\" specified more than once", n)
			}
		}
		b.copiesGenerated(field(c))
		out = append(out, c)
	}
	return out
}

// Copy is a bound COPY. For COPY FROM rows arrive as Columns; Plan makes the statement once
// there is a node that gives them.
type Copy struct {
	Columns []plan.Column
	insert  *plan.Insert
	where   plan.Expr
	project []plan.Named
	// computed puts on the rows of project, in turn, what is computed of them.
	computed [][]plan.Named
}

// Insert is what COPY FROM becomes, without its rows; nil for COPY TO.
func (c *Copy) Insert() *plan.Insert { return c.insert }

// Plan is the INSERT of the rows of input, whose columns are c.Columns.
func (c *Copy) Plan(input plan.Node) *plan.Insert {
	if c.where != nil {
		input = &plan.Filter{Input: input, Pred: c.where}
	}
	m := *c.insert
	m.Source = &plan.Project{Input: input, Exprs: c.project}
	for _, stage := range c.computed {
		m.Source = &plan.Project{Input: m.Source, Exprs: stage}
	}
	return &m
}

func (b *binder) copyFrom(s *ast.Copy) *Bound {
	rel := b.target(s.Table)
	w := b.writeTarget(rel, s.Table.Alias.Name)
	fields := rel.TableSchema.Fields
	given := make([]bool, len(fields))
	at := make([]int, 0, len(fields))
	for i := range fields {
		if len(s.Columns) == 0 && fields[i].Generated == nil {
			at = append(at, i)
		}
	}
	for _, n := range s.Columns {
		i := b.fieldIndex(rel, n, -1)
		if containsInt(at, i) {
			b.fail(sqlerr.DuplicateColumn, -1, "column \"%s\" specified more than once", n)
		}
		b.copiesGenerated(fields[i])
		at = append(at, i)
	}
	c := &Copy{insert: &plan.Insert{Target: w, Given: given}}
	lv := newLevel(nil)
	it := &item{name: rel.Name, relSeen: true, colSeen: true}
	values := make([]plan.Expr, len(fields))
	for _, i := range at {
		col := b.newColumn(fields[i].Name, fields[i].Type)
		b.own(col, rel.Name, lv, fromInput)
		it.cols = append(it.cols, itemCol{name: col.Name, col: col})
		c.Columns = append(c.Columns, col)
		if values[i], given[i] = plan.ColOf(col), true; fields[i].Numbering != nil {
			values[i] = b.rowNumber(values[i], &fields[i])
		}
	}
	if s.Where != nil {
		lv.items = []*item{it}
		lv.kind = inWhere
		c.where = b.condition(lv, s.Where, "WHERE")
	}
	for i := range fields {
		if values[i] == nil {
			values[i] = b.defaultOf(&fields[i])
		}
		c.project = append(c.project, plan.Named{Col: b.newColumn(fields[i].Name, fields[i].Type), Expr: values[i]})
	}
	rows := &plan.Project{Exprs: c.project}
	for n := b.computed(w, b.withRowDefaults(rel, rows, given, nil)); n != plan.Node(rows); n = n.Inputs()[0] {
		c.computed = slices.Insert(c.computed, 0, n.(*plan.Project).Exprs)
	}
	return &Bound{Copy: c, Target: rel}
}

// copiesGenerated refuses a generated column in COPY.
func (b *binder) copiesGenerated(f lake.Field) {
	if f.Generated != nil {
		b.failWith(sqlerr.New(sqlerr.InvalidColumnReference, "column \"%s\" is a generated column", f.Name).
			WithDetail("Generated columns cannot be used in COPY."))
	}
}

// ---- targets of writes ----

// target resolves the table that a statement writes or alters.
func (b *binder) target(t *ast.TableName) *Relation {
	if t.AsOf != nil {
		b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "a past state of a table cannot be written").
			WithHint("Write to a branch: t.branch_name, or CREATE BRANCH at the past state.").At(t.AsOf.Pos))
	}
	rel, err := b.env.Catalog.Relation(b.ctx, TableRef{Parts: t.Parts, Write: true, NewCol: b.newColID})
	b.checkRelation(err, strings.Join(t.Parts, "."), t.Pos)
	if rel.Table == nil {
		what := rel.Kind
		if what == "" {
			what = "system table"
			if rel.View != nil {
				what = "view"
			}
		}
		b.fail(sqlerr.WrongObjectType, t.Pos, "\"%s\" is a %s and cannot be written", rel.Name, what)
	}
	b.use(rel, true)
	return rel
}

func (b *binder) writeTarget(rel *Relation, alias string) plan.WriteTarget {
	if alias == "" {
		alias = rel.Name
	}
	return plan.WriteTarget{Table: rel.Table, Branch: rel.Branch, Base: rel.Snapshot, Schema: rel.TableSchema, Alias: alias, Checks: b.checks(rel), Generated: b.generated(rel)}
}

// fieldIndex finds a column of the target by name.
func (b *binder) fieldIndex(rel *Relation, name string, pos int) int {
	for i := range rel.TableSchema.Fields {
		if b.d.SameName(rel.TableSchema.Fields[i].Name, name) {
			return i
		}
	}
	b.fail(sqlerr.UndefinedColumn, pos, "column \"%s\" of relation \"%s\" does not exist", name, rel.Name)
	return -1
}
