-- run
SET extra_float_digits = 3

-- run
SET application_name = 'DataGrip 2025.1'

SHOW TRANSACTION ISOLATION LEVEL

-- rows
show DateStyle

select version(), current_database(), current_schema(), current_user <> ''

-- rows
select case when pg_catalog.pg_is_in_recovery() then null else (pg_catalog.txid_current() % 4294967296)::varchar::bigint > 0 end as tx

select round(extract(epoch from pg_postmaster_start_time() at time zone 'UTC')) as startup_time

-- rows
select current_database(), current_schema(), pg_catalog.array_length(current_schemas(false), 1)

select N.oid::bigint as id, datname as name, D.description, datistemplate as is_template, datallowconn as allow_connections, pg_catalog.pg_get_userbyid(N.datdba) as "owner", datacl from pg_catalog.pg_database N left join pg_catalog.pg_shdescription D on N.oid = D.objoid order by case when datname = pg_catalog.current_database() then -1::bigint else N.oid::bigint end

select N.oid::bigint as id, N.xmin as state_number, nspname as name, D.description, pg_catalog.pg_get_userbyid(N.nspowner) as "owner", nspacl from pg_catalog.pg_namespace N left join pg_catalog.pg_description D on N.oid = D.objoid order by case when nspname = pg_catalog.current_schema() then -1::bigint else N.oid::bigint end

-- rows
select count(*) from pg_namespace where age(xmin) > 2147483647 or xmin::text::bigint < 0

select L.transactionid::varchar::bigint as transaction_id from pg_catalog.pg_locks L where L.transactionid is not null order by pg_catalog.age(L.transactionid) desc limit 1

-- rows
select name, is_dst from pg_catalog.pg_timezone_names where name in ('UTC', 'Asia/Tokyo') union distinct select abbrev as name, is_dst from pg_catalog.pg_timezone_abbrevs where abbrev in ('UTC', 'JST', 'CET') order by 1

select distinct proname from pg_catalog.pg_proc where prokind in ('a', 'f') and proname like 'pg_cancel_backend' order by proname

-- rows
select usesuper from pg_user where usename = current_user

select T.oid as tablespace_id, T.spcname as tablespace_name, T.xmin as state_number, pg_catalog.pg_get_userbyid(T.spcowner) as owner, pg_catalog.pg_tablespace_location(T.oid) as location, T.spcoptions as options, D.description, T.spcacl from pg_catalog.pg_tablespace T left join pg_catalog.pg_shdescription D on D.objoid = T.oid

select R.oid::bigint as role_id, rolname as role_name, rolsuper is_super, rolinherit is_inherit, rolcreaterole can_createrole, rolcreatedb can_createdb, rolcanlogin can_login, rolreplication is_replication, rolconnlimit conn_limit, rolvaliduntil valid_until, rolbypassrls bypass_rls, rolconfig config, D.description from pg_catalog.pg_roles R left join pg_catalog.pg_shdescription D on D.objoid = R.oid

select member id, roleid role_id, admin_option from pg_catalog.pg_auth_members order by id, roleid::text

select T.oid as id, T.xmin as state_number, extname, extversion, extnamespace, available_updates from pg_extension T left join (select 'x' as name, array_agg(version) as available_updates from pg_catalog.pg_available_extension_versions() ev group by 1) u on u.name = T.extname

select pg_get_expr(c.conbin, c.conrelid) as predicate, C.oid::bigint con_id, C.xmin::varchar::bigint con_state_id, conname con_name, contype con_kind, conkey con_columns, conindid index_id, confrelid ref_table_id, condeferrable is_deferrable, condeferred is_init_deferred, confupdtype on_update, confdeltype on_delete, connoinherit no_inherit, array(select unnest::regoper::varchar from unnest(conexclop)) operators from pg_constraint c where C.connamespace = (select oid from pg_namespace where nspname = 'ns1') and conrelid <> 0 and contype in ('p', 'u', 'f', 'c', 'x')

