package engine

// This file makes sure that rows which are written break no FOREIGN KEY, on either side of it, and does
// to referencing rows what ON DELETE says.
//
//	rows that come to a table    ▷ the table that they reference          must be empty
//	rows that go from a table    ⋈ the tables that reference it           must be empty
//
// The other table is read as it is when the statement's rows are written. The commit makes sure that
// until then nothing has gone there, or come (lake.Look).

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// reference is a foreign key with the tables on both of its sides.
type reference struct {
	s             *Session
	key           lake.ForeignKey
	child, parent *lake.Table
	ids           *plan.ColID
}

func (s *Session) referenceOf(child *lake.Table, k lake.ForeignKey, parent *lake.Table) *reference {
	return &reference{s: s, key: k, child: child, parent: parent, ids: new(plan.ColID)}
}

func (f *reference) self() bool { return f.child.UUID() == f.parent.UUID() }

// sides are queries about the columns of both tables.
func (f *reference) sides() (child, parent *keyQuery) {
	key := func(columns []int) lake.Key {
		k := lake.Key{Name: f.key.Name, Columns: columns}
		for _, p := range f.parent.Keys() {
			if len(p.Columns) == len(f.key.References) && !slices.ContainsFunc(f.key.References, func(id int) bool { return !slices.Contains(p.Columns, id) }) {
				k.Collation = p.Collation
			}
		}
		return k
	}
	return &keyQuery{s: f.s, table: f.child, schema: f.child.Schema(), key: key(f.key.Columns), ids: f.ids},
		&keyQuery{s: f.s, table: f.parent, schema: f.parent.Schema(), key: key(f.key.References), ids: f.ids}
}

// on compares the columns of two scans.
func on(q *keyQuery, a *plan.Scan, p *keyQuery, b *plan.Scan) (plan.Expr, error) {
	left, right := q.keysOf(a), p.keysOf(b)
	var terms []plan.Expr
	for i := range left {
		x, err := compared("=", left[i], right[i])
		if err != nil {
			return nil, err
		}
		terms = append(terms, x)
	}
	return plan.AndOf(terms...), nil
}

// nearTo adds to a scan of one side what is known of the rows of the other that lie in new files.
func nearTo(ctx context.Context, p *keyQuery, parent *plan.Scan, child *plan.Scan, files []*lake.DataFile) (plan.Node, error) {
	for i := range p.key.Columns {
		if !parent.Cols[i].Type.Equal(child.Cols[i].Type) {
			return parent, nil
		}
	}
	pred, err := p.near(ctx, parent, child, files)
	if pred == nil || err != nil {
		return parent, err
	}
	return &plan.Filter{Input: parent, Pred: pred}, nil
}

// foreignChecks is MySQL's foreign_key_checks.
func (s *Session) foreignChecks() bool {
	if s.MySQL() == nil {
		return true
	}
	v, _, ok := s.MySQL().get("session", "foreign_key_checks")
	return !ok || !strings.EqualFold(v, "off") && v != "0"
}

// foreignHold looks at the foreign keys on both sides of what w has written. What is to be done to
// referencing rows is to be run before the commit, in one transaction with it.
func (s *Session) foreignHold(ctx context.Context, w *plan.Write, ch *lake.Change, wrote exec.Wrote) ([]func() error, error) {
	t := w.Target.Table
	if w.Rewrite != nil || !s.foreignChecks() {
		return nil, nil
	}
	for _, k := range t.ForeignKeys() {
		if k.NotEnforced || len(wrote.New) == 0 || !writes(w, k.Columns) {
			continue
		}
		if err := s.childHolds(ctx, w, ch, wrote, k); err != nil {
			return nil, err
		}
	}
	if wrote.Gone == nil || w.Target.Base == nil {
		return nil, nil
	}
	refs, err := s.referencesTo(ctx, t)
	if err != nil {
		return nil, err
	}
	var todo []func() error
	for _, f := range refs {
		if f.key.NotEnforced || w.Changed != nil && !writes(w, f.key.References) {
			continue
		}
		do, err := s.parentHolds(ctx, w, ch, wrote, f)
		if err != nil {
			return nil, err
		}
		if do != nil {
			todo = append(todo, do)
		}
	}
	return todo, nil
}

// writes tells whether w may give one of the columns another value.
func writes(w *plan.Write, columns []int) bool {
	if w.Changed == nil {
		return true
	}
	for i, f := range w.Target.Schema.Fields {
		if w.Changed[i] && slices.Contains(columns, f.ID) {
			return true
		}
	}
	return false
}

