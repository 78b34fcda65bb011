#!/usr/bin/env python3
"""Makes text_io.tsv and decimal.tsv by asking a PostgreSQL 15: generate.py HOST PORT.

Each line of text_io.tsv: settings, type, input, output ("!SQLSTATE message" for an error).
Each line of decimal.tsv: operation, operands, result likewise. COPY's text format."""
import random, subprocess, sys

host, port = sys.argv[1], sys.argv[2]
random.seed(15)

def esc(s): return s.replace('\\', '\\\\').replace('\t', '\\t').replace('\n', '\\n').replace('\r', '\\r')

def psql(script):
    r = subprocess.run(['psql', '-X', '-q', '-h', host, '-p', port, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1'], input=script, capture_output=True, text=True)
    if r.returncode: sys.exit(r.stderr)
    return r.stdout

SETUP = """
create function pg_temp.try(q text) returns text language plpgsql as $f$
declare r text;
begin
  execute 'select (' || q || ')::text' into r;
  return coalesce(r, '<null>');
exception when others then
  return '!' || sqlstate || ' ' || sqlerrm;
end $f$;
"""

ints = ['0', '1', '-1', '+5', ' 42 ', '', ' ', 'abc', '1.5', '1e3', '32767', '32768', '-32768', '-32769', '2147483647', '2147483648',
  '-2147483648', '-2147483649', '9223372036854775807', '9223372036854775808', '-9223372036854775808', '-9223372036854775809',
  '99999999999999999999999', '0x10', '1_000', '--1', '+-1', '- 1', '1 2', '007', '\t7\n']
floats = ['0', '-0', '1', '-1.5', '1e10', '1e15', '1e16', '123456789012345678', '0.1', '0.0001', '0.00001', '1e-5', '1.5e-7', '3.4028235e38', '3.5e38', '1e39',
  '1e-45', '1e-46', '1e308', '1.8e308', '1e400', '4.9e-324', '1e-400', 'NaN', 'nan', 'inf', '-inf', 'Infinity', '-Infinity', '+Infinity', 'infinit', '', '.', '.5', '5.', '1e', 'e5',
  '1e+5', '1e-5', '0x1p3', '123456', '1234567', '0.3333333333333333', '100000', '1000000', '999999.5', '1e5', '1e6', '1e7', '12345678.9', ' 1.5 ', '0.000123456789', '314159265358979', '3141592653589793', '-1e-5', '1e23', '5e-324', '1e-310']
floats += [repr(random.uniform(-1, 1) * 10 ** random.randint(-20, 20)) for _ in range(60)]
nums = ['0', '-0', '0.0', '-0.00', '1', '1.50', '.5', '5.', '-.5', '.', '', ' 12.3 ', '1e3', '1.5e1', '1.50e1', '1e-3', '1.5E-2', '12345678901234567890', '-12345678901234567890.123456789', 'NaN', ' nan ', 'inf', '-Infinity', '+inf', 'Infinityx',
  '1e131072', '1e131071.', '1e5x', '1 2', '1e', '1e+', '0e100', '0.000e5', '00012.3400', '1e-16', '123.456e-2', '99999999999999999999999999999999999999', '0.' + '0' * 30 + '1', '1e20', '1e18', '9223372036854775807', '9223372036854775808', '-9223372036854775808', '+-5', '1__0']
bools = ['t', 'true', 'TRUE', ' True ', 'tr', 'f', 'false', 'fals', 'y', 'ye', 'yes', 'n', 'no', 'on', 'of', 'off', 'o', '1', '0', '10', '', 'x', 'truee', 'yess']
dates = ['2020-01-02', '2020-1-2', '20200102', '200102', '1/2/2020', '01/02/20', '1-2-99', '99-1-2', 'Jan 2, 2020', '2 Jan 2020', '2020-Jan-02', 'Jan-02-2020', '02-Jan-2020', '02-Jan-20', 'January 2 2020', 'jan 2 2020 BC', '0001-01-01 BC', '0044-03-15 BC', '4713-11-24 BC', '4714-11-24 BC', '4714-11-23 BC', '5874897-12-31', '5874898-01-01', '0000-01-01', '2020-02-29', '2019-02-29', '2020-02-30', '2020-13-01', '2020-00-10', '2020-12-32', '13/13/2020', '25/12/2020', 'infinity', '-infinity', ' Infinity', 'epoch', 'J2451187', 'julian 2451187', 'J0', '2020.123', '2020.01.02', '1999.008', '2020-123', '1999-008', '2020-01-02 10:20:30', '2020-01-02T10:20:30Z', '2020-01-02 garbage', 'garbage', '', ' ', '2020-01', '2020', 'Jan 2020', 'Thursday, January 2, 2020', 'Thu Jan 02 2020', '2020 Jan 2', '2020/01/02', '2020-01-02 BC', '2020-01-02 AD', '20 Jan 02', '1 2 2020', '2020 1 2', '10000-01-01', '12345-06-07', '1.2.2020', '99999999-01-01', '1999-Jan-08', 'January 8, 99 BC', '08-Jan-99', '99-Jan-08', 'Jan-08-99', '1/8/1999', '1/18/1999', '18/1/1999', '990108', '19990108', 'Apr 31 2020', 'at 2020-01-02 on', '٣', '2020-01-02x', '2020-01-02 24:00:00', '2020-01-02 25:00', 'x2020-01-02', '2020--01-02', '-2020-01-02', '1994-001']
times = ['10:20:30', '10:20', '10:20:30.5', '10:20:30.123456', '10:20:30.1234567', '10:20:30.9999999', '102030', '1020', '10', '102030.5', '1:2:3', '24:00:00', '24:00:01', '25:00:00', '23:59:60', '23:59:61', '10:60', '10:20 PM', '10:20 AM', '12:00 AM', '12:00 PM', '13:00 PM', '13:00 AM', '12:30:15 am', '10:20:30+02', '10:20:30-05:30', '10:20:30 PST', '10:20:30 UTC', '10:20:30Z', '10:20:30 America/New_York', '2020-01-02 10:20:30', '2020-07-02 10:20:30 America/New_York', 'allballs', 'T10:20:30', '040506', '0405', '04:05:06 PM', '04:05:06.789-8', '04:05:06-08:00', '040506-08', '10:20:30+15:59', '10:20:30+16', '', 'x', '10:', ':10', '10:20:', '10:20:30:40', '10:20.5', '00:00:00', '23:59:59.999999', '23:59:59.9999999', '10:20:30 +02:30:15']
tss = ['2020-01-02 10:20:30', '2020-01-02T10:20:30', '2020-01-02t10:20:30', '2020-01-02', '2020-01-02 10:20', '2020-01-02 10:20:30.5', '2020-01-02 10:20:30.1234565', '2020-01-02 10:20:30.000001', '2020-01-02 10:20:30+02', '2020-01-02 10:20:30 +02:30', '2020-01-02 10:20:30-0530', '2020-01-02 10:20:30Z', '2020-01-02 10:20:30 z', '2020-01-02 10:20:30 UTC', '2020-01-02 10:20:30 EST', '2020-07-02 10:20:30 EDT', '2020-07-02 10:20:30 America/New_York', '2020-01-02 10:20:30 america/new_york', '2020-07-02 10:20:30 Europe/Berlin', '2020-01-02 10:20:30 PST8PDT', '2020-01-02 10:20:30 UTC+3', '2020-01-02 10:20:30 Nowhere/City', '2020-01-02 10:20:30 XYZ', '2020-01-02 24:00:00', '2020-12-31 23:59:60', '2020-01-02 24:00:01', '20200102 102030', '20200102T102030', '20200102T102030Z', '20200102T102030.5+02', '20200102 10:20:30', 'Jan 2 2020 10:20:30', 'Thu Jan 02 10:20:30 2020', 'Thu Jan 02 10:20:30 2020 UTC', 'Thu Jan 02 10:20:30.25 2020 PST', 'Thu 02 Jan 10:20:30 2020', '01/02/2020 10:20:30 AM', '1/2/2020 10:20:30 PM', '2020-01-02 10:20:30 BC', 'infinity', '-infinity', 'epoch', '294246-12-31 23:59:59.999999', '4714-11-24 00:00:00 BC', '4714-11-23 23:59:59 BC', '2020-02-30 10:00', '2020-01-02 10:20:30 foo', '', 'now x', '10:20:30 2020-01-02', '10:20:30 Jan 2 2020', '2020-01-02 102030', '2020-01-02 1020', '2020-01-02 10', '2020-01-02 10:20:30+99', '2020-03-08 02:30:00', '2020-11-01 01:30:00', '2020-03-08 02:30:00 America/New_York', '2020-11-01 01:30:00 America/New_York', '2020-03-29 02:30:00', '2020-10-25 02:30:00', '1900-01-01 00:00:00', '1883-11-18 12:00:00', '1800-06-01 12:34:56', '2050-07-01 00:00:00', '3000-07-01 00:00:00', 'J2451187.5', 'J2451187 10:20', '2001-02-03 04:05:06.999999999', '1969-12-31 23:59:59.999999', '0099-01-01 00:00:00', '0001-01-01 00:00:00 BC', '2020-01-02 10:20:30.', '2020-01-02 allballs', '2020.123 10:20', '2020-01-02 10:20:30 DST', '2020-01-02 10:20:30 MST DST', '12-31-1999 23:59', '31-12-1999 23:59']
ivs = ['1 day', '1 day 2 hours', '1 day 2 hours ago', '-1 day', '1 year 2 months 3 days 4 hours 5 minutes 6.789 seconds', '@ 1 year 2 mons -3 days 4 hours', '1-2', '-1-2', '1-2 3 4:05:06', '+1-2 -3 +4:05:06', '3 4:05:06', '4:05:06', '-4:05:06', '4:05', '04:05:06.789', 'P1Y2M3DT4H5M6S', 'P1Y2M3DT4H5M6.5S', 'PT0S', 'P1W', 'P0001-02-03T04:05:06', 'P1Y', 'PT1H', 'P-1Y2M', 'P1.5Y', 'PT1.5H', 'P', 'PT', 'P1', '1.5 days', '1.5 months', '1.5 years', '0.1 months', '1.7 weeks', '2 weeks', '1 decade', '1 century', '1 millennium', '1.5 decades', '1 microsecond', '1.5 milliseconds', '1 ms', '1 us', '100', '1.5', '-1.5', '1', '', 'x', '1 x', '1 day 1 day', '1 hour 1:00', '1 mon 1 year', '1 y 1 mon 1 d 1 h 1 m 1 s', '1 yr', '1 quarter', 'infinity', '1 day ago', 'ago', '1 day ago ago', '178956970 years', '178956971 years', '-178956970 years -8 months', '2147483647 days', '2147483648 days', '2147483647 hours', '2562047788 hours', '2562047789 hours', '9223372036854775807 us', '9223372036854775808 us', '1 day -00:00:01', '-1 days +02:03:04', '1 year -1 month', '-1 year +1 month', '1 month -1 day', '0.5 hour', '0.000001 seconds', '0.0000001 seconds', '1:2:3', '1:60:00', '00:61', '10:20.5', '1 day 10', '3 10', '1 12:00', '12 hours 30', '1 month', '30 days', '1.999999 seconds', '-0.5 seconds', '-1 second', '1.123456789 s', '1 month 15 days', '2 years 30 seconds', '1e3 days', '1 day,', 'P1Y2M3D T4H', 'p1y', '1 hours 2 minutes', '-1 hours -2 minutes', '1 hour -2 minutes', '36 hours', '25:00:00', '1 day 25 hours', '0', '0 days', '-0.1 days', '1 mons', '5 cents', '1.5 weeks', '0.3 years', '7 mils', '1 usec', '1 day 2:3:4.5 ago', '1 sec 1 ms', '1.5 sec 1 ms', '-23:00:00', '1-13', '1-11', '1-2-3', 'P20200102', 'P00010203T040506', 'PT040506', '1 day - 2 hours']
uuids = ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}', 'a0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0ee-bc99-9c0b-4ef8-bb6d-6bb9-bd38-0a11', '{a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11}', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a111', '', 'x0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', ' a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'a-0eebc999c0b4ef8bb6d6bb9bd380a11', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11-', 'a0eebc99--9c0b-4ef8-bb6d-6bb9bd380a11', 'ffffffff-ffff-ffff-ffff-ffffffffffff']
byteas = ['\\x', '\\x00ff', '\\xDEADbeef', '\\x0', '\\xzz', '\\x00 ff', '\\x 0 0', 'abc', '', 'a\\\\b', '\\000\\377', '\\400', '\\12', 'a\\', 'é', '\\x00f', "'\\\\"]
jsons = ['{}', '[]', 'null', 'true', '1', '-0', '-0.0', '1.50', '1e3', '1E+2', '1.5e-3', '"a"', '"\\u0041"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud83d"', '"\\ude00"', '"\\u0000"', '"\\u12"', '"\\x"', '"a\\nb\\t\\"\\\\\\/"', '{"b":1,"a":2}', '{"aa":1,"b":2,"c":3}', '{"a":1,"a":2}', '{"a":{"z":[1,2,{"y":null}]},"b":true}', ' [ 1 , 2 ] ', '{"a":1,}', '[1,]', '[1 2]', '{"a" 1}', '{a:1}', '', ' ', 'tru', '01', '1.', '.5', '+1', '1e', '"abc', '{"a":1', '[1', '{"a":1}}', 'nul', "'a'", '[1,2]x', '"\t"', '-', '{"":1}', '"\x7f"', '12345678901234567890123456789.123456789', '{"a":[{"b":[[]]}]}', 'NaN', '{1:2}', '[,]', '{,}', '"é"', '1 2', 'true false', '{"k": 1.10}', '"\\u001f\\b\\f"']
arrs = ['{}', '{1,2,3}', ' { 1 , 2 } ', '{NULL,1}', '{null}', '{"1"}', '{1,}', '{,1}', '{1', '1', '', '{1}}', '{a}', '[1:2]={1,2}', '[1:3]={1,2}', '{"NULL"}', '{1 2}', '{99999999999}']
tarrs = ['{}', '{a,b}', '{"a b",c}', '{a b}', '{ a b , c }', '{NULL,"NULL",null}', '{""}', '{"a\\"b"}', '{a\\,b}', '{"{}"}', '{\\"}', '{a"b"}', '{"a"b}', '{"a', '{a\\', '{\\N}', '{" "}', '{a,,b}', '{"a","b"}x', '{é,"ü,"}', '{nullx}', '{\\null}', '{"\t"}', "{a'b}"]

