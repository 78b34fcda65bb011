package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/redact"
	"gopkg.in/yaml.v3"
)

// option is one name of the configuration. Names with a * stand for any name at that place.
type option struct {
	name, def, doc string
	secret         bool
}

// options are the names that file, environment and flags share. A key of the file's nested maps
// is their path, joined by dots.
var options = []option{
	{name: "config", doc: "the configuration file, YAML (./lhsql.yaml if it exists)"},
	{name: "warehouse", def: "lakehouse", doc: "folder of the default catalog, which lies in its catalog.db"},
	{name: "catalogs.*.*", doc: "properties of a catalog as PyIceberg spells them: catalogs.NAME.type, .uri, .warehouse, …"},
	{name: "database", doc: "the catalog of sessions that name none (the first)"},
	{name: "pg", def: "127.0.0.1:5433", doc: "address of the Postgres wire, or off"},
	{name: "mysql", def: "127.0.0.1:3307", doc: "address of the MySQL wire, or off"},
	{name: "tls.cert", doc: "certificate chain, PEM file"},
	{name: "tls.key", doc: "its private key, PEM file"},
	{name: "tls.client_ca", doc: "authorities of client certificates, PEM file: a certificate's CN is its user"},
	{name: "tls.required", def: "off", doc: "refuse connections without TLS"},
	{name: "users.*", doc: "users.NAME: verifiers as `lhsql user NAME` prints them", secret: true},
	{name: "users_file", doc: "a file of lines NAME:VERIFIERS, read again when it changes"},
	{name: "auth.md5", def: "off", doc: "let users with md5 verifiers log in"},
	{name: "auth.trust_loopback", def: "off", doc: "let connections from this machine in without a password although users exist"},
	{name: "guard.admins", doc: "roles that may do everything, separated by commas: turns the lock on, so that all others may do what they are granted (docs/security.md)"},
	{name: "guard.store", doc: "where roles and privileges are kept: a catalog whose database keeps them, sqlite:///…, or postgresql://… (the default catalog)", secret: true},
	{name: "path_tables", doc: "folders below which iceberg('…') may read, separated by commas; any when only this machine can connect"},
	{name: "memory_limit", doc: "bytes, with a unit: 4GB (70 % of the machine's)"},
	{name: "page_cache", doc: "bytes of decompressed data pages to keep, with a unit, or off (a sixteenth of memory_limit)"},
	{name: "workers", def: "0", doc: "goroutines per query; 0: one per processor"},
	{name: "temp_dir", doc: "folder of spill files (the system's)"},
	{name: "state_dir", doc: "folder of what must outlive the server: the key of erasures, and their evidence where a catalog's database cannot keep it (lhsql in the user's folder of settings)"},
	{name: "keep.every", def: "10m", doc: "how often the server looks whether tables need care (their lhsql.keep.… properties say which), or off"},
	{name: "keep.compact", def: "off", doc: "compact tables that do not say otherwise, but for those of REST catalogs"},
	{name: "keep.expire", def: "off", doc: "expire snapshots of tables that do not say otherwise, by their history.expire.… properties"},
	{name: "keep.orphans", def: "off", doc: "remove orphan files of tables that do not say otherwise: how often, such as 7d"},
	{name: "keep.rate", doc: "bytes a second that care may rewrite, with a unit (no bound)"},
	{name: "max_connections", def: "1000", doc: "connections at a time"},
	{name: "pprof", doc: "loopback address on which `go tool pprof` finds profiles (off)"},
	{name: "settings.*", doc: "defaults of session settings: settings.search_path, settings.TimeZone, …"},
	{name: "c", doc: "lhsql sql: run this SQL and end"},
	{name: "f", doc: "lhsql sql: run this file and end"},
	{name: "format", def: "aligned", doc: "lhsql sql: aligned, csv, json or markdown"},
	{name: "user", doc: "lhsql sql: the session's user (the operating system's)"},
	{name: "dialect", def: "pg", doc: "lhsql sql: pg or mysql, whose --database is what USE names"},
}

// config is the effective configuration: flat, by option name.
type config struct {
	values map[string]string
	from   map[string]string       // where a value came from, for messages
	args   []string                // what is no option
	again  func() (*config, error) // reads it anew
}

func findOption(name string) (option, bool) {
	for _, o := range options {
		if matchOption(o.name, name) {
			return o, true
		}
	}
	return option{}, false
}

// matchOption compares a pattern with a name; the last * takes the rest, dots included
// (catalogs.lake.s3.endpoint).
func matchOption(pattern, name string) bool {
	p, n := strings.Split(pattern, "."), strings.Split(name, ".")
	for i := range p {
		if i >= len(n) || n[i] == "" || (p[i] != "*" && p[i] != n[i]) {
			return false
		}
	}
	return len(n) == len(p) || p[len(p)-1] == "*"
}

