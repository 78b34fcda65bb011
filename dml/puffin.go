package dml

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// Puffin builds a Puffin file in memory (Iceberg's Puffin spec). The zero Puffin is empty.
type Puffin struct {
	buf   []byte
	blobs []PuffinBlob
}

// PuffinBlob is what a Puffin file's footer says of one of its blobs.
type PuffinBlob struct {
	Type       string            `json:"type"`
	Fields     []int             `json:"fields"`
	SnapshotID int64             `json:"snapshot-id"`
	Seq        int64             `json:"sequence-number"`
	Offset     int64             `json:"offset"` // set by Add
	Length     int64             `json:"length"` // set by Add
	Properties map[string]string `json:"properties"`
}

const puffinMagic = "PFA1"

// vectorMagic opens a deletion vector's blob.
var vectorMagic = []byte{0xD1, 0xD3, 0x39, 0x64}

// Add adds a blob and tells where it begins.
func (p *Puffin) Add(b PuffinBlob, data []byte) (off int64) {
	if p.buf == nil {
		p.buf = append(p.buf, puffinMagic...)
	}
	b.Offset, b.Length = int64(len(p.buf)), int64(len(data))
	p.buf = append(p.buf, data...)
	p.blobs = append(p.blobs, b)
	return b.Offset
}

// vector adds a deletion vector: its length, the magic and the bitmap in the portable 64-bit Roaring
// form, and their CRC-32; and tells where it lies.
func (p *Puffin) vector(b *roaring64.Bitmap, dataFile string) (off, size int64, err error) {
	b.RunOptimize()
	var body bytes.Buffer
	body.Write(vectorMagic)
	if _, err := b.WriteTo(&body); err != nil {
		return 0, 0, err
	}
	data := binary.BigEndian.AppendUint32(nil, uint32(body.Len()))
	data = append(data, body.Bytes()...)
	data = binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(body.Bytes()))
	// Snapshot and sequence number are not known before the commit: the spec has -1 for that.
	off = p.Add(PuffinBlob{Type: "deletion-vector-v1", Fields: []int{deletePosID}, SnapshotID: -1, Seq: -1, Properties: map[string]string{
		"referenced-data-file": dataFile, "cardinality": strconv.FormatUint(b.GetCardinality(), 10)}}, data)
	return off, int64(len(data)), nil
}

// Close adds the footer and gives the file, and how much of it the footer takes.
func (p *Puffin) Close() (file []byte, footer int64) {
	if p.buf == nil {
		p.buf = append(p.buf, puffinMagic...)
	}
	begin := len(p.buf)
	foot, _ := json.Marshal(map[string]any{"blobs": p.blobs, "properties": map[string]string{"created-by": "lhsql"}})
	p.buf = append(p.buf, puffinMagic...)
	p.buf = append(p.buf, foot...)
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(len(foot)))
	p.buf = append(p.buf, 0, 0, 0, 0)
	p.buf = append(p.buf, puffinMagic...)
	return p.buf, int64(len(p.buf) - begin)
}
