package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// This file is where it is decided whether a role may do what a statement asks, on the objects that
// its names stand for. permit_needs.go says what each kind of statement needs.

// permission is who asks, and what is known of privileges now.
type permission struct {
	s     *Session
	st    *guard.State
	name  string
	role  guard.OID
	super bool
	keeps bool // the server's own maintenance
}

// permission gives nil where the lock is off. A role that is no more may do nothing.
func (s *Session) permission(ctx context.Context) (*permission, error) {
	if s.engine.guard == nil {
		return nil, nil
	}
	if s.opts.keeper {
		return &permission{s: s, super: true, keeps: true}, nil
	}
	st, err := s.privileges(ctx)
	if err != nil {
		return nil, err
	}
	p := &permission{s: s, st: st, name: s.currentUser()}
	r, ok := st.Role(p.name)
	if !ok {
		return nil, sqlerr.New(sqlerr.InsufficientPrivilege, "role \"%s\" does not exist any more", p.name)
	}
	p.role, p.super = r.OID, r.Super
	return p, nil
}

// allowed asks one question; the lock may be off.
func (s *Session) allowed(ctx context.Context, ask func(p *permission) error) error {
	p, err := s.permission(ctx)
	if p == nil || err != nil || p.super {
		return err
	}
	return ask(p)
}

// permit decides about a statement that is about to run.
func (s *Session) permit(ctx context.Context, st *Stmt) error {
	p, err := s.permission(ctx)
	if p == nil || err != nil {
		return err
	}
	return p.statement(ctx, st.parsed.Stmt, st.bound)
}

func tableName(n lake.Name) guard.Name { return guard.Name{Kind: guard.Table, Name: n} }

func schemaName(catalog, namespace string) guard.Name {
	return guard.Name{Kind: guard.Schema, Name: lake.Name{Catalog: catalog, Namespace: namespace}}
}

func databaseName(catalog string) guard.Name {
	return guard.Name{Kind: guard.Database, Name: lake.Name{Catalog: catalog}}
}

// object is the name and the UUID of a table or view that was found.
func object(rel *bind.Relation) (n guard.Name, uuid string) {
	n = tableName(lake.Name{Catalog: rel.Catalog, Namespace: rel.Schema, Table: rel.Name})
	switch {
	case rel.Table != nil:
		uuid = rel.Table.UUID()
	case rel.Of != nil:
		uuid = rel.Of.UUID()
	case rel.View != nil:
		uuid = rel.View.UUID
	}
	return n, uuid
}

// schema needs USAGE of the schema that a name stands in, and to get into its database.
func (p *permission) schema(catalog, namespace string) error {
	if catalog == temporaryCatalog {
		return nil
	}
	if catalog != p.s.catalog {
		if n := databaseName(catalog); p.st.Held(p.role, n, "")&guard.Connect == 0 {
			return guard.Denied(n, false)
		}
	}
	if n := schemaName(catalog, namespace); p.st.Held(p.role, n, "")&guard.Usage == 0 {
		return guard.Denied(n, false)
	}
	return nil
}

// usable tells whether unqualified names may be looked for in a schema.
func (s *Session) usable(ctx context.Context, catalog, namespace string) (bool, error) {
	switch namespace {
	case "pg_catalog", "information_schema", systemSchema:
		return true, nil
	}
	ok := true
	err := s.allowed(ctx, func(p *permission) error {
		ok = catalog == temporaryCatalog || s.temp != nil && namespace == s.temporarySchema() ||
			p.st.Held(p.role, schemaName(catalog, namespace), "")&guard.Usage != 0
		return nil
	})
	return ok, err
}

// entersSchema refuses to say what there is in a schema that the role may not use. One that there is
// not is not refused: the name may be read otherwise.
func (s *Session) entersSchema(ctx context.Context, catalog, namespace string) error {
	if mysqlSystem(namespace) && s.my != nil {
		return nil
	}
	if ok, err := s.usable(ctx, catalog, namespace); err != nil || ok {
		return err
	}
	if namespace != "public" && !s.namespaceExists(ctx, catalog, namespace) {
		return nil
	}
	return guard.Denied(schemaName(catalog, namespace), false)
}

