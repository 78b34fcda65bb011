package pg

import (
	"math"
	"strconv"

	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// refName is a branch's or tag's name: an identifier or, as its names often hold dashes, a string.
func (p *stmtParser) refName() string {
	if p.peek(0).kind == tokString {
		return p.str()
	}
	return p.name()
}

// createRef parses CREATE [OR REPLACE] BRANCH|TAG [IF NOT EXISTS] b IN TABLE t [FROM s | AS OF VERSION n] [RETAIN …],
// the words CREATE [OR REPLACE] being gone.
func (p *stmtParser) createRef(pos int, replace bool) ast.Stmt {
	kind := p.ident()
	ref := &ast.RefDef{Branch: kind == "branch", Replace: replace}
	ref.IfNotExists = p.accept("if", "not", "exists")
	ref.Name = p.refName()
	t := p.inTable()
	if p.peek(0).is("from") {
		from := p.pos()
		p.i++
		at := p.pos()
		ref.AsOf = &ast.AsOf{Kind: ast.AsOfVersion, Pos: from, Expr: &ast.Lit{Kind: 's', Text: p.refName(), Pos: at}}
	}
	p.refOptions(ref)
	return alterOne(t, pos, ast.AlterAction{Op: "create " + kind, Ref: ref, Pos: pos})
}

func alterOne(t ast.TableName, pos int, a ast.AlterAction) ast.Stmt {
	return &ast.AlterTable{Name: t, Pos: pos, Actions: []ast.AlterAction{a}}
}

func (p *stmtParser) inTable() ast.TableName {
	if !p.accept("in", "table") && !p.accept("on", "table") {
		p.expect("in", "table")
	}
	if p.err != nil {
		return ast.TableName{}
	}
	return p.table()
}

// refAction parses ALTER TABLE's CREATE [OR REPLACE] BRANCH|TAG … and REPLACE BRANCH|TAG ….
func (p *stmtParser) refAction() ast.AlterAction {
	ref := &ast.RefDef{}
	verb := p.ident()
	if verb == "create" {
		ref.Replace = p.accept("or", "replace")
	}
	kind := p.peek(0)
	if !kind.is("branch", "tag") {
		p.syntaxError()
		return ast.AlterAction{}
	}
	p.i++
	ref.Branch = kind.text == "branch"
	ref.IfNotExists = p.accept("if", "not", "exists")
	ref.Name = p.refName()
	p.refOptions(ref)
	return ast.AlterAction{Op: verb + " " + kind.text, Ref: ref}
}

// refOptions parses [AS OF VERSION n] [RETAIN n DAYS] [WITH SNAPSHOT RETENTION [n SNAPSHOTS] [n DAYS]].
func (p *stmtParser) refOptions(ref *ast.RefDef) {
	if p.peek(0).is("as", "for", "version", "timestamp") {
		pos := p.pos()
		ref.AsOf = p.asOfClause()
		ref.AsOf.Pos = pos
	}
	if p.accept("retain") {
		ref.RetainMs = p.duration()
	}
	if ref.Branch && p.accept("with", "snapshot", "retention") {
		if p.peek(0).kind == tokNumber && p.peek(1).is("snapshots", "snapshot") {
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

func (p *stmtParser) integer() int64 {
	t := p.peek(0)
	n, err := strconv.ParseInt(t.text, 10, 64)
	if t.kind != tokNumber || err != nil {
		p.syntaxError()
		return 0
	}
	p.i++
	return n
}

// duration parses n DAYS|HOURS|MINUTES|SECONDS into milliseconds.
func (p *stmtParser) duration() *int64 {
	pos := p.pos()
	n := p.integer()
	unit := map[string]int64{"day": 86400e3, "days": 86400e3, "hour": 3600e3, "hours": 3600e3,
		"minute": 60e3, "minutes": 60e3, "second": 1e3, "seconds": 1e3}[p.peek(0).text]
	if p.err == nil && (unit == 0 || p.peek(0).kind != tokWord) {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "%s", p.unexpected(p.peek(0)).Error()).At(p.pos()).
			WithHint("A retention is a number of DAYS, HOURS or MINUTES."))
		return nil
	}
	p.i++
	if unit > 0 && n > math.MaxInt64/unit {
		p.failAt(pos, sqlerr.NumericOutOfRange, "retention is out of range")
		return nil
	}
	n *= unit
	return &n
}

// fastForward parses ALTER BRANCH b IN TABLE t FAST FORWARD TO s.
func (p *stmtParser) fastForward(pos int) ast.Stmt {
	p.expect("alter", "branch")
	ref := &ast.RefDef{Branch: true, Name: p.refName()}
	t := p.inTable()
	p.expect("fast", "forward", "to")
	ref.To = p.refName()
	return alterOne(t, pos, ast.AlterAction{Op: "fast forward", Ref: ref, Pos: pos})
}

// drop parses DROP BRANCH|TAG … IN TABLE t, and DROP TABLE … PURGE by cutting the word; other
// DROPs are the grammar's.
func (p *stmtParser) drop() (ast.Stmt, bool) {
	pos := p.pos()
	switch {
	case p.ahead("drop", "branch"), p.ahead("drop", "tag"):
		kind := p.peek(1).text
		p.i += 2
		ref := &ast.RefDef{Branch: kind == "branch", IfExists: p.accept("if", "exists")}
		ref.Name = p.refName()
		return alterOne(p.inTable(), pos, ast.AlterAction{Op: "drop " + kind, Ref: ref, Pos: pos}), true
	case p.ahead("drop", "table") && len(p.toks) > p.i+3 && p.toks[len(p.toks)-1].is("purge") && !p.toks[len(p.toks)-2].is("exists", "table") && !p.toks[len(p.toks)-2].punct(","):
		n, c := p.grammar("", pos, p.toks[len(p.toks)-1].pos, "")
		if n == nil {
			return &ast.Empty{}, true
		}
		p.i = len(p.toks)
		d, ok := c.stmt(n).(*ast.Drop)
		if !ok {
			return &ast.Empty{}, true
		}
		d.Purge = true
		return d, true
	}
	return nil, false
}
