"""Section C: what clients ask the catalogs."""

import re
import time

from harness import Terminal, both, check, equal, same_psql, true
from rawpg import Raw, columns, error, rows


@check(31, "C", "socket", "every table of pg_catalog and information_schema is there, with PostgreSQL's columns and types")
def catalogs(ctx):
    with Raw(ctx.pg, user="postgres", database="lake") as p, Raw(ctx.lhsql, user="postgres", database="lake") as c:
        names = [(r[0].decode(), r[1].decode()) for r in rows(p.query(
            "select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace "
            "where nspname in ('pg_catalog', 'information_schema') and relkind in ('r', 'v') and relname !~ '^_pg' order by 1, 2"))]
        # Types that exist only within PostgreSQL's own catalogs show as text.
        own = {194, 2277, 3361, 3402, 5017, 32, 3220, 13, 269, 1034, 869, 27, 28, 5069, 2970}
        bad = []
        for schema, name in names:
            q = "select * from %s.%s limit 0" % (schema, name)
            m = c.query(q)
            if error(m):
                bad.append("%s: %s" % (name, error(m)["M"]))
                continue
            a, b = columns(m), columns(p.query(q))
            if [x[0] for x in a] != [x[0] for x in b]:
                bad.append("%s: columns %s, not %s" % (name, [x[0] for x in a], [x[0] for x in b]))
            for x, y in zip(a, b):
                if x[1] != y[1] and not (x[1] == 25) and not (x[1] in (1009, 1043, 19)):
                    bad.append("%s.%s: type %d, not %d" % (name, x[0], x[1], y[1]))
            m = c.query("select count(*) from (select * from %s.%s) x" % (schema, name))
            if error(m):
                bad.append("%s: %s" % (name, error(m)["M"]))
            m = c.query("select tableoid, xmin from %s.%s limit 1" % (schema, name)) if schema == "pg_catalog" and name in (
                "pg_class", "pg_namespace", "pg_attribute", "pg_type", "pg_database", "pg_am", "pg_extension", "pg_language", "pg_trigger") else []
            if error(m):
                bad.append("%s: %s" % (name, error(m)["M"]))
        true(not bad, "; ".join(bad[:20]))


@check(37, "C", "SQLAlchemy 2", "inspector: schemas, tables, columns, keys, indexes, comments, views; reflection")
def sqlalchemy(ctx):
    import sqlalchemy as sa

    def run(s):
        out = []
        e = sa.create_engine("postgresql+psycopg2://%s@%s:%d/lake" % (s.user, s.host, s.port))
        i = sa.inspect(e)
        out.append(sorted(i.get_schema_names()))
        out.append(sorted(i.get_table_names("ns1")))
        out.append(i.get_view_names("ns1"))
        out.append(i.get_materialized_view_names("ns1"))
        for t in ("all_types", "orders"):
            out.append([(c["name"], str(c["type"]), c["nullable"], c["default"], c["comment"]) for c in i.get_columns(t, "ns1")])
            out.append(i.get_pk_constraint(t, "ns1"))
            out.append(i.get_foreign_keys(t, "ns1"))
            out.append(i.get_indexes(t, "ns1"))
            out.append(i.get_unique_constraints(t, "ns1"))
            out.append(i.get_check_constraints(t, "ns1"))
            out.append(i.get_table_comment(t, "ns1"))
        out.append(i.get_enums("*"))
        out.append(i.has_table("orders", "ns1"))
        out.append(i.has_table("nosuch", "ns1"))
        out.append(sorted(k[1] for k in i.get_multi_columns("ns1")))
        m = sa.MetaData()
        t = sa.Table("orders", m, schema="ns1", autoload_with=e)
        with e.connect() as c:
            out.append(c.execute(sa.select(sa.func.count()).select_from(t).where(t.c.region == "eu")).scalar())
            out.append([tuple(map(str, r)) for r in c.execute(sa.select(t).order_by(t.c.order_id).limit(3))])
        e.dispose()
        return [repr(x) for x in out]
    both(ctx, run)


@check(46, "C", "psql", "tab completion in a terminal")
def tab_completion(ctx):
    def complete(s):
        out = []
        with Terminal(s) as t:
            t.expect("lake=[#>] ")
            for text in ("select * from ns1.or\t", "select * from ns1.\t\t", "\\d ns1.al\t", "set time\t", "set timezone to 'Europe/Ber\t", "select * from ns1.orders where reg\t",
                         "show server_v\t", "explain ana\t", "create table ns1.x (a int) \t\t"):
                t.send(text)
                got = t.read(1.0)
                out.append((text, sorted(set(re.findall(r"[A-Za-z_.']{3,}", got.replace("lake", ""))))))
                t.send("\x15\x03")
                t.read(0.3)
        return out
    a, b = complete(ctx.lhsql), complete(ctx.pg)
    for x, y in zip(a, b):
        equal(x, y)


