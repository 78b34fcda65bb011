package engine

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// SHOW HOLDERS and ERASE, with what goes on with an erasure and what verifies one (docs/erasure.md).

var (
	showHoldersProcedure = procedure{
		params: []string{"table", "column", "value", "paranoid"}, required: 3, repeats: []string{"table", "value"}, reads: true, run: (*Session).showHolders,
		columns: textAnd("table_name", "kind", "path", "location", "matches", "refs", "snapshots", "until"),
	}
	eraseColumns   = textAnd("erasure_id", "status", "table_name", "step", "count", "detail")
	eraseProcedure = procedure{
		params: []string{"table", "column", "value", "reason", "tags", "dry_run"}, required: 4, repeats: []string{"table", "value"}, immediate: true,
		run: (*Session).erase, columns: eraseColumns,
	}
	resumeErasureProcedure = procedure{params: []string{"id"}, immediate: true, run: (*Session).resumeErasure, columns: eraseColumns}
	verifyErasureProcedure = procedure{
		params: []string{"id", "value"}, required: 2, repeats: []string{"value"}, reads: true, run: (*Session).verifyErasure,
		columns: textAnd("table_name", "objects_decoded", "hits", "problem"),
	}
)

// textAnd are columns of texts, but for those that count.
func textAnd(names ...string) []ResultColumn {
	out := make([]ResultColumn, len(names))
	for i, n := range names {
		out[i] = ResultColumn{Name: n, Type: types.T(types.Text)}
		if n == "matches" || n == "count" || n == "objects_decoded" || n == "hits" {
			out[i].Type = types.T(types.Int8)
		}
	}
	return out
}

// erasures are the tables that are being erased from: two at a time would only get in each other's way.
type erasures struct {
	mu  sync.Mutex
	now map[string]bool
}

// begin takes tables, all or none.
func (e *erasures) begin(names []string) (end func(), ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.ContainsFunc(names, func(n string) bool { return e.now[n] }) {
		return nil, false
	}
	if e.now == nil {
		e.now = map[string]bool{}
	}
	for _, n := range names {
		e.now[n] = true
	}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, n := range names {
			delete(e.now, n)
		}
	}, true
}

// erasureLease is how long a server that has died keeps others from going on with its erasure.
const erasureLease = 30 * time.Second

// leaseErasure keeps other servers of the catalog from erasing from the tables until free is called. Two at
// once would do no harm but undo each other's work. One that has the lease of a table is waited for, in case
// it has died.
func (s *Session) leaseErasure(ctx context.Context, list []maintain.Target) (free func(), err error) {
	leaser, ok := list[0].Catalog.(lake.Leaser)
	if !ok {
		return func() {}, nil
	}
	host, _ := os.Hostname()
	holder := host + " " + uuid.NewString()
	var names []string
	stop := make(chan struct{})
	free = sync.OnceFunc(func() {
		close(stop)
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		for _, n := range names {
			_ = leaser.Release(ctx, n, holder) // it runs out by itself
		}
	})
	for _, g := range list {
		name := "erase " + g.Table.UUID()
		for until := time.Now().Add(erasureLease + 5*time.Second); ; sleep(ctx, time.Second) {
			took, err := leaser.Lease(ctx, name, holder, erasureLease)
			if err == nil && !took && time.Now().After(until) {
				err = sqlerr.New(sqlerr.ObjectInUse, "another server is erasing from table %s", g.Table.Name.Table)
			}
			if err == nil && ctx.Err() != nil {
				err = ctx.Err()
			}
			if err != nil {
				free()
				return nil, err
			}
			if took {
				names = append(names, name)
				break
			}
		}
	}
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(erasureLease / 3):
			}
			for _, n := range names {
				_ = guard.Run(func() error {
					_, err := leaser.Lease(ctx, n, holder, erasureLease) // the next time, or never
					return err
				})
			}
		}
	}()
	return free, nil
}

// strings reads a parameter that repeats.
func (a *procedureArgs) strings(k string) ([]string, error) {
	var out []string
	for _, v := range a.more[k] {
		if v.Value.IsNull() {
			return nil, sqlerr.New(sqlerr.NullNotAllowed, "%s cannot be NULL", k).At(v.Pos)
		}
		out = append(out, types.Format(v.Value, v.Typ, nil))
	}
	if len(out) == 0 {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "procedure %q needs %s", a.name, k)
	}
	return out, nil
}

