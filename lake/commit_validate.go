package lake

import (
	"context"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

func conflict(format string, args ...any) error {
	return sqlerr.New(sqlerr.SerializationFailure, "could not serialize access due to concurrent update: "+format, args...).
		WithHint("Nothing was written. The statement may be run again.")
}

// validate checks a change against what other writers did between the snapshot that the
// statement read and the branch's present head: the matrix of docs/promises.md. Liveness of
// removed files is checked where they are removed.
func (c *Change) validate(ctx context.Context, head *Table, parent *Snapshot) error {
	if c.Kind == Append && c.Recheck == nil {
		return nil
	}
	base := c.Base
	if base == nil {
		base = head
	}
	// What was moved back, or made anew, has rows that the statement did not see: those that its
	// later deletes had hidden, too.
	if c.Snapshot != nil && !head.isAncestor(c.Snapshot.ID, parent) {
		return conflict("another transaction moved the table to a state that does not come after the one that was read")
	}
	d, err := diff(ctx, base, c.Snapshot, head, parent)
	if err != nil {
		return err
	}
	switch c.Kind {
	case CopyOnWrite:
		err = c.noNewDeletes(head, d, c.Remove)
	case Compaction:
		return c.replaceable(head, d)
	case MergeOnReadDelete, MergeOnReadUpdate:
		err = c.coveredLive(d)
		if err == nil && c.Isolation == SnapshotIsolation {
			// Files that are dropped whole: an update that moved their rows elsewhere left deletes
			// here. At the serializable level its new rows tell.
			err = c.noNewDeletes(head, d, c.Remove)
		}
		switch {
		case err != nil:
		case c.Kind == MergeOnReadUpdate:
			err = c.coveredUndeleted(head, d)
		default:
			// Deleting twice does no harm; but an updated row would live on where its update put it.
			err = c.coveredUndeleted(head, d.updates())
		}
	case OverwritePartitions:
		err = c.partitionsQuiet(d)
	case Several:
		err = c.noNewDeletes(head, d, c.Remove)
		if err == nil {
			err = c.coveredLive(d)
		}
		if err == nil {
			err = c.coveredUndeleted(head, d)
		}
	}
	if err == nil && c.Kind != Append && c.Isolation != SnapshotIsolation {
		err = c.noNewData(d, base)
	}
	if err == nil && c.Recheck != nil && len(d.added) > 0 {
		err = c.recheck(ctx, head, parent, d)
	}
	return err
}

// recheck looks for rows that both this change and others have added. What an append would have been
// told by the rows that are there now it is told; another statement would perhaps not have made its row.
func (c *Change) recheck(ctx context.Context, head *Table, parent *Snapshot, d *difference) error {
	var own []*DataFile
	appends := c.Kind == Append
	for _, f := range c.Add {
		if f.Content == Data {
			own = append(own, f)
		} else {
			appends = false
		}
	}
	err := c.Recheck(ctx, head, parent, own, d.added)
	if !appends && sqlerr.CodeOf(err) == sqlerr.UniqueViolation {
		return conflict("another transaction added a row with the key of one of this one's")
	}
	return err
}

func (c *Change) conflicts(f *DataFile) bool { return c.Conflicts == nil || c.Conflicts(f) }

// noNewData: serializable statements saw all rows that match their predicate.
func (c *Change) noNewData(d *difference, base *Table) error {
	for _, f := range d.added {
		// A compaction that kept the sequence number of what the statement has seen brings no
		// new rows.
		if c.Snapshot != nil && f.DataSeq < f.FileSeq && f.DataSeq <= c.Snapshot.Seq && c.Snapshot.Seq > 0 {
			continue
		}
		if c.conflicts(f) {
			return conflict("another transaction added rows that the statement's condition may match (%s)", f.Path)
		}
	}
	return nil
}

// noNewDeletes: rows of the replaced files were not deleted meanwhile; they would come back.
func (c *Change) noNewDeletes(head *Table, d *difference, files []*DataFile) error {
	for _, del := range d.deletes {
		for _, f := range files {
			if f.Content == Data && mayApply(head, del, f) {
				return conflict("another transaction deleted rows of %s", f.Path)
			}
		}
	}
	return nil
}

// replaceable: the files that a compaction replaces are what they were when it read them, and the
// delete files that it drops or rewrites delete nothing else.
func (c *Change) replaceable(head *Table, d *difference) error {
	for _, f := range c.Remove {
		switch {
		case f.Content == Data:
			if c.lost(head, d, f) {
				return conflict("another transaction deleted rows of %s", f.Path)
			}
		case d.applies(head, f):
			return conflict("another transaction added data that the deletes in %s apply to", f.Path)
		}
	}
	return c.coveredLive(d)
}

// lost tells whether rows of the data file f were deleted since, in a way that does not reach the
// files that stand for it: an equality delete reaches them if they keep a sequence number before it,
// and if it applies to their partition, too. That of another partition spec does not. Nor may one reach
// them that was never to reach f: rows that come to its partition spec and keep a number before it
// would be deleted by having been moved.
func (c *Change) lost(head *Table, d *difference, f *DataFile) bool {
	for _, del := range d.deletes {
		if !mayApply(head, del, f) {
			if del.Content == EqualityDeletes && c.KeepSeq && slices.ContainsFunc(c.Add, func(g *DataFile) bool {
				return g.Content == Data && g.SpecID != f.SpecID && mayApply(head, del, g)
			}) {
				return true
			}
			continue
		}
		if del.Content != EqualityDeletes || !c.KeepSeq {
			return true
		}
		if unpartitioned(head.Spec(del.SpecID)) {
			continue
		}
		for _, g := range c.Add {
			if g.Content == Data && g.SpecID != f.SpecID {
				return true
			}
		}
	}
	return false
}

// applies tells whether the delete file del could delete rows of data that came.
func (d *difference) applies(head *Table, del *DataFile) bool {
	if del.Content == DeletionVector {
		return false // it names its one file
	}
	for _, f := range d.added {
		// A file that came by compaction, which kept the sequence number, has a path that no earlier
		// delete file can name.
		if del.Content == PositionDeletes && f.DataSeq < f.FileSeq {
			continue
		}
		if mayApply(head, del, f) {
			return true
		}
	}
	return false
}

// Lost tells, after a conflict, which of the files that a compaction removes it can not remove on
// head: they are gone, rows of them were deleted, or (delete files) they apply to what came. All are
// where the branch was moved to what does not come after the snapshot that was read.
func (c *Change) Lost(ctx context.Context, head *Table) (map[*DataFile]bool, error) {
	out := map[*DataFile]bool{}
	all := func() map[*DataFile]bool {
		for _, f := range c.Remove {
			out[f] = true
		}
		return out
	}
	if c.sameTable(head) != nil || c.Snapshot == nil {
		return all(), nil
	}
	branch := c.Branch
	if branch == "" {
		branch = "main"
	}
	at := head.CurrentSnapshot()
	if branch != "main" {
		r, ok := head.Ref(branch)
		if !ok || !r.Branch {
			return all(), nil
		}
		at = head.SnapshotByID(r.SnapshotID)
	}
	if !head.isAncestor(c.Snapshot.ID, at) {
		return all(), nil
	}
	d, err := diff(ctx, c.Base, c.Snapshot, head, at)
	if err != nil {
		return nil, err
	}
	for _, f := range c.Remove {
		gone := d.removed[fileKey(f)] != nil
		if f.Content == Data {
			gone = gone || c.lost(head, d, f)
		} else {
			gone = gone || d.applies(head, f)
		}
		if gone {
			out[f] = true
		}
	}
	return out, nil
}

// covered lists the data files that the change's new delete files refer to.
func (c *Change) covered() map[string]bool {
	files := map[string]bool{}
	for _, p := range c.References {
		files[p] = true
	}
	for _, f := range c.Add {
		if f.Content != Data && f.ReferencedFile != "" {
			files[f.ReferencedFile] = true
		}
	}
	return files
}

// coveredLive: a delete that refers to a file that is gone would delete nothing, while its rows
// live on elsewhere.
func (c *Change) coveredLive(d *difference) error {
	for p := range c.covered() {
		if d.removed[p] != nil {
			return conflict("another transaction rewrote or removed %s", p)
		}
	}
	return c.noNewVectors(d)
}

// noNewVectors: a file has one deletion vector; one that appeared meanwhile is not folded into ours.
func (c *Change) noNewVectors(d *difference) error {
	covered := c.covered()
	for _, del := range d.deletes {
		if del.ReferencedFile != "" && covered[del.ReferencedFile] && c.addsVectorFor(del.ReferencedFile) {
			return conflict("another transaction deleted rows of %s", del.ReferencedFile)
		}
	}
	return nil
}

func (c *Change) addsVectorFor(path string) bool {
	for _, f := range c.Add {
		if f.Content == DeletionVector && f.ReferencedFile == path {
			return true
		}
	}
	return false
}

// coveredUndeleted: an updated row must not have been deleted meanwhile, since the update would
// bring it back.
func (c *Change) coveredUndeleted(head *Table, d *difference) error {
	covered := c.covered()
	for _, del := range d.deletes {
		switch {
		case del.ReferencedFile != "" && covered[del.ReferencedFile]:
			return conflict("another transaction deleted rows of %s", del.ReferencedFile)
		case del.ReferencedFile != "" && del.Content != EqualityDeletes:
			continue // of a file that the statement does not touch
		case c.conflicts(del):
			return conflict("another transaction deleted rows that the statement's condition may match (%s)", del.Path)
		}
	}
	return nil
}

// partitionsQuiet: nothing was deleted or removed in the partitions that are replaced.
func (c *Change) partitionsQuiet(d *difference) error {
	for _, del := range d.deletes {
		if c.conflicts(del) {
			return conflict("another transaction deleted rows in the partitions that are replaced (%s)", del.Path)
		}
	}
	for _, f := range c.Remove {
		if d.removed[fileKey(f)] != nil {
			return conflict("another transaction removed %s", f.Path)
		}
	}
	return nil
}

// schemaUnchanged: an ALTER was decided on the schema and partitioning that its Base had.
func (c *Change) schemaUnchanged(head *Table) error {
	if c.Base == nil {
		return nil
	}
	if c.Base.currentSchemaID != head.currentSchemaID || c.Base.lastColumnID != head.lastColumnID {
		return conflict("another transaction changed the schema of table %s", head.Name.Table)
	}
	if c.Base.defaultSpecID != head.defaultSpecID || c.Base.lastPartitionID != head.lastPartitionID {
		return conflict("another transaction changed the partitioning of table %s", head.Name.Table)
	}
	if len(c.Base.specs) != len(head.specs) {
		return conflict("another transaction changed the partitioning of table %s", head.Name.Table)
	}
	return nil
}

// branchesStill makes sure that each branch is where Base has it. A server is told to look at
// those that it can be told of.
func (c *Change) branchesStill(head *Table, e *Edit) error {
	at := func(t *Table, name string) *int64 {
		if r, ok := t.Ref(name); ok && r.Branch {
			return &r.SnapshotID
		}
		return nil
	}
	names := []string{"main"}
	for _, r := range slices.Concat(c.Base.Refs(), head.Refs()) {
		if r.Branch && r.Name != "main" {
			names = append(names, r.Name)
		}
	}
	for _, n := range names {
		was, is := at(c.Base, n), at(head, n)
		if (was == nil) != (is == nil) || was != nil && *was != *is {
			return conflict("another transaction changed branch %s of table %s", n, head.Name.Table)
		}
		e.require("assert-ref-snapshot-id", obj{"ref": n, "snapshot-id": was})
	}
	return nil
}

// sameTable refuses to go on where the name stands for another table now, or for one that this
// statement does not understand (C8).
func (c *Change) sameTable(head *Table) error {
	if c.Base == nil {
		return nil
	}
	if c.Base.uuid != "" && head.uuid != c.Base.uuid {
		return conflict("table %s was dropped and made anew", head.Name.Table)
	}
	if head.formatVersion > c.Base.formatVersion && !c.onlyAdds() {
		return conflict("another transaction upgraded the format of table %s to version %d", head.Name.Table, head.formatVersion)
	}
	return nil
}

// onlyAdds tells that a change is data files alone, which are in a later format what they are.
func (c *Change) onlyAdds() bool {
	if c.Kind != Append || c.Edit != nil || len(c.Remove) > 0 {
		return false
	}
	for _, f := range c.Add {
		if f.Content != Data {
			return false
		}
	}
	return true
}

// rowsFit refuses rows that were written for a schema that the table no longer has: a column
// that was nullable and now is not, or was made anew under another id or type. A column that was
// dropped or added meanwhile does not matter.
func (c *Change) rowsFit(head *Table) error {
	if err := c.promisesStill(head); err != nil {
		return err
	}
	if c.Base == nil || c.Base.currentSchemaID == head.currentSchemaID || len(c.Add) == 0 {
		return nil
	}
	was, is := c.Base.Schema(), head.Schema()
	if f := newlyRequired(was.Fields, is.Fields); f != "" {
		return conflict("another transaction set column %q NOT NULL", f)
	}
	survive := 0
	for i := range was.Fields {
		f := &was.Fields[i]
		g, _ := is.ByID(f.ID)
		switch {
		case g == nil && is.ByName(f.Name) != nil:
			return conflict("another transaction made column %q anew", f.Name)
		case g == nil:
			continue
		case g.Iceberg != f.Iceberg && !(&Edit{s: &head.state}).widens(f.Iceberg, g.Iceberg):
			return conflict("another transaction changed the type of column %q", f.Name)
		}
		survive++
	}
	if survive == 0 && len(was.Fields) > 0 {
		return conflict("another transaction replaced the columns of table %s", head.Name.Table)
	}
	return nil
}

// newlyRequired names a field that is required now and was not, "" if there is none. One that
// is new has an initial default, which the rows read.
func newlyRequired(was, is []Field) string {
	for i := range is {
		for k := range was {
			if was[k].ID != is[i].ID {
				continue
			}
			if is[i].Required && !was[k].Required {
				return is[i].Name
			}
			if f := newlyRequired(was[k].Children, is[i].Children); f != "" {
				return is[i].Name + "." + f
			}
		}
	}
	return ""
}

// balanced checks the count of rows (C10).
func (c *Change) balanced() error {
	b := c.Balance
	if b == nil {
		return nil
	}
	var written, deletes int64
	for _, f := range c.Add {
		if f.Content == Data {
			written += f.RecordCount
		} else {
			deletes += f.RecordCount
		}
	}
	for _, f := range c.Remove {
		if f.Content != Data {
			deletes -= f.RecordCount
		}
	}
	want := b.Read - b.Deleted + b.Inserted
	if b.Deletes {
		want = b.Inserted
		if deletes != b.Deleted {
			return sqlerr.New(sqlerr.InternalError, "the statement deleted %d rows, but its delete files hold %d more positions: nothing was committed", b.Deleted, deletes)
		}
	}
	if written != want {
		return sqlerr.New(sqlerr.InternalError, "%d rows should have been written (%d read, %d deleted, %d inserted), but there are %d: nothing was committed",
			want, b.Read, b.Deleted, b.Inserted, written)
	}
	return nil
}

// promisesStill: new rows were held to the declared types and the constraints that Base had.
func (c *Change) promisesStill(head *Table) error {
	if c.Base == nil || c.Base.staged != nil || c.Kind == Compaction || len(c.Add) == 0 {
		return nil
	}
	had := map[string]bool{}
	for _, k := range checksIn(c.Base.properties) {
		had[k.Name+"\x00"+k.SQL] = true
	}
	for _, k := range checksIn(head.properties) {
		if !had[k.Name+"\x00"+k.SQL] && !k.NotEnforced {
			return conflict("another transaction added constraint %s to table %s", k.Name, head.Name.Table)
		}
	}
	for k := range head.properties {
		kept := strings.HasPrefix(k, keyPrefix) || strings.HasPrefix(k, foreignPrefix)
		if kept && c.Base.properties[k] != head.properties[k] {
			return conflict("another transaction added constraint %s to table %s", k[strings.LastIndexByte(k, '.')+1:], head.Name.Table)
		}
	}
	if was, is := c.Base.Schema(), head.Schema(); was != nil && is != nil {
		return sameDeclared(was.Fields, is)
	}
	return nil
}

// sameDeclared: a column that is stored as it was has the declared type that it had.
func sameDeclared(was []Field, is *Schema) error {
	for i := range was {
		f := &was[i]
		g, _ := is.ByID(f.ID)
		if g != nil && g.Iceberg == f.Iceberg && len(f.Children) == 0 && g.Type.Spell() != f.Type.Spell() {
			return conflict("another transaction changed the type of column %s", f.Name)
		}
		if err := sameDeclared(f.Children, is); err != nil {
			return err
		}
	}
	return nil
}
