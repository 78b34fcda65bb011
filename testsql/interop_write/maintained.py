"""Maintenance beside other engines, over the Iceberg project's own REST catalog. After each of lhsql's procedures
PyIceberg, DuckDB and Spark read the rows that were there before, on main and at a tag, and in format 3 Spark reads
the row ids; after each of Spark's procedures lhsql and the others do; on tables of lhsql's and of Spark's. Partition
statistics of the one are read, and gone on from, by the other. At last PyIceberg, Spark and lhsql write a table while
lhsql maintains it. Usage: maintained.py LHSQL DIR CLASSPATH [--seed N] [--rounds N]. Prints a line for each check; ends with 1 if
one failed."""
import argparse
import glob
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import duckdb
import duckdb_ext
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException
from pyiceberg.expressions import EqualTo
from pyspark.sql import SparkSession

p = argparse.ArgumentParser()
p.add_argument("lhsql")
p.add_argument("dir")
p.add_argument("classpath")
p.add_argument("--seed", type=int, default=1)
p.add_argument("--rounds", type=int, default=12, help="writes of each writer beside the maintenance")
p.add_argument("--tables", default="ours2,ours3,theirs2,theirs3", help="lhsql's and Spark's, by format")
a = p.parse_args()
DIR = os.path.abspath(a.dir)
WAREHOUSE = os.path.join(DIR, "warehouse")
os.makedirs(WAREHOUSE, exist_ok=True)
failed = 0


def report(ok, what, detail=""):
    global failed
    print(("ok    " if ok else "FAIL  ") + what + (": " + detail if detail else ""), flush=True)
    failed += not ok


