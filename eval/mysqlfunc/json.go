package mysqlfunc

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// JSON of MySQL's dialect is jsonb, which spells documents as MySQL does. Paths are MySQL's:
// $.key[1], $[last], $.*, $**.key.
func registerJson() {
	const j, text = types.JSONB, types.Text
	eval.Register(
		eval.Immutable("mysql:json_parse", eval.Sig(text), eval.TJSONB, eval.Try1(jsonParse)),
		eval.Stable("mysql:json_of", eval.Sig(types.Any), eval.TJSONB, eval.Kernel(jsonOf)),
		eval.Immutable("mysql:json_unquote", eval.Sig(j), eval.TText, eval.Try1(jsonUnquote)),
		eval.Immutable("mysql:json_unquote", eval.Sig(text), eval.TText, eval.Try1(textUnquote)),
		eval.Immutable("mysql:json_quote", eval.Sig(text), eval.TText, eval.Fn1(func(s string) string { return string(types.AppendJSONString(nil, s)) })).NeverFails(),
		eval.Immutable("mysql:json_extract", eval.Sig(j, text), eval.TJSONB, eval.Row(jsonExtract)).AsVariadic(),
		eval.Immutable("mysql:json_value", eval.Sig(j, text), eval.TText, eval.Row(jsonValueOf)),
		eval.Immutable("mysql:json_array", nil, eval.TJSONB, eval.Ask0(func(*eval.Ctx) (string, error) { return "[]", nil })),
		eval.Immutable("mysql:json_array", eval.Sig(j), eval.TJSONB, eval.Row(jsonArrayOf)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:json_object", nil, eval.TJSONB, eval.Ask0(func(*eval.Ctx) (string, error) { return "{}", nil })),
		eval.Immutable("mysql:json_object", eval.Sig(j), eval.TJSONB, eval.Row(jsonObjectOf)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:json_valid", eval.Sig(text), eval.TBool, eval.Fn1(func(s string) bool { return types.ValidateJSON(s) == nil })).NeverFails(),
		eval.Immutable("mysql:json_type", eval.Sig(j), eval.TText, eval.Try1(jsonTypeOf)),
		eval.Immutable("mysql:json_length", eval.Sig(j), eval.TInt4, eval.Try1(func(s string) (types.Datum, error) { return jsonLengthAt(s, "$") })),
		eval.Immutable("mysql:json_length", eval.Sig(j, text), eval.TInt4, eval.Try2(jsonLengthAt)),
		eval.Immutable("mysql:json_depth", eval.Sig(j), eval.TInt4, eval.Try1(jsonDepth)),
		eval.Immutable("mysql:json_keys", eval.Sig(j), eval.TJSONB, eval.Try1(func(s string) (types.Datum, error) { return jsonKeysAt(s, "$") })),
		eval.Immutable("mysql:json_keys", eval.Sig(j, text), eval.TJSONB, eval.Try2(jsonKeysAt)),
		eval.Immutable("mysql:json_contains", eval.Sig(j, j), eval.TBool, eval.Try2(func(a, b string) (types.Datum, error) { return jsonContainsAt(a, b, "$") })),
		eval.Immutable("mysql:json_contains", eval.Sig(j, j, text), eval.TBool, eval.Try3(jsonContainsAt)),
		eval.Immutable("mysql:json_contains_path", eval.Sig(j, text, text), eval.TBool, eval.Row(jsonContainsPath)).AsVariadic(),
		eval.Immutable("mysql:json_overlaps", eval.Sig(j, j), eval.TBool, eval.Try2(jsonOverlaps)),
		eval.Immutable("mysql:member of", eval.Sig(j, j), eval.TBool, eval.Try2(jsonMemberOf)),
		eval.Immutable("mysql:json_set", eval.Sig(j, text, j), eval.TJSONB, jsonModify(true, true)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:json_insert", eval.Sig(j, text, j), eval.TJSONB, jsonModify(true, false)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:json_replace", eval.Sig(j, text, j), eval.TJSONB, jsonModify(false, true)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:json_remove", eval.Sig(j, text), eval.TJSONB, eval.Row(jsonRemove)).AsVariadic(),
		eval.Immutable("mysql:json_merge_patch", eval.Sig(j), eval.TJSONB, jsonMerge(mergePatch)).AsVariadic(),
		eval.Immutable("mysql:json_merge_preserve", eval.Sig(j), eval.TJSONB, jsonMerge(mergePreserve)).AsVariadic(),
		eval.Immutable("mysql:json_pretty", eval.Sig(j), eval.TText, eval.Try1(func(s string) (string, error) {
			v, err := types.ParseJSON(s)
			return string(prettyJSON(nil, &v, 0)), err
		})),
	)
}

func jsonParse(s string) (string, error) {
	t, err := types.CanonicalJSON(s)
	if err != nil {
		return "", sqlerr.New(sqlerr.InvalidTextRepresentation, "Invalid JSON text: %s", err.Error())
	}
	return t, nil
}

// jsonOf makes a JSON value of any value.
func jsonOf(c *eval.Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	eval.OutStr(out, n)
	t, o := args[0].Type, eval.SessionText(c)
	return eval.EachRow(sel, n, func(i int) error {
		text, err := types.CanonicalJSON(string(types.AppendJSON(nil, args[0].Datum(i), t, o, true)))
		eval.PutStr(out, i, text)
		return err
	})
}

func jsonUnquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	v, err := types.ParseJSON(s)
	return v.Text, err
}

func textUnquote(s string) (string, error) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s, nil
	}
	v, err := types.ParseJSON(s)
	if err != nil {
		return "", sqlerr.New(sqlerr.InvalidTextRepresentation, "Invalid JSON text in argument 1 to function json_unquote")
	}
	return v.Text, nil
}

