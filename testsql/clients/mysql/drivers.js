// Drivers and ORMs of Node.js over the MySQL wire: drivers.js PORT WHAT [TLSPORT]. Assertions
// fail the process.
const assert = require('assert')
const [port, what, secure] = process.argv.slice(2)
const at = { host: '127.0.0.1', port: +port, user: 'root', database: 'ns1' }

const checks = {
  async mysql2 () {
    const mysql = require('mysql2/promise')
    const c = await mysql.createConnection({ ...at, dateStrings: true, supportBigNumbers: true, bigNumberStrings: true })
    // Infinity and NaN have no form in MySQL: mysql2 misreads their text, so rows 2 and 3 are left out.
    const [text] = await c.query('select * from all_types where id not in (2, 3) order by id')
    const [binary] = await c.execute('select * from all_types where id not in (2, 3) order by id')
    for (const r of [...text, ...binary]) { delete r.c_float; delete r.c_time } // mysql2 pads and widens these by itself
    assert.deepStrictEqual(text, binary)
    assert.strictEqual(binary[0].c_long, '9007199254740993')
    assert.strictEqual(binary[0].c_dec38, '1234567890123456789.0123456789')
    assert.strictEqual(binary[0].c_ts, '2024-02-29 12:34:56.789012')
    assert.deepStrictEqual(binary[0].c_ints, [1, 2, null])
    assert.deepStrictEqual(binary[0].c_struct, { a: 1, b: 'x' })
    assert.deepStrictEqual([...binary[0].c_bin], [0xde, 0xad, 0xbe, 0xef])
    assert.strictEqual(text[1].c_str, null)
    const one = async (sql, args) => Object.values((await c.execute(sql, args))[0][0])[0]
    assert.strictEqual(await one('select count(*) from orders where order_id = ? and region = ?', [5, 'apac']), '1')
    assert.strictEqual(await one('select count(*) from orders where placed > ? and amount > ?', [new Date('2024-03-01T00:00:00Z'), 10.5]), '520')
    assert.strictEqual(await one('select count(*) from orders where order_id = ?', [null]), '0')
    assert.strictEqual(await one('select ?', ['text']), 'text')
    await assert.rejects(c.query('select nope from orders'), { code: 'ER_BAD_FIELD_ERROR', errno: 1054, sqlState: '42S22' })
    await assert.rejects(c.query('selct 1'), { code: 'ER_PARSE_ERROR', errno: 1064, sqlState: '42000' })
    await assert.rejects(c.query('select * from none'), { code: 'ER_NO_SUCH_TABLE', errno: 1146, sqlState: '42S02' })
    await c.query('set @a = 1')
    await c.changeUser({ user: 'bob', database: 'public' })
    const [[who]] = await c.query('select current_user() as u, database() as d, @a as a')
    assert.deepStrictEqual(who, { u: 'bob@%', d: 'public', a: null })
    await c.ping()
    await c.reset()
    await c.end()
    const plain = require('mysql2').createConnection({ ...at, multipleStatements: true })
    let n = 0
    await new Promise((resolve, reject) => plain.query('select * from public.numbers').stream().on('data', () => n++).on('end', resolve).on('error', reject))
    assert.strictEqual(n, 1000)
    const [many] = await plain.promise().query('select 1 as a; select 2 as b; set @x = 3; select @x + 1 as c')
    assert.deepStrictEqual([many[0][0].a, many[1][0].b, many[3][0].c], [1, 2, 4])
    await assert.rejects(plain.promise().query('select 1; select nope'), { errno: 1054 })
    assert.deepStrictEqual((await plain.promise().execute('show tables'))[0].map(r => r.Tables_in_ns1), ['all_types', 'orders'])
    const pool = mysql.createPool({ ...at, connectionLimit: 4 })
    const got = await Promise.all([...Array(40).keys()].map(i => pool.execute('select n from public.numbers where n = ?', [i + 1])))
    assert.deepStrictEqual(got.map(g => g[0][0].n), [...Array(40).keys()].map(i => i + 1))
    await pool.end()
    plain.end()
  },

  async auth () {
    const mysql = require('mysql2/promise')
    const who = { host: '127.0.0.1', port: +secure, user: 'anna', password: 'sécret 1' }
    for (const ssl of [undefined, { rejectUnauthorized: false }, undefined]) { // by RSA, over TLS, by the cached hash
      const c = await mysql.createConnection({ ...who, ssl })
      assert.strictEqual((await c.query('select current_user() as u'))[0][0].u, 'anna@%')
      if (ssl) assert.match((await c.query("show status like 'Ssl_version'"))[0][0].Value, /TLSv1/)
      await c.changeUser({ user: 'nat', password: 'old' })
      assert.strictEqual((await c.query('select current_user() as u'))[0][0].u, 'nat@%')
      await assert.rejects(c.changeUser({ user: 'anna', password: 'nope' }), { errno: 1045 })
    }
    for (const wrong of [{ password: 'sécret 2' }, { password: '' }, { user: 'nobody' }]) {
      await assert.rejects(mysql.createConnection({ ...who, ...wrong }), { code: 'ER_ACCESS_DENIED_ERROR', errno: 1045, sqlState: '28000' })
    }
  },

  async sequelize () {
    const { Sequelize, DataTypes } = require('sequelize')
    const s = new Sequelize('ns1', 'root', '', { host: at.host, port: at.port, dialect: 'mysql', logging: false })
    await s.authenticate()
    const q = s.getQueryInterface()
    const d = await q.describeTable('orders')
    assert.deepStrictEqual([d.order_id.type, d.order_id.primaryKey, d.order_id.allowNull, d.customer.allowNull, d.order_id.comment], ['INT', true, false, true, "the order's number"])
    assert.deepStrictEqual((await q.showAllTables()).map(t => t.tableName || t).sort(), ['all_types', 'orders'])
    assert.strictEqual((await q.showIndex('orders'))[0].name, 'PRIMARY')
    const Order = s.define('order', { order_id: { type: DataTypes.INTEGER, primaryKey: true }, customer: DataTypes.TEXT, amount: DataTypes.DECIMAL, placed: DataTypes.DATE, region: DataTypes.TEXT }, { tableName: 'orders', timestamps: false })
    assert.strictEqual(await Order.count({ where: { region: 'eu' } }), 333)
    const r = await Order.findAndCountAll({ where: { order_id: { [Sequelize.Op.lt]: 10 } }, order: [['order_id', 'DESC']], limit: 3, offset: 1 })
    assert.deepStrictEqual([r.count, r.rows.map(o => o.order_id)], [9, [8, 7, 6]])
    await s.transaction(async t => { assert.strictEqual((await Order.findByPk(5, { transaction: t })).amount, '1.85') })
    await s.close()
  },

  async typeorm () {
    require('reflect-metadata')
    const { DataSource } = require('typeorm')
    const ds = new DataSource({ type: 'mysql', host: at.host, port: at.port, username: 'root', database: 'ns1' })
    await ds.initialize()
    const q = ds.createQueryRunner()
    const t = await q.getTable('orders')
    assert.deepStrictEqual(t.columns.map(c => [c.name, c.type, c.isPrimary, c.isNullable]), [['order_id', 'int', true, false], ['customer', 'longtext', false, true],
      ['amount', 'decimal', false, false], ['placed', 'datetime', false, false], ['region', 'longtext', false, false]])
    assert.strictEqual(await q.hasTable('nope'), false)
    await q.startTransaction()
    assert.strictEqual((await q.query('select count(*) as n from orders where order_id <= ?', [7]))[0].n, '7')
    await q.rollbackTransaction()
    await q.release()
    await ds.destroy()
  },

  async knex () {
    const k = require('knex')({ client: 'mysql2', connection: at })
    const info = await k('orders').columnInfo()
    assert.deepStrictEqual([info.amount.type, info.amount.nullable, info.customer.nullable], ['decimal', false, true])
    assert.strictEqual(await k.schema.hasTable('orders'), true)
    assert.strictEqual(await k.schema.hasColumn('orders', 'nope'), false)
    const rows = await k('orders').select('region').sum({ s: 'amount' }).groupBy('region').orderBy('region')
    assert.deepStrictEqual(rows.map(r => [r.region, r.s]), [['apac', '61605.00'], ['eu', '61728.21'], ['us', '61851.79']])
    assert.strictEqual((await k('orders').whereIn('order_id', [1, 2, 3]).count({ n: '*' }))[0].n, 3)
    let n = 0
    for await (const r of k('public.numbers').select('n').stream()) n += r.n
    assert.strictEqual(n, 500500)
    await k.destroy()
  }
}

checks[what]().then(() => { console.log('ok'); process.exit(0) }, e => { console.error(e); process.exit(1) })
