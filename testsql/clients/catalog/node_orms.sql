-- run
SET client_min_messages TO warning;SET TIME ZONE INTERVAL '+00:00' HOUR TO MINUTE

SELECT version()

-- rows
SELECT current_database() AS "db", current_schema() AS "s"

SELECT typname, typtype, oid, typarray FROM pg_type WHERE (typtype = 'b' AND typname IN ('hstore', 'geometry', 'int4', 'text')) OR (typtype = 'e') ORDER BY oid

-- rows
SELECT t.typname, r.rngsubtype FROM pg_type t JOIN pg_range r ON r.rngtypid = t.oid WHERE t.typname IN ('int4range', 'tsrange') ORDER BY 1

-- rows
SELECT schema_name FROM information_schema.schemata WHERE schema_name <> 'information_schema' AND schema_name != 'public' AND schema_name !~ E'^pg_' ORDER BY 1

-- rows
SELECT * FROM "information_schema"."tables" WHERE "table_schema" = 'ns1' AND "table_name" = 'orders'

-- rows
SELECT "table_schema", "table_name", "is_insertable_into", "is_typed", "commit_action" FROM "information_schema"."tables" WHERE table_type LIKE '%TABLE' AND table_type NOT LIKE '%VIEW' AND table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2

-- rows
SELECT *, ('"' || "udt_schema" || '"."' || "udt_name" || '"')::"regtype"::text AS "regtype", pg_catalog.format_type("col_attr"."atttypid", "col_attr"."atttypmod") AS "format_type" FROM "information_schema"."columns" LEFT JOIN "pg_catalog"."pg_attribute" AS "col_attr" ON "col_attr"."attname" = "columns"."column_name" AND "col_attr"."attrelid" = (SELECT "cls"."oid" FROM "pg_catalog"."pg_class" AS "cls" LEFT JOIN "pg_catalog"."pg_namespace" AS "ns" ON "ns"."oid" = "cls"."relnamespace" WHERE "cls"."relname" = "columns"."table_name" AND "ns"."nspname" = "columns"."table_schema") WHERE 1 = 0

-- rows
SELECT "columns".*, ('"' || "udt_schema" || '"."' || "udt_name" || '"')::"regtype"::text AS "regtype" FROM "information_schema"."columns" WHERE ("table_schema" = 'ns1' AND "table_name" = 'all_types') ORDER BY ordinal_position

-- rows
SELECT pk.constraint_type as "Constraint", c.column_name as "Field", c.column_default as "Default", c.is_nullable as "Null", CASE WHEN c.udt_name = 'hstore' THEN c.udt_name ELSE c.data_type END || (CASE WHEN c.character_maximum_length IS NOT NULL THEN '(' || c.character_maximum_length || ')' ELSE '' END) as "Type", (SELECT array_agg(e.enumlabel) FROM pg_catalog.pg_type t JOIN pg_catalog.pg_enum e ON t.oid = e.enumtypid WHERE t.typname = c.udt_name) AS "special", (SELECT pgd.description FROM pg_catalog.pg_statio_all_tables AS st INNER JOIN pg_catalog.pg_description pgd on (pgd.objoid = st.relid) WHERE c.ordinal_position = pgd.objsubid AND c.table_name = st.relname) AS "Comment" FROM information_schema.columns c LEFT JOIN (SELECT tc.table_schema, tc.table_name, cu.column_name, tc.constraint_type FROM information_schema.TABLE_CONSTRAINTS tc JOIN information_schema.KEY_COLUMN_USAGE cu ON tc.table_schema = cu.table_schema and tc.table_name = cu.table_name and tc.constraint_name = cu.constraint_name and tc.constraint_type = 'PRIMARY KEY') pk ON pk.table_schema = c.table_schema AND pk.table_name = c.table_name AND pk.column_name = c.column_name WHERE c.table_name = 'orders' AND c.table_schema = 'ns1' ORDER BY c.ordinal_position

-- rows
SELECT i.relname AS name, ix.indisprimary AS primary, ix.indisunique AS unique, ix.indkey AS indkey, array_agg(a.attnum) as column_indexes, array_agg(a.attname) AS column_names, pg_get_indexdef(ix.indexrelid) AS definition FROM pg_class t, pg_class i, pg_index ix, pg_attribute a, pg_namespace s WHERE t.oid = ix.indrelid AND i.oid = ix.indexrelid AND a.attrelid = t.oid AND a.attnum > 0 AND t.relkind = 'r' and t.relname = 'orders' AND s.oid = t.relnamespace AND s.nspname = 'ns1' GROUP BY i.relname, ix.indexrelid, ix.indisprimary, ix.indisunique, ix.indkey ORDER BY i.relname

