package pgfunc

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// JSON: PostgreSQL's chapter 9.16. A json value is its text as given, a jsonb value its
// canonical text; so taking a part out of either is cutting its text, and only functions that
// look inside values parse them.

var (
	keyText      = types.Field{Name: "key", Type: eval.TText}
	eachJSON     = types.RecordOf(keyText, types.Field{Name: "value", Type: eval.TJSON})
	eachJSONB    = types.RecordOf(keyText, types.Field{Name: "value", Type: eval.TJSONB})
	eachJSONText = types.RecordOf(keyText, types.Field{Name: "value", Type: eval.TText})
)

func registerJson() {
	for _, j := range []struct {
		t    types.Type
		name string // "json" or "jsonb"
		each types.Type
	}{{eval.TJSON, "json", eachJSON}, {eval.TJSONB, "jsonb", eachJSONB}} {
		t, n := j.t, j.name
		b := n == "jsonb"
		// Type json keeps escapes that mean nothing until something reads the strings.
		read := func(f eval.Row) eval.Row {
			if b {
				return f
			}
			return func(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
				if err := types.CheckJSONEscapes(a[0].Str()); err != nil {
					return types.Null, err
				}
				return f(c, a)
			}
		}
		readSet := func(f eval.SetKernel) eval.SetKernel {
			if b {
				return f
			}
			return func(c *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
				if err := types.CheckJSONEscapes(a[0].Str()); err != nil {
					return err
				}
				return f(c, a, yield)
			}
		}
		// Reading a json can fail so; a jsonb has been read.
		total := func(f eval.Func) eval.Func {
			if b {
				return f.NeverFails()
			}
			return f
		}
		eval.Register(
			total(eval.Op("->", []types.Type{t, eval.TText}, t, read(eval.Row(jsonField(false))))),
			total(eval.Op("->", []types.Type{t, eval.TInt4}, t, read(eval.Row(jsonElement(b, false))))),
			total(eval.Op("->>", []types.Type{t, eval.TText}, eval.TText, read(eval.Row(jsonField(true))))),
			total(eval.Op("->>", []types.Type{t, eval.TInt4}, eval.TText, read(eval.Row(jsonElement(b, true))))),
			total(eval.Op("#>", []types.Type{t, eval.TTextArray}, t, read(eval.Row(jsonPath(false))))),
			total(eval.Op("#>>", []types.Type{t, eval.TTextArray}, eval.TText, read(eval.Row(jsonPath(true))))),
			eval.Immutable(n+"_extract_path", []types.Type{t, eval.TText}, t, read(eval.Row(jsonVariadicPath(false)))).AsVariadic(),
			eval.Immutable(n+"_extract_path_text", []types.Type{t, eval.TText}, eval.TText, read(eval.Row(jsonVariadicPath(true)))).AsVariadic(),
			total(eval.Immutable(n+"_object_field", []types.Type{t, eval.TText}, t, read(eval.Row(jsonField(false))))),
			total(eval.Immutable(n+"_object_field_text", []types.Type{t, eval.TText}, eval.TText, read(eval.Row(jsonField(true))))),
			total(eval.Immutable(n+"_array_element", []types.Type{t, eval.TInt4}, t, read(eval.Row(jsonElement(b, false))))),
			total(eval.Immutable(n+"_array_element_text", []types.Type{t, eval.TInt4}, eval.TText, read(eval.Row(jsonElement(b, true))))),
			eval.Immutable(n+"_array_length", []types.Type{t}, eval.TInt4, eval.Row(jsonArrayLength)),
			eval.Immutable(n+"_typeof", []types.Type{t}, eval.TText, eval.Fn1(func(s string) string { return jsonTypeof(s) })).NeverFails(),
			eval.Immutable(n+"_each", []types.Type{t}, j.each, readSet(jsonEach(n+"_each", b, false))),
			eval.Immutable(n+"_each_text", []types.Type{t}, eachJSONText, readSet(jsonEach(n+"_each_text", b, true))),
			eval.Immutable(n+"_array_elements", []types.Type{t}, t, jsonElements(n+"_array_elements", b, false)),
			eval.Immutable(n+"_array_elements_text", []types.Type{t}, eval.TText, readSet(jsonElements(n+"_array_elements_text", b, true))),
			eval.Immutable(n+"_object_keys", []types.Type{t}, eval.TText, readSet(jsonKeys(n+"_object_keys", b))),
			eval.Immutable(n+"_strip_nulls", []types.Type{t}, t, eval.Ask1(func(c *eval.Ctx, s string) (string, error) { return jsonStripNulls(c, s, b) })),
		)
	}
	isJSON := func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		s := a[0].Str()
		if types.ValidateJSON(s) != nil {
			return types.NewBool(false), nil
		}
		kind := jsonTypeof(s)
		switch want := a[1].Str(); want {
		case "":
			return types.NewBool(true), nil
		case "scalar":
			return types.NewBool(kind != "object" && kind != "array"), nil
		default:
			return types.NewBool(kind == want), nil
		}
	}
	eval.Register(eval.Immutable("is_json", []types.Type{eval.TText, eval.TText, eval.TBool}, eval.TBool, eval.Row(isJSON)).NeverFails())
}

