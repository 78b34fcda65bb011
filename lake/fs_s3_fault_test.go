package lake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
)

// shakyBucket is a bucket behind a network that is not well.
type shakyBucket struct {
	bucketServer
	shaking sync.Mutex
	method  string // of the requests that it happens to; "": none
	answer  string // "409", "429", "500", "503", "silent", "reset", "closed", "cut" (the body ends early), "stall" (it stays away in the middle)
	applied bool
	times   int
	after   int // requests of the method that are well before
	hits    int
}

func (s *shakyBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.shaking.Lock()
	happens := s.method == r.Method && s.times > 0
	if happens && s.after > 0 {
		s.after--
		happens = false
	}
	if happens {
		s.times--
		s.hits++
	}
	answer, applied := s.answer, s.applied
	s.shaking.Unlock()
	b, _ := io.ReadAll(r.Body) // only then the server notices that a client leaves
	r.Body = io.NopCloser(bytes.NewReader(b))
	if !happens {
		s.bucketServer.ServeHTTP(w, r)
		return
	}
	rec := httptest.NewRecorder()
	if applied || answer == "cut" || answer == "stall" {
		s.bucketServer.ServeHTTP(rec, r)
	}
	hangUp := func(reset bool) {
		c, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_ = buf.Flush()
		if t, ok := c.(*net.TCPConn); ok && reset {
			_ = t.SetLinger(0)
		}
		_ = c.Close()
	}
	switch answer {
	case "silent":
		<-r.Context().Done()
	case "reset", "closed":
		hangUp(answer == "reset")
	case "cut", "stall":
		for k, v := range rec.Header() {
			w.Header()[k] = v
		}
		b := rec.Body.Bytes()
		w.Header().Set("Content-Length", fmt.Sprint(len(b)))
		w.WriteHeader(rec.Code)
		_, _ = w.Write(b[:len(b)/2])
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		if answer == "stall" {
			<-r.Context().Done()
			return
		}
		hangUp(false)
	default:
		code := 0
		_, _ = fmt.Sscan(answer, &code)
		if code == 429 || code == 503 {
			w.Header().Set("Retry-After", "0")
		}
		w.WriteHeader(code)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", map[int]string{409: "ConditionalRequestConflict", 429: "TooManyRequests", 500: "InternalError", 503: "SlowDown"}[code])
	}
}

// Whatever becomes of a store's answers, up to some in a row: a read gives the object's bytes, a
// write writes it once, a made object is not made again, and what does not go away is an error
// before long.
func TestS3Faults(t *testing.T) {
	was := storePause
	storePause = time.Millisecond
	t.Cleanup(func() { storePause = was })
	body := bytes.Repeat([]byte("0123456789"), 1000)
	big := bytes.Repeat(body, s3Part/len(body)+200) // two parts
	type op struct {
		name, method string
		requests     int // of the method
		run          func(ctx context.Context, s *Store) error
	}
	read := func(whole bool) func(context.Context, *Store) error {
		return func(ctx context.Context, s *Store) error {
			if whole {
				b, err := s.ReadAll(ctx, "s3://b/x/there")
				if err == nil && !bytes.Equal(b, body) {
					t.Errorf("%d bytes of %d", len(b), len(body))
				}
				return err
			}
			f, err := s.Open(ctx, "s3://b/x/there", -1)
			if err != nil {
				return err
			}
			p := make([]byte, 5000)
			err = f.ReadAt(ctx, p, 1234)
			if err == nil && !bytes.Equal(p, body[1234:6234]) {
				t.Error("other bytes")
			}
			return err
		}
	}
	ops := []op{
		{"read whole", "GET", 1, read(true)},
		{"read a range", "GET", 1, read(false)},
		{"ask for the size", "HEAD", 1, read(false)},
		{"list", "GET", 1, func(ctx context.Context, s *Store) error {
			n := 0
			err := s.List(ctx, "s3://b/x", func(Object) error { n++; return nil })
			if err == nil && n != 1 {
				t.Errorf("%d objects", n)
			}
			return err
		}},
		{"create", "PUT", 1, func(ctx context.Context, s *Store) error { return s.Create(ctx, "s3://b/x/new", body) }},
		{"create one that is there", "PUT", 1, func(ctx context.Context, s *Store) error {
			if err := s.Create(ctx, "s3://b/x/there", []byte("other")); !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("it was replaced: %w", err)
			}
			return nil
		}},
		{"upload in parts", "PUT", 2, nil}, {"upload in parts", "POST", 2, nil},
		{"remove", "DELETE", 1, func(ctx context.Context, s *Store) error { return s.Remove(ctx, "s3://b/x/there") }},
	}
	for i := range ops {
		if ops[i].run == nil {
			ops[i].run = func(ctx context.Context, s *Store) error {
				w, err := s.CreateStream(ctx, "s3://b/x/new")
				if err != nil {
					return err
				}
				defer w.Abort()
				if _, err := w.Write(big); err != nil {
					return err
				}
				return w.Commit(ctx)
			}
		}
	}
	for _, o := range ops {
		for _, answer := range []string{"409", "429", "500", "503", "silent", "reset", "closed", "cut", "stall"} {
			for _, applied := range []bool{false, true} {
				reads := o.method == "GET" || o.method == "HEAD"
				inBody := answer == "cut" || answer == "stall"
				if reads && applied || inBody && o.method != "GET" {
					continue
				}
				for after := range o.requests {
					for _, times := range []int{1, 3, 1000} {
						slow := answer == "silent" || answer == "stall"
						if slow && times == 3 || times == 1000 && (after > 0 || applied || answer == "409" || answer == "429" || answer == "500") {
							continue // it takes long, or tells nothing more
						}
						name := fmt.Sprintf("%s/%s %s applied %v after %d times %d", o.name, o.method, answer, applied, after, times)
						t.Run(name, func(t *testing.T) {
							t.Parallel()
							srv := &shakyBucket{bucketServer: bucketServer{objects: map[string][]byte{"/b/x/there": bytes.Clone(body)}, parts: map[string]map[int][]byte{}},
								method: o.method, answer: answer, applied: applied, times: times, after: after}
							h := httptest.NewServer(srv)
							defer h.Close()
							quiet := "60"
							if answer == "silent" || answer == "stall" {
								quiet = "0.3"
							}
							s := NewStore(map[string]string{"s3.endpoint": h.URL, "s3.access-key-id": "k", "s3.secret-access-key": "s", "s3.request-timeout": quiet})
							ctx, cancel := context.WithTimeout(clock.With(context.Background(), &ticks{now: clockStart}), time.Minute)
							defer cancel()
							err := o.run(ctx, s)
							srv.shaking.Lock()
							hits := srv.hits
							srv.shaking.Unlock()
							if hits == 0 {
								t.Fatal("the fault did not happen")
							}
							if times < 1000 && err != nil {
								t.Errorf("after %d: %v", hits, err)
							}
							if times == 1000 && err == nil {
								t.Error("no error")
							}
							if err != nil && ctx.Err() != nil {
								t.Errorf("it waited to the end: %v", err)
							}
							if got := srv.objects["/b/x/there"]; o.method != "DELETE" && !bytes.Equal(got, body) {
								t.Error("the object was replaced")
							}
							want := body
							if strings.Contains(o.name, "parts") {
								want = big
							}
							if got := srv.objects["/b/x/new"]; got != nil && !bytes.Equal(got, want) || err == nil && strings.Contains("create upload in parts", o.name) && got == nil {
								t.Errorf("the object has %d bytes of %d: %v", len(got), len(want), err)
							}
						})
					}
				}
			}
		}
	}
}
