package token

// Depth bounds how deep the syntax tree of a statement may nest, by counting the tokens seen so
// far that may add a level: a tree is built and walked by recursion, and what nests without bound
// ends the process. A chain such as 1+1+1 nests one level per operator without any parenthesis; a
// comma or AND or OR (which the grammars flatten) starts a new chain. Set operations and joins
// nest across commas: they raise the base of their parenthesis.
type Depth struct {
	// Chains are the dialect's words that add a level without a parenthesis.
	Chains map[string]bool

	depth  int      // of the innermost chain
	base   int      // where chains of the current parenthesis or CASE start
	outer  [][2]int // base and depth of the enclosing ones
	opened bool     // the last token was "("
}

// MaxDepth is far more than anyone writes and what the C stack of libpg_query bears, which
// builds and serialises the tree by recursion and cannot grow.
const MaxDepth = 2400

// Add looks at the next token; false: it nests too deep.
func (d *Depth) Add(t Token) bool {
	if d.opened && t.Is("select", "with", "values") {
		// A query in parentheses nests four nodes, not one.
		d.base += 3
		d.depth = d.base
	}
	d.opened = t.Punct("(")
	switch {
	case t.Punct("("), t.Punct("["), t.Punct("{"), t.Is("case"):
		d.outer = append(d.outer, [2]int{d.base, d.depth + 1})
		d.depth++
		d.base = d.depth
	case t.Punct(")"), t.Punct("]"), t.Punct("}"), t.Is("end"):
		if n := len(d.outer) - 1; n >= 0 {
			d.base, d.depth = d.outer[n][0], d.outer[n][1]
			d.outer = d.outer[:n]
		}
	case t.Punct(","), t.Is("and", "or"):
		d.depth = d.base
	case t.Is("union", "intersect", "except", "join", "straight_join"):
		d.base++
		d.depth = max(d.depth, d.base)
	case t.Kind == Op, t.Punct("::"), t.Punct("."), t.Kind == Word && d.Chains[t.Text]:
		d.depth++
	}
	return d.depth <= MaxDepth
}
