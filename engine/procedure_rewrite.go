package engine

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/planner"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/bind"
	"github.com/lhsql/lhsql/types"
)

// Procedures that rewrite files. They commit group by group, which no transaction block can hold back.

var (
	rewriteColumns = []ResultColumn{{Name: "rewritten_data_files_count", Type: types.T(types.Int4)}, {Name: "added_data_files_count", Type: types.T(types.Int4)},
		{Name: "rewritten_bytes_count", Type: types.T(types.Int8)}, {Name: "failed_data_files_count", Type: types.T(types.Int4)},
		{Name: "removed_delete_files_count", Type: types.T(types.Int4)}}

	rewriteDataFilesProcedure = procedure{
		params:  []string{"table", "strategy", "sort_order", "options", "where", "branch", "dry_run"},
		columns: rewriteColumns, immediate: true, where: true, run: (*Session).rewriteDataFiles, explain: (*Session).explainRewrite,
	}
	// optimizeProcedure is Trino's, and what OPTIMIZE t calls: files below a size, and those that
	// have deletes, become files of the table's size.
	optimizeProcedure = procedure{
		params:  []string{"table", "file_size_threshold", "strategy", "sort_order", "dry_run"},
		columns: rewriteColumns, immediate: true, where: true, run: (*Session).rewriteDataFiles, explain: (*Session).explainRewrite,
	}
	rewriteDeletesProcedure = procedure{
		params: []string{"table", "options", "where", "branch", "dry_run"},
		columns: []ResultColumn{{Name: "rewritten_delete_files_count", Type: types.T(types.Int4)}, {Name: "added_delete_files_count", Type: types.T(types.Int4)},
			{Name: "rewritten_bytes_count", Type: types.T(types.Int8)}, {Name: "added_bytes_count", Type: types.T(types.Int8)}},
		immediate: true, where: true, run: (*Session).rewriteDeletes, explain: (*Session).explainDeletes,
	}
)

// rewriteDataFiles compacts a table's data files.
func (s *Session) rewriteDataFiles(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	spec, err := s.rewriteSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	dry, err := a.flag("dry_run")
	if err != nil {
		return nil, err
	}
	var done maintain.RewriteResult
	err = s.rewriting(ctx, a, func(g maintain.Target, env maintain.RewriteEnv) (string, error) {
		p, err := maintain.PlanRewrite(ctx, g, env, spec)
		if err == nil && dry {
			done = p.Expected()
		} else if err == nil {
			done, err = p.Run(ctx, env)
		}
		return fmt.Sprintf("%d data files of %d bytes rewritten as %d, %d delete files removed, %d data files failed",
			done.Rewritten, done.Bytes, done.Added, done.RemovedDeletes, done.Failed), err
	})
	if err != nil {
		return nil, err
	}
	return [][]types.Datum{{types.NewInt(int64(done.Rewritten)), types.NewInt(int64(done.Added)), types.NewInt(done.Bytes),
		types.NewInt(int64(done.Failed)), types.NewInt(int64(done.RemovedDeletes))}}, nil
}

// optimize compacts a table as OPTIMIZE t does, and says what it did; "": there was nothing to do.
func (s *Session) optimize(ctx context.Context, table []string, r *Result) (string, error) {
	if err := s.mayWrite("OPTIMIZE TABLE"); err != nil {
		return "", err
	}
	if s.tx.block {
		return "", inBlock("OPTIMIZE TABLE")
	}
	rel, err := relations{s}.Relation(ctx, bind.TableRef{Parts: table, Write: true})
	if err != nil {
		return "", err
	}
	if rel.Table == nil {
		return "", sqlerr.New(sqlerr.WrongObjectType, "%q is not a table", rel.Name)
	}
	rows, err := s.rewriteDataFiles(ctx, &procedureArgs{name: "optimize", rel: rel, call: &bind.ProcedureCall{}, result: r})
	if err != nil || rows[0][0].Int()+rows[0][4].Int() == 0 {
		return "", err
	}
	return fmt.Sprintf("%d data files were rewritten as %d, %d delete files removed", rows[0][0].Int(), rows[0][1].Int(), rows[0][4].Int()), nil
}

// rewriteDeletes makes few position delete files of many, or deletion vectors.
func (s *Session) rewriteDeletes(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	spec, err := s.rewriteSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	dry, err := a.flag("dry_run")
	if err != nil {
		return nil, err
	}
	var done maintain.DeletesResult
	err = s.rewriting(ctx, a, func(g maintain.Target, env maintain.RewriteEnv) (string, error) {
		var err error
		done, err = maintain.RewritePositionDeletes(ctx, g, env, spec, dry)
		return fmt.Sprintf("%d delete files of %d bytes rewritten as %d of %d bytes", done.Rewritten, done.RewrittenBytes, done.Added, done.AddedBytes), err
	})
	if err != nil {
		return nil, err
	}
	return [][]types.Datum{{types.NewInt(int64(done.Rewritten)), types.NewInt(int64(done.Added)), types.NewInt(done.RewrittenBytes), types.NewInt(done.AddedBytes)}}, nil
}

// rewriting runs a rewrite of the procedure's table.
func (s *Session) rewriting(ctx context.Context, a *procedureArgs, run func(maintain.Target, maintain.RewriteEnv) (string, error)) error {
	return s.maintains(ctx, a, func(g maintain.Target) (string, error) { return run(g, s.rewriteEnv(ctx, a)) })
}

