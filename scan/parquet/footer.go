package parquet

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"unsafe"
)

// Codec is how the pages of a column chunk are compressed (parquet.thrift, CompressionCodec).
type Codec int8

const (
	Uncompressed Codec = iota
	Snappy
	Gzip
	LZO // not read: no open library writes it
	Brotli
	LZ4 // deprecated: Hadoop's framing
	Zstd
	LZ4Raw
)

// Footer is a file's metadata. Immutable: caches share it.
type Footer struct {
	Rows      int64
	Groups    []RowGroup
	Root      *Node
	Leaves    []*Node
	CreatedBy string
	Bytes     int64 // that it takes at the file's end, with what tells its length
	size      int64
	paths     [][]string // of the leaves, while the footer is read
}

// RowGroup is a horizontal slice of a file.
type RowGroup struct {
	Rows     int64
	FirstRow int64   // ordinal in the file
	Columns  []Chunk // by leaf
}

// Chunk is one column's part of a row group.
type Chunk struct {
	Phys                     Phys
	Codec                    Codec
	Values                   int64 // NULLs included
	Compressed, Uncompressed int64
	DataOffset, DictOffset   int64 // DictOffset 0: none told
	// Statistics; slices lie in the footer's bytes, nil: absent.
	Min, Max       []byte // min_value, max_value: ordered as the logical type is
	OldMin, OldMax []byte // min, max: deprecated, ordered as signed bytes
	Nulls          int64  // -1: unknown
	AllDict        bool   // every data page is dictionary-encoded, as far as told

	OffsetIndex, ColumnIndex, Bloom Range
}

// Range is a part of the file; N 0: absent.
type Range struct {
	Off int64
	N   int64
}

// Start is the offset of the chunk's first page, the dictionary if there is one.
func (c *Chunk) Start() int64 {
	if c.DictOffset > 0 && c.DictOffset < c.DataOffset {
		return c.DictOffset
	}
	return c.DataOffset
}

// End is the offset behind the chunk's last page.
func (c *Chunk) End() int64 { return c.Start() + c.Compressed }

const (
	footerTail     = 8        // length and magic
	footerGuess    = 64 << 10 // most footers come with the first read
	maxFooter      = 256 << 20
	footerOverhead = 24 // times the footer's bytes: what parsed structures may take at most, about
)

// ReadFooter reads the footer of f and checks it against the file's length. While it reads, it
// charges mem for the footer's bytes and what may become of them.
func ReadFooter(ctx context.Context, f ReaderAt, mem Memory) (*Footer, error) {
	size := f.Size()
	if size < 4+footerTail {
		return nil, corrupt("%d bytes are too few", size)
	}
	b := NewBudget(mem)
	defer b.Close()
	n := min(size, footerGuess)
	buf, err := readRange(ctx, f, b, size-n, n)
	if err != nil {
		return nil, err
	}
	tail := buf[len(buf)-footerTail:]
	switch string(tail[4:]) {
	case "PAR1":
	case "PARE":
		return nil, unsupported("its footer is encrypted")
	default:
		return nil, corrupt("no magic at its end")
	}
	want := int64(binary.LittleEndian.Uint32(tail))
	if want > size-footerTail-4 || want > maxFooter {
		return nil, corrupt("footer of %d bytes in a file of %d", want, size)
	}
	if err := b.Reserve(want * footerOverhead); err != nil {
		return nil, err
	}
	if want+footerTail <= n {
		buf = append([]byte(nil), buf[n-footerTail-want:n-footerTail]...)
	} else if buf, err = readRange(ctx, f, b, size-footerTail-want, want); err != nil {
		return nil, err
	}
	return parseFooter(buf)
}

func readRange(ctx context.Context, f ReaderAt, b *Budget, off, n int64) ([]byte, error) {
	if err := b.Reserve(n); err != nil {
		return nil, err
	}
	buf := make([]byte, n)
	if err := f.ReadAt(ctx, buf, off); err != nil {
		return nil, err
	}
	return buf, nil
}

