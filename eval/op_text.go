package eval

import (
	"encoding/binary"
	"unicode/utf8"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// CountRunes is utf8.RuneCount, eight bytes at a time as long as all are ASCII.
func CountRunes(b []byte) int {
	n := 0
	for ; n+8 <= len(b); n += 8 {
		if binary.LittleEndian.Uint64(b[n:])&0x8080808080808080 != 0 {
			break
		}
	}
	return n + utf8.RuneCount(b[n:])
}

func registerOpText() {
	Register(
		Op("||", Sig(types.Text, types.Text), TText, Kernel(concatBytes)).NeverFails(),
		Op("||", Sig(types.Bytea, types.Bytea), TBytea, Kernel(concatBytes)).NeverFails(),
		Op("||", Sig(types.Text, types.AnyNonArray), TText, Kernel(concatAny)).stable(),
		Op("||", Sig(types.AnyNonArray, types.Text), TText, Kernel(concatAny)).stable(),
		Op("~~", Sig(types.Text, types.Text), TBool, likeOnce(false, false)).like(false, false),
		Op("!~~", Sig(types.Text, types.Text), TBool, likeOnce(true, false)).like(true, false),
		Op("~~*", Sig(types.Text, types.Text), TBool, likeOnce(false, true)).like(false, true),
		Op("!~~*", Sig(types.Text, types.Text), TBool, likeOnce(true, true)).like(true, true),
		Op("~~", Sig(types.Name, types.Text), TBool, likeOnce(false, false)).like(false, false),
		Op("!~~", Sig(types.Name, types.Text), TBool, likeOnce(true, false)).like(true, false),
		Op("~~*", Sig(types.Name, types.Text), TBool, likeOnce(false, true)).like(false, true),
		Op("!~~*", Sig(types.Name, types.Text), TBool, likeOnce(true, true)).like(true, true),
		Op("~~", Sig(types.Bpchar, types.Text), TBool, likeOnce(false, false)).like(false, false),
		Op("!~~", Sig(types.Bpchar, types.Text), TBool, likeOnce(true, false)).like(true, false),
		Op("~~*", Sig(types.Bpchar, types.Text), TBool, likeOnce(false, true)).like(false, true),
		Op("!~~*", Sig(types.Bpchar, types.Text), TBool, likeOnce(true, true)).like(true, true),
		Op("~~", Sig(types.Bytea, types.Bytea), TBool, likeOnce(false, false)).like(false, false),
		Op("!~~", Sig(types.Bytea, types.Bytea), TBool, likeOnce(true, false)).like(true, false),
		Op("^@", Sig(types.Text, types.Text), TBool, Fn2(func(s, p string) bool { return len(s) >= len(p) && s[:len(p)] == p })).NeverFails(),
	)
}

func concatBytes(_ *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	OutStr(out, n)
	a, b := args[0], args[1]
	eachRow(sel, n, func(i int) {
		at := len(out.Data)
		vec.MustFit(len(out.Data) + len(a.Bytes(i)) + len(b.Bytes(i)))
		out.Data = room.Grow(out.Data, len(a.Bytes(i))+len(b.Bytes(i)))
		out.Data = append(append(out.Data, a.Bytes(i)...), b.Bytes(i)...)
		out.Views[i] = vec.View{Off: uint32(at), Len: uint32(len(out.Data) - at)}
	})
	return nil
}

// concatAny joins text with another type's text.
func concatAny(c *Ctx, args []*vec.Vector, sel []uint16, n int, out *vec.Vector) error {
	OutStr(out, n)
	o := SessionText(c)
	eachRow(sel, n, func(i int) {
		at := len(out.Data)
		for _, a := range args {
			if a.Form == types.FormStr && a.Type.Kind != types.Numeric && a.Type.Kind != types.Bytea && a.Type.Kind != types.Bpchar && a.Type.Kind != types.Variant {
				vec.MustFit(len(out.Data) + len(a.Bytes(i)))
				out.Data = room.Text(out.Data, a.Bytes(i))
			} else {
				out.Data = AppendAsText(out.Data, a.Datum(i), a.Type, o)
			}
		}
		out.Views[i] = vec.View{Off: uint32(at), Len: uint32(len(out.Data) - at)}
	})
	return nil
}

// AppendAsText appends what a cast to text gives, which for two types is not their output.
func AppendAsText(dst []byte, d types.Datum, t types.Type, o *types.TextOptions) []byte {
	switch t.Kind {
	case types.Bool:
		if d.Bool() {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case types.Bpchar:
		return append(dst, trimPad([]byte(d.Str()))...)
	}
	return types.AppendText(dst, d, t, o)
}
