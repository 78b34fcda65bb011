#!/usr/bin/env python3
"""Makes a TPC-H lakehouse with PyIceberg: tables of namespace tpch in a warehouse folder.

usage: load.py SCALE RAW_DIR WAREHOUSE

RAW_DIR receives dbgen's tables as Parquet (tpchgen-cli, the same bytes as the reference
dbgen); WAREHOUSE an Iceberg catalog in PyIceberg's SQLite layout, with lineitem and orders
partitioned by the month of their dates.
"""
import glob
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.transforms import MonthTransform

TABLES = ["region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem"]
MONTHS = {"orders": "o_orderdate", "lineitem": "l_shipdate"}


def plain(schema):
    """Views and 32-bit offsets confuse some readers: plain strings."""
    return pa.schema([pa.field(f.name, pa.string() if pa.types.is_string(f.type) or str(f.type) == "string_view"
                               or pa.types.is_large_string(f.type) else f.type, f.nullable) for f in schema])


def main():
    scale, raw, warehouse = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    os.makedirs(raw, exist_ok=True)
    if not glob.glob(os.path.join(raw, "lineitem*.parquet")):
        tool = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
        subprocess.check_call([tool, "parquet", "-s", scale, "--output-dir", raw])
    os.makedirs(warehouse, exist_ok=True)
    catalog = SqlCatalog("lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace_if_not_exists("tpch")
    for name in TABLES:
        if catalog.table_exists(f"tpch.{name}"):
            if catalog.load_table(f"tpch.{name}").current_snapshot():
                continue
            catalog.drop_table(f"tpch.{name}")  # an earlier run was cut off
        files = sorted(glob.glob(os.path.join(raw, f"{name}.parquet"))) + sorted(glob.glob(os.path.join(raw, name, "*.parquet")))
        data = pa.concat_tables([pq.read_table(f) for f in files])
        data = data.cast(plain(data.schema))
        table = catalog.create_table(f"tpch.{name}", schema=data.schema)
        if name in MONTHS:
            with table.update_spec() as spec:
                spec.add_field(MONTHS[name], MonthTransform(), MONTHS[name] + "_month")
        table.append(data)
        print(name, data.num_rows, flush=True)


main()
