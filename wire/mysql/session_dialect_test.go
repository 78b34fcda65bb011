package mysql

import "testing"

// What the session's variables change of the language.
func TestSessionDialect(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})), "u", "ns")
	c.want("select cast(1 as unsigned) - 2", "1690 22003")
	c.want("set sql_mode = 'NO_UNSIGNED_SUBTRACTION'; select cast(1 as unsigned) - 2, 3 - cast(1 as unsigned)", "OK 0 / -1|2")
	c.want("select cast(1 as unsigned) + -2", "1690 22003") // not a subtraction
	c.want("set sql_mode = default; select cast(1 as unsigned) - 2", "OK 0 / 1690 22003")

	c.want("create table t (g int, v varchar(20)); insert into t values (1, 'abcdef'), (1, 'ghi'), (2, 'é'), (2, 'z')", "OK 0 / OK 4")
	c.want("select @@group_concat_max_len", "1024")
	c.want("select g, group_concat(v order by v) from t group by g order by g; show warnings", "1|abcdef,ghi;2|é,z / ")
	c.want("set group_concat_max_len = 4; select g, group_concat(v order by v desc) from t group by g order by g; show warnings",
		"OK 0 / 1|ghi,;2|z,é / Warning|1260|A value was cut by GROUP_CONCAT(): group_concat_max_len is 4")
	c.want("set group_concat_max_len = 5; select group_concat(distinct v order by v) from t where g = 1; show warnings",
		"OK 0 / abcde / Warning|1260|A value was cut by GROUP_CONCAT(): group_concat_max_len is 5")
}