-- rows
select T.relname, T.relkind, translate(T.relkind, 'rmvpfS', 'rmvrfS') as table_kind, T.relpersistence, T.relispartition, pg_catalog.pg_get_partkeydef(T.oid) || null as part_key_null, pg_catalog.pg_get_expr(T.relpartbound, T.oid) as bound from pg_catalog.pg_class T where relnamespace = 'ns1'::regnamespace and relkind in ('r', 'm', 'v', 'f', 'p') order by 1

select T.relkind as table_kind, T.relname as table_name, T.oid as table_id, T.xmin as table_state_number, T.reltablespace as tablespace_id, T.reloptions as options, T.relpersistence as persistence, (select pg_catalog.array_agg(inhparent::bigint order by inhseqno)::varchar from pg_catalog.pg_inherits where T.oid = inhrelid) as ancestors, (select pg_catalog.array_agg(inhrelid::bigint order by inhrelid)::varchar from pg_catalog.pg_inherits where T.oid = inhparent) as successors, T.relispartition, T.relam, T.relacl, pg_get_userbyid(T.relowner) from pg_catalog.pg_class T where relnamespace = 'ns1'::regnamespace

-- rows
with T as (select T.oid as table_id, T.relname as table_name from pg_catalog.pg_class T where T.relnamespace = 'ns1'::regnamespace and T.relkind in ('r', 'm', 'v', 'f', 'p')) select T.table_name, C.attnum as column_position, C.attname as column_name, C.atttypmod as type_mod, C.attndims > 0 as dims, pg_catalog.format_type(C.atttypid, C.atttypmod) as type_spec, C.attnotnull as mandatory, pg_catalog.pg_get_expr(D.adbin, T.table_id) as column_default_expression, not C.attislocal as column_is_inherited, C.attfdwoptions as options, C.attisdropped as column_is_dropped, C.attidentity as identity_kind, C.attgenerated as generated from T join pg_catalog.pg_attribute C on T.table_id = C.attrelid left join pg_catalog.pg_attrdef D on (C.attrelid, C.attnum) = (D.adrelid, D.adnum) where attnum > 0 order by table_name, attnum

-- rows
select tab.relname, ind.relname as index_name, ind_head.indisunique as is_unique, ind_head.indisprimary as is_primary, ind_head.indnullsnotdistinct as nulls_not_distinct, pg_catalog.pg_get_expr(ind_head.indpred, ind_head.indrelid) as predicate, pg_catalog.pg_indexam_has_property(am.oid, 'can_order') as can_order, am.amname from pg_catalog.pg_class tab join pg_catalog.pg_index ind_head on ind_head.indrelid = tab.oid join pg_catalog.pg_class ind on tab.relnamespace = ind.relnamespace and ind.oid = ind_head.indexrelid left join pg_catalog.pg_am am on ind.relam = am.oid where tab.relnamespace = 'ns1'::regnamespace order by 1, 2

-- rows
select k as col_idx, k <= indnkeyatts as in_key, indkey[k-1] as column_position, indoption[k-1] as column_options, case when collname is null then 'none' else collname end, pg_catalog.pg_get_indexdef(indexrelid, k::int4, true) as expr, n.nspname from (select indexrelid, indrelid, indnkeyatts, indkey, indoption, indcollation, indclass, indexprs, pg_catalog.unnest(indkey), row_number() over (partition by indexrelid) as k from pg_catalog.pg_index where indrelid = 'ns1.orders'::regclass) ind left join pg_catalog.pg_collation c on c.oid = ind.indcollation[k-1] left join pg_namespace n on n.oid = c.collnamespace left join pg_opclass o on o.oid = ind.indclass[k-1] and o.opcdefault and (o.opcmethod, o.opcname) is not null and o.opcnamespace > 0