// ---- paths ----

// leg is one step of a path.
type leg struct {
	kind byte // 'k' key, 'i' index, 'r' range, '*' every member, 'a' every element, 'd' all below
	key  string
	from index
	to   index
}

// index counts from the end where last is set.
type index struct {
	n    int
	last bool
}

func (x index) in(n int) int {
	if x.last {
		return n - 1 - x.n
	}
	return x.n
}

func errPath(p string, at int) error {
	return sqlerr.New(sqlerr.InvalidParameterValue, "Invalid JSON path expression. The error is around character position %d.", at).
		WithDetail("The path is %q.", p)
}

// CheckJSONPath tells what is wrong with a path of MySQL's.
func CheckJSONPath(p string) error {
	_, _, err := parsePath(p)
	return err
}

func parsePath(p string) (legs []leg, wild bool, err error) {
	s := strings.TrimLeft(p, " ")
	if !strings.HasPrefix(s, "$") {
		return nil, false, errPath(p, 1)
	}
	i := 1
	skip := func() {
		for i < len(s) && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n') {
			i++
		}
	}
	for skip(); i < len(s); skip() {
		switch {
		case s[i] == '.':
			i++
			skip()
			switch {
			case i < len(s) && s[i] == '*':
				i++
				wild = true
				legs = append(legs, leg{kind: '*'})
			case i < len(s) && s[i] == '"':
				j := i + 1
				for j < len(s) && s[j] != '"' {
					if s[j] == '\\' {
						j++
					}
					j++
				}
				if j >= len(s) {
					return nil, false, errPath(p, i)
				}
				v, err := types.ParseJSON(s[i : j+1])
				if err != nil {
					return nil, false, errPath(p, i)
				}
				legs = append(legs, leg{kind: 'k', key: v.Text})
				i = j + 1
			default:
				j := i
				for j < len(s) && s[j] != '.' && s[j] != '[' && s[j] != ' ' && s[j] != '*' {
					j++
				}
				if j == i {
					return nil, false, errPath(p, i)
				}
				legs = append(legs, leg{kind: 'k', key: s[i:j]})
				i = j
			}
		case strings.HasPrefix(s[i:], "**"):
			i += 2
			wild = true
			legs = append(legs, leg{kind: 'd'})
		case s[i] == '[':
			end := strings.IndexByte(s[i:], ']')
			if end < 0 {
				return nil, false, errPath(p, i)
			}
			l, w, ok := parseIndex(strings.TrimSpace(s[i+1 : i+end]))
			if !ok {
				return nil, false, errPath(p, i)
			}
			wild = wild || w
			legs = append(legs, l)
			i += end + 1
		default:
			return nil, false, errPath(p, i)
		}
	}
	if n := len(legs); n > 0 && legs[n-1].kind == 'd' || n > 100 {
		return nil, false, errPath(p, len(s))
	}
	return legs, wild, nil
}

