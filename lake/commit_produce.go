package lake

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// producer builds one snapshot on a branch's head and writes its manifests and list.
type producer struct {
	c      *Change
	head   *Table // the state that the commit goes onto
	edit   *Edit
	branch string
	parent *Snapshot
	commit string // commit UUID

	id      int64 // of the new snapshot
	seq     int64
	version int
	spell   string // of the metadata folder, as the table's location is spelled
	written []string

	removed   []*DataFile
	manifests []*Manifest
	kept      int
	replaced  int
	processed int64
	created   int
}

// maxManifestEntries bounds a new manifest, whose target size is 8 MB.
const maxManifestEntries = 20_000

func newSnapshotID(taken func(int64) bool) int64 {
	for {
		u := uuid.New()
		id := int64((binary.BigEndian.Uint64(u[:8]) ^ binary.BigEndian.Uint64(u[8:])) & math.MaxInt64)
		if id != 0 && !taken(id) {
			return id
		}
	}
}

// locate finds the branch's head in the metadata as edited.
func (p *producer) locate() error {
	p.branch = p.c.Branch
	if p.branch == "" {
		p.branch = "main"
	}
	r, ok := p.edit.ref(p.branch)
	switch {
	case ok && !r.Branch:
		return sqlerr.New(sqlerr.WrongObjectType, "%q is a tag: tags cannot be written", p.branch)
	case ok:
		p.parent = p.edit.snapshot(r.SnapshotID)
	case p.branch != "main":
		return sqlerr.New(sqlerr.UndefinedObject, "table %s has no branch %q", p.head.Name.Table, p.branch)
	}
	return nil
}

// run makes the snapshot.
func (p *producer) run(ctx context.Context) error {
	if err := p.check(); err != nil {
		return err
	}
	p.version = p.edit.s.formatVersion
	p.id = newSnapshotID(func(id int64) bool { return p.edit.snapshot(id) != nil })
	if p.version >= 2 {
		p.seq = p.edit.s.lastSeq + 1
	}
	if err := yield(ctx, "validate"); err != nil {
		return err
	}
	old, err := p.head.Manifests(ctx, p.parent)
	if err != nil {
		return err
	}
	if p.c.Manifests != nil {
		if err := p.swapManifests(old); err != nil {
			return err
		}
		return p.publish(ctx)
	}
	if err := p.c.validate(ctx, p.head, p.parent); err != nil {
		return err
	}
	if err := yield(ctx, "manifests"); err != nil {
		return err
	}
	if err := p.filter(ctx, old); err != nil {
		return err
	}
	if err := p.addNew(ctx); err != nil {
		return err
	}
	if err := p.merge(ctx); err != nil {
		return err
	}
	return p.publish(ctx)
}

// check refuses files that the table cannot hold.
func (p *producer) check() error {
	vectors := map[string]bool{}
	version := p.edit.s.formatVersion
	for _, f := range p.c.Add {
		spec := p.edit.Table().Spec(f.SpecID)
		switch {
		case spec == nil || len(f.Partition) != len(spec.Fields):
			return fmt.Errorf("file %s does not fit partition spec %d", f.Path, f.SpecID)
		case f.Content != Data && version < 2:
			return sqlerr.New(sqlerr.FeatureNotSupported, "delete files need table format version 2, table %s has 1", p.head.Name.Table)
		case f.Content == DeletionVector && version < 3:
			return sqlerr.New(sqlerr.FeatureNotSupported, "deletion vectors need table format version 3, table %s has %d", p.head.Name.Table, version)
		case f.Content == PositionDeletes && version >= 3:
			return sqlerr.New(sqlerr.FeatureNotSupported, "a table of format version 3 takes deletion vectors, no position delete files")
		case f.Content == DeletionVector && f.ReferencedFile == "":
			return fmt.Errorf("deletion vector in %s names no data file", f.Path)
		case f.Content == DeletionVector && vectors[f.ReferencedFile]:
			return fmt.Errorf("two deletion vectors for %s", f.ReferencedFile)
		}
		vectors[f.ReferencedFile] = true
	}
	return p.c.balanced()
}

