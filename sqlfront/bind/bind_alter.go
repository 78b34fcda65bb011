package bind

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// AlterAction is one action of ALTER TABLE with what it needs evaluated. The action's other
// parts (names, transforms, order) are in the statement.
type AlterAction struct {
	Column  *CreateColumn // "add column"
	Type    types.Type    // "alter type"
	Default *types.Datum  // "set default", as DefaultSQL
	// DefaultSQL and OnUpdateSQL are texts as in CreateColumn.
	DefaultSQL, OnUpdateSQL string
	Numbering               *lake.Numbering // "add identity"
	// Generated is of "add column" and "set generated", with columns by their places in GeneratedOf.
	Generated   *lake.Generated
	GeneratedOf []string
	// RowDefault is of "add column" and "set default", in the same way.
	RowDefault *lake.Generated
	Checks     []AlterCheck  // "add check", and of "add column"
	Key        *AlterKey     // "add key"
	Foreign    *AlterForeign // "add foreign key"
	Validate   *AlterCheck   // "validate constraint", of a CHECK constraint
	Props      map[string]Constant
	Ref        When // AS OF of CREATE BRANCH and TAG
	// Call is "execute" with its arguments; Where its predicate.
	Call *ProcedureCall
}

// AlterCheck is a constraint that is added. Names has columns as "{#i}" by their place in Fields, the
// schema as the actions before leave it; Pred is over Cols, one for each.
type AlterCheck struct {
	Check    lake.Check
	Fields   []string // names
	Pred     plan.Expr
	Cols     []plan.Column
	NotValid bool
}

// ProcedureCall is CALL, or ALTER TABLE … EXECUTE: arguments evaluated, and a predicate over the
// columns of Scan.
type ProcedureCall struct {
	Name  []string
	Args  []ProcedureArg
	Scan  *plan.Scan // set with Where
	Where plan.Expr
}

// ProcedureArg is an argument; Name is "" for a positional one.
type ProcedureArg struct {
	Name string
	Constant
}

func (b *binder) alterTable(s *ast.AlterTable) *Bound {
	r := &Bound{}
	rel, err := b.env.Catalog.Relation(b.ctx, TableRef{Parts: s.Name.Parts, NewCol: b.newColID})
	var missing *lake.NotFound
	if errors.As(err, &missing) && s.IfExists {
		return r
	}
	b.checkRelation(err, strings.Join(s.Name.Parts, "."), s.Name.Pos)
	r.Target = rel
	switch {
	case s.View && rel.View == nil:
		b.fail(sqlerr.WrongObjectType, s.Name.Pos, "\"%s\" is not a view", rel.Name)
	case !s.View && rel.View != nil && !onlyRenames(s.Actions):
		b.fail(sqlerr.WrongObjectType, s.Name.Pos, "\"%s\" is a view, not a table", rel.Name)
	case rel.View == nil && rel.Table == nil:
		b.fail(sqlerr.WrongObjectType, s.Name.Pos, "\"%s\" is a system table and cannot be altered", rel.Name)
	}
	b.use(rel, true)
	// Later actions see the columns that earlier ones add, change or rename: their defaults are
	// read against the schema as it is by then.
	schema := altered{b: b, rel: rel, constraints: map[string]bool{}}
	if rel.TableSchema != nil {
		schema.fields = ownFields(rel.TableSchema.Fields)
	}
	if rel.Table != nil {
		schema.knowConstraints(rel.Table)
	}
	for i := range s.Actions {
		r.Alter = append(r.Alter, b.alterAction(&s.Actions[i], &schema))
	}
	return r
}

// ownFields copies fields with all their members: the table's are shared with everyone.
func ownFields(in []lake.Field) []lake.Field {
	out := append([]lake.Field(nil), in...)
	for i := range out {
		out[i].Children = ownFields(out[i].Children)
	}
	return out
}

func onlyRenames(actions []ast.AlterAction) bool {
	for _, a := range actions {
		if a.Op != "rename" && a.Op != "set schema" {
			return false
		}
	}
	return true
}

// altered is the table's schema as the actions so far leave it, as far as types go.
type altered struct {
	b      *binder
	rel    *Relation
	fields []lake.Field
	// constraints are the names of the table's constraints; primary: one is its primary key.
	constraints map[string]bool
	primary     bool
	added       []lake.Key // with columns by their place in fields
}

func (a *altered) knowConstraints(t *lake.Table) {
	for _, c := range t.Checks() {
		a.constraints[c.Name] = true
	}
	for _, k := range t.Keys() {
		a.constraints[k.Name] = true
		a.primary = a.primary || k.Primary
	}
	for _, k := range t.ForeignKeys() {
		a.constraints[k.Name] = true
	}
}

