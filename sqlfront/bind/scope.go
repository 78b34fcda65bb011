package bind

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// level is one query level (PostgreSQL's ParseState): what its expressions can name, and where
// names look next. The FROM clause of a level fills items while it is bound; a LATERAL item
// sees those to its left because lateralActive is on while it is bound.
type level struct {
	parent        *level
	depth         int
	items         []*item
	lateralActive bool
	kind          kind // the clause that is being bound
	sel           *selectState
	ctes          []*cteEntry
	windows       []*windowDef
	extras        map[plan.Node][]plan.Named // columns to add on top of a FROM item, see addExtra
	leaves        map[plan.Node]bool         // the nodes of FROM items
	later         []string                   // WITH items that are not bound yet
}

func newLevel(parent *level) *level {
	lv := &level{parent: parent}
	if parent != nil {
		lv.depth = parent.depth + 1
	}
	return lv
}

// item is one entry of FROM as names see it (PostgreSQL's ParseNamespaceItem).
type item struct {
	name    string   // alias, or the table's own name; "" for an unnamed join
	qual    []string // catalog and schema of a table without an alias
	table   string   // the table's own name where an alias hides it
	cols    []itemCol
	rel     *Relation
	node    plan.Node
	pos     int
	scalar  bool // a function of one scalar column: the name alone is the column
	relSeen bool // t.x and t work
	colSeen bool // x works
	// lateral: to the left of what is being bound; badLateral: of a RIGHT or FULL join.
	lateral, badLateral bool
	// nullable: an outer join may make all columns NULL.
	nullable bool
	// hidden: visible only for messages (MERGE's other side).
	hidden             bool
	savedRel, savedCol bool // what relSeen and colSeen are otherwise
}

type itemCol struct {
	name string
	col  plan.Column
	// system columns are found by name, not by *.
	system bool
}

// findColumn finds an unqualified column, innermost level first (colNameToVar).
func (b *binder) findColumn(lv *level, name string, pos int) (plan.Expr, bool) {
	for l := lv; l != nil; l = l.parent {
		var hit *item
		var col itemCol
		for _, it := range l.items {
			if !it.colSeen || it.lateral && !l.lateralActive {
				continue
			}
			c, n := it.column(b.d, name)
			if n > 1 || n == 1 && hit != nil {
				b.fail(sqlerr.AmbiguousColumn, pos, "column reference \"%s\" is ambiguous", name)
			}
			if n == 1 {
				b.checkLateral(it, pos)
				hit, col = it, c
			}
		}
		if hit != nil {
			return b.col(col.col, pos), true
		}
	}
	// System columns come last: any column of that name hides them.
	for l := lv; l != nil; l = l.parent {
		var hit *item
		for _, it := range l.items {
			if !it.relSeen || it.lateral && !l.lateralActive || !it.hasSystem(name) {
				continue
			}
			if hit != nil {
				b.fail(sqlerr.AmbiguousColumn, pos, "column reference \"%s\" is ambiguous", name)
			}
			hit = it
		}
		if hit != nil {
			return b.systemColumn(l, hit, name, pos), true
		}
	}
	return nil, false
}

func (it *item) column(d *Dialect, name string) (c itemCol, n int) {
	for _, x := range it.cols {
		if d.SameName(x.name, name) {
			c, n = x, n+1
		}
	}
	return c, n
}

func (b *binder) checkLateral(it *item, pos int) {
	if it.lateral && it.badLateral {
		b.failWith(sqlerr.New(sqlerr.InvalidColumnReference, "invalid reference to FROM-clause entry for table \"%s\"", it.name).
			WithDetail("The combining JOIN type must be INNER or LEFT for a LATERAL reference.").At(pos))
	}
}

// findRelation finds a FROM item by a possibly qualified name (refnameNamespaceItem).
func (b *binder) findRelation(lv *level, parts []string, pos int) (*item, *level) {
	for l := lv; l != nil; l = l.parent {
		var hit *item
		for _, it := range l.items {
			if !it.relSeen || it.lateral && !l.lateralActive || !it.named(b.d, parts) {
				continue
			}
			if hit != nil {
				b.fail(sqlerr.AmbiguousAlias, pos, "table reference \"%s\" is ambiguous", strings.Join(parts, "."))
			}
			b.checkLateral(it, pos)
			hit = it
		}
		if hit != nil {
			return hit, l
		}
	}
	return nil, nil
}

// named tells whether parts name the item: its alias, or its table's name under any suffix of
// its qualification.
func (it *item) named(d *Dialect, parts []string) bool {
	last := len(parts) - 1
	if it.name == "" || !d.SameName(it.name, parts[last]) {
		return false
	}
	q := parts[:last]
	if len(q) > len(it.qual) {
		return false
	}
	off := len(it.qual) - len(q)
	for i := range q {
		if !d.SameName(it.qual[off+i], q[i]) {
			return false
		}
	}
	return true
}

