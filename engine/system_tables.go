package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/types"
)

// Views of the schema system that have rows for every table of the session's catalog. They read each
// table's metadata: a query that names a schema and a table reads that one's alone.

var tableColumns = []any{"table_schema", types.Text, "table_name", types.Text}

// eachTable calls f for the tables that are wanted.
func (s *Session) eachTable(ctx context.Context, equal map[int]types.Datum, f func(n lake.Name) error) error {
	wanted := func(column int, v string) bool {
		d, ok := equal[column]
		return !ok || d.Form() != types.FormStr || d.Str() == v
	}
	cat := s.catalogOf(s.catalog)
	spaces, err := cat.Namespaces(ctx)
	if err != nil {
		return err
	}
	slices.Sort(spaces)
	for _, ns := range spaces {
		if !wanted(0, ns) {
			continue
		}
		names, err := cat.List(ctx, ns)
		if isNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		slices.SortFunc(names, lake.Name.Compare)
		for _, n := range names {
			if !wanted(1, n.Table) {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			n.Catalog = s.catalog
			if sees, err := s.seesTable(ctx, n, ""); err != nil {
				return err
			} else if !sees {
				continue
			}
			if err := f(n); err != nil && !isNotFound(err) {
				return err
			}
		}
	}
	return nil
}

// targetOf is a table for what looks at it.
func (s *Session) targetOf(ctx context.Context, n lake.Name) (maintain.Target, error) {
	t, err := s.loadTable(ctx, n)
	return maintain.Target{Catalog: s.catalogOf(n.Catalog), Table: t, User: s.opts.User}, err
}

// healthRows measures tables. One that cannot be read has one row that says why: it is the least
// healthy of all, and the others are to be seen.
func healthRows(ctx context.Context, s *Session, equal map[int]types.Datum, yield func([]types.Datum) error) error {
	return s.eachTable(ctx, equal, func(n lake.Name) error {
		g, err := s.targetOf(ctx, n)
		if isNotFound(err) {
			return err
		}
		var list []maintain.Measure
		if err == nil {
			list, err = maintain.Health(ctx, g, s.rewriteEnv(ctx, &procedureArgs{}), s.names().quote(n.Namespace)+"."+s.names().quote(n.Table), s.engine.orphansOf(n))
		}
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return yield([]types.Datum{types.NewStr(n.Namespace), types.NewStr(n.Table), types.NewStr("unreadable"), types.Null, types.Null, types.Null, types.NewStr(err.Error())})
		}
		for _, m := range list {
			threshold := types.Null
			if m.Threshold != nil {
				threshold = types.NewInt(*m.Threshold)
			}
			err := yield([]types.Datum{types.NewStr(n.Namespace), types.NewStr(n.Table), types.NewStr(m.Name), types.NewInt(m.Value), threshold, textOrNull(m.Advice), types.Null})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// orphansOf is how many bytes of orphans the last search found and left; nil: none has been made.
func (e *Engine) orphansOf(n lake.Name) *int64 {
	var out *int64
	for _, j := range e.jobs.States() {
		if j.Kind != "remove_orphan_files" || j.Table != n.String() || j.State() != "done" {
			continue
		}
		left := int64(0)
		if j.DryRun {
			left = j.Bytes
		}
		out = &left
	}
	return out
}

// storageRows tell what the bytes in tables' folders are held for.
func storageRows(ctx context.Context, s *Session, equal map[int]types.Datum, yield func([]types.Datum) error) error {
	return s.eachTable(ctx, equal, func(n lake.Name) error {
		g, err := s.targetOf(ctx, n)
		if err != nil {
			return err
		}
		u, shared, err := lake.Usage(ctx, g.Catalog, g.Table)
		if err != nil {
			return errors.Join(ctx.Err(), err)
		}
		for k, x := range u {
			kind := lake.StorageKind(k)
			if shared && kind >= lake.StorageMetadata {
				break
			}
			if err := yield([]types.Datum{types.NewStr(n.Namespace), types.NewStr(n.Table), types.NewStr(kind.String()), types.NewInt(x.Files), types.NewInt(x.Bytes)}); err != nil {
				return err
			}
		}
		return nil
	})
}
