// Package driver makes the engine a database/sql driver, "lhsql": Iceberg tables in the
// process, without a server.
//
//	db, err := sql.Open("lhsql", "/path/to/warehouse?search_path=silver")
//
// The data source is a warehouse folder with its embedded catalog (catalog.db), then session
// settings as query parameters; user, database and dialect (pg, or mysql with parameters that are
// question marks) are taken from it too. Programs that open
// other catalogs make the engine themselves and use sql.OpenDB(driver.Connector(engine, options)).
package driver

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func init() { sql.Register("lhsql", &Driver{}) }

// Driver opens warehouses by path; engines are shared by the connections of one data source.
type Driver struct {
	mu      sync.Mutex
	engines map[string]*engine.Engine
}

// Open implements driver.Driver.
func (d *Driver) Open(name string) (driver.Conn, error) {
	c, err := d.OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return c.Connect(context.Background())
}

// OpenConnector implements driver.DriverContext.
func (d *Driver) OpenConnector(name string) (driver.Connector, error) {
	path, query, _ := strings.Cut(name, "?")
	params, err := url.ParseQuery(query)
	if err != nil {
		return nil, fmt.Errorf("lhsql: data source %q: %w", name, err)
	}
	o := engine.SessionOptions{User: "lhsql", Settings: map[string]string{}}
	for k := range params {
		switch k {
		case "user":
			o.User = params.Get(k)
		case "database":
			o.Database = params.Get(k)
		case "dialect":
			o.Dialect = params.Get(k)
		default:
			o.Settings[k] = params.Get(k)
		}
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	e := d.engines[abs]
	if e == nil {
		e, err = engine.Open(context.Background(), engine.Config{PathTables: []string{"/"}, Catalogs: []engine.CatalogConfig{{
			Name: "lake", Props: map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(abs, "catalog.db"), "warehouse": abs}}}})
		if err != nil {
			return nil, err
		}
		if d.engines == nil {
			d.engines = map[string]*engine.Engine{}
		}
		d.engines[abs] = e
	}
	return &connector{d: d, e: e, o: o}, nil
}

// Connector gives connections to an engine that the program opened itself.
func Connector(e *engine.Engine, o engine.SessionOptions) driver.Connector {
	return &connector{d: &Driver{}, e: e, o: o}
}

type connector struct {
	d *Driver
	e *engine.Engine
	o engine.SessionOptions
}

func (c *connector) Driver() driver.Driver { return c.d }
func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	o := c.o
	if o.Dialect == "mysql" {
		o.Database = "" // which is no catalog there, but what USE names
	}
	s, err := c.e.NewSession(ctx, o)
	if err != nil {
		return nil, err
	}
	if o.Database != c.o.Database {
		if err := s.Use(ctx, c.o.Database); err != nil {
			s.Close()
			return nil, err
		}
	}
	return &conn{s: s}, nil
}

type conn struct{ s *engine.Session }

func (c *conn) Close() error { c.s.Close(); return nil }

// Begin implements driver.Conn.
func (c *conn) Begin() (driver.Tx, error) {
	return c.BeginTx(context.Background(), driver.TxOptions{})
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	begin := "BEGIN"
	if c.s.MySQL() != nil {
		begin = "START TRANSACTION"
	}
	switch level := sql.IsolationLevel(o.Isolation); level {
	case sql.LevelDefault:
	case sql.LevelReadUncommitted, sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable:
		if c.s.MySQL() == nil { // there it is no part of the statement, and one snapshot is read at each
			begin += " ISOLATION LEVEL " + strings.ToUpper(level.String())
		}
	case sql.LevelSnapshot:
		if c.s.MySQL() == nil {
			begin += " ISOLATION LEVEL REPEATABLE READ" // PostgreSQL's name for it
		}
	default:
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "there is no isolation level %s", level)
	}
	if o.ReadOnly {
		begin += " READ ONLY"
	}
	if err := c.s.Query(ctx, begin, nil, nil); err != nil {
		return nil, err
	}
	return tx{c}, nil
}

type tx struct{ c *conn }