// erased reads tables, column and values.
func (a *procedureArgs) erased(ctx context.Context, s *Session) (list []maintain.Target, column, values []string, err error) {
	names, err := a.strings("table")
	if err != nil {
		return
	}
	for _, n := range names {
		one := &procedureArgs{name: a.name, vals: map[string]bind.Constant{"table": {Value: types.NewStr(n), Typ: types.T(types.Text)}}}
		rel, e := one.relation(ctx, s)
		if e != nil {
			return nil, nil, nil, e
		}
		if rel.Branch != "" {
			return nil, nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s is a branch: who holds a value is asked of a whole table", n)
		}
		t := rel.Table
		if t.Name.Catalog == temporaryCatalog {
			return nil, nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "%s is a temporary table: its files end with the session", n)
		}
		if len(list) > 0 && list[0].Table.Name.Catalog != t.Name.Catalog {
			return nil, nil, nil, sqlerr.New(sqlerr.FeatureNotSupported, "the tables are in different databases").WithHint("Write a statement for each: evidence lies in the database of its tables.")
		}
		if !slices.ContainsFunc(list, func(g maintain.Target) bool { return g.Table.Name == t.Name }) {
			list = append(list, maintain.Target{Catalog: s.catalogOf(t.Name.Catalog), Table: t, User: s.opts.User})
		}
	}
	c, err := a.text("column")
	if err != nil {
		return
	}
	column, ok := splitQualified(c)
	if !ok {
		return nil, nil, nil, sqlerr.New(sqlerr.InvalidName, "invalid name syntax: %s", c)
	}
	values, err = a.strings("value")
	return
}

// eraseEnv is what erasures in a catalog are done with.
func (s *Session) eraseEnv(ctx context.Context, a *procedureArgs, c lake.Catalog) (maintain.EraseEnv, error) {
	l, err := s.ledger(c)
	return maintain.EraseEnv{RewriteEnv: s.rewriteEnv(ctx, a), Ledger: l, Forget: s.engine.forgetCaches, Copies: s.copiesOf}, err
}

func (s *Session) ledger(c lake.Catalog) (*maintain.Ledger, error) {
	dir := s.engine.cfg.StateDir
	if dir == "" {
		base, err := os.UserConfigDir()
		if e, ok := c.(lake.Evidence); err != nil && (!ok || e.EvidencePlace() == "") {
			return nil, sqlerr.New(sqlerr.ConfigFileError, "there is no folder for the evidence of erasures: %v", err).WithHint("Give the server a state_dir.")
		}
		dir = filepath.Join(base, "lhsql")
	}
	return maintain.NewLedger(c, dir), nil
}

// forgetCaches empties what the server has kept of files and of statements.
func (e *Engine) forgetCaches() {
	for _, c := range e.caches() {
		c.Trim(0)
	}
}

