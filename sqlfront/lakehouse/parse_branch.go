package lakehouse

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
	"github.com/lhsql/lhsql/sqlfront/token"
)

// refName is a branch's or tag's name: an identifier or, as its names often hold dashes, a string.
func (p *Parser) refName() string {
	if p.Peek(0).Kind == token.String {
		return p.Dialect.Str()
	}
	return p.Name()
}

func (p *Parser) inTable() ast.TableName {
	if !p.Accept("on", "table") {
		p.Expect("in", "table")
	}
	return p.Table()
}

// CreateRef parses BRANCH|TAG [IF NOT EXISTS] b IN TABLE t [FROM s | AS OF VERSION n] [RETAIN …],
// the words CREATE [OR REPLACE] at pos being gone.
func (p *Parser) CreateRef(pos int, replace bool) ast.Stmt {
	kind := p.Take().Text
	ref := &ast.RefDef{Branch: kind == "branch", Replace: replace}
	ref.IfNotExists = p.Accept("if", "not", "exists")
	ref.Name = p.refName()
	t := p.inTable()
	if from := p.Pos(); p.Accept("from") {
		at := p.Pos()
		ref.AsOf = &ast.AsOf{Kind: ast.AsOfVersion, Pos: from, Expr: &ast.Lit{Kind: 's', Text: p.refName(), Pos: at}}
	}
	p.refOptions(ref)
	return alterOne(t, pos, ast.AlterAction{Op: "create " + kind, Ref: ref})
}

// DropRef parses BRANCH|TAG [IF EXISTS] b IN TABLE t, the word DROP at pos being gone.
func (p *Parser) DropRef(pos int) ast.Stmt {
	kind := p.Take().Text
	ref := &ast.RefDef{Branch: kind == "branch", IfExists: p.Accept("if", "exists")}
	ref.Name = p.refName()
	return alterOne(p.inTable(), pos, ast.AlterAction{Op: "drop " + kind, Ref: ref})
}

// FastForward parses b IN TABLE t FAST FORWARD TO s, the words ALTER BRANCH at pos being gone.
func (p *Parser) FastForward(pos int) ast.Stmt {
	ref := &ast.RefDef{Branch: true, Name: p.refName()}
	t := p.inTable()
	p.Expect("fast", "forward", "to")
	ref.To = p.refName()
	return alterOne(t, pos, ast.AlterAction{Op: "fast forward", Ref: ref})
}

// refAction parses ALTER TABLE's CREATE [OR REPLACE] BRANCH|TAG … and REPLACE BRANCH|TAG ….
func (p *Parser) refAction() ast.AlterAction {
	ref := &ast.RefDef{}
	verb := p.Take().Text
	if verb == "create" {
		ref.Replace = p.Accept("or", "replace")
	}
	kind := p.Peek(0)
	if !kind.Is("branch", "tag") {
		p.SyntaxError()
	}
	p.At++
	ref.Branch = kind.Text == "branch"
	ref.IfNotExists = p.Accept("if", "not", "exists")
	ref.Name = p.refName()
	p.refOptions(ref)
	return ast.AlterAction{Op: verb + " " + kind.Text, Ref: ref}
}

// refOptions parses [AS OF VERSION n] [RETAIN n DAYS] [WITH SNAPSHOT RETENTION [n SNAPSHOTS] [n DAYS]].
func (p *Parser) refOptions(ref *ast.RefDef) {
	if p.Peek(0).Is("as", "for", "version", "timestamp") {
		ref.AsOf = p.AsOf()
	}
	if p.Accept("retain") {
		ref.RetainMs = p.duration()
	}
	if ref.Branch && p.Accept("with", "snapshot", "retention") {
		if p.Peek(0).Kind == token.Number && p.Peek(1).Is("snapshots", "snapshot") {
			n := int(p.integer())
			ref.MinSnapshots = &n
			p.At++
			if p.Peek(0).Kind != token.Number {
				return
			}
		}
		ref.SnapshotRetainMs = p.duration()
	}
}
