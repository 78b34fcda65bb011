package eval

import (
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func init() {
	Register(
		op("||", sig(types.Text, types.Text), tText, Kernel(concatBytes)).total(),
		op("||", sig(types.Bytea, types.Bytea), tBytea, Kernel(concatBytes)).total(),
		op("||", sig(types.Text, types.AnyNonArray), tText, Kernel(concatAny)).stable(),
		op("||", sig(types.AnyNonArray, types.Text), tText, Kernel(concatAny)).stable(),
		op("~~", sig(types.Text, types.Text), tBool, likeOnce(false, false)).like(false, false),
		op("!~~", sig(types.Text, types.Text), tBool, likeOnce(true, false)).like(true, false),
		op("~~*", sig(types.Text, types.Text), tBool, likeOnce(false, true)).like(false, true),
		op("!~~*", sig(types.Text, types.Text), tBool, likeOnce(true, true)).like(true, true),
		op("~~", sig(types.Name, types.Text), tBool, likeOnce(false, false)).like(false, false),
		op("!~~", sig(types.Name, types.Text), tBool, likeOnce(true, false)).like(true, false),
		op("~~*", sig(types.Name, types.Text), tBool, likeOnce(false, true)).like(false, true),
		op("!~~*", sig(types.Name, types.Text), tBool, likeOnce(true, true)).like(true, true),
		op("~~", sig(types.Bpchar, types.Text), tBool, likeOnce(false, false)).like(false, false),
		op("!~~", sig(types.Bpchar, types.Text), tBool, likeOnce(true, false)).like(true, false),
		op("~~*", sig(types.Bpchar, types.Text), tBool, likeOnce(false, true)).like(false, true),
		op("!~~*", sig(types.Bpchar, types.Text), tBool, likeOnce(true, true)).like(true, true),
		op("~~", sig(types.Bytea, types.Bytea), tBool, likeOnce(false, false)).like(false, false),
		op("!~~", sig(types.Bytea, types.Bytea), tBool, likeOnce(true, false)).like(true, false),
		op("^@", sig(types.Text, types.Text), tBool, Fn2(func(s, p string) bool { return len(s) >= len(p) && s[:len(p)] == p })).total(),
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
	o := sessionText(c)
	eachRow(sel, n, func(i int) {
		at := len(out.Data)
		for _, a := range args {
			if a.Form == types.FormStr && a.Type.Kind != types.Numeric && a.Type.Kind != types.Bytea && a.Type.Kind != types.Bpchar && a.Type.Kind != types.Variant {
				vec.MustFit(len(out.Data) + len(a.Bytes(i)))
				out.Data = room.Text(out.Data, a.Bytes(i))
			} else {
				out.Data = appendAsText(out.Data, a.Datum(i), a.Type, o)
			}
		}
		out.Views[i] = vec.View{Off: uint32(at), Len: uint32(len(out.Data) - at)}
	})
	return nil
}

// appendAsText appends what a cast to text gives, which for two types is not their output.
func appendAsText(dst []byte, d types.Datum, t types.Type, o *types.TextOptions) []byte {
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
