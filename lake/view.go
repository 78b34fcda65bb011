package lake

import (
	"context"
	"encoding/json"
	"sort"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// View is an Iceberg view at its current version (view spec, version 1).
type View struct {
	Name             Name
	UUID             string
	MetadataLocation string
	Location         string
	VersionID        int64
	Time             time.Time
	Schema           *Schema
	// Representations are the view's SQL texts by dialect, in lower case ("spark", "trino",
	// "lhsql", …). Unqualified names in them belong to the default catalog and namespace.
	Representations map[string]string
	// SQL is the representation that lhsql reads: its own, PostgreSQL's, else another's.
	SQL              string
	DefaultCatalog   string
	DefaultNamespace string
	Properties       map[string]string

	raw []byte
}

// ViewCatalog is the part of Catalog that readers of views need.
type ViewCatalog interface {
	LoadView(ctx context.Context, n Name) (*View, error)
}

// ColumnNames are the names of the view's columns; nil if it has no schema.
func (v *View) ColumnNames() []string {
	if v.Schema == nil {
		return nil
	}
	var out []string
	for i := range v.Schema.Fields {
		out = append(out, v.Schema.Fields[i].Name)
	}
	return out
}

// pick chooses the representation that is nearest to our own dialect.
func (v *View) pick() string {
	for _, d := range []string{engineName, "postgres", "postgresql", "duckdb", "trino", "spark", "mysql"} {
		if s, ok := v.Representations[d]; ok {
			return s
		}
	}
	dialects := make([]string, 0, len(v.Representations))
	for d := range v.Representations {
		dialects = append(dialects, d)
	}
	sort.Strings(dialects)
	for _, d := range dialects {
		return v.Representations[d]
	}
	return ""
}

// ViewSpec describes a view, or a new version of one.
type ViewSpec struct {
	Schema           *Schema // ids need not be set
	Representations  map[string]string
	DefaultCatalog   string
	DefaultNamespace string
	Properties       map[string]string
}

type viewJSON struct {
	FormatVersion  int               `json:"format-version"`
	UUID           string            `json:"view-uuid"`
	Location       string            `json:"location"`
	CurrentVersion int64             `json:"current-version-id"`
	Versions       []viewVersionJSON `json:"versions"`
	Schemas        []json.RawMessage `json:"schemas"`
	VersionLog     []viewLogJSON     `json:"version-log"`
	Properties     looseStrings      `json:"properties,omitempty"`
}

type viewVersionJSON struct {
	ID               int64             `json:"version-id"`
	SchemaID         int               `json:"schema-id"`
	TimestampMs      int64             `json:"timestamp-ms"`
	Summary          looseStrings      `json:"summary"`
	Representations  []json.RawMessage `json:"representations"`
	DefaultCatalog   *string           `json:"default-catalog,omitempty"`
	DefaultNamespace []string          `json:"default-namespace"`
}

type viewLogJSON struct {
	TimestampMs int64 `json:"timestamp-ms"`
	VersionID   int64 `json:"version-id"`
}

type viewSQLJSON struct {
	Type    string `json:"type"`
	SQL     string `json:"sql"`
	Dialect string `json:"dialect"`
}

func parseView(n Name, loc string, b []byte) (*View, error) {
	b, err := gunzip(b)
	if err != nil {
		return nil, err
	}
	var j viewJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, err
	}
	if j.FormatVersion != 1 {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "view %s has format version %d, which is not supported", n, j.FormatVersion)
	}
	v := &View{Name: n, UUID: j.UUID, MetadataLocation: loc, Location: j.Location, VersionID: j.CurrentVersion,
		Representations: map[string]string{}, Properties: j.Properties, raw: b}
	for _, ver := range j.Versions {
		if ver.ID != j.CurrentVersion {
			continue
		}
		v.Time = time.UnixMilli(ver.TimestampMs).UTC()
		v.DefaultNamespace = strings.Join(ver.DefaultNamespace, ".")
		if ver.DefaultCatalog != nil {
			v.DefaultCatalog = *ver.DefaultCatalog
		}
		for _, raw := range ver.Representations {
			var r viewSQLJSON
			if json.Unmarshal(raw, &r) == nil && r.Type == "sql" {
				v.Representations[strings.ToLower(r.Dialect)] = r.SQL
			}
		}
		for _, raw := range j.Schemas {
			var s schemaJSON
			if err := json.Unmarshal(raw, &s); err != nil {
				return nil, err
			}
			if s.id() == ver.SchemaID {
				if v.Schema, err = s.schema(); err != nil {
					return nil, err
				}
			}
		}
		v.SQL = v.pick()
		return v, nil
	}
	return nil, sqlerr.New(sqlerr.DataCorrupted, "view %s has no version with the current id %d", n, j.CurrentVersion)
}

