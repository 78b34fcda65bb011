-- run
SET DateStyle = 'ISO'

-- run
SET extra_float_digits = 2

-- run
SET application_name = 'Tableau Desktop'

-- rows
SELECT current_database(), current_schema()

-- run
BEGIN

-- rows
declare "SQL_CUR0x1" cursor with hold for SELECT order_id, customer FROM ns1.orders ORDER BY order_id

-- rows
fetch 10 in "SQL_CUR0x1"

-- run
COMMIT

-- rows
fetch 10000 in "SQL_CUR0x1"

-- run
close "SQL_CUR0x1"

-- run
CREATE LOCAL TEMPORARY TABLE "#Tableau_1_1_Connect" ("COL" INTEGER NOT NULL) ON COMMIT PRESERVE ROWS

-- rows
SELECT "COL" FROM (SELECT 1 AS "COL") AS "SUBQUERY"

-- run
DROP TABLE IF EXISTS "#Tableau_1_1_Connect"

-- rows
SELECT (SUM("orders"."amount") / NULLIF(COUNT("orders"."amount"), 0))::float8 > 0 AS "avg", CAST(EXTRACT(YEAR FROM "orders"."placed") AS INTEGER) AS "yr:placed:ok" FROM "ns1"."orders" "orders" GROUP BY 2

-- rows
SELECT DATE_TRUNC('MONTH', "orders"."placed") AS "tmn:placed:ok", MIN("orders"."amount"), MAX("orders"."amount"), AVG("orders"."amount")::float8, COUNT(1)::int8 FROM "ns1"."orders" "orders" GROUP BY 1 ORDER BY 1

-- rows
SELECT CAST("orders"."placed" AS DATE), CAST("orders"."placed" AS timestamptz) FROM "ns1"."orders" "orders" WHERE "orders"."customer" IS NOT DISTINCT FROM NULL ORDER BY order_id LIMIT 5

-- rows
SELECT "t"."region" FROM (SELECT DISTINCT "region" FROM "ns1"."orders") "t" WHERE "t"."region" ~ '^[a-e]' AND "t"."region" !~ 'x' AND "t"."region" LIKE '%u' ORDER BY 1

-- rows
SELECT n.nspname, c.relname, c.relkind, c.relhassubclass FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1') ORDER BY 1, 2

-- rows
SELECT n.nspname, c.relname, a.attname, t.typname, a.attnum, a.attlen, a.attnotnull, c.relhasrules, c.relkind, pg_catalog.pg_get_expr(d.adbin, d.adrelid) AS def, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE 0 END AS base, t.typtypmod, a.attidentity FROM ((pg_catalog.pg_class c INNER JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND c.relname LIKE 'orders' AND n.nspname LIKE 'ns1') INNER JOIN pg_catalog.pg_attribute a ON (NOT a.attisdropped) AND a.attnum > 0 AND a.attrelid = c.oid) INNER JOIN pg_catalog.pg_type t ON t.oid = a.atttypid LEFT OUTER JOIN pg_attrdef d ON a.atthasdef AND d.adrelid = a.attrelid AND d.adnum = a.attnum ORDER BY n.nspname, c.relname, a.attnum

-- rows
SELECT a.attname, t.typnotnull, a.atttypmod <> 0 AS m, d.description FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_description d ON d.objoid = a.attrelid AND d.objsubid = a.attnum AND d.classoid = 'pg_class'::regclass WHERE a.attrelid = 'ns1.orders'::regclass AND a.attnum > 0 ORDER BY a.attnum

-- rows
SELECT result."TABLE_NAME", result."COLUMN_NAME", result."KEY_SEQ", result."PK_NAME" FROM (SELECT ct.relname AS "TABLE_NAME", a.attname AS "COLUMN_NAME", (information_schema._pg_expandarray(i.indkey)).n AS "KEY_SEQ", ci.relname AS "PK_NAME", information_schema._pg_expandarray(i.indkey) AS keys, a.attnum AS a_attnum FROM pg_catalog.pg_class ct JOIN pg_catalog.pg_attribute a ON ct.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON ct.relnamespace = n.oid JOIN pg_catalog.pg_index i ON a.attrelid = i.indrelid JOIN pg_catalog.pg_class ci ON ci.oid = i.indexrelid WHERE n.nspname = 'ns1' AND ct.relname = 'orders' AND i.indisprimary) result WHERE result.a_attnum = (result.keys).x ORDER BY 1, 3

-- rows
SELECT pkn.nspname AS "PKTABLE_SCHEM", pkc.relname AS "PKTABLE_NAME", pka.attname, pos.n AS "KEY_SEQ", con.confupdtype, con.confdeltype, con.conname, con.condeferrable, con.condeferred FROM pg_catalog.pg_namespace pkn, pg_catalog.pg_class pkc, pg_catalog.pg_attribute pka, pg_catalog.pg_constraint con, pg_catalog.generate_series(1, 32) pos(n) WHERE pkn.oid = pkc.relnamespace AND pkc.oid = pka.attrelid AND pka.attnum = con.confkey[pos.n] AND con.confrelid = pkc.oid AND con.contype = 'f' AND con.conkey[pos.n] > 0 AND con.conindid <> 0 ORDER BY 1, 2, 3

-- rows
SELECT CAST("amount" - 1 AS numeric) + 0 <> 5, (order_id::int8 - 1) FROM ns1.orders WHERE amount >= 999 OR amount > 998 AND order_id < 999 ORDER BY order_id

-- run
SET TRANSACTION ISOLATION LEVEL READ COMMITTED
