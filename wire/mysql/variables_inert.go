package mysql

import (
	"slices"
	"strconv"
	"strings"
)

// decisive are variables of which another value than these would change what statements answer, or
// whether they run, and does not here: they are refused. All other variables without a meaning
// (docs/mysql.md names those that have one) say how MySQL does its work, and are known to do nothing.
var decisive = map[string][]string{
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
	unsupported := wireError(1235, "42000", "This version of MySQL doesn't yet support '%s = %s'", d.name, text)
	if may, ok := decisive[d.name]; ok && !slices.Contains(may, strings.ToLower(text)) {
		return unsupported
	}
	if least, ok := leastOf[d.name]; ok {
		if n, err := strconv.ParseUint(text, 10, 64); err == nil && n < least {
			return unsupported
		}
	}
	return nil
}

// unsafe tells that sql_safe_updates refuses a statement: an UPDATE or DELETE of all rows.
func (c *conn) unsafe(p *piece) error {
	if w := p.word(0); w != "update" && w != "delete" || c.vars.text("sql_safe_updates") != "ON" {
		return nil
	}
	depth := 0
	for k := range p.toks {
		switch {
		case p.toks[k].sign("("):
			depth++
		case p.toks[k].sign(")"):
			depth--
		case depth == 0 && (p.word(k) == "where" || p.word(k) == "limit"):
			return nil
		}
	}
	return wireError(1175, "HY000", "You are using safe update mode and you tried to update a table without a WHERE that uses a KEY column.")
}
