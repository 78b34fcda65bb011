package pgfunc

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// jsonDatetime is what .datetime() makes of a string. The value that stands for it in a sequence is
// its text in ISO 8601, as jsonb has it.
type jsonDatetime struct {
	kind types.Kind // Date, Time, TimeTZ, Timestamp or TimestampTZ
	v    types.Datum
	east int // seconds, of the kinds with a zone: the text's own
}

// jsonDatetimeFormats are the standard's, by kinds, and ISO 8601's with T between.
var jsonDatetimeFormats = []string{
	"yyyy-mm-dd",
	"HH24:MI:SS.USTZH:TZM", "HH24:MI:SS.USTZH", "HH24:MI:SSTZH:TZM", "HH24:MI:SSTZH",
	"HH24:MI:SS.US", "HH24:MI:SS",
	"yyyy-mm-dd HH24:MI:SS.USTZH:TZM", "yyyy-mm-dd HH24:MI:SS.USTZH", "yyyy-mm-dd HH24:MI:SSTZH:TZM", "yyyy-mm-dd HH24:MI:SSTZH",
	`yyyy-mm-dd"T"HH24:MI:SS.USTZH:TZM`, `yyyy-mm-dd"T"HH24:MI:SS.USTZH`, `yyyy-mm-dd"T"HH24:MI:SSTZH:TZM`, `yyyy-mm-dd"T"HH24:MI:SSTZH`,
	"yyyy-mm-dd HH24:MI:SS.US", "yyyy-mm-dd HH24:MI:SS", `yyyy-mm-dd"T"HH24:MI:SS.US`, `yyyy-mm-dd"T"HH24:MI:SS`,
}

// datetime is the method of the name.
func (r *pathRun) datetime(n *types.PathNode, v *types.JSONValue) (*types.JSONValue, error) {
	if v.Kind != types.JSONString {
		return nil, pathError("22031", "jsonpath item method .datetime() can only be applied to a string")
	}
	var d jsonDatetime
	var err error
	if len(n.Args) > 1 {
		d, err = parseDatetime(v.Text, n.Args[1].Text)
	} else {
		for _, f := range jsonDatetimeFormats {
			if d, err = parseDatetime(v.Text, f); err == nil {
				break
			}
		}
		if err != nil {
			err = sqlerr.New("22031", "datetime format is not recognized: \"%s\"", v.Text).
				WithHint("Use a datetime template argument to specify the input data format.")
		}
	}
	if err != nil {
		return nil, err
	}
	out := &types.JSONValue{Kind: types.JSONString, Text: d.text()}
	if r.dates == nil {
		r.dates = map[*types.JSONValue]jsonDatetime{}
	}
	r.dates[out] = d
	return out, nil
}

func (d jsonDatetime) text() string {
	switch d.kind {
	case types.Timestamp, types.TimestampTZ:
		return string(types.AppendJSONTimestamp(nil, d.v.Int(), types.FixedZone(d.east), d.kind == types.TimestampTZ))
	case types.TimeTZ:
		sign, at := '+', d.east/60
		if at < 0 {
			sign, at = '-', -at
		}
		return fmt.Sprintf("%s%c%02d:%02d", types.AppendTime(nil, int64(d.v.W128().Lo)), sign, at/60, at%60)
	}
	return types.Format(d.v, types.T(d.kind), nil)
}

