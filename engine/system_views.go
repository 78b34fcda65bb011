package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/lhsql/lhsql/engine/syscat"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// The schema system holds views of the server itself: what it is doing, and how its tables fare. They
// are virtual tables that this package answers; syscat's say what PostgreSQL and MySQL would.

// systemSchema is the name of their schema, by which procedures are called, too. The catalogs do not list
// it: tools would show it beside the users' schemas, and look at tables which read all others' files.
const systemSchema = "system"

// Procedures implements syscat.System.
func (h *host) Procedures() []syscat.Procedure {
	var out []syscat.Procedure
	for _, name := range callable() {
		p := procedures[name]
		d := syscat.Procedure{Name: name, Required: max(p.required, 1)}
		for _, k := range p.params {
			d.Params = append(d.Params, types.Field{Name: k, Type: types.T(paramKinds[k])})
		}
		out = append(out, d)
	}
	return out
}

// systemView is a table of the schema system; it implements plan.VirtualTable.
type systemView struct {
	session *Session
	name    string
	def     *systemViewDef
}

// systemViewDef is its shape and how its rows are made. equal are values that columns must have to be
// wanted, by position: a view that costs something to compute need not give other rows.
type systemViewDef struct {
	fields []types.Field
	rows   func(ctx context.Context, s *Session, equal map[int]types.Datum, yield func([]types.Datum) error) error
}

func systemFields(list ...any) []types.Field {
	var out []types.Field
	for i := 0; i < len(list); i += 2 {
		out = append(out, types.Field{Name: list[i].(string), Type: types.T(list[i+1].(types.Kind))})
	}
	return out
}

var systemViews = map[string]*systemViewDef{
	"jobs": {rows: jobRows, fields: systemFields(
		"id", types.Int8, "kind", types.Text, "table_name", types.Text, "user_name", types.Text, "pid", types.Int4, "state", types.Text, "phase", types.Text,
		"files_done", types.Int8, "files_total", types.Int8, "bytes_done", types.Int8, "bytes_total", types.Int8, "bytes_per_second", types.Int8,
		"started_at", types.TimestampTZ, "ended_at", types.TimestampTZ, "result", types.Text, "error", types.Text)},
	"table_health": {rows: healthRows, fields: systemFields(append(slices.Clone(tableColumns),
		"measure", types.Text, "value", types.Int8, "threshold", types.Int8, "advice", types.Text, "error", types.Text)...)},
	"caches": {rows: cacheRows, fields: systemFields("name", types.Text, "entries", types.Int8, "bytes", types.Int8, "max_bytes", types.Int8,
		"hits", types.Int8, "misses", types.Int8, "evictions", types.Int8)},
	"erasures": {rows: erasureRows, fields: systemFields(
		"seq", types.Int8, "id", types.Text, "status", types.Text, "pending", types.Text, "user_name", types.Text, "reason", types.Text,
		"started_at", types.TimestampTZ, "ended_at", types.TimestampTZ, "tables", types.Text, "column_name", types.Text,
		"snapshots_before", types.Text, "snapshots_after", types.Text, "snapshots_expired", types.Int8, "snapshots_rewritten", types.Int8, "rows_erased", types.Int8,
		"files_rewritten", types.Int8, "files_removed", types.Int8, "bytes_removed", types.Int8, "objects_decoded", types.Int8, "hits", types.Int8,
		"holds", types.Text, "value_hash", types.Text, "record", types.Text, "prev_hash", types.Text, "hash", types.Text)},
	"storage": {rows: storageRows, fields: systemFields(append(slices.Clone(tableColumns), "held_for", types.Text, "files", types.Int8, "bytes", types.Int8)...)},
}

// systemView finds a view of the schema system.
func (s *Session) systemView(schema, name string) (plan.VirtualTable, bool) {
	if schema != systemSchema {
		return nil, false
	}
	def := systemViews[strings.ToLower(name)]
	if def == nil {
		return nil, false
	}
	return &systemView{session: s, name: systemSchema + "." + strings.ToLower(name), def: def}, true
}

// Name implements plan.VirtualTable.
func (v *systemView) Name() string { return v.name }

// Fields implements plan.VirtualTable.
func (v *systemView) Fields() []types.Field { return v.def.fields }

// Rows implements plan.VirtualTable.
func (v *systemView) Rows(ctx context.Context, equal map[int]types.Datum, yield func([]types.Datum) error) error {
	return v.def.rows(ctx, v.session, equal, yield)
}

// textOrNull is NULL for the empty text; instantOrNull for the zero time.
func textOrNull(s string) types.Datum {
	if s == "" {
		return types.Null
	}
	return types.NewStr(s)
}

func instantOrNull(t time.Time) types.Datum {
	if t.IsZero() {
		return types.Null
	}
	return types.NewInt(t.UnixMicro())
}

// jobRows are the pieces of maintenance that run, and the last that ran.
func jobRows(ctx context.Context, s *Session, _ map[int]types.Datum, yield func([]types.Datum) error) error {
	now := time.Now()
	for _, j := range s.engine.jobs.States() {
		if sees, err := s.seesJob(ctx, j.Table, j.User); err != nil {
			return err
		} else if !sees {
			continue
		}
		problem := ""
		if j.Err != nil {
			problem = j.Err.Error()
		}
		err := yield([]types.Datum{types.NewInt(j.ID), types.NewStr(j.Kind), types.NewStr(j.Table), textOrNull(j.User), types.NewInt(int64(j.PID)),
			types.NewStr(j.State()), types.NewStr(j.Phase), types.NewInt(j.Files), types.NewInt(j.FilesTotal), types.NewInt(j.Bytes), types.NewInt(j.BytesTotal),
			types.NewInt(j.Rate(now)), instantOrNull(j.Started), instantOrNull(j.Ended), textOrNull(j.Description), textOrNull(problem)})
		if err != nil {
			return err
		}
	}
	return nil
}

// cacheRows are the caches of the server: what each holds, and how often it had what was wanted.
func cacheRows(_ context.Context, s *Session, _ map[int]types.Datum, yield func([]types.Datum) error) error {
	for _, c := range s.engine.caches() {
		st := c.Stats()
		row := []types.Datum{types.NewStr(st.Name)}
		for _, n := range []int64{st.Entries, st.Bytes, st.Max, st.Hits, st.Misses, st.Evictions} {
			row = append(row, types.NewInt(n))
		}
		if err := yield(row); err != nil {
			return err
		}
	}
	return nil
}
