package planner

import (
	"fmt"
	"strings"

	"github.com/lhsql/lhsql/plan"
)

// TableAccess is how a plan reads one of its tables: a row of MySQL's EXPLAIN FORMAT=TRADITIONAL,
// which knows no tree.
type TableAccess struct {
	Select   string // select_type
	Table    string // "": none
	Rows     int64  // guessed to be read
	Filtered float64
	Extra    string
}

// ExplainTables lists the tables in the order in which joins take them. What the plan does above
// them stands with the first, as in MySQL.
func ExplainTables(n plan.Node) []TableAccess {
	x := newExplainer(n, ExplainOptions{})
	var out []TableAccess
	sorts, groups := false, false
	kind := "SIMPLE"
	if w, ok := n.(*plan.Write); ok {
		kind, _, _ = strings.Cut(w.Statement, " ")
	}
	plan.Walk(n, func(m plan.Node) {
		switch m := m.(type) {
		case *plan.Sort:
			sorts = true
		case *plan.Aggregate:
			groups = groups || len(m.Groups) > 0
		case *plan.Distinct, *plan.SetOp, *plan.Window:
			groups = true
		case *plan.Scan:
			out = append(out, x.scanAccess(m))
		case *plan.Virtual:
			out = append(out, x.access(m, m.Alias))
		case *plan.FuncScan:
			out = append(out, x.access(m, strings.TrimPrefix(m.Calls[0].Func.Name, "mysql:")))
		case *plan.CTERef:
			out = append(out, x.access(m, "<derived>"))
		case *plan.Values:
			if len(m.Cols) > 0 {
				out = append(out, x.access(m, "<values>"))
			}
		}
	})
	if len(out) == 0 {
		out = []TableAccess{{Filtered: 100, Extra: "No tables used"}}
	}
	for i := range out {
		out[i].Select = kind
	}
	if groups {
		out[0].also("Using temporary")
	}
	if sorts {
		out[0].also("Using filesort")
	}
	return out
}

func (a *TableAccess) also(s string) {
	if a.Extra != "" {
		s = a.Extra + "; " + s
	}
	a.Extra = s
}

func (x *explainer) access(n plan.Node, table string) TableAccess {
	return TableAccess{Table: table, Rows: int64(x.est.of(n)), Filtered: 100}
}

func (x *explainer) scanAccess(n *plan.Scan) TableAccess {
	a := TableAccess{Table: scanName(n), Rows: scanRows(n), Filtered: 100}
	if n.Pred != nil {
		a.also("Using where")
		if a.Rows > 0 {
			a.Filtered = min(100*x.est.of(n)/float64(a.Rows), 100)
		}
	}
	if n.Report != nil && n.Pruned {
		a.also(fmt.Sprintf("Files: %d/%d", len(n.Tasks), n.Report.Files))
	}
	return a
}
