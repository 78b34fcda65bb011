package maintain

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/scan"
)

// verdict is what a table's objects say when all of them are decoded.
type verdict struct {
	decoded int64
	hits    int64 // objects that are to be erased still
	// What no step of an erasure reaches:
	young      int64     // orphans that may be of a write under way
	youngUntil time.Time // when the last of them is old enough
	other      int64     // data files with the value in other columns
	columns    []string
	unread     []string
	fixed      []string
}

// verifyTable decodes every object in a table's folders, and every content file that it holds
// elsewhere. Nothing that a search of before has found is believed.
func verifyTable(ctx context.Context, g Target, m *matcher, mem scan.Memory) (verdict, error) {
	var v verdict
	t := g.Table
	s := newSearching(m, t.FS(), mem)
	// What only the metadata's own fields say, beside the bytes.
	f := &findings{g: g, t: t, m: m, s: s, files: map[string]*heldFile{}, manifests: map[string]string{}, snapshots: map[int64]string{}, stats: map[int64][]string{}}
	if err := f.metadata(ctx); err != nil {
		return v, err
	}
	v.fixed = f.fixed
	type object struct {
		path     string
		held     bool
		partial  bool
		modified time.Time
	}
	var list []object
	limit := clock.Now(ctx).Add(-orphanGrace)
	var mu sync.Mutex
	var manifests int64
	look := func(o object) {
		h := s.object(ctx, o.path, -1, true, false)
		named := m.inPath(o.path)
		mu.Lock()
		defer mu.Unlock()
		if h.Gone {
			return
		}
		v.decoded++
		dead := o.partial && h.Err != nil // as findings.orphans have it
		switch {
		case !dead && h.Err != nil && (h.Kind != "text" || o.held):
			v.unread = append(v.unread, o.path)
		case !dead && !h.any() && !named && (h.Cut == "" || o.held):
		case !o.held && !o.modified.Before(limit):
			v.young++
			if until := o.modified.Add(orphanGrace); until.After(v.youngUntil) {
				v.youngUntil = until
			}
		case o.held && h.Kind == "parquet" && h.Values == 0 && !named:
			v.other++
			for _, w := range h.Where {
				w = w[strings.LastIndexByte(w, ' ')+1:]
				if !slices.Contains(v.columns, w) {
					v.columns = append(v.columns, w)
				}
			}
		case o.path == lake.Canonical(t.MetadataLocation) && len(v.fixed) > 0:
		case o.held && h.Kind == "avro" && !named:
			manifests++
		default:
			v.hits++
		}
	}
	// Some at a time: a table may have more objects than there is memory for their names.
	add := func(o object) error {
		if list = append(list, o); len(list) < eraseBatch {
			return nil
		}
		err := eachAtOnce(ctx, list, look)
		list = list[:0]
		return err
	}
	err := lake.Lying(ctx, g.Catalog, t, func(o lake.Object, held bool) error { return add(object{o.Path, held, o.Partial, o.Modified}) })
	if err != nil {
		return v, err
	}
	err = t.ReachAll(ctx, lake.Reach{}, func(h *lake.Held) error {
		if !h.Live() {
			return nil
		}
		if h.Entry != nil && (h.Entry.File.Encrypted || !slices.Contains([]string{"", "parquet", "puffin"}, h.Entry.File.Format)) {
			mu.Lock()
			v.unread = append(v.unread, strings.Clone(h.Path)) // values in it are not compared
			mu.Unlock()
		}
		if t.InFolders(h.Path) {
			return nil // it was listed
		}
		return add(object{strings.Clone(h.Path), true, false, time.Time{}})
	})
	if err == nil {
		err = eachAtOnce(ctx, list, look)
	}
	// Where other columns hold it, so do what manifests say of their files.
	if v.other == 0 {
		v.hits += manifests
	}
	slices.Sort(v.columns)
	slices.Sort(v.unread)
	v.unread = slices.Compact(v.unread)
	return v, err
}

// Verification is what a look at an erasure of before found.
type Verification struct {
	Table   string
	Decoded int64
	Hits    int64
	Problem string
}

// VerifyErasure decodes everything again, and checks the chain of evidence. values are given by the
// caller, since nobody has kept them, and must be those that were erased.
func VerifyErasure(ctx context.Context, env EraseEnv, id string, values []string, target func(lake.Name) (Target, error)) ([]Verification, error) {
	key, err := env.Ledger.key()
	if err != nil {
		return nil, err
	}
	wrong, err := env.Ledger.Check(ctx)
	if err != nil {
		return nil, err
	}
	var out []Verification
	for _, w := range wrong {
		out = append(out, Verification{Table: "evidence", Problem: w})
	}
	records, err := env.Ledger.Records(ctx)
	if err != nil {
		return nil, err
	}
	i := -1
	for k := range records {
		if records[k].ID == id {
			i = k
		}
	}
	if i < 0 {
		if len(out) > 0 {
			return out, nil
		}
		return nil, sqlerr.New(sqlerr.UndefinedObject, "there is no evidence of erasure %q", id)
	}
	r := &records[i]
	column := r.Column
	if valueHash(key, column, values) != r.Value {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "the value is not the one that erasure %s is of", id).
			WithHint("Evidence holds a keyed hash of it alone: give exactly the constants of the statement, in their order.")
	}
	if r.Status != EraseDone {
		out = append(out, Verification{Table: "evidence", Problem: "the erasure is " + r.Status + ": " + strings.Join(r.Pending, "; ")})
	}
	for _, t := range r.Tables {
		g, err := target(lake.Name{Namespace: t.Name[0], Table: t.Name[1]})
		if err != nil {
			return nil, err
		}
		x := Verification{Table: t.Table}
		if g.Table == nil {
			x.Problem = "the table does not exist any more"
			out = append(out, x)
			continue
		}
		if g.Table.UUID() != t.UUID {
			x.Problem = "it is another table by now"
		}
		m, err := newMatcher(g.Table, column, values)
		if err != nil {
			return nil, err
		}
		v, err := verifyTable(ctx, g, m, env.Exec.Scan.Mem)
		if err != nil {
			return nil, err
		}
		x.Decoded, x.Hits = v.decoded, v.hits+v.young+v.other+int64(len(v.fixed))
		if len(v.unread) > 0 {
			x.Problem = strings.Join(append([]string{x.Problem}, "some objects cannot be looked into: "+m.redact(v.unread[0])), "")
		}
		out = append(out, x)
	}
	return out, nil
}
