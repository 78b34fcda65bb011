package lake

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/redact"
)

// How requests to catalogs and object stores bear what networks do. Three things are told apart:
// a request that was not sent or not processed, which may be sent again whatever it asks; an answer
// that was lost, after which only what changes nothing is asked again; and a peer that says nothing,
// which is given up after a while (a read time-out), since TCP would wait for hours.

// errQuiet says that a peer sent no byte for as long as one waits.
var errQuiet = errors.New("no byte came within the time that is waited")

// errNotSent says that a request did not leave: nothing of it happened.
var errNotSent = errors.New("the request was not sent")

// defaultQuiet is how long no byte may come, unless properties say otherwise. A catalog answers a
// commit when it has written the metadata to a store of its own.
const defaultQuiet = 60 * time.Second

// longestRetryAfter bounds the pause that a peer may ask for.
const longestRetryAfter = time.Minute

// answer is what is known of a request's fate, for who asks for it by withAnswer.
type answer struct {
	sent   atomic.Bool  // a connection was had: it may have arrived
	status atomic.Int64 // of the last response; 0: none came
}

// refused tells whether the peer said that it did not do what it was asked.
func (a *answer) refused() bool {
	switch s := a.status.Load(); {
	case s == http.StatusRequestTimeout, s == http.StatusSeeOther:
		return false
	default:
		return s >= 300 && s < 500
	}
}

type answerKey struct{}

func withAnswer(ctx context.Context, a *answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// once sends a request by do. The body of the response must be closed.
func once(do func(*http.Request) (*http.Response, error), r *http.Request, quiet time.Duration) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	w := &watchdog{quiet: quiet, cancel: cancel, timer: time.AfterFunc(quiet, func() { cancel(errQuiet) })}
	a, asks := ctx.Value(answerKey{}).(*answer)
	asks = asks && changes(r)
	if asks {
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { a.sent.Store(true) }})
	}
	r = r.WithContext(ctx)
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = &watchedBody{ReadCloser: r.Body, w: w, ctx: ctx} // what is sent counts as life, too
	}
	rsp, err := do(r)
	if err != nil {
		w.end()
		return nil, quietly(ctx, err)
	}
	w.alive()
	if asks {
		a.status.Store(int64(rsp.StatusCode))
	}
	rsp.Body = &watchedBody{ReadCloser: rsp.Body, w: w, ctx: ctx, ends: true}
	return rsp, nil
}

// changes tells whether a request may change something. Who asks for an answer asks for that of
// such a request, and not of those that the library reads with around it.
func changes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// quietly names the reason of an error that a watchdog made.
func quietly(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errQuiet) && !errors.Is(err, errQuiet) {
		return fmt.Errorf("%w: %v", errQuiet, err)
	}
	return err
}

// watchdog ends a request whose peer is silent.
type watchdog struct {
	quiet  time.Duration
	cancel context.CancelCauseFunc
	timer  *time.Timer
	mu     sync.Mutex
	over   bool
}

func (w *watchdog) alive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.over {
		w.timer.Reset(w.quiet)
	}
}

func (w *watchdog) end() {
	w.mu.Lock()
	w.over = true
	w.timer.Stop()
	w.mu.Unlock()
	w.cancel(nil)
}

// watchedBody tells a watchdog of each piece. The body of a response ends it.
type watchedBody struct {
	io.ReadCloser
	w    *watchdog
	ctx  context.Context
	ends bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.w.alive()
	}
	if err != nil && err != io.EOF {
		err = quietly(b.ctx, err)
	}
	return n, err
}

func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	if b.ends {
		b.w.end()
	}
	return err
}

// patience sends a catalog's requests, and those again that were not processed or change nothing,
// within their context's time.
type patience struct {
	next  http.RoundTripper
	quiet *atomic.Int64 // ns
}

// The numbers of times that one request is sent: while a peer says when to come again, and after
// other failures.
const (
	triesWhenTold = 10
	triesElse     = 4
)

