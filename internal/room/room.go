// Package room answers: is there memory for what is about to be made?
//
// Accounts (exec.Account) count what operators hold, so that they share and spill. But a value, a
// tree or a list can be large before any operator holds it: a text made of a short one, a JSON
// document's tree, the statement's own. Whoever makes something whose size data or a text decides
// asks here before it allocates: Take for what is known to be large, Grow, Append and Builder for
// what grows, Check in loops that make many small things. The process decides by the memory that
// it really has (engine's governor); one that nobody watches has no limit.
//
// What is asked from code that cannot fail, such as a kernel's inner loop, panics with the error.
// Whoever runs such code recovers errors of the user's as what they are.
package room

import (
	"fmt"
	"io"
	"sync/atomic"
	"unicode/utf8"
	"unsafe"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// Grain is the size from which on allocations are asked for; below it they are the watcher's
// affair, who sees them in time.
const Grain = 1 << 20

var (
	asked atomic.Pointer[func(n int64) error]
	short atomic.Bool
)

// Ask installs what decides: f says whether n more bytes may be allocated now. nil: always.
func Ask(f func(n int64) error) {
	if f == nil {
		asked.Store(nil)
		return
	}
	asked.Store(&f)
}

// Short tells that the process is beyond its memory: Check fails until it is told otherwise.
func Short(on bool) { short.Store(on) }

// Error is what a statement ends with for which there is no room.
func Error() *sqlerr.Error {
	return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
		WithDetail("The server's memory has no room for what this statement makes.").
		WithHint("Raise the memory limit, or reduce the size of single values, groups or statements.")
}

// Take fails with 53200 when there is no room for n bytes. Call it before they are allocated, and
// allocate soon.
func Take(n int) error {
	if n < Grain {
		return nil
	}
	if f := asked.Load(); f != nil {
		return (*f)(int64(n))
	}
	return nil
}

// Must is Take that panics with the error.
func Must(n int) {
	if n >= Grain {
		if err := Take(n); err != nil {
			panic(err)
		}
	}
}

// Check fails when the process is beyond its memory. It costs next to nothing: for loops that make
// many small things.
func Check() error {
	if short.Load() {
		return Error()
	}
	return nil
}

// Grow is s with room for n more elements. It panics with 53200 where there is none.
func Grow[S ~[]E, E any](s S, n int) S {
	if cap(s)-len(s) >= n {
		return s
	}
	return enlarge(s, n)
}

// Append is append(s, e) by way of Grow.
func Append[S ~[]E, E any](s S, e E) S {
	if len(s) == cap(s) {
		s = enlarge(s, 1)
	}
	return append(s, e)
}

// Text is append(b, s...) by way of Grow.
func Text[T ~string | ~[]byte](b []byte, s T) []byte {
	if cap(b)-len(b) < len(s) {
		b = enlarge(b, len(s))
	}
	return append(b, s...)
}

func enlarge[S ~[]E, E any](s S, n int) S {
	var e E
	size := int(unsafe.Sizeof(e))
	least := len(s) + n
	want := 2 * cap(s)
	if want*size > 16*Grain {
		want = cap(s) + cap(s)/4 // what is large grows with less to spare, as append does
	}
	want = max(want, least, 8)
	if want*size < Grain {
		return append(s[:len(s):len(s)], make(S, want-len(s))...)[:len(s)]
	}
	Must(want * size)
	t := make(S, len(s), want)
	copy(t, s)
	return t
}

// String is b as a string, without a copy: nobody may change b afterwards.
func String(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Builder builds a text, as strings.Builder does, and asks before it grows. It panics with 53200
// where there is no room. The zero Builder is empty.
type Builder struct{ b []byte }

// Grow makes room for n more bytes.
func (b *Builder) Grow(n int) { b.b = Grow(b.b, n) }

// Len is how many bytes have been written.
func (b *Builder) Len() int { return len(b.b) }

// WriteString appends s.
func (b *Builder) WriteString(s string) (int, error) {
	b.b = Text(b.b, s)
	return len(s), nil
}

// Write appends p.
func (b *Builder) Write(p []byte) (int, error) {
	b.b = Text(b.b, p)
	return len(p), nil
}

// WriteByte appends c.
func (b *Builder) WriteByte(c byte) error {
	b.b = append(Grow(b.b, 1), c)
	return nil
}

// WriteRune appends r in UTF-8.
func (b *Builder) WriteRune(r rune) (int, error) {
	n := len(b.b)
	b.b = utf8.AppendRune(Grow(b.b, 4), r)
	return len(b.b) - n, nil
}

// String is what was written; it stays as it is whatever is written later.
func (b *Builder) String() string { return String(b.b) }

// Reset empties b, whose text lives on where it was handed out.
func (b *Builder) Reset() { b.b = nil }

// ReadAll adds all of r to b, at most bytes of it. r says nothing of its length and may be a
// thousand times what was stored: memory is asked for as b grows.
func ReadAll(b []byte, r io.Reader, most int) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			more := max(64<<10, cap(b)/2)
			if err := Take(cap(b) + more); err != nil {
				return nil, err
			}
			b = append(make([]byte, 0, cap(b)+more), b...)
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		switch {
		case err == io.EOF:
			return b, nil
		case err != nil:
			return nil, err
		case len(b) > most:
			return nil, fmt.Errorf("it is larger than %d bytes", most)
		}
	}
}
