package bind

import (
	"regexp"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// CreateTable is CREATE TABLE with types, defaults and properties evaluated. What Iceberg
// allows of it is for lake to say.
type CreateTable struct {
	Columns    []CreateColumn
	Identifier []string     // identifier fields
	Keys       []lake.Key   // with columns by their place
	Checks     []lake.Check // with columns as "{#i}", by their place
	Bound      []plan.Check // those of Checks that are enforced, over the columns
	Foreign    []*AlterForeign
	Props      map[string]Constant
	Like       *Relation
	// AsColumns: the table takes Bound.Plan's rows; its columns are Columns, by position.
	As bool
	// Hold says what becomes of rows of AS that a column cannot hold.
	Hold eval.HoldMode
}

// CreateColumn is a column of CREATE TABLE or ADD COLUMN.
type CreateColumn struct {
	Name    string
	Type    types.Type
	NotNull bool
	Default *types.Datum // of Type; nil: none, or no constant
	// DefaultSQL is the default's text, OnUpdateSQL that of ON UPDATE, behind "mysql:" in that
	// dialect; "" for none.
	DefaultSQL, OnUpdateSQL string
	Numbering               *lake.Numbering
	// Generated and RowDefault have columns by their place.
	Generated, RowDefault *lake.Generated
	Comment               string
}

func (b *binder) createTable(s *ast.CreateTable) *Bound {
	c := &CreateTable{Props: b.props(s.Props)}
	r := &Bound{Create: c}
	if s.Like != nil {
		c.Like = b.relation(nil, s.Like.Parts, b.when(s.Like.AsOf, nil), s.Like.Pos)
	}
	for i := range s.Columns {
		d := &s.Columns[i]
		b.rowDefaults[d] = s.As == nil && b.namesColumn(d.Default, func(name string) bool {
			return slices.ContainsFunc(s.Columns, func(o ast.ColumnDef) bool { return b.d.SameName(o.Name, name) })
		})
		if s.As == nil || d.Type.Name != "" {
			c.Columns = append(c.Columns, b.columnDef(d))
		} else {
			c.Columns = append(c.Columns, CreateColumn{Name: d.Name, NotNull: d.NotNull, Comment: d.Comment})
		}
	}
	if s.As != nil {
		b.createAs(s, r)
	}
	seen := map[string]bool{}
	for _, col := range c.Columns {
		if seen[col.Name] {
			b.fail(sqlerr.DuplicateColumn, -1, "column \"%s\" specified more than once", col.Name)
		}
		seen[col.Name] = true
	}
	var fields []lake.Field
	if c.Like != nil && c.Like.Table != nil {
		fields = append(fields, c.Like.Table.Schema().Fields...)
	}
	for _, col := range c.Columns {
		fields = append(fields, lake.Field{Name: col.Name, Type: col.Type, Numbering: col.Numbering})
	}
	b.tableGenerated(s, c, fields, len(fields)-len(c.Columns))
	b.tableRowDefaults(s, c, fields, len(fields)-len(c.Columns))
	if len(s.Checks) > 0 {
		c.Checks, c.Bound = b.tableChecks(s.Name.Parts[len(s.Name.Parts)-1], fields, s.Checks)
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(c.Checks, func(k lake.Check) bool { return k.Name == name })
	}
	c.Keys, c.Identifier = b.tableKeys(s.Name.Parts[len(s.Name.Parts)-1], fields, s, taken)
	for _, k := range c.Keys {
		// A key's columns are NOT NULL, said or not.
		for _, i := range k.Columns {
			if at := i - (len(fields) - len(c.Columns)); k.Primary && at >= 0 {
				c.Columns[at].NotNull = true
			}
		}
	}
	if len(s.ForeignKeys) > 0 {
		b.tableForeign(s, c, fields)
	}
	return r
}

// createAs binds CREATE TABLE … AS: the columns take the query's names where none are given,
// and its types; a given type casts.
func (b *binder) createAs(s *ast.CreateTable, r *Bound) {
	c := r.Create
	c.As = true
	if b.d.HoldMode != nil {
		c.Hold = b.d.HoldMode(b)
	}
	q := b.query(s.As, nil, true)
	outs := q.outputs()
	if len(c.Columns) > len(outs) {
		b.fail(sqlerr.SyntaxError, s.Columns[len(outs)].Pos, "too many column names were specified")
	}
	for i, o := range outs {
		if i >= len(c.Columns) {
			c.Columns = append(c.Columns, CreateColumn{Name: o.name})
		}
		col := &c.Columns[i]
		if col.Type.Kind == types.Invalid {
			col.Type = o.typ
		} else {
			if !o.typ.Same(col.Type) && !b.d.CanCast(o.typ, col.Type, plan.Assignment) {
				b.refuseAssign(&lake.Field{Name: col.Name, Type: col.Type}, o.typ, o.pos)
			}
			if col.Type.MySQL != nil {
				q.coerce(i, eval.Held(o.typ, col.Type), plan.Assignment)
			} else {
				q.coerce(i, col.Type, plan.Assignment)
			}
		}
		switch col.Type.Kind {
		case types.Void, types.Any:
			b.fail(sqlerr.InvalidTableDefinition, o.pos, "column \"%s\" has pseudo-type %s", col.Name, typeName(col.Type))
		}
	}
	r.Plan = q.build()
}

func (b *binder) columnDef(d *ast.ColumnDef) CreateColumn {
	c := CreateColumn{Name: d.Name, Type: b.typeOf(&d.Type), NotNull: d.NotNull, Comment: d.Comment}
	f := &lake.Field{Name: d.Name, Type: c.Type}
	if d.Generated != nil {
		b.onlyGenerated(d)
	}
	if d.Default != nil && !b.rowDefaults[d] {
		c.Default, c.DefaultSQL = b.defaultValue(d.Default, d.DefaultSQL, f)
	}
	c.OnUpdateSQL = b.dialectSQL(d.OnUpdateSQL)
	c.Numbering = b.numbering(d.Identity, f)
	if c.Numbering != nil && c.DefaultSQL != "" {
		b.fail(sqlerr.SyntaxError, d.Identity.Pos, "both default and identity specified for column \"%s\"", d.Name)
	}
	return c
}

// dialectSQL marks a text that another dialect than PostgreSQL's reads.
func (b *binder) dialectSQL(text string) string {
	if text == "" || b.d.HoldMode == nil {
		return text
	}
	if m := mysqlNow.FindStringSubmatch(text); m != nil {
		text = "CURRENT_TIMESTAMP" // as MySQL shows all its names
		if m[2] != "" {
			text += "(" + m[2] + ")"
		}
	}
	return "mysql:" + text
}

var mysqlNow = regexp.MustCompile(`(?i)^(?:now|current_timestamp|localtime|localtimestamp)(\(\s*(\d*)\s*\))?$`)

// numbering is a column that numbers its rows; nil for others.
func (b *binder) numbering(d *ast.Identity, f *lake.Field) *lake.Numbering {
	if d == nil {
		return nil
	}
	if !f.Type.IsInteger() && !(f.Type.Kind == types.Numeric && f.Type.Scale == 0 && f.Type.MySQL != nil) {
		b.fail(sqlerr.InvalidParameterValue, d.Pos, "identity column type must be smallint, integer, or bigint")
	}
	return &lake.Numbering{Kind: d.Kind, Next: d.Start, Increment: d.Increment}
}

// defaultValue checks a column's DEFAULT. A constant is evaluated: value is what it is for good.
// What a row or a statement decides (now(), gen_random_uuid()) stays as its text.
func (b *binder) defaultValue(e ast.Expr, text string, f *lake.Field) (value *types.Datum, sql string) {
	x := b.constantExpr(nil, e, inConstant)
	from := x.Type()
	if from.Kind != types.Unknown && !from.Same(f.Type) && !b.d.CanCast(from, f.Type, plan.Assignment) {
		b.failWith(sqlerr.New(sqlerr.DatatypeMismatch, "column \"%s\" is of type %s but default expression is of type %s", f.Name, typeName(f.Type), typeName(from)).
			WithHint("You will need to rewrite or cast the expression.").At(b.posOf(x)))
	}
	pos := b.posOf(x)
	if plan.IsVolatile(x) || isStable(x) {
		return nil, b.dialectSQL(strings.TrimSpace(text))
	}
	c := b.constantValue(b.assign(x, f), pos)
	if c.Pending {
		b.fail(sqlerr.FeatureNotSupported, c.Pos, "a default cannot be a parameter")
	}
	if c.Value.IsNull() {
		return nil, "" // DEFAULT NULL says nothing
	}
	return &c.Value, types.SQLLiteral(c.Value, f.Type)
}

// defaultOf is what a column gets that a statement gives no value: its number, its write default or
// its default's expression; NULL where it has none.
func (b *binder) defaultOf(f *lake.Field) plan.Expr {
	switch {
	case f.Numbering != nil:
		return b.rowNumber(nil, f)
	case f.WriteDefault != nil:
		return &plan.Const{Value: *f.WriteDefault, Typ: f.Type}
	case f.DefaultSQL != "":
		return b.keptExpr(f.DefaultSQL, f, "default")
	}
	return plan.NullOf(f.Type)
}

// keptExpr binds an expression that a table keeps for a column as SQL.
func (b *binder) keptExpr(text string, f *lake.Field, what string) plan.Expr {
	e, dialect := b.keptSyntax(text)
	if e == nil {
		b.fail(sqlerr.DataCorrupted, -1, "the %s of column \"%s\" cannot be read: %s", what, f.Name, strings.TrimPrefix(text, "mysql:"))
	}
	outer := b.d
	b.d = dialect
	b.inView++
	x := b.constantExpr(nil, e, inConstant)
	b.inView--
	b.d = outer
	return b.assign(x, f)
}

// keptSyntax parses an expression that a table keeps as SQL; nil where it cannot be read. The
// dialect is the one that it is bound in.
func (b *binder) keptSyntax(text string) (ast.Expr, *Dialect) {
	sql, mysql := strings.CutPrefix(text, "mysql:")
	parse, dialect := b.env.Parse, b.d
	if b.env.ViewDialect != nil {
		name := ""
		if mysql {
			name = "mysql"
		}
		parse, dialect = b.env.ViewDialect(name)
	}
	var e ast.Expr
	if parse != nil {
		list, err := parse("SELECT " + sql)
		if err == nil && len(list) == 1 {
			if q, ok := list[0].Stmt.(*ast.QueryStmt); ok {
				if s, ok := q.Query.Body.(*ast.Select); ok && len(s.Items) == 1 && s.From == nil {
					e = s.Items[0].Expr
				}
			}
		}
	}
	return e, dialect
}

func isStable(x plan.Expr) bool {
	found := false
	plan.WalkExpr(x, func(e plan.Expr) bool {
		if c, ok := e.(*plan.Call); ok && c.Func.Volatility == plan.Stable {
			found = true
		}
		return !found
	})
	return found
}

// props evaluates WITH (…) and TBLPROPERTIES (…). A bare word is its own text.
func (b *binder) props(in map[string]ast.Expr) map[string]Constant {
	if in == nil {
		return nil
	}
	out := make(map[string]Constant, len(in))
	for k, e := range in {
		if e == nil {
			out[k] = Constant{Typ: types.T(types.Text), Pos: -1}
			continue
		}
		if id, ok := e.(*ast.Ident); ok {
			out[k] = Constant{Value: types.NewStr(strings.Join(id.Parts, ".")), Typ: types.T(types.Text), Pos: id.Pos}
			continue
		}
		out[k] = b.constant(nil, e, types.Type{}, inConstant)
	}
	return out
}

func (b *binder) createView(s *ast.CreateView) *Bound {
	b.viewText = true
	n, outs := b.subplan(s.Query, nil)
	for i, t := range b.params {
		if t.Kind != types.Unknown || b.paramPos[i] >= 0 {
			b.fail(sqlerr.FeatureNotSupported, b.paramPos[i], "views must not contain parameters")
		}
	}
	cols := outputColumns(n, outs)
	if len(s.Columns) > len(cols) {
		b.fail(sqlerr.SyntaxError, s.Pos, "CREATE VIEW specifies more column names than columns")
	}
	seen := map[string]bool{}
	for i := range cols {
		if i < len(s.Columns) {
			cols[i].Name = s.Columns[i]
		}
		if seen[cols[i].Name] {
			b.fail(sqlerr.DuplicateColumn, -1, "column \"%s\" specified more than once", cols[i].Name)
		}
		seen[cols[i].Name] = true
	}
	return &Bound{ViewColumns: cols, ViewSQL: b.fixedText(s.SQL, s.SQLPos)}
}
