"""Writes testdata/: small tables of other writers, and what those writers say is in them.

    python make_tables.py [WORD]        (pyiceberg 0.12, pyarrow 26)

Each table is a folder, and NAME.txt beside it what must be read of it. Tables are moved after
they are written: their metadata names a folder that is gone.
"""
import datetime as dt
import decimal
import gzip
import json
import math
import os
import shutil
import sys
import tempfile
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.io.pyarrow import schema_to_pyarrow
from pyiceberg.manifest import (DataFile, DataFileContent, FileFormat, ManifestContent, ManifestEntry, ManifestEntryStatus,
                                ManifestWriterV2, read_manifest_list, write_manifest_list)
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (BucketTransform, DayTransform, HourTransform, IdentityTransform, MonthTransform, TruncateTransform,
                                  VoidTransform, YearTransform)
from pyiceberg.typedef import Record
import pyiceberg.types as T

import canon

OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "testdata")
D, TS = dt.date, dt.datetime
UTC = dt.timezone.utc


class World:
    """A warehouse that goes away, and the tables made in it."""

    def __init__(self):
        self.dir = tempfile.mkdtemp()
        self.cat = SqlCatalog("lake", uri=f"sqlite:///{self.dir}/c.db", warehouse=f"file://{self.dir}")
        self.cat.create_namespace("n")

    def create(self, name, schema, **kw):
        return self.cat.create_table("n." + name, schema=schema, **kw)

    def keep(self, name, states, metadata=None):
        """Moves the table to testdata and writes the states: (name, schema, rows)."""
        src = os.path.join(self.dir, "n", name)
        dst = os.path.join(OUT, name)
        shutil.rmtree(dst, ignore_errors=True)
        shutil.copytree(src, dst)
        lines = ["# Written by make_tables.py.", f"table\t{name}"]
        for state, schema, rows in states:
            lines += canon.sections(str(state), schema, rows)
        with open(dst + ".txt", "w") as f:
            f.write("\n".join(lines) + "\n")
        print(name, sum(len(r) for _, _, r in states))


def read(t, snapshot=None):
    """What PyIceberg reads."""
    scan = t.scan(snapshot_id=snapshot)
    schema = scan.projection() if snapshot else t.schema()
    return [{f.name: r[f.name] for f in schema.fields} for r in scan.to_arrow().to_pylist(maps_as_pydicts="strict")]


def states(t):
    out = [(s.snapshot_id, t.scan(snapshot_id=s.snapshot_id).projection(), read(t, s.snapshot_id)) for s in t.metadata.snapshots]
    return out + [("current", t.schema(), read(t))]


def arrow(t, rows):
    return pa.Table.from_pylist(rows, schema=t.schema().as_arrow())


def f(i, name, typ, required=False):
    return T.NestedField(i, name, typ, required=required)


