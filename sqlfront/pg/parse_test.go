package pg

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

func parseOne(t *testing.T, sql string) ast.Stmt {
	t.Helper()
	got, err := Parse(sql)
	if err != nil {
		t.Fatalf("%s\n%v", sql, err)
	}
	if len(got) != 1 {
		t.Fatalf("%s: %d statements", sql, len(got))
	}
	return got[0].Stmt
}

// Texts that must parse; what they mean is tested elsewhere.
var accepted = []string{
	"select 1",
	"select a.b.c, (x).y.*, x[1], x[1:2][:3], $1::int[], -1, 1e10, 12345678901234567890, 'a'\n'b' from t",
	"select count(*), sum(distinct a order by b) filter (where c), percentile_cont(0.5) within group (order by x desc) from t group by rollup(a,b), cube(c), grouping sets ((a),(b,c),()), d having true",
	"select rank() over w, sum(x) over (partition by a order by b rows between 1 preceding and unbounded following exclude ties) from t window w as (order by a)",
	"with recursive r(n) as (select 1 union all select n+1 from r where n < 10) select * from r",
	"with a as materialized (select 1), b as not materialized (select 2) select * from a, b",
	"select * from a natural join b left join c using (x) full join d on a.x = d.x cross join e, lateral (select 1) l",
	"select * from rows from (generate_series(1,2), unnest(array[1,2])) with ordinality as t(a,b,c)",
	"select * from t tablesample bernoulli (10) repeatable (1)",
	"select * from json_to_recordset('[]') as x(a int, b text)",
	"select distinct on (a) a, b from t order by a, b desc nulls last limit 10 offset 5",
	"select a from t order by a fetch first 3 rows with ties",
	"values (1, 'a'), (2, default)",
	"table t",
	"(select 1 union select 2) intersect select 3 except all select 4 order by 1",
	"select case x when 1 then 'a' else 'b' end, case when a then b end, coalesce(a,b), greatest(1,2), nullif(a,b)",
	"select extract(year from d), substring(a from 1 for 2), trim(both 'x' from a), overlay(a placing b from 1), position('a' in b), d at time zone 'UTC', current_date, current_timestamp(3), localtime",
	"select a is null, a is not true, a is distinct from b, a between 1 and 2, a not between symmetric 1 and 2, a in (1,2), a not in (select 1), a = any(array[1]), (a,b) = (select 1,2), row(1,2) < row(3,4), a <> all (select 1), exists(select 1), array(select 1)",
	"select a like 'x' escape '!', a not ilike 'b', a similar to 'c', a ~ 'd', a collate \"C\", interval '1 day' day to second, timestamp with time zone '2020-01-01', cast(a as numeric(10,2)), x::varchar(3)",
	"select operator(pg_catalog.+) 1, a operator(pg_catalog.=) b, @ -1, not a",
	"select json_object('a': 1, 'b': 2), json_array(1,2), x is json object",
	"select * from t for update of t skip locked",
	"insert into t values (1, default) on conflict do nothing returning *",
	"insert into t (a, b.c) select 1, 2",
	"insert into t default values",
	"update t set a = 1, (b, c) = (2, 3), d.e = default from u where t.x = u.x returning t.*",
	"delete from t using u where t.x = u.x returning a",
	"merge into t using (select 1 x) s on t.x = s.x when matched and s.x > 1 then update set x = s.x when matched then delete when not matched then insert (x) values (s.x) when not matched by source then do nothing returning merge_action(), t.*",
	"copy t (a, b) from stdin with (format csv, header true, delimiter ',', null 'x', force_null (a))",
	"copy (select 1) to stdout csv header",
	"truncate t, u",
	"begin isolation level serializable read only", "start transaction", "commit and chain", "rollback", "savepoint a", "release a", "rollback to a", "abort", "end",
	"set a.b to 'x', 1", "set local time zone 'UTC'", "reset all", "reset x", "show all", "set transaction isolation level read committed", "set session characteristics as transaction read only", "set x to default",
	"prepare p (int, text) as select $1, $2", "execute p(1, 'a')", "deallocate all", "deallocate p",
	"declare c scroll cursor with hold for select 1", "fetch all from c", "fetch backward 3 c", "move absolute 3 in c", "close c", "close all",
	"discard all", "listen a", "unlisten *", "notify a, 'x'", "lock table t in access share mode",
	"comment on table t is 'x'", "comment on column t.a is null",
	"explain select 1", "explain (analyze, format json, costs off) select 1", "explain analyze verbose insert into t values (1)", "explain merge into t using s on true when matched then update set *",
	"create view v(a) as select 1", "create or replace view v as select 1 as x from t", "drop view if exists v cascade", "create schema if not exists s", "drop schema s", "drop table a.b.c.d, e",
	"analyze t", "create extension if not exists x",
	// the lakehouse's own
	"select * from t for system_time as of now() - interval '1 day' as x join u for version as of 'b' on x.a = u.a",
	"select * from t timestamp as of '2020-01-01' , u x version as of 3 where a = 1",
	"select * from t as of timestamp '2020-01-01' at time zone 'UTC' x, u as of 'tag'",
	"select * from t at (timestamp => $1), u before (statement => 17) z, v at (offset => -60)",
	"select * from t for system_time between '2020-01-01' and now(), b for system_time all x, c for system_time contained in ('2020-01-01', now()) where a",
	"select * from (select * from t) s for system_time as of '2020-01-01'",
	"select version as of from t", "select timestamp as of, b from t", "select t.version as of from t",
	"select * from a.b.c.d.snapshots s for version as of 3 where x in (select a.b.c.d.e from f)",
	"select * from t$snapshots, \"t@ref\", t.branch_b",
	"insert overwrite table t partition (a = 1, b) select 1", "insert overwrite t values (1)", "with x as (select 1) insert overwrite into t select * from x", "insert into table t select 1",
	"merge into t using s on t.a = s.a when matched then update set * when not matched then insert *",
	"create table t (a int, b struct<x: int, y: array<map<string, decimal(10,2)>>> not null comment 'c', c map(varchar, row(a int)) , d int[] default '{}', e double precision default 1+1 primary key, f string) using iceberg partitioned by (month(ts), region, bucket(16, id)) tblproperties ('a.b' = 'c') comment 'x' location 's3://x'",
	"create table if not exists t with (partitioning = array['month(ts)', 'bucket(id,16)'], sorted_by = array['x desc nulls first'], format_version = 2) as select 1 as x with no data",
	"create or replace table t as select * from u for version as of 3",
	"create table t (a, b) as values (1, 2)", "create temp table t (like u)",
	"alter table t add column a int default 3 first, add b.c text after d, drop column e, rename column f to g",
	"alter table t alter column a type bigint, alter b set not null, alter c drop not null, alter d set default 3, alter e drop default, alter f first, alter g after h, alter i comment 'x'",
	"alter table t rename to u", "alter table t set schema s", "alter table t set tblproperties ('a' = 'b', c.d = 3)", "alter table t unset tblproperties if exists ('a')", "alter table t set properties partitioning = array['a'], x = 1",
	"alter table t add partition field bucket(16, id) as shard", "alter table t drop partition field month(ts)", "alter table t replace partition field a with day(b)",
	"alter table t write locally ordered by a desc nulls last, b", "alter table t write unordered", "alter table t write distributed by partition", "alter table t set identifier fields a, b", "alter table t drop identifier fields a",
	"alter table t create or replace branch b as of version 3 retain 7 days with snapshot retention 3 snapshots 2 days", "alter table t create tag if not exists x", "alter table t replace tag x as of version 3", "alter table t drop branch if exists b",
	"create branch b in table t from s", "drop tag x in table t", "alter branch main in table t fast forward to b",
	"alter table t execute optimize(file_size_threshold => '128MB') where a = 1", "alter table t execute optimize_manifests",
	"call system.expire_snapshots(table => 'db.t', retain_last => 3)", "call cat.system.rollback_to_snapshot('t', 3)",
	"vacuum t", "vacuum (full, analyze) t", "optimize t rewrite data using bin_pack where a = 1", "rollback table t to snapshot 3", "rollback table t to timestamp '2020-01-01'",
	"drop table if exists t purge", "drop table t",
}