// childHolds makes sure that what w's new rows reference is there.
func (s *Session) childHolds(ctx context.Context, w *plan.Write, ch *lake.Change, wrote exec.Wrote, k lake.ForeignKey) error {
	t := w.Target.Table
	parent, err := s.referenced(ctx, t, k)
	if err != nil {
		return err
	}
	f := s.referenceOf(t, k, parent)
	q, p := f.sides()
	q.schema = w.Target.Schema
	own := q.files(wrote.New)
	if k.MatchFull && len(k.Columns) > 1 {
		if err := f.mixed(ctx, own); err != nil {
			return err
		}
	}
	branch, snap := branchOf(parent, w.Target.Branch)
	if f.self() {
		branch, snap = w.Target.Branch, w.Target.Base
	}
	n := q.known(own, own)
	if snap != nil {
		if n, err = f.without(ctx, q, own, n, p, snap, wrote, f.self(), wrote.New); err != nil {
			return err
		}
	}
	if f.self() {
		mine := p.files(wrote.New)
		cond, err := on(q, own, p, mine)
		if err != nil {
			return err
		}
		n = &plan.Join{Kind: plan.AntiJoin, Left: n, Right: mine, On: cond}
	}
	row, err := s.firstRow(ctx, project(q, n, own))
	if err == nil && row != nil {
		err = f.missing(q, row)
	}
	if err != nil {
		return err
	}
	s.lookAt(ch, parent, branch, snap, lake.Look{Gone: true})
	return nil
}

// without leaves of the rows of own those that no row of the referenced table's snapshot is for.
func (f *reference) without(ctx context.Context, q *keyQuery, own *plan.Scan, n plan.Node, p *keyQuery, snap *lake.Snapshot, wrote exec.Wrote, self bool, files []*lake.DataFile) (plan.Node, error) {
	rest := p.at(snap)
	cond, err := on(q, own, p, rest)
	if err != nil {
		return nil, err
	}
	var right plan.Node = rest
	if files != nil {
		if right, err = nearTo(ctx, p, rest, own, files); err != nil {
			return nil, err
		}
	}
	if self && wrote.Gone != nil {
		p.address(rest)
		right = &plan.Filter{Input: right, Pred: rowIs(rest, len(p.key.Columns), func(file string, pos int64) bool { return !wrote.Gone(file, pos) })}
	}
	return &plan.Join{Kind: plan.AntiJoin, Left: n, Right: right, On: cond}, nil
}

func project(q *keyQuery, n plan.Node, sc *plan.Scan) plan.Node {
	p := &plan.Project{Input: n}
	for _, c := range sc.Cols[:len(q.key.Columns)] {
		p.Exprs = append(p.Exprs, plan.Named{Col: q.column(c.Name, c.Type), Expr: plan.ColOf(c.Column)})
	}
	return p
}

// mixed refuses rows that MATCH FULL does not take.
func (f *reference) mixed(ctx context.Context, sc *plan.Scan) error {
	q, _ := f.sides()
	var some, all []plan.Expr
	for _, c := range sc.Cols {
		some = append(some, &plan.IsNull{X: plan.ColOf(c.Column)})
		all = append(all, &plan.IsNull{X: plan.ColOf(c.Column)})
	}
	row, err := f.s.firstRow(ctx, project(q, &plan.Filter{Input: sc, Pred: plan.AndOf(plan.OrOf(some...), &plan.Not{X: plan.AndOf(all...)})}, sc))
	if err == nil && row != nil {
		err = sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", f.child.Name.Table, f.key.Name).
			WithDetail("MATCH FULL does not allow mixing of null and nonnull key values.")
	}
	return err
}

// goneRows are the referenced columns of rows that w has taken away, and that no new row has again.
func (f *reference) goneRows(w *plan.Write, wrote exec.Wrote, p *keyQuery) (plan.Node, *plan.Scan, error) {
	gone := p.at(w.Target.Base)
	gone.Only = wrote.GoneFrom
	p.address(gone)
	var n plan.Node = &plan.Filter{Input: gone, Pred: rowIs(gone, len(p.key.Columns), wrote.Gone)}
	if len(wrote.New) > 0 {
		again := p.files(wrote.New)
		cond, err := on(p, gone, p, again)
		if err != nil {
			return nil, nil, err
		}
		n = &plan.Join{Kind: plan.AntiJoin, Left: n, Right: again, On: cond}
	}
	if !f.unique() {
		// Another row may have the same values.
		rest := p.at(w.Target.Base)
		cond, err := on(p, gone, p, rest)
		if err != nil {
			return nil, nil, err
		}
		p.address(rest)
		stays := &plan.Filter{Input: rest, Pred: rowIs(rest, len(p.key.Columns), func(file string, pos int64) bool { return !wrote.Gone(file, pos) })}
		n = &plan.Join{Kind: plan.AntiJoin, Left: n, Right: stays, On: cond}
	}
	return n, gone, nil
}

