package lake

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/catalog"
	"github.com/apache/iceberg-go/catalog/rest"
	"github.com/apache/iceberg-go/table"
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
	quiet  atomic.Int64 // how long a silent server is waited for, in ns

	mu     sync.Mutex
	stores map[string]*Store // by storeKey
}

func openREST(ctx context.Context, name string, props map[string]string) (Catalog, error) {
	c := &restCatalog{name: name, props: props, store: NewStore(props)}
	c.quiet.Store(int64(quietProperty(props, "rest.client.socket-timeout-ms", time.Millisecond)))
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
	opts = append(opts, rest.WithAdditionalProps(extra), rest.WithTransportFactory(func(t *tls.Config) (http.RoundTripper, func()) {
		return restTransport(props, t, &c.quiet)
	}))
	client, err := rest.NewCatalog(ctx, name, props["uri"], opts...)
	if err != nil {
		return nil, sqlerr.Wrap(redact.Error(err, props), sqlerr.ConnectionException, "open catalog %s", name)
	}
	c.client = client
	c.engine = commitEngine{pointers: c, load: func(ctx context.Context, n Name, _ string) (*Table, error) { return c.Load(ctx, n) }, send: c.send}
	return c, nil
}

// restTransport sends the requests. Its time-outs have the names that Java's client gives them.
func restTransport(props map[string]string, t *tls.Config, quiet *atomic.Int64) (http.RoundTripper, func()) {
	dial := net.Dialer{Timeout: 30 * time.Second}
	if n := intProperty(props, "rest.client.connection-timeout-ms", 0); n > 0 {
		dial.Timeout = time.Duration(n) * time.Millisecond
	}
	next := &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: t, DialContext: dial.DialContext,
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second}
	return &patience{next: next, quiet: quiet}, next.CloseIdleConnections
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
	case errors.Is(err, rest.ErrCommitFailed):
		return errLostRace
	case errors.Is(err, catalog.ErrNamespaceNotEmpty):
		return &NotEmpty{Namespace: name}
	case errors.Is(err, rest.ErrUnauthorized), errors.Is(err, rest.ErrForbidden):
		return sqlerr.Wrap(redact.Error(err, c.props), sqlerr.InsufficientPrivilege, "catalog %s", c.name)
	}
	return sqlerr.Wrap(redact.Error(err, c.props), connectionCode(err), "catalog %s", c.name)
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
	missing, _ := c.noNamespace(ctx, ns)
	return c.ask(ctx, "schema", ns, func(ctx context.Context) error { return c.client.CreateNamespace(ctx, levels(ns), props) },
		missing, func(ctx context.Context) (bool, error) {
			missing, err := c.noNamespace(ctx, ns)
			return !missing, err
		})
}

func (c *restCatalog) DropNamespace(ctx context.Context, ns string) error {
	missing, err := c.noNamespace(ctx, ns)
	return c.ask(ctx, "schema", ns, func(ctx context.Context) error { return c.client.DropNamespace(ctx, levels(ns)) },
		!missing && err == nil, func(ctx context.Context) (bool, error) { return c.noNamespace(ctx, ns) })
}

// noNamespace tells whether a schema is missing.
func (c *restCatalog) noNamespace(ctx context.Context, ns string) (bool, error) {
	_, err := c.NamespaceProperties(ctx, ns)
	return missing(err)
}

func missing(err error) (bool, error) {
	var m *NotFound
	if errors.As(err, &m) {
		return true, nil
	}
	return false, err
}

func (c *restCatalog) NamespaceProperties(ctx context.Context, ns string) (map[string]string, error) {
	p, err := c.client.LoadNamespaceProperties(ctx, levels(ns))
	return p, c.fail(err, "schema", ns)
}

func (c *restCatalog) SetNamespaceProperties(ctx context.Context, ns string, set map[string]string, remove []string) error {
	return c.ask(ctx, "schema", ns, func(ctx context.Context) error {
		_, err := c.client.UpdateNamespaceProperties(ctx, levels(ns), remove, set)
		return err
	}, true, func(ctx context.Context) (bool, error) {
		now, err := c.NamespaceProperties(ctx, ns)
		if err != nil {
			return false, err
		}
		for k, v := range set {
			if w, ok := now[k]; !ok || v != w {
				return false, nil
			}
		}
		return !slices.ContainsFunc(remove, func(k string) bool { _, ok := now[k]; return ok }), nil
	})
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
	var is answer
	asked := withAnswer(ctx, &is)
	if len(commits) == 1 {
		_, _, err = c.client.CommitTable(asked, commits[0].Identifier, commits[0].Requirements, commits[0].Updates)
	} else {
		err = c.client.CommitTransaction(asked, commits)
		if errors.Is(err, catalog.ErrNoSuchTable) && c.allThere(ctx, commits) {
			err = rest.ErrEndpointNotSupported // what was not found is the endpoint
		}
	}
	return c.sendError(err, &is, attempts[0].name)
}

func (c *restCatalog) allThere(ctx context.Context, commits []table.TableCommit) bool {
	for _, t := range commits {
		if _, err := c.client.LoadTable(ctx, t.Identifier); err != nil {
			return false
		}
	}
	return true
}

