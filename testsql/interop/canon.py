"""How a value of another engine is written so that lhsql's text can be compared with it:
PostgreSQL's output with TimeZone UTC and ISO dates; lists as arrays, structs and maps as jsonb."""
import datetime as dt
import decimal
import hashlib
import json
import math
import uuid

import pyiceberg.types as T

NULL = "\\N"


def _float(v, single):
    if math.isnan(v):
        return "NaN"
    if math.isinf(v):
        return "Infinity" if v > 0 else "-Infinity"
    if single:
        import numpy

        s = numpy.format_float_scientific(numpy.float32(v), unique=True, trim="-")
    else:
        s = repr(float(v))
    return _shortest(s, 6 if single else 15)


def _shortest(s, limit):
    """PostgreSQL's choice between plain and scientific notation, from the shortest digits."""
    sign = "-" if s.startswith("-") else ""
    mant, _, exp = s.lstrip("-").partition("e")
    whole, _, frac = mant.partition(".")
    e = int(exp or 0) + len(whole) - 1
    digits = whole + frac
    stripped = digits.lstrip("0")
    e -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    if not digits:
        return sign + "0"
    if e < -4 or e >= limit:
        m = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
        return f"{sign}{m}e{'-' if e < 0 else '+'}{abs(e):02d}"
    if e < 0:
        return sign + "0." + "0" * (-e - 1) + digits
    if len(digits) <= e + 1:
        return sign + digits + "0" * (e + 1 - len(digits))
    return sign + digits[: e + 1] + "." + digits[e + 1 :]


def _clock(h, m, s, us):
    t = f"{h:02d}:{m:02d}:{s:02d}"
    return t + (f".{us:06d}".rstrip("0") if us else "")


def text(v, t):
    """The text of v, of Iceberg type t, at the top level."""
    if v is None:
        return NULL
    if isinstance(t, T.BooleanType):
        return "t" if v else "f"
    if isinstance(t, (T.IntegerType, T.LongType)):
        return str(int(v))
    if isinstance(t, T.FloatType):
        return _float(v, True)
    if isinstance(t, T.DoubleType):
        return _float(v, False)
    if isinstance(t, T.DecimalType):
        return f"{decimal.Decimal(v):.{t.scale}f}"
    if isinstance(t, T.DateType):
        return f"{v.year:04d}-{v.month:02d}-{v.day:02d}"
    if isinstance(t, T.TimeType):
        return _clock(v.hour, v.minute, v.second, v.microsecond)
    if isinstance(t, (T.TimestampType, T.TimestamptzType, T.TimestampNanoType, T.TimestamptzNanoType)):
        zone = "+00" if isinstance(t, (T.TimestamptzType, T.TimestamptzNanoType)) else ""
        if v.tzinfo is not None:
            v = v.astimezone(dt.timezone.utc)
        return f"{v.year:04d}-{v.month:02d}-{v.day:02d} {_clock(v.hour, v.minute, v.second, v.microsecond)}{zone}"
    if isinstance(t, T.StringType):
        return v
    if isinstance(t, T.UUIDType):
        return str(uuid.UUID(bytes=v) if isinstance(v, bytes) else v)
    if isinstance(t, (T.FixedType, T.BinaryType)):
        return "\\x" + bytes(v).hex()
    if isinstance(t, T.ListType):
        return _array(v, t)
    return dumps(tree(v, t))


def _array(v, t):
    out = []
    for x in v:
        if x is None:
            out.append("NULL")
        elif isinstance(t.element_type, T.ListType):
            out.append(_array(x, t.element_type))
        else:
            s = text(x, t.element_type)
            if s == "" or s.upper() == "NULL" or any(c in '{},"\\ \t\n\r\v\f' for c in s):
                s = '"' + s.replace("\\", "\\\\").replace('"', '\\"') + '"'
            out.append(s)
    return "{" + ",".join(out) + "}"


class Number(str):
    pass


