#!/usr/bin/env python3
"""Runs statements in DuckDB for run.py, as spark.py does in Spark: lines of JSON on standard input,
an answer each on standard output.

usage: duckdb_engine.py CATALOG_URL THREADS MEMORY

DuckDB's iceberg extension writes through REST catalogs only, so tables live in the one at CATALOG_URL,
as catalog "lake". {"sql": …} answers wall and CPU seconds of this process and its peak resident
memory in MB since the statement began, {"view": name, "path": metadata} makes another table
readable, {"rows": sql} answers rows as text.
"""
import glob
import importlib
import json
import os
import resource
import sys
import time

import duckdb

url, threads, memory = sys.argv[1:]
con = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": int(threads), "memory_limit": memory})
for name in ("httpfs", "avro", "iceberg"):
    folder = list(importlib.import_module("duckdb_extension_" + name).__path__)[0]
    con.load_extension(glob.glob(os.path.join(folder, "extensions", "*", name + ".duckdb_extension"))[0])
con.execute(f"ATTACH '' AS lake (TYPE ICEBERG, ENDPOINT '{url}', AUTHORIZATION_TYPE 'none')")
con.execute("CREATE SCHEMA IF NOT EXISTS lake.w")


def cpu():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime


def answer(d):
    print(json.dumps(d), flush=True)


answer({"ready": duckdb.__version__})
for line in sys.stdin:
    q = json.loads(line)
    try:
        if "view" in q:
            con.execute(f"CREATE OR REPLACE VIEW {q['view']} AS SELECT * FROM iceberg_scan('{q['path']}')")
            answer({})
        elif "rows" in q:
            answer({"rows": [[str(x) for x in r] for r in con.execute(q["rows"]).fetchall()]})
        else:
            with open("/proc/self/clear_refs", "w") as f:
                f.write("5")
            w, c = time.time(), cpu()
            con.execute(q["sql"]).fetchall()
            status = open("/proc/self/status").read()
            answer({"wall": time.time() - w, "cpu": cpu() - c, "peak": int(status.split("VmHWM:")[1].split()[0]) // 1024})
    except Exception as e:
        answer({"error": str(e).splitlines()[0][:500]})
