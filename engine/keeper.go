package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/types"
)

// The keeper does for tables what their policies want (maintain.Policy), by the very statements that a
// person would run, in sessions of its own: they are in pg_stat_activity and system.jobs, can be
// cancelled, and are bound to the server's memory as others are.

// KeepConfig is how a server keeps tables.
type KeepConfig struct {
	// Every is the pause between two rounds over all tables; 0: tables are not kept.
	Every time.Duration
	// Defaults are for tables of catalogs that keep no tables by themselves; a REST catalog's server
	// may, so that its tables have to say by their properties what they want.
	Defaults maintain.Policy
	// BytesPerSecond bounds what is rewritten or removed; 0: no bound.
	BytesPerSecond int64
	// Patience is how long a piece of work waits for queries of others to end before it goes on beside
	// them.
	Patience time.Duration
}

// ParseKeep reads a KeepConfig from its options as text, "" for what is not given: every, compact, expire,
// orphans and rate (bytes a second). An error names the option that is wrong.
func ParseKeep(get func(option string) string) (c KeepConfig, wrong string, err error) {
	c.Patience = 30 * time.Second
	every := func(option string, or string, on time.Duration) time.Duration {
		v := get(option)
		if v == "" {
			v = or
		}
		d, ok := maintain.ParseEvery(v, on)
		if !ok && err == nil {
			wrong, err = option, fmt.Errorf("%q is no length of time such as 10m, 12h or 7d, and not off", v)
		}
		return d
	}
	flag := func(option string) bool {
		v := get(option)
		on, ok := parseBoolSetting(v)
		if v != "" && !ok && err == nil {
			wrong, err = option, fmt.Errorf("%q is neither on nor off", v)
		}
		return on
	}
	c.Every = every("every", "10m", 10*time.Minute)
	c.Defaults.Orphans = every("orphans", "off", 7*24*time.Hour)
	c.Defaults.Compact, c.Defaults.Expire = flag("compact"), flag("expire")
	return c, wrong, err
}

// keeperUser is the user of the keeper's sessions.
const keeperUser = "lhsql keeper"

// firstRound is when a server that has started begins to keep tables: who starts it has other things to
// see first.
const firstRound = time.Minute

// leaseTime is how long a server that has died keeps others from going on.
const leaseTime = 15 * time.Minute

// Keep keeps tables until ctx ends.
func (e *Engine) Keep(ctx context.Context, cfg KeepConfig) {
	if cfg.Every <= 0 {
		return
	}
	k := e.newKeeper(cfg)
	for wait := min(cfg.Every, firstRound); ; wait = cfg.Every {
		sleep(ctx, wait)
		if ctx.Err() != nil {
			k.release()
			return
		}
		k.round(ctx)
	}
}

// KeepNow goes once over all tables and gives the leases back.
func (e *Engine) KeepNow(ctx context.Context, cfg KeepConfig) {
	k := e.newKeeper(cfg)
	k.round(ctx)
	k.release()
}

func (e *Engine) newKeeper(cfg KeepConfig) *keeper {
	host, _ := os.Hostname()
	return &keeper{engine: e, cfg: cfg, holder: host + " " + uuid.NewString(), seen: map[lake.Name]sight{}}
}

type keeper struct {
	engine *Engine
	cfg    KeepConfig
	holder string
	seen   map[lake.Name]sight
	leased []lake.Leaser
}

// sight is when a table was looked at, and how it was then.
type sight struct {
	at       time.Time
	location string
	problem  string
}

// lookAgain is when a table that has not changed is looked at again, since its snapshots grow old.
const lookAgain = 6 * time.Hour

// round goes over all catalogs. What fails is in the log and in system.jobs, and does not hold up the
// rest.
func (k *keeper) round(ctx context.Context) {
	for _, name := range k.engine.order {
		err := k.catalog(ctx, name)
		if err != nil && !errors.Is(err, errNotOurs) && ctx.Err() == nil {
			k.engine.cfg.Log("keeping the tables of catalog %s: %s", name, errorLine(err))
		}
	}
}

// errorLine is an error in one line of the log.
func errorLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", " ") }

// keepLease is the name of the lease under which a catalog's tables are kept.
const keepLease = "keep"