// parseFooter reads FileMetaData.
func parseFooter(buf []byte) (*Footer, error) {
	t := &thrift{b: buf}
	ft := &Footer{size: int64(len(buf)), Bytes: int64(len(buf)) + footerTail}
	encrypted := false
	var err error
	t.fields(tStruct, fileMetaData, func(id int16, f byte) {
		switch id {
		case 2:
			err = ft.readSchema(t, f)
		case 3:
			ft.Rows = t.integer(f)
		case 4:
			err = ft.readGroups(t, f)
		case 6:
			ft.CreatedBy = string(t.binary(f))
		case 8:
			encrypted = true
			t.skip(f)
		default:
			t.skip(f)
		}
		if err != nil {
			t.fail()
		}
	})
	switch {
	case err != nil:
		return nil, err
	case t.bad:
		return nil, t.failure("its footer")
	case encrypted:
		return nil, unsupported("its columns are encrypted")
	}
	ft.paths = nil
	return ft, ft.check()
}

// The structs of a footer, as parquet.thrift has them.
var (
	fileMetaData = describe("FileMetaData", "version", "schema", "num_rows", "row_groups", "key_value_metadata?",
		"created_by?", "column_orders?", "encryption_algorithm?", "footer_signing_key_metadata?")
	rowGroup       = describe("RowGroup", "columns", "total_byte_size", "num_rows", "sorting_columns?", "file_offset?", "total_compressed_size?", "ordinal?")
	columnChunk    = describe("ColumnChunk", "file_path?", "file_offset", "meta_data", "offset_index_offset?", "offset_index_length?", "column_index_offset?", "column_index_length?", "crypto_metadata?", "encrypted_column_metadata?")
	columnMetaData = describe("ColumnMetaData", "type", "encodings", "path_in_schema", "codec", "num_values",
		"total_uncompressed_size", "total_compressed_size", "key_value_metadata?", "data_page_offset", "index_page_offset?",
		"dictionary_page_offset?", "statistics?", "encoding_stats?", "bloom_filter_offset?", "bloom_filter_length?", "size_statistics?", "geospatial_statistics?")
	statistics        = describe("Statistics", "max?", "min?", "null_count?", "distinct_count?", "max_value?", "min_value?", "is_max_value_exact?", "is_min_value_exact?", "nan_count?")
	pageEncodingStats = describe("PageEncodingStats", "page_type", "encoding", "count")
)

func (ft *Footer) readSchema(t *thrift, typ byte) error {
	_, n := t.list(typ)
	var elems []element
	for i := 0; i < n && !t.bad; i++ {
		elems = append(elems, readElement(t))
	}
	if t.bad {
		return t.failure("its schema")
	}
	ft.size += int64(len(elems)) * int64(unsafe.Sizeof(element{})+48)
	var err error
	if ft.Root, ft.Leaves, err = tree(elems); err == nil {
		ft.paths = leafPaths(ft.Root.Children, nil, make([][]string, 0, len(ft.Leaves)))
	}
	return err
}

func (ft *Footer) readGroups(t *thrift, typ byte) error {
	if ft.Root == nil {
		return corrupt("its FileMetaData lacks schema before its row groups")
	}
	_, n := t.list(typ)
	for i := 0; i < n && !t.bad; i++ {
		g := RowGroup{}
		t.fields(tStruct, rowGroup, func(id int16, f byte) {
			switch id {
			case 1:
				_, cols := t.list(f)
				if cols != len(ft.Leaves) {
					t.because(fmt.Sprintf("row group %d has %d columns, the schema %d", i, cols, len(ft.Leaves)))
					return
				}
				g.Columns = make([]Chunk, 0, cols)
				for c := 0; c < cols && !t.bad; c++ {
					g.Columns = append(g.Columns, readChunk(t, ft.paths[c]))
				}
				ft.size += int64(cols) * int64(unsafe.Sizeof(Chunk{}))
			case 3:
				g.Rows = t.integer(f)
			default:
				t.skip(f)
			}
		})
		ft.Groups = append(ft.Groups, g)
	}
	return nil
}

// check tests what one part says of another. Offsets are tested when a chunk is opened, so
// that an odd column does not spoil the others.
func (ft *Footer) check() error {
	var rows int64
	for i := range ft.Groups {
		g := &ft.Groups[i]
		if g.Rows < 0 || g.Rows > 1<<56 || rows > 1<<56 {
			return corrupt("row group %d has %d rows", i, g.Rows)
		}
		g.FirstRow = rows
		rows += g.Rows
		for c := range g.Columns {
			ch, n := &g.Columns[c], ft.Leaves[c]
			if n.MaxRep == 0 && ch.Values != g.Rows {
				return corrupt("column %q has %d values in row group %d of %d rows", n.Name, ch.Values, i, g.Rows)
			}
			if ch.Phys != n.Phys {
				return corrupt("column %q is %s in the schema and %d in row group %d", n.Name, n.Phys, ch.Phys, i)
			}
		}
	}
	if rows != ft.Rows {
		return corrupt("%d rows in the footer, %d in its row groups", ft.Rows, rows)
	}
	return nil
}

