"""A Postgres client of bare sockets, for the checks that no driver can express."""

import socket
import struct
import time


def i32(n):
    return struct.pack("!i", n)


def i16(n):
    return struct.pack("!h", n)


def cstr(s):
    return (s.encode() if isinstance(s, str) else s) + b"\0"


def startup_packet(params, version=3 << 16):
    body = b"".join(cstr(k) + cstr(v) for k, v in params.items()) + b"\0"
    return i32(8 + len(body)) + i32(version) + body


class Raw:
    """One connection. Messages are tuples (type, body)."""

    def __init__(self, server, timeout=15, **params):
        self.server = server
        self.sock = socket.create_connection((server.host, server.port), timeout=timeout)
        self.buf = b""
        self.params, self.key = {}, None
        if params:
            self.start(**params)

    def close(self):
        self.sock.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.sock.sendall(data)

    def byte(self):
        return self.take(1)

    def take(self, n):
        while len(self.buf) < n:
            chunk = self.sock.recv(65536)
            if not chunk:
                raise EOFError("the server closed the connection; unread: %r" % self.buf)
            self.buf += chunk
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def recv(self):
        typ = self.take(1).decode()
        n = struct.unpack("!i", self.take(4))[0]
        return typ, self.take(n - 4)

    def until(self, end="Z"):
        """Messages up to and with one of the types of end."""
        out = []
        while True:
            m = self.recv()
            out.append(m)
            if m[0] in end:
                return out

    def start(self, version=3 << 16, **params):
        self.send(startup_packet(params, version))
        return self.session()

    def session(self):
        msgs = []
        while True:
            typ, body = self.recv()
            msgs.append((typ, body))
            if typ == "S":
                k, v = body[:-1].split(b"\0")
                self.params[k.decode()] = v.decode()
            elif typ == "K":
                self.key = struct.unpack("!iI", body)
            elif typ in "ZE":
                return msgs

    def msg(self, typ, body=b""):
        self.send(typ.encode() + i32(len(body) + 4) + body)

    def query(self, text):
        self.msg("Q", cstr(text))
        return self.until()

    def parse(self, text, name="", oids=()):
        self.msg("P", cstr(name) + cstr(text) + i16(len(oids)) + b"".join(struct.pack("!I", o) for o in oids))

    def bind(self, portal="", name="", values=(), formats=(), results=()):
        b = cstr(portal) + cstr(name) + i16(len(formats)) + b"".join(i16(f) for f in formats) + i16(len(values))
        for v in values:
            b += i32(-1) if v is None else i32(len(v)) + v
        self.msg("B", b + i16(len(results)) + b"".join(i16(f) for f in results))

    def describe(self, kind, name=""):
        self.msg("D", kind.encode() + cstr(name))

    def execute(self, portal="", limit=0):
        self.msg("E", cstr(portal) + i32(limit))

    def sync(self):
        self.msg("S")
        return self.until()


def types(msgs):
    return "".join(t for t, _ in msgs if t not in "SN")


def fields(body):
    """The fields of an error or notice."""
    return {f[:1].decode(): f[1:].decode() for f in body.split(b"\0") if f}


def error(msgs):
    for t, b in msgs:
        if t == "E":
            return fields(b)
    return None


def tags(msgs):
    return [b[:-1].decode() for t, b in msgs if t == "C"]


def status(msgs):
    return [b.decode() for t, b in msgs if t == "Z"]


def rows(msgs):
    out = []
    for t, b in msgs:
        if t != "D":
            continue
        n, at, row = struct.unpack("!h", b[:2])[0], 2, []
        for _ in range(n):
            size = struct.unpack("!i", b[at:at + 4])[0]
            at += 4
            if size < 0:
                row.append(None)
                continue
            row.append(b[at:at + size])
            at += size
        out.append(row)
    return out


def columns(msgs):
    """Name, type OID, typlen, typmod, format of each column of the first RowDescription."""
    for t, b in msgs:
        if t == "T":
            n, at, out = struct.unpack("!h", b[:2])[0], 2, []
            for _ in range(n):
                end = b.index(b"\0", at)
                name = b[at:end].decode()
                table, attnum, oid, size, mod, fmt = struct.unpack("!IhIhih", b[end + 1:end + 19])
                out.append((name, oid, size, mod, fmt))
                at = end + 19
            return out
    return None


def cancel(server, key):
    with socket.create_connection((server.host, server.port), timeout=10) as s:
        s.sendall(i32(16) + i32(80877102) + i32(key[0]) + struct.pack("!I", key[1]))
        try:
            s.recv(1)
        except OSError:
            pass
