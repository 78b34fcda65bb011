"""Section E: MySQL clients against the MySQL wire. Each check starts from the fixture, whose values
are known; where a client has two ways to read (text and binary rows), both must agree."""

import datetime as dt
import decimal
import glob
import os
import shutil
import subprocess

import fixture
from harness import Skip, check, equal, free_port, node_packages, true

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mysql")
JARS = {"connector-j": ("com.mysql:mysql-connector-j:9.5.0", "mysql-connector-j-9.5.0.jar"),
        "mariadb": ("org.mariadb.jdbc:mariadb-java-client:3.5.6", "mariadb-java-client-3.5.6.jar")}


def port(ctx):
    """An lhsql whose MySQL wire trusts loopback."""
    if not hasattr(ctx, "mysql"):
        ctx.mysql = free_port()
        ctx.start("mysql", "--mysql", "127.0.0.1:%d" % ctx.mysql)
    return ctx.mysql


def secure_port(ctx):
    """One with TLS and the users anna (caching_sha2_password) and nat (also mysql_native_password);
    new each time: what it remembers of passwords decides how clients log in."""
    users = os.path.join(ctx.tmp, "mysql-users")
    with open(users, "w") as f:
        for name, password, *native in (("anna", "sécret 1"), ("nat", "old", "native")):
            f.write(subprocess.run([ctx.binary, "user", name, *native], input=password, text=True, capture_output=True, check=True).stdout)
    p = free_port()
    ctx.start("mysql-tls-%d" % p, "--mysql", "127.0.0.1:%d" % p, "--users_file", users, "--tls.cert", os.path.join(ctx.tmp, "cert.pem"),
              "--tls.key", os.path.join(ctx.tmp, "key.pem"), user="anna", password="sécret 1")
    return p


def mariadb(p, *args, user="root", password=None, rc=0):
    if not shutil.which("mariadb"):
        raise Skip("mariadb-client is not installed")
    cmd = ["mariadb", "--no-defaults", "-h", "127.0.0.1", "-P", str(p), "-u", user, "--connect-timeout=10", "--default-character-set=utf8mb4"]
    if password is not None:
        cmd.append("--password=" + password)
    r = subprocess.run(cmd + list(args), capture_output=True, text=True, timeout=60)
    true(r.returncode == rc, "rc %d: %s %s" % (r.returncode, args, r.stderr[-500:]))
    return r.stdout if rc == 0 else r.stderr


def table(out):
    return [line.split("\t") for line in out.splitlines()]


@check(64, "E", "mariadb", "status, SHOW, DESCRIBE, SELECT of all types, writes")
def cli(ctx):
    p = port(ctx)
    true("Server version:\t\t8.0" in mariadb(p, "-e", "status"), "status")
    equal(mariadb(p, "-Ne", "show databases").split(), ["information_schema", "mysql", "ns1", "performance_schema", "public", "sys"])
    equal(mariadb(p, "-Ne", "show full tables from ns1"), "all_types\tBASE TABLE\norders\tBASE TABLE\n")
    equal(table(mariadb(p, "ns1", "-Ne", "describe orders")), [["order_id", "int", "NO", "PRI", "NULL", ""], ["customer", "longtext", "YES", "", "NULL", ""],
          ["amount", "decimal(10,2)", "NO", "", "NULL", ""], ["placed", "datetime(6)", "NO", "", "NULL", ""], ["region", "longtext", "NO", "", "NULL", ""]])
    true("PARTITIONED BY (month(placed), region)" in mariadb(p, "-Ne", "show create table ns1.orders"), "SHOW CREATE TABLE")
    equal(mariadb(p, "-Ne", "show index from ns1.orders").split("\t")[:5], ["orders", "0", "PRIMARY", "1", "order_id"])
    equal(mariadb(p, "-Ne", "show columns from ns1.all_types where Field like 'c\\_d%' and Type <> 'date'").split("\n")[0].split("\t")[:2], ["c_double", "double"])
    equal(mariadb(p, "-Ne", "show variables like 'auto%commit'"), "autocommit\tON\n")
    equal(mariadb(p, "ns1", "-Ne", "select count(*), sum(amount), min(placed) from orders where region = 'EU'"), "333\t61728.21\t2024-01-01 09:00:00\n")
    want = "3\t1\t2147483647\t9223372036854775807\tNaN\tNaN\t99999999.99\t9999999999999999999999999999.9999999999\t9999-12-31\t23:59:59.999999\t9999-12-31 23:59:59.999999"
    equal(mariadb(p, "ns1", "-Ne", "select * from all_types where id = 3").split("\t")[:11], want.split("\t"))
    for statement, number in (("select * from nope.t", 1146), ("select nope from ns1.orders", 1054), ("selct 1", 1064), ("use nope", 1049), ("select * from t", 1046),
                              ("select * from ns1.orders into outfile '/tmp/x'", 1290), ("load data local infile '/etc/passwd' into table ns1.orders", 1290),
                              ("select load_file('/etc/passwd')", 1290), ("kill 999999", 1094), ("set nope = 1", 1193), ("show tables from nope", 1049),
                              ("show columns from ns1.nope", 1146), ("set names latin2", 1115), ("set time_zone = 'Mars/Olympus'", 1298)):
        true("ERROR %d " % number in mariadb(p, "-e", statement, rc=1), "%s: not %d: %s" % (statement, number, mariadb(p, "-e", statement, rc=1)))
    # The C clients read the text of a write's answer, which others pass over.
    mariadb(p, "ns1", "-e", "create table written (id int primary key, v varchar(9)); insert into written values (1, 'a'), (2, 'b'), (3, 'c')")
    true("Rows matched: 2  Changed: 2  Warnings: 0" in mariadb(p, "ns1", "-vvv", "-e", "update written set v = upper(v) order by id desc limit 2"), "UPDATE's text")
    true("1 row affected" in mariadb(p, "ns1", "-vvv", "-e", "delete from written order by id limit 1"), "DELETE")
    equal(mariadb(p, "ns1", "-Ne", "select count(*), max(v) from written; drop table written"), "2\tC\n")


