package lake

import (
	"encoding/json"
	"reflect"
	"testing"
)

// A document is taken apart as encoding/json does it.
func TestTopLevel(t *testing.T) {
	for _, text := range []string{
		`{}`, ` {"a": 1, "b" : [1, {"x": "}"}], "c":{"d":{"e":"\\"}}, "f":null,"g":"a\"b,c:{" } `, `{"a":"\\\\","a":2}`, "{\n\t\"a\": true\n}",
		`{"snapshots":[{"summary":{"k":"v"}},{"summary":{}}],"refs":{}}`,
	} {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatal(text, err)
		}
		if got, ok := topLevel([]byte(text)); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{`[]`, `1`, `{"a\u0062": 1}`, ``} {
		if got, ok := topLevel([]byte(text)); ok {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// The quick reader of summaries reads as encoding/json does, or leaves it to that.
func TestPlainStrings(t *testing.T) {
	for _, c := range []struct {
		text  string
		quick bool
	}{
		{`{}`, true}, {` { "a" : "b" ,
			"c":"" } `, true}, {`{"a":"b","a":"c"}`, true}, {`{"ä":"ö €"}`, true},
		{`{"a":"b\"c"}`, false}, {`{"a\u0062":"c"}`, false}, {`{"a":"\\"}`, false}, {`{"a":1}`, false}, {`{"a":"b","c":true}`, false},
		{`{"a":null}`, false}, {`null`, false}, {`{"a":{"b":"c"}}`, false}, {`{"a":["b"]}`, false},
	} {
		got, quick := plainStrings([]byte(c.text))
		if quick != c.quick {
			t.Errorf("%s: read quickly is %v", c.text, quick)
		}
		var want map[string]string
		if err := json.Unmarshal([]byte(c.text), &want); quick && (err != nil || !reflect.DeepEqual(map[string]string(got), want)) {
			t.Errorf("%s: %v, want %v (%v)", c.text, got, want, err)
		}
	}
	// What the decoder would refuse before it comes here must not run over its end.
	for _, text := range []string{``, `{`, `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":"`, `{"a":"b"`, `{"a":"b",`, `{"a":"b",}`} {
		if _, ok := plainStrings([]byte(text)); ok {
			t.Errorf("%s is read", text)
		}
	}
}
