package bind

// This file binds FOREIGN KEY constraints as they are declared.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// AlterForeign is a foreign key that is added. Its columns are places in Fields, the schema as the
// actions before leave it. Parent is the table that it references; nil: its own, whose columns
// References then are places in Fields, too.
type AlterForeign struct {
	Key    lake.ForeignKey
	Fields []string // names
	Parent *Relation
}

// declareForeign binds a foreign key of a table. own tells whether a name is the table's; keys are the
// table's own keys, with columns by place.
func (b *binder) declareForeign(table string, fields []lake.Field, k *ast.ForeignKey, own func(ast.Name) bool, keys []lake.Key, taken func(string) bool, number func() int) *AlterForeign {
	out := &AlterForeign{Key: lake.ForeignKey{Name: k.Name, OnDelete: k.OnDelete, OnUpdate: k.OnUpdate, MatchFull: k.MatchFull,
		NotEnforced: k.NotEnforced, NotValid: k.NotValid, Deferrable: k.Deferrable, Deferred: k.Deferred}}
	for _, f := range fields {
		out.Fields = append(out.Fields, f.Name)
	}
	for _, n := range k.Columns {
		i := slices.IndexFunc(fields, func(f lake.Field) bool { return b.d.SameName(f.Name, n.Parts[len(n.Parts)-1]) })
		if i < 0 || len(n.Parts) > 1 {
			b.fail(sqlerr.UndefinedColumn, n.Pos, "column \"%s\" referenced in foreign key constraint does not exist", strings.Join(n.Parts, "."))
		}
		out.Key.Columns = append(out.Key.Columns, i)
	}
	target := fields
	name := table
	if !own(k.Table) {
		rel, err := b.env.Catalog.Relation(b.ctx, TableRef{Parts: k.Table.Parts, NewCol: b.newColID})
		b.checkRelation(err, strings.Join(k.Table.Parts, "."), k.Table.Pos)
		if rel.Table == nil {
			b.fail(sqlerr.WrongObjectType, k.Table.Pos, "referenced relation \"%s\" is not a table", rel.Name)
		}
		out.Parent, target, name = rel, rel.Table.Schema().Fields, rel.Name
		keys = nil
		for _, key := range rel.Table.Keys() {
			key.Columns = slices.Clone(key.Columns)
			for n, id := range key.Columns {
				key.Columns[n] = slices.IndexFunc(target, func(f lake.Field) bool { return f.ID == id })
			}
			keys = append(keys, key)
		}
	}
	var places []int
	if k.References == nil {
		for _, key := range keys {
			if key.Primary {
				places = key.Columns
			}
		}
		if places == nil {
			b.fail(sqlerr.UndefinedObject, k.Pos, "there is no primary key for referenced table \"%s\"", name)
		}
	}
	for _, n := range k.References {
		i := slices.IndexFunc(target, func(f lake.Field) bool { return b.d.SameName(f.Name, n.Parts[len(n.Parts)-1]) })
		if i < 0 || len(n.Parts) > 1 {
			b.fail(sqlerr.UndefinedColumn, n.Pos, "column \"%s\" referenced in foreign key constraint does not exist", strings.Join(n.Parts, "."))
		}
		places = append(places, i)
	}
	b.noteReference(out.Parent, target, places)
	if len(places) != len(out.Key.Columns) {
		b.fail(sqlerr.InvalidForeignKey, k.Pos, "number of referencing and referenced columns for foreign key disagree")
	}
	unique := slices.ContainsFunc(keys, func(key lake.Key) bool {
		return len(key.Columns) == len(places) && !slices.ContainsFunc(places, func(i int) bool { return !slices.Contains(key.Columns, i) })
	})
	if !unique && b.d.HoldMode == nil { // MySQL takes any columns
		b.fail(sqlerr.InvalidForeignKey, k.Pos, "there is no unique constraint matching given keys for referenced table \"%s\"", name)
	}
	if out.Key.Name == "" {
		if b.d.HoldMode != nil {
			for out.Key.Name = fmt.Sprintf("%s_ibfk_%d", table, number()); taken(out.Key.Name); {
				out.Key.Name = fmt.Sprintf("%s_ibfk_%d", table, number())
			}
		} else {
			out.Key.Name = freeName(table, columnList(fields, out.Key.Columns)+"_fkey", taken)
		}
	} else if taken(out.Key.Name) {
		if b.d.HoldMode != nil {
			b.failWith(sqlerr.New(sqlerr.DuplicateObject, "Duplicate foreign key constraint name '%s'", out.Key.Name).WithNumber(1826).At(k.Pos))
		}
		b.fail(sqlerr.DuplicateObject, k.Pos, "constraint \"%s\" for relation \"%s\" already exists", out.Key.Name, table)
	}
	for n, i := range out.Key.Columns {
		from, to := fields[i].Type, target[places[n]].Type
		if _, err := b.d.ResolveOperator("=", []types.Type{from, to}); err != nil || from.IsNumber() != to.IsNumber() {
			b.failWith(sqlerr.New(sqlerr.DatatypeMismatch, "foreign key constraint \"%s\" cannot be implemented", out.Key.Name).
				WithDetail("Key columns \"%s\" and \"%s\" are of incompatible types: %s and %s.", fields[i].Name, target[places[n]].Name, typeName(from), typeName(to)).At(k.Pos))
		}
		if out.Parent == nil {
			out.Key.References = append(out.Key.References, places[n])
		} else {
			out.Key.References = append(out.Key.References, target[places[n]].ID)
		}
	}
	return out
}

