package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/types"
	"github.com/lhsql/lhsql/vec"
)

// assigned is a user variable that a query assigns (@v := x). column is the result's column whose
// last row is its value afterwards; -1: no column shows it.
type assigned struct {
	name   string
	column int
}

// assignedIn finds the variables that a statement assigns. Which column shows one is known where
// it stands at the beginning of an entry of the first select list and no * comes before.
func assignedIn(p *piece) []assigned {
	if !strings.Contains(p.text, ":=") || p.word(0) == "set" {
		return nil
	}
	var out []assigned
	at := map[string]int{}
	depth, column := 0, 0
	list, begins := p.word(0) == "select", true
	for k := range p.toks {
		t := &p.toks[k]
		switch {
		case t.sign("("):
			depth++
		case t.sign(")"):
			depth--
		case depth == 0 && k > 0 && (t.kind == tokWord && (t.text == "from" || t.text == "union" || t.text == "limit" || t.text == "order")):
			list = false
		case depth == 0 && t.sign(","):
			column++
			begins = true
			continue
		case depth == 0 && t.sign("*") && begins, depth == 0 && t.sign("*") && k > 0 && p.toks[k-1].sign("."):
			list = false
		case t.kind == tokVariable && k+1 < len(p.toks) && p.toks[k+1].sign(":="):
			a := assigned{strings.ToLower(t.value), -1}
			if list && depth == 0 && begins {
				a.column = column
			}
			if i, ok := at[a.name]; ok {
				out[i] = a // the last assignment counts
			} else {
				at[a.name] = len(out)
				out = append(out, a)
			}
		}
		if k > 0 {
			begins = false
		}
	}
	return out
}

// lost marks a variable whose value the query that assigned it did not show.
var lost = userVariable{typ: types.T(types.Void)}

// checkLost refuses to read a variable whose value is lost: any answer would be a wrong one.
func (c *conn) checkLost(p *piece) error {
	if !c.vars.lost {
		return nil
	}
	set := map[string]bool{} // by this statement, before it reads
	for k, t := range p.toks {
		assigned := k+1 < len(p.toks) && (p.toks[k+1].sign(":=") || p.word(0) == "set" && p.toks[k+1].sign("="))
		if t.kind != tokVariable || strings.HasPrefix(t.text, "@@") {
			continue
		}
		name := strings.ToLower(t.value)
		if set[name] = set[name] || assigned; set[name] {
			continue
		}
		if u, ok := c.vars.user[name]; ok && u.typ.Kind == types.Void {
			return wireError(1235, "42000", "@%s was assigned inside an expression of a query, and its value after the query is not known; SET it", t.value)
		}
	}
	return nil
}

// keepAssigned remembers the values that the last row of b gives to variables.
func (st *stmt) keepAssigned(b *vec.Batch, row int) {
	if b.Sel != nil {
		row = int(b.Sel[row])
	}
	for i, a := range st.assigned {
		if a.column >= 0 && a.column < len(b.Cols) {
			st.values[i] = b.Cols[a.column].Datum(row)
			st.hasRows = true
		}
	}
}

// setAssigned gives the variables their values at the query's end. Without a row they stay.
func (c *conn) setAssigned(st *stmt) {
	for i, a := range st.assigned {
		switch {
		case a.column < 0:
			c.vars.user[a.name] = lost
			c.vars.lost = true
		case st.hasRows && a.column < len(st.Columns()):
			t := st.Columns()[a.column].Type
			if t.Kind == types.Unknown {
				t = types.T(types.Text)
			}
			c.vars.user[a.name] = userVariable{st.values[i], t}
		}
	}
	st.hasRows = false
}
