package lake

import (
	"context"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
)

// Leaser is a catalog whose servers can agree which of them does what need not be done twice.
type Leaser interface {
	// Lease takes the lease of a name for a while, or takes it longer if holder has it already. ok
	// false: another holder has it, whose time is not over. The clocks of the holders should agree to
	// within a fraction of the time. A lease is no lock: what is done under it must be safe beside
	// somebody else who does it, too.
	Lease(ctx context.Context, name, holder string, length time.Duration) (ok bool, err error)
	// Release gives a lease back.
	Release(ctx context.Context, name, holder string) error
}

// leaseTable is beside Iceberg's own tables in the catalog's database; other engines do not know it.
const leaseTable = `CREATE TABLE IF NOT EXISTS lhsql_leases (
	catalog_name VARCHAR(255) NOT NULL,
	lease_name VARCHAR(255) NOT NULL,
	holder VARCHAR(255) NOT NULL,
	until_ms BIGINT NOT NULL,
	PRIMARY KEY (catalog_name, lease_name)
)`

// Lease implements Leaser.
func (c *sqlCatalog) Lease(ctx context.Context, name, holder string, length time.Duration) (ok bool, err error) {
	now := clock.Now(ctx)
	err = c.certainly(ctx, "lease "+name, func(ctx context.Context, db sqlExec) error {
		ok = false
		if _, err := db.ExecContext(ctx, leaseTable); err != nil {
			return err
		}
		res, err := db.ExecContext(ctx, c.q("UPDATE lhsql_leases SET holder = ?, until_ms = ? WHERE catalog_name = ? AND lease_name = ? AND (holder = ? OR until_ms < ?)"),
			holder, now.Add(length).UnixMilli(), c.name, name, holder, now.UnixMilli())
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil || n > 0 {
			ok = n > 0
			return err
		}
		if there, err := c.found(ctx, db, "SELECT 1 FROM lhsql_leases WHERE catalog_name = ? AND lease_name = ?", c.name, name); err != nil || there {
			return err
		}
		// Of two who find no row, one meets the other's: then it has no lease.
		_, err = db.ExecContext(ctx, c.q("INSERT INTO lhsql_leases (catalog_name, lease_name, holder, until_ms) VALUES (?, ?, ?, ?)"),
			c.name, name, holder, now.Add(length).UnixMilli())
		ok = err == nil
		return err
	})
	if err != nil && duplicate(err) {
		return false, nil
	}
	return ok && err == nil, err
}

// Release implements Leaser.
func (c *sqlCatalog) Release(ctx context.Context, name, holder string) error {
	return c.certainly(ctx, "lease "+name, func(ctx context.Context, db sqlExec) error {
		_, err := db.ExecContext(ctx, c.q("DELETE FROM lhsql_leases WHERE catalog_name = ? AND lease_name = ? AND holder = ?"), c.name, name, holder)
		return err
	})
}
