#!/usr/bin/env python3
"""Compacts 10 million rows in 2,000 small files with 2 % deleted by position, in lhsql and in Spark,
and compares time, memory and the rows that are there afterwards.

usage: run.py LHSQL LINEITEM DIR [--memory_limit 512MB] [--threads 2] [--spark-memory 4g] [--no-spark]
              [--strategies binpack,sort,zorder]

LINEITEM is a Parquet file of TPC-H's table, DIR a folder for the tables. Each engine gets a table of
its own for each strategy, made by the same statements. lhsql runs each call in a process of its own,
start included; Spark in one JVM, start and the compaction of a small table that warms it up not
included. CPU is user and system time of the process, memory its peak resident set.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import time

CALLS = {
    "binpack": "CALL {c}system.rewrite_data_files(table => 'b.{t}', options => map('rewrite-all', 'true'))",
    "sort": "CALL {c}system.rewrite_data_files(table => 'b.{t}', strategy => 'sort', sort_order => 'l_shipdate ASC NULLS FIRST, l_orderkey ASC NULLS FIRST', options => map('rewrite-all', 'true'))",
    "zorder": "CALL {c}system.rewrite_data_files(table => 'b.{t}', strategy => 'sort', sort_order => 'zorder(l_shipdate, l_partkey)', options => map('rewrite-all', 'true'))",
}
# Sums of products tell when values have wandered to other rows.
CHECK = """SELECT count(*), sum(l_orderkey), sum(l_orderkey % 1000003 * l_partkey % 1000003), sum(l_suppkey % 10007 * l_linenumber), sum(l_quantity),
sum(l_extendedprice), sum(l_discount * l_tax), min(l_shipdate), max(l_receiptdate), max(l_comment), sum(length(l_comment) * l_linenumber) FROM b.{t}"""


def run(lhsql, warehouse, limit, threads, sql):
    """Runs a statement in a process of its own: rows, wall and CPU seconds, peak MB."""
    start = time.time()
    p = subprocess.Popen([lhsql, "sql", "--warehouse", warehouse, "--memory_limit", limit, "--workers", str(threads), "--format", "csv", "-c", sql],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "LHSQL_CONFIG": "", "GOMAXPROCS": str(threads)})
    out, err = p.stdout.read(), p.stderr.read()
    _, status, usage = os.wait4(p.pid, 0)
    if status:
        raise SystemExit(f"{sql}: {err}")
    return out.splitlines()[-1] if out.strip() else "", time.time() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def spark_main(warehouse, threads, memory, calls):
    """Runs in a process of its own: Spark's catalog keeps SQLite's lock for as long as it lives."""
    import glob

    from pyspark.sql import SparkSession

    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    jars = [glob.glob(os.path.expanduser(f"~/.m2/repository/{p}"))[0] for p in
            ("org/apache/iceberg/iceberg-spark-runtime-3.5_2.12/1.10.0/*.jar", "org/xerial/sqlite-jdbc/*/*.jar")]
    spark = (SparkSession.builder.master(f"local[{threads}]").config("spark.jars", ",".join(jars)).config("spark.ui.enabled", "false")
             .config("spark.driver.memory", memory).config("spark.sql.session.timeZone", "UTC").config("spark.local.dir", warehouse + "/tmp")
             .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
             .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.lake.type", "jdbc")
             .config("spark.sql.catalog.lake.uri", f"jdbc:sqlite:{warehouse}/catalog.db").config("spark.sql.catalog.lake.warehouse", f"file://{warehouse}")
             .config("spark.sql.catalog.lake.jdbc.schema-version", "V1").config("spark.sql.catalog.lake.cache-enabled", "false").getOrCreate())
    spark.sparkContext.setLogLevel("ERROR")
    jvm = spark.sparkContext._gateway.jvm.java.lang.ProcessHandle.current().pid()

    def cpu():
        f = open(f"/proc/{jvm}/stat").read().rsplit(")", 1)[1].split()
        return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")

    spark.sql(CALLS["binpack"].format(c="lake.", t="warm")).collect()
    for name, sql in calls:
        with open(f"/proc/{jvm}/clear_refs", "w") as f:
            f.write("5")
        wall, before = time.time(), cpu()
        row = spark.sql(sql).collect()[0]
        peak = int(open(f"/proc/{jvm}/status").read().split("VmHWM:")[1].split()[0]) // 1024
        print("RESULT " + json.dumps([name, ",".join(str(v) for v in row), time.time() - wall, cpu() - before, peak]), flush=True)


def load(lineitem, warehouse):
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyiceberg.catalog.sql import SqlCatalog

    shutil.rmtree(warehouse, ignore_errors=True)
    os.makedirs(warehouse)
    catalog = SqlCatalog("lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace("b")
    source = pq.ParquetFile(lineitem)
    plain = pa.schema([pa.field(f.name, pa.string() if "string" in str(f.type) else f.type) for f in source.schema_arrow])
    table = catalog.create_table("b.source", schema=plain)
    table.append(source.read().cast(plain))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("lhsql")
    p.add_argument("lineitem")
    p.add_argument("dir")
    p.add_argument("--memory_limit", default="512MB")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--spark-memory", default="4g")
    p.add_argument("--no-spark", action="store_true")
    p.add_argument("--strategies", default="binpack,sort,zorder")
    p.add_argument("--spark-run", help=argparse.SUPPRESS)
    p.add_argument("--load", action="store_true", help=argparse.SUPPRESS)
    a = p.parse_args()
    warehouse = os.path.abspath(a.dir)
    if a.spark_run:
        spark_main(warehouse, a.threads, a.spark_memory, json.loads(a.spark_run))
        return
    if a.load:
        load(a.lineitem, warehouse)
        return
    # In a process of its own: a child's peak memory begins with that of the process which it came from.
    subprocess.check_call([sys.executable, __file__, a.lhsql, a.lineitem, a.dir, "--load"])
    strategies = a.strategies.split(",")
    engines = ["lhsql"] + ([] if a.no_spark else ["spark"])
    rows = None
    for t in [f"{e}_{s}" for s in strategies for e in engines] + ["warm"]:
        props = "'format-version' = '2', 'write.delete.mode' = 'merge-on-read', 'write.target-file-size-bytes' = '170000'"
        limit = " WHERE l_orderkey < 60000" if t == "warm" else ""
        for sql in (f"CREATE TABLE b.{t} TBLPROPERTIES ({props}) AS SELECT * FROM b.source{limit}", f"DELETE FROM b.{t} WHERE l_orderkey % 50 = 3",
                    f"ALTER TABLE b.{t} UNSET TBLPROPERTIES ('write.target-file-size-bytes')"):
            run(a.lhsql, warehouse, "2GB", a.threads, sql)
        files = run(a.lhsql, warehouse, "2GB", 1, f"SELECT count(*), sum(record_count), sum(file_size_in_bytes) FROM b.{t}.files WHERE content = 0")[0]
        print(f"{t}: files, rows, bytes {files}", flush=True)
    rows = run(a.lhsql, warehouse, "2GB", a.threads, CHECK.format(t=f"lhsql_{strategies[0]}"))[0]
    results = []
    for s in strategies:
        out, wall, cpu, peak = run(a.lhsql, warehouse, a.memory_limit, a.threads, CALLS[s].format(c="", t=f"lhsql_{s}"))
        results.append(("lhsql " + s, out, wall, cpu, peak))
        print(results[-1], flush=True)
    if not a.no_spark:
        calls = [(f"spark {s}", CALLS[s].format(c="lake.", t=f"spark_{s}")) for s in strategies]
        q = subprocess.run([sys.executable, __file__, a.lhsql, a.lineitem, a.dir, "--threads", str(a.threads), "--spark-memory", a.spark_memory, "--spark-run", json.dumps(calls)],
                           capture_output=True, text=True)
        results += [tuple(json.loads(l[7:])) for l in q.stdout.splitlines() if l.startswith("RESULT ")]
        if q.returncode:
            print(q.stderr[-2000:])
    print(f"\n{'':16}{'wall s':>8}{'CPU s':>8}{'peak MB':>9}  rewritten, added, bytes, failed, removed deletes")
    for name, out, wall, cpu, peak in results:
        print(f"{name:16}{wall:8.1f}{cpu:8.1f}{peak:9}  {out}")
    for t in [f"{e}_{s}" for s in strategies for e in engines]:
        got = run(a.lhsql, warehouse, "2GB", a.threads, CHECK.format(t=t))[0]
        print(f"{t}: {'the same rows' if got == rows else 'OTHER ROWS ' + got + ' not ' + rows}")
        after = run(a.lhsql, warehouse, "2GB", 1, f"SELECT count(*), sum(file_size_in_bytes) FROM b.{t}.files")[0]
        print(f"{t}: {after} files, bytes")


main()
