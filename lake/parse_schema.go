package lake

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// maxTypeDepth limits the nesting of a schema's types: every walk over a type recurses.
const maxTypeDepth = 64

type schemaJSON struct {
	Type       string      `json:"type"`
	SchemaID   *int        `json:"schema-id,omitempty"`
	Identifier []int       `json:"identifier-field-ids,omitempty"`
	Fields     []fieldJSON `json:"fields"`
}

type fieldJSON struct {
	ID             *int            `json:"id"`
	Name           string          `json:"name"`
	Required       bool            `json:"required"`
	Type           json.RawMessage `json:"type"`
	Doc            string          `json:"doc,omitempty"`
	InitialDefault json.RawMessage `json:"initial-default,omitempty"`
	WriteDefault   json.RawMessage `json:"write-default,omitempty"`
}

type typeJSON struct {
	Type            string          `json:"type"`
	Fields          []fieldJSON     `json:"fields,omitempty"`
	ElementID       *int            `json:"element-id"`
	Element         json.RawMessage `json:"element"`
	ElementRequired bool            `json:"element-required"`
	KeyID           *int            `json:"key-id"`
	Key             json.RawMessage `json:"key"`
	ValueID         *int            `json:"value-id"`
	Value           json.RawMessage `json:"value"`
	ValueRequired   bool            `json:"value-required"`
}

func (j *schemaJSON) id() int {
	if j == nil || j.SchemaID == nil {
		return 0
	}
	return *j.SchemaID
}

func (j *schemaJSON) schema() (*Schema, error) {
	s := &Schema{ID: j.id(), Identifier: j.Identifier}
	for i := range j.Fields {
		f, err := j.Fields[i].field(0)
		if err != nil {
			return nil, err
		}
		s.Fields = append(s.Fields, f)
	}
	return s, unique(s.Fields, map[int]string{})
}

// unique refuses a schema in which two fields have one id, at any depth, or one struct two of a name:
// which column of a file is meant would be a guess.
func unique(fields []Field, ids map[int]string) error {
	names := make(map[string]bool, len(fields))
	for i := range fields {
		f := &fields[i]
		if other, twice := ids[f.ID]; twice {
			return fmt.Errorf("columns %s and %s have one field id, %d", other, f.Name, f.ID)
		}
		ids[f.ID] = f.Name
		if names[f.Name] {
			return fmt.Errorf("two columns are called %s", f.Name)
		}
		names[f.Name] = true
		if err := unique(f.Children, ids); err != nil {
			return err
		}
	}
	return nil
}

func (j *fieldJSON) field(depth int) (Field, error) {
	if j.ID == nil || j.Name == "" {
		return Field{}, fmt.Errorf("column %q lacks the required field id or name", j.Name)
	}
	f := Field{ID: *j.ID, Name: j.Name, Required: j.Required, Doc: j.Doc}
	if err := f.setType(j.Type, depth); err != nil {
		return f, fmt.Errorf("column %s: %w", j.Name, err)
	}
	f.InitialDefault = parseDefault(&f, j.InitialDefault)
	f.WriteDefault = parseDefault(&f, j.WriteDefault)
	return f, nil
}

// setType reads Iceberg's type JSON: a string for primitives, an object for nested types.
func (f *Field) setType(raw json.RawMessage, depth int) error {
	if depth > maxTypeDepth {
		return fmt.Errorf("types are nested deeper than %d", maxTypeDepth)
	}
	var name string
	if json.Unmarshal(raw, &name) == nil {
		f.Iceberg = normalType(name)
		f.Type = TypeOf(f.Iceberg)
		return nil
	}
	var t typeJSON
	if err := json.Unmarshal(raw, &t); err != nil {
		return fmt.Errorf("type cannot be read: %w", err)
	}
	f.Iceberg = t.Type
	defer func() {
		// A type that holds one that is not known is not known either (see TypeOf).
		if f.Unreadable() != "" {
			f.Type = types.Type{}
		}
	}()
	if t.Type == "list" && t.ElementID == nil || t.Type == "map" && (t.KeyID == nil || t.ValueID == nil) {
		return fmt.Errorf("a %s lacks a required field id", t.Type)
	}
	switch t.Type {
	case "struct":
		var members []types.Field
		for i := range t.Fields {
			c, err := t.Fields[i].field(depth + 1)
			if err != nil {
				return err
			}
			f.Children = append(f.Children, c)
			members = append(members, types.Field{Name: c.Name, Type: c.Type})
		}
		f.Type = types.StructOf(members...)
	case "list":
		e := Field{ID: *t.ElementID, Name: "element", Required: t.ElementRequired}
		if err := e.setType(t.Element, depth+1); err != nil {
			return err
		}
		f.Children = []Field{e}
		f.Type = types.ArrayOf(e.Type)
	case "map":
		k := Field{ID: *t.KeyID, Name: "key", Required: true}
		v := Field{ID: *t.ValueID, Name: "value", Required: t.ValueRequired}
		if err := k.setType(t.Key, depth+1); err != nil {
			return err
		}
		if err := v.setType(t.Value, depth+1); err != nil {
			return err
		}
		f.Children = []Field{k, v}
		f.Type = types.MapOf(k.Type, v.Type)
	}
	return nil
}

