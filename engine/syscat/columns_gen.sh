#!/usr/bin/env bash
# Writes columns_gen.txt: every table and view of pg_catalog and information_schema with its
# OID and columns, types_gen.txt: the rows of pg_type, and casts_gen.txt: those of pg_cast, read
# from a running PostgreSQL 15.
# usage: columns_gen.sh PSQL-OPTIONS…   (for example -h 127.0.0.1 -p 5432 -U postgres)
set -euo pipefail
cd "$(dirname "$0")"
psql "$@" -Atc "
select n.nspname||' '||c.relname||' '||c.oid||' '||c.relkind::text||' '||string_agg(a.attname||':'||case when t.typtype='d' then bt.typname else t.typname end, ' ' order by a.attnum)
from pg_class c join pg_namespace n on n.oid=c.relnamespace
join pg_attribute a on a.attrelid=c.oid and a.attnum>0 and not attisdropped
join pg_type t on t.oid=a.atttypid left join pg_type bt on bt.oid=t.typbasetype
where n.nspname in ('pg_catalog','information_schema') and c.relkind in ('r','v')
group by n.nspname,c.relname,c.oid,c.relkind order by n.nspname desc,c.relname" > columns_gen.txt
psql "$@" -AtF' ' -c "
select t.oid, t.typname, t.typlen, t.typbyval, t.typtype, t.typcategory, t.typispreferred, t.typdelim, t.typrelid, t.typelem, t.typarray,
 t.typinput::oid, t.typinput, t.typoutput::oid, t.typoutput, t.typreceive::oid, t.typreceive, t.typsend::oid, t.typsend, t.typmodin, t.typmodout, t.typalign, t.typstorage, t.typcollation, t.typsubscript
from pg_type t where t.typnamespace='pg_catalog'::regnamespace and t.typrelid=0 and t.typtype in ('b','p','r','m') order by t.oid" > types_gen.txt
psql "$@" -AtF' ' -c "
select c.oid, c.castsource::oid, c.casttarget::oid, c.castfunc::oid, c.castcontext, c.castmethod
from pg_cast c where c.oid < 16384 order by c.oid" > casts_gen.txt
