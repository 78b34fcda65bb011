"""The fixture of the client checks: one warehouse made by PyIceberg, and the same in PostgreSQL.

    fixture.py FOLDER [sql]     make the warehouse in FOLDER; with sql: print PostgreSQL's script

Namespaces public and ns1; a table of every type with edge values, a partitioned table with
identifier fields and comments, and thousand-row tables for cursors.
"""

import datetime as dt
import decimal
import os
import sys
import uuid

UTC = dt.timezone.utc
D = decimal.Decimal

# One row per list: the columns of ns1.all_types, as Python values (None: NULL).
COLUMNS = [
    ("id", "long"), ("c_bool", "boolean"), ("c_int", "int"), ("c_long", "long"), ("c_float", "float"),
    ("c_double", "double"), ("c_dec", "decimal(10,2)"), ("c_dec38", "decimal(38,10)"), ("c_date", "date"),
    ("c_time", "time"), ("c_ts", "timestamp"), ("c_tstz", "timestamptz"), ("c_str", "string"),
    ("c_uuid", "uuid"), ("c_fixed", "fixed(4)"), ("c_bin", "binary"), ("c_ints", "list<int>"),
    ("c_strs", "list<string>"), ("c_map", "map<string,int>"), ("c_struct", "struct"),
]

ROWS = [
    [1, True, 42, 9007199254740993, 1.5, 2.718281828459045, D("12345.67"), D("1234567890123456789.0123456789"),
     dt.date(2024, 2, 29), dt.time(12, 34, 56, 789012), dt.datetime(2024, 2, 29, 12, 34, 56, 789012),
     dt.datetime(2024, 2, 29, 12, 34, 56, 789012, UTC), "text", uuid.UUID("00112233-4455-6677-8899-aabbccddeeff"),
     b"\x00\x01\xfe\xff", b"\xde\xad\xbe\xef", [1, 2, None], ["a", 'q"uo\\te', "", "NULL", None, "x,y"],
     [("k", 1)], {"a": 1, "b": "x"}],
    [2, False, -2147483648, -9223372036854775808, float("inf"), float("-inf"), D("-0.01"), D("-0.0000000001"),
     dt.date(1, 1, 1), dt.time(0, 0, 0), dt.datetime(1, 1, 1), dt.datetime(1, 1, 1, tzinfo=UTC), "",
     uuid.UUID("ffffffff-ffff-ffff-ffff-ffffffffffff"), b"abcd", b"", [], [], [], {"a": None, "b": ""}],
    [3, True, 2147483647, 9223372036854775807, float("nan"), float("nan"), D("99999999.99"),
     D("9999999999999999999999999999.9999999999"), dt.date(9999, 12, 31), dt.time(23, 59, 59, 999999),
     dt.datetime(9999, 12, 31, 23, 59, 59, 999999), dt.datetime(9999, 12, 31, 23, 59, 59, 999999, UTC),
     "tab\tnew\nline\\back'quote\"é😀", uuid.UUID(int=0), b"\\\n\t'", b"\x00", [-1], ["é", "{}", " "], [("a", 1), ("b", None)],
     {"a": -1, "b": "é\"\\"}],
    [4] + [None] * 19,
    [5, False, 0, 0, -0.0, 1e-300, D("0.00"), D("0"), dt.date(1969, 12, 31), dt.time(0, 0, 0, 1),
     dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(1969, 12, 31, 23, 59, 59, 500000, UTC), "NULL",
     uuid.UUID(int=1), b"\xff" * 4, b"\\x", [0], ["null"], [("", 0)], {"a": 0, "b": "null"}],
    [6, True, 1, 1, 1.17549435e-38, 1.7976931348623157e308, D("1.10"), D("1.5"), dt.date(2000, 1, 1), dt.time(1, 2, 3, 400000),
     dt.datetime(2000, 1, 1, 1, 2, 3, 400000), dt.datetime(2000, 6, 1, 1, 2, 3, tzinfo=UTC), "\\N",
     uuid.UUID("12345678-1234-5678-1234-567812345678"), b"    ", b"\x00" * 9, [2147483647, -2147483648], ["\\", "\t"], [("\"", 9)],
     {"a": 7, "b": "\n"}],
]

