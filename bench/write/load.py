#!/usr/bin/env python3
"""Makes what the write benchmark reads: a lakehouse of four tables of namespace src.

usage: load.py RAW_DIR WAREHOUSE [ROWS]

	lineitem   the first ROWS (10,000,000) rows of TPC-H's, as dbgen makes them
	up1, up10  upserts of 1 % and 10 % of the rows: nine in ten change a row that is there, spread
	           over the whole table, one in ten is new
	dead       keys of 1 % of the orders, to be deleted
The values are computed by DuckDB and written by PyIceberg, so that none of the engines that
are compared reads its own files.
"""
import glob
import os
import subprocess
import sys

import duckdb
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

CHANGED = """SELECT l_orderkey, l_partkey, l_suppkey, l_linenumber, (l_quantity + 1)::decimal(15,2) AS l_quantity, l_extendedprice,
    l_discount, l_tax, 'C' AS l_returnflag, l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode,
    'changed ' || l_comment AS l_comment FROM lineitem WHERE hash(l_orderkey * 8 + l_linenumber) % 1000 < {changed}"""
NEW = """SELECT l_orderkey + 1000000000, l_partkey, l_suppkey, l_linenumber, l_quantity, l_extendedprice, l_discount, l_tax, 'N',
    l_linestatus, l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode, l_comment
    FROM lineitem WHERE hash(l_orderkey * 8 + l_linenumber) % 1000 BETWEEN 500 AND 499 + {new}"""
TABLES = {
    "lineitem": "SELECT * FROM lineitem",
    "up1": CHANGED.format(changed=9) + " UNION ALL " + NEW.format(new=1),
    "up10": CHANGED.format(changed=90) + " UNION ALL " + NEW.format(new=10),
    "dead": "SELECT DISTINCT l_orderkey AS k FROM lineitem WHERE hash(l_orderkey) % 100 = 7",
}


def plain(schema):
    return pa.schema([pa.field(f.name, pa.string() if "string" in str(f.type) else f.type) for f in schema])


def main():
    raw, warehouse = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    rows = int(sys.argv[3]) if len(sys.argv) > 3 else 10_000_000
    os.makedirs(raw, exist_ok=True)
    if not glob.glob(os.path.join(raw, "lineitem*.parquet")):
        tool = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
        scale = str(round(rows / 5_990_000, 4) + 0.001)
        subprocess.check_call([tool, "parquet", "-s", scale, "--tables", "lineitem", "--output-dir", raw])
    con = duckdb.connect()
    con.execute(f"SET preserve_insertion_order = true; CREATE VIEW lineitem AS SELECT * FROM read_parquet('{raw}/lineitem*.parquet') LIMIT {rows}")
    os.makedirs(warehouse, exist_ok=True)
    catalog = SqlCatalog("lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace_if_not_exists("src")
    for name, query in TABLES.items():
        if catalog.table_exists(f"src.{name}"):
            catalog.drop_table(f"src.{name}")
        data = con.execute(query).to_arrow_table()
        data = data.cast(plain(data.schema))
        catalog.create_table(f"src.{name}", schema=data.schema).append(data)
        print(name, data.num_rows, flush=True)


main()
