package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// planStatement plans a query or a write statement.
func (s *Session) planStatement(env *planner.Env, n plan.Node) (plan.Node, error) {
	return planner.Plan(env, n)
}

// write runs INSERT, UPDATE, DELETE, MERGE and TRUNCATE.
func (s *Session) write(ctx context.Context, st *Stmt, args []types.Datum, r *Result) error {
	if err := s.mayWrite(writeName(st.parsed.Stmt)); err != nil && !writesTemporary(st.bound) {
		return err
	}
	switch st.parsed.Stmt.(type) {
	case *ast.Truncate:
		return s.truncate(ctx, st, args, r)
	case *ast.Insert:
		r.verb = "INSERT"
	case *ast.Update:
		r.verb = "UPDATE"
	case *ast.Delete:
		r.verb = "DELETE"
	case *ast.Merge:
		r.verb = "MERGE"
	}
	r.counted = true
	if n, ok := st.parsed.Stmt.(*ast.Insert); ok && n.Replace {
		r.verb = "REPLACE"
	}
	if inRounds(st) {
		return s.inSteps(st, r, (&rounds{s: s, st: st, args: args, r: r}).run)
	}
	if severalSteps(st) {
		return s.inSteps(st, r, func(ctx context.Context) (int64, error) { return s.runSeveral(ctx, st, args, r) })
	}
	again := s.mayRunAgain(st.parsed.Stmt)
	if again == 0 {
		return s.runWrite(ctx, st.bound, st.bound.Plan, args, r)
	}
	run, err := s.buildWrite(ctx, st.bound, st.bound.Plan, args, r, s.commitTo(st.bound))
	if err != nil {
		return err
	}
	r.written(run)
	r.src = &writeAgain{s: s, st: st, args: args, r: r, run: run, left: again, build: func(ctx context.Context, b *bind.Bound) (*writeRun, error) {
		next, err := s.buildWrite(ctx, b, b.Plan, args, r, s.commitTo(b))
		if err == nil {
			r.run = next
		}
		return next, err
	}}
	return nil
}

// mayWrite refuses the write that messages call what, where the session or its transaction only reads.
func (s *Session) mayWrite(what string) error {
	if s.readOnly() {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "cannot execute %s in a read-only transaction", what)
	}
	if v, _ := s.settings.get("lhsql.as_of"); v != "" {
		return sqlerr.New(sqlerr.ReadOnlyTransaction, "the session reads the past (lhsql.as_of = %s) and cannot write", v).
			WithHint("RESET lhsql.as_of brings it back to the present.")
	}
	return nil
}

// runWrite plans and builds a write statement; the Result's first Next runs it.
func (s *Session) runWrite(ctx context.Context, b *bind.Bound, n plan.Node, args []types.Datum, r *Result) error {
	return s.runWriteWith(ctx, b, n, args, r, s.commitTo(b))
}

// runWriteWith is runWrite with a commit of the caller's.
func (s *Session) runWriteWith(ctx context.Context, b *bind.Bound, n plan.Node, args []types.Datum, r *Result, commit func(context.Context, lake.Change) error) error {
	run, err := s.buildWrite(ctx, b, n, args, r, commit)
	if err != nil {
		return err
	}
	r.written(run)
	return nil
}

// buildWrite plans and builds a write statement.
func (s *Session) buildWrite(ctx context.Context, b *bind.Bound, n plan.Node, args []types.Datum, r *Result, commit func(context.Context, lake.Change) error) (*writeRun, error) {
	c := s.evalCtx(ctx)
	c.Warn = r.warn
	env := s.plannerEnv(ctx, c, args)
	node, err := s.planStatement(env, n)
	if err != nil {
		return nil, err
	}
	run := &writeRun{env: s.execEnv(c)}
	run.env.Commit = func(ctx context.Context, w *plan.Write, ch lake.Change, wrote exec.Wrote) error {
		if err := s.keysHold(ctx, w, &ch, wrote); err != nil {
			return err
		}
		todo, err := s.foreignHold(ctx, w, &ch, wrote)
		if err != nil {
			return err
		}
		ch.Inputs = inputs(b, w)
		takeNumbers(b, &ch)
		publish := func() error { return commit(ctx, ch) }
		if len(todo) > 0 {
			// What references the rows that go is changed in one transaction with them.
			publish = func() error {
				return s.atOnce(ctx, r, func() error {
					for _, do := range todo {
						if err := do(); err != nil {
							return err
						}
					}
					return commit(ctx, ch)
				})
			}
		}
		err = publish()
		if r.wrote = r.wrote || err == nil; err == nil {
			s.keepNumbers(b)
		}
		return err
	}
	if run.src, err = exec.Build(node, run.env); err != nil {
		return nil, err
	}
	if n.Columns() == nil || len(n.Columns()) == 0 {
		r.columns = nil
	}
	return run, nil
}

