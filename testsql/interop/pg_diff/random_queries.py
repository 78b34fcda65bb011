"""Random queries asked of PostgreSQL and of lhsql over the same small tables.

    python random_queries.py [-seed N] [-queries N] [-seconds N] -warehouse DIR PG LHSQL

PG and LHSQL are libpq conninfos; lhsql must serve DIR (a warehouse; PyIceberg writes tables r.a,
r.b and r.c there and PostgreSQL gets the same as schema r). A query's answers are compared as bags
of text lines, or as the fact that both fail with one SQLSTATE. What differs is printed with its seed.
"""
import argparse
import datetime as dt
import decimal
import os
import random
import sys
import time

import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

from scripts import ask, connect

COLS = [
    ("k", "int4", pa.int32()), ("n", "int8", pa.int64()), ("d", "numeric(12,2)", pa.decimal128(12, 2)),
    ("f", "float8", pa.float64()), ("s", "text", pa.string()), ("b", "bool", pa.bool_()),
    ("dt", "date", pa.date32()), ("ts", "timestamp", pa.timestamp("us")), ("tz", "timestamptz", pa.timestamp("us", tz="UTC")),
]
KIND = {"k": "int", "n": "int", "d": "num", "f": "float", "s": "text", "b": "bool", "dt": "date", "ts": "ts", "tz": "tz"}


def value(r, c):
    if r.random() < 0.15:
        return None
    if c == "k":
        return r.randint(-3, 6)
    if c == "n":
        return r.choice([0, 1, 2, 3, -1, 5, 10**10, -(2**62), 2**63 - 1])
    if c == "d":
        return decimal.Decimal(r.randint(-300, 900)) / 100
    if c == "f":
        return r.choice([0.0, -0.0, 1.5, -2.25, 1e10, 3.0, float("nan"), float("inf"), float("-inf"), 0.1])
    if c == "s":
        return r.choice(["", "a", "ab", "abc", "b", "B", "ba", "z%", "ä", "a_b"])
    if c == "b":
        return r.random() < 0.5
    if c == "dt":
        return dt.date(1970, 1, 1) + dt.timedelta(days=r.choice([-40000, -366, -1, 0, 1, 30, 31, 59, 19000, 19001, 19400]))
    t = dt.datetime(1970, 1, 1) + dt.timedelta(days=r.choice([-40000, -1, 0, 1, 19000, 19001, 19400]), seconds=r.choice([0, 1, 3599, 43200, 86399]), microseconds=r.choice([0, 1, 500000, 999999]))
    return t if c == "ts" else t.replace(tzinfo=dt.timezone.utc)


