package main

import (
	"regexp"
	"strings"

	"github.com/dolthub/go-mysql-server/enginetest/queries"
	"github.com/dolthub/go-mysql-server/enginetest/scriptgen/setup"
	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/vitess/go/vt/sqlparser"
	"gopkg.in/src-d/go-errors.v1"
)

// class says in which of the scorecard's sums a topic counts.
type class int

const (
	reads     class = iota // SELECT and SHOW
	writes                 // INSERT, UPDATE, DELETE and DDL
	notServed              // what docs/mysql.md names as not served: shown, in no sum
)

func (c class) String() string {
	return [...]string{"SELECT and SHOW", "writes and DDL", "not served"}[c]
}

// step is one statement and what is expected of it.
type step struct {
	sql     string
	rows    []sql.Row
	fails   bool   // an error is expected
	loose   bool   // only that it succeeds
	renewed bool   // on a new connection
	outside string // why it is not served and counts in no sum; "": it counts
}

// script is a fresh database, statements that fill it, and the steps that count.
type script struct {
	name   string
	setup  []string
	steps  []step
	shared bool // the steps read what one setup made and do not belong together
}

type topic struct {
	name    string
	class   class
	scripts []script
}

// topics are the suite's lists. Lists that hold plans, storage formats, versions or privileges of
// the suite's own server say nothing about MySQL's answers and are left out, as are those that it
// names Broken or Skipped.
func topics() []topic {
	list := lists()
	for _, t := range list {
		for i := range t.scripts {
			t.scripts[i].tellOutside()
		}
	}
	return list
}

// outside are the statements that docs/mysql.md names as not served, by the reason that the scorecard
// tells them apart by. A script that has one in its setup is not served as a whole, and one that comes
// to one is not from there on.
var outside = []struct {
	reason string
	find   *regexp.Regexp
}{
	{"stored programs", regexp.MustCompile(`(?is)\b(create|drop|alter|show\s+create)\s+(or\s+replace\s+)?(definer\s*=\s*\S+\s+)?(trigger|procedure|function|event)\b|^\s*call\s`)},
	{"full text", regexp.MustCompile(`(?is)\bfulltext\b|\bmatch\s*\([^()]*\)\s*against\b`)},
	{"spatial", regexp.MustCompile(`(?is)\bst_\w+\s*\(|\b(point|linestring|polygon|geometry|multipoint|geometrycollection)\b\s*(\(|not null|null|srid|,|\))|\bspatial\b`)},
	{"files of the server", regexp.MustCompile(`(?is)\bload\s+data\b|\binto\s+(outfile|dumpfile)\b|\bload_file\s*\(`)},
	{"the suite's own server", regexp.MustCompile(`(?is)\blast_insert_uuid\b|\bdolt_\w+`)},
}

func outsideOf(sql string) string {
	for _, o := range outside {
		if o.find.MatchString(sql) {
			return o.reason
		}
	}
	return ""
}

// tellOutside marks the steps that are not served.
func (s *script) tellOutside() {
	reason := ""
	if !s.shared {
		for _, q := range s.setup {
			if reason == "" {
				reason = outsideOf(q)
			}
		}
	}
	for i := range s.steps {
		own := outsideOf(s.steps[i].sql)
		if !s.shared && reason == "" {
			reason = own
		}
		if s.steps[i].outside = reason; s.shared {
			s.steps[i].outside = own
		}
	}
}

