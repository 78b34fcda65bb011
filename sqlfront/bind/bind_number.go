package bind

import (
	"strings"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/sqlerr"
	"github.com/lhsql/lhsql/lake"
	"github.com/lhsql/lhsql/plan"
	"github.com/lhsql/lhsql/sqlfront/ast"
)

// rowNumber is the value of an identity column: x, or the next number where x is nil or NULL.
func (b *binder) rowNumber(x plan.Expr, f *lake.Field) plan.Expr {
	var n *eval.Numbers
	for _, have := range b.numbers {
		if have.FieldID == f.ID {
			n = have
		}
	}
	if n == nil {
		n = eval.NewNumbers(f.ID, f.Numbering.Next, f.Numbering.Increment)
		b.numbers = append(b.numbers, n)
	}
	if x == nil {
		x = plan.NullOf(f.Type)
	} else if f.Numbering.Kind != "auto_increment" {
		// A NULL that is written stays one, and the column is NOT NULL.
		fn := n.Function(f.Name, f.Type, false)
		return &plan.Case{Typ: f.Type, Whens: []plan.When{{Cond: &plan.IsNull{X: x}, Then: plan.NullOf(f.Type)}},
			Else: &plan.Call{Func: fn, Args: []plan.Expr{x}, Typ: f.Type, Pos: -1}}
	}
	mode, _ := b.sessionText("sql_mode")
	zero := f.Numbering.Kind == "auto_increment" && !strings.Contains(strings.ToUpper(mode), "NO_AUTO_VALUE_ON_ZERO")
	return &plan.Call{Func: n.Function(f.Name, f.Type, zero), Args: []plan.Expr{x}, Typ: f.Type, Pos: -1}
}

// explicitNumber refuses values for a column that is always numbered.
func (b *binder) explicitNumber(s *ast.Insert, fields []lake.Field, f *lake.Field) {
	if f.Numbering.Kind != "always" || s.Overriding != "" {
		return
	}
	all, at := b.defaulted(s, fields, f)
	if all {
		return
	}
	b.failWith(sqlerr.New(sqlerr.GeneratedAlways, "cannot insert a non-DEFAULT value into column \"%s\"", f.Name).
		WithDetail("Column \"%s\" is an identity column defined as GENERATED ALWAYS.", f.Name).
		WithHint("Use OVERRIDING SYSTEM VALUE to override.").At(at))
}
