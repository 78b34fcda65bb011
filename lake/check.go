package lake

// A table keeps its CHECK constraints in properties,
//
//	lhsql.check.<name> = {3} > 0 AND {4} <> 'x'
//
// as SQL in which a number in braces is a column by its field id, so that a rename does not touch it;
// a brace of the text itself is doubled. Behind "mysql:" it is of that dialect, behind "not enforced:"
// no write looks at it, and behind "not valid:" rows of before it was added may break it.

import (
	"sort"
	"strconv"
	"strings"
)

const checkPrefix = "lhsql.check."

// Check is a CHECK constraint. SQL has columns as "{id}".
type Check struct {
	Name, SQL             string
	NotEnforced, NotValid bool
}

// Property is the key and the text that keep c.
func (c Check) Property() (key, text string) {
	text = c.SQL
	switch {
	case c.NotEnforced:
		text = "not enforced:" + text
	case c.NotValid:
		text = "not valid:" + text
	}
	return checkPrefix + c.Name, text
}

// Checks are the table's CHECK constraints by name.
func (t *Table) Checks() []Check { return checksIn(t.properties) }

func checksIn(props map[string]string) []Check {
	var out []Check
	for k, v := range props {
		if name, ok := strings.CutPrefix(k, checkPrefix); ok {
			sql, off := strings.CutPrefix(v, "not enforced:")
			sql, invalid := strings.CutPrefix(sql, "not valid:")
			out = append(out, Check{Name: name, SQL: sql, NotEnforced: off, NotValid: invalid})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// Expand spells a constraint's text with what name gives for each field id; ok is false where a
// column is not there any more.
func (c Check) Expand(name func(id int) (string, bool)) (text string, ok bool) {
	return c.replace(false, func(ref string) (string, bool) {
		id, err := strconv.Atoi(ref)
		if err != nil {
			return "", false
		}
		return name(id)
	})
}

// Placed is c, whose columns are "{#i}", with the id that each place stands for.
func (c Check) Placed(id func(i int) (int, bool)) (Check, error) {
	text, ok := c.replace(true, func(ref string) (string, bool) {
		i, err := strconv.Atoi(strings.TrimPrefix(ref, "#"))
		if err != nil {
			return "", false
		}
		n, ok := id(i)
		return "{" + strconv.Itoa(n) + "}", ok
	})
	if !ok {
		return c, conflict("a column that constraint %s names is gone", c.Name)
	}
	c.SQL = text
	return c, nil
}

// replace puts what f gives in the place of each reference. keep leaves doubled braces as they are.
func (c Check) replace(keep bool, f func(ref string) (string, bool)) (string, bool) {
	var b strings.Builder
	for rest := c.SQL; rest != ""; {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		b.WriteString(rest[:i])
		rest = rest[i+1:]
		if strings.HasPrefix(rest, "{") {
			if b.WriteByte('{'); keep {
				b.WriteByte('{')
			}
			rest = rest[1:]
			continue
		}
		ref, after, found := strings.Cut(rest, "}")
		text, ok := f(ref)
		if !found || !ok {
			return "", false
		}
		b.WriteString(text)
		rest = after
	}
	return b.String(), true
}

// FieldIDs are the columns that c names.
func (c Check) FieldIDs() (ids []int) {
	c.Expand(func(id int) (string, bool) {
		ids = append(ids, id)
		return "", true
	})
	return ids
}

// AddCheck adds a constraint.
func (e *Edit) AddCheck(c Check) error {
	if e.hasConstraint(c.Name) {
		return &Exists{What: "constraint", Name: c.Name}
	}
	key, text := c.Property()
	return e.SetProperties(map[string]string{key: text})
}

// ByPlace is c with columns as "{#i}"; ok is false where one has no place.
func (c Check) ByPlace(place func(id int) (int, bool)) (Check, bool) {
	text, ok := c.replace(true, func(ref string) (string, bool) {
		id, err := strconv.Atoi(ref)
		if err != nil {
			return "", false
		}
		i, ok := place(id)
		return "{#" + strconv.Itoa(i) + "}", ok
	})
	c.SQL = text
	return c, ok
}
