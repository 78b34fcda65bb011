// Package fakerest is an Iceberg REST catalog in memory, for tests: what does a client do when a
// catalog, or what stands between, answers one thing and has done another?
//
// Updates are applied by the Iceberg library's own metadata builders, so that what a client sends is
// judged by other code than its own. It knows nothing of lake.
package fakerest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/apache/iceberg-go/view"
	"github.com/google/uuid"
)

// Server is the catalog. Names in its maps are joined with dots. Its fields are guarded by Mu once
// it serves.
type Server struct {
	Mu         sync.Mutex
	Namespaces map[string]map[string]string
	Tables     map[string]*Table
	Views      map[string]view.Metadata
	// Transactions: it commits several tables at once.
	Transactions bool
	// Config is what the server says of how a table's objects are reached.
	Config map[string]string
	// Credentials are those that it gives with every table (storage-credentials).
	Credentials []any
	// Warehouse is where views lie.
	Warehouse string
	// Fault, if set, becomes of requests what it says.
	Fault *Fault
}

// Table is a table's metadata and where the server says that it lies.
type Table struct {
	Meta     table.Metadata
	Location string
}

// New makes an empty catalog.
func New() *Server {
	return &Server{Namespaces: map[string]map[string]string{}, Tables: map[string]*Table{}, Views: map[string]view.Metadata{}}
}

type object = map[string]any

type commit struct {
	Requirements table.Requirements `json:"requirements"`
	Updates      table.Updates      `json:"updates"`
	Identifier   ident              `json:"identifier"`
}

type ident struct {
	Namespace []string `json:"namespace"`
	Name      string   `json:"name"`
}

func (i ident) String() string { return strings.Join(append(i.Namespace, i.Name), ".") }

// refusal is an error with its HTTP status and the protocol's name.
type refusal struct {
	status int
	kind   string
}

func (r *refusal) Error() string { return r.kind }

// ServeHTTP serves one request after the other.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if s.faulty(w, r, body) {
		return
	}
	s.serve(w, r, body)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, body []byte) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	v, err := s.route(r, body)
	var no *refusal
	status := http.StatusOK
	switch {
	case errors.As(err, &no):
		status, v = no.status, object{"error": object{"message": no.kind, "type": no.kind, "code": no.status}}
	case err != nil:
		status, v = 400, object{"error": object{"message": err.Error(), "type": "BadRequestException", "code": 400}}
	case v == nil:
		w.WriteHeader(http.StatusNoContent)
		return
	}
	reply(w, status, v)
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// recorded is what the server would have answered.
func (s *Server) recorded(r *http.Request, body []byte) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	s.serve(rec, r, body)
	return rec
}

func (s *Server) route(r *http.Request, body []byte) (any, error) {
	parts := strings.Split(strings.TrimPrefix(r.URL.Path, "/v1/"), "/")
	route := r.Method
	for i, p := range parts {
		if i%2 == 0 {
			route += " " + p
		}
	}
	ns, name := "", ""
	if len(parts) > 1 {
		ns = strings.ReplaceAll(parts[1], "\x1f", ".")
	}
	if len(parts) > 3 {
		name = ns + "." + parts[3]
	}
	switch route {
	case "GET config":
		return object{"defaults": object{"view-endpoints-supported": "true"}, "overrides": object{}}, nil
	case "GET namespaces":
		if len(parts) == 2 {
			return s.namespace(ns)
		}
		return s.namespaces(r), nil
	case "POST namespaces":
		return s.makeNamespace(body)
	case "DELETE namespaces":
		return nil, s.dropNamespace(ns)
	case "POST namespaces properties":
		return s.setNamespace(ns, body)
	case "GET namespaces tables", "GET namespaces views":
		if name == "" {
			if _, ok := s.Namespaces[ns]; !ok {
				return nil, &refusal{404, "NoSuchNamespaceException"}
			}
			return s.list(ns, parts[2]), nil
		}
		if parts[2] == "views" {
			return s.loadView(name)
		}
		return s.load(name)
	case "POST namespaces tables":
		var c commit
		if err := json.Unmarshal(body, &c); err != nil {
			return nil, err
		}
		if err := s.commit(name, c); err != nil {
			return nil, err
		}
		return s.load(name)
	case "DELETE namespaces tables":
		if s.Tables[name] == nil {
			return nil, &refusal{404, "NoSuchTableException"}
		}
		delete(s.Tables, name)
		return nil, nil
	case "DELETE namespaces views":
		if s.Views[name] == nil {
			return nil, &refusal{404, "NoSuchViewException"}
		}
		delete(s.Views, name)
		return nil, nil
	case "POST namespaces views":
		if name == "" {
			return s.makeView(ns, body)
		}
		return s.updateView(name, body)
	case "POST tables", "POST views":
		return nil, s.rename(parts[0], body)
	case "POST transactions":
		return nil, s.commitAll(body)
	}
	return nil, &refusal{404, "no route " + route}
}

