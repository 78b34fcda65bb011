#!/usr/bin/env python3
"""Makes aggregate_rows.tsv, aggregates.tsv and windows.tsv by asking a PostgreSQL 15:
generate_aggregates.py HOST PORT.

aggregate_rows.tsv is a table: its columns are in COLUMNS below, the first the group.
aggregates.tsv: aggregate, direct argument, column(s), then the result of each group 0 … 5 and
of all rows. windows.tsv: call, partition column g, then its value in each row by id."""
import random, subprocess, sys
host, port = sys.argv[1], sys.argv[2]
random.seed(16)

def psql(script):
    r = subprocess.run(['psql', '-X', '-q', '-At', '-h', host, '-p', port, '-U', 'postgres', '-v', 'ON_ERROR_STOP=1'], input=script, capture_output=True, text=True)
    if r.returncode: sys.exit(r.stderr)
    return r.stdout

COLUMNS = [('id', 'int4'), ('g', 'int4'), ('i2', 'int2'), ('i4', 'int4'), ('i8', 'int8'), ('f4', 'float4'), ('f8', 'float8'), ('x8', 'float8'), ('n', 'numeric'), ('d', 'numeric(10,2)'),
  ('w', 'numeric(38,3)'), ('b', 'bool'), ('t', 'text'), ('dt', 'date'), ('ts', 'timestamp'), ('tz', 'timestamptz'), ('iv', 'interval'), ('tm', 'time'), ('a', 'int4[]'), ('j', 'jsonb'), ('p', 'bpchar'), ('by', 'bytea')]
def value(c, g):
    r = random.random
    if r() < .12: return '\\N'
    if c == 'i2': return str(random.randint(-32768, 32767))
    if c == 'i4': return str(random.choice([random.randint(-9, 9), random.randint(-2**31, 2**31 - 1)]))
    if c == 'i8': return str(random.choice([random.randint(-9, 9), random.randint(-2**63, 2**63 - 1), 2**63 - 1]))
    if c == 'f4': return str(round(random.uniform(-1000, 1000), random.randint(0, 3)))
    if c in ('f8', 'x8'):
        if g == 4 and c == 'f8': return random.choice(['NaN', 'Infinity', '1.5', '-2'])
        return repr(round(random.uniform(-1000, 1000), random.randint(0, 6)))
    if c == 'n':
        if g == 4: return random.choice(['NaN', 'Infinity', '1.5', '-2', '-Infinity'])
        return '%.*f' % (random.randint(0, 12), random.uniform(-1e6, 1e6)) if r() < .8 else str(random.randint(-10**30, 10**30))
    if c == 'd': return '%.2f' % random.uniform(-1e7, 1e7)
    if c == 'w': return '%d.%03d' % (random.randint(-10**34, 10**34), random.randint(0, 999))
    if c == 'b': return random.choice('tf') if g != 2 else 't'
    if c in ('t', 'p'): return random.choice(['', 'a', 'b', 'abc', 'ab', 'Zz', 'é', 'long ' * random.randint(1, 5)]).strip() if c == 'p' else random.choice(['', 'a', 'b', 'abc', 'ab', 'Zz', 'é', 'long ' * random.randint(1, 5)])
    if c == 'by': return '\\\\x' + random.choice(['', '00', 'ff', '6162'])
    if c == 'dt': return '20%02d-%02d-%02d' % (random.randint(0, 50), random.randint(1, 12), random.randint(1, 28))
    if c in ('ts', 'tz'): return '20%02d-%02d-%02d %02d:%02d:%02d.%d' % (random.randint(0, 50), random.randint(1, 12), random.randint(1, 28), random.randint(0, 23), random.randint(0, 59), random.randint(0, 59), random.randint(0, 999999)) + ('+00' if c == 'tz' else '')
    if c == 'iv': return '%d mons %d days %d:%02d:%02d.%d' % (random.randint(-5, 40), random.randint(-10, 50), random.randint(0, 40), random.randint(0, 59), random.randint(0, 59), random.randint(0, 9))
    if c == 'tm': return '%02d:%02d:%02d' % (random.randint(0, 23), random.randint(0, 59), random.randint(0, 59))
    if c == 'a': return '{' + ','.join(random.choice(['1', '2', 'NULL']) for _ in range(random.randint(0, 3))) + '}'
    if c == 'j': return random.choice(['1', '"x"', '{"k": [1, 2.50]}', 'null', '[]'])
rows = []
for i in range(240):
    g = random.choice([0, 1, 1, 2, 3, 4])
    rows.append([str(i), str(g)] + [('\\N' if g == 3 and c not in ('t', 'x8', 'a') else value(c, g)) for c, _ in COLUMNS[2:]])
rows.append(['240', '5'] + [next(v for v in iter(lambda: value(c, 5), None) if v != '\\N') for c, _ in COLUMNS[2:]])
open('aggregate_rows.tsv', 'w').write('\t'.join(c + ' ' + t for c, t in COLUMNS) + '\n' + ''.join('\t'.join(r) + '\n' for r in rows))

