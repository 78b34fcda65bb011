package syscat

// This file shows PRIMARY KEY and UNIQUE constraints: each as a constraint, and as the index that it
// would have in PostgreSQL. Identifier fields that no constraint was declared for show as a primary
// key that is not enforced.

import (
	"context"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// Key is a PRIMARY KEY or UNIQUE constraint. Columns are indexes of the relation's.
type Key struct {
	Name                                                         string
	Columns                                                      []int
	Primary, NullsNotDistinct, NotEnforced, Deferrable, Deferred bool
	Prefixes                                                     []int // see lake.Key
	// Identifier: it is identifier fields alone, which other engines may have declared.
	Identifier bool
}

// keySuffix makes the name of a primary key that was given none.
const keySuffix = "_pkey"

// keyName is the name of a primary key that was given none.
func keyName(it item) string { return it.entry.Name + keySuffix }

// names lists the key's columns.
func (k Key) names(r *Relation) string {
	names := make([]string, len(k.Columns))
	for i, c := range k.Columns {
		if names[i] = Quote(r.Columns[c].Name); k.Prefix(i) > 0 {
			names[i] = `"left"(` + names[i] + ", " + strconv.Itoa(k.Prefix(i)) + ")"
		}
	}
	return strings.Join(names, ", ")
}

// Prefix is how many letters or bytes of column i count; 0: all.
func (k Key) Prefix(i int) int {
	if i < len(k.Prefixes) {
		return k.Prefixes[i]
	}
	return 0
}

// attributes are the key's columns as attribute numbers.
func (k Key) attributes() []int {
	out := make([]int, len(k.Columns))
	for i, c := range k.Columns {
		out[i] = c + 1
	}
	return out
}

// kind is the constraint's pg_constraint.contype.
func (k Key) kind() string {
	if k.Primary {
		return "p"
	}
	return "u"
}

// what is the constraint's type in the information schema.
func (k Key) what() string {
	if k.Primary {
		return "PRIMARY KEY"
	}
	return "UNIQUE"
}

// IndexDefinition is pg_get_indexdef of the index that a key shows as.
func (k Key) IndexDefinition(schema string, r *Relation) string {
	text := "CREATE UNIQUE INDEX " + Quote(k.Name) + " ON " + Quote(schema) + "." + Quote(r.Name) + " USING btree (" + k.names(r) + ")"
	if k.NullsNotDistinct {
		text += " NULLS NOT DISTINCT"
	}
	return text
}

// Definition is pg_get_constraintdef of k.
func (k Key) Definition(r *Relation) string {
	text := k.what()
	if k.NullsNotDistinct {
		text += " NULLS NOT DISTINCT"
	}
	text += " (" + k.names(r) + ")"
	if k.Deferrable {
		text += " DEFERRABLE"
	}
	if k.Deferred {
		text += " INITIALLY DEFERRED"
	}
	if k.NotEnforced && !k.Identifier {
		text += " NOT ENFORCED"
	}
	return text
}

// IndexOID and ConstraintOID are what a key's index and constraint go by. A primary key's are known
// without the table: they do not depend on its name.
func (k Key) indexOID(db string, it item) uint32 {
	if k.Primary {
		return it.key
	}
	return hashOID("key", db, it.schema, it.entry.Name, k.Name)
}

func (k Key) constraintOID(db string, it item) uint32 {
	if k.Primary {
		return constraintOID(db, it)
	}
	return hashOID("unique", db, it.schema, it.entry.Name, k.Name)
}

func keysOf(r *Relation) []Key { return r.Keys }

// eachPgKey calls f with the keys of tables.
func (q *query) eachPgKey(ctx context.Context, relCol, schemaCol, nameCol string, wanted func(item) bool, f func(it item, r *Relation, k Key) error) error {
	return eachOf(ctx, q, relCol, schemaCol, nameCol, wanted, keysOf, f)
}

// mayKey tells whether the query may want the index of a table's key, by the OID in the column.
func (q *query) mayKey(column string, it item) bool {
	if q.may(column, it.key) {
		return true
	}
	for _, d := range q.ask.Equal[q.def.index[column]] {
		if d.Form() != types.FormI64 {
			continue
		}
		if schema, table, ok := q.host.KeptKey(uint32(d.Int())); ok && schema == it.schema && table == it.entry.Name {
			return true
		}
	}
	return false
}

// keptKey finds the table of a key by the OID that a row has shown.
func (n *Names) keptKey(oid uint32, h Host) (int, bool) {
	schema, table, ok := h.KeptKey(oid)
	if !ok {
		return 0, false
	}
	i, ok := n.byName[[2]string{schema, table}]
	return i, ok
}

// asksOther tells whether the query may want keys of other names than primary keys have that were given
// none: where it asks for none in particular, or for one that is not known. OIDs are known by then: a
// row has shown them.
func (q *query) asksOther(n *Names, oidCol, nameCol string) bool {
	if len(q.ask.Equal[q.def.index[oidCol]]) > 0 {
		return false
	}
	want := q.ask.Equal[q.def.index[nameCol]]
	for _, d := range want {
		if d.Form() != types.FormStr {
			return true
		}
		if base, ok := strings.CutSuffix(d.Str(), keySuffix); len(n.called[d.Str()]) == 0 && (!ok || len(n.called[base]) == 0) {
			return true
		}
	}
	return len(want) == 0
}

// keyClasses are the pg_class rows of the indexes that a table's keys show as.
func (q *query) keyClasses(ctx context.Context, it item, l *Lock) error {
	r, err := q.load(ctx, it)
	if err != nil || r == nil {
		return err
	}
	for _, k := range r.Keys {
		oid := k.indexOID(q.host.Database(), it)
		q.host.KeepKey(oid, it.schema, it.entry.Name, k.Name)
		if err := q.row("oid", oid, "relname", k.Name, "relnamespace", SchemaOID(q.host.Database(), it.schema),
			"reltype", 0, "reloftype", 0, "relowner", l.owner(it), "relam", btreeAM, "relfilenode", oid, "reltablespace", 0,
			"relpages", 0, "reltuples", float64(r.Rows), "relallvisible", 0, "reltoastrelid", 0, "relhasindex", false,
			"relisshared", false, "relpersistence", persistence(it), "relkind", "i", "relnatts", len(k.Columns), "relchecks", 0,
			"relhasrules", false, "relhastriggers", false, "relhassubclass", false, "relrowsecurity", false,
			"relforcerowsecurity", false, "relispopulated", true, "relreplident", "n", "relispartition", false,
			"relrewrite", 0, "relfrozenxid", 0, "relminmxid", 0); err != nil {
			return err
		}
	}
	return nil
}

func pgIndex(ctx context.Context, q *query) error {
	wanted := func(it item) bool { return q.mayKey("indexrelid", it) }
	return q.eachPgKey(ctx, "indrelid", "", "", wanted, func(it item, r *Relation, k Key) error {
		cols := k.attributes()
		zero := make([]int, len(cols))
		oid := k.indexOID(q.host.Database(), it)
		q.host.KeepKey(oid, it.schema, it.entry.Name, k.Name)
		return q.row("indexrelid", oid, "indrelid", it.oid, "indnatts", len(cols), "indnkeyatts", len(cols),
			"indisunique", true, "indnullsnotdistinct", k.NullsNotDistinct, "indisprimary", k.Primary, "indisexclusion", false,
			"indimmediate", !k.Deferrable, "indisclustered", false, "indisvalid", true, "indcheckxmin", false, "indisready", true,
			"indislive", true, "indisreplident", false, "indkey", cols, "indcollation", zero, "indclass", zero, "indoption", zero)
	})
}

// keyConstraints are the rows of pg_constraint that are keys.
func (q *query) keyConstraints(ctx context.Context) error {
	if !q.may("contype", "p") && !q.may("contype", "u") || !q.may("contypid", 0) || !q.may("confrelid", 0) {
		return nil
	}
	db := q.host.Database()
	n, err := names(ctx, q.host)
	if err != nil {
		return err
	}
	other := q.asksOther(n, "conindid", "conname") && len(q.ask.Equal[q.def.index["oid"]]) == 0
	wanted := func(it item) bool {
		return other || q.mayKey("conindid", it) && q.may("conname", keyName(it)) && (q.may("oid", constraintOID(db, it)) || q.mayKey("oid", it))
	}
	return q.eachPgKey(ctx, "conrelid", "", "", wanted, func(it item, r *Relation, k Key) error {
		oid := k.constraintOID(db, it)
		q.host.KeepKey(oid, it.schema, it.entry.Name, k.Name)
		return q.row("oid", oid, "conname", k.Name,
			"connamespace", SchemaOID(db, it.schema), "contype", k.kind(), "condeferrable", k.Deferrable, "condeferred", k.Deferred,
			"convalidated", true, "conrelid", it.oid, "contypid", 0, "conindid", k.indexOID(db, it), "conparentid", 0,
			"confrelid", 0, "confupdtype", " ", "confdeltype", " ", "confmatchtype", " ", "conislocal", true,
			"coninhcount", 0, "connoinherit", true, "conkey", k.attributes())
	})
}
