package lake

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// newState makes the metadata of a table that has no history.
func newState(version int, location string, now time.Time) (*state, error) {
	doc := obj{"format-version": version, "table-uuid": uuid.NewString(), "location": location,
		"last-updated-ms": now.UnixMilli(), "last-column-id": 0, "schemas": []any{obj{"type": "struct", "schema-id": 0, "fields": []any{}}},
		"current-schema-id": 0, "partition-specs": []any{obj{"spec-id": 0, "fields": []any{}}}, "default-spec-id": 0,
		"last-partition-id": 999, "sort-orders": []any{obj{"order-id": 0, "fields": []any{}}}, "default-sort-order-id": 0,
		"properties": obj{}, "snapshots": []any{}, "snapshot-log": []any{}, "metadata-log": []any{}, "refs": obj{}}
	switch {
	case version == 1:
		doc["schema"] = obj{"type": "struct", "schema-id": 0, "fields": []any{}}
		doc["partition-spec"] = []any{}
	case version >= 2:
		doc["last-sequence-number"] = 0
	}
	if version >= 3 {
		doc["next-row-id"] = 0
	}
	b, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return parseMetadata(b)
}

func versionOf(props map[string]string) (int, error) {
	switch v := strings.TrimSpace(props["format-version"]); v {
	case "":
		return 2, nil
	case "1", "2", "3":
		return strconv.Atoi(v)
	default:
		return 0, sqlerr.New(sqlerr.InvalidParameterValue, "format version %q is not 1, 2 or 3", v)
	}
}

// define gives a new table its schema, partitioning, order and properties. The first schema,
// spec and order have the ids 0, 0 and 1, as other engines number them.
func (e *Edit) define(spec TableSpec) error {
	if err := distinct(spec.Schema.Fields); err != nil {
		return err
	}
	s := &Schema{Fields: freshFields(spec.Schema.Fields, &e.s.lastColumnID)}
	for i := range s.Fields {
		if err := e.checkNew(&s.Fields[i]); err != nil {
			return err
		}
	}
	retype(s.Fields)
	e.schema = s
	var paths [][]string
	for _, p := range spec.Identifier {
		paths = append(paths, SplitPath(p))
	}
	if len(paths) > 0 {
		if err := e.SetIdentifier(paths); err != nil {
			return err
		}
	}
	if e.created {
		// The placeholder schema makes way: a table's first schema is 0.
		s = e.schema
		e.schema = nil
		s.ID = 0
		e.s.schemas = []*Schema{s}
		e.update("add-schema", obj{"schema": s.json(), "last-column-id": e.s.lastColumnID})
		e.update("set-current-schema", obj{"schema-id": -1})
		for k, v := range (obj{"schemas": schemasJSON(e.s.schemas), "last-column-id": e.s.lastColumnID}) {
			if err := e.set(k, v); err != nil {
				return err
			}
		}
		if e.s.formatVersion == 1 {
			if err := e.set("schema", s.json()); err != nil {
				return err
			}
		}
	} else if err := e.flushSchema(); err != nil {
		return err
	}
	return e.defineLayout(spec)
}

func (e *Edit) defineLayout(spec TableSpec) error {
	e.spec = &PartitionSpec{}
	for _, by := range spec.PartitionBy {
		if err := e.AddPartitionField(by); err != nil {
			return err
		}
	}
	if e.created {
		sp := e.spec
		e.spec = nil
		e.s.specs = []*PartitionSpec{sp}
		e.update("add-spec", obj{"spec": specJSON{Fields: specFieldsJSON(sp)}})
		e.update("set-default-spec", obj{"spec-id": -1})
		for k, v := range (obj{"partition-specs": specsJSON(e.s.specs), "last-partition-id": e.s.lastPartitionID}) {
			if err := e.set(k, v); err != nil {
				return err
			}
		}
		if e.s.formatVersion == 1 {
			if err := e.set("partition-spec", specFieldsJSON(sp)); err != nil {
				return err
			}
		}
		if len(spec.SortBy) > 0 { // the unsorted order 0 is not listed where there is another
			e.s.sortOrders = nil
			e.s.defaultSortID = -1
		} else {
			e.update("add-sort-order", obj{"sort-order": e.s.sortOrders[0].json()})
			e.update("set-default-sort-order", obj{"sort-order-id": -1})
		}
	} else if err := e.flushSpec(); err != nil {
		return err
	}
	if len(spec.SortBy) > 0 || !e.created {
		if err := e.SetSortOrder(spec.SortBy); err != nil {
			return err
		}
	}
	props := map[string]string{}
	for k, v := range spec.Properties {
		if k != "format-version" {
			props[k] = v
		}
	}
	if err := e.SetProperties(props); err != nil {
		return err
	}
	for _, c := range spec.Checks {
		fields := e.Schema().Fields
		c, err := c.Placed(func(i int) (int, bool) {
			if i >= len(fields) {
				return 0, false
			}
			return fields[i].ID, true
		})
		if err == nil {
			err = e.AddCheck(c)
		}
		if err != nil {
			return err
		}
	}
	return e.defineKeys(spec)
}

