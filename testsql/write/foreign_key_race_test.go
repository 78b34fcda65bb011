package write

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Of two sessions of which one adds a reference and the other takes away what is referenced, whatever
// the order of their steps, one is told so: no row that references nothing is left.
func TestForeignKeyRaces(t *testing.T) {
	for _, c := range []struct {
		sql, other, code string
		want             []string // parents, then children
	}{
		{"INSERT INTO c VALUES (2)", "DELETE FROM p WHERE id = 2", "23503", []string{"p1"}},
		{"DELETE FROM p WHERE id = 2", "INSERT INTO c VALUES (2)", "23503", []string{"c2", "p1", "p2"}},
		{"UPDATE p SET id = 9 WHERE id = 2", "INSERT INTO c VALUES (2)", "23503", []string{"c2", "p1", "p2"}},
		{"INSERT INTO c VALUES (2)", "INSERT INTO p VALUES (3)", "", []string{"c2", "p1", "p2", "p3"}},
		{"INSERT INTO c VALUES (2)", "DELETE FROM p WHERE id = 1", "", []string{"c2", "p2"}},
		{"INSERT INTO c VALUES (2)", "INSERT INTO c VALUES (1)", "", []string{"c1", "c2", "p1", "p2"}},
		{"INSERT INTO c VALUES (2)", "CALL system.rewrite_data_files('s.p', options => map('rewrite-all', 'true'))", "", []string{"c2", "p1", "p2"}},
		{"ALTER TABLE n ADD FOREIGN KEY (p) REFERENCES p", "DELETE FROM p WHERE id = 2", "23503", []string{"p1"}},
		{"INSERT INTO k VALUES (2)", "DELETE FROM p WHERE id = 2", "23503", []string{"p1"}},
		{"DELETE FROM p WHERE id = 2", "INSERT INTO k VALUES (2)", "", []string{"p1"}},
		{"INSERT INTO self VALUES (5, 4)", "DELETE FROM self WHERE id = 4", "23503", []string{"p1", "p2"}},
		{"DELETE FROM self WHERE id = 4", "INSERT INTO self VALUES (5, 4)", "23503", []string{"p1", "p2"}},
	} {
		for _, step := range []string{"load", "validate", "swap"} {
			t.Run(fmt.Sprint(c.sql, " / ", c.other, " / ", step), func(t *testing.T) {
				b, err := raced(t, []string{"CREATE SCHEMA s; SET search_path = s; CREATE TABLE p (id int PRIMARY KEY); CREATE TABLE c (p int REFERENCES p); CREATE TABLE k (p int REFERENCES p ON DELETE CASCADE); CREATE TABLE n (p int); CREATE TABLE self (id int PRIMARY KEY, up int REFERENCES self)",
					"INSERT INTO p VALUES (1); INSERT INTO p VALUES (2); INSERT INTO n VALUES (2); INSERT INTO self VALUES (4, NULL)"}, step, c.sql, c.other)
				if code := string(sqlerr.CodeOf(err)); code != c.code {
					t.Errorf("%v, want %q", err, c.code)
				}
				if got := mustRows(t, b)("SELECT 'p' || id FROM p UNION ALL SELECT 'c' || p FROM c UNION ALL SELECT 'k' || p FROM k ORDER BY 1"); !slices.Equal(got, c.want) {
					t.Errorf("%q, want %q", got, c.want)
				}
				if got := mustRows(t, b)("SELECT a.id FROM self a LEFT JOIN self b ON a.up = b.id WHERE a.up IS NOT NULL AND b.id IS NULL"); len(got) > 0 {
					t.Errorf("%q reference nothing", got)
				}
			})
		}
	}
}
