#!/usr/bin/env python3
"""Runs the client scorecard: real clients against lhsql, PostgreSQL beside it as the reference.

    run.py [--section A] [--only 5,9] [--without 62,63] [--binary PATH] [--keep FILE] [--write]
    run.py --report FILE,FILE

It installs its clients at pinned versions into .cache/clients, makes a warehouse by PyIceberg and
the same tables in a PostgreSQL of its own, runs every check and prints a table; with --write it
also writes docs/clients.md, of a run of all checks; --report writes it of runs of parts that were
kept. The exit code is 0 when no check failed. Where
CI is set, a check that cannot run has failed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
CACHE = os.path.join(ROOT, ".cache", "clients")
VENV = os.path.join(CACHE, "venv")


def install():
    """Makes the venv, once per version of requirements.txt, and goes on inside it."""
    want = open(os.path.join(HERE, "requirements.txt")).read()
    stamp = os.path.join(VENV, "stamp")
    python = os.path.join(VENV, "bin", "python")
    if not os.path.exists(stamp) or open(stamp).read() != want:
        os.makedirs(CACHE, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", os.path.join(HERE, "requirements.txt")], check=True)
        open(stamp, "w").write(want)
    if os.path.realpath(sys.prefix) != os.path.realpath(VENV):
        os.execv(python, [python, *sys.argv])


class Context:
    """The servers that checks talk to: lhsql (loopback is trusted), pg (PostgreSQL), auth (lhsql
    with a password), tls (the same over TLS)."""


def certificate(folder):
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-out", cert, "-keyout", key],
                   check=True, capture_output=True)
    return cert, key


def prepare(binary, tmp):
    sys.path.insert(0, HERE)
    import fixture
    import harness
    warehouse = os.path.join(tmp, "warehouse")
    fixture.make(warehouse)
    ctx = Context()
    ctx.tmp, ctx.cache, ctx.root, ctx.binary, ctx.warehouse, ctx.started = tmp, CACHE, ROOT, binary, warehouse, []
    # PostgreSQL's processes run as another user and need a folder of their own.
    pgdir = tempfile.mkdtemp(prefix="lhsql-pg-")
    os.chmod(pgdir, 0o777)
    ctx.folders = [pgdir]
    ctx.started.append(harness.Postgres(pgdir, fixture.sql()))
    ctx.pg = ctx.started[-1].server

    def lhsql(name, *options, **how):
        s = harness.Lhsql(binary, warehouse, os.path.join(tmp, name + ".log"), *options, **how)
        ctx.started.append(s)
        return s.server
    ctx.start = lhsql
    ctx.lhsql = lhsql("lhsql")
    line = subprocess.run([binary, "user", "anna"], input="sécret 1", text=True, capture_output=True, check=True).stdout
    users = os.path.join(tmp, "users")
    open(users, "w").write(line)
    cert, key = certificate(tmp)
    ctx.tls = lhsql("tls", "--users_file", users, "--tls.cert", cert, "--tls.key", key, user="anna", password="sécret 1", sslmode="require")
    ctx.auth = lhsql("auth", "--users_file", users, user="anna", password="sécret 1")
    return ctx


# The checks that the scorecard asks for, by whole number; 2.1 belongs to 2.
ASKED = range(1, 71)

# What no check shows yet, with the reason.
MISSING = {}


def missing(results):
    there = {int(r["n"]) for r in results}
    out = [(n, MISSING.get(n, "no check yet")) for n in ASKED if n not in there]
    if not out:
        return ["", "No check of 1 to 70 is missing."]
    return ["", "## Not shown", "", "| # | reason |", "| --- | --- |"] + ["| %d | %s |" % m for m in out]


# What has programs of its own, because it takes minutes and hundreds of packages.
TOOLS = """
## Tools that were run whole

**Apache Superset** 6.1 (`testsql/clients/superset/run.sh`): connection test, schemas, tables and columns, SQL Lab with an answer and
an error, a dataset, three charts whose data equal what lhsql itself says, and a dashboard drawn by headless Chromium, over
PostgreSQL's wire and over MySQL's:

