package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/timetravel"
	"github.com/lhsql/lhsql/types"
)

// Procedures that forget and remove. They act at once and for all: no transaction block can hold them
// back.

func int8Columns(names ...string) []ResultColumn {
	out := make([]ResultColumn, len(names))
	for i, n := range names {
		out[i] = ResultColumn{Name: n, Type: types.T(types.Int8)}
	}
	return out
}

var (
	expireSnapshotsProcedure = procedure{
		params: []string{"table", "older_than", "retain_last", "max_concurrent_deletes", "stream_results", "snapshot_ids", "clean_expired_metadata", "dry_run", "retention_threshold"},
		columns: int8Columns("deleted_data_files_count", "deleted_position_delete_files_count", "deleted_equality_delete_files_count",
			"deleted_manifest_files_count", "deleted_manifest_lists_count", "deleted_statistics_files_count"),
		immediate: true, run: (*Session).expireSnapshots,
	}
	removeOrphanFilesProcedure = procedure{
		params:    []string{"table", "older_than", "location", "dry_run", "max_concurrent_deletes", "prefix_mismatch_mode", "stream_results", "retention_threshold"},
		columns:   []ResultColumn{{Name: "orphan_file_location", Type: types.T(types.Text)}},
		immediate: true, run: (*Session).removeOrphanFiles,
	}
	rewriteManifestsProcedure = procedure{
		params:    []string{"table", "use_caching", "spec_id", "sort_by", "branch", "dry_run"},
		columns:   int8Columns("rewritten_manifests_count", "added_manifests_count"),
		immediate: true, run: (*Session).rewriteManifests,
	}
	// Trino's ALTER TABLE … EXECUTE optimize_manifests gives no rows.
	optimizeManifestsProcedure = procedure{params: []string{"table"}, immediate: true, run: (*Session).rewriteManifests}
)

// maintains runs a piece of maintenance on the procedure's table as a job.
func (s *Session) maintains(ctx context.Context, a *procedureArgs, run func(maintain.Target) (string, error)) error {
	t, err := a.table(ctx, s)
	if err != nil {
		return err
	}
	g := maintain.Target{Catalog: s.catalogOf(t.Name.Catalog), Table: t, User: s.opts.User}
	if a.result == nil { // EXPLAIN: nothing is done
		_, err := run(g)
		return err
	}
	g.Job = s.engine.jobs.Start(a.name, t.Name.String(), s.opts.User, s.pid, nil)
	if s.pace != nil {
		g.Job.Pace(func(bytes int64) { s.pace(ctx, bytes) })
	}
	dry, _ := a.flag("dry_run")
	if dry {
		g.Job.DryRun()
	}
	did, err := run(g)
	if dry {
		did = "dry run: " + did
	}
	if err != nil {
		did = ""
	}
	g.Job.End(did, err)
	s.moved(t.Name, nil)
	if err != nil {
		return definitionError(err) // the table may be gone by now
	}
	return nil
}

// expireSnapshots forgets snapshots and removes what only they held.
func (s *Session) expireSnapshots(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	var x maintain.Expire
	var err error
	if x.OlderThan, err = a.olderThan(ctx, s); err != nil {
		return nil, err
	}
	if a.given("retain_last") {
		n, err := a.count("retain_last")
		if err != nil {
			return nil, err
		}
		x.RetainLast = &n
	}
	if x.SnapshotIDs, err = a.ids("snapshot_ids"); err != nil {
		return nil, err
	}
	if x.CleanMetadata, err = a.flag("clean_expired_metadata"); err != nil {
		return nil, err
	}
	if x.Concurrent, x.DryRun, err = a.removal(); err != nil {
		return nil, err
	}
	var out maintain.Expired
	err = s.maintains(ctx, a, func(g maintain.Target) (string, error) {
		var err error
		out, err = maintain.ExpireSnapshots(ctx, g, x)
		return plural(len(out.Snapshots), "snapshot") + " expired, " + a.removed(&out.Removed), err
	})
	if err != nil {
		return nil, err
	}
	n := func(kinds ...lake.HeldKind) types.Datum {
		sum := int64(0)
		for _, k := range kinds {
			sum += out.Files[k]
		}
		return types.NewInt(sum)
	}
	return [][]types.Datum{{n(lake.HeldData), n(lake.HeldPositionDeletes, lake.HeldDeletionVectors), n(lake.HeldEqualityDeletes), n(lake.HeldManifest),
		n(lake.HeldManifestList), n(lake.HeldStatistics, lake.HeldPartitionStatistics)}}, nil
}

