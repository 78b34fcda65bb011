package syscat

import (
	"context"
	_ "embed"
	"strconv"
	"strings"
	"sync"

	"github.com/lhsql/lhsql/types"
)

func init() {
	makers["pg_catalog.pg_type"] = pgType
	makers["pg_catalog.pg_range"] = pgRange
}

//go:embed types_gen.txt
var typesText string

// typeRow is a row of PostgreSQL's pg_type; the fields' order is types_gen.txt's.
type typeRow struct {
	oid, array, elem                      uint32
	name                                  string
	length                                int
	byval, preferred                      bool
	kind, category, delim, align, storage string
	input, output, receive, send          funcRef
	modin, modout, subscript              string
	collation                             int
}

// funcRef is an I/O function by OID and name.
type funcRef struct {
	oid  uint32
	name string
}

var typeRows = sync.OnceValue(func() []typeRow {
	var out []typeRow
	for _, line := range strings.Split(strings.TrimSpace(typesText), "\n") {
		w := strings.Split(line, " ")
		if len(w) != 25 {
			continue
		}
		length, _ := strconv.Atoi(w[2])
		coll, _ := strconv.Atoi(w[23])
		out = append(out, typeRow{oid: oidOf(w[0]), name: w[1], length: length, byval: w[3] == "t", kind: w[4], category: w[5],
			preferred: w[6] == "t", delim: w[7], elem: oidOf(w[9]), array: oidOf(w[10]),
			input: funcRef{oidOf(w[11]), w[12]}, output: funcRef{oidOf(w[13]), w[14]}, receive: funcRef{oidOf(w[15]), w[16]}, send: funcRef{oidOf(w[17]), w[18]},
			modin: w[19], modout: w[20], align: w[21], storage: w[22], collation: coll, subscript: w[24]})
	}
	return out
})

// oidOf reads a number of a generated file.
func oidOf(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}

var typeByOID = sync.OnceValue(func() map[uint32]*typeRow {
	m := map[uint32]*typeRow{}
	rows := typeRows()
	for i := range rows {
		m[rows[i].oid] = &rows[i]
	}
	return m
})

// typeInfo is a type's storage facts for pg_attribute.
func typeInfo(t types.Type) typeRow {
	if r := typeByOID()[t.OID()]; r != nil {
		return *r
	}
	return typeRow{align: "i", storage: "x"}
}

// TypeName is the name of the type with the OID as SQL spells it; ok is false when there is none.
func TypeName(oid uint32) (string, bool) {
	r := typeByOID()[oid]
	switch {
	case r == nil:
		return "", false
	case r.category == "A" && r.elem != 0:
		if elem, ok := TypeName(r.elem); ok {
			return elem + "[]", true
		}
	case r.name == "bit":
		return "bit", true
	case r.name == "varbit":
		return "bit varying", true
	}
	if t, ok := types.FromOID(oid); ok {
		return t.String(), true
	}
	return Quote(r.name), true
}

// TypeOID finds a type by its pg_type name.
func TypeOID(name string) (uint32, bool) {
	for _, r := range typeRows() {
		if r.name == name {
			return r.oid, true
		}
	}
	return 0, false
}

// procOID is the OID of a function named in a type's row; regproc columns hold it.
func procOID(name string) uint32 {
	if name == "-" {
		return 0
	}
	if oid, ok := typeFuncs()[name]; ok {
		return oid
	}
	return hashOID("function", name)
}

// typeFuncs are the types' input and output functions by name.
var typeFuncs = sync.OnceValue(func() map[string]uint32 {
	m := map[string]uint32{}
	for _, r := range typeRows() {
		for _, f := range []funcRef{r.input, r.output, r.receive, r.send} {
			if _, ok := m[f.name]; !ok {
				m[f.name] = f.oid
			}
		}
	}
	return m
})

func pgType(ctx context.Context, q *query) error {
	// Domains and composite types are asked for row by row by some clients; there are none.
	if !q.may("typbasetype", 0) || !q.may("typrelid", 0) {
		return nil
	}
	rows := typeRows()
	if want, ok := q.wantOID("oid"); ok {
		rows = nil
		if r := typeByOID()[want]; r != nil {
			rows = []typeRow{*r}
		}
	}
	for i := range rows {
		r := &rows[i]
		if !q.may("oid", r.oid) || !q.may("typname", r.name) {
			continue
		}
		err := q.row("oid", r.oid, "typname", r.name, "typnamespace", pgCatalogOID, "typowner", ownerOID, "typlen", r.length,
			"typbyval", r.byval, "typtype", r.kind, "typcategory", r.category, "typispreferred", r.preferred, "typisdefined", true,
			"typdelim", r.delim, "typrelid", 0, "typsubscript", procOID(r.subscript), "typelem", r.elem, "typarray", r.array,
			"typinput", r.input.oid, "typoutput", r.output.oid, "typreceive", r.receive.oid, "typsend", r.send.oid,
			"typmodin", procOID(r.modin), "typmodout", procOID(r.modout), "typanalyze", 0, "typalign", r.align, "typstorage", r.storage,
			"typnotnull", false, "typbasetype", 0, "typtypmod", -1, "typndims", 0, "typcollation", r.collation)
		if err != nil {
			return err
		}
	}
	return nil
}

// pgRange lists the built-in range types, which clients look up although nothing here is one.
func pgRange(ctx context.Context, q *query) error {
	for _, r := range [][3]int{{3904, 23, 4451}, {3906, 1700, 4532}, {3908, 1114, 4533}, {3910, 1184, 4534}, {3912, 1082, 4535}, {3926, 20, 4536}} {
		if err := q.row("rngtypid", r[0], "rngsubtype", r[1], "rngmultitypid", r[2], "rngcollation", 0, "rngsubopc", 0,
			"rngcanonical", 0, "rngsubdiff", 0); err != nil {
			return err
		}
	}
	return nil
}
