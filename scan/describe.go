package scan

import (
	"context"
	"fmt"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
)

// This file tells what a Parquet file that somebody else wrote would be as a data file of a table, and
// refuses it where the table's readers, ours or others, could not read it as the table's rows.

// Description is what a file's footer says of it.
type Description struct {
	Rows, Size   int64
	IDs          bool    // its columns carry field ids
	SplitOffsets []int64 // where its row groups begin; nil: it does not say
	Columns      []ColumnDescription
	Has          map[int]bool // the table's fields that it has a column for, at any depth
}

// ColumnDescription is what a footer says of one leaf column.
type ColumnDescription struct {
	Field      *lake.Field // of the table
	Compressed int64       // bytes
	Values     int64       // NULLs included
	Nulls      int64       // -1: unknown
	// Lower and Upper bound the values that are not NULL, in the type that is stored; NULL: unknown.
	Lower, Upper types.Datum
}

// Of is the description of a field's column; nil where the file has none.
func (d *Description) Of(id int) *ColumnDescription {
	for i := range d.Columns {
		if d.Columns[i].Field.ID == id {
			return &d.Columns[i]
		}
	}
	return nil
}

// Describe reads the footer of f, which is called path in errors. Columns of a file without field ids
// are found by mapping; ids of one that has them must be those that the table has, or had, under these
// names. Every column must be the table's, of its type or one that widens to it (lake.Widens), and
// required columns must be there without NULL; partition tells of fields whose value the file's partition
// gives.
func Describe(ctx context.Context, f store.File, path string, mem Memory, t *lake.Table, mapping []lake.MappedField, partition func(id int) bool) (out *Description, err error) {
	defer func() { err = atFile(err, path) }()
	defer guard(path, &err)
	if mem == nil {
		mem = &limit{left: atomicInt(defaultMemory)}
	}
	ft, err := parquet.ReadFooter(ctx, f, mem)
	if err != nil {
		return nil, err
	}
	r, err := newResolver(ft, mapping)
	if err != nil {
		return nil, err
	}
	d := &describer{Description: Description{Rows: ft.Rows, Size: f.Size(), IDs: r.mapped == nil && len(ft.Leaves) > 0, Has: map[int]bool{}}, ft: ft, r: r, t: t, path: path, partition: partition}
	if err := d.chunks(); err != nil {
		return nil, err
	}
	if err := d.members(t.Schema().Fields, ft.Root, nil); err != nil {
		return nil, err
	}
	return &d.Description, nil
}

type describer struct {
	Description
	ft        *parquet.Footer
	r         *resolver
	t         *lake.Table
	path      string
	partition func(id int) bool
}

// chunks tests that the columns lie in the file and can be decompressed, and notes where row groups begin.
func (d *describer) chunks() error {
	at, end := int64(0), d.Size-d.ft.Bytes
	for g := range d.ft.Groups {
		cols := d.ft.Groups[g].Columns
		if d.ft.Groups[g].Rows == 0 {
			continue // writers say what they like of what is not there
		}
		for i := range cols {
			c := &cols[i]
			if c.Start() < 4 || c.Compressed < 0 || c.Compressed > end || c.Start() > end-c.Compressed {
				return sqlerr.New(sqlerr.DataCorrupted, "corrupt Parquet file: column %q of row group %d does not lie in it", d.ft.Leaves[i].Name, g)
			}
			if c.Codec < parquet.Uncompressed || c.Codec > parquet.LZ4Raw || c.Codec == parquet.LZO {
				return sqlerr.New(sqlerr.FeatureNotSupported, "column %q of a Parquet file is compressed by codec %d, which cannot be read", d.ft.Leaves[i].Name, c.Codec)
			}
		}
		if len(cols) == 0 {
			continue
		}
		if start := cols[0].Start(); start > at && at >= 0 {
			d.SplitOffsets, at = append(d.SplitOffsets, start), start
		} else {
			d.SplitOffsets, at = nil, -1 // in no order: nobody can split by them
		}
	}
	return nil
}

// members goes through the fields of the table or of a struct, and their nodes.
func (d *describer) members(fields []lake.Field, parent *parquet.Node, at []string) error {
	for _, n := range parent.Children {
		if err := d.belongs(fields, n, append(at[:len(at):len(at)], n.Name)); err != nil {
			return err
		}
	}
	for i := range fields {
		f := &fields[i]
		n, err := d.r.child(parent, f.ID)
		if err != nil {
			return err
		}
		name := append(at[:len(at):len(at)], f.Name)
		if n == nil {
			if f.Required && f.InitialDefault == nil && !d.partition(f.ID) {
				return sqlerr.New(sqlerr.NotNullViolation, "file %s lacks column %q, which cannot be NULL", d.path, strings.Join(name, "."))
			}
			continue
		}
		if err := d.field(f, n, name); err != nil {
			return err
		}
	}
	return nil
}

