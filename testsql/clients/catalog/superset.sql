select pg_catalog.version()

-- rows
select current_schema()

show transaction isolation level

-- rows
show standard_conforming_strings

-- run
set search_path = "ns1"

-- rows
SELECT nspname FROM pg_namespace WHERE nspname NOT LIKE 'pg\_%' ORDER BY nspname

-- rows
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'ns1' AND c.relkind in ('r', 'p') ORDER BY 1

-- rows
SELECT datname FROM pg_database WHERE datistemplate = false AND datname <> 'postgres'

-- rows
SELECT pg_terminate_backend(pg_stat_activity.pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND pid = '2147483000'

-- rows
SELECT DATE_TRUNC('day', placed) AS __timestamp, region AS region, sum(amount) AS "SUM(amount)", count(*)::int8 AS count, avg(amount)::float8 AS a FROM ns1.orders WHERE placed >= TO_TIMESTAMP('2024-01-01 00:00:00.000000', 'YYYY-MM-DD HH24:MI:SS.US') AND placed < TO_DATE('2024-02-01', 'YYYY-MM-DD') + 1 GROUP BY DATE_TRUNC('day', placed), region ORDER BY "SUM(amount)" DESC, 1 LIMIT 10000

-- rows
SELECT DATE_TRUNC('week', placed) AS w, MIN(amount * 2) FROM ns1.orders GROUP BY 1 ORDER BY 1 LIMIT 5

EXPLAIN SELECT * FROM ns1.orders

-- run
CREATE TABLE ns1.tmp_superset_x AS SELECT * FROM ns1.orders LIMIT 3

-- rows
SELECT count(*) FROM ns1.tmp_superset_x

-- run
DROP TABLE ns1.tmp_superset_x
