package lake

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// restScript is a server that answers by method and path, and keeps what it was asked.
type restScript struct {
	*httptest.Server
	mu     sync.Mutex
	asked  []string // method, path as it was sent, and query
	routes map[string]func(w http.ResponseWriter, r *http.Request, body string)
}

func scriptREST(t *testing.T) *restScript {
	s := &restScript{routes: map[string]func(http.ResponseWriter, *http.Request, string){}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		s.asked = append(s.asked, r.Method+" "+r.RequestURI)
		answer := s.routes[r.Method+" "+r.URL.EscapedPath()]
		s.mu.Unlock()
		if answer == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		answer(w, r, string(b))
	}))
	t.Cleanup(s.Close)
	s.says("GET /v1/config", `{"defaults": {}, "overrides": {}}`)
	return s
}

func (s *restScript) on(route string, f func(w http.ResponseWriter, r *http.Request, body string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.routes[route] = f
}

func (s *restScript) says(route, answer string) {
	s.on(route, func(w http.ResponseWriter, _ *http.Request, _ string) { _, _ = io.WriteString(w, answer) })
}

func (s *restScript) open(t *testing.T, props map[string]string) *restCatalog {
	t.Helper()
	all := map[string]string{"type": "rest", "uri": s.URL}
	maps.Copy(all, props)
	c, err := OpenCatalog(t.Context(), "rest", all)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*restCatalog)
}

// What properties say is what the server's defaults do not, and what its overrides do not either; a
// server may be elsewhere, and its routes have a prefix.
func TestRESTConfiguration(t *testing.T) {
	s, other := scriptREST(t), scriptREST(t)
	var seen http.Header
	s.on("GET /base/v1/config", func(w http.ResponseWriter, r *http.Request, _ string) {
		seen = r.Header
		fmt.Fprintf(w, `{"defaults": {"header.X-A": "server", "header.X-B": "server"}, "overrides": {"prefix": "pre/fix", "uri": %q, "namespace-separator": "%%2E"}}`, other.URL)
	})
	other.on("GET /v1/pre/fix/namespaces/a%2Eb%20c/tables", func(w http.ResponseWriter, r *http.Request, _ string) {
		seen = r.Header
		_, _ = io.WriteString(w, `{"identifiers": [{"namespace": ["a", "b c"], "name": "t/ü"}]}`)
	})
	c := s.open(t, map[string]string{"uri": s.URL + "/base/", "warehouse": "w h", "header.X-A": "user", "header.X-Iceberg-Access-Delegation": "remote-signing"})
	if want := []string{"GET /base/v1/config?warehouse=w+h"}; !slices.Equal(s.asked, want) {
		t.Errorf("asked %q, want %q", s.asked, want)
	}
	if seen.Get("X-A") != "user" || seen.Get("X-B") != "" {
		t.Errorf("headers before the answer: %v", seen)
	}
	got, err := c.List(t.Context(), "a.b c")
	if err != nil || len(got) != 1 || got[0].Table != "t/ü" {
		t.Errorf("%v %v", got, err)
	}
	if seen.Get("X-A") != "user" || seen.Get("X-B") != "server" || seen.Get("X-Iceberg-Access-Delegation") != "remote-signing" {
		t.Errorf("headers after it: %v", seen)
	}
	for _, uri := range []string{"ftp://x", "http://", "x"} {
		if _, err := OpenCatalog(t.Context(), "rest", map[string]string{"type": "rest", "uri": uri}); err == nil {
			t.Errorf("%s was opened", uri)
		}
	}
}

