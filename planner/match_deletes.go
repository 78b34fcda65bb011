package planner

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// filePathField is the reserved field id of file_path in position delete files (Iceberg spec,
// "Reserved Field IDs").
const filePathField = 2147483546

// attachDeletes gives each task the deletes that apply to its file (Iceberg spec, "Scan
// Planning"):
//
//	deletion vector    data seq ≤ delete seq, the referenced file
//	position deletes   data seq ≤ delete seq, same spec and partition, the referenced file if
//	                   one is named, and no deletion vector for the file
//	equality deletes   data seq < delete seq, same spec and partition; everywhere if the
//	                   delete's spec is unpartitioned
//
// The specification asks for the same spec and partition of a deletion vector too. But DuckDB 1.5.5
// writes vectors with the table's present spec over files of an older one; the vector names its one
// file, so that there is nothing to confuse, and without it deleted rows would come back. Spark
// applies such vectors as well.
//
// Manifests of deletes are skipped by partition as manifests of data are: what they could
// apply to has the same partition, and was skipped too. With vectors that holds only where all
// files have one spec.
func (p *filePruner) attachDeletes(tasks []plan.FileTask, manifests []*lake.Manifest) error {
	mixed := false
	for i := range tasks {
		mixed = mixed || tasks[i].File.SpecID != tasks[0].File.SpecID
	}
	var read []*lake.Manifest
	for _, m := range manifests {
		foreign := p.table.FormatVersion() >= 3 && (mixed || len(tasks) > 0 && tasks[0].File.SpecID != m.SpecID)
		if foreign || !p.skips(m) || p.unpartitioned(m.SpecID) {
			read = append(read, m)
		}
	}
	x, err := p.indexDeletes(read)
	if err != nil {
		return err
	}
	used := map[*lake.DataFile]bool{}
	for i := range tasks {
		tasks[i].Deletes = x.of(tasks[i].File)
		for _, d := range tasks[i].Deletes {
			used[d] = true
		}
	}
	p.report.DeleteFiles = len(used)
	return p.readableDeletes(slices.Collect(maps.Keys(used)))
}

// indexDeletes reads manifests of deletes.
func (p *filePruner) indexDeletes(manifests []*lake.Manifest) (*deleteIndex, error) {
	entries, err := p.entries(manifests)
	if err != nil {
		return nil, err
	}
	x := newDeleteIndex(p)
	for _, list := range entries {
		for i := range list {
			if list[i].Status != lake.Deleted && list[i].File.Content != lake.Data {
				x.add(list[i].File)
			}
		}
	}
	return x, nil
}

// readableDeletes refuses, by name, deletes that we cannot read.
func (p *filePruner) readableDeletes(list []*lake.DataFile) error {
	for _, d := range list {
		format := "parquet"
		if d.Content == lake.DeletionVector {
			format = "puffin"
		}
		if err := p.readable(d, format); err != nil {
			return err
		}
	}
	return nil
}

func (p *filePruner) unpartitioned(specID int) bool {
	s := p.table.Spec(specID)
	if s == nil {
		return false
	}
	for _, f := range s.Fields {
		if f.Transform.Kind != lake.Void {
			return false
		}
	}
	return true
}

// deleteIndex finds the deletes of a data file without looking at all of them.
type deleteIndex struct {
	p         *filePruner
	vectors   map[string][]*lake.DataFile // by referenced file
	positions map[string][]*lake.DataFile // likewise, where the one file is known
	wide      map[string][]*lake.DataFile // position deletes by spec and partition
	equality  map[string][]*lake.DataFile // by spec and partition
	global    []*lake.DataFile            // equality deletes that apply to every partition
}

func newDeleteIndex(p *filePruner) *deleteIndex {
	return &deleteIndex{p: p, vectors: map[string][]*lake.DataFile{}, positions: map[string][]*lake.DataFile{},
		wide: map[string][]*lake.DataFile{}, equality: map[string][]*lake.DataFile{}}
}

func (x *deleteIndex) add(d *lake.DataFile) {
	switch d.Content {
	case lake.DeletionVector:
		x.vectors[d.ReferencedFile] = append(x.vectors[d.ReferencedFile], d)
	case lake.PositionDeletes:
		if f := OnlyFile(d); f != "" {
			x.positions[f] = append(x.positions[f], d)
			return
		}
		k := PartitionKey(d)
		x.wide[k] = append(x.wide[k], d)
	case lake.EqualityDeletes:
		if x.p.unpartitioned(d.SpecID) {
			x.global = append(x.global, d)
			return
		}
		k := PartitionKey(d)
		x.equality[k] = append(x.equality[k], d)
	}
}

// OnlyFile is the one data file that position deletes cover, if they say so: by name, or by
// equal bounds of file_path. Bounds that may be cut short name nothing; a whole path ends as
// data files do.
func OnlyFile(d *lake.DataFile) string {
	if d.ReferencedFile != "" {
		return d.ReferencedFile
	}
	lo, hi := d.Lower[filePathField], d.Upper[filePathField]
	if string(lo) != string(hi) {
		return ""
	}
	for _, end := range []string{".parquet", ".avro", ".orc"} {
		if strings.HasSuffix(string(lo), end) {
			return string(lo)
		}
	}
	return ""
}

// of lists the deletes for one data file.
func (x *deleteIndex) of(f *lake.DataFile) []*lake.DataFile {
	key := PartitionKey(f)
	same := func(d *lake.DataFile) bool { return PartitionKey(d) == key }
	var out []*lake.DataFile
	vector := false
	for _, d := range x.vectors[f.Path] {
		if f.DataSeq <= d.DataSeq {
			out, vector = append(out, d), true
		}
	}
	if !vector { // a vector holds all earlier position deletes of its file
		for _, d := range x.positions[f.Path] {
			if f.DataSeq <= d.DataSeq && same(d) {
				out = append(out, d)
			}
		}
		for _, d := range x.wide[key] {
			if f.DataSeq <= d.DataSeq && mayCover(d, f.Path) {
				out = append(out, d)
			}
		}
	}
	for _, d := range x.equality[key] {
		if f.DataSeq < d.DataSeq {
			out = append(out, d)
		}
	}
	for _, d := range x.global {
		if f.DataSeq < d.DataSeq {
			out = append(out, d)
		}
	}
	return out
}

// mayCover tells whether path lies within the bounds of file_path, which may be truncated or
// absent; inverted ones say nothing.
func mayCover(d *lake.DataFile, path string) bool {
	lo, hasLo := d.Lower[filePathField]
	hi, hasHi := d.Upper[filePathField]
	if hasLo && hasHi && string(lo) > string(hi) {
		return true
	}
	if hasLo && path < string(lo) {
		return false
	}
	// Some writers cut the upper bound without raising it: a path that goes on after it is in.
	return !hasHi || path <= string(hi) || strings.HasPrefix(path, string(hi))
}

// PartitionKey spells spec and partition tuple, so that equal partitions have equal keys.
func PartitionKey(f *lake.DataFile) string {
	b := binary.AppendVarint(nil, int64(f.SpecID))
	for _, d := range f.Partition {
		b = append(b, byte(d.Form()))
		switch d.Form() {
		case types.FormNone:
		case types.FormStr:
			b = binary.AppendUvarint(b, uint64(len(d.Str())))
			b = append(b, d.Str()...)
		default:
			w := d.W128()
			b = binary.LittleEndian.AppendUint64(b, w.Lo)
			b = binary.LittleEndian.AppendUint64(b, uint64(w.Hi))
		}
	}
	return string(b)
}
