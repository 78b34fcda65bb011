"""Writes the Parquet fixtures of package scan's tests: NAME.parquet with field ids, and
NAME.json with the Iceberg schema and the rows that a scan must give.

    python make_fixtures.py [folder]

needs pyarrow. Values in the JSON: booleans and floats as such (NaN and infinities as text),
integers, decimals, dates, times, uuids and strings as text, bytes as hex, lists as arrays,
structs as arrays of their members, maps as arrays of [key, value].
"""
import datetime as dt, decimal, json, math, os, random, sys, uuid
import pyarrow as pa, pyarrow.parquet as pq

OUT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
R = random.Random(7)
D = decimal.Decimal

class F:
    """A field: Iceberg type, Arrow type, id, children."""
    def __init__(self, id, name, iceberg, arrow=None, kids=(), required=False, **kw):
        self.id, self.name, self.iceberg, self.kids, self.required, self.kw = id, name, iceberg, kids, required, kw
        self._arrow = arrow
    def arrow(self):
        if self.iceberg == "struct": return pa.struct([k.field() for k in self.kids])
        if self.iceberg == "list": return pa.list_(self.kids[0].field())
        if self.iceberg == "map": return pa.map_(self.kids[0].field(), self.kids[1].field())
        return self._arrow
    def field(self):
        return pa.field(self.name, self.arrow(), nullable=not self.required, metadata={"PARQUET:field_id": str(self.id)})
    def typ(self):
        if self.iceberg == "struct": return {"type": "struct", "fields": [k.json() for k in self.kids]}
        if self.iceberg == "list": return {"type": "list", "element-id": self.kids[0].id, "element": self.kids[0].typ(), "element-required": self.kids[0].required}
        if self.iceberg == "map": return {"type": "map", "key-id": self.kids[0].id, "key": self.kids[0].typ(), "value-id": self.kids[1].id, "value": self.kids[1].typ(), "value-required": self.kids[1].required}
        return self.iceberg
    def json(self):
        return dict({"id": self.id, "name": self.name, "required": self.required, "type": self.typ()}, **self.kw)

def micros(t):
    s = t.strftime("%Y-%m-%d %H:%M:%S") if isinstance(t, dt.datetime) else t.strftime("%H:%M:%S")
    return s + (".%06d" % t.microsecond).rstrip("0") if t.microsecond else s

def show(f, v):
    if v is None: return None
    i = f.iceberg
    if i == "struct": return [show(k, v.get(k.name)) for k in f.kids]
    if i == "list": return [show(f.kids[0], x) for x in v]
    if i == "map": return [[show(f.kids[0], k), show(f.kids[1], x)] for k, x in v]
    if i == "boolean": return v
    if i in ("float", "double"):
        return str(v) if math.isnan(v) or math.isinf(v) else v
    if i.startswith("decimal"): return "{:f}".format(v)
    if i == "timestamptz": return micros(v) + "+00"
    if i in ("timestamp", "time"): return micros(v)
    if i in ("timestamp_ns",): return str(v)
    if i in ("binary",) or i.startswith("fixed"): return v.hex()
    if i == "uuid": return str(uuid.UUID(bytes=v))
    return str(v)

def write(name, fields, rows, schema_fields=None, shown=None, **opts):
    cols = [pa.array([r[i] for r in rows], type=f.arrow()) for i, f in enumerate(fields)]
    t = pa.Table.from_arrays(cols, schema=pa.schema([f.field() for f in fields]))
    pq.write_table(t, os.path.join(OUT, name + ".parquet"), **opts)
    sf = schema_fields or fields
    out = shown or [[show(f, v) for f, v in zip(fields, r)] for r in rows]
    with open(os.path.join(OUT, name + ".json"), "w") as o:
        json.dump({"fields": [f.json() for f in sf], "rows": out}, o, separators=(",", ":"))
        o.write("\n")