func (a *altered) find(n ast.Name) *lake.Field {
	fields := a.fields
	var f *lake.Field
	for _, p := range n.Parts {
		f = nil
		for i := range fields {
			if a.b.d.SameName(fields[i].Name, p) {
				f = &fields[i]
			}
		}
		if f == nil {
			a.b.fail(sqlerr.UndefinedColumn, n.Pos, "column \"%s\" of relation \"%s\" does not exist", strings.Join(n.Parts, "."), a.rel.Name)
		}
		fields = f.Children
	}
	return f
}

func (b *binder) alterAction(a *ast.AlterAction, schema *altered) AlterAction {
	out := AlterAction{Props: b.props(a.Props)}
	switch a.Op {
	case "add column":
		if a.Def != nil {
			b.rowDefaults[a.Def] = len(a.Column.Parts) < 2 && schema.names(a.Def.Default)
			c := b.columnDef(a.Def)
			out.Column = &c
			if len(a.Column.Parts) < 2 {
				schema.fields = append(schema.fields, lake.Field{Name: c.Name, Type: c.Type, Numbering: c.Numbering})
			}
			if g := a.Def.Generated; g != nil {
				if len(a.Column.Parts) > 1 {
					b.fail(sqlerr.FeatureNotSupported, g.Pos, "a field of a struct cannot be generated")
				}
				out.Generated, out.GeneratedOf = b.alterGenerated(g, schema, &schema.fields[len(schema.fields)-1])
			}
			if b.rowDefaults[a.Def] {
				out.RowDefault, out.GeneratedOf = b.alterRowDefault(schema, len(schema.fields)-1, a.Def.Default, a.Def.DefaultSQL, a.Def.DefaultFrom)
			}
			for i := range a.Def.Checks {
				out.Checks = append(out.Checks, b.alterCheck(&a.Def.Checks[i], schema))
			}
		}
	case "alter type":
		out.Type = b.typeOf(a.Type)
		f := schema.find(a.Column)
		b.changeType(a, f, out.Type)
		f.Type = out.Type
	case "set generated":
		out.Generated, out.GeneratedOf = b.alterGenerated(a.Generated, schema, schema.find(a.Column))
	case "drop expression":
		f := schema.find(a.Column)
		if f.Generated == nil && !a.IfExists {
			b.fail(sqlerr.InvalidTableDefinition, a.Column.Pos, "column \"%s\" of relation \"%s\" is not a stored generated column", f.Name, schema.rel.Name)
		}
		f.Generated = nil
	case "set default":
		b.notGenerated(schema, schema.find(a.Column), a.Column.Pos)
		if len(a.Column.Parts) == 1 && schema.names(a.Default) {
			at := slices.IndexFunc(schema.fields, func(f lake.Field) bool { return b.d.SameName(f.Name, a.Column.Parts[0]) })
			out.RowDefault, out.GeneratedOf = b.alterRowDefault(schema, at, a.Default, a.DefaultSQL, a.DefaultFrom)
			break
		}
		out.Default, out.DefaultSQL = b.defaultValue(a.Default, a.DefaultSQL, schema.find(a.Column))
	case "add check":
		out.Checks = append(out.Checks, b.alterCheck(a.Check, schema))
	case "add key":
		out.Key = b.alterKey(a.Key, schema)
		out.Key.IfNotExists = a.IfNotExists
	case "add foreign key":
		out.Foreign = b.alterForeign(a.ForeignKey, schema)
	case "validate constraint":
		out.Validate = b.validateCheck(a.NewName, schema)
	case "drop primary key":
		schema.primary = false
	case "on update":
		out.OnUpdateSQL = b.dialectSQL(a.OnUpdateSQL)
	case "add identity":
		b.notGenerated(schema, schema.find(a.Column), a.Column.Pos)
		out.Numbering = b.numbering(a.Identity, schema.find(a.Column))
	case "rename column":
		f := schema.find(a.Column)
		f.Name = a.NewName
	case "drop column":
		if !a.IfExists {
			schema.find(a.Column)
		}
	case "set not null", "drop not null", "drop default", "move column", "comment column":
		schema.find(a.Column)
	case "execute":
		out.Call = b.procedureCall(a.Proc.Name.Parts, a.Proc.Args, a.Where, schema.rel)
	}
	if a.Ref != nil && a.Ref.AsOf != nil {
		out.Ref = b.when(a.Ref.AsOf, nil)
	}
	return out
}

