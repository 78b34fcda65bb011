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
	start := p.At
	p.At = p.upTo(p.stopAt("insert"))
	p.Expect("insert")
	overwrite := false
	if t := p.Peek(0); t.Is("overwrite") {
		overwrite = true
		copy(p.work[t.Pos:t.End], "INTO     ")
		p.At++
		if p.Peek(0).Is("into") {
			p.blank(p.At, p.At+1)
			p.At++
		}
	} else {
		p.Expect("into")
	}
	if p.Peek(0).Is("table") {
		p.blank(p.At, p.At+1)
		p.At++
	}
	p.Dotted()
	var partition []ast.SetItem
	if p.Peek(0).Is("partition") && p.Peek(1).Punct("(") {
		from := p.At
		partition = p.StaticPartition()
		p.blank(from, p.At)
	}
	p.At = start
	n, c := p.grammar("", p.Pos(), len(p.Text), "")
	s, ok := c.stmt(n).(*ast.Insert)
	p.checkAttached()
	if !ok {
		p.SyntaxError()
	}
	s.Overwrite, s.Partition = overwrite, partition
	if overwrite && s.OnConflict != nil {
		p.FailAt(s.Pos, sqlerr.SyntaxError, "INSERT OVERWRITE cannot have ON CONFLICT")
	}
	return s
}

// blank overwrites tokens [from, to) with spaces in the grammar's text.
func (p *stmtParser) blank(from, to int) {
	for i := p.Toks[from].Pos; i < p.Toks[to-1].End; i++ {
		p.work[i] = ' '
	}
}