// lastVersion is the highest id of the view's versions.
func (v *View) lastVersion() int64 {
	var j viewJSON
	_ = json.Unmarshal(v.raw, &j) // it was read from there
	id := v.VersionID
	for _, ver := range j.Versions {
		id = max(id, ver.ID)
	}
	return id
}

// spec is what makes the view's current version anew.
func (v *View) spec() ViewSpec {
	s := ViewSpec{Schema: &Schema{}, Representations: v.Representations, DefaultCatalog: v.DefaultCatalog,
		DefaultNamespace: v.DefaultNamespace, Properties: v.Properties}
	if v.Schema != nil {
		s.Schema = v.Schema
	}
	return s
}

// version makes the JSON of a view's next version with the given schema id.
func (s *ViewSpec) version(id int64, schemaID int, at time.Time) viewVersionJSON {
	v := viewVersionJSON{ID: id, SchemaID: schemaID, TimestampMs: at.UnixMilli(),
		Summary: looseStrings{"engine-name": engineName, "engine-version": engineVersion}, DefaultNamespace: []string{}}
	if s.DefaultNamespace != "" {
		v.DefaultNamespace = strings.Split(s.DefaultNamespace, ".")
	}
	if s.DefaultCatalog != "" {
		v.DefaultCatalog = &s.DefaultCatalog
	}
	dialects := make([]string, 0, len(s.Representations))
	for d := range s.Representations {
		dialects = append(dialects, d)
	}
	sort.Strings(dialects)
	for _, d := range dialects {
		raw, _ := json.Marshal(viewSQLJSON{Type: "sql", SQL: s.Representations[d], Dialect: d})
		v.Representations = append(v.Representations, raw)
	}
	return v
}

// nextView is the metadata of a new view, or of old with one version more.
func nextView(spec ViewSpec, old *View, location string, at time.Time) ([]byte, error) {
	j := viewJSON{FormatVersion: 1, UUID: uuid.NewString(), Location: location}
	if old != nil {
		if err := json.Unmarshal(old.raw, &j); err != nil {
			return nil, err
		}
	}
	schema := spec.Schema.fresh(new(int))
	for _, raw := range j.Schemas {
		var s schemaJSON
		if json.Unmarshal(raw, &s) == nil {
			schema.ID = max(schema.ID, s.id()+1)
		}
	}
	raw, err := json.Marshal(schema.json())
	if err != nil {
		return nil, err
	}
	j.Schemas = append(j.Schemas, raw)
	id := int64(1)
	for _, v := range j.Versions {
		id = max(id, v.ID+1)
	}
	j.Versions = append(j.Versions, spec.version(id, schema.ID, at))
	j.CurrentVersion = id
	j.VersionLog = append(j.VersionLog, viewLogJSON{TimestampMs: at.UnixMilli(), VersionID: id})
	if j.Properties == nil {
		j.Properties = looseStrings{}
	}
	for k, v := range spec.Properties {
		j.Properties[k] = v
	}
	return json.Marshal(j)
}

const isView = " AND iceberg_type = 'VIEW'"

func (c *sqlCatalog) needViews() error {
	if c.typed {
		return nil
	}
	return sqlerr.New(sqlerr.FeatureNotSupported, "catalog %s has an old layout that cannot hold views", c.name).
		WithHint("Set the catalog property schema_version = v1 to add the column iceberg_type.")
}

