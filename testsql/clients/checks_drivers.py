"""Section D: drivers and streaming."""

import asyncio
import subprocess
import tempfile
import time

from harness import Skip, Terminal, both, check, equal, same_psql, true
from rawpg import Raw, cstr, error, rows, status, tags, types


@check(49, "D", "psycopg2", "named, WITH HOLD and SCROLL cursors")
def psycopg2_cursors(ctx):
    import psycopg2

    def run(s):
        out = []
        with psycopg2.connect(s.dsn()) as c:
            with c.cursor("cur") as k:
                k.itersize = 100
                k.execute("select n from numbers order by n")
                out.append(sum(r[0] for r in k))
            with c.cursor("held", withhold=True) as k:
                k.execute("select n from numbers order by n")
                out.append(k.fetchmany(3))
                c.commit()
                out.append(len(k.fetchall()))
            with c.cursor("scr", scrollable=True) as k:
                k.execute("select n from numbers order by n")
                out.append(k.fetchmany(5))
                k.scroll(-2)
                out.append(k.fetchone())
                k.scroll(500, "absolute")
                out.append(k.fetchone())
            c.rollback()
            with c.cursor() as k:
                k.execute("select * from ns1.all_types where id = %s", (1,))
                out.append([str(x) if not isinstance(x, memoryview) else bytes(x) for x in k.fetchone()])
                k.execute("select %s::int[], %s, %s", ([1, None, 3], "it's", None))
                out.append(k.fetchone())
        return out
    both(ctx, run)


@check(50, "D", "psql", "FETCH_COUNT, \\gdesc, \\watch, \\crosstabview, \\copy")
def psql_features(ctx):
    same_psql(ctx, "-At", "-v", "FETCH_COUNT=100", "-c", "select * from ns1.orders order by order_id")
    same_psql(ctx, stdin="select order_id, amount from ns1.orders \\gdesc\n")
    same_psql(ctx, stdin="select region, date_trunc('month', placed)::date m, count(*) from ns1.orders group by 1, 2 order by 1, 2 \\crosstabview\n")
    same_psql(ctx, stdin="select 1 as a \\gset\nselect :a + 1 \\gx\n\\copy (select * from numbers order by n limit 3) to stdout\nselect format('select %s', n) from numbers order by n limit 2 \\gexec\n")
    same_psql(ctx, "-1", "-c", "select 1", "-c", "select 2")
    with Terminal(ctx.lhsql, "-At") as t:
        t.expect("lake=[#>] ")
        t.send("select 'ti' || 'ck' \\watch 0.2\r")
        time.sleep(1.2)
        t.send("\x03")
        true(t.expect("(tick[^t]*){3}"), "no ticks")


@check(52, "D", "asyncpg", "all types by binary, arrays, an unknown array type")
def asyncpg_types(ctx):
    import asyncpg

    async def go(s):
        c = await asyncpg.connect(host=s.host, port=s.port, user=s.user, database="lake", ssl=False)
        out = []
        for r in await c.fetch("select * from ns1.all_types order by id"):
            out.append([repr(x) for x in r.values()])
        out.append(await c.fetchrow("select $1::int[], $2::text[], $3::timestamptz, $4::numeric, $5::uuid, $6::jsonb, $7::interval, $8::date",
                                    [1, None], ["a", None], __import__("datetime").datetime(2024, 1, 2, tzinfo=__import__("datetime").timezone.utc),
                                    __import__("decimal").Decimal("-1.50"), __import__("uuid").UUID(int=7), '{"a": 1}',
                                    __import__("datetime").timedelta(days=1, seconds=2), __import__("datetime").date(2024, 2, 29)))
        out.append(await c.fetchval("select array_agg(r order by r) from (select distinct region r from ns1.orders) x"))
        out.append(await c.fetchval("select current_schemas(false)"))
        out.append(await c.fetchval("select array['pg_class'::regclass::oid]"))
        await c.close()
        return [repr(x) for x in out]
    both(ctx, lambda s: asyncio.run(go(s)))


@check(53, "D", "asyncpg", "cursor with prefetch, pool with reset, cancel by timeout")
def asyncpg_pool(ctx):
    import asyncpg

    async def go(s):
        out = []
        async with asyncpg.create_pool(host=s.host, port=s.port, user=s.user, database="lake", ssl=False, min_size=1, max_size=2) as pool:
            for _ in range(3):
                async with pool.acquire() as c:
                    async with c.transaction():
                        n = 0
                        async for r in c.cursor("select n from numbers order by n", prefetch=100):
                            n += r["n"]
                        out.append(n)
                        cur = await c.cursor("select n from numbers order by n")
                        await cur.forward(10)
                        out.append((await cur.fetchrow())["n"])
            async with pool.acquire() as c:
                try:
                    await c.fetch("select pg_sleep(20)", timeout=0.5)
                    out.append("not cancelled")
                except asyncio.TimeoutError:
                    out.append("timeout")
                out.append(await c.fetchval("select 1"))
            try:
                async with pool.acquire() as c:
                    async with c.transaction():
                        await c.execute("select 1/0")
            except asyncpg.DivisionByZeroError as e:
                out.append(str(e))
        return out
    both(ctx, lambda s: asyncio.run(go(s)))


