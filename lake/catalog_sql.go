package lake

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
)

// sqlCatalog keeps pointers in two SQL tables, in PyIceberg's layout, so that PyIceberg,
// iceberg-go, Java's JDBC catalog and this program share a warehouse.
type sqlCatalog struct {
	name     string
	props    map[string]string
	db       *sql.DB
	postgres bool
	typed    bool // iceberg_tables has the column iceberg_type, which views need
	store    *Store
	prefixes []string
	engine   commitEngine
	lockWait time.Duration // how long a lock of another program's is waited for
	watch    versionWatch
	// writer lets one writer of this process after another at a SQLite file, in the order of
	// their coming: the file's lock is luck, and who is always late would be told of other programs.
	writer chan struct{}
	// commits keeps this process's readers and its commits from starving each other in the same
	// way: whoever reads holds it shared, whoever commits alone.
	turns sync.RWMutex
}

func openSQL(ctx context.Context, known *MetadataCache, name string, props map[string]string) (Catalog, error) {
	c := &sqlCatalog{name: name, props: props, store: NewStoreWith(known, props), prefixes: prefixesOf(props), writer: make(chan struct{}, 1)}
	c.engine = commitEngine{pointers: c, load: c.loadAt, rows: c}
	c.lockWait = time.Duration(intProperty(props, "lhsql.lock-timeout-ms", int(defaultLockWait/time.Millisecond))) * time.Millisecond
	target, dsn, err := sqlTarget(name, props["uri"])
	if err != nil {
		return nil, err
	}
	c.postgres = target == "pgx"
	if c.db, err = c.open(target, dsn); err != nil {
		return nil, sqlerr.Wrap(withoutPassword(err, dsn), sqlerr.ConnectionException, "open catalog %s", name)
	}
	if err := c.waiting(ctx, func() error { return c.prepare(ctx) }); err != nil {
		c.db.Close()
		if locked(err) {
			return nil, c.fail(err, "read")
		}
		return nil, sqlerr.Wrap(withoutPassword(err, dsn), sqlerr.ConnectionException, "open catalog %s", name)
	}
	return c, nil
}

// open opens the database. PostgreSQL's sessions wait for locks no longer than lockWait.
func (c *sqlCatalog) open(target, dsn string) (*sql.DB, error) {
	if !c.postgres {
		return sql.Open(target, dsn)
	}
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	set := fmt.Sprintf("SET lock_timeout = %d", c.lockWait.Milliseconds())
	return stdlib.OpenDB(*cfg, stdlib.OptionAfterConnect(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, set)
		return err
	})), nil
}

// withoutPassword keeps a connection string's password out of errors.
func withoutPassword(err error, dsn string) error {
	if u, e := url.Parse(dsn); e == nil && u.User != nil {
		if pw, ok := u.User.Password(); ok && pw != "" && strings.Contains(err.Error(), pw) {
			return errors.New(strings.ReplaceAll(err.Error(), pw, "***"))
		}
	}
	return err
}

// sqlTarget reads a SQLAlchemy-style URI: sqlite:///relative.db, sqlite:////absolute.db,
// postgresql+psycopg2://user:pw@host/db. A plain path is SQLite.
func sqlTarget(name, uri string) (driver, dsn string, err error) {
	scheme, rest, ok := strings.Cut(uri, ":")
	dialect, _, _ := strings.Cut(scheme, "+")
	switch {
	case ok && (dialect == "postgresql" || dialect == "postgres"):
		return "pgx", "postgres:" + rest, nil
	case ok && dialect == "sqlite":
		rest = strings.TrimPrefix(rest, "///")
		rest = strings.TrimPrefix(rest, "//")
	case uri == "":
		return "", "", sqlerr.New(sqlerr.ConfigFileError, "catalog %s: the property uri is missing", name)
	case strings.Contains(uri, "://"):
		return "", "", sqlerr.New(sqlerr.ConfigFileError, "catalog %s: %s is no SQL catalog that is supported", name, scheme).
			WithHint("Write sqlite:////path/catalog.db or postgresql://user@host/database.")
	default:
		rest = uri
	}
	path, _, _ := strings.Cut(rest, "?")
	if path == "" || path == ":memory:" {
		// Every connection of a pool would see another database.
		return "sqlite", "file:" + url.PathEscape(name) + "?mode=memory&cache=shared&_pragma=busy_timeout(" + sqliteBusy + ")", nil
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", "", sqlerr.Wrap(err, sqlerr.IOError, "make the folder of catalog %s", name)
	}
	// The journal's default mode with synchronous=FULL survives a loss of power.
	u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(),
		RawQuery: "_pragma=busy_timeout(" + sqliteBusy + ")&_pragma=synchronous(FULL)"}
	return "sqlite", u.String(), nil
}