// filter goes through the old manifests: those that hold removed files are written anew, with
// these entries marked deleted and the others kept.
func (p *producer) filter(ctx context.Context, old []*Manifest) error {
	want := map[string]bool{}
	goneData := map[string]bool{}
	var specs = map[[2]int]bool{}
	for _, f := range p.c.Remove {
		want[fileKey(f)] = true
		if f.Content == Data {
			goneData[f.Path] = true
		}
		specs[[2]int{f.SpecID, deletesKind(f)}] = true
	}
	vectors := p.c.vectorTargets()
	for _, m := range old {
		look := specs[[2]int{m.SpecID, manifestKind(m)}]
		if m.Deletes && (len(vectors) > 0 || len(goneData) > 0) {
			look = true
		}
		if !look {
			p.manifests = append(p.manifests, m)
			p.kept++
			continue
		}
		hits, live, err := p.search(ctx, m, want, goneData, vectors)
		if err != nil {
			return err
		}
		switch {
		case hits > 0:
			if err := p.rewrite(ctx, m, want, goneData); err != nil {
				return err
			}
		case live > 0:
			p.manifests = append(p.manifests, m)
			p.kept++
		} // a manifest without live files has told its story
	}
	found := map[string]bool{}
	for _, f := range p.removed {
		found[fileKey(f)] = true
	}
	for k := range want {
		if !found[k] {
			return conflict("another transaction removed %s", strings.ReplaceAll(k, "\x00", " for "))
		}
	}
	return nil
}

func manifestKind(m *Manifest) int {
	if m.Deletes {
		return 1
	}
	return 0
}

func deletesKind(f *DataFile) int {
	if f.Content == Data {
		return 0
	}
	return 1
}

// vectorTargets are the data files that get a new deletion vector.
func (c *Change) vectorTargets() map[string]bool {
	m := map[string]bool{}
	for _, f := range c.Add {
		if f.Content == DeletionVector {
			m[f.ReferencedFile] = true
		}
	}
	return m
}

// goes tells whether a live file leaves: it is removed, or it is a deletion vector of a data
// file that is.
func goes(f *DataFile, want, goneData map[string]bool) bool {
	return want[fileKey(f)] || f.Content == DeletionVector && goneData[f.ReferencedFile]
}

func (p *producer) search(ctx context.Context, m *Manifest, want, goneData, vectors map[string]bool) (hits, live int, err error) {
	es, err := p.head.EntriesWith(ctx, m, nil)
	if err != nil {
		return 0, 0, err
	}
	for _, e := range es {
		if e.Status == Deleted {
			continue
		}
		live++
		switch f := e.File; {
		case goes(f, want, goneData):
			hits++
		case f.Content == DeletionVector && vectors[f.ReferencedFile]:
			return 0, 0, conflict("%s has another deletion vector already", f.ReferencedFile)
		}
	}
	return hits, live, nil
}

func (p *producer) rewrite(ctx context.Context, m *Manifest, want, goneData map[string]bool) error {
	es, err := p.head.Entries(ctx, m)
	if err != nil {
		return err
	}
	var out []manifestEntry
	for _, e := range es {
		if e.Status == Deleted {
			continue
		}
		entry := existing(e)
		if goes(e.File, want, goneData) {
			entry.status, entry.snapshot = Deleted, p.id
			p.removed = append(p.removed, e.File)
		}
		out = append(out, entry)
	}
	p.replaced++
	p.processed += int64(len(out))
	return p.write(ctx, m.SpecID, m.Deletes, out)
}

