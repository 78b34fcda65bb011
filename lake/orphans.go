package lake

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
)

// OrphanSearch says where files that nothing holds are looked for.
type OrphanSearch struct {
	// Folder is where to look; "": all folders in which the table's files are put.
	Folder string
	// Before is the instant since when a file must not have been modified: a younger one may be of a
	// writer that has not committed yet.
	Before time.Time
	// Hidden also looks at files whose names, or whose folders' names, begin with "_" or ".": those are
	// by custom not the table's.
	Hidden bool
	// Mismatch says what becomes of a file whose path is held at another store, bucket or host.
	Mismatch MismatchMode
}

// MismatchMode is how a file is taken whose path is held, but not its store.
type MismatchMode uint8

const (
	MismatchError  MismatchMode = iota // the search fails: it may be the same store by another name
	MismatchIgnore                     // the file is taken for held
	MismatchDelete                     // the file is an orphan
)

// Orphans gives the objects in the table's folders that nothing the table has holds: neither any
// snapshot, nor statistics, nor the metadata log. In order of their paths.
//
// It refuses where it cannot be told whose files are whose: where another table of the catalog has a
// folder in common with this one, where a folder holds metadata of something else, or where one of
// another table format does.
func Orphans(ctx context.Context, c Catalog, t *Table, how OrphanSearch) ([]store.Object, error) {
	s := &orphanSearch{OrphanSearch: how, t: t, held: newLocSet(), elsewhere: newLocSet()}
	if err := s.alone(ctx, c); err != nil {
		return nil, err
	}
	if err := s.hold(ctx, t, t.snapshots); err != nil {
		return nil, err
	}
	for _, r := range s.roots {
		if err := s.list(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := s.own(ctx); err != nil {
		return nil, err
	}
	slices.SortFunc(s.found, func(a, b store.Object) int { return strings.Compare(a.Path, b.Path) })
	// Others may have committed what was listed. Young files are safe by their age; a commit of old
	// ones (add_files, a rollback) is not.
	now, err := c.Load(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	if now.uuid != t.uuid {
		return nil, sqlerr.New(sqlerr.SerializationFailure, "another transaction replaced table %s", t.Name.Table)
	}
	if now.MetadataLocation == t.MetadataLocation {
		return s.found, nil
	}
	known := map[int64]bool{}
	for _, x := range t.snapshots {
		known[x.ID] = true
	}
	var added []*Snapshot
	for _, x := range now.snapshots {
		if !known[x.ID] {
			added = append(added, x)
		}
	}
	if err := s.hold(ctx, now, added); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(s.found, func(o store.Object) bool { return s.held.has(o.Path) }), nil
}

type orphanSearch struct {
	OrphanSearch
	t         *Table
	roots     []string // canonical, none in another
	partNames []string // partition fields whose folders look hidden
	held      *locSet
	elsewhere *locSet // what is held outside of the roots, by its path in its store
	found     []store.Object
	metadata  []store.Object // metadata files under the roots that are not held
}

// alone makes the roots, and refuses where another table has a folder in them or around them.
func (s *orphanSearch) alone(ctx context.Context, c Catalog) error {
	refuse := func(why string, args ...any) error {
		return sqlerr.New(sqlerr.DependentObjectsExist, "orphans of table %s cannot be told from files of others: "+why, append([]any{s.t.Name.Table}, args...)...)
	}
	own := s.t.roots()
	for i, r := range own {
		own[i] = strings.TrimRight(store.Canonical(r), "/")
	}
	others, err := holders(ctx, c, s.t, map[Name]bool{s.t.Name: true})
	if err != nil {
		var e *sqlerr.Error
		if errors.As(err, &e) && e.Code == sqlerr.DependentObjectsExist {
			_, why, _ := strings.Cut(e.Message, ": ")
			return refuse("%s", why)
		}
		return err
	}
	for _, r := range own {
		for _, o := range others {
			if within(o, r) {
				return refuse("%s, which is in its folder, is another table's", o)
			}
		}
	}
	if s.Folder != "" {
		f := strings.TrimRight(store.Canonical(s.Folder), "/")
		if !slices.ContainsFunc(own, func(r string) bool { return within(f, r) }) {
			return sqlerr.New(sqlerr.InvalidParameterValue, "%s is no folder of table %s", s.Folder, s.t.Name.Table).
				WithHint("Its folders are: %s.", strings.Join(own, ", "))
		}
		own = []string{f}
	}
	for i, r := range own {
		inOther := slices.ContainsFunc(own, func(o string) bool { return o != r && within(r, o) })
		if !inOther && !slices.Contains(own[:i], r) {
			s.roots = append(s.roots, r)
		}
	}
	for _, sp := range s.t.specs {
		for _, f := range sp.Fields {
			if looksHidden(f.Name) {
				s.partNames = append(s.partNames, f.Name+"=")
			}
		}
	}
	return nil
}

// hold adds what a table's state holds by snapshots and beside them.
func (s *orphanSearch) hold(ctx context.Context, t *Table, snaps []*Snapshot) error {
	real := map[string]string{} // folders outside of the roots → where they really lie
	add := func(h *Held) error {
		if !h.Live() {
			return nil
		}
		if _, err := s.held.add(h.Path); err != nil {
			return err
		}
		if slices.ContainsFunc(s.roots, func(r string) bool { return within(h.Path, r) }) {
			return nil
		}
		if _, err := s.elsewhere.add(pathInStore(h.Path)); err != nil {
			return err
		}
		return s.holdReal(h.Path, real)
	}
	if err := t.Reach(ctx, Reach{}, snaps, add); err != nil {
		return err
	}
	// The rest of ReachAll, without its snapshots.
	beside := *t
	beside.snapshots = nil
	return beside.ReachAll(ctx, Reach{}, add)
}

// holdReal adds a local file by the name that it has under a root, where a link leads there.
func (s *orphanSearch) holdReal(loc string, real map[string]string) error {
	if store.IsObject(loc) {
		return nil
	}
	dir := store.Parent(loc)
	at, ok := real[dir]
	if !ok {
		at = realPath(dir)
		real[dir] = at
	}
	for _, r := range s.roots {
		if rest, ok := store.Under(store.Join(at, loc[strings.LastIndexByte(loc, '/')+1:]), realPath(r)); ok {
			if _, err := s.held.add(store.Join(r, rest)); err != nil {
				return err
			}
		}
	}
	return nil
}

func realPath(dir string) string {
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		return r
	}
	return dir
}

// pathInStore is a location without its scheme and bucket or host.
func pathInStore(loc string) string {
	if _, rest, ok := strings.Cut(loc, "://"); ok {
		_, path, _ := strings.Cut(rest, "/")
		return "/" + path
	}
	return loc
}

func looksHidden(name string) bool {
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")
}

// list goes through a root.
func (s *orphanSearch) list(ctx context.Context, root string) error {
	return s.each(ctx, root, func(o store.Object) error {
		rest, _ := store.Under(o.Path, root)
		for _, name := range strings.Split(rest, "/") {
			switch {
			case name == "_delta_log" || name == ".hoodie":
				return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "orphans of table %s cannot be told from files of others: %s is of another table format", s.t.Name.Table, o.Path)
			case !s.Hidden && !o.Partial && looksHidden(name) && !slices.ContainsFunc(s.partNames, func(p string) bool { return strings.HasPrefix(name, p) }):
				return nil
			}
		}
		if s.held.has(o.Path) || strings.HasSuffix(o.Path, "/version-hint.text") {
			return nil
		}
		if isMetadataFile(o.Path) {
			s.metadata = append(s.metadata, o)
		}
		if !o.Modified.Before(s.Before) {
			return nil
		}
		if s.elsewhere.has(pathInStore(o.Path)) {
			switch s.Mismatch {
			case MismatchIgnore:
				return nil
			case MismatchError:
				return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "%s is held by table %s under another store or bucket", o.Path, s.t.Name.Table).
					WithHint("If both names mean one place, give prefix_mismatch_mode => 'IGNORE'; if they do not, 'DELETE'.")
			}
		}
		if len(s.found)%256 == 0 {
			if err := room.Check(); err != nil {
				return err
			}
		}
		s.found = append(s.found, o)
		return nil
	})
}

