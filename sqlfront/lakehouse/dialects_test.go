package lakehouse_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/mysql"
	"github.com/lhsql/lhsql/sqlfront/pg"
)

// The lakehouse's statements are one language: in both dialects they stand for the same tree.
var statements = []string{
	"create branch if not exists b in table t from s",
	"create or replace tag x in table db.t as of version 3 retain 7 days",
	"drop tag if exists x in table t",
	"alter branch main in table t fast forward to 'b-1'",
	"alter table t create or replace branch b as of version 3 retain 7 days with snapshot retention 3 snapshots 2 days",
	"alter table t replace tag x as of version 3",
	"alter table t drop branch if exists b",
	"alter table t add partition field bucket(16, id) as shard, drop partition field month(ts)",
	"alter table t replace partition field a with day(b) as c",
	"alter table t write locally ordered by a desc nulls last, b",
	"alter table t write distributed by partition locally ordered by a",
	"alter table t write unordered",
	"alter table t set identifier fields a, s.b",
	"alter table t drop identifier fields (a)",
	"alter table t set tblproperties ('write.format' = 'b', c.d-e = 3, f), unset properties if exists ('a', b)",
	"alter table t set location 's3://b/p'",
	"alter table t add columns (a date first, b.c uuid not null comment 'x' after d), drop columns (e, f)",
	"alter table t alter column a type date, alter b set not null, alter c drop not null, alter d set default 3, alter e drop default, alter f first, alter g after h, alter i comment 'x'",
	"alter table t rename column a to b, rename to u",
	"alter table t execute optimize(file_size_threshold => '128MB') where a = 1",
	"call system.expire_snapshots(table => 'db.t', retain_last => 3)",
	"vacuum t, u",
	"optimize t rewrite data using bin_pack where a = 1",
	"rollback table t to snapshot 3",
	"create table t (a struct<x: date, y: array<uuid>> not null, m map(date, list<uuid>), primary key (a)) using iceberg partitioned by (month(ts), bucket(16, id)) location 's3://b' comment 'c' sorted by (a desc, b) tblproperties ('k' = 'v')",
	"insert overwrite t partition (a = 1, b) values (2)",
	"merge into t using s on t.a = s.a when matched and s.b = 1 then delete when matched then update set * when not matched by source then do nothing when not matched then insert *",
	"select 1 from t for system_time as of '2020-01-01'",
	"select 1 from t for system_time between '2020-01-01' and '2021-01-01' x",
	"select 1 from t for system_time contained in ('2020-01-01', '2021-01-01')",
	"select 1 from t for version as of 3",
	"select 1 from t at (tag => 'x'), u before (timestamp => '2020-01-01') v",
}

func TestDialectsAgree(t *testing.T) {
	for _, sql := range statements {
		p, err := pg.Parse(sql)
		if err != nil {
			t.Errorf("PostgreSQL: %s\n  %v", sql, err)
			continue
		}
		m, err := mysql.Parse(sql)
		if err != nil {
			t.Errorf("MySQL: %s\n  %v", sql, err)
			continue
		}
		if a, b := part(p[0].Stmt), part(m[0].Stmt); !reflect.DeepEqual(a, b) {
			t.Errorf("%s\n  PostgreSQL %s\n  MySQL      %s", sql, dump(a), dump(b))
		}
	}
}

// What neither dialect takes, and where: the positions are the descent's.
var refused = []struct {
	sql  string
	pos  int
	hint string
}{
	{"alter table t create branch b retain 7 fortnights", 39, "A retention is a number of DAYS, HOURS or MINUTES."},
	{"alter table t create branch b retain 99999999999999999 days", 37, ""},
	{"rollback table t to yesterday", 20, "Write ROLLBACK TABLE t TO SNAPSHOT n or ROLLBACK TABLE t TO TIMESTAMP '…'."},
	{"select 1 from t for system_time since 3", 32, "After FOR SYSTEM_TIME comes AS OF e, BETWEEN a AND b, FROM a TO b, CONTAINED IN (a, b) or ALL."},
	{"select 1 from t at (moon => 3)", 20, "Write AT (TIMESTAMP => e), AT (VERSION => n), AT (OFFSET => seconds), BEFORE (TIMESTAMP => e) or BEFORE (STATEMENT => n)."},
	{"create table t (a map<date>)", 18, ""},
	{"create table t (a date) partitioned by range (a)", 39, "Write PARTITIONED BY (month(ts), region, bucket(16, id), truncate(4, s))."},
	{"create table t (a date) with (b = 1, b = 2)", 37, ""},
	{"merge into t using s on a = b when matched then insert (a) values (1)", 48, ""},
	{"alter table t", 13, ""},
	{"call f", 6, ""},
	{"optimize t rewrite data using magic", 30, ""},
}

func TestRefused(t *testing.T) {
	for _, r := range refused {
		for dialect, parse := range map[string]func(string) ([]ast.Parsed, error){"PostgreSQL": pg.Parse, "MySQL": mysql.Parse} {
			_, err := parse(r.sql)
			e, ok := sqlerr.As(err)
			if !ok {
				t.Errorf("%s accepts %s: %v", dialect, r.sql, err)
				continue
			}
			if e.Pos != r.pos || e.Hint != r.hint {
				t.Errorf("%s: %s\n  %v at %d, want %d\n  hint %s", dialect, r.sql, e, e.Pos, r.pos, e.Hint)
			}
		}
	}
}

// part is what of a statement the dialects agree on: of a query its FROM, of INSERT all but the
// query, whose position one counts from its first value.
func part(s ast.Stmt) any {
	switch s := s.(type) {
	case *ast.QueryStmt:
		return s.Query.Body.(*ast.Select).From
	case *ast.Insert:
		s.Query = nil
	}
	return s
}

func dump(x any) string {
	b, err := json.Marshal(x)
	if err != nil {
		return err.Error()
	}
	return string(b)
}
