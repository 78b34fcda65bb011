package types

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	_ "time/tzdata" // zones must not depend on what the machine has installed

	"github.com/lhsql/lhsql/internal/sqlerr"
)

var zoneCache sync.Map // lower-case name → *time.Location

// LoadZone finds the time zone that a TimeZone setting or AT TIME ZONE names: an IANA name in
// any case, an abbreviation (EST), a POSIX specification (UTC+3, three hours WEST of
// Greenwich) or a displacement (+05:30, also west, as POSIX has it). canon is the name as it
// is to be shown.
func LoadZone(name string) (loc *time.Location, canon string, err error) {
	low := strings.ToLower(trimSpace(name))
	if l := findZone(low); l != nil {
		if c, ok := zoneNames()[low]; ok {
			return l, c, nil
		}
		return l, trimSpace(name), nil
	}
	if off, ok := zoneAbbreviations[low]; ok {
		up := strings.ToUpper(low)
		return time.FixedZone(up, int(off)), up, nil
	}
	return nil, "", errUnknownZone(name)
}

func errUnknownZone(name string) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "time zone \"%s\" not recognized", name)
}

// FixedZone makes a zone from seconds east of Greenwich, named as PostgreSQL shows it.
func FixedZone(east int) *time.Location {
	if east == 0 {
		return time.UTC
	}
	return time.FixedZone(string(appendOffset(nil, east, false)), east)
}

// findZone is LoadZone without abbreviations; nil when unknown.
func findZone(name string) *time.Location {
	low := strings.ToLower(trimSpace(name))
	if l, ok := zoneCache.Load(low); ok {
		return l.(*time.Location)
	}
	var l *time.Location
	if canon, ok := zoneNames()[low]; ok {
		l, _ = time.LoadLocation(canon)
	}
	if l == nil {
		return posixZone(low) // not kept: there is no end of them
	}
	zoneCache.Store(low, l)
	return l
}

var zoneNames = sync.OnceValue(func() map[string]string {
	m := map[string]string{}
	for _, n := range strings.Fields(ianaZones) {
		m[strings.ToLower(n)] = n
	}
	return m
})

// posixZone reads STDoffset without daylight saving time: letters or <text>, then hours west
// of Greenwich.
func posixZone(s string) *time.Location {
	rest := s
	if strings.HasPrefix(rest, "<") {
		end := strings.IndexByte(rest, '>')
		if end < 0 {
			return nil
		}
		rest = rest[end+1:]
	} else {
		rest = strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz")
	}
	label := strings.Trim(s[:len(s)-len(rest)], "<>")
	if rest == "" {
		return nil
	}
	sign := -1
	if rest[0] == '-' || rest[0] == '+' {
		if rest[0] == '-' {
			sign = 1
		}
		rest = rest[1:]
	} else if label == "" {
		return nil
	}
	parts := strings.Split(rest, ":")
	if len(parts) > 3 {
		return nil
	}
	secs, unit := 0, 3600
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || digitsLen(p) != len(p) || len(p) > 3 || i > 0 && v > 59 || i == 0 && v > 167 {
			return nil
		}
		secs += v * unit
		unit /= 60
	}
	east := sign * secs
	if label == "" {
		label = string(appendOffset(nil, east, false))
	}
	return time.FixedZone(strings.ToUpper(label), east)
}

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
		s = zoneSpanAt(loc, sec)
		slot.Store(s)
	}
	return s.east, s.abbrev
}

// Looking a zone's rules up costs hundreds of nanoseconds once they lie beyond its table, so
// spans of constant offset are remembered, by quarter of a year.
type zoneSpans struct {
	loc   *time.Location
	slots [zoneSlots]atomic.Pointer[zoneSpan]
}

const zoneSlots = 64

type zoneSpan struct {
	from, to int64 // seconds since the epoch, half open
	east     int
	abbrev   string
}

var (
	zoneSpanCache sync.Map // *time.Location → *zoneSpans
	zoneSpanCount atomic.Int32
	zoneSpanLast  atomic.Pointer[zoneSpans]
)

func zoneSpansOf(loc *time.Location) *zoneSpans {
	if s := zoneSpanLast.Load(); s != nil && s.loc == loc {
		return s
	}
	v, ok := zoneSpanCache.Load(loc)
	if !ok {
		if zoneSpanCount.Add(1) > 1000 { // zones made of displacements are without number
			zoneSpanCache.Clear()
			zoneSpanCount.Store(0)
		}
		v, _ = zoneSpanCache.LoadOrStore(loc, &zoneSpans{loc: loc})
	}
	s := v.(*zoneSpans)
	zoneSpanLast.Store(s)
	return s
}

func zoneSpanAt(loc *time.Location, sec int64) *zoneSpan {
	t := time.Unix(sec, 0).In(loc)
	s := &zoneSpan{from: sec, to: sec + 1}
	s.abbrev, s.east = t.Zone()
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		s.from = start.Unix()
	}
	if !end.IsZero() {
		s.to = end.Unix()
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
