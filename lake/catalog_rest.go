package lake

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"sort"
	"strings"
	"sync"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/view"
	"github.com/lhsql/lhsql/internal/redact"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// restCatalog speaks the REST catalog protocol through the Iceberg library's client, which does
// authentication. Commits are sent as updates and requirements that the server applies.
type restCatalog struct {
	name   string
	props  map[string]string
	client *rest.Catalog
	store  *Store // by the properties alone, for tables of which the server says nothing else
	engine commitEngine

	mu     sync.Mutex
	stores map[string]*Store // by storeKey
}

func openREST(ctx context.Context, name string, props map[string]string) (Catalog, error) {
	var opts []rest.Option
	extra := iceberg.Properties{}
	for k, v := range props {
		switch k {
		case "uri", "type", "lhsql.allowed-locations":
		case "token":
			opts = append(opts, rest.WithOAuthToken(v))
		case "credential":
			opts = append(opts, rest.WithCredential(v))
		case "warehouse":
			opts = append(opts, rest.WithWarehouseLocation(v))
		case "prefix":
			opts = append(opts, rest.WithPrefix(v))
		case "scope":
			opts = append(opts, rest.WithScope(v))
		case "audience":
			opts = append(opts, rest.WithAudience(v))
		case "resource":
			opts = append(opts, rest.WithResource(v))
		default:
			extra[k] = v
		}
	}
	opts = append(opts, rest.WithAdditionalProps(extra))
	client, err := rest.NewCatalog(ctx, name, props["uri"], opts...)
	if err != nil {
		return nil, sqlerr.Wrap(redact.Error(err, props), sqlerr.ConnectionException, "open catalog %s", name)
	}
	c := &restCatalog{name: name, props: props, client: client, store: NewStore(props)}
	c.engine = commitEngine{pointers: c, load: func(ctx context.Context, n Name, _ string) (*Table, error) { return c.Load(ctx, n) }, send: c.send}
	return c, nil
}

func (c *restCatalog) Name() string                  { return c.name }
func (c *restCatalog) Properties() map[string]string { return c.props }
func (c *restCatalog) Close() error                  { return c.client.Close() }
func (c *restCatalog) commits() *commitEngine        { return &c.engine }

func (c *restCatalog) needViews() error { return nil }

// viewFolder implements definer: the server decides.
func (c *restCatalog) viewFolder(Name, map[string]string) (string, error) { return "", nil }

func levels(ns string) table.Identifier { return strings.Split(ns, ".") }

func ident(n Name) table.Identifier { return append(levels(n.Namespace), n.Table) }

// fail gives the library's errors our names.
func (c *restCatalog) fail(err error, what, name string) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, catalog.ErrNoSuchNamespace):
		return &NotFound{What: "schema", Name: name}
	case errors.Is(err, catalog.ErrNoSuchTable), errors.Is(err, catalog.ErrNoSuchView):
		return &NotFound{What: what, Name: name}
	case errors.Is(err, catalog.ErrNamespaceAlreadyExists), errors.Is(err, catalog.ErrTableAlreadyExists), errors.Is(err, catalog.ErrViewAlreadyExists):
		return &Exists{What: what, Name: name}
	case errors.Is(err, catalog.ErrNamespaceNotEmpty):
		return &NotEmpty{Namespace: name}
	case errors.Is(err, rest.ErrUnauthorized), errors.Is(err, rest.ErrForbidden):
		return sqlerr.Wrap(redact.Error(err, c.props), sqlerr.InsufficientPrivilege, "catalog %s", c.name)
	}
	return sqlerr.Wrap(redact.Error(err, c.props), sqlerr.ConnectionException, "catalog %s", c.name)
}

