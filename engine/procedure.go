package engine

import (
	"context"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// procedure runs CALL and the statements that are spellings of it.
func (s *Session) procedure(ctx context.Context, st *Stmt, _ []types.Datum, r *Result) error {
	r.verb = "CALL"
	return s.call(ctx, st.bound.Call, nil, r)
}

// procedures by name, with their parameters in positional order. The first is the table for
// those that act on one; ALTER TABLE … EXECUTE gives it by position in the statement.
var procedures = map[string]struct {
	params []string
	run    func(*Session, context.Context, *procedureArgs) error
}{
	"rollback_to_snapshot":  {[]string{"table", "snapshot_id"}, (*Session).rollbackToSnapshot},
	"rollback_to_timestamp": {[]string{"table", "timestamp"}, (*Session).rollbackToTimestamp},
	"set_current_snapshot":  {[]string{"table", "snapshot_id", "ref"}, (*Session).setCurrentSnapshot},
	"fast_forward":          {[]string{"table", "branch", "to"}, (*Session).fastForward},
	"register_table":        {[]string{"table", "metadata_file"}, (*Session).registerTable},
}

// procedureArgs are a call's arguments by name.
type procedureArgs struct {
	name string
	vals map[string]bind.Constant
	rel  *bind.Relation // the table of ALTER TABLE … EXECUTE
}

func (s *Session) call(ctx context.Context, c *bind.ProcedureCall, rel *bind.Relation, r *Result) error {
	if err := s.mayWrite(); err != nil {
		return err
	}
	if len(s.tx.pending) > 0 {
		return sqlerr.New(sqlerr.FeatureNotSupported, "a procedure cannot follow writes in one transaction: it would take effect before them").WithHint("COMMIT first.")
	}
	name := strings.ToLower(c.Name[len(c.Name)-1])
	p, ok := procedures[name]
	if !ok {
		return sqlerr.New(sqlerr.UndefinedFunction, "procedure %q does not exist", name).WithHint("There are: %s.", strings.Join(sortedKeys(procedures), ", "))
	}
	params := p.params
	if rel != nil && params[0] == "table" {
		params = params[1:]
	}
	a := &procedureArgs{name: name, vals: map[string]bind.Constant{}, rel: rel}
	for i, v := range c.Args {
		k := strings.ToLower(v.Name)
		if k == "" {
			if i >= len(params) {
				return sqlerr.New(sqlerr.UndefinedFunction, "procedure %q takes at most %d arguments", name, len(params))
			}
			k = params[i]
		}
		known := false
		for _, q := range params {
			known = known || q == k
		}
		if !known {
			return sqlerr.New(sqlerr.UndefinedFunction, "procedure %q has no argument %q", name, k).WithHint("Its arguments are: %s.", strings.Join(params, ", "))
		}
		a.vals[k] = v.Constant
	}
	return p.run(s, ctx, a)
}

// text and number read a required argument.
func (a *procedureArgs) text(k string) (string, error) {
	v, ok := a.vals[k]
	if !ok || v.Value.IsNull() {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "procedure %q needs %s", a.name, k)
	}
	return types.Format(v.Value, v.Typ, nil), nil
}

func (a *procedureArgs) number(k string) (int64, error) {
	t, err := a.text(k)
	if err != nil {
		return 0, err
	}
	d, err := types.Parse(t, types.T(types.Int8), nil)
	if err != nil {
		return 0, err
	}
	return d.Int(), nil
}

// table is the table that the procedure acts on.
func (a *procedureArgs) table(ctx context.Context, s *Session) (*lake.Table, error) {
	if a.rel != nil {
		return a.rel.Table, nil
	}
	t, err := a.text("table")
	if err != nil {
		return nil, err
	}
	parts, ok := splitQualified(t)
	if !ok {
		return nil, sqlerr.New(sqlerr.InvalidName, "invalid name syntax: %s", t)
	}
	rel, err := relations{s}.Relation(ctx, bind.TableRef{Parts: parts, Write: true})
	if isNotFound(err) || err == nil && rel.Table == nil {
		return nil, sqlerr.New(sqlerr.UndefinedTable, "table %q does not exist", t)
	}
	if err != nil {
		return nil, err
	}
	return rel.Table, nil
}