func (c *sqlCatalog) Views(ctx context.Context, ns string) ([]Name, error) {
	if err := c.needNamespace(ctx, ns); err != nil || !c.typed {
		return nil, err
	}
	list, err := c.strings(ctx, "SELECT table_name FROM iceberg_tables WHERE catalog_name = ? AND table_namespace = ?"+isView+" ORDER BY table_name", c.name, ns)
	return c.names(ns, list), err
}

func (c *sqlCatalog) LoadView(ctx context.Context, n Name) (*View, error) {
	n.Catalog = c.name
	if !c.typed {
		return nil, &NotFound{What: "view", Name: n.String()}
	}
	loc, err := c.pointerOf(ctx, n, isView, "view")
	if err != nil {
		return nil, err
	}
	v, err := c.store.known.Get(ctx, "view:"+n.String()+" "+identity(ctx, c.store, Canonical(loc)), func() (any, int64, error) {
		b, err := c.store.ReadAll(ctx, loc)
		if err != nil {
			return nil, 0, err
		}
		v, err := parseView(n, loc, b)
		return v, int64(len(b))*3 + 1024, err
	})
	if err != nil {
		return nil, fileError(err, "read view metadata", loc)
	}
	view := *v.(*View)
	view.Name = n
	return &view, nil
}

func (c *sqlCatalog) CreateView(ctx context.Context, n Name, spec ViewSpec, replace bool) (*View, error) {
	if err := c.needViews(); err != nil {
		return nil, err
	}
	if err := checkName(n); err != nil {
		return nil, err
	}
	old, err := c.LoadView(ctx, n)
	if _, missing := err.(*NotFound); err != nil && !missing {
		return nil, err
	}
	if old != nil && !replace {
		return nil, &Exists{What: "view", Name: n.String()}
	}
	m := pointerMove{name: n}
	location := ""
	if old != nil {
		m.from, location = old.MetadataLocation, old.Location
	} else {
		props, err := c.NamespaceProperties(ctx, n.Namespace)
		if err != nil {
			return nil, err
		}
		if location, err = c.defaultLocation(n, props); err != nil {
			return nil, err
		}
	}
	at := clock.Now(ctx)
	b, err := nextView(spec, old, location, at)
	if err != nil {
		return nil, err
	}
	if m.to, err = c.writeView(ctx, location, m.from, b); err != nil {
		return nil, err
	}
	err = c.certainly(ctx, "view "+n.String(), func(ctx context.Context, db sqlExec) error { return c.moveOne(ctx, db, m, "VIEW") })
	if err != nil {
		if Outcome(err) != Unknown {
			_ = c.store.Remove(context.WithoutCancel(ctx), m.to)
		}
		return nil, err
	}
	return c.LoadView(ctx, n)
}

// writeView writes a view's metadata beside what was there at previous ("": nothing), and gives
// the file's place.
func (c *sqlCatalog) writeView(ctx context.Context, location, previous string, b []byte) (string, error) {
	loc := location + "/metadata/" + nextMetadataName(previous, false)
	if err := allowed(Canonical(loc), c.prefixes); err != nil {
		return "", err
	}
	if err := c.store.Create(ctx, loc, b); err != nil {
		return "", fileError(err, "write view metadata", loc)
	}
	return loc, nil
}

func (c *sqlCatalog) removeView(ctx context.Context, loc string) error {
	return c.store.Remove(ctx, loc)
}

func (c *sqlCatalog) DropView(ctx context.Context, n Name) error {
	if !c.typed {
		return &NotFound{What: "view", Name: n.String()}
	}
	return c.dropRow(ctx, n, isView, "view")
}

func (c *sqlCatalog) RenameView(ctx context.Context, from, to Name) error {
	if !c.typed {
		return &NotFound{What: "view", Name: from.String()}
	}
	return c.renameRow(ctx, from, to, isView, "view")
}
