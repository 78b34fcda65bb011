package testsql

import (
	"context"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/internal/testseed"
)

// TestMySQLMutations makes statements that are almost right out of the cases, by exchanging,
// dropping and doubling their words, and runs them: whatever is wrong is the user's error, never
// ours (XX000). LHSQL_MUTATIONS is how many, LHSQL_SEED the seed of a run to repeat.
func TestMySQLMutations(t *testing.T) {
	n := 1500
	if v, err := strconv.Atoi(os.Getenv("LHSQL_MUTATIONS")); err == nil {
		n = v
	}
	seed := testseed.Of(t)
	r := rand.New(rand.NewPCG(seed, 1))
	s := mysqlSession(t)
	ctx := context.Background()
	for _, l := range strings.Split(strings.TrimSpace(mysqlFixture), "\n") {
		if a := ask(ctx, s, l); a.err != nil {
			t.Fatal(l, a.err)
		}
		if strings.HasPrefix(l, "create database") {
			if err := s.Use(ctx, "shop"); err != nil {
				t.Fatal(err)
			}
		}
	}
	var lines [][]string
	var words []string
	for _, file := range mysqlCaseFiles(t) {
		for _, l := range readLines(t, file) {
			sql, _, _ := strings.Cut(l, " -- mysql: ")
			w := wordsOf(sql)
			lines = append(lines, w)
			if len(words) < 50000 {
				words = append(words, w...)
			}
		}
	}
	for i := 0; i < n; i++ {
		w := append([]string(nil), lines[r.IntN(len(lines))]...)
		for k := r.IntN(4); k >= 0 && len(w) > 1; k-- {
			at := 1 + r.IntN(len(w)-1)
			switch r.IntN(5) {
			case 0:
				w = append(w[:at:at], w[at+1:]...)
			case 1:
				w = append(w[:at:at], append([]string{w[at]}, w[at:]...)...)
			default:
				w[at] = words[r.IntN(len(words))]
			}
		}
		sql := strings.Join(w, " ")
		if strings.Contains(sql, "recursive") {
			continue // may not end
		}
		a := ask(ctx, s, sql)
		if e, ok := sqlerr.As(a.err); a.err != nil && (!ok || e.Code == sqlerr.InternalError) {
			t.Errorf("%s\n  %v", sql, a.err)
		}
	}
}

// wordsOf cuts a statement at spaces and around signs, strings left whole.
func wordsOf(sql string) []string {
	var out []string
	from := 0
	flush := func(to int) {
		if s := strings.TrimSpace(sql[from:to]); s != "" {
			out = append(out, s)
		}
		from = to
	}
	for i := 0; i < len(sql); i++ {
		switch c := sql[i]; {
		case c == '\'':
			flush(i)
			for i++; i < len(sql) && sql[i] != '\''; i++ {
			}
			flush(min(i+1, len(sql)))
		case c == ' ':
			flush(i)
		case strings.IndexByte("(),+*/%", c) >= 0:
			flush(i)
			flush(i + 1)
		}
	}
	flush(len(sql))
	return out
}
