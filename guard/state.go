package guard

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Role is a user or a group.
type Role struct {
	OID  OID    `json:"oid"`
	Name string `json:"name"`

	Super      bool `json:"super,omitempty"`
	NoInherit  bool `json:"noinherit,omitempty"`
	CreateRole bool `json:"createrole,omitempty"`
	CreateDB   bool `json:"createdb,omitempty"`
	Login      bool `json:"login,omitempty"`
	BypassRLS  bool `json:"bypassrls,omitempty"`
	// Limit is how many sessions it may have, one more than the number, so that 0 is none set.
	Limit int `json:"limit,omitempty"`
	// Verifier is what its password is checked with, as PostgreSQL's pg_authid has it; Native the hash
	// for MySQL's mysql_native_password, where that was asked for.
	Verifier string     `json:"verifier,omitempty"`
	Native   string     `json:"native,omitempty"`
	Until    *time.Time `json:"until,omitempty"` // when the password stops to be good
	// Configured: the configuration names it. It logs in with the configuration's password.
	Configured bool `json:"configured,omitempty"`
}

// ConnectionLimit is how many sessions the role may have; -1: any number.
func (r *Role) ConnectionLimit() int { return r.Limit - 1 }

// Membership makes Member a member of Role.
type Membership struct {
	Role    OID  `json:"role"`
	Member  OID  `json:"member"`
	Grantor OID  `json:"by"`
	Admin   bool `json:"admin,omitempty"`
	// Inherit is WITH INHERIT of the grant; nil: as the member's own INHERIT says. NoSet: the member
	// may not SET ROLE to it.
	Inherit *bool `json:"inherit,omitempty"`
	NoSet   bool  `json:"noset,omitempty"`
}

// Name names an object: a database by its catalog, a schema by catalog and namespace, a table or
// view by all three.
type Name struct {
	Kind Kind
	lake.Name
}

// Shown is the object as messages name it.
func (n Name) Shown() string {
	switch n.Kind {
	case Database:
		return n.Catalog
	case Schema:
		return n.Namespace
	}
	return n.Table
}

// Object is what the store knows of an object.
type Object struct {
	Owner OID `json:"owner"`
	// UUID tells a table from another one that later has its name; "" for databases and schemas.
	UUID string `json:"uuid,omitempty"`
	ACL  ACL    `json:"acl,omitempty"` // nil: the default
	// Columns and Refs are the lists of columns and branches by name.
	Columns map[string]ACL `json:"columns,omitempty"`
	Refs    map[string]ACL `json:"refs,omitempty"`
	// Invoker: a view that reads its tables with the rights of who reads it.
	Invoker bool `json:"invoker,omitempty"`
}

// acl is the object's list, or the default one.
func (o *Object) acl(k Kind) ACL {
	if o.ACL != nil {
		return o.ACL
	}
	return defaultACL(k, o.Owner)
}

// Default says what ALTER DEFAULT PRIVILEGES changed: for objects of a kind that Role makes, in one
// schema or everywhere ("").
type Default struct {
	Role               OID
	Catalog, Namespace string
	Kind               Kind
}

// State is what was known of roles and privileges at one time. It is not changed: an Edit makes the
// next one.
type State struct {
	version  int64
	roles    map[OID]*Role
	byName   map[string]OID
	members  map[[3]OID]Membership // by role, member and grantor
	objects  map[Name]*Object
	byUUID   map[string]Name
	defaults map[Default]ACL
	admins   []string
	users    []string // of the configuration

	rights sync.Map // OID → map[OID]bool: the roles whose privileges it has
}

func newState(admins, users []string) *State {
	return &State{roles: map[OID]*Role{}, byName: map[string]OID{}, members: map[[3]OID]Membership{}, objects: map[Name]*Object{},
		byUUID: map[string]Name{}, defaults: map[Default]ACL{}, admins: admins, users: users}
}

func (st *State) clone() *State {
	return &State{version: st.version, roles: maps.Clone(st.roles), byName: maps.Clone(st.byName), members: maps.Clone(st.members),
		objects: maps.Clone(st.objects), byUUID: maps.Clone(st.byUUID), defaults: maps.Clone(st.defaults), admins: st.admins, users: st.users}
}

