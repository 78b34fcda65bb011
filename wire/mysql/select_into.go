package mysql

import (
	"strings"

	"github.com/lhsql/lhsql/types"
)

// selectInto serves SELECT … INTO @a, @b: the one row of the query goes into variables. nil: the
// statement is another.
func (c *conn) selectInto(p *piece) *local {
	if w := p.word(0); w != "select" && w != "with" && w != "table" && w != "values" {
		return nil
	}
	from, to, depth := -1, -1, 0
	var names []string
	for k := range p.toks {
		switch {
		case p.toks[k].sign("("):
			depth++
		case p.toks[k].sign(")"):
			depth--
		case depth == 0 && p.word(k) == "into" && k+1 < len(p.toks) && p.toks[k+1].kind == tokVariable && from < 0:
			from = k
			for to = k + 1; to < len(p.toks) && p.toks[to].kind == tokVariable; to += 2 {
				names = append(names, strings.ToLower(p.toks[to].value))
				if to+1 >= len(p.toks) || !p.toks[to+1].sign(",") {
					to++
					break
				}
			}
		}
	}
	if from < 0 {
		return nil
	}
	text := p.text[:p.toks[from].pos]
	if to < len(p.toks) {
		text += p.text[p.toks[to].pos:]
	}
	return &local{run: func() error { return c.intoVariables(text, names) }}
}

func (c *conn) intoVariables(sql string, names []string) error {
	st, err := c.prepareText(sql)
	if err != nil {
		return err
	}
	cols := st.Columns()
	if len(st.Params()) != 0 {
		return nearError(sql, strings.IndexByte(sql, '?'))
	}
	if len(cols) != len(names) {
		return wireError(1222, "21000", "The used SELECT statements have a different number of columns")
	}
	res, err := st.Execute(c.ctx, nil)
	if err != nil {
		return err
	}
	defer res.Close()
	var row []types.Datum
	for {
		b, err := res.Next(c.ctx)
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		if row != nil || b.Len() > 1 {
			return wireError(1172, "42000", "Result consisted of more than one row")
		}
		i := 0
		if b.Sel != nil {
			i = int(b.Sel[0])
		}
		for _, v := range b.Cols {
			row = append(row, v.Datum(i))
		}
	}
	if row == nil {
		c.warnings = append(c.warnings, warning{"Warning", 1329, "No data - zero rows fetched, selected, or processed"})
		return res.Close()
	}
	for i, n := range names {
		a := assignment{name: n, user: true, value: row[i], typ: cols[i].Type}
		if err := c.assign(&a); err != nil {
			return err
		}
	}
	return res.Close()
}