REGIONS = ["eu", "us", "apac"]


def orders():
    base = dt.datetime(2024, 1, 1)
    for i in range(1, 1001):
        yield (i, None if i % 50 == 0 else "customer %d" % (i % 37), D(i * 37 % 100000) / 100,
               base + dt.timedelta(hours=i * 3), REGIONS[i % 3])


def numbers():
    for i in range(1, 1001):
        yield (i, "row %d" % i)


def make(folder):
    import pyarrow as pa
    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.partitioning import PartitionField, PartitionSpec
    from pyiceberg.schema import Schema
    from pyiceberg.transforms import IdentityTransform, MonthTransform
    from pyiceberg import types as t

    os.makedirs(folder, exist_ok=True)
    cat = SqlCatalog("lake", uri="sqlite:///%s/catalog.db" % folder, warehouse="file://" + folder)
    for ns in ("public", "ns1"):
        cat.create_namespace_if_not_exists(ns)

    f = t.NestedField
    fields = [
        f(1, "id", t.LongType(), True, doc="row number"), f(2, "c_bool", t.BooleanType(), False), f(3, "c_int", t.IntegerType(), False),
        f(4, "c_long", t.LongType(), False), f(5, "c_float", t.FloatType(), False), f(6, "c_double", t.DoubleType(), False),
        f(7, "c_dec", t.DecimalType(10, 2), False), f(8, "c_dec38", t.DecimalType(38, 10), False), f(9, "c_date", t.DateType(), False),
        f(10, "c_time", t.TimeType(), False), f(11, "c_ts", t.TimestampType(), False), f(12, "c_tstz", t.TimestamptzType(), False),
        f(13, "c_str", t.StringType(), False), f(14, "c_uuid", t.UUIDType(), False), f(15, "c_fixed", t.FixedType(4), False),
        f(16, "c_bin", t.BinaryType(), False),
        f(17, "c_ints", t.ListType(21, t.IntegerType(), False), False), f(18, "c_strs", t.ListType(22, t.StringType(), False), False),
        f(19, "c_map", t.MapType(23, t.StringType(), 24, t.IntegerType(), False), False),
        f(20, "c_struct", t.StructType(f(25, "a", t.IntegerType(), False), f(26, "b", t.StringType(), False)), False),
    ]
    all_types = cat.create_table("ns1.all_types", Schema(*fields, identifier_field_ids=[1]))
    arrow = pa.schema([
        pa.field("id", pa.int64(), False), ("c_bool", pa.bool_()), ("c_int", pa.int32()), ("c_long", pa.int64()), ("c_float", pa.float32()),
        ("c_double", pa.float64()), ("c_dec", pa.decimal128(10, 2)), ("c_dec38", pa.decimal128(38, 10)), ("c_date", pa.date32()),
        ("c_time", pa.time64("us")), ("c_ts", pa.timestamp("us")), ("c_tstz", pa.timestamp("us", "UTC")), ("c_str", pa.string()),
        ("c_uuid", pa.uuid()), ("c_fixed", pa.binary(4)), ("c_bin", pa.binary()), ("c_ints", pa.list_(pa.int32())),
        ("c_strs", pa.list_(pa.string())), ("c_map", pa.map_(pa.string(), pa.int32())),
        ("c_struct", pa.struct([("a", pa.int32()), ("b", pa.string())])),
    ])
    cols = []
    for i, fld in enumerate(arrow):
        vals = [r[i] for r in ROWS]
        if fld.name == "c_uuid":
            vals = [None if v is None else v.bytes for v in vals]
            cols.append(pa.ExtensionArray.from_storage(pa.uuid(), pa.array(vals, pa.binary(16))))
        else:
            cols.append(pa.array(vals, fld.type))
    all_types.append(pa.Table.from_arrays(cols, schema=arrow))

    o = cat.create_table(
        "ns1.orders",
        Schema(f(1, "order_id", t.IntegerType(), True, doc="the order's number"), f(2, "customer", t.StringType(), False),
               f(3, "amount", t.DecimalType(10, 2), True), f(4, "placed", t.TimestampType(), True), f(5, "region", t.StringType(), True),
               identifier_field_ids=[1]),
        partition_spec=PartitionSpec(PartitionField(4, 1000, MonthTransform(), "placed_month"), PartitionField(5, 1001, IdentityTransform(), "region")),
        properties={"comment": "orders of all regions"})
    rows = list(orders())
    o.append(pa.table({k: [r[i] for r in rows] for i, k in enumerate(["order_id", "customer", "amount", "placed", "region"])},
                      schema=pa.schema([pa.field("order_id", pa.int32(), False), ("customer", pa.string()), pa.field("amount", pa.decimal128(10, 2), False),
                                        pa.field("placed", pa.timestamp("us"), False), pa.field("region", pa.string(), False)])))
    n = cat.create_table("public.numbers", Schema(f(1, "n", t.IntegerType(), False), f(2, "label", t.StringType(), False)))
    rows = list(numbers())
    n.append(pa.table({"n": pa.array([r[0] for r in rows], pa.int32()), "label": [r[1] for r in rows]}))


