package lake

import (
	"context"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
)

// MetadataCache holds metadata and manifests: what was read from immutable files. Whoever opens
// catalogs gives them one to share, and knows how much memory it may have.
type MetadataCache = cache.Cache[string, any]

// NewMetadataCache makes a cache of about max bytes.
func NewMetadataCache(max int64) *MetadataCache { return cache.New[string, any]("metadata", max) }

// ownCache is the size of the cache of a store that was given none.
const ownCache = 64 << 20

// Store is a store with the cache of what was read through it.
type Store struct {
	*store.Store
	known *MetadataCache
}

// NewStore makes the store of a catalog's properties (s3.endpoint, s3.region, …), with a cache of its own.
func NewStore(props map[string]string) *Store {
	return NewStoreWith(NewMetadataCache(ownCache), props)
}

// NewStoreWith is NewStore with a cache that others share. What lies at one of the places is reached by the
// place's store.
func NewStoreWith(known *MetadataCache, props map[string]string, places ...store.Place) *Store {
	return &Store{store.New(props, places...), known}
}

// knownBy is the cache of what was read through a store. One that is no *Store has none.
func knownBy(files store.FS) *MetadataCache {
	if s, ok := files.(*Store); ok {
		return s.known
	}
	return &MetadataCache{}
}

// place is where a table's files lie and how they are reached. Shared by a table's states.
type place struct {
	fs    store.FS // guarded
	store store.FS // unguarded, for the commit engine's own checks
	cache *MetadataCache
	// from, to map locations of a moved table: its metadata speaks of from, it lies at to.
	from, to string
}

// loadTable reads the metadata file at loc. prefixes are the places that the catalog allows.
func loadTable(ctx context.Context, files store.FS, name Name, loc string, prefixes []string) (*Table, error) {
	loc = store.Canonical(loc)
	known := knownBy(files)
	key := metadataKey(ctx, files, loc)
	v, err := known.Get(ctx, key, func() (any, int64, error) {
		b, err := files.ReadAll(ctx, loc)
		if err != nil {
			return nil, 0, err
		}
		s, err := parseAfter(b, stateBefore(known, name, loc))
		if err != nil {
			return nil, 0, err
		}
		return s, metadataCost(s.raw), nil
	})
	if err != nil {
		return nil, metadataError(err, loc)
	}
	t := newTable(files, name, loc, v.(*state), prefixes)
	t.passed(ctx, key)
	return t, nil
}

// passed forgets what the cache holds of the state before, once a table has moved on: each commit
// makes a new metadata file and manifest list, as long as the table's history, which nobody asks for
// again but who travels in time.
func (t *Table) passed(ctx context.Context, key string) {
	known := t.place.cache
	latest := latestKey(t.Name, t.MetadataLocation)
	was, ok := known.Find(latest)
	if ok && was == key {
		return
	}
	known.Put(latest, key, int64(len(key)+len(latest)))
	if !ok {
		return
	}
	if old, ok := known.Find(was.(string)); ok {
		before := &Table{state: *old.(*state), place: t.place}
		if s := before.CurrentSnapshot(); s != nil && (t.currentSnapshot == nil || *t.currentSnapshot != s.ID) {
			known.Drop("list:" + store.Identity(ctx, t.place.fs, t.Resolve(s.ManifestList)))
		}
	}
	known.Drop(was.(string))
}

// metadataKey is the name of a metadata file in the cache: what was really opened.
func metadataKey(ctx context.Context, files store.FS, loc string) string {
	return "metadata:" + store.Identity(ctx, files, loc)
}

// latestKey is where the cache keeps which state of a table it saw last.
func latestKey(name Name, loc string) string {
	return "latest:" + name.String() + " " + store.Parent(loc)
}

// stateBefore is the state of a table that was seen last; nil: none is known. Who reads what others have
// committed reads what is new in it, as they did who wrote it: else whoever committed last would commit next.
func stateBefore(known *MetadataCache, name Name, loc string) *state {
	key, ok := known.Find(latestKey(name, loc))
	if !ok {
		return nil
	}
	v, _ := known.Find(key.(string))
	s, _ := v.(*state)
	return s
}