// removeOrphanFiles removes files that nothing holds.
func (s *Session) removeOrphanFiles(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	var o maintain.Orphans
	var err error
	if o.OlderThan, err = a.olderThan(ctx, s); err != nil {
		return nil, err
	}
	if a.given("location") {
		if o.Folder, err = a.text("location"); err != nil {
			return nil, err
		}
	}
	if a.given("prefix_mismatch_mode") {
		mode, err := a.text("prefix_mismatch_mode")
		if err != nil {
			return nil, err
		}
		m, ok := map[string]lake.MismatchMode{"ERROR": lake.MismatchError, "IGNORE": lake.MismatchIgnore, "DELETE": lake.MismatchDelete}[strings.ToUpper(mode)]
		if !ok {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid prefix_mismatch_mode %q", mode).WithHint("It is ERROR, IGNORE or DELETE.")
		}
		o.Mismatch = m
	}
	if o.Concurrent, o.DryRun, err = a.removal(); err != nil {
		return nil, err
	}
	var paths []string
	err = s.maintains(ctx, a, func(g maintain.Target) (string, error) {
		list, removed, err := maintain.RemoveOrphanFiles(ctx, g, o)
		paths = list
		return a.removed(&removed), err
	})
	if err != nil {
		return nil, err
	}
	rows := make([][]types.Datum, len(paths))
	for i, p := range paths {
		rows[i] = []types.Datum{types.NewStr(p)}
	}
	return rows, nil
}

// rewriteManifests clusters manifests by partition.
func (s *Session) rewriteManifests(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	how := lake.ManifestRewrite{Memory: s.engine.cfg.MemoryLimit / 8}
	var err error
	if a.given("spec_id") {
		n, err := a.count("spec_id")
		if err != nil {
			return nil, err
		}
		how.Spec = &n
	}
	if how.SortBy, err = a.list("sort_by"); err != nil {
		return nil, err
	}
	if a.given("branch") {
		if how.Branch, err = a.text("branch"); err != nil {
			return nil, err
		}
	}
	if _, err = a.flag("use_caching"); err != nil {
		return nil, err
	}
	if how.DryRun, err = a.flag("dry_run"); err != nil {
		return nil, err
	}
	var replaced, added int
	err = s.maintains(ctx, a, func(g maintain.Target) (string, error) {
		var err error
		replaced, added, err = maintain.RewriteManifests(ctx, g, how)
		return fmt.Sprintf("%s replaced by %d", plural(replaced, "manifest"), added), err
	})
	if err != nil || a.name == "optimize_manifests" {
		return nil, err
	}
	return [][]types.Datum{{types.NewInt(int64(replaced)), types.NewInt(int64(added))}}, nil
}

