package lake

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
)

// OpenCatalog opens a catalog by its properties, spelled as PyIceberg spells them: type
// ("sql", "rest"; else told from uri), uri, warehouse, s3.endpoint, …. It has a cache of its own.
func OpenCatalog(ctx context.Context, name string, props map[string]string) (Catalog, error) {
	return OpenCatalogWith(ctx, NewMetadataCache(ownCache), name, props)
}

// OpenCatalogWith is OpenCatalog with a cache that others share.
func OpenCatalogWith(ctx context.Context, known *MetadataCache, name string, props map[string]string) (Catalog, error) {
	p := make(map[string]string, len(props))
	for k, v := range props {
		p[k] = v
	}
	uri := p["uri"]
	kind := strings.ToLower(p["type"])
	if kind == "" {
		switch {
		case strings.HasPrefix(uri, "http://"), strings.HasPrefix(uri, "https://"):
			kind = "rest"
		default:
			kind = "sql"
		}
	}
	if w := p["warehouse"]; w != "" && kind != "rest" {
		p["warehouse"] = absolute(w)
	}
	switch kind {
	case "sql", "sqlite", "postgres", "postgresql":
		return openSQL(ctx, known, name, p)
	case "rest":
		return openREST(ctx, known, name, p)
	}
	return nil, sqlerr.New(sqlerr.ConfigFileError, "catalog %s: type %q is not supported", name, kind).
		WithHint("The types are sql (SQLite or PostgreSQL) and rest.")
}

// absolute makes a relative local location absolute and keeps the spelling of others, since
// other engines share the warehouse by its spelling.
func absolute(loc string) string {
	if scheme, _ := store.SplitScheme(loc); scheme != "" {
		return strings.TrimRight(loc, "/")
	}
	if abs, err := filepath.Abs(loc); err == nil {
		return abs
	}
	return loc
}

// prefixesOf lists the places that a catalog's tables may use (V7).
func prefixesOf(props map[string]string) []string {
	var out []string
	if w := props["warehouse"]; w != "" {
		out = append(out, store.Canonical(w))
	}
	for _, l := range strings.Split(props["lhsql.allowed-locations"], ",") {
		if l = strings.TrimSpace(l); l != "" {
			out = append(out, store.Canonical(absolute(l)))
		}
	}
	return out
}
