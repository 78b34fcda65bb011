package bind

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// typeName is how messages call a type: without its parameters (format_type_be).
func typeName(t types.Type) string {
	switch t.Kind {
	case types.Array:
		return typeName(t.Elem()) + "[]"
	case types.Struct:
		return "record"
	case types.Map:
		return t.String()
	}
	return types.T(t.Kind).String()
}

// otherNames are the names of types besides pg_type's: Iceberg's, Spark's and Trino's.
var otherNames = map[string]types.Type{
	"boolean": types.T(types.Bool), "tinyint": types.T(types.Int2), "byte": types.T(types.Int2),
	"smallint": types.T(types.Int2), "short": types.T(types.Int2), "int": types.T(types.Int4),
	"integer": types.T(types.Int4), "bigint": types.T(types.Int8), "long": types.T(types.Int8),
	"real": types.T(types.Float4), "float": types.T(types.Float8), "double": types.T(types.Float8),
	"decimal": types.T(types.Numeric), "dec": types.T(types.Numeric), "string": types.T(types.Text),
	"binary": types.T(types.Bytea), "varbinary": types.T(types.Bytea), "blob": types.T(types.Bytea),
	"fixed": types.T(types.Bytea), "timestamp_ns": types.T(types.TimestampNS),
	"timestamptz_ns": types.T(types.TimestampTZNS), "timestamp_ntz": types.T(types.Timestamp),
	"timestamp_ltz": types.T(types.TimestampTZ), "variant": types.T(types.Variant),
	"character": types.T(types.Bpchar), "regdatabase": types.T(types.Oid), "cid": types.T(types.Xid),
	"cstring": types.T(types.Text), "tid": types.T(types.Text), "pg_node_tree": types.T(types.Text),
	"aclitem": types.T(types.Text), "sql_identifier": types.T(types.Name),
	"character_data": types.T(types.Text), "cardinal_number": types.T(types.Int4), "yes_or_no": types.T(types.Varchar),
}

// simpleType finds a type without parameters by name.
func simpleType(name string) (types.Type, bool) {
	if t, ok := types.FromPGName(name); ok {
		switch t.Kind {
		case types.Any, types.AnyArray, types.AnyElement, types.AnyNonArray, types.Void:
			return types.Type{}, false
		}
		return t, true
	}
	t, ok := otherNames[name]
	return t, ok
}

// typeOf turns a type as written into a type. All statements use it, casts and CREATE TABLE
// alike.
func (b *binder) typeOf(n *ast.TypeName) types.Type {
	b.enter(n.Pos)
	defer b.leave()
	t := b.elementType(n)
	for i := 0; i < n.Array; i++ {
		t = types.ArrayOf(t)
	}
	return t
}

func (b *binder) elementType(n *ast.TypeName) types.Type {
	name := n.Name
	if n.MySQL != nil {
		m := *n.MySQL
		if m.Collation != "" {
			if m.Collation = knownCollation(m.Collation); m.Collation == "" {
				b.fail(sqlerr.UndefinedObject, n.Pos, "Unknown collation: '%s'", n.MySQL.Collation)
			}
			if m.Collation == defaultCollation {
				m.Collation = ""
			}
		}
		t, ok := types.MySQLTypeOf(m, n.Mods)
		if !ok {
			b.fail(sqlerr.InvalidParameterValue, n.Pos, "the type %s cannot be declared like this", strings.ToUpper(n.MySQL.Name))
		}
		return t
	}
	if n.Schema != "" && n.Schema != "pg_catalog" && n.Schema != "information_schema" {
		b.fail(sqlerr.UndefinedObject, n.Pos, "type \"%s.%s\" does not exist", n.Schema, name)
	}
	switch name {
	case "struct", "row":
		if len(n.Args) > 0 || name == "struct" {
			return b.structType(n)
		}
	case "map":
		if len(n.Args) != 2 {
			b.fail(sqlerr.SyntaxError, n.Pos, "a map has two types, of key and value: map<text, int>")
		}
		return types.MapOf(b.typeOf(&n.Args[0].Type), b.typeOf(&n.Args[1].Type))
	case "list", "array":
		if len(n.Args) != 1 {
			b.fail(sqlerr.SyntaxError, n.Pos, "a list has one type, of its elements: list<int>")
		}
		return types.ArrayOf(b.typeOf(&n.Args[0].Type))
	}
	t, ok := simpleType(name)
	if !ok {
		if strings.HasPrefix(name, "_") {
			if e, ok := simpleType(name[1:]); ok {
				return types.ArrayOf(e)
			}
		}
		if t, ok = b.rowType(name); !ok {
			b.fail(sqlerr.UndefinedObject, n.Pos, "type \"%s\" does not exist", name)
		}
	}
	return b.withMods(t, n)
}

