package eval

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// likeMatcher is a LIKE pattern made ready. Patterns without _ and escapes are substrings
// between %: they are looked for from left to right.
type likeMatcher struct {
	pattern string
	fold    bool // ILIKE
	bytes   bool // bytea: _ is a byte
	kind    likeKind
	parts   [][]byte // between the %
	whole   []byte   // the (folded) pattern
}

type likeKind uint8

const (
	likeGeneral likeKind = iota
	likeExact
	likePrefix   // abc%
	likeSuffix   // %abc
	likeContains // %abc%
	likeParts    // a%b%c
)

func newLike(pattern string, fold, binary bool) *likeMatcher {
	m := &likeMatcher{pattern: pattern, fold: fold, bytes: binary}
	if fold {
		m.whole = []byte(strings.ToLower(pattern))
	} else {
		m.whole = []byte(pattern)
	}
	if bytes.ContainsAny(m.whole, `_\`) {
		return m
	}
	m.parts = bytes.Split(m.whole, []byte("%"))
	n := len(m.parts)
	switch {
	case n == 1:
		m.kind = likeExact
	case n == 2 && len(m.parts[1]) == 0:
		m.kind = likePrefix
	case n == 2 && len(m.parts[0]) == 0:
		m.kind = likeSuffix
	case n == 3 && len(m.parts[0]) == 0 && len(m.parts[2]) == 0:
		m.kind = likeContains
	default:
		m.kind = likeParts
	}
	return m
}

func (m *likeMatcher) match(s []byte) (bool, error) {
	if m.fold {
		s = foldCase(s)
	}
	switch m.kind {
	case likeExact:
		return bytes.Equal(s, m.whole), nil
	case likePrefix:
		return bytes.HasPrefix(s, m.parts[0]), nil
	case likeSuffix:
		return bytes.HasSuffix(s, m.parts[1]), nil
	case likeContains:
		return bytes.Contains(s, m.parts[1]), nil
	case likeParts:
		return m.matchParts(s), nil
	}
	r, err := m.general(s, m.whole)
	return r == likeTrue, err
}

// foldCase lowers s; ASCII stays in place.
func foldCase(s []byte) []byte {
	for _, b := range s {
		if b >= utf8.RuneSelf {
			return []byte(strings.ToLower(string(s)))
		}
	}
	return bytes.ToLower(s)
}

// matchParts finds the inner parts from left to right: the leftmost find leaves most room.
func (m *likeMatcher) matchParts(s []byte) bool {
	first, last := m.parts[0], m.parts[len(m.parts)-1]
	if len(s) < len(first)+len(last) || !bytes.HasPrefix(s, first) || !bytes.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, p := range m.parts[1 : len(m.parts)-1] {
		i := bytes.Index(s, p)
		if i < 0 {
			return false
		}
		s = s[i+len(p):]
	}
	return true
}

// The outcomes of general: abort means that the text ran out, so that no longer start of a
// match further right can succeed either.
const (
	likeFalse = iota
	likeTrue
	likeAbort
)

func errLikeEscape() error {
	return sqlerr.New(sqlerr.InvalidEscape, "LIKE pattern must not end with escape character")
}

// general is PostgreSQL's MatchText (like_match.c).
func (m *likeMatcher) general(t, p []byte) (int, error) {
	if len(p) == 1 && p[0] == '%' {
		return likeTrue, nil
	}
	for len(t) > 0 && len(p) > 0 {
		switch p[0] {
		case '\\':
			p = p[1:]
			if len(p) == 0 {
				return 0, errLikeEscape()
			}
			if p[0] != t[0] {
				return likeFalse, nil
			}
			t, p = t[1:], p[1:]
		case '%':
			return m.percent(t, p[1:])
		case '_':
			t, p = m.skip(t), p[1:]
		default:
			if p[0] != t[0] {
				return likeFalse, nil
			}
			t, p = t[1:], p[1:]
		}
	}
	if len(t) > 0 {
		return likeFalse, nil
	}
	for len(p) > 0 && p[0] == '%' {
		p = p[1:]
	}
	if len(p) == 0 {
		return likeTrue, nil
	}
	return likeAbort, nil
}

// percent matches t against % followed by p.
func (m *likeMatcher) percent(t, p []byte) (int, error) {
	for len(p) > 0 && (p[0] == '%' || p[0] == '_') {
		if p[0] == '_' {
			if len(t) == 0 {
				return likeAbort, nil
			}
			t = m.skip(t)
		}
		p = p[1:]
	}
	if len(p) == 0 {
		return likeTrue, nil
	}
	first := p[0]
	if first == '\\' {
		if len(p) < 2 {
			return 0, errLikeEscape()
		}
		first = p[1]
	}
	for len(t) > 0 {
		if t[0] == first {
			r, err := m.general(t, p)
			if r != likeFalse || err != nil {
				return r, err
			}
		}
		t = m.skip(t)
	}
	return likeAbort, nil
}

// skip drops one character.
func (m *likeMatcher) skip(t []byte) []byte {
	if m.bytes || t[0] < utf8.RuneSelf {
		return t[1:]
	}
	_, n := utf8.DecodeRune(t)
	return t[n:]
}

// like gives a LIKE operator the kernel that keeps its pattern.
func (f Func) like(negate, fold bool) Func {
	f.fast.kernel = func(*plan.Call) Kernel { return likeKernel(negate, fold) }
	return f
}

func likeOnce(negate, fold bool) Kernel {
	return func(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		return likeKernel(negate, fold)(c, args, sel, n, out)
	}
}

func likeKernel(negate, fold bool) Kernel {
	var m *likeMatcher
	return func(_ *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
		o := OutBools(out, n)
		s, p := args[0], args[1]
		binary := s.Type.Kind == types.Bytea
		return EachRow(sel, n, func(i int) error {
			if b := p.Bytes(i); m == nil || m.pattern != string(b) {
				m = newLike(string(b), fold, binary)
			}
			r, err := m.match(s.Bytes(i))
			o[i] = r != negate
			return err
		})
	}
}

// likeEscape rewrites a pattern with another escape character (ESCAPE e) to use backslash; an
// empty e means that nothing escapes.
func likeEscape(pattern, e string) (string, error) {
	if utf8.RuneCountInString(e) > 1 {
		return "", sqlerr.New(sqlerr.InvalidEscape, "invalid escape string").
			WithHint("Escape string must be empty or one character.")
	}
	if e == `\` {
		return pattern, nil
	}
	var b room.Builder
	escaped := false
	for i := 0; i < len(pattern); {
		switch {
		case e != "" && strings.HasPrefix(pattern[i:], e) && !escaped:
			b.WriteByte('\\')
			escaped = true
			i += len(e)
			continue
		case pattern[i] == '\\' && !escaped:
			b.WriteString(`\\`)
		default:
			b.WriteByte(pattern[i])
		}
		escaped = false
		i++
	}
	return b.String(), nil
}

func registerKernelLike() {
	Register(
		Immutable("like_escape", Sig(types.Text, types.Text), TText, Try2(likeEscape)),
		Immutable("like_escape", Sig(types.Bytea, types.Bytea), TBytea, Try2(likeEscape)),
	)
}
