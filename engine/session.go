package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/types"
)

// Parsed is one statement of a text; see ast.Parsed.
type Parsed = ast.Parsed

// EmptyStatement is what an empty or comment-only text holds.
func EmptyStatement() Parsed { return Parsed{Stmt: &ast.Empty{}} }

// Session is one client's conversation. It serves one statement at a time, in one goroutine;
// Cancel, Terminate and the Activity view may be called from any.
type Session struct {
	engine  *Engine
	opts    SessionOptions
	dialect *dialect
	pid     int32
	secret  uint32
	start   time.Time

	constraintDefs sync.Map // of CHECK constraints that pg_constraint has shown: OID to text

	// Of identity columns: the first and the last number that the latest INSERT which took some gave
	// its rows, and the first of the statement before, 0 for none.
	firstNumber, lastNumber, inserted int64

	// temp is the catalog of the session's temporary tables, nil until the first is made.
	temp         *lake.Temporary
	tempFolder   string
	tempSwept    lake.TemporaryState // the state of the last sweep
	tempOnCommit bool                // a table had ON COMMIT

	settings *settings
	tx       transaction
	prepared map[string]*preparedSQL
	cursors  map[string]*cursor
	// loaded holds the tables that the command cycle under way has looked up, so that all its
	// statements and both Prepare and Execute see one state.
	loaded map[lake.Name]*lake.Table
	host   *host
	own    ownListing
	// step counts what the session does: a statement that was bound in the last step means now
	// what it meant then.
	step uint64
	// texts is the memory of what the client sent and keeps: messages, statements, their trees.
	texts *exec.Account
	// running are the statements under way, those that wait for their client included.
	running map[*runner]bool

	mu         sync.Mutex // guards what other goroutines see
	catalog    string
	current    string                  // the MySQL dialect's database
	my         *MySQL                  // nil in other dialects
	cancelStmt context.CancelCauseFunc // of the running statement
	activity   activity
	// Of the keeper's sessions: they give way to others.
	keeps       bool
	pace        func(ctx context.Context, bytes int64)
	terminated  atomic.Bool
	onTerminate func()
	portals     func(name string) Portal
}

// activity is what pg_stat_activity shows of a session.
type activity struct {
	app        string
	state      string // "idle", "active", "idle in transaction", …
	query      string
	queryStart time.Time
	stateStart time.Time
	txStart    time.Time
}

// NewSession opens a session. The errors are those a client sees at log-in (3D000, 22023).
func (e *Engine) NewSession(ctx context.Context, o SessionOptions) (*Session, error) {
	s := &Session{engine: e, opts: o, start: time.Now(), prepared: map[string]*preparedSQL{}, cursors: map[string]*cursor{},
		texts: exec.NewAccount(e.account, 0), running: map[*runner]bool{}}
	d, err := e.dialectFor(o.Dialect)
	if err != nil {
		return nil, err
	}
	s.dialect = d
	name, asOf, _ := strings.Cut(o.Database, "@")
	if s.catalog, err = e.database(name, o.DatabaseOptional); err != nil {
		return nil, err
	}
	layers := []map[string]string{e.defaultSettings(), o.Settings, {"session_authorization": o.User}}
	if o.Dialect == "mysql" {
		s.my = newMySQL(s, o.MySQL)
		layers = append(layers, s.my.settings())
		s.my.readMode()
	}
	if asOf != "" {
		layers = append(layers, map[string]string{"lhsql.as_of": asOf})
	}
	if s.settings, err = newSettings(e.serverVersion(), layers...); err != nil {
		return nil, err
	}
	s.settings.mayBecome = s.mayBecome
	if err := e.admit(ctx, &o, s.catalog); err != nil {
		return nil, err
	}
	if role, _ := s.settings.get("role"); role != "none" {
		if err := s.mayBecome("role", role); err != nil {
			return nil, err
		}
	}
	var b [4]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, err
	}
	s.secret = binary.BigEndian.Uint32(b[:])
	s.setState("idle", "")
	e.register(s)
	return s, nil
}

// PID is the backend's process id as pg_backend_pid shows it; Secret authorises a cancel.
func (s *Session) PID() int32     { return s.pid }
func (s *Session) Secret() uint32 { return s.secret }

// names is the session's way with names.
func (s *Session) names() names { return s.dialect.names(s) }

// Parse splits text into statements of the session's dialect.
func (s *Session) Parse(text string) ([]Parsed, error) {
	key := treeKey{dialect: s.opts.Dialect, text: text}
	if s.my != nil {
		key.mode = s.my.textMode
	}
	if list := s.engine.trees.find(key); list != nil {
		return list, nil
	}
	cost := parseCost(text)
	if err := s.Hold(cost); err != nil {
		// A text that nests too deeply is told so, however much memory there is.
		if s.dialect.check != nil {
			if deep := s.dialect.check(text); deep != nil {
				return nil, deep
			}
		}
		return nil, err
	}
	defer s.Drop(cost)
	list, err := s.dialect.parse(text)
	if err != nil {
		if HoldsPassword(text) {
			text = hiddenText
		}
		s.note(text)
		return nil, err
	}
	if !passwordsIn(list) {
		s.engine.trees.keep(key, list)
	}
	return list, nil
}

// TextOptions are the session's settings that decide how values look as text.
func (s *Session) TextOptions() *types.TextOptions {
	o := &types.TextOptions{Zone: s.zone(), Now: time.Now()}
	o.DateStyle, _ = s.settings.get("DateStyle")
	o.IntervalStyle, _ = s.settings.get("IntervalStyle")
	o.ByteaOutput, _ = s.settings.get("bytea_output")
	o.ExtraFloatDigits = int(s.settings.int("extra_float_digits"))
	o.ObjectName = func(k types.Kind, oid uint32) (string, bool) {
		return systemSession{s}.ObjectName(eval.RegCatalog(k), oid)
	}
	o.ObjectOID = func(k types.Kind, name string) (uint32, bool) {
		return systemSession{s}.ObjectOID(eval.RegCatalog(k), name)
	}
	return o
}

