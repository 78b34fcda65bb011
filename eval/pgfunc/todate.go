package pgfunc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

func registerTodate() {
	eval.Register(
		eval.Stable("to_date", eval.Sig(types.Text, types.Text), eval.TDate, eval.Try2(func(s, template string) (int64, error) {
			t, err := parseByTemplate(s, template)
			if err != nil {
				return 0, err
			}
			if !types.DateInRange(t.days) {
				return 0, sqlerr.New(sqlerr.DatetimeOverflow, "date out of range: \"%s\"", s)
			}
			return t.days, nil
		})),
		eval.Stable("to_timestamp", eval.Sig(types.Text, types.Text), eval.TTimestampTZ, eval.Ask2(func(c *eval.Ctx, s, template string) (int64, error) {
			t, err := parseByTemplate(s, template)
			if err != nil {
				return 0, err
			}
			if t.days > math.MaxInt64/types.MicrosPerDay-2 || t.days < math.MinInt64/types.MicrosPerDay+2 {
				return 0, sqlerr.New(sqlerr.DatetimeOverflow, "timestamp out of range")
			}
			local := t.days*types.MicrosPerDay + t.micros
			var zone *time.Location
			if zone = eval.ZoneOf(c); t.zoned {
				zone = types.FixedZone(t.east)
			}
			at := types.ToUTC(zone, local)
			if t.precision > 0 {
				if at, err = toPrecision(at, int64(t.precision)); err != nil {
					return 0, err
				}
			}
			return inRange(at)
		})),
	)
}

// scanned is what a text says by a template.
type scanned struct {
	days, micros int64
	zoned        bool
	east         int
	precision    int // digits of seconds to round to; 0: all
}

// dateReader reads a text by a template (DCH_from_char of formatting.c).
type dateReader struct {
	text       string
	s          string // the rest
	v          map[string]int64
	iso        bool // a week date
	greg       bool // a Gregorian date
	pm         bool
	twelve, bc bool
	zoneSign   int64
	yearDigits int
	hasZone    bool
	precision  int  // of FF1 … FF6, 0 where there is none
	minus      bool // before the field stands a minus that was taken for a separator
	// strict: separators are those of the template, and the text ends where it does.
	strict bool
}

func errDateText(format string, args ...any) *sqlerr.Error {
	return sqlerr.New(sqlerr.InvalidDatetimeFormat, format, args...)
}

func parseByTemplate(s, template string) (scanned, error) {
	r := dateReader{text: s, s: s, v: map[string]int64{}}
	if err := r.read(dateTemplates.nodes(template)); err != nil {
		return scanned{}, err
	}
	return r.assemble()
}

func (r *dateReader) skipSpace() (n int) {
	for r.s != "" && isSpaceByte(r.s[0]) {
		r.s = r.s[1:]
		n++
	}
	return n
}

func (r *dateReader) skipRune() {
	for i := range r.s {
		if i > 0 {
			r.s = r.s[i:]
			return
		}
	}
	r.s = ""
}

func (r *dateReader) read(nodes []formatNode) error {
	exact := r.strict // FX
	extra := 0        // spaces passed over beyond the template's
	for i, n := range nodes {
		if r.s == "" {
			if r.strict {
				return errDateText("input string is too short for datetime format")
			}
			return nil
		}
		fx := strings.EqualFold(n.key, "FX")
		if !exact && !fx && (n.key != "" || i == 0) {
			extra += r.skipSpace()
		}
		if r.s == "" && n.key == "" {
			return nil
		}
		switch {
		case n.sep && !exact:
			extra--
			if r.s != "" && (isSpaceByte(r.s[0]) || isSeparator(r.s[0])) {
				r.s = r.s[1:]
				extra++
			}
		case n.sep && r.strict && r.s[0] != n.text[0]:
			return errDateText("unmatched format separator \"%s\"", n.text)
		case n.key == "" && !exact && !n.sep && extra > 0:
			extra--
		case n.key == "":
			r.skipRune()
		case fx:
			exact = true
		default:
			// More was passed over than the template has: a last minus may be the zone's sign.
			r.minus = extra > 0 && strings.HasSuffix(r.text[:len(r.text)-len(r.s)], "-")
			if err := r.field(n, slurps(nodes[i:])); err != nil {
				return err
			}
			if !exact {
				extra = r.spacesAhead()
			}
		}
	}
	if r.strict && r.s != "" {
		return errDateText("trailing characters remain in input string after datetime format")
	}
	return nil
}

// spacesAhead passes over spaces behind a field and counts them.
func (r *dateReader) spacesAhead() int { return r.skipSpace() }

