package lake

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
)

// MayRemove refuses to remove files of a table whose owner wants them kept.
func (t *Table) MayRemove() error {
	switch {
	case t.Moved():
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the files of table %s cannot be removed: it was moved, its metadata names other places", t.Name.Table)
	case strings.EqualFold(t.properties["gc.enabled"], "false"):
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the files of table %s cannot be removed: its property gc.enabled is false", t.Name.Table).
			WithHint("Other tables may share them. If none does: ALTER TABLE … SET TBLPROPERTIES ('gc.enabled' = 'true').")
	}
	return nil
}

// mayPurge refuses where the table's owner wants its files kept.
func mayPurge(t *Table) error {
	if strings.EqualFold(t.properties["gc.enabled"], "false") || t.Moved() {
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "the files of table %s cannot be purged: it was moved, or its property gc.enabled is false", t.Name.Table).
			WithHint("DROP TABLE without PURGE leaves them.")
	}
	return nil
}

// purgeFiles removes the files of a table that its catalog knows no more, data first and metadata
// last, so that a purge that is cut off can be found and finished by hand. What lies in the folder of
// another table is that one's, whoever refers to it beside. The
// caller has looked for others; it is looked for them once more, since a name may have come since.
func purgeFiles(ctx context.Context, c Catalog, t *Table) error {
	others, err := holders(ctx, c, t, nil)
	if err != nil {
		return err
	}
	gone := newLocSet()
	remove := func(loc string) error {
		if others.holds(loc) {
			return nil
		}
		if first, err := gone.add(loc); err != nil || !first {
			return err
		}
		if err := t.FS().Remove(ctx, loc); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fileError(err, "remove", loc)
		}
		return nil
	}
	// By kind: manifests before the lists that lead to them, the table's own metadata file at the very end.
	var metadata []Held
	err = t.ReachAll(ctx, Reach{Damaged: true}, func(h *Held) error {
		if h.Kind.Content() {
			return remove(h.Path)
		}
		metadata = append(metadata, *h)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(metadata, func(a, b Held) int { return cmp.Compare(a.Kind, b.Kind) })
	for _, h := range metadata {
		if err := remove(h.Path); err != nil {
			return err
		}
	}
	return nil
}

// folders are places of other tables than one that is to be purged.
type folders []string

func (f folders) holds(loc string) bool {
	for _, p := range f {
		if within(loc, p) {
			return true
		}
	}
	return false
}

// within tells whether a location is a folder, or lies in it, by whole names: whatever way both are
// spelled.
func within(loc, folder string) bool {
	_, ok := store.Under(strings.TrimRight(store.Canonical(loc), "/"), strings.TrimRight(store.Canonical(folder), "/"))
	return ok
}

// holders gives the folders of the catalog's other tables, and refuses where one of them is the same
// table under another name, or has the table's folder within its own: nothing tells then which files
// are whose. gone are names that no longer count.
func holders(ctx context.Context, c Catalog, t *Table, gone map[Name]bool) (folders, error) {
	var out folders
	spaces, err := c.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, ns := range spaces {
		names, err := c.List(ctx, ns)
		if _, missing := err.(*NotFound); missing {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			if gone[n] {
				continue
			}
			other, err := c.Load(ctx, n)
			if _, missing := err.(*NotFound); missing {
				continue
			}
			if out, err = out.add(ctx, c, t, n, other, err); err != nil {
				return nil, err
			}
		}
	}
	more, ok := c.(interface {
		foreign(ctx context.Context) (map[Name]string, error)
	})
	if !ok {
		return out, nil
	}
	rows, err := more.foreign(ctx)
	if err != nil {
		return nil, err
	}
	for _, n := range sortedNames(rows) {
		other, err := c.(*sqlCatalog).loadAt(ctx, n, rows[n])
		if err != nil {
			// It may be in a store that this catalog has no key for: its metadata's folder must do.
			other, err = &Table{state: state{location: store.Parent(store.Parent(store.Canonical(rows[n])))}}, nil
		}
		if out, err = out.add(ctx, c, t, n, other, err); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// add adds another table's folders.
func (f folders) add(ctx context.Context, c Catalog, t *Table, n Name, other *Table, err error) (folders, error) {
	refuse := func(why string) error {
		return sqlerr.New(sqlerr.DependentObjectsExist, "the files of table %s cannot be purged: %s", t.Name.Table, why).
			WithHint("DROP TABLE without PURGE takes the name away and leaves the files.")
	}
	var at []string
	switch {
	case err == nil:
		if other.uuid != "" && other.uuid == t.uuid {
			return nil, refuse("it is also table " + n.Namespace + "." + n.Table)
		}
		at = other.roots()
	default:
		// Its metadata cannot be read. Where they lie says enough, if the catalog says it.
		d, ok := c.(definer)
		if !ok || d.commits().rows == nil {
			return nil, err
		}
		loc, e := d.commits().rows.located(ctx, n)
		if e != nil {
			return nil, e
		}
		at = []string{store.Parent(store.Parent(store.Canonical(loc)))}
	}
	for _, root := range at {
		for _, own := range t.roots() {
			if within(own, root) {
				return nil, refuse("they lie in the folder of table " + n.Namespace + "." + n.Table)
			}
		}
	}
	return append(f, at...), nil
}

// roots are the folders in which a table's files are put.
func (t *Table) roots() []string {
	out := []string{t.location}
	if t.place != nil {
		out[0] = t.Resolve(t.location)
	}
	for _, k := range []string{"write.data.path", "write.metadata.path", "write.folder-storage.path", "write.object-storage.path"} {
		if p := t.properties[k]; p != "" {
			out = append(out, p)
		}
	}
	return out
}

// foreign gives the tables of other catalogs in the same database, with their metadata's locations.
func (c *sqlCatalog) foreign(ctx context.Context) (map[Name]string, error) {
	out := map[Name]string{}
	err := c.query(ctx, "SELECT catalog_name, table_namespace, table_name, metadata_location FROM iceberg_tables WHERE catalog_name <> ? AND metadata_location IS NOT NULL"+c.isTable(), []any{c.name},
		func() { clear(out) }, func(rows *sql.Rows) error {
			var n Name
			var loc string
			err := rows.Scan(&n.Catalog, &n.Namespace, &n.Table, &loc)
			out[n] = loc
			return err
		})
	return out, err
}

// purgeable refuses a DROP … PURGE that must not remove the table's files, before the table is dropped.
func purgeable(ctx context.Context, c Catalog, t *Table, gone map[Name]bool) error {
	if err := mayPurge(t); err != nil {
		return err
	}
	if gone == nil {
		gone = map[Name]bool{t.Name: true}
	}
	_, err := holders(ctx, c, t, gone)
	return err
}

// Elsewhere refuses to remove a table's files, or what is in its folders, where another catalog than the table's own has the table
// too, or a table whose folder is within its or around it.
func Elsewhere(ctx context.Context, c Catalog, t *Table) error {
	others, err := holders(ctx, c, t, nil)
	if e, ok := sqlerr.As(err); ok && e.Code == sqlerr.DependentObjectsExist {
		e.Message += " of catalog " + c.Name()
		return e
	}
	if err != nil {
		return err
	}
	for _, own := range t.roots() {
		for _, folder := range others {
			if within(folder, own) {
				return sqlerr.New(sqlerr.DependentObjectsExist, "the files of table %s cannot be removed: a table of catalog %s lies in the folder %s", t.Name.Table, c.Name(), folder).
					WithHint("DROP TABLE without PURGE takes the name away and leaves the files.")
			}
		}
	}
	return nil
}
