package lake

// A generated column keeps its expression in a property by its field's id,
//
//	lhsql.column.<field id>.generated = stored {3} + 1
//
// as SQL in which other columns stand by their field ids (see Check). Its values are columns of data
// files like all others, computed by our writers: every engine reads them. "virtual" says that it was
// declared so, which shows and changes nothing else.

import (
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Generated is what a generated column is computed by. SQL has columns as "{id}", or "{#i}" by their
// place in a schema that has no ids yet; behind "mysql:" it is of that dialect.
type Generated struct {
	SQL     string
	Virtual bool
}

func (g *Generated) spell() string {
	switch {
	case g == nil:
		return ""
	case g.Virtual:
		return "virtual " + g.SQL
	}
	return "stored " + g.SQL
}

// text is the expression alone.
func (g *Generated) text() string {
	if g == nil {
		return ""
	}
	return g.SQL
}

func readGenerated(text string) *Generated {
	how, sql, ok := strings.Cut(text, " ")
	if !ok || how != "stored" && how != "virtual" {
		return nil
	}
	return &Generated{SQL: sql, Virtual: how == "virtual"}
}

// Expand spells the expression with what name gives for each field id; ok is false where a column is
// not there any more.
func (g *Generated) Expand(name func(id int) (string, bool)) (text string, ok bool) {
	return Check{SQL: g.SQL}.Expand(name)
}

// FieldIDs are the columns that the expression names.
func (g *Generated) FieldIDs() []int { return Check{SQL: g.SQL}.FieldIDs() }

// Placed is g, whose columns are "{#i}", with the id that each place stands for.
func (g *Generated) Placed(id func(i int) (int, bool)) (*Generated, error) {
	c, err := Check{SQL: g.SQL}.Placed(id)
	if err != nil {
		return nil, conflict("a column that a generated column is computed of is gone")
	}
	return &Generated{SQL: c.SQL, Virtual: g.Virtual}, nil
}

// ByPlace is g with columns as "{#i}"; nil where one has no place.
func (g *Generated) ByPlace(place func(id int) (int, bool)) *Generated {
	c, ok := Check{SQL: g.SQL}.ByPlace(place)
	if !ok {
		return nil
	}
	return &Generated{SQL: c.SQL, Virtual: g.Virtual}
}

// placeGenerated gives the expressions of a table that is made the ids of the columns that they name.
func placeGenerated(fields []Field) error {
	for i := range fields {
		for _, g := range []**Generated{&fields[i].Generated, &fields[i].RowDefault} {
			if *g == nil {
				continue
			}
			placed, err := (*g).Placed(func(n int) (int, bool) {
				if n >= len(fields) {
					return 0, false
				}
				return fields[n].ID, true
			})
			if err != nil {
				return err
			}
			*g = placed
		}
	}
	return nil
}

// Computes gives the places of the generated columns whose values hang, at once or by others of them,
// on one of the columns for which changed is true; nil changed: all of them.
func (s *Schema) Computes(changed []bool) (out []int) {
	hit := map[int]bool{}
	for i := range changed {
		if changed[i] {
			hit[s.Fields[i].ID] = true
		}
	}
	// One may name another that stands behind it.
	for range s.Fields {
		n := len(out)
		for i := range s.Fields {
			f := &s.Fields[i]
			if f.Generated == nil || slices.Contains(out, i) {
				continue
			}
			if changed == nil || slices.ContainsFunc(f.Generated.FieldIDs(), func(id int) bool { return hit[id] }) {
				out, hit[f.ID] = append(out, i), true
			}
		}
		if len(out) == n {
			break
		}
	}
	slices.Sort(out)
	return out
}

// generatedOf names the generated columns that are computed of the column with the id.
func (e *Edit) generatedOf(id int) (out []string) {
	for i := range e.Schema().Fields {
		if f := &e.Schema().Fields[i]; f.Generated != nil && f.ID != id && slices.Contains(f.Generated.FieldIDs(), id) {
			out = append(out, f.Name)
		}
	}
	return out
}

// ungenerating refuses to touch a column that a generated one is computed of.
func (e *Edit) ungenerating(f *Field, what string) error {
	for _, name := range e.generatedOf(f.ID) {
		return sqlerr.New(sqlerr.DependentObjectsExist, "column %q cannot be %s: column %q is generated of it", f.Name, what, name).
			WithHint("Drop column %s first.", name).WithNumber(3108)
	}
	return nil
}

// undefaulting refuses to drop a column that a default names.
func (e *Edit) undefaulting(f *Field) error {
	for i := range e.Schema().Fields {
		if d := &e.Schema().Fields[i]; d.RowDefault != nil && d.ID != f.ID && slices.Contains(d.RowDefault.FieldIDs(), f.ID) {
			return sqlerr.New(sqlerr.DependentObjectsExist, "column %q cannot be dropped: the default of column %q names it", f.Name, d.Name).
				WithHint("ALTER TABLE … ALTER COLUMN %s DROP DEFAULT first.", d.Name).WithNumber(3837)
		}
	}
	return nil
}

// DropGeneratedOf removes the columns that are generated of a column, and the defaults that name it.
func (e *Edit) DropGeneratedOf(path []string) error {
	f, err := e.find(path)
	if err != nil {
		return err
	}
	for i := range e.editSchema().Fields {
		if d := &e.schema.Fields[i]; d.RowDefault != nil && slices.Contains(d.RowDefault.FieldIDs(), f.ID) {
			d.RowDefault = nil
		}
	}
	for _, name := range e.generatedOf(f.ID) {
		if err := e.DropConstraintsOf([]string{name}); err != nil {
			return err
		}
		if err := e.DropGeneratedOf([]string{name}); err != nil {
			return err
		}
		if e.Schema().ByName(name) == nil {
			continue
		}
		if err := e.DropColumn([]string{name}); err != nil {
			return err
		}
	}
	return nil
}

// SetRowDefault makes a default one that names other columns; nil: no longer.
func (e *Edit) SetRowDefault(path []string, d *Generated) error {
	f, err := e.find(path)
	if err == nil {
		f.RowDefault = d
	}
	return err
}

// SetGenerated makes a column one that is computed; nil: no longer. The caller computes the values of
// the rows that are there.
func (e *Edit) SetGenerated(path []string, g *Generated) error {
	f, err := e.find(path)
	if err == nil {
		f.Generated = g
	}
	return err
}
