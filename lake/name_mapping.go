package lake

import "encoding/json"

// A name mapping finds a table's fields in files that carry no field ids (spec, "Name Mapping
// Serialization").

const nameMappingProperty = "schema.name-mapping.default"

// MappingOf is the mapping by which each field of a schema has the name that it has there.
func MappingOf(s *Schema) []MappedField { return mappedFields(mappingOf(s.Fields), 0) }

func mappingOf(fields []Field) []mappedJSON {
	var out []mappedJSON
	for i := range fields {
		id := fields[i].ID
		out = append(out, mappedJSON{ID: &id, Names: []string{fields[i].Name}, Fields: mappingOf(fields[i].Children)})
	}
	return out
}

// SetNameMapping gives the table the mapping of its present schema, if it has none. Later changes
// of the schema keep it up to date.
func (e *Edit) SetNameMapping() error {
	if e.s.properties[nameMappingProperty] != "" {
		return nil
	}
	b, err := json.Marshal(mappingOf(e.Schema().Fields))
	if err != nil {
		return err
	}
	return e.SetProperties(map[string]string{nameMappingProperty: string(b)})
}
