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

// ReadIndexes reads the offset indexes of the leaves of g that have one and, where pages is
// set for a leaf, its column index, in few reads.
func ReadIndexes(ctx context.Context, f ReaderAt, g *RowGroup, leaves []int, pages map[int]bool, b *Budget) (Indexes, map[int]*ColumnIndex, error) {
	type part struct {
		Range
		leaf   int
		column bool
	}
	var parts []part
	for _, l := range leaves {
		c := &g.Columns[l]
		if c.OffsetIndex.N > 0 && c.OffsetIndex.Off > 0 {
			parts = append(parts, part{c.OffsetIndex, l, false})
			if pages[l] && c.ColumnIndex.N > 0 && c.ColumnIndex.Off > 0 {
				parts = append(parts, part{c.ColumnIndex, l, true})
			}
		}
	}
	for _, p := range parts {
		if err := checkRange(p.Range, f.Size(), "page index"); err != nil {
			return nil, nil, err
		}
		if p.N > maxIndex {
			return nil, nil, unsupported("page index of %d bytes", p.N)
		}
		// What is parsed from the bytes takes a multiple of them.
		if err := b.Reserve(p.N * 24); err != nil {
			return nil, nil, err
		}
	}
	sort.Slice(parts, func(i, j int) bool { return parts[i].Off < parts[j].Off })
	offsets, columns := Indexes{}, map[int]*ColumnIndex{}
	raw := map[int][]byte{}
	for i := 0; i < len(parts); {
		lo, hi, j := parts[i].Off, parts[i].Off+parts[i].N, i+1
		for j < len(parts) && parts[j].Off <= hi+(64<<10) && max(hi, parts[j].Off+parts[j].N)-lo <= maxIndex {
			hi = max(hi, parts[j].Off+parts[j].N)
			j++
		}
		buf, err := readRange(ctx, f, b, lo, hi-lo)
		if err != nil {
			return nil, nil, err
		}
		for ; i < j; i++ {
			p := parts[i]
			bytes := buf[p.Off-lo : p.Off-lo+p.N]
			if p.column {
				raw[p.leaf] = bytes
				continue
			}
			if offsets[p.leaf], err = parseOffsetIndex(bytes, &g.Columns[p.leaf], g.Rows); err != nil {
				return nil, nil, err
			}
		}
	}
	for l, bytes := range raw {
		x, err := parseColumnIndex(bytes)
		if err != nil {
			return nil, nil, err
		}
		// Statistics are a help: where some are missing there are none.
		if n := len(offsets[l].Pages); len(x.NullPage) == n && len(x.Min) == n && len(x.Max) == n &&
			(x.Nulls == nil || len(x.Nulls) == n) {
			columns[l] = x
		}
	}
	return offsets, columns, nil
}

// The structs of a page index, as parquet.thrift has them.
var (
	offsetIndex  = describe("OffsetIndex", "page_locations", "unencoded_byte_array_data_bytes?")
	pageLocation = describe("PageLocation", "offset", "compressed_page_size", "first_row_index")
	columnIndex  = describe("ColumnIndex", "null_pages", "min_values", "max_values", "boundary_order", "null_counts?",
		"repetition_level_histograms?", "definition_level_histograms?", "nan_counts?")
)

func parseOffsetIndex(buf []byte, c *Chunk, rows int64) (*OffsetIndex, error) {
	x := &OffsetIndex{rows: rows}
	t := &thrift{b: buf}
	t.fields(tStruct, offsetIndex, func(id int16, f byte) {
		if id != 1 {
			t.skip(f)
			return
		}
		_, n := t.list(f)
		for i := 0; i < n && !t.bad; i++ {
			x.Pages = append(x.Pages, readLocation(t))
		}
	})
	if t.bad || len(x.Pages) == 0 {
		return nil, t.failure("an offset index")
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
	t.fields(tStruct, pageLocation, func(id int16, f byte) {
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
	})
	return p
}

func parseColumnIndex(buf []byte) (*ColumnIndex, error) {
	x := &ColumnIndex{}
	t := &thrift{b: buf}
	t.fields(tStruct, columnIndex, func(id int16, f byte) {
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
	})
	if t.bad {
		return nil, t.failure("a column index")
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
