#!/usr/bin/env python3
"""Writes 10 million rows, merges, deletes and updates them, in lhsql and in Spark, and compares
time, memory, bytes and, after each statement, the answers.

usage: run.py LHSQL SOURCE DIR [--tables pc,pm,pv,uc,um,uv] [--runs N] [--threads 2]
              [--memory_limit 1GB] [--spark-memory 4g] [--no-spark] [--duckdb] [--json FILE]

SOURCE is the lakehouse that load.py made, DIR a folder for what is written. A table is named by
two letters: p partitioned by month and sorted, u neither; c copy-on-write, m merge-on-read with
position deletes (format 2), v merge-on-read with deletion vectors (format 3).

Each run makes the tables anew and gives the engines turns, statement after statement. lhsql runs
each statement in a process of its own, start included; Spark in one JVM, start and a round over
small tables that warms it up not included. CPU is user and system time of the process. With
--duckdb, DuckDB takes turns too, in one process, through the Iceberg project's REST catalog (run.sh
makes its Java classes; DUCKDB_CATALOG is their class path), whose own time is not counted. What
DuckDB refuses is printed and left out.
"""
import argparse
import csv
import json
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
COLUMNS = """l_orderkey bigint, l_partkey bigint, l_suppkey bigint, l_linenumber int, l_quantity decimal(15,2), l_extendedprice decimal(15,2),
l_discount decimal(15,2), l_tax decimal(15,2), l_returnflag string, l_linestatus string, l_shipdate date, l_commitdate date, l_receiptdate date,
l_shipinstruct string, l_shipmode string, l_comment string"""
NAMES = [c.split()[0] for c in COLUMNS.split(",\n")[0].split(", ")] + [c.split()[0] for part in COLUMNS.split(",\n")[1:] for c in part.split(", ")]
MODES = {"c": (2, "copy-on-write"), "m": (2, "merge-on-read"), "v": (3, "merge-on-read")}
STATEMENTS = {
    "insert 10M": "INSERT INTO {t} SELECT * FROM {s}lineitem",
    "merge 1 %": "MERGE INTO {t} t USING {s}up1 s ON t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber "
                 "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "merge 10 %": "MERGE INTO {t} t USING {s}up10 s ON t.l_orderkey = s.l_orderkey AND t.l_linenumber = s.l_linenumber "
                  "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    "delete 1 %": "DELETE FROM {t} WHERE l_orderkey IN (SELECT k FROM {s}dead)",
    "update 2 %": "UPDATE {t} SET l_discount = l_discount + 0.01, l_comment = 'reduced' WHERE l_quantity = 7",
}
# Sums of products tell when values have wandered to other rows.
CHECK = """SELECT count(*), sum(l_orderkey), sum(l_orderkey % 1000003 * l_partkey % 1000003), sum(l_suppkey % 10007 * l_linenumber),
sum(l_quantity), sum(l_extendedprice), sum(l_discount * l_tax), min(l_shipdate), max(l_receiptdate), min(l_commitdate), max(l_comment), min(l_comment),
sum(length(l_comment) * l_linenumber), sum(length(l_shipinstruct) * (l_orderkey % 10007)), sum(case when l_returnflag = 'C' then l_orderkey % 10007 else 0 end),
count(distinct l_shipmode), count(distinct l_linestatus), count(distinct l_shipdate) FROM {t}"""


def table_size(path):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(path) for f in files if not f.endswith(".crc"))