@check(55, "D", "socket", "two portals interleaved in a transaction; tags count each Execute")
def portals(ctx):
    def run(s):
        with Raw(s, user="postgres", database="lake") as c:
            out = [types(c.query("begin"))]
            c.parse("select n from numbers order by n", name="a")
            c.bind("x", "a")
            c.bind("y", "a")
            c.sync()
            got = {"x": [], "y": []}
            done = set()
            while len(done) < 2:
                for p, k in (("x", 300), ("y", 170)):
                    if p in done:
                        continue
                    c.execute(p, k)
                    c.msg("H")
                    m = c.until("sCE")
                    got[p] += [int(r[0]) for r in rows(m)]
                    if m[-1][0] != "s":
                        done.add(p)
                        out.append((p, m[-1][0], tags(m)))
            c.sync()
            out.append({p: (len(v), sum(v)) for p, v in got.items()})
            out.append((types(c.query("commit"))))
            return out
    both(ctx, run)


@check(57, "D", "psycopg", "binary, pipeline, executemany, server cursors")
def psycopg3(ctx):
    import psycopg

    def run(s):
        out = []
        with psycopg.connect(s.dsn(), autocommit=True) as c:
            for binary in (False, True):
                cur = c.cursor(binary=binary)
                cur.execute("select * from ns1.all_types order by id") if not binary else cur.execute(
                    "select id, c_bool, c_int, c_long, c_double, c_dec, c_date, c_ts, c_str, c_uuid, c_bin, c_ints, c_strs, c_map from ns1.all_types where id in (1, 4, 6) order by id")
                if binary:
                    out += [repr(r) for r in cur.fetchall()]
                for _ in range(7):
                    cur.execute("select %s::int4 + 1, %s::text, %s::timestamp, %s::int[], %s::bool", (5, "x", __import__("datetime").datetime(2024, 1, 2), [1, 2], None))
                    out.append(repr(cur.fetchone()))
            with c.pipeline():
                a = c.execute("select 1")
                b = c.execute("select n from numbers where n <= %s order by n", (3,))
                out.append((a.fetchall(), b.fetchall()))
            try:
                with c.pipeline():
                    a = c.execute("select 1/0")
                    b = c.execute("select 2")
                    a.fetchall()
            except psycopg.errors.DivisionByZero as e:
                out.append(str(e))
            with c.transaction():
                with c.cursor("cc") as cur:
                    cur.execute("select n from numbers order by n")
                    out.append(len(cur.fetchmany(10)))
                    out.append(sum(r[0] for r in cur))
            with c.transaction():
                try:
                    with c.transaction():
                        c.execute("select nosuch")
                except psycopg.errors.UndefinedColumn:
                    out.append(c.execute("select 3").fetchone())
            cur = c.cursor()
            cur.execute("drop table if exists ns1.p3")
            cur.execute("create table ns1.p3 (a int, b text, d numeric(10,2))")
            cur.executemany("insert into ns1.p3 values (%s, %s, %s)", [(i, "r%d" % i, i / 4) for i in range(4)])
            with cur.copy("copy ns1.p3 from stdin") as cp:
                for i in range(100, 103):
                    cp.write_row((i, None, 1.5))
            with cur.copy("copy ns1.p3 (a, b) from stdin (format binary)") as cp:
                cp.set_types(["int4", "text"])
                cp.write_row((7, "bin"))
            out.append(cur.execute("select * from ns1.p3 order by a").fetchall())
            with cur.copy("copy (select * from ns1.p3 order by a) to stdout") as cp:
                out.append(list(cp.rows()))
            cur.execute("drop table ns1.p3")
        return out
    both(ctx, run)