// removed words what was removed, and warns of what could not be.
func (a *procedureArgs) removed(r *maintain.Removed) string {
	n := int64(0)
	for _, k := range r.Files {
		n += k
	}
	if r.Failed > 0 {
		a.result.warn("01000", "%s could not be removed: %v", plural(int(r.Failed), "file"), r.Err)
	}
	return plural(int(n), "file") + " of " + strconv.FormatInt(r.Bytes, 10) + " bytes removed"
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// removal reads the arguments that all procedures have that remove files. What Spark streams is of no
// matter here: nothing is gathered at a driver.
func (a *procedureArgs) removal() (concurrent int, dry bool, err error) {
	if a.given("max_concurrent_deletes") {
		if concurrent, err = a.count("max_concurrent_deletes"); err != nil {
			return
		}
		if concurrent < 1 || concurrent > 1000 {
			return 0, false, sqlerr.New(sqlerr.InvalidParameterValue, "max_concurrent_deletes must be between 1 and 1000, not %d", concurrent)
		}
	}
	if _, err = a.flag("stream_results"); err != nil {
		return
	}
	dry, err = a.flag("dry_run")
	return
}

// olderThan is an instant (older_than, as Spark has it) or an age (retention_threshold, as Trino has
// it); nil if neither is given.
func (a *procedureArgs) olderThan(ctx context.Context, s *Session) (*time.Time, error) {
	switch {
	case a.given("older_than") && a.given("retention_threshold"):
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "procedure %q takes either older_than or retention_threshold", a.name)
	case a.given("older_than"):
		t, err := a.instant("older_than", s.zone())
		return &t, err
	case a.given("retention_threshold"):
		text, err := a.text("retention_threshold")
		if err != nil {
			return nil, err
		}
		d, ok := maintain.ParseAge(text)
		if !ok {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid duration %q", text).WithHint("Write a number and a unit, like 7d, 12h or 30m.")
		}
		t := lake.Now(ctx).Add(-d)
		return &t, nil
	}
	return nil, nil
}

// instant reads a required argument that is a timestamp, or a text that says one; without a zone it
// is in the given one.
func (a *procedureArgs) instant(k string, zone *time.Location) (time.Time, error) {
	text, err := a.text(k)
	if err != nil {
		return time.Time{}, err
	}
	if v := a.vals[k]; v.Typ.Kind == types.TimestampTZ {
		text = types.Format(v.Value, v.Typ, nil)
	}
	pin, err := timetravel.ParsePin(text, zone)
	if err != nil || pin.Time.IsZero() {
		return time.Time{}, sqlerr.New(sqlerr.InvalidDatetimeFormat, "invalid timestamp %q for %s", text, k)
	}
	return pin.Time, nil
}

// count reads a required argument that is a number of things.
func (a *procedureArgs) count(k string) (int, error) {
	n, err := a.number(k)
	if err == nil && (n < 0 || n > 1<<31-1) {
		err = sqlerr.New(sqlerr.InvalidParameterValue, "%s cannot be %d", k, n)
	}
	return int(n), err
}

// flag reads an argument that is true or false; false if it is not given.
func (a *procedureArgs) flag(k string) (bool, error) {
	if !a.given(k) {
		return false, nil
	}
	text, err := a.text(k)
	if err != nil {
		return false, err
	}
	d, err := types.Parse(text, types.T(types.Bool), nil)
	if err != nil {
		return false, err
	}
	return d.Bool(), nil
}

// list reads an argument that is an array, or a text of items between commas; nil if it is not given.
func (a *procedureArgs) list(k string) ([]string, error) {
	if !a.given(k) {
		return nil, nil
	}
	v := a.vals[k]
	if v.Typ.Kind == types.Array {
		var out []string
		for _, e := range v.Value.List() {
			if e.IsNull() {
				return nil, sqlerr.New(sqlerr.NullNotAllowed, "%s cannot hold NULL", k)
			}
			out = append(out, types.Format(e, v.Typ.Elem(), nil))
		}
		return out, nil
	}
	text, err := a.text(k)
	return strings.FieldsFunc(strings.Trim(text, "{}[]"), func(r rune) bool { return r == ',' || r == ' ' }), err
}

// ids reads an argument that is a list of snapshot ids.
func (a *procedureArgs) ids(k string) ([]int64, error) {
	if !a.given(k) {
		return nil, nil
	}
	words, err := a.list(k)
	if err != nil {
		return nil, err
	}
	var out []int64
	for _, w := range words {
		d, err := types.Parse(w, types.T(types.Int8), nil)
		if err != nil {
			return nil, err
		}
		out = append(out, d.Int())
	}
	return out, nil
}
