package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/wire/pg"
)

func fileConfig(t *testing.T, text string, args ...string) (*config, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "lhsql.yaml")
	write(t, file, text)
	c, err := loadConfig(append([]string{"--config", file}, args...), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return c, file
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// What cannot be is an error before anything starts, with the file, the key and what is allowed.
func TestConfigIsChecked(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"settings: {statement_timeout: abc}", "settings.statement_timeout: invalid value"},
		{"settings: {no_such_thing: 1}", "settings.no_such_thing: unrecognized configuration parameter"},
		{"settings: {lhsql.no_such_thing: 1}", "settings.lhsql.no_such_thing: unrecognized"},
		{"temp_dir: /no/such/folder", "temp_dir: /no/such/folder is no folder"},
		{"users: {anna: secret}", "users.anna: the verifier is neither SCRAM-SHA-256 nor md5"},
		{"users: {anna: md5123}", "users.anna: the verifier is neither"},
		{"users: {anna: '*12'}", "users.anna: what begins with * is no hash"},
		{"auth: {md5: maybe}", `auth.md5: "maybe" is neither on nor off`},
		{"auth: {trust_loopback: 2}", `auth.trust_loopback: "2" is neither on nor off`},
		{"tls: {required: on}", "tls.required: there is no tls.cert"},
		{"tls: {cert: x.pem}", "tls.cert: tls.cert and tls.key go together"},
		{"database: nowhere", `database: "nowhere" is no catalog; there are: lake`},
		{"catalogs: {a: {type: hive}}", `catalogs.a.type: "hive" is not one of sql, rest`},
		{"memory_limit: many", `memory_limit: "many" is no size`},
		{"memory_limit: 1MB", "memory_limit: 1MB is too little"},
		{"page_cache: some", `page_cache: "some" is no size and not off`},
		{"keep: {every: often}", `keep.every: "often" is no length of time`},
		{"keep: {compact: perhaps}", `keep.compact: "perhaps" is neither on nor off`},
		{"keep: {rate: fast}", `keep.rate: "fast" is no size`},
		{"workers: -1", `workers: "-1" is no number`},
		{"max_connections: 0", `max_connections: "0" is no number`},
		{"pg: nowhere", `pg: "nowhere" is no address`},
		{"mysql: 127.0.0.1:99999", `mysql: "127.0.0.1:99999" is no address`},
	} {
		cfg, file := fileConfig(t, c.yaml)
		if err := cfg.check(); err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.yaml, err)
		}
	}
	v, err := pg.Verifier("x")
	if err != nil {
		t.Fatal(err)
	}
	cfg, _ := fileConfig(t, fmt.Sprintf("pg: 127.0.0.1:0\nmysql: off\nauth: {md5: yes}\nsettings: {statement_timeout: 60s, my.own: x}\ntemp_dir: %s\nusers: {anna: '%s'}", t.TempDir(), v))
	if err := cfg.check(); err != nil {
		t.Error(err)
	}
}

// SIGHUP: what may change does at once, what cannot is named, and what is wrong changes nothing.
func TestReload(t *testing.T) {
	v, err := pg.Verifier("x")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := func(rest string) string {
		return "warehouse: " + dir + "\nworkers: 1\nusers: {anna: '" + v + "'" + rest
	}
	c, file := fileConfig(t, text("}"))
	e, err := openEngine(c)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var log []string
	l, err := newLive(c, func(f string, a ...any) { log = append(log, fmt.Sprintf(f, a...)) })
	if err != nil {
		t.Fatal(err)
	}
	knows := func(u string) bool { _, users, _ := l.now(); _, ok := users(u); return ok }
	setting := func() string {
		s, err := e.NewSession(t.Context(), engine.SessionOptions{User: "anna"})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		got, _ := s.Setting("search_path")
		return got
	}
	before := setting()
	write(t, file, text(", bert: '"+v+"'}\nsettings: {search_path: silver}\npg: 127.0.0.1:1"))
	l.reload(e, c.again)
	if !knows("bert") || setting() != "silver" {
		t.Errorf("bert %v, search_path %s (was %s): %v", knows("bert"), setting(), before, log)
	}
	if all := strings.Join(log, "\n"); !strings.Contains(all, "settings.search_path, users.bert") || !strings.Contains(all, "next start alone: pg") {
		t.Errorf("it says %s", all)
	}
	log = nil
	write(t, file, text("}\nauth: {md5: maybe}"))
	l.reload(e, c.again)
	if !knows("bert") || setting() != "silver" || !strings.Contains(strings.Join(log, ""), "stays as it was") {
		t.Errorf("a wrong file changed something: %v", log)
	}
	write(t, file, text("}"))
	l.reload(e, c.again)
	if knows("bert") || setting() != before {
		t.Errorf("bert %v, search_path %s: %v", knows("bert"), setting(), log)
	}
}

// A catalog that is away does not keep the server from starting: its statements fail with 08006.
func TestCatalogThatIsAway(t *testing.T) {
	var log []string
	dir := t.TempDir()
	e, err := engine.Open(t.Context(), engine.Config{
		Log: func(f string, a ...any) { log = append(log, fmt.Sprintf(f, a...)) },
		Catalogs: []engine.CatalogConfig{
			{Name: "lake", Props: map[string]string{"type": "sql", "uri": "sqlite:///" + dir + "/catalog.db", "warehouse": dir}},
			{Name: "base", Props: map[string]string{"type": "sql", "uri": "postgresql://anna:geheim@127.0.0.1:1/iceberg", "warehouse": dir}},
			{Name: "rest", Props: map[string]string{"type": "rest", "uri": "http://127.0.0.1:1/?key=geheim", "token": "geheim"}},
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if all := strings.Join(log, "\n"); strings.Count(all, "cannot be reached") != 2 || strings.Contains(all, "geheim") {
		t.Errorf("the log says %s", all)
	}
	for _, db := range []string{"base", "rest"} {
		s, err := e.NewSession(t.Context(), engine.SessionOptions{User: "anna", Database: db})
		if err != nil {
			t.Fatal(err)
		}
		for _, sql := range []string{"select * from a.b", "create schema x", "select 1", "begin", "select * from a.b", "rollback"} {
			err := runOne(t, s, sql)
			away := sql != "select 1" && sql != "begin" && sql != "rollback"
			if got := sqlState(err); away != (got == "08006") || err != nil && strings.Contains(fmt.Sprintf("%+v", err), "geheim") {
				t.Errorf("%s: %s gives %v", db, sql, err)
			}
		}
		s.Close()
	}
}

// runOne runs one statement to its end.
func runOne(t *testing.T, s *engine.Session, sql string) error {
	t.Helper()
	list, err := s.Parse(sql)
	if err != nil {
		return err
	}
	for _, p := range list {
		st, err := s.Prepare(t.Context(), p, nil)
		if err != nil {
			return err
		}
		r, err := st.Execute(t.Context(), nil)
		if err != nil {
			return err
		}
		if err := r.Each(t.Context(), func([]types.Datum) error { return nil }); err != nil {
			return err
		}
	}
	return nil
}

func sqlState(err error) string { return string(sqlerr.CodeOf(err)) }