def start_catalog():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    log = open(os.path.join(DIR, "catalog.log"), "w")
    server = subprocess.Popen(["java", "-Xmx512m", "-cp", a.classpath, "CatalogServer", str(port), "catalog-impl=org.apache.iceberg.jdbc.JdbcCatalog",
                               f"uri=jdbc:sqlite:{DIR}/catalog.db", "jdbc.schema-version=V1", f"warehouse={WAREHOUSE}"], stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    for _ in range(600):
        try:
            urllib.request.urlopen(url + "/v1/config").read()
            return server, url
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the REST catalog did not come up")


class Refused(Exception):
    pass


def lhsql(sql):
    """Runs statements and gives the rows of the last."""
    p = subprocess.run([a.lhsql, "sql", "--catalogs.lake.type", "rest", "--catalogs.lake.uri", URL, "--catalogs.lake.lhsql.allowed-locations", DIR, "--format", "json", "-c", sql],
                       capture_output=True, text=True, env={**os.environ, "LHSQL_CONFIG": ""})
    if p.returncode or "ERROR" in p.stderr:
        raise Refused(p.stderr.strip())
    text = p.stdout.strip()
    return json.loads(text) if text.startswith("[") else [json.loads(l) for l in text.splitlines() if l.startswith("{")]


def start_spark():
    jars = glob.glob(os.path.expanduser("~/.m2/repository/org/apache/iceberg/iceberg-spark-runtime-3.5_2.12/1.10.0/*.jar"))
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    spark = (SparkSession.builder.master("local[2]").config("spark.jars", ",".join(jars)).config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
             .config("spark.driver.memory", "1500m").config("spark.sql.session.timeZone", "UTC").config("spark.sql.shuffle.partitions", "2")
             .config("spark.local.dir", DIR + "/tmp")
             .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
             .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.lake.type", "rest")
             .config("spark.sql.catalog.lake.uri", URL).config("spark.sql.catalog.lake.io-impl", "org.apache.iceberg.hadoop.HadoopFileIO")
             .config("spark.sql.catalog.lake.cache-enabled", "false").getOrCreate())
    spark.sparkContext.setLogLevel("OFF")
    return spark


def cells(rows):
    return sorted(tuple("NULL" if v is None else str(v) for v in r) for r in rows)


# Readers: (table, tag or None) → rows.
def own_rows(t, tag, more=""):
    of = f"w.{t}.tag_{tag}" if tag else f"w.{t}"
    return cells(r.values() for r in lhsql(f"SELECT id, grp, v{more} FROM {of}"))


def pyiceberg_rows(t, tag):
    table = catalog.load_table(("w", t))
    scan = table.scan(snapshot_id=table.snapshot_by_name(tag).snapshot_id) if tag else table.scan()
    return cells((r["id"], r["grp"], r["v"]) for r in scan.to_arrow().to_pylist())


def duckdb_rows(t, tag):
    table = catalog.load_table(("w", t))
    of = f", snapshot_from_id = {table.snapshot_by_name(tag).snapshot_id}" if tag else ""
    return cells(duck.execute(f"SELECT id, grp, v FROM iceberg_scan('{table.metadata_location}'{of})").fetchall())


def spark_rows(t, tag, more=""):
    of = f" VERSION AS OF '{tag}'" if tag else ""
    return cells(spark.sql(f"SELECT id, grp, v{more} FROM lake.w.{t}{of}").collect())


LINEAGE = ", _row_id, _last_updated_sequence_number"
READERS = {"lhsql": own_rows, "PyIceberg": pyiceberg_rows, "DuckDB": duckdb_rows, "Spark": spark_rows}


# What a reader is known not to do, seen with the versions pinned in requirements.txt: Spark's add_files writes a
# manifest of format 1, as the format allows.
KNOWN = {("DuckDB", "Spark's add_files"): "Invalid schema detected in a manifest"}


def all_read(t, what, want, ids):
    """All engines read the rows of main and of the tag; Spark and lhsql the row ids, too."""
    bad = []
    for tag in (None, "g"):
        for name, read in READERS.items():
            try:
                got = read(t, tag)
            except Exception as e:  # a reader's refusal is a result
                got = str(e).splitlines()[0][:200]
            if isinstance(got, str) and (name, what) in KNOWN and KNOWN[name, what] in got:
                continue
            if got != want[tag]:
                bad.append(f"{name} at {tag or 'main'}: " + (got if isinstance(got, str) else f"lacks {[r for r in want[tag] if r not in got][:3]}, has {[r for r in got if r not in want[tag]][:3]}"))
        if ids is not None:
            for name, read in (("lhsql", own_rows), ("Spark", spark_rows)):
                got = read(t, tag, LINEAGE)
                if got != ids[tag]:
                    bad.append(f"{name}'s row ids at {tag or 'main'}: {[r for r in got if r not in ids[tag]][:3]} not {[r for r in ids[tag] if r not in got][:3]}")
    report(not bad, f"{t}: {what}: all read the same", "; ".join(bad))


MODES = "'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read'"


def statements(t, own):
    """What makes a table: of small files, with deletes, and a tag."""
    at = "w" if own else "lake.w"
    name = f"{at}.{t}"
    series = (lambda lo, hi: f"SELECT g, 'g' || g % 3, 'v' || g FROM generate_series({lo}, {hi}) g") if own else \
        (lambda lo, hi: f"SELECT CAST(id AS INT), concat('g', id % 3), concat('v', id) FROM range({lo}, {hi + 1})")
    text = "text" if own else "string"
    props = "TBLPROPERTIES" if own else "USING iceberg PARTITIONED BY (grp) TBLPROPERTIES"
    part = "PARTITIONED BY (grp) " if own else ""
    return [f"CREATE TABLE {name} (id int, grp {text}, v {text}) {part}{props} ('format-version' = '{t[-1]}', {MODES})",
            f"INSERT INTO {name} {series(1, 30)}", f"INSERT INTO {name} {series(31, 60)}", f"DELETE FROM {name} WHERE id % 10 = 0",
            f"ALTER TABLE {name} CREATE TAG g", f"UPDATE {name} SET v = 'u' WHERE id % 10 = 1", f"INSERT INTO {name} {series(61, 70)}",
            f"DELETE FROM {name} WHERE id IN (2, 33)"]


def again(t, own, lo):
    """Something new to maintain: rows, and deletes of some."""
    if own:
        lhsql(f"INSERT INTO w.{t} SELECT g, 'g' || g % 3, 'n' FROM generate_series({lo}, {lo + 9}) g; DELETE FROM w.{t} WHERE id IN ({lo}, {lo + 3}); DELETE FROM w.{t} WHERE id = {lo + 1}")
    else:
        for q in (f"INSERT INTO lake.w.{t} SELECT CAST(id AS INT), concat('g', id % 3), 'n' FROM range({lo}, {lo + 10})", f"DELETE FROM lake.w.{t} WHERE id IN ({lo}, {lo + 3})",
                  f"DELETE FROM lake.w.{t} WHERE id = {lo + 1}"):
            spark.sql(q)


PROCEDURES = ["rewrite_position_delete_files(table => 'w.{t}', options => map('rewrite-all', 'true'))",
              "rewrite_data_files(table => 'w.{t}', options => map('rewrite-all', 'true'))",
              "rewrite_data_files(table => 'w.{t}', strategy => 'sort', sort_order => 'zorder(id, v)', options => map('rewrite-all', 'true'))",
              "rewrite_manifests(table => 'w.{t}')",
              "compute_table_stats(table => 'w.{t}')",
              "compute_partition_stats(table => 'w.{t}')",
              "expire_snapshots(table => 'w.{t}', older_than => TIMESTAMP '2100-01-01 00:00:00', retain_last => 1)",
              "remove_orphan_files(table => 'w.{t}')",
              "add_files"]


def folder(t):
    return catalog.load_table(("w", t)).location().removeprefix("file:")


def orphan(t):
    path = os.path.join(folder(t), "data", "nobody.parquet")
    with open(path, "wb") as f:
        f.write(b"PAR1")
    then = time.time() - 9 * 86400
    for at, _, names in os.walk(folder(t)):
        for n in names:
            os.utime(os.path.join(at, n), (then, then))
    return path


def maintained(t, by, call, lo):
    """One procedure of one engine, and what everybody reads afterwards."""
    own = by == "lhsql"
    again(t, own, lo)
    want = {tag: own_rows(t, tag) for tag in (None, "g")}
    ids = {tag: own_rows(t, tag, LINEAGE) for tag in (None, "g")} if t.endswith("3") else None
    name = call.split("(")[0] + (" zorder" if "zorder" in call else "")
    lost = orphan(t) if name.startswith("remove_orphan") else None
    if name == "add_files":
        place = os.path.join(DIR, "landing", f"{t}{lo}")
        os.makedirs(place + "/grp=added")
        pq.write_table(pa.table({"id": pa.array([lo + 20], pa.int32()), "v": ["a"]}), place + "/grp=added/part.parquet")
        call = f"add_files(table => 'w.{t}', source_table => '`parquet`.`{place}`')"
        want[None] = sorted(want[None] + [(str(lo + 20), "added", "a")])
        ids = None  # a new row has a new id
    if not own and name == "rewrite_manifests":
        ids = None  # Iceberg 1.10.0 gives the files that it lists anew other row ids, as it reads them itself
    try:
        lhsql(f"CALL system.{call.format(t=t)}") if own else spark.sql(f"CALL lake.system.{call.format(t=t)}").collect()
    except Exception as e:
        report(False, f"{t}: {by}'s {name}", str(e).splitlines()[0][:300])
        return
    if lost:
        report(not os.path.exists(lost), f"{t}: {by}'s {name} removes an orphan")
    all_read(t, f"{by}'s {name}", want, ids)


COUNTS = ["spec_id", "data_record_count", "data_file_count", "total_data_file_size_in_bytes", "position_delete_record_count", "position_delete_file_count",
          "equality_delete_record_count", "equality_delete_file_count"]


def partition_statistics(t):
    """Each engine's partition statistics as pyarrow and Spark read them, and gone on from by the other."""
    def counted(path):
        rows = pq.read_table(path.removeprefix("file:")).to_pylist()
        return sorted((r["partition"]["grp"] or "", *(r[c] + (r.get("dv_count") or 0 if c == "position_delete_file_count" else 0) for c in COUNTS)) for r in rows if r["data_file_count"])

    def spark_counted(path):
        jvm = spark._jvm
        table = jvm.org.apache.iceberg.spark.Spark3Util.loadIcebergTable(spark._jsparkSession, f"lake.w.{t}")
        schema = jvm.org.apache.iceberg.PartitionStatsHandler.schema(jvm.org.apache.iceberg.Partitioning.partitionType(table), int(t[-1]))
        rows = jvm.org.apache.iceberg.PartitionStatsHandler.readPartitionStatsFile(schema, table.io().newInputFile(path)).iterator()
        zero = lambda n: n or 0  # format 2 need not say
        out = []
        while rows.hasNext():
            r = rows.next()
            grp = r.partition().get(0, jvm.java.lang.Class.forName("java.lang.CharSequence"))
            out.append((str(grp) if grp is not None else "", r.specId(), r.dataRecordCount(), r.dataFileCount(), r.totalDataFileSizeInBytes(), zero(r.positionDeleteRecordCount()),
                        zero(r.positionDeleteFileCount()) + zero(r.dvCount()), zero(r.equalityDeleteRecordCount()), zero(r.equalityDeleteFileCount())))
        return sorted(o for o in out if o[3])

    def live():
        return sorted((r["partition.grp"] or "", *(int(r[c]) for c in COUNTS)) for r in (
            {"partition.grp": x["grp"], **dict(zip(COUNTS, [x["spec_id"], x["record_count"], x["file_count"], x["total_data_file_size_in_bytes"], x["position_delete_record_count"],
                                                            x["position_delete_file_count"], x["equality_delete_record_count"], x["equality_delete_file_count"]]))}
            for x in lhsql(f"SELECT partition ->> 'grp' AS grp, * FROM w.{t}.partitions")))

    for i, by in enumerate(["lhsql", "Spark", "lhsql", "Spark"]):
        again(t, i < 2, 1000 + 20 * i)
        if by == "lhsql":
            plan = "\n".join(str(r) for r in lhsql(f"EXPLAIN CALL system.compute_partition_stats('w.{t}')"))
            if i:
                report("From: statistics of snapshot" in plan, f"{t}: lhsql goes on from Spark's partition statistics", "" if "From: statistics" in plan else plan)
            path = lhsql(f"CALL system.compute_partition_stats('w.{t}')")[0]["partition_statistics_file"]
        else:
            path = spark.sql(f"CALL lake.system.compute_partition_stats(table => 'w.{t}')").collect()[0][0]
        want, got, theirs = live(), counted(path), spark_counted(path)
        report(want == got == theirs, f"{t}: {by}'s partition statistics", "" if want == got == theirs else f"{want} {got} {theirs}")


class Writer(threading.Thread):
    """Appends rows of its own and deletes some of them; rows are those that it was told are there."""

    def __init__(self, name, first, write):
        super().__init__()
        self.name, self.first, self.write, self.rows, self.err, self.conflicts = name, first, write, set(), None, 0
        self.r = random.Random(a.seed * 1000 + first)

    def run(self):
        try:
            for i in range(a.rounds):
                ids = [self.first + 2 * i, self.first + 2 * i + 1]
                self.attempt("insert", ids)
                self.rows |= set(ids)
                if i % 2:
                    gone = self.r.choice(sorted(self.rows))
                    self.attempt("delete", [gone])
                    self.rows -= {gone}
        except Exception as e:
            self.err = str(e).splitlines()[0][:300]

    def attempt(self, what, ids):
        for n in range(200):
            try:
                return self.write(what, ids)
            except Exception as e:
                text = str(e)
                lost = isinstance(e, CommitFailedException) or any(w in text for w in ("40001", "CommitFailed", "ValidationException", "conflicting", "Cannot commit", "NotFoundException", "58P01"))
                if not lost or n == 199:
                    raise
                self.conflicts += 1


def py_write(what, ids):
    t = catalog.load_table(("w", "busy"))
    if what == "insert":
        t.append(pa.table({"id": pa.array(ids, pa.int32()), "grp": ["g" + str(i % 3) for i in ids], "v": ["p"] * len(ids)}, schema=t.schema().as_arrow()))
    else:
        t.delete(EqualTo("id", ids[0]))


def spark_write(what, ids):
    if what == "insert":
        spark.sql("INSERT INTO lake.w.busy VALUES " + ", ".join(f"({i}, 'g{i % 3}', 's')" for i in ids)).collect()
    else:
        spark.sql(f"DELETE FROM lake.w.busy WHERE id = {ids[0]}").collect()


def own_write(what, ids):
    if what == "insert":
        lhsql("INSERT INTO w.busy VALUES " + ", ".join(f"({i}, 'g{i % 3}', 'l')" for i in ids))
    else:
        lhsql(f"DELETE FROM w.busy WHERE id = {ids[0]}")


def beside():
    """Procedures of lhsql while three engines write."""
    lhsql(f"CREATE TABLE w.busy (id int, grp text, v text) PARTITIONED BY (grp) TBLPROPERTIES ('format-version' = '2', {MODES}, 'commit.retry.num-retries' = '20', 'commit.manifest.min-count-to-merge' = '5'); "
          "INSERT INTO w.busy SELECT g, 'g' || g % 3, 'v' FROM generate_series(1, 30) g; ALTER TABLE w.busy CREATE TAG g")
    writers = [Writer("PyIceberg", 10000, py_write), Writer("Spark", 20000, spark_write), Writer("lhsql", 30000, own_write)]
    for w in writers:
        w.start()
    calls, lost = 0, 0
    r = random.Random(a.seed)
    while any(w.is_alive() for w in writers):
        call = r.choice([q for q in PROCEDURES if q != "add_files"]).format(t="busy").replace("retain_last => 1", "retain_last => 15")
        try:
            lhsql("CALL system." + call)
            calls += 1
        except Refused as e:
            lost += 1
            if "40001" not in str(e) and "could not serialize" not in str(e):
                report(False, "beside writers: " + call, str(e)[:300])
    for w in writers:
        w.join()
        report(w.err is None, f"{w.name} writes beside lhsql's maintenance ({len(w.rows)} rows, {w.conflicts} conflicts)", w.err or "")
    want = {str(i) for i in range(1, 31)} | {str(i) for w in writers for i in w.rows}
    for name, read in READERS.items():
        got = [r[0] for r in read("busy", None)]
        report(sorted(got) == sorted(want), f"{name} reads what was written meanwhile, {len(got)} rows, after {calls} calls and {lost} that lost",
               "" if sorted(got) == sorted(want) else f"lacks {sorted(want - set(got))[:5]}, has {[i for i in got if i not in want or got.count(i) > 1][:5]}")
        report(len(read("busy", "g")) == 30, f"{name} reads the tag")


server, URL = start_catalog()
try:
    catalog = load_catalog("lake", type="rest", uri=URL)
    spark = start_spark()
    duck = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for name in ("avro", "iceberg"):
        duck.load_extension(glob.glob(os.path.join(list(duckdb_ext.__path__)[0], "extensions", "*", "*", name + ".duckdb_extension"))[0])
    lhsql("CREATE SCHEMA w")
    for t in a.tables.split(","):
        own = t.startswith("ours")
        for q in statements(t, own):
            lhsql(q) if own else spark.sql(q)
        lo = 100
        for call in PROCEDURES:
            for by in ("lhsql", "Spark"):
                maintained(t, by, call, lo)
                lo += 30
        partition_statistics(t)
    beside()
    spark.stop()
finally:
    server.terminate()
sys.exit(1 if failed else 0)