def types(w):
    inner = T.StructType(f(30, "a", T.IntegerType()), f(31, "b", T.ListType(32, T.StructType(f(33, "c", T.StringType()), f(34, "d", T.DecimalType(9, 2))), False)))
    cols = [("b", T.BooleanType(), [True, False]), ("i", T.IntegerType(), [0, -1, 2**31 - 1, -(2**31)]), ("l", T.LongType(), [0, 2**63 - 1, -(2**63), 9007199254740993]),
            ("r", T.FloatType(), [0.0, -0.0, 1.5, math.nan, math.inf, -math.inf]), ("d", T.DoubleType(), [0.1, -0.0, math.nan, 1e308, -math.inf, 5e-324]),
            ("n9", T.DecimalType(9, 2), [decimal.Decimal("0.01"), decimal.Decimal("-9999999.99")]), ("n18", T.DecimalType(18, 4), [decimal.Decimal("99999999999999.9999"), decimal.Decimal("-0.0001")]),
            ("n38", T.DecimalType(38, 10), [decimal.Decimal("9999999999999999999999999999.9999999999"), decimal.Decimal("-1.0000000001")]),
            ("dt", T.DateType(), [D(1970, 1, 1), D(1969, 12, 31), D(1, 1, 1), D(9999, 12, 31)]), ("t", T.TimeType(), [dt.time(0), dt.time(23, 59, 59, 999999)]),
            ("ts", T.TimestampType(), [TS(1969, 12, 31, 23, 59, 59, 999999), TS(1, 1, 1), TS(2024, 2, 29, 1, 2, 3)]), ("tz", T.TimestamptzType(), [TS(1883, 1, 1, tzinfo=UTC), TS(2024, 7, 1, 12, tzinfo=UTC)]),
            ("s", T.StringType(), ["", "a", "ä日本", "tab\tnew\nline\\", "x" * 100]), ("u", T.UUIDType(), [uuid.UUID(int=0).bytes, uuid.UUID(int=2**128 - 1).bytes]),
            ("fx", T.FixedType(4), [b"\0\0\0\0", b"\xff\xfe\xfd\xfc"]), ("bin", T.BinaryType(), [b"", b"\0", b"\xff" * 20]),
            ("li", T.ListType(20, T.IntegerType(), False), [[], [1, None, 3], [2]]), ("ls", T.ListType(21, T.StringType(), False), [["a,b", 'q"', "", "NULL", None], []]),
            ("ll", T.ListType(22, T.ListType(23, T.LongType(), False), False), [[[1, 2], [3, 4]], [[5, 6]]]),
            ("m", T.MapType(24, T.StringType(), 25, T.DoubleType(), False), [{"k": 1.5, "z": None}, {}]),
            ("ml", T.MapType(26, T.IntegerType(), 27, T.ListType(28, T.StringType(), False), False), [{1: ["x"], -2: []}]),
            ("st", inner, [{"a": 1, "b": [{"c": "x", "d": decimal.Decimal("1.50")}, None]}, {"a": None, "b": None}, {"a": 2, "b": []}])]
    schema = Schema(*[f(i + 1, n, t) for i, (n, t, _) in enumerate(cols)])
    t = w.create("types", schema)
    for part in (0, 2, 4):
        rows = [{n: None if (k + i) % 7 == 3 else v[k % len(v)] for i, (n, _, v) in enumerate(cols)} for k in range(part, part + 2)]
        t.append(arrow(t, rows))
    t.append(arrow(t, [{n: None for n, _, _ in cols}]))
    w.keep("types", states(t))


