package interop

import (
	"flag"
	"fmt"
	"math/rand"
	"sort"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/testseed"
)

var pruneTables = flag.Int("prune-tables", 150, "how many tables TestPruningNeverChangesAnAnswer makes")

// pruneType is a type with values at its edges, how tables are partitioned by it, and
// expressions of a column of it whose values prune, with literals to compare with.
type pruneType struct {
	name   string
	values []string
	parts  []string
	exprs  []pruneExpr
}

type pruneExpr struct {
	text   string // $ stands for the column
	values []string
}

var pruneTypes = []pruneType{
	{"int", []string{"0", "1", "-1", "7", "100", "-100", "2147483647", "-2147483640"}, []string{"$", "bucket(4, $)", "truncate(10, $)"},
		[]pruneExpr{{"$ + 1", []string{"0", "1", "8", "101"}}, {"$::bigint * 2", []string{"0", "14", "-200"}}, {"$::numeric", []string{"0.5", "7", "-100.0"}}, {"$::float8", []string{"'NaN'", "0.5", "7"}}, {"-$::bigint", []string{"1", "-7"}}, {"$ % 10", []string{"0", "7", "-8"}}}},
	{"bigint", []string{"0", "1", "-1", "42", "9007199254740993", "9223372036854775807", "-9223372036854775807"}, []string{"$", "bucket(4, $)", "truncate(7, $)"},
		[]pruneExpr{{"$::float8", []string{"9007199254740992", "0", "9.3e18"}}, {"$::numeric", []string{"0.5", "9223372036854775808"}}, {"$ / 2", []string{"0", "21"}}}},
	{"real", []string{"0", "'-0'", "1.5", "-1.5", "'NaN'", "'Infinity'", "'-Infinity'", "1e-45", "3.4e38", "16777216"}, []string{"$"},
		[]pruneExpr{{"$::float8", []string{"0.1", "'NaN'", "'-0'"}}, {"-$", []string{"'NaN'", "0", "1.5"}}, {"abs($)", []string{"0", "1.5"}}}},
	{"double precision", []string{"0", "'-0'", "1.5", "-1.5", "'NaN'", "'Infinity'", "'-Infinity'", "5e-324", "1e308"}, []string{"$"},
		[]pruneExpr{{"$::real::float8", []string{"0", "'NaN'"}}, {"-$", []string{"'NaN'", "0"}}, {"coalesce($, 'NaN')", []string{"'NaN'", "0"}}}},
	{"numeric(9,2)", []string{"0", "0.01", "-0.01", "1234567.89", "-1234567.89", "10.00"}, []string{"$", "bucket(4, $)", "truncate(100, $)"},
		[]pruneExpr{{"$ * 2", []string{"0.02", "20"}}, {"$::int", []string{"0", "10"}}, {"round($, 0)", []string{"0", "10"}}, {"$ + 0.005", []string{"0.005"}}}},
	{"numeric(38,3)", []string{"0", "99999999999999999999999999999999999.999", "-99999999999999999999999999999999999.999", "12345678901234567890.123", "-0.001"}, []string{"$", "bucket(4, $)"},
		[]pruneExpr{{"$ - 1", []string{"-1", "-1.001"}}, {"$::float8", []string{"0", "1e34"}}}},
	{"text", []string{"''", "'a'", "'ab'", "'abc'", "'B'", "'z'", "'ä'", "'日本'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac'", "'\U0010ffff'", "'a_%'"}, []string{"$", "bucket(4, $)", "truncate(2, $)"},
		[]pruneExpr{{"left($, 1)", []string{"'a'", "''", "'ä'"}}, {"substring($ from 1 for 2)", []string{"'ab'"}}, {"lower($)", []string{"'b'"}}, {"$ || 'x'", []string{"'ax'"}}}},
	{"boolean", []string{"true", "false"}, []string{"$"}, []pruneExpr{{"NOT $", []string{"true"}}, {"$::int", []string{"0", "1"}}}},
	{"bytea", []string{`'\x'`, `'\x00'`, `'\xff'`, `'\x0102'`, `'\x01ff'`}, []string{"$", "bucket(4, $)", "truncate(1, $)"}, []pruneExpr{{"length($)", []string{"0", "2"}}}},
	{"uuid", []string{"'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'", "'80000000-0000-0000-0000-000000000001'", "'7fffffff-0000-0000-0000-000000000001'"}, []string{"$", "bucket(4, $)"}, nil},
	{"date", []string{"'1970-01-01'", "'1969-12-31'", "'1969-01-01'", "'1900-02-28'", "'0001-01-01'", "'2024-02-29'", "'2024-12-31'", "'9999-12-31'", "'2024-03-10'"}, []string{"$", "year($)", "month($)", "day($)", "bucket(4, $)"},
		[]pruneExpr{{"date_trunc('month', $)", []string{"'1969-12-01'", "'2024-02-01'", "'2024-02-02'"}}, {"date_trunc('year', $)::date", []string{"'1969-01-01'", "'2024-01-01'"}}, {"extract(year from $)", []string{"1969", "2024", "2024.5"}}, {"extract(month from $)", []string{"12", "2"}}, {"$::timestamp", []string{"'1969-12-31 12:00'", "'2024-02-29'"}}, {"$::timestamptz", []string{"'1969-12-31 05:00Z'", "'2024-03-10 05:00Z'"}}, {"$ + 1", []string{"'1970-01-01'", "'2024-03-01'"}}, {"$ - date '1970-01-01'", []string{"-1", "0"}}, {"to_char($, 'YYYY-MM')", []string{"'2024-02'"}}}},
	{"time", []string{"'00:00'", "'23:59:59.999999'", "'12:00'", "'12:00:00.000001'"}, []string{"$"}, []pruneExpr{{"extract(hour from $)", []string{"12", "0"}}}},
	{"timestamp", []string{"'1970-01-01'", "'1969-12-31 23:59:59.999999'", "'1969-12-31 23:00'", "'1900-01-01 00:00:00.5'", "'0001-01-01'", "'2024-02-29 12:34:56.789'", "'2024-03-10 02:30'", "'2024-12-31 23:59:59.999999'"}, []string{"$", "year($)", "month($)", "day($)", "hour($)", "bucket(4, $)"},
		[]pruneExpr{{"$::date", []string{"'1969-12-31'", "'2024-02-29'", "'1900-01-01'"}}, {"date_trunc('day', $)", []string{"'1969-12-31'", "'2024-02-29'"}}, {"date_trunc('hour', $)", []string{"'1969-12-31 23:00'"}}, {"date_trunc('month', $)", []string{"'1969-12-01'", "'2024-12-01'"}}, {"extract(year from $)", []string{"1969", "2024"}}, {"extract(epoch from $)", []string{"0", "-0.000001"}}, {"$::timestamptz", []string{"'2024-03-10 07:30Z'", "'1969-12-31 23:59:59.999999Z'"}}, {"$ + interval '1 month'", []string{"'1970-01-31'", "'2024-03-29 12:34:56.789'"}}, {"$ at time zone 'Asia/Kolkata'", []string{"'1969-12-31 18:30Z'"}}}},
	{"timestamptz", []string{"'1970-01-01 00:00Z'", "'1969-12-31 23:59:59.999999Z'", "'1969-12-31 19:00Z'", "'1900-01-01 00:00Z'", "'2024-02-29 12:34:56.789Z'", "'2024-03-10 07:30Z'", "'2024-11-03 05:30Z'", "'2024-12-31 23:59:59.999999Z'", "'2025-01-01 04:59Z'"}, []string{"$", "year($)", "month($)", "day($)", "hour($)", "bucket(4, $)"},
		[]pruneExpr{{"$::date", []string{"'1969-12-31'", "'2024-12-31'", "'2024-03-10'"}}, {"date_trunc('day', $)", []string{"'1969-12-31'", "'2024-12-31'"}}, {"date_trunc('month', $, 'Asia/Tokyo')", []string{"'2024-12-31 15:00Z'"}}, {"date_trunc('year', $)", []string{"'2024-01-01'"}}, {"extract(year from $)", []string{"1969", "2024", "2025"}}, {"extract(hour from $)", []string{"0", "19"}}, {"$::timestamp", []string{"'1970-01-01'", "'2024-03-10 03:30'"}}, {"$ at time zone 'America/New_York'", []string{"'2024-03-10 03:30'", "'1969-12-31 19:00'"}}, {"$ + interval '1 day'", []string{"'2024-03-11 07:30Z'"}}, {"$::text", []string{"'2024'", "'1970-01-01 00:00:00+00'"}}}},
}

