package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/eval/pgfunc"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// boundView binds a query of all columns of a view.
func (s *Session) boundView(ctx context.Context, v lake.Name) (*bind.Bound, error) {
	text := "SELECT * FROM " + pgfunc.QuoteIdent(v.Catalog) + "." + pgfunc.QuoteIdent(v.Namespace) + "." + pgfunc.QuoteIdent(v.Table)
	parse, dialect := viewDialect("")
	parsed, err := parse(text)
	if err != nil {
		return nil, err
	}
	env := *s.bindEnv(ctx, nil)
	env.Dialect = dialect
	return bind.Bind(&env, parsed[0], nil)
}

// keepsColumns tells whether a view that is to be replaced keeps its columns: their names, their
// types and their order. More may follow.
func (s *Session) keepsColumns(ctx context.Context, name lake.Name, b *bind.Bound) error {
	v, err := s.catalogOf(name.Catalog).LoadView(ctx, name)
	if err != nil || v.Schema == nil {
		return nil // there is none, or what stands there fails when it is replaced
	}
	old := v.ColumnNames()
	kinds := make([]types.Type, len(old))
	if ob, err := s.boundView(ctx, name); err == nil && len(ob.Columns) == len(old) {
		for i := range kinds {
			kinds[i] = ob.Columns[i].Type
		}
	}
	if len(old) > len(b.ViewColumns) {
		return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot drop columns from view")
	}
	for i, was := range old {
		c := b.ViewColumns[i]
		if was != c.Name {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change name of view column \"%s\" to \"%s\"", was, c.Name).
				WithHint("Use ALTER VIEW ... RENAME COLUMN ... to change name of view column instead.")
		}
		if kinds[i].Kind != types.Invalid && kinds[i].String() != c.Type.String() {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "cannot change data type of view column \"%s\" from %s to %s", was, kinds[i], c.Type)
		}
	}
	return nil
}

// viewsOfDropped finds the views of the table's catalog that read a column which the actions drop:
// to be dropped too where all is said with CASCADE, else an error.
func (s *Session) viewsOfDropped(ctx context.Context, rel *bind.Relation, actions []ast.AlterAction) ([]lake.Name, error) {
	if !s.dialect.bind.ViewsKeepColumns {
		return nil, nil
	}
	var dropped []*ast.AlterAction
	for i := range actions {
		if a := &actions[i]; a.Op == "drop column" && len(a.Column.Parts) == 1 && rel.Table.Schema().ByName(a.Column.Parts[0]) != nil {
			dropped = append(dropped, a)
		}
	}
	if len(dropped) == 0 {
		return nil, nil
	}
	uses, err := s.viewsReading(ctx, rel)
	if err != nil {
		return nil, err
	}
	var cascade []lake.Name
	table := lake.Name{Catalog: rel.Catalog, Namespace: rel.Schema, Table: rel.Name}
	for _, a := range dropped {
		col := a.Column.Parts[0]
		id := rel.Table.Schema().ByName(col).ID
		var detail []string
		for _, u := range uses {
			if !u.fields[id] {
				continue
			}
			if a.Cascade {
				cascade = append(cascade, u.view)
				continue
			}
			detail = append(detail, fmt.Sprintf("view %s depends on column %s of table %s", s.shown(u.view), col, s.shown(table)))
		}
		if len(detail) > 0 {
			return nil, sqlerr.New(sqlerr.DependentObjectsExist, "cannot drop column %s of table %s because other objects depend on it", col, s.shown(table)).
				WithDetail("%s", strings.Join(detail, "\n")).WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
		}
	}
	return distinctNames(cascade), nil
}

// viewsOfRenamedColumns refuses to rename a column that a view reads. PostgreSQL's views follow, for
// they know their columns by number; an Iceberg view is a text, for other engines too.
func (s *Session) viewsOfRenamedColumns(ctx context.Context, rel *bind.Relation, actions []ast.AlterAction) error {
	var uses []viewUse
	for i := range actions {
		a := &actions[i]
		if a.Op != "rename column" {
			continue
		}
		f := rel.Table.Schema().ByName(a.Column.Parts[0])
		if f == nil {
			continue // the edit says so
		}
		if uses == nil {
			var err error
			if uses, err = s.viewsReading(ctx, rel); err != nil || len(uses) == 0 {
				return err
			}
		}
		var detail []string
		col, table := strings.Join(a.Column.Parts, "."), s.shown(lake.Name{Catalog: rel.Catalog, Namespace: rel.Schema, Table: rel.Name})
		for _, u := range uses {
			if u.fields[f.ID] {
				detail = append(detail, fmt.Sprintf("view %s depends on column %s of table %s", s.shown(u.view), col, table))
			}
		}
		if len(detail) > 0 {
			return sqlerr.New(sqlerr.DependentObjectsExist, "cannot rename column %s of table %s because other objects depend on it", col, table).
				WithDetail("%s", strings.Join(detail, "\n")).WithHint("A view names its columns. Drop it and make it anew in one transaction block with the renaming.")
		}
	}
	return nil
}

