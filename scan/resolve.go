package scan

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/scan/parquet"
	"github.com/lhsql/lhsql/types"
)

// hidden tells whether a field id is one of the scan's own columns.
func hidden(id int) bool {
	switch id {
	case plan.HiddenFile, plan.HiddenPos, plan.HiddenSpecID, plan.HiddenRowID, plan.HiddenRowSeq:
		return true
	}
	return false
}

// resolver finds a table's fields in one file: by field id, never by name where ids exist; in
// a file without ids through the table's name mapping (spec, "Column Projection").
type resolver struct {
	root *parquet.Node
	// mapped gives ids to the nodes of a file that has none; nil: the file's own ids.
	mapped map[*parquet.Node]int
}

func newResolver(ft *parquet.Footer, mapping []lake.MappedField) (*resolver, error) {
	r := &resolver{root: ft.Root}
	if ft.Root.HasIDs() || len(ft.Leaves) == 0 {
		return r, nil
	}
	if mapping == nil {
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "a Parquet file has no field ids, and the table no name mapping").
			WithHint("Set the table property schema.name-mapping.default.")
	}
	r.mapped = map[*parquet.Node]int{}
	r.mapNodes(ft.Root.Children, mapping)
	return r, nil
}

func (r *resolver) mapNodes(nodes []*parquet.Node, fields []lake.MappedField) {
	for _, n := range nodes {
		for i := range fields {
			if !hasName(fields[i].Names, n.Name) {
				continue
			}
			if fields[i].ID >= 0 {
				r.mapped[n] = fields[i].ID
			}
			r.mapInner(n, fields[i].Fields)
			break
		}
	}
}

func hasName(names []string, name string) bool {
	for _, s := range names {
		if s == name {
			return true
		}
	}
	return false
}

// mapInner maps the nodes within n; a mapping names a list's element "element" and a map's
// members "key" and "value", whatever the file calls them.
func (r *resolver) mapInner(n *parquet.Node, fields []lake.MappedField) {
	if n.IsLeaf() || len(fields) == 0 {
		return
	}
	byName := func(node *parquet.Node, name string) {
		for i := range fields {
			if hasName(fields[i].Names, name) {
				if fields[i].ID >= 0 {
					r.mapped[node] = fields[i].ID
				}
				r.mapInner(node, fields[i].Fields)
			}
		}
	}
	if _, elem, ok := listOf(n); ok {
		byName(elem, "element")
		return
	}
	if _, key, value, ok := mapOf(n); ok && n.Logic == parquet.MapLogic {
		byName(key, "key")
		byName(value, "value")
		return
	}
	r.mapNodes(n.Children, fields)
}

func (r *resolver) id(n *parquet.Node) int {
	if r.mapped == nil {
		return n.ID
	}
	if id, ok := r.mapped[n]; ok {
		return id
	}
	return -1
}

// child finds the field id among n's children; nil: none has it.
func (r *resolver) child(n *parquet.Node, id int) (found *parquet.Node, err error) {
	for _, c := range n.Children {
		if r.id(c) != id {
			continue
		}
		if found != nil {
			return nil, sqlerr.New(sqlerr.DataCorrupted, "columns %q and %q of a Parquet file have one field id, %d", found.Name, c.Name, id)
		}
		found = c
	}
	return found, nil
}

// listOf finds a list's repeated node and element, legacy two-level lists included
// (LogicalTypes.md, "Lists", backward-compatibility rules). A repeated field outside of a list
// is a list of required elements.
func listOf(n *parquet.Node) (repeated, elem *parquet.Node, ok bool) {
	if n.Repetition == parquet.Repeated {
		return n, n, true
	}
	if n.IsLeaf() || len(n.Children) != 1 || n.Children[0].Repetition != parquet.Repeated || n.Logic == parquet.MapLogic {
		return nil, nil, false
	}
	rep := n.Children[0]
	if rep.IsLeaf() || len(rep.Children) > 1 || rep.Name == "array" || rep.Name == n.Name+"_tuple" ||
		rep.Children[0].Repetition == parquet.Repeated {
		return rep, rep, true
	}
	return rep, rep.Children[0], true
}

// mapOf finds a map's repeated node, key and value.
func mapOf(n *parquet.Node) (repeated, key, value *parquet.Node, ok bool) {
	if n.IsLeaf() || len(n.Children) != 1 {
		return nil, nil, nil, false
	}
	rep := n.Children[0]
	if rep.Repetition != parquet.Repeated || rep.IsLeaf() || len(rep.Children) != 2 {
		return nil, nil, nil, false
	}
	return rep, rep.Children[0], rep.Children[1], true
}

// spec says how to read field f below node parent; nil: the file does not have it.
func (r *resolver) spec(f *lake.Field, parent *parquet.Node) (*parquet.Spec, error) {
	n, err := r.child(parent, f.ID)
	if err != nil || n == nil || f.Iceberg == "unknown" {
		return nil, err
	}
	return r.at(f, n)
}

