"""Section C: the catalog queries of each client, on lhsql and on PostgreSQL.

catalog/features.txt lists, for each client, the catalogs with their columns, the functions and the
syntax that its own queries use. catalog/CLIENT.sql holds statements in the client's manner that
together use them, parted by empty lines. Every statement must give no error and PostgreSQL's
column names and types; a first line says more:

    -- rows         the rows must be PostgreSQL's too
    -- run          only the command tags are compared
    -- params a|b   the extended protocol, with these values in text
"""

import os
import re

from harness import check, short, true
from rawpg import Raw, columns, error, rows, tags

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "catalog")

# Names in the lists that are types, keywords or the user's own.
NO_FUNCTIONS = {"SQLValueFunction", "ns1.f", "int2", "int4", "int8", "float8", "numeric", "text", "varchar", "bpchar", "name", "date", "timestamptz", "regclass"}


def features(client):
    """The catalogs with columns, and the functions, of one client."""
    catalogs, functions = [], set()
    for line in open(os.path.join(FOLDER, "features.txt")):
        w = line.split()
        if w[0] == client and w[1] == "catalog":
            catalogs.append((w[2], [c for c in w[3:] if c != "*"]))
        elif w[0] == client and w[1] == "functions":
            functions |= {f.split(".")[-1] for f in w[2:] if f not in NO_FUNCTIONS}
    return catalogs, functions


def statements(client):
    for part in re.split(r"\n\s*\n", open(os.path.join(FOLDER, client + ".sql")).read()):
        mode, text = "", part.strip()
        m = re.match(r"-- (rows|run|params ([^\n]*))\n", text)
        if m:
            mode, text = m.group(1), text[m.end():]
        if text:
            yield mode.split(" ")[0], (m.group(2).split("|") if m and m.group(2) else []), text


def ask(c, text, params):
    if not params:
        return c.query(text)
    c.parse(text)
    c.bind(values=[p.encode() for p in params])
    c.describe("P")
    c.execute()
    return c.sync()


def shape(msgs):
    """The columns of each result."""
    out = []
    for m in msgs:
        if m[0] == "T":
            out.append([x[:2] for x in columns([m])])
    return out


# What a point release of PostgreSQL puts into catalogs for itself, which is no one's to expect: since
# 15.20 attoptions holds the version of each attribute's row. Tried with 15.18 and 15.20.
OF_RELEASE = re.compile(rb"\bpg_attver=\d+,?")


def timeless(value):
    """A value of PostgreSQL's without what changes with its point release."""
    if value is None or not OF_RELEASE.search(value):
        return value
    value = OF_RELEASE.sub(b"", value).replace(b",}", b"}")
    return None if value == b"{}" else value


def differs(mode, a, b):
    """What is wrong with lhsql's answer a beside PostgreSQL's b; "" when nothing is."""
    if error(b):
        return "PostgreSQL: " + error(b)["M"]
    if error(a):
        return error(a)["C"] + " " + error(a)["M"]
    if mode == "run":
        return "" if tags(a) == tags(b) else "tags %s, want %s" % (tags(a), tags(b))
    if shape(a) != shape(b):
        for x, y in zip(shape(a), shape(b)):
            for p, q in zip(x, y):
                if p != q:
                    return "column %s, want %s" % (p, q)
        return "columns %s, want %s" % (short(shape(a)), short(shape(b)))
    if mode in ("rows", "params"):
        ours, theirs = rows(a), [[timeless(v) for v in r] for r in rows(b)]
        if ours != theirs:
            for i, (x, y) in enumerate(zip(ours, theirs)):
                if x != y:
                    return "row %d: %s, want %s" % (i, short(x), short(y))
            return "%d rows, want %d: %s" % (len(ours), len(theirs), short((ours + theirs)[min(len(ours), len(theirs)):]))
        if tags(a) != tags(b):
            return "tags %s, want %s" % (tags(a), tags(b))
    return ""


def replay(ctx, client):
    catalogs, functions = features(client.replace("_", "-") if client != "bi_other" else client)
    true(catalogs, "features.txt has nothing of " + client)
    text, bad, n = "", [], 0
    with Raw(ctx.lhsql, timeout=120, user="postgres", database="lake") as a, Raw(ctx.pg, timeout=120, user="postgres", database="lake") as b:
        for name, cols in catalogs:
            q = "select %s from %s" % (", ".join('"%s"' % c for c in cols) or "1", name if "." in name else "pg_catalog." + name)
            d = differs("", a.query(q), b.query(q))
            n += 1
            if d:
                bad.append(q + "\n    " + d)
        for mode, params, q in statements(client):
            d = differs(mode, ask(a, q, params), ask(b, q, params))
            text += q.lower() + "\n"
            n += 1
            if d:
                bad.append(short(q) + "\n    " + d)
    lost = sorted(f for f in functions if not re.search(r"\b%s\b" % re.escape(f), text) and not (f == "btrim" and "trim(" in text)
                  and not (f == "timezone" and "at time zone" in text))
    if lost:
        bad.append("no statement uses " + ", ".join(lost))
    true(not bad, "%d of %d\n  " % (len(bad), n) + "\n  ".join(bad))


def client(n, name, file):
    @check(n, "C", name, "its catalog queries: every catalog, column, function and syntax, answered as PostgreSQL does")
    def f(ctx):
        replay(ctx, file)


client(31.1, "Metabase", "metabase")
client(32, "DBeaver", "dbeaver")
client(33, "Tableau", "tableau")
client(34, "Power BI", "powerbi")
client(35, "Npgsql", "npgsql")
client(36, "Superset", "superset")
client(36.1, "SQLAlchemy 1.4", "sqlalchemy14")
client(38, "Grafana", "grafana")
client(39, "psqlodbc", "psqlodbc")
client(40, "DataGrip", "datagrip")
client(41, "Excel", "excel")
client(42, "dbt", "dbt")
client(43, "Looker", "looker")
client(44, "pgAdmin", "pgadmin")
client(45, "pgcli", "pgcli")
client(47, "node ORMs", "node_orms")
client(48, "other BI tools", "bi_other")