def encodings(w):
    schema = Schema(f(1, "i", T.IntegerType()), f(2, "l", T.LongType()), f(3, "d", T.DoubleType()), f(4, "s", T.StringType()), f(5, "ts", T.TimestampType()), f(6, "n", T.DecimalType(12, 3)), f(7, "fx", T.FixedType(3)), f(8, "li", T.ListType(9, T.IntegerType(), False)), f(10, "b", T.BooleanType()))
    t = w.create("encodings", schema)
    sch = pa.schema([("i", pa.int32()), ("l", pa.int64()), ("d", pa.float64()), ("s", pa.string()), ("ts", pa.timestamp("us")), ("n", pa.decimal128(12, 3)), ("fx", pa.binary(3)), ("li", pa.list_(pa.int32())), ("b", pa.bool_())])
    kinds = [dict(compression=c) for c in ("none", "snappy", "gzip", "zstd", "lz4", "brotli")]
    kinds += [dict(data_page_version="2.0", compression=c) for c in ("none", "zstd", "gzip")]
    kinds += [dict(use_dictionary=False), dict(write_statistics=False), dict(write_page_index=True, data_page_size=64, write_batch_size=4), dict(store_decimal_as_integer=True), dict(version="1.0"),
              dict(use_dictionary=False, column_encoding={"i": "DELTA_BINARY_PACKED", "l": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY", "d": "BYTE_STREAM_SPLIT"}),
              dict(use_dictionary=False, column_encoding={"i": "BYTE_STREAM_SPLIT", "l": "BYTE_STREAM_SPLIT", "s": "DELTA_LENGTH_BYTE_ARRAY", "fx": "BYTE_STREAM_SPLIT"}),
              dict(use_dictionary=False, column_encoding={"b": "RLE", "fx": "DELTA_BYTE_ARRAY"}, data_page_version="2.0"),
              dict(use_deprecated_int96_timestamps=True), dict(row_group_size=7)]
    os.makedirs(f"{w.dir}/n/encodings/data", exist_ok=True)
    files, rows = [], []
    for k, kw in enumerate(kinds):
        part = []
        for j in range(20):
            x = k * 20 + j
            part.append({"i": None if j % 6 == 5 else (x * 37) % 101 - 50, "l": x * 10**15 if j % 2 else -x, "d": math.nan if j == 3 else x / 7, "s": None if j == 9 else "s" + "x" * (j % 5) + str(x),
                         "ts": TS(1965, 1, 1) + dt.timedelta(days=x * 50, microseconds=x), "n": None if j == 1 else decimal.Decimal(x * 1001 - 5000).scaleb(-3), "fx": bytes([k, j, 255]), "li": None if j == 2 else list(range(j % 4)), "b": j % 3 == 0})
        p = f"{w.dir}/n/encodings/data/{k:02d}.parquet"
        pq.write_table(pa.Table.from_pylist(part, schema=sch), p, **kw)
        rows += part
        files.append(p)
    ok = []
    for p in files:
        try:
            t.add_files([p])
            ok.append(p)
        except Exception as e:
            print("encodings:", p[-10:], type(e).__name__, str(e)[:200])
            if "ns" in str(e):  # INT96: PyIceberg takes it for nanoseconds; the file goes in by hand
                k = files.index(p)
                rows[k * 20:(k + 1) * 20] = [None] * 20
    w.keep("encodings", [("current", t.schema(), [r for r in rows if r is not None])])


def evolution(w):
    schema = Schema(f(1, "id", T.IntegerType()), f(2, "st", T.StructType(f(3, "a", T.IntegerType()), f(4, "b", T.StringType()))), f(5, "li", T.ListType(6, T.StructType(f(7, "x", T.FloatType()), f(8, "y", T.StringType())), False)), f(9, "m", T.MapType(10, T.StringType(), 11, T.StructType(f(12, "p", T.IntegerType())), False)), f(13, "gone", T.StringType()), f(14, "n", T.DecimalType(5, 2)), f(15, "r", T.FloatType()))
    t = w.create("evolution", schema)
    t.append(arrow(t, [{"id": 1, "st": {"a": 1, "b": "one"}, "li": [{"x": 1.5, "y": "y1"}, None], "m": {"k": {"p": 7}}, "gone": "old", "n": decimal.Decimal("1.25"), "r": 0.1}, {"id": None, "st": None, "li": None, "m": None, "gone": None, "n": None, "r": math.nan}]))
    with t.update_schema() as u:
        u.update_column("id", T.LongType()).update_column("n", T.DecimalType(10, 2)).update_column("r", T.DoubleType())
        u.update_column(("st", "a"), T.LongType()).rename_column("st.b", "bb").add_column(("st", "c"), T.DateType()).move_first(("st", "c"))
        u.update_column(("li", "element", "x"), T.DoubleType()).rename_column(("li.element.y"), "yy")
        u.add_column(("m", "value", "q"), T.StringType()).delete_column("gone").rename_column("r", "rr").move_first("n")
    t.append(arrow(t, [{"n": decimal.Decimal("99999999.99"), "id": 2**40, "st": {"c": D(2020, 1, 1), "a": 2**33, "bb": "two"}, "li": [{"x": 1e300, "yy": "z"}], "m": {"k": {"p": 8, "q": "Q"}}, "rr": 0.1}]))
    with t.update_schema() as u:  # the name comes back as another column; a field is dropped from within
        u.add_column("gone", T.StringType()).delete_column("st.a").delete_column("m.value.p")
    t.append(arrow(t, [{"n": None, "id": 3, "st": {"c": None, "bb": "three"}, "li": [], "m": {"z": {"q": None}}, "rr": math.inf, "gone": "new"}]))
    w.keep("evolution", states(t))


def partitions(w):
    schema = Schema(f(1, "i", T.IntegerType()), f(2, "s", T.StringType()), f(3, "d", T.DateType()), f(4, "ts", T.TimestampType()), f(5, "tz", T.TimestamptzType()), f(6, "n", T.DecimalType(9, 2)), f(7, "b", T.BinaryType()), f(8, "l", T.LongType()))
    t = w.create("partitions", schema)
    vals = [{"i": k % 5 - 2, "s": ["", "abc", "abd", "ä日本語", None][k % 5], "d": D(1969, 12, 1) + dt.timedelta(days=k * 13), "ts": TS(1969, 12, 31, 22) + dt.timedelta(minutes=k * 31), "tz": TS(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC) + dt.timedelta(days=k * 40), "n": decimal.Decimal(k * 7 - 20) / 10, "b": bytes([k % 3, k]), "l": None if k == 4 else -k * 10**12} for k in range(9)]
    fields = [("i", IdentityTransform()), ("s", TruncateTransform(2)), ("d", YearTransform()), ("ts", HourTransform()), ("tz", DayTransform()), ("n", BucketTransform(4)), ("b", BucketTransform(3)), ("l", TruncateTransform(10**6)), ("d", MonthTransform()), ("s", BucketTransform(5)), ("tz", MonthTransform()), ("n", IdentityTransform()), ("b", TruncateTransform(1))]
    last = None
    for k, (c, tr) in enumerate(fields):
        with t.update_spec() as u:
            if last and k % 3 != 1:
                u.remove_field(last)
            last = f"p{k}"
            u.add_field(c, tr, last)
        try:
            t.append(arrow(t, vals[k % 4:k % 4 + 5]))
        except Exception as e:
            print("partitions:", c, tr, type(e).__name__, str(e)[:100])
            with t.update_spec() as u:
                u.remove_field(last)
            last = None
    w.keep("partitions", [("current", t.schema(), read(t))])


def old_forms(w):
    """Version 1; without manifest lists; gzipped metadata; no snapshot; nothing left."""
    schema = Schema(f(1, "i", T.IntegerType()), f(2, "s", T.StringType()))
    t = w.create("v1", schema, properties={"format-version": "1"}, partition_spec=PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "i")))
    for k in range(3):
        t.append(arrow(t, [{"i": k, "s": f"a{k}"}, {"i": None, "s": None}]))
    w.keep("v1", states(t))
    name = "v1_no_lists"
    shutil.copytree(f"{w.dir}/n/v1", f"{w.dir}/n/{name}")
    meta = json.load(open(t.metadata_location[7:]))
    for s in meta["snapshots"]:
        s["manifests"] = [m.manifest_path for m in read_manifest_list(t.io.new_input(s.pop("manifest-list")))]
    shutil.rmtree(f"{w.dir}/n/{name}/metadata")
    shutil.copytree(f"{w.dir}/n/v1/metadata", f"{w.dir}/n/{name}/metadata", ignore=lambda d, fs: [x for x in fs if x.endswith(".json") or x.startswith("snap-")])
    json.dump(meta, open(f"{w.dir}/n/{name}/metadata/00009-{uuid.uuid4()}.metadata.json", "w"))
    w.keep(name, states(t))
    t = w.create("gzipped", schema)
    t.append(arrow(t, [{"i": 1, "s": "x"}]))
    p = t.metadata_location[7:]
    with gzip.open(p.replace(".metadata.json", ".gz.metadata.json"), "wb") as g:
        g.write(open(p, "rb").read())
    for x in os.listdir(os.path.dirname(p)):
        if x.endswith(".metadata.json") and ".gz." not in x:
            os.remove(os.path.join(os.path.dirname(p), x))
    w.keep("gzipped", states(t))
    t = w.create("no_snapshot", schema)
    w.keep("no_snapshot", [("current", schema, [])])
    t = w.create("emptied", schema)
    t.append(arrow(t, [{"i": 1, "s": "x"}]))
    t.delete()
    w.keep("emptied", states(t))


