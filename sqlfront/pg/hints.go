package pg

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// hints names the accepted spelling where a text looks like one that another system accepts.
// words are consecutive tokens anywhere in the statement.
var hints = []struct {
	words []string
	hint  string
}{
	{[]string{"versions", "between"}, "Row history is written t FOR SYSTEM_TIME BETWEEN a AND b."},
	{[]string{"version", "between"}, "Row history is written t FOR SYSTEM_TIME BETWEEN a AND b."},
	{[]string{"for", "system_version"}, "Write t FOR SYSTEM_VERSION AS OF n."},
	{[]string{"as", "of", "scn"}, "Write t FOR VERSION AS OF n or t FOR TIMESTAMP AS OF e."},
	{[]string{"for", "time_travel"}, "Time travel is written t FOR TIMESTAMP AS OF e."},
	{[]string{"restore", "table"}, "Write ROLLBACK TABLE t TO SNAPSHOT n or ROLLBACK TABLE t TO TIMESTAMP '…'."},
	{[]string{"restore"}, "Write ROLLBACK TABLE t TO SNAPSHOT n or ROLLBACK TABLE t TO TIMESTAMP '…'."},
	{[]string{"describe", "history"}, "Read the metadata table: SELECT * FROM t$history."},
	{[]string{"describe"}, "Read information_schema.columns, or use \\d in psql."},
	{[]string{"show", "tables"}, "Read information_schema.tables, or use \\dt in psql."},
	{[]string{"show", "partitions"}, "Read the metadata table: SELECT * FROM t$partitions."},
	{[]string{"refresh", "table"}, "Tables are always read at their current snapshot; there is nothing to refresh."},
	{[]string{"msck"}, "Use CALL system.add_files(table => 't', source_table => '…')."},
	{[]string{"zorder"}, "Write OPTIMIZE t [WHERE p] ZORDER BY (a, b)."},
	{[]string{"clone"}, "Write CREATE TABLE … AS SELECT, or CREATE BRANCH b IN TABLE t."},
	{[]string{"undrop"}, "Use CALL system.register_table(table => 't', metadata_file => '…')."},
	{[]string{"insert", "*"}, "INSERT * stands in MERGE: WHEN NOT MATCHED THEN INSERT *."},
	{[]string{"drop", "partition"}, "Write DELETE FROM t WHERE …, which drops whole files where it can, or DROP PARTITION FIELD f."},
	{[]string{"add", "partition"}, "Write ADD PARTITION FIELD f."},
	{[]string{"as", "of"}, "Time travel is written t FOR TIMESTAMP AS OF e, t FOR VERSION AS OF n or t AT (VERSION => n), behind a table's name."},
}

// hint adds the hint that fits a syntax error, if one does.
func (p *stmtParser) hint(e *sqlerr.Error) *sqlerr.Error {
	if e.Code != sqlerr.SyntaxError || e.Hint != "" {
		return e
	}
	for _, h := range hints {
		if p.contains(h.words) {
			return e.WithHint("%s", h.hint)
		}
	}
	for i, t := range p.Toks {
		if t.Kind == token.Op && t.Text == "@" && t.Pos <= e.Pos+1 && i > 0 && t.Pos == p.Toks[i-1].End && p.Toks[i-1].IsName() {
			return e.WithHint(`A branch or tag is written in double quotes, "table@ref", or table.branch_ref.`)
		}
	}
	return e
}

func (p *stmtParser) contains(words []string) bool {
	for i := 0; i+len(words) <= len(p.Toks); i++ {
		match := true
		for k, w := range words {
			t := p.Toks[i+k]
			if t.Text != w || t.Kind != token.Word && t.Kind != token.Op {
				match = false
				break
			}
		}
		if match {
			return true
		}
	}
	return false
}
