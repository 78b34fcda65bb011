select aa from t
select t.aa from t
select xx.a from t
select t.a from t as tt
select a from t, u
select a from t join u on t.a = u.a where b
select * from t, (select t.a) s
select * from t, t
select * from t right join lateral (select t.a) s on true
select t.a, (select * from u) from t
select (select a, x from u)
select a, count(*) from t
select a, (select max(t.b || u.x) from u) from t group by a
select count(count(*)) from t
select 1 from t where count(*) > 1
select sum(a) over () from t where sum(a) over () > 1
select rank() from t
select a from t order by 5
select a from t order by 'x'
select distinct a from t order by b
select distinct on (a) a, b from t order by b
select a from t union select x from u
select a from t union select a, x from u
select a from t union select a from u order by a+1
values (1,2),(3)
values (1),('a'),(true)
select case when a then 1 end from t
select case when true then 1 else 'x' end from t
select case when true then 1 else b end from t
select 1 + true
select foo(1)
select * from nosuch
select * from s.nosuch
select 'a'::int
select a = 'x' from t
select a from t where a
select a from t limit a
select a from t limit 'x'
select row(1,2) = row(1)
select (1,2) in ((1,2,3))
select a in (select a, x from u) from t
select generate_series(1,2) from t where generate_series(1,2) = 1
select case when true then generate_series(1,2) end
with r as (select 1) , r as (select 2) select 1
with recursive r as (select 1 union all select sum(a) from r) select * from r
with recursive r(a) as (select 1 union all select a+1.5 from r) select * from r
with recursive r(a) as (select a from r union all select 1) select * from r
with recursive r(a) as (select a from r) select * from r
with r(a,b,c) as (select 1) select * from r
select * from (select 1,2) s(a,b,c)
select b collate "xx" from t
select a collate "C" from t
select array[1,'x']
select array[]
select a[1] from t
select arr['x'] from t
select (a).f from t
select cast(a as bool[]) from t
select a::date from t
select grouping(a) from t
select a from t group by 5
select a+1 from t group by 'x'
select count(*) filter (where count(*)>1) from t
select sum(distinct a) over () from t
select row_number() over w from t
select sum(a) over (w order by a) from t window w as (order by a)
select sum(a) over (partition by a) from t window w as (order by a), w as (order by b)
select * from t join u using (zz)
select * from t join u using (a) join t t2 using (a) where a=1
select * from t natural join u x(b)
select string_agg(a) from t
select count(distinct a, b) from t
select percentile_cont(0.5) from t
select percentile_cont(0.5) within group (order by b) from t
select max(a) within group (order by b) from t
select lower(a) from t
insert into t(a) values ('x')
insert into t(a) values (1,2)
insert into t(a,b) values (1)
insert into t(zz) values (1)
insert into t(a,a) values (1,1)
insert into t(a) values (true)
update t set zz = 1
update t set a = true
update t set a=1,a=2
delete from t where zz
merge into t using u on t.a=u.a when matched then update set a = u.x
merge into t using u on t.a=u.a when not matched then insert values (t.a)
select * from t where a in (1,'x')
select json '{}' = json '{}'
select distinct json '{}'
select json '{}' order by 1
select sum(a) over (order by a range between 1 preceding and 'x' following) from t
select sum(a) over (order by b range between 1 preceding and current row) from t
select sum(a) over (rows between a preceding and current row) from t
select nullif(1, true)
select coalesce(1, true)
select greatest(1,'x')
select 1 is true
select not 1
select 1 and true
select t.* from t group by a
select xmin from (select 1) s
select interval '1' foo
select '1'::varchar(0)
select 1::numeric(2000)
select null::foo
select count(*) from t group by count(*)
select a b from t group by b having a > 1
select a as z from t where z = 1
select date_trunc('day', b) from t
select max(t.b) from t group by a having max(u.x) = 1
select (select count(t.a)) from t
select (select count(t.a) from u) , a from t
select 1 from t where exists (select 1 from u having max(t.a) > 1)
select array(select a, x from u)
select unnest(arr), count(*) from t
select sum(unnest(arr)) from t
with x as (select 1) select x.y from x
select abs(x => 1)
select t.a.b from t
select * from t as x(a,b,c,d,e,f)
select distinct on (5) a from t
select a from t order by a using =
select x.* from t
select *
select count(*) over (partition by count(*)) , a from t
-- output names and types
select 1, 'x', null, 1.5, true, 2147483648, 9223372036854775808, -2147483648, 1e10, 'a'::text, 1::int8
select a, t.b, a+1, -a, a::text, b::varchar(3), cast(a as float8), coalesce(a,1), case when true then a end, case when true then 1 else a end from t
select count(*), sum(a), avg(a), max(b), min(ts), sum(c), count(distinct a), array_agg(a), string_agg(b, ','), bool_and(true) from t
select (select a from u limit 1), exists (select 1), array(select a from u), (select 1 as one), array[1,2], row(1,2), nullif(1,2), greatest(1,2.5), least('a','b') from t
select current_date, current_timestamp, now(), extract(year from now()), date_trunc('day', ts), ts at time zone 'UTC', interval '1 day', date '2020-01-01', timestamp '2020-01-01', time '10:00' from t
select a is null, a is true from (select true) x(a)
select not true, true and false, 1 = 1, 1 between 0 and 2, 1 in (1,2), 'a' like 'b', a = any(arr) from t
select t from t
select t.* from t
select (t).a, (s).f, (t.s).g from t
select (s).* from t
select u.* , t.a from t, u
select * from t join u using (a)
select * from t left join u using (a)
select * from t full join u using (a)
select * from t natural join u
select * from (t join u using (a)) j
select * from (t join u using (a)) as j(q)
select j.x from t join u using (a) as j
select j.a from t join u using (a) as j
select t.a, u.a from t join u using (a)
select * from t cross join lateral (select t.a + u.a as z from u) s
select * from t, lateral (select t.a as q) s, generate_series(1, t.a) g
select * from t left join lateral generate_series(1, t.a) with ordinality as g(n, i) on true
select g from generate_series(1,3) g
select g.g, generate_series from generate_series(1,3) g, generate_series(1,2)
select * from unnest(array[1,2], array['a','b']) as z(p, q)
select * from rows from (generate_series(1,2), unnest(array['a'])) as z
select * from json_each('{}'::json)
select generate_series(1,3), unnest(arr) from t
select generate_series(1,3) + 1 as x order by x
select unnest(arr) u, count(*) from t group by u
select a from t order by b
select a as z from t order by z
select a as b, b as a from t order by a
select a+1 as z from t order by z+1
select a as x, b as x from t order by x
select distinct a from t order by a
select distinct on (a) a, b from t order by a, b
select distinct on (a, b) a, b from t order by b, a
select a b, count(*) from t group by 1
select a as z, count(*) from t group by z
select b as a, count(*) from t group by a
select a+1, count(*) from t group by a+1
select (a+1)*2, count(*) from t group by a+1
select t.a, t.b, count(*) from t group by t.a, b
select a, b, count(*), grouping(a), grouping(a,b) from t group by rollup(a,b)
select a, b, count(*) from t group by grouping sets ((a),(b),())
select a, b, count(*) from t group by cube(a,b), b
select a from t group by ()
select count(*) from t group by ()
select 1 from t having true
select a from t having true
select oid, relname from sys group by oid
select relname, count(*) from sys group by oid
select a, (select count(*) from u where u.a = t.a) from t group by a
select a, (select count(*) from u where u.x = t.b) from t group by a
select sum(a) + count(*) from t
select (select sum(t.a)) from t
select (select sum(t.a + u.a) from u) from t
select a from t where a = (select max(a) from u)
select sum(a) filter (where a > 1), array_agg(b order by a desc) from t
select percentile_cont(0.5) within group (order by a), mode() within group (order by b) from t
select rank() over (order by a), row_number() over w, sum(c) over (partition by b), lag(a) over (order by ts), first_value(b) over w from t window w as (order by a)
select sum(sum(a)) over (order by b) from t group by b
select sum(a) over (order by ts range between interval '1 day' preceding and current row) from t
select sum(a) over (order by c range between 1.5 preceding and current row) from t
select sum(a) over (rows between 1 preceding and unbounded following exclude ties) from t
select rank() over (partition by rank() over ()) from t
select sum(rank() over ()) from t
select rank() over () from t group by rank() over ()
select count(*) over () from t where a > 1 limit 1 offset 2
select lower(b) over () from t
select lower(distinct b) from t
select a from t union select a from u
select a, 'x' from t union all select a, x from u
select 1 union select 1.5
select 1 union select null
select null union select null union select 1
select 'a' union select 'b'
select '1' union select 1
select a as p from t union select a from u order by p
select a as p from t union select a from u order by 1
select a from t intersect select a from u except select 5
select a from t union select a from u order by t.a
select a from t union select a from u order by zz
(select a from t order by b limit 1) union all select 2
values (1,'a'),(2,null)
values (1),(1.5)
values (null),('a')
values (1) order by 1
values (1), (2) order by column1 desc limit 1
with r as (select a, b from t) select * from r
with r(p, q) as (select a, b from t) select q, p from r
with r(p) as (select a, b from t) select * from r
with r as (select 1 as n), s as (select n+1 as m from r) select * from s, r
with r as (select * from s), s as (select 1) select * from r
with recursive r as (select * from s), s as (select 1 as one) select * from r
with recursive a as (select * from b), b as (select * from a) select * from a
with recursive r(n) as (values (1) union all select n+1 from r where n < 5) select n from r
with recursive r(n) as (select 1 union select n+1 from r) select n from r
with recursive r(n) as (select 1 union all select count(*)::int from r) select n from r
with recursive r(n) as (select 1 union all select n from r left join t on true) select n from r
with recursive r(n) as (select 1 union all select a from t left join r on true) select n from r
with recursive r(n) as (select 1 union all select r.n from r, r r2) select n from r
with recursive r(n) as (select 1 union all select 2 where 1 in (select n from r)) select n from r
with recursive r(n) as (select 1 union all select n+1 from r order by 1) select n from r
with recursive r(n) as (select 1 union all select n+1 from r limit 1) select n from r
with recursive r(n, m) as (select 1 union all select n+1 from r) select n from r
with recursive r(n) as (select 'a' union all select n || 'b' from r) select n from r
with r as not materialized (select a from t) select * from r x, r y
select * from v
select a from v where b = 'x'
select v.ts from v
-- parameters
select $1
select $1::int
select $1 + 1
select a from t where a = $1 and b like $2
select a from t where ts > $1 - interval '1 day'
select a from t limit $1 offset $2
select $1 || 'x'
select $1 + $2
select coalesce($1, 1), case when $2 then $3 else 1.5 end
select a from t where a in ($1, $2)
select a from t where a = any($1)
select a from t where $1 between a and 10
select $1::int, $1::text
select a from t where a = $1 and b = $1
select a = $1, c = $2, ts = $3, d = $4 from t, u limit 1
select $2::int
insert into u values ($1, $2, $3)
insert into u(x, a) select $1, $2
update u set x = $1 where a = $2
values ($1, $2::int)
select lower($1), substr($2, $3), date_trunc($4, $5::timestamp)
select $1 union select 1
select array[$1, 2]
select $1 is null
select generate_series(1, $1)
-- writes
insert into t(a, b) values (1, 'x'), (2, default) returning a, b, a+1 as z
insert into u values (1, 'x', '2020-01-01')
insert into u values (1)
insert into u values (1, 'x', '2020-13-01')
insert into u default values
insert into u select a, b, ts from t
insert into u select a, b, ts::date from t
insert into u select a, b from t
insert into u(a, x) select a from t
insert into u(a) select a, b from t
insert into u(a) values (1), (2, 3)
insert into u(a) select 'x'
insert into u(a) values (1.7)
insert into u(a, x) values (1, 2)
insert into u values (default, default, default)
insert into u(a) values (count(*))
insert into u(a) values (t.a)
insert into nosuch values (1)
insert into u as z(a) values (1) returning z.a, z
insert into u(a) values (1) returning u.*
update t set a = a + 1, b = default where a > 1 returning *
update t set a = u.a from u where u.x = t.b returning t.a, u.x
update t set (a, b) = (1, 'x')
update t set (a, b) = (select a, x from u where u.a = t.a)
update t set (a, b) = (select a from u)
update t set (a, b) = (1)
update t set s.f = 1
update t set s.f = 1, s.g = 'x'
update t set a.f = 1
update t set a = t2.a from (select t.a) t2
update t set a = (select a from u)
update t set a = count(*)
update t set a = 'x'
update t set a = 1 from t
update t as z set a = z.a + 1 where z.b = 'x'
update t set z.a = 1
delete from t where a = 1 returning b
delete from t using u where t.a = u.a
delete from t z where t.a = 1
delete from t where count(*) > 1
merge into t using u on t.a = u.a when matched then update set b = u.x when not matched then insert (a, b) values (u.a, u.x)
merge into t as z using (select a, x from u) s on z.a = s.a when matched and s.x is null then delete when matched then do nothing when not matched then insert values (s.a)
merge into t using u on t.a = u.a when matched then delete when matched then do nothing
merge into t using t on true when matched then delete
merge into t using u on t.a = u.a when not matched and t.b = 'x' then insert values (1)
merge into t using u on t.a = u.a when matched and count(*) > 1 then delete
merge into t using u on t.a = u.a when not matched then insert (a, a) values (1, 2)
merge into t using u on t.a = u.a when not matched then insert (a) values (1, 2)
merge into t using u on t.a = u.a when not matched then insert (a, b) values (1)
merge into t using u on t.a = u.a when matched then update set nosuch = 1
-- casts, literals
select 'x'::date
select '2020-01-01'::date, '{1,2}'::int[], '1.5'::numeric(3,1), 'abc'::varchar(2), '12'::int2
select '99999999999'::int
select 99999::int2
select 'abc'::char(2), 'x'::bpchar, '1'::bool
select interval '5' day, interval '1-2' year to month, interval '3' hour
select array[]::int[], array[1,2]::text[], array[[1,2],[3,4]], '{}'::text[]
select arr[1], arr[1:2], arr[:2] from t
select b[1] from t
select 1 + 1.5, 1 / 2, 1.0 / 3, 2 ^ 3, 5 % 2, 1::float4 + 1, 'a' || 1, 1 || 'a', date '2020-01-01' + 1, date '2020-01-01' - date '2019-01-01', now() - now()
select (1,2) = (1,2), (1,'a') < (2,'b'), row(1,2) is null, (a,b) is not null from t
select (1,2) = (select 1,2)
select (a,b) in (select a, x from u), (a,b) in ((1,'x'),(2,'y')) from t
select a in (select x from u) from t
select a = all (select a from u), a > any (select a from u) from t
select a = any (select 1.5), a = any ('{1,2}') from t
select a = any (b) from t
select a is distinct from 1, a is not distinct from null, b is distinct from 'x' from t
select b collate "C", b collate "default" from t order by b collate "C"
select nullif(b, 'x'), nullif(a, 1) from t
select 'x' = 'y', 'x' || 'y', 'a' < 'b', null = null
select 1 = '1', 'x' = b, a = '12' from t
select 1 where 'true'
select 1 where null
select 1 where 'x'
select case a when 1 then 'x' when 2 then b end from t
select case a when 'x' then 1 end from t
select case when 'x' then 1 end
select int4(1.5), text(1), date('2020-01-01'), float8(1)
select max(1,2)
select sum(b) from t
select sum()
select count()
select a.* from t
select t.nosuch.f from t
select public.t.a from t
select public.t.a from public.t
select public.t.a from t x
select nosuch.t.a from t
select a from t x, u x
select a from t as x join u as x on true
select * from t x join u y on x.a = z.a
select * from t join u on a = 1
select * from t a join u b on a.a = b.a join t c on c.a = b.a and c.b = d.b
select x.a from t, u
select bb from t
select ttt from t
select xmin, tableoid from sys
select tableoid from t
select ctid from (select 1) x
select 1 from t group by b having b = 'x' and max(a) > 1 order by max(a)
select b, max(a) m from t group by b order by m desc, 1
select b from t group by b order by a
select b from t group by b order by count(*)
select count(*) from t order by a
select a, count(*) filter (where b = 'x') from t group by a
select count(*) c from t having c > 1
select distinct a from t order by a+1
select distinct count(*) from t group by a order by count(*)
select * from t limit 1+1
select * from t limit 1.5
select * from t limit null
select * from t limit true
select * from t limit (select 1)
select * from t limit count(*)
select * from t offset -1
select a from t order by a fetch first 2 rows with ties
select a from t fetch first 2 rows with ties
select array(select a from u), array(select array[a] from u)
select * from generate_series(1, (select max(a) from t)) g
select * from generate_series(1, generate_series(1,2)) g
select * from lower('X')
select * from current_date
select * from lower('X') as l, upper(l) as m
select sum(generate_series(1,2))
select generate_series(1,2) from t limit generate_series(1,2)
select coalesce(generate_series(1,2), 1)
select abs(generate_series(1,2)), generate_series(1, generate_series(1,2))
select u.a from u where (select true from t where t.a = u.a)
select (select t2.a from t t2 where t2.b = t.b) from t
select 1 as a, 2 as a
select a from (select 1 as a, 2 as a) x
select 1 from t where exists (select * from u where u.a = t.a and zz = 1)
select trim(b), substring(b from 2), position('x' in b), overlay(b placing 'x' from 1), upper(b), length(b) from t
select b ~ 'x', b ~* 'x', b !~ 'x', b ilike 'x', b similar to 'x', b like 'a!%' escape '!' from t
select extract(epoch from ts), date_part('year', ts), age(ts) from t
select round(c), round(c, 1), c * 2, c / 2, -c, abs(c), c + 1, c::int from t
select m -> 'a', m ->> 'a' from t
select pg_catalog.lower('X')
select (1,2) = (select 1), (1,2) = (select 1,2,3)
select (a, b) < (select a, x from u limit 1) from t
-- more of what clients write
select * from (values (1, 'a'), (2, 'b')) as v(x, y) join t on t.a = v.x
select x.column1 from (values (1)) x
select a, b from t where (a, b) in (values (1, 'x'), (2, 'y'))
select a from t where a = any(array[1, 2, 3]) and b <> all(array['x', 'y'])
select (array_agg(a order by ts))[1], array_length(arr, 1), cardinality(arr), a || arr, arr || array[1] from t group by a, arr
select date_trunc('month', ts)::date as month, count(*) from t group by 1 order by 1
select ts::date, ts::time, ts + interval '1 hour' * 2, extract(dow from ts), ts - '2020-01-01' from t
select count(*) filter (where a > 1) * 100.0 / nullif(count(*), 0) as pct from t
select a from t where exists (select from u where u.a = t.a)
select from t
select count(t), count(t.*) from t
select coalesce(sum(a), 0), coalesce(b, 'none'), coalesce(null, null) from t group by b
select case when a > 1 then 'x'::varchar(3) else b end, case when a > 1 then 1 when a > 2 then 2.5 else 3::bigint end from t
select concat(a, b, null), concat_ws(',', a, b), format('%s', a), length(b), left(b, 2), split_part(b, '-', 1), replace(b, 'a', 'b') from t
select a::text || b, 'x' || a, a || 'x' from t
select 1 < 1.5, 1::smallint + 1, 2147483647 + 1::bigint, 1 - 1.0, 3 / 2.0, 7 % 3, -a, +a, @ a, |/ 4.0 from t
select b is not null and a is null or not (a > 1) from t
select now()::timestamp, current_timestamp::date, localtimestamp
select t1.a from t t1, t t2 where t1.a = t2.a and t1.b < t2.b
select t1.*, t2.a as a2 from t t1 join t t2 using (a, b)
select a, row_number() over (partition by b order by a desc nulls last) as rn from t where a in (select max(a) from t group by b)
select * from (select a, rank() over (order by c) r from t) q where r <= 3
select sum(a) over (partition by b) / sum(a) over (), ntile(4) over (order by a), lag(a, 1, 0) over w, lead(b) over w, nth_value(a, 2) over w, percent_rank() over w from t window w as (order by ts)
select b, sum(a), grouping(b) g from t group by rollup (b) having grouping(b) = 0 or sum(a) > 10 order by grouping(b), b nulls first
select (select count(*) from u where u.a = t.a) as n from t order by n desc, t.b
select a, (select array_agg(u.x order by u.x) from u where u.a = t.a) from t
select t.a from t left join u on u.a = t.a and u.x = 'y' where u.a is null
select max(a), min(b) from t where b > (select min(x) from u) group by c having max(a) > all (select a from u)
select 'abc' like 'a%', 'abc' ~ '^a', regexp_replace(b, 'a', 'b', 'g'), substring(b from '[0-9]+'), substring(b, 1, 2) from t
select json_build_object('a', a), to_jsonb(a), row_to_json(t) from t
select distinct b, c from t order by c, b limit 5 offset 1
select a from t union all (select a from u order by a limit 1) order by 1
select a, null as n from t union all select a, x from u
select 1 as x union all select 2 order by x desc
select count(*) from (select 1 from t limit 10) q
select u.d + 1, u.d - u.d, u.d + interval '1 day', u.d > now(), u.d between '2020-01-01' and '2020-12-31', extract(year from u.d) from u
select 1::text::int::numeric(10,2), cast('1' as bigint), '{"a":1}'::jsonb, '1 day'::interval, 'a'::name, 1::bool, true::int
select a from t where b = 1
select a from t where a like 'x'
select a from t where ts = 1
select a + ts from t
select b + 1 from t
select sum(ts) from t
select d - 'x' from u
select upper(b, 1) from t
select a from t order by nosuch
select a from t group by nosuch
select t.a from t group by t.b
select u.a from t
select a, sum(a) over (partition by nosuch) from t
select a from t where a = (select 1, 2)
select * from (select a from t) as q where b = 1
select case when true then array[1] else 1 end
select array[1, array[2]]
select 1 union select array[1]
select 1 in ('a', 'b')
select a in ('1', '2') from t
select 1 where 1