// belongs refuses a column that is not the table's: its values would be lost, or come back as those of a
// column that gets its name or id later.
func (d *describer) belongs(fields []lake.Field, n *parquet.Node, at []string) error {
	name := strings.Join(at, ".")
	id := d.r.id(n)
	for i := range fields {
		switch f := &fields[i]; {
		case f.ID != id:
		case d.r.mapped != nil || f.Name == n.Name || d.was(id, n.Name):
			return nil
		default:
			return sqlerr.New(sqlerr.DatatypeMismatch, "column %q of file %s has field id %d, which is column %q of the table", name, d.path, id, f.Name)
		}
	}
	for i := range fields {
		if f := &fields[i]; d.r.mapped == nil && f.Name == n.Name {
			return sqlerr.New(sqlerr.DatatypeMismatch, "column %q of file %s has %s, the table's column of that name has %d", name, d.path, idOf(id), f.ID).
				WithHint("Field ids, not names, find columns. Files without any are found by name.")
		}
	}
	if d.r.mapped == nil && d.was(id, n.Name) {
		return nil // dropped since: ids are never given twice
	}
	return sqlerr.New(sqlerr.UndefinedColumn, "the table has no column for column %q of file %s", name, d.path).
		WithHint("Columns are found by name, in which case matters, or by the table property schema.name-mapping.default. ALTER TABLE … ADD COLUMN adds one.")
}

func idOf(id int) string {
	if id < 0 {
		return "no field id"
	}
	return fmt.Sprintf("field id %d", id)
}

// was tells whether a schema of the table had a field of the id and name.
func (d *describer) was(id int, name string) bool {
	for _, s := range d.t.Schemas() {
		if f, _ := s.ByID(id); f != nil && f.Name == name {
			return true
		}
	}
	return false
}

// field compares a field of the table with its node and notes what is told of its values.
func (d *describer) field(f *lake.Field, n *parquet.Node, at []string) error {
	d.Has[f.ID] = true
	name := strings.Join(at, ".")
	inner := func(f *lake.Field, n *parquet.Node) error {
		return d.field(f, n, append(at[:len(at):len(at)], f.Name))
	}
	if f.Required && n.Repetition == parquet.Optional && !n.IsLeaf() {
		return d.mayBeNull(name)
	}
	switch f.Iceberg {
	case "struct":
		if _, _, list := listOf(n); n.IsLeaf() || list || n.Logic != parquet.NoLogic {
			return d.mismatch(f, n, name)
		}
		return d.members(f.Children, n, at)
	case "list":
		_, elem, ok := listOf(n)
		if !ok {
			return d.mismatch(f, n, name)
		}
		if elem == n { // a bare repeated field
			if len(f.Children[0].Children) > 0 || !n.IsLeaf() {
				return d.mismatch(f, n, name)
			}
			return d.leafType(&f.Children[0], n, name)
		}
		if err := inner(&f.Children[0], elem); err != nil {
			return err
		}
		_, err := d.r.at(storedField(f), n)
		return err
	case "map":
		_, k, v, ok := mapOf(n)
		if !ok {
			return d.mismatch(f, n, name)
		}
		for i, m := range []*parquet.Node{k, v} {
			if err := inner(&f.Children[i], m); err != nil {
				return err
			}
		}
		_, err := d.r.at(storedField(f), n)
		return err
	case "variant", "unknown":
		_, err := d.r.at(f, n)
		return err
	}
	if err := d.leafType(f, n, name); err != nil {
		return err
	}
	return d.statistics(f, n, name)
}

func (d *describer) leafType(f *lake.Field, n *parquet.Node, name string) error {
	have := icebergType(n)
	// Uuids have been written as their sixteen bytes by those whose writers lack the type.
	same := have == strings.ReplaceAll(f.Iceberg, " ", "") || have == "unknown" || have == "fixed[16]" && f.Iceberg == "uuid"
	if !n.IsLeaf() || !same && !lake.Widens(have, f.Iceberg, d.t.FormatVersion()) {
		return d.mismatch(f, n, name)
	}
	if have == "unknown" {
		return nil
	}
	if _, err := parquet.ConversionFor(n, lake.TypeOf(f.Iceberg)); err != nil {
		return d.mismatch(f, n, name)
	}
	return nil
}

func (d *describer) mismatch(f *lake.Field, n *parquet.Node, name string) error {
	return sqlerr.New(sqlerr.DatatypeMismatch, "column %q of file %s is %s, the table's is %s", name, d.path, icebergType(n), f.Iceberg)
}

func (d *describer) mayBeNull(name string) error {
	return sqlerr.New(sqlerr.NotNullViolation, "column %q of file %s may hold NULL, which the table's cannot", name, d.path)
}

