package exec

import (
	"context"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// relation is a table in a test: plain rows, from which sources are made that come in every
// shape a source may have.
type relation struct {
	cols []plan.Column
	rows [][]types.Datum
}

var nextColumn plan.ColID

func column1(name string, t types.Type) plan.Column {
	nextColumn++
	return plan.Column{ID: nextColumn, Name: name, Type: t}
}

func col(c plan.Column) *plan.Col { return &plan.Col{ID: c.ID, Name: c.Name, Typ: c.Type} }

// node makes a plan node that reads r, split over parts partitions, and registers it in env.
func (r *relation) node(env *Env, rnd *rand.Rand, parts int) plan.Node {
	n := &plan.Values{Cols: r.cols}
	seed := rnd.Int63()
	replace(env, n, func() []vec.Source {
		rnd := rand.New(rand.NewSource(seed))
		out := make([]vec.Source, parts)
		split := make([][][]types.Datum, parts)
		for i, row := range r.rows {
			k := i * parts / max(1, len(r.rows))
			split[k] = append(split[k], row)
		}
		for i := range out {
			out[i] = &shapedSource{rel: r, rows: split[i], rnd: rand.New(rand.NewSource(rnd.Int63())), size: env.batchRows()}
		}
		return out
	})
	return n
}

// replace puts sources where n, or a copy of it with the same columns, stands.
func replace(env *Env, n plan.Node, make func() []vec.Source) {
	before := env.source
	id := n.Columns()[0].ID
	env.source = func(m plan.Node) []vec.Source {
		if v, ok := m.(*plan.Values); ok && len(v.Cols) > 0 && v.Cols[0].ID == id {
			return make()
		}
		if before != nil {
			return before(m)
		}
		return nil
	}
}

// shapedSource hands rows out in batches of random length, with rows between them that do not
// exist, as flat, dictionary and constant vectors; and spoils each batch at the next call.
type shapedSource struct {
	rel  *relation
	rows [][]types.Datum
	rnd  *rand.Rand
	size int
	last *vec.Batch
}

func (s *shapedSource) Next(ctx context.Context) (*vec.Batch, error) {
	spoil(s.last)
	if len(s.rows) == 0 {
		return nil, nil
	}
	if s.rnd.Intn(8) == 0 {
		return &vec.Batch{Cols: make([]*vec.Vector, len(s.rel.cols)), Sel: []uint16{}}, nil
	}
	n := min(len(s.rows), 1+s.rnd.Intn(s.size))
	rows := s.rows[:n]
	s.rows = s.rows[n:]
	b := &vec.Batch{}
	// Physical rows: some before each row that exists, unless there is no selection.
	at := make([]int, n)
	if s.rnd.Intn(2) == 0 {
		k := 0
		for i := range at {
			k += s.rnd.Intn(2)
			at[i] = k
			b.Sel = append(b.Sel, uint16(k))
			k++
		}
		b.Rows = k + s.rnd.Intn(2)
	} else {
		for i := range at {
			at[i] = i
		}
		b.Rows = n
	}
	for c, col := range s.rel.cols {
		vals := make([]types.Datum, b.Rows)
		for i, p := range at {
			vals[p] = rows[i][c]
		}
		b.Cols = append(b.Cols, s.vector(col.Type, vals, at))
	}
	s.last = b
	return b, nil
}

func (s *shapedSource) vector(t types.Type, vals []types.Datum, at []int) *vec.Vector {
	same := true
	for _, p := range at {
		same = same && equalDatum(vals[p], vals[at[0]], t)
	}
	form := t.Form()
	nested := form == types.FormList || form == types.FormStruct
	switch {
	case same && !nested && s.rnd.Intn(2) == 0:
		return vec.ConstOf(t, vals[at[0]])
	case !nested && s.rnd.Intn(2) == 0:
		return dictOf(t, vals, s.rnd)
	}
	a := vec.NewAppender(t)
	for _, d := range vals {
		a.AppendDatum(d)
	}
	return a.Vector()
}

func dictOf(t types.Type, vals []types.Datum, rnd *rand.Rand) *vec.Vector {
	dict := vec.NewAppender(t)
	codes := map[string]uint32{}
	v := &vec.Vector{Type: t, Enc: vec.Dict}
	for i, d := range vals {
		if d.IsNull() {
			if v.Valid == nil {
				v.Valid = vec.NewBitmap(len(vals), true)
			}
			v.Valid.Clear(i)
			v.Codes = append(v.Codes, 0)
			continue
		}
		k := types.Format(d, t, nil)
		code, ok := codes[k]
		if !ok {
			code = uint32(dict.Len())
			codes[k] = code
			dict.AppendDatum(d)
		}
		v.Codes = append(v.Codes, code)
	}
	if dict.Len() == 0 {
		dict.AppendDatum(zeroOf(t))
	}
	v.Dictionary = dict.Vector()
	v.Form = v.Dictionary.Form
	if rnd.Intn(2) == 0 {
		v.Dictionary.DictID = vec.NewDictID()
	}
	return v
}

func zeroOf(t types.Type) types.Datum {
	switch t.Form() {
	case types.FormBool:
		return types.NewBool(false)
	case types.FormF64:
		return types.NewFloat(0)
	case types.FormStr:
		if t.Kind == types.Numeric {
			return types.NewStr(types.DecimalFromInt64(0).Encode())
		}
		return types.NewStr("")
	case types.FormW128:
		return types.NewW128(types.Int128{})
	}
	return types.NewInt(0)
}

func equalDatum(a, b types.Datum, t types.Type) bool {
	if a.IsNull() || b.IsNull() {
		return a.IsNull() == b.IsNull()
	}
	return types.Compare(a, b, t) == 0
}

func spoil(b *vec.Batch) {
	if b == nil {
		return
	}
	for _, v := range b.Cols {
		if v.Enc == vec.Dict && v.Dictionary.DictID != 0 {
			for i := range v.Codes {
				v.Codes[i] = 0
			}
			continue
		}
		f := v.Values()
		for i := range f.I64 {
			f.I64[i] = -77
		}
		for i := range f.Data {
			f.Data[i] = '#'
		}
		for i := range f.F64 {
			f.F64[i] = -77
		}
	}
}

func (s *shapedSource) Close() error { return nil }

// mode is a way of running that must not change the answer.
type mode struct {
	batch, workers int
	tiny           bool
}

var modes = []mode{{0, 1, false}, {0, 3, false}, {1, 2, false}, {3, 1, false}, {3, 4, true}, {0, 2, true}, {0, 1, true}}

// someModes draws a few of the modes: over many cases all get their turn.
func someModes(rnd *rand.Rand, n int) []mode {
	var out []mode
	for _, i := range rnd.Perm(len(modes))[:n] {
		out = append(out, modes[i])
	}
	return out
}

func (m mode) String() string {
	return fmt.Sprintf("batch=%d workers=%d tiny=%v", m.batch, m.workers, m.tiny)
}

func testEnv(m mode) *Env {
	env := &Env{
		Ctx:       &eval.Ctx{Context: context.Background(), Now: time.Unix(0, 0), StmtStart: time.Unix(0, 0), Zone: time.UTC},
		Workers:   m.workers,
		BatchRows: m.batch,
		Account:   NewAccount(nil, 1<<30),
	}
	if m.tiny {
		env.Account = NewServerAccount(1, 1<<30, 0)
	}
	return env
}

// collect runs a plan and gives its rows.
func collect(t *testing.T, n plan.Node, env *Env) [][]types.Datum {
	t.Helper()
	rows, err := tryCollect(n, env)
	if err != nil {
		t.Fatalf("running: %v (%v)", err, unwrapAll(err))
	}
	return rows
}

func unwrapAll(err error) string {
	type unwrapper interface{ Unwrap() error }
	s := ""
	for err != nil {
		s += fmt.Sprintf("\n%v", err)
		u, ok := err.(unwrapper)
		if !ok {
			break
		}
		err = u.Unwrap()
	}
	return s
}

func tryCollect(n plan.Node, env *Env) ([][]types.Datum, error) {
	src, err := Build(n, env)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	cols := n.Columns()
	var rows [][]types.Datum
	for {
		b, err := src.Next(context.Background())
		if err != nil {
			return nil, err
		}
		if b == nil {
			break
		}
		if len(b.Cols) != len(cols) {
			return nil, fmt.Errorf("%d columns, not %d", len(b.Cols), len(cols))
		}
		for _, r := range selection(b) {
			row := make([]types.Datum, len(cols))
			for c, v := range b.Cols {
				row[c] = v.Datum(int(r))
			}
			rows = append(rows, row)
		}
	}
	if err := src.Close(); err != nil {
		return nil, err
	}
	if used := env.Account.Used(); used != 0 {
		return nil, fmt.Errorf("%d bytes are still reserved after Close", used)
	}
	return rows, nil
}

// show spells rows, sorted unless ordered.
func show(rows [][]types.Datum, cols []plan.Column, ordered bool) string {
	lines := make([]string, len(rows))
	for i, r := range rows {
		f := make([]string, len(r))
		for c, d := range r {
			f[c] = "NULL"
			if !d.IsNull() {
				f[c] = types.Format(d, cols[c].Type, nil)
			}
		}
		lines[i] = strings.Join(f, "|")
	}
	if !ordered {
		sort.Strings(lines)
	}
	return strings.Join(lines, "\n")
}

func compareRows(t *testing.T, what string, got, want [][]types.Datum, cols []plan.Column, ordered bool) {
	t.Helper()
	g, w := show(got, cols, ordered), show(want, cols, ordered)
	if g == w {
		return
	}
	gl, wl := strings.Split(g, "\n"), strings.Split(w, "\n")
	for i := range max(len(gl), len(wl)) {
		a, b := "(end)", "(end)"
		if i < len(gl) {
			a = gl[i]
		}
		if i < len(wl) {
			b = wl[i]
		}
		if a != b {
			t.Fatalf("%s: %d rows, want %d; first difference at %d:\n got %s\nwant %s", what, len(got), len(want), i, a, b)
		}
	}
}

func op(t testing.TB, name string, a, b plan.Expr) plan.Expr {
	f := eval.Operator(name, types.T(a.Type().Kind), types.T(b.Type().Kind))
	if f == nil {
		t.Fatalf("no operator %s for %s and %s", name, a.Type(), b.Type())
	}
	return &plan.Call{Func: f, Args: []plan.Expr{a, b}, Typ: f.Ret, Pos: -1}
}

// randomDatum draws from few values, some NULL.
func randomDatum(rnd *rand.Rand, t types.Type, spread int, nulls bool) types.Datum {
	if nulls && rnd.Intn(6) == 0 {
		return types.Null
	}
	n := int64(rnd.Intn(spread))
	switch t.Kind {
	case types.Bool:
		return types.NewBool(n%2 == 0)
	case types.Text:
		return types.NewStr(strings.Repeat("k", int(n%5)) + fmt.Sprint(n))
	case types.Float8:
		return types.NewFloat(float64(n) / 4)
	case types.Numeric:
		d, err := types.NewDecimal(n*25, 2).Datum(t)
		if err != nil {
			panic(err)
		}
		return d
	}
	return types.NewInt(n - int64(spread)/3)
}

func randomRelation(rnd *rand.Rand, prefix string, rows, spread int, ts ...types.Type) *relation {
	r := &relation{}
	for i, t := range ts {
		r.cols = append(r.cols, column1(fmt.Sprintf("%s%d", prefix, i), t))
	}
	for range rows {
		row := make([]types.Datum, len(ts))
		for i, t := range ts {
			row[i] = randomDatum(rnd, t, spread, true)
		}
		r.rows = append(r.rows, row)
	}
	return r
}

var (
	int4    = types.T(types.Int4)
	int8    = types.T(types.Int8)
	text    = types.T(types.Text)
	float8  = types.T(types.Float8)
	numeric = types.T(types.Numeric)
	boolean = types.T(types.Bool)
)
