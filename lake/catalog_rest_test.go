package lake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/apache/iceberg-go/table"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// restServer is a REST catalog in memory. It applies updates with the Iceberg library's own
// metadata builder, so that what we send is judged by other code than ours.
type restServer struct {
	mu         sync.Mutex
	namespaces map[string]map[string]string
	tables     map[string]*restTable
	// fault, if set, decides what becomes of the next commit: "conflict", "lost" (done, but
	// answered with 503), "failed" (not done, answered with 503).
	fault string
	// transactions: it commits several tables at once.
	transactions bool
	// config is what the server says of how a table's objects are reached.
	config map[string]string
}

type restTable struct {
	meta table.Metadata
	loc  string
}

type restCommit struct {
	Requirements table.Requirements `json:"requirements"`
	Updates      table.Updates      `json:"updates"`
	Identifier   struct {
		Namespace []string `json:"namespace"`
		Name      string   `json:"name"`
	} `json:"identifier"`
}

func (s *restServer) reply(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func (s *restServer) refuse(w http.ResponseWriter, code int, kind string) {
	s.reply(w, code, obj{"error": obj{"message": kind, "type": kind, "code": code}})
}

func (s *restServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	route := r.Method
	for i, p := range parts {
		if i%2 == 0 {
			route += " " + p
		}
	}
	ns, tab := "", ""
	if len(parts) > 1 {
		ns = strings.ReplaceAll(parts[1], "\x1f", ".")
	}
	if len(parts) > 3 {
		tab = ns + "." + parts[3]
	}
	switch route {
	case "GET config":
		s.reply(w, 200, obj{"defaults": obj{}, "overrides": obj{}})
	case "GET namespaces":
		list := [][]string{}
		if len(parts) == 2 {
			s.namespace(w, ns)
			return
		}
		if r.URL.Query().Get("parent") == "" {
			for n := range s.namespaces {
				list = append(list, []string{n})
			}
		}
		s.reply(w, 200, obj{"namespaces": list})
	case "POST namespaces":
		var in struct {
			Namespace  []string
			Properties map[string]string
		}
		_ = json.NewDecoder(r.Body).Decode(&in)
		if s.namespaces[in.Namespace[0]] != nil {
			s.refuse(w, 409, "AlreadyExistsException")
			return
		}
		s.namespaces[in.Namespace[0]] = in.Properties
		s.reply(w, 200, in)
	case "GET namespaces tables":
		if tab != "" {
			s.load(w, tab)
			return
		}
		list := []obj{}
		for n := range s.tables {
			list = append(list, obj{"namespace": []string{ns}, "name": strings.TrimPrefix(n, ns+".")})
		}
		s.reply(w, 200, obj{"identifiers": list})
	case "POST namespaces tables":
		var c restCommit
		if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
			s.refuse(w, 400, err.Error())
			return
		}
		if err := s.commit(tab, c); err != nil {
			s.refuse(w, err.code, err.msg)
			return
		}
		if s.fault == "lost" {
			s.fault = ""
			s.refuse(w, 503, "ServiceUnavailable")
			return
		}
		s.load(w, tab)
	case "DELETE namespaces tables":
		delete(s.tables, tab)
		w.WriteHeader(204)
	case "DELETE namespaces":
		delete(s.namespaces, ns)
		w.WriteHeader(204)
	case "POST tables":
		s.rename(w, r)
	case "POST transactions":
		s.commitAll(w, r)
	default:
		s.refuse(w, 404, "no route "+route)
	}
}

func (s *restServer) rename(w http.ResponseWriter, r *http.Request) {
	type ident struct {
		Namespace []string
		Name      string
	}
	var in struct{ Source, Destination ident }
	_ = json.NewDecoder(r.Body).Decode(&in)
	from, to := strings.Join(append(in.Source.Namespace, in.Source.Name), "."), strings.Join(append(in.Destination.Namespace, in.Destination.Name), ".")
	switch {
	case s.tables[from] == nil:
		s.refuse(w, 404, "NoSuchTableException")
	case s.tables[to] != nil:
		s.refuse(w, 409, "AlreadyExistsException")
	default:
		s.tables[to] = s.tables[from]
		delete(s.tables, from)
		w.WriteHeader(204)
	}
}

func (s *restServer) commitAll(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Changes []restCommit `json:"table-changes"`
	}
	if !s.transactions {
		s.refuse(w, 404, "no route")
		return
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		s.refuse(w, 400, err.Error())
		return
	}
	was := maps.Clone(s.tables)
	for _, c := range in.Changes {
		if err := s.commit(strings.Join(append(c.Identifier.Namespace, c.Identifier.Name), "."), c); err != nil {
			s.tables = was
			s.refuse(w, err.code, err.msg)
			return
		}
	}
	w.WriteHeader(204)
}