func lists() []topic {
	mydb := setup.MydbData
	joins := prepare(mydb, setup.MytableData, setup.Pk_tablesData, setup.OthertableData, setup.NiltableData, setup.XyData, setup.FooData)
	info := prepare(mydb, setup.MytableData, setup.Fk_tblData, setup.FooData)
	simple := prepare(setup.SimpleSetup...)
	inserts := prepare(mydb, setup.MytableData, setup.Mytable_del_idxData, setup.KeylessData, setup.Keyless_idxData, setup.NiltableData, setup.TypestableData, setup.EmptytableData, setup.AutoincrementData, setup.OthertableData, setup.Othertable_del_idxData)
	updates := prepare(mydb, setup.MytableData, setup.Mytable_del_idxData, setup.FloattableData, setup.NiltableData, setup.TypestableData, setup.Pk_tablesData, setup.OthertableData, setup.TabletestData)
	blobs := prepare(mydb, setup.BlobData)
	spatial := prepare(setup.SpatialSetup...)
	plain := prepare(mydb)
	return []topic{
		{"queries", reads, asked(simple, queries.QueryTests)},
		{"keyless tables", reads, asked(prepare(mydb, setup.KeylessData, setup.Keyless_idxData, setup.MytableData), queries.KeylessQueries)},
		{"date parsing", reads, asked(plain, queries.DateParseQueries)},
		{"joins", reads, append(asked(joins, queries.JoinQueryTests), scripts(plain, queries.JoinScriptTests, queries.LateralJoinScriptTests, queries.SQLLogicJoinTests, queries.SQLLogicSubqueryTests)...)},
		{"aliases and scopes", reads, scripts(prepare(setup.Mytable...), queries.ColumnAliasQueries, queries.DerivedTableOuterScopeVisibilityQueries)},
		{"order and group", reads, scripts(plain, queries.OrderByGroupByScriptTests)},
		{"ranges", reads, append(asked(prepare(setup.ComplexIndexSetup...), queries.ComplexIndexQueries), asked(prepare(setup.NullsSetup...), queries.NullRangeTests)...)},
		{"information_schema", reads, append(asked(info, queries.InfoSchemaQueries), scripts(info, queries.InfoSchemaScripts)...)},
		{"JSON", reads, append(scripts(plain, queries.JsonScripts, queries.JSONTableScriptTests), asked(prepare(mydb, setup.Pk_tablesData), queries.JSONTableQueryTests)...)},
		{"BLOB reads", reads, asked(blobs, queries.BlobQueries)},
		{"conversions", reads, conversions(prepare(mydb, setup.TypestableData))},
		{"query errors", reads, refused(prepare(mydb, setup.MytableData, setup.Pk_tablesData, setup.MyhistorytableData, setup.OthertableData, setup.SpecialtableData, setup.DatetimetableData, setup.NiltableData, setup.FooData), queries.ErrorQueries)},
		{"variables", reads, append(scripts(plain, queries.VariableQueries), refused(plain, queries.VariableErrorTests)...)},
		{"row limits", reads, scripts(plain, queries.RowLimitTests)},
		{"views", reads, append(asked(prepare(mydb, setup.MytableData, setup.OthertableData), queries.ViewTests), scripts(plain, queries.ViewScripts)...)},
		{"mixed scripts", writes, scripts(plain, queries.ScriptTests, queries.PreparedScriptTests, queries.AnsiQuotesTests, queries.NumericErrorQueries)},
		{"INSERT", writes, append(append(written(inserts, queries.InsertQueries), scripts(plain, queries.InsertScripts, queries.InsertErrorScripts)...), failing(prepare(mydb, setup.MytableData), queries.InsertErrorTests)...)},
		{"INSERT with keys", writes, scripts(plain, queries.InsertDuplicateKeyKeyless, queries.InsertIgnoreScripts, queries.IgnoreWithDuplicateUniqueKeyKeylessScripts)},
		{"REPLACE", writes, append(written(inserts, queries.ReplaceQueries), failing(prepare(mydb, setup.MytableData), queries.ReplaceErrorTests)...)},
		{"UPDATE", writes, append(append(append(append(written(updates, queries.UpdateTests), written(updates, queries.UpdateIgnoreTests)...),
			scripts(updates, queries.UpdateIgnoreScripts, queries.UpdateErrorScripts, queries.OnUpdateExprScripts)...),
			failing(updates, queries.GenericUpdateErrorTests)...),
			refused(prepare(mydb, setup.KeylessData, setup.Keyless_idxData, setup.PeopleData, setup.Pk_tablesData), queries.UpdateErrorTests)...)},
		{"DELETE", writes, append(append(written(updates, queries.DeleteTests), written(updates, queries.DeleteJoinTests)...), scripts(updates, queries.DeleteErrorTests)...)},
		{"BLOB writes", writes, append(written(blobs, queries.BlobWriteQueries), refused(blobs, queries.BlobErrors)...)},
		{"CREATE TABLE", writes, append(written(prepare(mydb, setup.MytableData, setup.FooData), queries.CreateTableQueries), scripts(plain, queries.CreateTableScriptTests)...)},
		{"AUTO_INCREMENT", writes, scripts(plain, queries.CreateTableAutoIncrementTests, queries.AlterTableAddAutoIncrementScripts)},
		{"ALTER TABLE", writes, scripts(prepare(mydb, setup.MytableData, setup.OthertableData), queries.AlterTableScripts, queries.AddDropPrimaryKeyScripts)},
		{"RENAME", writes, scripts(prepare(mydb, setup.MytableData, setup.OthertableData), queries.RenameTableScripts, queries.RenameColumnScripts)},
		{"columns", writes, scripts(prepare(mydb, setup.MytableData, setup.TabletestData), queries.AddColumnScripts, queries.ModifyColumnScripts, queries.DropColumnScripts, queries.DropColumnKeylessTablesScripts)},
		{"defaults", writes, scripts(plain, queries.ColumnDefaultTests)},
		{"generated columns", writes, scripts(plain, queries.GeneratedColumnTests)},
		{"CHECK", writes, scripts(prepare(setup.ChecksSetup...), queries.CreateCheckConstraintsScripts, queries.DropCheckConstraintsScripts, queries.ChecksOnInsertScripts, queries.ChecksOnUpdateScriptTests, queries.DisallowedCheckConstraintsScripts)},
		{"indexes", writes, append(scripts(plain, queries.IndexQueries, queries.IndexPrefixQueries), asked(prepare(setup.OrdinalSetup...), queries.OrdinalDDLQueries)...)},
		{"databases", writes, scripts(plain, queries.CreateDatabaseScripts, queries.DropDatabaseScripts)},
		{"transactions", writes, transactions()},
		{"foreign keys", notServed, scripts(plain, queries.ForeignKeyTests, queries.CreateForeignKeyTests, queries.DropForeignKeyTests)},
		{"full text", notServed, scripts(plain, queries.FulltextTests)},
		{"spatial", notServed, append(asked(spatial, queries.SpatialQueryTests), scripts(plain, queries.SpatialScriptTests)...)},
		{"stored programs", notServed, scripts(plain, queries.ProcedureLogicTests, queries.ProcedureCallTests, queries.ProcedureDropTests, queries.TriggerTests, queries.RollbackTriggerTests, queries.TriggerErrorTests, queries.EventTests)},
		{"LOAD DATA", notServed, scripts(prepare(setup.LoadDataSetup...), queries.LoadDataScripts, queries.LoadDataErrorScripts)},
	}
}

