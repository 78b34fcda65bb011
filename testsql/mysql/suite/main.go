// Command suite runs the statements of go-mysql-server's engine suite, which expects what MySQL 8
// answers, on a server of lhsql, and prints how many agree, by topic:
//
//	suite -lhsql 127.0.0.1:3307 [-mariadb 127.0.0.1:3306] [-topics queries,INSERT] [-v] [-floor 1200]
//
// Where the suite and lhsql differ, MariaDB judges if it was given: an answer that is its own
// counts as agreeing. The server of lhsql must be one that nobody needs: each script drops every
// database there is. The statements come from the module; none of its text is kept here.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

var (
	lhsqlAddr   = flag.String("lhsql", "127.0.0.1:3307", "address of lhsql's MySQL wire")
	mariadbAddr = flag.String("mariadb", "", "address of a MariaDB whose user root has no password")
	only        = flag.String("topics", "", "topics to run, by comma (all)")
	verbose     = flag.Bool("v", false, "print each disagreement")
	relaxed     = flag.Bool("relaxed", false, "give lhsql statements of a setup that it refuses without UNIQUE, AUTO_INCREMENT and FOREIGN KEY, to measure what comes after them")
	count       = flag.Int("generated", 0, "instead: so many generated expressions with parameters, beside MariaDB")
	seed        = flag.Int64("seed", 1, "of -generated")
	most        = flag.Int("differ", 1<<30, "fail if more kinds of -generated differ")
	floor       = flag.Int("floor", 0, "fail if fewer statements agree")
)

// answer is what a server said to a statement.
type answer struct {
	hasRows            bool
	rows               [][]*string
	affected, inserted int64
	err                error
}

// server is one connection that is renewed for each script.
type server struct {
	addr string
	user string
	db   *sql.DB
	conn *sql.Conn
}

func (s *server) renew(database string) error {
	if s.conn != nil {
		s.conn.Close()
		s.db.Close()
	}
	cfg := mysql.NewConfig()
	cfg.Net, cfg.Addr, cfg.User, cfg.DBName = "tcp", s.addr, s.user, database
	cfg.AllowNativePasswords = true
	c, err := mysql.NewConnector(cfg)
	if err != nil {
		return err
	}
	s.db = sql.OpenDB(c)
	if s.conn, err = s.db.Conn(context.Background()); err == nil {
		err = s.ask("set sql_mode = '" + suiteMode + "'").err
	}
	return err
}

// suiteMode is what the suite's own sessions have: MySQL's default without ONLY_FULL_GROUP_BY.
const suiteMode = "STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

var system = []string{"information_schema", "performance_schema", "mysql", "sys"}

// fresh leaves a server without databases and a connection to a new one.
func (s *server) fresh() error {
	if err := s.renew(""); err != nil {
		return err
	}
	for _, r := range s.ask("show databases").rows {
		if name := *r[0]; !slices.Contains(system, strings.ToLower(name)) {
			if a := s.ask("drop database `" + name + "`"); a.err != nil {
				return a.err
			}
		}
	}
	// A statement of the script before may have set what is global.
	if a := s.ask("create database mydb"); a.err != nil {
		return a.err
	}
	return s.renew("mydb")
}

var returnsRows = regexp.MustCompile(`(?is)^\s*(/\*.*?\*/\s*)*\(*\s*(select|show|with|values|table|explain|desc|describe|check|analyze|optimize|call|execute|checksum)\b`)
var writesWith = regexp.MustCompile(`(?is)^\s*with\b.*\b(update|delete|insert)\b.*\b(set|from|into)\b`)

func (s *server) ask(q string) (a answer) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if !returnsRows.MatchString(q) || writesWith.MatchString(q) {
		r, err := s.conn.ExecContext(ctx, q)
		if err != nil {
			return s.failed(err)
		}
		a.affected, _ = r.RowsAffected()
		a.inserted, _ = r.LastInsertId()
		return a
	}
	rows, err := s.conn.QueryContext(ctx, q)
	if err != nil {
		return s.failed(err)
	}
	return s.read(rows)
}

// read reads a result to its end.
func (s *server) read(rows *sql.Rows) (a answer) {
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return s.failed(err)
	}
	a.hasRows = len(names) > 0
	for rows.Next() {
		row := make([]*string, len(names))
		into := make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			return s.failed(err)
		}
		a.rows = append(a.rows, row)
	}
	if err := rows.Err(); err != nil {
		return s.failed(err)
	}
	return a
}