func (s *Session) zone() *time.Location {
	name, _ := s.settings.get("TimeZone")
	loc, _, err := types.SettingZone(name)
	if err != nil {
		return time.UTC
	}
	return loc
}

// Reported gives the settings whose changes a Postgres client is told of.
func (s *Session) Reported() map[string]string { return s.settings.reported() }

// Setting reads a setting as SHOW does; SetSetting changes it for the session.
func (s *Session) Setting(name string) (string, bool) { return s.settings.get(name) }
func (s *Session) SetSetting(name, value string) error {
	return s.settings.set(name, &value, false, s.tx.open())
}

// Database is the name of the session's catalog.
func (s *Session) Database() string { return s.catalog }

// applicationName may be asked for by other sessions while this one changes its settings.
func (s *Session) applicationName() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.activity.app
}

// IdleTimeout is how long the session may now wait for its client; 0: for ever.
func (s *Session) IdleTimeout() time.Duration {
	name := "idle_session_timeout"
	if s.tx.open() {
		name = "idle_in_transaction_session_timeout"
	}
	return time.Duration(s.settings.int(name)) * time.Millisecond
}

// Cancel stops the running statement, if any, with 57014.
func (s *Session) Cancel() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancelStmt != nil {
		s.cancelStmt(errCanceled)
	}
}

// Terminate ends the session: the running statement stops, and the wire hangs up.
func (s *Session) Terminate() {
	s.terminated.Store(true)
	s.mu.Lock()
	if s.cancelStmt != nil {
		s.cancelStmt(sqlerr.New(sqlerr.AdminShutdown, "terminating connection due to administrator command"))
	}
	f := s.onTerminate
	s.mu.Unlock()
	if f != nil {
		f()
	}
}

// Terminated tells whether Terminate was called; OnTerminate registers what then wakes the wire.
func (s *Session) Terminated() bool { return s.terminated.Load() }
func (s *Session) OnTerminate(f func()) {
	s.mu.Lock()
	s.onTerminate = f
	s.mu.Unlock()
}

// Portal is a cursor that the wire holds: FETCH and MOVE reach it by name.
type Portal interface {
	Columns() []ResultColumn
	// Take gives up to n next rows.
	Take(n int64) ([][]types.Datum, error)
}

// OnPortal registers what finds the wire's portals; it gives nil for a name that is not there.
func (s *Session) OnPortal(f func(name string) Portal) { s.portals = f }

func (s *Session) portal(name string) Portal {
	if s.portals == nil {
		return nil
	}
	return s.portals(name)
}

// Close ends the session and everything it holds.
func (s *Session) Close() {
	s.Cancel()
	s.closeCursors(false)
	s.closeTemporary()
	s.restore(context.Background(), nil)
	s.tx = transaction{}
	s.texts.Close()
	s.engine.unregister(s)
}

var (
	errCanceled = sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to user request")
	errTimeout  = sqlerr.New(sqlerr.QueryCanceled, "canceling statement due to statement timeout")
)

// statementContext is what a statement runs under: it ends with the client, at a cancel, or at
// statement_timeout, and context.Cause says which.
func (s *Session) statementContext(parent context.Context) (context.Context, context.CancelCauseFunc, stopwatch) {
	ctx, cancel := context.WithCancelCause(withRunner(parent, s))
	runnerIn(ctx).begin(cancel)
	s.setCancel(cancel)
	var w stopwatch
	if d := time.Duration(s.settings.int("statement_timeout")) * time.Millisecond; d > 0 {
		t := time.AfterFunc(d, func() { cancel(errTimeout) })
		context.AfterFunc(ctx, func() { t.Stop() })
		w = stopwatch{t, d}
	}
	return ctx, cancel, w
}

// setCancel says what Cancel stops.
func (s *Session) setCancel(cancel context.CancelCauseFunc) {
	s.mu.Lock()
	s.cancelStmt = cancel
	s.mu.Unlock()
}

// stopwatch is a statement's timeout; without a timer there is none. A portal that waits for its
// client does not use its time up: each Execute has the full time, as in PostgreSQL.
type stopwatch struct {
	timer *time.Timer
	d     time.Duration
}

func (w stopwatch) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w stopwatch) restart() {
	if w.timer != nil {
		w.timer.Reset(w.d)
	}
}

// executes tells whether the session executes a statement.
func (s *Session) executes() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.activity.state == "active"
}

// setState records what the session does, for pg_stat_activity.
func (s *Session) setState(state, query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	s.activity.app, _ = s.settings.get("application_name")
	if query != "" {
		s.activity.query, s.activity.queryStart = query, now
	}
	if s.activity.state != state {
		s.activity.state, s.activity.stateStart = state, now
	}
	s.activity.txStart = s.tx.start
}

func (s *Session) note(query string) {
	s.mu.Lock()
	s.activity.query, s.activity.queryStart = query, time.Now()
	s.mu.Unlock()
}

// searchPath is the schemas that unqualified names are looked up in, pg_catalog first unless
// the setting places it.
func (s *Session) searchPath() []string {
	text, _ := s.settings.get("search_path")
	list, _ := splitIdentifiers(text)
	out := make([]string, 0, len(list)+1)
	has := false
	for _, n := range list {
		if n == "$user" {
			n = s.currentUser()
		}
		has = has || n == "pg_catalog"
		out = append(out, n)
	}
	if !has {
		out = append([]string{"pg_catalog"}, out...)
	}
	return out
}
