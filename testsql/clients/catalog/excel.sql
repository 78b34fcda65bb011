-- rows
select relname, nspname, relkind from pg_catalog.pg_class c, pg_catalog.pg_namespace n where relkind in ('r', 'v', 'm', 'f', 'p') and nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'pg_temp_1') and n.oid = relnamespace order by nspname, relname

-- rows
SELECT a.attname, t.typname, information_schema._pg_truetypid(a.*, t.*) AS typid, information_schema._pg_truetypmod(a.*, t.*) AS typmod, information_schema._pg_numeric_precision(information_schema._pg_truetypid(a.*, t.*), information_schema._pg_truetypmod(a.*, t.*)) AS prec, information_schema._pg_numeric_scale(information_schema._pg_truetypid(a.*, t.*), information_schema._pg_truetypmod(a.*, t.*)) AS scale, information_schema._pg_datetime_precision(information_schema._pg_truetypid(a.*, t.*), information_schema._pg_truetypmod(a.*, t.*)) AS dtp FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = 'ns1.all_types'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

SELECT a.*, t.*, pg_get_expr(ad.adbin, ad.adrelid)::varchar FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_attrdef ad ON ad.adrelid = a.attrelid AND ad.adnum = a.attnum AND a.atthasdef WHERE a.attrelid = 'ns1.orders'::regclass AND a.attnum > 0

-- rows
SELECT c.relname, c.relnatts, c.relhassubclass, c.relhastriggers, c.reltuples, pg_get_userbyid(c.relowner) IS NOT NULL AS own, (SELECT d.description FROM pg_description d WHERE d.objoid = c.oid AND d.objsubid = 0) AS descr, (SELECT count(*) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p') AS keys, c.relacl::text FROM pg_class c WHERE c.relnamespace = 'ns1'::regnamespace AND c.relkind = 'r' AND EXISTS (SELECT 1 FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attinhcount - 1 < 0 AND a.attndims >= 0) ORDER BY 1

-- rows
SELECT k.conname, k.condeferrable, k.condeferred, k.confdeltype, k.confupdtype, k.confmatchtype, k.conkey, k.confkey, k.confrelid, k.contype, n.nspname FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE k.conrelid <> 0 AND k.oid > 0 AND n.nspname LIKE E'ns%' ORDER BY 1

-- rows
SELECT count(*) FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = 'ns1.orders'::regclass AND d.refobjid <> d.objid AND d.refobjsubid > 0