class Deletes(ManifestWriterV2):
    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return {**super()._meta, "content": "deletes"}


def commit_deletes(t, groups, edit=None):
    """Adds a snapshot by hand: delete files ((content, path, partition, ids, rows), …), or edits of data manifests."""
    meta = json.load(open(t.metadata_location[7:]))
    cur = [s for s in meta["snapshots"] if s["snapshot-id"] == meta["current-snapshot-id"]][0]
    manifests = list(read_manifest_list(t.io.new_input(cur["manifest-list"])))
    sid, seq = cur["snapshot-id"] + 1, meta["last-sequence-number"] + 1
    loc = t.location()
    if edit:
        manifests = edit(manifests, sid, seq)
    for content, path, part, ids, n in groups:
        p = f"{loc}/metadata/{uuid.uuid4()}-m0.avro"
        spec = t.spec()
        with Deletes(spec, t.schema(), t.io.new_output(p), sid, "deflate") as m:
            df = DataFile.from_args(content=content, file_path=path, file_format=FileFormat.PARQUET, partition=Record(*part), record_count=n, file_size_in_bytes=os.path.getsize(path[7:]), equality_ids=ids, sort_order_id=None, spec_id=spec.spec_id)
            m.add(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=sid, sequence_number=None, file_sequence_number=None, data_file=df))
        manifests.append(m.to_manifest_file())
    ml = f"{loc}/metadata/snap-{sid}.avro"
    with write_manifest_list(2, t.io.new_output(ml), sid, cur["snapshot-id"], seq, "deflate") as lw:
        lw.add_manifests(manifests)
    meta["snapshots"].append({"snapshot-id": sid, "parent-snapshot-id": cur["snapshot-id"], "sequence-number": seq, "timestamp-ms": meta["last-updated-ms"] + 1, "manifest-list": ml, "summary": {"operation": "delete"}, "schema-id": meta["current-schema-id"]})
    meta |= {"current-snapshot-id": sid, "last-sequence-number": seq, "last-updated-ms": meta["last-updated-ms"] + 1}
    meta["refs"]["main"]["snapshot-id"] = sid
    meta["snapshot-log"].append({"snapshot-id": sid, "timestamp-ms": meta["last-updated-ms"]})
    n = int(os.path.basename(t.metadata_location).split("-")[0]) + 1
    p = f"{loc}/metadata/{n:05d}-{uuid.uuid4()}.metadata.json"
    json.dump(meta, open(p[7:], "w"))
    from pyiceberg.table import StaticTable

    out = StaticTable.from_metadata(p)
    return out


