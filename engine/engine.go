// Package engine answers: how does one statement get from text to rows?
//
// It is the corridor: parse, bind, plan, build, run. It owns sessions (settings, transactions,
// prepared statements, cursors), catalogs by name, the memory limit, cancellation, and the one
// place where a broken invariant is caught. It refuses to know a wire's bytes (wire/*) and how
// anything is computed (exec and below).
package engine

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/guard"
	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/vec"
)

// Config is what an Engine runs with. Zero values are the documented defaults.
type Config struct {
	Catalogs    []CatalogConfig
	Default     string // database of sessions that name none; "" the first catalog
	MemoryLimit int64  // bytes; 0: 70 % of the machine's
	PageCache   int64  // bytes of decompressed pages to keep; 0: a sixteenth of MemoryLimit; negative: none
	Workers     int    // 0: GOMAXPROCS
	TempDir     string // spill files; "" the system's
	// StateDir is where the server keeps what is its own and must outlive it: the key of erasures, and
	// their evidence where a catalog cannot keep it; "" is lhsql in the user's folder of settings.
	StateDir string
	Settings map[string]string // defaults of session settings
	// Guard turns the lock on; nil: whoever may connect may do everything.
	Guard   *GuardConfig
	Version string // of lhsql, shown in server_version
	// PathTables are the folders below which iceberg('path') may read; none: it is refused.
	PathTables []string
	Log        func(format string, args ...any)
	// Clock gives commit and statement times; nil: time.Now. The demo's history sets it.
	Clock func() time.Time
}

// CatalogConfig names a catalog and its properties as PyIceberg spells them: type, uri,
// warehouse, ….
type CatalogConfig struct {
	Name  string
	Props map[string]string
}

// SessionOptions come from the client's start-up.
type SessionOptions struct {
	User       string
	Database   string // may carry "@instant" or "@ref"
	RemoteAddr string
	Settings   map[string]string
	Dialect    string // "pg" (default) or "mysql"
	// Tell, if set, hears while a statement is at work what its client may want to know meanwhile. It
	// is called in whatever goroutine works on it, by one at a time, never after the statement's end.
	Tell func(*sqlerr.Error)
	// DatabaseOptional: an unknown Database means the default one.
	DatabaseOptional bool
	// PID is a number of ReservePID's that the client has been told already; 0: the next one.
	PID int32
	// MySQL is what a session of the MySQL dialect knows of its client.
	MySQL MySQLClient

	keeper bool // it is the server's own, which no role may end or limit
}

// ResultColumn describes one output column.
type ResultColumn = plan.Column

// pgVersion is the PostgreSQL that clients are told of: 15 is what the most clients know, and
// what their catalog queries then ask is what engine/syscat answers.
const pgVersion = "15.18"

// Engine owns catalogs, sessions and memory. Safe for concurrent use.
type Engine struct {
	cfg      Config
	catalogs map[string]*configured
	order    []string // catalog names as configured
	started  time.Time
	scratch  scratch // of temporary tables
	listings listings
	trees    trees
	jobs     maintain.Jobs
	erasures erasures
	globals  globals  // MySQL's SET GLOBAL
	keys     sync.Map // keys that catalogs have shown: OID to keptKey

	mu       sync.Mutex
	sessions map[int32]*Session
	nextPID  atomic.Int32
	account  *exec.Account // the server's memory
	store    store.FS      // reads tables by path
	known    *lake.MetadataCache
	footers  *scan.FooterCache
	pages    *parquet.PageCache
	governor *governor // nil: the process is not this engine's alone
	users    atomic.Pointer[func(name string) bool]

	listUsers  atomic.Pointer[func() []string]
	passwords  func(user, password string, native bool) (verifier, hash string, err error)
	guard      *guard.Guard // nil: the lock is off
	closeGuard func()       // nil: the store is a catalog's
}

// caches lists what the engine and its process keep of what was made or read before.
func (e *Engine) caches() []cache.Bounded {
	return append([]cache.Bounded{e.known, e.footers, e.pages, e.trees.kept}, cache.AllShared()...)
}

