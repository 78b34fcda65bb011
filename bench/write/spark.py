#!/usr/bin/env python3
"""Runs statements in Spark for run.py: reads lines of JSON on standard input, answers each with a
line on standard output.

usage: spark.py WAREHOUSE THREADS MEMORY

{"sql": …} runs a statement and answers wall and CPU seconds of the driver's JVM, in which everything
runs (local mode), and its peak resident memory in MB since the statement began. {"view": name,
"path": metadata} makes a table of another catalog readable. {"rows": sql} answers the rows as text.
"""
import glob
import json
import os
import sys
import time

from pyspark.sql import SparkSession

warehouse, threads, memory = sys.argv[1:]
answers = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # Spark prints on standard output
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
jars = glob.glob(os.path.expanduser("~/.m2/repository/org/apache/iceberg/iceberg-spark-runtime-3.5_2.12/1.10.0/*.jar"))
spark = (SparkSession.builder.master(f"local[{threads}]").config("spark.jars", ",".join(jars)).config("spark.ui.enabled", "false")
         .config("spark.driver.memory", memory).config("spark.sql.session.timeZone", "UTC")
         .config("spark.local.dir", warehouse + "/tmp")
         .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
         .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.lake.type", "hadoop")
         .config("spark.sql.catalog.lake.warehouse", f"file://{warehouse}").config("spark.sql.catalog.lake.cache-enabled", "false").getOrCreate())
spark.sparkContext.setLogLevel("ERROR")
JVM = spark.sparkContext._gateway.jvm.java.lang.ProcessHandle.current().pid()


def cpu():
    f = open(f"/proc/{JVM}/stat").read().rsplit(")", 1)[1].split()
    return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")


def answer(d):
    answers.write(json.dumps(d) + "\n")
    answers.flush()


answer({"ready": spark.version})
for line in sys.stdin:
    q = json.loads(line)
    try:
        if "view" in q:
            spark.read.format("iceberg").load(q["path"]).createOrReplaceTempView(q["view"])
            answer({})
        elif "rows" in q:
            answer({"rows": [[str(x) for x in r] for r in spark.sql(q["rows"]).collect()]})
        else:
            with open(f"/proc/{JVM}/clear_refs", "w") as f:
                f.write("5")
            w, c = time.time(), cpu()
            spark.sql(q["sql"]).collect()
            status = open(f"/proc/{JVM}/status").read()
            answer({"wall": time.time() - w, "cpu": cpu() - c, "peak": int(status.split("VmHWM:")[1].split()[0]) // 1024})
    except Exception as e:
        answer({"error": str(e).splitlines()[0][:300]})