groups = [('', 'smallint', ints), ('', 'integer', ints), ('', 'bigint', ints), ('', 'oid', ints), ('', 'real', floats), ('', 'double precision', floats),
  ('extra_float_digits=0', 'double precision', floats), ('extra_float_digits=0', 'real', floats), ('extra_float_digits=-3', 'double precision', floats), ('', 'numeric', nums + floats[:40]), ('', 'numeric(10,2)', nums + ['99999999.99', '99999999.994', '99999999.995', '-99999999.995', '1.005', '-1.005', '2.675']), ('', 'numeric(3,3)', ['0.9994', '0.9995', '1', '-0.9994']), ('', 'numeric(5,0)', ['99999.4', '99999.5', '1e4', '-0.5', '0.5']),
  ('', 'boolean', bools), ('', 'uuid', uuids), ('', 'bytea', byteas), ('bytea_output=escape', 'bytea', byteas), ('', 'json', jsons), ('', 'jsonb', jsons), ('', 'integer[]', arrs), ('', 'text[]', tarrs),
  ('', 'numeric[]', ['{1.0,2.50,NaN}']), ('', 'timestamp without time zone[]', ['{2020-01-02 10:20:30,infinity}', '{"2020-01-02 10:20:30"}']),
  ('', 'character varying(3)', ['abc', 'abcd', 'abc  ', 'ab', '', 'äöüß']), ('', 'character(3)', ['abc', 'abcd', 'abc  ', 'ab', '']), ('', 'name', ['abc', 'x' * 70, 'é' * 40]), ('', '"char"', ['a', '']), ('', 'time without time zone', times), ('', 'time with time zone', times)]
