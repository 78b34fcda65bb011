"""Asks lhsql and PostgreSQL the statements of PostgreSQL's regression suite; prints a table by topic.

    suite.py --lhsql BINARY --suite FOLDER [--topics a,b] [--verbose] [--floor N]

FOLDER is src/test/regress of PostgreSQL's source (run.sh fetches it). A PostgreSQL server of the
machine is started as the judge: what it answers now is right, not what the suite's files expect.

A statement agrees if both give the same columns (names and types) and rows, in order where the
query orders them, and the same command tag, or the same SQLSTATE. Statements that name what could
not be made before, or a table whose rows are apart since an earlier disagreement, are counted as
consequences and stand in no sum, whether they agree or not.
"""
import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "clients"))
import harness  # noqa: E402
import rawpg  # noqa: E402

import script  # noqa: E402
import topics  # noqa: E402

SESSION = {"DateStyle": "Postgres, MDY", "TimeZone": "PST8PDT", "IntervalStyle": "postgres_verbose"}


class Answer:
    def __init__(self, msgs):
        err = rawpg.error(msgs)
        self.code, self.text = (err["C"], err["M"]) if err else (None, "")
        self.columns = [(c[0], c[1]) for c in rawpg.columns(msgs) or []]
        self.rows = rawpg.rows(msgs)
        self.tags = rawpg.tags(msgs)
        self.status = (rawpg.status(msgs) or ["I"])[-1]

    def __str__(self):
        if self.code:
            return "%s %s" % (self.code, self.text)
        if not self.columns:
            return " ".join(self.tags)
        head = ",".join("%s:%d" % c for c in self.columns)
        return head + " " + " ".join("[%s]" % "|".join("NULL" if v is None else v.decode("utf-8", "replace") for v in r) for r in self.rows[:12])[:700] + (" …%d" % len(self.rows) if len(self.rows) > 12 else "")


class Connection:
    def __init__(self, server):
        self.server, self.raw = server, None
        self.open()

    def open(self):
        self.raw = rawpg.Raw(self.server, timeout=60, user="postgres", database=self.server.database, client_encoding="UTF8", **SESSION)
        self.raw.query("SET statement_timeout = 20000")

    def ask(self, sql, data=None):
        try:
            self.raw.msg("Q", rawpg.cstr(sql))
            msgs = []
            while True:
                m = self.raw.recv()
                msgs.append(m)
                if m[0] == "G":
                    self.raw.msg("d", (data or "").encode())
                    self.raw.msg("c")
                elif m[0] == "Z":
                    return Answer(msgs)
        except (OSError, EOFError) as e:
            self.raw.close()
            self.open()
            return Answer([("E", b"CXXXXX\0Mthe connection ended: %s\0\0" % str(e)[:80].encode()), ("Z", b"I")])


def equal(a, b, sql):
    if a.code or b.code:
        return a.code == b.code
    if len(a.columns) != len(b.columns) or len(a.rows) != len(b.rows) or a.tags != b.tags:
        return False
    for (n, t), (m, u) in zip(a.columns, b.columns):
        if n != m or t != u and max(t, u) < 16384:
            return False
    if a.rows == b.rows:
        return True
    if sorted(map(repr, a.rows)) != sorted(map(repr, b.rows)):
        return False
    order = ORDER.search(sql)
    if not order:
        return True
    # Rows that are equal by the outer ORDER BY may stand in any order: they do if sorting both by
    # those columns that are in place everywhere leaves equal blocks.
    return any(blocks(a.rows, i) == blocks(b.rows, i) for i in range(len(a.columns)))


ORDER = re.compile(r"(?is)\border\s+by\b(?!.*\border\s+by\b)[^)]*$")


def blocks(rows, i):
    out = []
    for r in rows:
        if not out or out[-1][0] != r[i]:
            out.append((r[i], []))
        out[-1][1].append(repr(r))
    return [(k, sorted(v)) for k, v in out]


NAME = r'(?:"[^"]+"|\w+)(?:\.(?:"[^"]+"|\w+))*'
MADE = re.compile(r"(?is)^\s*create\s+(?:or\s+replace\s+)?(?:global\s+|local\s+)?(?:temp(?:orary)?\s+|unlogged\s+|recursive\s+|materialized\s+)*"
                  r"(table|view|function|type|domain|sequence|aggregate|operator|schema|procedure|index|collation|cast)\s+(?:if\s+not\s+exists\s+)?(%s|[^\s(]+)" % NAME)