def delete_file(t, name, columns):
    """A delete file of columns {name: (id, arrow type, values)}."""
    p = f"{t.location()}/data/{name}.parquet"
    fields = [pa.field(n, a, metadata={"PARQUET:field_id": str(i)}) for n, (i, a, _) in columns.items()]
    pq.write_table(pa.table([pa.array(v, a) for _, a, v in columns.values()], schema=pa.schema(fields)), p[7:])
    return p


def deletes(w):
    schema = Schema(f(1, "id", T.IntegerType()), f(2, "s", T.StringType()), f(3, "p", T.IntegerType()), f(4, "st", T.StructType(f(6, "a", T.IntegerType()))), f(5, "r", T.DoubleType()))
    rows = [{"id": k, "s": None if k % 4 == 3 else "abc"[k % 4], "p": k % 2, "st": None if k == 5 else {"a": k % 3}, "r": [0.0, -0.0, math.nan, 1.5][k % 4]} for k in range(12)]
    for name, spec in (("deletes", PartitionSpec()), ("deletes_partitioned", PartitionSpec(PartitionField(3, 1000, IdentityTransform(), "p")))):
        t = w.create(name, schema, partition_spec=spec)
        t.append(arrow(t, rows[:6]))
        t.append(arrow(t, rows[6:]))
        left = list(rows)
        out = [("", None, None)][:0]
        parts = [()] if not spec.fields else [(0,), (1,)]
        inside = lambda r, part: not part or r["p"] == part[0]

        def step(t, groups, gone):
            nonlocal left
            t = commit_deletes(t, groups)
            left = [r for r in left if not gone(r)]
            out.append((t.metadata.current_snapshot_id, schema, left))
            return t

        # Positions: by file and row of what PyIceberg wrote.
        files = sorted({x.file.file_path for x in t.scan().plan_files()})
        first = {fp: pq.read_table(fp[7:], columns=["id"])["id"].to_pylist() for fp in files}
        pos = [(fp, 1) for fp in files[:1]] + [(fp, 0) for fp in files[1:]]
        groups = []
        for part in parts:
            mine = [x for x in pos if not part or (first[x[0]][0] % 2) == part[0]]
            if mine:
                groups.append((DataFileContent.POSITION_DELETES, delete_file(t, f"pos{part}", {"file_path": (2147483546, pa.string(), [a for a, _ in mine]), "pos": (2147483545, pa.int64(), [b for _, b in mine])}), part, None, len(mine)))
        lost = {first[a][b] for a, b in pos}
        t = step(t, groups, lambda r: r["id"] in lost)
        # Equality: a NULL key; two fields; a nested field; NaN and -0.
        part = parts[-1]
        t = step(t, [(DataFileContent.EQUALITY_DELETES, delete_file(t, "eq1", {"s": (2, pa.string(), [None, "zz"])}), part, [2], 2)], lambda r: inside(r, part) and r["s"] is None)
        t = step(t, [(DataFileContent.EQUALITY_DELETES, delete_file(t, "eq2", {"s": (2, pa.string(), ["a", "b"]), "id": (1, pa.int32(), [4, 9])}), part, [2, 1], 2)], lambda r: inside(r, part) and (r["s"], r["id"]) in (("a", 4), ("b", 9)))
        p = f"{t.location()}/data/eq3.parquet"
        st = pa.struct([pa.field("a", pa.int32(), metadata={"PARQUET:field_id": "6"})])
        pq.write_table(pa.table([pa.array([{"a": 1}], st)], schema=pa.schema([pa.field("st", st, metadata={"PARQUET:field_id": "4"})])), p[7:])
        t = step(t, [(DataFileContent.EQUALITY_DELETES, p, part, [6], 1)], lambda r: inside(r, part) and r["st"] is not None and r["st"]["a"] == 1)
        part = parts[0]
        t = step(t, [(DataFileContent.EQUALITY_DELETES, delete_file(t, "eq4", {"r": (5, pa.float64(), [math.nan])}), part, [5], 1)], lambda r: inside(r, part) and math.isnan(r["r"]))
        w.keep(name, out + [("current", schema, left)])