// ---- cutting JSON text; the text is known to be valid ----

func jsonSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r') {
		i++
	}
	return i
}

// jsonEnd gives the end of the value that starts at i.
func jsonEnd(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
			i++
			if depth == 0 {
				return min(i, len(s))
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth <= 0 {
				if depth < 0 {
					return i // the end of a scalar inside something
				}
				return i + 1
			}
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return len(s)
}

// jsonMembers calls f for each member of an object; ok is false for anything else. key is still
// quoted.
func jsonMembers(s string, f func(key, value string) bool) (ok bool) {
	i := jsonSpace(s, 0)
	if i >= len(s) || s[i] != '{' {
		return false
	}
	for i = jsonSpace(s, i+1); i < len(s) && s[i] != '}'; {
		kEnd := jsonEnd(s, i)
		key := s[i:kEnd]
		i = min(jsonSpace(s, jsonSpace(s, kEnd)+1), len(s))
		vEnd := jsonEnd(s, i)
		if !f(key, s[i:vEnd]) {
			return true
		}
		if i = jsonSpace(s, vEnd); i < len(s) && s[i] == ',' {
			i = jsonSpace(s, i+1)
		}
	}
	return true
}

// jsonItems calls f for each element of an array; ok is false for anything else.
func jsonItems(s string, f func(value string) bool) (ok bool) {
	i := jsonSpace(s, 0)
	if i >= len(s) || s[i] != '[' {
		return false
	}
	for i = jsonSpace(s, i+1); i < len(s) && s[i] != ']'; {
		end := jsonEnd(s, i)
		if !f(s[i:end]) {
			return true
		}
		if i = jsonSpace(s, end); i < len(s) && s[i] == ',' {
			i = jsonSpace(s, i+1)
		}
	}
	return true
}

// jsonString is the value of a quoted string.
func jsonString(s string) string {
	if len(s) >= 2 && s[0] == '"' && strings.IndexByte(s, '\\') < 0 {
		return s[1 : len(s)-1]
	}
	v, err := types.ParseJSON(s)
	if err != nil {
		return s
	}
	return v.Text
}

// jsonText is a part as text: strings without quotes, null as NULL.
func jsonText(s string) types.Datum {
	switch {
	case s == "null":
		return types.Null
	case s != "" && s[0] == '"':
		return types.NewStr(jsonString(s))
	}
	return types.NewStr(s)
}

func jsonPart(s string, text bool) types.Datum {
	if text {
		return jsonText(s)
	}
	return types.NewStr(s)
}

func getMember(s, key string) (value string, found bool) {
	jsonMembers(s, func(k, v string) bool {
		if jsonString(k) == key {
			value, found = v, true // the last of equal keys counts
		}
		return true
	})
	return value, found
}

func getItem(s string, n int64) (value string, found bool) {
	if n < 0 {
		length := int64(0)
		jsonItems(s, func(string) bool { length++; return true })
		if n += length; n < 0 {
			return "", false
		}
	}
	jsonItems(s, func(v string) bool {
		if n == 0 {
			value, found = v, true
		}
		n--
		return n >= 0
	})
	return value, found
}

func jsonField(text bool) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		if v, ok := getMember(a[0].Str(), a[1].Str()); ok {
			return jsonPart(v, text), nil
		}
		return types.Null, nil
	}
}

// jsonElement is the element of an array; a jsonb scalar counts as an array of itself.
func jsonElement(b, text bool) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		if s := a[0].Str(); b && s != "" && s[0] != '{' && s[0] != '[' {
			if n := a[1].Int(); n == 0 || n == -1 {
				return jsonPart(s, text), nil
			}
		}
		if v, ok := getItem(a[0].Str(), a[1].Int()); ok {
			return jsonPart(v, text), nil
		}
		return types.Null, nil
	}
}