func TestAccepted(t *testing.T) {
	for _, sql := range accepted {
		if _, err := Parse(sql); err != nil {
			e, _ := sqlerr.As(err)
			t.Errorf("%s\n  %v at %d %s", sql, err, e.Pos, e.Hint)
		}
		if _, err := Parse(strings.ToUpper(sql)); err != nil {
			t.Errorf("%s\n  %v", strings.ToUpper(sql), err)
		}
	}
}

// What is refused, with code, message and byte position. Hints name the accepted spelling.
var refused = []struct {
	sql  string
	code sqlerr.Code
	msg  string
	pos  int
	hint string // a part of it
}{
	{"select 1; selec 2", "42601", `syntax error at or near "selec"`, 10, ""},
	{"select 'ä', x from from y", "42601", `syntax error at or near "from"`, 20, ""},
	{"select 'abc", "42601", `unterminated quoted string at or near "'abc"`, 7, ""},
	{"select (1", "42601", "syntax error at end of input", 9, ""},
	{"select (1; select 2", "42601", `syntax error at or near ";"`, 9, ""},
	{"select $99999", "42P02", "there is no parameter $99999", 7, ""},
	{"select * from t@b", "42601", "syntax error at or near \"@\"", 15, `"table@ref"`},
	{"select * from t as of foo", "42601", `syntax error at or near "foo"`, 22, "FOR TIMESTAMP AS OF"},
	{"select 1 for version as of 3", "42601", "a time-travel clause must follow a table in FROM", 9, ""},
	{"select * from f(1) for version as of 3", "42601", "time travel applies to tables and queries, not to functions", 19, ""},
	{"select * from t for version as of", "42601", "syntax error at end of input", 33, ""},
	{"select * from t for version as of 3 for version as of 4", "42601", "a table cannot have two time-travel clauses", 36, ""},
	{"select * from t for system_time since 3", "42601", `syntax error at or near "since"`, 32, "BETWEEN a AND b"},
	{"select * from t at (moment => 3)", "42601", `syntax error at or near "moment"`, 20, "AT (TIMESTAMP => e)"},
	{"merge into t using s on a when matched then update set a = 1 where b when not matched then do nothing", "42601", "an UPDATE in MERGE has no FROM and no WHERE", 44, "WHEN MATCHED AND"},
	{"merge into t using s on a = when matched then delete", "42601", `syntax error at or near "when"`, 28, ""},
	{"merge into t using s when matched then delete", "42601", `syntax error at or near "when"`, 21, ""},
	{"merge into t using s on a when matched then insert *", "42601", `syntax error at or near "insert"`, 44, ""},
	{"merge into t using s on a when not matched then insert (a) values (1), (2)", "42601", "an INSERT in MERGE takes one row of VALUES", 55, "INSERT *"},
	{"create table t (a int) partition by range (a)", "0A000", "PARTITION BY RANGE is not supported", 36, "PARTITIONED BY"},
	{"create table t (a map<int>)", "42601", "type map takes 2 type arguments, not 1", 18, ""},
	{"create table t (a int", "42601", "syntax error at end of input", 21, ""},
	{"create table t (a int) with (partitioning = 'a')", "22023", "an array of strings is expected here", 29, "ARRAY["},
	{"alter table t drop partition (a = 1)", "42601", `syntax error at or near "("`, 29, "DROP PARTITION FIELD"},
	{"alter table t create branch b retain 7 weeks", "42601", `syntax error at or near "weeks"`, 39, "DAYS"},
	{"restore table t to version as of 3", "42601", `syntax error at or near "restore"`, 0, "ROLLBACK TABLE"},
	{"call system.expire_snapshots", "42601", "syntax error at end of input", 28, ""},
	{"create unique index on t (lower(a))", "0A000", "a unique index of expressions is not supported", 0, ""},
	{"create unique index on t (a) where a > 0", "0A000", "a unique index of some rows (WHERE) is not supported", 0, ""},
	{"select xmlelement(name a)", "0A000", "XML functions are not supported", 7, ""},
	{"select a from t fetch first 1 rows with ties", "42601", "WITH TIES cannot be specified without ORDER BY clause", -1, ""},
	{"explain (format csv) select 1", "22023", `unrecognized value for EXPLAIN option "format": "csv"`, 9, ""},
}

