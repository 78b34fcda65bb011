package lake

import (
	"fmt"
	"strings"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
)

// manifestReader decodes one manifest's entries (spec, "Manifests").
type manifestReader struct {
	m     *Manifest
	spec  *PartitionSpec
	stats map[int]bool // the fields whose statistics are wanted; nil: all
	v2    bool         // what format 2 requires must be there

	slab      []DataFile
	values    []types.Datum // slab of partition tuples
	bytes     []byte        // slab of bounds
	nextRowID int64
	rowIDs    bool
	order     []int // partition record field → spec field, -1: none
	out       []Entry
	content   int64 // of the file being read; -1: not given
	short     error // there is no memory for more
}

// parseManifest reads a manifest. stats names the fields whose counts and bounds are wanted,
// nil all of them: maps are most of the cost.
func parseManifest(b []byte, m *Manifest, spec *PartitionSpec, stats map[int]bool) ([]Entry, error) {
	f, err := openAvro(b)
	if err != nil {
		return nil, err
	}
	// Spark's add_files puts manifests of format 1 into tables of later ones, as the format allows: what
	// they do not say is known from their list. One that does not say its own format is as its table's.
	v := f.meta["format-version"]
	r := &manifestReader{m: m, spec: spec, stats: stats, v2: v != "1" && (v != "" || m.Seq > 0)}
	if m.FirstRowID != nil && !m.Deletes {
		r.rowIDs, r.nextRowID = true, *m.FirstRowID
	}
	err = f.rows(func(b *avroBuf) error { return r.entry(b, f.schema) })
	if err == nil {
		err = r.checkCounts()
	}
	return r.out, err
}

// checkCounts compares a manifest's entries with what its list says of them: a part of a manifest
// that is lost is rows that are lost, or that come back.
func (r *manifestReader) checkCounts() error {
	var files, rows [3]int64 // by status
	for i := range r.out {
		e := &r.out[i]
		files[e.Status]++
		rows[e.Status] += e.File.RecordCount
	}
	for _, x := range []struct {
		what       string
		told, seen int64
	}{
		{"existing files", r.m.ExistingFiles, files[Existing]}, {"added files", r.m.AddedFiles, files[Added]}, {"deleted files", r.m.DeletedFiles, files[Deleted]},
		{"existing rows", r.m.ExistingRows, rows[Existing]}, {"added rows", r.m.AddedRows, rows[Added]}, {"deleted rows", r.m.DeletedRows, rows[Deleted]},
	} {
		if x.told >= 0 && x.told != x.seen {
			return sqlerr.New(sqlerr.DataCorrupted, "the manifest has %d %s, its manifest list says %d", x.seen, x.what, x.told)
		}
	}
	return nil
}

func (r *manifestReader) newFile() *DataFile {
	if len(r.slab) == 0 {
		r.slab = make([]DataFile, 64)
		r.short = room.Check() // an entry may be a hundred times its bytes
	}
	f := &r.slab[0]
	r.slab = r.slab[1:]
	f.SpecID = r.spec.ID
	return f
}

func (r *manifestReader) tuple() []types.Datum {
	n := len(r.spec.Fields)
	if len(r.values) < n {
		r.values = make([]types.Datum, 64*n)
	}
	t := r.values[:n:n]
	r.values = r.values[n:]
	return t
}

func (r *manifestReader) entry(b *avroBuf, schema *avroNode) error {
	e := Entry{Status: noStatus, SnapshotID: r.m.AddedSnapshotID, File: r.newFile()}
	if r.short != nil {
		return r.short
	}
	seq, fileSeq := int64(-1), int64(-1) // not given: sequence numbers are never negative
	known := false
	for i := range schema.fields {
		f := &schema.fields[i]
		n := b.value(f.node)
		switch {
		case f.id == 2 && n.kind == avroRecord:
			known = true
			if err := r.dataFile(b, n, e.File); err != nil {
				return err
			}
		case n.kind == avroInt || n.kind == avroLong:
			v := b.long()
			switch f.id {
			case 0:
				if v < 0 || v > int64(Deleted) {
					return fmt.Errorf("entry has unknown status %d", v)
				}
				e.Status = EntryStatus(v)
			case 1:
				e.SnapshotID = v
			case 3:
				seq = v
			case 4:
				fileSeq = v
			}
		default:
			b.skip(n, 0)
		}
	}
	if b.err != nil {
		return b.err
	}
	switch {
	case e.Status == noStatus:
		return lacks("status", e.File)
	case !known:
		return lacks("data_file", e.File)
	case r.m.Seq > 0 && e.Status != Added && seq < 0:
		// Only a new file takes its manifest's number: an older one would be younger than the deletes
		// that apply to it (spec, "Sequence Number Inheritance").
		return lacks("sequence_number", e.File)
	}
	r.inherit(&e, seq, fileSeq)
	r.out = append(r.out, e)
	return nil
}

