package library

import (
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// testPartition is a sorted partition whose peers share a key, with one frame clause.
type testPartition struct {
	keys  []string
	frame string
}

func (p *testPartition) Rows() int { return len(p.keys) }
func (p *testPartition) Peers(i int) (from, to int) {
	from, to = i, i+1
	for from > 0 && p.keys[from-1] == p.keys[i] {
		from--
	}
	for to < len(p.keys) && p.keys[to] == p.keys[i] {
		to++
	}
	return
}

func (p *testPartition) Frame(i int) [][2]int {
	n := len(p.keys)
	from, to := p.Peers(i)
	clip := func(a, b int) [2]int {
		a, b = min(max(a, 0), n), min(max(b, 0), n)
		return [2]int{a, max(a, b)}
	}
	switch p.frame {
	case "rows between 1 preceding and 1 following":
		return [][2]int{clip(i-1, i+2)}
	case "rows between unbounded preceding and unbounded following exclude current row":
		return [][2]int{clip(0, i), clip(i+1, n)}
	case "groups between 1 preceding and current row exclude ties":
		lo := from
		if from > 0 {
			lo, _ = p.Peers(from - 1)
		}
		return [][2]int{clip(lo, from), clip(i, i+1)}
	case "rows between 2 following and 3 following":
		return [][2]int{clip(i+2, i+4)}
	case "range between unbounded preceding and unbounded following exclude group":
		return [][2]int{clip(0, from), clip(to, n)}
	}
	return [][2]int{clip(0, to)}
}

// Window functions over partitions by g in the order of b, length(t), as PostgreSQL 15 has
// them; testdata/generate_aggregates.py asked it.
func TestWindowFunctions(t *testing.T) {
	c, s := testCtx(), loadSample(t)
	spelled := regexp.MustCompile(`^(\w+)\((.*)\)$`)
	for _, line := range castLines(t, "windows.tsv") {
		m := spelled.FindStringSubmatch(line[0])
		name, frame, want := m[1], line[1], strings.Split(line[2], "\x01")
		var argTypes []types.Type
		var args [][]types.Datum
		for _, a := range strings.Split(m[2], ",") {
			if a == "" {
				continue
			}
			if k, err := strconv.Atoi(a); err == nil {
				argTypes = append(argTypes, eval.TInt4)
				same := make([]types.Datum, s.rows)
				for i := range same {
					same[i] = types.NewInt(int64(k))
				}
				args = append(args, same)
				continue
			}
			ty := s.types[a]
			if ty.Kind == types.Int2 {
				ty = eval.TInt4
			}
			if ty.Kind == types.Bpchar {
				ty = eval.TText
			}
			argTypes = append(argTypes, ty)
			args = append(args, s.cols[a])
		}
		r, err := eval.ResolveFunction(name, argTypes, false)
		if err != nil {
			t.Errorf("%s: %v", line[0], err)
			continue
		}
		impl := eval.Declaration(r.Func).Window
		key := func(i int) string {
			k := "n"
			if b := s.cols["b"][i]; !b.IsNull() {
				k = types.Format(b, eval.TBool, nil)
			}
			k = map[string]string{"f": "0", "t": "1", "n": "2"}[k]
			if x := s.cols["t"][i]; x.IsNull() {
				k += "999"
			} else {
				k += strconv.Itoa(100 + utf8.RuneCountInString(x.Str()))
			}
			unique := !strings.Contains("rank dense_rank percent_rank cume_dist", name)
			if unique {
				k += strconv.Itoa(10000 + i)
			}
			return k
		}
		for g := int64(0); g < 6; g++ {
			var rows []int
			for i, d := range s.cols["g"] {
				if d.Int() == g {
					rows = append(rows, i)
				}
			}
			sort.SliceStable(rows, func(x, y int) bool { return key(rows[x]) < key(rows[y]) })
			p := &testPartition{frame: frame}
			vs := make([]*vec.Vector, len(args))
			for j := range args {
				b := vec.NewAppender(argTypes[j])
				for _, i := range rows {
					b.AppendDatum(args[j][i])
				}
				vs[j] = b.Vector()
			}
			for _, i := range rows {
				p.keys = append(p.keys, key(i))
			}
			out := &vec.Vector{Type: r.Ret}
			if err := impl.Eval(c, p, vs, out); err != nil {
				t.Errorf("%s: %v", line[0], err)
				continue
			}
			for k, i := range rows {
				got := "NULL"
				if d := out.Datum(k); !d.IsNull() {
					got = types.Format(d, r.Ret, eval.SessionText(c))
				}
				if got != want[i] {
					t.Errorf("%s over (%s), row %d: %q, want %q", line[0], frame, i, got, want[i])
					break
				}
			}
		}
	}
}

func TestWindowArguments(t *testing.T) {
	p := &testPartition{keys: []string{"a"}}
	for _, x := range []struct{ name, want string }{
		{"ntile", "argument of ntile must be greater than zero"},
		{"nth_value", "argument of nth_value must be greater than zero"},
	} {
		types1 := []types.Type{eval.TInt4}
		zero := vec.ConstOf(eval.TInt4, types.NewInt(0))
		args := []*vec.Vector{zero}
		if x.name == "nth_value" {
			types1, args = append(types1, eval.TInt4), append(args, zero)
		}
		r, err := eval.ResolveFunction(x.name, types1, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := eval.Declaration(r.Func).Window.Eval(nil, p, args, &vec.Vector{Type: r.Ret}); err == nil || err.Error() != x.want {
			t.Errorf("%s(0): %v", x.name, err)
		}
	}
}
