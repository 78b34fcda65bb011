package pgdiff

import (
	"fmt"
	"math/rand"
	"strings"
)

// A generator makes statements of one kind from a seed; the same seed makes the same statements.
// Most kinds make one query; some a series, which begins by making what it needs.
type generator func(g *gen) []string

// kinds are what the comparison reaches, each with its share.
var kinds = []struct {
	name  string
	share int
	make  generator
}{
	{"unlike types", 40, unlikeTypes},
	{"guards", 25, guards},
	{"zones", 15, zones},
	{"grouping sets", 15, groupingSets},
	{"queries anywhere", 25, queriesAnywhere},
	{"views", 5, views},
	{"patterns", 10, patterns},
}

// fixture is read by all kinds but views. Its numbers have zeros, NULLs and several scales.
var fixture = []string{
	"create schema d",
	"create table d.t (id int, i int, b bigint, n numeric(8,2), m numeric(12,4), f float8, s text, z timestamptz, dt date, l timestamp)",
	`insert into d.t values
		(1, 0, 0, 0.00, 0.0000, 0, '0', '2011-07-01 12:00Z', '2011-07-01', '2011-07-01 12:00'),
		(2, 1, 10000000000, 1.50, 1.5000, 1.5, '12', '1969-12-31 23:59:59.5Z', '1969-12-31', '1969-12-31 23:59:59.5'),
		(3, -2, 7, 2.25, -2.2500, -2.25, 'x', '2024-03-10 07:30Z', '2024-03-10', '2024-03-10 02:30'),
		(4, null, null, null, null, null, null, null, null, null),
		(5, 3, 2, 100.00, 0.1250, 1e10, '-7', '2024-11-03 05:30Z', '2024-11-03', '2024-11-03 01:30'),
		(6, 7, -5, 1.50, 1.5000, 0.1, '', '1945-08-14 23:00Z', '1945-08-14', '1945-08-14 23:00'),
		(7, 1, 1, 10.00, 10.0000, 3, 'ab', '2038-01-19 03:14:08Z', '2038-01-19', '2038-01-19 03:14:08'),
		(8, 2, 3, -0.01, 33.3333, 2.5, '1.5', '2014-10-25 22:30Z', '2014-10-25', '2014-10-26 01:30')`,
	"create table d.u (id int, i int, n numeric(6,3), k bigint, g text)",
	"insert into d.u values (1, 1, 1.500, 1, 'a'), (2, 0, 2.250, 7, 'a'), (3, 2, 0.000, null, 'b'), (4, null, null, 2, null), (5, 7, 10.000, 0, 'b')",
}

type gen struct {
	r *rand.Rand
}

func (g *gen) pick(s ...string) string { return s[g.r.Intn(len(s))] }
func (g *gen) chance(percent int) bool { return g.r.Intn(100) < percent }
func (g *gen) n(lo, hi int) int        { return lo + g.r.Intn(hi-lo+1) }
func (g *gen) list(n int, f func() string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = f()
	}
	return strings.Join(out, ", ")
}

// ---- numbers of unlike types ----

