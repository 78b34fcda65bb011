"""What every check uses: the registry of checks, the two servers, comparing them."""

import os
import pty
import re
import select
import shutil
import socket
import subprocess
import time

CHECKS = []


class Skip(Exception):
    """Raised by a check that cannot run here; the text says why."""


def node_packages(cache, home):
    """The folder with the packages of home's package-lock.json, each at its version, installed
    once per version of that file."""
    folder = os.path.join(cache, "node-" + os.path.basename(home))
    want = open(os.path.join(home, "package-lock.json")).read()
    stamp = os.path.join(folder, "stamp")
    if not os.path.exists(stamp) or open(stamp).read() != want:
        if not shutil.which("npm"):
            raise Skip("npm is not installed")
        os.makedirs(folder, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(home, name), folder)
        p = subprocess.run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=folder, capture_output=True, text=True)
        if p.returncode != 0:
            raise Skip("the packages do not install: " + p.stderr[-300:])
        open(stamp, "w").write(want)
    return os.path.join(folder, "node_modules")


def check(number, section, client, title):
    def wrap(f):
        CHECKS.append({"n": number, "section": section, "client": client, "title": title, "run": f})
        return f
    return wrap


def equal(got, want, what=""):
    if got != want:
        raise AssertionError("%s: got %s, want %s" % (what or "values differ", short(got), short(want)))


def true(cond, what):
    if not cond:
        raise AssertionError(what)


def short(x):
    s = repr(x)
    return s if len(s) < 700 else s[:700] + "…"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """Where a server listens; env is what psql and libpq drivers need."""

    def __init__(self, name, port, user="postgres", database="lake", password=None, sslmode=None, host="127.0.0.1"):
        self.name, self.host, self.port, self.user, self.database = name, host, port, user, database
        self.password, self.sslmode = password, sslmode

    def env(self, **more):
        e = {k: v for k, v in os.environ.items() if not k.startswith("PG")}
        e.update(PGHOST=self.host, PGPORT=str(self.port), PGUSER=self.user, PGDATABASE=self.database, PGCONNECT_TIMEOUT="10",
                 LC_ALL="C.UTF-8", PSQLRC="/dev/null", PSQL_HISTORY="/dev/null")
        if self.password:
            e["PGPASSWORD"] = self.password
        if self.sslmode:
            e["PGSSLMODE"] = self.sslmode
        e.update(more)
        return e

    def psql(self, *args, stdin=None, timeout=60, **env):
        p = subprocess.run(["psql", "-X", *args], env=self.env(**env), input=stdin, capture_output=True, text=True, timeout=timeout)
        return p.returncode, p.stdout, p.stderr

    def dsn(self):
        d = "host=%s port=%d user=%s dbname=%s" % (self.host, self.port, self.user, self.database)
        if self.password:
            d += " password='%s'" % self.password
        if self.sslmode:
            d += " sslmode=" + self.sslmode
        return d


def pg_bin():
    """The folder of PostgreSQL's server programs, or None."""
    base = "/usr/lib/postgresql"
    if os.path.isdir(base):
        for v in ("15", "16", "17", "14"):
            d = "%s/%s/bin" % (base, v)
            if os.path.exists(d + "/initdb"):
                return d
    p = shutil.which("initdb")
    return os.path.dirname(p) if p else None


