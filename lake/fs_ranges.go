package lake

import (
	"context"
	"sort"
)

// Range is a piece of a file. ReadRanges fills Data.
type Range struct {
	Off, Len int64
	Data     []byte
}

// ReadRanges reads all ranges, those at most gap bytes apart in one request of at most limit
// bytes. The ranges may come in any order and may overlap; those of one request share memory.
func ReadRanges(ctx context.Context, f File, ranges []Range, gap, limit int64) error {
	order := make([]int, len(ranges))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(a, b int) bool { return ranges[order[a]].Off < ranges[order[b]].Off })
	for i := 0; i < len(order); {
		start := ranges[order[i]].Off
		end := start + ranges[order[i]].Len
		j := i + 1
		for ; j < len(order); j++ {
			r := &ranges[order[j]]
			if r.Off-end > gap || max(end, r.Off+r.Len)-start > limit {
				break
			}
			end = max(end, r.Off+r.Len)
		}
		buf := make([]byte, end-start)
		if err := f.ReadAt(ctx, buf, start); err != nil {
			return err
		}
		for ; i < j; i++ {
			r := &ranges[order[i]]
			r.Data = buf[r.Off-start : r.Off-start+r.Len : r.Off-start+r.Len]
		}
	}
	return nil
}
