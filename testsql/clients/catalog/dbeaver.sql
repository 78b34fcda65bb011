-- rows
SET extra_float_digits = 3

-- run
SET application_name = 'DBeaver 25.1 - Main'

SELECT version()

-- rows
SELECT current_schema(), session_user

-- rows
SHOW search_path

-- rows
SHOW transaction_read_only

-- rows
SELECT db.datname, pg_encoding_to_char(db.encoding) AS enc FROM pg_catalog.pg_database db WHERE datname = current_database() AND NOT datistemplate AND datallowconn

SELECT db.oid, db.*, pg_catalog.pg_database_size(db.oid) FROM pg_catalog.pg_database db ORDER BY db.datname

SELECT n.oid, n.*, d.description FROM pg_catalog.pg_namespace n LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass ORDER BY nspname

-- rows
SELECT n.nspname FROM pg_catalog.pg_namespace n WHERE nspname ILIKE 'NS%' ORDER BY nspname

SELECT t.oid, t.*, c.relkind, format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name, d.description FROM pg_catalog.pg_type t LEFT OUTER JOIN pg_catalog.pg_type et ON et.oid = t.typelem LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid LEFT OUTER JOIN pg_catalog.pg_description d ON t.oid = d.objoid WHERE t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c') AND (et.typcategory IS NULL OR et.typcategory <> 'C')

-- rows
SELECT t.oid, t.typname, t.typlen, t.typbyval, t.typtype, t.typcategory, t.typispreferred, t.typdelim, t.typelem, t.typarray, t.typinput, t.typoutput, t.typreceive, t.typsend, t.typalign, t.typstorage, t.typnotnull, t.typbasetype, t.typtypmod, t.typndims, t.typcollation FROM pg_catalog.pg_type t WHERE t.typname IN ('int4', '_int4', 'bool', 'text', '_text', 'numeric', 'jsonb', 'uuid', 'timestamptz', 'bytea', 'float8', 'date', 'time', 'name', 'char', 'bpchar', 'varchar') ORDER BY t.oid

-- rows
SELECT c.relname, c.relkind, c.relnatts, c.relhasindex, c.relpersistence, c.relispartition, c.relchecks, c.relhassubclass, d.description FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'ns1') AND c.relkind NOT IN ('i', 'I', 'c') ORDER BY 1

SELECT c.oid, c.*, d.description, pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = 'ns1') AND c.relkind NOT IN ('i', 'I', 'c')

-- rows
SELECT c.relname, a.attname, a.attnum, a.attlen, a.attnotnull, a.attidentity, a.attgenerated, a.attisdropped, a.attislocal, a.attinhcount, a.attndims > 0 AS arr, a.attcollation, a.atthasdef, a.attalign, a.attbyval, a.attstorage, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid IS NOT NULL AS dep FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON a.attrelid = c.oid LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON a.attrelid = ad.adrelid AND a.attnum = ad.adnum LEFT OUTER JOIN pg_catalog.pg_description dsc ON c.oid = dsc.objoid AND a.attnum = dsc.objsubid LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid WHERE NOT a.attisdropped AND a.attnum > 0 AND c.oid = 'ns1.all_types'::regclass ORDER BY a.attnum

SELECT c.relname, a.*, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value FROM pg_catalog.pg_attribute a INNER JOIN pg_catalog.pg_class c ON a.attrelid = c.oid LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON a.attrelid = ad.adrelid AND a.attnum = ad.adnum WHERE NOT a.attisdropped AND c.oid = 'ns1.orders'::regclass ORDER BY a.attnum

-- rows
SELECT c.conname, c.contype, c.condeferrable, c.condeferred, c.convalidated, c.confupdtype, c.confdeltype, c.confmatchtype, c.conislocal, c.coninhcount, c.connoinherit, c.conkey, c.confkey, t.relname AS tabrelname, rt.relname AS refrelname, d.description, pg_catalog.pg_get_constraintdef(c.oid, true) AS def FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass WHERE t.relnamespace = 'ns1'::regnamespace ORDER BY 1

SELECT c.oid, c.*, t.relname AS tabrelname FROM pg_catalog.pg_constraint c INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid WHERE c.conrelid = 'ns1.orders'::regclass ORDER BY c.oid

-- rows
SELECT i.indnatts, i.indnkeyatts, i.indisunique, i.indnullsnotdistinct, i.indisprimary, i.indisexclusion, i.indimmediate, i.indisclustered, i.indisvalid, i.indcheckxmin, i.indisready, i.indislive, i.indisreplident, i.indkey, i.indoption, c.relname, tc.relname AS tabrelname, dsc.description, pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr, pg_catalog.pg_get_expr(i.indexprs, i.indrelid, true) AS expr FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid INNER JOIN pg_catalog.pg_class tc ON tc.oid = i.indrelid LEFT OUTER JOIN pg_catalog.pg_description dsc ON i.indexrelid = dsc.objoid WHERE i.indrelid = 'ns1.orders'::regclass

SELECT i.*, i.indkey AS keys, c.relname, c.relnamespace, c.relam, c.reltablespace, pg_catalog.pg_relation_size(i.indexrelid) AS index_rel_size, pg_catalog.pg_stat_get_numscans(i.indexrelid) AS index_num_scans FROM pg_catalog.pg_index i INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid

-- rows
SELECT pg_catalog.pg_get_indexdef(i.indexrelid) FROM pg_catalog.pg_index i WHERE i.indrelid = 'ns1.orders'::regclass

