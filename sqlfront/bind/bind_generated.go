package bind

// This file binds generated columns: as they are declared, and again for each statement that writes
// rows of a table that has some. Whatever a statement gives, the values of these columns come from the
// rest of the row:
//
//	INSERT s   →   INSERT π a, b, f(a, b) (s)

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// declareGenerated binds the expression of the column fields[at] as it is declared, over the columns of
// its table, and gives it with them by their places.
func (b *binder) declareGenerated(table string, fields []lake.Field, at int, g *ast.Generated) *lake.Generated {
	lv, _ := b.rowLevel(table, fields)
	lv.kind = inGenerated
	x := b.expr(lv, g.Expr)
	if plan.HasSubquery(x) {
		b.fail(sqlerr.FeatureNotSupported, b.posOf(x), "cannot use subquery in column generation expression")
	}
	if plan.IsVolatile(x) || isStable(x) {
		b.failWith(sqlerr.New(sqlerr.InvalidObjectDefinition, "generation expression is not immutable").WithNumber(3763).At(leftmost(g.Expr)))
	}
	text, named := b.placedText(fields, g.Expr, g.SQL, g.From, func(i int) string { return fmt.Sprintf("#%d", i) })
	for _, i := range named {
		f := &fields[i]
		switch {
		case b.d.HoldMode == nil && (f.Generated != nil || i == at):
			b.failWith(sqlerr.New(sqlerr.InvalidObjectDefinition, "cannot use generated column \"%s\" in column generation expression", f.Name).
				WithDetail("A generated column cannot reference another generated column.").At(leftmost(g.Expr)))
		case i == at || f.Generated != nil && i > at:
			b.failWith(sqlerr.New(sqlerr.InvalidObjectDefinition, "Generated column can refer only to generated columns defined prior to it.").WithNumber(3107).At(leftmost(g.Expr)))
		case f.Numbering != nil && f.Numbering.Kind == "auto_increment":
			b.failWith(sqlerr.New(sqlerr.InvalidObjectDefinition, "Generated column '%s' cannot refer to auto-increment column.", fields[at].Name).WithNumber(3109).At(leftmost(g.Expr)))
		}
	}
	b.assign(x, &fields[at]) // refuses what the column cannot hold
	return &lake.Generated{SQL: text, Virtual: g.Virtual}
}

// onlyGenerated refuses what a generated column cannot have beside its expression.
func (b *binder) onlyGenerated(d *ast.ColumnDef) {
	what := ""
	switch {
	case d.Default != nil:
		what = "default"
	case d.Identity != nil:
		what = "identity"
	case d.OnUpdateSQL != "":
		what = "ON UPDATE"
	default:
		return
	}
	b.failWith(sqlerr.New(sqlerr.SyntaxError, "both %s and generation expression specified for column \"%s\"", what, d.Name).WithNumber(1221).At(d.Generated.Pos))
}

// generated binds the generated columns of a table that is written, those behind that others are
// computed of.
func (b *binder) generated(rel *Relation) (out []plan.Generated) {
	fields := rel.TableSchema.Fields
	for i := range fields {
		g := fields[i].Generated
		if g == nil {
			continue
		}
		e, d := b.keptColumns(g.SQL, fields, g.Expand)
		if e == nil {
			b.fail(sqlerr.DataCorrupted, -1, "the expression of generated column \"%s\" of table \"%s\" cannot be read: %s", fields[i].Name, rel.Name, g.SQL)
		}
		outer := b.d
		b.d = d
		b.inView++
		lv, cols := b.rowLevel(rel.Name, fields)
		lv.kind = inGenerated
		x := b.assign(b.expr(lv, e), &fields[i])
		b.inView--
		b.d = outer
		// A column that is generated of another one is computed of what that is computed of.
		for _, o := range out {
			x = plan.MapExpr(x, func(y plan.Expr) plan.Expr {
				if c, ok := y.(*plan.Col); ok && c.ID == cols[o.Field].ID {
					return o.Over(cols)
				}
				return y
			})
		}
		out = append(out, plan.Generated{Field: i, Expr: x, Cols: cols})
	}
	return out
}