func metadataError(err error, loc string) error {
	if e, ok := err.(*sqlerr.Error); ok {
		return e
	}
	return sqlerr.Wrap(err, sqlerr.IOError, "read table metadata %s", loc)
}

func newTable(files store.FS, name Name, loc string, s *state, prefixes []string) *Table {
	p := &place{store: files, cache: knownBy(files)}
	root := store.Parent(loc)
	if strings.HasSuffix(root, "/metadata") || root == "metadata" {
		root = store.Parent(root)
	}
	prefixes = append(prefixes[:len(prefixes):len(prefixes)], root)
	was := store.Canonical(s.location)
	_, inPlace := store.Under(loc, was)
	if meta := s.properties["write.metadata.path"]; meta != "" && !inPlace {
		_, inPlace = store.Under(loc, store.Canonical(meta))
	}
	if !inPlace && s.location != "" {
		var wide bool
		p.from, p.to, wide = movedFrom(was, root)
		if wide {
			prefixes = append(prefixes, p.warehouse(root))
		}
	}
	p.fs = &store.Guard{Inner: files, Prefixes: prefixes}
	return &Table{Name: name, MetadataLocation: loc, state: *s, place: p}
}

// movedFrom finds the shortest prefixes that differ between where a table was and where its
// folder is now: folders of equal names at the end moved along, so that files beside the table
// folder are found too.
//
//	was  data/lake/warehouse/db/t      → from data/lake
//	root /mnt/copy/warehouse/db/t      → to   /mnt/copy
//
// At most warehouse, namespace and table are taken to have moved together.
func movedFrom(was, root string) (from, to string, wide bool) {
	from, to = was, root
	for range 3 {
		i, j := strings.LastIndexByte(from, '/'), strings.LastIndexByte(to, '/')
		if i <= 0 || j <= 0 || from[i:] != to[j:] || strings.HasSuffix(from[:i+1], "://") {
			break
		}
		from, to, wide = from[:i], to[:j], true
	}
	return from, to, wide
}

// warehouse is the topmost folder over root that is known to have moved with the table.
func (p *place) warehouse(root string) string {
	rest, _ := store.Under(root, p.to)
	first, _, more := strings.Cut(rest, "/")
	if !more {
		return root
	}
	return store.Join(p.to, first)
}

// Resolve maps a path as metadata spells it to where it lies now (moved tables).
func (t *Table) Resolve(path string) string {
	c := store.Canonical(path)
	if t.place == nil || t.place.from == "" {
		return c
	}
	if rest, ok := store.Under(c, t.place.from); ok {
		return store.Join(t.place.to, rest)
	}
	return c
}

// Moved tells whether the table lies elsewhere than its metadata says. Such a table is read only:
// what it would write could not be found from its metadata.
func (t *Table) Moved() bool { return t.place != nil && t.place.from != "" }

// FS is the store that holds the table's files. It refuses locations outside of the table's
// places.
func (t *Table) FS() store.FS { return t.place.fs }

// Manifests reads the manifest list of s; nil s gives none. The result is shared: do not modify.
func (t *Table) Manifests(ctx context.Context, s *Snapshot) ([]*Manifest, error) {
	if s == nil {
		return nil, nil
	}
	if s.ManifestList == "" {
		if s.Manifests == nil || t.formatVersion > 1 && s.Seq > 0 {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "snapshot %d has no manifest list", s.ID).
				WithDetail("The file is %s.", t.MetadataLocation)
		}
		return t.listedManifests(ctx, s)
	}
	loc := t.Resolve(s.ManifestList)
	v, err := t.place.cached(ctx, "list:", loc, func() (any, int64, error) {
		ms, err := t.readList(ctx, s, loc)
		size := int64(256)
		for _, m := range ms {
			size += 320 + int64(len(m.Path)+112*len(m.Partitions))
		}
		return ms, size, err
	})
	if err != nil {
		return nil, fileError(err, "read manifest list", loc)
	}
	return v.([]*Manifest), nil
}

