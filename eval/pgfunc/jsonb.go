package pgfunc

import (
	"sort"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// What only jsonb has: containment, existence, concatenation, deletion and change.
func registerJsonb() {
	jj := eval.Sig(types.JSONB, types.JSONB)
	eval.Register(
		eval.Op("@>", jj, eval.TBool, eval.Ask2(jsonbContains)),
		eval.Op("<@", jj, eval.TBool, eval.Ask2(func(c *eval.Ctx, a, b string) (bool, error) { return jsonbContains(c, b, a) })),
		eval.Op("?", eval.Sig(types.JSONB, types.Text), eval.TBool, eval.Fn2(jsonbExists)).NeverFails(),
		eval.Op("?|", []types.Type{eval.TJSONB, eval.TTextArray}, eval.TBool, eval.Row(jsonbExistsSome(false))).NeverFails(),
		eval.Op("?&", []types.Type{eval.TJSONB, eval.TTextArray}, eval.TBool, eval.Row(jsonbExistsSome(true))).NeverFails(),
		// The operators' functions, by their names in pg_proc.
		eval.Immutable("jsonb_contains", jj, eval.TBool, eval.Ask2(jsonbContains)),
		eval.Immutable("jsonb_contained", jj, eval.TBool, eval.Ask2(func(c *eval.Ctx, a, b string) (bool, error) { return jsonbContains(c, b, a) })),
		eval.Immutable("jsonb_exists", eval.Sig(types.JSONB, types.Text), eval.TBool, eval.Fn2(jsonbExists)).NeverFails(),
		eval.Immutable("jsonb_exists_any", []types.Type{eval.TJSONB, eval.TTextArray}, eval.TBool, eval.Row(jsonbExistsSome(false))).NeverFails(),
		eval.Immutable("jsonb_exists_all", []types.Type{eval.TJSONB, eval.TTextArray}, eval.TBool, eval.Row(jsonbExistsSome(true))).NeverFails(),
		eval.Immutable("jsonb_concat", jj, eval.TJSONB, eval.Ask2(jsonbConcat)),
		eval.Immutable("jsonb_delete", eval.Sig(types.JSONB, types.Text), eval.TJSONB, eval.Ask2(func(c *eval.Ctx, s, key string) (string, error) { return jsonbDelete(c, s, []string{key}) })),
		eval.Immutable("jsonb_delete", eval.Sig(types.JSONB, types.Int4), eval.TJSONB, eval.Ask2(jsonbDeleteAt)),
		eval.Op("||", jj, eval.TJSONB, eval.Ask2(jsonbConcat)),
		eval.Op("-", eval.Sig(types.JSONB, types.Text), eval.TJSONB, eval.Ask2(func(c *eval.Ctx, s, key string) (string, error) { return jsonbDelete(c, s, []string{key}) })),
		eval.Op("-", []types.Type{eval.TJSONB, eval.TTextArray}, eval.TJSONB, eval.Ask2(func(c *eval.Ctx, s string, keys []types.Datum) (string, error) {
			var list []string
			for _, k := range keys {
				if !k.IsNull() {
					list = append(list, k.Str())
				}
			}
			return jsonbDelete(c, s, list)
		})),
		eval.Op("-", eval.Sig(types.JSONB, types.Int4), eval.TJSONB, eval.Ask2(jsonbDeleteAt)),
		eval.Op("#-", []types.Type{eval.TJSONB, eval.TTextArray}, eval.TJSONB, eval.Ask2(func(c *eval.Ctx, s string, path []types.Datum) (string, error) {
			return jsonbChange(c, s, path, jsonChange{op: 'd'})
		})),
		eval.Immutable("jsonb_delete_path", []types.Type{eval.TJSONB, eval.TTextArray}, eval.TJSONB, eval.Ask2(func(c *eval.Ctx, s string, path []types.Datum) (string, error) {
			return jsonbChange(c, s, path, jsonChange{op: 'd'})
		})),
		eval.Immutable("jsonb_set", []types.Type{eval.TJSONB, eval.TTextArray, eval.TJSONB}, eval.TJSONB, eval.Ask3(func(c *eval.Ctx, s string, path []types.Datum, v string) (string, error) {
			return jsonbChange(c, s, path, jsonChange{op: 's', value: v, create: true})
		})),
		eval.Immutable("jsonb_set", []types.Type{eval.TJSONB, eval.TTextArray, eval.TJSONB, eval.TBool}, eval.TJSONB, eval.Ask4(func(c *eval.Ctx, s string, path []types.Datum, v string, create bool) (string, error) {
			return jsonbChange(c, s, path, jsonChange{op: 's', value: v, create: create})
		})),
		eval.Immutable("jsonb_set_lax", []types.Type{eval.TJSONB, eval.TTextArray, eval.TJSONB}, eval.TJSONB, eval.Row(jsonbSetLax)).CalledOnNull(),
		eval.Immutable("jsonb_set_lax", []types.Type{eval.TJSONB, eval.TTextArray, eval.TJSONB, eval.TBool}, eval.TJSONB, eval.Row(jsonbSetLax)).CalledOnNull(),
		eval.Immutable("jsonb_set_lax", []types.Type{eval.TJSONB, eval.TTextArray, eval.TJSONB, eval.TBool, eval.TText}, eval.TJSONB, eval.Row(jsonbSetLax)).CalledOnNull(),
		eval.Immutable("jsonb_insert", []types.Type{eval.TJSONB, eval.TTextArray, eval.TJSONB}, eval.TJSONB, eval.Ask3(func(c *eval.Ctx, s string, path []types.Datum, v string) (string, error) {
			return jsonbChange(c, s, path, jsonChange{op: 'i', value: v})
		})),
		eval.Immutable("jsonb_insert", []types.Type{eval.TJSONB, eval.TTextArray, eval.TJSONB, eval.TBool}, eval.TJSONB, eval.Ask4(func(c *eval.Ctx, s string, path []types.Datum, v string, after bool) (string, error) {
			return jsonbChange(c, s, path, jsonChange{op: 'i', value: v, after: after})
		})),
		eval.Immutable("jsonb_pretty", eval.Sig(types.JSONB), eval.TText, eval.Ask1(func(c *eval.Ctx, s string) (string, error) {
			v, err := types.ParseJSON(s, c.MustLive)
			return string(appendPretty(nil, &v, 0)), err
		})),
	)
}

func jsonbContains(ctx *eval.Ctx, a, b string) (bool, error) {
	x, err := types.ParseJSON(a, ctx.MustLive)
	if err != nil {
		return false, err
	}
	y, err := types.ParseJSON(b, ctx.MustLive)
	if err != nil {
		return false, err
	}
	// An array contains a scalar that is one of its elements; that holds at the top only.
	if x.Kind == types.JSONArray && y.Kind != types.JSONArray && y.Kind != types.JSONObject {
		for i := range x.Items {
			if x.Items[i].Kind != types.JSONArray && x.Items[i].Kind != types.JSONObject && types.CompareJSON(&x.Items[i], &y) == 0 {
				return true, nil
			}
		}
		return false, nil
	}
	return containsJSON(ctx, &x, &y), nil
}

func containsJSON(c *eval.Ctx, x, y *types.JSONValue) bool {
	if x.Kind != y.Kind {
		return false
	}
	switch x.Kind {
	case types.JSONObject:
		for i := range y.Keys {
			m, ok := x.Get(y.Keys[i])
			if !ok || !containsJSON(c, m, &y.Items[i]) {
				return false
			}
		}
		return true
	case types.JSONArray:
		for i := range y.Items {
			found := false
			c.MustLive()
			for k := range x.Items {
				if containsJSON(c, &x.Items[k], &y.Items[i]) {
					found = true
					break
				}
			}
			if !found {
				return false
			}
		}
		return true
	}
	return types.CompareJSON(x, y) == 0
}

// jsonbExists: key is a member's name, an element that is a string, or the string itself.
func jsonbExists(s, key string) bool {
	found := false
	if jsonMembers(s, func(k, _ string) bool { found = jsonString(k) == key; return !found }) {
		return found
	}
	if jsonItems(s, func(v string) bool { found = v[0] == '"' && jsonString(v) == key; return !found }) {
		return found
	}
	return s != "" && s[0] == '"' && jsonString(s) == key
}

func jsonbExistsSome(all bool) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		for _, k := range a[1].List() {
			if k.IsNull() {
				continue
			}
			if jsonbExists(a[0].Str(), k.Str()) != all {
				return types.NewBool(!all), nil
			}
		}
		return types.NewBool(all), nil
	}
}

