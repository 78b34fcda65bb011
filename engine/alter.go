package engine

import (
	"context"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// alter runs ALTER TABLE: all its actions in one commit, those that are catalog operations
// (rename) or procedures each alone.
func (s *Session) alter(ctx context.Context, n *ast.AlterTable, b *bind.Bound, r *Result) error {
	if b.Target == nil {
		r.warn("00000", "relation %q does not exist, skipping", strings.Join(n.Name.Parts, "."))
		return nil
	}
	rel := b.Target
	name := lake.Name{Catalog: rel.Catalog, Namespace: rel.Schema, Table: rel.Name}
	if len(n.Actions) == 1 {
		switch a := &n.Actions[0]; a.Op {
		case "rename", "set schema":
			return s.rename(ctx, name, a, rel, r)
		case "execute":
			return s.call(ctx, b.Alter[0].Call, rel, r)
		}
	}
	if rel.Table == nil {
		return sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", rel.Name)
	}
	if n.Indexed {
		if err := s.noIndex(n.Pos, r); err != nil {
			return err
		}
	}
	var foreign []*bind.AlterForeign
	for i := range b.Alter {
		if f := b.Alter[i].Foreign; f != nil {
			foreign = append(foreign, f)
		}
	}
	if len(foreign) == 0 {
		return s.alterTable(ctx, n, b, rel, r)
	}
	return s.atomically(ctx, r, func() error {
		if len(foreign) < len(n.Actions) {
			if err := s.alterTable(ctx, n, b, rel, r); err != nil {
				return err
			}
		}
		return s.addForeignKeys(ctx, rel.Table.Name, foreign, r)
	})
}

// alterTable runs the actions of ALTER TABLE that are the table's own matter: all but foreign keys.
func (s *Session) alterTable(ctx context.Context, n *ast.AlterTable, b *bind.Bound, rel *bind.Relation, r *Result) error {
	if err := s.keepReferenced(ctx, rel.Table, n.Actions); err != nil {
		return err
	}
	checked, err := s.noNulls(ctx, rel.Table, n.Actions)
	if err != nil {
		return err
	}
	fit, err := s.valuesFit(ctx, rel.Table, n.Actions, b.Alter)
	if err != nil {
		return err
	}
	held, err := s.checksHold(ctx, rel.Table, b.Alter)
	if err != nil {
		return err
	}
	fill := filledColumns(rel.Table, n.Actions, b.Alter)
	unique, err := s.keysFit(ctx, rel.Table, b.Alter, fill)
	if err != nil {
		return err
	}
	valid, err := s.validated(ctx, rel.Table, n.Actions, b.Alter)
	if err != nil {
		return err
	}
	checked = checked || fit || held || unique || valid
	var looks lake.Change
	for i := range n.Actions {
		if n.Actions[i].Op == "validate constraint" && b.Alter[i].Validate == nil {
			valid, err := s.validateForeignKey(ctx, rel.Table, n.Actions[i].NewName, &looks)
			if err != nil {
				return err
			}
			checked = checked || valid
		}
	}
	views, err := s.viewsOfDropped(ctx, rel, n.Actions)
	if err != nil {
		return err
	}
	if err := s.viewsOfRenamedColumns(ctx, rel, n.Actions); err != nil {
		return err
	}
	if len(views) == 0 && len(fill) > 0 {
		return s.atomically(ctx, r, func() error {
			if err := s.alterActions(ctx, n, b, rel, checked, looks.Looks, r); err != nil {
				return err
			}
			return s.fill(ctx, n, rel, fill)
		})
	}
	if len(views) > 0 {
		return s.atomically(ctx, r, func() error {
			for _, v := range views {
				r.warn("00000", "drop cascades to view %s", s.shown(v))
				if err := s.catalogOf(v.Catalog).DropView(ctx, v); err != nil {
					return definitionError(err)
				}
				s.moved(v, nil)
			}
			return s.alterActions(ctx, n, b, rel, checked, looks.Looks, r)
		})
	}
	return s.alterActions(ctx, n, b, rel, checked, looks.Looks, r)
}

// alterActions commits the actions that are edits of the table's metadata.
func (s *Session) alterActions(ctx context.Context, n *ast.AlterTable, b *bind.Bound, rel *bind.Relation, checked bool, looks []lake.Look, r *Result) error {
	refs := false
	for i := range n.Actions {
		refs = refs || n.Actions[i].Ref != nil
	}
	for i := range n.Actions {
		if err := s.numberFrom(ctx, n, rel, &n.Actions[i], &b.Alter[i]); err != nil {
			return err
		}
	}
	edit := func(e *lake.Edit) error {
		for i := range n.Actions {
			if err := s.alterOne(e, &n.Actions[i], &b.Alter[i], rel.Name, r); err != nil {
				return err
			}
		}
		return nil
	}
	if err := s.commit(ctx, rel.Table.Name, lake.Change{Base: rel.Table, Edit: edit, MovesRefs: refs, Still: checked, Looks: looks, Statement: "ALTER TABLE"}); err != nil {
		return definitionError(err)
	}
	return s.alteredPrivileges(ctx, rel, n.Actions)
}

func (s *Session) rename(ctx context.Context, from lake.Name, a *ast.AlterAction, rel *bind.Relation, r *Result) error {
	if err := s.viewsOfRenamed(ctx, from, rel, r); err != nil {
		return err
	}
	to := from
	if a.Op == "rename" {
		to.Table = a.NewName
	} else {
		to.Namespace = a.NewName
	}
	cat := s.catalogOf(from.Catalog)
	defer s.moved(from, nil)
	move := cat.Rename
	if rel.View != nil {
		move = cat.RenameView
	}
	if err := move(ctx, from, to); err != nil {
		return definitionError(err)
	}
	return s.renamedPrivileges(ctx, from, to)
}

// alterOne applies one action to the metadata under edit.
func (s *Session) alterOne(e *lake.Edit, a *ast.AlterAction, b *bind.AlterAction, table string, r *Result) error {
	path := a.Column.Parts
	where := lake.Where{First: a.First, After: a.After}
	switch a.Op {
	case "add column":
		if a.IfNotExists {
			if f := e.Schema().ByName(path[0]); f != nil && len(path) == 1 {
				return nil
			}
		}
		f, err := lake.FieldOf(b.Column.Name, b.Column.Type, b.Column.NotNull)
		if err != nil {
			return err
		}
		noteDefaultDecimal(r, f)
		f.Doc, f.InitialDefault, f.WriteDefault = b.Column.Comment, b.Column.Default, b.Column.Default
		f.DefaultSQL, f.OnUpdateSQL, f.Numbering = b.Column.DefaultSQL, b.Column.OnUpdateSQL, b.Column.Numbering
		if len(path) == 0 {
			path = []string{b.Column.Name}
		}
		if err := e.AddColumn(path, f, where); err != nil {
			return err
		}
		return addChecks(e, table, b.Checks)
	case "add check":
		return addChecks(e, table, b.Checks)
	case "add foreign key":
		return nil // addForeignKeys
	case "add key":
		return s.addKey(e, table, b.Key, r)
	case "drop constraint":
		return s.dropConstraint(e, a, table, r)
	case "drop primary key":
		return dropPrimaryKey(e, a)
	case "drop index":
		return dropIndex(e, a.NewName)
	case "rename constraint", "rename index":
		return renameConstraint(e, a, table, a.Op == "rename index")
	case "validate constraint":
		return validateConstraint(e, a, table)
	case "drop column":
		if a.IfExists && len(path) == 1 && e.Schema().ByName(path[0]) == nil {
			return nil
		}
		if a.Cascade {
			if err := e.DropConstraintsOf(path); err != nil {
				return err
			}
		}
		return e.DropColumn(path)
	case "rename column":
		return e.RenameColumn(path, a.NewName)
	case "alter type":
		f, err := lake.FieldOf(path[len(path)-1], b.Type, false)
		if err != nil {
			return err
		}
		return e.ChangeType(path, f)
	case "set not null", "drop not null":
		return e.SetRequired(path, a.Op == "set not null")
	case "set default":
		return e.SetDefault(path, b.Default, b.DefaultSQL)
	case "drop default":
		return e.SetDefault(path, nil, "")
	case "on update":
		return e.SetOnUpdate(path, b.OnUpdateSQL)
	case "add identity":
		return e.SetNumbering(path, b.Numbering)
	case "drop identity":
		return e.SetNumbering(path, nil)
	case "move column":
		return e.MoveColumn(path, where)
	case "comment column":
		return e.SetDoc(path, a.Comment)
	case "set properties":
		return s.setProperties(e, b.Props)
	case "unset properties":
		return e.RemoveProperties(a.Keys)
	case "set identifier":
		paths := make([][]string, len(a.Keys))
		for i, k := range a.Keys {
			paths[i] = strings.Split(k, ".")
		}
		return e.SetIdentifier(paths)
	case "drop identifier":
		return s.dropIdentifier(e, a.Keys)
	case "write distributed":
		return e.SetProperties(map[string]string{"write.distribution-mode": "hash"})
	}
	if strings.Contains(a.Op, "partition") || strings.HasPrefix(a.Op, "write ") {
		return alterLayout(e, a)
	}
	if a.Ref != nil {
		return s.alterRef(e, a, b)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "ALTER TABLE … %s is not supported", strings.ToUpper(a.Op)).At(a.Pos)
}

func (s *Session) setProperties(e *lake.Edit, props map[string]bind.Constant) error {
	out := map[string]string{}
	for _, k := range sortedKeys(props) {
		v := props[k]
		if v.Value.IsNull() {
			if err := e.RemoveProperties([]string{k}); err != nil {
				return err
			}
			continue
		}
		text := types.Format(v.Value, v.Typ, s.TextOptions())
		switch k {
		case "format_version":
			k = "format-version"
		case "location": // ALTER TABLE … SET LOCATION; it is no property
			if err := e.SetLocation(text); err != nil {
				return err
			}
			continue
		}
		out[k] = text
	}
	return e.SetProperties(out)
}

func (s *Session) dropIdentifier(e *lake.Edit, keys []string) error {
	gone := map[string]bool{}
	for _, k := range keys {
		gone[k] = true
	}
	sc := e.Schema()
	var left [][]string
	for _, id := range sc.Identifier {
		if f, _ := sc.ByID(id); f != nil && !gone[f.Name] {
			left = append(left, []string{f.Name})
		}
	}
	return e.SetIdentifier(left)
}

// alterLayout changes partitioning and sort order.
func alterLayout(e *lake.Edit, a *ast.AlterAction) error {
	switch a.Op {
	case "add partition field":
		by, err := partitionBy(a.Field)
		if err != nil {
			return err
		}
		by.Name = a.NewName
		if a.IfNotExists {
			if _, err := e.PartitionFieldName(by); err == nil {
				return nil
			}
		}
		return e.AddPartitionField(by)
	case "drop partition field":
		name, err := fieldName(e, a.Field)
		if err != nil {
			return err
		}
		return e.DropPartitionField(name)
	case "replace partition field":
		name, err := fieldName(e, a.Field)
		if err != nil {
			return err
		}
		if err := e.DropPartitionField(name); err != nil {
			return err
		}
		by, err := partitionBy(a.NewField)
		if err != nil {
			return err
		}
		by.Name = a.NewName
		return e.AddPartitionField(by)
	case "set partitioning":
		var list []lake.PartitionBy
		for _, f := range a.Fields {
			by, err := partitionBy(f)
			if err != nil {
				return err
			}
			list = append(list, by)
		}
		return e.SetPartitioning(list)
	case "write ordered":
		order, err := sortBy(a.Order)
		if err != nil {
			return err
		}
		return e.SetSortOrder(order)
	case "write unordered":
		return e.SetSortOrder(nil)
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "ALTER TABLE … %s is not supported", strings.ToUpper(a.Op)).At(a.Pos)
}

// fieldName finds a partition field by its transform, or by its own name.
func fieldName(e *lake.Edit, x ast.Expr) (string, error) {
	if id, ok := x.(*ast.Ident); ok && len(id.Parts) == 1 {
		for _, f := range e.Spec().Fields {
			if f.Name == id.Parts[0] {
				return f.Name, nil
			}
		}
	}
	by, err := partitionBy(x)
	if err != nil {
		return "", err
	}
	return e.PartitionFieldName(by)
}

// alterRef makes, replaces, drops and fast-forwards branches and tags.
func (s *Session) alterRef(e *lake.Edit, a *ast.AlterAction, b *bind.AlterAction) error {
	r := a.Ref
	switch a.Op {
	case "drop branch", "drop tag":
		return e.DropRef(r.Name, a.Op == "drop branch", r.IfExists || a.IfExists)
	case "fast forward":
		return e.FastForward(r.Name, r.To)
	}
	spec := lake.RefSpec{Name: r.Name, Branch: r.Branch, Replace: r.Replace || strings.HasPrefix(a.Op, "replace"), IfNotExists: r.IfNotExists, MinSnapshotsToKeep: r.MinSnapshots}
	duration := func(ms *int64) *time.Duration {
		if ms == nil {
			return nil
		}
		d := time.Duration(*ms) * time.Millisecond
		return &d
	}
	spec.MaxRefAge, spec.MaxSnapshotAge = duration(r.RetainMs), duration(r.SnapshotRetainMs)
	if b.Ref.Set {
		snap, _, err := timetravel.Resolve(e.Table(), b.Ref.Spec)
		if err != nil {
			return err
		}
		if snap == nil {
			return sqlerr.New(sqlerr.UndefinedObject, "the table has no snapshot yet")
		}
		spec.Snapshot = &snap.ID
	}
	return e.SetRef(spec)
}
