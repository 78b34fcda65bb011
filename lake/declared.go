package lake

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// A column keeps the type that it was declared with. Iceberg has fewer types than SQL: smallint is
// stored as int, varchar(n), char(n) and json as string. What was declared beyond the stored type
// stands in a table property by the field's id, at any depth,
//
//	lhsql.column.<field id>.type = character varying(3)
//
// so that it survives a rename and goes when the column is dropped. It counts only while the field
// has the Iceberg type that it is stored as: another engine that widens the column has changed it,
// and the declaration is void. Values that another engine wrote beyond it are read as they are.

const declaredPrefix = "lhsql.column."

func declaredKey(id int, what string) string {
	return declaredPrefix + strconv.Itoa(id) + "." + what
}

// Stored is the SQL type of f's values as they lie in files, whatever was declared.
func (f *Field) Stored() types.Type {
	switch f.Iceberg {
	case "struct":
		var members []types.Field
		for i := range f.Children {
			members = append(members, types.Field{Name: f.Children[i].Name, Type: f.Children[i].Stored()})
		}
		return types.StructOf(members...)
	case "list":
		if len(f.Children) == 1 {
			return types.ArrayOf(f.Children[0].Stored())
		}
	case "map":
		if len(f.Children) == 2 {
			return types.MapOf(f.Children[0].Stored(), f.Children[1].Stored())
		}
	}
	return TypeOf(f.Iceberg)
}

// StoredFields are fields with the types that their values have in files.
func StoredFields(fields []Field) []Field {
	out := cloneFields(fields)
	for i := range out {
		out[i].store()
	}
	return out
}

func (f *Field) store() {
	f.Type = f.Stored()
	for i := range f.Children {
		f.Children[i].store()
	}
}

// Stored is s with the types that values have in files: for what reads rows to write them again
// as they are.
func (s *Schema) Stored() *Schema {
	c := *s
	c.Fields = StoredFields(s.Fields)
	return &c
}

// OrderedAsStored tells whether values of a declared type compare as those that are stored for
// them, so that partitions, bounds and sort orders of files, which are of the stored ones, tell of
// them. char(n) does not count blanks at the end, and jsonb compares by content.
func OrderedAsStored(t types.Type) bool {
	switch t.Kind {
	case types.Bpchar, types.JSON, types.JSONB, types.Interval, types.TimeTZ:
		return false
	case types.Numeric:
		return t.Fixed
	case types.Array:
		return OrderedAsStored(t.Elem())
	case types.Map:
		return OrderedAsStored(t.Key()) && OrderedAsStored(t.Elem())
	case types.Struct:
		for _, f := range t.Fields() {
			if !OrderedAsStored(f.Type) {
				return false
			}
		}
	}
	return t.MySQL == nil || t.MySQL.Members == nil
}

// declaredOf is the declared type that a field of the Iceberg type keeps beside it; ok is false
// where the stored type says it all, or where t is not stored like this.
func declaredOf(t types.Type, iceberg string) (spelled string, ok bool) {
	stored := TypeOf(iceberg)
	if t.MySQL == nil && (t.Equal(stored) || t.Kind == types.Unknown || t.Kind == types.Text || t.Kind == types.Invalid) {
		return "", false
	}
	return t.Spell(), storedAs(t, iceberg)
}

// declare gives fields, at any depth, the types that the properties keep for them.
func declare(fields []Field, props map[string]string) {
	for i := range fields {
		f := &fields[i]
		declare(f.Children, props)
		f.DefaultSQL, f.OnUpdateSQL = props[declaredKey(f.ID, "default")], props[declaredKey(f.ID, "on-update")]
		f.Numbering = readNumbering(props[declaredKey(f.ID, "identity")])
		f.Generated = readGenerated(props[declaredKey(f.ID, "generated")])
		if f.RowDefault = nil; props[declaredKey(f.ID, "row-default")] != "" {
			f.RowDefault = &Generated{SQL: props[declaredKey(f.ID, "row-default")]}
		}
		if len(f.Children) > 0 || f.Type.Kind == types.Invalid {
			continue
		}
		f.Type = TypeOf(f.Iceberg)
		if text, ok := props[declaredKey(f.ID, "type")]; ok {
			if t, ok := types.ReadSpelled(text); ok && storedAs(t, f.Iceberg) {
				f.Type = t
			}
		}
	}
}