// actor is whose privileges a use is judged by: the role's, or those of the owner of the view in whose
// text it stands, unless the view is one that reads with the rights of who reads it.
func (p *permission) actor(u *bind.Use) guard.OID {
	if u.In == nil {
		return p.role
	}
	if u.In.Relation.Catalog == temporaryCatalog {
		return p.actor(u.In) // the session's own
	}
	n, uuid := object(u.In.Relation)
	v := p.st.Find(n, uuid)
	if v.Invoker {
		return p.actor(u.In)
	}
	return p.st.OwnerOf(n, uuid)
}

// secret are the system tables that only superusers read.
var secret = []string{"pg_catalog.pg_authid", "pg_catalog.pg_shadow"}

// use decides about one relation of a statement. For targets w says what is written.
func (p *permission) use(u *bind.Use, w *targetWrites, locks bool) error {
	rel := u.Relation
	if rel.Catalog == temporaryCatalog {
		return nil
	}
	role := p.actor(u)
	if r, ok := p.st.RoleByOID(role); ok && r.Super {
		return nil
	}
	n, uuid := object(rel)
	if rel.Virtual != nil && rel.Of == nil {
		if slices.Contains(secret, rel.Schema+"."+rel.Name) && !p.st.HasRightsOf(role, guard.ReadAllData) {
			return guard.Denied(n, rel.Name == "pg_shadow")
		}
		return nil
	}
	if rel.Catalog == "" { // iceberg('/path')
		if !p.st.HasRightsOf(role, guard.ReadServerFiles) {
			return deniedPath()
		}
		return nil
	}
	if u.In == nil {
		if err := p.schema(rel.Catalog, rel.Schema); err != nil {
			return err
		}
	}
	held := p.st.Held(role, n, uuid)
	if u.References && held&guard.References == 0 && !p.columns(role, n, uuid, u.Columns, guard.References) {
		return guard.Denied(n, false)
	}
	if u.Reads {
		need := guard.Select
		if locks && u.In == nil && rel.Table != nil {
			need |= guard.Update
		}
		if rel.Past || pastTables[rel.Meta] {
			need |= guard.History
		}
		if missing := need &^ held; missing != 0 {
			e := guard.Denied(n, rel.View != nil)
			switch {
			case missing&guard.History != 0 && missing&guard.Select == 0:
				return e.WithHint("Its past is read with the privilege HISTORY.")
			case rel.Meta != "":
				return e.WithHint("What its metadata tells is for those who may read all of it.")
			case rel.Past:
				return e
			}
			if missing&guard.Select != 0 && !p.columns(role, n, uuid, u.Columns, guard.Select) ||
				missing&guard.Update != 0 && !p.columns(role, n, uuid, nil, guard.Update) {
				return e
			}
		}
	}
	if w != nil && u.Write && u.In == nil {
		return p.written(u, w, n, uuid)
	}
	return nil
}

// pastTables are the metadata tables that list what was.
var pastTables = map[string]bool{"snapshots": true, "history": true, "refs": true, "metadata_log_entries": true, "all_files": true, "all_data_files": true,
	"all_delete_files": true, "all_entries": true, "all_manifests": true}

func deniedPath() error {
	return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to read tables by their path").
		WithDetail("Only roles with privileges of the \"pg_read_server_files\" role may.")
}

// columns tells whether role has a privilege on each of the columns; without columns, on any.
func (p *permission) columns(role guard.OID, n guard.Name, uuid string, columns []string, need guard.Privilege) bool {
	if len(columns) == 0 {
		return p.st.HeldOnAnyColumn(role, n, uuid)&need != 0
	}
	for _, c := range columns {
		if p.st.HeldOnColumn(role, n, uuid, c)&need == 0 {
			return false
		}
	}
	return true
}

// targetWrites is what a statement does to its target.
type targetWrites struct {
	privs            guard.Privilege // that columns do not matter for
	inserts, updates []string        // columns
	insert, update   bool
}

// written decides about what is written to a target.
func (p *permission) written(u *bind.Use, w *targetWrites, n guard.Name, uuid string) error {
	held := p.st.Held(p.role, n, uuid)
	if b := u.Relation.Branch; b != "" && b != "main" {
		held |= p.st.HeldOnRef(p.role, n, uuid, b)
	}
	if w.privs&^held != 0 ||
		w.insert && held&guard.Insert == 0 && !p.columns(p.role, n, uuid, w.inserts, guard.Insert) ||
		w.update && held&guard.Update == 0 && !p.columns(p.role, n, uuid, w.updates, guard.Update) {
		return guard.Denied(n, false)
	}
	return nil
}

