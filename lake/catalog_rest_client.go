package lake

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/internal/patience"
	"github.com/lhsql/lhsql/internal/redact"
	"github.com/lhsql/lhsql/internal/room"
)

// restClient speaks the Iceberg REST catalog protocol (the Iceberg project's
// open-api/rest-catalog-open-api.yaml): which requests there are, who asks, and what an answer says.
// It knows neither tables nor what is done about an answer that was lost (restCatalog).
//
//	request ─▶ token ─▶ patience: again? ─▶ once: silent? ─▶ signature ─▶ http.Transport
//
// Safe for concurrent use.
type restClient struct {
	base      string // …/v1/prefix
	separator string // between the levels of a namespace, as URLs spell it
	pageSize  string
	headers   http.Header
	http      *http.Client
	idle      func() // closes idle connections
	auth      restAuth
	// endpoints are the routes that the server has; nil: before it was asked.
	endpoints map[string]bool
	// props are the server's defaults, the user's properties over them and the server's overrides over
	// those. They may hold secrets.
	props map[string]string
}

// The protocol's routes, spelled as servers list them in the answer to config.
const (
	restNamespaces   = "/v1/{prefix}/namespaces"
	restNamespace    = restNamespaces + "/{namespace}"
	restProperties   = restNamespace + "/properties"
	restTables       = restNamespace + "/tables"
	restTable        = restTables + "/{table}"
	restRegister     = restNamespace + "/register"
	restRenameTable  = "/v1/{prefix}/tables/rename"
	restTransactions = "/v1/{prefix}/transactions/commit"
	restViews        = restNamespace + "/views"
	restView         = restViews + "/{view}"
	restRenameView   = "/v1/{prefix}/views/rename"
)

// What a server has that does not say it. Views are no part of it, unless it says so in a property.
var (
	restDefaults = []string{"GET " + restNamespaces, "POST " + restNamespaces, "GET " + restNamespace, "DELETE " + restNamespace,
		"POST " + restProperties, "GET " + restTables, "POST " + restTables, "GET " + restTable, "POST " + restTable, "DELETE " + restTable,
		"POST " + restRegister, "POST " + restRenameTable, "POST " + restTransactions}
	restViewDefaults = []string{"GET " + restViews, "GET " + restView, "POST " + restViews, "POST " + restView, "DELETE " + restView, "POST " + restRenameView}
)

// restRequest is one request.
type restRequest struct {
	method, route string
	args          []string // what stands for the braces of the route, escaped
	query         url.Values
	body          any // to be sent as JSON; nil: none
	into          any // what the answer is decoded into; nil: an answer need not have content
	// conflict is what the server means by 409, where its error has no type that says it; means is what
	// it means by a type that would else be about the name that is asked for.
	conflict error
	means    map[string]error
	token    string // asked with instead of the catalog's own, if not empty
}

// restError is an answer that is none, in the protocol's error model.
type restError struct {
	Status          int
	Type, Message   string
	means, conflict error // as the request has them
}

func (e *restError) Error() string {
	what := strings.TrimSpace(strconv.Itoa(e.Status) + " " + http.StatusText(e.Status))
	for _, s := range []string{e.Type, e.Message} {
		if s != "" {
			what += ": " + s
		}
	}
	return what
}

// errNoEndpoint says that the server has no such route. Nothing was asked.
var errNoEndpoint = errors.New("the catalog's server does not offer it")

// errNoAnswer says that what came is no answer of a catalog.
var errNoAnswer = errors.New("the answer was none of a catalog's")

// maxRestError bounds what is read of an answer that is an error: its text is for people.
const maxRestError = 64 << 10

