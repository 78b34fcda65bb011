package engine

import (
	"context"
	"math"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Stmt is one prepared statement: parsed and bound. Planning happens at Execute, with the
// arguments in place. It belongs to its Session.
type Stmt struct {
	session *Session
	parsed  Parsed
	bound   *bind.Bound // nil for statements that bind does not see
	params  []types.Type
	columns []ResultColumn
	copy    *CopySpec
	shown   *shown // what MySQL's SHOW stands for
	anew    bool   // to be bound anew: what it was bound in is over
	step    uint64 // the session's that bound it
}

// Params are the parameters' types, inferred or given; none Unknown.
func (st *Stmt) Params() []types.Type { return st.params }

// Columns are nil for a statement that returns no rows.
func (st *Stmt) Columns() []ResultColumn { return st.columns }

// Copy is how the data of a COPY statement looks; nil for others.
func (st *Stmt) Copy() *CopySpec { return st.copy }

// Offset is where the statement begins in the text that it was parsed from.
func (st *Stmt) Offset() int { return st.parsed.Offset }

// Empty tells whether the text held no statement.
func (st *Stmt) Empty() bool { _, ok := st.parsed.Stmt.(*ast.Empty); return ok }

// Immediate tells whether the statement takes effect at once, so that no transaction can hold it: in
// a pipeline it stands alone.
func (st *Stmt) Immediate() bool {
	switch n := st.parsed.Stmt.(type) {
	case *ast.Discard:
		return strings.EqualFold(n.What, "all")
	case *ast.Procedure:
		return st.bound.Call != nil && procedureOf(st.bound.Call).immediate
	}
	return false
}

// Prepare binds p. given are parameter types that the client states; others are inferred.
func (s *Session) Prepare(parent context.Context, p Parsed, given []types.Type) (st *Stmt, err error) {
	// Binding may take long too: it loads tables and computes constants.
	ctx, cancel, _ := s.statementContext(parent)
	defer cancel(context.Canceled)
	defer runnerIn(ctx).end()
	defer func() {
		if r := recover(); r != nil {
			err = s.engine.caught(r)
		}
		if err != nil {
			err = causeOf(ctx, err)
			st = nil
			s.Fail()
		}
	}()
	if err := s.checkAborted(p.Stmt); err != nil {
		return nil, err
	}
	s.setState("active", shownText(p))
	if err := runnerIn(ctx).holdPlan(p.Text); err != nil {
		return nil, err
	}
	if st, err = s.prepare(ctx, p, given); err == nil {
		s.step++
		st.step = s.step
	}
	return st, err
}

// maxColumns is how many columns the Postgres wire can count.
const maxColumns = math.MaxInt16

func (s *Session) prepare(ctx context.Context, p Parsed, given []types.Type) (*Stmt, error) {
	st := &Stmt{session: s, parsed: p}
	if s.my != nil {
		if known, err := s.my.prepare(ctx, st); known || err != nil {
			return st, err
		}
	}
	switch n := p.Stmt.(type) {
	case *ast.Show:
		st.columns = s.showColumns(n)
	case *ast.Fetch:
		if n.Move {
			break
		}
		var err error
		if st.columns, err = s.fetchColumns(n.Cursor); err != nil {
			return nil, err
		}
	case *ast.Execute:
		prep, err := s.preparedSQL(n.Name)
		if err != nil {
			return nil, err
		}
		st.columns = prep.stmt.columns
		st.bound, err = bind.Bind(s.bindEnv(ctx, nil), p, given)
		if err != nil {
			return nil, err
		}
	case *ast.Empty, *ast.Transaction, *ast.Set, *ast.Deallocate, *ast.ClosePortal, *ast.Discard,
		*ast.Listen, *ast.Noop, *ast.CreateIndex, *ast.CreateRole, *ast.AlterRole, *ast.RenameRole, *ast.DropRole, *ast.GrantRole,
		*ast.Grant, *ast.DefaultPrivileges, *ast.SetOwner, *ast.ReassignOwned, *ast.DropOwned:
	case *ast.Prepare:
		// Bound at PREPARE itself: its parameters are its own, not the outer statement's.
	default:
		b, err := bind.Bind(s.bindEnv(ctx, nil), p, given)
		if err != nil {
			return nil, err
		}
		st.bound, st.params, st.columns = b, b.Params, b.Columns
		if q, ok := n.(*ast.QueryStmt); ok && q.Into != nil {
			st.columns = nil
		}
		if len(b.Columns) > maxColumns {
			return nil, sqlerr.New(sqlerr.TooManyColumns, "a result can have at most %d columns", maxColumns)
		}
		switch n := n.(type) {
		case *ast.Explain:
			st.columns = explainColumns(n)
		case *ast.Procedure:
			st.columns = procedureColumns(b.Call)
		case *ast.AlterTable:
			if len(n.Actions) == 1 && n.Actions[0].Op == "execute" && len(b.Alter) == 1 {
				st.columns = procedureColumns(b.Alter[0].Call)
			}
		case *ast.Declare:
			st.columns = nil
		case *ast.Copy:
			if st.copy, err = copySpec(n); err != nil {
				return nil, err
			}
			st.copy.Columns = b.Columns
			if b.Inner != nil {
				st.copy.Columns = b.Inner.Columns
			} else if b.Plan != nil && !n.From {
				st.copy.Columns = b.Plan.Columns()
			}
			if b.Copy != nil && n.From {
				st.copy.Columns = b.Copy.Columns
			}
			st.columns = nil
		}
	}
	return st, nil
}

// rebind makes st's meaning current: the tables may have moved on since Prepare, and AS OF may
// depend on args.
func (st *Stmt) rebind(ctx context.Context, args []types.Datum) error {
	s := st.session
	just := st.step == s.step && (len(st.params) == 0 || st.bound != nil && !st.bound.ParamDependent)
	if s.step++; just && !st.anew {
		return nil
	}
	if st.shown != nil { // whatever it is about now
		again, err := s.prepare(ctx, st.parsed, nil)
		if err == nil {
			st.shown, st.bound, st.columns = again.shown, again.bound, again.columns
		}
		return err
	}
	if st.bound == nil || (!st.anew && !st.bound.ParamDependent && !s.stale(ctx, st.bound)) {
		return nil
	}
	st.anew = false
	b, err := bind.Bind(s.bindEnv(ctx, args), st.parsed, st.params)
	if err != nil {
		return err
	}
	if _, explain := st.parsed.Stmt.(*ast.Explain); !explain && !sameColumns(st.bound.Columns, b.Columns) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "cached plan must not change result type")
	}
	st.bound = b
	return nil
}

