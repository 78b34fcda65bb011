package syscat

import (
	"context"
	"sort"
	"strings"
	"time"

	"github.com/lhsql/lhsql/types"
)

func init() {
	makers["pg_catalog.pg_stat_gssapi"] = pgStatGSSAPI
	makers["pg_catalog.pg_statio_all_tables"] = pgStatIO
	makers["pg_catalog.pg_statio_user_tables"] = pgStatIO
	makers["pg_catalog.pg_timezone_abbrevs"] = pgTimezoneAbbrevs
}

// pgStatGSSAPI: no session comes by GSSAPI, and clients ask for their own row.
func pgStatGSSAPI(_ context.Context, q *query) error {
	for _, s := range q.host.Sessions() {
		if err := q.row("pid", s.PID, "gss_authenticated", false, "encrypted", false); err != nil {
			return err
		}
	}
	return nil
}

// pgStatIO lists the tables; no buffers are counted.
func pgStatIO(ctx context.Context, q *query) error {
	return q.each(ctx, "relid", "schemaname", "relname", func(it item) error {
		if it.entry.View || it.def != nil {
			return nil
		}
		return q.row("relid", it.oid, "schemaname", it.schema, "relname", it.entry.Name, "heap_blks_read", 0, "heap_blks_hit", 0)
	})
}

func pgTimezoneAbbrevs(_ context.Context, q *query) error {
	list := types.ZoneAbbreviations(time.Now())
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	for _, a := range list {
		iv := types.IntervalValue{Micros: int64(a.East) * 1_000_000}
		if err := q.row("abbrev", strings.ToUpper(a.Name), "utc_offset", types.NewW128(iv.W128()), "is_dst", a.Summer); err != nil {
			return err
		}
	}
	return nil
}