func readChunk(t *thrift, path []string) Chunk {
	c := Chunk{Nulls: -1, Phys: -1}
	t.fields(tStruct, columnChunk, func(id int16, f byte) {
		switch id {
		case 1:
			if len(t.binary(f)) > 0 {
				t.because("a column lies in another file")
			}
		case 3:
			readColumnMeta(t, f, &c, path)
		case 4:
			c.OffsetIndex.Off = t.integer(f)
		case 5:
			c.OffsetIndex.N = t.integer(f)
		case 6:
			c.ColumnIndex.Off = t.integer(f)
		case 7:
			c.ColumnIndex.N = t.integer(f)
		default:
			t.skip(f)
		}
	})
	return c
}

func readColumnMeta(t *thrift, typ byte, c *Chunk, path []string) {
	bloomLen := int64(-1)
	t.fields(typ, columnMetaData, func(id int16, f byte) {
		switch id {
		case 1:
			c.Phys = Phys(t.i32(f))
		case 3:
			readPath(t, f, path)
		case 4:
			c.Codec = Codec(t.i32(f))
		case 5:
			c.Values = t.integer(f)
		case 6:
			c.Uncompressed = t.integer(f)
		case 7:
			c.Compressed = t.integer(f)
		case 9:
			c.DataOffset = t.integer(f)
		case 11:
			c.DictOffset = t.integer(f)
		case 12:
			readStatistics(t, f, c)
		case 13:
			readEncodingStats(t, f, c)
		case 14:
			c.Bloom.Off = t.integer(f)
		case 15:
			bloomLen = t.integer(f)
		default:
			t.skip(f)
		}
	})
	if bloomLen > 0 {
		c.Bloom.N = bloomLen
	}
}

// readPath reads path_in_schema, which must be that of the leaf at the column's place: a damaged
// schema would give the column another meaning.
func readPath(t *thrift, typ byte, path []string) {
	elem, n := t.list(typ)
	same := n == len(path)
	for i := 0; i < n && !t.bad; i++ {
		name := t.binary(elem)
		same = same && string(name) == path[i]
	}
	if !same {
		t.because(fmt.Sprintf("the column at the place of %q in the schema says that it is another", strings.Join(path, ".")))
	}
}

func readStatistics(t *thrift, typ byte, c *Chunk) {
	t.fields(typ, statistics, func(id int16, f byte) {
		switch id {
		case 1:
			c.OldMax = t.binary(f)
		case 2:
			c.OldMin = t.binary(f)
		case 3:
			if c.Nulls = t.integer(f); c.Nulls < 0 {
				c.Nulls = -1
			}
		case 5:
			c.Max = t.binary(f)
		case 6:
			c.Min = t.binary(f)
		default:
			t.skip(f)
		}
	})
}

// readEncodingStats finds out whether all data pages are dictionary-encoded.
func readEncodingStats(t *thrift, typ byte, c *Chunk) {
	_, n := t.list(typ)
	dict, other := false, false
	for i := 0; i < n && !t.bad; i++ {
		var page, enc, count int32
		t.fields(tStruct, pageEncodingStats, func(id int16, f byte) {
			switch id {
			case 1:
				page = t.i32(f)
			case 2:
				enc = t.i32(f)
			case 3:
				count = t.i32(f)
			default:
				t.skip(f)
			}
		})
		if (page != pageData && page != pageDataV2) || count <= 0 {
			continue
		}
		if Encoding(enc) == RLEDictionary || Encoding(enc) == PlainDictionary {
			dict = true
		} else {
			other = true
		}
	}
	c.AllDict = dict && !other
}

// Size is the memory that ft takes, about.
func (ft *Footer) Size() int64 { return ft.size + 1<<10 }

// checkRange tests that a part of the file lies in it.
func checkRange(r Range, size int64, what string) error {
	if r.Off < 0 || r.N < 0 || r.Off > size || r.N > size-r.Off {
		return corrupt("%s at %d+%d in a file of %d bytes", what, r.Off, r.N, size)
	}
	return nil
}
