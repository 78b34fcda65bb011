package pg

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Deep texts of every shape are an error, never a crash of the C stack; long flat ones are fine.
func TestDepth(t *testing.T) {
	r := strings.Repeat
	deep := map[string]func(n int) string{
		"parentheses": func(n int) string { return "select " + r("(", n) + "1" + r(")", n) },
		"operators":   func(n int) string { return "select 1" + r("+1", n) },
		"not":         func(n int) string { return "select " + r("not ", n) + "true" },
		"union":       func(n int) string { return "select a, b" + r(" union select a, b", n) },
		"join":        func(n int) string { return "select from a" + r(" join a on x and y", n) },
		"subquery":    func(n int) string { return r("select (", n) + "select 1" + r(")", n) },
		"from":        func(n int) string { return r("select a from (", n) + "select 1" + r(") x", n) },
		"case":        func(n int) string { return "select " + r("case when x and y then ", n) + "1" + r(" end", n) },
		"call":        func(n int) string { return "select " + r("f(1, ", n) + "1" + r(")", n) },
		"array":       func(n int) string { return "select " + r("array[", n) + "1" + r("]", n) },
		"cast":        func(n int) string { return "select 1" + r("::int", n) },
		"with":        func(n int) string { return r("with a as (", n) + "select 1" + r(") select 1", n) },
		"sets":        func(n int) string { return "select 1 group by " + r("grouping sets (", n) + "a" + r(")", n) },
	}
	for name, text := range deep {
		if _, err := Parse(text(100)); err != nil {
			t.Errorf("%s 100 deep: %v", name, err)
		}
		for _, n := range []int{3000, 100000} {
			if _, err := Parse(text(n)); sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
				t.Errorf("%s %d deep: %v", name, n, err)
			}
		}
	}
	for name, text := range map[string]string{
		"values": "insert into t values (1, -1, 'a')" + r(", (1, -1, 'a')", 20000),
		"or":     "select a = 1" + r(" or a = 1", 20000),
		"and":    "select a = 1 and b" + r(" and a = 1", 20000),
		"list":   "select a in (1" + r(", 1", 20000) + ")",
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTextErrors(t *testing.T) {
	for sql, want := range map[string]int{"select 'a\x00'": 9, "select '\xff'": 8} {
		_, err := Parse(sql)
		if e, ok := sqlerr.As(err); !ok || e.Code != sqlerr.CharacterNotInRepertoire || e.Pos != want {
			t.Errorf("%q: %v", sql, err)
		}
	}
}

// A statement of very many words is told so before the parser, which nobody can stop, has it.
func TestManyWords(t *testing.T) {
	text := "select 1 in (" + strings.Repeat("1,", maxTokens/2) + "1)"
	for what, err := range map[string]error{"CheckDepth": CheckDepth(text), "Parse": parsed(text)} {
		if sqlerr.CodeOf(err) != sqlerr.ProgramLimitExceeded {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := CheckDepth(strings.Repeat("select 1;", maxTokens/3)); err != nil {
		t.Error(err) // many statements, each short
	}
}

func parsed(text string) error {
	_, err := Parse(text)
	return err
}
