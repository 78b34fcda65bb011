package pgfunc

import (
	"encoding/binary"
	"math"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
)

// The output functions of binary forms, by which people look at a value's bits.
func registerSend() {
	be := binary.BigEndian
	send := func(k types.Kind, name string, impl any) {
		eval.Register(eval.Immutable(name, eval.Sig(k), eval.TBytea, impl).NeverFails())
	}
	send(types.Bool, "boolsend", eval.Fn1(func(v bool) string {
		if v {
			return "\x01"
		}
		return "\x00"
	}))
	send(types.Int2, "int2send", eval.Fn1(func(v int64) string { return string(be.AppendUint16(nil, uint16(v))) }))
	send(types.Int4, "int4send", eval.Fn1(func(v int64) string { return string(be.AppendUint32(nil, uint32(v))) }))
	send(types.Int8, "int8send", eval.Fn1(func(v int64) string { return string(be.AppendUint64(nil, uint64(v))) }))
	send(types.Float4, "float4send", eval.Fn1(func(v float64) string {
		return string(be.AppendUint32(nil, math.Float32bits(float32(v))))
	}))
	send(types.Float8, "float8send", eval.Fn1(func(v float64) string { return string(be.AppendUint64(nil, math.Float64bits(v))) }))
	send(types.Text, "textsend", eval.Fn1(func(s string) string { return s }))
}
