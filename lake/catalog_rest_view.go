package lake

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/view"
	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// viewCommit is the entry of a view version's summary that tells who made it, as a snapshot's does.
const viewCommit = "lhsql.commit-uuid"

// CreateView makes a view, or gives the one that is there another version: the protocol has an
// update for that, so that the old versions stay and nobody finds the view gone meanwhile.
func (c *restCatalog) CreateView(ctx context.Context, n Name, spec ViewSpec, replace bool) (*View, error) {
	if err := checkName(n); err != nil {
		return nil, err
	}
	commit := uuid.NewString()
	schema, version, err := spec.forServer(commit, clockOf(ctx, SystemClock).Now())
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		old, err := c.LoadView(ctx, n)
		gone, err := missing(err)
		switch {
		case err != nil:
			return nil, err
		case !gone && !replace:
			return nil, &Exists{What: "view", Name: n.String()}
		case gone:
			err = c.ask(ctx, "view", n.String(), func(ctx context.Context) error {
				_, err := c.client.CreateView(ctx, ident(n), version, schema, catalog.WithViewProperties(spec.Properties))
				return err
			}, true, func(ctx context.Context) (bool, error) { return c.hasVersion(ctx, n, commit) })
		default:
			err = c.replaceView(ctx, n, old, spec, schema, version, commit)
		}
		var exists *Exists
		switch {
		case err == nil:
			return c.LoadView(ctx, n)
		case replace && (errors.Is(err, errLostRace) || errors.As(err, &exists)):
			if _, e := c.Load(ctx, n); e == nil {
				return nil, &Exists{What: "table", Name: n.String()}
			}
			// Another writer was first. What is replaced is whatever view is there.
			if try > policyOf(nil).tries {
				return nil, conflict("other writers changed view %s first %d times", n.Table, try)
			}
			if err := clockOf(ctx, SystemClock).Sleep(ctx, policyOf(nil).wait(try)); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

// replaceView adds a version to the view that old is.
func (c *restCatalog) replaceView(ctx context.Context, n Name, old *View, spec ViewSpec, schema *iceberg.Schema, version *view.Version, commit string) error {
	id, err := uuid.Parse(old.UUID)
	if err != nil {
		return sqlerr.New(sqlerr.DataCorrupted, "view %s has no valid UUID (%q)", n, old.UUID)
	}
	next := *version
	next.VersionID = old.lastVersion() + 1
	var updates []view.Update
	if has, ok := old.schemaLike(schema); ok {
		next.SchemaID = has // a server does not count it as added
	} else {
		next.SchemaID = -1 // the one that is added
		updates = append(updates, view.NewAddSchemaUpdate(schema))
	}
	updates = append(updates, view.NewAddViewVersionUpdate(&next), view.NewSetCurrentVersionUpdate(-1))
	if len(spec.Properties) > 0 {
		updates = append(updates, view.NewSetPropertiesUpdate(spec.Properties))
	}
	unsupported := false
	err = c.ask(ctx, "view", n.String(), func(ctx context.Context) error {
		_, err := c.client.UpdateView(ctx, ident(n), []view.Requirement{view.AssertViewUUID(id)}, updates)
		unsupported = errors.Is(err, rest.ErrEndpointNotSupported)
		return err
	}, true, func(ctx context.Context) (bool, error) { return c.hasVersion(ctx, n, commit) })
	if unsupported {
		return sqlerr.New(sqlerr.FeatureNotSupported, "catalog %s cannot replace a view", c.name).
			WithHint("DROP VIEW and CREATE VIEW make it anew; its versions are lost then.")
	}
	return err
}

// schemaLike is the id of a schema of the view that differs from another in no more than its id.
func (v *View) schemaLike(other *iceberg.Schema) (int, bool) {
	var j viewJSON
	if json.Unmarshal(v.raw, &j) != nil {
		return 0, false
	}
	for _, raw := range j.Schemas {
		s := &iceberg.Schema{}
		if json.Unmarshal(raw, s) == nil && s.Equals(other) {
			return s.ID, true
		}
	}
	return 0, false
}

// forServer is the version and its schema as the library has them.
func (s *ViewSpec) forServer(commit string, at time.Time) (*iceberg.Schema, *view.Version, error) {
	raw, err := json.Marshal(s.Schema.fresh(new(int)).json())
	if err != nil {
		return nil, nil, err
	}
	schema := &iceberg.Schema{}
	if err := json.Unmarshal(raw, schema); err != nil {
		return nil, nil, err
	}
	v := s.version(1, 0, at)
	v.Summary[viewCommit] = commit
	if raw, err = json.Marshal(v); err != nil {
		return nil, nil, err
	}
	version := &view.Version{}
	return schema, version, json.Unmarshal(raw, version)
}

// hasVersion tells whether a view has the version that a commit made.
func (c *restCatalog) hasVersion(ctx context.Context, n Name, commit string) (bool, error) {
	v, err := c.LoadView(ctx, n)
	if err != nil {
		_, err = missing(err)
		return false, err
	}
	var j viewJSON
	if err := json.Unmarshal(v.raw, &j); err != nil {
		return false, err
	}
	for _, ver := range j.Versions {
		if ver.Summary[viewCommit] == commit {
			return true, nil
		}
	}
	return false, nil
}

func (c *restCatalog) DropView(ctx context.Context, n Name) error {
	old, err := c.LoadView(ctx, n)
	return c.ask(ctx, "view", n.String(), func(ctx context.Context) error { return c.client.DropView(ctx, ident(n)) },
		err == nil, func(ctx context.Context) (bool, error) {
			now, err := c.LoadView(ctx, n)
			if err != nil {
				return missing(err)
			}
			return now.UUID != old.UUID, nil
		})
}

func (c *restCatalog) RenameView(ctx context.Context, from, to Name) error {
	if err := checkName(to); err != nil {
		return err
	}
	old, err := c.LoadView(ctx, from)
	return c.ask(ctx, "view", from.String(), func(ctx context.Context) error { return c.rename(ctx, "views", from, to) },
		err == nil, func(ctx context.Context) (bool, error) {
			now, err := c.LoadView(ctx, to)
			if err != nil {
				_, err = missing(err)
				return false, err
			}
			return now.UUID == old.UUID, nil
		})
}