// Commit fails where an earlier error has failed the transaction: SQL's COMMIT then rolls back
// and calls that a success.
func (t tx) Commit() error {
	failed := t.c.s.Status() == 'E'
	if err := t.c.s.Query(context.Background(), "COMMIT", nil, nil); err != nil || !failed {
		return err
	}
	return sqlerr.New("25P02", "the transaction had failed and was rolled back")
}

func (t tx) Rollback() error { return t.c.s.Query(context.Background(), "ROLLBACK", nil, nil) }

// Prepare implements driver.Conn.
func (c *conn) Prepare(query string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), query)
}

// PrepareContext implements driver.ConnPrepareContext. One statement at a time.
func (c *conn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	list, err := c.s.Parse(query)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		list = append(list, engine.EmptyStatement())
	}
	if len(list) > 1 {
		return nil, sqlerr.New(sqlerr.SyntaxError, "cannot insert multiple commands into a prepared statement")
	}
	prepare := func(ctx context.Context, p engine.Parsed) (*engine.Stmt, error) { return c.s.Prepare(ctx, p, nil) }
	if c.s.MySQL() != nil {
		prepare = c.s.PrepareUntyped
	}
	st, err := prepare(ctx, list[0])
	// It may be run much later: what was looked up for it is of now.
	if e := c.s.EndImplicit(ctx); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	return &stmt{c: c, st: st, parsed: list[0]}, nil
}

// ResetSession implements driver.SessionResetter: a pooled connection comes without a
// transaction. Settings stay: those of the data source hold for all connections of the pool, and
// SET changes only the one that runs it.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.s.Status() != 'I' {
		return c.s.Query(ctx, "ROLLBACK", nil, nil)
	}
	return nil
}

type stmt struct {
	c      *conn
	st     *engine.Stmt
	parsed engine.Parsed
	given  []types.Type // of the dialect mysql: the values' own types that st is bound with
}

func (s *stmt) Close() error  { return nil }
func (s *stmt) NumInput() int { return len(s.st.Params()) }

// Exec and Query implement driver.Stmt; database/sql calls the context forms.
func (s *stmt) Exec([]driver.Value) (driver.Result, error) { return nil, errors.ErrUnsupported }
func (s *stmt) Query([]driver.Value) (driver.Rows, error)  { return nil, errors.ErrUnsupported }

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	r, err := s.run(ctx, args)
	if err != nil {
		return nil, err
	}
	for {
		b, err := r.r.Next(ctx)
		if err != nil {
			r.Close()
			return nil, err
		}
		if b == nil {
			break
		}
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	return driver.RowsAffected(r.r.RowCount()), nil
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	return s.run(ctx, args)
}

func (s *stmt) run(ctx context.Context, args []driver.NamedValue) (*rows, error) {
	o := s.c.s.TextOptions()
	vals, err := s.values(ctx, args, o)
	if err != nil {
		return nil, err
	}
	r, err := s.st.Execute(ctx, vals)
	if err != nil {
		s.c.s.EndImplicit(ctx)
		return nil, err
	}
	return &rows{c: s.c, r: r, o: o, ctx: ctx}, nil
}

// values gives the arguments as the statement's parameters.
func (s *stmt) values(ctx context.Context, args []driver.NamedValue, o *types.TextOptions) (vals []types.Datum, err error) {
	if s.c.s.MySQL() != nil {
		own := make([]engine.MySQLValue, len(args))
		for i, a := range args {
			own[i] = mysqlValue(a.Value)
		}
		st, vals, err := s.c.s.MySQLArguments(ctx, s.parsed, s.st, &s.given, own)
		if err == nil {
			s.st = st
		}
		return vals, err
	}
	vals = make([]types.Datum, len(args))
	for i, a := range args {
		if vals[i], err = datum(a.Value, s.st.Params()[i], o); err != nil {
			return nil, err
		}
	}
	return vals, nil
}

// mysqlValue is a Go value as the dialect mysql takes it.
func mysqlValue(v driver.Value) engine.MySQLValue {
	switch v := v.(type) {
	case nil:
		return engine.MySQLValue{Kind: 'n'}
	case int64:
		return engine.MySQLValue{Kind: 'i', Int: v}
	case bool:
		if v {
			return engine.MySQLValue{Kind: 'i', Int: 1}
		}
		return engine.MySQLValue{Kind: 'i'}
	case float64:
		return engine.MySQLValue{Kind: 'f', Float: v}
	case []byte:
		return engine.MySQLValue{Kind: 'b', Text: string(v)}
	case time.Time:
		return engine.MySQLValue{Kind: 't', Text: v.Format("2006-01-02 15:04:05.999999"), Zoned: v.Format("2006-01-02 15:04:05.999999999Z07:00")}
	}
	return engine.MySQLValue{Kind: 's', Text: fmt.Sprint(v)}
}

