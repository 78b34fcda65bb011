package pg

import (
	"fmt"
	"strings"

	pgquery "github.com/pganalyze/pg_query_go/v6"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// typeName translates a type. The grammar has turned SQL's spellings into catalog names
// (integer → pg_catalog.int4) already.
func (c *conv) typeName(n *pgquery.TypeName) ast.TypeName {
	t := ast.TypeName{Pos: c.pos(n.GetLocation())}
	names := stringList(n.GetNames())
	if len(names) == 0 {
		return t
	}
	t.Name = names[len(names)-1]
	if len(names) > 1 && names[len(names)-2] != "pg_catalog" {
		t.Schema = names[len(names)-2]
	}
	if n.Setof {
		c.refuse(t.Pos, "SETOF is not supported here")
	}
	if n.PctType {
		c.refuse(t.Pos, "%%TYPE is not supported")
	}
	t.Array = len(n.ArrayBounds)
	for _, m := range n.Typmods {
		v, ok := intConstant(m)
		if !ok {
			c.p.FailAt(t.Pos, sqlerr.InvalidParameterValue, "type modifiers must be simple constants or identifiers")
			return t
		}
		t.Mods = append(t.Mods, v)
	}
	if t.Name == "interval" && len(t.Mods) > 0 {
		t.Fields = intervalFields(t.Mods[0])
		t.Mods = t.Mods[1:]
	}
	return t
}

func intConstant(n *pgquery.Node) (int, bool) {
	if k := n.GetAConst(); k != nil {
		if i, ok := k.Val.(*pgquery.A_Const_Ival); ok {
			return int(i.Ival.GetIval()), true
		}
	}
	return 0, false
}

// intervalFields spells an interval typmod's mask, INTERVAL_MASK bits of timestamp.h.
func intervalFields(mask int) string {
	names := []struct {
		bit  int
		name string
	}{{2, "year"}, {1, "month"}, {3, "day"}, {10, "hour"}, {11, "minute"}, {12, "second"}}
	var have []string
	for _, n := range names {
		if mask&(1<<n.bit) != 0 {
			have = append(have, n.name)
		}
	}
	switch {
	case mask == 0x7FFF || len(have) == 0:
		return ""
	case len(have) == 1:
		return have[0]
	}
	return have[0] + " to " + have[len(have)-1]
}

func typeLabel(n any) string {
	s := fmt.Sprintf("%T", n)
	return s[strings.LastIndexByte(s, '.')+1:]
}
