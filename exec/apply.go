package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// apply runs its right side once per left row, with the left row's values in place of the
// columns that the right side refers to. The decorrelate pass leaves few of these. Results are
// kept by those values, as long as there is memory and the right side is not volatile.
type apply struct {
	joinSides
	env     *Env
	node    *plan.Apply
	left    vec.Source
	c       *eval.Ctx
	on      *eval.Program
	guard   *eval.Program
	outer   []int // left columns that the right side refers to
	columns []plan.Column
	enc     *keyEncoder
	cache   map[string]*rowStore
	cached  int64
	keep    bool
	mem     *memory

	in    *vec.Batch
	takes []bool    // by row: passes the guard; nil: all do
	none  *rowStore // the right side of those that do not
	row   int
	right *rowStore // the current row's
	part  int
	match bool
	null  bool
	cand  vec.Batch
	pass  []uint16
	apps  []*vec.Appender
	n     int
	out   vec.Batch
}

func newApply(env *Env, n *plan.Apply, left vec.Source) (*apply, error) {
	lc, rc := n.Left.Columns(), n.Right.Columns()
	a := &apply{env: env, node: n, left: left, c: env.evalCtx(), columns: lc, mem: newMemory(env).share(1, 2),
		joinSides: newJoinSides(n.Kind, false, columnTypes(lc), columnTypes(rc)), cache: map[string]*rowStore{}}
	if n.On != nil {
		var err error
		if a.on, err = eval.Compile(n.On, append(append([]plan.Column(nil), lc...), rc...)); err != nil {
			return nil, err
		}
	}
	if n.Guard != nil {
		var err error
		if a.guard, err = eval.Compile(n.Guard, lc); err != nil {
			return nil, err
		}
		a.none = newRowStore(a.innerTypes, nil)
	}
	a.outer = outerColumns(n.Right, lc)
	keys := make([]keyColumn, len(a.outer))
	for i, k := range a.outer {
		keys[i] = equalKey(lc[k].Type)
	}
	a.enc = newKeyEncoder(keys)
	a.keep = !volatileNode(n.Right)
	for _, c := range n.Columns() {
		a.apps = append(a.apps, vec.NewAppender(c.Type))
	}
	return a, nil
}

func volatileNode(n plan.Node) bool {
	volatile := false
	plan.Walk(n, func(m plan.Node) {
		plan.NodeExprs(m, func(e plan.Expr) {
			volatile = volatile || eval.VolatilityOf(e) == plan.Volatile
		})
	})
	return volatile
}

func (a *apply) Next(ctx context.Context) (*vec.Batch, error) {
	for _, p := range a.apps {
		p.Reset()
	}
	a.n = 0
	for a.n < a.env.batchRows() {
		if a.right != nil {
			if err := a.step(); err != nil {
				return nil, err
			}
			continue
		}
		if a.in == nil || a.row == a.in.Len() {
			if a.n > 0 {
				break
			}
			b, err := a.left.Next(ctx)
			if b == nil || err != nil {
				return nil, err
			}
			a.in, a.row = b, 0
			if err := a.admit(); err != nil {
				return nil, err
			}
			continue
		}
		if err := canceled(ctx); err != nil {
			return nil, err
		}
		var err error
		r := int(selection(a.in)[a.row])
		if a.takes != nil && !a.takes[r] {
			a.right = a.none
		} else if a.right, err = a.run(ctx, r); err != nil {
			return nil, err
		}
		a.part, a.match, a.null = 0, false, false
	}
	a.out.Cols = a.out.Cols[:0]
	for _, p := range a.apps {
		a.out.Cols = append(a.out.Cols, p.Vector())
	}
	a.out.Rows = a.n
	return &a.out, nil
}

// admit tests which rows of the left batch pass the guard.
func (a *apply) admit() error {
	if a.guard == nil {
		return nil
	}
	var err error
	if a.pass, err = a.guard.Select(a.c, a.in, a.pass); err != nil {
		return err
	}
	a.takes = grown(a.takes, a.in.Rows)
	clear(a.takes)
	for _, r := range a.pass {
		a.takes[r] = true
	}
	return nil
}

// run gives the right side's rows for left row r.
func (a *apply) run(ctx context.Context, r int) (*rowStore, error) {
	vs := make([]*vec.Vector, len(a.outer))
	consts := make(map[plan.ColID]*plan.Const, len(a.outer))
	for i, k := range a.outer {
		vs[i] = a.in.Cols[k]
		consts[a.columns[k].ID] = &plan.Const{Value: vs[i].Datum(r), Typ: a.columns[k].Type}
	}
	a.enc.encode(vs, []uint16{uint16(r)})
	key := string(a.enc.key(0))
	if s, ok := a.cache[key]; ok {
		return s, nil
	}
	src, err := Build(rebind(a.node.Right, consts), a.env.rerun())
	if err != nil {
		return nil, err
	}
	defer src.Close()
	rows := newRowStore(a.innerTypes, nil)
	for {
		b, err := src.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		rows.appendBatch(b)
		// Enough to know the answer.
		if a.node.On == nil && rows.n > 0 && (a.semiOuter || a.mark) || a.single && a.node.On == nil && rows.n > 1 {
			break
		}
	}
	if !a.keep {
		return rows, nil
	}
	held := int64(len(key)) + 256 + rows.bytes()
	if !a.mem.grow(a.cached + held) {
		clear(a.cache)
		a.mem.shrink(0)
		a.cached = 0
		return rows, nil
	}
	a.cached += held
	a.cache[key] = rows
	return rows, nil
}

// step tests the left row beside the next chunk of right rows, or ends the row.
func (a *apply) step() error {
	r := int(selection(a.in)[a.row])
	if a.part == len(a.right.chunks) || a.match && !a.pairs {
		return a.finishRow(r)
	}
	b := a.right.batch(a.part)
	a.part++
	cols := a.cand.Cols[:0]
	for _, v := range a.in.Cols {
		cols = append(cols, constAt(v, r))
	}
	a.cand = vec.Batch{Cols: append(cols, b.Cols...), Rows: b.Rows}
	pass := identity[:b.Rows]
	if a.on != nil {
		v, err := a.on.Eval(a.c, &a.cand)
		if err != nil {
			return err
		}
		a.pass = a.pass[:0]
		for i := range b.Rows {
			if v.Null(i) {
				a.null = true
			} else if v.Values().Bools[v.Row(i)] {
				a.pass = append(a.pass, uint16(i))
			}
		}
		pass = a.pass
	}
	if len(pass) == 0 {
		return nil
	}
	if a.single && (a.match || len(pass) > 1) {
		return errMoreThanOneRow()
	}
	a.match = true
	if a.pairs {
		for i, p := range a.apps {
			p.AppendSel(a.cand.Cols[i], pass, b.Rows)
		}
		a.n += len(pass)
	}
	return nil
}

// finishRow emits what the left row yields after all right rows.
func (a *apply) finishRow(r int) error {
	a.right = nil
	a.row++
	emit := a.keepOuter && !a.match || a.semiOuter && a.match != a.anti || a.mark
	if !emit {
		return nil
	}
	for i, p := range a.apps {
		switch {
		case i < len(a.in.Cols):
			p.Append(a.in.Cols[i], r)
		case a.mark && (a.match || !a.null):
			p.AppendDatum(types.NewBool(a.match))
		default:
			p.AppendNull()
		}
	}
	a.n++
	return nil
}

func (a *apply) Close() error {
	a.mem.free()
	a.cache = nil
	return a.left.Close()
}
