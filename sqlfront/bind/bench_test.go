package bind

import (
	"testing"

	"github.com/lhsql/lhsql/sqlfront/pg"
)

// BenchmarkBind: a statement of usual size. Prepare and every simple query pay this.
func BenchmarkBind(b *testing.B) {
	env := newEnv(b)
	p, err := pg.Parse(`select t.b, sum(t.c * 2) as total, count(*) from t join u on t.a = u.a
		where t.ts >= '2026-01-01' and u.x in ('a', 'b', 'c') and t.a between 1 and 100
		group by t.b having count(*) > 1 order by total desc limit 10`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Bind(env, p[0], nil); err != nil {
			b.Fatal(err)
		}
	}
}
