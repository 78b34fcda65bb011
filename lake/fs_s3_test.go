package lake

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/lhsql/lhsql/internal/clock"
)

// bucketServer is as much of S3 as the FS uses: conditional PUT, ranges, multipart, listing.
// lose makes the next conditional PUT take place and its answer get lost.
type bucketServer struct {
	mu      sync.Mutex
	objects map[string][]byte
	parts   map[string]map[int][]byte
	marks   map[string]string // the metadata lhsql-upload of objects
	lose    bool
	users   []string // nil: anyone
}

func (s *bucketServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, q := r.URL.Path, r.URL.Query()
	_, user, _ := strings.Cut(r.Header.Get("Authorization"), "Credential=")
	if user, _, _ = strings.Cut(user, "/"); s.users != nil && !slices.Contains(s.users, user) {
		w.WriteHeader(403)
		return
	}
	switch {
	case r.Method == "POST" && q.Has("uploads"):
		s.parts[key] = map[int][]byte{}
		if s.marks == nil {
			s.marks = map[string]string{}
		}
		s.marks["upload "+key] = r.Header.Get("x-amz-meta-lhsql-upload")
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
	case r.Method == "PUT" && q.Has("partNumber"):
		n, _ := strconv.Atoi(q.Get("partNumber"))
		s.parts[key][n], _ = io.ReadAll(r.Body)
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n))
	case r.Method == "PUT" || r.Method == "POST":
		if s.objects[key] != nil && r.Header.Get("If-None-Match") == "*" {
			w.WriteHeader(412)
			return
		}
		b, _ := io.ReadAll(r.Body)
		if r.Method == "POST" {
			if s.parts[key] == nil { // it is complete, or was given up
				w.WriteHeader(404)
				fmt.Fprint(w, "<Error><Code>NoSuchUpload</Code></Error>")
				return
			}
			b = nil
			for n := 1; n <= len(s.parts[key]); n++ {
				b = append(b, s.parts[key][n]...)
			}
			delete(s.parts, key)
			s.marks[key] = s.marks["upload "+key]
			fmt.Fprint(w, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
		}
		s.objects[key] = b
		if s.lose {
			s.lose = false
			w.WriteHeader(503)
		}
	case r.Method == "DELETE":
		delete(s.objects, key)
		w.WriteHeader(204)
	case q.Get("list-type") == "2":
		s.list(w, strings.TrimSuffix(key, "/")+"/"+q.Get("prefix"))
	default:
		b, ok := s.objects[key]
		if !ok {
			w.WriteHeader(404)
			return
		}
		if m := s.marks[key]; m != "" {
			w.Header().Set("x-amz-meta-lhsql-upload", m)
		}
		http.ServeContent(w, r, "", clockStart, bytes.NewReader(b))
	}
}

func (s *bucketServer) list(w io.Writer, prefix string) {
	type object struct {
		Key  string
		Size int
	}
	var out struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []object
	}
	for k, b := range s.objects {
		if strings.HasPrefix(k, prefix) {
			_, key, _ := strings.Cut(strings.TrimPrefix(k, "/"), "/")
			out.Contents = append(out.Contents, object{key, len(b)})
		}
	}
	sort.Slice(out.Contents, func(i, j int) bool { return out.Contents[i].Key < out.Contents[j].Key })
	_ = xml.NewEncoder(w).Encode(out)
}

// The S3 store keeps FS's promises: whole objects, none replaced, exact reads; a table lives on it.
func TestS3(t *testing.T) {
	srv := &bucketServer{objects: map[string][]byte{}, parts: map[string]map[int][]byte{}}
	h := httptest.NewServer(srv)
	defer h.Close()
	props := map[string]string{"s3.endpoint": h.URL, "s3.access-key-id": "k", "s3.secret-access-key": "s"}
	ctx := clock.With(context.Background(), &ticks{now: clockStart})
	store := NewStore(props)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(store.Create(ctx, "s3://b/x/a%3A1", []byte("hello")))
	if err := store.Create(ctx, "s3a://b/x/a%3A1", []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("an object was replaced: %v", err)
	}
	srv.lose = true
	must(store.Create(ctx, "s3://b/x/lost", []byte("again"))) // the retry meets its own object
	f, err := store.Open(ctx, "s3://b/x/a%3A1", -1)
	must(err)
	p := make([]byte, 3)
	must(f.ReadAt(ctx, p, 1))
	if string(p) != "ell" || f.Size() != 5 {
		t.Errorf("%q of %d", p, f.Size())
	}
	if err := f.ReadAt(ctx, make([]byte, 4), 3); err == nil {
		t.Error("a short read passed")
	}
	if _, err := store.ReadAll(ctx, "s3://b/x/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing object: %v", err)
	}
	w, err := store.CreateStream(ctx, "s3://b/x/big")
	must(err)
	big := bytes.Repeat([]byte("0123456789"), 4<<20)
	_, err = w.Write(big)
	must(err)
	must(w.Commit(ctx))
	got, err := store.ReadAll(ctx, "s3://b/x/big")
	if err != nil || !bytes.Equal(got, big) {
		t.Errorf("a large object: %d bytes, %v", len(got), err)
	}
	n := 0
	must(store.List(ctx, "s3://b/x", func(Object) error { n++; return nil }))
	if n != 3 {
		t.Errorf("%d objects", n)
	}
	must(store.Remove(ctx, "s3://b/x/big"))

	props["uri"], props["warehouse"] = "sqlite:///"+t.TempDir()+"/c.db", "s3://b/wh"
	c, err := OpenCatalog(ctx, "s", props)
	must(err)
	defer c.Close()
	must(c.CreateNamespace(ctx, "a", nil))
	name := Name{Namespace: "a", Table: "t"}
	_, err = c.Create(ctx, name, TableSpec{Schema: &Schema{Fields: []Field{primitive("x", "long")}}})
	must(err)
	tab, err := c.Commit(ctx, name, Change{Add: []*DataFile{{Path: "s3://b/wh/a/t/data/f.parquet", Format: "parquet", RecordCount: 2}}})
	must(err)
	ms, err := tab.Manifests(ctx, tab.CurrentSnapshot())
	if err != nil || len(ms) != 1 {
		t.Errorf("%v %v", ms, err)
	}
	if _, err := tab.FS().ReadAll(ctx, "s3://other/x"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another bucket was asked: %v", err)
	}
	moved, err := OpenPathIn(ctx, store, "s3://b/wh/a/t", nil)
	if err != nil || len(moved.Snapshots()) != 1 {
		t.Errorf("by path: %v", err)
	}
}