// validateCheck binds a CHECK constraint that the table has; nil: none of the name.
func (b *binder) validateCheck(name string, schema *altered) *AlterCheck {
	if schema.rel.Table == nil {
		return nil
	}
	list := b.boundChecks(schema.rel, func(c lake.Check) bool { return c.Name == name })
	if len(list) == 0 {
		return nil
	}
	out := &AlterCheck{Check: lake.Check{Name: name}, Pred: list[0].Pred, Cols: list[0].Cols}
	for _, f := range schema.rel.TableSchema.Fields {
		out.Fields = append(out.Fields, f.Name)
	}
	return out
}

func (b *binder) alterCheck(c *ast.Check, schema *altered) AlterCheck {
	out := AlterCheck{NotValid: c.NotValid || c.NotEnforced}
	for _, f := range schema.fields {
		out.Fields = append(out.Fields, f.Name)
	}
	out.Check, out.Pred, out.Cols = b.declareCheck(schema.rel.Name, schema.fields, c, func(i int) string { return fmt.Sprintf("#%d", i) })
	return out
}

// changeType refuses a type that values of the column's are not assigned to. USING may say no more
// than a cast of the column to the type: rows stay as they are.
func (b *binder) changeType(a *ast.AlterAction, f *lake.Field, to types.Type) {
	if a.Using == nil {
		if !f.Type.Same(to) && !b.d.CanCast(f.Type, to, plan.Assignment) {
			b.failWith(sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" cannot be cast automatically to type %s", f.Name, typeName(to)).
				WithHint("You might need to specify \"USING %s::%s\".", f.Name, to).At(a.Type.Pos))
		}
		return
	}
	x := a.Using
	if c, ok := x.(*ast.Cast); ok && b.typeOf(&c.Type).Equal(to) {
		x = c.X
	}
	id, ok := x.(*ast.Ident)
	if !ok || !b.d.SameName(id.Parts[len(id.Parts)-1], f.Name) {
		b.failWith(sqlerr.New(sqlerr.FeatureNotSupported, "ALTER COLUMN … TYPE … USING is supported for a cast of the column only: rows are not written anew").
			WithHint("Add a column, UPDATE it, drop this one and rename.").At(leftmost(a.Using)))
	}
	if !f.Type.Same(to) && !b.d.CanCast(f.Type, to, plan.Explicit) {
		b.fail(sqlerr.CannotCoerce, leftmost(a.Using), "cannot cast type %s to %s", typeName(f.Type), typeName(to))
	}
}

func (b *binder) procedure(s *ast.Procedure) *Bound {
	return &Bound{Call: b.procedureCall(s.Name.Parts, s.Args, s.Where, nil)}
}

// procedureCall evaluates the arguments. The predicate of CALL, whose table is an argument, is
// left to the procedure: only it knows which table is meant.
func (b *binder) procedureCall(name []string, args []ast.Arg, where ast.Expr, rel *Relation) *ProcedureCall {
	c := &ProcedureCall{Name: name}
	for _, a := range args {
		var v Constant
		if id, ok := a.Expr.(*ast.Ident); ok {
			v = Constant{Value: types.NewStr(quotedParts(id.Parts)), Typ: types.T(types.Text), Pos: id.Pos}
		} else if m, ok := b.mapConstant(a.Expr); ok {
			v = m
		} else {
			v = b.constant(nil, a.Expr, types.Type{}, inConstant)
		}
		if v.Pending {
			b.paramPlan = true // bound again once the values are known
		}
		c.Args = append(c.Args, ProcedureArg{Name: a.Name, Constant: v})
	}
	if where == nil {
		return c
	}
	if rel == nil {
		rel = b.procedureTable(c)
	}
	if rel == nil || rel.Table == nil {
		b.fail(sqlerr.FeatureNotSupported, leftmost(where), "WHERE needs a table as the first argument")
	}
	lv := newLevel(nil)
	c.Scan = b.scan(rel, "")
	it := b.addLeaf(lv, c.Scan, rel.Name, ast.Alias{}, leftmost(where))
	it.table = ""
	lv.items = []*item{it}
	lv.kind = inWhere
	c.Where = plan.MapExpr(b.condition(lv, where, "WHERE"), func(e plan.Expr) plan.Expr {
		p, ok := e.(*plan.Param)
		switch {
		case !ok:
		case p.Index <= len(b.env.Args):
			return &plan.Const{Value: b.env.Args[p.Index-1], Typ: b.params[p.Index-1]}
		default:
			b.paramPlan = true
		}
		return e
	})
	if plan.HasSubquery(c.Where) {
		b.fail(sqlerr.FeatureNotSupported, leftmost(where), "a subquery is not allowed in the WHERE of a procedure")
	}
	return c
}

