-- rows
SELECT unnest(current_schemas(true))

-- rows
SELECT nspname FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_t' ORDER BY 1

-- rows
SELECT n.nspname schema_name, c.relname table_name FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = ANY(array['r', 'p', 'f']) AND n.nspname IN ('ns1', 'public') ORDER BY 1, 2

-- rows
SELECT nsp.nspname schema_name, cls.relname table_name, att.attname column_name, att.atttypid::regtype::text type_name, att.atthasdef AS has_default, pg_catalog.pg_get_expr(def.adbin, def.adrelid, true) as default FROM pg_catalog.pg_attribute att INNER JOIN pg_catalog.pg_class cls ON att.attrelid = cls.oid INNER JOIN pg_catalog.pg_namespace nsp ON cls.relnamespace = nsp.oid LEFT OUTER JOIN pg_attrdef def ON def.adrelid = att.attrelid AND def.adnum = att.attnum WHERE cls.relkind = ANY(array['r', 'p', 'f']) AND NOT att.attisdropped AND att.attnum > 0 AND nsp.nspname = 'ns1' ORDER BY 1, 2, att.attnum

-- rows
SELECT s_p.nspname AS parentschema, t_p.relname AS parenttable, unnest((select array_agg(attname ORDER BY i) from (select unnest(confkey) as attnum, generate_subscripts(confkey, 1) as i) x JOIN pg_catalog.pg_attribute c USING(attnum) WHERE c.attrelid = fk.confrelid)) AS parentcolumn, s_c.nspname AS childschema FROM pg_catalog.pg_constraint fk JOIN pg_catalog.pg_class t_p ON t_p.oid = fk.confrelid JOIN pg_catalog.pg_namespace s_p ON s_p.oid = t_p.relnamespace JOIN pg_catalog.pg_class t_c ON t_c.oid = fk.conrelid JOIN pg_catalog.pg_namespace s_c ON s_c.oid = t_c.relnamespace WHERE fk.contype = 'f'

SELECT n.nspname schema_name, p.proname func_name, p.proargnames, COALESCE(proallargtypes::regtype[], proargtypes::regtype[])::text[], p.proargmodes, prorettype::regtype::text return_type, p.prokind = 'a' is_aggregate, p.prokind = 'w' is_window, p.proretset is_set_returning, d.deptype = 'e' is_extension, pg_get_expr(proargdefaults, 0) AS arg_defaults FROM pg_catalog.pg_proc p INNER JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace LEFT JOIN pg_depend d ON d.objid = p.oid and d.deptype = 'e' WHERE p.prorettype::regtype != 'trigger'::regtype ORDER BY 1, 2 LIMIT 100

-- rows
SELECT n.nspname schema_name, t.typname type_name FROM pg_catalog.pg_type t INNER JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE (t.typrelid = 0 OR (SELECT c.relkind = 'c' FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)) AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_type el WHERE el.oid = t.typelem AND el.typarray = t.oid) AND n.nspname <> 'pg_catalog' AND n.nspname <> 'information_schema' ORDER BY 1, 2

-- rows
SELECT d.datname FROM pg_catalog.pg_database d WHERE d.datname <> 'postgres' AND d.datname NOT LIKE 'template%' ORDER BY 1

-- rows
SELECT d.datname, pg_catalog.pg_encoding_to_char(d.encoding) as "Encoding", d.datctype <> '' AS c, d.datcollate <> '' AS k, array_to_string(d.datacl, E'\n') AS acl, pg_get_userbyid(d.datdba) IS NOT NULL FROM pg_catalog.pg_database d WHERE d.datname = current_database()

-- rows
SELECT n.nspname as "Schema", c.relname as "Name", CASE c.relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' WHEN 'p' THEN 'partitioned table' END as "Type" FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname OPERATOR(pg_catalog.~) '^(ns1)$' AND c.relkind IN ('r', 'p', 'v', '') ORDER BY 1, 2

