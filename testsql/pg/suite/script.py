"""Reads a script as psql does: statements, COPY's data, variables."""
import re

DOLLAR = re.compile(r"\$([A-Za-z_\x80-\uffff][A-Za-z_0-9\x80-\uffff]*)?\$")
VARIABLE = re.compile(r":(?:'(\w+)'|\"(\w+)\"|(\w+))")
COMMAND = re.compile(r"\\(\S+)[ \t]*([^\n]*)")


class Step:
    """One statement. data is what follows a COPY … FROM STDIN; then is \\gset's or \\gexec's word, if any."""

    def __init__(self, sql, line):
        self.sql, self.line, self.data, self.then, self.prefix = sql, line, None, None, ""


def is_word(c):
    return c.isalnum() or c in "_$" or c > "\x7f"


def read(text, variables):
    """The steps of a script. variables are psql's, which the script's \\set lines change as it is read.

    \\if, \\c and the display's commands are left out: what they govern is no statement's answer."""
    at, start, depth, begins = 0, 0, 0, 0
    out, parts = [], []
    n = len(text)

    def pending():
        return "".join(parts) + text[start:at]

    def finish(end, after):
        nonlocal start, parts, depth, begins
        sql = ("".join(parts) + text[start:end]).strip()
        start, parts, depth, begins = after, [], 0, 0
        if bare(sql):
            out.append(Step(sql, text.count("\n", 0, end) + 1 - sql.count("\n")))
            return out[-1]
        return None

    while at < n:
        c = text[at]
        if c == "-" and text.startswith("--", at):
            e = text.find("\n", at)
            at = n if e < 0 else e
        elif c == "/" and text.startswith("/*", at):
            nest, at = 1, at + 2
            while at < n and nest:
                if text.startswith("/*", at):
                    nest, at = nest + 1, at + 2
                elif text.startswith("*/", at):
                    nest, at = nest - 1, at + 2
                else:
                    at += 1
        elif c == "'":
            escapes = at > 0 and text[at - 1] in "eE" and (at < 2 or not is_word(text[at - 2]))
            at += 1
            while at < n:
                if escapes and text[at] == "\\":
                    at += 2
                elif text.startswith("''", at):
                    at += 2
                elif text[at] == "'":
                    break
                else:
                    at += 1
            at += 1
        elif c == '"':
            e = text.find('"', at + 1)
            at = n if e < 0 else e + 1
        elif c == "$" and (at == 0 or not is_word(text[at - 1])) and DOLLAR.match(text, at):
            tag = DOLLAR.match(text, at).group(0)
            e = text.find(tag, at + len(tag))
            at = n if e < 0 else e + len(tag)
        elif c == ":" and not text.startswith("::", at) and (at == 0 or text[at - 1] != ":") and VARIABLE.match(text, at):
            m = VARIABLE.match(text, at)
            value = variables.get(m.group(1) or m.group(2) or m.group(3))
            if value is None:
                at += 1
                continue
            parts.append(text[start:at])
            parts.append("'%s'" % value.replace("'", "''") if m.group(1) else '"%s"' % value if m.group(2) else value)
            at = start = m.end()
        elif c in "([":
            depth, at = depth + 1, at + 1
        elif c in ")]":
            depth, at = depth - 1, at + 1
        elif c == "\\":
            if text.startswith("\\;", at):
                parts.append(text[start:at] + ";")
                at = start = at + 2
                continue
            m = COMMAND.match(text, at)
            if not m:
                at += 1
                continue
            word, rest = m.group(1), m.group(2).strip()
            if word in ("g", "gset", "gexec", "gx", "gdesc", "crosstabview", "bind"):
                s = finish(at, m.end())
                if s and word in ("gset", "gexec"):
                    s.then, s.prefix = word, rest
                at = start
                continue
            if word in ("set", "getenv"):
                command(word, rest, variables)
            elif word == "unset":
                variables.pop(rest, None)
            elif word == "r" or word == "q":
                parts = []
            # What stands before the command is kept: psql's buffer outlives it.
            if m.start() > start and bare(text[start:at]):
                parts.append(text[start:at])
            at = start = m.end()
        elif c == ";" and depth <= 0 and not begins:
            s = finish(at, at + 1)
            at = start
            if s and re.match(r"(?is)copy\b.*\bfrom\s+stdin\b", bare(s.sql)):
                at, s.data = copied(text, at)
                start = at
        elif is_word(c):
            e = at
            while e < n and is_word(text[e]):
                e += 1
            word = text[at:e].lower()
            # The body of a function in SQL's own form has semicolons of its own.
            if word == "atomic" and re.search(r"(?i)\bbegin\s+$", pending()):
                begins += 1
            elif begins and word == "case":
                begins += 1
            elif begins and word == "end":
                begins -= 1
            at = e
        else:
            at += 1
    finish(n, n)
    return out


def command(word, rest, variables):
    names = rest.split(None, 1)
    if not names:
        return
    if word == "getenv":
        variables[names[0]] = variables.get("env:" + names[1].strip(), "")
        return
    value = names[1] if len(names) > 1 else ""
    # \set joins its words: quoted ones, variables, plain ones.
    out = ""
    for m in re.finditer(r"'((?:[^']|'')*)'|:(\w+)|(\S)", value):
        if m.group(2):
            out += variables.get(m.group(2), "")
        else:
            out += m.group(1).replace("''", "'") if m.group(1) is not None else m.group(3)
    variables[names[0]] = out


def copied(text, at):
    """COPY's lines up to \\. and where they end."""
    at = text.find("\n", at) + 1
    end = re.compile(r"(?m)^\\\.[ \t]*$").search(text, at)
    if not end:
        return at, ""
    return end.end(), text[at:end.start()]


def bare(sql):
    """sql without the comments before its first word."""
    while True:
        m = re.match(r"\s+|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/", sql)
        if not m:
            return sql
        sql = sql[m.end():]
