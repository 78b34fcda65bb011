package parquet

// Phys is a physical type (parquet.thrift, Type).
type Phys int8

const (
	Boolean Phys = iota
	Int32
	Int64
	Int96 // Impala's and Hive's timestamps, nothing else
	Float
	Double
	ByteArray
	FixedLen
)

var physNames = [...]string{"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY"}

// String is the type's name in parquet.thrift.
func (p Phys) String() string { return physNames[p] }

// Logic is the kind of a logical type, converted types folded in.
type Logic uint8

const (
	NoLogic Logic = iota // the physical type says it all
	StringLogic
	MapLogic
	ListLogic
	EnumLogic
	DecimalLogic
	DateLogic
	TimeLogic
	TimestampLogic
	IntegerLogic
	NullLogic
	JSONLogic
	BSONLogic
	UUIDLogic
	Float16Logic
	VariantLogic
	GeometryLogic
	GeographyLogic
	IntervalLogic
	UnknownLogic // a logical type of a later format
)

// Unit is a time unit: how many make a second.
type Unit int64

const (
	Millis Unit = 1e3
	Micros Unit = 1e6
	Nanos  Unit = 1e9
)

// Repetition is how often a field occurs in its parent.
type Repetition int8

const (
	Required Repetition = iota // once; never NULL
	Optional                   // once or not at all
	Repeated                   // any number of times
)

// Node is one field of a file's schema.
type Node struct {
	Name       string
	ID         int // field id; -1: none
	Repetition Repetition
	Children   []*Node // nil: a leaf

	// Levels at which the node is present (Dremel): MaxDef counts optional and repeated nodes
	// from the root to this one, MaxRep repeated ones.
	MaxDef, MaxRep int

	Leaf    int // index of the leaf's column; -1: a group
	Phys    Phys
	TypeLen int // FixedLen

	Logic     Logic
	Unit      Unit
	UTC       bool // TimeLogic, TimestampLogic: adjusted to UTC
	Bits      int  // IntegerLogic
	Unsigned  bool
	Scale     int // DecimalLogic
	Precision int
}

// IsLeaf tells whether the node has values of its own.
func (n *Node) IsLeaf() bool { return n.Leaf >= 0 }

// FirstLeaf is the first leaf at or below n.
func (n *Node) FirstLeaf() *Node {
	for !n.IsLeaf() {
		n = n.Children[0]
	}
	return n
}

// HasIDs tells whether any node at or below n has a field id.
func (n *Node) HasIDs() bool {
	if n.ID >= 0 {
		return true
	}
	for _, c := range n.Children {
		if c.HasIDs() {
			return true
		}
	}
	return false
}