func (c *restCatalog) Namespaces(ctx context.Context) ([]string, error) {
	var out []string
	var walk func(parent table.Identifier, depth int) error
	walk = func(parent table.Identifier, depth int) error {
		list, err := c.client.ListNamespaces(ctx, parent)
		if err != nil {
			return c.fail(err, "schema", strings.Join(parent, "."))
		}
		for _, ns := range list {
			out = append(out, strings.Join(ns, "."))
			if depth < maxTypeDepth && len(ns) > len(parent) {
				if err := walk(ns, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := walk(nil, 0)
	sort.Strings(out)
	return out, err
}

func (c *restCatalog) CreateNamespace(ctx context.Context, ns string, props map[string]string) error {
	if err := checkNamespace(ns); err != nil {
		return err
	}
	return c.fail(c.client.CreateNamespace(ctx, levels(ns), props), "schema", ns)
}

func (c *restCatalog) DropNamespace(ctx context.Context, ns string) error {
	return c.fail(c.client.DropNamespace(ctx, levels(ns)), "schema", ns)
}

func (c *restCatalog) NamespaceProperties(ctx context.Context, ns string) (map[string]string, error) {
	p, err := c.client.LoadNamespaceProperties(ctx, levels(ns))
	return p, c.fail(err, "schema", ns)
}

func (c *restCatalog) SetNamespaceProperties(ctx context.Context, ns string, set map[string]string, remove []string) error {
	_, err := c.client.UpdateNamespaceProperties(ctx, levels(ns), remove, set)
	return c.fail(err, "schema", ns)
}

func (c *restCatalog) List(ctx context.Context, ns string) ([]Name, error) {
	var out []Name
	for id, err := range c.client.ListTables(ctx, levels(ns)) {
		if err != nil {
			return nil, c.fail(err, "schema", ns)
		}
		out = append(out, Name{Catalog: c.name, Namespace: ns, Table: id[len(id)-1]})
	}
	return out, nil
}

func (c *restCatalog) Load(ctx context.Context, n Name) (*Table, error) {
	n.Catalog = c.name
	t, err := c.client.LoadTable(ctx, ident(n))
	if err != nil {
		return nil, c.fail(err, "table", n.String())
	}
	raw, err := json.Marshal(t.Metadata())
	if err != nil {
		return nil, metadataError(err, t.MetadataLocation())
	}
	s, err := parseMetadata(raw)
	if err != nil {
		return nil, metadataError(err, t.MetadataLocation())
	}
	loc := t.MetadataLocation()
	if loc == "" {
		loc = s.location + "/metadata/unknown.metadata.json"
	}
	// Where a table lies is the server's word, and the server is the administrator's.
	prefixes := append(prefixesOf(map[string]string{"lhsql.allowed-locations": c.props["lhsql.allowed-locations"]}), Canonical(s.location))
	store, err := c.storeOf(ctx, t)
	if err != nil {
		return nil, err
	}
	out := newTable(store, SharedCache, n, Canonical(loc), s, prefixes)
	out.pointer = loc
	return out, nil
}

func (c *restCatalog) pointer(ctx context.Context, n Name) (string, error) { return "", nil }
func (c *restCatalog) move(ctx context.Context, moves []pointerMove) error {
	return errors.New("a REST catalog keeps its own pointers")
}

// rawUpdate and rawRequirement carry our documents through the library's client.
type rawUpdate struct{ doc obj }

func (u rawUpdate) Action() string               { s, _ := u.doc["action"].(string); return s }
func (u rawUpdate) MarshalJSON() ([]byte, error) { return json.Marshal(u.doc) }
func (u rawUpdate) Apply(*table.MetadataBuilder) error {
	return errors.New("this update is for a server")
}
func (u rawUpdate) PostCommit(context.Context, *table.Table, *table.Table) error { return nil }

type rawRequirement struct{ doc obj }

func (r rawRequirement) GetType() string               { s, _ := r.doc["type"].(string); return s }
func (r rawRequirement) MarshalJSON() ([]byte, error)  { return json.Marshal(r.doc) }
func (r rawRequirement) Validate(table.Metadata) error { return nil }

func (a *attempt) sent() ([]table.Requirement, []table.Update) {
	var rs []table.Requirement
	for _, r := range a.edit.requires {
		// Of a table that is not there nothing else can be required, and servers refuse to try.
		if !a.edit.created || r["type"] == "assert-create" {
			rs = append(rs, rawRequirement{r})
		}
	}
	var us []table.Update
	for _, u := range a.edit.updates {
		us = append(us, rawUpdate{u})
	}
	return rs, us
}

// send commits: one table by the table's endpoint, several by the transaction's.
func (c *restCatalog) send(ctx context.Context, attempts []*attempt) error {
	var commits []table.TableCommit
	for _, a := range attempts {
		if a.to == "" {
			continue
		}
		rs, us := a.sent()
		commits = append(commits, table.TableCommit{Identifier: ident(a.name), Requirements: rs, Updates: us})
	}
	var err error
	if len(commits) == 1 {
		_, _, err = c.client.CommitTable(ctx, commits[0].Identifier, commits[0].Requirements, commits[0].Updates)
	} else {
		err = c.client.CommitTransaction(ctx, commits)
		if errors.Is(err, catalog.ErrNoSuchTable) && c.allThere(ctx, commits) {
			err = rest.ErrEndpointNotSupported // what was not found is the endpoint
		}
	}
	return c.sendError(err, attempts[0])
}

func (c *restCatalog) allThere(ctx context.Context, commits []table.TableCommit) bool {
	for _, t := range commits {
		if _, err := c.client.LoadTable(ctx, t.Identifier); err != nil {
			return false
		}
	}
	return true
}

// sendError tells a lost race, a certain refusal and a lost answer apart. Only what the server
// said about the request is certain; a broken connection may have broken after the commit.
func (c *restCatalog) sendError(err error, a *attempt) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rest.ErrCommitFailed):
		return errLostRace
	case errors.Is(err, rest.ErrEndpointNotSupported):
		return sqlerr.New(sqlerr.FeatureNotSupported, "catalog %s cannot commit several tables at once", c.name).
			WithHint("COMMIT after each table.")
	case neverSent(err):
		return c.fail(err, "table", a.name.String())
	case errors.Is(err, rest.ErrCommitStateUnknown):
		return errors.Join(errUnknown, c.fail(err, "table", a.name.String()))
	case errors.Is(err, rest.ErrBadRequest), errors.Is(err, rest.ErrForbidden), errors.Is(err, rest.ErrUnauthorized),
		errors.Is(err, catalog.ErrNoSuchTable), errors.Is(err, rest.ErrAuthorizationExpired):
		return c.fail(err, "table", a.name.String())
	}
	return errors.Join(errUnknown, c.fail(err, "table", a.name.String()))
}

// neverSent recognises a server that could not be reached at all.
func neverSent(err error) bool {
	var e *net.OpError
	return errors.As(err, &e) && e.Op == "dial"
}

func (c *restCatalog) Commit(ctx context.Context, n Name, ch Change) (*Table, error) {
	out, err := c.CommitAll(ctx, []TableChange{{n, ch}})
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

func (c *restCatalog) CommitAll(ctx context.Context, changes []TableChange) ([]*Table, error) {
	for i := range changes {
		changes[i].Name.Catalog = c.name
	}
	return c.engine.commit(ctx, changes)
}

func (c *restCatalog) Stage(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	if err := checkName(n); err != nil {
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
	props, err := c.NamespaceProperties(ctx, n.Namespace)
	if err != nil {
		return nil, err
	}
	return c.stageNew(ctx, n, spec, props)
}

// stageNew implements definer.
func (c *restCatalog) stageNew(ctx context.Context, n Name, spec TableSpec, props map[string]string) (*Table, error) {
	location := spec.Location
	switch {
	case location != "":
	case props["location"] != "":
		location = strings.TrimRight(props["location"], "/") + "/" + n.Table
	case strings.ContainsAny(c.props["warehouse"], "/"):
		location = strings.TrimRight(c.props["warehouse"], "/") + "/" + n.Namespace + "/" + n.Table
	default:
		return nil, sqlerr.New(sqlerr.InvalidTableDefinition, "table %s needs a location: neither its schema nor the catalog has one", n).
			WithHint("CREATE TABLE … LOCATION '…', or set the property location of the schema.")
	}
	allow := prefixesOf(map[string]string{"warehouse": c.props["warehouse"], "lhsql.allowed-locations": c.props["lhsql.allowed-locations"]})
	if l := props["location"]; l != "" {
		allow = append(allow, Canonical(l))
	}
	return stage(ctx, c.store, n, spec, strings.TrimRight(location, "/"), allow)
}

func (c *restCatalog) Create(ctx context.Context, n Name, spec TableSpec) (*Table, error) {
	t, err := c.Stage(ctx, n, spec)
	if err != nil {
		return nil, err
	}
	return c.CommitStaged(ctx, t, Change{})
}

func (c *restCatalog) CommitStaged(ctx context.Context, t *Table, ch Change) (*Table, error) {
	return c.engine.commitStaged(ctx, t, ch)
}

func (c *restCatalog) Drop(ctx context.Context, n Name, purge bool) error {
	if purge {
		return c.fail(c.client.PurgeTable(ctx, ident(n)), "table", n.String())
	}
	return c.fail(c.client.DropTable(ctx, ident(n)), "table", n.String())
}

func (c *restCatalog) Rename(ctx context.Context, from, to Name) error {
	if err := checkName(to); err != nil {
		return err
	}
	_, err := c.client.RenameTable(ctx, ident(from), ident(to))
	return c.fail(err, "table", from.String())
}

func (c *restCatalog) Register(ctx context.Context, n Name, loc string) (*Table, error) {
	if _, err := c.client.RegisterTable(ctx, ident(n), loc); err != nil {
		return nil, c.fail(err, "table", n.String())
	}
	return c.Load(ctx, n)
}

func (c *restCatalog) Views(ctx context.Context, ns string) ([]Name, error) {
	var out []Name
	for id, err := range c.client.ListViews(ctx, levels(ns)) {
		if err != nil {
			if errors.Is(err, rest.ErrEndpointNotSupported) {
				return nil, nil // a server without views
			}
			return nil, c.fail(err, "schema", ns)
		}
		out = append(out, Name{Catalog: c.name, Namespace: ns, Table: id[len(id)-1]})
	}
	return out, nil
}

func (c *restCatalog) LoadView(ctx context.Context, n Name) (*View, error) {
	n.Catalog = c.name
	v, err := c.client.LoadView(ctx, ident(n))
	if err != nil {
		if errors.Is(err, rest.ErrEndpointNotSupported) {
			return nil, &NotFound{What: "view", Name: n.String()} // a server without views
		}
		return nil, c.fail(err, "view", n.String())
	}
	raw, err := json.Marshal(v.Metadata())
	if err != nil {
		return nil, metadataError(err, v.MetadataLocation())
	}
	return parseView(n, v.MetadataLocation(), raw)
}

func (c *restCatalog) CreateView(ctx context.Context, n Name, spec ViewSpec, replace bool) (*View, error) {
	if err := checkName(n); err != nil {
		return nil, err
	}
	if replace {
		// The library's client has no replace that keeps versions: make it anew.
		if err := c.DropView(ctx, n); err != nil {
			if _, missing := err.(*NotFound); !missing {
				return nil, err
			}
		}
	}
	raw, err := json.Marshal(spec.Schema.fresh(new(int)).json())
	if err != nil {
		return nil, err
	}
	schema := &iceberg.Schema{}
	if err := json.Unmarshal(raw, schema); err != nil {
		return nil, err
	}
	raw, err = json.Marshal(spec.version(1, 0, clockOf(ctx, SystemClock).Now()))
	if err != nil {
		return nil, err
	}
	version := &view.Version{}
	if err := json.Unmarshal(raw, version); err != nil {
		return nil, err
	}
	if _, err := c.client.CreateView(ctx, ident(n), version, schema, catalog.WithViewProperties(spec.Properties)); err != nil {
		return nil, c.fail(err, "view", n.String())
	}
	return c.LoadView(ctx, n)
}

func (c *restCatalog) DropView(ctx context.Context, n Name) error {
	return c.fail(c.client.DropView(ctx, ident(n)), "view", n.String())
}

func (c *restCatalog) RenameView(ctx context.Context, from, to Name) error {
	_, err := c.client.RenameView(ctx, ident(from), ident(to))
	return c.fail(err, "view", from.String())
}
