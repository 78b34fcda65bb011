package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/types"
)

// value is one cell as text.
type value struct {
	text string
	null bool
}

// table is a result to be printed.
type table struct {
	names []string
	kinds []types.Type
	rows  [][]value
}

func newTable(cols []engine.ResultColumn) *table {
	t := &table{}
	for _, c := range cols {
		t.names, t.kinds = append(t.names, c.Name), append(t.kinds, c.Type)
	}
	return t
}

func (sh *shell) setFormat(f string) error {
	switch f {
	case "aligned", "csv", "json", "markdown":
		sh.form = f
		return nil
	}
	return fmt.Errorf("there is no format %q: aligned, csv, json or markdown", f)
}

func (t *table) print(w io.Writer, form string, expand bool) error {
	switch form {
	case "csv":
		return t.csv(w)
	case "json":
		return t.json(w)
	case "markdown":
		return t.markdown(w)
	}
	if expand {
		return t.expanded(w)
	}
	return t.aligned(w)
}

func (t *table) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	if err := c.Write(t.names); err != nil {
		return err
	}
	for _, r := range t.rows {
		rec := make([]string, len(r))
		for i, v := range r {
			rec[i] = v.text
		}
		if err := c.Write(rec); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// json prints an array of objects; numbers, booleans and JSON values keep their kind.
func (t *table) json(w io.Writer) error {
	var b strings.Builder
	b.WriteString("[")
	for i, r := range t.rows {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n  {")
		for j, v := range r {
			if j > 0 {
				b.WriteString(", ")
			}
			name, _ := json.Marshal(t.names[j])
			b.Write(name)
			b.WriteString(": ")
			b.WriteString(jsonValue(v, t.kinds[j]))
		}
		b.WriteString("}")
	}
	if len(t.rows) > 0 {
		b.WriteString("\n")
	}
	b.WriteString("]\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func jsonValue(v value, t types.Type) string {
	if v.null {
		return "null"
	}
	switch {
	case t.Kind == types.Bool:
		return map[string]string{"t": "true", "f": "false"}[v.text]
	case t.IsNumber() && json.Valid([]byte(v.text)):
		return v.text
	case t.Kind == types.JSON || t.Kind == types.JSONB || t.Kind == types.Variant || t.Kind == types.Struct || t.Kind == types.Map:
		if json.Valid([]byte(v.text)) {
			return v.text
		}
	}
	s, _ := json.Marshal(v.text)
	return string(s)
}

func (t *table) markdown(w io.Writer) error {
	var b strings.Builder
	esc := strings.NewReplacer("|", `\|`, "\n", "<br>")
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	names := make([]string, len(t.names))
	rule := make([]string, len(t.names))
	for i, n := range t.names {
		names[i] = esc.Replace(n)
		rule[i] = "---"
		if t.kinds[i].IsNumber() {
			rule[i] = "---:"
		}
	}
	line(names)
	line(rule)
	for _, r := range t.rows {
		cells := make([]string, len(r))
		for i, v := range r {
			cells[i] = esc.Replace(v.text)
		}
		line(cells)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// aligned prints as psql does: centred names, numbers to the right, "+" where a value goes on.
func (t *table) aligned(w io.Writer) error {
	cells := make([][][]string, len(t.rows))
	width := make([]int, len(t.names))
	for i, n := range t.names {
		width[i] = utf8.RuneCountInString(n)
	}
	for k, r := range t.rows {
		cells[k] = make([][]string, len(r))
		for i, v := range r {
			cells[k][i] = strings.Split(v.text, "\n")
			for _, l := range cells[k][i] {
				width[i] = max(width[i], utf8.RuneCountInString(l))
			}
		}
	}
	var b strings.Builder
	for i, n := range t.names {
		if i > 0 {
			b.WriteString("|")
		}
		pad := width[i] - utf8.RuneCountInString(n)
		b.WriteString(" " + strings.Repeat(" ", pad/2) + n + strings.Repeat(" ", pad-pad/2) + " ")
	}
	b.WriteString("\n")
	for i := range t.names {
		if i > 0 {
			b.WriteString("+")
		}
		b.WriteString(strings.Repeat("-", width[i]+2))
	}
	b.WriteString("\n")
	for _, r := range cells {
		t.alignedRow(&b, r, width)
	}
	if n := len(t.rows); n == 1 {
		b.WriteString("(1 row)\n\n")
	} else {
		fmt.Fprintf(&b, "(%d rows)\n\n", n)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (t *table) alignedRow(b *strings.Builder, r [][]string, width []int) {
	lines := 1
	for _, c := range r {
		lines = max(lines, len(c))
	}
	for l := 0; l < lines; l++ {
		for i, c := range r {
			if i > 0 {
				b.WriteString("|")
			}
			text := ""
			if l < len(c) {
				text = c[l]
			}
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(text))
			end := " "
			if l < len(c)-1 {
				end = "+"
			}
			if t.kinds[i].IsNumber() {
				b.WriteString(" " + pad + text + end)
			} else if i == len(r)-1 && end == " " {
				b.WriteString(" " + text)
			} else {
				b.WriteString(" " + text + pad + end)
			}
		}
		b.WriteString("\n")
	}
}

func (t *table) expanded(w io.Writer) error {
	var b strings.Builder
	width := 0
	for _, n := range t.names {
		width = max(width, utf8.RuneCountInString(n))
	}
	for k, r := range t.rows {
		fmt.Fprintf(&b, "-[ RECORD %d ]%s\n", k+1, strings.Repeat("-", max(0, width-10)))
		for i, v := range r {
			fmt.Fprintf(&b, "%s%s | %s\n", t.names[i], strings.Repeat(" ", width-utf8.RuneCountInString(t.names[i])), v.text)
		}
	}
	if len(t.rows) == 0 {
		b.WriteString("(0 rows)\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