for z in ['UTC', 'America/New_York', 'Europe/Berlin', 'Asia/Kolkata']:
    groups.append(('timezone=' + z, 'timestamp with time zone', tss))
groups.append(('timezone=UTC', 'timestamp without time zone', tss))
groups.append(('', 'date', dates))
for s in ['ISO, DMY', 'ISO, YMD', 'SQL, MDY', 'SQL, DMY', 'Postgres, MDY', 'Postgres, DMY', 'German']:
    groups.append(('datestyle=' + s, 'date', dates))
    groups.append(('timezone=America/New_York;datestyle=' + s, 'timestamp with time zone', tss))
    groups.append(('datestyle=' + s, 'timestamp without time zone', tss))
for s in ['postgres', 'postgres_verbose', 'sql_standard', 'iso_8601']:
    groups.append(('intervalstyle=' + s, 'interval', ivs))

out = []
for settings, typ, inputs in groups:
    s = SETUP + 'set timezone=\'UTC\';create temp table i(n serial, s text);copy i(s) from stdin;\n'
    s += ''.join(esc(x) + '\n' for x in inputs) + '\\.\n'
    for kv in filter(None, settings.split(';')):
        k, v = kv.split('=', 1)
        s += "set %s = '%s';\n" % (k, v) if k != 'datestyle' else "set datestyle = %s;\n" % v
    # A jsonb subselect keeps psql from trimming; text output through the type's own function.
    s += "copy (select '%s', '%s', s, pg_temp.try(format('%%L::%s', s)) from i order by n) to stdout;\n" % (settings, typ, typ)
    s = s.replace("execute 'select (' || q || ')::text' into r;", "execute 'select (' || q || ')::text' into r;" if typ not in ('character(3)',) else "execute 'select format(''%s'', ' || q || ')' into r;")
    if typ == 'boolean':
        s = s.replace("|| ')::text' into r", "|| ')::int' into r")
    out.append(psql(s))
