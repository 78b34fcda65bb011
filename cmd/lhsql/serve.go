package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/guard"
	"github.com/lhsql/lhsql/wire/mysql"
	"github.com/lhsql/lhsql/wire/pg"
)

// drainTime is how long statements in flight may take after SIGTERM (promises.md, V5).
var drainTime = 25 * time.Second

func runServe(c *config) error { return serve(c, nil) }

// openEngine opens the engine; the embedded catalog's folder is made where it is missing.
func openEngine(c *config) (*engine.Engine, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	ec, err := c.engineConfig()
	if err != nil {
		return nil, err
	}
	for _, cat := range ec.Catalogs {
		if path, ok := strings.CutPrefix(cat.Props["uri"], "sqlite:///"); ok {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return nil, err
			}
		}
	}
	e, err := engine.Open(context.Background(), ec)
	if err == nil {
		e.SetPasswords(newVerifiers)
	}
	return e, err
}

// newVerifiers makes of a password what is stored of it. What is a verifier already stays as it is.
func newVerifiers(_, password string, native bool) (verifier, hash string, err error) {
	if pg.CheckVerifier(password) == nil {
		return password, "", nil
	}
	if native {
		hash = mysql.NativeHash(password)
	}
	verifier, err = pg.Verifier(password)
	return verifier, hash, err
}

// serve runs the listeners until a signal. ready is called once they accept.
func serve(c *config, ready func(*engine.Engine, []wire) error) error {
	e, err := openEngine(c)
	if err != nil {
		return err
	}
	defer e.Close()
	e.Govern()
	if addr := c.get("pprof"); addr != "" {
		if err := serveProfiles(addr); err != nil {
			return err
		}
	}
	l, err := newLive(c, logLine)
	if err != nil {
		return err
	}
	e.KnowUsers(func(name string) bool {
		if _, users, _ := l.now(); users != nil {
			_, ok := users(name)
			return ok
		}
		return false
	})
	e.ListUsers(l.names)
	wires, err := openWires(c, e, l)
	if err != nil {
		return err
	}
	failed := make(chan error, len(wires))
	for _, w := range wires {
		go func() { failed <- w.srv.Serve(w.l) }()
		path := e.CatalogNames()[0]
		if w.scheme == "mysql" {
			path = "" // its databases are namespaces
		}
		fmt.Printf("lhsql %s serves %s on %s://%s/%s\n", versionText(), strings.Join(e.CatalogNames(), ", "), w.scheme, w.l.Addr(), path)
	}
	keep, err := c.keepConfig()
	if err != nil {
		return err
	}
	keeping, stopKeeping := context.WithCancel(context.Background())
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		if err := guard.Run(func() error { e.Keep(keeping, keep); return nil }); err != nil {
			logLine("the keeper ended: %v", err)
		}
	}()
	defer func() { stopKeeping(); <-kept }()
	if ready != nil {
		if err := ready(e, wires); err != nil {
			return err
		}
	}
	stop, again := make(chan os.Signal, 2), make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	signal.Notify(again, syscall.SIGHUP)
	defer signal.Stop(again)
	var sig os.Signal
	for sig == nil {
		select {
		case err := <-failed:
			return err
		case <-again:
			l.reload(e, c.again)
		case sig = <-stop:
		}
	}
	ctx, cancel := drain(sig, stop)
	defer cancel()
	if err := shutdown(ctx, wires); err != nil {
		fmt.Fprintln(os.Stderr, "lhsql: some statements were cut off")
	}
	return nil
}

// drain is how long statements in flight may take after the signal: none after Ctrl-C, a while
// after SIGTERM, which a second signal ends.
func drain(sig os.Signal, stop <-chan os.Signal) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.Background(), drainTime)
	if sig == os.Interrupt {
		fmt.Println("shutting down")
		cancel()
		return ctx, cancel
	}
	fmt.Printf("shutting down: statements in flight have %v to end, unless another signal comes\n", drainTime)
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// maxConnections is how many connections each wire takes.
func maxConnections(c *config) (int, error) {
	n, err := strconv.Atoi(c.get("max_connections"))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("max_connections: %q is no number of connections", c.get("max_connections"))
	}
	return n, nil
}