// addNew writes manifests for the new files.
func (p *producer) addNew(ctx context.Context) error {
	groups := map[[2]int][]manifestEntry{}
	var order [][2]int
	for _, f := range p.c.Add {
		k := [2]int{deletesKind(f), f.SpecID}
		if groups[k] == nil {
			order = append(order, k)
		}
		e := manifestEntry{status: Added, snapshot: p.id, file: f}
		if p.c.KeepSeq && f.Content == Data && p.version >= 2 {
			seq := f.DataSeq
			e.seq = &seq
		}
		if f.FirstRowID != nil && p.version < 3 {
			g := *f
			g.FirstRowID = nil
			e.file = &g
		}
		groups[k] = append(groups[k], e)
	}
	for _, k := range order {
		for es := groups[k]; len(es) > 0; {
			n := min(len(es), maxManifestEntries)
			if err := p.write(ctx, k[1], k[0] == 1, es[:n]); err != nil {
				return err
			}
			es = es[n:]
		}
	}
	return nil
}

// write writes one manifest of this snapshot.
func (p *producer) write(ctx context.Context, specID int, deletes bool, entries []manifestEntry) error {
	t := p.edit.Table()
	b, m, err := encodeManifest(p.version, t.Schema(), t.Spec(specID), deletes, entries)
	if err != nil {
		return err
	}
	m.Path = fmt.Sprintf("%s/%s-m%d.avro", p.spell, p.commit, p.created)
	m.Length = int64(len(b))
	m.AddedSnapshotID = p.id
	m.Seq = p.seq
	m.MinSeq = min(m.MinSeq, p.seq)
	p.created++
	p.written = append(p.written, m.Path)
	if err := p.head.FS().Create(ctx, m.Path, b); err != nil {
		return fileError(err, "write manifest", m.Path)
	}
	p.manifests = append(p.manifests, m)
	return nil
}

// merge packs small manifests of one kind and spec together, as the table's properties say.
// A bin that holds new manifests only merges once it is full enough: else every commit would
// rewrite the last one's.
func (p *producer) merge(ctx context.Context) error {
	props := p.edit.s.properties
	if strings.EqualFold(props["commit.manifest-merge.enabled"], "false") {
		return nil
	}
	target := int64(intProperty(props, "commit.manifest.target-size-bytes", 8<<20))
	least := intProperty(props, "commit.manifest.min-count-to-merge", 100)
	groups := map[[2]int][]*Manifest{}
	for _, m := range p.manifests {
		k := [2]int{m.SpecID, manifestKind(m)}
		groups[k] = append(groups[k], m)
	}
	merged := map[string]bool{}
	for _, list := range groups {
		for _, bin := range bins(list, target) {
			if len(bin) < 2 || len(bin) < least {
				continue
			}
			if err := p.mergeBin(ctx, bin, merged); err != nil {
				return err
			}
		}
	}
	if len(merged) == 0 {
		return nil
	}
	var rest []*Manifest
	for _, m := range p.manifests {
		if !merged[m.Path] {
			rest = append(rest, m)
			continue
		}
		if m.AddedSnapshotID == p.id {
			// This commit's own, which nothing will name. One that stays is an orphan and does no harm.
			_ = p.head.FS().Remove(ctx, m.Path)
		}
	}
	p.manifests = rest
	return nil
}

// bins groups neighbours up to the target size.
func bins(list []*Manifest, target int64) [][]*Manifest {
	var out [][]*Manifest
	var bin []*Manifest
	size := int64(0)
	for _, m := range list {
		if len(bin) > 0 && size+m.Length > target {
			out, bin, size = append(out, bin), nil, 0
		}
		bin, size = append(bin, m), size+m.Length
	}
	return append(out, bin)
}

func (p *producer) mergeBin(ctx context.Context, bin []*Manifest, merged map[string]bool) error {
	var out []manifestEntry
	for _, m := range bin {
		es, err := p.head.Entries(ctx, m)
		if err != nil {
			return err
		}
		for _, e := range es {
			if e.File.Encrypted {
				return nil
			}
			// This snapshot's own additions and removals stay as such; older removals are history.
			entry := existing(e)
			own := e.SnapshotID == p.id
			switch {
			case own && e.Status == Added:
				entry.status, entry.fileSeq = Added, nil
				if !p.c.KeepSeq || e.File.Content != Data {
					entry.seq = nil
				}
			case e.Status == Deleted && own:
				entry.status = Deleted
			case e.Status == Deleted:
				continue
			}
			out = append(out, entry)
		}
	}
	for _, m := range bin {
		merged[m.Path] = true
		if m.AddedSnapshotID != p.id {
			p.replaced++
			p.kept--
		}
	}
	p.processed += int64(len(out))
	return p.write(ctx, bin[0].SpecID, bin[0].Deletes, out)
}

