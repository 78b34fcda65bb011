package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// mysqlNames: MySQL knows databases and tables, a lakehouse catalogs, namespaces and tables. A
// MySQL database is a namespace: of the default catalog under its own name, of another one as
// catalog.namespace. A namespace of the default catalog wins over a catalog of the same first word.
type mysqlNames struct{ s *Session }

// databaseOf splits a MySQL database's name into catalog and namespace.
func (s *Session) databaseOf(ctx context.Context, name string) (catalog, namespace string) {
	def := s.engine.cfg.Default
	cat, rest, ok := strings.Cut(name, ".")
	if !ok || s.engine.catalogs[cat] == nil || s.namespaceExists(ctx, def, name) {
		return def, name
	}
	return cat, rest
}

// databaseName is databaseOf's inverse.
func (e *Engine) databaseName(catalog, namespace string) string {
	if catalog == e.cfg.Default {
		return namespace
	}
	return catalog + "." + namespace
}

// mysqlSystem are the databases that MySQL itself has.
func mysqlSystem(name string) bool {
	switch strings.ToLower(name) {
	case "information_schema", "mysql", "performance_schema", "sys":
		return true
	}
	return false
}

// Use makes name the database of unqualified names; "name@instant" and "name@ref" pin the session
// to a state, as in a Postgres client's database name.
func (s *Session) Use(ctx context.Context, name string) error {
	name, asOf, pinned := strings.Cut(name, "@")
	if mysqlSystem(name) {
		name = strings.ToLower(name)
	} else {
		catalog, ns := s.databaseOf(ctx, name)
		list, err := s.catalogOf(catalog).Namespaces(ctx)
		if err != nil {
			return err
		}
		found := false
		for _, n := range list {
			found = found || n == ns
		}
		if !found {
			return sqlerr.New(sqlerr.InvalidSchemaName, "Unknown database '%s'", name)
		}
	}
	if pinned {
		if err := s.settings.set("lhsql.as_of", &asOf, false, false); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.current = name
	s.mu.Unlock()
	return nil
}

// CurrentDatabase is what Use chose, "" before it.
func (s *Session) CurrentDatabase() string { return s.current }

var errNoDatabase = sqlerr.New(sqlerr.InvalidCatalogName, "No database selected")

// relation finds parts as [database] table.
func (n mysqlNames) relation(ctx context.Context, ref bind.TableRef, parts []string, x suffix) (*bind.Relation, error) {
	db, table := strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
	if db == "" {
		if ref.SearchPath != nil { // within a view
			for _, schema := range ref.SearchPath {
				rel, err := relations{n.s}.in(ctx, ref, n.s.catalog, schema, table, x)
				if !isNotFound(err) {
					return rel, err
				}
			}
			return nil, &lake.NotFound{What: "relation", Name: table}
		}
		if db = n.s.current; db == "" {
			return nil, errNoDatabase
		}
	}
	// A temporary table hides one of its name in the database that it was made in.
	if made, ok := n.s.my.temporary[table]; ok && made == db {
		rel, err := relations{n.s}.in(ctx, ref, n.s.catalog, n.s.temporarySchema(), table, x)
		if !isNotFound(err) {
			return rel, err
		}
	}
	catalog, ns := n.s.databaseOf(ctx, db)
	if ref.Depth == 0 {
		if err := n.s.entersSchema(ctx, catalog, ns); err != nil {
			return nil, err
		}
	}
	return relations{n.s}.in(ctx, ref, catalog, ns, table, x)
}

func (n mysqlNames) made(ctx context.Context, parts []string) (lake.Name, error) {
	db, table := strings.Join(parts[:len(parts)-1], "."), parts[len(parts)-1]
	if db == "" {
		if db = n.s.current; db == "" {
			return lake.Name{}, errNoDatabase
		}
	}
	if mysqlSystem(db) {
		return lake.Name{}, sqlerr.New(sqlerr.InsufficientPrivilege, "Access denied to database '%s'", db)
	}
	catalog, ns := n.s.databaseOf(ctx, db)
	return lake.Name{Catalog: catalog, Namespace: ns, Table: table}, n.s.creates(ctx, catalog, ns)
}

func (n mysqlNames) schema(ctx context.Context, parts []string) (catalog, namespace string) {
	return n.s.databaseOf(ctx, strings.Join(parts, "."))
}

func (n mysqlNames) database() string { return n.s.current }

func (n mysqlNames) split(text string) ([]string, bool) {
	return splitName(text, '`', func(s string) string { return s })
}

func (n mysqlNames) quote(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

func (n mysqlNames) systemTable(_ context.Context, _, schema, table string) (*syscat.Virtual, bool) {
	if !mysqlSystem(schema) {
		return nil, false
	}
	return syscat.MySQLTable(mysqlHost{n.s}, schema, table)
}

func (n mysqlNames) view(ctx context.Context, spec *lake.ViewSpec, sql string) {
	spec.Representations = map[string]string{"mysql": sql}
	_, spec.DefaultNamespace = n.s.databaseOf(ctx, n.s.current)
}

// mysqlHost implements syscat.MySQLHost.
type mysqlHost struct{ s *Session }

func (h mysqlHost) User() string { return h.s.opts.User }

func (h mysqlHost) Databases(ctx context.Context) ([]syscat.MySQLDatabase, error) {
	var out []syscat.MySQLDatabase
	for _, c := range h.s.engine.order {
		host := h.s.newHost(c)
		list, err := host.Namespaces(ctx)
		if err != nil {
			return nil, err
		}
		for _, n := range list {
			out = append(out, syscat.MySQLDatabase{Name: h.s.engine.databaseName(c, n), Namespace: n, Host: host})
		}
	}
	return out, nil
}

// newHost is the catalog's host: the session's own where it is that catalog's.
func (s *Session) newHost(catalog string) syscat.Host {
	if catalog == s.catalog {
		return s.sysHost(context.Background(), catalog)
	}
	return &host{s: s, catalog: catalog, entries: map[string][]syscat.Entry{}, relations: map[lake.Name]*syscat.Relation{}}
}

func (h mysqlHost) Sessions() []syscat.Session { return (&host{s: h.s}).Sessions() }

func (h mysqlHost) List(name string) [][2]string {
	return h.s.my.list(name)
}
