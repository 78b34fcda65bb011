package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// pgNames: a database is a catalog, a schema a namespace.
type pgNames struct{ s *Session }

// relation finds parts as [catalog] namespace… table, or along the search path.
func (n pgNames) relation(ctx context.Context, ref bind.TableRef, parts []string, x suffix) (*bind.Relation, error) {
	table := parts[len(parts)-1]
	if len(parts) == 1 {
		path := ref.SearchPath
		if path == nil {
			path = n.s.withTemporary(n.s.searchPath())
		}
		for _, schema := range path {
			if ok, err := n.s.usable(ctx, n.s.catalog, schema); err != nil {
				return nil, err
			} else if !ok && ref.SearchPath == nil {
				continue
			}
			rel, err := relations{n.s}.in(ctx, ref, n.s.catalog, schema, table, x)
			if !isNotFound(err) {
				return rel, err
			}
		}
		return nil, &lake.NotFound{What: "relation", Name: table}
	}
	head := parts[:len(parts)-1]
	if ref.Depth == 0 {
		catalog, schema := n.schema(ctx, head)
		if err := n.s.entersSchema(ctx, catalog, schema); err != nil {
			return nil, err
		}
	}
	if len(head) > 1 && n.s.engine.catalogs[head[0]] != nil {
		rel, err := relations{n.s}.in(ctx, ref, head[0], strings.Join(head[1:], "."), table, x)
		if !isNotFound(err) {
			return rel, err
		}
	}
	return relations{n.s}.in(ctx, ref, n.s.catalog, strings.Join(head, "."), table, x)
}

// made: an unqualified name goes into the first schema of the search path that exists.
func (n pgNames) made(ctx context.Context, parts []string) (lake.Name, error) {
	s := n.s
	name := lake.Name{Catalog: s.catalog, Table: parts[len(parts)-1]}
	head := parts[:len(parts)-1]
	if len(head) > 0 && s.engine.catalogs[head[0]] != nil {
		if len(head) > 1 || !s.namespaceExists(ctx, s.catalog, head[0]) {
			name.Catalog, head = head[0], head[1:]
		}
	}
	if len(head) > 0 {
		name.Namespace = strings.Join(head, ".")
		if name.Namespace == "pg_catalog" || name.Namespace == "information_schema" {
			return name, sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create %q", name.Namespace+"."+name.Table)
		}
		if err := s.creates(ctx, name.Catalog, name.Namespace); err != nil {
			return name, err
		}
		if name.Namespace == "public" {
			return name, n.makePublic(ctx, name.Catalog)
		}
		return name, nil
	}
	for _, p := range s.searchPath() {
		if p != "pg_catalog" && p != "information_schema" && s.namespaceExists(ctx, name.Catalog, p) {
			if ok, err := s.usable(ctx, name.Catalog, p); err != nil {
				return name, err
			} else if !ok {
				continue
			}
			name.Namespace = p
			return name, s.creates(ctx, name.Catalog, p)
		}
	}
	if slices.Contains(s.searchPath(), "public") {
		name.Namespace = "public"
		if err := s.creates(ctx, name.Catalog, "public"); err != nil {
			return name, err
		}
		return name, n.makePublic(ctx, name.Catalog)
	}
	return name, sqlerr.New(sqlerr.InvalidSchemaName, "no schema has been selected to create in").
		WithHint("Write schema.%s, SET search_path, or CREATE SCHEMA.", name.Table)
}

// makePublic makes the schema public, which every database of PostgreSQL's has, at its first table.
func (n pgNames) makePublic(ctx context.Context, catalog string) error {
	if n.s.namespaceExists(ctx, catalog, "public") {
		return nil
	}
	if err := n.s.mayWrite("CREATE"); err != nil {
		return err
	}
	err := n.s.catalogOf(catalog).CreateNamespace(ctx, "public", nil)
	n.s.host = nil
	if isExists(err) {
		return nil
	}
	return definitionError(err)
}

// schema: a catalog's name before it chooses the catalog.
func (n pgNames) schema(_ context.Context, parts []string) (catalog, namespace string) {
	if len(parts) > 1 && n.s.engine.catalogs[parts[0]] != nil {
		return parts[0], strings.Join(parts[1:], ".")
	}
	return n.s.catalog, strings.Join(parts, ".")
}

func (n pgNames) database() string         { return n.s.catalog }
func (n pgNames) quote(name string) string { return syscat.Quote(name) }

func (n pgNames) split(text string) ([]string, bool) { return splitQualified(text) }

func (n pgNames) systemTable(ctx context.Context, catalog, schema, table string) (*syscat.Virtual, bool) {
	return syscat.Table(n.s.sysHost(ctx, catalog), schema, table)
}

func (n pgNames) view(_ context.Context, spec *lake.ViewSpec, sql string) {
	path := n.s.existingPath()
	spec.Representations = map[string]string{"lhsql": sql, "postgres": sql}
	if len(path) > 1 {
		spec.DefaultNamespace = path[1]
	}
	spec.Properties = map[string]string{"lhsql.search-path": strings.Join(path, ",")}
}