// Rows of the store, by kind; keys are JSON so that any name can stand in them.
const (
	roleRow    = "role"
	memberRow  = "member"
	objectRow  = "object"
	defaultRow = "default"
)

func keyOf(parts ...any) string {
	b, _ := json.Marshal(parts) // of strings and numbers: it cannot fail
	return string(b)
}

// apply takes over rows of the store.
func (st *State) apply(rows []lake.PrivilegeRow) error {
	for _, r := range rows {
		if err := st.applyRow(r); err != nil {
			return sqlerr.Wrap(err, sqlerr.DataCorrupted, "the store of privileges: %s %s", r.Kind, r.Key)
		}
	}
	return nil
}

func (st *State) applyRow(r lake.PrivilegeRow) error {
	var key []any
	d := json.NewDecoder(strings.NewReader(r.Key))
	if err := d.Decode(&key); err != nil {
		return err
	}
	str := func(i int) string {
		if i < len(key) {
			s, _ := key[i].(string)
			return s
		}
		return ""
	}
	num := func(i int) OID {
		if i < len(key) {
			f, _ := key[i].(float64)
			return OID(f)
		}
		return 0
	}
	gone := r.Body == ""
	switch r.Kind {
	case roleRow:
		if gone {
			st.dropRole(num(0))
			return nil
		}
		var x Role
		if err := json.Unmarshal([]byte(r.Body), &x); err != nil {
			return err
		}
		st.putRole(&x)
	case memberRow:
		id := [3]OID{num(0), num(1), num(2)}
		if gone {
			delete(st.members, id)
			return nil
		}
		var m Membership
		if err := json.Unmarshal([]byte(r.Body), &m); err != nil {
			return err
		}
		st.members[id] = m
	case objectRow:
		n := Name{Kind(str(0)), lake.Name{Catalog: str(1), Namespace: str(2), Table: str(3)}}
		if gone {
			st.putObject(n, nil)
			return nil
		}
		var o Object
		if err := json.Unmarshal([]byte(r.Body), &o); err != nil {
			return err
		}
		st.putObject(n, &o)
	case defaultRow:
		k := Default{num(0), str(1), str(2), Kind(str(3))}
		if gone {
			delete(st.defaults, k)
			return nil
		}
		var a ACL
		if err := json.Unmarshal([]byte(r.Body), &a); err != nil {
			return err
		}
		st.defaults[k] = a
	}
	return nil // a kind of a newer server's: it gives nothing to anybody
}

func (st *State) putRole(r *Role) {
	if old := st.roles[r.OID]; old != nil {
		delete(st.byName, old.Name)
	}
	st.roles[r.OID] = r
	st.byName[r.Name] = r.OID
}

func (st *State) dropRole(oid OID) {
	if old := st.roles[oid]; old != nil {
		delete(st.byName, old.Name)
		delete(st.roles, oid)
	}
}

func (st *State) putObject(n Name, o *Object) {
	if old := st.objects[n]; old != nil && old.UUID != "" && st.byUUID[old.UUID] == n {
		delete(st.byUUID, old.UUID)
	}
	if o == nil {
		delete(st.objects, n)
		return
	}
	st.objects[n] = o
	if o.UUID != "" {
		st.byUUID[o.UUID] = n
	}
}

// oidFor is a free OID for a role of the name.
func (st *State) oidFor(name string) OID {
	h := fnv.New32a()
	h.Write([]byte(name))
	const first = 16384
	for n := h.Sum32(); ; n++ {
		// Positive as a signed 32-bit number: some clients read OIDs so.
		oid := first + n%(1<<31-first-1)
		if st.roles[oid] == nil {
			return oid
		}
	}
}