// A route that the server does not have is not asked for: what lists is empty, what reads finds
// nothing, and what changes is refused.
func TestRESTEndpoints(t *testing.T) {
	s := scriptREST(t)
	s.says("GET /v1/config", `{"defaults": {}, "overrides": {}, "endpoints": ["GET /v1/{prefix}/namespaces/{namespace}/tables/{table}", "what is this"]}`)
	c := s.open(t, nil)
	ctx, n := t.Context(), Name{Namespace: "a", Table: "t"}
	for _, list := range []func() (int, error){
		func() (int, error) { l, err := c.Namespaces(ctx); return len(l), err },
		func() (int, error) { l, err := c.List(ctx, "a"); return len(l), err },
		func() (int, error) { l, err := c.Views(ctx, "a"); return len(l), err },
	} {
		if n, err := list(); n != 0 || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}
	var gone *NotFound
	if _, err := c.LoadView(ctx, n); !errors.As(err, &gone) {
		t.Errorf("a view: %v", err)
	}
	for _, err := range []error{c.CreateNamespace(ctx, "a", nil), c.DropNamespace(ctx, "a"), c.Rename(ctx, n, n), c.RenameView(ctx, n, n), c.DropView(ctx, n)} {
		if sqlerr.CodeOf(err) != sqlerr.FeatureNotSupported {
			t.Errorf("%v", err)
		}
	}
	if slices.ContainsFunc(s.asked, func(a string) bool { return !strings.Contains(a, "/config") && !strings.Contains(a, "/tables/t") }) {
		t.Errorf("asked %q", s.asked)
	}
}

// Lists come in pages, of the server's size or the user's; namespaces are within each other.
func TestRESTPages(t *testing.T) {
	s := scriptREST(t)
	s.on("GET /v1/namespaces", func(w http.ResponseWriter, r *http.Request, _ string) {
		q := r.URL.Query()
		pages := map[string]string{
			"":            `{"namespaces": [["b"]], "next-page-token": "2"}`,
			"|2":          `{"namespaces": [["a"]], "next-page-token": null}`,
			"a":           `{"namespaces": [["a", "x"]]}`,
			"a\x1fx":      `{"namespaces": [["a", "x", "y"]]}`,
			"a\x1fx\x1fy": `{}`,
			"b":           `{"namespaces": []}`,
		}
		at := q.Get("parent")
		if q.Has("pageToken") {
			at += "|" + q.Get("pageToken")
		}
		_, _ = io.WriteString(w, pages[at])
	})
	c := s.open(t, nil)
	if got, err := c.Namespaces(t.Context()); err != nil || !slices.Equal(got, []string{"a", "a.x", "a.x.y", "b"}) {
		t.Errorf("%q %v", got, err)
	}
	var queries []string
	s.on("GET /v1/namespaces/a/tables", func(w http.ResponseWriter, r *http.Request, _ string) {
		queries = append(queries, r.URL.RawQuery)
		next := map[string]string{"": `"1"`, "1": `"2"`, "2": `""`}[r.URL.Query().Get("pageToken")]
		fmt.Fprintf(w, `{"identifiers": [{"namespace": ["a"], "name": "t%d"}], "next-page-token": %s}`, len(queries), next)
	})
	got, err := s.open(t, map[string]string{"rest-page-size": "1"}).List(t.Context(), "a")
	if err != nil || len(got) != 3 || !slices.Equal(queries, []string{"pageSize=1&pageToken=", "pageSize=1&pageToken=1", "pageSize=1&pageToken=2"}) {
		t.Errorf("%v %v, asked %q", got, err, queries)
	}
	// Pages that come round again are an error, and not for ever.
	s.says("GET /v1/namespaces/a/tables", `{"identifiers": [], "next-page-token": "x"}`)
	if _, err := c.List(t.Context(), "a"); !errors.Is(err, errNoAnswer) {
		t.Errorf("%v", err)
	}
}

