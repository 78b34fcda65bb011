package pgdiff

import "strings"

// patterns: regular expressions of groups, branches and quantifiers that prefer more or less.

func (g *gen) quantifier() string {
	if g.chance(40) {
		return ""
	}
	q := g.pick("*", "+", "?", "{1,1}", "{0,2}", "{2}", "{1,2}", "{2,}", "{1}")
	if g.chance(45) {
		q += "?"
	}
	return q
}

func (g *gen) branches(depth int) string {
	var alternatives []string
	for range g.pickInt(1, 1, 1, 1, 2, 2, 3) {
		b := ""
		for range g.pickInt(1, 1, 2, 2, 3, 4) {
			switch n := g.n(1, 100); {
			case depth > 0 && n <= 35:
				b += "(" + g.branches(depth-1) + ")"
			case depth > 0 && n <= 45:
				b += "(?:" + g.branches(depth-1) + ")"
			default:
				b += g.pick("a", "b", "c", ".", "[ab]", "[^a]", "ab", `\w`)
			}
			b += g.quantifier()
		}
		alternatives = append(alternatives, b)
	}
	return strings.Join(alternatives, "|")
}

func patterns(g *gen) []string {
	p := g.pick("", "", "^") + g.branches(3) + g.pick("", "", "$")
	for len(p) > 90 {
		p = g.branches(2)
	}
	text := ""
	for range g.pickInt(0, 1, 2, 3, 5, 8, 12) {
		text += g.pick("a", "a", "a", "b", "b", "c")
	}
	args := "'" + text + "', '" + p + "'"
	return []string{
		"select regexp_match(" + args + "), substring('" + text + "' from '" + p + "')",
		"select array(select array_to_string(m, '|', 'N') from regexp_matches(" + args + ", 'g') m), regexp_split_to_array(" + args + ")",
		"select regexp_replace(" + args + `, '<\&:\1>', 'g'), regexp_count(` + args + "), regexp_instr(" + args + ", 1, 1, 1)",
	}
}