// rowType is the type of a table's rows, which the table's name names.
func (b *binder) rowType(name string) (types.Type, bool) {
	if b.env.Catalog == nil {
		return types.Type{}, false
	}
	rel, err := b.env.Catalog.Relation(b.ctx, TableRef{Parts: []string{name}, NewCol: b.newColID, SearchPath: b.searchPath()})
	if err != nil || rel.Table == nil {
		return types.Type{}, false
	}
	b.use(rel, false)
	var fields []types.Field
	for i := range rel.TableSchema.Fields {
		f := &rel.TableSchema.Fields[i]
		fields = append(fields, types.Field{Name: f.Name, Type: f.Type})
	}
	return types.RecordOf(fields...), len(fields) > 0
}

func (b *binder) structType(n *ast.TypeName) types.Type {
	var fields []types.Field
	for i := range n.Args {
		a := &n.Args[i]
		for _, f := range fields {
			if f.Name == a.Name {
				b.fail(sqlerr.DuplicateColumn, n.Pos, "column \"%s\" specified more than once", a.Name)
			}
		}
		fields = append(fields, types.Field{Name: a.Name, Type: b.typeOf(&a.Type)})
	}
	if len(fields) == 0 {
		b.fail(sqlerr.SyntaxError, n.Pos, "a struct has named fields: struct<a int, b text>")
	}
	return types.StructOf(fields...)
}

// withMods applies numeric(p,s), varchar(n) and the like.
func (b *binder) withMods(t types.Type, n *ast.TypeName) types.Type {
	if len(n.Mods) == 0 {
		// In SQL's grammar char alone is char(1); bpchar without a length has none.
		return t
	}
	m := n.Mods
	switch t.Kind {
	case types.Numeric:
		p, s := m[0], 0
		if len(m) > 1 {
			s = m[1]
		}
		switch {
		case len(m) > 2:
			b.fail(sqlerr.InvalidParameterValue, n.Pos, "invalid NUMERIC type modifier")
		case p < 1 || p > 1000:
			b.fail(sqlerr.InvalidParameterValue, n.Pos, "NUMERIC precision %d must be between 1 and 1000", p)
		case s < -1000 || s > 1000:
			b.fail(sqlerr.InvalidParameterValue, n.Pos, "NUMERIC scale %d must be between -1000 and 1000", s)
		case s < 0:
			b.fail(sqlerr.FeatureNotSupported, n.Pos, "a negative NUMERIC scale is not supported")
		}
		return types.DecimalType(p, s)
	case types.Varchar, types.Bpchar:
		name := "varchar"
		if t.Kind == types.Bpchar {
			name = "char"
		}
		if m[0] < 1 {
			b.fail(sqlerr.InvalidParameterValue, n.Pos, "length for type %s must be at least 1", name)
		}
		if m[0] > types.MaxLength {
			b.fail(sqlerr.InvalidParameterValue, n.Pos, "length for type %s cannot exceed 10485760", name)
		}
		t.Prec, t.Declared = int32(m[0]), true
		return t
	case types.Bytea:
		if n.Name != "fixed" {
			break
		}
		if m[0] < 1 || m[0] > 32767 {
			b.fail(sqlerr.InvalidParameterValue, n.Pos, "length for type fixed must be between 1 and 32767")
		}
		t.Prec = int32(m[0])
		return t
	case types.Time, types.TimeTZ, types.Timestamp, types.TimestampTZ, types.Interval, types.TimestampNS, types.TimestampTZNS:
		p := m[len(m)-1]
		if p < 0 {
			b.fail(sqlerr.InvalidParameterValue, n.Pos, "%s precision must not be negative", strings.ToUpper(n.Name))
		}
		if t.Kind == types.TimestampNS || t.Kind == types.TimestampTZNS {
			return t
		}
		return t.WithSecondDigits(p) // more than 6 are 6, as PostgreSQL warns
	case types.Float4, types.Float8:
		if n.Name == "float" {
			if m[0] < 1 {
				b.fail(sqlerr.InvalidParameterValue, n.Pos, "precision for type float must be at least 1 bit")
			}
			if m[0] > 53 {
				b.fail(sqlerr.InvalidParameterValue, n.Pos, "precision for type float must be less than 54 bits")
			}
			if m[0] <= 24 {
				return types.T(types.Float4)
			}
			return t
		}
	}
	b.fail(sqlerr.SyntaxError, n.Pos, "type modifier is not allowed for type \"%s\"", n.Name)
	return t
}
