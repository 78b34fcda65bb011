// Package fakes3 is an S3 bucket for tests.
package fakes3

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bucket serves as much of S3 as store uses: conditional PUT, ranges, multipart, listing.
type Bucket struct {
	mu      sync.Mutex
	Objects map[string][]byte // by path; not to be looked at while requests come
	parts   map[string]map[int][]byte
	marks   map[string]string // the metadata lhsql-upload of objects
	users   []string          // nil: anyone
	// Lose makes the next conditional PUT take place and its answer get lost.
	Lose bool
}

// modified is when all objects were written.
var modified = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// New makes a bucket with objects, by path. Only these users may use it; without any, everybody.
func New(objects map[string][]byte, users ...string) *Bucket {
	if objects == nil {
		objects = map[string][]byte{}
	}
	return &Bucket{Objects: objects, parts: map[string]map[int][]byte{}, users: users}
}

// ServeHTTP implements http.Handler.
func (s *Bucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
		if s.Objects[key] != nil && r.Header.Get("If-None-Match") == "*" {
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
		s.Objects[key] = b
		if s.Lose {
			s.Lose = false
			w.WriteHeader(503)
		}
	case r.Method == "DELETE":
		delete(s.Objects, key)
		w.WriteHeader(204)
	case q.Get("list-type") == "2":
		s.list(w, strings.TrimSuffix(key, "/")+"/"+q.Get("prefix"))
	default:
		b, ok := s.Objects[key]
		if !ok {
			w.WriteHeader(404)
			return
		}
		if m := s.marks[key]; m != "" {
			w.Header().Set("x-amz-meta-lhsql-upload", m)
		}
		http.ServeContent(w, r, "", modified, bytes.NewReader(b))
	}
}

func (s *Bucket) list(w io.Writer, prefix string) {
	type object struct {
		Key  string
		Size int
	}
	var out struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []object
	}
	for k, b := range s.Objects {
		if strings.HasPrefix(k, prefix) {
			_, key, _ := strings.Cut(strings.TrimPrefix(k, "/"), "/")
			out.Contents = append(out.Contents, object{key, len(b)})
		}
	}
	sort.Slice(out.Contents, func(i, j int) bool { return out.Contents[i].Key < out.Contents[j].Key })
	_ = xml.NewEncoder(w).Encode(out)
}
