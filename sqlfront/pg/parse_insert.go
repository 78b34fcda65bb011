package pg

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// insert parses INSERT, whose lakehouse spellings are cut down to PostgreSQL's:
//
//	INSERT OVERWRITE [TABLE] t [PARTITION (a = 1, b)] …  →  INSERT INTO t …
//	INSERT INTO TABLE t …                                →  INSERT INTO t …
func (p *stmtParser) insert() ast.Stmt {
	start := p.i
	p.i = p.upTo(p.stopAt("insert"))
	p.expect("insert")
	overwrite := false
	if t := p.peek(0); t.is("overwrite") {
		overwrite = true
		copy(p.work[t.pos:t.end], "INTO     ")
		p.i++
		if p.peek(0).is("into") {
			p.blank(p.i, p.i+1)
			p.i++
		}
	} else {
		p.expect("into")
	}
	if p.peek(0).is("table") {
		p.blank(p.i, p.i+1)
		p.i++
	}
	p.dotted()
	var partition []ast.SetItem
	if p.peek(0).is("partition") && p.peek(1).punct("(") {
		from := p.i
		partition = p.staticPartition()
		p.blank(from, p.i)
	}
	if p.err != nil {
		return &ast.Empty{}
	}
	p.i = start
	n, c := p.grammar("", p.pos(), len(p.text), "")
	if n == nil {
		return &ast.Empty{}
	}
	s, ok := c.stmt(n).(*ast.Insert)
	p.checkAttached()
	if !ok {
		p.syntaxError()
		return &ast.Empty{}
	}
	s.Overwrite, s.Partition = overwrite, partition
	if overwrite && s.OnConflict {
		p.failAt(s.Pos, sqlerr.SyntaxError, "INSERT OVERWRITE cannot have ON CONFLICT")
	}
	return s
}

// staticPartition parses PARTITION (a = 1, b): a value fixes the partition, a bare name leaves
// it to the rows (Value nil).
func (p *stmtParser) staticPartition() []ast.SetItem {
	var out []ast.SetItem
	p.expect("partition", "(")
	for p.err == nil {
		item := ast.SetItem{Column: p.dotted()}
		item.Pos = item.Column.Pos
		if p.accept("=") {
			item.Value = p.expr(",")
		}
		out = append(out, item)
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return out
}

// blank overwrites tokens [from, to) with spaces in the grammar's text.
func (p *stmtParser) blank(from, to int) {
	for i := p.toks[from].pos; i < p.toks[to-1].end; i++ {
		p.work[i] = ' '
	}
}