def tree(v, t):
    """v as jsonb would hold it."""
    if v is None:
        return None
    if isinstance(t, T.BooleanType):
        return bool(v)
    if isinstance(t, (T.IntegerType, T.LongType, T.DecimalType, T.FloatType, T.DoubleType)):
        s = text(v, t)
        # jsonb holds numerics: no exponents.
        return s if s[-1] in "Ny" else Number(f"{decimal.Decimal(s):f}")
    if isinstance(t, T.ListType):
        return [tree(x, t.element_type) for x in v]
    if isinstance(t, T.StructType):
        return {f.name: tree(v[f.name], f.field_type) for f in t.fields}
    if isinstance(t, T.MapType):
        items = v.items() if isinstance(v, dict) else v
        return {text(k, t.key_type): tree(x, t.value_type) for k, x in items}
    s = text(v, t)
    if isinstance(t, (T.TimestampType, T.TimestamptzType)):
        s = s.replace(" ", "T")
        if s.endswith("+00"):
            s += ":00"
    return s


def dumps(x):
    if isinstance(x, Number):
        return str(x)
    if isinstance(x, dict):
        return "{" + ", ".join(json.dumps(k, ensure_ascii=False) + ": " + dumps(v) for k, v in x.items()) + "}"
    if isinstance(x, list):
        return "[" + ", ".join(dumps(v) for v in x) + "]"
    return json.dumps(x, ensure_ascii=False)


def field(s):
    """A text as a field of a line."""
    if s == NULL:
        return s
    return s.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def digest(lines):
    """What a bag of lines is known by."""
    lines = [l.encode() for l in lines]
    lines.sort()
    return hashlib.sha256(b"\n".join(lines)).hexdigest()[:16]


def key(v, t):
    """Orders values as PostgreSQL does in the C collation."""
    if isinstance(t, T.StringType):
        return v.encode()
    if isinstance(t, T.UUIDType):
        return v if isinstance(v, bytes) else uuid.UUID(str(v)).bytes
    if isinstance(t, (T.FloatType, T.DoubleType)):
        return (1, 0.0) if math.isnan(v) else (0, v + 0.0)
    return v


def sections(name, schema, rows, full=200):
    """The expected text of one state of a table: rows (as dicts), then filters and what they leave."""
    picks = 4 if len(rows) <= 10000 else 1
    cols = [f.name for f in schema.fields]
    types = [f.field_type for f in schema.fields]
    lines = ["\t".join(field(text(r[c], t)) for c, t in zip(cols, types)) for r in rows]
    pairs = sorted(zip(lines, rows), key=lambda p: p[0].encode())
    lines, rows = [p[0] for p in pairs], [p[1] for p in pairs]
    out = [f"state\t{name}", "columns\t" + "\t".join(f"{c}:{t}" for c, t in zip(cols, types))]
    out.append(f"all\t{len(lines)}\t{digest(lines)}")
    if len(lines) <= full:
        out += ["row\t" + l for l in lines]
    for i, (c, t) in enumerate(zip(cols, types)):
        one = [field(text(r[c], t)) for r in rows]
        out.append(f"column\t{c}\t{digest(one)}")

        def leaves(what, args, test):
            got = [l for l, r in zip(lines, rows) if test(r[c])]
            out.append("\t".join(["where", c, what] + [field(a) for a in args] + [str(len(got)), digest(got)]))

        leaves("isnull", [], lambda v: v is None)
        if len(rows) > 10000 and i % 3:
            continue
        if t.is_struct or isinstance(t, (T.ListType, T.MapType)):
            continue
        values = sorted({key(r[c], t): r[c] for r in rows if r[c] is not None}.items())
        step = max(1, len(values) // picks)
        big = len(rows) > 10000
        chosen = values[len(values) // 20 :][:1] + values[-1:] if big else values[::step][:picks] + values[-1:]
        chosen = list(dict(chosen).items())
        for k, v in chosen:
            a = text(v, t)
            leaves("=", [a], lambda x: x is not None and key(x, t) == k)
            if big and k == values[-1][0]:
                continue
            leaves("<", [a], lambda x: x is not None and key(x, t) < k)
            if big:
                continue
            leaves(">=", [a], lambda x: x is not None and key(x, t) >= k)
            leaves("<>", [a], lambda x: x is not None and key(x, t) != k)
        if len(chosen) > 1:
            ks = {k for k, _ in chosen[:2]}
            leaves("in", [text(v, t) for _, v in chosen[:2]], lambda x: x is not None and key(x, t) in ks)
    return out