def maybe(p, v): return None if R.random() < p else v
def word(): return "".join(R.choice("abcdefghijklmnop é") for _ in range(R.randrange(0, 14)))
EPOCH = dt.datetime(1970, 1, 1)
def instant(): return EPOCH + dt.timedelta(microseconds=R.randrange(-10**15, 2 * 10**15))

FLAT = [
    F(1, "b", "boolean", pa.bool_()), F(2, "i", "int", pa.int32()), F(3, "l", "long", pa.int64()),
    F(4, "f", "float", pa.float32()), F(5, "d", "double", pa.float64()),
    F(6, "dec9", "decimal(9,2)", pa.decimal128(9, 2)), F(7, "dec18", "decimal(18,4)", pa.decimal128(18, 4)),
    F(8, "dec38", "decimal(38,10)", pa.decimal128(38, 10)), F(9, "day", "date", pa.date32()),
    F(10, "t", "time", pa.time64("us")), F(11, "ts", "timestamp", pa.timestamp("us")),
    F(12, "tz", "timestamptz", pa.timestamp("us", tz="UTC")), F(13, "s", "string", pa.string()),
    F(14, "u", "uuid", pa.binary(16)), F(15, "fx", "fixed[5]", pa.binary(5)), F(16, "bin", "binary", pa.binary()),
    F(17, "req", "long", pa.int64(), required=True),
]
def flat_row(i, nulls=0.2):
    m = lambda v: maybe(nulls, v)
    f32 = pa.scalar(R.uniform(-1e6, 1e6), pa.float32()).as_py()
    return [m(R.random() < 0.5), m(R.randrange(-2**31, 2**31)), m(R.randrange(-2**63, 2**63)),
            m(R.choice([f32, 0.0, float("nan"), float("inf")])), m(R.choice([R.uniform(-1e300, 1e300), -0.0, float("nan")])),
            m(D(R.randrange(-10**9 + 1, 10**9)).scaleb(-2)), m(D(R.randrange(-10**18 + 1, 10**18)).scaleb(-4)),
            m(D(R.randrange(-10**37, 10**37)).scaleb(-10, decimal.Context(prec=60))), m(dt.date(1970, 1, 1) + dt.timedelta(days=R.randrange(-20000, 30000))),
            m((EPOCH + dt.timedelta(microseconds=R.randrange(86400 * 10**6))).time()), m(instant()), m(instant().replace(tzinfo=dt.timezone.utc)),
            m(word()), m(R.randbytes(16)), m(R.randbytes(5)), m(R.randbytes(R.randrange(9))), i]

def flat(name, n=400, nulls=0.2, repeat=False, fields=FLAT, **opts):
    rows = [flat_row(i, nulls) for i in range(n)]
    if repeat:
        pool = rows[:40]
        rows = [R.choice(pool) for _ in range(n)]
    write(name, fields, rows, **opts)

for codec in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
    flat("codec_" + codec, 120, compression=codec, row_group_size=80)
flat("dict", repeat=True, row_group_size=300, data_page_size=400, write_batch_size=64)
flat("dict_v2", repeat=True, row_group_size=300, data_page_size=400, write_batch_size=64, data_page_version="2.0")
flat("no_nulls", 600, nulls=0, use_dictionary=False, data_page_size=1000, write_batch_size=50)
flat("all_null", 100, nulls=1)
flat("plain_v2", use_dictionary=False, data_page_version="2.0", data_page_size=1000, write_batch_size=50)
flat("dict_fallback", 1200, nulls=0.05, dictionary_pagesize_limit=1500, data_page_size=1000, write_batch_size=64)
flat("page_index", 900, nulls=0.1, write_page_index=True, data_page_size=800, write_batch_size=40)
flat("checksum", 300, write_page_checksum=True)
DELTA = {"i": "DELTA_BINARY_PACKED", "l": "DELTA_BINARY_PACKED", "day": "DELTA_BINARY_PACKED", "ts": "DELTA_BINARY_PACKED",
         "s": "DELTA_BYTE_ARRAY", "bin": "DELTA_LENGTH_BYTE_ARRAY", "fx": "DELTA_BYTE_ARRAY", "req": "DELTA_BINARY_PACKED",
         "f": "BYTE_STREAM_SPLIT", "d": "BYTE_STREAM_SPLIT", "u": "BYTE_STREAM_SPLIT", "b": "RLE"}