func (p *patience) RoundTrip(r *http.Request) (*http.Response, error) {
	reads := !changes(r)
	for try := 1; ; try++ {
		rsp, err := once(p.next.RoundTrip, r, time.Duration(p.quiet.Load()))
		if err == nil && reads && rsp.StatusCode == http.StatusOK {
			err = readWhole(rsp)
		}
		if err == nil && !reads {
			err = redirected(r, rsp)
		}
		if err != nil {
			rsp = nil
		}
		pause, again := sendAgain(rsp, err, reads, try)
		if !again || r.Context().Err() != nil {
			return rsp, err
		}
		next, e := repeated(r)
		if e != nil {
			return rsp, err
		}
		if !fits(r.Context(), pause) {
			return rsp, err
		}
		if err == nil {
			rsp.Body.Close()
		}
		if e := clock.Sleep(r.Context(), pause); e != nil {
			return nil, e
		}
		r = next
	}
}

// readWhole reads a response's body to its end, so that one that ends early is asked for again
// and not taken for damaged metadata.
func readWhole(rsp *http.Response) error {
	b, err := readGrowing(nil, rsp.Body, maxMetadata)
	rsp.Body.Close()
	switch {
	case err != nil:
		return err
	case rsp.ContentLength >= 0 && rsp.Request != nil && rsp.Request.Method != http.MethodHead && rsp.ContentLength != int64(len(b)):
		return io.ErrUnexpectedEOF
	}
	rsp.Body = wholeBody{bytes.NewReader(b), b}
	return nil
}

// wholeBody is a response's body that was read.
type wholeBody struct {
	*bytes.Reader
	b []byte
}

func (wholeBody) Close() error { return nil }

// redirected refuses a redirect that the HTTP client would follow by a GET: what was to be written
// would be read instead, and look like an answer to the write.
func redirected(r *http.Request, rsp *http.Response) error {
	switch rsp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		rsp.Body.Close()
		return fmt.Errorf("%s %s was redirected to %s (%d): the catalog's uri must name the place where it is", r.Method, r.URL.Path, redact.URI(rsp.Header.Get("Location")), rsp.StatusCode)
	}
	return nil
}

// sendAgain tells whether and after which pause a request is to be sent once more.
func sendAgain(rsp *http.Response, err error, reads bool, try int) (time.Duration, bool) {
	pause := jittered(100*time.Millisecond, try)
	if err != nil {
		return pause, reads && try < triesElse
	}
	told, says := retryAfter(rsp)
	switch rsp.StatusCode {
	case http.StatusTooManyRequests:
		if says {
			return told, try < triesWhenTold && told <= longestRetryAfter
		}
		return pause, try < triesWhenTold
	case http.StatusServiceUnavailable:
		if says {
			return told, try < triesWhenTold && told <= longestRetryAfter
		}
		return pause, reads && try < triesElse
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return pause, reads && try < triesElse
	}
	return 0, false
}

// retryAfter reads the header, in seconds or as a date.
func retryAfter(rsp *http.Response) (time.Duration, bool) {
	h := rsp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(h); err == nil && n >= 0 && n < 1<<30 {
		return time.Duration(n) * time.Second, true
	}
	if t, err := http.ParseTime(h); err == nil {
		return max(time.Until(t), 0), true
	}
	return 0, false
}

// jittered is the pause after try n (from 1): doubling from least, at most 5 s.
func jittered(least time.Duration, n int) time.Duration {
	d := min(least<<min(n-1, 10), 5*time.Second)
	return d/2 + rand.N(d/2+1)
}

// fits tells whether a pause ends within a context's time: to wait for its end would only turn the
// peer's answer into a time-out.
func fits(ctx context.Context, pause time.Duration) bool {
	end, ok := ctx.Deadline()
	return !ok || time.Now().Add(pause).Before(end)
}

// repeated is the request with its body from the beginning.
func repeated(r *http.Request) (*http.Request, error) {
	c := r.Clone(r.Context())
	if r.Body == nil || r.Body == http.NoBody {
		return c, nil
	}
	if r.GetBody == nil {
		return nil, errors.New("the body cannot be sent again")
	}
	b, err := r.GetBody()
	c.Body = b
	return c, err
}

// quietProperty is a time-out from a catalog's properties, in units.
func quietProperty(props map[string]string, key string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(props[key], 64)
	if err != nil || !(n > 0) || n > 1e9 {
		return defaultQuiet
	}
	return time.Duration(n * float64(unit))
}
