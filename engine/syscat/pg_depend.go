package syscat

import "context"

func init() {
	makers["pg_catalog.pg_depend"] = pgDepend
	makers["pg_catalog.pg_rewrite"] = pgRewrite
}

// OIDs of catalogs that pg_depend names.
const (
	pgClassOID      = 1259
	pgConstraintOID = 2606
	pgRewriteOID    = 2618
)

// pgDepend says what keys hang on, as PostgreSQL does: the
// constraint on its columns, the index on the constraint. What a view reads, its rule depends on.
func pgDepend(ctx context.Context, q *query) error {
	if err := viewDepends(ctx, q); err != nil {
		return err
	}
	db := q.host.Database()
	wanted := func(it item) bool {
		con := constraintOID(db, it)
		return q.may("deptype", "a") && q.may("refobjid", it.oid) && (q.may("objid", con) || q.mayKey("objid", it)) ||
			q.may("deptype", "i") && (q.may("refobjid", con) || q.mayKey("refobjid", it)) && q.mayKey("objid", it)
	}
	return q.eachPgKey(ctx, "", "", "", wanted, func(it item, _ *Relation, k Key) error {
		con := k.constraintOID(db, it)
		for _, c := range k.attributes() {
			if err := q.row("classid", pgConstraintOID, "objid", con, "objsubid", 0,
				"refclassid", pgClassOID, "refobjid", it.oid, "refobjsubid", c, "deptype", "a"); err != nil {
				return err
			}
		}
		return q.row("classid", pgClassOID, "objid", k.indexOID(db, it), "objsubid", 0,
			"refclassid", pgConstraintOID, "refobjid", con, "refobjsubid", 0, "deptype", "i")
	})
}

// viewDepends has the rows of views' rules: pg_dump orders views by them.
func viewDepends(ctx context.Context, q *query) error {
	if !q.may("classid", pgRewriteOID) || !q.may("refclassid", pgClassOID) || !q.may("deptype", "n") && !q.may("deptype", "i") {
		return nil
	}
	return q.each(ctx, "", "", "", func(it item) error {
		rule := ruleOID(q.host.Database(), it)
		if it.def != nil || !it.entry.View || !q.may("objid", rule) {
			return nil
		}
		r, err := q.load(ctx, it)
		if err != nil || r == nil {
			return err
		}
		on := func(oid uint32, how string) error {
			return q.row("classid", pgRewriteOID, "objid", rule, "objsubid", 0, "refclassid", pgClassOID, "refobjid", oid, "refobjsubid", 0, "deptype", how)
		}
		for _, how := range []string{"i", "n"} { // both, as in PostgreSQL
			if err := on(it.oid, how); err != nil {
				return err
			}
		}
		for _, oid := range r.Reads {
			if err := on(oid, "n"); err != nil {
				return err
			}
		}
		return nil
	})
}

func ruleOID(db string, it item) uint32 { return hashOID("rule", db, it.schema, it.entry.Name) }

// pgRewrite has the rule that makes each view of a user's one.
func pgRewrite(ctx context.Context, q *query) error {
	return q.each(ctx, "ev_class", "", "", func(it item) error {
		if it.def != nil || !it.entry.View {
			return nil
		}
		return q.row("oid", ruleOID(q.host.Database(), it), "rulename", "_RETURN", "ev_class", it.oid, "ev_type", "1", "ev_enabled", "O",
			"is_instead", true, "ev_qual", "<>", "ev_action", "<>")
	})
}
