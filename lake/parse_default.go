package lake

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/types"
)

// parseDefault reads a default value (spec, appendix D, "JSON single-value serialization").
// A value that cannot be read as the field's type gives nil, like no default at all: it can
// only be wrong for rows older than the field, and the field's Iceberg type refuses those.
func parseDefault(f *Field, raw json.RawMessage) *types.Datum {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	d, ok := jsonDatum(f, raw)
	if !ok || d.IsNull() {
		return nil
	}
	return &d
}

func jsonDatum(f *Field, raw json.RawMessage) (types.Datum, bool) {
	if string(raw) == "null" {
		return types.Null, true
	}
	switch f.Iceberg {
	case "struct":
		return jsonStruct(f, raw)
	case "list":
		var items []json.RawMessage
		if json.Unmarshal(raw, &items) != nil {
			return types.Null, false
		}
		return jsonList(&f.Children[0], items)
	case "map":
		return jsonMap(f, raw)
	case "boolean":
		var b bool
		err := json.Unmarshal(raw, &b)
		return types.NewBool(b), err == nil
	case "int", "long":
		n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
		return types.NewInt(n), err == nil
	case "float", "double":
		v, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
		if f.Iceberg == "float" {
			v = float64(float32(v))
		}
		return types.NewFloat(v), err == nil
	}
	s := strings.Trim(string(raw), `"`)
	if strings.HasPrefix(string(raw), `"`) {
		if json.Unmarshal(raw, &s) != nil {
			return types.Null, false
		}
	}
	return textDatum(f, s)
}

func textDatum(f *Field, s string) (types.Datum, bool) {
	switch f.Iceberg {
	case "string":
		return types.NewStr(s), true
	case "uuid":
		u, err := uuid.Parse(s)
		return uuidDatum(u[:]), err == nil
	case "date":
		t, err := time.Parse("2006-01-02", s)
		return types.NewInt(floorDiv(t.Unix(), 86400)), err == nil
	case "time":
		t, err := time.Parse("15:04:05.999999999", s)
		return types.NewInt(int64(t.Sub(t.Truncate(24*time.Hour)) / time.Microsecond)), err == nil
	case "timestamp", "timestamptz":
		t, ok := parseInstant(s)
		return types.NewInt(t.UnixMicro()), ok
	case "timestamp_ns", "timestamptz_ns":
		t, ok := parseInstant(s)
		return types.NewInt(t.UnixNano()), ok
	}
	if _, ok := fixedLength(f.Iceberg); ok || f.Iceberg == "binary" {
		b, err := hex.DecodeString(s)
		return types.NewStr(string(b)), err == nil
	}
	if _, scale, ok := decimalParams(f.Iceberg); ok {
		return decimalText(s, scale, f.Type)
	}
	return types.Null, false
}

func parseInstant(s string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02T15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// decimalText reads "14.20" or "1E-3" as an unscaled value at scale.
func decimalText(s string, scale int, t types.Type) (types.Datum, bool) {
	if len(s) > 128 || strings.Contains(s, "/") {
		return types.Null, false
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		if e, err := strconv.Atoi(s[i+1:]); err != nil || e > 64 || e < -64 {
			return types.Null, false
		}
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return types.Null, false
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	if !r.IsInt() {
		return types.Null, false
	}
	return bigDatum(r.Num(), t)
}

func jsonStruct(f *Field, raw json.RawMessage) (types.Datum, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return types.Null, false
	}
	row := make([]types.Datum, len(f.Children))
	for i := range f.Children {
		c := &f.Children[i]
		m, ok := members[strconv.Itoa(c.ID)]
		if !ok {
			continue
		}
		if row[i], ok = jsonDatum(c, m); !ok {
			return types.Null, false
		}
	}
	return types.NewStruct(row), true
}

func jsonList(elem *Field, items []json.RawMessage) (types.Datum, bool) {
	list := make([]types.Datum, len(items))
	for i, it := range items {
		var ok bool
		if list[i], ok = jsonDatum(elem, it); !ok {
			return types.Null, false
		}
	}
	return types.NewList(list), true
}

func jsonMap(f *Field, raw json.RawMessage) (types.Datum, bool) {
	var m struct{ Keys, Values []json.RawMessage }
	if json.Unmarshal(raw, &m) != nil || len(m.Keys) != len(m.Values) {
		return types.Null, false
	}
	keys, ok1 := jsonList(&f.Children[0], m.Keys)
	values, ok2 := jsonList(&f.Children[1], m.Values)
	if !ok1 || !ok2 {
		return types.Null, false
	}
	list := make([]types.Datum, len(m.Keys))
	for i := range list {
		list[i] = types.NewStruct([]types.Datum{keys.List()[i], values.List()[i]})
	}
	return types.NewList(list), true
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

func isNaN(f float64) bool { return math.IsNaN(f) }
