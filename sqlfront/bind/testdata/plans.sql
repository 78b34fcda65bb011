select t.a, (select count(*) from u where u.a = t.a) from t where b in ('x','y') and a not in (select a from u)
select a, b, count(*), grouping(a,b) from t group by rollup(a,b) order by a, sum(c) desc
select a from t group by grouping sets ((a), ()), b
select sum(sum(a)) over (partition by b order by max(a)), rank() over (partition by b order by max(a)), row_number() over () from t group by b
select distinct on (a) b from t order by a, c desc limit 2
select distinct a, b from t order by b
select generate_series(1,2)+1, unnest(arr) from t order by a
select generate_series(1, generate_series(1,2)) from t
select unnest(arr) u, count(*) from t group by u
select * from t full join u using (a) where a > 1
select u.x, t from u left join t on t.a=u.a
select * from t, lateral (select * from u where u.a = t.a) l
select * from t left join lateral generate_series(1, t.a) with ordinality g(n, o) on n > 1
with r as (select a from t), z as (select 1 as q) select * from r r1, r r2, z
with r as materialized (select a from t) select * from r
with r as not materialized (select a from t) select * from r x, r y
with unused as (select a from t) select 1
with r as (select random() as x) select * from r
with recursive r(n) as (select 1 union all select n+1 from r where n < 5) select n from r
select case (random()*3)::int when 0 then 'a' else 'b' end
select case a when 1 then 'x' end, nullif(a, 2) from t
select (a,b) < (1,'x'), a between symmetric 1 and 2, a = any(arr), a = any('{1,2}') from t
select (a, b) = (select a, x from u where u.d is null) from t
select (a, b) in (select a, x from u), a > all (select 1.5) from t
select a in (1, a, 2), a in (1, 2.5), b not in ('x', null) from t
select (select sum(t.a)) from t
select (select sum(t.a + u.a) from u) from t
select b, (select max(x) from u where u.x = t.b) from t group by b having count(*) > (select 1)
select a, 'x' from t union all select 1, b from t order by 1 limit 2
select a, c from t union select 1.5, 2
values (1, 'a'), (2.5, null) order by 1
select string_agg(b, ',' order by a desc) filter (where a > 1), count(distinct a), percentile_cont(0.5) within group (order by a) from t
insert into w(k) values (1), (default) returning k, n
insert into w default values
insert into t.branch_dev(a) select 1.5 from u
insert overwrite w select 1, 2, 'x'
with r as (select a from t) insert into w(k) select a from r
update t set a = u.a, s.f = 3, (b, c) = (select x, 1 from u u2 where u2.a = t.a) from u where u.x = t.b returning t.a, u.x
delete from w where k in (select a from u) returning *
merge into w as z using (select a, x as v from u) s on z.k = s.a when matched and s.v is null then delete when matched then update set z.v = s.v when not matched then insert (k, v) values (s.a, s.v) when not matched by source then update set n = default returning merge_action(), z.k, s.v
merge into w using (select 1 as k, 2 as n, 'x' as v) s on w.k = s.k when matched then update set * when not matched then insert *
select tableoid, xmin, relname from sys
select sys.tableoid, relname from u left join sys on true
select * from v where a = 3
select t._file, t._pos, a from t full join u using (a)
select a from sys, t where a = any(indkey) and indkey[0] = 1
select s.f, (t).a, m['a'], arr[1:2] from t where s is not null
select a from t where ts > '2020-01-01' and c > 1.5 and c = 3 and a = 2.5
select relname, count(*) from sys group by oid
select a from t order by b fetch first 2 rows with ties
select * from iceberg('u') where a = 1
select sum(a) over w, avg(a) over (w rows 1 preceding) from t window w as (partition by b order by a)
