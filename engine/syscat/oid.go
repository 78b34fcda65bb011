package syscat

import (
	"context"
	"hash/fnv"
	"sort"
	"strings"
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
	namespaceOID   = 2615 // pg_namespace

	databaseOwnerOID = 6171 // the predefined role that owns the schema public
	databaseOwner    = "pg_database_owner"
)

// PublicComment is what PostgreSQL says of the schema public.
const PublicComment = "standard public schema"

// IsPublic tells whether an OID of pg_namespace is that of the schema public.
func IsPublic(oid uint32) bool { return oid == publicOID }

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
	key    uint32 // of the index that identifier fields, if any, show as
	def    *def   // a system table
}

// Names is an enumeration of a Host's relations, by name and OID. Once made it does not change:
// copies may be kept and read by many sessions.
type Names struct {
	made   bool
	list   []item // sorted by schema and name, system tables last
	byOID  map[uint32]int
	byKey  map[uint32]int  // by the OID of the key's index and of its constraint
	shared map[uint32]bool // OIDs that more than one relation, index or constraint has
	byName map[[2]string]int
	called map[string][]int // by name alone
}

// Made tells whether the enumeration is there.
func (n *Names) Made() bool { return n.made }

// Len counts the relations, the system's own included.
func (n *Names) Len() int { return len(n.list) }

// names enumerates h's relations once.
func names(ctx context.Context, h Host) (*Names, error) {
	return h.Names(ctx, func() (Names, error) { return enumerate(ctx, h) })
}

func enumerate(ctx context.Context, h Host) (Names, error) {
	list, err := schemas(ctx, h)
	if err != nil {
		return Names{}, err
	}
	db := h.Database()
	m := Names{made: true, byOID: map[uint32]int{}, byKey: map[uint32]int{}, shared: map[uint32]bool{}, byName: map[[2]string]int{}, called: map[string][]int{}}
	add := func(it item) {
		i := len(m.list)
		m.list = append(m.list, it)
		m.byName[[2]string{it.schema, it.entry.Name}] = i
		m.called[it.entry.Name] = append(m.called[it.entry.Name], i)
		if _, taken := m.byOID[it.oid]; taken {
			m.shared[it.oid] = true
		} else {
			m.byOID[it.oid] = i
		}
		if it.def == nil && !it.entry.View {
			for _, k := range []uint32{it.key, constraintOID(db, it)} {
				if _, taken := m.byKey[k]; taken {
					m.shared[k] = true
				}
				m.byKey[k] = i
			}
		}
	}
	for _, s := range list {
		if s == "pg_catalog" || s == "information_schema" {
			continue
		}
		entries, err := h.Entries(ctx, s)
		if err != nil {
			return Names{}, err
		}
		for _, e := range entries {
			add(item{schema: s, entry: e, oid: OID(db, s, e.Name), key: hashOID("key", db, s, e.Name)})
		}
	}
	for _, d := range sortedDefs() {
		add(item{schema: d.schema, entry: Entry{Name: d.name, View: d.view}, oid: d.oid, def: d})
	}
	return m, nil
}

func constraintOID(db string, it item) uint32 {
	return hashOID("constraint", db, it.schema, it.entry.Name)
}

// KeyOID is the OID of the index of the name that a primary key shows as.
func KeyOID(ctx context.Context, h Host, schema, name string) (uint32, bool) {
	table, ok := strings.CutSuffix(name, keySuffix)
	if !ok || !Exists(ctx, h, schema, table) {
		return 0, false
	}
	n, _ := names(ctx, h)
	it := n.list[n.byName[[2]string{schema, table}]]
	if r, err := relationOf(ctx, h, it); err == nil {
		for _, k := range r.Keys {
			if k.Name == name {
				return k.indexOID(h.Database(), it), true
			}
		}
	}
	return 0, false
}

// Exists tells whether the schema has a relation of the name.
func Exists(ctx context.Context, h Host, schema, name string) bool {
	n, err := names(ctx, h)
	if err != nil {
		return false
	}
	_, ok := n.byName[[2]string{schema, name}]
	return ok
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

// ByOID finds a relation by OID; a key's index too, as no view.
func ByOID(ctx context.Context, h Host, oid uint32) (schema, name string, view, ok bool, err error) {
	n, err := names(ctx, h)
	if err != nil {
		return "", "", false, false, err
	}
	if i, ok := n.byOID[oid]; ok {
		it := n.list[i]
		return it.schema, it.entry.Name, it.entry.View, true, nil
	}
	if schema, r, k, err := KeyByOID(ctx, h, oid); err == nil && r != nil && k.indexOID(h.Database(), n.list[n.byName[[2]string{schema, r.Name}]]) == oid {
		return schema, k.Name, false, true, nil
	}
	return "", "", false, false, nil
}

// KeyByOID finds the relation and the key that shows as the index or constraint with the OID; r nil if
// there is none.
func KeyByOID(ctx context.Context, h Host, oid uint32) (schema string, r *Relation, key Key, err error) {
	n, err := names(ctx, h)
	if err != nil {
		return "", nil, key, err
	}
	name := ""
	i, ok := n.byKey[oid]
	if !ok {
		if i, ok = n.keptKey(oid, h); !ok {
			return "", nil, key, nil
		}
		name = h.KeptKeyName(oid)
	}
	it := n.list[i]
	if r, err = h.Relation(ctx, it.schema, it.entry.Name); err != nil {
		return "", nil, key, err
	}
	for _, k := range r.Keys {
		if k.Primary && name == "" || k.Name == name {
			return it.schema, r, k, nil
		}
	}
	return "", nil, key, nil
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

// PredefinedRole finds a role that is there without being anybody's.
func PredefinedRole(name string) (uint32, bool) { return databaseOwnerOID, name == databaseOwner }

// RoleName is the name of the role with the OID.
func RoleName(h Host, oid uint32) (string, bool) {
	if l, err := h.Lock(context.Background()); err == nil && l != nil {
		r, ok := l.State.RoleByOID(oid)
		if !ok {
			return "", false
		}
		return r.Name, true
	}
	if oid == ownerOID {
		return h.User(), true
	}
	if oid == databaseOwnerOID {
		return databaseOwner, true
	}
	for _, u := range h.Users() {
		if RoleOID(u) == oid {
			return u, true
		}
	}
	return "", false
}
