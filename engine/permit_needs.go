package engine

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// need says what a kind of statement needs, of a statement that is bound.
type need func(p *permission, ctx context.Context, n ast.Stmt, b *bind.Bound) error

// nothing is needed: what the statement names is its session's own.
func nothing(*permission, context.Context, ast.Stmt, *bind.Bound) error { return nil }

// byName: the statement's names lead to objects only as it runs, and who resolves them asks for what
// they need: creates, createsSchema, drops, mayCall, signals.
func byName(*permission, context.Context, ast.Stmt, *bind.Bound) error { return nil }

// byGuard: the guard itself decides, where it makes the change (guard.Edit).
func byGuard(*permission, context.Context, ast.Stmt, *bind.Bound) error { return nil }

// reading: what the statement reads.
func reading(p *permission, _ context.Context, n ast.Stmt, b *bind.Bound) error {
	locks := false
	switch n := n.(type) {
	case *ast.QueryStmt:
		locks = n.Query.Locking != ""
	case *ast.Declare:
		locks = n.Query.Locking != ""
	}
	return p.uses(b, nil, locks)
}

// writing: what the statement writes, and what it reads for that.
func writing(p *permission, _ context.Context, _ ast.Stmt, b *bind.Bound) error {
	if len(b.Steps) > 0 {
		return p.uses(b, nil, false) // each step says what it writes when it is bound
	}
	return p.uses(b, writesOf(b), false)
}

// within: what the statement needs that stands in this one.
func within(inner func(ast.Stmt) ast.Stmt) need {
	return func(p *permission, ctx context.Context, n ast.Stmt, b *bind.Bound) error {
		in := *b
		if b.Inner != nil {
			in = *b.Inner
			in.Uses = b.Uses // those of the whole statement
		}
		return p.statement(ctx, inner(n), &in)
	}
}

// needs has every kind of statement that there is (TestEveryStatementSaysWhatItNeeds): one that it lacks
// is a superuser's.
var needs = map[reflect.Type]need{}

func needing(f need, kinds ...ast.Stmt) {
	for _, k := range kinds {
		needs[reflect.TypeOf(k)] = f
	}
}

func init() {
	needing(nothing, &ast.Empty{}, &ast.Transaction{}, &ast.Show{}, &ast.Deallocate{}, &ast.Fetch{}, &ast.ClosePortal{}, &ast.Discard{},
		&ast.Listen{}, &ast.Noop{}, &ast.Use{}, &ast.Idle{}, &ast.SetTransaction{},
		// LOCK has no effect, on whatever table.
		&ast.Lock{},
		// What is prepared is decided about each time that it is executed.
		&ast.Prepare{}, &ast.PrepareText{}, &ast.Execute{},
		// Who a session may become, the setting asks (mayBecome).
		&ast.Set{})
	needing(reading, &ast.QueryStmt{}, &ast.Declare{},
		// Lists of what there is show what the role may see.
		&ast.ShowInfo{})
	needing(within(func(n ast.Stmt) ast.Stmt { return n.(*ast.Explain).Stmt }), &ast.Explain{})
	needing(writing, &ast.Insert{}, &ast.Update{}, &ast.Delete{}, &ast.Merge{}, &ast.Copy{})
	needing(truncating, &ast.Truncate{})
	needing(creatingTable, &ast.CreateTable{})
	needing(altering, &ast.AlterTable{})
	needing(commenting, &ast.Comment{})
	needing(byName, &ast.CreateView{}, &ast.CreateSchema{}, &ast.Drop{}, &ast.CreateIndex{}, &ast.Procedure{}, &ast.TableAdmin{}, &ast.Kill{},
		// Expressions run as queries of their own (mayRun).
		&ast.Do{})
	needing(settingVariables, &ast.SetVariables{})
	needing(byGuard, &ast.CreateRole{}, &ast.AlterRole{}, &ast.RenameRole{}, &ast.DropRole{}, &ast.GrantRole{}, &ast.Grant{},
		&ast.DefaultPrivileges{}, &ast.SetOwner{}, &ast.ReassignOwned{}, &ast.DropOwned{})
}

// statement decides about one statement.
func (p *permission) statement(ctx context.Context, n ast.Stmt, b *bind.Bound) error {
	if p.super {
		return nil
	}
	f := needs[reflect.TypeOf(n)]
	if f == nil {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "must be superuser to run this statement")
	}
	return f(p, ctx, n, b)
}

func truncating(p *permission, _ context.Context, _ ast.Stmt, b *bind.Bound) error {
	w := &targetWrites{privs: guard.Truncate}
	for _, u := range b.Uses {
		if err := p.use(u, w, false); err != nil {
			return err
		}
	}
	return nil
}

// creatingTable: the schema asks for CREATE once the name is resolved; here is what the new table is
// made of and where it lies.
func creatingTable(p *permission, ctx context.Context, n ast.Stmt, b *bind.Bound) error {
	c := n.(*ast.CreateTable)
	if c.Like != nil { // of which PostgreSQL asks later
		if _, err := p.s.nameFor(ctx, c.Name.Parts, p.s.makesTemporary(c.Temp, c.Name.Parts, nil)); err != nil {
			return err
		}
	}
	if err := p.uses(b, nil, false); err != nil {
		return err
	}
	if c.Location != "" || b.Create != nil && places(b.Create.Props) {
		return p.s.reaches(ctx, guard.WriteServerFiles, "say where a table's files are")
	}
	return nil
}

