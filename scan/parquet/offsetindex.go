package parquet

import (
	"context"
	"sort"
)

// OffsetIndex says where the pages of a column chunk lie (parquet.thrift OffsetIndex).
type OffsetIndex struct {
	Pages []PageLocation
	rows  int64
}

// PageLocation is one data page.
type PageLocation struct {
	Off      int64
	Size     int64 // header and body
	FirstRow int64 // within the row group
}

// Find is the number of the page that holds the row.
func (x *OffsetIndex) Find(row int64) int {
	return sort.Search(len(x.Pages), func(i int) bool { return x.Pages[i].FirstRow > row }) - 1
}

// End is the row behind page i.
func (x *OffsetIndex) End(i int) int64 {
	if i+1 < len(x.Pages) {
		return x.Pages[i+1].FirstRow
	}
	return x.rows
}

// ColumnIndex holds statistics per page (parquet.thrift ColumnIndex).
type ColumnIndex struct {
	NullPage []bool
	Min, Max [][]byte
	Nulls    []int64 // nil: unknown
}

// maxIndex bounds one index's bytes.
const maxIndex = 64 << 20

func readIndex(ctx context.Context, f ReaderAt, b *Budget, r Range, what string) ([]byte, error) {
	if err := checkRange(r, f.Size(), what); err != nil {
		return nil, err
	}
	if r.N > maxIndex {
		return nil, unsupported("%s of %d bytes", what, r.N)
	}
	// What is parsed from the bytes takes a multiple of them.
	if err := b.Reserve(r.N * 24); err != nil {
		return nil, err
	}
	return readRange(ctx, f, b, r.Off, r.N)
}

// ReadOffsetIndex reads the offset index of column leaf in g; nil, nil: there is none.
func ReadOffsetIndex(ctx context.Context, f ReaderAt, g *RowGroup, leaf int, b *Budget) (*OffsetIndex, error) {
	c := &g.Columns[leaf]
	if c.OffsetIndex.N <= 0 || c.OffsetIndex.Off <= 0 {
		return nil, nil
	}
	buf, err := readIndex(ctx, f, b, c.OffsetIndex, "offset index")
	if err != nil {
		return nil, err
	}
	return parseOffsetIndex(buf, c, g.Rows)
}

func parseOffsetIndex(buf []byte, c *Chunk, rows int64) (*OffsetIndex, error) {
	x := &OffsetIndex{rows: rows}
	t := &thrift{b: buf}
	t.enter(tStruct)
	for id := int16(0); ; {
		f := t.next(&id)
		if f == tStop {
			break
		}
		if id != 1 {
			t.skip(f)
			continue
		}
		_, n := t.list(f)
		for i := 0; i < n && !t.bad; i++ {
			x.Pages = append(x.Pages, readLocation(t))
		}
	}
	if t.bad || len(x.Pages) == 0 {
		return nil, corrupt("an offset index cannot be read")
	}
	for i, p := range x.Pages {
		if p.Off < c.Start() || p.Size <= 0 || p.Off > c.End() || p.Size > c.End()-p.Off ||
			i == 0 && p.FirstRow != 0 || p.FirstRow > rows ||
			i > 0 && (p.FirstRow < x.Pages[i-1].FirstRow || p.Off < x.Pages[i-1].Off) {
			return nil, corrupt("an offset index does not fit its column chunk")
		}
	}
	return x, nil
}

func readLocation(t *thrift) (p PageLocation) {
	t.enter(tStruct)
	for id := int16(0); ; {
		f := t.next(&id)
		if f == tStop {
			break
		}
		switch id {
		case 1:
			p.Off = t.integer(f)
		case 2:
			p.Size = t.integer(f)
		case 3:
			p.FirstRow = t.integer(f)
		default:
			t.skip(f)
		}
	}
	t.leave()
	return p
}

// ReadColumnIndex reads the column index of column leaf in g, which must have pages pages;
// nil, nil: there is none, or one that does not fit.
func ReadColumnIndex(ctx context.Context, f ReaderAt, g *RowGroup, leaf, pages int, b *Budget) (*ColumnIndex, error) {
	c := &g.Columns[leaf]
	if c.ColumnIndex.N <= 0 || c.ColumnIndex.Off <= 0 {
		return nil, nil
	}
	buf, err := readIndex(ctx, f, b, c.ColumnIndex, "column index")
	if err != nil {
		return nil, err
	}
	x, err := parseColumnIndex(buf)
	if err != nil {
		return nil, err
	}
	// Statistics are a help: without all of them there is none.
	if len(x.NullPage) != pages || len(x.Min) != pages || len(x.Max) != pages ||
		x.Nulls != nil && len(x.Nulls) != pages {
		return nil, nil
	}
	return x, nil
}

func parseColumnIndex(buf []byte) (*ColumnIndex, error) {
	x := &ColumnIndex{}
	t := &thrift{b: buf}
	t.enter(tStruct)
	for id := int16(0); ; {
		f := t.next(&id)
		if f == tStop {
			break
		}
		switch id {
		case 1:
			_, n := t.list(f)
			for i := 0; i < n && !t.bad; i++ {
				x.NullPage = append(x.NullPage, t.byte() == tTrue)
			}
		case 2:
			x.Min = readBinaries(t, f)
		case 3:
			x.Max = readBinaries(t, f)
		case 5:
			elem, n := t.list(f)
			for i := 0; i < n && !t.bad; i++ {
				x.Nulls = append(x.Nulls, t.integer(elem))
			}
		default:
			t.skip(f)
		}
	}
	if t.bad {
		return nil, corrupt("a column index cannot be read")
	}
	return x, nil
}

func readBinaries(t *thrift, typ byte) (v [][]byte) {
	elem, n := t.list(typ)
	for i := 0; i < n && !t.bad; i++ {
		v = append(v, t.binary(elem))
	}
	return v
}