@check(58, "D", "socket", "DISCARD ALL and the reset batches of asyncpg and Npgsql")
def discard(ctx):
    def run(s):
        out = []
        with Raw(s, user="postgres", database="lake") as c:
            for q in ("prepare a as select 1", "set timezone='Asia/Tokyo'", "discard all", "execute a", "show timezone", "discard plans", "discard temp", "discard sequences",
                      "begin; discard all", "rollback",
                      "SELECT pg_advisory_unlock_all();\nCLOSE ALL;\nUNLISTEN *;\nRESET ALL;",
                      "CLOSE ALL;SET SESSION AUTHORIZATION DEFAULT;RESET ALL;DEALLOCATE ALL;UNLISTEN *;SELECT pg_advisory_unlock_all();DISCARD SEQUENCES;DISCARD TEMP"):
                m = c.query(q)
                out.append((q, types(m), tags(m), status(m), error(m) and error(m)["C"]))
        return out
    both(ctx, run)


@check(59, "D", "socket", "pg_cancel_backend and pg_terminate_backend from a second session")
def cancel_backend(ctx):
    for s in (ctx.lhsql, ctx.pg):
        with Raw(s, user="postgres", database="lake") as a, Raw(s, user="postgres", database="lake") as b:
            pid = rows(a.query("select pg_backend_pid()"))[0][0].decode()
            equal(int(pid), a.key[0])
            a.msg("Q", cstr("select pg_sleep(30)"))
            time.sleep(0.3)
            equal(rows(b.query("select state, query from pg_stat_activity where pid = " + pid)), [[b"active", b"select pg_sleep(30)"]])
            t = time.time()
            equal(rows(b.query("select pg_cancel_backend(%s)" % pid)), [[b"t"]])
            equal(error(a.until())["C"], "57014")
            true(time.time() - t < 1, "slow")
            equal(rows(a.query("select 1")), [[b"1"]])
            equal(rows(b.query("select pg_terminate_backend(%s)" % pid)), [[b"t"]])
            equal(error([a.recv()])["C"], "57P01")
            time.sleep(0.2)
            equal(rows(b.query("select count(*) from pg_stat_activity where pid = " + pid)), [[b"0"]])


@check(60, "D", "socket psql", "COPY TO text, CSV, binary equal PostgreSQL's; FROM with CopyFail leaves nothing")
def copy(ctx):
    cols = "id, c_bool, c_int, c_long, c_float, c_double, c_dec, c_dec38, c_date, c_time, c_ts, c_tstz, c_str, c_uuid, c_fixed, c_bin, c_ints, c_strs, c_map, c_struct"
    q = "(select %s from ns1.all_types order by id)" % cols
    for o in ("", "(format csv)", "(format csv, header, delimiter ';', quote '''', null 'NIL')", "(format csv, force_quote *)", "(delimiter '|', null '')", "(format csv, escape '\\')"):
        same_psql(ctx, "-c", "copy %s to stdout %s" % (q, o))
    same_psql(ctx, "-c", "copy (select * from numbers order by n) to stdout", "-c", "copy (select order_id, amount from ns1.orders order by 1) to stdout (format csv, header)")

    def binary(s):
        with Raw(s, user="postgres", database="lake") as c:
            return b"".join(b for t, b in c.query("copy %s to stdout (format binary)" % q) if t == "d")
    both(ctx, binary)

    def fail(s):
        out = []
        with Raw(s, user="postgres", database="lake") as c:
            c.query("drop table if exists ns1.cp")
            out.append(types(c.query("create table ns1.cp (a int, b text)")))
            for data, end in ((b"1\tx\n2\ty\n", ("f", cstr("no more"))), (b"1\tx\nbad\ty\n", ("c", b"")), (b"1\tx\n2\n", ("c", b"")), (b"5\tx\\ty\\n\\\\\n6\t\\N\n", ("c", b""))):
                c.msg("Q", cstr("copy ns1.cp from stdin"))
                out.append(c.until("GE")[-1])
                c.msg("d", data)
                c.msg(*end)
                m = c.until()
                e = error(m)
                out.append((types(m), tags(m), e and (e["C"], e["M"])))
            out.append(rows(c.query("select * from ns1.cp order by a")))
            c.query("drop table ns1.cp")
        return out
    both(ctx, fail)


@check(61, "D", "pgbench", "simple, extended, prepared, four clients, a script of our own")
def pgbench(ctx):
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as f:
        f.write("\\set n random(1, 1000)\nselect label from numbers where n = :n;\nselect count(*) from ns1.orders where order_id < :n;\n")
        f.flush()
        for mode in ("simple", "extended", "prepared"):
            try:
                p = subprocess.run(["pgbench", "-n", "-M", mode, "-c", "4", "-j", "2", "-t", "25", "-f", f.name], env=ctx.lhsql.env(), capture_output=True, text=True, timeout=120)
            except FileNotFoundError:
                raise Skip("pgbench is not installed")
            true(p.returncode == 0 and "number of transactions actually processed: 100/100" in p.stdout and "aborted" not in p.stderr, mode + ": " + p.stdout[-500:] + p.stderr[-500:])
