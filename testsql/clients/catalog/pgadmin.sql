-- run
SET DateStyle=ISO; SET client_min_messages=notice; SELECT set_config('bytea_output','hex',false) FROM pg_show_all_settings() WHERE name = 'bytea_output'; SET client_encoding='UTF8'

SELECT version(), current_database(), current_setting('server_version_num')::int4 / 10000

SELECT db.oid as did, db.datname, db.datallowconn, db.datconnlimit, db.datdba, db.datlocprovider, db.daticulocale, db.datcollversion, db.datacl, db.dattablespace, db.datistemplate, pg_encoding_to_char(db.encoding) AS serverencoding, has_database_privilege(db.oid, 'CREATE') as cancreate FROM pg_catalog.pg_database db WHERE db.datname = current_database()

-- rows
SELECT gss_authenticated, encrypted FROM pg_catalog.pg_stat_gssapi WHERE pid = pg_backend_pid()

-- rows
SELECT roles.rolname IS NOT NULL, roles.rolsuper, CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreaterole END AS can_create_role, CASE WHEN roles.rolsuper THEN true ELSE roles.rolcreatedb END AS can_create_db, roles.rolcanlogin, CASE WHEN 'pg_signal_backend' = ANY(ARRAY(WITH RECURSIVE cte AS (SELECT pg_roles.oid, pg_roles.rolname FROM pg_roles WHERE pg_roles.oid = roles.oid UNION ALL SELECT m.roleid, pgr.rolname FROM cte cte_1 JOIN pg_auth_members m ON m.member = cte_1.oid JOIN pg_roles pgr ON pgr.oid = m.roleid) SELECT rolname FROM cte)) THEN True ELSE False END AS can_signal_backend FROM pg_catalog.pg_roles as roles WHERE rolname = current_user

SELECT nsp.oid, nsp.nspname as name, pg_catalog.has_schema_privilege(nsp.oid, 'CREATE') as can_create, pg_catalog.has_schema_privilege(nsp.oid, 'USAGE') as has_usage, pg_get_userbyid(nspowner), nspacl, des.description FROM pg_catalog.pg_namespace nsp LEFT JOIN pg_description des ON des.objoid = nsp.oid AND des.classoid = 'pg_namespace'::regclass WHERE nspname NOT LIKE E'pg\\_%' ORDER BY nspname

-- rows
SELECT nsp.nspname, quote_ident(nspname), has_schema_privilege(nsp.oid, 'USAGE') FROM pg_namespace nsp WHERE nspname = 'ns1'

SELECT rel.oid, rel.relname AS name, (SELECT count(*) FROM pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE) AS triggercount, (SELECT count(*) FROM pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE AND tgenabled = 'O') AS has_enable_triggers, (CASE WHEN rel.relkind = 'p' THEN true ELSE false END) AS is_partitioned, (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhrelid = rel.oid LIMIT 1) as is_inherits, des.description, rel.relhassubclass, rel.relrowsecurity, rel.relforcerowsecurity, rel.relreplident, rel.reloptions, rel.reloftype, rel.reltoastrelid, am.amname FROM pg_catalog.pg_class rel LEFT JOIN pg_am am ON am.oid = rel.relam LEFT JOIN pg_description des ON des.objoid = rel.oid AND des.objsubid = 0 WHERE rel.relkind IN ('r', 's', 't', 'p') AND rel.relnamespace = 'ns1'::regnamespace AND NOT rel.relispartition ORDER BY rel.relname

-- rows
SELECT rel.relname, rel.reltuples, rel.relpersistence, rel.relkind, pg_get_partkeydef(rel.oid) || NULL AS partkey, pg_get_expr(rel.relpartbound, rel.oid), (SELECT array_to_string(array_agg(quote_ident(attname)), ',') FROM pg_attribute a JOIN pg_constraint c ON c.conrelid = a.attrelid AND a.attnum = ANY(c.conkey) WHERE a.attrelid = rel.oid AND c.contype = 'p' AND c.conislocal AND c.convalidated) AS pk, obj_description(rel.oid, 'pg_class') FROM pg_class rel WHERE rel.relnamespace = 'ns1'::regnamespace AND relkind = 'r' ORDER BY 1

-- rows
SELECT DISTINCT ON (att.attnum) att.attname as name, att.attnum, att.attlen, att.attnotnull as not_null, att.attndims > 0 AS d, att.attidentity, att.attgenerated, att.attstorage, att.attcompression, att.attoptions, att.attfdwoptions, att.attacl, pg_catalog.format_type(ty.oid, NULL) AS typname, pg_catalog.format_type(ty.oid, att.atttypmod) AS displaytypname, pg_get_expr(def.adbin, def.adrelid) AS defval, CASE WHEN ty.typelem > 0 THEN ty.typelem ELSE ty.oid END as elemoid, CASE WHEN length(coll.collname) > 0 AND length(nspc.nspname) > 0 THEN concat(quote_ident(nspc.nspname), '.', quote_ident(coll.collname)) ELSE '' END AS collspcname, (SELECT count(1) FROM pg_type t2 WHERE t2.typname = ty.typname) > 1 AS isdup, ty.typstorage AS defaultstorage, des.description FROM pg_attribute att JOIN pg_type ty ON ty.oid = att.atttypid LEFT OUTER JOIN pg_attrdef def ON def.adrelid = att.attrelid AND def.adnum = att.attnum LEFT OUTER JOIN pg_description des ON des.objoid = att.attrelid AND des.objsubid = att.attnum AND des.classoid = 'pg_class'::regclass LEFT OUTER JOIN (pg_depend dep JOIN pg_class cs ON dep.classid = 'pg_class'::regclass AND dep.objid = cs.oid AND cs.relkind = 'S') ON dep.refobjid = att.attrelid AND dep.refobjsubid = att.attnum LEFT OUTER JOIN pg_index pi ON pi.indrelid = att.attrelid AND indisprimary LEFT OUTER JOIN pg_collation coll ON att.attcollation = coll.oid LEFT OUTER JOIN pg_namespace nspc ON coll.collnamespace = nspc.oid LEFT OUTER JOIN pg_sequence seq ON cs.oid = seq.seqrelid WHERE att.attrelid = 'ns1.all_types'::regclass AND att.attnum > 0 AND att.attisdropped IS FALSE ORDER BY att.attnum

