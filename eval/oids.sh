#!/bin/sh
# Writes oids.txt: PostgreSQL's OIDs of functions and operators whose types we have.
# Usage: PGHOST=… PGPORT=… PGUSER=… ./oids.sh
psql -qAt <<'SQL' | LC_ALL=C sort >oids.txt
create temp table known as select unnest('{boolean,smallint,integer,bigint,real,"double precision",numeric,text,"character varying",character,name,"\"char\"",bytea,date,"time without time zone","time with time zone","timestamp without time zone","timestamp with time zone",interval,uuid,json,jsonb,oid,xid,regclass,regtype,regproc,regnamespace,regoper,regrole,int2vector,oidvector,"\"any\"",anyelement,anyarray,anynonarray,record}'::text[]) as t;
create function pg_temp.spell(o oid) returns text language sql as $$
 select replace(format_type(o, null), 'anycompatible', 'any') $$;
create function pg_temp.fix(t text) returns text language sql as $$
 select case t when 'any' then 'anyelement' else t end $$;
create function pg_temp.ok(o oid) returns bool language sql as $$
 select regexp_replace(pg_temp.fix(pg_temp.spell(o)), '\[\]$', '') in (select t from known) $$;
select proname || ' ' || coalesce((select string_agg(pg_temp.fix(pg_temp.spell(a)), ',' order by n) from unnest(proargtypes) with ordinality u(a, n)), '') || ' ' || oid
from pg_proc p where pronamespace = 'pg_catalog'::regnamespace
and not exists (select from unnest(proargtypes) a where not pg_temp.ok(a))
and prorettype not in ('internal'::regtype, 'trigger'::regtype, 'event_trigger'::regtype)
and proname !~ '_(recv|send)$';
select '|' || oprname || ' ' || case oprleft when 0 then '' else pg_temp.fix(pg_temp.spell(oprleft)) || ',' end || pg_temp.fix(pg_temp.spell(oprright)) || ' ' || oid
from pg_operator where (oprleft = 0 or pg_temp.ok(oprleft)) and pg_temp.ok(oprright);
SQL
