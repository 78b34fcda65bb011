"""Section D: Go's drivers. godrivers prints what it saw; both servers must show the same."""

import os
import subprocess

from harness import both, check, true


@check(56, "D", "pgx lib/pq", "five exec modes, batches, CopyFrom, savepoints, cancel; pool; database/sql; LISTEN")
def go_drivers(ctx):
    binary = os.path.join(ctx.tmp, "godrivers")
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "godrivers")
    p = subprocess.run(["go", "build", "-o", binary, "."], cwd=folder, capture_output=True, text=True)
    true(p.returncode == 0, p.stderr[-1000:])

    def run(s):
        p = subprocess.run([binary, "host=%s port=%d user=%s dbname=%s sslmode=disable" % (s.host, s.port, s.user, s.database)], capture_output=True, text=True, timeout=180)
        true(p.returncode == 0, "%s: %s" % (s.name, p.stderr[-1000:]))
        return p.stdout.splitlines()
    true(len(both(ctx, run)) > 200, "little output")
