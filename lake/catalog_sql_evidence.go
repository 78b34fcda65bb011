package lake

import (
	"context"
	"database/sql"
	"net/url"
)

// Evidence is a catalog that keeps texts beside its tables: the steps of an erasure that runs and the
// records of those that have ended (docs/erasure.md). What they say is maintain's business.
type Evidence interface {
	// EvidenceRows gives all rows of a kind, by sequence number and key.
	EvidenceRows(ctx context.Context, kind string) ([]EvidenceRow, error)
	// AddEvidence adds a row; added false: there is one of its kind, number and key.
	AddEvidence(ctx context.Context, r EvidenceRow) (added bool, err error)
	// SetEvidence replaces a row, or adds it.
	SetEvidence(ctx context.Context, r EvidenceRow) error
	DropEvidence(ctx context.Context, kind, key string) error
	// EvidencePlace is the file beside which a key of the server's may lie; "": there is none.
	EvidencePlace() string
}

// EvidenceRow is a text that is kept.
type EvidenceRow struct {
	Kind       string
	Seq        int64
	Key        string
	Body       string
	Prev, Hash string // of the row before it and its own, as hex
}

// evidenceTable is beside Iceberg's own tables in the catalog's database; other engines do not know it.
const evidenceTable = `CREATE TABLE IF NOT EXISTS lhsql_erasures (
	catalog_name VARCHAR(255) NOT NULL,
	kind VARCHAR(32) NOT NULL,
	seq BIGINT NOT NULL,
	id VARCHAR(255) NOT NULL,
	body TEXT NOT NULL,
	prev_hash VARCHAR(64) NOT NULL,
	hash VARCHAR(64) NOT NULL,
	PRIMARY KEY (catalog_name, kind, seq, id)
)`

const insertEvidence = "INSERT INTO lhsql_erasures (catalog_name, kind, seq, id, body, prev_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?)"

// EvidenceRows implements Evidence.
func (c *sqlCatalog) EvidenceRows(ctx context.Context, kind string) ([]EvidenceRow, error) {
	if err := c.certainly(ctx, "evidence", func(ctx context.Context, db sqlExec) error {
		_, err := db.ExecContext(ctx, evidenceTable)
		return err
	}); err != nil {
		return nil, err
	}
	var out []EvidenceRow
	err := c.query(ctx, "SELECT seq, id, body, prev_hash, hash FROM lhsql_erasures WHERE catalog_name = ? AND kind = ? ORDER BY seq, id", []any{c.name, kind},
		func() { out = nil }, func(rows *sql.Rows) error {
			r := EvidenceRow{Kind: kind}
			err := rows.Scan(&r.Seq, &r.Key, &r.Body, &r.Prev, &r.Hash)
			out = append(out, r)
			return err
		})
	return out, err
}

// AddEvidence implements Evidence.
func (c *sqlCatalog) AddEvidence(ctx context.Context, r EvidenceRow) (bool, error) {
	added := false
	err := c.certainly(ctx, "evidence", func(ctx context.Context, db sqlExec) error {
		added = false
		if _, err := db.ExecContext(ctx, evidenceTable); err != nil {
			return err
		}
		there, err := c.found(ctx, db, "SELECT 1 FROM lhsql_erasures WHERE catalog_name = ? AND kind = ? AND seq = ? AND id = ?", c.name, r.Kind, r.Seq, r.Key)
		if err != nil || there {
			return err
		}
		_, err = db.ExecContext(ctx, c.q(insertEvidence), c.name, r.Kind, r.Seq, r.Key, r.Body, r.Prev, r.Hash)
		added = err == nil
		return err
	})
	if err != nil && duplicate(err) {
		return false, nil
	}
	return added && err == nil, err
}

// SetEvidence implements Evidence.
func (c *sqlCatalog) SetEvidence(ctx context.Context, r EvidenceRow) error {
	return c.certainly(ctx, "evidence", func(ctx context.Context, db sqlExec) error {
		if _, err := db.ExecContext(ctx, evidenceTable); err != nil {
			return err
		}
		if _, err := db.ExecContext(ctx, c.q("DELETE FROM lhsql_erasures WHERE catalog_name = ? AND kind = ? AND id = ?"), c.name, r.Kind, r.Key); err != nil {
			return err
		}
		_, err := db.ExecContext(ctx, c.q(insertEvidence), c.name, r.Kind, r.Seq, r.Key, r.Body, r.Prev, r.Hash)
		return err
	})
}

// DropEvidence implements Evidence.
func (c *sqlCatalog) DropEvidence(ctx context.Context, kind, key string) error {
	return c.certainly(ctx, "evidence", func(ctx context.Context, db sqlExec) error {
		_, err := db.ExecContext(ctx, c.q("DELETE FROM lhsql_erasures WHERE catalog_name = ? AND kind = ? AND id = ?"), c.name, kind, key)
		return err
	})
}

// EvidencePlace implements Evidence: a database in a file has a place.
func (c *sqlCatalog) EvidencePlace() string {
	if c.postgres || c.inMemory() {
		return ""
	}
	dialect, dsn, err := sqlTarget(c.name, c.props["uri"])
	if err != nil || dialect != "sqlite" {
		return ""
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return ""
	}
	if u.Opaque == "" {
		return u.Path
	}
	path, err := url.PathUnescape(u.Opaque)
	if err != nil {
		return ""
	}
	return path
}
