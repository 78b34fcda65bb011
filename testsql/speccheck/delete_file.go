package speccheck

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// Reserved field ids (spec, "Reserved Field IDs").
const (
	deletePath  = 2147483546
	deletePos   = 2147483545
	rowID       = 2147483540
	rowSequence = 2147483539
)

// deletes are the rows that delete files take out of data files.
type deletes map[string]*roaring64.Bitmap

func (s deletes) of(path string) *roaring64.Bitmap {
	if s[path] == nil {
		s[path] = roaring64.New()
	}
	return s[path]
}

// checkDeletes holds a snapshot's delete files against their contents and the data files that
// they speak of: positions exist, none is taken out twice, and each file applies where it should.
func (c *checker) checkDeletes(ctx context.Context, files map[string]*lake.DataFile, list []*lake.DataFile) error {
	byFile, vectors := deletes{}, deletes{}
	for _, d := range list {
		var got deletes
		var err error
		switch d.Content {
		case lake.DeletionVector:
			got, err = c.vector(ctx, d)
		case lake.PositionDeletes:
			got, err = c.positions(ctx, d)
		default:
			err = c.checkEquality(ctx, d)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.Path, err)
		}
		for path, b := range got {
			f := files[path]
			if f == nil {
				continue // the data file went; position deletes may outlive it
			}
			if err := c.checkApplies(d, f, b); err != nil {
				return fmt.Errorf("%s, deletes of %s: %w", d.Path, path, err)
			}
			if d.Content == lake.DeletionVector {
				vectors[path] = b
			} else if all := byFile.of(path); all.Intersects(b) {
				return fmt.Errorf("%s: rows of %s are deleted twice", d.Path, path)
			} else {
				all.Or(b)
			}
		}
	}
	for path, v := range vectors {
		// Where there is a vector, readers look no further (spec, "Deletion Vectors").
		if old := byFile[path]; old != nil && old.AndCardinality(v) != old.GetCardinality() {
			return fmt.Errorf("the deletion vector of %s lacks rows that position deletes have", path)
		}
	}
	return nil
}

// checkApplies: the rules by which readers match deletes to data files match d to f.
func (c *checker) checkApplies(d, f *lake.DataFile, rows *roaring64.Bitmap) error {
	switch {
	case rows.IsEmpty():
		return fmt.Errorf("no row is deleted")
	case int64(rows.Maximum()) >= f.RecordCount:
		return fmt.Errorf("row %d of %d is deleted", rows.Maximum(), f.RecordCount)
	case d.DataSeq < f.DataSeq:
		return fmt.Errorf("sequence number %d is before the data file's %d", d.DataSeq, f.DataSeq)
	case d.SpecID != f.SpecID:
		return fmt.Errorf("partition spec %d, the data file has %d", d.SpecID, f.SpecID)
	}
	for i, p := range c.table.Spec(d.SpecID).Fields {
		a, b := d.Partition[i], f.Partition[i]
		if a.IsNull() != b.IsNull() || !a.IsNull() && types.Compare(a, b, p.Type) != 0 {
			return fmt.Errorf("partition field %q is not the data file's", p.Name)
		}
	}
	return nil
}

// positions reads a position delete file: rows in the order of path and position, each once.
func (c *checker) positions(ctx context.Context, d *lake.DataFile) (deletes, error) {
	if d.Format != "parquet" {
		return nil, nil
	}
	claim := c.claim(d)
	if got, ok := c.known(claim); ok {
		return got, nil
	}
	in, err := read(ctx, c.table, d.Path, c.fields, map[int]bool{deletePath: true, deletePos: true})
	if err != nil {
		return nil, err
	}
	if err := c.checkContents(d, in); err != nil {
		return nil, err
	}
	paths, rows := in.leaves[deletePath], in.leaves[deletePos]
	if paths == nil || rows == nil || paths.nulls+rows.nulls > 0 {
		return nil, fmt.Errorf("file_path or pos is missing or NULL")
	}
	out := deletes{}
	for i, p := range paths.values {
		pos := rows.values[i].i
		if i > 0 {
			if n := bytes.Compare(paths.values[i-1].b, p.b); n > 0 || n == 0 && rows.values[i-1].i >= pos {
				return nil, fmt.Errorf("rows %d and %d are not in the order of path and position", i-1, i)
			}
		}
		if pos < 0 || d.ReferencedFile != "" && d.ReferencedFile != string(p.b) {
			return nil, fmt.Errorf("position %d of %s, the referenced file is %s", pos, p.b, d.ReferencedFile)
		}
		out.of(string(p.b)).Add(uint64(pos))
	}
	c.learn(claim, out)
	return out, nil
}

