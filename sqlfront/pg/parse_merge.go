package pg

import (
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// merge parses MERGE. The grammar has MERGE, but neither UPDATE SET * nor INSERT *, and its
// arms carry no positions; so the statement is descended into here and its parts are given to
// the grammar.
func (p *stmtParser) merge() ast.Stmt {
	m := &ast.Merge{}
	if p.Peek(0).Is("with") {
		m.With = p.withTo(p.upTo(p.stopAt("merge")))
	}
	m.Pos = p.Pos()
	p.Expect("merge", "into")
	m.Table = p.mergeTarget(p.upTo(p.stopAt("using")))
	p.Expect("using")
	// The source may be a join with ON clauses of its own; the last ON before the arms is MERGE's.
	firstArm := p.upTo(p.armAt)
	on := -1
	for k := p.At; ; {
		if k = p.scanTo(k, p.stopAt("on")); k >= firstArm {
			break
		}
		on = k
		k++
	}
	if on < 0 {
		p.At = firstArm
		p.SyntaxError()
	}
	m.Source = p.tableTo(on)
	p.Expect("on")
	m.On = p.exprTo(firstArm)
	m.Arms = p.MergeArms()
	if p.Ahead("returning") {
		m.Returning = p.returningToEnd()
	}
	return m
}

// armAt tells whether an arm starts at token k. Outside CASE, where WHEN matched could be a
// column, nothing else starts with WHEN.
func (p *stmtParser) armAt(k int) bool { return p.Toks[k].Is("when") }

func (p *stmtParser) armEnd(k int) bool { return p.Toks[k].Is("when", "returning") }

func (p *stmtParser) withTo(k int) *ast.With {
	n, c := p.grammar("", p.Pos(), p.tokenPos(k), " SELECT 1")
	p.At = k
	return c.with(n.GetSelectStmt().GetWithClause())
}

func (p *stmtParser) tableTo(k int) ast.TableExpr {
	if k <= p.At {
		p.SyntaxError()
	}
	n, c := p.grammar("SELECT FROM ", p.Pos(), p.tokenPos(k), "")
	s := n.GetSelectStmt()
	if len(s.GetFromClause()) != 1 || s.WhereClause != nil || s.SortClause != nil {
		p.Fail(p.unexpected(p.tokenAt(p.tokenPos(k))))
	}
	p.At = k
	return c.table(s.FromClause[0])
}

func (p *stmtParser) mergeTarget(k int) ast.TableName {
	t, ok := p.tableTo(k).(*ast.TableName)
	if !ok {
		p.SyntaxError()
	}
	return *t
}

// MergeSet gives the assignments to the grammar.
func (p *stmtParser) MergeSet() []ast.SetItem {
	update := p.Peek(-2).Pos
	end := p.upTo(p.armEnd)
	n, c := p.grammar("UPDATE t SET ", p.Pos(), p.tokenPos(end), "")
	u := n.GetUpdateStmt()
	if len(u.GetFromClause()) > 0 || u.GetWhereClause() != nil || len(u.GetReturningList()) > 0 {
		p.Fail(sqlerr.New(sqlerr.SyntaxError, "an UPDATE in MERGE has no FROM and no WHERE").At(update).
			WithHint("Put the condition in WHEN MATCHED AND …."))
	}
	p.At = end
	return c.setItems(u.GetTargetList())
}

// MergeInsert gives the columns and VALUES to the grammar.
func (p *stmtParser) MergeInsert(arm *ast.MergeArm) {
	end := p.upTo(p.armEnd)
	pos := p.Pos()
	n, c := p.grammar("INSERT INTO t ", pos, p.tokenPos(end), "")
	ins := n.GetInsertStmt()
	arm.Columns = c.insertColumns(ins.GetCols())
	p.At = end
	if ins.OnConflictClause != nil || len(ins.ReturningList) > 0 {
		p.FailAt(pos, sqlerr.SyntaxError, "an INSERT in MERGE has no ON CONFLICT and no RETURNING")
	}
	if ins.SelectStmt == nil {
		arm.Default = true
		return
	}
	v, ok := c.queryNode(ins.SelectStmt).Body.(*ast.Values)
	if !ok || len(v.Rows) != 1 {
		p.Fail(sqlerr.New(sqlerr.SyntaxError, "an INSERT in MERGE takes one row of VALUES").At(pos).
			WithHint("Write INSERT (columns) VALUES (…) or INSERT *."))
	}
	arm.Values = v.Rows[0]
}

// returningToEnd parses RETURNING to the statement's end.
func (p *stmtParser) returningToEnd() []ast.Item {
	n, c := p.grammar("INSERT INTO t DEFAULT VALUES ", p.Pos(), len(p.Text), "")
	p.At = len(p.Toks)
	return c.items(n.GetInsertStmt().GetReturningList())
}
