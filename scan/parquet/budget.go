package parquet

import "unsafe"

// Budget is what one reader holds of a Memory. Not safe for concurrent use.
type Budget struct {
	mem  Memory
	held int64
}

// NewBudget makes a Budget on mem; nil mem: nothing is charged.
func NewBudget(mem Memory) *Budget { return &Budget{mem: mem} }

// Reserve charges n more bytes.
func (b *Budget) Reserve(n int64) error {
	if b.mem == nil || n == 0 {
		return nil
	}
	if err := b.mem.Reserve(n); err != nil {
		return err
	}
	b.held += n
	return nil
}

// Give returns n of the bytes that b holds.
func (b *Budget) Give(n int64) {
	if b.mem != nil {
		b.mem.Release(n)
		b.held -= n
	}
}

// Close returns all that b holds.
func (b *Budget) Close() {
	if b.mem != nil && b.held != 0 {
		b.mem.Release(b.held)
	}
	b.held = 0
}

// grow makes buf n long, with keep of its values kept, charging b for what it adds. Byte
// buffers get slack behind n: the unpacking kernels read up to 16 bytes past their input.
func grow[T any](b *Budget, buf []T, n, keep int) ([]T, error) {
	const slack = 64
	if cap(buf) >= n+slack {
		return buf[:n], nil
	}
	var z T
	size := int64(unsafe.Sizeof(z))
	want := int64(n) + int64(n)/8 + slack
	if err := b.Reserve(want * size); err != nil {
		return buf, err
	}
	next := make([]T, want)
	copy(next, buf[:keep])
	b.Give(int64(cap(buf)) * size)
	return next[:n], nil
}