# Casts spelled format('%L::type') are explicit, which cuts varchar(n): keep to the input function for those.
open('text_io.tsv', 'w').write(''.join(out))

def rnd():
    k = random.random()
    if k < .1: return random.choice(['0', '1', '-1', '0.00', '10', '100', '0.1', '1.0', 'NaN', 'Infinity', '-Infinity'])
    n = random.choice([1, 2, 3, 5, 9, 18, 19, 25, 40])
    s = ''.join(random.choice('0123456789') for _ in range(n))
    p = random.randint(0, n)
    s = (s[:p] or '0') + ('.' + s[p:] if p < n else '')
    if random.random() < .15: s += 'e%d' % random.randint(-12, 12)
    return random.choice(['', '-']) + s
lines = []
for op in ['+', '-', '*', '/', '%', 'div', 'cmp']:
    for _ in range(150): lines.append((op, rnd(), rnd()))
for _ in range(150): lines.append(('round', rnd(), str(random.randint(-6, 12))))
for _ in range(100): lines.append(('trunc', rnd(), str(random.randint(-6, 12))))
for f in ['sqrt', 'ln', 'exp', 'ceil', 'floor', 'trim_scale', 'abs', 'int8', 'int4', 'float8', 'float4']:
    for _ in range(60):
        x = rnd()
        if f == 'exp' and random.random() < .8: x = '%.*f' % (random.randint(0, 12), random.uniform(-40, 40))
        lines.append((f, x, '0'))