// computed puts the values of generated columns on rows that have everything else.
func (b *binder) computed(w plan.WriteTarget, n plan.Node) plan.Node {
	if len(w.Generated) == 0 {
		return n
	}
	p := &plan.Project{Input: n, Exprs: passing(n.Columns())}
	rows := n.Columns()
	for _, g := range w.Generated {
		c := b.newColumn(rows[g.Field].Name, rows[g.Field].Type)
		c.TableOID, c.Attnum = rows[g.Field].TableOID, rows[g.Field].Attnum
		p.Exprs[g.Field] = plan.Named{Col: c, Expr: g.Over(rows)}
	}
	return p
}

// recomputed adds the columns that are generated of changed ones to these.
func recomputed(rel *Relation, changed []bool) {
	for _, i := range rel.TableSchema.Computes(changed) {
		changed[i] = true
	}
}

// explicitGenerated refuses values of an INSERT for a generated column, but DEFAULT.
func (b *binder) explicitGenerated(s *ast.Insert, rel *Relation, f *lake.Field) {
	if ok, at := b.defaulted(s, rel.TableSchema.Fields, f); !ok {
		b.refuseGenerated(rel, f, at)
	}
}

func (b *binder) refuseGenerated(rel *Relation, f *lake.Field, pos int) {
	if b.d.HoldMode != nil {
		b.fail(sqlerr.GeneratedAlways, pos, "The value specified for generated column '%s' in table '%s' is not allowed.", f.Name, rel.Name)
	}
	b.failWith(sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", f.Name).
		WithDetail("Column \"%s\" is a generated column.", f.Name).At(pos))
}

// defaulted tells whether an INSERT gives a column DEFAULT in each of its rows, and where it does not.
func (b *binder) defaulted(s *ast.Insert, fields []lake.Field, f *lake.Field) (all bool, at int) {
	at = s.Pos
	if !fromValues(s.Query) {
		return false, at
	}
	k := -1
	for i, n := range s.Columns {
		if b.d.SameName(n.Parts[0], f.Name) {
			k = i
		}
	}
	all = true
	for _, row := range s.Query.Body.(*ast.Values).Rows {
		i := k
		if len(s.Columns) == 0 {
			i = slices.IndexFunc(fields, func(g lake.Field) bool { return g.ID == f.ID })
		}
		if i < 0 || i >= len(row) {
			continue
		}
		if _, ok := row[i].(*ast.Default); !ok {
			all, at = false, leftmost(row[i])
		}
	}
	return all, at
}

// tableGenerated binds the generated columns of CREATE TABLE over the table's fields, of which those
// that are defined stand from first on.
func (b *binder) tableGenerated(s *ast.CreateTable, c *CreateTable, fields []lake.Field, first int) {
	for i := range s.Columns {
		if g := s.Columns[i].Generated; g != nil {
			if s.As != nil {
				b.fail(sqlerr.FeatureNotSupported, g.Pos, "CREATE TABLE … AS with a generated column is not supported")
			}
			fields[first+i].Generated = &lake.Generated{Virtual: g.Virtual}
		}
	}
	for i := range s.Columns {
		if g := s.Columns[i].Generated; g != nil {
			c.Columns[i].Generated = b.declareGenerated(s.Name.Parts[len(s.Name.Parts)-1], fields, first+i, g)
		}
	}
}

// alterGenerated binds a generated column that is added or redefined, and the names of the columns
// that its expression knows by their places.
func (b *binder) alterGenerated(g *ast.Generated, schema *altered, f *lake.Field) (*lake.Generated, []string) {
	var names []string
	at := -1
	for i := range schema.fields {
		if names = append(names, schema.fields[i].Name); &schema.fields[i] == f {
			at = i
		}
	}
	if at < 0 {
		b.fail(sqlerr.FeatureNotSupported, g.Pos, "a field of a struct cannot be generated")
	}
	out := b.declareGenerated(schema.rel.Name, schema.fields, at, g)
	f.Generated = out
	return out, names
}

// notGenerated refuses to give a generated column a default or numbers.
func (b *binder) notGenerated(schema *altered, f *lake.Field, pos int) {
	if f.Generated != nil {
		b.failWith(sqlerr.New(sqlerr.SyntaxError, "column \"%s\" of relation \"%s\" is a generated column", f.Name, schema.rel.Name).
			WithHint("Use ALTER TABLE ... ALTER COLUMN ... DROP EXPRESSION instead.").WithNumber(3106).At(pos))
	}
}

// quotedField names a field in the dialect that a kept text is of.
func quotedField(name string, mysql bool) string {
	if mysql {
		return "`" + strings.ReplaceAll(name, "`", "``") + "`"
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
