package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/clock"
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
	schema, version := spec.forServer(commit, clock.Now(ctx))
	for try := 1; ; try++ {
		old, err := c.LoadView(ctx, n)
		gone, err := missing(err)
		switch {
		case err != nil:
			return nil, err
		case !gone && !replace:
			return nil, &Exists{What: "view", Name: n.String()}
		case gone:
			err = c.ask(ctx, "view", n.String(), &restRequest{method: http.MethodPost, route: restViews, args: []string{c.client.namespace(n.Namespace)},
				into: &commitTableResponse{}, conflict: &Exists{What: "view", Name: n.String()},
				body: obj{"name": n.Table, "schema": schema.json(), "view-version": version, "properties": given(spec.Properties)}}, true, func(ctx context.Context) (bool, error) { return c.hasVersion(ctx, n, commit, &spec) })
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
			if err := clock.Sleep(ctx, policyOf(nil).wait(try)); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

// replaceView adds a version to the view that old is.
func (c *restCatalog) replaceView(ctx context.Context, n Name, old *View, spec ViewSpec, schema *Schema, version viewVersionJSON, commit string) error {
	version.ID = old.lastVersion() + 1
	var updates []obj
	if has, ok := old.schemaLike(schema); ok {
		version.SchemaID = has // a server does not count it as added
	} else {
		version.SchemaID = -1 // the one that is added
		updates = append(updates, obj{"action": "add-schema", "schema": schema.json(), "last-column-id": schema.maxID()})
	}
	updates = append(updates, obj{"action": "add-view-version", "view-version": version}, obj{"action": "set-current-view-version", "view-version-id": -1})
	if len(spec.Properties) > 0 {
		updates = append(updates, obj{"action": "set-properties", "updates": spec.Properties})
	}
	r := c.object(http.MethodPost, restView, n)
	r.into, r.conflict = &commitTableResponse{}, errLostRace
	r.body = obj{"identifier": restIdentOf(n), "requirements": []obj{{"type": "assert-view-uuid", "uuid": old.UUID}}, "updates": updates}
	err := c.ask(ctx, "view", n.String(), r, true, func(ctx context.Context) (bool, error) { return c.hasVersion(ctx, n, commit, nil) })
	if !c.client.has(http.MethodPost, restView) {
		return sqlerr.New(sqlerr.FeatureNotSupported, "catalog %s cannot replace a view", c.name).
			WithHint("DROP VIEW and CREATE VIEW make it anew; its versions are lost then.")
	}
	return err
}

// schemaLike is the id of a schema of the view that differs from another in no more than its id.
func (v *View) schemaLike(other *Schema) (int, bool) {
	var j viewJSON
	if json.Unmarshal(v.raw, &j) != nil {
		return 0, false
	}
	for _, raw := range j.Schemas {
		var has schemaJSON
		if json.Unmarshal(raw, &has) != nil {
			continue
		}
		if s, err := has.schema(); err == nil && s.like(other) {
			return s.ID, true
		}
	}
	return 0, false
}

// like tells whether two schemas differ in no more than their ids.
func (s *Schema) like(other *Schema) bool {
	a, b := *s, *other
	a.ID, b.ID = 0, 0
	x, err := json.Marshal(a.json())
	y, e := json.Marshal(b.json())
	return err == nil && e == nil && bytes.Equal(x, y)
}

// forServer is the first version of a view, and its schema.
func (s *ViewSpec) forServer(commit string, at time.Time) (*Schema, viewVersionJSON) {
	v := s.version(1, 0, at)
	v.Summary[viewCommit] = commit
	schema := s.Schema.fresh(new(int))
	schema.ID = 0
	return schema, v
}

// hasVersion tells whether a view has the version that a commit made. The Iceberg project's server does
// not keep what the summary of a view's first version says: then a view that was not there before is
// made, the query of which is the one that was sent.
func (c *restCatalog) hasVersion(ctx context.Context, n Name, commit string, made *ViewSpec) (bool, error) {
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
	if made == nil || len(j.Versions) != 1 || j.Versions[0].Summary["engine-name"] != "" {
		return false, nil
	}
	for d, sql := range made.Representations {
		if v.Representations[strings.ToLower(d)] != sql {
			return false, nil
		}
	}
	return len(v.Representations) == len(made.Representations) && v.DefaultNamespace == made.DefaultNamespace, nil
}

func (c *restCatalog) DropView(ctx context.Context, n Name) error {
	old, err := c.LoadView(ctx, n)
	return c.ask(ctx, "view", n.String(), c.object(http.MethodDelete, restView, n),
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
	return c.ask(ctx, "view", from.String(), restRename(restRenameView, "view", from, to),
		err == nil, func(ctx context.Context) (bool, error) {
			now, err := c.LoadView(ctx, to)
			if err != nil {
				_, err = missing(err)
				return false, err
			}
			return now.UUID == old.UUID, nil
		})
}
