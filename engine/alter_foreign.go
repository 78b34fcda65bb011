package engine

// This file adds FOREIGN KEY constraints, and keeps what they name from being dropped.

import (
	"context"
	"slices"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
)

// addForeignKeys adds foreign keys to a table; it runs in a transaction, since the tables on both sides
// keep them.
func (s *Session) addForeignKeys(ctx context.Context, n lake.Name, list []*bind.AlterForeign, r *Result) error {
	for _, a := range list {
		if err := s.addForeignKey(ctx, n, a, r); err != nil {
			return err
		}
	}
	return nil
}

func (s *Session) addForeignKey(ctx context.Context, n lake.Name, a *bind.AlterForeign, r *Result) error {
	t, err := s.loadTable(ctx, n)
	if err != nil {
		return err
	}
	parent := t
	if a.Parent != nil {
		if parent, err = s.loadTable(ctx, a.Parent.Table.Name); err != nil {
			return err
		}
		if parent.Name.Catalog != n.Catalog {
			return sqlerr.New(sqlerr.InvalidTableDefinition, "a foreign key may reference a table of the same catalog only")
		}
	}
	k := a.Key
	ids := func(places []int) []int {
		out := make([]int, len(places))
		for i, p := range places {
			if f := t.Schema().ByName(a.Fields[p]); f != nil {
				out[i] = f.ID
			}
		}
		return out
	}
	if k.Columns = ids(k.Columns); a.Parent == nil {
		k.References = ids(k.References)
	}
	k.Namespace, k.Table, k.UUID = parent.Name.Namespace, parent.Name.Table, parent.UUID()
	noteDeferred(r, k.Name, k.Deferred)
	ch := lake.Change{Base: t, Statement: "ALTER TABLE", Edit: func(e *lake.Edit) error {
		err := e.AddForeignKey(k)
		if isExists(err) {
			return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", k.Name, t.Name.Table)
		}
		return err
	}}
	if !k.NotEnforced && !k.NotValid && s.foreignChecks() {
		if err := s.referencesHold(ctx, s.referenceOf(t, k, parent), &ch); err != nil {
			return err
		}
		ch.Still = true
	}
	if err := s.commit(ctx, t.Name, ch); err != nil {
		return definitionError(err)
	}
	if a.Parent == nil {
		return nil
	}
	ref := lake.Reference{UUID: t.UUID(), Name: k.Name, Namespace: t.Name.Namespace, Table: t.Name.Table}
	return definitionError(s.edit(ctx, parent, "ALTER TABLE", func(e *lake.Edit) error { return e.AddReference(ref) }))
}

// referencesHold makes sure that what the rows of each branch reference is there.
func (s *Session) referencesHold(ctx context.Context, f *reference, ch *lake.Change) error {
	for _, r := range f.child.Refs() {
		snap := f.child.SnapshotByID(r.SnapshotID)
		if !r.Branch || snap == nil {
			continue
		}
		q, p := f.sides()
		own := q.at(snap)
		if f.key.MatchFull && len(f.key.Columns) > 1 {
			if err := f.mixed(ctx, own); err != nil {
				return err
			}
		}
		branch, at := branchOf(f.parent, r.Name)
		if f.self() {
			branch, at = r.Name, snap
		}
		n := q.known(own, own)
		if at != nil {
			var err error
			if n, err = f.without(ctx, q, own, n, p, at, exec.Wrote{}, false, nil); err != nil {
				return err
			}
		}
		row, err := s.firstRow(ctx, project(q, n, own))
		if err != nil {
			return err
		}
		if row != nil {
			return f.missing(q, row)
		}
		if !f.self() {
			s.lookAt(ch, f.parent, branch, at, lake.Look{Gone: true})
		}
	}
	return nil
}

// validateForeignKey makes a foreign key that was added NOT VALID hold for all rows; false: the table
// has none of the name.
func (s *Session) validateForeignKey(ctx context.Context, t *lake.Table, name string, ch *lake.Change) (bool, error) {
	for _, k := range t.ForeignKeys() {
		if k.Name != name {
			continue
		}
		if k.NotEnforced {
			return true, sqlerr.New(sqlerr.WrongObjectType, "cannot validate NOT ENFORCED constraint")
		}
		parent, err := s.referenced(ctx, t, k)
		if err != nil {
			return true, err
		}
		return true, s.referencesHold(ctx, s.referenceOf(t, k, parent), ch)
	}
	return false, nil
}

