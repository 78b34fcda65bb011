package maintain_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/lake/fakerest"
)

// versionedBucket is as much of S3 as a table needs, and keeps every version of every object: what is
// deleted without a version's id is only hidden.
type versionedBucket struct {
	mu     sync.Mutex
	list   []version // oldest first
	keeps  bool      // false: it answers 501 to who asks for versions, and keeps none
	denied bool      // versions cannot be removed
}

type version struct {
	key    string
	id     int
	body   []byte
	marker bool // it says that the object was deleted
	at     time.Time
}

// latest is the newest version of a key.
func (s *versionedBucket) latest(key string) *version {
	for i := len(s.list) - 1; i >= 0; i-- {
		if s.list[i].key == key {
			return &s.list[i]
		}
	}
	return nil
}

func (s *versionedBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, q := strings.TrimPrefix(r.URL.Path, "/b/"), r.URL.Query()
	now := s.latest(key)
	switch {
	case r.Method == "PUT":
		if now != nil && !now.marker && r.Header.Get("If-None-Match") == "*" {
			w.WriteHeader(412)
			return
		}
		b, _ := io.ReadAll(r.Body)
		s.list = append(s.list, version{key, len(s.list) + 1, b, false, time.Now()})
	case r.Method == "DELETE" && q.Has("versionId"):
		if s.denied {
			w.WriteHeader(403)
			return
		}
		s.list = slices.DeleteFunc(s.list, func(v version) bool { return v.key == key && fmt.Sprint(v.id) == q.Get("versionId") })
		w.WriteHeader(204)
	case r.Method == "DELETE":
		if !s.keeps {
			s.list = slices.DeleteFunc(s.list, func(v version) bool { return v.key == key })
		} else {
			s.list = append(s.list, version{key: key, id: len(s.list) + 1000, marker: true, at: time.Now()})
		}
		w.WriteHeader(204)
	case q.Has("versions"):
		if !s.keeps {
			w.WriteHeader(501)
			return
		}
		fmt.Fprint(w, "<ListVersionsResult>")
		for i := range s.list {
			v := &s.list[i]
			what := "Version"
			if v.marker {
				what = "DeleteMarker"
			}
			if strings.HasPrefix(v.key, q.Get("prefix")) {
				fmt.Fprintf(w, "<%s><Key>%s</Key><VersionId>%d</VersionId><IsLatest>%v</IsLatest></%s>", what, v.key, v.id, s.latest(v.key) == v, what)
			}
		}
		fmt.Fprint(w, "</ListVersionsResult>")
	case q.Get("list-type") == "2":
		fmt.Fprint(w, "<ListBucketResult>")
		for i := range s.list {
			if v := &s.list[i]; s.latest(v.key) == v && !v.marker && strings.HasPrefix(v.key, q.Get("prefix")) {
				fmt.Fprintf(w, "<Contents><Key>%s</Key><Size>%d</Size><LastModified>%s</LastModified></Contents>", v.key, len(v.body), v.at.UTC().Format(time.RFC3339))
			}
		}
		fmt.Fprint(w, "</ListBucketResult>")
	case now == nil || now.marker:
		w.WriteHeader(404)
	default:
		http.ServeContent(w, r, "", now.at, strings.NewReader(string(now.body)))
	}
}

// holds counts versions with the token.
func (s *versionedBucket) holds() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, v := range s.list {
		if strings.Contains(string(v.body), mark) {
			n++
		}
	}
	return n
}

// A store that keeps versions of removed objects has them removed as well. Where that is forbidden, the
// erasure is pending, and says how many there are.
func TestEraseVersions(t *testing.T) {
	for _, c := range []struct{ keeps, denied bool }{{false, false}, {true, false}, {true, true}} {
		srv := &versionedBucket{keeps: c.keeps, denied: c.denied}
		web := httptest.NewServer(srv)
		h := &house{t: t, dir: t.TempDir(), ctx: context.Background()}
		h.serve(map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(h.dir, "catalog.db"), "warehouse": "s3://b/w",
			"s3.endpoint": web.URL, "s3.access-key-id": "k", "s3.secret-access-key": "s"})
		h.must("CREATE SCHEMA s")
		h.must("CREATE TABLE s.t (id int, token text)")
		h.must("INSERT INTO s.t VALUES (1, '" + token + "'), (2, 'b')")
		if srv.holds() == 0 {
			t.Fatal("nothing is planted")
		}
		out := h.eraseToken("s.t", "")
		text := strings.Join(out, "\n")
		h.want("SELECT id FROM s.t", "2")
		switch {
		case !c.denied && (status(out) != "DONE" || srv.holds() > 0):
			t.Errorf("%+v: %d left, %s", c, srv.holds(), text)
		case c.denied && (status(out) != "PENDING" || !strings.Contains(text, "the store keeps 10 versions of 5 removed objects")):
			t.Errorf("%+v: %s", c, text)
		}
		if c.denied {
			srv.mu.Lock()
			srv.denied = false
			srv.mu.Unlock()
			if out := h.eraseToken("s.t", ""); status(out) != "DONE" || srv.holds() > 0 {
				t.Error(out)
			}
		}
		// What was removed before the erasure, the store has kept, too: nobody has looked into it.
		h.must("DROP TABLE s.t PURGE")
		if c.keeps && !c.denied {
			srv.denied = true
			h.must("CREATE TABLE s.t (id int, token text)")
			h.must("INSERT INTO s.t VALUES (1, '" + token + "'), (2, 'b')")
			h.must("CALL system.expire_snapshots('s.t')")
			h.must("TRUNCATE s.t; CALL system.expire_snapshots('s.t', older_than => now())")
			if out := h.eraseToken("s.t", ""); status(out) != "PENDING" || !strings.Contains(strings.Join(out, "\n"), "versions of") {
				t.Error(out)
			}
		}
		web.Close()
	}
}

// In the tables of a REST catalog, whose server keeps the metadata log; evidence lies in the server's
// own folder, and its chain as well tells of changes.
func TestEraseREST(t *testing.T) {
	h := &house{t: t, dir: t.TempDir(), ctx: context.Background()}
	s := fakerest.New()
	s.Transactions, s.Warehouse = true, h.dir+"/warehouse"
	web := httptest.NewServer(s)
	defer web.Close()
	h.serve(map[string]string{"type": "rest", "uri": web.URL, "warehouse": s.Warehouse})
	h.must("CREATE SCHEMA s")
	h.someRows("2")
	if out := h.eraseToken("s.t", "TAGS DROP"); status(out) != "DONE" {
		t.Error(out)
	}
	h.someRowsAre()
	h.clean()
	id := h.must("SELECT id FROM system.erasures")[0]
	if out := h.must("CALL system.verify_erasure('" + id + "', '" + token + "')"); len(out) != 1 || !strings.Contains(out[0], "|0|NULL") {
		t.Error(out)
	}
}

// serve opens a server on a catalog.
func (h *house) serve(props map[string]string) {
	h.t.Helper()
	var err error
	h.eng, err = engine.Open(h.ctx, engine.Config{TempDir: filepath.Join(h.dir, "tmp"), StateDir: filepath.Join(h.dir, "state"), MemoryLimit: 1 << 30, Workers: 2,
		Catalogs: []engine.CatalogConfig{{Name: "lake", Props: props}}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { h.eng.Close() })
	h.s, h.other = h.session(), h.session()
}