func sameColumns(a, b []plan.Column) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || !a[i].Type.Equal(b[i].Type) {
			return false
		}
	}
	return true
}

// stale tells whether a table that b reads has another state by now.
func (s *Session) stale(ctx context.Context, b *bind.Bound) bool {
	for ; b != nil; b = b.Inner {
		for _, u := range b.Tables {
			t := u.Relation.Table
			if t == nil {
				continue
			}
			now, err := s.loadTable(ctx, t.Name)
			// An error shows again, with its position, when binding anew.
			if err != nil || now.MetadataLocation != t.MetadataLocation {
				return true
			}
		}
	}
	return false
}

// Execute runs the statement with args, of the types that Params says.
func (st *Stmt) Execute(ctx context.Context, args []types.Datum) (*Result, error) {
	return st.run(ctx, args, nil)
}

// ExecuteCopy runs COPY … FROM STDIN with the rows that src gives.
func (st *Stmt) ExecuteCopy(ctx context.Context, args []types.Datum, src vec.Source) (*Result, error) {
	return st.run(ctx, args, src)
}

// run is the corridor from a bound statement to its result.
func (st *Stmt) run(parent context.Context, args []types.Datum, in vec.Source) (r *Result, err error) {
	s := st.session
	ctx, cancel, watch := s.statementContext(parent)
	r = &Result{session: s, columns: st.columns, ctx: ctx, cancel: cancel, watch: watch}
	defer func() {
		if p := recover(); p != nil {
			err = s.engine.caught(p)
		}
		if err != nil {
			err = causeOf(ctx, err)
			r.end(false)
			r = nil
			s.Fail()
		}
	}()
	if err := s.checkAborted(st.parsed.Stmt); err != nil {
		return r, err
	}
	if len(args) != len(st.params) {
		return r, sqlerr.New(sqlerr.ProtocolViolation, "the statement has %d parameters, %d were given", len(st.params), len(args))
	}
	s.setState("active", shownText(st.parsed))
	s.noteQuery(st.parsed.Stmt)
	if err := runnerIn(ctx).holdPlan(st.parsed.Text); err != nil {
		return r, err
	}
	if s.my != nil {
		if st.anew, err = s.my.before(ctx, st.parsed.Stmt, r); err != nil {
			return r, err
		}
		s.my.bounds(st.parsed.Stmt, r)
	}
	if err := st.rebind(ctx, args); err != nil {
		return r, err
	}
	r.columns = st.columns
	return r, s.dispatch(ctx, st, args, in, r)
}