func TestRefused(t *testing.T) {
	for _, c := range refused {
		_, err := Parse(c.sql)
		e, ok := sqlerr.As(err)
		if !ok {
			t.Errorf("%s\n  no error (%v)", c.sql, err)
			continue
		}
		if e.Code != c.code || e.Message != c.msg || e.Pos != c.pos || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s\n  got  %s %q at %d hint %q\n  want %s %q at %d", c.sql, e.Code, e.Message, e.Pos, e.Hint, c.code, c.msg, c.pos)
		}
	}
}

// A text splits at semicolons outside strings, comments and parentheses.
func TestSplit(t *testing.T) {
	got, err := Parse(" /* a; /* b */ */ select ';', $$;$$, \"x;y\" -- c;\n ;; select $3;")
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 2 || got[0].Text != `select ';', $$;$$, "x;y"` || got[1].Text != "select $3" || got[1].NumParams != 3 || got[1].Offset != 53 {
		t.Errorf("%+v", got)
	}
	for _, sql := range []string{"", " ", ";", ";;", "-- nothing", "/* no */ ;"} {
		got, err := Parse(sql)
		if err != nil || len(got) != 1 {
			t.Fatalf("%q: %v %v", sql, got, err)
		}
		if _, ok := got[0].Stmt.(*ast.Empty); !ok {
			t.Errorf("%q: %T", sql, got[0].Stmt)
		}
	}
}

