package pgfunc

import (
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// smallNumbers is the dictionary of the numerics 0 to 366, each under its own code: what extract
// gives of the fields that go round.
var smallNumbers = func() *vec.Vector {
	a := vec.NewAppender(eval.TNumeric)
	for i := range 367 {
		d, err := whole(int64(i)).Datum(eval.TNumeric)
		if err != nil {
			panic(err)
		}
		a.AppendDatum(d)
	}
	v := a.Vector()
	v.DictID = vec.NewDictID()
	return v
}()

// goesRound tells whether u's values are among smallNumbers, and NULL for infinity.
func goesRound(u unit) bool {
	switch u {
	case unitMinute, unitHour, unitDay, unitWeek, unitMonth, unitQuarter, unitDOW, unitISODOW, unitDOY:
		return true
	}
	return false
}

// ofDay tells whether u of a timestamp is that of its day.
func ofDay(u unit) bool {
	switch u {
	case unitDay, unitWeek, unitMonth, unitQuarter, unitYear, unitDecade, unitCentury, unitMillennium, unitISOYear, unitDOW, unitISODOW, unitDOY:
		return true
	}
	return false
}

// remembered are the days whose fields a kernel remembers, by their number: few are different within
// a batch.
const remembered = 128

// constUnit is the field that a constant argument names; none where it is no constant, or no unit.
func constUnit(name *vec.Vector) unit {
	if name.Enc != vec.Const || name.Null(0) {
		return unitNone
	}
	return units[strings.ToLower(string(name.Bytes(0)))]
}

// extractFields is extract of dates and timestamps, a batch at a time where the field is a constant:
// fields that go round as codes of smallNumbers, other fields of days once for each day. row is the
// way for all others.
func extractFields(of types.Kind, row eval.Row) eval.Kernel {
	slow := eval.RowKernel(row)
	return func(c *eval.Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		u, v := constUnit(args[0]), args[1]
		onDates := of == types.Date
		supported := ofDay(u) || goesRound(u)
		if onDates {
			supported = u > unitHour && u < unitZone
		}
		if !supported || v.Enc == vec.Const || v.Values().Form != types.FormI64 {
			return slow(c, args, sel, n, out)
		}
		var zone *time.Location
		if of == types.TimestampTZ {
			zone = eval.ZoneOf(c)
		}
		if goesRound(u) {
			extractCodes(u, onDates, zone, v, sel, n, out)
			return nil
		}
		return extractByDay(c, row, onDates, zone, args, sel, n, out)
	}
}

// dayOf splits a value into its day and the microseconds since midnight there; finite false: it has none.
func dayOf(x int64, onDates bool, zone *time.Location) (day, micros int64, finite bool) {
	switch {
	case onDates:
		return x, 0, x != types.DateInfinity && x != types.DateNegInfinity
	case !isFinite(x):
		return 0, 0, false
	case zone != nil:
		x = types.ToLocal(zone, x)
	}
	day, micros = types.SplitTimestamp(x)
	return day, micros, true
}

func extractCodes(u unit, onDates bool, zone *time.Location, v *vec.Vector, sel []uint16, n int, out *vec.Vector) {
	codes := eval.OutCodes(out, n, smallNumbers)
	vals := v.Values().I64
	var days [remembered]int64
	var known [remembered]bool
	var fields [remembered]uint32
	_ = eval.EachRow(sel, n, func(i int) error {
		day, micros, finite := dayOf(vals[v.Row(i)], onDates, zone)
		switch {
		case !finite:
			codes[i] = 0
			eval.NullOut(out, i, n)
			return nil
		case u == unitMinute:
			codes[i] = uint32(micros / 60e6 % 60)
			return nil
		case u == unitHour:
			codes[i] = uint32(micros / 3600e6)
			return nil
		}
		k := uint64(day) % remembered
		if !known[k] || days[k] != day {
			d, _ := dateField(u, day)
			w, _ := d.Int128()
			days[k], known[k], fields[k] = day, true, uint32(w.Lo)
		}
		codes[i] = fields[k]
		return nil
	})
}

func extractByDay(c *eval.Ctx, row eval.Row, onDates bool, zone *time.Location, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	v := args[1]
	vals := v.Values().I64
	var days [remembered]int64
	var known [remembered]bool
	var views [remembered]vec.View
	eval.OutStr(out, n)
	arg := []types.Datum{args[0].Datum(0), types.Null}
	return eval.EachRow(sel, n, func(i int) error {
		x := vals[v.Row(i)]
		day, _, finite := dayOf(x, onDates, zone)
		k := uint64(day) % remembered
		if finite && known[k] && days[k] == day {
			out.Views[i] = views[k]
			return nil
		}
		arg[1] = types.NewInt(x)
		d, err := row(c, arg)
		if err != nil {
			return err
		}
		if d.IsNull() { // of an infinite date
			eval.NullOut(out, i, n)
			return nil
		}
		eval.PutStr(out, i, d.Str())
		if finite {
			days[k], known[k], views[k] = day, true, out.Views[i]
		}
		return nil
	})
}

// truncTimestamps is date_trunc of timestamps of type t, a batch at a time where the field is a
// constant.
func truncTimestamps(t types.Type, slow eval.Kernel) eval.Kernel {
	return func(c *eval.Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		v := args[1]
		if constUnit(args[0]) == unitNone || v.Enc == vec.Const {
			return slow(c, args, sel, n, out)
		}
		u, err := truncUnit(string(args[0].Bytes(0)), t)
		if err != nil {
			return slow(c, args, sel, n, out) // infinity has no units to be wrong
		}
		vals, o := v.Values().I64, eval.OutI64(out, n)
		if t.Kind == types.TimestampTZ {
			zone := eval.ZoneOf(c)
			return eval.EachRow(sel, n, func(i int) (err error) {
				if o[i] = vals[v.Row(i)]; isFinite(o[i]) {
					o[i], err = truncInstant(u, o[i], zone)
				}
				return err
			})
		}
		if step := stepOf(u); step > 0 {
			return eval.EachRow(sel, n, func(i int) error {
				x := vals[v.Row(i)]
				o[i] = x
				if isFinite(x) {
					_, micros := types.SplitTimestamp(x)
					o[i] = x - micros%step
				}
				return nil
			})
		}
		var days, starts [remembered]int64
		var known [remembered]bool
		return eval.EachRow(sel, n, func(i int) error {
			x := vals[v.Row(i)]
			o[i] = x
			if !isFinite(x) {
				return nil
			}
			day, _ := types.SplitTimestamp(x)
			k := uint64(day) % remembered
			if !known[k] || days[k] != day {
				start, err := truncLocal(u, x)
				if err != nil {
					return err
				}
				days[k], known[k], starts[k] = day, true, start
			}
			o[i] = starts[k]
			return nil
		})
	}
}

// stepOf is the length in microseconds of the units that divide a day; 0: of the others.
func stepOf(u unit) int64 {
	switch u {
	case unitMicros:
		return 1
	case unitMillis:
		return 1000
	case unitSecond:
		return 1e6
	case unitMinute:
		return 60e6
	case unitHour:
		return 3600e6
	}
	return 0
}