// slurps tells whether the field at nodes[0] takes all the digits there are: in fill mode, or
// when what follows in the template is no digit.
func slurps(nodes []formatNode) bool {
	if nodes[0].fill || nodes[0].ordinal != "" || len(nodes) == 1 {
		return true
	}
	next := nodes[1]
	if next.key == "" {
		return len(next.text) != 1 || next.text[0] < '0' || next.text[0] > '9'
	}
	switch strings.ToUpper(next.key) {
	case "A.D.", "A.M.", "AD", "AM", "B.C.", "BC", "DAY", "DY", "MONTH", "MON", "P.M.", "PM", "RM", "TZ", "TZH", "FX", "OF":
		return true
	}
	return false
}

// set stores a field; two different values for one are a conflict.
func (r *dateReader) set(field string, v int64, n formatNode) error {
	if had, ok := r.v[field]; ok && had != v && had != 0 {
		return errDateText("conflicting values for \"%s\" field in formatting string", n.key).
			WithDetail("This value contradicts a previous setting for the same field type.")
	}
	r.v[field] = v
	return nil
}

// integer reads a number of up to width digits.
func (r *dateReader) integer(n formatNode, width int, all bool) (v int64, used int, err error) {
	r.skipSpace()
	start := r.s
	in := start
	if !all {
		if len(in) < width {
			return 0, 0, errDateText("source string too short for \"%s\" formatting field", n.key).
				WithDetail("Field requires %d characters, but only %d remain.", width, len(in)).
				WithHint("If your source string is not fixed-width, try using the \"FM\" modifier.")
		}
		in = in[:width]
	}
	k := 0
	if k < len(in) && (in[k] == '+' || in[k] == '-') {
		k++
	}
	first := k
	for k < len(in) && in[k] >= '0' && in[k] <= '9' {
		k++
	}
	if k == first {
		k = 0
	}
	shown := start[:min(len(start), width)]
	switch {
	case k == 0:
		return 0, 0, errDateText("invalid value \"%s\" for \"%s\"", shown, n.key).WithDetail("Value must be an integer.")
	case !all && k < width:
		return 0, 0, errDateText("invalid value \"%s\" for \"%s\"", shown, n.key).
			WithDetail("Field requires %d characters, but only %d could be parsed.", width, k).
			WithHint("If your source string is not fixed-width, try using the \"FM\" modifier.")
	}
	v, perr := strconv.ParseInt(in[:k], 10, 32)
	if perr != nil {
		return 0, 0, sqlerr.New(sqlerr.DatetimeOverflow, "value for \"%s\" in source string is out of range", n.key).
			WithDetail("Value must be in the range %d to %d.", math.MinInt32, math.MaxInt32)
	}
	r.s = start[k:]
	return v, k, nil
}

// number reads an integer field and its ordinal ending.
func (r *dateReader) number(field string, n formatNode, width int, all bool) error {
	v, _, err := r.integer(n, width, all)
	if err != nil {
		return err
	}
	r.ordinalEnd(n)
	return r.set(field, v, n)
}

func (r *dateReader) ordinalEnd(n formatNode) {
	if n.ordinal != "" {
		r.s = r.s[min(2, len(r.s)):]
	}
}

// name finds one of names at the text, in any case, the longest.
func (r *dateReader) name(n formatNode, names []string) (int, error) {
	best := -1
	for i, w := range names {
		if len(r.s) >= len(w) && strings.EqualFold(r.s[:len(w)], w) && (best < 0 || len(w) > len(names[best])) {
			best = i
		}
	}
	if best < 0 {
		shown := r.s
		if i := strings.IndexFunc(shown, func(c rune) bool { return c == ' ' || c >= '\t' && c <= '\r' }); i >= 0 {
			shown = shown[:i]
		}
		return 0, errDateText("invalid value \"%s\" for \"%s\"", shown, n.key).
			WithDetail("The given value did not match any of the allowed values for this field.")
	}
	r.s = r.s[len(names[best]):]
	return best, nil
}

func shortNames(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = n[:3]
	}
	return out
}

