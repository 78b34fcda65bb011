// JDBC drivers over the MySQL wire: MysqlJdbc.java URL USER PASSWORD. Prints what it saw, sections
// headed by ##.
import java.math.BigDecimal;
import java.sql.*;
import java.util.*;

public class MysqlJdbc {
  public static void main(String[] a) throws Exception {
    try (Connection c = DriverManager.getConnection(a[0], a[1], a[2])) {
      metadata(c.getMetaData());
      values(c);
      streams(c);
      sessions(c);
    }
  }

  static void metadata(DatabaseMetaData m) throws Exception {
    System.out.println("## metadata");
    System.out.println(m.getDatabaseProductName() + " " + m.getDatabaseMajorVersion());
    show(m.getTables("ns1", null, "%", null), "TABLE_CAT", "TABLE_NAME", "TABLE_TYPE", "REMARKS");
    show(m.getColumns("ns1", null, "orders", "%"), "COLUMN_NAME", "DATA_TYPE", "TYPE_NAME", "IS_NULLABLE", "ORDINAL_POSITION", "REMARKS");
    show(m.getPrimaryKeys("ns1", null, "orders"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME");
    show(m.getIndexInfo("ns1", null, "orders", false, false), "NON_UNIQUE", "INDEX_NAME", "COLUMN_NAME");
    show(m.getCatalogs(), "TABLE_CAT");
    for (ResultSet r : new ResultSet[] {m.getImportedKeys("ns1", null, "orders"), m.getExportedKeys("ns1", null, "orders"),
        m.getCrossReference("ns1", null, "orders", "ns1", null, "orders"), m.getVersionColumns("ns1", null, "orders"),
        m.getProcedures("ns1", null, "%"), m.getProcedureColumns("ns1", null, "%", "%"), m.getFunctions("ns1", null, "%"),
        m.getUDTs("ns1", null, "%", null), m.getTablePrivileges("ns1", null, "orders"), m.getColumnPrivileges("ns1", null, "orders", "%")})
      System.out.println(count(r));
    System.out.println(count(m.getTypeInfo()) > 20);
  }

  static void values(Connection c) throws Exception {
    System.out.println("## values");
    try (PreparedStatement s = c.prepareStatement("select * from ns1.all_types where id < ? order by id")) {
      s.setLong(1, 7);
      for (int k = 0; k < 3; k++)
        try (ResultSet r = s.executeQuery()) {
          while (r.next()) {
            StringBuilder b = new StringBuilder();
            for (int i = 1; i <= 20; i++) {
              Object o = i == 5 ? number(r.getString(i), true) : i == 6 ? number(r.getString(i), false) : i == 8 ? r.getBigDecimal(i) : i == 2 ? r.getString(i) : i > 14 && i < 17 ? r.getBytes(i) : r.getString(i);
              if (o instanceof BigDecimal) o = ((BigDecimal) o).toPlainString();
              if (o instanceof byte[]) o = HexFormat.of().formatHex((byte[]) o);
              b.append(o).append('|');
            }
            System.out.println(b.toString().replace("\n", "\\n").replace(".000000|", "|"));
          }
        }
      ResultSetMetaData md = s.getMetaData();
      for (int i = 1; i <= md.getColumnCount(); i++)
        System.out.println(md.getColumnName(i) + " " + md.getTableName(i) + " " + md.isNullable(i));
    }
    try (PreparedStatement s = c.prepareStatement("select count(*) from ns1.orders where customer = ? and amount > ? and placed < ? and region <> ? and order_id > ?")) {
      for (int k = 0; k < 7; k++) {
        s.setString(1, "customer 5");
        s.setBigDecimal(2, new BigDecimal("1.50"));
        s.setTimestamp(3, Timestamp.valueOf("2030-01-01 00:00:00.5"));
        s.setString(4, "x");
        s.setLong(5, 0);
        try (ResultSet r = s.executeQuery()) {
          r.next();
          System.out.println(r.getLong(1));
        }
      }
    }
  }

  static String number(String s, boolean isFloat) {
    return s == null ? null : isFloat ? (float) Double.parseDouble(s) + "" : Double.parseDouble(s) + "";
  }

  static void streams(Connection c) throws Exception {
    System.out.println("## streams");
    try (Statement s = c.createStatement(ResultSet.TYPE_FORWARD_ONLY, ResultSet.CONCUR_READ_ONLY)) {
      s.setFetchSize(100);
      System.out.println(count(s.executeQuery("select * from ns1.orders")));
    }
    try (PreparedStatement s = c.prepareStatement("select * from ns1.orders where order_id > ?")) {
      s.setFetchSize(100);
      s.setInt(1, 0);
      System.out.println(count(s.executeQuery()));
    }
    try (Statement s = c.createStatement()) {
      s.setMaxRows(7);
      System.out.println(count(s.executeQuery("select * from ns1.orders")));
    }
    try (Statement s = c.createStatement()) {
      s.setQueryTimeout(1);
      try {
        s.executeQuery("select count(*) from ns1.orders a, ns1.orders b, ns1.orders c where a.order_id + b.order_id + c.order_id = 7");
        System.out.println("no timeout");
      } catch (SQLTimeoutException e) {
        System.out.println("timeout");
      }
      s.setQueryTimeout(0);
      System.out.println(count(s.executeQuery("select 1")));
    }
  }

  static void sessions(Connection c) throws Exception {
    System.out.println("## sessions");
    c.setAutoCommit(false);
    try (Statement s = c.createStatement()) {
      System.out.println(count(s.executeQuery("select 1")));
      Savepoint p = c.setSavepoint("p");
      c.rollback(p);
      c.commit();
    }
    c.setAutoCommit(true);
    c.setReadOnly(true); // Connector/J then refuses writes by itself, MariaDB's driver leaves them to nobody
    c.setReadOnly(false);
    try (Statement s = c.createStatement()) {
      s.execute("set session transaction read only");
      s.executeUpdate("create table ns1.jdbc_ro (a int)");
      System.out.println("written");
    } catch (SQLException e) {
      System.out.println("read only " + e.getErrorCode());
    }
    try (Statement s = c.createStatement()) {
      s.execute("set session transaction read write");
    }
    c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
    System.out.println(c.getTransactionIsolation() + " " + c.isValid(2) + " " + c.getCatalog());
    c.setCatalog("public");
    System.out.println(c.getCatalog());
    try (Statement s = c.createStatement()) {
      s.executeQuery("select nope from ns1.orders");
    } catch (SQLException e) {
      System.out.println(e.getErrorCode() + " " + e.getSQLState());
    }
  }

  static void show(ResultSet r, String... cols) throws Exception {
    while (r.next()) {
      StringBuilder b = new StringBuilder();
      for (String c : cols) b.append(r.getString(c)).append('|');
      System.out.println(b);
    }
  }

  static int count(ResultSet r) throws Exception {
    int n = 0;
    while (r.next()) n++;
    return n;
  }
}
