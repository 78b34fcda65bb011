package engine

import (
	"context"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// What a transaction block changes and defines is pending in a lake.Transaction over each catalog
// that it touches: catalogOf gives the block that one, so that all its statements see it, and
// nobody else does. COMMIT publishes it, ROLLBACK forgets it, a savepoint keeps a state of it.

// inTransaction is the catalog as the open block has made it.
func (s *Session) inTransaction(c lake.Catalog) *lake.Transaction {
	t := s.tx.catalogs[c.Name()]
	if t == nil {
		if s.tx.catalogs == nil {
			s.tx.catalogs = map[string]*lake.Transaction{}
		}
		t = lake.Begin(c)
		s.tx.catalogs[c.Name()] = t
	}
	t.Stepwise = s.tx.statement || s.settings.bool("lhsql.stepwise_commit")
	return t
}

// states are what is pending now.
func (t *transaction) states() map[string]lake.TransactionState {
	out := map[string]lake.TransactionState{}
	for name, c := range t.catalogs {
		out[name] = c.State()
	}
	return out
}

// restore brings back what was pending at a savepoint; nil: nothing.
func (s *Session) restore(ctx context.Context, states map[string]lake.TransactionState) {
	for name, t := range s.tx.catalogs {
		t.Restore(ctx, states[name])
	}
	s.loaded, s.host = nil, nil
}

// publish commits what is pending, all of it or nothing.
func (s *Session) publish(ctx context.Context, r *Result) error {
	var t *lake.Transaction
	for _, c := range s.tx.catalogs {
		switch {
		case c.Empty():
			c.Restore(ctx, lake.TransactionState{})
		case t != nil:
			s.restore(ctx, nil)
			return sqlerr.New(sqlerr.FeatureNotSupported, "one transaction cannot write tables of several catalogs")
		default:
			t = c
		}
	}
	if t == nil {
		return s.commitPrivileges(ctx, false)
	}
	leftover, err := t.Publish(ctx)
	if leftover != nil {
		r.warn("01000", "the files of a dropped table could not be removed: %v", leftover)
	}
	if err != nil {
		return definitionError(err)
	}
	return s.commitPrivileges(ctx, true)
}

// atomically runs what a statement does in several steps as a transaction, if it is in none: all of it
// happens or nothing. A catalog that cannot do that takes the steps one after the other.
func (s *Session) atomically(ctx context.Context, r *Result, f func() error) error {
	if s.tx.block {
		return f()
	}
	was := s.tx
	s.tx = transaction{block: true, statement: true, temp: s.temporaryState()}
	defer func() {
		s.tx = was
		s.loaded, s.host = nil, nil
	}()
	err := f()
	if err == nil {
		err = s.publish(ctx, r)
	} else {
		s.restore(ctx, nil)
	}
	if err != nil {
		s.restoreTemporary(s.tx.temp)
	}
	return err
}