// statistics sums up what the row groups say of a leaf. What one of them does not say is not known of
// the file; the least of all bounds and the greatest are taken only where each row group has some, or
// nothing but NULL.
func (d *describer) statistics(f *lake.Field, n *parquet.Node, name string) error {
	c := ColumnDescription{Field: f}
	stored := lake.TypeOf(f.Iceberg)
	conv, err := parquet.ConversionFor(n, stored)
	if err != nil {
		return err
	}
	flat := n.MaxRep == 0 && n.MaxDef <= 1 // writers disagree on the counts of others
	bounded := n.MaxRep == 0 && lake.HasBounds(f) && n.Logic != parquet.NullLogic
	for g := range d.ft.Groups {
		group := &d.ft.Groups[g]
		ch := &group.Columns[n.Leaf]
		c.Compressed += ch.Compressed
		c.Values += ch.Values
		nulls := ch.Nulls
		switch {
		case n.MaxDef == 0:
			nulls = 0
		case !flat || nulls > group.Rows:
			nulls = -1
		}
		switch {
		case c.Nulls < 0:
		case nulls < 0:
			c.Nulls = -1
		default:
			c.Nulls += nulls
		}
		if !bounded || group.Rows == 0 || nulls == group.Rows {
			continue
		}
		lo, hi, ok := d.bounds(&conv, n, ch, f)
		if bounded = ok; !ok {
			continue
		}
		if c.Lower.IsNull() || types.Compare(lo, c.Lower, stored) < 0 {
			c.Lower = lo
		}
		if c.Upper.IsNull() || types.Compare(hi, c.Upper, stored) > 0 {
			c.Upper = hi
		}
	}
	if !bounded {
		c.Lower, c.Upper = types.Null, types.Null
	}
	if f.Required && n.Repetition == parquet.Optional && d.Rows > 0 {
		switch {
		case c.Nulls > 0:
			return sqlerr.New(sqlerr.NotNullViolation, "column %q of file %s holds NULL, which the table's cannot", name, d.path)
		case c.Nulls < 0:
			return d.mayBeNull(name)
		}
	}
	d.Columns = append(d.Columns, c)
	return nil
}

// bounds are those of a chunk, in the form that bounds of the table's files have.
func (d *describer) bounds(conv *parquet.Conversion, n *parquet.Node, ch *parquet.Chunk, f *lake.Field) (lo, hi types.Datum, ok bool) {
	lo, hi, ok = conv.Bounds(n, ch)
	if !ok {
		return
	}
	stored := lake.TypeOf(f.Iceberg)
	lo, ok1 := lake.DecodeBound(stored, f.Iceberg, lake.EncodeBound(lo, f.Iceberg))
	hi, ok2 := lake.DecodeBound(stored, f.Iceberg, lake.EncodeBound(hi, f.Iceberg))
	return lo, hi, ok1 && ok2
}

// icebergType spells the type of a node as Iceberg does, where it has one that holds its values without
// loss; else as Parquet does, which is no type of a table.
func icebergType(n *parquet.Node) string {
	if !n.IsLeaf() {
		if _, _, _, ok := mapOf(n); ok && n.Logic == parquet.MapLogic {
			return "a map"
		}
		if _, _, ok := listOf(n); ok {
			return "a list"
		}
		return "a struct"
	}
	switch n.Logic {
	case parquet.NullLogic:
		return "unknown"
	case parquet.StringLogic, parquet.EnumLogic, parquet.JSONLogic:
		if n.Phys == parquet.ByteArray {
			return "string"
		}
	case parquet.BSONLogic:
		return "binary"
	case parquet.DecimalLogic:
		return fmt.Sprintf("decimal(%d,%d)", n.Precision, n.Scale)
	case parquet.DateLogic:
		return "date"
	case parquet.UUIDLogic:
		return "uuid"
	case parquet.TimeLogic:
		if n.Unit == parquet.Nanos {
			return "a time of nanoseconds"
		}
		return "time"
	case parquet.TimestampLogic:
		s := "timestamp"
		if n.UTC {
			s += "tz"
		}
		if n.Unit == parquet.Nanos {
			s += "_ns"
		}
		return s
	case parquet.IntegerLogic:
		switch {
		case n.Unsigned && n.Bits >= 64:
			return "an unsigned integer of 64 bits"
		case n.Bits >= 64 || n.Unsigned && n.Bits == 32:
			return "long"
		}
		return "int"
	case parquet.NoLogic:
		switch n.Phys {
		case parquet.Boolean:
			return "boolean"
		case parquet.Int32:
			return "int"
		case parquet.Int64:
			return "long"
		case parquet.Int96: // of Hive and old Spark, who mean an instant
			return "timestamptz"
		case parquet.Float:
			return "float"
		case parquet.Double:
			return "double"
		case parquet.ByteArray:
			return "binary"
		case parquet.FixedLen:
			return fmt.Sprintf("fixed[%d]", n.TypeLen)
		}
	}
	return "Parquet's " + n.Phys.String() + " of an annotation that no column has"
}
