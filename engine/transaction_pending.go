package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// pending is what a transaction block has done to tables, by table. COMMIT publishes it, each
// table's part as one change; until then only the block itself sees it.
type pending map[lake.Name]*lake.Staged

// stage adds a statement's change to the block and makes it what the block sees.
func (s *Session) stage(ctx context.Context, n lake.Name, ch lake.Change) error {
	next, err := s.tx.pending[n].Stage(ctx, ch)
	if err != nil {
		return err
	}
	p := pending{n: next}
	for k, v := range s.tx.pending {
		if k != n {
			p[k] = v
		}
	}
	s.tx.pending = p // a savepoint keeps the map as it was
	s.see(n, next.Table)
	return nil
}

// see makes t what the block reads.
func (s *Session) see(n lake.Name, t *lake.Table) {
	s.moved(n, t)
	if t != nil {
		s.pin(n, t)
	}
}

// publish commits the block's changes, those of several tables atomically or not at all.
func (s *Session) publish(ctx context.Context) error {
	p := s.tx.pending
	s.tx.pending = nil
	if len(p) == 0 {
		return nil
	}
	var changes []lake.TableChange
	catalog := ""
	// In one order whoever commits: two blocks that lock the same rows of a catalog in different
	// orders would wait for each other.
	for _, n := range slices.SortedFunc(maps.Keys(p), lake.Name.Compare) {
		st := p[n]
		if catalog != "" && n.Catalog != catalog {
			p.sweep(ctx)
			return sqlerr.New(sqlerr.FeatureNotSupported, "one transaction cannot write tables of several catalogs")
		}
		catalog = n.Catalog
		ch, err := st.Net(ctx)
		if err != nil {
			p.sweep(ctx)
			return err
		}
		changes = append(changes, lake.TableChange{Name: n, Change: ch})
	}
	tables, err := s.commitTables(ctx, catalog, changes)
	err = definitionError(err)
	switch {
	case err == nil:
		for i, t := range tables {
			s.moved(changes[i].Name, t)
			p[changes[i].Name].Sweep(ctx, &changes[i].Change)
		}
	case lake.Outcome(err) != lake.Unknown:
		p.sweep(ctx)
	}
	for n := range p {
		if err != nil {
			s.moved(n, nil)
		}
	}
	return err
}

func (s *Session) commitTables(ctx context.Context, catalog string, changes []lake.TableChange) ([]*lake.Table, error) {
	c := s.engine.catalogs[catalog]
	if len(changes) > 1 {
		return c.CommitAll(ctx, changes)
	}
	t, err := c.Commit(ctx, changes[0].Name, changes[0].Change)
	return []*lake.Table{t}, err
}

// sweep removes the files of changes that were not published.
func (p pending) sweep(ctx context.Context) {
	for _, st := range p {
		st.Sweep(ctx, nil)
	}
}

// discardPending forgets what the block has written.
func (s *Session) discardPending() {
	s.tx.pending.sweep(context.Background())
	for n := range s.tx.pending {
		s.moved(n, nil)
	}
	s.tx.pending = nil
}

// restore brings back what was pending at a savepoint.
func (s *Session) restore(ctx context.Context, p pending) {
	for n, st := range s.tx.pending {
		was := p[n]
		if was == st {
			continue
		}
		st.SweepSince(ctx, was)
		if was == nil {
			s.see(n, st.Base)
		} else {
			s.see(n, was.Table)
		}
	}
	s.tx.pending = p
}