func pgConfig(c *config, e *engine.Engine, l *live) (pg.Config, error) {
	p := pg.Config{Log: logLine}
	var err error
	if p.MaxConnections, err = maxConnections(c); err != nil {
		return p, err
	}
	p.Current = func() (*tls.Config, pg.Auth) {
		c, users, t := l.now()
		a := pg.Auth{AllowMD5: c.on("auth.md5"), TrustLoopback: c.on("auth.trust_loopback"), RequireTLS: c.on("tls.required")}
		if users != nil || e.Guarded() {
			a.Lookup = func(u string) (string, bool) {
				v, _, ok := credentials(e, users, u)
				return v, ok
			}
		}
		return t, a
	}
	return p, nil
}

func tlsConfig(c *config) (*tls.Config, error) {
	cert, key := c.get("tls.cert"), c.get("tls.key")
	if cert == "" && key == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	t := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if ca := c.get("tls.client_ca"); ca != "" {
		pem, err := os.ReadFile(ca)
		if err != nil {
			return nil, fmt.Errorf("tls.client_ca: %w", err)
		}
		t.ClientCAs = x509.NewCertPool()
		if !t.ClientCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("tls.client_ca: %s holds no certificate", ca)
		}
		t.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return t, nil
}

// userFile is a file of verifiers, read again when it changes, so that users come and go
// without a restart.
type userFile struct {
	path  string
	fixed map[string]string

	mu    sync.Mutex
	stamp time.Time
	size  int64
	users map[string]string
}

func (f *userFile) lookup(user string) (string, bool) {
	if v, ok := f.fixed[user]; ok {
		return v, true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.path == "" {
		return "", false
	}
	if st, err := os.Stat(f.path); err == nil && (!st.ModTime().Equal(f.stamp) || st.Size() != f.size) {
		// A file that cannot be read now leaves the users as they were.
		if err := f.read(); err != nil {
			fmt.Fprintln(os.Stderr, "lhsql: users_file: "+err.Error())
		}
	}
	v, ok := f.users[user]
	return v, ok
}

// names lists the users, those that the file had last where it cannot be read.
func (f *userFile) names() []string {
	f.lookup("") // reads what has changed
	f.mu.Lock()
	defer f.mu.Unlock()
	out := slices.Collect(maps.Keys(f.fixed))
	for u := range f.users {
		if _, twice := f.fixed[u]; !twice {
			out = append(out, u)
		}
	}
	return out
}

func (f *userFile) load() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.read()
}

func (f *userFile) read() error {
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	st, err := file.Stat()
	if err != nil {
		return err
	}
	users := map[string]string{}
	sc := bufio.NewScanner(file)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, v, ok := strings.Cut(line, ":")
		if !ok {
			return fmt.Errorf("%s:%d: a line is NAME:VERIFIER", f.path, n)
		}
		if err := checkVerifiers(v); err != nil {
			return fmt.Errorf("%s:%d: %s: %v", f.path, n, name, err)
		}
		users[name] = v
	}
	if err := sc.Err(); err != nil {
		return err
	}
	f.users, f.stamp, f.size = users, st.ModTime(), st.Size()
	return nil
}

// runUser prints a user's line for users_file.
func runUser(c *config) error {
	native := len(c.args) == 2 && c.args[1] == "native"
	if len(c.args) != 1 && !native || c.args[0] == "" || strings.Contains(c.args[0], ":") {
		return errors.New("usage: lhsql user NAME [native], with the password on standard input")
	}
	fmt.Fprint(os.Stderr, "Password: ")
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil && line == "" {
		return errors.New("no password was given")
	}
	password := strings.TrimRight(line, "\r\n")
	v, err := pg.Verifier(password)
	if err != nil {
		return err
	}
	if native {
		v += " " + mysql.NativeHash(password)
	}
	fmt.Printf("%s:%s\n", c.args[0], v)
	return nil
}