// parseDatetime reads a text strictly by a template, whose fields say of which type it is.
func parseDatetime(s, template string) (jsonDatetime, error) {
	nodes := dateTemplates.nodes(template)
	var dated, timed, zoned bool
	for _, n := range nodes {
		switch key := strings.ToUpper(n.key); {
		case key == "":
			if c := n.text[0]; n.sep && strings.IndexByte("-./,':; ", c) < 0 {
				return jsonDatetime{}, errDateText("invalid datetime format separator: \"%s\"", n.text)
			}
		case key == "FX":
		case key == "TZ" || key == "OF" || key == "TZH" || key == "TZM":
			zoned = true
		case strings.HasPrefix(key, "HH") || strings.HasPrefix(key, "SS") || strings.HasPrefix(key, "FF") ||
			key == "MI" || key == "MS" || key == "US" || key == "AM" || key == "PM" || key == "A.M." || key == "P.M.":
			timed = true
		default:
			dated = true
		}
	}
	r := dateReader{text: s, s: s, v: map[string]int64{}, strict: true}
	if err := r.read(nodes); err != nil {
		return jsonDatetime{}, err
	}
	t, err := r.assemble()
	if err != nil {
		return jsonDatetime{}, err
	}
	at := func(kind types.Kind, us int64) (jsonDatetime, error) {
		if t.precision > 0 {
			if us, err = toPrecision(us, int64(t.precision)); err != nil {
				return jsonDatetime{}, err
			}
		}
		if kind != types.Time {
			us, err = inRange(us)
		}
		return jsonDatetime{kind, types.NewInt(us), t.east}, err
	}
	switch {
	case dated && timed && zoned:
		return at(types.TimestampTZ, t.days*types.MicrosPerDay+t.micros-int64(t.east)*types.MicrosPerSecond)
	case dated && timed:
		return at(types.Timestamp, t.days*types.MicrosPerDay+t.micros)
	case dated && zoned:
		return jsonDatetime{}, errDateText("datetime format is zoned but not timed")
	case dated:
		if !types.DateInRange(t.days) {
			return jsonDatetime{}, sqlerr.New(sqlerr.DatetimeOverflow, "date out of range: \"%s\"", s)
		}
		return jsonDatetime{types.Date, types.NewInt(t.days), 0}, nil
	case timed && zoned:
		d, err := at(types.Time, t.micros)
		return jsonDatetime{types.TimeTZ, types.NewW128(types.Int128{Lo: uint64(d.v.Int()), Hi: -int64(t.east)}), t.east}, err
	case timed:
		return at(types.Time, t.micros)
	}
	return jsonDatetime{}, errDateText("datetime format is not dated and not timed")
}

// compareDatetimes orders two; ok is false where a date meets a time of day. Comparing what has a
// zone with what has none asks the session's, which only the functions with _tz may.
func (r *pathRun) compareDatetimes(a, b jsonDatetime) (c int, ok bool, err error) {
	clock := func(k types.Kind) bool { return k == types.Time || k == types.TimeTZ }
	zoned := func(k types.Kind) bool { return k == types.TimeTZ || k == types.TimestampTZ }
	if clock(a.kind) != clock(b.kind) {
		return 0, false, nil
	}
	local := zoned(a.kind) == zoned(b.kind)
	if !local && !r.zones {
		from, to := a.kind, b.kind
		if zoned(from) {
			from, to = to, from
		}
		short := map[types.Kind]string{types.Date: "date", types.Time: "time", types.TimeTZ: "timetz", types.Timestamp: "timestamp", types.TimestampTZ: "timestamptz"}
		return 0, false, sqlerr.New(sqlerr.FeatureNotSupported, "cannot convert value from %s to %s without time zone usage", short[from], short[to]).
			WithHint("Use *_tz() function for time zone support.")
	}
	zone := eval.ZoneOf(r.c)
	if !clock(a.kind) {
		micros := func(d jsonDatetime) int64 {
			us := d.v.Int()
			if d.kind == types.Date {
				if us > math.MaxInt64/types.MicrosPerDay-2 {
					return math.MaxInt64 // behind every timestamp
				}
				us *= types.MicrosPerDay
			}
			if !local && !zoned(d.kind) {
				us = types.ToUTC(zone, us)
			}
			return us
		}
		return cmp.Compare(micros(a), micros(b)), true, nil
	}
	if a.kind == types.Time && b.kind == types.Time {
		return cmp.Compare(a.v.Int(), b.v.Int()), true, nil
	}
	withZone := func(d jsonDatetime) (types.Datum, error) {
		if d.kind == types.TimeTZ {
			return d.v, nil
		}
		return eval.CastDatum(r.c, d.v, types.T(types.Time), types.T(types.TimeTZ), 0)
	}
	x, err := withZone(a)
	if err != nil {
		return 0, false, err
	}
	y, err := withZone(b)
	return types.Compare(x, y, types.T(types.TimeTZ)), true, err
}
