package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/redact"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// restCatalog is a catalog that a server keeps (restClient). Commits are sent as updates and
// requirements that the server applies.
type restCatalog struct {
	name   string
	props  map[string]string
	client *restClient
	store  *Store // by the properties alone, for tables of which the server says nothing else
	engine commitEngine
	quiet  atomic.Int64 // how long a silent server is waited for, in ns

	mu     sync.Mutex
	stores map[string]*Store // by storeKey
	tokens map[Name]string   // what the server wants tables to be asked for with
}

func openREST(ctx context.Context, known *MetadataCache, name string, props map[string]string) (Catalog, error) {
	c := &restCatalog{name: name, props: props, store: NewStoreWith(known, props)}
	c.quiet.Store(int64(quietProperty(props, "rest.client.socket-timeout-ms", time.Millisecond)))
	client, err := dialREST(ctx, props, &c.quiet)
	if err != nil {
		return nil, sqlerr.Wrap(redact.Error(err, props), sqlerr.ConnectionException, "open catalog %s", name)
	}
	c.client = client
	c.engine = commitEngine{pointers: c, load: func(ctx context.Context, n Name, _ string) (*Table, error) { return c.Load(ctx, n) }, send: c.send}
	return c, nil
}

func (c *restCatalog) Name() string                  { return c.name }
func (c *restCatalog) Properties() map[string]string { return c.props }
func (c *restCatalog) Close() error                  { c.client.idle(); return nil }
func (c *restCatalog) commits() *commitEngine        { return &c.engine }

func (c *restCatalog) needViews() error { return nil }

// viewFolder implements definer: the server decides.
func (c *restCatalog) viewFolder(Name, map[string]string) (string, error) { return "", nil }

// fail gives a server's errors our names; what and name are what was asked for.
func (c *restCatalog) fail(err error, what, name string) error {
	var e *restError
	var coded *sqlerr.Error
	code := sqlerr.ConnectionFailure
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, errNoEndpoint):
		code = sqlerr.FeatureNotSupported
	case errors.As(err, &coded):
		return err
	case !errors.As(err, &e):
	case e.means != nil:
		return e.means
	case e.Status == http.StatusNotFound && e.Type == "NoSuchNamespaceException" && what != "schema":
		return &NotFound{What: "schema", Name: name[:max(strings.LastIndexByte(name, '.'), 0)]}
	case e.Status == http.StatusNotFound:
		return &NotFound{What: what, Name: name}
	case e.Status == http.StatusConflict && e.Type == "NamespaceNotEmptyException":
		return &NotEmpty{Namespace: name}
	case e.Status == http.StatusConflict && e.Type == "AlreadyExistsException":
		return &Exists{What: what, Name: name}
	case e.Status == http.StatusConflict && e.Type == "CommitFailedException":
		return errLostRace
	case e.Status == http.StatusConflict && e.conflict != nil:
		return e.conflict
	case e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden, e.Status == statusLoginTimeout:
		code = sqlerr.InsufficientPrivilege
	case e.Status == http.StatusNotAcceptable, e.Status == http.StatusNotImplemented:
		code = sqlerr.FeatureNotSupported
	case e.Status < http.StatusInternalServerError && e.Status != http.StatusTooManyRequests && e.Status != http.StatusRequestTimeout:
		code = sqlerr.SystemError // it was there, and refused
	}
	return sqlerr.Wrap(redact.Error(err, c.props), code, "catalog %s", c.name)
}