func (c *sqlCatalog) prepare(ctx context.Context) error {
	if !c.postgres && strings.Contains(c.props["uri"], ":memory:") {
		c.db.SetMaxOpenConns(1)
	}
	for _, s := range []string{`CREATE TABLE IF NOT EXISTS iceberg_tables (
	catalog_name VARCHAR(255) NOT NULL,
	table_namespace VARCHAR(255) NOT NULL,
	table_name VARCHAR(255) NOT NULL,
	metadata_location VARCHAR(1000),
	previous_metadata_location VARCHAR(1000),
	iceberg_type VARCHAR(5),
	PRIMARY KEY (catalog_name, table_namespace, table_name)
)`, `CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
	catalog_name VARCHAR(255) NOT NULL,
	namespace VARCHAR(255) NOT NULL,
	property_key VARCHAR(255) NOT NULL,
	property_value VARCHAR(1000) NOT NULL,
	PRIMARY KEY (catalog_name, namespace, property_key)
)`} {
		if strings.EqualFold(c.props["init_catalog_tables"], "false") {
			break
		}
		if _, err := c.db.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	probe := func() error {
		rows, err := c.db.QueryContext(ctx, "SELECT iceberg_type FROM iceberg_tables LIMIT 0")
		if err != nil {
			return err
		}
		return rows.Close()
	}
	err := probe()
	if locked(err) {
		return err
	}
	c.typed = err == nil
	if !c.typed && strings.EqualFold(c.props["schema_version"], "v1") {
		if _, err := c.db.ExecContext(ctx, "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5)"); err != nil {
			return err
		}
		c.typed = true
	}
	return nil
}

func (c *sqlCatalog) Name() string                  { return c.name }
func (c *sqlCatalog) Properties() map[string]string { return c.props }
func (c *sqlCatalog) commits() *commitEngine        { return &c.engine }
func (c *sqlCatalog) Close() error {
	c.watch.close()
	return c.db.Close()
}

// q numbers a statement's placeholders for PostgreSQL.
func (c *sqlCatalog) q(s string) string {
	if !c.postgres {
		return s
	}
	var b strings.Builder
	n := 0
	for _, r := range s {
		if r == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// strings gives the one column of a query's rows.
func (c *sqlCatalog) strings(ctx context.Context, query string, args ...any) ([]string, error) {
	var out []string
	err := c.query(ctx, query, args, func() { out = nil }, func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		out = append(out, s)
		return err
	})
	return out, err
}

// reading lets what is read in before commits that come later; the function it gives ends that.
// A database in memory has one connection, for which all wait anyway.
func (c *sqlCatalog) reading() func() {
	if c.postgres || c.inMemory() {
		return func() {}
	}
	c.turns.RLock()
	return c.turns.RUnlock
}

func (c *sqlCatalog) committing(f func() error) error {
	if !c.inMemory() {
		c.turns.Lock()
		defer c.turns.Unlock()
	}
	return f()
}

func (c *sqlCatalog) inMemory() bool { return c.db.Stats().MaxOpenConnections == 1 }

// query gives each row of a query to f, after fresh; it begins anew where it met a lock, or where
// the connection broke.
func (c *sqlCatalog) query(ctx context.Context, query string, args []any, fresh func(), f func(*sql.Rows) error) error {
	return c.fail(c.reconnecting(ctx, func() error {
		return c.waiting(ctx, func() error { return c.queryOnce(ctx, query, args, fresh, f) })
	}), "read")
}

func (c *sqlCatalog) queryOnce(ctx context.Context, query string, args []any, fresh func(), f func(*sql.Rows) error) error {
	fresh()
	defer c.reading()()
	rows, err := c.db.QueryContext(ctx, c.q(query), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (c *sqlCatalog) Namespaces(ctx context.Context) ([]string, error) {
	list, err := c.strings(ctx, `SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?
UNION SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?`, c.name, c.name)
	if err != nil {
		return nil, err
	}
	// a.b makes a exist too.
	seen := map[string]bool{}
	for _, ns := range list {
		for ns != "" {
			seen[ns] = true
			i := strings.LastIndexByte(ns, '.')
			ns = ns[:max(i, 0)]
		}
	}
	out := make([]string, 0, len(seen))
	for ns := range seen {
		out = append(out, ns)
	}
	sort.Strings(out)
	return out, nil
}

func (c *sqlCatalog) namespaceExists(ctx context.Context, ns string) (bool, error) {
	like := likeBelow(ns)
	found, err := c.strings(ctx, `SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ? AND (table_namespace = ? OR table_namespace LIKE ? ESCAPE '!')
UNION ALL SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ? AND (namespace = ? OR namespace LIKE ? ESCAPE '!') LIMIT 1`,
		c.name, ns, like, c.name, ns, like)
	return len(found) > 0, err
}

func (c *sqlCatalog) needNamespace(ctx context.Context, ns string) error {
	ok, err := c.namespaceExists(ctx, ns)
	if err == nil && !ok {
		err = &NotFound{What: "schema", Name: ns}
	}
	return err
}

func (c *sqlCatalog) CreateNamespace(ctx context.Context, ns string, props map[string]string) error {
	if err := checkNamespace(ns); err != nil {
		return err
	}
	if ok, err := c.namespaceExists(ctx, ns); err != nil || ok {
		if ok {
			err = &Exists{What: "schema", Name: ns}
		}
		return err
	}
	all := map[string]string{"exists": "true"}
	for k, v := range props {
		all[k] = v
	}
	return c.setNamespace(ctx, ns, all, nil, true)
}

func checkNamespace(ns string) error {
	for _, part := range strings.Split(ns, ".") {
		if part == "" || part == ".." || strings.ContainsAny(part, "/\\\x00") {
			return sqlerr.New(sqlerr.InvalidSchemaDefinition, "%q is no name for a schema", ns)
		}
	}
	return nil
}

func checkName(n Name) error {
	if n.Table == "" || n.Table == ".." || n.Table == "." || strings.ContainsAny(n.Table, "/\\\x00") {
		return sqlerr.New(sqlerr.InvalidName, "%q is no name for a table", n.Table)
	}
	return checkNamespace(n.Namespace)
}

func (c *sqlCatalog) setNamespace(ctx context.Context, ns string, set map[string]string, remove []string, fresh bool) error {
	for k := range set {
		remove = append(remove, k)
	}
	return c.certainly(ctx, "schema "+ns, func(ctx context.Context, db sqlExec) error {
		if !fresh {
			for _, k := range remove {
				if _, err := db.ExecContext(ctx, c.q("DELETE FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ? AND property_key = ?"), c.name, ns, k); err != nil {
					return c.fail(err, "written")
				}
			}
		}
		for k, v := range set {
			if _, err := db.ExecContext(ctx, c.q("INSERT INTO iceberg_namespace_properties VALUES (?, ?, ?, ?)"), c.name, ns, k, v); err != nil {
				if fresh && duplicate(err) {
					return &Exists{What: "schema", Name: ns}
				}
				return c.fail(err, "written")
			}
		}
		return nil
	})
}

// certainly is atomically for what is not tried again: a lost race and a lost answer are told
// to the user, who knows best what to do.
func (c *sqlCatalog) certainly(ctx context.Context, what string, f func(context.Context, sqlExec) error) error {
	return c.certain(c.atomically(ctx, f), what)
}

func (c *sqlCatalog) certain(err error, what string) error {
	switch {
	case errors.Is(err, errUnknown):
		e := sqlerr.New(sqlerr.TransactionUnknown, "it is not known whether the change of %s took place", what)
		e.Cause = err
		return e
	case errors.Is(err, errLostRace):
		return conflict("another transaction changed %s", what)
	}
	return err
}

// duplicate recognises a violated primary key of either database.
func duplicate(err error) bool {
	s := err.Error()
	return strings.Contains(s, "UNIQUE constraint failed") || strings.Contains(s, "SQLSTATE 23505")
}

func (c *sqlCatalog) DropNamespace(ctx context.Context, ns string) error {
	err := c.define(ctx, nil, &definitions{schemas: []schemaChange{{name: ns, dropped: true}}})
	return c.certain(err, "schema "+ns)
}

func (c *sqlCatalog) NamespaceProperties(ctx context.Context, ns string) (map[string]string, error) {
	if err := c.needNamespace(ctx, ns); err != nil {
		return nil, err
	}
	var out map[string]string
	err := c.query(ctx, "SELECT property_key, property_value FROM iceberg_namespace_properties WHERE catalog_name = ? AND namespace = ?", []any{c.name, ns},
		func() { out = map[string]string{} }, func(rows *sql.Rows) error {
			var k, v string
			err := rows.Scan(&k, &v)
			if k != "exists" {
				out[k] = v
			}
			return err
		})
	return out, err
}

func (c *sqlCatalog) SetNamespaceProperties(ctx context.Context, ns string, set map[string]string, remove []string) error {
	if err := c.needNamespace(ctx, ns); err != nil {
		return err
	}
	return c.setNamespace(ctx, ns, set, remove, false)
}

// isTable is the condition for rows that are tables: older catalogs and writers leave the type out.
func (c *sqlCatalog) isTable() string {
	if !c.typed {
		return ""
	}
	return " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)"
}

func (c *sqlCatalog) List(ctx context.Context, ns string) ([]Name, error) {
	if err := c.needNamespace(ctx, ns); err != nil {
		return nil, err
	}
	list, err := c.strings(ctx, "SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?"+c.isTable()+" ORDER BY table_name", c.name, ns)
	return c.names(ns, list), err
}

func (c *sqlCatalog) names(ns string, list []string) []Name {
	out := make([]Name, len(list))
	for i, t := range list {
		out[i] = Name{Catalog: c.name, Namespace: ns, Table: t}
	}
	return out
}

func (c *sqlCatalog) pointer(ctx context.Context, n Name) (string, error) {
	return c.pointerOf(ctx, n, c.isTable(), "table")
}

func (c *sqlCatalog) pointerOf(ctx context.Context, n Name, cond, what string) (string, error) {
	var loc sql.NullString
	err := c.query(ctx, "SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"+cond,
		[]any{c.name, n.Namespace, n.Table}, func() { loc = sql.NullString{} }, func(rows *sql.Rows) error { return rows.Scan(&loc) })
	if err == nil && !loc.Valid {
		return "", &NotFound{What: what, Name: n.String()}
	}
	return loc.String, err
}

func (c *sqlCatalog) Load(ctx context.Context, n Name) (*Table, error) {
	if err := yield(ctx, "read"); err != nil {
		return nil, err
	}
	loc, err := c.pointer(ctx, n)
	if err != nil {
		return nil, err
	}
	return c.loadAt(ctx, n, loc)
}

func (c *sqlCatalog) loadAt(ctx context.Context, n Name, loc string) (*Table, error) {
	n.Catalog = c.name
	t, err := loadTable(ctx, c.store, n, loc, c.prefixes)
	if err == nil {
		t.pointer = loc
	}
	return t, err
}

func (c *sqlCatalog) move(ctx context.Context, moves []pointerMove) error {
	return c.atomically(ctx, func(ctx context.Context, db sqlExec) error {
		for _, m := range moves {
			if err := c.moveOne(ctx, db, m, "TABLE"); err != nil {
				return err
			}
		}
		return nil
	})
}

// sqlExec is a transaction or a connection within one.
type sqlExec interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// atomically runs f in a transaction and tells apart: done (nil), certainly not done (any other
// error; errLostRace if it may be tried again), and errUnknown.
func (c *sqlCatalog) atomically(ctx context.Context, f func(context.Context, sqlExec) error) error {
	if c.postgres {
		return c.inPostgres(ctx, f)
	}
	select {
	case c.writer <- struct{}{}:
		defer func() { <-c.writer }()
	case <-ctx.Done():
		return ctx.Err()
	}
	conn, err := c.db.Conn(ctx)
	if err != nil {
		return c.fail(err, "written")
	}
	defer conn.Close()
	// Statements that begin and end a transaction must not be cut off in the middle.
	whole := context.WithoutCancel(ctx)
	run := func(s string) error {
		return c.waiting(ctx, func() error {
			_, err := conn.ExecContext(whole, s)
			return err
		})
	}
	if err := run("BEGIN IMMEDIATE"); err != nil {
		return c.fail(err, "written")
	}
	err = f(whole, conn)
	tried := err == nil
	if tried {
		// Readers may still hold the file; the transaction stays open meanwhile.
		if err = c.committing(func() error { return run("COMMIT") }); err == nil {
			return nil
		}
		err = c.fail(err, "written")
	}
	// A rollback that works proves that nothing was committed. Where COMMIT was not tried, or the
	// disk was full, SQLite may have rolled back by itself and finds nothing to do.
	if _, e := conn.ExecContext(whole, "ROLLBACK"); e != nil {
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // never back into the pool
		if tried && sqlerr.CodeOf(err) != sqlerr.DiskFull {
			return errors.Join(errUnknown, err)
		}
	}
	return err
}

func (c *sqlCatalog) inPostgres(ctx context.Context, f func(context.Context, sqlExec) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var tx *sql.Tx
	err := c.reconnecting(ctx, func() (err error) {
		tx, err = c.db.BeginTx(context.WithoutCancel(ctx), nil)
		return err
	})
	if err != nil {
		return c.fail(err, "written")
	}
	if err := f(ctx, tx); err != nil {
		_ = tx.Rollback() // what was not committed is not done, whatever rollback says
		return err
	}
	if err := tx.Commit(); err != nil {
		if rolledBack(err) {
			return errLostRace
		}
		return errors.Join(errUnknown, c.fail(err, "written"))
	}
	return nil
}

func (c *sqlCatalog) moveOne(ctx context.Context, db sqlExec, m pointerMove, kind string) error {
	if m.from == "" {
		query, args := "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) VALUES (?, ?, ?, ?)",
			[]any{c.name, m.name.Namespace, m.name.Table, m.to}
		if c.typed {
			query = "INSERT INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) VALUES (?, ?, ?, ?, ?)"
			args = append(args, kind)
		}
		_, err := db.ExecContext(ctx, c.q(query), args...)
		if err != nil && duplicate(err) {
			return &Exists{What: strings.ToLower(kind), Name: m.name.String()}
		}
		return c.fail(err, "written")
	}
	if m.to == m.from && m.now == (Name{}) {
		return c.stands(ctx, db, m)
	}
	res, err := db.ExecContext(ctx, c.q(`UPDATE iceberg_tables SET metadata_location = ?, previous_metadata_location = ?
WHERE catalog_name = ? AND table_namespace = ? AND table_name = ? AND metadata_location = ?`),
		m.to, m.from, c.name, m.name.Namespace, m.name.Table, m.from)
	if err != nil {
		return c.fail(err, "written")
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return errLostRace
	}
	return nil
}

// stands makes sure that a pointer is where it was, and holds it there until the transaction's end.
func (c *sqlCatalog) stands(ctx context.Context, db sqlExec, m pointerMove) error {
	query := "SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"
	if c.postgres {
		query += " FOR SHARE"
	}
	rows, err := db.QueryContext(ctx, c.q(query), c.name, m.name.Namespace, m.name.Table)
	if err != nil {
		return c.fail(err, "read")
	}
	defer rows.Close()
	at := ""
	if rows.Next() {
		if err := rows.Scan(&at); err != nil {
			return c.fail(err, "read")
		}
	}
	if err := rows.Err(); err != nil {
		return c.fail(err, "read")
	}
	if at != m.from {
		return errLostRace
	}
	return nil
}

func (c *sqlCatalog) Drop(ctx context.Context, n Name, purge bool) error {
	var t *Table
	if purge {
		var err error
		if t, err = c.Load(ctx, n); err != nil {
			return err
		}
		if err := purgeable(ctx, c, t, nil); err != nil {
			return err
		}
	}
	if err := c.dropRow(ctx, n, c.isTable(), "table"); err != nil {
		return err
	}
	if t != nil {
		return purgeFiles(ctx, c, t)
	}
	return nil
}

func (c *sqlCatalog) dropRow(ctx context.Context, n Name, cond, what string) error {
	return c.certainly(ctx, what+" "+n.String(), func(ctx context.Context, db sqlExec) error {
		return c.dropIn(ctx, db, n, cond, what)
	})
}

func (c *sqlCatalog) dropIn(ctx context.Context, db sqlExec, n Name, cond, what string) error {
	res, err := db.ExecContext(ctx, c.q("DELETE FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"+cond),
		c.name, n.Namespace, n.Table)
	if err != nil {
		return c.fail(err, "written")
	}
	if k, err := res.RowsAffected(); err == nil && k == 0 {
		return &NotFound{What: what, Name: n.String()}
	}
	return nil
}

func (c *sqlCatalog) Rename(ctx context.Context, from, to Name) error {
	return c.renameRow(ctx, from, to, c.isTable(), "table")
}

func (c *sqlCatalog) renameRow(ctx context.Context, from, to Name, cond, what string) error {
	if err := checkName(to); err != nil {
		return err
	}
	if err := c.needNamespace(ctx, to.Namespace); err != nil {
		return err
	}
	return c.certainly(ctx, what+" "+from.String(), func(ctx context.Context, db sqlExec) error {
		return c.renameIn(ctx, db, from, to, cond, what)
	})
}

func (c *sqlCatalog) renameIn(ctx context.Context, db sqlExec, from, to Name, cond, what string) error {
	res, err := db.ExecContext(ctx, c.q("UPDATE iceberg_tables SET table_namespace = ?, table_name = ? WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?"+cond),
		to.Namespace, to.Table, c.name, from.Namespace, from.Table)
	if err != nil {
		if duplicate(err) {
			return &Exists{What: what, Name: to.String()}
		}
		return c.fail(err, "written")
	}
	if k, err := res.RowsAffected(); err == nil && k == 0 {
		return &NotFound{What: what, Name: from.String()}
	}
	return nil
}

func (c *sqlCatalog) Register(ctx context.Context, n Name, loc string) (*Table, error) {
	if err := checkName(n); err != nil {
		return nil, err
	}
	if err := c.needNamespace(ctx, n.Namespace); err != nil {
		return nil, err
	}
	loc = absolute(loc)
	// The file must be readable and in a place that this catalog may use, so that register is
	// no way to read files that are none of its business.
	if err := store.Allowed(store.Canonical(loc), c.prefixes); err != nil {
		return nil, err
	}
	if !isMetadataFile(store.Canonical(loc)) {
		latest, err := latestMetadata(ctx, c.store, store.Canonical(loc))
		if err != nil {
			return nil, err
		}
		loc = latest
	}
	t, err := c.loadAt(ctx, n, loc)
	if err != nil {
		return nil, err
	}
	err = c.certainly(ctx, "table "+n.String(), func(ctx context.Context, db sqlExec) error {
		return c.moveOne(ctx, db, pointerMove{name: n, to: loc}, "TABLE")
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// defaultLocation is where a new table lies, in a namespace with the properties: PyIceberg's
// convention.
func (c *sqlCatalog) defaultLocation(n Name, props map[string]string) (string, error) {
	if l := props["location"]; l != "" {
		return strings.TrimRight(l, "/") + "/" + n.Table, nil
	}
	if w := c.props["warehouse"]; w != "" {
		return strings.TrimRight(w, "/") + "/" + n.Namespace + "/" + n.Table, nil
	}
	return "", sqlerr.New(sqlerr.ConfigFileError, "catalog %s has no warehouse: give the table a location", c.name)
}

// viewFolder implements definer.
func (c *sqlCatalog) viewFolder(n Name, props map[string]string) (string, error) {
	return c.defaultLocation(n, props)
}