// num is a number of some type; cols says whether columns of d.t may be read.
func (g *gen) num(depth int, cols bool) string {
	if depth == 0 || g.chance(30) {
		if cols && g.chance(60) {
			return g.pick("i", "b", "n", "m", "i", "n", "f")
		}
		return g.pick("1", "2", "0", "-3", "1.5", "2.25", "0.125", "10.00", "1.50", "3::smallint", "7::bigint", "2.5::numeric(6,3)",
			"1::numeric(10,2)", "0.5::float8", "null::int", "null::numeric", "100000", "7", "2.0")
	}
	e := func() string { return g.num(depth-1, cols) }
	switch g.n(0, 13) {
	case 0:
		return "coalesce(" + g.list(g.n(2, 3), e) + ")"
	case 1, 2:
		return fmt.Sprintf("nullif(%s, %s)", e(), e())
	case 3:
		return g.pick("greatest", "least") + "(" + g.list(g.n(2, 3), e) + ")"
	case 4, 5:
		return fmt.Sprintf("case when %s then %s else %s end", g.numTest(depth-1, cols), e(), e())
	case 6:
		return fmt.Sprintf("case %s when %s then %s when %s then %s end", e(), e(), e(), e(), e())
	case 7:
		return fmt.Sprintf("(%s)[%d]", g.numArray(depth-1, cols), g.n(1, 3))
	case 8:
		return fmt.Sprintf("(%s %s %s)", e(), g.pick("+", "-"), e())
	case 9:
		return fmt.Sprintf("(%s / 2)", e())
	case 10:
		return fmt.Sprintf("(select %s(x) from (values (%s), (%s)) q(x))", g.pick("max", "min", "sum"), g.num(0, false), g.num(0, false))
	case 11:
		return fmt.Sprintf("(select x from (select %s union %s select %s) q(x) order by 1 limit 1)", g.num(0, false), g.pick("", "all"), g.num(0, false))
	case 12:
		return g.pick("abs", "-", "+") + "(" + e() + ")"
	}
	return fmt.Sprintf("(%s * %s)", e(), g.num(0, false))
}

func (g *gen) numArray(depth int, cols bool) string {
	e := func() string { return g.num(max(depth-1, 0), cols) }
	if depth <= 0 || g.chance(40) {
		return "array[" + g.list(g.n(1, 3), e) + "]"
	}
	a := func() string { return g.numArray(depth-1, cols) }
	switch g.n(0, 8) {
	case 0, 1:
		return fmt.Sprintf("(%s || %s)", a(), e())
	case 2:
		return fmt.Sprintf("(%s || %s)", e(), a())
	case 3:
		return fmt.Sprintf("(%s || %s)", a(), a())
	case 4:
		return fmt.Sprintf("array_append(%s, %s)", a(), e())
	case 5:
		return fmt.Sprintf("array_remove(%s, %s)", a(), e())
	case 6:
		return fmt.Sprintf("array_replace(%s, %s, %s)", a(), e(), e())
	case 7:
		return fmt.Sprintf("coalesce(%s, %s)", a(), a())
	}
	return fmt.Sprintf("case when %s then %s else %s end", g.numTest(0, cols), a(), a())
}

func (g *gen) numTest(depth int, cols bool) string {
	e := func() string { return g.num(max(depth, 0), cols) }
	switch g.n(0, 8) {
	case 0:
		return fmt.Sprintf("%s %s (%s)", e(), g.pick("in", "not in"), g.list(g.n(1, 4), e))
	case 1:
		return fmt.Sprintf("%s between %s and %s", e(), e(), e())
	case 2:
		return fmt.Sprintf("%s is %s distinct from %s", e(), g.pick("", "not"), e())
	case 3:
		return fmt.Sprintf("%s %s %s(%s)", e(), g.pick("=", "<", ">="), g.pick("any", "all"), g.numArray(0, cols))
	case 4:
		return fmt.Sprintf("(%s, %s) %s (%s, %s)", e(), e(), g.pick("=", "<", ">="), e(), e())
	case 5:
		return fmt.Sprintf("%s in (select %s from d.u)", e(), g.pick("i", "n", "k"))
	case 6:
		return fmt.Sprintf("array_position(%s, %s) = %d", g.numArray(0, cols), e(), g.n(1, 2))
	}
	return fmt.Sprintf("%s %s %s", e(), g.pick("=", "<>", "<", "<=", ">", ">="), e())
}