func (c *restCatalog) Namespaces(ctx context.Context) ([]string, error) {
	if !c.client.has(http.MethodGet, restNamespaces) {
		return nil, nil
	}
	var out []string
	var walk func(parent string, levels int) error
	walk = func(parent string, levels int) error {
		r := restRequest{method: http.MethodGet, route: restNamespaces}
		if parent != "" {
			sep, err := url.PathUnescape(c.client.separator)
			if err != nil {
				sep = c.client.separator
			}
			r.query = url.Values{"parent": {strings.ReplaceAll(parent, ".", sep)}}
		}
		var below []string
		err := c.client.pages(ctx, r, func(send func(any) error) (string, error) {
			var page struct {
				Namespaces [][]string
				Next       string `json:"next-page-token"`
			}
			err := send(&page)
			for _, ns := range page.Namespaces {
				name := strings.Join(ns, ".")
				out = append(out, name)
				if levels < maxTypeDepth && len(ns) > levels {
					below = append(below, name)
				}
			}
			return page.Next, err
		})
		if err != nil {
			return c.fail(err, "schema", parent)
		}
		for _, ns := range below {
			if err := walk(ns, strings.Count(ns, ".")+1); err != nil {
				return err
			}
		}
		return nil
	}
	err := walk("", 0)
	sort.Strings(out)
	return out, err
}

func (c *restCatalog) CreateNamespace(ctx context.Context, ns string, props map[string]string) error {
	if err := checkNamespace(ns); err != nil {
		return err
	}
	missing, _ := c.noNamespace(ctx, ns)
	return c.ask(ctx, "schema", ns, &restRequest{method: http.MethodPost, route: restNamespaces, into: &json.RawMessage{}, conflict: &Exists{What: "schema", Name: ns},
		body: obj{"namespace": strings.Split(ns, "."), "properties": given(props)}},
		missing, func(ctx context.Context) (bool, error) {
			missing, err := c.noNamespace(ctx, ns)
			return !missing, err
		})
}

func (c *restCatalog) DropNamespace(ctx context.Context, ns string) error {
	missing, err := c.noNamespace(ctx, ns)
	return c.ask(ctx, "schema", ns, &restRequest{method: http.MethodDelete, route: restNamespace, args: []string{c.client.namespace(ns)}, conflict: &NotEmpty{Namespace: ns}},
		!missing && err == nil, func(ctx context.Context) (bool, error) { return c.noNamespace(ctx, ns) })
}

// given is a map that JSON has as an object, and not as null.
func given(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
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
	var answer struct{ Properties looseStrings }
	err := c.client.do(ctx, &restRequest{method: http.MethodGet, route: restNamespace, args: []string{c.client.namespace(ns)}, into: &answer})
	if err != nil {
		return nil, c.fail(err, "schema", ns)
	}
	return answer.Properties, nil
}

