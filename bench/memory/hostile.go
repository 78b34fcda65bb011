package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// hostile are statements that make much of little: values, states and trees that grow while a
// statement is read, planned or computed, where no operator could spill. None need answer; all must
// keep to the limit, alone and beside others of their kind. They are asked after the others, or
// alone with -hostile.
var hostile = []statement{
	small("jsonb_agg of numbers", "select length(jsonb_agg(g)::text) from generate_series(1, 5000000) g"),
	small("json_agg of rows", "select length(json_agg(row(g, g))::text) from generate_series(1, 3000000) g"),
	small("jsonb_object_agg", "select length(jsonb_object_agg(g, g)::text) from generate_series(1, 2000000) g"),
	small("jsonb_agg of objects", "select length(jsonb_agg(jsonb_build_object('b', g, 'a', g))::text) from generate_series(1, 1000000) g"),
	small("array_agg as text", "select length(array_agg(g)::text) from generate_series(1, 5000000) g"),
	small("array_agg, then to_jsonb", "select length(to_jsonb(array_agg(g))::text) from generate_series(1, 4000000) g"),
	small("array_agg of text, sorted", "select cardinality(array_agg(md5(g::text) order by md5(g::text))) from generate_series(1, 2000000) g"),
	small("percentile and mode", "select percentile_cont(0.5) within group (order by g), mode() within group (order by md5(g::text)) from generate_series(1, 3000000) g"),
	small("string_agg, then its pieces", "select cardinality(string_to_array(string_agg(g::text, ','), ',')) from generate_series(1, 3000000) g"),
	small("four long texts at once", "select length(repeat('x', 60000000)) + length(repeat('y', 60000000)) + length(repeat('z', 60000000)) + length(repeat('w', 60000000))"),
	small("a text eight times itself", "select length(s || s || s || s || s || s || s || s) from (select repeat('x', 60000000) s offset 0) x"),
	small("concat of one long text", "select length(concat(s, s, s, s, s, s)) from (select repeat('x', 60000000) s offset 0) x"),
	small("format of one long text", "select length(format('%s%s%s%s %L %I', s, s, s, s, s, s)) from (select repeat('x', 40000000) s offset 0) x"),
	small("upper, reverse, quote_literal", "select length(upper(s)) + length(reverse(s)) + length(quote_literal(s)) + length(initcap(s)) from (select repeat('ä', 50000000) s offset 0) x"),
	small("lpad and rpad", "select length(lpad('x', 60000000, 'äb')) + length(rpad('x', 60000000, 'äb'))"),
	small("replace that grows", "select length(replace(repeat('x', 10000000), 'x', 'yyyyyyyyyyyyyyyy'))"),
	small("regexp_replace that grows", "select length(regexp_replace(repeat('x', 5000000), 'x', '\\&\\&\\&\\&\\&\\&\\&\\&', 'g'))"),
	small("regexp_split_to_array", "select cardinality(regexp_split_to_array(repeat('x,', 5000000), ','))"),
	small("regexp_matches", "select count(*) from regexp_matches(repeat('x', 5000000), '(x)(x)', 'g')"),
	small("string_to_array of commas", "select cardinality(string_to_array(repeat(',', 20000000), ','))"),
	small("array_to_string", "select length(array_to_string(array_fill(repeat('x', 1000), array[60000]), ','))"),
	small("array_fill of long texts", "select cardinality(array_fill(repeat('x', 1000000), array[1000]))"),
	small("array_fill of numbers", "select cardinality(array_fill(1, array[60000000]))"),
	small("array_cat", "select cardinality(a || a || a || a || a) from (select array_fill(1::bigint, array[10000000]) a offset 0) x"),
	small("array_replace and array_remove", "select cardinality(array_replace(a, 1::bigint, 2)) + cardinality(array_remove(a, 2)) from (select array_fill(1::bigint, array[8000000]) a offset 0) x"),
	small("encode, decode", "select length(encode(decode(repeat('ab', 30000000), 'hex'), 'base64')) + length(encode(convert_to(repeat('\\', 40000000), 'UTF8'), 'escape'))"),
	small("jsonb of an array text", "select jsonb_array_length(('[' || repeat('1,', 8000000) || '1]')::jsonb)"),
	small("jsonb of objects", "select length(('[' || repeat('{\"b\":1,\"a\":[]},', 2000000) || '1]')::jsonb::text)"),
	small("jsonb_pretty", "select length(jsonb_pretty(('[' || repeat('[[[1]]],', 2000000) || '1]')::jsonb))"),
	small("jsonb_array_elements", "select count(*) from jsonb_array_elements(('[' || repeat('1,', 5000000) || '1]')::jsonb)"),
	small("jsonb_set, jsonb ||, jsonb -", "select length((jsonb_set(j, '{0}', '7') || j || j)::text) + length((j - 0)::text) from (select ('[' || repeat('1,', 3000000) || '1]')::jsonb j offset 0) x"),
	small("jsonb_path_query_array", "select length(jsonb_path_query_array(('[' || repeat('1,', 3000000) || '1]')::jsonb, '$[*] ? (@ > 0)')::text)"),
	small("jsonb_path_query of everything", "select count(*) from jsonb_path_query(('[' || repeat('[1,[2]],', 500000) || '1]')::jsonb, '$.**')"),
	small("json_each of many keys", "select count(*) from json_each((select json_object_agg(g, g) from generate_series(1, 1500000) g))"),
	small("jsonb_build_array of long texts", "select length(jsonb_build_array(s, s, s, s, s, s)::text) from (select repeat('\"', 30000000) s offset 0) x"),
	small("to_json of a long text", "select length(to_json(repeat(chr(1), 30000000))::text)"),
	small("an array's text, parsed", "select cardinality(('{' || repeat('1,', 10000000) || '1}')::int[])"),
	small("an array of texts, parsed", "select cardinality(('{' || repeat('\"\",', 8000000) || '1}')::text[])"),
	small("numeric of many digits", "select sum(length((repeat('9', 60000)::numeric * (repeat('9', 60000) || '.5')::numeric + g)::text)) from generate_series(1, 100) g"),
	small("sums of many digits per group", "select count(*) from (select g, sum(('1' || repeat('0', 10000))::numeric * g) from generate_series(1, 50000) g group by g) x"),
	small("to_char of a long pattern", "select length(to_char(now(), repeat('FMDay FMMonth ', 3000000)))"),
	small("ascii text to bytea and back", "select length(convert_from(convert_to(repeat('x', 60000000), 'UTF8'), 'UTF8') || repeat('x', 60000000)::bytea::text)"),
	small("translate and overlay", "select length(translate(repeat('x', 60000000), 'x', 'ä')) + length(overlay(repeat('x', 60000000) placing repeat('y', 60000000) from 3))"),
	small("comparison of long values", "select repeat('x', 60000000) < repeat('x', 60000001), repeat('x', 60000000) in (repeat('y', 60000000), repeat('z', 60000000))"),
	small("case of long values", "select length(case when g > 1 then repeat('x', 60000000) else repeat('y', 60000000) end) from generate_series(1, 8) g"),
	small("max of long values", "select length(max(repeat('x', 10000000) || g)) from generate_series(1, 60) g group by g % 20"),
	small("first and last of long values", "select length(first_value(v) over w), length(last_value(v) over w) from (select g, repeat('x', 1000000) || g v from generate_series(1, 300) g) x window w as (order by g rows between unbounded preceding and unbounded following)"),
	small("a recursive text", "with recursive t(n, s) as (select 1, repeat('x', 1000000) union all select n + 1, s || s from t where n < 12) select sum(length(s)) from t"),
	small("an IN list of 10 MB", "select count(*) from generate_series(1, 10) g where g in ("+repeated(1_250_000, func(i int) string { return fmt.Sprint(1_000_000 + i) }, ",")+")"),
	small("an IN list of texts", "select count(*) from generate_series(1, 10) g where g::text in ("+repeated(800_000, func(i int) string { return fmt.Sprintf("'%d'", 1_000_000+i) }, ",")+")"),
	small("an array of 10 MB", "select cardinality(array["+repeated(1_250_000, func(i int) string { return fmt.Sprint(1_000_000 + i) }, ",")+"])"),
	small("a VALUES list of 10 MB", "select count(*) from (values "+repeated(1_000_000, func(i int) string { return fmt.Sprintf("(%d)", 1_000_000+i) }, ",")+") x"),
	small("a sum of 10 MB", "select "+repeated(1_250_000, func(i int) string { return fmt.Sprint(1_000_000 + i) }, "+")),
	small("a disjunction of 10 MB", "select count(*) from generate_series(1, 10) g where "+repeated(500_000, func(i int) string { return fmt.Sprintf("g = %d", 1_000_000+i) }, " or ")),
	small("a union of 4 MB", "select count(*) from ("+repeated(300_000, func(i int) string { return fmt.Sprintf("select %d", i) }, " union all ")+") x"),
	small("expressions of 10 MB", "select "+repeated(400_000, func(i int) string { return fmt.Sprintf("length('%d'||'x')", i) }, ",")),
	small("statements of 5 MB", repeated(600_000, func(i int) string { return "select 1" }, ";")),
	small("a case of 10 MB", "select case g "+repeated(500_000, func(i int) string { return fmt.Sprintf("when %d then %d", i, i) }, " ")+" end from generate_series(1, 3) g"),
	small("json text of 20 MB, typed in", "select jsonb_array_length('["+strings.Repeat("1,", 10_000_000)+"1]'::jsonb)"),
	small("parentheses of 10 MB", "select "+strings.Repeat("(", 5_000_000)+"1"+strings.Repeat(")", 5_000_000)),
	small("many regular expressions", "select count(*) from generate_series(1, 20000) g where 'x' ~ ('(a|b|c|d){1,50}' || g)"),
	small("a large regular expression", "select 'x' ~ repeat('(a|b)', 200000)"),
	{what: "prepared statements", run: prepared, codes: []string{outOfMemory, tooLarge, tooComplex}},
	{what: "cursors", run: cursors, codes: []string{outOfMemory, tooLarge, tooComplex}},
	{what: "parameters of 50 MB", run: parameters, codes: []string{outOfMemory, tooLarge, tooComplex}},
	{what: "MySQL: an IN list of 10 MB", run: overMySQL(1, inList), codes: []string{outOfMemory, tooLarge, tooComplex}},
	{what: "MySQL: ten clients' IN lists", run: overMySQL(10, inList), codes: []string{outOfMemory, tooLarge, tooComplex}},
	{what: "MySQL: regular expressions", run: overMySQL(2, func(i int) string {
		return "select count(*) from (select 1) t where 'abc' regexp concat('(a|b|c){1,200}', " + fmt.Sprint(i) + ")"
	}, 300), codes: []string{outOfMemory, tooLarge, tooComplex}},
	{what: "MySQL: JSON and GROUP_CONCAT", run: overMySQL(2, func(int) string {
		return "select length(json_array(repeat('\"', 20000000), repeat('x', 20000000))), length(insert(repeat('x', 30000000), 5, 3, repeat('y', 30000000)))"
	}), codes: []string{outOfMemory, tooLarge, tooComplex}},
	together("ten clients: jsonb_agg", 10, "select length(jsonb_agg(g)::text) from generate_series(1, 2000000) g"),
	together("ten clients: long texts", 10, "select length(repeat('x', 30000000) || repeat('y', 30000000))"),
	together("ten clients: IN lists", 10, "select count(*) from generate_series(1, 10) g where g in ("+repeated(700_000, func(i int) string { return fmt.Sprint(1_000_000 + i) }, ",")+")"),
	together("ten clients: arrays", 10, "select cardinality(array_agg(g)) from generate_series(1, 5000000) g"),
	together("ten clients: large results", 10, "select repeat('x', 5000000) from generate_series(1, 20)"),
}

