"""lhsql and PyIceberg on the same catalogs: check.py LHSQL REST-PROPERTIES SQL-PROPERTIES S3-URL.

What each wrote, the other reads; expected values are what PyIceberg's own scan gives, or follow
from what was written.
"""

import decimal
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from pyiceberg.catalog import load_catalog

lhsql, s3 = sys.argv[1], sys.argv[4]
failed = 0


def check(what, got, want):
    global failed
    ok = got == want
    failed += not ok
    print(f"{'ok  ' if ok else 'FAIL'}  {what}" + ("" if ok else f": {got!r}, not {want!r}"))


def session(props):
    """A function that runs statements by lhsql on a catalog, and gives the rows of one query."""
    config = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
    json.dump({"catalogs": {"lake": props}}, config)
    config.close()

    def run(sql, fails=False):
        r = subprocess.run([lhsql, "sql", "--config", config.name, "--format", "json", "-c", sql], capture_output=True, text=True)
        if fails:
            return r.stderr
        if r.returncode:
            raise SystemExit(f"{sql}\n{r.stderr}")
        return [tuple(row.values()) for row in json.loads(r.stdout)] if r.stdout.startswith("[") else []

    return run


def suite(name, props):
    props = props | {"s3.endpoint": s3, "s3.access-key-id": os.environ["AWS_ACCESS_KEY_ID"],
                     "s3.secret-access-key": os.environ["AWS_SECRET_ACCESS_KEY"], "s3.region": "us-east-1"}
    run = session(props)
    uri = props["uri"].replace("postgresql://", "postgresql+psycopg2://")
    python = load_catalog("lake", **(props | {"uri": uri, "s3.path-style-access": "true"}))

    run("""CREATE SCHEMA shop;
        CREATE TABLE shop.orders (id bigint NOT NULL, region text, amount numeric(10,2), at timestamptz, tags text[])
          PARTITIONED BY (month(at), region);
        INSERT INTO shop.orders SELECT i, CASE i % 3 WHEN 0 THEN 'EU' WHEN 1 THEN 'US' ELSE 'APAC' END, i * 0.5,
          timestamptz '2026-01-01 00:00Z' + i * interval '1 hour', ARRAY['t' || i % 5] FROM generate_series(1, 3000) i;
        UPDATE shop.orders SET amount = amount + 1 WHERE region = 'EU' AND id < 100;
        DELETE FROM shop.orders WHERE id BETWEEN 200 AND 300;
        MERGE INTO shop.orders t USING (VALUES (1::bigint, 5.5), (99999, 7.5)) s(id, a) ON t.id = s.id
          WHEN MATCHED THEN UPDATE SET amount = s.a
          WHEN NOT MATCHED THEN INSERT (id, amount, region, at) VALUES (s.id, s.a, 'EU', '2026-03-03 00:00Z');
        ALTER TABLE shop.orders ADD COLUMN note text;
        CREATE TABLE shop.europe AS SELECT * FROM shop.orders WHERE region = 'EU';
        CREATE VIEW shop.sums AS SELECT region, sum(amount) AS s FROM shop.orders GROUP BY 1""")

    def agree(what, table="orders"):
        t = python.load_table(f"shop.{table}").scan().to_arrow()
        want = (t.num_rows, str(sum((a.as_py() or decimal.Decimal(0) for a in t["amount"]), decimal.Decimal(0))))
        got = run(f"SELECT count(*) AS n, sum(amount)::text AS s FROM shop.{table}")[0]
        check(f"{name}: {what}", got, want)

    agree("PyIceberg reads what lhsql inserted, updated, deleted and merged")
    agree("CREATE TABLE AS", "europe")
    check(f"{name}: rows", run("SELECT count(*) AS n FROM shop.orders"), [(2900,)])

    t = python.load_table("shop.orders")
    t.append(pa.table({"id": pa.array([-1, -2], pa.int64()), "region": ["EU", "US"], "amount": pa.array([decimal.Decimal("1.25")] * 2, pa.decimal128(10, 2)),
                       "at": pa.array([1_770_000_000_000_000] * 2, pa.timestamp("us", "UTC")),
                       "tags": pa.array([["py"], None], pa.list_(pa.large_string())), "note": ["from Python", None]},
                      schema=pa.schema([pa.field("id", pa.int64(), False), ("region", pa.string()), ("amount", pa.decimal128(10, 2)),
                                        ("at", pa.timestamp("us", "UTC")), ("tags", pa.list_(pa.large_string())), ("note", pa.string())])))
    agree("lhsql reads what PyIceberg appended")
    run("""MERGE INTO shop.orders t USING (VALUES (-1::bigint), (7::bigint)) s(id) ON t.id = s.id WHEN MATCHED THEN DELETE""")
    agree("the next MERGE")
    check(f"{name}: its rows", run("SELECT count(*) AS n FROM shop.orders"), [(2900,)])

    check(f"{name}: the past", run("SELECT count(*) AS n FROM shop.orders FOR SYSTEM_VERSION AS OF " +
                                       str(python.load_table("shop.orders").history()[0].snapshot_id)), [(3000,)])
    run("""BEGIN; INSERT INTO shop.orders (id, amount) VALUES (5000000, 0); DELETE FROM shop.europe WHERE id < 50; COMMIT""")
    agree("two tables in one transaction"), agree("the other of them", "europe")
    run("""ALTER TABLE shop.orders CREATE BRANCH audit; INSERT INTO shop.orders.branch_audit (id, amount) VALUES (6000000, 9)""")
    check(f"{name}: a branch is apart", run("SELECT count(*) AS n FROM shop.orders")[0][0] + 1,
          run("SELECT count(*) AS n FROM shop.orders.branch_audit")[0][0])
    run("CALL system.fast_forward('shop.orders', 'main', 'audit')")
    agree("the branch was published")

    # Eight processes write at once: each row once.
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: run(f"INSERT INTO shop.europe (id, amount) VALUES ({10_000_000 + i}, 1); "
                                    f"UPDATE shop.europe SET amount = amount + 1 WHERE id = {10_000_000 + i}"), range(8)))
    check(f"{name}: eight writers at once", run("SELECT count(*) AS n, sum(amount)::text AS s FROM shop.europe WHERE id >= 10000000"), [(8, "16.00")])
    agree("what they left", "europe")
    run("ALTER TABLE shop.europe RENAME TO eu; DROP TABLE shop.eu PURGE")
    check(f"{name}: tables", [t[-1] for t in python.list_tables("shop")], ["orders"])
    check(f"{name}: the view", len(run("SELECT * FROM shop.sums")), 4)  # three regions, and NULL


suite("REST", json.loads(sys.argv[2]))
suite("PostgreSQL", json.loads(sys.argv[3]))
sys.exit(failed > 0)
