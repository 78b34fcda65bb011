package lake

import (
	"context"
	"database/sql"
	"errors"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// PrivilegeStore is a catalog that keeps roles and privileges beside its tables, so that all servers
// over it agree on them. What the rows say is the guard's business.
type PrivilegeStore interface {
	// PrivilegeRows gives the store's version and the rows that have changed since an earlier one, 0
	// for all. A row that was removed has no body.
	PrivilegeRows(ctx context.Context, after int64) (version int64, rows []PrivilegeRow, err error)
	// SetPrivileges makes rows the store's next version, all of them or none, if its version is still
	// after; ok false: it is not, and nothing has changed.
	SetPrivileges(ctx context.Context, after int64, rows []PrivilegeRow) (ok bool, err error)
}

// PrivilegeRow is one thing that the store knows, by kind and key.
type PrivilegeRow struct{ Kind, Key, Body string }

// The tables are beside Iceberg's own in the catalog's database; other engines do not know them. Rows
// that are removed stay without a body, so that servers that have read them hear of it.
var privilegeTables = []string{`CREATE TABLE IF NOT EXISTS lhsql_privileges (
	catalog_name VARCHAR(255) NOT NULL,
	kind VARCHAR(32) NOT NULL,
	id VARCHAR(1000) NOT NULL,
	body TEXT NOT NULL,
	version BIGINT NOT NULL,
	PRIMARY KEY (catalog_name, kind, id)
)`, `CREATE TABLE IF NOT EXISTS lhsql_privileges_version (
	catalog_name VARCHAR(255) NOT NULL,
	version BIGINT NOT NULL,
	PRIMARY KEY (catalog_name)
)`}

// OpenPrivilegeStore opens a store of a server's own: SQLite or PostgreSQL, by a uri as catalogs have it.
func OpenPrivilegeStore(ctx context.Context, uri string) (PrivilegeStore, func() error, error) {
	c, err := openSQL(ctx, NewMetadataCache(ownCache), "guard", map[string]string{"uri": uri, "init_catalog_tables": "false"})
	if err != nil {
		return nil, nil, err
	}
	return c.(PrivilegeStore), c.Close, nil
}

// errMoved says that the store has another version.
var errMoved = errors.New("the privileges have changed")

// PrivilegeRows implements PrivilegeStore.
func (c *sqlCatalog) PrivilegeRows(ctx context.Context, after int64) (int64, []PrivilegeRow, error) {
	var version int64
	var rows []PrivilegeRow
	one := func() (there bool, err error) {
		err = c.query(ctx, "SELECT version FROM lhsql_privileges_version WHERE catalog_name = ?", []any{c.name},
			func() { version, there = 0, false }, func(r *sql.Rows) error { there = true; return r.Scan(&version) })
		return there, err
	}
	there, err := one()
	if err == nil && there && version == after {
		return version, nil, nil
	}
	if err != nil || !there {
		if err := c.certainly(ctx, "privileges", func(ctx context.Context, db sqlExec) error {
			for _, t := range privilegeTables {
				if _, err := db.ExecContext(ctx, t); err != nil {
					return err
				}
			}
			ok, err := c.found(ctx, db, "SELECT 1 FROM lhsql_privileges_version WHERE catalog_name = ?", c.name)
			if err == nil && !ok {
				_, err = db.ExecContext(ctx, c.q("INSERT INTO lhsql_privileges_version (catalog_name, version) VALUES (?, 1)"), c.name)
			}
			return err
		}); err != nil && !duplicate(err) {
			return 0, nil, err
		}
	}
	// One statement reads version and rows as one state.
	err = c.query(ctx, `SELECT v.version, p.kind, p.id, p.body FROM lhsql_privileges_version v
LEFT JOIN lhsql_privileges p ON p.catalog_name = v.catalog_name AND p.version > ? WHERE v.catalog_name = ?`, []any{after, c.name},
		func() { version, rows = 0, nil }, func(r *sql.Rows) error {
			var kind, id, body sql.NullString
			err := r.Scan(&version, &kind, &id, &body)
			if kind.Valid {
				rows = append(rows, PrivilegeRow{kind.String, id.String, body.String})
			}
			return err
		})
	if err == nil && version == 0 {
		err = sqlerr.New(sqlerr.ConnectionFailure, "the store of privileges has no version")
	}
	return version, rows, err
}

// SetPrivileges implements PrivilegeStore.
func (c *sqlCatalog) SetPrivileges(ctx context.Context, after int64, rows []PrivilegeRow) (bool, error) {
	err := c.certainly(ctx, "privileges", func(ctx context.Context, db sqlExec) error {
		res, err := db.ExecContext(ctx, c.q("UPDATE lhsql_privileges_version SET version = version + 1 WHERE catalog_name = ? AND version = ?"), c.name, after)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil {
			return err
		} else if n != 1 {
			return errMoved
		}
		for _, r := range rows {
			if _, err := db.ExecContext(ctx, c.q("DELETE FROM lhsql_privileges WHERE catalog_name = ? AND kind = ? AND id = ?"), c.name, r.Kind, r.Key); err != nil {
				return err
			}
			if _, err := db.ExecContext(ctx, c.q("INSERT INTO lhsql_privileges (catalog_name, kind, id, body, version) VALUES (?, ?, ?, ?, ?)"), c.name, r.Kind, r.Key, r.Body, after+1); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errMoved) {
		return false, nil
	}
	return err == nil, err
}