// configure adds the roles that are there without the store: the predefined ones, the administrators
// and the users of the configuration. What the configuration says of a name wins.
func (st *State) configure() {
	for i := range predefined {
		if st.roles[predefined[i].OID] == nil {
			st.putRole(&predefined[i])
		}
	}
	for i, name := range st.admins {
		r := Role{Name: name}
		oid, there := st.byName[name]
		switch {
		case i == 0:
			if there && oid != Bootstrap {
				st.dropRole(oid)
			}
			r.OID = Bootstrap
		case there:
			r = *st.roles[oid]
		default:
			r.OID = st.oidFor(name)
		}
		r.Super, r.Login, r.CreateRole, r.CreateDB, r.BypassRLS, r.Configured, r.Limit = true, true, true, true, true, true, 0
		st.putRole(&r)
	}
	for _, name := range st.users {
		if oid, there := st.byName[name]; there {
			if r := *st.roles[oid]; !r.Configured {
				r.Configured = true
				st.putRole(&r)
			}
			continue
		}
		st.putRole(&Role{OID: st.oidFor(name), Name: name, Login: true, Configured: true})
	}
}

// Role finds a role by name.
func (st *State) Role(name string) (*Role, bool) {
	r := st.roles[st.byName[name]]
	return r, r != nil
}

// RoleByOID finds a role by its OID.
func (st *State) RoleByOID(oid OID) (*Role, bool) {
	r := st.roles[oid]
	return r, r != nil
}