// each calls visit for every object in a root.
func (s *orphanSearch) each(ctx context.Context, root string, visit func(store.Object) error) error {
	err := s.t.FS().List(ctx, root, func(o store.Object) error {
		o.Path = store.Canonical(o.Path)
		return visit(o)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil // no file has been put there yet
	}
	if err != nil {
		return fileError(err, "list", root)
	}
	return nil
}

// own refuses where a metadata file under the roots is of something else than the table.
func (s *orphanSearch) own(ctx context.Context) error {
	return ahead(ctx, len(s.metadata), func(ctx context.Context, i int) (string, error) {
		id, err := metadataUUID(ctx, s.t.FS(), s.metadata[i].Path)
		if errors.Is(err, fs.ErrNotExist) {
			return s.t.uuid, nil
		}
		return id, err
	}, func(i int, id string) error {
		// A young file that says nothing may be one that a writer is at: not every store shows whole files alone.
		// Whose it will be, its files are young, too.
		if id == s.t.uuid || id == "" && !s.Before.IsZero() && s.metadata[i].Modified.After(s.Before) {
			return nil
		}
		return sqlerr.New(sqlerr.ObjectNotInPrerequisite, "orphans of table %s cannot be told from files of others: %s is not its metadata", s.t.Name.Table, s.metadata[i].Path)
	})
}

// metadataHead is how much of a metadata file is read to find its UUID, which writers put first.
const metadataHead = 64 << 10

// metadataUUID is the table-uuid of a metadata file; "" if it has none or cannot be understood.
func metadataUUID(ctx context.Context, files store.FS, loc string) (string, error) {
	f, err := files.Open(ctx, loc, -1)
	if err != nil {
		return "", err
	}
	size := f.Size()
	head := make([]byte, min(size, metadataHead))
	err = f.ReadAt(ctx, head, 0)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return "", fileError(err, "read table metadata", loc)
	}
	if id, ok := topLevelText(head, "table-uuid"); ok || size == int64(len(head)) {
		return id, nil
	}
	b, err := files.ReadAll(ctx, loc)
	if err != nil {
		return "", fileError(err, "read table metadata", loc)
	}
	id, _ := topLevelText(b, "table-uuid")
	return id, nil
}

// topLevelText finds a text of a JSON object's own, in a document that may be compressed and may be
// cut off.
func topLevelText(b []byte, key string) (string, bool) {
	var r io.Reader = bytes.NewReader(b)
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return "", false
		}
		r = io.LimitReader(z, maxMetadata)
	}
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return "", false
		}
		if name == key {
			v, err := d.Token()
			text, ok := v.(string)
			return text, ok && err == nil
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			return "", false
		}
	}
	return "", false
}
