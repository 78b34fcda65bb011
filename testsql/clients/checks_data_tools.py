"""Section F: tools that load and fetch tables whole, and frameworks that make their own."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap

from harness import both, check, equal, true

MADE = "create table tool_rows (a int, b text, d date, ts timestamp, tz timestamptz, ok boolean, f float8)"
FILLED = """insert into tool_rows values (1, 'x', '2024-02-29', '2024-02-29 01:02:03', '2024-02-29 01:02:03+00', true, 1.5),
    (2, null, null, null, null, null, null), (3, '', '0001-01-01', '1999-12-31 23:59:59.999999', '1970-01-01 00:00:00+00', false, -0.0)"""
ROWS = "select a, b, ts, tz, ok, f from tool_rows order by a"


def uri(s, driver=""):
    return "postgresql%s://%s@%s:%d/%s" % (driver, s.user, s.host, s.port, s.database)


def with_rows(run):
    """run(server) on both, with the rows there to be read."""
    def f(s):
        rc, _, err = s.psql("-q", "-c", "drop table if exists tool_rows", "-c", MADE, "-c", FILLED)
        true(rc == 0, err)
        try:
            return run(s)
        finally:
            s.psql("-q", "-c", "drop table if exists tool_rows", "-c", "drop table if exists tool_made")
    return f


@check(71, "F", "ADBC", "fetch; ingest: create, append, replace; schemas and objects")
def adbc(ctx):
    import adbc_driver_postgresql.dbapi as dbapi
    import pyarrow as pa

    def run(s):
        out = []
        part = pa.table({"i": [1, 2, 3], "s": ["a", None, "c"], "f": [1.5, 2.5, None]})
        with dbapi.connect(uri(s)) as c, c.cursor() as k:
            k.execute(ROWS)
            out.append(k.fetch_arrow_table().to_pylist())
            for mode in ("create", "append", "create_append", "replace", "append"):
                k.adbc_ingest("tool_made", part, mode=mode)
                c.commit()
                k.execute("select i, s, f from tool_made order by i, s, f")
                out.append(k.fetchall())
            out.append(str(c.adbc_get_table_schema("tool_made")))
            found = c.adbc_get_objects(depth="columns", table_name_filter="tool_made").read_all().to_pylist()
            out.append([(t["table_name"], [x["column_name"] for x in t["table_columns"]])
                        for g in found for d in g["catalog_db_schemas"] or [] for t in d["db_schema_tables"] or []])
        return out
    both(ctx, with_rows(run))


@check(72, "F", "connectorx polars", "every protocol, in partitions; read_database_uri; write_database")
def connectorx_polars(ctx):
    import connectorx
    import polars

    def run(s):
        out = [connectorx.read_sql(uri(s), ROWS, protocol=p, return_type="arrow").to_pylist() for p in ("binary", "csv", "cursor")]
        out.append(connectorx.read_sql(uri(s), "select a from tool_rows", partition_on="a", partition_num=2, return_type="arrow").num_rows)
        out.append(polars.read_database_uri(ROWS, uri(s)).rows())
        out.append(polars.read_database_uri(ROWS, uri(s), engine="adbc").rows())
        frame = polars.DataFrame({"a": [1, 2], "b": ["x", None]})
        for engine, to in (("adbc", uri(s)), ("sqlalchemy", uri(s, "+psycopg2"))):
            for mode in ("replace", "append"):
                frame.write_database("tool_made", to, engine=engine, if_table_exists=mode)
            out.append(polars.read_database_uri("select a, b from tool_made order by a", uri(s)).rows())
        return out
    both(ctx, with_rows(run))


@check(73, "F", "pandas", "to_sql with its defaults: create, append, replace; read_sql, read_sql_table")
def pandas_frames(ctx):
    import pandas
    import sqlalchemy

    def run(s):
        engine = sqlalchemy.create_engine(uri(s, "+psycopg2"))
        frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", None, "z"], "t": pandas.to_datetime(["2024-01-01 00:00:00", "2024-01-02 03:04:05", None])})
        out = []
        try:
            for mode, method in (("fail", None), ("append", "multi"), ("replace", None)):
                frame.to_sql("tool_made", engine, if_exists=mode, method=method)
                out.append(pandas.read_sql_table("tool_made", engine).sort_values("index").to_csv())
            out.append(pandas.read_sql("select sum(a) as s from tool_made", engine, params=None).to_csv())
        finally:
            engine.dispose()
        return out
    both(ctx, with_rows(run))


@check(74, "F", "pgbench", "-i: its tables, filled, vacuumed, with primary keys")
def pgbench_initialize(ctx):
    def run(s):
        p = subprocess.run(["pgbench", "-i", "-q"], env=s.env(), capture_output=True, text=True, timeout=120)
        true(p.returncode == 0, p.stderr)
        out = s.psql("-Atc", "select count(*), sum(bid), min(aid), max(aid), sum(abalance) from pgbench_accounts",
                     "-c", "select conrelid::regclass, conname, contype from pg_constraint where conname like 'pgbench%' order by 2")
        s.psql("-qc", "drop table pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers")
        return out[:2]
    both(ctx, run)


MODELS = """
from django.db import models


