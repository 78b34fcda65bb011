package engine

// This file adds PRIMARY KEY and UNIQUE constraints to tables that are there, and drops constraints.

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// addKey adds a key whose columns are named by their places to the table under edit.
func (s *Session) addKey(e *lake.Edit, table string, a *bind.AlterKey, r *Result) error {
	k := a.Key
	k.Columns = nil
	identifier := [][]string{}
	for _, i := range a.Key.Columns {
		f := e.Schema().ByName(a.Fields[i])
		if f == nil {
			return sqlerr.New(sqlerr.UndefinedColumn, "column %q named in key does not exist", a.Fields[i])
		}
		k.Columns = append(k.Columns, f.ID)
		if f.Required && len(f.Children) == 0 && f.Iceberg != "float" && f.Iceberg != "double" && f.Iceberg != "variant" {
			identifier = append(identifier, []string{f.Name})
		}
	}
	err := e.AddKey(k)
	if isExists(err) {
		if a.IfNotExists {
			r.warn("42P07", "relation %q already exists, skipping", k.Name)
			return nil
		}
		return sqlerr.New(sqlerr.DuplicateTable, "relation %q already exists", k.Name)
	}
	if err == nil && k.Primary && len(identifier) == len(k.Columns) && k.Prefixes == nil {
		err = e.SetIdentifier(identifier)
	}
	noteDeferred(r, k.Name, k.Deferred)
	return err
}

// noteDeferred tells that a constraint is looked at earlier than was asked for.
func noteDeferred(r *Result, name string, deferred bool) {
	if deferred {
		r.warn("00000", "constraint %q is checked at the end of each statement, not at COMMIT", name)
	}
}

// keysFit makes sure that no two rows of a branch have the same value of a key that is added. Columns
// that the statement adds hold their default in all rows; those that are filled are looked at as they
// are.
func (s *Session) keysFit(ctx context.Context, t *lake.Table, actions []bind.AlterAction, filled map[string]bool) (checked bool, err error) {
	constant := map[string]bool{}
	for i := range actions {
		if c := actions[i].Column; c != nil {
			constant[c.Name] = c.Default != nil
		}
		a := actions[i].Key
		if a == nil || a.Key.NotEnforced {
			continue
		}
		k := a.Key
		k.Columns, k.Prefixes = nil, nil
		look := true
		for n, i := range a.Key.Columns {
			name := a.Fields[i]
			switch f := t.Schema().ByName(name); {
			case f != nil:
				if k.Columns = append(k.Columns, f.ID); a.Key.Prefixes != nil {
					k.Prefixes = append(k.Prefixes, a.Key.Prefixes[n])
				}
			case filled[name], !constant[name] && !k.NullsNotDistinct:
				look = false
			}
		}
		if !look {
			continue
		}
		checked = true
		for _, r := range t.Refs() {
			snap := t.SnapshotByID(r.SnapshotID)
			if !r.Branch || snap == nil {
				continue
			}
			q := &keyQuery{s: s, table: t, schema: t.Schema(), key: k}
			row, err := q.twice(ctx, q.at(snap), -1)
			if err != nil {
				return false, err
			}
			if row != nil {
				return false, s.notUnique(q, row)
			}
		}
	}
	return checked, nil
}

// notUnique is the error of a key that rows of the table break.
func (s *Session) notUnique(q *keyQuery, row []types.Datum) error {
	if s.MySQL() != nil {
		return s.duplicateKey(q, row)
	}
	names, values := q.texts(row)
	return sqlerr.New(sqlerr.UniqueViolation, "could not create unique index \"%s\"", q.key.Name).
		WithDetail("Key (%s)=(%s) is duplicated.", strings.Join(names, ", "), strings.Join(values, ", "))
}

