package parquet

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"unicode/utf8"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Reader is what the columns of one goroutine share: a decompressor, the memory account, and
// counters. Not safe for concurrent use.
type Reader struct {
	Stats  *IOStats
	budget *Budget
	dec    decompressor
	free   [][]byte // buffers of Fetch

	// Pages is where plain pages are kept, nil: nowhere; File names the file that columns open.
	Pages *PageCache
	File  string
	lent  [][]byte
	open  map[*Budget]bool // what columns hold for themselves

	window int // how much of a chunk is read at once
}

// NewReader makes a Reader that charges mem and counts into stats.
func NewReader(mem Memory, stats *IOStats) *Reader {
	if stats == nil {
		stats = &IOStats{}
	}
	return &Reader{Stats: stats, budget: NewBudget(mem), open: map[*Budget]bool{}, window: windowBytes}
}

// Share says how many bytes the windows of n columns shall take together; 0: no matter.
func (r *Reader) Share(bytes int64, n int) {
	if bytes > 0 && n > 0 {
		r.window = int(max(minWindow, min(windowBytes, bytes/int64(n))))
	}
}

// Close gives back all memory; columns of r must not be used any more.
func (r *Reader) Close() {
	r.dec.close()
	for b := range r.open {
		b.Close()
	}
	r.budget.Close()
}

// columnReader is a Reader with an account of the column's own (budget): what the column holds
// beside the buffers that go from column to column, until Release.
type columnReader struct {
	*Reader
	budget *Budget
}

func (r *Reader) forColumn() *columnReader {
	c := &columnReader{Reader: r, budget: NewBudget(r.budget.mem)}
	r.open[c.budget] = true
	return c
}

// leaf walks the pages of one column chunk and decodes their values. Flat and nested columns
// build on it.
type leaf struct {
	r    *columnReader
	node *Node
	conv Conversion

	file  ReaderAt
	chunk *Chunk
	rows  int64 // of the row group
	index *OffsetIndex
	win   window

	pos    int64 // where the next page begins
	pageNo int   // with an index: the number of the next page
	seen   int64 // entries in the pages taken or passed, where the walk is gapless
	head   pageHeader
	headN  int  // length of head where peeked
	peeked bool // head is the next data page's

	page []byte // the current page, decompressed
	left int    // entries of the current page whose levels are not read yet

	decoders [ByteStreamSplit + 1]decoder
	cur      decoder // of the current page; nil: dictionary codes
	codes    hybrid
	dictLen  int
	dict     *vec.Vector
	dictSink sink
	dictBuf  []byte
	defs     []byte // encoded definition levels of the current page
	reps     []byte
	tmpCodes []uint32
	tmpViews []vec.View
}

// open starts a column chunk of file. index may be nil.
func (l *leaf) open(file ReaderAt, g *RowGroup, index *OffsetIndex) error {
	c := &g.Columns[l.node.Leaf]
	if err := checkRange(Range{c.Start(), c.Compressed}, file.Size(), "column chunk"); err != nil {
		return err
	}
	if c.Values < 0 || l.node.MaxRep == 0 && c.Values != g.Rows {
		return corrupt("column %q has %d values in %d rows", l.node.Name, c.Values, g.Rows)
	}
	l.file, l.chunk, l.rows, l.index = file, c, g.Rows, index
	l.win.r = l.r.Reader
	l.win.reset(file, c.End())
	l.pos, l.pageNo, l.seen, l.peeked, l.left = c.Start(), 0, 0, false, 0
	l.dict, l.dictLen, l.cur = nil, 0, nil
	if index != nil {
		l.pos = index.Pages[0].Off
	}
	return nil
}

// atEnd tells whether all pages were passed.
func (l *leaf) atEnd() bool {
	if l.index != nil {
		return l.pageNo >= len(l.index.Pages)
	}
	return l.seen >= l.chunk.Values
}

// peek reads the header of the next data page, and a dictionary page before it.
func (l *leaf) peek(ctx context.Context) error {
	for !l.peeked {
		if l.index != nil {
			l.pos = l.index.Pages[l.pageNo].Off
		}
		if err := l.header(ctx); err != nil {
			return err
		}
		switch l.head.typ {
		case pageDict:
			if err := l.readDict(ctx); err != nil {
				return err
			}
		case pageData, pageDataV2:
			l.peeked = true
		default: // index pages and what later formats add
			if l.index != nil {
				return corrupt("the offset index of column %q points to no data page", l.node.Name)
			}
			l.pos += int64(l.headN) + int64(l.head.compressed)
		}
	}
	return nil
}

