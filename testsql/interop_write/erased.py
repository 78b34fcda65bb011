"""ERASE, judged by libraries that are not ours: a token is planted by lhsql and by PyIceberg in data,
deleted and updated rows, partition values and paths, a snapshot's summary, branches, tags, a column
that was renamed and one that was dropped, and orphans. SHOW HOLDERS must find it; after ERASE pyarrow, fastavro and a search of the raw bytes
must not, and PyIceberg must read the rows that stay. TAGS REWRITE leaves history for others: every snapshot as PyIceberg and
Spark read it, but for the rows. Usage: erased.py LHSQL DIR [--spark]."""
import glob
import gzip
import json
import os
import shutil
import subprocess
import sys
import time

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog

LHSQL, DIR = sys.argv[1], os.path.abspath(sys.argv[2])
TOKEN = "tok-9d8f3f0b2c6b4c7e8a51"
MARK = TOKEN[:12]  # bounds are cut off
failed = 0


def report(ok, what, detail=""):
    global failed
    print(("ok    " if ok else "FAIL  ") + what + (": " + detail if detail else ""), flush=True)
    failed += not ok


def lhsql(sql):
    p = subprocess.run([LHSQL, "sql", "--warehouse", DIR, "--format", "json", "-c", sql], capture_output=True, text=True, env={**os.environ, "LHSQL_CONFIG": ""})
    if p.returncode or "ERROR" in p.stderr:
        raise RuntimeError(p.stderr.strip())
    text = p.stdout.strip()
    return json.loads(text) if text.startswith("[") else [json.loads(l) for l in text.splitlines() if l.startswith("{")]


def old(path):
    then = time.time() - 9 * 86400
    os.utime(path, (then, then))


def holders():
    """Where the token is, by file."""
    found = set()
    for folder, _, names in os.walk(DIR):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                raw = f.read()
            where = set()
            if MARK in path:
                where.add("path")
            if MARK.encode() in raw:
                where.add("raw bytes")
            if raw[:4] == b"PAR1":
                for batch in pq.ParquetFile(path).iter_batches():
                    if MARK in str(batch.to_pylist()):
                        where.add("Parquet value")
                meta = pq.ParquetFile(path).metadata
                for g in range(meta.num_row_groups):
                    for c in range(meta.num_columns):
                        s = meta.row_group(g).column(c).statistics
                        if s is not None and MARK in str((s.min, s.max)):
                            where.add("Parquet statistics")
            elif raw[:4] == b"Obj\x01":
                with open(path, "rb") as f:
                    if any(MARK in str(r) for r in fastavro.reader(f)):
                        where.add("Avro value")
            elif raw[:2] == b"\x1f\x8b" and MARK in gzip.decompress(raw).decode():
                where.add("gzip")
            found |= {(os.path.relpath(path, DIR), w) for w in where}
    return sorted(found)


lhsql(f"""CREATE SCHEMA w; SET search_path = w;
CREATE TABLE t (id int, legacy text, mail text) TBLPROPERTIES ('write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read');
INSERT INTO t VALUES (1, 'x', '{TOKEN}'), (2, '{TOKEN}', 'keep'), (3, 'x', 'z');
ALTER TABLE t RENAME COLUMN mail TO token;
ALTER TABLE t CREATE TAG q1;
UPDATE t SET token = 'nobody' WHERE id = 1;
INSERT INTO t VALUES (4, 'x', '{TOKEN}'), (5, 'x', 'e');
ALTER TABLE t CREATE BRANCH b;
INSERT INTO t.branch_b VALUES (6, 'x', '{TOKEN}');
DELETE FROM t WHERE id = 4;
CREATE TABLE p (id int, token text) PARTITIONED BY (token) TBLPROPERTIES ('format-version' = '3', 'write.delete.mode' = 'merge-on-read');
INSERT INTO p VALUES (1, '{TOKEN}'), (2, '{TOKEN}'), (3, 'keep');
DELETE FROM p WHERE id = 2""")
catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{DIR}/catalog.db", warehouse=f"file://{DIR}")
t = catalog.load_table("w.t")
t.append(pa.table({"id": pa.array([7, 8], pa.int32()), "legacy": ["x", TOKEN], "token": [TOKEN, "eight"]}), snapshot_properties={"job.note": "of " + TOKEN})
data = [f for f in t.refresh().inspect.files()["file_path"].to_pylist()]
folder = os.path.dirname(data[0].removeprefix("file://"))
shutil.copy(data[0].removeprefix("file://"), os.path.join(folder, "dead-writer.parquet"))
old(os.path.join(folder, "dead-writer.parquet"))
for name in os.listdir(os.path.join(folder, "..", "metadata")):
    if name.endswith("-m0.avro"):
        path = os.path.join(folder, "..", "metadata", "orphan-" + name)
        shutil.copy(os.path.join(folder, "..", "metadata", name), path)
        old(path)
