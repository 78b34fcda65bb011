package timetravel

import (
	"context"
	"time"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// DataFiles reads what data and delete files hold, which this room cannot. It belongs to whoever
// runs the statement, whom its contexts tell. Safe for concurrent use.
type DataFiles interface {
	// ReadRows reads all rows of a snapshot in the given schema, whole rows in the schema's order. The
	// slice belongs to the reader when yield returns.
	ReadRows(ctx context.Context, t *lake.Table, s *lake.Snapshot, schema *lake.Schema, yield func([]types.Datum) error) error
	// ReadPositions reads the positions that a position delete file or deletion vector holds.
	ReadPositions(ctx context.Context, t *lake.Table, f *lake.DataFile, yield func(file string, pos int64) error) error
	// HoldRows is told of the memory that rows in hand take, and fails when there is no more.
	HoldRows(ctx context.Context, bytes int64) error
}

// RowHistory is the table of all row versions over spec's span, with the time that each was
// visible on main (or spec.Branch): valid_from, and valid_to, NULL while it is visible still.
//
//	snapshots   s1        s2          s3
//	            ─┬─────────┬───────────┬──────────▶ time
//	row (1,'a')  ├─────────┤                        valid_from s1, valid_to s2
//	row (1,'b')            ├───────────────────▶    valid_from s2, valid_to NULL
//
// A row that a commit rewrote into another file without changing it goes on. Rows are told
// apart by value in the table's present schema: of equal rows, the number is followed.
func RowHistory(t *lake.Table, spec Spec, files DataFiles) (VirtualTable, error) {
	schema := t.Schema()
	h := &rowHistory{table: t, spec: spec, schema: schema, files: files}
	for i := range schema.Fields {
		f := &schema.Fields[i]
		if bad := f.Unreadable(); bad != "" {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "column %s has the type %s, which cannot be read", f.Name, bad)
		}
		h.fields = append(h.fields, field(f.Name, f.Type))
	}
	h.fields = append(h.fields, field("valid_from", tTime), field("valid_to", tTime))
	return h, nil
}

type rowHistory struct {
	table  *lake.Table
	spec   Spec
	schema *lake.Schema
	files  DataFiles
	fields []types.Field
}

func (h *rowHistory) Name() string          { return h.table.Name.Table }
func (h *rowHistory) Fields() []types.Field { return h.fields }

// state is a snapshot and the instant from which it was a branch's state.
type state struct {
	from time.Time
	s    *lake.Snapshot
}

// states lists what the branch was, oldest first.
func (h *rowHistory) states() ([]state, error) {
	t := h.table
	var out []state
	if log := t.SnapshotLog(); (h.spec.Branch == "" || h.spec.Branch == "main") && len(log) > 0 {
		for _, l := range log {
			if s := t.SnapshotByID(l.SnapshotID); s != nil { // expired ones are history that is lost
				out = append(out, state{l.Time, s})
			}
		}
		return out, nil
	}
	head, _, err := find(t, Spec{Branch: h.spec.Branch})
	for s := head; s != nil; {
		out = append([]state{{s.Time, s}}, out...)
		if s.ParentID == nil {
			break
		}
		s = t.SnapshotByID(*s.ParentID)
	}
	return out, err
}

// rowVersions is the life of equal rows: since holds the start of each that is visible.
type rowVersions struct {
	row   []types.Datum
	since []time.Time
	seen  int
}

func (h *rowHistory) Rows(ctx context.Context, _ map[int]types.Datum, yield func([]types.Datum) error) error {
	states, err := h.states()
	if err != nil {
		return err
	}
	rowType := types.StructOf(h.fields[:len(h.fields)-2]...)
	live := map[string]*rowVersions{}
	var key []byte
	for _, st := range states {
		for _, v := range live {
			v.seen = 0
		}
		err := h.files.ReadRows(ctx, h.table, st.s, h.schema, func(row []types.Datum) error {
			key = types.AppendKey(key[:0], types.NewStruct(row), rowType)
			v := live[string(key)]
			if v == nil {
				// The key, its row, and the map's entry.
				if err := h.files.HoldRows(ctx, int64(2*len(key)+80*len(row)+200)); err != nil {
					return err
				}
				v = &rowVersions{row: append([]types.Datum(nil), row...)}
				live[string(key)] = v
			}
			if v.seen++; v.seen > len(v.since) {
				v.since = append(v.since, st.from)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for k, v := range live {
			// The youngest go first; which of equal rows a delete took cannot be told.
			for len(v.since) > v.seen {
				last := len(v.since) - 1
				if err := h.emit(v.row, v.since[last], st.from, yield); err != nil {
					return err
				}
				v.since = v.since[:last]
			}
			if v.seen == 0 {
				delete(live, k)
			}
		}
	}
	for _, v := range live {
		for _, from := range v.since {
			if err := h.emit(v.row, from, time.Time{}, yield); err != nil {
				return err
			}
		}
	}
	return nil
}

// after tells whether an instant lies after the span.
func (h *rowHistory) after(at time.Time) bool {
	switch h.spec.Range {
	case Between, ContainedIn:
		return at.After(h.spec.Upper)
	case FromTo:
		return !at.Before(h.spec.Upper)
	}
	return false
}

// emit yields a version if it was visible in the span (SQL:2011, "system-versioned tables").
func (h *rowHistory) emit(row []types.Datum, from, to time.Time, yield emit) error {
	if !h.visible(from, to) {
		return nil
	}
	out := append(append(make([]types.Datum, 0, len(row)+2), row...), types.NewInt(from.UnixMicro()), types.Null)
	if !to.IsZero() {
		out[len(out)-1] = types.NewInt(to.UnixMicro())
	}
	return yield(out)
}

func (h *rowHistory) visible(from, to time.Time) bool {
	open := to.IsZero()
	if h.after(from) {
		return false // it came after the span; states there were read for the ends of others
	}
	switch h.spec.Range {
	case Between, FromTo:
		return open || to.After(h.spec.Time)
	case ContainedIn:
		return !from.Before(h.spec.Time) && !open && !to.After(h.spec.Upper)
	}
	return true
}
