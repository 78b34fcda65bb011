package vec

import (
	"math"
	"sync/atomic"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// MaxValue is how long a string value may be (PostgreSQL's MaxAllocSize).
const MaxValue = 1 << 30

var byteLimit atomic.Int64

func init() { byteLimit.Store(MaxValue) }

// SetByteLimit says how many bytes one value, or the strings that functions make for one batch,
// may take in this process; MaxValue at most.
func SetByteLimit(n int64) { byteLimit.Store(min(max(n, 1<<20), MaxValue)) }

// ByteLimit is what SetByteLimit said.
func ByteLimit() int { return int(byteLimit.Load()) }

// CheckBytes fails when a value or a batch of them would take n bytes and may not.
func CheckBytes(n int) error {
	switch {
	case n > MaxValue:
		return sqlerr.New(sqlerr.ProgramLimitExceeded, "requested length too large")
	case n > ByteLimit():
		return sqlerr.New(sqlerr.OutOfMemory, "out of memory").
			WithDetail("Values of %d MB are made at once; the server's memory allows %d MB.", n>>20, ByteLimit()>>20)
	}
	return nil
}

// MustFit panics with CheckBytes's error: the way out of kernels, which append without failing.
// Whoever runs kernels recovers errors of the user's as what they are.
func MustFit(n int) {
	if n > ByteLimit() {
		panic(CheckBytes(n))
	}
}

// mustIndex panics with an error when offsets of 32 bits cannot count n.
func mustIndex(n int) {
	if n > math.MaxUint32 {
		panic(sqlerr.New(sqlerr.ProgramLimitExceeded, "the values of one batch are too large together"))
	}
}