def bounds(w):
    """Statistics that are missing, cut short, or the wrong way round."""
    schema = Schema(f(1, "i", T.IntegerType()), f(2, "s", T.StringType()), f(3, "d", T.DoubleType()))
    rows = [{"i": k, "s": "x" * 30 + str(k), "d": math.nan if k == 2 else float(k)} for k in range(6)]
    for name in ("bounds_missing", "bounds_inverted", "bounds_nan"):
        t = w.create(name, schema)
        t.append(arrow(t, rows[:3]))
        t.append(arrow(t, rows[3:]))

        def edit(manifests, sid, seq):
            out = []
            for m in manifests:
                p = f"{t.location()}/metadata/{uuid.uuid4()}-m0.avro"
                with ManifestWriterV2(t.spec(), schema, t.io.new_output(p), sid, "deflate") as mw:
                    for e in m.fetch_manifest_entry(t.io):
                        df = e.data_file
                        lo, hi = dict(df.lower_bounds or {}), dict(df.upper_bounds or {})
                        kw = {x: getattr(df, x) for x in ("content", "file_path", "file_format", "partition", "record_count", "file_size_in_bytes", "column_sizes", "value_counts", "null_value_counts", "nan_value_counts", "split_offsets", "sort_order_id")}
                        if name == "bounds_inverted":
                            lo, hi = hi, lo
                        elif name == "bounds_missing":
                            lo, hi = {1: lo[1]}, {2: hi[2]}
                            for x in ("value_counts", "null_value_counts", "nan_value_counts", "column_sizes"):
                                kw[x] = None
                        else:
                            import struct
                            lo[3] = hi[3] = struct.pack("<d", math.nan)
                        df = DataFile.from_args(**kw, lower_bounds=lo, upper_bounds=hi, spec_id=0)
                        mw.add(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=sid, sequence_number=None, file_sequence_number=None, data_file=df))
                out.append(mw.to_manifest_file())
            return out

        commit_deletes(t, [], edit)
        w.keep(name, [("current", schema, rows)])


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    for make in (types, encodings, evolution, partitions, old_forms, deletes, bounds):
        if len(sys.argv) < 2 or sys.argv[1] in make.__name__:
            try:
                make(World())
            except Exception:
                import traceback
                traceback.print_exc(limit=-4)
