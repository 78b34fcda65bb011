package types

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // zones must not depend on what the machine has installed

	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

var zoneCache sync.Map // lower-case name → *time.Location

// LoadZone finds the time zone that a value or AT TIME ZONE names: an abbreviation of the
// default set (EST; the meaning of some depends on the instant), an IANA name in any case, or a
// POSIX rule, whose displacement counts WEST of Greenwich (UTC+3, FOO5BAR, +05:30). canon is
// the name as it is to be shown.
func LoadZone(name string) (loc *time.Location, canon string, err error) {
	if l := abbreviatedZone(strings.ToLower(name)); l != nil {
		return l, strings.ToUpper(name), nil
	}
	if l, canon := findZone(name); l != nil {
		return l, canon, nil
	}
	return nil, "", errUnknownZone(name)
}

// SettingZone finds the time zone that the TimeZone setting names: a number counts hours EAST
// of Greenwich, INTERVAL '…' a time east of it; else an IANA name or a POSIX rule, as LoadZone
// has it. Abbreviations are none: a session's zone must hold all year.
func SettingZone(text string) (loc *time.Location, canon string, err error) {
	bad := func(detail string) error {
		e := sqlerr.New(sqlerr.InvalidParameterValue, "invalid value for parameter \"%s\": \"%s\"", "TimeZone", text)
		if detail != "" {
			e = e.WithDetail("%s", detail)
		}
		return e
	}
	if len(text) >= 8 && strings.EqualFold(text[:8], "interval") {
		rest, _ := strings.CutPrefix(strings.TrimLeft(text[8:], cSpace), "'")
		rest, ok := strings.CutSuffix(rest, "'")
		if !ok || strings.Contains(rest, "'") {
			return nil, "", bad("")
		}
		iv, err := ParseInterval(rest, nil)
		switch {
		case err != nil:
			return nil, "", err
		case iv.Months != 0:
			return nil, "", bad("Cannot specify months in time zone interval.")
		case iv.Days != 0:
			return nil, "", bad("Cannot specify days in time zone interval.")
		}
		loc, canon = offsetZone(iv.Micros / MicrosPerSecond)
	} else if hours, ok := cFloat(text); ok {
		if east := hours * 3600; math.Abs(east) < 1<<31 { // neither NaN nor infinite
			loc, canon = offsetZone(int64(east))
		}
	} else if loc, canon = findZone(text); loc == nil {
		return nil, "", bad("")
	}
	if loc == nil {
		return nil, "", bad("UTC timezone offset is out of range.")
	}
	return loc, canon, nil
}

// ArgumentZone finds the time zone that make_timestamptz is given: what LoadZone takes, and
// displacements as values have them, EAST of Greenwich.
func ArgumentZone(name string) (*time.Location, error) {
	if name != "" && name[0] >= '0' && name[0] <= '9' {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid input syntax for type numeric time zone: \"%s\"", name).
			WithHint("Numeric time zones must have \"-\" or \"+\" as first character.")
	}
	var d dateDecoder
	switch d.offset(name) {
	case dateOK:
		return FixedZone(-d.west), nil
	case dateZoneOverflow:
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "numeric time zone \"%s\" out of range", name)
	}
	loc, _, err := LoadZone(name)
	return loc, err
}

func errUnknownZone(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
}

// cSpace is what C's isspace takes.
const cSpace = " \t\n\v\f\r"

// cFloat reads a number as C's strtod does, which knows spaces before it, hexadecimal numbers,
// infinities and NaN; nothing may follow it.
func cFloat(s string) (float64, bool) {
	s = strings.TrimLeft(s, cSpace)
	if strings.Contains(s, "_") {
		return 0, false
	}
	if body := strings.ToLower(strings.TrimLeft(s, "+-")); strings.HasPrefix(body, "0x") && !strings.Contains(body, "p") {
		s += "p0"
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

// offsetZone is the zone of a setting's displacement, seconds east of Greenwich, with its name:
// the POSIX rule that means it. nil beyond what a rule can say.
func offsetZone(east int64) (*time.Location, string) {
	sign, flip, abs := "+", "-", east
	if east <= 0 {
		sign, flip, abs = "-", "+", -east
	}
	if east == 0 {
		sign, flip = "+", "-"
	}
	text := fmt.Sprintf("%02d", abs/3600)
	if abs%3600 != 0 {
		text += fmt.Sprintf(":%02d", abs/60%60)
	}
	if abs%60 != 0 {
		text += fmt.Sprintf(":%02d", abs%60)
	}
	return findZone("<" + sign + text + ">" + flip + text)
}

// FixedZone makes a zone from seconds east of Greenwich, named as PostgreSQL shows it.
func FixedZone(east int) *time.Location {
	if east == 0 {
		return time.UTC
	}
	return time.FixedZone(string(appendOffset(nil, east, false)), east)
}

// NamedZone finds a time zone by its IANA name, in any case.
func NamedZone(name string) (*time.Location, bool) {
	if _, ok := zoneNames()[strings.ToLower(name)]; !ok {
		return nil, false
	}
	l, _ := findZone(name)
	return l, l != nil
}

// findZone finds an IANA name or a POSIX rule, with the name that is to be shown; nil when
// unknown.
func findZone(name string) (*time.Location, string) {
	low := strings.ToLower(name)
	canon, ok := zoneNames()[low]
	if !ok {
		return posixZone(name)
	}
	if l, ok := zoneCache.Load(low); ok {
		return l.(*time.Location), canon
	}
	l, err := time.LoadLocation(canon)
	if err != nil {
		return nil, ""
	}
	zoneCache.Store(low, l)
	return l, canon
}

var zoneNames = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, n := range strings.Fields(ianaZones) {
		m[strings.ToLower(n)] = n
	}
	return m
})