-- rows
SELECT cls.relname, idx.indkey, (SELECT string_agg(x, ',') FROM (SELECT a.attname::text AS x FROM pg_attribute a WHERE a.attrelid = idx.indrelid AND a.attnum = ANY(idx.indkey)) q) FROM pg_index idx JOIN pg_class cls ON cls.oid = indexrelid WHERE indrelid = 'ns1.orders'::regclass ORDER BY 1

-- rows
SELECT conname, conkey, c.tableoid::regclass, contype FROM pg_constraint c WHERE conrelid = 'ns1.orders'::regclass

SELECT 'session_stats' AS chart_name, pg_catalog.row_to_json(t) AS chart_data FROM (SELECT (SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database()) AS "Total", (SELECT count(*) FROM pg_stat_activity WHERE state = 'active') AS "Active") t UNION ALL SELECT 'tps_stats', row_to_json(t) FROM (SELECT (SELECT sum(xact_commit) + sum(xact_rollback) FROM pg_stat_database) AS "Transactions", (SELECT sum(tup_inserted) FROM pg_stat_database) AS a, (SELECT sum(tup_updated + tup_deleted) FROM pg_stat_database) AS u, (SELECT sum(tup_fetched) - sum(tup_returned) FROM pg_stat_database WHERE datname = 'lake') AS f, (SELECT sum(blks_read) + sum(blks_hit) FROM pg_stat_database) AS b) t

-- rows
SELECT row_to_json(t) FROM (SELECT 1 AS "a", 'x' AS b, NULL::int AS c) t

SELECT pid, datname, usename, application_name, client_addr, pg_catalog.to_char(backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') AS backend_start, state, wait_event_type || ': ' || wait_event AS wait_event, array_to_string(pg_catalog.pg_blocking_pids(pid), ', ') AS blocking_pids, query, to_char(state_change, 'YYYY-MM-DD HH24:MI:SS TZ') AS state_change, to_char(query_start, 'YYYY') AS query_start, to_char(xact_start, 'YYYY') AS xact_start, backend_type, CASE WHEN state = 'active' THEN ROUND((extract(epoch from now() - query_start) / 60)::numeric, 2) ELSE 0 END AS active_since FROM pg_stat_activity WHERE pid <> pg_backend_pid() ORDER BY pid

SELECT pid, locktype, datname, relation::regclass, page, tuple, virtualxid, transactionid::text, classid::regclass, objid, objsubid, virtualtransaction, mode, granted, fastpath FROM pg_locks l LEFT OUTER JOIN pg_database d ON l.database = d.oid ORDER BY pid, locktype

SELECT gid, database, owner, transaction, prepared FROM pg_prepared_xacts

SELECT * FROM pg_show_all_settings() ORDER BY name

SELECT r.oid, r.rulename, r.ev_enabled FROM pg_rewrite r WHERE r.ev_class = 'ns1.orders'::regclass

SELECT t.oid, t.tgname, t.tgfoid, p.proname FROM pg_trigger t LEFT JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = 'ns1.orders'::regclass

SELECT ts.oid, spcname, spcowner, shobj_description(ts.oid, 'pg_tablespace') FROM pg_tablespace ts ORDER BY 2

SELECT defaclobjtype, defaclacl, defaclnamespace FROM pg_default_acl

SELECT provider, label FROM pg_seclabels s WHERE s.objoid = 'ns1.orders'::regclass AND s.objsubid = 0

SELECT c.oid, pg_catalog.format_type(st.oid, NULL) || '->' || format_type(tt.oid, tt.typtypmod) AS name, c.castfunc FROM pg_cast c JOIN pg_type st ON st.oid = castsource JOIN pg_type tt ON tt.oid = casttarget

SELECT e.oid, e.evtname FROM pg_event_trigger e

SELECT x.extname FROM pg_extension x

SELECT pubname, oid FROM pg_publication

SELECT subname, oid FROM pg_subscription WHERE subdbid = 0

-- rows
SELECT count(*) FROM pg_replication_slots

SELECT d.description, d.classoid FROM pg_shdescription d

SELECT i.inhseqno, i.inhdetachpending, i.inhparent FROM pg_inherits i WHERE inhrelid = 0

SELECT t.oid, t.typname, r.rngtypid, r.rngmultitypid, t.typdefault, t.typrelid FROM pg_type t LEFT JOIN pg_range r ON r.rngmultitypid = t.oid WHERE t.typtype <> 'c' AND t.typnamespace = 11

-- rows
SELECT dep.deptype, dep.classid, dep.refclassid, dep.objid <> 0 AS o FROM pg_depend dep WHERE dep.refobjid = 'ns1.orders'::regclass AND dep.deptype !~~ 'i' AND EXISTS (SELECT 1)

-- rows
SELECT substring('abcd', 2, 2), current_timestamp::text <> '', '5'::name, pg_cancel_backend(2147483000)
