package syscat

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

func init() {
	makers["pg_catalog.pg_class"] = pgClass
	makers["pg_catalog.pg_attribute"] = pgAttribute
	makers["pg_catalog.pg_attrdef"] = pgAttrdef
	makers["pg_catalog.pg_index"] = pgIndex
	makers["pg_catalog.pg_constraint"] = pgConstraint
	makers["pg_catalog.pg_description"] = pgDescription
	makers["pg_catalog.pg_namespace"] = pgNamespace
	makers["pg_catalog.pg_tables"] = pgTables
	makers["pg_catalog.pg_views"] = pgViews
	makers["pg_catalog.pg_indexes"] = pgIndexes
	makers["pg_catalog.pg_stat_user_tables"] = pgStatTables
	makers["pg_catalog.pg_stat_all_tables"] = pgStatTables
}

// each enumerates the relations that a query may want, by what it asks of an OID column and,
// where the table has them, of columns with the names of schema and relation.
func (q *query) each(ctx context.Context, oidCol, schemaCol, nameCol string, f func(item) error) error {
	n, err := names(ctx, q.host)
	if err != nil {
		return err
	}
	schema := struct {
		name string
		may  bool
	}{}
	for _, it := range q.around(n, oidCol, nameCol) {
		if schemaCol != "" {
			if schema.name != it.schema {
				schema.name, schema.may = it.schema, q.may(schemaCol, it.schema)
			}
			if !schema.may {
				continue
			}
		}
		if oidCol != "" && !q.may(oidCol, it.oid) || nameCol != "" && !q.may(nameCol, it.entry.Name) {
			continue
		}
		if err := f(it); err != nil {
			return err
		}
	}
	return nil
}

func eachItem(list []item, f func(item) error) error {
	for _, it := range list {
		if err := f(it); err != nil {
			return err
		}
	}
	return nil
}

// around gives the relations that have, or whose keys have, the OIDs or names that the query
// compares columns with; all where it asks otherwise. What it gives may be more than is wanted.
func (q *query) around(n *Names, oidCol, nameCol string) []item {
	var at []int
	ok := false
	if oidCol != "" {
		at, ok = n.withOID(q.ask.Equal[q.def.index[oidCol]], q.host)
	}
	if !ok && nameCol != "" {
		at, ok = n.withName(q.ask.Equal[q.def.index[nameCol]])
	}
	if !ok {
		return n.list
	}
	slices.Sort(at)
	var out []item
	for _, i := range slices.Compact(at) {
		out = append(out, n.list[i])
	}
	return out
}

// lookups is how many relations are looked up one by one rather than by going through all.
const lookups = 100

func (n *Names) withOID(want []types.Datum, h Host) (at []int, ok bool) {
	if len(want) == 0 || len(want) > lookups {
		return nil, false
	}
	for _, d := range want {
		if d.Form() != types.FormI64 || n.shared[uint32(d.Int())] {
			return nil, false
		}
		for _, m := range []map[uint32]int{n.byOID, n.byKey} {
			if i, ok := m[uint32(d.Int())]; ok {
				at = append(at, i)
			}
		}
		if i, ok := n.keptKey(uint32(d.Int()), h); ok {
			at = append(at, i)
		}
	}
	return at, true
}

func (n *Names) withName(want []types.Datum) (at []int, ok bool) {
	if len(want) == 0 || len(want) > lookups {
		return nil, false
	}
	for _, d := range want {
		if d.Form() != types.FormStr {
			return nil, false
		}
		at = append(at, n.called[d.Str()]...)
		if table, ok := strings.CutSuffix(d.Str(), keySuffix); ok {
			at = append(at, n.called[table]...)
		}
	}
	return at, true
}

// load gives an item's relation; one that vanished meanwhile, or whose metadata cannot be read,
// is left out: a broken table may not hide all others from a catalog query.
func (q *query) load(ctx context.Context, it item) (*Relation, error) {
	r, err := relationOf(ctx, q.host, it)
	var nf *lake.NotFound
	if errors.As(err, &nf) || (err != nil && ctx.Err() == nil) {
		return nil, nil
	}
	return r, err
}

func relkind(it item) string {
	if it.entry.View {
		return "v"
	}
	return "r"
}

