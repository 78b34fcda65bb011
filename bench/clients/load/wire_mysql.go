package load

import (
	"context"
	"fmt"
	"strings"
)

// numbers is a table of 10^k numbers from 0, as a derived table with a column g.
func numbers(k int) string {
	var sum, from []string
	factor := 1
	for i := range k {
		sum = append(sum, fmt.Sprintf("d%d.d * %d", i, factor))
		from = append(from, fmt.Sprintf("(select 0 as d union all select 1 union all select 2 union all select 3 union all select 4 union all select 5 union all select 6 union all select 7 union all select 8 union all select 9) d%d", i))
		factor *= 10
	}
	return "(select " + strings.Join(sum, " + ") + " as g from " + strings.Join(from, " cross join ") + ")"
}

// MySQL is the MySQL wire.
var MySQL = &Wire{
	Name: "mysql",
	open: func(ctx context.Context, addr, name string) (peer, error) { return dialMySQL(ctx, addr, name) },
	questions: []string{
		"select g % 1000 as k, count(*), sum(g), min(concat(g)) from " + numbers(4) + " n group by k order by k",
		"select g, md5(g) as h from " + numbers(4) + " n order by h",
		"select count(*), sum(a.g) from " + numbers(5) + " a join " + numbers(4) + " b on a.g = b.g * 2",
		"select k, g, sum(g) over (partition by k order by g) from (select g % 100 as k, g from " + numbers(4) + " n) x order by k, g",
		"select count(distinct md5(g % 9000)) from " + numbers(4) + " n",
		"select table_name, column_name, column_type from information_schema.columns where table_schema not in ('information_schema', 'mysql', 'performance_schema', 'sys', 'load') order by 1, 2",
	},
	endless: []string{
		"select count(*) from " + numbers(9) + " n where g % 7 = 3",
		"select a.g, b.g from " + numbers(6) + " a join " + numbers(6) + " b on a.g = b.g * b.g order by 1 limit 10 offset 100000",
		"select count(*) from information_schema.columns a, information_schema.columns b, information_schema.columns c where a.ordinal_position + b.ordinal_position + c.ordinal_position = -1",
	},
	large:     "select g, repeat('x', 1000) from " + numbers(5) + " n order by g desc",
	largeRows: 100000,
	sleep:     "select count(*) from " + numbers(6) + " n where g % 7 = 3",
	limited:   "set max_execution_time = %d",
	schema:    "create database if not exists `load`",
	changes: func(table string) []step {
		return []step{
			{"drop table if exists " + table, ""},
			{"create table " + table + " as select g + 1 as id, md5(g) as v from " + numbers(3) + " n", ""},
			{"delete from " + table + " where id % 2 = 0", ""},
			{"update " + table + " set v = 'x' where id < 100", ""},
			{"select count(*), sum(v = 'x') from " + table, "500 50"},
		}
	},
	made:     []string{"create database if not exists bye", "create table if not exists bye.t (g bigint, v text)"},
	written:  "insert into bye.t select g, md5(g) from " + numbers(5) + " n",
	inserted: 100000,
	sessions: "select count(*) from information_schema.processlist where user = '%s'",
	others:   "select user, command, info from information_schema.processlist where id <> connection_id()",

	cancelled: "1317", timedOut: "3024", full: "1040", ended: "1053", refused: "1053",
}