// copiesOf names the tables that were written from rows of one, as their snapshots' summaries say.
func (s *Session) copiesOf(ctx context.Context, n lake.Name) ([]maintain.Holder, error) {
	var out []maintain.Holder
	for _, c := range s.engine.order {
		cat := s.catalogOf(c)
		spaces, err := cat.Namespaces(ctx)
		if err != nil {
			return nil, err
		}
		slices.Sort(spaces)
		for _, ns := range spaces {
			names, err := cat.List(ctx, ns)
			if isNotFound(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			slices.SortFunc(names, lake.Name.Compare)
			for _, other := range names {
				other.Catalog = c
				if other == n {
					continue
				}
				t, err := s.loadTable(ctx, other)
				if err != nil {
					if ctx.Err() != nil {
						return nil, ctx.Err()
					}
					continue // it cannot be read: what it holds, nobody can say
				}
				h := maintain.CopiesIn(t, n)
				if h != nil {
					out = append(out, *h)
				}
			}
		}
	}
	return out, nil
}

// showHolders lists who holds a value.
func (s *Session) showHolders(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	list, column, values, err := a.erased(ctx, s)
	if err != nil {
		return nil, err
	}
	paranoid, err := a.flag("paranoid")
	if err != nil {
		return nil, err
	}
	env, err := s.eraseEnv(ctx, a, list[0].Catalog)
	if err != nil {
		return nil, err
	}
	holders, err := maintain.Holders(ctx, list, env, column, values, paranoid)
	if err != nil {
		return nil, definitionError(err)
	}
	var rows [][]types.Datum
	for _, h := range holders {
		matches := types.Null
		if h.Rows >= 0 {
			matches = types.NewInt(h.Rows)
		}
		ids := make([]string, len(h.Snapshots))
		for i, id := range h.Snapshots {
			ids[i] = strconv.FormatInt(id, 10)
		}
		rows = append(rows, []types.Datum{types.NewStr(h.Table), types.NewStr(h.Kind), textOrNull(h.Path), textOrNull(h.Where), matches,
			textOrNull(strings.Join(h.Refs, ",")), textOrNull(strings.Join(ids, ",")), textOrNull(h.Until)})
	}
	return rows, nil
}

// erase erases a value.
func (s *Session) erase(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	list, column, values, err := a.erased(ctx, s)
	if err != nil {
		return nil, err
	}
	spec := maintain.EraseSpec{Column: column, Values: values, User: s.opts.User}
	if spec.DryRun, err = a.flag("dry_run"); err != nil {
		return nil, err
	}
	if spec.Reason, err = a.text("reason"); err != nil || strings.TrimSpace(spec.Reason) == "" {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "an erasure needs a reason").WithHint("ERASE FROM … WHERE … REASON 'DSR-118'.")
	}
	if a.given("tags") {
		text, err := a.text("tags")
		if err != nil {
			return nil, err
		}
		switch spec.Tags = strings.ToLower(text); spec.Tags {
		case "drop", "rewrite":
		default:
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid tags %q", text).WithHint("It is drop or rewrite.")
		}
	}
	return s.erasing(ctx, a, list, spec)
}

func (s *Session) erasing(ctx context.Context, a *procedureArgs, list []maintain.Target, spec maintain.EraseSpec) ([][]types.Datum, error) {
	env, err := s.eraseEnv(ctx, a, list[0].Catalog)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, g := range list {
		if err := s.elsewhere(ctx, g.Table); err != nil {
			return nil, err
		}
		names = append(names, g.Table.Name.String())
	}
	end, ok := s.engine.erasures.begin(names)
	if !ok {
		return nil, sqlerr.New(sqlerr.ObjectInUse, "another session is erasing from table %s", strings.Join(names, ", "))
	}
	defer end()
	free, err := s.leaseErasure(ctx, list)
	if err != nil {
		return nil, err
	}
	defer free()
	job := s.engine.jobs.Start("erase", strings.Join(names, ", "), s.opts.User, s.pid, nil)
	if spec.DryRun {
		job.DryRun()
	}
	for i := range list {
		list[i].Job = job
	}
	r, err := maintain.Erase(ctx, list, env, spec)
	job.End(r.Status, err)
	for _, g := range list {
		s.moved(g.Table.Name, nil)
	}
	if err != nil {
		err = definitionError(err)
		if e, ok := sqlerr.As(err); ok && r.ID != "" && e.Hint == "" {
			return nil, e.WithHint("The same statement goes on, or CALL system.resume_erasure('%s').", r.ID)
		}
		return nil, err
	}
	id := textOrNull(r.ID)
	var rows [][]types.Datum
	for _, x := range r.Steps {
		rows = append(rows, []types.Datum{id, types.NewStr(r.Status), types.NewStr(x.Table), types.NewStr(x.Step), types.NewInt(x.Count), textOrNull(x.Detail)})
	}
	for _, p := range r.Pending {
		rows = append(rows, []types.Datum{id, types.NewStr(r.Status), types.Null, types.NewStr("pending"), types.Null, types.NewStr(p)})
	}
	if r.Hash != "" {
		rows = append(rows, []types.Datum{id, types.NewStr(r.Status), types.Null, types.NewStr("evidence"), types.NewInt(r.Seq), types.NewStr(r.Hash)})
	}
	return rows, nil
}

