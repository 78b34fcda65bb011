package bind

import (
	"testing"
)

func TestSmoke(t *testing.T) {
	env := newEnv(t)
	for _, sql := range []string{
		"select 1",
		"select a, b from t where a > 1 order by b desc limit 3",
		"select a, count(*) from t group by a having count(*) > 1 order by 2",
	} {
		b, err := bindSQL(env, sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		t.Logf("%s\n%s", sql, dump(b.Plan))
	}
}