func jsonbText(v types.JSONValue) (string, error) {
	c, err := v.Canonical()
	return string(c.AppendText(nil)), err
}

func jsonbConcat(c *eval.Ctx, a, b string) (string, error) {
	x, err := types.ParseJSON(a, c.MustLive)
	if err != nil {
		return "", err
	}
	y, err := types.ParseJSON(b, c.MustLive)
	if err != nil {
		return "", err
	}
	if x.Kind == types.JSONObject && y.Kind == types.JSONObject {
		x.Keys, x.Items = append(x.Keys, y.Keys...), append(room.Grow(x.Items, len(y.Items)), y.Items...)
		return jsonbText(x)
	}
	list := func(v types.JSONValue) []types.JSONValue {
		if v.Kind == types.JSONArray {
			return v.Items
		}
		return []types.JSONValue{v}
	}
	return jsonbText(types.JSONValue{Kind: types.JSONArray, Items: append(room.Grow(list(x), len(list(y))), list(y)...)})
}

func jsonbDelete(c *eval.Ctx, s string, keys []string) (string, error) {
	v, err := types.ParseJSON(s, c.MustLive)
	if err != nil {
		return "", err
	}
	gone := map[string]bool{}
	for _, k := range keys {
		gone[k] = true
	}
	out := types.JSONValue{Kind: v.Kind}
	switch v.Kind {
	case types.JSONObject:
		for i, k := range v.Keys {
			if !gone[k] {
				out.Keys, out.Items = room.Append(out.Keys, k), room.Append(out.Items, v.Items[i])
			}
		}
	case types.JSONArray:
		for _, e := range v.Items {
			if e.Kind != types.JSONString || !gone[e.Text] {
				out.Items = room.Append(out.Items, e)
			}
		}
	default:
		return "", errJSON("cannot delete from scalar")
	}
	return string(out.AppendText(nil)), nil
}

