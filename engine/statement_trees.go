package engine

import (
	"hash/maphash"
	"slices"
	"sync"

	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/mysql"
)

// trees keeps the syntax trees of texts that come again and again: what drivers send with each
// connection, what a dashboard asks every minute. A tree does not change once it is made; any
// number of sessions may bind it. What is kept is bounded by the length of the texts, in two
// generations: what was not asked for while one filled is forgotten.
type trees struct {
	mu         sync.Mutex
	young, old map[treeKey][]ast.Parsed
	size       int // bytes of the texts in young
	seed       maphash.Seed
	seen       [1024]uint64 // of texts that came once; a text is kept when it comes again
}

type treeKey struct {
	dialect, text string
	mode          mysql.Mode // how MySQL's text is read
}

const (
	longestTree   = 8 << 10   // of a text that is kept
	treesTogether = 128 << 10 // of a generation's texts
)

// find gives the trees of a text; nil: they are not kept.
func (t *trees) find(k treeKey) []ast.Parsed {
	if len(k.text) > longestTree {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	list, ok := t.young[k]
	if !ok {
		if list, ok = t.old[k]; !ok {
			return nil
		}
		t.put(k, list)
	}
	return slices.Clone(list) // its users set what is no tree
}

// keep stores the trees of a text that parsed, if it came before.
func (t *trees) keep(k treeKey, list []ast.Parsed) {
	if len(k.text) > longestTree {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.young == nil {
		t.young, t.seed = map[treeKey][]ast.Parsed{}, maphash.MakeSeed()
	}
	h := maphash.String(t.seed, k.text) | 1
	if at := &t.seen[h>>1%uint64(len(t.seen))]; *at != h {
		*at = h
		return
	}
	t.put(k, slices.Clone(list))
}

func (t *trees) put(k treeKey, list []ast.Parsed) {
	if t.size+len(k.text) > treesTogether {
		t.old, t.young, t.size = t.young, map[treeKey][]ast.Parsed{}, 0
	}
	t.young[k] = list
	t.size += len(k.text)
}