// dropConstraint removes a constraint by name.
func (s *Session) dropConstraint(e *lake.Edit, a *ast.AlterAction, table string, r *Result) error {
	found, err := e.DropConstraint(a.NewName)
	if err != nil || found {
		return err
	}
	if a.NewName == table+"_pkey" && len(e.Schema().Identifier) > 0 && !hasPrimary(e.Table()) {
		return e.SetIdentifier(nil) // as the catalogs call identifier fields
	}
	if a.IfExists {
		r.warn("00000", "constraint %q of relation %q does not exist, skipping", a.NewName, table)
		return nil
	}
	return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of relation %q does not exist", a.NewName, table).At(a.Pos)
}

func hasPrimary(t *lake.Table) bool {
	keys := t.Keys()
	return len(keys) > 0 && keys[0].Primary
}

// dropPrimaryKey is MySQL's DROP PRIMARY KEY.
func dropPrimaryKey(e *lake.Edit, a *ast.AlterAction) error {
	if t := e.Table(); hasPrimary(t) {
		_, err := e.DropConstraint(t.Keys()[0].Name)
		return err
	}
	if len(e.Schema().Identifier) == 0 {
		return mysqlError(1091, "42000", "Can't DROP 'PRIMARY'; check that column/key exists").At(a.Pos)
	}
	return e.SetIdentifier(nil)
}

// dropIndex drops the key that an index of the name stands for, if there is one: others were not made.
func dropIndex(e *lake.Edit, name string) error {
	for _, k := range e.Table().Keys() {
		if strings.EqualFold(k.Name, name) && !k.Primary {
			_, err := e.DropConstraint(k.Name)
			return err
		}
	}
	return nil
}

// renameConstraint gives a constraint another name. quiet: one that is not there was an index that was
// not made.
func renameConstraint(e *lake.Edit, a *ast.AlterAction, table string, quiet bool) error {
	found, err := e.RenameConstraint(a.Keys[0], a.NewName)
	if isExists(err) {
		return sqlerr.New(sqlerr.DuplicateObject, "constraint %q for relation %q already exists", a.NewName, table).At(a.Pos)
	}
	if !found && !quiet {
		return sqlerr.New(sqlerr.UndefinedObject, "constraint %q for table %q does not exist", a.Keys[0], table).At(a.Pos)
	}
	return err
}

// validated makes the constraints that an ALTER TABLE validates hold for all rows.
func (s *Session) validated(ctx context.Context, t *lake.Table, actions []ast.AlterAction, bound []bind.AlterAction) (checked bool, err error) {
	for i := range actions {
		v := bound[i].Validate
		if v == nil {
			continue
		}
		checked = true
		for _, r := range t.Refs() {
			snap := t.SnapshotByID(r.SnapshotID)
			if !r.Branch || snap == nil {
				continue
			}
			broken, err := s.breaks(ctx, t, snap, *v)
			if err != nil {
				return false, err
			}
			if broken {
				return false, sqlerr.New(sqlerr.CheckViolation, "check constraint \"%s\" of relation \"%s\" is violated by some row", v.Check.Name, t.Name.Table)
			}
		}
	}
	return checked, nil
}

// validateConstraint notes that a constraint holds for all rows. One that is not enforced stays so.
func validateConstraint(e *lake.Edit, a *ast.AlterAction, table string) error {
	for _, c := range e.Table().Checks() {
		if c.Name != a.NewName {
			continue
		}
		if c.NotEnforced {
			return sqlerr.New(sqlerr.WrongObjectType, "cannot validate NOT ENFORCED constraint").At(a.Pos)
		}
		c.NotValid = false
		key, text := c.Property()
		return e.SetProperties(map[string]string{key: text})
	}
	for _, k := range e.Table().ForeignKeys() {
		if k.Name == a.NewName {
			k.NotValid = false
			key, text := k.Property()
			return e.SetProperties(map[string]string{key: text})
		}
	}
	for _, k := range e.Table().Keys() {
		if k.Name == a.NewName {
			return sqlerr.New(sqlerr.WrongObjectType, "constraint %q of relation %q is not a foreign key or check constraint", a.NewName, table).At(a.Pos)
		}
	}
	return sqlerr.New(sqlerr.UndefinedObject, "constraint %q of relation %q does not exist", a.NewName, table).At(a.Pos)
}
