"""Sections C and D: drivers and ORMs of Node.js. node/drivers.js prints what it saw; both servers
must show the same."""

import os
import subprocess

from harness import both, check, node_packages, true

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "node")


def node(n, section, client, name, title):
    @check(n, section, client, title)
    def f(ctx):
        env = dict(os.environ, NODE_PATH=node_packages(ctx.cache, HERE))

        def run(s):
            p = subprocess.run(["node", os.path.join(HERE, "drivers.js"), str(s.port), name], env=env, capture_output=True, text=True, timeout=120)
            true(p.returncode == 0, "%s: %s" % (s.name, p.stderr[-2000:]))
            return p.stdout.splitlines()
        true(len(both(ctx, run)) > 2, "no output")
    return f


node(47.1, "C", "sequelize", "sequelize", "describeTable, indexes, schemas, constraints, a model")
node(47.2, "C", "typeorm", "typeorm", "tables with columns, keys and comments; transactions")
node(47.3, "C", "knex", "knex", "columnInfo, hasTable, streams, transactions with DDL")
node(54, "D", "pg-cursor", "cursor", "reads of 100 rows; closed early, the connection lives")
node(54.1, "D", "pg-query-stream", "stream", "streams of batches; left early; an error in the middle")
node(54.2, "D", "postgres.js", "postgres", "cursors, all types, savepoints, pipelined queries, describe")
node(54.3, "D", "node-postgres", "pg", "all types, named statements, pool, errors")
