// Package vec answers: how do many values of one column lie in memory, and how do operators
// hand them to each other?
//
// A Vector is a column slice without Go pointers to single values, so that the garbage
// collector never walks data (string headers at 1 GB live cost 981 ms a cycle, measured). A
// Batch is a set of vectors with an optional selection. A Source yields batches. This package
// refuses to know where batches come from (scan, exec) and what is computed on them (eval).
package vec

import (
	"sync/atomic"

	"github.com/lhsql/lhsql/types"
)

// BatchRows is the usual number of rows of a batch: 16 KiB a column of int64 stays in L1/L2.
const BatchRows = 2048

// MaxBatchRows bounds Batch.Rows: a selection index is a uint16.
const MaxBatchRows = 1 << 16

// Enc is how a Vector stores its values.
type Enc uint8

const (
	Flat  Enc = iota // one value per row
	Const            // row 0 stands for every row
	Dict             // Codes index into Dictionary, which is Flat
)

// View is one string in a Vector's Data: Data[Off : Off+Len].
type View struct{ Off, Len uint32 }

// Vector is one column of a batch. Exactly one of the value slices is set, as Form says.
//
// Numeric vectors: Form FormI64 and FormW128 hold value·10^Type.Scale and need Type.Fixed;
// FormStr holds types.Decimal encodings, each value with its own scale, and is allowed for
// every Numeric. A producer may choose the form batch by batch; consumers must handle all three.
type Vector struct {
	Type types.Type
	Form types.Form
	Enc  Enc

	// Valid has bit i set where row i is not NULL; nil: no NULLs. For Const only bit 0 counts.
	// For Dict it is per row; the Dictionary itself has no NULLs.
	Valid Bitmap

	Bools []bool
	I64   []int64
	F64   []float64
	W128  []types.Int128
	Views []View // FormStr, with Data
	Data  []byte

	// FormList: row i holds Child's rows [Offsets[i], Offsets[i+1]). len(Offsets) = rows+1.
	// A Map's Child is a struct vector of two members, key and value.
	Offsets []uint32
	Child   *Vector
	// FormStruct: one vector per member, each as long as this vector. A NULL struct's members
	// are meaningless.
	Children []*Vector

	// Enc Dict.
	Codes      []uint32
	Dictionary *Vector

	// DictID, set on a Dictionary, names its content: two with the same DictID, not 0, hold the
	// same values, so that what was computed on one serves the other. See NewDictID.
	DictID uint64
}

var lastDictID atomic.Uint64

// NewDictID gives an identity to a dictionary that will not change any more.
func NewDictID() uint64 { return lastDictID.Add(1) }

// Bitmap is a bit per row, least significant first.
type Bitmap []uint64

// Get tells bit i. A nil Bitmap has every bit set.
func (b Bitmap) Get(i int) bool { return b == nil || b[i>>6]>>(i&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (i & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (i & 63) }

// NewBitmap makes a bitmap of n bits, all set or all clear.
func NewBitmap(n int, set bool) Bitmap {
	b := make(Bitmap, (n+63)/64)
	if set {
		for i := range b {
			b[i] = ^uint64(0)
		}
	}
	return b
}

// Row gives the index of row i's value in the value slices of v's Flat form (the Dictionary's
// for Dict): i for Flat, 0 for Const, the code for Dict.
func (v *Vector) Row(i int) int {
	switch v.Enc {
	case Const:
		return 0
	case Dict:
		return int(v.Codes[i])
	}
	return i
}

// Null tells whether row i is NULL.
func (v *Vector) Null(i int) bool {
	if v.Valid == nil {
		return false
	}
	if v.Enc == Const {
		return !v.Valid.Get(0)
	}
	return !v.Valid.Get(i)
}

// Values gives the vector that holds the values which Row indexes: v itself, or its Dictionary.
func (v *Vector) Values() *Vector {
	if v.Enc == Dict {
		return v.Dictionary
	}
	return v
}

// Bytes is row i's string; valid as long as the vector is.
func (v *Vector) Bytes(i int) []byte {
	f := v.Values()
	w := f.Views[v.Row(i)]
	return f.Data[w.Off : w.Off+w.Len : w.Off+w.Len]
}