// What servers say becomes our errors, by the error's type before the status.
func TestRESTErrors(t *testing.T) {
	s := scriptREST(t)
	c := s.open(t, map[string]string{"header.X-Secret": "verysecret"})
	n := Name{Namespace: "a", Table: "t"}
	answer := func(status int, body string) func(http.ResponseWriter, *http.Request, string) {
		return func(w http.ResponseWriter, _ *http.Request, _ string) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	model := func(kind string) string {
		return fmt.Sprintf(`{"error": {"message": "verysecret <%s>", "type": %q, "code": 1}}`, kind, kind)
	}
	load := func() error { _, err := c.Load(t.Context(), n); return err }
	space := func() error { return c.CreateNamespace(t.Context(), "a", nil) }
	drop := func() error { return c.DropNamespace(t.Context(), "a") }
	for _, v := range []struct {
		route  string
		status int
		body   string
		run    func() error
		want   string // the code, or our error
	}{
		{"GET /v1/namespaces/a/tables/t", 404, model("NoSuchTableException"), load, "table rest.a.t does not exist"},
		{"GET /v1/namespaces/a/tables/t", 404, model("NoSuchNamespaceException"), load, "table rest.a.t does not exist"},
		{"GET /v1/namespaces/a/tables/t", 404, "", load, "table rest.a.t does not exist"},
		{"GET /v1/namespaces/a/tables/t", 401, model("NotAuthorizedException"), load, string(sqlerr.InsufficientPrivilege)},
		{"GET /v1/namespaces/a/tables/t", 403, `{"message": "flat", "type": "ForbiddenException"}`, load, string(sqlerr.InsufficientPrivilege)},
		{"GET /v1/namespaces/a/tables/t", 419, model("AuthenticationTimeoutException"), load, string(sqlerr.InsufficientPrivilege)},
		{"GET /v1/namespaces/a/tables/t", 406, model("UnsupportedOperationException"), load, string(sqlerr.FeatureNotSupported)},
		{"GET /v1/namespaces/a/tables/t", 400, model("BadRequestException"), load, string(sqlerr.SystemError)},
		{"GET /v1/namespaces/a/tables/t", 500, "<html>", load, string(sqlerr.ConnectionFailure)},
		{"GET /v1/namespaces/a/tables/t", 200, "<html>", load, string(sqlerr.ConnectionFailure)},
		{"GET /v1/namespaces/a/tables/t", 204, "", load, string(sqlerr.ConnectionFailure)},
		{"GET /v1/namespaces/a/tables/t", 200, `{"metadata-location": "x", "metadata": {}}`, load, string(sqlerr.IOError)},
		{"POST /v1/namespaces", 409, model("AlreadyExistsException"), space, "schema a already exists"},
		{"POST /v1/namespaces", 409, "", space, "schema a already exists"},
		{"DELETE /v1/namespaces/a", 409, model("NamespaceNotEmptyException"), drop, "namespace a is not empty"},
		{"DELETE /v1/namespaces/a", 404, model("NoSuchNamespaceException"), drop, "schema a does not exist"},
	} {
		s.on(v.route, answer(v.status, v.body))
		err := v.run()
		if err == nil || err.Error() != v.want && string(sqlerr.CodeOf(err)) != v.want {
			t.Errorf("%s %d %s: %v (%s), want %s", v.route, v.status, v.body, err, sqlerr.CodeOf(err), v.want)
		}
		if e, ok := sqlerr.As(err); ok && strings.Contains(e.Error()+fmt.Sprint(e.Detail)+fmt.Sprint(e.Cause), "verysecret") {
			t.Errorf("%v shows a secret", err)
		}
	}
}

// A user's token is borne as it is; a credential is exchanged for a token, once for all who ask, and
// again when its time is over or the server says that it is; a table may have a token of its own.
func TestRESTTokens(t *testing.T) {
	s := scriptREST(t)
	var mu sync.Mutex
	var given []url.Values
	good, life := "", 3600
	s.on("POST /v1/oauth/tokens", func(w http.ResponseWriter, r *http.Request, body string) {
		mu.Lock()
		defer mu.Unlock()
		form, _ := url.ParseQuery(body)
		form.Set("bearer", r.Header.Get("Authorization"))
		given = append(given, form)
		if form.Get("client_secret") == "wrong" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error": "invalid_client", "error_description": "who is this"}`)
			return
		}
		good = fmt.Sprintf("token%d", len(given))
		fmt.Fprintf(w, `{"access_token": %q, "token_type": "bearer", "expires_in": %d}`, good, life)
	})
	s.on("GET /v1/namespaces/a/tables", func(w http.ResponseWriter, r *http.Request, _ string) {
		mu.Lock()
		defer mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer "+good {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, `{"identifiers": []}`)
	})
	list := func(c *restCatalog) error { _, err := c.List(t.Context(), "a"); return err }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	given = nil
	c := s.open(t, map[string]string{"credential": "me:se:cret", "scope": "all", "audience": "aud"})
	must(list(c))
	want := url.Values{"grant_type": {"client_credentials"}, "client_id": {"me"}, "client_secret": {"se:cret"}, "scope": {"all"}, "audience": {"aud"}, "bearer": {""}}
	if len(given) != 1 || given[0].Encode() != want.Encode() {
		t.Errorf("asked for tokens by %v, want %v", given, want)
	}
	good = "another" // the server forgets the token
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := list(c); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(given) != 2 {
		t.Errorf("%d tokens were had, of which one was needed", len(given)-1)
	}
	life = 1 // good for a second: it is renewed before that
	c = s.open(t, map[string]string{"credential": "me:secret"})
	before := len(given)
	c.client.auth.mu.Lock()
	ahead := time.Until(c.client.auth.until)
	c.client.auth.until = time.Now()
	c.client.auth.mu.Unlock()
	must(list(c))
	if len(given) != before+1 || ahead > time.Second {
		t.Errorf("%d tokens, renewed %v after the first", len(given)-before, ahead)
	}
	if _, err := OpenCatalog(t.Context(), "rest", map[string]string{"uri": s.URL, "credential": "wrong"}); err == nil || !strings.Contains(err.Error(), "who is this") || strings.Contains(err.Error(), "wrong") {
		t.Errorf("a wrong secret: %v", err)
	}

	// The user's own.
	given, good = nil, "mine"
	c = s.open(t, map[string]string{"token": "mine"})
	must(list(c))
	good = "another"
	if err := list(c); sqlerr.CodeOf(err) != sqlerr.InsufficientPrivilege || len(given) != 0 {
		t.Errorf("a token whose time is over: %v, %v", err, given)
	}
	// It is exchanged where the user says so, ahead of its end as it says itself.
	life = 3600
	jwt := "e30." + base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, `{"exp": %d}`, time.Now().Add(time.Hour).Unix())) + ".sig"
	good = jwt
	c = s.open(t, map[string]string{"token": jwt, "token-refresh-enabled": "true"})
	must(list(c))
	good = "another"
	must(list(c))
	if len(given) != 1 || given[0].Get("grant_type") != "urn:ietf:params:oauth:grant-type:token-exchange" || given[0].Get("subject_token") != jwt || given[0].Get("bearer") != "Bearer "+jwt {
		t.Errorf("exchanged by %v", given)
	}
	if d := lifetime(jwt, "1"); d < 58*time.Minute || d > time.Hour {
		t.Errorf("the token is good for %v", d)
	}
	// A renewal ahead of time that fails is no failure.
	s.on("POST /v1/oauth/tokens", func(w http.ResponseWriter, _ *http.Request, _ string) { w.WriteHeader(http.StatusBadRequest) })
	c.client.auth.mu.Lock()
	c.client.auth.until = time.Now()
	c.client.auth.mu.Unlock()
	must(list(c))
}

