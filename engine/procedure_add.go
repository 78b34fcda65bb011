package engine

import (
	"context"
	"fmt"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/maintain"
	"github.com/lhsql/lhsql/types"
)

// The procedure that makes files which lie somewhere the data files of a table.

var addFilesProcedure = procedure{
	params:   []string{"table", "source_table", "partition_filter", "check_duplicate_files", "parallelism", "dry_run"},
	required: 2, columns: int8Columns("added_files_count", "changed_partition_count"),
	immediate: true, run: (*Session).addFiles, explain: (*Session).explainAdd,
}

// addSpec reads which files are to be added.
func (s *Session) addSpec(ctx context.Context, a *procedureArgs) (f maintain.AddFiles, err error) {
	rel, err := a.relation(ctx, s)
	if err != nil {
		return f, err
	}
	f.Branch = rel.Branch
	text, err := a.text("source_table")
	if err != nil {
		return f, err
	}
	if f.Source, err = sourcePath(text); err != nil {
		return f, err
	}
	if f.Partition, err = a.texts("partition_filter", "column", "map('column', 'value', …)"); err != nil {
		return f, err
	}
	if a.given("check_duplicate_files") {
		check, err := a.flag("check_duplicate_files")
		if err != nil {
			return f, err
		}
		f.Duplicate = !check
	}
	if a.given("parallelism") {
		if f.Parallel, err = a.count("parallelism"); err != nil {
			return f, err
		}
		if f.Parallel < 1 || f.Parallel > 1000 {
			return f, sqlerr.New(sqlerr.InvalidParameterValue, "parallelism must be between 1 and 1000, not %d", f.Parallel)
		}
	}
	if f.DryRun, err = a.flag("dry_run"); err != nil {
		return f, err
	}
	if account := s.execEnv(s.evalCtx(ctx)).Account; account != nil {
		f.Mem = account
	}
	return f, nil
}

// addFiles registers Parquet files with a table.
func (s *Session) addFiles(ctx context.Context, a *procedureArgs) ([][]types.Datum, error) {
	f, err := s.addSpec(ctx, a)
	if err != nil {
		return nil, err
	}
	var out maintain.AddedFiles
	err = s.maintains(ctx, a, func(g maintain.Target) (string, error) {
		var err error
		out, err = maintain.AddParquetFiles(ctx, g, f)
		return fmt.Sprintf("%s added to %s", plural(int(out.Files), "file"), plural(len(out.Groups), "partition")), err
	})
	if err != nil {
		return nil, err
	}
	return [][]types.Datum{{types.NewInt(out.Files), types.NewInt(int64(len(out.Groups)))}}, nil
}

// sourcePath reads where files lie: a path, or as Spark writes it a format and a path, `parquet`.`/path`.
func sourcePath(text string) (string, error) {
	path := text
	if format, rest, ok := strings.Cut(text, "."); ok {
		bare := func(s string) string {
			if len(s) > 1 && (s[0] == '`' || s[0] == '"') && s[len(s)-1] == s[0] {
				return s[1 : len(s)-1]
			}
			return s
		}
		switch f := strings.ToLower(bare(format)); f {
		case "parquet":
			path = bare(rest)
		case "orc", "avro":
			return "", sqlerr.New(sqlerr.FeatureNotSupported, "files in %s cannot be added", f)
		}
	}
	if !strings.HasPrefix(path, "/") && !strings.Contains(path, ":/") {
		return "", sqlerr.New(sqlerr.InvalidParameterValue, "source_table %q is no path", text).
			WithHint("Write the absolute path of a file or folder, or `parquet`.`/path` as Spark does.")
	}
	return path, nil
}