func jsonbDeleteAt(c *eval.Ctx, s string, n int) (string, error) {
	v, err := types.ParseJSON(s, c.MustLive)
	if err != nil {
		return "", err
	}
	switch v.Kind {
	case types.JSONArray:
	case types.JSONObject:
		return "", errJSON("cannot delete from object using integer index")
	default:
		return "", errJSON("cannot delete from scalar")
	}
	if n < 0 {
		n += len(v.Items)
	}
	if n >= 0 && n < len(v.Items) {
		v.Items = append(v.Items[:n:n], v.Items[n+1:]...)
	}
	return string(v.AppendText(nil)), nil
}

// jsonChange is what happens at the end of a path: 's' set, 'i' insert, 'd' delete.
type jsonChange struct {
	op     byte
	value  string
	create bool // set: make what is missing
	after  bool // insert: behind the element
	parsed types.JSONValue
}

func jsonbChange(c *eval.Ctx, s string, path []types.Datum, ch jsonChange) (string, error) {
	v, err := types.ParseJSON(s, c.MustLive)
	if err != nil {
		return "", err
	}
	if v.Kind != types.JSONObject && v.Kind != types.JSONArray {
		if ch.op == 'd' {
			return "", errJSON("cannot delete path in scalar")
		}
		return "", errJSON("cannot set path in scalar")
	}
	if len(v.Items) == 0 && (ch.op == 'd' || ch.op == 's' && !ch.create) || len(path) == 0 {
		return s, nil
	}
	if ch.op != 'd' {
		if ch.parsed, err = types.ParseJSON(ch.value, c.MustLive); err != nil {
			return "", err
		}
	}
	for i, p := range path {
		if p.IsNull() {
			return "", sqlerr.New(sqlerr.NullNotAllowed, "path element at position %d is null", i+1)
		}
	}
	if err := ch.apply(&v, path, 0); err != nil {
		return "", err
	}
	return jsonbText(v)
}

