package parquet

// chunk is a column chunk as footer and indexes describe it.
type chunk struct {
	leaf                                 *leaf
	dict, plain                          bool // which pages it has
	dictOffset, dataOffset               int64
	uncompressed, compressed             int64
	entries, nulls                       int64
	stats                                bounds
	pages                                []page
	bloom                                []byte
	min, max                             []byte
	minExact, maxExact                   bool
	columnIndex                          []byte
	bloomOffset, bloomLength             int64
	columnIndexOffset, columnIndexLength int64
	offsetIndexOffset, offsetIndexLength int64
}

// writeChunk ends a leaf's column chunk and writes it: the dictionary, which had to wait for its
// last value, and the pages. It adds to the file's metrics.
func (w *Writer) writeChunk(l *leaf, m *metrics) (chunk, error) {
	c := chunk{leaf: l}
	if err := w.endPage(l); err != nil {
		return c, err
	}
	start := w.off
	if n := l.dict.count(); n > 0 {
		c.dict, c.dictOffset = true, w.off
		w.tools.raw = l.dict.vals.appendPlain(w.tools.raw[:0], l, 0, n)
		var p page
		if err := w.encodePage(l, &p, dictionaryPage, w.tools.raw, n, plainEncoding); err != nil {
			return c, err
		}
		c.uncompressed += p.raw
		if err := w.write(p.body); err != nil {
			return c, err
		}
	}
	c.plain = l.coding == plain
	c.dataOffset = w.off
	c.pages = l.pages
	row := int64(0)
	for i := range c.pages {
		p := &c.pages[i]
		p.offset, p.firstRow = w.off, row
		row += p.rows
		c.entries += p.entries
		c.nulls += p.nulls
		c.uncompressed += p.raw
		c.stats.merge(l, p.stats)
		if err := w.write(p.body); err != nil {
			return c, err
		}
		p.body = nil
	}
	c.compressed = w.off - start
	if rate, ok := w.opt.Bloom[l.field.ID]; ok {
		c.bloom = l.bloom(rate)
	}
	m.add(l, c)
	c.encodeStats()
	for i := range c.pages {
		c.pages[i].stats = bounds{} // they may point into the dictionary
	}
	c.stats = bounds{}
	return c, nil
}