flat("delta", 600, use_dictionary=False, column_encoding=DELTA, data_page_size=2000, write_batch_size=50)
flat("delta_v2", 600, use_dictionary=False, column_encoding=DELTA, data_page_version="2.0", data_page_size=2000, write_batch_size=50)
SPLIT = {"i": "BYTE_STREAM_SPLIT", "l": "BYTE_STREAM_SPLIT", "dec38": "BYTE_STREAM_SPLIT", "s": "DELTA_LENGTH_BYTE_ARRAY"}
flat("split", 400, use_dictionary=False, column_encoding=SPLIT)
flat("int_decimals", 400, store_decimal_as_integer=True)

# Nested.
ITEM = F(24, "element", "struct", kids=[F(25, "x", "int", pa.int32()), F(26, "tags", "list", kids=[F(27, "element", "string", pa.string())])])
NEST = [
    F(1, "id", "long", pa.int64(), required=True),
    F(2, "p", "struct", kids=[F(3, "a", "int", pa.int32()), F(4, "q", "struct", kids=[F(5, "s", "string", pa.string()), F(6, "n", "decimal(20,3)", pa.decimal128(20, 3))])]),
    F(7, "ints", "list", kids=[F(8, "element", "int", pa.int32())]),
    F(9, "ll", "list", kids=[F(10, "element", "list", kids=[F(11, "element", "string", pa.string())])]),
    F(12, "m", "map", kids=[F(13, "key", "string", pa.string(), required=True), F(14, "value", "long", pa.int64())]),
    F(15, "ms", "map", kids=[F(16, "key", "int", pa.int32(), required=True), F(17, "value", "struct", kids=[F(18, "v", "double", pa.float64()), F(19, "l", "list", kids=[F(20, "element", "date", pa.date32())])])]),
    F(23, "items", "list", kids=[ITEM]),
]
def lst(p, f, k=4): return maybe(p, [f() for _ in range(R.randrange(k))])
def nest_row(i):
    day = lambda: maybe(.2, dt.date(2000, 1, 1) + dt.timedelta(days=R.randrange(9000)))
    return [i,
            maybe(.2, {"a": maybe(.2, R.randrange(99)), "q": maybe(.2, {"s": maybe(.2, word()), "n": maybe(.2, D(R.randrange(10**9)).scaleb(-3))})}),
            lst(.2, lambda: maybe(.2, R.randrange(1000))),
            lst(.2, lambda: lst(.2, lambda: maybe(.2, word()))),
            maybe(.2, [(word() + str(j), maybe(.2, R.randrange(10**6))) for j in range(R.randrange(4))]),
            maybe(.2, [(j, maybe(.2, {"v": maybe(.2, R.random()), "l": lst(.2, day)})) for j in range(R.randrange(4))]),
            lst(.2, lambda: maybe(.2, {"x": maybe(.2, R.randrange(99)), "tags": lst(.2, lambda: maybe(.2, word()))}))]
NESTED = [nest_row(i) for i in range(300)]
write("nested", NEST, NESTED, row_group_size=200)
write("nested_pages", NEST, NESTED, data_page_size=100, write_batch_size=16, use_dictionary=False)
write("nested_v2", NEST, NESTED, data_page_version="2.0", data_page_size=100, write_batch_size=16)
write("nested_index", NEST, NESTED, write_page_index=True, data_page_size=100, write_batch_size=16)

