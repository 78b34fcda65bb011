package parquet

import (
	"math"
	"strings"

	"github.com/lhsql/lhsql/internal/room"
	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// Role is what a part of a variant is (VariantShredding.md).
type Role uint8

const (
	NoRole     Role = iota // no part of one
	Metadata               // the keys of its objects
	WholeValue             // a value in binary: what is not in typed columns
	TypedValue             // the same in columns of its type
)

// VariantSpec says how to read node n as a variant: metadata, and beside it a value, a typed
// value or both; nil: n is none. The typed value's objects and arrays hold such pairs again.
func VariantSpec(n *Node) (*Spec, error) {
	s := &Spec{Kind: Variant, Type: types.T(types.Variant), Node: n}
	var meta *Node
	for _, c := range n.Children {
		if strings.EqualFold(c.Name, "metadata") {
			meta = c
		}
	}
	if meta == nil || !bytesLeaf(meta) {
		return nil, nil
	}
	s.Children = []*Spec{{Kind: Value, Type: types.T(types.Bytea), Node: meta, Role: Metadata}}
	rest, err := pairSpec(n, true)
	if rest == nil || err != nil {
		return nil, err
	}
	s.Children = append(s.Children, rest.Children...)
	return s, nil
}

func bytesLeaf(n *Node) bool {
	return n.IsLeaf() && n.Phys == ByteArray && n.Repetition != Repeated
}

// pairSpec is for a group of value and typed value; nil: n is none. The outermost one has the
// metadata, too.
func pairSpec(n *Node, outer bool) (*Spec, error) {
	if n.IsLeaf() {
		return nil, nil
	}
	s := &Spec{Kind: Struct, Node: n, Name: n.Name}
	var fields []types.Field
	for _, c := range n.Children {
		var k *Spec
		switch name := strings.ToLower(c.Name); {
		case name == "metadata" && outer:
			continue
		case name == "value" && bytesLeaf(c):
			k = &Spec{Kind: Value, Type: types.T(types.Bytea), Node: c, Role: WholeValue}
		case name == "typed_value":
			var err error
			if k, err = typedSpec(c); k == nil || err != nil {
				return nil, err
			}
			k.Role = TypedValue
		default:
			return nil, nil
		}
		s.Children = append(s.Children, k)
		fields = append(fields, types.Field{Name: c.Name, Type: k.Type})
	}
	if len(s.Children) == 0 {
		return nil, nil
	}
	s.Type = types.StructOf(fields...)
	return s, nil
}

// typedSpec is for a typed value: a leaf, a list of pairs, or a group of pairs by key.
func typedSpec(n *Node) (*Spec, error) {
	if n.Repetition == Repeated {
		return nil, nil
	}
	if n.IsLeaf() {
		t, ok := variantType(n)
		if !ok {
			return nil, unsupported("a shredded variant's column of %s has no type that variants have", n.Phys)
		}
		_, err := ConversionFor(n, t)
		return &Spec{Kind: Value, Type: t, Node: n}, err
	}
	if n.Logic == ListLogic {
		if len(n.Children) != 1 || n.Children[0].Repetition != Repeated || n.Children[0].IsLeaf() || len(n.Children[0].Children) != 1 {
			return nil, nil
		}
		rep := n.Children[0]
		elem, err := pairSpec(rep.Children[0], false)
		if elem == nil || err != nil {
			return nil, err
		}
		return &Spec{Kind: List, Type: types.ArrayOf(elem.Type), Node: n, Repeated: rep, Children: []*Spec{elem}}, nil
	}
	s := &Spec{Kind: Struct, Node: n}
	var fields []types.Field
	for _, c := range n.Children {
		k, err := pairSpec(c, false)
		if k == nil || err != nil {
			return nil, err
		}
		s.Children = append(s.Children, k)
		fields = append(fields, types.Field{Name: c.Name, Type: k.Type})
	}
	s.Type = types.StructOf(fields...)
	return s, nil
}

// variantType is the type of a shredded leaf (VariantShredding.md, "Shredded Value Types").
func variantType(n *Node) (types.Type, bool) {
	k := types.Invalid
	switch {
	case n.Logic == DecimalLogic && n.Precision <= 38:
		return types.DecimalType(n.Precision, n.Scale), n.Scale <= n.Precision
	case n.Phys == Boolean:
		k = types.Bool
	case n.Phys == Int32 && plainInteger(n) && !n.Unsigned:
		k = types.Int4
		if n.Bits == 8 || n.Bits == 16 {
			k = types.Int2
		}
	case n.Phys == Int64 && plainInteger(n) && !n.Unsigned:
		k = types.Int8
	case n.Phys == Int32 && n.Logic == DateLogic:
		k = types.Date
	case n.Phys == Int64 && n.Logic == TimeLogic && n.Unit == Micros:
		k = types.Time
	case n.Phys == Int64 && n.Logic == TimestampLogic && n.Unit != Millis:
		switch {
		case n.Unit == Nanos && n.UTC:
			k = types.TimestampTZNS
		case n.Unit == Nanos:
			k = types.TimestampNS
		case n.UTC:
			k = types.TimestampTZ
		default:
			k = types.Timestamp
		}
	case n.Phys == Float && n.Logic == NoLogic:
		k = types.Float4
	case n.Phys == Double && n.Logic == NoLogic:
		k = types.Float8
	case n.Phys == ByteArray && n.Logic == StringLogic:
		k = types.Text
	case n.Phys == ByteArray && n.Logic == NoLogic:
		k = types.Bytea
	case n.Phys == FixedLen && n.Logic == UUIDLogic && n.TypeLen == 16:
		k = types.UUID
	}
	return types.T(k), k != types.Invalid
}

// variant puts variants together of their parts: the metadata, then the value (types.Variant).
func (c *nested) variant(b *builder, R, D, n int) (*vec.Vector, error) {
	valid, _, err := c.validity(b, R, D, b.spec.Node.MaxDef, n)
	if err != nil {
		return nil, err
	}
	parts := make([]*vec.Vector, len(b.children))
	for i, k := range b.children {
		if parts[i], err = c.vector(k, R, D, n); err != nil {
			return nil, err
		}
	}
	b.text = b.text[:0]
	if b.views, err = grow(c.r.budget, b.views, n, 0); err != nil {
		return nil, err
	}
	whole := len(parts) == 2 && b.spec.Children[1].Role == WholeValue
	budgeted := 0
	for i := range b.views {
		b.views[i] = vec.View{}
		if valid != nil && !valid.Get(i) {
			continue
		}
		if parts[0].Null(i) || whole && parts[1].Null(i) {
			return nil, corrupt("a variant lacks its metadata or value")
		}
		at := len(b.text)
		if whole {
			b.text = append(append(b.text, parts[0].Bytes(i)...), parts[1].Bytes(i)...)
			if meta, _, err := types.SplitVariant(room.String(b.text[at:])); err != nil {
				return nil, err
			} else if len(meta) != len(parts[0].Bytes(i)) {
				return nil, corrupt("a variant's metadata has %d bytes and says that it has %d", len(parts[0].Bytes(i)), len(meta))
			}
		} else {
			if err := b.keys.Use(string(parts[0].Bytes(i))); err != nil {
				return nil, err
			}
			value, there, err := pair(&b.keys, b.spec.Children[1:], parts[1:], i)
			if err != nil {
				return nil, err
			}
			if !there {
				value = variantNull // "readers must return a Variant null"
			}
			b.text = append(append(b.text, b.keys.Metadata()...), value...)
		}
		if len(b.text) > math.MaxInt32 {
			return nil, unsupported("more than 2 GiB of variants in one batch")
		}
		if err := types.CheckVariant(room.String(b.text[at:])); err != nil {
			return nil, err
		}
		if grown := cap(b.text) - budgeted; grown > 0 {
			if err := c.r.budget.Reserve(int64(grown)); err != nil {
				return nil, err
			}
			budgeted += grown
		}
		b.views[i] = vec.View{Off: uint32(at), Len: uint32(len(b.text) - at)}
	}
	c.r.budget.Give(int64(budgeted))
	b.out = vec.Vector{Type: b.spec.Type, Form: types.FormStr, Valid: valid, Views: b.views, Data: b.text}
	return &b.out, nil
}

var variantNull = []byte{0}

// pair is the value of row i of a value and a typed value, in binary; there is false where both
// are missing: an object does not have that member.
func pair(keys *types.VariantKeys, specs []*Spec, cols []*vec.Vector, i int) (b []byte, there bool, err error) {
	var whole []byte
	var typed *Spec
	var at *vec.Vector
	for k, s := range specs {
		if cols[k].Null(i) {
			continue
		}
		if s.Role == WholeValue {
			whole, there = cols[k].Bytes(i), true
		} else {
			typed, at = s, cols[k]
		}
	}
	if typed == nil {
		return whole, there, nil
	}
	if there && typed.Kind != Struct {
		return nil, false, corrupt("a shredded variant has both a value and a typed value")
	}
	switch typed.Kind {
	case Struct:
		b, err = objectOf(keys, typed, at, i, whole)
	case List:
		b, err = arrayOf(keys, typed, at, i)
	default:
		b, err = scalarOf(typed, at, i)
	}
	return b, true, err
}

// objectOf puts a typed object together with the members that are not in columns.
func objectOf(keys *types.VariantKeys, s *Spec, v *vec.Vector, i int, whole []byte) ([]byte, error) {
	var names []string
	var values [][]byte
	f, r := v.Values(), v.Row(i)
	shredded := map[string]bool{}
	for k, m := range s.Children {
		shredded[m.Name] = true
		g := f.Children[k]
		if g.Null(r) {
			continue
		}
		value, there, err := pair(keys, m.Children, g.Values().Children, g.Row(r))
		if err != nil {
			return nil, err
		}
		if there {
			names, values = append(names, m.Name), append(values, value)
		}
	}
	if whole != nil {
		others, at, ok, err := keys.Members(string(whole))
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, corrupt("a shredded variant's typed value is an object, and its value none")
		}
		for k, name := range others {
			if !shredded[name] {
				names, values = append(names, name), append(values, []byte(at[k]))
			}
		}
	}
	return keys.AppendVariantObject(nil, names, values), nil
}