func (c *restCatalog) SetNamespaceProperties(ctx context.Context, ns string, set map[string]string, remove []string) error {
	return c.ask(ctx, "schema", ns, &restRequest{method: http.MethodPost, route: restProperties, args: []string{c.client.namespace(ns)}, into: &json.RawMessage{},
		body: obj{"removals": append([]string{}, remove...), "updates": given(set)}}, true, func(ctx context.Context) (bool, error) {
		now, err := c.NamespaceProperties(ctx, ns)
		if err != nil {
			_, err = missing(err)
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
	return c.list(ctx, restTables, ns)
}

// list lists the tables or views of a namespace: none where the server lists none.
func (c *restCatalog) list(ctx context.Context, route, ns string) ([]Name, error) {
	if !c.client.has(http.MethodGet, route) {
		return nil, nil
	}
	var out []Name
	err := c.client.pages(ctx, restRequest{method: http.MethodGet, route: route, args: []string{c.client.namespace(ns)}}, func(send func(any) error) (string, error) {
		var page struct {
			Identifiers []restIdent
			Next        string `json:"next-page-token"`
		}
		err := send(&page)
		for _, id := range page.Identifiers {
			out = append(out, Name{Catalog: c.name, Namespace: ns, Table: id.Name})
		}
		return page.Next, err
	})
	return out, c.fail(err, "schema", ns)
}

// object is a request for a table or view.
func (c *restCatalog) object(method, route string, n Name) *restRequest {
	r := &restRequest{method: method, route: route, args: []string{c.client.namespace(n.Namespace), escape(n.Table)}}
	if route == restTable {
		n.Catalog = c.name
		c.mu.Lock()
		r.token = c.tokens[n]
		c.mu.Unlock()
	}
	return r
}

// loadTableResult is what a server says of a table, its metadata as it stands in the file.
type loadTableResult struct {
	Location    string          `json:"metadata-location"`
	Metadata    json.RawMessage `json:"metadata"`
	Config      looseStrings    `json:"config"`
	Credentials []vended        `json:"storage-credentials"`
}

func (c *restCatalog) Load(ctx context.Context, n Name) (*Table, error) {
	n.Catalog = c.name
	var answer loadTableResult
	r := c.object(http.MethodGet, restTable, n)
	r.into = &answer
	if err := c.client.do(ctx, r); err != nil {
		err = c.fail(err, "table", n.String())
		if gone, _ := missing(err); gone {
			return nil, &NotFound{What: "table", Name: n.String()} // in a schema that there is, or not
		}
		return nil, err
	}
	loc := answer.Location
	s, key, err := c.parsed(n, loc, answer.Metadata)
	if err != nil {
		return nil, metadataError(err, loc)
	}
	if loc == "" {
		loc = s.location + "/metadata/unknown.metadata.json"
	}
	c.bear(n, answer.Config["token"])
	// Where a table lies is the server's word, and the server is the administrator's.
	prefixes := append(prefixesOf(map[string]string{"lhsql.allowed-locations": c.props["lhsql.allowed-locations"]}), Canonical(s.location))
	t := newTable(c.storeOf(s.location, answer.Config, answer.Credentials), n, Canonical(loc), s, prefixes)
	t.pointer = loc
	t.passed(ctx, key)
	return t, nil
}

// parsed reads the metadata that a server gave for a table, or finds it as it was read before.
func (c *restCatalog) parsed(n Name, loc string, raw []byte) (*state, string, error) {
	key := "rest:" + c.client.base + " " + n.String() + " " + loc
	if v, ok := c.store.known.Find(key); ok {
		if s := v.(*state); bytes.Equal(s.raw, raw) {
			return s, key, nil
		}
	}
	s, err := parseMetadata(raw)
	if err != nil {
		return nil, "", err
	}
	c.store.known.Put(key, s, metadataCost(s.raw))
	return s, key, nil
}

// bear keeps the token that a server wants a table to be asked for with; "": the catalog's.
func (c *restCatalog) bear(n Name, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case token == "":
		delete(c.tokens, n)
		return
	case c.tokens == nil || len(c.tokens) >= maxTokens:
		c.tokens = map[Name]string{}
	}
	c.tokens[n] = token
}

// maxTokens bounds the tokens that are kept. A table whose token was forgotten is asked for with the
// catalog's, and has its own again.
const maxTokens = 1024

func (c *restCatalog) pointer(ctx context.Context, n Name) (string, error) { return "", nil }
func (c *restCatalog) move(ctx context.Context, moves []pointerMove) error {
	return errors.New("a REST catalog keeps its own pointers")
}

// tableChange is a commit of one table as the protocol has it.
type tableChange struct {
	Identifier   restIdent `json:"identifier"`
	Requirements []obj     `json:"requirements"`
	Updates      []obj     `json:"updates"`
	name         Name
}

func (a *attempt) sent() tableChange {
	t := tableChange{Identifier: restIdentOf(a.name), Requirements: []obj{}, Updates: append([]obj{}, a.edit.updates...), name: a.name}
	for _, r := range a.edit.requires {
		// Of a table that is not there nothing else can be required, and servers refuse to try.
		if !a.edit.created || r["type"] == "assert-create" {
			t.Requirements = append(t.Requirements, r)
		}
	}
	return t
}

// send commits: one table by the table's endpoint, several by the transaction's.
func (c *restCatalog) send(ctx context.Context, attempts []*attempt) error {
	var commits []tableChange
	for _, a := range attempts {
		if a.to != "" {
			commits = append(commits, a.sent())
		}
	}
	var err error
	var is answer
	asked := withAnswer(ctx, &is)
	if len(commits) == 1 {
		r := c.object(http.MethodPost, restTable, commits[0].name)
		r.body, r.into, r.conflict = commits[0], &commitTableResponse{}, errLostRace
		err = c.client.do(asked, r)
	} else {
		err = c.client.do(asked, &restRequest{method: http.MethodPost, route: restTransactions, body: obj{"table-changes": commits}, conflict: errLostRace})
		var e *restError
		if errors.As(err, &e) && e.Status == http.StatusNotFound && c.allThere(ctx, commits) {
			err = errNoEndpoint // what was not found is the endpoint
		}
	}
	return c.sendError(err, &is, attempts[0].name)
}

// commitTableResponse is looked at only to see that it is one: what the table has become is read when
// it is asked for.
type commitTableResponse struct{}

func (*commitTableResponse) UnmarshalJSON(b []byte) error {
	var j struct{ Metadata json.RawMessage }
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	if len(j.Metadata) == 0 {
		return errors.New("it has no metadata")
	}
	return nil
}

func (c *restCatalog) allThere(ctx context.Context, commits []tableChange) bool {
	for _, t := range commits {
		if _, err := c.Load(ctx, t.name); err != nil {
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
	case errors.Is(err, errNoEndpoint):
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
func (c *restCatalog) ask(ctx context.Context, what, name string, r *restRequest, telling bool, done func(context.Context) (bool, error)) error {
	var is answer
	err := c.client.do(withAnswer(ctx, &is), r)
	if err == nil && is.status.Load() == http.StatusOK && r.into == nil && telling {
		// Where the protocol answers without a body (204), a page that some gateway shows for
		// everything looks like an answer, too.
		if yes, e := done(ctx); e == nil && !yes {
			err = errNoAnswer
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
	r := c.object(http.MethodDelete, restTable, n)
	r.query = url.Values{"purgeRequested": {strconv.FormatBool(purge)}}
	return c.ask(ctx, "table", n.String(), r, err == nil, func(ctx context.Context) (bool, error) {
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
	return c.ask(ctx, "table", from.String(), restRename(restRenameTable, "table", from, to),
		err == nil && old.uuid != "", func(ctx context.Context) (bool, error) {
			now, err := c.Load(ctx, to)
			if err != nil {
				_, err = missing(err)
				return false, err
			}
			return now.uuid == old.uuid, nil
		})
}

// restRename asks for another name of a table or view.
func restRename(route, what string, from, to Name) *restRequest {
	exists := &Exists{What: what, Name: to.String()}
	return &restRequest{method: http.MethodPost, route: route, body: obj{"source": restIdentOf(from), "destination": restIdentOf(to)}, conflict: exists,
		means: map[string]error{"AlreadyExistsException": exists, "NoSuchNamespaceException": &NotFound{What: "schema", Name: to.Namespace}}}
}

func (c *restCatalog) Register(ctx context.Context, n Name, loc string) (*Table, error) {
	_, err := c.Load(ctx, n)
	was, _ := missing(err)
	err = c.ask(ctx, "table", n.String(), &restRequest{method: http.MethodPost, route: restRegister, args: []string{c.client.namespace(n.Namespace)}, into: &commitTableResponse{},
		conflict: &Exists{What: "table", Name: n.String()}, body: obj{"name": n.Table, "metadata-location": loc}}, was, func(ctx context.Context) (bool, error) {
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
	return c.list(ctx, restViews, ns)
}

func (c *restCatalog) LoadView(ctx context.Context, n Name) (*View, error) {
	n.Catalog = c.name
	if !c.client.has(http.MethodGet, restView) {
		return nil, &NotFound{What: "view", Name: n.String()}
	}
	var answer loadTableResult
	r := c.object(http.MethodGet, restView, n)
	r.into = &answer
	if err := c.client.do(ctx, r); err != nil {
		err = c.fail(err, "view", n.String())
		if gone, _ := missing(err); gone {
			return nil, &NotFound{What: "view", Name: n.String()}
		}
		return nil, err
	}
	v, err := parseView(n, answer.Location, answer.Metadata)
	if err != nil {
		return nil, fileError(err, "read view metadata", answer.Location)
	}
	return v, nil
}