func parseIndex(s string) (l leg, wild, ok bool) {
	if s == "*" {
		return leg{kind: 'a'}, true, true
	}
	one := func(t string) (index, bool) {
		t = strings.TrimSpace(t)
		if r, is := strings.CutPrefix(t, "last"); is {
			r = strings.TrimSpace(r)
			if r == "" {
				return index{last: true}, true
			}
			n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(r, "-")))
			return index{n, true}, err == nil && strings.HasPrefix(r, "-")
		}
		n, err := strconv.Atoi(t)
		return index{n: n}, err == nil && n >= 0
	}
	if a, b, is := strings.Cut(s, " to "); is {
		x, ok1 := one(a)
		y, ok2 := one(b)
		return leg{kind: 'r', from: x, to: y}, true, ok1 && ok2
	}
	x, ok := one(s)
	return leg{kind: 'i', from: x}, false, ok
}

// follow calls yield for each value that the path reaches.
func follow(v *types.JSONValue, legs []leg, yield func(*types.JSONValue)) {
	if len(legs) == 0 {
		yield(v)
		return
	}
	l, rest := legs[0], legs[1:]
	switch l.kind {
	case 'k':
		if m, ok := v.Get(l.key); ok && v.Kind == types.JSONObject {
			follow(m, rest, yield)
		}
	case '*':
		if v.Kind == types.JSONObject {
			for i := range v.Items {
				follow(&v.Items[i], rest, yield)
			}
		}
	case 'a':
		if v.Kind == types.JSONArray {
			for i := range v.Items {
				follow(&v.Items[i], rest, yield)
			}
		}
	case 'i':
		if v.Kind != types.JSONArray {
			if l.from.in(1) == 0 {
				follow(v, rest, yield) // a scalar is an array of one
			}
			return
		}
		if i := l.from.in(len(v.Items)); i >= 0 && i < len(v.Items) {
			follow(&v.Items[i], rest, yield)
		}
	case 'r':
		if v.Kind == types.JSONArray {
			for i := max(l.from.in(len(v.Items)), 0); i <= l.to.in(len(v.Items)) && i < len(v.Items); i++ {
				follow(&v.Items[i], rest, yield)
			}
		}
	case 'd':
		follow(v, rest, yield)
		for i := range v.Items {
			follow(&v.Items[i], legs, yield)
		}
	}
}

func jsonAt(s, path string) (*types.JSONValue, error) {
	legs, wild, err := parsePath(path)
	if err != nil {
		return nil, err
	}
	if wild {
		return nil, sqlerr.New(sqlerr.InvalidParameterValue, "In this situation, path expressions may not contain the * and ** tokens or an array range.")
	}
	v, err := types.ParseJSON(s)
	if err != nil {
		return nil, err
	}
	var found *types.JSONValue
	follow(&v, legs, func(x *types.JSONValue) { found = x })
	return found, nil
}

func jsonDatum(v types.JSONValue) (types.Datum, error) {
	c, err := v.Canonical()
	if err != nil {
		return types.Null, err
	}
	return types.NewStr(string(c.AppendText(nil))), nil
}

func jsonExtract(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	v, err := types.ParseJSON(a[0].Str())
	if err != nil {
		return types.Null, err
	}
	many := len(a) > 2
	var found []types.JSONValue
	for _, p := range a[1:] {
		legs, wild, err := parsePath(p.Str())
		if err != nil {
			return types.Null, err
		}
		many = many || wild
		follow(&v, legs, func(x *types.JSONValue) { found = room.Append(found, *x) })
	}
	switch {
	case len(found) == 0:
		return types.Null, nil
	case many:
		return jsonDatum(types.JSONValue{Kind: types.JSONArray, Items: found})
	}
	return jsonDatum(found[0])
}

func jsonValueOf(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	v, err := jsonAt(a[0].Str(), a[1].Str())
	if err != nil || v == nil || v.Kind == types.JSONNull {
		return types.Null, err
	}
	t, err := jsonDatum(*v)
	if err != nil {
		return t, err
	}
	s, err := jsonUnquote(t.Str())
	return types.NewStr(s), err
}