SELECT a.oid, a.*, pg_catalog.pg_get_constraintdef(a.oid) FROM pg_catalog.pg_constraint a WHERE a.contypid <> 0

-- rows
SELECT am.oid, am.amname, am.amtype FROM pg_catalog.pg_am am WHERE amname IN ('heap', 'btree') ORDER BY oid

SELECT am.oid, am.*, am.amhandler::regproc FROM pg_catalog.pg_am am ORDER BY am.oid

SELECT t.oid, t.*, pg_tablespace_location(t.oid) AS loc FROM pg_catalog.pg_tablespace t ORDER BY t.oid

SELECT l.oid, l.* FROM pg_catalog.pg_language l ORDER BY l.oid

SELECT a.oid, a.*, pd.description FROM pg_catalog.pg_roles a LEFT JOIN pg_catalog.pg_shdescription pd ON a.oid = pd.objoid ORDER BY a.rolname

SELECT p.oid, p.*, l.lanname, d.description FROM pg_catalog.pg_proc p LEFT OUTER JOIN pg_catalog.pg_language l ON l.oid = p.prolang LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = p.oid AND d.objsubid = 0 WHERE p.pronamespace = 11 ORDER BY p.proname LIMIT 50

SELECT p.oid, p.proname, a.* FROM pg_catalog.pg_proc p LEFT OUTER JOIN pg_catalog.pg_aggregate a ON a.aggfnoid = p.oid WHERE p.prokind = 'a' LIMIT 20

SELECT x.oid, x.*, p.relname FROM pg_catalog.pg_trigger x INNER JOIN pg_catalog.pg_class p ON p.oid = x.tgrelid WHERE NOT x.tgisinternal

SELECT r.oid, r.*, pg_get_ruledef(r.oid) FROM pg_catalog.pg_rewrite r WHERE r.ev_class = 'ns1.orders'::regclass AND r.rulename <> '_RETURN'::name

-- rows
SELECT e.oid, e.* FROM pg_catalog.pg_enum e WHERE e.enumtypid = 25 ORDER BY e.enumsortorder

-- rows
SELECT i.inhseqno, i.inhdetachpending, c.relname FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class c ON c.oid = i.inhparent WHERE i.inhrelid = 'ns1.orders'::regclass ORDER BY i.inhseqno

-- rows
SELECT DISTINCT dep.deptype, dep.classid, cl.relkind, attr.attname, cl.relname AS a, string_agg(cl.relname, ',') AS b FROM pg_depend dep LEFT JOIN pg_class cl ON dep.objid = cl.oid LEFT JOIN pg_attribute attr ON dep.objid = attr.attrelid AND dep.refobjsubid = attr.attnum WHERE dep.refobjid = 0 AND dep.refclassid <> 0 GROUP BY 1, 2, 3, 4, 5

SELECT e.oid, cfg.tbls, n.nspname AS schema_name, e.* FROM pg_catalog.pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace LEFT JOIN (SELECT 1 AS oid, 't' AS tbls) cfg ON cfg.oid = e.oid ORDER BY e.oid

SELECT name, default_version, installed_version, comment FROM pg_catalog.pg_available_extensions ORDER BY name

SELECT f.*, p.proname AS handler_name FROM pg_catalog.pg_foreign_data_wrapper f LEFT OUTER JOIN pg_proc p ON p.oid = f.fdwhandler ORDER BY f.fdwname

SELECT s.* FROM pg_catalog.pg_foreign_server s ORDER BY s.srvname

SELECT c.oid, c.* FROM pg_catalog.pg_event_trigger c

SELECT defaclacl, defaclobjtype, defaclrole, oid FROM pg_catalog.pg_default_acl WHERE defaclnamespace = 0

SELECT c.oid, c.* FROM pg_catalog.pg_collation c WHERE collname IN ('default', 'C') ORDER BY c.oid

SELECT DISTINCT contoencoding, pg_catalog.pg_encoding_to_char(contoencoding) AS n FROM pg_catalog.pg_conversion

SELECT * FROM pg_catalog.pg_sequences WHERE schemaname = 'ns1'

SELECT * FROM pg_catalog.pg_policies WHERE schemaname = 'ns1' AND tablename = 'orders'

SELECT * FROM pg_catalog.pg_settings ORDER BY name

SELECT l.*, c.relname FROM pg_catalog.pg_locks l LEFT JOIN pg_class c ON c.oid = l.relation

SELECT sa.* FROM pg_catalog.pg_stat_activity sa WHERE sa.pid <> pg_backend_pid()

-- rows
SELECT datname, usename IS NOT NULL, state, backend_type, query LIKE 'SELECT%' FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid()

SELECT word, catcode, catdesc FROM pg_get_keywords() ORDER BY word

-- rows
SELECT string_agg(word, ',' ORDER BY word) FROM pg_catalog.pg_get_keywords() WHERE catcode = 'R' AND word IN ('select', 'from', 'where', 'user', 'window')

SELECT pg_catalog.pg_total_relation_size(c.oid) AS total_rel_size, pg_catalog.pg_relation_size(c.oid) AS rel_size FROM pg_class c WHERE c.oid = 'ns1.orders'::regclass

-- rows
SELECT obj_description('ns1.orders'::regclass, 'pg_class'), substring('ns1.orders' from 5), count(*) FROM ns1.orders

-- rows
SELECT pg_catalog.pg_get_viewdef(0, true)

-- run
SET search_path = ns1,"$user",public

-- rows
SELECT count(*) FROM orders

EXPLAIN (FORMAT XML, ANALYSE) SELECT count(*) FROM ns1.orders
