package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// statement is something heavy to ask for.
type statement struct {
	what, sql string
	ordered   bool     // the answer's order is part of it
	set       []string // settings before it
	codes     []string // errors that are as good as the answer: what cannot spill must say so
	endless   bool     // it needs more than any machine has: there is no answer to compare with
	run       func(context.Context, *server, *pgx.Conn) outcome
}

const outOfMemory, tooLarge = "53200", "54000"

func repeated(n int, f func(i int) string, by string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = f(i)
	}
	return strings.Join(list, by)
}

// tables are statements over TPC-H's tables. Those without codes must answer.
var tables = []statement{
	{what: "sort of lineitem, all columns", ordered: true,
		sql: "select * from lineitem order by l_comment, l_orderkey, l_linenumber"},
	{what: "sort of lineitem, text keys", ordered: true,
		sql: "select l_orderkey, l_linenumber from lineitem order by l_shipinstruct, l_comment, l_orderkey, l_linenumber"},
	{what: "self-join of lineitem",
		sql: "select count(*), sum(a.l_quantity), max(b.l_comment) from lineitem a join lineitem b on a.l_orderkey = b.l_orderkey"},
	{what: "self-join of lineitem by text",
		sql: "select count(*), min(a.l_orderkey), max(b.l_comment) from lineitem a join lineitem b on a.l_comment = b.l_comment and a.l_orderkey = b.l_orderkey"},
	{what: "left join, rows out",
		sql: "select a.l_orderkey, a.l_comment, o_comment from lineitem a left join orders on o_orderkey = l_orderkey and o_comment < l_comment"},
	{what: "count distinct of comments", sql: "select count(distinct l_comment) from lineitem"},
	{what: "count distinct per group",
		sql: "select l_returnflag, l_shipmode, count(distinct l_comment), count(distinct l_orderkey) from lineitem group by 1, 2"},
	{what: "distinct comments", sql: "select distinct l_comment from lineitem"},
	{what: "group by comment", sql: "select l_comment, count(*), sum(l_extendedprice), avg(l_discount) from lineitem group by l_comment"},
	{what: "group by three keys", sql: "select l_orderkey, l_partkey, l_suppkey, count(*), max(l_comment) from lineitem group by 1, 2, 3"},
	{what: "window, large partitions",
		sql:   "select l_orderkey, l_linenumber, sum(l_quantity) over (partition by l_shipmode order by l_orderkey, l_linenumber) from lineitem",
		codes: []string{outOfMemory}},
	{what: "window, one partition",
		sql:   "select l_orderkey, l_linenumber, rank() over (order by l_comment), sum(l_quantity) over () from lineitem",
		codes: []string{outOfMemory}},
	{what: "window, small partitions", sql: "select l_orderkey, l_comment, row_number() over (partition by l_orderkey order by l_linenumber) from lineitem"},
	{what: "array_agg of comments", sql: "select cardinality(array_agg(l_comment)) from lineitem", codes: []string{outOfMemory, tooLarge}},
	{what: "array_agg in order", sql: "select cardinality(array_agg(l_comment order by l_comment)) from lineitem", codes: []string{outOfMemory, tooLarge}},
	{what: "array_agg per order", sql: "select l_orderkey, array_agg(l_comment order by l_linenumber) from lineitem group by l_orderkey"},
	{what: "string_agg of comments", sql: "select length(string_agg(l_comment, ',')) from lineitem", codes: []string{outOfMemory, tooLarge}},
	{what: "jsonb_agg of rows", endless: true, sql: "select length(jsonb_agg(l)::text) from lineitem l", codes: []string{outOfMemory, tooLarge}},
	{what: "median per part", sql: "select l_partkey, percentile_cont(0.5) within group (order by l_extendedprice) from lineitem group by l_partkey"},
	{what: "union", sql: "select l_comment, l_partkey from lineitem union select l_comment, l_suppkey from lineitem"},
	{what: "except all", sql: "select l_orderkey, l_comment from lineitem except all select l_orderkey, l_comment from lineitem where l_linenumber > 2"},
	{what: "rollup", sql: "select l_orderkey, l_partkey, l_shipmode, count(*) from lineitem group by rollup (l_orderkey, l_partkey, l_shipmode)"},
	{what: "CTE read twice", sql: "with t as materialized (select * from lineitem) select count(*), sum(a.l_quantity) from t a join t b using (l_orderkey, l_linenumber)"},
	{what: "not in", sql: "select count(*) from lineitem where l_comment not in (select o_comment from orders)"},
	{what: "three joins", sql: "select c_name, o_comment, l_comment, p_name from customer, orders, lineitem, part where c_custkey = o_custkey and o_orderkey = l_orderkey and p_partkey = l_partkey and l_quantity < 10"},
	{what: "limit of many", ordered: true, sql: "select l_comment, l_orderkey, l_linenumber from lineitem order by 1, 2, 3 limit 1000000 offset 1000000"},
	{what: "nested loop", sql: "select count(*) from (select * from lineitem where l_quantity = 1) a left join supplier on l_suppkey + 0 < s_suppkey and l_suppkey + 20 > s_suppkey"},
}