const tooComplex = "54001"

// small is a statement that fails rather than grows.
func small(what, sql string) statement {
	return statement{what: what, sql: sql, endless: true, codes: []string{outOfMemory, tooLarge, tooComplex, "54011", "2201B"}}
}

// together is one statement that n clients ask for at once. Its outcome is that of the client that
// fared worst.
func together(what string, n int, query string) statement {
	st := small(what, "")
	st.run = func(ctx context.Context, s *server, _ *pgx.Conn) outcome {
		return everyone(n, func(int) outcome {
			c, err := s.connect(ctx)
			if err != nil {
				return outcome{err: err, code: codeOf(err)}
			}
			defer c.Close(ctx)
			return ask(ctx, c, query)
		})
	}
	return st
}

// everyone runs f n times at once; an error that need not be counts as the outcome before one that may.
func everyone(n int, f func(i int) outcome) outcome {
	all := make([]outcome, n)
	begin := time.Now()
	var done sync.WaitGroup
	for i := range all {
		done.Add(1)
		go func() {
			defer done.Done()
			all[i] = f(i)
		}()
	}
	done.Wait()
	worst := all[0]
	for _, o := range all[1:] {
		if worst.err == nil || o.err != nil && o.code != outOfMemory && worst.code == outOfMemory {
			rows := worst.rows + o.rows
			worst = o
			worst.rows = rows
		}
	}
	worst.took = time.Since(begin)
	return worst
}