// written makes a write statement's run, which may be begun anew, the result's.
func (r *Result) written(run *writeRun) {
	r.src, r.run = run.src, run
	r.after = func(ok bool) error {
		if ok {
			r.rows = r.run.env.Written
			if !r.wrote && r.verb == "MERGE" {
				r.warn("00000", "MERGE changed no row: no snapshot was made")
			}
		}
		return nil
	}
}

// inputs lists the tables that the statement read, for the snapshot's provenance.
func inputs(b *bind.Bound, w *plan.Write) []lake.Input {
	var out []lake.Input
	for _, u := range b.Tables {
		if u.Relation.Table == nil || u.Relation.Snapshot == nil {
			continue
		}
		if u.Write && w.File == nil {
			continue // an INSERT does not read its target
		}
		out = append(out, lake.Input{Table: u.Relation.Table.Name, Snapshot: u.Relation.Snapshot.ID})
	}
	return out
}

// commit publishes a change now, or keeps it until COMMIT in a transaction block.
func (s *Session) commit(ctx context.Context, n lake.Name, ch lake.Change) error {
	ch.User = s.opts.User
	var err error
	if ch.Isolation, err = s.isolation(&ch); err != nil {
		return err
	}
	if err := s.keepAside(&ch); err != nil {
		return err
	}
	t, err := s.catalogOf(n.Catalog).Commit(ctx, n, ch)
	if err != nil {
		return definitionError(err) // the table may be gone by now
	}
	s.moved(n, t)
	return nil
}

// isolation is the level that a change is validated at: what the session says, else what the table
// says for the statement.
func (s *Session) isolation(ch *lake.Change) (lake.Isolation, error) {
	level, _ := s.settings.get("lhsql.write_isolation")
	if level == "table" {
		level = ""
		switch ch.Statement {
		case "DELETE", "UPDATE", "MERGE":
			if ch.Base != nil {
				key := "write." + strings.ToLower(ch.Statement) + ".isolation-level"
				level = strings.ToLower(strings.TrimSpace(ch.Base.Properties()[key]))
				if level != "" && level != "serializable" && level != "snapshot" {
					return 0, sqlerr.New(sqlerr.InvalidParameterValue, "table property %s has the value %q", key, ch.Base.Properties()[key]).
						WithHint("It is serializable or snapshot. ALTER TABLE … SET TBLPROPERTIES changes it.")
				}
			}
		}
	}
	if level == "snapshot" {
		return lake.SnapshotIsolation, nil
	}
	return lake.Serializable, nil
}

// keepAside makes rows a snapshot that waits for publish_changes, where the session has a WAP id
// and the table takes part (write-audit-publish as Spark has it).
func (s *Session) keepAside(ch *lake.Change) error {
	id, _ := s.settings.get("lhsql.wap_id")
	if id == "" || len(ch.Add)+len(ch.Remove) == 0 || ch.Base == nil || !strings.EqualFold(ch.Base.Properties()["write.wap.enabled"], "true") || ch.Summary["source-snapshot-id"] != "" {
		return nil
	}
	if ch.Branch != "" {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the session stages snapshots (lhsql.wap_id = %s): it cannot write to branch %q", id, ch.Branch)
	}
	ch.StageOnly = true
	summary := map[string]string{"wap.id": id}
	for k, v := range ch.Summary {
		summary[k] = v
	}
	ch.Summary = summary
	return nil
}

// moved makes a table's new state what this command cycle sees; t nil: forget it.
func (s *Session) moved(n lake.Name, t *lake.Table) {
	delete(s.loaded, n)
	s.host = nil
	if t != nil {
		if s.loaded == nil {
			s.loaded = map[lake.Name]*lake.Table{}
		}
		s.loaded[n] = t
	}
}