func unlikeTypes(g *gen) []string {
	e := func() string { return g.num(g.n(0, 2), true) }
	c := func() string { return g.num(g.n(0, 1), false) }
	where := ""
	if g.chance(40) {
		where = " where " + g.numTest(1, true)
	}
	return []string{[]func() string{
		func() string {
			return fmt.Sprintf("select id, %s, %s, %s from d.t%s", e(), e(), g.numArray(2, true), where)
		},
		func() string {
			q := fmt.Sprintf("select %s from d.t%s", e(), where)
			for range g.n(1, 2) {
				q += fmt.Sprintf(" %s %s select %s from d.u", g.pick("union", "union", "intersect", "except"), g.pick("", "all"), g.pick("i", "n", "k", "i / 2", "nullif(n, k)"))
			}
			return q
		},
		func() string {
			rows := "(" + c() + ")"
			for range g.n(1, 4) {
				rows += ", (" + c() + ")"
			}
			return fmt.Sprintf("select %s from (values %s) v(x)%s", g.pick("x, pg_typeof(x)::text", "x / 2", "count(distinct x), min(x) + 0.0000000, max(x) + 0.0000000", "sum(x), avg(x)",
				"array_agg(x order by x, x::text)", "x, count(*)", "lag(x, 1, 0.25) over (order by x, x::text)"), rows, "") + ""
		},
		func() string {
			return fmt.Sprintf("select id, %s(%s, 1, %s) over (order by id), first_value(%s) over (order by id desc), max(%s) over (order by id rows 2 preceding) from d.t",
				g.pick("lag", "lead"), e(), e(), e(), e())
		},
		func() string {
			return fmt.Sprintf("select a.id, b.id, %s from d.t a join d.u b on a.%s = b.%s", g.pick("a.n + b.n", "coalesce(a.m, b.n)", "nullif(b.i, a.n)", "array[a.i] || b.n"),
				g.pick("i", "b", "n", "m", "f"), g.pick("i", "n", "k"))
		},
		func() string {
			return fmt.Sprintf("select %s, a.id, b.id from d.t a %s join d.u b using (%s)", g.pick("i", "n"), g.pick("", "left", "right", "full"), g.pick("i", "n"))
		},
		func() string {
			return fmt.Sprintf("select sum(x), min(x) + 0.0000000, max(x) + 0.0000000, count(x) from (select %s x from d.t%s union all select %s from d.u) q", g.num(1, true), where, g.pick("i", "n", "k"))
		},
		func() string {
			return fmt.Sprintf("select id from d.t where %s and %s", g.numTest(1, true), g.numTest(0, true))
		},
		func() string {
			return fmt.Sprintf("select %s, count(*), sum(%s) from d.t group by 1", e(), g.pick("i", "n", "m", "nullif(i, 1.5)"))
		},
		func() string {
			return fmt.Sprintf("with recursive r(k, x) as (select 1, %s union all select k + 1, x %s from r where k < 4) select * from r",
				g.pick("1.5", "1", "2.25::numeric", "1::bigint", "0.5::float8"), g.pick("+ 1", "* 2", "+ 0.25", "/ 2", ""))
		},
	}[g.n(0, 9)]()}
}

// ---- what fails, behind its guard ----

// risky is an expression that fails for some rows, and what keeps it from doing so.
func (g *gen) risky(p string) (expr, guard string) {
	q := [][2]string{
		{"10 / %si", "%si <> 0"}, {"10 / (%si - 1)", "%si <> 1"}, {"%sb / %si", "%si > 0"}, {"10.0 / %sn", "%sn <> 0"},
		{"%ss::int", "%ss ~ '^-?[0-9]+$'"}, {"sqrt(%sn)::numeric(10,3)", "%sn >= 0"}, {"ln(%sm)::numeric(10,3)", "%sm > 0"},
		{"(%sb * 1000000000)", "%sb < 1000"}, {"%sn::numeric(3,2)", "abs(%sn) < 10"}, {"%si %% (%si - 7)", "%si <> 7"},
	}[g.n(0, 9)]
	return strings.ReplaceAll(q[0], "%s", p), strings.ReplaceAll(q[1], "%s", p)
}

