package exec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"sort"

	"github.com/lhsql/lhsql/types"
)

// appendJSONKey codes a jsonb value in PostgreSQL's order: null < string < number < boolean <
// array < object; shorter arrays and objects before longer ones, an empty array first of all.
// (src/backend/utils/adt/jsonb_util.c, compareJsonbContainers.)
func appendJSONKey(dst []byte, s string) []byte {
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		v = s // never stored as jsonb; still a key
	}
	return appendJSONValue(dst, v)
}

func appendJSONValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return appendJSONString(append(dst, 2), v)
	case json.Number:
		d, err := types.ParseDecimal(string(v))
		if err != nil {
			return appendJSONString(append(dst, 2), string(v))
		}
		return appendDecimalKey(append(dst, 3), d)
	case bool:
		if v {
			return append(dst, 4, 1)
		}
		return append(dst, 4, 0)
	case []any:
		if len(v) == 0 {
			return append(dst, 0)
		}
		dst = binary.BigEndian.AppendUint32(append(dst, 5), uint32(len(v)))
		for _, x := range v {
			dst = appendJSONValue(dst, x)
		}
		return dst
	case map[string]any:
		// Keys are ordered by length, then bytes, as jsonb stores them.
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Slice(keys, func(i, j int) bool {
			if len(keys[i]) != len(keys[j]) {
				return len(keys[i]) < len(keys[j])
			}
			return keys[i] < keys[j]
		})
		dst = binary.BigEndian.AppendUint32(append(dst, 6), uint32(len(v)))
		for _, k := range keys {
			dst = appendJSONString(dst, k)
			dst = appendJSONValue(dst, v[k])
		}
		return dst
	}
	return append(dst, 1)
}

func appendJSONString(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		dst = append(dst, s[i])
		if s[i] == 0 {
			dst = append(dst, 0xFF)
		}
	}
	return append(dst, 0, 1)
}