class Postgres:
    """A PostgreSQL of our own with the fixture in it, as the reference."""

    def __init__(self, folder, script):
        self.bin, self.data, self.port = pg_bin(), os.path.join(folder, "pgdata"), free_port()
        as_user = []
        if os.geteuid() == 0:  # initdb refuses root
            as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        self.as_user = as_user
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o777)
        self.run("initdb", "-D", self.data, "-U", "postgres", "-E", "UTF8", "--locale=C")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as f:
            f.write("port=%d\nlisten_addresses='127.0.0.1'\nunix_socket_directories=''\nfsync=off\ntimezone='UTC'\nlog_timezone='UTC'\n" % self.port)
        self.run("pg_ctl", "-D", self.data, "-w", "-l", os.path.join(folder, "pg.log"), "start")
        s = Server("PostgreSQL", self.port, database="postgres")
        rc, _, err = s.psql("-qc", "CREATE DATABASE lake")
        s.database = "lake"
        rc, _, err = s.psql("-q", "-v", "ON_ERROR_STOP=1", stdin=script)
        true(rc == 0, "the fixture in PostgreSQL: " + err)
        self.server = s

    def run(self, prog, *args):
        p = subprocess.run([*self.as_user, os.path.join(self.bin, prog), *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/", text=True)
        true(p.returncode == 0, "%s: %s" % (prog, p.stderr))

    def stop(self):
        subprocess.run([*self.as_user, os.path.join(self.bin, "pg_ctl"), "-D", self.data, "-m", "immediate", "stop"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")


class Lhsql:
    """An lhsql process."""

    def __init__(self, binary, warehouse, log, *options, user="postgres", password=None, sslmode=None):
        self.port = free_port()
        self.log = open(log, "w")
        self.proc = subprocess.Popen([binary, "serve", "--warehouse", warehouse, "--pg", "127.0.0.1:%d" % self.port, *options],
                                     stdout=self.log, stderr=self.log, env={k: v for k, v in os.environ.items() if not k.startswith("LHSQL_")})
        self.server = Server("lhsql", self.port, user=user, password=password, sslmode=sslmode)
        end = time.time() + 20
        while time.time() < end:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.proc.poll() is not None:
                    break
                time.sleep(0.05)
        raise AssertionError("lhsql does not start: " + open(log).read())

    def stop(self):
        self.proc.terminate()
        try:
            self.proc.wait(30)
        except subprocess.TimeoutExpired:
            self.proc.kill()
        self.log.close()


def same_psql(ctx, *args, stdin=None, **env):
    """Runs psql on both servers; the output must agree to the byte."""
    a = ctx.lhsql.psql(*args, stdin=stdin, **env)
    b = ctx.pg.psql(*args, stdin=stdin, **env)
    equal(a[0], b[0], "rc; stderr %s" % short(a[2]))
    if a[1] != b[1]:
        for x, y in zip(a[1].splitlines() + ["(end)"], b[1].splitlines() + ["(end)"]):
            equal(x, y, "psql %s" % " ".join(args))
    equal(a[1], b[1], "psql output")
    return a


def both(ctx, f):
    """f(server) must give the same for both servers."""
    a, b = f(ctx.lhsql), f(ctx.pg)
    if isinstance(a, list) and isinstance(b, list) and a != b:
        for i, (x, y) in enumerate(zip(a, b)):
            equal(x, y, "item %d" % i)
    equal(a, b)
    return a


class Terminal:
    """psql in a terminal of its own, as a person uses it."""

    def __init__(self, server, *args, **env):
        pid, self.fd = pty.fork()
        if pid == 0:
            try:
                os.execvpe("psql", ["psql", "-X", *args], server.env(TERM="dumb", PAGER="cat", COLUMNS="200", LINES="200", **env))
            finally:
                os._exit(127)
        self.pid, self.seen = pid, ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.fd)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)

    def send(self, text):
        os.write(self.fd, text.encode())

    def read(self, seconds):
        """What comes until nothing has come for so long."""
        out = ""
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                chunk = os.read(self.fd, 65536)
            except OSError:
                break
            if not chunk:
                break
            out += chunk.decode("utf-8", "replace")
        return out

    def expect(self, pattern, timeout=15):
        end = time.time() + timeout
        while not re.search(pattern, self.seen):
            true(time.time() < end, "waited for %r, saw %r" % (pattern, self.seen[-400:]))
            self.seen += self.read(0.1)
        out, self.seen = self.seen, ""
        return out
