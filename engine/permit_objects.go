package engine

import (
	"context"

	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// What the guard hears of objects that are made, renamed and dropped. The catalog's change comes first:
// a server that dies in between leaves a table that is an administrator's, or an entry for one that is
// no more, whose UUID no other table has.

// made makes the session's role the owner of what it has just made. In the name of which role it is, is
// decided when it was made, and not when the block commits.
func (s *Session) made(ctx context.Context, t guard.Target, r *Result) error {
	if s.engine.guard == nil || t.Name.Catalog == temporaryCatalog {
		return nil
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error { e.Made(t); return nil })
}

func (s *Session) madeTable(ctx context.Context, t *lake.Table, n lake.Name, r *Result) error {
	if s.engine.guard == nil {
		return nil
	}
	if st, err := s.privileges(ctx); err == nil && st.Knows(tableName(n), t.UUID()) {
		return nil // replaced: it is whose it was
	}
	return s.made(ctx, guard.Target{Name: tableName(n), UUID: t.UUID()}, r)
}

func (s *Session) madeView(ctx context.Context, v *lake.View, n lake.Name, invoker bool, r *Result) error {
	if s.engine.guard == nil {
		return nil
	}
	t := guard.Target{Name: tableName(n), UUID: v.UUID, View: true}
	st, err := s.privileges(ctx)
	if err != nil || !st.Knows(t.Name, t.UUID) {
		if err := s.made(ctx, t, r); err != nil {
			return err
		}
	} else if !invoker && !st.Find(t.Name, t.UUID).Invoker {
		return nil
	}
	if n.Catalog == temporaryCatalog {
		return nil
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error { e.SetInvoker(t, invoker); return nil })
}

// madeSchema is the role's whom AUTHORIZATION names, else the session's.
func (s *Session) madeSchema(ctx context.Context, n *ast.CreateSchema, catalog, name string, r *Result) error {
	t := guard.Target{Name: schemaName(catalog, name)}
	if err := s.made(ctx, t, r); err != nil || n.Owner == nil {
		return err
	}
	owner, err := s.roleNamed(*n.Owner)
	if err != nil {
		return err
	}
	return s.changePrivileges(ctx, r, func(e *guard.Edit) error { return e.SetOwner(t, owner) })
}

// mayGiveTo needs to be a member of the role that something is made for.
func (s *Session) mayGiveTo(ctx context.Context, to ast.RoleName) error {
	if s.engine.guard == nil {
		return nil
	}
	name, err := s.roleNamed(to)
	if err != nil {
		return err
	}
	st, err := s.privileges(ctx)
	if err != nil {
		return err
	}
	r, ok := st.Role(name)
	if !ok {
		return sqlerr.New(sqlerr.UndefinedObject, "role \"%s\" does not exist", name)
	}
	return s.allowed(ctx, func(p *permission) error {
		if !p.st.IsMember(p.role, r.OID) {
			return sqlerr.New(sqlerr.InsufficientPrivilege, "must be member of role \"%s\"", name)
		}
		return nil
	})
}

// replaces needs the owner of what CREATE OR REPLACE would replace; there may be nothing.
func (s *Session) replaces(ctx context.Context, n lake.Name) error {
	return s.allowed(ctx, func(p *permission) error {
		if n.Catalog == temporaryCatalog {
			return nil
		}
		rel := &bind.Relation{Catalog: n.Catalog, Schema: n.Namespace, Name: n.Table}
		if t, err := s.loadTable(ctx, n); err == nil {
			rel.Table = t
		} else if v, e := s.catalogOf(n.Catalog).LoadView(ctx, n); e == nil {
			rel.View = &bind.View{UUID: v.UUID}
		} else if isNotFound(err) && isNotFound(e) {
			return nil
		}
		return p.owns(rel)
	})
}

// forgetPrivileges drops what is known of an object that is no more.
func (s *Session) forgetPrivileges(ctx context.Context, n guard.Name) error {
	if s.engine.guard == nil || n.Catalog == temporaryCatalog {
		return nil
	}
	return s.changePrivileges(ctx, nil, func(e *guard.Edit) error { e.Dropped(n); return nil })
}

func (s *Session) renamedPrivileges(ctx context.Context, from, to lake.Name) error {
	if s.engine.guard == nil || from.Catalog == temporaryCatalog {
		return nil
	}
	return s.changePrivileges(ctx, nil, func(e *guard.Edit) error { e.Renamed(tableName(from), tableName(to)); return nil })
}

// alteredPrivileges keeps privileges on columns with the columns.
func (s *Session) alteredPrivileges(ctx context.Context, rel *bind.Relation, actions []ast.AlterAction) error {
	if s.engine.guard == nil || rel.Catalog == temporaryCatalog {
		return nil
	}
	n, uuid := object(rel)
	for i := range actions {
		a := &actions[i]
		if len(a.Column.Parts) != 1 || a.Op != "rename column" && a.Op != "drop column" {
			continue
		}
		to := a.NewName
		if a.Op == "drop column" {
			to = ""
		}
		if err := s.changePrivileges(ctx, nil, func(e *guard.Edit) error { e.RenamedColumn(n, uuid, a.Column.Parts[0], to); return nil }); err != nil {
			return err
		}
	}
	return nil
}
