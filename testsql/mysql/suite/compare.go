package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// expected says whether an answer is what the suite expects of a step. Its values are the Go values
// of its own engine; what comes over the wire is text, so that equal is what means the same:
// numbers by value, documents of JSON by content, instants by their digits.
func expected(s step, a answer) bool {
	if s.fails {
		return a.err != nil
	}
	if a.err != nil {
		return false
	}
	if s.loose {
		return true
	}
	if len(s.rows) == 1 && len(s.rows[0]) == 1 {
		if ok, is := s.rows[0][0].(types.OkResult); is {
			return !a.hasRows && a.affected == int64(ok.RowsAffected) && (ok.InsertID == 0 || a.inserted == int64(ok.InsertID))
		}
	}
	if !a.hasRows {
		return len(s.rows) == 0 || len(s.rows) == 1 && len(s.rows[0]) == 0
	}
	return matched(len(s.rows), len(a.rows), ordered(s.sql), func(i, j int) bool {
		if len(s.rows[i]) != len(a.rows[j]) {
			return false
		}
		for c, want := range s.rows[i] {
			if !meant(want, a.rows[j][c], strings.HasPrefix(strings.ToUpper(strings.TrimSpace(s.sql)), "SHOW")) {
				return false
			}
		}
		return true
	})
}

// sameAnswer says whether two servers answered alike.
func sameAnswer(q string, a, b answer) bool {
	if a.err != nil || b.err != nil {
		return a.err != nil && b.err != nil
	}
	if a.hasRows != b.hasRows {
		return false
	}
	if !a.hasRows {
		return a.affected == b.affected
	}
	return matched(len(a.rows), len(b.rows), ordered(q), func(i, j int) bool {
		if len(a.rows[i]) != len(b.rows[j]) {
			return false
		}
		for c, v := range a.rows[i] {
			w := b.rows[j][c]
			if (v == nil) != (w == nil) || v != nil && !sameText(*v, *w) {
				return false
			}
		}
		return true
	})
}

var orderBy = regexp.MustCompile(`(?i)\border\s+by\b`)

func ordered(q string) bool { return orderBy.MatchString(q) }

// matched pairs n things with as many others: in order, or in any.
func matched(n, m int, inOrder bool, same func(i, j int) bool) bool {
	if n != m {
		return false
	}
	used := make([]bool, m)
next:
	for i := range n {
		if inOrder {
			if !same(i, i) {
				return false
			}
			continue
		}
		for j := range m {
			if !used[j] && same(i, j) {
				used[j] = true
				continue next
			}
		}
		return false
	}
	return true
}

// meant says whether a text of the wire is a value of the suite.
func meant(want any, got *string, show bool) bool {
	if custom, is := want.(interface{ Validate(any) (bool, error) }); is {
		var v any
		if got != nil {
			v = *got
		}
		ok, err := custom.Validate(v)
		return ok && err == nil
	}
	if w, is := want.(sql.AnyWrapper); is {
		if v, err := sql.UnwrapAny(context.Background(), w); err == nil {
			want = v
		}
	}
	if want == nil || got == nil {
		return want == nil && got == nil
	}
	switch w := want.(type) {
	case bool:
		if w {
			return *got == "1" || *got == "true"
		}
		return *got == "0" || *got == "false"
	case []byte:
		return string(w) == *got
	case string:
		return sameText(w, *got)
	case time.Time:
		// The suite shows instants of SHOW as one instant.
		return show || sameTime(w.Format("2006-01-02 15:04:05.999999"), *got)
	case types.Timespan:
		return sameTime(w.String(), *got)
	case sql.JSONWrapper:
		v, err := w.ToInterface()
		if err != nil {
			return false
		}
		text, err := json.Marshal(v)
		return err == nil && sameJSON(string(text), *got)
	case float32:
		return closeNumbers(float64(w), *got, 1e-6)
	case float64:
		return closeNumbers(w, *got, 1e-13)
	}
	return sameText(fmt.Sprint(want), *got)
}