// publish writes the manifest list and adds the snapshot to the metadata.
func (p *producer) publish(ctx context.Context) error {
	now := p.edit.now.UnixMilli()
	s := &snapshotJSON{ID: &p.id, Seq: p.seq, TimestampMs: &now}
	if p.parent != nil {
		s.ParentID = &p.parent.ID
	}
	schemaID := p.edit.s.currentSchemaID
	s.SchemaID = &schemaID
	if err := p.countUnknown(ctx); err != nil {
		return err
	}
	p.assignRowIDs(s)
	s.Summary = p.summary()
	b, err := encodeManifestList(p.version, s, p.manifests)
	if err != nil {
		return err
	}
	s.ManifestList = fmt.Sprintf("%s/snap-%d-1-%s.avro", p.spell, p.id, p.commit)
	p.written = append(p.written, s.ManifestList)
	if err := yield(ctx, "list"); err != nil {
		return err
	}
	if err := p.head.FS().Create(ctx, s.ManifestList, b); err != nil {
		return fileError(err, "write manifest list", s.ManifestList)
	}
	if err := p.edit.addSnapshot(s); err != nil {
		return err
	}
	if p.c.StageOnly {
		return nil
	}
	var at *int64
	if p.parent != nil {
		at = &p.parent.ID
	}
	if err := p.edit.RequireRef(p.branch, at); err != nil {
		return err
	}
	if p.parent == nil && p.branch == "main" {
		return p.edit.putRef(Ref{Name: "main", Branch: true, SnapshotID: p.id})
	}
	return p.edit.MoveBranch(p.branch, p.id)
}

// countUnknown fills in the counts that lists of v1 may lack and v2 needs.
func (p *producer) countUnknown(ctx context.Context) error {
	for i, m := range p.manifests {
		if p.version < 2 || m.AddedFiles >= 0 && m.ExistingFiles >= 0 && m.DeletedFiles >= 0 && m.AddedRows >= 0 && m.ExistingRows >= 0 && m.DeletedRows >= 0 {
			continue
		}
		es, err := p.head.EntriesWith(ctx, m, nil)
		if err != nil {
			return err
		}
		c := *m
		c.AddedFiles, c.ExistingFiles, c.DeletedFiles, c.AddedRows, c.ExistingRows, c.DeletedRows = 0, 0, 0, 0, 0, 0
		for _, e := range es {
			c.count(&manifestEntry{status: e.Status, file: e.File})
		}
		p.manifests[i] = &c
	}
	return nil
}

// assignRowIDs gives data manifests without one their first row id (spec, "Row Lineage"): the
// rows of files that have none inherit from it.
func (p *producer) assignRowIDs(s *snapshotJSON) {
	if p.version < 3 {
		return
	}
	first := p.edit.s.nextRowID
	next := first
	for i, m := range p.manifests {
		if m.Deletes || m.FirstRowID != nil {
			continue
		}
		c, id := *m, next
		c.FirstRowID = &id
		next += c.AddedRows + c.ExistingRows
		p.manifests[i] = &c
	}
	added := next - first
	s.FirstRowID, s.AddedRows = &first, &added
}