// normalType removes the blanks that writers put into "decimal(10, 2)".
func normalType(s string) string {
	if i := strings.IndexAny(s, "(["); i > 0 && !strings.HasPrefix(s, "geo") {
		return strings.ReplaceAll(s, " ", "")
	}
	return s
}

// TypeOf gives the SQL type of a primitive Iceberg type. A type that is not known gives the
// Invalid type: its table opens, and only reading that column is refused (Field.Unreadable).
func TypeOf(iceberg string) types.Type {
	switch iceberg {
	case "boolean":
		return types.T(types.Bool)
	case "int":
		return types.T(types.Int4)
	case "long":
		return types.T(types.Int8)
	case "float":
		return types.T(types.Float4)
	case "double":
		return types.T(types.Float8)
	case "date":
		return types.T(types.Date)
	case "time":
		return types.T(types.Time)
	case "timestamp":
		return types.T(types.Timestamp)
	case "timestamptz":
		return types.T(types.TimestampTZ)
	case "timestamp_ns":
		return types.T(types.TimestampNS)
	case "timestamptz_ns":
		return types.T(types.TimestampTZNS)
	case "string", "unknown": // unknown: every value is NULL
		return types.T(types.Text)
	case "uuid":
		return types.T(types.UUID)
	case "binary":
		return types.T(types.Bytea)
	case "variant":
		return types.T(types.Variant)
	}
	if p, s, ok := decimalParams(iceberg); ok {
		return types.DecimalType(p, s)
	}
	if n, ok := fixedLength(iceberg); ok {
		return types.Type{Kind: types.Bytea, Prec: int32(min(n, 1<<15-1))}
	}
	if strings.HasPrefix(iceberg, "geometry") || strings.HasPrefix(iceberg, "geography") {
		return types.T(types.Bytea) // WKB
	}
	return types.Type{}
}

func decimalParams(s string) (precision, scale int, ok bool) {
	args, found := strings.CutPrefix(s, "decimal(")
	if !found {
		return
	}
	p, q, _ := strings.Cut(strings.TrimSuffix(args, ")"), ",")
	precision, err := strconv.Atoi(strings.TrimSpace(p))
	if err != nil {
		return
	}
	scale, err = strconv.Atoi(strings.TrimSpace(q))
	return precision, scale, err == nil && precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision
}

func fixedLength(s string) (n int, ok bool) {
	args, found := strings.CutPrefix(s, "fixed[")
	if !found {
		return
	}
	n, err := strconv.Atoi(strings.TrimSuffix(args, "]"))
	return n, err == nil && n >= 0
}

// Unreadable names the Iceberg type in f, at any depth, that this program does not know;
// "" if it knows them all.
func (f *Field) Unreadable() string {
	if len(f.Children) == 0 && f.Type.Kind == types.Invalid {
		if f.Iceberg == "" {
			return "(none)"
		}
		return f.Iceberg
	}
	for i := range f.Children {
		if s := f.Children[i].Unreadable(); s != "" {
			return s
		}
	}
	return ""
}

func (s *Schema) maxID() int { return maxID(s.Fields) }

func maxID(fields []Field) int {
	m := 0
	for i := range fields {
		m = max(m, fields[i].ID, maxID(fields[i].Children))
	}
	return m
}
