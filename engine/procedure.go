package engine

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// procedure runs CALL and the statements that are spellings of it.
func (s *Session) procedure(ctx context.Context, st *Stmt, _ []types.Datum, r *Result) error {
	r.verb = "CALL"
	if n, ok := st.parsed.Stmt.(*ast.Procedure); ok && len(n.Name.Parts) == 1 { // a statement of its own
		switch n.Name.Parts[0] {
		case "show_holders":
			r.verb = "SHOW"
		case "erase":
			r.verb = "ERASE"
		}
	}
	return s.call(ctx, st.bound.Call, nil, r)
}

// procedure is one that can be called, by Spark's name and with Spark's parameters and result.
// The first parameter is the table for those that act on one; ALTER TABLE … EXECUTE gives it by
// position in the statement.
type procedure struct {
	params   []string
	required int            // so many of them must be given; 0: the first
	columns  []ResultColumn // of the rows that it gives
	reads    bool           // it changes nothing
	where    bool           // it takes WHERE
	// repeats are parameters that may be given several times.
	repeats []string
	// explain, if set, tells what a call would do.
	explain func(*Session, context.Context, *procedureArgs) ([]explainLine, error)
	// It takes effect at once, which no transaction block can undo.
	immediate bool
	run       func(*Session, context.Context, *procedureArgs) ([][]types.Datum, error)
	// statement, instead of run, is of a statement of its own, which cannot be called.
	statement func(*Session, context.Context, *bind.ProcedureCall, *Result) error
}

var procedures = map[string]procedure{
	"rollback_to_snapshot":  {params: []string{"table", "snapshot_id"}, required: 2, columns: moved, run: (*Session).rollbackToSnapshot},
	"rollback_to_timestamp": {params: []string{"table", "timestamp"}, required: 2, columns: moved, run: (*Session).rollbackToTimestamp},
	"set_current_snapshot":  {params: []string{"table", "snapshot_id", "ref"}, columns: moved, run: (*Session).setCurrentSnapshot},
	"cherrypick_snapshot":   {params: []string{"table", "snapshot_id"}, required: 2, columns: picked, run: (*Session).cherrypickSnapshot},
	"publish_changes":       {params: []string{"table", "wap_id"}, required: 2, columns: picked, run: (*Session).publishChanges},

	"add_files":                     addFilesProcedure,
	"rewrite_data_files":            rewriteDataFilesProcedure,
	"rewrite_position_delete_files": rewriteDeletesProcedure,
	"optimize":                      optimizeProcedure,

	"fast_forward": {params: []string{"table", "branch", "to"}, required: 3, run: (*Session).fastForward,
		columns: []ResultColumn{{Name: "branch_updated", Type: types.T(types.Text)}, {Name: "previous_ref", Type: types.T(types.Int8)}, {Name: "updated_ref", Type: types.T(types.Int8)}}},
	"ancestors_of": {params: []string{"table", "snapshot_id"}, reads: true, run: (*Session).ancestorsOf,
		columns: []ResultColumn{{Name: "snapshot_id", Type: types.T(types.Int8)}, {Name: "timestamp", Type: types.T(types.Int8)}}},
	"expire_snapshots":    expireSnapshotsProcedure,
	"remove_orphan_files": removeOrphanFilesProcedure,
	"rewrite_manifests":   rewriteManifestsProcedure,
	"show_holders":        showHoldersProcedure,
	"erase":               eraseProcedure,
	"resume_erasure":      resumeErasureProcedure,
	"verify_erasure":      verifyErasureProcedure,
	"optimize_manifests":  optimizeManifestsProcedure,
	// The tables of VACUUM and ANALYZE are any number.
	"vacuum":                  {immediate: true, statement: (*Session).vacuum},
	"analyze":                 {statement: (*Session).analyze},
	"compute_table_stats":     computeStatsProcedure,
	"compute_partition_stats": computePartitionStatsProcedure,
	"drop_extended_stats":     dropStatsProcedure,
	"register_table": {params: []string{"table", "metadata_file"}, required: 2, immediate: true, run: (*Session).registerTable,
		columns: []ResultColumn{{Name: "current_snapshot_id", Type: types.T(types.Int8)}, {Name: "total_records_count", Type: types.T(types.Int8)}, {Name: "total_data_files_count", Type: types.T(types.Int8)}}},
}