// writesOf says what a bound statement writes.
func writesOf(b *bind.Bound) *targetWrites {
	w := &targetWrites{}
	given := func(fields []lake.Field, set []bool) (out []string) {
		for i := range fields {
			if i < len(set) && set[i] && fields[i].Generated == nil {
				out = append(out, fields[i].Name)
			}
		}
		return out
	}
	add := func(n plan.Node) {
		switch n := n.(type) {
		case *plan.Insert:
			w.insert, w.inserts = true, given(n.Target.Schema.Fields, n.Given)
			if n.Overwrite {
				w.privs |= guard.Delete
			}
		case *plan.Update:
			w.update, w.updates = true, given(n.Target.Schema.Fields, n.Changed)
		case *plan.Delete:
			w.privs |= guard.Delete
		case *plan.Merge:
			for _, a := range n.Arms {
				switch a.Do {
				case plan.MergeInsert:
					w.insert, w.inserts = true, append(w.inserts, given(n.Target.Schema.Fields, a.Changed)...)
				case plan.MergeUpdate:
					w.update, w.updates = true, append(w.updates, given(n.Target.Schema.Fields, a.Changed)...)
				case plan.MergeDelete:
					w.privs |= guard.Delete
				}
			}
		}
	}
	if b.Plan != nil {
		plan.Walk(b.Plan, add)
	}
	if b.Copy != nil {
		if n := b.Copy.Insert(); n != nil {
			add(n)
		}
	}
	return w
}

// uses decides about all relations of a statement that reads and, with w, writes.
func (p *permission) uses(b *bind.Bound, w *targetWrites, locks bool) error {
	if b == nil {
		return nil
	}
	for _, u := range b.Uses {
		if err := p.use(u, w, locks); err != nil {
			return err
		}
	}
	return nil
}

// owns needs the object's owner.
func (p *permission) owns(rel *bind.Relation) error {
	if p.super || rel == nil || rel.Catalog == temporaryCatalog {
		return nil
	}
	if err := p.schema(rel.Catalog, rel.Schema); err != nil {
		return err
	}
	n, uuid := object(rel)
	if !p.st.Owns(p.role, n, uuid) {
		return guard.NotOwner(n, rel.View != nil)
	}
	return nil
}

// holds needs privileges on a table; its owner has all of them unless he has given them up.
func (p *permission) holds(rel *bind.Relation, need guard.Privilege) error {
	if p.super || rel.Catalog == temporaryCatalog {
		return nil
	}
	if err := p.schema(rel.Catalog, rel.Schema); err != nil {
		return err
	}
	if n, uuid := object(rel); need&^p.st.Held(p.role, n, uuid) != 0 {
		return guard.Denied(n, rel.View != nil)
	}
	return nil
}

// creates needs CREATE of a schema, in which something is to be made.
func (s *Session) creates(ctx context.Context, catalog, namespace string) error {
	if catalog == temporaryCatalog {
		return s.allowed(ctx, func(p *permission) error {
			if p.st.Held(p.role, databaseName(s.catalog), "")&guard.Temporary == 0 {
				return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to create temporary tables in database \"%s\"", s.catalog)
			}
			return nil
		})
	}
	return s.allowed(ctx, func(p *permission) error {
		if n := databaseName(catalog); catalog != s.catalog && p.st.Held(p.role, n, "")&guard.Connect == 0 {
			return guard.Denied(n, false)
		}
		if n := schemaName(catalog, namespace); p.st.Held(p.role, n, "")&guard.Create == 0 {
			return guard.Denied(n, false)
		}
		return nil
	})
}

// createsSchema needs CREATE of the database.
func (s *Session) createsSchema(ctx context.Context, catalog string) error {
	return s.allowed(ctx, func(p *permission) error {
		if n := databaseName(catalog); p.st.Held(p.role, n, "")&guard.Create == 0 {
			return guard.Denied(n, false)
		}
		return nil
	})
}

