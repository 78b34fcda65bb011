package guard

import (
	"context"
	"errors"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/lhsql/lhsql/internal/testseed"
	"github.com/lhsql/lhsql/lake"
)

// memory is a store in memory.
type memory struct {
	version int64
	rows    map[[2]string]lake.PrivilegeRow
	at      map[[2]string]int64
	lost    bool
}

func newMemory() *memory {
	return &memory{version: 1, rows: map[[2]string]lake.PrivilegeRow{}, at: map[[2]string]int64{}}
}

func (m *memory) PrivilegeRows(_ context.Context, after int64) (int64, []lake.PrivilegeRow, error) {
	if m.lost {
		return 0, nil, errors.New("lost")
	}
	var out []lake.PrivilegeRow
	for k, r := range m.rows {
		if m.at[k] > after {
			out = append(out, r)
		}
	}
	return m.version, out, nil
}

func (m *memory) SetPrivileges(_ context.Context, after int64, rows []lake.PrivilegeRow) (bool, error) {
	if m.lost {
		return false, errors.New("lost")
	}
	if after != m.version {
		return false, nil
	}
	m.version++
	for _, r := range rows {
		k := [2]string{r.Kind, r.Key}
		m.rows[k], m.at[k] = r, m.version
	}
	return true, nil
}

func open(m *memory, users ...string) *Guard {
	return New(Config{Store: func() (lake.PrivilegeStore, error) { return m, nil }, Admins: []string{"dba", "second"}, Users: func() []string { return users }})
}

// change does what f does in the name of a role.
func change(t *testing.T, g *Guard, actor string, f func(e *Edit) error) error {
	t.Helper()
	_, err := g.Change(context.Background(), func(st *State) (*Edit, error) {
		r, ok := st.Role(actor)
		if !ok {
			t.Fatalf("there is no role %s", actor)
		}
		e := st.Edit(r.OID, r.OID)
		return e, f(e)
	})
	return err
}

