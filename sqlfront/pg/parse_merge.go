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
	if p.peek(0).is("with") {
		m.With = p.withTo(p.upTo(p.stopAt("merge")))
	}
	m.Pos = p.pos()
	p.expect("merge", "into")
	m.Table = p.mergeTarget(p.upTo(p.stopAt("using")))
	p.expect("using")
	if p.err != nil {
		return m
	}
	// The source may be a join with ON clauses of its own; the last ON before the arms is MERGE's.
	firstArm := p.upTo(p.armAt)
	on := -1
	for k := p.i; ; {
		if k = p.scanTo(k, p.stopAt("on")); k >= firstArm {
			break
		}
		on = k
		k++
	}
	if on < 0 {
		p.i = firstArm
		p.syntaxError()
		return m
	}
	m.Source = p.tableTo(on)
	p.expect("on")
	m.On = p.exprTo(firstArm)
	if firstArm == len(p.toks) {
		p.syntaxError()
	}
	for p.err == nil && p.peek(0).is("when") {
		m.Arms = append(m.Arms, p.mergeArm())
	}
	if p.err == nil && p.peek(0).is("returning") {
		m.Returning = p.returningToEnd()
	}
	return m
}

// armAt tells whether an arm starts at token k. Outside CASE, where WHEN matched could be a
// column, nothing else starts with WHEN.
func (p *stmtParser) armAt(k int) bool { return p.toks[k].is("when") }

func (p *stmtParser) armEnd(k int) bool { return p.toks[k].is("when", "returning") }

func (p *stmtParser) withTo(k int) *ast.With {
	n, c := p.grammar("", p.pos(), p.tokenPos(k), " SELECT 1")
	if n == nil {
		return nil
	}
	p.i = k
	return c.with(n.GetSelectStmt().GetWithClause())
}

func (p *stmtParser) tableTo(k int) ast.TableExpr {
	if k <= p.i {
		p.syntaxError()
		return nil
	}
	n, c := p.grammar("SELECT FROM ", p.pos(), p.tokenPos(k), "")
	if n == nil {
		return nil
	}
	s := n.GetSelectStmt()
	if len(s.GetFromClause()) != 1 || s.WhereClause != nil || s.SortClause != nil {
		p.fail(p.unexpected(p.tokenAt(p.tokenPos(k))))
		return nil
	}
	p.i = k
	return c.table(s.FromClause[0])
}

func (p *stmtParser) mergeTarget(k int) ast.TableName {
	t, ok := p.tableTo(k).(*ast.TableName)
	if !ok {
		p.syntaxError()
		return ast.TableName{}
	}
	return *t
}

func (p *stmtParser) mergeArm() ast.MergeArm {
	arm := ast.MergeArm{Match: 'm', Pos: p.pos()}
	p.expect("when")
	if p.accept("not") {
		arm.Match = 't'
		p.expect("matched")
		if p.accept("by") {
			if p.accept("source") {
				arm.Match = 's'
			} else {
				p.expect("target")
			}
		}
	} else {
		p.expect("matched")
	}
	if p.accept("and") {
		arm.Cond = p.expr("then")
	}
	p.expect("then")
	if p.err != nil {
		return arm
	}
	p.mergeAction(&arm)
	if p.err == nil && !p.atEnd() && !p.armEnd(p.i) {
		p.syntaxError()
	}
	return arm
}

func (p *stmtParser) mergeAction(arm *ast.MergeArm) {
	word := p.peek(0)
	end := p.upTo(p.armEnd)
	switch {
	case p.accept("do", "nothing"):
		arm.Action = "nothing"
	case word.is("delete") && arm.Match != 't':
		p.i++
		arm.Action = "delete"
	case word.is("update") && arm.Match != 't':
		p.i++
		arm.Action = "update"
		p.expect("set")
		if arm.Star = p.peek(0).text == "*" && p.peek(0).kind == tokOp; arm.Star {
			p.i++
			break
		}
		n, c := p.grammar("UPDATE t SET ", p.pos(), p.tokenPos(end), "")
		if u := n.GetUpdateStmt(); u != nil {
			if len(u.FromClause) > 0 || u.WhereClause != nil || len(u.ReturningList) > 0 {
				p.fail(sqlerr.New(sqlerr.SyntaxError, "an UPDATE in MERGE has no FROM and no WHERE").At(word.pos).
					WithHint("Put the condition in WHEN MATCHED AND …."))
			}
			arm.Set = c.setItems(u.TargetList)
		}
		p.i = end
	case word.is("insert") && arm.Match == 't':
		p.i++
		arm.Action = "insert"
		if arm.Star = p.peek(0).text == "*" && p.peek(0).kind == tokOp; arm.Star {
			p.i++
			break
		}
		p.mergeInsert(arm, end)
	default:
		p.syntaxError()
	}
}

func (p *stmtParser) mergeInsert(arm *ast.MergeArm, end int) {
	pos := p.pos()
	n, c := p.grammar("INSERT INTO t ", pos, p.tokenPos(end), "")
	ins := n.GetInsertStmt()
	if ins == nil {
		return
	}
	arm.Columns = c.insertColumns(ins.Cols)
	p.i = end
	if ins.OnConflictClause != nil || len(ins.ReturningList) > 0 {
		p.failAt(pos, sqlerr.SyntaxError, "an INSERT in MERGE has no ON CONFLICT and no RETURNING")
	}
	if ins.SelectStmt == nil {
		arm.Default = true
		return
	}
	v, ok := c.queryNode(ins.SelectStmt).Body.(*ast.Values)
	if !ok || len(v.Rows) != 1 {
		p.fail(sqlerr.New(sqlerr.SyntaxError, "an INSERT in MERGE takes one row of VALUES").At(pos).
			WithHint("Write INSERT (columns) VALUES (…) or INSERT *."))
		return
	}
	arm.Values = v.Rows[0]
}

// returningToEnd parses RETURNING to the statement's end.
func (p *stmtParser) returningToEnd() []ast.Item {
	n, c := p.grammar("INSERT INTO t DEFAULT VALUES ", p.pos(), len(p.text), "")
	if n == nil {
		return nil
	}
	p.i = len(p.toks)
	return c.items(n.GetInsertStmt().GetReturningList())
}