func pgClass(ctx context.Context, q *query) error {
	if !q.may("reltype", 0) {
		return nil // composite types are asked for; there are none
	}
	deep := q.needs("relnatts", "reltuples", "relhasindex", "reloptions", "relpages")
	indexes := q.may("relkind", "i")
	shown := deep && q.setting("lhsql.table_options") != "off"
	n, err := names(ctx, q.host)
	if err != nil {
		return err
	}
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	around := q.around(n, "oid", "relname")
	other := indexes && q.asksOther(n, "oid", "relname")
	if other {
		around = n.list
	}
	schema, space, may := "", uint32(0), false
	return eachItem(around, func(it item) error {
		if schema != it.schema {
			schema, space = it.schema, SchemaOID(q.host.Database(), it.schema)
			may = q.may("relnamespace", space)
		}
		if !may {
			return nil
		}
		if indexes && it.def == nil && !it.entry.View && (other || q.mayKey("oid", it) && q.may("relname", keyName(it))) {
			if err := q.keyClasses(ctx, it, l); err != nil {
				return err
			}
		}
		if !q.may("oid", it.oid) || !q.may("relname", it.entry.Name) || !q.may("relkind", relkind(it)) {
			return nil
		}
		r := &Relation{Rows: -1}
		if deep {
			var err error
			if r, err = q.load(ctx, it); err != nil {
				return err
			}
			if r == nil {
				r = &Relation{Rows: -1}
			}
		}
		am := heapAM
		if it.entry.View {
			am = 0
		}
		return q.row("oid", it.oid, "relname", it.entry.Name, "relnamespace", space,
			"reltype", 0, "reloftype", 0, "relowner", l.owner(it), "relacl", l.acl(it), "relam", am, "relfilenode", it.oid, "reltablespace", 0,
			"relpages", r.Bytes/8192, "reltuples", float64(r.Rows), "relallvisible", 0, "reltoastrelid", 0,
			"relhasindex", len(r.Keys) > 0, "relisshared", false, "relpersistence", persistence(it), "relkind", relkind(it),
			"relnatts", len(r.Columns), "relchecks", len(r.Checks), "relhasrules", it.entry.View, "relhastriggers", len(r.Foreign) > 0 || r.Referenced,
			"relhassubclass", false, "relrowsecurity", false, "relforcerowsecurity", false, "relispopulated", true,
			"relreplident", "d", "relispartition", false, "relrewrite", 0, "relfrozenxid", 0, "relminmxid", 0,
			"reloptions", options(shown, r.Options))
	})
}

// setting is the session's value of a setting.
func (q *query) setting(name string) string {
	for _, s := range q.host.Settings() {
		if s.Name == name {
			return s.Value
		}
	}
	return ""
}

func options(shown bool, o []string) any {
	if len(o) == 0 || !shown {
		return nil
	}
	return o
}

// collation is a string type's pg_attribute.attcollation: the default one, C for name.
func collation(t types.Type) int {
	switch t.Kind {
	case types.Name:
		return 950
	case types.Text, types.Varchar, types.Bpchar:
		return 100
	case types.Array:
		return collation(t.Elem())
	}
	return 0
}

