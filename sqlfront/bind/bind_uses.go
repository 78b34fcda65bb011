package bind

import (
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
)

// This file notes what a statement does with each relation, as far as privileges ask for it.

// Use is one relation that a statement names, itself or through a view.
type Use struct {
	Relation *Relation
	// In is the view in whose text the relation is named, whose owner reads it; nil: the statement.
	In *Use
	// Write: it is the target of the statement.
	Write bool
	// Reads: rows of it are read, or of a target looked at: some column is named. Columns are the names
	// of those that are.
	Reads   bool
	Columns []string
	// References: a foreign key to Columns is declared, and nothing read.
	References bool
}

// noteReference notes the columns that a foreign key is declared to.
func (b *binder) noteReference(rel *Relation, fields []lake.Field, places []int) {
	if !b.env.Uses || rel == nil {
		return
	}
	u := &Use{Relation: rel, References: true}
	for _, i := range places {
		u.Columns = append(u.Columns, fields[i].Name)
	}
	b.uses = append(b.uses, u)
}

// columnOf is the column of a use that a ColID stands for.
type columnOf struct {
	use *Use
	at  int
	// hidden is the name of a metadata column, such as _file: where a row lies, and what partition it is of, is for
	// those who may read the whole table. No privilege on columns covers it, as with PostgreSQL's system columns.
	hidden string
}

// noteUse begins the Use of a relation that has just been found.
func (b *binder) noteUse(rel *Relation, write bool) {
	if !b.env.Uses {
		return
	}
	u := &Use{Relation: rel, Write: write, Reads: !write}
	if len(b.viewUses) > 0 {
		u.In = b.viewUses[len(b.viewUses)-1]
	}
	if b.useOf == nil {
		b.useOf, b.columnsOf = map[*Relation]*Use{}, map[plan.ColID]columnOf{}
	}
	b.uses = append(b.uses, u)
	b.useOf[rel] = u
}

// noteColumns says which columns stand for a relation's, in its order.
func (b *binder) noteColumns(rel *Relation, cols []plan.Column) {
	u := b.useOf[rel]
	if u == nil {
		return
	}
	for i, c := range cols {
		b.columnsOf[c.ID] = columnOf{use: u, at: i}
	}
}

// noteHidden says that a column is a metadata column of a relation.
func (b *binder) noteHidden(rel *Relation, c plan.Column) {
	if u := b.useOf[rel]; u != nil {
		b.columnsOf[c.ID] = columnOf{use: u, hidden: c.Name}
	}
}

// finishUses finds the columns that were referred to.
func (b *binder) finishUses() []*Use {
	read := map[columnOf]bool{}
	for _, id := range b.refs {
		c, ok := b.columnsOf[id]
		if !ok || read[c] {
			continue
		}
		read[c] = true
		if c.hidden != "" {
			c.use.Columns = append(c.use.Columns, c.hidden)
		} else if names := c.use.Relation.columnNames(); c.at < len(names) {
			c.use.Columns = append(c.use.Columns, names[c.at])
		} else if c.use.Relation.View != nil {
			c.use.Columns = append(c.use.Columns, b.cols[id].Name)
		}
		c.use.Reads = true
	}
	return b.uses
}

// columnNames are a relation's columns; nil for a view that names none.
func (r *Relation) columnNames() []string {
	switch {
	case r.TableSchema != nil:
		return fieldNames(r.TableSchema.Fields)
	case r.Virtual != nil:
		var out []string
		for _, f := range r.Virtual.Fields() {
			out = append(out, f.Name)
		}
		return out
	case r.View != nil:
		return r.View.Columns
	}
	return nil
}

func fieldNames(fields []lake.Field) []string {
	out := make([]string, len(fields))
	for i := range fields {
		out[i] = fields[i].Name
	}
	return out
}