// unique tells whether the referenced columns are a key that is enforced.
func (f *reference) unique() bool {
	return slices.ContainsFunc(lake.Enforced(f.parent.Keys()), func(k lake.Key) bool {
		return len(k.Columns) == len(f.key.References) && !slices.ContainsFunc(k.Columns, func(id int) bool { return !slices.Contains(f.key.References, id) })
	})
}

// parentHolds makes sure that no row references what w has taken away, or gives what is to be done to
// those that do.
func (s *Session) parentHolds(ctx context.Context, w *plan.Write, ch *lake.Change, wrote exec.Wrote, f *reference) (func() error, error) {
	q, p := f.sides()
	p.schema = w.Target.Schema
	branch, snap := branchOf(f.child, w.Target.Branch)
	if f.self() {
		branch, snap = w.Target.Branch, w.Target.Base
	}
	s.lookAt(ch, f.child, branch, snap, lake.Look{Come: true})
	if snap == nil {
		return nil, nil
	}
	n, gone, err := f.goneRows(w, wrote, p)
	if err != nil {
		return nil, err
	}
	rows := q.at(snap)
	cond, err := on(q, rows, p, gone)
	if err != nil {
		return nil, err
	}
	var left plan.Node = rows
	if f.self() {
		q.address(rows)
		left = &plan.Filter{Input: rows, Pred: rowIs(rows, len(q.key.Columns), func(file string, pos int64) bool { return !wrote.Gone(file, pos) })}
	}
	row, err := s.firstRow(ctx, project(p, &plan.Join{Kind: plan.InnerJoin, Left: left, Right: n, On: cond}, gone))
	if row == nil || err != nil {
		return nil, err
	}
	what, action := "DELETE", f.key.OnDelete
	if wrote.Updated > 0 {
		if what, action = "UPDATE", f.key.OnUpdate; wrote.Deleted > 0 && action == "" {
			action = f.key.OnDelete // which of the two it was nobody has kept
		}
	}
	switch {
	case action == "" || action == "restrict":
		return nil, f.referencedStill(p, row)
	case wrote.Updated > 0 || f.self():
		e := f.referencedStill(p, row)
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "ON %s %s of foreign key \"%s\" is not supported here: %s", what, strings.ToUpper(action), f.key.Name, e.Message).
			WithHint("Change the referencing rows first, in one transaction.")
	}
	return func() error {
		// As an action before this one may have left it.
		child, err := s.loadTable(ctx, f.child.Name)
		if err != nil {
			return err
		}
		branch, snap := branchOf(child, w.Target.Branch)
		return s.referenceOf(child, f.key, f.parent).cascade(ctx, w, wrote, branch, snap)
	}, nil
}