// rewriteEnv is how the queries of a rewrite are run: as those of any statement of the session.
func (s *Session) rewriteEnv(ctx context.Context, a *procedureArgs) maintain.RewriteEnv {
	c := s.evalCtx(ctx)
	env := maintain.RewriteEnv{Exec: s.execEnv(c), Planner: func(ctx context.Context) *planner.Env { return s.plannerEnv(ctx, c, nil) },
		Warn: func(sqlerr.Code, string, ...any) {}, PlanMemory: s.engine.cfg.MemoryLimit / 4}
	if a.result != nil {
		env.Warn = a.result.warn
	}
	return env
}

// rewriteSpec reads the arguments of a rewrite.
func (s *Session) rewriteSpec(ctx context.Context, a *procedureArgs) (maintain.RewriteSpec, error) {
	spec := maintain.RewriteSpec{Statement: "CALL " + a.name}
	rel, err := a.relation(ctx, s)
	if err != nil {
		return spec, err
	}
	spec.Branch = rel.Branch
	for k, to := range map[string]*string{"strategy": &spec.Strategy, "sort_order": &spec.SortOrder, "branch": &spec.Branch} {
		if !a.given(k) {
			continue
		}
		if *to, err = a.text(k); err != nil {
			return spec, err
		}
	}
	if spec.Branch == "main" {
		spec.Branch = ""
	}
	if spec.SortOrder != "" && spec.Strategy == "" {
		spec.Strategy = "sort"
	}
	if a.name == "optimize" {
		spec.Options, err = a.optimizeOptions(rel.Table)
	} else {
		spec.Options, err = a.options()
	}
	if err != nil {
		return spec, err
	}
	call := a.call
	if a.given("where") {
		if call.Where != nil {
			return spec, sqlerr.New(sqlerr.SyntaxError, "procedure %q has WHERE and the argument where", a.name)
		}
		if call, err = s.whereText(ctx, a, rel); err != nil {
			return spec, err
		}
	}
	if call != nil && call.Where != nil {
		spec.Where = &maintain.RewriteWhere{Scan: call.Scan, Pred: call.Where}
	}
	return spec, nil
}

// whereText reads the argument where: a predicate over the table's columns, in the session's dialect.
func (s *Session) whereText(ctx context.Context, a *procedureArgs, rel *bind.Relation) (*bind.ProcedureCall, error) {
	text, err := a.text("where")
	if err != nil {
		return nil, err
	}
	const before = "optimize t where "
	call, err := func() (*bind.ProcedureCall, error) {
		cost := parseCost(text)
		if err := s.Hold(cost); err != nil {
			return nil, err
		}
		defer s.Drop(cost)
		list, err := s.dialect.parse(before + text)
		if err != nil {
			return nil, err
		}
		var p *ast.Procedure
		if len(list) == 1 {
			p, _ = list[0].Stmt.(*ast.Procedure)
		}
		if p == nil || p.Where == nil || len(p.Args) != 1 || list[0].NumParams > 0 {
			return nil, sqlerr.New(sqlerr.SyntaxError, "it is no predicate")
		}
		return bind.ProcedureWhere(s.bindEnv(ctx, nil), list[0], rel)
	}()
	if err != nil {
		e, ok := sqlerr.As(err)
		if !ok {
			return nil, err
		}
		// Its position is one within the argument.
		return nil, sqlerr.New(e.Code, "in the argument where of procedure %q: %s", a.name, e.Message).WithHint("%s", e.Hint)
	}
	return call, nil
}

// optimizeOptions are the options that make a rewrite what Trino's optimize is.
func (a *procedureArgs) optimizeOptions(t *lake.Table) (map[string]string, error) {
	if a.given("sort_order") { // OPTIMIZE … ZORDER BY: what is in no order has to be read whole
		return map[string]string{"rewrite-all": "true"}, nil
	}
	limit := int64(100 << 20) // Trino's default
	if a.given("file_size_threshold") {
		text, err := a.text("file_size_threshold")
		if err != nil {
			return nil, err
		}
		var ok bool
		if limit, ok = parseSize(text); !ok {
			return nil, sqlerr.New(sqlerr.InvalidParameterValue, "invalid file_size_threshold %q", text).WithHint("Write a number and a unit, like 128MB.")
		}
	}
	target := int64(512 << 20)
	if n, err := strconv.ParseInt(strings.TrimSpace(t.Properties()["write.target-file-size-bytes"]), 10, 64); err == nil && n > 0 {
		target = n
	}
	if !a.given("file_size_threshold") {
		limit = min(limit, target/4*3)
	}
	target = max(target, limit+1)
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	return map[string]string{"target-file-size-bytes": n(target), "min-file-size-bytes": n(limit), "max-file-size-bytes": n(math.MaxInt64 / 2),
		"min-input-files": "2", "delete-file-threshold": "1"}, nil
}

// parseSize reads a size as Trino spells it: a number and B, kB, MB, GB or TB.
func parseSize(text string) (int64, bool) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i <= 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(text[:i], 64)
	unit, ok := map[string]float64{"B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40}[strings.ToUpper(strings.TrimSpace(text[i:]))]
	v := n * unit
	if err != nil || !ok || v < 1 || v > 1<<60 {
		return 0, false
	}
	return int64(v), true
}