// ZoneOffset is the zone's seconds east of Greenwich at an instant (µs since the epoch), with
// the abbreviation in force.
func ZoneOffset(loc *time.Location, micros int64) (east int, abbrev string) {
	if loc == nil || loc == time.UTC {
		return 0, "UTC"
	}
	sec := floorDiv(micros, MicrosPerSecond)
	spans := zoneSpansOf(loc)
	slot := &spans.slots[sec>>23&(zoneSlots-1)]
	s := slot.Load()
	if s == nil || sec < s.from || sec >= s.to {
		s = zoneSpanAt(spans, sec)
		slot.Store(s)
	}
	return s.east, s.abbrev
}

// Looking a zone's rules up costs hundreds of nanoseconds once they lie beyond its table, so
// spans of constant offset are remembered, by quarter of a year.
type zoneSpans struct {
	loc   *time.Location
	base  *time.Location // of an abbreviation: the zone whose clocks it is read on
	rule  bool           // a POSIX rule's: all 400 years are alike
	slots [zoneSlots]atomic.Pointer[zoneSpan]
}

const zoneSlots = 64

type zoneSpan struct {
	from, to int64 // seconds since the epoch, half open
	east     int
	abbrev   string
}

var (
	// Zones made of displacements are without number.
	zoneSpanCache = cache.Shared[*time.Location, *zoneSpans]("zone spans", 1<<20)
	zoneSpanLast  atomic.Pointer[zoneSpans]
)

func zoneSpansOf(loc *time.Location) *zoneSpans {
	if s := zoneSpanLast.Load(); s != nil && s.loc == loc {
		return s
	}
	s, ok := zoneSpanCache.Find(loc)
	if !ok {
		s = &zoneSpans{loc: loc, base: abbreviationBase(loc), rule: isRule(loc)}
		zoneSpanCache.Put(loc, s, zoneBytes)
	}
	zoneSpanLast.Store(s)
	return s
}

// rulePeriod is after how many seconds the Gregorian calendar repeats: 400 years.
const rulePeriod = 146097 * 86400

func zoneSpanAt(spans *zoneSpans, sec int64) *zoneSpan {
	shift := int64(0)
	if spans.rule && sec < 0 {
		// Package time applies rules to instants from 1970 on only.
		shift = (-sec/rulePeriod + 1) * rulePeriod
	}
	t := time.Unix(sec+shift, 0).In(spans.loc)
	s := &zoneSpan{from: sec, to: sec + 1}
	s.abbrev, s.east = t.Zone()
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		s.from = start.Unix() - shift
	}
	if !end.IsZero() {
		s.to = end.Unix() - shift
	}
	return s
}

// LocalOffset is the zone's seconds east of Greenwich at a local time (µs since the epoch on
// the zone's wall clock). Where clocks jump, as PostgreSQL: in a gap the offset before it, in
// an overlap the one after it.
func LocalOffset(loc *time.Location, local int64) int {
	if loc == nil || loc == time.UTC {
		return 0
	}
	if base := zoneSpansOf(loc).base; base != nil {
		// What an abbreviation means is asked at the instant that the zone's own rules give.
		east, _ := ZoneOffset(loc, local-int64(LocalOffset(base, local))*MicrosPerSecond)
		return east
	}
	before, _ := ZoneOffset(loc, local-MicrosPerDay)
	after, _ := ZoneOffset(loc, local+MicrosPerDay)
	at := func(off int) int {
		o, _ := ZoneOffset(loc, local-int64(off)*MicrosPerSecond)
		return o
	}
	if before == after && at(before) == before {
		return before
	}
	okBefore, okAfter := at(before) == before, at(after) == after
	switch {
	case okAfter:
		return after
	case okBefore:
		return before
	case before == after:
		// Two jumps within two days: believe the instant itself.
		return at(at(before))
	}
	return before
}

// ToUTC turns a wall clock time of loc into an instant.
func ToUTC(loc *time.Location, local int64) int64 {
	if local == TimestampInfinity || local == TimestampNegInfinity {
		return local
	}
	return local - int64(LocalOffset(loc, local))*MicrosPerSecond
}

// ToLocal turns an instant into the wall clock time of loc.
func ToLocal(loc *time.Location, micros int64) int64 {
	if micros == TimestampInfinity || micros == TimestampNegInfinity {
		return micros
	}
	east, _ := ZoneOffset(loc, micros)
	return micros + int64(east)*MicrosPerSecond
}

// TimestampFromTime is t in µs since the epoch.
func TimestampFromTime(t time.Time) int64 { return t.UnixMicro() }