# Schema evolution: promotion, new members with and without defaults, reordered and renamed.
OLD = [F(1, "i", "int", pa.int32()), F(2, "f", "float", pa.float32()), F(3, "dec", "decimal(5,2)", pa.decimal128(5, 2)), F(4, "day", "date", pa.date32()),
       F(5, "st", "struct", kids=[F(6, "a", "int", pa.int32()), F(7, "gone", "string", pa.string())]),
       F(8, "li", "list", kids=[F(9, "element", "struct", kids=[F(10, "k", "int", pa.int32())])])]
NEW = [F(3, "decimal_renamed", "decimal(30,2)"), F(1, "i", "long"), F(2, "f", "double"), F(4, "day", "timestamp"),
       F(5, "st", "struct", kids=[F(20, "added", "string"), F(6, "a2", "long")]),
       F(8, "li", "list", kids=[F(9, "element", "struct", kids=[F(21, "only_new", "int")])]),
       F(22, "fresh", "int"), F(23, "dflt", "string", **{"initial-default": "hi", "write-default": "ho"})]
old = []; new = []
for k in range(60):
    r = [maybe(.2, R.randrange(-2**31, 2**31)), maybe(.2, R.randrange(1000) / 4), maybe(.2, D(R.randrange(-99999, 99999)).scaleb(-2)), maybe(.2, dt.date(1960, 1, 1) + dt.timedelta(days=R.randrange(20000))),
         maybe(.2, {"a": maybe(.2, R.randrange(9)), "gone": "x"}), lst(.2, lambda: maybe(.3, {"k": 1}))]
    old.append(r)
    new.append([show(OLD[2], r[2]), show(OLD[0], r[0]), r[1], None if r[3] is None else str(r[3]) + " 00:00:00",
                None if r[4] is None else [None, show(OLD[0], r[4]["a"])], None if r[5] is None else [None if x is None else [None] for x in r[5]], None, "hi"])
write("evolved", OLD, old, schema_fields=NEW, shown=new)

# Units and legacy types.
UNITS = [F(1, "ms", "timestamp", pa.timestamp("ms")), F(2, "ns", "timestamp", pa.timestamp("ns")), F(3, "t32", "time", pa.time32("ms")),
         F(4, "i8", "int", pa.int8()), F(5, "u16", "int", pa.uint16()), F(6, "u32", "long", pa.uint32()), F(7, "h", "float", pa.float16()), F(8, "nothing", "string", pa.null())]
rows = []
for k in range(50):
    ms = EPOCH + dt.timedelta(milliseconds=R.randrange(-10**12, 10**12))
    rows.append([ms, instant(), (EPOCH + dt.timedelta(milliseconds=R.randrange(86400000))).time(), R.randrange(-128, 128), R.randrange(65536), R.randrange(2**32), R.randrange(-512, 512) / 8, None])
write("units", UNITS, rows, version="2.6")
INT96 = [F(1, "ts", "timestamp", pa.timestamp("us"))]
write("int96", INT96, [[maybe(.2, instant())] for _ in range(50)], use_deprecated_int96_timestamps=True)

# A two-level list, as old writers had it: pyarrow writes it under this setting.
TWO = [F(1, "l", "list", kids=[F(2, "element", "int", pa.int32())])]
write("list_element_names", TWO, [[lst(.2, lambda: maybe(.2, R.randrange(9)))] for _ in range(40)], use_compliant_nested_type=False)

# Bloom filters and sorted row groups for pruning.
SORTED = [F(1, "k", "long", pa.int64()), F(2, "name", "string", pa.string()), F(3, "x", "double", pa.float64())]
rows = [[i, "name%05d" % (i * 7919 % 5000), i / 8] for i in range(5000)]
write("sorted", SORTED, rows, row_group_size=1000, data_page_size=800, write_batch_size=100, write_page_index=True)

# DuckDB's writer, in its newer encodings.
try:
    import duckdb
except ImportError:
    sys.exit(0)
