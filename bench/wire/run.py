#!/usr/bin/env python3
"""Rows to the wire: the same million rows of six columns from lhsql (an Iceberg table) and from
PostgreSQL, to pgx (text and binary) and to psql, alternating; prints the medians.

    run.py --rows 1000000 --runs 5 [--binary lhsql]

Needs what testsql/clients installs, and PostgreSQL's server programs.
"""

import argparse
import datetime as dt
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "testsql", "clients"))
import harness  # noqa: E402
import run as clients  # noqa: E402


def table(n):
    import pyarrow as pa
    r = random.Random(7)
    day = dt.date(2020, 1, 1).toordinal() - dt.date(1970, 1, 1).toordinal()
    words = ["%s %d" % (w, i) for i in range(20000) for w in ("blue pen", "paper, A4", "desk lamp")]
    return pa.table({
        "id": pa.array(range(1, n + 1), pa.int64()),
        "quantity": pa.array([r.randrange(1, 100) for _ in range(n)], pa.int32()),
        "price": pa.array([r.randrange(1, 10**7) for _ in range(n)], pa.int64()).cast(pa.decimal128(19, 0)).cast(pa.decimal128(12, 2)),
        "day": pa.array([day + r.randrange(1500) for _ in range(n)], pa.int32()).cast(pa.date32()),
        "at": pa.array([1577836800000000 + r.randrange(10**14) for _ in range(n)], pa.int64()).cast(pa.timestamp("us")),
        "product": pa.array([words[r.randrange(len(words))] for _ in range(n)]),
    })


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--rows", type=int, default=1000000)
    a.add_argument("--runs", type=int, default=5)
    a.add_argument("--binary")
    a = a.parse_args()
    clients.install()
    tmp = tempfile.mkdtemp(prefix="lhsql-wire-")
    binary = a.binary or os.path.join(tmp, "lhsql")
    if not a.binary:
        subprocess.run(["go", "build", "-o", binary, "./cmd/lhsql"], cwd=ROOT, check=True)
    probe = os.path.join(tmp, "wire")
    subprocess.run(["go", "build", "-o", probe, "./bench/wire"], cwd=ROOT, check=True)

    import pyarrow.csv
    from pyiceberg.catalog.sql import SqlCatalog
    t = table(a.rows)
    wh = os.path.join(tmp, "warehouse")
    os.makedirs(wh)
    cat = SqlCatalog("lake", uri="sqlite:///%s/catalog.db" % wh, warehouse="file://" + wh)
    cat.create_namespace("public")
    cat.create_table("public.sales", t.schema).append(t)
    csv = os.path.join(tmp, "sales.csv")
    pyarrow.csv.write_csv(t, csv)
    pgdir = tempfile.mkdtemp(prefix="lhsql-wire-pg-")
    os.chmod(pgdir, 0o777)
    pg = harness.Postgres(pgdir, """CREATE TABLE sales (id bigint, quantity integer, price numeric(12,2), day date, at timestamp, product text);
\\copy sales from '%s' csv header
VACUUM (FREEZE, ANALYZE) sales;
""" % csv)
    lh = harness.Lhsql(binary, wh, os.path.join(tmp, "log"))
    servers = {"lhsql": lh.server, "PostgreSQL": pg.server}
    query = "select id, quantity, price, day, at, product from sales"

    def pgx(mode):
        def f(s):
            out = subprocess.run([probe, "-dsn", s.dsn() + " sslmode=disable", "-query", query, "-mode", mode], capture_output=True, text=True, check=True).stdout
            sec, n, size = out.split()
            assert int(n) == a.rows, out
            return float(sec)
        return f

    def psql(s):
        start = time.time()
        subprocess.run(["psql", "-X", "-Atqc", query, "-o", "/dev/null"], env=s.env(), check=True)
        return time.time() - start

    def copy(s):
        start = time.time()
        subprocess.run(["psql", "-X", "-qc", "copy (%s) to stdout" % query, "-o", "/dev/null"], env=s.env(), check=True)
        return time.time() - start
    try:
        print("%d rows, medians of %d alternating runs, seconds" % (a.rows, a.runs))
        for name, f in (("pgx text", pgx("text")), ("pgx binary", pgx("binary")), ("psql", psql), ("COPY to psql", copy)):
            times = {k: [] for k in servers}
            for i in range(a.runs + 1):
                for k, s in servers.items():
                    sec = f(s)
                    if i:  # the first is for the caches
                        times[k].append(sec)
            m = {k: statistics.median(v) for k, v in times.items()}
            print("%-14s lhsql %.3f  PostgreSQL %.3f  ratio %.2f" % (name, m["lhsql"], m["PostgreSQL"], m["lhsql"] / m["PostgreSQL"]), flush=True)
    finally:
        lh.stop()
        pg.stop()


if __name__ == "__main__":
    main()
