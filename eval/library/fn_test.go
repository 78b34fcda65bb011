package library

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

var rewrite = flag.Bool("rewrite-functions", false, "write testdata/functions_*.tsv anew from the PostgreSQL that LHSQL_PSQL reaches")

// TestFunctions compares calls with what PostgreSQL 15 answered. A line of a table is a call,
// a tab, and the answer: a text, NULL, or ERROR with code and message. A call is name(args), or
// arg operator arg, or "set name(args)" for the rows of a set-returning function; an argument
// is 'text' (⏎ is a newline), 'text'::type, an integer or a number, or null::type.
func TestFunctions(t *testing.T) {
	files, err := filepath.Glob("testdata/functions_*.tsv")
	if err != nil || len(files) == 0 {
		t.Fatal("no tables", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { functionTable(t, file) })
	}
}

func functionTable(t *testing.T, file string) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := testCtx()
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if *rewrite {
		lines = askPostgres(t, lines)
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wrong := 0
	for _, line := range lines {
		q, want, _ := strings.Cut(line, "\t")
		got := tryCall(c, q)
		if got != want {
			if wrong++; wrong <= 200 {
				t.Errorf("%s\n  got  %s\n  want %s", q, got, want)
			}
		}
	}
	if wrong > 0 {
		t.Logf("%d of %d wrong", wrong, len(lines))
	}
}

func escapeLine(s string) string {
	return strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`).Replace(s)
}

func askPostgres(t *testing.T, lines []string) []string {
	var in bytes.Buffer
	in.WriteString(`set timezone = 'America/New_York';
create function pg_temp.try(q text) returns text language plpgsql as $$
declare r text; begin execute q into r; return coalesce(r, 'NULL');
exception when others then return 'ERROR ' || sqlstate || ' ' || sqlerrm; end $$;
`)
	for _, line := range lines {
		q, _, _ := strings.Cut(line, "\t")
		q = strings.ReplaceAll(q, "⏎", "\n")
		sql := "select (" + q + ")::text"
		if f, ok := strings.CutPrefix(q, "set "); ok {
			sql = "select string_agg(coalesce(x::text, 'NULL'), '|') from (select " + f + " as x) y"
		}
		fmt.Fprintf(&in, "select replace(replace(replace(pg_temp.try($q$%s$q$), '\\', '\\\\'), e'\\n', '\\n'), e'\\t', '\\t');\n", sql)
	}
	cmd := exec.Command("sh", "-c", os.Getenv("LHSQL_PSQL")+" -qAtX")
	cmd.Stdin = &in
	raw, err := cmd.Output()
	if err != nil {
		t.Fatalf("psql: %v", err)
	}
	answers := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d calls", len(answers), len(lines))
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		q, _, _ := strings.Cut(line, "\t")
		out[i] = q + "\t" + answers[i]
	}
	return out
}

func tryCall(c *eval.Ctx, q string) string {
	set := false
	if f, ok := strings.CutPrefix(q, "set "); ok {
		q, set = f, true
	}
	p := &callReader{s: strings.ReplaceAll(q, "⏎", "\n"), c: c}
	name, args, operator := p.call()
	if p.err != nil {
		if e := (*sqlerr.Error)(nil); errors.As(p.err, &e) { // of a literal, as of a call
			return escapeLine(fmt.Sprintf("ERROR %s %s", codeOf(p.err), p.err))
		}
		return "cannot read: " + p.err.Error()
	}
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	resolve := func() (eval.Resolved, error) { return eval.ResolveFunction(name, ts, false) }
	if operator {
		resolve = func() (eval.Resolved, error) { return eval.ResolveOperator(name, ts) }
	}
	r, err := resolve()
	if err != nil {
		return "cannot resolve: " + err.Error()
	}
	if !set {
		return escapeLine(answer(c, callResolved(r, args)))
	}
	var in []types.Datum
	for i, a := range args {
		e := a
		if !a.Type().Equal(r.Args[i]) {
			e = &plan.Cast{X: a, Typ: r.Args[i], Pos: -1}
		}
		d, err := eval.EvalConst(c, e)
		if err != nil {
			return "cannot cast: " + err.Error()
		}
		in = append(in, d)
	}
	var rows []string
	err = eval.Declaration(r.Func).Set(c, in, func(d types.Datum) error {
		if d.IsNull() {
			rows = append(rows, "NULL")
		} else {
			rows = append(rows, recordText(d, r.Ret, c))
		}
		return nil
	})
	if err != nil {
		return escapeLine(fmt.Sprintf("ERROR %s %s", codeOf(err), err))
	}
	if rows == nil {
		return "NULL"
	}
	return escapeLine(strings.Join(rows, "|"))
}

// recordText spells a row as PostgreSQL does, by way of an array's quoting rules.
func recordText(d types.Datum, t types.Type, c *eval.Ctx) string {
	if t.Kind != types.Struct {
		return types.Format(d, t, eval.SessionText(c))
	}
	var parts []string
	for i, f := range t.Fields() {
		m := d.List()[i]
		s := ""
		if !m.IsNull() {
			s = types.Format(m, f.Type, eval.SessionText(c))
			if s == "" || strings.ContainsAny(s, `"\(), `) {
				s = `"` + strings.NewReplacer(`"`, `""`, `\`, `\\`).Replace(s) + `"`
			}
		}
		parts = append(parts, s)
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// callReader reads the small language of the tables.
type callReader struct {
	s   string
	c   *eval.Ctx
	err error
}

