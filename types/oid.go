package types

// This file maps types to PostgreSQL's object ids (catalog pg_type of PostgreSQL 15), for the
// wire, for pg_catalog and for parameters that arrive with an OID.

// pgType is what pg_type says of one base type.
type pgType struct {
	kind  Kind
	oid   uint32
	array uint32
	name  string // typname
	len   int16  // typlen
}

var pgTypes = []pgType{
	{Bool, 16, 1000, "bool", 1},
	{Bytea, 17, 1001, "bytea", -1},
	{Char, 18, 1002, "char", 1},
	{Name, 19, 1003, "name", 64},
	{Int8, 20, 1016, "int8", 8},
	{Int2, 21, 1005, "int2", 2},
	{Int2Vector, 22, 1006, "int2vector", -1},
	{Int4, 23, 1007, "int4", 4},
	{Regproc, 24, 1008, "regproc", 4},
	{Text, 25, 1009, "text", -1},
	{Oid, 26, 1028, "oid", 4},
	{Xid, 28, 1011, "xid", 4},
	{OidVector, 30, 1013, "oidvector", -1},
	{JSON, 114, 199, "json", -1},
	{Float4, 700, 1021, "float4", 4},
	{Float8, 701, 1022, "float8", 8},
	{Unknown, 705, 0, "unknown", -2},
	{Bpchar, 1042, 1014, "bpchar", -1},
	{Varchar, 1043, 1015, "varchar", -1},
	{Date, 1082, 1182, "date", 4},
	{Time, 1083, 1183, "time", 8},
	{Timestamp, 1114, 1115, "timestamp", 8},
	{TimestampTZ, 1184, 1185, "timestamptz", 8},
	{Interval, 1186, 1187, "interval", 16},
	{TimeTZ, 1266, 1270, "timetz", 12},
	{Numeric, 1700, 1231, "numeric", -1},
	{Regprocedure, 2202, 2207, "regprocedure", 4},
	{Regoper, 2203, 2208, "regoper", 4},
	{Regoperator, 2204, 2209, "regoperator", 4},
	{Regclass, 2205, 2210, "regclass", 4},
	{Regtype, 2206, 2211, "regtype", 4},
	{Struct, 2249, 2287, "record", -1},
	{Any, 2276, 0, "any", 4},
	{AnyArray, 2277, 0, "anyarray", -1},
	{Void, 2278, 0, "void", 4},
	{AnyElement, 2283, 0, "anyelement", 4},
	{AnyNonArray, 2776, 0, "anynonarray", 4},
	{UUID, 2950, 2951, "uuid", 16},
	{JSONB, 3802, 3807, "jsonb", -1},
	{JSONPath, 4072, 4073, "jsonpath", -1},
	{Regnamespace, 4089, 4090, "regnamespace", 4},
	{Regrole, 4096, 4097, "regrole", 4},
}

// asTexts are types of PostgreSQL that its catalogs' columns have and no value here needs: they
// hold text, and outside show as themselves. The first is text itself.
var asTexts = []pgType{
	{Text, 25, 1009, "text", -1},
	{Text, 142, 143, "xml", -1},
	{Text, 194, 0, "pg_node_tree", -1},
	{Text, 869, 1041, "inet", -1},
	{Text, 1033, 1034, "aclitem", 12},
	{Text, 2277, 0, "anyarray", -1},
	{Text, 3220, 3221, "pg_lsn", 8},
	{Text, 3361, 0, "pg_ndistinct", -1},
	{Text, 3402, 0, "pg_dependencies", -1},
	{Text, 5017, 0, "pg_mcv_list", -1},
	{Text, 10029, 10028, "pg_statistic", -1},
}

// TextAs is text that shows outside as PostgreSQL's type of the name: for columns of catalogs.
func TextAs(name string) (Type, bool) {
	for i := range asTexts {
		if asTexts[i].name == name {
			return Type{Kind: Text, Prec: int32(i)}, true
		}
	}
	return Type{}, false
}

