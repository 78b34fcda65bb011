package limits

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

func num(i int) string { return strconv.Itoa(i) }

// many joins n texts.
func many(n int, f func(i int) string, by string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(by)
		}
		b.WriteString(f(i))
	}
	return b.String()
}

func nested(n int, open, core, close string) string {
	return strings.Repeat(open, n) + core + strings.Repeat(close, n)
}

const ok = ""

// hostile are statements that ask for more than there is. Each ends with the code, or with rows.
var hostile = []struct {
	what, sql string
	code      sqlerr.Code
}{
	{"parentheses", "select " + nested(1000000, "(", "1", ")"), sqlerr.StatementTooComplex},
	{"AND chain", "select count(*) from t where " + many(20000, func(int) string { return "a >= 0" }, " and "), ok},
	{"OR chain", "select count(*) from t where " + many(20000, func(i int) string { return "a = " + num(i) }, " or "), ok},
	{"sums", "select " + many(100000, func(int) string { return "a" }, "+") + " from t", sqlerr.StatementTooComplex},
	{"NOT", "select " + strings.Repeat("not ", 100000) + "true", sqlerr.StatementTooComplex},
	{"casts", "select 1" + strings.Repeat("::int", 100000), sqlerr.StatementTooComplex},
	{"arrays", "select " + nested(100000, "array[", "1", "]"), sqlerr.StatementTooComplex},
	{"array text", "select '" + nested(100000, "{", "", "}") + "'::text[]", ""},
	{"json", "select '" + nested(1000000, "[", "", "]") + "'::jsonb", sqlerr.StatementTooComplex},
	{"json objects", "select ('" + nested(100000, `{"a":`, "1", "}") + "'::json)->'a'", sqlerr.StatementTooComplex},
	{"jsonpath", "select jsonb_path_query('1', '" + nested(100000, "(", "$", ")") + "')", sqlerr.StatementTooComplex},
	{"CASE", "select " + nested(100000, "case when a = 1 then 1 else ", "1", " end") + " from t", sqlerr.StatementTooComplex},
	{"subqueries", "select * from " + nested(5000, "(select * from ", "t", ") x"), sqlerr.StatementTooComplex},
	{"scalar subqueries", "select " + nested(5000, "(select ", "1", ")"), sqlerr.StatementTooComplex},
	{"unions", many(50000, func(int) string { return "select 1" }, " union all "), sqlerr.StatementTooComplex},
	{"columns", "select " + many(5000, func(i int) string { return "a+" + num(i) }, ",") + " from t", ok},
	{"more columns than the wire can count", "select " + many(40000, num, ","), sqlerr.TooManyColumns},
	{"sort keys", "select * from t order by " + many(5000, func(i int) string { return "a+" + num(i) }, ","), sqlerr.TooManyColumns},
	{"IN list", "select count(*) from t where a in (" + many(20000, num, ",") + ")", ok},
	{"IN list of expressions", "select count(*) from t where a+1 in (" + many(20000, func(i int) string { return num(i) + "+a" }, ",") + ")", ok},
	{"cube", "select count(*) from t group by cube(" + many(30, func(int) string { return "a" }, ",") + ")", sqlerr.TooManyColumns},
	{"long text", "select length('" + strings.Repeat("x", 10<<20) + "')", ok},
	{"repeat", "select length(repeat('x', 1000000000))", sqlerr.OutOfMemory},
	{"repeat beyond any", "select length(repeat('xxxx', 2000000000))", sqlerr.ProgramLimitExceeded},
	{"repeat in rows", "select count(repeat('x', 10000000) || g) from generate_series(1,1000) g", sqlerr.OutOfMemory},
	{"replace", "select length(replace(repeat('x',100000), 'x', repeat('y',100000)))", sqlerr.ProgramLimitExceeded},
	{"lpad", "select length(lpad('x', 2000000000))", sqlerr.ProgramLimitExceeded},
	{"format width", "select length(format('%2000000000s', 'x'))", sqlerr.ProgramLimitExceeded},
	{"to_char template", "select length(to_char(now(), repeat('Month ', 5000000)))", sqlerr.ProgramLimitExceeded},
	{"power", "select length((10::numeric ^ 100000)::text)", ok},
	{"power beyond", "select 10::numeric ^ 100000000", sqlerr.NumericOutOfRange},
	{"factorial", "select factorial(1000000)", sqlerr.NumericOutOfRange},
	{"logarithm", "select round(ln(10::numeric ^ 100000), 4)", ok},
	{"numeric literal", "select 1e1000000000", sqlerr.NumericOutOfRange},
	{"array_fill", "select array_length(array_fill(1, array[1000000000]), 1)", sqlerr.ProgramLimitExceeded},
	{"array_fill of what there is no room for", "select array_length(array_fill(1, array[100000000]), 1)", sqlerr.ProgramLimitExceeded},
	{"arrays of arrays", "select cardinality(array_agg(array_fill(1, array[100000]))) from generate_series(1,10000)", sqlerr.OutOfMemory},
	{"array_agg", "select array_length(array_agg(g), 1) from (select generate_series(1,20000000) g) x", sqlerr.OutOfMemory},
	{"string_agg", "select length(string_agg(repeat('x', 10000000), '')) from generate_series(1,200)", sqlerr.ProgramLimitExceeded},
	{"split", "select array_length(regexp_split_to_array(repeat('a', 3000000), ''), 1)", sqlerr.OutOfMemory},
	{"regular expression", "select repeat('a', 5000) ~ '(a*)*(a*)*(a*)*b'", ok},
	{"repetition", "select 'a' ~ '((((a{0,255}){0,255}){0,255}){0,255})'", sqlerr.InvalidRegexp},
	{"nested groups", "select 'a' ~ '" + nested(100000, "(", "a", ")") + "'", sqlerr.InvalidRegexp},
	{"LIKE", "select repeat('a', 100000) like '" + strings.Repeat("%a", 5000) + "b'", ok},
	{"doubling text", "with recursive t(s, n) as (select 'x', 1 union all select s||s, n+1 from t where n < 40) select max(length(s)) from t", sqlerr.OutOfMemory},
	{"set in rows", "select count(*) from (select generate_series(1, 3000000), generate_series(1, 2)) x", ok},
	{"statements", many(5000, func(int) string { return "select 1" }, ";"), ok},
}

// Nothing that a statement asks for harms the engine.
func TestHostile(t *testing.T) {
	s := open(t, 256<<20)
	x := s.session(t)
	if _, err := ask(context.Background(), x, "create schema public; create table t (a int); insert into t values (1), (2)"); err != nil {
		t.Fatal(err)
	}
	before := runtime.NumGoroutine()
	for _, h := range hostile {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		start := time.Now()
		_, err := ask(ctx, x, h.sql)
		cancel()
		took := time.Since(start)
		t.Logf("%s: %v %s", h.what, took.Round(time.Millisecond), code(err))
		c := code(err)
		switch {
		case err != nil && c == "":
			t.Errorf("%s: %v has no code", h.what, err)
		case h.code != ok && c != h.code, h.code == ok && err != nil && h.what != "array text":
			t.Errorf("%s: %s %v, want %s", h.what, c, err, h.code)
		case c == sqlerr.InternalError:
			t.Errorf("%s: %v", h.what, err)
		}
		if took > 2*time.Minute {
			t.Errorf("%s took %v", h.what, took)
		}
	}
	s.nothingLeft(t, before)
}
