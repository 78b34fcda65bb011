import java.sql.*;
import java.util.*;
import org.postgresql.PGConnection;
import org.postgresql.PGStatement;
import org.postgresql.copy.CopyManager;

/**
 * Section B of the scorecard: what the JDBC driver says of a server. For each check it prints a
 * line "## number" and what it saw; run.py runs it against two servers and compares.
 *
 * Jdbc URL USER PASSWORD
 */
public class Jdbc {
    static String url, user, password;

    interface Body { void run() throws Exception; }

    static void check(String n, Body b) {
        System.out.println("## " + n);
        try {
            b.run();
        } catch (SQLException e) {
            System.out.println("SQLException " + e.getSQLState() + " " + e.getMessage().split("\n")[0]);
        } catch (Throwable e) {
            System.out.println(e);
        }
    }

    static Connection connect(String... kv) throws SQLException {
        Properties p = new Properties();
        p.setProperty("user", user);
        if (!password.isEmpty()) p.setProperty("password", password);
        p.setProperty("options", "-c TimeZone=UTC");
        for (int i = 0; i < kv.length; i += 2) p.setProperty(kv[i], kv[i + 1]);
        return DriverManager.getConnection(url, p);
    }

    static void print(ResultSet r) throws SQLException {
        ResultSetMetaData m = r.getMetaData();
        StringBuilder h = new StringBuilder();
        for (int i = 1; i <= m.getColumnCount(); i++) h.append(m.getColumnLabel(i)).append(':').append(m.getColumnTypeName(i)).append(' ');
        System.out.println(h);
        while (r.next()) {
            StringBuilder s = new StringBuilder();
            for (int i = 1; i <= m.getColumnCount(); i++) s.append(r.getString(i)).append(" | ");
            System.out.println(s.toString().replace("\n", "\\n"));
        }
    }

    static final String ORDERS = "select order_id, customer, amount, placed, region from ns1.orders order by order_id";

