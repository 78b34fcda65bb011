-- run
BEGIN ISOLATION LEVEL READ COMMITTED

select pg_catalog.version()

-- rows
select current_schema()

-- rows
show standard_conforming_strings

-- rows
show transaction isolation level

-- params {r,p,f,v,m}|orders|ns1
SELECT c.oid > 0 FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE (pg_catalog.pg_table_is_visible(c.oid) OR true) AND c.relname = $2 AND n.nspname = $3 AND c.relkind::text = ANY($1::text[])

-- rows
SELECT a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), (SELECT pg_catalog.pg_get_expr(d.adbin, d.adrelid) FROM pg_catalog.pg_attrdef d WHERE d.adrelid = a.attrelid AND d.adnum = a.attnum AND a.atthasdef) AS DEFAULT, a.attnotnull, pgd.description as comment, a.attgenerated as generated, (SELECT json_build_object('always', a.attidentity = 'a', 'start', s.seqstart, 'increment', s.seqincrement, 'minvalue', s.seqmin, 'maxvalue', s.seqmax, 'cache', s.seqcache, 'cycle', s.seqcycle) FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c on s.seqrelid = c."oid" WHERE c.relkind = 'S' AND a.attidentity != '' AND s.seqrelid = pg_catalog.pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass::oid) as identity_options FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_description pgd ON (pgd.objoid = a.attrelid AND pgd.objsubid = a.attnum) WHERE a.attrelid = 'ns1.all_types'::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum

-- rows
SELECT t.typname as "name", pg_catalog.format_type(t.typbasetype, t.typtypmod) as "attype", not t.typnotnull as "nullable", t.typdefault as "default", pg_catalog.pg_type_is_visible(t.oid) as "visible", n.nspname as "schema" FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.typtype = 'd' AND n.nspname NOT IN ('information_schema')

-- rows
SELECT t.typname as "name", pg_catalog.pg_type_is_visible(t.oid) as "visible", n.nspname as "schema", e.enumlabel as "label" FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace LEFT JOIN pg_catalog.pg_enum e ON t.oid = e.enumtypid WHERE t.typtype = 'e' ORDER BY "schema", "name", e.oid

-- rows
SELECT a.attname FROM pg_attribute a JOIN (SELECT unnest(ix.indkey) attnum, generate_subscripts(ix.indkey, 1) ord FROM pg_index ix WHERE ix.indrelid = 'ns1.orders'::regclass AND ix.indisprimary) k ON a.attnum = k.attnum WHERE a.attrelid = 'ns1.orders'::regclass ORDER BY k.ord

-- rows
SELECT conname FROM pg_catalog.pg_constraint r WHERE r.conrelid = 'ns1.orders'::regclass AND r.contype = 'p' ORDER BY 1

-- rows
SELECT r.conname, pg_catalog.pg_get_constraintdef(r.oid, true) as condef, n.nspname as conschema FROM pg_catalog.pg_constraint r, pg_namespace n, pg_class c WHERE r.conrelid = 'ns1.orders'::regclass AND r.contype = 'f' AND c.oid = confrelid AND n.oid = c.relnamespace ORDER BY 1

-- rows
SELECT i.relname, ix.indisunique, ix.indexprs IS NULL AS ex, a.attname, a.attnum, c.conrelid IS NOT NULL AS con, ix.indkey::varchar, ix.indoption::varchar, i.reloptions, am.amname, pg_get_expr(ix.indpred, ix.indrelid), ix.indnkeyatts as indnkeyatts FROM pg_class t join pg_index ix on t.oid = ix.indrelid join pg_class i on i.oid = ix.indexrelid left outer join pg_attribute a on t.oid = a.attrelid and a.attnum = ANY(ix.indkey) left outer join pg_constraint c on (ix.indrelid = c.conrelid and ix.indexrelid = c.conindid and c.contype in ('p', 'u', 'x')) left outer join pg_am am on i.relam = am.oid WHERE t.relkind IN ('r', 'v', 'f', 'm', 'p') and t.oid = 'ns1.orders'::regclass ORDER BY t.relname, i.relname

-- rows
SELECT cons.conname as name, array_agg(a.attname ORDER BY a.attnum) AS cols FROM pg_catalog.pg_constraint cons JOIN pg_attribute a ON cons.conrelid = a.attrelid AND a.attnum = ANY(cons.conkey) WHERE cons.conrelid = 'ns1.all_types'::regclass AND cons.contype <> 'u' GROUP BY cons.conname

-- rows
SELECT pgd.description as table_comment FROM pg_catalog.pg_description pgd WHERE pgd.objsubid = 0 AND pgd.objoid = 'ns1.orders'::regclass

-- rows
SELECT pg_get_viewdef(c.oid) view_def FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'ns1' AND c.relname = 'nosuch' AND c.relkind IN ('v', 'm')

-- rows
SELECT t.oid, typarray FROM pg_type t JOIN pg_namespace ns ON typnamespace = ns.oid WHERE typname = E'hstore' AND t.typlen > 0 AND t.typdelim = ','

-- rows
WITH RECURSIVE r(t, d) AS (SELECT oid, 0 FROM pg_type WHERE oid = '_int4'::regtype UNION ALL SELECT ty.typelem, r.d + 1 FROM pg_type ty JOIN r ON ty.oid = r.t WHERE ty.typelem <> 0) SELECT format_type(t, NULL), d FROM r ORDER BY d

-- rows
SELECT rngsubtype, rngmultitypid FROM pg_range WHERE rngtypid = 3904

-- rows
SELECT relname FROM pg_class c WHERE reltype >= 0 AND relnamespace = 'ns1'::regnamespace AND relname NOT LIKE 'pg%' AND relkind = 'r' ORDER BY 1

-- run
COMMIT

-- run
CREATE TABLE ns1.pd_t (a BIGINT, b TEXT, c FLOAT(53), d TIMESTAMP WITHOUT TIME ZONE)

-- rows
INSERT INTO ns1.pd_t (a, b, c, d) VALUES (1, 'x', 1.5, '2024-01-01T00:00:00'::timestamp), (2, NULL, NULL, NULL)

-- run
BEGIN

-- run
DECLARE "c_7f7895f76c90_1" CURSOR WITHOUT HOLD FOR SELECT * FROM ns1.pd_t ORDER BY a

-- rows
FETCH FORWARD 1 FROM "c_7f7895f76c90_1"

-- rows
FETCH FORWARD 4 FROM "c_7f7895f76c90_1"

-- run
ROLLBACK

-- run
DROP TABLE ns1.pd_t