// TestPruningNeverChangesAnAnswer makes random tables, asks with random predicates with pruning
// and without, and wants the same rows. A failure prints its seed and a script.
func TestPruningNeverChangesAnAnswer(t *testing.T) {
	seed := int64(testseed.Of(t) % 1e9)
	eng := openEngine(t, t.TempDir())
	if _, err := query(openSession(t, eng, "lake"), "CREATE SCHEMA public"); err != nil {
		t.Fatal(err)
	}
	tables, asked, pruned := 0, 0, 0
	for ; tables < *pruneTables && !t.Failed(); seed++ {
		c := &pruneCase{t: t, s: openSession(t, eng, "lake"), r: rand.New(rand.NewSource(seed)), seed: seed}
		c.typ = pruneTypes[int(seed)%len(pruneTypes)]
		c.make()
		for range 40 {
			c.ask()
		}
		tables, asked, pruned = tables+1, asked+c.asked, pruned+c.pruned
		c.run("DROP TABLE p")
	}
	t.Logf("%d tables, %d predicates up to seed %d; %d left some rows out", tables, asked, seed-1, pruned)
}

type pruneCase struct {
	t             *testing.T
	s             *engine.Session
	r             *rand.Rand
	seed          int64
	typ           pruneType
	script        []string
	asked, pruned int
}