// Open opens the catalogs of cfg.
func Open(ctx context.Context, cfg Config) (*Engine, error) {
	if cfg.Workers <= 0 {
		cfg.Workers = runtime.GOMAXPROCS(0)
	}
	if cfg.Log == nil {
		cfg.Log = func(f string, a ...any) { fmt.Fprintf(os.Stderr, f+"\n", a...) }
	}
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.MemoryLimit <= 0 {
		cfg.MemoryLimit = machineMemory() * 7 / 10
	}
	e := &Engine{cfg: cfg, catalogs: map[string]*configured{}, sessions: map[int32]*Session{}, started: cfg.Clock(),
		account: exec.NewServerAccount(cfg.MemoryLimit/2, queryShare(cfg.MemoryLimit), scanShare(cfg.MemoryLimit)), known: lake.NewMetadataCache(manifestShare(cfg.MemoryLimit))}
	e.store = lake.NewStoreWith(e.known, nil)
	if cfg.PageCache == 0 {
		cfg.PageCache = cfg.MemoryLimit / 16
	}
	e.pages = parquet.NewPageCache(cfg.PageCache)
	e.footers = scan.NewFooterCache(footerShare(cfg.MemoryLimit))
	e.trees = newTrees()
	exec.SweepSpillFiles(cfg.TempDir)
	vec.SetByteLimit(max(cfg.MemoryLimit/8, 16<<20))
	for _, c := range cfg.Catalogs {
		if e.catalogs[c.Name] != nil {
			e.Close()
			return nil, sqlerr.New(sqlerr.ConfigFileError, "catalog %q is configured twice", c.Name)
		}
		cat := &configured{cfg: c, log: cfg.Log, known: e.known}
		if err := cat.openAtStart(ctx); err != nil {
			e.Close()
			return nil, err
		}
		e.catalogs[c.Name] = cat
		e.order = append(e.order, c.Name)
	}
	for k, v := range cfg.Settings {
		if err := CheckSetting(k, v); err != nil {
			e.Close()
			return nil, sqlerr.Wrap(err, sqlerr.ConfigFileError, "settings.%s", k)
		}
	}
	removeLeftScratch(e.scratchRoot())
	if e.cfg.Default == "" && len(e.order) > 0 {
		e.cfg.Default = e.order[0]
	}
	if len(e.order) == 0 {
		return nil, sqlerr.New(sqlerr.ConfigFileError, "no catalog is configured")
	}
	if e.catalogs[e.cfg.Default] == nil {
		e.Close()
		return nil, sqlerr.New(sqlerr.ConfigFileError, "database: %q is no configured catalog", e.cfg.Default).
			WithHint("There are: %s.", quotedList(e.order))
	}
	if err := e.openGuard(ctx, cfg.Guard); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Close ends all sessions and closes the catalogs.
func (e *Engine) Close() error {
	e.governor.stop()
	for _, s := range e.activeSessions() {
		s.Terminate()
	}
	e.closeScratch()
	if e.closeGuard != nil {
		e.closeGuard()
	}
	var first error
	for _, c := range e.catalogs {
		if err := c.close(); first == nil {
			first = err
		}
	}
	return first
}

// Catalog finds a catalog by name. One that cannot be reached fails with 08006 whatever it is asked.
func (e *Engine) Catalog(name string) (lake.Catalog, bool) {
	c, ok := e.catalogs[name]
	if !ok {
		return nil, false
	}
	return c.get(), true
}

// CheckSetting tells whether a session setting can have a value.
func CheckSetting(name, value string) error {
	_, err := checkSetting(canonicalSetting(name), value)
	return err
}

// SetDefaults changes what sessions that open from now on find set; see Config.Settings.
func (e *Engine) SetDefaults(settings map[string]string) error {
	for k, v := range settings {
		if err := CheckSetting(k, v); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.cfg.Settings = settings
	e.mu.Unlock()
	return nil
}

func (e *Engine) defaultSettings() map[string]string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.cfg.Settings
}

// CatalogNames lists the catalogs as configured.
func (e *Engine) CatalogNames() []string { return e.order }

func (e *Engine) serverVersion() string {
	if e.cfg.Version == "" {
		return pgVersion + " (lhsql)"
	}
	return fmt.Sprintf("%s (lhsql %s)", pgVersion, e.cfg.Version)
}

// database resolves the name of a database at log-in.
func (e *Engine) database(name string, optional bool) (string, error) {
	if e.catalogs[name] != nil {
		return name, nil
	}
	if name == "" || optional {
		return e.cfg.Default, nil
	}
	return "", sqlerr.New(sqlerr.InvalidCatalogName, "database %q does not exist", name).
		WithHint("There are: %s.", quotedList(e.order))
}

// ReservePID takes the number of a session to come: MySQL's greeting names it before log-in.
func (e *Engine) ReservePID() int32 { return e.nextPID.Add(1) }

func (e *Engine) register(s *Session) {
	if s.pid = s.opts.PID; s.pid == 0 {
		s.pid = e.ReservePID()
	}
	e.mu.Lock()
	e.sessions[s.pid] = s
	e.mu.Unlock()
}

func (e *Engine) unregister(s *Session) {
	e.mu.Lock()
	if e.sessions[s.pid] == s { // a MySQL connection's next session has the same number
		delete(e.sessions, s.pid)
	}
	e.mu.Unlock()
}

// activeSessions lists the sessions in order of their pids.
func (e *Engine) activeSessions() []*Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]*Session, 0, len(e.sessions))
	for _, s := range e.sessions {
		list = append(list, s)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].pid < list[j].pid })
	return list
}

// KnowUsers has known tell which users there are besides those who are connected: SET ROLE and SET
// SESSION AUTHORIZATION take no others.
func (e *Engine) KnowUsers(known func(name string) bool) { e.users.Store(&known) }

func (e *Engine) knowsUser(name string) bool {
	if known := e.users.Load(); known != nil && (*known)(name) {
		return true
	}
	for _, s := range e.activeSessions() {
		if s.opts.User == name {
			return true
		}
	}
	return false
}

// session finds a session by pid; nil if there is none.
func (e *Engine) session(pid int32) *Session {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sessions[pid]
}

// CancelBackend cancels what the session with the pid runs; false: there is none, or the secret
// does not fit.
func (e *Engine) CancelBackend(pid int32, secret uint32) bool {
	s := e.session(pid)
	if s == nil || s.secret != secret {
		return false
	}
	s.Cancel()
	return true
}

// Kill ends the session with the pid, or only what it runs; false: there is none.
func (e *Engine) Kill(pid int32, statementOnly bool) bool {
	s := e.session(pid)
	switch {
	case s == nil:
		return false
	case statementOnly:
		s.Cancel()
	default:
		s.Terminate()
	}
	return true
}

func (e *Engine) logPanic(p any) { e.cfg.Log("caught: %v\n%s", p, debug.Stack()) }
