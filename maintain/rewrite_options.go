package maintain

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// rewriteOptions are the options of rewrite_data_files and rewrite_position_delete_files, by
// Spark's names and with its defaults (Iceberg documentation, "Spark Procedures").
type rewriteOptions struct {
	target, min, max int64 // bytes of a file: wanted, and outside of which it is a candidate
	minInputFiles    int
	rewriteAll       bool
	maxGroup         int64   // bytes of the files of a group
	concurrent       int     // groups at a time
	deleteFiles      int     // so many delete files make a data file a candidate
	deleteRatio      float64 // so many of its rows deleted do
	maxFiles         int     // 0: no limit
	startingSeq      bool
	order            string // of the groups
	specID           int
	specGiven        bool
	dangling         bool // delete files without data files go
	partial          bool
	maxCommits       int
	maxFailed        int
}

// rewriteOnly are options of rewrite_data_files alone. Of delete files a partition is a group, and all of
// them are one commit.
var rewriteOnly = []string{"delete-file-threshold", "delete-ratio-threshold", "output-spec-id", "remove-dangling-deletes",
	"use-starting-sequence-number", "max-files-to-rewrite", "max-file-group-size-bytes", "max-concurrent-file-group-rewrites",
	"partial-progress.enabled", "partial-progress.max-commits", "partial-progress.max-failed-commits", "rewrite-job-order"}

// rewriteShared are the options that both procedures have.
var rewriteShared = []string{"target-file-size-bytes", "min-file-size-bytes", "max-file-size-bytes", "min-input-files", "rewrite-all"}

var jobOrders = []string{"none", "bytes-asc", "bytes-desc", "files-asc", "files-desc"}

// rewriteAll are the options with which every file that is chosen otherwise is rewritten.
var rewriteAll = map[string]string{"rewrite-all": "true"}

// dataFileOptions are those of a rewrite of data files.
func dataFileOptions(t *lake.Table, given map[string]string) (rewriteOptions, error) {
	return readRewriteOptions(t, given, "write.target-file-size-bytes", 512<<20, slices.Concat(rewriteShared, rewriteOnly))
}

// readRewriteOptions reads and checks options. sizeProperty is the table property that says how
// large files are to be, size its default.
func readRewriteOptions(t *lake.Table, given map[string]string, sizeProperty string, size int64, known []string) (rewriteOptions, error) {
	r := optionReader{given: given}
	r.known(known)
	if v, err := strconv.ParseInt(strings.TrimSpace(t.Properties()[sizeProperty]), 10, 64); err == nil && v > 0 {
		size = v
	}
	o := rewriteOptions{}
	o.target = r.number("target-file-size-bytes", size, 1, math.MaxInt64)
	o.min = r.number("min-file-size-bytes", int64(float64(o.target)*0.75), 0, math.MaxInt64)
	o.max = r.number("max-file-size-bytes", int64(float64(o.target)*1.8), 1, math.MaxInt64)
	if r.err == nil && o.target <= o.min {
		r.fail("target-file-size-bytes (%d) must be greater than min-file-size-bytes (%d): all new files would be too small", o.target, o.min)
	}
	if r.err == nil && o.target >= o.max {
		r.fail("target-file-size-bytes (%d) must be less than max-file-size-bytes (%d): all new files would be too large", o.target, o.max)
	}
	o.minInputFiles = int(r.number("min-input-files", 5, 1, math.MaxInt32))
	o.rewriteAll = r.boolean("rewrite-all", false)
	o.maxGroup = r.number("max-file-group-size-bytes", 100<<30, 1, math.MaxInt64)
	o.concurrent = int(r.number("max-concurrent-file-group-rewrites", 5, 1, math.MaxInt32))
	o.deleteFiles = int(r.number("delete-file-threshold", math.MaxInt32, 0, math.MaxInt32))
	o.deleteRatio = r.fraction("delete-ratio-threshold", 0.3)
	o.maxFiles = int(r.number("max-files-to-rewrite", 0, 1, math.MaxInt32))
	o.startingSeq = r.boolean("use-starting-sequence-number", true)
	o.order = r.among("rewrite-job-order", jobOrders)
	o.specID = t.DefaultSpec().ID
	if _, o.specGiven = given["output-spec-id"]; o.specGiven {
		o.specID = int(r.number("output-spec-id", 0, 0, math.MaxInt32))
		if r.err == nil && t.Spec(o.specID) == nil {
			r.fail("the table has no partition spec %d (output-spec-id)", o.specID)
		}
	}
	o.dangling = r.boolean("remove-dangling-deletes", true)
	o.partial = r.boolean("partial-progress.enabled", false)
	o.maxCommits = int(r.number("partial-progress.max-commits", 10, 1, math.MaxInt32))
	o.maxFailed = int(r.number("partial-progress.max-failed-commits", int64(o.maxCommits), 0, math.MaxInt32))
	return o, r.err
}