// loadConfig layers defaults, file, environment and flags, later ones winning.
func loadConfig(args, environ []string, demo bool) (*config, error) {
	c := &config{values: map[string]string{}, from: map[string]string{}}
	for _, o := range options {
		if o.def != "" {
			c.values[o.name] = o.def
		}
	}
	if demo {
		c.values["settings.search_path"] = "silver, gold, bronze"
	}
	flags := &config{values: map[string]string{}, from: map[string]string{}}
	if err := flags.readFlags(args); err != nil {
		return nil, err
	}
	env := &config{values: map[string]string{}, from: map[string]string{}}
	if err := env.readEnv(environ); err != nil {
		return nil, err
	}
	file, must := "lhsql.yaml", false
	for _, layer := range []*config{env, flags} {
		if f := layer.values["config"]; f != "" {
			file, must = f, true
		}
	}
	if err := c.readFile(file, must); err != nil {
		return nil, err
	}
	for _, layer := range []*config{env, flags} {
		for k, v := range layer.values {
			c.values[k], c.from[k] = v, layer.from[k]
		}
	}
	c.args = flags.args
	c.again = func() (*config, error) { return loadConfig(args, environ, demo) }
	return c, nil
}

func (c *config) set(name, value, from string) error {
	if _, ok := findOption(name); !ok {
		return fmt.Errorf("%s: there is no option %q; lhsql help lists them", from, name)
	}
	c.values[name], c.from[name] = value, from
	return nil
}

func (c *config) readFlags(args []string) error {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !strings.HasPrefix(a, "-") || a == "-" {
			c.args = append(c.args, a)
			continue
		}
		name, value, has := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !has {
			if i+1 >= len(args) {
				return fmt.Errorf("--%s needs a value", name)
			}
			i++
			value = args[i]
		}
		if err := c.set(name, value, "command line"); err != nil {
			return err
		}
	}
	return nil
}

// testVariables are LHSQL_… variables of the project's own tests and scripts, no options.
var testVariables = map[string]bool{"GOLDEN": true, "PYTHON": true, "FLIGHTS": true, "PSQL": true, "SEED": true,
	"LINEITEM": true}

// readEnv takes LHSQL_… variables: LHSQL_CATALOGS__LAKE__URI is catalogs.lake.uri.
func (c *config) readEnv(environ []string) error {
	for _, kv := range environ {
		k, v, _ := strings.Cut(kv, "=")
		rest, ok := strings.CutPrefix(k, "LHSQL_")
		if !ok || testVariables[rest] {
			continue
		}
		name := strings.ToLower(strings.ReplaceAll(rest, "__", "."))
		if err := c.set(name, v, "environment "+k); err != nil {
			return err
		}
	}
	return nil
}

func (c *config) readFile(path string, must bool) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !must {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the configuration: %w", err)
	}
	var tree map[string]any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return c.flatten("", tree, path)
}