// What one server keeps another reads, and a server that begins reads it all: random statements end in
// the same state on both.
func TestServersAgree(t *testing.T) {
	r := rand.New(rand.NewSource(int64(testseed.Of(t))))
	m := newMemory()
	a, b := open(m, "filed"), open(m, "filed")
	names := []string{"r0", "r1", "r2", "r3", "filed", "second"}
	tables := []Name{{Table, lake.Name{Catalog: "c", Namespace: "n", Table: "t"}}, {Table, lake.Name{Catalog: "c", Namespace: "n", Table: "u"}}, {Schema, lake.Name{Catalog: "c", Namespace: "n"}}}
	privs := []Privilege{Select, Insert, Update, Delete, History, Maintain}
	done := 0
	for range 600 {
		g := []*Guard{a, b}[r.Intn(2)]
		name, other, n := names[r.Intn(len(names))], names[r.Intn(len(names))], tables[r.Intn(len(tables))]
		target := Target{Name: n, UUID: map[bool]string{true: "u-" + n.Table}[n.Kind == Table], Columns: []string{"x", "y"}}
		kind, p, flag := r.Intn(9), privs[r.Intn(len(privs))], r.Intn(2) == 0
		err := change(t, g, "dba", func(e *Edit) error {
			oid := OID(0)
			if x, ok := e.Role(name); ok {
				oid = x.OID
			} else if kind != 0 {
				return nil
			}
			switch kind {
			case 0:
				_, err := e.CreateRole(name, Attributes{Login: &flag, Inherit: &flag})
				return err
			case 1:
				return e.DropRole(name, true)
			case 2:
				return e.GrantRole(name, other, MemberOptions{Admin: &flag}, "")
			case 3:
				return e.RevokeRole(name, other, MemberOptions{})
			case 4, 5:
				return e.Grant(target, Grant{Revoke: kind == 5, Privs: p, AllPrivs: true, To: []OID{oid}, Option: flag && kind == 4, Cascade: true})
			case 6:
				if n.Kind != Table {
					return nil
				}
				return e.Grant(target, Grant{Revoke: flag, Columns: []ColumnPrivs{{Privs: Select, Columns: []string{"x"}}}, To: []OID{oid}, Cascade: true})
			case 7:
				return e.SetOwner(target, name)
			}
			return e.GrantDefault(Default{Role: oid, Catalog: "c", Kind: Table}, Grant{Revoke: flag, Privs: Select, To: []OID{oid}})
		})
		if err == nil {
			done++
		}
	}
	if done < 200 {
		t.Errorf("only %d statements did something", done)
	}
	// Everything that was changed since is to be read now.
	look := func(g *Guard) *State {
		g.state.Store(nil)
		st, err := g.Now(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	states := []*State{look(a), look(b), look(open(m, "filed"))}
	for i, st := range states[1:] {
		if !maps.EqualFunc(st.roles, states[0].roles, func(x, y *Role) bool { return *x == *y }) {
			t.Errorf("server %d knows other roles", i+1)
		}
		if !maps.EqualFunc(st.members, states[0].members, func(x, y Membership) bool {
			return x.Role == y.Role && x.Member == y.Member && x.Admin == y.Admin
		}) {
			t.Errorf("server %d knows other memberships", i+1)
		}
		for _, n := range tables {
			if x, y := st.ACLText(n, ""), states[0].ACLText(n, ""); !slices.Equal(x, y) {
				t.Errorf("server %d: %v: %v, not %v", i+1, n, x, y)
			}
			for _, role := range names {
				x, ok := st.Role(role)
				y, ok2 := states[0].Role(role)
				if ok != ok2 || ok && st.Held(x.OID, n, "") != states[0].Held(y.OID, n, "") {
					t.Errorf("server %d: %s may do otherwise to %v", i+1, role, n)
				}
			}
		}
	}
}

// A table of another UUID has none of what was granted on its name; one that was renamed elsewhere takes
// it along.
func TestPrivilegesFollowTheTable(t *testing.T) {
	g := open(newMemory())
	n := Name{Table, lake.Name{Catalog: "c", Namespace: "n", Table: "t"}}
	if err := change(t, g, "dba", func(e *Edit) error {
		r, err := e.CreateRole("r", Attributes{})
		if err != nil {
			return err
		}
		return e.Grant(Target{Name: n, UUID: "first"}, Grant{Privs: Select, To: []OID{r.OID}})
	}); err != nil {
		t.Fatal(err)
	}
	st, err := g.Now(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r, _ := st.Role("r")
	renamed := n
	renamed.Name.Table = "renamed"
	for _, c := range []struct {
		n    Name
		uuid string
		want Privilege
	}{{n, "first", Select}, {n, "second", 0}, {renamed, "first", Select}, {renamed, "second", 0}} {
		if got := st.Held(r.OID, c.n, c.uuid); got != c.want {
			t.Errorf("%s of %s: %v, want %v", c.n.Table, c.uuid, got, c.want)
		}
	}
}

// A store that is lost opens nothing, to nobody but the administrators, and is found again.
func TestLostStore(t *testing.T) {
	m := newMemory()
	g := open(m)
	ctx := context.Background()
	if _, err := g.Now(ctx); err != nil {
		t.Fatal(err)
	}
	m.lost = true
	g.state.Store(nil) // it is old
	if st, err := g.Now(ctx); err == nil {
		t.Errorf("there is a state: %v", st.version)
	}
	if _, err := g.NowFor(ctx, "anna"); err == nil {
		t.Error("anna may do something")
	}
	st, err := g.NowFor(ctx, "dba")
	if err != nil {
		t.Fatal(err)
	}
	if r, ok := st.Role("dba"); !ok || !r.Super {
		t.Error("the administrator is none any more")
	}
	if err := change(t, g, "dba", func(*Edit) error { return nil }); err == nil {
		t.Error("privileges were changed without the store")
	}
	m.lost = false
	g.lost.Store(nil) // the pause is over
	if _, err := g.Now(ctx); err != nil {
		t.Error(err)
	}
	// One that is older than what was known is another one: it counts, and what was known does not.
	if err := change(t, g, "dba", func(e *Edit) error { _, err := e.CreateRole("r", Attributes{}); return err }); err != nil {
		t.Fatal(err)
	}
	*m = *newMemory()
	g.state.Store(nil)
	if st, err := g.Now(ctx); err != nil {
		t.Error(err)
	} else if _, ok := st.Role("r"); ok {
		t.Error("a role of another store is known")
	}
}
