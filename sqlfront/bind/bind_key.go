package bind

// This file binds PRIMARY KEY and UNIQUE constraints as they are declared.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// AlterKey is a key that is added. Its columns are places in Fields, the schema as the actions before
// leave it.
type AlterKey struct {
	Key         lake.Key
	Fields      []string // names
	IfNotExists bool
}

// keyPlaces are the places of a key's columns among fields.
func (b *binder) keyPlaces(fields []lake.Field, columns []ast.Name, what string) []int {
	var out []int
	for _, n := range columns {
		i := slices.IndexFunc(fields, func(f lake.Field) bool { return b.d.SameName(f.Name, n.Parts[len(n.Parts)-1]) })
		if i < 0 || len(n.Parts) > 1 {
			b.fail(sqlerr.UndefinedColumn, n.Pos, "column \"%s\" named in key does not exist", strings.Join(n.Parts, "."))
		}
		if slices.Contains(out, i) {
			b.fail(sqlerr.DuplicateColumn, n.Pos, "column \"%s\" appears twice in %s constraint", fields[i].Name, what)
		}
		out = append(out, i)
	}
	return out
}

// declareKey binds a key. taken tells which names constraints of the table have.
func (b *binder) declareKey(table string, fields []lake.Field, k *ast.Key, taken func(string) bool) lake.Key {
	what := "unique"
	if k.Primary {
		what = "primary key"
	}
	out := lake.Key{Name: k.Name, Primary: k.Primary, NullsNotDistinct: k.NullsNotDistinct,
		NotEnforced: k.NotEnforced, Deferrable: k.Deferrable, Deferred: k.Deferred}
	out.Columns = b.keyPlaces(fields, k.Columns, what)
	for n, i := range out.Columns {
		if t, bad := incomparable(fields[i].Type, true); bad {
			b.failWith(sqlerr.New(sqlerr.UndefinedObject, "data type %s has no default operator class for access method \"btree\"", typeName(t)).
				WithHint("A key's columns need types that can be compared.").At(k.Columns[n].Pos))
		}
	}
	for n, length := range k.Prefixes {
		i := out.Columns[n]
		switch c := classOf(fields[i].Type); {
		case length == 0:
			continue
		case c != isText && c != isBytes:
			b.failWith(sqlerr.New(sqlerr.InvalidTableDefinition, "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or the storage engine doesn't support unique prefix keys").
				WithNumber(1089).At(k.Columns[n].Pos))
		}
		out.Prefixes = k.Prefixes
	}
	mysql := b.d.HoldMode != nil
	for _, i := range out.Columns {
		if g := fields[i].Generated; g != nil && g.Virtual && k.Primary {
			b.failWith(sqlerr.New(sqlerr.InvalidTableDefinition, "'Defining a virtual generated column as primary key' is not supported for generated columns.").WithNumber(3106).At(k.Pos))
		}
	}
	if mysql && slices.ContainsFunc(out.Columns, func(i int) bool { return classOf(fields[i].Type) == isText }) {
		out.Collation = defaultCollation
	}
	switch {
	case k.Primary && mysql, out.Name == "" && k.Primary:
		out.Name = freeName(table, "pkey", taken) // MySQL calls each PRIMARY
	case out.Name == "" && mysql:
		// The first column's name, with a number from 2 on.
		base := fields[out.Columns[0]].Name
		out.Name = base
		for n := 2; taken(out.Name); n++ {
			out.Name = fmt.Sprintf("%s_%d", base, n)
		}
	case out.Name == "" && k.Index:
		out.Name = freeName(table, columnList(fields, out.Columns)+"_idx", taken)
	case out.Name == "":
		out.Name = freeName(table, columnList(fields, out.Columns)+"_key", taken)
	case taken(out.Name):
		b.failTaken(out.Name, table, k.Pos)
	}
	return out
}

func (b *binder) failTaken(name, table string, pos int) {
	if b.d.HoldMode != nil {
		b.fail(sqlerr.DuplicateObject, pos, "Duplicate key name '%s'", name)
	}
	b.fail(sqlerr.DuplicateTable, pos, "relation \"%s\" already exists", name)
}

func columnList(fields []lake.Field, places []int) string {
	names := make([]string, len(places))
	for n, i := range places {
		names[n] = fields[i].Name
	}
	return strings.Join(names, "_")
}

