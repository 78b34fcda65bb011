package pgfunc

import (
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
	"unsafe"

	"github.com/lhsql/lhsql/vec"
)

// The templates of to_char and its like are cut into nodes, as formatting.c does: keywords, the
// longest first, separators, and everything else as literal characters.

// formatNode is one part of a template.
type formatNode struct {
	key     string // the keyword as the table spells it; "" for text
	text    string // a literal character, or the keyword as written
	sep     bool   // text is a separator or a space (to_date skips them leniently)
	fill    bool   // FM before it
	local   bool   // TM before it: names are not padded
	ordinal string // TH or th behind it
}

var dateKeys = formatKeys(`A.D. A.M. AD AM B.C. BC CC DAY DDD DD DY Day Dy D FF1 FF2 FF3 FF4 FF5 FF6 FX HH24 HH12 HH
	IDDD ID IW IYYY IYY IY I J MI MM MONTH MON MS Month Mon OF P.M. PM Q RM SSSSS SSSS SS TZH TZM TZ US WW W
	Y,YYY YYYY YYY YY Y a.d. a.m. ad am b.c. bc cc day ddd dd dy d ff1 ff2 ff3 ff4 ff5 ff6 fx hh24 hh12 hh
	iddd id iw iyyy iyy iy i j mi mm month mon ms of p.m. pm q rm sssss ssss ss tzh tzm tz us ww w
	y,yyy yyyy yyy yy y`)

var numberKeys = formatKeys(`, . 0 9 B D EEEE FM G L MI PL PR RN SG SP S TH V b d eeee fm g l mi pl pr rn sg sp s th v`)

func formatKeys(s string) []string {
	keys := strings.Fields(s)
	sort.SliceStable(keys, func(a, b int) bool { return len(keys[a]) > len(keys[b]) })
	return keys
}

// templates keeps the templates cut last: a query formats a million rows by one of them.
type templates struct {
	keys  []string
	dates bool
	mu    sync.RWMutex
	cut   map[string][]formatNode
}

var (
	dateTemplates   = &templates{keys: dateKeys, dates: true}
	numberTemplates = &templates{keys: numberKeys}
)

// Longer templates, and those of a query that makes one for each row, are not worth keeping.
const (
	maxTemplates   = 128
	maxTemplateLen = 128
)

// nodes are a template's nodes, which nobody may change.
func (t *templates) nodes(template string) []formatNode {
	t.mu.RLock()
	nodes, ok := t.cut[template]
	t.mu.RUnlock()
	if ok {
		return nodes
	}
	if len(template) > maxTemplateLen {
		return parseTemplate(template, t.keys, t.dates)
	}
	template = strings.Clone(template) // the caller's lies in a vector that will be used again
	nodes = parseTemplate(template, t.keys, t.dates)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cut == nil || len(t.cut) >= maxTemplates {
		t.cut = map[string][]formatNode{}
	}
	t.cut[template] = nodes
	return nodes
}

// parseTemplate cuts a template. dates: FM, TM and TH are marks on keywords, not keywords.
func parseTemplate(s string, keys []string, dates bool) []formatNode {
	vec.MustFit(len(s) * int(unsafe.Sizeof(formatNode{}))) // at worst a node for each byte
	var out []formatNode
	fill, local := false, false
	for s != "" {
		if dates {
			if rest, ok := cutAny(s, "FM", "fm"); ok {
				s, fill = rest, true
			} else if rest, ok := cutAny(s, "TM", "tm"); ok {
				s, local = rest, true
			}
		}
		if key := keyAt(s, keys); key != "" {
			n := formatNode{key: key, text: key, fill: fill, local: local}
			s = s[len(key):]
			fill, local = false, false
			if dates {
				if strings.HasPrefix(s, "TH") || strings.HasPrefix(s, "th") {
					n.ordinal, s = s[:2], s[2:]
				} else if rest, ok := cutAny(s, "SP"); ok {
					s = rest
				}
			}
			out = append(out, n)
			continue
		}
		if s == "" {
			break
		}
		if s[0] == '"' {
			s = s[1:]
			for s != "" && s[0] != '"' {
				if s[0] == '\\' && len(s) > 1 {
					s = s[1:]
				}
				_, w := utf8.DecodeRuneInString(s)
				out = append(out, formatNode{text: s[:w]})
				s = s[w:]
			}
			if s != "" {
				s = s[1:]
			}
			continue
		}
		// A backslash makes a double quote plain; before anything else it is itself.
		if strings.HasPrefix(s, `\"`) {
			s = s[1:]
			out = append(out, formatNode{text: `"`})
			s = s[1:]
			continue
		}
		_, w := utf8.DecodeRuneInString(s)
		out = append(out, formatNode{text: s[:w], sep: dates && (isSeparator(s[0]) || isSpaceByte(s[0]))})
		s = s[w:]
	}
	return out
}

func cutAny(s string, prefixes ...string) (string, bool) {
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(s, p); ok {
			return rest, true
		}
	}
	return s, false
}

func keyAt(s string, keys []string) string {
	for _, k := range keys {
		if strings.HasPrefix(s, k) {
			return k
		}
	}
	return ""
}

func isSpaceByte(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// isSeparator: printable ASCII that is neither letter nor digit.
func isSeparator(c byte) bool {
	return c > 0x20 && c < 0x7f && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9')
}

// ordinal is the English ending of a number: 1st, 2nd, 11th.
func ordinal(digits, th string) string {
	if th == "" || digits == "" {
		return digits
	}
	end := "th"
	last := digits[len(digits)-1]
	if len(digits) < 2 || digits[len(digits)-2] != '1' {
		switch last {
		case '1':
			end = "st"
		case '2':
			end = "nd"
		case '3':
			end = "rd"
		}
	}
	if th == "TH" {
		end = strings.ToUpper(end)
	}
	return digits + end
}