func (p *callReader) call() (name string, args []plan.Expr, operator bool) {
	p.s = strings.TrimPrefix(p.s, "pg_catalog.")
	if i := strings.IndexByte(p.s, '('); i > 0 && strings.Trim(p.s[:i], "abcdefghijklmnopqrstuvwxyz_0123456789") == "" {
		name, p.s = p.s[:i], p.s[i+1:]
		for p.err == nil && !strings.HasPrefix(p.s, ")") {
			args = append(args, p.arg())
			p.s = strings.TrimLeft(strings.TrimPrefix(p.s, ","), " ")
		}
		return name, args, false
	}
	args = append(args, p.arg())
	p.s = strings.TrimLeft(p.s, " ")
	name, p.s, _ = strings.Cut(p.s, " ")
	return name, append(args, p.arg()), true
}

func (p *callReader) arg() plan.Expr {
	text, typ := "", ""
	null := false
	switch {
	case strings.HasPrefix(p.s, "'"):
		i := 1
		for i < len(p.s) && (p.s[i] != '\'' || strings.HasPrefix(p.s[i:], "''")) {
			if p.s[i] == '\'' {
				i++
			}
			i++
		}
		if i >= len(p.s) {
			p.err = fmt.Errorf("unterminated string")
			return nil
		}
		text, p.s = strings.ReplaceAll(p.s[1:i], "''", "'"), p.s[i+1:]
		typ = "text"
	case strings.HasPrefix(p.s, "null"):
		null, p.s = true, p.s[4:]
		typ = "text"
	default:
		i := strings.IndexAny(p.s, ",) :")
		if i < 0 {
			i = len(p.s)
		}
		text, p.s = p.s[:i], p.s[i:]
		typ = "integer"
		if text == "true" || text == "false" {
			typ = "boolean"
		} else if _, err := strconv.Atoi(text); err != nil {
			typ = "numeric"
		}
	}
	if rest, ok := strings.CutPrefix(p.s, "::"); ok {
		i := 0
		for i < len(rest) && (rest[i] >= 'a' && rest[i] <= 'z' || rest[i] >= '0' && rest[i] <= '9' || rest[i] == '[' || rest[i] == ']' || rest[i] == '(' ||
			rest[i] == ',' && strings.Count(rest[:i], "(") > strings.Count(rest[:i], ")") || rest[i] == ')' && strings.Count(rest[:i], "(") > strings.Count(rest[:i], ")")) {
			i++
		}
		typ, p.s = rest[:i], rest[i:]
	}
	t, ok := testType(typ)
	if !ok {
		p.err = fmt.Errorf("unknown type %q", typ)
		return nil
	}
	if null {
		return &plan.Const{Typ: t}
	}
	d, err := types.Parse(text, t, eval.SessionText(p.c))
	if err != nil {
		p.err = err
	}
	return &plan.Const{Value: d, Typ: t}
}

func testType(name string) (types.Type, bool) {
	if elem, ok := strings.CutSuffix(name, "[]"); ok {
		t, ok := testType(elem)
		return types.ArrayOf(t), ok
	}
	if name == "numeric(9,2)" {
		return types.DecimalType(9, 2), true
	}
	for pg, k := range map[string]types.Type{"integer": eval.TInt4, "int": eval.TInt4, "bigint": eval.TInt8, "boolean": eval.TBool, "float": eval.TFloat8} {
		if name == pg {
			return k, true
		}
	}
	return types.FromPGName(name)
}
