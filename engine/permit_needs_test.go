package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// Every kind of statement that a parser can make says what it needs, and nothing else does: a new one
// cannot be added without a decision.
func TestEveryStatementSaysWhatItNeeds(t *testing.T) {
	files, err := filepath.Glob("../sqlfront/ast/*.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]bool{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			// func (*X) stmt() {}
			m, ok := d.(*ast.FuncDecl)
			if !ok || m.Name.Name != "stmt" || m.Recv == nil {
				continue
			}
			kinds[m.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name] = true
		}
	}
	if len(kinds) < 40 {
		t.Fatalf("only %d kinds of statements were found", len(kinds))
	}
	said := map[string]bool{}
	for typ := range needs {
		said[typ.Elem().Name()] = true
	}
	for k := range kinds {
		if !said[k] {
			t.Errorf("%s does not say what it needs (permit_needs.go)", k)
		}
	}
	for k := range said {
		if !kinds[k] {
			t.Errorf("%s is no statement", k)
		}
	}
}

// So does every procedure.
func TestEveryProcedureSaysWhatItNeeds(t *testing.T) {
	for name := range procedures {
		if _, ok := procedureNeeds[name]; !ok {
			t.Errorf("procedure %s does not say what it needs (permit_needs.go)", name)
		}
	}
	for name, n := range procedureNeeds {
		if _, ok := procedures[name]; !ok {
			t.Errorf("there is no procedure %s", name)
		}
		if n == (procedureNeed{}) {
			t.Errorf("procedure %s needs nothing", name)
		}
	}
}
