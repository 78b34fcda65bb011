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
	ints   map[int64]*partition  // the same, where one integer column is the source of all
	byKey  map[string]*partition // those of the memo, by their own key
	key    []byte
	err    error // of a value that no partition can have
	// known finds the partition of a key among those that outlive the memo.
	known func(key string) *partition
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

	sel  []uint16  // rows of the batch under way
	file *openFile // nil: none is open
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

// single gives the values of the one integer column from which all partition values come; ok is
// false where there is no such column.
func (p *partitioner) single(cols []*vec.Vector) (v *vec.Vector, ok bool) {
	at := -1
	for k := range p.fields {
		x := &p.fields[k]
		if x.source == nil {
			continue
		}
		if len(x.path) > 1 || at >= 0 && at != x.path[0] {
			return nil, false
		}
		at = x.path[0]
	}
	if at < 0 || cols[at].Values().Form != types.FormI64 {
		return nil, false
	}
	return cols[at], true
}

// each calls f with every row of a batch and its partition.
func (p *partitioner) each(b *vec.Batch, f func(q *partition, i uint16)) {
	v, ok := p.single(b.Cols)
	if !ok {
		for k := range b.Len() {
			i := uint16(k)
			if b.Sel != nil {
				i = b.Sel[k]
			}
			f(p.of(b.Cols, int(i)), i)
		}
		return
	}
	if p.ints == nil {
		p.ints = map[int64]*partition{}
	}
	values := v.Values().I64
	var last *partition
	var lastValue int64
	for k := range b.Len() {
		i := uint16(k)
		if b.Sel != nil {
			i = b.Sel[k]
		}
		if v.Null(int(i)) {
			f(p.of(b.Cols, int(i)), i)
			continue
		}
		x := values[v.Row(int(i))]
		if last == nil || x != lastValue {
			if last = p.ints[x]; last == nil {
				last = p.of(b.Cols, int(i))
				if len(p.ints) >= maxMemo {
					clear(p.ints)
				}
				p.ints[x] = last
			}
			lastValue = x
		}
		f(last, i)
	}
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
	values := make([]types.Datum, len(p.fields))
	var id []byte
	for k := range p.fields {
		x := &p.fields[k]
		if x.source != nil {
			values[k] = x.field.Transform.Apply(x.value(cols, i), x.source.Type)
			// truncate goes down to a multiple, which may lie below the type's least value.
			if err := lake.CheckValue(&lake.Field{Name: x.field.Name, Iceberg: x.field.Iceberg, Type: x.field.Type}, values[k]); err != nil && p.err == nil {
				p.err = err
			}
		}
		if values[k].IsNull() {
			id = append(id, 0)
		} else {
			id = types.AppendKey(append(id, 1), values[k], x.field.Type)
		}
	}
	if p.byKey == nil {
		p.byKey = map[string]*partition{}
	}
	q := p.byKey[string(id)]
	if q == nil && p.known != nil {
		q = p.known(string(id))
	}
	if q == nil {
		q = &partition{values: values, key: string(id), dir: p.dir(values)}
	}
	if len(p.memo) >= maxMemo {
		clear(p.memo)
		clear(p.byKey)
	}
	p.memo[string(p.key)] = q
	p.byKey[q.key] = q
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
