package engine

import (
	"context"
	"strings"
	"time"

	"github.com/lhsql/lhsql/exec"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// explainColumns is EXPLAIN's one column, or MySQL's twelve.
func explainColumns(n *ast.Explain) []ResultColumn {
	if n.Format == "traditional" {
		return traditionalColumns
	}
	return []ResultColumn{{Name: "QUERY PLAN", Type: explainType(n.Format)}}
}

// explain plans a query, with ANALYZE runs it to the end, and says what was decided.
func (s *Session) explain(ctx context.Context, n *ast.Explain, b *bind.Bound, args []types.Datum, r *Result) error {
	whole := b // which lists the tables
	if b.Inner != nil {
		b = b.Inner
	}
	if c, rel := calledIn(b); c != nil && procedureOf(c).explain != nil {
		return s.explainProcedure(ctx, n, c, rel, r)
	}
	if b.Plan == nil {
		row := make([]types.Datum, len(r.columns))
		row[len(row)-1] = types.NewStr(utilityStatement(n.Format))
		r.src = rowsSource(r.columns, [][]types.Datum{row})
		return nil
	}
	c := s.evalCtx(ctx)
	env := s.plannerEnv(ctx, c, args)
	on := func(name string, def bool) bool {
		v, ok := n.Options[name]
		if !ok {
			return def
		}
		x, ok := parseBoolSetting(v)
		return x || v == "" || !ok
	}
	var passes []string // the plans on the way, by line
	if on("passes", false) && n.Format == "text" {
		last := ""
		env.Trace = func(pass string, _, after plan.Node, _ time.Duration) {
			text := planner.ExplainText(after, planner.ExplainOptions{Verbose: n.Verbose})
			if text != last {
				passes = append(append(passes, "After "+pass+":"), strings.Split(strings.TrimRight(text, "\n"), "\n")...)
			}
			last = text
		}
	}
	node, err := s.planStatement(env, b.Plan)
	if err != nil {
		return err
	}
	o := planner.ExplainOptions{Verbose: n.Verbose, Costs: on("costs", true), Timing: on("timing", true)}
	if on("summary", n.Analyze) {
		o.Passes = env.Timings
	}
	if n.Analyze {
		x := s.execEnv(c)
		if x.Commit, err = s.analyzedCommit(n, whole, b.Stmt); err != nil {
			return err
		}
		x.Analyze = exec.NewAnalysis()
		start := time.Now()
		src, err := exec.Build(node, x)
		if err != nil {
			return err
		}
		for {
			batch, err := src.Next(ctx)
			if err != nil {
				src.Close()
				return err
			}
			if batch == nil {
				break
			}
		}
		if err := src.Close(); err != nil {
			return err
		}
		o.Analyze = analyzeInfo(node, x.Analyze, time.Since(start))
	}
	switch n.Format {
	case "traditional":
		r.src = rowsSource(r.columns, traditionalRows(node))
		return nil
	case "tree":
		r.src = rowsSource(r.columns, [][]types.Datum{{types.NewStr(planner.ExplainText(node, o))}})
		return nil
	case "", "text":
	default:
		text, err := planner.ExplainJSON(node, o)
		if err == nil && n.Format != "json" {
			text, err = explainAs(n.Format, text)
		}
		if err != nil {
			return err
		}
		r.src = rowsSource(r.columns, [][]types.Datum{{types.NewStr(text)}})
		return nil
	}
	if passes != nil {
		passes = append(passes, "")
	}
	var rows [][]types.Datum
	for _, l := range append(passes, strings.Split(strings.TrimRight(planner.ExplainText(node, o), "\n"), "\n")...) {
		rows = append(rows, []types.Datum{types.NewStr(l)})
	}
	r.src = rowsSource(r.columns, rows)
	return nil
}
