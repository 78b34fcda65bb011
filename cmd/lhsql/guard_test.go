package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/wire/mysql"
	"github.com/lhsql/lhsql/wire/pg"
)

// guard.admins turns the lock on; administrators must be able to get in.
func TestGuardConfig(t *testing.T) {
	v, err := pg.Verifier("x")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ yaml, want string }{
		{"guard: {admins: dba}", "guard.admins: dba has no password"},
		{"guard: {admins: [dba, other]}\nusers: {dba: '" + v + "'}", "guard.admins: other has no password"},
		{"guard: {store: lake}", "guard.store: the lock is off"},
	} {
		cfg, _ := fileConfig(t, c.yaml)
		if err := cfg.check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.yaml, err)
		}
	}
	cfg, _ := fileConfig(t, "guard: {admins: dba}\nauth: {trust_loopback: on}")
	if err := cfg.check(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct{ yaml, want string }{
		{"guard: {admins: pg_boss}\nauth: {trust_loopback: on}", `guard.admins: "pg_boss" is no name for a role`},
		{"guard: {admins: dba, store: nowhere}\nauth: {trust_loopback: on}", `guard.store: there is no catalog "nowhere"`},
	} {
		cfg, _ := fileConfig(t, c.yaml+"\nwarehouse: "+t.TempDir())
		if e, err := openEngine(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.yaml, err)
			if err == nil {
				e.Close()
			}
		}
	}
}

// Users of the configuration and roles of the store log in, each with its own password, by both wires.
func TestGuardCredentials(t *testing.T) {
	v, err := pg.Verifier("of the file")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	text := func(users string) string {
		return fmt.Sprintf("warehouse: %s\nguard: {admins: dba, store: 'sqlite:///%s/guard.db'}\nusers: {dba: '%s'%s}", dir, dir, v, users)
	}
	c, file := fileConfig(t, text(""))
	e, err := openEngine(c)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	l, err := newLive(c, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	e.ListUsers(l.names)
	pgc, err := pgConfig(c, e, l)
	if err != nil {
		t.Fatal(err)
	}
	myc, err := mysqlConfig(c, e, l)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	dba, err := e.NewSession(ctx, engine.SessionOptions{User: "dba"})
	if err != nil {
		t.Fatal(err)
	}
	defer dba.Close()
	do := func(sql string) {
		t.Helper()
		if err := dba.Query(ctx, sql, nil, nil); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	may := func(user, password string) bool {
		t.Helper()
		_, a := pgc.Current()
		verifier, ok := a.Lookup(user)
		byPG := ok && pg.CheckPassword(verifier, user, password)
		_, m := myc.Current()
		acct, ok := m.Lookup(user)
		if byMySQL := ok && m.Check(acct.Verifier, user, password); byMySQL != byPG {
			t.Errorf("%s: %v by one wire, %v by the other", user, byPG, byMySQL)
		}
		return byPG
	}
	do("CREATE ROLE anna LOGIN PASSWORD 'annas'")
	do("CREATE ROLE ready PASSWORD '" + v + "'")
	if !may("anna", "annas") || may("anna", "of the file") || !may("dba", "of the file") || may("nobody", "annas") || !may("ready", "of the file") {
		t.Error("who may log in is not who should")
	}
	if err := dba.Query(ctx, "ALTER ROLE dba PASSWORD 'mine'", nil, nil); sqlerr.CodeOf(err) != sqlerr.ObjectNotInPrerequisite || may("dba", "mine") {
		t.Errorf("an administrator's password: %v", err)
	}
	do("ALTER ROLE anna PASSWORD 'new'")
	if may("anna", "annas") || !may("anna", "new") {
		t.Error("the old password is good still")
	}
	do("ALTER ROLE anna PASSWORD NULL")
	if may("anna", "new") || may("anna", "") {
		t.Error("a role without a password logs in")
	}
	if _, err := e.NewSession(ctx, engine.SessionOptions{User: "bert"}); sqlerr.CodeOf(err) != sqlerr.InvalidAuthorization {
		t.Errorf("bert: %v", err)
	}
	// A user that the configuration gets is a role, and keeps what it is granted.
	write(t, file, text(", bert: '"+v+"'"))
	l.reload(e, c.again)
	for end := 0; ; end++ {
		s, err := e.NewSession(ctx, engine.SessionOptions{User: "bert"})
		if err == nil {
			s.Close()
			break
		}
		if end == 1000 {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Millisecond) // a server looks twice a second
	}
	do("GRANT pg_read_all_data TO bert")
	_, m := myc.Current()
	do("CREATE ROLE old LOGIN PASSWORD 'x'")
	if a, _ := m.Lookup("old"); a.Native != "" {
		t.Error("a hash for MySQL's old method was made of a password that nobody asked it for")
	}
	my, err := e.NewSession(ctx, engine.SessionOptions{User: "dba", Dialect: "mysql"})
	if err != nil {
		t.Fatal(err)
	}
	defer my.Close()
	if err := my.Query(ctx, "ALTER USER old IDENTIFIED WITH mysql_native_password BY 'y'", nil, nil); err != nil {
		t.Fatal(err)
	}
	if a, _ := m.Lookup("old"); a.Native != mysql.NativeHash("y") {
		t.Errorf("the hash is %q", a.Native)
	}
}
