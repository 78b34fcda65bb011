package engine

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
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
		immediate: true, run: (*Session).expireSnapshots, explain: (*Session).explainExpire,
	}
	removeOrphanFilesProcedure = procedure{
		params:    []string{"table", "older_than", "location", "dry_run", "max_concurrent_deletes", "prefix_mismatch_mode", "stream_results", "retention_threshold"},
		columns:   []ResultColumn{{Name: "orphan_file_location", Type: types.T(types.Text)}},
		immediate: true, run: (*Session).removeOrphanFiles, explain: (*Session).explainOrphans,
	}
	rewriteManifestsProcedure = procedure{
		params:    []string{"table", "use_caching", "spec_id", "sort_by", "branch", "dry_run"},
		columns:   int8Columns("rewritten_manifests_count", "added_manifests_count"),
		immediate: true, run: (*Session).rewriteManifests, explain: (*Session).explainManifests,
	}
	// Trino's ALTER TABLE … EXECUTE optimize_manifests gives no rows.
	optimizeManifestsProcedure = procedure{params: []string{"table"}, immediate: true, run: (*Session).rewriteManifests, explain: (*Session).explainManifests}
)

// maintains runs a piece of maintenance on the procedure's table as a job.
func (s *Session) maintains(ctx context.Context, a *procedureArgs, run func(maintain.Target) (string, error)) error {
	t, err := a.table(ctx, s)
	if err != nil {
		return err
	}
	g := maintain.Target{Catalog: s.catalogOf(t.Name.Catalog), Table: t, User: s.opts.User}
	g.Job = s.engine.jobs.Start(a.name, t.Name.String(), s.opts.User, s.pid, s.progress())
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

// progress is who hears how far a job is: the client, if it wants to and its wire can say so.
func (s *Session) progress() func(maintain.JobState) {
	if s.opts.Tell == nil || !s.hears(sqlerr.New(sqlerr.SuccessfulCompletion, "")) {
		return nil
	}
	return func(j maintain.JobState) { s.opts.Tell(sqlerr.New(sqlerr.SuccessfulCompletion, "%s", j)) }
}

// expireSpec reads which snapshots are to go.
func (s *Session) expireSpec(ctx context.Context, a *procedureArgs) (x maintain.Expire, err error) {
	if x.OlderThan, err = a.olderThan(ctx, s); err != nil {
		return x, err
	}
	if a.given("retain_last") {
		n, err := a.count("retain_last")
		if err != nil {
			return x, err
		}
		x.RetainLast = &n
	}
	if x.SnapshotIDs, err = a.ids("snapshot_ids"); err != nil {
		return x, err
	}
	if x.CleanMetadata, err = a.flag("clean_expired_metadata"); err != nil {
		return x, err
	}
	x.Concurrent, x.DryRun, err = a.removal()
	return x, err
}

// expireSnapshots forgets snapshots and removes what only they held.
func (s *Session) expireSnapshots(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	x, err := s.expireSpec(ctx, a)
	if err != nil {
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

// orphansSpec reads which files are to be looked for.
func (s *Session) orphansSpec(ctx context.Context, a *procedureArgs) (o maintain.Orphans, err error) {
	if o.OlderThan, err = a.olderThan(ctx, s); err != nil {
		return o, err
	}
	if a.given("location") {
		if o.Folder, err = a.text("location"); err != nil {
			return o, err
		}
	}
	if a.given("prefix_mismatch_mode") {
		mode, err := a.text("prefix_mismatch_mode")
		if err != nil {
			return o, err
		}
		m, ok := map[string]lake.MismatchMode{"ERROR": lake.MismatchError, "IGNORE": lake.MismatchIgnore, "DELETE": lake.MismatchDelete}[strings.ToUpper(mode)]
		if !ok {
			return o, sqlerr.New(sqlerr.InvalidParameterValue, "invalid prefix_mismatch_mode %q", mode).WithHint("It is ERROR, IGNORE or DELETE.")
		}
		o.Mismatch = m
	}
	o.Concurrent, o.DryRun, err = a.removal()
	return o, err
}

// removeOrphanFiles removes files that nothing holds.
func (s *Session) removeOrphanFiles(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	o, err := s.orphansSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	var paths []string
	err = s.maintains(ctx, a, func(g maintain.Target) (string, error) {
		if err := s.elsewhere(ctx, g.Table); err != nil {
			return "", err
		}
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

// manifestsSpec reads how manifests are to be written anew.
func (s *Session) manifestsSpec(a *procedureArgs) (how lake.ManifestRewrite, err error) {
	how.Memory = s.engine.cfg.MemoryLimit / 8
	if a.given("spec_id") {
		n, err := a.count("spec_id")
		if err != nil {
			return how, err
		}
		how.Spec = &n
	}
	if how.SortBy, err = a.list("sort_by"); err != nil {
		return how, err
	}
	if a.given("branch") {
		if how.Branch, err = a.text("branch"); err != nil {
			return how, err
		}
	}
	if _, err = a.flag("use_caching"); err != nil {
		return how, err
	}
	how.DryRun, err = a.flag("dry_run")
	return how, err
}

// rewriteManifests clusters manifests by partition.
func (s *Session) rewriteManifests(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	how, err := s.manifestsSpec(a)
	if err != nil {
		return nil, err
	}
	var done maintain.ManifestsResult
	err = s.maintains(ctx, a, func(g maintain.Target) (string, error) {
		var err error
		done, err = maintain.RewriteManifests(ctx, g, how)
		return fmt.Sprintf("%s replaced by %d", plural(done.Replaced, "manifest"), done.Added), err
	})
	if err != nil || a.name == "optimize_manifests" {
		return nil, err
	}
	return [][]types.Datum{{types.NewInt(int64(done.Replaced)), types.NewInt(int64(done.Added))}}, nil
}

// removed words what was removed, and warns of what could not be.
func (a *procedureArgs) removed(r *maintain.Removed) string {
	if r.Failed > 0 {
		a.result.warn("01000", "%s could not be removed: %v", plural(int(r.Failed), "file"), r.Err)
	}
	return plural(int(r.Count()), "file") + " of " + strconv.FormatInt(r.Bytes, 10) + " bytes removed"
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}
