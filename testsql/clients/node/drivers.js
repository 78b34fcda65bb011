// Drivers of Node.js. usage: node drivers.js PORT NAME. Prints what it saw, one JSON value a line.
const port = Number(process.argv[2])
const at = { host: '127.0.0.1', port, user: 'postgres', database: 'lake' }
const say = v => console.log(JSON.stringify(v, (k, x) => typeof x === 'bigint' ? String(x) : x))
const rows = 'select n, label from numbers order by n'
const types = 'select * from ns1.all_types order by id'

const runs = {
  async pg() {
    const { Client, Pool } = require('pg')
    const c = new Client(at)
    await c.connect()
    say((await c.query(types)).rows)
    say((await c.query(types)).fields.map(f => [f.name, f.dataTypeID, f.dataTypeSize, f.dataTypeModifier]))
    say((await c.query('select $1::int + 1 as a, $2::text as b, $3::jsonb as c, $4::int[] as d', [41, "it's", { x: [1] }, [1, null]])).rows)
    for (let i = 0; i < 3; i++) say((await c.query({ name: 'byn', text: 'select label from numbers where n = $1', values: [i + 1] })).rows)
    say((await c.query('select 1 as a; select 2 as b')).map(r => r.rows))
    await c.query('select 1/0').catch(e => say([e.code, e.message, e.severity]))
    await c.query('select nosuch').catch(e => say([e.code, e.message, e.position]))
    say((await c.query('begin')).command)
    await c.query('select 1/0').catch(e => say(e.code))
    await c.query('select 1').catch(e => say(e.code))
    say((await c.query('rollback')).command)
    await c.end()
    const p = new Pool({ ...at, max: 3, statement_timeout: 20000 })
    say((await Promise.all([...Array(9).keys()].map(i => p.query('select $1::int * 2 as v', [i])))).map(r => r.rows[0].v))
    await p.end()
  },
  async cursor() {
    const { Client } = require('pg')
    const Cursor = require('pg-cursor')
    const c = new Client(at)
    await c.connect()
    const cur = c.query(new Cursor(rows))
    let n = 0, sum = 0, reads = 0
    for (;;) {
      const r = await cur.read(100)
      if (!r.length) break
      reads++
      n += r.length
      for (const x of r) sum += x.n
    }
    await cur.close()
    say([n, sum, reads])
    const early = c.query(new Cursor('select n from numbers where n > $1 order by n', [10]))
    say(await early.read(3))
    await early.close()
    say((await c.query('select 1 as alive')).rows)
    await c.end()
  },
  async stream() {
    const { Client } = require('pg')
    const QueryStream = require('pg-query-stream')
    const c = new Client(at)
    await c.connect()
    let n = 0, sum = 0
    for await (const r of c.query(new QueryStream(rows, [], { batchSize: 37 }))) { n++; sum += r.n }
    say([n, sum])
    for await (const r of c.query(new QueryStream(rows, [], { batchSize: 5, highWaterMark: 5 }))) { if (r.n === 12) break }
    say((await c.query('select 1 as alive')).rows)
    const bad = c.query(new QueryStream('select 1000 / (500 - n) as v from numbers order by n', [], { batchSize: 10 }))
    try { for await (const r of bad) n++ } catch (e) { say([e.code, e.message]) }
    await c.end()
  },
  async postgres() {
    const sql = require('postgres')({ ...at, username: at.user, max: 2, onnotice: () => {} })
    say(await sql`select * from ns1.all_types order by id`)
    let n = 0, sum = 0, parts = 0
    await sql`select n from numbers order by n`.cursor(100, r => { parts++; n += r.length; for (const x of r) sum += x.n })
    say([n, sum, parts])
    for await (const [r] of sql`select n from numbers order by n`.cursor()) { if (r.n === 7) { say(r); break } }
    await sql`select n from numbers order by n`.forEach(r => { sum -= r.n })
    say(sum)
    say(await sql.begin(async t => {
      await t`create table ns1.pjs (a int, b text)`
      await t`insert into ns1.pjs ${sql([{ a: 1, b: 'x' }, { a: 2, b: null }])}`
      await t.savepoint(async s => { await s`select nosuch` }).catch(e => say([e.code, e.message]))
      return t`select * from ns1.pjs order by a`
    }))
    say((await sql`select * from numbers where n in ${sql([1, 2, 3])} order by n`))
    say((await Promise.all([1, 2, 3].map(i => sql`select ${i}::int as v`))).map(r => r[0].v))
    const d = await sql`select n, label from numbers`.describe()
    say(d.columns.map(c => [c.name, c.type]))
    await sql`drop table ns1.pjs`
    await sql.end()
  },
  async sequelize() {
    const { Sequelize, DataTypes, QueryTypes } = require('sequelize')
    const s = new Sequelize('lake', 'postgres', '', { host: at.host, port, dialect: 'postgres', logging: false })
    await s.authenticate()
    const q = s.getQueryInterface()
    say(await q.describeTable('orders', { schema: 'ns1' }))
    say((await q.showIndex({ tableName: 'orders', schema: 'ns1' })).map(i => ({ name: i.name, primary: i.primary, unique: i.unique, fields: i.fields })))
    say((await q.showAllSchemas()))
    say((await q.showAllTables()).map(t => t.tableName || t).sort())
    say(await q.getForeignKeyReferencesForTable({ tableName: 'orders', schema: 'ns1' }))
    say(await q.showConstraint({ tableName: 'orders', schema: 'ns1' }).catch(e => e.message))
    const O = s.define('orders', { order_id: { type: DataTypes.INTEGER, primaryKey: true }, region: DataTypes.TEXT, amount: DataTypes.DECIMAL }, { schema: 'ns1', timestamps: false, freezeTableName: true })
    say(await O.findAll({ where: { region: 'eu' }, order: [['order_id', 'desc']], limit: 3, raw: true }))
    say(await O.count({ group: ['region'] }).then(r => r.sort((a, b) => a.region < b.region ? -1 : 1)))
    say(await s.transaction(t => s.query('select 1 as a', { transaction: t, type: QueryTypes.SELECT })))
    await s.close()
  },
  async typeorm() {
    require('reflect-metadata')
    const { DataSource } = require('typeorm')
    const d = new DataSource({ type: 'postgres', host: at.host, port, username: at.user, database: at.database })
    await d.initialize()
    const r = d.createQueryRunner()
    const t = await r.getTable('ns1.orders')
    say(t.columns.map(c => [c.name, c.type, c.isNullable, c.isPrimary, c.precision, c.scale, c.comment, c.default]))
    say([t.indices.length, t.foreignKeys.length, t.uniques.length, t.checks.length])
    const u = await r.getTable('ns1.all_types')
    say(u.columns.map(c => [c.name, c.type, c.isArray, c.isNullable, c.isPrimary, c.precision, c.scale, c.comment]))
    say([await r.hasTable('ns1.orders'), await r.hasTable('ns1.nosuch'), await r.hasSchema('ns1'), await r.hasDatabase('lake'), await r.getCurrentDatabase(), await r.getCurrentSchema()])
    say(await d.query('select n from numbers where n <= $1 order by n', [3]))
    await r.startTransaction('READ COMMITTED')
    await r.rollbackTransaction()
    await r.release()
    await d.destroy()
  },
  async knex() {
    const k = require('knex')({ client: 'pg', connection: at, pool: { min: 0, max: 2 } })
    say(await k.withSchema('ns1').from('orders').columnInfo())
    say([await k.schema.withSchema('ns1').hasTable('orders'), await k.schema.withSchema('ns1').hasTable('nosuch'), await k.schema.withSchema('ns1').hasColumn('orders', 'region')])
    say(await k('ns1.orders').select('region').count('* as n').groupBy('region').orderBy('region'))
    let n = 0
    for await (const r of k('numbers').select('n').orderBy('n').stream()) n += r.n
    say(n)
    await k.transaction(async t => { await t.raw('create table ns1.kx (a int)'); await t('ns1.kx').insert([{ a: 1 }, { a: 2 }]); say(await t('ns1.kx').sum('a as s')) })
    await k.schema.dropTable('ns1.kx')
    await k.destroy()
  },
}

runs[process.argv[3]]().catch(e => { console.error(e); process.exit(1) })