// paramKinds are the types of parameters as pg_proc shows them; where a caller gives another, it is read
// as text.
var paramKinds = map[string]types.Kind{"table": types.Text, "snapshot_id": types.Int8, "timestamp": types.TimestampTZ, "ref": types.Text, "wap_id": types.Text,
	"branch": types.Text, "to": types.Text, "metadata_file": types.Text, "older_than": types.TimestampTZ, "retain_last": types.Int4,
	"max_concurrent_deletes": types.Int4, "stream_results": types.Bool, "snapshot_ids": types.Text, "clean_expired_metadata": types.Bool,
	"dry_run": types.Bool, "retention_threshold": types.Text, "location": types.Text, "prefix_mismatch_mode": types.Text, "use_caching": types.Bool,
	"spec_id": types.Int4, "sort_by": types.Text, "strategy": types.Text, "sort_order": types.Text, "options": types.Text, "where": types.Text,
	"file_size_threshold": types.Text, "columns": types.Text, "column": types.Text, "value": types.Text, "paranoid": types.Bool, "reason": types.Text,
	"tags": types.Text, "id": types.Text, "source_table": types.Text, "partition_filter": types.Text, "check_duplicate_files": types.Bool, "parallelism": types.Int4}

var (
	moved  = []ResultColumn{{Name: "previous_snapshot_id", Type: types.T(types.Int8)}, {Name: "current_snapshot_id", Type: types.T(types.Int8)}}
	picked = []ResultColumn{{Name: "source_snapshot_id", Type: types.T(types.Int8)}, {Name: "current_snapshot_id", Type: types.T(types.Int8)}}
)

// procedureColumns are the result columns of a procedure that exists.
func procedureColumns(c *bind.ProcedureCall) []ResultColumn {
	if c == nil || len(c.Name) == 0 {
		return nil
	}
	return procedureOf(c).columns
}

// procedureOf is the procedure that a call names, the zero one if there is none.
func procedureOf(c *bind.ProcedureCall) procedure {
	return procedures[strings.ToLower(c.Name[len(c.Name)-1])]
}

func (s *Session) call(ctx context.Context, c *bind.ProcedureCall, rel *bind.Relation, r *Result) error {
	name := strings.ToLower(c.Name[len(c.Name)-1])
	p, ok := procedures[name]
	if !ok {
		return sqlerr.New(sqlerr.UndefinedFunction, "procedure %q does not exist", name).WithHint("There are: %s.", strings.Join(callable(), ", "))
	}
	if !p.reads {
		if err := s.mayWrite("CALL"); err != nil {
			return err
		}
	}
	if p.immediate && s.tx.block {
		return inBlock(name)
	}
	if p.statement != nil {
		if err := s.mayCall(ctx, name, nil); err != nil {
			return err
		}
		return p.statement(s, ctx, c, r)
	}
	a, err := p.arguments(name, c, rel)
	if err != nil {
		return err
	}
	a.result = r
	if err := s.mayCall(ctx, name, a); err != nil {
		return err
	}
	rows, err := p.run(s, ctx, a)
	if err != nil {
		return err
	}
	r.columns, r.src = p.columns, rowsSource(p.columns, rows)
	return nil
}

// callable are the names of procedures that CALL knows.
func callable() []string {
	return slices.DeleteFunc(sortedKeys(procedures), func(name string) bool { return procedures[name].statement != nil })
}

