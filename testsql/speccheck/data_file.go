package speccheck

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// checkData holds what a manifest says of a data file against the file: size, rows, row groups,
// counts, bounds, partition, order of rows.
func (c *checker) checkData(ctx context.Context, d *lake.DataFile) error {
	if d.Format != "parquet" || d.Encrypted {
		return nil // nothing here reads it
	}
	claim := c.claim(d)
	if seen(claim) {
		return nil
	}
	keep := map[int]bool{}
	spec, order := c.table.Spec(d.SpecID), c.sortOrder(d.SortOrderID)
	for _, f := range spec.Fields {
		if f.Transform.Kind != lake.Void && f.Transform.Kind != lake.UnknownTransform && len(f.SourceIDs) == 1 {
			keep[f.SourceIDs[0]] = true
		}
	}
	if order != nil {
		for _, f := range order.Fields {
			for _, id := range f.SourceIDs {
				keep[id] = true
			}
		}
	} else if d.SortOrderID != 0 {
		return fmt.Errorf("%s: the sort order %d is missing", d.Path, d.SortOrderID)
	}
	got, err := read(ctx, c.table, d.Path, c.fields, keep)
	if err == nil {
		err = c.checkContents(d, got)
	}
	if err == nil {
		err = c.checkPartition(d, spec, got)
	}
	if err == nil && order != nil {
		err = c.checkSorted(order, got)
	}
	if err == nil {
		err = c.checkLineage(d, got)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	remember(claim)
	return nil
}

func (c *checker) sortOrder(id int) *lake.SortOrder {
	for _, o := range c.table.SortOrders() {
		if o.ID == id && id != 0 {
			return o
		}
	}
	return nil
}

// checkContents: what is claimed of any Parquet file, data or deletes.
func (c *checker) checkContents(d *lake.DataFile, got *contents) error {
	switch {
	case d.FileSize != got.size:
		return fmt.Errorf("%d bytes, listed are %d", got.size, d.FileSize)
	case d.RecordCount != got.rows:
		return fmt.Errorf("%d rows, listed are %d", got.rows, d.RecordCount)
	case d.SplitOffsets != nil && !slices.Equal(d.SplitOffsets, got.offsets):
		return fmt.Errorf("row groups begin at %v, listed are %v", got.offsets, d.SplitOffsets)
	}
	for _, m := range []struct {
		what string
		list map[int]int64
		of   func(l *leaf) int64
	}{
		{"values", d.ValueCounts, func(l *leaf) int64 { return l.entries }},
		{"NULLs", d.NullCounts, func(l *leaf) int64 { return l.nulls }},
		{"NaNs", d.NaNCounts, func(l *leaf) int64 { return l.nans }},
	} {
		for id, n := range m.list {
			l := got.leaves[id]
			switch {
			case c.fields[id] == nil: // a dropped column, whose schemas are forgotten
			case l == nil:
				return fmt.Errorf("%s of field %d are listed, which the file does not have", m.what, id)
			case n != m.of(l) && (got.whole || n < m.of(l)):
				return fmt.Errorf("column %q has %d %s, listed are %d", l.field.Name, m.of(l), m.what, n)
			}
		}
	}
	for id, n := range d.ColumnSizes {
		if l := got.leaves[id]; c.fields[id] != nil && (l == nil || l.bytes != n) {
			return fmt.Errorf("field %d: the listed column size %d is not its chunks'", id, n)
		}
	}
	for upper, list := range map[bool]map[int][]byte{false: d.Lower, true: d.Upper} {
		for id, b := range list {
			l := got.leaves[id]
			if c.fields[id] == nil {
				continue
			}
			if l == nil {
				return fmt.Errorf("bounds of field %d are listed, which the file does not have", id)
			}
			v, err := parseBound(l.field.Iceberg, b)
			if err != nil {
				return fmt.Errorf("column %q: %w", l.field.Name, err)
			}
			if !l.holds(l.order, v, upper) {
				return fmt.Errorf("column %q goes from %s to %s; %s is no bound (upper: %v)", l.field.Name, l.order.String(l.lo), l.order.String(l.hi), l.order.String(v), upper)
			}
		}
	}
	return nil
}

// checkPartition: each row's values give the partition under which the file is listed.
func (c *checker) checkPartition(d *lake.DataFile, spec *lake.PartitionSpec, got *contents) error {
	for i, p := range spec.Fields {
		if p.Transform.Kind == lake.Void {
			if !d.Partition[i].IsNull() {
				return fmt.Errorf("partition field %q is void and has a value", p.Name)
			}
			continue
		}
		if p.Transform.Kind == lake.UnknownTransform || len(p.SourceIDs) != 1 {
			continue
		}
		f := c.fields[p.SourceIDs[0]]
		if f == nil {
			return fmt.Errorf("partition field %q has no source", p.Name)
		}
		var last value
		for row, v := range c.valuesOf(f, got) {
			if row > 0 && v.null == last.null && (v.null || orderOf(f.Iceberg).compare(v, last) == 0) {
				continue
			}
			last = v
			want := p.Transform.Apply(v.datum(f), f.Type)
			if want.IsNull() != d.Partition[i].IsNull() || !want.IsNull() && types.Compare(want, d.Partition[i], p.Type) != 0 {
				return fmt.Errorf("row %d has %q %s, which is not of the partition", row, f.Name, orderOf(f.Iceberg).String(v))
			}
		}
	}
	return nil
}

// valuesOf gives a field's values; in a file older than it, its initial default, once.
func (c *checker) valuesOf(f *lake.Field, got *contents) []value {
	if l := got.leaves[f.ID]; l != nil {
		return l.values
	}
	return []value{{null: true}}
}

// checkSorted: rows lie in the order that the file claims.
func (c *checker) checkSorted(order *lake.SortOrder, got *contents) error {
	type key struct {
		values []types.Datum
		t      types.Type
		f      lake.SortField
	}
	var keys []key
	for _, s := range order.Fields {
		if len(s.SourceIDs) != 1 || s.Transform.Kind == lake.UnknownTransform {
			return nil
		}
		f := c.fields[s.SourceIDs[0]]
		if f == nil {
			return fmt.Errorf("sort order %d has no source field %d", order.ID, s.SourceIDs[0])
		}
		if got.leaves[f.ID] == nil {
			continue // one value in all rows
		}
		t, _ := s.Transform.Result(f.Type, f.Iceberg)
		k := key{t: t, f: s}
		for _, v := range got.leaves[f.ID].values {
			k.values = append(k.values, s.Transform.Apply(v.datum(f), f.Type))
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 || !got.whole {
		return nil
	}
	for row := 1; row < len(keys[0].values); row++ {
		for _, k := range keys {
			n := compareSorted(k.values[row-1], k.values[row], k.t, k.f)
			if n > 0 {
				return fmt.Errorf("rows %d and %d are not in the sort order %d", row-1, row, order.ID)
			}
			if n < 0 {
				break
			}
		}
	}
	return nil
}

func compareSorted(a, b types.Datum, t types.Type, f lake.SortField) int {
	if a.IsNull() || b.IsNull() {
		n := 0
		switch {
		case a.IsNull() && !b.IsNull():
			n = -1
		case b.IsNull() && !a.IsNull():
			n = 1
		}
		if !f.NullsFirst {
			n = -n
		}
		return n
	}
	if f.Desc {
		return types.Compare(b, a, t)
	}
	return types.Compare(a, b, t)
}

// checkLineage: row ids and sequence numbers that a file stores were given before it.
func (c *checker) checkLineage(d *lake.DataFile, got *contents) error {
	if l := got.leaves[rowID]; l != nil && l.some && (l.lo.i < 0 || l.hi.i >= lake.LineageRowID(c.table)) {
		return fmt.Errorf("stored row ids go up to %d, the next is %d", l.hi.i, lake.LineageRowID(c.table))
	}
	if l := got.leaves[rowSequence]; l != nil && l.some && (l.lo.i < 0 || l.hi.i > d.DataSeq) {
		return fmt.Errorf("stored sequence numbers go up to %d, the file's is %d", l.hi.i, d.DataSeq)
	}
	return nil
}

// Files are immutable: what was found true of one stays true. A claim is all that a manifest says
// of a file, so that an entry that changed on its way to another manifest is checked again.
var (
	claims   = map[uint64]bool{}
	claimsMu sync.Mutex
	seed     = maphash.MakeSeed()
)

func (c *checker) claim(d *lake.DataFile) uint64 {
	var key []byte
	for i, f := range c.table.Spec(d.SpecID).Fields {
		if d.Partition[i].IsNull() {
			key = append(key, 0)
		} else {
			key = types.AppendKey(append(key, 1), d.Partition[i], f.Type)
		}
	}
	return maphash.String(seed, fmt.Sprint(c.table.Resolve(d.Path), d.Content, d.SpecID, d.RecordCount, d.FileSize, d.ColumnSizes, d.ValueCounts, d.NullCounts,
		d.NaNCounts, d.Lower, d.Upper, d.SplitOffsets, d.SortOrderID, d.DataSeq, d.EqualityIDs, d.ReferencedFile, d.ContentOffset, d.ContentSize)+string(key))
}

func seen(claim uint64) bool {
	claimsMu.Lock()
	defer claimsMu.Unlock()
	return claims[claim]
}

func remember(claim uint64) {
	claimsMu.Lock()
	defer claimsMu.Unlock()
	claims[claim] = true
}