-- rows
SELECT c.relchecks, c.relkind, c.relhasindex, c.relhasrules, c.relhastriggers, c.reltoastrelid <> 0 IS NOT NULL, c.reltablespace, CASE WHEN c.reloftype = 0 THEN '' ELSE c.reloftype::pg_catalog.regtype::pg_catalog.text END, c.relpersistence, c.relispartition FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_class tc ON (c.reltoastrelid = tc.oid) WHERE c.oid = 'ns1.orders'::regclass

-- rows
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT substring(pg_catalog.pg_get_expr(d.adbin, d.adrelid) for 128) FROM pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef), a.attnotnull, a.attnum, (SELECT c.collname FROM pg_catalog.pg_collation c, pg_catalog.pg_type t WHERE c.oid = a.attcollation AND t.oid = a.atttypid AND a.attcollation <> t.typcollation) AS attcollation, a.attidentity, a.attgenerated, pg_catalog.col_description(a.attrelid, a.attnum) FROM pg_catalog.pg_attribute a WHERE a.attrelid = 'ns1.orders'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- rows
SELECT c2.relname, i.indisprimary, i.indisunique, i.indisclustered, i.indisvalid, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true), pg_catalog.pg_get_constraintdef(con.oid, true), contype, condeferrable, condeferred, c2.reltablespace, i.indnatts, i.indnkeyatts, i.indpred FROM pg_catalog.pg_class c, pg_catalog.pg_class c2, pg_catalog.pg_index i LEFT JOIN pg_catalog.pg_constraint con ON (conrelid = i.indrelid AND conindid = i.indexrelid AND contype IN ('p', 'u', 'x')) WHERE c.oid = 'ns1.orders'::regclass AND c.oid = i.indrelid AND i.indexrelid = c2.oid ORDER BY i.indisprimary DESC, i.indisunique DESC, c2.relname

-- rows
SELECT conname, pg_catalog.pg_get_constraintdef(r.oid, true) as condef, conrelid::pg_catalog.regclass FROM pg_catalog.pg_constraint r WHERE r.conrelid = 'ns1.orders'::regclass AND r.contype = 'f' AND confkey[array_upper(confkey, 1)] > 0 AND confdeltype >= 'a' AND confupdtype > ' '

SELECT t.tgname, pg_catalog.pg_get_triggerdef(t.oid, true), t.tgenabled, t.tgisinternal FROM pg_catalog.pg_trigger t WHERE t.tgrelid = 'ns1.orders'::regclass

SELECT c.oid::pg_catalog.regclass, i.inhseqno FROM pg_catalog.pg_class c, pg_catalog.pg_inherits i WHERE c.oid = i.inhparent AND i.inhrelid = 'ns1.orders'::regclass ORDER BY inhseqno

SELECT spcname, pg_tablespace_location(oid) FROM pg_tablespace

SELECT n.nspname, p.proname, pg_catalog.pg_get_function_result(p.oid), pg_catalog.pg_get_function_arguments(p.oid) FROM pg_catalog.pg_proc p LEFT JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE p.proname ~ '^(lower|count)$' ORDER BY 1, 2, 4

-- rows
SELECT quote_ident('Ab'), current_setting('server_version_num') >= '150000', has_schema_privilege('ns1', 'USAGE'), pg_index_column_has_property('ns1.orders_pkey'::regclass, 1, 'asc'), pg_class.tableoid::regclass, relpages >= 0, reltuples, amname FROM pg_class LEFT JOIN pg_am ON pg_am.oid = relam WHERE pg_class.oid = 'ns1.orders'::regclass

-- rows
SELECT v, o, generate_series(1, 2) FROM unnest(array[3, 1, 2]) WITH ORDINALITY AS t(v, o) ORDER BY o - 1

-- rows
SELECT d.description, d.classoid::regclass::text, d.objsubid FROM pg_description d WHERE d.objoid = 'ns1.orders'::regclass ORDER BY 3

-- params ns1|ord%
SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname LIKE $2 AND relkind = 'r'

-- rows
SELECT count(*) FROM pg_depend WHERE objsubid > 99 AND refobjsubid > 99 AND refclassid = 0
