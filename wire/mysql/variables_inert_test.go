package mysql

import "testing"

// A variable that would change answers works or is refused; sql_safe_updates refuses what it says.
func TestDecisiveVariables(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})), "anna", "ns")
	c.query("CREATE TABLE v (a int)")
	for _, x := range [][2]string{
		{"SET lc_time_names = 'de_DE'", "1235 42000"},
		{"SET lc_time_names = 'en_US'", "OK"},
		{"SET cte_max_recursion_depth = 3", "1235 42000"},
		{"SET cte_max_recursion_depth = 100000", "OK"},
		{"SET sql_auto_is_null = 1", "1235 42000"},
		{"SET completion_type = 'CHAIN'", "1235 42000"},
		{"SET foreign_key_checks = 0", "OK"},
		{"SET sql_safe_updates = 1", "OK"},
		{"DELETE FROM v", "1175 HY000"},
		{"UPDATE v SET a = (SELECT 1 WHERE 1 = 1)", "1175 HY000"},
		{"UPDATE v SET a = 1 WHERE a = 2", "OK"},
		{"SET sql_safe_updates = 0", "OK"},
		{"DELETE FROM v", "OK"},
	} {
		got := c.query(x[0])
		if len(got) > len(x[1]) {
			got = got[:len(x[1])]
		}
		if got != x[1] {
			t.Errorf("%s: %s, want %s", x[0], got, x[1])
		}
	}
}