// failed is the answer of an error. One that is not the server's leaves a connection that is lost.
func (s *server) failed(err error) answer {
	var e *mysql.MySQLError
	if !errors.As(err, &e) {
		_ = s.renew("mydb")
	}
	return answer{err: err}
}

// run has a script's statements answered, and says which of them of the setup failed.
func (s *server) run(sc script) (out []answer, setup []error, err error) {
	if err := s.fresh(); err != nil {
		return nil, nil, err
	}
	for _, q := range sc.setup {
		a := s.ask(q)
		if a.err != nil && *relaxed && s.user == "suite" {
			a = s.ask(without(q))
		}
		if a.err != nil {
			setup = append(setup, fmt.Errorf("%w of %s", a.err, firstLine(q)))
		}
	}
	for _, st := range sc.steps {
		if st.renewed {
			if err := s.renew("mydb"); err != nil {
				return nil, nil, err
			}
		}
		out = append(out, s.ask(st.sql))
	}
	return out, setup, nil
}

func main() {
	flag.Parse()
	card := newScorecard()
	own := &server{addr: *lhsqlAddr, user: "suite"}
	judge := &server{addr: *mariadbAddr, user: "root"}
	if *count > 0 {
		if err := generated(own, judge, *count, *seed); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	for _, t := range topics() {
		if *only != "" && !slices.Contains(strings.Split(*only, ","), t.name) {
			continue
		}
		for _, sc := range t.scripts {
			answers, setup, err := own.run(sc)
			if err != nil {
				fmt.Fprintln(os.Stderr, "lhsql:", err)
				os.Exit(1)
			}
			var theirs []answer
			var theirSetup []error
			for i, st := range sc.steps {
				if expected(st, answers[i]) {
					card.agree(t, st, false)
					continue
				}
				// MariaDB is asked only where there is something to judge. What it could not set up
				// itself it does not judge, but where many statements share a setup.
				if *mariadbAddr != "" && theirs == nil {
					if theirs, theirSetup, err = judge.run(sc); err != nil {
						fmt.Fprintln(os.Stderr, "MariaDB:", err)
						os.Exit(1)
					}
				}
				if theirs != nil && (len(theirSetup) == 0 || sc.shared && theirs[i].err == nil) && sameAnswer(st.sql, answers[i], theirs[i]) {
					card.agree(t, st, true)
					continue
				}
				if theirs != nil && !sc.shared && bothRefuse(setup, theirSetup) {
					card.void++
					continue
				}
				d := difference{topic: t, script: sc.name, step: st, got: answers[i], setup: setup, shared: sc.shared}
				if theirs != nil {
					d.judge = &theirs[i]
				}
				card.differ(d)
			}
		}
	}
	card.print(os.Stdout)
	if card.agreeing() < *floor {
		fmt.Printf("%d statements agree: fewer than the floor of %d\n", card.agreeing(), *floor)
		os.Exit(1)
	}
}

// bothRefuse tells whether a statement of a setup is refused by both servers: what comes after it tells
// nothing.
func bothRefuse(own, judge []error) bool {
	of := func(e error) string {
		text := e.Error()
		return text[strings.LastIndex(text, " of "):]
	}
	return slices.ContainsFunc(own, func(e error) bool {
		return slices.ContainsFunc(judge, func(f error) bool { return of(e) == of(f) })
	})
}

var constraints = []struct{ find, put string }{
	{`(?i)\bunique\s+(key|index)\b`, "$1"},
	{`(?i)\bunique\s*(\w*\s*\()`, "key $1"},
	{`(?i)\bunique\b`, ""},
	{`(?i)\bauto_increment\b`, ""},
	{`(?i),\s*(constraint\s+\S+\s+)?foreign\s+key\s*\w*\s*\([^)]*\)\s*references\s+\S+\s*\([^)]*\)(\s+on\s+(delete|update)\s+(cascade|set\s+null|restrict|no\s+action))*`, ""},
}

// without takes constraints out of a statement.
func without(q string) string {
	for _, c := range constraints {
		q = regexp.MustCompile(c.find).ReplaceAllString(q, c.put)
	}
	return q
}

func firstLine(q string) string {
	q = strings.Join(strings.Fields(q), " ")
	if len(q) > 300 {
		q = q[:300] + "…"
	}
	return q
}

func sortedKeys[V any](m map[string]V, less func(a, b string) bool) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Slice(out, func(i, j int) bool { return less(out[i], out[j]) })
	return out
}
