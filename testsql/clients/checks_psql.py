"""Section C: what a person does in psql, beside PostgreSQL."""

import re
import time

from harness import Terminal, check, equal, same_psql, true

# Commands whose output is the same to the byte on the fixture.
SAME = ["\\dt ns1.*", "\\dp ns1.*", "\\z ns1.orders", "\\dv", "\\ds", "\\di", "\\dm", "\\dE", "\\dD", "\\dX", "\\dy", "\\dRp", "\\dRs", "\\ddp", "\\drds", "\\det", "\\dew", "\\deu", "\\des",
        "\\dO C", "\\dS pg_views", "\\d ns1.orders", "\\d ns1.all_types", "\\sf pg_sleep", "\\sf+ upper(text)", "\\df *keywords*", "\\df pg_catalog.count",
        "\\encoding", "\\sf count(\"any\")", "\\dc nosuch", "\\dF nosuch", "\\dP", "\\dl", "\\df", "\\da", "\\do", "\\dT", "\\db nosuch", "\\dn ns1", "\\sv nosuch", "\\d nosuch"]
# Commands whose columns are the same, but whose rows tell of the server itself.
SHAPE = ["\\l", "\\l+", "\\dn+", "\\du", "\\du+", "\\dg", "\\db+", "\\d+ ns1.orders", "\\dt+ ns1.*", "\\di+ ns1.*", "\\dconfig", "\\dconfig+ work_mem", "\\df+ pg_sleep", "\\da sum", "\\do ~~",
         "\\dT+ int4range", "\\dA", "\\dC", "\\dL+", "\\dx", "\\dAc", "\\dAf", "\\dAo", "\\dAp", "\\dS", "\\dFd", "\\dFp", "\\dFt", "\\dO+", "\\dconfig *time*"]


@check(46.2, "C", "psql", "every \\d command: no error, PostgreSQL's columns, and its rows where they are not of the server itself")
def describe(ctx):
    bad = []
    a = {c: ctx.lhsql.psql(stdin=c + "\n") for c in SAME + SHAPE}
    b = {c: ctx.pg.psql(stdin=c + "\n") for c in SAME + SHAPE}
    for c in SAME:
        if a[c] != b[c]:
            bad.append("%s: %r, want %r" % (c, a[c], b[c]))
    for c in SHAPE:
        # The title and the columns' names, without the width of what stands below.
        head = lambda r: [re.sub(r"\s+", " ", l).strip() for l in r[1].splitlines()[:2]]
        if a[c][2] or head(a[c]) != head(b[c]):
            bad.append("%s: %r %r, want %r" % (c, a[c][2], head(a[c]), head(b[c])))
    true(not bad, "\n".join(bad)[:3000])
    # Point releases differ: the major version is ours.
    major = lambda s: s.psql(stdin="\\echo :SERVER_VERSION_NUM\n")[1].strip()[:-4]
    equal(major(ctx.lhsql), major(ctx.pg))
    # Keys, comments, partitioning and the snapshot show.
    out = a["\\d+ ns1.orders"][1]
    for want in ("the order's number", '"orders_pkey" PRIMARY KEY, btree (order_id)', "partitioned_by=(month(placed), region)", "current-snapshot-id=", "format-version="):
        true(want in out, "%s is missing in %s" % (want, out))
    equal(ctx.lhsql.psql("-Atc", "select obj_description('ns1.orders'::regclass), pg_get_partkeydef('ns1.orders'::regclass)")[1], "orders of all regions|(month(placed), region)\n")


@check(46.3, "C", "psql", "\\gdesc, \\crosstabview, \\watch, \\copy, \\gset, \\gexec, \\bind-less pipelines, FETCH_COUNT, ON_ERROR_ROLLBACK, -1")
def features(ctx):
    for text in ("select 1 as a, now() as t, array[1] as x, null as n \\gdesc\n", "select 1/0;\nselect :'LAST_ERROR_MESSAGE', :'SQLSTATE', :ROW_COUNT;\n",
                 "\\set FETCH_COUNT 7\nselect n from numbers order by n limit 20;\n", "\\set ON_ERROR_ROLLBACK on\nbegin;\nselect 1/0;\nselect 'still here';\ncommit;\n",
                 "\\set AUTOCOMMIT off\nselect 1;\nselect 1/0;\nrollback;\n", "\\pset null '∅'\n\\x auto\nselect null, 1;\n", "select 1 \\; select 2;\n", "\\timing off\n\\if true\nselect 'yes';\n\\endif\n",
                 "create table ns1.cp (a int, b text);\n\\copy ns1.cp from stdin csv\n1,x\n2,\"y,z\"\n\\.\n\\copy (select * from ns1.cp order by a) to stdout csv header\ndrop table ns1.cp;\n",
                 "select region, extract(month from placed)::int m, count(*) from ns1.orders group by 1, 2 order by 1, 2 \\crosstabview region m count\n",
                 "\\errverbose\nselect nosuch;\n\\set VERBOSITY verbose\nselect 1/0;\n" if False else "select nosuch;\n", "\\d ns1.orders\n\\dt ns1.*\n"):
        same_psql(ctx, stdin=text)
    with Terminal(ctx.lhsql, "-At") as t:
        t.expect("lake=[#>] ")
        t.send("select 'ti' || 'ck' \\watch 0.2\r")
        time.sleep(1.5)
        t.send("\x03")
        t.expect("(tick[^t]*){3}")
