#!/usr/bin/env python3
"""Runs the 22 TPC-H queries in lhsql and in DuckDB on the same Iceberg data files, alternating,
compares the answers and prints median times.

usage: compare.py WAREHOUSE DSN [--runs N] [--queries 1,6] [--threads N] [--pid PID] [--answers]

WAREHOUSE is what load.py made, DSN a running `lhsql serve --warehouse WAREHOUSE`. DuckDB reads
the tables' Parquet files as PyIceberg lists them, with the same number of threads. With --pid, the
server's process on this machine, CPU times are compared too: on a shared machine they say more than
wall times. --answers runs each query once and times nothing.
"""
import argparse
import os
import statistics
import sys
import time

import duckdb
import psycopg
from pyiceberg.catalog.sql import SqlCatalog

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from answers import same

TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]


def duck(warehouse, threads):
    con = duckdb.connect()
    con.execute(f"SET threads = {threads}")
    catalog = SqlCatalog("lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    for t in TABLES:
        files = [f.file.file_path.removeprefix("file://") for f in catalog.load_table(f"tpch.{t}").scan().plan_files()]
        con.execute(f"CREATE VIEW {t} AS SELECT * FROM read_parquet({files!r}, hive_partitioning = false)")
    return con


def clean(v):
    return v.strip() if isinstance(v, str) else v


def cpu_of(pid):
    """User and system seconds that a process has used."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("warehouse")
    p.add_argument("dsn")
    p.add_argument("--runs", type=int, default=5)
    p.add_argument("--queries", default="")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--pid", type=int)
    p.add_argument("--answers", action="store_true")
    a = p.parse_args()
    if a.answers:
        a.runs = 1
    warehouse = os.path.abspath(a.warehouse)
    con = duck(warehouse, a.threads)
    pg = psycopg.connect(a.dsn, autocommit=True)
    pg.execute("SET search_path = tpch")
    pg.execute(f"SET lhsql.workers = {a.threads}")
    version = pg.execute("SELECT version()").fetchone()[0]
    print(f"DuckDB {duckdb.__version__}, {version}; {a.threads} threads, medians of {a.runs} alternating runs")
    wanted = [int(q) for q in a.queries.split(",") if q] or range(1, 23)
    bad, ratios, cpu_ratios = 0, [], []
    for q in wanted:
        sql = open(f"{HERE}/queries/q{q:02d}.sql").read()
        ours, theirs, rows, want = [], [], None, None
        our_cpu = their_cpu = 0.0
        try:
            for _ in range(a.runs):
                t, c = time.perf_counter(), time.process_time()
                want = con.execute(sql).fetchall()
                theirs.append(time.perf_counter() - t)
                their_cpu += time.process_time() - c
                t, c = time.perf_counter(), cpu_of(a.pid) if a.pid else 0
                rows = pg.execute(sql).fetchall()
                ours.append(time.perf_counter() - t)
                our_cpu += cpu_of(a.pid) - c if a.pid else 0
        except psycopg.Error as e:
            print(f"q{q:02d}  FAILED  {e}")
            bad += 1
            continue
        ok = len(rows) == len(want) and all(same(clean(x), clean(y)) for r, w in zip(rows, want) for x, y in zip(r, w))
        bad += not ok
        m, d = statistics.median(ours), statistics.median(theirs)
        ratios.append(d / m)
        line = f"q{q:02d}  {'equal' if ok else 'DIFFERENT'}"
        if not a.answers:
            line += f"  lhsql {m * 1000:8.1f} ms  DuckDB {d * 1000:8.1f} ms  ratio {d / m:5.2f}"
        if a.pid and not a.answers and our_cpu > 0:
            cpu_ratios.append(their_cpu / our_cpu)
            line += f"   CPU {our_cpu / a.runs * 1000:7.1f} ms  {their_cpu / a.runs * 1000:7.1f} ms  ratio {cpu_ratios[-1]:5.2f}"
        print(line, flush=True)
        if not ok:
            for r, w in list(zip(rows, want))[:3]:
                print("   ours ", r, "\n   duck ", w)
    if ratios and not a.answers:
        print(f"geometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")
    if cpu_ratios:
        print(f"geometric mean of the CPU ratios: {statistics.geometric_mean(cpu_ratios):.2f}")
    sys.exit(bad > 0)


main()