# What a session can be asked: everything answers without an error.
STATEMENTS = """
show databases like 'n%'; show schemas; show tables from ns1 like 'o%'; show full tables in ns1 where Table_type = 'BASE TABLE'; show open tables
show table status from ns1; show table status from ns1 like 'orders'; show full columns from orders from ns1; show fields from ns1.orders; show keys from ns1.orders
show create database ns1; show create schema if not exists ns1; show global variables like 'max%'; show session variables where Variable_name = 'sql_mode'
show global status like 'Threads%'; show status; show warnings; show errors; show count(*) warnings; show count(*) errors; show warnings limit 5
show processlist; show full processlist; show grants; show grants for current_user(); show engines; show storage engines; show collation; show collation where Charset = 'utf8mb4'
show character set; show charset like 'utf8%'; show plugins; show privileges; show triggers from ns1; show events from ns1; show function status; show procedure status where Db = 'ns1'
show master status; show binary logs; show replica status; show slave status; show engine innodb status; show profiles; show profile
set names utf8mb4; set names 'utf8mb4' collate 'utf8mb4_unicode_ci'; set character set utf8mb4; set autocommit = 1; set autocommit = on; set sql_auto_is_null = 0
set session transaction isolation level read committed; set transaction read only; set session sql_mode = 'TRADITIONAL'; set @@session.sql_mode = ''
set time_zone = '+02:00'; set time_zone = 'Europe/Berlin'; set time_zone = 'SYSTEM'; set sql_select_limit = default; set wait_timeout = 100, net_write_timeout = 60; set @x := 1, @y = 'a'
set foreign_key_checks = 0; set unique_checks = 0; set sql_safe_updates = 1; set group_concat_max_len = 100000; set max_execution_time = 1000; set max_execution_time = 0
set character_set_results = NULL; set lc_time_names = 'en_US'; set profiling = 0; set global max_connections = 1000; set session tx_read_only = 0
select 1; select @@version, @@version_comment; select @@session.auto_increment_increment, @@max_allowed_packet; select @x, @y, @nothing; select database(), user(), current_user(), connection_id()
select version(), current_role(), found_rows(), row_count(), last_insert_id(); select now(), curdate(), utc_timestamp(); select @@global.time_zone, @@transaction_isolation, @@tx_isolation
select @@sql_select_limit; select @@lower_case_table_names; select @@license, @@init_connect, @@query_cache_type; do 1; help 'x'; flush tables; lock tables ns1.orders read; unlock tables
begin; commit; start transaction; savepoint a; rollback to savepoint a; release savepoint a; rollback; start transaction read only; commit; start transaction with consistent snapshot; commit and chain; rollback
analyze table ns1.orders; check table ns1.orders; optimize table ns1.orders; checksum table ns1.orders; repair table ns1.orders
prepare p from 'select ? + 1'; set @a = 41; execute p using @a; deallocate prepare p; drop prepare if exists q; use ns1; explain select * from orders; describe orders; desc orders customer; explain orders
explain format = json select * from orders where order_id = 5; explain format = tree select count(*) from orders; explain analyze select count(*) from orders
select * from information_schema.schemata; select table_name, table_rows from information_schema.tables where table_schema = 'ns1'; select * from INFORMATION_SCHEMA.COLUMNS where TABLE_NAME = 'orders'
select * from information_schema.key_column_usage; select * from information_schema.table_constraints; select * from information_schema.statistics; select * from information_schema.referential_constraints
select * from information_schema.views; select * from information_schema.routines; select * from information_schema.parameters; select * from information_schema.triggers; select * from information_schema.events
select * from information_schema.partitions where table_schema = 'ns1'; select * from information_schema.character_sets; select * from information_schema.collations; select * from information_schema.engines
select * from information_schema.user_privileges; select * from information_schema.processlist; select * from information_schema.plugins; select * from information_schema.keywords limit 3
select * from information_schema.files; select * from information_schema.innodb_trx; select * from information_schema.check_constraints; select * from information_schema.profiling
select * from performance_schema.session_variables where variable_name = 'autocommit'; select * from performance_schema.global_status; select * from performance_schema.threads
select * from performance_schema.events_statements_summary_by_digest; select * from sys.version; select * from sys.session; select * from mysql.user; select * from mysql.db; select * from mysql.proc
/* comment */ select /*+ MAX_EXECUTION_TIME(1000) */ 1; /*!40101 SET NAMES utf8mb4 */; /*!40014 set @old = @@unique_checks, unique_checks = 0 */; select 1 -- comment
"""


