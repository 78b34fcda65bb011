"""Prints the rows of a Parquet file, one a line, in the form that writer_test.go makes."""
import struct
import sys
import uuid

import pyarrow as pa
import pyarrow.parquet as pq


def dump(v, t):
    if v is None:
        return "None"
    if pa.types.is_floating(t):
        return "%016x" % struct.unpack(">Q", struct.pack(">d", v))[0]
    if t == pa.binary(16) or str(t).startswith("extension<arrow.uuid"):
        return str(v if isinstance(v, uuid.UUID) else uuid.UUID(bytes=v))
    if pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        return v.hex()
    if pa.types.is_map(t):
        return "<" + ",".join(dump(k, t.key_type) + ":" + dump(x, t.item_type) for k, x in v) + ">"
    if pa.types.is_list(t):
        return "[" + ",".join(dump(x, t.value_type) for x in v) + "]"
    if pa.types.is_struct(t):
        return "{" + ",".join(dump(v[f.name], f.type) for f in t) + "}"
    return str(v) if not hasattr(v, "as_tuple") else format(v, "f")


def plain(t, c):
    """Dates and times as their numbers."""
    if pa.types.is_date(t):
        return pa.int32()
    if pa.types.is_time(t) or pa.types.is_timestamp(t):
        return pa.int64()
    return None


table = pq.read_table(sys.argv[1])
cols = []
for c, f in zip(table.columns, table.schema):
    p = plain(f.type, c)
    if p is not None:
        c = pa.chunked_array([x.view(p) for x in c.chunks], p)
    t = p or f.type
    cols.append([dump(v, t) for v in c.to_pylist()])
for row in zip(*cols):
    print("|".join(row))
