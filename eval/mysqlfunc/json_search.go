package mysqlfunc

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// JSON_SEARCH, which finds texts and tells their paths, and the functions that change arrays.
func registerJsonSearch() {
	const j, text = types.JSONB, types.Text
	eval.Register(
		eval.Immutable("mysql:json_search", eval.Sig(j, text, text, text), eval.TJSONB, eval.Row(jsonSearch)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:json_array_append", eval.Sig(j, text, j), eval.TJSONB, jsonArrays(appendJSON)).AsVariadic().CalledOnNull(),
		eval.Immutable("mysql:json_array_insert", eval.Sig(j, text, j), eval.TJSONB, jsonArrays(insertJSON)).AsVariadic().CalledOnNull(),
	)
}

// jsonArrays changes a document at one path after the other.
func jsonArrays(change func(v *types.JSONValue, legs []leg, path string, x types.JSONValue) error) eval.Row {
	return func(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
		if a[0].IsNull() {
			return types.Null, nil
		}
		v, err := types.ParseJSON(a[0].Str())
		if err != nil {
			return types.Null, err
		}
		for i := 1; i+1 < len(a); i += 2 {
			if a[i].IsNull() {
				return types.Null, nil
			}
			path, err := textUnquote(a[i].Str()) // the second and later ones arrive as JSON
			if err != nil {
				return types.Null, err
			}
			legs, wild, err := parsePath(path)
			if err == nil && wild {
				err = errPath(path, 1)
			}
			if err != nil {
				return types.Null, err
			}
			x, err := jsonItem(a[i+1])
			if err != nil {
				return types.Null, err
			}
			if err := change(&v, legs, path, x); err != nil {
				return types.Null, err
			}
		}
		return jsonDatum(v)
	}
}

// appendJSON puts x at the end of the array that a path names; a value that is none becomes one.
func appendJSON(v *types.JSONValue, legs []leg, _ string, x types.JSONValue) error {
	follow(v, legs, func(at *types.JSONValue) {
		if at.Kind != types.JSONArray {
			*at = types.JSONValue{Kind: types.JSONArray, Items: []types.JSONValue{*at}}
		}
		at.Items = room.Append(at.Items, x)
	})
	return nil
}

// insertJSON puts x before the element that a path names, or at the end of an array that is shorter.
func insertJSON(v *types.JSONValue, legs []leg, path string, x types.JSONValue) error {
	if len(legs) == 0 || legs[len(legs)-1].kind != 'i' {
		return sqlerr.New(sqlerr.InvalidParameterValue, "A path expression is not a path to a cell in an array: %s", path).WithNumber(3165)
	}
	last := legs[len(legs)-1]
	follow(v, legs[:len(legs)-1], func(at *types.JSONValue) {
		if at.Kind != types.JSONArray {
			return
		}
		i := min(max(last.from.in(len(at.Items)), 0), len(at.Items))
		at.Items = room.Append(at.Items, x)
		copy(at.Items[i+1:], at.Items[i:])
		at.Items[i] = x
	})
	return nil
}

// jsonSearch is JSON_SEARCH(document, 'one' or 'all', pattern, escape, path …); the pattern is LIKE's.
func jsonSearch(_ *eval.Ctx, a []types.Datum) (types.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() || a[2].IsNull() {
		return types.Null, nil
	}
	how := strings.ToLower(a[1].Str())
	if how != "one" && how != "all" {
		return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "The oneOrAll argument to json_search may take these values: 'one' or 'all'.").WithNumber(3154)
	}
	escape := '\\'
	if e := a[3]; !e.IsNull() && e.Str() != "" {
		if utf8.RuneCountInString(e.Str()) != 1 {
			return types.Null, sqlerr.New(sqlerr.InvalidEscape, "Incorrect arguments to ESCAPE")
		}
		escape, _ = utf8.DecodeRuneInString(e.Str())
	}
	v, err := types.ParseJSON(a[0].Str())
	if err != nil {
		return types.Null, err
	}
	s := searcher{pattern: a[2].Str(), escape: escape, one: how == "one", seen: map[string]bool{}}
	if len(a) == 4 {
		s.below(&v, "$")
	}
	for _, p := range a[4:] {
		if p.IsNull() {
			return types.Null, nil
		}
		legs, _, err := parsePath(p.Str())
		if err != nil {
			return types.Null, err
		}
		s.along(&v, "$", legs)
	}
	switch {
	case len(s.found.Items) == 0:
		return types.Null, nil
	case len(s.found.Items) == 1:
		return jsonDatum(s.found.Items[0])
	}
	s.found.Kind = types.JSONArray
	return jsonDatum(s.found)
}

type searcher struct {
	pattern string
	escape  rune
	one     bool
	seen    map[string]bool // a value that two paths reach counts once
	found   types.JSONValue
}

func (s *searcher) done() bool { return s.one && len(s.found.Items) > 0 }

// below looks at v and all that it holds.
func (s *searcher) below(v *types.JSONValue, path string) {
	switch {
	case s.done():
	case v.Kind == types.JSONString:
		if !s.seen[path] && likeRunes(v.Text, s.pattern, s.escape, false) {
			s.seen[path] = true
			s.found.Items = room.Append(s.found.Items, types.JSONValue{Kind: types.JSONString, Text: path})
		}
	default:
		for i := range v.Items {
			s.below(&v.Items[i], path+member(v, i))
		}
	}
}

// along follows a path as follow does, and keeps the names of where it is.
func (s *searcher) along(v *types.JSONValue, path string, legs []leg) {
	if s.done() {
		return
	}
	if len(legs) == 0 {
		s.below(v, path)
		return
	}
	l, rest := legs[0], legs[1:]
	if l.kind == 'd' {
		s.along(v, path, rest)
		for i := range v.Items {
			s.along(&v.Items[i], path+member(v, i), legs)
		}
		return
	}
	if l.kind == 'i' && v.Kind != types.JSONArray {
		if l.from.in(1) == 0 {
			s.along(v, path, rest)
		}
		return
	}
	for i := range v.Items {
		in := false
		switch l.kind {
		case 'k':
			in = v.Kind == types.JSONObject && v.Keys[i] == l.key
		case '*':
			in = v.Kind == types.JSONObject
		case 'a':
			in = v.Kind == types.JSONArray
		case 'i':
			in = v.Kind == types.JSONArray && l.from.in(len(v.Items)) == i
		case 'r':
			in = v.Kind == types.JSONArray && i >= l.from.in(len(v.Items)) && i <= l.to.in(len(v.Items))
		}
		if in {
			s.along(&v.Items[i], path+member(v, i), rest)
		}
	}
}

// member is the leg of a path to the i-th value in v.
func member(v *types.JSONValue, i int) string {
	if v.Kind == types.JSONArray {
		return "[" + strconv.Itoa(i) + "]"
	}
	k := v.Keys[i]
	plain := k != ""
	for n, r := range k {
		plain = plain && (r == '_' || r == '$' || r >= 0x80 || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || n > 0 && r >= '0' && r <= '9')
	}
	if plain {
		return "." + k
	}
	return "." + string(types.AppendJSONString(nil, k))
}
