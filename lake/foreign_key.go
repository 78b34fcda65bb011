package lake

// A table keeps its FOREIGN KEY constraints in properties,
//
//	lhsql.foreign-key.<name> = {"columns":[2],"namespace":"shop","table":"customer","uuid":"…","references":[1]}
//
// with columns of both tables by field id. The table that is referenced knows who references it,
//
//	lhsql.referenced-by.<uuid of the table>.<name> = {"namespace":"shop","table":"orders"}
//
// so that a DELETE there finds the tables that it has to ask. A name is where a table was last seen;
// the UUID says which table is meant.

import (
	"encoding/json"
	"sort"
	"strings"
)

const (
	foreignPrefix    = "lhsql.foreign-key."
	referencedPrefix = "lhsql.referenced-by."
)

// ForeignKey is a FOREIGN KEY constraint. Columns and References are field ids, pair by pair; in a
// TableSpec, Columns are places in its Schema.
type ForeignKey struct {
	Name       string `json:"-"`
	Columns    []int  `json:"columns"`
	Namespace  string `json:"namespace"`
	Table      string `json:"table"`
	UUID       string `json:"uuid"`
	References []int  `json:"references"`
	// OnDelete and OnUpdate are "restrict", "cascade", "set null"; "" is NO ACTION.
	OnDelete string `json:"on-delete,omitempty"`
	OnUpdate string `json:"on-update,omitempty"`
	// MatchFull: either all columns are NULL or none is.
	MatchFull   bool `json:"match-full,omitempty"`
	NotEnforced bool `json:"not-enforced,omitempty"`
	NotValid    bool `json:"not-valid,omitempty"`
	Deferrable  bool `json:"deferrable,omitempty"`
	Deferred    bool `json:"initially-deferred,omitempty"`
}

// Property is the key and the text that keep k.
func (k ForeignKey) Property() (key, text string) {
	b, _ := json.Marshal(k)
	return foreignPrefix + k.Name, string(b)
}

// ForeignKeys are the table's FOREIGN KEY constraints by name.
func (t *Table) ForeignKeys() []ForeignKey { return foreignIn(t.properties) }

func foreignIn(props map[string]string) []ForeignKey {
	var out []ForeignKey
	for p, v := range props {
		if name, ok := strings.CutPrefix(p, foreignPrefix); ok {
			k := ForeignKey{}
			if json.Unmarshal([]byte(v), &k) == nil && len(k.Columns) > 0 && len(k.Columns) == len(k.References) {
				k.Name = name
				out = append(out, k)
			}
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out
}

// AddForeignKey adds a constraint, whose name no other one has.
func (e *Edit) AddForeignKey(k ForeignKey) error {
	if e.hasConstraint(k.Name) {
		return &Exists{What: "constraint", Name: k.Name}
	}
	key, text := k.Property()
	return e.SetProperties(map[string]string{key: text})
}

// Reference is a foreign key of another table that names this one.
type Reference struct {
	UUID      string `json:"-"` // of the referencing table
	Name      string `json:"-"` // of its constraint
	Namespace string `json:"namespace"`
	Table     string `json:"table"`
}

// Property is the key and the text that keep r.
func (r Reference) Property() (key, text string) {
	b, _ := json.Marshal(r)
	return referencedPrefix + r.UUID + "." + r.Name, string(b)
}

// References are the foreign keys of other tables that name this one, in order.
func (t *Table) References() []Reference {
	var out []Reference
	for p, v := range t.properties {
		rest, ok := strings.CutPrefix(p, referencedPrefix)
		if !ok {
			continue
		}
		uuid, name, _ := strings.Cut(rest, ".")
		r := Reference{}
		if json.Unmarshal([]byte(v), &r) == nil {
			r.UUID, r.Name = uuid, name
			out = append(out, r)
		}
	}
	sort.Slice(out, func(i, j int) bool {
		return out[i].Table+"\x00"+out[i].Name < out[j].Table+"\x00"+out[j].Name
	})
	return out
}

// AddReference notes that a table references this one.
func (e *Edit) AddReference(r Reference) error {
	key, text := r.Property()
	return e.SetProperties(map[string]string{key: text})
}

// DropReference forgets it.
func (e *Edit) DropReference(r Reference) error {
	key, _ := r.Property()
	return e.RemoveProperties([]string{key})
}
