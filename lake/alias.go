package lake

import (
	"context"
	"database/sql"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
)

// Alone refuses to remove what a table no longer holds where the same table has another name, which may
// still hold it: a name that register_table gave, in this catalog or another one of the database. Only a
// catalog that knows where its names' metadata lies can tell at once; of others (REST) that is the
// server's affair.
func Alone(ctx context.Context, c Catalog, t *Table) error {
	k, ok := c.(interface {
		beside(ctx context.Context, t *Table) (Name, bool, error)
	})
	if !ok {
		return nil
	}
	n, is, err := k.beside(ctx, t)
	if err != nil || !is {
		return err
	}
	return sqlerr.New(sqlerr.DependentObjectsExist, "table %s is also table %s, which may hold what this one forgets", t.Name.Table, n).
		WithHint("DROP TABLE, without PURGE, takes a name away and leaves the files.")
}

// beside finds another name whose metadata file lies in the folder of the table's own and is of the same
// table.
func (c *sqlCatalog) beside(ctx context.Context, t *Table) (Name, bool, error) {
	folder := store.Parent(store.Canonical(t.MetadataLocation)) + "/"
	escaped := strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(strings.TrimPrefix(folder, "s3://"))
	type row struct {
		name Name
		loc  string
	}
	var found []row
	err := c.query(ctx, `SELECT catalog_name, table_namespace, table_name, metadata_location FROM iceberg_tables WHERE metadata_location LIKE ? ESCAPE '\'`+c.isTable(),
		[]any{"%" + escaped + "%"}, func() { found = nil }, func(rows *sql.Rows) error {
			var r row
			err := rows.Scan(&r.name.Catalog, &r.name.Namespace, &r.name.Table, &r.loc)
			found = append(found, r)
			return err
		})
	if err != nil {
		return Name{}, false, err
	}
	for _, r := range found {
		own := r.name.Catalog == c.name && r.name.Namespace == t.Name.Namespace && r.name.Table == t.Name.Table
		if own || store.Parent(store.Canonical(r.loc))+"/" != folder {
			continue
		}
		other, err := c.loadAt(ctx, r.name, r.loc)
		if err != nil || other.uuid == t.uuid { // one that cannot be read may be the same
			return r.name, true, nil
		}
	}
	return Name{}, false, nil
}