// tableless are statements that need no table.
var tableless = []statement{
	{what: "a literal of 50 MB", sql: "select length('" + strings.Repeat("x", 50<<20) + "')", codes: []string{outOfMemory, tooLarge}},
	{what: "values of 20 MB", sql: "select count(*) from (values " + repeated(400000, func(i int) string { return fmt.Sprintf("(%d,'some text of value %[1]d')", i) }, ",") + ") x", codes: []string{outOfMemory, tooLarge}},
	{what: "a long list", sql: "select 1 where 1 in (" + repeated(1000000, func(i int) string { return fmt.Sprint(i + 2) }, ",") + ")", codes: []string{outOfMemory, tooLarge}},
	{what: "many statements", sql: repeated(200000, func(i int) string { return "select 1" }, ";"), codes: []string{outOfMemory, tooLarge}},
	{what: "cube of 12 columns", sql: "select count(*) from (select " + repeated(12, func(i int) string { return fmt.Sprintf("count(*) over () * 0 + g %% %d c%d", i+2, i) }, ",") +
		" from generate_series(1, 2000) g) x group by cube (" + repeated(12, func(i int) string { return fmt.Sprintf("c%d", i) }, ",") + ")", codes: []string{outOfMemory}},
	{what: "cube of 12 columns, distinct", sql: "select count(distinct c0), sum(c1) from (select " + repeated(12, func(i int) string { return fmt.Sprintf("g %% %d c%d", i+2, i) }, ",") +
		" from generate_series(1, 3000) g) x group by cube (" + repeated(12, func(i int) string { return fmt.Sprintf("c%d", i) }, ",") + ")", codes: []string{outOfMemory}},
	{what: "arrays doubled in recursion", endless: true, sql: "with recursive t(a, n) as (select array[1], 1 union all select a || a, n + 1 from t where n < 40) select max(cardinality(a)) from t", codes: []string{outOfMemory, tooLarge}},
	{what: "text doubled in recursion", endless: true, sql: "with recursive t(s, n) as (select 'x', 1 union all select s || s, n + 1 from t where n < 40) select max(length(s)) from t", codes: []string{outOfMemory, tooLarge}},
	{what: "recursion of many rows", sql: "with recursive t(a, n) as (select g, 1 from generate_series(1, 100000) g union all select a, n + 1 from t where n < 60) select count(*), sum(a) from t"},
	{what: "recursion of distinct rows", codes: []string{outOfMemory}, sql: "with recursive t(a, n) as (select g, 1 from generate_series(1, 50000) g union select a + 1, n + 1 from t where n < 20) select count(*), sum(a) from t"},
	{what: "long values from a function", sql: "select sum(length(v)) from regexp_split_to_table(repeat(repeat('x', 1000) || ' ', 50000), ' ') v", codes: []string{outOfMemory, tooLarge}},
	{what: "functions in lock step", sql: "select count(*) from rows from (generate_series(1, 5000000), generate_series(1, 5000000)) x(a, b)", codes: []string{outOfMemory}},
	{what: "unnest of long values", sql: "select sum(length(v)) from unnest(array_fill(repeat('x', 1000000), array[60])) v", codes: []string{outOfMemory, tooLarge}},
	{what: "sets in the select list", sql: "select count(*) from (select generate_series(1, 5000000), repeat('x', 10000)) x"},
	{what: "array_agg of numbers", sql: "select cardinality(array_agg(g)) from generate_series(1, 50000000) g", codes: []string{outOfMemory, tooLarge}},
	{what: "array_agg of arrays", endless: true, sql: "select cardinality(array_agg(array_fill(1, array[100000]))) from generate_series(1, 10000)", codes: []string{outOfMemory, tooLarge}},
	{what: "string_agg of long values", endless: true, sql: "select length(string_agg(repeat('x', 1000000), '')) from generate_series(1, 2000)", codes: []string{outOfMemory, tooLarge}},
	{what: "string_agg per group", sql: "select g % 10, length(string_agg(repeat('x', 10000), '')) from generate_series(1, 20000) g group by 1", codes: []string{outOfMemory, tooLarge}},
	{what: "wide rows sorted", ordered: true, sql: "select g, length(t) from (select g, repeat(md5(g::text), 1000) t from generate_series(1, 30000) g) x order by t"},
	{what: "wide rows joined", sql: "select count(*), sum(length(a.t) + length(b.t)) from (select g, repeat(md5(g::text), 500) t from generate_series(1, 20000) g) a join (select g, repeat(md5(g::text), 500) t from generate_series(1, 20000) g) b using (g)"},
	{what: "wide keys grouped", sql: "select count(*) from (select repeat(md5(g::text), 500) t from generate_series(1, 30000) g group by 1) x"},
	{what: "wide values, max", sql: "select g % 1000, length(max(repeat(md5(g::text), 2000))) from generate_series(1, 20000) g group by 1"},
	{what: "wide rows in windows", sql: "select count(*), sum(length(l)) from (select lag(t) over (partition by g % 2000 order by g) l from (select g, repeat(md5(g::text), 500) t from generate_series(1, 20000) g) x) y"},
	{what: "large results", sql: "select repeat(md5(g::text), 30000) from generate_series(1, 300) g"},
	{what: "values larger than a batch may be", endless: true, sql: "select length(repeat('x', 10000000) || g) from generate_series(1, 1000) g", codes: []string{outOfMemory}},
	{what: "json of one value", endless: true, sql: "select length(jsonb_agg(repeat('x', 1000))::text) from generate_series(1, 1000000)", codes: []string{outOfMemory, tooLarge}},
	{what: "json text parsed", sql: "select jsonb_array_length(('[' || repeat('{\"a\":[1,2,3]},', 2000000) || '1]')::jsonb)", codes: []string{outOfMemory, tooLarge}},
	{what: "a large numeric series", sql: "select count(*), sum(v) from (select g::numeric ^ 20 v from generate_series(1, 300000) g) x"},
}