func (c *pruneCase) run(sql string) {
	c.t.Helper()
	c.script = append(c.script, sql)
	if _, err := query(c.s, sql); err != nil {
		c.t.Fatalf("seed %d: %v\n%s;", c.seed, err, strings.Join(c.script, ";\n"))
	}
}

func (c *pruneCase) pick(list []string) string { return list[c.r.Intn(len(list))] }

// partition is a partition field of the table, "" for none.
func (c *pruneCase) partition() string {
	p := c.pick(c.typ.parts)
	if c.r.Intn(4) == 0 {
		return ""
	}
	return strings.ReplaceAll(p, "$", "x")
}

// make creates and fills the table p, of several files, specs and deletes.
func (c *pruneCase) make() {
	create := "CREATE TABLE p (id int, x " + c.typ.name + ", y " + c.typ.name + ")"
	first := c.partition()
	if first != "" {
		create += " PARTITIONED BY (" + first + ")"
	}
	c.run(create)
	id := 0
	for n := 2 + c.r.Intn(4); n > 0; n-- {
		var rows []string
		few := c.typ.values[c.r.Intn(len(c.typ.values)):]
		if c.r.Intn(2) == 0 {
			few = c.typ.values
		}
		for k := 1 + c.r.Intn(6); k > 0; k-- {
			id++
			rows = append(rows, fmt.Sprintf("(%d, %s, %s)", id, c.value(few), c.value(c.typ.values)))
		}
		c.run("INSERT INTO p VALUES " + strings.Join(rows, ", "))
		switch c.r.Intn(6) {
		case 0:
			c.run(fmt.Sprintf("DELETE FROM p WHERE id = %d", 1+c.r.Intn(id)))
		case 1:
			if p := c.partition(); p != "" && p != first && first == "" {
				c.run("ALTER TABLE p ADD PARTITION FIELD " + p)
				first = p
			} else if first != "" {
				c.run("ALTER TABLE p DROP PARTITION FIELD " + first)
				first = ""
			}
		case 2:
			c.run(fmt.Sprintf("UPDATE p SET x = %s WHERE id = %d", c.value(c.typ.values), 1+c.r.Intn(id)))
		}
	}
	c.set("TimeZone", c.pick([]string{"UTC", "America/New_York", "Asia/Kolkata", "Pacific/Apia"}))
}