func guards(g *gen) []string {
	f, w := g.risky("")
	fa, wa := g.risky("a.")
	and := func(x, y string) string {
		if g.chance(50) {
			x, y = y, x
		}
		return x + " and " + y
	}
	cmp := g.pick("> 1", "= 2", "is not null", "< 100", "<> 0")
	return []string{[]func() string{
		func() string { return fmt.Sprintf("select sum(%s) filter (where %s), count(*) from d.t", f, w) },
		func() string {
			return fmt.Sprintf("select i, %s(%s%s) filter (where %s) from d.t group by i", g.pick("sum", "min", "max", "count"), g.pick("", "distinct "), f, w)
		},
		func() string {
			return fmt.Sprintf("select array_agg(%s order by %s, id) filter (where %s) from d.t", f, f, w)
		},
		func() string {
			return fmt.Sprintf("select id, sum(%s) filter (where %s) over (order by id) from d.t", f, w)
		},
		func() string { return fmt.Sprintf("select id, case when %s then %s end from d.t", w, f) },
		func() string { return fmt.Sprintf("select id from d.t where %s", and(w, f+" "+cmp)) },
		func() string { return fmt.Sprintf("select id from d.t where not (%s) or %s %s", w, f, cmp) },
		func() string { return fmt.Sprintf("select id, %s from d.t where %s", f, w) },
		func() string {
			return fmt.Sprintf("select x from (select id, %s x from d.t) q where id in (select id from d.t where %s)", f, w)
		},
		func() string {
			return fmt.Sprintf("select a.id, q.x from (select %s x, a.id from d.t a where %s) q join d.t a on a.id = q.id", fa, wa)
		},
		func() string {
			return fmt.Sprintf("select * from (select id, i, b, n, m, s from d.t where %s) q where %s %s", w, f, cmp)
		},
		func() string {
			return fmt.Sprintf("select * from (select distinct i, b, n, m, s from d.t where %s) q where %s %s", w, f, cmp)
		},
		func() string {
			return fmt.Sprintf("select * from (select i, b, n, m, s from d.t where %s union all select 2, 2, 2, 2, '2') q where %s %s", w, f, cmp)
		},
		func() string {
			return fmt.Sprintf("select * from (select i, b, n, m, s from d.t except select i, b, n, m, s from d.t where not coalesce(%s, false)) q where %s %s", w, f, cmp)
		},
		func() string {
			return fmt.Sprintf("select i, b, n, m, s, %s from d.t where %s group by i, b, n, m, s having %s", f, w, and(w, f+" "+cmp))
		},
		func() string {
			return fmt.Sprintf("select a.id, (select %s from d.u where %s limit 1) from d.t a", fa, wa)
		},
		func() string {
			return fmt.Sprintf("select a.id, l.x from d.t a, lateral (select %s x where %s) l", fa, wa)
		},
		func() string {
			return fmt.Sprintf("select a.id from d.t a where %s", and(wa, fmt.Sprintf("exists (select 1 from d.u where %s %s)", fa, cmp)))
		},
		func() string { return fmt.Sprintf("select coalesce(case when %s then %s end, 0) from d.t", w, f) },
		func() string {
			return fmt.Sprintf("select id, %s from d.t where %s order by id limit %d", f, w, g.n(0, 3))
		},
		func() string {
			return fmt.Sprintf("with c as %s (select * from d.t where %s) select id, %s from c where %s %s", g.pick("", "materialized", "not materialized"), w, f, f, cmp)
		},
		func() string { return fmt.Sprintf("select sum(%s) from d.t where %s", f, and(w, "id > 2")) },
		func() string { return fmt.Sprintf("select id, %s from d.t where id < 0", f) },
		func() string { return fmt.Sprintf("select id, lag(%s) over (order by id) from d.t where %s", f, w) },
	}[g.n(0, 23)]()}
}

// ---- zones ----