    public static void main(String[] a) throws Exception {
        url = a[0];
        user = a[1];
        password = a.length > 2 ? a[2] : "";
        TimeZone.setDefault(TimeZone.getTimeZone("UTC"));
        try (Connection c = connect()) {
            DatabaseMetaData d = c.getMetaData();
            check("17", () -> System.out.println(d.getDatabaseProductName() + " " + d.getDatabaseMajorVersion() + " " + c.getCatalog() + " " + c.getSchema()));
            check("18", () -> {
                print(d.getSchemas());
                print(d.getTables(null, "ns1", "%", null));
                print(d.getTables("lake", "ns1", "ord%", new String[] {"TABLE"}));
                print(d.getTables(null, null, "numbers", new String[] {"TABLE", "VIEW"}));
                print(d.getColumns(null, "ns1", "all\\_types", "%"));
                print(d.getColumns("lake", "ns1", "orders", "%"));
                print(d.getTableTypes());
                print(d.getCatalogs());
            });
            check("19", () -> {
                int n = 0;
                for (ResultSet r = d.getTypeInfo(); r.next(); ) {
                    n++;
                    if (Arrays.asList("int4", "text", "numeric", "timestamptz", "uuid", "bool").contains(r.getString(1))) System.out.println(r.getString(1) + " " + r.getInt(2) + " " + r.getInt(3));
                }
                System.out.println(n > 50);
                print(d.getPrimaryKeys(null, "ns1", "orders"));
                print(d.getImportedKeys(null, "ns1", "orders"));
                print(d.getExportedKeys(null, "ns1", "orders"));
                ResultSet r = d.getIndexInfo(null, "ns1", "orders", false, false);
                while (r.next()) System.out.println(r.getString("INDEX_NAME") + " " + r.getString("COLUMN_NAME") + " " + r.getBoolean("NON_UNIQUE") + " " + r.getInt("ORDINAL_POSITION"));
                print(d.getBestRowIdentifier(null, "ns1", "orders", DatabaseMetaData.bestRowSession, false));
                print(d.getVersionColumns(null, "ns1", "orders"));
                print(d.getTablePrivileges(null, "ns1", "nosuch"));
                print(d.getColumnPrivileges(null, "ns1", "nosuch", "%"));
                print(d.getProcedures(null, "nosuch", "%"));
                print(d.getFunctions(null, "nosuch", "%"));
                print(d.getFunctionColumns(null, "nosuch", "%", "%"));
                print(d.getUDTs(null, "nosuch", "%", null));
                System.out.println(d.getSQLKeywords().contains("analyze") + " " + d.getMaxColumnNameLength() + " " + d.getMaxConnections());
            });
            check("20", () -> {
                try (PreparedStatement p = c.prepareStatement("select * from ns1.all_types where id >= ? order by id")) {
                    String first = null;
                    for (int k = 0; k < 7; k++) {
                        p.setLong(1, 1);
                        StringBuilder s = new StringBuilder();
                        try (ResultSet r = p.executeQuery()) {
                            while (r.next()) for (int i = 1; i <= 20; i++) {
                                Object o = r.getObject(i);
                                s.append(o instanceof byte[] b ? HexFormat.of().formatHex(b) : o instanceof java.sql.Array x ? Arrays.toString((Object[]) x.getArray()) : String.valueOf(o)).append(" | ");
                            }
                        }
                        if (first == null) System.out.println(first = s.toString());
                        // jsonb and times differ in form only; values must not.
                        if (!s.toString().equals(first)) System.out.println("run " + k + " differs: " + s);
                    }
                }
                try (PreparedStatement p = c.prepareStatement("select ?::int, ?::bigint, ?::numeric, ?::float8, ?::text, ?::bool, ?::date, ?::timestamp, ?::uuid, ?::int[], ?::bytea")) {
                    for (int k = 0; k < 7; k++) {
                        p.setInt(1, -5); p.setLong(2, 1L << 40); p.setBigDecimal(3, new java.math.BigDecimal("-12.3400")); p.setDouble(4, 0.1); p.setString(5, "é'\\");
                        p.setBoolean(6, true); p.setDate(7, java.sql.Date.valueOf("2024-02-29")); p.setTimestamp(8, Timestamp.valueOf("2024-02-29 01:02:03.456789"));
                        p.setObject(9, UUID.fromString("00112233-4455-6677-8899-aabbccddeeff")); p.setArray(10, c.createArrayOf("int4", new Integer[] {1, null, 3})); p.setBytes(11, new byte[] {0, 1, -1});
                        print(p.executeQuery());
                    }
                }
            });
            check("21", () -> {
                c.setAutoCommit(false);
                try (Statement s = c.createStatement(); Statement other = c.createStatement()) {
                    s.setFetchSize(300);
                    int n = 0;
                    long sum = 0;
                    try (ResultSet r = s.executeQuery(ORDERS)) {
                        while (r.next()) {
                            n++;
                            sum += r.getInt(1);
                            if (n == 400) try (ResultSet q = other.executeQuery("select 1")) { q.next(); }
                        }
                    }
                    System.out.println(n + " " + sum);
                }
                c.commit();
                c.setAutoCommit(true);
            });
            check("22", () -> {
                try (Statement s = c.createStatement()) {
                    s.setMaxRows(5);
                    int n = 0;
                    for (ResultSet r = s.executeQuery(ORDERS); r.next(); ) n++;
                    System.out.println(n);
                }
                try (Statement s = c.createStatement()) {
                    s.execute("drop table if exists ns1.jdbc_w");
                    s.execute("create table ns1.jdbc_w (a int, b text)");
                }
                try (PreparedStatement p = c.prepareStatement("insert into ns1.jdbc_w values (?, ?)")) {
                    p.setMaxRows(1);
                    p.setInt(1, 1);
                    p.setString(2, "x");
                    System.out.println(p.executeUpdate());
                }
                try (PreparedStatement p = c.prepareStatement("insert into ns1.jdbc_w values (2, 'y'), (3, 'z') returning a")) {
                    print(p.executeQuery());
                }
                try (Statement s = c.createStatement()) {
                    print(s.executeQuery("select * from ns1.jdbc_w order by a"));
                    s.execute("drop table ns1.jdbc_w");
                }
            });
            check("23", () -> {
                for (String q : new String[] {"explain select 1", " show timezone", "set timezone = 'UTC'", "   select 1 as x", "begin", "rollback", "values (1)", "with x as (select 2 as y) select * from x"})
                    try (PreparedStatement p = c.prepareStatement(q)) {
                        ResultSetMetaData m = p.getMetaData();
                        System.out.println(q + ": " + (m == null ? "none" : m.getColumnCount() + " " + m.getColumnName(1) + " " + m.getColumnTypeName(1)) + " " + p.execute());
                    }
            });
            check("24", () -> {
                try (Statement s = c.createStatement()) {
                    s.setQueryTimeout(1);
                    long t = System.currentTimeMillis();
                    try {
                        s.executeQuery("select pg_sleep(20)");
                        System.out.println("not cancelled");
                    } catch (SQLException e) {
                        System.out.println(e.getSQLState() + " " + (System.currentTimeMillis() - t < 15000));
                    }
                    s.setQueryTimeout(0);
                    print(s.executeQuery("select 1"));
                }
            });
            check("25", () -> {
                for (String q : new String[] {"select * from ns1.orders where order_id = ? and amount > ? and customer like ? and placed < ?", "select ? + 1, ?::text, coalesce(?, 'x')", "select * from ns1.all_types where c_uuid = ? or c_ints = ? or c_bin = ? or c_date between ? and ?", "select 1 limit ?"})
                    try (PreparedStatement p = c.prepareStatement(q)) {
                        ParameterMetaData m = p.getParameterMetaData();
                        StringBuilder s = new StringBuilder();
                        for (int i = 1; i <= m.getParameterCount(); i++) s.append(m.getParameterTypeName(i)).append(' ');
                        System.out.println(s);
                    }
            });
            check("26", () -> {
                c.setAutoCommit(false);
                Savepoint sp = c.setSavepoint("sp1");
                try (Statement s = c.createStatement()) {
                    try {
                        s.execute("select 1/0");
                    } catch (SQLException e) {
                        System.out.println(e.getSQLState());
                    }
                    c.rollback(sp);
                    print(s.executeQuery("select 1"));
                    c.releaseSavepoint(sp);
                }
                c.rollback();
                c.setAutoCommit(true);
                c.setReadOnly(true);
                try (Statement s = c.createStatement()) {
                    print(s.executeQuery("show transaction_read_only"));
                }
                c.setReadOnly(false);
                c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
                System.out.println(c.getTransactionIsolation() == Connection.TRANSACTION_SERIALIZABLE);
                try (Connection k = connect("autosave", "always"); Statement s = k.createStatement()) {
                    k.setAutoCommit(false);
                    s.execute("select 1");
                    try {
                        s.execute("select nosuch");
                    } catch (SQLException e) {
                        System.out.println(e.getSQLState());
                    }
                    print(s.executeQuery("select 'goes on' as x"));
                    k.commit();
                }
            });
            check("27", () -> {
                for (String m : new String[] {"simple", "extendedForPrepared", "extendedCacheEverything"})
                    try (Connection k = connect("preferQueryMode", m); PreparedStatement p = k.prepareStatement("select order_id, amount from ns1.orders where order_id < ? and region = ? order by 1"); Statement s = k.createStatement()) {
                        p.setInt(1, 6);
                        p.setString(2, "us");
                        print(p.executeQuery());
                        print(s.executeQuery("select 1"));
                    }
            });
            check("28", () -> {
                System.out.println(c.isValid(2));
                try (Statement s = c.createStatement()) {
                    boolean b = s.execute("select 1 as a; select 2 as b; set timezone = 'UTC'");
                    while (b || s.getUpdateCount() != -1) {
                        if (b) print(s.getResultSet());
                        else System.out.println("count " + s.getUpdateCount());
                        b = s.getMoreResults();
                    }
                    s.execute("drop table if exists ns1.jdbc_b");
                    s.execute("create table ns1.jdbc_b (a int, b text)");
                    s.addBatch("insert into ns1.jdbc_b values (1, 'a')");
                    s.addBatch("insert into ns1.jdbc_b values (2, 'b')");
                    System.out.println(Arrays.toString(s.executeBatch()));
                }
                try (PreparedStatement p = c.prepareStatement("insert into ns1.jdbc_b values (?, ?)")) {
                    for (int i = 3; i < 8; i++) {
                        p.setInt(1, i);
                        p.setString(2, i == 5 ? null : "r" + i);
                        p.addBatch();
                    }
                    System.out.println(Arrays.toString(p.executeBatch()));
                }
                CopyManager cm = ((PGConnection) c.unwrap(PGConnection.class)).getCopyAPI();
                System.out.println(cm.copyIn("copy ns1.jdbc_b from stdin", new java.io.StringReader("10\tten\n11\t\\N\n")));
                System.out.println(cm.copyIn("copy ns1.jdbc_b (b, a) from stdin (format csv, header)", new java.io.StringReader("b,a\n\"x\"\"y\",12\n,13\n")));
                java.io.StringWriter w = new java.io.StringWriter();
                System.out.println(cm.copyOut("copy (select * from ns1.jdbc_b order by a) to stdout (format csv, header)", w));
                System.out.println(w);
                try (Statement s = c.createStatement()) {
                    s.execute("drop table ns1.jdbc_b");
                }
            });
            check("30", () -> {
                try (Statement s = c.createStatement()) {
                    ResultSetMetaData m = s.executeQuery("select o.order_id as id, amount * 2 as twice, o.* from ns1.orders o limit 1").getMetaData();
                    for (int i = 1; i <= m.getColumnCount(); i++)
                        System.out.println(m.getColumnName(i) + " " + m.getColumnClassName(i) + " " + m.getPrecision(i) + " " + m.getScale(i) + " " + m.getColumnDisplaySize(i));
                    m.isNullable(1);
                    m.isAutoIncrement(1);
                    m.getTableName(1);
                    m.getSchemaName(1);
                }
            });
        }
    }
}
