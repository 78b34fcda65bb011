package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/scan"
)

// scanEnv is what the statement's scans run with.
func (s *Session) scanEnv(c *eval.Ctx, acct *exec.Account) scan.Env {
	return scan.Env{
		NewCtx: func(ctx context.Context) *eval.Ctx {
			own := *c
			own.Context = ctx
			return &own
		},
		Mem:       acct,
		Windows:   s.engine.cfg.MemoryLimit / 16 / int64(s.workers()),
		BatchRows: int(s.settings.int("lhsql.batch_rows")),
		NoPruning: !s.settings.bool("lhsql.pruning"),
		Footers:   s.engine.footers,
		Pages:     s.engine.pages,
	}
}

// analyzeInfo words what exec measured for EXPLAIN ANALYZE.
func analyzeInfo(root plan.Node, a *exec.Analysis, total time.Duration) *planner.AnalyzeInfo {
	info := &planner.AnalyzeInfo{Nodes: map[plan.Node]*planner.NodeStats{}, Total: total}
	plan.Walk(root, func(n plan.Node) {
		st, ok := a.Node(n)
		if !ok {
			return
		}
		ns := &planner.NodeStats{Rows: st.Rows, Batches: st.Batches, Time: st.Time, Memory: st.Memory, Spilled: st.Spilled}
		if st.Scan != nil {
			ns.Extra = scanLines(st.Scan)
		}
		if st.Write != nil {
			ns.Extra = writeLines(st.Write)
		}
		info.Nodes[n] = ns
	})
	return info
}

// writeLines say what a write left, and which rows waited for the others of their partition.
func writeLines(s *exec.WriteStats) []planner.ExtraLine {
	out := []planner.ExtraLine{{Name: "Data Files", Value: fmt.Sprintf("%d", s.DataFiles)}}
	if s.DeleteFiles > 0 {
		out = append(out, planner.ExtraLine{Name: "Delete Files", Value: fmt.Sprintf("%d", s.DeleteFiles)})
	}
	out = append(out, planner.ExtraLine{Name: "Bytes Written", Value: fmt.Sprintf("%d", s.Bytes)})
	if s.Gathered > 0 {
		out = append(out, planner.ExtraLine{Name: "Gathered", Value: fmt.Sprintf("%d rows of %d partitions", s.Gathered, s.Partitions)})
	}
	return out
}

// scanLines say what a scan read and skipped, at which level and why.
func scanLines(s *scan.ScanStats) []planner.ExtraLine {
	var out []planner.ExtraLine
	add := func(name, format string, args ...any) {
		out = append(out, planner.ExtraLine{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	if s.FilesSkipped > 0 {
		add("Files Skipped at Run Time", "%d of %d", s.FilesSkipped, s.FilesSkipped+s.Files)
	}
	skipped := s.RowGroupsByStats + s.RowGroupsByBloom + s.RowGroupsByFilter
	add("Row Groups", "%d/%d (statistics %d, bloom %d, run-time filters %d)", s.RowGroups-skipped, s.RowGroups,
		s.RowGroupsByStats, s.RowGroupsByBloom, s.RowGroupsByFilter)
	add("Pages", "%d read, %d skipped", s.PagesRead, s.PagesSkipped)
	if s.PagesCached > 0 {
		add("Pages Found Decompressed", "%d, dictionaries included", s.PagesCached)
	}
	add("Rows Skipped by Page Index", "%d of %d", s.RowsByIndex, s.Rows)
	add("Bytes Read", "%d, %d after decompression", s.BytesRead, s.BytesDecompressed)
	if s.DeleteFiles > 0 {
		add("Deletes", "%d files, %d rows by position, %d rows by equality", s.DeleteFiles, s.PositionDeleted, s.EqualityDeletes)
	}
	return out
}
