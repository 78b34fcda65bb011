package main

import (
	"context"
	"fmt"
	"os"
	"sort"
	"strings"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
)

// metaHelp is what \? prints.
const metaHelp = `  \d [NAME]            tables and views, or one of them
  \dt \dv \dn \l       tables, views, schemas, databases
  \dB NAME             branches and tags of a table
  \ds NAME             snapshots of a table
  \c NAME              another database; NAME@INSTANT pins the session to the past
  \x                   one column a line, on or off
  \timing              show how long statements take, on or off
  \format F            aligned, csv, json or markdown
  \i FILE              run a file
  \q                   quit
`

// meta runs a backslash command; quit ends the shell.
func (sh *shell) meta(line string) (quit bool) {
	words := strings.Fields(strings.TrimSuffix(line, ";"))
	cmd, args := words[0], words[1:]
	arg := strings.Join(args, " ")
	if sql := inMySQL[strings.TrimSuffix(cmd, "+")]; sh.mysql && sql != "" {
		if cmd == `\d` && arg != "" {
			sql = "SHOW FULL COLUMNS FROM " + arg
		}
		sh.run(sql)
		return false
	}
	switch strings.TrimSuffix(cmd, "+") {
	case `\q`, `\quit`:
		return true
	case `\?`, `\h`, `\help`:
		fmt.Fprint(sh.out, metaHelp)
	case `\x`:
		sh.expand = !sh.expand
		fmt.Fprintf(sh.out, "Expanded display is %s.\n", onOff(sh.expand))
	case `\timing`:
		sh.timing = !sh.timing
		if arg != "" {
			sh.timing = arg == "on"
		}
		fmt.Fprintf(sh.out, "Timing is %s.\n", onOff(sh.timing))
	case `\format`, `\pset`:
		if err := sh.setFormat(strings.TrimPrefix(arg, "format ")); err != nil {
			fmt.Fprintln(sh.errw, err)
		}
	case `\i`:
		text, err := os.ReadFile(arg)
		if err != nil {
			fmt.Fprintln(sh.errw, err)
			break
		}
		sh.script(string(text))
	case `\c`, `\connect`:
		if err := sh.connect(arg); err != nil {
			sh.fail(err, "", 0)
			break
		}
		fmt.Fprintf(sh.out, "You are now connected to database %q as user %q.\n", sh.database(), sh.user)
	case `\l`:
		sh.run(`SELECT datname AS "Name", pg_get_userbyid(datdba) AS "Owner" FROM pg_database ORDER BY 1`)
	case `\dn`:
		sh.run(`SELECT nspname AS "Name" FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1`)
	case `\dt`:
		sh.relations("'r', 'p'")
	case `\dv`:
		sh.relations("'v'")
	case `\d`:
		if arg == "" {
			sh.relations("'r', 'p', 'v'")
		} else {
			sh.describe(arg)
		}
	case `\ds`:
		sh.run("SELECT committed_at, snapshot_id, parent_id, operation, summary ->> 'total-records' AS records FROM " + arg + ".snapshots ORDER BY 1")
	case `\dB`:
		sh.run("SELECT name, type, snapshot_id FROM " + arg + ".refs ORDER BY 1")
	default:
		fmt.Fprintf(sh.errw, "invalid command %s. Try \\? for help.\n", cmd)
	}
	return false
}

// inMySQL are the commands that MySQL's dialect has statements for.
var inMySQL = map[string]string{`\l`: "SHOW DATABASES", `\dn`: "SHOW DATABASES", `\d`: "SHOW FULL TABLES", `\dt`: "SHOW FULL TABLES WHERE Table_type = 'BASE TABLE'",
	`\dv`: "SHOW FULL TABLES WHERE Table_type = 'VIEW'"}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// relations lists what stands in the catalog, unlike psql's \dt not only what the search path
// shows: in a lakehouse most tables have a schema of their own.
func (sh *shell) relations(kinds string) {
	sh.run(`SELECT n.nspname AS "Schema", c.relname AS "Name",
	CASE c.relkind WHEN 'v' THEN 'view' ELSE 'table' END AS "Type",
	obj_description(c.oid, 'pg_class') AS "Description"
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN (` + kinds + `) AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ORDER BY 1, 2`)
}

func (sh *shell) describe(name string) {
	lit := "'" + strings.ReplaceAll(name, "'", "''") + "'"
	sh.run(`SELECT a.attname AS "Column", format_type(a.atttypid, a.atttypmod) AS "Type",
	CASE WHEN a.attnotnull THEN 'not null' ELSE '' END AS "Nullable",
	pg_get_expr(d.adbin, d.adrelid) AS "Default", col_description(a.attrelid, a.attnum) AS "Description"
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = ` + lit + `::regclass AND a.attnum > 0 ORDER BY a.attnum`)
}

// completer completes keywords, backslash commands and the names of schemas, tables, columns.
type completer struct{ sh *shell }

var keywords = strings.Fields(`SELECT FROM WHERE GROUP ORDER BY HAVING LIMIT OFFSET JOIN LEFT RIGHT FULL INNER CROSS
	ON USING AS AND OR NOT NULL IN EXISTS BETWEEN LIKE ILIKE CASE WHEN THEN ELSE END UNION ALL INTERSECT EXCEPT DISTINCT
	WITH RECURSIVE VALUES EXPLAIN ANALYZE INSERT INTO UPDATE SET DELETE MERGE CREATE TABLE VIEW SCHEMA DROP ALTER
	FOR SYSTEM_TIME SYSTEM_VERSION OF BRANCH TAG SHOW BEGIN COMMIT ROLLBACK TIMESTAMP INTERVAL count sum avg min max
	now() date_trunc extract`)

// Do implements readline.AutoCompleter.
func (c completer) Do(line []rune, pos int) ([][]rune, int) {
	text := string(line[:pos])
	from := strings.LastIndexAny(text, " \t(,=<>") + 1
	word := text[from:]
	var out [][]rune
	for _, w := range c.candidates(text[:from], word) {
		if len(w) >= len(word) && strings.EqualFold(w[:len(word)], word) {
			out = append(out, []rune(w[len(word):]))
		}
	}
	return out, len([]rune(word))
}

func (c completer) candidates(before, word string) []string {
	if strings.HasPrefix(word, `\`) {
		return []string{`\d`, `\dt`, `\dv`, `\dn`, `\ds`, `\dB`, `\l`, `\c`, `\x`, `\timing`, `\format`, `\i`, `\q`, `\?`}
	}
	out := c.names(`SELECT n.nspname || '.' || c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p', 'v') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`)
	if strings.Contains(strings.ToUpper(before), "SELECT") {
		out = append(out, c.names(`SELECT DISTINCT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
			JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND a.attnum > 0`)...)
	}
	out = append(out, keywords...)
	sort.Strings(out)
	return out
}

// names runs a query of one text column; errors give none, for completion may not disturb.
func (c completer) names(sql string) []string {
	ctx := context.Background()
	s, err := c.sh.eng.NewSession(ctx, engine.SessionOptions{User: c.sh.user, Database: c.sh.sess.Database()})
	if err != nil {
		return nil
	}
	defer s.Close()
	var out []string
	err = s.Query(ctx, sql, nil, func(row []types.Datum) error {
		out = append(out, row[0].Str())
		return nil
	})
	if err != nil {
		return nil
	}
	return out
}
