package engine

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// What the decision costs a small statement: unlocked, and as a role with privileges by a group, parsed
// and bound each time, or prepared once.
func BenchmarkLock(b *testing.B) {
	ctx := context.Background()
	for _, on := range []bool{false, true} {
		dir := b.TempDir()
		cfg := Config{Catalogs: []CatalogConfig{{Name: "lake", Props: map[string]string{"type": "sql",
			"uri": "sqlite:///" + filepath.Join(dir, "catalog.db"), "warehouse": filepath.Join(dir, "warehouse")}}}}
		name := "off"
		if on {
			name, cfg.Guard = "on", &GuardConfig{Admins: []string{"dba"}}
		}
		e, err := Open(ctx, cfg)
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close()
		session := func(user string) *Session {
			s, err := e.NewSession(ctx, SessionOptions{User: user, Database: "lake"})
			if err != nil {
				b.Fatal(err)
			}
			return s
		}
		dba := session("dba")
		list := []string{"CREATE SCHEMA s", "CREATE TABLE s.t (a int, b text)", "INSERT INTO s.t SELECT i, i::text FROM generate_series(1, 10000) i"}
		if on {
			list = append(list, "CREATE ROLE readers", "CREATE ROLE anna LOGIN IN ROLE readers", "GRANT USAGE ON SCHEMA s TO readers", "GRANT SELECT ON s.t TO readers")
		}
		for _, sql := range list {
			if err := exec1(dba, sql); err != nil {
				b.Fatal(err)
			}
		}
		s := session("anna")
		const sql = "SELECT b FROM s.t WHERE a = $1"
		args := []types.Datum{types.NewInt(77)}
		b.Run(name+"/parsed", func(b *testing.B) {
			for b.Loop() {
				if err := s.Query(ctx, sql, args, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		parsed, err := s.Parse(sql)
		if err != nil {
			b.Fatal(err)
		}
		st, err := s.Prepare(ctx, parsed[0], nil)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/decision", func(b *testing.B) {
			for b.Loop() {
				if err := s.permit(ctx, st); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/binding", func(b *testing.B) {
			for b.Loop() {
				if _, err := bind.Bind(s.bindEnv(ctx, nil), parsed[0], nil); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/prepared", func(b *testing.B) {
			for b.Loop() {
				r, err := st.Execute(ctx, args)
				if err == nil {
					err = r.Each(ctx, func([]types.Datum) error { return nil })
				}
				if err != nil {
					b.Fatal(err)
				}
				if err := s.EndImplicit(ctx); err != nil {
					b.Fatal(err)
				}
			}
		})
		s.Close()
		dba.Close()
	}
}