-- rows
SELECT DISTINCT tc.constraint_name as constraint_name, tc.constraint_schema as constraint_schema, tc.constraint_catalog as constraint_catalog, tc.table_name as table_name, tc.table_schema as table_schema, tc.table_catalog as table_catalog, tc.initially_deferred as initially_deferred, tc.is_deferrable as is_deferrable, kcu.column_name as column_name, ccu.table_schema AS referenced_table_schema, ccu.table_catalog AS referenced_table_catalog, ccu.table_name AS referenced_table_name, ccu.column_name AS referenced_column_name FROM information_schema.table_constraints AS tc JOIN information_schema.key_column_usage AS kcu ON tc.constraint_name = kcu.constraint_name JOIN information_schema.constraint_column_usage AS ccu ON ccu.constraint_name = tc.constraint_name WHERE constraint_type = 'FOREIGN KEY' AND tc.table_name = 'orders' AND tc.table_catalog = 'lake'

-- rows
SELECT tc.constraint_name, ccu.column_name, ccu.table_catalog FROM information_schema.table_constraints tc JOIN information_schema.constraint_column_usage ccu ON ccu.constraint_name = tc.constraint_name AND ccu.table_schema = tc.table_schema AND ccu.table_name = tc.table_name WHERE tc.table_schema = 'ns1' AND tc.constraint_type = 'PRIMARY KEY' ORDER BY 1

-- rows
SELECT "ns"."nspname" AS "table_schema", "t"."relname" AS "table_name", "cnst"."conname" AS "constraint_name", pg_get_constraintdef("cnst"."oid") AS "expression", CASE "cnst"."contype" WHEN 'p' THEN 'PRIMARY' WHEN 'u' THEN 'UNIQUE' WHEN 'c' THEN 'CHECK' WHEN 'x' THEN 'EXCLUDE' END AS "constraint_type", "a"."attname" AS "column_name" FROM "pg_constraint" "cnst" INNER JOIN "pg_class" "t" ON "t"."oid" = "cnst"."conrelid" INNER JOIN "pg_namespace" "ns" ON "ns"."oid" = "cnst"."connamespace" LEFT JOIN "pg_attribute" "a" ON "a"."attrelid" = "cnst"."conrelid" AND "a"."attnum" = ANY ("cnst"."conkey") WHERE "t"."relkind" IN ('r', 'p') AND (("ns"."nspname" = 'ns1' AND "t"."relname" = 'orders')) ORDER BY 3

-- rows
SELECT con.conname AS "constraint_name", con.confdeltype, con.confupdtype, con.condeferrable, con.condeferred, con.nspname, "a"."attname", "cl"."relname" AS "referenced_table_name" FROM (SELECT UNNEST ("con1"."conkey") AS "parent", UNNEST ("con1"."confkey") AS "child", "con1"."confrelid", "con1"."conrelid", "con1"."conname", "con1"."contype", "ns"."nspname", con1.confdeltype, con1.confupdtype, con1.condeferrable, con1.condeferred FROM "pg_class" "cl" INNER JOIN "pg_namespace" "ns" ON "cl"."relnamespace" = "ns"."oid" INNER JOIN "pg_constraint" "con1" ON "con1"."conrelid" = "cl"."oid" WHERE "con1"."contype" = 'f' AND (("ns"."nspname" = 'ns1' AND "cl"."relname" = 'orders'))) "con" INNER JOIN "pg_attribute" "a" ON "a"."attrelid" = "con"."confrelid" AND "a"."attnum" = "con"."child" INNER JOIN "pg_class" "cl" ON "cl"."oid" = "con"."confrelid" AND "cl"."relispartition" = 'f'

-- rows
SELECT pg_get_serial_sequence('ns1.orders', 'order_id'), obj_description('ns1.orders'::regclass, 'pg_class'), col_description('ns1.orders'::regclass, 1), quote_ident('orders'), 'orders'::name, to_regclass('ns1.orders') IS NOT NULL

-- rows
WITH x AS (SELECT nspname, has_schema_privilege(nspname, 'USAGE') AS u FROM pg_namespace WHERE nspname = 'ns1') SELECT * FROM x

-- rows
SELECT att.attname, pg_get_expr(d.adbin, d.adrelid), am.amname FROM pg_attribute att LEFT JOIN pg_attrdef d ON d.adrelid = att.attrelid AND d.adnum = att.attnum AND att.atthasdef JOIN pg_class c ON c.oid = att.attrelid LEFT JOIN pg_am am ON am.oid = c.relam WHERE att.attrelid = 'ns1.orders'::regclass AND att.attnum >= 1 AND NOT att.attisdropped AND att.attnotnull ORDER BY att.attnum

-- params orders|ns1
SELECT count(*)::int4 FROM information_schema.tables WHERE table_name = $1 AND table_schema = $2

-- rows
SELECT pred.indpred IS NULL FROM pg_index pred WHERE indrelid = 'ns1.orders'::regclass AND indkey[0] + 1 = 2

-- rows
SELECT (SELECT e.enumlabel FROM pg_enum e WHERE e.enumsortorder > 0 ORDER BY e.enumsortorder LIMIT 1)