@check(46.1, "C", "psql", "queries of the information schema answer as PostgreSQL's")
def information_schema(ctx):
    for q in ("select table_schema, table_name, table_type from information_schema.tables where table_schema in ('ns1', 'public') order by 1, 2",
              "select * from information_schema.columns where table_schema = 'ns1' order by table_name, ordinal_position",
              "select constraint_name, table_name, constraint_type from information_schema.table_constraints where table_schema = 'ns1' and constraint_type = 'PRIMARY KEY' order by 2",
              "select constraint_name, table_name, column_name, ordinal_position from information_schema.key_column_usage where table_schema = 'ns1' order by 2",
              "select character_set_name from information_schema.character_sets",
              "select relname, relkind, relnatts, relhasindex from pg_class where relnamespace = 'ns1'::regnamespace order by 1",
              "select attname, format_type(atttypid, atttypmod), attnotnull, attnum, attlen, attalign, attstorage from pg_attribute where attrelid = 'ns1.all_types'::regclass and attnum > 0 order by attnum",
              "select t.typname, t.typlen, t.typtype, t.typcategory, a.typname from pg_type t left join pg_type a on a.oid = t.typarray where t.typname in ('int4','text','numeric','jsonb','uuid','_int4','timestamptz','bool','oid','regclass','unknown','void','record','anyarray','int2vector','inet','xml','money') order by 1",
              "select nspname from pg_namespace where nspname !~ '^pg_(toast|temp)' order by 1",
              "select typname, typreceive::text, typinput::text from pg_type where typname in ('int4', '_int4', 'numeric', 'jsonb') order by 1"):
        same_psql(ctx, "-x", "-c", q)


@check(62, "C", "psql SQLAlchemy", "1,000 tables of 50 columns: \\dt, columns of one table, each under a second")
def many_tables(ctx):
    import os
    import sqlalchemy as sa
    wh = os.path.join(ctx.tmp, "many")
    make_many(wh, 1000, 50)
    s = ctx.start("many", "--warehouse", wh)
    bad = []

    def timed(what, f):
        f()
        t = time.time()
        f()
        if time.time() - t > 1:
            bad.append("%s took %.1f s" % (what, time.time() - t))
    timed("\\dt", lambda: true(s.psql("-c", "\\dt many.*")[1].count("\n") > 1000, "tables are missing"))
    timed("\\d", lambda: true("c49" in s.psql("-c", "\\d many.t500")[1], "columns are missing"))
    e = sa.create_engine("postgresql+psycopg2://%s@%s:%d/lake" % (s.user, s.host, s.port))
    timed("get_columns", lambda: equal(len(sa.inspect(e).get_columns("t7", "many")), 50))
    timed("get_table_names", lambda: equal(len(sa.inspect(e).get_table_names("many")), 1000))
    timed("information_schema.columns", lambda: true("50" in s.psql("-Atc", "select count(*) from information_schema.columns where table_schema = 'many' and table_name = 't9'")[1], "columns are missing"))
    e.dispose()
    true(not bad, "; ".join(bad))


def make_many(folder, tables, cols):
    """A thousand tables share one metadata's shape: PyIceberg makes one, copies register the rest."""
    import json
    import os
    import uuid
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema
    from pyiceberg import types as t
    os.makedirs(folder)
    cat = SqlCatalog("lake", uri="sqlite:///%s/catalog.db" % folder, warehouse="file://" + folder)
    cat.create_namespace("many")
    first = cat.create_table("many.t0", Schema(*[t.NestedField(i + 1, "c%d" % i, t.StringType() if i % 2 else t.LongType(), False) for i in range(cols)]))
    doc = json.load(open(first.metadata_location[len("file://"):]))
    from sqlalchemy import text
    with cat.engine.begin() as db:
        for i in range(1, tables):
            d = dict(doc, **{"table-uuid": str(uuid.uuid4()), "location": "file://%s/many/t%d" % (folder, i)})
            path = "%s/many/t%d/metadata/00000-%s.metadata.json" % (folder, i, uuid.uuid4())
            os.makedirs(os.path.dirname(path))
            json.dump(d, open(path, "w"))
            db.execute(text("insert into iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) values ('lake', 'many', :n, :m, 'TABLE')"),
                       {"n": "t%d" % i, "m": "file://" + path})