// asText is what a Text type shows as.
func (t Type) asText() *pgType {
	if i := int(t.Prec); i > 0 && i < len(asTexts) {
		return &asTexts[i]
	}
	return &asTexts[0]
}

// outside is the row of pg_type that a type which is no array shows as; nil for none.
func (t Type) outside() *pgType {
	if t.Kind == Text {
		return t.asText()
	}
	return pgByKind[wireKind(t.Kind)]
}

var (
	pgByKind = map[Kind]*pgType{}
	pgByOID  = map[uint32]*pgType{}
	pgByName = map[string]*pgType{}
)

func init() {
	for i := range pgTypes {
		p := &pgTypes[i]
		pgByKind[p.kind], pgByOID[p.oid], pgByName[p.name] = p, p, p
	}
}

// wireKind is the kind that a type has outside: types that PostgreSQL lacks show as the nearest
// that it has (docs/sql.md, "Types").
func wireKind(k Kind) Kind {
	switch k {
	case TimestampNS:
		return Timestamp
	case TimestampTZNS:
		return TimestampTZ
	case Map, Variant:
		return JSONB
	}
	return k
}

// OID is t's PostgreSQL type id; 0 for Invalid. Structs that are a table's column are jsonb
// outside; rows are records.
func (t Type) OID() uint32 {
	switch t.Kind {
	case Struct:
		if !t.IsRecord() {
			return 3802
		}
	case Array:
		if e := t.Elem(); e.Kind == Array {
			return e.OID() // PostgreSQL's arrays of any dimension share one type
		} else if e.Kind == Struct && !e.IsRecord() || e.Kind == Map {
			return 3807
		} else if p := e.outside(); p != nil {
			if p.array == 0 {
				return 1009
			}
			return p.array
		}
		return 0
	}
	if p := t.outside(); p != nil {
		return p.oid
	}
	return 0
}

// TypLen is pg_type.typlen: bytes of a fixed-length type, -1 for others.
func (t Type) TypLen() int16 {
	if t.Kind == Struct || t.Kind == Array {
		return -1
	}
	if p := t.outside(); p != nil {
		return p.len
	}
	return -1
}

// Typmod is atttypmod: precision and scale of a declared numeric, length of varchar and char, digits
// after the second of times and intervals; -1 none.
func (t Type) Typmod() int32 {
	switch t.Kind {
	case Numeric:
		if t.Fixed && t.Declared {
			return (int32(t.Prec)<<16 | int32(t.Scale)) + 4
		}
	case Varchar, Bpchar:
		if t.Prec > 0 {
			return t.Prec + 4
		}
	case Time, TimeTZ, Timestamp, TimestampTZ:
		if p, ok := t.SecondDigits(); ok {
			return int32(p)
		}
	case Interval:
		if p, ok := t.SecondDigits(); ok {
			return 0x7fff<<16 | int32(p) // of all fields
		}
	case Array:
		return t.Elem().Typmod()
	}
	return -1
}

// FromOID finds the type with a PostgreSQL type id; ok is false for 0 and unknown ids.
func FromOID(oid uint32) (Type, bool) {
	if p := pgByOID[oid]; p != nil {
		return T(p.kind), true
	}
	for i := range pgTypes {
		if p := &pgTypes[i]; p.array == oid && oid != 0 {
			return ArrayOf(T(p.kind)), true
		}
	}
	return Type{}, false
}

// PGName is pg_type.typname of t.
func (t Type) PGName() string {
	if t.Kind == Array {
		return "_" + t.Elem().PGName()
	}
	if t.Kind == Struct {
		return "jsonb"
	}
	if p := t.outside(); p != nil {
		return p.name
	}
	return "unknown"
}

// FromPGName finds a base type by typname.
func FromPGName(name string) (Type, bool) {
	if p := pgByName[name]; p != nil {
		return T(p.kind), true
	}
	return Type{}, false
}
