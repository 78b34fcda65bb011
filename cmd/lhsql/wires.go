package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/wire/mysql"
	"github.com/lhsql/lhsql/wire/pg"
)

// wire is a listener with the server behind it.
type wire struct {
	scheme string // of its URLs
	l      net.Listener
	srv    interface {
		Serve(net.Listener) error
		Shutdown(context.Context) error
	}
}

// openWires opens the listeners that the configuration names.
func openWires(c *config, e *engine.Engine, l *live) ([]wire, error) {
	var out []wire
	_, users, _ := l.now()
	open := func(option, scheme, name string, srv func() (wire, error)) error {
		addr := c.get(option)
		if addr == "off" {
			return nil
		}
		w, err := srv()
		if err != nil {
			return err
		}
		w.scheme = scheme
		if w.l, err = net.Listen("tcp", addr); err != nil {
			if option == "mysql" && c.from[option] == "" && len(out) > 0 {
				// A second server on one machine shall not have to name a wire that it was not asked for.
				fmt.Fprintf(os.Stderr, "lhsql: the MySQL wire stays off: %v\n", err)
				return nil
			}
			return fmt.Errorf("the %s wire: %w", name, err)
		}
		if !e.Guarded() {
			warnOpen(w.l, users)
		}
		out = append(out, w)
		return nil
	}
	err := open("pg", "postgres", "Postgres", func() (wire, error) {
		cfg, err := pgConfig(c, e, l)
		return wire{srv: pg.NewServer(e, cfg)}, err
	})
	if err == nil {
		err = open("mysql", "mysql", "MySQL", func() (wire, error) {
			cfg, err := mysqlConfig(c, e, l)
			return wire{srv: mysql.NewServer(e, cfg)}, err
		})
	}
	if err == nil && len(out) == 0 {
		err = errors.New("nothing to serve: pg and mysql are off")
	}
	if err != nil {
		for _, w := range out {
			w.l.Close()
		}
		return nil, err
	}
	return out, nil
}

// warnOpen says that a listener is open to machines whose connections will all be refused.
func warnOpen(l net.Listener, users userLookup) {
	host, _, err := net.SplitHostPort(l.Addr().String())
	if err != nil || users != nil {
		return
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsLoopback() {
		fmt.Fprintln(os.Stderr, "lhsql: no users are configured: only connections from this machine will be let in")
	}
}

// shutdown ends all wires at once.
func shutdown(ctx context.Context, wires []wire) error {
	errs := make(chan error, len(wires))
	for _, w := range wires {
		go func() { errs <- w.srv.Shutdown(ctx) }()
	}
	var first error
	for range wires {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

// userLookup finds what is stored of a user: verifiers, separated by spaces. nil: no users are
// configured.
type userLookup func(user string) (stored string, ok bool)

func openUsers(c *config) (userLookup, error) {
	f, err := openUserFile(c)
	if f == nil || err != nil {
		return nil, err
	}
	return f.lookup, nil
}

// openUserNames gives what lists the users of the configuration; nil: there are none.
func openUserNames(c *config) (func() []string, error) {
	f, err := openUserFile(c)
	if f == nil || err != nil {
		return nil, err
	}
	return f.names, nil
}

// openUserFile gives the users of the configuration, in a file or not; nil: there are none.
func openUserFile(c *config) (*userFile, error) {
	f := &userFile{path: c.get("users_file"), fixed: c.under("users.")}
	if f.path == "" {
		if len(f.fixed) == 0 {
			return nil, nil
		}
		return f, nil
	}
	return f, f.load()
}

// credentials finds what a user's password is checked with. The configuration comes first: nobody can
// take an administrator's password away by a statement.
func credentials(e *engine.Engine, users userLookup, user string) (verifier, native string, ok bool) {
	if users != nil {
		if stored, ok := users(user); ok {
			v, n := verifiers(stored)
			return v, n, true
		}
	}
	return e.Credentials(context.Background(), user)
}

// verifiers splits what is stored of a user: the verifier of both wires, and the hash for
// mysql_native_password.
func verifiers(stored string) (verifier, native string) {
	for _, v := range strings.Fields(stored) {
		if strings.HasPrefix(v, "*") {
			native = v
		} else if verifier == "" {
			verifier = v
		}
	}
	return verifier, native
}

func mysqlConfig(c *config, e *engine.Engine, l *live) (mysql.Config, error) {
	m := mysql.Config{Log: logLine}
	var err error
	if m.MaxConnections, err = maxConnections(c); err != nil {
		return m, err
	}
	m.Current = func() (*tls.Config, mysql.Auth) {
		c, users, t := l.now()
		a := mysql.Auth{TrustLoopback: c.on("auth.trust_loopback"), RequireTLS: c.on("tls.required"), Check: pg.CheckPassword}
		if users != nil || e.Guarded() {
			a.Lookup = func(u string) (mysql.Account, bool) {
				v, n, ok := credentials(e, users, u)
				return mysql.Account{Verifier: v, Native: n}, ok
			}
		}
		return t, a
	}
	return m, nil
}