// altering: the owner's, but that moving branches is PUBLISH and a procedure needs its own.
func altering(p *permission, ctx context.Context, n ast.Stmt, b *bind.Bound) error {
	a := n.(*ast.AlterTable)
	if b.Target == nil {
		return nil
	}
	for _, u := range b.Uses {
		if u.References {
			if err := p.use(u, nil, false); err != nil {
				return err
			}
		}
	}
	for i := range a.Actions {
		x := &a.Actions[i]
		var err error
		switch x.Op {
		case "execute":
			err = nil // mayCall
		case "fast forward":
			if err = p.holds(b.Target, guard.Publish); err != nil && p.owns(b.Target) == nil {
				err = nil
			}
		case "rename", "set schema":
			if err = p.owns(b.Target); err == nil && b.Target.Catalog != temporaryCatalog {
				to := b.Target.Schema
				if x.Op == "set schema" {
					to = x.NewName
				}
				err = p.s.creates(ctx, b.Target.Catalog, to)
			}
		default:
			err = p.owns(b.Target)
			if err == nil && x.Props != nil && slices.ContainsFunc(sortedKeys(x.Props), placed) {
				err = p.s.reaches(ctx, guard.WriteServerFiles, "say where a table's files are")
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func commenting(p *permission, ctx context.Context, n ast.Stmt, b *bind.Bound) error {
	c := n.(*ast.Comment)
	if c.Kind == "schema" {
		g := schemaName(p.s.catalog, strings.Join(c.Name.Parts, "."))
		if !p.st.Owns(p.role, g, "") {
			return guard.NotOwner(g, false)
		}
		return nil
	}
	err := p.owns(b.Target)
	if e, ok := sqlerr.As(err); ok && c.Kind == "column" && strings.HasPrefix(e.Message, "must be owner") {
		return sqlerr.New(e.Code, "must be owner of relation %s", b.Target.Name)
	}
	return err
}

func settingVariables(_ *permission, _ context.Context, n ast.Stmt, _ *bind.Bound) error {
	for _, v := range n.(*ast.SetVariables).Items {
		if v.Scope == "global" {
			return mysqlError(1227, "42000", "Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation")
		}
	}
	return nil
}

// ---- procedures ----

// procedureNeed is what a call needs: of its table, and beyond.
type procedureNeed struct {
	privs   guard.Privilege
	owner   bool
	super   bool
	reaches guard.OID
}

// procedureNeeds has every procedure (TestEveryProcedureSaysWhatItNeeds): one that it lacks is a
// superuser's.
var procedureNeeds = map[string]procedureNeed{
	"rollback_to_snapshot":  {privs: guard.Publish},
	"rollback_to_timestamp": {privs: guard.Publish},
	"set_current_snapshot":  {privs: guard.Publish},
	"cherrypick_snapshot":   {privs: guard.Publish},
	"publish_changes":       {privs: guard.Publish},
	"fast_forward":          {privs: guard.Publish},
	"ancestors_of":          {privs: guard.Select | guard.History},

	"rewrite_data_files":            {privs: guard.Maintain},
	"rewrite_position_delete_files": {privs: guard.Maintain},
	"optimize":                      {privs: guard.Maintain},
	"expire_snapshots":              {privs: guard.Maintain},
	"remove_orphan_files":           {privs: guard.Maintain},
	"rewrite_manifests":             {privs: guard.Maintain},
	"optimize_manifests":            {privs: guard.Maintain},
	"vacuum":                        {privs: guard.Maintain},
	"analyze":                       {privs: guard.Maintain},
	"compute_table_stats":           {privs: guard.Maintain},
	"compute_partition_stats":       {privs: guard.Maintain},
	"drop_extended_stats":           {privs: guard.Maintain},

	"add_files":      {privs: guard.Insert, reaches: guard.ReadServerFiles},
	"register_table": {reaches: guard.ReadServerFiles}, // and CREATE of the schema

	// Who erases must see whatever holds the value.
	"show_holders":   {owner: true},
	"erase":          {owner: true},
	"resume_erasure": {super: true},
	"verify_erasure": {super: true},
}

// mayCall decides about a call, before it does anything; mayCallOn about a table that it acts on.
func (s *Session) mayCall(ctx context.Context, name string, a *procedureArgs) error {
	need, known := procedureNeeds[name]
	if !known || need.super {
		return s.allowed(ctx, func(*permission) error {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "permission denied for procedure %s", name).WithDetail("It is for superusers.")
		})
	}
	if need.reaches != 0 {
		if err := s.reaches(ctx, need.reaches, "make files that lie somewhere a table's"); err != nil {
			return err
		}
	}
	if a != nil && a.given("location") {
		return s.reaches(ctx, guard.WriteServerFiles, "remove files at a place of one's own choice")
	}
	return nil
}

func (s *Session) mayCallOn(ctx context.Context, name string, rel *bind.Relation) error {
	return s.allowed(ctx, func(p *permission) error {
		need, known := procedureNeeds[name]
		if !known || need.owner || need.super {
			return p.owns(rel)
		}
		if need.privs == guard.Insert && rel.Branch != "" && rel.Branch != "main" {
			if n, uuid := object(rel); p.st.HeldOnRef(p.role, n, uuid, rel.Branch)&guard.Insert != 0 {
				return nil
			}
		}
		return p.holds(rel, need.privs)
	})
}