func (k *keeper) catalog(ctx context.Context, name string) error {
	cat, ok := k.engine.Catalog(name)
	if !ok {
		return nil
	}
	leaser, own := cat.(lake.Leaser)
	s, err := k.engine.NewSession(ctx, SessionOptions{User: keeperUser, Database: name, keeper: true})
	if err != nil {
		return err
	}
	defer s.Close()
	s.pace = k.pace
	s.keeps = true
	if _, err := s.run(ctx, "SET lhsql.workers = 1"); err != nil {
		return err
	}
	took := false
	return s.eachTable(ctx, nil, func(n lake.Name) error {
		now := time.Now()
		g, err := s.targetOf(ctx, n)
		if err != nil {
			return k.failed(n, now, err)
		}
		last := k.seen[n]
		if last.location == g.Table.MetadataLocation && now.Sub(last.at) < lookAgain {
			return nil
		}
		defaults := k.cfg.Defaults
		if !own {
			defaults = maintain.Policy{}
		}
		p, err := maintain.PolicyOf(g.Table, defaults)
		if err != nil {
			return k.failed(n, now, err)
		}
		if p.Any() && own && !took {
			// The lease is asked for when there is something to do, and again in every round.
			if took, err = leaser.Lease(ctx, keepLease, k.holder, leaseTime); err != nil {
				return err
			}
			if !took {
				return errNotOurs
			}
			if !slices.Contains(k.leased, leaser) {
				k.leased = append(k.leased, leaser)
			}
		}
		if p.Any() {
			if err := k.table(ctx, s, g, p); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return k.failed(n, now, err)
			}
		}
		t, err := s.loadTable(ctx, n)
		if err == nil {
			k.seen[n] = sight{at: now, location: t.MetadataLocation}
		}
		return nil
	})
}

// errNotOurs ends a round over tables that another server keeps.
var errNotOurs = errors.New("another server keeps them")

// failed notes that a table could not be kept; the log hears of each problem once.
func (k *keeper) failed(n lake.Name, now time.Time, err error) error {
	if k.seen[n].problem != err.Error() {
		k.engine.cfg.Log("keeping table %s: %s", n, errorLine(err))
	}
	k.seen[n] = sight{at: now, problem: err.Error()}
	return nil
}

// release gives the leases back, so that another server goes on at once.
func (k *keeper) release() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, l := range k.leased {
		_ = l.Release(ctx, keepLease, k.holder) // it runs out by itself
	}
}

// keeperGroup bounds what the keeper rewrites at a time, so that it can pause, and what it has done is
// committed.
const keeperGroup = "1073741824"

