package types

import (
	"strings"
	"sync"
	"time"
)

// ZoneAbbreviation is a row of pg_timezone_abbrevs, the name in lower case.
type ZoneAbbreviation struct {
	Name   string
	East   int32 // seconds
	Summer bool
}

// ZoneAbbreviations lists the abbreviations that values may use with what they mean at an
// instant, in no order.
func ZoneAbbreviations(now time.Time) []ZoneAbbreviation {
	out := make([]ZoneAbbreviation, 0, len(zoneAbbreviations)+len(datedAbbreviations))
	for n, east := range zoneAbbreviations {
		out = append(out, ZoneAbbreviation{n, east, summerAbbreviations[n]})
	}
	for n := range datedAbbreviations {
		if l := abbreviatedZone(n); l != nil {
			t := now.In(l)
			_, east := t.Zone()
			out = append(out, ZoneAbbreviation{n, int32(east), t.IsDST()})
		}
	}
	return out
}

// summerAbbreviations are those of daylight saving time among zoneAbbreviations, as PostgreSQL 15
// has them.
var summerAbbreviations = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`acdt acsst adt aedt aesst akdt almst awsst azost bdst brst bst cadt cdt cest
		cetdst chadt clst edt eest eetdst egst fjst fnst idt kdt kgst mdt mest mesz metdst msd
		must ndt nzdt pdt pkst pmdt pyst sadt ulast uyst uzst wadt wdt wetdst wgst yekst`) {
		m[n] = true
	}
	return m
}()

// abbreviatedZone is the zone that an abbreviation in lower case stands for; nil where there is
// none.
func abbreviatedZone(low string) *time.Location {
	if l, ok := abbreviationCache.Load(low); ok {
		return l.(*time.Location)
	}
	var l *time.Location
	if east, ok := zoneAbbreviations[low]; ok {
		l = time.FixedZone(strings.ToUpper(low), int(east))
	} else if zone, ok := datedAbbreviations[low]; ok {
		l = datedZone(strings.ToUpper(low), zone)
	}
	if l == nil {
		return nil
	}
	kept, _ := abbreviationCache.LoadOrStore(low, l)
	return kept.(*time.Location)
}

var (
	abbreviationCache sync.Map // lower-case abbreviation → *time.Location
	abbreviationBases sync.Map // the *time.Location of a dated abbreviation → its zone
)

func abbreviationBase(l *time.Location) *time.Location {
	if base, ok := abbreviationBases.Load(l); ok {
		return base.(*time.Location)
	}
	return nil
}

// datedZone is an abbreviation's meaning over time (pg_interpret_timezone_abbrev): what it last
// meant in the zone's history, before its first use what it meant then; where the zone never
// used it, the zone's own time.
func datedZone(abbrev, zone string) *time.Location {
	base, _ := findZone(zone)
	if base == nil {
		return nil
	}
	var spans []madeSpan
	first := -1
	for _, s := range zoneHistory(base) {
		if s.abbrev == abbrev {
			if first < 0 {
				first = len(spans)
			}
		} else if first >= 0 {
			last := spans[len(spans)-1]
			s.east, s.abbrev, s.summer = last.east, last.abbrev, last.summer
		}
		spans = append(spans, s)
	}
	if first < 0 {
		return base
	}
	for i := range spans[:first] {
		f := spans[first]
		spans[i].east, spans[i].abbrev, spans[i].summer = f.east, f.abbrev, f.summer
	}
	last := spans[len(spans)-1]
	l, err := madeZone(abbrev, spans, "<"+abbrev+">"+ruleTime(-last.east))
	if err != nil {
		return nil
	}
	abbreviationBases.Store(l, base)
	return l
}

// zoneHistory lists a zone's spans up to where the tables of zones end: what follows repeats.
func zoneHistory(l *time.Location) []madeSpan {
	var out []madeSpan
	t := time.Date(1800, 1, 1, 0, 0, 0, 0, time.UTC)
	for t.Year() < 2037 {
		at := t.In(l)
		name, east := at.Zone()
		out = append(out, madeSpan{t.Unix(), east, name, at.IsDST()})
		_, end := at.ZoneBounds()
		if end.IsZero() {
			break
		}
		t = end.UTC()
	}
	return out
}
