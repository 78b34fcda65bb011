package lake

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake/store"
	"github.com/pierrec/lz4/v4"
)

// What files of metadata hold in plain bytes, for who looks for a value in all of them, whether any
// table refers to them or none.

// PlainBytes calls visit with the plain bytes of a metadata file, piece by piece: an Avro file's header
// and blocks, a metadata document's texts with their escapes undone, a Puffin file's blobs and footer.
// What it does not know it gives as it is. The pieces are visit's until it returns. An error tells that
// the file says what it is and cannot be read as that.
func PlainBytes(b []byte, visit func(part string, plain []byte)) error {
	visit("bytes", b)
	switch {
	case bytes.HasPrefix(b, []byte("Obj\x01")):
		return plainAvro(b, visit)
	case bytes.HasPrefix(b, []byte(puffinMagic)):
		return plainPuffin(b, visit)
	case bytes.HasPrefix(b, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return err
		}
		plain, err := room.ReadAll(nil, z, maxMetadata)
		if err != nil {
			return err
		}
		visit("bytes", plain)
		return plainJSON(plain, visit)
	case len(b) > 0 && b[0] == '{':
		return plainJSON(b, visit)
	}
	return nil
}

func plainAvro(b []byte, visit func(string, []byte)) error {
	f, err := openAvro(b)
	if err != nil {
		return err
	}
	for k, v := range f.meta { // its JSON may have escapes
		if strings.HasPrefix(strings.TrimSpace(v), "{") || strings.HasPrefix(strings.TrimSpace(v), "[") {
			if err := plainJSON([]byte(v), func(_ string, p []byte) { visit("header "+k, p) }); err != nil {
				return err
			}
		}
	}
	r := &f.rest
	for len(r.b) > 0 {
		r.long()
		data := r.take(r.long())
		r.take(16)
		if r.err != nil {
			return r.err
		}
		plain, err := f.decompress(data)
		if err != nil {
			return err
		}
		visit("block", plain)
	}
	return nil
}

// plainJSON gives each text of a document, and each name.
func plainJSON(b []byte, visit func(string, []byte)) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	for n := 0; ; n++ {
		t, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if s, ok := t.(string); ok {
			visit("text", []byte(s))
		}
		if n%4096 == 0 {
			if err := room.Check(); err != nil {
				return err
			}
		}
	}
}

const puffinMagic = "PFA1"

// maxBlob bounds a decompressed blob or footer of a Puffin file.
const maxBlob = 1 << 30

// plainPuffin reads a Puffin file by its footer (Puffin spec, "File structure"):
//
//	magic, payload, payload size (4), flags (4), magic
func plainPuffin(b []byte, visit func(string, []byte)) error {
	bad := sqlerr.New(sqlerr.DataCorrupted, "a Puffin file has no footer")
	n := len(b)
	if n < 16 || string(b[n-4:]) != puffinMagic {
		return bad
	}
	size := int(uint32(b[n-12]) | uint32(b[n-11])<<8 | uint32(b[n-10])<<16 | uint32(b[n-9])<<24)
	compressed := b[n-8]&1 != 0
	if size < 0 || size > n-16 {
		return bad
	}
	payload := b[n-12-size : n-12]
	if compressed {
		var err error
		if payload, err = room.ReadAll(nil, lz4.NewReader(bytes.NewReader(payload)), maxBlob); err != nil {
			return err
		}
		visit("footer", payload)
	}
	if err := plainJSON(payload, func(_ string, p []byte) { visit("footer", p) }); err != nil {
		return err
	}
	var footer struct {
		Blobs []struct {
			Type   string `json:"type"`
			Offset int64  `json:"offset"`
			Length int64  `json:"length"`
			Codec  string `json:"compression-codec"`
		} `json:"blobs"`
	}
	if err := json.Unmarshal(payload, &footer); err != nil {
		return err
	}
	for _, x := range footer.Blobs {
		if x.Offset < 0 || x.Length < 0 || x.Offset+x.Length > int64(n) {
			return bad
		}
		blob := b[x.Offset : x.Offset+x.Length]
		var r io.Reader
		switch x.Codec {
		case "":
			continue
		case "lz4":
			r = lz4.NewReader(bytes.NewReader(blob))
		case "zstd":
			z, err := zstd.NewReader(bytes.NewReader(blob), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(64<<20))
			if err != nil {
				return err
			}
			defer z.Close()
			r = z
		default:
			return sqlerr.New(sqlerr.FeatureNotSupported, "a blob of a Puffin file is compressed by %q", x.Codec)
		}
		plain, err := room.ReadAll(nil, r, maxBlob)
		if err != nil {
			return err
		}
		visit("blob "+x.Type, plain)
	}
	return nil
}

// Lying calls visit for every object in the table's folders, and tells whether the table's state
// holds it. It refuses as Orphans does, where it cannot be told whose files are whose. Files of version
// hints are not visited.
func Lying(ctx context.Context, c Catalog, t *Table, visit func(o store.Object, held bool) error) error {
	s := &orphanSearch{OrphanSearch: OrphanSearch{Hidden: true}, t: t, held: newLocSet(), elsewhere: newLocSet()}
	if err := s.alone(ctx, c); err != nil {
		return err
	}
	if err := s.hold(ctx, t, t.snapshots); err != nil {
		return err
	}
	var others []store.Object
	for _, r := range s.roots {
		err := s.each(ctx, r, func(o store.Object) error {
			held := s.held.has(o.Path)
			if !held && isMetadataFile(o.Path) {
				others = append(others, o)
			}
			return visit(o, held)
		})
		if err != nil {
			return err
		}
	}
	s.metadata = others
	return s.own(ctx)
}

// InFolders tells whether a location is in one of the folders in which the table's files are put.
func (t *Table) InFolders(loc string) bool {
	for _, r := range t.roots() {
		if within(loc, r) {
			return true
		}
	}
	return false
}

// Holds tells which of the paths a table's state holds.
func (t *Table) Holds(ctx context.Context, paths []string) (map[string]bool, error) {
	want := map[string]bool{}
	for _, p := range paths {
		want[p] = true
	}
	out := map[string]bool{}
	err := t.ReachAll(ctx, Reach{}, func(h *Held) error {
		if h.Live() && want[h.Path] {
			out[h.Path] = true
		}
		return nil
	})
	return out, err
}

// EntriesOf reads the entries of a manifest that nothing holds, with the bounds of fields; ok is false
// where it is no manifest of the table.
func (t *Table) EntriesOf(b []byte, fields []int) (entries []Entry, spec *PartitionSpec, ok bool) {
	f, err := openAvro(b)
	if err != nil || f.meta["partition-spec-id"] == "" {
		return nil, nil, false
	}
	m := &Manifest{AddedFiles: -1, ExistingFiles: -1, DeletedFiles: -1, AddedRows: -1, ExistingRows: -1, DeletedRows: -1, Deletes: f.meta["content"] == "deletes"}
	for _, s := range t.specs {
		if strconv.Itoa(s.ID) == f.meta["partition-spec-id"] {
			spec, m.SpecID = s, s.ID
		}
	}
	if spec == nil {
		return nil, nil, false
	}
	entries, err = parseManifest(b, m, spec, wantedStats(fields))
	return entries, spec, err == nil
}

// ManifestsOf reads a manifest list that nothing holds.
func ManifestsOf(b []byte) (list []*Manifest, ok bool) {
	f, err := openAvro(b)
	if err != nil || f.meta["snapshot-id"] == "" {
		return nil, false
	}
	list, err = parseManifestList(b, 0)
	return list, err == nil
}
