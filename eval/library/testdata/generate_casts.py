#!/usr/bin/env python3
"""Makes casts.tsv and cast_matrix.tsv by asking a PostgreSQL 15: generate_casts.py HOST PORT.

casts.tsv: from, input text, to, output text ("!SQLSTATE message" for an error), for explicit
casts; cast_matrix.tsv: from, to, context (i, a, e, or - for no such cast)."""
import subprocess, sys
host, port = sys.argv[1], sys.argv[2]

def psql(script):
    r = subprocess.run(['psql', '-X', '-q', '-At', '-h', host, '-p', port, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1'], input=script, capture_output=True, text=True)
    if r.returncode: sys.exit(r.stderr)
    return r.stdout

values = {
  'smallint': ['0', '1', '-1', '32767', '-32768'],
  'integer': ['0', '1', '-1', '65', '40000', '2147483647', '-2147483648'],
  'bigint': ['0', '-1', '127', '4294967295', '4294967296', '9223372036854775807', '-9223372036854775808'],
  'real': ['0', '0.5', '1.5', '2.5', '-0.5', '1e10', '32767.4', '1e38', 'NaN', 'Infinity', '0.1', '123456.7', '2147483647', '9.2e18', '9.3e18'],
  'double precision': ['0', '-0', '0.5', '1.5', '2.5', '-2.5', '1e10', '1e39', '1e-50', 'NaN', '-Infinity', '0.1', '123456789.123456789', '32767.5', '32767.49', '-32768.5', '-32768.51', '2147483647.5', '9223372036854775807', '9223372036854774784', '1e300'],
  'numeric': ['0', '0.5', '1.5', '-0.5', '2.50', '123456789.987654321', '1e20', '9223372036854775807.4', '9223372036854775807.5', 'NaN', 'Infinity', '-Infinity', '1e-30', '1e400', '32767.5'],
  'numeric(10,2)': ['0', '0.50', '1.50', '-0.50', '12345678.99', '32767.49', '-99999999.99'],
  'numeric(38,4)': ['0', '0.5', '-1.5', '1234567890123456789012345678901234.5678'],
  'boolean': ['t', 'f'],
  'text': ['', '1', ' 12 ', '1.5', 'abc', 'true', '2020-01-02', '10:20:30', '2020-01-02 10:20:30+00', '1 day', '{1,2}', '{"a":1}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '\\x61', 'NaN', 'abc   ', 'äöü'],
  'character varying': ['', '12', 'abc   ', 'abcdef'],
  'character(5)': ['', '12', 'abc', 'true'],
  'name': ['abc', '12'],
  '"char"': ['a', '1'],
  'bytea': ['\\x', '\\x6162'],
  'date': ['2020-01-02', '1969-12-31', 'infinity', '-infinity', '4000-01-01', '0044-03-15 BC', '500000-01-01'],
  'time without time zone': ['00:00:00', '10:20:30.5', '24:00:00'],
  'time with time zone': ['10:20:30+02', '00:00:00-05:30'],
  'timestamp without time zone': ['2020-01-02 10:20:30.123456', '1969-12-31 23:59:59', 'infinity', '-infinity', '2020-03-08 02:30:00', '2020-11-01 01:30:00', '0044-03-15 12:00:00 BC'],
  'timestamp with time zone': ['2020-01-02 10:20:30.123456+00', '2020-07-02 03:00:00+00', 'infinity', '-infinity', '1850-01-01 00:00:00+00'],
  'interval': ['1 day', '25:30:00', '-1 hour', '1 mon 2 days 03:04:05.6', '0'],
  'uuid': ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'],
  'json': ['{"b": 1, "a":[1.0,2]}', '1', 'null', '"x"', 'true', '{"a":1,"a":2}'],
  'jsonb': ['{"b": 1, "a":[1.0,2]}', '1', '1.5', '-2.5', 'null', '"x"', 'true', '40000', '1e400', 'NaN' if False else '0'],
  'oid': ['0', '1', '4294967295'],
  'integer[]': ['{}', '{1,NULL,3}', '{40000}'],
  'bigint[]': ['{1,NULL,3}', '{40000}', '{5000000000}'],
  'text[]': ['{}', '{1,NULL}', '{a}', '{" b "}'],
  'double precision[]': ['{1.5,2.5,NULL}'],
  'numeric[]': ['{1.5,2.50,NULL}'],
  'date[]': ['{2020-01-02,NULL}'],
  'timestamp without time zone[]': ['{"2020-01-02 10:20:30"}'],
}
targets = [t for t in values] + ['character varying(3)', 'character(3)', 'numeric(5,1)', 'numeric(3,3)', 'numeric(20,0)', 'numeric(30,10)', 'character varying(3)[]']
script = """
create function pg_temp.try(q text) returns text language plpgsql as $f$
declare r text;
begin
  execute 'select format(''%s'', x), x is null from (select ' || q || ' as x) s' into r;
  return r;
exception when others then
  return '!' || sqlstate || ' ' || sqlerrm;
end $f$;
set timezone='America/New_York';
create temp table i(n serial, f text, s text, t text);copy i(f,s,t) from stdin;
"""
for f, vs in values.items():
    for t in targets:
        for v in vs:
            script += '\t'.join([f, v.replace('\\', '\\\\'), t]) + '\n'
script += """\\.
copy (select f, s, t, pg_temp.try(format('%L::%s::%s', s, f, t)) from i order by n) to stdout;
"""
open('casts.tsv', 'w').write(psql(script))

base = [t for t in values if '(' not in t] + ['character', 'regclass', 'regtype', 'regproc', 'xid']
string = {'text', 'character varying', 'character', 'name'}
cast = {}
for l in psql("select castsource::regtype, casttarget::regtype, castcontext from pg_cast").split('\n'):
    if l: f, t, c = l.split('|'); cast[f, t] = c
out = ''
def context(f, t):
    if f == t: return 'i'
    if (f, t) in cast: return cast[f, t]
    if f.endswith('[]') and t.endswith('[]'): return context(f[:-2], t[:-2])
    if t in string or t == '"char"' and False: return 'a'
    if f in string: return 'e'
    return '-'
for f in base:
    for t in base: out += '%s\t%s\t%s\n' % (f, t, context(f, t))
open('cast_matrix.tsv', 'w').write(out)