class Lhsql:
    def __init__(self, binary, source, folder, threads, limit):
        self.dir = os.path.join(folder, "lhsql")
        # The source's tables stay where they are; a copy of their catalog names them.
        os.makedirs(self.dir)
        shutil.copy(os.path.join(source, "catalog.db"), self.dir)
        self.args = [binary, "sql", "--warehouse", self.dir, "--workers", str(threads), "--memory_limit", limit]
        self.run("CREATE SCHEMA IF NOT EXISTS w")

    def run(self, sql):
        w = time.time()
        with open(os.devnull, "w") as null:
            pid = os.posix_spawn(self.args[0], self.args + ["-c", sql], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, null.fileno(), 1)])
            _, status, use = os.wait4(pid, 0)
        if status:
            raise RuntimeError("lhsql failed: " + sql)
        return {"wall": time.time() - w, "cpu": use.ru_utime + use.ru_stime, "peak": use.ru_maxrss // 1024}

    def rows(self, sql):
        out = subprocess.run(self.args + ["--format", "csv", "-c", sql], capture_output=True, text=True, check=True).stdout
        return list(csv.reader(out.splitlines()[1:]))

    def create(self, t):
        version, mode = MODES[t[1]]
        self.run(f"DROP TABLE IF EXISTS w.{t}")
        shutil.rmtree(f"{self.dir}/w/{t}", ignore_errors=True)
        part = "PARTITIONED BY (month(l_shipdate))" if t[0] == "p" else ""
        self.run(f"CREATE TABLE w.{t} ({COLUMNS.replace('string', 'text')}) USING iceberg {part} TBLPROPERTIES ('format-version' = '{version}', "
                 f"'write.delete.mode' = '{mode}', 'write.update.mode' = '{mode}', 'write.merge.mode' = '{mode}')")
        if t[0] == "p":
            self.run(f"ALTER TABLE w.{t} WRITE ORDERED BY l_orderkey, l_linenumber")

    def statement(self, t, sql):
        before = table_size(f"{self.dir}/w/{t}")
        r = self.run(sql.format(t="w." + t, s="src."))
        r["bytes"] = table_size(f"{self.dir}/w/{t}") - before
        return r

    def check(self, t):
        return self.rows(CHECK.format(t="w." + t))[0]

    def metadata(self, namespace, t):
        db = sqlite3.connect(os.path.join(self.dir, "catalog.db"))
        return db.execute("SELECT metadata_location FROM iceberg_tables WHERE table_namespace = ? AND table_name = ?", (namespace, t)).fetchone()[0]


class Other:
    """Another engine: a program that answers JSON lines and keeps its tables in a folder, w."""

    failure = RuntimeError

    def start(self, ours, script, arguments, log):
        self.p = subprocess.Popen([sys.executable, os.path.join(HERE, script), *arguments],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
        self.version = json.loads(self.p.stdout.readline())["ready"]
        for t in ("lineitem", "up1", "up10", "dead"):
            self.ask(view=t, path=ours.metadata("src", t))

    def ask(self, **q):
        self.p.stdin.write(json.dumps(q) + "\n")
        self.p.stdin.flush()
        a = json.loads(self.p.stdout.readline())
        if "error" in a:
            raise self.failure(f"{type(self).__name__}: {a['error']}")
        return a

    def statement(self, t, sql):
        before = table_size(f"{self.dir}/w/{t}")
        r = self.ask(sql=sql.format(t="lake.w." + t, s=""))
        r["bytes"] = table_size(f"{self.dir}/w/{t}") - before
        return r

    def check(self, t):
        return self.ask(rows=CHECK.format(t="lake.w." + t))["rows"][0]

    def check_file(self, path):
        self.ask(view="theirs", path=path)
        return self.ask(rows=CHECK.format(t="theirs"))["rows"][0]

    def close(self):
        self.p.stdin.close()
        self.p.wait()


class Spark(Other):
    def __init__(self, ours, folder, threads, memory):
        self.dir = os.path.join(folder, "spark")
        os.makedirs(self.dir + "/tmp", exist_ok=True)
        self.start(ours, "spark.py", [self.dir, str(threads), memory], open(os.path.join(folder, "spark.log"), "w"))

    def create(self, t):
        version, mode = MODES[t[1]]
        self.ask(sql=f"DROP TABLE IF EXISTS lake.w.{t} PURGE")
        part = "PARTITIONED BY (month(l_shipdate))" if t[0] == "p" else ""
        self.ask(sql=f"CREATE TABLE lake.w.{t} ({COLUMNS}) USING iceberg {part} TBLPROPERTIES ('format-version' = '{version}', "
                     f"'write.delete.mode' = '{mode}', 'write.update.mode' = '{mode}', 'write.merge.mode' = '{mode}')")
        if t[0] == "p":
            self.ask(sql=f"ALTER TABLE lake.w.{t} WRITE ORDERED BY l_orderkey, l_linenumber")

    def warm_up(self, tables):
        """Every statement over 200,000 rows, so that the JVM has loaded and compiled what it needs."""
        for t in tables:
            self.create(t)
            for name, sql in STATEMENTS.items():
                sql = sql.replace("{s}up10", "{s}up1").format(t="lake.w." + t, s="")
                self.ask(sql=sql + " WHERE l_orderkey < 200000" if name.startswith("insert") else sql)


class Refused(Exception):
    pass


class DuckDB(Other):
    """DuckDB writes by merge-on-read alone and has no sort order: tables here have neither property."""

    failure = Refused

    def __init__(self, ours, folder, threads, memory, classpath):
        self.dir = os.path.join(folder, "duckdb")
        os.makedirs(self.dir)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        log = open(os.path.join(folder, "duckdb.log"), "w")
        self.catalog = subprocess.Popen(["java", "-Xmx512m", "-cp", classpath, "CatalogServer", str(port), "catalog-impl=org.apache.iceberg.jdbc.JdbcCatalog",
                                         f"uri=jdbc:sqlite:{folder}/rest.db", "jdbc.schema-version=V1", f"warehouse={self.dir}"], stdout=log, stderr=log)
        url = f"http://127.0.0.1:{port}"
        for _ in range(300):
            try:
                urllib.request.urlopen(url + "/v1/config").read()
                break
            except OSError:
                time.sleep(0.2)
        self.start(ours, "duckdb_engine.py", [url, str(threads), memory], log)

    def create(self, t):
        version, mode = MODES[t[1]]
        part = "PARTITIONED BY (month(l_shipdate))" if t[0] == "p" else ""
        self.ask(sql=f"DROP TABLE IF EXISTS lake.w.{t}")
        shutil.rmtree(f"{self.dir}/w/{t}", ignore_errors=True)
        self.ask(sql=f"CREATE TABLE lake.w.{t} ({COLUMNS.replace('string', 'varchar')}) {part} WITH ('format-version' = '{version}', "
                     f"'write.delete.mode' = '{mode}', 'write.update.mode' = '{mode}', 'write.merge.mode' = '{mode}')")

    def close(self):
        super().close()
        self.catalog.terminate()
        self.catalog.wait()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("lhsql")
    p.add_argument("source")
    p.add_argument("dir")
    p.add_argument("--tables", default="pc,pm,pv,uc,um,uv")
    p.add_argument("--runs", type=int, default=3)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--memory_limit", default="2GB")
    p.add_argument("--spark-memory", default="4g")
    p.add_argument("--no-spark", action="store_true")
    p.add_argument("--duckdb", action="store_true", help="measure DuckDB too, through a REST catalog whose Java classes DUCKDB_CATALOG names")
    p.add_argument("--duckdb-memory", default="4GB")
    p.add_argument("--check", choices=["each", "last"], default="each", help="compare answers after each statement, or after a table's last")
    p.add_argument("--json")
    a = p.parse_args()
    shutil.rmtree(a.dir, ignore_errors=True)
    os.makedirs(a.dir)
    ours = Lhsql(os.path.abspath(a.lhsql), os.path.abspath(a.source), os.path.abspath(a.dir), a.threads, a.memory_limit)
    engines = {"lhsql": ours}
    if not a.no_spark:
        engines["Spark"] = Spark(ours, os.path.abspath(a.dir), a.threads, a.spark_memory)
        engines["Spark"].warm_up(a.tables.split(","))
    if a.duckdb:
        engines["DuckDB"] = DuckDB(ours, os.path.abspath(a.dir), a.threads, a.duckdb_memory, os.environ["DUCKDB_CATALOG"])
    refused = set()
    results, bad, compared = {}, 0, 0
    for run in range(a.runs):
        for t in a.tables.split(","):
            out = set()
            for e in engines.values():
                e.create(t)
            for name, sql in STATEMENTS.items():
                checks = {}
                turns = [(n, e) for n, e in engines.items() if n not in out]
                for engine, e in turns if run % 2 == 0 else turns[::-1]:
                    try:
                        r = e.statement(t, sql)
                    except Refused as x:
                        refused.add(f"{t} {name}: {x}")
                        out.add(engine)  # its table is another from here on
                        continue
                    results.setdefault((t, name), {}).setdefault(engine, []).append(r)
                    print(f"run {run} {t} {name:11} {engine:6} wall {r['wall']:7.2f}  CPU {r['cpu']:7.2f}  peak {r['peak']:6} MB  written {r['bytes'] / 1e6:7.1f} MB", flush=True)
                if a.check == "last" and name != list(STATEMENTS)[-1]:
                    continue
                compared += 1
                for engine, e in turns:
                    if engine not in out:
                        checks[engine] = e.check(t)
                for engine in engines:
                    if engine != "lhsql":
                        checks[engine + " over lhsql's files"] = engines[engine].check_file(ours.metadata("w", t))
                if len({tuple(c) for c in checks.values()}) > 1:
                    bad += 1
                    print(f"DIFFERENT after {t} {name}:")
                    for engine, c in checks.items():
                        print(f"   {engine:25} {c}")
    table(results, engines)
    if a.json:
        with open(a.json, "w") as f:
            json.dump([{"table": t, "statement": s, **r} for (t, s), r in results.items()], f)
    print(f"{bad} answers differ; {compared} compared" if len(engines) > 1 else "answers not compared")
    for r in sorted(refused):
        print("refused:", r)
    for e in engines.values():
        if e is not ours:
            e.close()
    sys.exit(bad > 0)


def table(results, engines):
    """Medians of the runs, and the others' multiples of lhsql's."""
    print("\nEngines: " + " / ".join(engines) + "\n\n| table | statement | CPU s | wall s | peak MB | written MB |\n|---|---|---|---|---|---|")
    for (t, name), by in results.items():
        cells = []
        for key, fmt in (("cpu", "{:.1f}"), ("wall", "{:.1f}"), ("peak", "{:.0f}"), ("bytes", "{:.0f}")):
            m = {e: statistics.median(r[key] for r in by[e]) / (1e6 if key == "bytes" else 1) for e in engines if e in by}
            cell = " / ".join(fmt.format(m[e]) if e in m else "—" for e in engines)
            if len(m) > 1:
                cell += " (" + ", ".join(f"{v / max(m['lhsql'], 1e-9):.1f}×" for e, v in m.items() if e != "lhsql") + ")"
            cells.append(cell)
        print(f"| {t} | {name} | " + " | ".join(cells) + " |")


main()
