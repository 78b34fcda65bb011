package eval

import (
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// castJSON converts between json, jsonb, structs and maps, and from jsonb to numbers and
// booleans.
func castJSON(from, to types.Type) CastFunc {
	switch {
	case to.Kind == types.JSON || to.Kind == types.JSONB:
		return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			o := SessionText(c)
			return PutDatums(out, sel, rows, func(i int) (types.Datum, error) {
				d := in.Datum(i)
				text := d.Str()
				if from.Form() != types.FormStr {
					text = room.String(types.AppendJSON(nil, d, from, o, true))
				}
				if to.Kind == types.JSON {
					return types.NewStr(text), nil
				}
				s, err := types.CanonicalJSON(text, c.MustLive)
				return types.NewStr(s), err
			})
		}
	case to.Form() == types.FormStruct || to.Form() == types.FormList:
		return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
			o := SessionText(c)
			return PutDatums(out, sel, rows, func(i int) (types.Datum, error) {
				v, err := types.ParseJSON(string(in.Bytes(i)), c.MustLive)
				if err != nil {
					return types.Null, err
				}
				return types.FromJSON(&v, to, o)
			})
		}
	}
	return func(c *Ctx, in *vec.Vector, sel []uint16, rows int, out *vec.Vector) error {
		return PutDatums(out, sel, rows, func(i int) (types.Datum, error) { return jsonScalar(string(in.Bytes(i)), to) })
	}
}

var jsonKindNames = [...]string{
	types.JSONNull: "null", types.JSONBool: "boolean", types.JSONNumber: "numeric",
	types.JSONString: "string", types.JSONArray: "array", types.JSONObject: "object",
}

// jsonScalar is a jsonb number or boolean as a value of to.
func jsonScalar(text string, to types.Type) (types.Datum, error) {
	v, err := types.ParseJSON(text)
	if err != nil {
		return types.Null, err
	}
	switch {
	case v.Kind == types.JSONBool && to.Kind == types.Bool:
		return types.NewBool(v.Bool), nil
	case v.Kind == types.JSONNumber && to.Kind != types.Bool:
		d, err := types.ParseDecimal(v.Text)
		if err != nil {
			return types.Null, err
		}
		return d.Datum(to)
	}
	return types.Null, sqlerr.New(sqlerr.InvalidParameterValue, "cannot cast jsonb %s to type %s", jsonKindNames[v.Kind], spell(to))
}
