package speccheck

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// pages sums up a chunk page by page, as its offset index divides it; in one where it has none.
type pages struct {
	first []int64 // rows
	found []found
	index metadata.ColumnIndex
	last  int
}

func newPages(r *file.Reader, group, column int) (*pages, error) {
	p := &pages{first: []int64{0}, found: make([]found, 1)}
	index, err := r.GetPageIndexReader().RowGroup(group)
	if index == nil || err != nil {
		return p, err
	}
	offsets, err := index.GetOffsetIndex(column)
	if offsets == nil || err != nil {
		return p, err
	}
	p.first = p.first[:0]
	at := int64(0)
	for i, l := range offsets.GetPageLocations() {
		if i == 0 && l.FirstRowIndex != 0 || i > 0 && l.FirstRowIndex <= p.first[i-1] || l.Offset < at {
			return nil, fmt.Errorf("page %d begins at row %d, byte %d", i, l.FirstRowIndex, l.Offset)
		}
		at = l.Offset + int64(l.CompressedPageSize)
		p.first = append(p.first, l.FirstRowIndex)
	}
	if len(p.first) == 0 {
		p.first = []int64{0}
	}
	p.found = make([]found, len(p.first))
	p.index, err = index.GetColumnIndex(column)
	return p, err
}

// at is the page of a row; rows come in order.
func (p *pages) at(row int64) *found {
	for p.last+1 < len(p.first) && p.first[p.last+1] <= row {
		p.last++
	}
	return &p.found[p.last]
}

// check: the column index, by which readers skip pages and may search for the first.
func (p *pages) check(l *leaf, d *schema.Column) error {
	if p.index == nil || l.order == none {
		return nil
	}
	nulls, low, high := p.index.GetNullPages(), p.index.GetMinValues(), p.index.GetMaxValues()
	if len(nulls) != len(p.found) || len(low) != len(p.found) || len(high) != len(p.found) {
		return fmt.Errorf("%d pages, the column index has %d", len(p.found), len(nulls))
	}
	var before int // the page before that has bounds; -1: none
	before = -1
	for i := range p.found {
		s := &p.found[i]
		if nulls[i] != (s.nulls == s.entries) {
			return fmt.Errorf("page %d: %d of %d values are NULL, and the column index says all: %v", i, s.nulls, s.entries, nulls[i])
		}
		if p.index.IsSetNullCounts() && p.index.GetNullCounts()[i] != s.nulls {
			return fmt.Errorf("page %d: %d NULLs, the column index says %d", i, s.nulls, p.index.GetNullCounts()[i])
		}
		if nulls[i] {
			continue
		}
		if err := l.checkBounds(d, "column index", low[i], high[i], s); err != nil {
			return fmt.Errorf("page %d: %w", i, err)
		}
		if before >= 0 {
			if err := p.checkOrder(l, d, before, i); err != nil {
				return err
			}
		}
		before = i
	}
	return nil
}

// checkOrder: where the index says that bounds ascend or descend, they do from page i to k.
func (p *pages) checkOrder(l *leaf, d *schema.Column, i, k int) error {
	sign := 1
	switch fmt.Sprint(p.index.GetBoundaryOrder()) {
	case "ASCENDING":
	case "DESCENDING":
		sign = -1
	default:
		return nil
	}
	for _, list := range [][][]byte{p.index.GetMinValues(), p.index.GetMaxValues()} {
		a, err := l.plain(d, list[i])
		if err != nil {
			return err
		}
		b, err := l.plain(d, list[k])
		if err != nil {
			return err
		}
		if sign*l.order.compare(a, b) > 0 {
			return fmt.Errorf("the column index says its bounds are in order, and those of pages %d and %d are not", i, k)
		}
	}
	return nil
}
