"""Section D: large results and clients that are slow or leave."""

import os
import socket
import time

import harness
from harness import check, equal, true
from rawpg import Raw, cstr, rows


def resident(pid):
    for l in open("/proc/%d/status" % pid):
        if l.startswith("VmRSS"):
            return int(l.split()[1]) << 10
    return 0


@check(63, "D", "socket", "10 M rows: nothing is buffered for a slow client, memory stays flat, a client that is killed frees its query")
def large_scan(ctx):
    s = harness.Lhsql(ctx.binary, ctx.warehouse, os.path.join(ctx.tmp, "big.log"), "--memory_limit", "512MB")
    ctx.started.append(s)
    with Raw(s.server, timeout=300, user="postgres", database="lake") as c:
        c.query("create table ns1.big as select g as a, 'row number ' || g as b, g / 3.0::float8 as c from generate_series(1, 10000000) g")
        equal(rows(c.query("select count(*) from ns1.big")), [[b"10000000"]])
        base = resident(s.proc.pid)
        peak = 0
        # All of it, as fast as it comes.
        c.msg("Q", cstr("select * from ns1.big"))
        t, seen, last = time.time(), len(c.buf), b""
        while not last.endswith(b"Z\0\0\0\5I"):
            chunk = c.sock.recv(1 << 20)
            true(chunk, "closed")
            seen += len(chunk)
            last = (last + chunk)[-6:]
            peak = max(peak, resident(s.proc.pid)) if seen % 7 == 0 else peak
        true(seen > 400_000_000, "only %d bytes" % seen)
        took = time.time() - t
        true(peak < base + (600 << 20), "memory grew from %d to %d MiB" % (base >> 20, peak >> 20))
        print("     %.1f s, %d MB, memory %d MiB, at most %d MiB" % (took, seen // 1000000, base >> 20, peak >> 20))
    # One that takes nothing: the server waits, and does not read on.
    with Raw(s.server, timeout=60, user="postgres", database="lake") as slow, Raw(s.server, timeout=60, user="postgres", database="lake") as other:
        slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.msg("Q", cstr("select * from ns1.big"))
        time.sleep(3)
        first = resident(s.proc.pid)
        time.sleep(3)
        true(resident(s.proc.pid) < first + (64 << 20), "memory grows although nobody reads")
        equal(rows(other.query("select count(*) from pg_stat_activity where state = 'active' and query = 'select * from ns1.big'")), [[b"1"]])
        # It is killed: reset, not closed.
        slow.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        slow.sock.close()
        end = time.time() + 5
        while rows(other.query("select count(*) from pg_stat_activity where query = 'select * from ns1.big'")) != [[b"0"]]:
            true(time.time() < end, "the query goes on without its client")
            time.sleep(0.1)
        other.query("drop table ns1.big")
