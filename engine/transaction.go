package engine

import (
	"context"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// transaction is a session's transaction state. The zero value: none.
type transaction struct {
	block      bool // BEGIN was given, or what follows
	statement  bool // it is one statement's
	implicit   bool // it is a message's or a pipeline's: see BeginImplicit
	failed     bool // only ROLLBACK helps
	queried    bool // a statement has seen data
	start      time.Time
	savepoints []savepoint
	catalogs   map[string]*lake.Transaction // those that it has touched, as it has made them
	temp       lake.TemporaryState          // the temporary tables at its start
	privileges []privilegeOp                // what it has changed of roles and privileges
	privileged privilegeView                // and what holds then
}

// savepoint remembers what ROLLBACK TO restores.
type savepoint struct {
	name     string
	settings map[string]string
	catalogs map[string]lake.TransactionState
	temp     lake.TemporaryState
	// privileges is how many changes of roles and privileges there were.
	privileges int
}

func (t *transaction) open() bool { return t.block }

// Status is the letter of ReadyForQuery: 'I' idle, 'T' in a transaction block, 'E' in a failed one.
func (s *Session) Status() byte {
	switch {
	case s.tx.implicit: // the client knows of no block, and it ends with what the client has said
	case s.tx.failed:
		return 'E'
	case s.tx.block:
		return 'T'
	}
	return 'I'
}

// Fail marks the transaction block, if there is one, as failed, where the dialect has it so.
func (s *Session) Fail() {
	if s.tx.block && s.dialect.blocksFail {
		s.tx.failed = true
	}
}

// BeginImplicit makes the statements up to CommitImplicit or EndImplicit one transaction, unless
// the session is in one: those of a simple Query message with several, and those of a pipeline up
// to its Sync (PostgreSQL's manual, "Multiple Statements in a Simple Query" and "Pipelining"). BEGIN
// makes a block of it, with what was done before; COMMIT and ROLLBACK end it, with a warning.
func (s *Session) BeginImplicit() {
	if s.tx.block {
		return
	}
	s.begin(&ast.Transaction{})
	s.tx.implicit = true
}

// CommitImplicit ends what BeginImplicit began, if it goes on still, once all its statements have
// come to their ends. Its notices are r's.
func (s *Session) CommitImplicit(parent context.Context, r *Result) (err error) {
	if !s.tx.implicit {
		return nil
	}
	ctx, cancel, watch := s.statementContext(parent)
	defer cancel(context.Canceled)
	defer watch.stop()
	defer runnerIn(ctx).end()
	defer func() {
		if p := recover(); p != nil {
			err = s.engine.caught(p)
		}
		if err != nil {
			err = causeOf(ctx, err)
		}
	}()
	op := "commit"
	if s.tx.failed {
		op = "rollback"
	}
	_, err = s.finish(ctx, &ast.Transaction{Op: op}, r)
	return err
}

// EndImplicit ends a command cycle: a simple query, or a pipeline up to Sync.
func (s *Session) EndImplicit(ctx context.Context) error {
	var r Result
	err := s.CommitImplicit(ctx, &r)
	for _, n := range r.notices {
		s.engine.cfg.Log("after a commit: %v", n)
	}
	if !s.tx.block {
		s.settings.endTx(true)
		s.closeCursors(true)
	}
	if e := s.endTemporary(ctx); err == nil {
		err = e
	}
	s.loaded, s.host = nil, nil
	s.step++
	s.idle()
	return err
}

// idle records that the session waits for its client.
func (s *Session) idle() {
	switch s.Status() {
	case 'E':
		s.setState("idle in transaction (aborted)", "")
	case 'T':
		s.setState("idle in transaction", "")
	default:
		s.setState("idle", "")
	}
}

// checkAborted refuses every statement but the end of a failed transaction block.
func (s *Session) checkAborted(st ast.Stmt) error {
	if !s.tx.failed {
		return nil
	}
	if t, ok := st.(*ast.Transaction); ok {
		switch t.Op {
		case "commit", "rollback", "rollback to":
			return nil
		}
	}
	if _, ok := st.(*ast.Empty); ok {
		return nil
	}
	return sqlerr.New(sqlerr.InFailedTransaction, "current transaction is aborted, commands ignored until end of transaction block")
}

// transact runs BEGIN, COMMIT and the like and gives the command tag.
func (s *Session) transact(ctx context.Context, t *ast.Transaction, r *Result) (string, error) {
	switch t.Op {
	case "begin":
		tag := "BEGIN"
		if t.Start {
			tag = "START TRANSACTION"
		}
		switch {
		case s.tx.implicit:
			if err := s.changeModes(t); err != nil {
				return "", err
			}
			s.tx.implicit = false
		case s.tx.block:
			r.warn(sqlerr.ActiveTransaction, "there is already a transaction in progress")
			return tag, s.changeModes(t)
		default:
			s.begin(t)
		}
		return tag, nil
	case "commit", "rollback":
		return s.endBlock(ctx, t, r)
	case "savepoint":
		if err := s.needOwnBlock("SAVEPOINT"); err != nil {
			return "", err
		}
		s.tx.savepoints = append(s.tx.savepoints, savepoint{t.Name, copyMap(s.settings.values), s.tx.states(), s.temporaryState(), len(s.tx.privileges)})
		return "SAVEPOINT", nil
	case "release":
		if err := s.needOwnBlock("RELEASE SAVEPOINT"); err != nil {
			return "", err
		}
		i, err := s.findSavepoint(t.Name)
		if err == nil {
			s.tx.savepoints = s.tx.savepoints[:i]
		}
		return "RELEASE", err
	case "rollback to":
		if err := s.needOwnBlock("ROLLBACK TO SAVEPOINT"); err != nil {
			return "", err
		}
		i, err := s.findSavepoint(t.Name)
		if err != nil {
			return "", err
		}
		s.settings.values = copyMap(s.tx.savepoints[i].settings)
		s.restore(ctx, s.tx.savepoints[i].catalogs)
		s.restoreTemporary(s.tx.savepoints[i].temp)
		s.tx.privileges = s.tx.privileges[:s.tx.savepoints[i].privileges]
		s.tx.savepoints = s.tx.savepoints[:i+1]
		s.tx.failed = false
		return "ROLLBACK", nil
	}
	return "", sqlerr.New(sqlerr.FeatureNotSupported, "%s is not supported", strings.ToUpper(t.Op)).At(t.Pos)
}

func (s *Session) begin(t *ast.Transaction) {
	s.tx = transaction{block: true, start: time.Now(), temp: s.temporaryState()}
	s.setModes(t)
}

// endBlock runs COMMIT and ROLLBACK.
func (s *Session) endBlock(ctx context.Context, t *ast.Transaction, r *Result) (string, error) {
	if !s.tx.block || s.tx.implicit {
		what := strings.ToUpper(t.Op)
		if t.Chain {
			return "", sqlerr.New(sqlerr.NoActiveTransaction, "%s AND CHAIN can only be used in transaction blocks", what)
		}
		r.warn(sqlerr.NoActiveTransaction, "there is no transaction in progress")
		if !s.tx.block {
			return what, nil
		}
	}
	return s.finish(ctx, t, r)
}

// finish ends the open transaction, whoever opened it, and gives the command tag.
func (s *Session) finish(ctx context.Context, t *ast.Transaction, r *Result) (string, error) {
	tag := "COMMIT"
	if t.Op == "rollback" || s.tx.failed {
		tag = "ROLLBACK"
	}
	var err error
	if tag == "COMMIT" {
		if err = s.publish(ctx, r); err == nil {
			err = s.commitTemporary(ctx)
		}
	} else {
		s.restore(ctx, nil)
	}
	if tag == "ROLLBACK" || err != nil {
		s.restoreTemporary(s.tx.temp)
	}
	chain := s.modes()
	s.settings.endTx(tag == "COMMIT" && err == nil)
	s.closeCursors(true)
	s.tx = transaction{}
	s.loaded, s.host = nil, nil
	if err != nil {
		return "", err
	}
	if t.Chain {
		s.begin(chain)
	}
	return tag, nil
}

// needOwnBlock refuses what is for the blocks that the client has begun itself; needBlock is content
// with an implicit one.
func (s *Session) needOwnBlock(what string) error {
	if s.tx.implicit {
		return sqlerr.New(sqlerr.NoActiveTransaction, "%s can only be used in transaction blocks", what)
	}
	return s.needBlock(what)
}

func (s *Session) needBlock(what string) error {
	if s.tx.block {
		return nil
	}
	return sqlerr.New(sqlerr.NoActiveTransaction, "%s can only be used in transaction blocks", what)
}

// findSavepoint finds the newest savepoint of the name.
func (s *Session) findSavepoint(name string) (int, error) {
	for i := len(s.tx.savepoints) - 1; i >= 0; i-- {
		if s.tx.savepoints[i].name == name {
			return i, nil
		}
	}
	return 0, sqlerr.New(sqlerr.InvalidSavepoint, "savepoint %q does not exist", name)
}

func copyMap(m map[string]string) map[string]string {
	c := make(map[string]string, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