// defineKeys adds the keys of a table that is made.
func (e *Edit) defineKeys(spec TableSpec) error {
	fields := e.Schema().Fields
	ids := func(places []int) []int {
		out := make([]int, len(places))
		for i, p := range places {
			out[i] = fields[p].ID
		}
		return out
	}
	for _, k := range spec.Keys {
		k.Columns = ids(k.Columns)
		if err := e.AddKey(k); err != nil {
			return err
		}
	}
	for _, k := range spec.ForeignKeys {
		k.Columns = ids(k.Columns)
		if err := e.AddForeignKey(k); err != nil {
			return err
		}
	}
	return e.keepDeclared(e.Schema())
}

func distinct(fields []Field) error {
	seen := map[string]bool{}
	for i := range fields {
		if seen[fields[i].Name] {
			return sqlerr.New(sqlerr.DuplicateColumn, "column %q specified more than once", fields[i].Name)
		}
		seen[fields[i].Name] = true
		if fields[i].Iceberg == "struct" {
			if err := distinct(fields[i].Children); err != nil {
				return err
			}
		}
	}
	return nil
}

// clear starts a table anew on its old metadata: no rows, no properties, history kept.
func (e *Edit) clear() error {
	var keys []string
	for k := range e.s.properties {
		keys = append(keys, k)
	}
	if err := e.RemoveProperties(keys); err != nil {
		return err
	}
	if _, ok := e.ref("main"); !ok {
		return nil
	}
	var rest []Ref
	for _, r := range e.s.refs {
		if r.Name != "main" {
			rest = append(rest, r)
		}
	}
	e.s.refs, e.s.currentSnapshot = rest, nil
	e.update("remove-snapshot-ref", obj{"ref-name": "main"})
	delete(e.doc, "current-snapshot-id")
	return e.setRefs()
}

// stage makes a new table's metadata in memory.
func stage(ctx context.Context, store FS, n Name, spec TableSpec, location string, prefixes []string) (*Table, error) {
	if spec.Schema == nil {
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "table %s has no columns", n.Table)
	}
	version, err := versionOf(spec.Properties)
	if err != nil {
		return nil, err
	}
	now := millisecond(clock.Now(ctx))
	s, err := newState(version, location, now)
	if err != nil {
		return nil, err
	}
	e, err := newEdit(s, now)
	if err != nil {
		return nil, err
	}
	e.created = true
	e.update("assign-uuid", obj{"uuid": s.uuid})
	e.update("upgrade-format-version", obj{"format-version": version})
	e.update("set-location", obj{"location": location})
	e.require("assert-create", nil)
	if err := e.define(spec); err != nil {
		return nil, err
	}
	t, err := staged(store, n, e, prefixes)
	if err != nil {
		return nil, err
	}
	// Where the table may write is the catalog's business: its location decides nothing.
	if err := allowed(Canonical(location), t.place.fs.(*guardFS).prefixes); err != nil {
		return nil, err
	}
	return t, nil
}

// staged wraps an Edit that is not committed as a table, to write files for.
func staged(store FS, n Name, e *Edit, prefixes []string) (*Table, error) {
	if err := e.flush(); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(e.doc)
	if err != nil {
		return nil, err
	}
	s, err := parseMetadata(raw)
	if err != nil {
		return nil, err
	}
	p := &place{store: store, cache: knownBy(store), fs: &guardFS{inner: store, prefixes: prefixes}}
	return &Table{Name: n, state: *s, place: p, staged: e}, nil
}

func gzipped(b []byte) ([]byte, error) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write(b); err != nil {
		return nil, err
	}
	err := w.Close()
	return z.Bytes(), err
}

