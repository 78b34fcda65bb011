package lakehouse

import (
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// MergeArms parses MERGE's WHEN … THEN …, of which there is one at least. What stands before
// them is the dialects': tables and queries are.
func (p *Parser) MergeArms() []ast.MergeArm {
	if !p.Ahead("when") {
		p.SyntaxError()
	}
	var arms []ast.MergeArm
	for p.Ahead("when") {
		arms = append(arms, p.mergeArm())
	}
	return arms
}

func (p *Parser) mergeArm() ast.MergeArm {
	arm := ast.MergeArm{Match: 'm', Pos: p.Pos()}
	p.Expect("when")
	if p.Accept("not") {
		arm.Match = 't'
		p.Expect("matched")
		if p.Accept("by") {
			if p.Accept("source") {
				arm.Match = 's'
			} else {
				p.Expect("target")
			}
		}
	} else {
		p.Expect("matched")
	}
	if p.Accept("and") {
		arm.Cond = p.Dialect.Expr("then")
	}
	p.Expect("then")
	switch {
	case p.Accept("do", "nothing"):
		arm.Action = "nothing"
	case arm.Match != 't' && p.Accept("delete"):
		arm.Action = "delete"
	case arm.Match != 't' && p.Accept("update"):
		arm.Action = "update"
		p.Expect("set")
		if arm.Star = p.Accept("*"); !arm.Star {
			arm.Set = p.Dialect.MergeSet()
		}
	case arm.Match == 't' && p.Accept("insert"):
		arm.Action = "insert"
		if arm.Star = p.Accept("*"); !arm.Star {
			p.Dialect.MergeInsert(&arm)
		}
	default:
		p.SyntaxError()
	}
	return arm
}

// StaticPartition parses INSERT OVERWRITE's PARTITION (a = 1, b): a value fixes the partition, a
// bare name leaves it to the rows (Value nil).
func (p *Parser) StaticPartition() []ast.SetItem {
	var out []ast.SetItem
	p.Expect("partition")
	p.Parens(func() {
		p.List(func() {
			item := ast.SetItem{Column: p.Dotted()}
			item.Pos = item.Column.Pos
			if p.Accept("=") {
				item.Value = p.Dialect.Expr(",")
			}
			out = append(out, item)
		})
	})
	return out
}
