package lake

import (
	"context"
	"slices"
)

// Look is a table that a change has read and does not write, of which it depends that rows have not
// gone, or that none have come: a foreign key's other side. It is looked at again at each try of the
// commit, and where the catalog is a database the table's pointer is held in the same transaction: it
// cannot move in between. A catalog's server is asked right before the commit, which leaves an instant.
type Look struct {
	Base     *Table
	Branch   string    // "" is main
	Snapshot *Snapshot // the branch's, as it was read; nil: it had none
	// Gone: no row may have gone; Come: none may have come.
	Gone, Come bool
}

// looks are those of changes at tables, by the tables' names in the catalog.
func looks(changes []TableChange) map[Name][]Look {
	out := map[Name][]Look{}
	for i := range changes {
		for _, l := range changes[i].Change.Looks {
			out[l.Base.Name] = append(out[l.Base.Name], l)
		}
	}
	return out
}

// withLooks adds to changes those that only look at a table.
func withLooks(changes []TableChange) []TableChange {
	out := slices.Clip(changes)
	for n, l := range looks(changes) {
		if !slices.ContainsFunc(changes, func(c TableChange) bool { return c.Name == n }) {
			out = append(out, TableChange{Name: n, Change: Change{Base: l[0].Base, looks: l}})
		}
	}
	return out
}

// still makes sure that a table is what the looks need.
func (l *Look) still(ctx context.Context, head *Table) error {
	if l.Base.uuid != "" && head.uuid != l.Base.uuid {
		return conflict("table %s was dropped and made anew", head.Name.Table)
	}
	at := head.head(branchName(l.Branch))
	if at == nil && l.Snapshot == nil {
		return nil
	}
	if l.Snapshot != nil && !head.isAncestor(l.Snapshot.ID, at) {
		return conflict("another transaction moved table %s to a state that does not come after the one that was read", head.Name.Table)
	}
	d, err := diff(ctx, l.Base, l.Snapshot, head, at)
	if err != nil {
		return err
	}
	if l.Gone && len(d.removed)+len(d.deletes) > 0 {
		return conflict("another transaction removed rows of table %s that may be referenced", head.Name.Table)
	}
	if l.Come && len(d.added) > 0 {
		return conflict("another transaction added rows to table %s that may reference others", head.Name.Table)
	}
	return nil
}