func jsonItem(d types.Datum) (types.JSONValue, error) {
	if d.IsNull() {
		return types.JSONValue{Kind: types.JSONNull}, nil
	}
	return types.ParseJSON(d.Str())
}

func jsonArrayOf(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	v := types.JSONValue{Kind: types.JSONArray}
	for _, d := range a {
		x, err := jsonItem(d)
		if err != nil {
			return types.Null, err
		}
		v.Items = room.Append(v.Items, x)
	}
	return jsonDatum(v)
}

func jsonObjectOf(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if len(a)%2 != 0 {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "Incorrect parameter count in the call to native function 'json_object'")
	}
	v := types.JSONValue{Kind: types.JSONObject}
	for i := 0; i < len(a); i += 2 {
		if a[i].IsNull() {
			return types.Null, sqlerr.New(sqlerr.NullNotAllowed, "JSON documents may not contain NULL member names.")
		}
		k, err := jsonUnquote(a[i].Str())
		if err != nil {
			return types.Null, err
		}
		x, err := jsonItem(a[i+1])
		if err != nil {
			return types.Null, err
		}
		v.Keys, v.Items = append(v.Keys, k), append(v.Items, x)
	}
	return jsonDatum(v)
}

func jsonTypeOf(s string) (string, error) {
	v, err := types.ParseJSON(s)
	if err != nil {
		return "", err
	}
	switch v.Kind {
	case types.JSONObject:
		return "OBJECT", nil
	case types.JSONArray:
		return "ARRAY", nil
	case types.JSONString:
		return "STRING", nil
	case types.JSONNull:
		return "NULL", nil
	case types.JSONBool:
		return "BOOLEAN", nil
	}
	switch {
	case strings.ContainsAny(v.Text, "eE."):
		return "DOUBLE", nil
	case len(v.Text) > 19 || v.Text > "9223372036854775807" && len(v.Text) == 19:
		return "UNSIGNED INTEGER", nil
	}
	return "INTEGER", nil
}

func jsonLengthAt(s, path string) (types.Datum, error) {
	v, err := jsonAt(s, path)
	if err != nil || v == nil {
		return types.Null, err
	}
	if v.Kind == types.JSONArray || v.Kind == types.JSONObject {
		return types.NewInt(int64(len(v.Items))), nil
	}
	return types.NewInt(1), nil
}

func jsonDepth(s string) (int64, error) {
	v, err := types.ParseJSON(s)
	return depthOf(&v), err
}

func depthOf(v *types.JSONValue) int64 {
	most := int64(0)
	for i := range v.Items {
		most = max(most, depthOf(&v.Items[i]))
	}
	return most + 1
}

func jsonKeysAt(s, path string) (types.Datum, error) {
	v, err := jsonAt(s, path)
	if err != nil || v == nil || v.Kind != types.JSONObject {
		return types.Null, err
	}
	out := types.JSONValue{Kind: types.JSONArray}
	for _, k := range v.Keys {
		out.Items = room.Append(out.Items, types.JSONValue{Kind: types.JSONString, Text: k})
	}
	return types.NewStr(string(out.AppendText(nil))), nil
}

func jsonContainsAt(s, what, path string) (types.Datum, error) {
	v, err := jsonAt(s, path)
	if err != nil || v == nil {
		return types.Null, err
	}
	w, err := types.ParseJSON(what)
	if err != nil {
		return types.Null, err
	}
	return types.NewBool(mysqlContains(v, &w)), nil
}

// mysqlContains: an array contains an array whose every element it contains, and what one of
// its elements is; an object an object whose members its own contain.
func mysqlContains(v, w *types.JSONValue) bool {
	switch {
	case v.Kind == types.JSONArray && w.Kind == types.JSONArray:
		for i := range w.Items {
			if !mysqlContains(v, &w.Items[i]) {
				return false
			}
		}
		return true
	case v.Kind == types.JSONArray:
		for i := range v.Items {
			if v.Items[i].Kind == types.JSONArray && mysqlContains(&v.Items[i], w) || mysqlContains(&v.Items[i], w) {
				return true
			}
		}
		return false
	case v.Kind == types.JSONObject && w.Kind == types.JSONObject:
		for i, k := range w.Keys {
			m, ok := v.Get(k)
			if !ok || !mysqlContains(m, &w.Items[i]) {
				return false
			}
		}
		return true
	}
	return sameJSON(v, w)
}

