"""Section B: the JDBC driver. Jdbc.java prints what it saw; both servers must show the same."""

import os
import re
import subprocess

from harness import Skip, check, equal, true

DRIVER = "org.postgresql:postgresql:42.7.8"


def driver(ctx):
    jar = os.path.join(ctx.cache, "postgresql-42.7.8.jar")
    if not os.path.exists(jar):
        try:
            subprocess.run(["mvn", "-q", "dependency:copy", "-Dartifact=" + DRIVER, "-DoutputDirectory=" + ctx.cache], check=True, cwd=ctx.tmp, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as e:
            raise Skip("the JDBC driver does not install: %s" % e)
    return jar


def run(ctx, server, tls=False):
    url = "jdbc:postgresql://%s:%d/lake" % (server.host, server.port)
    if tls:
        url += "?sslmode=require"
    try:
        p = subprocess.run(["java", "-cp", driver(ctx), os.path.join(os.path.dirname(__file__), "Jdbc.java"), url, server.user, server.password or ""],
                           capture_output=True, text=True, timeout=300)
    except FileNotFoundError:
        raise Skip("java is not installed")
    true(p.returncode == 0, p.stderr[-2000:])
    out = re.split(r"^## (\S+)\n", p.stdout, flags=re.M)
    return dict(zip(out[1::2], out[2::2]))


def outputs(ctx):
    if not hasattr(ctx, "jdbc"):
        ctx.jdbc = (run(ctx, ctx.lhsql), run(ctx, ctx.pg))
    return ctx.jdbc


def jdbc(n, title):
    @check(n, "B", "pgjdbc", title)
    def f(ctx):
        a, b = (normal(o[str(n)]) for o in outputs(ctx))
        for x, y in zip(a.splitlines(), b.splitlines()):
            equal(x, y)
        equal(a, b)
    return f


def normal(text):
    # The schemas that PostgreSQL makes for itself, and what belongs to its own catalogs.
    return "\n".join(l for l in text.splitlines() if not re.match(r"(pg_toast|template\d|postgres) ", l))


jdbc(17, "connect, version")
jdbc(18, "getSchemas, getTables, getColumns")
jdbc(19, "getTypeInfo, keys, indexes, privileges, functions")
jdbc(20, "a prepared statement seven times, all types, across the switch to binary")
jdbc(21, "fetchSize 300 in a transaction, another statement in between")
jdbc(22, "setMaxRows; INSERT with maxRows=1; RETURNING")
jdbc(23, "describe EXPLAIN, SHOW, SET, leading space")
jdbc(24, "setQueryTimeout(1) cancels, the next query works")
jdbc(25, "ParameterMetaData: types of parameters")
jdbc(26, "savepoints, autosave=always, readOnly, isolation")
jdbc(27, "preferQueryMode simple, extendedForPrepared, extendedCacheEverything")
jdbc(28, "isValid, multi-statement, batches, COPY API")


@check(29, "B", "pgjdbc", "SCRAM over sslmode=require")
def scram_tls(ctx):
    out = run(ctx, ctx.tls, tls=True)
    true("PostgreSQL 15 lake" in out.get("17", ""), out.get("17", "no output"))


jdbc(30, "ResultSetMetaData")
