package deps

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// unguarded are the files whose goroutines need no guard: they touch nothing that a client sends or a
// file holds, or have their own recover because their end is a connection's and no statement's.
var unguarded = map[string]string{
	"engine/memory_governor.go": "counts memory and ends statements",
	"wire/door/door.go":         "a client's goroutine: its Serve recovers and says so to the client",
	"wire/door/reader.go":       "moves bytes from the network into a buffer",
	"cmd/lhsql/shell.go":        "waits for signals",
	"cmd/lhsql/wires.go":        "waits for servers to end",
	"cmd/lhsql/serve.go":        "listens, and waits for signals",
	"cmd/lhsql/profile.go":      "the profiler's own server",
	"internal/hammer/hammer.go": "for tests",
}

// TestGoroutinesAreGuarded: a panic in a goroutine that nobody guards ends the process. Each runs its
// work through guard.Run, or stands in the list above with its reason.
func TestGoroutinesAreGuarded(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen, listed := 0, map[string]bool{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			switch n := d.Name(); {
			case path != root && strings.HasPrefix(n, "."), n == "testdata", rel == "bench", rel == "testsql", rel == "examples":
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			var work ast.Node
			switch n := n.(type) {
			case *ast.GoStmt:
				work = n
			case *ast.CallExpr: // WaitGroup.Go, errgroup's
				if s, ok := n.Fun.(*ast.SelectorExpr); !ok || s.Sel.Name != "Go" {
					return true
				}
				work = n
			default:
				return true
			}
			seen++
			if unguarded[rel] != "" {
				listed[rel] = true
			} else if !guarded(work) {
				t.Errorf("%s: a goroutine does not run its work through guard.Run", set.Position(n.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Fatalf("found %d goroutines only: the walk is broken", seen)
	}
	for f := range unguarded {
		if !listed[f] {
			t.Errorf("%s starts no goroutine any more", f)
		}
	}
}

func guarded(work ast.Node) bool {
	found := false
	ast.Inspect(work, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Run" {
			if x, ok := s.X.(*ast.Ident); ok && x.Name == "guard" {
				found = true
			}
		}
		return !found
	})
	return found
}
