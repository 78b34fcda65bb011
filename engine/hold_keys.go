package engine

// This file makes sure that rows which are written break no PRIMARY KEY and no UNIQUE constraint of
// their table.
//
//	a write's new data files ──▶ is a key twice among them?
//	                        ──▶ is a key in the rest of the table?   base ⋈ new, without what goes
//	                        ──▶ is one in what others have added?    at each try of the commit
//
// The new rows are read back from the files that hold them: however many there are, they take no
// memory that a join would not spill. What was copied from files that are rewritten is not new.

import (
	"context"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// fewRows is how many new rows have their keys looked up one by one, in the statistics of files, too.
const fewRows = 1000

// keysHold makes sure that the rows which w has written break no key, and has the commit look at what
// others add meanwhile.
func (s *Session) keysHold(ctx context.Context, w *plan.Write, ch *lake.Change, wrote exec.Wrote) error {
	if w.Rewrite != nil || len(wrote.New) == 0 {
		return nil
	}
	keys := keysWritten(w)
	if len(keys) == 0 {
		return nil
	}
	for _, k := range keys {
		q := &keyQuery{s: s, table: w.Target.Table, schema: w.Target.Schema, key: k}
		own := q.files(wrote.New)
		row, err := q.twice(ctx, own, rowsIn(wrote.New))
		met := w.Upsert != nil && w.Upsert.Kept && slices.Contains(w.Upsert.Keys, k.Name) // by the statement's own join
		if err == nil && row != nil && met {
			return secondTime()
		}
		if err == nil && row == nil && w.Target.Base != nil && !met {
			row, err = q.both(ctx, q.at(w.Target.Base), own, wrote.New, wrote.Gone)
		}
		if err == nil && row != nil {
			err = s.duplicateKey(q, row)
		}
		if err != nil {
			return err
		}
	}
	upsert := w.Upsert != nil
	if upsert && len(w.Upsert.Keys) > 0 && !slices.ContainsFunc(w.Upsert.Keys, func(n string) bool {
		return !slices.ContainsFunc(keys, func(k lake.Key) bool { return k.Name == n })
	}) {
		// Rows that it would have met are those with its keys, and these are looked for one by one.
		was := ch.Conflicts
		ch.Conflicts = func(f *lake.DataFile) bool { return f.Content != lake.Data && (was == nil || was(f)) }
	}
	schema := w.Target.Schema
	ch.Recheck = func(ctx context.Context, head *lake.Table, parent *lake.Snapshot, own, added []*lake.DataFile) error {
		for _, k := range keys {
			q := &keyQuery{s: s, table: head, schema: schema, key: k}
			theirs := q.at(parent)
			theirs.Only = map[string]bool{}
			for _, f := range added {
				theirs.Only[f.Path] = true
			}
			row, err := q.both(ctx, theirs, q.files(own), own, nil)
			if err == nil && row != nil {
				if err = s.duplicateKey(q, row); upsert {
					err = sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update: another transaction added a row with the same key").
						WithHint("Nothing was written. The statement may be run again.")
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// pickedHold is keysHold for the files that another snapshot has brought.
func (s *Session) pickedHold(ctx context.Context, t *lake.Table, ch *lake.Change) error {
	w := &plan.Write{Target: plan.WriteTarget{Table: t, Base: ch.Snapshot, Schema: t.Schema()}}
	wrote := exec.Wrote{}
	for _, f := range ch.Add {
		if f.Content == lake.Data {
			wrote.New = append(wrote.New, f)
		}
	}
	gone := map[string]bool{}
	for _, f := range ch.Remove {
		gone[f.Path] = true
	}
	wrote.Gone = func(file string, _ int64) bool { return gone[file] }
	return s.keysHold(ctx, w, ch, wrote)
}

// keysWritten are the enforced keys whose columns w gives values.
func keysWritten(w *plan.Write) []lake.Key {
	var out []lake.Key
	for _, k := range lake.Enforced(w.Target.Table.Keys()) {
		touched := w.Changed == nil
		for _, id := range k.Columns {
			for i := range w.Target.Schema.Fields {
				touched = touched || w.Changed[i] && w.Target.Schema.Fields[i].ID == id
			}
		}
		if touched {
			out = append(out, k)
		}
	}
	return out
}

func rowsIn(files []*lake.DataFile) (n int64) {
	for _, f := range files {
		n += f.RecordCount
	}
	return n
}

// keyQuery makes queries about the values of one key.
type keyQuery struct {
	s      *Session
	table  *lake.Table
	schema *lake.Schema
	key    lake.Key
	ids    *plan.ColID // the last one that was given; nil: none was
}

func (q *keyQuery) id() plan.ColID {
	if q.ids == nil {
		q.ids = new(plan.ColID)
	}
	*q.ids++
	return *q.ids
}

func (q *keyQuery) column(name string, t types.Type) plan.Column {
	return plan.Column{ID: q.id(), Name: name, Type: t}
}

// scan reads the key's columns.
func (q *keyQuery) scan(snap *lake.Snapshot) *plan.Scan {
	sc := &plan.Scan{Table: q.table, Snapshot: snap, Schema: q.schema, Alias: q.table.Name.Table}
	for _, id := range q.key.Columns {
		f, _ := q.schema.ByID(id)
		sc.Cols = append(sc.Cols, plan.ScanColumn{Column: q.column(f.Name, f.Type), FieldID: id})
	}
	return sc
}

func (q *keyQuery) at(snap *lake.Snapshot) *plan.Scan { return q.scan(snap) }

// files reads data files that no snapshot has yet.
func (q *keyQuery) files(files []*lake.DataFile) *plan.Scan {
	sc := q.scan(nil)
	sc.Files = files
	return sc
}

// fresh is the scan with columns of its own.
func (q *keyQuery) fresh(sc *plan.Scan) *plan.Scan {
	m := *sc
	m.Cols = append([]plan.ScanColumn(nil), sc.Cols...)
	for i := range m.Cols {
		m.Cols[i].ID = q.id()
	}
	return &m
}

// keysOf are what the key's columns compare by.
func (q *keyQuery) keysOf(sc *plan.Scan) []plan.Expr {
	out := make([]plan.Expr, len(q.key.Columns))
	for i := range out {
		out[i] = bind.KeyOf(q.key, i, plan.ColOf(sc.Cols[i].Column))
	}
	return out
}

// known keeps the rows that are looked at: a NULL is distinct from all unless the key says otherwise.
func (q *keyQuery) known(n plan.Node, sc *plan.Scan) plan.Node {
	if q.key.NullsNotDistinct {
		return n
	}
	var preds []plan.Expr
	for i := range q.key.Columns {
		preds = append(preds, &plan.IsNull{X: plan.ColOf(sc.Cols[i].Column), Negate: true})
	}
	return &plan.Filter{Input: n, Pred: plan.AndOf(preds...)}
}

// twice finds a key that more than one row of a scan has; nil: there is none. rows is how many rows
// there are at most; -1: unknown.
func (q *keyQuery) twice(ctx context.Context, sc *plan.Scan, rows int64) ([]types.Datum, error) {
	if rows == 1 || rows == 0 {
		return nil, nil
	}
	sc = q.fresh(sc)
	count, err := eval.ResolveFunction("count", nil, false)
	if err != nil {
		return nil, err
	}
	n := q.column("count", types.T(types.Int8))
	agg := &plan.Aggregate{Input: q.known(sc, sc), Aggs: []plan.Agg{{Func: count.Func, Out: n}}}
	shown := &plan.Project{}
	for i, x := range q.keysOf(sc) {
		g := q.column(sc.Cols[i].Name, x.Type())
		agg.Groups = append(agg.Groups, plan.Named{Col: g, Expr: x})
		out := g
		if _, plain := x.(*plan.Col); !plain {
			any, err := eval.ResolveFunction("any_value", []types.Type{sc.Cols[i].Type}, false)
			if err != nil {
				return nil, err
			}
			out = q.column(sc.Cols[i].Name, sc.Cols[i].Type)
			agg.Aggs = append(agg.Aggs, plan.Agg{Func: any.Func, Args: []plan.Expr{plan.ColOf(sc.Cols[i].Column)}, Out: out})
		}
		shown.Exprs = append(shown.Exprs, plan.Named{Col: q.column(out.Name, out.Type), Expr: plan.ColOf(out)})
	}
	more, err := compared(">", plan.ColOf(n), &plan.Const{Value: types.NewInt(1), Typ: n.Type})
	if err != nil {
		return nil, err
	}
	shown.Input = &plan.Filter{Input: agg, Pred: more}
	return q.s.firstRow(ctx, shown)
}

// both finds a key of own's that a row of rest has, too; nil: there is none. own reads files. A row of
// rest for which gone holds is not there any more.
func (q *keyQuery) both(ctx context.Context, rest, own *plan.Scan, files []*lake.DataFile, gone func(file string, pos int64) bool) ([]types.Datum, error) {
	rest, own = q.fresh(rest), q.fresh(own)
	left, right := q.keysOf(rest), q.keysOf(own)
	op := "="
	if q.key.NullsNotDistinct {
		op = plan.NotDistinctOp
	}
	var on []plan.Expr
	for i := range left {
		x, err := compared(op, left[i], right[i])
		if err != nil {
			return nil, err
		}
		on = append(on, x)
	}
	near, err := q.near(ctx, rest, own, files)
	if err != nil {
		return nil, err
	}
	shown := len(q.key.Columns)
	if gone != nil {
		q.address(rest)
	}
	var input plan.Node = rest
	if near != nil {
		input = &plan.Filter{Input: rest, Pred: near}
	}
	var n plan.Node = &plan.Join{Kind: plan.InnerJoin, Left: input, Right: q.known(own, own), On: plan.AndOf(on...)}
	if gone != nil {
		n = &plan.Filter{Input: n, Pred: rowIs(rest, shown, func(file string, pos int64) bool { return !gone(file, pos) })}
	}
	p := &plan.Project{Input: n}
	for _, c := range own.Cols { // the row that came is the one that is told of
		p.Exprs = append(p.Exprs, plan.Named{Col: q.column(c.Name, c.Type), Expr: plan.ColOf(c.Column)})
	}
	return q.s.firstRow(ctx, p)
}

// address adds where a row lies to what a scan reads.
func (q *keyQuery) address(sc *plan.Scan) {
	sc.Cols = append(sc.Cols, plan.ScanColumn{Column: q.column("_file", types.T(types.Text)), FieldID: plan.HiddenFile},
		plan.ScanColumn{Column: q.column("_pos", types.T(types.Int8)), FieldID: plan.HiddenPos})
}

// rowIs asks f of the row whose address the scan's columns from at on are.
func rowIs(sc *plan.Scan, at int, f func(file string, pos int64) bool) plan.Expr {
	fn := eval.NewRowFunction("row_is", []types.Type{types.T(types.Text), types.T(types.Int8)}, types.T(types.Bool), func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		return types.NewBool(f(a[0].Str(), a[1].Int())), nil
	})
	return &plan.Call{Func: fn, Typ: types.T(types.Bool), Pos: -1, Args: []plan.Expr{plan.ColOf(sc.Cols[at].Column), plan.ColOf(sc.Cols[at+1].Column)}}
}

// near is a condition on rest's rows that those with own's keys satisfy, by which files are pruned: the
// keys themselves, or bounds of theirs; nil: nothing is known.
func (q *keyQuery) near(ctx context.Context, rest, own *plan.Scan, files []*lake.DataFile) (plan.Expr, error) {
	var preds []plan.Expr
	if q.key.NullsNotDistinct {
		return nil, nil
	}
	var plain []int // columns that compare as their files' statistics do
	for i, x := range q.keysOf(rest) {
		if _, ok := x.(*plan.Col); ok && lake.OrderedAsStored(rest.Cols[i].Type) {
			plain = append(plain, i)
		}
	}
	if len(plain) == 0 {
		return nil, nil
	}
	if rowsIn(files) <= fewRows {
		own = q.fresh(own)
		lists := make([][]types.Datum, len(own.Cols))
		seen := make([]map[string]bool, len(own.Cols))
		err := q.s.eachRow(ctx, q.known(own, own), nil, func(row []types.Datum) error {
			for _, i := range plain {
				if seen[i] == nil {
					seen[i] = map[string]bool{}
				}
				k := string(types.AppendKey(nil, row[i], own.Cols[i].Type))
				if !seen[i][k] {
					seen[i][k] = true
					lists[i] = append(lists[i], row[i])
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, i := range plain {
			preds = append(preds, &plan.InList{X: plan.ColOf(rest.Cols[i].Column), List: lists[i]})
		}
		return plan.AndOf(preds...), nil
	}
	for _, i := range plain {
		f, _ := q.schema.ByID(q.key.Columns[i])
		lo, hi, ok := boundsOf(f, files)
		if !ok {
			continue
		}
		for op, d := range map[string]types.Datum{">=": lo, "<=": hi} {
			x, err := compared(op, plan.ColOf(rest.Cols[i].Column), &plan.Const{Value: d, Typ: f.Type})
			if err != nil {
				return nil, err
			}
			preds = append(preds, x)
		}
	}
	if len(preds) == 0 {
		return nil, nil
	}
	return plan.AndOf(preds...), nil
}

// boundsOf are those of a column's values in files, where each tells them.
func boundsOf(f *lake.Field, files []*lake.DataFile) (lo, hi types.Datum, ok bool) {
	if f.Iceberg == "float" || f.Iceberg == "double" || eval.Encodes(f.Type) {
		return lo, hi, false // NaN lies outside of all bounds
	}
	for n, file := range files {
		l, ok1 := lake.DecodeBound(f.Stored(), f.Iceberg, file.Lower[f.ID])
		h, ok2 := lake.DecodeBound(f.Stored(), f.Iceberg, file.Upper[f.ID])
		if !ok1 || !ok2 {
			return lo, hi, false
		}
		if n == 0 || types.Compare(l, lo, f.Type) < 0 {
			lo = l
		}
		if n == 0 || types.Compare(h, hi, f.Type) > 0 {
			hi = h
		}
	}
	return lo, hi, len(files) > 0
}

// compared is a comparison of two expressions of one type.
func compared(op string, a, b plan.Expr) (plan.Expr, error) {
	r, err := eval.ResolveOperator(op, []types.Type{a.Type(), b.Type()})
	if err != nil {
		return nil, err
	}
	to := func(x plan.Expr, t types.Type) plan.Expr {
		if x.Type().Equal(t) {
			return x
		}
		return &plan.Cast{X: x, Typ: t, Context: plan.Implicit, Pos: -1}
	}
	return &plan.Call{Func: r.Func, Args: []plan.Expr{to(a, r.Args[0]), to(b, r.Args[1])}, Typ: types.T(types.Bool), Pos: -1}, nil
}

// firstRow is the first row of a query that the engine asks itself; nil: it has none.
func (s *Session) firstRow(ctx context.Context, n plan.Node) (row []types.Datum, err error) {
	return s.firstRowWith(ctx, n, nil)
}

func (s *Session) firstRowWith(ctx context.Context, n plan.Node, args []types.Datum) (row []types.Datum, err error) {
	n = &plan.Limit{Input: n, Count: &plan.Const{Value: types.NewInt(1), Typ: types.T(types.Int8)}}
	err = s.eachRow(ctx, n, args, func(r []types.Datum) error {
		row = append([]types.Datum{}, r...)
		return nil
	})
	return row, err
}

// eachRow runs a query that the engine asks itself.
func (s *Session) eachRow(ctx context.Context, n plan.Node, args []types.Datum, f func([]types.Datum) error) error {
	c := s.evalCtx(ctx)
	n, err := planner.Plan(s.plannerEnv(ctx, c, args), n)
	if err != nil {
		return err
	}
	env := s.execEnv(c)
	defer env.Account.Close()
	src, err := exec.Build(n, env)
	if err != nil {
		return err
	}
	defer src.Close()
	row := make([]types.Datum, len(n.Columns()))
	for {
		b, err := src.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		for _, i := range selected(b) {
			for j, v := range b.Cols {
				row[j] = v.Datum(int(i))
			}
			if err := f(row); err != nil {
				return err
			}
		}
	}
}

// selected are the rows of a batch.
func selected(b *vec.Batch) []uint16 {
	if b.Sel != nil {
		return b.Sel
	}
	all := make([]uint16, b.Rows)
	for i := range all {
		all[i] = uint16(i)
	}
	return all
}

// duplicateKey is the error of a row whose key another one has.
func (s *Session) duplicateKey(q *keyQuery, row []types.Datum) error {
	names, values := q.texts(row)
	if s.MySQL() != nil {
		name := q.key.Name
		if q.key.Primary {
			name = "PRIMARY"
		}
		return sqlerr.New(sqlerr.UniqueViolation, "Duplicate entry '%s' for key '%s.%s'", strings.Join(values, "-"), q.table.Name.Table, name)
	}
	return sqlerr.New(sqlerr.UniqueViolation, "duplicate key value violates unique constraint \"%s\"", q.key.Name).
		WithDetail("Key (%s)=(%s) already exists.", strings.Join(names, ", "), strings.Join(values, ", "))
}

// texts are a key's columns and values as messages show them.
func (q *keyQuery) texts(row []types.Datum) (names, values []string) {
	o := q.s.TextOptions()
	for i, id := range q.key.Columns {
		f, _ := q.schema.ByID(id)
		names = append(names, f.Name)
		if row[i].IsNull() {
			values = append(values, "null")
		} else {
			values = append(values, types.Format(row[i], f.Type, o))
		}
	}
	return names, values
}

// secondTime is the error of an upsert that has two rows for one key.
func secondTime() error {
	return sqlerr.New(sqlerr.CardinalityViolation, "ON CONFLICT DO UPDATE command cannot affect row a second time").
		WithHint("Ensure that no rows proposed for insertion within the same command have duplicate constrained values.")
}