// A server that wants a table to be asked for with a token of its own is asked so.
func TestRESTTableTokens(t *testing.T) {
	f, s := restFixture(t)
	f.must(f.c.CreateNamespace(f.ctx, "a", nil))
	_, err := f.c.Create(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	s.Config = map[string]string{"token": "of the table"}
	f.load()
	var borne []string
	var mu sync.Mutex
	c := f.c.(*restCatalog)
	c.client.http.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		borne = append(borne, r.Method+" "+r.Header.Get("Authorization"))
		mu.Unlock()
		return http.DefaultTransport.RoundTrip(r)
	})
	_, err = f.c.Commit(f.ctx, f.name, Change{Add: []*DataFile{f.file(1)}})
	f.must(err)
	if !slices.Contains(borne, "POST Bearer of the table") {
		t.Errorf("asked with %q", borne)
	}
	s.Config = nil
	f.load()
	borne = nil
	f.load()
	if !slices.Equal(borne, []string{"GET "}) {
		t.Errorf("asked with %q", borne)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Requests are signed as Signature Version 4 has it, each time that one is sent: computed here by the
// steps of AWS's description, and not by its library.
func TestRESTSigned(t *testing.T) {
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	s := scriptREST(t)
	sum := func(b string) string { h := sha256.Sum256([]byte(b)); return hex.EncodeToString(h[:]) }
	mac := func(key []byte, text string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	signatures := 0
	verify := func(r *http.Request, body string) {
		signatures++
		auth := r.Header.Get("Authorization")
		var list, signature string
		if _, err := fmt.Sscanf(strings.ReplaceAll(auth, ",", " "), "AWS4-HMAC-SHA256 Credential=KEY/"+r.Header.Get("X-Amz-Date")[:8]+"/eu-west-1/glue/aws4_request SignedHeaders=%s Signature=%s", &list, &signature); err != nil {
			t.Errorf("%s: %v", auth, err)
		}
		var headers strings.Builder
		for _, h := range strings.Split(list, ";") {
			v := r.Header.Get(h)
			switch h {
			case "host":
				v = r.Host
			case "content-length":
				v = strconv.Itoa(len(body))
			}
			headers.WriteString(h + ":" + strings.TrimSpace(v) + "\n")
		}
		path := strings.ReplaceAll(r.URL.EscapedPath(), "%", "%25")
		canonical := strings.Join([]string{r.Method, path, strings.ReplaceAll(r.URL.Query().Encode(), "+", "%20"), headers.String(), list, sum(body)}, "\n")
		scope := r.Header.Get("X-Amz-Date")[:8] + "/eu-west-1/glue/aws4_request"
		key := mac(mac(mac(mac([]byte("AWS4SECRET"), scope[:8]), "eu-west-1"), "glue"), "aws4_request")
		want := hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+r.Header.Get("X-Amz-Date")+"\n"+scope+"\n"+sum(canonical)))
		if signature != want || !strings.Contains(list, "host;") || r.Header.Get("X-Amz-Content-Sha256") != sum(body) {
			t.Errorf("%s %s: the signature %s is not %s of\n%s", r.Method, r.URL, signature, want, canonical)
		}
		if r.Header.Get("Original-Authorization") != "Bearer also" || !strings.Contains(list, "x-amz-security-token") {
			t.Errorf("headers: %v", r.Header)
		}
	}
	s.on("GET /v1/config", func(w http.ResponseWriter, r *http.Request, body string) {
		verify(r, body)
		_, _ = io.WriteString(w, `{}`)
	})
	times := 0
	s.on("POST /v1/namespaces", func(w http.ResponseWriter, r *http.Request, body string) {
		verify(r, body)
		if times++; times == 1 {
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, `{"namespace": ["a"]}`)
	})
	s.on("GET /v1/namespaces/a%1Fb%20c/tables", func(w http.ResponseWriter, r *http.Request, body string) {
		verify(r, body)
		_, _ = io.WriteString(w, `{}`)
	})
	c := s.open(t, map[string]string{"rest.sigv4-enabled": "true", "rest.signing-name": "glue", "rest.signing-region": "eu-west-1", "token": "also", "warehouse": "a b/c",
		"rest.access-key-id": "KEY", "rest.secret-access-key": "SECRET", "rest.session-token": "SESSION"})
	if err := c.CreateNamespace(t.Context(), "a", nil); err != nil {
		t.Error(err)
	}
	if _, err := c.List(t.Context(), "a.b c"); err != nil {
		t.Error(err)
	}
	if signatures != 4 {
		t.Errorf("%d requests were signed", signatures)
	}
}

