package dml

import (
	"net/url"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// partitioner computes the partitions of rows under one spec.
type partitioner struct {
	spec   *lake.PartitionSpec
	fields []partitionSource
	memo   map[string]*partition // by the source values' key
	key    []byte
}

// partitionSource is where a partition field's value comes from.
type partitionSource struct {
	field  lake.PartitionField
	path   []int // indexes: top-level column, then struct members
	source *lake.Field
}

// partition is one tuple of partition values.
type partition struct {
	values []types.Datum
	key    string
	dir    string // "a=1/b=x"
}

// maxMemo bounds the memo of a partitioner: columns with a value per row would fill memory.
const maxMemo = 64 << 10

func newPartitioner(spec *lake.PartitionSpec, s *lake.Schema) (*partitioner, error) {
	p := &partitioner{spec: spec, memo: map[string]*partition{}}
	if spec == nil {
		return p, nil
	}
	for _, f := range spec.Fields {
		if f.Transform.Kind == lake.Void {
			p.fields = append(p.fields, partitionSource{field: f})
			continue
		}
		if f.Transform.Kind == lake.UnknownTransform || len(f.SourceIDs) != 1 {
			return nil, sqlerr.New(sqlerr.FeatureNotSupported, "the partition transform %s is not known, so the table cannot be written", f.Transform.Text)
		}
		src, ids := s.ByID(f.SourceIDs[0])
		if src == nil {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "partition field %s refers to a column that does not exist", f.Name)
		}
		x := partitionSource{field: f, source: src}
		fields := s.Fields
		for _, id := range ids {
			for i := range fields {
				if fields[i].ID == id {
					x.path = append(x.path, i)
					fields = fields[i].Children
					break
				}
			}
		}
		p.fields = append(p.fields, x)
	}
	return p, nil
}

// value reads row i's source value.
func (x *partitionSource) value(cols []*vec.Vector, i int) types.Datum {
	v := cols[x.path[0]]
	for _, k := range x.path[1:] {
		if v.Null(i) {
			return types.Null
		}
		i, v = v.Row(i), v.Values().Children[k]
	}
	return v.Datum(i)
}

// of gives row i's partition.
func (p *partitioner) of(cols []*vec.Vector, i int) *partition {
	p.key = p.key[:0]
	for k := range p.fields {
		x := &p.fields[k]
		if x.source == nil {
			continue
		}
		d := x.value(cols, i)
		if d.IsNull() {
			p.key = append(p.key, 0)
			continue
		}
		p.key = types.AppendKey(append(p.key, 1), d, x.source.Type)
	}
	if q := p.memo[string(p.key)]; q != nil {
		return q
	}
	q := &partition{values: make([]types.Datum, len(p.fields))}
	var id []byte
	for k := range p.fields {
		x := &p.fields[k]
		if x.source != nil {
			q.values[k] = x.field.Transform.Apply(x.value(cols, i), x.source.Type)
		}
		if q.values[k].IsNull() {
			id = append(id, 0)
		} else {
			id = types.AppendKey(append(id, 1), q.values[k], x.field.Type)
		}
	}
	q.key = string(id)
	q.dir = p.dir(q.values)
	if len(p.memo) >= maxMemo {
		clear(p.memo)
	}
	p.memo[string(p.key)] = q
	return q
}

// dir spells a partition as other writers name its folder. Readers must not read it: the values
// are in the manifest.
func (p *partitioner) dir(values []types.Datum) string {
	var parts []string
	for k := range p.fields {
		parts = append(parts, url.QueryEscape(p.fields[k].field.Name)+"="+url.QueryEscape(p.fields[k].human(values[k])))
	}
	return strings.Join(parts, "/")
}

// human is a partition value as a person reads it (months as 2026-01).
func (x *partitionSource) human(d types.Datum) string {
	if d.IsNull() || x.source == nil {
		return "null"
	}
	_, iceberg := x.field.Transform.Result(x.source.Type, x.source.Iceberg)
	s := x.field.Transform.HumanValue(d, iceberg)
	if len(s) > maxDirValue {
		s = s[:maxDirValue]
	}
	return s
}

// maxDirValue keeps folder names within what file systems allow.
const maxDirValue = 80
