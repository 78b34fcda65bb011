package engine

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"

	"github.com/lhsql/lhsql/types"
)

// explainType is the type of EXPLAIN's column in a format.
func explainType(format string) types.Type {
	switch format {
	case "json":
		return types.T(types.JSON)
	case "xml":
		if t, ok := types.TextAs("xml"); ok {
			return t
		}
	}
	return types.T(types.Text)
}

// utilityStatement says of a statement without a plan that it is one.
func utilityStatement(format string) string {
	const says = "Utility Statement"
	switch format {
	case "json":
		return `["` + says + `"]`
	case "query_block":
		return `{"query_block": {"select_id": 1, "message": "` + says + `"}}`
	}
	return says
}

// explainAs turns the JSON form of a plan into one of PostgreSQL's other forms of data, or MySQL's.
func explainAs(format, text string) (string, error) {
	if format == "query_block" {
		return queryBlock(text)
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readOrdered(d)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if format == "yaml" {
		writeYAML(&b, v, 0)
		return strings.TrimSuffix(b.String(), "\n"), nil
	}
	b.WriteString("<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n")
	for _, q := range v.list {
		writeXML(&b, "Query", q, 1)
	}
	b.WriteString("</explain>")
	return b.String(), nil
}

// ordered is a JSON value whose objects keep their members' order.
type ordered struct {
	object bool
	array  bool
	keys   []string  // of an object
	list   []ordered // members or elements
	text   string    // of a scalar
	quoted bool      // the scalar is a string
}

func readOrdered(d *json.Decoder) (ordered, error) {
	t, err := d.Token()
	if err != nil {
		return ordered{}, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		switch t := t.(type) {
		case string:
			return ordered{text: t, quoted: true}, nil
		case json.Number:
			return ordered{text: t.String()}, nil
		case bool:
			return ordered{text: map[bool]string{true: "true", false: "false"}[t]}, nil
		}
		return ordered{text: "null"}, nil
	}
	v := ordered{object: delim == '{', array: delim == '['}
	for d.More() {
		if v.object {
			k, err := d.Token()
			if err != nil {
				return ordered{}, err
			}
			v.keys = append(v.keys, k.(string))
		}
		m, err := readOrdered(d)
		if err != nil {
			return ordered{}, err
		}
		v.list = append(v.list, m)
	}
	_, err = d.Token() // the closing bracket
	return v, err
}

// writeXML writes an element; a member's name becomes one by PostgreSQL's rule, other characters
// than letters, digits, - _ and . becoming -.
func writeXML(b *strings.Builder, name string, v ordered, depth int) {
	tag := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name)
	pad := strings.Repeat("  ", depth)
	b.WriteString(pad + "<" + tag + ">")
	switch {
	case v.object || v.array:
		b.WriteString("\n")
		for i, m := range v.list {
			n := "Item"
			if v.object {
				n = v.keys[i]
			} else if m.object {
				n = strings.TrimSuffix(name, "s") // Plans holds Plan
			}
			writeXML(b, n, m, depth+1)
		}
		b.WriteString(pad)
	default:
		var esc bytes.Buffer
		_ = xml.EscapeText(&esc, []byte(v.text)) // a Buffer takes everything
		b.Write(esc.Bytes())
	}
	b.WriteString("</" + tag + ">\n")
}

// writeYAML writes v's lines, each after so many spaces.
func writeYAML(b *strings.Builder, v ordered, spaces int) {
	pad := strings.Repeat(" ", spaces)
	for i, m := range v.list {
		head := pad + "- "
		if v.object {
			head = pad + v.keys[i] + ": "
		}
		switch {
		case !m.object && !m.array:
			b.WriteString(head + yamlScalar(m) + "\n")
		case v.array:
			var in strings.Builder
			writeYAML(&in, m, spaces+2)
			b.WriteString(head + strings.TrimPrefix(in.String(), pad+"  "))
		default:
			b.WriteString(head + "\n")
			writeYAML(b, m, spaces+2)
		}
	}
}

// yamlScalar writes strings as JSON's, which are YAML's double-quoted ones.
func yamlScalar(v ordered) string {
	if !v.quoted {
		return v.text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v.text) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
