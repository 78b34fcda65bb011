package types

import (
	"strings"
	"time"
)

// TextOptions are the settings that text input and output depend on. A nil *TextOptions means
// PostgreSQL's defaults in UTC.
type TextOptions struct {
	// Stop, if set, is called now and then by what reads or writes long values; it panics when
	// nobody waits for them any more.
	Stop func()

	Zone             *time.Location // nil: UTC
	DateStyle        string         // "ISO, MDY" …; empty: that
	IntervalStyle    string         // "postgres", "postgres_verbose", "sql_standard", "iso_8601"
	ExtraFloatDigits int            // > 0: shortest exact; else 15 (6) + this many digits
	ByteaOutput      string         // "hex" or "escape"
	Now              time.Time      // for 'now', 'today' …; zero: the clock

	// ObjectName and ObjectOID name the objects behind regclass and its kin; nil: numbers only.
	ObjectName func(k Kind, oid uint32) (string, bool)
	ObjectOID  func(k Kind, name string) (uint32, bool)
}

var defaultOptions = TextOptions{ExtraFloatDigits: 1}

func (o *TextOptions) orDefault() *TextOptions {
	if o == nil {
		return &defaultOptions
	}
	return o
}

func (o *TextOptions) now() time.Time {
	if o.Now.IsZero() {
		return time.Now()
	}
	return o.Now
}

type dateFormat uint8

const (
	isoDates dateFormat = iota
	sqlDates
	postgresDates
	germanDates
)

type dateOrder uint8

const (
	orderMDY dateOrder = iota
	orderDMY
	orderYMD
)

// dateStyle reads "ISO, MDY" and the like.
func (o *TextOptions) dateStyle() (f dateFormat, ord dateOrder) {
	if o.DateStyle == "" || o.DateStyle == "ISO, MDY" {
		return isoDates, orderMDY
	}
	orderSet := false
	for _, w := range strings.FieldsFunc(strings.ToLower(o.DateStyle), func(r rune) bool { return r == ',' || r == ' ' }) {
		switch w {
		case "sql":
			f = sqlDates
		case "postgres":
			f = postgresDates
		case "german":
			f = germanDates
			if !orderSet {
				ord = orderDMY
			}
		case "ymd":
			ord, orderSet = orderYMD, true
		case "dmy", "euro", "european":
			ord, orderSet = orderDMY, true
		case "mdy", "us", "noneuro", "noneuropean":
			ord, orderSet = orderMDY, true
		}
	}
	return f, ord
}

// stop is o's Stop, nil where there is none.
func (o *TextOptions) stop() func() {
	if o == nil {
		return nil
	}
	return o.Stop
}
