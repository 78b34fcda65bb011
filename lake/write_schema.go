package lake

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/types"
)

// json gives the schema as metadata spells it (spec, appendix C).
func (s *Schema) json() *schemaJSON {
	id := s.ID
	j := &schemaJSON{Type: "struct", SchemaID: &id, Identifier: s.Identifier, Fields: []fieldJSON{}}
	for i := range s.Fields {
		j.Fields = append(j.Fields, s.Fields[i].json())
	}
	return j
}

func (f *Field) json() fieldJSON {
	j := fieldJSON{ID: &f.ID, Name: f.Name, Required: f.Required, Doc: f.Doc, Type: f.typeJSON()}
	if f.InitialDefault != nil {
		j.InitialDefault = datumJSON(f, *f.InitialDefault)
	}
	if f.WriteDefault != nil {
		j.WriteDefault = datumJSON(f, *f.WriteDefault)
	}
	return j
}

func (f *Field) typeJSON() json.RawMessage {
	var v any
	switch f.Iceberg {
	case "struct":
		fields := []fieldJSON{}
		for i := range f.Children {
			fields = append(fields, f.Children[i].json())
		}
		v = map[string]any{"type": "struct", "fields": fields}
	case "list":
		e := &f.Children[0]
		v = map[string]any{"type": "list", "element-id": e.ID, "element": e.typeJSON(), "element-required": e.Required}
	case "map":
		k, w := &f.Children[0], &f.Children[1]
		v = map[string]any{"type": "map", "key-id": k.ID, "key": k.typeJSON(), "value-id": w.ID, "value": w.typeJSON(), "value-required": w.Required}
	default:
		v = f.Iceberg
		if p, s, ok := decimalParams(f.Iceberg); ok {
			v = fmt.Sprintf("decimal(%d, %d)", p, s) // the spelling that all readers take
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return b
}

// fresh copies the schema with new ids, given level by level as other writers do; next is the
// last id used.
func (s *Schema) fresh(next *int) *Schema {
	out := &Schema{ID: s.ID, Identifier: s.Identifier}
	out.Fields = freshFields(s.Fields, next)
	return out
}

func freshFields(in []Field, next *int) []Field {
	out := make([]Field, len(in))
	for i := range in {
		out[i] = in[i]
		*next++
		out[i].ID = *next
	}
	for i := range out {
		if out[i].Children != nil {
			out[i].Children = freshFields(in[i].Children, next)
		}
	}
	return out
}

// datumJSON writes a default value (spec, appendix D, "JSON single-value serialization").
func datumJSON(f *Field, d types.Datum) json.RawMessage {
	if d.IsNull() {
		return nil
	}
	var v any
	switch f.Iceberg {
	case "boolean":
		v = d.Bool()
	case "int", "long":
		return json.RawMessage(strconv.FormatInt(d.Int(), 10))
	case "float", "double":
		if x := d.Float(); math.IsNaN(x) || math.IsInf(x, 0) {
			v = strconv.FormatFloat(x, 'g', -1, 64)
		} else if f.Iceberg == "float" {
			v = float32(x)
		} else {
			v = x
		}
	case "struct":
		m := map[string]json.RawMessage{}
		for i := range f.Children {
			if raw := datumJSON(&f.Children[i], d.List()[i]); raw != nil {
				m[strconv.Itoa(f.Children[i].ID)] = raw
			}
		}
		v = m
	case "list":
		v = listJSON(&f.Children[0], d.List(), -1)
	case "map":
		v = map[string]any{"keys": listJSON(&f.Children[0], d.List(), 0), "values": listJSON(&f.Children[1], d.List(), 1)}
	default:
		v = datumText(f.Iceberg, d)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

func listJSON(f *Field, list []types.Datum, member int) []json.RawMessage {
	out := []json.RawMessage{}
	for _, d := range list {
		if member >= 0 {
			d = d.List()[member]
		}
		raw := datumJSON(f, d)
		if raw == nil {
			raw = json.RawMessage("null")
		}
		out = append(out, raw)
	}
	return out
}

func datumText(iceberg string, d types.Datum) string {
	switch iceberg {
	case "date":
		return time.Unix(d.Int()*86400, 0).UTC().Format("2006-01-02")
	case "time":
		return time.UnixMicro(d.Int()).UTC().Format("15:04:05.000000")
	case "timestamp":
		return time.UnixMicro(d.Int()).UTC().Format("2006-01-02T15:04:05.000000")
	case "timestamptz":
		return time.UnixMicro(d.Int()).UTC().Format("2006-01-02T15:04:05.000000") + "+00:00"
	case "timestamp_ns":
		return time.Unix(0, d.Int()).UTC().Format("2006-01-02T15:04:05.000000000")
	case "timestamptz_ns":
		return time.Unix(0, d.Int()).UTC().Format("2006-01-02T15:04:05.000000000") + "+00:00"
	case "uuid":
		u, _ := uuid.FromBytes(uuidBytes(d))
		return u.String()
	case "string":
		return d.Str()
	}
	if _, scale, ok := decimalParams(iceberg); ok {
		return decimalString(unscaled(d), scale)
	}
	return hex.EncodeToString([]byte(d.Str()))
}

func decimalString(w types.Int128, scale int) string {
	s := w.Big().String()
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	if len(s) <= scale {
		s = strings.Repeat("0", scale-len(s)+1) + s
	}
	if scale > 0 {
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	if neg {
		s = "-" + s
	}
	return s
}

// HumanValue spells a partition value as it stands in folder names and in the metadata table
// partitions: other writers' spelling (binary as Base64, times in ISO form, months as 2024-05).
func (t Transform) HumanValue(d types.Datum, iceberg string) string {
	if d.IsNull() {
		return "null"
	}
	switch t.Kind {
	case Year:
		return fmt.Sprintf("%04d", 1970+d.Int())
	case Month:
		return fmt.Sprintf("%04d-%02d", 1970+floorDiv(d.Int(), 12), d.Int()-12*floorDiv(d.Int(), 12)+1)
	case Day:
		return datumText("date", d)
	case Hour:
		return time.Unix(d.Int()*3600, 0).UTC().Format("2006-01-02-15")
	}
	switch iceberg {
	case "boolean":
		return strconv.FormatBool(d.Bool())
	case "int", "long":
		return strconv.FormatInt(d.Int(), 10)
	case "float":
		return strconv.FormatFloat(d.Float(), 'g', -1, 32)
	case "double":
		return strconv.FormatFloat(d.Float(), 'g', -1, 64)
	case "binary":
		return base64.StdEncoding.EncodeToString([]byte(d.Str()))
	case "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns":
		return trimFraction(datumText(iceberg, d))
	}
	if _, ok := fixedLength(iceberg); ok {
		return base64.StdEncoding.EncodeToString([]byte(d.Str()))
	}
	return datumText(iceberg, d)
}

// trimFraction drops a fraction of zeros: 12:34:56.000000 → 12:34:56.
func trimFraction(s string) string {
	s, zone := strings.TrimSuffix(s, "+00:00"), strings.HasSuffix(s, "+00:00")
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if zone {
		s += "+00:00"
	}
	return s
}
