package mysql

import (
	"math"
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// refName is a branch's or tag's name: an identifier or a string.
func (p *parser) refName() string {
	if p.peek(0).kind == tokString {
		return p.str()
	}
	return p.name()
}

func (p *parser) inTable() ast.TableName {
	if !p.accept("on", "table") {
		p.expect("in", "table")
	}
	return ast.TableName{Name: p.dotted()}
}

// createRef parses BRANCH|TAG [IF NOT EXISTS] b IN TABLE t [FROM s | AS OF VERSION n] [RETAIN …].
func (p *parser) createRef(pos int, replace bool) ast.Stmt {
	kind := p.next().text
	ref := &ast.RefDef{Branch: kind == "branch", Replace: replace}
	ref.IfNotExists = p.accept("if", "not", "exists")
	ref.Name = p.refName()
	t := p.inTable()
	if at := p.pos(); p.accept("from") {
		from := p.pos()
		ref.AsOf = &ast.AsOf{Kind: ast.AsOfVersion, Pos: at, Expr: &ast.Lit{Kind: 's', Text: p.refName(), Pos: from}}
	}
	p.refOptions(ref)
	return alterOne(t, pos, ast.AlterAction{Op: "create " + kind, Ref: ref, Pos: pos})
}

// refAction parses ALTER TABLE's CREATE [OR REPLACE] BRANCH|TAG … and REPLACE BRANCH|TAG ….
func (p *parser) refAction() ast.AlterAction {
	ref := &ast.RefDef{}
	verb := p.next().text
	if verb == "create" {
		ref.Replace = p.accept("or", "replace")
	}
	kind := p.peek(0)
	if !kind.is("branch", "tag") {
		p.syntaxError()
	}
	p.i++
	ref.Branch = kind.text == "branch"
	ref.IfNotExists = p.accept("if", "not", "exists")
	ref.Name = p.refName()
	p.refOptions(ref)
	return ast.AlterAction{Op: verb + " " + kind.text, Ref: ref}
}

// refOptions parses [AS OF VERSION n] [RETAIN n DAYS] [WITH SNAPSHOT RETENTION [n SNAPSHOTS] [n DAYS]].
func (p *parser) refOptions(ref *ast.RefDef) {
	if a := p.asOf(); a != nil {
		ref.AsOf = a
	}
	if p.accept("retain") {
		ref.RetainMs = p.duration()
	}
	if ref.Branch && p.accept("with", "snapshot", "retention") {
		if p.peek(1).is("snapshots", "snapshot") {
			n := int(p.integer())
			ref.MinSnapshots = &n
			p.i++
			if p.peek(0).kind != tokNumber {
				return
			}
		}
		ref.SnapshotRetainMs = p.duration()
	}
}

func (p *parser) integer() int64 {
	t := p.peek(0)
	n, err := strconv.ParseInt(t.text, 10, 64)
	if t.kind != tokNumber || err != nil {
		p.syntaxError()
	}
	p.i++
	return n
}

// duration parses n DAYS|HOURS|MINUTES|SECONDS into milliseconds.
func (p *parser) duration() *int64 {
	pos := p.pos()
	n := p.integer()
	unit := map[string]int64{"day": 86400e3, "days": 86400e3, "hour": 3600e3, "hours": 3600e3,
		"minute": 60e3, "minutes": 60e3, "second": 1e3, "seconds": 1e3}[p.peek(0).text]
	if unit == 0 || p.peek(0).kind != tokWord {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "a retention has a unit").At(p.pos()).
			WithHint("A retention is a number of DAYS, HOURS or MINUTES."))
	}
	p.i++
	if n > math.MaxInt64/unit {
		p.failAt(pos, sqlerr.NumericOutOfRange, "retention is out of range")
	}
	n *= unit
	return &n
}
