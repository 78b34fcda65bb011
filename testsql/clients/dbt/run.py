#!/usr/bin/env python3
"""Runs the dbt project beside it over lhsql and over PostgreSQL 15, and compares what it makes.

    run.py [--binary PATH]

debug, seed, run, a second run after the sources have changed, test, snapshot, docs generate: each
must succeed on both, and every table and view, the catalog of the docs included, must be the same.
Needs python3, PostgreSQL's server programs, and Go or a binary of lhsql.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
VENV = os.path.join(ROOT, ".cache", "dbt")
PROJECT = os.path.join(HERE, "project")
sys.path.insert(0, os.path.dirname(HERE))

SOURCES = {
    "silver.order_item": "order_item_id bigint primary key, order_id bigint, order_time timestamptz, customer_token text, sku text, region text, channel text, "
                         "quantity int, unit_price numeric(12,2), amount numeric(14,2), currency text, status text, source_version bigint",
    "gold.finance_order_ledger": "entry_id bigint primary key, order_item_id bigint, entry_type text, booked_on date, region text, amount numeric(14,2), "
                                 "currency text, transaction_ref text",
}

# What happens between two runs: rows change, come and go.
CHANGES = """
update silver.order_item set status = 'returned', amount = amount - 1, source_version = 50000 + order_item_id % 100 where order_item_id % 500 = 0;
delete from silver.order_item where order_item_id % 777 = 0;
insert into silver.order_item (order_item_id, order_id, order_time, sku, region, channel, quantity, unit_price, amount, currency, status, source_version)
select 900000 + g, 900000, timestamptz '2026-09-01 10:00:00+00' + g * interval '1 hour', 'SKU-NEW', 'EU', 'web', 1, 9.99, 9.99, 'EUR', 'accepted', 60000 + g from generate_series(1, 50) g;
"""


def install():
    want = open(os.path.join(HERE, "requirements.txt")).read()
    stamp, python = os.path.join(VENV, "stamp"), os.path.join(VENV, "bin", "python")
    if not os.path.exists(stamp) or open(stamp).read() != want:
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", os.path.join(HERE, "requirements.txt")], check=True)
        open(stamp, "w").write(want)
    if os.path.realpath(sys.prefix) != os.path.realpath(VENV):
        os.execv(python, [python, *sys.argv])


def dbt(server, tmp, *args):
    target = os.path.join(tmp, "dbt-" + server.name)
    env = server.env(DBT_HOST=server.host, DBT_PORT=str(server.port), DBT_USER=server.user, DBT_PROFILES_DIR=PROJECT, DBT_TARGET_PATH=target,
                     DBT_LOG_PATH=os.path.join(target, "logs"))
    p = subprocess.run([os.path.join(VENV, "bin", "dbt"), "--no-use-colors", *args], cwd=PROJECT, env=env, capture_output=True, text=True)
    print("%-4s %-10s dbt %s" % ("ok" if p.returncode == 0 else "FAIL", server.name, " ".join(args)), flush=True)
    if p.returncode:
        print(p.stdout[-6000:])
    return p.returncode == 0


def rows(server, sql):
    import psycopg2
    c = psycopg2.connect(server.dsn())
    c.autocommit = True
    with c.cursor() as x:
        x.execute("set timezone = 'UTC'")
        x.execute(sql)
        out = x.fetchall() if x.description else []
    c.close()
    return out


def relations(server):
    return [r for r in rows(server, "select table_schema || '.' || table_name, table_type from information_schema.tables where table_schema like 'analytics%' order by 1")]


def columns(server, rel):
    schema, name = rel.split(".")
    return rows(server, "select column_name, data_type from information_schema.columns where table_schema = '%s' and table_name = '%s' order by ordinal_position" % (schema, name))


def compare(a, b, what):
    """Whether both servers have the same relations, columns and rows; snapshots' clocks aside."""
    good, left, right = True, relations(a), relations(b)
    if left != right:
        print("FAIL %s: relations %r, %r" % (what, left, right))
        good = False
    for rel, _ in right:
        cols = columns(b, rel)
        if columns(a, rel) != cols:
            print("FAIL %s: columns of %s: %r, %r" % (what, rel, columns(a, rel), cols))
            good = False
            continue
        # dbt's own columns carry the time of the run.
        shown = ", ".join('"%s"::text' % c for c, _ in cols if c not in ("dbt_scd_id", "dbt_updated_at", "dbt_valid_from", "dbt_valid_to"))
        ended = ", dbt_valid_to is null" if ("dbt_valid_to",) in [(c,) for c, _ in cols] else ""
        sql = "select %s%s from %s" % (shown, ended, rel)
        x, y = sorted(map(repr, rows(a, sql))), sorted(map(repr, rows(b, sql)))
        if x != y:
            print("FAIL %s: %s differs: %d and %d rows; only here %r; only there %r" % (what, rel, len(x), len(y), list(set(x) - set(y))[:3], list(set(y) - set(x))[:3]))
            good = False
    print("%-4s %s: %d relations are the same" % ("ok" if good else "FAIL", what, len(right)), flush=True)
    return good


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--binary")
    a = a.parse_args()
    install()
    import harness
    tmp = tempfile.mkdtemp(prefix="lhsql-dbt-")
    os.chmod(tmp, 0o777)
    binary = a.binary or os.path.join(tmp, "lhsql")
    if not a.binary:
        subprocess.run(["go", "build", "-o", binary, "./cmd/lhsql"], cwd=ROOT, check=True)
    warehouse = os.path.join(tmp, "lakehouse")
    demo = subprocess.Popen([binary, "demo", "--warehouse", warehouse, "--pg", "127.0.0.1:0", "--mysql", "off"], stdout=subprocess.PIPE, text=True)
    for line in demo.stdout:
        if " serves " in line:
            break
    demo.terminate()
    demo.wait()
    good, started = True, []
    try:
        started.append(harness.Lhsql(os.path.abspath(binary), warehouse, os.path.join(tmp, "lhsql.log"), "--mysql", "off"))
        script = "create role reporter; create schema silver; create schema gold;" + "".join("create table %s (%s);" % t for t in SOURCES.items())
        pgdir = os.path.join(tmp, "pg")
        os.mkdir(pgdir)
        started.append(harness.Postgres(pgdir, script))
        ours, theirs = started[0].server, started[1].server
        for t in SOURCES:
            cols = ", ".join(c.split()[0] for c in SOURCES[t].split(", "))
            rc, data, err = ours.psql("-c", "copy (select %s from %s) to stdout" % (cols, t))
            assert rc == 0, err
            rc, _, err = theirs.psql("-c", "copy %s from stdin" % t, stdin=data)
            assert rc == 0, err
        steps = [("debug",), ("seed",), ("run",), ("snapshot",), ("test",), None, ("seed",), ("run",), ("snapshot",), ("test",),
                 ("run", "--full-refresh"), ("docs", "generate"), ("source", "freshness"), ("show", "--inline", "select 1 as one"),
                 ("run-operation", "count_rows", "--args", "{relation: analytics.order_latest}")]
        for step in steps:
            for s in (ours, theirs):
                if step is None:
                    for q in CHANGES.split(";\n"):
                        if q.strip():
                            rows(s, q)
                else:
                    good = dbt(s, tmp, *step) and good
            if step and step[0] in ("run", "snapshot"):
                good = compare(ours, theirs, "after " + " ".join(step)) and good
        doc = [json.load(open(os.path.join(tmp, "dbt-" + s.name, "catalog.json"))) for s in (ours, theirs)]
        shape = [{k: ([(c["name"], c["type"], c["comment"]) for c in v["columns"].values()], v["metadata"]["type"], v["metadata"]["comment"])
                  for k, v in {**d["nodes"]}.items()} for d in doc]
        # A decimal of Iceberg has a precision and a scale always, so a table made of sum(numeric)
        # shows numeric(p,s) where PostgreSQL's has neither.
        for k, (cols, _, _) in shape[1].items():
            mine = shape[0].get(k, ([], None, None))[0]
            for i, (name, typ, comment) in enumerate(cols):
                if typ == "numeric" and i < len(mine) and mine[i][1].startswith("numeric("):
                    cols[i] = (name, mine[i][1], comment)
        if shape[0] != shape[1]:
            good = False
            for k in shape[1]:
                if shape[0].get(k) != shape[1][k]:
                    print("FAIL docs: %s: %r, %r" % (k, shape[0].get(k), shape[1][k]))
        else:
            print("ok   docs: %d relations with types and comments are the same" % len(shape[1]))
    finally:
        for s in started:
            s.stop()
        shutil.rmtree(tmp, ignore_errors=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