func sameJSON(v, w *types.JSONValue) bool {
	return v.Kind == w.Kind && types.CompareJSON(v, w) == 0
}

func jsonContainsPath(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	v, err := types.ParseJSON(a[0].Str())
	if err != nil {
		return types.Null, err
	}
	all := strings.EqualFold(a[1].Str(), "all")
	if !all && !strings.EqualFold(a[1].Str(), "one") {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "The oneOrAll argument to json_contains_path may take these values: 'one' or 'all'.")
	}
	for _, p := range a[2:] {
		legs, _, err := parsePath(p.Str())
		if err != nil {
			return types.Null, err
		}
		found := false
		follow(&v, legs, func(*types.JSONValue) { found = true })
		if found != all {
			return types.NewBool(found), nil
		}
	}
	return types.NewBool(all), nil
}

func jsonOverlaps(a, b string) (bool, error) {
	v, err := types.ParseJSON(a)
	if err != nil {
		return false, err
	}
	w, err := types.ParseJSON(b)
	if err != nil {
		return false, err
	}
	if v.Kind == types.JSONObject && w.Kind == types.JSONObject {
		for i, k := range v.Keys {
			if m, ok := w.Get(k); ok && sameJSON(&v.Items[i], m) {
				return true, nil
			}
		}
		return false, nil
	}
	items := func(x types.JSONValue) []types.JSONValue {
		if x.Kind == types.JSONArray {
			return x.Items
		}
		return []types.JSONValue{x}
	}
	for _, x := range items(v) {
		for _, y := range items(w) {
			if sameJSON(&x, &y) {
				return true, nil
			}
		}
	}
	return false, nil
}

func jsonMemberOf(x, list string) (bool, error) {
	v, err := types.ParseJSON(x)
	if err != nil {
		return false, err
	}
	w, err := types.ParseJSON(list)
	if err != nil {
		return false, err
	}
	if w.Kind != types.JSONArray {
		return sameJSON(&v, &w), nil
	}
	for i := range w.Items {
		if sameJSON(&v, &w.Items[i]) {
			return true, nil
		}
	}
	return false, nil
}

// ---- changing ----

func jsonModify(insert, replace bool) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		if a[0].IsNull() {
			return types.Null, nil
		}
		if len(a)%2 == 0 {
			return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "Incorrect parameter count in the call to a JSON function")
		}
		v, err := types.ParseJSON(a[0].Str())
		if err != nil {
			return types.Null, err
		}
		for i := 1; i < len(a); i += 2 {
			if a[i].IsNull() {
				return types.Null, nil
			}
			// As the second and later pairs arrive as JSON, a path may be quoted.
			path, err := textUnquote(a[i].Str())
			if err != nil {
				return types.Null, err
			}
			legs, wild, err := parsePath(path)
			if err != nil {
				return types.Null, err
			}
			if wild {
				return types.Null, errPath(path, 1)
			}
			x, err := jsonItem(a[i+1])
			if err != nil {
				return types.Null, err
			}
			putJSON(&v, legs, x, insert, replace)
		}
		return jsonDatum(v)
	}
}

// putJSON puts x at the end of a path: in place of what is there, or as a new member or element.
func putJSON(v *types.JSONValue, legs []leg, x types.JSONValue, insert, replace bool) {
	if len(legs) == 0 {
		if replace {
			*v = x
		}
		return
	}
	l, rest := legs[0], legs[1:]
	if l.kind == 'k' {
		if v.Kind != types.JSONObject {
			return
		}
		if m, ok := v.Get(l.key); ok {
			putJSON(m, rest, x, insert, replace)
		} else if insert && len(rest) == 0 {
			v.Keys, v.Items = append(v.Keys, l.key), append(v.Items, x)
		}
		return
	}
	if v.Kind != types.JSONArray {
		switch i := l.from.in(1); {
		case i == 0:
			putJSON(v, rest, x, insert, replace)
		case i > 0 && insert && len(rest) == 0:
			*v = types.JSONValue{Kind: types.JSONArray, Items: []types.JSONValue{*v, x}}
		}
		return
	}
	switch i := l.from.in(len(v.Items)); {
	case i >= 0 && i < len(v.Items):
		putJSON(&v.Items[i], rest, x, insert, replace)
	case i >= len(v.Items) && insert && len(rest) == 0:
		v.Items = room.Append(v.Items, x)
	}
}

