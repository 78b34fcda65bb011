package mysql

import (
	"strings"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// deep makes texts of every shape that nests, n levels of it.
var deep = map[string]func(n int) string{
	"parentheses": func(n int) string { return "select " + rep("(", n) + "1" + rep(")", n) },
	"open":        func(n int) string { return rep("(select ", n) },
	"operators":   func(n int) string { return "select 1" + rep("+1", n) },
	"signs":       func(n int) string { return "select " + rep("- ", n) + "1" },
	"not":         func(n int) string { return "select " + rep("not ", n) + "true" },
	"xor":         func(n int) string { return "select 1" + rep(" xor 1", n) },
	"div":         func(n int) string { return "select 1" + rep(" div 1", n) },
	"is":          func(n int) string { return "select 1" + rep(" is null", n) },
	"between":     func(n int) string { return "select 1" + rep(" between 1 and 1", n) },
	"collate":     func(n int) string { return "select 'a'" + rep(" collate utf8mb4_bin", n) },
	"binary":      func(n int) string { return "select " + rep("binary ", n) + "1" },
	"arrows":      func(n int) string { return "select a" + rep("->'$'", n) },
	"interval":    func(n int) string { return "select " + rep("interval ", n) + "1" + rep(" day + a", n) },
	"union":       func(n int) string { return "select a, b" + rep(" union select a, b", n) },
	"join":        func(n int) string { return "select 1 from a" + rep(" join a on x and y", n) },
	"crossed":     func(n int) string { return "select 1 from (a" + rep(", a", n) + ")" },
	"subquery":    func(n int) string { return rep("select (", n) + "select 1" + rep(")", n) },
	"exists":      func(n int) string { return rep("select exists(", n) + "select 1" + rep(")", n) },
	"from":        func(n int) string { return rep("select a from (", n) + "select 1" + rep(") x", n) },
	"case":        func(n int) string { return "select " + rep("case when x and y then ", n) + "1" + rep(" end", n) },
	"call":        func(n int) string { return "select " + rep("f(1, ", n) + "1" + rep(")", n) },
	"if":          func(n int) string { return "select " + rep("if(@a := 1, ", n) + "1" + rep(", 1)", n) },
	"cast":        func(n int) string { return "select " + rep("cast(", n) + "1" + rep(" as char)", n) },
	"with":        func(n int) string { return rep("with a as (", n) + "select 1" + rep(") select 1", n) },
	"type":        func(n int) string { return "create table t (a " + rep("struct<a:", n) + "int" + rep(">", n) + ")" },
	"explain":     func(n int) string { return rep("explain ", n) + "select 1" },
	"odbc":        func(n int) string { return "select " + rep("{fn ", n) + "1" + rep("}", n) },
	"assigned":    func(n int) string { return "update t set a = 1, b = 1" + rep("+1", n) },
}

func rep(s string, n int) string { return strings.Repeat(s, n) }

// Deep texts of every shape are an error, never an overflow of the stack; long flat ones are fine.
func TestDepth(t *testing.T) {
	for name, text := range deep {
		if _, err := Parse(text(50)); sqlerr.CodeOf(err) == sqlerr.StatementTooComplex {
			t.Errorf("%s 50 deep: %v", name, err)
		}
		for _, n := range []int{3000, 100000} {
			if _, err := Parse(text(n)); sqlerr.CodeOf(err) != sqlerr.StatementTooComplex {
				t.Errorf("%s %d deep: %v", name, n, err)
			}
		}
	}
	for name, text := range map[string]string{
		"values": "insert into t values (1, -1, 'a')" + rep(", (1, -1, 'a')", 20000),
		"or":     "select a = 1" + rep(" or a = 1", 20000),
		"and":    "select a = 1 and b" + rep(" and a = 1", 20000),
		"list":   "select a in (1" + rep(", 1", 20000) + ")",
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// CheckDepth refuses nothing that Parse takes, and of what nests 100,000 deep nearly all, before a
// parser holds its tokens.
func TestCheckDepth(t *testing.T) {
	for name, text := range deep {
		if err := CheckDepth(text(50), Mode{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := CheckDepth(text(100000), Mode{}); err == nil && name != "between" && name != "crossed" {
			t.Errorf("%s 100,000 deep passes", name)
		}
	}
	for _, text := range []string{"select 1; select (2); ;", "no grammar ) at all", rep("select 1+1;", 3000), "select '" + rep("(", 3000) + "'"} {
		if err := CheckDepth(text, Mode{}); err != nil {
			t.Errorf("%.40s: %v", text, err)
		}
	}
}

// FuzzDepth repeats and mixes shapes: whatever the depth, there is a tree or an error.
func FuzzDepth(f *testing.F) {
	f.Add("select ", "(", "1", ")", uint16(60000))
	f.Add("select 1 from a", " join a on ", "1", "", uint16(60000))
	f.Add("select ", "case 1 when not - binary ", "1", " then 2 end", uint16(9000))
	f.Add("", "explain ", "select 1", "", uint16(60000))
	f.Add("select 1", " between 1 and 1 collate x", "", "", uint16(9000))
	f.Fuzz(func(t *testing.T, head, open, middle, end string, n uint16) {
		if len(head)+len(middle)+(len(open)+len(end))*int(n) > 1<<20 {
			return
		}
		text := head + rep(open, int(n)) + middle + rep(end, int(n))
		deep := CheckDepth(text, Mode{})
		_, err := Parse(text)
		if _, ok := sqlerr.As(err); err != nil && !ok {
			t.Errorf("%.60q: %v", text, err)
		}
		if deep != nil && err == nil {
			t.Errorf("%.60q: Parse takes what CheckDepth refuses: %v", text, deep)
		}
	})
}
