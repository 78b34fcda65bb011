package guard

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Edit makes the next State of one: its methods are the statements that change roles and privileges,
// each with PostgreSQL's rules about who may, and its errors. Actor is who asks. An Edit that failed
// must not be used further.
type Edit struct {
	*State
	Actor OID
	// Session is who logged in, who cannot be dropped either.
	Session OID

	notices []*sqlerr.Error                    // of the statement under way
	dirty   map[[2]string]func() (body string) // by kind and key
}

// Edit begins an Edit of st in the name of actor.
func (st *State) Edit(actor, session OID) *Edit {
	return &Edit{State: st.clone(), Actor: actor, Session: session, dirty: map[[2]string]func() string{}}
}

// Notice says something beside the result.
func (e *Edit) Notice(code sqlerr.Code, format string, args ...any) {
	e.notices = append(e.notices, sqlerr.New(code, format, args...))
}

// As begins the next statement, in the name of actor.
func (e *Edit) As(actor OID) { e.Actor, e.notices = actor, nil }

// Notices are what the last statement had to say.
func (e *Edit) Notices() []*sqlerr.Error { return e.notices }

// rows are what the store must be told.
func (e *Edit) rows() []lake.PrivilegeRow {
	keys := slices.SortedFunc(maps.Keys(e.dirty), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	out := make([]lake.PrivilegeRow, 0, len(keys))
	for _, k := range keys {
		out = append(out, lake.PrivilegeRow{Kind: k[0], Key: k[1], Body: e.dirty[k]()})
	}
	return out
}

func encode(v any) string {
	b, err := json.Marshal(v)
	invariant.Check(err == nil, "guard: a row cannot be written: %v", err)
	return string(b)
}

func (e *Edit) setRole(r *Role) {
	e.putRole(r)
	e.touchRow(r.OID)
}

func (e *Edit) touchRow(oid OID) {
	e.dirty[[2]string{roleRow, keyOf(oid)}] = func() string {
		r := e.roles[oid]
		if r == nil {
			return ""
		}
		x := *r
		if x.Configured { // what the configuration gives it, it gives as long as it names it
			x = Role{OID: x.OID, Name: x.Name, NoInherit: x.NoInherit, Login: true}
		}
		return encode(x)
	}
}

// refer makes a role that the configuration alone names one that the store knows, before anything
// refers to it.
func (e *Edit) refer(oid OID) {
	if r := e.roles[oid]; r != nil && r.Configured && oid != Bootstrap {
		e.touchRow(oid)
	}
}

func (e *Edit) setMember(m Membership, gone bool) {
	id := [3]OID{m.Role, m.Member, m.Grantor}
	if gone {
		delete(e.members, id)
	} else {
		e.refer(m.Role)
		e.refer(m.Member)
		e.refer(m.Grantor)
		e.members[id] = m
	}
	e.rights.Clear()
	e.dirty[[2]string{memberRow, keyOf(id[0], id[1], id[2])}] = func() string {
		if m, ok := e.members[id]; ok {
			return encode(m)
		}
		return ""
	}
}

func (e *Edit) setObject(n Name, o *Object) {
	if o != nil {
		e.refer(o.Owner)
		for _, a := range o.lists() {
			for _, it := range a {
				e.refer(it.Grantee)
				e.refer(it.Grantor)
			}
		}
	}
	e.putObject(n, o)
	e.dirty[[2]string{objectRow, keyOf(n.Kind, n.Catalog, n.Namespace, n.Table)}] = func() string {
		if o := e.objects[n]; o != nil {
			return encode(o)
		}
		return ""
	}
}

// lists are all of an object's access control lists.
func (o *Object) lists() []ACL {
	out := []ACL{o.ACL}
	for _, a := range o.Columns {
		out = append(out, a)
	}
	for _, a := range o.Refs {
		out = append(out, a)
	}
	return out
}

func (e *Edit) setDefault(k Default, a ACL) {
	if a == nil {
		delete(e.defaults, k)
	} else {
		e.refer(k.Role)
		for _, it := range a {
			e.refer(it.Grantee)
			e.refer(it.Grantor)
		}
		e.defaults[k] = a
	}
	e.dirty[[2]string{defaultRow, keyOf(k.Role, k.Catalog, k.Namespace, k.Kind)}] = func() string {
		if a := e.defaults[k]; a != nil {
			return encode(a)
		}
		return ""
	}
}

func (e *Edit) super() bool {
	r := e.roles[e.Actor]
	return r != nil && r.Super
}

// Named finds a role that a statement names.
func (e *Edit) Named(name string) (*Role, error) {
	if r, ok := e.Role(name); ok {
		return r, nil
	}
	return nil, sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
}
