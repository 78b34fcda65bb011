package pgfunc

import (
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
)

// pg_timezone_names() is what psql completes SET timezone from.
func registerZoneNames() {
	row := types.RecordOf(types.Field{Name: "name", Type: eval.TText}, types.Field{Name: "abbrev", Type: eval.TText},
		types.Field{Name: "utc_offset", Type: types.T(types.Interval)}, types.Field{Name: "is_dst", Type: eval.TBool})
	eval.Register(eval.Stable("pg_timezone_names", nil, row, eval.SetKernel(func(c *eval.Ctx, _ []types.Datum, yield func(types.Datum) error) error {
		now := time.Now()
		if c != nil && !c.Now.IsZero() {
			now = c.Now
		}
		for _, n := range types.ZoneNames() {
			loc, _, err := types.LoadZone(n)
			if err != nil {
				continue
			}
			t := now.In(loc)
			abbrev, off := t.Zone()
			iv := types.IntervalValue{Micros: int64(off) * types.MicrosPerSecond}
			d := types.NewStruct([]types.Datum{types.NewStr(n), types.NewStr(abbrev), types.NewW128(iv.W128()), types.NewBool(t.IsDST())})
			if err := yield(d); err != nil {
				return err
			}
		}
		return nil
	})))
}
