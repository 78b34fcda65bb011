package parquet

import (
	"unicode/utf8"

	"github.com/lhsql/lhsql/lake"
)

// cutLower shortens a lower bound to at most width bytes, at a character's edge for text.
func cutLower(b []byte, width int, text bool) []byte {
	if len(b) <= width {
		return b
	}
	n := width
	for text && n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return append([]byte{}, b[:n]...)
}

// cutUpper shortens an upper bound and raises its end, so that it stays above the value; nil
// where that cannot be.
func cutUpper(b []byte, width int, text bool) []byte {
	if len(b) <= width {
		return b
	}
	low := cutLower(b, width, text)
	n := len(low)
	if text {
		n = utf8.RuneCount(low)
	}
	s, ok := lake.TruncateUpper(string(b), n, text)
	if !ok {
		return nil
	}
	return []byte(s)
}