func (r *dateReader) field(n formatNode, all bool) error {
	key := strings.ToUpper(n.key)
	switch key {
	case "IYYY", "IYY", "IY", "I", "IW", "ID", "IDDD":
		r.iso = true
	case "YYYY", "YYY", "YY", "Y", "Y,YYY", "MM", "MON", "MONTH", "RM", "DD", "DDD", "D", "WW", "W", "CC", "J", "Q", "DAY", "DY":
		if key != "DAY" && key != "DY" && key != "J" && key != "Q" {
			r.greg = true
		}
	}
	if r.iso && r.greg {
		return errDateText("invalid combination of date conventions").
			WithHint("Do not mix Gregorian and ISO week date conventions in a formatting template.")
	}
	switch key {
	case "A.M.", "P.M.", "AM", "PM":
		names := []string{"am", "pm"}
		if strings.Contains(key, ".") {
			names = []string{"a.m.", "p.m."}
		}
		i, err := r.name(n, names)
		r.pm, r.twelve = i == 1, true
		return err
	case "A.D.", "B.C.", "AD", "BC":
		names := []string{"ad", "bc"}
		if strings.Contains(key, ".") {
			names = []string{"a.d.", "b.c."}
		}
		i, err := r.name(n, names)
		r.bc = i == 1
		return err
	case "HH", "HH12":
		r.twelve = true
		return r.number("hh", n, 2, all)
	case "HH24":
		return r.number("hh", n, 2, all)
	case "MI":
		return r.number("mi", n, 2, all)
	case "SS":
		return r.number("ss", n, 2, all)
	case "MS", "US", "FF1", "FF2", "FF3", "FF4", "FF5", "FF6":
		width := map[string]int{"MS": 3, "US": 6}[key]
		if width == 0 {
			width = int(key[2] - '0')
		}
		v, used, err := r.integer(n, width, all)
		if err != nil {
			return err
		}
		// 25 is a quarter of a second, whatever the field.
		for i := used; i < 6; i++ {
			v *= 10
		}
		field := "us"
		switch {
		case key == "MS":
			field = "ms"
			for i := 3; i < used; i++ {
				v *= 10 // a fourth digit is no fraction of a millisecond
			}
		case key[0] == 'F':
			r.precision = width
		}
		r.ordinalEnd(n)
		return r.set(field, v, n)
	case "SSSS", "SSSSS":
		return r.number("ssss", n, 5, all)
	case "TZ", "OF":
		return sqlerr.New(sqlerr.FeatureNotSupported, "formatting field \"%s\" is only supported in to_char", n.key)
	case "TZH":
		r.zoneSign, r.hasZone = 1, true
		if r.s != "" && strings.IndexByte("+- ", r.s[0]) >= 0 {
			if r.s[0] == '-' {
				r.zoneSign = -1
			}
			r.s = r.s[1:]
		} else if r.minus {
			r.zoneSign = -1
		}
		return r.number("tzh", n, 2, all)
	case "TZM":
		if r.zoneSign == 0 {
			r.zoneSign = 1
		}
		r.hasZone = true
		return r.number("tzm", n, 2, all)
	case "MONTH", "MON":
		names := monthNames
		if key == "MON" {
			names = shortNames(monthNames)
		}
		i, err := r.name(n, names)
		if err != nil {
			return err
		}
		return r.set("mm", int64(i+1), n)
	case "RM":
		i, err := r.name(n, romanMonths)
		if err != nil {
			return err
		}
		return r.set("mm", int64(i+1), n)
	case "MM":
		return r.number("mm", n, 2, all)
	case "DAY", "DY":
		names := dayNames
		if key == "DY" {
			names = shortNames(dayNames)
		}
		i, err := r.name(n, names)
		if err != nil {
			return err
		}
		return r.set("d", int64(i+1), n)
	case "DDD", "IDDD":
		return r.number("ddd", n, 3, all)
	case "DD":
		return r.number("dd", n, 2, all)
	case "D":
		return r.number("d", n, 1, all)
	case "ID":
		v, _, err := r.integer(n, 1, all)
		if err != nil {
			return err
		}
		return r.set("d", v%7+1, n)
	case "WW", "IW":
		return r.number("ww", n, 2, all)
	case "Q":
		_, _, err := r.integer(n, 1, all)
		return err
	case "CC":
		return r.number("cc", n, 2, all)
	case "Y,YYY":
		var th, rest int64
		k, err := fmt.Sscanf(r.s, "%d,%03d", &th, &rest)
		if k < 2 || err != nil {
			return errDateText("invalid input string for \"Y,YYY\"")
		}
		comma := strings.IndexByte(r.s, ',')
		end := comma + 1
		for end < len(r.s) && end < comma+4 && r.s[end] >= '0' && r.s[end] <= '9' {
			end++
		}
		r.s = r.s[end:]
		r.yearDigits = 4
		return r.set("year", th*1000+rest, n)
	case "YYYY", "IYYY", "YYY", "IYY", "YY", "IY", "Y", "I":
		width := len(key)
		v, used, err := r.integer(n, width, all)
		if err != nil {
			return err
		}
		if width < 4 && used < 4 {
			v = nearYear(v)
		}
		r.yearDigits = width
		r.ordinalEnd(n)
		return r.set("year", v, n)
	case "W":
		return r.number("w", n, 1, all)
	case "J":
		return r.number("j", n, 10, all)
	}
	return nil
}

