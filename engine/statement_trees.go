package engine

import (
	"slices"

	"github.com/lhsql/lhsql/internal/cache"
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/mysql"
)

// trees keeps the syntax trees of texts that come again and again: what drivers send with each
// connection, what a dashboard asks every minute. A tree does not change once it is made; any
// number of sessions may bind it.
type trees struct {
	kept *cache.Cache[treeKey, []ast.Parsed]
	seen *cache.Seen[treeKey] // a text is kept when it comes again
}

type treeKey struct {
	dialect, text string
	mode          mysql.Mode // how MySQL's text is read
}

const (
	longestTree = 8 << 10 // of a text that is kept
	// treeSize is about what a tree takes, by byte of its text.
	treeSize = 40
	allTrees = 10 << 20
)

func newTrees() trees {
	return trees{kept: cache.New[treeKey, []ast.Parsed]("syntax trees", allTrees), seen: cache.NewSeen[treeKey](1 << 10)}
}

// find gives the trees of a text; nil: they are not kept.
func (t *trees) find(k treeKey) []ast.Parsed {
	if len(k.text) > longestTree {
		return nil
	}
	list, _ := t.kept.Find(k)
	return slices.Clone(list) // its users set what is no tree
}

// keep stores the trees of a text that parsed, if it came before.
func (t *trees) keep(k treeKey, list []ast.Parsed) {
	if len(k.text) <= longestTree && t.seen.Again(k) {
		t.kept.Put(k, slices.Clone(list), int64(treeSize*len(k.text)))
	}
}
