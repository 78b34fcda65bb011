package mysql

import "strconv"

// unknownFound marks a FOUND_ROWS() that cannot be told.
const unknownFound = -1

// countFound finds what FOUND_ROWS() is after SELECT SQL_CALC_FOUND_ROWS … LIMIT n: the number of
// rows without the LIMIT, which takes a query of its own. args: the statement was prepared with
// parameters, of which the LIMIT may hold some.
func (c *conn) countFound(p *piece, args bool) {
	calc, limit, depth := -1, -1, 0
	for k := range p.toks {
		switch {
		case p.toks[k].sign("("):
			depth++
		case p.toks[k].sign(")"):
			depth--
		case depth == 0 && p.word(k) == "sql_calc_found_rows" && calc < 0:
			calc = k
		case depth == 0 && p.word(k) == "limit":
			limit = k
		}
	}
	if calc < 0 || limit < 0 {
		return
	}
	c.found = unknownFound
	if args {
		return
	}
	text := p.text[:p.toks[calc].pos] + p.text[p.toks[calc].end:p.toks[limit].pos]
	rows, err := c.texts("SELECT COUNT(*) FROM (" + text + ") AS counted")
	if err != nil || len(rows) != 1 {
		return
	}
	if n, err := strconv.ParseInt(rows[0][0], 10, 64); err == nil {
		c.found = n
	}
}
