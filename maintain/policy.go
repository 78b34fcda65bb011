package maintain

import (
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Policy is what is done for a table without being asked. The table says it by its properties:
//
//	lhsql.keep.compact            true: files, delete files and manifests are rewritten when system.table_health advises it
//	lhsql.keep.expire             true: snapshots are expired by the table's history.expire.… properties
//	lhsql.keep.orphans            true, or how often: files that nothing holds are looked for and removed
//	lhsql.keep.retention          rows are deleted from main when they are older
//	lhsql.keep.retention-column   by this column, a date or a timestamp
//
// What a table does not say, the server's defaults do; it has none for rows.
type Policy struct {
	Compact, Expire bool
	Orphans         time.Duration // how often; 0: never
	Retention       time.Duration // 0: for ever
	RetentionColumn string
}

// Any tells whether there is anything to do at all.
func (p Policy) Any() bool {
	return p.Compact || p.Expire || p.Orphans > 0 || p.Retention > 0
}

// defaultOrphansEvery is how often orphans are looked for where a table says only that they are.
const defaultOrphansEvery = 7 * 24 * time.Hour

// PolicyOf is a table's policy. A property that cannot be read is an error, and the table is left alone:
// nothing is removed on a guess.
func PolicyOf(t *lake.Table, defaults Policy) (Policy, error) {
	p := defaults
	p.Retention, p.RetentionColumn = 0, ""
	props := t.Properties()
	var bad error
	read := func(key string, set func(v string) bool) {
		v, ok := props["lhsql.keep."+key]
		if ok && !set(strings.TrimSpace(v)) && bad == nil {
			bad = sqlerr.New(sqlerr.InvalidParameterValue, "table %s has the property lhsql.keep.%s = %q, which means nothing", t.Name.Table, key, v)
		}
	}
	flag := func(to *bool) func(string) bool {
		return func(v string) (ok bool) { *to, ok = onOff(v); return ok }
	}
	read("compact", flag(&p.Compact))
	read("expire", flag(&p.Expire))
	read("orphans", func(v string) (ok bool) { p.Orphans, ok = ParseEvery(v, defaultOrphansEvery); return ok })
	read("retention", func(v string) (ok bool) { p.Retention, ok = ParseAge(v); return ok && p.Retention > 0 })
	read("retention-column", func(v string) bool { p.RetentionColumn = v; return v != "" })
	if bad == nil && (p.Retention > 0) != (p.RetentionColumn != "") {
		bad = sqlerr.New(sqlerr.InvalidParameterValue, "table %s needs both properties, lhsql.keep.retention and lhsql.keep.retention-column", t.Name.Table)
	}
	return p, bad
}

func onOff(v string) (on, ok bool) {
	switch strings.ToLower(v) {
	case "true", "on", "yes":
		return true, true
	case "false", "off", "no":
		return false, true
	}
	return false, false
}

// ParseEvery reads how often something is done: an age as ParseAge, on for every, or off for never, which
// is 0.
func ParseEvery(v string, every time.Duration) (time.Duration, bool) {
	if on, ok := onOff(v); ok {
		if !on {
			every = 0
		}
		return every, true
	}
	d, ok := ParseAge(v)
	return d, ok && d > 0
}

// ParseAge reads a length of time: a number with a unit, ns, us, ms, s, m (minutes), h or d.
func ParseAge(text string) (time.Duration, bool) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i <= 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(text[:i], 64)
	unit, ok := map[string]time.Duration{"ns": 1, "us": time.Microsecond, "ms": time.Millisecond, "s": time.Second,
		"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[strings.ToLower(strings.TrimSpace(text[i:]))]
	d := n * float64(unit)
	if err != nil || !ok || d > float64(1<<62) {
		return 0, false
	}
	return time.Duration(d), true
}