// unreferenced refuses to drop a table that others reference, but for those that are dropped with it.
// With cascade the foreign keys go.
func (s *Session) unreferenced(ctx context.Context, t *lake.Table, cascade bool, with []ast.Name, r *Result) error {
	if len(t.References()) == 0 || !s.foreignChecks() {
		return nil
	}
	refs, err := s.referencesTo(ctx, t)
	if err != nil {
		return err
	}
	for _, f := range refs {
		if f.self() || slices.ContainsFunc(with, func(n ast.Name) bool { return n.Parts[len(n.Parts)-1] == f.child.Name.Table }) {
			continue
		}
		if !cascade {
			if s.MySQL() != nil {
				return sqlerr.New(sqlerr.DependentObjectsExist, "Cannot drop table '%s' referenced by a foreign key constraint '%s' on table '%s'.", t.Name.Table, f.key.Name, f.child.Name.Table).WithNumber(3730)
			}
			return sqlerr.New(sqlerr.DependentObjectsExist, "cannot drop table %s because other objects depend on it", t.Name.Table).
				WithDetail("constraint %s on table %s depends on table %s", f.key.Name, f.child.Name.Table, t.Name.Table).
				WithHint("Use DROP ... CASCADE to drop the dependent objects too.")
		}
		r.warn("00000", "drop cascades to constraint %s on table %s", f.key.Name, f.child.Name.Table)
		err := s.edit(ctx, f.child, "ALTER TABLE", func(e *lake.Edit) error {
			_, err := e.DropConstraint(f.key.Name)
			return err
		})
		if err != nil {
			return definitionError(err)
		}
	}
	return nil
}

// forgetReferences takes a table that is dropped out of what others know of who references them.
func (s *Session) forgetReferences(ctx context.Context, t *lake.Table) error {
	for _, k := range t.ForeignKeys() {
		if k.UUID == t.UUID() {
			continue
		}
		p, err := s.tableByUUID(ctx, lake.Name{Catalog: t.Name.Catalog, Namespace: k.Namespace, Table: k.Table}, k.UUID)
		if err != nil {
			return err
		}
		if p == nil {
			continue
		}
		ref := lake.Reference{UUID: t.UUID(), Name: k.Name, Namespace: t.Name.Namespace, Table: t.Name.Table}
		if err := s.edit(ctx, p, "ALTER TABLE", func(e *lake.Edit) error { return e.DropReference(ref) }); err != nil {
			return definitionError(err)
		}
	}
	return nil
}

// keyReferenced refuses to drop a key, or a column of one, that a foreign key stands on.
func (s *Session) keyReferenced(ctx context.Context, t *lake.Table, name string, columns []int) error {
	refs, err := s.referencesTo(ctx, t)
	if err != nil {
		return err
	}
	for _, f := range refs {
		if len(columns) == len(f.key.References) && !slices.ContainsFunc(columns, func(id int) bool { return !slices.Contains(f.key.References, id) }) ||
			name == "" && slices.ContainsFunc(columns, func(id int) bool { return slices.Contains(f.key.References, id) }) {
			what := "constraint " + name + " on table " + t.Name.Table
			if name == "" {
				what = "column of table " + t.Name.Table
			}
			return sqlerr.New(sqlerr.DependentObjectsExist, "cannot drop %s because other objects depend on it", what).
				WithDetail("constraint %s on table %s depends on it", f.key.Name, f.child.Name.Table).
				WithHint("Drop the foreign key first.")
		}
	}
	return nil
}

// keepReferenced refuses what an ALTER TABLE would take from a table's foreign keys.
func (s *Session) keepReferenced(ctx context.Context, t *lake.Table, actions []ast.AlterAction) error {
	for i := range actions {
		switch a := &actions[i]; a.Op {
		case "drop constraint", "drop index", "drop primary key":
			for _, k := range t.Keys() {
				if k.Name == a.NewName || k.Primary && a.Op == "drop primary key" {
					if err := s.keyReferenced(ctx, t, k.Name, k.Columns); err != nil {
						return err
					}
				}
			}
		case "drop column":
			if f := t.Schema().ByName(a.Column.Parts[0]); f != nil && len(a.Column.Parts) == 1 {
				if err := s.keyReferenced(ctx, t, "", []int{f.ID}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// notReferenced refuses to truncate a table that others reference.
func (s *Session) notReferenced(ctx context.Context, t *lake.Table, with []*bind.Relation) error {
	if len(t.References()) == 0 || !s.foreignChecks() {
		return nil
	}
	refs, err := s.referencesTo(ctx, t)
	if err != nil {
		return err
	}
	for _, f := range refs {
		if f.self() || f.key.NotEnforced || slices.ContainsFunc(with, func(r *bind.Relation) bool { return r.Table.UUID() == f.child.UUID() }) {
			continue
		}
		if s.MySQL() != nil {
			return mysqlError(1701, "42000", "Cannot truncate a table referenced in a foreign key constraint (%s)", f.mysqlKey())
		}
		return sqlerr.New(sqlerr.FeatureNotSupported, "cannot truncate a table referenced in a foreign key constraint").
			WithDetail("Table \"%s\" references \"%s\".", f.child.Name.Table, t.Name.Table).
			WithHint("Truncate table \"%s\" at the same time, or use TRUNCATE ... CASCADE.", f.child.Name.Table)
	}
	return nil
}
