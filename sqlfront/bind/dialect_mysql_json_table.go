package bind

import (
	"encoding/json"

	"github.com/lhsql/lhsql/eval/mysqlfunc"
	"github.com/lhsql/lhsql/internal/invariant"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// jsonTable binds JSON_TABLE as a function in FROM, which may read the tables to its left. What
// is fixed of it becomes a text that the function reads.
func (b *binder) jsonTable(t *ast.JSONTable, lv *level) (plan.Node, *item) {
	old, oldKind := lv.lateralActive, lv.kind
	lv.lateralActive, lv.kind = true, inFromFunction
	doc := b.to(b.expr(lv, t.Doc), types.JSONB)
	lv.lateralActive, lv.kind = old, oldKind

	var fields []types.Field
	spec := mysqlfunc.JSONTable{Path: t.Path, Columns: b.jsonColumns(t.Columns, &fields)}
	b.checkPath(t.Path, t.Pos)
	text, err := json.Marshal(spec)
	invariant.Check(err == nil, "bind: %v", err)
	call := b.evalCall("mysql:json_table", t.Pos, doc, textConst(string(text))).(*plan.Call)
	call.Typ = types.StructOf(fields...)
	fs := &plan.FuncScan{Calls: []*plan.Call{call}}
	for _, f := range fields {
		fs.Cols = append(fs.Cols, b.newColumn(f.Name, f.Type))
	}
	return fs, b.addLeaf(lv, fs, "json_table", t.Alias, t.Pos)
}

func (b *binder) checkPath(path string, pos int) {
	b.check(mysqlfunc.CheckJSONPath(path), pos)
}

func (b *binder) jsonColumns(cols []ast.JSONColumn, fields *[]types.Field) []mysqlfunc.JSONTableColumn {
	var out []mysqlfunc.JSONTableColumn
	for i := range cols {
		c := &cols[i]
		o := mysqlfunc.JSONTableColumn{Name: c.Name, Kind: mysqlfunc.JSONTableKind(c.Kind), Path: c.Path, Chars: c.Chars,
			Empty: b.jsonElse(c.OnEmpty), Error: b.jsonElse(c.OnError)}
		if o.Kind != mysqlfunc.JSONTableOrdinal {
			b.checkPath(c.Path, c.Pos)
		}
		if o.Kind == mysqlfunc.JSONTableNested {
			o.Nested = b.jsonColumns(c.Nested, fields)
			out = append(out, o)
			continue
		}
		for _, f := range *fields {
			if b.d.SameName(f.Name, c.Name) {
				b.fail(sqlerr.DuplicateColumn, c.Pos, "column \"%s\" specified more than once", c.Name)
			}
		}
		typ := types.T(types.Int8)
		if o.Kind != mysqlfunc.JSONTableOrdinal {
			typ = b.typeOf(&c.Type)
		}
		*fields = append(*fields, types.Field{Name: c.Name, Type: typ})
		out = append(out, o)
	}
	return out
}

func (b *binder) jsonElse(e ast.JSONElse) mysqlfunc.JSONTableElse {
	out := mysqlfunc.JSONTableElse{Fail: e.Error}
	if e.Default != nil {
		if err := types.ValidateJSON(e.Default.Text); err != nil {
			b.fail(sqlerr.InvalidTextRepresentation, e.Default.Pos, "Invalid default value: it must be JSON text, such as '\"x\"' or '1'")
		}
		out.Default = &e.Default.Text
	}
	return out
}
