SELECT version()

-- rows
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM (SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind, elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname FROM (SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid, CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype FROM pg_type AS typ LEFT JOIN pg_class AS cls ON cls.oid = typ.typrelid LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive LEFT JOIN pg_range ON pg_range.rngtypid = typ.oid) AS typ LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemoid) AS t JOIN pg_namespace AS ns ON ns.oid = t.typnamespace WHERE t.typtype IN ('b', 'a') AND t.typname IN ('int4', '_int4', 'text', '_text', 'jsonb', 'uuid', '_uuid', 'numeric') ORDER BY t.oid; SELECT typ.oid, att.attname, att.atttypid FROM pg_type AS typ JOIN pg_namespace AS ns ON ns.oid = typ.typnamespace JOIN pg_class AS cls ON cls.oid = typ.typrelid JOIN pg_attribute AS att ON att.attrelid = typ.typrelid WHERE typ.typtype = 'c' AND cls.relkind = 'c' AND attnum > 0 AND NOT attisdropped ORDER BY typ.oid, att.attnum; SELECT pg_type.oid, enumlabel FROM pg_enum JOIN pg_type ON pg_type.oid = enumtypid WHERE enumsortorder > 0 ORDER BY oid, enumsortorder

-- rows
SELECT r.rngsubtype, t.typbasetype FROM pg_range r JOIN pg_type t ON t.oid = r.rngtypid WHERE t.typname = 'int4range'

-- rows
select character_set_name from information_schema.character_sets

-- rows
select TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE from INFORMATION_SCHEMA.tables where TABLE_SCHEMA not in ('information_schema', 'pg_catalog') order by TABLE_SCHEMA, TABLE_NAME

-- rows
select COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, case when (data_type like '%unsigned%') then DATA_TYPE || ' unsigned' else DATA_TYPE end as DATA_TYPE from INFORMATION_SCHEMA.columns where TABLE_SCHEMA = E'ns1' and TABLE_NAME = E'all_types' order by TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION

-- rows
select pkcol.COLUMN_NAME as PK_COLUMN_NAME, fkcol.TABLE_SCHEMA AS FK_TABLE_SCHEMA, fkcol.TABLE_NAME AS FK_TABLE_NAME, fkcol.COLUMN_NAME as FK_COLUMN_NAME, fkcol.ORDINAL_POSITION as ORDINAL, fkcon.CONSTRAINT_SCHEMA || '_' || fkcol.TABLE_NAME || '_' || 'orders' || '_' || fkcon.CONSTRAINT_NAME as FK_NAME from (select distinct constraint_catalog, constraint_schema, unique_constraint_schema, constraint_name, unique_constraint_name from INFORMATION_SCHEMA.referential_constraints) fkcon inner join INFORMATION_SCHEMA.key_column_usage fkcol on fkcon.CONSTRAINT_SCHEMA = fkcol.CONSTRAINT_SCHEMA and fkcon.CONSTRAINT_NAME = fkcol.CONSTRAINT_NAME inner join INFORMATION_SCHEMA.key_column_usage pkcol on fkcon.UNIQUE_CONSTRAINT_SCHEMA = pkcol.CONSTRAINT_SCHEMA and fkcon.UNIQUE_CONSTRAINT_NAME = pkcol.CONSTRAINT_NAME where pkcol.TABLE_SCHEMA = E'ns1' and pkcol.TABLE_NAME = E'orders' and pkcol.ORDINAL_POSITION = fkcol.ORDINAL_POSITION order by FK_NAME, fkcol.ORDINAL_POSITION

-- rows
select i.CONSTRAINT_SCHEMA || '_' || i.CONSTRAINT_NAME as INDEX_NAME, ii.COLUMN_NAME, ii.ORDINAL_POSITION, case when i.CONSTRAINT_TYPE = 'PRIMARY KEY' then 'Y' else 'N' end as PRIMARY_KEY from INFORMATION_SCHEMA.table_constraints i inner join INFORMATION_SCHEMA.key_column_usage ii on i.CONSTRAINT_SCHEMA = ii.CONSTRAINT_SCHEMA and i.CONSTRAINT_NAME = ii.CONSTRAINT_NAME and i.TABLE_SCHEMA = ii.TABLE_SCHEMA and i.TABLE_NAME = ii.TABLE_NAME where i.TABLE_SCHEMA = E'ns1' and i.TABLE_NAME = E'orders' and i.CONSTRAINT_TYPE in ('PRIMARY KEY', 'UNIQUE') order by INDEX_NAME, ii.TABLE_SCHEMA, ii.TABLE_NAME, ii.ORDINAL_POSITION

-- rows
select count(*), sum("$Table"."amount"), max("$Table"."amount"), current_database()::text from "ns1"."orders" "$Table" where "$Table"."amount" > 5 and "$Table"."order_id" < 500

-- rows
select "_"."region" as "c2", date_part('year', "_"."placed") + 1 as "y", count("_"."region")::int8 as "a0" from "ns1"."orders" "_" where "_"."region" = 'eu' and not "_"."region" is null group by 1, 2 limit 1000001

-- rows
select "c" <> 2 and "c" >= 1 from (select 1 as "c") "x"

-- run
DISCARD ALL
