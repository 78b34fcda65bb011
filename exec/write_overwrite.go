package exec

import (
	"context"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// overwrite replaces partitions: with Static those that all its terms name, else those that the
// new files are in; the whole table where it is not partitioned.
func (w *write) overwrite(ctx context.Context, ch *lake.Change) error {
	n := w.node
	t := n.Target.Table
	ch.Kind = lake.OverwritePartitions
	if len(n.Static) == 0 {
		ch.Summary = map[string]string{"replace-partitions": "true"}
	}
	in, err := w.replaced(ch.Add)
	if err != nil {
		return err
	}
	ch.Conflicts = in
	manifests, err := t.Manifests(ctx, n.Target.Base)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		entries, err := t.Entries(ctx, m)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.Status != lake.Deleted && in(e.File) {
				ch.Remove = append(ch.Remove, e.File)
			}
		}
	}
	return nil
}

// replaced tells which files an INSERT OVERWRITE replaces.
func (w *write) replaced(added []*lake.DataFile) (func(*lake.DataFile) bool, error) {
	n := w.node
	spec := n.Target.Table.DefaultSpec()
	if len(n.Static) == 0 && (spec == nil || len(spec.Fields) == 0) {
		return func(*lake.DataFile) bool { return true }, nil
	}
	key := func(f *lake.DataFile) string {
		var k []byte
		for i, d := range f.Partition {
			if i < len(spec.Fields) && !d.IsNull() {
				k = types.AppendKey(append(k, 1), d, spec.Fields[i].Type)
			} else {
				k = append(k, 0)
			}
		}
		return string(k)
	}
	if len(n.Static) == 0 {
		keys := map[string]bool{}
		for _, f := range added {
			keys[key(f)] = true
		}
		return func(f *lake.DataFile) bool { return f.SpecID == spec.ID && keys[key(f)] }, nil
	}
	want := map[int]types.Datum{} // index in the spec → value
	for _, st := range n.Static {
		d, err := eval.EvalConst(w.env.evalCtx(), st.Value)
		if err != nil {
			return nil, err
		}
		found := false
		for i, f := range spec.Fields {
			if f.Transform.Kind == lake.Identity && len(f.SourceIDs) == 1 && f.SourceIDs[0] == st.FieldID {
				want[i], found = d, true
			}
		}
		if !found {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "PARTITION names a column that is not an identity partition of the table")
		}
	}
	return func(f *lake.DataFile) bool {
		if f.SpecID != spec.ID {
			return false
		}
		for i, d := range want {
			if i >= len(f.Partition) || f.Partition[i].IsNull() != d.IsNull() ||
				!d.IsNull() && types.Compare(f.Partition[i], d, spec.Fields[i].Type) != 0 {
				return false
			}
		}
		return true
	}, nil
}
