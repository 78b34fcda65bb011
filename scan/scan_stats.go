package scan

import "sync/atomic"

// ScanStats is what a scan did so far, for EXPLAIN ANALYZE.
type ScanStats struct {
	Files, FilesSkipped              int64 // data files; skipped by run-time filters
	DeleteFiles                      int64
	RowGroups                        int64 // of the files opened
	RowGroupsByStats                 int64 // skipped by statistics
	RowGroupsByBloom                 int64 // skipped by Bloom filters
	RowGroupsByFilter                int64 // skipped by run-time filters
	Rows                             int64 // of the row groups read
	RowsByIndex                      int64 // of Rows, skipped by page indexes
	RowsOut                          int64
	PagesRead, PagesSkipped          int64
	PagesCached                      int64 // that the cache had decompressed, dictionaries included
	BytesRead, BytesDecompressed     int64
	PositionDeleted, EqualityDeletes int64 // rows that deletes took out
}

type counters struct {
	files, filesSkipped, deleteFiles      atomic.Int64
	rowGroups, byStats, byBloom, byFilter atomic.Int64
	rows, rowsByIndex, rowsOut            atomic.Int64
	positionDeleted, equalityDeleted      atomic.Int64
}

// Stats may be asked at any time, also after the sources are closed.
func (s *Scanner) Stats() ScanStats {
	c := &s.count
	return ScanStats{
		Files: c.files.Load(), FilesSkipped: c.filesSkipped.Load(), DeleteFiles: c.deleteFiles.Load(),
		RowGroups: c.rowGroups.Load(), RowGroupsByStats: c.byStats.Load(),
		RowGroupsByBloom: c.byBloom.Load(), RowGroupsByFilter: c.byFilter.Load(),
		Rows: c.rows.Load(), RowsByIndex: c.rowsByIndex.Load(), RowsOut: c.rowsOut.Load(),
		PagesRead: s.io.PagesRead.Load(), PagesSkipped: s.io.PagesSkipped.Load(), PagesCached: s.io.PagesCached.Load(),
		BytesRead: s.io.BytesRead.Load(), BytesDecompressed: s.io.Decompressed.Load(),
		PositionDeleted: c.positionDeleted.Load(), EqualityDeletes: c.equalityDeleted.Load(),
	}
}
