package types

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/cache"
)

// posixZone reads a POSIX rule, std offset [dst [offset] [,start,end]] (tzset(3)), as PostgreSQL
// does: std may be empty, names may have any length, offsets count west of Greenwich, and
// daylight saving time without dates follows the United States. canon is the rule in capitals.
// nil when s is no such rule.
func posixZone(s string) (loc *time.Location, canon string) {
	if len(s) == 0 || len(s) > 255 {
		return nil, ""
	}
	canon = strings.ToUpper(s)
	if l, ok := posixCache.Find(canon); ok {
		return l, canon
	}
	r := ruleReader{s: canon, ok: true}
	std := r.name()
	if r.s == "" {
		return nil, ""
	}
	west := r.offset()
	summer, footer := r.s != "", ""
	if summer {
		dst, off := r.name(), west-3600
		if r.s != "" && r.s[0] != ',' && r.s[0] != ';' {
			off = r.offset()
		}
		dates := ",M3.2.0,M11.1.0"
		if r.s != "" {
			dates = "," + r.date(",;") + "," + r.date(",")
		}
		r.ok = r.ok && r.s == "" && dst != ""
		footer = fmt.Sprintf("<%s>%s<%s>%s%s", std, ruleTime(west), dst, ruleTime(off), dates)
	}
	if !r.ok || strings.ContainsAny(std+footer, "\x00\n") {
		return nil, ""
	}
	if !summer {
		loc = time.FixedZone(std, -west)
	} else if loc, _ = madeZone(canon, []madeSpan{{-1 << 59, -west, std, false}}, footer); loc == nil {
		return nil, ""
	}
	if summer {
		posixRules.Put(loc, true, 32)
	}
	posixCache.Put(canon, loc, zoneBytes)
	return loc, canon
}

// zoneBytes is about what a zone takes.
const zoneBytes = 1024

var (
	// posixCache holds zones by their canonical rules, of which there is no end.
	posixCache = cache.Shared[string, *time.Location]("zones by rule", 1<<20)
	// posixRules are those of the rules that have daylight saving time. It remembers far more of them
	// than posixCache: a session may still have one in hand.
	posixRules = cache.Shared[*time.Location, bool]("rules of zones", 4<<20)
)

func isRule(l *time.Location) bool {
	_, ok := posixRules.Find(l)
	return ok
}

// ruleReader reads the parts of a POSIX rule from the front of s; ok is false once one failed.
type ruleReader struct {
	s  string
	ok bool
}

// name reads <text>, or all up to a digit, comma or sign.
func (r *ruleReader) name() string {
	if rest, ok := strings.CutPrefix(r.s, "<"); ok {
		text, rest, ok := strings.Cut(rest, ">")
		r.s, r.ok = rest, r.ok && ok
		return text
	}
	i := strings.IndexAny(r.s, "0123456789,+-")
	if i < 0 {
		i = len(r.s)
	}
	text := r.s[:i]
	r.s = r.s[i:]
	r.ok = r.ok && !strings.Contains(text, ">")
	return text
}

// number reads a decimal number between lo and hi.
func (r *ruleReader) number(lo, hi int) int {
	n := digitsLen(r.s)
	if n == 0 || n > 9 {
		r.ok = false
		return lo
	}
	v := int(atoi(r.s[:n]))
	r.s = r.s[n:]
	r.ok = r.ok && v >= lo && v <= hi
	return v
}

func (r *ruleReader) take(c byte) bool {
	if r.s == "" || r.s[0] != c {
		return false
	}
	r.s = r.s[1:]
	return true
}

// offset reads [+|-]hh[:mm[:ss]], up to a week, in seconds.
func (r *ruleReader) offset() int {
	neg := r.take('-')
	if !neg {
		r.take('+')
	}
	v := r.number(0, 24*7-1) * 3600
	if r.take(':') {
		v += r.number(0, 59) * 60
		if r.take(':') {
			v += r.number(0, 60)
		}
	}
	if neg {
		return -v
	}
	return v
}

// date reads one of seps, then Jn, n or Mm.w.d, and /time, and gives it as a rule's text.
func (r *ruleReader) date(seps string) string {
	if r.s == "" || !strings.Contains(seps, r.s[:1]) {
		r.ok = false
		return ""
	}
	r.s = r.s[1:]
	var out string
	switch {
	case r.take('J'):
		out = fmt.Sprintf("J%d", r.number(1, 365))
	case r.take('M'):
		m := r.number(1, 12)
		r.ok = r.take('.') && r.ok
		w := r.number(1, 5)
		r.ok = r.take('.') && r.ok
		out = fmt.Sprintf("M%d.%d.%d", m, w, r.number(0, 6))
	default:
		out = fmt.Sprint(r.number(0, 365))
	}
	at := 2 * 3600
	if r.take('/') {
		at = r.offset()
	}
	return out + "/" + ruleTime(at)
}

func ruleTime(seconds int) string {
	sign := ""
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, seconds/3600, seconds/60%60, seconds%60)
}

// madeSpan is a zone's displacement from an instant (seconds since the epoch) on.
type madeSpan struct {
	from   int64
	east   int
	abbrev string
	summer bool
}

// madeZone makes a zone of spans, the first of which also holds before it, and of a POSIX rule
// for the time from the last one on: the bytes of RFC 8536 are what package time takes.
func madeZone(name string, spans []madeSpan, footer string) (*time.Location, error) {
	var zones, abbrevs, index, times []byte
	at := map[madeSpan]byte{}
	for _, s := range spans {
		kind := madeSpan{east: s.east, abbrev: s.abbrev, summer: s.summer}
		i, ok := at[kind]
		if !ok {
			i = byte(len(at))
			at[kind] = i
			zones = binary.BigEndian.AppendUint32(zones, uint32(int32(s.east)))
			dst := byte(0)
			if s.summer {
				dst = 1
			}
			zones = append(zones, dst, byte(len(abbrevs)))
			abbrevs = append(append(abbrevs, s.abbrev...), 0)
		}
		index = append(index, i)
		times = binary.BigEndian.AppendUint64(times, uint64(s.from))
	}
	if len(at) > 255 || len(abbrevs) > 255 {
		return nil, fmt.Errorf("zone %s has too many kinds of time", name)
	}
	head := func(transitions, kinds, chars int) []byte {
		b := append([]byte("TZif2"), make([]byte, 15)...)
		for _, n := range []int{0, 0, 0, transitions, kinds, chars} {
			b = binary.BigEndian.AppendUint32(b, uint32(n))
		}
		return b
	}
	b := append(head(0, 1, 1), 0, 0, 0, 0, 0, 0, 0) // the part for 32-bit readers, with one kind
	b = append(b, head(len(spans), len(at), len(abbrevs))...)
	for _, part := range [][]byte{times, index, zones, abbrevs} {
		b = append(b, part...)
	}
	return time.LoadLocationFromTZData(name, append(b, "\n"+footer+"\n"...))
}