![A dashboard of Superset over PostgreSQL's wire](images/superset.png)
![The same over MySQL's](images/superset-mysql.png)

**dbt** 1.11 with dbt-postgres (`testsql/clients/dbt/run.py`): debug, seed, run (view, table, ephemeral; incremental by merge,
delete+insert, append and microbatch), snapshot and test, then the same again after the sources have changed, `run --full-refresh`,
`docs generate`, `source freshness`, `show --inline` and a macro by `run-operation`, over lhsql and over PostgreSQL 15: all relations,
columns and rows after each run and snapshot are the same, and so are the types and comments of the docs but for one: a
decimal of Iceberg always has a precision and a scale, so a table made of `sum(numeric)` shows `numeric(33,2)` where PostgreSQL's
shows `numeric`.

**Many clients at once** (`go run ./bench/clients`, by either wire): 200 idle and 20 busy clients, slow readers, cancels, timeouts, clients that
vanish, the connection limit and the server's end.
"""


def report(results, path):
    out = ["# Clients", "", "Generated by `testsql/clients/run.py --write`: each line is a check that runs real clients against lhsql, with",
           "PostgreSQL 15 beside it as the reference. Do not edit.", "",
           "%d of the %d checks below pass; what of 1 to 70 no check shows stands at the end." % (sum(r["result"] == "pass" for r in results), len(results)), "",
           "| # | client | check | result | reason |", "| --- | --- | --- | --- | --- |"]
    for r in results:
        reason = r["reason"].replace("|", "\\|").replace("\n", " ")
        out.append("| %s%g | %s | %s | %s | %s |" % (r["section"], r["n"], r["client"], r["title"].replace("|", "\\|"), r["result"], reason[:300]))
    open(path, "w").write("\n".join(out + missing(results)) + "\n" + TOOLS)


def run_check(check, ctx, trace):
    """Its result and the reason, if there is one."""
    import harness
    try:
        check["run"](ctx)
        return "pass", ""
    except harness.Skip as e:
        return "FAIL" if os.environ.get("CI") else "skip", str(e)
    except Exception as e:
        if trace:
            traceback.print_exc()
        return "FAIL", str(e) if isinstance(e, AssertionError) else "%s: %s" % (type(e).__name__, e)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--section")
    a.add_argument("--only")
    a.add_argument("--without")
    a.add_argument("--binary")
    a.add_argument("--keep")
    a.add_argument("--report")
    a.add_argument("--write", action="store_true")
    a.add_argument("--trace", action="store_true")
    a.add_argument("--retries", type=int, default=0, help="how often a failed check is run again: other work on the machine upsets waits")
    a = a.parse_args()
    if a.write and (a.section or a.only or a.without):
        sys.exit("--write needs a run of all checks")
    if a.report:
        kept = [r for f in a.report.split(",") for r in json.load(open(f))]
        report(sorted(kept, key=lambda r: r["n"]), os.path.join(ROOT, "docs", "clients.md"))
        return
    install()
    tmp = tempfile.mkdtemp(prefix="lhsql-clients-")
    binary = a.binary
    if not binary:
        binary = os.path.join(tmp, "lhsql")
        subprocess.run(["go", "build", "-o", binary, "./cmd/lhsql"], cwd=ROOT, check=True)
    ctx = prepare(os.path.abspath(binary), tmp)
    import harness
    for m in sorted(f[:-3] for f in os.listdir(HERE) if f.startswith("checks_") and f.endswith(".py")):
        __import__(m)
    only = {float(x) for x in a.only.split(",")} if a.only else None
    without = {float(x) for x in a.without.split(",")} if a.without else set()
    results = []
    try:
        for c in sorted(harness.CHECKS, key=lambda c: c["n"]):
            if (a.section and c["section"] not in a.section) or (only and c["n"] not in only) or c["n"] in without:
                continue
            t = time.time()
            for left in range(a.retries, -1, -1):
                result, reason = run_check(c, ctx, a.trace)
                if result != "FAIL" or left == 0:
                    break
                print("again %s%g: %s" % (c["section"], c["n"], reason), flush=True)
            results.append(dict(c, result=result, reason=reason))
            print("%-4s %s%-5g %-22s %s (%.1f s)%s" % (result, c["section"], c["n"], c["client"][:22], c["title"], time.time() - t, "\n       " + reason if reason else ""), flush=True)
    finally:
        for s in reversed(ctx.started):
            s.stop()
        for s in ctx.started:
            if isinstance(s, harness.Lhsql):
                text = open(s.log.name).read()
                if "caught:" in text or "panic" in text:
                    print("FAIL the server's log has a panic:\n" + text[text.find("caught:"):][:3000])
                    results.append({"n": 0, "section": "", "client": "", "title": "no panic in the server's log", "result": "FAIL", "reason": ""})
        for d in [tmp, *ctx.folders]:
            shutil.rmtree(d, ignore_errors=True)
    if a.keep:
        json.dump([{k: v for k, v in r.items() if k != "run"} for r in results], open(a.keep, "w"), indent=1)
    if a.write:
        report(results, os.path.join(ROOT, "docs", "clients.md"))
    count = {k: sum(r["result"] == k for r in results) for k in ("pass", "FAIL", "skip")}
    print("%d passed, %d failed, %d skipped" % (count["pass"], count["FAIL"], count["skip"]))
    sys.exit(1 if count["FAIL"] else 0)


if __name__ == "__main__":
    main()
