"""Sections C and D: psqlodbc, the driver under Tableau, Excel and others."""

import glob

from harness import Skip, both, check, equal


def connect(s, **options):
    try:
        import pyodbc
    except ImportError as e:
        raise Skip("pyodbc does not load: %s" % e)
    found = glob.glob("/usr/lib/*/odbc/psqlodbcw.so")
    if not found:
        raise Skip("psqlodbc (Debian's odbc-postgresql) is not installed")
    pyodbc.pooling = False
    text = "DRIVER=%s;SERVER=%s;PORT=%d;DATABASE=%s;UID=%s" % (found[0], s.host, s.port, s.database, s.user)
    return pyodbc.connect(text + "".join(";%s=%s" % o for o in options.items()), timeout=20)


def plain(rows):
    return [[str(v) if not isinstance(v, (bytes, bytearray)) else bytes(v) for v in r] for r in rows]


@check(39.1, "C", "psqlodbc", "SQLTables, SQLColumns, SQLPrimaryKeys, SQLStatistics, SQLForeignKeys, SQLProcedures, SQLGetTypeInfo")
def metadata(ctx):
    def run(s):
        with connect(s) as c:
            k = c.cursor()
            out = [plain([r[1], r[2], r[3]] for r in k.tables(schema="ns1"))]
            out.append(plain([r[1], r[2], r[3]] for r in k.tables(schema="public", tableType="TABLE")))
            for t in ("orders", "all_types"):
                # Not the last columns of the driver's own: the table's OID.
                out.append(plain(list(r)[:20] for r in k.columns(table=t, schema="ns1")))
                out.append(plain(k.primaryKeys(table=t, schema="ns1")))
                out.append(plain(list(r)[:10] for r in k.statistics(table=t, schema="ns1")))  # then sizes
                out.append(plain(k.foreignKeys(table=t, schema="ns1")))
                out.append(plain(k.rowIdColumns(table=t, schema="ns1")))
            out.append(plain(k.getTypeInfo()))
            list(k.procedures(schema="ns1"))
            return out
    both(ctx, run)


@check(39.2, "C", "psqlodbc", "all types, parameters, errors, transactions, autocommit")
def values(ctx):
    def run(s):
        out = []
        with connect(s) as c:
            k = c.cursor()
            k.execute("select * from ns1.all_types where id <> 3 order by id")  # year 9999 with a zone overflows Python's
            out.append([d[:2] + d[3:] for d in k.description])
            out += plain(k.fetchall())
            for _ in range(3):
                k.execute("select order_id, amount, placed from ns1.orders where order_id < ? and region = ? order by 1", 10, "eu")
                out += plain(k.fetchall())
            try:
                k.execute("select 1/0")
            except Exception as e:
                out.append(str(e.args))
            c.rollback()
            k.execute("create table ns1.od (a int, b text, c numeric(10,2), d timestamp)")
            k.executemany("insert into ns1.od values (?, ?, ?, ?)", [(i, "r%d" % i, i / 4, "2024-01-0%d 00:00:00" % (i + 1)) for i in range(5)])
            out.append(k.execute("update ns1.od set b = 'x' where a > ?", 2).rowcount)
            c.commit()
            out += plain(k.execute("select * from ns1.od order by a"))
            k.execute("delete from ns1.od")
            c.rollback()
            out += plain(k.execute("select count(*) from ns1.od"))
            c.commit()
        with connect(s) as c:
            c.autocommit = True
            c.execute("drop table ns1.od")
            out += plain(c.execute("select 1; "))
        return [repr(x) for x in out]
    both(ctx, run)


@check(51, "D", "psqlodbc", "UseDeclareFetch=1: thousand rows by batches, two cursors at once, outside and inside transactions")
def declare_fetch(ctx):
    def run(s):
        out = []
        for auto in (True, False):
            for options in ({"UseDeclareFetch": 1, "Fetch": 100}, {"UseDeclareFetch": 1, "Fetch": 37, "Protocol": "7.4-1"}, {"UseDeclareFetch": 0},
                            {"UseDeclareFetch": 1, "UseServerSidePrepare": 0}):
                with connect(s, **options) as c:
                    c.autocommit = auto
                    a, b = c.cursor(), c.cursor()
                    a.execute("select n, label from numbers order by n")
                    b.execute("select order_id from ns1.orders where region <> ? order by order_id", "us")
                    x = y = 0
                    while True:
                        p, q = a.fetchmany(90), b.fetchmany(50)
                        if not p and not q:
                            break
                        x, y = x + sum(r[0] for r in p), y + sum(r[0] for r in q)
                    out.append((auto, sorted(options.items()), x, y))
                    a.execute("select n from numbers order by n")
                    a.fetchmany(10)
                    a.close()  # closed early
                    out.append(b.execute("select count(*) from numbers").fetchone()[0])
                    try:
                        b.execute("select 1000 / (500 - n) from numbers order by n").fetchall()
                    except Exception as e:
                        out.append(e.args[0])
                    c.rollback()
                    out.append(b.execute("select 'alive'").fetchone()[0])
                    if not auto:
                        c.rollback()
        return out
    got = both(ctx, run)
    equal(got[0][2], 500500)