func prepare(data ...[]setup.SetupScript) []string {
	var out []string
	for _, d := range data {
		for _, s := range d {
			out = append(out, s...)
		}
	}
	return out
}

// asked are queries over one database, which is made once for all of them.
func asked(prep []string, tests []queries.QueryTest) []script {
	s := script{setup: prep, shared: true}
	for _, t := range tests {
		if t.Dialect != "" && t.Dialect != "mysql" {
			continue
		}
		s.steps = append(s.steps, step{sql: bound(t.Query, t.Bindings), rows: t.Expected})
	}
	return []script{s}
}

func refused(prep []string, tests []queries.QueryErrorTest) []script {
	s := script{setup: prep, shared: true}
	for _, t := range tests {
		s.steps = append(s.steps, step{sql: bound(t.Query, t.Bindings), fails: true})
	}
	return []script{s}
}

func failing(prep []string, tests []queries.GenericErrorQueryTest) []script {
	s := script{setup: prep, shared: true}
	for _, t := range tests {
		s.steps = append(s.steps, step{sql: t.Query, fails: true})
	}
	return []script{s}
}

// written are writes, each on a database of its own with a query that looks at what it did.
func written(prep []string, tests []queries.WriteQueryTest) []script {
	var out []script
	for _, t := range tests {
		if t.Skip {
			continue
		}
		s := script{setup: prep, steps: []step{{sql: bound(t.WriteQuery, t.Bindings), rows: t.ExpectedWriteResult}}}
		if t.SelectQuery != "" {
			s.steps = append(s.steps, step{sql: t.SelectQuery, rows: t.ExpectedSelect})
		}
		out = append(out, s)
	}
	return out
}

func scripts(prep []string, lists ...[]queries.ScriptTest) []script {
	var out []script
	for _, list := range lists {
		for _, t := range list {
			if t.Dialect != "" && t.Dialect != "mysql" {
				continue
			}
			s := script{name: t.Name, setup: append(append([]string{}, prep...), t.SetUpScript...)}
			if t.Query != "" {
				s.steps = append(s.steps, step{sql: t.Query, rows: t.Expected, fails: t.ExpectedErr != nil})
			}
			for _, a := range t.Assertions {
				if a.Skip {
					continue
				}
				s.steps = append(s.steps, step{sql: bound(a.Query, a.Bindings), rows: a.Expected, renewed: a.NewSession,
					fails: expectsError(a.ExpectedErr, a.ExpectedErrStr), loose: a.SkipResultsCheck || a.Expected == nil})
			}
			out = append(out, s)
		}
	}
	return out
}

func expectsError(kind *errors.Kind, text string) bool { return kind != nil || text != "" }

// transactions are scripts of several clients, who are named in a comment before each statement.
// Those with one client are what is compared here; what several see of each other is a matter of
// isolation, which has tests of its own.
func transactions() []script {
	var out []script
	for _, t := range queries.TransactionTests {
		s := script{name: t.Name, setup: append(prepare(setup.MydbData), t.SetUpScript...)}
		clients := map[string]bool{}
		for _, a := range t.Assertions {
			if m := clientName.FindStringSubmatch(a.Query); m != nil {
				clients[m[1]] = true
			}
			s.steps = append(s.steps, step{sql: a.Query, rows: a.Expected, fails: expectsError(a.ExpectedErr, a.ExpectedErrStr), loose: a.SkipResultsCheck || a.Expected == nil})
		}
		if len(clients) < 2 {
			out = append(out, s)
		}
	}
	return out
}

func conversions(prep []string) []script {
	s := script{setup: prep, shared: true}
	for _, t := range queries.ConvertTests {
		s.steps = append(s.steps, step{sql: "select count(*) from typestable where " + t.Field + " " + t.Op + " " + t.Operand, rows: []sql.Row{{t.ExpCnt}}})
	}
	return []script{s}
}

// bound writes a query's bound values into it, where they are plain literals.
func bound(q string, values map[string]sqlparser.Expr) string {
	for name, v := range values {
		q = strings.ReplaceAll(q, ":"+name, sqlparser.String(v))
	}
	return q
}

var clientName = regexp.MustCompile(`/\*\s*client (\w+)\s*\*/`)