// noStatus is that of an entry which says none.
const noStatus = Deleted + 1

// lacks is the error of an entry without a field that the format requires.
func lacks(field string, f *DataFile) error {
	if f.Path == "" {
		return fmt.Errorf("an entry lacks the required field %s", field)
	}
	return fmt.Errorf("the entry of %s lacks the required field %s", f.Path, field)
}

// inherit gives an entry what its manifest says for it (spec, "Sequence Number Inheritance",
// "First Row ID Inheritance").
func (r *manifestReader) inherit(e *Entry, seq, fileSeq int64) {
	f := e.File
	f.SnapshotID = e.SnapshotID
	f.DataSeq, f.FileSeq = r.m.Seq, r.m.Seq // 0 of what was written in format 1
	if seq >= 0 {
		f.DataSeq = seq
	}
	if fileSeq >= 0 {
		f.FileSeq = fileSeq
	}
	if r.rowIDs && f.FirstRowID == nil && e.Status != Deleted && f.Content == Data {
		id := r.nextRowID
		f.FirstRowID = &id
		r.nextRowID += f.RecordCount
	}
}

func (r *manifestReader) dataFile(b *avroBuf, n *avroNode, f *DataFile) error {
	f.RecordCount, f.FileSize = -1, -1 // not given
	r.content = -1
	for i := range n.fields {
		af := &n.fields[i]
		v := b.value(af.node)
		switch v.kind {
		case avroNull:
		case avroInt, avroLong:
			if v := b.long(); af.id == 134 {
				r.content = v
			} else {
				f.setNumber(af.id, v)
			}
		case avroString:
			r.text(b, af.id, f)
		case avroRecord:
			if af.id != 102 {
				b.skip(v, 0)
			} else if err := r.partition(b, v, f); err != nil {
				return err
			}
		case avroArray:
			r.list(b, v, af.id, f)
		case avroBytes:
			if af.id == 131 {
				f.Encrypted = true
			}
			b.skip(v, 0)
		default:
			b.skip(v, 0)
		}
		if b.err != nil {
			return fmt.Errorf("field %s: %w", af.name, b.err)
		}
	}
	return r.checkFile(f)
}

// checkFile sets the file's content and refuses an entry without what the format requires of it
// (spec, "Manifests", "Delete Formats").
func (r *manifestReader) checkFile(f *DataFile) error {
	switch {
	case f.Path == "":
		return lacks("file_path", f)
	case f.Format == "":
		return lacks("file_format", f)
	case f.Partition == nil && len(r.spec.Fields) > 0: // an empty tuple says nothing
		return lacks("partition", f)
	case f.RecordCount < 0:
		return lacks("record_count", f)
	case f.FileSize < 0:
		return lacks("file_size_in_bytes", f)
	case r.content < 0 && r.v2:
		return lacks("content", f)
	case r.content > int64(EqualityDeletes):
		return fmt.Errorf("%s has the unknown content %d", f.Path, r.content)
	}
	f.Content = Content(max(r.content, 0))
	if (f.Content != Data) != r.m.Deletes {
		return fmt.Errorf("%s has content %d, which its manifest list does not tell of the manifest", f.Path, r.content)
	}
	switch {
	case f.Content == EqualityDeletes && len(f.EqualityIDs) == 0:
		return lacks("equality_ids", f)
	case f.Content == PositionDeletes && f.Format == "puffin":
		f.Content = DeletionVector
		switch {
		case f.ReferencedFile == "":
			return lacks("referenced_data_file", f)
		case f.ContentOffset <= 0:
			return lacks("content_offset", f)
		case f.ContentSize <= 0:
			return lacks("content_size_in_bytes", f)
		}
	}
	return nil
}