@check(64.1, "E", "PyMySQL", "two hundred statements of session and catalog")
def statements(ctx):
    c = connect(port(ctx), database="ns1")
    k, failed = c.cursor(), []
    for line in STATEMENTS.strip().splitlines():
        for s in (x.strip() for x in line.split("; ")):
            if s == "drop prepare if exists q":
                continue
            try:
                k.execute(s)
                k.fetchall()
            except Exception as e:
                failed.append("%s: %s" % (s, e))
    equal(failed, [])


def connect(p, user="root", **more):
    try:
        import pymysql
    except ImportError as e:
        raise Skip("PyMySQL does not load: %s" % e)
    return pymysql.connect(host="127.0.0.1", port=p, user=user, connect_timeout=10, **more)


@check(64.2, "E", "PyMySQL", "values of every type, streams, errors by class, multi-statements")
def values(ctx):
    import pymysql
    c = connect(port(ctx), database="ns1", client_flag=65536)
    k = c.cursor()
    k.execute("select id, c_bool, c_int, c_long, c_dec, c_dec38, c_date, c_time, c_ts, c_str, c_uuid, c_fixed, c_bin from all_types order by id")

    def python(v):
        if isinstance(v, dt.time):
            return dt.timedelta(hours=v.hour, minutes=v.minute, seconds=v.second, microseconds=v.microsecond)
        return str(v) if v.__class__.__name__ == "UUID" else v
    for got, want in zip(k.fetchall(), fixture.ROWS):
        equal(list(got), [python(want[i]) for i in (0, 1, 2, 3, 6, 7, 8, 9, 10, 12, 13, 14, 15)], "row %d" % want[0])
    k.execute("set time_zone = '+02:00'")
    k.execute("select c_tstz from all_types where id = 1")
    equal(k.fetchone()[0], dt.datetime(2024, 2, 29, 14, 34, 56, 789012), "a timestamp in the session's zone")
    s = c.cursor(pymysql.cursors.SSCursor)
    s.execute("select n from public.numbers")
    equal(sum(r[0] for r in s.fetchall()), 500500)
    for sql, cls, number in (("select * from nope", pymysql.err.ProgrammingError, 1146), ("select nope from orders", pymysql.err.OperationalError, 1054),
                             ("selct", pymysql.err.ProgrammingError, 1064), ("select 9223372036854775807 + 1", pymysql.err.OperationalError, 1690)):
        try:
            k.execute(sql)
            raise AssertionError(sql + " gives no error")
        except cls as e:
            equal(e.args[0], number, sql)
    k.execute("select 1; select 2, 3")
    equal(k.fetchall(), ((1,),))
    true(k.nextset(), "a second result")
    equal(k.fetchall(), ((2, 3),))
    c.ping()