func (s *restServer) namespace(w http.ResponseWriter, ns string) {
	p, ok := s.namespaces[ns]
	if !ok {
		s.refuse(w, 404, "NoSuchNamespaceException")
		return
	}
	s.reply(w, 200, obj{"namespace": []string{ns}, "properties": p})
}

func (s *restServer) load(w http.ResponseWriter, tab string) {
	t := s.tables[tab]
	if t == nil {
		s.refuse(w, 404, "NoSuchTableException")
		return
	}
	s.reply(w, 200, obj{"metadata-location": t.loc, "metadata": t.meta, "config": s.config})
}

type restRefusal struct {
	code int
	msg  string
}

func (s *restServer) commit(tab string, c restCommit) *restRefusal {
	switch s.fault {
	case "conflict":
		s.fault = ""
		return &restRefusal{409, "CommitFailedException"}
	case "failed":
		return &restRefusal{503, "ServiceUnavailable"}
	}
	t := s.tables[tab]
	var base table.Metadata
	b, err := table.NewMetadataBuilder(2)
	if t != nil {
		base = t.meta
		b, err = table.MetadataBuilderFromBase(base, t.loc)
	}
	for _, r := range c.Requirements {
		// As the Iceberg project's own server: who creates can require nothing else.
		if t == nil && r.GetType() != "assert-create" {
			return &restRefusal{400, "Invalid create requirements"}
		}
		if err := r.Validate(base); err != nil {
			return &restRefusal{409, err.Error()}
		}
	}
	for _, u := range c.Updates {
		if err == nil {
			err = u.Apply(b)
		}
	}
	if err != nil {
		return &restRefusal{400, err.Error()}
	}
	meta, err := b.Build()
	if err != nil {
		return &restRefusal{400, err.Error()}
	}
	n := 0
	if t != nil {
		_, _ = fmt.Sscanf(t.loc[strings.LastIndexByte(t.loc, '/')+1:], "%05d", &n)
	}
	s.tables[tab] = &restTable{meta, fmt.Sprintf("%s/metadata/%05d-x.metadata.json", meta.Location(), n+1)}
	return nil
}