func pgAttribute(ctx context.Context, q *query) error {
	n, err := names(ctx, q.host)
	if err != nil {
		return err
	}
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	return eachItem(q.around(n, "attrelid", ""), func(it item) error {
		if q.may("attrelid", it.oid) {
			r, err := q.load(ctx, it)
			if err != nil {
				return err
			}
			for i := 0; r != nil && i < len(r.Columns); i++ {
				if err := q.attribute(it.oid, i+1, r.Columns[i], l.columnACL(it, r.Columns[i].Name)); err != nil {
					return err
				}
			}
		}
		if it.def != nil || it.entry.View || !q.mayKey("attrelid", it) {
			return nil
		}
		// The columns of the indexes that keys show as.
		r, err := q.load(ctx, it)
		if err != nil || r == nil {
			return err
		}
		for _, k := range r.Keys {
			for i, n := range k.Columns {
				c := r.Columns[n]
				if err := q.attribute(k.indexOID(q.host.Database(), it), i+1, Column{Name: c.Name, Type: c.Type}, nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (q *query) attribute(rel uint32, n int, c Column, acl any) error {
	ti := typeInfo(c.Type)
	return q.row("attrelid", rel, "attname", c.Name, "atttypid", c.Type.OID(), "attstattarget", -1,
		"attlen", c.Type.TypLen(), "attnum", n, "attndims", ndims(c.Type), "attcacheoff", -1, "atttypmod", c.Type.Typmod(),
		"attbyval", ti.byval, "attalign", ti.align, "attstorage", ti.storage, "attcompression", "",
		"attnotnull", c.NotNull, "atthasdef", c.defining() != "", "atthasmissing", false, "attidentity", identityLetter(c),
		"attgenerated", generatedLetter(c), "attacl", acl, "attisdropped", false, "attislocal", true, "attinhcount", 0, "attcollation", collation(c.Type))
}

// identityLetter is pg_attribute.attidentity.
func identityLetter(c Column) string {
	switch c.Identity {
	case "always":
		return "a"
	case "":
		return ""
	}
	return "d"
}

// generatedLetter is pg_attribute.attgenerated: all are stored, and PostgreSQL 15 knows no others.
func generatedLetter(c Column) string {
	if c.Generated != "" {
		return "s"
	}
	return ""
}

func ndims(t types.Type) int {
	n := 0
	for t.Kind == types.Array {
		t = t.Elem()
		n++
	}
	return n
}

func pgAttrdef(ctx context.Context, q *query) error {
	return q.each(ctx, "adrelid", "", "", func(it item) error {
		if it.def != nil || it.entry.View {
			return nil
		}
		r, err := q.load(ctx, it)
		if err != nil || r == nil {
			return err
		}
		for i, c := range r.Columns {
			if c.defining() == "" {
				continue
			}
			if err := q.row("oid", hashOID("default", q.host.Database(), it.schema, it.entry.Name, c.Name),
				"adrelid", it.oid, "adnum", i+1, "adbin", c.defining()); err != nil {
				return err
			}
		}
		return nil
	})
}

func pgConstraint(ctx context.Context, q *query) error {
	if err := q.checkConstraints(ctx); err != nil {
		return err
	}
	if err := q.foreignConstraints(ctx); err != nil {
		return err
	}
	return q.keyConstraints(ctx)
}

// eachOf calls f with what tables have several of, such as keys. wanted, if set, tells which tables are read.
func eachOf[T any](ctx context.Context, q *query, relCol, schemaCol, nameCol string, wanted func(item) bool, of func(*Relation) []T, f func(it item, r *Relation, x T) error) error {
	return q.each(ctx, relCol, schemaCol, nameCol, func(it item) error {
		if it.def != nil || it.entry.View || wanted != nil && !wanted(it) {
			return nil
		}
		r, err := q.load(ctx, it)
		if err != nil || r == nil {
			return err
		}
		for _, x := range of(r) {
			if err := f(it, r, x); err != nil {
				return err
			}
		}
		return nil
	})
}

// eachCheck calls f with the CHECK constraints of tables.
func (q *query) eachCheck(ctx context.Context, relCol, schemaCol, nameCol string, f func(it item, c Check) error) error {
	return eachOf(ctx, q, relCol, schemaCol, nameCol, nil, func(r *Relation) []Check { return r.Checks },
		func(it item, _ *Relation, c Check) error { return f(it, c) })
}

// checkConstraints are the rows of pg_constraint that are no keys.
func (q *query) checkConstraints(ctx context.Context) error {
	if !q.may("contype", "c") || !q.may("contypid", 0) || !q.may("confrelid", 0) || !q.may("conindid", 0) {
		return nil
	}
	db := q.host.Database()
	return q.eachCheck(ctx, "conrelid", "", "", func(it item, c Check) error {
		oid := hashOID("check", db, it.schema, it.entry.Name, c.Name)
		q.host.KeepDefinition(oid, c.Definition())
		return q.row("oid", oid, "conname", c.Name, "connamespace", SchemaOID(db, it.schema), "contype", "c", "condeferrable", false,
			"condeferred", false, "convalidated", !c.NotEnforced && !c.NotValid, "conrelid", it.oid, "contypid", 0, "conindid", 0, "conparentid", 0,
			"confrelid", 0, "confupdtype", " ", "confdeltype", " ", "confmatchtype", " ", "conislocal", true,
			"coninhcount", 0, "connoinherit", false, "conkey", c.Columns)
	})
}

func pgDescription(ctx context.Context, q *query) error {
	if q.may("objoid", publicOID) {
		if err := q.row("objoid", publicOID, "classoid", namespaceOID, "objsubid", 0, "description", PublicComment); err != nil {
			return err
		}
	}
	return q.each(ctx, "objoid", "", "", func(it item) error {
		if it.def != nil {
			return nil
		}
		r, err := q.load(ctx, it)
		if err != nil || r == nil {
			return err
		}
		if r.Comment != "" {
			if err := q.row("objoid", it.oid, "classoid", pgClassOID, "objsubid", 0, "description", r.Comment); err != nil {
				return err
			}
		}
		for i, c := range r.Columns {
			if c.Comment == "" {
				continue
			}
			if err := q.row("objoid", it.oid, "classoid", pgClassOID, "objsubid", i+1, "description", c.Comment); err != nil {
				return err
			}
		}
		return nil
	})
}

func pgNamespace(ctx context.Context, q *query) error {
	list, err := schemas(ctx, q.host)
	if err != nil {
		return err
	}
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	for _, s := range list {
		owner, acl := uint32(ownerOID), any(nil)
		switch {
		case l != nil && isTemporary(s):
			owner = l.Role
		case l != nil && s != "pg_catalog" && s != "information_schema":
			n := l.schema(s)
			owner, acl = l.State.Find(n, "").Owner, aclOrNull(l.State.ACLText(n, ""))
		case s == "public":
			// As PostgreSQL's initdb makes it, which pg_dump leaves out.
			owner, acl = databaseOwnerOID, []string{databaseOwner + "=UC/" + databaseOwner, "=U/" + databaseOwner}
		}
		if err := q.row("oid", SchemaOID(q.host.Database(), s), "nspname", s, "nspowner", owner, "nspacl", acl); err != nil {
			return err
		}
	}
	return nil
}

func pgTables(ctx context.Context, q *query) error {
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	return q.each(ctx, "", "schemaname", "tablename", func(it item) error {
		if it.entry.View {
			return nil
		}
		return q.row("schemaname", it.schema, "tablename", it.entry.Name, "tableowner", q.roleName(l, l.owner(it)), "hasindexes", false,
			"hasrules", false, "hastriggers", false, "rowsecurity", false)
	})
}

func pgViews(ctx context.Context, q *query) error {
	l, err := q.lock(ctx)
	if err != nil {
		return err
	}
	return q.each(ctx, "", "schemaname", "viewname", func(it item) error {
		if !it.entry.View {
			return nil
		}
		def := any(nil)
		if it.def == nil && q.needs("definition") {
			r, err := q.load(ctx, it)
			if err != nil {
				return err
			}
			if r != nil {
				def = opt(r.SQL)
			}
		}
		return q.row("schemaname", it.schema, "viewname", it.entry.Name, "viewowner", q.roleName(l, l.owner(it)), "definition", def)
	})
}

func pgIndexes(ctx context.Context, q *query) error {
	return q.eachPgKey(ctx, "", "schemaname", "tablename", nil, func(it item, r *Relation, k Key) error {
		return q.row("schemaname", it.schema, "tablename", it.entry.Name, "indexname", k.Name, "indexdef", k.IndexDefinition(it.schema, r))
	})
}

func pgStatTables(ctx context.Context, q *query) error {
	return q.each(ctx, "relid", "schemaname", "relname", func(it item) error {
		if it.entry.View || it.def != nil {
			return nil
		}
		rows := int64(0)
		if q.needs("n_live_tup") {
			r, err := q.load(ctx, it)
			if err != nil {
				return err
			}
			if r != nil {
				rows = max(0, r.Rows)
			}
		}
		return q.row("relid", it.oid, "schemaname", it.schema, "relname", it.entry.Name, "seq_scan", 0, "seq_tup_read", 0,
			"n_tup_ins", 0, "n_tup_upd", 0, "n_tup_del", 0, "n_tup_hot_upd", 0, "n_live_tup", rows, "n_dead_tup", 0,
			"n_mod_since_analyze", 0, "n_ins_since_vacuum", 0, "vacuum_count", 0, "autovacuum_count", 0,
			"analyze_count", 0, "autoanalyze_count", 0)
	})
}

// persistence is relpersistence: only the session's own temporary tables are ever listed.
func persistence(it item) string {
	if isTemporary(it.schema) {
		return "t"
	}
	return "p"
}

func isTemporary(schema string) bool { return strings.HasPrefix(schema, "pg_temp_") }

// TotalBytes is the size of a Host's tables. One whose metadata cannot be read counts nothing.
func TotalBytes(ctx context.Context, h Host) (int64, error) {
	n, err := names(ctx, h)
	if err != nil {
		return 0, err
	}
	total := int64(0)
	for _, it := range n.list {
		if it.def != nil || it.entry.View || isTemporary(it.schema) {
			continue
		}
		r, err := relationOf(ctx, h, it)
		if err != nil && ctx.Err() != nil {
			return 0, err
		}
		if err == nil {
			total += r.Bytes
		}
	}
	return total, nil
}