func (c *sqlCatalog) Stage(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	if err := checkName(n); err != nil {
		return nil, err
	}
	if err := c.needNamespace(ctx, n.Namespace); err != nil {
		return nil, err
	}
	n.Catalog = c.name
	old, err := c.Load(ctx, n)
	var missing *NotFound
	switch {
	case err == nil && !spec.Replace:
		return nil, &Exists{What: "table", Name: n.String()}
	case err == nil:
		return replacing(ctx, old, spec)
	case !errors.As(err, &missing):
		return nil, err
	}
	if _, err := c.LoadView(ctx, n); err == nil {
		return nil, &Exists{What: "view", Name: n.String()}
	}
	props, err := c.NamespaceProperties(ctx, n.Namespace)
	if err != nil {
		return nil, err
	}
	return c.stageNew(ctx, n, spec, props)
}

// stageNew implements definer.
func (c *sqlCatalog) stageNew(ctx context.Context, n Name, spec TableSpec, props map[string]string) (*Table, error) {
	location := spec.Location
	if location == "" {
		var err error
		if location, err = c.defaultLocation(n, props); err != nil {
			return nil, err
		}
		if location, err = c.ownFolder(ctx, location); err != nil {
			return nil, err
		}
	}
	return stage(ctx, c.store, n, spec, strings.TrimRight(absolute(location), "/"), c.prefixes)
}

// ownFolder is location, or one beside it where that holds files: of a table that was renamed,
// dropped without PURGE, or is being made. Tables that share a folder are not safe from what other
// engines remove as orphans.
func (c *sqlCatalog) ownFolder(ctx context.Context, location string) (string, error) {
	err := c.store.List(ctx, Canonical(absolute(location))+"/", func(o Object) error {
		if o.Partial {
			return nil
		}
		return fs.ErrExist
	})
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return location, nil
	}
	// What may not be listed is not known to be empty.
	return location + "-" + uuid.NewString()[:8], ctx.Err()
}

// Staged tells that the table is about to be made or replaced by CommitStaged.
func (t *Table) Staged() bool { return t.staged != nil }

// replacing stages CREATE OR REPLACE of a table that exists.
func replacing(ctx context.Context, old *Table, spec TableSpec) (*Table, error) {
	if old.Moved() {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "table %s was moved: it can only be read", old.Name.Table)
	}
	e, err := newEdit(&old.state, nextInstant(ctx, old))
	if err != nil {
		return nil, err
	}
	if old.uuid != "" {
		e.require("assert-table-uuid", obj{"uuid": old.uuid})
	}
	if r, ok := e.ref("main"); ok {
		e.require("assert-ref-snapshot-id", obj{"ref": "main", "snapshot-id": r.SnapshotID})
	}
	if err := e.clear(); err != nil {
		return nil, err
	}
	if v := spec.Properties["format-version"]; v != "" {
		if err := e.upgradeText(v); err != nil {
			return nil, err
		}
	}
	if err := e.define(spec); err != nil {
		return nil, err
	}
	t, err := staged(old.place.store, old.Name, e, old.place.fs.(*guardFS).prefixes)
	if err == nil {
		t.pointer, t.MetadataLocation = old.pointer, old.MetadataLocation
	}
	return t, err
}

func (c *sqlCatalog) Create(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	t, err := c.Stage(ctx, n, spec)
	if err != nil {
		return nil, err
	}
	return c.CommitStaged(ctx, t, Change{})
}

func (c *sqlCatalog) CommitStaged(ctx context.Context, t *Table, ch Change) (*Table, error) {
	return c.engine.commitStaged(ctx, t, ch)
}

// commitStaged commits a staged table once: if its name was taken or its pointer moved
// meanwhile, that is a conflict.
func (g *commitEngine) commitStaged(ctx context.Context, t *Table, c Change) (*Table, error) {
	if t.staged == nil {
		return nil, errors.New("the table was not staged")
	}
	c.Base = t
	out, err := g.commit(ctx, []TableChange{{t.Name, c}})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// again is the same edit once more, for another try.
func (e *Edit) again(now time.Time) *Edit {
	c := *e
	c.s, c.doc, c.renamed, c.now = e.s.clone(), maps.Clone(e.doc), maps.Clone(e.renamed), now
	c.updates, c.requires = slices.Clip(e.updates), slices.Clip(e.requires)
	return &c
}

func (c *sqlCatalog) Commit(ctx context.Context, n Name, ch Change) (*Table, error) {
	out, err := c.CommitAll(ctx, []TableChange{{n, ch}})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

func (c *sqlCatalog) CommitAll(ctx context.Context, changes []TableChange) ([]*Table, error) {
	seen := map[Name]bool{}
	for i := range changes {
		changes[i].Name.Catalog = c.name
		if seen[changes[i].Name] {
			return nil, errors.New("a table is changed twice in one commit")
		}
		seen[changes[i].Name] = true
	}
	return c.engine.commit(ctx, changes)
}