func (ch *jsonChange) apply(v *types.JSONValue, path []types.Datum, level int) error {
	last := level == len(path)-1
	key := path[level].Str()
	switch v.Kind {
	case types.JSONObject:
		i := sort.Search(len(v.Keys), func(k int) bool {
			return len(v.Keys[k]) > len(key) || len(v.Keys[k]) == len(key) && v.Keys[k] >= key
		})
		have := i < len(v.Keys) && v.Keys[i] == key
		switch {
		case !last:
			if have {
				return ch.apply(&v.Items[i], path, level+1)
			}
		case have && ch.op == 'd':
			v.Keys = append(v.Keys[:i:i], v.Keys[i+1:]...)
			v.Items = append(v.Items[:i:i], v.Items[i+1:]...)
		case have && ch.op == 's':
			v.Items[i] = ch.parsed
		case have && ch.op == 'i':
			return sqlerr.New(sqlerr.InvalidParameterValue, "cannot replace existing key").
				WithHint("Try using the function jsonb_set to replace key value.")
		case ch.op == 'i' || ch.op == 's' && ch.create:
			v.Keys, v.Items = append(v.Keys, key), append(v.Items, ch.parsed)
		}
	case types.JSONArray:
		n, err := strconv.ParseInt(key, 10, 32)
		if err != nil {
			return sqlerr.New(sqlerr.InvalidTextRepresentation, "path element at position %d is not an integer: \"%s\"", level+1, key)
		}
		at := int(n)
		count := len(v.Items)
		if at < 0 {
			at += count
		}
		inside := at >= 0 && at < count
		switch {
		case !last:
			if inside {
				return ch.apply(&v.Items[at], path, level+1)
			}
		case ch.op == 'd':
			if inside {
				v.Items = append(v.Items[:at:at], v.Items[at+1:]...)
			}
		case inside && ch.op == 's':
			v.Items[at] = ch.parsed
		case ch.op == 'i' || ch.create:
			if inside && ch.after {
				at++
			}
			at = min(max(at, 0), count)
			items := append(v.Items[:at:at], ch.parsed)
			v.Items = append(items, v.Items[at:]...)
		}
	}
	return nil
}

func jsonbSetLax(c *eval.Ctx, a []types.Datum) (types.Datum, error) {
	create := true
	if len(a) > 3 {
		if a[3].IsNull() {
			return types.Null, nil
		}
		create = a[3].Bool()
	}
	if a[0].IsNull() || a[1].IsNull() {
		return types.Null, nil
	}
	treat := "use_json_null"
	if len(a) > 4 {
		if a[4].IsNull() {
			return types.Null, sqlerr.New(sqlerr.InvalidParameterValue,
				"null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
		}
		treat = a[4].Str()
	}
	ch := jsonChange{op: 's', create: create}
	if !a[2].IsNull() {
		ch.value = a[2].Str()
	} else {
		switch treat {
		case "raise_exception":
			return types.Null, sqlerr.New(sqlerr.NullNotAllowed, "JSON value must not be null").
				WithDetail("Exception was raised because null_value_treatment is \"raise_exception\".").
				WithHint("To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.")
		case "use_json_null":
			ch.value = "null"
		case "delete_key":
			ch = jsonChange{op: 'd'}
		case "return_target":
			return a[0], nil
		default:
			return types.Null, sqlerr.New(sqlerr.InvalidParameterValue,
				"null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"")
		}
	}
	s, err := jsonbChange(c, a[0].Str(), a[1].List(), ch)
	return types.NewStr(s), err
}

// appendPretty writes v over several lines, four spaces a level.
func appendPretty(dst []byte, v *types.JSONValue, level int) []byte {
	if v.Kind != types.JSONArray && v.Kind != types.JSONObject {
		return v.AppendText(dst)
	}
	open, shut := byte('['), byte(']')
	if v.Kind == types.JSONObject {
		open, shut = '{', '}'
	}
	indent := strings.Repeat("    ", level+1)
	dst = append(room.Grow(dst, 8), open)
	for i := range v.Items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = room.Grow(room.Text(append(room.Grow(dst, 16), '\n'), indent), 16)
		if v.Kind == types.JSONObject {
			dst = append(types.AppendJSONString(dst, v.Keys[i]), ": "...)
		}
		dst = appendPretty(dst, &v.Items[i], level+1)
	}
	dst = room.Text(append(room.Grow(dst, 16), '\n'), indent[4:])
	return append(room.Grow(dst, 16), shut)
}