func (t *Table) readList(ctx context.Context, s *Snapshot, loc string) ([]*Manifest, error) {
	b, err := t.place.fs.ReadAll(ctx, loc)
	if err != nil {
		return nil, err
	}
	ms, err := parseManifestList(b, s.Seq)
	if n, e := strconv.ParseInt(s.Summary["total-data-files"], 10, 64); err == nil && e == nil && n > 0 && len(ms) == 0 {
		// An Avro file that is cut off after its header is whole to its reader.
		err = sqlerr.New(sqlerr.DataCorrupted, "the manifest list is empty, snapshot %d has %d data files", s.ID, n)
	}
	return ms, err
}

// listedManifests makes manifests of a v1 snapshot that has no list: what a list would say is
// in each manifest's header, or unknown.
func (t *Table) listedManifests(ctx context.Context, s *Snapshot) ([]*Manifest, error) {
	var out []*Manifest
	for _, path := range s.Manifests {
		loc := t.Resolve(path)
		b, err := t.place.fs.ReadAll(ctx, loc)
		if err != nil {
			return nil, fileError(err, "read manifest", loc)
		}
		f, err := openAvro(b)
		if err != nil {
			return nil, fileError(err, "read manifest", loc)
		}
		m := &Manifest{Path: path, Length: int64(len(b)), AddedSnapshotID: s.ID,
			AddedFiles: -1, ExistingFiles: -1, DeletedFiles: -1, AddedRows: -1, ExistingRows: -1, DeletedRows: -1}
		m.SpecID, _ = strconv.Atoi(f.meta["partition-spec-id"])
		m.Deletes = f.meta["content"] == "deletes"
		out = append(out, m)
	}
	return out, nil
}

// Entries reads a manifest. The result is shared: do not modify.
func (t *Table) Entries(ctx context.Context, m *Manifest) ([]Entry, error) {
	return t.entries(ctx, m, nil)
}

// EntriesWith is Entries with the counts and bounds of only the given fields, which is much
// cheaper on large manifests: plan with the fields of the predicate. No fields: no statistics.
func (t *Table) EntriesWith(ctx context.Context, m *Manifest, fields []int) ([]Entry, error) {
	return t.entries(ctx, m, wantedStats(fields))
}

func wantedStats(fields []int) map[int]bool {
	stats := make(map[int]bool, len(fields))
	for _, id := range fields {
		stats[id] = true
	}
	return stats
}

func (t *Table) entries(ctx context.Context, m *Manifest, stats map[int]bool) ([]Entry, error) {
	spec, loc, err := t.readable(m)
	if err != nil {
		return nil, err
	}
	v, err := t.place.cached(ctx, entriesKey(m, spec, stats), loc, func() (any, int64, error) {
		es, err := t.readEntries(ctx, m, spec, loc, stats)
		return es, entriesSize(es), err
	})
	if err != nil {
		return nil, fileError(err, "read manifest", loc)
	}
	return v.([]Entry), nil
}

// readable gives what a manifest is read by, and where it lies.
func (t *Table) readable(m *Manifest) (*PartitionSpec, string, error) {
	spec, loc := t.Spec(m.SpecID), t.Resolve(m.Path)
	switch {
	case spec == nil:
		return nil, loc, sqlerr.New(sqlerr.DataCorrupted, "manifest %s names partition spec %d, which the table does not have", loc, m.SpecID)
	case m.Encrypted:
		return nil, loc, sqlerr.New(sqlerr.FeatureNotSupported, "manifest %s is encrypted", loc)
	}
	return spec, loc, nil
}

func (t *Table) readEntries(ctx context.Context, m *Manifest, spec *PartitionSpec, loc string, stats map[int]bool) ([]Entry, error) {
	b, err := t.place.fs.ReadAll(ctx, loc)
	if err != nil {
		return nil, err
	}
	return parseManifest(b, m, spec, stats)
}