// A clause belongs to the relation before it, whichever side of it the alias stands.
func TestTimeTravelAttaches(t *testing.T) {
	type want struct {
		table, alias string
		kind         ast.AsOfKind
	}
	for sql, w := range map[string]want{
		"select * from t for system_time as of $1":                          {"t", "", ast.AsOfTime},
		"select * from t for system_time as of $1 x":                        {"t", "x", ast.AsOfTime},
		"select * from t x for system_time as of $1":                        {"t", "x", ast.AsOfTime},
		"select * from t as x for timestamp as of now()":                    {"t", "x", ast.AsOfTime},
		"select * from t x (a, b) for version as of 3":                      {"t", "x", ast.AsOfVersion},
		"select * from t version as of 'b' as x":                            {"t", "x", ast.AsOfVersion},
		"select * from s.t as of timestamp '2020-01-01' - interval '1' day": {"t", "", ast.AsOfTime},
		"select * from t as of 'tag' x":                                     {"t", "x", ast.AsOfVersion},
		"select * from t before (timestamp => $1) x":                        {"t", "x", ast.BeforeTime},
		"select * from t at (offset => -60) x":                              {"t", "x", ast.AsOfOffset},
		"select * from t for system_time all x":                             {"t", "x", ast.AllVersions},
		"select * from t for system_time between $1 and $2 x":               {"t", "x", ast.BetweenTime},
		"select * from t for system_time from $1 to $2 x":                   {"t", "x", ast.FromToTime},
		"select * from t for system_time contained in ($1, $2) x":           {"t", "x", ast.ContainedIn},
	} {
		q := parseOne(t, sql).(*ast.QueryStmt).Query.Body.(*ast.Select)
		n := q.From[0].(*ast.TableName)
		if n.Parts[len(n.Parts)-1] != w.table || n.Alias.Name != w.alias || n.AsOf == nil || n.AsOf.Kind != w.kind {
			t.Errorf("%s: %+v", sql, n)
		}
	}
	p, err := Parse("select * from (select a from (select b from t) i) o for version as of $7")
	if err != nil {
		t.Fatal(err)
	}
	o := p[0].Stmt.(*ast.QueryStmt).Query.Body.(*ast.Select).From[0].(*ast.SubqueryTable)
	i := o.Query.Body.(*ast.Select).From[0].(*ast.SubqueryTable)
	if o.AsOf == nil || i.AsOf != nil || p[0].NumParams != 7 {
		t.Errorf("outer %v inner %v params %d", o.AsOf, i.AsOf, p[0].NumParams)
	}
}

func TestMergeStars(t *testing.T) {
	m := parseOne(t, `with w as (select 1) merge into a.t as t using (select * from s) s on t.x = s.x
		when matched and case when true then s.d end then delete
		when matched then update set *
		when not matched and s.y > 1 then insert (x, y) values (s.x, default)
		when not matched by target then insert *
		when not matched by source then update set z = 0, (u, v) = (1, 2)
		returning merge_action(), t.*`).(*ast.Merge)
	if len(m.With.CTEs) != 1 || m.Table.Alias.Name != "t" || len(m.Arms) != 5 || len(m.Returning) != 2 {
		t.Fatalf("%+v", m)
	}
	var got strings.Builder
	for _, a := range m.Arms {
		got.WriteByte(a.Match)
		got.WriteString(" " + a.Action)
		if a.Star {
			got.WriteString(" *")
		}
		if a.Cond != nil {
			got.WriteString(" if")
		}
		got.WriteString("; ")
	}
	if want := "m delete if; m update *; t insert if; t insert *; s update; "; got.String() != want {
		t.Errorf("got %s, want %s", got.String(), want)
	}
	if len(m.Arms[2].Columns) != 2 || len(m.Arms[2].Values) != 2 || len(m.Arms[4].Set) != 2 || len(m.Arms[4].Set[1].Columns) != 2 {
		t.Errorf("%+v", m.Arms)
	}
}

func TestCreateTable(t *testing.T) {
	c := parseOne(t, `create or replace table s.t (id bigint not null, "S" struct<a: int not null, b: map<string, list<decimal(9,2)>>>[],
		n numeric(10,2) default -1 not null comment 'it''s', primary key (id2)) using iceberg
		partitioned by (month(ts), bucket(16, id)) with (partitioning = array['truncate(s, 4)'], sorted_by = array['x desc nulls first', 'y'], format = parquet)
		location 's3://b' comment 'c'`).(*ast.CreateTable)
	if !c.Replace || len(c.Columns) != 3 || len(c.PartitionBy) != 3 || len(c.SortedBy) != 2 || !c.SortedBy[0].Desc ||
		c.Location != "s3://b" || *c.Comment != "c" || len(c.Props) != 1 || c.Columns[2].Comment != "it's" || !c.Columns[2].NotNull {
		t.Errorf("%+v", c)
	}
	s := c.Columns[1].Type
	if s.Name != "struct" || s.Array != 1 || !s.Args[0].NotNull || s.Args[1].Type.Args[1].Type.Args[0].Type.Name != "numeric" {
		t.Errorf("%+v", s)
	}
}