// ByID is the child with the field id, or nil.
func (n *Node) ByID(id int) *Node {
	for _, c := range n.Children {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// maxSchemaDepth bounds recursion over schemas; levels must fit a byte too.
const maxSchemaDepth = 100

type element struct {
	node     Node
	children int
	// Whether the field was there, which only leaves, only all but the root, must have.
	phys, repetition bool
}

// The structs of a schema, as parquet.thrift has them.
var (
	schemaElement = describe("SchemaElement", "type?", "type_length?", "repetition_type?", "name", "num_children?",
		"converted_type?", "scale?", "precision?", "field_id?", "logicalType?")
	logicalType   = describe("LogicalType")
	decimalType   = describe("DecimalType", "scale", "precision")
	timeType      = describe("TimeType", "isAdjustedToUTC", "unit")
	timestampType = describe("TimestampType", "isAdjustedToUTC", "unit")
	timeUnit      = describe("TimeUnit", "MILLIS?", "MICROS?", "NANOS?")
	intType       = describe("IntType", "bitWidth", "isSigned")
)

// readElement reads one SchemaElement.
func readElement(t *thrift) element {
	e := element{node: Node{ID: -1, Leaf: -1}}
	n := &e.node
	var converted int32 = -1
	t.fields(tStruct, schemaElement, func(id int16, f byte) {
		switch id {
		case 1:
			n.Phys, e.phys = Phys(t.i32(f)), true
			if n.Phys < Boolean || n.Phys > FixedLen {
				t.fail()
			}
		case 2:
			n.TypeLen = int(t.i32(f))
		case 3:
			n.Repetition, e.repetition = Repetition(t.i32(f)), true
			if n.Repetition < Required || n.Repetition > Repeated {
				t.fail()
			}
		case 4:
			n.Name = string(t.binary(f))
		case 5:
			e.children = int(t.i32(f))
		case 6:
			converted = t.i32(f)
		case 7:
			n.Scale = int(t.i32(f))
		case 8:
			n.Precision = int(t.i32(f))
		case 9:
			n.ID = int(t.i32(f))
		case 10:
			readLogic(t, f, n)
		default:
			t.skip(f)
		}
	})
	if n.Logic == NoLogic {
		convertLogic(converted, n)
	}
	return e
}

// readLogic reads the LogicalType union.
func readLogic(t *thrift, typ byte, n *Node) {
	t.fields(typ, logicalType, func(id int16, f byte) {
		switch id {
		case 1:
			n.Logic = StringLogic
		case 2:
			n.Logic = MapLogic
		case 3:
			n.Logic = ListLogic
		case 4:
			n.Logic = EnumLogic
		case 5:
			n.Logic = DecimalLogic
			readDecimal(t, f, n)
			return
		case 6:
			n.Logic = DateLogic
		case 7:
			n.Logic = TimeLogic
			readTime(t, f, timeType, n)
			return
		case 8:
			n.Logic = TimestampLogic
			readTime(t, f, timestampType, n)
			return
		case 10:
			n.Logic = IntegerLogic
			readInteger(t, f, n)
			return
		case 11:
			n.Logic = NullLogic
		case 12:
			n.Logic = JSONLogic
		case 13:
			n.Logic = BSONLogic
		case 14:
			n.Logic = UUIDLogic
		case 15:
			n.Logic = Float16Logic
		case 16:
			n.Logic = VariantLogic
		case 17:
			n.Logic = GeometryLogic
		case 18:
			n.Logic = GeographyLogic
		default:
			n.Logic = UnknownLogic
		}
		t.skip(f)
	})
}

func readDecimal(t *thrift, typ byte, n *Node) {
	t.fields(typ, decimalType, func(id int16, f byte) {
		switch id {
		case 1:
			n.Scale = int(t.i32(f))
		case 2:
			n.Precision = int(t.i32(f))
		default:
			t.skip(f)
		}
	})
}

func readTime(t *thrift, typ byte, s *structure, n *Node) {
	t.fields(typ, s, func(id int16, f byte) {
		if id == 1 {
			n.UTC = t.boolean(f)
			return
		}
		if id != 2 {
			t.skip(f)
			return
		}
		t.fields(f, timeUnit, func(id int16, f byte) {
			switch id {
			case 1:
				n.Unit = Millis
			case 2:
				n.Unit = Micros
			case 3:
				n.Unit = Nanos
			}
			t.skip(f)
		})
		if n.Unit == 0 {
			t.because("its " + s.name + " has no unit that is known")
		}
	})
}

func readInteger(t *thrift, typ byte, n *Node) {
	t.fields(typ, intType, func(id int16, f byte) {
		switch id {
		case 1:
			n.Bits = int(t.integer(f))
		case 2:
			n.Unsigned = !t.boolean(f)
		default:
			t.skip(f)
		}
	})
}

// convertLogic reads a ConvertedType, which older writers have instead of a LogicalType.
func convertLogic(c int32, n *Node) {
	integer := func(bits int, unsigned bool) { n.Logic, n.Bits, n.Unsigned = IntegerLogic, bits, unsigned }
	switch c {
	case 0:
		n.Logic = StringLogic
	case 1, 2:
		n.Logic = MapLogic
	case 3:
		n.Logic = ListLogic
	case 4:
		n.Logic = EnumLogic
	case 5:
		n.Logic = DecimalLogic
	case 6:
		n.Logic = DateLogic
	case 7:
		n.Logic, n.Unit = TimeLogic, Millis
	case 8:
		n.Logic, n.Unit = TimeLogic, Micros
	case 9:
		n.Logic, n.Unit, n.UTC = TimestampLogic, Millis, true
	case 10:
		n.Logic, n.Unit, n.UTC = TimestampLogic, Micros, true
	case 11, 12, 13, 14:
		integer(8<<(c-11), true)
	case 15, 16, 17, 18:
		integer(8<<(c-15), false)
	case 19:
		n.Logic = JSONLogic
	case 20:
		n.Logic = BSONLogic
	case 21:
		n.Logic = IntervalLogic
	}
}

// leafPaths adds to out the names from the root to each leaf below nodes.
func leafPaths(nodes []*Node, to []string, out [][]string) [][]string {
	for _, n := range nodes {
		path := append(to[:len(to):len(to)], n.Name)
		if n.IsLeaf() {
			out = append(out, path)
		} else {
			out = leafPaths(n.Children, path, out)
		}
	}
	return out
}

// tree builds the schema from its elements in depth-first order and numbers the leaves.
func tree(elems []element) (root *Node, leaves []*Node, err error) {
	if len(elems) == 0 {
		return nil, nil, corrupt("no schema")
	}
	next := 0
	var build func(parent *Node, depth int) (*Node, error)
	build = func(parent *Node, depth int) (*Node, error) {
		if next >= len(elems) {
			return nil, corrupt("schema ends early")
		}
		if depth > maxSchemaDepth {
			return nil, unsupported("schema nested deeper than %d", maxSchemaDepth)
		}
		e := &elems[next]
		next++
		n := &e.node
		if parent != nil {
			if !e.repetition {
				return nil, corrupt("schema element %q lacks repetition_type", n.Name)
			}
			n.MaxDef, n.MaxRep = parent.MaxDef, parent.MaxRep
			if n.Repetition != Required {
				n.MaxDef++
			}
			if n.Repetition == Repeated {
				n.MaxRep++
			}
		}
		if e.children < 0 || e.children > len(elems)-next {
			return nil, corrupt("schema element %q has %d children", n.Name, e.children)
		}
		if e.children == 0 {
			if !e.phys {
				if parent == nil {
					return n, nil // a file without columns
				}
				return nil, corrupt("column %q has no type", n.Name)
			}
			if n.Phys == FixedLen && (n.TypeLen <= 0 || n.TypeLen > 1<<20) {
				return nil, corrupt("column %q has length %d", n.Name, n.TypeLen)
			}
			n.Leaf = len(leaves)
			leaves = append(leaves, n)
			return n, nil
		}
		for i := 0; i < e.children; i++ {
			c, err := build(n, depth+1)
			if err != nil {
				return nil, err
			}
			n.Children = append(n.Children, c)
		}
		return n, nil
	}
	if root, err = build(nil, 0); err != nil {
		return nil, nil, err
	}
	if root.IsLeaf() || next != len(elems) {
		return nil, nil, corrupt("schema is not one tree")
	}
	return root, leaves, nil
}
