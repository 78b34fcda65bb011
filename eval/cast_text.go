package eval

import (
	"bytes"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// castFromText reads each row with to's input function.
func castFromText(from, to types.Type) CastFunc {
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		o := SessionText(c)
		text := reader[string](in)
		switch to.Kind {
		case types.Int2, types.Int4, types.Int8:
			dst := OutI64(out, rows)
			return EachRow(sel, rows, func(i int) (err error) {
				dst[i], err = types.ParseInt(text(i), to.Kind)
				return err
			})
		case types.Float4, types.Float8:
			dst := OutF64(out, rows)
			return EachRow(sel, rows, func(i int) (err error) {
				dst[i], err = types.ParseFloat(text(i), to.Kind)
				return err
			})
		case types.Date:
			dst := OutI64(out, rows)
			return EachRow(sel, rows, func(i int) (err error) {
				dst[i], err = types.ParseDate(text(i), o)
				return err
			})
		case types.Timestamp:
			dst := OutI64(out, rows)
			return EachRow(sel, rows, func(i int) (err error) {
				dst[i], err = types.ParseTimestamp(text(i), o)
				return err
			})
		}
		return PutDatums(out, sel, rows, live(c, func(i int) (types.Datum, error) { return types.Parse(text(i), to, o) }))
	}
}

// castToString gives each row's text, as the cast to text has it, fitted to to's length.
func castToString(from, to types.Type, ctx plan.CastContext) CastFunc {
	if from.Kind == types.Int4 && to.Kind == types.Char {
		return castIntToChar
	}
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		write := textWriter(c, from, to, in)
		OutStr(out, rows)
		return EachRow(sel, rows, func(i int) error {
			if i&15 == 0 {
				if err := c.Alive(); err != nil {
					return err
				}
			}
			at := len(out.Data)
			out.Data = write(out.Data, i)
			switch {
			case to.Kind == types.Char && len(out.Data) > at+1:
				out.Data = out.Data[:at+1]
			case to.Kind == types.Name && len(out.Data) > at+63:
				d, _ := types.Parse(string(out.Data[at:]), to, nil)
				out.Data = append(out.Data[:at], d.Str()...)
			case to.Prec > 0 && (to.Kind == types.Bpchar || len(out.Data)-at > int(to.Prec)):
				// Up to Prec bytes are no more than Prec characters.
				s, err := types.FitLength(string(out.Data[at:]), to, ctx == plan.Explicit)
				if err != nil {
					return err
				}
				out.Data = append(out.Data[:at], s...)
			}
			out.Views[i] = vec.View{Off: uint32(at), Len: uint32(len(out.Data) - at)}
			return nil
		})
	}
}

// textWriter appends row i's text.
func textWriter(c *Ctx, from, to types.Type, in *vec.Vector) func(dst []byte, i int) []byte {
	switch from.Kind {
	case types.Text, types.Varchar, types.Name, types.JSON, types.JSONB, types.JSONPath, types.Unknown:
		return func(dst []byte, i int) []byte { return room.Text(dst, in.Bytes(i)) }
	case types.Bpchar:
		if to.Kind == types.Char {
			break // its first character, though it be padding
		}
		return func(dst []byte, i int) []byte { return room.Text(dst, bytes.TrimRight(in.Bytes(i), " ")) }
	case types.Bool:
		if to.Kind == types.Name {
			break
		}
		// The cast says true where the output function says t.
		return func(dst []byte, i int) []byte {
			if in.Values().Bools[in.Row(i)] {
				return append(dst, "true"...)
			}
			return append(dst, "false"...)
		}
	case types.Numeric:
		return func(dst []byte, i int) []byte {
			f, r := in.Values(), in.Row(i)
			switch f.Form {
			case types.FormI64:
				return types.AppendDecimal64(dst, f.I64[r], int(f.Type.Scale))
			case types.FormW128:
				return types.AppendDecimal128(dst, f.W128[r], int(f.Type.Scale))
			}
			return DecimalAt(in, i).AppendText(dst)
		}
	}
	o := SessionText(c)
	return func(dst []byte, i int) []byte { return types.AppendText(dst, in.Datum(i), from, o) }
}

func castIntToChar(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
	return put(out, sel, rows, func(i int) (string, error) {
		v := in.Values().I64[in.Row(i)]
		switch {
		case v < -128 || v > 127:
			return "", sqlerr.New(sqlerr.NumericOutOfRange, "\"char\" out of range")
		case v == 0:
			return "", nil
		}
		return string([]byte{byte(v)}), nil
	})
}

func castCharToInt(_ *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
	return put(out, sel, rows, func(i int) (int64, error) {
		if b := in.Bytes(i); len(b) > 0 {
			return int64(int8(b[0])), nil
		}
		return 0, nil
	})
}
