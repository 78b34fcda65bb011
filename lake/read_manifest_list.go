package lake

import (
	"fmt"
	"math/bits"

	"github.com/lhsql/lhsql/internal/room"
)

// What the fields of a manifest list are called, by id from 500 (spec, "Manifest Lists").
var listFields = [...]string{"manifest_path", "manifest_length", "partition_spec_id", "added_snapshot_id",
	"added_files_count", "existing_files_count", "deleted_files_count", "partitions", "", "", "", "",
	"added_rows_count", "existing_rows_count", "deleted_rows_count", "sequence_number", "min_sequence_number",
	"content", "", "key_metadata", "first_row_id"}

// Fields that a list must have, as bits from id 500: in format 1, and since format 2.
const (
	listRequired1 = 1<<0 | 1<<1 | 1<<2 | 1<<3
	listRequired2 = listRequired1 | 1<<4 | 1<<5 | 1<<6 | 1<<12 | 1<<13 | 1<<14 | 1<<15 | 1<<16 | 1<<17
)

// parseManifestList reads a manifest list (spec, "Manifest Lists") of a snapshot with the sequence
// number seq. A field that the format requires is never taken for zero where it is missing: without
// its content a manifest of deletes would pass for one of data.
func parseManifestList(b []byte, seq int64) ([]*Manifest, error) {
	f, err := openAvro(b)
	if err != nil {
		return nil, err
	}
	required := uint32(listRequired1)
	if v := f.meta["format-version"]; v != "" && v != "1" || seq > 0 {
		required = listRequired2
	}
	var out []*Manifest
	err = f.rows(func(r *avroBuf) error {
		m := &Manifest{AddedFiles: -1, ExistingFiles: -1, DeletedFiles: -1, AddedRows: -1, ExistingRows: -1, DeletedRows: -1}
		var seen uint32
		for i := range f.schema.fields {
			af := &f.schema.fields[i]
			if m.readField(r, af) && af.id >= 500 && af.id < 500+len(listFields) {
				seen |= 1 << (af.id - 500)
			}
			if r.err != nil {
				return fmt.Errorf("field %s: %w", af.name, r.err)
			}
		}
		if lost := required &^ seen; lost != 0 {
			return fmt.Errorf("a manifest lacks the required field %s", listFields[bits.TrailingZeros32(lost)])
		}
		if len(out)%64 == 0 {
			if err := room.Check(); err != nil {
				return err
			}
		}
		out = append(out, m)
		return m.check()
	})
	return out, err
}

// check refuses what no writer can mean.
func (m *Manifest) check() error {
	switch {
	case m.Path == "":
		return fmt.Errorf("a manifest has no path")
	case min(m.AddedFiles, m.ExistingFiles, m.DeletedFiles, m.AddedRows, m.ExistingRows, m.DeletedRows) < -1:
		return fmt.Errorf("manifest %s has a negative count", m.Path)
	}
	return nil
}

// readField reads one field and tells whether it has a value.
func (m *Manifest) readField(r *avroBuf, f *avroField) bool {
	n := r.value(f.node)
	if n.kind == avroNull {
		return false
	}
	integer := n.kind == avroInt || n.kind == avroLong
	switch {
	case f.id == 500:
		m.Path = readString(r, n)
	case f.id == 507 && n.kind == avroArray:
		m.Partitions = []FieldSummary{}
		r.items(func() { m.Partitions = append(m.Partitions, readSummary(r, n.elem)) })
	case f.id == 519:
		m.Encrypted = true
		r.skip(n, 0)
	case !integer:
		r.skip(n, 0)
	default:
		v := r.long()
		if f.id == 517 && r.err == nil && v != 0 && v != 1 {
			r.err = fmt.Errorf("it is the unknown %d", v)
		}
		m.setNumber(f.id, v)
		return true
	}
	return f.id != 500 || n.kind == avroString
}

func (m *Manifest) setNumber(id int, v int64) {
	switch id {
	case 501:
		m.Length = v
	case 502:
		m.SpecID = int(v)
	case 517:
		m.Deletes = v == 1
	case 515:
		m.Seq = v
	case 516:
		m.MinSeq = v
	case 503:
		m.AddedSnapshotID = v
	case 504:
		m.AddedFiles = v
	case 505:
		m.ExistingFiles = v
	case 506:
		m.DeletedFiles = v
	case 512:
		m.AddedRows = v
	case 513:
		m.ExistingRows = v
	case 514:
		m.DeletedRows = v
	case 520:
		m.FirstRowID = &v
	}
}

func readString(r *avroBuf, n *avroNode) string {
	if n.kind == avroString {
		return r.str()
	}
	r.skip(n, 0)
	return ""
}

func readSummary(r *avroBuf, n *avroNode) FieldSummary {
	var s FieldSummary
	n = r.value(n)
	for i := range n.fields {
		f := &n.fields[i]
		v := r.value(f.node)
		switch {
		case v.kind == avroBool && f.id == 509:
			s.ContainsNull = r.boolean()
		case v.kind == avroBool && f.id == 518:
			b := r.boolean()
			s.ContainsNaN = &b
		case v.kind == avroBytes && f.id == 510:
			s.Lower = append([]byte{}, r.bytes()...)
		case v.kind == avroBytes && f.id == 511:
			s.Upper = append([]byte{}, r.bytes()...)
		default:
			r.skip(v, 0)
		}
	}
	return s
}
