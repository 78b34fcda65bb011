#!/usr/bin/env python3
"""Makes a table of web traffic in the shape of ClickBench's hits: the columns that its 43 queries
read and the others that they pass over, with values as skewed as there, but made up.

usage: load.py ROWS WAREHOUSE [--seed N]

WAREHOUSE receives an Iceberg catalog in PyIceberg's SQLite layout with one table, web.hits, of files
of a million rows that PyIceberg writes. The same ROWS and seed give the same rows.

What the values take from the public description of the data (shares of all rows, distinct values as
shares of the rows): WatchID is unique; UserID has 17 % distinct values and a few very busy ones; URL
18 %, Referer 20 %, Title 9 %, most of the rows on few; SearchPhrase is empty in 87 % of the rows and has
6 % distinct values; MobilePhoneModel is empty in 94 %; AdvEngineID is 0 in 99.4 %, SearchEngineID in 95 %;
6,500 counters, of which number 62 has the share that queries 37 to 43 look at, all in July 2013;
rows lie in the order of CounterID and EventDate.
"""
import argparse
import os

import numpy as np
import pyarrow as pa
from pyiceberg.catalog.sql import SqlCatalog

FILE_ROWS = 1_000_000
SITES = ["google.example", "news.example", "auto.example", "video.example", "shop.example", "mail.example", "irr.example"]
WORDS = ("album boat castle diesel engine forum garden hotel image jacket kitchen ladder market number office photo "
         "quote river school ticket update video window yellow apartment business delivery football interview "
         "newspaper recipe weather").split()


def pool(rng, n, make):
    """n different strings: make(word columns, number) of n random words."""
    words = np.array(WORDS, dtype=object)
    picks = [words[rng.integers(0, len(words), n)] for _ in range(4)]
    return pa.array([make(i, a, b, c, d) for i, (a, b, c, d) in enumerate(zip(*picks))], pa.string())


def skewed(rng, rows, distinct, hot=0.5, power=1.3):
    """Indexes of distinct values: a share hot of the rows follows a power law, the rest is uniform."""
    top = (rng.pareto(power - 1, rows) * 3).clip(0, distinct - 1).astype(np.int64)
    even = rng.integers(0, distinct, rows)
    return np.where(rng.random(rows) < hot, top, even)


def mostly(rng, rows, share, value, other):
    """value in share of the rows, else other()."""
    return np.where(rng.random(rows) < share, value, other)


def mixed(x):
    """Spreads numbers over 63 bits, different ones to different places."""
    with np.errstate(over="ignore"):
        x = x.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x ^= x >> np.uint64(29)
        x *= np.uint64(0xBF58476D1CE4E5B9)
    return (x >> np.uint64(1)).astype(np.int64)


class Pools:
    """The strings that all files share."""

    def __init__(self, rng, rows):
        self.rows = rows
        n = lambda share: max(int(rows * share), 100)
        self.url = pool(rng, n(0.18), lambda i, a, b, c, d: f"http://{SITES[i % 7]}/{a}/{b}-{c}.html?page={i}&from={d}")
        self.referer = pool(rng, n(0.20), lambda i, a, b, c, d: f"http://www.{SITES[i % 5]}/{a}?q={b}+{c}&id={i}/{d}")
        self.title = pool(rng, n(0.09), lambda i, a, b, c, d: f"{a} {b} {c} — {d} {'Google ' if i % 50 == 0 else ''}№{i}")
        self.phrase = pool(rng, n(0.06), lambda i, a, b, c, d: f"{a} {b} {c} {i}" if i % 3 else f"{a} {b} {i} {d} {c}")
        self.phone = pool(rng, 166, lambda i, a, b, c, d: f"{a[:4].title()} {i}")


def take(values, index, empty=None):
    """values[index], with "" where empty is true."""
    if empty is not None:
        values = pa.concat_arrays([values, pa.array([""])])
        index = np.where(empty, len(values) - 1, index)
    return values.take(pa.array(index))