def node(ctx, what):
    secure = str(secure_port(ctx)) if what == "auth" else "0"
    r = subprocess.run(["node", os.path.join(HERE, "drivers.js"), str(port(ctx)), what, secure], env=dict(os.environ, NODE_PATH=node_packages(ctx.cache, HERE)),
                       capture_output=True, text=True, timeout=120)
    true(r.returncode == 0 and r.stdout == "ok\n", r.stderr[-2000:])


@check(65, "E", "mysql2", "text and prepared rows of all types, parameters, changeUser, streams, multi-statements, a pool")
def mysql2(ctx):
    node(ctx, "mysql2")


check(65.1, "E", "sequelize", "describeTable, indexes, a model with paging, transactions")(lambda ctx: node(ctx, "sequelize"))
check(65.2, "E", "typeorm", "tables with columns and keys, transactions")(lambda ctx: node(ctx, "typeorm"))
check(65.3, "E", "knex", "columnInfo, hasTable, aggregates, streams")(lambda ctx: node(ctx, "knex"))


@check(65.4, "E", "go-sql-driver", "all types in text and binary, errors, contexts, max_execution_time, KILL QUERY, transactions, 20 at once")
def go_driver(ctx):
    binary = os.path.join(ctx.tmp, "mysql-godriver")
    r = subprocess.run(["go", "build", "-o", binary, "."], cwd=os.path.join(HERE, "godriver"), capture_output=True, text=True)
    true(r.returncode == 0, r.stderr[-1000:])
    r = subprocess.run([binary, "root@tcp(127.0.0.1:%d)/ns1?parseTime=true" % port(ctx)], capture_output=True, text=True, timeout=120)
    true(r.returncode == 0 and r.stdout.endswith("ok\n"), r.stderr[-1000:])


@check(66, "E", "mysql2 JDBC mariadb", "caching_sha2 over TLS, by RSA and by the cached hash; mysql_native_password; wrong passwords; certificates' names in the status")
def authentication(ctx):
    node(ctx, "auth")
    for driver, url in (("mariadb", "jdbc:mariadb://127.0.0.1:%d/ns1?sslMode=trust"), ("connector-j", "jdbc:mysql://127.0.0.1:%d/ns1?sslMode=REQUIRED")):
        true("MySQL 8" in jdbc(ctx, driver, url % secure_port(ctx), "anna", "sécret 1")["metadata"], driver)
    p = secure_port(ctx)
    equal(mariadb(p, "--ssl", "-Ne", "select current_user()", user="anna", password="sécret 1"), "anna@%\n")
    equal(mariadb(p, "-Ne", "select current_user()", user="nat", password="old"), "nat@%\n")
    for user, password in (("anna", "x"), ("anna", ""), ("nat", "x"), ("nobody", "x"), ("", "")):
        true("ERROR 1045 (28000)" in mariadb(p, "--ssl", "-e", "select 1", user=user or "nobody", password=password, rc=1), user)
    with connect(secure_port(ctx), user="nat", password="old", ssl_disabled=True) as c:  # RSA: its first log-in
        equal(c.cursor().execute("select 1"), 1)


def jdbc(ctx, driver, url, user="root", password=""):
    artifact, name = JARS[driver]
    jar = os.path.join(ctx.cache, name)
    if not os.path.exists(jar):
        try:
            subprocess.run(["mvn", "-q", "dependency:copy", "-Dartifact=" + artifact, "-DoutputDirectory=" + ctx.cache], check=True, cwd=ctx.tmp, stdout=subprocess.DEVNULL)
        except (OSError, subprocess.CalledProcessError) as e:
            raise Skip("the JDBC driver does not install: %s" % e)
    try:
        r = subprocess.run(["java", "-cp", jar, os.path.join(HERE, "MysqlJdbc.java"), url, user, password], capture_output=True, text=True, timeout=300)
    except FileNotFoundError:
        raise Skip("java is not installed")
    true(r.returncode == 0, "%s: %s" % (url, r.stderr[-2000:]))
    parts = r.stdout.split("## ")
    return {x.split("\n", 1)[0]: x.split("\n", 1)[1] for x in parts[1:]}