// header parses the page header at pos.
func (l *leaf) header(ctx context.Context) error {
	left := l.win.end - l.pos
	for n := int64(512); ; n *= 8 {
		b, err := l.win.bytes(ctx, l.pos, int(min(n, left)))
		if err != nil {
			return err
		}
		k, ok, short := l.head.parse(b)
		if ok {
			l.headN = k
			if int64(k)+int64(l.head.compressed) > left {
				return corrupt("a page of column %q reaches past its column chunk", l.node.Name)
			}
			return nil
		}
		if !short || n >= left || n > 64<<20 {
			return corrupt("a page header of column %q cannot be read%s", l.node.Name, because(l.head.why))
		}
	}
}

// body gives the stored bytes of the page whose header was read, checksum tested.
func (l *leaf) body(ctx context.Context) ([]byte, error) {
	b, err := l.win.bytes(ctx, l.pos+int64(l.headN), int(l.head.compressed))
	if err != nil {
		return nil, err
	}
	if l.head.hasCRC && crc32.ChecksumIEEE(b) != l.head.crc {
		return nil, corrupt("a page of column %q has the wrong checksum", l.node.Name)
	}
	l.pos += int64(l.headN) + int64(len(b))
	return b, nil
}

// decompress gives the plain bytes of src, the page that body gave last, size long: in buf where
// they are compressed, or from the cache.
func (l *leaf) decompress(buf *[]byte, src []byte, size int) ([]byte, error) {
	if l.chunk.Codec == Uncompressed {
		if len(src) != size {
			return nil, corrupt("an uncompressed page has %d bytes, its header says %d", len(src), size)
		}
		return src, nil
	}
	if page, ok, err := l.cachedPage(src, size); ok || err != nil {
		return page, err
	}
	if *buf == nil {
		*buf = l.r.takeBuffer(size)
	}
	b, err := grow(l.r.Reader.budget, *buf, size, 0)
	if err != nil {
		return nil, err
	}
	*buf = b
	l.r.Stats.Decompressed.Add(int64(size))
	return b, l.r.dec.into(l.chunk.Codec, b, src)
}

// readDict decodes a dictionary page to a vector of the wanted type.
func (l *leaf) readDict(ctx context.Context) error {
	h := &l.head
	if l.dict != nil {
		return corrupt("column %q has two dictionaries in a row group", l.node.Name)
	}
	if h.enc != Plain && h.enc != PlainDictionary {
		return unsupported("dictionary encoding %d", h.enc)
	}
	src, err := l.body(ctx)
	if err != nil {
		return err
	}
	n := int(h.values)
	b, err := l.decompress(&l.dictBuf, src, int(h.uncompressed))
	if err != nil {
		return err
	}
	if l.chunk.Codec == Uncompressed { // the window moves on, the dictionary stays
		if l.dictBuf == nil {
			l.dictBuf = l.r.takeBuffer(len(b))
		}
		if l.dictBuf, err = grow(l.r.Reader.budget, l.dictBuf, len(b), 0); err != nil {
			return err
		}
		copy(l.dictBuf, b)
		b = l.dictBuf
	}
	if int64(n) > int64(len(b))*8 { // before the values are made room for
		return errValues
	}
	dec, err := decoderFor(l.node, Plain, l.r.budget)
	if err != nil {
		return err
	}
	if err := dec.reset(b, n); err != nil {
		return err
	}
	s := &l.dictSink
	s.form, s.data = l.conv.Form, s.data[:0]
	// One value more than there are, so that the codes of NULL rows, 0, always hit one.
	if err := s.grow(l.r.budget, n+1, 0); err != nil {
		return err
	}
	data, err := l.decodeWith(dec, s, 0, n, false)
	if err != nil {
		return err
	}
	// A new vector per row group, so that its address tells dictionaries apart.
	d := &vec.Vector{Type: l.conv.Type, Form: s.form, DictID: vec.NewDictID()}
	s.fillVector(d, n+1, data)
	zeroLast(d, n)
	l.dict, l.dictLen = d, n
	return nil
}

func zeroLast(d *vec.Vector, n int) {
	switch d.Form {
	case types.FormI64:
		d.I64[n] = 0
		d.I64 = d.I64[:max(n, 1)]
	case types.FormF64:
		d.F64[n] = 0
		d.F64 = d.F64[:max(n, 1)]
	case types.FormW128:
		d.W128[n] = types.Int128{}
		d.W128 = d.W128[:max(n, 1)]
	case types.FormBool:
		d.Bools[n] = false
		d.Bools = d.Bools[:max(n, 1)]
	case types.FormStr:
		d.Views[n] = vec.View{}
		d.Views = d.Views[:max(n, 1)]
	}
}

// ensureDict reads the chunk's dictionary where it was jumped over.
func (l *leaf) ensureDict(ctx context.Context) error {
	if l.dict != nil {
		return nil
	}
	pos, head, headN := l.pos, l.head, l.headN
	l.pos = l.chunk.Start()
	if err := l.header(ctx); err != nil {
		return err
	}
	if l.head.typ != pageDict {
		return corrupt("column %q has codes and no dictionary", l.node.Name)
	}
	if err := l.readDict(ctx); err != nil {
		return err
	}
	l.pos, l.head, l.headN = pos, head, headN
	return nil
}