func arrayOf(keys *types.VariantKeys, s *Spec, v *vec.Vector, i int) ([]byte, error) {
	f, r := v.Values(), v.Row(i)
	var values [][]byte
	elem := s.Children[0]
	for k := int(f.Offsets[r]); k < int(f.Offsets[r+1]); k++ {
		value := variantNull
		if !f.Child.Null(k) {
			e, there, err := pair(keys, elem.Children, f.Child.Values().Children, f.Child.Row(k))
			if err != nil {
				return nil, err
			}
			if there {
				value = e
			}
		}
		values = append(values, value)
	}
	return types.AppendVariantArray(nil, values), nil
}

// scalarOf encodes a leaf's value in the width that its column has.
func scalarOf(s *Spec, v *vec.Vector, i int) ([]byte, error) {
	d := v.Datum(i)
	switch n := s.Node; {
	case s.Type.Kind == types.Numeric:
		w, ok := types.DecimalOf(d, v.Type).Int128()
		if !ok {
			return nil, corrupt("a shredded variant's decimal is larger than its type")
		}
		width := 16
		switch n.Phys {
		case Int32:
			width = 4
		case Int64:
			width = 8
		}
		return types.AppendVariantDecimal(nil, w, int(s.Type.Scale), width), nil
	case n.Bits == 8 && s.Type.Kind == types.Int2:
		return types.AppendVariantSized(nil, d.Int(), 1), nil
	}
	b, ok := types.AppendVariantDatum(nil, d, s.Type)
	if !ok {
		return nil, corrupt("a shredded variant's %s is outside of its type", s.Type)
	}
	return b, nil
}
