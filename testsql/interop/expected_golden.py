"""Writes what other engines read from the golden tables: golden/<table>.txt.

    python expected_golden.py FOLDER [WORD]        (duckdb 1.4.4 with duckdb-ext-iceberg and duckdb-ext-avro, pyiceberg 0.12)

DuckDB reads every state of every table; PyIceberg reads the states that it can (it has no
equality deletes), and the two must agree.
"""
import glob
import gzip
import importlib.metadata
import json
import os
import sys
import tempfile

import duckdb
import pyiceberg.types as T
from pyiceberg.table import StaticTable

import canon


def connect():
    c = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    for pkg in ("duckdb-ext-avro", "duckdb-ext-iceberg"):
        for f in importlib.metadata.files(pkg):
            if f.name.endswith(".duckdb_extension"):
                c.execute(f"LOAD '{f.locate()}'")
    # With fewer threads than files, DuckDB 1.4.4 loses rows beside equality deletes.
    for s in ("SET TimeZone='UTC'", "SET threads=8", "SET preserve_insertion_order=false"):
        c.execute(s)
    return c


def newest(folder):
    """The newest metadata file: the largest version number in the name."""
    def version(p):
        n = os.path.basename(p).lstrip("v").split("-")[0]
        return [int(x) for x in n.split(".") if x.isdigit()], p

    return max(glob.glob(folder + "/metadata/*.metadata.json"), key=version)


def duck(meta, snapshot, schema):
    c = connect()  # its own: an internal error of DuckDB ends the database
    rel = c.execute(f"SELECT * FROM iceberg_scan('{meta}', snapshot_from_id := {snapshot}::UBIGINT)")
    cols = [d[0] for d in rel.description]
    rows = [dict(zip(cols, r)) for r in rel.fetchall()]
    return [{f.name: r.get(f.name) for f in schema.fields} for r in rows], cols


def main():
    src = os.path.abspath(sys.argv[1])
    out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
    os.makedirs(out, exist_ok=True)
    # The tables were moved: their paths are relative to a folder in which data/persistent is src.
    cwd = tempfile.mkdtemp()
    os.mkdir(cwd + "/data")
    os.symlink(src, cwd + "/data/persistent")
    for t in glob.glob(src + "/iceberg/*"):
        os.symlink(t, cwd + "/" + os.path.basename(t))
    os.chdir(cwd)
    for m in sorted(glob.glob(src + "/**/metadata", recursive=True)):
        folder = os.path.dirname(m)
        rel = os.path.relpath(folder, src)
        if not all(w in rel for w in sys.argv[2:]):
            continue
        meta = newest(folder)
        raw = open(meta, "rb").read()
        doc = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        lines = ["# Written by expected_golden.py: what DuckDB and PyIceberg read.", f"table\t{rel}"]
        if raw[:2] == b"\x1f\x8b":
            plain = os.path.join(cwd, "plain.metadata.json")
            open(plain, "wb").write(gzip.decompress(raw))
            table = StaticTable.from_metadata(plain)
        else:
            table = StaticTable.from_metadata(meta)
        states = [(str(s["snapshot-id"]), s["snapshot-id"]) for s in doc.get("snapshots", [])]
        big = int(table.current_snapshot().summary["total-records"]) > 10000
        for name, sid in (states if big else states + [("current", doc["current-snapshot-id"])]):
            scan = table.scan(snapshot_id=sid)
            schema = table.schema() if name == "current" else scan.projection()
            iceberg = by_duck = None
            try:
                if big:
                    raise NotImplementedError("DuckDB is enough for large tables")
                if name == "current":
                    scan = table.scan()
                iceberg = rows_of(scan.to_arrow(), schema)
            except Exception as e:
                print(f"{rel} {name}: PyIceberg: {type(e).__name__} {str(e)[:150]}")
            try:
                by_duck, cols = duck(meta, sid, schema)
                if set(cols) != {f.name for f in schema.fields}:
                    print(f"{rel} {name}: DuckDB has columns {cols}")
                    if iceberg is not None:
                        by_duck = None
            except Exception as e:
                print(f"{rel} {name}: DuckDB: {str(e)[:200]}")
            if iceberg is not None and by_duck is not None and not big:
                a, b = (sorted(row_lines(r, schema)) for r in (iceberg, by_duck))
                if a != b:
                    print(f"{rel} {name}: PyIceberg and DuckDB differ:", [x for x in zip(a, b) if x[0] != x[1]][:2], len(a), len(b))
            who = "+".join(n for n, r in (("duckdb", by_duck), ("pyiceberg", iceberg)) if r is not None)
            if not who:  # its files are not there
                lines.append(f"unreadable\t{name}")
                continue
            lines.append(f"by\t{who}")
            lines += canon.sections(name, schema, by_duck if by_duck is not None else iceberg)
        with open(os.path.join(out, rel.replace("/", "__") + ".txt"), "w") as f:
            f.write("\n".join(lines) + "\n")
        print("wrote", rel, len(lines))


def rows_of(arrow, schema):
    return [{f.name: r[f.name] for f in schema.fields} for r in arrow.to_pylist(maps_as_pydicts="strict")]


def row_lines(rows, schema):
    return ["\t".join(canon.field(canon.text(r[f.name], f.field_type)) for f in schema.fields) for r in rows]


main()
