package types

import "strings"

// The text of dates, times and intervals is first cut into fields by their looks, then each
// field is decoded in the light of those before it. This follows PostgreSQL's
// src/backend/utils/adt/datetime.c (ParseDateTime), whose heuristics are the specification.

type fieldLook uint8

const (
	lookNumber  fieldLook = iota // digits, perhaps a point
	lookString                   // letters
	lookDate                     // with - / . inside, or a zone name with punctuation
	lookTime                     // with colons
	lookTZ                       // signed
	lookSpecial                  // sign and letters: -infinity
)

type dateField struct {
	look fieldLook
	text string // lower case where letters matter
}

const maxDateFields = 25

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }
func isAlnum(c byte) bool { return isDigit(c) || isAlpha(c) }
func isPunct(c byte) bool { return c > ' ' && c < 0x7f && !isAlnum(c) }

// splitDateFields cuts s; ok is false when it cannot be a date, time or interval.
func splitDateFields(s string) (fields []dateField, ok bool) {
	i := 0
	at := func(k int) byte {
		if k < len(s) {
			return s[k]
		}
		return 0
	}
	for i < len(s) {
		c := s[i]
		start := i
		look := lookNumber
		switch {
		case isSpace(c):
			i++
			continue
		case isDigit(c):
			for isDigit(at(i)) {
				i++
			}
			switch c := at(i); {
			case c == ':':
				look = lookTime
				for isDigit(at(i)) || at(i) == ':' || at(i) == '.' {
					i++
				}
			case c == '-' || c == '/' || c == '.':
				i++
				if !isDigit(at(i)) {
					look = lookDate
					for isAlnum(at(i)) || at(i) == c {
						i++
					}
					break
				}
				if c != '.' {
					look = lookDate
				}
				for isDigit(at(i)) {
					i++
				}
				// The delimiters must match for a date of three fields.
				if at(i) == c {
					look = lookDate
					i++
					for isDigit(at(i)) || at(i) == c {
						i++
					}
				}
			}
		case c == '.':
			i++
			for isDigit(at(i)) {
				i++
			}
		case isAlpha(c):
			look = lookString
			for isAlpha(at(i)) {
				i++
			}
			dated := false
			switch c := at(i); {
			case c == '-' || c == '/' || c == '.':
				dated = true
			case c == '+' || isDigit(c):
				_, known := dateTokens[clipToken(strings.ToLower(s[start:i]))]
				dated = !known
			}
			if dated {
				look = lookDate
				for c := at(i); isAlnum(c) || c != 0 && strings.IndexByte("+-/_.:", c) >= 0; c = at(i) {
					i++
				}
			}
		case c == '+' || c == '-':
			i++
			gap := i
			for isSpace(at(i)) {
				i++
			}
			rest := i
			switch c2 := at(i); {
			case isDigit(c2):
				look = lookTZ
				for c := at(i); isDigit(c) || c == ':' || c == '.' || c == '-'; c = at(i) {
					i++
				}
			case isAlpha(c2):
				look = lookSpecial
				for isAlpha(at(i)) {
					i++
				}
			default:
				return nil, false
			}
			if rest > gap {
				if len(fields) == maxDateFields {
					return nil, false
				}
				fields = append(fields, dateField{look, string(c) + strings.ToLower(s[rest:i])})
				continue
			}
		case isPunct(c):
			i++
			continue
		default:
			return nil, false
		}
		if len(fields) == maxDateFields {
			return nil, false
		}
		fields = append(fields, dateField{look, strings.ToLower(s[start:i])})
	}
	return fields, true
}

type tokenKind uint8

const (
	tokUnknown tokenKind = iota
	tokIgnore
	tokReserved
	tokMonth
	tokDST // modifier after a zone abbreviation
	tokAMPM
	tokADBC
	tokWeekday
	tokUnits
	tokISOTime
	tokAgo
)

// Values of tokReserved and tokUnits.
const (
	resNow = iota
	resYesterday
	resToday
	resTomorrow
	resZulu
	resEpoch
	resLate
	resEarly
	unitJulian
	unitOther // year2000 and the like: not supported, refused as in newer PostgreSQL
)

type token struct {
	kind  tokenKind
	value int
}

// clipToken cuts as PostgreSQL does before looking a word up (TOKMAXLEN).
func clipToken(s string) string {
	if len(s) > 10 {
		return s[:10]
	}
	return s
}

var dateTokens = func() map[string]token {
	m := map[string]token{
		"-infinity": {tokReserved, resEarly}, "infinity": {tokReserved, resLate},
		"allballs": {tokReserved, resZulu}, "epoch": {tokReserved, resEpoch},
		"now": {tokReserved, resNow}, "today": {tokReserved, resToday},
		"tomorrow": {tokReserved, resTomorrow}, "yesterday": {tokReserved, resYesterday},
		"ad": {tokADBC, 0}, "bc": {tokADBC, 1}, "am": {tokAMPM, 0}, "pm": {tokAMPM, 1},
		"at": {tokIgnore, 0}, "on": {tokIgnore, 0}, "dst": {tokDST, 3600}, "t": {tokISOTime, 0},
		"j": {tokUnits, unitJulian}, "jd": {tokUnits, unitJulian}, "julian": {tokUnits, unitJulian},
		"d": {tokUnits, unitOther}, "h": {tokUnits, unitOther}, "m": {tokUnits, unitOther},
		"mm": {tokUnits, unitOther}, "s": {tokUnits, unitOther}, "y": {tokUnits, unitOther},
		"dow": {tokUnits, unitOther}, "doy": {tokUnits, unitOther},
		"isodow": {tokUnits, unitOther}, "isoyear": {tokUnits, unitOther},
	}
	for i, n := range strings.Fields("january february march april may june july august september october november december") {
		m[clipToken(n)] = token{tokMonth, i + 1}
		m[n[:3]] = token{tokMonth, i + 1}
	}
	m["sept"] = token{tokMonth, 9}
	for i, n := range strings.Fields("sunday monday tuesday wednesday thursday friday saturday") {
		m[n] = token{tokWeekday, i}
		m[n[:3]] = token{tokWeekday, i}
	}
	for w, i := range map[string]int{"tues": 2, "weds": 3, "thur": 4, "thurs": 4} {
		m[w] = token{tokWeekday, i}
	}
	return m
}()