func (s *Server) namespaces(r *http.Request) any {
	list := [][]string{}
	parent := strings.ReplaceAll(r.URL.Query().Get("parent"), "\x1f", ".")
	for n := range s.Namespaces {
		levels := strings.Split(n, ".")
		if strings.Join(levels[:len(levels)-1], ".") == parent {
			list = append(list, levels)
		}
	}
	return object{"namespaces": list}
}

func (s *Server) namespace(ns string) (any, error) {
	p, ok := s.Namespaces[ns]
	if !ok {
		return nil, &refusal{404, "NoSuchNamespaceException"}
	}
	return object{"namespace": strings.Split(ns, "."), "properties": p}, nil
}

func (s *Server) makeNamespace(body []byte) (any, error) {
	var in struct {
		Namespace  []string
		Properties map[string]string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	name := strings.Join(in.Namespace, ".")
	if _, ok := s.Namespaces[name]; ok {
		return nil, &refusal{409, "AlreadyExistsException"}
	}
	if in.Properties == nil {
		in.Properties = map[string]string{}
	}
	s.Namespaces[name] = in.Properties
	return in, nil
}

func (s *Server) dropNamespace(ns string) error {
	if _, ok := s.Namespaces[ns]; !ok {
		return &refusal{404, "NoSuchNamespaceException"}
	}
	within := func(n string) bool { return strings.HasPrefix(n, ns+".") }
	for _, names := range []iter.Seq[string]{maps.Keys(s.Tables), maps.Keys(s.Views), maps.Keys(s.Namespaces)} {
		for n := range names {
			if within(n) {
				return &refusal{409, "NamespaceNotEmptyException"}
			}
		}
	}
	delete(s.Namespaces, ns)
	return nil
}

func (s *Server) setNamespace(ns string, body []byte) (any, error) {
	var in struct {
		Removals []string
		Updates  map[string]string
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	p, ok := s.Namespaces[ns]
	if !ok {
		return nil, &refusal{404, "NoSuchNamespaceException"}
	}
	for _, k := range in.Removals {
		delete(p, k)
	}
	maps.Copy(p, in.Updates)
	return object{"updated": []string{}, "removed": []string{}}, nil
}

func (s *Server) list(ns, what string) any {
	list := []object{}
	add := func(n string) {
		if rest, ok := strings.CutPrefix(n, ns+"."); ok && !strings.Contains(rest, ".") {
			list = append(list, object{"namespace": strings.Split(ns, "."), "name": rest})
		}
	}
	if what == "views" {
		for n := range s.Views {
			add(n)
		}
	} else {
		for n := range s.Tables {
			add(n)
		}
	}
	return object{"identifiers": list}
}

func (s *Server) rename(what string, body []byte) error {
	var in struct{ Source, Destination ident }
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	from, to := in.Source.String(), in.Destination.String()
	if s.Tables[to] != nil || s.Views[to] != nil {
		return &refusal{409, "AlreadyExistsException"}
	}
	switch {
	case what == "views" && s.Views[from] != nil:
		s.Views[to] = s.Views[from]
		delete(s.Views, from)
	case what == "tables" && s.Tables[from] != nil:
		s.Tables[to] = s.Tables[from]
		delete(s.Tables, from)
	default:
		return &refusal{404, map[string]string{"views": "NoSuchViewException", "tables": "NoSuchTableException"}[what]}
	}
	return nil
}

func (s *Server) commitAll(body []byte) error {
	var in struct {
		Changes []commit `json:"table-changes"`
	}
	if !s.Transactions {
		return &refusal{404, "no route"}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return err
	}
	was := maps.Clone(s.Tables)
	for _, c := range in.Changes {
		if err := s.commit(c.Identifier.String(), c); err != nil {
			s.Tables = was
			return err
		}
	}
	return nil
}

func (s *Server) load(name string) (any, error) {
	t := s.Tables[name]
	if t == nil {
		return nil, &refusal{404, "NoSuchTableException"}
	}
	return object{"metadata-location": t.Location, "metadata": t.Meta, "config": s.Config, "storage-credentials": s.Credentials}, nil
}

func (s *Server) commit(name string, c commit) error {
	t := s.Tables[name]
	if s.Views[name] != nil {
		return &refusal{409, "AlreadyExistsException"}
	}
	var base table.Metadata
	b, err := table.NewMetadataBuilder(2)
	if t != nil {
		base = t.Meta
		b, err = table.MetadataBuilderFromBase(base, t.Location)
	}
	for _, r := range c.Requirements {
		// As the Iceberg project's own server: who creates can require nothing else.
		if t == nil && r.GetType() != "assert-create" {
			return &refusal{400, "Invalid create requirements"}
		}
		if err := r.Validate(base); err != nil {
			return &refusal{409, err.Error()}
		}
	}
	if t == nil && len(c.Requirements) == 0 {
		return &refusal{404, "NoSuchTableException"}
	}
	for _, u := range c.Updates {
		if err == nil {
			err = u.Apply(b)
		}
	}
	if err != nil {
		return err
	}
	meta, err := b.Build()
	if err != nil {
		return err
	}
	n := 0
	if t != nil {
		_, _ = fmt.Sscanf(t.Location[strings.LastIndexByte(t.Location, '/')+1:], "%05d", &n)
	}
	s.Tables[name] = &Table{meta, fmt.Sprintf("%s/metadata/%05d-x.metadata.json", meta.Location(), n+1)}
	return nil
}

func (s *Server) loadView(name string) (any, error) {
	v := s.Views[name]
	if v == nil {
		return nil, &refusal{404, "NoSuchViewException"}
	}
	return object{"metadata-location": v.Location() + "/metadata/v.json", "metadata": v}, nil
}

func (s *Server) makeView(ns string, body []byte) (any, error) {
	var in struct {
		Name       string             `json:"name"`
		Schema     *iceberg.Schema    `json:"schema"`
		Version    *view.Version      `json:"view-version"`
		Properties iceberg.Properties `json:"properties"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	name := ns + "." + in.Name
	if s.Views[name] != nil || s.Tables[name] != nil {
		return nil, &refusal{409, "AlreadyExistsException"}
	}
	b, err := view.NewMetadataBuilder()
	if err != nil {
		return nil, err
	}
	// As the Iceberg project's own server, which keeps no summary of a first version.
	in.Version.Summary = map[string]string{"iceberg-version": "fake"}
	b.SetUUID(uuid.New()).SetLoc(s.Warehouse+"/"+strings.ReplaceAll(name, ".", "/")).SetCurrentVersion(in.Version, in.Schema)
	if len(in.Properties) > 0 {
		b.SetProperties(in.Properties)
	}
	return s.keepView(name, b)
}

func (s *Server) updateView(name string, body []byte) (any, error) {
	var in struct {
		Requirements view.Requirements `json:"requirements"`
		Updates      view.Updates      `json:"updates"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	v := s.Views[name]
	if v == nil {
		return nil, &refusal{404, "NoSuchViewException"}
	}
	for _, r := range in.Requirements {
		if err := r.Validate(v); err != nil {
			return nil, &refusal{409, err.Error()}
		}
	}
	b, err := view.MetadataBuilderFromBase(v)
	if err != nil {
		return nil, err
	}
	for _, u := range in.Updates {
		if err := u.Apply(b); err != nil {
			return nil, err
		}
	}
	return s.keepView(name, b)
}

func (s *Server) keepView(name string, b *view.MetadataBuilder) (any, error) {
	built, err := b.Build()
	if err != nil {
		return nil, err
	}
	// Kept as others would read it.
	raw, err := json.Marshal(built)
	if err != nil {
		return nil, err
	}
	if s.Views[name], err = view.ParseMetadata(bytes.NewReader(raw)); err != nil {
		delete(s.Views, name)
		return nil, err
	}
	return s.loadView(name)
}