nums = ['i2', 'i4', 'i8', 'f4', 'f8', 'n', 'd', 'w']
aggs = [('count', '', '')] + [('count', '', c) for c, _ in COLUMNS[2:]]
aggs += [(f, '', c) for f in ('sum', 'avg') for c in nums + ['iv']]
aggs += [(f, '', c) for f in ('min', 'max') for c in nums + ['t', 'dt', 'ts', 'tz', 'iv', 'tm', 'a', 'p']]
aggs += [(f, '', c) for f in ('stddev', 'stddev_pop', 'stddev_samp', 'variance', 'var_pop', 'var_samp') for c in nums]
aggs += [(f, '', c) for f in ('bit_and', 'bit_or', 'bit_xor') for c in ['i2', 'i4', 'i8'] if f != 'bit_xor' or True]
aggs += [(f, '', 'b') for f in ('bool_and', 'bool_or', 'every')]
aggs += [(f, '', 'f8,x8') for f in ('corr', 'covar_pop', 'covar_samp', 'regr_avgx', 'regr_avgy', 'regr_count', 'regr_intercept', 'regr_r2', 'regr_slope', 'regr_sxx', 'regr_sxy', 'regr_syy')]
aggs += [('corr', '', 'x8,x8'), ('regr_r2', '', 'x8,x8')]
aggs += [('string_agg', '', 't,t'), ('string_agg', '', 'by,by')]
aggs += [('array_agg', '', c) for c in ['i4', 't', 'n', 'd', 'ts', 'b']]
aggs += [(f, '', c) for f in ('json_agg', 'jsonb_agg') for c in ['i4', 't', 'n', 'd', 'ts', 'b', 'a', 'j', 'f8', 'dt', 'iv']]
aggs += [(f, '', c) for f in ('json_object_agg', 'jsonb_object_agg') for c in ['id,t', 'id,n', 'id,a', 'id,j']]
aggs += [('percentile_cont', p, c) for p in ('0', '0.25', '0.5', '0.999', '1') for c in ('x8', 'f8', 'iv')]
aggs += [('percentile_disc', p, c) for p in ('0', '0.25', '0.5', '0.999', '1') for c in ('i4', 't', 'x8', 'n', 'dt')]
aggs += [('percentile_cont', '{0.1,NULL,0.9}', 'x8'), ('percentile_disc', '{0.1,0.9}', 't')]
aggs += [('mode', '', c) for c in ('t', 'i4', 'b', 'a')]
script = "set timezone='America/New_York'; set extra_float_digits=1; create temp table r(%s);copy r from stdin;\n" % ', '.join('%s %s' % c for c in COLUMNS)
script += ''.join('\t'.join(r) + '\n' for r in rows) + '\\.\n'
script += "create table pg_temp.o(n serial, a text, p text, c text, v text[]);\n"
for f, p, c in aggs:
    if f in ('percentile_cont', 'percentile_disc', 'mode'):
        direct = "'%s'::float8%s" % (p, '[]' if '{' in p else '') if p else ''
        call = '%s(%s) within group (order by %s)' % (f, direct, c)
    else: call = '%s(%s%s)' % (f, c or '*', ' order by id' if c else '')
    one = "(select %s from r where %s)"
    cells = ', '.join("(select coalesce(format('%%s', x), 'NULL') from (select %s as x from r where %s) s)" % (call, 'g=%d' % g if g < 6 else ('g<>4' if f in ('sum', 'avg', 'stddev', 'variance') and c in ('f8', 'n') else 'true')) for g in range(7))
    cells = cells.replace("coalesce(format('%s', x), 'NULL')", "case when x is null then 'NULL' else format('%s', x) end")
    script += "insert into o(a,p,c,v) select '%s','%s','%s', array[%s];\n" % (f, p, c, cells)
script += "copy (select a, p, c, v[1], v[2], v[3], v[4], v[5], v[6], v[7] from o order by n) to stdout;\n"
open('aggregates.tsv', 'w').write(psql(script))

wins = ['row_number()', 'rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()', 'ntile(3)', 'ntile(7)', 'ntile(1000)', 'lag(t)', 'lead(t)', 'lag(i4,2)', 'lead(i4,-1)', 'lag(t,3,p)', 'lag(n,0)', 'lead(d,1,d)', 'lag(i8,i2)',
  'first_value(t)', 'last_value(t)', 'nth_value(t,2)', 'nth_value(n,3)', 'first_value(i4)', 'last_value(d)']
frames = ['', 'rows between 1 preceding and 1 following', 'rows between unbounded preceding and unbounded following exclude current row', 'groups between 1 preceding and current row exclude ties', 'rows between 2 following and 3 following', 'range between unbounded preceding and unbounded following exclude group']
script2 = script.split('create table pg_temp.o')[0] + "create table pg_temp.o(n serial, c text, f text, v text[]);\n"
for w in wins:
    for k, f in enumerate(frames):
        if k and '_value' not in w: continue
        call = w.replace('lag(t,3,p)', 'lag(t,3,p::text)').replace('lag(i8,i2)', 'lag(i8,i2::int4)')
        script2 += "insert into o(c,f,v) select '%s', '%s', (select array_agg(case when x is null then 'NULL' else format('%%s', x) end order by id) from (select id, %s over (partition by g order by b, length(t) %s) as x from (select * from r order by id) r) s);\n" % (w, f, call, f)
script2 += "copy (select c, f, array_to_string(v, E'\\x01') from o order by n) to stdout;\n"
# Ties make several of these depend on the order of input: order by id last where they do.
script2 = script2.replace('order by b, length(t) )', 'order by b, length(t), id )')
for k in ('rows', 'groups', 'range'): script2 = script2.replace('order by b, length(t) ' + k, 'order by b, length(t), id ' + k)
for w in ['rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()']:
    script2 = script2.replace('%s over (partition by g order by b, length(t), id )' % w, '%s over (partition by g order by b, length(t) )' % w)
open('windows.tsv', 'w').write(psql(script2))
