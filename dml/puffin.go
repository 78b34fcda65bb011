package dml

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"strconv"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
)

// puffin builds a Puffin file of deletion vectors in memory (Iceberg's Puffin spec, blob type
// deletion-vector-v1).
type puffin struct {
	buf   []byte
	blobs []puffinBlob
}

type puffinBlob struct {
	Type       string            `json:"type"`
	Fields     []int             `json:"fields"`
	SnapshotID int64             `json:"snapshot-id"`
	Seq        int64             `json:"sequence-number"`
	Offset     int64             `json:"offset"`
	Length     int64             `json:"length"`
	Properties map[string]string `json:"properties"`
}

const puffinMagic = "PFA1"

// vectorMagic opens a deletion vector's blob.
var vectorMagic = []byte{0xD1, 0xD3, 0x39, 0x64}

// vector adds a blob: its length, the magic and the bitmap in the portable 64-bit Roaring form,
// and their CRC-32; and tells where it lies.
func (p *puffin) vector(b *roaring64.Bitmap, dataFile string) (off, size int64, err error) {
	if p.buf == nil {
		p.buf = append(p.buf, puffinMagic...)
	}
	b.RunOptimize()
	var body bytes.Buffer
	body.Write(vectorMagic)
	if _, err := b.WriteTo(&body); err != nil {
		return 0, 0, err
	}
	off = int64(len(p.buf))
	p.buf = binary.BigEndian.AppendUint32(p.buf, uint32(body.Len()))
	p.buf = append(p.buf, body.Bytes()...)
	p.buf = binary.BigEndian.AppendUint32(p.buf, crc32.ChecksumIEEE(body.Bytes()))
	size = int64(len(p.buf)) - off
	// Snapshot and sequence number are not known before the commit: the spec has -1 for that.
	p.blobs = append(p.blobs, puffinBlob{Type: "deletion-vector-v1", Fields: []int{deletePosID}, SnapshotID: -1, Seq: -1,
		Offset: off, Length: size, Properties: map[string]string{
			"referenced-data-file": dataFile, "cardinality": strconv.FormatUint(b.GetCardinality(), 10)}})
	return off, size, nil
}

// close adds the footer and gives the file.
func (p *puffin) close() []byte {
	foot, _ := json.Marshal(map[string]any{"blobs": p.blobs, "properties": map[string]string{"created-by": "lhsql"}})
	p.buf = append(p.buf, puffinMagic...)
	p.buf = append(p.buf, foot...)
	p.buf = binary.LittleEndian.AppendUint32(p.buf, uint32(len(foot)))
	p.buf = append(p.buf, 0, 0, 0, 0)
	return append(p.buf, puffinMagic...)
}
