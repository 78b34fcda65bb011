package fakerest

import (
	"net"
	"net/http"
	"strconv"
)

// Fault is what becomes of some requests.
type Fault struct {
	// Writes, if not nil, picks the requests that it happens to; nil: all that may change something.
	Match func(*http.Request) bool
	// Applied: the server does what it is asked, before the answer is another one.
	Applied bool
	// Answer is what the client gets: a status; "reset" (the connection breaks), "closed" (it ends
	// without an answer), "cut" (200, and its body ends early), "garbage" (200 and a page of HTML),
	// "silent" (nothing, until the client leaves), "moved" (301 to the same place), "twice" (the
	// request is done twice, and the second answer is given).
	Answer string
	// RetryAfter is the header of that name.
	RetryAfter string
	// Times is how many requests it happens to; 0 means one.
	Times int
	// Deaf is how many reads after the first are answered 503: nobody can look.
	Deaf int

	happened int
}

// Happened tells how often the fault happened.
func (s *Server) Happened() int {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if s.Fault == nil {
		return 0
	}
	return s.Fault.happened
}

// Break makes f happen from now on; nil: nothing more.
func (s *Server) Break(f *Fault) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Fault = f
}

// faulty answers a request that the fault happens to.
func (s *Server) faulty(w http.ResponseWriter, r *http.Request, body []byte) bool {
	s.Mu.Lock()
	f := s.Fault
	if f == nil {
		s.Mu.Unlock()
		return false
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if f.Match != nil && !f.Match(r) || f.Match == nil && reads {
		deaf := reads && f.happened > 0 && f.Deaf > 0
		if deaf {
			f.Deaf--
		}
		s.Mu.Unlock()
		if deaf {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return deaf
	}
	if f.happened >= max(f.Times, 1) {
		s.Mu.Unlock()
		return false
	}
	f.happened++
	s.Mu.Unlock()
	var done []byte
	if f.Applied {
		done = s.recorded(r, body).Body.Bytes()
	}
	f.answer(s, w, r, body, done)
	return true
}

func (f *Fault) answer(s *Server, w http.ResponseWriter, r *http.Request, body, done []byte) {
	if status, err := strconv.Atoi(f.Answer); err == nil {
		if f.RetryAfter != "" {
			w.Header().Set("Retry-After", f.RetryAfter)
		}
		reply(w, status, object{"error": object{"message": "by the gateway", "type": "Exception", "code": status}})
		return
	}
	switch f.Answer {
	case "twice":
		rec := s.recorded(r, body)
		if rec.Code < 400 {
			rec = s.recorded(r, body)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	case "garbage":
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<html><body>Welcome</body></html>"))
	case "moved":
		w.Header().Set("Location", r.URL.String())
		w.WriteHeader(http.StatusMovedPermanently)
	case "cut":
		if len(done) < 2 {
			done = []byte(`{"metadata-location": "x", `)
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(done)+100))
		_, _ = w.Write(done[:len(done)/2])
		breakOff(w, false)
	case "silent":
		<-r.Context().Done()
	case "reset", "closed":
		breakOff(w, f.Answer == "reset")
	default:
		panic("no answer is called " + f.Answer)
	}
}

// breakOff ends the connection, with a reset or without.
func breakOff(w http.ResponseWriter, reset bool) {
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
