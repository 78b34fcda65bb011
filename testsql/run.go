package testsql

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// mode is a way to run a query that must not change its answer.
type mode struct {
	name string
	set  map[string]string
}

// Modes are the ways in which every query of a script runs again.
var modes = []mode{
	{"pruning off", map[string]string{"lhsql.pruning": "off"}},
	{"one row a batch", map[string]string{"lhsql.batch_rows": "1"}},
	{"three rows a batch", map[string]string{"lhsql.batch_rows": "3"}},
	{"other vectors", map[string]string{"lhsql.reencode": "on"}},
	{"one worker", map[string]string{"lhsql.workers": "1"}},
	{"eight workers", map[string]string{"lhsql.workers": "8"}},
	{"tiny memory", map[string]string{"lhsql.query_memory": "256kB"}},
	{"optimizer off", map[string]string{"lhsql.disable_passes": "all", "lhsql.runtime_filters": "off"}},
}

// answer is what a statement gave.
type answer struct {
	tag  string
	rows []string
	err  error
}

// ask runs one SQL text in a session, all its statements; the answer is the last one's.
func ask(ctx context.Context, s *engine.Session, sql string) answer {
	list, err := s.Parse(sql)
	if err != nil {
		return answer{err: err}
	}
	var a answer
	for _, p := range list {
		a = askOne(ctx, s, p)
		if a.err != nil {
			break
		}
	}
	if err := s.EndImplicit(ctx); err != nil && a.err == nil {
		a.err = err
	}
	return a
}

func askOne(ctx context.Context, s *engine.Session, p engine.Parsed) answer {
	st, err := s.Prepare(ctx, p, nil)
	if err != nil {
		return answer{err: err}
	}
	r, err := st.Execute(ctx, nil)
	if err != nil {
		return answer{err: err}
	}
	var a answer
	o := s.TextOptions()
	err = r.Each(ctx, func(row []types.Datum) error {
		cells := make([]string, len(row))
		for j, d := range row {
			if d.IsNull() {
				cells[j] = "NULL"
			} else if strings.HasSuffix(r.Columns()[j].Name, "_bytes_count") && d.Int() > 0 {
				cells[j] = "bytes" // how large files are is the writer's matter, and changes with it
			} else {
				cells[j] = cell(types.Format(d, r.Columns()[j].Type, o))
			}
		}
		a.rows = append(a.rows, strings.Join(cells, "|"))
		return nil
	})
	if err != nil {
		return answer{err: err}
	}
	a.tag = r.Tag()
	return a
}

// cell makes a value fit on a line of its own.
func cell(s string) string {
	if s == "" {
		return "(empty)"
	}
	return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(s)
}

var groupSize = regexp.MustCompile(`, [0-9.]+ [kMGT]?B$`)

// text is the answer in a script's form.
func (a answer) text(verb string, unordered bool) string {
	if a.err != nil {
		return errorText(a.err)
	}
	switch verb {
	case "exec":
		return a.tag
	}
	rows := a.rows
	if verb == "plan" { // how large files are is the writer's matter, and changes with it
		rows = slices.DeleteFunc(slices.Clone(rows), func(r string) bool {
			return strings.HasPrefix(strings.TrimSpace(r), "Bytes: ") || strings.HasPrefix(strings.TrimSpace(r), "Bytes Read: ")
		})
		for i, r := range rows {
			if strings.HasPrefix(strings.TrimSpace(r), "Group: ") {
				rows[i] = groupSize.ReplaceAllString(r, "")
			}
		}
	}
	if unordered {
		rows = append([]string(nil), rows...)
		sort.Strings(rows)
	}
	return strings.Join(rows, "\n")
}

func errorText(err error) string {
	e, ok := sqlerr.As(err)
	if !ok {
		return "XX000 " + err.Error()
	}
	s := fmt.Sprintf("%s %s", e.Code, e.Message)
	if e.Hint != "" {
		s += "\nhint: " + e.Hint
	}
	return s
}
