package parquet

import "encoding/binary"

// page is a data page that is finished: its bytes, until they are written, and what the indexes
// say of it.
type page struct {
	body     []byte // header and compressed content
	raw      int64  // size before compression, with the header
	offset   int64
	size     int32
	firstRow int64
	rows     int64
	entries  int64
	nulls    int64
	stats    bounds
}

// Page types and encodings of parquet.thrift.
const (
	dataPage        = 0
	dictionaryPage  = 2
	plainEncoding   = 0
	rleEncoding     = 3
	rleDictEncoding = 8
)

// endPage encodes and compresses a leaf's open page and begins the next one. A chunk whose first
// page is no smaller with its dictionary is written without one; a dictionary that has grown
// beyond its limit serves the pages so far, and plain ones follow.
func (w *Writer) endPage(l *leaf) error {
	if l.entries == 0 {
		return nil
	}
	if l.coding == trying {
		l.decide()
	}
	n := l.values.count(l)
	var p page
	if l.coding == coded {
		n = len(l.codes)
		p.stats = l.dict.bounds(l, l.codes)
	} else {
		p.stats = l.values.bounds(l)
	}
	p.rows, p.entries, p.nulls = int64(l.rows), int64(l.entries), int64(l.entries-n)
	raw := l.appendLevels(w.tools.raw[:0])
	enc := int64(plainEncoding)
	if l.coding == coded {
		enc = rleDictEncoding
		width := bitWidth(uint32(max(0, l.dict.count()-1)))
		raw = appendHybrid(append(raw, byte(width)), l.codes, width)
	} else {
		raw = l.values.appendPlain(raw, l, 0, n)
		if _, ok := w.opt.Bloom[l.field.ID]; ok {
			l.hashValues(&l.values)
		}
	}
	w.tools.raw = raw
	if err := w.encodePage(l, &p, dataPage, raw, l.entries, enc); err != nil {
		return err
	}
	l.pages = append(l.pages, p)
	l.raw += p.raw
	l.packed += int64(len(p.body))
	if l.coding == coded && l.dict.size > l.opt.DictBytes {
		l.coding, l.stored = plain, 0
	}
	l.startPage()
	return nil
}

// decide chooses the chunk's coding after its first page.
func (l *leaf) decide() {
	size := l.dict.size + len(l.codes)*bitWidth(uint32(max(0, l.dict.count()-1)))/8
	plainSize := 0
	switch l.phys {
	case physBytes:
		for _, c := range l.codes {
			plainSize += 4 + int(l.dict.vals.views[c].Len)
		}
	case physInt32, physFloat:
		plainSize = 4 * len(l.codes)
		size -= l.dict.size / 2 // which counts 8 bytes a value
	case physFixed:
		plainSize = l.length * len(l.codes)
	default:
		plainSize = 8 * len(l.codes)
	}
	if size < plainSize && len(l.codes) >= minDictValues {
		l.coding = coded
		return
	}
	l.coding = plain
	d := &l.dict.vals
	for _, c := range l.codes {
		switch {
		case l.phys == physInt32 || l.phys == physInt64:
			l.values.ints = append(l.values.ints, d.ints[c])
		case l.phys == physFloat || l.phys == physDouble:
			l.values.f64 = append(l.values.f64, d.f64[c])
		case l.wide:
			l.values.wide = append(l.values.wide, d.wide[c])
		default:
			l.values.addBytes(d.get(int(c)))
		}
	}
	l.codes = l.codes[:0]
	l.dict.reset()
}

// minDictValues is below which a dictionary is not worth its page.
const minDictValues = 16

func (l *leaf) appendLevels(dst []byte) []byte {
	if l.maxRep > 0 {
		dst = appendLevels(dst, l.rep, l.maxRep)
	}
	if l.maxDef == 0 {
		return dst
	}
	if l.def != nil {
		return appendLevels(dst, l.def, l.maxDef)
	}
	// All there: one run.
	run := binary.AppendUvarint(nil, uint64(l.entries)<<1)
	run = append(run, l.maxDef)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(run)))
	return append(dst, run...)
}

// encodePage compresses a page's content and puts its header before it.
func (w *Writer) encodePage(l *leaf, p *page, kind int64, raw []byte, entries int, enc int64) error {
	var body []byte
	var err error
	if kind == dictionaryPage {
		body, err = w.tools.comp.compress(raw)
	} else {
		body, err = w.compress(l, raw)
	}
	if err != nil {
		return err
	}
	var t thrift
	t.i32(1, kind)
	t.i32(2, int64(len(raw)))
	t.i32(3, int64(len(body)))
	if kind == dictionaryPage {
		t.begin(7)
		t.i32(1, int64(entries))
		t.i32(2, enc)
		t.end()
	} else {
		t.begin(5)
		t.i32(1, int64(entries))
		t.i32(2, enc)
		t.i32(3, rleEncoding)
		t.i32(4, rleEncoding)
		t.end()
	}
	t.stop()
	p.raw = int64(len(t.buf) + len(raw))
	p.body = make([]byte, 0, len(t.buf)+len(body))
	p.body = append(append(p.body, t.buf...), body...)
	p.size = int32(len(p.body))
	return nil
}
