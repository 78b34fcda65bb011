package lake

import (
	"context"
	"strings"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/lake/store"
)

// A transaction's definitions become rows in one transaction of the catalog's database. Each row
// is changed where it stands as it was found, so that a writer who came first is noticed.

var _ rowCatalog = (*sqlCatalog)(nil)

// located implements rowCatalog.
func (c *sqlCatalog) located(ctx context.Context, n Name) (string, error) {
	loc, err := c.pointerOf(ctx, n, "", "relation")
	if _, missing := err.(*NotFound); missing {
		return "", nil
	}
	return loc, err
}

// pointed implements rowCatalog.
func (c *sqlCatalog) pointed(ctx context.Context, files []string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, f := range files {
		// One place is spelled in several ways.
		loc := store.Canonical(f)
		spelled := []any{f, loc, "file://" + loc, "file:" + loc}
		if rest, ok := strings.CutPrefix(loc, "s3://"); ok {
			spelled = append(spelled, "s3a://"+rest, "s3n://"+rest)
		}
		found, err := c.strings(ctx, "SELECT table_name FROM iceberg_tables WHERE metadata_location IN (?"+strings.Repeat(", ?", len(spelled)-1)+") LIMIT 1", spelled...)
		if err != nil {
			return nil, err
		}
		out[f] = len(found) > 0
	}
	return out, nil
}

// define implements rowCatalog. Names that trade places pass through names that nobody sees.
func (c *sqlCatalog) define(ctx context.Context, moves []pointerMove, d *definitions) error {
	return c.atomically(ctx, func(ctx context.Context, db sqlExec) error {
		if err := c.makeSchemas(ctx, db, d); err != nil {
			return err
		}
		aside := make([]string, len(moves))
		for i := range moves {
			m := &moves[i]
			var err error
			switch {
			case m.from == "":
				continue
			case m.to == "":
				err = c.execOne(ctx, db, "DELETE FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?",
					c.name, m.name.Namespace, m.name.Table, m.from)
			case m.to != m.from:
				err = c.moveOne(ctx, db, pointerMove{name: m.name, from: m.from, to: m.to}, m.kind())
			case m.now == (Name{}) && !m.view:
				err = c.stands(ctx, db, *m)
			}
			if err == nil && m.to != "" && m.target() != m.name {
				aside[i] = "lhsql-renamed-" + uuid.NewString()
				err = c.execOne(ctx, db, "UPDATE iceberg_tables SET table_name = ? WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?",
					aside[i], c.name, m.name.Namespace, m.name.Table, m.to)
			}
			if err != nil {
				return err
			}
		}
		for i := range moves {
			m := &moves[i]
			var err error
			if m.from == "" {
				err = c.moveOne(ctx, db, pointerMove{name: m.target(), to: m.to}, m.kind())
			} else if aside[i] != "" {
				to := m.target()
				err = c.execOne(ctx, db, "UPDATE iceberg_tables SET table_namespace = ?, table_name = ? WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?",
					to.Namespace, to.Table, c.name, m.name.Namespace, aside[i])
				if err != nil && duplicate(err) {
					err = &Exists{What: strings.ToLower(m.kind()), Name: to.String()}
				}
			}
			if err != nil {
				return err
			}
		}
		return c.endSchemas(ctx, db, d)
	})
}

// execOne runs a statement that is to change one row: errLostRace if that is not there.
func (c *sqlCatalog) execOne(ctx context.Context, db sqlExec, query string, args ...any) error {
	res, err := db.ExecContext(ctx, c.q(query), args...)
	if err != nil {
		if duplicate(err) {
			return err
		}
		return c.fail(err, "written")
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errLostRace
	}
	return nil
}

// found tells whether a query within a transaction has a row.
func (c *sqlCatalog) found(ctx context.Context, db sqlExec, query string, args ...any) (bool, error) {
	rows, err := db.QueryContext(ctx, c.q(query), args...)
	if err != nil {
		return false, c.fail(err, "read")
	}
	defer rows.Close()
	some := rows.Next()
	return some, c.fail(rows.Err(), "read")
}

