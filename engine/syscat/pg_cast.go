package syscat

// pg_cast: PostgreSQL's casts between the types that are here.

import (
	"context"
	_ "embed"
	"strings"
	"sync"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

func init() { makers["pg_catalog.pg_cast"] = pgCast }

//go:embed casts_gen.txt
var castsText string

type castRow struct {
	oid, source, target, function string
	context, method               string
}

// castRows are the rows of PostgreSQL whose types are both here and become each other here, too.
var castRows = sync.OnceValue(func() []castRow {
	var out []castRow
	for _, line := range strings.Split(strings.TrimSpace(castsText), "\n") {
		w := strings.Fields(line)
		from, ok := types.FromOID(oidOf(w[1]))
		to, ok2 := types.FromOID(oidOf(w[2]))
		// A cast to the type itself changes length or precision; the engine does that by types' parameters.
		if ok && ok2 && (w[1] == w[2] || eval.CanCast(from, to, plan.Explicit)) {
			out = append(out, castRow{w[0], w[1], w[2], w[3], w[4], w[5]})
		}
	}
	return out
})

func pgCast(_ context.Context, q *query) error {
	for _, r := range castRows() {
		if err := q.row("oid", oidOf(r.oid), "castsource", oidOf(r.source), "casttarget", oidOf(r.target), "castfunc", oidOf(r.function),
			"castcontext", r.context, "castmethod", r.method); err != nil {
			return err
		}
	}
	return nil
}