// nearYear puts a short year near 2020: 0…69 after 2000, 70…99 before, and so on with three digits.
func nearYear(v int64) int64 {
	switch {
	case v < 70:
		return v + 2000
	case v < 100:
		return v + 1900
	case v < 520:
		return v + 2000
	case v < 1000:
		return v + 1000
	}
	return v
}

func (r *dateReader) errRange() error {
	return sqlerr.New(sqlerr.DatetimeOverflow, "date/time field value out of range: \"%s\"", r.text)
}

// assemble makes a point in time of the fields (do_to_timestamp).
func (r *dateReader) assemble() (scanned, error) {
	var out scanned
	has := func(f string) bool { return r.v[f] != 0 }
	h, mi, ss := r.v["hh"], r.v["mi"], r.v["ss"]
	if s := r.v["ssss"]; s != 0 {
		h, mi, ss = s/3600, s/60%60, s%60
	}
	if r.twelve {
		if h < 1 || h > 12 {
			return out, errDateText("hour \"%d\" is invalid for the 12-hour clock", h).
				WithHint("Use the 24-hour clock, or give an hour between 1 and 12.")
		}
		if r.pm && h < 12 {
			h += 12
		} else if !r.pm && h == 12 {
			h = 0
		}
	}
	year, mon, day := int64(0), int64(1), int64(1)
	switch {
	case has("year"):
		year = r.v["year"]
		if cc := r.v["cc"]; cc != 0 && r.yearDigits <= 2 {
			if r.bc {
				cc = -cc
			}
			if cc >= 0 {
				// +99 becomes the last year of its century.
				if year %= 100; year != 0 {
					year += (cc - 1) * 100
				} else {
					year = cc * 100
				}
			} else if year %= 100; true {
				year = (cc+1)*100 - year + 1
			}
		} else {
			if r.bc {
				year = -year
			}
			if year < 0 {
				year++ // 1 BC is the year 0
			}
		}
	case has("cc"):
		cc := r.v["cc"]
		if r.bc {
			cc = -cc
		}
		if cc >= 0 {
			year = (cc-1)*100 + 1
		} else {
			year = cc*100 + 1
		}
	}
	days, dayKnown := int64(0), false
	fromDays := func(d int64) {
		y, m, dd := types.CivilFromDays(d)
		year, mon, day = y, int64(m), int64(dd)
		days, dayKnown = d, true
	}
	ddd := r.v["ddd"]
	if has("j") {
		fromDays(r.v["j"] - julianOffset)
	}
	if ww := r.v["ww"]; ww != 0 {
		if r.iso {
			d := types.ISOWeekStart(year, int(ww))
			if wd := r.v["d"]; wd != 0 {
				d += (wd + 5) % 7
			}
			fromDays(d)
		} else {
			ddd = (ww-1)*7 + 1
		}
	}
	if w := r.v["w"]; w != 0 {
		r.v["dd"] = (w-1)*7 + 1
	}
	if dd := r.v["dd"]; dd != 0 {
		day = dd
	}
	if mm := r.v["mm"]; mm != 0 {
		mon = mm
	}
	if ddd != 0 && (mon <= 1 || day <= 1) && !dayKnown {
		if year == 0 && !r.bc {
			return out, errDateText("cannot calculate day of year without year information")
		}
		if r.iso {
			fromDays(types.ISOWeekStart(year, 1) + ddd - 1)
		} else {
			if ddd < 0 || ddd > 366 || ddd == 366 && !types.IsLeap(year) {
				return out, r.errRange()
			}
			fromDays(types.DaysFromCivil(year, 1, 1) + ddd - 1)
		}
	}
	if mon < 1 || mon > 12 || day < 1 || day > 31 || int(day) > types.DaysInMonth(year, int(mon)) {
		return out, r.errRange()
	}
	us := r.v["us"] + r.v["ms"]
	if h < 0 || h >= 24 || mi < 0 || mi >= 60 || ss < 0 || ss >= 60 || us < 0 || us >= 1e6 {
		return out, r.errRange()
	}
	days = types.DaysFromCivil(year, int(mon), int(day))
	if r.hasZone {
		th, tm := r.v["tzh"], r.v["tzm"]
		if th < 0 || th > 15 || tm < 0 || tm >= 60 {
			return out, sqlerr.New(sqlerr.InvalidTimeZone, "time zone displacement out of range: \"%s\"", r.text)
		}
		out.zoned, out.east = true, int(r.zoneSign*(th*3600+tm*60))
	}
	out.precision = r.precision
	out.days, out.micros = days, (h*3600+mi*60+ss)*1e6+us
	return out, nil
}
