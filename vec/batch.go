package vec

import "context"

// Batch is one horizontal slice of a relation. Rows outside Sel do not exist for the reader:
// their values are undefined and must not be computed on where that could fail.
type Batch struct {
	Cols []*Vector
	Sel  []uint16 // nil: all rows; else strictly ascending
	Rows int      // physical length of every vector; may be > 0 with no columns
}

// Len is the number of rows that exist.
func (b *Batch) Len() int {
	if b.Sel != nil {
		return len(b.Sel)
	}
	return b.Rows
}

// Source yields batches until nil, nil. A batch belongs to its Source and is valid until the
// next Next or Close; whoever keeps rows longer copies them. Not safe for concurrent use:
// exchanges are where goroutines meet. An empty batch (Len 0) is legal and means "go on".
// After an error only Close may be called. Close is idempotent and never blocks on a client.
type Source interface {
	Next(ctx context.Context) (*Batch, error)
	Close() error
}