// missingRelation explains why a qualifier names nothing (errorMissingRTE).
func (b *binder) missingRelation(lv *level, parts []string, pos int) {
	name := parts[len(parts)-1]
	for l := lv; l != nil; l = l.parent {
		for _, it := range l.items {
			if it.table != "" && it.table != it.name && it.relSeen && b.d.SameName(it.table, name) {
				b.failWith(sqlerr.New(sqlerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", name).
					WithHint("Perhaps you meant to reference the table alias \"%s\".", it.name).At(pos))
			}
		}
	}
	for l := lv; l != nil; l = l.parent {
		for _, it := range l.items {
			if it.name != "" && b.d.SameName(it.name, name) {
				b.failWith(sqlerr.New(sqlerr.UndefinedTable, "invalid reference to FROM-clause entry for table \"%s\"", name).
					WithHint("There is an entry for table \"%s\", but it cannot be referenced from this part of the query.", it.name).At(pos))
			}
		}
	}
	b.fail(sqlerr.UndefinedTable, pos, "missing FROM-clause entry for table \"%s\"", name)
}

// missingColumn is 42703 with PostgreSQL's guess at what was meant (errorMissingColumn).
func (b *binder) missingColumn(lv *level, rel, name string, pos int) {
	msg := "column \"" + name + "\" does not exist"
	if rel != "" {
		msg = "column " + rel + "." + name + " does not exist"
	}
	e := sqlerr.New(sqlerr.UndefinedColumn, "%s", msg).At(pos)
	best, found := 4, []string(nil) // MAX_FUZZY_DISTANCE is 3
	for l := lv; l != nil; l = l.parent {
		for _, it := range l.items {
			if it.name == "" {
				continue
			}
			relDist := 0
			if rel != "" && !b.d.SameName(rel, it.name) {
				relDist = editDistance(rel, it.name)
			}
			if relDist >= best {
				continue
			}
			for _, c := range it.cols {
				d := editDistance(name, c.name)
				// A guess that changes more than half of the name is no guess.
				if d > len(name)/2 || d+relDist > best || d+relDist > 3 {
					continue
				}
				if d+relDist < best {
					best, found = d+relDist, nil
				}
				found = append(found, it.name+"."+c.name)
			}
		}
	}
	switch len(found) {
	case 1:
		e.WithHint("Perhaps you meant to reference the column \"%s\".", found[0])
	case 2:
		if found[0] != found[1] {
			e.WithHint("Perhaps you meant to reference the column \"%s\" or the column \"%s\".", found[0], found[1])
		}
	}
	b.failWith(e)
}

// editDistance is Levenshtein's, over bytes, of names short enough to matter.
func editDistance(a, c string) int {
	if len(a) > 64 || len(c) > 64 {
		return 64
	}
	row := make([]int, len(c)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diag := row[0]
		row[0] = i
		for j := 1; j <= len(c); j++ {
			d := diag
			if a[i-1] != c[j-1] {
				d++
			}
			diag = row[j]
			row[j] = min(d, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(c)]
}

// ident resolves a column reference of any length: column, relation.column, or a prefix of
// either followed by members of a struct.
func (b *binder) ident(lv *level, e *ast.Ident) plan.Expr {
	parts := e.Parts
	if len(parts) == 1 {
		if x, ok := b.findColumn(lv, parts[0], e.Pos); ok {
			return x
		}
		if x := b.alias(lv, parts[0]); x != nil {
			return x
		}
		if it, l := b.findRelation(lv, parts, e.Pos); it != nil {
			return b.wholeRow(l, it, e.Pos)
		}
		b.missingColumn(lv, "", parts[0], e.Pos)
	}
	for n := min(3, len(parts)-1); n >= 1; n-- {
		it, l := b.findRelation(lv, parts[:n], e.Pos)
		if it == nil {
			continue
		}
		name := parts[n]
		c, k := it.column(b.d, name)
		if k > 1 {
			b.fail(sqlerr.AmbiguousColumn, e.Pos, "column reference \"%s\" is ambiguous", name)
		}
		var x plan.Expr
		rest := len(parts) > n+1
		switch {
		case k == 1 && rest && c.col.Type.Kind != types.Struct, k == 0 && rest && n == 1:
			if y, ok := b.structColumn(lv, parts, e.Pos); ok {
				return y
			}
			continue
		case k == 1:
			x = b.col(c.col, e.Pos)
		case it.hasSystem(name):
			x = b.systemColumn(l, it, name, e.Pos)
		case n > 1:
			continue
		default:
			if y, ok := b.structColumn(lv, parts, e.Pos); ok {
				return y
			}
			b.missingColumn(lv, it.name, name, e.Pos)
		}
		return b.members(x, parts[n+1:], e.Pos)
	}
	if y, ok := b.structColumn(lv, parts, e.Pos); ok {
		return y
	}
	b.missingRelation(lv, parts[:len(parts)-1], e.Pos)
	return nil
}

// structColumn reads column.member…, which PostgreSQL wants in parentheses and every other
// engine over Iceberg accepts bare.
func (b *binder) structColumn(lv *level, parts []string, pos int) (plan.Expr, bool) {
	x, ok := b.findColumn(lv, parts[0], pos)
	if !ok || x.Type().Kind != types.Struct {
		return nil, false
	}
	return b.members(x, parts[1:], pos), true
}

func (b *binder) members(x plan.Expr, names []string, pos int) plan.Expr {
	for _, n := range names {
		x = b.member(x, n, pos)
	}
	return x
}

// member reads one member of a struct.
func (b *binder) member(x plan.Expr, name string, pos int) plan.Expr {
	t := x.Type()
	if t.Kind != types.Struct {
		b.fail(sqlerr.WrongObjectType, pos, "column notation .%s applied to type %s, which is not a composite type", name, typeName(t))
	}
	for i, f := range t.Fields() {
		if b.d.SameName(f.Name, name) {
			if r, ok := x.(*plan.RowExpr); ok {
				return r.Elems[i]
			}
			return b.mark(&plan.FieldOf{X: x, Index: i, Typ: f.Type}, pos)
		}
	}
	b.fail(sqlerr.UndefinedColumn, pos, "column \"%s\" not found in data type %s", name, typeName(t))
	return nil
}

// wholeRow is the relation's name as a value: its row as a struct. A function of one scalar
// column is that column.
func (b *binder) wholeRow(lv *level, it *item, pos int) plan.Expr {
	if it.scalar && len(it.cols) >= 1 {
		return b.col(it.cols[0].col, pos)
	}
	r := b.rowOf(it, pos)
	if !it.nullable || it.node == nil {
		return r
	}
	// Above an outer join the row of a missing partner is NULL, not a row of NULLs: make the
	// row below the join.
	return b.addExtra(lv, it, "row", r, pos)
}

func (b *binder) rowOf(it *item, pos int) plan.Expr {
	row := &plan.RowExpr{}
	var fields []types.Field
	for _, c := range it.cols {
		if c.system {
			continue
		}
		row.Elems = append(row.Elems, b.col(c.col, pos))
		fields = append(fields, types.Field{Name: c.name, Type: c.col.Type})
	}
	row.Typ = types.RecordOf(fields...)
	return b.mark(row, pos)
}

// addExtra adds a computed column directly on top of a FROM item, once for each name, and
// refers to it. The item is wrapped when its level is built.
func (b *binder) addExtra(lv *level, it *item, name string, e plan.Expr, pos int) plan.Expr {
	for _, n := range lv.extras[it.node] {
		if n.Col.Name == name {
			return b.col(n.Col, pos)
		}
	}
	c := b.newColumn(name, e.Type())
	b.own(c, it.name, lv, fromInput)
	lv.needExtras()
	lv.extras[it.node] = append(lv.extras[it.node], plan.Named{Col: c, Expr: e})
	return b.col(c, pos)
}

// withExtras wraps the FROM items that addExtra was asked for. It walks only what binding FROM
// made: joins and projections of merged columns over the items.
func (b *binder) withExtras(lv *level, n plan.Node) plan.Node {
	if lv.extras == nil {
		return n
	}
	if lv.leaves[n] {
		if extra := lv.extras[n]; len(extra) > 0 {
			return &plan.Project{Input: n, Exprs: append(passing(n.Columns()), extra...)}
		}
		return n
	}
	switch m := n.(type) {
	case *plan.Join, *plan.Apply, *plan.Filter, *plan.Sort, *plan.Limit:
		in := m.Inputs()
		for i := range in {
			in[i] = b.withExtras(lv, in[i])
		}
		return m.WithInputs(in...)
	case *plan.Project:
		in := b.withExtras(lv, m.Input)
		// A projection of merged columns over a join: let what was added below pass.
		have := plan.SetOf(m.Columns())
		p := &plan.Project{Input: in, Exprs: append([]plan.Named(nil), m.Exprs...)}
		for _, c := range in.Columns() {
			if !have.Has(c.ID) {
				p.Exprs = append(p.Exprs, plan.Named{Col: c, Expr: plan.ColOf(c)})
			}
		}
		return p
	}
	return n
}

// passing hands columns on under their own IDs.
func passing(cols []plan.Column) []plan.Named {
	n := make([]plan.Named, len(cols))
	for i, c := range cols {
		n[i] = plan.Named{Col: c, Expr: plan.ColOf(c)}
	}
	return n
}

// System columns. Rows of virtual tables have no versions, so the transaction columns are the
// constants of a row that was always there; ctid is not offered: nothing here has one.
var systemTypes = map[string]types.Type{
	"tableoid": types.T(types.Oid), "xmin": types.T(types.Xid), "xmax": types.T(types.Xid),
	"cmin": types.T(types.Xid), "cmax": types.T(types.Xid), "ctid": types.T(types.Text),
}

// hiddenColumns are Iceberg's metadata columns of a scan, as Spark names them.
var hiddenColumns = map[string]struct {
	field int
	typ   types.Kind
}{
	"_file": {plan.HiddenFile, types.Text}, "_pos": {plan.HiddenPos, types.Int8},
	"_spec_id": {plan.HiddenSpecID, types.Int4},
	"_row_id":  {plan.HiddenRowID, types.Int8}, "_last_updated_sequence_number": {plan.HiddenRowSeq, types.Int8},
}

func (it *item) hasSystem(name string) bool {
	if it.rel == nil || it.rel.Table == nil && it.rel.Virtual == nil {
		return false
	}
	if _, ok := systemTypes[name]; ok {
		return it.rel.Virtual != nil || name == "tableoid"
	}
	h, ok := hiddenColumns[name]
	if !ok || it.rel.Table == nil {
		return false
	}
	lineage := h.field == plan.HiddenRowID || h.field == plan.HiddenRowSeq
	return !lineage || it.rel.Table.FormatVersion() >= 3
}

func (b *binder) systemColumn(lv *level, it *item, name string, pos int) plan.Expr {
	b.checkLateral(it, pos)
	if h, ok := hiddenColumns[name]; ok {
		if scan, ok := it.node.(*plan.Scan); ok {
			return b.col(b.hiddenColumn(lv, it, scan, name, h.field, types.T(h.typ)), pos)
		}
	}
	t := systemTypes[name]
	v := types.NewInt(0)
	switch name {
	case "tableoid":
		v = types.NewInt(int64(it.rel.OID))
	case "ctid":
		v = types.NewStr("(0,1)")
	case "xmin":
		v = types.NewInt(2) // FrozenTransactionId
	}
	c := &plan.Const{Value: v, Typ: t}
	if !it.nullable {
		return b.mark(c, pos)
	}
	return b.addExtra(lv, it, name, c, pos)
}

// hiddenColumn adds a metadata column to a scan, once.
func (b *binder) hiddenColumn(lv *level, it *item, scan *plan.Scan, name string, field int, t types.Type) plan.Column {
	for _, c := range scan.Cols {
		if c.FieldID == field {
			return c.Column
		}
	}
	c := b.newColumn(name, t)
	c.NotNull = field == plan.HiddenFile || field == plan.HiddenPos || field == plan.HiddenSpecID
	b.own(c, it.name, lv, fromInput)
	scan.Cols = append(scan.Cols, plan.ScanColumn{Column: c, FieldID: field})
	b.noteHidden(it.rel, c)
	lv.needExtras() // projections above the scan must let it pass
	return c
}

func (lv *level) needExtras() {
	if lv.extras == nil {
		lv.extras = map[plan.Node][]plan.Named{}
	}
}

// star lists the columns that * or t.* stands for.
func (b *binder) star(lv *level, s *ast.Star) []target {
	var out []target
	add := func(it *item) {
		for _, c := range it.cols {
			if !c.system {
				out = append(out, target{expr: b.col(c.col, s.Pos), name: c.name, pos: s.Pos})
			}
		}
	}
	if len(s.Qualifier) > 0 {
		it, _ := b.findRelation(lv, s.Qualifier, s.Pos)
		if it == nil {
			// column.* expands a struct column.
			if x, ok := b.findColumn(lv, s.Qualifier[0], s.Pos); ok && x.Type().Kind == types.Struct {
				return b.expand(b.members(x, s.Qualifier[1:], s.Pos), s.Pos)
			}
			b.missingRelation(lv, s.Qualifier, s.Pos)
		}
		add(it)
		b.keepStar(lv, s.Pos, out)
		return out
	}
	any := false
	for _, it := range lv.items {
		if it.colSeen && !(it.lateral && !lv.lateralActive) {
			any = true
			add(it)
		}
	}
	if !any {
		b.fail(sqlerr.SyntaxError, s.Pos, "SELECT * with no tables specified is not valid")
	}
	b.keepStar(lv, s.Pos, out)
	return out
}

// expand makes one output of each member of a struct.
func (b *binder) expand(x plan.Expr, pos int) []target {
	if x.Type().Kind != types.Struct {
		b.fail(sqlerr.WrongObjectType, pos, "type %s is not composite", typeName(x.Type()))
	}
	var out []target
	for _, f := range x.Type().Fields() {
		out = append(out, target{expr: b.member(x, f.Name, pos), name: f.Name, pos: pos})
	}
	return out
}