// dialREST asks the server for its configuration. quiet is how long a silent server is waited for.
func dialREST(ctx context.Context, props map[string]string, quiet *atomic.Int64) (*restClient, error) {
	c := &restClient{props: props, separator: "%1F"}
	transport := restTransport(props)
	signed, err := newRestSigner(ctx, props, transport)
	if err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: &patience.Transport{Next: signed, Quiet: quiet}}
	c.idle = transport.CloseIdleConnections
	if err := c.configure(props); err != nil {
		return nil, err
	}
	var answer struct {
		Defaults, Overrides looseStrings
		Endpoints           []string
	}
	q := url.Values{}
	if w := props["warehouse"]; w != "" {
		q.Set("warehouse", w)
	}
	root, err := restRoot(props["uri"], "")
	if err != nil {
		return nil, err
	}
	if err := c.send(ctx, &restRequest{method: http.MethodGet, query: q, into: &answer}, root+"/config"); err != nil {
		c.idle()
		return nil, err
	}
	all := map[string]string{}
	maps.Copy(all, answer.Defaults)
	maps.Copy(all, props)
	maps.Copy(all, answer.Overrides)
	if err := c.configure(all); err != nil {
		return nil, err
	}
	// Who signs may be told only now with which name and region.
	if signed, err = newRestSigner(ctx, all, transport); err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: &patience.Transport{Next: signed, Quiet: quiet}}
	c.endpoints = map[string]bool{}
	list := answer.Endpoints
	if len(list) == 0 {
		list = restDefaults
		if strings.EqualFold(all["view-endpoints-supported"], "true") {
			list = slices.Concat(list, restViewDefaults)
		}
	}
	for _, e := range list {
		c.endpoints[strings.Join(strings.Fields(e), " ")] = true
	}
	return c, nil
}

// configure takes what properties say about requests.
func (c *restClient) configure(props map[string]string) (err error) {
	if c.base, err = restRoot(props["uri"], props["prefix"]); err != nil {
		return err
	}
	c.props = props
	c.separator = cmp.Or(props["namespace-separator"], "%1F")
	c.pageSize = props["rest-page-size"]
	c.headers = http.Header{}
	// The version is that of the client library that servers know whose requests look like these.
	c.headers.Set("X-Client-Version", "0.14.1")
	c.headers.Set("User-Agent", engineName+"/"+engineVersion)
	c.headers.Set("X-Iceberg-Access-Delegation", "vended-credentials")
	for k, v := range props {
		if name, ok := strings.CutPrefix(k, "header."); ok {
			c.headers.Set(name, v)
		}
	}
	return c.auth.configure(props, c)
}