func (c *pruneCase) set(name, value string) {
	c.script = append(c.script, "SET "+name+" = "+quote(value))
	set(c.t, c.s, name, value)
}

// value is a literal of the type, sometimes NULL.
func (c *pruneCase) value(list []string) string {
	if c.r.Intn(6) == 0 {
		return "NULL"
	}
	return "(" + c.pick(list) + ")::" + c.typ.name
}

// pred is a random predicate.
func (c *pruneCase) pred(depth int) string {
	if depth > 0 {
		switch c.r.Intn(6) {
		case 0:
			return "(" + c.pred(depth-1) + " AND " + c.pred(depth-1) + ")"
		case 1:
			return "(" + c.pred(depth-1) + " OR " + c.pred(depth-1) + ")"
		case 2:
			return "NOT (" + c.pred(depth-1) + ")"
		}
	}
	col := c.pick([]string{"x", "x", "y"})
	e, values, cast := col, c.typ.values, "::"+c.typ.name
	if n := len(c.typ.exprs); n > 0 && c.r.Intn(2) == 0 {
		x := c.typ.exprs[c.r.Intn(n)]
		e, values, cast = "("+strings.ReplaceAll(x.text, "$", col)+")", x.values, ""
	}
	v := func() string {
		if c.r.Intn(12) == 0 {
			return "NULL"
		}
		if c.r.Intn(3) > 0 {
			return c.pick(values)
		}
		return "(" + c.pick(values) + ")" + cast
	}
	switch c.r.Intn(10) {
	case 0:
		return e + " IS NULL"
	case 1:
		return e + " IS NOT NULL"
	case 2:
		return e + c.pick([]string{" IN (", " NOT IN ("}) + v() + ", " + v() + ")"
	case 3:
		return e + " BETWEEN " + v() + " AND " + v()
	case 4:
		return e + " IS " + c.pick([]string{"", "NOT "}) + "DISTINCT FROM " + v()
	case 5:
		if e == col && cast != "" && c.typ.name == "text" {
			return e + c.pick([]string{" LIKE ", " NOT LIKE "}) + c.pick([]string{"'a%'", "'ab%'", "'ä%'", "'a\\_%'", "'%'", "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%'", "''"})
		}
		if e == col {
			return "(x, y) " + c.pick([]string{"=", "<", ">="}) + " ((" + c.pick(values) + ")" + cast + ", (" + c.pick(values) + ")" + cast + ")"
		}
	case 6:
		return "x " + c.pick([]string{"=", "<", ">="}) + " y"
	}
	return e + " " + c.pick([]string{"=", "<>", "<", "<=", ">", ">="}) + " " + v()
}

// ask compares the answers of one predicate.
func (c *pruneCase) ask() {
	p := c.pred(2)
	what := c.pick([]string{"id, x, y", "id", "x", "count(*), min(x), max(x), count(y)", "count(*)"})
	sql := "SELECT " + what + " FROM p WHERE " + p
	if c.r.Intn(8) == 0 {
		sql = "SELECT " + what + " FROM p"
	}
	var answers [2]string
	for i, pruning := range []string{"off", "on"} {
		set(c.t, c.s, "lhsql.pruning", pruning)
		r, err := query(c.s, sql)
		if err != nil {
			answers[i] = "error: " + err.Error()
			continue
		}
		lines := r.lines()
		sort.Strings(lines)
		answers[i] = strings.Join(lines, "\n")
		if len(lines) < 4 {
			c.pruned++
		}
	}
	c.asked++
	// A row that pruning spares need not meet its error.
	if answers[0] != answers[1] && !strings.HasPrefix(answers[0], "error: ") {
		c.t.Errorf("seed %d: pruning changes an answer\n%s;\n%s;\n-- without:\n%s\n-- with:\n%s", c.seed, strings.Join(c.script, ";\n"), sql, answers[0], answers[1])
	}
	if strings.HasPrefix(answers[0], "error: ") && !strings.Contains(answers[0], "out of range") && !strings.Contains(answers[0], "does not exist") {
		c.t.Logf("seed %d: %s\n%s", c.seed, sql, answers[0])
	}
}