func inList(int) string {
	return "select count(*) from (select 1 g) t where g in (" + repeated(1_250_000, func(i int) string { return fmt.Sprint(1_000_000 + i) }, ",") + ")"
}

// overMySQL asks for query(i) over the other wire, by n clients at once, each as often as times says.
func overMySQL(n int, query func(i int) string, times ...int) func(context.Context, *server, *pgx.Conn) outcome {
	return func(ctx context.Context, s *server, _ *pgx.Conn) outcome {
		each := 1
		if len(times) > 0 {
			each = times[0]
		}
		return everyone(n, func(client int) (o outcome) {
			c, err := dialMySQL(ctx, s.mysql)
			if err != nil {
				return outcome{err: err, code: mysqlCode(err)}
			}
			defer c.c.Close()
			for i := range each {
				rows, err := c.ask(query(client*each + i))
				if err != nil {
					return outcome{err: err, code: mysqlCode(err)}
				}
				o.rows += rows
			}
			return o
		})
	}
}

// prepared leaves many prepared statements with its session.
func prepared(ctx context.Context, s *server, c *pgx.Conn) outcome {
	for i := range 20 {
		o := ask(ctx, c, fmt.Sprintf("prepare p%d as select %s", i, repeated(100_000, func(j int) string { return fmt.Sprint(i + j) }, "+")))
		if o.err != nil {
			if o.code == tooComplex {
				o = ask(ctx, c, fmt.Sprintf("prepare p%d as select array[%s]", i, repeated(300_000, func(j int) string { return fmt.Sprint(i + j) }, ",")))
			}
			if o.err != nil {
				return o
			}
		}
	}
	return outcome{rows: 20}
}

// cursors opens many cursors whose rows are kept.
func cursors(ctx context.Context, s *server, c *pgx.Conn) outcome {
	for i := range 30 {
		if o := ask(ctx, c, fmt.Sprintf("declare c%d scroll cursor with hold for select repeat('x', 1000000) from generate_series(1, 100)", i)); o.err != nil {
			return o
		}
		if o := ask(ctx, c, fmt.Sprintf("move last in c%d", i)); o.err != nil {
			return o
		}
	}
	return outcome{rows: 30}
}

// parameters sends values of 50 MB beside the text.
func parameters(ctx context.Context, s *server, c *pgx.Conn) outcome {
	o := outcome{}
	v := strings.Repeat("x", 50<<20)
	var n int64
	if err := c.QueryRow(ctx, "select length($1::text || $2::text) + length($3::text)", v, v, v).Scan(&n); err != nil {
		return outcome{err: err, code: codeOf(err)}
	}
	o.rows = 1
	return o
}