// restRoot is where a catalog's routes begin.
func restRoot(uri, prefix string) (string, error) {
	u, err := url.Parse(uri)
	switch {
	case err != nil:
		return "", err
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return "", fmt.Errorf("%q is no address of an HTTP server", redact.URI(uri))
	}
	u = u.JoinPath("v1")
	if prefix != "" {
		u = u.JoinPath(prefix)
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// restTransport sends the requests. Its time-outs have the names that Java's client gives them.
func restTransport(props map[string]string) *http.Transport {
	dial := net.Dialer{Timeout: 30 * time.Second}
	if n := intProperty(props, "rest.client.connection-timeout-ms", 0); n > 0 {
		dial.Timeout = time.Duration(n) * time.Millisecond
	}
	var t *tls.Config
	if strings.EqualFold(props["rest.tls.skip-verify"], "true") {
		t = &tls.Config{InsecureSkipVerify: true}
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: t, DialContext: dial.DialContext,
		ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, MaxIdleConnsPerHost: 16, IdleConnTimeout: 90 * time.Second}
}

// escape is a name as one part of a path.
func escape(name string) string {
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E") // "..", or who stands between would take it for a way up
	}
	return url.PathEscape(name)
}

// namespace is a namespace as one part of a path.
func (c *restClient) namespace(ns string) string {
	levels := strings.Split(ns, ".")
	for i := range levels {
		levels[i] = escape(levels[i])
	}
	return strings.Join(levels, c.separator)
}

// has tells whether the server has a route.
func (c *restClient) has(method, route string) bool { return c.endpoints[method+" "+route] }

// do asks the server. Its errors are *restError for what the server says, errNoEndpoint, and what
// happened to the request.
func (c *restClient) do(ctx context.Context, r *restRequest) error {
	if !c.has(r.method, r.route) {
		return fmt.Errorf("%w (%s %s)", errNoEndpoint, r.method, r.route)
	}
	var at strings.Builder
	at.WriteString(c.base)
	args := r.args
	for part := range strings.SplitSeq(strings.TrimPrefix(r.route, "/v1/{prefix}/"), "/") {
		at.WriteByte('/')
		if strings.HasPrefix(part, "{") {
			part, args = args[0], args[1:]
		}
		at.WriteString(part)
	}
	return c.send(ctx, r, at.String())
}

func (c *restClient) send(ctx context.Context, r *restRequest, at string) error {
	if len(r.query) > 0 {
		at += "?" + r.query.Encode()
	}
	var body []byte
	if r.body != nil {
		var err error
		if body, err = json.Marshal(r.body); err != nil {
			return err
		}
	}
	token := r.token
	for try := 1; ; try++ {
		if token == "" {
			var err error
			if token, err = c.auth.token(ctx); err != nil {
				return err
			}
		}
		err := c.exchange(ctx, r, at, body, token)
		// A token whose time is over was refused before anything was done.
		var no *restError
		if try > 1 || !errors.As(err, &no) || no.Status != http.StatusUnauthorized && no.Status != statusLoginTimeout {
			return err
		}
		if r.token == "" && !c.auth.renewable(token) {
			return err
		}
		token = "" // that of the catalog, anew
	}
}

// statusLoginTimeout is what the protocol answers when a token's time is over (AuthenticationTimeoutResponse).
const statusLoginTimeout = 419

// exchange sends one request and reads its answer.
func (c *restClient) exchange(ctx context.Context, r *restRequest, at string, body []byte, token string) error {
	var sent io.Reader
	if r.body != nil {
		sent = bytes.NewReader(body)
	}
	q, err := http.NewRequestWithContext(ctx, r.method, at, sent)
	if err != nil {
		return err
	}
	maps.Copy(q.Header, c.headers)
	q.Header.Set("Accept", "application/json")
	if r.body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	rsp, err := c.http.Do(q)
	if err != nil {
		return err
	}
	defer rsp.Body.Close()
	switch rsp.StatusCode {
	case http.StatusNoContent:
		if r.into != nil {
			return fmt.Errorf("%w: it has no content", errNoAnswer)
		}
		return nil
	case http.StatusOK:
		return r.decode(rsp)
	}
	return r.refused(rsp)
}

// decode reads an answer with content, whose memory is asked for as it comes.
func (r *restRequest) decode(rsp *http.Response) error {
	whole, read := rsp.Body.(patience.WholeBody)
	b := whole.Bytes
	if !read {
		var err error
		if b, err = room.ReadAll(nil, rsp.Body, maxMetadata); err != nil {
			return err
		}
	}
	switch {
	case r.into != nil:
		if err := room.Take(len(b)); err != nil { // table metadata is most of it, and kept
			return err
		}
		if err := json.Unmarshal(b, r.into); err != nil {
			return fmt.Errorf("%w: %w", errNoAnswer, err)
		}
	case len(b) > 0 && !json.Valid(b):
		return errNoAnswer // some gateway's page
	}
	return nil
}

// refused reads an answer that is an error.
func (r *restRequest) refused(rsp *http.Response) error {
	e := &restError{Status: rsp.StatusCode, conflict: r.conflict}
	b, err := io.ReadAll(io.LimitReader(rsp.Body, maxRestError))
	if err != nil {
		return e // that it is one is known
	}
	type model struct{ Message, Type string }
	var j struct {
		Error json.RawMessage
		model
	}
	if json.Unmarshal(b, &j) == nil {
		if m := (model{}); json.Unmarshal(j.Error, &m) == nil {
			j.model = m
		}
		e.Type, e.Message = strings.ToValidUTF8(j.Type, "?"), strings.ToValidUTF8(j.Message, "?")
		e.means = r.means[e.Type]
	}
	return e
}

// pages asks for a list until its last page; page takes one and gives the token of the next.
func (c *restClient) pages(ctx context.Context, r restRequest, page func(send func(into any) error) (next string, err error)) error {
	seen := map[string]bool{}
	q := maps.Clone(r.query)
	if q == nil {
		q = url.Values{}
	}
	if c.pageSize != "" {
		q.Set("pageSize", c.pageSize)
		q.Set("pageToken", "") // without it a server gives all at once
	}
	for {
		r.query = q
		next, err := page(func(into any) error { r.into = into; return c.do(ctx, &r) })
		switch {
		case err != nil || next == "":
			return err
		case seen[next]:
			return fmt.Errorf("%w: one page comes after itself", errNoAnswer)
		}
		seen[next] = true
		q.Set("pageToken", next)
	}
}

// restIdent is a table's or view's name as the protocol has it.
type restIdent struct {
	Namespace []string `json:"namespace"`
	Name      string   `json:"name"`
}

func restIdentOf(n Name) restIdent { return restIdent{strings.Split(n.Namespace, "."), n.Table} }
