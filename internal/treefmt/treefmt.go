// Package treefmt draws a tree as indented text, as PostgreSQL's EXPLAIN does.
package treefmt

import "strings"

// Node is one box of the tree: a headline, lines of detail, and children.
type Node struct {
	Head     string
	Lines    []string
	Children []*Node
}

// maxDepth bounds the drawing of a tree that is too deep to be read.
const maxDepth = 1000

// String draws the tree, with a line break after each line.
//
//	Hash Join
//	  Hash Cond: (a.id = b.id)
//	  ->  Scan on a
//	  ->  Scan on b
//	        Filter: (x > 1)
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, "", "", 0)
	return b.String()
}

// write draws n: first leads to its headline, rest stands before its other lines.
func (n *Node) write(b *strings.Builder, first, rest string, depth int) {
	if depth > maxDepth {
		b.WriteString(first + "…\n")
		return
	}
	b.WriteString(first + n.Head + "\n")
	for _, l := range n.Lines {
		b.WriteString(rest + "  " + l + "\n")
	}
	for _, c := range n.Children {
		c.write(b, rest+"  ->  ", rest+"      ", depth+1)
	}
}
