// Package timetravel answers: which snapshot of a table does a statement read, and in which
// schema?
//
// In: a table and a Spec, which says what the statement, the table's name or the session asked
// for. Out: the snapshot with its schema, or a virtual table about the table itself (its
// snapshots, files, the history of its rows). It refuses to know SQL text, plans, and how rows
// are read.
package timetravel

import (
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Spec says which state of a table is wanted. The zero Spec is main's head. Comparable.
type Spec struct {
	// Branch is read at its head, or with Time at an instant of its history. A tag's name is
	// taken too.
	Branch string
	Tag    string
	// Ref is what a string after VERSION names: a branch or tag, else a snapshot id.
	Ref      string
	Snapshot int64
	// Version tells that Snapshot was given, for ids that no table has.
	Version bool
	// Time is the instant; with Range the lower end, Upper the upper.
	Time, Upper time.Time
	// Before asks for the state just before the instant or snapshot.
	Before bool
	Range  Range
}

// Range asks for the history of rows over a span of time.
type Range uint8

const (
	NoRange     Range = iota
	AllTime           // FOR SYSTEM_TIME ALL
	Between           // BETWEEN a AND b: closed at both ends
	FromTo            // FROM a TO b: open at the end
	ContainedIn       // CONTAINED IN (a, b): rows that came and went within
)

// Travels tells whether a state other than a branch's present is asked for: such cannot be written.
func (s Spec) Travels() bool {
	return s.Tag != "" || s.Ref != "" || s.Snapshot != 0 || s.Version || !s.Time.IsZero() || s.Before || s.Range != NoRange
}

// History tells whether the history of rows is asked for.
func (s Spec) History() bool { return s.Range != NoRange }

// BranchName is the branch that is read at its head; "" is main, or none if s travels.
func (s Spec) BranchName() string {
	if s.Travels() || s.Branch == "main" {
		return ""
	}
	return s.Branch
}

// ParsePin reads what stands after "@" in a name and in lhsql.as_of: an instant, a snapshot
// id, or a ref. An instant without a zone is in the given one.
func ParsePin(text string, zone *time.Location) (Spec, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return Spec{}, sqlerr.New(sqlerr.InvalidParameterValue, "an empty version was given").
			WithHint("Write an instant like 2026-08-01T00:00Z, a branch, a tag or a snapshot id.")
	}
	if t, ok := parseInstant(text, zone); ok {
		return Spec{Time: t}, nil
	}
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Spec{Ref: text}, nil
	}
	return Spec{Branch: text}, nil
}

// parseInstant takes ISO 8601 as people shorten it. A date is its first moment.
func parseInstant(text string, zone *time.Location) (time.Time, bool) {
	if len(text) < len("2006-01-02") || text[4] != '-' {
		return time.Time{}, false
	}
	if zone == nil {
		zone = time.UTC
	}
	text = strings.Replace(text, " ", "T", 1)
	text = strings.Replace(text, "t", "T", 1)
	text = strings.TrimSuffix(strings.TrimSuffix(text, " UTC"), " utc")
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05.999999999"} {
		for _, suffix := range []string{"Z07:00", "Z0700", "Z07", ""} {
			if t, err := time.ParseInLocation(layout+suffix, text, zone); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}
