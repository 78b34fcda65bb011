package maintain_test

// What other engines lost, kept for ever or brought back by maintenance, and the tests that lhsql does not.
//
//	failure                                                            source                          test
//	expiry removes files that an earlier, kept snapshot has            apache/iceberg#8255, #10982     TestExpireKeepsWhatOthersHold
//	expiry removes a file that was deleted and added again             apache/iceberg#13568            TestExpireKeepsWhatOthersHold
//	expiry guards main's head alone and drops branches and tags        seaweedfs#10774, iceberg-go#1842 TestExpireKeepsRefs
//	compaction is validated from the state at its commit: deleted      StarRocks#77709                 TestDeletesMeanwhile
//	  rows return, updated ones are there twice
//	compaction does not apply position deletes, vectors or             iceberg-go#2042                 TestRewriteAppliesEqualityDeletes, TestRewriteHistories;
//	  equality deletes                                                                                 testsql/maintain/deletes.sqlt
//	delete files dangle for ever behind rewritten data                 apache/iceberg#4127             TestRewriteAppliesEqualityDeletes
//	orphan removal takes statistics files                              trino#19965, amoro#1959         TestOrphans
//	orphan removal takes files of a sibling whose path begins alike    apache/iceberg#17448            TestOrphans
//	orphan removal takes files of tables in or around its folder       amoro#4292, apache/iceberg#12278 TestOrphansOfOthers
//	orphan removal takes files that are held under another scheme      apache/iceberg, prefix_mismatch TestOrphansUnderOtherSchemes
//	  or bucket                                                          _mode of remove_orphan_files
//	orphan removal takes files that are still being written            apache/iceberg, older_than      TestOrphans, TestOrphansBesideCommit
//	orphan removal takes what was committed while it listed            –                               TestOrphansBesideCommit
//	rewrites give rows new ids, or lose those of before an upgrade     Iceberg 1.10.0's own            TestRewriteHistories, TestKeptHistories;
//	                                                                     rewrite_manifests             testsql/maintain/lineage.sqlt, testsql/interop_write/maintained.py
//	next-row-id goes back                                              –                               TestKeptHistories
//	a table cannot be read after another's add_files                   manifests of format 1           lake's TestManifestOfFormat1
//	expiry or compaction that dies leaves a table without files        –                               TestDeathAtEachStep, TestKeptHistories

import (
	"context"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
)

// Files are held under whatever scheme of the store names them. Where the bucket is another, nobody can tell
// whether it is the same one by another name: orphan removal refuses, until it is told.
func TestOrphansUnderOtherSchemes(t *testing.T) {
	srv := &versionedBucket{}
	web := httptest.NewServer(srv)
	defer web.Close()
	h := &house{t: t, dir: t.TempDir(), ctx: context.Background()}
	h.serve(map[string]string{"type": "sql", "uri": "sqlite:///" + filepath.Join(h.dir, "catalog.db"), "warehouse": "s3://b/w",
		"s3.endpoint": web.URL, "s3.access-key-id": "k", "s3.secret-access-key": "s"})
	h.must("CREATE SCHEMA s")
	h.must("CREATE TABLE s.t (id int)")
	h.must("INSERT INTO s.t VALUES (1)")
	folder := strings.TrimPrefix(h.load("s.t").Location(), "s3://b/") + "/data/"
	put := func(name, held string) {
		srv.mu.Lock()
		srv.list = append(srv.list, version{folder + name, len(srv.list) + 1, []byte("PAR1"), false, time.Now()})
		srv.mu.Unlock()
		if held != "" {
			f := &lake.DataFile{Path: held + folder + name, Format: "parquet", RecordCount: 1, FileSize: 4}
			if _, err := h.catalog().Commit(h.ctx, h.load("s.t").Name, lake.Change{Add: []*lake.DataFile{f}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	there := func(name string) bool {
		srv.mu.Lock()
		defer srv.mu.Unlock()
		return srv.latest(folder+name) != nil
	}
	old := func() {
		srv.mu.Lock()
		defer srv.mu.Unlock()
		for i := range srv.list {
			srv.list[i].at = time.Now().Add(-10 * 24 * time.Hour)
		}
	}
	put("a.parquet", "s3a://b/")
	put("n.parquet", "s3n://b/")
	put("orphan.parquet", "")
	old()
	out := h.must("CALL system.remove_orphan_files('s.t')")
	if !there("a.parquet") || !there("n.parquet") || there("orphan.parquet") {
		t.Errorf("removed %v", out)
	}
	put("elsewhere.parquet", "s3://other/")
	old()
	if _, err := ask(h.ctx, h.s, "CALL system.remove_orphan_files('s.t')"); sqlerr.CodeOf(err) != sqlerr.ObjectNotInPrerequisite || !strings.Contains(fmt.Sprint(err), "another store or bucket") {
		t.Error(err)
	}
	if out := h.must("CALL system.remove_orphan_files('s.t', prefix_mismatch_mode => 'IGNORE')"); !there("elsewhere.parquet") {
		t.Errorf("removed %v", out)
	}
	if out := h.must("CALL system.remove_orphan_files('s.t', prefix_mismatch_mode => 'DELETE')"); there("elsewhere.parquet") || !there("a.parquet") {
		t.Errorf("removed %v", out)
	}
}