// viewsOfRenamed refuses to rename a table or view that views read. In a transaction block, where names
// are often exchanged one after the other, it says which views will read what has the name then.
func (s *Session) viewsOfRenamed(ctx context.Context, from lake.Name, rel *bind.Relation, r *Result) error {
	cat := s.catalogOf(from.Catalog)
	spaces, err := cat.Namespaces(ctx)
	if err != nil {
		return err
	}
	what := "table"
	if rel.View != nil {
		what = "view"
	}
	is := func(r *bind.Relation) bool {
		return r.Catalog == from.Catalog && r.Schema == from.Namespace && r.Name == from.Table
	}
	var detail []string
	for _, ns := range spaces {
		views, err := cat.Views(ctx, ns)
		if err != nil {
			return err
		}
		for _, v := range views {
			if v == from {
				continue
			}
			b, err := s.boundView(ctx, v)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err == nil && (slices.ContainsFunc(b.Views, is) || slices.ContainsFunc(b.Tables, func(u bind.TableUse) bool { return is(u.Relation) })) {
				detail = append(detail, fmt.Sprintf("view %s depends on %s %s", s.shown(v), what, s.shown(from)))
			}
		}
	}
	if len(detail) == 0 {
		return nil
	}
	if s.tx.block {
		r.warn("00000", "%s: it will read what has that name", strings.Join(detail, "; "))
		return nil
	}
	return sqlerr.New(sqlerr.DependentObjectsExist, "cannot rename %s %s because other objects depend on it", what, s.shown(from)).
		WithDetail("%s", strings.Join(detail, "\n")).WithHint("A view names what it reads. In a transaction block names may be exchanged, and views made anew.")
}

// shown is a relation's name in messages: with its schema where the search path does not lead to it.
func (s *Session) shown(n lake.Name) string {
	if slices.Contains(s.existingPath(), n.Namespace) {
		return n.Table
	}
	return n.Namespace + "." + n.Table
}

func distinctNames(list []lake.Name) []lake.Name {
	var out []lake.Name
	seen := map[lake.Name]bool{}
	for _, n := range list {
		if !seen[n] {
			seen[n] = true
			out = append(out, n)
		}
	}
	return out
}

// viewUse is a view with the columns of a table that it reads, by field id.
type viewUse struct {
	view   lake.Name
	fields map[int]bool
}

// viewsReading lists the views of a table's catalog that read it. A view whose text no longer means
// anything reads nothing.
func (s *Session) viewsReading(ctx context.Context, rel *bind.Relation) ([]viewUse, error) {
	cat := s.catalogOf(rel.Catalog)
	spaces, err := cat.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	var out []viewUse
	for _, ns := range spaces {
		views, err := cat.Views(ctx, ns)
		if err != nil {
			return nil, err
		}
		for _, v := range views {
			b, err := s.boundView(ctx, v)
			if err != nil {
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
				continue
			}
			if f := fieldsRead(b.Plan, rel.Table); len(f) > 0 {
				out = append(out, viewUse{v, f})
			}
		}
	}
	return out, nil
}

// fieldsRead are the fields of a table that a bound query reads, by id.
func fieldsRead(n plan.Node, t *lake.Table) map[int]bool {
	read := plan.ColSet{}
	fields := map[plan.ColID]int{}
	plan.Walk(n, func(m plan.Node) {
		if sc, ok := m.(*plan.Scan); ok && sc.Table != nil && sc.Table.UUID() == t.UUID() {
			for _, c := range sc.Cols {
				fields[c.ID] = c.FieldID
			}
		}
		plan.NodeExprs(m, func(e plan.Expr) { read.AddAll(plan.ExprCols(e)) })
	})
	for _, c := range n.Columns() {
		read.Add(c.ID)
	}
	out := map[int]bool{}
	for id, f := range fields {
		if read.Has(id) {
			out[f] = true
		}
	}
	return out
}