// at says how to read field f, which is node n.
func (r *resolver) at(f *lake.Field, n *parquet.Node) (*parquet.Spec, error) {
	switch f.Iceberg {
	case "struct":
		if n.IsLeaf() {
			return nil, shape(f, n)
		}
		s := &parquet.Spec{Kind: parquet.Struct, Type: f.Type, Node: n}
		for i := range f.Children {
			c, err := r.member(&f.Children[i], n)
			if err != nil {
				return nil, err
			}
			s.Children = append(s.Children, c)
		}
		return s, nil
	case "list":
		rep, elem, ok := listOf(n)
		if !ok || len(f.Children) != 1 {
			return nil, shape(f, n)
		}
		if elem == n { // a bare repeated field has the list's id
			if f.Children[0].Iceberg == "list" || f.Children[0].Iceberg == "map" {
				return nil, shape(f, n)
			}
			c, err := r.at(&f.Children[0], n)
			return &parquet.Spec{Kind: parquet.List, Type: f.Type, Node: n, Repeated: rep, Children: []*parquet.Spec{c}}, err
		}
		c, err := r.inner(&f.Children[0], elem)
		return &parquet.Spec{Kind: parquet.List, Type: f.Type, Node: n, Repeated: rep, Children: []*parquet.Spec{c}}, err
	case "map":
		rep, key, value, ok := mapOf(n)
		if !ok || len(f.Children) != 2 {
			return nil, shape(f, n)
		}
		k, err := r.inner(&f.Children[0], key)
		if err != nil {
			return nil, err
		}
		v, err := r.inner(&f.Children[1], value)
		return &parquet.Spec{Kind: parquet.Map, Type: f.Type, Node: n, Repeated: rep, Children: []*parquet.Spec{k, v}}, err
	case "variant":
		return variantSpec(f, n)
	}
	if !n.IsLeaf() {
		return nil, shape(f, n)
	}
	if n.Logic == parquet.NullLogic {
		return constant(f.Type, types.Null), nil
	}
	if _, err := parquet.ConversionFor(n, f.Type); err != nil {
		return nil, err
	}
	return &parquet.Spec{Kind: parquet.Value, Type: f.Type, Node: n}, nil
}

// inner is at for a list's element or a map's member, which are found by their place; an id
// that contradicts is an error.
func (r *resolver) inner(f *lake.Field, n *parquet.Node) (*parquet.Spec, error) {
	if id := r.id(n); id >= 0 && id != f.ID {
		return nil, sqlerr.New(sqlerr.DataCorrupted, "field %q of a Parquet file has id %d, the table's %s has %d", n.Name, id, f.Name, f.ID)
	}
	if f.Iceberg == "unknown" {
		return constant(f.Type, types.Null), nil
	}
	if n.Repetition == parquet.Repeated && f.Iceberg == "list" {
		// The element of a two-level list is a list itself: its node repeats for the outer one.
		return nil, sqlerr.New(sqlerr.FeatureNotSupported, "field %q of a Parquet file is a list of lists without a level between", n.Name)
	}
	return r.at(f, n)
}

// member is spec for a struct's member, with what stands for it where it is absent.
func (r *resolver) member(f *lake.Field, parent *parquet.Node) (*parquet.Spec, error) {
	s, err := r.spec(f, parent)
	if s != nil || err != nil {
		return s, err
	}
	d, err := absent(f)
	return constant(f.Type, d), err
}

func constant(t types.Type, d types.Datum) *parquet.Spec {
	return &parquet.Spec{Kind: parquet.Constant, Type: t, Const: d}
}

// absent is the value of a field that a file was written without.
func absent(f *lake.Field) (types.Datum, error) {
	if f.InitialDefault != nil {
		return *f.InitialDefault, nil
	}
	if f.Required {
		return types.Null, sqlerr.New(sqlerr.DataCorrupted, "a Parquet file lacks the required field %q, which has no default", f.Name)
	}
	return types.Null, nil
}

func shape(f *lake.Field, n *parquet.Node) error {
	return sqlerr.New(sqlerr.DataCorrupted, "column %q of a Parquet file is no %s, as the table's schema has it", n.Name, f.Iceberg)
}

// identityValue is the partition value that stands for field id in a file that lacks it.
func identityValue(spec *lake.PartitionSpec, file *lake.DataFile, id int) (types.Datum, bool) {
	if spec == nil {
		return types.Null, false
	}
	for i, f := range spec.Fields {
		if f.Transform.Kind == lake.Identity && len(f.SourceIDs) == 1 && f.SourceIDs[0] == id && i < len(file.Partition) {
			return file.Partition[i], true
		}
	}
	return types.Null, false
}