# The dropped column bears the name that is asked for.
lhsql("SET search_path = w; ALTER TABLE t RENAME COLUMN token TO contact; ALTER TABLE t RENAME COLUMN legacy TO token; ALTER TABLE t DROP COLUMN token; ALTER TABLE t RENAME COLUMN contact TO token")
planted = holders()
report(len(planted) > 20, f"{len(planted)} places hold the token")
rows = lhsql(f"SHOW HOLDERS FROM w.t, w.p WHERE token = '{TOKEN}'")
named = {os.path.relpath(r["path"].removeprefix("file://"), DIR) for r in rows if r["path"]}
for path, where in planted:
    if not path.endswith(".metadata.json") and "metadata/snap-" not in path:
        report(path in named, f"SHOW HOLDERS names {os.path.basename(path)}", where)
out = lhsql(f"ERASE FROM w.t, w.p WHERE token = '{TOKEN}' REASON 'DSR-1' TAGS DROP")
report(out[0]["status"] == "DONE", "ERASE is done", "" if out[0]["status"] == "DONE" else str(out))
left = holders()
report(not left, "nothing of the token is left", str(left[:5]) if left else "")
got = sorted(t.refresh().scan().to_arrow().to_pylist(), key=lambda r: r["id"])
want = [{"id": 1, "token": "nobody"}, {"id": 2, "token": "keep"}, {"id": 3, "token": "z"}, {"id": 5, "token": "e"}, {"id": 8, "token": "eight"}]
report(got == want, "PyIceberg reads the rows that stay", "" if got == want else str(got))
branch = sorted(r["id"] for r in t.scan().use_ref("b").to_arrow().to_pylist())
report(branch == [1, 2, 3, 5], "PyIceberg reads the branch", str(branch))
t.append(pa.table({"id": pa.array([9], pa.int32()), "token": ["nine"]}))
report(len(lhsql("SELECT id FROM w.t")) == 6, "PyIceberg writes on")
erasure = lhsql("SELECT id FROM system.erasures")[0]["id"]
check = lhsql(f"CALL system.verify_erasure('{erasure}', '{TOKEN}')")
report(all(r["hits"] == 0 and not r["problem"] for r in check), "the evidence stands", str(check))

# Through history: no snapshot goes.
for version in 2, 3:
    lhsql(f"""SET search_path = w;
CREATE TABLE h{version} (id int, token text, part text) PARTITIONED BY (part)
    TBLPROPERTIES ('format-version' = '{version}', 'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'copy-on-write');
INSERT INTO h{version} VALUES (1, '{TOKEN}', 'p'), (2, 'b', 'p'), (3, 'c', 'q');
ALTER TABLE h{version} CREATE TAG q1;
INSERT INTO h{version} VALUES (4, '{TOKEN}', 'q'), (5, 'e', 'q');
UPDATE h{version} SET token = 'z' WHERE id = 3;
ALTER TABLE h{version} RENAME COLUMN token TO contact;
DELETE FROM h{version} WHERE id = 2;
ALTER TABLE h{version} RENAME COLUMN contact TO token;
INSERT INTO h{version} VALUES (6, '{TOKEN}', 'q'), (7, 'g', 'q');
DELETE FROM h{version} WHERE id IN (4, 5);
ALTER TABLE h{version} CREATE TAG q2""")


def spark_reader():
    from pyspark.sql import SparkSession
    jars = glob.glob(os.path.expanduser("~/.m2/repository/org/apache/iceberg/iceberg-spark-runtime-3.5_2.12/*/*.jar"))
    spark = SparkSession.builder.master("local[1]").config("spark.jars", ",".join(jars)).config("spark.ui.enabled", "false").getOrCreate()
    return lambda t, s: [r.asDict() for r in spark.read.format("iceberg").option("snapshot-id", s).load(t.metadata_location).collect()]


def histories(read, version):
    """What each snapshot shows, without the rows of the token."""
    t = catalog.load_table(f"w.h{version}")
    return {s.snapshot_id: sorted(map(str, (sorted(r.items()) for r in read(t, s.snapshot_id) if TOKEN not in r.values()))) for s in t.snapshots()}


readers = {"PyIceberg": (2, lambda t, s: t.scan(snapshot_id=s).to_arrow().to_pylist())}
if "--spark" in sys.argv:
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    spark_read = spark_reader()
    readers |= {"Spark, format 2": (2, spark_read), "Spark, format 3": (3, spark_read)}
past = {name: histories(read, version) for name, (version, read) in readers.items()}
out = lhsql(f"ERASE FROM w.h2, w.h3 WHERE token = '{TOKEN}' REASON 'DSR-2' TAGS REWRITE")
report(out[0]["status"] == "DONE", "ERASE through history is done", "" if out[0]["status"] == "DONE" else str(out))
left = holders()
report(not left, "nothing of the token is left in history", str(left[:5]) if left else "")
for name, (version, read) in readers.items():
    now = histories(read, version)
    bad = [s for s in past[name] if now.get(s) != past[name][s]]
    report(not bad and len(past[name]) == 6, f"{name} reads each of {len(past[name])} snapshots as before", "" if not bad else f"{past[name][bad[0]]} is {now.get(bad[0])}")
t = catalog.load_table("w.h2")
report(sorted(t.refs()) == ["main", "q1", "q2"], "the tags are there", str(sorted(t.refs())))
t.append(pa.table({"id": pa.array([9], pa.int32()), "token": ["nine"], "part": ["p"]}))
report(len(lhsql("SELECT id FROM w.h2")) == 3, "PyIceberg writes on behind it")
sys.exit(failed > 0)
