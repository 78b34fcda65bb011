package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/sqlfront/ast"
)

// mysqlDecisive are variables of which another value than these would change what statements answer, or
// whether they run, and does not here: they are refused. All other variables without a meaning
// (docs/mysql.md names those that have one) say how MySQL does its work, and are known to do nothing.
var mysqlDecisive = map[string][]string{
	"lc_time_names":           {"en_us", "en_gb"},
	"sql_auto_is_null":        {"off"},
	"completion_type":         {"no_chain", "0"},
	"sql_require_primary_key": {"off"},
}

// leastOf are variables that bound statements, which are not bounded here: one may ask for the
// bound that MySQL begins with, or for a wider one.
var leastOf = map[string]uint64{"cte_max_recursion_depth": 1000, "max_join_size": 1 << 32, "max_sort_length": 1024}

// refuse tells that a variable cannot have a value.
func (d *definition) refuse(text string) error {
	unsupported := mysqlError(1235, "42000", "This version of MySQL doesn't yet support '%s = %s'", d.name, text)
	if may, ok := mysqlDecisive[d.name]; ok && !slices.Contains(may, strings.ToLower(text)) {
		return unsupported
	}
	if least, ok := leastOf[d.name]; ok {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil && n < least {
			return unsupported
		}
	}
	return nil
}

// unsafe refuses, with sql_safe_updates, an UPDATE or DELETE of all rows.
func (m *MySQL) unsafe(st ast.Stmt) error {
	switch n := st.(type) {
	case *ast.Update:
		if n.Where != nil || n.Limit != nil {
			return nil
		}
	case *ast.Delete:
		if n.Where != nil || n.Limit != nil {
			return nil
		}
	default:
		return nil
	}
	if m.Text("sql_safe_updates") != "ON" {
		return nil
	}
	return mysqlError(1175, "HY000", "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column.")
}