// summary is what other engines write (spec, "Optional Snapshot Summary Fields"), and where
// the snapshot came from.
func (p *producer) summary() looseStrings {
	m := looseStrings{}
	add := func(key string, n int64) {
		if n != 0 {
			m[key] = strconv.FormatInt(n, 10)
		}
	}
	a, r := sumFiles(p.c.Add), sumFiles(p.removed)
	add("added-data-files", a.data)
	add("deleted-data-files", r.data)
	add("added-records", a.records)
	add("deleted-records", r.records)
	add("added-files-size", a.size)
	add("removed-files-size", r.size)
	add("added-delete-files", a.deletes)
	add("removed-delete-files", r.deletes)
	add("added-position-delete-files", a.posFiles)
	add("removed-position-delete-files", r.posFiles)
	add("added-dvs", a.vectors)
	add("removed-dvs", r.vectors)
	add("added-equality-delete-files", a.eqFiles)
	add("removed-equality-delete-files", r.eqFiles)
	add("added-position-deletes", a.positions)
	add("removed-position-deletes", r.positions)
	add("added-equality-deletes", a.equalities)
	add("removed-equality-deletes", r.equalities)
	m["changed-partition-count"] = strconv.Itoa(p.changedPartitions())
	for key, n := range map[string]int64{"total-data-files": a.data - r.data, "total-delete-files": a.deletes - r.deletes,
		"total-records": a.records - r.records, "total-files-size": a.size - r.size,
		"total-position-deletes": a.positions - r.positions, "total-equality-deletes": a.equalities - r.equalities} {
		before := int64(0)
		if p.parent != nil {
			v, err := strconv.ParseInt(p.parent.Summary[key], 10, 64)
			if err != nil {
				continue // a total that was lost stays lost
			}
			before = v
		}
		if before+n >= 0 {
			m[key] = strconv.FormatInt(before+n, 10)
		}
	}
	m["manifests-created"] = strconv.Itoa(p.created)
	m["manifests-kept"] = strconv.Itoa(p.kept)
	m["manifests-replaced"] = strconv.Itoa(p.replaced)
	m["entries-processed"] = strconv.FormatInt(p.processed, 10)
	m["operation"] = p.operation(a, r)
	p.c.provenance(m, p.commit)
	return m
}

func (c *Change) provenance(m looseStrings, commit string) {
	for k, v := range c.Summary {
		m[k] = v
	}
	m["engine-name"], m["engine-version"] = engineName, engineVersion
	m["lhsql.commit-uuid"] = commit
	if c.Statement != "" {
		m["lhsql.statement"] = c.Statement
	}
	if c.User != "" {
		m["lhsql.user"] = c.User
	}
	if len(c.Inputs) > 0 {
		var list []string
		for _, in := range c.Inputs {
			list = append(list, in.Table.String()+"@"+strconv.FormatInt(in.Snapshot, 10))
		}
		m["lhsql.inputs"] = strings.Join(list, ",")
	}
}

func (p *producer) operation(a, r fileSums) string {
	switch {
	case p.c.Operation != "":
		return p.c.Operation
	case p.c.Kind == Compaction, p.c.Manifests != nil:
		return "replace"
	case r.data == 0 && a.deletes == 0 && r.deletes == 0:
		return "append"
	case a.data == 0:
		return "delete"
	}
	return "overwrite"
}

type fileSums struct {
	data, records, size          int64
	deletes                      int64
	posFiles, vectors, positions int64
	eqFiles, equalities          int64
}

func sumFiles(list []*DataFile) fileSums {
	var s fileSums
	for _, f := range list {
		if f.Content == DeletionVector {
			s.size += f.ContentSize // many vectors share one file
		} else {
			s.size += f.FileSize
		}
		switch f.Content {
		case Data:
			s.data++
			s.records += f.RecordCount
			continue
		case EqualityDeletes:
			s.eqFiles++
			s.equalities += f.RecordCount
		case PositionDeletes:
			s.posFiles++
			s.positions += f.RecordCount
		case DeletionVector:
			s.vectors++
			s.positions += f.RecordCount
		}
		s.deletes++
	}
	return s
}

func (p *producer) changedPartitions() int {
	seen := map[string]bool{}
	for _, list := range [][]*DataFile{p.c.Add, p.removed} {
		for _, f := range list {
			key := strconv.Itoa(f.SpecID)
			for _, d := range f.Partition {
				key += fmt.Sprintf("|%d:%v:%q", d.Form(), d.W128(), d.Str())
			}
			seen[key] = true
		}
	}
	return len(seen)
}

func millisecond(t time.Time) time.Time { return time.UnixMilli(t.UnixMilli()).UTC() }