class Customer(models.Model):
    name = models.CharField(max_length=50, unique=True)
    joined = models.DateTimeField(auto_now_add=True)


class Order(models.Model):
    customer = models.ForeignKey(Customer, on_delete=models.CASCADE)
    amount = models.DecimalField(max_digits=10, decimal_places=2)
    tags = models.JSONField(default=dict)
"""
USE = """
from django.db.models import Sum
from shop.models import Customer, Order
c = Customer.objects.create(name="Ann")
Order.objects.create(customer=c, amount="12.50", tags={"a": 1})
Order.objects.create(customer=c, amount="2.50")
Order.objects.filter(tags__a=1).update(note="x")
print(Order.objects.aggregate(Sum("amount")), list(Order.objects.values_list("note", flat=True).order_by("note")))
print(Customer.objects.get_or_create(name="Ann")[1], Customer.objects.filter(order__amount__gt=10).count())
c.delete()
print(Order.objects.count())
"""


@check(75, "F", "Django", "migrations that make, alter and undo; models with keys, JSON and cascades")
def django_project(ctx):
    def run(s):
        folder = tempfile.mkdtemp()
        try:
            return django_in(folder, s)
        finally:
            shutil.rmtree(folder)
    both(ctx, run)


def django_in(folder, s):
    app = os.path.join(folder, "shop")
    os.makedirs(os.path.join(app, "migrations"))
    for f in ("__init__.py", "migrations/__init__.py"):
        open(os.path.join(app, f), "w").close()
    with open(os.path.join(folder, "settings.py"), "w") as f:
        f.write(textwrap.dedent("""
            SECRET_KEY = "none"
            INSTALLED_APPS = ["django.contrib.contenttypes", "django.contrib.auth", "shop"]
            DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
            USE_TZ = True
            DATABASES = {"default": {"ENGINE": "django.db.backends.postgresql", "HOST": %r, "PORT": %d, "USER": %r, "NAME": %r}}
            """ % (s.host, s.port, s.user, s.database)))

    def manage(*args):
        p = subprocess.run([sys.executable, "-m", "django", *args], cwd=folder, capture_output=True, text=True, timeout=120,
                           env=s.env(DJANGO_SETTINGS_MODULE="settings", PYTHONPATH=folder))
        true(p.returncode == 0, p.stderr[-900:])
        return p.stdout
    models = os.path.join(app, "models.py")
    with open(models, "w") as f:
        f.write(MODELS)
    manage("makemigrations", "shop", "-n", "first")
    manage("migrate")
    with open(models, "a") as f:
        f.write('    note = models.TextField(default="none")\n')
    manage("makemigrations", "shop", "-n", "second")
    manage("migrate")
    out = [manage("shell", "--no-imports", "-c", USE), manage("inspectdb", "shop_order")]
    manage("migrate", "shop", "zero")
    manage("migrate", "auth", "zero")
    manage("migrate", "contenttypes", "zero")
    rest = s.psql("-Atc", "select relname from pg_class where relkind = 'r' and (relname like 'shop%' or relname like 'auth%')")
    equal(rest[1], "", "tables that are left")
    s.psql("-qc", "drop table django_migrations")
    return out
