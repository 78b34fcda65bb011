// Package lake is the only door to Iceberg: table metadata, manifests, catalogs, object stores
// and commits.
//
// In: catalog configuration, names, paths. Out: Table, Schema, Snapshot, DataFile: plain values
// of our own. It refuses to know SQL text, plans and Parquet's insides.
package lake

import (
	"strings"

	"github.com/lhsql/lhsql/types"
)

// Schema is one schema of a table (Iceberg spec, "Schemas and Data Types").
type Schema struct {
	ID         int
	Fields     []Field
	Identifier []int // identifier field ids
}

// Field is a column or nested member. Identity is the field id; names may change.
type Field struct {
	ID       int
	Name     string
	Type     types.Type // SQL type, derived from Iceberg's
	Iceberg  string     // Iceberg's own spelling of a primitive: "long", "decimal(10,2)", "fixed[16]"; "struct", "list", "map"
	Required bool
	Doc      string
	Children []Field // struct: members; list: element; map: key, value
	// v3 defaults; nil: none. A NULL default is nil too.
	InitialDefault *types.Datum // value of rows in files written before the field existed
	WriteDefault   *types.Datum // value for writers that give none
	// What our own writers keep beside the format (declared.go).
	DefaultSQL  string // the default as SQL, where WriteDefault cannot say it; behind "mysql:" in that dialect
	OnUpdateSQL string // what an UPDATE that does not set the column sets it to
	Numbering   *Numbering
}

// Numbering is what a column that numbers its rows keeps (GENERATED … AS IDENTITY, AUTO_INCREMENT). Next is the first number that is free; writers take
// a block of numbers in the commit that uses them.
type Numbering struct {
	Kind            string // "always", "default", "auto_increment"
	Next, Increment int64
}

// ByID finds the field with the id at any depth; nil if there is none. path gives the field
// ids from the top-level column down to it.
func (s *Schema) ByID(id int) (f *Field, path []int) { return byID(s.Fields, id, nil) }

func byID(fields []Field, id int, path []int) (*Field, []int) {
	for i := range fields {
		f := &fields[i]
		p := append(path[:len(path):len(path)], f.ID)
		if f.ID == id {
			return f, p
		}
		if g, q := byID(f.Children, id, p); g != nil {
			return g, q
		}
	}
	return nil, nil
}

// ByName finds a top-level field; exact match first, then case-insensitive if that is unique.
func (s *Schema) ByName(name string) *Field {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			return &s.Fields[i]
		}
	}
	var found *Field
	for i := range s.Fields {
		if strings.EqualFold(s.Fields[i].Name, name) {
			if found != nil {
				return nil
			}
			found = &s.Fields[i]
		}
	}
	return found
}

// TransformKind is a partition transform (Iceberg spec, "Partition Transforms").
type TransformKind uint8

const (
	UnknownTransform TransformKind = iota // a transform of a later spec: never prunes
	Identity
	Bucket
	Truncate
	Year
	Month
	Day
	Hour
	Void
)

// Transform is a partition transform with its parameter (bucket count or truncation width).
type Transform struct {
	Kind  TransformKind
	Param int
	Text  string // as the metadata spells it
}

// PartitionField is one field of a partition spec.
type PartitionField struct {
	FieldID   int // partition field id, from 1000
	SourceIDs []int
	Name      string
	Transform Transform
	Type      types.Type // of the transformed value, under the table's current schema
	Iceberg   string     // Iceberg's spelling of Type, for DecodeBound
}

// PartitionSpec is one way in which files of a table are partitioned.
type PartitionSpec struct {
	ID     int
	Fields []PartitionField
}

// SortField is one key of a sort order.
type SortField struct {
	SourceIDs  []int
	Transform  Transform
	Desc       bool
	NullsFirst bool
}

// SortOrder is a sort order of the metadata; files say by its ID which one they claim to be in.
type SortOrder struct {
	ID     int
	Fields []SortField
}
