package aggregate

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

func registerText() {
	ordered := func(f func(c *eval.Ctx, call eval.AggCall) eval.AggState) *eval.AggImpl {
		return &eval.AggImpl{Ordered: true, New: func(c *eval.Ctx, call eval.AggCall) (eval.AggState, error) { return f(c, call), nil }}
	}
	joined := ordered(func(*eval.Ctx, eval.AggCall) eval.AggState { return &stringAgg{} })
	list := func(jsonb bool) *eval.AggImpl {
		return ordered(func(c *eval.Ctx, call eval.AggCall) eval.AggState {
			return &jsonAgg{jsonb: jsonb, opts: eval.SessionText(c), types: call.Args}
		})
	}
	eval.Register(
		eval.Immutable("string_agg", eval.Sig(types.Text, types.Text), eval.TText, joined).CalledOnNull(),
		eval.Immutable("string_agg", eval.Sig(types.Bytea, types.Bytea), eval.TBytea, joined).CalledOnNull(),
		eval.Stable("json_agg", eval.Sig(types.AnyElement), eval.TJSON, list(false)).CalledOnNull(),
		eval.Stable("jsonb_agg", eval.Sig(types.AnyElement), eval.TJSONB, list(true)).CalledOnNull(),
		eval.Stable("json_object_agg", eval.Sig(types.Any, types.Any), eval.TJSON, list(false)).CalledOnNull(),
		eval.Stable("jsonb_object_agg", eval.Sig(types.Any, types.Any), eval.TJSONB, list(true)).CalledOnNull(),
	)
}

// pieces builds one text per group.
type pieces struct {
	buf  [][]byte
	seen []bool
	held int64
}

func (s *pieces) Grow(n int)   { s.buf, s.seen = grow(s.buf, n), grow(s.seen, n) }
func (s *pieces) Bytes() int64 { return s.held + int64(cap(s.buf))*24 + int64(cap(s.seen)) }

func (s *pieces) set(g uint32, b []byte) {
	s.held += int64(cap(b) - cap(s.buf[g]))
	s.buf[g], s.seen[g] = b, true
}

// stringAgg joins values; each row's separator stands before its value, the first's is not
// used. To merge, the first separator of each group is kept.
type stringAgg struct {
	pieces
	first [][]byte
}

func (s *stringAgg) Grow(n int) {
	s.pieces.Grow(n)
	s.first = grow(s.first, n)
}

func (s *stringAgg) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	v, sep := args[0], args[1]
	return eachGrouped(v, sel, rows, groups, func(i int, g uint32) error {
		var by []byte
		if !sep.Null(i) {
			by = sep.Bytes(i)
		}
		b := s.buf[g]
		if s.seen[g] {
			b = room.Text(b, by)
		} else {
			s.first[g] = append([]byte(nil), by...)
		}
		b = room.Text(b, v.Bytes(i))
		if len(b) > eval.MaxString() {
			return eval.ErrTooLong()
		}
		s.set(g, b)
		return nil
	})
}

func (s *stringAgg) Merge(other eval.AggState, into []uint32) error {
	o := other.(*stringAgg)
	for i, g := range into {
		if !o.seen[i] {
			continue
		}
		b := s.buf[g]
		if s.seen[g] {
			b = room.Text(b, o.first[i])
		} else {
			s.first[g] = o.first[i]
		}
		s.set(g, room.Text(b, o.buf[i]))
	}
	return nil
}

func (s *stringAgg) Result(from, to int, out *vec.Vector) error {
	eval.OutStr(out, to-from)
	for g := from; g < to; g++ {
		eval.PutBytes(out, g-from, s.buf[g])
	}
	nullUnseen(s.seen, from, to, out)
	return nil
}

// jsonAgg is json_agg of one argument and json_object_agg of two, and their jsonb kin.
type jsonAgg struct {
	pieces
	jsonb bool
	opts  *types.TextOptions
	types []types.Type
}

func (s *jsonAgg) object() bool { return len(s.types) == 2 }

func (s *jsonAgg) Update(args []*vec.Vector, sel []uint16, rows int, groups []uint32) error {
	last := len(args) - 1
	return eachGrouped(nil, sel, rows, groups, func(i int, g uint32) error {
		b := room.Grow(s.buf[g], 16)
		value, t := args[last].Datum(i), s.types[last]
		switch {
		case s.object():
			if args[0].Null(i) {
				return sqlerr.New(sqlerr.InvalidParameterValue, "field name must not be null")
			}
			if s.seen[g] {
				b = append(b, ", "...)
			} else {
				b = append(b, "{ "...)
			}
			key := types.Format(args[0].Datum(i), s.types[0], s.opts)
			if s.types[0].Kind == types.Bool {
				key = map[string]string{"t": "true", "f": "false"}[key]
			}
			b = types.AppendJSONString(b, key)
			b = append(b, " : "...)
		case !s.seen[g]:
			b = append(b, '[')
		default:
			b = append(b, ", "...)
			// PostgreSQL gives each of several arrays or rows a line of its own.
			if f := t.Form(); !s.jsonb && !value.IsNull() && (f == types.FormList || f == types.FormStruct) {
				b = append(b, "\n "...)
			}
		}
		b = types.AppendJSON(b, value, t, s.opts, s.jsonb)
		if len(b) > eval.MaxString() {
			return eval.ErrTooLong()
		}
		s.set(g, b)
		return nil
	})
}

// hasKeys tells whether values of t may become JSON objects whose keys are not in jsonb's order.
func hasKeys(t types.Type) bool {
	for t.Kind == types.Array {
		t = t.Elem()
	}
	return t.Kind == types.Struct || t.Kind == types.Map
}

func (s *jsonAgg) Merge(other eval.AggState, into []uint32) error {
	o := other.(*jsonAgg)
	skip := len("[")
	if s.object() {
		skip = len("{ ")
	}
	for i, g := range into {
		switch {
		case !o.seen[i]:
		case s.seen[g]:
			b := append(room.Grow(s.buf[g], 2), ", "...)
			s.set(g, room.Text(b, o.buf[i][skip:]))
		default:
			s.set(g, o.buf[i])
		}
	}
	return nil
}

func (s *jsonAgg) Result(from, to int, out *vec.Vector) error {
	end := "]"
	if s.object() {
		end = " }"
	}
	return putResults(from, to, out, func(g int) (types.Datum, error) {
		if !s.seen[g] {
			return types.Null, nil
		}
		// More rows may come: the state does not end here, and its text is copied before they do.
		text := room.String(room.Text(s.buf[g], end))
		// An array of jsonb's texts is jsonb's text; an object's keys are still to be sorted.
		if !s.jsonb || !s.object() && !hasKeys(s.types[0]) {
			return types.NewStr(text), nil
		}
		text, err := types.CanonicalJSON(text)
		return types.NewStr(text), err
	})
}