func (s *Session) moveMain(ctx context.Context, a *procedureArgs, choose func(*lake.Table) (int64, error)) error {
	t, err := a.table(ctx, s)
	if err != nil {
		return err
	}
	id, err := choose(t)
	if err != nil {
		return err
	}
	return s.editStaged(ctx, t, "CALL "+a.name, false, func(e *lake.Edit) error { return e.MoveBranch("main", id) })
}

// rollbackToSnapshot moves main back to one of its ancestors.
func (s *Session) rollbackToSnapshot(ctx context.Context, a *procedureArgs) error {
	return s.moveMain(ctx, a, func(t *lake.Table) (int64, error) {
		id, err := a.number("snapshot_id")
		if err == nil && !isAncestor(t, id) {
			err = sqlerr.New(sqlerr.UndefinedObject, "snapshot %d is not an ancestor of the table's current state", id).
				WithHint("set_current_snapshot moves to any snapshot.")
		}
		return id, err
	})
}

func isAncestor(t *lake.Table, id int64) bool {
	for s := t.CurrentSnapshot(); s != nil; {
		if s.ID == id {
			return true
		}
		if s.ParentID == nil {
			return false
		}
		s = t.SnapshotByID(*s.ParentID)
	}
	return false
}

func (s *Session) rollbackToTimestamp(ctx context.Context, a *procedureArgs) error {
	return s.moveMain(ctx, a, func(t *lake.Table) (int64, error) {
		text, err := a.text("timestamp")
		if err != nil {
			return 0, err
		}
		pin, err := timetravel.ParsePin(text, s.zone())
		if err != nil || pin.Time.IsZero() {
			return 0, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid timestamp %q", text)
		}
		snap, _, err := timetravel.Resolve(t, pin)
		if err != nil {
			return 0, err
		}
		return snap.ID, nil
	})
}

func (s *Session) setCurrentSnapshot(ctx context.Context, a *procedureArgs) error {
	return s.moveMain(ctx, a, func(t *lake.Table) (int64, error) {
		if _, ok := a.vals["ref"]; ok {
			name, err := a.text("ref")
			if err != nil {
				return 0, err
			}
			ref, ok := t.Ref(name)
			if !ok {
				return 0, sqlerr.New(sqlerr.UndefinedObject, "branch or tag %q does not exist", name)
			}
			return ref.SnapshotID, nil
		}
		return a.number("snapshot_id")
	})
}

func (s *Session) fastForward(ctx context.Context, a *procedureArgs) error {
	t, err := a.table(ctx, s)
	if err != nil {
		return err
	}
	branch, err := a.text("branch")
	if err != nil {
		return err
	}
	to, err := a.text("to")
	if err != nil {
		return err
	}
	return s.editStaged(ctx, t, "CALL fast_forward", false, func(e *lake.Edit) error { return e.FastForward(branch, to) })
}

// registerTable adds a table that exists to the catalog, by its metadata file or folder.
func (s *Session) registerTable(ctx context.Context, a *procedureArgs) error {
	text, err := a.text("table")
	if err != nil {
		return err
	}
	file, err := a.text("metadata_file")
	if err != nil {
		return err
	}
	parts, ok := splitQualified(text)
	if !ok {
		return sqlerr.New(sqlerr.InvalidName, "invalid name syntax: %s", text)
	}
	name, err := s.newName(ctx, parts)
	if err != nil {
		return err
	}
	if len(s.engine.cfg.PathTables) == 0 {
		return sqlerr.New(sqlerr.InsufficientPrivilege, "tables by path are not allowed on this server").
			WithHint("The server's option path_tables names the folders that may be read.")
	}
	t, err := lake.OpenPathIn(ctx, s.engine.store, file, s.engine.cfg.PathTables)
	if err != nil {
		return err
	}
	t, err = s.engine.catalogs[name.Catalog].Register(ctx, name, t.MetadataLocation)
	if err != nil {
		return definitionError(err)
	}
	s.moved(name, t)
	return nil
}