// resumeErasure goes on with an erasure that has not ended.
func (s *Session) resumeErasure(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	id, err := a.text("id")
	if err != nil {
		return nil, err
	}
	l, err := s.ledger(s.catalogOf(s.catalog))
	if err != nil {
		return nil, err
	}
	spec, tables, err := l.Resume(ctx, id)
	if err != nil {
		return nil, err
	}
	var list []maintain.Target
	for _, n := range tables {
		n.Catalog = s.catalog
		g, err := s.targetOf(ctx, n)
		if err != nil {
			return nil, definitionError(err)
		}
		list = append(list, g)
	}
	return s.erasing(ctx, a, list, spec)
}

// verifyErasure decodes everything again.
func (s *Session) verifyErasure(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	id, err := a.text("id")
	if err != nil {
		return nil, err
	}
	values, err := a.strings("value")
	if err != nil {
		return nil, err
	}
	env, err := s.eraseEnv(ctx, a, s.catalogOf(s.catalog))
	if err != nil {
		return nil, err
	}
	list, err := maintain.VerifyErasure(ctx, env, id, values, func(n lake.Name) (maintain.Target, error) {
		n.Catalog = s.catalog
		g, err := s.targetOf(ctx, n)
		if isNotFound(err) {
			return maintain.Target{}, nil
		}
		return g, err
	})
	if err != nil {
		return nil, definitionError(err)
	}
	var rows [][]types.Datum
	for _, v := range list {
		rows = append(rows, []types.Datum{types.NewStr(v.Table), types.NewInt(v.Decoded), types.NewInt(v.Hits), textOrNull(v.Problem)})
	}
	return rows, nil
}

// erasureRows are the erasures of the database that run or wait, and the evidence of those that have ended.
func erasureRows(ctx context.Context, s *Session, _ map[int]types.Datum, yield func([]types.Datum) error) error {
	if may, err := s.monitors(ctx); err != nil || !may {
		return err
	}
	l, err := s.ledger(s.catalogOf(s.catalog))
	if err != nil {
		return err
	}
	list, err := l.List(ctx)
	if err != nil {
		return err
	}
	for _, r := range list {
		var tables, before, after []string
		var expired, restated, rows, rewritten, removed, bytes, decoded, hits int64
		for _, t := range r.Tables {
			tables = append(tables, t.Table)
			before = append(before, headsText(t.Table, t.Before, len(r.Tables)))
			after = append(after, headsText(t.Table, t.After, len(r.Tables)))
			expired += int64(len(t.Expired))
			restated += int64(len(t.Restated))
			rows += t.RowsGone
			rewritten += int64(len(t.Rewritten))
			removed += int64(len(t.Removed))
			for _, f := range t.Removed {
				bytes += f.Size
			}
			decoded += t.Decoded
			hits += t.Hits
		}
		seq := types.Null
		if r.Seq > 0 {
			seq = types.NewInt(r.Seq)
		}
		n := types.NewInt
		err := yield([]types.Datum{seq, textOrNull(r.ID), textOrNull(r.Status), textOrNull(strings.Join(r.Pending, "; ")), textOrNull(r.User), textOrNull(r.Reason),
			instantOrNull(r.Started), instantOrNull(r.Ended), textOrNull(strings.Join(tables, ", ")), textOrNull(strings.Join(r.Column, ".")),
			textOrNull(strings.Join(before, "; ")), textOrNull(strings.Join(after, "; ")), n(expired), n(restated), n(rows), n(rewritten), n(removed), n(bytes), n(decoded), n(hits),
			textOrNull(strings.Join(r.Holds, "; ")), textOrNull(r.Value), textOrNull(r.Body), textOrNull(r.Prev), textOrNull(r.Hash)})
		if err != nil {
			return err
		}
	}
	return nil
}

// headsText names the heads of branches and tags, with the table where there are several.
func headsText(table string, heads map[string]int64, tables int) string {
	var out []string
	for _, k := range sortedKeys(heads) {
		out = append(out, k+"="+strconv.FormatInt(heads[k], 10))
	}
	text := strings.Join(out, " ")
	if tables > 1 {
		text = table + ": " + text
	}
	return text
}