// Roles lists all roles by name.
func (st *State) Roles() []*Role {
	out := make([]*Role, 0, len(st.roles))
	for _, r := range st.roles {
		out = append(out, r)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Memberships lists all, by role, member and grantor.
func (st *State) Memberships() []Membership {
	out := slices.Collect(maps.Values(st.members))
	for member, roles := range predefinedMembers {
		for _, r := range roles {
			out = append(out, Membership{Role: r, Member: member, Grantor: Bootstrap})
		}
	}
	slices.SortFunc(out, func(a, b Membership) int {
		return slices.Compare([]OID{a.Role, a.Member, a.Grantor}, []OID{b.Role, b.Member, b.Grantor})
	})
	return out
}

func (st *State) roleName(oid OID) string {
	if r := st.roles[oid]; r != nil {
		return r.Name
	}
	return strconv.FormatUint(uint64(oid), 10) // as PostgreSQL shows a role that is no more
}

// reach walks memberships upwards from a role, over those that through lets pass.
func (st *State) reach(from OID, through func(m *Membership, member *Role) bool) map[OID]bool {
	seen := map[OID]bool{from: true}
	for list := []OID{from}; len(list) > 0; {
		at := list[0]
		list = list[1:]
		add := func(m Membership) {
			member := st.roles[at]
			if member != nil && !seen[m.Role] && through(&m, member) {
				seen[m.Role] = true
				list = append(list, m.Role)
			}
		}
		for _, m := range st.members {
			if m.Member == at {
				add(m)
			}
		}
		for _, r := range predefinedMembers[at] {
			add(Membership{Role: r, Member: at})
		}
	}
	return seen
}

// rightsOf are the roles whose privileges a role has without SET ROLE, itself included.
func (st *State) rightsOf(role OID) map[OID]bool {
	if v, ok := st.rights.Load(role); ok {
		return v.(map[OID]bool)
	}
	m := st.reach(role, func(m *Membership, member *Role) bool {
		if m.Inherit != nil {
			return *m.Inherit
		}
		return !member.NoInherit
	})
	st.rights.Store(role, m)
	return m
}

// HasRightsOf tells whether role has the privileges of another without SET ROLE.
func (st *State) HasRightsOf(role, of OID) bool {
	if role == of {
		return true
	}
	r := st.roles[role]
	return r != nil && (r.Super || st.rightsOf(role)[of])
}

// IsMember tells whether role is a member of another, directly or not, whether or not it inherits.
func (st *State) IsMember(role, of OID) bool {
	r := st.roles[role]
	return role == of || r != nil && (r.Super || st.memberOf(role, of))
}

// memberOf is IsMember without what a superuser may.
func (st *State) memberOf(role, of OID) bool {
	return st.reach(role, func(*Membership, *Role) bool { return true })[of]
}

// MaySet tells whether a session of role may SET ROLE to another.
func (st *State) MaySet(role, to OID) bool {
	r := st.roles[role]
	return role == to || r != nil && (r.Super || st.reach(role, func(m *Membership, _ *Role) bool { return !m.NoSet })[to])
}

// IsAdmin tells whether role may give others membership in of.
func (st *State) IsAdmin(role, of OID) bool {
	if r := st.roles[role]; r == nil || r.Super {
		return r != nil
	}
	admin := false
	for _, m := range st.members {
		if m.Role == of && m.Admin && (m.Member == role || st.memberOf(role, m.Member)) {
			admin = true
		}
	}
	return admin
}

// Find gives what is known of an object; of one that nobody has changed, the default. uuid is the
// table's or view's; "" stands for whichever has the name. Another table than the one that the
// privileges were given on has none of them.
func (st *State) Find(n Name, uuid string) *Object {
	o := st.objects[n]
	if o != nil && (uuid == "" || o.UUID == "" || o.UUID == uuid) {
		return o
	}
	if uuid != "" {
		if was, ok := st.byUUID[uuid]; ok && was.Kind == n.Kind && was.Catalog == n.Catalog {
			return st.objects[was] // another program renamed it
		}
	}
	return st.unknown(n)
}

// Knows tells whether the store knows an object by this name.
func (st *State) Knows(n Name, uuid string) bool {
	o := st.objects[n]
	return o != nil && o.UUID == uuid
}

// unknown is an object that the store does not know.
func (st *State) unknown(n Name) *Object {
	if n.Kind == Schema && n.Namespace == "public" {
		return &Object{Owner: DatabaseOwner, ACL: ACL{
			{Grantee: DatabaseOwner, Grantor: DatabaseOwner, Privs: Usage | Create}, {Grantor: DatabaseOwner, Privs: Usage}}}
	}
	return &Object{Owner: Bootstrap}
}

// who tells whose privileges role has, for objects of a catalog.
func (st *State) who(role OID, catalog string) func(OID) bool {
	rights := st.rightsOf(role)
	return func(of OID) bool {
		if of == DatabaseOwner {
			return rights[st.Find(Name{Database, lake.Name{Catalog: catalog}}, "").Owner]
		}
		return rights[of]
	}
}

// OwnerOf is an object's owner; of the schema public, the database's.
func (st *State) OwnerOf(n Name, uuid string) OID {
	o := st.Find(n, uuid).Owner
	if o == DatabaseOwner {
		return st.Find(Name{Database, lake.Name{Catalog: n.Catalog}}, "").Owner
	}
	return o
}

// Owns tells whether role may do what only an object's owner may.
func (st *State) Owns(role OID, n Name, uuid string) bool {
	r := st.roles[role]
	if r == nil || r.Super {
		return r != nil
	}
	return st.who(role, n.Catalog)(st.Find(n, uuid).Owner)
}

// Held are the privileges that role has on an object, on all of it.
func (st *State) Held(role OID, n Name, uuid string) Privilege {
	r := st.roles[role]
	switch {
	case role == 0: // what everybody has
		p, _ := st.Find(n, uuid).acl(n.Kind).held(func(OID) bool { return false })
		return p
	case r == nil:
		return 0
	case r.Super:
		return n.Kind.All()
	}
	who := st.who(role, n.Catalog)
	p, _ := st.Find(n, uuid).acl(n.Kind).held(who)
	switch n.Kind {
	case Table:
		if who(ReadAllData) {
			p |= Select
		}
		if who(writeAllData) {
			p |= Insert | Update | Delete
		}
		if who(maintainAll) {
			p |= Maintain
		}
		p |= st.below(Name{Schema, lake.Name{Catalog: n.Catalog, Namespace: n.Namespace}}, who)
		p |= st.below(Name{Database, lake.Name{Catalog: n.Catalog}}, who)
	case Schema:
		if all, ok := st.objects[Name{Database, lake.Name{Catalog: n.Catalog}}]; ok {
			if held, _ := all.ACL.held(who); held&Usage != 0 { // MySQL's GRANT … ON *.*
				p |= held & Schema.All()
			}
		}
		if p&Usage == 0 && (who(ReadAllData) || who(writeAllData)) {
			p |= Usage
		}
	}
	return p
}

// below is what a list of a schema or database gives of the tables in it.
func (st *State) below(n Name, who func(OID) bool) Privilege {
	o := st.objects[n]
	if o == nil {
		return 0
	}
	p, _ := o.ACL.held(who)
	return p & Table.All()
}

// HeldOnColumn are those that role has on a column alone; any is the union over all columns.
func (st *State) HeldOnColumn(role OID, n Name, uuid, column string) Privilege {
	return st.heldOn(role, st.Find(n, uuid).Columns, n, column)
}

// HeldOnAnyColumn are those that role has on some column alone.
func (st *State) HeldOnAnyColumn(role OID, n Name, uuid string) Privilege {
	p := Privilege(0)
	for c := range st.Find(n, uuid).Columns {
		p |= st.HeldOnColumn(role, n, uuid, c)
	}
	return p
}

// HeldOnRef are those that role has on a branch alone.
func (st *State) HeldOnRef(role OID, n Name, uuid, branch string) Privilege {
	return st.heldOn(role, st.Find(n, uuid).Refs, n, branch)
}

func (st *State) heldOn(role OID, lists map[string]ACL, n Name, part string) Privilege {
	a := lists[part]
	if a == nil || st.roles[role] == nil {
		return 0
	}
	p, _ := a.held(st.who(role, n.Catalog))
	return p
}

// Grantable are the privileges on an object, or with column on a column, that role may give others.
func (st *State) Grantable(role OID, n Name, uuid, column string) Privilege {
	r := st.roles[role]
	if r == nil {
		return 0
	}
	o := st.Find(n, uuid)
	who := st.who(role, n.Catalog)
	if r.Super || who(o.Owner) {
		return n.Kind.All()
	}
	_, p := o.acl(n.Kind).held(who)
	if column != "" {
		_, c := o.Columns[column].held(who)
		p |= c
	}
	return p
}

// ACLText gives an object's list as PostgreSQL prints it; nil where nobody has changed it.
func (st *State) ACLText(n Name, uuid string) []string {
	o := st.Find(n, uuid)
	if o.ACL == nil {
		return nil
	}
	return o.ACL.text(st.roleName)
}

// ACL gives an object's list, the default one where nobody has changed it.
func (st *State) ACL(n Name, uuid string) ACL { return st.Find(n, uuid).acl(n.Kind) }

// ColumnACL gives a column's list.
func (st *State) ColumnACL(n Name, uuid, column string) ACL { return st.Find(n, uuid).Columns[column] }

// ColumnACLText is ACLText of a column.
func (st *State) ColumnACLText(n Name, uuid, column string) []string {
	if a := st.Find(n, uuid).Columns[column]; a != nil {
		return a.text(st.roleName)
	}
	return nil
}

// Defaults calls f for each list of ALTER DEFAULT PRIVILEGES, in order.
func (st *State) Defaults(f func(d Default, acl []string) error) error {
	keys := slices.Collect(maps.Keys(st.defaults))
	slices.SortFunc(keys, func(a, b Default) int {
		return strings.Compare(keyOf(a.Catalog, a.Namespace, a.Kind, a.Role), keyOf(b.Catalog, b.Namespace, b.Kind, b.Role))
	})
	for _, k := range keys {
		if err := f(k, st.defaults[k].text(st.roleName)); err != nil {
			return err
		}
	}
	return nil
}

// Each calls f for every object that the store knows, by name.
func (st *State) Each(f func(n Name, o *Object)) {
	keys := slices.Collect(maps.Keys(st.objects))
	slices.SortFunc(keys, func(a, b Name) int {
		if c := a.Name.Compare(b.Name); c != 0 {
			return c
		}
		return strings.Compare(string(a.Kind), string(b.Kind))
	})
	for _, k := range keys {
		f(k, st.objects[k])
	}
}
