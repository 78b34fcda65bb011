package eval

import "github.com/lhsql/lhsql/vec"

// WindowImpl is a window-only function. exec materialises each partition, sorted, and asks for
// all its rows at once.
type WindowImpl struct {
	// Eval writes rows 0… of out, one per partition row.
	Eval func(c *Ctx, p WindowPartition, args []*vec.Vector, out *vec.Vector) error
}

// WindowPartition is what a window function may ask of the partition it runs over.
type WindowPartition interface {
	Rows() int
	// Peers gives the peer group [from, to) of row i: the rows equal to it in the ORDER BY.
	Peers(i int) (from, to int)
	// Frame gives the frame of row i as up to three half-open ranges (EXCLUDE splits it).
	Frame(i int) [][2]int
}