// cascade deletes the rows that reference what w has taken away, or sets their columns NULL.
func (f *reference) cascade(ctx context.Context, w *plan.Write, wrote exec.Wrote, branch string, snap *lake.Snapshot) error {
	s := f.s
	q, p := f.sides()
	p.schema = w.Target.Schema
	n, gone, err := f.goneRows(w, wrote, p)
	if err != nil {
		return err
	}
	schema := f.child.Schema()
	sc := &plan.Scan{Table: f.child, Snapshot: snap, Schema: schema, Alias: f.child.Name.Table}
	for i := range schema.Fields {
		c := q.column(schema.Fields[i].Name, schema.Fields[i].Type)
		sc.Cols = append(sc.Cols, plan.ScanColumn{Column: c, FieldID: schema.Fields[i].ID})
	}
	hidden := func(name string, t types.Kind, id int) plan.Column {
		c := q.column(name, types.T(t))
		sc.Cols = append(sc.Cols, plan.ScanColumn{Column: c, FieldID: id})
		return c
	}
	at := plan.RowAddress{File: hidden("_file", types.Text, plan.HiddenFile), Pos: hidden("_pos", types.Int8, plan.HiddenPos), SpecID: hidden("_spec_id", types.Int4, plan.HiddenSpecID)}
	if f.child.FormatVersion() >= 3 {
		at.RowID, at.RowSeq = hidden("_row_id", types.Int8, plan.HiddenRowID), hidden("_last_updated_sequence_number", types.Int8, plan.HiddenRowSeq)
	}
	keyed := *sc
	keyed.Cols = nil
	for _, id := range f.key.Columns {
		for _, c := range sc.Cols {
			if c.FieldID == id {
				keyed.Cols = append(keyed.Cols, c)
			}
		}
	}
	cond, err := on(q, &keyed, p, gone)
	if err != nil {
		return err
	}
	source := &plan.Join{Kind: plan.SemiJoin, Left: sc, Right: n, On: cond}
	target := plan.WriteTarget{Table: f.child, Branch: branch, Base: snap, Schema: schema, Alias: f.child.Name.Table}
	var write plan.Node = &plan.Delete{Target: target, Scan: sc, Address: at, Source: source}
	if f.key.OnDelete == "set null" {
		for _, c := range f.child.Checks() {
			if !c.NotEnforced && slices.ContainsFunc(c.FieldIDs(), func(id int) bool { return slices.Contains(f.key.Columns, id) }) {
				return sqlerr.New(sqlerr.FeatureNotSupported, "ON DELETE SET NULL of foreign key \"%s\" is not supported: constraint \"%s\" names its columns", f.key.Name, c.Name)
			}
		}
		for _, c := range schema.Fields {
			if c.Generated != nil && slices.ContainsFunc(c.Generated.FieldIDs(), func(id int) bool { return slices.Contains(f.key.Columns, id) }) {
				return sqlerr.New(sqlerr.FeatureNotSupported, "ON DELETE SET NULL of foreign key \"%s\" is not supported: column \"%s\" is generated of its columns", f.key.Name, c.Name)
			}
		}
		u := &plan.Update{Target: target, Scan: sc, Address: at, Source: source}
		for i := range schema.Fields {
			c := sc.Cols[i].Column
			null := slices.Contains(f.key.Columns, schema.Fields[i].ID)
			u.Row = append(u.Row, q.column(c.Name, c.Type))
			u.Changed = append(u.Changed, null)
			if null {
				u.Values = append(u.Values, plan.NullOf(c.Type))
			} else {
				u.Values = append(u.Values, plan.ColOf(c))
			}
		}
		write = u
	}
	name := f.child.Name
	rel := &bind.Relation{Catalog: name.Catalog, Schema: name.Namespace, Name: name.Table, Table: f.child, Snapshot: snap, TableSchema: schema, Branch: branch}
	b := &bind.Bound{Plan: write, Tables: []bind.TableUse{{Relation: rel, Write: true}}}
	run, err := s.buildWrite(ctx, b, write, nil, &Result{session: s}, func(ctx context.Context, ch lake.Change) error { return s.commit(ctx, name, ch) })
	if err != nil {
		return err
	}
	defer run.env.Account.Close()
	for {
		batch, err := run.src.Next(ctx)
		if err != nil {
			run.src.Close()
			return err
		}
		if batch == nil {
			return run.src.Close()
		}
	}
}

// branchOf is the branch of another table that goes with a branch of this one: of the same name, or main.
func branchOf(t *lake.Table, branch string) (string, *lake.Snapshot) {
	if branch != "" && branch != "main" {
		if r, ok := t.Ref(branch); ok && r.Branch {
			return branch, t.SnapshotByID(r.SnapshotID)
		}
	}
	return "", t.CurrentSnapshot()
}

// lookAt has the commit look at another table. One that this transaction has made nobody else can change.
func (s *Session) lookAt(ch *lake.Change, t *lake.Table, branch string, snap *lake.Snapshot, l lake.Look) {
	l.Base, l.Branch, l.Snapshot = t, branch, snap
	if s.tx.block && strings.Contains(t.MetadataLocation, "#") {
		base := t.Over()
		if base == nil {
			return
		}
		l.Base = base
		_, l.Snapshot = branchOf(base, branch)
	}
	if t.Name.Catalog == temporaryCatalog {
		return
	}
	ch.Looks = append(ch.Looks, l)
}

