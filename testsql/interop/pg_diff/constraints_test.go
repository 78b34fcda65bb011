package pgdiff

import (
	"context"
	"flag"
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

var histories = flag.Int("histories", 4, "how many histories of 150 statements on tables with constraints to run")

// violations are the errors of rows that break a constraint: a row that breaks several is told of one,
// and PostgreSQL meets rows one after the other.
var violations = map[string]bool{"23502": true, "23503": true, "23505": true, "23514": true, "21000": true}

// TestConstraintHistories runs the same random statements on tables with keys, foreign keys and checks
// in both: each is taken or refused by both, gives the same rows, and leaves the same tables. What lhsql
// refuses as a second time that PostgreSQL takes, an upsert whose rows move each other's keys, ends a
// history.
func TestConstraintHistories(t *testing.T) {
	ctx := context.Background()
	judge := startPostgres(t)
	house := startHouse(t)
	count := map[string]int{}
	for s := range *histories {
		g := &constrained{r: rand.New(rand.NewSource(*seed + int64(s)))}
		both := func(sql string) (want, got answer) { return ask(ctx, judge, sql), ask(ctx, house, sql) }
		must := func(sql string) {
			if want, got := both(sql); want.code != "" || got.code != "" {
				t.Fatalf("%s\n-- PostgreSQL: %s\n-- lhsql:      %s", sql, want, got)
			}
		}
		must(fmt.Sprintf("CREATE SCHEMA h%d", s))
		must(fmt.Sprintf("SET search_path = h%d", s))
		must("CREATE TABLE p (id int PRIMARY KEY, k text, n int CHECK (n < 4), CONSTRAINT kn UNIQUE (k, n))")
		must("CREATE TABLE c (id int PRIMARY KEY, p int REFERENCES p, q int REFERENCES p ON DELETE SET NULL, k text UNIQUE)")
		must("CREATE TABLE g (c int REFERENCES c ON DELETE CASCADE, p int REFERENCES p ON DELETE CASCADE)")
	history:
		for i := 0; i < 150; {
			list := []string{g.statement()}
			if g.r.Intn(8) == 0 {
				list = append([]string{"BEGIN"}, list...)
				list = append(list, g.statement(), []string{"COMMIT", "ROLLBACK"}[g.r.Intn(2)])
			}
			for _, sql := range list {
				want, got := both(sql)
				i++
				count[want.code]++
				switch {
				case violations[want.code] && violations[got.code]:
				case want.code == "" && got.code == "21000" && strings.Contains(sql, "DO UPDATE"):
					both("ROLLBACK")
					break history
				case compare(want, got) != same:
					t.Fatalf("seed %d, statement %d: %s\n-- PostgreSQL: %s\n-- lhsql:      %s", *seed+int64(s), i, sql, want, got)
				}
			}
			for _, table := range []string{"p", "c", "g"} {
				if want, got := both("SELECT * FROM " + table); compare(want, got) != same {
					t.Fatalf("seed %d, after statement %d (%s): %s\n-- PostgreSQL: %s\n-- lhsql:      %s", *seed+int64(s), i, strings.Join(list, "; "), table, want, got)
				}
			}
		}
	}
	t.Logf("statements by PostgreSQL's answer: %v", count)
}

// constrained makes statements about the tables p, c and g.
type constrained struct{ r *rand.Rand }

func (g *constrained) one(list ...string) string { return list[g.r.Intn(len(list))] }

func (g *constrained) id() string {
	if g.r.Intn(10) == 0 {
		return "NULL"
	}
	return fmt.Sprint(1 + g.r.Intn(8))
}

func (g *constrained) key() string { return g.one("'a'", "'b'", "'c'", "'d'", "NULL") }

func (g *constrained) row(table string) string {
	switch table {
	case "p":
		return fmt.Sprintf("(%s, %s, %d)", g.id(), g.key(), g.r.Intn(5))
	case "c":
		return fmt.Sprintf("(%s, %s, %s, %s)", g.id(), g.id(), g.one("NULL", g.id()), g.key())
	}
	return fmt.Sprintf("(%s, %s)", g.id(), g.id())
}

func (g *constrained) rows(table string) string {
	var out []string
	for range 1 + g.r.Intn(3) {
		out = append(out, g.row(table))
	}
	return strings.Join(out, ", ")
}

func (g *constrained) conflict(table string) string {
	target := map[string][]string{"p": {"(id)", "(k, n)", "(n, k)", "ON CONSTRAINT kn", ""}, "c": {"(id)", "(k)", ""}}[table]
	on := g.one(target...)
	switch {
	case g.r.Intn(5) < 2:
		return ""
	case on == "" || g.r.Intn(5) < 2:
		return " ON CONFLICT " + on + " DO NOTHING"
	}
	set := map[string][]string{
		"p": {"n = excluded.n", "k = excluded.k", "n = p.n + 1", "id = excluded.id, n = excluded.n", "k = 'z'"},
		"c": {"p = excluded.p", "k = excluded.k", "q = excluded.q, p = excluded.p", "id = c.id + 1"}}[table]
	where := ""
	if g.r.Intn(3) == 0 {
		where = map[string]string{"p": " WHERE p.n < 2", "c": " WHERE c.p IS NOT NULL"}[table]
	}
	return " ON CONFLICT " + on + " DO UPDATE SET " + g.one(set...) + where
}

func (g *constrained) statement() string {
	table := g.one("p", "p", "c", "c", "c", "g")
	x := g.r.Intn(20)
	switch {
	case table == "g" && x < 14:
		return "INSERT INTO g VALUES " + g.rows(table)
	case table == "g":
		return "DELETE FROM g WHERE p = " + g.id()
	case x < 11:
		return "INSERT INTO " + table + " VALUES " + g.rows(table) + g.conflict(table) + g.one("", "", "", " RETURNING *")
	case x < 14:
		return fmt.Sprintf("DELETE FROM %s WHERE id IN (%s, %s)", table, g.id(), g.id())
	case x < 18:
		set := map[string][]string{"p": {"n = n + 1", "k = " + g.key(), "id = " + g.id()}, "c": {"p = " + g.id(), "q = " + g.id(), "k = " + g.key(), "id = " + g.id()}}[table]
		return fmt.Sprintf("UPDATE %s SET %s WHERE id = %s", table, g.one(set...), g.id())
	}
	return fmt.Sprintf("DELETE FROM %s WHERE k = %s", table, g.key())
}