for version in ["V1", "V2"]:
    DUCK = [F(1, "i", "int", pa.int32()), F(2, "l", "long", pa.int64()), F(3, "d", "double", pa.float64()), F(4, "dec", "decimal(12,3)", pa.decimal128(12, 3)),
            F(5, "wide", "decimal(30,5)", pa.decimal128(30, 5)), F(6, "s", "string", pa.string()), F(7, "day", "date", pa.date32()), F(8, "ts", "timestamp", pa.timestamp("us")),
            F(9, "li", "list", kids=[F(10, "element", "int", pa.int32())]), F(11, "b", "boolean", pa.bool_()), F(12, "f", "float", pa.float32()),
            F(13, "st", "struct", kids=[F(14, "x", "long", pa.int64()), F(15, "y", "string", pa.string())])]
    rows = [[maybe(.1, R.randrange(10**6)), maybe(.1, k * 1000), maybe(.1, R.random()), maybe(.1, D(R.randrange(-10**9, 10**9)).scaleb(-3)), maybe(.1, D(R.randrange(-10**25, 10**25)).scaleb(-5)),
             maybe(.1, word() + str(k)), maybe(.1, dt.date(1990, 1, 1) + dt.timedelta(days=R.randrange(9999))), maybe(.1, instant()), lst(.1, lambda: maybe(.1, R.randrange(99))),
             maybe(.1, R.random() < .5), maybe(.1, R.randrange(1000) / 8), maybe(.1, {"x": maybe(.1, k), "y": maybe(.1, word())})] for k in range(400)]
    t = pa.Table.from_arrays([pa.array([r[i] for r in rows], type=f.arrow()) for i, f in enumerate(DUCK)], names=[f.name for f in DUCK])
    ids = ", ".join("%s: %d" % (f.name, f.id) for f in DUCK if not f.kids)
    duckdb.sql("SET threads = 1")
    duckdb.from_arrow(t).create_view("v", replace=True)
    duckdb.sql("COPY v TO '%s/duckdb_%s.parquet' (FORMAT parquet, CODEC zstd, PARQUET_VERSION %s, FIELD_IDS {%s, li: {__duckdb_field_id: 9, element: 10}, st: {__duckdb_field_id: 13, x: 14, y: 15}})" % (OUT, version.lower(), version, ids))
    with open(os.path.join(OUT, "duckdb_%s.json" % version.lower()), "w") as o:
        json.dump({"fields": [f.json() for f in DUCK], "rows": [[show(f, v) for f, v in zip(DUCK, r)] for r in rows]}, o, separators=(",", ":"))
        o.write("\n")

# Shredded variants as DuckDB writes them (1.5.6): objects within objects, arrays, members that are
# missing, of another type, or in no column. What a scan must give is built here, from the values.
B = lambda v: json.dumps(v, ensure_ascii=False, separators=(", ", ": "))
def shown(v):  # a variant as jsonb, and the types of its values
    if v is None: return "null", "null"
    if isinstance(v, bool): return B(v), "boolean"
    if isinstance(v, tuple): return v[1:]
    if isinstance(v, int): return str(v), "int32"
    if isinstance(v, str): return B(v), "string"
    if isinstance(v, list):
        kids = [shown(x) for x in v]
        return "[" + ", ".join(k[0] for k in kids) + "]", "array<" + ", ".join(dict.fromkeys(k[1] for k in kids)) + ">"
    keys = sorted(v)
    return ("{" + ", ".join(B(k) + ": " + shown(v[k])[0] for k in sorted(keys, key=lambda k: (len(k.encode()), k))) + "}",
            "object<" + ", ".join(k + " " + shown(v[k])[1] for k in keys) + ">")
def sql(v):
    if v is None: return "NULL"
    if isinstance(v, tuple): return v[0]
    if isinstance(v, bool): return str(v)
    if isinstance(v, int): return "%d::integer" % v
    if isinstance(v, str): return "'" + v.replace("'", "''") + "'"
    if isinstance(v, list): return "[" + ", ".join(sql(x) + "::variant" for x in v) + "]"
    return "{" + ", ".join("'%s': %s::variant" % (k, sql(x)) for k, x in v.items()) + "}" if v else "'{}'::json"