// vector reads a deletion vector by its place in the Puffin file, and holds the file's footer
// against the manifest.
func (c *checker) vector(ctx context.Context, d *lake.DataFile) (deletes, error) {
	claim := c.claim(d)
	if got, ok := c.known(claim); ok {
		return got, nil
	}
	file, err := c.table.FS().ReadAll(ctx, c.table.Resolve(d.Path))
	if err != nil {
		return nil, err
	}
	if int64(len(file)) != d.FileSize {
		return nil, fmt.Errorf("%d bytes, listed are %d", len(file), d.FileSize)
	}
	if err := checkPuffin(file, d); err != nil {
		return nil, err
	}
	if d.ContentOffset < 4 || d.ContentSize < 20 || d.ContentOffset+d.ContentSize > int64(len(file)) {
		return nil, fmt.Errorf("a blob of %d bytes at %d", d.ContentSize, d.ContentOffset)
	}
	blob := file[d.ContentOffset : d.ContentOffset+d.ContentSize]
	body := blob[4 : len(blob)-4]
	if n := binary.BigEndian.Uint32(blob); int(n) != len(body) {
		return nil, fmt.Errorf("the vector's length is %d, listed is %d", n, len(body))
	}
	if binary.BigEndian.Uint32(blob[len(blob)-4:]) != crc32.ChecksumIEEE(body) {
		return nil, fmt.Errorf("the vector's checksum is wrong")
	}
	if binary.LittleEndian.Uint32(body) != 1681511377 {
		return nil, fmt.Errorf("the vector's magic number is wrong")
	}
	rows := roaring64.New()
	if n, err := rows.ReadFrom(bytes.NewReader(body[4:])); err != nil || int(n) != len(body)-4 {
		return nil, fmt.Errorf("the bitmap takes %d of %d bytes: %v", n, len(body)-4, err)
	}
	if int64(rows.GetCardinality()) != d.RecordCount {
		return nil, fmt.Errorf("%d rows are deleted, listed are %d", rows.GetCardinality(), d.RecordCount)
	}
	out := deletes{d.ReferencedFile: rows}
	c.learn(claim, out)
	return out, nil
}

// checkPuffin: the footer of the Puffin file describes the blob as the manifest does.
func checkPuffin(file []byte, d *lake.DataFile) error {
	const magic = "PFA1"
	if len(file) < 20 || string(file[:4]) != magic || string(file[len(file)-4:]) != magic {
		return fmt.Errorf("no Puffin file")
	}
	tail := file[len(file)-12:]
	n := int(binary.LittleEndian.Uint32(tail))
	start := len(file) - 12 - n
	if binary.LittleEndian.Uint32(tail[4:]) != 0 || n < 0 || start < 8 || string(file[start-4:start]) != magic {
		return fmt.Errorf("the Puffin footer of %d bytes is compressed or misplaced", n)
	}
	var foot struct {
		Blobs []struct {
			Type           string
			Fields         []int
			SnapshotID     *int64 `json:"snapshot-id"`
			Seq            *int64 `json:"sequence-number"`
			Offset, Length int64
			Codec          *string `json:"compression-codec"`
			Properties     map[string]string
		}
	}
	if err := json.Unmarshal(file[start:start+n], &foot); err != nil {
		return err
	}
	for _, b := range foot.Blobs {
		if b.Offset != d.ContentOffset {
			continue
		}
		if b.Type != "deletion-vector-v1" || b.Length != d.ContentSize || b.SnapshotID == nil || *b.SnapshotID != -1 || b.Seq == nil || *b.Seq != -1 || b.Codec != nil ||
			b.Fields == nil || b.Properties["referenced-data-file"] != d.ReferencedFile || b.Properties["cardinality"] != strconv.FormatInt(d.RecordCount, 10) {
			return fmt.Errorf("the Puffin footer describes the blob at %d otherwise: %+v", b.Offset, b)
		}
		return nil
	}
	return fmt.Errorf("the Puffin footer has no blob at %d", d.ContentOffset)
}

// checkEquality: the columns by which an equality delete file deletes exist in table and file.
func (c *checker) checkEquality(ctx context.Context, d *lake.DataFile) error {
	if len(d.EqualityIDs) == 0 {
		return fmt.Errorf("an equality delete file without columns")
	}
	if d.Format != "parquet" {
		return nil
	}
	got, err := read(ctx, c.table, d.Path, c.fields, nil)
	if err != nil {
		return err
	}
	for _, id := range d.EqualityIDs {
		if l := got.leaves[id]; l == nil || l.repeated || c.fields[id] == nil {
			return fmt.Errorf("rows are equal by field %d, which the file or the table lacks", id)
		}
	}
	return c.checkContents(d, got)
}

// What delete files were found to hold, by what is claimed of them.
var held = map[uint64]deletes{}

func (c *checker) known(claim uint64) (deletes, bool) {
	claimsMu.Lock()
	defer claimsMu.Unlock()
	d, ok := held[claim]
	return d, ok
}

func (c *checker) learn(claim uint64, d deletes) {
	claimsMu.Lock()
	defer claimsMu.Unlock()
	held[claim] = d
}
