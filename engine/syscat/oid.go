package syscat

import (
	"context"
	"hash/fnv"
	"sort"
)

// PostgreSQL's own OIDs that appear here.
const (
	pgCatalogOID   = 11
	publicOID      = 2200
	informationOID = 13377
	firstUserOID   = 16384
	ownerOID       = 10 // the bootstrap superuser: owner of what has no other
	btreeAM        = 403
	heapAM         = 2
	defaultSpace   = 1663
	globalSpace    = 1664
)

// OID of a table or view: a hash of its name, so that it is the same after a restart, in every
// process and on every wire. Two names of one catalog may collide (about one chance in 350 for
// 5,000 tables); both then show the same OID, and look-ups by OID find the first by name.
func OID(catalog, schema, table string) uint32 {
	if d := defs()[schema+"."+table]; d != nil {
		return d.oid
	}
	return hashOID("table", catalog, schema, table)
}

func hashOID(parts ...string) uint32 {
	h := fnv.New32a()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	// Positive as a signed 32-bit number: some clients read OIDs so.
	return firstUserOID + h.Sum32()%(1<<31-firstUserOID-1)
}

// SchemaOID is pg_namespace.oid.
func SchemaOID(catalog, schema string) uint32 {
	switch schema {
	case "pg_catalog":
		return pgCatalogOID
	case "information_schema":
		return informationOID
	case "public":
		return publicOID
	}
	return hashOID("schema", catalog, schema)
}

// DatabaseOID is pg_database.oid.
func DatabaseOID(name string) uint32 { return hashOID("database", name) }

// RoleOID is pg_authid.oid.
func RoleOID(name string) uint32 { return hashOID("role", name) }

// schemas lists the namespaces of the host with the system's own, sorted.
func schemas(ctx context.Context, h Host) ([]string, error) {
	list, err := h.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	out := append([]string{"information_schema", "pg_catalog"}, list...)
	has := false
	for _, n := range list {
		has = has || n == "public"
	}
	if !has {
		out = append(out, "public") // the default search path names it
	}
	sort.Strings(out)
	return out, nil
}

// item is one relation in an enumeration.
type item struct {
	schema string
	entry  Entry
	oid    uint32
	def    *def // a system table
}

// items enumerates relations; system tables last. schemaOID 0 and name "" mean any.
func items(ctx context.Context, h Host, wantSchema, name string) ([]item, error) {
	list, err := schemas(ctx, h)
	if err != nil {
		return nil, err
	}
	var out []item
	for _, s := range list {
		if wantSchema != "" && s != wantSchema || s == "pg_catalog" || s == "information_schema" {
			continue
		}
		entries, err := h.Entries(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if name == "" || e.Name == name {
				out = append(out, item{schema: s, entry: e, oid: OID(h.Database(), s, e.Name)})
			}
		}
	}
	for _, d := range sortedDefs() {
		if (wantSchema == "" || d.schema == wantSchema) && (name == "" || d.name == name) {
			out = append(out, item{schema: d.schema, entry: Entry{Name: d.name, View: d.view}, oid: d.oid, def: d})
		}
	}
	return out, nil
}

func sortedDefs() []*def {
	list := make([]*def, 0, len(defs()))
	for _, d := range defs() {
		list = append(list, d)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].schema != list[j].schema {
			return list[i].schema > list[j].schema
		}
		return list[i].name < list[j].name
	})
	return list
}

// ByOID finds a relation by OID.
func ByOID(ctx context.Context, h Host, oid uint32) (schema, name string, view, ok bool, err error) {
	list, err := items(ctx, h, "", "")
	if err != nil {
		return "", "", false, false, err
	}
	for _, it := range list {
		if it.oid == oid {
			return it.schema, it.entry.Name, it.entry.View, true, nil
		}
	}
	return "", "", false, false, nil
}

// relationOf loads what an item stands for.
func relationOf(ctx context.Context, h Host, it item) (*Relation, error) {
	if it.def == nil {
		return h.Relation(ctx, it.schema, it.entry.Name)
	}
	r := &Relation{Entry: it.entry, Rows: -1}
	for _, f := range it.def.fields {
		r.Columns = append(r.Columns, Column{Name: f.Name, Type: f.Type})
	}
	return r, nil
}

// SchemaName is the name of the schema with the OID.
func SchemaName(ctx context.Context, h Host, oid uint32) (string, bool) {
	list, err := schemas(ctx, h)
	if err != nil {
		return "", false
	}
	for _, s := range list {
		if SchemaOID(h.Database(), s) == oid {
			return s, true
		}
	}
	return "", false
}

// RoleName is the name of the role with the OID.
func RoleName(h Host, oid uint32) (string, bool) {
	if oid == ownerOID {
		return h.User(), true
	}
	for _, u := range h.Users() {
		if RoleOID(u) == oid {
			return u, true
		}
	}
	return "", false
}

// KeyByOID finds the relation whose key shows as the index or constraint with the OID; nil if
// there is none.
func KeyByOID(ctx context.Context, h Host, oid uint32) (schema string, r *Relation, err error) {
	list, err := items(ctx, h, "", "")
	if err != nil {
		return "", nil, err
	}
	for _, it := range list {
		if it.def != nil || (keyOID(h, it) != oid && hashOID("constraint", h.Database(), it.schema, it.entry.Name) != oid) {
			continue
		}
		r, err := h.Relation(ctx, it.schema, it.entry.Name)
		return it.schema, r, err
	}
	return "", nil, nil
}
