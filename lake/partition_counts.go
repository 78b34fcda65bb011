package lake

import (
	"slices"
	"strconv"

	"github.com/lhsql/lhsql/types"
)

// PartitionType is the union of the partition fields of all specs, by their ids: files of a spec that
// lacks one have NULL there (spec, "Partition Statistics File"). An unpartitioned table has none.
func (t *Table) PartitionType() []PartitionField {
	var out []PartitionField
	for _, s := range slices.Backward(t.Specs()) {
		for _, f := range s.Fields {
			known := slices.ContainsFunc(out, func(o PartitionField) bool { return o.FieldID == f.FieldID })
			if !known && f.Transform.Kind != Void && f.Type.Kind != types.Invalid {
				out = append(out, f)
			}
		}
	}
	slices.SortFunc(out, func(a, b PartitionField) int { return a.FieldID - b.FieldID })
	return out
}

// PartitionCounts is what the live files of a partition add up to. Files of two specs may share a
// partition's value, but not its meaning: they are counted apart.
type PartitionCounts struct {
	Partition                            []types.Datum // as PartitionType orders it
	SpecID                               int
	Records, Files, Bytes                int64 // of data files, whatever is deleted of their rows
	PositionDeletes, PositionDeleteFiles int64 // deletes of vectors are among the former
	Vectors                              int64 // files that are deletion vectors
	EqualityDeletes, EqualityDeleteFiles int64
	// UpdatedAt, in milliseconds, and UpdatedBy are of the snapshot that last changed the partition;
	// both 0: unknown.
	UpdatedAt, UpdatedBy int64
}

// Empty tells whether the partition has no files.
func (c *PartitionCounts) Empty() bool {
	return c.Files+c.PositionDeleteFiles+c.Vectors+c.EqualityDeleteFiles == 0
}

// Add counts a file, or with times -1 takes it away again.
func (c *PartitionCounts) Add(f *DataFile, times int64) {
	switch f.Content {
	case Data:
		c.Records += times * f.RecordCount
		c.Files += times
		c.Bytes += times * f.FileSize
	case EqualityDeletes:
		c.EqualityDeletes += times * f.RecordCount
		c.EqualityDeleteFiles += times
	case DeletionVector:
		c.PositionDeletes += times * f.RecordCount
		c.Vectors += times
	default:
		c.PositionDeletes += times * f.RecordCount
		c.PositionDeleteFiles += times
	}
}

// ChangedBy notes that a snapshot changed the partition; nil, one that is not known any more, tells nothing.
func (c *PartitionCounts) ChangedBy(s *Snapshot) {
	if s != nil && (c.UpdatedBy == 0 || s.Time.UnixMilli() > c.UpdatedAt) {
		c.UpdatedAt, c.UpdatedBy = s.Time.UnixMilli(), s.ID
	}
}

// PartitionTally counts files by partition.
type PartitionTally struct {
	t      *Table
	fields []PartitionField
	typ    types.Type
	by     map[string]*PartitionCounts
	list   []*PartitionCounts // as they came
	key    []byte
}

// NewPartitionTally counts files of t.
func NewPartitionTally(t *Table) *PartitionTally {
	p := &PartitionTally{t: t, fields: t.PartitionType(), by: map[string]*PartitionCounts{}}
	var members []types.Field
	for _, f := range p.fields {
		members = append(members, types.Field{Name: f.Name, Type: f.Type})
	}
	p.typ = types.StructOf(members...)
	return p
}

// Value is the partition of a file of a spec, as PartitionType orders it.
func (p *PartitionTally) Value(specID int, values []types.Datum) []types.Datum {
	row := make([]types.Datum, len(p.fields))
	spec := p.t.Spec(specID)
	if spec == nil {
		return row
	}
	for i, f := range spec.Fields {
		k := slices.IndexFunc(p.fields, func(o PartitionField) bool { return o.FieldID == f.FieldID })
		if k >= 0 && i < len(values) {
			row[k] = values[i]
		}
	}
	return row
}

// Of is the partition's counts, which the caller may change; new tells whether it was not known before.
func (p *PartitionTally) Of(specID int, partition []types.Datum) (c *PartitionCounts, fresh bool) {
	p.key = append(strconv.AppendInt(p.key[:0], int64(specID), 10), ':')
	p.key = types.AppendKey(p.key, types.NewStruct(partition), p.typ)
	c = p.by[string(p.key)]
	if c == nil {
		c, fresh = &PartitionCounts{Partition: partition, SpecID: specID}, true
		p.by[string(p.key)] = c
		p.list = append(p.list, c)
	}
	return c, fresh
}

// List is all partitions, as they came.
func (p *PartitionTally) List() []*PartitionCounts { return p.list }

// Sort orders the partitions as the format wants them: ascending by value, NULL first.
func (p *PartitionTally) Sort() {
	slices.SortStableFunc(p.list, func(a, b *PartitionCounts) int {
		for i, f := range p.fields {
			x, y := a.Partition[i], b.Partition[i]
			switch {
			case x.IsNull() && y.IsNull():
			case x.IsNull():
				return -1
			case y.IsNull():
				return 1
			default:
				if n := types.Compare(x, y, f.Type); n != 0 {
					return n
				}
			}
		}
		return a.SpecID - b.SpecID
	})
}
