"""Holds the scripts of testsql/sql against a PostgreSQL: same rows, same errors.

    python scripts.py [-rewrite] [-lhsql CONNINFO] CONNINFO FILE…

CONNINFO is libpq's (host=127.0.0.1 port=55437 user=postgres dbname=postgres). With -rewrite the
answers of PostgreSQL become the expected parts; with -lhsql an lhsql server is asked too. Steps
that follow a line "# lhsql: …" are lhsql's own and are skipped here.
"""
import argparse
import sys

import psycopg
from psycopg import pq


class Step:
    def __init__(self, verb, args, line):
        self.verb, self.args, self.line = verb, args, line
        self.sql, self.want, self.has, self.own = [], [], False, False


def read(path):
    """The lines of a script, steps in place of theirs."""
    out, step, own = [], None, False
    for n, l in enumerate(open(path, encoding="utf-8").read().split("\n"), 1):
        if step is not None:
            if not l.strip():
                step = None
            elif l == "----" and not step.has:
                step.has = True
            elif step.has:
                step.want.append(l)
            else:
                step.sql.append(l)
            if step is not None:
                continue
        if not l.strip() or l.startswith("#"):
            own = l.startswith("# lhsql:") or (own and l.startswith("#"))
            out.append(l)
            continue
        w = l.split()
        if w[0] in ("session", "require"):
            out.append(l)
            continue
        step = Step(w[0], w[1:], n)
        step.own, own = own, False
        out.append(step)
    return out


def write(path, parts):
    lines = []
    for p in parts:
        if isinstance(p, str):
            lines.append(p)
            continue
        lines += [" ".join([p.verb] + p.args)] + p.sql
        if p.has:
            lines += ["----"] + p.want
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(lines))


def connect(info):
    c = psycopg.connect(info, autocommit=True)
    for s in ("SET TimeZone = 'UTC'", "SET DateStyle = 'ISO, MDY'", "SET IntervalStyle = 'postgres'", "SET extra_float_digits = 1", "SET statement_timeout = 20000"):
        c.execute(s)
    return c


def cell(b):
    if b is None:
        return "NULL"
    s = b.decode()
    return s.replace("\n", "\\n").replace("\r", "\\r") if s else "(empty)"


def ask(conn, sql):
    """Rows as lines of a script, or an error's code and message."""
    r = conn.pgconn.exec_(sql.encode())
    if r.status == pq.ExecStatus.TUPLES_OK:
        return False, ["|".join(cell(r.get_value(i, j)) for j in range(r.nfields)) for i in range(r.ntuples)]
    if r.status == pq.ExecStatus.COMMAND_OK:
        return False, [(r.command_status or b"").decode()]
    code = (r.error_field(pq.DiagnosticField.SQLSTATE) or b"").decode()
    text = (r.error_field(pq.DiagnosticField.MESSAGE_PRIMARY) or b"").decode()
    hint = r.error_field(pq.DiagnosticField.MESSAGE_HINT)
    if conn.pgconn.status != pq.ConnStatus.OK:
        raise SystemExit(f"connection lost: {conn.pgconn.error_message.decode()}\n{sql}")
    return True, [f"{code} {text}"] + ([f"hint: {hint.decode()}"] if hint else [])


def ordered(step, rows):
    return sorted(rows, key=lambda s: s.encode()) if "unordered" in step.args else rows


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("-rewrite", action="store_true")
    ap.add_argument("-lhsql")
    ap.add_argument("pg")
    ap.add_argument("files", nargs="+")
    a = ap.parse_args()
    bad = steps = 0
    for path in a.files:
        pg, house = connect(a.pg), a.lhsql and connect(a.lhsql)
        parts = read(path)
        for st in parts:
            if isinstance(st, str) or st.own or st.verb == "plan":
                continue
            sql = "\n".join(st.sql)
            steps += 1
            failed, got = ask(pg, sql)
            if failed != (st.verb == "error"):
                print(f"{path}:{st.line}: PostgreSQL: {' '.join(got)[:300]}\n{sql}")
                bad += 1
                if not failed:
                    continue
            got = ordered(st, got)
            if st.verb == "error":
                got = got[:1]
            if a.rewrite and st.verb in ("query", "error", "exec"):
                st.want, st.has = got, True
            elif st.verb in ("query", "error") and got != (st.want[:1] if st.verb == "error" else st.want):
                bad += 1
                print(f"{path}:{st.line}: PostgreSQL answers otherwise\n{sql}\n-- PostgreSQL:\n" + "\n".join(got[:20]) + "\n-- expected:\n" + "\n".join(st.want[:20]))
            if house:
                _, seen = ask(house, sql)
                seen = ordered(st, seen)
                if st.verb == "error":
                    seen = seen[:1]
                if seen != got:
                    bad += 1
                    print(f"{path}:{st.line}: lhsql answers otherwise\n{sql}\n-- PostgreSQL:\n" + "\n".join(got[:20]) + "\n-- lhsql:\n" + "\n".join(seen[:20]))
        if a.rewrite:
            write(path, parts)
        pg.close()
    print(f"{steps} steps, {bad} differences")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