// dispatch sends each kind of statement to the code that runs it.
func (s *Session) dispatch(ctx context.Context, st *Stmt, args []types.Datum, in vec.Source, r *Result) (err error) {
	if err := s.permit(ctx, st); err != nil {
		return err
	}
	if s.my != nil {
		if known, err := s.my.dispatch(ctx, st, args, r); known {
			return err
		}
	}
	switch n := st.parsed.Stmt.(type) {
	case *ast.Empty:
	case *ast.QueryStmt:
		r.verb, r.counted = "SELECT", true
		return s.runPlan(ctx, st.bound.Plan, args, r)
	case *ast.Explain:
		r.verb = "EXPLAIN"
		return s.explain(ctx, n, st.bound, args, r)
	case *ast.Copy:
		r.verb, r.counted = "COPY", true
		if n.From {
			return s.copyFrom(ctx, st, in, r)
		}
		return s.runPlan(ctx, st.bound.Plan, args, r)
	case *ast.Insert, *ast.Update, *ast.Delete, *ast.Merge, *ast.Truncate:
		return s.write(ctx, st, args, r)
	case *ast.CreateTable, *ast.CreateView, *ast.CreateSchema, *ast.Drop, *ast.AlterTable, *ast.Comment:
		return s.defineAgain(ctx, st, args, r)
	case *ast.Procedure:
		return s.procedure(ctx, st, args, r)
	case *ast.Transaction:
		r.verb, err = s.transact(ctx, n, r)
	case *ast.Set:
		r.verb, err = s.setStatement(n, r)
	case *ast.Show:
		r.verb = "SHOW"
		err = s.show(n, r)
	case *ast.Prepare:
		r.verb = "PREPARE"
		err = s.prepareSQL(ctx, n)
	case *ast.Execute:
		return s.executeSQL(ctx, n, st.bound, r)
	case *ast.Deallocate:
		r.verb, err = s.deallocate(n)
	case *ast.Declare:
		r.verb = "DECLARE CURSOR"
		err = s.declare(ctx, n, st.bound, args)
	case *ast.Fetch:
		err = s.fetch(n, r)
	case *ast.ClosePortal:
		r.verb, err = s.closeStatement(n)
	case *ast.Discard:
		r.verb, err = s.discard(n)
	case *ast.Listen:
		r.verb = strings.ToUpper(n.Op)
	case *ast.Lock:
		r.verb = "LOCK TABLE"
		if err = s.needBlock("LOCK TABLE"); err == nil {
			r.warn("01000", "LOCK TABLE has no effect: commits are checked for conflicts instead")
		}
	case *ast.CreateIndex:
		if r.verb = n.Verb; r.verb == "" {
			r.verb = "CREATE INDEX"
		}
		err = s.createIndex(ctx, n, r)
	case *ast.Noop:
		if r.verb = n.Tag; n.Warn != "" {
			r.warn("01000", "%s", n.Warn)
		}
		if n.Notice != "" {
			r.warn("00000", "%s", n.Notice)
		}
	default:
		known := false
		if known, err = s.roleStatement(ctx, n, r); !known {
			err = sqlerr.New(sqlerr.FeatureNotSupported, "this statement is not supported")
		}
	}
	return err
}