// optionReader reads options; the first error stays.
type optionReader struct {
	given map[string]string
	err   error
}

func (r *optionReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
	}
}

// known refuses options that are none.
func (r *optionReader) known(names []string) {
	for k := range r.given {
		if !slices.Contains(names, k) {
			names = slices.Sorted(slices.Values(names))
			r.fail("option %q is not known", k)
			r.err = r.err.(*sqlerr.Error).WithHint("Options are: %s.", strings.Join(names, ", "))
			return
		}
	}
}

func (r *optionReader) number(k string, or, least, most int64) int64 {
	v, ok := r.given[k]
	if !ok {
		return or
	}
	n, err := strconv.ParseInt(strings.TrimSpace(v), 10, 64)
	if err != nil || n < least || n > most {
		r.fail("option %s has the value %q: it is a number from %d", k, v, least)
		return or
	}
	return n
}

func (r *optionReader) fraction(k string, or float64) float64 {
	v, ok := r.given[k]
	if !ok {
		return or
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(v), 64)
	if err != nil || !(f > 0 && f <= 1) {
		r.fail("option %s has the value %q: it is greater than 0 and at most 1", k, v)
		return or
	}
	return f
}

func (r *optionReader) boolean(k string, or bool) bool {
	switch v, ok := r.given[k]; {
	case !ok:
		return or
	case strings.EqualFold(strings.TrimSpace(v), "true"):
		return true
	case strings.EqualFold(strings.TrimSpace(v), "false"):
		return false
	default:
		r.fail("option %s has the value %q: it is true or false", k, v)
		return or
	}
}

func (r *optionReader) among(k string, values []string) string {
	v, ok := r.given[k]
	if !ok {
		return values[0]
	}
	v = strings.ToLower(strings.TrimSpace(v))
	if !slices.Contains(values, v) {
		r.fail("option %s has the value %q: it is one of %s", k, v, strings.Join(values, ", "))
	}
	return v
}

// outputFiles is how many files of the target size a group of so many bytes becomes. What is left
// over is a file of its own if that is large enough, else spread over the others if they stay near
// the target.
func (o *rewriteOptions) outputFiles(bytes int64) int {
	if bytes < o.target {
		return 1
	}
	n, rest := bytes/o.target, bytes%o.target
	if rest == 0 || rest <= o.min && float64(bytes/n) < min(1.1*float64(o.target), float64(o.writeMax())) {
		return int(n)
	}
	return int(n + 1)
}

// writeMax is the size that a file may grow to before it ends: halfway between the target and what
// is too large, so that data that comes out a little larger than expected leaves no tiny last file.
func (o *rewriteOptions) writeMax() int64 { return o.target + (o.max-o.target)/2 }

// splitSize is the share of a group of so many bytes that makes one file.
func (o *rewriteOptions) splitSize(bytes int64) int64 {
	n := bytes/int64(o.outputFiles(bytes)) + 5<<10
	return min(max(n, o.target), o.writeMax())
}
