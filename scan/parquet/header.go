package parquet

// Encoding is how values or levels lie in a page (parquet.thrift, Encoding).
type Encoding int8

const (
	Plain           Encoding = 0
	PlainDictionary Encoding = 2
	RLE             Encoding = 3
	BitPacked       Encoding = 4
	DeltaBinary     Encoding = 5
	DeltaLength     Encoding = 6
	DeltaByteArray  Encoding = 7
	RLEDictionary   Encoding = 8
	ByteStreamSplit Encoding = 9
)

// Page types.
const (
	pageData   = 0
	pageIndex  = 1
	pageDict   = 2
	pageDataV2 = 3
)

// The structs of a page's header, as parquet.thrift has them.
var (
	pageHeaderStruct = describe("PageHeader", "type", "uncompressed_page_size", "compressed_page_size", "crc?",
		"data_page_header?", "index_page_header?", "dictionary_page_header?", "data_page_header_v2?")
	dataPageHeader       = describe("DataPageHeader", "num_values", "encoding", "definition_level_encoding", "repetition_level_encoding", "statistics?")
	dictionaryPageHeader = describe("DictionaryPageHeader", "num_values", "encoding", "is_sorted?")
	dataPageHeaderV2     = describe("DataPageHeaderV2", "num_values", "num_nulls", "num_rows", "encoding",
		"definition_levels_byte_length", "repetition_levels_byte_length", "is_compressed?", "statistics?")
)

// pageHeader is a PageHeader with the one of its variants that matters.
type pageHeader struct {
	typ                      int32
	uncompressed, compressed int32
	crc                      uint32
	hasCRC                   bool
	values                   int32
	enc, defEnc, repEnc      Encoding
	nulls, rows              int32  // v2
	defLen, repLen           int32  // v2
	plainV2                  bool   // v2: values are not compressed
	variant                  bool   // the struct that belongs to typ was there
	why                      string // it cannot be parsed, more exactly
}

// parse reads the header at the start of b and gives its length. short: b may have ended early.
func (h *pageHeader) parse(b []byte) (n int, ok, short bool) {
	*h = pageHeader{typ: -1, uncompressed: -1, compressed: -1}
	t := &thrift{b: b}
	t.fields(tStruct, pageHeaderStruct, func(id int16, f byte) {
		switch id {
		case 1:
			h.typ = t.i32(f)
		case 2:
			h.uncompressed = t.i32(f)
		case 3:
			h.compressed = t.i32(f)
		case 4:
			h.crc, h.hasCRC = uint32(t.integer(f)), true
		case 5:
			h.parseData(t, f)
		case 7:
			h.parseDict(t, f)
		case 8:
			h.parseV2(t, f)
		default:
			t.skip(f)
		}
	})
	if t.bad {
		h.why = t.why
		return 0, false, t.short
	}
	ok = h.uncompressed >= 0 && h.compressed >= 0 && (h.variant && h.values >= 0 || h.typ == pageIndex)
	return t.p, ok, false
}

func (h *pageHeader) parseData(t *thrift, typ byte) {
	t.fields(typ, dataPageHeader, func(id int16, f byte) {
		switch id {
		case 1:
			h.values = t.i32(f)
		case 2:
			h.enc = Encoding(t.i32(f))
		case 3:
			h.defEnc = Encoding(t.i32(f))
		case 4:
			h.repEnc = Encoding(t.i32(f))
		default:
			t.skip(f)
		}
	})
	h.variant = h.variant || h.typ == pageData
}

func (h *pageHeader) parseDict(t *thrift, typ byte) {
	t.fields(typ, dictionaryPageHeader, func(id int16, f byte) {
		switch id {
		case 1:
			h.values = t.i32(f)
		case 2:
			h.enc = Encoding(t.i32(f))
		default:
			t.skip(f)
		}
	})
	h.variant = h.variant || h.typ == pageDict
}

func (h *pageHeader) parseV2(t *thrift, typ byte) {
	t.fields(typ, dataPageHeaderV2, func(id int16, f byte) {
		switch id {
		case 1:
			h.values = t.i32(f)
		case 2:
			h.nulls = t.i32(f)
		case 3:
			h.rows = t.i32(f)
		case 4:
			h.enc = Encoding(t.i32(f))
		case 5:
			h.defLen = t.i32(f)
		case 6:
			h.repLen = t.i32(f)
		case 7:
			h.plainV2 = !t.boolean(f)
		default:
			t.skip(f)
		}
	})
	h.variant = h.variant || h.typ == pageDataV2
}

// because is the end of a message that may know why; "" where it does not.
func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}