// sendError tells a request that did not leave, a lost race, a refusal and a lost answer apart. Of
// these only the first is certain: see settle.
func (c *restCatalog) sendError(err error, is *answer, n Name) error {
	switch failed := c.fail(err, "table", n.String()); {
	case err == nil:
		return nil
	case errors.Is(err, rest.ErrEndpointNotSupported):
		return sqlerr.New(sqlerr.FeatureNotSupported, "catalog %s cannot commit several tables at once", c.name).
			WithHint("COMMIT after each table.")
	case !is.sent.Load():
		return notSent{failed}
	case is.status.Load() == http.StatusConflict:
		return errLostRace
	case is.refused():
		return failed
	default:
		return errors.Join(errUnknown, failed)
	}
}

// notSent is an error of a request that did not leave.
type notSent struct{ error }

func (e notSent) Unwrap() []error { return []error{errNotSent, e.error} }

// ask makes a request that is no commit of tables, and finds out how it ended where the answer does
// not say: as commits do (settle), it looks at what there is. done tells whether things are as the
// request was to make them; telling that they were not so before, so that done proves something.
func (c *restCatalog) ask(ctx context.Context, what, name string, request func(context.Context) error, telling bool, done func(context.Context) (bool, error)) error {
	var is answer
	err := request(withAnswer(ctx, &is))
	if err == nil && is.status.Load() == http.StatusOK && telling {
		// Where the protocol answers without a body (204), a page that some gateway shows for
		// everything looks like an answer, too.
		if yes, e := done(ctx); e == nil && !yes {
			err = errors.New("the answer was none of a catalog's")
		}
	}
	failed := c.fail(err, what, name)
	if err == nil || !is.sent.Load() {
		return failed
	}
	refused := is.refused()
	if refused && !telling {
		return failed
	}
	ctx = context.WithoutCancel(ctx)
	clock := clockOf(ctx, SystemClock)
	for try := 1; try <= 4 && telling; try++ {
		yes, e := done(ctx)
		switch {
		case e == nil && yes:
			return nil
		case e == nil && refused:
			return failed
		}
		if clock.Sleep(ctx, jittered(100*time.Millisecond, try)) != nil {
			break
		}
	}
	u := sqlerr.New(sqlerr.TransactionUnknown, "it is not known whether the change of %s %s took place", what, name).
		WithHint("See what there is before you run the statement again.")
	u.Cause = err
	return u
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
	old, err := c.Load(ctx, n)
	if purge && err == nil {
		err = purgeable(ctx, c, old, nil) // the server would not ask
	}
	if purge && err != nil {
		return err
	}
	return c.ask(ctx, "table", n.String(), func(ctx context.Context) error {
		if purge {
			return c.client.PurgeTable(ctx, ident(n))
		}
		return c.client.DropTable(ctx, ident(n))
	}, err == nil, func(ctx context.Context) (bool, error) {
		now, err := c.Load(ctx, n)
		if err != nil {
			return missing(err)
		}
		return now.uuid != old.uuid, nil
	})
}

func (c *restCatalog) Rename(ctx context.Context, from, to Name) error {
	if err := checkName(to); err != nil {
		return err
	}
	old, err := c.Load(ctx, from)
	err = c.ask(ctx, "table", from.String(), func(ctx context.Context) error { return c.rename(ctx, "tables", from, to) },
		err == nil && old.uuid != "", func(ctx context.Context) (bool, error) {
			now, err := c.Load(ctx, to)
			if err != nil {
				_, err = missing(err)
				return false, err
			}
			return now.uuid == old.uuid, nil
		})
	if sqlerr.CodeOf(err) == sqlerr.ConnectionException { // the library does not say what it is about
		if _, e := c.Load(ctx, to); e == nil {
			return &Exists{What: "table", Name: to.String()}
		}
	}
	return err
}

// rename asks for another name of a table or view. What the library reads afterwards is not waited
// for: that it cannot be read does not undo the rename.
func (c *restCatalog) rename(ctx context.Context, what string, from, to Name) error {
	var err error
	if what == "views" {
		_, err = c.client.RenameView(ctx, ident(from), ident(to))
	} else {
		_, err = c.client.RenameTable(ctx, ident(from), ident(to))
	}
	return err
}

func (c *restCatalog) Register(ctx context.Context, n Name, loc string) (*Table, error) {
	_, err := c.Load(ctx, n)
	was, _ := missing(err)
	err = c.ask(ctx, "table", n.String(), func(ctx context.Context) error {
		_, err := c.client.RegisterTable(ctx, ident(n), loc)
		return err
	}, was, func(ctx context.Context) (bool, error) {
		now, err := c.Load(ctx, n)
		if err != nil {
			_, err = missing(err)
			return false, err
		}
		return Canonical(now.pointer) == Canonical(loc) || slices.ContainsFunc(now.metadataLog, func(l MetadataLogEntry) bool { return Canonical(l.File) == Canonical(loc) }), nil
	})
	if err != nil {
		return nil, err
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