DATE = ("date '2024-02-29'", '"2024-02-29"', "date")
SCALARS = [DATE, ("1.50::decimal(5,2)", "1.50", "decimal(9,2)"), ("(-12345678901.5)::decimal(18,1)", "-12345678901.5", "decimal(18,1)"),
           ("12345678901234567890.123::decimal(30,3)", "12345678901234567890.123", "decimal(38,3)"), ("2.5::double", "2.5", "double"), ("2.5::float", "2.5", "float"),
           ("7::tinyint", "7", "int8"), ("(-300)::smallint", "-300", "int16"), ("7::bigint", "7", "int64"), ("timestamp '2024-02-29 12:30:00.25'", '"2024-02-29T12:30:00.25"', "timestamp"),
           ("timestamptz '2024-02-29 12:30:00+00'", '"2024-02-29T12:30:00Z"', "timestamptz"), ("time '01:02:03.5'", '"01:02:03.5"', "time"), ("'\\x00\\xFF'::blob", '"AP8="', "binary"),
           ("uuid '6b8a1e3a-0b1d-4c8e-9a55-1d2f3a4b5c6d'", '"6b8a1e3a-0b1d-4c8e-9a55-1d2f3a4b5c6d"', "uuid"), True, 5, "é" * 40, None]
OBJECTS = [{"a": k, "d": DATE, "l": [k, k + 1], "s": {"x": "y" * k, "z": k % 2 == 0}} for k in range(6)] + [
    {"a": "text", "d": None, "l": ["m", 3, None, {"q": 1}], "e": "extra", "zz": {"deep": [DATE, 1]}}, {}, {"s": {}}, {"s": {"x": 1, "w": SCALARS[1]}, "l": []}, {"l": 5, "s": [1]},
    "no object", [1, 2], 7, {"a": 1, "d": DATE, "l": [1], "s": {"x": "a", "z": True}, "more": True}]
OPTIONS = {"objects": "SHREDDING {v: 'STRUCT(a INTEGER, d DATE, l INTEGER[], s STRUCT(x VARCHAR, z BOOLEAN))'}, "}
OPTIONS.update({"scalar%d" % i: "SHREDDING {v: '%s'}, " % t for i, t in enumerate(
    ["DATE", "DECIMAL(5,2)", "DECIMAL(18,1)", "DECIMAL(30,3)", "DOUBLE", "FLOAT", "TINYINT", "SMALLINT", "BIGINT", "TIMESTAMP", "TIMESTAMPTZ", "TIME", "BLOB", "UUID", "BOOLEAN", "INTEGER", "VARCHAR", "INTEGER[]"])})
for name, shredding in OPTIONS.items():
    values = OBJECTS if name == "objects" else SCALARS + [[1, 2, None, "x"], {"k": 1}]
    rows = list(enumerate(values)) # DuckDB writes its NULL as a variant's null
    duckdb.sql("CREATE OR REPLACE TABLE w (id INTEGER, v VARIANT)")
    for i, v in rows:
        duckdb.sql("INSERT INTO w VALUES (%d, %s)" % (i, "NULL" if v is None else sql(v) + "::variant"))
    try:
        duckdb.sql("COPY (FROM w ORDER BY id) TO '%s/variant_%s.parquet' (FORMAT parquet, %sFIELD_IDS {id: 1, v: 2})" % (OUT, name, shredding))
    except Exception as e:
        print(name, e)
        continue
    out = [[str(i), list(shown(v))] for i, v in rows]
    with open(os.path.join(OUT, "variant_%s.json" % name), "w") as o:
        json.dump({"fields": [F(1, "id", "int").json(), F(2, "v", "variant").json()], "rows": out}, o, separators=(",", ":"), ensure_ascii=False)
        o.write("\n")