// tableForeign binds the foreign keys of CREATE TABLE.
func (b *binder) tableForeign(s *ast.CreateTable, c *CreateTable, fields []lake.Field) {
	table := s.Name.Parts[len(s.Name.Parts)-1]
	if s.As != nil {
		b.fail(sqlerr.FeatureNotSupported, s.ForeignKeys[0].Pos, "CREATE TABLE AS with a FOREIGN KEY is not supported: add it afterwards")
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(c.Checks, func(k lake.Check) bool { return k.Name == name }) ||
			slices.ContainsFunc(c.Keys, func(k lake.Key) bool { return k.Name == name }) ||
			slices.ContainsFunc(c.Foreign, func(k *AlterForeign) bool { return k.Key.Name == name })
	}
	own := func(n ast.Name) bool {
		return b.d.SameName(n.Parts[len(n.Parts)-1], table) && (len(n.Parts) == 1 || len(n.Parts) == len(s.Name.Parts) && strings.Join(n.Parts, ".") == strings.Join(s.Name.Parts, "."))
	}
	number := 0
	for i := range s.ForeignKeys {
		c.Foreign = append(c.Foreign, b.declareForeign(table, fields, &s.ForeignKeys[i], own, c.Keys, taken, func() int { number++; return number }))
	}
}

func (b *binder) alterForeign(k *ast.ForeignKey, schema *altered) *AlterForeign {
	rel := schema.rel
	own := func(n ast.Name) bool {
		other, err := b.env.Catalog.Relation(b.ctx, TableRef{Parts: n.Parts, NewCol: b.newColID})
		return err == nil && other.Table != nil && other.Table.Name == rel.Table.Name
	}
	var keys []lake.Key
	for _, key := range rel.Table.Keys() {
		key.Columns = slices.Clone(key.Columns)
		for n, id := range key.Columns {
			key.Columns[n] = slices.IndexFunc(schema.fields, func(f lake.Field) bool { return f.ID == id })
		}
		keys = append(keys, key)
	}
	number := len(rel.Table.ForeignKeys())
	out := b.declareForeign(rel.Name, schema.fields, k, own, append(keys, schema.added...), func(n string) bool { return schema.constraints[n] }, func() int { number++; return number })
	schema.constraints[out.Key.Name] = true
	return out
}