@check(67, "E", "MariaDB JDBC, Connector/J", "DatabaseMetaData; text, server-prepared and cursor rows agree; setMaxRows, setQueryTimeout; transactions, read only, catalogs")
def jdbc_all(ctx):
    first = None
    for driver, url in (("connector-j", "jdbc:mysql://127.0.0.1:%d/ns1"), ("connector-j", "jdbc:mysql://127.0.0.1:%d/ns1?useServerPrepStmts=true&useCursorFetch=true"),
                        ("mariadb", "jdbc:mariadb://127.0.0.1:%d/ns1"), ("mariadb", "jdbc:mariadb://127.0.0.1:%d/ns1?useServerPrepStmts=true")):
        out = jdbc(ctx, driver, url % port(ctx))
        first = first or out
        for section in out:
            for a, b in zip(first[section].splitlines(), out[section].splitlines()):
                equal(b, a, url)
        equal(out, first, url)
    true("order_id|1|PRIMARY|\n" in first["metadata"] and "orders|TABLE|orders of all regions|" in first["metadata"], first["metadata"])
    equal(first["streams"], "1000\n1000\n7\ntimeout\n1\n")
    equal(first["sessions"], "1\nread only 1792\n2 true ns1\npublic\n1054 42S22\n")


@check(68, "E", "SQLAlchemy PyMySQL", "reflection; a query by reflected columns; EXPLAIN in every format")
def sqlalchemy(ctx):
    import sqlalchemy as sa
    connect(port(ctx)).close()
    e = sa.create_engine("mysql+pymysql://root@127.0.0.1:%d/ns1" % port(ctx))
    i = sa.inspect(e)
    equal(sorted(i.get_table_names()), ["all_types", "orders"])
    equal(i.get_schema_names(), ["information_schema", "mysql", "ns1", "performance_schema", "public", "sys"])
    equal([(c["name"], str(c["type"]), c["nullable"]) for c in i.get_columns("orders")], [("order_id", "INTEGER", False), ("customer", "LONGTEXT", True),
          ("amount", "DECIMAL(10, 2)", False), ("placed", "DATETIME", False), ("region", "LONGTEXT", False)])
    equal(len(i.get_columns("all_types")), 20)
    equal(i.get_pk_constraint("orders")["constrained_columns"], ["order_id"])
    equal(i.get_table_comment("orders")["text"], "orders of all regions")
    equal([i.get_foreign_keys("orders"), i.get_unique_constraints("orders"), i.get_view_names()], [[], [], []])
    m = sa.MetaData()
    m.reflect(bind=e)
    o = m.tables["orders"]
    with e.connect() as c:
        q = sa.select(o.c.region, sa.func.sum(o.c.amount)).group_by(o.c.region).order_by(o.c.region)
        equal([tuple(r) for r in c.execute(q)], [("apac", decimal.Decimal("61605.00")), ("eu", decimal.Decimal("61728.21")), ("us", decimal.Decimal("61851.79"))])
        for f in ("", "format=json ", "format=tree ", "analyze "):
            text = "\n".join(r[0] for r in c.execute(sa.text("explain %sselect * from orders where order_id = 5" % f)))
            true("Scan" in text and "order_id = 5" in text, "explain %s: %s" % (f, text))


@check(69, "E", "MariaDB ODBC", "tables, columns, keys, statistics, types; parameters; all types")
def odbc(ctx):
    try:
        import pyodbc
    except ImportError as e:
        raise Skip("pyodbc does not load: %s" % e)
    found = glob.glob("/usr/lib/*/odbc/libmaodbc.so")
    if not found:
        raise Skip("MariaDB's ODBC driver (Debian's odbc-mariadb) is not installed")
    c = pyodbc.connect("DRIVER=%s;SERVER=127.0.0.1;PORT=%d;UID=root;DATABASE=ns1" % (found[0], port(ctx)), timeout=20)
    k = c.cursor()
    equal([r[2] for r in k.tables(catalog="ns1")], ["all_types", "orders"])
    equal([(r[3], r[5], r[10]) for r in k.columns(table="orders")], [("order_id", "INT", 0), ("customer", "LONGTEXT", 1), ("amount", "DECIMAL", 0), ("placed", "DATETIME", 0), ("region", "LONGTEXT", 0)])
    equal(len(list(k.columns(table="all_types"))), 20)
    equal([(r[3], r[4]) for r in k.primaryKeys(table="orders")], [("order_id", 1)])
    equal([(r[5], r[8]) for r in k.statistics(table="orders") if r[5]], [("PRIMARY", "order_id")])
    equal([list(k.foreignKeys(table="orders")), list(k.procedures())], [[], []])
    true(len(list(k.getTypeInfo())) > 20, "getTypeInfo")
    rows = k.execute("select id, c_bool, c_int, c_long, c_dec, c_date, c_ts, c_str, c_bin from all_types order by id").fetchall()
    equal([r[0] for r in rows], [1, 2, 3, 4, 5, 6])
    equal((rows[0][3], rows[0][4], rows[0][5], rows[0][7], bytes(rows[0][8])), (9007199254740993, decimal.Decimal("12345.67"), dt.date(2024, 2, 29), "text", b"\xde\xad\xbe\xef"))
    equal(list(rows[3])[1:], [None] * 8)
    equal(k.execute("select count(*) from orders where customer = ? and amount > ? and placed < ? and order_id > ?", "customer 5", 1.5, dt.datetime(2030, 1, 1), 0).fetchone()[0], 27)