-- rows
select d.description, d.objsubid from pg_catalog.pg_description d join pg_class c on c.oid = d.objoid and d.classoid = 'pg_class'::regclass where c.relnamespace = 'ns1'::regnamespace order by c.relname, d.objsubid

select C.oid, C.xmin, castsource, casttarget, castfunc, castcontext, castmethod from pg_cast C

select l.oid as id, l.xmin state_number, lanname as name, lanpltrusted as trusted, h.proname as handler, i.proname as inline, v.proname as validator, lanacl from pg_catalog.pg_language l left join pg_catalog.pg_proc h on h.oid = lanplcallfoid left join pg_catalog.pg_proc i on i.oid = laninline left join pg_catalog.pg_proc v on v.oid = lanvalidator order by lanname

select amh.oid as id, amh.xmin, amhandler::oid as handler_id, amh.amname, amh.amtype from pg_am amh where amhandler <> 0

select fdw.oid, fdw.xmin, fdwname, fdwhandler, fdwvalidator, fdwoptions, fdwacl, pg_get_userbyid(fdwowner) from pg_foreign_data_wrapper fdw

select srv.oid, srv.xmin, srvfdw, srvname, srvtype, srvversion, srvoptions, srvacl, pg_get_userbyid(srvowner) from pg_foreign_server srv

select ftrelid, srv.srvname, ftoptions from pg_foreign_table ft left join pg_foreign_server srv on ft.ftserver = srv.oid

select oid, umserver, case when umuser = 0 then null else pg_get_userbyid(umuser) end, umoptions from pg_user_mapping

select t.oid, t.xmin, evtname, evtevent, evtfoid, evtenabled, evttags, pg_get_userbyid(evtowner) from pg_event_trigger t

select T.oid as type_id, T.xmin, T.typname, T.typtype as type_sub_kind, T.typcategory, T.typrelid, T.typbasetype, T.typtypmod, T.typndims, T.typnotnull, T.typdefault, T.typelem, T.typisdefined, T.typacl, T.typowner from pg_catalog.pg_type T where T.typnamespace = 11 and T.typtype in ('d', 'e', 'r', 'b', 'p') order by 1

select T.oid, T.xmin, tgname, tgrelid, tgfoid, pg_catalog.encode(tgargs, 'escape') tgargs, tgtype, tgenabled, tgdeferrable, tginitdeferred, tgconstraint, tgoldtable, tgnewtable, pg_catalog.translate(pg_catalog.pg_get_triggerdef(T.oid), chr(10), ' '), array(select a.attname from unnest(tgattr) k join pg_attribute a on a.attnum = k and a.attrelid = tgrelid) from pg_trigger T where not tgisinternal

select p.oid, proname, proargnames, proargmodes, proargtypes::oid[] as in_arg_types, proacl, prokind, pronamespace from pg_proc p where pronamespace = 11 limit 10

select o.oid, oprname, n.nspname from pg_operator o join pg_namespace n on n.oid = o.oprnamespace limit 5

select o.oid, opfname, opfnamespace from pg_opfamily o limit 5

select s.seqrelid, seqtypid, seqstart, seqincrement, seqmin, seqmax, seqcache, seqcycle, d.refobjid, d.refobjsubid from pg_sequence s left join pg_depend d on d.objid = s.seqrelid and d.classid = 'pg_class'::regclass and d.refclassid = 'pg_class'::regclass and d.deptype = 'a'

select oid, polrelid from pg_policy

-- rows
select quote_ident('A b'), E'a\tb' || 'c', x.ord, x.v from unnest(array['p', 'q']) with ordinality as x(v, ord)

-- rows
select 'r'::"char" = relkind from pg_class where relname = 'orders'

-- rows
select pg_catalog.pg_cancel_backend(2147483000)

-- rows
select pg_get_viewdef(0::oid, true), pg_get_indexdef(0::oid)

-- rows
select attacl, xmin is not null from pg_attribute where attrelid = 'ns1.orders'::regclass and attnum = 1
