package main

import (
	"crypto/tls"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/lhsql/lhsql/engine"
)

// live is what of the configuration may change while the server runs. Connections ask for it when
// they come.
type live struct {
	mu    sync.Mutex
	c     *config
	users userLookup
	list  func() []string // of the users
	tls   *tls.Config     // nil: not offered
	certs []stamp         // of the files that tls was made of
	log   func(format string, args ...any)
}

// names lists the users of the configuration as it is now.
func (l *live) names() []string {
	l.mu.Lock()
	list := l.list
	l.mu.Unlock()
	if list == nil {
		return nil
	}
	return list()
}

// stamp tells one state of a file from the next.
type stamp struct {
	path string
	time time.Time
	size int64
}

// newLive reads what may change; e may be nil.
func newLive(c *config, log func(string, ...any)) (*live, error) {
	l := &live{log: log}
	return l, l.use(c)
}

// use takes a configuration over, all or nothing.
func (l *live) use(c *config) error {
	f, err := openUserFile(c)
	if err != nil {
		return err
	}
	var users userLookup
	var list func() []string
	if f != nil {
		users, list = f.lookup, f.names
	}
	certs := stamps(c)
	t, err := tlsConfig(c)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.c, l.users, l.list, l.tls, l.certs = c, users, list, t, certs
	return nil
}

func stamps(c *config) []stamp {
	var out []stamp
	for _, n := range []string{"tls.cert", "tls.key", "tls.client_ca"} {
		if p := c.get(n); p != "" {
			s := stamp{path: p}
			if st, err := os.Stat(p); err == nil {
				s.time, s.size = st.ModTime(), st.Size()
			}
			out = append(out, s)
		}
	}
	return out
}

// now is the state for a connection that comes now. A certificate whose files have changed is read
// again; while they do not fit each other, as between the writing of one and the other, the old one
// stays.
func (l *live) now() (*config, userLookup, *tls.Config) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tls != nil {
		if s := stamps(l.c); !slices.Equal(s, l.certs) {
			l.certs = s
			if t, err := tlsConfig(l.c); err != nil {
				l.log("lhsql: the certificate stays as it was: %v", err)
			} else {
				l.tls = t
				l.log("lhsql: the certificate was read again")
			}
		}
	}
	return l.c, l.users, l.tls
}

// changeable tells whether an option may change while the server runs.
func changeable(name string) bool {
	switch name {
	case "users_file", "auth.md5", "auth.trust_loopback", "tls.cert", "tls.key", "tls.client_ca", "tls.required":
		return true
	}
	return strings.HasPrefix(name, "users.") || strings.HasPrefix(name, "settings.")
}

// isUsers tells whether an option says who the users are. A server that began without users opened
// more to those on its machine than users may have (path_tables): its first users need a new start.
func isUsers(name string) bool { return name == "users_file" || strings.HasPrefix(name, "users.") }

func hasUsers(c *config) bool { return c.get("users_file") != "" || len(c.under("users.")) > 0 }

// reload reads the configuration again, on SIGHUP: what may change does, for connections and
// sessions that come from now on; what cannot is named. Where anything is wrong, nothing changes.
func (l *live) reload(e *engine.Engine, read func() (*config, error)) {
	old, _, _ := l.now()
	c, err := read()
	if err == nil {
		err = c.check()
	}
	if err == nil {
		// Its own copy: what cannot change stays, whoever asks.
		merged := &config{values: map[string]string{}, from: map[string]string{}, args: old.args}
		var changed, must []string
		for _, n := range sortedNames(old.values, c.values) {
			o, was := old.values[n]
			v, is := c.values[n]
			switch {
			case was == is && o == v:
			case changeable(n) && (hasUsers(old) || !isUsers(n)):
				changed = append(changed, n)
			default:
				must = append(must, n)
				v, is = o, was
			}
			if is {
				merged.values[n], merged.from[n] = v, c.from[n]
			}
		}
		if err = l.use(merged); err == nil {
			err = e.SetDefaults(merged.under("settings."))
		}
		if err == nil {
			l.log("lhsql: the configuration was read again; changed: %s", orNone(changed))
			if len(must) > 0 {
				l.log("lhsql: these change with the next start alone: %s", strings.Join(must, ", "))
			}
			return
		}
	}
	l.log("lhsql: the configuration stays as it was: %v", err)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

func sortedNames(maps ...map[string]string) []string {
	seen := map[string]bool{}
	for _, m := range maps {
		for k := range m {
			seen[k] = true
		}
	}
	out := make([]string, 0, len(seen))
	for k := range seen {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// logLine writes a line of the server's log.
func logLine(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