// passPage goes past the peeked page without reading it.
func (l *leaf) passPage() {
	l.pos += int64(l.headN) + int64(l.head.compressed)
	l.pageTaken()
	l.left = 0
	l.r.Stats.PagesSkipped.Add(1)
}

func (l *leaf) pageTaken() {
	l.seen += int64(l.head.values)
	l.pageNo++
	l.peeked = false
}

// load makes the next data page the current one.
func (l *leaf) load(ctx context.Context) error {
	if l.atEnd() {
		return corrupt("column %q ends early", l.node.Name)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := l.peek(ctx); err != nil {
		return err
	}
	h := &l.head
	if l.index == nil && int64(h.values) > l.chunk.Values-l.seen {
		return corrupt("column %q has more values than its column chunk says", l.node.Name)
	}
	dict := h.enc == RLEDictionary || h.enc == PlainDictionary
	if dict {
		if err := l.ensureDict(ctx); err != nil {
			return err
		}
	}
	src, err := l.body(ctx)
	if err != nil {
		return err
	}
	var values []byte
	if h.typ == pageData {
		values, err = l.splitV1(src)
	} else {
		values, err = l.splitV2(src)
	}
	if err != nil {
		return err
	}
	l.left = int(h.values)
	l.pageTaken()
	l.r.Stats.PagesRead.Add(1)
	return l.startValues(h.enc, dict, values)
}

// splitV1 decompresses a v1 page and cuts off its levels.
func (l *leaf) splitV1(src []byte) (values []byte, err error) {
	h := &l.head
	b, err := l.decompress(&l.page, src, int(h.uncompressed))
	if err != nil {
		return nil, err
	}
	if l.node.MaxRep > 0 {
		if l.reps, b, err = cutLevels(b, h.repEnc); err != nil {
			return nil, err
		}
	}
	if l.node.MaxDef > 0 {
		if l.defs, b, err = cutLevels(b, h.defEnc); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func cutLevels(b []byte, enc Encoding) (levels, rest []byte, err error) {
	if enc != RLE {
		return nil, nil, unsupported("level encoding %d", enc)
	}
	if len(b) < 4 {
		return nil, nil, corrupt("a page is too short for its levels")
	}
	n := binary.LittleEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, corrupt("a page is too short for its levels")
	}
	return b[4 : 4+n], b[4+n:], nil
}

// splitV2 cuts off a v2 page's levels, which are never compressed, and decompresses the rest.
func (l *leaf) splitV2(src []byte) (values []byte, err error) {
	h := &l.head
	if h.defLen < 0 || h.repLen < 0 {
		return nil, corrupt("a page has levels of negative length")
	}
	levels := int64(h.defLen) + int64(h.repLen)
	if levels > int64(len(src)) || levels > int64(h.uncompressed) {
		return nil, corrupt("a page is too short for its levels")
	}
	l.reps, l.defs = src[:h.repLen], src[h.repLen:levels]
	// Levels stay in the window while values are decoded from a buffer of their own.
	src = src[levels:]
	if h.plainV2 {
		return src, nil
	}
	size := int(int64(h.uncompressed) - levels)
	if len(src) == 0 && size == 0 {
		return nil, nil
	}
	return l.decompress(&l.page, src, size)
}

// startValues points the page's decoder at its values.
func (l *leaf) startValues(enc Encoding, dict bool, b []byte) (err error) {
	if dict {
		l.cur = nil
		if len(b) == 0 {
			return l.codes.reset(nil, 0)
		}
		return l.codes.reset(b[1:], uint(b[0]))
	}
	if enc < 0 || int(enc) >= len(l.decoders) {
		return unsupported("encoding %d", enc)
	}
	if l.decoders[enc] == nil {
		if l.decoders[enc], err = decoderFor(l.node, enc, l.r.budget); err != nil {
			return err
		}
	}
	l.cur = l.decoders[enc]
	return l.cur.reset(b, int(l.head.values))
}

// readCodes reads dictionary codes and makes sure that each has a value.
func (l *leaf) readCodes(dst []uint32) error {
	if len(dst) == 0 {
		return nil
	}
	if err := l.codes.read(dst); err != nil {
		return err
	}
	if l.codes.w < 32 && 1<<l.codes.w <= l.dictLen {
		return nil
	}
	if maxCode(dst) >= uint32(l.dictLen) {
		return corrupt("column %q has a code beyond its dictionary of %d", l.node.Name, l.dictLen)
	}
	return nil
}

func maxCode(v []uint32) uint32 {
	var a, b, c, d uint32
	for len(v) >= 4 {
		a, b, c, d = max(a, v[0]), max(b, v[1]), max(c, v[2]), max(d, v[3])
		v = v[4:]
	}
	for _, x := range v {
		a = max(a, x)
	}
	return max(max(a, b), max(c, d))
}

// decode puts the next k values of the current page into s at row at. For strings, copied
// tells whether to copy the bytes to s.data; if not, the bytes are in data until the next page.
func (l *leaf) decode(s *sink, at, k int, copied bool) (data []byte, err error) {
	if l.cur != nil {
		return l.decodeWith(l.cur, s, at, k, copied)
	}
	if l.tmpCodes, err = grow(l.r.budget, l.tmpCodes, k, 0); err != nil {
		return nil, err
	}
	if err := l.readCodes(l.tmpCodes); err != nil {
		return nil, err
	}
	if k > 0 {
		err = s.gather(l.r.budget, at, l.tmpCodes, l.dict)
	}
	return s.data, err
}

// decodeWith is decode with an encoding's decoder.
func (l *leaf) decodeWith(dec decoder, s *sink, at, k int, copied bool) (data []byte, err error) {
	c := &l.conv
	if c.op == allNull {
		if k > 0 {
			return nil, corrupt("column %q of the null type has a value", l.node.Name)
		}
		return nil, nil
	}
	switch c.lane {
	case laneI64:
		v := s.i64[at : at+k]
		if err := dec.i64(v); err != nil {
			return nil, err
		}
		return nil, c.integers(v)
	case laneF64:
		return nil, dec.f64(s.f64[at : at+k])
	case laneBool:
		return nil, dec.bools(s.bools[at : at+k])
	case laneFixed:
		b, err := dec.fixed(k)
		if err != nil {
			return nil, err
		}
		if c.Form != types.FormStr {
			return nil, c.fixed(s, at, k, b)
		}
		v := s.views[at : at+k]
		for i := range v {
			v[i] = vec.View{Off: uint32(i * c.w), Len: uint32(c.w)}
		}
		if copied {
			err = s.copyViews(l.r.budget, v, b)
			return s.data, err
		}
		return b, nil
	}
	if c.Form != types.FormStr {
		if l.tmpViews, err = grow(l.r.budget, l.tmpViews, k, 0); err != nil {
			return nil, err
		}
		if data, err = dec.views(l.tmpViews); err != nil {
			return nil, err
		}
		return nil, c.strings(s, at, l.tmpViews, data)
	}
	v := s.views[at : at+k]
	if data, err = dec.views(v); err != nil {
		return nil, err
	}
	if c.text && !validText(v, data) {
		return nil, corrupt("column %q holds text that is not valid UTF-8", l.node.Name)
	}
	if copied {
		err = s.copyViews(l.r.budget, v, data)
		return s.data, err
	}
	return data, nil
}

// validText tells whether all values are UTF-8. Most text is ASCII: then one look at the bytes in
// which the values lie, with what lies between them, will do.
func validText(views []vec.View, data []byte) bool {
	if len(views) == 0 {
		return true
	}
	lo, hi := views[0].Off, views[0].Off
	for _, v := range views {
		lo, hi = min(lo, v.Off), max(hi, v.Off+v.Len)
	}
	if ascii(data[lo:hi]) {
		return true
	}
	for _, v := range views {
		if !utf8.Valid(data[v.Off : v.Off+v.Len]) {
			return false
		}
	}
	return true
}

func ascii(b []byte) bool {
	const high = 0x8080808080808080
	for len(b) >= 32 {
		if (binary.LittleEndian.Uint64(b)|binary.LittleEndian.Uint64(b[8:])|binary.LittleEndian.Uint64(b[16:])|binary.LittleEndian.Uint64(b[24:]))&high != 0 {
			return false
		}
		b = b[32:]
	}
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// skipValues passes over k values of the current page.
func (l *leaf) skipValues(k int) error {
	if k == 0 {
		return nil
	}
	if l.cur == nil {
		return l.codes.skip(k)
	}
	return l.cur.skip(k)
}

// levelWidth is the bit width of levels up to n.
func levelWidth(n int) uint { return uint(bits.Len(uint(n))) }

// release lends the leaf's large buffers to the columns that come after it, and gives back what
// the column holds beside them.
func (l *leaf) release() {
	l.r.budget.Close()
	delete(l.r.open, l.r.budget)
	for _, b := range []*[]byte{&l.page, &l.dictBuf, &l.win.own} {
		if *b != nil {
			l.r.free = append(l.r.free, *b)
			*b = nil
		}
	}
}

// Release lends the buffers of columns that will not be used again to those that come after.
func (r *Reader) Release(cols []Column) {
	for _, c := range cols {
		for _, l := range c.leaves() {
			l.release()
		}
	}
}
