package types

import "strings"

// ZoneAbbreviation is a row of pg_timezone_abbrevs, the name in lower case.
type ZoneAbbreviation struct {
	Name   string
	East   int32 // seconds
	Summer bool
}

// ZoneAbbreviations lists the abbreviations that values and settings may use, in no order.
func ZoneAbbreviations() []ZoneAbbreviation {
	out := make([]ZoneAbbreviation, 0, len(zoneAbbreviations))
	for n, east := range zoneAbbreviations {
		out = append(out, ZoneAbbreviation{n, east, summerAbbreviations[n]})
	}
	return out
}

// summerAbbreviations are those of daylight saving time, as PostgreSQL 15 has them.
var summerAbbreviations = func() map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(`acdt acsst adt aedt aesst akdt almst awsst azost bdst brst bst cadt cdt cest
		cetdst chadt clst clt easst east edt eest eetdst egst fjst fnst idt kdt kgst lhdt mdt mest mesz metdst msd
		must ndt nzdt pdt pkst pmdt pyst sadt ulast uyst uzst wadt wdt wetdst wgst yekst`) {
		m[n] = true
	}
	return m
}()