func (c *config) flatten(prefix string, tree map[string]any, path string) error {
	for k, v := range tree {
		name := prefix + k
		switch v := v.(type) {
		case map[string]any:
			if err := c.flatten(name+".", v, path); err != nil {
				return err
			}
		case nil:
		case bool:
			if err := c.set(name, map[bool]string{true: "on", false: "off"}[v], path); err != nil {
				return err
			}
		case []any:
			words := make([]string, len(v))
			for i, w := range v {
				words[i] = fmt.Sprint(w)
			}
			if err := c.set(name, strings.Join(words, ", "), path); err != nil {
				return err
			}
		default:
			if err := c.set(name, fmt.Sprint(v), path); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *config) get(name string) string { return c.values[name] }

func (c *config) on(name string) bool {
	switch strings.ToLower(c.values[name]) {
	case "on", "true", "yes", "1":
		return true
	}
	return false
}

// under lists the options below a prefix by what follows it.
func (c *config) under(prefix string) map[string]string {
	m := map[string]string{}
	for k, v := range c.values {
		if rest, ok := strings.CutPrefix(k, prefix); ok && rest != "" && !strings.Contains(rest, "*") {
			m[rest] = v
		}
	}
	return m
}

// bytes reads a size such as 512MB or 4GiB.
func (c *config) bytes(name string) (int64, error) {
	v := strings.TrimSpace(c.values[name])
	if v == "" {
		return 0, nil
	}
	i := len(v)
	for i > 0 && (v[i-1] < '0' || v[i-1] > '9') {
		i--
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v[:i]), 10, 64)
	shift := map[string]uint{"": 0, "b": 0, "kb": 10, "kib": 10, "mb": 20, "mib": 20, "gb": 30, "gib": 30, "tb": 40, "tib": 40}
	s, ok := shift[strings.ToLower(strings.TrimSpace(v[i:]))]
	if err != nil || !ok || n < 0 || n > 1<<(62-s) {
		return 0, fmt.Errorf("%s: %s is no size; write it as 512MB or 4GB", name, v)
	}
	return n << s, nil
}

// engineConfig is what the engine is opened with.
func (c *config) engineConfig() (engine.Config, error) {
	var e engine.Config
	var err error
	if e.MemoryLimit, err = c.bytes("memory_limit"); err != nil {
		return e, err
	}
	if v := c.get("page_cache"); v == "off" || v == "0" {
		e.PageCache = -1
	} else if e.PageCache, err = c.bytes("page_cache"); err != nil {
		return e, err
	}
	if e.Workers, err = strconv.Atoi(c.get("workers")); err != nil {
		return e, fmt.Errorf("workers: %q is no number", c.get("workers"))
	}
	e.StateDir = c.get("state_dir")
	e.TempDir, e.Default, e.Version = c.get("temp_dir"), c.get("database"), versionText()
	e.Settings = c.under("settings.")
	e.PathTables = c.pathTables()
	if admins := c.admins(); len(admins) > 0 {
		e.Guard = &engine.GuardConfig{Admins: admins, Store: c.get("guard.store")}
		if names, err := openUserNames(c); err != nil {
			return e, err
		} else if names != nil {
			e.Guard.Users = names
		}
	}
	byName := map[string]map[string]string{}
	for k, v := range c.under("catalogs.") {
		name, prop, _ := strings.Cut(k, ".")
		if byName[name] == nil {
			byName[name] = map[string]string{}
		}
		byName[name][prop] = v
	}
	if len(byName) == 0 {
		w, err := filepath.Abs(c.get("warehouse"))
		if err != nil {
			return e, err
		}
		byName["lake"] = map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(w, "catalog.db"), "warehouse": w}
	}
	names := make([]string, 0, len(byName))
	for n := range byName {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		e.Catalogs = append(e.Catalogs, engine.CatalogConfig{Name: n, Props: byName[n]})
	}
	return e, nil
}

// admins are the administrators that the configuration names; with some, the lock is on.
func (c *config) admins() []string {
	var out []string
	for _, a := range strings.Split(c.get("guard.admins"), ",") {
		if a = strings.TrimSpace(a); a != "" {
			out = append(out, a)
		}
	}
	return out
}

// keepConfig is how the server keeps tables.
func (c *config) keepConfig() (engine.KeepConfig, error) {
	k, wrong, err := engine.ParseKeep(func(option string) string { return c.get("keep." + option) })
	if err != nil {
		return k, c.wrong("keep."+wrong, "%v", err)
	}
	if k.BytesPerSecond, err = c.bytes("keep.rate"); err != nil {
		return k, c.wrong("keep.rate", "%q is no size; write it as 100MB", c.get("keep.rate"))
	}
	return k, nil
}

// pathTables are the folders that iceberg('…') may read: what is configured, or everything
// where nobody but this machine's own users can connect.
func (c *config) pathTables() []string {
	if v := c.get("path_tables"); v != "" {
		var out []string
		for _, p := range strings.Split(v, ",") {
			out = append(out, strings.TrimSpace(p))
		}
		return out
	}
	if len(c.under("users.")) == 0 && c.get("users_file") == "" && len(c.admins()) == 0 {
		return []string{"/"}
	}
	return nil
}

// redacted is the value as it may be shown: of a catalog's properties what is known to be harmless,
// of all else what is no secret.
func redacted(name, v string) string {
	if rest, ok := strings.CutPrefix(name, "catalogs."); ok {
		_, prop, _ := strings.Cut(rest, ".")
		return redact.Property(prop, v)
	}
	if o, ok := findOption(name); !ok || o.secret {
		return redact.Hidden
	}
	return redact.URI(v)
}

// runConfig prints the effective configuration as a file that could be used.
func runConfig(c *config) error {
	names := make([]string, 0, len(c.values))
	for n := range c.values {
		names = append(names, n)
	}
	sort.Strings(names)
	tree := map[string]any{}
	for _, n := range names {
		at := tree
		parts := strings.Split(n, ".")
		for _, p := range parts[:len(parts)-1] {
			next, ok := at[p].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[p] = next
			}
			at = next
		}
		at[parts[len(parts)-1]] = redacted(n, c.values[n])
	}
	out, err := yaml.Marshal(tree)
	if err != nil {
		return err
	}
	fmt.Print(string(out))
	return nil
}
