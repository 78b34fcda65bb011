-- run
BEGIN

-- rows
select distinct nspname from pg_namespace where nspname not like 'pg_t%' order by 1

-- rows
select count(*)::int8 as total from pg_namespace where nspname = 'ns1'

-- rows
select 'lake' as database, tablename as name, schemaname as schema, 'table' as type from pg_tables where schemaname ilike 'ns1' union all select 'lake' as database, viewname as name, schemaname as schema, 'view' as type from pg_views where schemaname ilike 'ns1' union all select 'lake' as database, matviewname as name, schemaname as schema, 'materialized_view' as type from pg_matviews where schemaname ilike 'ns1' order by 2

-- rows
select column_name, data_type, character_maximum_length, numeric_precision, numeric_scale from "lake".INFORMATION_SCHEMA.columns where table_name = 'orders' and table_schema = 'ns1' order by ordinal_position

-- rows
with relation as (select pg_rewrite.ev_class as class, pg_rewrite.oid as id from pg_rewrite), class as (select oid as id, relname as name, relnamespace as schema, relkind as kind from pg_class), dependency as (select distinct pg_depend.objid as id, pg_depend.refobjid as ref from pg_depend where classid = 'pg_rewrite'::regclass and refclassid = 'pg_class'::regclass and deptype = 'n'), schema as (select pg_namespace.oid as id, pg_namespace.nspname as name from pg_namespace where nspname != 'information_schema' and nspname not like 'pg\_%'), referenced as (select relation.id as id, referenced_class.name, referenced_class.schema, referenced_class.kind from relation join class as referenced_class on relation.class = referenced_class.id where referenced_class.kind in ('r', 'v', 'm')), relationships as (select referenced.name as referenced_name, referenced.schema as referenced_schema_id, dependent_class.name as dependent_name, dependent_class.schema as dependent_schema_id, referenced.kind as kind from referenced join dependency on referenced.id = dependency.id join class as dependent_class on dependency.ref = dependent_class.id where (referenced.name != dependent_class.name or referenced.schema != dependent_class.schema)) select referenced_schema.name as referenced_schema, relationships.referenced_name as referenced_name, dependent_schema.name as dependent_schema, relationships.dependent_name as dependent_name from relationships join schema as dependent_schema on relationships.dependent_schema_id = dependent_schema.id join schema as referenced_schema on relationships.referenced_schema_id = referenced_schema.id group by referenced_schema, referenced_name, dependent_schema, dependent_name order by referenced_schema, referenced_name, dependent_schema, dependent_name

-- rows
select 'lake' as table_database, sch.nspname as table_schema, tbl.relname as table_name, case tbl.relkind when 'v' then 'VIEW' else 'BASE TABLE' end as table_type, tbl_desc.description as table_comment, col.attname as column_name, col.attnum as column_index, pg_catalog.format_type(col.atttypid, col.atttypmod) as column_type, col_desc.description as column_comment, pg_get_userbyid(tbl.relowner) is not null as table_owner from pg_catalog.pg_namespace sch join pg_catalog.pg_class tbl on tbl.relnamespace = sch.oid join pg_catalog.pg_attribute col on col.attrelid = tbl.oid left outer join pg_catalog.pg_description tbl_desc on tbl_desc.objoid = tbl.oid and tbl_desc.objsubid = 0 left outer join pg_catalog.pg_description col_desc on col_desc.objoid = tbl.oid and col_desc.objsubid = col.attnum where (upper(sch.nspname) = upper('ns1')) and not pg_is_other_temp_schema(sch.oid) and tbl.relpersistence in ('p', 'u') and tbl.relkind in ('r', 'v', 'f', 'p') and col.attnum > 0 and not col.attisdropped order by sch.nspname, tbl.relname, col.attnum

-- rows
select i.relname as name, m.amname as method, ix.indisunique as "unique", array_to_string(array_agg(a.attname), ',') as column_names from pg_index ix join pg_class i on i.oid = ix.indexrelid join pg_am m on m.oid = i.relam join pg_class t on t.oid = ix.indrelid join pg_namespace n on n.oid = t.relnamespace join pg_attribute a on a.attrelid = t.oid and a.attnum = ANY(ix.indkey) where t.relname = 'orders' and n.nspname = 'ns1' and t.relkind in ('r', 'm') group by 1, 2, 3 order by 1, 2, 3

-- rows
select ix.indkey[0] > 0 from pg_index ix where ix.indrelid = 'ns1.orders'::regclass

select grantee, privilege_type from information_schema.role_table_grants where grantor = current_role and grantee != current_role and table_schema = 'ns1' and table_name = 'orders'

-- rows
select pg_terminate_backend(2147483000)

select p.proname from pg_proc p where p.pronamespace = 11 and p.proname = 'lower'

-- run
COMMIT

-- run
create schema if not exists "dbt_x"

-- run
create table "lake"."dbt_x"."m__dbt_tmp" as ( select 1 as id, 'a'::text as name )

-- run
alter table "lake"."dbt_x"."m__dbt_tmp" rename to "m"

-- run
comment on table "lake"."dbt_x"."m" is $dbt_comment_literal_block$it's a "model"$dbt_comment_literal_block$

-- rows
select obj_description('dbt_x.m'::regclass, 'pg_class')

-- run
create temporary table "m__dbt_tmp123" as ( select 2 as id, 'b'::text as name )

-- run
delete from "lake"."dbt_x"."m" where ( "id") in ( select ("id") from "m__dbt_tmp123" )

-- run
insert into "lake"."dbt_x"."m" ("id", "name") ( select "id", "name" from "m__dbt_tmp123" )

-- rows
select * from "lake"."dbt_x"."m" order by 1

-- run
create view "lake"."dbt_x"."v__dbt_tmp" as ( select * from "lake"."dbt_x"."m" where id > 1 )

-- run
alter view "lake"."dbt_x"."v__dbt_tmp" rename to "v"

-- rows
select * from dbt_x.v

-- run
drop view if exists "lake"."dbt_x"."v" cascade

-- run
drop table if exists "lake"."dbt_x"."m" cascade

-- run
drop schema if exists "dbt_x" cascade
