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

// A document that follows another reads as it does by itself, whatever became of the snapshots before.
func TestParseAfter(t *testing.T) {
	doc := func(snapshots string) []byte {
		return []byte(`{"format-version":2,"table-uuid":"u","location":"/t","last-updated-ms":1,"last-column-id":1,"last-sequence-number":1,"schemas":[{"schema-id":0,"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"int"}]}],"current-schema-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,"sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0,"snapshots":` + snapshots + `}`)
	}
	one := `{"snapshot-id":1,"timestamp-ms":5,"manifest-list":"m1","summary":{"operation":"append","x":"]"}}`
	two := `{"snapshot-id":2,"timestamp-ms":6,"manifest-list":"m2","summary":{"operation":"append"}}`
	other := `{"snapshot-id":1,"timestamp-ms":7,"manifest-list":"m3","summary":{}}`
	texts := []string{`[]`, `[` + one + `]`, `[` + one + `,` + two + `]`, `[ ` + one + ` , ` + two + ` ]`, `[` + two + `,` + one + `]`, `[` + other + `]`, `[` + other + `,` + two + `]`, `null`,
		`[` + one + `,` + one + `]`, `[` + one + `,]`, `[` + one + two + `]`, `[` + one + `,{"timestamp-ms":6}]`}
	for _, before := range texts {
		was, err := parseMetadata(doc(before))
		if err != nil {
			continue // one that cannot be read is not followed
		}
		was.snapshots = nil // an Edit has removed them
		for _, after := range texts {
			want, err1 := parseMetadata(doc(after))
			got, err2 := parseAfter(doc(after), was)
			if (err1 == nil) != (err2 == nil) || err1 == nil && !reflect.DeepEqual(got, want) {
				t.Errorf("%s after %s: %+v (%v), want %+v (%v)", after, before, got, err2, want, err1)
			}
		}
	}
}