PG_TYPES = {"boolean": "boolean", "int": "integer", "long": "bigint", "float": "real", "double": "double precision",
            "decimal(10,2)": "numeric(10,2)", "decimal(38,10)": "numeric(38,10)", "date": "date", "time": "time without time zone",
            "timestamp": "timestamp without time zone", "timestamptz": "timestamp with time zone", "string": "text", "uuid": "uuid",
            "fixed(4)": "bytea", "binary": "bytea", "list<int>": "integer[]", "list<string>": "text[]", "map<string,int>": "jsonb",
            "struct": "jsonb"}


def literal(v, typ):
    import json
    if v is None:
        return "NULL"
    pg = PG_TYPES[typ]
    if pg == "bytea":
        s = "\\x" + v.hex()
    elif pg.endswith("[]"):
        s = "{" + ",".join("NULL" if x is None else '"%s"' % str(x).replace("\\", "\\\\").replace('"', '\\"') for x in v) + "}"
    elif pg == "jsonb":
        s = json.dumps(dict(v), ensure_ascii=False)
    elif isinstance(v, float):
        s = repr(v)
    elif isinstance(v, bool):
        s = "t" if v else "f"
    elif isinstance(v, dt.datetime):
        s = v.isoformat(sep=" ")
    elif isinstance(v, decimal.Decimal):
        s = format(v, "f")
    else:
        s = str(v)
    return "'%s'::%s" % (s.replace("'", "''"), pg)


def sql():
    out = ["SET standard_conforming_strings = on;", "CREATE SCHEMA ns1;"]
    out.append("CREATE TABLE ns1.all_types (%s, PRIMARY KEY (id));" % ", ".join("%s %s" % (n, PG_TYPES[t]) for n, t in COLUMNS))
    for r in ROWS:
        out.append("INSERT INTO ns1.all_types VALUES (%s);" % ", ".join(literal(v, COLUMNS[i][1]) for i, v in enumerate(r)))
    out.append("COMMENT ON COLUMN ns1.all_types.id IS 'row number';")
    out.append("CREATE TABLE ns1.orders (order_id integer NOT NULL, customer text, amount numeric(10,2) NOT NULL, "
               "placed timestamp NOT NULL, region text NOT NULL, PRIMARY KEY (order_id));")
    for r in orders():
        out.append("INSERT INTO ns1.orders VALUES (%d, %s, %s, '%s', '%s');" %
                   (r[0], "NULL" if r[1] is None else "'%s'" % r[1], r[2], r[3], r[4]))
    out.append("COMMENT ON TABLE ns1.orders IS 'orders of all regions';")
    out.append("COMMENT ON COLUMN ns1.orders.order_id IS 'the order''s number';")
    out.append("CREATE TABLE public.numbers (n integer, label text);")
    out.append("INSERT INTO public.numbers SELECT i, 'row ' || i FROM generate_series(1, 1000) i;")
    out.append("ANALYZE;")
    return "\n".join(out)


if __name__ == "__main__":
    if sys.argv[2:] == ["sql"]:
        print(sql())
    else:
        make(os.path.abspath(sys.argv[1]))
