package syscat

import "context"

func init() {
	makers["pg_catalog.pg_depend"] = pgDepend
}

// OIDs of catalogs that pg_depend names.
const (
	pgClassOID      = 1259
	pgConstraintOID = 2606
)

// pgDepend says what the keys that identifier fields show as hang on, as PostgreSQL does: the
// constraint on its columns, the index on the constraint.
func pgDepend(ctx context.Context, q *query) error {
	con := func(it item) uint32 { return constraintOID(q.host.Database(), it) }
	wanted := func(it item) bool {
		return q.may("deptype", "a") && q.may("refobjid", it.oid) && q.may("objid", con(it)) ||
			q.may("deptype", "i") && q.may("refobjid", con(it)) && q.may("objid", it.key)
	}
	return q.keysOf(ctx, "", "", "", wanted, func(it item, _ *Relation, cols []int) error {
		con := con(it)
		for _, c := range cols {
			if err := q.row("classid", pgConstraintOID, "objid", con, "objsubid", 0,
				"refclassid", pgClassOID, "refobjid", it.oid, "refobjsubid", c, "deptype", "a"); err != nil {
				return err
			}
		}
		return q.row("classid", pgClassOID, "objid", it.key, "objsubid", 0,
			"refclassid", pgConstraintOID, "refobjid", con, "refobjsubid", 0, "deptype", "i")
	})
}
