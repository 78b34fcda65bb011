"""Tables that lhsql writes, read by PyIceberg, DuckDB and Spark with equal answers; and written by
them in between. Usage: check.py LHSQL DIR [--spark]. Prints a line for each check; ends with 1 if
one failed. A reader that is not installed is skipped, and said so."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))
HERE = os.path.dirname(os.path.abspath(__file__))
LHSQL, DIR = sys.argv[1], os.path.abspath(sys.argv[2])

import datasketches
from pyiceberg.catalog import load_catalog

import canon

TABLES = ["types_v2", "types_v3", "types_spark", "cow_v2", "mor_v2", "cow_v3", "mor_v3", "evolved", "upgraded", "defaults_v3", "nested", "emptied"]
# What a reader is known not to do, seen with the versions pinned in requirements.txt.
KNOWN = {("Spark", "types_v2"): "Spark has no time type", ("Spark", "types_v3"): "Spark has no time type"}
failed = 0


def report(ok, what, detail=""):
    global failed
    print(("ok    " if ok else "FAIL  ") + what + (": " + detail if detail else ""), flush=True)
    failed += not ok


def lhsql(sql, fmt="json"):
    p = subprocess.run([LHSQL, "sql", "--warehouse", DIR, "--format", fmt, "-c", "SET search_path = w; SET TimeZone = 'UTC'; " + sql],
                       capture_output=True, text=True, env={**os.environ, "LHSQL_CONFIG": ""})
    if p.returncode:
        raise RuntimeError(p.stderr.strip())
    return p.stdout


def own(table, fields):
    cols = ", ".join(f"coalesce(\"{f.name}\"::text, '\\N') AS \"{f.name}\"" for f in fields)
    out = lhsql(f"SELECT {cols} FROM {table}")
    rows = [json.loads(l) for l in out.splitlines() if l.startswith("{")] if not out.lstrip().startswith("[") else json.loads(out)
    short = {"true": "t", "false": "f"}  # a cast spells booleans out
    return sorted(tuple(short.get(r[f.name], r[f.name]) if str(f.field_type) == "boolean" else r[f.name] for f in fields) for r in rows)


def theirs(rows, fields):
    return sorted(tuple(canon.text(r[f.name], f.field_type) for f in fields) for r in rows)


def differ(want, got):
    a, b = [r for r in want if r not in got], [r for r in got if r not in want]
    return f"{len(want)} rows here, {len(got)} there; only here {a[:3]}, only there {b[:3]}"


def compare(reader, table, read):
    t = catalog.load_table(("w", table))
    fields = t.schema().fields
    want = own(table, fields)
    try:
        got = theirs(read(t), fields)
    except Exception as e:  # a reader's refusal is a result
        note = KNOWN.get((reader, table))
        report(note is not None, f"{reader} reads {table}", (note or "") + " " + str(e).splitlines()[0][:200])
        return
    report(got == want, f"{reader} reads {table} ({len(want)} rows)", "" if got == want else differ(want, got))


def spark_session():
    try:
        from pyspark.sql import SparkSession
    except ImportError as e:
        print("skip  Spark:", e)
        return None
    import glob

    jars = glob.glob(os.path.expanduser("~/.m2/repository/org/apache/iceberg/iceberg-spark-runtime-3.5_2.12/*/*.jar"))
    jars += glob.glob(os.path.expanduser("~/.m2/repository/org/xerial/sqlite-jdbc/*/*.jar"))
    if not jars:
        print("skip  Spark: iceberg-spark-runtime is not in ~/.m2")
        return None
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    return (SparkSession.builder.master("local[1]").config("spark.jars", ",".join(jars)).config("spark.ui.enabled", "false")
            .config("spark.driver.memory", "1g").config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
            .config("spark.sql.catalog.lake", "org.apache.iceberg.spark.SparkCatalog").config("spark.sql.catalog.lake.type", "jdbc")
            .config("spark.sql.catalog.lake.uri", f"jdbc:sqlite:{DIR}/catalog.db").config("spark.sql.catalog.lake.warehouse", f"file://{DIR}")
            .config("spark.sql.catalog.lake.jdbc.schema-version", "V1").config("spark.sql.catalog.lake.cache-enabled", "false").getOrCreate())


if "--spark-run" in sys.argv:  # statements of Spark's, in a process of their own
    session = spark_session()
    for q in sys.argv[-1].split(";"):
        session.sql(q)
    sys.exit(0)
lhsql_out = subprocess.run([LHSQL, "sql", "--warehouse", DIR, "-f", os.path.join(HERE, "fixture.sql")], capture_output=True, text=True)
if lhsql_out.returncode or "ERROR" in lhsql_out.stderr:
    print(lhsql_out.stderr)
    sys.exit(1)
catalog = load_catalog("lake", type="sql", uri=f"sqlite:///{DIR}/catalog.db", warehouse=f"file://{DIR}")


def pyiceberg_rows(t):
    return t.scan().to_arrow().to_pylist()


def duckdb_reader():
    try:
        import duckdb
        import duckdb_ext

        con = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        import glob
        for name in ("avro", "iceberg"):
            path = glob.glob(os.path.join(list(duckdb_ext.__path__)[0], "extensions", "*", "*", name + ".duckdb_extension"))[0]
            con.load_extension(path)
    except Exception as e:
        print("skip  DuckDB:", e)
        return None
    con.execute("SET TimeZone = 'UTC'")

    def read(t):
        return con.execute(f"SELECT * FROM iceberg_scan('{t.metadata_location}')").fetch_arrow_table().to_pylist()

    return read


def spark_runs(statements):
    """Spark's catalog keeps its connection, and SQLite's lock with it, for as long as it lives."""
    p = subprocess.run([sys.executable, __file__, LHSQL, DIR, "--spark-run", ";".join(statements)], capture_output=True, text=True)
    if p.returncode:
        report(False, "Spark writes", [l for l in p.stderr.splitlines() if l.strip()][-1][:300])


def check_reads(reader, read):
    for table in TABLES:
        compare(reader, table, read)


check_reads("PyIceberg", pyiceberg_rows)
duck = duckdb_reader()
if duck:
    check_reads("DuckDB", duck)


def pyiceberg_writes():
    """PyIceberg appends and deletes between our statements; the next MERGE is right."""
    import pyarrow as pa

    for table in ("cow_v2", "mor_v2"):
        t = catalog.load_table(("w", table))
        before = len(own(table, t.schema().fields))
        t.append(pa.table({"id": pa.array([1000, 1001], pa.int32()), "grp": ["py", "py"], "ts": pa.array([0, None], pa.timestamp("us")),
                           "n": pa.array([None, None], pa.decimal128(9, 2))}, schema=t.schema().as_arrow()))
        lhsql(f"DELETE FROM {table} WHERE id = 1000")
        t = catalog.load_table(("w", table))
        t.delete("id == 1")
        lhsql(f"MERGE INTO {table} t USING (VALUES (1, 'back'), (1001, 'merged')) AS u (id, grp) ON t.id = u.id WHEN MATCHED THEN UPDATE SET grp = u.grp WHEN NOT MATCHED THEN INSERT (id, grp) VALUES (u.id, u.grp)")
        fields = catalog.load_table(("w", table)).schema().fields
        rows = own(table, fields)
        named = {r[0]: r[1] for r in rows}
        report(len(rows) == before + 1 and named.get("1") == "back" and named.get("1001") == "merged" and "1000" not in named, f"PyIceberg writes between our statements on {table}",
               f"{before} rows before, {len(rows)} after, {named.get('1')}, {named.get('1001')}")
        compare("PyIceberg", table, pyiceberg_rows)


pyiceberg_writes()

# Compaction: each procedure, then the same rows for everyone.
PROCEDURES = ["CALL system.rewrite_position_delete_files('w.{t}', options => map('rewrite-all', 'true'))",
              "CALL system.rewrite_data_files('w.{t}', options => map('rewrite-all', 'true'))",
              "CALL system.rewrite_data_files('w.{t}', strategy => 'sort', sort_order => 'id DESC', options => map('rewrite-all', 'true'))"]
LINEAGE = ("mor_v3", "cow_v3", "upgraded")


def lineage(table):
    out = lhsql(f"SELECT id::text AS id, _row_id::text AS row, _last_updated_sequence_number::text AS seq FROM {table}")
    rows = [json.loads(l) for l in out.splitlines() if l.startswith("{")] if not out.lstrip().startswith("[") else json.loads(out)
    return sorted((r["id"], r["row"], r["seq"]) for r in rows)


def compacted(table, readers):
    fields = catalog.load_table(("w", table)).schema().fields
    before = own(table, fields)
    ids = lineage(table) if table in LINEAGE else None
    for q in PROCEDURES:
        if "id DESC" in q and not any(f.name == "id" for f in fields):
            continue
        name = q.split("system.")[1].split("(")[0] + (" sort" if "sort" in q else "")
        lhsql(q.format(t=table))
        rows = own(table, fields)
        report(rows == before, f"{name} of {table} changes no row ({len(rows)} rows)", "" if rows == before else differ(before, rows))
        if ids is not None:
            report(lineage(table) == ids, f"{name} of {table} keeps row ids and sequence numbers")
        for reader, read in readers:
            compare(reader, table, read)


def counted(table):
    """ANALYZE's sketches, read by DataSketches' own library: of few values they are exact."""
    lhsql(f"ANALYZE {table}")
    t = catalog.load_table(("w", table))
    s = next(s for s in t.metadata.statistics if s.snapshot_id == t.metadata.current_snapshot_id)
    with t.io.new_input(s.statistics_path).open() as f:
        data = f.read()
    size = int.from_bytes(data[-12:-8], "little")
    blobs = json.loads(data[-12 - size:-12])["blobs"]
    got, want = {}, {}
    rows = t.scan().to_arrow()
    for b, known in zip(blobs, s.blob_metadata, strict=True):
        name = t.schema().find_column_name(b["fields"][0])
        sketch = datasketches.compact_theta_sketch.deserialize(data[b["offset"]:b["offset"] + b["length"]])
        got[name] = (sketch.get_estimate(), b["properties"]["ndv"], known.properties["ndv"])
        n = len({repr(v) for v in rows.column(name).to_pylist() if v not in (None, "", b"")})
        want[name] = (n, str(n), str(n))
    report(got == want and len(got) > 0, f"DataSketches reads what ANALYZE {table} counted ({len(got)} columns)", "" if got == want else f"{got} {want}")
    report((len(data), size + 16) == (s.file_size_in_bytes, s.file_footer_size_in_bytes), f"the sizes that {table}'s metadata tells of its statistics")


readers = [("PyIceberg", pyiceberg_rows)] + ([("DuckDB", duck)] if duck else [])
for table in TABLES:
    compacted(table, readers)
    counted(table)

if "--spark" in sys.argv:
    spark = spark_session()
    if spark:
        check_reads("Spark", lambda t: [r.asDict(recursive=True) for r in spark.read.format("iceberg").load(t.metadata_location).collect()])
        read = lambda t: [r.asDict(recursive=True) for r in spark.read.format("iceberg").load(t.metadata_location).collect()]
        written = ("mor_v2", "mor_v3", "cow_v3", "evolved")
        fields_of = lambda table: catalog.load_table(("w", table)).schema().fields
        before = {table: len(own(table, fields_of(table))) for table in written}
        inserts = [f"INSERT INTO lake.w.{table} SELECT " + ", ".join(str(new) if f.name == "id" else "NULL" for f in fields_of(table)) for table in written for new in (2000, 2001)]
        spark_runs(inserts + [f"DELETE FROM lake.w.{table} WHERE id = 4" for table in written])
        for table in written:
            lhsql(f"MERGE INTO {table} t USING (VALUES (2000), (4), (5)) AS u (id) ON t.id = u.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (u.id)")
        spark_runs([f"DELETE FROM lake.w.{table} WHERE id = 2001" for table in written])
        for table in written:
            fields = fields_of(table)
            rows = own(table, fields)
            i = [f.name for f in fields].index("id")
            ids = {r[i] for r in rows}
            n = before[table]
            report(len(rows) == n - 1 and "4" in ids and not ids & {"5", "2000", "2001"}, f"Spark writes between our statements on {table}", f"{n} rows before, {len(rows)} after")
            compare("Spark", table, read)
        # Our compaction of what Spark wrote, and Spark's of what is ours.
        for table in written:
            compacted(table, [("Spark", read)])
        for table in ("mor_v3", "cow_v3"):
            got = sorted(tuple("NULL" if v is None else str(v) for v in r) for r in
                         spark.read.format("iceberg").load(catalog.load_table(("w", table)).metadata_location).select("id", "_row_id", "_last_updated_sequence_number").collect())
            want = lineage(table)
            report(got == want, f"Spark reads the row ids of {table} that compaction kept", "" if got == want else differ(want, got))
        rows = {table: own(table, fields_of(table)) for table in written}
        ids = {table: lineage(table) for table in ("mor_v3", "cow_v3")}
        lhsql("DELETE FROM mor_v2 WHERE id = 8; DELETE FROM mor_v3 WHERE id = 8")
        spark_runs([f"CALL lake.system.rewrite_data_files(table => 'w.{table}', options => map('rewrite-all', 'true'))" for table in written])
        for table in written:
            want = [r for r in rows[table] if table[:3] != "mor" or r[0] != "8"]
            got = own(table, fields_of(table))
            report(got == want, f"Spark's compaction of {table}, read here", "" if got == want else differ(want, got))
            if table in ids:
                report(set(lineage(table)) <= set(ids[table]), f"Spark's compaction of {table} keeps row ids as read here")
        spark.stop()
sys.exit(1 if failed else 0)
