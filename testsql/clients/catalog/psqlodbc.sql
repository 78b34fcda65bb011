-- run
SET DateStyle = 'ISO';SET extra_float_digits = 2;show transaction_isolation

-- rows
show max_identifier_length

-- rows
select oid, typbasetype from pg_type where typname = 'lo'

-- rows
select n.nspname, c.relname, a.attname, a.atttypid, t.typname, a.attnum, a.attlen, a.atttypmod, a.attnotnull, c.relhasrules, c.relkind, case t.typtype when 'd' then t.typbasetype else 0 end, t.typtypmod, pg_get_expr(d.adbin, d.adrelid), a.attidentity, c.relhassubclass from (((pg_catalog.pg_class c inner join pg_catalog.pg_namespace n on n.oid = c.relnamespace and c.relname like 'all\\_types' and n.nspname like 'ns1') inner join pg_catalog.pg_attribute a on (not a.attisdropped) and a.attnum > 0 and a.attrelid = c.oid) inner join pg_catalog.pg_type t on t.oid = a.atttypid) left outer join pg_attrdef d on a.atthasdef and d.adrelid = a.attrelid and d.adnum = a.attnum order by n.nspname, c.relname, attnum

-- rows
select ta.attname, ia.attnum, ic.relname, n.nspname, tc.relname from pg_catalog.pg_attribute ta, pg_catalog.pg_attribute ia, pg_catalog.pg_class tc, pg_catalog.pg_index i, pg_catalog.pg_namespace n, pg_catalog.pg_class ic where tc.relname = 'orders' AND n.nspname = 'ns1' AND tc.oid = i.indrelid AND n.oid = tc.relnamespace AND i.indisprimary = 't' AND ia.attrelid = i.indexrelid AND ta.attrelid = i.indrelid AND ta.attnum = i.indkey[ia.attnum-1] AND (NOT ta.attisdropped) AND (NOT ia.attisdropped) AND ic.oid = i.indexrelid order by ia.attnum

-- rows
select c.relname, i.indkey, i.indisunique, i.indisclustered, a.amname, c.relhasrules, n.nspname, d.relhasrules, i.indoption from pg_catalog.pg_index i, pg_catalog.pg_class c, pg_catalog.pg_class d, pg_catalog.pg_am a, pg_catalog.pg_namespace n where d.relname = 'orders' and n.nspname = 'ns1' and n.oid = d.relnamespace and d.oid = i.indrelid and i.indexrelid = c.oid and c.relam = a.oid order by i.indisprimary desc, i.indisunique, n.nspname, c.relname

-- rows
select 'lake'::name as "PKTABLE_CAT", n2.nspname as "PKTABLE_SCHEM", c2.relname as "PKTABLE_NAME", a2.attname as "PKCOLUMN_NAME", n1.nspname as "FKTABLE_SCHEM", c1.relname as "FKTABLE_NAME", a1.attname as "FKCOLUMN_NAME", i::int2 as "KEY_SEQ", case ref.confupdtype when 'c' then 0::int2 when 'n' then 2::int2 when 'd' then 4::int2 when 'r' then 1::int2 else 3::int2 end as "UPDATE_RULE", case ref.confdeltype when 'c' then 0::int2 else 3::int2 end as "DELETE_RULE", ref.conname as "FK_NAME", cn.conname as "PK_NAME", case when ref.condeferrable then case when ref.condeferred then 5::int2 else 6::int2 end else 7::int2 end as "DEFERRABLITY" from (select cn.oid, conrelid, conkey, confrelid, confkey, generate_series(array_lower(conkey, 1), array_upper(conkey, 1)) as i, confupdtype, confdeltype, conname, condeferrable, condeferred from pg_catalog.pg_constraint cn, pg_catalog.pg_class c, pg_catalog.pg_namespace n where contype = 'f' and confrelid = c.oid and relname = 'orders' and n.oid = c.relnamespace and n.nspname = 'ns1') ref inner join pg_catalog.pg_class c1 on c1.oid = ref.conrelid inner join pg_catalog.pg_namespace n1 on n1.oid = c1.relnamespace inner join pg_catalog.pg_attribute a1 on a1.attrelid = c1.oid and a1.attnum = conkey[i] inner join pg_catalog.pg_class c2 on c2.oid = ref.confrelid inner join pg_catalog.pg_namespace n2 on n2.oid = c2.relnamespace inner join pg_catalog.pg_attribute a2 on a2.attrelid = c2.oid and a2.attnum = confkey[i] left outer join pg_catalog.pg_constraint cn on cn.conrelid = ref.confrelid and cn.contype = 'p' order by ref.oid, ref.i

select proname, prorettype from pg_catalog.pg_proc p, pg_catalog.pg_namespace n where p.pronamespace = n.oid and (proname like 'lower' or proname <> 'x' and proname > 'zzz') and n.nspname like 'pg_catalog' order by 1

-- params 5
select count(*) from ns1.orders where order_id > $1 - 1

-- run
BEGIN;declare "SQL_CUR0x16767ff0" cursor with hold for select order_id from ns1.orders order by 1;fetch 100 in "SQL_CUR0x16767ff0"

-- run
SAVEPOINT _EXEC_SVP_0x16767490;fetch 100 in "SQL_CUR0x16767ff0"

-- rows
fetch 100 in "SQL_CUR0x16767ff0"

-- run
close "SQL_CUR0x16767ff0";commit

-- run
BEGIN;select 1;COMMIT