INTO = re.compile(r"(?is)^\s*(?:with\b.*?)?select\b.*?\binto\s+(?:temp(?:orary)?\s+|unlogged\s+)?(?:table\s+)?(%s)" % NAME)
KEPT = re.compile(r"(?is)^\s*(?:prepare|declare)\s+(%s)" % NAME)
WRITTEN = re.compile(r"(?is)\b(?:insert\s+into|update|delete\s+from|merge\s+into|truncate(?:\s+table)?|copy|alter\s+table)\s+(?:if\s+exists\s+)?(?:only\s+)?(%s)" % NAME)
TOUCHED = re.compile(r"(?is)\b(?:on|inherits?\s*\(?|partition\s+of|to|table)\s+(%s)" % NAME)
WORDS = set("select insert update delete set on as table using only conflict function values with not a from exists if all each statement column".split())
# Where the name of a table, a function, a type or a cursor stands.
NAMED = re.compile(r"(?is)(\b(from|join|into|update|table|only|using|exists|execute|view|function|type|domain|sequence|as|on|in|of|next|prior|all|close|copy|declare|prepare|cast|truncate|move|public)|fetch(\s+[-\w]+)*|::|\.)\s*\"?$")
DROPPED = re.compile(r"(?is)^\s*drop\s+\w+\s+(?:if\s+exists\s+)?(.*)$")


def last(name):
    return name.split(".")[-1].strip('"').lower()


class Tally:
    def __init__(self):
        self.total, self.agree = collections.Counter(), collections.Counter()
        self.outside = self.consequence = 0


class Run:
    def __init__(self, judge, house, args):
        self.judge, self.house, self.args = judge, house, args
        self.apart = set()  # names that stand for other things on the two servers
        self.tallies, self.why, self.roots = {}, collections.Counter(), collections.Counter()
        self.kinds = collections.defaultdict(list)
        folder = os.path.abspath(args.suite)
        self.variables = {"env:PG_ABS_SRCDIR": folder, "env:PG_ABS_BUILDDIR": folder, "env:PG_LIBDIR": folder, "env:PG_DLSUFFIX": ".so"}

    def topic(self, name, counts=True):
        path = os.path.join(self.args.suite, "sql", name + ".sql")
        if not os.path.exists(path):
            raise SystemExit("no topic " + name)
        t = Tally()
        if counts:
            self.tallies[name] = t
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            text = f.read().encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for c in (self.judge, self.house):
            c.raw.close()
            c.open()
        self.apart |= {"pg_temp"}
        broken = False  # the transactions of the two are not in the same state
        # A script's \set may use what \gset has found: it is read in one go, and \gset's names stay as they stand.
        for s in script.read(text, dict(self.variables)):
            if s.then:
                t.outside += 1
                continue
            sql, data = s.sql, s.data
            m = re.match(r"(?is)^(copy\s+.*?\bfrom\s+)'([^']+)'(.*)$", script.bare(sql))
            if m and os.path.exists(m.group(2)):
                sql = m.group(1) + "STDIN" + m.group(3)
                with open(m.group(2), encoding="utf-8", errors="replace") as f:
                    data = f.read()
            want, got = self.judge.ask(sql, data), self.house.ask(sql, data)
            same = equal(want, got, sql)
            self.count(name, t, s, sql, want, got, same, broken)
            broken = want.status != got.status
            if got.code == "XXXXX" or broken and got.status == "I" != want.status:
                for c in (self.judge, self.house):
                    c.ask("ROLLBACK")
                broken = False
        return t

    def count(self, name, t, s, sql, want, got, same, broken):
        text = script.bare(sql)
        words = set()
        for m in re.finditer(r"\w+", text.lower()):
            w = m.group(0)
            if w in self.apart and NAMED.search(text, 0, m.start()) or text.startswith("(", m.end()) and w in self.apart:
                words.add(w)
            elif w in self.apart and len(w) > 3 and re.search(r"[,'.]\s*$|::$", text[:m.start()]):
                words.add(w)
        made = MADE.match(text)
        hit = words - {last(made.group(2))} if made and want.code is None and got.code is None else words
        why = topics.outside(text)
        if why:
            t.outside += 1
            self.why[why] += 1
        elif hit or broken:
            t.consequence += 1
            for w in hit or {"(the transaction's state)"}:
                self.roots[(name, w)] += 1
        else:
            kind = "query" if topics.QUERY.match(text) else "other"
            t.total[kind] += 1
            t.agree[kind] += same
            if not same:
                self.kinds[(kind, self.kind(want, got))].append((name, s, sql, want, got))
        self.mark(text, want, got, same)

    def mark(self, text, want, got, same):
        """Keeps which names are apart."""
        both = want.code is None and got.code is None
        for p in (MADE, INTO, KEPT):
            m = p.match(text)
            if m:
                n = last(m.group(m.lastindex))
                if both:
                    self.apart.discard(n)
                elif not same:
                    self.apart.add(n)
                    self.part(text, want, got, same)
                return
        m = DROPPED.match(text)
        if m:
            if both:
                for n in re.findall(NAME, m.group(1)):
                    self.apart.discard(last(n))
            return
        self.part(text, want, got, same)

    def part(self, text, want, got, same):
        """Takes out of the comparison what a statement that went otherwise has written, or would have."""
        if same or want.code and got.code:
            return
        for n in WRITTEN.findall(text) + (TOUCHED.findall(text) if topics.outside(text) else []):
            if last(n) not in WORDS:
                self.apart.add(last(n))

    @staticmethod
    def kind(want, got):
        if got.code:
            return "%s %s%s" % (got.code, re.sub(r"\"[^\"]*\"|'[^']*'|\d+", "…", got.text)[:90], "" if not want.code else " (PostgreSQL: %s)" % want.code)
        if want.code:
            return "no error (PostgreSQL: %s %s)" % (want.code, re.sub(r"\"[^\"]*\"|'[^']*'|\d+", "…", want.text)[:70])
        if [c[1] for c in want.columns] != [c[1] for c in got.columns]:
            return "other types"
        if want.columns != got.columns:
            return "other names of columns"
        if want.tags != got.tags:
            return "other counts"
        if sorted(map(repr, want.rows)) == sorted(map(repr, got.rows)):
            return "other order"
        return "other rows"

    def print(self):
        out = print
        out("%-20s %9s %7s %7s   %9s %7s   %8s %7s" % ("topic", "query/DML", "agree", "", "DDL, SET", "agree", "follows", "outside"))
        sum_ = Tally()
        for n, t in self.tallies.items():
            out("%-20s %9d %7d %6.1f%%   %9d %7d   %8d %7d" % (n, t.total["query"], t.agree["query"], percent(t, "query"), t.total["other"], t.agree["other"], t.consequence, t.outside))
            sum_.total += t.total
            sum_.agree += t.agree
            sum_.outside += t.outside
            sum_.consequence += t.consequence
        out("%-20s %9d %7d %6.1f%%   %9d %7d   %8d %7d" % ("all", sum_.total["query"], sum_.agree["query"], percent(sum_, "query"), sum_.total["other"], sum_.agree["other"], sum_.consequence, sum_.outside))
        out("\nin no sum")
        for why, n in self.why.most_common():
            out("%6d  %s" % (n, why))
        if self.args.verbose:
            out("\nwhat most follows from")
            for (topic, w), n in self.roots.most_common(80):
                out("%6d  %s: %s" % (n, topic, w))
        out("\ndisagreements by kind")
        for (kind, k), ds in sorted(self.kinds.items(), key=lambda kv: (kv[0][0] != "query", -len(kv[1]), kv[0])):
            out("%6d  %s: %s" % (len(ds), kind, k))
            if self.args.verbose:
                for name, s, sql, want, got in ds:
                    out("        [%s:%d] %s" % (name, s.line, re.sub(r"\s+", " ", script.bare(sql))[:600]))
                    out("          PostgreSQL %s" % want)
                    out("          lhsql      %s" % got)
        return sum_