for _ in range(120): lines.append(('log', rnd(), rnd()))
for _ in range(150): lines.append(('power', rnd() if random.random() < .3 else '%.*f' % (random.randint(0, 8), random.uniform(-2, 60)), random.choice(['%.*f' % (random.randint(0, 6), random.uniform(-9, 30)), str(random.randint(-30, 40)), rnd()]) ))
lines += [('power', a, b) for a in ['2', '10', '0', '-2', '-1', '1', '1.5', 'Infinity', '-Infinity', 'NaN', '0.5'] for b in ['0', '1', '2', '3', '-1', '-2', '100', '0.5', '-0.5', 'Infinity', '-Infinity', 'NaN', '3.0']]
lines += [('power', '10', '-20'), ('power', '1.000000001', '1000000'), ('power', '10', '200000'), ('power', '0.1', '3000'), ('exp', '1000', '0'), ('exp', '5000', '0'), ('exp', '7000', '0'), ('exp', '-6000', '0'), ('exp', '-5000', '0'), ('ln', '0.95', '0'), ('ln', '1.00000001', '0'), ('ln', '1', '0'), ('ln', '1.0000', '0'), ('sqrt', '0.0000000001', '0'), ('sqrt', '12345678901234567890', '0')]
sql = {'div': 'div({a},{b})', 'cmp': "(case when {a}<{b} then -1 when {a}={b} then 0 else 1 end)", 'round': 'round({a},{i})', 'trunc': 'trunc({a},{i})', 'log': 'log({a},{b})', 'power': 'power({a},{b})', 'int8': '{a}::int8', 'int4': '{a}::int4', 'float8': '{a}::float8', 'float4': '{a}::float4'}
s = SETUP + 'create temp table i(n serial, op text, a text, b text, q text);copy i(op,a,b,q) from stdin;\n'
for op, a, b in lines:
    if op in ('+', '-', '*', '/', '%'): q = "'%s'::numeric %s '%s'::numeric" % (a, op, b)
    else: q = sql.get(op, op + '({a})').format(a="'%s'::numeric" % a, b="'%s'::numeric" % b, i=b)
    s += '\t'.join([op, a, b, q]) + '\n'