func (g *gen) zone() string {
	switch g.n(0, 5) {
	case 0:
		return g.pick("Europe/Moscow", "America/New_York", "asia/kolkata", "Australia/Lord_Howe", "UTC", "Etc/GMT+5", "Pacific/Apia", "Africa/Monrovia", "EST5EDT", "Asia/Tehran")
	case 1:
		return fmt.Sprintf("%s%d", g.pick("+", "-", "UTC+", "UTC-", "X", "<ab>"), g.n(0, 14))
	case 2:
		return fmt.Sprintf("%s%02d:%02d", g.pick("+", "-", "<+03>-"), g.n(0, 14), g.pickInt(0, 30, 45))
	case 3:
		return fmt.Sprintf("AAA%dBBB,M%d.%d.%d,M%d.%d.%d/%d", g.n(-11, 11), g.n(3, 4), g.n(1, 5), g.n(0, 6), g.n(9, 11), g.n(1, 5), g.n(0, 6), g.n(0, 3))
	case 4:
		return g.pick("msk", "est", "EDT", "JST", "cet", "nzst", "IST", "MSD", "Z", "anat", "yekt")
	}
	return g.pick("CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "AEST-10AEDT,M10.1.0,M4.1.0/3", "nowhere", "UTC5:70", "5", "5.5", "", "A,M1.1.1")
}

func (g *gen) pickInt(v ...int) int { return v[g.r.Intn(len(v))] }

func (g *gen) instant() string {
	return fmt.Sprintf("%d-%02d-%02d %02d:%02d", g.n(1900, 2060), g.n(1, 12), g.n(1, 28), g.n(0, 23), g.pickInt(0, 0, 30, 59))
}

func zones(g *gen) []string {
	set := ""
	switch g.n(0, 4) {
	case 0:
		set = fmt.Sprintf("set time zone %s", g.pick("-8", "3", "5.5", "-3.25", "0", "14.75", "200", "-0.5"))
	case 1:
		set = fmt.Sprintf("set time zone interval '%s%02d:%02d' hour to minute", g.pick("", "-", "+"), g.n(0, 14), g.pickInt(0, 30))
	default:
		set = fmt.Sprintf("set time zone '%s'", g.zone())
	}
	z := func() string { return strings.ReplaceAll(g.zone(), "'", "''") }
	q := []func() string{
		func() string {
			return "select current_setting('timezone'), z, l::timestamptz, dt::timestamptz, z::date, z::time from d.t"
		},
		func() string {
			return fmt.Sprintf("select z at time zone '%s', l at time zone '%s' from d.t", z(), z())
		},
		func() string {
			return fmt.Sprintf("select timestamptz '%s', timestamptz '%s %s', timestamp '%s' at time zone '%s'", g.instant(), g.instant(), z(), g.instant(), z())
		},
		func() string {
			return fmt.Sprintf("select make_timestamptz(%d, %d, %d, %d, 30, 0, '%s')", g.n(1900, 2060), g.n(1, 12), g.n(1, 28), g.n(0, 23), z())
		},
		func() string {
			return fmt.Sprintf("select date_trunc('%s', z, '%s'), date_trunc('%s', z) from d.t", g.pick("day", "hour", "month", "week"), z(), g.pick("day", "year"))
		},
		func() string {
			return fmt.Sprintf("select to_char(z, 'YYYY-MM-DD HH24:MI:SS TZ OF TZH:TZM'), extract(timezone from z), extract(epoch from l::timestamptz), z + interval '%s' from d.t",
				g.pick("1 day", "1 month", "36 hours", "-1 year"))
		},
		func() string {
			return fmt.Sprintf("select to_timestamp('%s%s', 'YYYY-MM-DD HH24:MI%s')", g.instant(), g.pick(" +02", " -02", "-03", "+11:30", "", " -02:30", " 05"), g.pick(" TZH", "TZH", " TZH:TZM", "-TZH", ""))
		},
		func() string {
			return fmt.Sprintf("select timezone('%s', timestamptz '%s'), timezone(interval '%d:30', timestamp '%s')", z(), g.instant(), g.n(-11, 11), g.instant())
		},
		func() string {
			return fmt.Sprintf("select timetz '12:30%s', timetz '%s 12:30 %s', timetz '12:30+00' at time zone '%s'", g.pick("+02", "-05:30", "Z"), g.instant()[:10], g.pick("Europe/Moscow", "msk", "est", "UTC+3"), g.pick("+2", "UTC-3", "JST", "<x>5:30"))
		},
		func() string {
			return "select a, b, age(a, b), a - b, (a::date - b::date) from (select z a, lag(z) over (order by id) b from d.t) q"
		},
	}[g.n(0, 9)]()
	return []string{set, q, "set time zone 'UTC'"}
}

// ---- grouping sets ----

func groupingSets(g *gen) []string {
	exprs := []string{"i", "n", "s", "i % 2", "n > 1", "coalesce(i, 0)", "id % 3"}
	k := g.n(1, 3)
	var items, keys []string
	used, sameExprs := map[string]bool{}, false
	for j := range k {
		e := exprs[g.r.Intn(len(exprs))]
		sameExprs = sameExprs || used[e]
		used[e] = true
		items = append(items, fmt.Sprintf("%s as k%d", e, j))
		switch g.n(0, 3) {
		case 0:
			keys = append(keys, fmt.Sprint(j+1))
		case 1:
			keys = append(keys, e)
		default:
			keys = append(keys, fmt.Sprintf("k%d", j))
		}
	}
	key := func() string { return keys[g.r.Intn(len(keys))] }
	var set func(depth int) string
	set = func(depth int) string {
		switch g.n(0, 5) {
		case 0:
			return fmt.Sprintf("rollup(%s)", g.list(g.n(1, 2), key))
		case 1:
			return fmt.Sprintf("cube(%s)", g.list(g.n(1, 2), key))
		case 2:
			if depth > 0 {
				return fmt.Sprintf("grouping sets (%s)", g.list(g.n(1, 3), func() string { return set(depth - 1) }))
			}
			return "()"
		case 3:
			return fmt.Sprintf("(%s, %s)", key(), key())
		}
		return key()
	}
	group := strings.Join(keys, ", ")
	switch g.n(0, 3) {
	case 0:
		group = fmt.Sprintf("%s, %s", group, set(1))
	case 1:
		group = fmt.Sprintf("%s, rollup(%s)", keys[0], strings.Join(keys, ", "))
	case 2:
		group = fmt.Sprintf("cube(%s)", strings.Join(keys, ", "))
	default:
		all := []string{"(" + strings.Join(keys, ", ") + ")"}
		for range g.n(1, 3) {
			all = append(all, set(1))
		}
		group = "grouping sets (" + strings.Join(all, ", ") + ")"
	}
	more := g.pick("count(*)", "sum(id)", "count(*), sum(n)", "max(m), count(distinct i)", "sum(n) filter (where i > 0)", "array_agg(id order by id)")
	having := g.pick("", "", "", " having count(*) > 1", " having sum(id) is not null", " having max(id) > 3")
	distinct := g.pick("", "", "distinct ")
	if sameExprs {
		distinct = "" // PostgreSQL 15 takes targets of one expression for one and loses rows
	}
	q := fmt.Sprintf("select %s%s, %s from d.t%s group by %s%s%s", distinct, strings.Join(items, ", "), more,
		g.pick("", "", " where id < 5", " where false"), g.pick("", "", "distinct "), group, having)
	if g.chance(20) {
		q = fmt.Sprintf("select * from (%s) q where %s", q, g.pick("k0 is null", "k0 is not null", "true"))
	}
	return []string{q}
}

// ---- views ----

func views(g *gen) []string {
	out := []string{"drop schema if exists v cascade", "create schema v", "create table v.g (a int, b int, c text)", "insert into v.g values (1, 2, 'x'), (3, 4, 'y')",
		"create table v.h (a int, e numeric(6,2))", "insert into v.h values (1, 1.50), (3, 2.25)"}
	names := []string{"v1", "v2", "v3"}
	from := func(k int) string {
		if k > 0 && g.chance(40) {
			return "v." + names[g.r.Intn(k)]
		}
		return g.pick("v.g", "v.g", "v.h")
	}
	query := func(k int) string {
		f := from(k)
		switch g.n(0, 6) {
		case 0, 1:
			return "select * from " + f
		case 2:
			return fmt.Sprintf("select x.*, %d as one from %s x", g.n(1, 9), f)
		case 3:
			return fmt.Sprintf("select x.a, x.* from (select * from %s) x(a1)", f)
		case 4:
			return "select * from v.g join v.h using (a)"
		case 5:
			return fmt.Sprintf("with q as (select * from %s) select a, count(*) from q group by a", f)
		}
		return fmt.Sprintf("select a from %s", f)
	}
	for k, n := range names {
		out = append(out, fmt.Sprintf("create view v.%s as %s", n, query(k)))
	}
	for range g.n(4, 9) {
		t := g.pick("v.g", "v.g", "v.h")
		c := g.pick("b", "c", "e", "f", "a")
		switch g.n(0, 6) {
		case 0, 1:
			out = append(out, fmt.Sprintf("alter table %s add column %s %s", t, g.pick("f", "b", "c", "e"), g.pick("int", "text")))
		case 2:
			out = append(out, fmt.Sprintf("alter table %s drop column %s%s", t, c, g.pick("", "", " cascade")))
		case 3:
			k := g.r.Intn(len(names))
			out = append(out, fmt.Sprintf("create or replace view v.%s as %s", names[k], query(k)))
		case 4:
			out = append(out, fmt.Sprintf("create or replace view v.v1 as select a, %s from v.g", g.pick("b", "c", "b, c", "a as x", "b::bigint as b")))
		default:
			out = append(out, "select * from v."+names[g.r.Intn(len(names))])
		}
	}
	for _, n := range names {
		out = append(out, "select * from v."+n)
	}
	return out
}

// ---- queries wherever an expression may stand ----

// query is a scalar one; with outer it may read the columns of d.t a.
func (g *gen) query(outer bool) string {
	col := g.pick("u.id", "u.i", "u.k", "u.n", "1")
	where := ""
	if outer && g.chance(60) {
		where = fmt.Sprintf(" where u.%s %s a.%s", g.pick("id", "i", "k"), g.pick("=", "<", ">="), g.pick("id", "i", "b"))
	} else if g.chance(30) {
		where = " where u.i > " + fmt.Sprint(g.n(0, 7))
	}
	switch g.n(0, 7) {
	case 0:
		return fmt.Sprintf("(select count(*) from d.u u%s)", where)
	case 1:
		return fmt.Sprintf("(select %s from d.u u%s order by u.id limit 1)", col, where)
	case 2:
		return fmt.Sprintf("(with c as (select * from d.u u%s) select max(c.i) from c, d.u)", where)
	case 3:
		return fmt.Sprintf("(select min(x) from (select %s x from d.u u%s union select 2) q)", col, where)
	case 4:
		return fmt.Sprintf("(select sum(y) from (select count(*) over (order by u.id rows %s preceding) y from d.u u%s) q)", g.pick("1", "(select 1)"), where)
	case 5:
		return fmt.Sprintf("(with recursive r(x) as (select 1 union all select x + 1 from r where x < (select count(*) from d.u u%s)) select max(x) from r)", where)
	case 6:
		return g.pick("1", "2", "(select 2)")
	}
	return fmt.Sprintf("(select max(%s) from d.u u%s)", col, where)
}

func queriesAnywhere(g *gen) []string {
	q := func() string { return g.query(true) }
	c := func() string { return "(" + g.query(false) + ")::int" }
	return []string{[]func() string{
		func() string { return fmt.Sprintf("select a.id, %s, %s from d.t a", q(), q()) },
		func() string {
			return fmt.Sprintf("select a.id from d.t a where %s %s %s", q(), g.pick("=", "<", ">=", "is distinct from"), q())
		},
		func() string {
			return fmt.Sprintf("select a.id from d.t a where (a.i, %s) %s (%s, a.b)", q(), g.pick("=", "<", ">="), q())
		},
		func() string { return fmt.Sprintf("select a.id from d.t a where %s in (a.i, %s, %s)", q(), q(), q()) },
		func() string {
			return fmt.Sprintf("select a.id from d.t a where %s between symmetric %s and %s", q(), q(), q())
		},
		func() string {
			return fmt.Sprintf("select coalesce(%s, %s), nullif(%s, %s), greatest(%s, a.i) from d.t a", q(), q(), q(), q(), q())
		},
		func() string {
			return fmt.Sprintf("select case %s when %s then %s else a.i end from d.t a", q(), q(), q())
		},
		func() string { return fmt.Sprintf("select %s, count(*) from d.t a group by 1", q()) },
		func() string {
			return fmt.Sprintf("select a.i, count(*) from d.t a group by a.i having count(*) <= %s", g.query(false))
		},
		func() string {
			return fmt.Sprintf("select sum(%s), count(*) filter (where a.i > %s) from d.t a", q(), q())
		},
		func() string {
			return fmt.Sprintf("select a.id, sum(a.n) over (partition by %s order by a.id rows between %s preceding and %s following) from d.t a", q(), c(), c())
		},
		func() string {
			return fmt.Sprintf("select a.id, sum(a.n) over (order by a.id %s between %s preceding and current row) from d.t a", g.pick("range", "groups"), c())
		},
		func() string {
			return fmt.Sprintf("select a.id, lag(%s, %s) over (order by a.id), ntile(%s) over (order by a.id) from d.t a", q(), c(), c())
		},
		func() string {
			return fmt.Sprintf("select a.id from d.t a order by %s, a.id limit %s offset %s", q(), c(), c())
		},
		func() string {
			return fmt.Sprintf("select a.id, x.y from d.t a, lateral (select u.id y from d.u u order by u.id limit %s) x", q())
		},
		func() string {
			return "select a.id, x.* from d.t a left join lateral (select sum(u.i) over (order by u.id rows coalesce(a.i, 0) * a.i preceding) from d.u u) x on true"
		},
		func() string {
			return fmt.Sprintf("select a.id, s from d.t a, generate_series(1, least(%s, 4)::int) s", q())
		},
		func() string {
			return fmt.Sprintf("select distinct on (%s) a.id, generate_series(1, 2) from d.t a order by %s, a.id", "a.i", "a.i")
		},
		func() string {
			return fmt.Sprintf("select x from (values (%s), (%s)) v(x)", g.query(false), g.query(false))
		},
		func() string {
			return fmt.Sprintf("select a.id, b.id from d.t a join d.u b on a.id = b.id and b.i < %s", q())
		},
		func() string {
			return fmt.Sprintf("select a.id, b.id from d.t a left join d.u b on a.id = b.id where coalesce(b.i, 1) < %s", q())
		},
		func() string {
			return fmt.Sprintf("select %s from d.t a union select %s from d.u", q(), g.query(false))
		},
		func() string {
			return fmt.Sprintf("select (array[%s, 5])[%s], array(select %s from d.u) from d.t a", q(), c(), g.pick("a.i", "d.u.id + a.id"))
		},
		func() string {
			return fmt.Sprintf("with recursive c as (select %s v), r(n) as (select 1 union all select n + 1 from r%s where n < %s) select * from r", g.query(false),
				g.pick(", c", ""), g.pick("3", "(select least(max(v), 4) from c)", "4"))
		},
		func() string {
			return fmt.Sprintf("select a.id, exists (select from d.u u where u.i = a.i and u.k > %s) from d.t a", g.query(false))
		},
		func() string {
			return fmt.Sprintf("select a.id from d.t a where a.i %s %s (select u.i from d.u u where u.id >= %s)", g.pick("=", "<>", "<"), g.pick("any", "all"), q())
		},
		func() string {
			return fmt.Sprintf("select grouping(a.i), a.i, count(*) from d.t a group by rollup(a.i) having coalesce(a.i, 0) < %s", g.query(false))
		},
		func() string {
			return fmt.Sprintf("select a.i, string_agg(a.s, ',' order by a.id), %s from d.t a group by a.i", g.query(false))
		},
	}[g.n(0, 27)]()}
}