// mapConstant evaluates map(key, value, …), as Spark spells the options of a procedure: texts by text.
func (b *binder) mapConstant(e ast.Expr) (Constant, bool) {
	call, ok := e.(*ast.Call)
	if !ok || len(call.Name.Parts) != 1 || !strings.EqualFold(call.Name.Parts[0], "map") {
		return Constant{}, false
	}
	text := types.T(types.Text)
	m := Constant{Typ: types.MapOf(text, text), Pos: call.Pos}
	if len(call.Args)%2 != 0 {
		b.fail(sqlerr.SyntaxError, call.Pos, "map takes keys and values in turns")
		return m, true
	}
	var all []types.Datum
	for _, a := range call.Args {
		c := b.constant(nil, a.Expr, types.Type{}, inConstant)
		m.Pending = m.Pending || c.Pending
		d := c.Value
		if !c.Pending && !d.IsNull() && c.Typ.Kind != types.Text {
			d = types.NewStr(types.Format(d, c.Typ, nil))
		}
		all = append(all, d)
	}
	var list []types.Datum
	for i := 0; i < len(all); i += 2 {
		list = append(list, types.NewStruct(all[i:i+2]))
	}
	m.Value = types.NewList(list)
	return m, true
}

// ProcedureWhere binds the predicate of the procedure call p to a table that the caller has found.
func ProcedureWhere(env *Env, p ast.Parsed, rel *Relation) (call *ProcedureCall, err error) {
	b := newBinder(env, p, nil)
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			call, err = nil, f.err
		}
	}()
	s := p.Stmt.(*ast.Procedure)
	return b.procedureCall(s.Name.Parts, nil, s.Where, rel), nil
}

// procedureTable finds the table that a procedure's "table" or first argument names.
func (b *binder) procedureTable(c *ProcedureCall) *Relation {
	for i, a := range c.Args {
		if a.Name == "table" || a.Name == "" && i == 0 {
			if a.Pending || a.Value.IsNull() || a.Typ.Kind != types.Text {
				return nil
			}
			return b.relation(nil, splitParts(a.Value.Str()), When{}, a.Pos)
		}
	}
	return nil
}

// quotedParts spells a name so that whoever reads it finds the parts again: those that are no plain
// words in quotes.
func quotedParts(parts []string) string {
	out := make([]string, len(parts))
	for i, p := range parts {
		plain := p != ""
		for k, c := range p {
			plain = plain && (c == '_' || c >= 'a' && c <= 'z' || k > 0 && (c >= '0' && c <= '9' || c == '$' || c == '@'))
		}
		if out[i] = p; !plain {
			out[i] = `"` + strings.ReplaceAll(p, `"`, `""`) + `"`
		}
	}
	return strings.Join(out, ".")
}

// splitParts gives the parts of a name that quotedParts spelled.
func splitParts(name string) []string {
	var parts []string
	part, quoted := "", false
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '"' && quoted && i+1 < len(name) && name[i+1] == '"':
			part += `"`
			i++
		case c == '"':
			quoted = !quoted
		case c == '.' && !quoted:
			parts, part = append(parts, part), ""
		default:
			part += name[i : i+1]
		}
	}
	return append(parts, part)
}

// comment resolves the object that COMMENT ON names.
func (b *binder) comment(s *ast.Comment) *Bound {
	r := &Bound{}
	parts := s.Name.Parts
	switch s.Kind {
	case "schema":
		return r
	case "column":
		if len(parts) < 2 {
			b.fail(sqlerr.SyntaxError, s.Name.Pos, "column name must be qualified")
		}
	}
	// table.column, schema.table.column, and table.column.member: the longest name that is a
	// relation wins.
	n := len(parts)
	if s.Kind == "column" {
		n--
	}
	var err error
	for ; n >= 1; n-- {
		var rel *Relation
		rel, err = b.env.Catalog.Relation(b.ctx, TableRef{Parts: parts[:n], NewCol: b.newColID})
		if err == nil {
			r.Target = rel
			break
		}
		var missing *lake.NotFound
		if s.Kind != "column" || !errors.As(err, &missing) {
			break
		}
	}
	if r.Target == nil {
		if s.Kind == "column" {
			parts = parts[:len(parts)-1]
		}
		b.checkRelation(err, strings.Join(parts, "."), s.Name.Pos)
	}
	b.use(r.Target, true)
	if s.Kind == "column" && r.Target.TableSchema != nil {
		a := altered{b: b, rel: r.Target, fields: r.Target.TableSchema.Fields}
		r.CommentColumn = s.Name.Parts[n:]
		a.find(ast.Name{Parts: r.CommentColumn, Pos: s.Name.Pos})
	}
	return r
}