// cached reads what lies at loc, or remembers it under the prefix and what really lies there: a
// table's folder may have been made anew.
func (p *place) cached(ctx context.Context, prefix, loc string, load func() (any, int64, error)) (any, error) {
	id := store.Identity(ctx, p.fs, loc)
	if id == "" { // not there, or not to be read: the error says so
		v, _, err := load()
		return v, err
	}
	return p.cache.Get(ctx, prefix+id, load)
}

// entriesKey tells decodings of one manifest apart: by what its list says of it, which entries take
// over and are compared with; by statistics wanted; and by the types of partition values, which
// follow the current schema.
func entriesKey(m *Manifest, spec *PartitionSpec, stats map[int]bool) string {
	b := make([]byte, 0, 128)
	b = append(b, "manifest:"...)
	for _, n := range [...]int64{int64(m.SpecID), m.Seq, m.AddedSnapshotID, m.AddedFiles, m.ExistingFiles, m.DeletedFiles, m.AddedRows, m.ExistingRows, m.DeletedRows} {
		b = append(strconv.AppendInt(b, n, 36), ',')
	}
	b = strconv.AppendBool(b, m.Deletes)
	if m.FirstRowID != nil {
		b = strconv.AppendInt(append(b, '@'), *m.FirstRowID, 36)
	}
	for _, f := range spec.Fields {
		b = append(append(b, '#'), f.Iceberg...)
	}
	if stats != nil {
		ids := make([]int, 0, len(stats))
		for id := range stats {
			ids = append(ids, id)
		}
		sort.Ints(ids)
		b = append(b, '!') // no statistics at all are other entries than those with all
		for _, id := range ids {
			b = strconv.AppendInt(append(b, '?'), int64(id), 36)
		}
	}
	return string(append(b, ' '))
}

func entriesSize(es []Entry) int64 {
	size := int64(64)
	for i := range es {
		f := es[i].File
		size += 512 + int64(len(f.Path)) + int64(len(f.Partition))*72 + int64(len(f.SplitOffsets))*8 +
			mapBytes(len(f.ValueCounts), 16) + mapBytes(len(f.NullCounts), 16) + mapBytes(len(f.NaNCounts), 16) + mapBytes(len(f.ColumnSizes), 16) +
			mapBytes(len(f.Lower), 32) + mapBytes(len(f.Upper), 32)
		for _, v := range f.Lower {
			size += int64(len(v))
		}
		for _, v := range f.Upper {
			size += int64(len(v))
		}
	}
	return size
}

// mapBytes is about what a Go map of n entries takes: eight slots at least, each with a byte beside
// it, and never more than seven eighths full.
func mapBytes(n int, slot int64) int64 {
	if n == 0 {
		return 0
	}
	slots := int64(8)
	for n > 8 && slots*7/8 < int64(n) {
		slots *= 2
	}
	return 64 + slots*(slot+1)
}

func fileError(err error, what, loc string) error {
	if e, ok := err.(*sqlerr.Error); ok {
		return e
	}
	return sqlerr.Wrap(err, sqlerr.IOError, "%s %s", what, loc)
}

// NameMapping gives the table's schema.name-mapping.default, nil if none.
func (t *Table) NameMapping() []MappedField {
	text := t.properties[nameMappingProperty]
	if text == "" {
		return nil
	}
	var list []mappedJSON
	if json.Unmarshal([]byte(text), &list) != nil {
		return nil
	}
	return mappedFields(list, 0)
}

type mappedJSON struct {
	ID     *int         `json:"field-id,omitempty"`
	Names  []string     `json:"names"`
	Fields []mappedJSON `json:"fields,omitempty"`
}

func mappedFields(list []mappedJSON, depth int) []MappedField {
	if depth > maxTypeDepth {
		return nil
	}
	var out []MappedField
	for _, j := range list {
		m := MappedField{ID: -1, Names: j.Names, Fields: mappedFields(j.Fields, depth+1)}
		if j.ID != nil {
			m.ID = *j.ID
		}
		out = append(out, m)
	}
	return out
}
