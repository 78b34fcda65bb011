-- run
SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ UNCOMMITTED

-- run
SET SESSION TIMEZONE TO 'UTC'

-- run
SET ROLE NONE

-- rows
show timezone

-- run
BEGIN READ ONLY

-- rows
SELECT nspname AS "TABLE_SCHEM", current_database() AS "TABLE_CATALOG" FROM pg_catalog.pg_namespace WHERE nspname <> 'pg_toast' AND (nspname !~ '^pg_temp_' OR nspname = (pg_catalog.current_schemas(true))[1]) AND (nspname !~ '^pg_toast_temp_' OR nspname = replace((pg_catalog.current_schemas(true))[1], 'pg_temp_', 'pg_toast_temp_')) ORDER BY "TABLE_SCHEM"

-- rows
SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'f' THEN 'FOREIGN TABLE' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END AS type, d.description AS description, NULLIF(stat.n_live_tup, 0) > 5 AS estimated_row_count FROM pg_catalog.pg_class AS c INNER JOIN pg_catalog.pg_namespace AS n ON c.relnamespace = n.oid LEFT JOIN pg_catalog.pg_description AS d ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass LEFT JOIN pg_stat_user_tables AS stat ON n.nspname = stat.schemaname AND c.relname = stat.relname WHERE c.relnamespace = n.oid AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p', 'v', 'f', 'm') AND n.nspname IN ('ns1', 'public') ORDER BY type, schema, name

-- rows
WITH table_privileges AS (SELECT NULL AS role, t.schemaname AS schema, t.objectname AS table, has_any_column_privilege(current_user, format('%I.%I', t.schemaname, t.objectname)::regclass, 'update') AS update, has_any_column_privilege(current_user, format('%I.%I', t.schemaname, t.objectname)::regclass, 'select') AS select, has_any_column_privilege(current_user, format('%I.%I', t.schemaname, t.objectname)::regclass, 'insert') AS insert, has_table_privilege(current_user, format('%I.%I', t.schemaname, t.objectname)::regclass, 'delete') AS delete FROM (SELECT schemaname, tablename AS objectname FROM pg_catalog.pg_tables UNION SELECT schemaname, viewname AS objectname FROM pg_views UNION SELECT schemaname, matviewname AS objectname FROM pg_matviews) AS t WHERE t.schemaname !~ '^pg_' AND t.schemaname <> 'information_schema' AND has_schema_privilege(current_user, t.schemaname, 'usage')) SELECT t.* FROM table_privileges t ORDER BY 2, 3

-- rows
SELECT c.column_name AS name, CASE WHEN c.udt_schema IN ('public', 'pg_catalog') THEN FORMAT('%s', c.udt_name) ELSE FORMAT('"%s"."%s"', c.udt_schema, c.udt_name) END AS "database-type", c.ordinal_position - 1 AS "database-position", c.table_schema AS "table-schema", c.table_name AS "table-name", pk.column_name IS NOT NULL AS "pk?", COL_DESCRIPTION(CAST(CAST(FORMAT('%I.%I', CAST(c.table_schema AS TEXT), CAST(c.table_name AS TEXT)) AS REGCLASS) AS OID), c.ordinal_position) AS "field-comment", ((column_default IS NULL) OR (LOWER(column_default) = 'null')) AND (is_nullable = 'NO') AND NOT (column_default IS NOT NULL AND column_default LIKE '%nextval(%') AND (is_identity = 'NO') AS "database-required", ((column_default IS NOT NULL AND column_default LIKE '%nextval(%') OR (is_identity <> 'NO')) AS "database-is-auto-increment" FROM information_schema.columns AS c LEFT JOIN (SELECT tc.table_schema, tc.table_name, kc.column_name FROM information_schema.table_constraints AS tc INNER JOIN information_schema.key_column_usage AS kc ON tc.constraint_name = kc.constraint_name AND tc.table_schema = kc.table_schema AND tc.table_name = kc.table_name WHERE tc.constraint_type = 'PRIMARY KEY') AS pk ON c.table_schema = pk.table_schema AND c.table_name = pk.table_name AND c.column_name = pk.column_name WHERE c.table_schema !~ '^information_schema|catalog_history|pg_' AND c.table_schema IN ('ns1') UNION ALL SELECT pa.attname, CASE WHEN ptn.nspname IN ('public', 'pg_catalog') THEN FORMAT('%s', pt.typname) ELSE FORMAT('"%s"."%s"', ptn.nspname, pt.typname) END, pa.attnum - 1, pn.nspname, pc.relname, FALSE, NULL, FALSE, FALSE FROM pg_catalog.pg_class AS pc INNER JOIN pg_catalog.pg_namespace AS pn ON pn.oid = pc.relnamespace INNER JOIN pg_catalog.pg_attribute AS pa ON pa.attrelid = pc.oid INNER JOIN pg_catalog.pg_type AS pt ON pt.oid = pa.atttypid INNER JOIN pg_catalog.pg_namespace AS ptn ON ptn.oid = pt.typnamespace WHERE pc.relkind = 'm' AND pa.attnum >= 1 ORDER BY "table-schema", "table-name", "database-position"

-- rows
SELECT fk_ns.nspname AS "fk-table-schema", fk_table.relname AS "fk-table-name", fk_column.attname AS "fk-column-name" FROM pg_catalog.pg_constraint AS c INNER JOIN pg_class AS fk_table ON c.conrelid = fk_table.oid INNER JOIN pg_namespace AS fk_ns ON c.connamespace = fk_ns.oid INNER JOIN pg_attribute AS fk_column ON c.conrelid = fk_column.attrelid INNER JOIN pg_class AS pk_table ON c.confrelid = pk_table.oid WHERE c.contype = 'f'::"char" AND fk_column.attnum = ANY(c.conkey) AND c.confkey IS NOT NULL ORDER BY 1, 2

-- rows
SELECT tmp."TABLE_NAME", trim(both '"' from pg_catalog.pg_get_indexdef(tmp.ci_oid, tmp.pos, false)) AS "COLUMN_NAME", tmp.filter FROM (SELECT ct.relname AS "TABLE_NAME", ci.oid AS ci_oid, (information_schema._pg_expandarray(i.indkey)).n AS pos, pg_get_expr(i.indpred, i.indrelid) AS filter FROM pg_class ct JOIN pg_index i ON ct.oid = i.indrelid JOIN pg_class ci ON ci.oid = i.indexrelid WHERE ct.relname IN ('orders')) AS tmp

-- rows
SELECT nspname, typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT DISTINCT enumtypid FROM pg_enum e)

-- rows
SELECT date_trunc('week', (placed + (INTERVAL '1 day')))::timestamp + (INTERVAL '-1 day') AS w, count(*)::int8, sum(amount) * 1.0 / 2, percentile_cont(0.5) WITHIN GROUP (ORDER BY amount), floor(avg(amount))::float8 FROM "ns1"."orders" WHERE placed >= timezone('UTC', '2024-01-01T00:00:00Z'::timestamptz) AND placed < '2024-02-01' GROUP BY 1 ORDER BY 1

-- rows
SELECT CAST(extract(dow from placed) AS integer) + 1 AS d, now() - now(), substring(region, 1, 2), (region)::bpchar FROM ns1.orders ORDER BY order_id LIMIT 3

-- run
COMMIT

-- run
CREATE SCHEMA IF NOT EXISTS ns1
