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
	block      bool // BEGIN was given
	statement  bool // it is one statement's
	failed     bool // only ROLLBACK helps
	queried    bool // a statement has seen data
	start      time.Time
	savepoints []savepoint
	catalogs   map[string]*lake.Transaction // those that it has touched, as it has made them
	temp       lake.TemporaryState          // the temporary tables at its start
}

// savepoint remembers what ROLLBACK TO restores.
type savepoint struct {
	name     string
	settings map[string]string
	catalogs map[string]lake.TransactionState
	temp     lake.TemporaryState
}

func (t *transaction) open() bool { return t.block }

// Status is the letter of ReadyForQuery: 'I' idle, 'T' in a transaction block, 'E' in a failed one.
func (s *Session) Status() byte {
	switch {
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

// EndImplicit ends the implicit transaction of a simple query or of a pipeline up to Sync.
func (s *Session) EndImplicit(ctx context.Context) error {
	if !s.tx.block {
		s.settings.endTx(true)
		s.closeCursors(true)
	}
	err := s.endTemporary(ctx)
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
		if s.tx.block {
			r.warn(sqlerr.ActiveTransaction, "there is already a transaction in progress")
			return tag, s.changeModes(t)
		}
		s.begin(t)
		return tag, nil
	case "commit", "rollback":
		return s.endBlock(ctx, t, r)
	case "savepoint":
		if err := s.needBlock("SAVEPOINT"); err != nil {
			return "", err
		}
		s.tx.savepoints = append(s.tx.savepoints, savepoint{t.Name, copyMap(s.settings.values), s.tx.states(), s.temporaryState()})
		return "SAVEPOINT", nil
	case "release":
		if err := s.needBlock("RELEASE SAVEPOINT"); err != nil {
			return "", err
		}
		i, err := s.findSavepoint(t.Name)
		if err == nil {
			s.tx.savepoints = s.tx.savepoints[:i]
		}
		return "RELEASE", err
	case "rollback to":
		if err := s.needBlock("ROLLBACK TO SAVEPOINT"); err != nil {
			return "", err
		}
		i, err := s.findSavepoint(t.Name)
		if err != nil {
			return "", err
		}
		s.settings.values = copyMap(s.tx.savepoints[i].settings)
		s.restore(ctx, s.tx.savepoints[i].catalogs)
		s.restoreTemporary(s.tx.savepoints[i].temp)
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

func (s *Session) endBlock(ctx context.Context, t *ast.Transaction, r *Result) (string, error) {
	tag := "COMMIT"
	if t.Op == "rollback" || s.tx.failed {
		tag = "ROLLBACK"
	}
	if !s.tx.block {
		if t.Chain {
			return "", sqlerr.New(sqlerr.NoActiveTransaction, "%s AND CHAIN can only be used in transaction blocks", strings.ToUpper(t.Op))
		}
		r.warn(sqlerr.NoActiveTransaction, "there is no transaction in progress")
		return tag, nil
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