// snapshotID is NULL for no snapshot.
func snapshotID(s *lake.Snapshot) types.Datum {
	if s == nil {
		return types.Null
	}
	return types.NewInt(s.ID)
}

// moveMain commits a move of main and gives where it stood before and where it stands now.
func (s *Session) moveMain(ctx context.Context, a *procedureArgs, move func(*lake.Edit) error) ([][]types.Datum, error) {
	t, err := a.table(ctx, s)
	if err != nil {
		return nil, err
	}
	var from, to types.Datum
	err = s.commit(ctx, t.Name, lake.Change{Base: t, MovesRefs: true, Statement: "CALL " + a.name, Edit: func(e *lake.Edit) error {
		from = snapshotID(e.Table().CurrentSnapshot())
		err := move(e)
		to = snapshotID(e.Table().CurrentSnapshot())
		return err
	}})
	return [][]types.Datum{{from, to}}, err
}

// rollbackToSnapshot moves main back to one of its ancestors.
func (s *Session) rollbackToSnapshot(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	id, err := a.number("snapshot_id")
	if err != nil {
		return nil, err
	}
	return s.moveMain(ctx, a, func(e *lake.Edit) error { return e.RollBack(id) })
}

// rollbackToTimestamp moves main back to the newest of its ancestors that was there at the
// instant. (Spark leaves out a snapshot of the very instant; AS OF does not, and what it shows
// is what people look at before they roll back.)
func (s *Session) rollbackToTimestamp(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	text, err := a.text("timestamp")
	if err != nil {
		return nil, err
	}
	pin, err := timetravel.ParsePin(text, s.zone())
	if err != nil || pin.Time.IsZero() {
		return nil, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid timestamp %q", text)
	}
	return s.moveMain(ctx, a, func(e *lake.Edit) error {
		t := e.Table()
		for _, snap := range t.Ancestors(t.CurrentSnapshot()) {
			if !snap.Time.After(pin.Time) {
				return e.RollBack(snap.ID)
			}
		}
		return sqlerr.New(sqlerr.UndefinedObject, "the table has no snapshot of %s or before", text)
	})
}

// setCurrentSnapshot moves main to any snapshot, or to where a branch or tag is.
func (s *Session) setCurrentSnapshot(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	if a.given("snapshot_id") == a.given("ref") {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "procedure %q needs either snapshot_id or ref", a.name)
	}
	if !a.given("ref") {
		id, err := a.number("snapshot_id")
		if err != nil {
			return nil, err
		}
		return s.moveMain(ctx, a, func(e *lake.Edit) error { return e.MoveMain(id) })
	}
	name, err := a.text("ref")
	if err != nil {
		return nil, err
	}
	return s.moveMain(ctx, a, func(e *lake.Edit) error {
		ref, ok := e.Table().Ref(name)
		if !ok {
			return sqlerr.New(sqlerr.UndefinedObject, "branch or tag %q does not exist", name)
		}
		return e.MoveMain(ref.SnapshotID)
	})
}

// cherrypickSnapshot brings main what a snapshot that is not in its history did.
func (s *Session) cherrypickSnapshot(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	t, err := a.table(ctx, s)
	if err != nil {
		return nil, err
	}
	id, err := a.number("snapshot_id")
	if err != nil {
		return nil, err
	}
	return s.pick(ctx, a, t, id)
}

// publishChanges cherry-picks the snapshot that was staged under a WAP id.
func (s *Session) publishChanges(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	t, err := a.table(ctx, s)
	if err != nil {
		return nil, err
	}
	wap, err := a.text("wap_id")
	if err != nil {
		return nil, err
	}
	snap, err := t.StagedAs(wap)
	if err != nil {
		return nil, err
	}
	return s.pick(ctx, a, t, snap.ID)
}

