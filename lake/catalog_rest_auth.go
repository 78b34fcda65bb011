package lake

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/lhsql/lhsql/internal/patience"
)

// restAuth is who asks: nobody, the bearer of a token that the user has, or of one that is had for
// the user's credential (OAuth2's client credentials) and had anew before its time is over. With
// token-refresh-enabled a user's token is exchanged for a fresh one, too (RFC 8693).
type restAuth struct {
	client     *restClient
	server     string // where tokens are had
	id, secret string
	own        string // the user's token, until it was exchanged
	refresh    bool
	form       url.Values // scope, audience, resource

	turn  chan struct{} // who asks for a token; the others wait for it
	mu    sync.Mutex
	held  string
	until time.Time // when held should be renewed; zero: never
	end   time.Time // when it is good for nothing more
}

// restTokenAhead is how long before its end a token is renewed, at most.
const restTokenAhead = time.Minute

// configure takes the properties, whose names are those of PyIceberg and of Java's client. What is
// held stays: who got a token for the configuration goes on with it.
func (a *restAuth) configure(props map[string]string, c *restClient) error {
	if a.turn == nil {
		a.turn = make(chan struct{}, 1)
	}
	a.client = c
	a.id, a.secret = "", props["credential"]
	if id, secret, ok := strings.Cut(a.secret, ":"); ok {
		a.id, a.secret = id, secret
	}
	root, err := restRoot(props["uri"], "")
	if err != nil {
		return err
	}
	// The second name is an older one. Without either it is the catalog's own route, which the
	// specification calls deprecated.
	a.server = cmp.Or(props["oauth2-server-uri"], props["rest.authorization-url"], root+"/oauth/tokens")
	if u, err := url.Parse(a.server); err != nil || u.Scheme == "" || u.Host == "" {
		return fmt.Errorf("oauth2-server-uri is no address of an HTTP server")
	}
	a.form = url.Values{"scope": {cmp.Or(props["scope"], "catalog")}}
	for _, k := range []string{"audience", "resource"} {
		if v := props[k]; v != "" {
			a.form.Set(k, v)
		}
	}
	a.refresh = strings.EqualFold(props["token-refresh-enabled"], "true")
	if t := props["token"]; t != a.own {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.own = t
		a.hold(t, 0)
		if a.refresh && t != "" {
			a.hold(t, lifetime(t, props["token-expires-in-ms"]))
		}
	}
	return nil
}

// lifetime is how long a user's token will be good: as it says itself (a JWT), or the user. 0: unknown.
func lifetime(token, ms string) time.Duration {
	if parts := strings.Split(token, "."); len(parts) == 3 {
		var claims struct {
			Exp float64 `json:"exp"`
		}
		b, err := base64.RawURLEncoding.DecodeString(parts[1])
		if err == nil && json.Unmarshal(b, &claims) == nil && claims.Exp > 0 && claims.Exp < 1e11 {
			return max(time.Until(time.Unix(int64(claims.Exp), 0)), time.Nanosecond)
		}
	}
	n, _ := strconv.ParseInt(ms, 10, 64)
	return time.Duration(min(max(n, 0), int64(maxTokenLife/time.Millisecond))) * time.Millisecond
}

const maxTokenLife = 100 * 365 * 24 * time.Hour

// hold keeps a token that is good for d; 0: for ever. Call it with mu.
func (a *restAuth) hold(token string, d time.Duration) {
	a.held, a.until, a.end = token, time.Time{}, time.Time{}
	if d > 0 {
		now := time.Now()
		a.until, a.end = now.Add(d-min(restTokenAhead, d/5)), now.Add(d)
	}
}