// drops needs the owner of what is dropped, or of its schema. rel is nil for a schema.
func (s *Session) drops(ctx context.Context, catalog, namespace string, rel *bind.Relation) error {
	return s.allowed(ctx, func(p *permission) error {
		n := schemaName(catalog, namespace)
		switch {
		case rel == nil && !p.st.Owns(p.role, n, ""):
			return guard.NotOwner(n, false)
		case rel == nil || p.st.Owns(p.role, n, "") && p.schema(catalog, namespace) == nil:
			return nil
		}
		return p.owns(rel)
	})
}

// reaches needs a predefined role for what reaches outside of the catalog.
func (s *Session) reaches(ctx context.Context, role guard.OID, what string) error {
	return s.allowed(ctx, func(p *permission) error {
		if p.st.HasRightsOf(p.role, role) {
			return nil
		}
		r, _ := p.st.RoleByOID(role)
		return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied to %s", what).
			WithDetail("Only roles with privileges of the \"%s\" role may.", r.Name)
	})
}

// places are the table properties that say where files go.
func places(props map[string]bind.Constant) bool {
	for k := range props {
		if placed(k) {
			return true
		}
	}
	return false
}

func placed(property string) bool {
	k := strings.ToLower(property)
	return k == "location" || strings.HasSuffix(k, ".path") || strings.HasSuffix(k, "-path") || strings.HasSuffix(k, "-location") || strings.HasSuffix(k, ".location")
}

// seesTable tells whether lists of tables show one to the session: it may do something with it.
func (s *Session) seesTable(ctx context.Context, n lake.Name, uuid string) (sees bool, err error) {
	sees = true
	err = s.allowed(ctx, func(p *permission) error { sees = p.sees(n, uuid); return nil })
	return sees, err
}

func (p *permission) sees(n lake.Name, uuid string) bool {
	if p.super || n.Catalog == temporaryCatalog {
		return true
	}
	g := tableName(n)
	return p.st.Owns(p.role, g, uuid) || p.st.Held(p.role, g, uuid)|p.st.HeldOnAnyColumn(p.role, g, uuid) != 0
}

// seesJob tells whether lists show a piece of maintenance of a table, in a user's name: the user's own,
// and those of tables that the role sees.
func (s *Session) seesJob(ctx context.Context, table, user string) (sees bool, err error) {
	sees = true
	err = s.allowed(ctx, func(p *permission) error {
		if o, ok := p.st.Role(user); ok && p.st.HasRightsOf(p.role, o.OID) || p.st.HasRightsOf(p.role, guard.ReadAllStats) {
			return nil
		}
		catalog, rest, _ := strings.Cut(table, ".")
		i := strings.LastIndexByte(rest, '.')
		sees = i > 0 && p.sees(lake.Name{Catalog: catalog, Namespace: rest[:i], Table: rest[i+1:]}, "")
		return nil
	})
	return sees, err
}

// maintainsTable tells whether statements that maintain all tables take one.
func (s *Session) maintainsTable(ctx context.Context, n lake.Name) (may bool, err error) {
	may = true
	err = s.allowed(ctx, func(p *permission) error {
		may = p.st.Held(p.role, tableName(n), "")&guard.Maintain != 0
		return nil
	})
	return may, err
}

// monitors tells whether the role may see what the server as a whole has done.
func (s *Session) monitors(ctx context.Context) (may bool, err error) {
	may = true
	err = s.allowed(ctx, func(p *permission) error { may = p.st.HasRightsOf(p.role, guard.ReadAllStats); return nil })
	return may, err
}

// signals needs to be allowed to end what another session does.
func (s *Session) signals(ctx context.Context, other *Session) error {
	return s.allowed(ctx, func(p *permission) error {
		if other.opts.keeper {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be a superuser to terminate superuser process")
		}
		o, ok := p.st.Role(other.opts.User)
		switch {
		case ok && o.Super:
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be a superuser to terminate superuser process")
		case ok && p.st.HasRightsOf(p.role, o.OID), p.st.HasRightsOf(p.role, guard.SignalBackend):
			return nil
		}
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be a member of the role whose process is being terminated or member of pg_signal_backend")
	})
}

// mayRun decides about a query of the session's own within a statement: what it reads.
func (s *Session) mayRun(ctx context.Context, b *bind.Bound) error {
	return s.allowed(ctx, func(p *permission) error { return p.uses(b, nil, false) })
}