// makeSchemas makes the schemas that are to be made, and makes sure of those that must be there.
func (c *sqlCatalog) makeSchemas(ctx context.Context, db sqlExec, d *definitions) error {
	for _, ns := range d.needs {
		if err := c.needSchema(ctx, db, ns, "SHARE"); err != nil {
			return err
		}
	}
	for _, s := range d.schemas {
		if s.dropped || !s.made {
			if err := c.needSchema(ctx, db, s.name, "UPDATE"); err != nil {
				return err
			}
		}
	}
	for _, s := range d.schemas {
		if s.dropped && s.made {
			if err := c.forgetSchema(ctx, db, s.name); err != nil {
				return err
			}
		}
		if !s.made {
			continue
		}
		all := map[string]string{"exists": "true"}
		for k, v := range s.set {
			all[k] = v
		}
		if err := c.setSchema(ctx, db, s.name, all); err != nil {
			return err
		}
	}
	return nil
}

// needSchema makes sure that a schema is there. In PostgreSQL it is locked, so that it cannot be
// dropped before the transaction ends.
func (c *sqlCatalog) needSchema(ctx context.Context, db sqlExec, ns, lock string) error {
	if lock = " FOR " + lock; !c.postgres {
		lock = ""
	}
	ok, err := c.found(ctx, db, "SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?"+lock, c.name, ns)
	if err == nil && !ok {
		ok, err = c.schemaIn(ctx, db, ns)
	}
	if err == nil && !ok {
		err = &NotFound{What: "schema", Name: ns}
	}
	return err
}

// schemaIn tells whether a schema is there by what lies in it.
func (c *sqlCatalog) schemaIn(ctx context.Context, db sqlExec, ns string) (bool, error) {
	like := likeBelow(ns)
	return c.found(ctx, db, `SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ? AND (table_namespace = ? OR table_namespace LIKE ? ESCAPE '!')
UNION ALL SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace LIKE ? ESCAPE '!' LIMIT 1`,
		c.name, ns, like, c.name, like)
}

// likeBelow is the pattern of the schemas below one.
func likeBelow(ns string) string {
	return strings.NewReplacer("!", "!!", "%", "!%", "_", "!_").Replace(ns) + ".%"
}

func (c *sqlCatalog) forgetSchema(ctx context.Context, db sqlExec, ns string) error {
	_, err := db.ExecContext(ctx, c.q("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?"), c.name, ns)
	return c.fail(err, "written")
}

// setSchema writes properties that are not there.
func (c *sqlCatalog) setSchema(ctx context.Context, db sqlExec, ns string, props map[string]string) error {
	for k, v := range props {
		if _, err := db.ExecContext(ctx, c.q("INSERT INTO iceberg_namespace_properties VALUES (?, ?, ?, ?)"), c.name, ns, k, v); err != nil {
			if duplicate(err) {
				return &Exists{What: "schema", Name: ns}
			}
			return c.fail(err, "written")
		}
	}
	return nil
}

// endSchemas changes and drops schemas, once what lies in them has gone. The rows of a schema that
// is dropped go first: who puts a table into it meanwhile waits for them (makeSchemas), or has
// committed and is seen.
func (c *sqlCatalog) endSchemas(ctx context.Context, db sqlExec, d *definitions) error {
	for _, s := range d.schemas {
		switch {
		case s.made:
		case s.dropped:
			if err := c.forgetSchema(ctx, db, s.name); err != nil {
				return err
			}
			inside, err := c.schemaIn(ctx, db, s.name)
			if err != nil {
				return err
			}
			if inside {
				return &NotEmpty{Namespace: s.name}
			}
		default:
			for _, k := range append(keysOf(s.set), s.remove...) {
				if _, err := db.ExecContext(ctx, c.q("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ? AND property_key = ?"), c.name, s.name, k); err != nil {
					return c.fail(err, "written")
				}
			}
			if err := c.setSchema(ctx, db, s.name, s.set); err != nil {
				return err
			}
		}
	}
	return nil
}