def block(rng, pools, rows, first, counters, dates):
    """rows of the table, WatchIDs from number first on."""
    i = lambda a: pa.array(a.astype(np.int32))
    small = lambda n: i(rng.integers(0, n, rows))
    seconds = dates.astype(np.int64) * 86400 + rng.integers(0, 86400, rows)
    url = skewed(rng, rows, len(pools.url))
    referer = skewed(rng, rows, len(pools.referer))
    phrase = skewed(rng, rows, len(pools.phrase), hot=0.3)
    no_phrase = rng.random(rows) < 0.87
    user = skewed(rng, rows, max(int(pools.rows * 0.17), 100), hot=0.3)
    phone = rng.random(rows) < 0.06
    width = np.array([0, 1024, 1087, 1280, 1366, 1368, 1440, 1594, 1600, 1638, 1680, 1750, 1828, 1917, 1920, 1996])
    return pa.table({
        "watchid": pa.array(mixed(np.arange(first, first + rows))),
        "javaenable": small(2), "title": take(pools.title, skewed(rng, rows, len(pools.title))), "goodevent": i(np.ones(rows)),
        "eventtime": pa.array(seconds * 1_000_000, pa.timestamp("us")), "eventdate": pa.array(dates.astype(np.int32), pa.date32()),
        "counterid": i(counters), "clientip": i(mixed(skewed(rng, rows, max(int(pools.rows * 0.1), 100), hot=0.2)) % (1 << 31)),
        "regionid": i(skewed(rng, rows, 9000, hot=0.95)), "userid": pa.array(mixed(user + 77)),
        "counterclass": small(2), "os": small(90), "useragent": small(80),
        "url": take(pools.url, url), "referer": take(pools.referer, referer, rng.random(rows) < 0.19),
        "isrefresh": i(rng.random(rows) < 0.12), "referercategoryid": small(200), "refererregionid": small(3000),
        "urlcategoryid": small(200), "urlregionid": small(1500),
        "resolutionwidth": i(width[rng.integers(0, len(width), rows)]), "resolutionheight": i(rng.integers(600, 1200, rows)),
        "resolutiondepth": small(25), "flashmajor": small(12), "flashminor": small(9), "netmajor": small(4),
        "useragentmajor": small(60), "cookieenable": small(2), "javascriptenable": small(2),
        "ismobile": i(phone), "mobilephone": i(np.where(phone, rng.integers(1, 40, rows), 0)),
        "mobilephonemodel": take(pools.phone, skewed(rng, rows, len(pools.phone), hot=0.8), ~phone),
        "traficsourceid": i(rng.integers(-1, 10, rows)),
        "searchengineid": i(np.where(no_phrase & (rng.random(rows) < 0.95), 0, skewed(rng, rows, 90, hot=0.8))),
        "searchphrase": take(pools.phrase, phrase, no_phrase),
        "advengineid": i(mostly(rng, rows, 0.994, 0, skewed(rng, rows, 18, hot=0.8) + 1)),
        "windowclientwidth": i(rng.integers(100, 2000, rows)), "windowclientheight": i(rng.integers(100, 1200, rows)),
        "dontcounthits": i(rng.random(rows) < 0.05), "islink": i(rng.random(rows) < 0.1), "isdownload": i(rng.random(rows) < 0.02),
        "isnotbounce": small(2), "hitcolor": pa.array(np.array(["5", "E", "T"])[rng.integers(0, 3, rows)]),
        "age": small(60), "sex": small(3), "income": small(5), "interests": small(20000),
        "remoteip": i(rng.integers(0, 1 << 31, rows)), "httperror": small(2), "sendtiming": small(20000),
        "refererhash": pa.array(mixed(referer + 12345)), "urlhash": pa.array(mixed(url + 54321)),
    })


def main():
    p = argparse.ArgumentParser()
    p.add_argument("rows", type=int)
    p.add_argument("warehouse")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    warehouse = os.path.abspath(a.warehouse)
    os.makedirs(warehouse, exist_ok=True)
    rng = np.random.default_rng(a.seed)
    pools = Pools(rng, a.rows)
    counters = np.sort(np.where(rng.random(a.rows) < 0.02, 62, skewed(rng, a.rows, 6500, hot=0.7)))
    dates = 15887 + rng.integers(0, 31, a.rows)  # July 2013
    dates = dates[np.lexsort((dates, counters))]
    catalog = SqlCatalog("lake", uri=f"sqlite:///{warehouse}/catalog.db", warehouse=f"file://{warehouse}")
    catalog.create_namespace_if_not_exists("web")
    if catalog.table_exists("web.hits"):
        catalog.drop_table("web.hits")
    table = None
    for first in range(0, a.rows, FILE_ROWS):
        rows = min(FILE_ROWS, a.rows - first)
        data = block(rng, pools, rows, first, counters[first:first + rows], dates[first:first + rows])
        if table is None:
            table = catalog.create_table("web.hits", schema=data.schema)
        table.append(data)
        print(first + rows, flush=True)


main()