# What clients ask when they connect and when their users browse.
BROWSE = {
    "Connector/J": ["SELECT @@session.auto_increment_increment AS auto_increment_increment, @@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, @@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, @@init_connect AS init_connect, @@interactive_timeout AS interactive_timeout, @@license AS license, @@lower_case_table_names AS lower_case_table_names, @@max_allowed_packet AS max_allowed_packet, @@net_write_timeout AS net_write_timeout, @@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, @@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout",
                    "SELECT @@session.transaction_read_only", "SELECT @@session.tx_isolation"],
    "Workbench": ["SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SHOW SESSION VARIABLES LIKE 'lower_case_table_names'", "SELECT current_user()", "SET CHARACTER SET utf8mb4", "SET SQL_SAFE_UPDATES=1",
                  "SHOW SESSION STATUS LIKE 'Ssl_cipher'", "SHOW FULL TABLES FROM `ns1`", "SHOW PROCEDURE STATUS WHERE Db='ns1'", "SHOW FUNCTION STATUS WHERE Db='ns1'", "SHOW FULL COLUMNS FROM `ns1`.`orders`",
                  "SHOW INDEX FROM `ns1`.`orders`", "SHOW TRIGGERS FROM `ns1`", "SELECT CONNECTION_ID()", "SHOW VARIABLES", "SHOW GLOBAL STATUS", "SHOW PLUGINS", "SHOW CREATE TABLE `ns1`.`orders`"],
    "DBeaver": ["SELECT DATABASE()", "SHOW ENGINES", "SHOW CHARSET", "SHOW COLLATION", "SHOW PLUGINS", "SELECT * FROM information_schema.SCHEMATA", "SHOW FULL TABLES FROM `ns1`", "SHOW TABLE STATUS FROM `ns1`",
                "SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA='ns1' AND TABLE_NAME='orders' ORDER BY ORDINAL_POSITION", "SELECT * FROM information_schema.TABLES t WHERE t.TABLE_SCHEMA = 'information_schema' AND t.TABLE_NAME = 'CHECK_CONSTRAINTS'",
                "SELECT kc.CONSTRAINT_NAME,kc.TABLE_NAME,kc.COLUMN_NAME,kc.ORDINAL_POSITION FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE kc WHERE kc.TABLE_SCHEMA='ns1' AND kc.REFERENCED_TABLE_NAME IS NULL AND kc.TABLE_NAME='orders' ORDER BY kc.CONSTRAINT_NAME,kc.ORDINAL_POSITION",
                "SELECT * FROM INFORMATION_SCHEMA.STATISTICS WHERE TABLE_SCHEMA='ns1' AND TABLE_NAME='orders' ORDER BY TABLE_NAME,INDEX_NAME,SEQ_IN_INDEX", "SELECT * FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA='ns1' AND ROUTINE_TYPE IN ('PROCEDURE','FUNCTION') ORDER BY ROUTINE_NAME",
                "SELECT * FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA='ns1' AND TABLE_NAME='orders' ORDER BY PARTITION_ORDINAL_POSITION,SUBPARTITION_ORDINAL_POSITION", "SELECT * FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA='ns1'", "SELECT * FROM information_schema.EVENTS WHERE EVENT_SCHEMA='ns1'"],
    "DataGrip": ["select database(), schema(), left(user(),instr(concat(user(),'@'),'@')-1)", "select version(), @@version_comment, database()", "select schema_name, default_collation_name from information_schema.schemata",
                 "select table_name, table_type, table_comment, engine, table_collation, create_options from information_schema.tables where table_schema = 'ns1'",
                 "select ordinal_position, column_name, column_type, column_default, generation_expression, table_name, column_comment, is_nullable, extra, collation_name from information_schema.columns where table_schema = 'ns1' order by table_name, ordinal_position",
                 "select table_name, index_name, index_comment, index_type, non_unique, column_name, sub_part, collation, expression from information_schema.statistics where table_schema = 'ns1' and index_schema = 'ns1' order by index_schema, table_name, index_name, index_type, seq_in_index",
                 "select c.constraint_name, c.constraint_schema, c.table_name, c.constraint_type, true as enforced from information_schema.table_constraints c where c.table_schema = 'ns1'",
                 "select grantee, table_name, column_name, privilege_type, is_grantable from information_schema.column_privileges where table_schema = 'ns1'"],
    "Metabase": ["SET SESSION sql_mode = 'TRADITIONAL'", "SELECT @@GLOBAL.time_zone AS global_tz, @@system_time_zone AS system_tz, time_format(timediff(now(), convert_tz(now(), @@GLOBAL.time_zone, '+00:00')), '%H:%i') AS offset",
                 "SHOW GRANTS FOR CURRENT_USER()", "SELECT `c`.`table_name`, `c`.`column_name`, `c`.`column_type` FROM `information_schema`.`columns` AS `c` INNER JOIN `information_schema`.`tables` AS `t` ON `t`.`table_schema` = `c`.`table_schema` AND `t`.`table_name` = `c`.`table_name` WHERE `c`.`table_schema` = 'ns1'",
                 "SELECT `orders`.`region` AS `region`, COUNT(*) AS `count` FROM `orders` GROUP BY `orders`.`region` ORDER BY `orders`.`region` ASC",
                 "SELECT STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y-%m'), '-01'), '%Y-%m-%d') AS `placed`, SUM(`orders`.`amount`) AS `sum` FROM `orders` GROUP BY STR_TO_DATE(CONCAT(DATE_FORMAT(`orders`.`placed`, '%Y-%m'), '-01'), '%Y-%m-%d') ORDER BY 1"],
    "Superset": ["SELECT DATABASE()", "SELECT @@transaction_isolation", "SHOW VARIABLES LIKE 'sql_mode'", "SHOW VARIABLES LIKE 'lower_case_table_names'", "SHOW FULL TABLES FROM `ns1`", "SHOW CREATE TABLE `ns1`.`orders`", "SHOW DATABASES",
                 "SELECT DATE(placed) AS d, COUNT(*) AS c FROM orders WHERE placed >= STR_TO_DATE('2024-01-01 00:00:00.000000', '%Y-%m-%d %H:%i:%s.%f') GROUP BY DATE(placed) ORDER BY c DESC LIMIT 10"],
    "Tableau": ["SET SQL_AUTO_IS_NULL = 0", "SELECT @@sql_select_limit", "SET SQL_SELECT_LIMIT = 100", "SET SQL_SELECT_LIMIT = DEFAULT", "SHOW KEYS FROM `orders`", "SELECT `TABLE_NAME`, `TABLE_COMMENT`, `TABLE_TYPE`, `TABLE_SCHEMA` FROM `information_schema`.`TABLES` WHERE `TABLE_SCHEMA` LIKE 'ns1' AND (`TABLE_TYPE`='BASE TABLE' OR `TABLE_TYPE`='VIEW') ORDER BY `TABLE_SCHEMA`, `TABLE_NAME`",
                "SELECT COUNT(1) AS `n`, `orders`.`region` AS `region` FROM `orders` GROUP BY 2", "SELECT ADDDATE(DATE_FORMAT(`orders`.`placed`, '%Y-01-01 00:00:00'), INTERVAL 0 SECOND) AS `y`, SUM(`orders`.`amount`) AS `s` FROM `orders` GROUP BY 1"],
    "Power BI": ["SELECT @@lower_case_table_names", "SHOW VARIABLES LIKE 'character_set_%'", "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')",
                 "select `_`.`region`, sum(`_`.`amount`) as `a` from `ns1`.`orders` as `_` group by `_`.`region`", "select * from `ns1`.`orders` limit 1000"],
    "Grafana": ["SELECT TABLE_NAME FROM information_schema.tables WHERE TABLE_SCHEMA != 'information_schema'", "SELECT DISTINCT TABLE_SCHEMA from information_schema.TABLES where TABLE_TYPE != 'SYSTEM VIEW' ORDER BY TABLE_SCHEMA",
                "SELECT UNIX_TIMESTAMP(placed) DIV 86400 * 86400 AS 'time', sum(amount) AS 'value' FROM orders WHERE placed BETWEEN FROM_UNIXTIME(1704067200) AND FROM_UNIXTIME(1735689600) GROUP BY 1 ORDER BY 1"],
    "Looker": ["SELECT 1", "SET @@session.group_concat_max_len = 1000000", "SHOW PROCESSLIST", "SELECT DATE_FORMAT(CONVERT_TZ(placed,'UTC','America/Los_Angeles'),'%Y-%m') AS m, COUNT(DISTINCT order_id) AS c FROM orders GROUP BY 1 ORDER BY 1 DESC LIMIT 500"],
    "phpMyAdmin": ["SELECT @@version, @@version_comment", "SET NAMES 'utf8mb4' COLLATE 'utf8mb4_unicode_ci'", "SELECT CURRENT_USER()", "SHOW SESSION VARIABLES LIKE 'FOREIGN_KEY_CHECKS'", "SHOW TABLES FROM `ns1`", "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('character_set_server')",
                   "SELECT * FROM `INFORMATION_SCHEMA`.`CHARACTER_SETS` LEFT JOIN `INFORMATION_SCHEMA`.`COLLATIONS` USING (`CHARACTER_SET_NAME`)"],
    "HeidiSQL": ["SELECT CONNECTION_ID()", "SHOW VARIABLES", "SHOW /*!50002 GLOBAL */ STATUS", "SELECT NOW()", "SHOW DATABASES", "SELECT `DEFAULT_COLLATION_NAME` FROM `information_schema`.`SCHEMATA` WHERE `SCHEMA_NAME`='ns1'", "SHOW TABLE STATUS FROM `ns1`",
                 "SHOW FUNCTION STATUS WHERE `Db`='ns1'", "SHOW EVENTS FROM `ns1`", "SELECT *, EVENT_SCHEMA AS `Db`, EVENT_NAME AS `Name` FROM information_schema.`EVENTS` WHERE `EVENT_SCHEMA`='ns1'"],
}