s += '\\.\ncopy (select op, a, b, pg_temp.try(q) from i order by n) to stdout;\n'
open('decimal.tsv', 'w').write(psql(s))

# interval.tsv: operation, operands, result.
def rint():
    return '%d mons %d days %s%d:%02d:%02d.%d' % (random.randint(-40, 40), random.randint(-70, 70), random.choice(['', '-']), random.randint(0, 60), random.randint(0, 59), random.randint(0, 59), random.randint(0, 999999))
def rts():
    return '%04d-%02d-%02d %02d:%02d:%02d.%06d' % (random.choice([2020, 2024, 1999, random.randint(1, 9999)]), random.randint(1, 12), random.randint(1, 28), random.randint(0, 23), random.randint(0, 59), random.randint(0, 59), random.choice([0, random.randint(0, 999999)]))
def rfl(): return random.choice(['0.5', '1.5', '-2', '0.1', '3', '7', '0.333333', '1e-3', '12.7', '-0.7', '%.3f' % random.uniform(-20, 20)])
ops = {'mul': ("'{a}'::interval * '{b}'::float8", rint, rfl), 'div': ("'{a}'::interval / '{b}'::float8", rint, rfl), 'add': ("'{a}'::interval + '{b}'::interval", rint, rint), 'sub': ("'{a}'::interval - '{b}'::interval", rint, rint),
  'cmp': ("interval_cmp('{a}','{b}')", rint, rint), 'age': ("age('{a}'::timestamp,'{b}'::timestamp)", rts, rts), 'diff': ("'{a}'::timestamp - '{b}'::timestamp", rts, rts), 'ts+': ("'{a}'::timestamp + '{b}'::interval", rts, rint), 'tz+': ("'{a}'::timestamptz + '{b}'::interval", rts, rint),
  'justify_hours': ("justify_hours('{a}'::interval)", rint, rint), 'justify_days': ("justify_days('{a}'::interval)", rint, rint), 'justify_interval': ("justify_interval('{a}'::interval)", rint, rint)}
s = SETUP + "set timezone='America/New_York';create temp table i(n serial, op text, a text, b text, q text);copy i(op,a,b,q) from stdin;\n"
for op, (q, fa, fb) in ops.items():
    for _ in range(120):
        a, b = fa(), fb()
        s += '\t'.join([op, a, b, q.format(a=a, b=b)]) + '\n'
s += "mul\t178000000 years\t2\t'178000000 years'::interval * 2\nmul\t1 day\tNaN\t'1 day'::interval * 'NaN'::float8\ndiv\t1 day\t0\t'1 day'::interval / 0\nadd\t178000000 years\t178000000 years\t'178000000 years'::interval + '178000000 years'\n"
s += '\\.\ncopy (select op, a, b, pg_temp.try(q) from i order by n) to stdout;\n'
open('interval.tsv', 'w').write(psql(s))