// referenced finds the table that a foreign key references, where it is by now.
func (s *Session) referenced(ctx context.Context, t *lake.Table, k lake.ForeignKey) (*lake.Table, error) {
	if k.UUID == t.UUID() {
		return t, nil
	}
	p, err := s.tableByUUID(ctx, lake.Name{Catalog: t.Name.Catalog, Namespace: k.Namespace, Table: k.Table}, k.UUID)
	if err == nil && p == nil {
		err = sqlerr.New(sqlerr.UndefinedTable, "table \"%s\", which foreign key \"%s\" references, does not exist", k.Table, k.Name).
			WithHint("ALTER TABLE … DROP CONSTRAINT drops the foreign key.")
	}
	return p, err
}

// referencesTo are the foreign keys that name a table, its own ones included.
func (s *Session) referencesTo(ctx context.Context, t *lake.Table) ([]*reference, error) {
	var out []*reference
	for _, k := range t.ForeignKeys() {
		if k.UUID == t.UUID() {
			out = append(out, s.referenceOf(t, k, t))
		}
	}
	for _, r := range t.References() {
		c, err := s.tableByUUID(ctx, lake.Name{Catalog: t.Name.Catalog, Namespace: r.Namespace, Table: r.Table}, r.UUID)
		if err != nil {
			return nil, err
		}
		if c == nil {
			continue // dropped
		}
		for _, k := range c.ForeignKeys() {
			if k.Name == r.Name && k.UUID == t.UUID() {
				out = append(out, s.referenceOf(c, k, t))
			}
		}
	}
	return out, nil
}

// tableByUUID finds a table by its UUID, first under the name that it had; nil: it is not there.
func (s *Session) tableByUUID(ctx context.Context, n lake.Name, uuid string) (*lake.Table, error) {
	cat := s.catalogOf(n.Catalog)
	var missing *lake.NotFound
	t, err := cat.Load(ctx, n)
	if err == nil && t.UUID() == uuid {
		return t, nil
	}
	if err != nil && !errors.As(err, &missing) {
		return nil, err
	}
	spaces, err := cat.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, ns := range spaces {
		list, err := cat.List(ctx, ns)
		if err != nil {
			return nil, err
		}
		for _, name := range list {
			t, err := cat.Load(ctx, name)
			if err == nil && t.UUID() == uuid {
				return t, nil
			}
		}
	}
	return nil, nil
}

// mysqlKey spells the constraint as MySQL's messages do.
func (f *reference) mysqlKey() string {
	names := func(t *lake.Table, ids []int) string {
		var out []string
		for _, id := range ids {
			if c, _ := t.Schema().ByID(id); c != nil {
				out = append(out, quote(c.Name))
			}
		}
		return strings.Join(out, ", ")
	}
	return quote(f.child.Name.Namespace) + "." + quote(f.child.Name.Table) + ", CONSTRAINT " + quote(f.key.Name) + " FOREIGN KEY (" + names(f.child, f.key.Columns) +
		") REFERENCES " + quote(f.parent.Name.Table) + " (" + names(f.parent, f.key.References) + ")"
}

// missing is the error of a row that references what is not there.
func (f *reference) missing(q *keyQuery, row []types.Datum) error {
	if f.s.MySQL() != nil {
		return sqlerr.New(sqlerr.ForeignKeyViolation, "Cannot add or update a child row: a foreign key constraint fails (%s)", f.mysqlKey())
	}
	names, values := q.texts(row)
	return sqlerr.New(sqlerr.ForeignKeyViolation, "insert or update on table \"%s\" violates foreign key constraint \"%s\"", f.child.Name.Table, f.key.Name).
		WithDetail("Key (%s)=(%s) is not present in table \"%s\".", strings.Join(names, ", "), strings.Join(values, ", "), f.parent.Name.Table)
}

// referencedStill is the error of a row that goes while others reference it.
func (f *reference) referencedStill(p *keyQuery, row []types.Datum) *sqlerr.Error {
	if f.s.MySQL() != nil {
		return sqlerr.New(sqlerr.ForeignKeyViolation, "Cannot delete or update a parent row: a foreign key constraint fails (%s)", f.mysqlKey()).WithNumber(1451)
	}
	names, values := p.texts(row)
	return sqlerr.New(sqlerr.ForeignKeyViolation, "update or delete on table \"%s\" violates foreign key constraint \"%s\" on table \"%s\"", f.parent.Name.Table, f.key.Name, f.child.Name.Table).
		WithDetail("Key (%s)=(%s) is still referenced from table \"%s\".", strings.Join(names, ", "), strings.Join(values, ", "), f.child.Name.Table)
}
