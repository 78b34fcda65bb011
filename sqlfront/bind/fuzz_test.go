package bind

import (
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/sqlfront/pg"
)

// TestMutations binds statements made of the pieces of those in testdata: whatever the text, the
// answer is a plan whose columns all exist, or an error. It must not panic.
func TestMutations(t *testing.T) {
	text, err := os.ReadFile("testdata/postgres.sql")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	seed := int64(20260801)
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewSource(seed))
	env := newEnv(t)
	n := 5000
	if testing.Short() {
		n = 300
	}
	parsed, bound := 0, 0
	for i := 0; i < n; i++ {
		sql := mutate(r, lines)
		p, err := pg.Parse(sql)
		if err != nil {
			continue
		}
		for _, s := range p {
			parsed++
			func() {
				defer func() {
					if x := recover(); x != nil {
						t.Errorf("%s\npanic: %v", sql, x)
					}
				}()
				if _, err := Bind(env, s, nil); err == nil {
					bound++
				}
			}()
		}
	}
	t.Logf("%d texts parsed, %d bound", parsed, bound)
}

func mutate(r *rand.Rand, lines []string) string {
	words := strings.Fields(lines[r.Intn(len(lines))])
	other := strings.Fields(lines[r.Intn(len(lines))])
	if len(words) == 0 || len(other) == 0 {
		return "select 1"
	}
	for k := 1 + r.Intn(3); k > 0; k-- {
		i, j := r.Intn(len(words)), r.Intn(len(other))
		switch r.Intn(5) {
		case 0:
			words[i] = other[j]
		case 1:
			words = append(words[:i], words[min(len(words), i+1):]...)
		case 2:
			words = append(words[:i], append(append([]string{}, other[j:min(len(other), j+3)]...), words[i:]...)...)
		case 3:
			e := min(len(other), j+1+r.Intn(6))
			words[i] = "(" + strings.Join(other[j:e], " ") + ")"
		case 4:
			words[i] = "(" + lines[r.Intn(len(lines))] + ")"
		}
		if len(words) == 0 {
			return "select 1"
		}
	}
	return strings.Join(words, " ")
}