func (s *Session) pick(ctx context.Context, a *procedureArgs, t *lake.Table, id int64) ([][]types.Datum, error) {
	ch, err := lake.Pick(ctx, t, id)
	if err != nil {
		return nil, err
	}
	ch.Statement = "CALL " + a.name
	if err := s.pickedHold(ctx, t, &ch); err != nil {
		return nil, err
	}
	if err := s.commit(ctx, t.Name, ch); err != nil {
		return nil, err
	}
	now, err := s.loadTable(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	return [][]types.Datum{{types.NewInt(id), snapshotID(now.CurrentSnapshot())}}, nil
}

// fastForward moves a branch to where another branch or tag is, which must descend from it; one
// that does not exist is made.
func (s *Session) fastForward(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	t, err := a.table(ctx, s)
	if err != nil {
		return nil, err
	}
	branch, err := a.text("branch")
	if err != nil {
		return nil, err
	}
	to, err := a.text("to")
	if err != nil {
		return nil, err
	}
	at := func(e *lake.Edit) types.Datum {
		if ref, ok := e.Table().Ref(branch); ok {
			return types.NewInt(ref.SnapshotID)
		}
		return types.Null
	}
	var was, is types.Datum
	err = s.commit(ctx, t.Name, lake.Change{Base: t, MovesRefs: true, Statement: "CALL fast_forward", Edit: func(e *lake.Edit) error {
		was = at(e)
		var err error
		if target, ok := e.Table().Ref(to); ok && was.IsNull() && branch != "main" {
			err = e.SetRef(lake.RefSpec{Name: branch, Branch: true, Snapshot: &target.SnapshotID})
		} else {
			err = e.FastForward(branch, to)
		}
		is = at(e)
		return err
	}})
	return [][]types.Datum{{types.NewStr(branch), was, is}}, err
}

// ancestorsOf lists a snapshot and those that it comes from, newest first.
func (s *Session) ancestorsOf(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	t, err := a.table(ctx, s)
	if err != nil {
		return nil, err
	}
	snap := t.CurrentSnapshot()
	if a.given("snapshot_id") {
		id, err := a.number("snapshot_id")
		if err != nil {
			return nil, err
		}
		if snap = t.SnapshotByID(id); snap == nil {
			return nil, sqlerr.New(sqlerr.UndefinedObject, "snapshot %d does not exist", id)
		}
	}
	var rows [][]types.Datum
	for _, p := range t.Ancestors(snap) {
		rows = append(rows, []types.Datum{types.NewInt(p.ID), types.NewInt(p.Time.UnixMilli())})
	}
	return rows, nil
}

// registerTable adds a table that exists to the catalog, by its metadata file or folder. Which
// places may be named is the catalog's business: its warehouse, and what is allowed beside it.
func (s *Session) registerTable(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	text, err := a.text("table")
	if err != nil {
		return nil, err
	}
	file, err := a.text("metadata_file")
	if err != nil {
		return nil, err
	}
	parts, ok := s.names().split(text)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidName, "invalid name syntax: %s", text)
	}
	name, err := s.names().made(ctx, parts)
	if err != nil {
		return nil, err
	}
	t, err := s.engine.catalogs[name.Catalog].get().Register(ctx, name, file)
	if err != nil {
		return nil, definitionError(err)
	}
	s.moved(name, t)
	if err := s.madeTable(ctx, t, name, a.result); err != nil {
		return nil, err
	}
	row := []types.Datum{types.Null, types.Null, types.Null}
	if snap := t.CurrentSnapshot(); snap != nil {
		row[0] = types.NewInt(snap.ID)
		for i, k := range []string{"total-records", "total-data-files"} {
			if n, err := strconv.ParseInt(snap.Summary[k], 10, 64); err == nil {
				row[i+1] = types.NewInt(n)
			}
		}
	}
	return [][]types.Datum{row}, nil
}

// inBlock refuses what takes effect at once and what ROLLBACK could not undo.
func inBlock(what string) error {
	return sqlerr.New(sqlerr.ActiveTransaction, "%s cannot run inside a transaction block", what)
}