func jsonRemove(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	v, err := types.ParseJSON(a[0].Str())
	if err != nil {
		return types.Null, err
	}
	for _, p := range a[1:] {
		legs, wild, err := parsePath(p.Str())
		if err != nil {
			return types.Null, err
		}
		if wild || len(legs) == 0 {
			return types.Null, errPath(p.Str(), 1)
		}
		last := legs[len(legs)-1]
		follow(&v, legs[:len(legs)-1], func(x *types.JSONValue) { removeLeg(x, last) })
	}
	return jsonDatum(v)
}

func removeLeg(x *types.JSONValue, l leg) {
	at := -1
	switch {
	case l.kind == 'k' && x.Kind == types.JSONObject:
		for i, k := range x.Keys {
			if k == l.key {
				at = i
			}
		}
		if at >= 0 {
			x.Keys = append(x.Keys[:at:at], x.Keys[at+1:]...)
		}
	case l.kind == 'i' && x.Kind == types.JSONArray:
		at = l.from.in(len(x.Items))
	}
	if at >= 0 && at < len(x.Items) {
		x.Items = append(x.Items[:at:at], x.Items[at+1:]...)
	}
}

// jsonMerge folds the documents from the left.
func jsonMerge(merge func(v, w types.JSONValue) types.JSONValue) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		v, err := types.ParseJSON(a[0].Str())
		for _, d := range a[1:] {
			if err != nil {
				return types.Null, err
			}
			var w types.JSONValue
			w, err = types.ParseJSON(d.Str())
			v = merge(v, w)
		}
		if err != nil {
			return types.Null, err
		}
		return jsonDatum(v)
	}
}

func mergePatch(v, w types.JSONValue) types.JSONValue {
	if w.Kind != types.JSONObject {
		return w
	}
	if v.Kind != types.JSONObject {
		v = types.JSONValue{Kind: types.JSONObject}
	}
	for i, k := range w.Keys {
		removed := w.Items[i].Kind == types.JSONNull
		m, ok := v.Get(k)
		switch {
		case removed:
			removeLeg(&v, leg{kind: 'k', key: k})
		case ok:
			*m = mergePatch(*m, w.Items[i])
		default:
			v.Keys = append(v.Keys, k)
			v.Items = append(v.Items, mergePatch(types.JSONValue{Kind: types.JSONNull}, w.Items[i]))
		}
	}
	return v
}

func mergePreserve(v, w types.JSONValue) types.JSONValue {
	if v.Kind == types.JSONObject && w.Kind == types.JSONObject {
		for i, k := range w.Keys {
			if m, ok := v.Get(k); ok {
				*m = mergePreserve(*m, w.Items[i])
			} else {
				v.Keys, v.Items = append(v.Keys, k), append(v.Items, w.Items[i])
			}
		}
		return v
	}
	items := func(x types.JSONValue) []types.JSONValue {
		if x.Kind == types.JSONArray {
			return x.Items
		}
		return []types.JSONValue{x}
	}
	return types.JSONValue{Kind: types.JSONArray, Items: append(append([]types.JSONValue{}, items(v)...), items(w)...)}
}

func prettyJSON(dst []byte, v *types.JSONValue, level int) []byte {
	open, end := byte('['), byte(']')
	if v.Kind == types.JSONObject {
		open, end = '{', '}'
	} else if v.Kind != types.JSONArray {
		return v.AppendText(dst)
	}
	dst = append(room.Grow(dst, 16), open)
	for i := range v.Items {
		if i > 0 {
			dst = append(room.Grow(dst, 16), ',')
		}
		dst = room.Text(append(room.Grow(dst, 16), '\n'), strings.Repeat("  ", level+1))
		if v.Kind == types.JSONObject {
			dst = append(types.AppendJSONString(dst, v.Keys[i]), ": "...)
		}
		dst = prettyJSON(dst, &v.Items[i], level+1)
	}
	if len(v.Items) > 0 {
		dst = room.Text(append(room.Grow(dst, 16), '\n'), strings.Repeat("  ", level))
	}
	return append(room.Grow(dst, 16), end)
}