// token is the token to ask with, "" for none.
func (a *restAuth) token(ctx context.Context) (string, error) {
	if t, ok := a.fresh(); ok {
		return t, nil
	}
	select {
	case a.turn <- struct{}{}:
		defer func() { <-a.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if t, ok := a.fresh(); ok {
		return t, nil
	}
	return a.renew(ctx)
}

// fresh is the token that is held, and whether it is good.
func (a *restAuth) fresh() (string, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.secret == "" && !a.refresh || a.held == "" && a.secret == "" {
		return a.held, true // there is no other
	}
	return a.held, a.held != "" && (a.until.IsZero() || time.Now().Before(a.until))
}

// renewable tells whether another token can be had than one that was refused.
func (a *restAuth) renewable(token string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if token == "" || a.secret == "" && !a.refresh {
		return false
	}
	if a.held == token {
		a.until, a.end = time.Unix(1, 0), time.Unix(1, 0)
	}
	return true
}

// renew asks for a token: by the one that is held, while that is good, else by the credential.
func (a *restAuth) renew(ctx context.Context) (string, error) {
	a.mu.Lock()
	held := a.held
	a.mu.Unlock()
	form := maps.Clone(a.form)
	if a.secret == "" {
		form.Set("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
		form.Set("subject_token", held)
		form.Set("subject_token_type", "urn:ietf:params:oauth:token-type:access_token")
		form.Set("requested_token_type", "urn:ietf:params:oauth:token-type:access_token")
	} else {
		held = ""
		form.Set("grant_type", "client_credentials")
		form.Set("client_secret", a.secret)
		if a.id != "" {
			form.Set("client_id", a.id)
		}
	}
	token, life, err := a.ask(ctx, form, held)
	a.mu.Lock()
	defer a.mu.Unlock()
	now := time.Now()
	switch {
	case err == nil:
		a.hold(token, life)
	case a.held == "" || !now.Before(a.end):
		return "", err
	default:
		// It was asked ahead of time, and will be again.
		a.until = now.Add(a.end.Sub(now) / 2)
	}
	return a.held, nil
}

// ask sends one request to the token server. Whether it arrived is no answer to what the token is for.
func (a *restAuth) ask(ctx context.Context, form url.Values, bearer string) (string, time.Duration, error) {
	ctx = patience.WithAnswer(ctx, nil)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, a.server, strings.NewReader(form.Encode()))
	if err != nil {
		return "", 0, err
	}
	maps.Copy(r.Header, a.client.headers)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	rsp, err := a.client.http.Do(r)
	if err != nil {
		return "", 0, err
	}
	defer rsp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(rsp.Body, maxRestError))
	if err != nil {
		return "", 0, err
	}
	var j struct {
		AccessToken string      `json:"access_token"`
		ExpiresIn   json.Number `json:"expires_in"`
		Error       string      `json:"error"`
		Description string      `json:"error_description"`
	}
	bad := json.Unmarshal(b, &j)
	if rsp.StatusCode != http.StatusOK || bad != nil || j.AccessToken == "" {
		status := rsp.StatusCode
		if j.Error != "" { // OAuth2 answers 400 where it means 401
			status = http.StatusUnauthorized
		}
		if status == http.StatusOK {
			return "", 0, fmt.Errorf("the token server: %w", errNoAnswer)
		}
		return "", 0, &restError{Status: status, Type: j.Error, Message: strings.ToValidUTF8(cmp.Or(j.Description, "the token server gives no token"), "?")}
	}
	seconds, _ := j.ExpiresIn.Float64()
	return j.AccessToken, time.Duration(min(max(seconds, 0), maxTokenLife.Seconds()) * float64(time.Second)), nil
}

// restSigner signs requests as AWS's servers want it (Signature Version 4), each time that one is
// sent: a signature is good for some minutes only.
type restSigner struct {
	next            http.RoundTripper
	signer          *v4.Signer
	credentials     aws.CredentialsProvider
	service, region string
}

// newRestSigner gives next itself where the properties do not ask for signatures.
func newRestSigner(ctx context.Context, props map[string]string, next http.RoundTripper) (http.RoundTripper, error) {
	if !strings.EqualFold(props["rest.sigv4-enabled"], "true") {
		return next, nil
	}
	var opts []func(*config.LoadOptions) error
	if k := props["rest.access-key-id"]; k != "" {
		opts = append(opts, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(k, props["rest.secret-access-key"], props["rest.session-token"])))
	}
	if r := cmp.Or(props["rest.signing-region"], props["client.region"]); r != "" {
		opts = append(opts, config.WithRegion(r))
	}
	cfg, err := config.LoadDefaultConfig(context.WithoutCancel(ctx), opts...)
	if err != nil {
		return nil, err
	}
	return &restSigner{next: next, signer: v4.NewSigner(), credentials: cfg.Credentials,
		service: cmp.Or(props["rest.signing-name"], "execute-api"), region: cfg.Region}, nil
}

// emptyHash is the hash of no bytes.
var emptyHash = hex.EncodeToString(sha256.New().Sum(nil))

func (s *restSigner) RoundTrip(r *http.Request) (*http.Response, error) {
	signed, err := s.sign(r)
	if err != nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, err
	}
	return s.next.RoundTrip(signed)
}

func (s *restSigner) sign(r *http.Request) (*http.Request, error) {
	// Credentials may come from yet another server. A connection to that one is none to the catalog,
	// so that the request's context, by which connections are noticed (once), is not its.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer context.AfterFunc(r.Context(), cancel)()
	c, err := s.credentials.Retrieve(ctx)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	hash := emptyHash
	if r.Body != nil && r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		_, err = io.Copy(h, body)
		body.Close()
		if err != nil {
			return nil, err
		}
		hash = hex.EncodeToString(h.Sum(nil))
	}
	// The signature takes the place of a token, which goes by the name that Java's client gives it.
	if t := r.Header.Get("Authorization"); t != "" {
		r.Header.Set("Original-Authorization", t)
		r.Header.Del("Authorization")
	}
	r.Header.Set("X-Amz-Content-Sha256", hash)
	return r, s.signer.SignHTTP(ctx, c, r, hash, s.service, s.region, time.Now())
}
