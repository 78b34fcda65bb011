package parquet

import (
	"strconv"
	"strings"

	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/types"
)

// physical is a Parquet physical type (parquet.thrift, Type).
type physical int32

const (
	physBool   physical = 0
	physInt32  physical = 1
	physInt64  physical = 2
	physFloat  physical = 4
	physDouble physical = 5
	physBytes  physical = 6
	physFixed  physical = 7
)

// node is one element of the file's schema.
type node struct {
	field    *lake.Field
	name     string
	optional bool
	maxDef   int // definition level of a value that is there
	maxRep   int
	kind     string // "leaf", "struct", "list", "map", "variant"
	leaf     *leaf
	children []*node
}

// build makes the node of a field below path and its leaves, in the schema's order.
func (w *Writer) build(f *lake.Field, path []string, def, rep int, optional bool) (*node, error) {
	n := &node{field: f, name: f.Name, optional: optional, maxRep: rep}
	if optional {
		def++
	}
	n.maxDef = def
	path = append(path[:len(path):len(path)], f.Name)
	child := func(c *lake.Field, p []string, def, rep int) error {
		m, err := w.build(c, p, def, rep, !c.Required)
		n.children = append(n.children, m)
		return err
	}
	switch f.Type.Kind {
	case types.Struct:
		if f.Iceberg != "struct" {
			return nil, unsupported(f)
		}
		n.kind = "struct"
		for i := range f.Children {
			if err := child(&f.Children[i], path, def, rep); err != nil {
				return nil, err
			}
		}
	case types.Array:
		n.kind = "list"
		e := f.Children[0]
		e.Name = "element"
		return n, child(&e, append(path, "list"), def+1, rep+1)
	case types.Map:
		n.kind = "map"
		k, v := f.Children[0], f.Children[1]
		k.Name, v.Name, k.Required = "key", "value", true
		p := append(path, "key_value")
		if err := child(&k, p, def+1, rep+1); err != nil {
			return nil, err
		}
		return n, child(&v, p, def+1, rep+1)
	case types.Variant:
		n.kind = "variant"
		for _, name := range []string{"metadata", "value"} {
			part := *f
			part.Name, part.Type, part.Iceberg = name, types.T(types.Bytea), "binary"
			m, err := w.build(&part, path, def, rep, false)
			if err != nil {
				return nil, err
			}
			m.leaf.part = true
			n.children = append(n.children, m)
		}
	default:
		n.kind = "leaf"
		l := &leaf{field: f, path: path, maxDef: uint8(def), maxRep: uint8(rep), opt: &w.opt}
		if !l.setType() {
			return nil, unsupported(f)
		}
		l.lo, l.hi, _ = lake.ValueRange(f.Iceberg)
		l.startChunk()
		n.leaf = l
		w.leaves = append(w.leaves, l)
	}
	return n, nil
}

// setType chooses the physical type of an Iceberg primitive (Iceberg spec, appendix A, Parquet).
func (l *leaf) setType() bool {
	switch ice := l.field.Iceberg; {
	case ice == "boolean":
		l.phys = physBool
	case ice == "int" || ice == "date":
		l.phys = physInt32
	case ice == "long" || ice == "time" || strings.HasPrefix(ice, "timestamp"):
		l.phys = physInt64
	case ice == "float":
		l.phys = physFloat
	case ice == "double":
		l.phys = physDouble
	case ice == "string" || ice == "binary":
		l.phys, l.text = physBytes, ice == "string"
	case ice == "uuid":
		l.phys, l.length, l.wide, l.unsigned = physFixed, 16, true, true
	case strings.HasPrefix(ice, "fixed["):
		n, err := strconv.Atoi(strings.TrimSuffix(ice[6:], "]"))
		if err != nil || n <= 0 {
			return false
		}
		l.phys, l.length = physFixed, n
	case strings.HasPrefix(ice, "decimal"):
		switch p := int(l.field.Type.Prec); {
		case p <= 9:
			l.phys = physInt32
		case p <= 18:
			l.phys = physInt64
		default:
			l.phys, l.length, l.wide = physFixed, decimalBytes(p), true
		}
	default:
		return false
	}
	return true
}

// decimalBytes is the least number of bytes that hold every decimal of the precision.
func decimalBytes(precision int) int {
	// bits = ceil(log2(10^p)) + 1; log2(10) < 3.32193
	return (precision*332193/100000 + 1 + 1 + 7) / 8
}
