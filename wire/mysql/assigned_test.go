package mysql

import "testing"

// Variables that a query assigns: later entries of the list read them in the same row, the session
// its last row's value. What would have to carry a value from row to row is refused, and so is
// reading a value that no column has shown.
func TestAssigned(t *testing.T) {
	c := dial(t, listen(t, testServer(t, Config{})), "u", "ns")
	c.want("create table t (a int not null); insert into t values (1), (2), (3)", "OK 0 / OK 3")
	c.want("select @d := a + 1, @d * 2, @d from t order by a", "2|4|2;3|6|3;4|8|4")
	c.want("select @d", "4")
	c.want("select case when a > 1 then @c := 10 else @c := 20 end x, @c + 1 from t order by a", "20|21;10|11;10|11")
	c.want("select @c", "1235 42000") // no column shows it
	c.want("select if(a > 1, @c := 10, @c := 20), @c from t order by a limit 1", "20|20")
	c.want("set @c = 5; select @c", "OK 0 / 5")
	c.want("select if(a > 1, @c := 10, 0), @c from t", "1235 42000")
	c.want("select a > 1 and (@c := 10) from t", "1235 42000")
	c.want("set @n = 0; select @n := @n + 1 from t", "OK 0 / 1235 42000")
	c.want("select @n := @n + 1; select @n", "1 / 1") // one row has no row before it
	c.want("select 1 from t where (@n := a) > 0", "1235 42000")
	c.want("select @z := a from t where a > 9; select @z", " / NULL") // without a row it stays
	c.want("select @p := 1, @q := @p + 1; select @p, @q, @r", "1|2 / 1|2|NULL")
}
