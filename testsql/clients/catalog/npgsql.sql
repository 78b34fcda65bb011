SELECT version()

SELECT version(); SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM (SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind, elemtyp.oid AS elemtypoid, elemcls.relkind AS elemrelkind, CASE WHEN elemproc.proname = 'array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype, typ.typcategory FROM (SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid, typcategory, CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype, CASE WHEN proc.proname = 'array_recv' THEN typ.typelem WHEN typ.typtype = 'r' THEN rngsubtype WHEN typ.typtype = 'm' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid) WHEN typ.typtype = 'd' THEN typ.typbasetype END AS elemtypoid FROM pg_type AS typ LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid) LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)) AS typ LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid) LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive) AS t JOIN pg_namespace AS ns ON (ns.oid = typnamespace) WHERE (typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind = 'c') OR (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) OR (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR (elemtyptype = 'p' AND elemtypoid IN (2249, 2278)) OR (elemtyptype = 'c' AND elemrelkind = 'c')))) AND t.typname IN ('int4', '_int4', 'record', 'void', 'unknown', 'text', '_text', 'bool', 'numeric') ORDER BY t.oid; SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ JOIN pg_class AS cls ON cls.oid = typ.typrelid JOIN pg_attribute AS att ON att.attrelid = typ.typrelid WHERE typ.typtype = 'c' AND cls.relkind = 'c' AND attnum > 0 AND NOT attisdropped; SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid ORDER BY oid, enumsortorder

-- run
BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED

-- run
COMMIT

-- run
BEGIN ISOLATION LEVEL REPEATABLE READ

-- run
ROLLBACK

-- rows
SHOW default_transaction_read_only

-- rows
SELECT current_database(), d.datname, u.usename IS NOT NULL, pg_encoding_to_char(d.encoding) FROM pg_database d JOIN pg_user u ON u.usesysid = d.datdba WHERE d.datname = current_database()

-- rows
SELECT n.nspname, r.rolname IS NOT NULL FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE nspname = 'ns1'

-- rows
SELECT table_catalog, table_schema, table_name, table_type FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, 3

-- rows
SELECT table_catalog, table_schema, table_name, column_name, ordinal_position, column_default, is_nullable, udt_name::regtype::text AS data_type, character_maximum_length, character_octet_length, numeric_precision, numeric_precision_radix, numeric_scale, datetime_precision, character_set_catalog, character_set_schema, character_set_name, collation_catalog, udt_schema FROM information_schema.columns WHERE table_schema = 'ns1' ORDER BY table_name, ordinal_position

-- rows
SELECT table_catalog, table_schema, table_name, check_option, is_updatable FROM information_schema.views WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, 3

-- rows
SELECT schemaname, matviewname, matviewowner, hasindexes, ispopulated FROM pg_catalog.pg_matviews

-- rows
SELECT current_database() AS "constraint_catalog", pgn.nspname AS "constraint_schema", pgc.conname AS "constraint_name", pgt.relname AS "table_name", contype AS "constraint_type", condeferrable AS "is_deferrable", condeferred AS "initially_deferred", conkey FROM pg_catalog.pg_constraint pgc INNER JOIN pg_catalog.pg_namespace pgn ON pgc.connamespace = pgn.oid INNER JOIN pg_catalog.pg_class pgt ON pgc.conrelid = pgt.oid INNER JOIN pg_catalog.pg_namespace pgtn ON pgt.relnamespace = pgtn.oid WHERE contype = ANY(ARRAY['f', 'p', 'u']::"char"[]) AND pgtn.nspname = 'ns1' ORDER BY 3

-- rows
SELECT t.relname AS table_name, i.relname AS index_name, a.attname AS column_name, ix.indisunique, ix.indisprimary, ix.indkey[0] FROM pg_class t, pg_class i, pg_index ix, pg_attribute a WHERE t.oid = ix.indrelid AND i.oid = ix.indexrelid AND a.attrelid = t.oid AND a.attnum = ANY(ix.indkey) AND t.relkind = 'r' AND t.relnamespace = 'ns1'::regnamespace ORDER BY t.relname, i.relname

SELECT ix.*, i.relowner FROM pg_index ix JOIN pg_class i ON i.oid = ix.indexrelid

-- rows
SELECT attname, typ.oid, atttypid, atttypmod, CASE WHEN attidentity = 'a' THEN TRUE ELSE FALSE END AS "isidentity", CASE WHEN atthasdef THEN (SELECT pg_get_expr(adbin, cls.oid) FROM pg_attrdef WHERE adrelid = cls.oid AND adnum = attr.attnum) ELSE NULL END AS "default", CASE WHEN (cls.relkind = ANY(ARRAY['r'::"char", 'p'::"char"])) THEN TRUE ELSE FALSE END AS upd, EXISTS (SELECT * FROM pg_index WHERE pg_index.indrelid = cls.oid AND pg_index.indisprimary AND attnum = ANY(indkey)) AS "isprimarykey", attnotnull, format_type(atttypid, atttypmod) FROM pg_attribute AS attr JOIN pg_type AS typ ON attr.atttypid = typ.oid JOIN pg_class AS cls ON cls.oid = attr.attrelid JOIN pg_namespace AS ns ON ns.oid = cls.relnamespace WHERE atttypid <> 0 AND relkind IN ('r', 'v', 'm') AND NOT attisdropped AND nspname NOT IN ('pg_catalog', 'information_schema') AND attnum > 0 AND (cls.oid = 'ns1.orders'::regclass OR cls.relname = E'all_types') ORDER BY cls.relname, attnum

SELECT a.attname, pg_column_is_updatable(c.oid::regclass, a.attnum, false) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.oid = 'ns1.orders'::regclass AND a.attnum > 0

-- run
SET SESSION AUTHORIZATION DEFAULT;RESET ALL;CLOSE ALL;UNLISTEN *;SELECT pg_advisory_unlock_all();DISCARD SEQUENCES;DISCARD TEMP

-- run
DISCARD ALL
