"""Section A: who may come in, and how it is kept secret."""

import os
import shutil
import socket
import ssl
import subprocess
import time

from harness import Server, Skip, check, equal, true
from rawpg import Raw, cstr, error, i32, rows, startup_packet


def openssl(folder, *args):
    subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)


def authority(ctx):
    """A folder with an authority, the server's certificate for localhost, and clients'."""
    folder = os.path.join(ctx.tmp, "ca")
    if os.path.exists(folder):
        return folder
    os.makedirs(folder)
    for name in ("ca", "other"):
        openssl(folder, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=" + name, "-out", name + ".pem", "-keyout", name + ".key")
    for name, ca in (("localhost", "ca"), ("anna", "ca"), ("nobody", "ca"), ("forged", "other")):
        openssl(folder, "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + ("anna" if name == "forged" else name), "-out", name + ".csr", "-keyout", name + ".key")
        openssl(folder, "x509", "-req", "-in", name + ".csr", "-CA", ca + ".pem", "-CAkey", ca + ".key", "-CAcreateserial", "-days", "2", "-out", name + ".pem")
    for f in os.listdir(folder):
        os.chmod(os.path.join(folder, f), 0o600)
    return folder


def user_line(ctx, name, password):
    return subprocess.run([ctx.binary, "user", name], input=password, text=True, capture_output=True, check=True).stdout


@check(5.1, "A", "psql", "client certificates: the CN is the user; another's, a stranger's or none needs the password")
def client_certificates(ctx):
    ca = authority(ctx)
    users = os.path.join(ctx.tmp, "cert-users")
    open(users, "w").write(user_line(ctx, "anna", "pw"))
    s = ctx.start("cert", "--users_file", users, "--tls.cert", ca + "/localhost.pem", "--tls.key", ca + "/localhost.key", "--tls.client_ca", ca + "/ca.pem",
                  user="anna", sslmode="verify-full")
    s.host = "localhost"

    def login(cert, user="anna", **more):
        e = dict(PGSSLROOTCERT=ca + "/ca.pem", PGUSER=user, PGHOSTADDR="127.0.0.1", **more)
        if cert:
            e.update(PGSSLCERT="%s/%s.pem" % (ca, cert), PGSSLKEY="%s/%s.key" % (ca, cert))
        return s.psql("-wAtc", "select current_user", **e)
    equal(login("anna")[:2], (0, "anna\n"))
    rc, _, err = login("nobody")
    true(rc == 2 and "no password supplied" in err, err)
    rc, _, err = login("nobody", user="nobody")  # a good certificate of one who is no user
    true(rc == 2 and "no password supplied" in err, err)
    rc, _, err = login(None)
    true(rc == 2 and "no password supplied" in err, err)
    equal(login(None, PGPASSWORD="pw")[:2], (0, "anna\n"))
    equal(login("nobody", PGPASSWORD="pw")[:2], (0, "anna\n"))
    rc, _, err = login("forged", PGPASSWORD="pw")  # of another authority: no TLS at all
    true(rc == 2 and ("unknown" in err or "certificate" in err or "closed" in err), err)
    open(users, "w").write(user_line(ctx, "berta", "pw"))  # anna is taken out: her certificate is worth nothing
    rc, _, err = login("anna")
    true(rc == 2 and "no password supplied" in err, err)


@check(5.2, "A", "psql psycopg", "md5 verifiers let nobody in unless auth.md5 is on")
def md5(ctx):
    import hashlib
    import psycopg
    users = os.path.join(ctx.tmp, "md5-users")
    open(users, "w").write("old:md5%s\n" % hashlib.md5(b"geheimold").hexdigest() + user_line(ctx, "anna", "pw"))
    off = ctx.start("md5off", "--users_file", users, user="old", password="geheim")
    rc, _, err = off.psql("-c", "select 1")
    true(rc == 2 and 'password authentication failed for user "old"' in err, err)
    on = ctx.start("md5on", "--users_file", users, "--auth.md5", "on", user="old", password="geheim")
    equal(on.psql("-Atc", "select current_user")[:2], (0, "old\n"))
    rc, _, err = on.psql("-c", "select 1", PGPASSWORD="wrong")
    true(rc == 2 and 'password authentication failed for user "old"' in err, err)
    equal(on.psql("-Atc", "select current_user", PGUSER="anna", PGPASSWORD="pw")[:2], (0, "anna\n"))  # SCRAM stays SCRAM
    with psycopg.connect(on.dsn()) as c:
        equal(c.execute("select current_user").fetchone(), ("old",))


@check(5.3, "A", "libpq 17+", "sslnegotiation=direct, with channel binding; protocol 3.2 asked for and negotiated")
def newest_libpq(ctx):
    import psycopg
    version = psycopg.pq.version()
    if version < 170000:
        raise Skip("psycopg's libpq is %d" % version)
    with psycopg.connect(ctx.tls.dsn() + " sslnegotiation=direct channel_binding=require") as c:
        equal(c.execute("select current_user").fetchone(), ("anna",))
        true(c.pgconn.ssl_in_use, "no TLS")
    try:
        psycopg.connect(ctx.auth.dsn() + " sslnegotiation=direct sslmode=require connect_timeout=5").close()
        raise AssertionError("direct TLS with a server without TLS")
    except psycopg.OperationalError:
        pass
    if version >= 180000:
        for v in ("3.0", "3.2", "latest"):
            with psycopg.connect(ctx.tls.dsn() + " max_protocol_version=" + v) as c:
                equal(c.execute("select 1").fetchone(), (1,))
                true(c.pgconn.backend_pid > 0, "no key")
        try:
            psycopg.connect(ctx.lhsql.dsn() + " min_protocol_version=3.2").close()
        except psycopg.OperationalError as e:  # the client insists and says why it leaves
            true("3.2" in str(e) or "protocol" in str(e), str(e))


@check(5.4, "A", "psql", "users come, change and go without a restart; a broken file changes nothing")
def reload_users(ctx):
    users = os.path.join(ctx.tmp, "live-users")
    open(users, "w").write(user_line(ctx, "anna", "one"))
    s = ctx.start("live", "--users_file", users, user="anna", password="one")

    def rc(user, password):
        return s.psql("-Atc", "select 1", PGUSER=user, PGPASSWORD=password)[0]
    with Raw(s) as idle:
        equal((rc("anna", "one"), rc("berta", "two")), (0, 2))
        open(users, "a").write(user_line(ctx, "berta", "two"))
        equal((rc("anna", "one"), rc("berta", "two")), (0, 0))
        open(users, "w").write(user_line(ctx, "anna", "three"))
        equal((rc("anna", "one"), rc("anna", "three"), rc("berta", "two")), (2, 0, 2))
        open(users, "w").write("this is no line\n")
        equal((rc("anna", "three"), rc("berta", "two")), (0, 2))
        new = users + ".new"
        open(new, "w").write(user_line(ctx, "carla", "four"))
        os.rename(new, users)
        equal((rc("anna", "three"), rc("carla", "four")), (2, 0))
        idle.send(startup_packet({"user": "carla", "database": "lake"}))  # a connection from before sees the new file
        equal(idle.recv()[1][:4], i32(10))


@check(5.5, "A", "socket", "SCRAM: no downgrade over TLS, no reply for a wrong user that differs, no proof twice")
def scram_attacks(ctx):
    def tls():
        c = Raw(ctx.tls)
        c.send(i32(8) + i32(80877103))
        equal(c.byte(), b"S")
        x = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        x.check_hostname, x.verify_mode = False, ssl.CERT_NONE
        c.sock = x.wrap_socket(c.sock)
        return c

    def first(c, user, mech, header):
        c.send(startup_packet({"user": user, "database": "lake"}))
        equal(c.recv()[0], "R")
        body = header + b"n=,r=abcdefghijklmnop"
        c.msg("p", cstr(mech) + i32(len(body)) + body)
        return c.recv()
    # "y" says that the client could bind the channel and saw no offer: somebody cut it out.
    with tls() as c:
        typ, body = first(c, "anna", "SCRAM-SHA-256", b"y,,")
        equal((typ, error([(typ, body)])["C"]), ("E", "28P01"))
    with tls() as c:
        equal(first(c, "anna", "SCRAM-SHA-256", b"n,,")[0], "R")
    with tls() as c:
        typ, body = first(c, "anna", "SCRAM-MD5", b"n,,")
        equal((typ, error([(typ, body)])["C"]), ("E", "08P01"))
    # A user who does not exist gets a salt too, and the same one each time.
    seen = []
    for user in ("nobody", "nobody", "nobody2", "anna"):
        with Raw(ctx.auth) as c:
            typ, body = first(c, user, "SCRAM-SHA-256", b"n,,")
            equal((typ, body[:4]), ("R", i32(11)))
            parts = dict(p.split(b"=", 1) for p in body[4:].split(b","))
            true(parts[b"r"].startswith(b"abcdefghijklmnop") and len(parts[b"r"]) > 24, "the server's nonce")
            seen.append((parts[b"s"], parts[b"i"]))
    equal(seen[0], seen[1])
    true(seen[0] != seen[2] and len(seen[0][0]) == len(seen[3][0]) and seen[0][1] == seen[3][1], "an unknown user can be told from a known one: %s" % seen)
    # Rubbish instead of proofs ends the connection with an error and no more.
    for body in (b"", b"c=biws", b"c=biws,r=wrong,p=AAAA", b"\0" * 100, b"p" * 10000):
        with Raw(ctx.auth) as c:
            first(c, "anna", "SCRAM-SHA-256", b"n,,")
            c.msg("p", body)
            equal(error([c.recv()])["C"], "28P01")
