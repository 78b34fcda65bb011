package limits

import (
	"bufio"
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/internal/testseed"
)

// corpus is the statements of one script: setup makes its world.
type corpus struct {
	path           string
	setup, queries []string
}

// readCorpus reads the SQL of a script (package testsql says how they look).
func readCorpus(t *testing.T, path string) corpus {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := corpus{path: path}
	var verb string
	var sql []string
	flush := func() {
		text := strings.Join(sql, "\n")
		if strings.Contains(text, "{golden}") {
			text = ""
		}
		text = strings.ReplaceAll(text, "{shape}", "'format-version' = '2'")
		switch {
		case text == "":
		case verb == "setup" || verb == "exec":
			c.setup = append(c.setup, text)
			c.queries = append(c.queries, text)
		case verb == "query" || verb == "error" || verb == "returning" || verb == "plan":
			c.queries = append(c.queries, text)
		}
		verb, sql = "", nil
	}
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	want := false
	for sc.Scan() {
		l := sc.Text()
		switch {
		case strings.TrimSpace(l) == "":
			flush()
			want = false
		case strings.HasPrefix(l, "#") && verb == "":
		case verb == "":
			verb = strings.Fields(l)[0]
		case l == "----":
			want = true
		case !want:
			sql = append(sql, l)
		}
	}
	flush()
	return c
}

var tokenPattern = regexp.MustCompile(`'(?:[^']|'')*'|"[^"]*"|[A-Za-z_][A-Za-z0-9_$]*|[0-9]+(?:\.[0-9]+)?|::|<=|>=|<>|\|\||->>|->|[^\sA-Za-z0-9_]`)

// edges are tokens at which things go wrong.
var edges = strings.Fields(`NULL 0 -1 1 9223372036854775807 -9223372036854775808 2147483648 1e308 1e-308 0.1 1.50
	'' 'x' 'NaN' '1970-01-01' '{1,2}' '{}' '[]' '{"a":1}' 'infinity' true false * ( ) [ ] , ; . :: = <> < > + - / % || and or not
	in is between like case when then else end distinct all any exists interval array[1,NULL] row(1,2) null::int null::numeric[]
	count(*) sum(1) now() random() generate_series(1,3) unnest(array[1,2]) lateral left full join on using group by order limit offset
	union except intersect with recursive as over (partition filter (where within group having cube rollup desc nulls first
	::text ::int ::numeric(5,2) ::date ::timestamptz ::jsonb ::int[] ::uuid ::bytea ::boolean ::float8 $1 insert update delete merge set`)

// mutate changes some tokens of sql: dropped, doubled, exchanged with its own, with another
// statement's, or with an edge.
func mutate(r *rand.Rand, sql string, others []string) string {
	tokens := tokenPattern.FindAllString(sql, -1)
	for n := 1 + r.Intn(4); n > 0 && len(tokens) > 0; n-- {
		i := r.Intn(len(tokens))
		if r.Intn(8) > 0 {
			// Mostly one token stands for another of its kind, so that the grammar lets it pass.
			tokens[i] = alike(r, tokens[i], others)
			continue
		}
		switch r.Intn(7) {
		case 0:
			tokens = append(tokens[:i:i], tokens[i+1:]...)
		case 1:
			tokens = append(tokens[:i+1:i+1], tokens[i:]...)
		case 2:
			j := r.Intn(len(tokens))
			tokens[i], tokens[j] = tokens[j], tokens[i]
		case 3, 4:
			tokens[i] = edges[r.Intn(len(edges))]
		case 5:
			tokens = append(tokens[:i+1:i+1], append([]string{edges[r.Intn(len(edges))]}, tokens[i+1:]...)...)
		case 6:
			o := tokenPattern.FindAllString(others[r.Intn(len(others))], -1)
			if len(o) > 0 {
				from := r.Intn(len(o))
				to := min(len(o), from+1+r.Intn(6))
				tokens = append(tokens[:i:i], append(append([]string(nil), o[from:to]...), tokens[i:]...)...)
			}
		}
	}
	return strings.Join(tokens, " ")
}

var (
	numbers   = strings.Fields("0 1 2 -1 3.5 0.00 1e30 1e-30 32768 2147483648 9223372036854775807 NULL (select(1))")
	texts     = strings.Fields("'' 'x' '1' 'NaN' 'infinity' '1970-01-01' '2026-02-30' '{1,2}' '[1,null]' '{\"a\":1}' '(.*)+' '%a_' 'P1D' NULL E'\\n' 'YYYY-MM-DD'")
	operators = strings.Fields("= <> < > <= >= + - * / % || -> ->> @> && ~ !~")
)

// alike gives a token of the same kind as the given one.
func alike(r *rand.Rand, token string, others []string) string {
	pick := func(l []string) string { return l[r.Intn(len(l))] }
	switch c := token[0]; {
	case c >= '0' && c <= '9':
		return pick(numbers)
	case c == '\'':
		return pick(texts)
	case c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		// Words that stand where this one's neighbours could: another function, type or column.
		for range 8 {
			o := tokenPattern.FindAllString(pick(others), -1)
			if w := o[r.Intn(len(o))]; w[0] == '_' || w[0] >= 'a' && w[0] <= 'z' {
				return w
			}
		}
	case strings.Contains(" = <> < > <= >= + - * / % || -> ->> ", " "+token+" "):
		return pick(operators)
	}
	return token
}

// TestMutations runs statements that are almost right: each gives rows or an error of the
// user's, soon. LHSQL_MUTATIONS is how many, LHSQL_SEED which.
func TestMutations(t *testing.T) {
	count, seed := 600, int64(testseed.Of(t))
	if testing.Short() {
		count = 200
	}
	if n, err := strconv.Atoi(os.Getenv("LHSQL_MUTATIONS")); err == nil {
		count = n
	}
	r := rand.New(rand.NewSource(seed))
	paths, err := filepath.Glob("../*/*.sqlt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	var all []string
	var list []corpus
	for _, p := range paths {
		c := readCorpus(t, p)
		if len(c.queries) > 0 {
			list = append(list, c)
			all = append(all, c.queries...)
		}
	}
	seen := map[sqlerr.Code]int{}
	defer func() { t.Logf("answers by code, \"\" for rows: %v", seen) }()
	for k, c := range list {
		n := count * (k + 1) / len(list)
		n -= count * k / len(list)
		runMutations(t, r, c, n, all, seen)
	}
}

func runMutations(t *testing.T, r *rand.Rand, c corpus, n int, all []string, seen map[sqlerr.Code]int) {
	s := open(t, 128<<20)
	x := s.session(t)
	ask(context.Background(), x, "create schema if not exists public")
	for _, sql := range c.setup {
		ask(context.Background(), x, sql)
	}
	for ; n > 0; n-- {
		sql := mutate(r, c.queries[r.Intn(len(c.queries))], all)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		start := time.Now()
		_, err := ask(ctx, x, sql)
		cancel()
		seen[code(err)]++
		if took := time.Since(start); took > 2*time.Second+2*patience {
			t.Errorf("%s: it took %v:\n%s", c.path, took, sql)
		}
		if c2 := code(err); err != nil && (c2 == "" || c2 == sqlerr.InternalError) {
			t.Errorf("%s: %v:\n%s", c.path, err, sql)
		}
		if x.Status() != 'I' {
			ask(context.Background(), x, "rollback")
		}
	}
}