func restFixture(t *testing.T) (*fixture, *restServer) {
	s := &restServer{namespaces: map[string]map[string]string{}, tables: map[string]*restTable{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	dir := t.TempDir()
	ctx := WithClock(context.Background(), &ticks{now: clockStart})
	c, err := OpenCatalog(ctx, "rest", map[string]string{"type": "rest", "uri": srv.URL, "warehouse": dir + "/wh"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &fixture{t: t, ctx: ctx, c: c, dir: dir, name: Name{Namespace: "a", Table: "t"}}, s
}

// A REST catalog takes our updates: create, append, replace, DDL, refs; lost races are retried
// and lost answers resolved.
func TestRESTCatalog(t *testing.T) {
	f, s := restFixture(t)
	var missing *NotFound
	if _, err := f.c.Load(f.ctx, f.name); !errors.As(err, &missing) {
		t.Errorf("a missing table: %v", err)
	}
	f.must(f.c.CreateNamespace(f.ctx, "a", map[string]string{"k": "v"}))
	_, err := f.c.Create(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long"), primitive("s", "string")}},
		PartitionBy: []PartitionBy{{Column: "s", Transform: Transform{Kind: Identity}}}, SortBy: []SortBy{{Column: "x", Transform: Transform{Kind: Identity}}},
		Properties: map[string]string{"k": "v"}})
	f.must(err)
	p := types.NewStr("p")
	commit := func(c Change) error { _, err := f.c.Commit(f.ctx, f.name, c); return err }
	f.must(commit(Change{Add: []*DataFile{f.file(3, p)}}))
	s.fault = "conflict"
	f.must(commit(Change{Add: []*DataFile{f.file(4, p)}}))
	s.fault = "lost"
	f.must(commit(Change{Add: []*DataFile{f.file(5, p)}}))
	f.has("f1", "f2", "f3")
	s.fault = "failed"
	if err := commit(Change{Add: []*DataFile{f.file(5, p)}}); Outcome(err) != Unknown {
		t.Errorf("a lost answer: %v", err)
	}
	s.fault = ""
	base := f.load()
	f.must(commit(Change{Base: base, Snapshot: base.CurrentSnapshot(), Kind: CopyOnWrite, Remove: []*DataFile{f.live("main")["f1.parquet"]}}))
	if err := commit(Change{Base: base, Snapshot: base.CurrentSnapshot(), Kind: CopyOnWrite, Remove: []*DataFile{{Path: f.dir + "/wh/a/t/data/f1.parquet", Partition: []types.Datum{p}}}}); !isConflict(err) {
		t.Errorf("a file removed twice: %v", err)
	}
	f.must(commit(Change{Base: f.load(), Edit: func(e *Edit) error {
		for _, err := range []error{
			e.AddColumn([]string{"z"}, primitive("", "timestamp"), Where{First: true}),
			e.AddPartitionField(PartitionBy{Column: "z", Transform: Transform{Kind: Day}}),
			e.SetSortOrder([]SortBy{{Column: "z", Transform: Transform{Kind: Identity}, Desc: true}}),
			e.SetRef(RefSpec{Name: "b", Branch: true}),
			e.SetProperties(map[string]string{"l": "m"}), e.RemoveProperties([]string{"k"}),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	}}))
	tab := f.load()
	if tab.Schema().Fields[0].Name != "z" || len(tab.DefaultSpec().Fields) != 2 || !tab.DefaultSortOrder().Fields[0].Desc ||
		tab.Properties()["l"] != "m" || tab.Properties()["k"] != "" {
		t.Errorf("after DDL: %+v", tab.state)
	}
	f.must(commit(Change{Branch: "b", Add: []*DataFile{f.file(1, p, types.Null)}}))
	f.has("f2", "f3")
	if n := len(f.live("b")); n != 3 {
		t.Errorf("%d files on b", n)
	}
	list, err := f.c.List(f.ctx, "a")
	if err != nil || len(list) != 1 {
		t.Errorf("%v %v", list, err)
	}
	f.must(f.c.Drop(f.ctx, f.name, false))
}

// A server that cannot commit several tables at once is asked for none of them.
func TestRESTSeveralTables(t *testing.T) {
	f, _ := restFixture(t)
	f.must(f.c.CreateNamespace(f.ctx, "a", nil))
	other := Name{Namespace: "a", Table: "u"}
	for _, n := range []Name{f.name, other} {
		_, err := f.c.Create(f.ctx, n, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
		f.must(err)
	}
	_, err := f.c.CommitAll(f.ctx, []TableChange{{f.name, Change{Add: []*DataFile{f.file(1)}}}, {other, Change{Add: []*DataFile{f.file(1)}}}})
	if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.FeatureNotSupported || Outcome(err) != Aborted {
		t.Errorf("several tables: %v", err)
	}
	f.has()
}

// A table is made with its first rows in one commit.
func TestRESTCreateWithRows(t *testing.T) {
	f, _ := restFixture(t)
	f.must(f.c.CreateNamespace(f.ctx, "a", nil))
	tab, err := f.c.Stage(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	_, err = f.c.CommitStaged(f.ctx, tab, Change{Base: tab, Add: []*DataFile{f.fileOf(tab, 3)}})
	f.must(err)
	f.has("f1")
}

// Credentials that the server gives with a table open its objects, and nothing else does.
func TestRESTVendedCredentials(t *testing.T) {
	f, s := restFixture(t)
	bucket := &bucketServer{objects: map[string][]byte{}, parts: map[string]map[int][]byte{}, users: []string{"admin", "vended"}}
	h := httptest.NewServer(bucket)
	defer h.Close()
	open := func(props map[string]string) Catalog {
		props["type"], props["uri"] = "rest", f.c.Properties()["uri"]
		c, err := OpenCatalog(f.ctx, "rest", props)
		f.must(err)
		t.Cleanup(func() { c.Close() })
		return c
	}
	f.must(f.c.CreateNamespace(f.ctx, "a", map[string]string{"location": "s3://b/a"}))
	admin := open(map[string]string{"s3.endpoint": h.URL, "s3.access-key-id": "admin", "s3.secret-access-key": "s", "s3.region": "us-east-1"})
	tab, err := admin.Stage(f.ctx, f.name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	f.must(err)
	_, err = admin.CommitStaged(f.ctx, tab, Change{Base: tab, Add: []*DataFile{f.fileOf(tab, 3)}})
	f.must(err)

	read := func(c Catalog) error {
		tab, err := c.Load(f.ctx, f.name)
		f.must(err)
		_, err = tab.Manifests(f.ctx, tab.CurrentSnapshot())
		return err
	}
	c := open(map[string]string{})
	s.config = map[string]string{"s3.endpoint": h.URL, "s3.access-key-id": "nobody", "s3.secret-access-key": "s", "client.region": "us-east-1"}
	cache := SharedCache
	t.Cleanup(func() { SharedCache = cache })
	SharedCache = NewCache(1 << 20) // or what admin read would be found there
	if err := read(c); err == nil {
		t.Error("objects were read without their credentials")
	}
	s.config["s3.access-key-id"] = "vended"
	f.must(read(c))
	_, err = c.Commit(f.ctx, f.name, Change{Add: []*DataFile{f.file(4)}})
	f.must(err)
}