func (f *DataFile) setNumber(id int, v int64) {
	switch id {
	case 103:
		f.RecordCount = v
	case 104:
		f.FileSize = v
	case 140:
		f.SortOrderID = int(v)
	case 142:
		id := v // a copy, so that only this case allocates
		f.FirstRowID = &id
	case 144:
		f.ContentOffset = v
	case 145:
		f.ContentSize = v
	}
}

func (r *manifestReader) text(b *avroBuf, id int, f *DataFile) {
	switch id {
	case 100:
		f.Path = b.str()
	case 101:
		f.Format = formatName(b.bytes())
	case 143:
		f.ReferencedFile = b.str()
	default:
		b.bytes()
	}
}

func formatName(b []byte) string {
	switch string(b) {
	case "PARQUET", "parquet":
		return "parquet"
	}
	return strings.ToLower(string(b))
}

func (r *manifestReader) list(b *avroBuf, n *avroNode, id int, f *DataFile) {
	switch id {
	case 109:
		f.ValueCounts = r.counts(b, n)
	case 110:
		f.NullCounts = r.counts(b, n)
	case 137:
		f.NaNCounts = r.counts(b, n)
	case 108:
		if r.stats == nil {
			f.ColumnSizes = r.counts(b, n)
			return
		}
		b.skip(n, 0)
	case 125:
		f.Lower = r.bounds(b, n)
	case 128:
		f.Upper = r.bounds(b, n)
	case 132:
		if isLong(n.elem) {
			b.items(func() { f.SplitOffsets = append(f.SplitOffsets, b.long()) })
			return
		}
		b.skip(n, 0)
	case 135:
		if isLong(n.elem) {
			b.items(func() { f.EqualityIDs = append(f.EqualityIDs, int(b.long())) })
			return
		}
		b.skip(n, 0)
	default:
		b.skip(n, 0)
	}
}

func isLong(n *avroNode) bool { return n.kind == avroInt || n.kind == avroLong }

// keyed tells whether n is a map with int keys as Iceberg writes it: an array of {key, value}.
func keyed(n *avroNode, value avroKind) bool {
	e := n.elem
	return e.kind == avroRecord && len(e.fields) == 2 && e.fields[0].name == "key" &&
		isLong(e.fields[0].node) && e.fields[1].node.kind == value
}

// room is the size of a map for count items of which only the wanted are kept.
func (r *manifestReader) room(count int64) int {
	if r.stats != nil {
		count = min(count, int64(len(r.stats)))
	}
	return int(min(count, 4096))
}

// keep copies a bound out of the block, many to an allocation. It is never nil: nil is no bound.
func (r *manifestReader) keep(v []byte) []byte {
	if r.bytes == nil || len(r.bytes)+len(v) > cap(r.bytes) {
		r.bytes = make([]byte, 0, max(16<<10, len(v)))
	}
	n := len(r.bytes)
	r.bytes = append(r.bytes, v...)
	return r.bytes[n:len(r.bytes):len(r.bytes)]
}

func (r *manifestReader) wants(id int64) bool { return r.stats == nil || r.stats[int(id)] }

func (r *manifestReader) counts(b *avroBuf, n *avroNode) map[int]int64 {
	if !keyed(n, avroLong) || r.stats != nil && len(r.stats) == 0 {
		b.skip(n, 0)
		return nil
	}
	var m map[int]int64
	for b.err == nil {
		count, _ := b.blockCount()
		if count == 0 {
			break
		}
		if m == nil {
			m = make(map[int]int64, r.room(count))
		}
		for ; count > 0 && b.err == nil; count-- {
			if k, v := b.long(), b.long(); r.wants(k) {
				m[int(k)] = v
			}
		}
	}
	return m
}

