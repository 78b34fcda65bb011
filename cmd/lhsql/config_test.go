package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConfigLayers: flags beat the environment, which beats the file, which beats defaults; the
// names are the same in all three.
func TestConfigLayers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lhsql.yaml")
	text := "pg: 127.0.0.1:1\nworkers: 3\ncatalogs:\n  prod:\n    type: rest\n    uri: http://a\nsettings: {TimeZone: Asia/Tokyo, search_path: [silver, gold]}\nauth: {md5: true}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := loadConfig([]string{"--config", file, "--pg=127.0.0.1:3"},
		[]string{"LHSQL_PG=127.0.0.1:2", "LHSQL_WORKERS=4", "LHSQL_CATALOGS__PROD__TOKEN=x", "HOME=/"}, false)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{"pg": "127.0.0.1:3", "workers": "4", "catalogs.prod.uri": "http://a", "catalogs.prod.token": "x",
		"settings.TimeZone": "Asia/Tokyo", "settings.search_path": "silver, gold", "auth.md5": "on", "warehouse": "lakehouse"} {
		if got := c.get(k); got != want {
			t.Errorf("%s is %q, not %q", k, got, want)
		}
	}
	e, err := c.engineConfig()
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Catalogs) != 1 || e.Catalogs[0].Name != "prod" || e.Catalogs[0].Props["token"] != "x" || e.Workers != 4 {
		t.Errorf("%+v", e)
	}
}

// TestConfigRefusals: a name that does not exist is an error in every layer, and says where.
func TestConfigRefusals(t *testing.T) {
	if _, err := loadConfig([]string{"--prot", "x"}, nil, false); err == nil || !strings.Contains(err.Error(), "prot") {
		t.Errorf("flag: %v", err)
	}
	if _, err := loadConfig(nil, []string{"LHSQL_PROT=1"}, false); err == nil || !strings.Contains(err.Error(), "LHSQL_PROT") {
		t.Errorf("environment: %v", err)
	}
	file := filepath.Join(t.TempDir(), "c.yaml")
	os.WriteFile(file, []byte("prot: 1\n"), 0o600)
	if _, err := loadConfig([]string{"--config", file}, nil, false); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("file: %v", err)
	}
	if _, err := loadConfig([]string{"--config", file + ".not"}, nil, false); err == nil {
		t.Error("a named file that is missing is no error")
	}
	c, _ := loadConfig([]string{"--memory_limit", "lots"}, nil, false)
	if _, err := c.engineConfig(); err == nil {
		t.Error("a size that is none is no error")
	}
}

// TestConfigRedacts: what `lhsql config` prints holds no secret.
func TestConfigRedacts(t *testing.T) {
	c, err := loadConfig([]string{"--users.ann", "SCRAM-SHA-256$4096:c2FsdA==$a:b", "--catalogs.a.s3.secret-access-key", "hush",
		"--catalogs.a.uri", "postgresql://me:hush@db/x", "--catalogs.b.credential", "id:hush"}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	out := capture(t, func() error { return runConfig(c) })
	for _, s := range []string{"hush", "SCRAM", "c2FsdA"} {
		if strings.Contains(out, s) {
			t.Errorf("%q is shown:\n%s", s, out)
		}
	}
	if !strings.Contains(out, "postgresql://***@db/x") || !strings.Contains(out, "warehouse: lakehouse") {
		t.Errorf("what is no secret is missing:\n%s", out)
	}
}

// capture gives what f prints.
func capture(t *testing.T, f func() error) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdout
	os.Stdout = w
	done := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		done <- string(b)
	}()
	err = f()
	os.Stdout = old
	w.Close()
	out := <-done
	if err != nil {
		t.Fatal(err)
	}
	return out
}