func sameText(a, b string) bool {
	return a == b || sameDefinition(a, b) || sameNumber(a, b) || sameTime(a, b) || sameJSON(a, b)
}

// sameDefinition tells whether two texts of SHOW CREATE TABLE make the same table. Engine, character
// set and collation of the table are each server's own, and so are brackets and blanks of expressions
// that both were given in the same words, the width that MariaDB shows of integers, and whether it is
// said that a column is NULL by default.
func sameDefinition(a, b string) bool {
	x, ok := definition(a)
	if !ok {
		return false
	}
	y, ok := definition(b)
	return ok && x == y
}

var ownWords = []struct {
	find *regexp.Regexp
	put  string
}{
	{regexp.MustCompile(`(?s)\n\) ENGINE=\w+( AUTO_INCREMENT=\d+)?( DEFAULT CHARSET=\w+)?( COLLATE=\w+)?`), "\n)"},
	{regexp.MustCompile(`(?i)\b(tinyint|smallint|mediumint|int|bigint)\(\d+\)`), "$1"},
	{regexp.MustCompile(`(?i)(\bnull)? default null\b`), ""},
	{regexp.MustCompile("(?i)(` (timestamp|datetime)(\\(\\d\\))?) null\\b"), "$1"},
	{regexp.MustCompile(`(?i)current_timestamp\(\)`), "CURRENT_TIMESTAMP"},
	{regexp.MustCompile(`(?i)\bdefault (-?[0-9.]+)`), "DEFAULT '$1'"},
	{regexp.MustCompile(`(?m)(GENERATED ALWAYS AS|CHECK|DEFAULT) \(.*$`), ""}, // see expressions
}

var expressions = regexp.MustCompile(`(?m)(?:GENERATED ALWAYS AS|CHECK|DEFAULT) \(.*$`)

func definition(text string) (string, bool) {
	if !strings.HasPrefix(text, "CREATE TABLE `") {
		return "", false
	}
	// Expressions: without brackets and blanks, in small letters but for what is quoted.
	words := strings.Join(expressions.FindAllString(text, -1), "\n")
	for _, w := range ownWords {
		text = w.find.ReplaceAllString(text, w.put)
	}
	words = strings.NewReplacer("(", "", ")", "", " ", "").Replace(words)
	words = strings.TrimSuffix(strings.ToLower(words), ",")
	words = strings.ReplaceAll(strings.ReplaceAll(words, ",\n", "\n"), "power", "pow")
	words = strings.ReplaceAll(words, "virtual", "")
	return strings.ToUpper(text) + words, true
}

func sameNumber(a, b string) bool {
	x, ok := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	if !ok || !ok2 || strings.ContainsAny(a+b, "/_xX") {
		return false
	}
	if x.Cmp(y) == 0 {
		return true
	}
	if strings.ContainsAny(a+b, ".eE") {
		f, _ := x.Float64()
		return closeNumbers(f, b, 1e-13)
	}
	return false
}

func closeNumbers(want float64, got string, by float64) bool {
	g, err := strconv.ParseFloat(got, 64)
	return err == nil && (g == want || math.Abs(g-want) <= by*math.Max(math.Abs(g), math.Abs(want)))
}

var (
	fraction = regexp.MustCompile(`(\d\d:\d\d:\d\d)(\.\d*?)0*$`)
	midnight = regexp.MustCompile(`^(\d\d\d\d-\d\d-\d\d) 00:00:00$`)
)

// sameTime compares instants without the zeros at the end of a fraction, which hang on a declared
// precision.
func sameTime(a, b string) bool {
	trim := func(s string) string {
		s = strings.TrimSuffix(fraction.ReplaceAllString(s, "$1$2"), ".")
		return midnight.ReplaceAllString(s, "$1")
	}
	return trim(a) == trim(b)
}

func sameJSON(a, b string) bool {
	if len(a) == 0 || len(b) == 0 || !strings.ContainsAny(a[:1], `{["`) {
		return false
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}
