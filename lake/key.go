package lake

// A table keeps its PRIMARY KEY and UNIQUE constraints in properties,
//
//	lhsql.key.<name> = {"primary":true,"columns":[1,2]}
//
// with columns by field id, so that a rename does not touch them. The primary key's columns are the
// schema's identifier fields, too, where the format allows that; identifier fields alone, as other
// engines declare them, promise nothing that a write looks at.

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

const keyPrefix = "lhsql.key."

// Key is a PRIMARY KEY or UNIQUE constraint over top-level columns.
type Key struct {
	Name    string `json:"-"`
	Primary bool   `json:"primary,omitempty"`
	// Columns are field ids; in a TableSpec, places in its Schema.
	Columns []int `json:"columns"`
	// Prefixes are how many letters or bytes of each column count, 0: all; nil: all of all columns.
	Prefixes []int `json:"prefixes,omitempty"`
	// NullsNotDistinct: a NULL equals a NULL.
	NullsNotDistinct bool `json:"nulls-not-distinct,omitempty"`
	// Collation is the one of MySQL's by which texts are compared whose columns have none of their own;
	// "": by their bytes.
	Collation string `json:"collation,omitempty"`
	// NotEnforced: no write looks at it.
	NotEnforced bool `json:"not-enforced,omitempty"`
	Deferrable  bool `json:"deferrable,omitempty"`
	Deferred    bool `json:"initially-deferred,omitempty"`
}

// Property is the key and the text that keep k.
func (k Key) Property() (key, text string) {
	b, _ := json.Marshal(k)
	return keyPrefix + k.Name, string(b)
}

// Keys are the table's PRIMARY KEY and UNIQUE constraints, the primary key first, others by name.
func (t *Table) Keys() []Key { return keysIn(t.properties) }

func keysIn(props map[string]string) []Key {
	var out []Key
	for p, v := range props {
		if name, ok := strings.CutPrefix(p, keyPrefix); ok {
			k := Key{}
			if json.Unmarshal([]byte(v), &k) == nil && len(k.Columns) > 0 {
				k.Name = name
				out = append(out, k)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Primary != out[j].Primary {
			return out[i].Primary
		}
		return out[i].Name < out[j].Name
	})
	return out
}

// Enforced are the keys that writes look at.
func Enforced(keys []Key) []Key {
	return slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return k.NotEnforced })
}

// AddKey adds a constraint, whose name no other one has.
func (e *Edit) AddKey(k Key) error {
	if e.hasConstraint(k.Name) {
		return &Exists{What: "constraint", Name: k.Name}
	}
	key, text := k.Property()
	return e.SetProperties(map[string]string{key: text})
}

// constraintPrefixes are those of the properties that keep constraints.
var constraintPrefixes = []string{checkPrefix, keyPrefix, foreignPrefix}

// ConstraintProperty tells whether a property keeps a constraint, or what stands for one.
func ConstraintProperty(key string) bool {
	for _, p := range append(constraintPrefixes, referencedPrefix) {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return false
}

func (e *Edit) hasConstraint(name string) bool {
	for _, p := range constraintPrefixes {
		if _, ok := e.s.properties[p+name]; ok {
			return true
		}
	}
	return false
}

// DropConstraint removes a constraint; false: there is none of the name. With a primary key go the
// identifier fields.
func (e *Edit) DropConstraint(name string) (bool, error) {
	for _, k := range keysIn(e.s.properties) {
		if k.Name == name && k.Primary {
			if err := e.SetIdentifier(nil); err != nil {
				return true, err
			}
		}
	}
	for _, p := range constraintPrefixes {
		if _, ok := e.s.properties[p+name]; ok {
			return true, e.RemoveProperties([]string{p + name})
		}
	}
	return false, nil
}

// RenameConstraint gives a constraint another name; false: there is none of the name.
func (e *Edit) RenameConstraint(from, to string) (bool, error) {
	for _, p := range constraintPrefixes {
		text, ok := e.s.properties[p+from]
		if !ok {
			continue
		}
		if e.hasConstraint(to) {
			return true, &Exists{What: "constraint", Name: to}
		}
		if err := e.RemoveProperties([]string{p + from}); err != nil {
			return true, err
		}
		return true, e.SetProperties(map[string]string{p + to: text})
	}
	return false, nil
}

// unkeyed refuses to touch a column that a constraint names.
func (e *Edit) unkeyed(f *Field) error {
	for _, name := range e.constraintsOf(f.ID) {
		return sqlerr.New(sqlerr.DependentObjectsExist, "column %q cannot be dropped: constraint %q names it", f.Name, name).
			WithHint("DROP COLUMN … CASCADE drops the constraint too.")
	}
	return nil
}

// constraintsOf names the constraints that name a column, in order.
func (e *Edit) constraintsOf(id int) []string {
	var out []string
	for _, c := range checksIn(e.s.properties) {
		if slices.Contains(c.FieldIDs(), id) {
			out = append(out, c.Name)
		}
	}
	for _, k := range keysIn(e.s.properties) {
		if slices.Contains(k.Columns, id) {
			out = append(out, k.Name)
		}
	}
	for _, k := range foreignIn(e.s.properties) {
		if slices.Contains(k.Columns, id) {
			out = append(out, k.Name)
		}
	}
	return out
}

// DropConstraintsOf removes the constraints that name a column.
func (e *Edit) DropConstraintsOf(path []string) error {
	f, err := e.find(path)
	if err != nil {
		return err
	}
	for _, name := range e.constraintsOf(f.ID) {
		if _, err := e.DropConstraint(name); err != nil {
			return err
		}
	}
	return nil
}
