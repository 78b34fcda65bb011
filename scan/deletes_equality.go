package scan

import (
	"context"
	"encoding/binary"
	"math"
	"slices"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// equalitySet holds the keys of one equality delete file: rows with one of them are deleted.
// NULL equals NULL here (spec, "Equality Delete Files").
type equalitySet struct {
	ids  []int
	keys map[string]struct{}
}

// keyOverhead is what a key in a map takes beside its bytes, about.
const keyOverhead = 48

// equalityField finds the field that an equality delete compares, at any depth of structs: in
// the scan's schema, or, for a column dropped since, in the latest other schema that had it.
// path gives the ids below the top-level column.
func (s *Scanner) equalityField(id int) (top *lake.Field, path []int, leaf *lake.Field, err error) {
	schemas := []*lake.Schema{s.node.Schema}
	for _, sc := range slices.Backward(s.node.Table.Schemas()) {
		schemas = append(schemas, sc)
	}
	for _, sc := range schemas {
		f, p := sc.ByID(id)
		if f == nil {
			continue
		}
		for i := range sc.Fields {
			if sc.Fields[i].ID == p[0] {
				top = &sc.Fields[i]
			}
		}
		at := top
		for _, q := range p[1:] {
			if at.Iceberg != "struct" {
				return nil, nil, nil, sqlerr.New(sqlerr.DataCorrupted, "an equality delete compares field %d within a %s", id, at.Iceberg)
			}
			for i := range at.Children {
				if at.Children[i].ID == q {
					at = &at.Children[i]
					break
				}
			}
		}
		return top, p[1:], f, nil
	}
	return nil, nil, nil, sqlerr.New(sqlerr.DataCorrupted, "an equality delete compares field %d, which no schema has", id)
}

// addEqualitySlots adds a slot for every field that the tasks' equality deletes compare and
// that is not among the scan's columns.
func (s *Scanner) addEqualitySlots() error {
	seen := map[int]bool{}
	for i := range s.node.Tasks {
		for _, d := range s.node.Tasks[i].Deletes {
			if d.Content != lake.EqualityDeletes {
				continue
			}
			for _, id := range d.EqualityIDs {
				if seen[id] {
					continue
				}
				seen[id] = true
				if s.slotOf(id) < 0 {
					if err := s.addEqualitySlot(id); err != nil {
						return atFile(err, d.Path)
					}
				}
			}
		}
	}
	return nil
}

func (s *Scanner) addEqualitySlot(id int) error {
	top, path, leaf, err := s.equalityField(id)
	if err != nil {
		return err
	}
	optional := lake.StoredFields([]lake.Field{*top})[0] // a delete compares what is stored
	optional.Required = false                            // a file without it has NULLs to compare
	// FieldID is the compared field's: slotOf finds it by that.
	s.slots = append(s.slots, slot{
		ScanColumn: plan.ScanColumn{Column: plan.Column{Name: leaf.Name, Type: leaf.Stored()}, FieldID: id},
		field:      &optional, inner: path,
	})
	return nil
}

// slotOf finds the slot that reads a field; -1: none.
func (s *Scanner) slotOf(id int) int {
	for i := range s.slots {
		if s.slots[i].FieldID == id {
			return i
		}
	}
	return -1
}

// loadEquality adds an equality delete file to those of f.
func (s *Scanner) loadEquality(ctx context.Context, df *lake.DataFile, f *openFile) error {
	if len(df.EqualityIDs) == 0 {
		return sqlerr.New(sqlerr.DataCorrupted, "an equality delete file names no fields").WithDetail("The file is %s.", df.Path)
	}
	d, err := s.deletes.get(ctx, df, func(d *deleteFile) (err error) {
		d.equal, err = s.readEquality(ctx, df, d.held)
		return err
	})
	if err != nil || len(d.equal.keys) == 0 {
		return err
	}
	f.equal = append(f.equal, d.equal)
	slots := make([]int, len(d.equal.ids))
	for i, id := range d.equal.ids {
		slots[i] = s.slotOf(id)
	}
	f.eqSlots = append(f.eqSlots, slots)
	return nil
}

// readEquality reads an equality delete file's keys by the delete file's own field ids.
func (s *Scanner) readEquality(ctx context.Context, df *lake.DataFile, held *parquet.Budget) (*equalitySet, error) {
	e := &equalitySet{ids: df.EqualityIDs, keys: map[string]struct{}{}}
	fields := make([]lake.Field, len(e.ids))
	inner := make([][]int, len(e.ids))
	for i, id := range e.ids {
		top, path, _, err := s.equalityField(id)
		if err != nil {
			return nil, err
		}
		fields[i], inner[i] = *pruneTo(&lake.StoredFields([]lake.Field{*top})[0], path), path
	}
	var key []byte
	err := s.readDeleteRows(ctx, df, fields, func(cols []*vec.Vector, n int) error {
		added := 0
		for row := 0; row < n; row++ {
			key = key[:0]
			for i := range cols {
				key = appendValueKey(key, cols[i], row, len(inner[i]))
			}
			if _, ok := e.keys[string(key)]; !ok {
				e.keys[string(key)] = struct{}{}
				added += len(key) + keyOverhead
			}
		}
		return held.Reserve(int64(added))
	})
	return e, err
}

// appendValueKey appends an unambiguous encoding of row i of v, depth struct members down (the
// structs have been pruned to one member each). Equal values have equal keys, whatever form
// their vectors come in. Floats compare as the reference implementation does: NaN equals NaN,
// -0 is not 0.
func appendValueKey(dst []byte, v *vec.Vector, i, depth int) []byte {
	for ; depth > 0; depth-- {
		if v.Null(i) {
			return append(dst, 0)
		}
		i = v.Row(i)
		v = v.Children[0]
	}
	if v.Null(i) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	r, f := v.Row(i), v.Values()
	switch v.Form {
	case types.FormBool:
		if f.Bools[r] {
			return append(dst, 1)
		}
		return append(dst, 0)
	case types.FormI64:
		dst = binary.LittleEndian.AppendUint64(dst, uint64(f.I64[r]))
		if v.Type.Kind == types.Numeric { // as W128 has it
			dst = binary.LittleEndian.AppendUint64(dst, uint64(f.I64[r]>>63))
		}
		return dst
	case types.FormF64:
		x := math.Float64bits(f.F64[r])
		if f.F64[r] != f.F64[r] {
			x = math.Float64bits(math.NaN())
		}
		return binary.LittleEndian.AppendUint64(dst, x)
	case types.FormW128:
		dst = binary.LittleEndian.AppendUint64(dst, f.W128[r].Lo)
		return binary.LittleEndian.AppendUint64(dst, uint64(f.W128[r].Hi))
	case types.FormStr:
		w := f.Views[r]
		dst = binary.LittleEndian.AppendUint32(dst, w.Len)
		return append(dst, f.Data[w.Off:w.Off+w.Len]...)
	}
	// Lists and maps cannot be compared fields; a struct compares all its members.
	return types.AppendKey(dst, v.Datum(i), v.Type)
}

// live writes the rows of sel (nil: all of rows) whose key is not in e to out.
func (e *equalitySet) live(cols []*vec.Vector, depths []int, sel []uint16, rows int, key []byte, out []uint16) ([]uint16, []byte) {
	n := rows
	if sel != nil {
		n = len(sel)
	}
	out = out[:0]
	for k := 0; k < n; k++ {
		i := k
		if sel != nil {
			i = int(sel[k])
		}
		key = key[:0]
		for c, v := range cols {
			key = appendValueKey(key, v, i, depths[c])
		}
		if _, dead := e.keys[string(key)]; !dead {
			out = append(out, uint16(i))
		}
	}
	return out, key
}