@check(70, "E", "GUI and BI tools", "what twelve tools send on connect and browse, in text and as prepared statements")
def browse(ctx):
    failed = []
    for tool, queries in BROWSE.items():
        c = connect(port(ctx), database="ns1")
        k = c.cursor()
        for q in queries:
            try:
                k.execute(q)
                rows = k.fetchall()
                if q.startswith("SELECT") and not rows and "orders" in q and "PARTITIONS" not in q:
                    failed.append("%s: no rows: %s" % (tool, q[:120]))
            except Exception as e:
                failed.append("%s: %s: %s" % (tool, q[:120], e))
        c.close()
    equal(failed, [])


@check(70.1, "E", "PyMySQL", "a thousand tables: SHOW TABLES, columns of one, reflection under a second")
def many_tables(ctx):
    import time

    from pyiceberg.catalog.sql import SqlCatalog
    from pyiceberg.schema import Schema
    from pyiceberg.types import LongType, NestedField, StringType
    folder = os.path.join(ctx.tmp, "many")
    os.makedirs(folder)
    cat = SqlCatalog("lake", uri="sqlite:///%s/catalog.db" % folder, warehouse="file://" + folder)
    cat.create_namespace("many")
    schema = Schema(*(NestedField(i + 1, "c%d" % i, LongType() if i % 2 else StringType(), False) for i in range(50)))
    for i in range(1000):
        cat.create_table("many.t%04d" % i, schema)
    from harness import Lhsql
    p = free_port()
    ctx.started.append(Lhsql(ctx.binary, folder, os.path.join(ctx.tmp, "many.log"), "--mysql", "127.0.0.1:%d" % p))
    k = connect(p, database="many").cursor()
    for sql, rows in (("show full tables", 1000), ("show columns from t0500", 50), ("select * from information_schema.columns where table_schema = 'many' and table_name = 't0999'", 50),
                      ("show create table t0001", 1), ("show tables like 't000%'", 10)):
        start = time.time()
        equal(k.execute(sql), rows, sql)
        true(time.time() - start < 1, "%s takes %.1f s" % (sql, time.time() - start))
