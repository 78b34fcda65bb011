package exec

import (
	"context"
	"errors"
	"iter"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// projectSet computes columns of which some are sets of rows. Each input row makes as many rows
// as the largest of its sets; smaller ones are filled up with NULL, plain columns repeat. A row
// whose sets are all empty vanishes.
type projectSet struct {
	env  *Env
	in   vec.Source
	c    *eval.Ctx
	cols []setColumn

	outer   bool
	ordinal *vec.Appender // nil: the rows are not numbered

	b    *vec.Batch // input under way
	row  int        // next of its selection
	sets [][]types.Datum
	at   int  // next row of the sets
	size int  // of the largest
	base int  // rows of the input row that left before, in parts of large sets
	lone bool // the one row that outer makes of empty sets is under way
	vals []*vec.Vector
	apps []*vec.Appender
	long varying
	out  vec.Batch
}

// setColumn is an output column: a plain expression, or a call of a set-returning function.
type setColumn struct {
	plain *eval.Program
	set   eval.SetKernel
	// strict: a NULL argument makes the empty set.
	strict bool
	args   []*eval.Program
	vecs   []*vec.Vector
	large  *largeSet // under way; nil: none
	// list: the call is unnest, whose rows lie in its argument's child already: those from lo on,
	// n of them.
	list  bool
	lo, n int
}

func newProjectSet(env *Env, n *plan.ProjectSet, in vec.Source) (*projectSet, error) {
	p := &projectSet{env: env, in: in, c: env.evalCtx(), outer: n.Outer}
	if n.Ordinal.ID != 0 {
		p.ordinal = vec.NewAppender(n.Ordinal.Type)
	}
	cols := n.Input.Columns()
	for _, e := range n.Exprs {
		var sc setColumn
		var err error
		if call, ok := e.Expr.(*plan.Call); ok && call.Func.Kind == plan.SetFunc {
			sc.set, sc.strict = eval.Declaration(call.Func).SetFor(call.Typ), call.Func.Strict
			sc.args, err = compileAll(call.Args, cols)
			sc.vecs = make([]*vec.Vector, len(sc.args))
			sc.list = call.Func.Name == "unnest" && len(call.Args) == 1 && call.Args[0].Type().Kind == types.Array &&
				call.Args[0].Type().Elem().Kind != types.Array // which PostgreSQL unnests too
		} else {
			sc.plain, err = eval.Compile(e.Expr, cols)
		}
		if err != nil {
			return nil, err
		}
		p.cols = append(p.cols, sc)
		p.apps = append(p.apps, vec.NewAppender(e.Col.Type))
		if f := e.Col.Type.Form(); f == types.FormStr || f == types.FormList || f == types.FormStruct {
			p.long = append(p.long, len(p.apps)-1)
		}
	}
	p.sets = make([][]types.Datum, len(p.cols))
	p.vals = make([]*vec.Vector, len(p.cols))
	return p, nil
}

func (p *projectSet) Next(ctx context.Context) (*vec.Batch, error) {
	for _, a := range p.apps {
		a.Reset()
	}
	if p.ordinal != nil {
		p.ordinal.Reset()
	}
	n, limit := 0, p.env.batchRows()
	for n < limit {
		if p.at < p.size {
			p.appendRow()
			if n++; p.long.bytes(p.apps) >= wideBatch {
				break
			}
			continue
		}
		if p.size > 0 {
			// Large sets may have more; smaller ones beside them have ended.
			if err := p.refill(); err != nil {
				return nil, err
			}
			if p.at < p.size {
				continue
			}
			p.size = 0
		}
		if p.b == nil || p.row == p.b.Len() {
			if n > 0 {
				break // what was made points into nothing of the batch, but pull only when empty-handed
			}
			if err := canceled(ctx); err != nil {
				return nil, err
			}
			b, err := p.in.Next(ctx)
			if err != nil {
				return nil, err
			}
			if b == nil {
				return nil, nil
			}
			if err := p.startBatch(b); err != nil {
				return nil, err
			}
			continue
		}
		if err := p.startRow(ctx); err != nil {
			return nil, err
		}
	}
	p.out.Cols = p.out.Cols[:0]
	for _, a := range p.apps {
		p.out.Cols = append(p.out.Cols, a.Vector())
	}
	if p.ordinal != nil {
		p.out.Cols = append(p.out.Cols, p.ordinal.Vector())
	}
	p.out.Rows = n
	return &p.out, nil
}

func (p *projectSet) startBatch(b *vec.Batch) error {
	p.b, p.row, p.at, p.size = b, 0, 0, 0
	if b.Len() == 0 {
		return nil
	}
	for i := range p.cols {
		sc := &p.cols[i]
		if sc.plain != nil {
			if err := evalAll(p.c, []*eval.Program{sc.plain}, b, p.vals[i:i+1]); err != nil {
				return err
			}
		} else if err := evalAll(p.c, sc.args, b, sc.vecs); err != nil {
			return err
		}
	}
	return nil
}

// startRow computes the sets of the next input row.
func (p *projectSet) startRow(ctx context.Context) error {
	r := int(selection(p.b)[p.row])
	p.row++
	p.at, p.size, p.base, p.lone = 0, 0, 0, false
	for i := range p.cols {
		sc := &p.cols[i]
		if sc.plain != nil {
			continue
		}
		if sc.list {
			sc.start(r)
			p.size = max(p.size, sc.n)
			continue
		}
		args := make([]types.Datum, len(sc.vecs))
		null := false
		for k, v := range sc.vecs {
			args[k] = v.Datum(r)
			null = null || args[k].IsNull()
		}
		p.sets[i] = p.sets[i][:0]
		if null && sc.strict {
			continue
		}
		err := sc.set(p.c, args, func(d types.Datum) error {
			if len(p.sets[i]) == wholeSet {
				return errLargeSet
			}
			p.sets[i] = append(p.sets[i], d)
			return nil
		})
		if err == errLargeSet {
			p.pull(ctx, sc, args)
			err = nil
		}
		if err != nil {
			return err
		}
		p.size = max(p.size, len(p.sets[i]))
	}
	if err := p.refill(); err != nil {
		return err
	}
	if p.size == 0 && p.outer {
		p.size, p.lone = 1, true
	}
	return nil
}

// start finds the rows that unnest makes of row r.
func (sc *setColumn) start(r int) {
	v := sc.vecs[0]
	sc.lo, sc.n = 0, 0
	if !v.Null(r) {
		k := v.Row(r)
		offsets := v.Values().Offsets
		sc.lo = int(offsets[k])
		sc.n = int(offsets[k+1]) - sc.lo
	}
}

// wholeSet is how many rows of a set are computed at once. Larger ones begin anew and are
// computed as their rows are asked for.
const wholeSet = 1024

var errLargeSet = errors.New("a large set")

// largeSet pulls rows out of a function that hands them to a call-back.
type largeSet struct {
	next func() (types.Datum, error, bool)
	stop func()
}

func (p *projectSet) pull(ctx context.Context, sc *setColumn, args []types.Datum) {
	next, stop := iter.Pull2(pulled(ctx, func(yield func(types.Datum) error) error { return sc.set(p.c, args, yield) }))
	sc.large = &largeSet{next: next, stop: stop}
}

// pulled makes rows that can be asked for of a function that hands them to a call-back.
func pulled(ctx context.Context, rows func(yield func(types.Datum) error) error) iter.Seq2[types.Datum, error] {
	return func(yield func(types.Datum, error) bool) {
		n := 0
		err := rows(func(d types.Datum) error {
			if n++; n%wholeSet == 0 {
				if err := canceled(ctx); err != nil {
					return err
				}
			}
			if !yield(d, nil) {
				return errLargeSet
			}
			return nil
		})
		if err != nil && err != errLargeSet {
			yield(types.Null, err)
		}
	}
}

// refill gets the next rows of large sets when those that were got are used up.
func (p *projectSet) refill() error {
	large := false
	for i := range p.cols {
		large = large || p.cols[i].large != nil
		if p.cols[i].set != nil && p.at > 0 {
			p.sets[i] = p.sets[i][:0]
		}
		if sc := &p.cols[i]; sc.list {
			used := min(p.at, sc.n)
			sc.lo, sc.n = sc.lo+used, sc.n-used
		}
	}
	if !large {
		return nil
	}
	p.base += p.at
	p.at, p.size = 0, 0
	for i := range p.cols {
		if sc := &p.cols[i]; sc.list {
			p.size = max(p.size, min(sc.n, wholeSet))
			continue
		}
		l := p.cols[i].large
		if l != nil {
			p.sets[i] = p.sets[i][:0]
			for len(p.sets[i]) < wholeSet {
				d, err, ok := l.next()
				if err != nil {
					return err
				}
				if !ok {
					l.stop()
					p.cols[i].large = nil
					break
				}
				p.sets[i] = append(p.sets[i], d)
			}
		}
		p.size = max(p.size, len(p.sets[i]))
	}
	return nil
}

func (p *projectSet) stopSets() {
	for i := range p.cols {
		if l := p.cols[i].large; l != nil {
			l.stop()
			p.cols[i].large = nil
		}
	}
}

func (p *projectSet) appendRow() {
	r := int(selection(p.b)[p.row-1])
	for i := range p.cols {
		switch {
		case p.cols[i].plain != nil:
			p.apps[i].Append(p.vals[i], r)
		case p.cols[i].list && p.at < p.cols[i].n:
			p.apps[i].Append(p.cols[i].vecs[0].Values().Child, p.cols[i].lo+p.at)
		case p.at < len(p.sets[i]):
			p.apps[i].AppendDatum(p.sets[i][p.at])
		default:
			p.apps[i].AppendNull()
		}
	}
	if p.ordinal != nil {
		if p.lone {
			p.ordinal.AppendNull()
		} else {
			p.ordinal.AppendDatum(types.NewInt(int64(p.base+p.at) + 1))
		}
	}
	p.at++
}

func (p *projectSet) Close() error {
	p.stopSets()
	return p.in.Close()
}
