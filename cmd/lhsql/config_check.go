package main

import (
	"fmt"
	"net"
	"os"
	"sort"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/wire/mysql"
	"github.com/lhsql/lhsql/wire/pg"
)

// wrong is an error of the configuration: where the value came from, its name, and what is allowed.
func (c *config) wrong(name, format string, args ...any) error {
	from := c.from[name]
	if from == "" {
		from = "default"
	}
	return fmt.Errorf("%s: %s: %s", from, name, fmt.Sprintf(format, args...))
}

// switches are the options that are on or off.
var switches = []string{"tls.required", "auth.md5", "auth.trust_loopback"}

// check finds values that cannot be, before anything is opened. What needs another machine, such as
// whether a catalog answers, is not looked at.
func (c *config) check() error {
	names := make([]string, 0, len(c.values))
	for n := range c.values {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if err := c.checkOne(n, c.values[n]); err != nil {
			return err
		}
	}
	if c.get("tls.required") != "" && c.on("tls.required") && c.get("tls.cert") == "" {
		return c.wrong("tls.required", "there is no tls.cert to offer TLS with")
	}
	if cert, key := c.get("tls.cert"), c.get("tls.key"); (cert == "") != (key == "") {
		return c.wrong(map[bool]string{true: "tls.key", false: "tls.cert"}[cert == ""], "tls.cert and tls.key go together")
	}
	if _, err := c.keepConfig(); err != nil {
		return err
	}
	if err := c.checkGuard(); err != nil {
		return err
	}
	return c.checkDatabase()
}

// checkGuard looks whether the administrators can get in.
func (c *config) checkGuard() error {
	admins := c.admins()
	if len(admins) == 0 {
		if c.get("guard.store") != "" {
			return c.wrong("guard.store", "the lock is off: guard.admins names nobody")
		}
		return nil
	}
	users, err := openUsers(c)
	if err != nil {
		return err
	}
	for _, a := range admins {
		known := false
		if users != nil {
			_, known = users(a)
		}
		if !known && !c.on("auth.trust_loopback") {
			return c.wrong("guard.admins", "%s has no password: `lhsql user %s` makes a line for users_file", a, a)
		}
	}
	return nil
}

func (c *config) checkOne(n, v string) error {
	for _, s := range switches {
		if n == s {
			switch strings.ToLower(v) {
			case "on", "true", "yes", "1", "off", "false", "no", "0", "":
				return nil
			}
			return c.wrong(n, "%q is neither on nor off", v)
		}
	}
	switch n {
	case "memory_limit":
		size, err := c.bytes(n)
		if err != nil {
			return c.wrong(n, "%q is no size; write it as 512MB or 4GB", v)
		}
		if v != "" && size < leastMemory {
			return c.wrong(n, "%s is too little; the least is 64MB", v)
		}
	case "page_cache":
		if _, err := c.bytes(n); err != nil && v != "off" {
			return c.wrong(n, "%q is no size and not off; write it as 512MB or 4GB", v)
		}
	case "workers":
		if k, err := strconv.Atoi(v); err != nil || k < 0 || k > 1024 {
			return c.wrong(n, "%q is no number from 0 to 1024", v)
		}
	case "max_connections":
		if k, err := strconv.Atoi(v); err != nil || k < 1 || k > 262143 {
			return c.wrong(n, "%q is no number of connections from 1 to 262143", v)
		}
	case "temp_dir":
		return c.checkFolder(n, v)
	case "pg", "mysql", "pprof":
		if v == "off" || n == "pprof" && v == "" {
			return nil
		}
		if _, port, err := net.SplitHostPort(v); err != nil || !isPort(port) {
			return c.wrong(n, "%q is no address such as 127.0.0.1:5433, and not off", v)
		}
	case "format":
		switch v {
		case "aligned", "csv", "json", "markdown":
		default:
			return c.wrong(n, "%q is not one of aligned, csv, json, markdown", v)
		}
	}
	switch {
	case strings.HasPrefix(n, "settings."):
		if err := engine.CheckSetting(strings.TrimPrefix(n, "settings."), v); err != nil {
			return c.wrong(n, "%s", describe(err))
		}
	case strings.HasPrefix(n, "users."):
		if err := checkVerifiers(v); err != nil {
			return c.wrong(n, "%v", err)
		}
	case strings.HasPrefix(n, "catalogs.") && strings.HasSuffix(n, ".type"):
		switch strings.ToLower(v) {
		case "sql", "sqlite", "postgres", "postgresql", "rest":
		default:
			return c.wrong(n, "%q is not one of sql, rest", v)
		}
	}
	return nil
}

// leastMemory is what a server needs at all.
const leastMemory = 64 << 20

func isPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n <= 65535
}

// checkFolder looks whether files can be made in a folder.
func (c *config) checkFolder(n, v string) error {
	if v == "" {
		return nil
	}
	if st, err := os.Stat(v); err != nil || !st.IsDir() {
		return c.wrong(n, "%s is no folder", v)
	}
	f, err := os.CreateTemp(v, "lhsql-check-*")
	if err != nil {
		return c.wrong(n, "no file can be made there: %v", err)
	}
	f.Close()
	return os.Remove(f.Name())
}

func (c *config) checkDatabase() error {
	db := c.get("database")
	if db == "" {
		return nil
	}
	known := map[string]bool{}
	for k := range c.under("catalogs.") {
		name, _, _ := strings.Cut(k, ".")
		known[name] = true
	}
	if len(known) == 0 {
		known["lake"] = true
	}
	if known[db] {
		return nil
	}
	list := make([]string, 0, len(known))
	for k := range known {
		list = append(list, k)
	}
	sort.Strings(list)
	return c.wrong("database", "%q is no catalog; there are: %s", db, strings.Join(list, ", "))
}

// checkVerifiers looks whether what is stored of a user is what `lhsql user` prints.
func checkVerifiers(stored string) error {
	list := strings.Fields(stored)
	if len(list) == 0 {
		return fmt.Errorf("there is no verifier; `lhsql user NAME` makes one")
	}
	for _, v := range list {
		if strings.HasPrefix(v, "*") {
			if !mysql.IsNativeHash(v) {
				return fmt.Errorf("what begins with * is no hash for mysql_native_password; `lhsql user NAME native` makes one")
			}
			continue
		}
		if err := pg.CheckVerifier(v); err != nil {
			return fmt.Errorf("the verifier is neither SCRAM-SHA-256 nor md5; `lhsql user NAME` makes one")
		}
	}
	return nil
}
