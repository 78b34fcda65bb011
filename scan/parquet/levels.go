package parquet

import (
	"context"

	"github.com/lhsql/lhsql/types"
)

// levelLeaf reads a leaf that lies in structs or lists: it keeps the levels of a batch's
// entries, from which the nodes above it are put together, and the values, NULLs left out.
type levelLeaf struct {
	leaf
	repReader, defReader hybrid
	levelsLeft           int // entries of the current page not in the look-ahead yet

	// Look-ahead: levels decoded and not consumed, because a row's end shows only at the
	// beginning of the next.
	look     [2][]uint8 // rep, def
	at, end  int
	tmp      [512]uint32
	rowsDone int64 // rows whose first entry was consumed

	rep, def []uint8 // entries of the batch
	values   sink
	count    int // of values
	data     []byte
}

func newLevelLeaf(r *columnReader, n *Node, t types.Type) (*levelLeaf, error) {
	conv, err := ConversionFor(n, t)
	if err != nil {
		return nil, err
	}
	l := &levelLeaf{leaf: leaf{r: r, node: n, conv: conv}, values: sink{form: conv.Form}}
	l.look[0], l.look[1] = make([]uint8, len(l.tmp)), make([]uint8, len(l.tmp))
	return l, nil
}

func (l *levelLeaf) openLevels(file ReaderAt, g *RowGroup, indexes Indexes) error {
	l.levelsLeft, l.at, l.end, l.rowsDone = 0, 0, 0, 0
	return l.open(file, g, indexes[l.node.Leaf])
}

// loadLevels is load, with the level readers at the page's beginning.
func (l *levelLeaf) loadLevels(ctx context.Context) error {
	if err := l.load(ctx); err != nil {
		return err
	}
	l.levelsLeft = l.left
	if l.node.MaxRep > 0 {
		if err := l.repReader.reset(l.reps, levelWidth(l.node.MaxRep)); err != nil {
			return err
		}
	}
	if l.node.MaxDef > 0 {
		return l.defReader.reset(l.defs, levelWidth(l.node.MaxDef))
	}
	return nil
}

// refill decodes more levels of the current page to the look-ahead.
func (l *levelLeaf) refill() error {
	m := min(l.levelsLeft, len(l.tmp))
	if err := decodeLevels(&l.repReader, l.tmp[:m], l.look[0], l.node.MaxRep); err != nil {
		return err
	}
	if err := decodeLevels(&l.defReader, l.tmp[:m], l.look[1], l.node.MaxDef); err != nil {
		return err
	}
	l.levelsLeft -= m
	l.at, l.end = 0, m
	return nil
}

func decodeLevels(h *hybrid, tmp []uint32, dst []uint8, limit int) error {
	if limit == 0 {
		clear(dst[:len(tmp)])
		return nil
	}
	if err := h.read(tmp); err != nil {
		return err
	}
	for i, v := range tmp {
		if v > uint32(limit) {
			return corrupt("level %d where %d is the highest", v, limit)
		}
		dst[i] = uint8(v)
	}
	return nil
}

// reset empties the batch.
func (l *levelLeaf) reset() {
	l.rep, l.def, l.count = l.rep[:0], l.def[:0], 0
	l.values.data, l.data = l.values.data[:0], nil
}

// readRows adds the entries of rows rows to the batch.
func (l *levelLeaf) readRows(ctx context.Context, rows int) error {
	begun := 0
	for {
		if l.at == l.end && l.levelsLeft > 0 {
			if err := l.refill(); err != nil {
				return err
			}
		}
		if l.at == l.end {
			if begun == rows && (l.node.MaxRep == 0 || l.atEnd()) {
				return nil
			}
			if err := l.loadLevels(ctx); err != nil {
				return err
			}
			continue
		}
		i, full := l.at, false
		for ; i < l.end; i++ {
			if l.look[0][i] == 0 {
				if begun == rows {
					full = true
					break
				}
				begun++
				l.rowsDone++
			} else if begun == 0 {
				return corrupt("column %q begins within a row", l.node.Name)
			}
		}
		if err := l.consume(i); err != nil {
			return err
		}
		if full {
			return nil
		}
	}
}

// consume moves the look-ahead's entries up to end, and their values, to the batch.
func (l *levelLeaf) consume(end int) error {
	n, m := len(l.rep), end-l.at
	if m == 0 {
		return nil
	}
	b := l.r.budget
	var err error
	if l.rep, err = grow(b, l.rep, n+m, n); err != nil {
		return err
	}
	if l.def, err = grow(b, l.def, n+m, n); err != nil {
		return err
	}
	copy(l.rep[n:], l.look[0][l.at:end])
	copy(l.def[n:], l.look[1][l.at:end])
	k := 0
	for _, d := range l.def[n:] {
		if int(d) == l.node.MaxDef {
			k++
		}
	}
	l.at = end
	if err := l.values.grow(b, l.count+k, l.count); err != nil {
		return err
	}
	if l.data, err = l.decode(&l.values, l.count, k, true); err != nil {
		return err
	}
	l.count += k
	return nil
}

// skip passes over rows rows, by whole pages where pages are known to begin with a row.
func (l *levelLeaf) skip(ctx context.Context, rows int) error {
	for rows > 0 {
		if l.index != nil {
			if to := l.index.Find(l.rowsDone + int64(rows)); to >= l.pageNo && l.index.Pages[to].FirstRow > l.rowsDone {
				l.r.Stats.PagesSkipped.Add(int64(to - l.pageNo))
				rows -= int(l.index.Pages[to].FirstRow - l.rowsDone)
				l.rowsDone = l.index.Pages[to].FirstRow
				l.pageNo, l.peeked, l.levelsLeft, l.at, l.end = to, false, 0, 0, 0
				continue
			}
		} else if l.at == l.end && l.levelsLeft == 0 && !l.atEnd() {
			if err := l.peek(ctx); err != nil {
				return err
			}
			// v1 pages of repeated columns may begin within a row, and do not tell their rows.
			n := int(l.head.values)
			if l.head.typ == pageDataV2 {
				n = int(l.head.rows)
			}
			if n > 0 && n <= rows && (l.node.MaxRep == 0 || l.head.typ == pageDataV2) {
				l.passPage()
				l.rowsDone += int64(n)
				rows -= n
				continue
			}
		}
		m := min(rows, 1024)
		l.reset()
		if err := l.readRows(ctx, m); err != nil {
			return err
		}
		rows -= m
	}
	return nil
}