// datum converts a Go value by way of its text, which the parameter's type then reads.
func datum(v driver.Value, t types.Type, o *types.TextOptions) (types.Datum, error) {
	var text string
	switch v := v.(type) {
	case nil:
		return types.Null, nil
	case []byte:
		if t.Kind == types.Bytea {
			return types.NewStr(string(v)), nil
		}
		text = string(v)
	case time.Time:
		text = v.Format("2006-01-02 15:04:05.999999999Z07:00")
		if t.Kind == types.Date {
			text = v.Format("2006-01-02")
		}
	default:
		text = fmt.Sprint(v)
	}
	return types.Parse(text, t, o)
}

// rows implements driver.Rows over a running statement.
type rows struct {
	c     *conn
	r     *engine.Result
	o     *types.TextOptions
	ctx   context.Context
	batch *vec.Batch
	at    int
	done  bool
}

func (r *rows) Columns() []string {
	names := make([]string, len(r.r.Columns()))
	for i, c := range r.r.Columns() {
		names[i] = c.Name
	}
	return names
}

func (r *rows) Close() error {
	if r.done {
		return nil
	}
	r.done = true
	err := r.r.Close()
	if e := r.c.s.EndImplicit(r.ctx); err == nil {
		err = e
	}
	return err
}

func (r *rows) Next(dest []driver.Value) error {
	for r.batch == nil || r.at >= r.batch.Len() {
		b, err := r.r.Next(r.ctx)
		if err != nil {
			return err
		}
		if b == nil {
			return io.EOF
		}
		r.batch, r.at = b, 0
	}
	i := r.at
	if r.batch.Sel != nil {
		i = int(r.batch.Sel[r.at])
	}
	r.at++
	for j, v := range r.batch.Cols {
		dest[j] = goValue(v, i, r.r.Columns()[j].Type, r.o)
	}
	return nil
}

// ColumnTypeDatabaseTypeName implements driver.RowsColumnTypeDatabaseTypeName.
func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	return strings.ToUpper(r.r.Columns()[i].Type.PGName())
}

// ColumnTypeScanType implements driver.RowsColumnTypeScanType.
func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	switch r.r.Columns()[i].Type.Kind {
	case types.Bool:
		return reflect.TypeFor[bool]()
	case types.Int2, types.Int4, types.Int8, types.Oid:
		return reflect.TypeFor[int64]()
	case types.Float4, types.Float8:
		return reflect.TypeFor[float64]()
	case types.Date, types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS:
		return reflect.TypeFor[time.Time]()
	case types.Bytea:
		return reflect.TypeFor[[]byte]()
	}
	return reflect.TypeFor[string]()
}

// goValue is row i as database/sql knows values: numerics, uuids, JSON and the like as text.
func goValue(v *vec.Vector, i int, t types.Type, o *types.TextOptions) driver.Value {
	if v.Null(i) {
		return nil
	}
	d := v.Datum(i)
	switch t.Kind {
	case types.Bool:
		return d.Bool()
	case types.Int2, types.Int4, types.Int8, types.Oid:
		return d.Int()
	case types.Float4, types.Float8:
		return d.Float()
	case types.Bytea:
		return []byte(d.Str())
	case types.Date:
		if n := d.Int(); n > math.MinInt32 && n < math.MaxInt32 {
			return time.Unix(n*86400, 0).UTC()
		}
	case types.Timestamp, types.TimestampTZ:
		if n := d.Int(); n != math.MinInt64 && n != math.MaxInt64 {
			tm := time.UnixMicro(n).UTC()
			if t.Kind == types.TimestampTZ {
				tm = tm.In(o.Zone)
			}
			return tm
		}
	case types.TimestampNS, types.TimestampTZNS:
		return time.Unix(0, d.Int()).UTC()
	}
	return types.Format(d, t, o)
}
