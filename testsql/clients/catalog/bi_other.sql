-- run
SET datestyle TO 'ISO'

-- run
SET extra_float_digits TO 3

-- run
SET intervalstyle TO 'postgres'

-- run
SET search_path TO ns1, public

-- run
SET timezone TO 'UTC'

-- run
START TRANSACTION ISOLATION LEVEL REPEATABLE READ

-- run
DECLARE c1 CURSOR FOR SELECT order_id, amount FROM ns1.orders ORDER BY order_id

-- rows
FETCH 100 FROM c1

-- run
CLOSE c1

-- run
COMMIT TRANSACTION

-- rows
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname <> 'pg_toast' AND (nspname !~~ 'pg\_temp\_%' OR oid = pg_my_temp_schema()) AND NOT pg_is_other_temp_schema(oid) AND has_schema_privilege(oid, 'USAGE') AND nspname = ANY(current_schemas(true)) ORDER BY 1

-- rows
SELECT 1 FROM information_schema.tables LIMIT 1

SELECT table_catalog, table_schema, table_name, grantee, privilege_type FROM information_schema.table_privileges WHERE table_schema = 'ns1' AND grantee = current_user ORDER BY 3, 5

-- rows
WITH att AS (SELECT a.attrelid, a.attname, a.attnum, a.atttypid, a.atttypmod, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS nn, t.typname FROM pg_attribute a JOIN pg_type t ON a.atttypid = t.oid WHERE a.attnum > 0 AND NOT a.attisdropped) SELECT c.relname, att.attname, att.nn, att.typname, ((att.atttypmod - 4) >> 16) & 65535 AS prec, (att.atttypmod - 4) & 65535 AS scale, pg_get_expr(d.adbin, d.adrelid), ds.description FROM att JOIN pg_class c ON c.oid = att.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_attrdef d ON d.adrelid = att.attrelid AND d.adnum = att.attnum LEFT JOIN pg_description ds ON ds.objoid = att.attrelid AND ds.objsubid = att.attnum AND ds.classoid = 'pg_class'::regclass WHERE n.nspname = 'ns1' AND c.relkind IN ('r', 'v', 'm') ORDER BY 1, att.attnum

-- rows
SELECT c.relname, c.reltuples, c.relpages >= 0 FROM pg_class c WHERE EXISTS (SELECT 1 FROM pg_namespace n WHERE n.oid = c.relnamespace AND n.nspname = 'ns1') AND relkind = 'r' ORDER BY 1

-- rows
SELECT a.attname, k.n FROM (SELECT i.indrelid, (information_schema._pg_expandarray(i.indkey)).* FROM pg_index i WHERE i.indisprimary AND i.indrelid = 'ns1.orders'::regclass) k JOIN pg_attribute a ON a.attrelid = k.indrelid AND a.attnum = k.x

-- rows
SELECT (e.k).x, (e.k).n FROM (SELECT information_schema._pg_expandarray(indkey) AS k FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname = 'orders_pkey') e

-- rows
SELECT conkey::int2[], contype::text FROM pg_constraint JOIN pg_namespace n ON n.oid = connamespace WHERE conrelid = 'ns1.orders'::regclass AND n.nspname = 'ns1'

-- rows
SELECT datname FROM pg_database WHERE datname = current_database() AND current_schema() = 'ns1'

-- rows
SELECT * FROM (SELECT 1 AS a, 2::int8 AS b) x JOIN (SELECT 1 AS a, 3 AS c) y USING (a)
