package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestComplete: a statement ends at a semicolon outside quotes, comments and dollar quotes.
func TestComplete(t *testing.T) {
	for text, want := range map[string]bool{
		"select 1;":            true,
		"select 1":             false,
		"select ';'":           false,
		"select ';';":          true,
		"select 1; -- later ;": true,
		"select 1 -- ;":        false,
		"select /* ; */ 1":     false,
		"select $$;$$":         false,
		"select $a$;$b$;$a$;":  true,
		`select ";`:            false,
		"select 1; select 2":   false,
		"":                     false,
		"select '''; ';\n":     true,
	} {
		if got := complete(text); got != want {
			t.Errorf("complete(%q) is %v", text, got)
		}
	}
}

// In MySQL's dialect the shell has MySQL's statements, quotes and databases.
func TestShellMySQL(t *testing.T) {
	sh, out, errs := demoShell(t)
	sh.mysql = true
	if err := sh.connect("silver"); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"select 1;": true, `select '\';`: false, `select '\\';`: true, "select `;": false, "select 1; # later ;": true, "select $$;": true} {
		if got := sh.complete(text); got != want {
			t.Errorf("complete(%q) is %v", text, got)
		}
	}
	for _, c := range []struct{ sql, want string }{
		{"SHOW TABLES", " order_item"}, {`\d order_item`, " order_time "}, {`\l`, " gold"}, {"USE gold; SELECT DATABASE()", " gold"},
		{"SET @a = 2; SELECT @a + 1, `revenue` IS NULL FROM revenue_by_month LIMIT 1", "3 |"}, {"SELECT \"text\"", " text"}, {"USE nowhere", "Unknown database"},
	} {
		out.Reset()
		errs.Reset()
		if sh.line(c.sql); !strings.Contains(out.String()+errs.String(), c.want) {
			t.Errorf("%s gives %s%s", c.sql, out, errs)
		}
	}
}

// demoShell is a shell over the demo lakehouse in a fresh folder.
func demoShell(t *testing.T) (*shell, *bytes.Buffer, *bytes.Buffer) {
	t.Helper()
	c, err := loadConfig([]string{"--warehouse", t.TempDir()}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := makeDemo(c); err != nil {
		t.Fatal(err)
	}
	e, err := openEngine(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	var out, errs bytes.Buffer
	sh := &shell{eng: e, out: &out, errw: &errs, form: "aligned", user: "tester"}
	if err := sh.connect(""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sh.sess.Close() })
	return sh, &out, &errs
}

// TestDemo: the demo has what its hints and the README speak of.
func TestDemo(t *testing.T) {
	sh, out, errs := demoShell(t)
	say := func(sql string) string {
		out.Reset()
		errs.Reset()
		sh.line(sql)
		return out.String() + errs.String()
	}
	for _, c := range []struct{ sql, want string }{
		{`\dt`, " silver | order_item           | table | One row an accepted order item"},
		{`\d silver.order_item`, "order_time     | timestamp with time zone | not null"},
		{"SELECT count(*) FROM silver.order_item FOR SYSTEM_TIME AS OF '2026-06-15'", " 12000"},
		{"SELECT count(*) FROM silver.order_item", " 23952"},
		{"SELECT sum(amount) FROM gold.finance_order_ledger FOR SYSTEM_VERSION AS OF 'q2_close'", "-119477.88"},
		{"SELECT (SELECT sum(amount) FROM silver.order_item.branch_repricing) < sum(amount) AS less FROM silver.order_item", " t"},
		{"SELECT count(*) FROM silver.order_item WHERE customer_token = left(md5('demo-42'), 12)", " 0"},
		{"SELECT count(DISTINCT spec_id) FROM silver.order_item.files", " 2"},
		{"SELECT count(channel) > 0, count(*) - count(channel) > 0 FROM silver.order_item", " t        | t"},
		{"SELECT count(*) FROM gold.revenue_by_month", " 18"},
		{"EXPLAIN SELECT sum(amount) FROM silver.order_item WHERE order_time >= '2026-07-01' AND region = 'EU'", "Files: 3/23 (partition 20), 3 proven"},
		{"SELECT count(*) FROM silver.order_item FOR SYSTEM_TIME AS OF '2020-01-01'", "2026-03-28"},
	} {
		if got := say(c.sql); !strings.Contains(got, c.want) {
			t.Errorf("%s\n%s\ndoes not hold %q", c.sql, got, c.want)
		}
	}
	if got := say(`\c lake@2026-06-15`); !strings.Contains(got, "connected") {
		t.Error(got)
	}
	if got := say("SELECT count(*) FROM silver.order_item"); !strings.Contains(got, " 12000") {
		t.Error(got)
	}
	if got := say("DELETE FROM silver.order_item"); !strings.Contains(got, "25006") {
		t.Errorf("a session in the past writes: %s", got)
	}
}

// TestReadme: the queries that the README shows with their answers give those answers.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	sh, out, errs := demoShell(t)
	trim := func(s string) string {
		lines := strings.Split(strings.TrimSpace(s), "\n")
		for i := range lines {
			lines[i] = strings.TrimRight(lines[i], " ")
		}
		return strings.Join(lines, "\n")
	}
	n := 0
	for _, block := range strings.Split(string(text), "```") {
		for _, part := range strings.Split(block, "lake=> ")[1:] {
			sql, want, _ := strings.Cut(part, ";\n")
			if strings.HasPrefix(sql, `\`) {
				continue // psql's own commands
			}
			out.Reset()
			errs.Reset()
			sh.run(sql + ";")
			if got := trim(out.String() + errs.String()); got != trim(want) {
				t.Errorf("%s\n%s\nREADME:\n%s", sql, got, trim(want))
			}
			n++
		}
	}
	if n < 2 {
		t.Errorf("only %d examples were found", n)
	}
}

// TestFormats: one result in every output form.
func TestFormats(t *testing.T) {
	sh, out, _ := demoShell(t)
	const q = "SELECT 1 AS n, 'a|b' AS s, NULL AS z, true AS b, '{\"k\": 1}'::jsonb AS j"
	for form, want := range map[string]string{
		"csv":      "n,s,z,b,j\n1,a|b,,t,\"{\"\"k\"\": 1}\"\n",
		"json":     "[\n  {\"n\": 1, \"s\": \"a|b\", \"z\": null, \"b\": true, \"j\": {\"k\": 1}}\n]\n",
		"markdown": "| n | s | z | b | j |\n| ---: | --- | --- | --- | --- |\n| 1 | a\\|b |  | t | {\"k\": 1} |\n",
		"aligned":  " n |  s  | z | b |    j     \n---+-----+---+---+----------\n 1 | a|b |   | t | {\"k\": 1}\n(1 row)\n\n",
	} {
		out.Reset()
		if err := sh.setFormat(form); err != nil {
			t.Fatal(err)
		}
		sh.line(q)
		if out.String() != want {
			t.Errorf("%s:\n%s\nnot\n%s", form, out, want)
		}
	}
}

// TestErrorPosition: an error shows its line and a caret below the place.
func TestErrorPosition(t *testing.T) {
	sh, _, errs := demoShell(t)
	sh.run("SELECT 1;\nSELECT nothing\nFROM silver.order_item;")
	if got := errs.String(); !strings.Contains(got, "LINE 2: SELECT nothing\n               ^") {
		t.Error(got)
	}
}
