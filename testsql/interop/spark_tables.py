"""Writes the tables of testdata/ whose names begin with spark_: position deletes and deletion
vectors, every partition transform, nested schema changes, as Spark writes them, and what Spark
reads of each snapshot.

    python spark_tables.py JAR      (pyspark 3.5, iceberg-spark-runtime-3.5_2.12 1.10.0, pyiceberg for its schemas)
"""
import datetime as dt
import glob
import json
import os
import shutil
import sys
import tempfile

from pyiceberg.schema import Schema
from pyspark.sql import SparkSession

import canon

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata")


def plain(v):
    if hasattr(v, "asDict"):
        return {k: plain(x) for k, x in v.asDict().items()}
    if isinstance(v, dict):
        return {k: plain(x) for k, x in v.items()}
    if isinstance(v, list):
        return [plain(x) for x in v]
    if isinstance(v, bytearray):
        return bytes(v)
    return v


def main():
    wh = tempfile.mkdtemp()
    os.environ["TZ"] = "UTC"
    s = (SparkSession.builder.master("local[1]").config("spark.jars", sys.argv[1]).config("spark.driver.memory", "900m")
         .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions").config("spark.ui.enabled", "false")
         .config("spark.sql.catalog.l", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.l.type", "hadoop").config("spark.sql.catalog.l.warehouse", wh)
         .config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "1").config("spark.driver.extraJavaOptions", "-Duser.timezone=UTC").getOrCreate())
    s.sparkContext.setLogLevel("ERROR")
    mor = "'write.delete.mode'='merge-on-read','write.update.mode'='merge-on-read','write.merge.mode'='merge-on-read'"
    every = ("id int, s string, p int, d date, ts timestamp, tn timestamp_ntz, n decimal(12,3), f double, a array<int>, m map<string,int>, st struct<x:int,y:string>, b binary, l bigint")

    def rows(a, b):
        def lit(k):
            st = f"named_struct('x',{k},'y','y{k}')" if k % 4 else "null"
            f = ["0D", "-0D", "double('NaN')", "1.5D"][k % 4]
            return (f"({k},{'null' if k % 5 == 4 else repr('s' * (k % 3) + str(k))},{k % 3},date'1969-12-01'+{k * 11},timestamp'1969-12-31 23:00:00Z'+interval {k * 47} minutes,"
                    f"timestamp_ntz'1960-02-29 12:00:00.5'+interval {k * 400} days,{k}.125BD-3,{f},array({k},null),map('k',{k}),{st},cast('b{k}' as binary),{k}L*1000000007)")
        return ", ".join(lit(k) for k in range(a, b))

    tables = []

    def create(name, part, version, extra=""):
        s.sql(f"CREATE TABLE l.n.{name} ({every}) USING iceberg {part} TBLPROPERTIES ('format-version'='{version}',{mor}{extra})")
        tables.append(name)

    def insert(name, a, b):
        s.sql(f"INSERT INTO l.n.{name} VALUES {rows(a, b)}")

    s.sql("CREATE NAMESPACE l.n")
    for name, version, part in (("spark_v2_deletes", 2, "PARTITIONED BY (p)"), ("spark_v3_vectors", 3, ""), ("spark_v3_partitioned", 3, "PARTITIONED BY (months(d), bucket(2, id))")):
        create(name, part, version)
        insert(name, 0, 8)
        insert(name, 8, 14)
        s.sql(f"DELETE FROM l.n.{name} WHERE id IN (1, 9, 4)")
        s.sql(f"DELETE FROM l.n.{name} WHERE f = 1.5 AND id < 8")
        s.sql(f"UPDATE l.n.{name} SET s = 'updated', l = null WHERE id % 5 = 0")
        s.sql(f"MERGE INTO l.n.{name} t USING (SELECT 2 id, 'merged' s UNION ALL SELECT 100, 'new') u ON t.id = u.id WHEN MATCHED THEN UPDATE SET s = u.s WHEN NOT MATCHED THEN INSERT (id, s, p) VALUES (u.id, u.s, 1)")
        s.sql(f"ALTER TABLE l.n.{name} DROP COLUMN m")
        s.sql(f"ALTER TABLE l.n.{name} RENAME COLUMN s TO name")
        s.sql(f"ALTER TABLE l.n.{name} ADD COLUMN st.z date")
        s.sql(f"DELETE FROM l.n.{name} WHERE name = 'merged'")
    create("spark_transforms", "PARTITIONED BY (years(d))", 2, ",'write.distribution-mode'='none','write.spark.fanout.enabled'='true'")
    insert("spark_transforms", 0, 4)
    last = "years(d)"
    for k, tr in enumerate(["months(ts)", "days(tn)", "hours(ts)", "bucket(3, s)", "truncate(2, s)", "truncate(10, n)", "bucket(4, n)", "bucket(3, b)", "truncate(1000, l)", "days(d)", "months(tn)", "bucket(3, ts)", "truncate(1, b)", "s", "d", "ts", "n"]):
        if k % 3:
            s.sql(f"ALTER TABLE l.n.spark_transforms DROP PARTITION FIELD {last}")
        s.sql(f"ALTER TABLE l.n.spark_transforms ADD PARTITION FIELD {tr}")
        last = tr
        insert("spark_transforms", k % 4, k % 4 + 4)
    for name in tables:
        meta = max(glob.glob(f"{wh}/n/{name}/metadata/v*.metadata.json"), key=lambda p: int(os.path.basename(p)[1:].split(".")[0]))
        doc = json.load(open(meta))
        schemas = {x["schema-id"]: Schema.model_validate(x) for x in doc["schemas"]}
        lines = ["# Written by spark_tables.py.", f"table\t{name}"]
        for snap in doc["snapshots"] + [None]:
            schema = schemas[snap["schema-id"] if snap else doc["current-schema-id"]]
            clause = f" VERSION AS OF {snap['snapshot-id']}" if snap else ""
            got = [plain(r) for r in s.sql(f"SELECT * FROM l.n.{name}{clause}").collect()]
            got = [{f.name: r[f.name] for f in schema.fields} for r in got]
            lines += canon.sections(str(snap["snapshot-id"]) if snap else "current", schema, got)
        dst = f"{OUT}/{name}"
        shutil.rmtree(dst, ignore_errors=True)
        shutil.copytree(f"{wh}/n/{name}", dst, ignore=shutil.ignore_patterns(".*.crc", "version-hint.text"))
        open(dst + ".txt", "w").write("\n".join(lines) + "\n")
        print(name, len(doc["snapshots"]), len(lines))
    s.stop()


main()
