#!/usr/bin/env python3
"""Asks ClickBench's questions of lhsql and of DuckDB over the same Iceberg table, alternating, compares
the answers and prints CPU and wall times, the first and the later ones apart, and peaks of memory.

usage: compare.py WAREHOUSE --binary [NAME=]PATH [--binary NAME=PATH ...] [--runs N] [--queries 0,8]
                  [--threads N] [--memory_limit SIZE]

WAREHOUSE is what load.py made. Each engine is a process of its own, started anew for every query: the
first run's times are a first touch (the files are in the operating system's cache for all of them), the
hot times are the median and the least of the others. Several binaries take turns within one run, which
is how a change is measured on a machine that others use, too. DuckDB reads the table's Parquet files from
a list, and so pays for no catalog; lhsql answers through its Postgres wire.
"""
import argparse
import multiprocessing
import os
import re
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

from answers import same


def cpu_of(pid):
    """User and system seconds of a process, to the nanosecond: by its threads, of which none end here."""
    total = 0
    for t in os.listdir(f"/proc/{pid}/task"):
        try:
            total += int(open(f"/proc/{pid}/task/{t}/schedstat").read().split()[0])
        except (OSError, ValueError):
            pass
    return total / 1e9


def peak_of(pid):
    """The most memory that was resident, in MB."""
    return int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1)) / 1024


def queries():
    lines = open(f"{HERE}/queries.sql").read().splitlines()
    return [q.rstrip(";") for q in lines if q.startswith("select")]


class Lhsql:
    def __init__(self, path, warehouse, threads, limit):
        import psycopg
        command = [path, "serve", "--warehouse", warehouse, "--pg", "127.0.0.1:0"]
        if limit:
            command += ["--memory_limit", limit]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for line in self.process.stdout:
            m = re.search(r"(postgres://[0-9.:]+)/", line)
            if m:
                break
        else:
            raise RuntimeError(f"{path} did not start")
        self.pid = self.process.pid
        self.pg = psycopg.connect(m.group(1) + "/lake?user=lake", autocommit=True)
        self.pg.execute("SET search_path = web")
        self.pg.execute(f"SET lhsql.workers = {threads}")

    def ask(self, sql):
        return self.pg.execute(sql).fetchall()

    def close(self):
        self.pg.close()
        self.process.terminate()
        self.process.wait()


def duck_process(pipe, files, threads, limit):
    import duckdb
    con = duckdb.connect()
    con.execute(f"SET threads = {threads}")
    if limit:
        con.execute(f"SET memory_limit = '{limit}'")
    con.execute(f"CREATE VIEW hits AS SELECT * FROM read_parquet({files!r}, hive_partitioning = false)")
    while (sql := pipe.recv()) is not None:
        try:
            pipe.send(con.execute(sql).fetchall())
        except duckdb.Error as e:
            pipe.send(e)


class Duck:
    def __init__(self, files, threads, limit):
        self.pipe, there = multiprocessing.get_context("spawn").Pipe()
        self.process = multiprocessing.get_context("spawn").Process(target=duck_process, args=(there, files, threads, limit))
        self.process.start()
        self.pid = self.process.pid
        self.ask("select 1")

    def ask(self, sql):
        self.pipe.send(sql)
        r = self.pipe.recv()
        if isinstance(r, Exception):
            raise r
        return r

    def close(self):
        self.pipe.send(None)
        self.process.join()


def equal(rows, want):
    return len(rows) == len(want) and all(len(r) == len(w) and all(map(same, r, w)) for r, w in zip(rows, want))


def files_of(warehouse):
    from pyiceberg.catalog.sql import SqlCatalog
    catalog = SqlCatalog("lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    return [f.file.file_path.removeprefix("file://") for f in catalog.load_table("web.hits").scan().plan_files()]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("warehouse")
    p.add_argument("--binary", action="append", required=True)
    p.add_argument("--runs", type=int, default=4)
    p.add_argument("--queries", default="")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--memory_limit", default="")
    a = p.parse_args()
    warehouse = os.path.abspath(a.warehouse)
    binaries = [b.split("=", 1) if "=" in b else (os.path.basename(b), b) for b in a.binary]
    files = files_of(warehouse)
    import duckdb
    print(f"DuckDB {duckdb.__version__}; {len(files)} files; {a.threads} threads; {a.runs} runs each; load average {os.getloadavg()[0]:.0f}")
    print("ms: first touch CPU (wall) / hot median CPU (wall), least CPU; peak MB; ratios are DuckDB's CPU by lhsql's, first / hot, and lhsql's memory by DuckDB's")
    asked = queries()
    wanted = [int(q) for q in a.queries.split(",") if q] or range(len(asked))
    bad, ratios = 0, {}
    for q in wanted:
        engines = {"DuckDB": Duck(files, a.threads, a.memory_limit)}
        for name, path in binaries:
            engines[name] = Lhsql(path, warehouse, a.threads, a.memory_limit)
        wall, cpu, answers = {n: [] for n in engines}, {n: [] for n in engines}, {}
        failed = None
        for _ in range(a.runs):
            for name, e in engines.items():
                t, c = time.perf_counter(), cpu_of(e.pid)
                try:
                    answers[name] = e.ask(asked[q])
                except Exception as x:  # of either engine's library
                    failed = f"{name}: {x}"
                    break
                wall[name].append((time.perf_counter() - t) * 1000)
                cpu[name].append((cpu_of(e.pid) - c) * 1000)
            if failed:
                break
        peak = {n: peak_of(e.pid) for n, e in engines.items()}
        for e in engines.values():
            e.close()
        if failed:
            print(f"q{q:02d}  FAILED  {failed}", flush=True)
            bad += 1
            continue
        line = f"q{q:02d}"
        for name in engines:
            c, w = cpu[name], wall[name]
            hot, hot_wall = c[1:] or c, w[1:] or w
            line += f"  {name} {c[0]:.0f} ({w[0]:.0f}) / {statistics.median(hot):.0f} ({statistics.median(hot_wall):.0f}), {min(hot):.0f}; {peak[name]:.0f}"
            if name == "DuckDB":
                duck = c[0], min(hot)
                continue
            ok = equal(answers[name], answers["DuckDB"])
            bad += not ok
            first, later = duck[0] / max(c[0], 0.1), duck[1] / max(min(hot), 0.1)
            ratios.setdefault(name, []).append((first, later, peak[name] / peak["DuckDB"]))
            line += f" [{first:.2f} / {later:.2f}, {peak[name] / peak['DuckDB']:.2f}]{'' if ok else ' DIFFERENT'}"
            if not ok:
                for r, w in [x for x in zip(answers[name], answers["DuckDB"]) if not all(map(same, *x))][:3]:
                    line += f"\n   ours  {r}\n   duck  {w}"
        print(line, flush=True)
    for name, r in ratios.items():
        means = [statistics.geometric_mean(x) for x in zip(*r)]
        print(f"{name}: geometric means of the ratios: first touch {means[0]:.2f}, hot {means[1]:.2f}, memory {means[2]:.2f} (least {min(x[0] for x in r):.2f}, {min(x[1] for x in r):.2f}; most memory {max(x[2] for x in r):.2f})")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