func followPath(s string, path []types.Datum, text bool) types.Datum {
	s = strings.TrimSpace(s)
	for _, p := range path {
		if p.IsNull() {
			return types.Null
		}
		v, ok := getMember(s, p.Str())
		if !ok {
			n, err := strconv.ParseInt(strings.TrimSpace(p.Str()), 10, 32)
			if err != nil {
				return types.Null
			}
			if v, ok = getItem(s, n); !ok {
				return types.Null
			}
		}
		s = v
	}
	return jsonPart(s, text)
}

func jsonPath(text bool) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		return followPath(a[0].Str(), a[1].List(), text), nil
	}
}

func jsonVariadicPath(text bool) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		return followPath(a[0].Str(), a[1:], text), nil
	}
}

func jsonTypeof(s string) string {
	i := jsonSpace(s, 0)
	if i >= len(s) {
		return "null"
	}
	switch s[i] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

func errJSON(format string, args ...any) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, format, args...)
}

func jsonArrayLength(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	n := int64(0)
	if jsonItems(a[0].Str(), func(string) bool { n++; return true }) {
		return types.NewInt(n), nil
	}
	if jsonTypeof(a[0].Str()) == "object" {
		return types.Null, errJSON("cannot get array length of a non-array")
	}
	return types.Null, errJSON("cannot get array length of a scalar")
}

func jsonEach(name string, b, text bool) eval.SetKernel {
	return func(_ *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
		var err error
		ok := jsonMembers(a[0].Str(), func(k, v string) bool {
			err = yield(types.NewStruct([]types.Datum{types.NewStr(jsonString(k)), jsonPart(v, text)}))
			return err == nil
		})
		switch {
		case ok:
			return err
		case b:
			return errJSON("cannot call %s on a non-object", name)
		case jsonTypeof(a[0].Str()) == "array":
			return errJSON("cannot deconstruct an array as an object")
		}
		return errJSON("cannot deconstruct a scalar")
	}
}

func jsonElements(name string, b, text bool) eval.SetKernel {
	return func(_ *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
		var err error
		ok := jsonItems(a[0].Str(), func(v string) bool {
			err = yield(jsonPart(v, text))
			return err == nil
		})
		switch {
		case ok:
			return err
		case jsonTypeof(a[0].Str()) == "object" && b:
			return errJSON("cannot extract elements from an object")
		case jsonTypeof(a[0].Str()) == "object":
			return errJSON("cannot call %s on a non-array", name)
		case b:
			return errJSON("cannot extract elements from a scalar")
		}
		return errJSON("cannot call %s on a scalar", name)
	}
}

func jsonKeys(name string, b bool) eval.SetKernel {
	return func(_ *eval.Ctx, a []types.Datum, yield func(types.Datum) error) error {
		var err error
		ok := jsonMembers(a[0].Str(), func(k, _ string) bool {
			err = yield(types.NewStr(jsonString(k)))
			return err == nil
		})
		switch {
		case ok:
			return err
		case jsonTypeof(a[0].Str()) == "array":
			return errJSON("cannot call %s on an array", name)
		}
		return errJSON("cannot call %s on a scalar", name)
	}
}

// jsonStripNulls drops members that are null, at every depth.
func jsonStripNulls(c *eval.Ctx, s string, b bool) (string, error) {
	v, err := types.ParseJSON(s, c.MustLive)
	if err != nil {
		return "", err
	}
	stripNulls(&v)
	if b {
		return string(v.AppendText(nil)), nil
	}
	return string(appendCompact(nil, &v)), nil
}

func stripNulls(v *types.JSONValue) {
	if v.Kind == types.JSONObject {
		var keys []string
		var items []types.JSONValue
		for i := range v.Items {
			if v.Items[i].Kind != types.JSONNull {
				keys, items = room.Append(keys, v.Keys[i]), room.Append(items, v.Items[i])
			}
		}
		v.Keys, v.Items = keys, items
	}
	for i := range v.Items {
		stripNulls(&v.Items[i])
	}
}

// appendCompact writes v without any space, as json's functions do.
func appendCompact(dst []byte, v *types.JSONValue) []byte {
	switch v.Kind {
	case types.JSONArray:
		dst = append(room.Grow(dst, 16), '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(room.Grow(dst, 16), ',')
			}
			dst = appendCompact(dst, &v.Items[i])
		}
		return append(room.Grow(dst, 16), ']')
	case types.JSONObject:
		dst = append(room.Grow(dst, 16), '{')
		for i := range v.Items {
			if i > 0 {
				dst = append(room.Grow(dst, 16), ',')
			}
			dst = append(types.AppendJSONString(dst, v.Keys[i]), ':')
			dst = appendCompact(dst, &v.Items[i])
		}
		return append(room.Grow(dst, 16), '}')
	}
	return v.AppendText(dst)
}
