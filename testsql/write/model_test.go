package write

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strconv"
	"strings"
)

// The model is a table as rows in memory, with three-valued conditions: what the engine's tables
// are compared with.

// column is a column of the model. Values are their text forms, nil for NULL.
type column struct {
	name string
	kind string // int, bigint, text, numeric(9,2)
	id   int    // whatever it is called
}

// row is a row; key tells rows apart and is never changed by an UPDATE.
type row struct {
	key  int64
	vals []*string // by column
}

type table struct {
	cols []column
	rows []row
}

func (t *table) clone() *table {
	c := &table{cols: append([]column(nil), t.cols...)}
	for _, r := range t.rows {
		c.rows = append(c.rows, row{r.key, append([]*string(nil), r.vals...)})
	}
	return c
}

// text is the table's content in a canonical order.
func (t *table) text() string {
	lines := make([]string, len(t.rows))
	for i, r := range t.rows {
		cells := []string{strconv.FormatInt(r.key, 10)}
		for _, v := range r.vals {
			cells = append(cells, show(v))
		}
		lines[i] = strings.Join(cells, "|")
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func show(v *string) string {
	if v == nil {
		return "NULL"
	}
	return *v
}

// selectList names all columns in the model's order.
func (t *table) selectList() string {
	s := "k"
	for _, c := range t.cols {
		s += ", " + c.name
	}
	return s
}

// truth is SQL's: no, unknown, yes.
type truth int8

const (
	no truth = iota
	unknown
	yes
)

// pred is a condition in SQL and in the model.
type pred struct {
	sql  string // {x} stands for the qualifier of columns
	test func(*table, row) truth
}

func always() pred { return pred{"true", func(*table, row) truth { return yes }} }

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// randomPred makes a condition over t's columns.
func randomPred(r *rand.Rand, t *table, depth int) pred {
	if depth > 0 {
		switch r.IntN(4) {
		case 0:
			p := randomPred(r, t, depth-1)
			return pred{"NOT (" + p.sql + ")", func(t *table, x row) truth { return yes - p.test(t, x) }}
		case 1:
			p, q := randomPred(r, t, depth-1), randomPred(r, t, depth-1)
			return pred{"(" + p.sql + " AND " + q.sql + ")", func(t *table, x row) truth { return min(p.test(t, x), q.test(t, x)) }}
		case 2:
			p, q := randomPred(r, t, depth-1), randomPred(r, t, depth-1)
			return pred{"(" + p.sql + " OR " + q.sql + ")", func(t *table, x row) truth { return max(p.test(t, x), q.test(t, x)) }}
		}
	}
	if len(t.cols) == 0 || r.IntN(5) == 0 {
		m, k := int64(2+r.IntN(5)), int64(r.IntN(4))
		if r.IntN(2) == 0 {
			k = r.Int64N(100)
			return pred{fmt.Sprintf("{x}k < %d", k), func(_ *table, x row) truth { return truthOf(x.key < k) }}
		}
		return pred{fmt.Sprintf("{x}k %% %d = %d", m, k), func(_ *table, x row) truth { return truthOf(x.key%m == k) }}
	}
	i := r.IntN(len(t.cols))
	c := t.cols[i]
	if r.IntN(4) == 0 {
		return pred{"{x}" + c.name + " IS NULL", func(_ *table, x row) truth { return truthOf(x.vals[i] == nil) }}
	}
	v := randomValue(r, c.kind)
	if v == nil {
		return pred{"{x}" + c.name + " = NULL", func(*table, row) truth { return unknown }}
	}
	op := []string{"=", "<", ">=", "<>"}[r.IntN(4)]
	return pred{fmt.Sprintf("{x}%s %s %s", c.name, op, literal(v, c.kind)), func(_ *table, x row) truth {
		if x.vals[i] == nil {
			return unknown
		}
		o := compare(*x.vals[i], *v, c.kind)
		switch op {
		case "=":
			return truthOf(o == 0)
		case "<":
			return truthOf(o < 0)
		case ">=":
			return truthOf(o >= 0)
		}
		return truthOf(o != 0)
	}}
}

func (p pred) in(qualifier string) string { return strings.ReplaceAll(p.sql, "{x}", qualifier) }

func compare(a, b, kind string) int {
	if kind == "text" {
		return strings.Compare(a, b)
	}
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func randomValue(r *rand.Rand, kind string) *string {
	if r.IntN(6) == 0 {
		return nil
	}
	var s string
	switch kind {
	case "int":
		s = strconv.Itoa(r.IntN(40) - 10)
	case "bigint":
		s = strconv.FormatInt(r.Int64N(40)-10, 10)
		if r.IntN(10) == 0 {
			s = strconv.FormatInt(r.Int64()-1<<62, 10)
		}
	case "text":
		s = []string{"", "a", "b", "abc", "abd", "ä", "it's", strings.Repeat("long", 8), strings.Repeat("long", 8) + "er"}[r.IntN(9)]
	default:
		n := r.IntN(4000) - 1000
		s = fmt.Sprintf("%d.%02d", n/100, max(n%100, -(n%100)))
		if n < 0 && n/100 == 0 {
			s = "-" + s
		}
	}
	return &s
}

func literal(v *string, kind string) string {
	switch {
	case v == nil:
		return "NULL::" + kind // in VALUES of NULLs alone the type would be text
	case kind == "text":
		return "'" + strings.ReplaceAll(*v, "'", "''") + "'"
	case kind == "bigint" && len(*v) > 10:
		return "'" + *v + "'::bigint"
	}
	return *v
}