func (r *manifestReader) bounds(b *avroBuf, n *avroNode) map[int][]byte {
	if !keyed(n, avroBytes) || r.stats != nil && len(r.stats) == 0 {
		b.skip(n, 0)
		return nil
	}
	var m map[int][]byte
	for b.err == nil {
		count, _ := b.blockCount()
		if count == 0 {
			break
		}
		if m == nil {
			m = make(map[int][]byte, r.room(count))
		}
		for ; count > 0 && b.err == nil; count-- {
			if k, v := b.long(), b.bytes(); r.wants(k) {
				m[int(k)] = r.keep(v)
			}
		}
	}
	return m
}

func (r *manifestReader) partition(b *avroBuf, n *avroNode, f *DataFile) error {
	if r.order == nil {
		if err := r.matchPartition(n); err != nil {
			return err
		}
	}
	f.Partition = r.tuple()
	for i := range n.fields {
		v := b.value(n.fields[i].node)
		k := r.order[i]
		if k < 0 {
			b.skip(v, 0)
			continue
		}
		pf := &r.spec.Fields[k]
		if v.kind != avroNull && (pf.Transform.Kind == UnknownTransform || pf.Type.Kind == types.Invalid) {
			// The value's meaning is not known, but equal values must stay equal: deletes match
			// by partition.
			raw := b.b
			b.skip(v, 0)
			f.Partition[k] = types.NewStr(string(raw[:len(raw)-len(b.b)]))
			continue
		}
		d, ok := readDatum(b, v, pf.Type)
		if !ok {
			return fmt.Errorf("partition value of %s cannot be read as %s", pf.Name, pf.Iceberg)
		}
		f.Partition[k] = d
	}
	return nil
}

// matchPartition ties the record's fields to the spec's, by field id, else by name.
func (r *manifestReader) matchPartition(n *avroNode) error {
	r.order = make([]int, len(n.fields))
	seen := map[int]bool{}
	for i := range n.fields {
		r.order[i] = -1
		for k := range r.spec.Fields {
			if n.fields[i].id == r.spec.Fields[k].FieldID || n.fields[i].id < 0 && n.fields[i].name == r.spec.Fields[k].Name {
				r.order[i] = k
				seen[k] = true
			}
		}
	}
	for k := range r.spec.Fields {
		// A partition value that is not there must not pass for NULL: that would prune.
		if !seen[k] && r.spec.Fields[k].Transform.Kind != Void {
			return sqlerr.New(sqlerr.DataCorrupted, "manifest has no values for partition field %s", r.spec.Fields[k].Name)
		}
	}
	return nil
}

// readDatum reads a partition value as a value of type t. The value may have been written
// before its source column was widened.
func readDatum(b *avroBuf, n *avroNode, t types.Type) (types.Datum, bool) {
	switch n.kind {
	case avroNull:
		return types.Null, true
	case avroBool:
		return types.NewBool(b.boolean()), t.Form() == types.FormBool
	case avroInt, avroLong:
		v := b.long()
		if n.logical == "timestamp-millis" || n.logical == "time-millis" {
			v *= 1000
		}
		if n.logical == "date" {
			switch t.Kind {
			case types.Timestamp, types.TimestampTZ:
				v *= 86_400_000_000
			case types.TimestampNS, types.TimestampTZNS:
				v *= 86_400_000_000_000
			}
		}
		return types.NewInt(v), t.Form() == types.FormI64 && t.Kind != types.Numeric
	case avroFloat:
		return types.NewFloat(float64(b.float())), t.Form() == types.FormF64
	case avroDouble:
		return types.NewFloat(b.double()), t.Form() == types.FormF64
	case avroString:
		s := b.str()
		return types.NewStr(s), t.Form() == types.FormStr && b.err == nil
	case avroFixed, avroBytes:
		var p []byte
		if n.kind == avroFixed {
			p = b.take(int64(n.size))
		} else {
			p = b.bytes()
		}
		switch t.Kind {
		case types.UUID:
			return uuidDatum(p), len(p) == 16
		case types.Numeric:
			return decimalBytes(p, t)
		}
		return types.NewStr(string(p)), t.Form() == types.FormStr
	}
	b.skip(n, 0)
	return types.Null, false
}