// declares tells whether the properties keep anything of columns.
func declares(props map[string]string) bool {
	for k := range props {
		if strings.HasPrefix(k, declaredPrefix) {
			return true
		}
	}
	return false
}

// declareAll gives all schemas their declared types, old ones too: a column that is read in the
// past has the type that is declared for its id now.
func (s *state) declareAll() {
	for i, old := range s.schemas {
		c := *old
		c.Fields = cloneFields(old.Fields)
		declare(c.Fields, s.properties)
		retype(c.Fields)
		s.schemas[i] = &c
	}
}

// keepDeclared makes the properties keep what the fields of the current schema declare, and nothing
// for columns that are gone. Called once the schema is the current one.
func (e *Edit) keepDeclared(s *Schema) error {
	want := map[string]string{}
	var collect func(fields []Field)
	collect = func(fields []Field) {
		for i := range fields {
			f := &fields[i]
			for what, text := range map[string]string{"default": f.DefaultSQL, "on-update": f.OnUpdateSQL, "identity": f.Numbering.spell(), "generated": f.Generated.spell(), "row-default": f.RowDefault.text()} {
				if text != "" {
					want[declaredKey(f.ID, what)] = text
				}
			}
			if len(f.Children) > 0 {
				collect(f.Children)
				continue
			}
			if text, ok := declaredOf(f.Type, f.Iceberg); ok {
				want[declaredKey(f.ID, "type")] = text
			}
		}
	}
	collect(s.Fields)
	var gone []string
	for k, v := range e.s.properties {
		if !strings.HasPrefix(k, declaredPrefix) {
			continue
		}
		if w, ok := want[k]; !ok {
			gone = append(gone, k)
		} else if w == v {
			delete(want, k)
		}
	}
	if len(gone) > 0 {
		if err := e.RemoveProperties(gone); err != nil {
			return err
		}
	}
	if len(want) > 0 {
		return e.SetProperties(want)
	}
	return nil
}

// spell is an identity's property: "always 1 1" and the like; "" for none.
func (d *Numbering) spell() string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("%s %d %d", d.Kind, d.Next, d.Increment)
}

func readNumbering(text string) *Numbering {
	var d Numbering
	if _, err := fmt.Sscanf(text, "%s %d %d", &d.Kind, &d.Next, &d.Increment); err != nil || d.Increment < 1 {
		return nil
	}
	return &d
}

// TakeNumbers makes next the first free number of the identity column id, whose first free one was
// from when the numbers below were taken: another writer that has taken some meanwhile is a conflict.
func (e *Edit) TakeNumbers(id int, from, next int64) error {
	f, _ := e.Schema().ByID(id)
	if f == nil || f.Numbering == nil {
		return conflict("another transaction changed a column that numbers its rows")
	}
	if f.Numbering.Next != from {
		return conflict("another transaction took numbers of column %s", f.Name)
	}
	// A catalog's server has no requirement of properties: that no branch has moved stands for it.
	for _, r := range e.s.refs {
		if r.Branch {
			id := r.SnapshotID
			e.require("assert-ref-snapshot-id", obj{"ref": r.Name, "snapshot-id": &id})
		}
	}
	d := *f.Numbering
	d.Next = next
	return e.SetProperties(map[string]string{declaredKey(id, "identity"): d.spell()})
}

// SetNumbering makes a column number its rows; nil: no longer.
func (e *Edit) SetNumbering(path []string, d *Numbering) error {
	f, err := e.find(path)
	if err == nil {
		f.Numbering = d
	}
	return err
}

// SetOnUpdate sets what an UPDATE that does not set the column sets it to; "": nothing.
func (e *Edit) SetOnUpdate(path []string, sql string) error {
	f, err := e.find(path)
	if err == nil {
		f.OnUpdateSQL = sql
	}
	return err
}

// keepDefault leaves a default where it can stand: in the format, which has constants from version 3
// on, or beside it.
func (e *Edit) keepDefault(f *Field) {
	if f.DefaultSQL == "" {
		return
	}
	if f.WriteDefault != nil && e.s.formatVersion >= 3 && f.Iceberg != "variant" && sameForm(f) {
		f.DefaultSQL = ""
	} else {
		f.WriteDefault, f.InitialDefault = nil, nil
	}
}

// sameForm tells whether values of f's type are stored as they are in memory.
func sameForm(f *Field) bool {
	stored := f.Stored()
	return f.Type.Form() == stored.Form() && (f.Type.Kind != types.Numeric || f.Type.Fixed)
}
