package engine

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// commentView runs COMMENT ON VIEW and ON COLUMN of a view. Iceberg's views have versions and no
// other edits, so the comment comes with a new version of the same query.
func (s *Session) commentView(ctx context.Context, n *ast.Comment, rel *bind.Relation, text string) error {
	name := lake.Name{Catalog: rel.Catalog, Namespace: rel.Schema, Table: rel.Name}
	cat := s.catalogOf(rel.Catalog)
	v, err := cat.LoadView(ctx, name)
	if err != nil {
		return definitionError(err)
	}
	spec := lake.ViewSpec{Schema: &lake.Schema{}, Representations: v.Representations,
		DefaultCatalog: v.DefaultCatalog, DefaultNamespace: v.DefaultNamespace}
	if v.Schema != nil {
		spec.Schema.Fields = append(spec.Schema.Fields, v.Schema.Fields...)
	}
	if n.Kind == "column" {
		col := n.Name.Parts[len(n.Name.Parts)-1]
		f := spec.Schema.ByName(col)
		if f == nil {
			return sqlerr.New(sqlerr.UndefinedColumn, "column %q of relation %q does not exist", col, rel.Name).At(n.Name.Pos)
		}
		f.Doc = text
	} else {
		spec.Properties = map[string]string{"comment": text}
	}
	_, err = cat.CreateView(ctx, name, spec, true)
	s.moved(name, nil)
	return definitionError(err)
}