// freeName makes a constraint's name of its table's and what it is, as PostgreSQL does: at most 63
// bytes, with a number where it is taken.
func freeName(table, rest string, taken func(string) bool) string {
	const longest = 63
	for n := 0; ; n++ {
		tail := "_" + rest
		if n > 0 {
			tail += fmt.Sprint(n)
		}
		t := table
		if len(t)+len(tail) > longest {
			t = strings.ToValidUTF8(t[:max(min(len(t), longest-len(tail)), min(len(t), 29))], "")
			tail = strings.ToValidUTF8(tail[:min(len(tail), longest-len(t))], "")
		}
		if name := t + tail; !taken(name) {
			return name
		}
	}
}

// KeyOf is what column i of the key k compares by: itself, its first letters or bytes, or what these sort
// by in its collation.
func KeyOf(k lake.Key, i int, c *plan.Col) plan.Expr {
	call := func(name string, args ...plan.Expr) plan.Expr {
		ts := make([]types.Type, len(args))
		for n, a := range args {
			ts[n] = a.Type()
		}
		f, err := eval.ResolveFunction(name, ts, false)
		invariant.Check(err == nil, "there is no function %s", name)
		return &plan.Call{Func: f.Func, Args: args, Typ: f.Ret, Pos: -1}
	}
	text := classOf(c.Typ) == isText
	var x plan.Expr = c
	if text && !c.Typ.Equal(types.T(types.Text)) && (i < len(k.Prefixes) && k.Prefixes[i] > 0 || k.Collation != "") {
		x = &plan.Cast{X: c, Typ: types.T(types.Text), Context: plan.Implicit, Pos: -1}
	}
	if i < len(k.Prefixes) && k.Prefixes[i] > 0 {
		n := int4Const(int64(k.Prefixes[i]))
		if text {
			x = call("left", x, n)
		} else {
			x = call("substring", x, int4Const(1), n)
		}
	}
	if k.Collation == "" || !text {
		return x
	}
	collation := k.Collation
	if m := c.Typ.MySQL; m != nil && m.Collation != "" {
		collation = m.Collation
	}
	name := keyFunction(collation)
	if name == "" {
		if _, cast := x.(*plan.Cast); cast {
			return c
		}
		return x
	}
	return call(name, x)
}

// tableKeys binds the keys of CREATE TABLE, and gives the identifier fields: the primary key's columns
// where the format takes them. A primary key of a struct's member is no more than these.
func (b *binder) tableKeys(table string, fields []lake.Field, s *ast.CreateTable, taken func(string) bool) (keys []lake.Key, identifier []string) {
	list := append([]ast.Key(nil), s.Keys...)
	slices.SortStableFunc(list, func(x, y ast.Key) int { // the primary key's name comes first
		switch {
		case x.Primary && !y.Primary:
			return -1
		case y.Primary && !x.Primary:
			return 1
		}
		return 0
	})
	for i := range list {
		k := &list[i]
		if k.Primary && slices.ContainsFunc(k.Columns, func(n ast.Name) bool { return len(n.Parts) > 1 }) {
			for _, n := range k.Columns {
				identifier = append(identifier, strings.Join(n.Parts, "."))
			}
			continue
		}
		key := b.declareKey(table, fields, k, func(n string) bool {
			return taken(n) || slices.ContainsFunc(keys, func(k lake.Key) bool { return k.Name == n })
		})
		if key.Primary && key.Prefixes == nil {
			identifier = identifierOf(fields, key.Columns)
		}
		keys = append(keys, key)
	}
	return keys, identifier
}

// identifierOf are the names of a primary key's columns, where the format takes all of them as
// identifier fields.
func identifierOf(fields []lake.Field, places []int) []string {
	var out []string
	for _, i := range places {
		switch t := fields[i].Type; {
		case t.Kind == types.Float4, t.Kind == types.Float8, t.Kind == types.Array, t.Kind == types.Map, t.Kind == types.Struct, t.Kind == types.JSONB:
			return nil
		}
		out = append(out, fields[i].Name)
	}
	return out
}

func (b *binder) alterKey(k *ast.Key, schema *altered) *AlterKey {
	out := &AlterKey{}
	for _, f := range schema.fields {
		out.Fields = append(out.Fields, f.Name)
	}
	if k.Primary && schema.primary {
		if b.d.HoldMode != nil {
			b.failWith(sqlerr.New(sqlerr.InvalidTableDefinition, "Multiple primary key defined").WithNumber(1068).At(k.Pos))
		}
		b.fail(sqlerr.InvalidTableDefinition, k.Pos, "multiple primary keys for table \"%s\" are not allowed", schema.rel.Name)
	}
	if k.Primary {
		schema.primary = true
	}
	out.Key = b.declareKey(schema.rel.Name, schema.fields, k, func(n string) bool { return schema.constraints[n] })
	schema.constraints[out.Key.Name] = true
	schema.added = append(schema.added, out.Key)
	return out
}
