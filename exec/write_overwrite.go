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
	ch.Conflicts = func(f *lake.DataFile) bool { return in(f) != noneOf }
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
			if e.Status == lake.Deleted {
				continue
			}
			switch v := in(e.File); {
			case v == allOf:
				ch.Remove = append(ch.Remove, e.File)
			case v == someOf && e.File.Content == lake.Data:
				// As Spark has it: what is deleted is files, and not rows of them.
				return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "INSERT OVERWRITE cannot replace the partition: a file that was written before the table was partitioned so may hold rows of other partitions, too").
					WithDetail("The file is %s.", e.File.Path).
					WithHint("DELETE the partition's rows first, then INSERT.")
			}
		}
	}
	return nil
}

// extent is how much of a file is replaced.
type extent uint8

const (
	noneOf extent = iota
	someOf        // or it is not known
	allOf
)

// replaced tells how much of a file an INSERT OVERWRITE replaces. The partitions that new files are
// in are those of the table's spec alone; columns with values are looked for in files of every spec.
func (w *write) replaced(added []*lake.DataFile) (func(*lake.DataFile) extent, error) {
	n := w.node
	spec := n.Target.Table.DefaultSpec()
	if len(n.Static) == 0 && (spec == nil || len(spec.Fields) == 0) {
		return func(*lake.DataFile) extent { return allOf }, nil
	}
	if len(n.Static) > 0 {
		return w.replacedStatic(spec)
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
	keys := map[string]bool{}
	for _, f := range added {
		keys[key(f)] = true
	}
	return func(f *lake.DataFile) extent {
		if f.SpecID == spec.ID && keys[key(f)] {
			return allOf
		}
		return noneOf
	}, nil
}

// fixedColumn is a column that PARTITION gives a value.
type fixedColumn struct {
	field *lake.Field
	value types.Datum
}

func (w *write) replacedStatic(spec *lake.PartitionSpec) (func(*lake.DataFile) extent, error) {
	t := w.node.Target.Table
	var want []fixedColumn
	for _, st := range w.node.Static {
		d, err := eval.EvalConst(w.env.evalCtx(), st.Value)
		if err != nil {
			return nil, err
		}
		f, _ := t.Schema().ByID(st.FieldID)
		if f == nil || identityOf(spec, st.FieldID) < 0 {
			return nil, sqlerr.New(sqlerr.InvalidColumnReference, "PARTITION names a column that is not an identity partition of the table")
		}
		want = append(want, fixedColumn{&lake.StoredFields([]lake.Field{*f})[0], d})
	}
	return func(f *lake.DataFile) extent {
		least := allOf
		for _, c := range want {
			least = min(least, c.holds(f, t.Spec(f.SpecID)))
		}
		return least
	}, nil
}

// identityOf is the place of a column's identity among a spec's fields; -1: it has none.
func identityOf(spec *lake.PartitionSpec, field int) int {
	if spec != nil {
		for i, f := range spec.Fields {
			if f.Transform.Kind == lake.Identity && len(f.SourceIDs) == 1 && f.SourceIDs[0] == field {
				return i
			}
		}
	}
	return -1
}

// holds tells how many of a file's rows have the column's value: the partition says it, or under a
// spec without the column perhaps the counts and bounds.
func (c *fixedColumn) holds(f *lake.DataFile, spec *lake.PartitionSpec) extent {
	if i := identityOf(spec, c.field.ID); i >= 0 && i < len(f.Partition) {
		d := f.Partition[i]
		if d.IsNull() != c.value.IsNull() || !d.IsNull() && types.Compare(d, c.value, spec.Fields[i].Type) != 0 {
			return noneOf
		}
		return allOf
	}
	if f.Content != lake.Data {
		return someOf
	}
	id := c.field.ID
	nulls, counted := f.NullCounts[id]
	values, all := f.ValueCounts[id]
	all = all && values == f.RecordCount
	if c.value.IsNull() {
		switch {
		case counted && nulls == 0:
			return noneOf
		case counted && all && nulls == values:
			return allOf
		}
		return someOf
	}
	if counted && all && nulls == values {
		return noneOf
	}
	lo, ok1 := lake.DecodeBound(c.field.Type, c.field.Iceberg, f.Lower[id])
	hi, ok2 := lake.DecodeBound(c.field.Type, c.field.Iceberg, f.Upper[id])
	if !ok1 || !ok2 || types.Compare(lo, hi, c.field.Type) > 0 || c.field.Iceberg == "float" || c.field.Iceberg == "double" {
		return someOf // NaN lies outside of all bounds
	}
	below, above := types.Compare(lo, c.value, c.field.Type), types.Compare(hi, c.value, c.field.Type)
	switch {
	case below > 0 || above < 0:
		return noneOf
	case below == 0 && above == 0 && counted && nulls == 0:
		return allOf
	}
	return someOf
}