// truncate removes all rows of tables: metadata only.
func (s *Session) truncate(ctx context.Context, st *Stmt, args []types.Datum, r *Result) error {
	r.verb = "TRUNCATE TABLE"
	for _, rel := range st.bound.Targets {
		if err := s.notReferenced(ctx, rel.Table, st.bound.Targets); err != nil {
			return err
		}
	}
	for i := range st.bound.Targets {
		for left := s.mayRunAgain(st.parsed.Stmt); ; left-- {
			err := s.truncateOne(ctx, st.bound.Targets[i])
			if err == nil {
				break
			}
			if left <= 0 || !lostTo(ctx, err) {
				return err
			}
			b, e := s.bindAnew(ctx, st, args)
			if e != nil {
				return e
			}
			if b == nil || len(b.Targets) <= i {
				return err
			}
		}
	}
	return nil
}

func (s *Session) truncateOne(ctx context.Context, rel *bind.Relation) error {
	ch, some, err := truncation(ctx, rel.Table, rel.Snapshot, rel.Branch)
	if err != nil || !some {
		return err
	}
	return s.commit(ctx, rel.Table.Name, ch)
}

// truncation is the change that removes a snapshot's rows; some is false where there are none.
func truncation(ctx context.Context, t *lake.Table, snap *lake.Snapshot, branch string) (ch lake.Change, some bool, err error) {
	ch = lake.Change{Base: t, Snapshot: snap, Branch: branch, Kind: lake.OverwritePartitions,
		Conflicts: func(*lake.DataFile) bool { return true }, Statement: "TRUNCATE", Operation: "delete"}
	manifests, err := t.Manifests(ctx, snap)
	if err != nil {
		return ch, false, err
	}
	for _, m := range manifests {
		entries, err := t.Entries(ctx, m)
		if err != nil {
			return ch, false, err
		}
		for _, e := range entries {
			if e.Status != lake.Deleted {
				ch.Remove = append(ch.Remove, e.File)
			}
		}
	}
	return ch, len(ch.Remove) > 0, nil
}

// copyFrom runs COPY … FROM STDIN: an INSERT whose source the client feeds.
func (s *Session) copyFrom(ctx context.Context, st *Stmt, in vec.Source, r *Result) error {
	if err := s.mayWrite("COPY FROM"); err != nil {
		return err
	}
	if in == nil {
		return sqlerr.New(sqlerr.FeatureNotSupported, "COPY FROM STDIN needs a client that sends the data")
	}
	cols := st.bound.Copy.Columns
	feed := &plan.Virtual{Table: &fedTable{src: in, cols: cols}, Cols: cols}
	for i := range cols {
		feed.Index = append(feed.Index, i)
	}
	return s.runWriteWith(ctx, st.bound, st.bound.Copy.Plan(feed), nil, r, s.commitAgain(st, s.commitTo(st.bound)))
}

// fedTable is the rows that a client sends, as a table.
type fedTable struct {
	src  vec.Source
	cols []plan.Column
}

func (f *fedTable) Name() string { return "stdin" }
func (f *fedTable) Fields() []types.Field {
	out := make([]types.Field, len(f.cols))
	for i, c := range f.cols {
		out[i] = types.Field{Name: c.Name, Type: c.Type}
	}
	return out
}

// Rows implements plan.VirtualTable; it can be read once.
func (f *fedTable) Rows(ctx context.Context, _ map[int]types.Datum, yield func([]types.Datum) error) error {
	row := make([]types.Datum, len(f.cols))
	for {
		b, err := f.src.Next(ctx)
		if b == nil || err != nil {
			return err
		}
		for i := 0; i < b.Rows; i++ {
			for j, v := range b.Cols {
				row[j] = v.Datum(i)
			}
			if err := yield(row); err != nil {
				return err
			}
		}
	}
}

// takeNumbers lets a change keep which numbers of identity columns it has used.
func takeNumbers(b *bind.Bound, ch *lake.Change) {
	for _, n := range b.Numbers {
		next, used := n.Next()
		if !used {
			continue
		}
		before := ch.Edit
		ch.Edit = func(e *lake.Edit) error {
			if before != nil {
				if err := before(e); err != nil {
					return err
				}
			}
			return e.TakeNumbers(n.FieldID, n.From, next)
		}
	}
}

// keepNumbers remembers the numbers that a statement gave its rows, for lastval and LAST_INSERT_ID.
func (s *Session) keepNumbers(b *bind.Bound) {
	s.inserted = 0
	for _, n := range b.Numbers {
		if first, last, ok := n.Taken(); ok {
			s.firstNumber, s.lastNumber, s.inserted = first, last, first
		}
	}
}
