"""Section A: what everyone needs."""

import asyncio
import ssl
import struct
import time

from harness import Terminal, both, check, equal, same_psql, true
from rawpg import Raw, cancel, columns, cstr, error, fields, i32, rows, startup_packet, status, tags, types

SSL = i32(8) + i32(80877103)
GSS = i32(8) + i32(80877104)


@check(1, "A", "psql", "select 1 with sslmode and gssencmode prefer")
def select_one(ctx):
    rc, out, err = ctx.lhsql.psql("-Atc", "select 1", PGSSLMODE="prefer", PGGSSENCMODE="prefer")
    equal((rc, out), (0, "1\n"), err)
    rc, out, err = ctx.tls.psql("-Atc", "select 1", PGSSLMODE="prefer", PGGSSENCMODE="prefer")
    equal((rc, out), (0, "1\n"), err)


@check(2, "A", "socket", "GSSENCRequest, SSLRequest, startup in both orders")
def encryption_requests(ctx):
    for order in ((GSS, SSL), (SSL, GSS), (SSL,), (GSS,), ()):
        with Raw(ctx.lhsql) as c:
            for req in order:
                c.send(req)
                equal(c.byte(), b"N")
            equal(types(c.start(user="u", database="lake")), "RKZ")
            equal(rows(c.query("select 1")), [[b"1"]])
    # With TLS: N for GSS, then S and a handshake, then the startup inside.
    for order in ((GSS, SSL), (SSL,)):
        with Raw(ctx.tls) as c:
            for req in order:
                c.send(req)
                equal(c.byte(), b"S" if req is SSL else b"N")
            x = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            x.check_hostname, x.verify_mode = False, ssl.CERT_NONE
            c.sock = x.wrap_socket(c.sock)
            c.send(startup_packet({"user": "anna", "database": "lake"}))
            typ, body = c.recv()
            equal((typ, body[:4]), ("R", i32(10)))
            equal(body[4:], b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0")
    # Bytes sent in the clear after SSLRequest may not be taken as if they came encrypted.
    with Raw(ctx.tls) as c:
        c.send(SSL + startup_packet({"user": "anna", "database": "lake"}))
        equal(c.byte(), b"S")
        try:
            rest = c.sock.recv(100)
        except OSError:
            rest = b""
        true(not rest.startswith(b"R"), "the server took plain bytes after SSLRequest")
    # A cancel request may come after SSLRequest (asyncpg).
    with Raw(ctx.lhsql) as c:
        c.send(SSL)
        equal(c.byte(), b"N")
        c.send(i32(16) + i32(80877102) + i32(1) + i32(1))
        equal(c.sock.recv(1), b"")


@check(2.1, "A", "socket", "direct TLS with ALPN postgresql, refused without")
def direct_tls(ctx):
    for alpn, works in ((["postgresql"], True), (None, False)):
        x = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        x.check_hostname, x.verify_mode = False, ssl.CERT_NONE
        if alpn:
            x.set_alpn_protocols(alpn)
        with Raw(ctx.tls) as c:
            try:
                c.sock = x.wrap_socket(c.sock)
                c.send(startup_packet({"user": "anna", "database": "lake"}))
                got = c.recv()[0]
            except (OSError, EOFError):
                got = None
            equal(got, "R" if works else None, "alpn %s" % alpn)


@check(3, "A", "socket", "protocol 3.2, 3.9999 and _pq_ options are negotiated")
def negotiate(ctx):
    for version, opts in ((3 << 16 | 2, []), (3 << 16 | 9999, ["_pq_.x"]), (3 << 16, ["_pq_.a", "_pq_.b"])):
        with Raw(ctx.lhsql) as c:
            msgs = c.start(version=version, user="u", database="lake", **{o: "1" for o in opts})
            equal(msgs[0][0], "v")
            body = msgs[0][1]
            newest, n = struct.unpack("!ii", body[:8])
            true(newest in (0, 3 << 16), "newest minor version %r" % newest)
            equal(body[8:], b"".join(cstr(o) for o in opts))
            equal(n, len(opts))
            equal(rows(c.query("select 1")), [[b"1"]])
    with Raw(ctx.lhsql) as c:
        c.send(startup_packet({"user": "u"}, 2 << 16))
        equal(error([c.recv()])["C"], "0A000")


@check(4, "A", "psql", "bad password, user, database are FATAL with 28P01, 28000, 3D000")
def bad_login(ctx):
    rc, out, err = ctx.auth.psql("-c", "select 1", PGPASSWORD="wrong")
    equal(rc, 2)
    true('FATAL:  password authentication failed for user "anna"' in err, err)
    rc, out, err = ctx.auth.psql("-c", "select 1", PGUSER="nobody_here")
    equal(rc, 2)
    true('FATAL:  password authentication failed for user "nobody_here"' in err, err)
    rc, out, err = ctx.lhsql.psql("-c", "select 1", PGDATABASE="nosuch")
    equal(rc, 2)
    true('FATAL:  database "nosuch" does not exist' in err, err)
    with Raw(ctx.lhsql) as c:
        equal(error(c.start(user="u", database="nosuch"))["C"], "3D000")
    with Raw(ctx.lhsql) as c:
        equal(error(c.start(database="lake"))["C"], "28000")
    with Raw(ctx.lhsql) as c:
        equal(error(c.start(user="u", database="lake", nosuchsetting="1"))["C"], "42704")


@check(5, "A", "psql psycopg2 psycopg asyncpg", "SCRAM-SHA-256, and -PLUS with channel_binding=require")
def scram(ctx):
    import asyncpg
    import psycopg
    import psycopg2
    for mode in ("prefer", "disable", "require"):
        rc, out, err = ctx.tls.psql("-Atc", "select current_user", PGCHANNELBINDING=mode, PGSSLMODE="require")
        equal((rc, out), (0, "anna\n"), "channel_binding=%s: %s" % (mode, err))
    equal(ctx.auth.psql("-Atc", "select current_user")[1], "anna\n")
    with psycopg2.connect(ctx.tls.dsn()) as c, c.cursor() as cur:
        cur.execute("select current_user")
        equal(cur.fetchone(), ("anna",))
    with psycopg.connect(ctx.tls.dsn() + " channel_binding=require") as c:
        equal(c.execute("select current_user").fetchone(), ("anna",))

    async def go(s):
        tls = None
        if s.sslmode:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        c = await asyncpg.connect(host=s.host, port=s.port, user=s.user, password=s.password, database="lake", ssl=tls or False)
        equal(await c.fetchval("select current_user"), "anna")
        await c.close()
    asyncio.run(go(ctx.tls))
    asyncio.run(go(ctx.auth))


PARAMETERS = ["application_name", "client_encoding", "DateStyle", "default_transaction_read_only", "in_hot_standby", "integer_datetimes",
              "IntervalStyle", "is_superuser", "server_encoding", "server_version", "session_authorization", "standard_conforming_strings", "TimeZone"]


@check(6, "A", "socket", "ParameterStatus complete, sent again after SET, RESET and rollback")
def parameter_status(ctx):
    with Raw(ctx.lhsql, user="u", database="lake", application_name="me") as c, Raw(ctx.pg, user="postgres", database="lake") as p:
        equal(sorted(c.params), sorted(PARAMETERS))
        equal(sorted(c.params), sorted(p.params), "against PostgreSQL")
        equal(c.params["application_name"], "me")
        equal(c.params["session_authorization"], "u")
        true(c.params["server_version"].startswith("15."), c.params["server_version"])
        for s in (c, p):
            def changed(sql):
                return [b[:-1].split(b"\0") for t, b in s.query(sql) if t == "S"]
            equal(changed("set TimeZone to 'Europe/Berlin'"), [[b"TimeZone", b"Europe/Berlin"]])
            equal(changed("set TimeZone to 'Europe/Berlin'"), [])
            equal(changed("begin; set datestyle to 'German'"), [[b"DateStyle", b"German, DMY"]])
            equal(changed("rollback"), [[b"DateStyle", b"ISO, MDY"]])
            equal(changed("select set_config('application_name','x',false)"), [[b"application_name", b"x"]])
            s.parse("set intervalstyle = iso_8601")
            s.bind()
            s.execute()
            equal([b[:-1].split(b"\0") for t, b in s.sync() if t == "S"], [[b"IntervalStyle", b"iso_8601"]])
        equal([b for t, b in c.query("reset timezone") if t == "S"], [b"TimeZone\0UTC\0"])


@check(7, "A", "asyncpg psql", "quoted encoding, options=-c, unknown keys of startup")
def startup_options(ctx):
    import asyncpg

    async def go():
        c = await asyncpg.connect(host=ctx.lhsql.host, port=ctx.lhsql.port, user="u", database="lake", ssl=False,
                                  server_settings={"jit": "off", "application_name": "asy nc", "search_path": "ns1"})
        equal(await c.fetchval("show application_name"), "asy nc")
        equal(await c.fetchval("select count(*) from orders"), 1000)
        await c.close()
    asyncio.run(go())
    rc, out, err = ctx.lhsql.psql("-Atc", "show search_path; show statement_timeout; show application_name",
                                  PGOPTIONS="-c search_path=ns1,public -cstatement_timeout=7s --application-name=a\\ b", PGAPPNAME="")
    equal((rc, out), (0, "ns1,public\n7s\na b\n"), err)
    with Raw(ctx.lhsql) as c:
        equal(types(c.start(user="u", database="lake", client_encoding="'utf-8'", extra_float_digits="2", DateStyle="ISO", TimeZone="GMT",
                            geqo="off", **{"my.own": "1"})), "RKZ")
        equal(rows(c.query("show client_encoding")), [[b"UTF8"]])


@check(8, "A", "socket psql", "two statements in one text: two results, one ReadyForQuery; an error ends the text")
def multi_statement(ctx):
    def run(s):
        with Raw(s, user="postgres", database="lake") as c:
            out = []
            for q in ("select 1;select 2", "select 1; select 1/0; select 3", "select 1;;select 2;", "set timezone='utc'; select 1 where false;",
                      "begin; select 1; commit; select 2", "select 1; bogus; select 2", "begin; select 1/0; select 2", "commit"):
                m = c.query(q)
                e = error(m)
                out.append((q, types(m), rows(m), tags(m), status(m), e and (e["C"], e["M"], e.get("P"))))
            return out
    both(ctx, run)
    same_psql(ctx, "-c", "select 1 as a; select 2 as b")


@check(9, "A", "socket", "an error within a pipeline: fields, skipping to Sync, session alive")
def pipeline_error(ctx):
    def run(s):
        out = []
        with Raw(s, user="postgres", database="lake") as c:
            for q in ("select 1/0", "select nosuch from ns1.orders", "select * from nosuch", "selec 1", "select 'é', nosuch", "select 1 +",
                      "select lower(1, 2)", "select 'a'::int", "  \n select 1 from ns1.orders where x = 1"):
                c.parse(q)
                c.bind()
                c.describe("P")
                c.execute()
                c.parse("select 5")
                c.bind()
                c.execute()
                m = c.sync()
                e = error(m)
                # Where planning fails, PostgreSQL fails at Bind; here it is at Execute.
                out.append((q, types(m).replace("2", "").replace("T", ""), status(m), e["S"], e["V"], e["C"], e["M"], e.get("P")))
                m = c.query(q)
                e = error(m)
                out.append((q, types(m), e["C"], e["M"], e.get("P")))
            # Messages after an error are ignored, Close and Flush too.
            c.parse("select 1/0")
            c.bind()
            c.execute()
            c.msg("H")
            c.msg("C", b"S\0")
            c.parse("select 5", name="later")
            out.append(types(c.sync()).replace("2", ""))
            c.bind(name="later")
            m = c.sync()
            out.append((types(m), error(m)["C"], error(m)["M"]))
            c.bind(portal="p", name="nosuch")
            out.append(error(c.sync())["C"])
            c.execute("nosuch")
            out.append(error(c.sync())["C"])
            c.describe("P", "nosuch")
            out.append(error(c.sync())["C"])
            c.parse("select 1; select 2")
            out.append((error(c.sync())["C"], ))
            out.append(rows(c.query("select 1")))
        return out
    both(ctx, run)


@check(10, "A", "socket", "empty and comment-only texts, simple and extended")
def empty_query(ctx):
    def run(s):
        out = []
        with Raw(s, user="postgres", database="lake") as c:
            for q in ("", ";", "-- ping", "/* x */", " ", ";;", "-- a\n;"):
                out.append((q, types(c.query(q))))
                c.parse(q)
                c.describe("S")
                c.bind()
                c.describe("P")
                c.execute()
                out.append((q, types(c.sync())))
        return out
    both(ctx, run)


@check(11, "A", "socket", "status I, T, E; 25P02; COMMIT in a failed transaction says ROLLBACK")
def transaction_status(ctx):
    def run(s):
        out = []
        with Raw(s, user="postgres", database="lake") as c:
            for q in ("begin", "select 1", "begin", "select 1/0", "select 1", "show timezone", "commit", "commit", "begin read only", "savepoint a",
                      "select 1/0", "rollback to a", "select 2", "release a", "rollback to a", "rollback", "rollback", "savepoint x",
                      "start transaction isolation level serializable", "abort", "begin; savepoint s; select 1/0; commit", "end", "begin",
                      "commit and chain", "select 3", "rollback and chain", "rollback", "set local timezone='UTC'", "select 1; begin", "rollback",
                      "declare c cursor for select 1", "begin; declare c cursor for select 1; fetch c; close c; commit", ""):
                m = c.query(q)
                e = error(m)
                out.append((q, types(m), tags(m), status(m), e and (e["C"], e["M"])))
                for t, b in m:
                    if t == "N":
                        f = fields(b)
                        out.append((f["S"], f["C"], f["M"]))
            # The same over the extended protocol.
            for q in ("begin", "select 1/0", "select 1", "rollback"):
                c.parse(q)
                c.bind()
                c.execute()
                m = c.sync()
                out.append((q, types(m).replace("2E", "E"), tags(m), status(m), error(m) and error(m)["C"]))
        return out
    both(ctx, run)


VALUES = ["select * from ns1.all_types order by id", "select 1::int2, 2::int8, '-0'::float8, 'Infinity'::float4, 'NaN'::float8, 1e23::float8, 0.1::float4",
          "select 'infinity'::date, '-infinity'::timestamp, 'infinity'::timestamptz, '0044-03-15 BC'::date",
          "select '1 year 2 mons -3 days 04:05:06.789'::interval, '-00:00:01'::interval, '0'::interval",
          "select '12:34:56+02'::timetz, array[[1,2],[3,4]], '{}'::text[], array[null]::text[], '[1, {\"a\": null}]'::json, '{\"b\":1,\"a\":2}'::jsonb",
          "select 'a'::\"char\", 'abc'::name, 'abc'::varchar(10), 'abc'::char(5), 'NaN'::numeric, 1.10::numeric, 1e-10::numeric, 12345678901234567890::numeric",
          "select 1::oid, null, 'x', true, row_number() over () , current_schemas(true)", "select 'pg_class'::regclass, 'int4'::regtype, 'pg_catalog'::regnamespace"]


@check(12, "A", "socket psql", "text and binary of every type equal PostgreSQL's, to the byte")
def value_forms(ctx):
    for zone in ("UTC", "America/New_York", "Asia/Kathmandu"):
        def run(s):
            with Raw(s, user="postgres", database="lake", TimeZone=zone) as c:
                return [(q, r) for q in VALUES for r in rows(c.query(q))]
        both(ctx, run)

    def binary(s):
        out = []
        with Raw(s, user="postgres", database="lake") as c:
            for q in VALUES[:-1]:
                if "current_schemas" in q:
                    q = q.replace(", current_schemas(true)", "")
                c.parse(q)
                c.bind(results=(1,))
                c.execute()
                for r in rows(c.sync()):
                    # jsonb of maps: the keys' order is jsonb's own.
                    out.append((q, r))
        return out
    both(ctx, binary)
    same_psql(ctx, "-c", "set intervalstyle=iso_8601; select '1 year 2 days'::interval; set datestyle='SQL, DMY'; select now()::date - now()::date, date '2024-02-03', timestamp '2024-02-03 04:05:06'")
    same_psql(ctx, "-c", "set bytea_output='escape'; select c_bin, c_fixed from ns1.all_types order by id; set extra_float_digits=0; select c_double, c_float from ns1.all_types order by id")


@check(13, "A", "socket", "RowDescription's OID, typlen, typmod equal PostgreSQL's for every type")
def row_description(ctx):
    def run(s):
        out = []
        with Raw(s, user="postgres", database="lake") as c:
            for q in ["select * from ns1.all_types limit 0", "select * from ns1.orders limit 0"] + VALUES[1:] + [
                    "select count(*), sum(order_id), avg(amount), min(placed), max(customer) from ns1.orders",
                    "select amount + 1, amount * 2, amount / 3, order_id || 'x', placed + interval '1 day' from ns1.orders limit 0",
                    "select 1 as \"A b\", 'x' as x, null as n", "show timezone", "explain select 1", "values (1, 'a'), (2, 'b')"]:
                out.append((q, columns(c.query(q))))
                c.parse(q)
                c.describe("S")
                c.bind()
                c.describe("P")
                m = c.sync()
                out.append((q, types(m), columns(m)))
        return out
    both(ctx, run)


META = [r"\dt", r"\dn", r"\l", r"\d ns1.orders", r"\d+ ns1.orders", r"\df", r"\du", r"\dv", r"\dT", r"\do", r"\d", r"\d+", r"\dt+ ns1.*", r"\di ns1.*",
        r"\dp", r"\dx", r"\dC", r"\da", r"\dA", r"\db", r"\dD", r"\dL", r"\dm", r"\ds", r"\dy", r"\dO", r"\dP", r"\dRp", r"\dRs", r"\z ns1.*", r"\dd", r"\ddp",
        r"\des", r"\det", r"\dew", r"\deu", r"\dF", r"\drds", r"\dconfig TimeZone", r"\dtvmis", r"\dt *.*", r"\d pg_class", r"\df+ upper", r"\dS", r"\dn+", r"\l+",
        r"\du+", r"\dT+ int4", r"\dP+", r"\dx+", r"\dg", r"\dX"]


@check(14, "A", "psql", r"the \d family: no error, names as PostgreSQL's; \d of a table to the letter")
def describe_commands(ctx):
    bad = []
    for m in META:
        a, b = ctx.lhsql.psql("-c", m), ctx.pg.psql("-c", m)

        def names(out):
            lines = out.splitlines()
            return [x.strip() for x in lines[1].split("|")] if len(lines) > 2 and "|" in lines[1] else None
        if a[0] != b[0] or "ERROR" in a[2]:
            bad.append("%s: rc %d, %s" % (m, a[0], a[2].strip().splitlines()[:1]))
        elif names(a[1]) and names(b[1]) and names(a[1]) != names(b[1]):
            bad.append("%s: columns %s, PostgreSQL has %s" % (m, names(a[1]), names(b[1])))
    true(not bad, "; ".join(bad))
    for m in (r"\dt ns1.*", r"\d ns1.orders", r"\d ns1.all_types", r"\d ns1.orders_pkey", r"\d public.numbers", r"\dv", r"\d nosuch", r"\dt nosuch", r"\di ns1.*"):
        same_psql(ctx, "-c", m)


@check(15, "A", "psql", "Ctrl-C stops a long query with 57014 and the session goes on")
def ctrl_c(ctx):
    with Terminal(ctx.lhsql, "-v", "VERBOSITY=verbose") as t:
        t.expect("lake=> |lake=# ")
        t.send("select count(*) from generate_series(1, 100000000000) g where g % 7 = 3;\r")
        time.sleep(1.5)
        at = time.time()
        t.send("\x03")
        t.expect("ERROR:  57014: canceling statement due to user request")
        true(time.time() - at < 1.5, "the cancel took %.1f s" % (time.time() - at))
        t.send("select 'still ' || 'here';\r")
        t.expect("still here")


@check(15.1, "A", "socket", "cancel with a wrong secret does nothing; of an idle session neither")
def cancel_secret(ctx):
    with Raw(ctx.lhsql, user="u", database="lake") as c:
        cancel(ctx.lhsql, c.key)
        equal(rows(c.query("select 1")), [[b"1"]])
        c.msg("Q", cstr("select pg_sleep(1.5)"))
        time.sleep(0.2)
        cancel(ctx.lhsql, (c.key[0], c.key[1] ^ 1))
        equal(error(c.until()), None)
        c.msg("Q", cstr("select pg_sleep(30)"))
        time.sleep(0.2)
        t = time.time()
        cancel(ctx.lhsql, c.key)
        equal(error(c.until())["C"], "57014")
        true(time.time() - t < 1, "the cancel took %.1f s" % (time.time() - t))


@check(16, "A", "socket", "statement_timeout=500 ends a query with 57014 in under a second")
def statement_timeout(ctx):
    for q in ("select pg_sleep(20)", "select count(*) from generate_series(1, 100000000000) g where g % 7 = 3",
              "select count(*) from ns1.orders a, ns1.orders b, ns1.orders c where a.amount + b.amount + c.amount < 0",
              "select g, g * 2 from generate_series(1, 100000000000) g order by 2 desc"):
        with Raw(ctx.lhsql, user="u", database="lake", statement_timeout="500") as c:
            t = time.time()
            m = c.query(q)
            took = time.time() - t
            equal((error(m)["C"], error(m)["M"]), ("57014", "canceling statement due to statement timeout"))
            true(took < 1, "%s took %.2f s" % (q, took))
            equal(rows(c.query("select 1")), [[b"1"]])


@check(16.1, "A", "socket", "a client that is gone frees its query within a second")
def disconnect(ctx):
    with Raw(ctx.lhsql, user="watch", database="lake") as w:
        c = Raw(ctx.lhsql, user="goner", database="lake")
        c.msg("Q", cstr("select count(*) from generate_series(1, 100000000000) g where g % 7 = 3"))
        time.sleep(0.5)
        q = "select count(*) from pg_stat_activity where usename = 'goner'"
        equal(rows(w.query(q)), [[b"1"]])
        c.close()
        time.sleep(1)
        equal(rows(w.query(q)), [[b"0"]])


@check(16.2, "A", "socket", "a giant message before log-in is refused, and a silent client is dropped")
def before_login(ctx):
    with Raw(ctx.lhsql) as c:
        c.send(i32(1 << 30) + i32(3 << 16))
        equal(error([c.recv()])["C"], "08P01")
    with Raw(ctx.lhsql, timeout=15) as c:
        t = time.time()
        c.send(b"\0\0\0")
        try:
            c.sock.recv(10)
        except OSError:
            pass
        true(8 < time.time() - t < 12, "dropped after %.1f s" % (time.time() - t))


# Several statements in one message, and pipelines as lists of statements with "flush" between them.
# ns1.several holds the integers that survive. (PostgreSQL computes 1/0 at Bind, and 1/(select 0) when
# the statement runs.)
SEVERAL = [
    "insert into ns1.several values (1); insert into ns1.several values (2)",
    "insert into ns1.several values (1); insert into ns1.several values (1/0)",
    "insert into ns1.several values (1); select nothing",
    "insert into ns1.several values (1); syntax error",
    "create table ns1.several2 (a int); insert into ns1.several2 values (1); drop table ns1.several; select 1/0",
    "create table ns1.several2 (a int); insert into ns1.several2 values (1); drop table ns1.several2",
    "insert into ns1.several values (1); commit; insert into ns1.several values (2); select 1/0",
    "insert into ns1.several values (1); rollback; insert into ns1.several values (2)",
    "insert into ns1.several values (1); begin; insert into ns1.several values (2); commit; select 1/0",
    "insert into ns1.several values (1); begin; select 1/0; commit",
    "insert into ns1.several values (1); begin read only; insert into ns1.several values (2)",
    "begin; insert into ns1.several values (1); commit; insert into ns1.several values (2); select 1/0",
    "begin; insert into ns1.several values (1); begin; insert into ns1.several values (2); rollback",
    "insert into ns1.several values (1); savepoint s; insert into ns1.several values (2)",
    "insert into ns1.several values (1); release s",
    "insert into ns1.several values (1); rollback to s",
    "insert into ns1.several values (1); commit and chain",
    "insert into ns1.several values (1); rollback and chain",
    "begin; insert into ns1.several values (1); commit and chain; insert into ns1.several values (2); rollback",
    "declare c cursor for select 1; fetch c; insert into ns1.several values (1)",
    "set local application_name = 'x'; show application_name; select 1",
    "set application_name = 'y'; select 1/0",
    "set application_name = 'z'; show application_name",
    "insert into ns1.several values (1); discard all",
    "prepare p as insert into ns1.several values ($1); execute p(1); execute p(2); deallocate p; select 1/0",
    "insert into ns1.several values (1); copy ns1.several to stdout; copy (select 2) to stdout; select 1/0",
    "insert into ns1.several values (1); update ns1.several set a = 3; delete from ns1.several where a = 4; select a from ns1.several",
    "insert into ns1.several values (1);;; insert into ns1.several values (2);",
    "select 1; select 2; select now() = now(), statement_timestamp() >= now()",
    ["insert into ns1.several values (1)", "insert into ns1.several values (2)"],
    ["insert into ns1.several values (1)", "insert into ns1.several values (1/(select 0))", "insert into ns1.several values (2)"],
    ["insert into ns1.several values (1)", "flush", "insert into ns1.several values (1/(select 0))"],
    ["insert into ns1.several values (1)", "flush", "select a from ns1.several", "flush"],
    ["insert into ns1.several values (1)", "commit", "insert into ns1.several values (2)", "select 1/(select 0)"],
    ["insert into ns1.several values (1)", "rollback", "insert into ns1.several values (2)"],
    ["insert into ns1.several values (1)", "begin", "insert into ns1.several values (2)", "select 1/(select 0)"],
    ["insert into ns1.several values (1)", "begin", "insert into ns1.several values (2)", "commit", "select 1/(select 0)"],
    ["insert into ns1.several values (1)", "savepoint s"],
    ["create table ns1.several2 (a int)", "insert into ns1.several values (1)", "select 1/(select 0)"],
    ["insert into ns1.several values (1)", ""],
    ["discard all", "flush"],
]


def told(msgs):
    """What a client is told: the types of the messages with tags, states, rows, and codes of errors and notices."""
    out = []
    for t, b in msgs:
        if t in "CZ":
            out.append((t, b.rstrip(b"\0").decode()))
        elif t in "EN":
            f = fields(b)
            out.append((t, f["S"], f["C"]))
        elif t == "D":
            out.append((t, rows([(t, b)])))
        elif t not in "TnS":
            out.append((t,))
    return out


@check(17, "A", "socket", "several statements in one message, and pipelines, are transactions: messages and rows as PostgreSQL's")
def several(ctx):
    def run(server):
        out = []
        for case in SEVERAL:
            with Raw(server, user="postgres", database="lake") as c:
                equal(error(c.query("create table ns1.several (a int)")), None)
                if isinstance(case, str):
                    got = c.query(case)
                else:
                    for text in case:
                        if text == "flush":
                            c.msg("H")
                        else:
                            c.parse(text)
                            c.bind()
                            c.execute()
                    got = c.sync()
                state = status(got)[0]
                if state != "I":
                    c.query("rollback")
                left = rows(c.query("select a from ns1.several order by 1"))
                made = rows(c.query("select count(*) from pg_class where relname = 'several2'"))
                name = rows(c.query("show application_name"))
                c.query("drop table if exists ns1.several; drop table if exists ns1.several2")
                out.append((case, told(got), left, made, name))
        return out
    both(ctx, run)