def percent(t, kind):
    return 100.0 * t.agree[kind] / max(1, t.total[kind])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--lhsql", required=True)
    ap.add_argument("--suite", required=True)
    ap.add_argument("--topics")
    ap.add_argument("--verbose", action="store_true")
    ap.add_argument("--floor", type=int, default=0, help="fail if fewer queries and writes agree")
    args = ap.parse_args()
    wanted = args.topics.split(",") if args.topics else topics.QUERIES
    folder = tempfile.mkdtemp()
    os.chmod(folder, 0o755)
    pg = house = None
    try:
        pg = harness.Postgres(os.path.join(folder, "judge"), "ALTER DATABASE lake SET lc_messages = 'C'; ALTER DATABASE lake SET lc_monetary = 'C'; GRANT ALL ON SCHEMA public TO public;")
        house = harness.Lhsql(args.lhsql, os.path.join(folder, "warehouse"), os.path.join(folder, "log"))
        run = Run(Connection(pg.server), Connection(house.server), args)
        run.topic("test_setup", counts=False)
        for n in wanted:
            run.topic(n)
            print(n, file=sys.stderr, end=" ", flush=True)
        print(file=sys.stderr)
        got = run.print()
        with open(os.path.join(folder, "log")) as f:
            log = f.read()
        crashes = re.findall(r"(?m)^.*panic.*$", log)
        for c in crashes[:20]:
            print("lhsql's log:", c[:300])
        if got.agree["query"] < args.floor:
            raise SystemExit("%d agree, %d did" % (got.agree["query"], args.floor))
    finally:
        if house:
            house.stop()
        if pg:
            pg.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
