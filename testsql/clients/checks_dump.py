"""Section C: pg_dump, whose text makes the same tables again."""

import os
import re
import subprocess

from harness import check, equal, pg_bin, true

DUMPED = r"""
create schema dumped;
create table dumped.types (i2 smallint, i4 integer not null default 7, i8 bigint, f4 real, f8 double precision, n numeric(10,2) default -1.5, b boolean default true,
    t text default 'a''b', vc varchar(10), c char(5), d date default current_date, tm time, ts timestamp(3), tz timestamptz, u uuid, "By" bytea, j jsonb, a int[], ta text[],
    check (i4 > 0), constraint "Named one" check (i2 < 5 and (t is null or i8 in (1, 3))));
create table dumped.numbered (id int generated always as identity (start with 10 increment by 5), name text not null, primary key (id));
create table dumped.keyed (z int, a text, m text default 'q"', primary key (z, a));
create table dumped.empty (a int);
create view dumped.above as select z from dumped.keyed where a <> 'x;--';
create view dumped.a_view as select z + 1 as more from dumped.above;
comment on table dumped.types is 'a table''s comment';
comment on column dumped.keyed.m is E'two\nlines \\';
comment on view dumped.above is 'a view';
insert into dumped.types values (1, 2, 3, 1.5, 2.5, 3.25, true, E'x\ty\\z\nq', 'vc', 'c', '2024-01-02', '10:11:12.5', '2024-01-02 03:04:05.678', '2024-01-02 03:04:05.6+00',
    'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\x0102', '{"a": [1, null]}', '{1,NULL,3}', '{a,"b c",NULL}');
insert into dumped.types (i2, i4, f4, f8, d, t) values (2, 5, 'NaN', '-Infinity', '2024-01-03', null);
insert into dumped.numbered (name) values ('a'), ('b');
insert into dumped.keyed values (1, 'a', null), (2, 'x;--', '');
"""
# What PostgreSQL has no words for.
LAID_OUT = """
create table dumped.laid_out (d date, "R" text, v int) partitioned by (month(d), "R") sorted by (v desc nulls last, d) tblproperties ('a.b' = 'c''d');
insert into dumped.laid_out values ('2024-01-02', 'eu', 1), ('2024-02-02', 'us', 2);
"""
TABLES = ["types", "numbered", "keyed", "empty", "above", "a_view", "laid_out"]


def pg_dump(server, *args, **env):
    """The dump of the schema, without what differs from one dump to the next."""
    p = subprocess.run([os.path.join(pg_bin(), "pg_dump"), "-n", "dumped", *args], env=server.env(**env), capture_output=True, text=True, timeout=120)
    true(p.returncode == 0, p.stderr)
    return p.stdout


def same(text):
    return re.sub(r'(?m)^\\(un)?restrict .*|"current-snapshot-id"=\'\d+\'', "", text)


def rows(server):
    return {t: server.psql("-Atc", 'select * from dumped.%s order by 1' % t)[1:] for t in TABLES}


def load(server, text):
    server.psql("-qc", "drop schema if exists dumped cascade")
    rc, _, err = server.psql("-q", "-v", "ON_ERROR_STOP=1", stdin=text)
    true(rc == 0, err)


@check(46.4, "C", "pg_dump", "pg_dump | psql makes the same tables again, here and in PostgreSQL")
def dump(ctx):
    load(ctx.lhsql, DUMPED + LAID_OUT)
    made, text, had = pg_dump(ctx.lhsql, "--schema-only"), pg_dump(ctx.lhsql), rows(ctx.lhsql)
    equal(had["types"][0].count("\n"), 3)
    plain = pg_dump(ctx.lhsql, PGOPTIONS="-c lhsql.table_options=off")
    load(ctx.lhsql, text)
    equal(rows(ctx.lhsql), had)
    # Rows of a partitioned table come in no order of their own: the definitions are compared.
    again = pg_dump(ctx.lhsql, "--schema-only")
    equal(same(again), same(made))
    for want in ("partitioned_by='(month(d), \"R\")'", "sort_order='v DESC NULLS LAST, d NULLS FIRST'", "(id GENERATED ALWAYS AS IDENTITY (START WITH 20 INCREMENT BY 5))",
                 "CHECK ((i2 < 5 and (t is null or i8 in (1, 3))))", "\"a.b\"='c''d'"):
        true(want in again, "%s is missing in %s" % (want, again))
    # The numbering goes on where it was.
    equal(ctx.lhsql.psql("-Atqc", "insert into dumped.numbered (name) values ('c') returning id")[1], "20\n")
    # PostgreSQL takes it without what only Iceberg has.
    load(ctx.pg, plain)
    equal(rows(ctx.pg), had)
    for s in (ctx.lhsql, ctx.pg):
        s.psql("-qc", "drop schema dumped cascade")