// Metadata is kept as the server sends it, with what we do not know; it is read once while it does not
// change; and a server cannot make us take memory that is not there.
func TestRESTMetadata(t *testing.T) {
	f, s := restFixture(t)
	f.must(f.c.CreateNamespace(f.ctx, "a", nil))
	_, err := f.c.Create(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	raw, err := json.Marshal(s.Tables["a.t"].Meta)
	f.must(err)
	script := scriptREST(t)
	serve := func(meta string) {
		script.says("GET /v1/namespaces/a/tables/t", `{"metadata-location": "`+s.Tables["a.t"].Location+`", "metadata": `+meta+`}`)
	}
	odd := strings.Replace(string(raw), "{", `{"x-unknown": [1,  2.50],`, 1)
	serve(odd)
	c := script.open(t, nil)
	one, err := c.Load(t.Context(), f.name)
	f.must(err)
	two, err := c.Load(t.Context(), f.name)
	f.must(err)
	if string(one.raw) != odd || &one.raw[0] != &two.raw[0] {
		t.Errorf("kept as %s", one.raw)
	}
	serve(strings.Replace(odd, "2.50", "2.51", 1)) // the same place, another content
	if three, err := c.Load(t.Context(), f.name); err != nil || !strings.Contains(string(three.raw), "2.51") {
		t.Errorf("%v", err)
	}
	serve(strings.Replace(odd, "2.50", `"`+strings.Repeat("x", 3<<20)+`"`, 1))
	room.Ask(func(n int64) error { return room.Error() })
	defer room.Ask(nil)
	if _, err := c.Load(context.Background(), f.name); sqlerr.CodeOf(err) != sqlerr.OutOfMemory {
		t.Errorf("without memory: %v", err)
	}
}