// table does what is due for a table.
func (k *keeper) table(ctx context.Context, s *Session, g maintain.Target, p maintain.Policy) error {
	name := s.names().quote(g.Table.Name.Namespace) + "." + s.names().quote(g.Table.Name.Table)
	run := func(format string, args ...any) error {
		k.pace(ctx, 0)
		sql := fmt.Sprintf(format, args...)
		if _, err := s.run(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
		return nil
	}
	if p.Retention > 0 {
		if err := k.retain(ctx, s, g, p, name); err != nil {
			return err
		}
	}
	g, err := s.targetOf(ctx, g.Table.Name)
	if err != nil {
		return err
	}
	list, err := maintain.Health(ctx, g, s.rewriteEnv(ctx, &procedureArgs{}), name, nil)
	if err != nil {
		return err
	}
	quoted := "'" + strings.ReplaceAll(name, "'", "''") + "'"
	for _, m := range list {
		switch {
		case m.Advice == "":
			continue
		case p.Compact && (m.Name == "files_to_rewrite" || m.Name == "equality_delete_files"):
			threshold := ""
			if m.Name == "equality_delete_files" {
				threshold = ", 'delete-file-threshold', '1'"
			}
			err = run("CALL system.rewrite_data_files(%s, options => map('max-file-group-size-bytes', '%s', 'max-concurrent-file-group-rewrites', '1', 'partial-progress.enabled', 'true'%s))",
				quoted, keeperGroup, threshold)
		case p.Compact && (m.Name == "delete_files_to_rewrite" || m.Name == "manifests"):
			err = run("%s", m.Advice)
		case p.Expire && m.Name == "snapshots":
			err = run("CALL system.expire_snapshots(%s)", quoted)
		}
		if err != nil {
			return err
		}
	}
	return k.orphans(ctx, g, p, func() error { return run("CALL system.remove_orphan_files(%s)", quoted) })
}

// orphans looks for files that nothing holds once in a while. When it was done last is remembered by a
// lease, which no server asks for before it is due again.
func (k *keeper) orphans(ctx context.Context, g maintain.Target, p maintain.Policy, run func() error) error {
	if p.Orphans <= 0 || g.Table.MayRemove() != nil {
		return nil
	}
	leaser, ok := g.Catalog.(lake.Leaser)
	if !ok {
		// A server that starts anew looks anew.
		for _, j := range k.engine.jobs.States() {
			if j.Kind == "remove_orphan_files" && j.Table == g.Table.Name.String() && time.Since(j.Started) < p.Orphans {
				return nil
			}
		}
		return run()
	}
	due, err := leaser.Lease(ctx, "orphans "+g.Table.UUID(), uuid.NewString(), p.Orphans)
	if err != nil || !due {
		return err
	}
	return run()
}

// retain deletes the rows of main that are too old.
func (k *keeper) retain(ctx context.Context, s *Session, g maintain.Target, p maintain.Policy, name string) error {
	var col *lake.Field
	for i := range g.Table.Schema().Fields {
		if f := &g.Table.Schema().Fields[i]; f.Name == p.RetentionColumn {
			col = f
		}
	}
	if col == nil {
		return sqlerr.New(sqlerr.UndefinedColumn, "table %s has no column %q (lhsql.keep.retention-column)", g.Table.Name.Table, p.RetentionColumn)
	}
	before := time.Now().Add(-p.Retention).UTC()
	var value string
	switch col.Type.Kind {
	case types.Date:
		value = "DATE '" + before.Format("2006-01-02") + "'"
	case types.Timestamp, types.TimestampNS:
		value = "TIMESTAMP '" + before.Format("2006-01-02 15:04:05.000000") + "'"
	case types.TimestampTZ, types.TimestampTZNS:
		value = "TIMESTAMPTZ '" + before.Format("2006-01-02 15:04:05.000000") + "+00'"
	default:
		return sqlerr.New(sqlerr.DatatypeMismatch, "column %q of table %s is neither a date nor a timestamp (lhsql.keep.retention-column)", p.RetentionColumn, g.Table.Name.Table)
	}
	cond := s.names().quote(p.RetentionColumn) + " < " + value
	old, err := s.run(ctx, "SELECT 1 FROM "+name+" WHERE "+cond+" LIMIT 1")
	if err != nil || old == 0 {
		return err
	}
	k.pace(ctx, 0)
	job := k.engine.jobs.Start("retention", g.Table.Name.String(), keeperUser, s.pid, nil)
	n, err := s.run(ctx, "DELETE FROM "+name+" WHERE "+cond)
	job.End(fmt.Sprintf("%d rows deleted that were older than %s", n, value), err)
	return err
}

// pace lets others go first: it waits while they run statements, for so long as the keeper is patient,
// and as long as bytes take at the configured rate.
func (k *keeper) pace(ctx context.Context, bytes int64) {
	if k.cfg.BytesPerSecond > 0 && bytes > 0 {
		sleep(ctx, time.Duration(float64(bytes)/float64(k.cfg.BytesPerSecond)*float64(time.Second)))
	}
	for end := time.Now().Add(k.cfg.Patience); time.Now().Before(end) && k.engine.busy() && ctx.Err() == nil; {
		sleep(ctx, 50*time.Millisecond)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// busy tells whether somebody but the keeper runs a statement.
func (e *Engine) busy() bool {
	for _, s := range e.activeSessions() {
		if !s.keeps && s.executes() {
			return true
		}
	}
	return false
}

// run runs a statement of the server's own and gives how many rows it gave or changed.
func (s *Session) run(ctx context.Context, sql string) (n int64, err error) {
	list, err := s.Parse(sql)
	if err != nil {
		return 0, err
	}
	for _, p := range list {
		st, err := s.Prepare(ctx, p, nil)
		if err != nil {
			s.Fail()
			return n, err
		}
		r, err := st.Execute(ctx, nil)
		if err == nil {
			err = r.Each(ctx, func([]types.Datum) error { return nil })
			n = r.RowCount()
		}
		if err != nil {
			s.Fail()
			return n, err
		}
	}
	return n, s.EndImplicit(ctx)
}