def load(seed, warehouse, pg):
    r = random.Random(seed)
    os.makedirs(warehouse, exist_ok=True)
    cat = SqlCatalog("lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    cat.create_namespace_if_not_exists("r")
    schema = pa.schema([(c, a) for c, _, a in COLS])
    pg.execute("DROP SCHEMA IF EXISTS r CASCADE; CREATE SCHEMA r")
    for name, sizes in (("a", [7, 9, 5]), ("b", [6, 4]), ("c", [30, 1, 40, 20])):
        pg.execute(f"CREATE TABLE r.{name} ({', '.join(f'{c} {t}' for c, t, _ in COLS)})")
        if cat.table_exists(f"r.{name}"):
            cat.drop_table(f"r.{name}")
        t = cat.create_table(f"r.{name}", schema=schema)
        for n in sizes:
            rows = [{c: value(r, c) for c, _, _ in COLS} for _ in range(n)]
            t.append(pa.Table.from_pylist(rows, schema=schema))
            with pg.cursor() as cur:
                cur.executemany(f"INSERT INTO r.{name} VALUES ({', '.join(['%s'] * len(COLS))})", [tuple(x.values()) for x in rows])


class Gen:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.n = 0

    def pick(self, *xs):
        return self.r.choice(xs)

    def alias(self):
        self.n += 1
        return f"t{self.n}"

    def literal(self, k):
        r = self.r
        return {
            "int": lambda: str(r.randint(-3, 6)),
            "num": lambda: r.choice(["1.5", "0.00", "2.25", "-1.10", "3"]),
            "float": lambda: r.choice(["1.5::float8", "'NaN'::float8", "0::float8", "'-0'::float8", "'Infinity'::float8", "3::float8"]),
            "text": lambda: r.choice(["'a'", "'ab'", "''", "'b'", "'B'", "'ä'", "'z%'"]),
            "bool": lambda: r.choice(["true", "false"]),
            "date": lambda: r.choice(["date '1970-01-01'", "date '1969-12-31'", "date '2022-01-08'", "date '1860-06-26'"]),
            "ts": lambda: r.choice(["timestamp '1970-01-01'", "timestamp '1969-12-31 23:59:59.999999'", "timestamp '2022-01-08 12:00'"]),
            "tz": lambda: r.choice(["timestamptz '1970-01-01 00:00Z'", "timestamptz '2022-01-08 12:00-05'"]),
        }[k]()

    def expr(self, k, scope, depth=2):
        """An expression of kind k; scope is a list of (name, kind)."""
        r = self.r
        cols = [c for c, kk in scope if kk == k]
        if depth <= 0 or r.random() < 0.35:
            if cols and r.random() < 0.8:
                return r.choice(cols)
            return "NULL::" + self.type(k) if r.random() < 0.08 else self.literal(k)
        e = lambda kk: self.expr(kk, scope, depth - 1)
        x = r.random()
        if x < 0.08:
            return f"CASE WHEN {self.pred(scope, depth - 1)} THEN {e(k)} ELSE {e(k)} END"
        if x < 0.14:
            return f"coalesce({e(k)}, {e(k)})"
        if x < 0.18:
            return f"nullif({e(k)}, {e(k)})"
        if x < 0.22 and k != "bool":
            return f"{self.pick('greatest', 'least')}({e(k)}, {e(k)})"
        return {
            "int": lambda: self.pick(
                lambda: f"({e('int')} {self.pick('+', '-', '*')} {e('int')})",
                lambda: f"({e('int')} / nullif({e('int')}, 0))",
                lambda: f"({e('int')} % nullif({e('int')}, 0))",
                lambda: f"length({e('text')})",
                lambda: f"abs({e('int')} % 100)",
                lambda: f"({e('date')} - {e('date')})",
                lambda: f"extract({self.pick('year', 'month', 'day', 'dow', 'doy', 'week', 'quarter')} from {e(self.pick('date', 'ts', 'tz'))})::int",
                lambda: f"({e('bool')})::int",
                lambda: f"strpos({e('text')}, {e('text')})",
            )(),
            "num": lambda: self.pick(
                lambda: f"({e('num')} {self.pick('+', '-', '*')} {e('num')})",
                lambda: f"({e('num')} / nullif({e('num')}, 0))",
                lambda: f"round({e('num')}, {r.randint(-1, 3)})",
                lambda: f"({e('num')} * {e('int')})",
                lambda: f"({e('int')})::numeric",
                lambda: f"{self.pick('floor', 'ceil', 'abs', 'trunc', 'sign')}({e('num')})",
                lambda: f"({e('num')})::numeric(20,{r.randint(0, 4)})",
                lambda: f"extract(epoch from {e(self.pick('ts', 'tz'))})",
            )(),
            "float": lambda: self.pick(
                lambda: f"({e('float')} {self.pick('+', '-')} {e('float')})",
                lambda: f"(-{e('float')})",
                lambda: f"({e('int')})::float8",
                lambda: f"({e('num')})::float8",
                lambda: f"abs({e('float')})",
            )(),
            "text": lambda: self.pick(
                lambda: f"({e('text')} || {e('text')})",
                lambda: f"substring({e('text')} from {r.randint(0, 2)} for {r.randint(0, 2)})",
                lambda: f"replace({e('text')}, 'a', 'xy')",
                lambda: f"({e(self.pick('int', 'num', 'float', 'date', 'ts', 'tz', 'bool'))})::text",
                lambda: f"left({e('text')}, {r.randint(-2, 3)})",
                lambda: f"lpad({e('text')}, 4, 'q')",
                lambda: f"reverse({e('text')})",
            )(),
            "bool": lambda: f"({self.pred(scope, depth - 1)})",
            "date": lambda: self.pick(
                lambda: f"({e('date')} + ({e('int')} % 50))",
                lambda: f"({e(self.pick('ts', 'tz'))})::date",
                lambda: f"date_trunc('{self.pick('month', 'year', 'week')}', {e('date')})::date",
            )(),
            "ts": lambda: self.pick(
                lambda: f"({e('ts')} {self.pick('+', '-')} interval '{self.pick('1 day', '1 month', '90 minutes', '1 year 1 sec')}')",
                lambda: f"({e('date')})::timestamp",
                lambda: f"date_trunc('{self.pick('hour', 'day', 'month', 'year')}', {e('ts')})",
                lambda: f"({e('tz')} at time zone '{self.pick('UTC', 'America/New_York', 'Asia/Kolkata')}')",
            )(),
            "tz": lambda: self.pick(
                lambda: f"({e('ts')} at time zone '{self.pick('UTC', 'Europe/Berlin')}')",
                lambda: f"({e('tz')} + interval '{self.pick('1 day', '1 month', '1 hour')}')",
                lambda: f"date_trunc('{self.pick('day', 'month')}', {e('tz')})",
                lambda: f"({e(self.pick('date', 'ts'))})::timestamptz",
            )(),
        }[k]()

    def type(self, k):
        return {"int": "int4", "num": "numeric", "float": "float8", "text": "text", "bool": "bool", "date": "date", "ts": "timestamp", "tz": "timestamptz"}[k]

    def pred(self, scope, depth=2):
        r = self.r
        k = self.pick("int", "int", "num", "float", "text", "date", "ts", "tz")
        e = lambda kk=None: self.expr(kk or k, scope, depth - 1)
        x = r.random()
        if depth > 0 and x < 0.2:
            return f"({self.pred(scope, depth - 1)} {self.pick('AND', 'OR')} {self.pred(scope, depth - 1)})"
        if x < 0.27 and depth > 0:
            return f"NOT ({self.pred(scope, depth - 1)})"
        if x < 0.33:
            return f"{e()} IS {self.pick('', 'NOT ')}NULL"
        if x < 0.40:
            return f"{e()} {self.pick('', 'NOT ')}IN ({e()}, {self.literal(k)}, {self.pick('NULL', self.literal(k))})"
        if x < 0.45:
            return f"{e()} BETWEEN {e()} AND {e()}"
        if x < 0.50:
            pattern = self.pick("a%", "%b", "_", "%", "a_b", "z\\%%")
            return f"{e('text')} {self.pick('LIKE', 'NOT LIKE', 'ILIKE')} '{pattern}'"
        if x < 0.54:
            return f"{e()} IS {self.pick('', 'NOT ')}DISTINCT FROM {e()}"
        if x < 0.57:
            return f"({e()}) IS NOT NULL AND {self.expr('bool', scope, depth - 1)}"
        if x < 0.60:
            k2 = self.pick("int", "num", "float")
            return f"{self.expr('int', scope, depth - 1)} {self.pick('=', '<', '>=')} {self.expr(k2, scope, depth - 1)}"
        if x < 0.68 and depth > 1:
            return self.sub_pred(scope)
        return f"{e()} {self.pick('=', '<>', '<', '<=', '>', '>=')} {e()}"

    def sub_pred(self, scope):
        a = self.alias()
        t = self.pick("a", "b", "c")
        inner = [(f"{a}.{c}", KIND[c]) for c, _, _ in COLS]
        both = inner + (scope if self.r.random() < 0.7 else [])
        k = self.pick("int", "text", "date", "num")
        w = self.pred(both, 1)
        x = self.r.random()
        if x < 0.35:
            return f"{self.pick('', 'NOT ')}EXISTS (SELECT 1 FROM r.{t} {a} WHERE {w})"
        if x < 0.7:
            return f"{self.expr(k, scope, 1)} {self.pick('', 'NOT ')}IN (SELECT {self.expr(k, inner, 1)} FROM r.{t} {a} WHERE {w})"
        if x < 0.85:
            return f"{self.expr(k, scope, 1)} {self.pick('<', '=', '>=')} {self.pick('ANY', 'ALL')} (SELECT {self.expr(k, inner, 1)} FROM r.{t} {a} WHERE {w})"
        return f"{self.expr('int', scope, 1)} {self.pick('<', '=', '>=')} (SELECT {self.pick('count(*)', 'max(' + a + '.k)', 'min(' + a + '.k)')} FROM r.{t} {a} WHERE {w})"

    def source(self, depth):
        """A FROM item and its scope."""
        if depth > 0 and self.r.random() < 0.2:
            q, cols = self.select(depth - 1)
            a = self.alias()
            return f"({q}) {a}", [(f"{a}.{c}", k) for c, k in cols]
        a = self.alias()
        return f"r.{self.pick('a', 'a', 'b', 'b', 'c')} {a}", [(f"{a}.{c}", KIND[c]) for c, _, _ in COLS]

    def joined(self, depth):
        text, scope = self.source(depth)
        for _ in range(self.pick(0, 0, 1, 1, 2)):
            right, rscope = self.source(depth)
            kind = self.pick("JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "CROSS JOIN")
            if kind == "CROSS JOIN":
                a = self.pick(*[c for c, k in scope]) if scope else None
                text += f" JOIN {right} ON {self.equal(scope, rscope)}"
            elif kind == "FULL JOIN":
                text += f" FULL JOIN {right} ON {self.equal(scope, rscope)}"
            else:
                on = self.equal(scope, rscope)
                if self.r.random() < 0.4:
                    on += " AND " + self.pred(scope + rscope, 1)
                text += f" {kind} {right} ON {on}"
            scope = scope + rscope
        return text, scope

    def equal(self, l, r):
        kinds = [k for _, k in l if k in {kk for _, kk in r}] or None
        if not kinds:
            return "1 = 1"
        k = self.r.choice(kinds)
        return f"{self.r.choice([c for c, kk in l if kk == k])} = {self.r.choice([c for c, kk in r if kk == k])}"

    def agg(self, scope):
        k = self.pick("int", "num", "float", "text", "date", "ts")
        e = self.expr(k, scope, 1)
        d = self.pick("", "", "DISTINCT ")
        f = "" if self.r.random() < 0.75 else f" FILTER (WHERE {self.pred(scope, 1)})"
        if self.r.random() < 0.2:
            return f"count(*){f}", "int8"
        if k in ("int", "num") and self.r.random() < 0.6:
            return f"{self.pick('sum', 'avg')}({d}{'(' + e + ')::numeric' if k == 'int' else e}){f}", "num"
        if self.r.random() < 0.5:
            return f"count({d}{e}){f}", "int8"
        return f"{self.pick('min', 'max')}({e}){f}", k

    def select(self, depth=1):
        """A query and its output columns."""
        text, scope = self.joined(depth)
        where = f" WHERE {self.pred(scope, 2)}" if self.r.random() < 0.6 else ""
        kinds = ["int", "num", "float", "text", "bool", "date", "ts", "tz"]
        x = self.r.random()
        if x < 0.35:
            keys = [(self.expr(k, scope, 1), k) for k in self.r.sample(kinds, self.pick(0, 1, 1, 2))]
            aggs = [self.agg(scope) for _ in range(self.pick(1, 2))]
            # Constants as keys are positions or folded: make them expressions of a column.
            keys = [(e, k) for e, k in keys if "." in e and not e.startswith("NULL")]
            items = keys + aggs
            group = f" GROUP BY {', '.join(e for e, _ in keys)}" if keys else ""
            if keys and self.r.random() < 0.15:
                group = f" GROUP BY {self.pick('ROLLUP', 'CUBE')} ({', '.join(e for e, _ in keys)})"
            if keys and self.r.random() < 0.2:
                group += f" HAVING {self.agg(scope)[0]} IS NOT NULL"
            out = [(f"c{i}", k) for i, (_, k) in enumerate(items)]
            sel = ", ".join(f"{e} AS c{i}" for i, (e, _) in enumerate(items))
            return f"SELECT {sel} FROM {text}{where}{group}", [(c, "int" if k == "int8" else k) for c, k in out if k != "int8"] or [(out[0][0], "none")]
        items = [(self.expr(k, scope, 2), k) for k in self.r.sample(kinds, self.pick(1, 2, 3))]
        if x < 0.47:
            k = self.pick("int", "text", "date")
            part = f"PARTITION BY {self.expr(k, scope, 1)} " if self.r.random() < 0.6 else ""
            order = ", ".join(f"{c}" for c, kk in scope)
            fn = self.pick("row_number()", "rank()", "count(*)", "lag({0})", "lead({0})", "first_value({0})", "last_value({0})", "sum({0})", "max({0})", "min({0})")
            arg = self.r.choice([c for c, kk in scope if kk in ("int", "num")] or ["1"])
            frame = "" if fn in ("rank()",) else self.pick("", "", " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW", " ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING", " ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING")
            items.append((f"{fn.format(arg)} OVER ({part}ORDER BY {order}{frame})::text", "text"))
        d = "DISTINCT " if self.r.random() < 0.15 else ""
        sel = ", ".join(f"{e} AS c{i}" for i, (e, _) in enumerate(items))
        out = [(f"c{i}", k) for i, (_, k) in enumerate(items)]
        q = f"SELECT {d}{sel} FROM {text}{where}"
        if self.r.random() < 0.12 and depth > 0:
            o = self.joined(0)
            q2 = ", ".join(self.expr(k, o[1], 1) for _, k in out)
            q = f"{q} {self.pick('UNION', 'UNION ALL', 'EXCEPT', 'INTERSECT', 'EXCEPT ALL', 'INTERSECT ALL')} SELECT {q2} FROM {o[0]}"
        elif self.r.random() < 0.2:
            n = ", ".join(f"{i + 1}{self.pick('', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST')}" for i in range(len(out)))
            q += f" ORDER BY {n} LIMIT {self.r.randint(0, 8)} OFFSET {self.pick(0, 0, 2)}"
        return q, out


# Both are right where PostgreSQL says nothing about the order of evaluation.
ERRORS = {"22003", "22012", "22008", "22023", "2201X", "22P02", "22011", "22001"}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-seed", type=int, default=None)
    ap.add_argument("-queries", type=int, default=10**9)
    ap.add_argument("-seconds", type=float, default=60)
    ap.add_argument("-data", type=int, default=1)
    ap.add_argument("-warehouse", required=True)
    ap.add_argument("-noload", action="store_true")
    ap.add_argument("pg")
    ap.add_argument("lhsql")
    a = ap.parse_args()
    seed = a.seed if a.seed is not None else random.randrange(10**6)
    print(f"seed {seed} data {a.data}", flush=True)
    pg = connect(a.pg)
    if not a.noload:
        load(a.data, os.path.abspath(a.warehouse), pg)
    house = connect(a.lhsql)
    zones = ["UTC", "America/New_York", "Asia/Kolkata"]
    end, n, bad, failed = time.time() + a.seconds, 0, 0, 0
    while n < a.queries and time.time() < end:
        g = Gen(seed + n)
        sql, _ = g.select(1)
        zone = g.pick(*zones)
        for c in (pg, house):
            c.execute(f"SET TimeZone = '{zone}'")
        e1, r1 = ask(pg, sql)
        e2, r2 = ask(house, sql)
        n += 1
        failed += e1
        if e1 and r1[0][:5] == "57014":
            continue
        if e1 or e2:
            c1, c2 = (r1[0][:5] if e1 else "ok"), (r2[0][:5] if e2 else "ok")
            # Whether a row's error is met depends on the order of evaluation.
            same = c1 == c2 or ({c1, c2} - {"ok"} <= ERRORS)
        else:
            # Which of two equal zeros stands for a group is open.
            zero = lambda rows: sorted("|".join("0" if v == "-0" else v for v in x.split("|")) for x in rows)
            same = zero(r1) == zero(r2)
        if not same:
            bad += 1
            print(f"\nseed {seed + n - 1} zone {zone}\n{sql};\n-- PostgreSQL: {sorted(r1)[:6]} ({len(r1)})\n-- lhsql:      {sorted(r2)[:6]} ({len(r2)})", flush=True)
            if not e1 and not e2:
                x, y = sorted(r1), sorted(r2)
                print("-- only PostgreSQL:", [v for v in x if v not in y][:3], " only lhsql:", [v for v in y if v not in x][:3], flush=True)
    print(f"{n} queries, {failed} errors in PostgreSQL, {bad} differences (seed {seed})")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
