package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestFlights travels through the snapshots of a table of real data that PyIceberg loaded, in
// every spelling, and compares with what PyIceberg reads of each.
func TestFlights(t *testing.T) {
	dir, _ := filepath.Abs("../../.cache/flights")
	if d := os.Getenv("LHSQL_FLIGHTS"); d != "" {
		dir = d
	}
	b, err := os.ReadFile(filepath.Join(dir, "expected.txt"))
	if err != nil {
		t.Skip("the flights are not loaded: run testsql/interop/flights.sh")
	}
	eng := openEngine(t, dir)
	today := openSession(t, eng, "lake")
	set(t, today, "search_path", "nyc")
	var spellings []string
	pinned, database := today, today
	for n, l := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		f := strings.Split(l, "\t")
		if f[0] == "state" {
			ms, _ := strconv.ParseInt(f[2], 10, 64)
			at := time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05.000Z07:00")
			spellings = spellingsOf(f[1], at, f[3])
			pinned = openSession(t, eng, "lake")
			set(t, pinned, "search_path", "nyc")
			set(t, pinned, "lhsql.as_of", at)
			database = openSession(t, eng, "lake@"+strings.Replace(at, " ", "T", 1))
			set(t, database, "search_path", "nyc")
			continue
		}
		where := fmt.Sprintf("expected.txt:%d", n+1)
		check := func(how, sql string, s interface{}) {
			t.Helper()
			sess := today
			switch s {
			case "pinned":
				sess = pinned
			case "database":
				sess = database
			}
			r, err := query(sess, sql)
			if err != nil {
				t.Errorf("%s: %s: %s: %v", where, how, sql, err)
			} else if got := digestOf(r.lines()); strconv.Itoa(len(r.rows)) != f[2] || got != f[3] {
				t.Errorf("%s: %s: %s: %d rows, not %s; the first: %q", where, how, sql, len(r.rows), f[2], r.lines()[:min(1, len(r.rows))])
			}
		}
		for _, sp := range spellings {
			check("clause", strings.Replace(f[1], "{t}", sp, 1), "today")
		}
		check("lhsql.as_of", strings.Replace(f[1], "{t}", "flights", 1), "pinned")
		check("database", strings.Replace(f[1], "{t}", "flights", 1), "database")
	}
}

// spellingsOf are the ways to name a state in FROM.
func spellingsOf(id, at, tag string) []string {
	out := []string{
		"flights FOR VERSION AS OF " + id, "flights VERSION AS OF " + id, "flights FOR SYSTEM_VERSION AS OF " + id,
		"flights AT (VERSION => " + id + ")", "flights AS OF '" + id + "'",
		"flights FOR TIMESTAMP AS OF timestamptz '" + at + "'", "flights TIMESTAMP AS OF '" + at + "'",
		"flights FOR SYSTEM_TIME AS OF timestamptz '" + at + "'", "flights AT (TIMESTAMP => timestamptz '" + at + "')",
		"flights AS OF TIMESTAMP timestamptz '" + at + "'",
	}
	if tag != "" {
		out = append(out, "flights FOR VERSION AS OF '"+tag+"'", "flights.tag_"+tag, `"flights@`+tag+`"`, "flights AS OF '"+tag+"'")
	}
	return out
}
