package maintain

import (
	"encoding/binary"
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
)

// A Z-order key interleaves the bits of several values, so that rows that are near in all of them
// lie near each other:
//
//	a = a7 a6 a5 …   b = b7 b6 b5 …   →   a7 b7 a6 b6 a5 b5 …
//
// Each value first becomes eight bytes whose order as bytes is its own (as Spark's action has it):
// whole numbers with the sign turned, floating point by its bits, text by its first bytes. NULL is
// zeros.

// zorderBytes is what each value gives.
const zorderBytes = 8

func zorderable(t types.Type) bool {
	switch t.Kind {
	case types.Bool, types.Int2, types.Int4, types.Int8, types.Float4, types.Float8, types.Numeric, types.Date, types.Time,
		types.Timestamp, types.TimestampTZ, types.TimestampNS, types.TimestampTZNS, types.Text, types.Varchar, types.Bpchar, types.Bytea, types.UUID:
		return true
	}
	return false
}

// zorderOf is the key of some values, as bytes.
func zorderOf(args []plan.Expr) plan.Expr {
	in := make([]types.Type, len(args))
	for i, a := range args {
		in[i] = a.Type()
	}
	fn := eval.NewRowFunction("zorder", in, types.T(types.Bytea), func(_ *eval.Ctx, v []types.Datum) (types.Datum, error) {
		return types.NewStr(string(zorder(v, in))), nil
	})
	fn.Strict = false
	return &plan.Call{Func: fn, Args: args, Typ: types.T(types.Bytea), Pos: -1}
}

func zorder(v []types.Datum, in []types.Type) []byte {
	words := make([]uint64, len(v))
	for i := range v {
		words[i] = ordered(v[i], in[i])
	}
	out := make([]byte, zorderBytes*len(v))
	at := 0
	for bit := 63; bit >= 0; bit-- {
		for _, w := range words {
			out[at>>3] |= byte(w>>bit&1) << (7 - at&7)
			at++
		}
	}
	return out
}

// ordered is eight bytes of a value: a < b gives ordered(a) ≤ ordered(b).
func ordered(d types.Datum, t types.Type) uint64 {
	if d.IsNull() {
		return 0
	}
	switch t.Kind {
	case types.Bool:
		if d.Bool() {
			return 0x81 << 56
		}
		return 0x80 << 56
	case types.Float4, types.Float8:
		return orderedFloat(d.Float())
	case types.Numeric:
		return orderedFloat(types.DecimalOf(d, t).Float64())
	case types.Text, types.Varchar, types.Bpchar, types.Bytea:
		return firstBytes([]byte(d.Str()))
	case types.UUID:
		return uint64(d.W128().Hi)
	}
	return uint64(d.Int()) ^ 1<<63
}

func orderedFloat(f float64) uint64 {
	b := math.Float64bits(f)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func firstBytes(s []byte) uint64 {
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}
